/* Clock and peaks; see peak.h. */
#include "kernel/peak.h"

#include <string.h>
#include <time.h>

double bench_now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double flops_of(const struct tn_kernels *kernels, enum tn_compute compute, unsigned turns)
{
#if defined(__x86_64__)
    if (strcmp(kernels->name, "avx512") == 0) {
        return compute == TN_COMPUTE_BF16 ? bench_peak_avx512bf16(turns) : bench_peak_avx512(turns);
    }
    if (strcmp(kernels->name, "avx2") == 0) return bench_peak_avx2(turns);
#endif
    (void)kernels, (void)compute, (void)turns;
    return 0.0;
}

double bench_gemm_peak(const struct tn_kernels *kernels, enum tn_compute compute)
{
    double best = 0.0;
    for (int run = 0; run < 12; run++) {
        double start = bench_now(), flops = flops_of(kernels, compute, 100000);
        double rate = flops / (bench_now() - start) * 1e-9;
        if (rate > best) best = rate;
    }
    return best;
}

double bench_read_rate(const void *p, size_t bytes)
{
#if defined(__x86_64__)
    double best = 0.0;
    for (int run = 0; run < 5; run++) {
        double start = bench_now();
        volatile double sum = bench_read_sum(p, bytes / sizeof(float));
        (void)sum;
        double rate = (double)bytes / (bench_now() - start) * 1e-9;
        if (rate > best) best = rate;
    }
    return best;
#else
    (void)p, (void)bytes;
    return 0.0;
#endif
}
