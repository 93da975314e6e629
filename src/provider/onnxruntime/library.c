/*
 * Finding the library, and what it is. It is trusted once it has been opened: whoever names the path, or fills the loader's
 * places, has said so. What is checked is whether it is the library that we think, in a version that we know.
 *
 * The order of answers: not there, no library, another library (it lacks the one symbol), too old, too new. A newer version
 * than the tests have run with is refused like an older one: a number that nobody has compared is no evidence.
 */
#include "provider/onnxruntime/ort.h"

#include <stdio.h>
#include <string.h>

static const char *const usual_names[] = {"libonnxruntime.so.1", "libonnxruntime.so"};

#define REMEDY "`make deps-onnxruntime` fetches one; TENON_ONNXRUNTIME, or onnxruntime_library of the runtime's options, names it"

static struct tn_finding *refuse(struct tn_ort *ort, enum tn_status code, const char *format, ...) __attribute__((format(printf, 3, 4)));

static struct tn_finding *refuse(struct tn_ort *ort, enum tn_status code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tn_finding_begin(&ort->absent, TN_BLOCKER, code, TN_PHASE_ASSESS, format, args);
    va_end(args);
    tn_at_option(&ort->absent, "provider");
    ort->state = TN_ORT_ABSENT;
    return &ort->absent;
}

/* ---- the file ------------------------------------------------------------------------------------------------------- */

static void *open_usual(struct tn_ort *ort)
{
    char why[2][256];
    for (size_t i = 0; i < 2; i++) {
        void *library = tn_os_library_open(usual_names[i], why[i], sizeof(why[i]));
        if (library) snprintf(ort->file, sizeof(ort->file), "%s", usual_names[i]);
        if (library) return library;
    }
    struct tn_finding *f = refuse(ort, TN_PROVIDER_UNAVAILABLE, "the library of ONNX Runtime is not installed");
    tn_found(f, "%s", why[0]);
    tn_expected(f, "%s or %s where the system's loader looks, or a path", usual_names[0], usual_names[1]);
    tn_remedy(f, "%s", REMEDY);
    return NULL;
}

static void *open_path(struct tn_ort *ort)
{
    char why[256] = "";
    struct tn_file_info info = {.kind = TN_FILE_MISSING};
    struct tn_finding *f = NULL;
    int failed = tn_os_stat(ort->path, true, &info);
    if (failed) {
        f = refuse(ort, TN_PROVIDER_UNAVAILABLE, "the library of ONNX Runtime cannot be looked at");
        tn_found(f, "%s: %s", ort->path, tn_os_error_text(failed, why, sizeof(why)));
    } else if (info.kind == TN_FILE_MISSING) {
        f = refuse(ort, TN_PROVIDER_UNAVAILABLE, "the library of ONNX Runtime is not where it was said to be");
        tn_found(f, "nothing at %s", ort->path);
    } else if (info.kind != TN_FILE_REGULAR) {
        f = refuse(ort, TN_PROVIDER_UNAVAILABLE, "what was named as the library of ONNX Runtime is no library");
        tn_found(f, "%s is %s", ort->path, info.kind == TN_FILE_DIRECTORY ? "a folder" : "no ordinary file");
    }
    if (f) {
        tn_expected(f, "the path of libonnxruntime.so");
        tn_remedy(f, "%s", REMEDY);
        return NULL;
    }
    void *library = tn_os_library_open(ort->path, why, sizeof(why));
    if (library) {
        snprintf(ort->file, sizeof(ort->file), "%s", ort->path);
        return library;
    }
    f = refuse(ort, TN_PROVIDER_UNAVAILABLE, "what was named as the library of ONNX Runtime is no library that can be loaded here");
    tn_found(f, "%s", why);
    tn_expected(f, "a shared library for this machine");
    tn_remedy(f, "%s", REMEDY);
    return NULL;
}

/* ---- the version ---------------------------------------------------------------------------------------------------- */

/* "1.32.0" into 32; false for any other form. */
static bool minor_of(const char *version, unsigned *minor)
{
    unsigned n = 0, digits = 0;
    if (!version || version[0] != '1' || version[1] != '.') return false;
    for (const char *at = version + 2; *at >= '0' && *at <= '9' && digits < 4; at++, digits++) n = n * 10 + (unsigned)(*at - '0');
    *minor = n;
    return digits > 0 && digits < 4;
}

static void refuse_version(struct tn_ort *ort, const char *what)
{
    struct tn_finding *f = refuse(ort, TN_VERSION_UNQUALIFIED, "this version of ONNX Runtime is %s", what);
    tn_found(f, "version %s of %s", ort->version, ort->file);
    tn_expected(f, "1.%d to 1.%d, which the tests have run with", TN_ORT_OLDEST, TN_ORT_NEWEST);
    tn_remedy(f, "%s", REMEDY);
}

static void fill_table(struct tn_ort_api *api, const void *const *table, unsigned version)
{
#define X(since, place, name, type, parameters)                                                                         \
    if (version >= since) memcpy(&api->name, &table[place], sizeof(api->name));
    TN_ORT_FUNCTION_LIST(X)
#undef X
}

static bool take_version(struct tn_ort *ort, const struct tn_ort_base *base)
{
    const char *version = base->version ? base->version() : NULL;
    snprintf(ort->version, sizeof(ort->version), "%s", version ? version : "unknown");
    if (!minor_of(version, &ort->minor)) {
        refuse_version(ort, "of no form that we know");
        return false;
    }
    if (ort->minor < TN_ORT_OLDEST || ort->minor > TN_ORT_NEWEST) {
        refuse_version(ort, ort->minor < TN_ORT_OLDEST ? "too old" : "newer than any that was tested");
        return false;
    }
    const void *const *table = base->table(ort->minor);
    if (!table) {
        refuse_version(ort, "without the interface that it should have");
        return false;
    }
    fill_table(&ort->api, table, ort->minor);
    return true;
}

/* ---- what it offers --------------------------------------------------------------------------------------------------- */

static void list_devices(struct tn_ort *ort)
{
    char **names = NULL;
    int count = 0;
    tn_ort_ignore(&ort->api, ort->api.devices(&names, &count));
    for (int i = 0; names && i < count && ort->device_count < TN_ORT_DEVICES; i++)
        snprintf(ort->devices[ort->device_count++], sizeof(ort->devices[0]), "%s", names[i]);
    if (names) tn_ort_ignore(&ort->api, ort->api.devices_release(names, count));
}

bool tn_ort_has_device(const struct tn_ort *ort, const char *name)
{
    for (unsigned i = 0; i < ort->device_count; i++)
        if (strcmp(ort->devices[i], name) == 0) return true;
    return false;
}

static void find(struct tn_ort *ort)
{
    char why[256];
    const struct tn_ort_base *(*base)(void) = NULL;
    void *library = ort->path ? open_path(ort) : open_usual(ort);
    if (!library) return;
    void *symbol = tn_os_library_symbol(library, "OrtGetApiBase", why, sizeof(why));
    memcpy(&base, &symbol, sizeof(base));
    if (!base) {
        struct tn_finding *f = refuse(ort, TN_PROVIDER_UNAVAILABLE, "the library is another one than ONNX Runtime");
        tn_found(f, "%s without the symbol OrtGetApiBase", ort->file);
        tn_expected(f, "libonnxruntime.so");
        tn_remedy(f, "%s", REMEDY);
        tn_os_library_close(library);
        return;
    }
    if (!take_version(ort, base())) return;
    const char *build = ort->api.build ? ort->api.build() : NULL;
    snprintf(ort->build, sizeof(ort->build), "%s", build ? build : "");
    list_devices(ort);
    ort->state = TN_ORT_PRESENT;
    ort->provider.version = ort->version;
}

const struct tn_ort_api *tn_ort_library(struct tn_ort *ort, const struct tn_finding **why)
{
    tn_mutex_lock(&ort->lock);
    if (ort->state == TN_ORT_UNTRIED) find(ort);
    bool present = ort->state == TN_ORT_PRESENT;
    tn_mutex_unlock(&ort->lock);
    if (!present && why) *why = &ort->absent;
    return present ? &ort->api : NULL;
}

/* ---- the environment -------------------------------------------------------------------------------------------------- */

/* Another user of the library in this process may have registered memory before: then ours goes uncounted. */
static void count_memory(struct tn_ort *ort)
{
    tn_ort_host_init(ort);
    struct tn_ort_status *status = ort->api.memory_info_cpu(TN_ORT_DEVICE_ALLOCATOR, TN_ORT_MEMORY_DEFAULT, &ort->info);
    if (!status) status = ort->api.allocator_register(ort->env, &ort->host.table);
    ort->counted = status == NULL;
    if (status) tn_log(ort->ctx, TN_LOG_WARNING, "memory of ONNX Runtime is not counted: %s", ort->api.text_of(status));
    tn_ort_ignore(&ort->api, status);
}

/*
 * One environment serves a process, whoever asked first: a logger given with it would be called after the runtime of the first
 * one has gone. So the environment is silent, and each session has a log of its own.
 */
enum tn_status tn_ort_env_take(struct tn_ort *ort, struct tn_ort_env **out, struct tn_error *err)
{
    struct tn_ort_status *status = NULL;
    tn_mutex_lock(&ort->lock);
    if (ort->env_users == 0) {
        status = ort->api.env_new(tn_ort_log_nothing, NULL, TN_ORT_LOG_FATAL, "tenon", &ort->env);
        if (!status) tn_ort_ignore(&ort->api, ort->api.telemetry_off(ort->env));
        if (!status) count_memory(ort);
    }
    if (!status) ort->env_users++;
    *out = ort->env;
    tn_mutex_unlock(&ort->lock);
    return tn_ort_fail(&ort->api, status, TN_PHASE_LOAD, false, err);
}

void tn_ort_env_drop(struct tn_ort *ort)
{
    tn_mutex_lock(&ort->lock);
    if (--ort->env_users == 0) {
        if (ort->counted) tn_ort_ignore(&ort->api, ort->api.allocator_forget(ort->env, ort->info));
        ort->api.env_release(ort->env);
        ort->api.memory_info_release(ort->info);
        ort->counted = false;
        ort->env = NULL;
        ort->info = NULL;
    }
    tn_mutex_unlock(&ort->lock);
}
