/*
 * A provider that computes nothing worth having but can be told to block, be deaf to cancelling, fail, and answer
 * wrongly; and a session over it, made without the public interface. The vector of a sequence depends on its ids alone,
 * so that mixed-up sequences show.
 */
#ifndef TN_TEST_SESSION_FAKE_H
#define TN_TEST_SESSION_FAKE_H

#include "base/json_write.h"
#include "base/os.h"
#include "family/family.h"
#include "session/session.h"
#include "test.h"

#include <stdlib.h>

enum { FAKE_WIDTH = 8, FAKE_NAN_ID = 11, FAKE_POISON_ID = 12 };

/* What the provider does; tests set it, any thread reads it. */
struct fake {
    _Atomic bool blocked;      /* invoke waits until this is false */
    _Atomic bool gated;        /* each invoke waits for a permit */
    _Atomic int permits;
    _Atomic bool deaf;         /* ... and does not look at cancels meanwhile */
    _Atomic bool failing;      /* every invoke fails */
    _Atomic bool poisoned;     /* invocations that hold FAKE_POISON_ID fail as a whole */
    _Atomic bool drifting;     /* other bits each time */
    _Atomic bool not_a_number; /* every result */
    _Atomic bool too_wide;     /* one float beyond the result */
    _Atomic bool stops_itself; /* reports sequences as stopped */
    _Atomic bool slow_load;    /* load waits for a cancel */
    _Atomic bool failing_load;
    _Atomic unsigned inside, invocations, sequences, rows, overlaps, loads, releases;
    _Atomic unsigned largest; /* sequences of one invocation */
};

static struct fake fake;

struct tn_instance {
    struct tn_alloc *alloc;
    void *weights;
    unsigned calls;
};

static void fake_describe(const struct tn_provider *p, struct tn_json_writer *w)
{
    tn_jw_member_cstr(w, "name", p->name);
}

static enum tn_status fake_assess(const struct tn_provider *p, const struct tn_component_request *request,
                                  struct tn_assessment *out, struct tn_error *err)
{
    (void)err;
    *out = (struct tn_assessment){.decision = TN_ELIGIBLE, .provider = p, .output_width = FAKE_WIDTH};
    tn_arena_init(&out->arena, request->ctx->alloc);
    tn_findings_init(&out->findings, request->ctx->alloc, 10);
    out->estimate = (struct tn_estimate){1 << 20, 1 << 10, 0, 0.05};
    out->numeric = (struct tn_numeric){TN_STR("f32"), TN_COMPUTE_F32, "f32", "none"};
    return TN_OK;
}

static void fake_write(const struct tn_assessment *a, struct tn_json_writer *w)
{
    (void)a;
    tn_jw_member_cstr(w, "isa_class", "fake-isa");
}

static void fake_fingerprint(const struct tn_assessment *a, struct tn_sha256 *h)
{
    (void)a;
    tn_sha256_update_str(h, TN_STR("fake"));
}

static enum tn_status fake_load(const struct tn_assessment *a, const struct tn_component_request *request,
                                const struct tn_load_env *env, struct tn_instance **out, struct tn_error *err)
{
    (void)a;
    (void)request;
    *out = NULL;
    fake.loads++;
    while (fake.slow_load) {
        enum tn_status st = tn_cancel_fail(env->cancel, TN_PHASE_LOAD, err);
        if (st) return st;
        tn_thread_yield();
    }
    if (fake.failing_load) {
        tn_error_set(err, TN_TENSOR_MISMATCH, TN_PHASE_LOAD, "the fake refuses to load");
        return TN_TENSOR_MISMATCH;
    }
    struct tn_instance *i = tn_calloc(env->ctx->alloc, 1, sizeof(*i));
    if (i) i->weights = tn_malloc(env->ctx->alloc, 1 << 20);
    if (!i || !i->weights) {
        tn_free(env->ctx->alloc, i);
        return tn_error_memory(err, TN_PHASE_LOAD, "loading the fake");
    }
    i->alloc = env->ctx->alloc;
    if (env->progress) env->progress(env->progress_user, 1 << 20, 1 << 20);
    *out = i;
    return TN_OK;
}

static float fake_component(uint64_t sum, int32_t count, size_t k)
{
    return (float)((sum * (k + 3)) % 97) / 8 + (float)count;
}

static void fake_sequence(const struct tn_invocation *call, uint32_t s, unsigned calls)
{
    uint64_t sum = 0;
    bool nan = fake.not_a_number;
    float *out = call->out + (size_t)s * FAKE_WIDTH;
    for (int32_t r = call->offsets[s]; r < call->offsets[s + 1]; r++) {
        sum = sum * 31 + (uint64_t)call->ids[r];
        nan |= call->ids[r] == FAKE_NAN_ID;
    }
    for (size_t k = 0; k < FAKE_WIDTH; k++) out[k] = fake_component(sum, call->spans[s].count, k);
    if (fake.drifting) out[0] += (float)calls;
    if (nan) out[1] = NAN;
    call->status[s] = nan ? TN_ITEM_NOT_FINITE : TN_ITEM_DONE;
    if (fake.stops_itself) call->status[s] = TN_ITEM_STOPPED;
}

/* Blocks while told to; true when every sequence was cancelled meanwhile. */
static bool fake_block(const struct tn_invocation *call)
{
    while (fake.blocked) {
        bool all = !fake.deaf;
        for (uint32_t s = 0; all && s < call->sequences; s++) all = call->cancel && tn_cancel_check(call->cancel[s]) != TN_OK;
        if (all) return true;
        tn_thread_yield();
    }
    return false;
}

static void fake_gate(void)
{
    while (fake.gated) {
        int n = fake.permits;
        if (n > 0 && atomic_compare_exchange_strong(&fake.permits, &n, n - 1)) return;
        tn_thread_yield();
    }
}

static bool fake_holds(const struct tn_invocation *call, int32_t id)
{
    for (int32_t r = call->offsets[0]; r < call->offsets[call->sequences]; r++) {
        if (call->ids[r] == id) return true;
    }
    return false;
}

static enum tn_status fake_invoke(struct tn_instance *i, const struct tn_invocation *call, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    if (atomic_fetch_add(&fake.inside, 1) != 0) fake.overlaps++;
    fake.invocations++;
    fake.sequences += call->sequences;
    fake.rows += (unsigned)(call->offsets[call->sequences] - call->offsets[0]);
    if (call->sequences > fake.largest) fake.largest = call->sequences;
    if (call->offsets[0] != 0) fake.overlaps += 1000;
    i->calls++;
    fake_gate();
    if (fake_block(call)) {
        for (uint32_t s = 0; s < call->sequences; s++) call->status[s] = TN_ITEM_STOPPED;
    } else if (fake.failing || (fake.poisoned && fake_holds(call, FAKE_POISON_ID))) {
        st = TN_RUNTIME_FAILURE;
        tn_error_set(err, st, TN_PHASE_EXECUTE, "the fake fails as told");
    } else {
        for (uint32_t s = 0; s < call->sequences; s++) fake_sequence(call, s, i->calls);
        if (fake.too_wide) call->out[FAKE_WIDTH] = 1;
    }
    fake.inside--;
    return st;
}

static struct tn_digest fake_weights(const struct tn_instance *i)
{
    (void)i;
    return tn_sha256_of("fake", 4);
}

static void fake_release(struct tn_instance *i)
{
    if (!i) return;
    fake.releases++;
    tn_free(i->alloc, i->weights);
    tn_free(i->alloc, i);
}

static const struct tn_provider fake_provider = {
    .name = "fake", .version = "1", .scope = "component", .describe = fake_describe, .assess = fake_assess,
    .write = fake_write, .fingerprint = fake_fingerprint, .load = fake_load, .invoke = fake_invoke,
    .weights = fake_weights, .release = fake_release,
};

static const struct tn_provider_entry fake_entries[] = {
    {"fake", &fake_provider, NULL},
    {"absent", NULL, "not in this build"},
};

/* ---- a session over it --------------------------------------------------------------------------------------------- */

struct bench {
    struct tn_alloc alloc;
    struct tn_context ctx;
    struct tn_error *err;
    struct tn_inventory *inv;
    struct tn_description *d;
    struct tn_planner planner;
    struct tn_plan *plan;
    struct tn_session *session;
};

static inline bool bench_open(struct bench *b, const char *path)
{
    struct tn_describe_options options = {0};
    memset(b, 0, sizeof(*b));
    tn_alloc_init(&b->alloc);
    b->ctx = (struct tn_context){.alloc = &b->alloc, .limits = tn_limits_default()};
    b->err = calloc(1, sizeof(*b->err));
    options.schemas = tn_family_schemas(&options.schema_count);
    if (tn_inventory_open(&b->ctx, path, &b->inv, b->err)) return false;
    if (tn_describe(b->inv, &options, &b->d, b->err)) return false;
    b->planner = (struct tn_planner){
        .ctx = &b->ctx, .d = b->d, .providers = fake_entries, .provider_count = 2, .defaults = {2, 0, 64},
    };
    return true;
}

static inline tn_plan_options bench_options(void)
{
    tn_plan_options o = TN_INIT(tn_plan_options);
    o.task = "embedding.dense";
    o.provider = "fake";
    return o;
}

static inline bool bench_plan(struct bench *b, const tn_plan_options *o)
{
    return tn_plan_make(&b->planner, o, NULL, (struct tn_keep){0}, &b->plan, b->err) == TN_OK;
}

static inline enum tn_status bench_load(struct bench *b, const struct tn_cancel *cancel)
{
    struct tn_load_request r = {.cancel = cancel};
    return tn_session_open(b->plan, &r, &b->session, b->err);
}

/* A package without Normalize, prompts or anything else that would hide the fake's numbers. */
static inline bool bench_begin(struct bench *b)
{
    tn_plan_options o = bench_options();
    memset(&fake, 0, sizeof(fake));
    return bench_open(b, test_path("golden/packages/bert_options")) && bench_plan(b, &o) && bench_load(b, NULL) == TN_OK;
}

static inline void bench_close_session(struct bench *b)
{
    if (b->session) tn_session_close(b->session);
    b->session = NULL;
}

static inline void bench_end(struct bench *b)
{
    bench_close_session(b);
    tn_plan_drop(b->plan);
    tn_description_free(b->d);
    tn_inventory_free(b->inv);
    CHECK_INT(tn_alloc_current(&b->alloc), 0);
    CHECK_INT(b->alloc.blocks, 0);
    CHECK_INT(fake.overlaps, 0);
    free(b->err);
}

/* ---- requests ---------------------------------------------------------------------------------------------------------- */

static inline tn_string bench_text(const char *s)
{
    return (tn_string){s, strlen(s)};
}

/* `count` short texts that differ: "a", "the", "the a" ... by the bits of their index. */
static inline tn_string *bench_texts(size_t count)
{
    tn_string *texts = calloc(count + 1, sizeof(*texts));
    for (size_t i = 0; i < count; i++) {
        char *s = malloc(64);
        size_t n = 0;
        for (size_t bit = 0; bit < 10; bit++) n += (size_t)sprintf(s + n, "%s", i >> bit & 1 ? "a " : "b ");
        texts[i] = (tn_string){s, n};
    }
    return texts;
}

static inline void bench_free_texts(tn_string *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) free((void *)(uintptr_t)texts[i].data);
    free(texts);
}

static inline struct tn_execution *bench_start(struct bench *b, const tn_string *texts, size_t count, uint32_t timeout_ms)
{
    tn_embed_request r = TN_INIT(tn_embed_request);
    struct tn_execution *x = NULL;
    r.texts = texts;
    r.count = count;
    tn_execution_begin(b->session, &r, timeout_ms, &x, b->err);
    return x;
}

/* Pulls to the end. Returns the outcome; *items counts item events. */
static inline enum tn_status bench_pull_all(struct tn_execution *x, size_t *items, struct tn_error *err)
{
    size_t n = 0;
    for (;;) {
        tn_event e;
        if (tn_execution_pull(x, UINT32_MAX, &e, err)) return TN_RUNTIME_FAILURE;
        if (e.kind == TN_EVENT_ITEM) {
            if (e.index != n) return TN_RUNTIME_FAILURE;
            n++;
        }
        if (e.kind != TN_EVENT_TERMINAL) continue;
        if (items) *items = n;
        return e.status;
    }
}

/* Waits up to some seconds for a condition that another thread brings about. */
#define WAIT_FOR(condition)                                                                        \
    do {                                                                                           \
        uint64_t until_ = tn_os_monotonic_ns() + UINT64_C(20000000000);                            \
        while (!(condition) && tn_os_monotonic_ns() < until_) tn_thread_yield();                   \
        CHECK(condition);                                                                          \
    } while (0)

#endif
