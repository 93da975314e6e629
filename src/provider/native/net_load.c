/*
 * A graph loaded: constants read and packed, one context for calls. The graph itself is the plan's, as assessment has typed
 * and rewritten it; its file, which must still be the one of the inventory, stays open no longer than its weights are needed.
 * Calls of one instance come one at a time (provider.h), so one context serves them all and keeps its memory from call to call.
 */
#include "provider/native/native.h"

#include "exec/patch.h"

#include <stdio.h>

static void close_file(struct tn_native_graph *g)
{
    if (g->open) tn_os_close(&g->file);
    g->open = false;
}

static enum tn_status open_graph(struct tn_native_graph *g, const struct tn_native_net *net, const struct tn_component_request *r,
                                 const struct tn_load_env *env, struct tn_error *err)
{
    enum tn_status st = tn_inventory_open_file(r->d->inv, r->graph->file, &g->file, err);
    if (st) return st;
    g->open = true;
    struct tn_source source = tn_source_of_file(&g->file, r->graph->file->path);
    tn_model_lend(net->model, env->ctx, &source, &g->model);
    return TN_OK;
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
    enum tn_status st = open_graph(g, program->net, r, env, err);
    if (!st) st = tn_native_net_weights(&g->model, &program->net->structure, &program->net->constants, r->d->variant, program->threads, env, &g->digest, err);
    if (!st) st = tn_program_new(&g->model, &options, &g->program, err);
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

/* ---- for comparisons ---- */

struct telling {
    const struct tn_model *model;
    const struct tn_teller *teller;
};

/* "DOMAIN:TYPE", the standard's own domain left out. */
static struct tn_str operator_text(const struct tn_node *node, char *text, size_t cap)
{
    bool standard = node->domain.n == 0 || tn_str_is(node->domain, "ai.onnx");
    int n = !standard ? snprintf(text, cap, "%.*s:%.*s", TN_FMT_ARG(node->domain), TN_FMT_ARG(node->type))
                           : snprintf(text, cap, "%.*s", TN_FMT_ARG(node->type));
    return (struct tn_str){text, n < 0 ? 0 : (size_t)n < cap ? (size_t)n : cap - 1};
}

static bool tell(void *user, const struct tn_node *node, struct tn_tensor *const *out)
{
    const struct telling *t = user;
    const char *patch = tn_net_patch_at(t->model, node->name);
    char text[160];
    for (uint32_t k = 0; k < node->out_count; k++) {
        if (node->out[k] == TN_NET_NONE || !out[k]) continue;
        t->teller->tell(t->teller->user, t->model->main->values[node->out[k]].name, node->name, operator_text(node, text, sizeof(text)),
                        tn_str_of(patch ? patch : ""), out[k]);
    }
    return true;
}

enum tn_status tn_native_net_run_told(struct tn_instance *instance, const struct tn_tensor_call *call, const struct tn_teller *teller,
                                      struct tn_error *err)
{
    struct tn_native_graph *g = instance->graph;
    if (!g) return tn_native_net_run(instance, call, err);
    struct telling t = {&g->model, teller};
    tn_exec_watch(g->context, tell, &t);
    enum tn_status st = tn_exec_run(g->context, call->in, call->out, call->wanted, call->cancel, err);
    tn_exec_watch(g->context, NULL, NULL);
    return st;
}

void tn_native_net_release(struct tn_instance *instance)
{
    struct tn_native_graph *g = instance->graph;
    if (!g) return;
    tn_exec_context_free(g->context);
    tn_program_free(g->program);
    if (g->model.ctx) tn_model_give_back(&g->model);
    close_file(g);
    tn_free(instance->alloc, g);
    instance->graph = NULL;
}
