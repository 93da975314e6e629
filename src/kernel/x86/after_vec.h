/* What follows sums that are in registers: the activations of struct tn_after that need no tables, and its line. */
#ifndef TN_KERNEL_X86_AFTER_VEC_H
#define TN_KERNEL_X86_AFTER_VEC_H

#include "kernel/x86/vec_math.h"

static const struct tn_after after_none = {.kind = TN_FINISH_NONE};

/* Whether the activation is applied to results in memory, by act_region, and the line behind it. */
static inline bool after_is_late(const struct tn_after *f)
{
    return f->kind == TN_FINISH_ACT && f->act != TN_ACT_RELU && f->act != TN_ACT_IDENTITY;
}

/* In place, `width` of each of `rows` rows. */
static inline void after_late(const struct tn_after *f, float *y, size_t stride, size_t rows, size_t width)
{
    act_region(f->act, y, stride, rows, width);
    for (size_t r = 0; f->line && r < rows; r++) {
        for (size_t i = 0; i < width; i++) y[r * stride + i] = f->scale * y[r * stride + i] + f->shift;
    }
}

TN_INLINE vec after_hard_gate(vec v, vec a, vec b)
{
    return v_min(v_set(1), v_max(v_zero(), v_add(v_mul(a, v), b)));
}

/* One vector; nothing of what is late. */
TN_INLINE vec after_vec(const struct tn_after *f, vec v)
{
    switch (f->kind) {
    case TN_FINISH_CLIP: v = v_min(v_set(f->b), v_max(v_set(f->a), v)); break;
    case TN_FINISH_LEAKY_RELU: v = v_select(v_less(v, v_zero()), v_mul(v_set(f->a), v), v); break;
    case TN_FINISH_HARD_SIGMOID: v = after_hard_gate(v, v_set(f->a), v_set(f->b)); break;
    case TN_FINISH_HARD_SWISH: v = v_mul(v, after_hard_gate(v, v_set(f->a), v_set(f->b))); break;
    case TN_FINISH_ACT:
        if (f->act == TN_ACT_RELU) v = v_max(v_zero(), v);
        else if (f->act != TN_ACT_IDENTITY) return v;
        break;
    default: break;
    }
    return f->line ? v_add(v_mul(v_set(f->scale), v), v_set(f->shift)) : v;
}

#endif
