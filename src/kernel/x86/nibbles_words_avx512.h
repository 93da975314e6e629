/* Integer words of 512 bits for nibbles_body.h. */
#ifndef TN_KERNEL_X86_NIBBLES_WORDS_AVX512_H
#define TN_KERNEL_X86_NIBBLES_WORDS_AVX512_H

#include "kernel/x86/bytes_words_avx512.h"

/* Sums of a tile and of its current block, codes, rows' words and the mask fill the 32 registers. */
enum { NIBBLE_ROWS = 6 };
#define NIBBLE_HEIGHTS(X, arg) X(1, arg) X(2, arg) X(3, arg) X(4, arg) X(5, arg) X(6, arg)

TN_INLINE ivec i_and(ivec a, ivec b)
{
    return _mm512_and_si512(a, b);
}

TN_INLINE ivec i_add(ivec a, ivec b)
{
    return _mm512_add_epi32(a, b);
}

TN_INLINE ivec i_mul(ivec a, ivec b)
{
    return _mm512_mullo_epi32(a, b);
}

/* Each byte's high half comes into its low one; what comes into the other is masked. */
TN_INLINE ivec i_halves(ivec a)
{
    return _mm512_srli_epi16(a, 4);
}

/* Of multiples of 8. */
TN_INLINE ivec i_eighth(ivec a)
{
    return _mm512_srai_epi32(a, 3);
}

TN_INLINE ivec i_load_bytes(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}

TN_INLINE ivec i_of(vec v)
{
    return _mm512_cvtps_epi32(v);
}

TN_INLINE vec i_float(ivec v)
{
    return _mm512_cvtepi32_ps(v);
}

TN_INLINE void i_store_bytes(uint8_t *p, ivec v)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8(v));
}

TN_INLINE uint32_t i_sum(ivec v)
{
    __m256i h = _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    __m128i q = _mm_add_epi32(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
    q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(q, _mm_shuffle_epi32(q, 0xb1)));
}

#endif
