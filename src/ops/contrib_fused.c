/*
 * Operators of com.microsoft that are one of the standard's with something around it: FusedConv and its channels-last kin,
 * FusedGemm, FusedMatMul, TransposeMatMul, FusedMatMulActivation. The standard's row computes; here operands are turned
 * before and results are scaled, added to and activated afterwards.
 */
#include "ops/op.h"
#include "ops/matmul.h"
#include "ops/move.h"

#include <math.h>
#include <string.h>

static const struct tn_operator *standard(const char *name)
{
    return tn_operator_find(TN_STR("ai.onnx"), tn_str_of(name), 13);
}

static const struct tn_tensor *operand(const struct tn_run *r, uint32_t i)
{
    return i < r->in_count ? r->in[i] : NULL;
}

/* ---- activations -------------------------------------------------------------------------------------------------- */

enum kind { NOTHING, RELU, TANH, SIGMOID, LEAKY_RELU, CLIP, HARD_SIGMOID, ELU, SOFTPLUS, SOFTSIGN, HARD_SWISH, GELU, KINDS };

static const char *const kind_names[KINDS] = {"", "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid", "Elu", "Softplus", "Softsign", "HardSwish", "Gelu"};

struct activation {
    const struct tn_kernels *kernels;
    enum kind kind;
    double a, b, factor;
    struct tn_tensor *y;
    const struct tn_tensor *add; /* of the same shape and type, before the activation; NULL: nothing */
};

static bool kind_of(const struct tn_node *node, enum kind *out)
{
    struct tn_str name = tn_attr_text(node, "activation");
    for (unsigned i = 0; i < KINDS; i++) {
        *out = (enum kind)i;
        if (tn_str_is(name, kind_names[i])) return true;
    }
    return false;
}

static const char *lacks_activation(const struct tn_node *node)
{
    enum kind kind;
    return kind_of(node, &kind) ? NULL : "activation Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid, Elu, Softplus, Softsign, HardSwish or Gelu";
}

static double activated(const struct activation *a, double x)
{
    switch (a->kind) {
    case RELU: return x < 0 ? 0 : x;
    case TANH: return tanh(x);
    case SIGMOID: return 1 / (1 + exp(-x));
    case LEAKY_RELU: return x < 0 ? a->a * x : x;
    case CLIP: return x < a->a ? a->a : x > a->b ? a->b : x;
    case HARD_SIGMOID: return fmax(0, fmin(1, a->a * x + a->b));
    case ELU: return x < 0 ? a->a * expm1(x) : x;
    case SOFTPLUS: return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
    case SOFTSIGN: return x / (1 + fabs(x));
    case HARD_SWISH: return x * fmax(0, fmin(1, x / 6 + 0.5));
    case GELU: return 0.5 * x * (1 + erf(x * 0.70710678118654752));
    default: return x;
    }
}

/* Float32 of the activations that kernels have, or that compilers vectorise. */
static bool activate_f32(const struct activation *a, float *y, size_t n)
{
    float low = (float)a->a, high = (float)a->b;
    switch (a->kind) {
    case NOTHING: return true;
    case RELU: a->kernels->activate(TN_ACT_RELU, y, n, 1, n, 0, 1); return true;
    case TANH: a->kernels->activate(TN_ACT_TANH, y, n, 1, n, 0, 1); return true;
    case SIGMOID: a->kernels->activate(TN_ACT_SIGMOID, y, n, 1, n, 0, 1); return true;
    case GELU: a->kernels->activate(TN_ACT_GELU, y, n, 1, n, 0, 1); return true;
    case LEAKY_RELU:
        for (size_t i = 0; i < n; i++) y[i] = y[i] < 0 ? low * y[i] : y[i];
        return true;
    case CLIP:
        for (size_t i = 0; i < n; i++) y[i] = y[i] < low ? low : y[i] > high ? high : y[i];
        return true;
    default: return false;
    }
}

static void activate_items(void *user, uint64_t begin, uint64_t end)
{
    const struct activation *a = user;
    struct tn_tensor *y = a->y;
    if (y->element == TN_EL_F32) {
        float *p = (float *)y->data + begin, factor = (float)a->factor;
        const float *add = a->add ? (const float *)a->add->data + begin : NULL;
        size_t n = (size_t)(end - begin);
        for (size_t i = 0; factor != 1 && i < n; i++) p[i] *= factor;
        for (size_t i = 0; add && i < n; i++) p[i] += add[i];
        if (activate_f32(a, p, n)) return;
        for (size_t i = 0; i < n; i++) p[i] = (float)activated(a, (double)p[i]);
        return;
    }
    for (uint64_t i = begin; i < end; i++) {
        double v = tn_element_get(y->element, y->data, i) * a->factor + (a->add ? tn_element_get(y->element, a->add->data, i) : 0);
        tn_element_set(y->element, y->data, i, activated(a, v), false);
    }
}

/* y = activation(factor y + add) */
static bool finish(struct tn_run *r, struct tn_tensor *y, double factor, const struct tn_tensor *add, double alpha, double beta)
{
    struct activation a = {.kernels = r->kernels, .a = alpha, .b = beta, .factor = factor, .y = y, .add = add};
    if (!kind_of(r->node, &a.kind)) return tn_run_refuse(r, "an activation that the operator has", "another one");
    if (add && (add->count != y->count || add->rank != y->rank || memcmp(add->dims, y->dims, y->rank * sizeof(y->dims[0])) != 0))
        return tn_run_refuse(r, "an addend of the result's shape", "%llu elements for %llu", (unsigned long long)add->count, (unsigned long long)y->count);
    if (a.kind == NOTHING && !add && factor == 1) return true;
    tn_run_items(r, y->count, a.kind > RELU ? 16 : 2, activate_items, &a);
    return true;
}

/* ---- FusedConv ---------------------------------------------------------------------------------------------------- */

static bool infer_conv(struct tn_infer *x)
{
    return standard("Conv")->infer(x);
}

static bool finish_conv(struct tn_run *r)
{
    size_t n;
    const float *p = tn_attr_floats(r->node, "activation_params", &n);
    return finish(r, r->out[0], 1, operand(r, 3), n > 0 ? (double)p[0] : 0.01, n > 1 ? (double)p[1] : 0);
}

static bool run_conv(struct tn_run *r)
{
    return standard("Conv")->run(r) && finish_conv(r);
}

static enum tn_status prepare_conv(struct tn_prepare *p, void **state)
{
    return standard("Conv")->prepare ? standard("Conv")->prepare(p, state) : TN_OK;
}

static void release_conv(struct tn_alloc *alloc, void *state)
{
    standard("Conv")->release(alloc, state);
}

/* ---- channels last ------------------------------------------------------------------------------------------------ */

/* dims with the channels behind their places moved to the front of them, or back. */
static void turn_dims(const int64_t *from, uint32_t rank, bool forward, int64_t *to)
{
    to[0] = from[0];
    for (uint32_t i = 1; i < rank; i++) to[i] = forward ? from[i == 1 ? rank - 1 : i - 1] : from[i == rank - 1 ? 1 : i + 1];
}

static bool infer_last(struct tn_infer *x)
{
    const struct tn_type *types[8], *in = tn_in_type(x, 0);
    struct tn_type turned, out = {.kind = TN_KIND_NONE};
    struct tn_infer inner = *x;
    if (!in) return true;
    tn_out_unknown(x, 0, in->element);
    if (!in->shape.known || in->shape.rank < 3 || x->in_count > 8) return true;
    turned = *in;
    turn_dims(in->shape.dims, in->shape.rank, true, turned.shape.dims);
    for (uint32_t i = 0; i < x->in_count; i++) types[i] = x->types[i];
    types[0] = &turned;
    inner.types = types;
    inner.out = &out;
    inner.out_count = 1;
    bool good = infer_conv(&inner);
    x->failed = inner.failed;
    if (!good) return false;
    if (out.shape.known) {
        struct tn_type back = out;
        turn_dims(out.shape.dims, out.shape.rank, false, back.shape.dims);
        out = back;
    }
    tn_out_type(x, 0, &out);
    return true;
}

/* A copy with the channels moved to where the standard has them (or back into y). */
static bool turn(struct tn_run *r, const struct tn_tensor *x, bool forward, struct tn_tensor *y)
{
    struct tn_move m = {.x = x->data, .y = y->data, .rank = x->rank};
    int64_t strides[TN_RANK];
    size_t size;
    if (!tn_move_size(r, x->element, &size)) return false;
    tn_strides(x->dims, x->rank, strides);
    turn_dims(strides, x->rank, forward, m.x_stride);
    memcpy(m.dims, y->dims, sizeof(m.dims));
    tn_strides(y->dims, y->rank, m.y_stride);
    if (y->count) tn_move(r, m, size);
    return true;
}

static bool run_last(struct tn_run *r)
{
    int64_t dims[TN_RANK];
    struct tn_tensor *in[8], *x = r->in[0], *y = r->out[0], *inner_x, *inner_y = NULL, *out;
    bool good = false;
    if (x->rank < 3 || r->in_count > 8) return tn_run_refuse(r, "images", "rank %u", x->rank);
    turn_dims(x->dims, x->rank, true, dims);
    inner_x = tn_tensor_new(r->heap, x->element, x->rank, dims);
    turn_dims(y->dims, y->rank, true, dims);
    inner_y = tn_tensor_new(r->heap, y->element, y->rank, dims);
    if (!inner_x || !inner_y) {
        tn_run_no_memory(r);
    } else if (turn(r, x, true, inner_x)) {
        struct tn_run inner = *r;
        for (uint32_t i = 0; i < r->in_count; i++) in[i] = r->in[i];
        in[0] = inner_x;
        out = inner_y;
        inner.in = in;
        inner.out = &out;
        good = standard("Conv")->run(&inner);
        r->failed = inner.failed;
        good = good && turn(r, out, false, y);
    }
    tn_tensor_drop(inner_x);
    tn_tensor_drop(inner_y);
    return good && finish_conv(r);
}

/* ---- FusedGemm ---------------------------------------------------------------------------------------------------- */

static bool infer_gemm(struct tn_infer *x)
{
    return standard("Gemm")->infer(x);
}

static bool run_gemm(struct tn_run *r)
{
    return standard("Gemm")->run(r) &&
           finish(r, r->out[0], 1, NULL, tn_attr_float(r->node, "activation_alpha", 0.01), tn_attr_float(r->node, "activation_beta", 0));
}

static enum tn_status prepare_gemm(struct tn_prepare *p, void **state)
{
    return standard("Gemm")->prepare(p, state);
}

static void release_gemm(struct tn_alloc *alloc, void *state)
{
    standard("Gemm")->release(alloc, state);
}

/* ---- FusedMatMul -------------------------------------------------------------------------------------------------- */

/*
 * Which dimension stands at place i of the turned operand: with `batch` the first one goes behind the others of the
 * batch, with `last` the last two change places.
 */
static uint32_t place_of(uint32_t rank, bool batch, bool last, uint32_t i)
{
    uint32_t order[TN_RANK];
    for (uint32_t k = 0; k < rank; k++) order[k] = k;
    if (batch && rank > 2) {
        for (uint32_t k = 0; k + 2 < rank; k++) order[k] = k + 1;
        order[rank - 2] = 0;
    }
    if (last && rank > 1) {
        uint32_t t = order[rank - 1];
        order[rank - 1] = order[rank - 2];
        order[rank - 2] = t;
    }
    return order[i];
}

struct turning {
    bool batch, last;
};

static struct turning turning_of(const struct tn_node *node, uint32_t i)
{
    return (struct turning){tn_attr_int(node, i ? "transBatchB" : "transBatchA", 0) != 0, tn_attr_int(node, i ? "transB" : "transA", 0) != 0};
}

static bool infer_matmul(struct tn_infer *x)
{
    const struct tn_type *types[2];
    struct tn_type turned[2];
    struct tn_infer inner = *x;
    for (uint32_t i = 0; i < 2; i++) {
        const struct tn_type *t = tn_in_type(x, i);
        struct turning w = turning_of(x->node, i);
        if (!t) return true;
        types[i] = &turned[i];
        turned[i] = *t;
        for (uint32_t d = 0; t->shape.known && d < t->shape.rank; d++) turned[i].shape.dims[d] = t->shape.dims[place_of(t->shape.rank, w.batch, w.last, d)];
    }
    inner.types = types;
    bool good = standard("MatMul")->infer(&inner);
    x->failed = inner.failed;
    return good;
}

static struct tn_tensor *turned(struct tn_run *r, struct tn_tensor *x, struct turning w)
{
    int64_t dims[TN_RANK], strides[TN_RANK];
    size_t size;
    if ((!w.batch || x->rank < 3) && (!w.last || x->rank < 2)) return tn_tensor_keep(x);
    for (uint32_t d = 0; d < x->rank; d++) dims[d] = x->dims[place_of(x->rank, w.batch, w.last, d)];
    struct tn_tensor *y = tn_move_size(r, x->element, &size) ? tn_tensor_new(r->heap, x->element, x->rank, dims) : NULL;
    if (!y) {
        tn_run_no_memory(r);
        return NULL;
    }
    struct tn_move m = {.x = x->data, .y = y->data, .rank = x->rank};
    tn_strides(x->dims, x->rank, strides);
    for (uint32_t d = 0; d < x->rank; d++) m.x_stride[d] = strides[place_of(x->rank, w.batch, w.last, d)];
    memcpy(m.dims, dims, sizeof(m.dims));
    tn_strides(dims, x->rank, m.y_stride);
    if (y->count) tn_move(r, m, size);
    return y;
}

/* Without its memory, which has been packed: the turned matrix as far as shapes go. */
static struct tn_tensor *shape_alone(struct tn_run *r, const struct tn_tensor *x, struct turning w)
{
    int64_t dims[TN_RANK];
    for (uint32_t d = 0; d < x->rank; d++) dims[d] = x->dims[place_of(x->rank, w.batch, w.last, d)];
    struct tn_tensor *y = tn_tensor_foreign(r->heap, x->element, x->rank, dims, x->data);
    if (!y) tn_run_no_memory(r);
    return y;
}

static bool run_matmul(struct tn_run *r)
{
    struct tn_tensor *in[2] = {turned(r, r->in[0], turning_of(r->node, 0)), NULL};
    in[1] = r->state ? shape_alone(r, r->in[1], turning_of(r->node, 1)) : turned(r, r->in[1], turning_of(r->node, 1));
    bool good = in[0] && in[1];
    if (good) {
        struct tn_run inner = *r;
        inner.in = in;
        inner.in_count = 2;
        good = standard("MatMul")->run(&inner);
        r->failed = inner.failed;
    }
    tn_tensor_drop(in[0]);
    tn_tensor_drop(in[1]);
    return good && finish(r, r->out[0], tn_attr_float(r->node, "alpha", 1), NULL, tn_attr_float(r->node, "activation_alpha", 0.01), tn_attr_float(r->node, "activation_beta", 0));
}

static enum tn_status prepare_matmul(struct tn_prepare *p, void **state)
{
    const struct tn_tensor *b = p->in[1];
    bool last = turning_of(p->node, 1).last;
    if (!b || b->rank != 2 || b->count == 0 || (b->element != TN_EL_F32 && b->element != TN_EL_F16 && b->element != TN_EL_BF16)) return TN_OK;
    *state = tn_matmul_pack(p, b, last, NULL);
    p->keep[1] = false;
    return *state ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

#define MATMUL .domain = "com.microsoft", .since = 1, .infer = infer_matmul, .run = run_matmul, .prepare = prepare_matmul, .release = tn_matmul_release
#define CONV .domain = "com.microsoft", .since = 1, .prepare = prepare_conv, .release = release_conv, .lacks = lacks_activation

static const struct tn_operator rows[] = {
    {.name = "FusedConv", CONV, .infer = infer_conv, .run = run_conv},
    {.name = "NhwcConv", CONV, .infer = infer_last, .run = run_last},
    {.name = "NhwcFusedConv", CONV, .infer = infer_last, .run = run_last},
    {.name = "FusedGemm", .domain = "com.microsoft", .since = 1, .infer = infer_gemm, .run = run_gemm, .prepare = prepare_gemm, .release = release_gemm, .lacks = lacks_activation},
    {.name = "FusedMatMul", MATMUL},
    {.name = "TransposeMatMul", MATMUL},
    {.name = "FusedMatMulActivation", MATMUL, .lacks = lacks_activation},
};

const struct tn_operators tn_ops_contrib_fused = {rows, sizeof(rows) / sizeof(rows[0])};
