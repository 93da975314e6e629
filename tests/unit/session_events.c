/* The reader's side of executions: order, one terminal event, the bounded queue, drain, and what outlives what. */
#include "session_fake.h"

TEST(items_come_in_order_and_the_end_once)
{
    struct bench b;
    REQUIRE(bench_begin(&b));
    tn_string *texts = bench_texts(300);
    struct tn_execution *x = bench_start(&b, texts, 300, 0);
    REQUIRE(x);
    for (size_t i = 0; i < 300; i++) {
        tn_event e;
        REQUIRE(tn_execution_pull(x, UINT32_MAX, &e, b.err) == TN_OK);
        CHECK_INT(e.kind, TN_EVENT_ITEM);
        CHECK_INT(e.index, i);
        CHECK_INT(e.status, TN_OK);
        CHECK_INT(e.dimensions, FAKE_WIDTH);
        CHECK(e.embedding != NULL);
        CHECK_INT(e.tokens, 12); /* ten letters and two special tokens */
        CHECK_INT(e.tokens_total, 12);
    }
    tn_event e;
    CHECK_INT(tn_execution_pull(x, UINT32_MAX, &e, b.err), TN_OK);
    CHECK_INT(e.kind, TN_EVENT_TERMINAL);
    CHECK_INT(e.status, TN_OK);
    CHECK_INT(e.failed_items, 0);
    for (int again = 0; again < 3; again++) {
        CHECK_INT(tn_execution_pull(x, 0, &e, b.err), TN_INVALID_REQUEST);
        CHECK_INT(e.kind, TN_EVENT_NONE);
    }
    tn_execution_end(x);
    bench_free_texts(texts, 300);
    bench_end(&b);
}

TEST(no_text_is_a_legal_request)
{
    struct bench b;
    REQUIRE(bench_begin(&b));
    struct tn_execution *x = bench_start(&b, NULL, 0, 0);
    REQUIRE(x);
    size_t items = 99;
    CHECK_INT(bench_pull_all(x, &items, b.err), TN_OK);
    CHECK_INT(items, 0);
    tn_execution_end(x);
    bench_end(&b);
}

TEST(nothing_is_waited_for_without_time)
{
    struct bench b;
    tn_string text = bench_text("a");
    tn_event e;
    REQUIRE(bench_begin(&b));
    fake.blocked = true;
    struct tn_execution *x = bench_start(&b, &text, 1, 0);
    REQUIRE(x);
    uint64_t start = tn_os_monotonic_ns();
    CHECK_INT(tn_execution_pull(x, 0, &e, b.err), TN_OK);
    CHECK_INT(e.kind, TN_EVENT_NONE);
    CHECK_INT(tn_execution_pull(x, 20, &e, b.err), TN_OK);
    CHECK_INT(e.kind, TN_EVENT_NONE);
    CHECK(tn_os_monotonic_ns() - start >= UINT64_C(20000000));
    fake.blocked = false;
    CHECK_INT(bench_pull_all(x, NULL, b.err), TN_OK);
    tn_execution_end(x);
    bench_end(&b);
}

TEST(work_goes_on_when_nobody_pulls)
{
    struct bench b;
    REQUIRE(bench_begin(&b));
    tn_string *texts = bench_texts(100);
    struct tn_execution *x = bench_start(&b, texts, 100, 0);
    REQUIRE(x);
    WAIT_FOR(fake.sequences >= 102); /* two of them are the probe's */
    CHECK_INT(tn_execution_wait(x, 10000, b.err), TN_OK);
    tn_execution_end(x);
    bench_free_texts(texts, 100);
    bench_end(&b);
}

TEST(a_full_queue_pauses_the_producer)
{
    struct bench b;
    enum { COUNT = 4 * TN_EVENT_QUEUE };
    REQUIRE(bench_begin(&b));
    tn_string *texts = bench_texts(COUNT);
    struct tn_execution *x = bench_start(&b, texts, COUNT, 0);
    REQUIRE(x);
    WAIT_FOR(fake.sequences >= TN_EVENT_QUEUE + 2);
    CHECK_INT(tn_execution_wait(x, 50, b.err), TN_DRAIN_FAILED);
    CHECK_INT(fake.sequences, TN_EVENT_QUEUE + 2);
    size_t items = 0;
    CHECK_INT(bench_pull_all(x, &items, b.err), TN_OK);
    CHECK_INT(items, COUNT);
    tn_execution_end(x);
    bench_free_texts(texts, COUNT);
    bench_end(&b);
}

TEST(a_slow_reader_without_waiting_gets_everything)
{
    struct bench b;
    enum { COUNT = 3 * TN_EVENT_QUEUE + 7 };
    size_t items = 0;
    tn_event e = {0};
    REQUIRE(bench_begin(&b));
    tn_string *texts = bench_texts(COUNT);
    struct tn_execution *x = bench_start(&b, texts, COUNT, 0);
    REQUIRE(x);
    /* Only polls: the driver thread does all the work and must be woken whenever there is room again. */
    uint64_t until = tn_os_monotonic_ns() + UINT64_C(20000000000);
    while (e.kind != TN_EVENT_TERMINAL && tn_os_monotonic_ns() < until) {
        REQUIRE(tn_execution_pull(x, 0, &e, b.err) == TN_OK);
        items += e.kind == TN_EVENT_ITEM;
        if (e.kind == TN_EVENT_NONE) tn_thread_yield();
    }
    CHECK_INT(items, COUNT);
    tn_execution_end(x);
    bench_free_texts(texts, COUNT);
    bench_end(&b);
}

TEST(results_outlive_the_session)
{
    struct bench b;
    tn_string texts[2] = {bench_text("a"), bench_text("b a")};
    tn_event e[2], end;
    float before[2][FAKE_WIDTH];
    REQUIRE(bench_begin(&b));
    struct tn_execution *x = bench_start(&b, texts, 2, 0);
    REQUIRE(x);
    for (int i = 0; i < 2; i++) {
        REQUIRE(tn_execution_pull(x, UINT32_MAX, &e[i], b.err) == TN_OK);
        memcpy(before[i], e[i].embedding, sizeof(before[i]));
    }
    CHECK_INT(tn_execution_pull(x, UINT32_MAX, &end, b.err), TN_OK);
    CHECK_INT(end.kind, TN_EVENT_TERMINAL);
    uint64_t held = tn_alloc_current(&b.alloc);
    bench_close_session(&b);
    CHECK_INT(fake.releases, 1); /* unloaded although the execution is not freed */
    CHECK(tn_alloc_current(&b.alloc) + (1 << 20) <= held);
    for (int i = 0; i < 2; i++) CHECK(memcmp(before[i], e[i].embedding, sizeof(before[i])) == 0);
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, &b.alloc, 1 << 20);
    tn_jw_init(&w, &text, false);
    CHECK_INT(tn_execution_account_write(x, NULL, &w, b.err), TN_OK);
    CHECK_CONTAINS(text.data, "\"space\":\"");
    tn_buf_release(&text);
    tn_execution_end(x);
    bench_end(&b);
}

TEST(a_running_execution_keeps_the_session)
{
    struct bench b;
    tn_string text = bench_text("a");
    size_t items = 0;
    REQUIRE(bench_begin(&b));
    fake.blocked = true;
    struct tn_execution *x = bench_start(&b, &text, 1, 0);
    REQUIRE(x);
    bench_close_session(&b);
    CHECK_INT(fake.releases, 0);
    fake.blocked = false;
    CHECK_INT(bench_pull_all(x, &items, b.err), TN_OK);
    CHECK_INT(items, 1);
    CHECK_INT(tn_execution_wait(x, 10000, b.err), TN_OK);
    WAIT_FOR(fake.releases == 1); /* whoever finished it unloads */
    tn_execution_end(x);
    bench_end(&b);
}

TEST(a_session_that_is_freed_first_is_unloaded_by_the_driver)
{
    struct bench b;
    tn_string text = bench_text("a");
    REQUIRE(bench_begin(&b));
    fake.blocked = true;
    struct tn_execution *x = bench_start(&b, &text, 1, 0);
    REQUIRE(x);
    bench_close_session(&b);
    fake.blocked = false;
    WAIT_FOR(fake.releases == 1); /* nobody pulls */
    tn_execution_end(x);
    bench_end(&b);
}
