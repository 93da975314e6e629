/* Several executions on one session: joined invocations, fairness, and failures that stay where they belong. */
#include "session_fake.h"

enum { MANY = 20 };

TEST(requests_share_invocations)
{
    struct bench b;
    tn_string text = bench_text("the a");
    struct tn_execution *x[MANY];
    REQUIRE(bench_begin(&b));
    fake.blocked = true;
    for (int i = 0; i < MANY; i++) REQUIRE((x[i] = bench_start(&b, &text, 1, 0)));
    WAIT_FOR(fake.inside == 1);
    unsigned before = fake.invocations;
    fake.blocked = false;
    for (int i = 0; i < MANY; i++) CHECK_INT(bench_pull_all(x[i], NULL, b.err), TN_OK);
    /* The first one or few were alone; the others waited together. */
    CHECK(fake.invocations - before <= 2);
    CHECK(fake.largest >= 2);
    for (int i = 0; i < MANY; i++) tn_execution_end(x[i]);
    bench_end(&b);
}

TEST(company_does_not_change_results)
{
    struct bench b;
    enum { EACH = 40 };
    struct tn_execution *x[MANY];
    static float alone[EACH][FAKE_WIDTH];
    REQUIRE(bench_begin(&b));
    tn_string *texts = bench_texts(EACH);
    for (size_t i = 0; i < EACH; i++) {
        tn_event e;
        struct tn_execution *one = bench_start(&b, &texts[i], 1, 0);
        REQUIRE(one && tn_execution_pull(one, UINT32_MAX, &e, b.err) == TN_OK);
        memcpy(alone[i], e.embedding, sizeof(alone[i]));
        tn_execution_end(one);
    }
    for (int i = 0; i < MANY; i++) REQUIRE((x[i] = bench_start(&b, texts, EACH, 0)));
    for (int i = 0; i < MANY; i++) {
        for (size_t k = 0; k < EACH; k++) {
            tn_event e;
            REQUIRE(tn_execution_pull(x[i], UINT32_MAX, &e, b.err) == TN_OK && e.kind == TN_EVENT_ITEM);
            CHECK(memcmp(e.embedding, alone[k], sizeof(alone[k])) == 0);
        }
        tn_execution_end(x[i]);
    }
    bench_free_texts(texts, EACH);
    bench_end(&b);
}

TEST(a_short_request_passes_a_long_one)
{
    struct bench b;
    enum { LONG = 1000 };
    tn_string text = bench_text("a");
    tn_event e;
    REQUIRE(bench_begin(&b));
    tn_string *texts = bench_texts(LONG);
    fake.gated = true;
    struct tn_execution *slow = bench_start(&b, texts, LONG, 0);
    REQUIRE(slow);
    WAIT_FOR(fake.inside == 1);
    struct tn_execution *quick = bench_start(&b, &text, 1, 0);
    REQUIRE(quick);
    fake.permits = 2; /* the step that runs and one more, whatever the long one still wants */
    REQUIRE(tn_execution_pull(quick, 10000, &e, b.err) == TN_OK);
    CHECK_INT(e.kind, TN_EVENT_ITEM);
    CHECK_INT(fake.permits, 0);
    fake.gated = false;
    CHECK_INT(bench_pull_all(slow, NULL, b.err), TN_OK);
    tn_execution_end(quick);
    tn_execution_end(slow);
    bench_free_texts(texts, LONG);
    bench_end(&b);
}

/* A word whose token id the fake takes offence at, found in the package's own vocabulary. */
static tn_string word_of(const struct tn_session *s, uint32_t id)
{
    struct tn_str t = tn_text_token(s->tokenizer, id);
    return (tn_string){t.s, t.n};
}

TEST(a_failing_invocation_ends_only_its_cause)
{
    struct bench b;
    tn_string good = bench_text("the a");
    struct tn_execution *x[3];
    REQUIRE(bench_begin(&b));
    tn_string bad = word_of(b.session, FAKE_POISON_ID);
    REQUIRE(bad.length > 0);
    fake.blocked = true;
    struct tn_execution *first = bench_start(&b, &good, 1, 0);
    REQUIRE(first);
    WAIT_FOR(fake.inside == 1);
    REQUIRE((x[0] = bench_start(&b, &good, 1, 0)));
    REQUIRE((x[1] = bench_start(&b, &bad, 1, 0)));
    REQUIRE((x[2] = bench_start(&b, &good, 1, 0)));
    fake.poisoned = true;
    fake.blocked = false;
    CHECK_INT(bench_pull_all(first, NULL, b.err), TN_OK);
    CHECK_INT(bench_pull_all(x[0], NULL, b.err), TN_OK);
    CHECK_INT(bench_pull_all(x[1], NULL, b.err), TN_RUNTIME_FAILURE);
    CHECK_CONTAINS(b.err->primary.message, "as told");
    CHECK_INT(bench_pull_all(x[2], NULL, b.err), TN_OK);
    fake.poisoned = false;
    struct tn_execution *again = bench_start(&b, &bad, 1, 0);
    REQUIRE(again);
    CHECK_INT(bench_pull_all(again, NULL, b.err), TN_OK); /* the session is usable */
    tn_execution_end(again);
    tn_execution_end(first);
    for (int i = 0; i < 3; i++) tn_execution_end(x[i]);
    bench_end(&b);
}

TEST(not_a_number_is_one_item)
{
    struct bench b;
    tn_event e;
    REQUIRE(bench_begin(&b));
    tn_string texts[3] = {bench_text("a"), word_of(b.session, FAKE_NAN_ID), bench_text("b")};
    struct tn_execution *x = bench_start(&b, texts, 3, 0);
    REQUIRE(x);
    for (size_t i = 0; i < 3; i++) {
        REQUIRE(tn_execution_pull(x, UINT32_MAX, &e, b.err) == TN_OK);
        CHECK_INT(e.kind, TN_EVENT_ITEM);
        CHECK_INT(e.status, i == 1 ? TN_NUMERICAL_FAILURE : TN_OK);
        if (i != 1) continue;
        CHECK(e.embedding == NULL);
        CHECK_INT(b.err->primary.code, TN_NUMERICAL_FAILURE);
        CHECK_INT(b.err->primary.item, 1);
    }
    REQUIRE(tn_execution_pull(x, UINT32_MAX, &e, b.err) == TN_OK);
    CHECK_INT(e.kind, TN_EVENT_TERMINAL);
    CHECK_INT(e.status, TN_OK);
    CHECK_INT(e.failed_items, 1);
    tn_execution_end(x);
    bench_end(&b);
}

TEST(a_provider_that_stops_by_itself_fails_the_request)
{
    struct bench b;
    tn_string text = bench_text("a");
    REQUIRE(bench_begin(&b));
    fake.stops_itself = true;
    struct tn_execution *x = bench_start(&b, &text, 1, 0);
    REQUIRE(x);
    CHECK_INT(bench_pull_all(x, NULL, b.err), TN_RUNTIME_FAILURE);
    tn_execution_end(x);
    fake.stops_itself = false;
    bench_end(&b);
}

TEST(a_failing_provider_fails_each_request_and_leaves_the_session_usable)
{
    struct bench b;
    tn_string text = bench_text("a");
    REQUIRE(bench_begin(&b));
    for (int round = 0; round < 2; round++) {
        fake.failing = round == 0;
        struct tn_execution *x = bench_start(&b, &text, 1, 0);
        REQUIRE(x);
        CHECK_INT(bench_pull_all(x, NULL, b.err), round == 0 ? TN_RUNTIME_FAILURE : TN_OK);
        tn_execution_end(x);
    }
    bench_end(&b);
}

TEST(the_batch_option_bounds_a_step)
{
    struct bench b;
    tn_embed_request r = TN_INIT(tn_embed_request);
    struct tn_execution *x;
    REQUIRE(bench_begin(&b));
    tn_string *texts = bench_texts(50);
    r.texts = texts;
    r.count = 50;
    r.batch = 7;
    REQUIRE(tn_execution_begin(b.session, &r, 0, &x, b.err) == TN_OK);
    CHECK_INT(bench_pull_all(x, NULL, b.err), TN_OK);
    CHECK(fake.largest <= 7);
    CHECK_INT(fake.sequences, 52);
    tn_execution_end(x);
    bench_free_texts(texts, 50);
    bench_end(&b);
}
