/* Products of bytes on AVX2 (-mavx2): widened to 16 bits, even and odd bytes apart, as on AVX-512 without VNNI. */
#include "kernel/x86/vec_avx2.h"

typedef __m256i ivec;

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

TN_INLINE void i_store(void *p, ivec v)
{
    _mm256_storeu_si256(p, v);
}

TN_INLINE ivec i_dot(ivec sum, ivec unsigned_bytes, ivec signed_bytes)
{
    ivec even = _mm256_madd_epi16(_mm256_and_si256(unsigned_bytes, _mm256_set1_epi16(0xff)),
                                  _mm256_srai_epi16(_mm256_slli_epi16(signed_bytes, 8), 8));
    ivec odd = _mm256_madd_epi16(_mm256_srli_epi16(unsigned_bytes, 8), _mm256_srai_epi16(signed_bytes, 8));
    return _mm256_add_epi32(sum, _mm256_add_epi32(even, odd));
}

#include "kernel/x86/bytes_body.h"
