/*
 * 1 x 1 windows for one instruction set: tiles of up to TILE_ROWS maps by one or two vectors of positions, all sums in
 * registers. Weights stand in the order in which they are used, so that they are one stream. Lines are far from each other
 * and often in one cache set: a panel of positions is copied together when more than one group of maps needs it.
 */
#include "base/checked.h"
#include "kernel/float16.h"
#include "kernel/x86/after.h"
#include "kernel/x86/tile_args.h"

#include <string.h>

enum { CONV1_CHUNK = 192, CONV1_BLOCK = 8 << 10 }; /* floats of the panels that are copied at a time */

static size_t conv1_groups(size_t maps)
{
    return (maps + TILE_ROWS - 1) / TILE_ROWS;
}

bool TN_ISA(conv1_pack_size)(size_t maps, size_t k, size_t *bytes)
{
    size_t count;
    return tn_mul(maps, k, &count) && tn_mul(count, sizeof(float), &count) && tn_round_up(count, 64, bytes);
}

static size_t panels_of_block(size_t k)
{
    size_t panels = CONV1_BLOCK / PANEL / (k ? k : 1);
    return panels ? panels : 1;
}

/* Panels [panels][k][PANEL], and a line of half precision widened. */
bool TN_ISA(conv1_scratch_size)(size_t k, size_t *bytes)
{
    size_t floats;
    return tn_mul(k, panels_of_block(k) * PANEL, &floats) && tn_mul(floats, sizeof(float), bytes);
}

/* [groups][k][maps of the group] */
void TN_ISA(conv1_pack)(const void *w, enum tn_float_type type, size_t maps, size_t k, void *packed, unsigned rank, unsigned size)
{
    size_t first, last, begin, end;
    tn_share(conv1_groups(maps), rank, size, &first, &last);
    for (size_t g = first; g < last; g++) {
        tn_share(maps, (unsigned)g, (unsigned)conv1_groups(maps), &begin, &end);
        float *to = (float *)packed + begin * k;
        for (size_t m = begin; m < end; m++) {
            for (size_t i = 0; i < k; i++) to[i * (end - begin) + (m - begin)] = tn_load_element(type, w, m * k + i);
        }
    }
}

TN_INLINE void conv1_sums(const float *u, const float *x, size_t x_stride, size_t k, float *out, const int rows, const int nv)
{
    for (size_t begin = 0; begin == 0 || begin < k; begin += CONV1_CHUNK) {
        size_t end = k - begin < CONV1_CHUNK ? k : begin + CONV1_CHUNK;
        vec sum[TILE_ROWS][2];
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) sum[i][v] = v_zero();
        }
        for (size_t c = begin; c < end; c++, u += rows, x += x_stride) {
            vec column[2];
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) column[v] = v_load(x + v * VEC);
#pragma GCC unroll 12
            for (int i = 0; i < rows; i++) {
                vec element = v_set(u[i]);
#pragma GCC unroll 2
                for (int v = 0; v < nv; v++) sum[i][v] = v_fma(element, column[v], sum[i][v]);
            }
        }
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) {
                float *at = out + i * PANEL + v * VEC;
                v_store(at, begin ? v_add(v_load(at), sum[i][v]) : sum[i][v]);
            }
        }
    }
}

typedef void conv1_fn(const float *u, const float *x, size_t x_stride, size_t k, float *out);
#define TILE(rows, nv)                                                                             \
    static void conv1_##rows##x##nv(const float *u, const float *x, size_t x_stride, size_t k, float *out) \
    {                                                                                              \
        conv1_sums(u, x, x_stride, k, out, rows, nv);                                              \
    }
TILE_HEIGHTS(TILE, 1)
TILE_HEIGHTS(TILE, 2)
#undef TILE
#define TILE(rows, nv) conv1_##rows##x##nv,
static conv1_fn *const conv1_tiles[2][TILE_ROWS] = {{TILE_HEIGHTS(TILE, 1)}, {TILE_HEIGHTS(TILE, 2)}};
#undef TILE

/* Positions [at, at + width) of all lines, as [k][PANEL]; zeros behind them. */
static void copy_panel(const struct tn_conv1_args *a, size_t at, size_t width, float *to)
{
    const size_t size = tn_float_type_size(a->x_type);
    const char *x = (const char *)a->x + at * size;
    for (size_t k = 0; k < a->k; k++, to += PANEL, x += a->x_stride * size) {
        if (a->x_type != TN_FLOAT_F32) {
            TN_ISA(to_f32)(a->x_type, x, to, width);
            for (size_t i = width; i < PANEL; i++) to[i] = 0;
        } else if (width == PANEL) {
            v_store(to, v_load((const float *)(const void *)x));
            v_store(to + VEC, v_load((const float *)(const void *)x + VEC));
        } else {
            const float *from = (const float *)(const void *)x;
            v_store(to, v_load_tail(from, v_tail(width)));
            v_store(to + VEC, width > VEC ? v_load_tail(from + VEC, v_tail(width - VEC)) : v_zero());
        }
    }
}

static void multiply_panel(const struct tn_conv1_args *a, const float *x, size_t x_stride, size_t at, size_t width)
{
    _Alignas(64) float sums[TILE_ROWS * PANEL];
    const size_t groups = conv1_groups(a->maps), size = tn_float_type_size(a->type);
    size_t first, last, begin, end;
    tn_share(groups, a->part, a->parts, &first, &last);
    for (size_t g = first; g < last; g++) {
        tn_share(a->maps, (unsigned)g, (unsigned)groups, &begin, &end);
        conv1_tiles[width > VEC][end - begin - 1]((const float *)a->packed + begin * a->k, x, x_stride, a->k, sums);
        for (size_t m = begin; m < end; m++) {
            struct leaving r = {.sums = sums + (m - begin) * PANEL, .width = width, .bias = a->bias ? a->bias[m] : 0,
                                .after = a->after ? a->after : &after_nothing, .type = a->type,
                                .residual = a->residual ? (const char *)a->residual + (m * a->residual_stride + at) * size : NULL,
                                .y = (char *)a->y + (m * a->y_stride + at) * size};
            leave_row(&r);
        }
    }
}

void TN_ISA(conv1)(const struct tn_conv1_args *a)
{
    const bool apart = a->x_type != TN_FLOAT_F32 || conv1_groups(a->maps) / a->parts > 1;
    const size_t block = panels_of_block(a->k) * PANEL;
    for (size_t at = 0; at < a->count; at += block) {
        size_t end = a->count - at < block ? a->count : at + block;
        float *panel = a->scratch;
        for (size_t p = at; p < end; p += PANEL, panel += a->k * PANEL) {
            size_t width = end - p < PANEL ? end - p : PANEL;
            if (apart || width < PANEL) copy_panel(a, p, width, panel);
        }
        panel = a->scratch;
        for (size_t p = at; p < end; p += PANEL, panel += a->k * PANEL) {
            size_t width = end - p < PANEL ? end - p : PANEL;
            bool copied = apart || width < PANEL;
            multiply_panel(a, copied ? panel : (const float *)a->x + p, copied ? PANEL : a->x_stride, p, width);
        }
    }
}
