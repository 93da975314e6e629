/* SwiGLU (Shazeer 2020, arXiv 2002.05202): a * sigmoid(alpha a) * b. Half precision is computed in float32, rounded once. */
#include "ops/real.h"

#include <math.h>

static bool infer_swiglu(struct tn_infer *x)
{
    const struct tn_shape *a, *b;
    if (tn_in_shape(x, 0, &a) && tn_in_shape(x, 1, &b)) {
        bool same = a->rank == b->rank;
        for (uint32_t i = 0; same && i < a->rank; i++) same = a->dims[i] == b->dims[i] || !tn_dim_known(a->dims[i]) || !tn_dim_known(b->dims[i]);
        if (!same) return tn_infer_refuse(x, "gate and value of one shape", "two");
    }
    return tn_infer_same(x);
}

struct gate {
    const void *a, *b;
    void *y;
    double alpha;
    bool wide;
};

static void gate_items(void *user, uint64_t begin, uint64_t end)
{
    const struct gate *g = user;
    if (g->wide) {
        const double *a = g->a, *b = g->b;
        for (uint64_t i = begin; i < end; i++) ((double *)g->y)[i] = a[i] / (1 + exp(-g->alpha * a[i])) * b[i];
        return;
    }
    const float *a = g->a, *b = g->b;
    float *y = g->y, alpha = (float)g->alpha;
    for (uint64_t i = begin; i < end; i++) y[i] = a[i] / (1 + expf(-alpha * a[i])) * b[i];
}

static bool run_swiglu(struct tn_run *r)
{
    struct tn_reals reals;
    if (r->in[0]->count != r->in[1]->count) return tn_run_refuse(r, "gate and value of one shape", "two");
    tn_reals_begin(&reals, r, r->in[0]->element);
    struct gate g = {.a = tn_reals_in(&reals, 0), .b = tn_reals_in(&reals, 1), .y = tn_reals_out(&reals, 0), .alpha = tn_attr_float(r->node, "alpha", 1), .wide = reals.wide};
    if (tn_reals_good(&reals)) tn_run_items(r, r->in[0]->count, 20, gate_items, &g);
    return tn_reals_end(&reals);
}

static const struct tn_operator rows[] = {
    {.name = "SwiGLU", .since = 28, .infer = infer_swiglu, .run = run_swiglu},
};

const struct tn_operators tn_ops_gate = {rows, sizeof(rows) / sizeof(rows[0])};
