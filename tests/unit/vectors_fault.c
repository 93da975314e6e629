/* Allocations that fail one by one on the road of sparse and of several vectors, and of texts through a graph: the right code, and nothing stays. */
#define _GNU_SOURCE
#include "heads_util.h"

#include "api/api.h"

static unsigned stride(void)
{
    const char *text = getenv("TN_FAULT_STRIDE");
    unsigned n = text ? (unsigned)strtoul(text, NULL, 10) : 0;
    return n ? n : 1;
}

static bool was_hit(struct api *a)
{
    bool hit = a->runtime->alloc.fail_at != 0 && a->runtime->alloc.calls >= a->runtime->alloc.fail_at;
    tn_alloc_fail(&a->runtime->alloc, 0, false);
    return hit;
}

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
    bool ended = false;
    for (unsigned n = 1; !ended && n < 20000; n += stride()) {
        tn_alloc_fail(&a.runtime->alloc, n, n % 2);
        tn_status st = whole_request(&a, session, request);
        bool hit = was_hit(&a);
        if (st != (hit ? TN_INSUFFICIENT_MEMORY : TN_OK)) test_fail(__FILE__, __LINE__, "%s, allocation %u: %s: %s", task, n, tn_status_name(st), tn_error_message(a.err));
        if (tn_alloc_current(&a.runtime->alloc) > before + 65536) test_fail(__FILE__, __LINE__, "%s, allocation %u: memory stays", task, n);
        ended = !hit;
    }
    CHECK(ended);
    tn_session_free(session);
    api_end(&a);
}

TEST(requests)
{
    sweep(test_path("golden/vectors/multi_bert"), "embedding.multi", "{\"texts\": [\"hello, world\", {\"id\": 3, \"text\": \"\"}], \"role\": \"document\"}");
    sweep(test_path("golden/vectors/sparse_bert_sum"), "embedding.sparse", "{\"texts\": [\"hello, world\", \"\"], \"role\": \"query\", \"max_active\": 5}");
}

static void sweep_road(const char *path, const char *task)
{
    bool ended = false;
    for (unsigned n = 1; !ended && n < 20000; n += 13 * stride()) {
        struct api a;
        REQUIRE(api_begin(&a, 1));
        tn_package *package = NULL;
        tn_plan *plan = NULL;
        tn_session *session = NULL;
        tn_document *metadata = NULL, *content = NULL;
        tn_plan_options o = TN_INIT(tn_plan_options);
        o.task = task;
        tn_alloc_fail(&a.runtime->alloc, n, n % 2);
        tn_status st = tn_package_open(a.runtime, path, NULL, &package, a.err);
        if (!st) st = tn_package_describe(package, NULL, &metadata, &content, a.err);
        if (!st) st = tn_plan_new(package, &o, &plan, a.err);
        if (!st) st = tn_session_load(plan, NULL, &session, a.err);
        bool hit = was_hit(&a);
        if (st != (hit ? TN_INSUFFICIENT_MEMORY : TN_OK)) test_fail(__FILE__, __LINE__, "%s, allocation %u: %s: %s", task, n, tn_status_name(st), tn_error_message(a.err));
        ended = !hit;
        tn_document_free(metadata);
        tn_document_free(content);
        tn_session_free(session);
        tn_plan_free(plan);
        tn_package_free(package);
        api_end(&a);
    }
    CHECK(ended);
}

TEST(roads)
{
    sweep_road(test_path("golden/vectors/multi_pylate_markers"), "embedding.multi");
    sweep_road(test_path("golden/vectors/multi_stanford"), "embedding.multi");
    sweep_road(test_path("golden/vectors/sparse_bert"), "embedding.sparse");
}

TEST(over_a_graph)
{
    char path[1280];
    REQUIRE(texts_over_graph("bert_dense_chain.json", test_path("golden/packages/bert_dense_chain"), path, sizeof(path)));
    sweep(path, "embedding.dense", "{\"texts\": [\"hello, world\", {\"id\": 3, \"text\": \"\"}]}");
    sweep_road(path, "embedding.dense");
    REQUIRE(texts_over_graph("bert_masks.json", test_path("golden/heads/bert_masks"), path, sizeof(path)));
    sweep(path, "fill-mask", "{\"texts\": [\"the people [MASK] there.\"]}");
}
