/*
 * Building a graph: arrays that grow in an arena, one function per operator, and a sticky failure. Operands come from
 * families and recipes, tensors from packages: shapes are checked in infer.c, indices here.
 */
#include "graph/graph.h"

#include "base/checked.h"

#include <stdio.h>
#include <string.h>

void tn_graph_init(struct tn_graph *g, struct tn_arena *arena)
{
    *g = (struct tn_graph){.arena = arena, .output = TN_NO_VALUE, .layer = TN_NO_LAYER};
}

static void out_of_memory(struct tn_graph *g)
{
    if (!g->failed) g->failed = TN_INSUFFICIENT_MEMORY;
}

/* Makes room for one more item; items live in the arena, so old arrays are simply left behind. */
static void *grown(struct tn_graph *g, void *items, uint32_t count, uint32_t *cap, size_t item_size)
{
    if (count < *cap) return items;
    uint32_t wider = *cap ? *cap * 2 : 32;
    void *copy = tn_arena_array(g->arena, wider, item_size);
    if (!copy) {
        out_of_memory(g);
        return NULL;
    }
    if (count) memcpy(copy, items, count * item_size);
    *cap = wider;
    return copy;
}

static uint32_t add_value(struct tn_graph *g)
{
    struct tn_graph_value *values = grown(g, g->values, g->value_count, &g->value_cap, sizeof(*values));
    if (!values) return TN_NO_VALUE;
    g->values = values;
    return g->value_count++;
}

uint32_t tn_graph_weight(struct tn_graph *g, struct tn_str role, enum tn_weight_use use,
                         const struct tn_tensor_info *tensor)
{
    for (uint32_t i = 0; i < g->weight_count; i++) {
        if (g->weights[i].tensor == tensor && g->weights[i].use == use) return i;
    }
    struct tn_graph_weight *weights = grown(g, g->weights, g->weight_count, &g->weight_cap, sizeof(*weights));
    if (!weights) return TN_NO_WEIGHT;
    g->weights = weights;
    weights[g->weight_count] = (struct tn_graph_weight){tn_arena_str(g->arena, role), use, tensor};
    if (!weights[g->weight_count].role.s) {
        out_of_memory(g);
        return TN_NO_WEIGHT;
    }
    return g->weight_count++;
}

/* Appends an operator of the given kind with a fresh output value; NULL after any failure. */
static struct tn_op *add_op(struct tn_graph *g, enum tn_op_kind kind, const char *name, uint32_t x, uint32_t residual)
{
    if (g->failed) return NULL;
    struct tn_op *ops = grown(g, g->ops, g->op_count, &g->op_cap, sizeof(*ops));
    if (!ops) return NULL;
    g->ops = ops;
    uint32_t out = add_value(g);
    struct tn_str own_name = tn_arena_str(g->arena, tn_str_of(name));
    if (out == TN_NO_VALUE || !own_name.s) {
        out_of_memory(g);
        return NULL;
    }
    ops[g->op_count] =
        (struct tn_op){.kind = kind, .name = own_name, .layer = g->layer, .in = {x, residual}, .out = out};
    return &ops[g->op_count++];
}

uint32_t tn_graph_embed(struct tn_graph *g, const char *name, const struct tn_op_embed *embed)
{
    struct tn_op *op = add_op(g, TN_OP_EMBED, name, TN_NO_VALUE, TN_NO_VALUE);
    if (!op) return TN_NO_VALUE;
    op->as.embed = *embed;
    return op->out;
}

uint32_t tn_graph_table(struct tn_graph *g, const char *name, uint32_t weight)
{
    struct tn_op *op = add_op(g, TN_OP_TABLE, name, TN_NO_VALUE, TN_NO_VALUE);
    if (!op) return TN_NO_VALUE;
    op->as.table.weight = weight;
    return op->out;
}

uint32_t tn_graph_linear(struct tn_graph *g, const char *name, uint32_t x, uint32_t residual,
                         const struct tn_op_linear *linear)
{
    struct tn_op *op = add_op(g, TN_OP_LINEAR, name, x, residual);
    if (!op) return TN_NO_VALUE;
    op->as.linear = *linear;
    return op->out;
}

uint32_t tn_graph_attention(struct tn_graph *g, const char *name, uint32_t qkv, const struct tn_op_attention *attention)
{
    struct tn_op *op = add_op(g, TN_OP_ATTENTION, name, qkv, TN_NO_VALUE);
    if (!op) return TN_NO_VALUE;
    op->as.attention = *attention;
    return op->out;
}

uint32_t tn_graph_rotary(struct tn_graph *g, const char *name, uint32_t x, const struct tn_op_rotary *rotary)
{
    struct tn_op *op = add_op(g, TN_OP_ROTARY, name, x, TN_NO_VALUE);
    if (!op) return TN_NO_VALUE;
    op->as.rotary = *rotary;
    return op->out;
}

uint32_t tn_graph_gate(struct tn_graph *g, const char *name, uint32_t x, enum tn_act act)
{
    struct tn_op *op = add_op(g, TN_OP_GATE, name, x, TN_NO_VALUE);
    if (!op) return TN_NO_VALUE;
    op->as.gate.act = act;
    return op->out;
}

uint32_t tn_graph_layer_norm(struct tn_graph *g, const char *name, uint32_t x, uint32_t residual,
                             const struct tn_op_layer_norm *norm)
{
    struct tn_op *op = add_op(g, TN_OP_LAYER_NORM, name, x, residual);
    if (!op) return TN_NO_VALUE;
    op->as.layer_norm = *norm;
    return op->out;
}

uint32_t tn_graph_pool(struct tn_graph *g, const char *name, uint32_t x, const struct tn_op_pool *pool)
{
    struct tn_op *op = add_op(g, TN_OP_POOL, name, x, TN_NO_VALUE);
    if (!op) return TN_NO_VALUE;
    op->as.pool = *pool;
    return op->out;
}

uint32_t tn_graph_pick(struct tn_graph *g, const char *name, uint32_t x)
{
    struct tn_op *op = add_op(g, TN_OP_PICK, name, x, TN_NO_VALUE);
    return op ? op->out : TN_NO_VALUE;
}

uint32_t tn_graph_linear_pool(struct tn_graph *g, const char *name, uint32_t x, bool sum, bool twice)
{
    struct tn_op *op = g->failed || g->op_count == 0 ? NULL : &g->ops[g->op_count - 1];
    if (!op || op->kind != TN_OP_LINEAR || op->out != x || op->in[1] != TN_NO_VALUE || op->as.linear.act != TN_ACT_IDENTITY) {
        return TN_NO_VALUE;
    }
    struct tn_op_linear linear = op->as.linear;
    op->kind = TN_OP_LINEAR_POOL;
    op->as.linear_pool = (struct tn_op_linear_pool){linear, sum, twice};
    op->name = tn_arena_str(g->arena, tn_str_of(name));
    if (!op->name.s) out_of_memory(g);
    return g->failed ? TN_NO_VALUE : op->out;
}

uint32_t tn_graph_normalize(struct tn_graph *g, const char *name, uint32_t x)
{
    struct tn_op *op = add_op(g, TN_OP_NORMALIZE, name, x, TN_NO_VALUE);
    return op ? op->out : TN_NO_VALUE;
}

const char *tn_graph_name(struct tn_graph *g, const char *format, unsigned long long layer)
{
    char text[128];
    int n = snprintf(text, sizeof(text), format, layer);
    const char *copy = tn_arena_strndup(g->arena, text, n > 0 ? (size_t)n : 0);
    if (!copy) out_of_memory(g);
    return copy ? copy : "";
}

const char *tn_op_kind_name(enum tn_op_kind kind)
{
    static const char *const names[TN_OP_KINDS] = {
#define X(name, text) text,
        TN_OP_LIST(X)
#undef X
    };
    return (unsigned)kind < TN_OP_KINDS ? names[kind] : "unknown";
}
