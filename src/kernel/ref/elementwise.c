/* Activations, L2 normalisation, the finiteness check and conversions; reference. */
#include "kernel/float16.h"
#include "kernel/ref/ref.h"

#include <math.h>

static double sigmoid(double x)
{
    return x >= 0.0 ? 1.0 / (1.0 + exp(-x)) : exp(x) / (1.0 + exp(x));
}

/* x Phi(x). Phi by erfc keeps its relative accuracy far into the left tail. */
static double gelu(double x)
{
    return x * 0.5 * erfc(-x * 0.70710678118654752440);
}

/* (1 + tanh u) / 2 = sigmoid(2 u) keeps the left tail accurate. */
static double gelu_tanh(double x)
{
    const double sqrt_2_over_pi = 0.79788456080286535588;
    return x * sigmoid(2.0 * sqrt_2_over_pi * (x + 0.044715 * x * x * x));
}

/* tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2) with e = e^x, which overflows for no x <= 40. */
static double mish(double x)
{
    double e = exp(x < 40.0 ? x : 40.0);
    double up = e * (e + 2.0);
    return x * (up / (up + 2.0));
}

/* torch switches to the identity above 20, where log(1 + e^-x) no longer shows in float32. */
static double softplus(double x)
{
    return x > 20.0 ? x : log1p(exp(x));
}

static double log_sigmoid(double x)
{
    return x < 0.0 ? x - log1p(exp(x)) : -log1p(exp(-x));
}

static double hard_sigmoid(double x)
{
    return x <= -3.0 ? 0.0 : x >= 3.0 ? 1.0 : (x + 3.0) / 6.0;
}

static double clip(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Klambauer et al. 2017: alpha and scale with the digits of torch. */
static double selu(double x)
{
    const double alpha = 1.6732632423543772848170429916717, scale = 1.0507009873554804934193349852946;
    return scale * (x > 0.0 ? x : alpha * expm1(x));
}

static double laplace(double x)
{
    const double mean = 0.707107, deviation = 0.282095;
    return 0.5 * erfc(-(x - mean) / (deviation * 1.41421356237309504880));
}

static double rare_act(enum tn_act act, double x)
{
    switch (act) {
    case TN_ACT_SELU:
        return selu(x);
    case TN_ACT_SOFTPLUS:
        return softplus(x);
    case TN_ACT_SQRT_SOFTPLUS:
        return sqrt(softplus(x));
    case TN_ACT_SOFTSIGN:
        return x / (1.0 + fabs(x));
    case TN_ACT_LOG_SIGMOID:
        return log_sigmoid(x);
    case TN_ACT_TANH_SHRINK:
        return x - tanh(x);
    case TN_ACT_HARD_TANH:
        return clip(x, -1.0, 1.0);
    case TN_ACT_HARD_SIGMOID:
        return isnan(x) ? x : hard_sigmoid(x);
    case TN_ACT_HARD_SWISH:
        return x * hard_sigmoid(x);
    case TN_ACT_HARD_SHRINK:
        return fabs(x) <= 0.5 ? 0.0 : x;
    case TN_ACT_SOFT_SHRINK:
        return x > 0.5 ? x - 0.5 : x < -0.5 ? x + 0.5 : isnan(x) ? x : 0.0;
    case TN_ACT_RRELU:
        return x < 0.0 ? x * (11.0 / 48.0) : x;
    case TN_ACT_RELU_SQUARED:
        return x < 0.0 ? 0.0 : x * x;
    case TN_ACT_GELU_10:
        return clip(gelu(x), -10.0, 10.0);
    case TN_ACT_LAPLACE:
        return laplace(x);
    default:
        return x;
    }
}

float tn_ref_act(enum tn_act act, float x)
{
    switch (act) {
    case TN_ACT_RELU:
        return x < 0.0f ? 0.0f : x;
    case TN_ACT_RELU6:
        return x < 0.0f ? 0.0f : x > 6.0f ? 6.0f : x;
    case TN_ACT_LEAKY_RELU:
        return x < 0.0f ? 0.01f * x : x;
    case TN_ACT_ELU:
        return x < 0.0f ? (float)expm1((double)x) : x;
    case TN_ACT_GELU:
        return (float)gelu((double)x);
    case TN_ACT_GELU_TANH:
        return (float)gelu_tanh((double)x);
    case TN_ACT_QUICK_GELU:
        return (float)(x * sigmoid(1.702 * (double)x));
    case TN_ACT_SILU:
        return (float)(x * sigmoid((double)x));
    case TN_ACT_MISH:
        return (float)mish((double)x);
    case TN_ACT_TANH:
        return (float)tanh((double)x);
    case TN_ACT_SIGMOID:
        return (float)sigmoid((double)x);
    default:
        return (float)rare_act(act, (double)x);
    }
}

void tn_ref_activate(enum tn_act act, float *x, size_t stride, size_t rows, size_t width,
                     unsigned rank, unsigned size)
{
    size_t begin, end;
    if (act == TN_ACT_IDENTITY) return;
    tn_share(rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        for (size_t i = 0; i < width; i++) x[t * stride + i] = tn_ref_act(act, x[t * stride + i]);
    }
}

void tn_ref_normalize(const float *x, size_t x_stride, float *y, size_t y_stride, size_t rows,
                      size_t width, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        const float *from = x + t * x_stride;
        float *to = y + t * y_stride;
        double squares = 0.0;
        for (size_t i = 0; i < width; i++) squares += (double)from[i] * from[i];
        double norm = sqrt(squares);
        if (norm < 1e-12) norm = 1e-12;
        for (size_t i = 0; i < width; i++) to[i] = (float)(from[i] / norm);
    }
}

void tn_ref_rows_finite(const float *x, size_t stride, size_t rows, size_t width, uint8_t *finite,
                        unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        finite[t] = 1;
        for (size_t i = 0; i < width; i++) {
            if ((tn_f32_bits(x[t * stride + i]) & 0x7f800000u) == 0x7f800000u) finite[t] = 0;
        }
    }
}

void tn_ref_to_f32(enum tn_float_type type, const void *src, float *dst, size_t count)
{
    for (size_t i = 0; i < count; i++) dst[i] = tn_load_element(type, src, i);
}

void tn_ref_from_f32(enum tn_float_type type, const float *src, void *dst, size_t count)
{
    if (type == TN_FLOAT_F32) {
        memcpy(dst, src, count * sizeof(float));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint16_t h = type == TN_FLOAT_F16 ? tn_f32_to_f16(src[i]) : tn_f32_to_bf16(src[i]);
        memcpy((char *)dst + i * sizeof(h), &h, sizeof(h));
    }
}
