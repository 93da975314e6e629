/* Where, Clip and Expand: choosing and repeating elements. Elements move as bytes; texts are copied. */
#include "ops/broadcast.h"
#include "ops/typed.h"

#include <math.h>
#include <string.h>

/* ---- Where -------------------------------------------------------------------------------------------------------- */

static bool infer_where(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 1);
    const tn_dim_t *c, *a, *b;
    uint32_t n, m, k;
    if (!x->running && tn_in_content(x, 0, &c, &n) && tn_in_sizes(x, 1, &a, &m) && tn_in_sizes(x, 2, &b, &k)) {
        tn_dim_t out[TN_CONTENT];
        uint32_t count = n > m ? n : m;
        count = k > count ? k : count;
        bool good = n && m && k;
        for (uint32_t i = 0; good && i < count; i++) {
            tn_dim_t which = c[n == 1 ? 0 : i < n ? i : 0];
            good = tn_dim_known(which);
            out[i] = which ? a[m == 1 ? 0 : i < m ? i : 0] : b[k == 1 ? 0 : i < k ? i : 0];
        }
        if (good) tn_out_content(x, 0, out, count);
    }
    return tn_infer_elementwise(x, 3, t ? t->element : TN_EL_NONE);
}

struct choice {
    const uint8_t *which;
    const struct tn_tensor *a, *b;
    struct tn_tensor *y;
    size_t size;
};

static void choose_row(void *user, const struct tn_broadcast *bc, const uint64_t *in, uint64_t out, uint64_t n)
{
    const struct choice *c = user;
    const char *a = (const char *)c->a->data + in[1] * c->size, *b = (const char *)c->b->data + in[2] * c->size;
    char *y = (char *)c->y->data + out * c->size;
    if (c->size == 4) {
        for (uint64_t i = 0; i < n; i++) {
            uint32_t value;
            const char *from = c->which[in[0] + (bc->moves[0] ? i : 0)] ? a + (bc->moves[1] ? i * 4 : 0) : b + (bc->moves[2] ? i * 4 : 0);
            memcpy(&value, from, 4);
            memcpy(y + i * 4, &value, 4);
        }
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        bool first = c->which[in[0] + (bc->moves[0] ? i : 0)];
        const char *from = first ? a + (bc->moves[1] ? i * c->size : 0) : b + (bc->moves[2] ? i * c->size : 0);
        memcpy(y + i * c->size, from, c->size);
    }
}

/* Texts that were moved as views of their operands' memory are copied, so that they outlive them. */
static bool own_texts(struct tn_run *r, struct tn_tensor *y)
{
    if (y->element != TN_EL_STRING) return true;
    struct tn_str *texts = y->data;
    for (uint64_t i = 0; i < y->count; i++) {
        if (!tn_tensor_set_text(y, i, texts[i])) return tn_run_no_memory(r);
    }
    return true;
}

static bool run_where(struct tn_run *r)
{
    struct choice c = {r->in[0]->data, r->in[1], r->in[2], r->out[0], tn_element_size(r->in[1]->element)};
    struct tn_broadcast bc;
    if (!c.size) return tn_run_refuse(r, "elements of whole bytes", "%s", tn_onnx_element_name(r->in[1]->element));
    tn_broadcast_init(&bc, r->out[0], r->in, 3);
    tn_run_rows(r, &bc, 2, choose_row, &c);
    return own_texts(r, r->out[0]);
}

/* ---- Expand ------------------------------------------------------------------------------------------------------- */

static bool infer_expand(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    const tn_dim_t *content;
    uint32_t n;
    struct tn_shape want = {.known = true}, shape;
    if (!t) return true;
    if (!tn_in_content(x, 1, &content, &n)) {
        if (x->failed) return false;
        tn_out_unknown(x, 0, t->element);
        return !x->running || tn_infer_refuse(x, "a shape of numbers that are not negative", "another shape");
    }
    if (n > TN_RANK) return tn_infer_refuse(x, "at most 8 dimensions", "%u", n);
    want.rank = n;
    for (uint32_t i = 0; i < n; i++) want.dims[i] = content[i];
    if (!tn_infer_broadcast(x, &t->shape, &want, &shape)) return false;
    tn_out_type(x, 0, &(struct tn_type){.kind = TN_KIND_TENSOR, .element = t->element, .shape = shape});
    return true;
}

struct expansion {
    const char *x;
    char *y;
    size_t size;
};

static void expand_row(void *user, const struct tn_broadcast *bc, const uint64_t *in, uint64_t out, uint64_t n)
{
    const struct expansion *e = user;
    const char *x = e->x + in[0] * e->size;
    if (bc->moves[0]) memcpy(e->y + out * e->size, x, n * e->size);
    else
        for (uint64_t i = 0; i < n; i++) memcpy(e->y + (out + i) * e->size, x, e->size);
}

static bool run_expand(struct tn_run *r)
{
    struct expansion e = {r->in[0]->data, r->out[0]->data, tn_element_size(r->in[0]->element)};
    struct tn_broadcast bc;
    if (!e.size) return tn_run_refuse(r, "elements of whole bytes", "%s", tn_onnx_element_name(r->in[0]->element));
    tn_broadcast_init(&bc, r->out[0], r->in, 1);
    tn_run_rows(r, &bc, 1, expand_row, &e);
    return own_texts(r, r->out[0]);
}

/* ---- Clip --------------------------------------------------------------------------------------------------------- */

/* Limits are attributes before version 11 and operands afterwards; what is not given does not limit. */
static bool limit(const struct tn_run *r, uint32_t operand, const char *name, double *real, int64_t *whole)
{
    const struct tn_attr *a = tn_node_attr(r->node, name);
    if (a) *real = a->as.f;
    if (a) *whole = (int64_t)a->as.f;
    if (operand >= r->in_count || !r->in[operand]) return a != NULL;
    *real = tn_element_get(r->in[operand]->element, r->in[operand]->data, 0);
    *whole = tn_element_get_int(r->in[operand]->element, r->in[operand]->data, 0);
    return true;
}

struct clip {
    const struct tn_tensor *x;
    struct tn_tensor *y;
    double low, high;
    int64_t least, most;
    bool below, above;
};

static void clip_items(void *user, uint64_t begin, uint64_t end)
{
    const struct clip *c = user;
    if (c->x->element == TN_EL_F32) {
        const float *x = c->x->data;
        float *y = c->y->data, low = c->below ? (float)c->low : -INFINITY, high = c->above ? (float)c->high : INFINITY;
        for (uint64_t i = begin; i < end; i++) {
            float value = x[i] < low ? low : x[i];
            y[i] = value > high ? high : value;
        }
        return;
    }
    bool whole = tn_elements_have(TN_ELS_INT, c->x->element), top = c->x->element == TN_EL_U64;
    for (uint64_t i = begin; i < end; i++) {
        if (whole) {
            int64_t v = tn_element_get_int(c->x->element, c->x->data, i);
            if (c->below && (top ? (uint64_t)v < (uint64_t)c->least : v < c->least)) v = c->least;
            if (c->above && (top ? (uint64_t)v > (uint64_t)c->most : v > c->most)) v = c->most;
            tn_element_set_int(c->y->element, c->y->data, i, v);
        } else {
            double v = tn_element_get(c->x->element, c->x->data, i);
            if (c->below && v < c->low) v = c->low;
            if (c->above && v > c->high) v = c->high;
            tn_element_set(c->y->element, c->y->data, i, v, false);
        }
    }
}

static bool infer_clip(struct tn_infer *x)
{
    for (uint32_t i = 1; i < x->in_count; i++) {
        const struct tn_type *t = tn_in_type(x, i);
        if (!t || !t->shape.known) continue;
        for (uint32_t k = 0; k < t->shape.rank; k++) {
            if (tn_dim_known(t->shape.dims[k]) && t->shape.dims[k] != 1) return tn_infer_refuse(x, "one number as a limit", "a list");
        }
    }
    return tn_infer_same(x);
}

static bool run_clip(struct tn_run *r)
{
    struct clip c = {.x = r->in[0], .y = r->out[0]};
    c.below = limit(r, 1, "min", &c.low, &c.least);
    c.above = limit(r, 2, "max", &c.high, &c.most);
    tn_run_items(r, c.x->count, 2, clip_items, &c);
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "Where", .since = 9, .infer = infer_where, .run = run_where},
    {.name = "Expand", .since = 8, .infer = infer_expand, .run = run_expand},
    {.name = "Clip", .since = 1, .infer = infer_clip, .run = run_clip, .in_place = true},
};

const struct tn_operators tn_ops_elementwise_select = {rows, sizeof(rows) / sizeof(rows[0])};
