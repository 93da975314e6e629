/*
 * Products of 4-bit blocks, for one instruction set. Codes stay packed: a register of them is two steps of four k, which a
 * mask and a shift take apart beside the products. Weights are the unsigned operand as they are, rows the signed one; what
 * zero points take away starts each block's sum.
 *
 * Packed: panels of codes, [blocks][4][columns] words, the low halves of word j being step j and the high ones step j + 4 of
 * the block; then panels of scales [groups][columns], and of zero points as bytes in the same places.
 *
 * The including file defines ivec, the i_ words, NIBBLE_ROWS and
 *
 *     n_step(sum, unsigned bytes, signed bytes)   eight steps of products up to 15 * 128 stay exact
 *     n_begin(start), n_end(sum, start)           sums in 32 bits that start from `start`
 */
#include "base/checked.h"
#include "kernel/x86/tile_args.h"
#include "kernel/x86/x86.h"

#include <string.h>

enum { NIBBLE_WORDS = 4, STEP = 4 };

/* ---- packing ------------------------------------------------------------------------------------------------------ */

static size_t groups_of(const struct tn_nibbles *l)
{
    return l->k / l->group + (l->k % l->group != 0);
}

/* Bytes of all codes, and numbers of scales. */
static bool parts_of(const struct tn_nibbles *l, size_t *codes, size_t *scales)
{
    size_t columns;
    return tn_round_up(l->n, VEC, &columns) && tn_mul(columns, tn_nibble_blocks(l->k), codes) && tn_mul(*codes, TN_NIBBLE_BLOCK / 2, codes) &&
           tn_mul(columns, groups_of(l), scales);
}

bool TN_ISA(nibbles_pack_size)(const struct tn_nibbles *l, size_t *bytes)
{
    size_t codes, scales, all;
    return parts_of(l, &codes, &scales) && tn_mul(scales, sizeof(float) + (l->zeros ? 1 : 0), &scales) && tn_add(codes, scales, &all) && tn_round_up(all, 64, bytes);
}

/* Where the parts of panel p begin. */
struct panel {
    uint8_t *codes;
    float *scales;
    uint8_t *zeros; /* NULL: none */
    size_t width, columns;
};

static struct panel panel_at(const struct tn_nibbles *l, void *packed, size_t p)
{
    size_t codes = 0, scales = 0, before = p * PANEL * groups_of(l);
    parts_of(l, &codes, &scales);
    float *first = (float *)(void *)((uint8_t *)packed + codes);
    return (struct panel){.codes = (uint8_t *)packed + p * PANEL * tn_nibble_blocks(l->k) * (TN_NIBBLE_BLOCK / 2), .scales = first + before,
                          .zeros = l->zeros ? (uint8_t *)(first + scales) + before : NULL,
                          .width = (size_t)panel_vectors(l->n, p) * VEC, .columns = panel_columns(l->n, p)};
}

/* Sixteen bytes of the file, k ascending, to four words width * 4 bytes apart. */
static void pack_block(const uint8_t *from, uint8_t *to, size_t width)
{
    for (size_t j = 0; j < NIBBLE_WORDS; j++, to += width * STEP) {
        const uint8_t *low = from + j * 2, *high = low + 8;
        to[0] = (uint8_t)((low[0] & 15) | high[0] << 4);
        to[1] = (uint8_t)(low[0] >> 4 | (high[0] & 0xf0));
        to[2] = (uint8_t)((low[1] & 15) | high[1] << 4);
        to[3] = (uint8_t)(low[1] >> 4 | (high[1] & 0xf0));
    }
}

static void pack_column(const struct tn_nibbles *l, const struct tn_nibbles_source *from, size_t n, const struct panel *p, size_t i)
{
    const size_t blocks = tn_nibble_blocks(l->k), groups = groups_of(l), half = (groups + 1) / 2;
    const uint8_t *codes = from->codes + n * groups * (l->group / 2);
    for (size_t b = 0; b < blocks; b++) pack_block(codes + b * (TN_NIBBLE_BLOCK / 2), p->codes + (b * NIBBLE_WORDS * p->width + i) * STEP, p->width);
    for (size_t g = 0; g < groups; g++) {
        p->scales[g * p->width + i] = from->scales[n * groups + g];
        if (p->zeros) p->zeros[g * p->width + i] = from->zeros[n * half + g / 2] >> g % 2 * 4 & 15;
    }
}

void TN_ISA(nibbles_pack)(const struct tn_nibbles *l, const struct tn_nibbles_source *from, void *packed, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(panel_count(l->n), rank, size, &begin, &end);
    for (size_t k = begin; k < end; k++) {
        struct panel p = panel_at(l, packed, k);
        if (p.columns < p.width) {
            memset(p.codes, 0, p.width * tn_nibble_blocks(l->k) * (TN_NIBBLE_BLOCK / 2));
            memset(p.scales, 0, p.width * groups_of(l) * sizeof(float));
            if (p.zeros) memset(p.zeros, 0, p.width * groups_of(l));
        }
        for (size_t i = 0; i < p.columns; i++) pack_column(l, from, k * PANEL + i, &p, i);
    }
}

void TN_ISA(nibbles_column)(const struct tn_nibbles *l, size_t n, float *to)
{
    const struct panel p = panel_at(l, (void *)(uintptr_t)l->packed, n / PANEL);
    const size_t i = n % PANEL;
    for (size_t k = 0; k < l->k; k++) {
        size_t step = k % TN_NIBBLE_BLOCK / STEP, g = k / l->group;
        uint8_t byte = p.codes[((k / TN_NIBBLE_BLOCK * NIBBLE_WORDS + step % NIBBLE_WORDS) * p.width + i) * STEP + k % STEP];
        int code = step < NIBBLE_WORDS ? byte & 15 : byte >> 4;
        to[k] = (float)(code - (p.zeros ? p.zeros[g * p.width + i] : 8)) * p.scales[g * p.width + i];
    }
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

enum { PARTS = TN_NIBBLE_BLOCK / VEC };

TN_INLINE bool code_block(const float *x, int8_t *codes, struct tn_row_block *block)
{
    vec part[PARTS], most = v_zero(), odd = v_zero();
#pragma GCC unroll 4
    for (int i = 0; i < PARTS; i++) {
        part[i] = v_load(x + i * VEC);
        most = v_max(most, v_abs(part[i]));
        odd = v_fma(part[i], v_zero(), odd); /* NaN where a number is not finite */
    }
    float largest = v_largest(most);
    bool nothing = largest < 0x1p-100f;
    vec inverse = v_set(nothing ? 0 : 127 / largest);
    ivec sum = i_zero();
#pragma GCC unroll 4
    for (int i = 0; i < PARTS; i++) {
        ivec code = i_of(v_mul(part[i], inverse));
        i_store_bytes((uint8_t *)codes + i * VEC, code);
        sum = i_add(sum, code);
    }
    /* of what is not finite the sum means nothing, and wraps */
    *block = (struct tn_row_block){nothing ? 0 : largest / 127, (int32_t)(0 - 8 * i_sum(sum))};
    return !v_any_nonfinite(odd);
}

bool TN_ISA(code_row)(const float *x, size_t k, int8_t *codes, struct tn_row_block *blocks)
{
    bool finite = true;
    size_t i = 0;
    for (; i + TN_NIBBLE_BLOCK <= k; i += TN_NIBBLE_BLOCK) finite &= code_block(x + i, codes + i, blocks++);
    if (i == k) return finite;
    float rest[TN_NIBBLE_BLOCK] = {0};
    memcpy(rest, x + i, (k - i) * sizeof(*rest));
    return code_block(rest, codes + i, blocks) && finite;
}

/* ---- tiles -------------------------------------------------------------------------------------------------------- */

struct nibble_tile {
    const int8_t *codes;
    const struct tn_row_block *blocks;
    size_t count, per; /* blocks of k; of a group */
    const uint8_t *weights;
    const float *scales;
    const uint8_t *zeros;
    const float *bias;
    float *y;
    size_t y_stride, columns;
};

static inline int32_t word_at(const int8_t *p)
{
    int32_t w;
    memcpy(&w, p, sizeof(w));
    return w;
}

TN_INLINE void store_row(const struct nibble_tile *t, const vec *sum, float *to, const int nv)
{
#pragma GCC unroll 2
    for (int v = 0; v < nv; v++) {
        const size_t at = (size_t)v * VEC;
        if (t->columns >= at + VEC) {
            v_store(to + at, t->bias ? v_add(sum[v], v_load(t->bias + at)) : sum[v]);
        } else if (t->columns > at) {
            vtail tail = v_tail(t->columns - at);
            v_store_tail(to + at, tail, t->bias ? v_add(sum[v], v_load_tail(t->bias + at, tail)) : sum[v]);
        }
    }
}

TN_INLINE void nibble_tile(const struct nibble_tile *t, const int rows, const int nv, const bool zeros)
{
    vec sum[NIBBLE_ROWS][2];
    const int8_t *x = t->codes;
    const uint8_t *w = t->weights;
    const size_t stride = t->count * TN_NIBBLE_BLOCK;
    const ivec mask = i_set(0x0f0f0f0f);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) sum[i][v] = v_zero();
    }
    for (size_t b = 0; b < t->count; b++, x += TN_NIBBLE_BLOCK, w += nv * VEC * TN_NIBBLE_BLOCK / 2) {
        const size_t group = (t->per == 1 ? b : b / t->per) * (size_t)(nv * VEC);
        ivec part[NIBBLE_ROWS][2], start[NIBBLE_ROWS][2];
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) {
                start[i][v] = i_set(t->blocks[(size_t)i * t->count + b].least);
                if (zeros) start[i][v] = i_eighth(i_mul(start[i][v], i_load_bytes(t->zeros + group + v * VEC)));
                part[i][v] = n_begin(start[i][v]);
            }
        }
#pragma GCC unroll 4
        for (int j = 0; j < NIBBLE_WORDS; j++) {
            ivec low[2], high[2];
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) {
                ivec both = i_load(w + (j * nv + v) * VEC * STEP);
                low[v] = i_and(both, mask);
                high[v] = i_and(i_halves(both), mask);
            }
#pragma GCC unroll 8
            for (int i = 0; i < rows; i++) {
                const int8_t *at = x + (size_t)i * stride + j * STEP;
                ivec first = i_set(word_at(at)), second = i_set(word_at(at + TN_NIBBLE_BLOCK / 2));
#pragma GCC unroll 2
                for (int v = 0; v < nv; v++) part[i][v] = n_step(n_step(part[i][v], low[v], first), high[v], second);
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            vec scale = v_set(t->blocks[(size_t)i * t->count + b].scale);
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++)
                sum[i][v] = v_fma(v_mul(scale, v_load(t->scales + group + v * VEC)), i_float(n_end(part[i][v], start[i][v])), sum[i][v]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) store_row(t, sum[i], t->y + (size_t)i * t->y_stride, nv);
}

typedef void nibble_tile_fn(const struct nibble_tile *t);
#define TILE(rows, nv)                                                                             \
    static void nibble_tile_##rows##x##nv(const struct nibble_tile *t)                             \
    {                                                                                              \
        nibble_tile(t, rows, nv, false);                                                           \
    }                                                                                              \
    static void nibble_zeros_##rows##x##nv(const struct nibble_tile *t)                            \
    {                                                                                              \
        nibble_tile(t, rows, nv, true);                                                            \
    }
NIBBLE_HEIGHTS(TILE, 1)
NIBBLE_HEIGHTS(TILE, 2)
#undef TILE
#define TILE(rows, nv) {nibble_tile_##rows##x##nv, nibble_zeros_##rows##x##nv},
static nibble_tile_fn *const nibble_tiles[2][NIBBLE_ROWS][2] = {{NIBBLE_HEIGHTS(TILE, 1)}, {NIBBLE_HEIGHTS(TILE, 2)}};
#undef TILE

/* For each panel all rows: the caller brings so many that they stay near. */
void TN_ISA(nibbles)(const struct tn_nibbles_args *a, unsigned rank, unsigned size)
{
    const struct tn_nibbles *l = a->layer;
    const size_t blocks = tn_nibble_blocks(l->k), tiles = (a->rows + NIBBLE_ROWS - 1) / NIBBLE_ROWS;
    size_t begin, end, t0, t1;
    tn_share(panel_count(l->n), rank, size, &begin, &end);
    for (size_t k = begin; k < end; k++) {
        const struct panel p = panel_at(l, (void *)(uintptr_t)l->packed, k);
        for (size_t i = 0; i < tiles; i++) {
            tn_share(a->rows, (unsigned)i, (unsigned)tiles, &t0, &t1);
            struct nibble_tile t = {.codes = a->codes + t0 * blocks * TN_NIBBLE_BLOCK, .blocks = a->blocks + t0 * blocks, .count = blocks,
                                    .per = l->group / TN_NIBBLE_BLOCK, .weights = p.codes, .scales = p.scales, .zeros = p.zeros,
                                    .bias = a->bias ? a->bias + k * PANEL : NULL, .y = a->y + t0 * a->y_stride + k * PANEL,
                                    .y_stride = a->y_stride, .columns = p.columns};
            nibble_tiles[p.width / VEC - 1][t1 - t0 - 1][l->zeros](&t);
        }
    }
}
