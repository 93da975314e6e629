/*
 * Calls of graphs over the public interface. Values are ONNX Runtime's (tests/golden/tensor/expected.json); what is refused
 * is refused with every problem at once, before anything runs.
 */
#include "tensor_cases.h"

#include <pthread.h>

/* ---- values against the reference --------------------------------------------------------------------------------- */

TEST(values_are_the_references)
{
    struct api a;
    REQUIRE(api_begin(&a, 2));
    check_cases(&a, NULL);
    api_end(&a);
}

/* Typed values in, typed values out, which outlive the session; an output may be an input. */
TEST(typed_values)
{
    struct api a;
    static const int64_t dims[] = {1, 2};
    static const float x[] = {1, 2}, y[] = {10, 20};
    REQUIRE(api_begin(&a, 1));
    tn_session *session = tensor_session(&a, "add.onnx");
    REQUIRE(session);
    tn_port_value in[] = {tensor_f32("b", 2, dims, y), tensor_f32("a", 2, dims, x)};
    tn_tensor_request r = tensor_request(in, 2);
    tn_execution *run = NULL;
    tn_event e = {.kind = TN_EVENT_NONE};
    CHECK_INT(tn_tensor_start(session, &r, &run, a.err), TN_OK);
    REQUIRE(run);
    CHECK_INT(api_collect(run, &e, 1, a.err), TN_OK);
    tn_session_free(session);
    REQUIRE(e.tensor_count == 2);
    CHECK(e.tensors[0].name.length == 3 && memcmp(e.tensors[0].name.data, "sum", 3) == 0);
    CHECK_STR(e.tensors[0].element, "float32");
    CHECK(e.tensors[0].rank == 2 && e.tensors[0].dims[0] == 1 && e.tensors[0].dims[1] == 2);
    CHECK_NEAR(((const float *)e.tensors[0].data)[0], 21, 0);
    CHECK_NEAR(((const float *)e.tensors[0].data)[1], 42, 0);
    CHECK(memcmp(e.tensors[1].data, x, sizeof(x)) == 0);
    CHECK(e.tensors[1].data != (const void *)x);
    tn_execution_free(run);
    api_end(&a);
}

TEST(only_wanted_outputs)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    tn_session *session = tensor_session(&a, "add.onnx");
    REQUIRE(session);
    tn_port_value in[] = {tensor_json("a", "[[1, 2]]"), tensor_json("b", "[[3, 4]]")};
    tn_string wanted = api_string("same/a");
    tn_tensor_request r = tensor_request(in, 2);
    r.outputs = &wanted;
    r.output_count = 1;
    tn_execution *run = NULL;
    tn_event e = {.kind = TN_EVENT_NONE};
    CHECK_INT(tn_tensor_start(session, &r, &run, a.err), TN_OK);
    REQUIRE(run);
    CHECK_INT(api_collect(run, &e, 1, a.err), TN_OK);
    CHECK_INT(e.tensor_count, 1);
    tn_execution_free(run);
    tn_session_free(session);
    api_end(&a);
}

/* What is built of tensors keeps its type in both directions. */
TEST(sequences_keep_their_type)
{
    struct api a;
    static const int64_t two[] = {2};
    static const float x[] = {7, 8};
    REQUIRE(api_begin(&a, 1));
    tn_session *session = tensor_session(&a, "sequence.onnx");
    REQUIRE(session);
    tn_port_value items[] = {tensor_f32("", 1, two, x)};
    tn_port_value in[] = {{.name = api_string("list"), .kind = TN_VALUE_SEQUENCE, .items = items, .item_count = 1},
                          tensor_json("x", "[1, 2, 3]")};
    tn_tensor_request r = tensor_request(in, 2);
    tn_execution *run = NULL;
    tn_event e = {.kind = TN_EVENT_NONE};
    CHECK_INT(tn_tensor_start(session, &r, &run, a.err), TN_OK);
    REQUIRE(run);
    CHECK_INT(api_collect(run, &e, 1, a.err), TN_OK);
    REQUIRE(e.tensor_count == 2);
    CHECK_INT(e.tensors[0].kind, TN_VALUE_SEQUENCE);
    REQUIRE(e.tensors[0].item_count == 2);
    CHECK_INT(e.tensors[0].items[1].dims[0], 3);
    CHECK_NEAR(((const float *)e.tensors[0].items[0].data)[1], 8, 0);
    CHECK_INT(*(const int64_t *)e.tensors[1].data, 2);
    tn_execution_free(run);
    tn_session_free(session);
    api_end(&a);
}

/* ---- refusals ----------------------------------------------------------------------------------------------------- */

static bool has_finding(const tn_error *err, const char *part)
{
    for (size_t i = 0; i < tn_error_finding_count(err); i++)
        if (strstr(tn_error_finding_message(err, i), part)) return true;
    return strstr(tn_error_message(err), part) != NULL;
}

static void refused(struct api *a, tn_session *session, const tn_port_value *in, size_t count, const char *part, int line)
{
    tn_tensor_request r = tensor_request(in, count);
    tn_execution *run = NULL;
    tn_status st = tn_tensor_start(session, &r, &run, a->err);
    if (st != TN_INVALID_REQUEST || run) test_fail(__FILE__, line, "%s: %s", tn_status_name(st), tn_error_message(a->err));
    if (!has_finding(a->err, part)) test_fail(__FILE__, line, "no finding says \"%s\", but \"%s\"", part, tn_error_message(a->err));
}
#define REFUSED(in, part) refused(&a, session, in, sizeof(in) / sizeof((in)[0]), part, __LINE__)

TEST(every_problem_at_once)
{
    struct api a;
    static const int64_t dims[] = {3, 2}, one[] = {1};
    static const float x[6] = {0};
    REQUIRE(api_begin(&a, 1));
    tn_session *session = tensor_session(&a, "add.onnx");
    REQUIRE(session);
    tn_port_value many[] = {tensor_f32("a", 1, one, x), tensor_f32("nowhere", 2, dims, x), tensor_f32("scale", 2, dims, x),
                            tensor_f32("scale", 1, one, x)};
    REFUSED(many, "input a is of another type");
    CHECK(has_finding(a.err, "no input of this name"));
    CHECK(has_finding(a.err, "input scale is of another type"));
    CHECK(has_finding(a.err, "an input is given twice"));
    CHECK(has_finding(a.err, "input b is missing"));
    tn_port_value relation[] = {tensor_f32("a", 2, dims, x), tensor_json("b", "[[1, 2]]")};
    REFUSED(relation, "input b has a dimension of another size");
    CHECK_CONTAINS(tn_error_expected(a.err), "n is 3, by input a");
    tn_session_free(session);
    api_end(&a);
}

TEST(values_that_contradict_themselves)
{
    struct api a;
    static const int64_t dims[] = {1, 2}, negative[] = {-1, 2}, huge[] = {INT64_MAX, INT64_MAX};
    static const float x[2] = {0};
    REQUIRE(api_begin(&a, 1));
    tn_session *session = tensor_session(&a, "add.onnx");
    REQUIRE(session);
    tn_port_value b = tensor_f32("b", 2, dims, x), v[2] = {b, b};
    v[0] = tensor_f32("a", 2, dims, x);
    v[0].size = 4;
    REFUSED(v, "another size than its shape");
    v[0].size = 8;
    v[0].data = NULL;
    REFUSED(v, "another size than its shape");
    v[0] = tensor_f32("a", 2, dims, x);
    v[0].dims = negative;
    REFUSED(v, "no shape that can be");
    v[0].dims = huge;
    REFUSED(v, "no shape that can be");
    v[0].rank = 9;
    REFUSED(v, "no shape that can be");
    v[0] = tensor_f32("a", 2, dims, x);
    v[0].element = "float33";
    REFUSED(v, "no element type that is known");
    v[0].element = "int32";
    REFUSED(v, "is of another type");
    v[0].kind = (tn_value_kind)77;
    REFUSED(v, "of no kind that exists");
    static const char *const texts[] = {"[[1, 2], [3]]", "[[1, \"x\"]]", "[[1, 2]", "{\"shape\": [1, 2], \"data\": [1]}",
                                        "{\"dtype\": \"int9\", \"data\": [[1, 2]]}", "{}", "[[[[[[[[[1]]]]]]]]]", "null"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        v[0] = tensor_json("a", texts[i]);
        REFUSED(v, "input a ");
    }
    tn_session_free(session);
    api_end(&a);
}

/* All operators that cannot be computed, in one report, each with its node. */
TEST(every_gap_at_once)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    tn_package *package = tensor_open(&a, "gaps.onnx");
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_document *check = NULL;
    tn_decision decision = TN_ELIGIBLE;
    o.task = "tensor";
    REQUIRE(package);
    CHECK_INT(tn_assess(package, &o, &decision, &check, a.err), TN_OK);
    CHECK_INT(decision, TN_UNSUPPORTED);
    const char *text = tn_document_text(check, NULL);
    CHECK_CONTAINS(text, "Frobnicate of domain ai.onnx, version 17");
    CHECK_CONTAINS(text, "Foo of domain com.example, version 1");
    CHECK_CONTAINS(text, "\"frob\"");
    CHECK_CONTAINS(text, "\"foo\"");
    tn_document_free(check);
    tn_package_free(package);
    api_end(&a);
}

/* In the main graph, in a branch, in a function; and an operand of a type that the operator does not take. */
TEST(gaps_in_every_graph)
{
    static const char *const parts[] = {
        "Frobnicate of domain ai.onnx, version 17", "\"frob\"", "Foo of domain com.example, version 1", "\"foo\"",
        "Inner of domain com.example, version 1", "\"inner\"", "Deep of domain com.example, version 1", "\"deep\"",
        "Tanh of domain ai.onnx, version 17", "\"typed\"", "int32 [n] for input", "float32, float16, float64, bfloat16"};
    struct api a;
    REQUIRE(api_begin(&a, 1));
    tn_package *package = tensor_open(&a, "all_gaps.onnx");
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    tn_document *check = NULL;
    tn_decision decision = TN_ELIGIBLE;
    o.task = "tensor";
    REQUIRE(package);
    CHECK_INT(tn_assess(package, &o, &decision, &check, a.err), TN_OK);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) CHECK_CONTAINS(tn_document_text(check, NULL), parts[i]);
    CHECK_INT(tn_plan_new(package, &o, &plan, a.err), TN_UNSUPPORTED_OPERATOR);
    CHECK_INT(tn_error_finding_count(a.err), 5);
    tn_document_free(check);
    tn_package_free(package);
    api_end(&a);
}

/* The plan names what is rewritten; what is left out is part of the plan, and an unknown name is refused with all names. */
TEST(rewritings_of_a_plan)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    tn_package *package = tensor_open(&a, "add.onnx");
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_graph_options g = TN_INIT(tn_graph_options);
    tn_plan *plan = NULL, *without = NULL, *again = NULL;
    tn_document *text = NULL, *other = NULL, *graph = NULL;
    size_t length;
    o.task = "tensor";
    REQUIRE(package);
    REQUIRE(tn_plan_new(package, &o, &plan, a.err) == TN_OK && tn_plan_json(plan, &text, a.err) == TN_OK);
    CHECK_CONTAINS(tn_document_text(text, NULL), "\"patch\":\"identity\"");
    CHECK_CONTAINS(tn_document_text(text, NULL), "\"nodes_run\":2");
    o.without = "identity, pairs";
    REQUIRE(tn_plan_new(package, &o, &without, a.err) == TN_OK && tn_plan_json(without, &other, a.err) == TN_OK);
    CHECK_CONTAINS(tn_document_text(other, &length), "\"nodes_run\":3");
    CHECK(strstr(tn_document_text(other, NULL), "\"patch\":\"identity\"") == NULL);
    CHECK_INT(tn_plan_parse(package, tn_document_text(other, NULL), length, &again, a.err), TN_OK);
    tn_plan_free(again);
    o.without = "identities";
    CHECK_INT(tn_plan_new(package, &o, &again, a.err), TN_INVALID_REQUEST);
    CHECK_CONTAINS(tn_error_expected(a.err), "identity");
    CHECK(again == NULL);
    g.optimized = 1;
    CHECK_INT(tn_package_graph(package, &g, &graph, a.err), TN_OK);
    CHECK_CONTAINS(tn_document_text(graph, NULL), "\"optimized\": true");
    CHECK(strstr(tn_document_text(graph, NULL), "\"operator\": \"Identity\"") == NULL);
    tn_document_free(graph);
    g.without = "nothing like it";
    CHECK_INT(tn_package_graph(package, &g, &graph, a.err), TN_INVALID_REQUEST);
    tn_document_free(other);
    tn_document_free(text);
    tn_plan_free(without);
    tn_plan_free(plan);
    tn_package_free(package);
    api_end(&a);
}

TEST(versions_that_are_not_known)
{
    static const struct {
        const char *file;
        tn_status code;
    } rows[] = {{"opset_newer.onnx", TN_VERSION_UNQUALIFIED}, {"opset_zero.onnx", TN_ARTIFACT_MALFORMED},
                {"opset_missing.onnx", TN_ARTIFACT_MALFORMED}, {"opset_twice.onnx", TN_ARTIFACT_MALFORMED},
                {"ir_newer.onnx", TN_VERSION_UNQUALIFIED}, {"ir_zero.onnx", TN_ARTIFACT_MISSING} /* no version: no model */};
    struct api a;
    REQUIRE(api_begin(&a, 1));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        tn_session *session = tensor_session(&a, rows[i].file);
        if (session || tn_error_code(a.err) != rows[i].code)
            test_fail(__FILE__, __LINE__, "%s: %s", rows[i].file, tn_status_name(tn_error_code(a.err)));
        tn_session_free(session);
    }
    api_end(&a);
}

/* Other tasks say why not, and the plan of a graph is made again from its document. */
TEST(tasks_and_plans)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    tn_package *package = tensor_open(&a, "add.onnx");
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL, *again = NULL;
    tn_document *text = NULL, *tasks = NULL;
    size_t length;
    int served = 0;
    REQUIRE(package);
    CHECK_INT(tn_package_tasks(package, &o, &served, &tasks, a.err), TN_OK);
    CHECK_INT(served, 1);
    o.task = "tensor";
    CHECK_INT(tn_plan_new(package, &o, &plan, a.err), TN_OK);
    REQUIRE(plan);
    CHECK_INT(tn_plan_json(plan, &text, a.err), TN_OK);
    CHECK_CONTAINS(tn_document_text(text, &length), "\"dataflow\"");
    CHECK_INT(tn_plan_parse(package, tn_document_text(text, NULL), length, &again, a.err), TN_OK);
    o.task = "embedding.dense";
    tn_plan *wrong = NULL;
    CHECK(tn_plan_new(package, &o, &wrong, a.err) != TN_OK);
    tn_plan_free(again);
    tn_plan_free(plan);
    tn_document_free(text);
    tn_document_free(tasks);
    tn_package_free(package);
    api_end(&a);
}

/* ---- scores by class ------------------------------------------------------------------------------------------------ */

/* softmax of (0, log 3) is (1/4, 3/4). */
static void check_zipmap(struct api *a, const char *name, bool text)
{
    static const int64_t dims[] = {2, 2};
    static const float x[] = {0, 1.0986123f, 1.0986123f, 0};
    tn_session *session = tensor_session(a, name);
    REQUIRE(session);
    tn_port_value in[] = {tensor_f32("x", 2, dims, x)};
    tn_tensor_request r = tensor_request(in, 1);
    tn_execution *run = NULL;
    tn_event e = {.kind = TN_EVENT_NONE};
    CHECK_INT(tn_tensor_start(session, &r, &run, a->err), TN_OK);
    REQUIRE(run && api_collect(run, &e, 1, a->err) == TN_OK && e.tensor_count == 3);
    const tn_port_value *maps = &e.tensors[0];
    REQUIRE(maps->kind == TN_VALUE_SEQUENCE && maps->item_count == 2);
    for (size_t i = 0; i < 2; i++) {
        REQUIRE(maps->items[i].kind == TN_VALUE_MAP && maps->items[i].item_count == 2);
        const tn_port_value *keys = &maps->items[i].items[0], *values = &maps->items[i].items[1];
        CHECK_STR(keys->element, text ? "string" : "int64");
        CHECK_INT(keys->dims[0], 2);
        if (text) CHECK(((const tn_string *)keys->data)[0].length == 5 && memcmp(((const tn_string *)keys->data)[1].data, "ant", 3) == 0);
        else CHECK(((const int64_t *)keys->data)[0] == 7 && ((const int64_t *)keys->data)[1] == -3);
        CHECK_NEAR(((const float *)values->data)[i], 0.25, 1e-6);
        CHECK_NEAR(((const float *)values->data)[1 - i], 0.75, 1e-6);
    }
    CHECK_NEAR(((const float *)e.tensors[1].data)[1], 0.75, 1e-6);
    CHECK_INT(((const int64_t *)e.tensors[2].data)[0], 1);
    CHECK_INT(((const int64_t *)e.tensors[2].data)[1], 0);
    tn_execution_free(run);
    tn_session_free(session);
}

TEST(scores_by_class)
{
    static const char *const wrong[] = {"zipmap_both.onnx", "zipmap_neither.onnx", "zipmap_short.onnx"};
    struct api a;
    REQUIRE(api_begin(&a, 1));
    check_zipmap(&a, "zipmap_text.onnx", true);
    check_zipmap(&a, "zipmap_int.onnx", false);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        tn_session *session = tensor_session(&a, wrong[i]);
        if (session) test_fail(__FILE__, __LINE__, "%s is loaded", wrong[i]);
        CHECK_STR(tn_error_element(a.err), "zip");
        tn_session_free(session);
    }
    api_end(&a);
}

/* ---- company ------------------------------------------------------------------------------------------------------ */

struct caller {
    tn_session *session;
    unsigned number;
    bool good;
};

static void *call_often(void *arg)
{
    struct caller *c = arg;
    tn_error *err = tn_error_new();
    static const int64_t dims[] = {1, 2};
    c->good = err != NULL;
    for (unsigned i = 0; c->good && i < 8; i++) {
        float x[] = {(float)c->number, (float)i}, y[] = {1, 2};
        tn_port_value in[] = {tensor_f32("a", 2, dims, x), tensor_f32("b", 2, dims, y)};
        tn_tensor_request r = tensor_request(in, 2);
        tn_execution *run = NULL;
        tn_event e = {.kind = TN_EVENT_NONE};
        c->good = tn_tensor_start(c->session, &r, &run, err) == TN_OK && api_collect(run, &e, 1, err) == TN_OK && e.tensor_count == 2;
        const float *sum = c->good ? e.tensors[0].data : NULL;
        c->good = c->good && sum[0] == x[0] + 2 && sum[1] == x[1] + 4;
        tn_execution_free(run);
    }
    tn_error_free(err);
    return NULL;
}

TEST(calls_from_many_threads)
{
    enum { THREADS = 4 };
    struct api a;
    pthread_t threads[THREADS];
    struct caller callers[THREADS];
    REQUIRE(api_begin(&a, 2));
    tn_session *session = tensor_session(&a, "add.onnx");
    REQUIRE(session);
    for (unsigned i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){session, i, false};
        REQUIRE(pthread_create(&threads[i], NULL, call_often, &callers[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(callers[i].good);
    }
    tn_session_free(session);
    api_end(&a);
}

TEST(a_cancelled_call_ends)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    tn_session *session = tensor_session(&a, "add.onnx");
    REQUIRE(session);
    tn_port_value in[] = {tensor_json("a", "[[1, 2]]"), tensor_json("b", "[[3, 4]]")};
    tn_tensor_request r = tensor_request(in, 2);
    tn_execution *run = NULL;
    CHECK_INT(tn_tensor_start(session, &r, &run, a.err), TN_OK);
    REQUIRE(run);
    tn_execution_cancel(run);
    tn_status st = api_collect(run, NULL, 0, a.err);
    CHECK(st == TN_CANCELLED || st == TN_OK); /* it may have been done already */
    tn_execution_free(run);
    run = NULL;
    CHECK_INT(tn_tensor_start(session, &r, &run, a.err), TN_OK);
    CHECK_INT(api_collect(run, NULL, 0, a.err), TN_OK);
    tn_execution_free(run);
    tn_session_free(session);
    api_end(&a);
}

/* ---- the graph shown ---------------------------------------------------------------------------------------------- */

TEST(graph_as_documents)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    tn_package *package = tensor_open(&a, "add.onnx");
    tn_graph_options o = TN_INIT(tn_graph_options);
    tn_document *json = NULL, *dot = NULL, *none = NULL;
    REQUIRE(package);
    CHECK_INT(tn_package_graph(package, &o, &json, a.err), TN_OK);
    CHECK_CONTAINS(tn_document_text(json, NULL), "\"operator\": \"Mul\"");
    CHECK_CONTAINS(tn_document_text(json, NULL), "float32 [n, 2]");
    o.format = "dot";
    CHECK_INT(tn_package_graph(package, &o, &dot, a.err), TN_OK);
    CHECK_CONTAINS(tn_document_text(dot, NULL), "digraph \"add.onnx\"");
    o.format = "svg";
    CHECK_INT(tn_package_graph(package, &o, &none, a.err), TN_INVALID_REQUEST);
    tn_document_free(json);
    tn_document_free(dot);
    tn_package_free(package);
    package = api_open(&a, test_path("golden/packages/bert_mean_normalize"));
    o.format = NULL;
    CHECK_INT(tn_package_graph(package, &o, &none, a.err), TN_UNSUPPORTED_TASK);
    tn_package_free(package);
    api_end(&a);
}
