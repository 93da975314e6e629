/*
 * Every allocation fails once, on the whole road: the right code, nothing left behind, and afterwards everything works.
 * TN_FAULT_STRIDE: step between the allocations that fail (1 = each).
 */
#include "api_util.h"

#include "api/api.h"

enum { MOST = 20000 };

static unsigned stride(unsigned otherwise)
{
    const char *text = getenv("TN_FAULT_STRIDE");
    unsigned n = text ? (unsigned)strtoul(text, NULL, 10) : 0;
    return n ? n : otherwise;
}

static const char *package_path(void)
{
    return test_path("golden/packages/bert_prompt_excluded");
}

static bool reached(const struct tn_runtime *r)
{
    return r->alloc.fail_at != 0 && r->alloc.calls >= r->alloc.fail_at;
}

static void expect_no_memory(tn_status st, const tn_error *err, const char *what, unsigned n)
{
    if (st != TN_INSUFFICIENT_MEMORY || tn_error_code(err) != TN_INSUFFICIENT_MEMORY) {
        test_fail(__FILE__, __LINE__, "%s, allocation %u: %s, %s: %s", what, n, tn_status_name(st),
                  tn_status_name(tn_error_code(err)), tn_error_message(err));
    }
}

/* ---- package, assessment, plan, documents ---- */

static tn_status road_to_plan(struct api *a)
{
    tn_package *package = NULL;
    tn_plan *plan = NULL, *again = NULL;
    tn_tokenizer *tokenizer = NULL;
    tn_document *inspect = NULL, *check = NULL, *text = NULL, *doctor = NULL;
    tn_decision decision;
    tn_plan_options o = TN_INIT(tn_plan_options);
    size_t length;
    o.task = "embedding.dense";
    tn_status st = tn_package_open(a->runtime, package_path(), NULL, &package, a->err);
    if (!st) st = tn_package_inspect(package, &inspect, a->err);
    if (!st) st = tn_assess(package, &o, &decision, &check, a->err);
    if (!st) CHECK_INT(decision, TN_ELIGIBLE);
    if (!st) st = tn_plan_new(package, &o, &plan, a->err);
    if (!st) st = tn_plan_json(plan, &text, a->err);
    if (!st) st = tn_plan_parse(package, tn_document_text(text, &length), strlen(tn_document_text(text, NULL)), &again, a->err);
    if (!st) st = tn_tokenizer_open(package, &tokenizer, a->err);
    if (!st) st = tn_doctor(a->runtime, &doctor, a->err);
    CHECK(st == TN_OK || st == tn_error_code(a->err));
    tn_document_free(doctor);
    tn_tokenizer_free(tokenizer);
    tn_plan_free(again);
    tn_document_free(text);
    tn_plan_free(plan);
    tn_document_free(check);
    tn_document_free(inspect);
    tn_package_free(package);
    return st;
}

TEST(sweep_package_and_plan)
{
    struct api a;
    unsigned step = stride(5);
    for (unsigned n = 1; n < MOST; n += step) {
        REQUIRE(api_begin(&a, 1));
        uint64_t before = tn_alloc_current(&a.runtime->alloc);
        tn_alloc_fail(&a.runtime->alloc, n, n % 2);
        tn_status st = road_to_plan(&a);
        bool hit = reached(a.runtime);
        if (hit) expect_no_memory(st, a.err, "plan", n);
        CHECK_INT(tn_alloc_current(&a.runtime->alloc), before);
        tn_alloc_fail(&a.runtime->alloc, 0, false);
        if (!hit) CHECK_INT(st, TN_OK);
        api_end(&a);
        if (!hit) return;
    }
    test_fail(__FILE__, __LINE__, "the sweep has no end");
}

/* ---- load ---- */

TEST(sweep_load)
{
    struct api a;
    unsigned step = stride(3);
    REQUIRE(api_begin(&a, 2));
    tn_package *package = api_open(&a, package_path());
    tn_plan *plan = package ? api_plan(&a, package) : NULL;
    REQUIRE(plan);
    tn_session *warm = api_load(&a, plan); /* the pool belongs to the runtime and stays */
    tn_session_free(warm);
    uint64_t before = tn_alloc_current(&a.runtime->alloc);
    for (unsigned n = 1; n < MOST; n += step) {
        tn_session *session;
        tn_alloc_fail(&a.runtime->alloc, n, n % 2);
        tn_status st = tn_session_load(plan, NULL, &session, a.err);
        bool hit = reached(a.runtime);
        tn_alloc_fail(&a.runtime->alloc, 0, false);
        if (hit) {
            expect_no_memory(st, a.err, "load", n);
            CHECK(session == NULL);
            CHECK_STR(tn_error_phase(a.err), "load");
        } else {
            CHECK_INT(st, TN_OK);
        }
        tn_session_free(session);
        CHECK_INT(tn_alloc_current(&a.runtime->alloc), before);
        if (hit) continue;
        tn_plan_free(plan);
        tn_package_free(package);
        api_end(&a);
        return;
    }
    test_fail(__FILE__, __LINE__, "the sweep has no end");
}

/* ---- embed ---- */

/* 0: succeeded, else the status that ended it. */
static tn_status embed(struct api *a, tn_session *session, const tn_string *texts, size_t count, bool atomic, float *out,
                       tn_document **account)
{
    tn_embed_request r = api_request(texts, count);
    tn_execution *x;
    tn_event events[8] = {{0}};
    r.atomic = atomic;
    r.role = "query";
    *account = NULL;
    tn_status st = tn_embed_start(session, &r, &x, a->err);
    if (st) return st;
    st = api_collect(x, events, count, a->err);
    if (!st) memcpy(out, events[count - 1].embedding, events[0].dimensions * sizeof(float));
    tn_error *scratch = tn_error_new();
    CHECK_INT(tn_execution_drain(x, UINT32_MAX, scratch), TN_OK);
    if (!st) st = tn_execution_account(x, account, a->err);
    tn_error_free(scratch);
    tn_execution_free(x);
    return st;
}

static bool sweep_embed(struct api *a, tn_session *session, bool atomic)
{
    static float good[1024], found[1024];
    static char long_text[60000];
    memset(long_text, 'a', sizeof(long_text) - 1);
    for (size_t i = 3; i < sizeof(long_text) - 1; i += 4) long_text[i] = ' ';
    tn_string texts[3] = {api_string("the people"), api_string(long_text), api_string("water and words")};
    tn_document *account;
    unsigned step = stride(1);
    /* A text this long makes the working memory of the tokenizer grow: the first run must do it under fire as well. */
    for (unsigned n = 1; n < MOST; n += step) {
        uint64_t blocks = a->runtime->alloc.blocks;
        tn_alloc_fail(&a->runtime->alloc, n, n % 2);
        tn_status st = embed(a, session, texts, 3, atomic, found, &account);
        bool hit = reached(a->runtime);
        tn_alloc_fail(&a->runtime->alloc, 0, false);
        if (hit) expect_no_memory(st, a->err, atomic ? "embed atomic" : "embed", n);
        if (!hit) CHECK_INT(st, TN_OK);
        tn_document_free(account);
        CHECK(a->runtime->alloc.blocks <= blocks + 16); /* the tokenizer's working memory is the session's */
        CHECK_INT(embed(a, session, texts, 1, false, good, &account), TN_OK);
        tn_document_free(account);
        if (!hit) return true;
    }
    test_fail(__FILE__, __LINE__, "the sweep has no end");
    return false;
}

TEST(sweep_embed)
{
    for (int atomic = 0; atomic < 2; atomic++) {
        struct api a;
        float one[1024], two[1024];
        tn_document *account;
        tn_string text = api_string("the people of the world");
        REQUIRE(api_begin(&a, 2));
        tn_session *session = api_session(&a, package_path());
        REQUIRE(session);
        CHECK_INT(embed(&a, session, &text, 1, false, one, &account), TN_OK);
        tn_document_free(account);
        CHECK(sweep_embed(&a, session, atomic));
        CHECK_INT(embed(&a, session, &text, 1, false, two, &account), TN_OK);
        tn_document_free(account);
        CHECK(memcmp(one, two, 96 * sizeof(float)) == 0);
        tn_session_free(session);
        api_end(&a);
    }
}
