/* Codes on AVX-512. */
#include "kernel/x86/vec_avx512.h"

#include "kernel/x86/bytes_words_avx512.h"

TN_INLINE ivec i_add(ivec a, ivec b)
{
    return _mm512_add_epi32(a, b);
}

TN_INLINE ivec i_mul(ivec a, ivec b)
{
    return _mm512_mullo_epi32(a, b);
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

#include "kernel/x86/codes_body.h"
