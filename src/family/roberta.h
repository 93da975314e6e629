/*
 * What RoBERTa and the families that publish its forward pass under another name have in common: tensors, the tensors
 * that are not read, and the graph. Each has a configuration schema of its own.
 */
#ifndef TN_FAMILY_ROBERTA_H
#define TN_FAMILY_ROBERTA_H

#include "family/family.h"

enum { TN_ROBERTA_TENSORS = 21, TN_ROBERTA_UNUSED = 5 };

extern const struct tn_tensor_rule tn_roberta_tensors[TN_ROBERTA_TENSORS];
extern const struct tn_unused_rule tn_roberta_unused[TN_ROBERTA_UNUSED];
extern const char *const tn_roberta_prefixes[];

uint32_t tn_roberta_build(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b);

#endif
