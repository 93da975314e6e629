/*
 * DeBERTa v2 and v3 (He et al. 2020, arXiv 2006.03654; He et al. 2021, arXiv 2111.09543): BERT's layers whose scores are
 * sums of up to three products. Besides queries with keys: queries with the embedding of the distance to the key (c2p)
 * and keys with the embedding of the distance to the query (p2c), each embedding projected by the layer. The projections
 * depend on weights alone and are computed at load. Absolute positions and token types are there only where the
 * configuration says so.
 */
#include "family/deberta_v2.h"

#include "family/encoder_block.h"
#include "family/families.h"
#include "family/head_block.h"
#include "family/schemas.h"

#include <string.h>

#define E "embedding_size"
#define H "hidden_size"
#define F "intermediate_size"
#define DISTANCES "2 position_buckets or max_relative_positions"
#define POOLER "pooler_hidden_size"
#define L TN_TENSOR_PER_LAYER
#define WHEN TN_TENSOR_WHEN

enum { POSITIONS, TYPES, PROJECTION, RELATIVE, RELATIVE_NORM, POSITION_KEY, POSITION_QUERY, LEGACY, NOT_LEGACY };

static bool flag(const struct tn_component *c, const char *name)
{
    return tn_component_value(c, name)->b;
}

static bool positions(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return flag(c, "position_biased_input");
}

static bool types(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return tn_component_value(c, "type_vocab_size")->u > 0;
}

static bool projection(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return tn_deberta_v2_embedding_size(c) != tn_component_value(c, H)->u;
}

static bool relative(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return flag(c, "relative_attention");
}

/* The published class makes this norm whether relative_attention is on or not. */
static bool relative_norm(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return tn_str_is(tn_component_value(c, "norm_rel_ebd")->s, "layer_norm");
}

static bool position_key(const struct tn_component *c, uint64_t layer)
{
    return relative(c, layer) && !flag(c, "share_att_key") && tn_deberta_v2_has_term(c, "c2p");
}

static bool position_query(const struct tn_component *c, uint64_t layer)
{
    return relative(c, layer) && !flag(c, "share_att_key") && tn_deberta_v2_has_term(c, "p2c");
}

static bool legacy(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return flag(c, "legacy");
}

static bool not_legacy(const struct tn_component *c, uint64_t layer)
{
    return !legacy(c, layer);
}

static const struct tn_tensor_condition conditions[] = {
    [POSITIONS] = {"position_biased_input", positions},
    [TYPES] = {"type_vocab_size above 0", types},
    [PROJECTION] = {"embedding_size other than hidden_size", projection},
    [RELATIVE] = {"relative_attention", relative},
    [RELATIVE_NORM] = {"norm_rel_ebd layer_norm", relative_norm},
    [POSITION_KEY] = {"relative_attention with c2p and without share_att_key", position_key},
    [POSITION_QUERY] = {"relative_attention with p2c and without share_att_key", position_query},
    [LEGACY] = {"legacy", legacy},
    [NOT_LEGACY] = {"legacy false", not_legacy},
};

static const struct tn_tensor_rule tensors[] = {
    {"embeddings.word", "embeddings.word_embeddings.weight", NULL, {"vocab_size", E}, 0},
    {"embeddings.position", "embeddings.position_embeddings.weight", NULL, {"max_position_embeddings", E}, WHEN(POSITIONS)},
    {"embeddings.type", "embeddings.token_type_embeddings.weight", NULL, {"type_vocab_size", E}, WHEN(TYPES)},
    {"embeddings.projection.weight", "embeddings.embed_proj.weight", NULL, {H, E}, WHEN(PROJECTION)},
    {"embeddings.norm.weight", "embeddings.LayerNorm.weight", NULL, {H, NULL}, 0},
    {"embeddings.norm.bias", "embeddings.LayerNorm.bias", NULL, {H, NULL}, 0},
    {"relative.embeddings", "encoder.rel_embeddings.weight", NULL, {DISTANCES, H}, WHEN(RELATIVE)},
    {"relative.norm.weight", "encoder.LayerNorm.weight", NULL, {H, NULL}, WHEN(RELATIVE_NORM)},
    {"relative.norm.bias", "encoder.LayerNorm.bias", NULL, {H, NULL}, WHEN(RELATIVE_NORM)},
    {"layer.%.attention.query.weight", "encoder.layer.%.attention.self.query_proj.weight", NULL, {H, H}, L},
    {"layer.%.attention.query.bias", "encoder.layer.%.attention.self.query_proj.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.key.weight", "encoder.layer.%.attention.self.key_proj.weight", NULL, {H, H}, L},
    {"layer.%.attention.key.bias", "encoder.layer.%.attention.self.key_proj.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.value.weight", "encoder.layer.%.attention.self.value_proj.weight", NULL, {H, H}, L},
    {"layer.%.attention.value.bias", "encoder.layer.%.attention.self.value_proj.bias", NULL, {H, NULL}, L},
    {"layer.%.attention.position_key.weight", "encoder.layer.%.attention.self.pos_key_proj.weight", NULL, {H, H},
     L | WHEN(POSITION_KEY)},
    {"layer.%.attention.position_key.bias", "encoder.layer.%.attention.self.pos_key_proj.bias", NULL, {H, NULL},
     L | WHEN(POSITION_KEY)},
    {"layer.%.attention.position_query.weight", "encoder.layer.%.attention.self.pos_query_proj.weight", NULL, {H, H},
     L | WHEN(POSITION_QUERY)},
    {"layer.%.attention.position_query.bias", "encoder.layer.%.attention.self.pos_query_proj.bias", NULL, {H, NULL},
     L | WHEN(POSITION_QUERY)},
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
    /* The published class drops it, too: without position_biased_input no forward pass reads it. */
    {"embeddings.position_embeddings.weight", "a table of training that is read only with position_biased_input", false},
    {"cls.*", "pre-training head on top of the encoder", true},
    {"lm_predictions.*", "pre-training head on top of the encoder", true},
    {"mask_predictions.*", "pre-training head of the discriminator on top of the encoder", true},
};

static const char *const prefixes[] = {"", "deberta.", NULL};

/* Rows of the relative embeddings for one direction. */
static uint64_t span_of(const struct tn_component *c)
{
    uint64_t buckets = tn_deberta_v2_buckets(c);
    return buckets ? buckets : tn_deberta_v2_max_distance(c);
}

static uint64_t size(const struct tn_component *c, const char *name)
{
    if (strcmp(name, E) == 0) return tn_deberta_v2_embedding_size(c);
    if (strcmp(name, POOLER) == 0) return tn_component_value(c, H)->u;
    return strcmp(name, DISTANCES) == 0 ? 2 * span_of(c) : 0;
}

/* ---- the graph --------------------------------------------------------------------------------------------------------- */

/* Sum of the tables, widened where their columns are fewer or more than the layers have, then the norm. */
static uint32_t embed(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, double eps)
{
    struct tn_op_embed op = {.gamma = TN_NO_WEIGHT, .beta = TN_NO_WEIGHT, .eps = eps};
    struct tn_op_layer_norm norm = {tn_bound_weight(g, b, "embeddings.norm.weight", 0),
                                    tn_bound_weight(g, b, "embeddings.norm.bias", 0), eps};
    op.table[op.tables] = tn_bound_weight(g, b, "embeddings.word", 0);
    op.index[op.tables++] = TN_INDEX_TOKEN;
    if (positions(c, 0)) {
        op.table[op.tables] = tn_bound_weight(g, b, "embeddings.position", 0);
        op.index[op.tables++] = TN_INDEX_POSITION;
    }
    if (types(c, 0)) {
        op.table[op.tables] = tn_bound_weight(g, b, "embeddings.type", 0);
        op.index[op.tables++] = TN_INDEX_TYPE;
    }
    if (!projection(c, 0)) {
        op.gamma = norm.gamma;
        op.beta = norm.beta;
        return tn_graph_embed(g, "embeddings", &op);
    }
    struct tn_op_linear widen = {.weight = {tn_bound_weight(g, b, "embeddings.projection.weight", 0)},
                                 .bias = {TN_NO_WEIGHT}, .parts = 1, .act = TN_ACT_IDENTITY};
    uint32_t x = tn_graph_linear(g, "embedding projection", tn_graph_embed(g, "token embeddings", &op), TN_NO_VALUE, &widen);
    return tn_graph_layer_norm(g, "embeddings", x, TN_NO_VALUE, &norm);
}

static uint32_t distances(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, double eps)
{
    struct tn_op_layer_norm norm = {tn_bound_weight(g, b, "relative.norm.weight", 0),
                                    tn_bound_weight(g, b, "relative.norm.bias", 0), eps};
    uint32_t x = tn_graph_table(g, "relative embeddings", tn_bound_weight(g, b, "relative.embeddings", 0));
    return relative_norm(c, 0) ? tn_graph_layer_norm(g, "relative embedding norm", x, TN_NO_VALUE, &norm) : x;
}

static uint32_t build(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b)
{
    bool of_queries = tn_deberta_v2_has_term(c, "c2p"), of_keys = tn_deberta_v2_has_term(c, "p2c");
    struct tn_encoder_relative terms = {
        .of_queries = of_queries,
        .of_keys = of_keys,
        .shared = flag(c, "share_att_key"),
        .span = span_of(c),
        .buckets = tn_deberta_v2_buckets(c),
        .max_distance = tn_deberta_v2_max_distance(c),
    };
    struct tn_encoder_shape shape = {
        .layers = tn_component_value(c, "num_hidden_layers")->u,
        .heads = tn_component_value(c, "num_attention_heads")->u,
        .hidden_size = tn_component_value(c, H)->u,
        .eps = tn_component_value(c, "layer_norm_eps")->f,
        .relative_bias = TN_NO_WEIGHT,
        .relative = relative(c, 0) && (of_queries || of_keys) ? &terms : NULL,
        .score_parts = 1 + (uint64_t)of_queries + (uint64_t)of_keys,
    };
    if (!tn_activation_of(tn_component_value(c, "hidden_act")->s, &shape.act)) return TN_NO_VALUE;
    if (shape.relative) terms.positions = distances(g, c, b, shape.eps);
    g->position_rule = TN_POSITION_ARANGE;
    return tn_encoder_blocks(g, b, &shape, embed(g, c, b, shape.eps));
}

/* ---- heads ------------------------------------------------------------------------------------------------------------- */

/*
 * ContextPooler, then the classifier. The published code feeds rows of hidden_size to a matrix that is square in
 * pooler_hidden_size: where the two differ it cannot run, and neither shape of the matrix fits here.
 */
static const struct tn_tensor_rule text_head[] = {
    {"head.dense.weight", "pooler.dense.weight", NULL, {POOLER, H}, TN_TENSOR_BARE},
    {"head.dense.bias", "pooler.dense.bias", NULL, {POOLER, NULL}, TN_TENSOR_BARE},
    TN_HEAD_CLASSIFIER("classifier", H),
};
static const struct tn_tensor_rule token_head[] = {TN_HEAD_CLASSIFIER("classifier", H)};

/*
 * Two heads over the vocabulary, of which `legacy` is the first: it has a decoder of its own, which may be tied and whose
 * rows are as wide as the embeddings; the other multiplies with the embedding table, tied or not.
 */
#define PLAIN "lm_predictions.lm_head."
static const struct tn_tensor_rule vocabulary_head[] = {
    {"head.dense.weight", "cls.predictions.transform.dense.weight", NULL, {E, H}, TN_TENSOR_BARE | WHEN(LEGACY)},
    {"head.dense.bias", "cls.predictions.transform.dense.bias", NULL, {E, NULL}, TN_TENSOR_BARE | WHEN(LEGACY)},
    {"head.norm.weight", "cls.predictions.transform.LayerNorm.weight", NULL, {E, NULL}, TN_TENSOR_BARE | WHEN(LEGACY)},
    {"head.norm.bias", "cls.predictions.transform.LayerNorm.bias", NULL, {E, NULL}, TN_TENSOR_BARE | WHEN(LEGACY)},
    {"head.decoder.weight", "cls.predictions.decoder.weight", NULL, {"vocab_size", E},
     TN_TENSOR_BARE | TN_TENSOR_TIED | WHEN(LEGACY)},
    {"head.decoder.bias", "cls.predictions.decoder.bias", "cls.predictions.bias", {"vocab_size", NULL},
     TN_TENSOR_BARE | TN_TENSOR_TIED | WHEN(LEGACY)},
    {"head.dense.weight", PLAIN "dense.weight", NULL, {H, H}, TN_TENSOR_BARE | WHEN(NOT_LEGACY)},
    {"head.dense.bias", PLAIN "dense.bias", NULL, {H, NULL}, TN_TENSOR_BARE | WHEN(NOT_LEGACY)},
    {"head.norm.weight", PLAIN "LayerNorm.weight", NULL, {H, NULL}, TN_TENSOR_BARE | WHEN(NOT_LEGACY)},
    {"head.norm.bias", PLAIN "LayerNorm.bias", NULL, {H, NULL}, TN_TENSOR_BARE | WHEN(NOT_LEGACY)},
    {"head.decoder.weight", "embeddings.word_embeddings.weight", NULL, {"vocab_size", H}, WHEN(NOT_LEGACY)},
    {"head.decoder.bias", PLAIN "bias", NULL, {"vocab_size", NULL}, TN_TENSOR_BARE | WHEN(NOT_LEGACY)},
};

static uint32_t build_text_head(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    enum tn_act act;
    if (!tn_activation_of(tn_component_value(c, "pooler_hidden_act")->s, &act)) return TN_NO_VALUE;
    return tn_head_of_text(g, b, x, act);
}

static uint32_t build_vocabulary_head(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    enum tn_act act;
    if (!tn_activation_of(tn_component_value(c, "hidden_act")->s, &act)) return TN_NO_VALUE;
    return tn_head_of_vocabulary(g, b, x, act, tn_component_value(c, "layer_norm_eps")->f);
}

static const struct tn_family_head heads[] = {
    {.kind = TN_HEAD_SEQUENCE_CLASSIFICATION, .tensors = text_head, .tensor_count = sizeof(text_head) / sizeof(text_head[0]),
     .build = build_text_head},
    {.kind = TN_HEAD_TOKEN_CLASSIFICATION, .tensors = token_head, .tensor_count = sizeof(token_head) / sizeof(token_head[0]),
     .build = tn_head_of_tokens},
    {.kind = TN_HEAD_MASKED_LM, .tensors = vocabulary_head,
     .tensor_count = sizeof(vocabulary_head) / sizeof(vocabulary_head[0]), .own = {"cls.predictions.*", "lm_predictions.*"}, .build = build_vocabulary_head},
    TN_HEAD_OF_SPANS,
};

const struct tn_family tn_family_deberta_v2 = {
    .name = "deberta-v2",
    .version = "1",
    .schema = &tn_schema_deberta_v2,
    .layer_count = "num_hidden_layers",
    .prefixes = prefixes,
    .tensors = tensors,
    .tensor_count = sizeof(tensors) / sizeof(tensors[0]),
    .tied = {"embeddings.word", "cls.predictions.decoder.weight"},
    .unused = unused,
    .unused_count = sizeof(unused) / sizeof(unused[0]),
    .conditions = conditions,
    .size = size,
    .build = build,
    .heads = heads,
    .head_count = sizeof(heads) / sizeof(heads[0]),
};
