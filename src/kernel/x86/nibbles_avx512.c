/* Products of 4-bit blocks on AVX-512 without VNNI: a block's sums of pairs fit 16 bits, 16 * 15 * 127 = 30480. */
#include "kernel/x86/vec_avx512.h"

#include "kernel/x86/nibbles_words_avx512.h"

TN_INLINE ivec n_begin(ivec start)
{
    (void)start;
    return i_zero();
}

TN_INLINE ivec n_step(ivec sum, ivec unsigned_bytes, ivec signed_bytes)
{
    return _mm512_add_epi16(sum, _mm512_maddubs_epi16(unsigned_bytes, signed_bytes));
}

TN_INLINE ivec n_end(ivec sum, ivec start)
{
    return i_add(_mm512_madd_epi16(sum, _mm512_set1_epi16(1)), start);
}

#include "kernel/x86/nibbles_body.h"
