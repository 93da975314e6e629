/* The row in the table of providers: making it, what it says of itself, and what belongs in a plan and its fingerprint. */
#include "provider/onnxruntime/ort.h"

#include "base/json_write.h"

#include <string.h>

static struct tn_ort *ort_of(const struct tn_provider *p)
{
    return (struct tn_ort *)(uintptr_t)(const void *)p;
}

static bool present(const struct tn_provider *p, const struct tn_finding **why)
{
    return tn_ort_library(ort_of(p), why) != NULL;
}

/* Opens the library: what it is cannot be told otherwise. */
static void describe(const struct tn_provider *p, struct tn_json_writer *w)
{
    struct tn_ort *ort = ort_of(p);
    const struct tn_finding *why = NULL;
    const struct tn_ort_api *api = tn_ort_library(ort, &why);
    tn_jw_member_cstr(w, "name", p->name);
    tn_jw_member_cstr(w, "version", api ? ort->version : NULL);
    tn_jw_member_cstr(w, "scope", p->scope);
    tn_jw_member_bool(w, "present", api != NULL);
    if (!api) {
        tn_jw_member_cstr(w, "why", why->message);
        tn_jw_key(w, "finding");
        tn_finding_write(w, why);
        return;
    }
    tn_jw_member_cstr(w, "library", ort->file);
    tn_jw_member_cstr(w, "build", ort->build);
    tn_jw_member_u64(w, "interface_version", ort->minor);
    tn_jw_key(w, "execution_providers");
    tn_jw_begin_array(w);
    for (unsigned i = 0; i < ort->device_count; i++) tn_jw_cstr(w, ort->devices[i]);
    tn_jw_end_array(w);
}

static void write(const struct tn_assessment *a, struct tn_json_writer *w)
{
    const struct tn_ort_program *p = a->state;
    if (!p || !p->members.s) return;
    tn_jw_member_cstr(w, "isa_class", p->isa_class);
    tn_jw_key(w, "dataflow");
    tn_jw_raw(w, p->members);
    if (p->through) tn_texts_write(w, p->through);
}

static void forget(struct tn_assessment *a)
{
    const struct tn_ort_program *p = a->state;
    tn_texts_forget(p->through);
}

/* Version and build, the options of its sessions, and the processor, which its kernels are chosen by. */
static void fingerprint(const struct tn_assessment *a, struct tn_sha256 *h)
{
    const struct tn_ort_program *p = a->state;
    tn_sha256_update_str(h, tn_str_of(p->ort->version));
    tn_sha256_update_str(h, tn_str_of(p->ort->build));
    tn_sha256_update_str(h, tn_str_of(p->isa_class));
    tn_sha256_update_str(h, tn_str_of(p->device ? p->device : "CPUExecutionProvider"));
    tn_sha256_update_u64(h, p->strict);
    tn_sha256_update_u64(h, p->plain);
    tn_sha256_update(h, p->structure.bytes, sizeof(p->structure.bytes));
    if (p->through) tn_texts_fingerprint(p->through, h);
}

static enum tn_status invoke(struct tn_instance *instance, const struct tn_invocation *call, struct tn_error *err)
{
    if (instance->through) return tn_texts_invoke(instance->through, call, err);
    tn_error_set(err, TN_RUNTIME_FAILURE, TN_PHASE_EXECUTE, "the component takes tensors and no texts");
    return TN_RUNTIME_FAILURE;
}

static struct tn_digest weights(const struct tn_instance *instance)
{
    return instance->digest;
}

static const char *const dtypes[] = {"float32", "fp32", "float16", "fp16", "half", "bfloat16", "bf16", "float64", "int8", "uint8", "int4", "uint4", NULL};

struct tn_ort *tn_ort_new(const struct tn_context *ctx, const char *path)
{
    struct tn_ort *ort = tn_calloc(ctx->alloc, 1, sizeof(*ort));
    if (!ort) return NULL;
    ort->ctx = ctx;
    ort->provider = (struct tn_provider){
        .name = "onnxruntime",
        .version = "none", /* until the library is found */
        .scope = "component",
        .present = present,
        .devices = &tn_hint_cpu,
        .device_count = 1,
        .probe_device = tn_ort_probe_device,
        .dtypes = dtypes,
        .describe = describe,
        .assess = tn_ort_assess,
        .forget = forget,
        .write = write,
        .fingerprint = fingerprint,
        .load = tn_ort_load,
        .invoke = invoke,
        .run = tn_ort_run,
        .run_told = tn_ort_run_told,
        .weights = weights,
        .release = tn_ort_unload,
        .partitions = tn_ort_partitions,
    };
    if (path) ort->path = tn_strndup(ctx->alloc, path, strlen(path));
    if ((!path || ort->path) && tn_mutex_init(&ort->lock)) {
        if (tn_mutex_init(&ort->callers_lock)) return ort;
        tn_mutex_release(&ort->lock);
    }
    tn_free(ctx->alloc, ort->path);
    tn_free(ctx->alloc, ort);
    return NULL;
}

void tn_ort_free(struct tn_ort *ort)
{
    if (!ort) return;
    struct tn_alloc *alloc = ort->ctx->alloc;
    tn_mutex_release(&ort->callers_lock);
    tn_mutex_release(&ort->lock);
    tn_free(alloc, ort->path);
    tn_free(alloc, ort);
}

const struct tn_provider *tn_ort_provider(struct tn_ort *ort)
{
    return &ort->provider;
}
