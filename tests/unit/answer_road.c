/*
 * Question answering on the whole road: the same bits in any company, long contexts over many steps, requests that are
 * wrong, documents, allocations that fail, packages that state more or something else.
 */
#define _GNU_SOURCE
#include "heads_util.h"

#include "api/api.h"

#include <sys/stat.h>

enum { CONTEXTS = 12, PATH = 1024 };

static const char *package(const char *name)
{
    static char path[PATH];
    snprintf(path, sizeof(path), "%s/%s", test_path("golden/answers"), name);
    return path;
}

static const char *const words[] = {"a", "water and words for all of them in time", "there were 42 people, and more water than words; hello.",
                                    "zq \xC3\xA9t\xC3\xA9 \xE4\xB8\xAD\xE5\x9B\xBD", "the people of the world make water and words for all of them in time as they "
                                    "were there, and there were 42 people; some had been in the water and the others had no time"};

static void fill(tn_string *contexts, size_t count)
{
    for (size_t i = 0; i < count; i++) contexts[i] = api_string(words[(i * 3 + i / 5) % 5]);
}

static tn_answer_request asking(const tn_string *contexts, size_t count)
{
    tn_answer_request r = TN_INIT(tn_answer_request);
    r.question = api_string("who?");
    r.contexts = contexts;
    r.count = count;
    r.top_k = 4;
    r.no_answer = TN_YES;
    r.want_logits = true;
    return r;
}

static tn_execution *ask(struct api *a, tn_session *session, const tn_answer_request *r, tn_event *events, size_t most)
{
    tn_execution *x = NULL;
    memset(events, 0, most * sizeof(*events));
    tn_status st = tn_answer_start(session, r, &x, a->err);
    if (st) test_fail(__FILE__, __LINE__, "answer: %s: %s", tn_status_name(st), tn_error_message(a->err));
    if (x) CHECK_INT(heads_collect(a, x, events, most, TN_OK), r->count);
    return x;
}

static void same_answers(const tn_event *a, const tn_event *b)
{
    CHECK(a->answer_count == b->answer_count && a->window_count == b->window_count && a->logit_count == b->logit_count && a->tokens == b->tokens);
    if (a->answer_count != b->answer_count || a->logit_count != b->logit_count) return;
    CHECK(memcmp(a->logits, b->logits, a->logit_count * sizeof(float)) == 0);
    for (size_t k = 0; k < a->answer_count; k++) {
        const tn_answer *x = &a->answers[k], *y = &b->answers[k];
        CHECK(x->score == y->score && x->begin == y->begin && x->end == y->end && x->none == y->none && x->begin_char == y->begin_char);
        CHECK(x->text.length == y->text.length && memcmp(x->text.data, y->text.data, x->text.length) == 0);
    }
}

/* ---- company --------------------------------------------------------------------------------------------------------- */

TEST(answers_do_not_depend_on_company)
{
    tn_string contexts[CONTEXTS];
    tn_event all[CONTEXTS], one;
    fill(contexts, CONTEXTS);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct api a;
        REQUIRE(api_begin(&a, threads));
        tn_session *session = heads_session(&a, package("bert"), "question-answer");
        REQUIRE(session);
        for (unsigned batch = 0; batch <= 3; batch += 3) {
            tn_answer_request r = asking(contexts, CONTEXTS);
            r.batch = batch;
            tn_execution *x = ask(&a, session, &r, all, CONTEXTS);
            for (size_t i = 0; i < CONTEXTS; i++) {
                tn_answer_request alone = asking(&contexts[i], 1);
                tn_execution *y = ask(&a, session, &alone, &one, 1);
                CHECK_INT(all[i].status, TN_OK);
                same_answers(&all[i], &one);
                tn_execution_free(y);
            }
            CHECK(all[4].window_count > 1 || all[3].window_count > 1 || all[2].window_count > 1);
            tn_execution_free(x);
        }
        tn_session_free(session);
        api_end(&a);
    }
}

/* A question of its own is the question: as if it were asked alone. */
TEST(each_context_may_have_its_question)
{
    struct api a;
    tn_string contexts[3], questions[3] = {{NULL, 0}, api_string("what is it?"), {NULL, 0}};
    tn_event all[3], one;
    REQUIRE(api_begin(&a, 2));
    tn_session *session = heads_session(&a, package("deberta-v2_pieces"), "question-answer");
    REQUIRE(session);
    fill(contexts, 3);
    tn_answer_request r = asking(contexts, 3);
    r.questions = questions;
    tn_execution *x = ask(&a, session, &r, all, 3);
    for (size_t i = 0; i < 3; i++) {
        tn_answer_request alone = asking(&contexts[i], 1);
        if (questions[i].data) alone.question = questions[i];
        tn_execution *y = ask(&a, session, &alone, &one, 1);
        same_answers(&all[i], &one);
        tn_execution_free(y);
    }
    tn_execution_free(x);
    tn_session_free(session);
    api_end(&a);
}

/* Windows over several steps and tokens that outlast them; the last characters are still found where they are. */
TEST(a_long_context)
{
    enum { TIMES = 1500 };
    struct api a;
    static char text[TIMES * 64 + 64];
    size_t n = 0;
    tn_event e[2];
    REQUIRE(api_begin(&a, 2));
    tn_session *session = heads_session(&a, package("roberta_bytes"), "question-answer");
    REQUIRE(session);
    for (size_t i = 0; i < TIMES; i++) n += (size_t)snprintf(text + n, 64, "\xC3\xA9 there were %zu people; ", i * 7919 % 1000);
    tn_string contexts[2] = {{text, n}, api_string("Hello world")};
    tn_answer_request r = asking(contexts, 2);
    r.max_tokens = 40;
    r.stride_set = true;
    r.stride = 5;
    r.want_logits = false;
    tn_execution *x = ask(&a, session, &r, e, 2);
    CHECK_INT(e[0].status, TN_OK);
    CHECK(e[0].window_count > 500 && e[0].score_kind == TN_SCORE_OTHER && !e[0].truncated);
    CHECK_INT(e[1].window_count, 1);
    for (size_t k = 0; k < e[0].answer_count; k++) {
        const tn_answer *w = &e[0].answers[k];
        size_t chars = 0;
        for (size_t i = 0; i < w->begin; i++) chars += ((unsigned char)text[i] & 0xC0) != 0x80;
        CHECK_INT(w->begin_char, chars);
        CHECK(w->none || memcmp(w->text.data, text + w->begin, w->text.length) == 0);
    }
    tn_execution_free(x);
    r.atomic = true;
    tn_event again[2];
    x = ask(&a, session, &r, again, 2);
    CHECK_INT(again[0].window_count, e[0].window_count);
    CHECK_INT(again[0].answer_count, 4);
    tn_execution_cancel(x);
    tn_execution_free(x);
    tn_session_free(session);
    api_end(&a);
}

/* ---- requests -------------------------------------------------------------------------------------------------------- */

static void refused(struct api *a, tn_session *session, const tn_answer_request *r, tn_status expected, const char *option)
{
    tn_execution *x = NULL;
    CHECK_INT(tn_answer_start(session, r, &x, a->err), expected);
    CHECK(x == NULL);
    CHECK_STR(tn_error_element(a->err), option);
}

TEST(wrong_requests_are_refused_by_their_member)
{
    struct api a;
    tn_string context = api_string("water"), broken = {NULL, 4}, empty = {"", 0};
    REQUIRE(api_begin(&a, 1));
    tn_session *session = heads_session(&a, package("bert"), "question-answer");
    REQUIRE(session);
    const tn_answer_request good = asking(&context, 1);
    tn_answer_request r = good;
    r.question = empty;
    refused(&a, session, &r, TN_INVALID_REQUEST, "question");
    r.question = (tn_string){"\xFFq", 2};
    refused(&a, session, &r, TN_INVALID_REQUEST, "question");
    r.question = broken;
    refused(&a, session, &r, TN_INVALID_REQUEST, "question");
    r = good;
    r.contexts = NULL;
    refused(&a, session, &r, TN_INVALID_REQUEST, "contexts");
    r.contexts = &broken;
    refused(&a, session, &r, TN_INVALID_REQUEST, "contexts");
    r = good;
    r.questions = &broken;
    refused(&a, session, &r, TN_INVALID_REQUEST, "questions");
    r = good;
    r.max_tokens = 65;
    refused(&a, session, &r, TN_INVALID_REQUEST, "max_tokens");
    r = good;
    r.stride_set = true;
    r.stride = 64;
    refused(&a, session, &r, TN_INVALID_REQUEST, "stride");
    r = good;
    r.no_answer = (tn_tristate)7;
    refused(&a, session, &r, TN_INVALID_REQUEST, "no_answer");
    r = good;
    r.align_words = (tn_tristate)-1;
    refused(&a, session, &r, TN_INVALID_REQUEST, "align_words");
    tn_tag_request other = TN_INIT(tn_tag_request);
    tn_execution *x = NULL;
    CHECK_INT(tn_tag_start(session, &other, &x, a.err), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_found(a.err), "question-answer");
    tn_session_free(session);
    api_end(&a);
}

TEST(one_bad_context_fails_alone_or_all)
{
    struct api a;
    tn_string contexts[4] = {api_string("water"), {"", 0}, {"a\xC0", 2}, api_string("the people of the world make water and words for all of them "
                             "in time as they were there, and there were 42 people; some had been in the water")};
    tn_string questions[4] = {{NULL, 0}, {NULL, 0}, {NULL, 0}, api_string("which of these words would make people look at the water in time?")};
    tn_event e[4];
    REQUIRE(api_begin(&a, 2));
    tn_session *session = heads_session(&a, package("bert"), "question-answer");
    REQUIRE(session);
    tn_answer_request r = asking(contexts, 4);
    r.questions = questions;
    tn_execution *x = ask(&a, session, &r, e, 4);
    CHECK_INT(e[0].status, TN_OK);
    CHECK_INT(e[1].status, TN_INVALID_REQUEST);
    CHECK_INT(e[2].status, TN_INVALID_REQUEST);
    CHECK_INT(e[3].status, TN_INPUT_TOO_LONG);
    CHECK_CONTAINS(tn_error_message(a.err), "question");
    CHECK_INT(tn_error_item(a.err), 3);
    tn_execution_free(x);
    r.atomic = true;
    REQUIRE(tn_answer_start(session, &r, &x, a.err) == TN_OK);
    CHECK_INT(heads_collect(&a, x, e, 4, TN_INVALID_REQUEST), 0);
    CHECK_CONTAINS(tn_error_message(a.err), "the context is empty");
    tn_execution_free(x);
    questions[0] = (tn_string){"", 0};
    r.atomic = false;
    x = ask(&a, session, &r, e, 4);
    CHECK_INT(e[0].status, TN_INVALID_REQUEST);
    tn_execution_free(x);
    r = asking(contexts, 0);
    x = ask(&a, session, &r, e, 4);
    tn_execution_free(x);
    tn_session_free(session);
    api_end(&a);
}

/* ---- documents ------------------------------------------------------------------------------------------------------- */

static tn_status run_document(struct api *a, tn_session *session, const char *request, char **text)
{
    tn_execution *x = NULL;
    tn_document *result = NULL;
    tn_event e = {.kind = TN_EVENT_NONE};
    tn_status st = tn_request_start(session, request, strlen(request), &x, a->err);
    while (!st && e.kind != TN_EVENT_TERMINAL) st = tn_execution_next(x, UINT32_MAX, &e, a->err);
    if (!st) st = e.status;
    if (!st) st = tn_execution_drain(x, UINT32_MAX, a->err);
    if (!st) st = tn_execution_result(x, &result, a->err);
    if (text && result) *text = strdup(tn_document_text(result, NULL));
    tn_document_free(result);
    tn_execution_free(x);
    return st;
}

static const char whole[] = "{\"question\": \"who?\", \"contexts\": [\"there were 42 people\", {\"id\": \"x\", \"text\": \"water and words for all of them "
                            "in time as they were there, and there were people\", \"question\": \"what?\"}], \"top_k\": 3, \"no_answer\": true, \"stride\": 4, "
                            "\"max_tokens\": 32, \"want_logits\": true, \"align_words\": false, \"batch\": 2}";

TEST(requests_in_json)
{
    struct api a;
    char *text = NULL;
    REQUIRE(api_begin(&a, 1));
    tn_session *session = heads_session(&a, package("bert"), "question-answer");
    REQUIRE(session);
    CHECK_INT(run_document(&a, session, whole, &text), TN_OK);
    CHECK_CONTAINS(text, "\"id\": \"x\"");
    CHECK_CONTAINS(text, "\"answer\": \"");
    CHECK_CONTAINS(text, "\"score_kind\": \"probability\"");
    CHECK_CONTAINS(text, "\"score_kind\": \"other\"");
    CHECK_CONTAINS(text, "\"contract\": \"tenon.question-answer/v1\"");
    CHECK_CONTAINS(text, "\"logits\": [");
    free(text);
    static const struct {
        const char *request, *place;
    } bad[] = {
        {"{\"question\": \"a\"}", "/contexts"},
        {"{\"contexts\": [\"a\"]}", "question"},
        {"{\"question\": \"\", \"contexts\": [\"a\"]}", "question"},
        {"{\"question\": \"a\", \"contexts\": [{\"question\": \"b\"}]}", "/contexts/0/text"},
        {"{\"question\": \"a\", \"contexts\": [], \"top_k\": 0}", "/top_k"},
        {"{\"question\": \"a\", \"contexts\": [], \"stride\": -1}", "/stride"},
        {"{\"question\": \"a\", \"contexts\": [], \"no_answer\": \"yes\"}", "/no_answer"},
        {"{\"question\": \"a\", \"contexts\": [], \"truncation\": \"no\"}", "/truncation"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK_INT(run_document(&a, session, bad[i].request, NULL), TN_INVALID_REQUEST);
        CHECK_STR(tn_error_element(a.err), bad[i].place);
    }
    CHECK_INT(run_document(&a, session, "{\"contexts\": [{\"text\": \"a\", \"question\": \"b\"}]}", NULL), TN_OK);
    tn_session_free(session);
    api_end(&a);
}

/* ---- packages -------------------------------------------------------------------------------------------------------- */

static void put(const char *folder, const char *name, const char *text, size_t size)
{
    char path[PATH + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    test_write_file(path, text, size);
}

static void copy(const char *from, const char *to, const char *name)
{
    char path[PATH + 64];
    size_t size = 0;
    snprintf(path, sizeof(path), "%s/%s", from, name);
    char *bytes = test_read_file(path, &size);
    if (bytes) put(to, name, bytes, size);
    free(bytes);
}

static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    char *out = NULL;
    if (!at || asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) < 0) return NULL;
    return out;
}

/* Described, its own configuration gone: the same answers; and a package that says it was trained for "no answer". */
TEST(packages_run_from_their_documents)
{
    struct api a;
    char from[PATH], folder[PATH];
    tn_document *metadata = NULL, *content = NULL;
    tn_description_options o = TN_INIT(tn_description_options);
    tn_string context = api_string(words[4]);
    tn_event one, two;
    REQUIRE(api_begin(&a, 1));
    snprintf(from, sizeof(from), "%s", package("modernbert"));
    snprintf(folder, sizeof(folder), "%s/described", test_folder());
    mkdir(folder, 0700);
    o.format = "json";
    tn_package *p = api_open(&a, from);
    REQUIRE(tn_package_describe(p, &o, &metadata, &content, a.err) == TN_OK);
    copy(from, folder, "model.safetensors");
    copy(from, folder, "tokenizer.json");
    put(folder, "inference_metadata.json", tn_document_text(metadata, NULL), strlen(tn_document_text(metadata, NULL)));
    put(folder, "tenon_package.json", tn_document_text(content, NULL), strlen(tn_document_text(content, NULL)));
    tn_answer_request r = asking(&context, 1);
    r.no_answer = TN_AUTO;
    r.top_k = 1000;
    tn_session *s = heads_session(&a, from, "question-answer"), *t = heads_session(&a, folder, "question-answer");
    REQUIRE(s && t);
    tn_execution *x = ask(&a, s, &r, &one, 1), *y = ask(&a, t, &r, &two, 1);
    same_answers(&one, &two);
    for (size_t k = 0; k < one.answer_count; k++) CHECK(!one.answers[k].none);
    tn_execution_free(y);
    tn_session_free(t);
    char *text = replaced(tn_document_text(content, NULL), "\"cross_encoder\": false", "\"cross_encoder\": false, \"no_answer\": true");
    REQUIRE(text);
    put(folder, "tenon_package.json", text, strlen(text));
    free(text);
    t = heads_session(&a, folder, "question-answer");
    REQUIRE(t);
    y = ask(&a, t, &r, &two, 1);
    size_t none = 0;
    for (size_t k = 0; k < two.answer_count; k++) none += two.answers[k].none;
    CHECK_INT(none, 1);
    tn_execution_free(y);
    tn_execution_free(x);
    tn_session_free(s);
    tn_session_free(t);
    tn_document_free(metadata);
    tn_document_free(content);
    tn_package_free(p);
    api_end(&a);
}

static tn_status plan_with(struct api *a, const char *from, const char *to)
{
    char folder[PATH], path[PATH + 64];
    size_t size = 0;
    tn_status st;
    snprintf(folder, sizeof(folder), "%s/changed", test_folder());
    mkdir(folder, 0700);
    static const char *const files[] = {"model.safetensors", "tokenizer.json", "tokenizer_config.json"};
    for (size_t i = 0; i < 3; i++) copy(package("bert"), folder, files[i]);
    snprintf(path, sizeof(path), "%s/config.json", package("bert"));
    char *text = test_read_file(path, &size), *changed = text ? replaced(text, from, to) : NULL;
    if (changed) put(folder, "config.json", changed, strlen(changed));
    free(text);
    free(changed);
    tn_plan_free(heads_plan(a, folder, "question-answer", &st));
    return st;
}

TEST(heads_that_do_not_answer)
{
    struct api a;
    tn_status st;
    REQUIRE(api_begin(&a, 1));
    CHECK_INT(plan_with(&a, "\"hidden_act\"", "\"num_labels\": 2, \"hidden_act\""), TN_OK);
    CHECK_INT(plan_with(&a, "\"hidden_act\"", "\"num_labels\": 3, \"hidden_act\""), TN_UNSUPPORTED_CONFIG);
    CHECK_STR(tn_error_element(a.err), "/num_labels");
    CHECK_INT(plan_with(&a, "\"hidden_act\"", "\"id2label\": {\"0\": \"a\"}, \"hidden_act\""), TN_UNSUPPORTED_CONFIG);
    CHECK_INT(plan_with(&a, "BertForQuestionAnswering", "BertForTokenClassification"), TN_TASK_HEAD_MISMATCH);
    CHECK_CONTAINS(tn_error_found(a.err), "qa_outputs.weight");
    tn_plan_free(heads_plan(&a, package("bert"), "tag", &st));
    CHECK_INT(st, TN_TASK_HEAD_MISMATCH);
    CHECK_CONTAINS(tn_error_message(a.err), "an extractor of answer spans");
    tn_plan_free(heads_plan(&a, package("bert"), "embedding.dense", &st));
    CHECK_INT(st, TN_TASK_HEAD_MISMATCH);
    api_end(&a);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

static unsigned stride(void)
{
    const char *text = getenv("TN_FAULT_STRIDE");
    unsigned n = text ? (unsigned)strtoul(text, NULL, 10) : 0;
    return n ? n : 1;
}

TEST(sweep_requests)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    tn_session *session = heads_session(&a, package("bert"), "question-answer");
    REQUIRE(session);
    CHECK_INT(run_document(&a, session, whole, NULL), TN_OK);
    uint64_t before = tn_alloc_current(&a.runtime->alloc);
    for (unsigned n = 1; n < 20000; n += stride()) {
        tn_alloc_fail(&a.runtime->alloc, n, n % 2);
        tn_status st = run_document(&a, session, whole, NULL);
        bool hit = a.runtime->alloc.fail_at != 0 && a.runtime->alloc.calls >= a.runtime->alloc.fail_at;
        tn_alloc_fail(&a.runtime->alloc, 0, false);
        if (st != (hit ? TN_INSUFFICIENT_MEMORY : TN_OK)) test_fail(__FILE__, __LINE__, "allocation %u: %s: %s", n, tn_status_name(st), tn_error_message(a.err));
        if (tn_alloc_current(&a.runtime->alloc) > before + 65536) test_fail(__FILE__, __LINE__, "allocation %u: memory stays", n);
        if (!hit) break;
    }
    CHECK_INT(run_document(&a, session, whole, NULL), TN_OK);
    tn_session_free(session);
    api_end(&a);
}
