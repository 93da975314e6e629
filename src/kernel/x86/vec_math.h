/*
 * Transcendental functions and activations on vectors. No libm, no lookup of CPU modes, no branch on
 * data, so a lane's result depends on nothing but its input. Coefficients come from
 * bench/kernel/fit_math.py; measured errors stand in docs/KERNELS.md and are held by tests.
 */
#ifndef TN_KERNEL_X86_VEC_MATH_H
#define TN_KERNEL_X86_VEC_MATH_H

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
 * x Phi(x). Q(t) = 1 - Phi(t) for t = |x| is a polynomial of degree 5 around the nearest of 16 nodes,
 * fitted for relative error in each interval; from t = 6 on it is zero. Then Phi is Q or 1 - Q.
 */
TN_INLINE vec v_gelu(vec x)
{
    static const float c[6][16] = {
        {0x1p-1f, 0x1.5ba94p-2f, 0x1.a1b1d4p-3f, 0x1.b739c8p-4f, 0x1.90f49ep-5f, 0x1.3bcbcap-6f,
         0x1.ab31c8p-8f, 0x1.ee8508p-10f, 0x1.e889b4p-12f, 0x1.9b024ap-14f, 0x1.25fb64p-16f,
         0x1.6513d2p-19f, 0x1.6fdc86p-22f, 0x1.4126d4p-25f, 0x1.dadae6p-29f, 0.0f},
        {-0x1.52153ap-3f, -0x1.3657dcp-3f, -0x1.e018eap-4f, -0x1.38e9e2p-4f, -0x1.57b4dep-5f,
         -0x1.3e1e62p-6f, -0x1.f033b2p-8f, -0x1.46169ap-9f, -0x1.69247ep-11f, -0x1.510584p-13f,
         -0x1.0903d8p-15f, -0x1.5f312ap-18f, -0x1.88253cp-21f, -0x1.70f49ep-24f, -0x1.247f0ap-27f,
         0.0f},
        {-0x1.bb739ep-24f, 0x1.a9177p-7f, 0x1.48cf6ap-6f, 0x1.41783p-6f, 0x1.d6d084p-7f,
         0x1.105b1p-7f, 0x1.fdc8a4p-9f, 0x1.86d6f4p-10f, 0x1.eea9bap-12f, 0x1.03a37ap-13f,
         0x1.c5a2ep-16f, 0x1.4a916ap-18f, 0x1.9292d8p-21f, 0x1.9a359ap-24f, 0x1.5e18dep-27f, 0.0f},
        {0x1.34ca24p-8f, 0x1.d5b706p-9f, 0x1.143c04p-10f, -0x1.352fbep-10f, -0x1.10f956p-9f,
         -0x1.dc75d4p-10f, -0x1.247ac4p-10f, -0x1.131796p-11f, -0x1.9aa578p-13f, -0x1.ef6bbp-15f,
         -0x1.e853cep-17f, -0x1.8c092cp-19f, -0x1.098dc8p-21f, -0x1.27798ep-24f, -0x1.117f08p-27f,
         0.0f},
        {-0x1.6ba49ep-19f, -0x1.0fcc72p-11f, -0x1.58d716p-11f, -0x1.ab1282p-12f, -0x1.d1653p-15f,
         0x1.39903p-13f, 0x1.6e209ep-13f, 0x1.e12f88p-14f, 0x1.c4559cp-15f, 0x1.4653ccp-16f,
         0x1.74ef7ep-18f, 0x1.57749p-20f, 0x1.019f3p-22f, 0x1.3d037cp-25f, 0x1.41954cp-28f, 0.0f},
        {-0x1.ec8d82p-14f, -0x1.312b62p-14f, 0x1.3b9566p-16f, 0x1.2caccep-14f, 0x1.f62654p-15f,
         0x1.50972ap-16f, -0x1.f9e43ep-18f, -0x1.d0ef04p-17f, -0x1.3da8a2p-17f, -0x1.202304p-18f,
         -0x1.848e7cp-20f, -0x1.975908p-22f, -0x1.53c5aap-24f, -0x1.c93c36p-27f, -0x1.f4df4cp-30f,
         0.0f},
    };
    const vec scale = v_set(0x1.355556p+1f); /* nodes per unit of t: 14.5 / 6 */
    const vec magic = v_set(0x1p23f);
    vec t = v_min(v_set(6.2f), v_abs(x));
    vec index = v_fma(t, scale, magic);
    vec d = v_fma(t, scale, v_sub(magic, index));
    vec q = v_fma(v_lookup(c[5], index), d, v_lookup(c[4], index));
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
    default:
        break;
    }
}

#undef APPLY

#endif
