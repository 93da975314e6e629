/*
 * Cancelling: a request that is stopped before and in the middle of its work ends once, gives its memory back, and
 * leaves no trace in the next answer.
 */
#include "qualify/suite.h"

#include <string.h>

enum { REPEATS = 12, DRAIN_MS = 20000, WAIT_MS = 50 };

static uint64_t bytes_now(const struct tn_suite *s)
{
    tn_memory_info info = TN_INIT(tn_memory_info);
    tn_runtime_memory(s->env->runtime, false, &info);
    return info.current_bytes;
}

/* The short texts many times over: long enough to be stopped in the middle. */
static size_t many_texts(const struct tn_suite *s, tn_string *out)
{
    size_t n = 0;
    for (size_t repeat = 0; repeat < REPEATS; repeat++) {
        for (size_t i = 0; i < s->count; i++) out[n++] = s->texts[i];
    }
    return n;
}

struct ending {
    enum tn_status terminal, drained;
    size_t items;
    bool late_event; /* something came after the terminal event */
};

/* Starts, reads `before` items, cancels, reads to the end. */
static enum tn_status cancel_after(struct tn_suite *s, const tn_string *texts, size_t count, size_t before,
                                   struct ending *out)
{
    tn_execution *x = NULL;
    tn_event event;
    bool cancelled = false;
    *out = (struct ending){0};
    tn_embed_request request = tn_suite_request(texts, count);
    request.batch = 2;
    enum tn_status status = s->kind->start(s->session, &request, &x, s->scratch);
    if (status) {
        out->terminal = status;
        return tn_suite_is_fatal(s, status) ? status : TN_OK;
    }
    for (;;) {
        if (!cancelled && out->items >= before) {
            tn_execution_cancel(x);
            cancelled = true;
        }
        status = tn_execution_next(x, WAIT_MS, &event, s->scratch);
        if (!status && event.kind == TN_EVENT_NONE) status = tn_cancel_fail(s->env->stop, TN_PHASE_RECORD, s->scratch);
        /* No memory is no answer to whether cancelling works. */
        if (!status && tn_suite_is_fatal(s, event.status)) status = event.status;
        if (status || event.kind == TN_EVENT_TERMINAL) break;
        if (event.kind == TN_EVENT_ITEM) out->items++;
    }
    if (!status) {
        out->terminal = event.status;
        out->drained = tn_execution_drain(x, DRAIN_MS, s->scratch);
        out->late_event = tn_execution_next(x, 0, &event, s->scratch) == TN_OK && event.kind == TN_EVENT_ITEM;
    }
    tn_execution_free(x);
    return tn_suite_is_fatal(s, status) ? status : TN_OK;
}

static enum tn_status try_cancel(struct tn_suite *s, const char *id, const char *what, size_t before)
{
    tn_string texts[REPEATS * TN_SUITE_TEXTS];
    size_t count = many_texts(s, texts);
    struct ending end;
    struct tn_answers again = {0};
    struct tn_check *c = tn_suite_check(s, id, TN_LEVEL_LOADS, what, NULL);
    if (!c) return tn_suite_no_memory(s);
    uint64_t held = bytes_now(s);
    enum tn_status status = cancel_after(s, texts, count, before, &end);
    uint64_t left = bytes_now(s);
    if (status) return status;
    tn_check_measure(c, "items_before_the_end", (double)end.items);
    tn_check_measure(c, "bytes_left", (double)left - (double)held);
    if (end.terminal == TN_OK && end.items == count) {
        tn_check_skip(c, "all %zu texts were done before the request to stop was seen", count);
    } else if (end.terminal != TN_CANCELLED) {
        tn_check_fail(c, "it ended with %s", tn_status_name(end.terminal));
    }
    if (end.drained) tn_check_fail(c, "draining ended with %s", tn_status_name(end.drained));
    if (end.late_event) tn_check_fail(c, "an item came after the end");
    if (left > held) tn_check_fail(c, "%llu bytes stayed", (unsigned long long)(left - held));
    tn_embed_request request = tn_suite_request(s->texts, s->count);
    status = tn_suite_ask(s, s->session, &request, &again);
    if (!status && (again.failure || again.failed != s->base.failed)) {
        tn_check_fail(c, "the next request failed: %s", again.message);
    } else if (!status && again.dimensions == s->base.dimensions && again.vectors && s->base.vectors &&
               !tn_compare_rows(again.vectors, s->base.vectors, s->count, s->base.dimensions).equal) {
        tn_check_fail(c, "the next request answers otherwise");
    }
    tn_answers_release(&again);
    return status;
}

enum tn_status tn_check_cancel(struct tn_suite *s)
{
    enum tn_status status = try_cancel(s, "cancel.early", "a request that is cancelled at once leaves no trace", 0);
    if (!status) {
        status = try_cancel(s, "cancel.midway", "a request that is cancelled in the middle leaves no trace", 4);
    }
    return status;
}
