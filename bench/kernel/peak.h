/*
 * The machine's own limits, measured in the same minute as what is compared with them: products per
 * second from registers, and bytes per second from memory.
 */
#ifndef TN_BENCH_PEAK_H
#define TN_BENCH_PEAK_H

#include "kernel/kernel.h"

/* Seconds since an arbitrary start. */
double bench_now(void);

/* GF/s of one thread (a multiply-add counts two): the best of a few short runs of independent fused
 * multiply-adds on the widest vectors of the table `kernels`; 0 where the table is "ref". */
double bench_gemm_peak(const struct tn_kernels *kernels, enum tn_compute compute);

/* GB/s of one thread that adds up `bytes` bytes at p, at least 1 MiB. */
double bench_read_rate(const void *p, size_t bytes);

/* The loops behind bench_gemm_peak: `turns` rounds of 12 instructions; the flops done are returned. */
double bench_peak_avx2(unsigned turns);
double bench_peak_avx512(unsigned turns);
double bench_peak_avx512bf16(unsigned turns);
double bench_read_sum(const float *p, size_t count);

#endif
