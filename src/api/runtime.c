/*
 * The runtime: allocator, limits, log, folders, and the pool that all sessions share. The pool's threads start with the
 * first load: inspecting and planning need none. Folders are made by whoever first writes to them.
 */
#include "api/api.h"

#include "base/os.h"

#include <string.h>

/* Moves the account to its final place; nobody else knows either struct yet. */
static void move_account(struct tn_alloc *to, const struct tn_alloc *from)
{
    tn_alloc_init(to);
    to->allocate = from->allocate;
    to->release = from->release;
    to->context = from->context;
    to->current = from->current;
    to->peak = from->peak;
    to->blocks = from->blocks;
    to->calls = from->calls;
    to->budget = from->budget;
}

static enum tn_status refuse_limit(struct tn_error *err, const char *name)
{
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_RUNTIME, "no limit of this name exists");
    tn_at_option(f, "limits");
    tn_found(f, "%s", name ? name : "NULL");
    tn_expected(f, "a name of the list that tn_doctor prints");
    return TN_INVALID_REQUEST;
}

static uint64_t *limit_of(struct tn_limits *limits, const char *name)
{
#define X(field, value)                                                                            \
    if (strcmp(name, #field) == 0) return &limits->field;
    TN_LIMITS_LIST(X)
#undef X
    return NULL;
}

static enum tn_status set_limits(struct tn_limits *limits, const tn_runtime_options *o, struct tn_error *err)
{
    *limits = tn_limits_default();
    if (o->limit_count > 0 && !o->limits) return refuse_limit(err, NULL);
    for (size_t i = 0; i < o->limit_count; i++) {
        uint64_t *limit = o->limits[i].name ? limit_of(limits, o->limits[i].name) : NULL;
        if (!limit) return refuse_limit(err, o->limits[i].name);
        *limit = o->limits[i].value;
    }
    return TN_OK;
}

static enum tn_status check(const tn_runtime_options *o, struct tn_limits *limits, struct tn_error *err)
{
    struct tn_finding *f;
    if (!o->allocate != !o->release) {
        f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_RUNTIME, "allocate and release come both or not at all");
        tn_at_option(f, o->allocate ? "release" : "allocate");
        return TN_INVALID_REQUEST;
    }
    enum tn_status st = set_limits(limits, o, err);
    if (st) return st;
    if (o->threads > limits->threads) {
        f = tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_RUNTIME, "more threads are asked for than the limit allows");
        tn_at_option(f, "threads");
        tn_found(f, "%u", o->threads);
        tn_expected(f, "at most %llu", (unsigned long long)limits->threads);
        return TN_RESOURCE_LIMIT;
    }
    return TN_OK;
}

static bool copy_folder(struct tn_runtime *r, const char *folder, char **out)
{
    if (!folder || !*folder) return true;
    *out = tn_strndup(&r->alloc, folder, strlen(folder));
    return *out != NULL;
}

static void destroy(struct tn_runtime *r)
{
    struct tn_alloc alloc;
    tn_providers_release(r);
    tn_pool_free(r->pool);
    tn_free(&r->alloc, r->cache_folder);
    tn_free(&r->alloc, r->state_folder);
    move_account(&alloc, &r->alloc);
    tn_free(&alloc, r);
}

enum tn_status tn_short_of_memory(const struct tn_alloc *alloc, enum tn_status st, struct tn_error *err)
{
    uint64_t refused = tn_alloc_refused(alloc), budget = alloc->budget;
    if (st != TN_INSUFFICIENT_MEMORY || !err || refused <= budget || err->primary.found[0]) return st;
    tn_found(&err->primary, "a memory limit of %llu bytes", (unsigned long long)budget);
    tn_expected(&err->primary, "at least %llu bytes to get beyond this point", (unsigned long long)refused);
    tn_remedy(&err->primary,
              "raise the memory limit; reading a package's documents takes a few times their size, some MiB for most");
    return st;
}

TN_API tn_status tn_runtime_new(const tn_runtime_options *options, tn_runtime **out, tn_error *err)
{
    tn_runtime_options o;
    struct tn_limits limits;
    struct tn_alloc alloc;
    if (!out) return tn_null_argument(err, TN_PHASE_RUNTIME, "out");
    *out = NULL;
    enum tn_status st = tn_read_options(&o, sizeof(o), options, "tn_runtime_options", err);
    if (!st) st = check(&o, &limits, err);
    if (st) return st;
    tn_alloc_init(&alloc);
    alloc.allocate = o.allocate;
    alloc.release = o.release;
    alloc.context = o.allocator_user;
    if (o.memory_limit) alloc.budget = o.memory_limit;
    struct tn_runtime *r = tn_calloc(&alloc, 1, sizeof(*r));
    if (!r) return tn_short_of_memory(&alloc, tn_error_memory(err, TN_PHASE_RUNTIME, "making the runtime"), err);
    move_account(&r->alloc, &alloc);
    tn_ref_init(&r->ref);
    r->threads = o.threads ? o.threads : tn_cpu_count();
    r->ctx = (struct tn_context){.alloc = &r->alloc, .limits = limits, .log = o.log, .log_user = o.log_user};
    if (r->threads > r->ctx.limits.threads) r->threads = (unsigned)r->ctx.limits.threads;
    const char *library = o.onnxruntime_library && *o.onnxruntime_library ? o.onnxruntime_library : NULL;
    if (!copy_folder(r, o.cache_folder, &r->cache_folder) || !copy_folder(r, o.state_folder, &r->state_folder) ||
        !tn_providers_init(r, library) || !tn_mutex_init(&r->lock)) {
        st = tn_short_of_memory(&r->alloc, tn_error_memory(err, TN_PHASE_RUNTIME, "making the runtime"), err);
        destroy(r);
        return st;
    }
    r->ctx.cache_folder = r->cache_folder;
    r->ctx.counters = &r->counters;
    r->records = (struct tn_record_store){&r->ctx, r->state_folder};
    *out = r;
    return TN_OK;
}

void tn_runtime_ref(struct tn_runtime *runtime)
{
    tn_ref_take(&runtime->ref);
}

void tn_runtime_unref(struct tn_runtime *runtime)
{
    if (!tn_ref_drop(&runtime->ref)) return;
    tn_mutex_release(&runtime->lock);
    destroy(runtime);
}

TN_API void tn_runtime_free(tn_runtime *runtime)
{
    if (runtime) tn_runtime_unref(runtime);
}

TN_API void tn_runtime_memory(tn_runtime *runtime, bool reset_peak, tn_memory_info *out)
{
    tn_memory_info info = {0};
    if (runtime) {
        info.current_bytes = tn_alloc_current(&runtime->alloc);
        info.peak_bytes = tn_alloc_peak(&runtime->alloc);
        info.blocks = runtime->alloc.blocks;
    }
    if (runtime && reset_peak) tn_alloc_reset_peak(&runtime->alloc);
    if (!out || out->struct_size < sizeof(size_t)) return;
    info.struct_size = out->struct_size;
    memcpy(out, &info, out->struct_size < sizeof(info) ? out->struct_size : sizeof(info));
}

enum tn_status tn_runtime_pool(struct tn_runtime *runtime, struct tn_pool **out, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    tn_mutex_lock(&runtime->lock);
    if (!runtime->pool) st = tn_pool_new(&runtime->alloc, runtime->threads, &runtime->pool);
    *out = runtime->pool;
    tn_mutex_unlock(&runtime->lock);
    return st ? tn_error_memory(err, TN_PHASE_LOAD, "starting the threads of the pool") : TN_OK;
}

const struct tn_record_store *tn_runtime_records(const struct tn_runtime *runtime)
{
    return runtime->records.folder ? &runtime->records : NULL;
}

#define STRING(x) #x
#define TEXT(x) STRING(x)

TN_API const char *tn_version(void)
{
    return TEXT(TN_VERSION_MAJOR) "." TEXT(TN_VERSION_MINOR) "." TEXT(TN_VERSION_PATCH);
}
