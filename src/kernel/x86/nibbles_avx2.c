/* Products of 4-bit blocks on AVX2: a block's sums of pairs fit 16 bits, 16 * 15 * 127 = 30480. */
#include "kernel/x86/words_avx2.h"

enum { NIBBLE_ROWS = 2 };
#define NIBBLE_HEIGHTS(X, arg) X(1, arg) X(2, arg)

TN_INLINE ivec i_zero(void)
{
    return _mm256_setzero_si256();
}

TN_INLINE ivec i_and(ivec a, ivec b)
{
    return _mm256_and_si256(a, b);
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
