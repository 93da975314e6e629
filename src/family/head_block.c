/* Emits the shared heads; the roles are the contract with the families' lists. */
#include "family/head_block.h"

#include <stdio.h>

uint32_t tn_head_layer(struct tn_graph *g, const struct tn_binding *b, const char *role, const char *name, uint32_t x,
                       enum tn_act act)
{
    char weight[64], bias[64];
    snprintf(weight, sizeof(weight), "%s.weight", role);
    snprintf(bias, sizeof(bias), "%s.bias", role);
    struct tn_op_linear linear = {
        .weight = {tn_bound_weight(g, b, weight, 0)},
        .bias = {tn_bound_weight(g, b, bias, 0)},
        .parts = 1,
        .act = act,
    };
    return tn_graph_linear(g, name, x, TN_NO_VALUE, &linear);
}

uint32_t tn_head_first_token(struct tn_graph *g, uint32_t x)
{
    struct tn_op_pool pool = {.mode = {TN_POOLING_CLS}, .modes = 1};
    return tn_graph_pool(g, "head first token", x, &pool);
}

uint32_t tn_head_mean(struct tn_graph *g, uint32_t x)
{
    struct tn_op_pool pool = {.mode = {TN_POOLING_MEAN}, .modes = 1};
    return tn_graph_pool(g, "head mean", x, &pool);
}

uint32_t tn_head_of_text(struct tn_graph *g, const struct tn_binding *b, uint32_t x, enum tn_act act)
{
    uint32_t v = tn_head_layer(g, b, "head.dense", "head dense", tn_head_first_token(g, x), act);
    return tn_head_layer(g, b, "head.classifier", "head logits", v, TN_ACT_IDENTITY);
}

uint32_t tn_head_of_tokens(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    (void)c;
    return tn_head_layer(g, b, "head.classifier", "head logits", x, TN_ACT_IDENTITY);
}

uint32_t tn_head_of_vocabulary(struct tn_graph *g, const struct tn_binding *b, uint32_t x, enum tn_act act, double eps)
{
    struct tn_op_layer_norm norm = {tn_bound_weight(g, b, "head.norm.weight", 0),
                                    tn_bound_weight(g, b, "head.norm.bias", 0), eps};
    uint32_t v = tn_head_layer(g, b, "head.dense", "head dense", x, act);
    v = tn_graph_layer_norm(g, "head norm", v, TN_NO_VALUE, &norm);
    return tn_head_layer(g, b, "head.decoder", "head logits", v, TN_ACT_IDENTITY);
}
/* ---- answer spans ---------------------------------------------------------------------------------------------------- */

const struct tn_tensor_rule tn_span_tensors[TN_SPAN_TENSORS] = {TN_HEAD_CLASSIFIER("qa_outputs", "hidden_size")};

/* ---- dense and out_proj ---------------------------------------------------------------------------------------------- */

#define H "hidden_size"

static const struct tn_tensor_rule out_proj_tensors[] = {TN_HEAD_DENSE("classifier.dense", H, TN_TENSOR_BARE),
                                                         TN_HEAD_CLASSIFIER("classifier.out_proj", H)};
static const struct tn_tensor_rule token_tensors[] = {TN_HEAD_CLASSIFIER("classifier", H)};
static const struct tn_tensor_rule vocabulary_tensors[] = {TN_HEAD_DENSE("lm_head.dense", H, TN_TENSOR_BARE),
                                                           TN_HEAD_NORM("lm_head.layer_norm", H),
                                                           TN_HEAD_DECODER("lm_head.decoder", "lm_head.bias", H)};

static uint32_t build_out_proj(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    (void)c;
    return tn_head_of_text(g, b, x, TN_ACT_TANH);
}

/* GELU whatever hidden_act says: a constant of the published code. */
static uint32_t build_vocabulary(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    return tn_head_of_vocabulary(g, b, x, TN_ACT_GELU, tn_component_value(c, "layer_norm_eps")->f);
}

const struct tn_family_head tn_out_proj_heads[TN_OUT_PROJ_HEADS] = {
    {.kind = TN_HEAD_SEQUENCE_CLASSIFICATION, .tensors = out_proj_tensors,
     .tensor_count = sizeof(out_proj_tensors) / sizeof(out_proj_tensors[0]), .build = build_out_proj},
    {.kind = TN_HEAD_TOKEN_CLASSIFICATION, .tensors = token_tensors,
     .tensor_count = sizeof(token_tensors) / sizeof(token_tensors[0]), .build = tn_head_of_tokens},
    {.kind = TN_HEAD_MASKED_LM, .tensors = vocabulary_tensors,
     .tensor_count = sizeof(vocabulary_tensors) / sizeof(vocabulary_tensors[0]), .own = {"lm_head.*"}, .build = build_vocabulary},
    TN_HEAD_OF_SPANS,
};
