/*
 * The micro kernel: a tile of up to TILE_ROWS rows by one or two vectors of columns, all sums in
 * registers. A sum is the sum, in order, of partial sums of TILE_CHUNK steps, each of which starts
 * from zero and takes its steps in order, whatever the tile's height and wherever it stands; that is
 * what makes results independent of blocking. The chunks bound the rounding error, which grows with
 * the length of a chain: one chain over 3072 steps was twice as far from double precision as the
 * reference's blocked sums.
 *
 * Compiled for float32 products, and once more for bfloat16 pairs, where an element of x and a column
 * of the panel are 32-bit units of two bfloat16 and TILE_STEP is a dot product of pairs.
 *
 * The including file defines TILE_STEP(sum, x, w).
 */
#ifndef TN_KERNEL_X86_TILE_SUMS_H
#define TN_KERNEL_X86_TILE_SUMS_H

#include "kernel/x86/tile_args.h"

enum { TILE_CHUNK = 192 };

/* The partial sums of steps [begin, end). */
TN_INLINE void tile_sums(vec sum[TILE_ROWS][2], const struct tile *t, const int rows, const int nv,
                         const size_t begin, const size_t end)
{
    const float *x = t->x + begin, *w = t->panel + begin * (size_t)(nv * VEC);
    const size_t x_stride = t->x_stride;
    const ptrdiff_t ahead = t->prefetch;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) sum[i][v] = v_zero();
    }
    for (size_t step = begin; step < end; step++, x++, w += nv * VEC) {
        vec column[2];
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) {
            column[v] = v_load(w + v * VEC);
            _mm_prefetch((const char *)(w + v * VEC) + ahead, _MM_HINT_T0);
        }
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            vec element = v_set(x[(size_t)i * x_stride]);
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) sum[i][v] = TILE_STEP(sum[i][v], element, column[v]);
        }
    }
}

/* total (or nothing, for the first chunk) + sum, into both. */
TN_INLINE void tile_add(vec sum[TILE_ROWS][2], float *total, const bool first, const int rows, const int nv)
{
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) {
            float *at = total + (i * nv + v) * VEC;
            if (!first) sum[i][v] = v_add(v_load(at), sum[i][v]);
            v_store(at, sum[i][v]);
        }
    }
}

#endif
