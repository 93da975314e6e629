/* Logging through the caller's function, and polling of cancel tokens. */
#include "base/context.h"

#include "base/os.h"

#include <stdio.h>
#include <string.h>

void tn_log(const struct tn_context *ctx, enum tn_log_level level, const char *format, ...)
{
    if (!ctx || !ctx->log) return;
    char raw[1024], clean[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    if (n < 0) return;
    tn_clean_text(clean, sizeof(clean), raw, (size_t)n < sizeof(raw) ? (size_t)n : sizeof(raw) - 1);
    ctx->log(ctx->log_user, level, clean, strlen(clean));
}

enum tn_status tn_cancel_check(const struct tn_cancel *cancel)
{
    uint64_t now = 0;
    for (; cancel; cancel = cancel->also) {
        if (atomic_load_explicit(&cancel->requested, memory_order_acquire)) return TN_CANCELLED;
        uint64_t deadline = atomic_load_explicit(&cancel->deadline_ns, memory_order_relaxed);
        if (deadline == 0) continue;
        if (now == 0) now = tn_os_monotonic_ns();
        if (now >= deadline) return TN_DEADLINE_EXCEEDED;
    }
    return TN_OK;
}

enum tn_status tn_cancel_fail(const struct tn_cancel *cancel, enum tn_phase phase, struct tn_error *err)
{
    enum tn_status status = tn_cancel_check(cancel);
    if (status == TN_CANCELLED) {
        tn_error_set(err, status, phase, "cancelled on request");
    } else if (status) {
        struct tn_finding *f = tn_error_set(err, status, phase, "the deadline has passed");
        tn_remedy(f, "allow more time or send less work at once");
    }
    return status;
}
