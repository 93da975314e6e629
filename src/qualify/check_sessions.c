/*
 * What one session cannot show: a second load, another number of threads, another precision, what a load takes and what
 * it gives back.
 */
#include "qualify/suite.h"

#include <math.h>
#include <string.h>

/*
 * Sums of bfloat16 products over some hundred terms keep about three decimal digits; the angle to the f32 vector is what
 * search depends on. Layers that amplify rounding would show here first.
 */
#define COSINE_LIMIT 0.9999
#define COSINE_WHY "bfloat16 keeps 8 bits; a cosine of .9999 leaves the order of neighbours intact"
/*
 * The estimate counts the session; the reading also sees the plan, the request and the answer, some 600 KB whatever the
 * package. Decisive for tiny test packages alone.
 */
#define ESTIMATE_SLACK (1024.0 * 1024)

static void memory(const struct tn_suite *s, bool reset, tn_memory_info *out)
{
    *out = TN_INIT(tn_memory_info);
    tn_runtime_memory(s->env->runtime, reset, out);
}

/* Loads with these options, asks for all texts, compares with the first answers. */
static enum tn_status ask_again(struct tn_suite *s, struct tn_check *c, const tn_plan_options *options)
{
    struct tn_answers a = {0};
    tn_session *session = NULL;
    enum tn_status status = tn_suite_load(s, options, &session);
    if (status) return status;
    if (!session) {
        tn_check_fail(c, "loading failed: %s", s->scratch->primary.message);
        return TN_OK;
    }
    tn_embed_request request = tn_suite_request(s->texts, s->count);
    status = tn_suite_ask(s, session, &request, &a);
    if (!status && (a.failure || a.failed || a.dimensions != s->base.dimensions)) {
        tn_check_fail(c, "%zu of %zu texts failed: %s", a.failed, a.count, a.message);
    } else if (!status) {
        struct tn_difference d = tn_compare_rows(a.vectors, s->base.vectors, s->count, s->base.dimensions);
        tn_check_measure(c, "max_abs", d.max_abs);
        if (!d.equal) tn_check_fail(c, "text %zu differs by %s", d.worst_row, TN_F64(d.max_abs));
    }
    tn_answers_release(&a);
    tn_session_free(session);
    return status;
}

static enum tn_status check_threads(struct tn_suite *s)
{
    tn_plan_options options = tn_suite_options(s);
    struct tn_check *c =
        tn_suite_check(s, "threads.one", TN_LEVEL_LOADS, "one thread and several give the same bits", NULL);
    if (!c) return tn_suite_no_memory(s);
    tn_check_measure(c, "threads", (double)s->plan->row->request.threads);
    if (s->plan->row->request.threads == 1) {
        tn_check_skip(c, "the plan uses one thread");
        return TN_OK;
    }
    options.threads = 1;
    return ask_again(s, c, &options);
}

static enum tn_status check_loads(struct tn_suite *s)
{
    tn_plan_options options = tn_suite_options(s);
    struct tn_check *c = tn_suite_check(s, "load.same", TN_LEVEL_LOADS, "a second load gives the same bits", NULL);
    return c ? ask_again(s, c, &options) : tn_suite_no_memory(s);
}

struct cycle {
    uint64_t before, peak, after;
    bool loaded;
};

/* Load, one short request, unload; nothing else is allocated between the readings. */
static enum tn_status run_cycle(struct tn_suite *s, struct cycle *out)
{
    tn_memory_info info;
    tn_session *session = NULL;
    struct tn_answers a = {0};
    tn_plan_options options = tn_suite_options(s);
    memory(s, true, &info);
    out->before = info.current_bytes;
    enum tn_status status = tn_suite_load(s, &options, &session);
    out->loaded = session != NULL;
    if (session) {
        tn_embed_request request = tn_suite_request(&s->texts[3], 1);
        status = tn_suite_ask(s, session, &request, &a);
    }
    memory(s, false, &info);
    out->peak = info.peak_bytes;
    tn_answers_release(&a);
    tn_session_free(session);
    memory(s, false, &info);
    out->after = info.current_bytes;
    return status;
}

static enum tn_status check_unload(struct tn_suite *s, struct cycle *cycle)
{
    enum { CYCLES = 3 };
    struct tn_check *c = tn_suite_check(s, "unload.memory", TN_LEVEL_LOADS,
                                        "loading, a request and unloading leave no byte behind", NULL);
    if (!c) return tn_suite_no_memory(s);
    for (int i = 0; i < CYCLES; i++) {
        enum tn_status status = run_cycle(s, cycle);
        if (status) return status;
        if (!cycle->loaded) tn_check_fail(c, "loading failed: %s", s->scratch->primary.message);
        if (cycle->after != cycle->before) {
            tn_check_fail(c, "cycle %d left %lld bytes", i + 1, (long long)(cycle->after - cycle->before));
        }
    }
    tn_check_measure(c, "cycles", CYCLES);
    return TN_OK;
}

static enum tn_status check_estimate(struct tn_suite *s, const struct cycle *cycle)
{
    const struct tn_memory_estimate *m = &s->plan->row->memory;
    double measured = (double)(cycle->peak - cycle->before), estimate = (double)m->peak;
    struct tn_check *c = tn_suite_check(s, "memory.estimate", TN_LEVEL_DEPLOYMENT_QUALIFIED,
                                        "the plan's estimate of the peak is within its stated uncertainty",
                                        "the plan states it; one MiB covers the plan, the request and the answer themselves");
    if (!c) return tn_suite_no_memory(s);
    tn_check_measure(c, "estimate_bytes", estimate);
    tn_check_measure(c, "measured_peak_bytes", measured);
    tn_check_measure(c, "ratio", measured > 0 ? estimate / measured : 0);
    tn_check_measure(c, "uncertainty", m->uncertainty);
    if (!cycle->loaded) {
        tn_check_skip(c, "nothing was loaded");
    } else if (fabs(estimate - measured) > m->uncertainty * measured + ESTIMATE_SLACK) {
        tn_check_fail(c, "%.0f bytes were estimated and %.0f used", estimate, measured);
    }
    return TN_OK;
}

/* Only for a plan with another precision: how far it is from f32 on the same texts. */
static enum tn_status check_precision(struct tn_suite *s)
{
    struct tn_answers a = {0};
    tn_session *session = NULL;
    tn_plan_options options = tn_suite_options(s);
    if (!s->kind->embeds || s->plan->row->assessment.numeric.compute == TN_COMPUTE_F32) return TN_OK;
    struct tn_check *c =
        tn_suite_check(s, "numeric.cosine", TN_LEVEL_LOADS, "vectors point where those computed in f32 do", COSINE_WHY);
    if (!c) return tn_suite_no_memory(s);
    options.numeric = "f32";
    enum tn_status status = tn_suite_load(s, &options, &session);
    if (!status && !session) tn_check_fail(c, "loading in f32 failed: %s", s->scratch->primary.message);
    if (status || !session) return status;
    tn_embed_request request = tn_suite_request(s->texts, s->count);
    status = tn_suite_ask(s, session, &request, &a);
    if (!status && (a.failure || a.failed || a.dimensions != s->base.dimensions)) {
        tn_check_fail(c, "%zu of %zu texts failed in f32: %s", a.failed, a.count, a.message);
    } else if (!status) {
        struct tn_difference d = tn_compare_rows(s->base.vectors, a.vectors, s->count, a.dimensions);
        tn_check_measure(c, "min_cosine", d.min_cosine);
        tn_check_measure(c, "max_abs", d.max_abs);
        tn_check_measure(c, "limit", COSINE_LIMIT);
        if (!(d.min_cosine >= COSINE_LIMIT)) tn_check_fail(c, "a cosine of %s to f32", TN_F64(d.min_cosine));
    }
    tn_answers_release(&a);
    tn_session_free(session);
    return status;
}

enum tn_status tn_check_sessions(struct tn_suite *s)
{
    struct cycle cycle = {0};
    enum tn_status status = TN_OK;
    if (s->base.vectors && s->base.failed == 0) {
        status = check_threads(s);
        if (!status) status = check_loads(s);
        if (!status) status = check_precision(s);
    }
    /* From here on the session of the other checks is gone, so that its memory does not count. */
    tn_session_free(s->session);
    s->session = NULL;
    if (!status) status = check_unload(s, &cycle);
    if (!status) status = check_estimate(s, &cycle);
    return status;
}
