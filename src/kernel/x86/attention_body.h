/*
 * Attention over ragged rows, for one instruction set. Per sequence and head: keys are transposed and
 * values copied into panels in scratch; then, for a tile of query rows at a time, scores of whole
 * rows (a matrix product against the key panels), softmax row by row in cache, and the product with
 * the value panels, scaled by 1 / sum on its way out.
 *
 * Whole score rows instead of a running maximum: no rescaling, one fixed order of sums, and at the
 * lengths of encoders a tile's scores fit the L1 or L2 cache. Scratch grows linearly with length.
 *
 * With a window, tiles begin at multiples of TILE_ROWS whoever computes them: a tile's first key
 * decides where the partial sums of its products begin (tile.h), so it must not depend on the team.
 */
#include "base/checked.h"
#include "kernel/x86/vec_math.h"
#include "kernel/x86/x86.h"

#define TILE_STEP(sum, x, w) v_fma(x, w, sum)
#include "kernel/x86/tile.h"

#include <math.h>

/* One head of one sequence, and the scratch of this rank. */
struct head {
    const struct tn_attention_args *a;
    size_t first, length; /* rows of the sequence */
    size_t seen;          /* of which so many are keys */
    size_t column;        /* of the head in q, k, v and out */
    const float *bias;    /* bias[j - i], or NULL */
    float *keys;          /* panels of the transposed keys: [head_dim][columns] */
    float *values;        /* panels of the values: [length][columns] */
    float *scores;        /* [TILE_ROWS][score_stride] */
    size_t score_stride;
    struct relative *relative; /* NULL: no disentangled terms */
};

/* Floats of the three scratch areas; each is a multiple of 64 bytes. */
struct layout {
    size_t keys, values, score_stride;
};

static bool lay_out(size_t length, size_t head_dim, struct layout *l)
{
    size_t padded_length, padded_dim;
    if (!tn_round_up(length, 16, &padded_length) || !tn_round_up(head_dim, 16, &padded_dim)) {
        return false;
    }
    if (!tn_mul(padded_length, head_dim, &l->keys)) return false;
    if (!tn_mul(length, padded_dim, &l->values)) return false;
    /* 64 bytes more keep rows of power-of-two lengths apart in the cache's sets */
    return tn_add(padded_length, 16, &l->score_stride);
}

/* VEC rows of `dim` floats, transposed; NULL rows are zero. */
static void pack_rows(const float *const row[VEC], size_t dim, float *to, size_t to_stride)
{
    for (size_t d = 0; d < dim; d += VEC) {
        vec r[VEC];
        for (size_t i = 0; i < VEC; i++) {
            if (!row[i]) {
                r[i] = v_zero();
            } else {
                r[i] = dim - d >= VEC ? v_load(row[i] + d) : v_load_tail(row[i] + d, v_tail(dim - d));
            }
        }
        v_transpose(r);
        for (size_t i = 0; i < VEC && d + i < dim; i++) v_store(to + (d + i) * to_stride, r[i]);
    }
}

#include "kernel/x86/attention_relative.h"

bool TN_ISA(attention_scratch_size)(size_t max_length, size_t head_dim, bool relative, size_t *bytes)
{
    struct layout l;
    size_t total, more = 0;
    if (!lay_out(max_length, head_dim, &l)) return false;
    if (relative && !relative_floats(max_length, head_dim, &more)) return false;
    if (!tn_mul(l.score_stride, TILE_ROWS, &total) || !tn_add(total, more, &total)) return false;
    if (!tn_add(total, l.keys, &total) || !tn_add(total, l.values, &total)) return false;
    return tn_mul(total, sizeof(float), &total) && tn_round_up(total, 64, bytes);
}

/* VEC keys from key j on, transposed; keys past the end are zero. */
static void pack_keys(const struct head *h, size_t j, float *to, size_t to_stride)
{
    const float *row[VEC];
    for (size_t i = 0; i < VEC; i++) {
        row[i] = j + i < h->seen ? h->a->k + (h->first + j + i) * h->a->k_stride + h->column : NULL;
    }
    pack_rows(row, h->a->head_dim, to, to_stride);
}

/* Values of keys [from, to) of panel p. */
static void pack_values(const struct head *h, size_t p, size_t from, size_t to)
{
    const size_t dim = h->a->head_dim, columns = panel_columns(dim, p);
    const size_t width = (size_t)panel_vectors(dim, p) * VEC;
    const float *v = h->a->v + (h->first + from) * h->a->v_stride + h->column + p * PANEL;
    float *at = h->values + p * PANEL * h->length + from * width;
    for (size_t j = from; j < to; j++, v += h->a->v_stride, at += width) {
        for (size_t c = 0; c < width; c += VEC) {
            vec x = columns - c >= VEC ? v_load(v + c) : v_load_tail(v + c, v_tail(columns - c));
            v_store(at + c, x);
        }
    }
}

/* Keys [from, to), of which `from` begins a panel. */
static void pack_head(const struct head *h, size_t from, size_t to)
{
    const size_t dim = h->a->head_dim;
    for (size_t p = from / PANEL; p * PANEL < to; p++) {
        int vectors = panel_vectors(h->seen, p);
        for (int v = 0; v < vectors; v++) {
            pack_keys(h, p * PANEL + (size_t)v * VEC, h->keys + p * PANEL * dim + v * VEC,
                      (size_t)vectors * VEC);
        }
    }
    for (size_t p = 0; p < panel_count(dim); p++) pack_values(h, p, from, to);
}

/* The keys of one row of scores: [begin, end) are seen, counted from the row's first score. */
struct band {
    size_t begin, end;
};

/* Lanes of keys that the row does not see hold `rest`. */
TN_INLINE vec in_band(vec v, struct band b, size_t j, float rest)
{
    if (b.end - j < VEC) v = v_blend_tail(v_tail(b.end - j), v, v_set(rest));
    return b.begin > j ? v_blend_tail(v_tail(b.begin - j), v_set(rest), v) : v;
}

/* Largest score of a row; with `bias` (or an unusual scale) the row is first replaced by its scaled
 * scores. Returns the factor that the scores still lack. */
TN_INLINE float prepare_row(const struct head *h, float *s, struct band b, const float *bias, float *largest)
{
    const vec scale = v_set(h->a->scale);
    const bool now = bias || !(h->a->scale > 0.0f);
    vec max = v_set(-HUGE_VALF);
    for (size_t j = b.begin / VEC * VEC; j < b.end; j += VEC) {
        vec v = v_load(s + j);
        if (now) {
            vec addend = v_zero();
            if (bias) {
                addend = b.end - j >= VEC ? v_load(bias + j)
                                          : v_load_tail(bias + j, v_tail(b.end - j));
            }
            v = v_fma(v, scale, addend);
            v_store(s + j, v);
        }
        max = v_max(max, in_band(v, b, j, -HUGE_VALF));
    }
    *largest = v_largest(max);
    return now ? 1.0f : h->a->scale;
}

/* Turns a row of scores into e^(score - largest) and returns 1 / sum. Inline, so that a band that begins at 0 costs
 * nothing. */
TN_INLINE float softmax_row(const struct head *h, float *s, struct band b, const float *bias)
{
    float largest, lacking = prepare_row(h, s, b, bias, &largest);
    const vec max = v_set(largest), factor = v_set(lacking * LOG2_E);
    vec sum = v_zero();
    for (size_t j = b.begin / VEC * VEC; j < b.end; j += VEC) {
        vec e = v_exp2_nonpositive(v_mul(v_sub(v_load(s + j), max), factor));
        e = in_band(e, b, j, 0.0f);
        v_store(s + j, e);
        sum = v_add(sum, e);
    }
    return 1.0f / v_sum(sum);
}

/* The same for row i that sees a window of the keys from .. to - 1; the others must weigh nothing. */
static float softmax_band(const struct head *h, float *s, size_t i, size_t from, size_t to, const float *bias)
{
    const size_t window = h->a->window;
    struct band b = {0, to - from};
    if (i + 1 > from + window) b.begin = i + 1 - window - from;
    if (i + window < to) b.end = i + window - from;
    float inverse = softmax_row(h, s, b, bias);
    for (size_t j = 0; j < b.begin / VEC * VEC; j += VEC) v_store(s + j, v_zero());
    for (size_t j = (b.end + VEC - 1) / VEC * VEC; j < to - from; j += VEC) v_store(s + j, v_zero());
    return inverse;
}

/* Query rows i .. i + rows - 1 against keys from .. to - 1; `from` begins a panel. */
TN_INLINE void attend_tile(const struct head *h, size_t i, size_t rows, size_t from, size_t to)
{
    const struct tn_attention_args *a = h->a;
    const size_t dim = a->head_dim;
    float inverse[TILE_ROWS];
    struct tile tile = {
        .x = a->q + (h->first + i) * a->q_stride + h->column,
        .x_stride = a->q_stride,
        .k = dim,
        .y_stride = h->score_stride,
    };
    for (size_t p = from / PANEL; p * PANEL < to; p++) {
        int vectors = panel_vectors(h->seen, p);
        tile.panel = h->keys + p * PANEL * dim;
        tile.y = h->scores + p * PANEL - from;
        tile.columns = (size_t)vectors * VEC;
        tiles[vectors - 1][rows - 1](&tile);
    }
    if (h->relative) add_relative(h, i, rows);
    for (size_t r = 0; r < rows; r++) {
        const float *bias = h->bias ? h->bias + from - (i + r) : NULL;
        float *s = h->scores + r * h->score_stride;
        inverse[r] = a->window ? softmax_band(h, s, i + r, from, to, bias)
                               : softmax_row(h, s, (struct band){0, to - from}, bias);
    }
    tile = (struct tile){
        .x = h->scores,
        .x_stride = h->score_stride,
        .k = to - from,
        .y_stride = a->out_stride,
        .row_scale = inverse,
    };
    for (size_t p = 0; p < panel_count(dim); p++) {
        tile.panel = h->values + p * PANEL * h->length + from * (size_t)panel_vectors(dim, p) * VEC;
        tile.y = a->out + (h->first + i) * a->out_stride + h->column + p * PANEL;
        tile.columns = panel_columns(dim, p);
        tiles[panel_vectors(dim, p) - 1][rows - 1](&tile);
    }
}

static void attend_rows(struct head *h, size_t begin, size_t end)
{
    size_t rows = end - begin, count = (rows + TILE_ROWS - 1) / TILE_ROWS, from, to;
    pack_head(h, 0, h->seen);
    if (h->relative) pack_relative(h);
    for (size_t t = 0; t < count; t++) {
        tn_share(rows, (unsigned)t, (unsigned)count, &from, &to);
        if (h->relative && t % RELATIVE_TILES == 0) {
            size_t last, past;
            tn_share(rows, (unsigned)(t + RELATIVE_TILES < count ? t + RELATIVE_TILES : count) - 1,
                     (unsigned)count, &last, &past);
            begin_relative(h, begin + from, past - from);
        }
        attend_tile(h, begin + from, to - from, 0, h->seen);
    }
}

/* The first key of the panel that holds the first key which some row of i's tile sees, and the end of those keys. */
static void tile_keys(const struct head *h, size_t i, size_t *from, size_t *to)
{
    size_t first = i / TILE_ROWS * TILE_ROWS, last = first + TILE_ROWS - 1, window = h->a->window;
    *from = first + 1 > window ? (first + 1 - window) / PANEL * PANEL : 0;
    *to = window < h->seen && last < h->seen - window ? last + window : h->seen;
}

static void attend_window(struct head *h, size_t begin, size_t end)
{
    size_t from, to, ignored;
    tile_keys(h, begin, &from, &ignored);
    tile_keys(h, end - 1, &ignored, &to);
    pack_head(h, from, to);
    for (size_t i = begin, past; i < end; i = past) {
        past = (i / TILE_ROWS + 1) * TILE_ROWS;
        if (past > end) past = end;
        tile_keys(h, i, &from, &to);
        attend_tile(h, i, past - i, from, to);
    }
}

/* Work of one query row: its keys, and what does not depend on them. */
static uint64_t row_work(const struct tn_attention_args *a, size_t length)
{
    uint64_t keys = a->window && a->window < length / 2 ? 2 * a->window : length;
    return keys + 64;
}

/* Where a position in the queue of all work falls among the rows of one head: rows are indivisible
 * and belong to the rank in whose share they begin. */
static size_t row_at(const struct tn_attention_args *a, uint64_t position, uint64_t head_begin, size_t length)
{
    if (position <= head_begin) return 0;
    uint64_t each = row_work(a, length), work = position - head_begin, rows = work / each;
    if (rows >= length) return length;
    return (size_t)rows + (work % each != 0);
}

static uint64_t all_work(const struct tn_attention_args *a)
{
    uint64_t total = 0;
    for (size_t n = 0; n < a->sequences; n++) {
        size_t length = (size_t)(a->offsets[n + 1] - a->offsets[n]);
        total += length * row_work(a, length) * a->heads;
    }
    return total;
}

void TN_ISA(attention)(const struct tn_attention_args *a, unsigned rank, unsigned size)
{
    const uint64_t total = size > 1 ? all_work(a) : UINT64_MAX;
    const uint64_t low = total / size * rank;
    const uint64_t high = rank == size - 1 ? UINT64_MAX : total / size * (rank + 1);
    uint64_t at = 0;
    struct relative relative;
    struct head h = {.a = a, .keys = (float *)(void *)((char *)a->scratch + rank * a->scratch_bytes)};
    for (size_t n = 0; n < a->sequences && at < high; n++) {
        h.first = (size_t)a->offsets[n];
        h.length = (size_t)a->offsets[n + 1] - h.first;
        struct layout l;
        h.seen = a->seen ? (size_t)a->seen[n].count : h.length;
        if (h.length == 0 || !lay_out(h.length, a->head_dim, &l)) continue;
        h.values = h.keys + l.keys;
        h.scores = h.values + l.values;
        h.score_stride = l.score_stride;
        if (a->position_key || a->position_query) {
            place_relative(&relative, h.scores + TILE_ROWS * l.score_stride, h.length, a->head_dim);
            h.relative = &relative;
        }
        for (size_t head = 0; head < a->heads; head++) {
            size_t begin = row_at(a, low, at, h.length), end = row_at(a, high, at, h.length);
            h.column = head * a->head_dim;
            h.bias = a->bias ? a->bias + head * a->bias_stride + a->bias_center : NULL;
            if (begin < end && a->window) attend_window(&h, begin, end);
            if (begin < end && !a->window) attend_rows(&h, begin, end);
            at += h.length * row_work(a, h.length);
        }
    }
}
