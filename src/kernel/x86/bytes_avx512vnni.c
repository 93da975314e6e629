/* Products of bytes on AVX-512 with VNNI (the flags of _avx512 and -mavx512vnni): four products and their sum in one step. */
#include "kernel/x86/vec_avx512.h"

#undef TN_ISA
#define TN_ISA(name) tn_avx512vnni_##name

#include "kernel/x86/bytes_words_avx512.h"

TN_INLINE ivec i_dot(ivec sum, ivec unsigned_bytes, ivec signed_bytes)
{
    return _mm512_dpbusd_epi32(sum, unsigned_bytes, signed_bytes);
}

#include "kernel/x86/bytes_body.h"
