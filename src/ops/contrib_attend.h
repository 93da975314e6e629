/*
 * Attention over heads that lie anywhere in memory, for the contributed operators: softmax(scale Q K^T + addends) V in
 * float32, with shared key heads, causal and local limits, a soft cap and a sink. Addends are finite where the operators
 * say so (a mask of -10000 is one), so that a row that sees nothing still is what they say.
 */
#ifndef TN_OPS_CONTRIB_ATTEND_H
#define TN_OPS_CONTRIB_ATTEND_H

#include "ops/real.h"

/* Element (batch b, head h, row i, d) is at p[b * batch + h * head + i * row + d]. */
struct tn_heads {
    const float *p;
    uint64_t batch, head, row;
};

/* Addend of (b, h, i, j): p[b * batch + h * head + i * row + j]; steps are 0 where it repeats. */
struct tn_addend {
    const float *p;
    uint64_t batch, head, row;
};

struct tn_attend {
    struct tn_heads q, k, v;
    float *out;
    struct tn_heads out_at; /* where its rows go, p aside; all 0: [batch, rows, heads, v_dim] */
    uint64_t batch, heads, key_heads, rows, keys, dim, v_dim;
    float scale, cap; /* cap 0: none */
    struct tn_addend bias, mask; /* either may have p NULL */
    bool causal;
    int64_t window; /* keys that a row sees, itself included; 0: all */
    const int64_t *past; /* [batch] keys before row 0; NULL: keys - rows */
    const int64_t *lengths; /* [batch] keys that are there; NULL: all */
    const float *sink; /* [heads] addends of the denominator, as e^sink; NULL: none */
    bool strict; /* a row that sees nothing is NaN, as softmax has it; else zeros */
    bool smooth; /* one more e^0 in the denominator */
    float *weights; /* [batch, heads, rows, keys] after the softmax (or before it), or NULL */
    bool raw_weights;
};

/* By all threads of the call; false with the failure set. */
bool tn_attend(struct tn_run *r, const struct tn_attend *a);

/*
 * Rotary positions for rows of heads, from `from` to [batch, rows, heads, dim] or what `to` says: the first `turned`
 * elements of each head turn (pairs side by side when interleaved, else halves apart), the others are copied.
 */
struct tn_rotation {
    struct tn_heads from;
    float *to;
    uint64_t to_batch, to_head, to_row;
    uint64_t batch, heads, rows, dim, turned;
    const float *cosine, *sine; /* [positions, turned / 2] */
    const int64_t *positions;   /* [batch, rows], each checked */
    bool interleaved;
    float scale;
};

void tn_rotate(struct tn_run *r, const struct tn_rotation *a);

#endif
