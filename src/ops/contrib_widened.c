/*
 * Contributed operators over quantised operands that are computed as their float relatives are: operands are widened, another
 * row runs, and where the result is 8-bit it is rounded once. QAttention, DynamicQuantizeLSTM, QLinearSoftmax,
 * QLinearAveragePool, QLinearGlobalAveragePool, MatMulBnb4. Runtimes that keep the products in
 * integers round the rows of DynamicQuantizeLSTM to 8 bits, here they are not.
 */
#include "ops/real.h"

#include <math.h>
#include <string.h>

static const struct tn_tensor *operand(const struct tn_run *r, uint32_t i)
{
    return i < r->in_count ? r->in[i] : NULL;
}

static bool run_as(struct tn_run *r, const char *domain, const char *name, int64_t version, struct tn_tensor *const *in, uint32_t in_count, struct tn_tensor **out, uint32_t out_count, const bool *wanted)
{
    struct tn_run inner = *r;
    struct tn_node node = *r->node; /* some rows ask for the type or the version */
    node.type = tn_str_of(name);
    node.version = version;
    inner.node = &node;
    inner.state = NULL;
    inner.in = in;
    inner.in_count = in_count;
    inner.out = out;
    inner.out_count = out_count;
    inner.wanted = wanted;
    bool good = tn_operator_find(tn_str_of(domain), tn_str_of(name), version)->run(&inner);
    r->failed = inner.failed;
    return good;
}

/* (x - zero) * scale as float32, one scale for all or one for each element of the last dimension. NULL with the failure set. */
static struct tn_tensor *widen(struct tn_run *r, const struct tn_tensor *x, const struct tn_tensor *scale, const struct tn_tensor *zero)
{
    uint64_t last = x->rank ? (uint64_t)x->dims[x->rank - 1] : 1;
    if ((scale->count != 1 && scale->count != last) || (zero && zero->count != 1 && zero->count != last)) {
        tn_run_refuse(r, "one scale and zero point, or one for each column", "%llu", (unsigned long long)scale->count);
        return NULL;
    }
    struct tn_tensor *y = tn_tensor_new(r->heap, TN_EL_F32, x->rank, x->dims);
    if (!y) tn_run_no_memory(r);
    for (uint64_t i = 0; y && i < x->count; i++) {
        uint64_t column = i % last, s = scale->count == 1 ? 0 : column, z = zero && zero->count > 1 ? column : 0;
        float v = (float)tn_element_get(x->element, x->data, i) - (zero ? (float)tn_element_get(zero->element, zero->data, z) : 0);
        ((float *)y->data)[i] = v * (float)tn_element_get(scale->element, scale->data, s);
    }
    return y;
}

/* ---- 8 bits in, 8 bits out ------------------------------------------------------------------------------------------ */

static bool narrow(struct tn_run *r, const struct tn_tensor *x, uint32_t scale, uint32_t zero)
{
    const struct tn_tensor *s = operand(r, scale), *z = operand(r, zero);
    struct tn_tensor *y = r->out[0];
    if (!s || s->count != 1 || (z && z->count != 1)) return tn_run_refuse(r, "one scale and one zero point", "others");
    double by = tn_element_get(s->element, s->data, 0), offset = z ? tn_element_get(z->element, z->data, 0) : 0;
    double low = y->element == TN_EL_I8 ? -128 : 0, high = low + 255;
    for (uint64_t i = 0; i < y->count; i++) {
        double q = (double)(((const float *)x->data)[i] / (float)by), down = floor(q), rest = q - down;
        if (rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0)) down += 1;
        down = q == q ? down + offset : offset;
        tn_element_set(y->element, y->data, i, down < low ? low : down > high ? high : down, false);
    }
    return true;
}

static bool run_eight(struct tn_run *r, const char *name, int64_t version)
{
    const struct tn_tensor *scale = operand(r, 1);
    static const bool wanted = true;
    if (r->out[0]->count == 0) return true;
    struct tn_tensor *x = widen(r, r->in[0], scale, operand(r, 2)), *y = x ? tn_tensor_new(r->heap, TN_EL_F32, r->out[0]->rank, r->out[0]->dims) : NULL;
    if (x && !y) tn_run_no_memory(r);
    bool good = y && run_as(r, "ai.onnx", name, version, &x, 1, &y, 1, &wanted) && narrow(r, y, 3, 4);
    tn_tensor_drop(x);
    tn_tensor_drop(y);
    return good;
}

static bool run_softmax(struct tn_run *r)
{
    return run_eight(r, "Softmax", tn_attr_int(r->node, "opset", 13) < 13 ? 11 : 13);
}

static bool run_average(struct tn_run *r)
{
    return run_eight(r, "AveragePool", 11);
}

static bool run_global(struct tn_run *r)
{
    return run_eight(r, "GlobalAveragePool", 1);
}

static bool infer_average(struct tn_infer *x)
{
    return tn_operator_find(TN_STR("ai.onnx"), TN_STR("AveragePool"), 11)->infer(x);
}

static bool infer_global(struct tn_infer *x)
{
    return tn_operator_find(TN_STR("ai.onnx"), TN_STR("GlobalAveragePool"), 1)->infer(x);
}

static const char *lacks_last(const struct tn_node *node)
{
    return tn_attr_int(node, "channels_last", 0) ? "channels_last 1; channels in front of the image have one" : NULL;
}

/* ---- QAttention ----------------------------------------------------------------------------------------------------- */

enum { INPUT, WEIGHT, BIAS, INPUT_SCALE, WEIGHT_SCALE, MASK, INPUT_ZERO, WEIGHT_ZERO, PAST };

static bool infer_attention(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, INPUT_SCALE);
    const struct tn_shape *in, *w, *past;
    enum tn_element e = t ? t->element : TN_EL_NONE;
    int64_t heads = tn_attr_int(x->node, "num_heads", 0);
    tn_out_unknown(x, 0, e);
    tn_out_unknown(x, 1, e);
    if (!tn_in_shape(x, INPUT, &in) || !tn_in_shape(x, WEIGHT, &w)) return true;
    if (in->rank != 3 || w->rank != 2) return tn_infer_refuse(x, "an input of rank 3 and weights of rank 2", "ranks %u and %u", in->rank, w->rank);
    if (tn_dim_known(in->dims[2]) && tn_dim_known(w->dims[0]) && in->dims[2] != w->dims[0])
        return tn_infer_refuse(x, "as many rows of weights as the input is wide", "%lld and %lld", (long long)w->dims[0], (long long)in->dims[2]);
    if (!tn_dim_known(w->dims[1])) return true;
    int64_t width = w->dims[1] / 3;
    if (heads < 1 || width * 3 != w->dims[1] || width % heads) return tn_infer_refuse(x, "columns for queries, keys and values of all heads", "%lld columns, %lld heads", (long long)w->dims[1], (long long)heads);
    tn_out_tensor(x, 0, e, 3, (tn_dim_t[]){in->dims[0], in->dims[1], width});
    if (tn_in_given(x, PAST) && !tn_in_shape(x, PAST, &past)) return true;
    if (tn_in_given(x, PAST) && past->rank != 5) return tn_infer_refuse(x, "a past of rank 5", "rank %u", past->rank);
    tn_dim_t keys = tn_in_given(x, PAST) ? tn_dim_add(x->symbols, past->dims[3], in->dims[1]) : in->dims[1];
    tn_out_tensor(x, 1, e, 5, (tn_dim_t[]){2, in->dims[0], heads, keys, width / heads});
    return true;
}

static const char *lacks_attention(const struct tn_node *node)
{
    if (tn_attr_int(node, "do_rotary", 0)) return "attention without rotary positions (do_rotary 0)";
    return tn_attr_int(node, "past_present_share_buffer", 0) ? "states that are not shared buffers" : NULL;
}

static bool run_attention(struct tn_run *r)
{
    struct tn_tensor *x = widen(r, r->in[INPUT], r->in[INPUT_SCALE], operand(r, INPUT_ZERO));
    struct tn_tensor *w = x ? widen(r, r->in[WEIGHT], r->in[WEIGHT_SCALE], operand(r, WEIGHT_ZERO)) : NULL;
    struct tn_tensor *in[5] = {x, w, r->in[BIAS], (struct tn_tensor *)operand(r, MASK), (struct tn_tensor *)operand(r, PAST)};
    bool good = w && run_as(r, "com.microsoft", "Attention", 1, in, 5, r->out, r->out_count, r->wanted);
    tn_tensor_drop(x);
    tn_tensor_drop(w);
    return good;
}

/* ---- DynamicQuantizeLSTM: weights [directions, input, 4 hidden] ------------------------------------------------------- */

enum { X, W, R, B, LENGTHS, FIRST_H, FIRST_C, P, W_SCALE, W_ZERO, R_SCALE, R_ZERO };

static bool infer_lstm(struct tn_infer *x)
{
    const struct tn_shape *in, *w, *rec;
    for (uint32_t i = 0; i < x->out_count; i++) tn_out_unknown(x, i, TN_EL_F32);
    if (!tn_in_shape(x, X, &in) || !tn_in_shape(x, W, &w) || !tn_in_shape(x, R, &rec)) return true;
    bool fits = in->rank == 3 && w->rank == 3 && rec->rank == 3;
    for (uint32_t d = 0; fits && d < 3; d++) fits = tn_dim_known(w->dims[d]) && tn_dim_known(rec->dims[d]);
    int64_t hidden = fits ? rec->dims[1] : 0;
    fits = fits && hidden > 0 && hidden <= INT32_MAX && w->dims[2] == 4 * hidden && rec->dims[2] == 4 * hidden && w->dims[0] == rec->dims[0] &&
           (!tn_dim_known(in->dims[2]) || in->dims[2] == w->dims[1]);
    if (!fits) return tn_infer_refuse(x, "rows of rank 3, and weights [directions, input, 4 hidden]", "others");
    tn_out_tensor(x, 0, TN_EL_F32, 4, (tn_dim_t[]){in->dims[0], w->dims[0], in->dims[1], hidden});
    for (uint32_t i = 1; i < 3; i++) tn_out_tensor(x, i, TN_EL_F32, 3, (tn_dim_t[]){w->dims[0], in->dims[1], hidden});
    return true;
}

/* As LSTM has them, [directions, 4 hidden, input]; scales for each direction, or for each of its columns. */
static struct tn_tensor *turned(struct tn_run *r, const struct tn_tensor *w, const struct tn_tensor *scale, const struct tn_tensor *zero)
{
    uint64_t d = (uint64_t)w->dims[0], rows = (uint64_t)w->dims[1], columns = (uint64_t)w->dims[2];
    if ((scale->count != d && scale->count != d * columns) || (zero && zero->count != scale->count)) {
        tn_run_refuse(r, "scales and zero points for each direction, or each of its columns", "%llu", (unsigned long long)scale->count);
        return NULL;
    }
    struct tn_tensor *y = tn_tensor_new(r->heap, TN_EL_F32, 3, (int64_t[]){w->dims[0], w->dims[2], w->dims[1]});
    if (!y) tn_run_no_memory(r);
    for (uint64_t i = 0; y && i < d * columns; i++) {
        uint64_t k = scale->count == d ? i / columns : i;
        float s = (float)tn_element_get(scale->element, scale->data, k), z = zero ? (float)tn_element_get(zero->element, zero->data, k) : 0;
        for (uint64_t row = 0; row < rows; row++)
            ((float *)y->data)[i * rows + row] = s * ((float)tn_element_get(w->element, w->data, (i / columns * rows + row) * columns + i % columns) - z);
    }
    return y;
}

static bool run_lstm(struct tn_run *r)
{
    struct tn_tensor *w = turned(r, r->in[W], r->in[W_SCALE], operand(r, W_ZERO)), *rec = w ? turned(r, r->in[R], r->in[R_SCALE], operand(r, R_ZERO)) : NULL;
    struct tn_tensor *in[8] = {r->in[X], w, rec, (struct tn_tensor *)operand(r, B), (struct tn_tensor *)operand(r, LENGTHS), (struct tn_tensor *)operand(r, FIRST_H),
                               (struct tn_tensor *)operand(r, FIRST_C), (struct tn_tensor *)operand(r, P)};
    bool good = rec && run_as(r, "ai.onnx", "LSTM", 14, in, 8, r->out, r->out_count, r->wanted);
    tn_tensor_drop(w);
    tn_tensor_drop(rec);
    return good;
}

/* ---- MatMulBnb4: blocks of 4-bit floats with a factor each ------------------------------------------------------------ */

static bool infer_bnb(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    const struct tn_shape *a;
    int64_t k = tn_attr_int(x->node, "K", 0), n = tn_attr_int(x->node, "N", 0), block = tn_attr_int(x->node, "block_size", 0), kind = tn_attr_int(x->node, "quant_type", 0);
    tn_dim_t dims[TN_RANK];
    tn_out_unknown(x, 0, t ? t->element : TN_EL_NONE);
    if (k < 1 || n < 1 || k > INT32_MAX || n > INT32_MAX || block < 1 || block > INT32_MAX || kind < 0 || kind > 1)
        return tn_infer_refuse(x, "K, N and block_size from 1, quant_type 0 or 1", "%lld, %lld, %lld, %lld", (long long)k, (long long)n, (long long)block, (long long)kind);
    if (!tn_in_shape(x, 0, &a)) return true;
    if (a->rank < 1 || (tn_dim_known(a->dims[a->rank - 1]) && a->dims[a->rank - 1] != k)) return tn_infer_refuse(x, "rows of K elements", "another shape");
    memcpy(dims, a->dims, sizeof(dims));
    dims[a->rank - 1] = n;
    tn_out_tensor(x, 0, t->element, a->rank, dims);
    return true;
}

static const char *lacks_bnb(const struct tn_node *node)
{
    return tn_attr_int(node, "transB", 1) ? NULL : "weights [N, K] (transB 1)";
}

/* Dettmers et al. 2023 (arXiv 2305.14314), appendix E: NF4; and 4-bit floats of one sign, two exponent and one mantissa bit. */
static const float four_bits[2][16] = {
    {0, 0.00520833333f, 0.66666667f, 1, 0.33333333f, 0.5f, 0.16666667f, 0.25f, 0, -0.00520833333f, -0.66666667f, -1, -0.33333333f, -0.5f, -0.16666667f, -0.25f},
    {-1, -0.6961928f, -0.5250731f, -0.3949175f, -0.28444138f, -0.18477343f, -0.09105004f, 0, 0.0795803f, 0.1609302f, 0.2461123f, 0.33791524f, 0.44070983f, 0.562617f, 0.7229568f, 1}};

/* B as [K, N] in the type of A. */
static struct tn_tensor *read_bnb(struct tn_run *r)
{
    const struct tn_tensor *q = r->in[1], *most = r->in[2];
    uint64_t k = (uint64_t)tn_attr_int(r->node, "K", 0), n = (uint64_t)tn_attr_int(r->node, "N", 0), block = (uint64_t)tn_attr_int(r->node, "block_size", 0);
    const float *table = four_bits[tn_attr_int(r->node, "quant_type", 0)];
    if (q->count != (k * n + 1) / 2 || most->count != (k * n + block - 1) / block) {
        tn_run_refuse(r, "N * K elements of 4 bits, and a factor for each block", "%llu bytes, %llu factors", (unsigned long long)q->count, (unsigned long long)most->count);
        return NULL;
    }
    struct tn_tensor *b = tn_tensor_new(r->heap, r->in[0]->element, 2, (int64_t[]){(int64_t)k, (int64_t)n});
    if (!b) tn_run_no_memory(r);
    for (uint64_t i = 0; b && i < k * n; i++) {
        uint8_t byte = ((const uint8_t *)q->data)[i / 2];
        float v = table[i % 2 ? byte & 15 : byte >> 4] * (float)tn_element_get(most->element, most->data, i / block);
        tn_element_set(b->element, b->data, i % k * n + i / k, (double)v, false);
    }
    return b;
}

static bool run_bnb(struct tn_run *r)
{
    if (r->out[0]->count == 0) return true;
    struct tn_tensor *b = read_bnb(r), *in[2] = {r->in[0], b};
    bool good = b && run_as(r, "ai.onnx", "MatMul", 13, in, 2, r->out, 1, r->wanted);
    tn_tensor_drop(b);
    return good;
}

#define ROW(op, how, what, ...) {.domain = "com.microsoft", .name = op, .since = 1, .infer = how, .run = what, __VA_ARGS__}
static const struct tn_operator rows[] = {
    ROW("QLinearSoftmax", tn_infer_same, run_softmax, .lacks = NULL),
    ROW("QLinearAveragePool", infer_average, run_average, .lacks = lacks_last),
    ROW("QLinearGlobalAveragePool", infer_global, run_global, .lacks = lacks_last),
    ROW("QAttention", infer_attention, run_attention, .lacks = lacks_attention),
    ROW("DynamicQuantizeLSTM", infer_lstm, run_lstm, .lacks = NULL),
    ROW("MatMulBnb4", infer_bnb, run_bnb, .lacks = lacks_bnb),
};

const struct tn_operators tn_ops_contrib_widened = {rows, sizeof(rows) / sizeof(rows[0])};
