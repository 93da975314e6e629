/*
 * ELECTRA (Clark et al. 2020, arXiv 2003.10555): BERT's layers on embeddings that may be narrower than they are. The
 * tables and their norm have embedding_size columns; a linear layer widens them where the two sizes differ. The
 * discriminator and the generator of a pair are two such encoders under one name.
 */
#include "family/encoder_block.h"
#include "family/families.h"
#include "family/head_block.h"
#include "family/schemas.h"

#define E "embedding_size"
#define H "hidden_size"
#define F "intermediate_size"
#define L TN_TENSOR_PER_LAYER

enum { SIZES_DIFFER };

static bool sizes_differ(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return tn_component_value(c, E)->u != tn_component_value(c, H)->u;
}

static const struct tn_tensor_condition conditions[] = {
    [SIZES_DIFFER] = {"embedding_size other than hidden_size", sizes_differ},
};

static const struct tn_tensor_rule tensors[] = {
    {"embeddings.word", "embeddings.word_embeddings.weight", NULL, {"vocab_size", E}, 0},
    {"embeddings.position", "embeddings.position_embeddings.weight", NULL, {"max_position_embeddings", E}, 0},
    {"embeddings.type", "embeddings.token_type_embeddings.weight", NULL, {"type_vocab_size", E}, 0},
    {"embeddings.norm.weight", "embeddings.LayerNorm.weight", NULL, {E, NULL}, 0},
    {"embeddings.norm.bias", "embeddings.LayerNorm.bias", NULL, {E, NULL}, 0},
    {"embeddings.projection.weight", "embeddings_project.weight", NULL, {H, E}, TN_TENSOR_WHEN(SIZES_DIFFER)},
    {"embeddings.projection.bias", "embeddings_project.bias", NULL, {H, NULL}, TN_TENSOR_WHEN(SIZES_DIFFER)},
    {"layer.%.attention.query.weight", "encoder.layer.%.attention.self.query.weight", NULL, {H, H}, L},
    {"layer.%.attention.query.bias", "encoder.layer.%.attention.self.query.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.key.weight", "encoder.layer.%.attention.self.key.weight", NULL, {H, H}, L},
    {"layer.%.attention.key.bias", "encoder.layer.%.attention.self.key.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.value.weight", "encoder.layer.%.attention.self.value.weight", NULL, {H, H}, L},
    {"layer.%.attention.value.bias", "encoder.layer.%.attention.self.value.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.output.weight", "encoder.layer.%.attention.output.dense.weight", NULL, {H, H}, L},
    {"layer.%.attention.output.bias", "encoder.layer.%.attention.output.dense.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.norm.weight", "encoder.layer.%.attention.output.LayerNorm.weight", NULL, {H, NULL}, L},
    {"layer.%.attention.norm.bias", "encoder.layer.%.attention.output.LayerNorm.bias", NULL, {H, NULL}, L},
    {"layer.%.intermediate.weight", "encoder.layer.%.intermediate.dense.weight", NULL, {F, H}, L},
    {"layer.%.intermediate.bias", "encoder.layer.%.intermediate.dense.bias", NULL, {F, NULL}, L},
    {"layer.%.output.weight", "encoder.layer.%.output.dense.weight", NULL, {H, F}, L},
    {"layer.%.output.bias", "encoder.layer.%.output.dense.bias", NULL, {H, NULL}, L},
    {"layer.%.output.norm.weight", "encoder.layer.%.output.LayerNorm.weight", NULL, {H, NULL}, L},
    {"layer.%.output.norm.bias", "encoder.layer.%.output.LayerNorm.bias", NULL, {H, NULL}, L},
};

static const struct tn_unused_rule unused[] = {
    {"embeddings.position_ids", "a buffer that counts 0, 1, 2 ...", false},
    {"embeddings.token_type_ids", "a buffer of zeros", false},
    {"discriminator_predictions.*", "pre-training head of the discriminator on top of the encoder", true},
    {"generator_predictions.*", "pre-training head of the generator on top of the encoder", true},
    {"generator_lm_head.*", "pre-training head of the generator on top of the encoder", true},
};

static const char *const prefixes[] = {"", "electra.", NULL};

/* x W^T + b, from the tables' width to that of the layers; x itself where they are the same. */
static uint32_t widen(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    struct tn_op_linear linear = {
        .weight = {tn_bound_weight(g, b, "embeddings.projection.weight", 0)},
        .bias = {tn_bound_weight(g, b, "embeddings.projection.bias", 0)},
        .parts = 1,
        .act = TN_ACT_IDENTITY,
    };
    return sizes_differ(c, 0) ? tn_graph_linear(g, "embedding projection", x, TN_NO_VALUE, &linear) : x;
}

static uint32_t build(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b)
{
    struct tn_encoder_shape shape = {
        .layers = tn_component_value(c, "num_hidden_layers")->u,
        .heads = tn_component_value(c, "num_attention_heads")->u,
        .hidden_size = tn_component_value(c, H)->u,
        .eps = tn_component_value(c, "layer_norm_eps")->f,
        .relative_bias = TN_NO_WEIGHT,
    };
    struct tn_op_embed embed = {
        .table = {tn_bound_weight(g, b, "embeddings.word", 0),
                  tn_bound_weight(g, b, "embeddings.type", 0),
                  tn_bound_weight(g, b, "embeddings.position", 0)},
        .index = {TN_INDEX_TOKEN, TN_INDEX_TYPE, TN_INDEX_POSITION},
        .tables = 3, /* summed in the order of the published code */
        .gamma = tn_bound_weight(g, b, "embeddings.norm.weight", 0),
        .beta = tn_bound_weight(g, b, "embeddings.norm.bias", 0),
        .eps = shape.eps,
    };
    if (!tn_activation_of(tn_component_value(c, "hidden_act")->s, &shape.act)) return TN_NO_VALUE;
    g->position_rule = TN_POSITION_ARANGE;
    return tn_encoder_blocks(g, b, &shape, widen(g, c, b, tn_graph_embed(g, "embeddings", &embed)));
}

/* ---- heads --------------------------------------------------------------------------------------------------------- */

static const struct tn_tensor_rule text_head[] = {TN_HEAD_DENSE("classifier.dense", H, TN_TENSOR_BARE),
                                                  TN_HEAD_CLASSIFIER("classifier.out_proj", H)};
static const struct tn_tensor_rule token_head[] = {TN_HEAD_CLASSIFIER("classifier", H)};
/* The generator's: its rows are as wide as the embeddings. */
static const struct tn_tensor_rule vocabulary_head[] = {
    {"head.dense.weight", "generator_predictions.dense.weight", NULL, {E, H}, TN_TENSOR_BARE},
    {"head.dense.bias", "generator_predictions.dense.bias", NULL, {E, NULL}, TN_TENSOR_BARE},
    TN_HEAD_NORM("generator_predictions.LayerNorm", E),
    TN_HEAD_DECODER("generator_lm_head", NULL, E),
};

/* GELU where BERT has tanh, whatever hidden_act says: a constant of the published code. */
static uint32_t build_text_head(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    (void)c;
    return tn_head_of_text(g, b, x, TN_ACT_GELU);
}

/* GELU here too. */
static uint32_t build_vocabulary_head(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    return tn_head_of_vocabulary(g, b, x, TN_ACT_GELU, tn_component_value(c, "layer_norm_eps")->f);
}

static const struct tn_family_head heads[] = {
    {.kind = TN_HEAD_SEQUENCE_CLASSIFICATION, .tensors = text_head, .tensor_count = sizeof(text_head) / sizeof(text_head[0]),
     .build = build_text_head},
    {.kind = TN_HEAD_TOKEN_CLASSIFICATION, .tensors = token_head, .tensor_count = sizeof(token_head) / sizeof(token_head[0]),
     .build = tn_head_of_tokens},
    {.kind = TN_HEAD_MASKED_LM, .tensors = vocabulary_head,
     .tensor_count = sizeof(vocabulary_head) / sizeof(vocabulary_head[0]), .own = {"generator_*"}, .build = build_vocabulary_head},
    TN_HEAD_OF_SPANS,
};

const struct tn_family tn_family_electra = {
    .name = "electra",
    .version = "1",
    .schema = &tn_schema_electra,
    .layer_count = "num_hidden_layers",
    .prefixes = prefixes,
    .tensors = tensors,
    .tensor_count = sizeof(tensors) / sizeof(tensors[0]),
    .tied = {"embeddings.word", "generator_lm_head.weight"},
    .unused = unused,
    .unused_count = sizeof(unused) / sizeof(unused[0]),
    .conditions = conditions,
    .build = build,
    .heads = heads,
    .head_count = sizeof(heads) / sizeof(heads[0]),
};
