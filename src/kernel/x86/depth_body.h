/*
 * Depthwise windows over an image whose channels are neighbours, for one instruction set: lanes are channels, and a vector of
 * the input serves all columns of results that need it while it is in a register. Columns whose windows leave the image
 * are done one by one, with as many channels side by side as hide the time of a multiply-add.
 */
#include "kernel/x86/after_vec.h"
#include "kernel/x86/x86.h"

#include <math.h>

enum {
    DEPTH_BIG = TILE_ROWS > 6 ? 8 : 4, /* columns of results at a time */
    DEPTH_VECTORS = 4,                 /* of channels: a block, whose weights stay in the L1 cache */
};

/* What the results of one row have in common, over a block of channels. */
struct depth_row {
    const struct tn_depth_args *a;
    const struct tn_after *after;
    const float *x, *w;         /* the input's first row that the windows meet, at column 0; their first row of taps */
    const float *bias;          /* of the block, or NULL */
    size_t rows;                /* of taps that lie inside */
    size_t channels;            /* of the block */
    const float *residual;      /* at column 0, or NULL */
    float *y;
    bool bounded; /* what follows is low and high alone */
    float low, high;
    bool gated; /* what follows is TN_FINISH_HARD_SWISH alone */
};

/* Nothing, ReLU and Clip as two bounds. */
static bool depth_bounds(const struct tn_after *f, float *low, float *high)
{
    *low = f->kind == TN_FINISH_CLIP ? f->a : f->kind == TN_FINISH_ACT && f->act == TN_ACT_RELU ? 0 : -INFINITY;
    *high = f->kind == TN_FINISH_CLIP ? f->b : INFINITY;
    return !f->line && (f->kind == TN_FINISH_NONE || f->kind == TN_FINISH_CLIP || (f->kind == TN_FINISH_ACT && f->act == TN_ACT_RELU));
}

/* A sum on its way out: element `at` of the row, channel c of the block. */
TN_INLINE void depth_leave(const struct depth_row *r, size_t at, size_t c, const vtail tail, const bool whole, vec v)
{
    v = v_add(v, r->bias ? v_load_tail(r->bias + c, tail) : v_zero());
    if (r->residual) v = v_add(v, v_load_tail(r->residual + at, tail));
    v = r->bounded ? v_min(v_set(r->high), v_max(v_set(r->low), v)) : after_vec(r->after, v);
    if (whole) v_store(r->y + at, v);
    else v_store_tail(r->y + at, tail, v);
}

/* As depth_leave, for `p` neighbouring columns of a row whose results are gated: what all have in common is loaded once. */
TN_INLINE void depth_leave_gated(const struct depth_row *r, size_t column, size_t c, const vtail tail, const bool whole, const vec *sum, const int p)
{
    const size_t channels = r->a->channels;
    const vec bias = r->bias ? v_load_tail(r->bias + c, tail) : v_zero(), a = v_set(r->after->a), b = v_set(r->after->b);
    float *y = r->y + column * channels + c;
#pragma GCC unroll 8
    for (int i = 0; i < p; i++, y += channels) {
        vec v = v_add(sum[i], bias);
        v = v_mul(v, after_hard_gate(v, a, b));
        if (whole) v_store(y, v);
        else v_store_tail(y, tail, v);
    }
}

/* One vector of channels of `p` neighbouring columns; x at the first tap of the first. */
TN_INLINE void depth_vector(const struct depth_row *r, const float *x, size_t column, size_t c, const vtail tail, const bool whole, const int kw,
                            const int stride, const int p)
{
    const struct tn_depth_args *a = r->a;
    const size_t channels = a->channels, down = a->dilation_down * a->width * channels;
    const float *w = r->w + c;
    vec sum[DEPTH_BIG];
#pragma GCC unroll 8
    for (int i = 0; i < p; i++) sum[i] = v_zero();
    for (size_t row = 0; row < r->rows; row++, x += down, w += (size_t)kw * channels) {
        vec weight[5];
#pragma GCC unroll 5
        for (int k = 0; k < kw; k++) weight[k] = whole ? v_load(w + (size_t)k * channels) : v_load_tail(w + (size_t)k * channels, tail);
#pragma GCC unroll 24
        for (int q = 0; q < (p - 1) * stride + kw; q++) {
            const float *at = x + (size_t)q * channels;
            vec v = v_hold(whole ? v_load(at) : v_load_tail(at, tail));
#pragma GCC unroll 5
            for (int k = 0; k < kw; k++) {
                if (q >= k && (q - k) % stride == 0 && (q - k) / stride < p) sum[(q - k) / stride] = v_fma(weight[k], v, sum[(q - k) / stride]);
            }
        }
    }
    if (r->gated && !r->residual) {
        depth_leave_gated(r, column, c, tail, whole, sum, p);
        return;
    }
    if (r->residual || !r->bounded) {
#pragma GCC unroll 8
        for (int i = 0; i < p; i++) depth_leave(r, (column + (size_t)i) * channels + c, c, tail, whole, sum[i]);
        return;
    }
    const vec bias = r->bias ? v_load_tail(r->bias + c, tail) : v_zero(), low = v_set(r->low), high = v_set(r->high);
    float *y = r->y + column * channels + c;
#pragma GCC unroll 8
    for (int i = 0; i < p; i++, y += channels) {
        vec v = v_min(high, v_max(low, v_add(sum[i], bias)));
        if (whole) v_store(y, v);
        else v_store_tail(y, tail, v);
    }
}

/* The same of half a vector of channels, of which no more are left. */
TN_INLINE void depth_half_vector(const struct depth_row *r, const float *x, size_t column, size_t c, const int kw, const int stride, const int p)
{
    const struct tn_depth_args *a = r->a;
    const size_t channels = a->channels, down = a->dilation_down * a->width * channels;
    const vtail tail = v_tail(VEC / 2);
    const float *w = r->w + c;
    vhalf sum[DEPTH_BIG];
#pragma GCC unroll 8
    for (int i = 0; i < p; i++) sum[i] = h_zero();
    for (size_t row = 0; row < r->rows; row++, x += down, w += (size_t)kw * channels) {
        vhalf weight[5];
#pragma GCC unroll 5
        for (int k = 0; k < kw; k++) weight[k] = h_load(w + (size_t)k * channels);
#pragma GCC unroll 24
        for (int q = 0; q < (p - 1) * stride + kw; q++) {
            vhalf v = h_load(x + (size_t)q * channels);
#pragma GCC unroll 5
            for (int k = 0; k < kw; k++) {
                if (q >= k && (q - k) % stride == 0 && (q - k) / stride < p) sum[(q - k) / stride] = h_fma(weight[k], v, sum[(q - k) / stride]);
            }
        }
    }
    if (r->residual || !r->bounded) {
#pragma GCC unroll 8
        for (int i = 0; i < p; i++) depth_leave(r, (column + (size_t)i) * channels + c, c, tail, false, h_widen(sum[i]));
        return;
    }
    const vec bias = r->bias ? v_load_tail(r->bias + c, tail) : v_zero(), low = v_set(r->low), high = v_set(r->high);
    float *y = r->y + column * channels + c;
#pragma GCC unroll 8
    for (int i = 0; i < p; i++, y += channels) h_store(y, h_low(v_min(high, v_max(low, v_add(h_widen(sum[i]), bias)))));
}

typedef void depth_fn(const struct depth_row *r, const float *x, size_t column);
#define GROUP(kw, stride, size, p)                                                                 \
    static void depth_##kw##_##stride##_##size(const struct depth_row *r, const float *x, size_t column) \
    {                                                                                              \
        size_t c = 0;                                                                              \
        for (; c + VEC <= r->channels; c += VEC) depth_vector(r, x + c, column, c, v_tail(VEC), true, kw, stride, p); \
        if (c + VEC / 2 == r->channels) depth_half_vector(r, x + c, column, c, kw, stride, p);      \
        else if (c < r->channels) depth_vector(r, x + c, column, c, v_tail(r->channels - c), false, kw, stride, p); \
    }
GROUP(3, 1, big, DEPTH_BIG)
GROUP(3, 1, half, DEPTH_BIG / 2)
GROUP(3, 1, two, 2)
GROUP(3, 2, big, DEPTH_BIG / 2)
GROUP(3, 2, half, 2)
GROUP(5, 1, big, DEPTH_BIG)
GROUP(5, 1, half, DEPTH_BIG / 2)
GROUP(5, 1, two, 2)
GROUP(5, 2, big, DEPTH_BIG / 2)
GROUP(5, 2, half, 2)
#undef GROUP

struct depth_group {
    size_t columns;
    depth_fn *fn;
};

/* Groups for a window, largest first; the last has no columns. */
static const struct depth_group *depth_groups(const struct tn_depth_args *a)
{
    static const struct depth_group groups[2][2][4] = {
        {{{DEPTH_BIG, depth_3_1_big}, {DEPTH_BIG / 2, depth_3_1_half}, {2, depth_3_1_two}}, {{DEPTH_BIG / 2, depth_3_2_big}, {2, depth_3_2_half}}},
        {{{DEPTH_BIG, depth_5_1_big}, {DEPTH_BIG / 2, depth_5_1_half}, {2, depth_5_1_two}}, {{DEPTH_BIG / 2, depth_5_2_big}, {2, depth_5_2_half}}}};
    static const struct depth_group none;
    if ((a->kernel_width != 3 && a->kernel_width != 5) || a->stride_across > 2 || a->dilation_across != 1 || a->zeros) return &none;
    return groups[a->kernel_width == 5][a->stride_across - 1];
}

/* Input columns [*lo, *hi) of taps that lie inside, of the window whose first one is at `at`. */
static void taps_inside(ptrdiff_t at, size_t taps, size_t step, size_t size, size_t *lo, size_t *hi)
{
    *lo = at < 0 ? ((size_t)-at + step - 1) / step : 0;
    *hi = at >= (ptrdiff_t)size ? 0 : ((size_t)((ptrdiff_t)size - 1 - at)) / step + 1;
    if (*hi > taps) *hi = taps;
    if (*lo > *hi) *lo = *hi;
}

/* One result by the definition, DEPTH_VECTORS vectors of channels at once. */
static void depth_one(const struct depth_row *r, size_t column)
{
    const struct tn_depth_args *a = r->a;
    const size_t channels = a->channels, across = a->dilation_across * channels, down = a->dilation_down * a->width * channels;
    ptrdiff_t at = (ptrdiff_t)(column * a->stride_across) - a->left;
    size_t lo, hi;
    taps_inside(at, a->kernel_width, a->dilation_across, a->width, &lo, &hi);
    const float *x = hi > lo ? r->x + ((size_t)(at + (ptrdiff_t)(lo * a->dilation_across))) * channels : r->x;
    vtail tail[DEPTH_VECTORS];
    vec sum[DEPTH_VECTORS];
    for (size_t v = 0; v < DEPTH_VECTORS; v++) {
        tail[v] = v_tail(r->channels > v * VEC ? r->channels - v * VEC : 0);
        sum[v] = v_zero();
    }
    for (size_t row = 0; row < r->rows; row++) {
        const float *w = r->w + (row * a->kernel_width + lo) * channels, *from = x + row * down;
        for (size_t k = lo; k < hi; k++, w += channels, from += across) {
#pragma GCC unroll 4
            for (int v = 0; v < DEPTH_VECTORS; v++) sum[v] = v_fma(v_load_tail(w + v * VEC, tail[v]), v_load_tail(from + v * VEC, tail[v]), sum[v]);
        }
    }
    for (size_t v = 0; v * VEC < r->channels; v++) depth_leave(r, column * channels + v * VEC, v * VEC, tail[v], false, sum[v]);
}

/* The same with zeros outside. `row`: of the results. */
static void depth_zeros(const struct depth_row *r, size_t row, size_t column, size_t first)
{
    const struct tn_depth_args *a = r->a;
    for (size_t c = 0; c < r->channels; c += VEC) {
        vtail tail = v_tail(r->channels - c);
        vec sum = v_zero();
        for (size_t i = 0; i < a->kernel_height; i++) {
            for (size_t j = 0; j < a->kernel_width; j++) {
                ptrdiff_t y = (ptrdiff_t)(row * a->stride_down + i * a->dilation_down) - a->top;
                ptrdiff_t x = (ptrdiff_t)(column * a->stride_across + j * a->dilation_across) - a->left;
                bool inside = y >= 0 && x >= 0 && y < (ptrdiff_t)a->height && x < (ptrdiff_t)a->width;
                const float *w = a->w + (i * a->kernel_width + j) * a->channels + first + c;
                const float *from = inside ? a->x + ((size_t)y * a->width + (size_t)x) * a->channels + first + c : w;
                sum = v_fma(v_load_tail(w, tail), inside ? v_load_tail(from, tail) : v_zero(), sum);
            }
        }
        depth_leave(r, column * a->channels + c, c, tail, false, sum);
    }
}

/* Columns [begin, end) of one row of results. */
static void depth_columns(const struct depth_row *r, size_t begin, size_t end, const struct depth_group *groups)
{
    const struct tn_depth_args *a = r->a;
    const size_t s = a->stride_across, reach = (a->kernel_width - 1) * a->dilation_across;
    ptrdiff_t room = (ptrdiff_t)a->width - 1 - (ptrdiff_t)reach + a->left;
    size_t lo = a->left > 0 ? ((size_t)a->left + s - 1) / s : 0, hi = room < 0 ? 0 : (size_t)room / s + 1;
    size_t column = begin;
    while (column < end) {
        const struct depth_group *g = groups;
        if (column < lo || column >= hi || !g->columns) {
            depth_one(r, column++);
            continue;
        }
        size_t left = (end < hi ? end : hi) - column;
        while (g->columns > left) g++;
        if (!g->columns) {
            depth_one(r, column++);
            continue;
        }
        g->fn(r, r->x + (column * s - (size_t)a->left) * a->channels, column);
        column += g->columns;
    }
}

void TN_ISA(depth)(const struct tn_depth_args *a)
{
    const struct depth_group *groups = depth_groups(a);
    const struct tn_after *after = a->after ? a->after : &after_none;
    const size_t end = a->first + a->count, block = DEPTH_VECTORS * VEC;
    for (size_t c = 0; c < a->channels; c += block) {
        for (size_t at = a->first; at < end;) {
            size_t row = at / a->out_width, begin = at - row * a->out_width, last = (row + 1) * a->out_width < end ? a->out_width : end - row * a->out_width;
            ptrdiff_t top = (ptrdiff_t)(row * a->stride_down) - a->top, start = ((ptrdiff_t)(row * a->out_width) - (ptrdiff_t)a->first) * (ptrdiff_t)a->channels;
            size_t lo, hi;
            taps_inside(top, a->kernel_height, a->dilation_down, a->height, &lo, &hi);
            struct depth_row r = {.a = a, .after = after, .x = a->x + c, .w = a->w + lo * a->kernel_width * a->channels + c, .bias = a->bias ? a->bias + c : NULL,
                                  .rows = hi - lo, .channels = a->channels - c < block ? a->channels - c : block, .y = a->y + start + (ptrdiff_t)c,
                                  .residual = a->residual ? a->residual + start + (ptrdiff_t)c : NULL};
            r.bounded = depth_bounds(after, &r.low, &r.high);
            r.gated = after->kind == TN_FINISH_HARD_SWISH && !after->line;
            if (hi > lo) r.x += (size_t)(top + (ptrdiff_t)(lo * a->dilation_down)) * a->width * a->channels;
            for (size_t i = begin; a->zeros && i < last; i++) depth_zeros(&r, row, i, c);
            if (!a->zeros) depth_columns(&r, begin, last, groups);
            if (after_is_late(after)) after_late(after, r.y + begin * a->channels, a->channels, last - begin, r.channels);
            at += last - begin;
        }
    }
}
