/*
 * The vector vocabulary on AVX-512: the kernels' bodies are written in these words and compiled once
 * per instruction set. Only fma and fnma fuse; everything else rounds once per operation.
 */
#ifndef TN_KERNEL_X86_VEC_H
#define TN_KERNEL_X86_VEC_H

#include "kernel/kernel.h"

#include <immintrin.h>

#define TN_ISA(name) tn_avx512_##name
#define TN_INLINE static inline __attribute__((always_inline))

/* X(rows, arg) for every height of a tile. */
#define TILE_HEIGHTS(X, arg)                                                                       \
    X(1, arg) X(2, arg) X(3, arg) X(4, arg) X(5, arg) X(6, arg) X(7, arg) X(8, arg) X(9, arg)      \
    X(10, arg) X(11, arg) X(12, arg)

typedef __m512 vec;
typedef __mmask16 vmask; /* result of a comparison */
typedef __mmask16 vtail; /* the first n lanes */

enum {
    VEC = 16,       /* lanes */
    TILE_ROWS = 12, /* 12 x 2 sums, 2 weights and 1 broadcast of the 32 registers; 13 and 14 are slower */
};

TN_INLINE vec v_set(float x)
{
    return _mm512_set1_ps(x);
}

TN_INLINE vec v_zero(void)
{
    return _mm512_setzero_ps();
}

TN_INLINE vec v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

/* The vector, in a register: compilers read memory again for each use of a load, also where it spans two cache lines. */
TN_INLINE vec v_hold(vec v)
{
    __asm__("" : "+v"(v));
    return v;
}

TN_INLINE void v_store(float *p, vec v)
{
    _mm512_storeu_ps(p, v);
}

TN_INLINE vtail v_tail(size_t n)
{
    return (vtail)(n >= VEC ? 0xffffu : (1u << n) - 1u);
}

/* Lanes past the tail read as zero and touch no memory. */
TN_INLINE vec v_load_tail(const float *p, vtail t)
{
    return _mm512_maskz_loadu_ps(t, p);
}

TN_INLINE void v_store_tail(float *p, vtail t, vec v)
{
    _mm512_mask_storeu_ps(p, t, v);
}

/* v in the tail's lanes, `rest` in the others. */
TN_INLINE vec v_blend_tail(vtail t, vec v, vec rest)
{
    return _mm512_mask_mov_ps(rest, t, v);
}

TN_INLINE vec v_add(vec a, vec b)
{
    return _mm512_add_ps(a, b);
}

TN_INLINE vec v_sub(vec a, vec b)
{
    return _mm512_sub_ps(a, b);
}

TN_INLINE vec v_mul(vec a, vec b)
{
    return _mm512_mul_ps(a, b);
}

TN_INLINE vec v_div(vec a, vec b)
{
    return _mm512_div_ps(a, b);
}

/* a b + c */
TN_INLINE vec v_fma(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* c - a b */
TN_INLINE vec v_fnma(vec a, vec b, vec c)
{
    return _mm512_fnmadd_ps(a, b, c);
}

/* Where an operand is NaN, max and min give the second one. */
TN_INLINE vec v_max(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}

TN_INLINE vec v_min(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}

TN_INLINE vec v_abs(vec a)
{
    return _mm512_abs_ps(a);
}

/* |magnitude| with the sign of `sign`. */
TN_INLINE vec v_copysign(vec magnitude, vec sign)
{
    return _mm512_or_ps(_mm512_abs_ps(magnitude), _mm512_and_ps(sign, _mm512_set1_ps(-0.0f)));
}

TN_INLINE vmask v_less(vec a, vec b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

TN_INLINE vmask v_is_nan(vec a)
{
    return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
}

/* m ? a : b */
TN_INLINE vec v_select(vmask m, vec a, vec b)
{
    return _mm512_mask_mov_ps(b, m, a);
}

/* Nearest integer, halves to even. */
TN_INLINE vec v_round(vec a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* a 2^n for an integral n, |n| <= 252, rounded once where the result is subnormal. */
TN_INLINE vec v_scale(vec a, vec n)
{
    return _mm512_scalef_ps(a, n);
}

/* Whether any lane of the tail is infinite or NaN. */
TN_INLINE bool v_any_nonfinite(vec a)
{
    return _mm512_fpclass_ps_mask(a, 0x99) != 0; /* quiet NaN, both infinities, signalling NaN */
}

/* Lanes are added by halves: i with i + 8, then + 4, + 2, + 1. */
TN_INLINE float v_sum(vec a)
{
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_shuffle_ps(q, q, 1)));
}

TN_INLINE float v_largest(vec a)
{
    __m256 h = _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_shuffle_ps(q, q, 1)));
}

/* table[n] for lanes that hold 2^23 + n, 0 <= n < 16: n is then the low end of the bit pattern. */
TN_INLINE vec v_lookup(const float table[16], vec index)
{
    return _mm512_permutexvar_ps(_mm512_castps_si512(index), _mm512_loadu_ps(table));
}

/* VEC stored elements at any address, widened. */
TN_INLINE vec v_load_f16(const void *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

TN_INLINE vec v_load_bf16(const void *p)
{
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

/* VEC bytes minus a number, as floats. */
TN_INLINE vec v_load_u8(const void *p, int zero)
{
    __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(wide, _mm512_set1_epi32(zero)));
}

TN_INLINE vec v_load_i8(const void *p, int zero)
{
    __m512i wide = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(wide, _mm512_set1_epi32(zero)));
}

TN_INLINE void v_store_f16(void *p, vec v)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

/* Rounds by integer arithmetic, so that subnormals are kept. */
TN_INLINE void v_store_bf16(void *p, vec v)
{
    __m512i u = _mm512_castps_si512(v);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    __m512i up = _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    __m512i quiet = _mm512_or_si512(u, _mm512_set1_epi32(0x400000));
    __m512i r = _mm512_mask_mov_epi32(up, v_is_nan(v), quiet);
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(_mm512_srli_epi32(r, 16)));
}

/* Lanes 1, 2 ... of a, then lane 0 of b. */
TN_INLINE vec v_follow(vec a, vec b)
{
    return _mm512_castsi512_ps(_mm512_alignr_epi32(_mm512_castps_si512(b), _mm512_castps_si512(a), 1));
}

TN_INLINE float v_first(vec a)
{
    return _mm512_cvtss_f32(a);
}

/* Half a vector: arithmetic takes half the time where a vector is done in two goes. */
typedef __m256 vhalf;

TN_INLINE vhalf h_zero(void)
{
    return _mm256_setzero_ps();
}

TN_INLINE vhalf h_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

TN_INLINE void h_store(float *p, vhalf v)
{
    _mm256_storeu_ps(p, v);
}

TN_INLINE vhalf h_fma(vhalf a, vhalf b, vhalf c)
{
    return _mm256_fmadd_ps(a, b, c);
}

/* The lower half, and a vector with it as its lower half: what stands in the upper one does not matter. */
TN_INLINE vhalf h_low(vec a)
{
    return _mm512_castps512_ps256(a);
}

TN_INLINE vec h_widen(vhalf a)
{
    return _mm512_castps256_ps512(a);
}

/* Even and odd elements of the 2 VEC at p. */
TN_INLINE void v_split2(const float *p, vec out[2])
{
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    vec a = v_load(p), b = v_load(p + VEC);
    out[0] = _mm512_permutex2var_ps(a, even, b);
    out[1] = _mm512_permutex2var_ps(a, _mm512_add_epi32(even, _mm512_set1_epi32(1)), b);
}

/* out[j] = elements j, j + 4, j + 8 ... of the 4 VEC at p. */
TN_INLINE void v_split4(const float *p, vec out[4])
{
    const __m512i first = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
    vec a = v_load(p), b = v_load(p + VEC), c = v_load(p + 2 * VEC), d = v_load(p + 3 * VEC);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        __m512i index = _mm512_add_epi32(first, _mm512_set1_epi32(j));
        vec low = _mm512_permutex2var_ps(a, index, b), high = _mm512_permutex2var_ps(c, index, d);
        out[j] = _mm512_shuffle_f32x4(low, high, 0x44);
    }
}

/* The other way round. */
TN_INLINE void v_join4(const vec in[4], float *p)
{
    vec a = _mm512_unpacklo_ps(in[0], in[1]), b = _mm512_unpackhi_ps(in[0], in[1]);
    vec c = _mm512_unpacklo_ps(in[2], in[3]), d = _mm512_unpackhi_ps(in[2], in[3]);
    /* lane i of q[k] holds the four of element 4 i + k */
    vec q0 = _mm512_shuffle_ps(a, c, 0x44), q1 = _mm512_shuffle_ps(a, c, 0xee);
    vec q2 = _mm512_shuffle_ps(b, d, 0x44), q3 = _mm512_shuffle_ps(b, d, 0xee);
    vec r0 = _mm512_shuffle_f32x4(q0, q1, 0x44), r1 = _mm512_shuffle_f32x4(q0, q1, 0xee);
    vec r2 = _mm512_shuffle_f32x4(q2, q3, 0x44), r3 = _mm512_shuffle_f32x4(q2, q3, 0xee);
    v_store(p, _mm512_shuffle_f32x4(r0, r2, 0x88));
    v_store(p + VEC, _mm512_shuffle_f32x4(r0, r2, 0xdd));
    v_store(p + 2 * VEC, _mm512_shuffle_f32x4(r1, r3, 0x88));
    v_store(p + 3 * VEC, _mm512_shuffle_f32x4(r1, r3, 0xdd));
}

/* Transposes the VEC x VEC block whose rows are r[0 .. VEC - 1]. */
TN_INLINE void v_transpose(vec r[VEC])
{
    vec s[VEC];
    /* 2 x 2 inside 128-bit lanes, then 4 x 4, then the lanes themselves */
#pragma GCC unroll 8
    for (int i = 0; i < VEC; i += 2) {
        s[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        s[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < VEC; i += 4) {
        r[i] = _mm512_shuffle_ps(s[i], s[i + 2], 0x44);
        r[i + 1] = _mm512_shuffle_ps(s[i], s[i + 2], 0xee);
        r[i + 2] = _mm512_shuffle_ps(s[i + 1], s[i + 3], 0x44);
        r[i + 3] = _mm512_shuffle_ps(s[i + 1], s[i + 3], 0xee);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        s[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
        s[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
        s[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
        s[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_f32x4(s[i], s[i + 8], 0x88);
        r[i + 8] = _mm512_shuffle_f32x4(s[i], s[i + 8], 0xdd);
        r[i + 4] = _mm512_shuffle_f32x4(s[i + 4], s[i + 12], 0x88);
        r[i + 12] = _mm512_shuffle_f32x4(s[i + 4], s[i + 12], 0xdd);
    }
}

#endif
