/* Layer norm, reference: two passes in double, rounded once per element. */
#include "kernel/ref/ref.h"

#include <math.h>

void tn_ref_layer_norm_row(const float *v, float *y, size_t width, const float *gamma,
                           const float *beta, float eps)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < width; i++) sum += v[i];
    double mean = sum / (double)width;
    for (size_t i = 0; i < width; i++) squares += (v[i] - mean) * (v[i] - mean);
    double scale = 1.0 / sqrt(squares / (double)width + (double)eps);
    for (size_t i = 0; i < width; i++) {
        double unit = (v[i] - mean) * scale;
        y[i] = (float)(unit * (gamma ? gamma[i] : 1.0f) + (beta ? beta[i] : 0.0f));
    }
}

void tn_ref_layer_norm(const struct tn_layer_norm_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(a->rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        const float *x = a->x + t * a->x_stride;
        float *y = a->y + t * a->y_stride;
        if (a->residual) {
            const float *r = a->residual + t * a->residual_stride;
            for (size_t i = 0; i < a->width; i++) y[i] = x[i] + r[i];
            x = y;
        }
        tn_ref_layer_norm_row(x, y, a->width, a->gamma, a->beta, a->eps);
    }
}
