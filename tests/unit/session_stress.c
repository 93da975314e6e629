/*
 * Many threads on one session: they start, read, cancel and free while the handle goes away. Worth most under the thread
 * sanitizer; without it, still: nothing is lost, nothing hangs, nothing stays allocated.
 */
#include "session_fake.h"

enum { THREADS = 6, ROUNDS = 60, TEXTS = 40 };

struct worker {
    struct bench *b;
    tn_string *texts;
    uint64_t seed;
    struct tn_thread thread;
    unsigned completed, cancelled, failed;
    struct tn_execution *last;
};

static void pull_some(struct worker *w, struct tn_execution *x, struct tn_error *err)
{
    tn_event e = {0};
    size_t stop = test_random(&w->seed) % (2 * TEXTS), n = 0;
    while (e.kind != TN_EVENT_TERMINAL && n++ < stop) {
        uint32_t wait = test_random(&w->seed) % 2 ? UINT32_MAX : 1;
        if (tn_execution_pull(x, wait, &e, err)) w->failed++;
    }
    if (e.kind == TN_EVENT_TERMINAL && e.status == TN_OK) w->completed++;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct tn_error *err = calloc(1, sizeof(*err));
    for (int i = 0; i < ROUNDS; i++) {
        tn_embed_request r = TN_INIT(tn_embed_request);
        struct tn_execution *x;
        r.texts = w->texts;
        r.count = test_random(&w->seed) % TEXTS;
        r.atomic = test_random(&w->seed) % 4 == 0;
        uint32_t timeout = test_random(&w->seed) % 8 == 0 ? 1 : 0;
        if (tn_execution_begin(w->b->session, &r, timeout, &x, err)) {
            w->failed++;
            continue;
        }
        if (test_random(&w->seed) % 4 == 0) {
            tn_execution_stop(x);
            w->cancelled++;
        }
        pull_some(w, x, err);
        if (i == ROUNDS - 1) {
            w->last = x; /* outlives the session's handle */
        } else {
            tn_execution_end(x);
        }
    }
    free(err);
    return NULL;
}

static void *end_last(void *arg)
{
    struct worker *w = arg;
    struct tn_error *err = calloc(1, sizeof(*err));
    if (w->last && tn_execution_wait(w->last, 10000, err)) w->failed++;
    if (w->last) tn_execution_end(w->last);
    free(err);
    return NULL;
}

TEST(threads_on_one_session)
{
    struct bench b;
    static struct worker w[THREADS];
    REQUIRE(bench_begin(&b));
    tn_string *texts = bench_texts(TEXTS);
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){.b = &b, .texts = texts, .seed = (uint64_t)i + 1};
        REQUIRE(tn_thread_start(&w[i].thread, work, &w[i]));
    }
    unsigned completed = 0;
    for (int i = 0; i < THREADS; i++) {
        tn_thread_join(&w[i].thread);
        completed += w[i].completed;
        CHECK_INT(w[i].failed, 0);
    }
    CHECK(completed > 0);
    /* The handle and the last executions go at the same time. */
    for (int i = 0; i < THREADS; i++) REQUIRE(tn_thread_start(&w[i].thread, end_last, &w[i]));
    bench_close_session(&b);
    for (int i = 0; i < THREADS; i++) {
        tn_thread_join(&w[i].thread);
        CHECK_INT(w[i].failed, 0);
    }
    bench_free_texts(texts, TEXTS);
    bench_end(&b);
}

static void *load_and_run(void *arg)
{
    struct bench *shared = arg;
    struct bench mine = {.plan = shared->plan, .err = calloc(1, sizeof(*mine.err))};
    tn_string text = bench_text("the a");
    for (int i = 0; i < 8; i++) {
        if (bench_load(&mine, NULL)) break;
        struct tn_execution *x = bench_start(&mine, &text, 1, 0);
        if (x) bench_pull_all(x, NULL, mine.err);
        bench_close_session(&mine);
        if (x) tn_execution_end(x);
    }
    free(mine.err);
    return NULL;
}

TEST(threads_loading_one_plan)
{
    struct bench b;
    struct tn_thread threads[4];
    tn_plan_options o = bench_options();
    memset(&fake, 0, sizeof(fake));
    REQUIRE(bench_open(&b, test_path("golden/packages/bert_options")) && bench_plan(&b, &o));
    for (int i = 0; i < 4; i++) REQUIRE(tn_thread_start(&threads[i], load_and_run, &b));
    for (int i = 0; i < 4; i++) tn_thread_join(&threads[i]);
    CHECK_INT(fake.loads, 32);
    CHECK_INT(fake.releases, 32);
    fake.overlaps = 0; /* four sessions may invoke at once */
    bench_end(&b);
}
