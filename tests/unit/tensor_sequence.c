/*
 * State that goes from call to call. Values are ONNX Runtime's with the state carried by hand (tests/golden/tensor); what a
 * failed call, a second user or a caller's mistake would change is not changed.
 */
#define _XOPEN_SOURCE 700
#include "tensor_util.h"

#include "base/json.h"
#include "real_models.h"
#include "task/sequence.h"

#include <sys/stat.h>
#include <unistd.h>

static const int64_t pair[] = {2, 2};

/* One call; the outcome, and the first output's numbers. */
static tn_status call(struct api *a, tn_session *session, tn_sequence *q, const tn_port_value *in, size_t count, float *out, size_t n)
{
    tn_tensor_request r = tensor_request(in, count);
    tn_execution *x = NULL;
    tn_event e = {.kind = TN_EVENT_NONE};
    r.sequence = q;
    tn_status st = tn_tensor_start(session, &r, &x, a->err);
    if (!st) st = api_collect(x, &e, 1, a->err);
    if (!st && e.tensor_count == 1 && e.tensors[0].size == n * sizeof(*out)) memcpy(out, e.tensors[0].data, n * sizeof(*out));
    else if (!st) st = TN_RUNTIME_FAILURE;
    if (x) (void)tn_execution_drain(x, UINT32_MAX, NULL);
    tn_execution_free(x);
    return st;
}

static tn_status step(struct api *a, tn_session *session, tn_sequence *q, const float *x, float *y)
{
    tn_port_value in[] = {tensor_f32("x", 2, pair, x)};
    return call(a, session, q, in, 1, y, 4);
}

static void numbers(struct tn_json list, float *out)
{
    double value;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        (void)tn_json_f64(v, &value);
        *out++ = (float)value;
    }
}

TEST(carried_as_by_hand)
{
    struct api a;
    struct tn_alloc alloc;
    struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc;
    size_t n, count, calls = 0;
    char *text = test_read_file(test_path("golden/tensor/expected.json"), &n);
    tn_sequence *q = NULL, *fork = NULL;
    const tn_port_value *states;
    tn_alloc_init(&alloc);
    REQUIRE(text && tn_json_parse(&doc, &alloc, &limits, TN_STR("expected"), (struct tn_str){text, n}, NULL) == TN_OK);
    REQUIRE(api_begin(&a, 1));
    tn_session *session = tensor_session(&a, "stateful");
    REQUIRE(session);
    REQUIRE(tn_sequence_new(session, &q, a.err) == TN_OK);
    CHECK_INT(tn_sequence_get(q, &states, &count, a.err), TN_OK);
    REQUIRE(count == 2);
    CHECK(states[0].element == NULL && states[0].name.length == 3);
    for (struct tn_json c = tn_json_first(tn_json_get(tn_json_root(&doc), "stateful")); tn_json_present(c); c = tn_json_next(c), calls++) {
        float x[4], y[4], want[4], acc[4];
        numbers(tn_json_get(c, "x"), x);
        numbers(tn_json_get(c, "y"), want);
        numbers(tn_json_get(c, "acc"), acc);
        if (calls == 2) CHECK_INT(tn_sequence_fork(q, &fork, a.err), TN_OK);
        CHECK_INT(step(&a, session, q, x, y), TN_OK);
        for (size_t i = 0; i < 4; i++) CHECK_NEAR(y[i], want[i], 1e-6);
        CHECK_INT(tn_sequence_get(q, &states, &count, a.err), TN_OK);
        REQUIRE(states[0].data && states[1].data);
        for (size_t i = 0; i < 4; i++) CHECK_NEAR(((const float *)states[0].data)[i], acc[i], 1e-6);
        CHECK_INT(*(const int64_t *)states[1].data, 6 + (int64_t)calls);
    }
    CHECK_INT(calls, 4);
    /* the fork is where it was when it was made, and a reset begins anew */
    CHECK_INT(tn_sequence_get(fork, &states, &count, a.err), TN_OK);
    CHECK_INT(*(const int64_t *)states[1].data, 7);
    CHECK_INT(tn_sequence_reset(q, a.err), TN_OK);
    CHECK_INT(tn_sequence_get(q, &states, &count, a.err), TN_OK);
    CHECK(states[1].data == NULL);
    tn_session_free(session); /* a sequence keeps it alive */
    tn_sequence_free(fork);
    tn_sequence_free(q);
    api_end(&a);
    tn_json_release(&doc);
    free(text);
}

static int64_t count_of(struct api *a, tn_sequence *q)
{
    const tn_port_value *states;
    size_t count;
    if (tn_sequence_get(q, &states, &count, a->err) != TN_OK || !states[1].data) return -1;
    return *(const int64_t *)states[1].data;
}

/* A call that does not complete leaves the state as it was, and the sequence free. */
TEST(failures_change_nothing)
{
    struct api a;
    static const int64_t three[] = {3, 2};
    static const float x[6] = {1, 2, 3, 4, 5, 6};
    float y[4];
    tn_sequence *q = NULL;
    tn_execution *run = NULL;
    REQUIRE(api_begin(&a, 1));
    tn_session *session = tensor_session(&a, "stateful");
    REQUIRE(session && tn_sequence_new(session, &q, a.err) == TN_OK);
    CHECK_INT(step(&a, session, q, x, y), TN_OK);
    CHECK_INT(count_of(&a, q), 6);
    tn_port_value other[] = {tensor_f32("x", 2, three, x)};
    CHECK_INT(call(&a, session, q, other, 1, y, 4), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_message(a.err), "acc has another size than the package's contract declares");
    tn_port_value both[] = {tensor_f32("x", 2, pair, x), tensor_f32("acc", 2, pair, x)};
    CHECK_INT(call(&a, session, q, both, 2, y, 4), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_message(a.err), "state of the sequence");
    tn_port_value in[] = {tensor_f32("x", 2, pair, x)};
    tn_tensor_request r = tensor_request(in, 1);
    tn_string wanted = api_string("acc_next");
    r.sequence = q;
    r.outputs = &wanted;
    r.output_count = 1;
    CHECK_INT(tn_tensor_start(session, &r, &run, a.err), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_message(a.err), "no result");
    CHECK_INT(count_of(&a, q), 6);
    /* cancelled: whatever has been computed by then, nobody was told of it */
    r.outputs = NULL;
    r.output_count = 0;
    CHECK_INT(tn_tensor_start(session, &r, &run, a.err), TN_OK);
    REQUIRE(run);
    tn_execution_cancel(run);
    tn_event e;
    tn_status outcome = TN_OK;
    do {
        REQUIRE(tn_execution_next(run, UINT32_MAX, &e, a.err) == TN_OK);
        outcome = e.status;
    } while (e.kind != TN_EVENT_TERMINAL);
    (void)tn_execution_drain(run, UINT32_MAX, NULL);
    CHECK_INT(count_of(&a, q), outcome == TN_OK ? 7 : 6);
    tn_execution_free(run);
    tn_sequence_free(q);
    tn_session_free(session);
    api_end(&a);
}

TEST(one_call_at_a_time)
{
    struct api a;
    static const float x[4] = {1, 2, 3, 4};
    float y[4];
    size_t count;
    const tn_port_value *states;
    tn_sequence *q = NULL, *fork = NULL;
    REQUIRE(api_begin(&a, 1));
    tn_session *session = tensor_session(&a, "stateful"), *other = tensor_session(&a, "stateful");
    REQUIRE(session && other && tn_sequence_new(session, &q, a.err) == TN_OK);
    REQUIRE(tn_sequence_borrow(q, a.err) == TN_OK);
    CHECK_INT(step(&a, session, q, x, y), TN_BUSY);
    CHECK(tn_error_retryable(a.err));
    CHECK_INT(tn_sequence_get(q, &states, &count, a.err), TN_BUSY);
    CHECK_INT(tn_sequence_reset(q, a.err), TN_BUSY);
    CHECK_INT(tn_sequence_fork(q, &fork, a.err), TN_BUSY);
    CHECK(fork == NULL);
    tn_sequence_return(q);
    CHECK_INT(step(&a, other, q, x, y), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_message(a.err), "another session");
    CHECK_INT(step(&a, session, q, x, y), TN_OK);
    tn_sequence_free(q);
    tn_session_free(other);
    tn_session_free(session);
    api_end(&a);
}

TEST(set_is_all_or_nothing)
{
    struct api a;
    static const int64_t one[] = {1};
    static const float acc[4] = {1, 2, 3, 4}, x[4] = {0};
    static const int64_t number = 40;
    float y[4];
    tn_sequence *q = NULL, *none = NULL;
    REQUIRE(api_begin(&a, 1));
    tn_session *session = tensor_session(&a, "stateful"), *plain = tensor_session(&a, "state.onnx");
    REQUIRE(session && plain && tn_sequence_new(session, &q, a.err) == TN_OK);
    tn_port_value v[] = {tensor_f32("acc", 2, pair, acc),
                         {.name = api_string("count"), .element = "int64", .rank = 1, .dims = one, .data = &number, .size = sizeof(number)},
                         tensor_f32("acc", 2, pair, acc)};
    CHECK_INT(tn_sequence_set(q, v, 1, a.err), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_message(a.err), "a state is missing");
    CHECK_INT(tn_sequence_set(q, v, 3, a.err), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_message(a.err), "given twice");
    v[2].name = api_string("nowhere");
    CHECK_INT(tn_sequence_set(q, v, 3, a.err), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_message(a.err), "no state of this name");
    CHECK_INT(count_of(&a, q), -1);
    CHECK_INT(tn_sequence_set(q, v, 2, a.err), TN_OK);
    CHECK_INT(count_of(&a, q), 40);
    CHECK_INT(step(&a, session, q, x, y), TN_OK);
    CHECK_NEAR(y[3], 4, 0);
    CHECK_INT(count_of(&a, q), 41);
    CHECK_INT(tn_sequence_new(plain, &none, a.err), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_message(a.err), "declares no state");
    CHECK(none == NULL);
    tn_sequence_free(q);
    tn_session_free(plain);
    tn_session_free(session);
    api_end(&a);
}

/* ---- a real one --------------------------------------------------------------------------------------------------- */

static const char contract[] =
    "schema_version: v1\n"
    "pipeline:\n"
    "  workflow:\n"
    "    manifest:\n"
    "      capabilities: [workflow_ssa, typed_emit, serving_service_contract, session_state_lease]\n"
    "    inputs:\n"
    "      request.sound:\n"
    "        contract: {dtype: float32, rank: 2, shape: [batch, samples], batch_layout: {kind: request_aligned, axis: 0}}\n"
    "        role: {kind: opaque}\n"
    "        source: {kind: application, name: sound}\n"
    "      package.rate:\n"
    "        contract: {dtype: int64, rank: 0, shape: []}\n"
    "        role: {kind: opaque}\n"
    "        source: {kind: literal}\n"
    "        required: false\n"
    "        default: 16000\n"
    "      package.silence:\n"
    "        contract: {dtype: float32, rank: 3, shape: [2, batch, 128], batch_layout: {kind: request_aligned, axis: 1}}\n"
    "        role: {kind: opaque}\n"
    "        source: {kind: literal}\n"
    "        required: false\n"
    "        default: 0.0\n"
    "      request.active: {contract: &flag {dtype: bool, rank: 1, shape: [batch], batch_layout: {kind: request_aligned, axis: 0}}, role: {kind: opaque}, source: {kind: literal}, required: false, default: true}\n"
    "      request.done: {contract: *flag, role: {kind: opaque}, source: {kind: literal}, required: false, default: false}\n"
    "    outputs:\n"
    "      speech:\n"
    "        contract: {dtype: float32, rank: 2, shape: [batch, 1], batch_layout: {kind: request_aligned, axis: 0}}\n"
    "        role: tensor\n"
    "        stage: pre_adapter\n"
    "    components:\n"
    "      detector:\n"
    "        implementation: {kind: onnx, artifact: silero_vad.onnx}\n"
    "    state:\n"
    "      hidden:\n"
    "        contract: {dtype: float32, rank: 3, shape: [2, batch, 128], batch_layout: {kind: request_aligned, axis: 1}}\n"
    "        scope: session\n"
    "        initializer: package.silence\n"
    "        recurrence: {kind: invariant}\n"
    "        management: runtime\n"
    "        release_boundary: session\n"
    "        service_group: recurrent\n"
    "    steps:\n"
    "    - {kind: invoke, component: detector, inputs: {input: request.sound, state: package.silence, sr: package.rate}, outputs: {output: detector.speech, stateN: detector.hidden}}\n"
    "    - {kind: emit, value: detector.speech, output: speech, mode: replace}\n"
    "    serving:\n"
    "      active: request.active\n"
    "      done: request.done\n"
    "      state_service:\n"
    "        groups:\n"
    "          recurrent:\n"
    "            kind: recurrent\n"
    "            layout: lbh\n"
    "            update: {kind: replace}\n"
    "            ports: {detector: {hidden: {input: state, output: stateN}}}\n";

static bool write_bytes(const char *folder, const char *name, const char *bytes, size_t n)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(bytes, 1, n, f) == n;
    if (f) good = fclose(f) == 0 && good;
    return good;
}

static void remove_package(const char *folder)
{
    static const char *const names[] = {"silero_vad.onnx", "inference_metadata.yaml"};
    char path[300];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

enum { CHUNKS = 50, SAMPLES = 512, CONTEXT = 64 };

/* The sound of tools/golden/silero.py. */
static void make_sound(float *out)
{
    uint32_t x = 1;
    memset(out, 0, CONTEXT * sizeof(*out));
    for (uint32_t i = 0; i < CHUNKS * SAMPLES; i++) {
        x = 1664525u * x + 1013904223u;
        out[CONTEXT + i] = (float)((int32_t)(x >> 16) - 32768) / (i / (8 * SAMPLES) % 2 == 0 ? 131072.0f : 4194304.0f);
    }
}

TEST(silero_over_fifty_chunks)
{
    struct api a;
    struct tn_alloc alloc;
    struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc;
    char model[600], folder[] = "/tmp/tenon-silero-XXXXXX";
    size_t n = 0, text_n, count, k = 0;
    static float sound[CONTEXT + CHUNKS * SAMPLES];
    float want[CHUNKS], state[16], got;
    static const int64_t dims[] = {1, SAMPLES + CONTEXT};
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    tn_session *session = NULL;
    tn_sequence *q = NULL;
    const tn_port_value *states;
    if (!real_model(model, sizeof(model), "silero-vad-6.2.3/silero_vad.onnx")) test_skip("silero-vad is not in the cache (make fetch-models)");
    char *bytes = test_read_file(model, &n), *text = test_read_file(test_path("golden/tensor/silero.json"), &text_n);
    tn_alloc_init(&alloc);
    REQUIRE(bytes && text && mkdtemp(folder));
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("silero"), (struct tn_str){text, text_n}, NULL) == TN_OK);
    REQUIRE(tn_json_count(tn_json_get(tn_json_root(&doc), "answers")) == CHUNKS && tn_json_count(tn_json_get(tn_json_root(&doc), "state")) == 16);
    numbers(tn_json_get(tn_json_root(&doc), "answers"), want);
    numbers(tn_json_get(tn_json_root(&doc), "state"), state);
    REQUIRE(write_bytes(folder, "silero_vad.onnx", bytes, n) && write_bytes(folder, "inference_metadata.yaml", contract, strlen(contract)));
    REQUIRE(api_begin(&a, 2));
    tn_package *package = api_open(&a, folder);
    o.task = "tensor";
    if (!package || tn_plan_new(package, &o, &plan, a.err) || tn_session_load(plan, NULL, &session, a.err) || tn_sequence_new(session, &q, a.err))
        test_fail(__FILE__, __LINE__, "%s: %s: %s", tn_error_message(a.err), tn_error_found(a.err), tn_error_element(a.err));
    make_sound(sound);
    for (; q && k < CHUNKS; k++) {
        tn_port_value in[] = {tensor_f32("input", 2, dims, sound + k * SAMPLES)};
        tn_status st = call(&a, session, q, in, 1, &got, 1);
        if (st || fabsf(got - want[k]) > 1e-4f) {
            test_fail(__FILE__, __LINE__, "chunk %zu: %s, %g instead of %g: %s", k, tn_status_name(st), (double)got, (double)want[k], tn_error_message(a.err));
            break;
        }
    }
    CHECK_INT(k, CHUNKS);
    if (q && tn_sequence_get(q, &states, &count, a.err) == TN_OK && states[0].data)
        for (size_t i = 0; i < 16; i++) CHECK_NEAR(((const float *)states[0].data)[i * 16], state[i], 1e-4);
    tn_sequence_free(q);
    tn_session_free(session);
    tn_plan_free(plan);
    tn_package_free(package);
    api_end(&a);
    remove_package(folder);
    tn_json_release(&doc);
    free(text);
    free(bytes);
}
