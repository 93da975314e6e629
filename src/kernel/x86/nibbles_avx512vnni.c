/* Products of 4-bit blocks on AVX-512 with VNNI. */
#include "kernel/x86/vec_avx512.h"

#undef TN_ISA
#define TN_ISA(name) tn_avx512vnni_##name

#include "kernel/x86/nibbles_words_avx512.h"

TN_INLINE ivec n_begin(ivec start)
{
    return start;
}

TN_INLINE ivec n_step(ivec sum, ivec unsigned_bytes, ivec signed_bytes)
{
    return _mm512_dpbusd_epi32(sum, unsigned_bytes, signed_bytes);
}

TN_INLINE ivec n_end(ivec sum, ivec start)
{
    (void)start;
    return sum;
}

#include "kernel/x86/nibbles_body.h"
