/*
 * The tiles of linear layers: the sums of tile_sums.h, a bias and a factor for each row, and the way out. The including file
 * defines TILE_STEP(sum, x, w).
 */
#ifndef TN_KERNEL_X86_TILE_H
#define TN_KERNEL_X86_TILE_H

#include "kernel/x86/tile_sums.h"

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
