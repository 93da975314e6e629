/*
 * MPNet (Song et al. 2020, arXiv 2004.09297): BERT's layers without token types, positions counted from the padding
 * index, and one relative attention bias in T5's buckets that all layers share.
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
    {"relative_bias", "encoder.relative_attention_bias.weight", NULL,
     {"relative_attention_num_buckets", "num_attention_heads"}, 0},
    {"layer.%.attention.query.weight", "encoder.layer.%.attention.attn.q.weight", NULL, {H, H}, L},
    {"layer.%.attention.query.bias", "encoder.layer.%.attention.attn.q.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.key.weight", "encoder.layer.%.attention.attn.k.weight", NULL, {H, H}, L},
    {"layer.%.attention.key.bias", "encoder.layer.%.attention.attn.k.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.value.weight", "encoder.layer.%.attention.attn.v.weight", NULL, {H, H}, L},
    {"layer.%.attention.value.bias", "encoder.layer.%.attention.attn.v.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.output.weight", "encoder.layer.%.attention.attn.o.weight", NULL, {H, H}, L},
    {"layer.%.attention.output.bias", "encoder.layer.%.attention.attn.o.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.norm.weight", "encoder.layer.%.attention.LayerNorm.weight", NULL, {H, NULL}, L},
    {"layer.%.attention.norm.bias", "encoder.layer.%.attention.LayerNorm.bias", NULL, {H, NULL}, L},
    {"layer.%.intermediate.weight", "encoder.layer.%.intermediate.dense.weight", NULL, {F, H}, L},
    {"layer.%.intermediate.bias", "encoder.layer.%.intermediate.dense.bias", NULL, {F, NULL}, L},
    {"layer.%.output.weight", "encoder.layer.%.output.dense.weight", NULL, {H, F}, L},
    {"layer.%.output.bias", "encoder.layer.%.output.dense.bias", NULL, {H, NULL}, L},
    {"layer.%.output.norm.weight", "encoder.layer.%.output.LayerNorm.weight", NULL, {H, NULL}, L},
    {"layer.%.output.norm.bias", "encoder.layer.%.output.LayerNorm.bias", NULL, {H, NULL}, L},
};

static const struct tn_unused_rule unused[] = {
    {"embeddings.position_ids", "a buffer that counts 0, 1, 2 ...", false},
    {"pooler.dense.weight", "the pooler reads the encoder's output; no head of this family reads the pooler", false},
    {"pooler.dense.bias", "the pooler reads the encoder's output; no head of this family reads the pooler", false},
    {"lm_head.*", "masked-language head on top of the encoder", true},
};

static const char *const prefixes[] = {"", "mpnet.", NULL};

static uint32_t build(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b)
{
    struct tn_encoder_shape shape = {
        .layers = tn_component_value(c, "num_hidden_layers")->u,
        .heads = tn_component_value(c, "num_attention_heads")->u,
        .hidden_size = tn_component_value(c, H)->u,
        .eps = tn_component_value(c, "layer_norm_eps")->f,
        .relative_bias = tn_bound_weight(g, b, "relative_bias", 0),
        .bias_buckets = tn_component_value(c, "relative_attention_num_buckets")->u,
        .bias_max_distance = 128, /* a constant of the published code */
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
    g->position_rule = TN_POSITION_FROM_PAD;
    g->pad_id = tn_component_value(c, "pad_token_id")->u;
    return tn_encoder_blocks(g, b, &shape, tn_graph_embed(g, "embeddings", &embed));
}

const struct tn_family tn_family_mpnet = {
    .name = "mpnet",
    .version = "1",
    .schema = &tn_schema_mpnet,
    .layer_count = "num_hidden_layers",
    .prefixes = prefixes,
    .tensors = tensors,
    .tensor_count = sizeof(tensors) / sizeof(tensors[0]),
    .tied = {"embeddings.word", "lm_head.decoder.weight"},
    .unused = unused,
    .unused_count = sizeof(unused) / sizeof(unused[0]),
    .build = build,
    .heads = tn_out_proj_heads,
    .head_count = TN_OUT_PROJ_HEADS,
};
