/* Each allocation of the road of a graph fails once: the right code, nothing left behind, and afterwards it works. */
#include "tensor_util.h"

#include "api/api.h"

enum { MOST = 20000 };

static unsigned stride(unsigned otherwise)
{
    const char *text = getenv("TN_FAULT_STRIDE");
    unsigned n = text ? (unsigned)strtoul(text, NULL, 10) : 0;
    return n ? n : otherwise;
}

static tn_status road(struct api *a, const char *name)
{
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_package *package = NULL;
    tn_plan *plan = NULL;
    tn_session *session = NULL;
    tn_execution *x = NULL;
    tn_document *text = NULL, *graph = NULL, *result = NULL;
    char path[128];
    snprintf(path, sizeof(path), "golden/tensor/%s", name);
    tn_port_value in[] = {tensor_json("list", "[[1], [2, 3]]"), tensor_json("x", "{\"dtype\": \"float32\", \"shape\": [2], \"data\": [1, 2]}")};
    tn_tensor_request r = tensor_request(in, 2);
    o.task = "tensor";
    tn_status st = tn_package_open(a->runtime, test_path(path), NULL, &package, a->err);
    if (!st) st = tn_package_graph(package, NULL, &graph, a->err);
    if (!st) st = tn_plan_new(package, &o, &plan, a->err);
    if (!st) st = tn_plan_json(plan, &text, a->err);
    if (!st) st = tn_session_load(plan, NULL, &session, a->err);
    if (!st) st = tn_tensor_start(session, &r, &x, a->err);
    if (!st) st = api_collect(x, NULL, 0, a->err);
    if (!st) st = tn_execution_drain(x, UINT32_MAX, a->err);
    if (!st) st = tn_execution_result(x, &result, a->err);
    tn_document_free(result);
    tn_execution_free(x);
    tn_session_free(session);
    tn_document_free(text);
    tn_plan_free(plan);
    tn_document_free(graph);
    tn_package_free(package);
    return st;
}

TEST(sweep_road)
{
    struct api a;
    unsigned step = stride(3);
    REQUIRE(api_begin(&a, 2));
    CHECK_INT(road(&a, "sequence.onnx"), TN_OK); /* the pool belongs to the runtime and stays */
    uint64_t before = tn_alloc_current(&a.runtime->alloc);
    for (unsigned n = 1; n < MOST; n += step) {
        tn_alloc_fail(&a.runtime->alloc, n, n % 2);
        tn_status st = road(&a, "sequence.onnx");
        bool hit = a.runtime->alloc.fail_at != 0 && a.runtime->alloc.calls >= a.runtime->alloc.fail_at;
        tn_alloc_fail(&a.runtime->alloc, 0, false);
        if (hit && st != TN_INSUFFICIENT_MEMORY) {
            test_fail(__FILE__, __LINE__, "allocation %u: %s: %s", n, tn_status_name(st), tn_error_message(a.err));
        }
        CHECK_INT(tn_alloc_current(&a.runtime->alloc), before);
        if (hit) continue;
        CHECK_INT(st, TN_OK);
        api_end(&a);
        return;
    }
    test_fail(__FILE__, __LINE__, "the sweep has no end");
}
