/*
 * Attention over ragged rows, reference: for one query row and head at a time, all scores of the row
 * in scratch, softmax with the maximum subtracted, then the weighted sum of the values in key order.
 */
#include "base/checked.h"
#include "kernel/ref/ref.h"

#include <math.h>

bool tn_ref_attention_scratch_size(size_t max_length, size_t head_dim, size_t *bytes)
{
    (void)head_dim;
    size_t row;
    return tn_mul(max_length, sizeof(float), &row) && tn_round_up(row, 64, bytes);
}

/* Scores of query row i against keys 0 .. length - 1 of the sequence that starts at row `first`. */
static void scores(const struct tn_attention_args *a, size_t head, size_t first, size_t length,
                   size_t i, float *s)
{
    const float *q = a->q + (first + i) * a->q_stride + head * a->head_dim;
    for (size_t j = 0; j < length; j++) {
        const float *k = a->k + (first + j) * a->k_stride + head * a->head_dim;
        float dot = 0.0f;
        for (size_t d = 0; d < a->head_dim; d++) dot += q[d] * k[d];
        s[j] = dot * a->scale;
        if (a->bias) s[j] += a->bias[head * a->bias_stride + a->bias_center + j - i];
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

static void one_row(const struct tn_attention_args *a, size_t head, size_t first, size_t length,
                    size_t i, float *s)
{
    scores(a, head, first, length, i, s);
    float sum = exponentials(s, length);
    float *out = a->out + (first + i) * a->out_stride + head * a->head_dim;
    for (size_t d = 0; d < a->head_dim; d++) {
        const float *v = a->v + first * a->v_stride + head * a->head_dim + d;
        float total = 0.0f;
        for (size_t j = 0; j < length; j++) total += s[j] * v[j * a->v_stride];
        out[d] = total / sum;
    }
}

void tn_ref_attention(const struct tn_attention_args *a, unsigned rank, unsigned size)
{
    float *s = (float *)(void *)((char *)a->scratch + rank * a->scratch_bytes);
    for (size_t n = 0; n < a->sequences; n++) {
        size_t first = (size_t)a->offsets[n], length = (size_t)a->offsets[n + 1] - first;
        size_t begin, end;
        tn_share(length * a->heads, rank, size, &begin, &end);
        for (size_t item = begin; item < end; item++) {
            one_row(a, item / length, first, length, item % length, s);
        }
    }
}
