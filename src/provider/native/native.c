/* The native provider's row in the table of providers: loading, releasing, and what it says about itself. */
#include "provider/native/native.h"

#include "base/json_write.h"

#include <string.h>

static enum tn_status allocate_instance(const struct tn_assessment *a, const struct tn_load_env *env,
                                        struct tn_instance **out)
{
    const struct tn_native_program *program = a->state;
    struct tn_alloc *alloc = env->ctx->alloc;
    /* The barrier inside asks for whole cache lines, more than tn_calloc gives. */
    struct tn_instance *instance = tn_malloc_aligned(alloc, sizeof(*instance), _Alignof(struct tn_instance));
    *out = instance;
    if (!instance) return TN_INSUFFICIENT_MEMORY;
    memset(instance, 0, sizeof(*instance));
    instance->assessment = a;
    instance->program = program;
    instance->alloc = alloc;
    instance->pool = env->pool;
    instance->workspaces = tn_calloc(alloc, program->threads, sizeof(*instance->workspaces));
    if (!instance->workspaces) return TN_INSUFFICIENT_MEMORY;
    instance->threads = program->threads;
    for (unsigned i = 0; i < program->threads; i++) {
        enum tn_status status = tn_workspace_new(program, alloc, &instance->workspaces[i]);
        if (status) return status;
    }
    instance->scratch = tn_malloc_aligned(alloc, program->threads * program->scratch_bytes, 64);
    return instance->scratch ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

static void native_release(struct tn_instance *instance)
{
    if (!instance) return;
    tn_native_net_release(instance);
    if (instance->weights.alloc) tn_weights_release(&instance->weights);
    for (unsigned i = 0; i < instance->threads; i++) tn_workspace_release(&instance->workspaces[i], instance->alloc);
    tn_free(instance->alloc, instance->workspaces);
    tn_free(instance->alloc, instance->scratch);
    tn_free(instance->alloc, instance);
}

static enum tn_status load_graph(const struct tn_assessment *a, const struct tn_component_request *request,
                                 const struct tn_load_env *env, struct tn_instance **out, struct tn_error *err)
{
    struct tn_instance *instance = tn_malloc_aligned(env->ctx->alloc, sizeof(*instance), _Alignof(struct tn_instance));
    *out = NULL;
    if (!instance) return tn_error_memory(err, TN_PHASE_LOAD, "loading a graph");
    memset(instance, 0, sizeof(*instance));
    instance->assessment = a;
    instance->program = a->state;
    instance->alloc = env->ctx->alloc;
    instance->pool = env->pool;
    enum tn_status status = tn_native_net_load(instance, request, env, err);
    if (status) native_release(instance);
    else *out = instance;
    return status;
}

static enum tn_status native_load(const struct tn_assessment *a, const struct tn_component_request *request,
                                  const struct tn_load_env *env, struct tn_instance **out, struct tn_error *err)
{
    struct tn_instance *instance;
    const struct tn_native_program *program = a->state;
    if (program->net) return load_graph(a, request, env, out, err);
    enum tn_status status = allocate_instance(a, env, &instance);
    if (status) {
        tn_error_memory(err, TN_PHASE_LOAD, "preparing the workspace");
    } else {
        tn_barrier_init(&instance->barrier, instance->threads);
        status = tn_native_check_pairs(instance->program, request->d->inv, env, err);
        if (!status) status = tn_weights_load(instance->program, request->d->inv, env, &instance->weights, err);
        if (!status) status = tn_execute_fixed(instance, env->cancel, err);
    }
    if (status) {
        native_release(instance);
        instance = NULL;
    }
    *out = instance;
    return status;
}

static struct tn_digest native_weights(const struct tn_instance *instance)
{
    return instance->graph ? instance->graph->digest : instance->weights.digest;
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
    tn_graph_write(w, &program->graph, &program->plan);
}

static void native_fingerprint(const struct tn_assessment *a, struct tn_sha256 *h)
{
    const struct tn_native_program *program = a->state;
    if (program->net) {
        tn_sha256_update_str(h, tn_str_of(program->kernels->isa_class));
        tn_sha256_update(h, program->net->structure.bytes, sizeof(program->net->structure.bytes));
        tn_sha256_update_u64(h, program->net->without_count);
        for (size_t i = 0; i < program->net->without_count; i++) tn_sha256_update_str(h, tn_str_of(program->net->without[i]));
        return;
    }
    tn_sha256_update_str(h, tn_str_of(program->family->name));
    tn_sha256_update_str(h, tn_str_of(program->family->version));
    tn_sha256_update_str(h, tn_str_of(program->kernels->isa_class));
    tn_sha256_update_u64(h, program->compute);
    tn_graph_fingerprint(&program->graph, h);
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
    .write = native_write,
    .fingerprint = native_fingerprint,
    .load = native_load,
    .invoke = tn_native_invoke,
    .run = tn_native_net_run,
    .weights = native_weights,
    .release = native_release,
};
