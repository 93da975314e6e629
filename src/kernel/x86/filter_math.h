/*
 * The transforms of minimal filtering, on vectors of independent lanes: with the points 0, 1, -1, 2, -2 and infinity for four
 * results under three taps, with 1/2 and -1/2 besides for four under five. Spreading is B', gathering A' of
 * Y = A' [(G g) * (B' d)] (Lavin and Gray 2016, arXiv 1509.09308, section 4).
 */
#ifndef TN_KERNEL_X86_FILTER_MATH_H
#define TN_KERNEL_X86_FILTER_MATH_H

#include "kernel/x86/x86.h"

/* B' of six vectors. */
TN_INLINE void spread6(const vec d[6], vec t[6])
{
    const vec two = v_set(2), four = v_set(4), five = v_set(5);
    vec a = v_fnma(four, d[2], d[4]), b = v_fnma(four, d[1], d[3]), c = v_sub(d[4], d[2]), e = v_mul(two, v_sub(d[3], d[1]));
    t[0] = v_fma(four, d[0], v_fnma(five, d[2], d[4]));
    t[1] = v_add(a, b);
    t[2] = v_sub(a, b);
    t[3] = v_add(c, e);
    t[4] = v_sub(c, e);
    t[5] = v_fma(four, d[1], v_fnma(five, d[3], d[5]));
}

/* A' of six vectors. */
TN_INLINE void gather6(const vec m[6], vec o[4])
{
    vec a = v_add(m[1], m[2]), b = v_sub(m[1], m[2]), c = v_add(m[3], m[4]), d = v_sub(m[3], m[4]);
    o[0] = v_add(v_add(m[0], a), c);
    o[1] = v_fma(v_set(2), d, b);
    o[2] = v_fma(v_set(4), c, a);
    o[3] = v_add(v_fma(v_set(8), d, b), m[5]);
}

/* B' of eight vectors. */
TN_INLINE void spread8(const vec d[8], vec t[8])
{
    const vec far = v_set(5.25f), near = v_set(4.25f), quarter = v_set(0.25f), half = v_set(0.5f), two = v_set(2), four = v_set(4);
    vec a = v_fnma(near, d[4], v_add(d[2], d[6])), b = v_fnma(near, d[3], v_add(d[1], d[5]));
    vec c = v_fnma(v_set(1.25f), d[4], v_fma(quarter, d[2], d[6])), e = v_fma(two, d[5], v_fnma(v_set(2.5f), d[3], v_mul(half, d[1])));
    vec f = v_fnma(v_set(5), d[4], v_fma(four, d[2], d[6])), g = v_fma(half, d[5], v_fnma(v_set(2.5f), d[3], v_mul(two, d[1])));
    t[0] = v_fma(far, v_sub(d[4], d[2]), v_sub(d[0], d[6]));
    t[1] = v_add(a, b);
    t[2] = v_sub(a, b);
    t[3] = v_add(c, e);
    t[4] = v_sub(c, e);
    t[5] = v_add(f, g);
    t[6] = v_sub(f, g);
    t[7] = v_fma(far, v_sub(d[3], d[5]), v_sub(d[7], d[1]));
}

/* A' of eight vectors. */
TN_INLINE void gather8(const vec m[8], vec o[4])
{
    vec a = v_add(m[1], m[2]), b = v_sub(m[1], m[2]), c = v_add(m[3], m[4]), d = v_sub(m[3], m[4]), e = v_add(m[5], m[6]), f = v_sub(m[5], m[6]);
    o[0] = v_add(v_add(v_add(m[0], a), c), e);
    o[1] = v_fma(v_set(0.5f), f, v_fma(v_set(2), d, b));
    o[2] = v_fma(v_set(0.25f), e, v_fma(v_set(4), c, a));
    o[3] = v_add(v_fma(v_set(0.125f), f, v_fma(v_set(8), d, b)), m[7]);
}

#endif
