/* Softmax of rows; reference. */
#include "kernel/ref/ref.h"

#include <math.h>

static void softmax_row(const struct tn_softmax_args *a, size_t t)
{
    const float *x = a->x + t * a->x_stride;
    float *y = a->y + t * a->y_stride;
    double sum = 0;
    float largest = -INFINITY;
    for (size_t i = 0; i < a->width; i++) {
        float v = x[i] * a->scale;
        if (a->first) v += a->first[t * a->first_stride + i];
        if (a->second) v += a->second[t * a->second_stride + i];
        y[i] = v;
        largest = v > largest ? v : largest;
    }
    if (a->quiet && largest == -INFINITY) {
        for (size_t i = 0; i < a->width; i++) y[i] = 0;
        return;
    }
    for (size_t i = 0; i < a->width; i++) sum += exp((double)y[i] - (double)largest);
    for (size_t i = 0; i < a->width; i++) y[i] = (float)(exp((double)y[i] - (double)largest) / sum);
}

void tn_ref_softmax(const struct tn_softmax_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(a->rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) softmax_row(a, t);
}
