/*
 * TensorProto: type, shape and where the values are, never the values. External data is kept as written, with the
 * numbers beside their texts; whether the files are there is for onnx_check.c.
 */
#include "package/onnx_read.h"

#include "base/checked.h"
#include "base/sort.h"

#include <string.h>

enum { DIMS = 1, DATA_TYPE = 2, NAME = 8, RAW = 9, EXTERNAL = 13, LOCATION = 14 };
enum { KEPT_DIMS = 64 };

bool tn_onnx_tensor_bytes(uint32_t element, const int64_t *dims, uint32_t rank, uint64_t *out)
{
    uint64_t bits = tn_onnx_element_bits(element), padded;
    if (bits == 0) return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0 || !tn_mul64(bits, (uint64_t)dims[i], &bits)) return false;
    }
    if (!tn_add64(bits, 7, &padded)) return false;
    *out = padded / 8;
    return true;
}

/* ---- external data ----------------------------------------------------------------------------------------------- */

/* Decimal digits below 2^63, as the format asks for. */
static bool parse_number(struct tn_str text, uint64_t *out)
{
    uint64_t value = 0;
    if (text.n == 0 || text.n > 19) return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.s[i] < '0' || text.s[i] > '9') return false;
        value = value * 10 + (uint64_t)(text.s[i] - '0');
    }
    *out = value;
    return value <= INT64_MAX;
}

/* One key and value; keys that place nothing (checksum) are left alone. */
static void read_entry(struct tn_onnx_reader *r, struct tn_wire_range range, uint64_t at, struct tn_onnx_external *x,
                       bool *located)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_ENTRY, .range = range};
    struct tn_wire_range value = {0, 0};
    struct tn_wire_field f;
    char key[16] = "";
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number == 1) tn_wire_text(&r->wire, f.bytes, key, sizeof(key));
        if (f.number == 2) value = f.bytes;
    }
    bool location = strcmp(key, "location") == 0, offset = strcmp(key, "offset") == 0;
    bool length = strcmp(key, "length") == 0;
    if (r->failed || !(location || offset || length)) return;
    if ((location && *located) || (offset && x->have_offset) || (length && x->have_length)) {
        tn_onnx_malformed(r, at, "external_data gives %s twice", key);
        return;
    }
    struct tn_str text = tn_onnx_string(r, value);
    if (location) {
        x->location = text;
        *located = true;
    } else if (offset) {
        x->offset = text;
        x->have_offset = true;
        x->bad_offset = !parse_number(text, &x->offset_bytes);
    } else {
        x->length = text;
        x->have_length = true;
        x->bad_length = !parse_number(text, &x->length_bytes);
    }
}

static void keep_external(struct tn_onnx_reader *r, const struct tn_onnx_external *x, uint64_t at)
{
    struct tn_onnx_view *v = r->view;
    void *items = tn_onnx_room(r, v->externals, &r->external_cap, v->external_count, sizeof(*v->externals), at);
    if (!items) return;
    v->externals = items;
    v->externals[v->external_count++] = *x;
}

static int by_location(const void *a, const void *b, void *context)
{
    const struct tn_onnx_view *v = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = tn_str_order(v->externals[x].location, v->externals[y].location);
    return order ? order : (x > y) - (x < y);
}

static void add_bytes(struct tn_onnx_location *l, const struct tn_onnx_external *x)
{
    uint64_t bytes = x->have_length && !x->bad_length ? x->length_bytes : x->sized ? x->bytes : 0;
    l->tensors++;
    if (!tn_add64(l->bytes, bytes, &l->bytes)) l->bytes = UINT64_MAX;
}

void tn_onnx_collect_locations(struct tn_onnx_reader *r)
{
    struct tn_onnx_view *v = r->view;
    uint32_t distinct = 0;
    if (v->external_count == 0 || r->failed) return;
    uint32_t *order = tn_calloc(v->alloc, v->external_count, sizeof(*order));
    if (!order) {
        tn_onnx_no_memory(r);
        return;
    }
    for (uint32_t i = 0; i < v->external_count; i++) order[i] = i;
    tn_sort(order, v->external_count, sizeof(*order), by_location, v);
    for (uint32_t i = 0; i < v->external_count; i++)
        distinct += i == 0 || !tn_str_eq(v->externals[order[i]].location, v->externals[order[i - 1]].location);
    v->locations = tn_arena_array(&v->arena, distinct, sizeof(*v->locations));
    if (!v->locations) tn_onnx_no_memory(r);
    for (uint32_t i = 0; v->locations && i < v->external_count; i++) {
        struct tn_onnx_external *x = &v->externals[order[i]];
        if (i == 0 || !tn_str_eq(x->location, v->externals[order[i - 1]].location))
            v->locations[v->location_count++] = (struct tn_onnx_location){.name = x->location, .first = x->tensor};
        x->file = v->location_count - 1;
        add_bytes(&v->locations[x->file], x);
    }
    tn_free(v->alloc, order);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

struct tensor {
    struct tn_onnx_tensor *out;
    struct tn_onnx_external x;
    int64_t dims[KEPT_DIMS];
    bool located, marked, entries, typed;
};

static bool add_dimension(struct tn_onnx_reader *r, struct tensor *t, uint64_t value, uint64_t at)
{
    uint64_t limit = r->ctx->limits.rank;
    if (t->out->rank >= limit || t->out->rank == KEPT_DIMS) return tn_onnx_over_limit(r, at, "rank", limit);
    t->dims[t->out->rank++] = (int64_t)value;
    return true;
}

static void read_dims(struct tn_onnx_reader *r, struct tensor *t, const struct tn_wire_field *f)
{
    struct tn_wire_range left = f->bytes;
    uint64_t value;
    if (f->type == TN_WIRE_VARINT) {
        add_dimension(r, t, f->value, f->at);
        return;
    }
    while (left.at < left.end) {
        if (!tn_wire_varint(&r->wire, &left, &value)) {
            tn_onnx_malformed(r, r->wire.failed_at, "in TensorProto.dims: %s", r->wire.why);
            return;
        }
        if (!add_dimension(r, t, value, f->at)) return;
    }
}

static void read_field(struct tn_onnx_reader *r, struct tensor *t, const struct tn_wire_field *f)
{
    switch (f->number) {
    case DIMS: read_dims(r, t, f); break;
    case DATA_TYPE: t->out->element = f->value > UINT32_MAX ? UINT32_MAX : (uint32_t)f->value; break;
    case NAME: t->out->name = tn_onnx_string(r, f->bytes); break;
    case RAW:
        t->out->raw = f->bytes;
        t->out->data = TN_ONNX_DATA_RAW;
        break;
    case EXTERNAL:
        t->entries = true;
        read_entry(r, f->bytes, f->at, &t->x, &t->located);
        break;
    case LOCATION: t->marked = f->value == 1; break;
    case 4:
    case 5:
    case 6:
    case 7:
    case 10:
    case 11: t->typed = true; break; /* float_data and its like */
    default: break;
    }
}

static void finish_external(struct tn_onnx_reader *r, struct tensor *t, uint64_t at)
{
    t->x.tensor = t->out->name;
    t->x.unmarked = !t->marked;
    t->x.inside = t->typed || t->out->data == TN_ONNX_DATA_RAW;
    t->x.at = at;
    t->x.sized = tn_onnx_tensor_bytes(t->out->element, t->dims, t->out->rank, &t->x.bytes);
    t->out->data = TN_ONNX_DATA_EXTERNAL;
    t->out->external = r->view->external_count;
    keep_external(r, &t->x, at);
}

void tn_onnx_read_tensor(struct tn_onnx_reader *r, struct tn_wire_range range, struct tn_str name,
                         struct tn_onnx_tensor *out)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_TENSOR, .range = range};
    struct tn_wire_field f;
    struct tensor t = {.out = out, .x = {.location = TN_STR(""), .offset = TN_STR(""), .length = TN_STR("")}};
    *out = (struct tn_onnx_tensor){.name = name, .message = range, .external = UINT32_MAX};
    while (tn_onnx_next(r, &m, &f)) read_field(r, &t, &f);
    if (r->failed) return;
    if (t.typed && out->raw.end > out->raw.at) {
        tn_onnx_malformed(r, range.at, "the values of tensor %.*s stand twice", TN_FMT_ARG(out->name));
        return;
    }
    if (t.typed) out->data = TN_ONNX_DATA_TYPED;
    if (t.marked || t.entries) finish_external(r, &t, range.at);
    if (r->light || out->rank == 0) return;
    int64_t *dims = tn_arena_array(&r->view->arena, out->rank, sizeof(*dims));
    if (!dims) {
        tn_onnx_no_memory(r);
        return;
    }
    memcpy(dims, t.dims, out->rank * sizeof(*dims));
    out->dims = dims;
}
