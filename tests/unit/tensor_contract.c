/*
 * A graph that is called by its contract: names of the contract carry the contract's values, one value feeds several ports, what
 * the contract keeps from callers they cannot give, bounds hold, and a published output that is state, too, is both.
 */
#define _XOPEN_SOURCE 700
#include "tensor_util.h"
#include "graph_contract_kit.h"

#include "base/buf.h"

#include <sys/stat.h>
#include <unistd.h>

static const int64_t row[] = {1, 2};

struct called {
    tn_status status;
    char names[200];    /* of the outputs, in order */
    float first[8];     /* first number of each */
    char message[300], expected[300];
};

static bool put(const char *folder, const char *name, const void *bytes, size_t n)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(bytes, 1, n, f) == n;
    if (f) good = fclose(f) == 0 && good;
    return good;
}

struct package {
    struct api a;
    char folder[64];
    tn_session *session;
    tn_sequence *sequence;
};

/* The graph under a contract; false with a.err filled. */
static bool load(struct package *p, const char *graph, const char *contract)
{
    size_t n;
    char *text = malloc(strlen(contract) + 1), *bytes = test_read_file(test_path(graph), &n);
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_package *package = NULL;
    tn_plan *plan = NULL;
    *p = (struct package){.folder = "/tmp/tenon-contract-XXXXXX"};
    if (!text || !bytes || !api_begin(&p->a, 1) || !mkdtemp(p->folder)) return false;
    gc_quote(strcpy(text, contract));
    bool good = put(p->folder, "model.onnx", bytes, n) && put(p->folder, GC_NAME, text, strlen(text));
    o.task = "tensor";
    if (good) package = api_open(&p->a, p->folder);
    if (package && tn_plan_new(package, &o, &plan, p->a.err) == TN_OK) (void)tn_session_load(plan, NULL, &p->session, p->a.err);
    tn_plan_free(plan);
    tn_package_free(package);
    free(bytes);
    free(text);
    return p->session != NULL;
}

static void unload(struct package *p)
{
    char path[200];
    tn_sequence_free(p->sequence);
    tn_session_free(p->session);
    snprintf(path, sizeof(path), "%s/model.onnx", p->folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/" GC_NAME, p->folder);
    unlink(path);
    rmdir(p->folder);
    api_end(&p->a);
}

static struct called call(struct package *p, const tn_port_value *in, size_t count)
{
    struct called c = {.status = TN_OK};
    tn_tensor_request r = tensor_request(in, count);
    tn_execution *x = NULL;
    tn_event e = {.kind = TN_EVENT_NONE};
    r.sequence = p->sequence;
    c.status = tn_tensor_start(p->session, &r, &x, p->a.err);
    if (!c.status) c.status = api_collect(x, &e, 1, p->a.err);
    if (c.status) {
        snprintf(c.message, sizeof(c.message), "%s", tn_error_message(p->a.err));
        snprintf(c.expected, sizeof(c.expected), "%s", tn_error_expected(p->a.err));
    }
    for (size_t i = 0; !c.status && i < e.tensor_count && i < 8; i++) {
        snprintf(c.names + strlen(c.names), sizeof(c.names) - strlen(c.names), "%s%.*s", i ? " " : "", (int)e.tensors[i].name.length, e.tensors[i].name.data);
        if (e.tensors[i].size >= sizeof(float)) memcpy(&c.first[i], e.tensors[i].data, sizeof(float));
    }
    if (x) (void)tn_execution_drain(x, UINT32_MAX, NULL);
    tn_execution_free(x);
    return c;
}

/* add.onnx: sum = a + 2 b, same/a = a */
#define PORT "{'dtype': 'float32', 'rank': 2, 'shape': ['n', 2]}"
#define GIVEN(name) "'" name "': {'contract': " PORT ", 'role': {'kind': 'opaque'}, 'source': {'kind': 'application', 'name': 'x'}}"
#define OUTPUT(name) "'" name "': {'contract': " PORT ", 'role': 'tensor', 'stage': 'pre_adapter'}"
#define EMIT(value, output) "{'kind': 'emit', 'mode': 'replace', 'output': '" output "', 'value': '" value "'}"
#define ADD(inputs, a, b, outputs, emits)                                                                                       \
    "{'schema_version': 'v1', 'pipeline': {'workflow': {'manifest': {'capabilities': ['typed_emit', 'workflow_ssa']}, "          \
    "'inputs': {" inputs "}, 'outputs': {" outputs "}, 'components': {'g': {'implementation': {'kind': 'onnx', 'artifact': "      \
    "'model.onnx'}}}, 'steps': [{'kind': 'invoke', 'component': 'g', 'inputs': {'a': '" a "', 'b': '" b "'}, 'outputs': "         \
    "{'sum': 'g.sum', 'same/a': 'g.same'}}, " emits "]}}}"

static const float ones[] = {1, 2}, tens[] = {10, 20};

TEST(outputs_bear_the_contracts_names)
{
    struct package p;
    REQUIRE(load(&p, "golden/tensor/add.onnx", ADD(GIVEN("request.a") ", " GIVEN("request.b"), "request.a", "request.b", OUTPUT("sum") ", " OUTPUT("same/a") ", " OUTPUT("again"),
                                                   EMIT("g.same", "sum") ", " EMIT("g.sum", "same/a") ", " EMIT("g.sum", "again"))));
    tn_port_value in[] = {tensor_f32("a", 2, row, ones), tensor_f32("request.b", 2, row, tens)};
    struct called c = call(&p, in, 2);
    CHECK_INT(c.status, TN_OK);
    CHECK_STR(c.names, "sum same/a again");
    CHECK_NEAR(c.first[0], 1, 0);
    CHECK_NEAR(c.first[1], 21, 0);
    CHECK_NEAR(c.first[2], 21, 0);
    unload(&p);
}

TEST(inputs_are_the_contracts)
{
    struct package p;
    REQUIRE(load(&p, "golden/tensor/add.onnx", ADD(GIVEN("a") ", " GIVEN("b"), "b", "a", OUTPUT("sum"), EMIT("g.sum", "sum"))));
    tn_port_value in[] = {tensor_f32("a", 2, row, ones), tensor_f32("b", 2, row, tens)};
    struct called c = call(&p, in, 2);
    CHECK_INT(c.status, TN_OK);
    CHECK_STR(c.names, "sum");
    CHECK_NEAR(c.first[0], 12, 0);
    unload(&p);
}

TEST(one_value_feeds_both_ports)
{
    struct package p;
    REQUIRE(load(&p, "golden/tensor/add.onnx", ADD(GIVEN("request.a"), "request.a", "request.a", OUTPUT("sum"), EMIT("g.sum", "sum"))));
    tn_port_value in[] = {tensor_f32("request.a", 2, row, ones), tensor_f32("b", 2, row, tens), tensor_f32("scale", 2, row, tens)};
    struct called c = call(&p, in, 1);
    CHECK_INT(c.status, TN_OK);
    CHECK_NEAR(c.first[0], 3, 0);
    c = call(&p, in, 2);
    CHECK_INT(c.status, TN_INVALID_REQUEST);
    CHECK_CONTAINS(c.message, "given twice");
    CHECK_CONTAINS(c.expected, "one of: request.a");
    c = call(&p, in + 1, 1); /* a port's name is another name for what feeds it */
    CHECK_INT(c.status, TN_OK);
    CHECK_NEAR(c.first[0], 30, 0);
    c = call(&p, in + 2, 1);
    CHECK_INT(c.status, TN_INVALID_REQUEST);
    CHECK_CONTAINS(c.message, "leaves this input to the graph");
    c = call(&p, in, 0);
    CHECK_INT(c.status, TN_INVALID_REQUEST);
    CHECK_CONTAINS(c.message, "request.a is missing");
    unload(&p);
}

/* ---- the graph with states --------------------------------------------------------------------------------------------- */

#define TOP "'schema_version': 'v1'"
#define GAIN "'dtype': 'float32', 'rank': 0, 'shape': []}, 'role': {'kind': 'opaque'}, 'source': {'kind': 'literal'}"
#define GAIN_OF(source) "'dtype': 'float32', 'rank': 0, 'shape': []}, 'role': {'kind': 'runtime', 'role': 'sampling_temperature', 'version': '1.0'}, 'source': {'kind': '" source "'}"

static bool load_edited(struct package *p, const char *from, const char *to, const char *from2, const char *to2)
{
    char *one = gc_edited(gc_base, from, to), *two = one ? gc_edited(one, from2, to2) : NULL;
    bool good = two && load(p, "golden/tensor/stateful/model.onnx", two);
    free(two);
    free(one);
    return good;
}

TEST(a_literal_is_not_the_callers)
{
    struct package p;
    const float seven = 7;
    REQUIRE(load(&p, "golden/tensor/stateful/model.onnx", gc_base));
    tn_port_value in[] = {tensor_f32("x", 2, row, ones), tensor_f32("package.gain", 0, NULL, &seven)};
    CHECK_INT(call(&p, in, 1).status, TN_OK);
    struct called c = call(&p, in, 2);
    CHECK_INT(c.status, TN_INVALID_REQUEST);
    CHECK_CONTAINS(c.message, "does not let a caller give");
    in[1].name = api_string("gain");
    CHECK_INT(call(&p, in, 2).status, TN_INVALID_REQUEST);
    unload(&p);
    REQUIRE(load_edited(&p, "'default': 2.0", "'default': 2.0, 'externally_suppliable': true", TOP, TOP));
    c = call(&p, in, 2);
    CHECK_INT(c.status, TN_OK);
    CHECK_NEAR(c.first[0], 7, 0);
    unload(&p);
}

TEST(bounds_of_an_override_hold)
{
    struct package p;
    const float seven = 7, third = 0.75f;
    REQUIRE(load_edited(&p, GAIN ", 'required': false, 'default': 2.0", GAIN_OF("request") ", 'required': false, 'default': 0.5", TOP,
                        TOP ", 'generation': {'defaults': {'temperature': 0.5}, 'overrides': {'temperature': {'input': 'package.gain', 'constraint': {'minimum': 0.1, 'maximum': 1.0}}}}"));
    tn_port_value in[] = {tensor_f32("x", 2, row, ones), tensor_f32("gain", 0, NULL, &third)};
    CHECK_NEAR(call(&p, in, 1).first[0], 0.5, 0);
    CHECK_NEAR(call(&p, in, 2).first[0], 0.75, 0);
    in[1] = tensor_f32("gain", 0, NULL, &seven);
    struct called c = call(&p, in, 2);
    CHECK_INT(c.status, TN_UNSUPPORTED_OPTION);
    CHECK_CONTAINS(c.message, "out of the bounds");
    CHECK_CONTAINS(c.expected, "0.1 to 1");
    unload(&p);
}

/* The package's default is the input's; what no override exposes is nobody's to set. */
TEST(defaults_of_generation_are_the_inputs)
{
    struct package p;
    const float seven = 7;
    REQUIRE(load_edited(&p, GAIN ", 'required': false, 'default': 2.0", GAIN_OF("request"), TOP, TOP ", 'generation': {'defaults': {'temperature': 0.5}}"));
    tn_port_value in[] = {tensor_f32("x", 2, row, ones), tensor_f32("gain", 0, NULL, &seven)};
    CHECK_NEAR(call(&p, in, 1).first[0], 0.5, 0);
    struct called c = call(&p, in, 2);
    CHECK_INT(c.status, TN_INVALID_REQUEST);
    CHECK_CONTAINS(c.message, "does not let a caller give");
    unload(&p);
}

TEST(state_that_is_published_is_both)
{
    struct package p;
    REQUIRE(load_edited(&p, "'output': 'acc_next'", "'output': 'y'", TOP, TOP));
    REQUIRE(tn_sequence_new(p.session, &p.sequence, p.a.err) == TN_OK);
    tn_port_value in[] = {tensor_f32("x", 2, row, ones)};
    struct called c = call(&p, in, 1);
    CHECK_INT(c.status, TN_OK);
    CHECK_STR(c.names, "result");
    CHECK_NEAR(c.first[0], 2, 0);
    c = call(&p, in, 1); /* x * gain and what came out before */
    CHECK_STR(c.names, "result");
    CHECK_NEAR(c.first[0], 4, 0);
    unload(&p);
}

TEST(a_cell_begins_the_port_that_is_left_out)
{
    struct package p;
    REQUIRE(load_edited(&p, ", 'acc': 'package.acc'", "", GC_LITERAL "'default': 0.0", GC_LITERAL "'default': 100.0"));
    tn_port_value in[] = {tensor_f32("x", 2, row, ones)};
    CHECK_NEAR(call(&p, in, 1).first[0], 102, 0);
    REQUIRE(tn_sequence_new(p.session, &p.sequence, p.a.err) == TN_OK);
    CHECK_NEAR(call(&p, in, 1).first[0], 102, 0);
    CHECK_NEAR(call(&p, in, 1).first[0], 53, 0);
    unload(&p);
}

/* Rows are one number wherever they lie; without a shape, too. */
TEST(what_comes_out_is_what_was_declared)
{
    struct package p;
    REQUIRE(load_edited(&p, "'outputs': {'result': {'contract': " GC_PAIRS, "'outputs': {'result': {'contract': {'dtype': 'float32', 'rank': 2, 'shape': [7, 2]}", TOP, TOP));
    tn_port_value in[] = {tensor_f32("x", 2, row, ones)};
    struct called c = call(&p, in, 1);
    CHECK_INT(c.status, TN_RUNTIME_FAILURE);
    CHECK_CONTAINS(c.message, "result came out in another size");
    unload(&p);
}
