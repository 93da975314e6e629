/* The load transaction: every stage that can fail, cancelling, deadlines, the budget, and what is left afterwards. */
#include "session_fake.h"

#include <stdio.h>
#include <sys/stat.h>

static bool begin(struct bench *b, const tn_plan_options *o)
{
    memset(&fake, 0, sizeof(fake));
    return bench_open(b, test_path("golden/packages/bert_options")) && bench_plan(b, o);
}

/* Loading fails with this code, and the runtime holds what it held before. */
static void expect_failure(struct bench *b, const struct tn_cancel *cancel, enum tn_status expected)
{
    uint64_t bytes = tn_alloc_current(&b->alloc), blocks = b->alloc.blocks;
    unsigned long plan_refs = b->plan->ref.count;
    CHECK_INT(bench_load(b, cancel), expected);
    CHECK(b->session == NULL);
    CHECK_INT(b->err->primary.code, expected);
    CHECK_INT(b->err->primary.phase, TN_PHASE_LOAD);
    CHECK_INT(tn_alloc_current(&b->alloc), bytes);
    CHECK_INT(b->alloc.blocks, blocks);
    CHECK_INT(b->plan->ref.count, plan_refs);
}

static void expect_success(struct bench *b)
{
    CHECK_INT(bench_load(b, NULL), TN_OK);
    bench_close_session(b);
}

TEST(a_failing_provider)
{
    struct bench b;
    tn_plan_options o = bench_options();
    REQUIRE(begin(&b, &o));
    fake.failing_load = true;
    expect_failure(&b, NULL, TN_TENSOR_MISMATCH);
    fake.failing_load = false;
    expect_success(&b);
    bench_end(&b);
}

TEST(a_probe_that_fails)
{
    struct bench b;
    tn_plan_options o = bench_options();
    REQUIRE(begin(&b, &o));
    fake.failing = true;
    expect_failure(&b, NULL, TN_RUNTIME_FAILURE);
    fake.failing = false;
    fake.not_a_number = true;
    expect_failure(&b, NULL, TN_NUMERICAL_FAILURE);
    fake.not_a_number = false;
    fake.drifting = true;
    expect_failure(&b, NULL, TN_NUMERICAL_FAILURE);
    fake.drifting = false;
    fake.too_wide = true;
    expect_failure(&b, NULL, TN_RUNTIME_FAILURE);
    fake.too_wide = false;
    fake.stops_itself = true;
    expect_failure(&b, NULL, TN_RUNTIME_FAILURE);
    fake.stops_itself = false;
    CHECK_INT(fake.loads, fake.releases);
    expect_success(&b);
    bench_end(&b);
}

static void *cancel_later(void *arg)
{
    struct tn_cancel *cancel = arg;
    WAIT_FOR(fake.loads > 0 || fake.inside > 0);
    atomic_store(&cancel->requested, true);
    return NULL;
}

TEST(cancelled_before_and_while_loading)
{
    struct bench b;
    struct tn_thread thread;
    tn_plan_options o = bench_options();
    REQUIRE(begin(&b, &o));
    struct tn_cancel already = {.requested = true};
    expect_failure(&b, &already, TN_CANCELLED);
    CHECK_INT(fake.loads, 0);
    struct tn_cancel later = {0};
    fake.slow_load = true;
    REQUIRE(tn_thread_start(&thread, cancel_later, &later));
    expect_failure(&b, &later, TN_CANCELLED);
    tn_thread_join(&thread);
    fake.slow_load = false;
    expect_success(&b);
    bench_end(&b);
}

TEST(cancelled_in_the_probe)
{
    struct bench b;
    struct tn_thread thread;
    tn_plan_options o = bench_options();
    REQUIRE(begin(&b, &o));
    struct tn_cancel later = {0};
    fake.blocked = true;
    REQUIRE(tn_thread_start(&thread, cancel_later, &later));
    expect_failure(&b, &later, TN_CANCELLED);
    tn_thread_join(&thread);
    CHECK_INT(fake.loads, fake.releases);
    bench_end(&b);
}

TEST(a_deadline_while_loading)
{
    struct bench b;
    tn_plan_options o = bench_options();
    REQUIRE(begin(&b, &o));
    struct tn_cancel soon = {.deadline_ns = tn_os_monotonic_ns() + 20000000};
    fake.slow_load = true;
    expect_failure(&b, &soon, TN_DEADLINE_EXCEEDED);
    fake.slow_load = false;
    struct tn_cancel follows = {.also = &soon};
    expect_failure(&b, &follows, TN_DEADLINE_EXCEEDED);
    bench_end(&b);
}

TEST(a_budget_that_is_too_small_is_refused_before_anything)
{
    struct bench b;
    tn_plan_options o = bench_options();
    o.memory_limit = 1 << 20; /* the fake's weights alone */
    REQUIRE(begin(&b, &o));
    expect_failure(&b, NULL, TN_INSUFFICIENT_MEMORY);
    CHECK_INT(fake.loads, 0);
    CHECK_CONTAINS(b.err->primary.found, "limit 1048576");
    CHECK_CONTAINS(b.err->primary.found, "needed");
    CHECK(!b.err->retryable);
    bench_end(&b);
}

TEST(a_runtime_without_room_is_another_refusal)
{
    struct bench b;
    tn_plan_options o = bench_options();
    REQUIRE(begin(&b, &o));
    b.alloc.budget = tn_alloc_current(&b.alloc) + (1 << 20);
    expect_failure(&b, NULL, TN_INSUFFICIENT_MEMORY);
    CHECK_INT(fake.loads, 0);
    b.alloc.budget = UINT64_MAX;
    expect_success(&b);
    bench_end(&b);
}

/* A copy of the package that may be changed. */
static bool copy_file(const char *from, const char *to)
{
    size_t size;
    char *data = test_read_file(from, &size);
    if (!data) return false;
    test_write_file(to, data, size);
    free(data);
    return true;
}

static bool copy_package(char *folder, size_t cap)
{
    static const char *const files[] = {"config.json", "config_sentence_transformers.json", "model.safetensors",
                                        "modules.json", "sentence_bert_config.json", "tokenizer.json",
                                        "tokenizer_config.json", "1_Pooling/config.json"};
    char from[512], to[1024], sub[1024];
    snprintf(folder, cap, "%s/package", test_folder());
    snprintf(sub, sizeof(sub), "%s/1_Pooling", folder);
    mkdir(folder, 0700);
    mkdir(sub, 0700);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(from, sizeof(from), "golden/packages/bert_options/%s", files[i]);
        snprintf(to, sizeof(to), "%s/%s", folder, files[i]);
        if (!copy_file(test_path(from), to)) return false;
    }
    return true;
}

TEST(changed_files_are_stale)
{
    struct bench b;
    char folder[512], path[1024];
    tn_plan_options o = bench_options();
    static const char *const changed[] = {"tokenizer.json", "model.safetensors", "1_Pooling/config.json"};
    memset(&fake, 0, sizeof(fake));
    REQUIRE(copy_package(folder, sizeof(folder)));
    for (size_t i = 0; i < 3; i++) {
        REQUIRE(bench_open(&b, folder) && bench_plan(&b, &o));
        expect_success(&b);
        snprintf(path, sizeof(path), "%s/%s", folder, changed[i]);
        size_t size;
        char *data = test_read_file(path, &size);
        REQUIRE(data);
        test_write_file(path, data, size - 1);
        expect_failure(&b, NULL, TN_ARTIFACT_STALE);
        CHECK_STR(b.err->primary.file, changed[i]);
        test_write_file(path, data, size); /* the same bytes in a file that was touched */
        expect_failure(&b, NULL, TN_ARTIFACT_STALE);
        free(data);
        bench_end(&b);
    }
}

/* A file that changes while the provider loads: seen by the second look at the files. */
static char touched[1024];

static void touch_while_loading(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    (void)done;
    (void)total;
    size_t size;
    char *data = test_read_file(touched, &size);
    if (data) test_write_file(touched, data, size);
    free(data);
}

TEST(a_change_during_the_load_is_stale)
{
    struct bench b;
    char folder[512];
    tn_plan_options o = bench_options();
    memset(&fake, 0, sizeof(fake));
    REQUIRE(copy_package(folder, sizeof(folder)));
    REQUIRE(bench_open(&b, folder) && bench_plan(&b, &o));
    snprintf(touched, sizeof(touched), "%s/config.json", folder);
    struct tn_load_request r = {.progress = touch_while_loading};
    CHECK_INT(tn_session_open(b.plan, &r, &b.session, b.err), TN_ARTIFACT_STALE);
    CHECK(b.session == NULL);
    CHECK_INT(fake.loads, fake.releases);
    bench_end(&b);
}

TEST(fifty_loads_return_to_the_baseline)
{
    struct bench b;
    tn_plan_options o = bench_options();
    tn_string text = bench_text("the a b");
    REQUIRE(begin(&b, &o));
    uint64_t bytes = tn_alloc_current(&b.alloc), blocks = b.alloc.blocks;
    for (int i = 0; i < 50; i++) {
        REQUIRE(bench_load(&b, NULL) == TN_OK);
        struct tn_execution *x = bench_start(&b, &text, 1, 0);
        REQUIRE(x);
        CHECK_INT(bench_pull_all(x, NULL, b.err), TN_OK);
        if (i % 2) bench_close_session(&b);
        tn_execution_end(x);
        bench_close_session(&b);
        CHECK_INT(tn_alloc_current(&b.alloc), bytes);
        CHECK_INT(b.alloc.blocks, blocks);
    }
    CHECK_INT(fake.loads, 50);
    CHECK_INT(fake.releases, 50);
    bench_end(&b);
}
