/* Peak of AVX2 with FMA, and the summing read loop. */
#include "kernel/peak.h"

#include <immintrin.h>

#define VECTOR __m256
#define CONSTRAINT "x"
#define STEP(sum, a, b) _mm256_fmadd_ps(sum, a, b)
#include "kernel/peak_body.h"

double bench_peak_avx2(unsigned turns)
{
    return run_chains(turns, _mm256_set1_ps(1.0f), _mm256_set1_ps(0.999f), _mm256_set1_ps(0.001f),
                      16.0);
}

double bench_read_sum(const float *p, size_t count)
{
    __m256 sum[4];
    for (int i = 0; i < 4; i++) sum[i] = _mm256_setzero_ps();
    for (size_t i = 0; i + 32 <= count; i += 32) {
        _mm_prefetch((const char *)(p + i) + 4096, _MM_HINT_T0);
        _mm_prefetch((const char *)(p + i) + 4160, _MM_HINT_T0);
        for (int j = 0; j < 4; j++) sum[j] = _mm256_add_ps(sum[j], _mm256_loadu_ps(p + i + 8 * j));
    }
    sum[0] = _mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3]));
    float lanes[8];
    _mm256_storeu_ps(lanes, sum[0]);
    return (double)lanes[0] + lanes[7];
}
