/* Frequencies and angle tables of rotary positions; see rope.h. */
#include "ops/rope.h"

#include <math.h>

const char *tn_rope_kind_name(enum tn_rope_kind kind)
{
    static const char *const names[TN_ROPE_KINDS] = {
#define X(name, text) text,
        TN_ROPE_LIST(X)
#undef X
    };
    return (unsigned)kind < TN_ROPE_KINDS ? names[kind] : "unknown";
}

/*
 * The rule of Llama 3.1: by its wavelength a frequency is fast (kept), slow (divided by factor), or in between, where the
 * two are mixed.
 */
static float llama3(const struct tn_rope *rope, float frequency)
{
    const float original = (float)rope->original_positions, factor = (float)rope->factor;
    const float low = (float)rope->low_freq_factor, high = (float)rope->high_freq_factor;
    const float wavelength = 6.2831853071795864769f / frequency;
    if (wavelength > (float)(rope->original_positions / rope->low_freq_factor)) return frequency / factor;
    if (wavelength < (float)(rope->original_positions / rope->high_freq_factor)) return frequency;
    const float smooth = (original / wavelength - low) / (float)((double)high - (double)low);
    return (1.0f - smooth) * frequency / factor + smooth * frequency;
}

void tn_rope_frequencies(const struct tn_rope *rope, uint64_t head_dim, float *frequency)
{
    for (uint64_t pair = 0; pair < head_dim / 2; pair++) {
        float exponent = (float)(2 * pair) / (float)head_dim;
        float f = 1.0f / (float)pow((double)(float)rope->theta, (double)exponent);
        if (rope->kind == TN_ROPE_LINEAR) f /= (float)rope->factor;
        if (rope->kind == TN_ROPE_LLAMA3) f = llama3(rope, f);
        frequency[pair] = f;
    }
}

void tn_rope_angles(const float *frequency, uint64_t half, uint64_t positions, float *cosine, float *sine)
{
    for (uint64_t p = 0; p < positions; p++) {
        for (uint64_t d = 0; d < half; d++) {
            double angle = (double)((float)p * frequency[d]);
            cosine[p * half + d] = (float)cos(angle);
            sine[p * half + d] = (float)sin(angle);
        }
    }
}
