/*
 * Products of bytes, for one instruction set. A 32-bit lane holds four bytes of k; one step multiplies the four of a row
 * with the four of each column. Integers: the order of sums does not matter, so tiles may be cut as suits.
 *
 * The including file defines ivec, the i_ words and i_dot(sum, unsigned bytes, signed bytes).
 */
#include "base/checked.h"
#include "kernel/x86/tile_args.h"
#include "kernel/x86/x86.h"

#include <string.h>

/* ---- packing ------------------------------------------------------------------------------------------------------ */

static size_t steps_of(size_t k)
{
    return k / 4 + (k % 4 != 0);
}

/* Words of the columns' sums in front of the panels, a multiple of 64 bytes. */
static size_t sum_words(size_t n)
{
    return (n + 15) / 16 * 16;
}

bool TN_ISA(bytes_pack_size)(size_t n, size_t k, size_t *bytes)
{
    size_t columns, words, sums;
    if (k > SIZE_MAX - 4 || !tn_round_up(n, VEC, &columns) || !tn_round_up(n, 16, &sums)) return false;
    return tn_mul(columns, steps_of(k), &words) && tn_add(words, sums, &words) && tn_mul(words, 4, &words) && tn_round_up(words, 64, bytes);
}

void TN_ISA(bytes_pack)(const int8_t *b, size_t k_stride, size_t n_stride, size_t n, size_t k, bool turn, void *packed,
                        unsigned rank, unsigned size)
{
    int32_t *sums = packed;
    const size_t steps = steps_of(k);
    const uint8_t flip = turn ? 0x80 : 0;
    size_t begin, end;
    tn_share(panel_count(n), rank, size, &begin, &end);
    for (size_t p = begin; p < end; p++) {
        size_t width = (size_t)panel_vectors(n, p) * VEC;
        uint8_t *to = (uint8_t *)(sums + sum_words(n)) + p * PANEL * steps * 4;
        memset(to, 0, width * steps * 4);
        for (size_t i = 0; i < panel_columns(n, p); i++) {
            const uint8_t *from = (const uint8_t *)b + (p * PANEL + i) * n_stride;
            int32_t sum = 0;
            for (size_t j = 0; j < k; j++) {
                uint8_t v = from[j * k_stride] ^ flip;
                to[(j / 4 * width + i) * 4 + j % 4] = v;
                sum += (int8_t)v;
            }
            sums[p * PANEL + i] = sum;
        }
    }
}

/* ---- tiles -------------------------------------------------------------------------------------------------------- */

struct byte_tile {
    const uint8_t *a; /* rows of bytes, a_stride apart */
    size_t a_stride;
    const uint8_t *panel; /* [steps][vectors] */
    size_t steps;
    int32_t *sums;
    size_t sums_stride, columns;
};

TN_INLINE void store_sums(ivec sum[TILE_ROWS][2], int32_t *to, size_t stride, size_t columns, const int rows, const int nv)
{
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++, to += stride) {
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) {
            if (columns >= (size_t)(v + 1) * VEC) {
                i_store(to + v * VEC, sum[i][v]);
            } else if (columns > (size_t)v * VEC) {
                int32_t part[VEC];
                i_store(part, sum[i][v]);
                memcpy(to + v * VEC, part, (columns - (size_t)v * VEC) * sizeof(*to));
            }
        }
    }
}

static inline int32_t word_at(const uint8_t *p)
{
    int32_t w;
    memcpy(&w, p, sizeof(w));
    return w;
}

TN_INLINE void byte_tile(const struct byte_tile *t, const int rows, const int nv)
{
    ivec sum[TILE_ROWS][2];
    const uint8_t *a = t->a, *panel = t->panel;
    const size_t stride = t->a_stride;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) sum[i][v] = i_zero();
    }
    for (size_t step = 0; step < t->steps; step++, a += 4, panel += nv * VEC * 4) {
        ivec column[2];
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) {
            column[v] = i_load(panel + v * VEC * 4);
            _mm_prefetch((const char *)panel + v * VEC * 4 + 4096, _MM_HINT_T0);
        }
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            ivec element = i_set(word_at(a + (size_t)i * stride));
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) sum[i][v] = i_dot(sum[i][v], element, column[v]);
        }
    }
    store_sums(sum, t->sums, t->sums_stride, t->columns, rows, nv);
}

typedef void byte_tile_fn(const struct byte_tile *t);
#define TILE(rows, nv)                                                                             \
    static void byte_tile_##rows##x##nv(const struct byte_tile *t)                                 \
    {                                                                                              \
        byte_tile(t, rows, nv);                                                                    \
    }
TILE_HEIGHTS(TILE, 1)
TILE_HEIGHTS(TILE, 2)
#undef TILE
#define TILE(rows, nv) byte_tile_##rows##x##nv,
static byte_tile_fn *const byte_tiles[2][TILE_ROWS] = {{TILE_HEIGHTS(TILE, 1)}, {TILE_HEIGHTS(TILE, 2)}};
#undef TILE

enum { A_BLOCK_BYTES = 256 << 10 };

/* Blocks of rows that stay in the L2 cache; within one each panel is read once for all its tiles. */
static void bytes_part(const struct tn_bytes_args *a, size_t row, size_t rows, size_t first, size_t last)
{
    const size_t steps = steps_of(a->k);
    const uint8_t *panels = (const uint8_t *)((const int32_t *)a->packed + sum_words(a->n));
    size_t block = A_BLOCK_BYTES / (steps * 4 + 1) / TILE_ROWS * TILE_ROWS;
    if (block == 0) block = TILE_ROWS;
    for (size_t begin = 0; begin < rows; begin += block) {
        size_t count = rows - begin < block ? rows - begin : block, tiles = (count + TILE_ROWS - 1) / TILE_ROWS, t0, t1;
        for (size_t p = first; p < last; p++) {
            for (size_t i = 0; i < tiles; i++) {
                tn_share(count, (unsigned)i, (unsigned)tiles, &t0, &t1);
                size_t at = row + begin + t0;
                struct byte_tile tile = {.a = a->a + at * a->a_stride, .a_stride = a->a_stride, .panel = panels + p * PANEL * steps * 4, .steps = steps,
                                         .sums = a->sums + at * a->sums_stride + p * PANEL, .sums_stride = a->sums_stride, .columns = panel_columns(a->n, p)};
                byte_tiles[panel_vectors(a->n, p) - 1][t1 - t0 - 1](&tile);
            }
        }
    }
}

/* Many rows are shared out by rows, few by columns. */
void TN_ISA(bytes)(const struct tn_bytes_args *a, unsigned rank, unsigned size)
{
    size_t begin, end, panels = panel_count(a->n);
    if (a->rows >= (size_t)size * TILE_ROWS * 2) {
        tn_share(a->rows, rank, size, &begin, &end);
        if (begin < end) bytes_part(a, begin, end - begin, 0, panels);
    } else {
        tn_share(panels, rank, size, &begin, &end);
        if (a->rows) bytes_part(a, 0, a->rows, begin, end);
    }
}

/* ---- windows ------------------------------------------------------------------------------------------------------ */

/* Weights are packed by groups of maps, tile_maps each but the last ones, [quads][taps][maps of the group] words. */
static size_t map_groups(size_t maps)
{
    return (maps + TILE_ROWS - 1) / TILE_ROWS;
}

bool TN_ISA(bytes_window_pack_size)(size_t maps, size_t quads, size_t taps, size_t *bytes)
{
    size_t count;
    return tn_mul(maps, quads, &count) && tn_mul(count, taps, &count) && tn_mul(count, 4, &count) && tn_round_up(count, 64, bytes);
}

void TN_ISA(bytes_window_pack)(const int8_t *w, size_t maps, size_t quads, size_t taps, void *packed)
{
    int8_t *to = packed;
    size_t groups = map_groups(maps), begin, end;
    for (size_t g = 0; g < groups; g++) {
        tn_share(maps, (unsigned)g, (unsigned)groups, &begin, &end);
        const size_t wide = (end - begin) * 4;
        for (size_t m = begin; m < end; m++) {
            int8_t *word = to + (m - begin) * 4;
            const int8_t *from = w + m * quads * 4 * taps;
            for (size_t q = 0; q < quads; q++, from += 4 * taps) {
                for (size_t t = 0; t < taps; t++, word += wide) {
                    const int8_t four[4] = {from[t], from[taps + t], from[2 * taps + t], from[3 * taps + t]};
                    memcpy(word, four, 4);
                }
            }
        }
        to += wide * quads * taps;
    }
}

struct window_tile {
    const struct tn_bytes_window_args *a;
    const uint8_t *x; /* of the tile's first position */
    const uint8_t *weights;
    int32_t *sums;
    size_t columns;
};

TN_INLINE void window_tile(const struct window_tile *t, const int rows, const int nv)
{
    ivec sum[TILE_ROWS][2];
    const struct tn_bytes_window_args *a = t->a;
    const uint8_t *w = t->weights, *x = t->x;
    const size_t taps = a->taps;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) sum[i][v] = i_zero();
    }
    for (size_t q = 0; q < a->quads; q++, x += a->plane * 4) {
        for (size_t tap = 0; tap < taps; tap++, w += rows * 4) {
            ivec column[2];
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) column[v] = i_load(x + (a->offset[tap] + (size_t)v * VEC) * 4);
#pragma GCC unroll 12
            for (int i = 0; i < rows; i++) {
                ivec element = i_set(word_at(w + i * 4));
#pragma GCC unroll 2
                for (int v = 0; v < nv; v++) sum[i][v] = i_dot(sum[i][v], column[v], element);
            }
        }
    }
    store_sums(sum, t->sums, a->sums_stride, t->columns, rows, nv);
}

typedef void window_tile_fn(const struct window_tile *t);
#define TILE(rows, nv)                                                                             \
    static void window_tile_##rows##x##nv(const struct window_tile *t)                             \
    {                                                                                              \
        window_tile(t, rows, nv);                                                                  \
    }
TILE_HEIGHTS(TILE, 1)
TILE_HEIGHTS(TILE, 2)
#undef TILE
#define TILE(rows, nv) window_tile_##rows##x##nv,
static window_tile_fn *const window_tiles[2][TILE_ROWS] = {{TILE_HEIGHTS(TILE, 1)}, {TILE_HEIGHTS(TILE, 2)}};
#undef TILE

void TN_ISA(bytes_window)(const struct tn_bytes_window_args *a)
{
    size_t groups = map_groups(a->maps), begin, end;
    const uint8_t *weights = a->packed;
    for (size_t g = 0; g < groups; g++) {
        tn_share(a->maps, (unsigned)g, (unsigned)groups, &begin, &end);
        for (size_t p = 0; p < a->count; p += PANEL) {
            size_t columns = a->count - p < PANEL ? a->count - p : PANEL;
            struct window_tile t = {a, a->x + p * 4, weights, a->sums + begin * a->sums_stride + p, columns};
            window_tiles[columns > VEC][end - begin - 1](&t);
        }
        weights += (end - begin) * a->quads * a->taps * 4;
    }
}
