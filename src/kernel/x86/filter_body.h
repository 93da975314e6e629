/*
 * Minimal filtering over images whose channels are neighbours, for one instruction set: lanes are channels on the way in and
 * maps on the way out, so nothing is turned. A block of tiles is spread to its points, each a matrix [tiles][channels] that
 * is multiplied with its weights as pixels are, and what comes out is gathered tile by tile. Behind the points stand the
 * weights as they were given, for tiles that filtering cannot take.
 */
#include "base/checked.h"
#include "kernel/filter_forms.h"
#include "kernel/x86/after_vec.h"
#include "kernel/x86/filter_math.h"
#include "kernel/x86/tile_args.h"

#include <math.h>
#include <string.h>

enum { MOST_POINTS = 36, LINE_FLOATS = 16 };

/* ---- weights ------------------------------------------------------------------------------------------------------ */

/* Bytes of a point's weights, of all of them, and of those that are kept as they are. */
static bool weight_sizes(const struct filter_form *f, size_t maps, size_t channels, size_t *point, size_t *points, size_t *plain)
{
    return TN_ISA(pixels_pack_size)(maps, channels, point) && tn_mul(*point, (size_t)(f->points_down * f->points_across), points) &&
           tn_mul(maps, channels, plain) && tn_mul(*plain, (size_t)(f->taps_down * f->taps_across) * sizeof(float), plain);
}

bool TN_ISA(filter_pack_size)(enum tn_filter form, size_t maps, size_t channels, size_t *bytes)
{
    size_t point, points, plain;
    return weight_sizes(&filter_forms[form], maps, channels, &point, &points, &plain) && tn_add(points, plain, &plain) && tn_round_up(plain, 64, bytes);
}

/* G g G' of one window, or G g. */
static void spread_window(const struct filter_form *f, const float *g, float u[MOST_POINTS])
{
    double half[8][5] = {{0}};
    for (int i = 0; i < f->points_down; i++) {
        for (int j = 0; j < f->taps_across; j++) {
            for (int k = 0; k < f->taps_down; k++) half[i][j] += (f->points_down == 1 ? 1 : f->g[i][k]) * (double)g[k * f->taps_across + j];
        }
    }
    for (int i = 0; i < f->points_down; i++) {
        for (int j = 0; j < f->points_across; j++) {
            double sum = 0;
            for (int k = 0; k < f->taps_across; k++) sum += half[i][k] * f->g[j][k];
            u[i * f->points_across + j] = (float)sum;
        }
    }
}

/* Panels of pixels at each point; ranks share panels. */
void TN_ISA(filter_pack)(enum tn_filter form, const float *w, size_t maps, size_t channels, void *packed, unsigned rank, unsigned size)
{
    const struct filter_form *f = &filter_forms[form];
    const size_t count = (size_t)(f->points_down * f->points_across), taps = (size_t)(f->taps_down * f->taps_across), head = (maps + 15) / 16 * 16;
    size_t point, points, plain, begin, end;
    float u[MOST_POINTS];
    if (!weight_sizes(f, maps, channels, &point, &points, &plain)) return;
    tn_share(panel_count(maps), rank, size, &begin, &end);
    for (size_t i = 0; i < count && rank == 0; i++) memset((char *)packed + i * point, 0, head * sizeof(float));
    if (rank == 0) memcpy((char *)packed + points, w, plain);
    for (size_t p = begin; p < end; p++) {
        const size_t columns = panel_columns(maps, p), width = (size_t)panel_vectors(maps, p) * VEC;
        for (size_t c = 0; c < channels; c++) {
            for (size_t m = 0; m < width; m++) {
                if (m < columns) spread_window(f, w + ((p * PANEL + m) * channels + c) * taps, u);
                for (size_t i = 0; i < count; i++)
                    ((float *)(void *)((char *)packed + i * point))[head + p * PANEL * channels + c * width + m] = m < columns ? u[i] : 0;
            }
        }
    }
}

/* ---- room --------------------------------------------------------------------------------------------------------- */

/* From one point's matrix to the next: an odd number of cache lines, so that all of them lie in different sets. */
static bool point_stride(size_t rows, size_t width, size_t *floats)
{
    if (!tn_mul(rows, width, floats) || !tn_round_up(*floats, LINE_FLOATS, floats)) return false;
    return *floats / LINE_FLOATS % 2 == 1 || tn_add(*floats, LINE_FLOATS, floats);
}

/* Inputs of a tile at a border, spread inputs, products. */
bool TN_ISA(filter_scratch_size)(enum tn_filter form, size_t maps, size_t channels, size_t count, size_t *bytes)
{
    const size_t points = (size_t)(filter_forms[form].points_down * filter_forms[form].points_across);
    size_t in, out, floats;
    return point_stride(count, channels, &in) && point_stride(count, maps, &out) && tn_add(in, out, &floats) && tn_add(floats, channels, &floats) &&
           tn_mul(floats, points * sizeof(float), bytes) && tn_round_up(*bytes, 64, bytes);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------- */

struct tile_place {
    size_t row, column; /* of its first result */
};

static struct tile_place place_of(const struct tn_filter_args *a, const struct filter_form *f, size_t tile)
{
    size_t across = (a->out_width + (size_t)f->columns - 1) / (size_t)f->columns;
    return (struct tile_place){tile / across * (size_t)f->rows, tile % across * (size_t)f->columns};
}

/* Inputs of a tile with zeros outside the image, one behind the other. */
static void lay_out(const struct tn_filter_args *a, const struct filter_form *f, ptrdiff_t top, ptrdiff_t left, float *to)
{
    for (ptrdiff_t i = 0; i < f->points_down; i++) {
        for (ptrdiff_t j = 0; j < f->points_across; j++, to += a->channels) {
            ptrdiff_t row = top + i, column = left + j;
            bool met = row >= 0 && column >= 0 && row < (ptrdiff_t)a->height && column < (ptrdiff_t)a->width;
            if (met) memcpy(to, a->x + ((size_t)row * a->x_down + (size_t)column * a->x_across) * a->channels, a->channels * sizeof(*to));
            else memset(to, 0, a->channels * sizeof(*to));
        }
    }
}

TN_INLINE vec load_some(const float *x, const vtail tail, const bool whole)
{
    return whole ? v_load(x) : v_load_tail(x, tail);
}

TN_INLINE void store_some(float *y, const vtail tail, const bool whole, vec v)
{
    if (whole) v_store(y, v);
    else v_store_tail(y, tail, v);
}

/* Six by six inputs, `down` and `across` apart, to points `stride` apart. */
TN_INLINE void spread_square(const float *x, size_t down, size_t across, float *to, size_t stride, const vtail tail, const bool whole)
{
    vec half[6][6], in[6], out[6];
#pragma GCC unroll 6
    for (int j = 0; j < 6; j++) {
#pragma GCC unroll 6
        for (int i = 0; i < 6; i++) in[i] = load_some(x + (size_t)i * down + (size_t)j * across, tail, whole);
        spread6(in, out);
#pragma GCC unroll 6
        for (int i = 0; i < 6; i++) half[i][j] = out[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        spread6(half[i], out);
#pragma GCC unroll 6
        for (int j = 0; j < 6; j++) store_some(to + (size_t)(i * 6 + j) * stride, tail, whole, out[j]);
    }
}

TN_INLINE void spread_line(const float *x, size_t across, float *to, size_t stride, const int points, const vtail tail, const bool whole)
{
    vec in[8], out[8];
#pragma GCC unroll 8
    for (int j = 0; j < points; j++) in[j] = load_some(x + (size_t)j * across, tail, whole);
    if (points == 6) spread6(in, out);
    else spread8(in, out);
#pragma GCC unroll 8
    for (int j = 0; j < points; j++) store_some(to + (size_t)j * stride, tail, whole, out[j]);
}

static void spread_inputs(enum tn_filter form, const float *x, size_t down, size_t across, size_t channels, float *to, size_t stride)
{
    const size_t whole = channels / VEC * VEC;
    const vtail all = v_tail(VEC), tail = v_tail(channels - whole);
    switch (form) {
    case TN_FILTER_3X3:
        for (size_t c = 0; c < whole; c += VEC) spread_square(x + c, down, across, to + c, stride, all, true);
        if (whole < channels) spread_square(x + whole, down, across, to + whole, stride, tail, false);
        break;
    case TN_FILTER_1X3:
        for (size_t c = 0; c < whole; c += VEC) spread_line(x + c, across, to + c, stride, 6, all, true);
        if (whole < channels) spread_line(x + whole, across, to + whole, stride, 6, tail, false);
        break;
    default:
        for (size_t c = 0; c < whole; c += VEC) spread_line(x + c, across, to + c, stride, 8, all, true);
        if (whole < channels) spread_line(x + whole, across, to + whole, stride, 8, tail, false);
        break;
    }
}

static void spread_tile(const struct tn_filter_args *a, const struct filter_form *f, size_t tile, float *border, float *to, size_t stride)
{
    const struct tile_place p = place_of(a, f, tile);
    const ptrdiff_t top = (ptrdiff_t)p.row - a->top, left = (ptrdiff_t)p.column - a->left;
    const bool inside = top >= 0 && left >= 0 && top + f->points_down <= (ptrdiff_t)a->height && left + f->points_across <= (ptrdiff_t)a->width;
    const size_t c = a->channels;
    if (inside) {
        spread_inputs(a->form, a->x + ((size_t)top * a->x_down + (size_t)left * a->x_across) * c, a->x_down * c, a->x_across * c, c, to, stride);
        return;
    }
    lay_out(a, f, top, left, border);
    spread_inputs(a->form, border, (size_t)f->points_across * c, c, c, to, stride);
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

/* Sums of a vector of maps on their way out, at result (row, column); what is late is done by the row. */
TN_INLINE void leave_sum(const struct tn_filter_args *a, const struct tn_after *after, size_t row, size_t column, size_t map, const vtail tail, vec v)
{
    const size_t pixel = row * a->y_down + column * a->y_across;
    if (a->bias) v = v_add(v, v_load_tail(a->bias + map, tail));
    if (a->residual && map < a->residual_maps)
        v = v_add(v, v_load_tail(a->residual + pixel * a->residual_maps + map, v_tail(a->residual_maps - map) & tail));
    v_store_tail(a->y + pixel * a->maps + map, tail, after_vec(after, v));
}

struct bounds {
    size_t rows, columns; /* results of a tile that are there */
};

static struct bounds bounds_of(const struct tn_filter_args *a, const struct filter_form *f, struct tile_place p)
{
    struct bounds b = {a->out_height - p.row, a->out_width - p.column};
    if (b.rows > (size_t)f->rows) b.rows = (size_t)f->rows;
    if (b.columns > (size_t)f->columns) b.columns = (size_t)f->columns;
    return b;
}

/* One vector of maps of a tile; lanes of the result are NaN where something is not finite. */
TN_INLINE vec gather_square(const struct tn_filter_args *a, const struct tn_after *after, struct tile_place p, struct bounds b, const float *m, size_t stride,
                            size_t map, const vtail tail)
{
    vec half[4][6], in[6], out[4], odd = v_zero();
#pragma GCC unroll 6
    for (int j = 0; j < 6; j++) {
#pragma GCC unroll 6
        for (int i = 0; i < 6; i++) in[i] = v_load_tail(m + (size_t)(i * 6 + j) * stride, tail);
        gather6(in, out);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) half[i][j] = out[i];
    }
    for (size_t i = 0; i < 4; i++) {
        gather6(half[i], out);
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) odd = v_fma(out[j], v_zero(), odd);
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; j++) {
            if (i < b.rows && j < b.columns) leave_sum(a, after, p.row + i, p.column + j, map, tail, out[j]);
        }
    }
    return odd;
}

TN_INLINE vec gather_line(const struct tn_filter_args *a, const struct tn_after *after, struct tile_place p, struct bounds b, const float *m, size_t stride,
                          size_t map, const int points, const vtail tail)
{
    vec in[8], out[4], odd = v_zero();
#pragma GCC unroll 8
    for (int j = 0; j < points; j++) in[j] = v_load_tail(m + (size_t)j * stride, tail);
    if (points == 6) gather6(in, out);
    else gather8(in, out);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) odd = v_fma(out[j], v_zero(), odd);
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; j++) {
        if (j < b.columns) leave_sum(a, after, p.row, p.column + j, map, tail, out[j]);
    }
    return odd;
}

/* The sum of one result and map from the definition, zeros outside. */
static float plain_sum(const struct tn_filter_args *a, const struct filter_form *f, const float *w, size_t row, size_t column, size_t map)
{
    const size_t taps = (size_t)(f->taps_down * f->taps_across);
    float sum = 0;
    for (size_t t = 0; t < taps; t++) {
        ptrdiff_t y = (ptrdiff_t)(row + t / (size_t)f->taps_across) - a->top, x = (ptrdiff_t)(column + t % (size_t)f->taps_across) - a->left;
        if (y < 0 || x < 0 || y >= (ptrdiff_t)a->height || x >= (ptrdiff_t)a->width) continue;
        const float *from = a->x + ((size_t)y * a->x_down + (size_t)x * a->x_across) * a->channels;
        for (size_t c = 0; c < a->channels; c++) sum += w[(map * a->channels + c) * taps + t] * from[c];
    }
    return sum;
}

/* Infinite and NaN inputs reach all results of a tile, and huge ones overflow on the way: such a tile is summed anew. */
static void sum_tile(const struct tn_filter_args *a, const struct filter_form *f, const struct tn_after *after, struct tile_place p, struct bounds b)
{
    size_t point, points, plain;
    if (!weight_sizes(f, a->maps, a->channels, &point, &points, &plain)) return;
    const float *w = (const float *)(const void *)((const char *)a->packed + points);
    for (size_t i = 0; i < b.rows * b.columns; i++) {
        const size_t row = p.row + i / b.columns, column = p.column + i % b.columns;
        for (size_t map = 0; map < a->maps; map += VEC) {
            float sums[VEC] = {0};
            for (size_t m = 0; m < VEC && map + m < a->maps; m++) sums[m] = plain_sum(a, f, w, row, column, map + m);
            leave_sum(a, after, row, column, map, v_tail(a->maps - map), v_load(sums));
        }
    }
}

static void gather_tile(const struct tn_filter_args *a, const struct filter_form *f, const struct tn_after *after, size_t tile, const float *m, size_t stride)
{
    const struct tile_place p = place_of(a, f, tile);
    const struct bounds b = bounds_of(a, f, p);
    vec odd = v_zero();
    for (size_t map = 0; map < a->maps; map += VEC) {
        const vtail tail = v_tail(a->maps - map);
        vec v = a->form == TN_FILTER_3X3   ? gather_square(a, after, p, b, m + map, stride, map, tail)
                : a->form == TN_FILTER_1X3 ? gather_line(a, after, p, b, m + map, stride, map, 6, tail)
                                           : gather_line(a, after, p, b, m + map, stride, map, 8, tail);
        odd = v_add(odd, v);
    }
    if (v_any_nonfinite(odd)) sum_tile(a, f, after, p, b);
    for (size_t i = 0; after_is_late(after) && i < b.rows; i++)
        after_late(after, a->y + ((p.row + i) * a->y_down + p.column * a->y_across) * a->maps, a->y_across * a->maps, b.columns, a->maps);
}

void TN_ISA(filter)(const struct tn_filter_args *a)
{
    const struct filter_form *f = &filter_forms[a->form];
    const struct tn_after *after = a->after ? a->after : &after_none;
    const size_t points = (size_t)(f->points_down * f->points_across);
    size_t in, out, bytes;
    if (!point_stride(a->count, a->channels, &in) || !point_stride(a->count, a->maps, &out) || !TN_ISA(pixels_pack_size)(a->maps, a->channels, &bytes)) return;
    float *spread = a->scratch, *products = spread + points * in, *border = products + points * out;
    for (size_t t = 0; t < a->count; t++) spread_tile(a, f, a->first + t, border, spread + t * a->channels, in);
    for (size_t i = 0; i < points; i++) {
        struct tn_pixels_args p = {.x = spread + i * in, .x_stride = a->channels, .rows = a->count, .k = a->channels, .packed = (const char *)a->packed + i * bytes,
                                   .y = products + i * out, .y_stride = a->maps, .maps = a->maps, .parts = 1};
        TN_ISA(pixels)(&p);
    }
    for (size_t t = 0; t < a->count; t++) gather_tile(a, f, after, a->first + t, products + t * a->maps, out);
}
