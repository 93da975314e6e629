/* The graph as a document and as part of a fingerprint. Both walk the operators in order; only the second is an identity. */
#include "graph/graph.h"

#include "base/json_write.h"

static const char *dim_name(enum tn_dim dim)
{
    return dim == TN_DIM_ROWS ? "T" : dim == TN_DIM_PICKS ? "P" : "S";
}

static void write_weight(struct tn_json_writer *w, const struct tn_graph *g, const char *key, uint32_t index)
{
    if (index < g->weight_count) tn_jw_member_str(w, key, g->weights[index].role);
}

static void write_rotary(struct tn_json_writer *w, const struct tn_op_rotary *rotary)
{
    const struct tn_rope *rope = &rotary->rope;
    tn_jw_member_u64(w, "heads", rotary->heads);
    tn_jw_member_u64(w, "head_dim", rotary->head_dim);
    tn_jw_member_cstr(w, "rope", tn_rope_kind_name(rope->kind));
    tn_jw_member_f64(w, "theta", rope->theta);
    if (rope->kind != TN_ROPE_DEFAULT) tn_jw_member_f64(w, "factor", rope->factor);
    if (rope->kind != TN_ROPE_LLAMA3) return;
    tn_jw_member_f64(w, "low_freq_factor", rope->low_freq_factor);
    tn_jw_member_f64(w, "high_freq_factor", rope->high_freq_factor);
    tn_jw_member_f64(w, "original_positions", rope->original_positions);
}

static void write_relative(struct tn_json_writer *w, const struct tn_relative_terms *terms)
{
    if (!terms->of_queries && !terms->of_keys) return;
    if (terms->of_queries) tn_jw_member_u64(w, "position_key", terms->position_key);
    if (terms->of_keys) tn_jw_member_u64(w, "position_query", terms->position_query);
    tn_jw_member_u64(w, "span", terms->span);
    tn_jw_member_u64(w, "buckets", terms->buckets);
    tn_jw_member_u64(w, "max_distance", terms->max_distance);
}

static void write_attributes(struct tn_json_writer *w, const struct tn_graph *g, const struct tn_op *op)
{
    switch (op->kind) {
    case TN_OP_EMBED:
        tn_jw_key(w, "tables");
        tn_jw_begin_array(w);
        for (uint32_t i = 0; i < op->as.embed.tables; i++) tn_jw_str(w, g->weights[op->as.embed.table[i]].role);
        tn_jw_end_array(w);
        tn_jw_member_f64(w, "eps", op->as.embed.eps);
        break;
    case TN_OP_LINEAR_POOL:
        tn_jw_member_cstr(w, "strategy", op->as.linear_pool.sum ? "sum" : "max");
        tn_jw_member_bool(w, "log_twice", op->as.linear_pool.twice);
        /* fallthrough */
    case TN_OP_LINEAR:
        tn_jw_key(w, "weights");
        tn_jw_begin_array(w);
        for (uint32_t i = 0; i < op->as.linear.parts; i++) tn_jw_str(w, g->weights[op->as.linear.weight[i]].role);
        tn_jw_end_array(w);
        tn_jw_member_cstr(w, "activation", tn_act_name(op->as.linear.act));
        break;
    case TN_OP_ATTENTION:
        tn_jw_member_u64(w, "heads", op->as.attention.heads);
        tn_jw_member_u64(w, "head_dim", op->as.attention.head_dim);
        tn_jw_member_f64(w, "scale", op->as.attention.scale);
        write_weight(w, g, "relative_bias", op->as.attention.bias);
        if (op->as.attention.window) tn_jw_member_u64(w, "window", op->as.attention.window);
        if (op->as.attention.keys_of_span) tn_jw_member_bool(w, "keys_of_span", true);
        write_relative(w, &op->as.attention.relative);
        break;
    case TN_OP_TABLE:
        write_weight(w, g, "weight", op->as.table.weight);
        break;
    case TN_OP_ROTARY:
        write_rotary(w, &op->as.rotary);
        break;
    case TN_OP_GATE:
        tn_jw_member_cstr(w, "activation", tn_act_name(op->as.gate.act));
        break;
    case TN_OP_LAYER_NORM:
        write_weight(w, g, "weight", op->as.layer_norm.gamma);
        tn_jw_member_f64(w, "eps", op->as.layer_norm.eps);
        break;
    case TN_OP_POOL:
        tn_jw_key(w, "modes");
        tn_jw_begin_array(w);
        for (uint32_t i = 0; i < op->as.pool.modes; i++) tn_jw_cstr(w, tn_pooling_name(op->as.pool.mode[i]));
        tn_jw_end_array(w);
        break;
    case TN_OP_PICK:
    case TN_OP_NORMALIZE:
    case TN_OP_KINDS:
        break;
    }
}

void tn_graph_write(struct tn_json_writer *w, const struct tn_graph *g, const struct tn_memory_plan *plan)
{
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < g->op_count; i++) {
        const struct tn_op *op = &g->ops[i];
        const struct tn_graph_value *out = &g->values[op->out];
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "op", tn_op_kind_name(op->kind));
        tn_jw_member_str(w, "name", op->name);
        if (op->layer >= 0) tn_jw_member_u64(w, "layer", (uint64_t)op->layer);
        tn_jw_key(w, "in");
        tn_jw_begin_array(w);
        for (unsigned k = 0; k < 2; k++) {
            if (op->in[k] < g->value_count) tn_jw_u64(w, op->in[k]);
        }
        tn_jw_end_array(w);
        tn_jw_member_u64(w, "out", op->out);
        tn_jw_key(w, "shape");
        tn_jw_begin_array(w);
        if (out->dim == TN_DIM_FIXED) tn_jw_u64(w, out->rows);
        else tn_jw_cstr(w, dim_name(out->dim));
        tn_jw_u64(w, out->width);
        tn_jw_end_array(w);
        if (plan && plan->slot_of[op->out] != TN_NO_VALUE) tn_jw_member_u64(w, "slot", plan->slot_of[op->out]);
        write_attributes(w, g, op);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void hash_f64(struct tn_sha256 *h, double v)
{
    char text[32];
    size_t n = tn_format_f64(text, v);
    tn_sha256_update_str(h, (struct tn_str){text, n});
}

static void hash_weight(struct tn_sha256 *h, const struct tn_graph *g, uint32_t index)
{
    tn_sha256_update_str(h, index < g->weight_count ? g->weights[index].role : TN_STR("-"));
}

static void hash_rope(struct tn_sha256 *h, const struct tn_rope *rope)
{
    tn_sha256_update_str(h, tn_str_of(tn_rope_kind_name(rope->kind)));
    hash_f64(h, rope->theta);
    hash_f64(h, rope->factor);
    hash_f64(h, rope->low_freq_factor);
    hash_f64(h, rope->high_freq_factor);
    hash_f64(h, rope->original_positions);
}

static void hash_relative(struct tn_sha256 *h, const struct tn_relative_terms *terms)
{
    tn_sha256_update_u64(h, terms->of_queries ? terms->position_key : TN_NO_VALUE);
    tn_sha256_update_u64(h, terms->of_keys ? terms->position_query : TN_NO_VALUE);
    tn_sha256_update_u64(h, terms->span);
    tn_sha256_update_u64(h, terms->buckets);
    tn_sha256_update_u64(h, terms->max_distance);
}

static void hash_attributes(struct tn_sha256 *h, const struct tn_graph *g, const struct tn_op *op)
{
    switch (op->kind) {
    case TN_OP_EMBED:
        for (uint32_t i = 0; i < op->as.embed.tables; i++) {
            hash_weight(h, g, op->as.embed.table[i]);
            tn_sha256_update_u64(h, op->as.embed.index[i]);
        }
        hash_weight(h, g, op->as.embed.gamma);
        hash_weight(h, g, op->as.embed.beta);
        hash_f64(h, op->as.embed.eps);
        break;
    case TN_OP_LINEAR_POOL:
        tn_sha256_update_u64(h, op->as.linear_pool.sum);
        tn_sha256_update_u64(h, op->as.linear_pool.twice);
        /* fallthrough */
    case TN_OP_LINEAR:
        for (uint32_t i = 0; i < op->as.linear.parts; i++) {
            hash_weight(h, g, op->as.linear.weight[i]);
            hash_weight(h, g, op->as.linear.bias[i]);
        }
        tn_sha256_update_str(h, tn_str_of(tn_act_name(op->as.linear.act)));
        break;
    case TN_OP_ATTENTION:
        tn_sha256_update_u64(h, op->as.attention.heads);
        tn_sha256_update_u64(h, op->as.attention.head_dim);
        hash_f64(h, op->as.attention.scale);
        hash_weight(h, g, op->as.attention.bias);
        tn_sha256_update_u64(h, op->as.attention.bias_buckets);
        tn_sha256_update_u64(h, op->as.attention.bias_max_distance);
        tn_sha256_update_u64(h, op->as.attention.window);
        if (op->as.attention.keys_of_span) tn_sha256_update_str(h, TN_STR("keys of span"));
        hash_relative(h, &op->as.attention.relative);
        break;
    case TN_OP_TABLE:
        hash_weight(h, g, op->as.table.weight);
        break;
    case TN_OP_ROTARY:
        tn_sha256_update_u64(h, op->as.rotary.heads);
        tn_sha256_update_u64(h, op->as.rotary.head_dim);
        hash_rope(h, &op->as.rotary.rope);
        break;
    case TN_OP_GATE:
        tn_sha256_update_str(h, tn_str_of(tn_act_name(op->as.gate.act)));
        break;
    case TN_OP_LAYER_NORM:
        hash_weight(h, g, op->as.layer_norm.gamma);
        hash_weight(h, g, op->as.layer_norm.beta);
        hash_f64(h, op->as.layer_norm.eps);
        break;
    case TN_OP_POOL:
        for (uint32_t i = 0; i < op->as.pool.modes; i++) tn_sha256_update_u64(h, op->as.pool.mode[i]);
        break;
    case TN_OP_PICK:
    case TN_OP_NORMALIZE:
    case TN_OP_KINDS:
        break;
    }
}

void tn_graph_fingerprint(const struct tn_graph *g, struct tn_sha256 *h)
{
    tn_sha256_update_str(h, TN_STR("graph/1"));
    for (uint32_t i = 0; i < g->op_count; i++) {
        const struct tn_op *op = &g->ops[i];
        tn_sha256_update_str(h, tn_str_of(tn_op_kind_name(op->kind)));
        tn_sha256_update_u64(h, op->in[0]);
        tn_sha256_update_u64(h, op->in[1]);
        tn_sha256_update_u64(h, op->out);
        tn_sha256_update_u64(h, g->values[op->out].width);
        hash_attributes(h, g, op);
    }
    tn_sha256_update_u64(h, g->position_rule);
    tn_sha256_update_u64(h, g->pad_id);
    tn_sha256_update_u64(h, g->output);
}
