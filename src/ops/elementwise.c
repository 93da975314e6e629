/*
 * Operators that compute each element from the elements at its place: arithmetic, comparisons, logic, functions. Operands
 * broadcast (ONNX, "Multidirectional broadcasting"). Half precision computes in float32 and rounds once.
 */
#include "ops/op.h"

struct unary {
    const float *x;
    float *y;
};

static void relu_items(void *user, uint64_t begin, uint64_t end)
{
    const struct unary *u = user;
    for (uint64_t i = begin; i < end; i++) u->y[i] = u->x[i] < 0 ? 0 : u->x[i];
}

static bool run_relu(struct tn_run *r)
{
    struct unary u = {r->in[0]->data, r->out[0]->data};
    tn_run_items(r, r->in[0]->count, 1, relu_items, &u);
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "Relu", .since = 1, .types = {{"T", TN_ELS(F32)}}, .infer = tn_infer_same, .run = run_relu, .in_place = true},
};

const struct tn_operators tn_ops_elementwise = {rows, sizeof(rows) / sizeof(rows[0])};
