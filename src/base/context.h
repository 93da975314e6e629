/*
 * What every stage needs from the runtime, handed down as data: allocator, limits, log. Lives as long as the runtime.
 * Also the cancel token that long work polls.
 */
#ifndef TN_BASE_CONTEXT_H
#define TN_BASE_CONTEXT_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"

#include <stdatomic.h>

/* What a runtime has done so far; any thread adds. */
struct tn_counters {
    _Atomic uint64_t plans, loads;
    _Atomic uint64_t fallbacks_at_plan, fallbacks_at_load; /* providers that another one stood in for */
    _Atomic uint64_t precision_changes;                    /* plans that compute otherwise than was asked, as was permitted */
    _Atomic uint64_t fallbacks_denied;                     /* failures that no other provider was tried after, though one was listed */
};

struct tn_context {
    struct tn_alloc *alloc;
    struct tn_limits limits;
    tn_log_fn log; /* NULL: silent */
    void *log_user;
    const char *cache_folder; /* private derived files; NULL: none */
    struct tn_counters *counters; /* NULL: nobody counts */
};

/* Says one line; printf-like, cleaned of control characters. Cheap when nobody listens. */
void tn_log(const struct tn_context *ctx, enum tn_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A request to stop, seen by polling. Any thread may set it at any time. */
struct tn_cancel {
    _Atomic bool requested;
    _Atomic uint64_t deadline_ns; /* monotonic; 0: none */
    const struct tn_cancel *also; /* stops when this one does; NULL: none. Outlives it. */
};

/* TN_OK, TN_CANCELLED or TN_DEADLINE_EXCEEDED. NULL never stops. */
enum tn_status tn_cancel_check(const struct tn_cancel *cancel);
/* The same, and fills err. */
enum tn_status tn_cancel_fail(const struct tn_cancel *cancel, enum tn_phase phase, struct tn_error *err);

#endif
