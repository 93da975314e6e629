/*
 * RoBERTa (Liu et al. 2019, arXiv 1907.11692): BERT's layers over positions that count from the padding index: the first
 * real token has position pad_token_id + 1, and a literal padding token in the text has position pad_token_id.
 */
#include "family/roberta.h"

#include "family/encoder_block.h"
#include "family/families.h"
#include "family/head_block.h"
#include "family/schemas.h"

#define H "hidden_size"
#define F "intermediate_size"
#define L TN_TENSOR_PER_LAYER

const struct tn_tensor_rule tn_roberta_tensors[TN_ROBERTA_TENSORS] = {
    {"embeddings.word", "embeddings.word_embeddings.weight", NULL, {"vocab_size", H}, 0},
    {"embeddings.position", "embeddings.position_embeddings.weight", NULL, {"max_position_embeddings", H}, 0},
    {"embeddings.type", "embeddings.token_type_embeddings.weight", NULL, {"type_vocab_size", H}, 0},
    {"embeddings.norm.weight", "embeddings.LayerNorm.weight", NULL, {H, NULL}, 0},
    {"embeddings.norm.bias", "embeddings.LayerNorm.bias", NULL, {H, NULL}, 0},
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

const struct tn_unused_rule tn_roberta_unused[TN_ROBERTA_UNUSED] = {
    {"embeddings.position_ids", "a buffer that counts 0, 1, 2 ...", false},
    {"embeddings.token_type_ids", "a buffer of zeros", false},
    {"pooler.dense.weight", "the pooler reads the encoder's output; no head of this family reads the pooler", false},
    {"pooler.dense.bias", "the pooler reads the encoder's output; no head of this family reads the pooler", false},
    {"lm_head.*", "masked-language head on top of the encoder", true},
};

const char *const tn_roberta_prefixes[] = {"", "roberta.", NULL};

uint32_t tn_roberta_build(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b)
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
    g->position_rule = TN_POSITION_FROM_PAD;
    g->pad_id = tn_component_value(c, "pad_token_id")->u;
    return tn_encoder_blocks(g, b, &shape, tn_graph_embed(g, "embeddings", &embed));
}

const struct tn_family tn_family_roberta = {
    .name = "roberta",
    .version = "1",
    .schema = &tn_schema_roberta,
    .layer_count = "num_hidden_layers",
    .prefixes = tn_roberta_prefixes,
    .tensors = tn_roberta_tensors,
    .tensor_count = TN_ROBERTA_TENSORS,
    .tied = {"embeddings.word", "lm_head.decoder.weight"},
    .unused = tn_roberta_unused,
    .unused_count = TN_ROBERTA_UNUSED,
    .build = tn_roberta_build,
    .heads = tn_out_proj_heads,
    .head_count = TN_OUT_PROJ_HEADS,
};
