/*
 * Products of 8-bit matrices that give floats, or 8 bits again: MatMulIntegerToFloat, DynamicQuantizeMatMul, QGemm. The sums
 * are those of the standard's MatMulInteger, whose row computes them.
 */
#include "ops/matmul.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

static const struct tn_tensor *operand(const struct tn_run *r, uint32_t i)
{
    return i < r->in_count ? r->in[i] : NULL;
}

/* One of the standard's operators over other operands; results have been made. */
static bool delegate(struct tn_run *r, const char *name, int64_t version, struct tn_tensor *const *in, uint32_t in_count, struct tn_tensor **out, uint32_t out_count)
{
    static const bool all[4] = {true, true, true, true};
    struct tn_run inner = *r;
    inner.state = NULL;
    inner.in = in;
    inner.in_count = in_count;
    inner.out = out;
    inner.out_count = out_count;
    inner.wanted = all;
    bool good = tn_operator_find(TN_STR("ai.onnx"), tn_str_of(name), version)->run(&inner);
    r->failed = inner.failed;
    return good;
}

struct scaled {
    const int32_t *sums;
    float *y;
    const float *a_scale, *b_scale, *bias; /* bias may be NULL */
    uint64_t n, rows, a_scales, b_scales; /* rows: of one matrix */
};

/* y = sum * (a_scale * b_scale) + bias */
static void scale_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct scaled *s = user;
    for (uint64_t i = begin; i < end; i++) {
        float left = s->a_scale[s->a_scales == 1 ? 0 : i % s->rows];
        const int32_t *sum = s->sums + i * s->n;
        float *y = s->y + i * s->n;
        if (s->b_scales == 1) {
            for (uint64_t k = 0; k < s->n; k++) y[k] = (float)sum[k] * (left * s->b_scale[0]);
        } else {
            for (uint64_t k = 0; k < s->n; k++) y[k] = (float)sum[k] * (left * s->b_scale[k]);
        }
        for (uint64_t k = 0; s->bias && k < s->n; k++) y[k] += s->bias[k];
    }
}

/* Numbers of an operand as floats: its own memory, or scratch that the caller gives back. */
static const float *floats_of(struct tn_run *r, uint32_t i, float **scratch)
{
    const struct tn_tensor *t = operand(r, i);
    *scratch = NULL;
    if (!t || t->element == TN_EL_F32) return t ? t->data : NULL;
    float *p = *scratch = tn_run_scratch(r, t->count + 1, sizeof(*p));
    for (uint64_t k = 0; p && k < t->count; k++) p[k] = (float)tn_element_get(t->element, t->data, k);
    return p;
}

/* Output 0 of int32 sums, b's scales and bias being operands. Half precision is rounded once. */
static bool give_floats(struct tn_run *r, const struct tn_tensor *sums, const float *a_scale, uint64_t a_scales, uint32_t b_scale, uint32_t bias)
{
    struct tn_tensor *y = r->out[0];
    float *owned[3] = {NULL};
    uint64_t n = y->rank && sums->rank ? (uint64_t)sums->dims[sums->rank - 1] : 1;
    uint64_t rows = sums->rank > 1 ? (uint64_t)sums->dims[sums->rank - 2] : 1;
    const struct tn_tensor *bs = operand(r, b_scale), *bt = operand(r, bias);
    if (bs->count != 1 && bs->count != n) return tn_run_refuse(r, "one scale, or one for each column", "%llu", (unsigned long long)bs->count);
    if (a_scales != 1 && a_scales != rows) return tn_run_refuse(r, "one scale, or one for each row", "%llu", (unsigned long long)a_scales);
    if (bt && bt->count != n) return tn_run_refuse(r, "a bias for each column", "%llu", (unsigned long long)bt->count);
    struct scaled s = {.sums = sums->data, .y = y->data, .a_scale = a_scale, .n = n, .rows = rows, .a_scales = a_scales, .b_scales = bs->count};
    s.b_scale = floats_of(r, b_scale, &owned[0]);
    s.bias = floats_of(r, bias, &owned[1]);
    if (y->element != TN_EL_F32) s.y = owned[2] = tn_run_scratch(r, y->count + 1, sizeof(float));
    if (!r->failed) tn_run_items(r, y->count / n, n * 3, scale_rows, &s);
    for (uint64_t i = 0; owned[2] && !r->failed && i < y->count; i++) tn_element_set(y->element, y->data, i, (double)s.y[i], false);
    for (unsigned i = 0; i < 3; i++) tn_heap_give(r->heap, owned[i]);
    return !r->failed;
}

/* ---- MatMulIntegerToFloat ----------------------------------------------------------------------------------------- */

static bool infer_to_float(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 3);
    return tn_matmul_infer(x, 0, 1, t ? t->element : TN_EL_NONE);
}

static bool run_to_float(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0], *in[4] = {r->in[0], r->in[1], (struct tn_tensor *)operand(r, 4), (struct tn_tensor *)operand(r, 5)};
    float *scratch;
    if (y->count == 0) return true;
    struct tn_tensor *sums = tn_tensor_new(r->heap, TN_EL_I32, y->rank, y->dims);
    if (!sums) return tn_run_no_memory(r);
    const float *a_scale = floats_of(r, 2, &scratch);
    bool good = a_scale && delegate(r, "MatMulInteger", 10, in, 4, &sums, 1) && give_floats(r, sums, a_scale, r->in[2]->count, 3, 6);
    tn_heap_give(r->heap, scratch);
    tn_tensor_drop(sums);
    return good;
}

/* ---- DynamicQuantizeMatMul ---------------------------------------------------------------------------------------- */

static bool infer_dynamic(struct tn_infer *x)
{
    return tn_matmul_infer(x, 0, 1, TN_EL_F32);
}

static bool run_dynamic(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0], *a = r->in[0], *rounded[3], *sums, *in[4];
    if (y->count == 0) return true;
    rounded[0] = tn_tensor_new(r->heap, TN_EL_U8, a->rank, a->dims);
    rounded[1] = tn_tensor_new(r->heap, TN_EL_F32, 0, NULL);
    rounded[2] = tn_tensor_new(r->heap, TN_EL_U8, 0, NULL);
    sums = tn_tensor_new(r->heap, TN_EL_I32, y->rank, y->dims);
    bool good = rounded[0] && rounded[1] && rounded[2] && sums;
    if (!good) tn_run_no_memory(r);
    good = good && delegate(r, "DynamicQuantizeLinear", 11, &a, 1, rounded, 3);
    in[0] = rounded[0];
    in[1] = r->in[1];
    in[2] = rounded[2];
    in[3] = (struct tn_tensor *)operand(r, 3);
    good = good && delegate(r, "MatMulInteger", 10, in, 4, &sums, 1) && give_floats(r, sums, rounded[1]->data, 1, 2, 4);
    for (unsigned i = 0; i < 3; i++) tn_tensor_drop(rounded[i]);
    tn_tensor_drop(sums);
    return good;
}

/* ---- QGemm -------------------------------------------------------------------------------------------------------- */

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, C, Y_SCALE, Y_ZERO };

static bool infer_gemm(struct tn_infer *x)
{
    const struct tn_shape *a, *b;
    const struct tn_type *zero = tn_in_type(x, Y_ZERO);
    enum tn_element e = tn_in_given(x, Y_SCALE) ? zero ? zero->element : TN_EL_NONE : TN_EL_F32;
    tn_out_unknown(x, 0, e);
    if (tn_in_given(x, Y_SCALE) != tn_in_given(x, Y_ZERO)) return tn_infer_refuse(x, "a scale of the result together with its zero point", "one of them");
    if (!tn_in_shape(x, A, &a) || !tn_in_shape(x, B, &b)) return true;
    if (a->rank != 2 || b->rank != 2) return tn_infer_refuse(x, "two matrices", "ranks %u and %u", a->rank, b->rank);
    bool ta = tn_attr_int(x->node, "transA", 0) != 0, tb = tn_attr_int(x->node, "transB", 0) != 0;
    tn_dim_t ka = a->dims[!ta], kb = b->dims[tb];
    if (tn_dim_known(ka) && tn_dim_known(kb) && ka != kb) return tn_infer_refuse(x, "inner dimensions that are equal", "%lld beside %lld", (long long)ka, (long long)kb);
    tn_out_tensor(x, 0, e, 2, (tn_dim_t[]){a->dims[ta], b->dims[!tb]});
    return true;
}

static struct tn_tensor *transposed(struct tn_run *r, struct tn_tensor *t, bool turn)
{
    int64_t rows = t->dims[0], columns = t->dims[1];
    if (!turn) return tn_tensor_keep(t);
    struct tn_tensor *y = tn_tensor_new(r->heap, t->element, 2, (int64_t[]){columns, rows});
    for (int64_t i = 0; y && i < columns; i++) {
        for (int64_t k = 0; k < rows; k++) ((uint8_t *)y->data)[i * rows + k] = ((const uint8_t *)t->data)[k * columns + i];
    }
    if (!y) tn_run_no_memory(r);
    return y;
}

static void store(struct tn_tensor *y, uint64_t i, float v, int32_t zero)
{
    int32_t low = y->element == TN_EL_I8 ? -128 : 0, high = low + 255;
    float q = nearbyintf(v);
    int32_t whole = q < (float)(low - zero) || q != q ? low : q > (float)(high - zero) ? high : (int32_t)q + zero;
    ((uint8_t *)y->data)[i] = (uint8_t)whole;
}

/* y = alpha a_scale b_scale (sum + c), rounded to 8 bits where the result has a scale */
static bool finish_gemm(struct tn_run *r, const struct tn_tensor *sums)
{
    const struct tn_tensor *c = operand(r, C), *bs = r->in[B_SCALE], *ys = operand(r, Y_SCALE);
    struct tn_tensor *y = r->out[0];
    uint64_t m = (uint64_t)y->dims[0], n = (uint64_t)y->dims[1];
    float left = (float)tn_attr_float(r->node, "alpha", 1) * ((const float *)r->in[A_SCALE]->data)[0], out = ys ? ((const float *)ys->data)[0] : 1;
    bool fits = !c || c->count == 1 || (c->rank >= 1 && c->rank <= 2 && (c->dims[c->rank - 1] == (int64_t)n || c->dims[c->rank - 1] == 1) &&
                                        (c->rank == 1 || c->dims[0] == (int64_t)m || c->dims[0] == 1));
    if (!fits) return tn_run_refuse(r, "an addend that broadcasts to the product", "rank %u", c->rank);
    if (bs->count != 1 && bs->count != n) return tn_run_refuse(r, "one scale, or one for each column", "%llu", (unsigned long long)bs->count);
    uint64_t c_column = c && c->rank && c->dims[c->rank - 1] != 1, c_row = c && c->rank == 2 && c->dims[0] != 1 ? (uint64_t)c->dims[1] : 0;
    int32_t zero = ys ? (int32_t)tn_run_int(r, Y_ZERO, 0) : 0;
    for (uint64_t i = 0; i < m * n; i++) {
        uint32_t sum = (uint32_t)((const int32_t *)sums->data)[i];
        if (c) sum += (uint32_t)((const int32_t *)c->data)[i / n * c_row + i % n * c_column];
        float factor = left * ((const float *)bs->data)[bs->count == 1 ? 0 : i % n];
        if (ys) store(y, i, (float)(int32_t)sum * (factor / out), zero);
        else ((float *)y->data)[i] = (float)(int32_t)sum * factor;
    }
    return true;
}

static bool run_gemm(struct tn_run *r)
{
    static const uint32_t single[] = {A_SCALE, A_ZERO, Y_SCALE, Y_ZERO};
    struct tn_tensor *y = r->out[0], *in[4];
    for (unsigned i = 0; i < 4; i++) {
        const struct tn_tensor *t = operand(r, single[i]);
        if (t && t->count != 1) return tn_run_refuse(r, "one number", "operand %u with %llu", single[i], (unsigned long long)t->count);
    }
    if (y->count == 0) return true;
    in[0] = transposed(r, r->in[A], tn_attr_int(r->node, "transA", 0) != 0);
    in[1] = transposed(r, r->in[B], tn_attr_int(r->node, "transB", 0) != 0);
    in[2] = r->in[A_ZERO];
    in[3] = r->in[B_ZERO];
    struct tn_tensor *sums = tn_tensor_new(r->heap, TN_EL_I32, 2, y->dims);
    bool good = in[0] && in[1] && sums;
    if (!good) tn_run_no_memory(r);
    good = good && delegate(r, "MatMulInteger", 10, in, 4, &sums, 1) && finish_gemm(r, sums);
    tn_tensor_drop(in[0]);
    tn_tensor_drop(in[1]);
    tn_tensor_drop(sums);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = "com.microsoft", .name = "MatMulIntegerToFloat", .since = 1, .infer = infer_to_float, .run = run_to_float},
    {.domain = "com.microsoft", .name = "DynamicQuantizeMatMul", .since = 1, .infer = infer_dynamic, .run = run_dynamic},
    {.domain = "com.microsoft", .name = "QGemm", .since = 1, .infer = infer_gemm, .run = run_gemm},
};

const struct tn_operators tn_ops_contrib_qmatmul = {rows, sizeof(rows) / sizeof(rows[0])};
