/*
 * What the shared road costs: one call of a small graph through plan, session, scheduler and events, beside the same call of
 * the executor alone. Prints both and their difference.
 *
 *     build/bench/road GRAPH.onnx [CALLS]
 *
 * The graph takes float32 inputs of stated sizes; open sizes are 1. Medians over rounds of calls, because a machine is never
 * quite still; the two roads take turns within a round.
 */
#include "api/api.h"
#include "base/os.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS = 16, ROUNDS = 41 };

struct road {
    tn_error *err;
    tn_runtime *runtime;
    tn_package *package;
    tn_plan *plan;
    tn_session *session;
    tn_port_value inputs[PORTS];
    int64_t dims[PORTS][TN_RANK];
    struct tn_heap heap;
    struct tn_tensor *in[PORTS], *out[PORTS];
    size_t input_count, output_count;
};

static _Noreturn void fail(const struct road *r, const char *what)
{
    fprintf(stderr, "road: %s: %s %s\n", what, tn_error_message(r->err), tn_error_found(r->err));
    exit(1);
}

static void make_inputs(struct road *r)
{
    const struct tn_graph_facts *g = r->plan->survey.route.graph;
    if (g->input_count > PORTS || g->view->output_count > PORTS) fail(r, "the graph has too many ports");
    tn_heap_init(&r->heap, &r->runtime->alloc);
    for (uint32_t i = 0; i < g->input_count; i++) {
        const struct tn_onnx_port *p = g->inputs[i];
        uint64_t count = 1;
        if (p->initialised) continue;
        if (p->element != TN_EL_F32) fail(r, "an input is not of float32");
        for (uint32_t k = 0; k < p->rank; k++) {
            r->dims[i][k] = p->dims[k].kind == TN_ONNX_DIM_VALUE && p->dims[k].value > 0 ? p->dims[k].value : 1;
            count *= (uint64_t)r->dims[i][k];
        }
        r->in[i] = tn_tensor_new(&r->heap, TN_EL_F32, p->rank, r->dims[i]);
        if (!r->in[i]) fail(r, "no memory");
        for (uint64_t k = 0; k < count; k++) ((float *)r->in[i]->data)[k] = 0.5f;
        r->inputs[r->input_count++] = (tn_port_value){.name = {p->name.s, p->name.n}, .kind = TN_VALUE_TENSOR, .element = "float32", .rank = p->rank,
                                                      .dims = r->dims[i], .data = r->in[i]->data, .size = r->in[i]->bytes};
    }
    r->output_count = g->view->output_count;
}

static void prepare(struct road *r, const char *path)
{
    tn_plan_options o = TN_INIT(tn_plan_options);
    o.task = "tensor";
    o.threads = 1;
    r->err = tn_error_new();
    if (tn_runtime_new(NULL, &r->runtime, r->err) || tn_package_open(r->runtime, path, NULL, &r->package, r->err)) fail(r, "cannot open");
    if (tn_plan_new(r->package, &o, &r->plan, r->err) || tn_session_load(r->plan, NULL, &r->session, r->err)) fail(r, "cannot load");
    make_inputs(r);
}

/* The whole road: start, all events, the end. */
static void by_road(struct road *r)
{
    tn_tensor_request q = TN_INIT(tn_tensor_request);
    tn_execution *x = NULL;
    tn_event e = {0};
    q.inputs = r->inputs;
    q.count = r->input_count;
    if (tn_tensor_start(r->session, &q, &x, r->err)) fail(r, "cannot start");
    while (e.kind != TN_EVENT_TERMINAL) {
        if (tn_execution_next(x, UINT32_MAX, &e, r->err)) fail(r, "no event");
    }
    if (e.status) fail(r, "the call failed");
    tn_execution_free(x);
}

/* The provider alone: nobody else uses the session meanwhile. */
static void by_executor(struct road *r)
{
    struct tn_tensor_call call = {.in = r->in, .out = r->out};
    if (r->session->provider->run(r->session->instance, &call, r->err)) fail(r, "the executor failed");
    for (size_t i = 0; i < r->output_count; i++) {
        tn_tensor_drop(r->out[i]);
        r->out[i] = NULL;
    }
}

static double per_call(struct road *r, void (*way)(struct road *), unsigned calls)
{
    uint64_t begun = tn_os_monotonic_ns();
    for (unsigned i = 0; i < calls; i++) way(r);
    return (double)(tn_os_monotonic_ns() - begun) / calls / 1e3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, ROUNDS, sizeof(*v), ascending);
    return v[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    struct road r = {.err = NULL};
    double road[ROUNDS], own[ROUNDS], over[ROUNDS];
    unsigned calls = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 200;
    if (argc < 2 || calls == 0) {
        fprintf(stderr, "road GRAPH.onnx [CALLS]\n");
        return 2;
    }
    prepare(&r, argv[1]);
    per_call(&r, by_road, calls);
    per_call(&r, by_executor, calls);
    for (int i = 0; i < ROUNDS; i++) {
        road[i] = per_call(&r, by_road, calls);
        own[i] = per_call(&r, by_executor, calls);
        over[i] = road[i] - own[i];
    }
    printf("road %.2f us, executor %.2f us, difference %.2f us a call (medians of %d rounds of %u calls)\n", median(road), median(own), median(over),
           (int)ROUNDS, calls);
    for (size_t i = 0; i < PORTS; i++) tn_tensor_drop(r.in[i]);
    tn_heap_release(&r.heap);
    tn_session_free(r.session);
    tn_plan_free(r.plan);
    tn_package_free(r.package);
    tn_runtime_free(r.runtime);
    tn_error_free(r.err);
    return 0;
}
