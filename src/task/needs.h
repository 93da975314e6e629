/* What tasks over texts need of a description, and the evidence that they quote when a package was made for another one. */
#ifndef TN_TASK_NEEDS_H
#define TN_TASK_NEEDS_H

#include "family/family.h"
#include "task/task.h"

/* Whether the network has a row for each token type of a text, or of a pair of texts. */
bool tn_types_fit(const struct tn_description *d, bool pair);
/* A blocker where pairs have types without a row; tn_need_tokenizer asks for those of single texts. */
void tn_need_pair_types(const struct tn_description *d, struct tn_findings *findings);

/* A tokenizer, and a statement of the longest input: a blocker for each that is not there. */
void tn_need_tokenizer(const struct tn_description *d, struct tn_findings *findings);
void tn_need_length(const struct tn_description *d, struct tn_findings *findings);

/*
 * Begins a route with the length and the encoder: a blocker where there is none and nobody has said why. Returns whether
 * earlier stages have said why something is not there: a consequence is not another fault.
 */
bool tn_need_encoder(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out);

/* Facts that speak for a task that reads a head. */
extern const char *const tn_head_facts[];

/* Where the class stands: the place of a finding about it. */
void tn_at_class(struct tn_finding *f, const struct tn_description *d);

/*
 * Route of a task that reads a head: one of `kinds`, with a tokenizer and a length. Otherwise blockers, of which the one
 * about the head is TN_TASK_HEAD_MISMATCH with all evidence. `what` names what the task asks for, "scores of pairs".
 */
void tn_need_head(const struct tn_description *d, const enum tn_head_kind *kinds, size_t count, const char *what,
                  struct tn_findings *findings, struct tn_task_route *out);

#endif
