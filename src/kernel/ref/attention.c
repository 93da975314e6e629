/*
 * Attention over ragged rows, reference: for one query row and head at a time, all scores of the row
 * in scratch, softmax with the maximum subtracted, then the weighted sum of the values in key order.
 */
#include "base/checked.h"
#include "kernel/ref/ref.h"

#include <math.h>

bool tn_ref_attention_scratch_size(size_t max_length, size_t head_dim, bool relative, size_t *bytes)
{
    (void)head_dim, (void)relative;
    size_t row;
    return tn_mul(max_length, sizeof(float), &row) && tn_round_up(row, 64, bytes);
}

static float dot(const float *a, const float *b, size_t n)
{
    float sum = 0.0f;
    for (size_t d = 0; d < n; d++) sum += a[d] * b[d];
    return sum;
}

/* The keys that query row i sees: [*begin, *end). */
static void seen(const struct tn_attention_args *a, size_t keys, size_t i, size_t *begin, size_t *end)
{
    *begin = a->window && i + 1 > a->window ? i + 1 - a->window : 0;
    *end = a->window && i + a->window < keys ? i + a->window : keys;
}

/* Scores of query row i against the keys that it sees, of the sequence that starts at row `first`. */
static void scores(const struct tn_attention_args *a, size_t head, size_t first, size_t keys,
                   size_t i, float *s)
{
    const size_t column = head * a->head_dim;
    const float *q = a->q + (first + i) * a->q_stride + column;
    size_t begin, end;
    seen(a, keys, i, &begin, &end);
    for (size_t j = begin; j < end; j++, s++) {
        const float *k = a->k + (first + j) * a->k_stride + column;
        float product = dot(q, k, a->head_dim);
        if (a->position_key || a->position_query) {
            size_t at = (size_t)a->relative_row[a->relative_center + j - i] * a->position_stride + column;
            if (a->position_key) product += dot(q, a->position_key + at, a->head_dim);
            if (a->position_query) product += dot(k, a->position_query + at, a->head_dim);
        }
        *s = product * a->scale;
        if (a->bias) *s += a->bias[head * a->bias_stride + a->bias_center + j - i];
    }
}

/* Replaces scores by e^(s - max) and returns their sum. */
static float exponentials(float *s, size_t length)
{
    float max = s[0], sum = 0.0f;
    for (size_t j = 1; j < length; j++) max = s[j] > max ? s[j] : max;
    for (size_t j = 0; j < length; j++) {
        s[j] = (float)exp((double)(s[j] - max));
        sum += s[j];
    }
    return sum;
}

static void one_row(const struct tn_attention_args *a, size_t head, size_t first, size_t keys,
                    size_t i, float *s)
{
    size_t begin, end;
    seen(a, keys, i, &begin, &end);
    scores(a, head, first, keys, i, s);
    float sum = exponentials(s, end - begin);
    float *out = a->out + (first + i) * a->out_stride + head * a->head_dim;
    for (size_t d = 0; d < a->head_dim; d++) {
        const float *v = a->v + (first + begin) * a->v_stride + head * a->head_dim + d;
        float total = 0.0f;
        for (size_t j = 0; j < end - begin; j++) total += s[j] * v[j * a->v_stride];
        out[d] = total / sum;
    }
}

void tn_ref_attention(const struct tn_attention_args *a, unsigned rank, unsigned size)
{
    float *s = (float *)(void *)((char *)a->scratch + rank * a->scratch_bytes);
    for (size_t n = 0; n < a->sequences; n++) {
        size_t first = (size_t)a->offsets[n], length = (size_t)a->offsets[n + 1] - first;
        size_t begin, end, keys = a->seen ? (size_t)a->seen[n].count : length;
        tn_share(length * a->heads, rank, size, &begin, &end);
        for (size_t item = begin; item < end; item++) {
            one_row(a, item / length, first, keys, item % length, s);
        }
    }
}
