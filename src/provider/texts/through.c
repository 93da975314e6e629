/*
 * Texts through a graph and what follows it: the graph's rows of an invocation, then the package's modules over them. Where
 * there are no modules the rows are the result.
 */
#include "provider/texts/texts.h"

#include "base/checked.h"
#include "base/json_write.h"

#include <string.h>

struct tn_texts {
    struct tn_text_runner runner;
    struct tn_instance *tail; /* NULL: the graph's rows are the result */
    struct tn_alloc *alloc;
    float *rows;              /* [row_cap, width] of one invocation */
    uint8_t *status;
    size_t row_cap, status_cap;
};

/* ---- before weights ----------------------------------------------------------------------------------------------- */

static enum tn_status assess_tail(struct tn_texts_plan *plan, const struct tn_component_request *r, struct tn_assessment *a, struct tn_error *err)
{
    const struct tn_text_graph *g = &plan->graph;
    a->output_width = g->width;
    a->output_by_row = !g->whole && !r->picked;
    a->output_picked = r->picked;
    a->estimate.workspace_bytes += tn_text_graph_bytes(g);
    enum tn_status st = tn_native_tail_assess(r, g->width, a, &plan->tail, err);
    if (plan->tail) a->estimate.workspace_bytes += r->batch_rows * g->width * sizeof(float);
    return st;
}

enum tn_status tn_texts_assess(const struct tn_component_request *r, struct tn_assessment *a, struct tn_texts_plan **out, struct tn_error *err)
{
    struct tn_texts_plan *plan = *out = tn_arena_alloc(&a->arena, sizeof(*plan));
    if (!plan) return tn_error_memory(err, TN_PHASE_ASSESS, "assessing a component");
    *plan = (struct tn_texts_plan){.tail = NULL};
    tn_text_graph_make(&plan->graph, r, &a->findings);
    enum tn_status st = a->findings.blockers ? TN_OK : assess_tail(plan, r, a, err);
    if (a->findings.blockers) a->decision = TN_UNSUPPORTED;
    return st;
}

void tn_texts_forget(struct tn_texts_plan *plan)
{
    if (plan && plan->tail) tn_native_tail_release(plan->tail);
}

void tn_texts_write(struct tn_json_writer *w, const struct tn_texts_plan *plan)
{
    tn_text_graph_write(w, &plan->graph);
    if (!plan->tail) return;
    tn_jw_key(w, "graph");
    tn_jw_begin_array(w);
    tn_native_tail_write(w, plan->tail);
    tn_jw_end_array(w);
}

void tn_texts_fingerprint(const struct tn_texts_plan *plan, struct tn_sha256 *h)
{
    tn_text_graph_fingerprint(&plan->graph, h);
    if (plan->tail) tn_native_tail_fingerprint(plan->tail, h);
}

/* ---- loaded ------------------------------------------------------------------------------------------------------- */

static void add_weights(struct tn_digest *graph, const struct tn_digest *tail)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR("tenon.weights.texts/1"));
    tn_sha256_update(&h, graph->bytes, sizeof(graph->bytes));
    tn_sha256_update(&h, tail->bytes, sizeof(tail->bytes));
    *graph = tn_sha256_finish(&h);
}

enum tn_status tn_texts_load(const struct tn_assessment *a, const struct tn_texts_plan *plan, const struct tn_component_request *r,
                             const struct tn_load_env *env, tn_graph_run_fn *run, void *user, struct tn_texts **out, struct tn_digest *weights,
                             struct tn_error *err)
{
    struct tn_alloc *alloc = env->ctx->alloc;
    struct tn_digest tail;
    struct tn_texts *t = tn_calloc(alloc, 1, sizeof(*t));
    *out = NULL;
    if (!t) return tn_error_memory(err, TN_PHASE_LOAD, "loading a component");
    t->alloc = alloc;
    enum tn_status st = tn_text_runner_init(&t->runner, &plan->graph, run, user, alloc, err);
    if (!st && plan->tail) st = tn_native_tail_load(a, plan->tail, r, env, &t->tail, &tail, err);
    if (!st && t->tail) add_weights(weights, &tail);
    if (st) tn_texts_release(t);
    else *out = t;
    return st;
}

void tn_texts_release(struct tn_texts *t)
{
    if (!t) return;
    tn_text_runner_release(&t->runner);
    tn_native_release(t->tail);
    tn_free(t->alloc, t->rows);
    tn_free(t->alloc, t->status);
    tn_free(t->alloc, t);
}

/* ---- calls -------------------------------------------------------------------------------------------------------- */

/* Room for the rows of an invocation, kept for the next one. */
static bool make_room(struct tn_texts *t, size_t rows, size_t sequences)
{
    size_t floats, bytes;
    if (rows > t->row_cap) {
        tn_free(t->alloc, t->rows);
        t->row_cap = 0;
        bool fits = tn_mul(rows, (size_t)t->runner.texts->width, &floats) && tn_mul(floats, sizeof(float), &bytes);
        t->rows = fits ? tn_malloc_aligned(t->alloc, bytes, 64) : NULL;
        if (!t->rows) return false;
        t->row_cap = rows;
    }
    if (sequences > t->status_cap) {
        tn_free(t->alloc, t->status);
        t->status_cap = 0;
        t->status = tn_malloc(t->alloc, sequences);
        if (!t->status) return false;
        t->status_cap = sequences;
    }
    return true;
}

/* What did not run leaves no rows: whatever lay there must not become numbers that somebody trusts. */
static void clear_rows(struct tn_texts *t, const struct tn_invocation *call)
{
    size_t width = (size_t)t->runner.texts->width;
    for (uint32_t s = 0; s < call->sequences; s++) {
        size_t first = (size_t)(call->offsets[s] - call->offsets[0]), end = (size_t)(call->offsets[s + 1] - call->offsets[0]);
        if (call->status[s] != TN_ITEM_DONE) memset(t->rows + first * width, 0, (end - first) * width * sizeof(float));
    }
}

enum tn_status tn_texts_invoke(struct tn_texts *t, const struct tn_invocation *call, struct tn_error *err)
{
    size_t rows = (size_t)(call->offsets[call->sequences] - call->offsets[0]);
    if (!t->tail) return tn_text_runner_invoke(&t->runner, call, NULL, err);
    if (!make_room(t, rows, call->sequences)) return tn_error_memory(err, TN_PHASE_EXECUTE, "running an invocation");
    enum tn_status st = tn_text_runner_invoke(&t->runner, call, t->rows, err);
    if (st) return st;
    clear_rows(t, call);
    memcpy(t->status, call->status, call->sequences);
    struct tn_invocation behind = *call;
    behind.given = t->rows;
    st = tn_native_invoke(t->tail, &behind, err);
    for (uint32_t s = 0; !st && s < call->sequences; s++) {
        if (t->status[s] != TN_ITEM_DONE) call->status[s] = t->status[s];
    }
    return st;
}
