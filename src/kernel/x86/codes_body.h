/*
 * Floats to codes and sums back to floats, for one instruction set. What is left of a row behind its last whole vector goes
 * through a vector on the stack, by the same instructions.
 *
 * The including file defines ivec and the i_ words.
 */
#include "kernel/x86/x86.h"

#include <string.h>

void TN_ISA(range)(const float *x, size_t count, float *low, float *high)
{
    vec least[2] = {v_set(*low), v_set(*low)}, most[2] = {v_set(*high), v_set(*high)};
    size_t i = 0;
    float lanes[2][VEC];
    for (; i + 2 * VEC <= count; i += 2 * VEC) {
        for (int v = 0; v < 2; v++) {
            vec a = v_load(x + i + (size_t)v * VEC);
            least[v] = v_min(a, least[v]);
            most[v] = v_max(a, most[v]);
        }
    }
    v_store(lanes[0], v_min(least[0], least[1]));
    v_store(lanes[1], v_max(most[0], most[1]));
    for (int k = 0; k < VEC; k++) {
        *low = lanes[0][k] < *low ? lanes[0][k] : *low;
        *high = lanes[1][k] > *high ? lanes[1][k] : *high;
    }
    for (; i < count; i++) {
        *low = x[i] < *low ? x[i] : *low;
        *high = x[i] > *high ? x[i] : *high;
    }
}

void TN_ISA(to_codes)(const struct tn_codes_args *a)
{
    const vec scale = v_set(a->scale), zero = v_set(a->zero), low = v_set(a->low), high = v_set(a->high);
    for (size_t i = 0; i < a->count; i += VEC) {
        size_t left = a->count - i;
        float part[VEC];
        uint8_t codes[VEC];
        const float *from = a->x + i;
        if (left < VEC) {
            memset(part, 0, sizeof(part));
            memcpy(part, from, left * sizeof(*part));
            from = part;
        }
        vec v = v_load(from);
        vec code = v_add(v_round(v_div(v, scale)), zero);
        code = v_select(v_is_nan(code), v_zero(), code);
        i_store_bytes(left < VEC ? codes : a->y + i, i_of(v_min(v_max(code, low), high)));
        if (left < VEC) memcpy(a->y + i, codes, left);
    }
}

TN_INLINE void sums_vector(const struct tn_sums_args *a, const int32_t *sums, const int32_t *first, const int32_t *second,
                           const float *scales, const float *biases, float *y)
{
    ivec v = i_add(i_load(sums), i_set((int32_t)a->add));
    if (first) v = i_add(v, i_mul(i_load(first), i_set((int32_t)a->factor[0])));
    if (second) v = i_add(v, i_mul(i_load(second), i_set((int32_t)a->factor[1])));
    vec f = v_mul(i_float(v), scales ? v_load(scales) : v_set(a->scale));
    if (biases) f = v_add(f, v_load(biases));
    else if (a->bias != 0) f = v_add(f, v_set(a->bias));
    v_store(y, f);
}

static const void *last_part(const void *from, size_t left, void *room)
{
    return from ? memcpy(room, from, left * 4) : NULL;
}

void TN_ISA(from_sums)(const struct tn_sums_args *a)
{
    size_t i = 0, left;
    for (; i + VEC <= a->count; i += VEC) {
        sums_vector(a, a->sums + i, a->times[0] ? a->times[0] + i : NULL, a->times[1] ? a->times[1] + i : NULL,
                    a->scales ? a->scales + i : NULL, a->biases ? a->biases + i : NULL, a->y + i);
    }
    left = a->count - i;
    if (left == 0) return;
    int32_t whole[3][VEC] = {{0}};
    float reals[3][VEC] = {{0}};
    memcpy(whole[0], a->sums + i, left * 4);
    sums_vector(a, whole[0], last_part(a->times[0] ? a->times[0] + i : NULL, left, whole[1]),
                last_part(a->times[1] ? a->times[1] + i : NULL, left, whole[2]), last_part(a->scales ? a->scales + i : NULL, left, reals[0]),
                last_part(a->biases ? a->biases + i : NULL, left, reals[1]), reals[2]);
    memcpy(a->y + i, reals[2], left * 4);
}
