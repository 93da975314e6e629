/*
 * A graph loaded: read again from its file, types inferred, constants read and packed, one context for calls. The file
 * stays open no longer than its weights are needed. Calls of one instance come one at a time (provider.h), so one context
 * serves them all and keeps its memory from call to call.
 */
#include "provider/native/native.h"

static void close_file(struct tn_native_graph *g)
{
    if (g->open) tn_os_close(&g->file);
    g->open = false;
}

/* The graph was eligible when the plan was made, and its file is still the same: blockers now are a failure of ours. */
static enum tn_status read_graph(struct tn_native_graph *g, const struct tn_component_request *r, const struct tn_load_env *env,
                                 struct tn_error *err)
{
    struct tn_findings findings;
    tn_findings_init(&findings, env->ctx->alloc, (size_t)env->ctx->limits.findings);
    enum tn_status st = tn_native_net_open(env->ctx, r->d->inv, r->graph, &findings, &g->file, &g->open, &g->model, err);
    if (!st) st = tn_error_from_findings(err, &findings);
    if (!st && !g->model) {
        st = TN_RUNTIME_FAILURE;
        tn_error_set(err, st, TN_PHASE_LOAD, "the graph cannot be read a second time");
    }
    tn_findings_release(&findings);
    return st;
}

enum tn_status tn_native_net_load(struct tn_instance *instance, const struct tn_component_request *r,
                                  const struct tn_load_env *env, struct tn_error *err)
{
    const struct tn_native_program *program = instance->program;
    struct tn_native_graph *g = instance->graph = tn_calloc(instance->alloc, 1, sizeof(*g));
    if (!g) return tn_error_memory(err, TN_PHASE_LOAD, "loading a graph");
    struct tn_program_options options = {.pool = env->pool,
                                         .threads = program->threads,
                                         .kernels = program->kernels,
                                         .without = program->net->without,
                                         .without_count = program->net->without_count,
                                         .cancel = env->cancel,
                                         .progress = env->progress,
                                         .progress_user = env->progress_user};
    enum tn_status st = read_graph(g, r, env, err);
    if (!st) st = tn_native_net_weights(g->model, &program->net->structure, r->d->variant, env->ctx, env->cancel, &g->digest, err);
    if (!st) st = tn_program_new(g->model, &options, &g->program, err);
    if (!st) st = tn_exec_context_new(g->program, 0, &g->context, err);
    close_file(g);
    return st;
}

enum tn_status tn_native_net_run(struct tn_instance *instance, const struct tn_tensor_call *call, struct tn_error *err)
{
    struct tn_native_graph *g = instance->graph;
    if (g) return tn_exec_run(g->context, call->in, call->out, call->wanted, call->cancel, err);
    tn_error_set(err, TN_RUNTIME_FAILURE, TN_PHASE_EXECUTE, "the component takes texts and no tensors");
    return TN_RUNTIME_FAILURE;
}

void tn_native_net_release(struct tn_instance *instance)
{
    struct tn_native_graph *g = instance->graph;
    if (!g) return;
    tn_exec_context_free(g->context);
    tn_program_free(g->program);
    tn_model_free(g->model);
    close_file(g);
    tn_free(instance->alloc, g);
    instance->graph = NULL;
}
