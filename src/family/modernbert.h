/* What the two files of ModernBERT tell each other. */
#ifndef TN_FAMILY_MODERNBERT_H
#define TN_FAMILY_MODERNBERT_H

#include "describe/describe.h"

/* First parts of the names of rotary parameters, by kind of layer. */
#define TN_MODERNBERT_FULL "full_attention"
#define TN_MODERNBERT_SLIDING "sliding_attention"

/* Whether a layer attends to the whole text; the others see a window. */
bool tn_modernbert_is_full(const struct tn_component *c, uint64_t layer);

#endif
