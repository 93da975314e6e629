/* Sparse and several vectors: which terms are kept, refusals, spaces, documents. */
#include "heads_util.h"

#include "task/embedding_sparse.h"

/* ---- terms ---------------------------------------------------------------------------------------------------------------- */

static void check_terms(const float *row, size_t width, size_t most, const uint32_t *expected, size_t count)
{
    uint32_t indices[16];
    float values[16];
    CHECK_INT(tn_sparse_count(row, width, most), count);
    CHECK_INT(tn_sparse_terms(row, width, most, indices, values), count);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(indices[i], expected[i]);
        CHECK(values[i] == row[expected[i]]);
    }
}

TEST(the_largest_terms_are_kept)
{
    static const float row[] = {0, 0.5f, 0, 2, 0.25f, 2, 1e-30f, 0.5f, 3};
    static const uint32_t all[] = {1, 3, 4, 5, 6, 7, 8}, three[] = {3, 5, 8}, four[] = {1, 3, 5, 8}, one[] = {8}, two[] = {3, 8};
    check_terms(row, 9, 0, all, 7);
    check_terms(row, 9, 7, all, 7);
    check_terms(row, 9, 100, all, 7);
    check_terms(row, 9, 3, three, 3);
    check_terms(row, 9, 4, four, 4); /* of equal values the lower term */
    check_terms(row, 9, 2, two, 2);
    check_terms(row, 9, 1, one, 1);
    static const float none[] = {0, 0, 0};
    check_terms(none, 3, 0, all, 0);
    check_terms(none, 3, 2, all, 0);
}

/* ---- refusals --------------------------------------------------------------------------------------------------------------- */

static void expect_refusal(struct api *a, const char *package, const char *task, tn_status code, const char *what)
{
    tn_status st;
    char path[200];
    snprintf(path, sizeof(path), "golden/%s", package);
    tn_plan_free(heads_plan(a, test_path(path), task, &st));
    if (st != code || !strstr(tn_error_message(a->err), what))
        test_fail(__FILE__, __LINE__, "%s for %s: %s: %s", package, task, tn_status_name(st), tn_error_message(a->err));
}

TEST(wrong_tasks_are_refused_with_evidence)
{
    struct api a;
    CHECK(api_begin(&a, 1));
    expect_refusal(&a, "vectors/multi_bert", "embedding.dense", TN_UNSUPPORTED_TASK, "one vector");
    expect_refusal(&a, "vectors/multi_bert", "embedding.sparse", TN_UNSUPPORTED_TASK, "sparse vector");
    expect_refusal(&a, "vectors/multi_bert", "rerank", TN_TASK_HEAD_MISMATCH, "scores of pairs");
    expect_refusal(&a, "vectors/sparse_bert", "embedding.dense", TN_UNSUPPORTED_TASK, "one vector");
    expect_refusal(&a, "vectors/sparse_bert", "embedding.multi", TN_TASK_HEAD_MISMATCH, "several vectors");
    expect_refusal(&a, "heads/bert_single", "embedding.sparse", TN_TASK_HEAD_MISMATCH, "sparse vector");
    expect_refusal(&a, "heads/bert_single", "embedding.multi", TN_TASK_HEAD_MISMATCH, "several vectors");
    api_end(&a);
}

static tn_status ask_multi(struct api *a, tn_session *session, const char *role, tn_execution **x)
{
    static const tn_string text = {"water", 5};
    tn_multi_request r = TN_INIT(tn_multi_request);
    r.texts = &text;
    r.count = 1;
    r.role = role;
    return tn_embed_multi_start(session, &r, x, a->err);
}

TEST(a_role_is_needed)
{
    struct api a;
    tn_execution *x = NULL;
    CHECK(api_begin(&a, 1));
    tn_session *session = heads_session(&a, test_path("golden/vectors/multi_bert"), "embedding.multi");
    CHECK_INT(ask_multi(&a, session, NULL, &x), TN_INVALID_REQUEST);
    CHECK(strstr(tn_error_message(a.err), "role is needed"));
    CHECK_INT(ask_multi(&a, session, "passage", &x), TN_INVALID_REQUEST);
    CHECK_INT(ask_multi(&a, session, "", &x), TN_INVALID_REQUEST);
    CHECK(!x);
    tn_session_free(session);
    api_end(&a);
}

/* ---- documents ---------------------------------------------------------------------------------------------------------------- */

static void read_result(struct api *a, tn_execution *x, struct tn_json_doc *doc, struct tn_alloc *alloc)
{
    struct tn_limits limits = tn_limits_default();
    tn_document *document = NULL;
    memset(doc, 0, sizeof(*doc));
    CHECK_INT(tn_execution_drain(x, UINT32_MAX, a->err), TN_OK);
    CHECK_INT(tn_execution_result(x, &document, a->err), TN_OK);
    if (!document) return;
    struct tn_str text;
    text.s = tn_document_text(document, &text.n);
    CHECK_INT(tn_json_parse_copy(doc, alloc, &limits, TN_STR("result"), text, NULL), TN_OK);
    tn_document_free(document);
}

TEST(results_as_documents)
{
    static const char *const packages[] = {"multi_bert", "sparse_bert", "sparse_bert_sum"};
    static const char *const requests[] = {
        "{\"texts\": [{\"id\": \"a\", \"text\": \"the people\"}], \"role\": \"document\"}",
        "{\"texts\": [\"the people\"], \"max_active\": 3}",
        "{\"texts\": [\"the people\"], \"role\": \"query\"}"};
    struct api a;
    char spaces[3][80] = {"", "", ""};
    CHECK(api_begin(&a, 1));
    for (size_t i = 0; i < 3; i++) {
        struct tn_alloc alloc;
        struct tn_json_doc doc;
        struct tn_str space = {"", 0};
        char path[120];
        tn_execution *x = NULL;
        tn_event e = {0};
        tn_alloc_init(&alloc);
        snprintf(path, sizeof(path), "golden/vectors/%s", packages[i]);
        tn_session *session = heads_session(&a, test_path(path), i ? "embedding.sparse" : "embedding.multi");
        CHECK_INT(tn_request_start(session, requests[i], strlen(requests[i]), &x, a.err), TN_OK);
        heads_collect(&a, x, &e, 1, TN_OK);
        read_result(&a, x, &doc, &alloc);
        struct tn_json root = tn_json_root(&doc), item = tn_json_at(tn_json_get(root, "data"), 0);
        if (i == 0) {
            CHECK_INT(tn_json_count(tn_json_get(item, "vectors")), e.vectors);
            CHECK_INT(tn_json_count(tn_json_get(item, "token_ids")), e.vectors);
        } else {
            CHECK_INT(tn_json_count(tn_json_get(item, "indices")), e.active);
            CHECK_INT(tn_json_count(tn_json_get(item, "values")), e.active);
        }
        if (i == 1) CHECK_INT(e.active, 3);
        CHECK(tn_json_str(tn_json_find(root, "/account/identity/space"), &space));
        snprintf(spaces[i], sizeof(spaces[i]), "%.*s", (int)space.n, space.s);
        CHECK(space.n == 64);
        tn_json_release(&doc);
        tn_execution_free(x);
        tn_session_free(session);
    }
    CHECK(strcmp(spaces[0], spaces[1]) != 0 && strcmp(spaces[1], spaces[2]) != 0);
    api_end(&a);
}

/* ---- qualification ------------------------------------------------------------------------------------------------------------ */

static void passes(struct api *a, const char *package_name, const char *task, const char *suite)
{
    char path[256];
    tn_qualify_options o = TN_INIT(tn_qualify_options);
    tn_plan_options plan = TN_INIT(tn_plan_options);
    tn_document *record = NULL;
    snprintf(path, sizeof(path), "golden/vectors/%s", package_name);
    tn_package *package = api_open(a, test_path(path));
    plan.task = task;
    o.plan = &plan;
    tn_status st = tn_qualify(package, &o, &record, a->err);
    if (st) test_fail(__FILE__, __LINE__, "%s: %s", task, tn_error_message(a->err));
    const char *text = record ? tn_document_text(record, NULL) : "";
    CHECK_CONTAINS(text, suite);
    CHECK_CONTAINS(text, "\"company.alone\"");
    if (strstr(text, "\"failed\"")) test_fail(__FILE__, __LINE__, "%s: %s", task, text);
    tn_document_free(record);
    tn_package_free(package);
}

TEST(invariants)
{
    struct api a;
    REQUIRE(api_begin(&a, 2));
    passes(&a, "multi_mpnet", "embedding.multi", "\"suite\": \"embedding.multi/1\"");
    passes(&a, "sparse_distilbert", "embedding.sparse", "\"suite\": \"embedding.sparse/1\"");
    api_end(&a);
}

/* ---- plans that come back, descriptions that come back -------------------------------------------------------------------------- */

TEST(plans_are_read_back)
{
    static const char *const packages[][2] = {{"multi_bert", "embedding.multi"}, {"multi_stanford", "embedding.multi"},
                                              {"sparse_bert_twice", "embedding.sparse"}};
    struct api a;
    REQUIRE(api_begin(&a, 1));
    for (size_t i = 0; i < 3; i++) {
        char path[120];
        tn_status st;
        size_t length = 0;
        tn_plan *again = NULL;
        tn_document *document = NULL;
        snprintf(path, sizeof(path), "golden/vectors/%s", packages[i][0]);
        tn_plan *plan = heads_plan(&a, test_path(path), packages[i][1], &st);
        REQUIRE(plan != NULL);
        CHECK_INT(tn_plan_json(plan, &document, a.err), TN_OK);
        const char *text = tn_document_text(document, &length);
        tn_package *package = api_open(&a, test_path(path));
        st = tn_plan_parse(package, text, length, &again, a.err);
        if (st) test_fail(__FILE__, __LINE__, "%s: %s: %s %s", packages[i][0], tn_status_name(st), tn_error_message(a.err), tn_error_element(a.err));
        tn_plan_free(again);
        tn_plan_free(plan);
        tn_document_free(document);
        tn_package_free(package);
    }
    api_end(&a);
}
