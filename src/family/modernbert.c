/*
 * ModernBERT (Warner et al. 2024, arXiv 2412.13663): norms in front of each block and one behind all layers, rotary
 * positions, gated feed-forward layers, and layers that see a window of neighbours between layers that see all. Biases
 * are there where the configuration says so. The first layer has no norm in front of its attention: the embeddings'
 * own norm stands there.
 *
 *     h = x + W_o attention(rotary(W_qkv norm(x)))
 *     y = h + W_o (act(u) * v),  [u v] = W_i norm(h)
 *
 * The stored Wqkv holds queries, keys and values one below the other, which is how the operators take them: it is bound
 * as one tensor.
 */
#include "family/modernbert.h"

#include "family/families.h"
#include "family/head_block.h"
#include "family/schemas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define H "hidden_size"
#define F "intermediate_size"
#define QKV "3 hidden_size"
#define UV "2 intermediate_size"
#define L TN_TENSOR_PER_LAYER
#define WHEN TN_TENSOR_WHEN

enum { NORM_BIAS, ATTENTION_BIAS, MLP_BIAS, LATER_LAYER, LATER_NORM_BIAS, CLASSIFIER_BIAS, DECODER_BIAS };

static bool norm_bias(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return tn_component_value(c, "norm_bias")->b;
}

static bool attention_bias(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return tn_component_value(c, "attention_bias")->b;
}

static bool mlp_bias(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return tn_component_value(c, "mlp_bias")->b;
}

static bool later_layer(const struct tn_component *c, uint64_t layer)
{
    (void)c;
    return layer > 0;
}

static bool later_norm_bias(const struct tn_component *c, uint64_t layer)
{
    return layer > 0 && norm_bias(c, layer);
}

static bool classifier_bias(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return tn_component_value(c, "classifier_bias")->b;
}

static bool decoder_bias(const struct tn_component *c, uint64_t layer)
{
    (void)layer;
    return tn_component_value(c, "decoder_bias")->b;
}

static const struct tn_tensor_condition conditions[] = {
    [NORM_BIAS] = {"norm_bias", norm_bias},
    [ATTENTION_BIAS] = {"attention_bias", attention_bias},
    [MLP_BIAS] = {"mlp_bias", mlp_bias},
    [LATER_LAYER] = {"layers after the first", later_layer},
    [LATER_NORM_BIAS] = {"norm_bias, in layers after the first", later_norm_bias},
    [CLASSIFIER_BIAS] = {"classifier_bias", classifier_bias},
    [DECODER_BIAS] = {"decoder_bias", decoder_bias},
};

static const struct tn_tensor_rule tensors[] = {
    {"embeddings.word", "embeddings.tok_embeddings.weight", NULL, {"vocab_size", H}, 0},
    {"embeddings.norm.weight", "embeddings.norm.weight", NULL, {H, NULL}, 0},
    {"embeddings.norm.bias", "embeddings.norm.bias", NULL, {H, NULL}, WHEN(NORM_BIAS)},
    {"layer.%.attention.norm.weight", "layers.%.attn_norm.weight", NULL, {H, NULL}, L | WHEN(LATER_LAYER)},
    {"layer.%.attention.norm.bias", "layers.%.attn_norm.bias", NULL, {H, NULL}, L | WHEN(LATER_NORM_BIAS)},
    {"layer.%.attention.qkv.weight", "layers.%.attn.Wqkv.weight", NULL, {QKV, H}, L},
    {"layer.%.attention.qkv.bias", "layers.%.attn.Wqkv.bias", NULL, {QKV, NULL}, L | WHEN(ATTENTION_BIAS)},
    {"layer.%.attention.output.weight", "layers.%.attn.Wo.weight", NULL, {H, H}, L},
    {"layer.%.attention.output.bias", "layers.%.attn.Wo.bias", NULL, {H, NULL}, L | WHEN(ATTENTION_BIAS)},
    {"layer.%.feed_forward.norm.weight", "layers.%.mlp_norm.weight", NULL, {H, NULL}, L},
    {"layer.%.feed_forward.norm.bias", "layers.%.mlp_norm.bias", NULL, {H, NULL}, L | WHEN(NORM_BIAS)},
    {"layer.%.intermediate.weight", "layers.%.mlp.Wi.weight", NULL, {UV, H}, L},
    {"layer.%.intermediate.bias", "layers.%.mlp.Wi.bias", NULL, {UV, NULL}, L | WHEN(MLP_BIAS)},
    {"layer.%.output.weight", "layers.%.mlp.Wo.weight", NULL, {H, F}, L},
    {"layer.%.output.bias", "layers.%.mlp.Wo.bias", NULL, {H, NULL}, L | WHEN(MLP_BIAS)},
    {"final_norm.weight", "final_norm.weight", NULL, {H, NULL}, 0},
    {"final_norm.bias", "final_norm.bias", NULL, {H, NULL}, WHEN(NORM_BIAS)},
};

static const struct tn_unused_rule unused[] = {
    {"head.*", "masked-language head on top of the encoder", true},
    {"decoder.*", "masked-language head on top of the encoder", true},
};

static const char *const prefixes[] = {"", "model.", NULL};

static uint64_t size(const struct tn_component *c, const char *name)
{
    if (strcmp(name, QKV) == 0) return 3 * tn_component_value(c, H)->u;
    return strcmp(name, UV) == 0 ? 2 * tn_component_value(c, F)->u : 0;
}

/* ---- the graph --------------------------------------------------------------------------------------------------------- */

struct shape {
    const struct tn_component *c;
    const struct tn_binding *b;
    uint64_t heads, head_dim;
    enum tn_act act;
    double eps;
};

static uint32_t layer_norm(struct tn_graph *g, const struct shape *s, const char *weight, const char *bias, uint64_t layer,
                           const char *name, uint32_t x)
{
    struct tn_op_layer_norm norm = {tn_bound_weight(g, s->b, weight, layer),
                                    tn_bound_weight(g, s->b, bias, layer), s->eps};
    return tn_graph_layer_norm(g, name, x, TN_NO_VALUE, &norm);
}

static uint32_t linear(struct tn_graph *g, const struct shape *s, const char *weight, const char *bias, uint64_t layer,
                       const char *name, uint32_t x, uint32_t residual)
{
    struct tn_op_linear op = {.weight = {tn_bound_weight(g, s->b, weight, layer)},
                              .bias = {tn_bound_weight(g, s->b, bias, layer)},
                              .parts = 1,
                              .act = TN_ACT_IDENTITY};
    return tn_graph_linear(g, tn_graph_name(g, name, layer), x, residual, &op);
}

static double number(const struct tn_component *c, const char *kind, const char *name, double absent)
{
    char full[64];
    snprintf(full, sizeof(full), "%s.%s", kind, name);
    const struct tn_value *value = tn_component_value(c, full);
    return value->present ? value->f : absent;
}

static struct tn_rope rope_of(const struct tn_component *c, bool full)
{
    const char *kind = full ? TN_MODERNBERT_FULL : TN_MODERNBERT_SLIDING;
    struct tn_str type = tn_component_value(c, full ? TN_MODERNBERT_FULL ".rope_type" : TN_MODERNBERT_SLIDING ".rope_type")->s;
    double trained = (double)tn_component_value(c, "max_position_embeddings")->u;
    return (struct tn_rope){
        .kind = tn_str_is(type, "linear") ? TN_ROPE_LINEAR : tn_str_is(type, "llama3") ? TN_ROPE_LLAMA3 : TN_ROPE_DEFAULT,
        .theta = number(c, kind, "theta", 1),
        .factor = number(c, kind, "factor", 1),
        .low_freq_factor = number(c, kind, "low_freq_factor", 1),
        .high_freq_factor = number(c, kind, "high_freq_factor", 4),
        .original_positions = number(c, kind, "original_positions", trained),
    };
}

static uint32_t attention(struct tn_graph *g, const struct shape *s, uint64_t layer, uint32_t x)
{
    bool full = tn_modernbert_is_full(s->c, layer);
    struct tn_op_rotary rotary = {.heads = 2 * s->heads, .head_dim = s->head_dim, .rope = rope_of(s->c, full)};
    struct tn_op_attention scores = {
        .heads = s->heads,
        .head_dim = s->head_dim,
        .scale = 1.0 / sqrt((double)s->head_dim),
        .bias = TN_NO_WEIGHT,
        /* local_attention is both sides together; a neighbour at half of it is still seen */
        .window = full ? 0 : tn_component_value(s->c, "local_attention")->u / 2 + 1,
    };
    uint32_t v = x;
    if (layer > 0) {
        v = layer_norm(g, s, "layer.%.attention.norm.weight", "layer.%.attention.norm.bias", layer,
                       tn_graph_name(g, "layer %llu attention norm", layer), v);
    }
    v = linear(g, s, "layer.%.attention.qkv.weight", "layer.%.attention.qkv.bias", layer, "layer %llu query, key, value", v,
               TN_NO_VALUE);
    v = tn_graph_rotary(g, tn_graph_name(g, "layer %llu rotary positions", layer), v, &rotary);
    v = tn_graph_attention(g, tn_graph_name(g, "layer %llu attention", layer), v, &scores);
    return linear(g, s, "layer.%.attention.output.weight", "layer.%.attention.output.bias", layer,
                  "layer %llu attention output", v, x);
}

static uint32_t feed_forward(struct tn_graph *g, const struct shape *s, uint64_t layer, uint32_t x)
{
    uint32_t v = layer_norm(g, s, "layer.%.feed_forward.norm.weight", "layer.%.feed_forward.norm.bias", layer,
                            tn_graph_name(g, "layer %llu feed-forward norm", layer), x);
    v = linear(g, s, "layer.%.intermediate.weight", "layer.%.intermediate.bias", layer, "layer %llu intermediate", v,
               TN_NO_VALUE);
    v = tn_graph_gate(g, tn_graph_name(g, "layer %llu gate", layer), v, s->act);
    return linear(g, s, "layer.%.output.weight", "layer.%.output.bias", layer, "layer %llu output sum", v, x);
}

static uint32_t build(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b)
{
    struct shape s = {.c = c, .b = b, .heads = tn_component_value(c, "num_attention_heads")->u,
                      .eps = tn_component_value(c, "norm_eps")->f};
    s.head_dim = tn_component_value(c, H)->u / s.heads;
    struct tn_op_embed embed = {
        .table = {tn_bound_weight(g, b, "embeddings.word", 0)},
        .index = {TN_INDEX_TOKEN},
        .tables = 1,
        .gamma = tn_bound_weight(g, b, "embeddings.norm.weight", 0),
        .beta = tn_bound_weight(g, b, "embeddings.norm.bias", 0),
        .eps = s.eps,
    };
    if (!tn_activation_of(tn_component_value(c, "hidden_activation")->s, &s.act)) return TN_NO_VALUE;
    g->position_rule = TN_POSITION_ARANGE;
    uint32_t x = tn_graph_embed(g, "embeddings", &embed);
    for (uint64_t layer = 0; layer < tn_component_value(c, "num_hidden_layers")->u; layer++) {
        g->layer = (int64_t)layer;
        x = attention(g, &s, layer, x);
        x = feed_forward(g, &s, layer, x);
    }
    g->layer = TN_NO_LAYER;
    return layer_norm(g, &s, "final_norm.weight", "final_norm.bias", 0, "final norm", x);
}

/* ---- heads ------------------------------------------------------------------------------------------------------------- */

/*
 * ModernBertPredictionHead, norm(act(W x + b)), then a classifier of one row per text or of every token's, or a decoder to
 * the vocabulary.
 */
#define PREDICTION_HEAD                                                                                               \
    {"head.dense.weight", "head.dense.weight", NULL, {H, H}, TN_TENSOR_BARE},                                         \
        {"head.dense.bias", "head.dense.bias", NULL, {H, NULL}, TN_TENSOR_BARE | WHEN(CLASSIFIER_BIAS)},              \
        {"head.norm.weight", "head.norm.weight", NULL, {H, NULL}, TN_TENSOR_BARE},                                    \
        {"head.norm.bias", "head.norm.bias", NULL, {H, NULL}, TN_TENSOR_BARE | WHEN(NORM_BIAS)}
static const struct tn_tensor_rule head_tensors[] = {PREDICTION_HEAD, TN_HEAD_CLASSIFIER("classifier", H)};
static const struct tn_tensor_rule vocabulary_head[] = {
    PREDICTION_HEAD,
    {"head.decoder.weight", "decoder.weight", NULL, {"vocab_size", H}, TN_TENSOR_BARE | TN_TENSOR_TIED},
    {"head.decoder.bias", "decoder.bias", NULL, {"vocab_size", NULL}, TN_TENSOR_BARE | WHEN(DECODER_BIAS)},
};

static uint32_t prediction(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    struct shape s = {.c = c, .b = b, .eps = tn_component_value(c, "norm_eps")->f};
    if (!tn_activation_of(tn_component_value(c, "classifier_activation")->s, &s.act)) return TN_NO_VALUE;
    uint32_t v = tn_head_layer(g, b, "head.dense", "head dense", x, s.act);
    return layer_norm(g, &s, "head.norm.weight", "head.norm.bias", 0, "head norm", v);
}

static uint32_t build_vocabulary_head(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    return tn_head_layer(g, b, "head.decoder", "head logits", prediction(g, c, b, x), TN_ACT_IDENTITY);
}

static uint32_t build_token_head(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    return tn_head_layer(g, b, "head.classifier", "head logits", prediction(g, c, b, x), TN_ACT_IDENTITY);
}

static uint32_t build_text_head(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x)
{
    bool mean = tn_str_is(tn_component_value(c, "classifier_pooling")->s, "mean");
    return build_token_head(g, c, b, mean ? tn_head_mean(g, x) : tn_head_first_token(g, x));
}

static const struct tn_family_head heads[] = {
    {.kind = TN_HEAD_SEQUENCE_CLASSIFICATION, .tensors = head_tensors,
     .tensor_count = sizeof(head_tensors) / sizeof(head_tensors[0]), .own = {"head.*"}, .build = build_text_head},
    {.kind = TN_HEAD_TOKEN_CLASSIFICATION, .tensors = head_tensors,
     .tensor_count = sizeof(head_tensors) / sizeof(head_tensors[0]), .own = {"head.*"}, .build = build_token_head},
    {.kind = TN_HEAD_MASKED_LM, .tensors = vocabulary_head,
     .tensor_count = sizeof(vocabulary_head) / sizeof(vocabulary_head[0]), .own = {"head.*", "decoder.*"},
     .build = build_vocabulary_head},
    {.kind = TN_HEAD_QUESTION_ANSWERING, .tensors = head_tensors,
     .tensor_count = sizeof(head_tensors) / sizeof(head_tensors[0]), .own = {"head.*"}, .build = build_token_head},
};

const struct tn_family tn_family_modernbert = {
    .name = "modernbert",
    .version = "1",
    .schema = &tn_schema_modernbert,
    .layer_count = "num_hidden_layers",
    .prefixes = prefixes,
    .tensors = tensors,
    .tensor_count = sizeof(tensors) / sizeof(tensors[0]),
    .tied = {"embeddings.word", "decoder.weight"},
    .unused = unused,
    .unused_count = sizeof(unused) / sizeof(unused[0]),
    .conditions = conditions,
    .size = size,
    .build = build,
    .heads = heads,
    .head_count = sizeof(heads) / sizeof(heads[0]),
};
