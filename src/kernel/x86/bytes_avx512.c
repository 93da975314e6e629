/*
 * Products of bytes on AVX-512 without VNNI. Bytes are widened to 16 bits, even and odd ones apart, so that sums of two
 * products are exact; the instruction that multiplies bytes would saturate.
 */
#include "kernel/x86/vec_avx512.h"

#include "kernel/x86/bytes_words_avx512.h"

TN_INLINE ivec i_dot(ivec sum, ivec unsigned_bytes, ivec signed_bytes)
{
    ivec even = _mm512_madd_epi16(_mm512_and_si512(unsigned_bytes, _mm512_set1_epi16(0xff)),
                                  _mm512_srai_epi16(_mm512_slli_epi16(signed_bytes, 8), 8));
    ivec odd = _mm512_madd_epi16(_mm512_srli_epi16(unsigned_bytes, 8), _mm512_srai_epi16(signed_bytes, 8));
    return _mm512_add_epi32(sum, _mm512_add_epi32(even, odd));
}

#include "kernel/x86/bytes_body.h"
