/*
 * What follows from the configuration and the weights alone, computed once at load instead of in every call: tables of
 * rotary angles. Sizes are part of the estimate. Shapes were checked when the graph was built.
 */
#include "provider/native/native.h"

#include "base/checked.h"

static bool same_rope(const struct tn_op_rotary *a, const struct tn_op_rotary *b)
{
    return a->head_dim == b->head_dim && a->rope.kind == b->rope.kind && a->rope.theta == b->rope.theta &&
           a->rope.factor == b->rope.factor && a->rope.low_freq_factor == b->rope.low_freq_factor &&
           a->rope.high_freq_factor == b->rope.high_freq_factor &&
           a->rope.original_positions == b->rope.original_positions;
}

static const struct tn_op_rotary *rotary_of(const struct tn_native_program *program, uint32_t table)
{
    return &program->graph.ops[program->ropes[table]].as.rotary;
}

/* Layers whose positions turn alike share a table. */
static void number_ropes(struct tn_native_program *program)
{
    const struct tn_graph *g = &program->graph;
    for (uint32_t op = 0; op < g->op_count; op++) {
        if (g->ops[op].kind != TN_OP_ROTARY) continue;
        uint32_t table = 0;
        while (table < program->rope_count && !same_rope(rotary_of(program, table), &g->ops[op].as.rotary)) table++;
        if (table == program->rope_count) program->ropes[program->rope_count++] = op;
        program->rope_of[op] = table;
    }
}

/* Floats of one table: cosines and sines of half the dimensions at every position. */
static bool angle_floats(const struct tn_native_program *program, uint32_t table, size_t *floats)
{
    return tn_mul((size_t)program->max_rows, (size_t)rotary_of(program, table)->head_dim, floats);
}

bool tn_native_size_derived(struct tn_native_program *program, uint64_t *bytes)
{
    number_ropes(program);
    for (uint32_t table = 0; table < program->rope_count; table++) {
        size_t n;
        if (!angle_floats(program, table, &n) || !tn_mul(n, sizeof(float), &n) || !tn_add64(*bytes, n, bytes)) return false;
    }
    return true;
}

static bool make_angles(const struct tn_native_program *program, struct tn_weights *w, uint32_t table)
{
    const struct tn_op_rotary *rotary = rotary_of(program, table);
    uint64_t half = rotary->head_dim / 2;
    size_t floats;
    if (!angle_floats(program, table, &floats)) return false;
    float *frequency = tn_malloc(w->alloc, (size_t)half * sizeof(float));
    w->angles[table] = tn_malloc_aligned(w->alloc, floats * sizeof(float), 64);
    if (frequency && w->angles[table]) {
        tn_rope_frequencies(&rotary->rope, rotary->head_dim, frequency);
        tn_rope_angles(frequency, half, program->max_rows, w->angles[table], w->angles[table] + floats / 2);
    }
    bool made = frequency && w->angles[table];
    tn_free(w->alloc, frequency);
    return made;
}

enum tn_status tn_derived_make(const struct tn_native_program *program, struct tn_weights *w, struct tn_error *err)
{
    w->angles = tn_calloc(w->alloc, (size_t)program->rope_count + 1, sizeof(*w->angles));
    if (!w->angles) return tn_error_memory(err, TN_PHASE_LOAD, "preparing positions");
    w->angle_count = program->rope_count;
    for (uint32_t table = 0; table < program->rope_count; table++) {
        if (!make_angles(program, w, table)) return tn_error_memory(err, TN_PHASE_LOAD, "preparing positions");
    }
    return TN_OK;
}

void tn_derived_release(struct tn_weights *w)
{
    for (uint32_t i = 0; i < w->angle_count; i++) tn_free(w->alloc, w->angles[i]);
    tn_free(w->alloc, w->angles);
}
