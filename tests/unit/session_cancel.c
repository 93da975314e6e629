/* Cancelling and deadlines: queued, between steps, inside the provider; and what remains usable afterwards. */
#include "session_fake.h"

static void expect_end(struct bench *b, struct tn_execution *x, enum tn_status expected)
{
    CHECK_INT(bench_pull_all(x, NULL, b->err), expected);
    CHECK_INT(b->err->primary.code, expected);
    CHECK_INT(b->err->primary.phase, TN_PHASE_EXECUTE);
    tn_event e;
    CHECK_INT(tn_execution_pull(x, 0, &e, b->err), TN_INVALID_REQUEST);
}

/* The same text gives what it gives in a session of its own. */
static void expect_healthy(struct bench *b)
{
    struct bench fresh;
    tn_string text = bench_text("the people");
    tn_event e, f;
    struct tn_execution *x = bench_start(b, &text, 1, 0);
    REQUIRE(x);
    REQUIRE(tn_execution_pull(x, UINT32_MAX, &e, b->err) == TN_OK && e.kind == TN_EVENT_ITEM);
    struct fake saved = fake;
    REQUIRE(bench_begin(&fresh));
    struct tn_execution *y = bench_start(&fresh, &text, 1, 0);
    REQUIRE(y);
    REQUIRE(tn_execution_pull(y, UINT32_MAX, &f, fresh.err) == TN_OK && f.kind == TN_EVENT_ITEM);
    CHECK(memcmp(e.embedding, f.embedding, FAKE_WIDTH * sizeof(float)) == 0);
    tn_execution_end(y);
    bench_end(&fresh);
    fake = saved;
    tn_execution_end(x);
}

TEST(cancelled_while_queued)
{
    struct bench b;
    tn_string text = bench_text("a");
    REQUIRE(bench_begin(&b));
    fake.blocked = fake.deaf = true;
    struct tn_execution *first = bench_start(&b, &text, 1, 0);
    REQUIRE(first);
    WAIT_FOR(fake.inside == 1);
    struct tn_execution *second = bench_start(&b, &text, 1, 0);
    REQUIRE(second);
    tn_execution_stop(second);
    CHECK_INT(tn_execution_wait(second, 0, b.err), TN_OK); /* it never began: it has stopped at once */
    expect_end(&b, second, TN_CANCELLED);
    fake.blocked = false;
    CHECK_INT(bench_pull_all(first, NULL, b.err), TN_OK);
    tn_execution_end(second);
    tn_execution_end(first);
    fake.deaf = false;
    expect_healthy(&b);
    bench_end(&b);
}

TEST(cancelled_inside_the_provider)
{
    struct bench b;
    tn_string text = bench_text("a");
    REQUIRE(bench_begin(&b));
    fake.blocked = true;
    struct tn_execution *x = bench_start(&b, &text, 1, 0);
    REQUIRE(x);
    WAIT_FOR(fake.inside == 1);
    tn_execution_stop(x);
    tn_execution_stop(x);
    CHECK_INT(tn_execution_wait(x, 10000, b.err), TN_OK);
    expect_end(&b, x, TN_CANCELLED);
    tn_execution_end(x);
    fake.blocked = false;
    expect_healthy(&b);
    bench_end(&b);
}

TEST(a_deaf_provider_delays_the_drain_but_not_the_outcome)
{
    struct bench b;
    tn_string text = bench_text("a");
    struct tn_buf account;
    struct tn_json_writer w;
    REQUIRE(bench_begin(&b));
    fake.blocked = fake.deaf = true;
    struct tn_execution *x = bench_start(&b, &text, 1, 0);
    REQUIRE(x);
    WAIT_FOR(fake.inside == 1);
    tn_execution_stop(x);
    expect_end(&b, x, TN_CANCELLED);
    CHECK_INT(tn_execution_wait(x, 20, b.err), TN_DRAIN_FAILED);
    tn_buf_init(&account, &b.alloc, 1 << 20);
    tn_jw_init(&w, &account, false);
    CHECK_INT(tn_execution_account_write(x, NULL, &w, b.err), TN_BUSY);
    fake.blocked = false;
    CHECK_INT(tn_execution_wait(x, 10000, b.err), TN_OK);
    CHECK_INT(tn_execution_account_write(x, NULL, &w, b.err), TN_OK);
    CHECK_CONTAINS(account.data, "\"outcome\":\"cancelled\"");
    tn_buf_release(&account);
    tn_execution_end(x);
    fake.deaf = false;
    expect_healthy(&b);
    bench_end(&b);
}

TEST(cancelled_between_steps_keeps_what_was_delivered)
{
    struct bench b;
    enum { COUNT = 3 * TN_EVENT_QUEUE };
    tn_event e;
    REQUIRE(bench_begin(&b));
    tn_string *texts = bench_texts(COUNT);
    struct tn_execution *x = bench_start(&b, texts, COUNT, 0);
    REQUIRE(x);
    WAIT_FOR(fake.sequences >= TN_EVENT_QUEUE + 2);
    REQUIRE(tn_execution_pull(x, UINT32_MAX, &e, b.err) == TN_OK);
    CHECK_INT(e.kind, TN_EVENT_ITEM);
    tn_execution_stop(x);
    size_t items = 1;
    const float *kept = e.embedding;
    float copy[FAKE_WIDTH];
    memcpy(copy, kept, sizeof(copy));
    while (e.kind == TN_EVENT_ITEM) {
        REQUIRE(tn_execution_pull(x, UINT32_MAX, &e, b.err) == TN_OK);
        items += e.kind == TN_EVENT_ITEM;
    }
    CHECK_INT(e.kind, TN_EVENT_TERMINAL);
    CHECK_INT(e.status, TN_CANCELLED);
    CHECK(items < COUNT);
    CHECK(memcmp(copy, kept, sizeof(copy)) == 0);
    tn_execution_end(x);
    bench_free_texts(texts, COUNT);
    expect_healthy(&b);
    bench_end(&b);
}

TEST(a_deadline_ends_what_the_provider_holds)
{
    struct bench b;
    tn_string text = bench_text("a");
    REQUIRE(bench_begin(&b));
    fake.blocked = true;
    struct tn_execution *x = bench_start(&b, &text, 1, 30);
    REQUIRE(x);
    expect_end(&b, x, TN_DEADLINE_EXCEEDED);
    CHECK(b.err->retryable || b.err->primary.code == TN_INVALID_REQUEST);
    tn_execution_end(x);
    fake.blocked = false;
    expect_healthy(&b);
    bench_end(&b);
}

TEST(a_deadline_ends_what_waits_for_its_reader)
{
    struct bench b;
    enum { COUNT = 3 * TN_EVENT_QUEUE };
    REQUIRE(bench_begin(&b));
    tn_string *texts = bench_texts(COUNT);
    struct tn_execution *x = bench_start(&b, texts, COUNT, 100);
    REQUIRE(x);
    CHECK_INT(tn_execution_wait(x, 10000, b.err), TN_OK); /* nobody reads; the driver notices */
    expect_end(&b, x, TN_DEADLINE_EXCEEDED);
    tn_execution_end(x);
    bench_free_texts(texts, COUNT);
    bench_end(&b);
}

TEST(freeing_a_running_execution_waits_for_the_work)
{
    struct bench b;
    tn_string text = bench_text("a");
    REQUIRE(bench_begin(&b));
    fake.blocked = true;
    struct tn_execution *x = bench_start(&b, &text, 1, 0);
    REQUIRE(x);
    WAIT_FOR(fake.inside == 1);
    tn_execution_end(x); /* cancels; the provider listens */
    CHECK_INT(fake.inside, 0);
    fake.blocked = false;
    expect_healthy(&b);
    bench_end(&b);
}

TEST(an_unread_execution_can_be_freed)
{
    struct bench b;
    REQUIRE(bench_begin(&b));
    tn_string *texts = bench_texts(500);
    for (int i = 0; i < 20; i++) {
        struct tn_execution *x = bench_start(&b, texts, 500, 0);
        REQUIRE(x);
        tn_execution_end(x);
    }
    bench_free_texts(texts, 500);
    expect_healthy(&b);
    bench_end(&b);
}
