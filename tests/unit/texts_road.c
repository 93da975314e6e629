/*
 * Texts through a graph on the whole road: the same bits alone and in company, on one thread and on several, the same answers
 * by another provider, documents that replace the convention's, and graphs and packages that do not go together.
 */
#define _GNU_SOURCE
#include "documents_tree.h"
#include "heads_util.h"
#include "onnxruntime_util.h"

#include <math.h>

enum { TEXTS = 24, WIDTH = 64 };

static const char *const words[] = {"", "water", "the people were there", "hello, world! 42 of them", "zq",
                                    "words for all of them in time and the people of the world make water and words"};

static bool prepare(const char *golden, const char *package, char out[1200])
{
    bool made = texts_over_graph(golden, test_path(package), out, 1200);
    if (!made) test_fail(__FILE__, __LINE__, "no graph for %s", golden);
    return made;
}

static void embed(struct api *a, tn_session *session, const tn_string *texts, size_t count, float out[][WIDTH])
{
    tn_embed_request r = api_request(texts, count);
    tn_event events[TEXTS] = {{0}};
    tn_execution *x = NULL;
    CHECK_INT(tn_embed_start(session, &r, &x, a->err), TN_OK);
    if (!x) return;
    CHECK_INT(api_collect(x, events, count, a->err), TN_OK);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(events[i].status, TN_OK);
        REQUIRE(events[i].dimensions <= WIDTH && events[i].embedding);
        memcpy(out[events[i].index], events[i].embedding, events[i].dimensions * sizeof(float));
    }
    tn_execution_free(x);
}

TEST(alone_and_in_company)
{
    static float together[TEXTS][WIDTH], alone[1][WIDTH];
    char path[1200], line[TEXTS][256] = {{0}};
    tn_string texts[TEXTS];
    if (!prepare("bert_mean_normalize.json", "golden/packages/bert_mean_normalize", path)) return;
    for (size_t i = 0; i < TEXTS; i++) { /* 1 to 24 words, so that most calls hold texts of several lengths */
        for (size_t k = 0; k <= (i * 7) % TEXTS; k++) strcat(line[i], k % 3 ? "water " : "people ");
        texts[i] = api_string(line[i]);
    }
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct api a;
        REQUIRE(api_begin(&a, threads));
        tn_session *session = api_session(&a, path);
        REQUIRE(session);
        embed(&a, session, texts, TEXTS, together);
        for (size_t i = 0; i < TEXTS; i++) {
            embed(&a, session, &texts[i], 1, alone);
            for (size_t k = 0; k < 32; k++) CHECK_NEAR(together[i][k], alone[0][k], 2e-7);
        }
        tn_session_free(session);
        api_end(&a);
    }
}

/* ---- what does not go together --------------------------------------------------------------------------------------- */

static void refused(struct api *a, const char *path, const char *task, tn_status code, const char *found, const char *remedy)
{
    tn_status st;
    tn_plan_free(heads_plan(a, path, task, &st));
    if (st != code) test_fail(__FILE__, __LINE__, "%s for %s: %s: %s", path, task, tn_status_name(st), tn_error_message(a->err));
    if (st != code) return;
    CHECK_CONTAINS(tn_error_found(a->err), found);
    CHECK_CONTAINS(tn_error_remedy(a->err), remedy);
}

/* Without an input for them the second text of a pair would be taken for the first. */
TEST(a_graph_without_token_types_takes_no_pairs)
{
    struct api a;
    char path[1200];
    tn_event e;
    tn_execution *x = NULL;
    REQUIRE(api_begin(&a, 1));
    if (prepare("bert_scorer_untyped.json", "golden/heads/bert_scorer", path)) {
        refused(&a, path, "rerank", TN_UNSUPPORTED_CONFIG, "type ids up to 1", "token_type_ids");
        tn_session *session = heads_session(&a, path, "classify.text");
        REQUIRE(session);
        tn_string text = api_string("the people"), pair = api_string("were there");
        tn_classify_request r = TN_INIT(tn_classify_request);
        r.texts = &text;
        r.count = 1;
        tn_execution_free(heads_classify(&a, session, &r, &e, 1));
        CHECK_INT(e.status, TN_OK);
        r.pairs = &pair;
        CHECK(tn_classify_start(session, &r, &x, a.err) != TN_OK);
        CHECK(x == NULL);
        tn_session_free(session);
    }
    api_end(&a);
}

TEST(a_graph_ends_before_the_head)
{
    struct api a;
    char path[1200];
    REQUIRE(api_begin(&a, 1));
    if (prepare("bert_mean_normalize.json", "golden/packages/bert_mean_normalize", path)) {
        char modules[1400];
        snprintf(modules, sizeof(modules), "%s/modules.json", path);
        unlink(modules);
        edit(path, "config.json", "\"BertModel\"", "\"BertForSequenceClassification\"");
        refused(&a, path, "classify.text", TN_TASK_HEAD_MISMATCH, "no output logits", "with its head");
    }
    api_end(&a);
}

/* What is wrong with documents beside a graph stands in the way of texts, and of nothing else. */
TEST(documents_that_do_not_hold_leave_a_graph)
{
    struct api a;
    char path[1200];
    REQUIRE(api_begin(&a, 1));
    if (prepare("bert_pool_cls.json", "golden/packages/bert_pool_cls", path)) {
        edit(path, "config.json", "\"model_type\": \"bert\"", "\"model_type\": \"whisper\"");
        CHECK(heads_serves(&a, path, "tensor"));
        refused(&a, path, "embedding.dense", TN_UNKNOWN_FAMILY, "whisper", "missing");
    }
    if (prepare("bert_dense_chain.json", "golden/packages/bert_dense_chain", path)) {
        edit(path, "config.json", "\"hidden_size\": 16", "\"hidden_size\": 32");
        CHECK(heads_serves(&a, path, "tensor"));
        CHECK(!heads_serves(&a, path, "embedding.dense"));
    }
    api_end(&a);
}

/* ---- documents that replace the convention's ---------------------------------------------------------------------------- */

TEST(described_packages_run_from_their_documents)
{
    static float before[TEXTS][WIDTH], after[TEXTS][WIDTH];
    struct api a;
    char path[1200], folder[PATH];
    tn_string texts[6];
    REQUIRE(api_begin(&a, 1));
    for (size_t i = 0; i < 6; i++) texts[i] = api_string(words[i]);
    if (prepare("mpnet_mean_normalize.json", "golden/packages/mpnet_mean_normalize", path)) {
        snprintf(folder, sizeof(folder), "%.900s/described", test_folder());
        copy_tree(path, folder, false);
        describe_into(&a, path, folder, "yaml", false);
        tn_session *one = api_session(&a, path), *two = api_session(&a, folder);
        REQUIRE(one && two);
        embed(&a, one, texts, 6, before);
        embed(&a, two, texts, 6, after);
        CHECK(memcmp(before, after, sizeof(before)) == 0);
        tn_session_free(one);
        tn_session_free(two);
    }
    api_end(&a);
}

/* ---- by another provider --------------------------------------------------------------------------------------------------- */

TEST(the_same_by_onnxruntime)
{
    static const char *const names[] = {"bert_mean_normalize", "bert_dense_chain", "mpnet_mean_normalize"};
    static float own[TEXTS][WIDTH], theirs[TEXTS][WIDTH];
    struct api a;
    tn_string texts[6];
    ort_begin(&a, 2);
    for (size_t i = 0; i < 6; i++) texts[i] = api_string(words[i]);
    for (size_t n = 0; n < 3; n++) {
        char package[128], path[1200];
        snprintf(package, sizeof(package), "golden/packages/%s", names[n]);
        if (!prepare(names[n], package, path)) continue;
        tn_session *one = api_session(&a, path), *two = NULL;
        tn_package *opened = api_open(&a, path);
        tn_plan *plan = NULL;
        tn_plan_options o = TN_INIT(tn_plan_options);
        o.task = "embedding.dense";
        o.provider = "onnxruntime";
        if (tn_plan_new(opened, &o, &plan, a.err)) test_fail(__FILE__, __LINE__, "%s: %s", names[n], tn_error_message(a.err));
        if (plan) two = api_load(&a, plan);
        REQUIRE(one && two);
        embed(&a, one, texts, 6, own);
        embed(&a, two, texts, 6, theirs);
        for (size_t i = 0; i < 6; i++) {
            for (size_t k = 0; k < WIDTH; k++) CHECK_NEAR(own[i][k], theirs[i][k], 5e-6);
        }
        tn_session_free(one);
        tn_session_free(two);
        tn_plan_free(plan);
        tn_package_free(opened);
    }
    api_end(&a);
}
