/* The native provider's row in the table of providers: loading, releasing, and what it says about itself. */
#include "provider/native/native.h"

#include "base/json_write.h"
#include "net/write.h"

#include <string.h>

static struct tn_instance *new_instance(const struct tn_assessment *a, const struct tn_load_env *env)
{
    const struct tn_native_program *program = a->state;
    struct tn_instance *instance = tn_calloc(env->ctx->alloc, 1, sizeof(*instance));
    if (!instance) return NULL;
    instance->assessment = a;
    instance->program = program;
    instance->alloc = env->ctx->alloc;
    instance->pool = env->pool;
    instance->threads = program->threads;
    return instance;
}

void tn_native_release(struct tn_instance *instance)
{
    if (!instance) return;
    tn_texts_release(instance->texts);
    tn_native_net_release(instance);
    for (unsigned i = 0; instance->workspaces && i < instance->threads; i++) tn_workspace_release(&instance->workspaces[i], instance->alloc);
    for (uint32_t i = 0; i < TN_GRAPH_PARTS; i++) {
        tn_program_free(instance->parts[i]);
        if (instance->models[i].ctx) tn_model_give_back(&instance->models[i]);
    }
    tn_free(instance->alloc, instance->workspaces);
    tn_free(instance->alloc, instance);
}

/* The bytes of one part after those of the parts before it. */
struct part_progress {
    const struct tn_load_env *env;
    uint64_t before, part, all;
};

static void report_part(void *user, uint64_t done, uint64_t total)
{
    struct part_progress *p = user;
    p->part = total;
    p->env->progress(p->env->progress_user, p->before + done, p->all > p->before + total ? p->all : p->before + total);
}

static enum tn_status make_parts(struct tn_instance *instance, struct tn_weights *weights, const struct tn_load_env *env, struct tn_error *err)
{
    const struct tn_native_program *program = instance->program;
    const struct tn_graph *g = &program->graph;
    struct part_progress progress = {.env = env};
    enum tn_status st = TN_OK;
    for (uint32_t i = 0; i < g->weight_count; i++) progress.all += g->weights[i].tensor->bytes;
    for (uint32_t i = 0; !st && i < TN_GRAPH_PARTS; i++) {
        struct tn_program_options options = {.pool = env->pool,
                                             .threads = program->threads,
                                             .kernels = program->kernels,
                                             .cancel = env->cancel,
                                             .progress = env->progress ? report_part : NULL,
                                             .progress_user = &progress,
                                             .read = tn_weights_read,
                                             .read_user = weights,
                                             .bounds = i == TN_GRAPH_PICKS ? &program->pick_bound : program->bounds,
                                             .bound_count = i == TN_GRAPH_PICKS ? 1 : 2};
        if (g->part[i]) { /* what a program takes is the session's, although the graph is the plan's */
            tn_model_lend(g->part[i], env->ctx, NULL, &instance->models[i]);
            st = tn_program_new(&instance->models[i], &options, &instance->parts[i], err);
        }
        progress.before += progress.part;
    }
    return st;
}

static enum tn_status make_workspaces(struct tn_instance *instance, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    instance->workspaces = tn_calloc(instance->alloc, instance->threads, sizeof(*instance->workspaces));
    if (!instance->workspaces) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the workspace");
    for (unsigned i = 0; !st && i < instance->threads; i++) {
        st = tn_workspace_new(instance, i ? 1 : instance->threads, &instance->workspaces[i], err);
    }
    return st;
}

enum tn_status tn_native_program_load(struct tn_instance *instance, const struct tn_component_request *request,
                                      const struct tn_load_env *env, struct tn_error *err)
{
    const struct tn_native_program *program = instance->program;
    struct tn_weights weights;
    enum tn_status st = tn_native_check_pairs(program, request->d->inv, env, err);
    if (st) return st;
    st = tn_weights_begin(&weights, &program->graph, request->d->inv, env, program->threads, err);
    if (!st) st = make_parts(instance, &weights, env, err);
    if (!st) st = tn_weights_end(&weights, &instance->digest, err);
    tn_weights_release(&weights);
    return st ? st : make_workspaces(instance, err);
}

static enum tn_status run_graph(void *user, const struct tn_tensor_call *call, struct tn_error *err)
{
    return tn_native_net_run(user, call, err);
}

static enum tn_status native_load(const struct tn_assessment *a, const struct tn_component_request *request,
                                  const struct tn_load_env *env, struct tn_instance **out, struct tn_error *err)
{
    struct tn_instance *instance = new_instance(a, env);
    *out = NULL;
    if (!instance) return tn_error_memory(err, TN_PHASE_LOAD, "loading a component");
    const struct tn_native_program *program = instance->program;
    enum tn_status st = program->net ? tn_native_net_load(instance, request, env, err) : tn_native_program_load(instance, request, env, err);
    if (!st && program->texts) {
        instance->digest = instance->graph->digest;
        st = tn_texts_load(a, program->texts, request, env, run_graph, instance, &instance->texts, &instance->digest, err);
    }
    if (st) tn_native_release(instance);
    else *out = instance;
    return st;
}

static struct tn_digest native_weights(const struct tn_instance *instance)
{
    return instance->graph && !instance->texts ? instance->graph->digest : instance->digest;
}

static void native_describe(const struct tn_provider *p, struct tn_json_writer *w)
{
    struct tn_cpu cpu;
    tn_cpu_detect(&cpu);
    const struct tn_kernels *kernels = tn_kernels_select(&cpu, NULL);
    tn_jw_member_cstr(w, "name", p->name);
    tn_jw_member_cstr(w, "version", p->version);
    tn_jw_member_cstr(w, "scope", p->scope);
    tn_jw_member_bool(w, "present", true);
    tn_jw_member_cstr(w, "kernels", kernels->name);
    tn_jw_member_cstr(w, "isa_class", kernels->isa_class);
    tn_jw_key(w, "numeric");
    tn_jw_begin_array(w);
    tn_jw_cstr(w, "f32");
    if (kernels->bf16) tn_jw_cstr(w, "bf16");
    tn_jw_end_array(w);
    tn_jw_key(w, "available_kernels");
    tn_jw_begin_array(w);
    for (size_t i = 0; tn_kernels_name(i); i++) {
        if (tn_kernels_select(&cpu, tn_kernels_name(i))) tn_jw_cstr(w, tn_kernels_name(i));
    }
    tn_jw_end_array(w);
}

static void native_write(const struct tn_assessment *a, struct tn_json_writer *w)
{
    const struct tn_native_program *program = a->state;
    if (!program || (!program->family && !program->net)) return;
    if (program->net) {
        tn_jw_member_cstr(w, "kernels", program->kernels->name);
        tn_jw_member_cstr(w, "isa_class", program->kernels->isa_class);
        tn_jw_key(w, "dataflow");
        tn_jw_raw(w, program->net->members);
        if (program->texts) tn_texts_write(w, program->texts);
        return;
    }
    tn_jw_member_cstr(w, "family", program->family->name);
    tn_jw_member_cstr(w, "family_version", program->family->version);
    tn_jw_member_cstr(w, "kernels", program->kernels->name);
    tn_jw_member_cstr(w, "isa_class", program->kernels->isa_class);
    if (program->binding.audit) {
        tn_jw_key(w, "audit");
        tn_audit_write(w, &program->binding);
    }
    if (a->decision != TN_ELIGIBLE) return;
    tn_jw_key(w, "graph");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < TN_GRAPH_PARTS; i++) {
        if (program->graph.part[i]) tn_net_write_nodes(w, program->graph.part[i]->main);
    }
    tn_jw_end_array(w);
}

/* What the tensors are to the family, the graphs, and how positions follow from ids. */
void tn_native_graph_fingerprint(const struct tn_graph *g, struct tn_sha256 *h)
{
    for (uint32_t i = 0; i < g->weight_count; i++) {
        tn_sha256_update_str(h, g->weights[i].role);
        for (uint32_t k = 0; k < TN_GRAPH_PARTS; k++) tn_sha256_update_u64(h, g->weights[i].value[k]);
    }
    for (uint32_t i = 0; i < TN_GRAPH_PARTS; i++) {
        if (!g->part[i]) continue;
        struct tn_digest structure = tn_native_net_structure(g->part[i]);
        tn_sha256_update(h, structure.bytes, sizeof(structure.bytes));
    }
    tn_sha256_update_u64(h, g->position_rule);
    tn_sha256_update_u64(h, g->pad_id);
}

static void native_fingerprint(const struct tn_assessment *a, struct tn_sha256 *h)
{
    const struct tn_native_program *program = a->state;
    if (program->net) {
        tn_sha256_update_str(h, tn_str_of(program->kernels->isa_class));
        tn_sha256_update(h, program->net->structure.bytes, sizeof(program->net->structure.bytes));
        tn_sha256_update_u64(h, program->net->without_count);
        for (size_t i = 0; i < program->net->without_count; i++) tn_sha256_update_str(h, tn_str_of(program->net->without[i]));
        if (program->texts) tn_texts_fingerprint(program->texts, h);
        return;
    }
    tn_sha256_update_str(h, tn_str_of(program->family->name));
    tn_sha256_update_str(h, tn_str_of(program->family->version));
    tn_sha256_update_str(h, tn_str_of(program->kernels->isa_class));
    tn_sha256_update_u64(h, program->compute);
    tn_native_graph_fingerprint(&program->graph, h);
}

const struct tn_provider tn_native_provider = {
    .name = "native",
    .version = "1",
    .scope = "component",
    .devices = tn_native_devices,
    .device_count = 1,
    .dtypes = tn_native_dtypes,
    .hint_answers = tn_native_hint_answers,
    .nodes = tn_native_nodes,
    .describe = native_describe,
    .assess = tn_native_assess,
    .forget = tn_native_forget,
    .write = native_write,
    .fingerprint = native_fingerprint,
    .load = native_load,
    .invoke = tn_native_invoke,
    .run = tn_native_net_run,
    .run_told = tn_native_net_run_told,
    .weights = native_weights,
    .release = tn_native_release,
};
