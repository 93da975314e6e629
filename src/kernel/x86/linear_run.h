/*
 * The driver of the linear layer: who does which part, and in which order memory is walked.
 *
 * Packed layer: the bias, padded with zeros to whole vectors, then panels of 2 VEC columns (the last
 * may be VEC wide), each [steps][columns] units of 32 bits: a float, or two bfloat16 of consecutive k.
 * One panel is one sequential stream, which is what memory delivers fastest when few rows share it.
 *
 * Order: blocks of rows small enough to stay in the L2 cache; within one all panels of this rank; for
 * each panel all tiles of the block. So a panel is fetched from far once per block, by its first
 * tile, and comes from L2 for the others.
 */
#ifndef TN_KERNEL_X86_LINEAR_RUN_H
#define TN_KERNEL_X86_LINEAR_RUN_H

#include "base/checked.h"
#include "kernel/x86/tile_args.h"

enum {
    X_BLOCK_BYTES = 256 << 10, /* rows of a block; the L2 caches of interest hold 512 KiB and more */
    NEAR_AHEAD = 512,
    FAR_AHEAD = 4096,          /* covers a DRAM latency of 0.1 us at 30 GB/s */
};

static inline size_t units_of(size_t k, enum tn_compute compute)
{
    return compute == TN_COMPUTE_BF16 ? k / 2 + k % 2 : k;
}

static inline bool padded_columns(size_t n, size_t *columns)
{
    return tn_round_up(n, VEC, columns);
}

/* Units of the bias in front of the panels, a multiple of 64 bytes. */
static inline size_t bias_units(size_t n)
{
    return (n + 15) / 16 * 16;
}

static inline size_t rows_per_block(size_t units)
{
    size_t rows = X_BLOCK_BYTES / sizeof(float) / units;
    return rows < TILE_ROWS ? TILE_ROWS : rows;
}

struct range {
    size_t begin, end;
};

/*
 * A grid of row shares by panel shares with the least work for the busiest rank. With equal work more
 * panel shares win: weights are then read once by the team instead of once by each member.
 */
static inline void linear_split(size_t rows, size_t panels, unsigned rank, unsigned size,
                                struct range *row, struct range *panel)
{
    unsigned best = size;
    size_t least = SIZE_MAX;
    for (unsigned across = size; across >= 1; across--) {
        if (size % across != 0) continue;
        unsigned down = size / across;
        size_t tiles = (rows + down - 1) / down;
        tiles = (tiles + TILE_ROWS - 1) / TILE_ROWS;
        size_t work = tiles * ((panels + across - 1) / across);
        if (work < least) {
            least = work;
            best = across;
        }
    }
    tn_share(rows, rank / best, size / best, &row->begin, &row->end);
    tn_share(panels, rank % best, best, &panel->begin, &panel->end);
}

/* One panel over one tile of rows, starting at row t of the call; xs are those rows' units. */
static inline void linear_tile(const struct tn_linear_args *a, tile_fn *const (*table)[TILE_ROWS],
                               const float *xs, size_t xs_stride, size_t t, size_t rows, size_t p,
                               const float *panel, bool first)
{
    const size_t n = a->layer->n, column = p * PANEL;
    float *y = a->y + t * a->y_stride + column;
    /* y may be the residual, so with one the sums go through a buffer */
    float buffer[TILE_ROWS * PANEL];
    struct tile tile = {
        .x = xs,
        .x_stride = xs_stride,
        .panel = panel,
        .k = units_of(a->layer->k, a->layer->compute),
        .y = a->residual ? buffer : y,
        .y_stride = a->residual ? PANEL : a->y_stride,
        .columns = panel_columns(n, p),
        .bias = (const float *)a->layer->packed + column,
        .prefetch = first ? FAR_AHEAD : NEAR_AHEAD,
    };
    table[panel_vectors(n, p) - 1][rows - 1](&tile);
    act_region(a->act, tile.y, tile.y_stride, rows, tile.columns);
    if (!a->residual) return;
    vtail tail = v_tail(tile.columns % VEC);
    for (size_t i = 0; i < rows; i++, y += a->y_stride) {
        const float *r = a->residual + (t + i) * a->residual_stride + column;
        size_t j = 0;
        for (; j + VEC <= tile.columns; j += VEC) {
            v_store(y + j, v_add(v_load(buffer + i * PANEL + j), v_load(r + j)));
        }
        if (j == tile.columns) continue;
        vec v = v_load_tail(buffer + i * PANEL + j, tail);
        v_store_tail(y + j, tail, v_add(v, v_load_tail(r + j, tail)));
    }
}

/* Turns rows of x into units; NULL when float32 rows are used where they stand. */
typedef void convert_rows_fn(const float *x, size_t x_stride, size_t rows, size_t k, float *units,
                             size_t unit_stride);

static inline void linear_run(const struct tn_linear_args *a, unsigned rank, unsigned size,
                              tile_fn *const (*table)[TILE_ROWS], convert_rows_fn *convert)
{
    const size_t n = a->layer->n, units = units_of(a->layer->k, a->layer->compute);
    const float *weights = (const float *)a->layer->packed + bias_units(n);
    struct range row, panel, block, tile;
    linear_split(a->rows, panel_count(n), rank, size, &row, &panel);
    if (row.begin == row.end || panel.begin == panel.end) return;
    size_t per_block = rows_per_block(units), count = row.end - row.begin;
    size_t blocks = (count + per_block - 1) / per_block;
    for (size_t b = 0; b < blocks; b++) {
        tn_share(count, (unsigned)b, (unsigned)blocks, &block.begin, &block.end);
        size_t rows = block.end - block.begin, first = row.begin + block.begin;
        size_t tiles_of_block = (rows + TILE_ROWS - 1) / TILE_ROWS;
        const float *xs = a->x + first * a->x_stride;
        size_t xs_stride = a->x_stride;
        if (convert) {
            float *scratch = (float *)(void *)((char *)a->scratch + rank * a->scratch_bytes);
            convert(xs, xs_stride, rows, a->layer->k, scratch, units);
            xs = scratch;
            xs_stride = units;
        }
        for (size_t p = panel.begin; p < panel.end; p++) {
            for (size_t i = 0; i < tiles_of_block; i++) {
                tn_share(rows, (unsigned)i, (unsigned)tiles_of_block, &tile.begin, &tile.end);
                linear_tile(a, table, xs + tile.begin * xs_stride, xs_stride, first + tile.begin,
                            tile.end - tile.begin, p, weights + p * PANEL * units, i == 0);
            }
        }
    }
}

#endif
