/*
 * 1 x 1 windows for one instruction set: tiles of up to TILE_ROWS maps by one or two vectors of positions, all sums in
 * registers. Weights stand in the order in which they are used, so that they are one stream. Lines are far from each other
 * and often in one cache set: a block of positions is copied together, as panels, when more than one group of maps needs it.
 * A group of maps goes over the whole block before the next one, so that its results leave in a few long pieces.
 */
#include "base/checked.h"
#include "kernel/float16.h"
#include "kernel/x86/after.h"
#include "kernel/x86/tile_args.h"

#include <string.h>

enum {
    CONV1_CHUNK = 192,
    CONV1_BLOCK = 4 << 10, /* floats of the panels of a block: half of a small L1 cache */
    CONV1_PANELS = 16,     /* of a block, at most */
};

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
    return panels > CONV1_PANELS ? CONV1_PANELS : panels ? panels : 1;
}

/* Panels [panels][k][PANEL], sums [TILE_ROWS][panels][PANEL]. */
bool TN_ISA(conv1_scratch_size)(size_t k, size_t *bytes)
{
    size_t floats;
    return tn_add(k, TILE_ROWS, &floats) && tn_mul(floats, panels_of_block(k) * PANEL, &floats) && tn_mul(floats, sizeof(float), bytes);
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

TN_INLINE void conv1_sums(const float *u, const float *x, size_t x_stride, size_t k, float *out, size_t out_stride, const int rows, const int nv)
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
                float *at = out + (size_t)i * out_stride + v * VEC;
                v_store(at, begin ? v_add(v_load(at), sum[i][v]) : sum[i][v]);
            }
        }
    }
}

typedef void conv1_fn(const float *u, const float *x, size_t x_stride, size_t k, float *out, size_t out_stride);
#define TILE(rows, nv)                                                                             \
    static void conv1_##rows##x##nv(const float *u, const float *x, size_t x_stride, size_t k, float *out, size_t out_stride) \
    {                                                                                              \
        conv1_sums(u, x, x_stride, k, out, out_stride, rows, nv);                                              \
    }
TILE_HEIGHTS(TILE, 1)
TILE_HEIGHTS(TILE, 2)
#undef TILE
#define TILE(rows, nv) conv1_##rows##x##nv,
static conv1_fn *const conv1_tiles[2][TILE_ROWS] = {{TILE_HEIGHTS(TILE, 1)}, {TILE_HEIGHTS(TILE, 2)}};
#undef TILE

/* One line of a panel; zeros behind it. */
static void copy_line(enum tn_float_type type, const char *x, size_t width, float *to)
{
    const float *from = (const float *)(const void *)x;
    if (type != TN_FLOAT_F32) {
        TN_ISA(to_f32)(type, x, to, width);
        for (size_t i = width; i < PANEL; i++) to[i] = 0;
    } else if (width == PANEL) {
        v_store(to, v_load(from));
        v_store(to + VEC, v_load(from + VEC));
    } else {
        v_store(to, v_load_tail(from, v_tail(width)));
        v_store(to + VEC, width > VEC ? v_load_tail(from + VEC, v_tail(width - VEC)) : v_zero());
    }
}

static size_t width_of(size_t at, size_t end)
{
    return end - at < PANEL ? end - at : PANEL;
}

/* Positions [at, end) of all lines, as panels [k][PANEL]. */
static void copy_panels(const struct tn_conv1_args *a, size_t at, size_t end, float *to)
{
    const size_t size = tn_float_type_size(a->x_type);
    for (size_t k = 0; k < a->k; k++) {
        const char *x = (const char *)a->x + k * a->x_stride * size;
        float *line = to + k * PANEL;
        for (size_t p = at; p < end; p += PANEL, line += a->k * PANEL) copy_line(a->x_type, x + p * size, width_of(p, end), line);
    }
}

/* One group of maps over positions [at, end). `panels` NULL: the lines as they stand. */
static void multiply_block(const struct tn_conv1_args *a, const float *panels, size_t at, size_t end, size_t group, size_t groups, float *sums)
{
    const size_t size = tn_float_type_size(a->type), stride = panels_of_block(a->k) * PANEL;
    size_t begin, last;
    tn_share(a->maps, (unsigned)group, (unsigned)groups, &begin, &last);
    for (size_t p = at; p < end; p += PANEL) {
        const float *x = panels ? panels + (p - at) * a->k : (const float *)a->x + p;
        conv1_tiles[width_of(p, end) > VEC][last - begin - 1]((const float *)a->packed + begin * a->k, x, panels ? PANEL : a->x_stride, a->k, sums + (p - at),
                                                              stride);
    }
    for (size_t m = begin; m < last; m++) {
        struct leaving r = {.sums = sums + (m - begin) * stride, .width = end - at, .bias = a->bias ? a->bias[m] : 0,
                            .after = a->after ? a->after : &after_nothing, .type = a->type,
                            .residual = a->residual ? (const char *)a->residual + (m * a->residual_stride + at) * size : NULL,
                            .y = (char *)a->y + (m * a->y_stride + at) * size};
        leave_row(&r);
    }
}

void TN_ISA(conv1)(const struct tn_conv1_args *a)
{
    const bool apart = a->x_type != TN_FLOAT_F32 || conv1_groups(a->maps) / a->parts > 1;
    const size_t block = panels_of_block(a->k) * PANEL, groups = conv1_groups(a->maps);
    float *panels = a->scratch, *sums = panels + block * a->k;
    size_t first, last;
    tn_share(groups, a->part, a->parts, &first, &last);
    for (size_t at = 0; at < a->count; at += block) {
        size_t end = a->count - at < block ? a->count : at + block;
        bool copied = apart || (end - at) % PANEL != 0;
        if (copied) copy_panels(a, at, end, panels);
        for (size_t g = first; g < last; g++) multiply_block(a, copied ? panels : NULL, at, end, g, groups, sums);
    }
}
