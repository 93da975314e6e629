/* Words of 32 bits on AVX2: what kernels over codes share. */
#ifndef TN_KERNEL_X86_WORDS_AVX2_H
#define TN_KERNEL_X86_WORDS_AVX2_H

#include "kernel/x86/vec_avx2.h"

#include <string.h>

typedef __m256i ivec;

TN_INLINE ivec i_set(int32_t word)
{
    return _mm256_set1_epi32(word);
}

TN_INLINE ivec i_load(const void *p)
{
    return _mm256_loadu_si256(p);
}

TN_INLINE ivec i_add(ivec a, ivec b)
{
    return _mm256_add_epi32(a, b);
}

TN_INLINE ivec i_mul(ivec a, ivec b)
{
    return _mm256_mullo_epi32(a, b);
}

TN_INLINE ivec i_of(vec v)
{
    return _mm256_cvtps_epi32(v);
}

TN_INLINE vec i_float(ivec v)
{
    return _mm256_cvtepi32_ps(v);
}

/* The lowest byte of each lane. */
TN_INLINE void i_store_bytes(uint8_t *p, ivec v)
{
    const __m256i first = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1,
                                           -1, -1, -1, -1);
    __m256i gathered = _mm256_shuffle_epi8(v, first);
    int32_t words[2] = {_mm256_extract_epi32(gathered, 0), _mm256_extract_epi32(gathered, 4)};
    memcpy(p, words, sizeof(words));
}

#endif
