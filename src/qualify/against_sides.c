/* The two sides of a comparison: what each is, and its answer by the public functions. */
#include "qualify/against.h"

#include "base/os.h"
#include "session/session.h"

#include <string.h>

/* ---- what was written --------------------------------------------------------------------------------------------- */

static enum tn_status refuse(struct tn_str found, const char *message, const char *expected, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "%s", message);
    tn_at_option(f, "providers");
    tn_found(f, "%.*s", TN_FMT_ARG(found));
    tn_expected(f, "%s", expected);
    return TN_INVALID_REQUEST;
}

static struct tn_str cut(struct tn_str *rest, char at)
{
    size_t n = 0;
    while (n < rest->n && rest->s[n] != at) n++;
    struct tn_str part = {rest->s, n};
    rest->s += n < rest->n ? n + 1 : n;
    rest->n -= n < rest->n ? n + 1 : n;
    while (part.n > 0 && part.s[0] == ' ') part.s++, part.n--;
    while (part.n > 0 && part.s[part.n - 1] == ' ') part.n--;
    return part;
}

/* A copy in which '+' stands for ','. */
static char *value_of(struct tn_arena *arena, struct tn_str s)
{
    char *copy = tn_arena_strndup(arena, s.s, s.n);
    for (char *p = copy; p && *p; p++)
        if (*p == '+') *p = ',';
    return copy;
}

static bool read_threads(const char *text, unsigned *out)
{
    unsigned n = 0;
    for (; *text >= '0' && *text <= '9' && n < 10000; text++) n = n * 10 + (unsigned)(*text - '0');
    if (*text || n == 0) return false;
    *out = n;
    return true;
}

static enum tn_status read_option(struct tn_against *a, struct tn_party *side, struct tn_str text, struct tn_error *err)
{
    struct tn_str rest = text, name = cut(&rest, '=');
    char *value = value_of(&a->arena, rest);
    const struct {
        const char *name;
        const char **to;
    } texts[] = {{"without", &side->options.without},     {"numeric", &side->options.numeric}, {"device", &side->options.device},
                 {"placement", &side->options.placement}, {"hints", &side->options.hints},     {"allow_code", &side->options.allow_code}};
    if (!value) return tn_error_memory(err, TN_PHASE_REQUEST, "reading the providers");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (!tn_str_is(name, texts[i].name) || !*value) continue;
        *texts[i].to = value;
        return TN_OK;
    }
    if (tn_str_is(name, "threads") && read_threads(value, &side->options.threads)) return TN_OK;
    return refuse(text, "an option of a provider that is compared cannot be read",
                  "without=NAME+NAME, numeric=f32|bf16, threads=N, device=NAME, placement=strict|split or allow_code=SHA256", err);
}

static enum tn_status read_side(struct tn_against *a, struct tn_party *side, struct tn_str text, struct tn_error *err)
{
    struct tn_str rest = text, name = cut(&rest, ':');
    enum tn_status st = TN_OK;
    side->text = tn_arena_str(&a->arena, text);
    side->options.provider = tn_arena_strndup(&a->arena, name.s, name.n);
    if (!side->text.s || !side->options.provider) return tn_error_memory(err, TN_PHASE_REQUEST, "reading the providers");
    if (name.n == 0) return refuse(text, "a provider that is compared has no name", "e.g. \"native,onnxruntime\"", err);
    while (!st && rest.n > 0) st = read_option(a, side, cut(&rest, ':'), err);
    return st;
}

enum tn_status tn_against_read_sides(struct tn_against *a, struct tn_error *err)
{
    const tn_compare_options *o = a->env->options;
    struct tn_str rest = tn_str_of(o->providers ? o->providers : ""), whole = rest;
    for (unsigned i = 0; i < 2; i++) {
        a->side[i].options = (tn_plan_options){.struct_size = sizeof(tn_plan_options)};
        if (o->plan) {
            size_t size = o->plan->struct_size < sizeof(tn_plan_options) ? o->plan->struct_size : sizeof(tn_plan_options);
            memcpy(&a->side[i].options, o->plan, size);
            a->side[i].options.struct_size = sizeof(tn_plan_options);
        }
        if (o->record && !a->side[i].options.require_level) a->side[i].options.require_level = "recognised"; /* evidence is what is made here */
        a->side[i].options.fallback = "plan"; /* with one provider each there is nobody to fall back to */
        struct tn_str part = cut(&rest, ',');
        if (part.n == 0) return refuse(whole, "two providers are compared", "e.g. \"native,onnxruntime\" or \"native,native:without=all\"", err);
        enum tn_status st = read_side(a, &a->side[i], part, err);
        if (st) return st;
    }
    if (rest.n) return refuse(whole, "more than two providers cannot be compared", "two of them", err);
    if (!tn_str_eq(a->side[0].text, a->side[1].text)) return TN_OK;
    return refuse(whole, "a provider is compared with itself", "two providers, or one with other options", err);
}

/* ---- asking --------------------------------------------------------------------------------------------------------- */

static enum tn_status load(struct tn_against *a, struct tn_party *side, struct tn_error *err)
{
    tn_load_options load = TN_INIT(tn_load_options);
    load.cancel = a->env->options->cancel;
    enum tn_status st = tn_session_load(side->plan, &load, &side->session, err);
    if (st) return st;
    side->weights = side->session->weights;
    side->session->teller = side->teller;
    return TN_OK;
}

static enum tn_status start(struct tn_against *a, struct tn_party *side, struct tn_error *err)
{
    const tn_compare_options *o = a->env->options;
    if (!o->tensors) return tn_request_start(side->session, o->request ? o->request : "", o->request_length, &side->execution, err);
    tn_tensor_request r;
    size_t size = o->tensors->struct_size < sizeof(r) ? o->tensors->struct_size : sizeof(r);
    memset(&r, 0, sizeof(r));
    memcpy(&r, o->tensors, size);
    r.struct_size = sizeof(r);
    r.timeout_ms = o->timeout_ms;
    r.sequence = NULL; /* a sequence belongs to a session */
    return tn_tensor_start(side->session, &r, &side->execution, err);
}

static bool keep_event(struct tn_against *a, struct tn_party *side, const tn_event *e)
{
    size_t n = side->event_count;
    if ((n & (n - 1)) == 0) {
        tn_event *more = tn_realloc(a->alloc, side->events, (n ? 2 * n : 1) * sizeof(*more));
        if (!more) return false;
        side->events = more;
    }
    side->events[side->event_count++] = *e;
    return true;
}

/* Waits in slices, so that a request to stop is seen. */
enum { SLICE_MS = 100 };

static enum tn_status pull(struct tn_against *a, struct tn_party *side, struct tn_error *err)
{
    for (;;) {
        tn_event e;
        enum tn_status st = tn_execution_next(side->execution, SLICE_MS, &e, err);
        if (!st && a->env->stop && tn_cancel_check(a->env->stop)) tn_execution_cancel(side->execution);
        if (st) return st;
        if (e.kind == TN_EVENT_NONE) continue;
        if (e.status) return e.status; /* err has the reason; an item that fails cannot be compared */
        if (e.kind == TN_EVENT_TERMINAL) break;
        if (!keep_event(a, side, &e)) return tn_error_memory(err, TN_PHASE_EXECUTE, "comparing providers");
    }
    return tn_execution_drain(side->execution, UINT32_MAX, err);
}

enum tn_status tn_party_answer(struct tn_against *a, struct tn_party *side, struct tn_error *err)
{
    enum tn_status st = load(a, side, err);
    uint64_t begun = tn_os_monotonic_ns();
    if (!st) st = start(a, side, err);
    if (!st) st = pull(a, side, err);
    side->answer_ns = tn_os_monotonic_ns() - begun;
    if (side->session) side->session->teller = NULL;
    tn_session_free(side->session); /* answers live as long as the execution; one model at a time is in memory */
    side->session = NULL;
    return st;
}

void tn_party_release(struct tn_against *a, struct tn_party *side)
{
    tn_execution_free(side->execution);
    tn_session_free(side->session);
    tn_plan_free(side->plan);
    tn_free(a->alloc, side->events);
    side->events = NULL;
    side->execution = NULL;
    side->session = NULL;
    side->plan = NULL;
}
