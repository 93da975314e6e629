/*
 * Heads: what the weights behind an encoder were trained to answer. A package has at most one, named by the class that
 * wrote the weights and confirmed by its convention; the description holds it with its labels and how its numbers are to
 * be read. A head says nothing about tasks: which task reads which head is the task's business (src/task), how a head
 * computes is its family's (src/family).
 *
 * Adding a kind is a row here; families and tasks that know it follow.
 */
#ifndef TN_DESCRIBE_HEAD_H
#define TN_DESCRIBE_HEAD_H

#include "base/status.h"

/* X(name, text, suffix of the class in transformers, what it answers, whether its outputs have labels, else how many) */
#define TN_HEAD_LIST(X)                                                                                               \
    X(SEQUENCE_CLASSIFICATION, "sequence_classification", "ForSequenceClassification",                                \
      "a classifier or reranker of whole texts", true, 0)                                                              \
    X(TOKEN_CLASSIFICATION, "token_classification", "ForTokenClassification", "a tagger of tokens", true, 0)          \
    X(MASKED_LM, "masked_lm", "ForMaskedLM", "a predictor of masked tokens", false, 0)                                \
    X(QUESTION_ANSWERING, "question_answering", "ForQuestionAnswering", "an extractor of answer spans", false, 2)     \
    X(MULTIPLE_CHOICE, "multiple_choice", "ForMultipleChoice", "a chooser among candidates", false, 0)                \
    X(NEXT_SENTENCE, "next_sentence", "ForNextSentencePrediction", "a judge of sentence pairs", false, 0)             \
    X(PRETRAINING, "pretraining", "ForPreTraining", "the heads of pre-training", false, 0)

enum tn_head_kind {
#define X(name, text, suffix, what, labelled, outputs) TN_HEAD_##name,
    TN_HEAD_LIST(X)
#undef X
    TN_HEAD_KINDS
};

const char *tn_head_kind_name(enum tn_head_kind kind);
const char *tn_head_kind_what(enum tn_head_kind kind);
/* Whether the head gives one number per label, so that its description has labels. */
bool tn_head_kind_is_labelled(enum tn_head_kind kind);
/* Numbers per token of a head that has no labels, where its kind fixes them: where an answer begins and ends. Else 0. */
uint64_t tn_head_kind_outputs(enum tn_head_kind kind);
/* Whether its numbers are those of the vocabulary's entries, one row for each token. */
bool tn_head_kind_is_vocabulary(enum tn_head_kind kind);
/* By name; false when there is none. */
bool tn_head_kind_of(struct tn_str name, enum tn_head_kind *out);
/* By the naming rule of transformers' classes, "<Family>For<Head>" (rule "transformers.head/1"); false: none of these. */
bool tn_head_of_class(struct tn_str architecture, enum tn_head_kind *out);

/* What the numbers of a classifier mean, as problem_type states it. Each goes with another function and another loss. */
#define TN_PROBLEM_LIST(X)                                                                         \
    X(UNSTATED, "")                                                                                \
    X(REGRESSION, "regression")                                                                    \
    X(SINGLE_LABEL, "single_label_classification")                                                 \
    X(MULTI_LABEL, "multi_label_classification")

enum tn_problem {
#define X(name, text) TN_PROBLEM_##name,
    TN_PROBLEM_LIST(X)
#undef X
    TN_PROBLEMS
};

const char *tn_problem_name(enum tn_problem problem);

struct tn_head {
    enum tn_head_kind kind;
    uint64_t outputs;        /* numbers per text or token: one per label, or as many as the kind fixes; else 0 */
    struct tn_str *labels;   /* [outputs] names by id */
    bool labels_stated;      /* by the package; else the class's LABEL_0, LABEL_1 ... */
    enum tn_problem problem;
    bool cross_encoder;      /* saved as a scorer of pairs */
    bool no_answer;          /* trained to say that a text holds no answer; stated by nothing but our own document */
    struct tn_str activation; /* that the scorer puts on its numbers, normalised as in modules; "": not stated */
};

/* Of a head with labels: whether they are LABEL_0, LABEL_1 ..., which say no more than the numbers do. */
bool tn_head_labels_are_made_up(const struct tn_head *head);
/* Whether what the numbers are said to mean goes with how many there are. */
bool tn_head_problem_fits(const struct tn_head *head);

#endif
