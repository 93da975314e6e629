/* Admission: memory is counted before the work starts, with figures; waiting for nobody, so that nothing can deadlock. */
#include "session_fake.h"

enum { ITEMS = 2000 };

static bool begin(struct bench *b, uint64_t room)
{
    tn_plan_options o = bench_options();
    memset(&fake, 0, sizeof(fake));
    if (!bench_open(b, test_path("golden/packages/bert_options")) || !bench_plan(b, &o)) return false;
    if (bench_load(b, NULL)) return false;
    b->session->lease.budget = tn_alloc_current(&b->session->lease) + room;
    return true;
}

TEST(a_request_that_can_never_fit_is_refused_with_figures)
{
    struct bench b;
    REQUIRE(begin(&b, 20000));
    tn_string *texts = bench_texts(ITEMS);
    uint64_t held = tn_alloc_current(&b.alloc);
    CHECK(bench_start(&b, texts, ITEMS, 0) == NULL);
    CHECK_INT(b.err->primary.code, TN_INSUFFICIENT_MEMORY);
    CHECK_INT(b.err->primary.phase, TN_PHASE_REQUEST);
    CHECK_CONTAINS(b.err->primary.found, "needs");
    CHECK_CONTAINS(b.err->primary.found, "are available of a limit of");
    CHECK(!b.err->retryable);
    CHECK_INT(tn_alloc_current(&b.alloc), held);
    tn_string one = bench_text("a");
    struct tn_execution *x = bench_start(&b, &one, 1, 0);
    REQUIRE(x);
    CHECK_INT(bench_pull_all(x, NULL, b.err), TN_OK);
    tn_execution_end(x);
    bench_free_texts(texts, ITEMS);
    bench_end(&b);
}

TEST(memory_that_earlier_requests_hold_makes_it_busy)
{
    struct bench b;
    REQUIRE(begin(&b, 20000));
    tn_string *texts = bench_texts(100);
    struct tn_execution *x[64];
    size_t count = 0;
    while (count < 64 && (x[count] = bench_start(&b, texts, 100, 0))) count++;
    CHECK(count > 0 && count < 64);
    CHECK_INT(b.err->primary.code, TN_BUSY);
    CHECK(b.err->retryable);
    CHECK_CONTAINS(b.err->primary.found, "earlier requests hold");
    CHECK(b.session->held_bytes > 0);
    for (size_t i = 0; i < count; i++) CHECK_INT(bench_pull_all(x[i], NULL, b.err), TN_OK);
    tn_execution_end(x[--count]); /* one makes room for another */
    struct tn_execution *again = bench_start(&b, texts, 100, 0);
    CHECK(again != NULL);
    if (again) tn_execution_end(again);
    while (count > 0) tn_execution_end(x[--count]);
    CHECK_INT(b.session->held_bytes, 0);
    bench_free_texts(texts, 100);
    bench_end(&b);
}

TEST(too_many_at_once_is_busy)
{
    struct bench b;
    tn_string text = bench_text("a");
    static struct tn_execution *x[TN_EXECUTIONS];
    REQUIRE(begin(&b, UINT64_C(1) << 30));
    fake.blocked = true;
    for (size_t i = 0; i < TN_EXECUTIONS; i++) REQUIRE((x[i] = bench_start(&b, &text, 1, 0)));
    CHECK(bench_start(&b, &text, 1, 0) == NULL);
    CHECK_INT(b.err->primary.code, TN_BUSY);
    CHECK_STR(b.err->primary.found, "1024");
    CHECK(b.err->retryable);
    fake.blocked = false;
    for (size_t i = 0; i < TN_EXECUTIONS; i++) {
        CHECK_INT(bench_pull_all(x[i], NULL, b.err), TN_OK);
        tn_execution_end(x[i]);
    }
    bench_end(&b);
}

TEST(what_is_admitted_is_what_is_held)
{
    struct bench b;
    REQUIRE(begin(&b, UINT64_C(1) << 30));
    tn_string *texts = bench_texts(500);
    uint64_t before = tn_alloc_current(&b.session->lease);
    fake.blocked = true;
    struct tn_execution *x = bench_start(&b, texts, 500, 0);
    REQUIRE(x);
    uint64_t held = tn_alloc_current(&b.session->lease) - before;
    CHECK(held <= b.session->held_bytes + 4096); /* scratch of the tokenizer may grow meanwhile */
    CHECK(held + 256 >= b.session->held_bytes);
    fake.blocked = false;
    CHECK_INT(bench_pull_all(x, NULL, b.err), TN_OK);
    tn_execution_end(x);
    bench_free_texts(texts, 500);
    bench_end(&b);
}

TEST(working_memory_of_a_long_text_is_counted_and_given_back)
{
    struct bench b;
    enum { BYTES = 1 << 20 };
    REQUIRE(begin(&b, UINT64_C(1) << 30));
    char *s = malloc(BYTES);
    for (size_t i = 0; i < BYTES; i++) s[i] = i % 2 ? ' ' : 'a';
    tn_string text = {s, BYTES};
    uint64_t before = tn_alloc_current(&b.session->lease), usual = 0;
    for (int round = 0; round < 2; round++) {
        struct tn_execution *x = bench_start(&b, &text, 1, 0);
        REQUIRE(x);
        CHECK(b.session->held_bytes >= 6 * (uint64_t)BYTES);
        CHECK_INT(bench_pull_all(x, NULL, b.err), TN_OK);
        tn_execution_end(x);
        uint64_t after = tn_alloc_current(&b.session->lease);
        CHECK(after <= before);
        if (round == 1) CHECK_INT(after, usual);
        usual = after;
    }
    /* Without room for it the request is refused at once and not in the middle of its work. */
    b.session->lease.budget = tn_alloc_current(&b.session->lease) + 3 * BYTES;
    CHECK(bench_start(&b, &text, 1, 0) == NULL);
    CHECK_INT(b.err->primary.code, TN_INSUFFICIENT_MEMORY);
    free(s);
    bench_end(&b);
}
