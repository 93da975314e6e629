/*
 * One piece of packed sequences: its operands, a call of the graph for all its rows, calls of the graph behind a pick for a
 * handful of picked rows at a time, and the results to their places in the invocation.
 */
#include "provider/native/native.h"

#include "base/checked.h"

#include <string.h>

/* ---- room --------------------------------------------------------------------------------------------------------- */

/* Walks the parts of a block: with base NULL it only measures. */
struct layout {
    char *base;
    size_t at;
    bool overflow;
};

static void *take(struct layout *l, uint64_t count, size_t size)
{
    size_t bytes, end;
    if (count > SIZE_MAX || !tn_mul((size_t)count, size, &bytes) || !tn_round_up(bytes, 64, &bytes) ||
        !tn_add(l->at, bytes, &end)) {
        l->overflow = true;
        return NULL;
    }
    void *p = l->base ? l->base + l->at : NULL;
    l->at = end;
    return p;
}

/* Columns of the picked rows; 0: nothing is picked. */
static uint64_t picked_width(const struct tn_native_program *program)
{
    const struct tn_model *model = program->graph.part[TN_GRAPH_PICKS];
    return model ? (uint64_t)model->main->values[model->main->inputs[0]].type.shape.dims[1] : 0;
}

static void lay_out(struct layout *l, const struct tn_native_program *program, struct tn_workspace *w)
{
    uint64_t rows = program->piece_rows, most = rows > TN_PICK_ROWS ? rows : TN_PICK_ROWS, width = picked_width(program), picked = 0;
    uint64_t given = 0;
    if (!tn_mul64(width, TN_PICK_ROWS, &picked) || !tn_mul64(program->graph.given_width, rows, &given)) l->overflow = true;
    w->ids = take(l, rows, sizeof(int32_t));
    w->types = take(l, rows, sizeof(int32_t));
    w->positions = take(l, rows, sizeof(int32_t));
    w->offsets = take(l, rows + 1, sizeof(int32_t));
    w->spans = take(l, rows, sizeof(struct tn_span));
    w->sequences = take(l, rows, sizeof(uint32_t));
    w->picks = take(l, rows, sizeof(int32_t));
    w->pick_of = take(l, rows, sizeof(uint32_t));
    w->pick_to = take(l, rows, sizeof(uint32_t));
    w->finite = take(l, most, sizeof(uint8_t));
    w->picked = l->overflow ? NULL : take(l, picked, sizeof(float));
    w->given = l->overflow ? NULL : take(l, given, sizeof(float));
}

bool tn_workspace_bytes(const struct tn_native_program *program, size_t *bytes)
{
    struct layout l = {0};
    struct tn_workspace ignored;
    lay_out(&l, program, &ignored);
    *bytes = l.at;
    return !l.overflow;
}

enum tn_status tn_workspace_new(const struct tn_instance *instance, unsigned threads, struct tn_workspace *out, struct tn_error *err)
{
    size_t bytes;
    enum tn_status st = TN_OK;
    *out = (struct tn_workspace){0};
    if (tn_workspace_bytes(instance->program, &bytes)) out->block = tn_malloc_aligned(instance->alloc, bytes, 64);
    if (!out->block) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the workspace");
    struct layout l = {.base = out->block};
    lay_out(&l, instance->program, out);
    for (uint32_t i = 0; !st && i < TN_GRAPH_PARTS; i++) {
        if (instance->parts[i]) st = tn_exec_context_new(instance->parts[i], threads, &out->contexts[i], err);
    }
    return st;
}

void tn_workspace_release(struct tn_workspace *w, struct tn_alloc *alloc)
{
    for (uint32_t i = 0; i < TN_GRAPH_PARTS; i++) tn_exec_context_free(w->contexts[i]);
    tn_free(alloc, w->block);
    *w = (struct tn_workspace){0};
}

/* ---- running ------------------------------------------------------------------------------------------------------ */

struct run {
    const struct tn_native_program *program;
    struct tn_workspace *w;
    const struct tn_invocation *call;
    unsigned threads;
    uint32_t first_pick, picks; /* of the piece's picked rows, those that are run now */
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

static bool watch(void *user, const struct tn_node *node, struct tn_tensor *const *out)
{
    const struct run *r = user;
    if (r->call->tap) r->call->tap(r->call->tap_user, node->name, out[0]->data, (size_t)out[0]->dims[0], (size_t)out[0]->dims[1]);
    return !nobody_waits(r);
}

/* One call of a part. Operands are memory of the workspace. *out NULL: nobody waits any more, or a failure. */
static enum tn_status run_part(struct run *r, uint32_t part, struct tn_tensor *const *in, uint32_t in_count, struct tn_tensor **out)
{
    struct tn_exec_context *context = r->w->contexts[part];
    enum tn_status st = TN_OK;
    *out = NULL;
    for (uint32_t i = 0; i < in_count; i++) {
        if (!in[i]) st = TN_INSUFFICIENT_MEMORY;
    }
    tn_exec_threads(context, r->threads);
    tn_exec_watch(context, r->call->tap || r->call->cancel ? watch : NULL, r);
    if (!st) st = tn_exec_run(context, in, out, NULL, NULL, NULL);
    tn_exec_watch(context, NULL, NULL);
    for (uint32_t i = 0; i < in_count; i++) tn_tensor_drop(in[i]);
    return st == TN_CANCELLED ? TN_OK : st;
}

static enum tn_status run_tokens(struct run *r, struct tn_tensor **out)
{
    struct tn_heap *heap = tn_exec_heap(r->w->contexts[TN_GRAPH_TOKENS]);
    struct tn_workspace *w = r->w;
    const int64_t rows = w->rows, ends = (int64_t)w->count + 1, spans[2] = {w->count, 3};
    const int64_t given[2] = {rows, (int64_t)r->program->graph.given_width};
    struct tn_tensor *in[TN_GRAPH_INPUTS + 1] = {
        [TN_IN_IDS] = tn_tensor_foreign(heap, TN_EL_I32, 1, &rows, w->ids),
        [TN_IN_TYPES] = tn_tensor_foreign(heap, TN_EL_I32, 1, &rows, w->types),
        [TN_IN_POSITIONS] = tn_tensor_foreign(heap, TN_EL_I32, 1, &rows, w->positions),
        [TN_IN_OFFSETS] = tn_tensor_foreign(heap, TN_EL_I32, 1, &ends, w->offsets),
        [TN_IN_SPANS] = tn_tensor_foreign(heap, TN_EL_I32, 2, spans, w->spans),
        [TN_IN_GIVEN] = given[1] ? tn_tensor_foreign(heap, TN_EL_F32, 2, given, w->given) : NULL,
    };
    return run_part(r, TN_GRAPH_TOKENS, in, TN_GRAPH_INPUTS + (given[1] > 0), out);
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

static void set_statuses(const struct run *r, uint8_t status)
{
    for (uint32_t i = 0; i < r->w->count; i++) r->call->status[r->w->sequences[i]] = status;
}

static bool all_finite(const uint8_t *finite, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (!finite[i]) return false;
    }
    return true;
}

/* Rows of the piece to their places in the invocation: one of each sequence, or those of its tokens. */
static void deliver(const struct run *r, const struct tn_tensor *out)
{
    size_t width = (size_t)out->dims[1];
    bool by_token = r->program->graph.output_dim == TN_DIM_ROWS;
    const float *rows = out->data;
    r->program->kernels->rows_finite(rows, width, (size_t)out->dims[0], width, r->w->finite, 0, 1);
    for (uint32_t i = 0; i < r->w->count; i++) {
        uint32_t sequence = r->w->sequences[i];
        size_t first = by_token ? (size_t)r->w->offsets[i] : i, end = by_token ? (size_t)r->w->offsets[i + 1] : i + 1;
        size_t to = by_token ? (size_t)r->call->offsets[sequence] : sequence;
        r->call->status[sequence] = all_finite(r->w->finite, first, end) ? TN_ITEM_DONE : TN_ITEM_NOT_FINITE;
        memcpy(r->call->out + to * width, rows + first * width, (end - first) * width * sizeof(float));
    }
}

/* Picked rows to their places; a sequence is as finite as all of its rows. */
static void deliver_picks(const struct run *r, const struct tn_tensor *out)
{
    size_t width = (size_t)out->dims[1];
    const float *rows = out->data;
    r->program->kernels->rows_finite(rows, width, r->picks, width, r->w->finite, 0, 1);
    for (uint32_t i = 0; i < r->picks; i++) {
        uint32_t pick = r->first_pick + i;
        if (!r->w->finite[i]) r->call->status[r->w->pick_of[pick]] = TN_ITEM_NOT_FINITE;
        memcpy(r->call->out + (size_t)r->w->pick_to[pick] * width, rows + i * width, width * sizeof(float));
    }
}

/* What follows a pick, a handful of rows at a time. */
static enum tn_status run_picks(struct run *r, const struct tn_tensor *tokens)
{
    size_t width = (size_t)tokens->dims[1];
    struct tn_heap *heap = tn_exec_heap(r->w->contexts[TN_GRAPH_PICKS]);
    set_statuses(r, TN_ITEM_DONE);
    for (r->first_pick = 0; r->first_pick < r->w->pick_count; r->first_pick += r->picks) {
        uint32_t left = r->w->pick_count - r->first_pick;
        r->picks = left < TN_PICK_ROWS ? left : TN_PICK_ROWS;
        for (uint32_t i = 0; i < r->picks; i++) {
            memcpy(r->w->picked + i * width, (const float *)tokens->data + (size_t)r->w->picks[r->first_pick + i] * width, width * sizeof(float));
        }
        const int64_t dims[2] = {r->picks, (int64_t)width};
        struct tn_tensor *out, *in = tn_tensor_foreign(heap, TN_EL_F32, 2, dims, r->w->picked);
        enum tn_status st = run_part(r, TN_GRAPH_PICKS, &in, 1, &out);
        if (st) return st;
        if (!out) {
            set_statuses(r, TN_ITEM_STOPPED);
            return TN_OK;
        }
        deliver_picks(r, out);
        tn_tensor_drop(out);
    }
    return TN_OK;
}

enum tn_status tn_piece_run(struct tn_instance *instance, struct tn_workspace *w, const struct tn_invocation *call, unsigned threads)
{
    struct run r = {.program = instance->program, .w = w, .call = call, .threads = threads};
    struct tn_tensor *out;
    enum tn_status st = run_tokens(&r, &out);
    if (st || !out) {
        set_statuses(&r, TN_ITEM_STOPPED);
        return st;
    }
    if (instance->parts[TN_GRAPH_PICKS]) st = run_picks(&r, out);
    else deliver(&r, out);
    tn_tensor_drop(out);
    return st;
}
