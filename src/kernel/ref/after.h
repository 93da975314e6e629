/* What follows a sum, reference. */
#ifndef TN_KERNEL_REF_AFTER_H
#define TN_KERNEL_REF_AFTER_H

#include "kernel/ref/ref.h"

static inline float tn_ref_hard_gate(const struct tn_after *f, float x)
{
    float v = f->a * x + f->b;
    v = v < 0.0f ? 0.0f : v;
    return v > 1.0f ? 1.0f : v;
}

static inline float tn_ref_after(const struct tn_after *f, float x)
{
    if (!f) return x;
    switch (f->kind) {
    case TN_FINISH_CLIP:
        x = x < f->a ? f->a : x;
        x = x > f->b ? f->b : x;
        break;
    case TN_FINISH_LEAKY_RELU: x = x < 0.0f ? f->a * x : x; break;
    case TN_FINISH_HARD_SIGMOID: x = tn_ref_hard_gate(f, x); break;
    case TN_FINISH_HARD_SWISH: x *= tn_ref_hard_gate(f, x); break;
    case TN_FINISH_ACT: x = tn_ref_act(f->act, x); break;
    default: break;
    }
    return f->line ? f->scale * x + f->shift : x;
}

#endif
