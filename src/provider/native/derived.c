/*
 * What follows from the configuration and the weights alone, made once at load instead of in every call: tables of
 * rotary angles, which row of a position table belongs to which distance, and room for fixed values (execute.c computes
 * those with the operators that everything else uses). Sizes are part of the estimate. Shapes were checked when the graph
 * was built.
 */
#include "provider/native/native.h"

#include "base/checked.h"

#include <math.h>

/* ---- which operators share a table ------------------------------------------------------------------------------------ */

static bool same_rope(const struct tn_op *x, const struct tn_op *y)
{
    const struct tn_op_rotary *a = &x->as.rotary, *b = &y->as.rotary;
    return a->head_dim == b->head_dim && a->rope.kind == b->rope.kind && a->rope.theta == b->rope.theta &&
           a->rope.factor == b->rope.factor && a->rope.low_freq_factor == b->rope.low_freq_factor &&
           a->rope.high_freq_factor == b->rope.high_freq_factor &&
           a->rope.original_positions == b->rope.original_positions;
}

static bool same_relative(const struct tn_op *x, const struct tn_op *y)
{
    const struct tn_relative_terms *a = &x->as.attention.relative, *b = &y->as.attention.relative;
    return a->span == b->span && a->buckets == b->buckets && a->max_distance == b->max_distance;
}

static bool has_relative(const struct tn_op *op)
{
    return op->kind == TN_OP_ATTENTION && (op->as.attention.relative.of_queries || op->as.attention.relative.of_keys);
}

/* The table of an operator; the first of its kind opens a new one. */
static uint32_t numbered(const struct tn_graph *g, uint32_t op, uint32_t *tables, uint32_t *count,
                         bool (*same)(const struct tn_op *, const struct tn_op *))
{
    uint32_t table = 0;
    while (table < *count && !same(&g->ops[tables[table]], &g->ops[op])) table++;
    if (table == *count) tables[(*count)++] = op;
    return table;
}

static void number_tables(struct tn_native_program *p)
{
    const struct tn_graph *g = &p->graph;
    for (uint32_t op = 0; op < g->op_count; op++) {
        if (g->ops[op].kind == TN_OP_ROTARY) p->rope_of[op] = numbered(g, op, p->ropes, &p->rope_count, same_rope);
        if (has_relative(&g->ops[op])) {
            p->relative_of[op] = numbered(g, op, p->relatives, &p->relative_count, same_relative);
        }
    }
}

/* ---- sizes -------------------------------------------------------------------------------------------------------------- */

static const struct tn_op_rotary *rotary_of(const struct tn_native_program *program, uint32_t table)
{
    return &program->graph.ops[program->ropes[table]].as.rotary;
}

/* Floats of one table: cosines and sines of half the dimensions at every position. */
static bool angle_floats(const struct tn_native_program *program, uint32_t table, size_t *floats)
{
    return tn_mul((size_t)program->max_rows, (size_t)rotary_of(program, table)->head_dim, floats);
}

static bool fixed_floats(const struct tn_native_program *program, uint32_t value, size_t *floats)
{
    const struct tn_graph_value *v = &program->graph.values[value];
    return tn_mul((size_t)v->rows, (size_t)v->width, floats);
}

/* Fixed values that need room of their own: a table operator's is the weight itself. */
static bool needs_room(const struct tn_graph *g, const struct tn_op *op)
{
    return op->kind != TN_OP_TABLE && g->values[op->out].dim == TN_DIM_FIXED;
}

static bool add_words(uint64_t *bytes, size_t words)
{
    size_t n;
    return tn_mul(words, sizeof(float), &n) && tn_add64(*bytes, n, bytes);
}

bool tn_native_size_derived(struct tn_native_program *program, uint64_t *bytes)
{
    const struct tn_graph *g = &program->graph;
    size_t words;
    number_tables(program);
    for (uint32_t table = 0; table < program->rope_count; table++) {
        if (!angle_floats(program, table, &words) || !add_words(bytes, words)) return false;
    }
    for (uint32_t table = 0; table < program->relative_count; table++) {
        if (!add_words(bytes, (size_t)tn_native_bias_length(program))) return false;
    }
    for (uint32_t op = 0; op < g->op_count; op++) {
        if (!needs_room(g, &g->ops[op])) continue;
        if (!fixed_floats(program, g->ops[op].out, &words) || !add_words(bytes, words)) return false;
    }
    return true;
}

/* ---- making them -------------------------------------------------------------------------------------------------------- */

static bool make_angles(const struct tn_native_program *program, struct tn_weights *w, uint32_t table)
{
    const struct tn_op_rotary *rotary = rotary_of(program, table);
    uint64_t half = rotary->head_dim / 2;
    size_t floats;
    if (!angle_floats(program, table, &floats)) return false;
    float *frequency = tn_malloc(w->alloc, (size_t)half * sizeof(float));
    w->angles[table] = tn_malloc_aligned(w->alloc, floats * sizeof(float), 64);
    bool made = frequency && w->angles[table];
    if (made) {
        tn_rope_frequencies(&rotary->rope, rotary->head_dim, frequency);
        tn_rope_angles(frequency, half, program->max_rows, w->angles[table], w->angles[table] + floats / 2);
    }
    tn_free(w->alloc, frequency);
    return made;
}

/*
 * DeBERTa's bucket of a distance (He et al. 2020, arXiv 2006.03654; version 2's logarithmic buckets as published with its
 * code): exact up to the middle, then ceil of a logarithm that reaches the last bucket at max_distance. In float32 as
 * there.
 */
static int64_t distance_bucket(int64_t distance, uint64_t buckets, uint64_t max_distance)
{
    int64_t middle = (int64_t)(buckets / 2), far = distance < 0 ? -distance : distance;
    if (buckets == 0 || far <= middle) return distance;
    float scale = (float)log((double)(float)((double)(max_distance - 1) / (double)middle));
    float ratio = (float)log((double)((float)far / (float)middle)) / scale * (float)(middle - 1);
    int64_t bucket = (int64_t)ceilf(ratio) + middle;
    return distance < 0 ? -bucket : bucket;
}

/* rows[center + (j - i)]: the row that belongs to the distance i - j. */
static bool make_rows(const struct tn_native_program *program, struct tn_weights *w, uint32_t table)
{
    const struct tn_relative_terms *terms = &program->graph.ops[program->relatives[table]].as.attention.relative;
    uint64_t length = tn_native_bias_length(program);
    int64_t span = (int64_t)terms->span, center = (int64_t)program->max_rows - 1;
    int32_t *rows = tn_malloc_aligned(w->alloc, (size_t)length * sizeof(*rows), 64);
    w->rows_by_distance[table] = rows;
    for (int64_t at = 0; rows && at < (int64_t)length; at++) {
        int64_t row = distance_bucket(center - at, terms->buckets, terms->max_distance) + span;
        rows[at] = (int32_t)(row < 0 ? 0 : row > 2 * span - 1 ? 2 * span - 1 : row);
    }
    return rows != NULL;
}

static bool make_room(const struct tn_native_program *program, struct tn_weights *w, const struct tn_op *op)
{
    const struct tn_graph *g = &program->graph;
    size_t floats;
    if (op->kind == TN_OP_TABLE) w->fixed[op->out] = w->data[op->as.table.weight];
    if (!needs_room(g, op)) return true;
    if (!fixed_floats(program, op->out, &floats)) return false;
    w->fixed[op->out] = tn_malloc_aligned(w->alloc, floats * sizeof(float), 64);
    w->fixed_owned[op->out] = true;
    return w->fixed[op->out] != NULL;
}

static bool make_all(const struct tn_native_program *program, struct tn_weights *w)
{
    const struct tn_graph *g = &program->graph;
    for (uint32_t table = 0; table < program->rope_count; table++) {
        w->angle_count = table + 1;
        if (!make_angles(program, w, table)) return false;
    }
    for (uint32_t table = 0; table < program->relative_count; table++) {
        w->distance_count = table + 1;
        if (!make_rows(program, w, table)) return false;
    }
    for (uint32_t op = 0; op < g->op_count; op++) {
        if (!make_room(program, w, &g->ops[op])) return false;
    }
    return true;
}

enum tn_status tn_derived_make(const struct tn_native_program *program, struct tn_weights *w, struct tn_error *err)
{
    size_t values = program->graph.value_count;
    w->angles = tn_calloc(w->alloc, (size_t)program->rope_count + 1, sizeof(*w->angles));
    w->rows_by_distance = tn_calloc(w->alloc, (size_t)program->relative_count + 1, sizeof(*w->rows_by_distance));
    w->fixed = tn_calloc(w->alloc, values + 1, sizeof(*w->fixed));
    w->fixed_owned = tn_calloc(w->alloc, values + 1, sizeof(*w->fixed_owned));
    if (w->angles && w->rows_by_distance && w->fixed && w->fixed_owned) {
        w->value_count = (uint32_t)values;
        if (make_all(program, w)) return TN_OK;
    }
    return tn_error_memory(err, TN_PHASE_LOAD, "preparing positions");
}

void tn_derived_release(struct tn_weights *w)
{
    for (uint32_t i = 0; i < w->angle_count; i++) tn_free(w->alloc, w->angles[i]);
    for (uint32_t i = 0; i < w->distance_count; i++) tn_free(w->alloc, w->rows_by_distance[i]);
    for (uint32_t i = 0; i < w->value_count; i++) {
        if (w->fixed_owned[i]) tn_free(w->alloc, w->fixed[i]);
    }
    tn_free(w->alloc, w->angles);
    tn_free(w->alloc, w->rows_by_distance);
    tn_free(w->alloc, w->fixed);
    tn_free(w->alloc, w->fixed_owned);
}
