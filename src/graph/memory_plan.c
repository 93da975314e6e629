/*
 * Memory plan by liveness: one pass from the first operator to the last. A value takes the narrowest free slot of its
 * dimension that is wide enough, or the widest free one, which then grows. Operators that work in place (norms,
 * normalise) hand the slot of an operand that dies on to their output.
 */
#include "graph/graph.h"

#include <string.h>

struct planner {
    const struct tn_graph *g;
    struct tn_memory_plan *plan;
    uint32_t *last_use; /* by value: index of the last operator that reads it */
    bool *busy;         /* by slot */
};

static void find_last_uses(struct planner *p)
{
    const struct tn_graph *g = p->g;
    for (uint32_t v = 0; v < g->value_count; v++) p->last_use[v] = 0;
    for (uint32_t i = 0; i < g->op_count; i++) {
        for (unsigned k = 0; k < 2; k++) {
            if (g->ops[i].in[k] < g->value_count) p->last_use[g->ops[i].in[k]] = i;
        }
    }
    if (g->output < g->value_count) p->last_use[g->output] = g->op_count;
}

static bool dies_at(const struct planner *p, uint32_t value, uint32_t op)
{
    return value < p->g->value_count && p->g->values[value].dim != TN_DIM_FIXED && p->last_use[value] == op;
}

/* The slot of an operand that the output may overwrite, or TN_NO_VALUE. */
static uint32_t inherited_slot(const struct planner *p, uint32_t index)
{
    const struct tn_op *op = &p->g->ops[index];
    const struct tn_graph_value *out = &p->g->values[op->out];
    bool in_place = op->kind == TN_OP_LAYER_NORM || op->kind == TN_OP_NORMALIZE || op->kind == TN_OP_ROTARY;
    for (unsigned k = 0; k < 2; k++) {
        /* a linear layer may write over its residual, never over its input */
        if (!in_place && !(op->kind == TN_OP_LINEAR && k == 1)) continue;
        uint32_t v = op->in[k];
        if (dies_at(p, v, index) && p->g->values[v].width == out->width) return p->plan->slot_of[v];
    }
    return TN_NO_VALUE;
}

static uint32_t free_slot(struct planner *p, const struct tn_graph_value *value)
{
    struct tn_memory_plan *plan = p->plan;
    uint32_t fitting = TN_NO_VALUE, widest = TN_NO_VALUE;
    for (uint32_t s = 0; s < plan->slot_count; s++) {
        const struct tn_memory_slot *slot = &plan->slots[s];
        if (p->busy[s] || slot->dim != value->dim) continue;
        if (slot->width >= value->width && (fitting == TN_NO_VALUE || slot->width < plan->slots[fitting].width)) fitting = s;
        if (widest == TN_NO_VALUE || slot->width > plan->slots[widest].width) widest = s;
    }
    uint32_t chosen = fitting != TN_NO_VALUE ? fitting : widest;
    if (chosen == TN_NO_VALUE) {
        chosen = plan->slot_count++;
        plan->slots[chosen] = (struct tn_memory_slot){value->dim, 0};
    }
    if (plan->slots[chosen].width < value->width) plan->slots[chosen].width = value->width;
    return chosen;
}

static void place(struct planner *p, uint32_t index)
{
    const struct tn_op *op = &p->g->ops[index];
    /* fixed values live for ever; a pooled layer writes where the results go */
    if (p->g->values[op->out].dim == TN_DIM_FIXED || op->kind == TN_OP_LINEAR_POOL) {
        p->plan->slot_of[op->out] = TN_NO_VALUE;
        return;
    }
    uint32_t slot = inherited_slot(p, index);
    if (slot == TN_NO_VALUE) slot = free_slot(p, &p->g->values[op->out]);
    p->plan->slot_of[op->out] = slot;
    for (unsigned k = 0; k < 2; k++) {
        if (dies_at(p, op->in[k], index)) p->busy[p->plan->slot_of[op->in[k]]] = false;
    }
    p->busy[slot] = true;
}

enum tn_status tn_memory_plan_make(const struct tn_graph *g, struct tn_arena *arena, struct tn_memory_plan *out,
                                   struct tn_error *err)
{
    *out = (struct tn_memory_plan){
        .slots = tn_arena_array(arena, g->value_count, sizeof(*out->slots)),
        .slot_of = tn_arena_array(arena, g->value_count, sizeof(*out->slot_of)),
    };
    struct planner p = {
        .g = g,
        .plan = out,
        .last_use = tn_arena_array(arena, g->value_count, sizeof(*p.last_use)),
        .busy = tn_arena_array(arena, g->value_count, sizeof(*p.busy)),
    };
    if (!out->slots || !out->slot_of || !p.last_use || !p.busy) {
        return tn_error_memory(err, TN_PHASE_ASSESS, "planning memory");
    }
    find_last_uses(&p);
    for (uint32_t i = 0; i < g->op_count; i++) place(&p, i);
    return TN_OK;
}
