/*
 * Our tensors as values of the library, and back. Numbers are not copied on the way in: a value is made over our memory, which
 * the library reads and never writes. What comes out is copied into tensors of our own, so that it outlives the session; a
 * result whose shape is known beforehand is written there by the library itself (run.c).
 */
#include "provider/onnxruntime/ort.h"

#include <string.h>

/* Numbered like the format up to the types of 4 bits; from there on in the order in which the library got them. */
int tn_ort_type_of(enum tn_element element)
{
    switch (element) {
    case TN_EL_F4E2M1: return 23;
    case TN_EL_U2: return 24;
    case TN_EL_I2: return 25;
    case TN_EL_F8E8M0: return 26;
    case TN_EL_F6E2M3:
    case TN_EL_F6E3M2: return 0;
    default: return (int)element;
    }
}

enum tn_element tn_ort_element_of(int type)
{
    for (int e = TN_EL_F32; e < TN_EL_COUNT; e++)
        if (tn_ort_type_of((enum tn_element)e) == type) return (enum tn_element)e;
    return TN_EL_NONE;
}

static enum tn_status refuse(struct tn_error *err, const char *what)
{
    tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_EXECUTE, "ONNX Runtime takes no such value: %s", what);
    return TN_INVALID_REQUEST;
}

/* ---- in ------------------------------------------------------------------------------------------------------------ */

static struct tn_ort_status *fill_texts(const struct tn_ort_api *api, struct tn_ort_value *value, const struct tn_tensor *t)
{
    struct tn_ort_status *status = NULL;
    for (size_t i = 0; !status && i < t->count; i++) {
        struct tn_str text = tn_tensor_texts(t)[i];
        char *room = NULL;
        status = api->text_room(value, i, text.n, &room);
        if (!status && text.n) memcpy(room, text.s, text.n);
    }
    return status;
}

static enum tn_status texts_of(struct tn_instance *instance, const struct tn_tensor *t, struct tn_ort_value **out, struct tn_error *err)
{
    const struct tn_ort_api *api = instance->api;
    struct tn_ort_allocator *allocator = NULL;
    struct tn_ort_status *status = api->allocator_default(&allocator);
    if (!status) status = api->tensor_new(allocator, t->dims, t->rank, TN_EL_STRING, out);
    if (!status) status = fill_texts(api, *out, t);
    return tn_ort_fail(api, status, TN_PHASE_EXECUTE, true, err);
}

static enum tn_status numbers_of(struct tn_instance *instance, const struct tn_tensor *t, struct tn_ort_value **out, struct tn_error *err)
{
    static const char nothing[64] = ""; /* a tensor without elements still has an address */
    int type = tn_ort_type_of(t->element);
    if (!type) return refuse(err, tn_onnx_element_name(t->element));
    struct tn_ort_status *status = instance->api->tensor_over(instance->ort->info, t->bytes ? t->data : (void *)(uintptr_t)(const void *)nothing, t->bytes, t->dims, t->rank, type, out);
    return tn_ort_fail(instance->api, status, TN_PHASE_EXECUTE, instance->program->texts, err);
}

static enum tn_status group_of(struct tn_instance *instance, const struct tn_tensor *t, struct tn_ort_value **out, struct tn_error *err)
{
    const struct tn_ort_api *api = instance->api;
    size_t count = (size_t)t->count;
    struct tn_ort_value **items = tn_calloc(instance->ctx->alloc, count + 1, sizeof(*items));
    enum tn_status st = items ? TN_OK : tn_error_memory(err, TN_PHASE_EXECUTE, "handing over a sequence");
    for (size_t i = 0; !st && i < count; i++) {
        if (t->items[i]->kind == t->kind) st = refuse(err, "a sequence of sequences");
        else st = tn_ort_value_of(instance, t->items[i], &items[i], err);
    }
    if (!st) {
        int kind = t->kind == TN_KIND_MAP ? TN_ORT_MAP : TN_ORT_SEQUENCE;
        st = tn_ort_fail(api, api->group_new((const struct tn_ort_value *const *)items, count, kind, out), TN_PHASE_EXECUTE, true, err);
    }
    for (size_t i = 0; items && i < count; i++) api->value_release(items[i]);
    tn_free(instance->ctx->alloc, items);
    return st;
}

enum tn_status tn_ort_value_of(struct tn_instance *instance, const struct tn_tensor *t, struct tn_ort_value **out, struct tn_error *err)
{
    *out = NULL;
    switch (t->kind) {
    case TN_KIND_TENSOR: return t->element == TN_EL_STRING ? texts_of(instance, t, out, err) : numbers_of(instance, t, out, err);
    case TN_KIND_OPTIONAL:
        if (t->count == 1 && t->items[0]->kind != TN_KIND_OPTIONAL) return tn_ort_value_of(instance, t->items[0], out, err);
        return refuse(err, "an optional without a value");
    case TN_KIND_SEQUENCE:
        if (t->count == 0) return refuse(err, "a sequence without items, which has no type");
        return group_of(instance, t, out, err);
    case TN_KIND_MAP: return group_of(instance, t, out, err);
    case TN_KIND_NONE: break;
    }
    return refuse(err, "none");
}

/* ---- out ------------------------------------------------------------------------------------------------------------ */

struct read {
    struct tn_instance *instance;
    const struct tn_ort_api *api;
    struct tn_error *err;
};

static enum tn_status no_memory(const struct read *r)
{
    return tn_error_memory(r->err, TN_PHASE_EXECUTE, "taking over a result");
}

static enum tn_status failed(const struct read *r, struct tn_ort_status *status)
{
    return tn_ort_fail(r->api, status, TN_PHASE_EXECUTE, true, r->err);
}

static enum tn_status read_texts(const struct read *r, const struct tn_ort_value *value, struct tn_tensor *t)
{
    struct tn_alloc *alloc = r->instance->ctx->alloc;
    size_t bytes = 0, count = (size_t)t->count;
    enum tn_status st = failed(r, r->api->text_bytes(value, &bytes));
    if (st || count == 0) return st;
    char *text = tn_malloc(alloc, bytes + 1);
    size_t *offsets = tn_calloc(alloc, count + 1, sizeof(*offsets));
    if (!text || !offsets) st = no_memory(r);
    if (!st) st = failed(r, r->api->texts_read(value, text, bytes, offsets, count));
    for (size_t i = 0; !st && i < count; i++) {
        size_t end = i + 1 < count ? offsets[i + 1] : bytes;
        if (end < offsets[i] || end > bytes) tn_error_set(r->err, st = TN_RUNTIME_FAILURE, TN_PHASE_EXECUTE, "ONNX Runtime gives texts without an end");
        else if (!tn_tensor_set_text(t, i, (struct tn_str){text + offsets[i], end - offsets[i]})) st = no_memory(r);
    }
    tn_free(alloc, offsets);
    tn_free(alloc, text);
    return st;
}

static enum tn_status read_shape(const struct read *r, const struct tn_ort_value *value, enum tn_element *element, uint32_t *rank, int64_t *dims)
{
    struct tn_ort_tensor_info *info = NULL;
    int type = 0;
    size_t n = 0;
    struct tn_ort_status *status = r->api->tensor_info(value, &info);
    if (!status) status = r->api->info_type(info, &type);
    if (!status) status = r->api->info_rank(info, &n);
    if (!status && n <= TN_RANK && n > 0) status = r->api->info_dims(info, dims, n);
    r->api->tensor_info_release(info);
    enum tn_status st = failed(r, status);
    *element = tn_ort_element_of(type);
    *rank = (uint32_t)n;
    if (st || (n <= TN_RANK && *element != TN_EL_NONE)) return st;
    struct tn_finding *f = tn_error_set(r->err, TN_RUNTIME_FAILURE, TN_PHASE_EXECUTE, "a result is of a form that has no place here");
    tn_found(f, "element type %d, rank %zu", type, n);
    return TN_RUNTIME_FAILURE;
}

static enum tn_status read_tensor(const struct read *r, struct tn_ort_value *value, struct tn_tensor **out)
{
    enum tn_element element;
    uint32_t rank;
    int64_t dims[TN_RANK];
    void *data = NULL;
    enum tn_status st = read_shape(r, value, &element, &rank, dims);
    if (st) return st;
    struct tn_tensor *t = tn_tensor_new(&r->instance->heap, element, rank, dims);
    if (!t) return no_memory(r);
    if (element == TN_EL_STRING) {
        st = read_texts(r, value, t);
    } else if (t->bytes) {
        st = failed(r, r->api->tensor_data(value, &data));
        if (!st) memcpy(t->data, data, t->bytes);
    }
    if (st) tn_tensor_drop(t);
    else *out = t;
    return st;
}

static enum tn_status read_value(const struct read *r, struct tn_ort_value *value, unsigned depth, struct tn_tensor **out);

static enum tn_status read_item(const struct read *r, struct tn_ort_value *value, size_t i, unsigned depth, struct tn_tensor **out)
{
    struct tn_ort_allocator *allocator = NULL;
    struct tn_ort_value *item = NULL;
    enum tn_status st = failed(r, r->api->allocator_default(&allocator));
    if (!st) st = failed(r, r->api->item(value, (int)i, allocator, &item));
    if (!st) st = read_value(r, item, depth + 1, out);
    r->api->value_release(item);
    return st;
}

static enum tn_status read_group(const struct read *r, struct tn_ort_value *value, enum tn_tensor_kind kind, unsigned depth, struct tn_tensor **out)
{
    struct tn_alloc *alloc = r->instance->ctx->alloc;
    size_t count = 2;
    enum tn_status st = kind == TN_KIND_MAP ? TN_OK : failed(r, r->api->item_count(value, &count));
    if (!st && count > r->instance->ctx->limits.items) {
        tn_error_set(r->err, st = TN_RESOURCE_LIMIT, TN_PHASE_EXECUTE, "a result has more items than the limit allows");
    }
    if (st) return st;
    struct tn_tensor **items = tn_calloc(alloc, count + 1, sizeof(*items));
    if (!items) return no_memory(r);
    for (size_t i = 0; !st && i < count; i++) st = read_item(r, value, i, depth, &items[i]);
    if (!st && !(*out = tn_tensor_group(&r->instance->heap, kind, items, count))) st = no_memory(r);
    for (size_t i = 0; i < count; i++) tn_tensor_drop(items[i]);
    tn_free(alloc, items);
    return st;
}

static enum tn_status read_value(const struct read *r, struct tn_ort_value *value, unsigned depth, struct tn_tensor **out)
{
    int kind = 0;
    enum tn_status st = failed(r, r->api->kind_of(value, &kind));
    if (st) return st;
    if (kind == TN_ORT_TENSOR) return read_tensor(r, value, out);
    if (kind == TN_ORT_SEQUENCE && depth < 4) return read_group(r, value, TN_KIND_SEQUENCE, depth, out);
    if (kind == TN_ORT_MAP && depth < 4) return read_group(r, value, TN_KIND_MAP, depth, out);
    struct tn_finding *f = tn_error_set(r->err, TN_RUNTIME_FAILURE, TN_PHASE_EXECUTE, "a result is of a form that has no place here");
    tn_found(f, "a value of kind %d", kind);
    return TN_RUNTIME_FAILURE;
}

enum tn_status tn_ort_value_read(struct tn_instance *instance, struct tn_ort_value *value, bool optional, struct tn_tensor **out,
                                 struct tn_error *err)
{
    struct read r = {instance, instance->api, err};
    struct tn_tensor *inner = NULL;
    int there = value != NULL;
    *out = NULL;
    enum tn_status st = value ? failed(&r, r.api->has_value(value, &there)) : TN_OK;
    if (!st && there) st = read_value(&r, value, 0, &inner);
    if (st) return st;
    if (!optional && inner) {
        *out = inner;
        return TN_OK;
    }
    if (!optional) {
        tn_error_set(err, TN_RUNTIME_FAILURE, TN_PHASE_EXECUTE, "ONNX Runtime gives no value for an output");
        return TN_RUNTIME_FAILURE;
    }
    *out = tn_tensor_group(&instance->heap, TN_KIND_OPTIONAL, &inner, inner ? 1 : 0);
    tn_tensor_drop(inner);
    return *out ? TN_OK : no_memory(&r);
}
