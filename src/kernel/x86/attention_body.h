/*
 * Attention over ragged rows, for one instruction set. Per sequence and head: keys are transposed and
 * values copied into panels in scratch; then, for a tile of query rows at a time, scores of whole
 * rows (a matrix product against the key panels), softmax row by row in cache, and the product with
 * the value panels, scaled by 1 / sum on its way out.
 *
 * Whole score rows instead of a running maximum: no rescaling, one fixed order of sums, and at the
 * lengths of encoders a tile's scores fit the L1 or L2 cache. Scratch grows linearly with length.
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
    size_t column;        /* of the head in q, k, v and out */
    const float *bias;    /* bias[j - i], or NULL */
    float *keys;          /* panels of the transposed keys: [head_dim][columns] */
    float *values;        /* panels of the values: [length][columns] */
    float *scores;        /* [TILE_ROWS][score_stride] */
    size_t score_stride;
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

bool TN_ISA(attention_scratch_size)(size_t max_length, size_t head_dim, size_t *bytes)
{
    struct layout l;
    size_t total;
    if (!lay_out(max_length, head_dim, &l)) return false;
    if (!tn_mul(l.score_stride, TILE_ROWS, &total)) return false;
    if (!tn_add(total, l.keys, &total) || !tn_add(total, l.values, &total)) return false;
    return tn_mul(total, sizeof(float), &total) && tn_round_up(total, 64, bytes);
}

/* VEC keys from key j on, transposed; keys past the end are zero. */
static void pack_keys(const struct head *h, size_t j, float *to, size_t to_stride)
{
    const size_t dim = h->a->head_dim;
    const float *k = h->a->k + (h->first + j) * h->a->k_stride + h->column;
    for (size_t d = 0; d < dim; d += VEC) {
        vec r[VEC];
        for (size_t i = 0; i < VEC; i++) {
            const float *row = k + i * h->a->k_stride + d;
            if (j + i >= h->length) {
                r[i] = v_zero();
            } else {
                r[i] = dim - d >= VEC ? v_load(row) : v_load_tail(row, v_tail(dim - d));
            }
        }
        v_transpose(r);
        for (size_t i = 0; i < VEC && d + i < dim; i++) v_store(to + (d + i) * to_stride, r[i]);
    }
}

static void pack_values(const struct head *h, size_t p)
{
    const size_t dim = h->a->head_dim, columns = panel_columns(dim, p);
    const size_t width = (size_t)panel_vectors(dim, p) * VEC;
    const float *v = h->a->v + h->first * h->a->v_stride + h->column + p * PANEL;
    float *to = h->values + p * PANEL * h->length;
    for (size_t j = 0; j < h->length; j++, v += h->a->v_stride, to += width) {
        for (size_t c = 0; c < width; c += VEC) {
            vec x = columns - c >= VEC ? v_load(v + c) : v_load_tail(v + c, v_tail(columns - c));
            v_store(to + c, x);
        }
    }
}

static void pack_head(const struct head *h)
{
    const size_t dim = h->a->head_dim;
    for (size_t p = 0; p < panel_count(h->length); p++) {
        int vectors = panel_vectors(h->length, p);
        for (int v = 0; v < vectors; v++) {
            pack_keys(h, p * PANEL + (size_t)v * VEC, h->keys + p * PANEL * dim + v * VEC,
                      (size_t)vectors * VEC);
        }
    }
    for (size_t p = 0; p < panel_count(dim); p++) pack_values(h, p);
}

/* Lanes of the last vector of a score row that are no keys must not count. */
static vec keys_only(vec v, size_t length, size_t j, float rest)
{
    return length - j >= VEC ? v : v_blend_tail(v_tail(length - j), v, v_set(rest));
}

/* Largest score of a row; with `bias` (or an unusual scale) the row is first replaced by its scaled
 * scores. Returns the factor that the scores still lack. */
static float prepare_row(const struct head *h, float *s, const float *bias, float *largest)
{
    const size_t length = h->length;
    const vec scale = v_set(h->a->scale);
    const bool now = bias || !(h->a->scale > 0.0f);
    vec max = v_set(-HUGE_VALF);
    for (size_t j = 0; j < length; j += VEC) {
        vec v = v_load(s + j);
        if (now) {
            vec addend = v_zero();
            if (bias) {
                addend = length - j >= VEC ? v_load(bias + j)
                                           : v_load_tail(bias + j, v_tail(length - j));
            }
            v = v_fma(v, scale, addend);
            v_store(s + j, v);
        }
        max = v_max(max, keys_only(v, length, j, -HUGE_VALF));
    }
    *largest = v_largest(max);
    return now ? 1.0f : h->a->scale;
}

/* Turns a row of scores into e^(score - largest) and returns 1 / sum. */
static float softmax_row(const struct head *h, float *s, const float *bias)
{
    float largest, lacking = prepare_row(h, s, bias, &largest);
    const vec max = v_set(largest), factor = v_set(lacking * LOG2_E);
    vec sum = v_zero();
    for (size_t j = 0; j < h->length; j += VEC) {
        vec e = v_exp2_nonpositive(v_mul(v_sub(v_load(s + j), max), factor));
        e = keys_only(e, h->length, j, 0.0f);
        v_store(s + j, e);
        sum = v_add(sum, e);
    }
    return 1.0f / v_sum(sum);
}

/* Query rows i .. i + rows - 1. */
static void attend_tile(const struct head *h, size_t i, size_t rows)
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
    for (size_t p = 0; p < panel_count(h->length); p++) {
        int vectors = panel_vectors(h->length, p);
        tile.panel = h->keys + p * PANEL * dim;
        tile.y = h->scores + p * PANEL;
        tile.columns = (size_t)vectors * VEC;
        tiles[vectors - 1][rows - 1](&tile);
    }
    for (size_t r = 0; r < rows; r++) {
        const float *bias = h->bias ? h->bias - (i + r) : NULL;
        inverse[r] = softmax_row(h, h->scores + r * h->score_stride, bias);
    }
    tile = (struct tile){
        .x = h->scores,
        .x_stride = h->score_stride,
        .k = h->length,
        .y_stride = a->out_stride,
        .row_scale = inverse,
    };
    for (size_t p = 0; p < panel_count(dim); p++) {
        tile.panel = h->values + p * PANEL * h->length;
        tile.y = a->out + (h->first + i) * a->out_stride + h->column + p * PANEL;
        tile.columns = panel_columns(dim, p);
        tiles[panel_vectors(dim, p) - 1][rows - 1](&tile);
    }
}

static void attend_rows(struct head *h, size_t begin, size_t end)
{
    size_t rows = end - begin, count = (rows + TILE_ROWS - 1) / TILE_ROWS, from, to;
    pack_head(h);
    for (size_t t = 0; t < count; t++) {
        tn_share(rows, (unsigned)t, (unsigned)count, &from, &to);
        attend_tile(h, begin + from, to - from);
    }
}

/* Work of one query row: its keys, and what does not depend on them. */
static uint64_t row_work(size_t length)
{
    return (uint64_t)length + 64;
}

/* Where a position in the queue of all work falls among the rows of one head: rows are indivisible
 * and belong to the rank in whose share they begin. */
static size_t row_at(uint64_t position, uint64_t head_begin, size_t length)
{
    if (position <= head_begin) return 0;
    uint64_t work = position - head_begin, rows = work / row_work(length);
    if (rows >= length) return length;
    return (size_t)rows + (work % row_work(length) != 0);
}

static uint64_t all_work(const struct tn_attention_args *a)
{
    uint64_t total = 0;
    for (size_t n = 0; n < a->sequences; n++) {
        size_t length = (size_t)(a->offsets[n + 1] - a->offsets[n]);
        total += length * row_work(length) * a->heads;
    }
    return total;
}

void TN_ISA(attention)(const struct tn_attention_args *a, unsigned rank, unsigned size)
{
    const uint64_t total = size > 1 ? all_work(a) : UINT64_MAX;
    const uint64_t low = total / size * rank;
    const uint64_t high = rank == size - 1 ? UINT64_MAX : total / size * (rank + 1);
    uint64_t at = 0;
    struct head h = {.a = a, .keys = (float *)(void *)((char *)a->scratch + rank * a->scratch_bytes)};
    for (size_t n = 0; n < a->sequences && at < high; n++) {
        h.first = (size_t)a->offsets[n];
        h.length = (size_t)a->offsets[n + 1] - h.first;
        struct layout l;
        if (h.length == 0 || !lay_out(h.length, a->head_dim, &l)) continue;
        h.values = h.keys + l.keys;
        h.scores = h.values + l.values;
        h.score_stride = l.score_stride;
        for (size_t head = 0; head < a->heads; head++) {
            size_t begin = row_at(low, at, h.length), end = row_at(high, at, h.length);
            h.column = head * a->head_dim;
            h.bias = a->bias ? a->bias + head * a->bias_stride + a->bias_center : NULL;
            if (begin < end) attend_rows(&h, begin, end);
            at += h.length * row_work(h.length);
        }
    }
}
