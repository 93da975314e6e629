/*
 * What execution hints find in a native program: its operators and weights by name, and how it answers wishes that others
 * make of it. It runs on the CPU alone, so most wishes are either granted anyway or have nothing to act on; each answer
 * says which.
 */
#include "provider/native/native.h"

const struct tn_hint_device tn_native_devices[1] = {{TN_DEVICE_CPU, true, 0}};

/* Stored types; arithmetic is the numeric policy's and never follows from them. */
const char *const tn_native_dtypes[] = {"float32", "fp32", "float16", "fp16", "half", "bfloat16", "bf16", NULL};

const struct tn_hint_answer tn_native_hint_answers[TN_HINT_KINDS] = {
    [TN_HINT_PIN] = {true, "weights stay in memory as long as the session"},
    [TN_HINT_LOW_PRIORITY] = {false, "nothing is ever evicted"},
    [TN_HINT_ALLOW_ALIAS] = {true, "values share memory once they are dead"},
    [TN_HINT_ARENA_SIZE] = {false, "workspaces follow from the memory plan; a memory limit bounds the whole"},
    [TN_HINT_PREFETCH] = {true, "every weight is read before the session is there"},
    [TN_HINT_OVERLAP] = {false, "operators run one after another on all threads"},
    [TN_HINT_CUDA_GRAPH_REGION] = {false, "nothing is captured on a CPU"},
    [TN_HINT_NO_CUDA_GRAPH] = {true, "nothing is captured on a CPU"},
    [TN_HINT_CHUNK_SIZE] = {false, "work is cut by rows, to fit the caches"},
    [TN_HINT_OFFLOADABLE] = {false, "everything is on the CPU already"},
    [TN_HINT_KERNEL] = {false, "kernels follow from the processor"},
};

/* A weight belongs to the layer of the operators that read it, if they agree. */
static void place(struct tn_hint_node *weights, const struct tn_graph *g, uint32_t weight, const struct tn_op *op, bool *seen)
{
    if (weight >= g->weight_count) return;
    if (!seen[weight]) weights[weight].layer = op->layer;
    else if (weights[weight].layer != op->layer) weights[weight].layer = TN_HINT_NO_LAYER;
    seen[weight] = true;
}

static void place_weights(struct tn_hint_node *weights, const struct tn_graph *g, const struct tn_op *op, bool *seen)
{
    switch (op->kind) {
    case TN_OP_EMBED:
        for (uint32_t i = 0; i < op->as.embed.tables; i++) place(weights, g, op->as.embed.table[i], op, seen);
        place(weights, g, op->as.embed.gamma, op, seen);
        place(weights, g, op->as.embed.beta, op, seen);
        break;
    case TN_OP_LINEAR_POOL:
    case TN_OP_LINEAR:
        for (uint32_t i = 0; i < op->as.linear.parts; i++) {
            place(weights, g, op->as.linear.weight[i], op, seen);
            place(weights, g, op->as.linear.bias[i], op, seen);
        }
        break;
    case TN_OP_ATTENTION: place(weights, g, op->as.attention.bias, op, seen); break;
    case TN_OP_LAYER_NORM:
        place(weights, g, op->as.layer_norm.gamma, op, seen);
        place(weights, g, op->as.layer_norm.beta, op, seen);
        break;
    case TN_OP_TABLE: place(weights, g, op->as.table.weight, op, seen); break;
    case TN_OP_ROTARY:
    case TN_OP_GATE:
    case TN_OP_POOL:
    case TN_OP_PICK:
    case TN_OP_NORMALIZE:
    case TN_OP_KINDS: break;
    }
}

enum tn_status tn_native_nodes(const struct tn_assessment *a, struct tn_arena *arena, struct tn_hint_node **out,
                               size_t *count, struct tn_error *err)
{
    const struct tn_native_program *program = a->state;
    const struct tn_graph *g = &program->graph; /* of a package that is a graph: empty, hints act on none of its nodes */
    size_t n = (size_t)g->op_count + g->weight_count;
    struct tn_hint_node *nodes = tn_arena_array(arena, n, sizeof(*nodes));
    bool *seen = tn_arena_array(arena, g->weight_count, sizeof(*seen));
    if (!nodes || !seen) return tn_error_memory(err, TN_PHASE_ASSESS, "listing what hints can select");
    struct tn_hint_node *weights = nodes + g->op_count;
    for (uint32_t i = 0; i < g->weight_count; i++) {
        const struct tn_graph_weight *w = &g->weights[i];
        weights[i] = (struct tn_hint_node){w->tensor->name, w->role, TN_STR(""), TN_HINT_NO_LAYER};
    }
    for (uint32_t i = 0; i < g->op_count; i++) {
        const struct tn_op *op = &g->ops[i];
        nodes[i] = (struct tn_hint_node){op->name, TN_STR(""), tn_str_of(tn_op_kind_name(op->kind)), op->layer};
        place_weights(weights, g, op, seen);
    }
    *out = nodes;
    *count = n;
    return TN_OK;
}
