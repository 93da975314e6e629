/* Floats to codes and sums back to floats, reference. */
#include "kernel/ref/ref.h"

#include <math.h>

void tn_ref_range(const float *x, size_t count, float *low, float *high)
{
    for (size_t i = 0; i < count; i++) {
        *low = x[i] < *low ? x[i] : *low;
        *high = x[i] > *high ? x[i] : *high;
    }
}

void tn_ref_to_codes(const struct tn_codes_args *a)
{
    for (size_t i = 0; i < a->count; i++) {
        float code = nearbyintf(a->x[i] / a->scale) + a->zero;
        if (isnan(code)) code = 0;
        code = code > a->low ? code : a->low;
        code = code < a->high ? code : a->high;
        a->y[i] = (uint8_t)(int32_t)code;
    }
}

void tn_ref_from_sums(const struct tn_sums_args *a)
{
    for (size_t i = 0; i < a->count; i++) {
        uint32_t v = (uint32_t)a->sums[i] + a->add;
        if (a->times[0]) v += (uint32_t)a->times[0][i] * a->factor[0];
        if (a->times[1]) v += (uint32_t)a->times[1][i] * a->factor[1];
        float y = (float)(int32_t)v * (a->scales ? a->scales[i] : a->scale);
        if (a->biases) y += a->biases[i];
        else if (a->bias != 0) y += a->bias;
        a->y[i] = y;
    }
}
