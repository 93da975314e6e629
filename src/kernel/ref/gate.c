/* The gate of a gated linear unit (Shazeer 2020, arXiv 2002.05202), reference. */
#include "kernel/ref/ref.h"

void tn_ref_gate(const struct tn_gate_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(a->rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        const float *x = a->x + t * a->x_stride, *gate = x + a->width;
        float *y = a->y + t * a->y_stride;
        for (size_t i = 0; i < a->width; i++) y[i] = tn_ref_act(a->act, x[i]) * gate[i];
    }
}
