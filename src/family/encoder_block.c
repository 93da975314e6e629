/* Emits the shared encoder layers; the roles below are the contract with the families' tensor lists. */
#include "family/encoder_block.h"

#include <math.h>

static uint32_t part(struct tn_graph *g, const struct tn_binding *b, const char *role, uint64_t layer)
{
    return tn_bound_weight(g, b, role, layer);
}

static uint32_t vector(struct tn_graph *g, const struct tn_binding *b, const char *role, uint64_t layer)
{
    return tn_bound_weight(g, b, role, layer);
}

/* One of the layer's projections of the embeddings of distances; a fixed value. */
static uint32_t positions(struct tn_graph *g, const struct tn_binding *b, const struct tn_encoder_relative *r,
                          uint64_t layer, bool key)
{
    const char *weight = key ? "layer.%.attention.position_key.weight" : "layer.%.attention.position_query.weight";
    const char *bias = key ? "layer.%.attention.position_key.bias" : "layer.%.attention.position_query.bias";
    if (r->shared) {
        weight = key ? "layer.%.attention.key.weight" : "layer.%.attention.query.weight";
        bias = key ? "layer.%.attention.key.bias" : "layer.%.attention.query.bias";
    }
    struct tn_op_linear op = {
        .weight = {part(g, b, weight, layer)}, .bias = {part(g, b, bias, layer)}, .parts = 1, .act = TN_ACT_IDENTITY};
    const char *name = key ? "layer %llu position keys" : "layer %llu position queries";
    return tn_graph_linear(g, tn_graph_name(g, name, layer), r->positions, TN_NO_VALUE, &op);
}

static struct tn_relative_terms relative_terms(struct tn_graph *g, const struct tn_binding *b,
                                               const struct tn_encoder_relative *r, uint64_t layer)
{
    struct tn_relative_terms terms = {.of_queries = r->of_queries, .of_keys = r->of_keys, .span = r->span,
                                      .buckets = r->buckets, .max_distance = r->max_distance};
    if (r->of_queries) terms.position_key = positions(g, b, r, layer, true);
    if (r->of_keys) terms.position_query = positions(g, b, r, layer, false);
    return terms;
}

static uint32_t attention(struct tn_graph *g, const struct tn_binding *b, const struct tn_encoder_shape *s, uint64_t layer,
                          uint32_t x)
{
    struct tn_op_linear qkv = {
        .weight = {part(g, b, "layer.%.attention.query.weight", layer), part(g, b, "layer.%.attention.key.weight", layer),
                   part(g, b, "layer.%.attention.value.weight", layer)},
        .bias = {part(g, b, "layer.%.attention.query.bias", layer), part(g, b, "layer.%.attention.key.bias", layer),
                 part(g, b, "layer.%.attention.value.bias", layer)},
        .parts = 3,
        .act = TN_ACT_IDENTITY,
    };
    uint64_t head_dim = s->hidden_size / s->heads;
    struct tn_op_attention scores = {
        .heads = s->heads,
        .head_dim = head_dim,
        .scale = 1.0 / sqrt((double)head_dim * (double)(s->score_parts ? s->score_parts : 1)),
        .bias = s->relative_bias,
        .bias_buckets = s->bias_buckets,
        .bias_max_distance = s->bias_max_distance,
    };
    if (s->relative) scores.relative = relative_terms(g, b, s->relative, layer);
    struct tn_op_linear output = {
        .weight = {part(g, b, "layer.%.attention.output.weight", layer)},
        .bias = {part(g, b, "layer.%.attention.output.bias", layer)},
        .parts = 1,
        .act = TN_ACT_IDENTITY,
    };
    struct tn_op_layer_norm norm = {vector(g, b, "layer.%.attention.norm.weight", layer),
                                    vector(g, b, "layer.%.attention.norm.bias", layer), s->eps};
    uint32_t v = tn_graph_linear(g, tn_graph_name(g, "layer %llu query, key, value", layer), x, TN_NO_VALUE, &qkv);
    v = tn_graph_attention(g, tn_graph_name(g, "layer %llu attention", layer), v, &scores);
    v = tn_graph_linear(g, tn_graph_name(g, "layer %llu attention output", layer), v, x, &output);
    return tn_graph_layer_norm(g, tn_graph_name(g, "layer %llu attention norm", layer), v, TN_NO_VALUE, &norm);
}

static uint32_t feed_forward(struct tn_graph *g, const struct tn_binding *b, const struct tn_encoder_shape *s,
                             uint64_t layer, uint32_t x)
{
    struct tn_op_linear up = {
        .weight = {part(g, b, "layer.%.intermediate.weight", layer)},
        .bias = {part(g, b, "layer.%.intermediate.bias", layer)},
        .parts = 1,
        .act = s->act,
    };
    struct tn_op_linear down = {
        .weight = {part(g, b, "layer.%.output.weight", layer)},
        .bias = {part(g, b, "layer.%.output.bias", layer)},
        .parts = 1,
        .act = TN_ACT_IDENTITY,
    };
    struct tn_op_layer_norm norm = {vector(g, b, "layer.%.output.norm.weight", layer),
                                    vector(g, b, "layer.%.output.norm.bias", layer), s->eps};
    uint32_t v = tn_graph_linear(g, tn_graph_name(g, "layer %llu intermediate", layer), x, TN_NO_VALUE, &up);
    v = tn_graph_linear(g, tn_graph_name(g, "layer %llu output", layer), v, x, &down);
    return tn_graph_layer_norm(g, tn_graph_name(g, "layer %llu output norm", layer), v, TN_NO_VALUE, &norm);
}

uint32_t tn_encoder_blocks(struct tn_graph *g, const struct tn_binding *b, const struct tn_encoder_shape *shape,
                           uint32_t x)
{
    for (uint64_t layer = 0; layer < shape->layers; layer++) {
        g->layer = (int64_t)layer;
        x = attention(g, b, shape, layer, x);
        x = feed_forward(g, b, shape, layer, x);
    }
    g->layer = TN_NO_LAYER;
    return x;
}
