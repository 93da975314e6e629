/* 1 x 1 windows, reference: the order of sums from its definition. Weights are widened. */
#include "base/checked.h"
#include "kernel/float16.h"
#include "kernel/ref/after.h"

#include <math.h>

enum { CHUNK = 192 };

bool tn_ref_conv1_pack_size(size_t maps, size_t k, size_t *bytes)
{
    size_t count;
    return tn_mul(maps, k, &count) && tn_mul(count, sizeof(float), &count) && tn_round_up(count, 64, bytes);
}

bool tn_ref_conv1_scratch_size(size_t k, size_t *bytes)
{
    (void)k;
    *bytes = 0;
    return true;
}

void tn_ref_conv1_pack(const void *w, enum tn_float_type type, size_t maps, size_t k, void *packed, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(maps * k, rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) ((float *)packed)[i] = tn_load_element(type, w, i);
}

static float sum_at(const struct tn_conv1_args *a, size_t map, size_t p)
{
    const float *w = (const float *)a->packed + map * a->k;
    float total = 0;
    for (size_t begin = 0; begin < a->k; begin += CHUNK) {
        float sum = 0;
        for (size_t k = begin; k < a->k && k < begin + CHUNK; k++) sum = fmaf(w[k], tn_load_element(a->x_type, a->x, k * a->x_stride + p), sum);
        total = begin ? total + sum : sum;
    }
    return total;
}

void tn_ref_conv1(const struct tn_conv1_args *a)
{
    size_t begin, end;
    tn_share(a->maps, a->part, a->parts, &begin, &end);
    for (size_t map = begin; map < end; map++) {
        for (size_t p = 0; p < a->count; p++) {
            float v = sum_at(a, map, p) + (a->bias ? a->bias[map] : 0);
            if (a->residual) v += tn_load_element(a->type, a->residual, map * a->residual_stride + p);
            v = tn_ref_after(a->after, v);
            tn_ref_from_f32(a->type, &v, (char *)a->y + (map * a->y_stride + p) * tn_float_type_size(a->type), 1);
        }
    }
}
