/*
 * Scalar conversions between float32 and the two 16-bit formats, and loads of stored elements from
 * any address. Bit manipulation only, so that results do not depend on the CPU's modes.
 */
#ifndef TN_KERNEL_FLOAT16_H
#define TN_KERNEL_FLOAT16_H

#include "kernel/kernel.h"

#include <string.h>

static inline uint32_t tn_f32_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof(u));
    return u;
}

static inline float tn_f32_of_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof(x));
    return x;
}

static inline float tn_bf16_to_f32(uint16_t h)
{
    return tn_f32_of_bits((uint32_t)h << 16);
}

/* Nearest even; a NaN keeps its upper payload and becomes quiet. */
static inline uint16_t tn_f32_to_bf16(float x)
{
    uint32_t u = tn_f32_bits(x);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(u >> 16 | 0x40u);
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

static inline float tn_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t exponent = h >> 10 & 0x1fu, fraction = h & 0x3ffu;
    if (exponent == 0x1f) { /* infinity, or NaN made quiet as the hardware does */
        uint32_t quiet = fraction ? 0x400000u : 0;
        return tn_f32_of_bits(sign | 0x7f800000u | quiet | fraction << 13);
    }
    if (exponent != 0) return tn_f32_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    /* zero or subnormal: fraction * 2^-24 is exact */
    float magnitude = (float)fraction * 0x1p-24f;
    return tn_f32_of_bits(sign | tn_f32_bits(magnitude));
}

/* Nearest even, overflow to infinity, gradual underflow. */
static inline uint16_t tn_f32_to_f16(float x)
{
    uint32_t u = tn_f32_bits(x), magnitude = u & 0x7fffffffu;
    uint16_t sign = (uint16_t)(u >> 16 & 0x8000u);
    if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    if (magnitude >= 0x47800000u) return (uint16_t)(sign | 0x7c00u); /* 65536 and above */
    if (magnitude < 0x38800000u) { /* below 2^-14: round in units of 2^-24 by adding 0.5 * 2^24 */
        float shifted = tn_f32_of_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (tn_f32_bits(shifted) - 0x3f000000u));
    }
    uint32_t rounded = magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u);
    return (uint16_t)(sign | rounded >> 13);
}

static inline float tn_load_f32(const void *p)
{
    float x;
    memcpy(&x, p, sizeof(x));
    return x;
}

static inline uint16_t tn_load_u16(const void *p)
{
    uint16_t h;
    memcpy(&h, p, sizeof(h));
    return h;
}

/* Element i of a stored tensor, widened exactly. */
static inline float tn_load_element(enum tn_float_type type, const void *data, size_t i)
{
    const char *p = data;
    switch (type) {
    case TN_FLOAT_F16:
        return tn_f16_to_f32(tn_load_u16(p + i * 2));
    case TN_FLOAT_BF16:
        return tn_bf16_to_f32(tn_load_u16(p + i * 2));
    default:
        return tn_load_f32(p + i * 4);
    }
}

#endif
