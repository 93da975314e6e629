/* Rotary positions, reference: each product and each sum rounded once, as in the published code. */
#include "kernel/ref/ref.h"

void tn_ref_rotary(const struct tn_rotary_args *a, unsigned rank, unsigned size)
{
    size_t begin, end, half = a->head_dim / 2;
    tn_share(a->rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        const float *c = a->cosine + (size_t)a->positions[t] * half;
        const float *s = a->sine + (size_t)a->positions[t] * half;
        for (size_t head = 0; head < a->heads; head++) {
            float *x = a->x + t * a->stride + head * a->head_dim;
            for (size_t d = 0; d < half; d++) {
                float low = x[d], high = x[d + half];
                x[d] = low * c[d] - high * s[d];
                x[d + half] = high * c[d] + low * s[d];
            }
        }
    }
}
