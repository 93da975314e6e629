/*
 * GELU and its approximations of com.microsoft: Gelu, BiasGelu, FastGelu, QuickGelu. A bias is a vector that is added to
 * each row first. Half precision is computed in float32.
 */
#include "ops/real.h"

#include <math.h>

struct gelu {
    const struct tn_kernels *kernels;
    const void *x, *bias;
    void *y;
    uint64_t width;
    enum tn_act act;
    double alpha;
};

static void rows_f32(void *user, uint64_t begin, uint64_t end)
{
    const struct gelu *g = user;
    const float *bias = g->bias;
    for (uint64_t i = begin; i < end; i++) {
        const float *x = (const float *)g->x + i * g->width;
        float *y = (float *)g->y + i * g->width, alpha = (float)g->alpha;
        if (g->act != TN_ACT_IDENTITY) {
            for (uint64_t k = 0; k < g->width; k++) y[k] = bias ? x[k] + bias[k] : x[k];
            g->kernels->activate(g->act, y, g->width, 1, g->width, 0, 1);
        } else {
            for (uint64_t k = 0; k < g->width; k++) y[k] = x[k] / (1 + expf(-alpha * x[k]));
        }
    }
}

static double gelu_f64(const struct gelu *g, double x)
{
    if (g->act == TN_ACT_GELU) return 0.5 * x * (1 + erf(x * 0.70710678118654752));
    if (g->act == TN_ACT_GELU_TANH) return 0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
    return x / (1 + exp(-g->alpha * x));
}

static void rows_f64(void *user, uint64_t begin, uint64_t end)
{
    const struct gelu *g = user;
    const double *bias = g->bias;
    for (uint64_t i = begin; i < end; i++) {
        const double *x = (const double *)g->x + i * g->width;
        for (uint64_t k = 0; k < g->width; k++) ((double *)g->y)[i * g->width + k] = gelu_f64(g, bias ? x[k] + bias[k] : x[k]);
    }
}

static bool run_gelu(struct tn_run *r, enum tn_act act, double alpha)
{
    enum { CHUNK = 1024 };
    const struct tn_tensor *x = r->in[0], *bias = r->in_count > 1 ? r->in[1] : NULL;
    struct tn_reals reals;
    if (x->count == 0) return true;
    int64_t width = bias ? x->rank ? x->dims[x->rank - 1] : 1 : 0;
    if (bias && (bias->rank > 1 || bias->count != (uint64_t)width))
        return tn_run_refuse(r, "a bias for each element of a row", "%llu for %lld", (unsigned long long)bias->count, (long long)width);
    tn_reals_begin(&reals, r, x->element);
    struct gelu g = {.kernels = r->kernels, .x = tn_reals_in(&reals, 0), .bias = tn_reals_in(&reals, 1), .width = (uint64_t)width, .act = act, .alpha = alpha};
    g.y = tn_reals_out(&reals, 0);
    tn_items_fn *fn = reals.wide ? rows_f64 : rows_f32;
    if (tn_reals_good(&reals) && bias) {
        tn_run_items(r, x->count / g.width, g.width * 12, fn, &g);
    } else if (tn_reals_good(&reals)) { /* rows of any width, and what is left */
        uint64_t whole = x->count / CHUNK, rest = x->count % CHUNK, each = reals.wide ? sizeof(double) : sizeof(float);
        g.width = CHUNK;
        tn_run_items(r, whole, CHUNK * 12, fn, &g);
        g.x = (const char *)g.x + whole * CHUNK * each;
        g.y = (char *)g.y + whole * CHUNK * each;
        g.width = rest;
        if (rest) fn(&g, 0, 1);
    }
    return tn_reals_end(&reals);
}

static bool run_exact(struct tn_run *r)
{
    return run_gelu(r, TN_ACT_GELU, 1);
}

static bool run_fast(struct tn_run *r)
{
    return run_gelu(r, TN_ACT_GELU_TANH, 1);
}

static bool run_quick(struct tn_run *r)
{
    return run_gelu(r, TN_ACT_IDENTITY, tn_attr_float(r->node, "alpha", 1.702));
}

static const struct tn_operator rows[] = {
    {.domain = "com.microsoft", .name = "Gelu", .since = 1, .infer = tn_infer_same, .run = run_exact},
    {.domain = "com.microsoft", .name = "BiasGelu", .since = 1, .infer = tn_infer_same, .run = run_exact},
    {.domain = "com.microsoft", .name = "FastGelu", .since = 1, .infer = tn_infer_same, .run = run_fast},
    {.domain = "com.microsoft", .name = "QuickGelu", .since = 1, .infer = tn_infer_same, .run = run_quick},
};

const struct tn_operators tn_ops_contrib_gelu = {rows, sizeof(rows) / sizeof(rows[0])};
