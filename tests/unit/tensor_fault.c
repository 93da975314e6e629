/* Each allocation of the road of a graph fails once: the right code, nothing left behind, and afterwards it works. */
#include "tensor_util.h"

#include "api/api.h"
#include "session/session.h"

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

/* The same of a sequence: begun, carried on, forked, set; what fails leaves the state of before. */
static tn_status sequence_road(struct api *a, tn_session *session, bool *kept)
{
    static const int64_t dims[] = {1, 2}, one[] = {1};
    static const float x[] = {1, 2}, acc[] = {3, 4};
    static const int64_t number = 9;
    tn_port_value in[] = {tensor_f32("x", 2, dims, x)};
    tn_port_value set[] = {tensor_f32("acc", 2, dims, acc),
                           {.name = api_string("count"), .element = "int64", .rank = 1, .dims = one, .data = &number, .size = sizeof(number)}};
    tn_tensor_request r = tensor_request(in, 1);
    tn_sequence *q = NULL, *fork = NULL;
    const tn_port_value *states;
    size_t count;
    tn_status st = tn_sequence_new(session, &q, a->err), last = st;
    *kept = true;
    for (int i = 0; !st && i < 3; i++) {
        tn_execution *run = NULL;
        r.sequence = q;
        st = tn_tensor_start(session, &r, &run, a->err);
        if (!st) st = api_collect(run, NULL, 0, a->err);
        if (run) (void)tn_execution_drain(run, UINT32_MAX, NULL);
        tn_execution_free(run);
        if (st || i) continue;
        st = tn_sequence_set(q, set, 2, a->err);
        if (!st) st = tn_sequence_fork(q, &fork, a->err);
    }
    last = q ? tn_sequence_get(q, &states, &count, a->err) : st;
    /* either all of a call or nothing of it: 6 after the first, 9 as set, then 10 and 11 */
    if (!last && states[1].data) {
        int64_t n = *(const int64_t *)states[1].data;
        *kept = n == 6 || (n >= 9 && n <= 11);
        if (!st) *kept = n == 11;
    }
    tn_sequence_free(fork);
    tn_sequence_free(q);
    return st;
}

TEST(sweep_sequence)
{
    struct api a;
    bool kept;
    REQUIRE(api_begin(&a, 2));
    tn_session *session = tensor_session(&a, "stateful");
    REQUIRE(session);
    CHECK_INT(sequence_road(&a, session, &kept), TN_OK);
    CHECK(kept);
    uint64_t before = tn_alloc_current(&a.runtime->alloc);
    for (unsigned n = 1; n < MOST; n++) {
        tn_alloc_fail(&session->lease, n, n % 2);
        tn_status st = sequence_road(&a, session, &kept);
        bool hit = session->lease.fail_at != 0 && session->lease.calls >= session->lease.fail_at;
        tn_alloc_fail(&session->lease, 0, false);
        if (hit && st != TN_INSUFFICIENT_MEMORY && st != TN_OK) test_fail(__FILE__, __LINE__, "allocation %u: %s: %s", n, tn_status_name(st), tn_error_message(a.err));
        if (!kept) test_fail(__FILE__, __LINE__, "allocation %u: the state is neither the old nor the new one", n);
        if (!hit) break;
    }
    CHECK_INT(sequence_road(&a, session, &kept), TN_OK);
    CHECK(tn_alloc_current(&a.runtime->alloc) <= before + (1 << 16)); /* the context keeps its memory */
    tn_session_free(session);
    api_end(&a);
}
