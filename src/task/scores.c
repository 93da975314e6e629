/*
 * Scores from logits. The rules are those of transformers' TextClassificationPipeline (5.24): problem_type decides, and
 * where it is not stated one output is a sigmoid and several are a softmax. Everything in float32, as there.
 */
#include "task/scores.h"

#include "base/sort.h"
#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

struct tn_scoring tn_scoring_of_classifier(const struct tn_head *head)
{
    if (head->problem == TN_PROBLEM_REGRESSION) return (struct tn_scoring){TN_SCORE_AS_IS, TN_SCORE_VALUE, TN_ACT_IDENTITY};
    bool each = head->problem == TN_PROBLEM_MULTI_LABEL || head->outputs == 1;
    return (struct tn_scoring){each ? TN_SCORE_SIGMOID : TN_SCORE_SOFTMAX, TN_SCORE_PROBABILITY, TN_ACT_IDENTITY};
}

bool tn_scoring_choose(struct tn_scoring *s, tn_score_choice choice, const struct tn_head *head)
{
    if (choice == TN_SCORES_LOGIT) {
        bool value = head->problem == TN_PROBLEM_REGRESSION;
        *s = (struct tn_scoring){TN_SCORE_AS_IS, value ? TN_SCORE_VALUE : TN_SCORE_LOGIT, TN_ACT_IDENTITY};
    }
    return choice != TN_SCORES_PROBABILITY || head->problem != TN_PROBLEM_REGRESSION;
}

const char *tn_score_function_name(enum tn_score_function function)
{
    static const char *const names[] = {"none", "sigmoid", "softmax", "activation"};
    return (unsigned)function < sizeof(names) / sizeof(names[0]) ? names[function] : "unknown";
}

const char *tn_score_kind_name(tn_score_kind kind)
{
    static const char *const names[] = {"none", "logit", "probability", "value", "other"};
    return (unsigned)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

float tn_score_sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

static void softmax(const float *logits, float *scores, size_t n)
{
    float most = logits[0], sum = 0;
    for (size_t i = 1; i < n; i++) most = logits[i] > most ? logits[i] : most;
    for (size_t i = 0; i < n; i++) {
        scores[i] = expf(logits[i] - most);
        sum += scores[i];
    }
    for (size_t i = 0; i < n; i++) scores[i] /= sum;
}

void tn_score_apply(const struct tn_scoring *s, const float *logits, float *scores, size_t n)
{
    switch (s->function) {
    case TN_SCORE_SIGMOID:
        for (size_t i = 0; i < n; i++) scores[i] = tn_score_sigmoid(logits[i]);
        return;
    case TN_SCORE_SOFTMAX:
        softmax(logits, scores, n);
        return;
    case TN_SCORE_AS_IS:
    case TN_SCORE_ACTIVATION:
        memmove(scores, logits, n * sizeof(*scores));
        if (s->function == TN_SCORE_ACTIVATION) tn_kernels_select(NULL, "ref")->activate(s->act, scores, n, 1, n, 0, 1);
        return;
    }
}

bool tn_scores_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static int by_score(const void *a, const void *b, void *context)
{
    const float *scores = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (scores[x] != scores[y]) return scores[x] > scores[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* A vocabulary has a hundred thousand scores, of which five are wanted: those are kept in order while going by. */
enum { FEW = 64 };

static size_t few_best(const float *scores, size_t n, size_t most, uint32_t *order)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (count == most && !(scores[i] > scores[order[count - 1]])) continue;
        size_t at = count < most ? count++ : count - 1;
        for (; at > 0 && scores[i] > scores[order[at - 1]]; at--) order[at] = order[at - 1];
        order[at] = (uint32_t)i;
    }
    return count;
}

void tn_scores_best_of(const float *scores, const uint32_t *indices, size_t n, uint32_t *order)
{
    memcpy(order, indices, n * sizeof(*order));
    tn_sort(order, n, sizeof(*order), by_score, (void *)(uintptr_t)scores);
}

size_t tn_scores_best(const float *scores, size_t n, size_t most, uint32_t *order)
{
    if (most && most < n / FEW) return few_best(scores, n, most, order);
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    tn_sort(order, n, sizeof(*order), by_score, (void *)(uintptr_t)scores);
    return most && most < n ? most : n;
}
