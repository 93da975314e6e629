/* Products of 4-bit blocks on AVX2: a block's sums of pairs fit 16 bits, 16 * 15 * 127 = 30480. */
#include "kernel/x86/vec_avx2.h"

#include <string.h>

typedef __m256i ivec;

enum { NIBBLE_ROWS = 2 };
#define NIBBLE_HEIGHTS(X, arg) X(1, arg) X(2, arg)

TN_INLINE ivec i_zero(void)
{
    return _mm256_setzero_si256();
}

TN_INLINE ivec i_set(int32_t word)
{
    return _mm256_set1_epi32(word);
}

TN_INLINE ivec i_load(const void *p)
{
    return _mm256_loadu_si256(p);
}

TN_INLINE ivec i_and(ivec a, ivec b)
{
    return _mm256_and_si256(a, b);
}

TN_INLINE ivec i_add(ivec a, ivec b)
{
    return _mm256_add_epi32(a, b);
}

TN_INLINE ivec i_mul(ivec a, ivec b)
{
    return _mm256_mullo_epi32(a, b);
}

TN_INLINE ivec i_halves(ivec a)
{
    return _mm256_srli_epi16(a, 4);
}

TN_INLINE ivec i_eighth(ivec a)
{
    return _mm256_srai_epi32(a, 3);
}

TN_INLINE ivec i_load_bytes(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
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

TN_INLINE uint32_t i_sum(ivec v)
{
    uint32_t lanes[VEC], sum = 0;
    _mm256_storeu_si256((__m256i *)(void *)lanes, v);
    for (int i = 0; i < VEC; i++) sum += lanes[i];
    return sum;
}

TN_INLINE ivec n_begin(ivec start)
{
    (void)start;
    return i_zero();
}

TN_INLINE ivec n_step(ivec sum, ivec unsigned_bytes, ivec signed_bytes)
{
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(unsigned_bytes, signed_bytes));
}

TN_INLINE ivec n_end(ivec sum, ivec start)
{
    return i_add(_mm256_madd_epi16(sum, _mm256_set1_epi16(1)), start);
}

#include "kernel/x86/nibbles_body.h"
