/*
 * Products of quantised matrices: MatMulInteger and QLinearMatMul. Sums of 8-bit products are 32-bit and wrap, as the
 * standard allows. Scales and zero points stand for a whole matrix, its rows (the first) or its columns (the second).
 */
#include "ops/matmul.h"
#include "ops/real.h"

#include <math.h>
#include <string.h>

/* ---- zero points and scales --------------------------------------------------------------------------------------- */

/* One number for all, or one for each of `lines`, or one for each line of each matrix. */
struct per_line {
    const struct tn_tensor *t; /* NULL: `otherwise` */
    uint64_t lines;
    bool each_matrix;
};

static bool per_line(struct tn_run *r, uint32_t i, uint64_t lines, struct per_line *out)
{
    *out = (struct per_line){i < r->in_count ? r->in[i] : NULL, lines, false};
    if (!out->t || out->t->count == 1) return true;
    if (lines == 0 || out->t->count == 0 || out->t->count % lines != 0)
        return tn_run_refuse(r, "one number for the matrix, or one for each row (first operand) or column (second)",
                             "operand %u with %llu numbers", i, (unsigned long long)out->t->count);
    out->each_matrix = out->t->count != lines;
    return true;
}

static uint64_t line_at(const struct per_line *p, uint64_t matrix, uint64_t line)
{
    return p->t->count == 1 ? 0 : p->each_matrix ? (matrix * p->lines + line) % p->t->count : line;
}

static int32_t zero_of(const struct per_line *p, uint64_t matrix, uint64_t line)
{
    return p->t ? (int32_t)tn_element_get_int(p->t->element, p->t->data, line_at(p, matrix, line)) : 0;
}

static float scale_of(const struct per_line *p, uint64_t matrix, uint64_t line)
{
    return p->t ? (float)tn_element_get(p->t->element, p->t->data, line_at(p, matrix, line)) : 1;
}

/* ---- products ----------------------------------------------------------------------------------------------------- */

struct products {
    const struct tn_matmul *s;
    const struct tn_tensor *a, *b;
    struct per_line a_zero, b_zero;
    int32_t *c; /* [batch, m, n] */
};

static void add_signed(int32_t x, const int8_t *b, uint32_t *c, size_t n)
{
    for (size_t i = 0; i < n; i++) c[i] += (uint32_t)(x * b[i]);
}

static void add_unsigned(int32_t x, const uint8_t *b, uint32_t *c, size_t n)
{
    for (size_t i = 0; i < n; i++) c[i] += (uint32_t)(x * b[i]);
}

/* sum over k of (a - za) (b - zb) = sum of (a - za) b, less zb times the sum of (a - za) */
static void product_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct products *p = user;
    const struct tn_matmul *s = p->s;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at, bt, row = i % s->m, sum = 0;
        uint32_t *c = (uint32_t *)p->c + i * s->n;
        tn_matmul_at(s, i / s->m, &at, &bt);
        int32_t zero = zero_of(&p->a_zero, at, row);
        memset(c, 0, s->n * sizeof(*c));
        for (size_t k = 0; k < s->k; k++) {
            uint64_t from = (at * s->m + row) * s->k + k, to = (bt * s->k + k) * s->n;
            int32_t x = (p->a->element == TN_EL_I8 ? ((const int8_t *)p->a->data)[from] : ((const uint8_t *)p->a->data)[from]) - zero;
            sum += (uint64_t)(int64_t)x;
            if (p->b->element == TN_EL_I8) add_signed(x, (const int8_t *)p->b->data + to, c, s->n);
            else add_unsigned(x, (const uint8_t *)p->b->data + to, c, s->n);
        }
        for (size_t n = 0; p->b_zero.t && n < s->n; n++) c[n] -= (uint32_t)sum * (uint32_t)zero_of(&p->b_zero, bt, n);
    }
}

static bool integer_products(struct tn_run *r, uint32_t a, uint32_t b, uint32_t a_zero, uint32_t b_zero, const struct tn_matmul *s, int32_t *c)
{
    struct products p = {.s = s, .a = r->in[a], .b = r->in[b], .c = c};
    if (!per_line(r, a_zero, s->m, &p.a_zero) || !per_line(r, b_zero, s->n, &p.b_zero)) return false;
    tn_run_items(r, s->batch * s->m, (uint64_t)s->n * s->k, product_rows, &p);
    return true;
}

/* ---- MatMulInteger ------------------------------------------------------------------------------------------------ */

static bool infer_integer(struct tn_infer *x)
{
    return tn_matmul_infer(x, 0, 1, TN_EL_I32);
}

static bool run_integer(struct tn_run *r)
{
    struct tn_matmul s;
    tn_matmul_shape(r->in[0], r->in[1], &s);
    return r->out[0]->count == 0 || integer_products(r, 0, 1, 2, 3, &s, r->out[0]->data);
}

/* ---- QLinearMatMul ------------------------------------------------------------------------------------------------ */

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO };

static bool infer_qlinear(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, Y_ZERO);
    return tn_matmul_infer(x, A, B, t ? t->element : TN_EL_NONE);
}

struct requantize {
    const struct tn_matmul *s;
    const int32_t *sums;
    const float *reals; /* instead of sums, of float8 */
    struct per_line a_scale, b_scale, y_scale, y_zero;
    struct tn_tensor *y;
};

static void store(struct tn_tensor *y, uint64_t at, float v, double zero)
{
    if (y->element != TN_EL_I8 && y->element != TN_EL_U8) {
        tn_element_set(y->element, y->data, at, (double)v + zero, true);
        return;
    }
    double low = y->element == TN_EL_I8 ? -128 : 0, high = low + 255, q = nearbyint((double)v) + zero;
    tn_element_set_int(y->element, y->data, at, isnan(q) ? (int64_t)zero : (int64_t)(q < low ? low : q > high ? high : q));
}

/* y = saturate(round(sum * (a_scale * b_scale / y_scale)) + zero) */
static void requantize_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct requantize *q = user;
    const struct tn_matmul *s = q->s;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at, bt, row = i % s->m;
        tn_matmul_at(s, i / s->m, &at, &bt);
        float left = scale_of(&q->a_scale, at, row), out = scale_of(&q->y_scale, i / s->m, row);
        const struct tn_tensor *z = q->y_zero.t;
        double zero = z ? tn_element_get(z->element, z->data, line_at(&q->y_zero, i / s->m, row)) : 0;
        for (size_t n = 0; n < s->n; n++) {
            float factor = left * scale_of(&q->b_scale, bt, n) / out;
            float sum = q->reals ? q->reals[i * s->n + n] : (float)q->sums[i * s->n + n];
            store(q->y, i * s->n + n, sum * factor, zero);
        }
    }
}

/* float8: numbers less their zero points, products in float32. */
static void real_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct products *p = user;
    const struct tn_matmul *s = p->s;
    float *c = (float *)p->c;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at, bt, row = i % s->m;
        tn_matmul_at(s, i / s->m, &at, &bt);
        const struct tn_tensor *za = p->a_zero.t, *zb = p->b_zero.t;
        double zero = za ? tn_element_get(za->element, za->data, line_at(&p->a_zero, at, row)) : 0;
        for (size_t n = 0; n < s->n; n++) {
            double zn = zb ? tn_element_get(zb->element, zb->data, line_at(&p->b_zero, bt, n)) : 0;
            float sum = 0;
            for (size_t k = 0; k < s->k; k++) {
                float a = (float)(tn_element_get(p->a->element, p->a->data, (at * s->m + row) * s->k + k) - zero);
                sum += a * (float)(tn_element_get(p->b->element, p->b->data, (bt * s->k + k) * s->n + n) - zn);
            }
            c[i * s->n + n] = sum;
        }
    }
}

static bool is_int8(const struct tn_tensor *t)
{
    return t->element == TN_EL_I8 || t->element == TN_EL_U8;
}

static bool run_qlinear(struct tn_run *r)
{
    struct tn_matmul s;
    struct tn_tensor *y = r->out[0];
    bool integers = is_int8(r->in[A]) && is_int8(r->in[B]), good;
    tn_matmul_shape(r->in[A], r->in[B], &s);
    if (y->count == 0) return true;
    int32_t *sums = tn_run_scratch(r, y->count, sizeof(*sums));
    if (!sums) return false;
    struct requantize q = {.s = &s, .y = y, .sums = sums, .reals = integers ? NULL : (const float *)sums};
    good = per_line(r, A_SCALE, s.m, &q.a_scale) && per_line(r, B_SCALE, s.n, &q.b_scale) && per_line(r, Y_SCALE, s.m, &q.y_scale) &&
           per_line(r, Y_ZERO, s.m, &q.y_zero);
    if (good && integers) {
        good = integer_products(r, A, B, A_ZERO, B_ZERO, &s, sums);
    } else if (good) {
        struct products p = {.s = &s, .a = r->in[A], .b = r->in[B], .c = sums};
        good = per_line(r, A_ZERO, s.m, &p.a_zero) && per_line(r, B_ZERO, s.n, &p.b_zero);
        if (good) tn_run_items(r, s.batch * s.m, (uint64_t)s.n * s.k * 16, real_rows, &p);
    }
    if (good) tn_run_items(r, s.batch * s.m, s.n * 8, requantize_rows, &q);
    tn_heap_give(r->heap, sums);
    return good;
}

static const struct tn_operator rows[] = {
    {.name = "MatMulInteger", .since = 10, .infer = infer_integer, .run = run_integer},
    {.name = "QLinearMatMul", .since = 10, .infer = infer_qlinear, .run = run_qlinear},
};

const struct tn_operators tn_ops_matmul_integer = {rows, sizeof(rows) / sizeof(rows[0])};
