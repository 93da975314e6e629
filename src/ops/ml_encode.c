/*
 * Operators of ai.onnx.ml that look values up in lists: LabelEncoder of all versions, CategoryMapper, OneHotEncoder. Lists
 * come from attributes; of equal keys the first counts, and NaN equals NaN.
 */
#include "ops/op.h"

#include <math.h>
#include <string.h>

static const char domain[] = "ai.onnx.ml";

/* ---- lists -------------------------------------------------------------------------------------------------------- */

struct list {
    const struct tn_str *texts; /* one of them, or none */
    const int64_t *ints;
    const float *floats;
    const struct tn_constant *tensor;
    size_t count;
    bool given;
};

static struct list list_of(const struct tn_node *node, const char *texts, const char *ints, const char *floats, const char *tensor)
{
    struct list l = {.count = 0};
    const struct tn_attr *a = tensor ? tn_node_attr(node, tensor) : NULL;
    uint64_t n;
    if (a && a->as.tensors->data && tn_shape_count(a->as.tensors->dims, a->as.tensors->rank, &n)) {
        l.tensor = a->as.tensors;
        l.count = (size_t)n;
        l.given = true;
        return l;
    }
    l.texts = tn_attr_texts(node, texts, &l.count);
    if (!l.count) l.ints = tn_attr_ints(node, ints, &l.count);
    if (!l.count && floats) l.floats = tn_attr_floats(node, floats, &l.count);
    l.given = l.count > 0;
    return l;
}

static enum tn_element element_of(const struct list *l)
{
    return l->tensor ? l->tensor->element : l->floats ? TN_EL_F32 : l->ints && !l->texts ? TN_EL_I64 : TN_EL_STRING;
}

static struct tn_str text_at(const struct list *l, size_t i)
{
    return l->tensor ? ((const struct tn_str *)l->tensor->data)[i] : l->texts[i];
}

static double real_at(const struct list *l, size_t i)
{
    return l->tensor ? tn_element_get(l->tensor->element, l->tensor->data, i) : (double)l->floats[i];
}

static int64_t int_at(const struct list *l, size_t i)
{
    return l->tensor ? tn_element_get_int(l->tensor->element, l->tensor->data, i) : l->ints[i];
}

/* ---- order -------------------------------------------------------------------------------------------------------- */

enum sort { TEXT, REAL, INT };

static enum sort sort_of(enum tn_element e)
{
    return e == TN_EL_STRING ? TEXT : e == TN_EL_F32 || e == TN_EL_F64 || e == TN_EL_F16 ? REAL : INT;
}

static int compare_texts(struct tn_str a, struct tn_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.s, b.s, n) : 0;
    return c ? c : a.n < b.n ? -1 : a.n > b.n;
}

/* NaN stands behind all numbers. */
static int compare_reals(double a, double b)
{
    if (a != a || b != b) return (a != a) - (b != b);
    return a < b ? -1 : a > b;
}

struct key {
    struct tn_str text;
    double real;
    int64_t whole;
};

static struct key key_of(const struct list *l, enum sort sort, size_t i)
{
    struct key k = {{NULL, 0}, 0, 0};
    if (sort == TEXT) k.text = text_at(l, i);
    else if (sort == REAL) k.real = real_at(l, i);
    else k.whole = int_at(l, i);
    return k;
}

static struct key key_in(const struct tn_tensor *x, enum sort sort, uint64_t i)
{
    struct key k = {{NULL, 0}, 0, 0};
    if (sort == TEXT) k.text = tn_tensor_texts(x)[i];
    else if (sort == REAL) k.real = tn_element_get(x->element, x->data, i);
    else k.whole = tn_element_get_int(x->element, x->data, i);
    return k;
}

static int compare_keys(enum sort sort, const struct key *a, const struct key *b)
{
    if (sort == TEXT) return compare_texts(a->text, b->text);
    if (sort == REAL) return compare_reals(a->real, b->real);
    return a->whole < b->whole ? -1 : a->whole > b->whole;
}

static int compare_at(const struct list *l, enum sort sort, uint32_t a, uint32_t b)
{
    struct key ka = key_of(l, sort, a), kb = key_of(l, sort, b);
    int c = compare_keys(sort, &ka, &kb);
    return c ? c : a < b ? -1 : a > b;
}

static void sift(const struct list *l, enum sort sort, uint32_t *order, size_t i, size_t n)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n) return;
        if (child + 1 < n && compare_at(l, sort, order[child], order[child + 1]) < 0) child++;
        if (compare_at(l, sort, order[i], order[child]) >= 0) return;
        uint32_t t = order[i];
        order[i] = order[child];
        order[child] = t;
        i = child;
    }
}

struct lookup {
    const struct list *keys;
    enum sort sort;
    uint32_t *order;
};

static bool begin_lookup(struct tn_run *r, const struct list *keys, enum tn_element e, struct lookup *out)
{
    *out = (struct lookup){keys, sort_of(e), NULL};
    if (keys->count > INT32_MAX) return tn_run_refuse(r, "fewer keys", "%zu", keys->count);
    uint32_t *order = out->order = tn_run_scratch(r, keys->count + 1, sizeof(*order));
    if (!order) return false;
    for (size_t i = 0; i < keys->count; i++) order[i] = (uint32_t)i;
    for (size_t i = keys->count / 2; i-- > 0;) sift(keys, out->sort, order, i, keys->count);
    for (size_t i = keys->count; i-- > 1;) {
        uint32_t t = order[0];
        order[0] = order[i];
        order[i] = t;
        sift(keys, out->sort, order, 0, i);
    }
    return true;
}

/* The first key that equals element i of x; false: none. */
static bool find(const struct lookup *l, const struct tn_tensor *x, uint64_t i, size_t *out)
{
    struct key want = key_in(x, l->sort, i);
    size_t low = 0, high = l->keys->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        struct key k = key_of(l->keys, l->sort, l->order[mid]);
        if (compare_keys(l->sort, &k, &want) < 0) low = mid + 1;
        else high = mid;
    }
    if (low == l->keys->count) return false;
    *out = l->order[low];
    struct key k = key_of(l->keys, l->sort, *out);
    return compare_keys(l->sort, &k, &want) == 0;
}

/* ---- LabelEncoder ------------------------------------------------------------------------------------------------- */

/* Version 1 has one list of texts, whose places are the integers. */
static bool read_lists(const struct tn_node *node, enum tn_element x, struct list *keys, struct list *values)
{
    if (node->version >= 2) {
        *keys = list_of(node, "keys_strings", "keys_int64s", "keys_floats", "keys_tensor");
        *values = list_of(node, "values_strings", "values_int64s", "values_floats", "values_tensor");
        return keys->count == values->count;
    }
    struct list classes = list_of(node, "classes_strings", "classes_strings", NULL, NULL), places = {.count = classes.count, .given = true};
    *keys = x == TN_EL_STRING ? classes : places;
    *values = x == TN_EL_STRING ? places : classes;
    return true;
}

static bool infer_encode(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    struct list keys, values;
    if (!t) return true;
    if (!read_lists(x->node, t->element, &keys, &values)) return tn_infer_refuse(x, "a value for each key", "%zu keys, %zu values", keys.count, values.count);
    struct tn_type y = *t;
    if (x->node->version == 1) {
        y.element = t->element == TN_EL_STRING ? TN_EL_I64 : TN_EL_STRING;
    } else {
        if (keys.count && element_of(&keys) != t->element) return tn_infer_refuse(x, "keys of the operand's type", "others");
        y.element = element_of(&values);
    }
    tn_out_type(x, 0, &y);
    return true;
}

static bool put_default(struct tn_run *r, struct tn_tensor *y, uint64_t i)
{
    const struct tn_attr *t = tn_node_attr(r->node, "default_tensor");
    bool stated = t && t->as.tensors->data && t->as.tensors->element == y->element && t->as.tensors->bytes > 0;
    if (y->element == TN_EL_STRING) {
        struct tn_str text = stated ? ((const struct tn_str *)t->as.tensors->data)[0] : tn_attr_text(r->node, "default_string");
        return tn_tensor_set_text(y, i, text) || tn_run_no_memory(r);
    }
    if (sort_of(y->element) == REAL) {
        tn_element_set(y->element, y->data, i, stated ? tn_element_get(y->element, t->as.tensors->data, 0) : tn_attr_float(r->node, "default_float", -0.0), false);
        return true;
    }
    tn_element_set_int(y->element, y->data, i, stated ? tn_element_get_int(y->element, t->as.tensors->data, 0) : tn_attr_int(r->node, "default_int64", -1));
    return true;
}

static bool put_value(struct tn_run *r, const struct list *values, size_t k, struct tn_tensor *y, uint64_t i)
{
    if (y->element == TN_EL_STRING) return tn_tensor_set_text(y, i, text_at(values, k)) || tn_run_no_memory(r);
    if (sort_of(y->element) == REAL) tn_element_set(y->element, y->data, i, real_at(values, k), false);
    else tn_element_set_int(y->element, y->data, i, values->ints || values->tensor ? int_at(values, k) : (int64_t)k);
    return true;
}

static bool run_places(struct tn_run *r, const struct list *classes)
{
    const struct tn_tensor *x = r->in[0];
    for (uint64_t i = 0; i < x->count; i++) {
        int64_t k = ((const int64_t *)x->data)[i];
        bool known = k >= 0 && (uint64_t)k < classes->count;
        if (!(known ? put_value(r, classes, (size_t)k, r->out[0], i) : put_default(r, r->out[0], i))) return false;
    }
    return true;
}

static bool map_all(struct tn_run *r, const struct list *keys, const struct list *values)
{
    const struct tn_tensor *x = r->in[0];
    struct lookup l;
    size_t k;
    bool good = begin_lookup(r, keys, x->element, &l);
    for (uint64_t i = 0; good && i < x->count; i++) good = find(&l, x, i, &k) ? put_value(r, values, k, r->out[0], i) : put_default(r, r->out[0], i);
    tn_heap_give(r->heap, l.order);
    return good;
}

static bool run_encode(struct tn_run *r)
{
    struct list keys, values;
    read_lists(r->node, r->in[0]->element, &keys, &values);
    if (r->node->version == 1 && r->in[0]->element != TN_EL_STRING) return run_places(r, &values);
    return map_all(r, &keys, &values);
}

/* ---- CategoryMapper ----------------------------------------------------------------------------------------------- */

static bool infer_category(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    size_t texts, ints;
    tn_attr_texts(x->node, "cats_strings", &texts);
    tn_attr_ints(x->node, "cats_int64s", &ints);
    if (texts != ints) return tn_infer_refuse(x, "an integer for each text", "%zu and %zu", ints, texts);
    if (!t) return true;
    struct tn_type y = *t;
    y.element = t->element == TN_EL_STRING ? TN_EL_I64 : TN_EL_STRING;
    tn_out_type(x, 0, &y);
    return true;
}

static bool run_category(struct tn_run *r)
{
    struct list texts = {.given = true}, ints = {.given = true};
    texts.texts = tn_attr_texts(r->node, "cats_strings", &texts.count);
    ints.ints = tn_attr_ints(r->node, "cats_int64s", &ints.count);
    return r->in[0]->element == TN_EL_STRING ? map_all(r, &texts, &ints) : map_all(r, &ints, &texts);
}

/* ---- OneHotEncoder ------------------------------------------------------------------------------------------------ */

static struct list categories(const struct tn_node *node)
{
    return list_of(node, "cats_strings", "cats_int64s", NULL, NULL);
}

static bool infer_hot(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    struct list cats = categories(x->node);
    if (!t) return true;
    if (cats.count == 0 || (cats.texts != NULL && cats.ints == NULL) != (t->element == TN_EL_STRING)) return tn_infer_refuse(x, "categories of the operand's kind", "%zu of another", cats.count);
    tn_out_unknown(x, 0, TN_EL_F32);
    if (!t->shape.known) return true;
    if (t->shape.rank + 1 > TN_RANK) return tn_infer_refuse(x, "fewer dimensions", "%u", t->shape.rank);
    struct tn_shape s = t->shape;
    s.dims[s.rank++] = (tn_dim_t)cats.count;
    tn_out_tensor(x, 0, TN_EL_F32, s.rank, s.dims);
    return true;
}

static bool run_hot(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct list cats = categories(r->node);
    struct lookup l;
    bool zeros = tn_attr_int(r->node, "zeros", 1) != 0, good;
    struct tn_tensor whole = *x;
    int64_t *cast = NULL;
    size_t k;
    if (x->element != TN_EL_STRING) { /* numbers are cast to integers */
        cast = tn_run_scratch(r, x->count + 1, sizeof(*cast));
        if (!cast) return false;
        for (uint64_t i = 0; i < x->count; i++) cast[i] = tn_element_get_int(x->element, x->data, i);
        whole.element = TN_EL_I64;
        whole.data = cast;
    }
    good = begin_lookup(r, &cats, whole.element, &l);
    if (good) memset(r->out[0]->data, 0, r->out[0]->bytes);
    for (uint64_t i = 0; good && i < x->count; i++) {
        if (find(&l, &whole, i, &k)) ((float *)r->out[0]->data)[i * cats.count + k] = 1;
        else if (!zeros) good = tn_run_refuse(r, "values that are categories", "element %llu is none", (unsigned long long)i);
    }
    tn_heap_give(r->heap, l.order);
    tn_heap_give(r->heap, cast);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = domain, .name = "LabelEncoder", .since = 1, .infer = infer_encode, .run = run_encode},
    {.domain = domain, .name = "CategoryMapper", .since = 1, .infer = infer_category, .run = run_category},
    {.domain = domain, .name = "OneHotEncoder", .since = 1, .infer = infer_hot, .run = run_hot},
};

const struct tn_operators tn_ops_ml_encode = {rows, sizeof(rows) / sizeof(rows[0])};
