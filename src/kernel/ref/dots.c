/* Dot products of rows, in double; reference. */
#include "kernel/ref/ref.h"

static double dots_element(const struct tn_dots_args *a, size_t n, size_t k)
{
    size_t at = n * a->w_stride + k;
    if (a->type == TN_DOTS_F32) return (double)((const float *)a->w)[at];
    int zero = a->zero ? a->zero[a->zeros == 1 ? 0 : n] : 0;
    return (double)((a->type == TN_DOTS_U8 ? ((const uint8_t *)a->w)[at] : ((const int8_t *)a->w)[at]) - zero);
}

void tn_ref_dots(const struct tn_dots_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(a->n, rank, size, &begin, &end);
    for (size_t n = begin; n < end; n++) {
        for (size_t m = 0; m < a->rows; m++) {
            double sum = 0;
            for (size_t k = 0; k < a->k; k++) sum += (double)a->x[m * a->x_stride + k] * dots_element(a, n, k);
            a->y[m * a->y_stride + n] = (float)(sum * (double)(a->scale ? a->scale[a->scales == 1 ? 0 : n] : 1.0f));
        }
    }
}
