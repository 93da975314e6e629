/*
 * What a session loads is the session's: programs and weights come from its lease, whoever has made their graph. The graph
 * stays with the plan, typed once, so that any number of loads share it.
 */
#define _XOPEN_SOURCE 700
#include "tensor_util.h"

#include "api/api.h"
#include "session/session.h"

#include <pthread.h>
#include <unistd.h>

static tn_plan *plan_of(struct api *a, const char *path, const char *task)
{
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    tn_package *package = api_open(a, path);
    o.task = task;
    if (package && tn_plan_new(package, &o, &plan, a->err)) test_fail(__FILE__, __LINE__, "%s", tn_error_message(a->err));
    tn_package_free(package);
    return plan;
}

/* Whatever a load adds to the runtime stands in the session's own account. */
static void check_lease(struct api *a, const char *path, const char *task)
{
    tn_plan *plan = plan_of(a, path, task);
    REQUIRE(plan);
    uint64_t before = tn_alloc_current(&a->runtime->alloc);
    tn_session *session = api_load(a, plan);
    REQUIRE(session);
    uint64_t added = tn_alloc_current(&a->runtime->alloc) - before, lease = tn_alloc_current(&session->lease);
    uint64_t around = 64 * atomic_load(&session->lease.blocks) + sizeof(struct tn_session) + 256;
    CHECK(lease >= plan->row->memory.weights);
    if (added > lease + around) test_fail(__FILE__, __LINE__, "%s: %llu bytes were added, the lease holds %llu", path, (unsigned long long)added, (unsigned long long)lease);
    tn_session_free(session);
    tn_plan_free(plan);
}

TEST(what_a_load_adds_is_held_by_the_lease)
{
    struct api a;
    REQUIRE(api_begin(&a, 2));
    check_lease(&a, test_path("golden/heads/bert_single"), "classify.text");
    check_lease(&a, test_path("golden/tensor/bodies.onnx"), "tensor");
    check_lease(&a, test_path("golden/tensor/add.onnx"), "tensor");
    api_end(&a);
}

/* ---- one plan, several sessions ------------------------------------------------------------------------------------- */

struct loading {
    tn_plan *plan;
    tn_session *session;
    tn_status status;
};

static void *load_there(void *arg)
{
    struct loading *l = arg;
    l->status = tn_session_load(l->plan, NULL, &l->session, NULL);
    return NULL;
}

/* a + 2 b of golden/tensor/add.onnx */
static float sum_of(struct api *a, tn_session *session, float x, float y)
{
    const float one[] = {x, 0}, two[] = {y, 0};
    static const int64_t dims[] = {1, 2};
    tn_port_value in[] = {tensor_f32("b", 2, dims, two), tensor_f32("a", 2, dims, one)};
    tn_tensor_request r = tensor_request(in, 2);
    tn_execution *run = NULL;
    tn_event e = {.kind = TN_EVENT_NONE};
    tn_status st = tn_tensor_start(session, &r, &run, a->err);
    if (!st) st = api_collect(run, &e, 1, a->err);
    if (st) test_fail(__FILE__, __LINE__, "%s", tn_error_message(a->err));
    float sum = !st && e.tensor_count ? ((const float *)e.tensors[0].data)[0] : -1;
    tn_execution_free(run);
    return sum;
}

TEST(loads_at_once_share_the_graph)
{
    struct api a;
    enum { SESSIONS = 4 };
    struct loading l[SESSIONS];
    pthread_t threads[SESSIONS];
    REQUIRE(api_begin(&a, 2));
    tn_plan *plan = plan_of(&a, test_path("golden/tensor/add.onnx"), "tensor");
    REQUIRE(plan);
    for (int i = 0; i < SESSIONS; i++) {
        l[i] = (struct loading){.plan = plan};
        REQUIRE(pthread_create(&threads[i], NULL, load_there, &l[i]) == 0);
    }
    for (int i = 0; i < SESSIONS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(l[i].status, TN_OK);
    }
    tn_plan_free(plan); /* sessions keep what they need of it */
    for (int i = 0; i < SESSIONS; i++) {
        REQUIRE(l[i].session);
        CHECK_NEAR(sum_of(&a, l[i].session, (float)i, 10), 20 + i, 0);
        tn_session_free(l[i].session); /* the others go on */
    }
    api_end(&a);
}

/* ---- files that change behind a plan -------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n) test_fail(__FILE__, __LINE__, "%s cannot be written", path);
    if (f) fclose(f);
}

/* The plan holds the graph, but not beyond its file: what would be answered is not what lies there now. */
TEST(a_graph_that_has_changed_is_not_loaded)
{
    struct api a;
    char folder[] = "/tmp/tenon-lease-XXXXXX", path[64];
    size_t n;
    char *bytes = test_read_file(test_path("golden/tensor/add.onnx"), &n);
    REQUIRE(bytes && mkdtemp(folder) && api_begin(&a, 1));
    snprintf(path, sizeof(path), "%s/add.onnx", folder);
    write_file(path, bytes, n);
    tn_plan *plan = plan_of(&a, path, "tensor");
    REQUIRE(plan);
    tn_session *session = NULL;
    CHECK_INT(tn_session_load(plan, NULL, &session, a.err), TN_OK);
    tn_session_free(session);
    remove(path);
    write_file(path, bytes, n); /* the same bytes, but who knows */
    session = NULL;
    CHECK_INT(tn_session_load(plan, NULL, &session, a.err), TN_ARTIFACT_STALE);
    CHECK(session == NULL);
    remove(path);
    session = NULL;
    CHECK(tn_session_load(plan, NULL, &session, a.err) != TN_OK);
    CHECK(session == NULL);
    tn_plan_free(plan);
    api_end(&a);
    rmdir(folder);
    free(bytes);
}
