/* Peak of AVX-512 in bfloat16 pairs. */
#include "kernel/peak.h"

#include <immintrin.h>

#define VECTOR __m512
#define CONSTRAINT "v"
#define STEP(sum, a, b) _mm512_dpbf16_ps(sum, (__m512bh)(a), (__m512bh)(b))
#include "kernel/peak_body.h"

double bench_peak_avx512bf16(unsigned turns)
{
    __m512 one = (__m512)_mm512_set1_epi32(0x3f803f80), small = (__m512)_mm512_set1_epi32(0x3a803a80);
    return run_chains(turns, _mm512_setzero_ps(), one, small, 64.0);
}
