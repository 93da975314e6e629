/* What the two files of DeBERTa v2 tell each other: sizes that follow from several fields. */
#ifndef TN_FAMILY_DEBERTA_V2_H
#define TN_FAMILY_DEBERTA_V2_H

#include "describe/describe.h"

/* Columns of the embedding tables. */
uint64_t tn_deberta_v2_embedding_size(const struct tn_component *c);
/* Distance beyond which all are one. */
uint64_t tn_deberta_v2_max_distance(const struct tn_component *c);
/* Buckets of distances, or 0: one row for each. */
uint64_t tn_deberta_v2_buckets(const struct tn_component *c);
/* Whether pos_att_type lists "c2p" (queries against positions) or "p2c" (keys against positions). */
bool tn_deberta_v2_has_term(const struct tn_component *c, const char *term);

#endif
