/*
 * Rotary positions: the frequencies by which pairs of dimensions turn, and the scaled variants that published
 * configurations name. In float32 step by step as the published code computes them: at position 8000 the last bit of a
 * frequency is an angle that shows in an answer.
 */
#ifndef TN_OPS_ROPE_H
#define TN_OPS_ROPE_H

#include <stddef.h>
#include <stdint.h>

#define TN_ROPE_LIST(X)                                                                            \
    X(DEFAULT, "default")                                                                          \
    X(LINEAR, "linear") /* every frequency divided by factor */                                    \
    X(LLAMA3, "llama3") /* slow frequencies divided by factor, fast ones kept, a ramp between */

enum tn_rope_kind {
#define X(name, text) TN_ROPE_##name,
    TN_ROPE_LIST(X)
#undef X
    TN_ROPE_KINDS
};

struct tn_rope {
    enum tn_rope_kind kind;
    double theta;
    double factor;                            /* LINEAR, LLAMA3 */
    double low_freq_factor, high_freq_factor; /* LLAMA3 */
    double original_positions;                /* LLAMA3 */
};

const char *tn_rope_kind_name(enum tn_rope_kind kind);
/* frequency[pair] of the head_dim / 2 pairs of dimensions: radians per position. head_dim >= 2. */
void tn_rope_frequencies(const struct tn_rope *rope, uint64_t head_dim, float *frequency);
/* cosine[p * half + d] and sine[...] of position p times frequency d, for positions [0, positions). */
void tn_rope_angles(const float *frequency, uint64_t half, uint64_t positions, float *cosine, float *sine);

#endif
