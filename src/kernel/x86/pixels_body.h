/*
 * Products of pixels for one instruction set: tiles as those of linear layers over the same panels, with what follows a sum
 * done while the sums are in registers. Of a last panel with few columns half a vector less is computed.
 */
#include "base/checked.h"
#include "kernel/x86/after_vec.h"
#include "kernel/x86/x86.h"

#define TILE_STEP(sum, x, w) v_fma(x, w, sum)
#include "kernel/x86/tile_sums.h"

enum {
    PIXELS_BLOCK = 64 << 10, /* floats of the rows of a block: a quarter of a small L2 cache */
    PIXELS_NEAR = 512,        /* bytes between a weight that is used and the one that is asked for */
    PIXELS_FAR = 4096,        /* by the first tile of a panel, to which weights come from afar */
    PIXELS_LONG = 96,         /* steps of sums during which results arrive */
};

bool TN_ISA(pixels_pack_size)(size_t maps, size_t k, size_t *bytes)
{
    return TN_ISA(linear_pack_size)(maps, k, TN_COMPUTE_F32, bytes);
}

/* The panels of linear, which begin behind a bias of zeros. */
void TN_ISA(pixels_pack)(const void *w, enum tn_float_type type, size_t maps, size_t k, void *packed, unsigned rank, unsigned size)
{
    struct tn_linear layer = {.n = maps, .k = k, .compute = TN_COMPUTE_F32};
    struct tn_linear_part part = {.data = w, .type = type, .rows = maps, .row_stride = k, .k_stride = 1};
    TN_ISA(linear_pack)(&layer, &part, 1, packed, rank, size);
}

struct pixel_tile {
    const float *x;
    size_t x_stride, k, part, part_stride; /* steps of a segment, and from one to the next */
    const float *panel;                    /* [k][panel_stride] */
    float *y;
    size_t y_stride, columns;
    const float *bias;     /* not padded; or NULL */
    const float *residual; /* or NULL */
    size_t residual_stride, residual_columns;
    const struct tn_after *after;
    ptrdiff_t prefetch;
};

/* `count` steps more. A tile has nv vectors of columns, and half a one with `half`; panels have whole ones. */
TN_INLINE void pixels_steps(vec sum[TILE_ROWS][2], vhalf low[TILE_ROWS], const struct pixel_tile *t, const float *x, const float *w, const size_t count,
                            const int rows, const int nv, const bool half)
{
    const size_t x_stride = t->x_stride;
    const ptrdiff_t ahead = t->prefetch;
    for (size_t step = 0; step < count; step++, x++, w += (nv + half) * VEC) {
        vec column[2];
        vhalf last = h_zero();
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) column[v] = v_load(w + v * VEC);
        if (half) last = h_load(w + nv * VEC);
#pragma GCC unroll 2
        for (int v = 0; v < nv + half; v++) _mm_prefetch((const char *)(w + v * VEC) + ahead, _MM_HINT_T0);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            vec element = v_set(x[(size_t)i * x_stride]);
#pragma GCC unroll 2
            for (int v = 0; v < nv; v++) sum[i][v] = v_fma(element, column[v], sum[i][v]);
            if (half) low[i] = h_fma(h_low(element), last, low[i]);
        }
    }
}

/* The partial sums of steps [begin, end); half a vector widened behind the whole ones. */
TN_INLINE void pixels_sums(vec sum[TILE_ROWS][2], const struct pixel_tile *t, const size_t begin, const size_t end, const int rows, const int nv,
                           const bool half)
{
    vhalf low[TILE_ROWS];
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) sum[i][v] = v_zero();
        low[i] = h_zero();
    }
    for (size_t at = begin, last; at < end; at = last) {
        size_t segment = t->part < t->k ? at / t->part : 0;
        last = (segment + 1) * t->part < end ? (segment + 1) * t->part : end;
        pixels_steps(sum, low, t, t->x + segment * t->part_stride + (at - segment * t->part), t->panel + at * (size_t)(nv + half) * VEC, last - at, rows, nv, half);
    }
#pragma GCC unroll 12
    for (int i = 0; half && i < rows; i++) sum[i][nv] = h_widen(low[i]);
}

#define EACH_SUM(expr)                                                                             \
    _Pragma("GCC unroll 12") for (int i = 0; i < rows; i++)                                        \
    {                                                                                              \
        _Pragma("GCC unroll 2") for (int j = 0; j < nv; j++)                                       \
        {                                                                                          \
            vec v = sum[i][j];                                                                     \
            sum[i][j] = (expr);                                                                    \
        }                                                                                          \
    }                                                                                              \
    break

TN_INLINE void pixels_activate(vec sum[TILE_ROWS][2], const struct tn_after *f, const int rows, const int nv)
{
    const vec a = v_set(f->a), b = v_set(f->b);
    switch (f->kind) {
    case TN_FINISH_CLIP: EACH_SUM(v_min(b, v_max(a, v)));
    case TN_FINISH_LEAKY_RELU: EACH_SUM(v_select(v_less(v, v_zero()), v_mul(a, v), v));
    case TN_FINISH_HARD_SIGMOID: EACH_SUM(after_hard_gate(v, a, b));
    case TN_FINISH_HARD_SWISH: EACH_SUM(v_mul(v, after_hard_gate(v, a, b)));
    case TN_FINISH_ACT:
        if (f->act == TN_ACT_RELU) {
            EACH_SUM(v_max(v_zero(), v));
        }
        break;
    default: break;
    }
    if (!f->line || after_is_late(f)) return;
    const vec scale = v_set(f->scale), shift = v_set(f->shift);
    do {
        EACH_SUM(v_add(v_mul(scale, v), shift));
    } while (0);
}
#undef EACH_SUM

static vtail lanes_of(size_t columns, int j)
{
    return v_tail(columns > (size_t)j * VEC ? columns - (size_t)j * VEC : 0);
}

TN_INLINE void pixels_finish(vec sum[TILE_ROWS][2], const struct pixel_tile *t, const int rows, const int nv)
{
    const bool whole = t->columns == (size_t)nv * VEC, half = t->columns == (size_t)nv * VEC - VEC / 2;
    const vtail tail = lanes_of(t->columns, nv - 1);
    vec bias[2];
#pragma GCC unroll 2
    for (int j = 0; j < nv; j++) bias[j] = t->bias ? v_load_tail(t->bias + j * VEC, j == nv - 1 ? tail : v_tail(VEC)) : v_zero();
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int j = 0; j < nv; j++) sum[i][j] = v_add(sum[i][j], bias[j]);
    }
    if (t->residual) {
        const vtail near = lanes_of(t->residual_columns, 0), far = lanes_of(t->residual_columns, 1);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            const float *r = t->residual + (size_t)i * t->residual_stride;
#pragma GCC unroll 2
            for (int j = 0; j < nv; j++) sum[i][j] = v_add(sum[i][j], v_load_tail(r + j * VEC, j ? far : near));
        }
    }
    pixels_activate(sum, t->after, rows, nv);
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
        float *y = t->y + (size_t)i * t->y_stride;
        if (nv == 2) v_store(y, sum[i][0]);
        if (whole) v_store(y + (nv - 1) * VEC, sum[i][nv - 1]);
        else if (half) h_store(y + (nv - 1) * VEC, h_low(sum[i][nv - 1]));
        else v_store_tail(y + (nv - 1) * VEC, tail, sum[i][nv - 1]);
    }
}

/* Results are asked for while their sums are made: a store to memory that is not near has to read it first. */
TN_INLINE void pixels_ask(const struct pixel_tile *t, const int rows, const int nv)
{
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
        _mm_prefetch((const char *)(t->y + (size_t)i * t->y_stride), _MM_HINT_T0);
        if (nv == 2) _mm_prefetch((const char *)(t->y + (size_t)i * t->y_stride + VEC), _MM_HINT_T0);
    }
}

/* total is read only when begin > 0, that is after the first tile_add has written it; gcc 14 does not see that. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
TN_INLINE void pixels_tile(const struct pixel_tile *t, float *total, const int rows, const int nv, const bool half)
{
    vec sum[TILE_ROWS][2];
    size_t begin = 0;
    if (t->k >= PIXELS_LONG) pixels_ask(t, rows, nv + half);
    for (; t->k - begin > TILE_CHUNK; begin += TILE_CHUNK) {
        pixels_sums(sum, t, begin, begin + TILE_CHUNK, rows, nv, half);
        tile_add(sum, total, begin == 0, rows, nv + half);
    }
    pixels_sums(sum, t, begin, t->k, rows, nv, half);
    if (begin > 0) tile_add(sum, total, false, rows, nv + half);
    pixels_finish(sum, t, rows, nv + half);
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#define TILE(rows, halves)                                                                         \
    static void pixels_##rows##_##halves(const struct pixel_tile *t)                               \
    {                                                                                              \
        _Alignas(64) float total[rows * 2 * VEC];                                                  \
        pixels_tile(t, total, rows, halves / 2, halves % 2);                                       \
    }
TILE_HEIGHTS(TILE, 1)
TILE_HEIGHTS(TILE, 2)
TILE_HEIGHTS(TILE, 3)
TILE_HEIGHTS(TILE, 4)
#undef TILE

typedef void pixels_fn(const struct pixel_tile *t);
#define TILE(rows, halves) pixels_##rows##_##halves,
static pixels_fn *const pixels_tiles[4][TILE_ROWS] = {{TILE_HEIGHTS(TILE, 1)}, {TILE_HEIGHTS(TILE, 2)}, {TILE_HEIGHTS(TILE, 3)}, {TILE_HEIGHTS(TILE, 4)}};
#undef TILE

/* One panel over rows [begin, end). */
static void pixels_panel(const struct tn_pixels_args *a, const struct tn_after *after, size_t panel, size_t begin, size_t end)
{
    const size_t column = panel * PANEL, tiles = (end - begin + TILE_ROWS - 1) / TILE_ROWS, columns = panel_columns(a->maps, panel);
    const float *weights = (const float *)a->packed + (a->maps + 15) / 16 * 16;
    struct pixel_tile t = {.x_stride = a->x_stride, .k = a->k, .part = a->segments > 1 ? a->k / a->segments : a->k, .part_stride = a->segment_stride,
                           .panel = weights + column * a->k, .y_stride = a->y_stride, .columns = columns, .bias = a->bias ? a->bias + column : NULL,
                           .residual_stride = a->residual_stride, .residual_columns = a->residual_maps > column ? a->residual_maps - column : 0,
                           .after = after, .prefetch = PIXELS_FAR};
    pixels_fn *const *heights = pixels_tiles[(columns + VEC / 2 - 1) / (VEC / 2) - 1];
    const bool late = after_is_late(after);
    for (size_t i = 0; i < tiles; i++) {
        size_t first, last;
        tn_share(end - begin, (unsigned)i, (unsigned)tiles, &first, &last);
        t.x = a->x + (begin + first) * a->x_stride;
        t.y = a->y + (begin + first) * a->y_stride + column;
        t.residual = a->residual ? a->residual + (begin + first) * a->residual_stride + column : NULL;
        heights[last - first - 1](&t);
        if (late) after_late(after, t.y, a->y_stride, last - first, columns);
        t.prefetch = PIXELS_NEAR;
    }
}

void TN_ISA(pixels)(const struct tn_pixels_args *a)
{
    const struct tn_after *after = a->after ? a->after : &after_none;
    size_t block = PIXELS_BLOCK / (a->x_stride ? a->x_stride : 1) / TILE_ROWS * TILE_ROWS, first, last;
    if (block < TILE_ROWS) block = TILE_ROWS;
    tn_share(panel_count(a->maps), a->part, a->parts, &first, &last);
    for (size_t row = 0; row < a->rows; row += block) {
        for (size_t p = first; p < last; p++) pixels_panel(a, after, p, row, a->rows - row < block ? a->rows : row + block);
    }
}
