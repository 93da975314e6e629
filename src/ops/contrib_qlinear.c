/*
 * Element by element over 8-bit numbers with a scale and a zero point each: QLinearAdd, QLinearMul, QLinearSigmoid,
 * QLinearLeakyRelu, QLinearWhere, QLinearConcat of com.microsoft. Operands become floats, the result is rounded once, halves
 * to even. What depends on one operand alone is a table of 256 results.
 */
#include "ops/broadcast.h"

#include <math.h>
#include <string.h>

struct level {
    float scale, zero;
    bool is_signed;
};

/* One scale, and a zero point of the type of the operand, if there is one. */
static bool read_level(struct tn_run *r, uint32_t scale, uint32_t zero, enum tn_element e, struct level *out)
{
    const struct tn_tensor *s = scale < r->in_count ? r->in[scale] : NULL, *z = zero < r->in_count ? r->in[zero] : NULL;
    if (!s || s->count != 1 || (z && (z->count != 1 || z->element != e)))
        return tn_run_refuse(r, "one scale, and one zero point of the operand's type", "others, operand %u", scale);
    *out = (struct level){(float)tn_element_get(s->element, s->data, 0), z ? (float)tn_element_get_int(z->element, z->data, 0) : 0, e == TN_EL_I8};
    return true;
}

static float float_of(const struct level *l, uint8_t byte)
{
    return ((float)(l->is_signed ? (int8_t)byte : (int)byte) - l->zero) * l->scale;
}

static uint8_t byte_of(const struct level *l, float v)
{
    float q = v / l->scale, low = l->is_signed ? -128 : 0, high = l->is_signed ? 127 : 255, down;
    if (!(q > -1e6f)) q = -1e6f; /* NaN, too */
    if (q > 1e6f) q = 1e6f;
    down = floorf(q);
    float rest = q - down;
    if (rest > 0.5f || (rest == 0.5f && fmodf(down, 2) != 0)) down += 1;
    down += l->zero;
    return (uint8_t)(int)(down < low ? low : down > high ? high : down);
}

static void fill_floats(const struct level *l, float *table)
{
    for (unsigned i = 0; i < 256; i++) table[i] = float_of(l, (uint8_t)i);
}

/* ---- two operands -------------------------------------------------------------------------------------------------- */

static bool infer_binary(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    const struct tn_shape *a, *b;
    struct tn_shape out;
    tn_out_unknown(x, 0, t ? t->element : TN_EL_NONE);
    if (!tn_in_shape(x, 0, &a) || !tn_in_shape(x, 3, &b)) return true;
    if (!tn_infer_broadcast(x, a, b, &out)) return false;
    tn_out_tensor(x, 0, t->element, out.rank, out.dims);
    return true;
}

struct binary {
    const uint8_t *in[3];
    uint8_t *y;
    float a[256], b[256];
    uint8_t x_to[256], y_to[256]; /* of Where */
    struct level to;
    bool multiply;
};

static void binary_row(void *user, const struct tn_broadcast *w, const uint64_t *in, uint64_t out, uint64_t n)
{
    const struct binary *k = user;
    const uint8_t *a = k->in[0] + in[0], *b = k->in[1] + in[1];
    uint8_t *y = k->y + out;
    for (uint64_t i = 0; i < n; i++) {
        float u = k->a[a[w->moves[0] ? i : 0]], v = k->b[b[w->moves[1] ? i : 0]];
        y[i] = byte_of(&k->to, k->multiply ? u * v : u + v);
    }
}

static bool run_binary(struct tn_run *r, bool multiply)
{
    struct tn_tensor *y = r->out[0], *in[2] = {r->in[0], r->in[3]};
    struct level a, b;
    struct binary k = {.in = {in[0]->data, in[1]->data}, .y = y->data, .multiply = multiply};
    struct tn_broadcast w;
    if (!read_level(r, 1, 2, y->element, &a) || !read_level(r, 4, 5, y->element, &b) || !read_level(r, 6, 7, y->element, &k.to)) return false;
    fill_floats(&a, k.a);
    fill_floats(&b, k.b);
    tn_broadcast_init(&w, y, in, 2);
    tn_run_rows(r, &w, 8, binary_row, &k);
    return true;
}

static bool run_add(struct tn_run *r)
{
    return run_binary(r, false);
}

static bool run_mul(struct tn_run *r)
{
    return run_binary(r, true);
}

/* ---- QLinearWhere -------------------------------------------------------------------------------------------------- */

static bool infer_where(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 1);
    const struct tn_shape *c, *a, *b;
    struct tn_shape one, out;
    tn_out_unknown(x, 0, t ? t->element : TN_EL_NONE);
    if (!tn_in_shape(x, 0, &c) || !tn_in_shape(x, 1, &a) || !tn_in_shape(x, 4, &b)) return true;
    if (!tn_infer_broadcast(x, c, a, &one) || !tn_infer_broadcast(x, &one, b, &out)) return false;
    tn_out_tensor(x, 0, t->element, out.rank, out.dims);
    return true;
}

static void where_row(void *user, const struct tn_broadcast *w, const uint64_t *in, uint64_t out, uint64_t n)
{
    const struct binary *k = user;
    for (uint64_t i = 0; i < n; i++) {
        bool yes = k->in[0][in[0] + (w->moves[0] ? i : 0)] != 0;
        k->y[out + i] = yes ? k->x_to[k->in[1][in[1] + (w->moves[1] ? i : 0)]] : k->y_to[k->in[2][in[2] + (w->moves[2] ? i : 0)]];
    }
}

static bool run_where(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0], *in[3] = {r->in[0], r->in[1], r->in[4]};
    struct level a, b;
    struct binary k = {.in = {in[0]->data, in[1]->data, in[2]->data}, .y = y->data};
    struct tn_broadcast w;
    if (!read_level(r, 2, 3, y->element, &a) || !read_level(r, 5, 6, y->element, &b) || !read_level(r, 7, 8, y->element, &k.to)) return false;
    for (unsigned i = 0; i < 256; i++) {
        k.x_to[i] = byte_of(&k.to, float_of(&a, (uint8_t)i));
        k.y_to[i] = byte_of(&k.to, float_of(&b, (uint8_t)i));
    }
    tn_broadcast_init(&w, y, in, 3);
    tn_run_rows(r, &w, 4, where_row, &k);
    return true;
}

/* ---- one operand --------------------------------------------------------------------------------------------------- */

struct mapped {
    const uint8_t *x;
    uint8_t *y, to[256];
};

static void map_items(void *user, uint64_t begin, uint64_t end)
{
    const struct mapped *m = user;
    for (uint64_t i = begin; i < end; i++) m->y[i] = m->to[m->x[i]];
}

static bool run_unary(struct tn_run *r, bool sigmoid)
{
    struct tn_tensor *y = r->out[0];
    struct level from, to;
    struct mapped m = {.x = r->in[0]->data, .y = y->data};
    float alpha = sigmoid ? 0 : (float)tn_attr_float(r->node, "alpha", 0.01);
    if (!read_level(r, 1, 2, y->element, &from) || !read_level(r, 3, 4, y->element, &to)) return false;
    for (unsigned i = 0; i < 256; i++) {
        float v = float_of(&from, (uint8_t)i);
        m.to[i] = byte_of(&to, sigmoid ? 1 / (1 + expf(-v)) : v < 0 ? alpha * v : v);
    }
    tn_run_items(r, y->count, 1, map_items, &m);
    return true;
}

static bool run_sigmoid(struct tn_run *r)
{
    return run_unary(r, true);
}

static bool run_leaky(struct tn_run *r)
{
    return run_unary(r, false);
}

/* ---- QLinearConcat: y_scale, y_zero_point, then three operands for each part ----------------------------------------- */

static bool infer_concat(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 1);
    const struct tn_shape *s;
    tn_dim_t dims[TN_RANK], sum = 0;
    uint32_t rank = 0, axis = 0;
    tn_out_unknown(x, 0, t ? t->element : TN_EL_NONE);
    if (x->in_count < 5 || (x->in_count - 2) % 3) return tn_infer_refuse(x, "a scale and a zero point for each part", "%u operands", x->in_count);
    for (uint32_t i = 2; i < x->in_count; i += 3) {
        if (!tn_in_shape(x, i, &s)) return true;
        if (i == 2) {
            rank = s->rank;
            memcpy(dims, s->dims, sizeof(dims));
            if (!tn_infer_axis(x, tn_attr_int(x->node, "axis", 0), rank, &axis)) return false;
        }
        bool fits = s->rank == rank;
        for (uint32_t d = 0; fits && d < rank; d++) fits = d == axis || !tn_dim_known(s->dims[d]) || !tn_dim_known(dims[d]) || s->dims[d] == dims[d];
        if (!fits) return tn_infer_refuse(x, "parts that differ along the axis alone", "another shape, operand %u", i);
        sum = i == 2 ? s->dims[axis] : tn_dim_add(x->symbols, sum, s->dims[axis]);
    }
    dims[axis] = sum;
    tn_out_tensor(x, 0, t->element, rank, dims);
    return true;
}

static bool run_concat(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0];
    int64_t axis = tn_attr_int(r->node, "axis", 0);
    uint64_t outer = 1, inner = 1, at = 0;
    struct level from, to;
    uint8_t table[256];
    axis = axis < 0 ? axis + y->rank : axis;
    for (uint32_t d = 0; d < y->rank; d++) {
        if (d < (uint32_t)axis) outer *= (uint64_t)y->dims[d];
        else inner *= (uint64_t)y->dims[d];
    }
    if (!read_level(r, 0, 1, y->element, &to)) return false;
    for (uint32_t i = 2; i < r->in_count; i += 3) {
        const struct tn_tensor *x = r->in[i];
        if (!x || x->element != y->element) return tn_run_refuse(r, "parts of the result's type", "another, operand %u", i);
        if (!read_level(r, i + 1, i + 2, y->element, &from)) return false;
        for (unsigned k = 0; k < 256; k++) table[k] = byte_of(&to, float_of(&from, (uint8_t)k));
        uint64_t row = outer ? x->count / outer : 0;
        for (uint64_t o = 0; o < outer; o++) {
            struct mapped m = {.x = (const uint8_t *)x->data + o * row, .y = (uint8_t *)y->data + o * inner + at};
            for (uint64_t k = 0; k < row; k++) m.y[k] = table[m.x[k]];
        }
        at += row;
    }
    return true;
}

#define ROW(op, how, what) {.domain = "com.microsoft", .name = op, .since = 1, .infer = how, .run = what}
static const struct tn_operator rows[] = {
    ROW("QLinearAdd", infer_binary, run_add),
    ROW("QLinearMul", infer_binary, run_mul),
    ROW("QLinearSigmoid", tn_infer_same, run_sigmoid),
    ROW("QLinearLeakyRelu", tn_infer_same, run_leaky),
    ROW("QLinearWhere", infer_where, run_where),
    ROW("QLinearConcat", infer_concat, run_concat),
};

const struct tn_operators tn_ops_contrib_qlinear = {rows, sizeof(rows) / sizeof(rows[0])};
