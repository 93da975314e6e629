/* Peak of AVX-512 in float32. */
#include "kernel/peak.h"

#include <immintrin.h>

#define VECTOR __m512
#define CONSTRAINT "v"
#define STEP(sum, a, b) _mm512_fmadd_ps(sum, a, b)
#include "kernel/peak_body.h"

double bench_peak_avx512(unsigned turns)
{
    return run_chains(turns, _mm512_set1_ps(1.0f), _mm512_set1_ps(0.999f), _mm512_set1_ps(0.001f),
                      32.0);
}
