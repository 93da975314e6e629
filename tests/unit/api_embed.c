/*
 * Embedding requests over the public interface and the native provider: lengths, broken texts, all or nothing, roles,
 * normalisation and dimensions, company and order. Values against the reference are in api_golden.c.
 */
#include "api_util.h"

enum { MOST = 64 };

struct road {
    struct api a;
    tn_session *session;
    tn_execution *x;
    tn_event events[MOST], end;
};

static bool road_begin(struct road *r, const char *package, unsigned threads)
{
    char path[256];
    memset(r, 0, sizeof(*r));
    snprintf(path, sizeof(path), "golden/packages/%s", package);
    if (!api_begin(&r->a, threads)) return false;
    r->session = api_session(&r->a, test_path(path));
    return r->session != NULL;
}

static void road_end(struct road *r)
{
    tn_execution_free(r->x);
    tn_session_free(r->session);
    api_end(&r->a);
}

/* Runs a request; events in r->events, the terminal one in r->end. */
static tn_status run(struct road *r, const tn_embed_request *request)
{
    size_t n = 0;
    tn_execution_free(r->x);
    r->x = NULL;
    memset(r->events, 0, sizeof(r->events));
    tn_status st = tn_embed_start(r->session, request, &r->x, r->a.err);
    while (!st) {
        tn_event e;
        st = tn_execution_next(r->x, UINT32_MAX, &e, r->a.err);
        if (st || e.kind == TN_EVENT_TERMINAL) {
            r->end = e;
            return st ? st : e.status;
        }
        if (e.kind == TN_EVENT_ITEM && n < MOST) r->events[n++] = e;
    }
    return st;
}

static double norm(const tn_event *e)
{
    double sum = 0;
    for (size_t i = 0; i < e->dimensions; i++) sum += (double)e->embedding[i] * (double)e->embedding[i];
    return sqrt(sum);
}

/* The account as text; free it with tn_document_free. */
static const char *account(struct road *r, tn_document **document)
{
    CHECK_INT(tn_execution_account(r->x, document, r->a.err), TN_OK);
    return tn_document_text(*document, NULL);
}

static void expect_account(struct road *r, const char *part)
{
    tn_document *d;
    CHECK_CONTAINS(account(r, &d), part);
    tn_document_free(d);
}

/* ---- lengths: the model takes 32 tokens, two of them special ---- */

static void repeat(char *out, const char *word, size_t times)
{
    out[0] = 0;
    for (size_t i = 0; i < times; i++) strcat(out, word);
}

TEST(lengths_at_and_around_the_limit)
{
    static const size_t words[] = {29, 30, 31, 998};
    static char text[4][2048];
    struct road r;
    tn_string texts[4];
    REQUIRE(road_begin(&r, "bert_options", 2));
    for (int i = 0; i < 4; i++) {
        repeat(text[i], "a ", words[i]);
        texts[i] = api_string(text[i]);
    }
    tn_embed_request q = api_request(texts, 4);
    CHECK_INT(run(&r, &q), TN_OK);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(r.events[i].status, TN_OK);
        CHECK_INT(r.events[i].tokens, words[i] + 2 < 32 ? words[i] + 2 : 32);
        CHECK_INT(r.events[i].tokens_total, words[i] + 2);
        CHECK_INT(r.events[i].truncated, words[i] + 2 > 32);
    }
    /* Prefix and end token are kept: what is cut equals the text that just fits. */
    CHECK(memcmp(r.events[1].embedding, r.events[3].embedding, r.events[1].dimensions * sizeof(float)) == 0);
    expect_account(&r, "\"truncated\": 2");
    road_end(&r);
}

TEST(too_long_is_one_items_failure)
{
    static char text[2048];
    struct road r;
    repeat(text, "a ", 600);
    tn_string texts[3] = {api_string("a"), api_string(text), api_string("b")};
    REQUIRE(road_begin(&r, "bert_options", 2));
    tn_embed_request q = api_request(texts, 3);
    q.truncation = TN_TRUNCATE_NO;
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK_INT(r.events[0].status, TN_OK);
    CHECK_INT(r.events[1].status, TN_INPUT_TOO_LONG);
    CHECK(r.events[1].embedding == NULL);
    CHECK_INT(r.events[2].status, TN_OK);
    CHECK_INT(r.end.failed_items, 1);
    q.atomic = true;
    CHECK_INT(run(&r, &q), TN_INPUT_TOO_LONG);
    CHECK_INT(r.events[0].kind, TN_EVENT_NONE); /* nothing of it is delivered */
    CHECK_INT(r.end.index, 1);
    CHECK_INT(tn_error_item(r.a.err), 1);
    CHECK_CONTAINS(tn_error_message(r.a.err), "the text has 602 tokens, the model takes 32");
    CHECK_CONTAINS(tn_error_expected(r.a.err), "32");
    q.truncation = TN_TRUNCATE_LONGEST_FIRST;
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK_INT(r.events[2].status, TN_OK);
    road_end(&r);
}

TEST(an_atomic_request_may_be_longer_than_the_queue)
{
    enum { COUNT = 3000 };
    struct road r;
    static tn_string texts[COUNT];
    for (int i = 0; i < COUNT; i++) texts[i] = api_string(i % 2 ? "a" : "the b");
    REQUIRE(road_begin(&r, "bert_options", 2));
    tn_embed_request q = api_request(texts, COUNT);
    q.atomic = true;
    CHECK_INT(run(&r, &q), TN_OK);
    expect_account(&r, "\"items\": 3000");
    texts[COUNT - 1] = (tn_string){"\xff", 1};
    CHECK_INT(run(&r, &q), TN_INVALID_REQUEST);
    CHECK_INT(tn_error_item(r.a.err), COUNT - 1);
    CHECK_INT(r.events[0].kind, TN_EVENT_NONE);
    road_end(&r);
}

/* ---- texts ---- */

TEST(broken_texts_fail_alone_and_are_not_quoted)
{
    struct road r;
    tn_string texts[4] = {{"secret \xC3(", 9}, {"", 0}, {NULL, 0}, {"\xED\xA0\x80", 3}};
    REQUIRE(road_begin(&r, "bert_options", 2));
    tn_embed_request q = api_request(texts, 4);
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK_INT(r.events[0].status, TN_INVALID_REQUEST);
    CHECK_INT(r.events[1].status, TN_OK);
    CHECK_INT(r.events[1].tokens, 2);
    CHECK_INT(r.events[2].status, TN_OK);
    CHECK(memcmp(r.events[1].embedding, r.events[2].embedding, 16 * sizeof(float)) == 0);
    CHECK_INT(r.events[3].status, TN_INVALID_REQUEST);
    CHECK_INT(r.end.failed_items, 2);
    q.atomic = true;
    CHECK_INT(run(&r, &q), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_found(r.a.err), "offset 7");
    char json[8192];
    CHECK(tn_error_json(r.a.err, json, sizeof(json)) < sizeof(json));
    CHECK(strstr(json, "secret") == NULL);
    road_end(&r);
}

TEST(offsets_of_broken_texts_do_not_count_the_prompt)
{
    struct road r;
    tn_string text = {"ab\xff", 3};
    REQUIRE(road_begin(&r, "bert_prompt_included", 1));
    tn_embed_request q = api_request(&text, 1);
    q.role = "query";
    q.atomic = true;
    CHECK_INT(run(&r, &q), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_found(r.a.err), "offset 2");
    road_end(&r);
}

TEST(a_text_beyond_the_limit_of_bytes)
{
    struct road r;
    size_t n = (size_t)(64 << 20) + 1;
    char *big = calloc(1, n);
    tn_string texts[2] = {{big, n}, api_string("a")};
    REQUIRE(big && road_begin(&r, "bert_options", 1));
    tn_embed_request q = api_request(texts, 2);
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK_INT(r.events[0].status, TN_RESOURCE_LIMIT);
    CHECK_INT(r.events[1].status, TN_OK);
    free(big);
    road_end(&r);
}

TEST(malformed_requests)
{
    struct road r;
    tn_string text = api_string("a"), none = {NULL, 5};
    REQUIRE(road_begin(&r, "bert_options", 1));
    tn_embed_request q = api_request(NULL, 2);
    CHECK_INT(run(&r, &q), TN_INVALID_REQUEST);
    q = api_request(&none, 1);
    CHECK_INT(run(&r, &q), TN_INVALID_REQUEST);
    CHECK_INT(tn_error_item(r.a.err), 0);
    q = api_request(&text, 1);
    q.normalize = (tn_tristate)9;
    CHECK_INT(run(&r, &q), TN_INVALID_REQUEST);
    CHECK_STR(tn_error_element(r.a.err), "normalize");
    q = api_request(&text, 1);
    q.truncation = (tn_truncation)-1;
    CHECK_INT(run(&r, &q), TN_INVALID_REQUEST);
    CHECK_STR(tn_error_element(r.a.err), "truncation");
    q = api_request(&text, 1);
    q.side = (tn_side)3;
    CHECK_INT(run(&r, &q), TN_INVALID_REQUEST);
    CHECK_STR(tn_error_element(r.a.err), "side");
    q = api_request(&text, 1);
    q.dimensions = 17;
    CHECK_INT(run(&r, &q), TN_INVALID_REQUEST);
    CHECK_STR(tn_error_element(r.a.err), "dimensions");
    CHECK_STR(tn_error_expected(r.a.err), "1..16");
    q = api_request(&text, (size_t)-1);
    CHECK_INT(run(&r, &q), TN_RESOURCE_LIMIT);
    q = api_request(&text, 1);
    CHECK_INT(run(&r, &q), TN_OK);
    road_end(&r);
}

/* ---- roles ---- */

TEST(roles)
{
    struct road r;
    tn_string text = api_string("the people"), with_prompt = api_string("query: the people");
    float by_role[512];
    REQUIRE(road_begin(&r, "bert_prompt_included", 2));
    tn_embed_request q = api_request(&text, 1);
    q.role = "query";
    CHECK_INT(run(&r, &q), TN_OK);
    size_t bytes = r.events[0].dimensions * sizeof(float);
    memcpy(by_role, r.events[0].embedding, bytes);
    expect_account(&r, "\"role\": \"query\"");
    q = api_request(&with_prompt, 1);
    q.role = ""; /* no prompt, not even a default one */
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK(memcmp(by_role, r.events[0].embedding, bytes) == 0);
    expect_account(&r, "\"role\": null");
    q.role = "questions";
    CHECK_INT(run(&r, &q), TN_INVALID_REQUEST);
    CHECK_STR(tn_error_element(r.a.err), "role");
    CHECK_STR(tn_error_found(r.a.err), "questions");
    CHECK_CONTAINS(tn_error_expected(r.a.err), "query");
    CHECK_CONTAINS(tn_error_expected(r.a.err), "document");
    road_end(&r);
    /* The library gives every model these two with no text, and so does the description. */
    REQUIRE(road_begin(&r, "bert_options", 1));
    q.role = "document";
    CHECK_INT(run(&r, &q), TN_OK);
    expect_account(&r, "\"role\": \"document\"");
    road_end(&r);
}

/* ---- normalisation and dimensions ---- */

TEST(normalize_and_dimensions_of_a_package_that_normalizes)
{
    struct road r;
    tn_string text = api_string("the people were there");
    REQUIRE(road_begin(&r, "bert_options_normalized", 1));
    tn_embed_request q = api_request(&text, 1);
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK_NEAR(norm(&r.events[0]), 1, 1e-6);
    expect_account(&r, "\"normalized\": true");
    q.dimensions = 5;
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK_INT(r.events[0].dimensions, 5);
    CHECK(norm(&r.events[0]) < 1 - 1e-3); /* cut after the chain, as the reference does */
    expect_account(&r, "\"normalized\": false");
    q.normalize = TN_YES;
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK_NEAR(norm(&r.events[0]), 1, 1e-6);
    expect_account(&r, "\"normalized\": true");
    q.normalize = TN_NO;
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK(fabs(norm(&r.events[0]) - 1) > 1e-3);
    expect_account(&r, "\"normalized\": false");
    q.dimensions = 0;
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK(fabs(norm(&r.events[0]) - 1) > 1e-3);
    road_end(&r);
}

TEST(the_packages_own_truncation_is_not_normalised_again)
{
    struct road r;
    tn_string text = api_string("the people were there");
    REQUIRE(road_begin(&r, "bert_truncate_dim", 1));
    tn_embed_request q = api_request(&text, 1);
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK_INT(r.events[0].dimensions, 6);
    expect_account(&r, "\"normalized\": false");
    q.normalize = TN_YES;
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK_NEAR(norm(&r.events[0]), 1, 1e-6);
    q.normalize = TN_AUTO;
    q.dimensions = 4; /* the request's word against the package's */
    CHECK_INT(run(&r, &q), TN_OK);
    CHECK_INT(r.events[0].dimensions, 4);
    road_end(&r);
}

/* ---- identities ---- */

static void space_of(struct road *r, char *out)
{
    tn_document *d;
    const char *at = strstr(account(r, &d), "\"space\": \"");
    CHECK(at != NULL);
    snprintf(out, 65, "%s", at ? at + 10 : "");
    tn_document_free(d);
}

TEST(the_space_says_what_is_comparable)
{
    struct road r;
    tn_string text = api_string("the people");
    char all[65], again[65], cut[65], raw[65], other[65];
    REQUIRE(road_begin(&r, "bert_options_normalized", 1));
    tn_embed_request q = api_request(&text, 1);
    run(&r, &q);
    space_of(&r, all);
    CHECK_INT(strlen(all), 64);
    run(&r, &q);
    space_of(&r, again);
    CHECK_STR(again, all);
    q.normalize = TN_NO; /* stated beside the space, not part of it */
    run(&r, &q);
    space_of(&r, raw);
    CHECK_STR(raw, all);
    q.dimensions = 5;
    run(&r, &q);
    space_of(&r, cut);
    CHECK(strcmp(cut, all) != 0);
    road_end(&r);
    REQUIRE(road_begin(&r, "bert_pool_max", 1));
    q = api_request(&text, 1);
    run(&r, &q);
    space_of(&r, other);
    CHECK(strcmp(other, all) != 0);
    road_end(&r);
}

/* ---- company, order, threads ---- */

TEST(company_order_and_threads_do_not_change_a_bit)
{
    enum { COUNT = 40 };
    static char buffers[COUNT][256];
    static float alone[COUNT][64];
    tn_string texts[COUNT], mixed[COUNT];
    struct road r;
    for (int i = 0; i < COUNT; i++) {
        repeat(buffers[i], i % 3 ? "the people " : "water ", (size_t)(i * 7 % 19));
        texts[i] = api_string(buffers[i]);
    }
    for (unsigned threads = 1; threads <= 2; threads++) {
        REQUIRE(road_begin(&r, "mpnet_mean_normalize", threads));
        for (int i = 0; threads == 1 && i < COUNT; i++) {
            tn_embed_request q = api_request(&texts[i], 1);
            CHECK_INT(run(&r, &q), TN_OK);
            memcpy(alone[i], r.events[0].embedding, r.events[0].dimensions * sizeof(float));
        }
        for (unsigned batch = 0; batch < 4; batch++) {
            int step = batch % 2 ? 7 : 1; /* another order */
            for (int i = 0; i < COUNT; i++) mixed[i] = texts[i * step % COUNT];
            tn_embed_request q = api_request(mixed, COUNT);
            q.batch = batch * 5;
            CHECK_INT(run(&r, &q), TN_OK);
            for (int i = 0; i < COUNT; i++) {
                CHECK(memcmp(r.events[i].embedding, alone[i * step % COUNT], r.events[i].dimensions * sizeof(float)) == 0);
            }
        }
        road_end(&r);
    }
}

/* ---- the account ---- */

TEST(the_account_tells_what_ran)
{
    static const char *const parts[] = {
        "\"task\": \"embedding.dense\"", "\"contract\": \"tenon.embedding.dense/v1\"", "\"name\": \"native\"",
        "\"isa_class\": \"", "\"family\": {", "\"outcome\": \"completed\"", "\"evidence_level\": \"structurally_valid\"",
        "\"manifest\": \"", "\"weights\": \"", "\"tokenizer\": \"", "\"closure\": null", "\"plan\": \"", "\"space\": \"",
        "\"compute\": \"f32\"", "\"options\": {", "\"normalize\": {", "\"origin\": \"request\"", "\"origin\": \"package\"",
        "\"result\": {", "\"counts\": {", "\"sequences\": 1", "\"timings_ms\": {",
    };
    struct road r;
    tn_string text = api_string("a");
    tn_document *d;
    REQUIRE(road_begin(&r, "bert_mean_normalize", 1));
    tn_embed_request q = api_request(&text, 1);
    q.truncation = TN_TRUNCATE_LONGEST_FIRST;
    CHECK_INT(run(&r, &q), TN_OK);
    const char *json = account(&r, &d);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) CHECK_CONTAINS(json, parts[i]);
    tn_document_free(d);
    road_end(&r);
}
