/*
 * Asking through the public functions: one request to its end, one text to ids, one load. What is refused becomes part
 * of the answer; only missing memory and a request to stop end the run.
 */
#include "qualify/suite.h"

#include <string.h>

/* How long one wait for an event lasts before the request to stop is looked at. */
enum { WAIT_MS = 50 };

bool tn_suite_is_fatal(struct tn_suite *s, enum tn_status status)
{
    if (status != TN_INSUFFICIENT_MEMORY && tn_cancel_check(s->env->stop) == TN_OK) return false;
    if (status == TN_OK) return false;
    if (s->err) *s->err = *s->scratch;
    return true;
}

enum tn_status tn_suite_no_memory(struct tn_suite *s)
{
    return tn_error_memory(s->err, TN_PHASE_RECORD, "qualifying");
}

tn_embed_request tn_suite_request(const tn_string *texts, size_t count)
{
    tn_embed_request request = TN_INIT(tn_embed_request);
    request.texts = texts;
    request.count = count;
    return request;
}

tn_plan_options tn_suite_options(const struct tn_suite *s)
{
    tn_plan_options options = TN_INIT(tn_plan_options);
    const tn_plan_options *asked = s->env->plan;
    if (asked) memcpy(&options, asked, asked->struct_size < sizeof(options) ? asked->struct_size : sizeof(options));
    options.struct_size = sizeof(options);
    /* The run makes the evidence, so it cannot ask for it. */
    options.require_level = "recognised"; /* what was withdrawn can be qualified again */
    return options;
}

struct tn_check *tn_suite_check(struct tn_suite *s, const char *id, enum tn_level level, const char *what,
                                const char *why)
{
    return tn_record_check(s->r, id, level, what, why);
}

/* ---- answers ------------------------------------------------------------------------------------------------------ */

void tn_answers_release(struct tn_answers *a)
{
    if (!a->alloc) return;
    tn_free(a->alloc, a->vectors);
    tn_free(a->alloc, a->events);
    *a = (struct tn_answers){0};
}

static void keep_message(struct tn_answers *a, const struct tn_error *err)
{
    if (!a->message[0]) tn_clean_text(a->message, sizeof(a->message), err->primary.message, strlen(err->primary.message));
}

/* False without memory. */
static bool keep_item(const struct tn_suite *s, struct tn_answers *a, const tn_event *event, const struct tn_error *err)
{
    if (event->index >= a->count) return true;
    a->events[event->index] = *event;
    a->events[event->index].embedding = NULL;
    if (event->status) {
        a->failed++;
        keep_message(a, err);
        return true;
    }
    size_t width = s->kind->width(s, event);
    if (!a->vectors) {
        a->dimensions = width;
        a->vectors = tn_calloc(a->alloc, a->count, width * sizeof(float));
        if (!a->vectors) return false;
    }
    if (width == a->dimensions) s->kind->row(event, a->vectors + event->index * width, width);
    if (s->kind->holds && !s->kind->holds(event) && a->disorder == 0) a->disorder = event->index + 1;
    return true;
}

static enum tn_status pull(struct tn_suite *s, tn_execution *execution, struct tn_answers *out)
{
    for (;;) {
        tn_event event;
        enum tn_status status = tn_execution_next(execution, WAIT_MS, &event, s->scratch);
        if (status) {
            out->failure = status;
            keep_message(out, s->scratch);
            return tn_suite_is_fatal(s, status) ? status : TN_OK;
        }
        if (event.kind == TN_EVENT_ITEM && tn_suite_is_fatal(s, event.status)) return event.status;
        if (event.kind == TN_EVENT_ITEM && !keep_item(s, out, &event, s->scratch)) return tn_suite_no_memory(s);
        if (event.kind == TN_EVENT_TERMINAL) {
            /* Failed items are counted already; a request of which some failed has still completed. */
            out->failure = event.status;
            if (event.status) keep_message(out, s->scratch);
            return tn_suite_is_fatal(s, event.status) ? event.status : TN_OK;
        }
        if (event.kind == TN_EVENT_NONE) {
            status = tn_cancel_fail(s->env->stop, TN_PHASE_RECORD, s->err);
            if (status) return status;
        }
    }
}

enum tn_status tn_suite_ask(struct tn_suite *s, tn_session *session, const tn_embed_request *request,
                            struct tn_answers *out)
{
    tn_execution *execution = NULL;
    *out = (struct tn_answers){.alloc = s->alloc, .count = request->count};
    out->events = tn_calloc(s->alloc, request->count, sizeof(*out->events));
    if (!out->events) return tn_suite_no_memory(s);
    enum tn_status status = s->kind->start(session, request, &execution, s->scratch);
    if (status) {
        out->failure = status;
        keep_message(out, s->scratch);
        return tn_suite_is_fatal(s, status) ? status : TN_OK;
    }
    status = pull(s, execution, out);
    tn_execution_free(execution);
    return status;
}

enum tn_status tn_suite_encode(struct tn_suite *s, tn_string text, size_t max_tokens, tn_encoding **out)
{
    tn_encode_request request = TN_INIT(tn_encode_request);
    request.text = text;
    request.max_tokens = max_tokens;
    *out = NULL;
    enum tn_status status = tn_tokenizer_encode(s->tokenizer, &request, out, s->scratch);
    return tn_suite_is_fatal(s, status) ? status : TN_OK;
}

enum tn_status tn_suite_load(struct tn_suite *s, const tn_plan_options *options, tn_session **out)
{
    tn_load_options load = TN_INIT(tn_load_options);
    tn_plan *plan = NULL;
    load.cancel = s->env->cancel;
    *out = NULL;
    enum tn_status status = tn_plan_new(s->env->package, options, &plan, s->scratch);
    if (!status) status = tn_session_load(plan, &load, out, s->scratch);
    tn_plan_free(plan);
    return tn_suite_is_fatal(s, status) ? status : TN_OK;
}
