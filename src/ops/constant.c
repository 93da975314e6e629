/* Constants, shapes as values, and random numbers: operators whose results do not come from an operand's elements. */
#include "ops/typed.h"

#include <math.h>
#include <string.h>

/* ---- Constant ----------------------------------------------------------------------------------------------------- */

static const char *const value_names[] = {"value", "value_float", "value_int", "value_string", "value_floats", "value_ints",
                                          "value_strings", "sparse_value"};

static const struct tn_attr *constant_attr(const struct tn_node *node)
{
    for (size_t i = 0; i < sizeof(value_names) / sizeof(value_names[0]); i++) {
        const struct tn_attr *a = tn_node_attr(node, value_names[i]);
        if (a) return a;
    }
    return NULL;
}

static bool infer_constant(struct tn_infer *x)
{
    const struct tn_attr *a = constant_attr(x->node);
    tn_dim_t n = a ? (int64_t)a->count : 0;
    if (!a) return tn_infer_refuse(x, "one of the attributes value, value_float, value_ints ...", "none of them");
    switch (a->type) {
    case TN_ATTR_FLOAT: tn_out_tensor(x, 0, TN_EL_F32, 0, NULL); return true;
    case TN_ATTR_STRING: tn_out_tensor(x, 0, TN_EL_STRING, 0, NULL); return true;
    case TN_ATTR_FLOATS: tn_out_tensor(x, 0, TN_EL_F32, 1, &n); return true;
    case TN_ATTR_STRINGS: tn_out_tensor(x, 0, TN_EL_STRING, 1, &n); return true;
    case TN_ATTR_INT:
        tn_out_tensor(x, 0, TN_EL_I64, 0, NULL);
        if (a->as.i >= 0) tn_out_content(x, 0, &a->as.i, 1);
        return true;
    case TN_ATTR_INTS:
        tn_out_tensor(x, 0, TN_EL_I64, 1, &n);
        for (size_t i = 0; i < a->count; i++) {
            if (a->as.ints[i] < 0) return true;
        }
        tn_out_content(x, 0, a->as.ints, (uint32_t)a->count);
        return true;
    default: tn_out_tensor(x, 0, a->as.tensors->element, a->as.tensors->rank, a->as.tensors->dims); break;
    }
    const struct tn_constant *c = a->as.tensors;
    tn_dim_t content[TN_CONTENT];
    uint64_t count;
    if (!c->data || c->rank > 1 || !tn_elements_have(TN_ELS_INT | TN_ELS(BOOL), c->element) || !tn_shape_count(c->dims, c->rank, &count) ||
        count > TN_CONTENT)
        return true;
    for (uint64_t i = 0; i < count; i++) {
        content[i] = tn_element_get_int(c->element, c->data, i);
        if (content[i] < 0) return true;
    }
    tn_out_content(x, 0, content, (uint32_t)count);
    return true;
}

static bool run_constant(struct tn_run *r)
{
    const struct tn_attr *a = constant_attr(r->node);
    struct tn_tensor *y = r->out[0];
    switch (a->type) {
    case TN_ATTR_FLOAT: ((float *)y->data)[0] = a->as.f; return true;
    case TN_ATTR_INT: ((int64_t *)y->data)[0] = a->as.i; return true;
    case TN_ATTR_STRING: return tn_tensor_set_text(y, 0, a->as.s) || tn_run_no_memory(r);
    case TN_ATTR_FLOATS:
    case TN_ATTR_INTS:
        if (y->bytes) memcpy(y->data, a->as.ints, y->bytes);
        return true;
    case TN_ATTR_STRINGS:
        for (size_t i = 0; i < a->count; i++) {
            if (!tn_tensor_set_text(y, i, a->as.strings[i])) return tn_run_no_memory(r);
        }
        return true;
    default: break;
    }
    const struct tn_constant *c = a->as.tensors;
    if (c->element == TN_EL_STRING) {
        for (uint64_t i = 0; c->data && i < y->count; i++) {
            if (!tn_tensor_set_text(y, i, ((const struct tn_str *)c->data)[i])) return tn_run_no_memory(r);
        }
        return true;
    }
    if (c->bytes) memcpy(y->data, c->data, c->bytes);
    return true;
}

/* ---- ConstantOfShape ---------------------------------------------------------------------------------------------- */

static bool shape_from(struct tn_infer *x, uint32_t operand, enum tn_element e)
{
    const tn_dim_t *content;
    uint32_t n;
    if (!tn_in_content(x, operand, &content, &n)) {
        if (x->running) return tn_infer_refuse(x, "a shape of numbers that are not negative", "another shape");
        tn_out_unknown(x, 0, e);
        return true;
    }
    if (n > TN_RANK) return tn_infer_refuse(x, "at most 8 dimensions", "%u", n);
    tn_out_tensor(x, 0, e, n, content);
    return true;
}

static bool infer_constant_of_shape(struct tn_infer *x)
{
    const struct tn_attr *a = tn_node_attr(x->node, "value");
    if (a && a->as.tensors->data == NULL) return tn_infer_refuse(x, "a value of one element", "many");
    if (!a || tn_elements_have(TN_ELS_INT, a->as.tensors->element)) {
        const tn_dim_t *shape;
        uint32_t n;
        int64_t value = a ? tn_element_get_int(a->as.tensors->element, a->as.tensors->data, 0) : 0;
        if (!x->running && value >= 0 && a && tn_in_content(x, 0, &shape, &n) && n == 1 && shape[0] >= 0 && shape[0] <= TN_CONTENT) {
            tn_dim_t content[TN_CONTENT];
            for (int64_t i = 0; i < shape[0]; i++) content[i] = value;
            tn_out_content(x, 0, content, (uint32_t)shape[0]);
        }
    }
    return shape_from(x, 0, a ? a->as.tensors->element : TN_EL_F32);
}

static bool run_constant_of_shape(struct tn_run *r)
{
    const struct tn_attr *a = tn_node_attr(r->node, "value");
    struct tn_tensor *y = r->out[0];
    size_t size = tn_element_size(y->element);
    if (!a || size == 0) {
        memset(y->data, 0, y->bytes);
        for (uint64_t i = 0; a && i < y->count; i++)
            tn_element_set_int(y->element, y->data, i, tn_element_get_int(y->element, a->as.tensors->data, 0));
        return true;
    }
    for (uint64_t i = 0; i < y->count; i++) memcpy((char *)y->data + i * size, a->as.tensors->data, size);
    return true;
}

/* ---- Shape and Size ----------------------------------------------------------------------------------------------- */

static void slice_of_rank(const struct tn_node *node, uint32_t rank, uint32_t *begin, uint32_t *end)
{
    int64_t from = tn_attr_int(node, "start", 0), to = tn_attr_int(node, "end", rank);
    from = from < 0 ? from + rank : from;
    to = to < 0 ? to + rank : to;
    *begin = (uint32_t)(from < 0 ? 0 : from > rank ? rank : from);
    *end = (uint32_t)(to < *begin ? *begin : to > rank ? rank : to);
}

static bool infer_shape(struct tn_infer *x)
{
    const struct tn_shape *s;
    uint32_t begin, end;
    if (!tn_in_shape(x, 0, &s)) {
        tn_dim_t n = tn_dim_unknown(x->symbols);
        tn_out_tensor(x, 0, TN_EL_I64, 1, &n);
        return true;
    }
    slice_of_rank(x->node, s->rank, &begin, &end);
    tn_dim_t n = end - begin;
    tn_out_tensor(x, 0, TN_EL_I64, 1, &n);
    tn_out_content(x, 0, s->dims + begin, end - begin);
    return true;
}

static bool run_shape(struct tn_run *r)
{
    uint32_t begin, end;
    slice_of_rank(r->node, r->in[0]->rank, &begin, &end);
    memcpy(r->out[0]->data, r->in[0]->dims + begin, (end - begin) * sizeof(int64_t));
    return true;
}

static bool infer_size(struct tn_infer *x)
{
    const struct tn_shape *s;
    tn_out_tensor(x, 0, TN_EL_I64, 0, NULL);
    if (!tn_in_shape(x, 0, &s)) return true;
    tn_dim_t product = 1;
    for (uint32_t i = 0; i < s->rank; i++) product = tn_dim_mul(x->symbols, product, s->dims[i]);
    tn_out_content(x, 0, &product, 1);
    return true;
}

static bool run_size(struct tn_run *r)
{
    ((int64_t *)r->out[0]->data)[0] = (int64_t)r->in[0]->count;
    return true;
}

/* ---- Range -------------------------------------------------------------------------------------------------------- */

static bool range_count(const struct tn_tensor *a, const struct tn_tensor *b, const struct tn_tensor *step, int64_t *out)
{
    if (tn_elements_have(TN_ELS_INT, a->element)) {
        int64_t from = tn_element_get_int(a->element, a->data, 0), to = tn_element_get_int(b->element, b->data, 0);
        int64_t by = tn_element_get_int(step->element, step->data, 0), span;
        if (by == 0 || by == INT64_MIN || __builtin_sub_overflow(to, from, &span) || span == INT64_MIN) return false;
        if (by < 0) {
            by = -by;
            span = -span;
        }
        *out = span <= 0 ? 0 : (span - 1) / by + 1;
        return true;
    }
    double n = ceil((tn_element_get(b->element, b->data, 0) - tn_element_get(a->element, a->data, 0)) /
                    tn_element_get(step->element, step->data, 0));
    if (isnan(n) || n > 0x1p62) return false;
    *out = n > 0 ? (int64_t)n : 0;
    return true;
}

static bool infer_range(struct tn_infer *x)
{
    const struct tn_tensor *a = tn_in_data(x, 0), *b = tn_in_data(x, 1), *step = tn_in_data(x, 2), *given[3] = {a, b, step};
    const struct tn_type *t = tn_in_type(x, 0);
    const tn_dim_t *from, *to, *by;
    uint32_t n[3];
    tn_dim_t count = tn_dim_unknown(x->symbols);
    for (int i = 0; i < 3; i++) {
        if (given[i] && (given[i]->count != 1 || given[i]->rank > 1)) return tn_infer_refuse(x, "one number each for start, limit and delta", "%llu", (unsigned long long)given[i]->count);
    }
    if (a && b && step) {
        int64_t known;
        if (!range_count(a, b, step, &known)) return tn_infer_refuse(x, "a delta that is not 0 and a finite number of values", "another range");
        count = known;
        if (!x->running && known <= TN_CONTENT && t && tn_elements_have(TN_ELS_INT, t->element)) {
            tn_dim_t content[TN_CONTENT];
            int64_t first = tn_element_get_int(a->element, a->data, 0), delta = tn_element_get_int(step->element, step->data, 0);
            bool good = true;
            for (int64_t i = 0; i < known; i++) {
                content[i] = first + i * delta;
                good = good && content[i] >= 0;
            }
            if (good) tn_out_content(x, 0, content, (uint32_t)known);
        }
    } else if (tn_in_content(x, 0, &from, &n[0]) && tn_in_content(x, 1, &to, &n[1]) && tn_in_content(x, 2, &by, &n[2]) && n[0] && n[1] &&
               n[2] && by[0] == 1) {
        count = tn_dim_sub(x->symbols, to[0], from[0]);
    }
    tn_out_tensor(x, 0, t ? t->element : TN_EL_NONE, 1, &count);
    return true;
}

static bool run_range(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0];
    enum tn_element e = y->element;
    if (tn_elements_have(TN_ELS_INT, e)) {
        int64_t value = tn_run_int(r, 0, 0), step = tn_run_int(r, 2, 0);
        for (uint64_t i = 0; i < y->count; i++) tn_element_set_int(e, y->data, i, (int64_t)((uint64_t)value + i * (uint64_t)step));
        return true;
    }
    double first = tn_element_get(e, r->in[0]->data, 0), step = tn_element_get(e, r->in[2]->data, 0);
    for (uint64_t i = 0; i < y->count; i++) tn_element_set(e, y->data, i, first + (double)i * step, false);
    return true;
}

/* ---- EyeLike ------------------------------------------------------------------------------------------------------ */

static bool infer_eye_like(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    if (!t) return true;
    if (t->shape.known && t->shape.rank != 2) return tn_infer_refuse(x, "a matrix", "rank %u", t->shape.rank);
    struct tn_type out = *t;
    out.element = (enum tn_element)tn_attr_int(x->node, "dtype", t->element);
    tn_out_type(x, 0, &out);
    return true;
}

static bool run_eye_like(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0];
    int64_t k = tn_attr_int(r->node, "k", 0), rows = y->dims[0], columns = y->dims[1];
    memset(y->data, 0, y->bytes);
    for (int64_t i = 0; i < rows; i++) {
        if (k <= columns && k >= -rows && i + k >= 0 && i + k < columns) tn_element_set(y->element, y->data, (size_t)(i * columns + i + k), 1, false);
    }
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "Constant", .since = 1, .infer = infer_constant, .run = run_constant},
    {.name = "ConstantOfShape", .since = 9, .infer = infer_constant_of_shape, .run = run_constant_of_shape},
    {.name = "Shape", .since = 1, .infer = infer_shape, .run = run_shape},
    {.name = "Size", .since = 1, .infer = infer_size, .run = run_size},
    {.name = "Range", .since = 11, .infer = infer_range, .run = run_range},
    {.name = "Range", .domain = "com.microsoft", .since = 1, .infer = infer_range, .run = run_range},
    {.name = "EyeLike", .since = 9, .infer = infer_eye_like, .run = run_eye_like},
};

const struct tn_operators tn_ops_constant = {rows, sizeof(rows) / sizeof(rows[0])};
