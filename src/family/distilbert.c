/*
 * DistilBERT (Sanh et al. 2019, arXiv 1910.01108): BERT's layers without token types and pooler. The epsilon of every
 * norm is fixed at 1e-12 in the published code and stands in no configuration.
 */
#include "family/encoder_block.h"
#include "family/families.h"
#include "family/head_block.h"
#include "family/schemas.h"

#define H "hidden_size"
#define F "intermediate_size"
#define L TN_TENSOR_PER_LAYER

static const struct tn_tensor_rule tensors[] = {
    {"embeddings.word", "embeddings.word_embeddings.weight", NULL, {"vocab_size", H}, 0},
    {"embeddings.position", "embeddings.position_embeddings.weight", NULL, {"max_position_embeddings", H}, 0},
    {"embeddings.norm.weight", "embeddings.LayerNorm.weight", NULL, {H, NULL}, 0},
    {"embeddings.norm.bias", "embeddings.LayerNorm.bias", NULL, {H, NULL}, 0},
    {"layer.%.attention.query.weight", "transformer.layer.%.attention.q_lin.weight", NULL, {H, H}, L},
    {"layer.%.attention.query.bias", "transformer.layer.%.attention.q_lin.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.key.weight", "transformer.layer.%.attention.k_lin.weight", NULL, {H, H}, L},
    {"layer.%.attention.key.bias", "transformer.layer.%.attention.k_lin.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.value.weight", "transformer.layer.%.attention.v_lin.weight", NULL, {H, H}, L},
    {"layer.%.attention.value.bias", "transformer.layer.%.attention.v_lin.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.output.weight", "transformer.layer.%.attention.out_lin.weight", NULL, {H, H}, L},
    {"layer.%.attention.output.bias", "transformer.layer.%.attention.out_lin.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.norm.weight", "transformer.layer.%.sa_layer_norm.weight", NULL, {H, NULL}, L},
    {"layer.%.attention.norm.bias", "transformer.layer.%.sa_layer_norm.bias", NULL, {H, NULL}, L},
    {"layer.%.intermediate.weight", "transformer.layer.%.ffn.lin1.weight", NULL, {F, H}, L},
    {"layer.%.intermediate.bias", "transformer.layer.%.ffn.lin1.bias", NULL, {F, NULL}, L},
    {"layer.%.output.weight", "transformer.layer.%.ffn.lin2.weight", NULL, {H, F}, L},
    {"layer.%.output.bias", "transformer.layer.%.ffn.lin2.bias", NULL, {H, NULL}, L},
    {"layer.%.output.norm.weight", "transformer.layer.%.output_layer_norm.weight", NULL, {H, NULL}, L},
    {"layer.%.output.norm.bias", "transformer.layer.%.output_layer_norm.bias", NULL, {H, NULL}, L},
};

static const struct tn_unused_rule unused[] = {
    {"embeddings.position_ids", "a buffer that counts 0, 1, 2 ...", false},
    {"vocab_transform.*", "masked-language head on top of the encoder", true},
    {"vocab_layer_norm.*", "masked-language head on top of the encoder", true},
    {"vocab_projector.*", "masked-language head on top of the encoder", true},
};

static const char *const prefixes[] = {"", "distilbert.", NULL};

static uint32_t build(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b)
{
    struct tn_encoder_shape shape = {
        .layers = tn_component_value(c, "num_hidden_layers")->u,
        .heads = tn_component_value(c, "num_attention_heads")->u,
        .hidden_size = tn_component_value(c, H)->u,
        .eps = 1e-12,
        .relative_bias = TN_NO_WEIGHT,
    };
    struct tn_op_embed embed = {
        .table = {tn_bound_weight(g, b, "embeddings.word", 0),
                  tn_bound_weight(g, b, "embeddings.position", 0)},
        .index = {TN_INDEX_TOKEN, TN_INDEX_POSITION},
        .tables = 2,
        .gamma = tn_bound_weight(g, b, "embeddings.norm.weight", 0),
        .beta = tn_bound_weight(g, b, "embeddings.norm.bias", 0),
        .eps = shape.eps,
    };
    if (!tn_activation_of(tn_component_value(c, "hidden_act")->s, &shape.act)) return TN_NO_VALUE;
    g->position_rule = TN_POSITION_ARANGE;
    return tn_encoder_blocks(g, b, &shape, tn_graph_embed(g, "embeddings", &embed));
}

/* ---- heads --------------------------------------------------------------------------------------------------------- */

/* There is no pooler: a layer of the head's own stands in, with ReLU. */
static const struct tn_tensor_rule text_head[] = {TN_HEAD_DENSE("pre_classifier", H, TN_TENSOR_BARE),
                                                  TN_HEAD_CLASSIFIER("classifier", H)};
static const struct tn_tensor_rule token_head[] = {TN_HEAD_CLASSIFIER("classifier", H)};
static const struct tn_tensor_rule vocabulary_head[] = {TN_HEAD_DENSE("vocab_transform", H, TN_TENSOR_BARE),
                                                        TN_HEAD_NORM("vocab_layer_norm", H),
                                                        TN_HEAD_DECODER("vocab_projector", NULL, H)};

static uint32_t build_text_head(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    (void)c;
    return tn_head_of_text(g, b, x, TN_ACT_RELU);
}

static uint32_t build_vocabulary_head(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    enum tn_act act;
    if (!tn_activation_of(tn_component_value(c, "hidden_act")->s, &act)) return TN_NO_VALUE;
    return tn_head_of_vocabulary(g, b, x, act, 1e-12); /* a constant of the published code */
}

static const struct tn_family_head heads[] = {
    {.kind = TN_HEAD_SEQUENCE_CLASSIFICATION, .tensors = text_head, .tensor_count = sizeof(text_head) / sizeof(text_head[0]),
     .build = build_text_head},
    {.kind = TN_HEAD_TOKEN_CLASSIFICATION, .tensors = token_head, .tensor_count = sizeof(token_head) / sizeof(token_head[0]),
     .build = tn_head_of_tokens},
    {.kind = TN_HEAD_MASKED_LM, .tensors = vocabulary_head,
     .tensor_count = sizeof(vocabulary_head) / sizeof(vocabulary_head[0]), .own = {"vocab_*"}, .build = build_vocabulary_head},
    TN_HEAD_OF_SPANS,
};

const struct tn_family tn_family_distilbert = {
    .name = "distilbert",
    .version = "1",
    .schema = &tn_schema_distilbert,
    .layer_count = "num_hidden_layers",
    .prefixes = prefixes,
    .tensors = tensors,
    .tensor_count = sizeof(tensors) / sizeof(tensors[0]),
    .tied = {"embeddings.word", "vocab_projector.weight"},
    .unused = unused,
    .unused_count = sizeof(unused) / sizeof(unused[0]),
    .build = build,
    .heads = heads,
    .head_count = sizeof(heads) / sizeof(heads[0]),
};
