/* Integer words of 512 bits for bytes_body.h. */
#ifndef TN_KERNEL_X86_BYTES_WORDS_AVX512_H
#define TN_KERNEL_X86_BYTES_WORDS_AVX512_H

typedef __m512i ivec;

TN_INLINE ivec i_zero(void)
{
    return _mm512_setzero_si512();
}

TN_INLINE ivec i_set(int32_t word)
{
    return _mm512_set1_epi32(word);
}

TN_INLINE ivec i_load(const void *p)
{
    return _mm512_loadu_si512(p);
}

TN_INLINE void i_store(void *p, ivec v)
{
    _mm512_storeu_si512(p, v);
}

#endif
