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
#ifndef TN_KERNEL_X86_TILE_H
#define TN_KERNEL_X86_TILE_H

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

/* What happens to the sums on their way out; see struct tile. */
TN_INLINE void tile_finish(vec sum[TILE_ROWS][2], const struct tile *t, const int rows,
                           const int nv)
{
    if (t->bias) {
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) sum[i][v] = v_add(sum[i][v], v_load(t->bias + v * VEC));
        }
    }
    if (t->row_scale) {
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            vec scale = v_set(t->row_scale[i]);
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) sum[i][v] = v_mul(sum[i][v], scale);
        }
    }
}

TN_INLINE void tile_store(vec sum[TILE_ROWS][2], const struct tile *t, const int rows, const int nv)
{
    if (t->columns == (size_t)nv * VEC) {
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) v_store(t->y + i * t->y_stride + v * VEC, sum[i][v]);
        }
        return;
    }
    vtail tail = v_tail(t->columns - (size_t)(nv - 1) * VEC);
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
        float *y = t->y + (size_t)i * t->y_stride;
        if (nv == 2) v_store(y, sum[i][0]);
        v_store_tail(y + (nv - 1) * VEC, tail, sum[i][nv - 1]);
    }
}

/* total is read only when begin > 0, that is after the first tile_add has written it; gcc 14 does not see that. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define TILE(rows, nv)                                                                             \
    static void tile_##rows##x##nv(const struct tile *t)                                           \
    {                                                                                              \
        vec sum[TILE_ROWS][2];                                                                     \
        _Alignas(64) float total[rows * nv * VEC];                                                 \
        size_t begin = 0;                                                                          \
        for (; t->k - begin > TILE_CHUNK; begin += TILE_CHUNK) {                                   \
            tile_sums(sum, t, rows, nv, begin, begin + TILE_CHUNK);                                \
            tile_add(sum, total, begin == 0, rows, nv);                                            \
        }                                                                                          \
        tile_sums(sum, t, rows, nv, begin, t->k);                                                  \
        if (begin > 0) tile_add(sum, total, false, rows, nv);                                      \
        tile_finish(sum, t, rows, nv);                                                             \
        tile_store(sum, t, rows, nv);                                                              \
    }
TILE_HEIGHTS(TILE, 1)
TILE_HEIGHTS(TILE, 2)
#undef TILE
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#define TILE(rows, nv) tile_##rows##x##nv,
static tile_fn *const tiles[2][TILE_ROWS] = {{TILE_HEIGHTS(TILE, 1)}, {TILE_HEIGHTS(TILE, 2)}};
#undef TILE

#endif
