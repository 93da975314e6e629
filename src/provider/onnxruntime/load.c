/*
 * A session of the library. It gets the bytes that we have read from the file that we hold open, never a path: what was
 * checked, hashed and loaded are the same bytes, and a file that is exchanged meanwhile changes nothing. Files of external
 * data are handed over in the same way, in memory, under the names that the graph has for them; the library copies both, so
 * that ours is gone once the session is there.
 */
#include "provider/onnxruntime/ort.h"

#include "base/checked.h"
#include "provider/native/identity.h"

#include <stdio.h>
#include <string.h>

/* The library reads a message of at most this. */
#define MOST_MODEL_BYTES (UINT64_C(2) << 30)

/* Bytes of the package while a session is made. */
struct reading {
    struct tn_instance *instance;
    const struct tn_assessment *assessment;
    const struct tn_component_request *request;
    const struct tn_load_env *env;
    struct tn_error *err;
    char *model;
    size_t model_size;
    uint32_t file_count;
    const char **names; /* of external data */
    char **bytes;
    size_t *sizes;
};

static enum tn_status no_memory(struct reading *r)
{
    return tn_error_memory(r->err, TN_PHASE_LOAD, "reading a graph for ONNX Runtime");
}

/* ---- files -------------------------------------------------------------------------------------------------------- */

/* In pieces, so that a cancel is noticed. */
static enum tn_status read_file(struct reading *r, const struct tn_package_file *file, char **out, size_t *size)
{
    enum { PIECE = 8 << 20 };
    struct tn_os_file open;
    enum tn_status st = tn_inventory_open_file(r->request->d->inv, file, &open, r->err);
    if (st) return st;
    struct tn_source source = tn_source_of_file(&open, file->path);
    *size = (size_t)file->size;
    *out = file->size < SIZE_MAX ? tn_malloc_aligned(r->env->ctx->alloc, *size ? *size : 1, 64) : NULL;
    if (!*out) st = no_memory(r);
    for (uint64_t at = 0; !st && at < file->size; at += PIECE) {
        size_t n = file->size - at < PIECE ? (size_t)(file->size - at) : PIECE;
        st = tn_cancel_fail(r->env->cancel, TN_PHASE_LOAD, r->err);
        if (!st) st = tn_source_read(&source, at, *out + at, n, TN_PHASE_LOAD, r->err);
    }
    tn_os_close(&open);
    return st;
}

static enum tn_status read_externals(struct reading *r)
{
    const struct tn_onnx_view *view = r->request->graph->view;
    const struct tn_inventory *inv = r->request->d->inv;
    struct tn_arena *arena = &r->instance->arena;
    enum tn_status st = TN_OK;
    if (view->location_count == 0) return TN_OK;
    r->names = tn_arena_array(arena, view->location_count, sizeof(*r->names));
    r->bytes = tn_arena_array(arena, view->location_count, sizeof(*r->bytes));
    r->sizes = tn_arena_array(arena, view->location_count, sizeof(*r->sizes));
    if (!r->names || !r->bytes || !r->sizes) return no_memory(r);
    for (uint32_t i = 0; !st && i < view->location_count; i++) {
        struct tn_str name = view->locations[i].name, path;
        st = tn_package_reference(arena, tn_package_folder(view->file), name, &path, r->err);
        const struct tn_package_file *file = st ? NULL : tn_inventory_file(inv, path);
        if (!st && !file) tn_error_set(r->err, st = TN_ARTIFACT_MISSING, TN_PHASE_LOAD, "a file of external data is no longer in the package");
        r->names[i] = st ? NULL : tn_arena_strndup(arena, name.s, name.n);
        if (!st && !r->names[i]) st = no_memory(r);
        r->file_count = i + 1;
        if (!st) st = read_file(r, file, &r->bytes[i], &r->sizes[i]);
    }
    return st;
}

static void free_files(struct reading *r)
{
    struct tn_alloc *alloc = r->env->ctx->alloc;
    for (uint32_t i = 0; i < r->file_count; i++) tn_free(alloc, r->bytes[i]);
    tn_free(alloc, r->model);
    r->file_count = 0;
    r->model = NULL;
}

/* The identity of the weights, from the bytes that will be loaded. */
static enum tn_status identify(struct reading *r)
{
    struct tn_str holder;
    struct tn_model *model = NULL;
    struct tn_findings findings;
    struct tn_native_constants constants = {NULL, 0, 0};
    struct tn_instance *instance = r->instance;
    const struct tn_context *ctx = r->env->ctx;
    struct tn_source source = tn_source_of_memory(r->model, r->model_size, r->request->graph->file->path, &holder);
    tn_findings_init(&findings, ctx->alloc, (size_t)ctx->limits.findings);
    enum tn_status st = tn_model_import_lent(ctx, r->request->d->inv, &source, r->request->graph->view, &findings, &model, r->err);
    if (!st) st = tn_error_from_findings(r->err, &findings);
    if (!st && !model) tn_error_set(r->err, st = TN_RUNTIME_FAILURE, TN_PHASE_LOAD, "the graph cannot be read a second time");
    if (!st && !tn_native_net_constants(model->main, &model->arena, &constants)) st = no_memory(r);
    if (!st) {
        st = tn_native_net_weights(model, &instance->program->structure, &constants, r->request->d->variant, instance->program->threads, r->env,
                                   &instance->digest, r->err);
    }
    if (!st && !tn_ort_told_choose(instance, r->request, model->main)) st = no_memory(r);
    tn_model_free(model);
    tn_findings_release(&findings);
    return st;
}

/* ---- ports -------------------------------------------------------------------------------------------------------- */

static bool take_ports(struct tn_arena *arena, const struct tn_onnx_port *const *list, const struct tn_onnx_port *array, uint32_t count, struct tn_ort_port **out)
{
    struct tn_ort_port *ports = tn_arena_array(arena, (size_t)count + 1, sizeof(*ports));
    for (uint32_t i = 0; ports && i < count; i++) {
        const struct tn_onnx_port *p = list ? list[i] : &array[i];
        ports[i] = (struct tn_ort_port){.name = tn_arena_strndup(arena, p->name.s, p->name.n), .port = p};
        if (!ports[i].name) return false;
        bool fixed = p->kind == TN_ONNX_PORT_TENSOR && p->rank_known && p->rank <= TN_RANK && p->element != TN_EL_STRING && p->element != 0;
        for (uint32_t k = 0; fixed && k < p->rank; k++) {
            fixed = p->dims[k].kind == TN_ONNX_DIM_VALUE && p->dims[k].value > 0;
            ports[i].dims[k] = p->dims[k].value;
        }
        ports[i].fixed = fixed;
        ports[i].rank = p->rank;
    }
    *out = ports;
    return ports != NULL;
}

static enum tn_status make_ports(struct reading *r)
{
    struct tn_instance *x = r->instance;
    const struct tn_graph_facts *g = r->request->graph;
    x->input_count = g->input_count;
    x->output_count = g->view->output_count;
    size_t in = (size_t)x->input_count + 1, out = (size_t)x->output_count + 1;
    bool good = take_ports(&x->arena, g->inputs, NULL, x->input_count, &x->inputs) &&
                take_ports(&x->arena, NULL, g->view->outputs, x->output_count, &x->outputs);
    x->in_names = tn_arena_array(&x->arena, in, sizeof(*x->in_names));
    x->in_values = tn_arena_array(&x->arena, in, sizeof(*x->in_values));
    x->out_names = tn_arena_array(&x->arena, out, sizeof(*x->out_names));
    x->out_values = tn_arena_array(&x->arena, out, sizeof(*x->out_values));
    x->bound = tn_arena_array(&x->arena, out, sizeof(*x->bound));
    x->out_ports = tn_arena_array(&x->arena, out, sizeof(*x->out_ports));
    good = good && x->in_names && x->in_values && x->out_names && x->out_values && x->bound && x->out_ports;
    return good ? TN_OK : no_memory(r);
}

/* ---- the session ---------------------------------------------------------------------------------------------------- */

static struct tn_ort_status *set_device(const struct reading *r, struct tn_ort_session_options *o)
{
    const struct tn_ort_api *api = r->instance->api;
    const struct tn_ort_program *p = r->instance->program;
    if (!p->device) return NULL;
    struct tn_ort_status *status = tn_ort_add_device(api, o, p->device, &r->request->device);
    if (!status && p->strict) status = api->options_entry(o, "session.disable_cpu_ep_fallback", "1");
    return status;
}

static struct tn_ort_status *set_options(struct reading *r, struct tn_ort_session_options *o)
{
    const struct tn_instance *x = r->instance;
    const struct tn_ort_api *api = x->api;
    struct tn_ort_status *status = api->options_log(o, tn_ort_log, (void *)(uintptr_t)(const void *)r->env->ctx);
    if (!status) status = api->options_log_level(o, r->env->ctx->log ? TN_ORT_LOG_WARNING : TN_ORT_LOG_FATAL);
    if (!status) status = api->options_intra(o, (int)x->program->threads);
    if (!status) status = api->options_inter(o, 1);
    if (!status) status = api->options_execution(o, TN_ORT_SEQUENTIAL);
    if (!status) status = api->options_optimization(o, x->program->plain ? TN_ORT_OPTIMIZE_NONE : TN_ORT_OPTIMIZE_ALL);
    if (!status) status = api->options_pattern_on(o);
    if (!status) status = api->options_arena_off(o);
    if (!status && x->ort->counted) status = api->options_entry(o, "session.use_env_allocators", "1");
    if (!status && api->assignment) status = api->options_entry(o, "session.record_ep_graph_assignment_info", "1");
    if (!status && r->file_count) status = api->options_files(o, r->names, r->bytes, r->sizes, r->file_count);
    return status;
}

/* What it ends with, in order: a stop that was asked for, memory that was refused, what the library says. */
static enum tn_status outcome(struct reading *r, struct tn_ort_status *status, bool fired)
{
    struct tn_instance *x = r->instance;
    enum tn_status st = status && fired ? tn_cancel_fail(r->env->cancel, TN_PHASE_LOAD, r->err) : TN_OK;
    if (!st && status && x->memory.refused) st = tn_error_memory(r->err, TN_PHASE_LOAD, "loading a graph into ONNX Runtime");
    if (st) {
        tn_ort_ignore(x->api, status);
        return st;
    }
    st = tn_ort_fail(x->api, status, TN_PHASE_LOAD, false, r->err);
    if (st && r->err) tn_at_file(&r->err->primary, r->request->graph->file->path);
    return st;
}

static enum tn_status open_session(struct reading *r)
{
    struct tn_instance *x = r->instance;
    const struct tn_ort_api *api = x->api;
    struct tn_ort_session_options *o = NULL;
    enum tn_status st = tn_ort_fail(api, api->options_new(&o), TN_PHASE_LOAD, false, r->err);
    if (!st) st = tn_ort_fail(api, set_options(r, o), TN_PHASE_LOAD, false, r->err);
    if (!st) {
        struct tn_ort_status *status = set_device(r, o);
        st = tn_ort_fail(api, status, TN_PHASE_LOAD, false, r->err);
        if (st && r->err) r->err->primary.code = st = TN_PLACEMENT_REFUSED;
    }
    if (!st) {
        tn_ort_watch_begin_call(&x->watch, r->env->cancel, NULL, o);
        tn_ort_enter(x->ort, &x->memory);
        struct tn_ort_status *status = api->session_new(x->env, r->model, r->model_size, o, &x->session);
        tn_ort_leave(x->ort);
        st = outcome(r, status, tn_ort_watch_end_call(&x->watch));
    }
    if (o) api->options_release(o);
    if (!st) st = tn_ort_fail(api, api->run_options_new(&x->run_options), TN_PHASE_LOAD, false, r->err);
    return st;
}

/* The graph's ports are as many there as here; else names would be mixed up. */
static enum tn_status check_ports(struct reading *r)
{
    const struct tn_instance *x = r->instance;
    size_t in = 0, out = 0;
    struct tn_ort_status *status = x->api->input_count(x->session, &in);
    if (!status) status = x->api->output_count(x->session, &out);
    enum tn_status st = tn_ort_fail(x->api, status, TN_PHASE_LOAD, false, r->err);
    if (st || out == x->output_count + x->told_added) return st;
    struct tn_finding *f = tn_error_set(r->err, TN_RUNTIME_FAILURE, TN_PHASE_LOAD, "ONNX Runtime sees other ports than the graph has");
    tn_found(f, "%zu inputs, %zu outputs", in, out);
    return TN_RUNTIME_FAILURE;
}

/* ---- the transaction ------------------------------------------------------------------------------------------------ */

static enum tn_status run_graph(void *user, const struct tn_tensor_call *call, struct tn_error *err)
{
    return tn_ort_run(user, call, err);
}

static enum tn_status load(struct reading *r)
{
    struct tn_instance *x = r->instance;
    const struct tn_package_file *file = r->request->graph->file;
    if (file->size >= MOST_MODEL_BYTES) {
        struct tn_finding *f = tn_error_set(r->err, TN_RESOURCE_LIMIT, TN_PHASE_LOAD, "the file is larger than ONNX Runtime reads at once");
        tn_found(f, "%llu bytes", (unsigned long long)file->size);
        tn_expected(f, "less than 2 GiB, with weights as external data");
        return TN_RESOURCE_LIMIT;
    }
    enum tn_status st = make_ports(r);
    if (!st) st = tn_ort_env_take(x->ort, &x->env, r->err);
    if (!st && !tn_ort_watch_start(&x->watch, x->api)) st = no_memory(r);
    if (!st) st = read_file(r, file, &r->model, &r->model_size);
    if (!st) st = read_externals(r);
    if (!st) st = identify(r);
    if (!st && !tn_ort_told_append(x, r->env->ctx->alloc, &r->model, &r->model_size)) st = no_memory(r);
    if (!st) st = tn_cancel_fail(r->env->cancel, TN_PHASE_LOAD, r->err);
    if (!st) st = open_session(r);
    if (!st) st = check_ports(r);
    if (!st && !tn_ort_see_partitions(x, r->request)) st = no_memory(r);
    free_files(r);
    x->memory.loading = false;
    if (!st && x->program->through) {
        st = tn_texts_load(r->assessment, x->program->through, r->request, r->env, run_graph, x, &x->through, &x->digest, r->err);
    }
    return st;
}

enum tn_status tn_ort_load(const struct tn_assessment *a, const struct tn_component_request *request, const struct tn_load_env *env,
                           struct tn_instance **out, struct tn_error *err)
{
    const struct tn_ort_program *p = a->state;
    struct tn_instance *x = tn_calloc(env->ctx->alloc, 1, sizeof(*x));
    *out = NULL;
    if (!x) return tn_error_memory(err, TN_PHASE_LOAD, "loading a graph into ONNX Runtime");
    x->ort = p->ort;
    x->api = &p->ort->api;
    x->program = p;
    x->ctx = env->ctx;
    tn_arena_init(&x->arena, env->ctx->alloc);
    tn_heap_init(&x->heap, env->ctx->alloc);
    x->have_memory = tn_ort_memory_init(&x->memory, env->ctx->alloc);
    struct reading r = {.instance = x, .assessment = a, .request = request, .env = env, .err = err};
    enum tn_status st = x->have_memory ? load(&r) : tn_error_memory(err, TN_PHASE_LOAD, "loading a graph into ONNX Runtime");
    if (st) tn_ort_unload(x);
    else *out = x;
    return st;
}

void tn_ort_unload(struct tn_instance *x)
{
    if (!x) return;
    struct tn_alloc *alloc = x->ctx->alloc;
    tn_texts_release(x->through);
    tn_ort_watch_end(&x->watch);
    if (x->run_options) x->api->run_options_release(x->run_options);
    if (x->session) x->api->session_release(x->session);
    if (x->env) tn_ort_env_drop(x->ort);
    if (x->have_memory) tn_ort_memory_release(&x->memory);
    tn_heap_release(&x->heap);
    tn_arena_release(&x->arena);
    tn_free(alloc, x);
}
