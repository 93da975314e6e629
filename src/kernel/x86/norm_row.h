/*
 * Sums over a row in a fixed lane structure, and the layer norm of one row. Vector i of the row goes to
 * the i mod 4-th of four running vectors, the tail to the next one; these are added as (0 + 1) + (2 +
 * 3) and then by v_sum. Only the width decides.
 */
#ifndef TN_KERNEL_X86_NORM_ROW_H
#define TN_KERNEL_X86_NORM_ROW_H

#include <math.h>

TN_INLINE float sum_quad(vec sum[4])
{
    return v_sum(v_add(v_add(sum[0], sum[1]), v_add(sum[2], sum[3])));
}

/* Sum of x. */
static inline float row_sum(const float *x, size_t width)
{
    vec sum[4] = {v_zero(), v_zero(), v_zero(), v_zero()};
    size_t i = 0;
    for (; i + 4 * VEC <= width; i += 4 * VEC) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) sum[j] = v_add(sum[j], v_load(x + i + j * VEC));
    }
    for (int j = 0; i < width; i += VEC, j++) {
        vec v = v_load_tail(x + i, v_tail(width - i));
        if (j == 0) sum[0] = v_add(sum[0], v);
        if (j == 1) sum[1] = v_add(sum[1], v);
        if (j == 2) sum[2] = v_add(sum[2], v);
        if (j == 3) sum[3] = v_add(sum[3], v);
    }
    return sum_quad(sum);
}

/* Sum of (x - mean)^2. */
static inline float row_squares(const float *x, size_t width, float mean)
{
    const vec m = v_set(mean);
    vec sum[4] = {v_zero(), v_zero(), v_zero(), v_zero()};
    size_t i = 0;
    for (; i + 4 * VEC <= width; i += 4 * VEC) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            vec d = v_sub(v_load(x + i + j * VEC), m);
            sum[j] = v_fma(d, d, sum[j]);
        }
    }
    for (int j = 0; i < width; i += VEC, j++) {
        vtail tail = v_tail(width - i);
        vec d = v_blend_tail(tail, v_sub(v_load_tail(x + i, tail), m), v_zero());
        if (j == 0) sum[0] = v_fma(d, d, sum[0]);
        if (j == 1) sum[1] = v_fma(d, d, sum[1]);
        if (j == 2) sum[2] = v_fma(d, d, sum[2]);
        if (j == 3) sum[3] = v_fma(d, d, sum[3]);
    }
    return sum_quad(sum);
}

TN_INLINE vec norm_lanes(vec x, vec mean, vec scale, vec gamma, vec beta)
{
    return v_fma(v_mul(v_sub(x, mean), scale), gamma, beta);
}

/* y = norm(v); y may be v. */
static inline void norm_row(const float *v, float *y, size_t width, const float *gamma,
                            const float *beta, float eps)
{
    const float mean = row_sum(v, width) / (float)width;
    const float variance = row_squares(v, width, mean) / (float)width;
    const vec m = v_set(mean), scale = v_set(1.0f / sqrtf(variance + eps));
    const vec one = v_set(1.0f), zero = v_zero();
    size_t i = 0;
    for (; i + VEC <= width; i += VEC) {
        vec g = gamma ? v_load(gamma + i) : one, b = beta ? v_load(beta + i) : zero;
        v_store(y + i, norm_lanes(v_load(v + i), m, scale, g, b));
    }
    if (i == width) return;
    vtail tail = v_tail(width - i);
    vec g = gamma ? v_load_tail(gamma + i, tail) : one;
    vec b = beta ? v_load_tail(beta + i, tail) : zero;
    v_store_tail(y + i, tail, norm_lanes(v_load_tail(v + i, tail), m, scale, g, b));
}

#endif
