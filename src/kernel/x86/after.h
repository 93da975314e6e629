/*
 * What follows sums that lie in a buffer: bias, residual, activation, a line, and the way out in the type of the result. The
 * including file has chosen the vocabulary. Buffers are padded to whole vectors; results and residuals are not.
 */
#ifndef TN_KERNEL_X86_AFTER_H
#define TN_KERNEL_X86_AFTER_H

#include "kernel/x86/vec_math.h"
#include "kernel/x86/x86.h"

static const struct tn_after after_nothing = {.kind = TN_FINISH_NONE};

/* One row of sums on its way out. */
struct leaving {
    float *sums; /* aligned or not; width rounded up to vectors is readable and writable */
    size_t width;
    float bias;
    const struct tn_after *after;
    enum tn_float_type type; /* of residual and y */
    const void *residual;    /* or NULL */
    void *y;
};

/* v = f(v + bias + residual) for all vectors of the row, in place or, when that is all, to y. */
#define LEAVE(f)                                                                                   \
    for (size_t i = 0; i < n; i += VEC) {                                                          \
        vec v = v_add(v_load(from + i), bias);                                                     \
        if (residual && n - i >= VEC) v = v_add(v, v_load(residual + i));                          \
        else if (residual) v = v_add(v, v_load_tail(residual + i, v_tail(n - i)));                 \
        v = f;                                                                                     \
        if (line) v = v_add(v_mul(v, scale), shift);                                               \
        if (n - i >= VEC) v_store(to + i, v);                                                      \
        else v_store_tail(to + i, v_tail(n - i), v);                                               \
    }                                                                                              \
    break

TN_INLINE vec after_gate(vec v, vec a, vec b)
{
    return v_min(v_set(1), v_max(v_zero(), v_add(v_mul(a, v), b)));
}

/* Of float32; `line` false leaves the line out. */
static void leave_floats(const struct leaving *r, const float *residual, float *to, const bool line)
{
    const float *from = r->sums;
    const size_t n = r->width;
    const vec bias = v_set(r->bias), a = v_set(r->after->a), b = v_set(r->after->b);
    const vec scale = v_set(r->after->scale), shift = v_set(r->after->shift);
    switch (r->after->kind) {
    case TN_FINISH_CLIP: LEAVE(v_min(b, v_max(a, v)));
    case TN_FINISH_LEAKY_RELU: LEAVE(v_select(v_less(v, v_zero()), v_mul(a, v), v));
    case TN_FINISH_HARD_SIGMOID: LEAVE(after_gate(v, a, b));
    case TN_FINISH_HARD_SWISH: LEAVE(v_mul(v, after_gate(v, a, b)));
    case TN_FINISH_ACT:
        if (r->after->act == TN_ACT_RELU) {
            LEAVE(v_max(v_zero(), v));
        }
        /* fall through */
    default: LEAVE(v);
    }
}
#undef LEAVE

static inline void leave_row(const struct leaving *r)
{
    const struct tn_after *after = r->after;
    bool late = after->kind == TN_FINISH_ACT && after->act != TN_ACT_RELU && after->act != TN_ACT_IDENTITY;
    float wide[256];
    if (r->type == TN_FLOAT_F32) {
        float *y = r->y;
        leave_floats(r, r->residual, y, after->line && !late);
        if (!late) return;
        act_region(after->act, y, r->width, 1, r->width);
        for (size_t i = 0; after->line && i < r->width; i++) y[i] = after->scale * y[i] + after->shift;
        return;
    }
    for (size_t at = 0; at < r->width; at += 256) {
        struct leaving part = *r;
        part.sums += at;
        part.width = r->width - at < 256 ? r->width - at : 256;
        if (r->residual) TN_ISA(to_f32)(r->type, (const char *)r->residual + 2 * at, wide, part.width);
        leave_floats(&part, r->residual ? wide : NULL, part.sums, after->line && !late);
        if (late) {
            act_region(after->act, part.sums, part.width, 1, part.width);
            for (size_t i = 0; after->line && i < part.width; i++) part.sums[i] = after->scale * part.sums[i] + after->shift;
        }
        TN_ISA(from_f32)(r->type, part.sums, (char *)r->y + 2 * at, part.width);
    }
}

#endif
