/*
 * A few rows times many rows that lie as they came: each result is a dot product. The second matrix streams through once
 * for four rows of the first; four of its rows at a time keep enough sums in flight.
 *
 * A sum runs in the lanes of one vector, steps ascending, the rest of a row in the last step: its order depends on k alone.
 */
#include "kernel/kernel.h"
#include "kernel/x86/x86.h"

#include <string.h>

enum { DOTS_X = 4, DOTS_W = 4 };

TN_INLINE vec dots_load(enum tn_dots_type type, const char *w, size_t k, int zero)
{
    if (type == TN_DOTS_U8) return v_load_u8(w + k, zero);
    if (type == TN_DOTS_I8) return v_load_i8(w + k, zero);
    return v_load((const float *)(const void *)w + k);
}

/* The last elements of a row, the lanes behind them zero. */
TN_INLINE vec dots_rest(enum tn_dots_type type, const char *w, size_t k, size_t count, int zero)
{
    if (type == TN_DOTS_F32) return v_load_tail((const float *)(const void *)w + k, v_tail(count));
    char bytes[VEC] = {0};
    memcpy(bytes, w + k, count);
    return dots_load(type, bytes, 0, zero);
}

TN_INLINE void dots_block(const struct tn_dots_args *a, enum tn_dots_type type, size_t m, const int rows, size_t n, const int columns)
{
    const size_t size = type == TN_DOTS_F32 ? sizeof(float) : 1;
    const char *w[DOTS_W];
    int zero[DOTS_W];
    vec sum[DOTS_X][DOTS_W];
    for (int j = 0; j < columns; j++) {
        w[j] = (const char *)a->w + (n + (size_t)j) * a->w_stride * size;
        zero[j] = a->zero ? a->zero[a->zeros == 1 ? 0 : n + (size_t)j] : 0;
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) sum[i][j] = v_zero();
    }
    const float *x = a->x + m * a->x_stride;
    for (size_t k = 0; k < a->k; k += VEC) {
        const size_t rest = a->k - k;
        vec b[DOTS_W];
#pragma GCC unroll 4
        for (int j = 0; j < columns; j++) b[j] = rest >= VEC ? dots_load(type, w[j], k, zero[j]) : dots_rest(type, w[j], k, rest, zero[j]);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            vec v = rest >= VEC ? v_load(x + (size_t)i * a->x_stride + k) : v_load_tail(x + (size_t)i * a->x_stride + k, v_tail(rest));
#pragma GCC unroll 4
            for (int j = 0; j < columns; j++) sum[i][j] = v_fma(v, b[j], sum[i][j]);
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            float scale = a->scale ? a->scale[a->scales == 1 ? 0 : n + (size_t)j] : 1.0f;
            a->y[(m + (size_t)i) * a->y_stride + n + (size_t)j] = v_sum(sum[i][j]) * scale;
        }
    }
}

TN_INLINE void dots_rows(const struct tn_dots_args *a, enum tn_dots_type type, size_t begin, size_t end)
{
    for (size_t n = begin; n < end;) {
        const bool four = end - n >= DOTS_W;
        size_t m = 0;
        for (; m + DOTS_X <= a->rows; m += DOTS_X) {
            if (four) dots_block(a, type, m, DOTS_X, n, DOTS_W);
            else dots_block(a, type, m, DOTS_X, n, 1);
        }
        for (; m < a->rows; m++) {
            if (four) dots_block(a, type, m, 1, n, DOTS_W);
            else dots_block(a, type, m, 1, n, 1);
        }
        n += four ? DOTS_W : 1;
    }
}

void TN_ISA(dots)(const struct tn_dots_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(a->n, rank, size, &begin, &end);
    if (a->type == TN_DOTS_U8) dots_rows(a, TN_DOTS_U8, begin, end);
    else if (a->type == TN_DOTS_I8) dots_rows(a, TN_DOTS_I8, begin, end);
    else dots_rows(a, TN_DOTS_F32, begin, end);
}
