/*
 * Pooling, for one instruction set: a block of columns stays in registers while the rows of the span
 * pass by in order. Semantics as in ref/pooling.c.
 */
#include "kernel/x86/x86.h"

#include <math.h>

enum { BLOCK = 4 }; /* vectors of columns at a time */

/* Columns column .. column + width - 1 of one sequence, width <= BLOCK * VEC. */
struct block {
    const float *x; /* first row of the span, at the first column */
    size_t stride, width;
    size_t count, position;
};

TN_INLINE vtail lanes(const struct block *b, int v)
{
    size_t from = (size_t)v * VEC;
    return v_tail(b->width > from ? b->width - from : 0);
}

static void sum_rows(const struct block *b, bool weighted, vec sum[BLOCK])
{
    vtail tail[BLOCK];
    for (int v = 0; v < BLOCK; v++) {
        tail[v] = lanes(b, v);
        sum[v] = v_zero();
    }
    for (size_t r = 0; r < b->count; r++) {
        const float *x = b->x + r * b->stride;
        const vec weight = v_set(weighted ? (float)(b->position + r + 1) : 1.0f);
#pragma GCC unroll 4
        for (int v = 0; v < BLOCK; v++) {
            vec e = v_mul(v_load_tail(x + v * VEC, tail[v]), weight);
            sum[v] = v_add(sum[v], e);
        }
    }
}

static float weight_sum(const struct block *b)
{
    float sum = 0.0f;
    for (size_t r = 0; r < b->count; r++) sum += (float)(b->position + r + 1);
    return sum;
}

/* A NaN once met stays: max would let a later number replace it. */
static void max_rows(const struct block *b, vec max[BLOCK])
{
    for (int v = 0; v < BLOCK; v++) max[v] = v_load_tail(b->x + v * VEC, lanes(b, v));
    for (size_t r = 1; r < b->count; r++) {
        const float *x = b->x + r * b->stride;
#pragma GCC unroll 4
        for (int v = 0; v < BLOCK; v++) {
            vec larger = v_max(max[v], v_load_tail(x + v * VEC, lanes(b, v)));
            max[v] = v_select(v_is_nan(max[v]), max[v], larger);
        }
    }
}

static void copy_row(const struct block *b, size_t row, vec y[BLOCK])
{
    for (int v = 0; v < BLOCK; v++) {
        y[v] = v_load_tail(b->x + row * b->stride + v * VEC, lanes(b, v));
    }
}

static void divide(vec y[BLOCK], float divisor)
{
    for (int v = 0; v < BLOCK; v++) y[v] = v_div(y[v], v_set(divisor));
}

static void pool_block(enum tn_pooling mode, const struct block *b, vec y[BLOCK])
{
    switch (mode) {
    case TN_POOLING_MAX:
        max_rows(b, y);
        break;
    case TN_POOLING_MEAN:
        sum_rows(b, false, y);
        divide(y, (float)b->count);
        break;
    case TN_POOLING_MEAN_SQRT_LEN:
        sum_rows(b, false, y);
        divide(y, sqrtf((float)b->count));
        break;
    case TN_POOLING_WEIGHTED_MEAN:
        sum_rows(b, true, y);
        divide(y, weight_sum(b));
        break;
    case TN_POOLING_LAST_TOKEN:
        copy_row(b, b->count - 1, y);
        break;
    default:
        copy_row(b, 0, y);
        break;
    }
}

void TN_ISA(pooling)(const struct tn_pooling_args *a, unsigned rank, unsigned size)
{
    const size_t per_row = (a->width + BLOCK * VEC - 1) / (BLOCK * VEC);
    size_t begin, end;
    tn_share(a->sequences * per_row, rank, size, &begin, &end);
    for (size_t item = begin; item < end; item++) {
        size_t s = item / per_row, column = item % per_row * (BLOCK * VEC);
        struct block b = {
            .x = a->x + (size_t)a->spans[s].first * a->x_stride + column,
            .stride = a->x_stride,
            .width = a->width - column,
            .count = (size_t)a->spans[s].count,
            .position = (size_t)a->spans[s].position,
        };
        vec y[BLOCK] = {v_zero(), v_zero(), v_zero(), v_zero()};
        if (b.count > 0) pool_block(a->mode, &b, y);
        float *to = a->y + s * a->y_stride + column;
        for (int v = 0; v < BLOCK; v++) v_store_tail(to + v * VEC, lanes(&b, v), y[v]);
    }
}
