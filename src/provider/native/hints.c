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
static void place(struct tn_hint_node *weight, const struct tn_net *net, uint32_t value)
{
    bool seen = false;
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        int64_t layer = n->layer ? (int64_t)n->layer - 1 : TN_HINT_NO_LAYER;
        bool reads = false;
        for (uint32_t k = 0; k < n->in_count && !reads; k++) reads = n->in[k].value == value;
        if (!reads) continue;
        weight->layer = !seen || weight->layer == layer ? layer : TN_HINT_NO_LAYER;
        seen = true;
    }
}

static size_t add_nodes(struct tn_hint_node *to, const struct tn_net *net)
{
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        to[i] = (struct tn_hint_node){n->name, TN_STR(""), n->type, n->layer ? (int64_t)n->layer - 1 : TN_HINT_NO_LAYER};
    }
    return net->node_count;
}

/* Of a package that is a graph: nothing, hints act on none of its nodes. */
enum tn_status tn_native_nodes(const struct tn_assessment *a, struct tn_arena *arena, struct tn_hint_node **out,
                               size_t *count, struct tn_error *err)
{
    const struct tn_native_program *program = a->state;
    const struct tn_graph *g = &program->graph;
    size_t n = g->weight_count, at = 0;
    for (uint32_t i = 0; i < TN_GRAPH_PARTS; i++) n += g->part[i] ? g->part[i]->main->node_count : 0;
    struct tn_hint_node *nodes = tn_arena_array(arena, n + 1, sizeof(*nodes));
    if (!nodes) return tn_error_memory(err, TN_PHASE_ASSESS, "listing what hints can select");
    for (uint32_t i = 0; i < TN_GRAPH_PARTS; i++) at += g->part[i] ? add_nodes(nodes + at, g->part[i]->main) : 0;
    for (uint32_t i = 0; i < g->weight_count; i++, at++) {
        const struct tn_graph_weight *w = &g->weights[i];
        nodes[at] = (struct tn_hint_node){w->tensor->name, w->role, TN_STR(""), TN_HINT_NO_LAYER};
        for (uint32_t k = 0; k < TN_GRAPH_PARTS; k++) {
            if (w->value[k] != TN_NET_NONE) place(&nodes[at], g->part[k]->main, w->value[k]);
        }
    }
    *out = nodes;
    *count = n;
    return TN_OK;
}
