/*
 * e^x in float32 for loops that a compiler vectorises: no tables, no branches, the same bits on every machine. Error below
 * 1.2e-7 of the result where that is a normal number.
 */
#ifndef TN_OPS_EXP_H
#define TN_OPS_EXP_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor polynomial of degree 7 (the next term is below 5e-9), then n goes
 * to the exponent in two steps, since neither 2^128 nor 2^-149 is a normal float. ln 2 is split (Cody and Waite) so that n ln2_high is exact.
 */
static inline float tn_exp_f32(float x)
{
    const float log2e = 0x1.715476p+0f, ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
    float limited = x > -104.0f ? x : -104.0f; /* NaN too */
    limited = limited < 88.8f ? limited : 88.8f;
    float shifted = limited * log2e + 0x1.8p23f; /* rounds to an integer in the low bits */
    float n = shifted - 0x1.8p23f;
    float r = limited - n * ln2_high - n * ln2_low;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    int32_t exponent = (int32_t)n, half = exponent / 2, rest = exponent - half;
    uint32_t a = (uint32_t)(half + 127) << 23, b = (uint32_t)(rest + 127) << 23;
    float fa, fb;
    memcpy(&fa, &a, sizeof(fa));
    memcpy(&fb, &b, sizeof(fb));
    float y = p * fa * fb;
    y = x > 88.72283f ? INFINITY : y;
    return x == x ? y : x;
}

#endif
