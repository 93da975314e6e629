/*
 * Functions of one element. float32 computes in float32, double in double; half precision computes in float32 and rounds
 * once. Parameters are attributes, with the schema's defaults.
 */
#include "ops/typed.h"

#include <math.h>
#include <string.h>

struct parameters {
    double a, b;
};

typedef void unary_fn(const void *x, void *y, size_t n, const struct parameters *p);

#define UNARY(name, el, T, C, load, store, expr)                                                   \
    static void name##_##el(const void *px, void *py, size_t n, const struct parameters *p)        \
    {                                                                                              \
        const T *in = px;                                                                          \
        T *out = py;                                                                               \
        C a = (C)p->a, b = (C)p->b;                                                                \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            C x = load(in[i]);                                                                     \
            out[i] = store(expr);                                                                  \
        }                                                                                          \
    }
#define FLOATS(name, f32, f64)                                                                     \
    UNARY(name, F32, float, float, TN_AS_IS, (float), f32)                                         \
    UNARY(name, F64, double, double, TN_AS_IS, (double), f64)                                      \
    UNARY(name, F16, uint16_t, float, tn_f16_to_f32, tn_f32_to_f16, f32)                           \
    UNARY(name, BF16, uint16_t, float, tn_bf16_to_f32, tn_f32_to_bf16, f32)
#define SIGNED(name, expr)                                                                         \
    UNARY(name, I8, int8_t, int32_t, TN_AS_IS, (int8_t), expr)                                     \
    UNARY(name, I16, int16_t, int32_t, TN_AS_IS, (int16_t), expr)                                  \
    UNARY(name, I32, int32_t, int64_t, TN_AS_IS, (int32_t), expr)                                  \
    UNARY(name, I64, int64_t, int64_t, TN_AS_IS, (int64_t), expr)
#define UNSIGNED(name, expr)                                                                       \
    UNARY(name, U8, uint8_t, uint8_t, TN_AS_IS, (uint8_t), expr)                                   \
    UNARY(name, U16, uint16_t, uint16_t, TN_AS_IS, (uint16_t), expr)                               \
    UNARY(name, U32, uint32_t, uint32_t, TN_AS_IS, (uint32_t), expr)                               \
    UNARY(name, U64, uint64_t, uint64_t, TN_AS_IS, (uint64_t), expr)
#define OF_FLOATS(n) [TN_EL_F32] = n##_F32, [TN_EL_F64] = n##_F64, [TN_EL_F16] = n##_F16, [TN_EL_BF16] = n##_BF16
#define OF_SIGNED(n) [TN_EL_I8] = n##_I8, [TN_EL_I16] = n##_I16, [TN_EL_I32] = n##_I32, [TN_EL_I64] = n##_I64
#define OF_UNSIGNED(n) [TN_EL_U8] = n##_U8, [TN_EL_U16] = n##_U16, [TN_EL_U32] = n##_U32, [TN_EL_U64] = n##_U64

/* NaN stays NaN wherever a comparison would lose it. */
FLOATS(absolute, fabsf(x), fabs(x))
SIGNED(absolute, x < 0 ? (int64_t)(0 - (uint64_t)x) : x)
UNSIGNED(absolute, x)
FLOATS(negate, -x, -x)
SIGNED(negate, (int64_t)(0 - (uint64_t)x))
UNSIGNED(negate, 0 - x)
FLOATS(sign_of, (float)(x > 0) - (float)(x < 0), (double)(x > 0) - (double)(x < 0))
SIGNED(sign_of, (x > 0) - (x < 0))
UNSIGNED(sign_of, x > 0)
FLOATS(ceiling, ceilf(x), ceil(x))
FLOATS(floor_of, floorf(x), floor(x))
/* Halves to even: nearbyint would follow the thread's rounding mode. */
FLOATS(rounded, rintf(x), rint(x))
FLOATS(root, sqrtf(x), sqrt(x))
FLOATS(exponential, expf(x), exp(x))
FLOATS(logarithm, logf(x), log(x))
FLOATS(reciprocal, 1 / x, 1 / x)
FLOATS(sine, sinf(x), sin(x))
FLOATS(cosine, cosf(x), cos(x))
FLOATS(tangent, tanf(x), tan(x))
FLOATS(arc_sine, asinf(x), asin(x))
FLOATS(arc_cosine, acosf(x), acos(x))
FLOATS(arc_tangent, atanf(x), atan(x))
FLOATS(hyperbolic_sine, sinhf(x), sinh(x))
FLOATS(hyperbolic_cosine, coshf(x), cosh(x))
FLOATS(hyperbolic_tangent, tanhf(x), tanh(x))
FLOATS(area_sine, asinhf(x), asinh(x))
FLOATS(area_cosine, acoshf(x), acosh(x))
FLOATS(area_tangent, atanhf(x), atanh(x))
FLOATS(error_function, erff(x), erf(x))
SIGNED(error_function, erf((double)x))
UNSIGNED(error_function, erf((double)x))
/* 1 / (1 + e^-x), from the side on which the power cannot overflow */
FLOATS(sigmoid, x >= 0 ? 1 / (1 + expf(-x)) : expf(x) / (1 + expf(x)), x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)))
/* log(1 + e^x) */
FLOATS(softplus, x > 0 ? x + log1pf(expf(-x)) : log1pf(expf(x)), x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)))
FLOATS(softsign, x / (1 + fabsf(x)), x / (1 + fabs(x)))
FLOATS(relu, x < 0 ? 0 : x, x < 0 ? 0 : x)
SIGNED(relu, x < 0 ? 0 : x)
FLOATS(leaky, x < 0 ? a * x : x, x < 0 ? a * x : x)
FLOATS(elu, x < 0 ? a * expm1f(x) : x, x < 0 ? a * expm1(x) : x)
FLOATS(selu, x <= 0 ? b * (a * expf(x) - a) : b * x, x <= 0 ? b * (a * exp(x) - a) : b * x)
FLOATS(celu, x < 0 ? a * expm1f(x / a) : x, x < 0 ? a * expm1(x / a) : x)
FLOATS(thresholded, x > a ? x : x != x ? x : 0, x > a ? x : x != x ? x : 0)
FLOATS(hard_sigmoid, a * x + b < 0 ? 0 : a * x + b > 1 ? 1 : a * x + b, a * x + b < 0 ? 0 : a * x + b > 1 ? 1 : a * x + b)
FLOATS(hard_swish, x *fmaxf(0, fminf(1, x / 6 + 0.5f)), x *fmax(0, fmin(1, x / 6 + 0.5)))
/* Gelu: x Phi(x); with tanh: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel 2016) */
FLOATS(gelu, 0.5f * x * (1 + erff(x * 0.70710678118654752f)), 0.5 * x * (1 + erf(x * 0.70710678118654752)))
FLOATS(gelu_tanh, 0.5f * x * (1 + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x))),
       0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x))))
FLOATS(mish, x *tanhf(x > 0 ? x + log1pf(expf(-x)) : log1pf(expf(x))), x *tanh(x > 0 ? x + log1p(exp(-x)) : log1p(exp(x))))
FLOATS(swish, x / (1 + expf(-a * x)), x / (1 + exp(-a * x)))
FLOATS(shrink, x < -a ? x + b : x > a ? x - b : 0, x < -a ? x + b : x > a ? x - b : 0)
SIGNED(shrink, (double)x < -p->a ? (double)x + p->b : (double)x > p->a ? (double)x - p->b : 0)
UNSIGNED(shrink, (double)x > p->a ? (double)x - p->b : 0)
FLOATS(affine, a *x + b, a *x + b)
FLOATS(scaled_tanh, a *tanhf(b * x), a *tanh(b * x))
UNSIGNED(bit_not, ~x)
UNARY(truth_not, BOOL, uint8_t, uint8_t, TN_AS_IS, (uint8_t), !x)

#define TABLE(n, ...) static unary_fn *const n[TN_EL_COUNT] = __VA_ARGS__
#define ALL(n) {OF_FLOATS(n), OF_SIGNED(n), OF_UNSIGNED(n)}
#define REAL(n) {OF_FLOATS(n)}
/* Two's complement: the bits of signed and unsigned are the same. */
TABLE(bit_nots, {OF_UNSIGNED(bit_not), [TN_EL_I8] = bit_not_U8, [TN_EL_I16] = bit_not_U16, [TN_EL_I32] = bit_not_U32,
                 [TN_EL_I64] = bit_not_U64});
TABLE(truth_nots, {[TN_EL_BOOL] = truth_not_BOOL});
TABLE(absolutes, ALL(absolute));
TABLE(negates, ALL(negate));
TABLE(signs, ALL(sign_of));
TABLE(error_functions, ALL(error_function));
TABLE(shrinks, ALL(shrink));
TABLE(relus, {OF_FLOATS(relu), OF_SIGNED(relu)});

/* ---- execution ---------------------------------------------------------------------------------------------------- */

struct unary {
    unary_fn *fn;
    const char *x;
    char *y;
    size_t size;
    struct parameters p;
};

static void unary_items(void *user, uint64_t begin, uint64_t end)
{
    const struct unary *u = user;
    u->fn(u->x + begin * u->size, u->y + begin * u->size, end - begin, &u->p);
}

/* Half precision, some elements at a time: widened, computed in float32, rounded once. */
struct halves {
    const struct tn_kernels *kernels;
    enum tn_float_type type;
    const char *x;
    char *y;
    unary_fn *fn;        /* of float32; NULL: the kernels' activation */
    struct parameters p;
    enum tn_act act;
};

static void half_items(void *user, uint64_t begin, uint64_t end)
{
    enum { PART = 512 };
    const struct halves *h = user;
    float part[PART];
    for (uint64_t i = begin; i < end; i += PART) {
        size_t n = end - i < PART ? (size_t)(end - i) : PART;
        h->kernels->to_f32(h->type, h->x + i * 2, part, n);
        if (h->fn) h->fn(part, part, n, &h->p);
        else h->kernels->activate(h->act, part, n, 1, n, 0, 1);
        h->kernels->from_f32(h->type, part, h->y + i * 2, n);
    }
}

static bool is_half(enum tn_element e)
{
    return e == TN_EL_F16 || e == TN_EL_BF16;
}

static struct halves halves_of(const struct tn_run *r)
{
    return (struct halves){.kernels = r->kernels, .type = r->in[0]->element == TN_EL_F16 ? TN_FLOAT_F16 : TN_FLOAT_BF16, .x = r->in[0]->data, .y = r->out[0]->data};
}

static bool run_unary(struct tn_run *r, unary_fn *const *table, uint64_t cost, const char *a, const char *b)
{
    struct tn_tensor *x = r->in[0], *y = r->out[0];
    struct unary u = {table[x->element], x->data, y->data, tn_element_size(x->element), {0, 0}};
    if (!u.fn) return tn_run_refuse(r, "an element type that the operator has", "%s", tn_onnx_element_name(x->element));
    if (a) u.p.a = tn_attr_float(r->node, a, 1);
    if (b) u.p.b = tn_attr_float(r->node, b, 0);
    if (is_half(x->element) && table[TN_EL_F32]) {
        struct halves h = halves_of(r);
        h.fn = table[TN_EL_F32];
        h.p = u.p;
        tn_run_items(r, x->count, cost + 1, half_items, &h);
        return true;
    }
    tn_run_items(r, x->count, cost, unary_items, &u);
    return true;
}

/* ---- activations of the kernels ----------------------------------------------------------------------------------- */

struct active {
    const struct tn_kernels *kernels;
    enum tn_act act;
    const float *x;
    float *y;
};

/* The kernels work in place: a part is copied and stays in the first cache. */
static void active_items(void *user, uint64_t begin, uint64_t end)
{
    enum { PART = 2048 };
    const struct active *a = user;
    for (uint64_t i = begin; i < end; i += PART) {
        size_t n = end - i < PART ? (size_t)(end - i) : PART;
        if (a->x != a->y) memcpy(a->y + i, a->x + i, n * sizeof(*a->y));
        a->kernels->activate(a->act, a->y + i, n, 1, n, 0, 1);
    }
}

/* float32 by the kernels, other types by the table. */
static bool run_active(struct tn_run *r, enum tn_act act, unary_fn *const *table, uint64_t cost, const char *parameter)
{
    struct active a = {r->kernels, act, r->in[0]->data, r->out[0]->data};
    if (is_half(r->in[0]->element)) {
        struct halves h = halves_of(r);
        h.act = act;
        tn_run_items(r, r->in[0]->count, 4, half_items, &h);
        return true;
    }
    if (r->in[0]->element != TN_EL_F32) return run_unary(r, table, cost, parameter, NULL);
    tn_run_items(r, r->in[0]->count, 4, active_items, &a);
    return true;
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

#define RUN(name, cost, a, b)                                                                      \
    static bool run_##name(struct tn_run *r)                                                       \
    {                                                                                              \
        static unary_fn *const table[TN_EL_COUNT] = REAL(name);                                    \
        return run_unary(r, table, cost, a, b);                                                    \
    }
#define RUN_OF(name, table, cost, a, b)                                                            \
    static bool run_##name(struct tn_run *r)                                                       \
    {                                                                                              \
        return run_unary(r, table, cost, a, b);                                                    \
    }
RUN_OF(absolute, absolutes, 1, NULL, NULL)
RUN_OF(negate, negates, 1, NULL, NULL)
RUN_OF(sign_of, signs, 1, NULL, NULL)
RUN_OF(error_function, error_functions, 20, NULL, NULL)
RUN_OF(shrink, shrinks, 2, "lambd", "bias")
RUN_OF(relu, relus, 1, NULL, NULL)
RUN_OF(bit_not, bit_nots, 1, NULL, NULL)
RUN_OF(truth_not, truth_nots, 1, NULL, NULL)
RUN(ceiling, 1, NULL, NULL)
RUN(floor_of, 1, NULL, NULL)
RUN(rounded, 1, NULL, NULL)
RUN(root, 2, NULL, NULL)
RUN(exponential, 10, NULL, NULL)
RUN(logarithm, 10, NULL, NULL)
RUN(reciprocal, 2, NULL, NULL)
RUN(sine, 15, NULL, NULL)
RUN(cosine, 15, NULL, NULL)
RUN(tangent, 20, NULL, NULL)
RUN(arc_sine, 20, NULL, NULL)
RUN(arc_cosine, 20, NULL, NULL)
RUN(arc_tangent, 20, NULL, NULL)
RUN(hyperbolic_sine, 20, NULL, NULL)
RUN(hyperbolic_cosine, 20, NULL, NULL)
RUN(area_sine, 20, NULL, NULL)
RUN(area_cosine, 20, NULL, NULL)
RUN(area_tangent, 20, NULL, NULL)
RUN(softplus, 25, NULL, NULL)
RUN(softsign, 3, NULL, NULL)
RUN(leaky, 2, "alpha", NULL)
RUN(elu, 15, "alpha", NULL)
RUN(selu, 15, "alpha", "gamma")
RUN(celu, 15, "alpha", NULL)
RUN(thresholded, 2, "alpha", NULL)
RUN(hard_sigmoid, 3, "alpha", "beta")
RUN(hard_swish, 4, NULL, NULL)
RUN(affine, 2, "alpha", "beta")
RUN(scaled_tanh, 20, "alpha", "beta")

#define RUN_ACTIVE(name, act, cost)                                                                \
    static bool run_##name(struct tn_run *r)                                                       \
    {                                                                                              \
        static unary_fn *const table[TN_EL_COUNT] = REAL(name);                                    \
        return run_active(r, act, table, cost, NULL);                                              \
    }
RUN_ACTIVE(hyperbolic_tangent, TN_ACT_TANH, 20)
RUN_ACTIVE(sigmoid, TN_ACT_SIGMOID, 15)
RUN_ACTIVE(mish, TN_ACT_MISH, 40)

static bool run_swish(struct tn_run *r)
{
    static unary_fn *const table[TN_EL_COUNT] = REAL(swish);
    if (tn_attr_float(r->node, "alpha", 1) != 1) return run_unary(r, table, 15, "alpha", NULL);
    return run_active(r, TN_ACT_SILU, table, 15, "alpha");
}

static bool run_gelu(struct tn_run *r)
{
    static unary_fn *const exact[TN_EL_COUNT] = REAL(gelu), *const by_tanh[TN_EL_COUNT] = REAL(gelu_tanh);
    bool tanh_form = tn_str_is(tn_attr_text(r->node, "approximate"), "tanh");
    return run_active(r, tanh_form ? TN_ACT_GELU_TANH : TN_ACT_GELU, tanh_form ? by_tanh : exact, 25, NULL);
}

/* ---- IsNaN and IsInf ---------------------------------------------------------------------------------------------- */

static bool infer_truth(struct tn_infer *x)
{
    return tn_infer_elementwise(x, 1, TN_EL_BOOL);
}

static bool run_is_nan(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    for (uint64_t i = 0; i < x->count; i++) ((uint8_t *)r->out[0]->data)[i] = isnan(tn_element_get(x->element, x->data, i)) != 0;
    return true;
}

static bool run_is_inf(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    bool negative = tn_attr_int(r->node, "detect_negative", 1), positive = tn_attr_int(r->node, "detect_positive", 1);
    for (uint64_t i = 0; i < x->count; i++) {
        double value = tn_element_get(x->element, x->data, i);
        ((uint8_t *)r->out[0]->data)[i] = isinf(value) && (value > 0 ? positive : negative);
    }
    return true;
}

#define ROW(n, s, f) {.name = n, .since = s, .infer = tn_infer_same, .run = f, .in_place = true}

static const struct tn_operator rows[] = {
    ROW("Abs", 1, run_absolute),
    ROW("Neg", 1, run_negate),
    ROW("Sign", 9, run_sign_of),
    ROW("Ceil", 1, run_ceiling),
    ROW("Floor", 1, run_floor_of),
    ROW("Round", 11, run_rounded),
    ROW("Sqrt", 1, run_root),
    ROW("Exp", 1, run_exponential),
    ROW("Log", 1, run_logarithm),
    ROW("Reciprocal", 1, run_reciprocal),
    ROW("Sin", 7, run_sine),
    ROW("Cos", 7, run_cosine),
    ROW("Tan", 7, run_tangent),
    ROW("Asin", 7, run_arc_sine),
    ROW("Acos", 7, run_arc_cosine),
    ROW("Atan", 7, run_arc_tangent),
    ROW("Sinh", 9, run_hyperbolic_sine),
    ROW("Cosh", 9, run_hyperbolic_cosine),
    ROW("Tanh", 1, run_hyperbolic_tangent),
    ROW("Asinh", 9, run_area_sine),
    ROW("Acosh", 9, run_area_cosine),
    ROW("Atanh", 9, run_area_tangent),
    ROW("Erf", 9, run_error_function),
    ROW("Sigmoid", 1, run_sigmoid),
    ROW("Softplus", 1, run_softplus),
    ROW("Softsign", 1, run_softsign),
    ROW("Relu", 1, run_relu),
    ROW("LeakyRelu", 1, run_leaky),
    ROW("Elu", 1, run_elu),
    ROW("Selu", 1, run_selu),
    ROW("Celu", 12, run_celu),
    ROW("ThresholdedRelu", 1, run_thresholded),
    ROW("HardSigmoid", 1, run_hard_sigmoid),
    ROW("HardSwish", 14, run_hard_swish),
    ROW("Gelu", 20, run_gelu),
    ROW("Mish", 18, run_mish),
    ROW("Swish", 24, run_swish),
    ROW("Shrink", 9, run_shrink),
    ROW("Not", 1, run_truth_not),
    ROW("BitwiseNot", 18, run_bit_not),
    ROW("Affine", 1, run_affine),
    ROW("ScaledTanh", 1, run_scaled_tanh),
    {.name = "IsNaN", .since = 9, .infer = infer_truth, .run = run_is_nan},
    {.name = "IsInf", .since = 10, .infer = infer_truth, .run = run_is_inf},
};

const struct tn_operators tn_ops_elementwise_unary = {rows, sizeof(rows) / sizeof(rows[0])};
