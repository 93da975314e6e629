/* Images whose channels are neighbours, reference: the order of sums from its definition. Weights are widened. */
#include "base/checked.h"
#include "kernel/float16.h"
#include "kernel/ref/after.h"

#include <math.h>

enum { CHUNK = 192 };

bool tn_ref_pixels_pack_size(size_t maps, size_t k, size_t *bytes)
{
    size_t count;
    return tn_mul(maps, k, &count) && tn_mul(count, sizeof(float), &count) && tn_round_up(count, 64, bytes);
}

void tn_ref_pixels_pack(const void *w, enum tn_float_type type, size_t maps, size_t k, void *packed, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(maps * k, rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) ((float *)packed)[i] = tn_load_element(type, w, i);
}

static float product(const struct tn_pixels_args *a, const float *x, const float *w)
{
    size_t part = a->segments > 1 ? a->k / a->segments : a->k;
    float total = 0;
    for (size_t begin = 0; begin < a->k; begin += CHUNK) {
        float sum = 0;
        for (size_t i = begin; i < a->k && i < begin + CHUNK; i++) sum = fmaf(w[i], x[i / part * a->segment_stride + i % part], sum);
        total = begin ? total + sum : sum;
    }
    return total;
}

void tn_ref_pixels(const struct tn_pixels_args *a)
{
    size_t begin, end;
    tn_share(a->maps, a->part, a->parts, &begin, &end);
    for (size_t row = 0; row < a->rows; row++) {
        for (size_t map = begin; map < end; map++) {
            float v = product(a, a->x + row * a->x_stride, (const float *)a->packed + map * a->k) + (a->bias ? a->bias[map] : 0);
            if (a->residual) v += map < a->residual_maps ? a->residual[row * a->residual_stride + map] : 0;
            a->y[row * a->y_stride + map] = tn_ref_after(a->after, v);
        }
    }
}

/* The taps under one result, of channel c. */
static float window_sum(const struct tn_depth_args *a, size_t row, size_t column, size_t c)
{
    float sum = 0;
    for (size_t i = 0; i < a->kernel_height; i++) {
        for (size_t j = 0; j < a->kernel_width; j++) {
            ptrdiff_t y = (ptrdiff_t)(row * a->stride_down + i * a->dilation_down) - a->top;
            ptrdiff_t x = (ptrdiff_t)(column * a->stride_across + j * a->dilation_across) - a->left;
            bool inside = y >= 0 && x >= 0 && y < (ptrdiff_t)a->height && x < (ptrdiff_t)a->width;
            float w = a->w[(i * a->kernel_width + j) * a->channels + c];
            if (inside) sum = fmaf(w, a->x[((size_t)y * a->width + (size_t)x) * a->channels + c], sum);
            else if (a->zeros) sum = fmaf(w, 0, sum);
        }
    }
    return sum;
}

void tn_ref_depth(const struct tn_depth_args *a)
{
    for (size_t i = 0; i < a->count; i++) {
        for (size_t c = 0; c < a->channels; c++) {
            float v = window_sum(a, (a->first + i) / a->out_width, (a->first + i) % a->out_width, c) + (a->bias ? a->bias[c] : 0);
            if (a->residual) v += a->residual[i * a->channels + c];
            a->y[i * a->channels + c] = tn_ref_after(a->after, v);
        }
    }
}
