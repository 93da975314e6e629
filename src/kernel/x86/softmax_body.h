/* Softmax of rows; see kernel.h. Sums run in the lanes of one vector, in order. */
#include "kernel/x86/vec_math.h"
#include "kernel/x86/x86.h"

#include <math.h>

struct softmax_row {
    const float *x, *first, *second; /* the addends, or NULL */
    float scale;
};

/* VEC numbers of the row from i on; behind its end minus infinity. */
TN_INLINE vec softmax_load(const struct softmax_row *r, size_t i, size_t width)
{
    if (width - i >= VEC) {
        vec v = v_mul(v_load(r->x + i), v_set(r->scale));
        if (r->first) v = v_add(v, v_load(r->first + i));
        return r->second ? v_add(v, v_load(r->second + i)) : v;
    }
    vtail tail = v_tail(width - i);
    vec v = v_mul(v_load_tail(r->x + i, tail), v_set(r->scale));
    if (r->first) v = v_add(v, v_load_tail(r->first + i, tail));
    if (r->second) v = v_add(v, v_load_tail(r->second + i, tail));
    return v_blend_tail(tail, v, v_set(-HUGE_VALF));
}

static void softmax_run(const struct softmax_row *r, float *y, size_t width, bool quiet)
{
    vec max = v_set(-HUGE_VALF), sum = v_zero();
    for (size_t i = 0; i < width; i += VEC) {
        vec v = softmax_load(r, i, width);
        if (width - i >= VEC) v_store(y + i, v);
        else v_store_tail(y + i, v_tail(width - i), v);
        max = v_max(max, v);
    }
    float largest = v_largest(max);
    if (quiet && largest == -HUGE_VALF) {
        for (size_t i = 0; i < width; i++) y[i] = 0;
        return;
    }
    const vec most = v_set(largest), factor = v_set(LOG2_E);
    for (size_t i = 0; i < width; i += VEC) {
        const bool whole = width - i >= VEC;
        vtail tail = v_tail(width - i);
        vec v = whole ? v_load(y + i) : v_blend_tail(tail, v_load_tail(y + i, tail), v_set(-HUGE_VALF));
        vec e = v_exp2_nonpositive(v_mul(v_sub(v, most), factor));
        if (!whole) e = v_blend_tail(tail, e, v_zero());
        if (whole) v_store(y + i, e);
        else v_store_tail(y + i, tail, e);
        sum = v_add(sum, e);
    }
    const vec inverse = v_set(1.0f / v_sum(sum));
    for (size_t i = 0; i < width; i += VEC) {
        vtail tail = v_tail(width - i);
        if (width - i >= VEC) v_store(y + i, v_mul(v_load(y + i), inverse));
        else v_store_tail(y + i, tail, v_mul(v_load_tail(y + i, tail), inverse));
    }
}

void TN_ISA(softmax)(const struct tn_softmax_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(a->rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        struct softmax_row r = {.x = a->x + t * a->x_stride, .scale = a->scale};
        if (a->first) r.first = a->first + t * a->first_stride;
        if (a->second) r.second = a->second + t * a->second_stride;
        softmax_run(&r, a->y + t * a->y_stride, a->width, a->quiet);
    }
}
