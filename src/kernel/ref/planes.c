/* Planes under small windows, reference: the order of sums from its definition. */
#include "kernel/float16.h"
#include "kernel/ref/after.h"

#include <math.h>

bool tn_ref_planes_scratch_size(const struct tn_planes_args *a, size_t *bytes)
{
    (void)a;
    *bytes = 0;
    return true;
}

static float input_at(const struct tn_planes_args *a, size_t channel, ptrdiff_t y, ptrdiff_t x)
{
    if (y < 0 || x < 0 || y >= (ptrdiff_t)a->height || x >= (ptrdiff_t)a->width) return 0;
    return tn_load_element(a->type, a->x, (channel * a->height + (size_t)y) * a->width + (size_t)x);
}

static float window_sum(const struct tn_planes_args *a, size_t row, size_t column)
{
    const float *w = a->w;
    float total = 0;
    for (size_t c = 0; c < a->channels; c++) {
        float sum = 0;
        for (size_t i = 0; i < a->kernel_height; i++) {
            for (size_t j = 0; j < a->kernel_width; j++)
                sum = fmaf(*w++, input_at(a, c, (ptrdiff_t)(row * a->stride_down + i) - a->top, (ptrdiff_t)(column * a->stride_across + j) - a->left), sum);
        }
        total = c ? total + sum : sum;
    }
    return total;
}

void tn_ref_planes(const struct tn_planes_args *a)
{
    for (size_t row = 0; row < a->count; row++) {
        for (size_t column = 0; column < a->out_width; column++) {
            size_t at = row * a->out_width + column;
            float v = window_sum(a, a->first + row, column) + a->bias;
            if (a->residual) v += tn_load_element(a->type, a->residual, at);
            v = tn_ref_after(a->after, v);
            tn_ref_from_f32(a->type, &v, (char *)a->y + at * tn_float_type_size(a->type), 1);
        }
    }
}
