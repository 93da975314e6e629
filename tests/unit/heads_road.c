/*
 * The tasks over heads on the whole road: plans and documents that come back, the same bits in any company, requests that
 * are wrong, allocations that fail, work that is cancelled.
 */
#define _GNU_SOURCE
#include "heads_util.h"

#include "api/api.h"

#include <sys/stat.h>

enum { PATH = 1024, TEXTS = 24, WIDTH = 3 };

static const char *classifier(void)
{
    return test_path("golden/heads/bert_single");
}

static const char *ranker(void)
{
    return test_path("golden/heads/mpnet_scorer");
}

static const char *const words[] = {"", "water", "the people were there", "hello, world! 42 of them", "zq", "words for all of them in time "
                                    "and the people of the world make water and words and look at all of them once more"};

static void fill(tn_string *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) texts[i] = api_string(words[(i * 5 + i / 6) % 6]);
}

/* ---- plans and documents that come back ------------------------------------------------------------------------------ */

static void plan_again(struct api *a, const char *path, const char *task)
{
    tn_package *package = api_open(a, path);
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL, *again = NULL;
    tn_document *one = NULL, *two = NULL;
    size_t length = 0;
    o.task = task;
    REQUIRE(tn_plan_new(package, &o, &plan, a->err) == TN_OK && tn_plan_json(plan, &one, a->err) == TN_OK);
    const char *text = tn_document_text(one, &length);
    tn_status st = tn_plan_parse(package, text, length, &again, a->err);
    if (st) test_fail(__FILE__, __LINE__, "%s: %s", task, tn_error_message(a->err));
    CHECK_INT(tn_plan_json(again, &two, a->err), TN_OK);
    CHECK_STR(tn_document_text(two, NULL), text);
    tn_document_free(one);
    tn_document_free(two);
    tn_plan_free(plan);
    tn_plan_free(again);
    tn_package_free(package);
}

TEST(printed_plans_are_taken_again)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    plan_again(&a, classifier(), "classify.text");
    plan_again(&a, ranker(), "rerank");
    plan_again(&a, test_path("golden/heads/bert_scorer_two"), "rerank");
    plan_again(&a, test_path("golden/heads/electra_tags"), "tag");
    plan_again(&a, test_path("golden/heads/modernbert_masks"), "fill-mask");
    api_end(&a);
}

static void copy(const char *from, const char *to, const char *name)
{
    char path[PATH + 128];
    size_t size = 0;
    snprintf(path, sizeof(path), "%s/%s", from, name);
    char *bytes = test_read_file(path, &size);
    snprintf(path, sizeof(path), "%s/%s", to, name);
    if (bytes) test_write_file(path, bytes, size);
    free(bytes);
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[PATH + 128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    test_write_file(path, text, strlen(text));
}

static void plan_id(struct api *a, const char *path, const char *task, char out[72])
{
    tn_status st;
    tn_document *document = NULL;
    tn_plan *plan = heads_plan(a, path, task, &st);
    out[0] = 0;
    if (st) test_fail(__FILE__, __LINE__, "%s: %s", path, tn_error_message(a->err));
    if (plan && tn_plan_json(plan, &document, a->err) == TN_OK) snprintf(out, 72, "%.64s", strstr(tn_document_text(document, NULL), "\"id\": \"") + 7);
    tn_document_free(document);
    tn_plan_free(plan);
}

static void logits_of(struct api *a, const char *path, float out[TEXTS * WIDTH])
{
    tn_string texts[TEXTS];
    tn_event events[TEXTS];
    tn_classify_request r = TN_INIT(tn_classify_request);
    tn_session *session = heads_session(a, path, "classify.text");
    if (!session) return;
    fill(texts, TEXTS);
    r.texts = texts;
    r.count = TEXTS;
    tn_execution *x = heads_classify(a, session, &r, events, TEXTS);
    for (size_t i = 0; i < TEXTS; i++)
        if (events[i].logit_count) memcpy(out + i * WIDTH, events[i].logits, events[i].logit_count * sizeof(float));
    tn_execution_free(x);
    tn_session_free(session);
}

/* Described, its own configuration removed, opened again: the same plan, the same bits. */
static void round_trip(struct api *a, const char *name, const char *format, const char *task)
{
    char path[PATH + 128], folder[PATH], before[72], after[72];
    static float one[TEXTS * WIDTH], two[TEXTS * WIDTH];
    tn_document *metadata = NULL, *content = NULL, *verdict = NULL;
    tn_description_options o = TN_INIT(tn_description_options);
    int valid = 0;
    snprintf(path, sizeof(path), "%.900s/%s", test_path("golden/heads"), name);
    snprintf(folder, sizeof(folder), "%s/%s", test_folder(), name);
    mkdir(folder, 0700);
    o.format = format;
    tn_package *package = api_open(a, path);
    REQUIRE(tn_package_describe(package, &o, &metadata, &content, a->err) == TN_OK);
    copy(path, folder, "model.safetensors");
    copy(path, folder, "tokenizer.json");
    char file[64];
    snprintf(file, sizeof(file), "inference_metadata.%s", format);
    put(folder, file, tn_document_text(metadata, NULL));
    put(folder, "tenon_package.json", tn_document_text(content, NULL));
    tn_document_free(metadata);
    tn_document_free(content);
    tn_package_free(package);
    memset(one, 0, sizeof(one));
    memset(two, 0, sizeof(two));
    if (strcmp(task, "classify.text") == 0) {
        logits_of(a, path, one);
        logits_of(a, folder, two);
    }
    CHECK(memcmp(one, two, sizeof(one)) == 0);
    plan_id(a, path, task, before);
    plan_id(a, folder, task, after);
    CHECK_STR(after, before);
    package = api_open(a, folder);
    CHECK_INT(tn_package_validate(package, &valid, &verdict, a->err), TN_OK);
    if (!valid) test_fail(__FILE__, __LINE__, "%s: %s", name, tn_document_text(verdict, NULL));
    tn_document_free(verdict);
    tn_package_free(package);
}

TEST(packages_run_from_their_documents)
{
    static const char *const names[] = {"bert_single", "bert_multi", "distilbert_scorer", "mpnet_scorer", "bert_scorer_block",
                                        "bert_unlabelled", "bert_scorer_two", "bert_value", "bert_scorer_prompt",
                                        "modernbert_single", "deberta-v2_single"};
    struct api a;
    REQUIRE(api_begin(&a, 2));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) round_trip(&a, names[i], i % 2 ? "json" : "yaml", "classify.text");
    round_trip(&a, "roberta_masks", "json", "fill-mask");
    round_trip(&a, "bert_tags", "yaml", "tag");
    api_end(&a);
}

/* ---- company --------------------------------------------------------------------------------------------------------- */

static void company(unsigned threads, float *first)
{
    struct api a;
    tn_string texts[TEXTS];
    tn_event all[TEXTS], one;
    REQUIRE(api_begin(&a, threads));
    tn_session *session = heads_session(&a, classifier(), "classify.text");
    REQUIRE(session);
    fill(texts, TEXTS);
    for (unsigned batch = 0; batch <= 5; batch += 5) {
        tn_classify_request r = TN_INIT(tn_classify_request);
        r.texts = texts;
        r.count = TEXTS;
        r.batch = batch;
        tn_execution *x = heads_classify(&a, session, &r, all, TEXTS);
        for (size_t i = 0; i < TEXTS; i++) {
            tn_classify_request alone = TN_INIT(tn_classify_request);
            alone.texts = &texts[i];
            alone.count = 1;
            tn_execution *y = heads_classify(&a, session, &alone, &one, 1);
            CHECK(memcmp(all[i].logits, one.logits, WIDTH * sizeof(float)) == 0);
            tn_execution_free(y);
            if (threads == 1 && batch == 0) memcpy(first + i * WIDTH, all[i].logits, WIDTH * sizeof(float));
            else CHECK(memcmp(first + i * WIDTH, all[i].logits, WIDTH * sizeof(float)) == 0);
        }
        tn_execution_free(x);
    }
    tn_session_free(session);
    api_end(&a);
}

TEST(the_same_bits_in_any_company)
{
    static float first[TEXTS * WIDTH];
    for (unsigned threads = 1; threads <= 4; threads++) company(threads, first);
}

/* A row for each token: rows of many sequences in one invocation come back to their own. */
TEST(tags_do_not_depend_on_company)
{
    struct api a;
    tn_string texts[TEXTS];
    tn_event all[TEXTS] = {{0}}, one = {0};
    for (unsigned threads = 1; threads <= 3; threads++) {
        REQUIRE(api_begin(&a, threads));
        tn_session *session = heads_session(&a, test_path("golden/heads/electra_tags"), "tag");
        REQUIRE(session);
        fill(texts, TEXTS);
        tn_tag_request r = TN_INIT(tn_tag_request);
        r.texts = texts;
        r.count = TEXTS;
        r.want_logits = true;
        r.aggregation = TN_AGGREGATE_AVERAGE;
        tn_execution *x = NULL, *y = NULL;
        REQUIRE(tn_tag_start(session, &r, &x, a.err) == TN_OK);
        CHECK_INT(heads_collect(&a, x, all, TEXTS, TN_OK), TEXTS);
        for (size_t i = 0; i < TEXTS; i++) {
            tn_tag_request alone = r;
            alone.texts = &texts[i];
            alone.count = 1;
            REQUIRE(tn_tag_start(session, &alone, &y, a.err) == TN_OK);
            heads_collect(&a, y, &one, 1, TN_OK);
            CHECK(one.logit_count == all[i].logit_count && one.tag_count == all[i].tag_count);
            CHECK(memcmp(one.logits, all[i].logits, one.logit_count * sizeof(float)) == 0);
            for (size_t k = 0; k < one.tag_count; k++)
                CHECK(one.tags[k].score == all[i].tags[k].score && one.tags[k].begin == all[i].tags[k].begin);
            tn_execution_free(y);
        }
        tn_execution_free(x);
        tn_session_free(session);
        api_end(&a);
    }
}

TEST(a_document_s_score_does_not_depend_on_the_others)
{
    struct api a;
    tn_string documents[TEXTS];
    tn_event all[TEXTS], one;
    REQUIRE(api_begin(&a, 3));
    tn_session *session = heads_session(&a, ranker(), "rerank");
    REQUIRE(session);
    fill(documents, TEXTS);
    tn_rerank_request r = TN_INIT(tn_rerank_request);
    r.query = api_string("which of these is water");
    r.documents = documents;
    r.count = TEXTS;
    tn_execution *x = heads_rerank(&a, session, &r, all, TEXTS);
    for (size_t k = 0; k < TEXTS; k++) {
        tn_rerank_request alone = r;
        alone.documents = &documents[all[k].index];
        alone.count = 1;
        tn_execution *y = heads_rerank(&a, session, &alone, &one, 1);
        CHECK(one.score == all[k].score && one.logits[0] == all[k].logits[0]);
        CHECK_INT(one.tokens, all[k].tokens);
        tn_execution_free(y);
        if (k > 0) CHECK(all[k].score < all[k - 1].score || (all[k].score == all[k - 1].score && all[k].index > all[k - 1].index));
    }
    tn_execution_free(x);
    tn_session_free(session);
    api_end(&a);
}

/* ---- requests -------------------------------------------------------------------------------------------------------- */

static void refused(struct api *a, tn_status found, tn_status expected, const char *option)
{
    CHECK_INT(found, expected);
    CHECK_INT(tn_error_code(a->err), expected);
    CHECK_STR(tn_error_element(a->err), option);
}

TEST(wrong_requests_are_refused_by_their_member)
{
    struct api a;
    tn_execution *x;
    REQUIRE(api_begin(&a, 1));
    tn_session *session = heads_session(&a, classifier(), "classify.text");
    REQUIRE(session);
    tn_string text = api_string("water"), broken = {NULL, 4};
    tn_classify_request good = TN_INIT(tn_classify_request);
    good.texts = &text;
    good.count = 1;
    tn_classify_request r = good;
    r.scores = (tn_score_choice)9;
    refused(&a, tn_classify_start(session, &r, &x, a.err), TN_INVALID_REQUEST, "scores");
    r = good;
    r.truncation = (tn_truncation)77;
    refused(&a, tn_classify_start(session, &r, &x, a.err), TN_INVALID_REQUEST, "truncation");
    r = good;
    r.side = (tn_side)-1;
    refused(&a, tn_classify_start(session, &r, &x, a.err), TN_INVALID_REQUEST, "side");
    r = good;
    r.role = "nobody";
    refused(&a, tn_classify_start(session, &r, &x, a.err), TN_INVALID_REQUEST, "role");
    r = good;
    r.threshold_set = true;
    r.threshold = NAN;
    refused(&a, tn_classify_start(session, &r, &x, a.err), TN_INVALID_REQUEST, "threshold");
    r = good;
    r.texts = NULL;
    refused(&a, tn_classify_start(session, &r, &x, a.err), TN_INVALID_REQUEST, "texts");
    r = good;
    r.texts = &broken;
    refused(&a, tn_classify_start(session, &r, &x, a.err), TN_INVALID_REQUEST, "texts");
    CHECK_INT(tn_error_item(a.err), 0);
    r = good;
    r.pairs = &broken;
    CHECK_INT(tn_classify_start(session, &r, &x, a.err), TN_INVALID_REQUEST);
    /* every caller knows what the first release had; one that says less has not set the size */
    tn_classify_request small = TN_INIT(tn_classify_request);
    small.struct_size = sizeof(size_t);
    refused(&a, tn_classify_start(session, &small, &x, a.err), TN_INVALID_REQUEST, "struct_size");
    small.struct_size = offsetof(tn_classify_request, timeout_ms);
    refused(&a, tn_classify_start(session, &small, &x, a.err), TN_INVALID_REQUEST, "struct_size");
    tn_rerank_request rank = TN_INIT(tn_rerank_request);
    CHECK_INT(tn_rerank_start(session, &rank, &x, a.err), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_found(a.err), "classify.text");
    tn_session_free(session);
    session = heads_session(&a, ranker(), "rerank");
    REQUIRE(session);
    rank.query = (tn_string){"\xFFq", 2};
    refused(&a, tn_rerank_start(session, &rank, &x, a.err), TN_INVALID_REQUEST, "query");
    rank.query = broken;
    refused(&a, tn_rerank_start(session, &rank, &x, a.err), TN_INVALID_REQUEST, "query");
    rank.query = text;
    rank.count = 2;
    refused(&a, tn_rerank_start(session, &rank, &x, a.err), TN_INVALID_REQUEST, "documents");
    CHECK(x == NULL);
    tn_session_free(session);
    session = heads_session(&a, test_path("golden/heads/bert_value"), "classify.text");
    r = good;
    r.scores = TN_SCORES_PROBABILITY;
    refused(&a, tn_classify_start(session, &r, &x, a.err), TN_UNSUPPORTED_OPTION, "scores");
    tn_session_free(session);
    api_end(&a);
}

TEST(one_bad_document_fails_alone_or_all)
{
    struct api a;
    tn_string documents[4] = {api_string("water"), {"\xC0", 1}, api_string("words"), api_string("water and words and people of the world "
                              "and water and words and people of the world and water and words")};
    tn_event events[8];
    REQUIRE(api_begin(&a, 2));
    tn_session *session = heads_session(&a, ranker(), "rerank");
    REQUIRE(session);
    tn_rerank_request r = TN_INIT(tn_rerank_request);
    r.query = api_string("people");
    r.documents = documents;
    r.count = 4;
    r.truncation = TN_TRUNCATE_NO;
    r.top_k = 1;
    tn_execution *x = heads_rerank(&a, session, &r, events, 8);
    CHECK_INT(events[0].status, TN_OK);
    CHECK_INT(events[1].status, TN_INVALID_REQUEST);
    CHECK_INT(events[1].index, 1);
    CHECK_INT(events[2].status, TN_INPUT_TOO_LONG);
    CHECK_INT(events[2].index, 3);
    tn_execution_free(x);
    r.atomic = true;
    REQUIRE(tn_rerank_start(session, &r, &x, a.err) == TN_OK);
    CHECK_INT(heads_collect(&a, x, events, 8, TN_INVALID_REQUEST), 0);
    CHECK_INT(tn_error_item(a.err), 1);
    tn_execution_free(x);
    r.count = 0;
    x = heads_rerank(&a, session, &r, events, 8);
    tn_execution_free(x);
    tn_session_free(session);
    api_end(&a);
}

/* More documents than the event queue holds: nothing is delivered before all are known, and nothing waits for ever. */
TEST(many_documents)
{
    enum { MANY = 3000 };
    struct api a;
    static tn_string documents[MANY];
    static tn_event events[MANY];
    REQUIRE(api_begin(&a, 2));
    tn_session *session = heads_session(&a, ranker(), "rerank");
    REQUIRE(session);
    fill(documents, MANY);
    tn_rerank_request r = TN_INIT(tn_rerank_request);
    r.query = api_string("q");
    r.documents = documents;
    r.count = MANY;
    tn_execution *x = heads_rerank(&a, session, &r, events, MANY);
    for (size_t k = 1; k < MANY; k++)
        if (!(events[k].score < events[k - 1].score || (events[k].score == events[k - 1].score && events[k].index > events[k - 1].index)))
            test_fail(__FILE__, __LINE__, "place %zu", k);
    tn_execution_free(x);
    tn_session_free(session);
    api_end(&a);
}

/* ---- documents as requests ------------------------------------------------------------------------------------------- */

static char *run_document(struct api *a, tn_session *session, const char *request, tn_status expected)
{
    tn_execution *x = NULL;
    tn_document *result = NULL;
    tn_event events[8];
    char *text = NULL;
    tn_status st = tn_request_start(session, request, strlen(request), &x, a->err);
    CHECK_INT(st, expected);
    if (st) return NULL;
    CHECK_INT(tn_execution_result(x, &result, a->err) == TN_BUSY || result, 1);
    tn_document_free(result);
    result = NULL;
    heads_collect(a, x, events, 8, TN_OK);
    CHECK_INT(tn_execution_result(x, &result, a->err), TN_OK);
    if (result) text = strdup(tn_document_text(result, NULL));
    tn_document_free(result);
    tn_execution_free(x);
    return text;
}

TEST(requests_in_json)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    tn_session *session = heads_session(&a, ranker(), "rerank");
    REQUIRE(session);
    char *text = run_document(&a, session, "{\"query\": \"water\", \"documents\": [{\"id\": \"one\", \"text\": \"words\"}, \"a\", {\"text\": \"b\"}], "
                                           "\"scores\": \"logit\", \"truncation\": \"only_second\", \"side\": \"left\", \"batch\": 2}", TN_OK);
    CHECK_CONTAINS(text, "\"id\": \"one\"");
    CHECK_CONTAINS(text, "\"score_kind\": \"logit\"");
    CHECK_CONTAINS(text, "\"contract\": \"tenon.rerank/v1\"");
    CHECK_CONTAINS(text, "\"only_second\"");
    free(text);
    static const struct {
        const char *request, *place;
    } bad[] = {
        {"{\"documents\": []}", "/query"},
        {"{\"query\": \"a\"}", "/documents"},
        {"{\"query\": \"a\", \"documents\": [3]}", "/documents/0"},
        {"{\"query\": \"a\", \"documents\": [{\"id\": 1}]}", "/documents/0/text"},
        {"{\"query\": \"a\", \"documents\": [{\"id\": [], \"text\": \"\"}]}", "/documents/0/id"},
        {"{\"query\": \"a\", \"documents\": [], \"scores\": \"loud\"}", "/scores"},
        {"{\"query\": \"a\", \"documents\": [], \"top_k\": 0}", "/top_k"},
        {"{\"query\": \"a\", \"documents\": [], \"top_k\": -1}", "/top_k"},
        {"{\"query\": \"a\", \"documents\": [], \"timeout_ms\": 99999999999}", "/timeout_ms"},
        {"{\"query\": \"a\", \"documents\": [], \"wanted\": 1}", "/wanted"},
        {"[]", ""},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        run_document(&a, session, bad[i].request, TN_INVALID_REQUEST);
        CHECK_STR(tn_error_element(a.err), bad[i].place);
        CHECK_STR(tn_error_phase(a.err), "request");
    }
    run_document(&a, session, "{\"query\": ", TN_INVALID_REQUEST);
    run_document(&a, session, "", TN_INVALID_REQUEST);
    run_document(&a, session, "{\"query\": \"a\", \"documents\": [], \"role\": \"x\\u0000y\"}", TN_INVALID_REQUEST);
    CHECK_STR(tn_error_element(a.err), "role");
    tn_session_free(session);
    session = heads_session(&a, test_path("golden/packages/bert_options"), "embedding.dense");
    text = run_document(&a, session, "{\"texts\": [\"a\", {\"id\": 5, \"text\": \"b\"}], \"dimensions\": 2, \"normalize\": \"yes\"}", TN_OK);
    CHECK_CONTAINS(text, "\"embedding\": [");
    CHECK_CONTAINS(text, "\"id\": 5");
    free(text);
    tn_session_free(session);
    api_end(&a);
}

/* ---- cancelling ------------------------------------------------------------------------------------------------------ */

TEST(a_cancelled_ranking_delivers_nothing)
{
    enum { MANY = 20000 };
    struct api a;
    static tn_string documents[MANY];
    tn_event e;
    REQUIRE(api_begin(&a, 2));
    tn_session *session = heads_session(&a, ranker(), "rerank");
    REQUIRE(session);
    fill(documents, MANY);
    tn_rerank_request r = TN_INIT(tn_rerank_request);
    r.query = api_string("q");
    r.documents = documents;
    r.count = MANY;
    tn_memory_info before = TN_INIT(tn_memory_info), after = TN_INIT(tn_memory_info);
    tn_runtime_memory(a.runtime, false, &before);
    tn_execution *x;
    REQUIRE(tn_rerank_start(session, &r, &x, a.err) == TN_OK);
    tn_execution_cancel(x);
    CHECK_INT(tn_execution_next(x, UINT32_MAX, &e, a.err), TN_OK);
    CHECK_INT(e.kind, TN_EVENT_TERMINAL);
    CHECK_INT(e.status, TN_CANCELLED);
    CHECK_INT(tn_execution_drain(x, UINT32_MAX, a.err), TN_OK);
    tn_document *result = NULL;
    CHECK_INT(tn_execution_result(x, &result, a.err), TN_OK);
    CHECK_CONTAINS(tn_document_text(result, NULL), "\"data\": []");
    tn_document_free(result);
    tn_execution_free(x);
    tn_runtime_memory(a.runtime, false, &after);
    CHECK(after.current_bytes <= before.current_bytes + (1 << 16));
    r.count = 5;
    tn_event events[5];
    x = heads_rerank(&a, session, &r, events, 5);
    CHECK_INT(events[4].status, TN_OK);
    tn_execution_free(x);
    tn_session_free(session);
    api_end(&a);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

static unsigned stride(void)
{
    const char *text = getenv("TN_FAULT_STRIDE");
    unsigned n = text ? (unsigned)strtoul(text, NULL, 10) : 0;
    return n ? n : 1;
}

/* One request as a document, to its result as a document. */
static tn_status whole_request(struct api *a, tn_session *session, const char *request)
{
    tn_execution *x = NULL;
    tn_document *result = NULL;
    tn_event e = {.kind = TN_EVENT_NONE};
    tn_status st = tn_request_start(session, request, strlen(request), &x, a->err);
    while (!st && e.kind != TN_EVENT_TERMINAL) st = tn_execution_next(x, UINT32_MAX, &e, a->err);
    if (!st) st = e.status;
    if (!st) st = tn_execution_drain(x, UINT32_MAX, a->err);
    if (!st) st = tn_execution_result(x, &result, a->err);
    tn_document_free(result);
    tn_execution_free(x);
    return st;
}

static void sweep(const char *path, const char *task, const char *request)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    tn_session *session = heads_session(&a, path, task);
    REQUIRE(session);
    CHECK_INT(whole_request(&a, session, request), TN_OK);
    uint64_t before = tn_alloc_current(&a.runtime->alloc);
    for (unsigned n = 1; n < 20000; n += stride()) {
        tn_alloc_fail(&a.runtime->alloc, n, n % 2);
        tn_status st = whole_request(&a, session, request);
        bool hit = a.runtime->alloc.fail_at != 0 && a.runtime->alloc.calls >= a.runtime->alloc.fail_at;
        tn_alloc_fail(&a.runtime->alloc, 0, false);
        if (st != (hit ? TN_INSUFFICIENT_MEMORY : TN_OK)) test_fail(__FILE__, __LINE__, "%s, allocation %u: %s: %s", task, n, tn_status_name(st), tn_error_message(a.err));
        if (hit) CHECK_INT(tn_error_code(a.err), TN_INSUFFICIENT_MEMORY);
        if (tn_alloc_current(&a.runtime->alloc) > before + 65536) test_fail(__FILE__, __LINE__, "%s, allocation %u: memory stays", task, n);
        if (!hit) break;
    }
    CHECK_INT(whole_request(&a, session, request), TN_OK);
    tn_session_free(session);
    api_end(&a);
}

TEST(sweep_requests)
{
    sweep(classifier(), "classify.text", "{\"texts\": [{\"id\": 1, \"text\": \"water\"}, {\"text\": \"a\", \"pair\": \"b\"}], \"top_k\": 2, \"threshold\": 0.1}");
    sweep(test_path("golden/heads/bert_tags"), "tag", "{\"texts\": [\"hello world\", {\"id\": 3, \"text\": \"\"}], \"aggregation\": \"max\", \"want_logits\": true}");
    sweep(ranker(), "rerank", "{\"query\": \"water\", \"documents\": [\"a\", {\"id\": \"x\", \"text\": \"b\"}], \"scores\": \"logit\", \"atomic\": true}");
}

TEST(sweep_road)
{
    struct api a;
    for (unsigned n = 1; n < 20000; n += 7 * stride()) {
        REQUIRE(api_begin(&a, 1));
        tn_package *package = NULL;
        tn_plan *plan = NULL;
        tn_session *session = NULL;
        tn_document *tasks = NULL, *text = NULL;
        tn_plan_options o = TN_INIT(tn_plan_options);
        int served = 0;
        o.task = "rerank";
        tn_alloc_fail(&a.runtime->alloc, n, n % 2);
        tn_status st = tn_package_open(a.runtime, ranker(), NULL, &package, a.err);
        if (!st) st = tn_package_tasks(package, &o, &served, &tasks, a.err);
        if (!st) st = tn_plan_new(package, &o, &plan, a.err);
        if (!st) st = tn_plan_json(plan, &text, a.err);
        if (!st) st = tn_session_load(plan, NULL, &session, a.err);
        bool hit = a.runtime->alloc.fail_at != 0 && a.runtime->alloc.calls >= a.runtime->alloc.fail_at;
        tn_alloc_fail(&a.runtime->alloc, 0, false);
        if (st != (hit ? TN_INSUFFICIENT_MEMORY : TN_OK)) test_fail(__FILE__, __LINE__, "allocation %u: %s: %s", n, tn_status_name(st), tn_error_message(a.err));
        if (!hit) CHECK(served >= 2);
        tn_document_free(tasks);
        tn_document_free(text);
        tn_session_free(session);
        tn_plan_free(plan);
        tn_package_free(package);
        api_end(&a);
        if (!hit) return;
    }
    test_fail(__FILE__, __LINE__, "the sweep has no end");
}
