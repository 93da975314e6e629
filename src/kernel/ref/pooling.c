/*
 * Pooling of rows to one vector per sequence, reference. Sums run over the rows in order. The
 * divisors are those of sentence-transformers, whose lower bound of 1e-9 only ever meets an empty
 * span, where the sum is zero as well.
 */
#include "kernel/ref/ref.h"

#include <math.h>

static float largest(const float *x, size_t stride, size_t count)
{
    float max = x[0];
    for (size_t r = 1; r < count; r++) {
        float v = x[r * stride];
        max = v > max || v != v ? v : max;
        if (max != max) break;
    }
    return max;
}

static float sum_of(const float *x, size_t stride, size_t count)
{
    float sum = 0.0f;
    for (size_t r = 0; r < count; r++) sum += x[r * stride];
    return sum;
}

static float weighted_mean(const float *x, size_t stride, size_t count, size_t position)
{
    float sum = 0.0f, weights = 0.0f;
    for (size_t r = 0; r < count; r++) {
        float weight = (float)(position + r + 1);
        sum += x[r * stride] * weight;
        weights += weight;
    }
    return sum / weights;
}

static float pooled(enum tn_pooling mode, const float *x, size_t stride, const struct tn_span *span)
{
    size_t count = (size_t)span->count;
    if (count == 0) return 0.0f;
    switch (mode) {
    case TN_POOLING_MAX:
        return largest(x, stride, count);
    case TN_POOLING_MEAN:
        return sum_of(x, stride, count) / (float)count;
    case TN_POOLING_MEAN_SQRT_LEN:
        return sum_of(x, stride, count) / sqrtf((float)count);
    case TN_POOLING_WEIGHTED_MEAN:
        return weighted_mean(x, stride, count, (size_t)span->position);
    case TN_POOLING_LAST_TOKEN:
        return x[(count - 1) * stride];
    default:
        return x[0];
    }
}

void tn_ref_pooling(const struct tn_pooling_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(a->sequences, rank, size, &begin, &end);
    for (size_t s = begin; s < end; s++) {
        const float *x = a->x + (size_t)a->spans[s].first * a->x_stride;
        for (size_t i = 0; i < a->width; i++) {
            a->y[s * a->y_stride + i] = pooled(a->mode, x + i, a->x_stride, &a->spans[s]);
        }
    }
}
