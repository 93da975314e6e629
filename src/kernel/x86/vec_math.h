/*
 * Transcendental functions and activations on vectors. No libm, no lookup of CPU modes, no branch on
 * data, so a lane's result depends on nothing but its input. Coefficients come from
 * bench/kernel/fit_math.py; measured errors stand in docs/KERNELS.md and are held by tests.
 */
#ifndef TN_KERNEL_X86_VEC_MATH_H
#define TN_KERNEL_X86_VEC_MATH_H

#include "kernel/ref/ref.h"

/* The including file has chosen the vocabulary (vec_avx2.h or vec_avx512.h). */

#define LOG2_E 0x1.715476p+0f
/* ln 2 in two parts; the first has few enough bits that n times it is exact for |n| < 256. */
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f

/* x = n ln 2 + r, |r| <= ln 2 / 2 */
struct reduced {
    vec n, r;
};

TN_INLINE struct reduced v_reduce(vec x)
{
    vec n = v_round(v_mul(x, v_set(LOG2_E)));
    vec r = v_fnma(n, v_set(LN2_HIGH), x);
    return (struct reduced){n, v_fnma(n, v_set(LN2_LOW), r)};
}

/* e^r - 1 for |r| <= ln 2 / 2 */
TN_INLINE vec v_expm1_small(vec r)
{
    vec q = v_fma(v_set(0x1.6db41ep-10f), r, v_set(0x1.123b54p-7f));
    q = v_fma(q, r, v_set(0x1.55545ep-5f));
    q = v_fma(q, r, v_set(0x1.55548ep-3f));
    q = v_fma(q, r, v_set(0.5f));
    return v_fma(v_mul(r, r), q, r);
}

/* Beyond these e^x rounds to 0 or to infinity; NaN passes, being the second operand. */
TN_INLINE vec v_exp_clamp(vec x)
{
    return v_min(v_set(89.0f), v_max(v_set(-104.0f), x));
}

TN_INLINE vec v_exp(vec x)
{
    struct reduced a = v_reduce(v_exp_clamp(x));
    return v_scale(v_add(v_set(1.0f), v_expm1_small(a.r)), a.n);
}

/* 2^n (e^r - 1) + (2^n - 1): nothing cancels near zero. */
TN_INLINE vec v_expm1(vec x)
{
    struct reduced a = v_reduce(v_exp_clamp(x));
    vec power = v_scale(v_set(1.0f), a.n);
    return v_fma(power, v_expm1_small(a.r), v_sub(power, v_set(1.0f)));
}

/* 2^z for z <= 0, as softmax needs it. */
TN_INLINE vec v_exp2_nonpositive(vec z)
{
    z = v_max(v_set(-150.0f), z);
    vec n = v_round(z), f = v_sub(z, n);
    vec p = v_fma(v_set(0x1.470bd4p-13f), f, v_set(0x1.5f728p-10f));
    p = v_fma(p, f, v_set(0x1.3b270ep-7f));
    p = v_fma(p, f, v_set(0x1.c6ae72p-5f));
    p = v_fma(p, f, v_set(0x1.ebfbe2p-3f));
    p = v_fma(p, f, v_set(0x1.62e432p-1f));
    p = v_fma(p, f, v_set(1.0f));
    return v_scale(p, n);
}

/* With e = e^-|x| both halves stay accurate: 1 / (1 + e) and e / (1 + e). */
TN_INLINE vec v_sigmoid(vec x)
{
    vec e = v_exp(v_sub(v_zero(), v_abs(x)));
    vec up = v_select(v_less(x, v_zero()), e, v_set(1.0f));
    return v_div(up, v_add(v_set(1.0f), e));
}

/* tanh |x| = -m / (m + 2) with m = e^(-2 |x|) - 1 */
TN_INLINE vec v_tanh(vec x)
{
    vec t = v_abs(x);
    vec m = v_expm1(v_mul(v_set(-2.0f), t));
    return v_copysign(v_div(v_sub(v_zero(), m), v_add(m, v_set(2.0f))), x);
}

/*
 * x Phi(x). Q(t) = 1 - Phi(t) for t = |x| is a polynomial of degree 6 around the nearest of 16 nodes,
 * fitted for relative error in each interval; from t = 6 on it is zero. Then Phi is Q or 1 - Q.
 */
TN_INLINE vec v_gelu(vec x)
{
    static const float c[7][16] = {
        {0x1p-1f, 0x1.5ba94p-2f, 0x1.a1b1d2p-3f, 0x1.b739c8p-4f, 0x1.90f4ap-5f, 0x1.3bcbcep-6f,
         0x1.ab31ccp-8f, 0x1.ee8508p-10f, 0x1.e8899cp-12f, 0x1.9b020ap-14f, 0x1.25fafcp-16f,
         0x1.6512e6p-19f, 0x1.6fdaecp-22f, 0x1.4124b4p-25f, 0x1.dad67cp-29f, 0.0f},
        {-0x1.52153cp-3f, -0x1.3657dep-3f, -0x1.e018eep-4f, -0x1.38e9e4p-4f, -0x1.57b4d8p-5f,
         -0x1.3e1e52p-6f, -0x1.f03394p-8f, -0x1.4616a2p-9f, -0x1.6924fp-11f, -0x1.5106dap-13f,
         -0x1.090654p-15f, -0x1.5f37d6p-18f, -0x1.8832dcp-21f, -0x1.710a6ap-24f, -0x1.249ad6p-27f,
         0.0f},
        {0x1.00748cp-26f, 0x1.a91b84p-7f, 0x1.48d17p-6f, 0x1.4178ap-6f, 0x1.d6cee8p-7f,
         0x1.10594ap-7f, 0x1.fdc5acp-9f, 0x1.86d754p-10f, 0x1.eeb1dp-12f, 0x1.03ae9p-13f,
         0x1.c5c832p-16f, 0x1.4abeaep-18f, 0x1.92e69ap-21f, 0x1.9aaf28p-24f, 0x1.5ea56ap-27f, 0.0f},
        {0x1.34b9a8p-8f, 0x1.d5bff2p-9f, 0x1.144f8cp-10f, -0x1.352c48p-10f, -0x1.110024p-9f,
         -0x1.dc85f6p-10f, -0x1.24822p-10f, -0x1.1315b4p-11f, -0x1.9a87d2p-13f, -0x1.ef1296p-15f,
         -0x1.e7aceep-17f, -0x1.8b2778p-19f, -0x1.08a4eep-21f, -0x1.26009ap-24f, -0x1.0f986ep-27f,
         0.0f},
        {0x1.0de754p-20f, -0x1.12891ep-11f, -0x1.5b8f0ep-11f, -0x1.ac411cp-12f, -0x1.bfbf3p-15f,
         0x1.3e72c8p-13f, 0x1.702e6cp-13f, 0x1.e0e5aap-14f, 0x1.c16a6ep-15f, 0x1.4245d6p-16f,
         0x1.6dfbcp-18f, 0x1.4ed5c2p-20f, 0x1.f2e1c4p-23f, 0x1.30cad6p-25f, 0x1.32fa28p-28f, 0.0f},
        {-0x1.03e7e2p-13f, -0x1.34bdep-14f, 0x1.2bf1fp-16f, 0x1.2bfb7cp-14f, 0x1.fb9fep-15f,
         0x1.5d9406p-16f, -0x1.e228c6p-18f, -0x1.d28184p-17f, -0x1.43b018p-17f, -0x1.2938b4p-18f,
         -0x1.95a28p-20f, -0x1.ae8c24p-22f, -0x1.6bd2a6p-24f, -0x1.f06058p-27f, -0x1.13d88ep-29f,
         0.0f},
        {0x1.1ef8ap-18f, 0x1.d4f26p-17f, 0x1.d233p-17f, 0x1.950adep-19f, -0x1.7ebb4ap-18f,
         -0x1.a8b6d2p-18f, -0x1.6661c6p-19f, 0x1.ac5e74p-23f, 0x1.049002p-20f, 0x1.6cb32ap-21f,
         0x1.3bc81cp-22f, 0x1.8c1292p-24f, 0x1.7cbf18p-26f, 0x1.207b1ep-28f, 0x1.5e378ap-31f, 0.0f},
    };
    const vec scale = v_set(0x1.355556p+1f); /* nodes per unit of t: 14.5 / 6 */
    const vec magic = v_set(0x1p23f);
    vec t = v_min(v_set(6.2f), v_abs(x));
    vec index = v_fma(t, scale, magic);
    vec d = v_fma(t, scale, v_sub(magic, index));
    vec q = v_fma(v_lookup(c[6], index), d, v_lookup(c[5], index));
    q = v_fma(q, d, v_lookup(c[4], index));
    q = v_fma(q, d, v_lookup(c[3], index));
    q = v_fma(q, d, v_lookup(c[2], index));
    q = v_fma(q, d, v_lookup(c[1], index));
    q = v_fma(q, d, v_lookup(c[0], index));
    return v_mul(x, v_select(v_less(x, v_zero()), q, v_sub(v_set(1.0f), q)));
}

/* (1 + tanh u) / 2 = sigmoid(2 u) */
TN_INLINE vec v_gelu_tanh(vec x)
{
    const float twice_sqrt_2_over_pi = 0x1.988454p+0f;
    vec cubic = v_fma(v_mul(v_set(0.044715f), v_mul(x, x)), x, x);
    return v_mul(x, v_sigmoid(v_mul(v_set(twice_sqrt_2_over_pi), cubic)));
}

TN_INLINE vec v_quick_gelu(vec x)
{
    return v_mul(x, v_sigmoid(v_mul(v_set(1.702f), x)));
}

TN_INLINE vec v_silu(vec x)
{
    return v_mul(x, v_sigmoid(x));
}

/* tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2) with e = e^x; from 40 on the ratio is 1. */
TN_INLINE vec v_mish(vec x)
{
    vec e = v_exp(v_min(v_set(40.0f), x));
    vec up = v_mul(e, v_add(e, v_set(2.0f)));
    return v_mul(x, v_div(up, v_add(up, v_set(2.0f))));
}

TN_INLINE vec v_relu(vec x)
{
    return v_max(v_zero(), x);
}

TN_INLINE vec v_relu6(vec x)
{
    return v_min(v_set(6.0f), v_relu(x));
}

TN_INLINE vec v_leaky_relu(vec x)
{
    return v_select(v_less(x, v_zero()), v_mul(v_set(0.01f), x), x);
}

TN_INLINE vec v_elu(vec x)
{
    return v_select(v_less(x, v_zero()), v_expm1(x), x);
}

/* y = f(y) for [rows, width] */
#define APPLY(f)                                                                                   \
    for (size_t row = 0; row < rows; row++) {                                                      \
        float *p = y + row * stride;                                                               \
        size_t i = 0;                                                                              \
        for (; i + VEC <= width; i += VEC) v_store(p + i, f(v_load(p + i)));                       \
        if (i < width) {                                                                           \
            vtail tail = v_tail(width - i);                                                        \
            v_store_tail(p + i, tail, f(v_load_tail(p + i, tail)));                                \
        }                                                                                          \
    }                                                                                              \
    break

static inline void act_region(enum tn_act act, float *y, size_t stride, size_t rows, size_t width)
{
    switch (act) {
    case TN_ACT_RELU:
        APPLY(v_relu);
    case TN_ACT_RELU6:
        APPLY(v_relu6);
    case TN_ACT_LEAKY_RELU:
        APPLY(v_leaky_relu);
    case TN_ACT_ELU:
        APPLY(v_elu);
    case TN_ACT_GELU:
        APPLY(v_gelu);
    case TN_ACT_GELU_TANH:
        APPLY(v_gelu_tanh);
    case TN_ACT_QUICK_GELU:
        APPLY(v_quick_gelu);
    case TN_ACT_SILU:
        APPLY(v_silu);
    case TN_ACT_MISH:
        APPLY(v_mish);
    case TN_ACT_TANH:
        APPLY(v_tanh);
    case TN_ACT_SIGMOID:
        APPLY(v_sigmoid);
    case TN_ACT_IDENTITY:
        break;
    default: /* rare: the reference, so every table gives the same bits */
        for (size_t row = 0; row < rows; row++) {
            for (size_t i = 0; i < width; i++) y[row * stride + i] = tn_ref_act(act, y[row * stride + i]);
        }
        break;
    }
}

#undef APPLY

#endif
