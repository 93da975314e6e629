/*
 * One piece through all operators. A team shares the workspace and meets at a barrier after each operator; a single
 * thread simply goes on. Shapes were checked when the graph was built: nothing here can fail. Cancellation is looked at
 * between operators.
 */
#include "provider/native/native.h"

#include <string.h>

_Static_assert((int)TN_GRAPH_TABLES <= (int)TN_EMBED_TABLES, "an embedding of the graph fits a call of the kernel");

struct run {
    struct tn_instance *instance;
    const struct tn_graph *g;
    const struct tn_kernels *k;
    struct tn_workspace *w;
    const struct tn_invocation *call;
    const struct tn_team *team;
    void *scratch; /* of the first member */
    uint32_t first_pick, picks; /* of the piece's picked rows, those that are run now */
};

static float *slot(const struct run *r, uint32_t value)
{
    if (r->g->values[value].dim == TN_DIM_FIXED) return r->instance->weights.fixed[value];
    return r->w->slots[r->instance->program->plan.slot_of[value]];
}

static uint64_t width(const struct run *r, uint32_t value)
{
    return r->g->values[value].width;
}

static size_t row_count(const struct run *r, uint32_t value)
{
    const struct tn_graph_value *v = &r->g->values[value];
    switch (v->dim) {
    case TN_DIM_FIXED: return (size_t)v->rows;
    case TN_DIM_ROWS: return r->w->rows;
    case TN_DIM_PICKS: return r->picks;
    case TN_DIM_SEQUENCES: break;
    }
    return r->w->count;
}

static const float *vector(const struct run *r, uint32_t weight)
{
    return weight == TN_NO_WEIGHT ? NULL : r->instance->weights.data[weight];
}

static void run_embed(const struct run *r, const struct tn_op *op)
{
    const struct tn_op_embed *e = &op->as.embed;
    struct tn_embed_args args = {
        .tables = e->tables,
        .y = slot(r, op->out),
        .y_stride = (size_t)width(r, op->out),
        .rows = r->w->rows,
        .width = (size_t)width(r, op->out),
        .norm = e->gamma != TN_NO_WEIGHT || e->beta != TN_NO_WEIGHT,
        .gamma = vector(r, e->gamma),
        .beta = vector(r, e->beta),
        .eps = (float)e->eps,
    };
    for (uint32_t i = 0; i < e->tables; i++) {
        args.table[i] = (struct tn_embed_table){
            .data = r->instance->weights.data[e->table[i]],
            .type = tn_native_float_type(r->g->weights[e->table[i]].tensor->dtype),
            .index = e->index[i] == TN_INDEX_TOKEN  ? r->w->ids
                     : e->index[i] == TN_INDEX_TYPE ? r->w->types
                                                    : r->w->positions,
        };
    }
    r->k->embed(&args, r->team->rank, r->team->size);
}

static void run_linear(const struct run *r, const struct tn_op *op)
{
    bool residual = op->in[1] != TN_NO_VALUE;
    struct tn_linear_args args = {
        .layer = &r->instance->weights.layers[r->instance->program->layer_of[op - r->g->ops]],
        .x = slot(r, op->in[0]),
        .x_stride = (size_t)width(r, op->in[0]),
        .y = slot(r, op->out),
        .y_stride = (size_t)width(r, op->out),
        .residual = residual ? slot(r, op->in[1]) : NULL,
        .residual_stride = (size_t)width(r, op->out),
        .rows = row_count(r, op->out),
        .act = op->as.linear.act,
        .scratch = r->scratch,
        .scratch_bytes = r->instance->program->scratch_bytes,
    };
    r->k->linear(&args, r->team->rank, r->team->size);
}

/* Straight to where the results go: a row over a vocabulary is too wide to be kept twice. */
static void run_linear_pool(const struct run *r, const struct tn_op *op)
{
    size_t w = (size_t)width(r, op->out);
    struct tn_linear_pool_args args = {
        .layer = &r->instance->weights.layers[r->instance->program->layer_of[op - r->g->ops]],
        .x = slot(r, op->in[0]),
        .x_stride = (size_t)width(r, op->in[0]),
        .rows = r->w->rows,
        .spans = r->w->spans,
        .to = r->w->sequences,
        .sequences = r->w->count,
        .y = r->call->out,
        .y_stride = w,
        .sum = op->as.linear_pool.sum,
        .twice = op->as.linear_pool.twice,
        .scratch = r->scratch,
        .scratch_bytes = r->instance->program->scratch_bytes,
    };
    r->k->linear_pool(&args, r->team->rank, r->team->size);
}

static void run_attention(const struct run *r, const struct tn_op *op)
{
    const struct tn_op_attention *a = &op->as.attention;
    size_t hidden = (size_t)width(r, op->out);
    const float *qkv = slot(r, op->in[0]);
    struct tn_attention_args args = {
        .q = qkv,
        .k = qkv + hidden,
        .v = qkv + 2 * hidden,
        .q_stride = 3 * hidden,
        .k_stride = 3 * hidden,
        .v_stride = 3 * hidden,
        .out = slot(r, op->out),
        .out_stride = hidden,
        .offsets = r->w->offsets,
        .sequences = r->w->count,
        .heads = (size_t)a->heads,
        .head_dim = (size_t)a->head_dim,
        .scale = (float)a->scale,
        .window = (size_t)a->window,
        .seen = a->keys_of_span ? r->w->spans : NULL,
        .scratch = r->scratch,
        .scratch_bytes = r->instance->program->scratch_bytes,
    };
    if (a->bias != TN_NO_WEIGHT) {
        args.bias = r->instance->weights.bias[a->bias];
        args.bias_stride = (size_t)tn_native_bias_length(r->instance->program);
        args.bias_center = (size_t)r->instance->program->max_rows - 1;
    }
    const struct tn_relative_terms *terms = &a->relative;
    if (terms->of_queries) args.position_key = slot(r, terms->position_key);
    if (terms->of_keys) args.position_query = slot(r, terms->position_query);
    if (terms->of_queries || terms->of_keys) {
        args.position_stride = hidden;
        args.relative_row = r->instance->weights.rows_by_distance[r->instance->program->relative_of[op - r->g->ops]];
        args.relative_center = (size_t)r->instance->program->max_rows - 1;
    }
    r->k->attention(&args, r->team->rank, r->team->size);
}

static void run_rotary(const struct run *r, const struct tn_op *op)
{
    const struct tn_op_rotary *o = &op->as.rotary;
    const struct tn_native_program *program = r->instance->program;
    size_t half = (size_t)o->head_dim / 2;
    const float *angles = r->instance->weights.angles[program->rope_of[op - r->g->ops]];
    struct tn_rotary_args args = {
        .x = slot(r, op->out),
        .stride = (size_t)width(r, op->out),
        .rows = r->w->rows,
        .heads = (size_t)o->heads,
        .head_dim = (size_t)o->head_dim,
        .positions = r->w->positions,
        .cosine = angles,
        .sine = angles + (size_t)program->max_rows * half,
    };
    const float *from = slot(r, op->in[0]);
    if (from != args.x) { /* x is needed again; by rows as the kernel shares them */
        size_t begin, end;
        tn_share(args.rows, r->team->rank, r->team->size, &begin, &end);
        memcpy(args.x + begin * args.stride, from + begin * args.stride, (end - begin) * args.stride * sizeof(float));
    }
    r->k->rotary(&args, r->team->rank, r->team->size);
}

static void run_gate(const struct run *r, const struct tn_op *op)
{
    struct tn_gate_args args = {
        .x = slot(r, op->in[0]),
        .x_stride = (size_t)width(r, op->in[0]),
        .y = slot(r, op->out),
        .y_stride = (size_t)width(r, op->out),
        .rows = row_count(r, op->out),
        .width = (size_t)width(r, op->out),
        .act = op->as.gate.act,
    };
    r->k->gate(&args, r->team->rank, r->team->size);
}

static void run_layer_norm(const struct run *r, const struct tn_op *op)
{
    const struct tn_op_layer_norm *n = &op->as.layer_norm;
    size_t w = (size_t)width(r, op->out);
    struct tn_layer_norm_args args = {
        .x = slot(r, op->in[0]),
        .x_stride = w,
        .residual = op->in[1] != TN_NO_VALUE ? slot(r, op->in[1]) : NULL,
        .residual_stride = w,
        .y = slot(r, op->out),
        .y_stride = w,
        .rows = row_count(r, op->out),
        .width = w,
        .gamma = vector(r, n->gamma),
        .beta = vector(r, n->beta),
        .eps = (float)n->eps,
    };
    r->k->layer_norm(&args, r->team->rank, r->team->size);
}

static void run_pool(const struct run *r, const struct tn_op *op)
{
    size_t in_width = (size_t)width(r, op->in[0]);
    for (uint32_t i = 0; i < op->as.pool.modes; i++) {
        struct tn_pooling_args args = {
            .mode = op->as.pool.mode[i],
            .x = slot(r, op->in[0]),
            .x_stride = in_width,
            .width = in_width,
            .spans = r->w->spans,
            .sequences = r->w->count,
            .y = slot(r, op->out) + i * in_width,
            .y_stride = (size_t)width(r, op->out),
        };
        r->k->pooling(&args, r->team->rank, r->team->size);
    }
}

static void run_normalize(const struct run *r, const struct tn_op *op)
{
    size_t w = (size_t)width(r, op->out);
    r->k->normalize(slot(r, op->in[0]), w, slot(r, op->out), w, row_count(r, op->out), w, r->team->rank, r->team->size);
}

static void run_pick(const struct run *r, const struct tn_op *op)
{
    size_t w = (size_t)width(r, op->out), begin, end;
    const float *x = slot(r, op->in[0]);
    float *y = slot(r, op->out);
    tn_share(r->picks, r->team->rank, r->team->size, &begin, &end);
    for (size_t i = begin; i < end; i++) memcpy(y + i * w, x + (size_t)r->w->picks[r->first_pick + i] * w, w * sizeof(*y));
}

/* Its value is the weight, where it was loaded. */
static void run_table(const struct run *r, const struct tn_op *op)
{
    (void)r, (void)op;
}

typedef void run_fn(const struct run *r, const struct tn_op *op);

static run_fn *const runners[TN_OP_KINDS] = {
    [TN_OP_EMBED] = run_embed,           [TN_OP_LINEAR] = run_linear, [TN_OP_ATTENTION] = run_attention,
    [TN_OP_LAYER_NORM] = run_layer_norm, [TN_OP_POOL] = run_pool,     [TN_OP_NORMALIZE] = run_normalize,
    [TN_OP_ROTARY] = run_rotary,         [TN_OP_GATE] = run_gate,     [TN_OP_TABLE] = run_table,
    [TN_OP_PICK] = run_pick,             [TN_OP_LINEAR_POOL] = run_linear_pool,
};

/* True when every sequence of the piece belongs to somebody who wants to stop. */
static bool nobody_waits(const struct run *r)
{
    if (!r->call->cancel) return false;
    const struct tn_cancel *last = NULL;
    for (uint32_t i = 0; i < r->w->count; i++) {
        const struct tn_cancel *cancel = r->call->cancel[r->w->sequences[i]];
        if (cancel && cancel == last) continue;
        if (tn_cancel_check(cancel) == TN_OK) return false;
        last = cancel;
    }
    return true;
}

/*
 * Member 0 decides, the others read its decision after the barrier. Two flags take turns, so that a decision is never
 * overwritten before everybody has read it.
 */
static bool step(const struct run *r, uint32_t index)
{
    const struct tn_op *op = &r->g->ops[index];
    if (r->g->values[op->out].dim == TN_DIM_FIXED) return true; /* computed at load */
    _Atomic bool *stop = &r->team->stop[index & 1];
    runners[op->kind](r, op);
    if (r->team->rank == 0) atomic_store_explicit(stop, nobody_waits(r), memory_order_relaxed);
    if (r->team->size > 1) tn_barrier_meet(r->team->barrier, r->team->size);
    if (r->call->tap && op->kind != TN_OP_LINEAR_POOL) { /* that one's rows are the results */
        r->call->tap(r->call->tap_user, op->name, slot(r, op->out), row_count(r, op->out), (size_t)width(r, op->out));
    }
    return !atomic_load_explicit(stop, memory_order_relaxed);
}

static bool all_finite(const uint8_t *finite, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (!finite[i]) return false;
    }
    return true;
}

/* Rows that an operator has put into their places itself. */
static void settle(const struct run *r, bool stopped)
{
    size_t w = (size_t)width(r, r->g->output);
    for (uint32_t i = 0; i < r->w->count; i++) {
        uint32_t sequence = r->w->sequences[i];
        uint8_t finite = 0;
        if (!stopped) r->k->rows_finite(r->call->out + (size_t)sequence * w, w, 1, w, &finite, 0, 1);
        r->call->status[sequence] = stopped ? TN_ITEM_STOPPED : finite ? TN_ITEM_DONE : TN_ITEM_NOT_FINITE;
    }
}

/* Rows of the piece to their places in the invocation: one of each sequence, or those of its tokens. */
static void deliver(const struct run *r, bool stopped)
{
    size_t w = (size_t)width(r, r->g->output);
    bool by_token = r->g->values[r->g->output].dim == TN_DIM_ROWS;
    const float *rows = slot(r, r->g->output);
    if (!stopped) r->k->rows_finite(rows, w, row_count(r, r->g->output), w, r->w->finite, 0, 1);
    for (uint32_t i = 0; i < r->w->count; i++) {
        uint32_t sequence = r->w->sequences[i];
        size_t first = by_token ? (size_t)r->w->offsets[i] : i, end = by_token ? (size_t)r->w->offsets[i + 1] : i + 1;
        size_t to = by_token ? (size_t)r->call->offsets[sequence] : sequence;
        uint8_t *status = &r->call->status[sequence];
        *status = TN_ITEM_STOPPED;
        if (stopped) continue;
        *status = all_finite(r->w->finite, first, end) ? TN_ITEM_DONE : TN_ITEM_NOT_FINITE;
        memcpy(r->call->out + to * w, rows + first * w, (end - first) * w * sizeof(float));
    }
}

/* Picked rows to their places; a sequence is as finite as all of its rows. */
static void deliver_picks(const struct run *r)
{
    size_t w = (size_t)width(r, r->g->output);
    const float *rows = slot(r, r->g->output);
    r->k->rows_finite(rows, w, r->picks, w, r->w->finite, 0, 1);
    for (uint32_t i = 0; i < r->picks; i++) {
        uint32_t pick = r->first_pick + i;
        if (!r->w->finite[i]) r->call->status[r->w->pick_of[pick]] = TN_ITEM_NOT_FINITE;
        memcpy(r->call->out + (size_t)r->w->pick_to[pick] * w, rows + i * w, w * sizeof(float));
    }
}

static void set_statuses(const struct run *r, uint8_t status)
{
    for (uint32_t i = 0; i < r->w->count; i++) r->call->status[r->w->sequences[i]] = status;
}

/* What follows a pick, a handful of rows at a time. */
static void run_picked(struct run *r, uint32_t op)
{
    bool going = true;
    if (r->team->rank == 0) set_statuses(r, TN_ITEM_DONE);
    for (r->first_pick = 0; going && r->first_pick < r->w->pick_count; r->first_pick += r->picks) {
        uint32_t left = r->w->pick_count - r->first_pick;
        r->picks = left < TN_PICK_ROWS ? left : TN_PICK_ROWS;
        for (uint32_t i = op; going && i < r->g->op_count; i++) going = step(r, i);
        if (going && r->team->rank == 0) deliver_picks(r);
        /* the next rows lie where these do */
        if (r->team->size > 1) tn_barrier_meet(r->team->barrier, r->team->size);
    }
    if (!going && r->team->rank == 0) set_statuses(r, TN_ITEM_STOPPED);
}

void tn_execute_piece(struct tn_instance *instance, struct tn_workspace *w, const struct tn_invocation *call,
                      const struct tn_team *team)
{
    /* A single thread has the scratch that belongs to its workspace; a team has all of it, region by rank. */
    size_t own = team->size > 1 ? 0 : (size_t)(w - instance->workspaces);
    struct run r = {
        .instance = instance,
        .g = &instance->program->graph,
        .k = instance->program->kernels,
        .w = w,
        .call = call,
        .team = team,
        .scratch = instance->scratch + own * instance->program->scratch_bytes,
    };
    bool going = true, picked = r.g->values[r.g->output].dim == TN_DIM_PICKS;
    uint32_t i = 0;
    for (; going && i < r.g->op_count && r.g->ops[i].kind != TN_OP_PICK; i++) going = step(&r, i);
    if (going && picked) run_picked(&r, i);
    else if (team->rank == 0 && r.g->ops[r.g->op_count - 1].kind == TN_OP_LINEAR_POOL) settle(&r, !going);
    else if (team->rank == 0) deliver(&r, !going);
}

/* ---- fixed values ------------------------------------------------------------------------------------------------------ */

struct fixed_job {
    struct run run;
    const struct tn_op *op;
};

static void run_fixed(void *arg, unsigned rank, unsigned size)
{
    const struct fixed_job *job = arg;
    struct tn_team team = {.rank = rank, .size = size};
    struct run r = job->run;
    r.team = &team;
    runners[job->op->kind](&r, job->op);
}

/* Packed layers that only fixed values have needed. */
static void give_back(struct tn_instance *instance)
{
    const struct tn_native_program *program = instance->program;
    for (uint32_t i = 0; i < program->layer_count; i++) {
        if (!program->layers[i].fixed) continue;
        tn_free(instance->alloc, instance->weights.packed[i]);
        instance->weights.packed[i] = NULL;
        instance->weights.layers[i].packed = NULL;
    }
}

enum tn_status tn_execute_fixed(struct tn_instance *instance, const struct tn_cancel *cancel, struct tn_error *err)
{
    const struct tn_native_program *program = instance->program;
    const struct tn_graph *g = &program->graph;
    struct fixed_job job = {
        .run = {.instance = instance, .g = g, .k = program->kernels, .scratch = instance->scratch},
    };
    for (uint32_t i = 0; i < g->op_count; i++) {
        if (g->values[g->ops[i].out].dim != TN_DIM_FIXED) continue;
        if (tn_cancel_check(cancel)) return tn_cancel_fail(cancel, TN_PHASE_LOAD, err);
        job.op = &g->ops[i];
        tn_pool_run(instance->pool, run_fixed, &job, instance->threads);
    }
    give_back(instance);
    return TN_OK;
}
