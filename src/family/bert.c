/*
 * BERT (Devlin et al. 2018, arXiv 1810.04805), encoder only: token, position and type embeddings, then post-norm layers.
 * The tensor list holds the names of BertModel's state dict.
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
    {"embeddings.type", "embeddings.token_type_embeddings.weight", NULL, {"type_vocab_size", H}, 0},
    {"embeddings.norm.weight", "embeddings.LayerNorm.weight", "embeddings.LayerNorm.gamma", {H, NULL}, 0},
    {"embeddings.norm.bias", "embeddings.LayerNorm.bias", "embeddings.LayerNorm.beta", {H, NULL}, 0},
    {"layer.%.attention.query.weight", "encoder.layer.%.attention.self.query.weight", NULL, {H, H}, L},
    {"layer.%.attention.query.bias", "encoder.layer.%.attention.self.query.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.key.weight", "encoder.layer.%.attention.self.key.weight", NULL, {H, H}, L},
    {"layer.%.attention.key.bias", "encoder.layer.%.attention.self.key.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.value.weight", "encoder.layer.%.attention.self.value.weight", NULL, {H, H}, L},
    {"layer.%.attention.value.bias", "encoder.layer.%.attention.self.value.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.output.weight", "encoder.layer.%.attention.output.dense.weight", NULL, {H, H}, L},
    {"layer.%.attention.output.bias", "encoder.layer.%.attention.output.dense.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.norm.weight", "encoder.layer.%.attention.output.LayerNorm.weight",
     "encoder.layer.%.attention.output.LayerNorm.gamma", {H, NULL}, L},
    {"layer.%.attention.norm.bias", "encoder.layer.%.attention.output.LayerNorm.bias",
     "encoder.layer.%.attention.output.LayerNorm.beta", {H, NULL}, L},
    {"layer.%.intermediate.weight", "encoder.layer.%.intermediate.dense.weight", NULL, {F, H}, L},
    {"layer.%.intermediate.bias", "encoder.layer.%.intermediate.dense.bias", NULL, {F, NULL}, L},
    {"layer.%.output.weight", "encoder.layer.%.output.dense.weight", NULL, {H, F}, L},
    {"layer.%.output.bias", "encoder.layer.%.output.dense.bias", NULL, {H, NULL}, L},
    {"layer.%.output.norm.weight", "encoder.layer.%.output.LayerNorm.weight", "encoder.layer.%.output.LayerNorm.gamma",
     {H, NULL}, L},
    {"layer.%.output.norm.bias", "encoder.layer.%.output.LayerNorm.bias", "encoder.layer.%.output.LayerNorm.beta",
     {H, NULL}, L},
};

static const struct tn_unused_rule unused[] = {
    {"embeddings.position_ids", "a buffer that counts 0, 1, 2 ...", false},
    {"embeddings.token_type_ids", "a buffer of zeros", false},
    {"pooler.dense.weight", "the pooler reads the encoder's output; only a head for whole texts reads the pooler", false},
    {"pooler.dense.bias", "the pooler reads the encoder's output; only a head for whole texts reads the pooler", false},
    {"cls.*", "pre-training heads on top of the encoder", true},
};

static const char *const prefixes[] = {"", "bert.", NULL};

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
    return tn_encoder_blocks(g, b, &shape, tn_graph_embed(g, "embeddings", &embed));
}

/* ---- heads --------------------------------------------------------------------------------------------------------- */

/* BertPooler, then the classifier: tanh(W first + b). */
static const struct tn_tensor_rule text_head[] = {TN_HEAD_DENSE("pooler.dense", H, 0), TN_HEAD_CLASSIFIER("classifier", H)};
static const struct tn_tensor_rule token_head[] = {TN_HEAD_CLASSIFIER("classifier", H)};
/* BertLMPredictionHead; its norm has older names where the encoder's have them. */
#define TRANSFORM "cls.predictions.transform."
static const struct tn_tensor_rule vocabulary_head[] = {
    TN_HEAD_DENSE(TRANSFORM "dense", H, TN_TENSOR_BARE),
    {"head.norm.weight", TRANSFORM "LayerNorm.weight", TRANSFORM "LayerNorm.gamma", {H, NULL}, TN_TENSOR_BARE},
    {"head.norm.bias", TRANSFORM "LayerNorm.bias", TRANSFORM "LayerNorm.beta", {H, NULL}, TN_TENSOR_BARE},
    TN_HEAD_DECODER("cls.predictions.decoder", "cls.predictions.bias", H),
};

static uint32_t build_text_head(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    (void)c;
    return tn_head_of_text(g, b, x, TN_ACT_TANH);
}

static uint32_t build_vocabulary_head(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    enum tn_act act;
    if (!tn_activation_of(tn_component_value(c, "hidden_act")->s, &act)) return TN_NO_VALUE;
    return tn_head_of_vocabulary(g, b, x, act, tn_component_value(c, "layer_norm_eps")->f);
}

/* Weights of pre-training hold the head over the vocabulary beside a judge of sentence pairs. */
static const struct tn_family_head heads[] = {
    {.kind = TN_HEAD_SEQUENCE_CLASSIFICATION, .tensors = text_head, .tensor_count = sizeof(text_head) / sizeof(text_head[0]),
     .build = build_text_head},
    {.kind = TN_HEAD_TOKEN_CLASSIFICATION, .tensors = token_head, .tensor_count = sizeof(token_head) / sizeof(token_head[0]),
     .build = tn_head_of_tokens},
    {.kind = TN_HEAD_MASKED_LM, .tensors = vocabulary_head,
     .tensor_count = sizeof(vocabulary_head) / sizeof(vocabulary_head[0]), .own = {"cls.predictions.*"}, .build = build_vocabulary_head},
    {.kind = TN_HEAD_PRETRAINING, .tensors = vocabulary_head,
     .tensor_count = sizeof(vocabulary_head) / sizeof(vocabulary_head[0]), .own = {"cls.predictions.*"}, .build = build_vocabulary_head},
    TN_HEAD_OF_SPANS,
};

const struct tn_family tn_family_bert = {
    .name = "bert",
    .version = "1",
    .schema = &tn_schema_bert,
    .layer_count = "num_hidden_layers",
    .prefixes = prefixes,
    .tensors = tensors,
    .tensor_count = sizeof(tensors) / sizeof(tensors[0]),
    .tied = {"embeddings.word", "cls.predictions.decoder.weight"},
    .unused = unused,
    .unused_count = sizeof(unused) / sizeof(unused[0]),
    .build = build,
    .heads = heads,
    .head_count = sizeof(heads) / sizeof(heads[0]),
};
