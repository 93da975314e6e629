/* Constants of ONNX files: where they are, and their values into memory. Sizes are checked against the shape. */
#include "net/onnx_attr.h"

#include "base/checked.h"

#include <string.h>

enum { FLOAT_DATA = 4, INT32_DATA = 5, STRING_DATA = 6, INT64_DATA = 7, DOUBLE_DATA = 10, UINT64_DATA = 11 };

/* ---- typed fields ------------------------------------------------------------------------------------------------- */

/* The field that holds values of a type, and how many bytes of the tensor one entry fills. */
static unsigned field_of(enum tn_element e, size_t *fills)
{
    size_t size = tn_element_size(e);
    *fills = size ? size : 1; /* packed types: a byte for each entry */
    switch (e) {
    case TN_EL_F32: return FLOAT_DATA;
    case TN_EL_C64: *fills = 4; return FLOAT_DATA;
    case TN_EL_F64: return DOUBLE_DATA;
    case TN_EL_C128: *fills = 8; return DOUBLE_DATA;
    case TN_EL_I64: return INT64_DATA;
    case TN_EL_U32:
    case TN_EL_U64: return UINT64_DATA;
    case TN_EL_STRING: return STRING_DATA;
    default: return INT32_DATA;
    }
}

struct filling {
    struct tn_onnx_reader *r;
    struct tn_arena *arena;
    char *out;
    size_t bytes, at, fills;
    bool text;
};

static void put(struct filling *t, uint64_t value)
{
    if (t->bytes - t->at >= t->fills) memcpy(t->out + t->at, &value, t->fills); /* little-endian: the low bytes */
    t->at = t->bytes - t->at >= t->fills ? t->at + t->fills : t->bytes + 1;
}

static void fill_text(struct filling *t, struct tn_wire_range range)
{
    size_t n = (size_t)(range.end - range.at);
    char *text = tn_arena_alloc(t->arena, n + 1);
    if (!text) {
        tn_onnx_no_memory(t->r);
    } else if (n && !tn_wire_copy(&t->r->wire, range, text, n)) {
        tn_onnx_malformed(t->r, range.at, "in string_data: %s", t->r->wire.why);
    } else if (t->bytes - t->at >= sizeof(struct tn_str)) {
        ((struct tn_str *)t->out)[t->at / sizeof(struct tn_str)] = (struct tn_str){text, n};
        t->at += sizeof(struct tn_str);
    } else {
        t->at = t->bytes + 1;
    }
}

static void fill_packed(struct filling *t, struct tn_wire_range left, size_t width)
{
    while (left.at < left.end && !t->r->failed && t->at <= t->bytes) {
        uint64_t value = 0;
        bool good = width ? left.end - left.at >= width && tn_wire_copy(&t->r->wire, left, &value, width)
                          : tn_wire_varint(&t->r->wire, &left, &value);
        if (!good) {
            tn_onnx_malformed(t->r, left.at, "packed numbers of a tensor that end early");
            return;
        }
        left.at += width;
        put(t, value);
    }
}

static bool fill_typed(struct tn_onnx_reader *r, struct tn_arena *arena, const struct tn_constant *c, void *out)
{
    struct filling t = {.r = r, .arena = arena, .out = out, .bytes = c->bytes};
    struct tn_onnx_at m = {.kind = TN_ONNX_TENSOR, .range = c->range};
    struct tn_wire_field f;
    unsigned number = field_of(c->element, &t.fills);
    while (tn_onnx_next(r, &m, &f) && t.at <= t.bytes) {
        if (f.number != number) continue;
        if (number == STRING_DATA) fill_text(&t, f.bytes);
        else if (f.type == TN_WIRE_BYTES) fill_packed(&t, f.bytes, number == FLOAT_DATA ? 4 : number == DOUBLE_DATA ? 8 : 0);
        else put(&t, f.value);
    }
    if (r->failed) return false;
    if (t.at != t.bytes)
        return tn_onnx_malformed(r, c->range.at, "a tensor of %llu bytes by its shape with %s values",
                                 (unsigned long long)c->bytes, t.at > t.bytes ? "more" : "fewer");
    return true;
}

/* ---- files -------------------------------------------------------------------------------------------------------- */

/* *entry lives as long as the inventory. */
static enum tn_status open_external(struct tn_model *model, const struct tn_constant *c, struct tn_os_file *file, uint64_t *at,
                                    const struct tn_package_file **found, struct tn_error *err)
{
    const struct tn_onnx_external *x = &model->read->externals[c->external];
    struct tn_arena arena;
    struct tn_str path;
    uint64_t offset = x->have_offset ? x->offset_bytes : 0, length = x->have_length ? x->length_bytes : c->bytes;
    tn_arena_init(&arena, model->ctx->alloc);
    enum tn_status st = tn_package_reference(&arena, tn_package_folder(model->view->file), x->location, &path, err);
    const struct tn_package_file *entry = !st && model->inv ? tn_inventory_file(model->inv, path) : NULL;
    if (!st && (!entry || length != c->bytes || !tn_range_inside(offset, length, entry->size))) {
        struct tn_finding *f = tn_error_set(err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD, "the external data of a tensor cannot be read");
        tn_at_tensor(f, model->view->file, x->tensor);
        tn_found(f, "%llu bytes at %llu of %.*s", (unsigned long long)length, (unsigned long long)offset, TN_FMT_ARG(x->location));
        tn_expected(f, "%llu bytes inside a file of the package", (unsigned long long)c->bytes);
        st = TN_ARTIFACT_MALFORMED;
    }
    if (!st) st = tn_inventory_open_file(model->inv, entry, file, err);
    tn_arena_release(&arena);
    *at = offset;
    *found = entry;
    return st;
}

static enum tn_status read_external(struct tn_model *model, const struct tn_constant *c, void *out, struct tn_error *err)
{
    const struct tn_package_file *entry;
    struct tn_os_file file;
    uint64_t offset;
    enum tn_status st = open_external(model, c, &file, &offset, &entry, err);
    if (st) return st;
    struct tn_source source = tn_source_of_file(&file, entry->path);
    st = c->bytes ? tn_source_read(&source, offset, out, c->bytes, TN_PHASE_LOAD, err) : TN_OK;
    tn_os_close(&file);
    return st;
}

bool tn_constant_open(struct tn_model *model, const struct tn_constant *c, struct tn_os_file *file, uint64_t *offset)
{
    const struct tn_package_file *entry;
    if (c->data || c->element == TN_EL_STRING || !model->inv) return false;
    if (c->stored == TN_ONNX_DATA_EXTERNAL) return open_external(model, c, file, offset, &entry, NULL) == TN_OK;
    entry = c->stored == TN_ONNX_DATA_RAW ? tn_inventory_file(model->inv, model->view->file) : NULL;
    *offset = c->range.at;
    if (!entry || tn_inventory_open_file(model->inv, entry, file, NULL)) return false;
    if (tn_range_inside(*offset, c->bytes, file->stamp.size)) return true;
    tn_os_close(file);
    return false;
}

enum tn_status tn_constant_read(struct tn_model *model, const struct tn_constant *c, void *out, struct tn_error *err)
{
    if (c->data) {
        if (c->bytes) memcpy(out, c->data, c->bytes);
        return TN_OK;
    }
    switch (c->stored) {
    case TN_ONNX_DATA_EXTERNAL: return read_external(model, c, out, err);
    case TN_ONNX_DATA_RAW:
        return c->bytes ? tn_source_read(&model->source, c->range.at, out, c->bytes, TN_PHASE_LOAD, err) : TN_OK;
    default: break;
    }
    struct tn_onnx_reader *r = tn_onnx_reader_new(model->ctx, model->view->file, false, err);
    if (!r) return TN_INSUFFICIENT_MEMORY;
    tn_wire_init(&r->wire, &model->source);
    fill_typed(r, &model->arena, c, out);
    enum tn_status st = r->failed;
    tn_onnx_reader_free(r);
    return st;
}

/* ---- TensorProto -------------------------------------------------------------------------------------------------- */

bool tn_onnx_read_constant(struct tn_import *im, struct tn_wire_range range, struct tn_str *name, struct tn_constant *out)
{
    struct tn_onnx_tensor t;
    uint64_t count;
    tn_onnx_read_tensor(im->r, range, TN_STR(""), &t);
    if (im->r->failed) return false;
    *name = t.name;
    *out = (struct tn_constant){.element = t.element < TN_EL_COUNT ? (enum tn_element)t.element : TN_EL_NONE, .rank = t.rank,
                                .dims = t.dims, .stored = t.data, .external = t.external,
                                .range = t.data == TN_ONNX_DATA_RAW ? t.raw : range};
    if (t.rank > TN_RANK) return tn_onnx_over_limit(im->r, range.at, "rank", TN_RANK);
    if (!tn_shape_count(t.dims, t.rank, &count) || !tn_element_bytes(out->element, count, &out->bytes) ||
        out->bytes > im->model->ctx->limits.tensor_bytes)
        return tn_onnx_malformed(im->r, range.at, "tensor %.*s has no type or size that can be", TN_FMT_ARG(t.name));
    if (t.data == TN_ONNX_DATA_NONE) out->stored = TN_ONNX_DATA_TYPED;
    if (t.data == TN_ONNX_DATA_RAW && (t.raw.end - t.raw.at != out->bytes || out->element == TN_EL_STRING))
        return tn_onnx_malformed(im->r, range.at, "tensor %.*s of %llu bytes by its shape stores %llu", TN_FMT_ARG(t.name),
                                 (unsigned long long)out->bytes, (unsigned long long)(t.raw.end - t.raw.at));
    if (out->bytes > TN_CONSTANT_NOW || t.data == TN_ONNX_DATA_EXTERNAL) return true;
    void *data = tn_arena_alloc(&im->model->arena, out->bytes + 1);
    if (!data) return tn_onnx_no_memory(im->r);
    if (out->stored == TN_ONNX_DATA_TYPED) {
        if (!fill_typed(im->r, &im->model->arena, out, data)) return false;
    } else if (out->bytes && !tn_wire_copy(&im->r->wire, out->range, data, out->bytes)) {
        return tn_onnx_malformed(im->r, out->range.at, "in raw_data: %s", im->r->wire.why);
    }
    out->data = data;
    return true;
}

/* ---- SparseTensorProto -------------------------------------------------------------------------------------------- */

/* More than any sparse initialiser that anybody has published, less than what would hurt. */
enum { SPARSE_BYTES = 256 << 20 };

static bool read_whole(struct tn_import *im, const struct tn_constant *c, void **out)
{
    *out = tn_malloc(im->model->ctx->alloc, c->bytes + 1);
    if (!*out) return tn_onnx_no_memory(im->r);
    if (!im->r->failed) im->r->failed = tn_constant_read(im->model, c, *out, im->r->err);
    return !im->r->failed;
}

/* Indices are [nnz] into the flattened tensor, or [nnz, rank]. */
static bool scatter(struct tn_import *im, struct tn_constant *dense, const struct tn_constant *values, const void *from,
                    const int64_t *index, uint32_t width, uint64_t at)
{
    size_t each = tn_element_size(values->element);
    uint64_t nnz = (uint64_t)values->dims[0], total;
    if (!tn_shape_count(dense->dims, dense->rank, &total)) return false;
    for (uint64_t i = 0; i < nnz; i++) {
        uint64_t flat = 0;
        for (uint32_t k = 0; k < width; k++) {
            int64_t x = index[i * width + k], end = width == 1 ? (int64_t)total : dense->dims[k];
            if (x < 0 || x >= end) return tn_onnx_malformed(im->r, at, "a sparse tensor with an index outside its shape");
            flat = width == 1 ? (uint64_t)x : flat * (uint64_t)dense->dims[k] + (uint64_t)x;
        }
        memcpy((char *)dense->data + flat * each, (const char *)from + i * each, each);
    }
    return true;
}

bool tn_onnx_read_sparse(struct tn_import *im, struct tn_wire_range range, struct tn_str *name, struct tn_constant *out)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_SPARSE_TENSOR, .range = range};
    struct tn_wire_field f;
    struct tn_constant values = {.element = TN_EL_NONE}, indices = {.element = TN_EL_NONE};
    struct tn_str ignored;
    int64_t *dims = tn_arena_array(&im->model->arena, TN_RANK, sizeof(*dims));
    uint32_t rank = 0;
    uint64_t count;
    void *from = NULL, *index = NULL;
    *name = TN_STR("");
    if (!dims) return tn_onnx_no_memory(im->r);
    while (tn_onnx_next(im->r, &m, &f)) {
        struct tn_wire_range left = f.bytes;
        uint64_t value = f.value;
        if (f.number == 1 && !tn_onnx_read_constant(im, f.bytes, name, &values)) return false;
        if (f.number == 2 && !tn_onnx_read_constant(im, f.bytes, &ignored, &indices)) return false;
        if (f.number != 3) continue;
        while (f.type == TN_WIRE_VARINT || left.at < left.end) {
            if (f.type != TN_WIRE_VARINT && !tn_wire_varint(&im->r->wire, &left, &value))
                return tn_onnx_malformed(im->r, f.at, "in SparseTensorProto.dims");
            if (rank == TN_RANK) return tn_onnx_over_limit(im->r, f.at, "rank", TN_RANK);
            dims[rank++] = (int64_t)value;
            if (f.type == TN_WIRE_VARINT) break;
        }
    }
    if (im->r->failed) return false;
    *out = (struct tn_constant){.element = values.element, .rank = rank, .dims = dims};
    bool flat = indices.rank == 1, good = values.rank == 1 && indices.element == TN_EL_I64 && tn_element_size(values.element) &&
                values.element != TN_EL_STRING && (flat || (indices.rank == 2 && indices.dims[1] == rank)) &&
                indices.dims[0] == values.dims[0];
    if (!good || !tn_shape_count(dims, rank, &count) || !tn_element_bytes(values.element, count, &out->bytes))
        return tn_onnx_malformed(im->r, range.at, "a sparse tensor whose values, indices and shape do not fit together");
    if (out->bytes > SPARSE_BYTES) return tn_onnx_over_limit(im->r, range.at, "tensor_bytes", SPARSE_BYTES);
    out->data = tn_arena_alloc(&im->model->arena, out->bytes + 1);
    if (!out->data) return tn_onnx_no_memory(im->r);
    good = read_whole(im, &values, &from) && read_whole(im, &indices, &index) &&
           scatter(im, out, &values, from, index, flat ? 1 : rank, range.at);
    tn_free(im->model->ctx->alloc, from);
    tn_free(im->model->ctx->alloc, index);
    return good;
}
