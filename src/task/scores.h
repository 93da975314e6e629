/* Numbers of a classifier and what is made of them: logits to scores, in float32, and the order of scores. */
#ifndef TN_TASK_SCORES_H
#define TN_TASK_SCORES_H

#include "describe/activation.h"
#include "describe/describe.h"

enum tn_score_function { TN_SCORE_AS_IS, TN_SCORE_SIGMOID, TN_SCORE_SOFTMAX, TN_SCORE_ACTIVATION };

struct tn_scoring {
    enum tn_score_function function;
    tn_score_kind kind;
    enum tn_act act; /* of TN_SCORE_ACTIVATION */
};

/* What transformers' text classification makes of a head's numbers: by problem_type, else by their count. */
struct tn_scoring tn_scoring_of_classifier(const struct tn_head *head);
/* The request's choice over it. A regression has no probability: false then. */
bool tn_scoring_choose(struct tn_scoring *s, tn_score_choice choice, const struct tn_head *head);
const char *tn_score_function_name(enum tn_score_function function);

/* 1 / (1 + exp(-x)); softmax subtracts the largest first. */
float tn_score_sigmoid(float x);
void tn_score_apply(const struct tn_scoring *s, const float *logits, float *scores, size_t n);

/* Indices of the best `most` (0: all) of n scores, best first, equal scores by index; NaN does not occur. Returns how many. */
size_t tn_scores_best(const float *scores, size_t n, size_t most, uint32_t *order);
/* Whether all are numbers: what a recipe makes of a head's numbers may overflow where those did not. */
bool tn_scores_finite(const float *x, size_t n);
/* The same as tn_scores_best for n given indices, rising: all of them. */
void tn_scores_best_of(const float *scores, const uint32_t *indices, size_t n, uint32_t *order);

#endif
