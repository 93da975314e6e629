/*
 * Values as JSON. What a request holds is untrusted: shapes follow from the nesting and are checked to be rectangular,
 * numbers are checked to fit their type. Numbers that JSON has no word for are the strings "NaN", "Infinity" and
 * "-Infinity", in both directions.
 */
#include "base/json_write.h"
#include "task/tensor.h"

#include <math.h>

/* ---- elements in -------------------------------------------------------------------------------------------------- */

static bool fail(struct tn_tensor_fault *fault, struct tn_json at, const char *message, const char *expected)
{
    *fault = (struct tn_tensor_fault){message, expected, at};
    return false;
}

static bool real_of(struct tn_json v, double *out)
{
    struct tn_str text;
    if (tn_json_f64(v, out)) return true;
    if (!tn_json_str(v, &text)) return false;
    if (tn_str_is(text, "NaN")) *out = (double)NAN;
    else if (tn_str_is(text, "Infinity")) *out = (double)INFINITY;
    else if (tn_str_is(text, "-Infinity")) *out = -(double)INFINITY;
    else return false;
    return true;
}

static bool is_float(enum tn_element e)
{
    return tn_elements_have(TN_ELS_FLOAT | TN_ELS_F8 | TN_ELS(F4E2M1) | TN_ELS(F6E2M3) | TN_ELS(F6E3M2), e);
}

static bool is_signed(enum tn_element e)
{
    return tn_elements_have(TN_ELS_SIGNED | TN_ELS(I4) | TN_ELS(I2), e);
}

static bool set_whole(struct tn_tensor *t, size_t i, struct tn_json v)
{
    int64_t value;
    uint64_t large;
    unsigned bits = tn_onnx_element_bits(t->element);
    if (is_signed(t->element)) {
        if (!tn_json_i64(v, &value)) return false;
        int64_t most = (int64_t)(UINT64_MAX >> (65 - bits));
        if (value > most || value < -most - 1) return false;
    } else {
        if (!tn_json_u64(v, &large) || (bits < 64 && large >> bits)) return false;
        value = (int64_t)large;
    }
    tn_element_set_int(t->element, t->data, i, value);
    return true;
}

static bool set_element(struct tn_tensor *t, size_t i, struct tn_json v, struct tn_tensor_fault *fault)
{
    double value;
    bool truth;
    struct tn_str text;
    switch (t->element) {
    case TN_EL_STRING:
        if (!tn_json_str(v, &text)) return fail(fault, v, "an element is no string", "a string");
        return tn_tensor_set_text(t, i, text) || fail(fault, v, NULL, NULL);
    case TN_EL_BOOL:
        if (!tn_json_bool(v, &truth)) return fail(fault, v, "an element is no truth value", "true or false");
        ((uint8_t *)t->data)[i] = truth;
        return true;
    case TN_EL_F32:
        if (!real_of(v, &value)) return fail(fault, v, "an element is no number", "a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
        ((float *)t->data)[i] = (float)value;
        return true;
    default:
        if (!is_float(t->element)) {
            return set_whole(t, i, v) || fail(fault, v, "an element does not fit its type", "a whole number of the type's range");
        }
        if (!real_of(v, &value)) return fail(fault, v, "an element is no number", "a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
        tn_element_set(t->element, t->data, i, value, false);
        return true;
    }
}

/* ---- shapes in ---------------------------------------------------------------------------------------------------- */

/* Dimensions by the first elements of nested lists; everything else is held against them. */
static bool shape_of(struct tn_json v, uint32_t *rank, int64_t *dims, struct tn_tensor_fault *fault)
{
    *rank = 0;
    while (tn_json_is(v, TN_JSON_ARRAY)) {
        if (*rank == TN_RANK) return fail(fault, v, "lists are nested too deeply", "at most 8 dimensions");
        dims[(*rank)++] = (int64_t)tn_json_count(v);
        v = tn_json_first(v);
    }
    return true;
}

static bool fill(struct tn_tensor *t, struct tn_json v, uint32_t axis, size_t *at, struct tn_tensor_fault *fault)
{
    if (axis == t->rank) return set_element(t, (*at)++, v, fault);
    if (!tn_json_is(v, TN_JSON_ARRAY) || tn_json_count(v) != (size_t)t->dims[axis]) {
        return fail(fault, v, "the lists are not all of one length", "rows of one length in each dimension");
    }
    for (struct tn_json x = tn_json_first(v); tn_json_present(x); x = tn_json_next(x))
        if (!fill(t, x, axis + 1, at, fault)) return false;
    return true;
}

static struct tn_tensor *nested(enum tn_element element, struct tn_json v, struct tn_heap *heap, struct tn_tensor_fault *fault)
{
    int64_t dims[TN_RANK];
    uint32_t rank;
    size_t at = 0;
    if (!shape_of(v, &rank, dims, fault)) return NULL;
    if (tn_elements_have(TN_ELS(C64) | TN_ELS(C128), element) || element == TN_EL_NONE) {
        fail(fault, v, "values of this type have no JSON form", "a typed tensor");
        return NULL;
    }
    struct tn_tensor *t = tn_tensor_new(heap, element, rank, dims);
    if (!t || fill(t, v, 0, &at, fault)) return t;
    tn_tensor_drop(t);
    return NULL;
}

/* {"dtype", "shape", "data"}: data flat, or nested as the shape has it. */
static struct tn_tensor *stated(enum tn_element element, struct tn_json v, struct tn_heap *heap, struct tn_tensor_fault *fault)
{
    struct tn_json shape = tn_json_get(v, "shape"), data = tn_json_get(v, "data"), type = tn_json_get(v, "dtype");
    struct tn_str name;
    int64_t dims[TN_RANK] = {0};
    uint32_t rank = 0;
    uint64_t count;
    size_t at = 0;
    if (tn_json_present(type)) {
        uint32_t number = tn_json_str(type, &name) ? tn_onnx_element_named(name) : 0;
        if (!number) {
            fail(fault, type, "there is no such element type", "a name such as float32, int64, bool or string");
            return NULL;
        }
        element = (enum tn_element)number;
    }
    if (!tn_json_present(shape)) return nested(element, data, heap, fault);
    for (struct tn_json x = tn_json_first(shape); tn_json_present(x); x = tn_json_next(x)) {
        if (rank == TN_RANK || !tn_json_i64(x, &dims[rank]) || dims[rank++] < 0) {
            fail(fault, shape, "the shape is no list of sizes", "at most 8 sizes from 0 on");
            return NULL;
        }
    }
    bool flat = !tn_json_is(tn_json_first(data), TN_JSON_ARRAY);
    if (!flat) {
        struct tn_tensor *t = nested(element, data, heap, fault);
        bool same = t && t->rank == rank;
        for (uint32_t i = 0; same && i < rank; i++) same = t->dims[i] == dims[i];
        if (!t || same) return t;
        tn_tensor_drop(t);
        fail(fault, data, "data and shape do not agree", "as many elements as the shape has");
        return NULL;
    }
    if (!tn_json_is(data, TN_JSON_ARRAY) || !tn_shape_count(dims, rank, &count) || count != tn_json_count(data)) {
        fail(fault, v, "data and shape do not agree", "as many elements as the shape has");
        return NULL;
    }
    struct tn_tensor *t = tn_tensor_new(heap, element, rank, dims);
    for (struct tn_json x = tn_json_first(data); t && tn_json_present(x); x = tn_json_next(x)) {
        if (set_element(t, at++, x, fault)) continue;
        tn_tensor_drop(t);
        return NULL;
    }
    return t;
}

/* ---- groups in ---------------------------------------------------------------------------------------------------- */

static struct tn_tensor *value_of(const struct tn_onnx_port *port, struct tn_json v, struct tn_heap *heap, struct tn_tensor_fault *fault);

static struct tn_tensor *sequence_of(const struct tn_onnx_port *port, struct tn_json list, struct tn_heap *heap,
                                     struct tn_tensor_fault *fault)
{
    size_t count = tn_json_count(list), made = 0;
    struct tn_tensor *whole = NULL, **items = tn_heap_take(heap, (count + 1) * sizeof(*items));
    struct tn_json v = tn_json_first(list);
    while (items && made < count && (items[made] = value_of(port, v, heap, fault))) {
        v = tn_json_next(v);
        made++;
    }
    if (items && made == count) whole = tn_tensor_group(heap, TN_KIND_SEQUENCE, items, count);
    if (whole && count == 0) whole->element = (enum tn_element)port->element;
    for (size_t i = 0; i < made; i++) tn_tensor_drop(items[i]);
    tn_heap_give(heap, items);
    return whole;
}

static struct tn_tensor *map_of(const struct tn_onnx_port *port, struct tn_json v, struct tn_heap *heap, struct tn_tensor_fault *fault)
{
    struct tn_tensor *parts[2] = {NULL, NULL}, *map = NULL;
    struct tn_json keys = tn_json_get(v, "keys"), values = tn_json_get(v, "values");
    parts[0] = tn_json_is(keys, TN_JSON_OBJECT) ? stated((enum tn_element)port->key, keys, heap, fault)
                                                : nested((enum tn_element)port->key, keys, heap, fault);
    if (parts[0]) {
        parts[1] = tn_json_is(values, TN_JSON_OBJECT) ? stated((enum tn_element)port->element, values, heap, fault)
                                                      : nested((enum tn_element)port->element, values, heap, fault);
    }
    bool good = parts[0] && parts[1] && parts[0]->rank == 1 && parts[1]->rank >= 1 && parts[0]->count == (uint64_t)parts[1]->dims[0];
    if (parts[0] && parts[1] && !good) fail(fault, v, "keys and values of a map do not agree", "as many values as keys, in lists");
    if (good) map = tn_tensor_group(heap, TN_KIND_MAP, parts, 2);
    tn_tensor_drop(parts[0]);
    tn_tensor_drop(parts[1]);
    return map;
}

/* By what stands there; the port gives the element types. */
static struct tn_tensor *value_of(const struct tn_onnx_port *port, struct tn_json v, struct tn_heap *heap, struct tn_tensor_fault *fault)
{
    if (!tn_json_is(v, TN_JSON_OBJECT)) return nested((enum tn_element)port->element, v, heap, fault);
    if (tn_json_present(tn_json_get(v, "keys"))) return map_of(port, v, heap, fault);
    if (tn_json_present(tn_json_get(v, "sequence"))) return sequence_of(port, tn_json_get(v, "sequence"), heap, fault);
    if (tn_json_present(tn_json_get(v, "data"))) return stated((enum tn_element)port->element, v, heap, fault);
    fail(fault, v, "an object that is no value", "{\"dtype\", \"shape\", \"data\"}, {\"sequence\"} or {\"keys\", \"values\"}");
    return NULL;
}

static struct tn_tensor *optional_of(struct tn_tensor *item, bool none, struct tn_heap *heap)
{
    struct tn_tensor *whole = item || none ? tn_tensor_group(heap, TN_KIND_OPTIONAL, &item, none ? 0 : 1) : NULL;
    tn_tensor_drop(item);
    return whole;
}

struct tn_tensor *tn_tensor_of_json(const struct tn_onnx_port *port, struct tn_json v, struct tn_heap *heap, struct tn_tensor_fault *fault)
{
    *fault = (struct tn_tensor_fault){NULL, NULL, {NULL, 0}};
    bool list = tn_json_is(v, TN_JSON_ARRAY);
    if (port->kind == TN_ONNX_PORT_SEQUENCE && list) return sequence_of(port, v, heap, fault);
    if (port->kind != TN_ONNX_PORT_OPTIONAL) return value_of(port, v, heap, fault);
    bool none = tn_json_present(v) && tn_json_type(v) == TN_JSON_NULL;
    return optional_of(none ? NULL : value_of(port, v, heap, fault), none, heap);
}

/* ---- out ---------------------------------------------------------------------------------------------------------- */

static void write_real(struct tn_json_writer *w, enum tn_element e, double value)
{
    if (isnan(value)) tn_jw_cstr(w, "NaN");
    else if (isinf(value)) tn_jw_cstr(w, value > 0 ? "Infinity" : "-Infinity");
    else if (e == TN_EL_F64 || e == TN_EL_C128) tn_jw_f64(w, value);
    else tn_jw_f32(w, (float)value);
}

static void write_element(struct tn_json_writer *w, const struct tn_tensor *t, size_t i)
{
    if (t->element == TN_EL_STRING) tn_jw_str(w, tn_tensor_texts(t)[i]);
    else if (t->element == TN_EL_BOOL) tn_jw_bool(w, ((const uint8_t *)t->data)[i] != 0);
    else if (t->element == TN_EL_U64) tn_jw_u64(w, ((const uint64_t *)t->data)[i]);
    else if (is_float(t->element)) write_real(w, t->element, tn_element_get(t->element, t->data, i));
    else tn_jw_i64(w, tn_element_get_int(t->element, t->data, i));
}

/* Complex numbers: real and imaginary parts in turn. */
static void write_complex(struct tn_json_writer *w, const struct tn_tensor *t, size_t i)
{
    enum tn_element part = t->element == TN_EL_C64 ? TN_EL_F32 : TN_EL_F64;
    write_real(w, part, tn_element_get(part, t->data, 2 * i));
    write_real(w, part, tn_element_get(part, t->data, 2 * i + 1));
}

static void write_tensor(struct tn_json_writer *w, const struct tn_tensor *t)
{
    bool complex = t->element == TN_EL_C64 || t->element == TN_EL_C128;
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "dtype", tn_onnx_element_name(t->element));
    tn_jw_key(w, "shape");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < t->rank; i++) tn_jw_i64(w, t->dims[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "data");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < t->count; i++) {
        if (complex) write_complex(w, t, i);
        else write_element(w, t, i);
    }
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}

void tn_tensor_write(struct tn_json_writer *w, const struct tn_tensor *t)
{
    switch (t->kind) {
    case TN_KIND_TENSOR: write_tensor(w, t); return;
    case TN_KIND_MAP:
        tn_jw_begin_object(w);
        tn_jw_key(w, "keys");
        tn_tensor_write(w, t->items[0]);
        tn_jw_key(w, "values");
        tn_tensor_write(w, t->items[1]);
        tn_jw_end_object(w);
        return;
    case TN_KIND_SEQUENCE:
        tn_jw_begin_object(w);
        tn_jw_key(w, "sequence");
        tn_jw_begin_array(w);
        for (size_t i = 0; i < t->count; i++) tn_tensor_write(w, t->items[i]);
        tn_jw_end_array(w);
        tn_jw_end_object(w);
        return;
    case TN_KIND_OPTIONAL:
        if (t->count) {
            tn_tensor_write(w, t->items[0]);
            return;
        }
        break;
    case TN_KIND_NONE: break;
    }
    tn_jw_null(w);
}
