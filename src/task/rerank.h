/* Shared by the files of reranking: contract and assessment, options, recipe. */
#ifndef TN_TASK_RERANK_H
#define TN_TASK_RERANK_H

#include "task/scores.h"
#include "task/text_choices.h"

extern const struct tn_recipe tn_recipe_rerank;

/*
 * Which number of the head is the score. One output: that one, with the activation of the scorer. Two: of the output that
 * means "relevant" against the other one, as log-odds or as softmax.
 */
struct tn_rerank_rule {
    uint32_t outputs;  /* 1 or 2; 0: the head ranks nothing */
    uint32_t relevant; /* of two */
    bool by_convention; /* nothing but the order of the outputs says which of the two it is */
    const char *refusal; /* why the head ranks nothing; NULL: it does */
    enum tn_act act;   /* of one output, where the request leaves the choice: what the package or the library puts on it */
};

struct tn_rerank_rule tn_rerank_rule_of(const struct tn_head *head);
/* The kind of score that a request gets. */
tn_score_kind tn_rerank_kind(const struct tn_rerank_rule *rule, tn_score_choice choice);
/* The score of a document from its logits, in float32. */
float tn_rerank_score(const struct tn_rerank_rule *rule, tn_score_choice choice, const float *logits);

enum tn_status tn_rerank_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                 struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err);

#endif
