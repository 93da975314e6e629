/*
 * Graphs through the real library of ONNX Runtime: every kind of value on its way in and out, results that outlive what made
 * them, memory that comes back, calls and loads that are stopped. Without the library these are counted skips.
 */
#define _XOPEN_SOURCE 700
#include "onnxruntime_util.h"

#include "api/api.h"
#include "session/session.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Texts, truth values, half precision, 64-bit integers, no rows, defaults, outputs that are inputs, external data, branches. */
TEST(values_are_the_references)
{
    struct api a;
    ort_begin(&a, 2);
    check_cases(&a, "onnxruntime");
    api_end(&a);
}

static tn_status call(struct api *a, tn_session *session, const tn_port_value *in, size_t count, tn_execution **out, tn_event *e)
{
    tn_tensor_request r = tensor_request(in, count);
    e->kind = TN_EVENT_NONE;
    *out = NULL;
    tn_status st = tn_tensor_start(session, &r, out, a->err);
    return st ? st : api_collect(*out, e, 1, a->err);
}

TEST(sequences_and_maps)
{
    struct api a;
    tn_execution *x;
    tn_event e;
    ort_begin(&a, 1);
    tn_session *session = ort_session(&a, "sequence.onnx");
    REQUIRE(session);
    tn_port_value in[] = {tensor_json("list", "{\"sequence\": [[1, 2], [3]]}"), tensor_json("x", "[4, 5, 6]")};
    CHECK_INT(call(&a, session, in, 2, &x, &e), TN_OK);
    REQUIRE(e.tensor_count == 2);
    CHECK_INT(e.tensors[0].kind, TN_VALUE_SEQUENCE);
    REQUIRE(e.tensors[0].item_count == 3);
    CHECK_INT(e.tensors[0].items[2].dims[0], 3);
    CHECK_NEAR(((const float *)e.tensors[0].items[2].data)[2], 6, 0);
    CHECK_INT(((const int64_t *)e.tensors[1].data)[0], 3);
    tn_execution_free(x);
    tn_session_free(session);
    session = ort_session(&a, "zipmap_text.onnx");
    REQUIRE(session);
    tn_port_value scores[] = {tensor_json("x", "[[0, 1], [2, 0]]")};
    CHECK_INT(call(&a, session, scores, 1, &x, &e), TN_OK);
    REQUIRE(e.tensor_count >= 2 && e.tensors[0].kind == TN_VALUE_SEQUENCE && e.tensors[0].item_count == 2);
    const tn_port_value *map = &e.tensors[0].items[0];
    REQUIRE(map->kind == TN_VALUE_MAP && map->item_count == 2 && map->items[0].size == 2 * sizeof(tn_string));
    /* By key, as a map is: ant is the second class. */
    CHECK(((const tn_string *)map->items[0].data)[0].length == 3 && memcmp(((const tn_string *)map->items[0].data)[0].data, "ant", 3) == 0);
    CHECK_NEAR(((const float *)map->items[1].data)[0], 0.7310586, 1e-6);
    tn_execution_free(x);
    tn_session_free(session);
    api_end(&a);
}

/* A shape that the graph states is trusted once it has come out so, and no longer than it does. */
TEST(shapes_that_are_stated)
{
    static const struct {
        const char *x;
        size_t found;
    } rows[] = {{"[1, 0, 1]", 2}, {"[0, 2, 2]", 2}, {"[1, 1, 1]", 3}, {"[0, 0, 1]", 1}, {"[0, 3, 3]", 2}};
    struct api a;
    ort_begin(&a, 1);
    tn_session *session = ort_session(&a, "lies.onnx");
    REQUIRE(session);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        tn_execution *x;
        tn_event e;
        tn_port_value in[] = {tensor_json("x", rows[i].x)};
        CHECK_INT(call(&a, session, in, 1, &x, &e), TN_OK);
        if (e.tensor_count == 2) CHECK_INT(e.tensors[1].dims[1], rows[i].found);
        tn_execution_free(x);
    }
    tn_session_free(session);
    api_end(&a);
}

static float sum_of(struct api *a, tn_session *session, tn_execution **x)
{
    static const float one[] = {1, 2}, two[] = {10, 20};
    static const int64_t dims[] = {1, 2};
    tn_event e;
    tn_port_value in[] = {tensor_f32("b", 2, dims, two), tensor_f32("a", 2, dims, one)};
    tn_status st = call(a, session, in, 2, x, &e);
    if (st) test_fail(__FILE__, __LINE__, "%s: %s", tn_status_name(st), tn_error_message(a->err));
    return !st && e.tensor_count ? ((const float *)e.tensors[0].data)[0] : -1;
}

TEST(a_result_outlives_what_made_it)
{
    struct api a;
    tn_execution *x;
    tn_event e;
    static const float one[] = {1, 2}, two[] = {10, 20};
    static const int64_t dims[] = {1, 2};
    ort_begin(&a, 1);
    tn_session *session = ort_session(&a, "add.onnx");
    REQUIRE(session);
    tn_port_value in[] = {tensor_f32("b", 2, dims, two), tensor_f32("a", 2, dims, one)};
    CHECK_INT(call(&a, session, in, 2, &x, &e), TN_OK);
    tn_session_free(session);
    REQUIRE(e.tensor_count == 2);
    CHECK_NEAR(((const float *)e.tensors[0].data)[1], 42, 0);
    tn_execution_free(x);
    api_end(&a);
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

static long resident_pages(void)
{
    size_t n;
    long size = 0, resident = 0;
    char *text = test_read_file("/proc/self/statm", &n);
    if (text) (void)!sscanf(text, "%ld %ld", &size, &resident);
    free(text);
    return resident;
}

/*
 * 200 times load, run, unload: our count is back each time. Resident memory may grow while caches of the library and of the C
 * library fill; from then on it stays.
 */
TEST(two_hundred_loads)
{
    struct api a;
    long half = 0;
    ort_begin(&a, 2);
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    o.task = "tensor";
    o.provider = "onnxruntime";
    tn_package *package = tensor_open(&a, "add.onnx");
    REQUIRE(package && tn_plan_new(package, &o, &plan, a.err) == TN_OK);
    tn_package_free(package);
    long before = 0;
    for (unsigned i = 0; i < 200; i++) {
        tn_execution *x = NULL;
        tn_session *session = api_load(&a, plan);
        REQUIRE(session);
        CHECK_NEAR(sum_of(&a, session, &x), 21, 0);
        tn_session_free(session);
        tn_execution_free(x);
        if (i == 0) before = a.host.bytes;
        CHECK_INT(a.host.bytes, before);
        if (i == 99) half = resident_pages();
    }
    long grown = (resident_pages() - half) * (sysconf(_SC_PAGESIZE) / 1024);
    if (grown > 4096) test_fail(__FILE__, __LINE__, "the second hundred grew by %ld KiB", grown);
    tn_plan_free(plan);
    api_end(&a);
}

/* What a session takes is its lease's: values, weights, and nothing stays behind in the runtime. */
TEST(memory_is_counted_in_the_lease)
{
    struct api a;
    ort_begin(&a, 1);
    tn_session *session = ort_session(&a, "long.onnx");
    REQUIRE(session);
    CHECK(tn_alloc_current(&session->lease) > 64 * 64 * sizeof(float)); /* the constant of the product */
    tn_session_free(session);
    api_end(&a);
}

TEST(too_little_memory)
{
    struct api a;
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    tn_session *session = NULL;
    ort_begin(&a, 1);
    tn_package *package = tensor_open(&a, "long.onnx");
    o.task = "tensor";
    o.provider = "onnxruntime";
    REQUIRE(package);
    unsigned loaded = 0;
    for (uint64_t limit = 16 << 10; limit <= 1 << 20; limit += 16 << 10) {
        o.memory_limit = limit;
        REQUIRE(tn_plan_new(package, &o, &plan, a.err) == TN_OK);
        tn_status st = tn_session_load(plan, NULL, &session, a.err);
        if (st) CHECK_INT(st, TN_INSUFFICIENT_MEMORY);
        if (st != TN_OK && loaded) test_fail(__FILE__, __LINE__, "less memory was enough before");
        loaded += st == TN_OK;
        tn_session_free(session);
        tn_plan_free(plan);
    }
    CHECK(loaded > 0);
    tn_package_free(package);
    api_end(&a);
}

/* ---- stopping -------------------------------------------------------------------------------------------------------- */

static tn_execution *start_long(struct api *a, tn_session *session, const char *trips, uint32_t timeout_ms)
{
    static float x[64 * 64];
    static const int64_t dims[] = {64, 64};
    tn_execution *run = NULL;
    tn_port_value in[] = {tensor_f32("x", 2, dims, x), tensor_json("trips", trips)};
    tn_tensor_request r = tensor_request(in, 2);
    r.timeout_ms = timeout_ms;
    tn_status st = tn_tensor_start(session, &r, &run, a->err);
    if (st) test_fail(__FILE__, __LINE__, "%s: %s", tn_status_name(st), tn_error_message(a->err));
    return run;
}

static void *cancel_soon(void *run)
{
    const struct timespec t = {0, 50000000};
    nanosleep(&t, NULL);
    tn_execution_cancel(run);
    return NULL;
}

/* Hours of work that end within moments, really: after the drain nothing runs, and the session answers as before. */
TEST(a_call_is_cancelled)
{
    struct api a;
    pthread_t thread;
    tn_event e;
    ort_begin(&a, 2);
    tn_session *session = ort_session(&a, "long.onnx");
    REQUIRE(session);
    for (unsigned i = 0; i < 3; i++) {
        tn_execution *run = start_long(&a, session, "1000000000000", 0);
        REQUIRE(run);
        REQUIRE(pthread_create(&thread, NULL, cancel_soon, run) == 0);
        double start = now_ms();
        CHECK_INT(api_collect(run, NULL, 0, a.err), TN_CANCELLED);
        CHECK_INT(tn_execution_drain(run, UINT32_MAX, a.err), TN_OK);
        double took = now_ms() - start;
        if (took > 5000) test_fail(__FILE__, __LINE__, "a cancel took %.0f ms", took);
        pthread_join(thread, NULL);
        tn_execution_free(run);
        run = start_long(&a, session, "3", 0);
        e.tensor_count = 0;
        CHECK_INT(api_collect(run, &e, 1, a.err), TN_OK);
        CHECK_INT(e.tensor_count, 1);
        tn_execution_free(run);
    }
    tn_session_free(session);
    api_end(&a);
}

TEST(a_deadline_ends_a_call)
{
    struct api a;
    ort_begin(&a, 1);
    tn_session *session = ort_session(&a, "long.onnx");
    REQUIRE(session);
    tn_execution *run = start_long(&a, session, "1000000000000", 60);
    REQUIRE(run);
    CHECK_INT(api_collect(run, NULL, 0, a.err), TN_DEADLINE_EXCEEDED);
    CHECK_INT(tn_execution_drain(run, UINT32_MAX, a.err), TN_OK);
    tn_execution_free(run);
    tn_session_free(session);
    api_end(&a);
}

TEST(a_load_is_cancelled)
{
    struct api a;
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_load_options l = TN_INIT(tn_load_options);
    tn_plan *plan = NULL;
    tn_session *session = NULL;
    ort_begin(&a, 1);
    tn_package *package = tensor_open(&a, "long.onnx");
    o.task = "tensor";
    o.provider = "onnxruntime";
    REQUIRE(package && tn_plan_new(package, &o, &plan, a.err) == TN_OK);
    tn_package_free(package);
    REQUIRE(tn_cancel_token_new(a.runtime, &l.cancel, a.err) == TN_OK);
    tn_cancel_token_request(l.cancel);
    CHECK_INT(tn_session_load(plan, &l, &session, a.err), TN_CANCELLED);
    CHECK(session == NULL);
    tn_cancel_token_free(l.cancel);
    tn_plan_free(plan);
    api_end(&a);
}

/* ---- several at once --------------------------------------------------------------------------------------------------- */

struct worker {
    tn_session *session;
    unsigned calls, good;
    tn_error *err;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    struct api own = {.err = w->err};
    for (unsigned i = 0; i < w->calls; i++) {
        tn_execution *x = NULL;
        w->good += sum_of(&own, w->session, &x) == 21;
        tn_execution_free(x);
    }
    return NULL;
}

TEST(sessions_and_threads)
{
    struct api a;
    pthread_t thread[4];
    struct worker workers[4];
    ort_begin(&a, 2);
    tn_session *sessions[2] = {ort_session(&a, "add.onnx"), ort_session(&a, "add.onnx")};
    REQUIRE(sessions[0] && sessions[1]);
    for (unsigned i = 0; i < 4; i++) {
        workers[i] = (struct worker){sessions[i % 2], 50, 0, tn_error_new()};
        REQUIRE(pthread_create(&thread[i], NULL, work, &workers[i]) == 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        CHECK_INT(workers[i].good, 50);
        tn_error_free(workers[i].err);
    }
    tn_session_free(sessions[0]);
    tn_session_free(sessions[1]);
    api_end(&a);
}

/* Two runtimes of one process share the library's environment; the second one's memory is then not counted, and says so. */
TEST(two_runtimes)
{
    struct api a, b;
    tn_execution *x, *y;
    ort_begin(&a, 1);
    ort_begin(&b, 1);
    tn_session *one = ort_session(&a, "add.onnx"), *two = ort_session(&b, "add.onnx");
    REQUIRE(one && two);
    CHECK_NEAR(sum_of(&a, one, &x), 21, 0);
    tn_execution_free(x);
    tn_session_free(one);
    api_end(&a);
    CHECK_NEAR(sum_of(&b, two, &y), 21, 0);
    tn_execution_free(y);
    tn_session_free(two);
    api_end(&b);
}

/* ---- refusals -------------------------------------------------------------------------------------------------------- */

static void check_refused(struct api *a, const char *name, const char *device, const char *without, tn_status code, const char *message)
{
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    tn_package *package = tensor_open(a, name);
    o.task = "tensor";
    o.provider = "onnxruntime";
    o.device = device;
    o.without = without;
    REQUIRE(package);
    CHECK_INT(tn_plan_new(package, &o, &plan, a->err), code);
    CHECK_CONTAINS(tn_error_message(a->err), message);
    tn_plan_free(plan);
    tn_package_free(package);
}

TEST(refusals)
{
    struct api a;
    ort_begin(&a, 1);
    check_refused(&a, "add.onnx", "gpu", NULL, TN_PLACEMENT_REFUSED, "has no device gpu here");
    CHECK_CONTAINS(tn_error_found(a.err), "CPUExecutionProvider");
    check_refused(&a, "add.onnx", NULL, "norm", TN_UNSUPPORTED_OPTION, "all together or not at all");
    check_refused(&a, "gaps.onnx", NULL, NULL, TN_CUSTOM_CODE_DENIED, "library of custom operators");
    check_refused(&a, "opset_newer.onnx", NULL, NULL, TN_VERSION_UNQUALIFIED, "");
    check_refused(&a, "ir_newer.onnx", NULL, NULL, TN_VERSION_UNQUALIFIED, "");
    api_end(&a);
}
