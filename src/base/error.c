/* Filling and writing tn_error; no function here allocates. */
#include "base/error.h"

#include "base/json_write.h"

#include <string.h>

void tn_error_clear(struct tn_error *err)
{
    if (!err) return;
    memset(&err->primary, 0, sizeof(err->primary));
    err->primary.offset = err->primary.item = -1;
    err->count = err->dropped = 0;
    err->retryable = false;
    err->plan_id[0] = 0;
}

static bool is_retryable(enum tn_status code)
{
    return code == TN_BUSY || code == TN_INSUFFICIENT_MEMORY || code == TN_DEADLINE_EXCEEDED ||
           code == TN_CANCELLED;
}

struct tn_finding *tn_error_set(struct tn_error *err, enum tn_status code, enum tn_phase phase,
                                const char *format, ...)
{
    if (!err) return NULL;
    tn_error_clear(err);
    va_list args;
    va_start(args, format);
    tn_finding_begin(&err->primary, TN_BLOCKER, code, phase, format, args);
    va_end(args);
    err->retryable = is_retryable(code);
    return &err->primary;
}

enum tn_status tn_error_memory(struct tn_error *err, enum tn_phase phase, const char *what)
{
    struct tn_finding *f = tn_error_set(err, TN_INSUFFICIENT_MEMORY, phase, "out of memory while %s", what);
    tn_remedy(f, "raise the memory limit or free memory, then try again");
    return TN_INSUFFICIENT_MEMORY;
}

static void attach(struct tn_error *err, const struct tn_findings *list, bool blockers)
{
    for (size_t i = 0; i < list->count; i++) {
        if ((list->items[i].severity == TN_BLOCKER) != blockers) continue;
        if (err->count == TN_ERROR_FINDINGS) {
            err->dropped++;
        } else {
            err->findings[err->count++] = list->items[i];
        }
    }
}

enum tn_status tn_error_from_findings(struct tn_error *err, const struct tn_findings *list)
{
    if (list->blockers == 0) return TN_OK;
    const struct tn_finding *first = tn_findings_first_blocker(list);
    if (!first && list->starved) return tn_error_memory(err, TN_PHASE_RUNTIME, "collecting findings");
    if (!first) {
        struct tn_finding *f = tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_RUNTIME, "what blocks stands behind more findings than are listed");
        tn_found(f, "%zu findings, and %zu more", list->count, list->dropped);
        return TN_RESOURCE_LIMIT;
    }
    if (!err) return first->code;
    tn_error_clear(err);
    err->primary = *first;
    err->retryable = is_retryable(first->code);
    attach(err, list, true);
    attach(err, list, false);
    err->dropped += list->dropped;
    return first->code;
}

void tn_error_write(struct tn_json_writer *w, const struct tn_error *err)
{
    tn_jw_begin_object(w);
    tn_finding_write_members(w, &err->primary);
    tn_jw_member_bool(w, "retryable", err->retryable);
    if (err->plan_id[0]) tn_jw_member_cstr(w, "plan", err->plan_id);
    tn_jw_key(w, "findings");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < err->count; i++) tn_finding_write(w, &err->findings[i]);
    tn_jw_end_array(w);
    tn_jw_member_u64(w, "dropped_findings", err->dropped);
    tn_jw_end_object(w);
}
