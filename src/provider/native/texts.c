/*
 * A component whose weights are a graph: the graph's calls (net.c), texts through them (provider/texts), and the modules
 * behind its rows (tail.c).
 */
#include "provider/native/native.h"

#include "base/checked.h"

#include <string.h>

struct tn_native_texts {
    struct tn_text_runner runner;
    struct tn_instance *tail; /* NULL: the graph's rows are the result */
    struct tn_alloc *alloc;
    float *rows;              /* [row_cap, width] of one invocation */
    uint8_t *status;
    size_t row_cap, status_cap;
};

/* ---- before weights ----------------------------------------------------------------------------------------------- */

static enum tn_status assess_tail(struct tn_native_program *program, const struct tn_text_graph *t, struct tn_assessment *a,
                                  const struct tn_component_request *r, struct tn_error *err)
{
    a->output_width = t->width;
    a->output_by_row = !t->whole && !r->picked;
    a->output_picked = r->picked;
    a->estimate.workspace_bytes += tn_text_graph_bytes(t);
    enum tn_status st = tn_native_tail_assess(r, t->width, a, &program->tail, err);
    if (!program->tail) return st;
    a->estimate.workspace_bytes += r->batch_rows * t->width * sizeof(float);
    return st;
}

enum tn_status tn_native_texts_assess(struct tn_native_program *program, struct tn_assessment *a, const struct tn_component_request *r,
                                      struct tn_error *err)
{
    enum tn_status st = tn_native_net_assess(program, a, r, err);
    if (st || a->decision != TN_ELIGIBLE) return st;
    struct tn_text_graph *t = tn_arena_alloc(&a->arena, sizeof(*t));
    if (!t) return tn_error_memory(err, TN_PHASE_ASSESS, "assessing a component");
    tn_text_graph_make(t, r, &a->findings);
    program->texts = t;
    if (!a->findings.blockers) st = assess_tail(program, t, a, r, err);
    if (a->findings.blockers) a->decision = TN_UNSUPPORTED;
    return st;
}

/* ---- loaded ------------------------------------------------------------------------------------------------------- */

static enum tn_status run_graph(void *user, const struct tn_tensor_call *call, struct tn_error *err)
{
    return tn_native_net_run(user, call, err);
}

/* Of the graph's weights and of those behind it. */
static struct tn_digest digest_of(const struct tn_instance *instance)
{
    struct tn_sha256 h;
    const struct tn_digest *graph = &instance->graph->digest;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR("tenon.weights.texts/1"));
    tn_sha256_update(&h, graph->bytes, sizeof(graph->bytes));
    tn_sha256_update(&h, instance->texts->tail->digest.bytes, sizeof(instance->texts->tail->digest.bytes));
    return tn_sha256_finish(&h);
}

enum tn_status tn_native_texts_load(struct tn_instance *instance, const struct tn_component_request *r, const struct tn_load_env *env,
                                    struct tn_error *err)
{
    const struct tn_native_program *program = instance->program;
    struct tn_native_texts *t = instance->texts = tn_calloc(instance->alloc, 1, sizeof(*t));
    if (!t) return tn_error_memory(err, TN_PHASE_LOAD, "loading a component");
    t->alloc = instance->alloc;
    enum tn_status st = tn_text_runner_init(&t->runner, program->texts, run_graph, instance, instance->alloc, err);
    if (!st && program->tail) st = tn_native_tail_load(instance->assessment, program->tail, r, env, &t->tail, err);
    if (!st) instance->digest = t->tail ? digest_of(instance) : instance->graph->digest;
    return st;
}

void tn_native_texts_release(struct tn_instance *instance)
{
    struct tn_native_texts *t = instance->texts;
    if (!t) return;
    tn_text_runner_release(&t->runner);
    tn_native_release(t->tail);
    tn_free(t->alloc, t->rows);
    tn_free(t->alloc, t->status);
    tn_free(t->alloc, t);
    instance->texts = NULL;
}

/* ---- calls -------------------------------------------------------------------------------------------------------- */

/* Room for the rows of an invocation, kept for the next one. */
static bool make_room(struct tn_native_texts *t, size_t rows, size_t sequences)
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
static void clear_rows(struct tn_native_texts *t, const struct tn_invocation *call)
{
    size_t width = (size_t)t->runner.texts->width;
    for (uint32_t s = 0; s < call->sequences; s++) {
        size_t first = (size_t)(call->offsets[s] - call->offsets[0]), end = (size_t)(call->offsets[s + 1] - call->offsets[0]);
        if (call->status[s] != TN_ITEM_DONE) memset(t->rows + first * width, 0, (end - first) * width * sizeof(float));
    }
}

enum tn_status tn_native_texts_invoke(struct tn_instance *instance, const struct tn_invocation *call, struct tn_error *err)
{
    struct tn_native_texts *t = instance->texts;
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
