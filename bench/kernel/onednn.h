/* oneDNN as the speed to reach; only compiled with -DTN_BENCH_ONEDNN (library of the 2.x series). */
#ifndef TN_BENCH_ONEDNN_H
#define TN_BENCH_ONEDNN_H

#include <stdbool.h>
#include <stddef.h>

/* GF/s of a matrix product with weights packed in the layout it prefers; 0 when it refuses. The number
 * of threads is the environment's: run with OMP_NUM_THREADS=1. */
double bench_onednn(size_t m, size_t n, size_t k, bool bf16);

#endif
