/*
 * Heads that several families share, because their published code computes the same. What is fixed here is the roles
 * that a family's list of head tensors must have; the names are the family's.
 *
 *     head.classifier.weight, head.classifier.bias   [outputs, hidden], [outputs]
 *     head.dense.weight, head.dense.bias             [hidden, hidden], [hidden]
 *     head.norm.weight, head.norm.bias               [embedding], [embedding]
 *     head.decoder.weight, head.decoder.bias         [vocab_size, embedding], [vocab_size]
 */
#ifndef TN_FAMILY_HEAD_BLOCK_H
#define TN_FAMILY_HEAD_BLOCK_H

#include "family/family.h"

/* act(x W^T + b) with the tensors ROLE.weight and ROLE.bias; a bias that is optional and absent is zero. */
uint32_t tn_head_layer(struct tn_graph *g, const struct tn_binding *b, const char *role, const char *name, uint32_t x,
                       enum tn_act act);
/* The row of each sequence's first token: [T, width] to [S, width]. */
uint32_t tn_head_first_token(struct tn_graph *g, uint32_t x);
/* The mean of each sequence's rows: [T, width] to [S, width]. */
uint32_t tn_head_mean(struct tn_graph *g, uint32_t x);
/* classifier(act(dense(first token))): one row of logits for each text. */
uint32_t tn_head_of_text(struct tn_graph *g, const struct tn_binding *b, uint32_t x, enum tn_act act);
/* classifier(x): one row of logits for each token. A builder as it stands. */
uint32_t tn_head_of_tokens(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x);

/* decoder(norm(act(dense(x)))): for each row of x a logit for each entry of the vocabulary. */
uint32_t tn_head_of_vocabulary(struct tn_graph *g, const struct tn_binding *b, uint32_t x, enum tn_act act, double eps);

/* Where an answer begins and ends: one linear layer over each token, in most families under the name "qa_outputs". */
enum { TN_SPAN_TENSORS = 2 };
extern const struct tn_tensor_rule tn_span_tensors[TN_SPAN_TENSORS];
#define TN_HEAD_OF_SPANS                                                                                              \
    {.kind = TN_HEAD_QUESTION_ANSWERING, .tensors = tn_span_tensors, .tensor_count = TN_SPAN_TENSORS, .build = tn_head_of_tokens}

/*
 * RoBERTa's heads, which MPNet has too: out_proj(tanh(dense(first token))) under "classifier" for texts, a classifier
 * of tokens, lm_head over the vocabulary, and answer spans.
 */
enum { TN_OUT_PROJ_HEADS = 4 };
extern const struct tn_family_head tn_out_proj_heads[TN_OUT_PROJ_HEADS];

/* The rows of head.classifier under a name, which are the same in most families. */
#define TN_HEAD_CLASSIFIER(name, hidden)                                                                              \
    {"head.classifier.weight", name ".weight", NULL, {TN_DIM_OUTPUTS, hidden}, TN_TENSOR_BARE},                       \
        {"head.classifier.bias", name ".bias", NULL, {TN_DIM_OUTPUTS, NULL}, TN_TENSOR_BARE}
/* Those of head.dense; `flags` TN_TENSOR_BARE, or 0 where the name stands behind the encoder's prefix. */
#define TN_HEAD_DENSE(name, hidden, flags)                                                                            \
    {"head.dense.weight", name ".weight", NULL, {hidden, hidden}, (flags)},                                           \
        {"head.dense.bias", name ".bias", NULL, {hidden, NULL}, (flags)}
#define TN_HEAD_NORM(name, width)                                                                                     \
    {"head.norm.weight", name ".weight", NULL, {width, NULL}, TN_TENSOR_BARE},                                        \
        {"head.norm.bias", name ".bias", NULL, {width, NULL}, TN_TENSOR_BARE}
/* `own`: the head's own name of the decoder's bias, or NULL. */
#define TN_HEAD_DECODER(name, own, width)                                                                             \
    {"head.decoder.weight", name ".weight", NULL, {"vocab_size", width}, TN_TENSOR_BARE | TN_TENSOR_TIED},            \
        {"head.decoder.bias", name ".bias", own, {"vocab_size", NULL}, TN_TENSOR_BARE | TN_TENSOR_TIED}

#endif
