/*
 * The vector vocabulary on AVX2 with FMA and F16C; see vec_avx512.h, whose contracts hold here too.
 */
#ifndef TN_KERNEL_X86_VEC_H
#define TN_KERNEL_X86_VEC_H

#include "kernel/kernel.h"

#include <immintrin.h>

#define TN_ISA(name) tn_avx2_##name
#define TN_INLINE static inline __attribute__((always_inline))

#define TILE_HEIGHTS(X, arg) X(1, arg) X(2, arg) X(3, arg) X(4, arg) X(5, arg) X(6, arg)

typedef __m256 vec;
typedef __m256 vmask;
typedef __m256i vtail;

enum {
    VEC = 8,
    TILE_ROWS = 6, /* 6 x 2 sums, 2 weights and 1 broadcast of the 16 registers */
};

TN_INLINE vec v_set(float x)
{
    return _mm256_set1_ps(x);
}

TN_INLINE vec v_zero(void)
{
    return _mm256_setzero_ps();
}

TN_INLINE vec v_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

TN_INLINE vec v_hold(vec v)
{
    __asm__("" : "+x"(v));
    return v;
}

TN_INLINE void v_store(float *p, vec v)
{
    _mm256_storeu_ps(p, v);
}

TN_INLINE vtail v_tail(size_t n)
{
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n >= VEC ? VEC : (int)n), lane);
}

TN_INLINE vec v_load_tail(const float *p, vtail t)
{
    return _mm256_maskload_ps(p, t);
}

TN_INLINE void v_store_tail(float *p, vtail t, vec v)
{
    _mm256_maskstore_ps(p, t, v);
}

TN_INLINE vec v_blend_tail(vtail t, vec v, vec rest)
{
    return _mm256_blendv_ps(rest, v, _mm256_castsi256_ps(t));
}

TN_INLINE vec v_add(vec a, vec b)
{
    return _mm256_add_ps(a, b);
}

TN_INLINE vec v_sub(vec a, vec b)
{
    return _mm256_sub_ps(a, b);
}

TN_INLINE vec v_mul(vec a, vec b)
{
    return _mm256_mul_ps(a, b);
}

TN_INLINE vec v_div(vec a, vec b)
{
    return _mm256_div_ps(a, b);
}

TN_INLINE vec v_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}

TN_INLINE vec v_fnma(vec a, vec b, vec c)
{
    return _mm256_fnmadd_ps(a, b, c);
}

TN_INLINE vec v_max(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}

TN_INLINE vec v_min(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}

TN_INLINE vec v_abs(vec a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

TN_INLINE vec v_copysign(vec magnitude, vec sign)
{
    return _mm256_or_ps(v_abs(magnitude), _mm256_and_ps(sign, _mm256_set1_ps(-0.0f)));
}

TN_INLINE vmask v_less(vec a, vec b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}

TN_INLINE vmask v_is_nan(vec a)
{
    return _mm256_cmp_ps(a, a, _CMP_UNORD_Q);
}

TN_INLINE vec v_select(vmask m, vec a, vec b)
{
    return _mm256_blendv_ps(b, a, m);
}

TN_INLINE vec v_round(vec a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* 2^n for an integral n in -126 .. 127, by the exponent field. */
TN_INLINE vec v_power_of_two(__m256i n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

/* In two steps, because 2^n itself may lie outside of float; the first one is exact for a near 1. */
TN_INLINE vec v_scale(vec a, vec n)
{
    __m256i whole = _mm256_cvtps_epi32(n);
    __m256i half = _mm256_srai_epi32(whole, 1);
    vec first = _mm256_mul_ps(a, v_power_of_two(half));
    return _mm256_mul_ps(first, v_power_of_two(_mm256_sub_epi32(whole, half)));
}

TN_INLINE bool v_any_nonfinite(vec a)
{
    __m256i exponent = _mm256_and_si256(_mm256_castps_si256(a), _mm256_set1_epi32(0x7f800000));
    __m256i full = _mm256_cmpeq_epi32(exponent, _mm256_set1_epi32(0x7f800000));
    return _mm256_movemask_ps(_mm256_castsi256_ps(full)) != 0;
}

TN_INLINE float v_sum(vec a)
{
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_shuffle_ps(q, q, 1)));
}

TN_INLINE float v_largest(vec a)
{
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_shuffle_ps(q, q, 1)));
}

TN_INLINE vec v_lookup(const float table[16], vec index)
{
    __m256i n = _mm256_castps_si256(index); /* permutes look at three bits, the blend at bit 3 */
    vec low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), n);
    vec high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), n);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(n, 28)));
}

TN_INLINE vec v_load_f16(const void *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

TN_INLINE vec v_load_bf16(const void *p)
{
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

/* VEC bytes minus a number, as floats. */
TN_INLINE vec v_load_u8(const void *p, int zero)
{
    __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(wide, _mm256_set1_epi32(zero)));
}

TN_INLINE vec v_load_i8(const void *p, int zero)
{
    __m256i wide = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(wide, _mm256_set1_epi32(zero)));
}

TN_INLINE void v_store_f16(void *p, vec v)
{
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

TN_INLINE void v_store_bf16(void *p, vec v)
{
    __m256i u = _mm256_castps_si256(v);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    __m256i up = _mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    __m256i quiet = _mm256_or_si256(u, _mm256_set1_epi32(0x400000));
    __m256i r = _mm256_castps_si256(
        v_select(v_is_nan(v), _mm256_castsi256_ps(quiet), _mm256_castsi256_ps(up)));
    r = _mm256_srli_epi32(r, 16);
    __m128i low = _mm256_castsi256_si128(r), high = _mm256_extracti128_si256(r, 1);
    _mm_storeu_si128((__m128i *)p, _mm_packus_epi32(low, high));
}

/* In each 128-bit lane the 4 x 4 block whose rows are the four vectors, transposed. */
TN_INLINE void v_transpose4(vec r[4])
{
    vec a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
    vec c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
    r[0] = _mm256_shuffle_ps(a, c, 0x44);
    r[1] = _mm256_shuffle_ps(a, c, 0xee);
    r[2] = _mm256_shuffle_ps(b, d, 0x44);
    r[3] = _mm256_shuffle_ps(b, d, 0xee);
}

/* Lanes 1, 2 ... of a, then lane 0 of b. */
TN_INLINE vec v_follow(vec a, vec b)
{
    vec turned = _mm256_permutevar8x32_ps(_mm256_blend_ps(a, b, 1), _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0));
    return turned;
}

TN_INLINE float v_first(vec a)
{
    return _mm256_cvtss_f32(a);
}

typedef __m128 vhalf;

TN_INLINE vhalf h_zero(void)
{
    return _mm_setzero_ps();
}

TN_INLINE vhalf h_load(const float *p)
{
    return _mm_loadu_ps(p);
}

TN_INLINE void h_store(float *p, vhalf v)
{
    _mm_storeu_ps(p, v);
}

TN_INLINE vhalf h_fma(vhalf a, vhalf b, vhalf c)
{
    return _mm_fmadd_ps(a, b, c);
}

TN_INLINE vhalf h_low(vec a)
{
    return _mm256_castps256_ps128(a);
}

TN_INLINE vec h_widen(vhalf a)
{
    return _mm256_castps128_ps256(a);
}

/* Even and odd elements of the 2 VEC at p. */
TN_INLINE void v_split2(const float *p, vec out[2])
{
    vec a = v_load(p), b = v_load(p + VEC);
    vec low = _mm256_permute2f128_ps(a, b, 0x20), high = _mm256_permute2f128_ps(a, b, 0x31);
    out[0] = _mm256_shuffle_ps(low, high, 0x88);
    out[1] = _mm256_shuffle_ps(low, high, 0xdd);
}

/* out[j] = elements j, j + 4, j + 8 ... of the 4 VEC at p. */
TN_INLINE void v_split4(const float *p, vec out[4])
{
    vec a = v_load(p), b = v_load(p + VEC), c = v_load(p + 2 * VEC), d = v_load(p + 3 * VEC);
    out[0] = _mm256_permute2f128_ps(a, c, 0x20);
    out[1] = _mm256_permute2f128_ps(a, c, 0x31);
    out[2] = _mm256_permute2f128_ps(b, d, 0x20);
    out[3] = _mm256_permute2f128_ps(b, d, 0x31);
    v_transpose4(out);
}

/* The other way round. */
TN_INLINE void v_join4(const vec in[4], float *p)
{
    vec q[4] = {in[0], in[1], in[2], in[3]};
    v_transpose4(q);
    v_store(p, _mm256_permute2f128_ps(q[0], q[1], 0x20));
    v_store(p + VEC, _mm256_permute2f128_ps(q[2], q[3], 0x20));
    v_store(p + 2 * VEC, _mm256_permute2f128_ps(q[0], q[1], 0x31));
    v_store(p + 3 * VEC, _mm256_permute2f128_ps(q[2], q[3], 0x31));
}

TN_INLINE void v_transpose(vec r[VEC])
{
    vec s[VEC];
#pragma GCC unroll 4
    for (int i = 0; i < VEC; i += 2) {
        s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < VEC; i += 4) {
        r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xee);
        r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xee);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        s[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
        s[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
    }
#pragma GCC unroll 8
    for (int i = 0; i < VEC; i++) r[i] = s[i];
}

#endif
