/*
 * The driver of the pooled linear layer: blocks of rows as in linear_run.h, but what a tile gives is taken into the rows of
 * the result at once. Ranks share the panels, so that a column's rows are met in order by one of them. A tile may hold rows
 * of several sequences: where one ends does not show in a row's own numbers.
 */
#ifndef TN_KERNEL_X86_LINEAR_POOL_RUN_H
#define TN_KERNEL_X86_LINEAR_POOL_RUN_H

#include "kernel/x86/linear_run.h"

#include <math.h>
#include <string.h>

/* f of kernel.h for z > 0, which few are. */
static inline float pool_value(float z, bool twice)
{
    float y = log1pf(z);
    return twice ? log1pf(y) : y;
}

/* A NaN once met stays. */
static inline void take_largest(const float *z, float *y, size_t columns)
{
    for (size_t j = 0; j < columns; j += VEC) {
        vtail tail = v_tail(columns - j < VEC ? columns - j : VEC);
        vec old = v_load_tail(y + j, tail), larger = v_max(old, v_load_tail(z + j, tail));
        v_store_tail(y + j, tail, v_select(v_is_nan(old), old, larger));
    }
}

static inline void take_sum(const float *z, float *y, size_t columns, bool twice)
{
    for (size_t j = 0; j < columns; j++)
        if (!(z[j] <= 0.0f)) y[j] += pool_value(z[j], twice);
}

static inline size_t span_end(const struct tn_linear_pool_args *a, size_t s)
{
    return (size_t)a->spans[s].first + (size_t)a->spans[s].count;
}

/* Rows t .. t + rows - 1 of panel p into their sequences, of which *s is the first that may have them. */
static inline void pool_tile(const struct tn_linear_pool_args *a, tile_fn *const (*table)[TILE_ROWS], const float *xs,
                             size_t xs_stride, size_t t, size_t rows, size_t p, const float *panel, bool first, size_t *s)
{
    const size_t n = a->layer->n, column = p * PANEL;
    float z[TILE_ROWS * PANEL];
    struct tile tile = {
        .x = xs,
        .x_stride = xs_stride,
        .panel = panel,
        .k = units_of(a->layer->k, a->layer->compute),
        .y = z,
        .y_stride = PANEL,
        .columns = panel_columns(n, p),
        .bias = (const float *)a->layer->packed + column,
        .prefetch = first ? FAR_AHEAD : NEAR_AHEAD,
    };
    table[panel_vectors(n, p) - 1][rows - 1](&tile);
    for (size_t r = 0; r < rows; r++) {
        while (*s < a->sequences && t + r >= span_end(a, *s)) ++*s;
        if (*s == a->sequences || t + r < (size_t)a->spans[*s].first) continue;
        float *y = a->y + (size_t)a->to[*s] * a->y_stride + column;
        if (a->sum) take_sum(z + r * PANEL, y, tile.columns, a->twice);
        else take_largest(z + r * PANEL, y, tile.columns);
    }
}

static inline void linear_pool_run(const struct tn_linear_pool_args *a, unsigned rank, unsigned size,
                                   tile_fn *const (*table)[TILE_ROWS], convert_rows_fn *convert)
{
    const size_t n = a->layer->n, units = units_of(a->layer->k, a->layer->compute);
    const float *weights = (const float *)a->layer->packed + bias_units(n);
    struct range panel, block, tile;
    tn_share(panel_count(n), rank, size, &panel.begin, &panel.end);
    const size_t begin = panel.begin * PANEL, end = panel.end * PANEL < n ? panel.end * PANEL : n;
    if (begin >= end) return;
    for (size_t s = 0; s < a->sequences; s++)
        memset(a->y + (size_t)a->to[s] * a->y_stride + begin, 0, (end - begin) * sizeof(float));
    size_t per_block = rows_per_block(units), blocks = (a->rows + per_block - 1) / per_block, first_sequence = 0;
    for (size_t b = 0; b < blocks; b++) {
        tn_share(a->rows, (unsigned)b, (unsigned)blocks, &block.begin, &block.end);
        size_t rows = block.end - block.begin, tiles_of_block = (rows + TILE_ROWS - 1) / TILE_ROWS;
        const float *xs = a->x + block.begin * a->x_stride;
        size_t xs_stride = a->x_stride;
        if (convert) {
            float *scratch = (float *)(void *)((char *)a->scratch + rank * a->scratch_bytes);
            convert(xs, xs_stride, rows, a->layer->k, scratch, units);
            xs = scratch;
            xs_stride = units;
        }
        while (first_sequence < a->sequences && block.begin >= span_end(a, first_sequence)) first_sequence++;
        for (size_t p = panel.begin; p < panel.end; p++) {
            size_t s = first_sequence;
            for (size_t i = 0; i < tiles_of_block; i++) {
                tn_share(rows, (unsigned)i, (unsigned)tiles_of_block, &tile.begin, &tile.end);
                pool_tile(a, table, xs + tile.begin * xs_stride, xs_stride, block.begin + tile.begin, tile.end - tile.begin, p,
                          weights + p * PANEL * units, i == 0, &s);
            }
        }
    }
    for (size_t s = 0; !a->sum && s < a->sequences; s++) {
        float *y = a->y + (size_t)a->to[s] * a->y_stride;
        for (size_t j = begin; j < end; j++)
            if (!(y[j] <= 0.0f)) y[j] = pool_value(y[j], a->twice);
    }
}

#endif
