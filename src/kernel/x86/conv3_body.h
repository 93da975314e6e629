/*
 * 3 x 3 windows by Winograd's F(4 x 4, 3 x 3), for one instruction set (Lavin and Gray 2016, arXiv 1509.09308, section 4.3):
 *
 *     Y = A' [ (G g G') * (B' d B) summed over channels ] A
 *
 * with points 0, 1, -1, 2, -2 and infinity. Lanes are tiles: a block of up to 32 neighbouring tiles goes through all of it.
 * Inputs are spread to 36 matrices [channels][tiles], each is multiplied with its weights [maps][channels], and the 36
 * numbers of each map and tile come together to 16 results. Products over channels are summed by chunks of 192, as in the
 * linear layer; a tile's results depend on its own inputs alone.
 */
#include "base/checked.h"
#include "kernel/x86/after.h"
#include "kernel/x86/filter_math.h"
#include "kernel/x86/tile_args.h"

#include <string.h>

enum { POINTS = 36, SUM_CHUNK = 192, TILES = TN_CONV3_BLOCK, SLACK = 2 * VEC, LINE = TILES * 4 + 8 + 4 * SLACK };

/* ---- weights ------------------------------------------------------------------------------------------------------ */

static size_t groups_of(size_t maps)
{
    return (maps + TILE_ROWS - 1) / TILE_ROWS;
}

bool TN_ISA(conv3_pack_size)(size_t maps, size_t channels, size_t *bytes)
{
    size_t count;
    return tn_mul(maps, channels, &count) && tn_mul(count, POINTS * sizeof(float), &count) && tn_round_up(count, 64, bytes);
}

/* V [36][channels][TILES], M [36][maps][TILES], each of the 36 one line longer: at powers of two all would meet in one set of
 * the cache. */
bool TN_ISA(conv3_scratch_size)(size_t maps, size_t channels, size_t *bytes)
{
    size_t lines;
    return tn_add(maps, channels, &lines) && tn_add(lines, 2, &lines) && tn_mul(lines, (size_t)POINTS * TILES * sizeof(float), bytes);
}

static size_t point_stride(size_t lines)
{
    return (lines + 1) * TILES;
}

struct conv3_weights {
    const void *data; /* [maps][channels][9] */
    enum tn_float_type type;
    size_t maps, channels;
    float *packed;
};

/* Maps of a group side by side, so that compilers make vectors of them; channels at a time that are widened together. */
enum { LANES = (TILE_ROWS + 7) / 8 * 8, WIDENED = 16 };

/* G g G' of each lane. */
static void spread_weights(double g[9][LANES], float u[POINTS][LANES])
{
    static const double G[6][3] = {{0.25, 0, 0}, {-1.0 / 6, -1.0 / 6, -1.0 / 6}, {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                   {1.0 / 24, 1.0 / 12, 1.0 / 6}, {1.0 / 24, -1.0 / 12, 1.0 / 6}, {0, 0, 1}};
    double half[6][3][LANES];
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 3; j++) {
            for (int n = 0; n < LANES; n++) half[i][j][n] = G[i][0] * g[j][n] + G[i][1] * g[3 + j][n] + G[i][2] * g[6 + j][n];
        }
    }
    for (int i = 0; i < POINTS; i++) {
        double(*h)[LANES] = half[i / 6];
        for (int n = 0; n < LANES; n++) u[i][n] = (float)(h[0][n] * G[i % 6][0] + h[1][n] * G[i % 6][1] + h[2][n] * G[i % 6][2]);
    }
}

/* Channels [from, to) of maps [begin, end), which are a group. */
static void pack_channels(const struct conv3_weights *w, size_t begin, size_t end, size_t from, size_t to)
{
    float wide[TILE_ROWS][WIDENED * 9];
    double g[9][LANES] = {{0}};
    float u[POINTS][LANES];
    const size_t each = w->maps * w->channels, n = end - begin;
    for (size_t m = 0; m < n; m++) {
        const char *source = (const char *)w->data + ((begin + m) * w->channels + from) * 9 * tn_float_type_size(w->type);
        TN_ISA(to_f32)(w->type, source, wide[m], (to - from) * 9);
    }
    for (size_t c = from; c < to; c++) {
        for (size_t m = 0; m < n; m++) {
            for (size_t i = 0; i < 9; i++) g[i][m] = (double)wide[m][(c - from) * 9 + i];
        }
        spread_weights(g, u);
        float *out = w->packed + begin * w->channels + c * n;
        for (size_t i = 0; i < POINTS; i++) v_store_tail(out + i * each, v_tail(n), v_load(u[i]));
    }
}

/* [36][groups of maps][channels][maps of the group] */
void TN_ISA(conv3_pack)(const void *data, enum tn_float_type type, size_t maps, size_t channels, void *packed, unsigned rank, unsigned size)
{
    const struct conv3_weights w = {data, type, maps, channels, packed};
    size_t begin, end, first, last, groups = groups_of(maps);
    tn_share(groups, rank, size, &first, &last);
    for (size_t k = first; k < last; k++) {
        tn_share(maps, (unsigned)k, (unsigned)groups, &begin, &end);
        for (size_t c = 0; c < channels; c += WIDENED) pack_channels(&w, begin, end, c, channels - c < WIDENED ? channels : c + WIDENED);
    }
}

/* ---- inputs ------------------------------------------------------------------------------------------------------- */

/* Tiles of a block that stand side by side. */
struct run {
    size_t row, column, at, count; /* tile row and column; place in the block */
};

static struct run next_run(const struct tn_conv3_args *a, size_t first, size_t at, size_t count)
{
    size_t across = (a->out_width + 3) / 4, tile = first + at, left = across - tile % across;
    return (struct run){tile / across, tile % across, at, left < count - at ? left : count - at};
}

/* `count` elements of an image row from column `from` on, zeros outside. */
static void load_line(const struct tn_conv3_args *a, size_t channel, ptrdiff_t row, ptrdiff_t from, size_t count, float *line)
{
    ptrdiff_t lo = from < 0 ? -from : 0, hi = (ptrdiff_t)a->width - from;
    if (hi > (ptrdiff_t)count) hi = (ptrdiff_t)count;
    if (row < 0 || row >= (ptrdiff_t)a->height || lo >= hi) {
        memset(line, 0, count * sizeof(*line));
        return;
    }
    const size_t at = (channel * a->height + (size_t)row) * a->width + (size_t)(from + lo), size = tn_float_type_size(a->type);
    for (ptrdiff_t i = 0; i < lo; i++) line[i] = 0;
    TN_ISA(to_f32)(a->type, (const char *)a->x + at * size, line + lo, (size_t)(hi - lo));
    if (hi < (ptrdiff_t)count) memset(line + hi, 0, (count - (size_t)hi) * sizeof(*line));
}

typedef float patch[6][6][TILES + SLACK]; /* row, column and tile */

/* Columns 4 and 5 of a tile are columns 0 and 1 of the next one; of the last one of a run, what follows in the line. */
TN_INLINE void last_columns(float d[6][TILES + SLACK], const struct run *r, size_t t, const vec split[4], const vec next[4])
{
#pragma GCC unroll 2
    for (int j = 0; j < 2; j++) v_store(d[4 + j] + r->at + t, v_follow(split[j], next[j]));
    if (r->count - t >= VEC) return;
    for (int j = 0; j < 2; j++) d[4 + j][r->at + r->count - 1] = v_first(next[j]);
}

static void load_patch(const struct tn_conv3_args *a, size_t channel, const struct run *r, patch d)
{
    float line[LINE];
    for (int i = 0; i < 6; i++) {
        vec split[4], next[4];
        load_line(a, channel, (ptrdiff_t)(r->row * 4) + i - a->top, (ptrdiff_t)(r->column * 4) - a->left, r->count * 4 + 2, line);
        v_split4(line, split);
        for (size_t t = 0; t < r->count; t += VEC) {
            if (t + VEC < r->count) {
                v_split4(line + 4 * (t + VEC), next);
            } else { /* one tile more, if the run is as long as that */
                next[0] = v_set(line[4 * r->count]);
                next[1] = v_set(line[4 * r->count + 1]);
                next[2] = next[3] = v_zero();
            }
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++) v_store(d[i][j] + r->at + t, split[j]);
            last_columns(d[i], r, t, split, next);
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++) split[j] = next[j];
        }
    }
}

/* B' d B of a vector of tiles, to `to` + i * stride. */
static void spread_patch(patch d, size_t at, float *to, size_t stride)
{
    vec half[6][6], in[6], out[6];
#pragma GCC unroll 6
    for (int j = 0; j < 6; j++) {
        for (int i = 0; i < 6; i++) in[i] = v_load(d[i][j] + at);
        spread6(in, out);
        for (int i = 0; i < 6; i++) half[i][j] = out[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        spread6(half[i], out);
        for (int j = 0; j < 6; j++) v_store(to + (size_t)(i * 6 + j) * stride, out[j]);
    }
}

/* ---- products ----------------------------------------------------------------------------------------------------- */

TN_INLINE void point_tile(const float *u, const float *v, size_t channels, float *m, const int rows, const int nv)
{
    for (size_t begin = 0; begin < channels; begin += SUM_CHUNK) {
        size_t end = channels - begin < SUM_CHUNK ? channels : begin + SUM_CHUNK;
        vec sum[TILE_ROWS][2];
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
            for (int k = 0; k < nv; k++) sum[i][k] = v_zero();
        }
        for (size_t c = begin; c < end; c++, u += rows, v += TILES) {
            vec column[2];
#pragma GCC unroll 2
            for (int k = 0; k < nv; k++) column[k] = v_load(v + k * VEC);
#pragma GCC unroll 12
            for (int i = 0; i < rows; i++) {
                vec element = v_set(u[i]);
#pragma GCC unroll 2
                for (int k = 0; k < nv; k++) sum[i][k] = v_fma(element, column[k], sum[i][k]);
            }
        }
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
            for (int k = 0; k < nv; k++) {
                float *at = m + i * TILES + k * VEC;
                v_store(at, begin ? v_add(v_load(at), sum[i][k]) : sum[i][k]);
            }
        }
    }
}

typedef void point_fn(const float *u, const float *v, size_t channels, float *m);
#define TILE(rows, nv)                                                                             \
    static void point_##rows##x##nv(const float *u, const float *v, size_t channels, float *m)     \
    {                                                                                              \
        point_tile(u, v, channels, m, rows, nv);                                                   \
    }
TILE_HEIGHTS(TILE, 1)
TILE_HEIGHTS(TILE, 2)
#undef TILE
#define TILE(rows, nv) point_##rows##x##nv,
static point_fn *const point_tiles[2][TILE_ROWS] = {{TILE_HEIGHTS(TILE, 1)}, {TILE_HEIGHTS(TILE, 2)}};
#undef TILE

static void multiply_points(const struct tn_conv3_args *a, const float *v, float *m, size_t tiles)
{
    size_t begin, end, groups = groups_of(a->maps);
    const float *u = a->packed;
    for (size_t i = 0; i < POINTS; i++, v += point_stride(a->channels), m += point_stride(a->maps)) {
        for (size_t at = 0; at < tiles; at += PANEL) {
            const float *w = u + i * a->maps * a->channels;
            for (size_t g = 0; g < groups; g++) {
                tn_share(a->maps, (unsigned)g, (unsigned)groups, &begin, &end);
                point_tiles[tiles - at > VEC][end - begin - 1](w + begin * a->channels, v + at, a->channels, m + begin * TILES + at);
            }
        }
    }
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

typedef float results[4][TILES * 4 + 4 * SLACK]; /* four rows of results, tile after tile */

/* Lanes of the result are NaN for tiles with anything that is not finite. */
static vec gather_tiles(const float *m, size_t stride, size_t at, float bias, results rows)
{
    vec half[4][6], in[6], out[4], odd = v_zero();
    const vec addend = v_set(bias);
#pragma GCC unroll 6
    for (int j = 0; j < 6; j++) {
        for (int i = 0; i < 6; i++) in[i] = v_load(m + (size_t)(i * 6 + j) * stride + at);
        gather6(in, out);
        for (int i = 0; i < 4; i++) half[i][j] = out[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        gather6(half[i], out);
        for (int j = 0; j < 4; j++) odd = v_fma(out[j], v_zero(), odd);
        for (int j = 0; j < 4; j++) out[j] = v_add(out[j], addend);
        v_join4(out, rows[i] + 4 * at);
    }
    return odd;
}

/* ---- numbers that filtering cannot take --------------------------------------------------------------------------- */

/*
 * Infinite and NaN inputs reach all 16 results of a tile, and huge ones overflow on the way. Such a tile is summed from the
 * definition. The window comes back out of the transformed weights: rows 0, 1 - 2 and 5 of G give its rows.
 */
static void window_of(const struct tn_conv3_args *a, size_t map, size_t channel, float g[9])
{
    static const int point[4] = {0, 1, 2, 5};
    size_t groups = groups_of(a->maps), k = 0, begin, end;
    for (;; k++) {
        tn_share(a->maps, (unsigned)k, (unsigned)groups, &begin, &end);
        if (map < end) break;
    }
    const float *u = (const float *)a->packed + begin * a->channels + channel * (end - begin) + (map - begin);
    double t[4][3];
    for (int i = 0; i < 4; i++) {
        double c[4];
        for (int j = 0; j < 4; j++) c[j] = (double)u[(size_t)(point[i] * 6 + point[j]) * a->maps * a->channels];
        t[i][0] = 4 * c[0];
        t[i][1] = 3 * (c[2] - c[1]);
        t[i][2] = c[3];
    }
    for (int j = 0; j < 3; j++) {
        g[j] = (float)(4 * t[0][j]);
        g[3 + j] = (float)(3 * (t[2][j] - t[1][j]));
        g[6 + j] = (float)t[3][j];
    }
}

static void sum_tile(const struct tn_conv3_args *a, size_t map, size_t tile, float bias, results rows, size_t at)
{
    const size_t across = (a->out_width + 3) / 4, row = tile / across * 4, column = tile % across * 4;
    float sum[4][4] = {{0}}, d[6][8], g[9];
    for (size_t c = 0; c < a->channels; c++) {
        for (int i = 0; i < 6; i++) load_line(a, c, (ptrdiff_t)row + i - a->top, (ptrdiff_t)column - a->left, 6, d[i]);
        window_of(a, map, c, g);
        for (int k = 0; k < 9; k++) {
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++) sum[i][j] += g[k] * d[i + k / 3][j + k % 3];
            }
        }
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) rows[i][4 * at + (size_t)j] = sum[i][j] + bias;
    }
}

static void sum_odd_tiles(const struct tn_conv3_args *a, size_t map, size_t first, size_t at, size_t count, vec odd, float bias, results rows)
{
    float lane[VEC];
    v_store(lane, odd);
    for (size_t i = 0; i < VEC && at + i < count; i++) {
        if (lane[i] != lane[i]) sum_tile(a, map, first + at + i, bias, rows, at + i);
    }
}

static void store_run(const struct tn_conv3_args *a, size_t map, const struct run *r, results rows)
{
    const size_t size = tn_float_type_size(a->type), column = r->column * 4;
    size_t width = a->out_width - column < r->count * 4 ? a->out_width - column : r->count * 4;
    for (size_t i = 0; i < 4 && r->row * 4 + i < a->out_height; i++) {
        size_t at = ((map * a->out_height + r->row * 4 + i) * a->out_width + column) * size;
        struct leaving out = {.sums = rows[i] + r->at * 4, .width = width, .after = a->after ? a->after : &after_nothing, .type = a->type,
                              .residual = a->residual ? (const char *)a->residual + at : NULL, .y = (char *)a->y + at};
        leave_row(&out);
    }
}

static void run_block(const struct tn_conv3_args *a, size_t first, size_t count)
{
    float *v = a->scratch, *m = v + POINTS * point_stride(a->channels);
    patch d;
    results rows;
    memset(d, 0, sizeof(d));
    for (size_t c = 0; c < a->channels; c++) {
        for (size_t at = 0; at < count;) {
            struct run r = next_run(a, first, at, count);
            load_patch(a, c, &r, d);
            at += r.count;
        }
        for (size_t at = 0; at < count; at += VEC) spread_patch(d, at, v + c * TILES + at, point_stride(a->channels));
    }
    multiply_points(a, v, m, count);
    for (size_t map = 0; map < a->maps; map++) {
        const float bias = a->bias ? a->bias[map] : 0;
        for (size_t at = 0; at < count; at += VEC) {
            vec odd = gather_tiles(m + map * TILES, point_stride(a->maps), at, bias, rows);
            if (v_any_nonfinite(odd)) sum_odd_tiles(a, map, first, at, count, odd, bias, rows);
        }
        for (size_t at = 0; at < count;) {
            struct run r = next_run(a, first, at, count);
            store_run(a, map, &r, rows);
            at += r.count;
        }
    }
}

void TN_ISA(conv3)(const struct tn_conv3_args *a)
{
    for (size_t at = 0; at < a->count; at += TILES) run_block(a, a->first + at, a->count - at < TILES ? a->count - at : TILES);
}
