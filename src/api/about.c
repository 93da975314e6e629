/* What this build and machine offer: doctor, families, tasks. */
#include "api/api.h"

#include "base/os.h"
#include "describe/capabilities.h"

static void write_cpu(struct tn_json_writer *w)
{
    struct tn_cpu cpu;
    tn_cpu_detect(&cpu);
    const struct tn_kernels *best = tn_kernels_select(&cpu, NULL);
    tn_jw_key(w, "cpu");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "brand", cpu.brand);
    tn_jw_member_u64(w, "processors", tn_os_processors());
    tn_jw_member_bool(w, "avx2", cpu.avx2);
    tn_jw_member_bool(w, "avx512", cpu.avx512);
    tn_jw_member_bool(w, "avx512_bf16", cpu.avx512_bf16);
    tn_jw_member_bool(w, "avx512_vnni", cpu.avx512_vnni);
    tn_jw_end_object(w);
    tn_jw_key(w, "kernels");
    tn_jw_begin_object(w);
    tn_jw_key(w, "compiled");
    tn_jw_begin_array(w);
    for (size_t i = 0; tn_kernels_name(i); i++) tn_jw_cstr(w, tn_kernels_name(i));
    tn_jw_end_array(w);
    tn_jw_key(w, "available");
    tn_jw_begin_array(w);
    for (size_t i = 0; tn_kernels_name(i); i++) {
        if (tn_kernels_select(&cpu, tn_kernels_name(i))) tn_jw_cstr(w, tn_kernels_name(i));
    }
    tn_jw_end_array(w);
    tn_jw_member_cstr(w, "used", best->name);
    tn_jw_member_cstr(w, "isa_class", best->isa_class);
    tn_jw_member_bool(w, "bf16", best->bf16);
    tn_jw_end_object(w);
}

static void write_memory(struct tn_json_writer *w, const struct tn_runtime *r)
{
    uint64_t limit = r->alloc.budget;
    tn_jw_key(w, "memory");
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "machine_bytes", tn_os_memory_total());
    tn_jw_member_u64(w, "available_bytes", tn_os_memory_available());
    tn_jw_key(w, "limit_bytes");
    if (limit == UINT64_MAX) {
        tn_jw_null(w);
    } else {
        tn_jw_u64(w, limit);
    }
    tn_jw_member_u64(w, "held_bytes", tn_alloc_current(&r->alloc));
    tn_jw_end_object(w);
}

static void write_providers(struct tn_json_writer *w, const struct tn_runtime *runtime)
{
    size_t count;
    const struct tn_provider_entry *entries = tn_provider_entries(runtime, &count);
    tn_jw_key(w, "providers");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < count; i++) {
        tn_jw_begin_object(w);
        if (entries[i].provider) {
            entries[i].provider->describe(entries[i].provider, w);
        } else {
            tn_jw_member_cstr(w, "name", entries[i].name);
            tn_jw_member_bool(w, "present", false);
            tn_jw_member_cstr(w, "why", entries[i].why_absent);
        }
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

/* What this runtime has done since it was made. */
static void write_counters(struct tn_json_writer *w, struct tn_counters *c)
{
    tn_jw_key(w, "counters");
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "plans", c->plans);
    tn_jw_member_u64(w, "loads", c->loads);
    tn_jw_member_u64(w, "fallbacks_at_plan", c->fallbacks_at_plan);
    tn_jw_member_u64(w, "fallbacks_at_load", c->fallbacks_at_load);
    tn_jw_member_u64(w, "fallbacks_denied", c->fallbacks_denied);
    tn_jw_member_u64(w, "precision_changes", c->precision_changes);
    tn_jw_end_object(w);
}

static void write_limits(struct tn_json_writer *w, const struct tn_limits *limits)
{
    tn_jw_key(w, "limits");
    tn_jw_begin_object(w);
#define X(field, value) tn_jw_member_u64(w, #field, limits->field);
    TN_LIMITS_LIST(X)
#undef X
    tn_jw_end_object(w);
}

TN_API tn_status tn_doctor(tn_runtime *runtime, tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    char system[128];
    if (out) *out = NULL;
    if (!runtime) return tn_null_argument(err, TN_PHASE_RUNTIME, "runtime");
    if (!out) return tn_null_argument(err, TN_PHASE_RUNTIME, "out");
    tn_os_describe(system, sizeof(system));
    tn_document_begin(&b, runtime);
    tn_jw_begin_object(&b.w);
    tn_jw_member_cstr(&b.w, "version", tn_version());
    tn_jw_member_cstr(&b.w, "system", system);
    tn_jw_member_u64(&b.w, "threads", runtime->threads);
    write_cpu(&b.w);
    write_memory(&b.w, runtime);
    tn_jw_member_cstr(&b.w, "cache_folder", runtime->cache_folder);
    tn_jw_member_cstr(&b.w, "state_folder", runtime->state_folder);
    write_providers(&b.w, runtime);
    write_counters(&b.w, &runtime->counters);
    write_limits(&b.w, &runtime->ctx.limits);
    tn_jw_key(&b.w, "experiments");
    tn_jw_begin_array(&b.w);
    tn_jw_end_array(&b.w);
    tn_jw_end_object(&b.w);
    return tn_document_finish(&b, TN_OK, out, err);
}

/* {"NAME": [...]} from a function that writes an array. */
static tn_status list_document(struct tn_runtime *runtime, const char *name, void (*write)(struct tn_json_writer *w),
                               tn_document **out, struct tn_error *err)
{
    struct tn_document_builder b;
    if (out) *out = NULL;
    if (!runtime) return tn_null_argument(err, TN_PHASE_RUNTIME, "runtime");
    if (!out) return tn_null_argument(err, TN_PHASE_RUNTIME, "out");
    tn_document_begin(&b, runtime);
    tn_jw_begin_object(&b.w);
    tn_jw_key(&b.w, name);
    write(&b.w);
    tn_jw_end_object(&b.w);
    return tn_document_finish(&b, TN_OK, out, err);
}

TN_API tn_status tn_families(tn_runtime *runtime, tn_document **out, tn_error *err)
{
    return list_document(runtime, "families", tn_families_write, out, err);
}

TN_API tn_status tn_tasks(tn_runtime *runtime, tn_document **out, tn_error *err)
{
    return list_document(runtime, "tasks", tn_tasks_write, out, err);
}

TN_API tn_status tn_capabilities(tn_runtime *runtime, tn_document **out, tn_error *err)
{
    return list_document(runtime, "capabilities", tn_capabilities_write, out, err);
}
