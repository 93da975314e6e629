/* LpNormalization, LRN and MeanVarianceNormalization. Half precision is computed in float32. */
#include "ops/real.h"

#include <math.h>

#define REAL float
#define TN_BODY(name) name##_f32
#include "ops/norm_axis_body.h"
#undef REAL
#undef TN_BODY
#define REAL double
#define TN_BODY(name) name##_f64
#include "ops/norm_axis_body.h"

/* Runs one of two functions on the same numbers. */
static bool run_both(struct tn_run *r, struct axis_f32 *k, uint64_t items, uint64_t cost, tn_items_fn *narrow, tn_items_fn *wide)
{
    struct tn_reals reals;
    tn_reals_begin(&reals, r, r->in[0]->element);
    k->x = tn_reals_in(&reals, 0);
    k->y = tn_reals_out(&reals, 0);
    struct axis_f64 d = {.x = (const void *)k->x, .y = (void *)k->y, .rows = k->rows, .p = k->p, .alpha = k->alpha, .beta = k->beta,
                         .bias = k->bias, .before = k->before, .behind = k->behind, .members = k->members, .groups = k->groups,
                         .member_count = k->member_count};
    if (tn_reals_good(&reals)) tn_run_items(r, items, cost, reals.wide ? wide : narrow, reals.wide ? (void *)&d : (void *)k);
    return tn_reals_end(&reals);
}

/* ---- LpNormalization ---------------------------------------------------------------------------------------------- */

static bool infer_lp(struct tn_infer *t)
{
    const struct tn_shape *x;
    uint32_t axis;
    tn_infer_same(t);
    return !tn_in_shape(t, 0, &x) || tn_infer_axis(t, tn_attr_int(t->node, "axis", -1), x->rank, &axis);
}

static const char *lacks_lp(const struct tn_node *node)
{
    int64_t p = tn_attr_int(node, "p", 2);
    return p == 1 || p == 2 ? NULL : "p other than 1 and 2";
}

static bool run_lp(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    int64_t axis = tn_attr_int(r->node, "axis", -1);
    struct axis_f32 k = {.rows = tn_rows_of(x, (uint32_t)(axis < 0 ? axis + x->rank : axis)), .p = (double)tn_attr_int(r->node, "p", 2)};
    return x->count == 0 || run_both(r, &k, k.rows.outer * k.rows.inner, k.rows.axis * 4, lp_rows_f32, lp_rows_f64);
}

/* ---- LRN ---------------------------------------------------------------------------------------------------------- */

static bool infer_lrn(struct tn_infer *t)
{
    const struct tn_shape *x;
    int64_t size = tn_attr_int(t->node, "size", 0);
    tn_infer_same(t);
    if (size < 1) return tn_infer_refuse(t, "a size from 1", "%lld", (long long)size);
    if (tn_in_shape(t, 0, &x) && x->rank < 2) return tn_infer_refuse(t, "images of rank 2 at least", "rank %u", x->rank);
    return true;
}

static bool run_lrn(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    int64_t size = tn_attr_int(r->node, "size", 1);
    struct axis_f32 k = {.rows = tn_rows_of(x, 1), .bias = tn_attr_float(r->node, "bias", 1), .beta = tn_attr_float(r->node, "beta", 0.75),
                         .alpha = tn_attr_float(r->node, "alpha", 1e-4) / (double)size, .before = (size - 1) / 2, .behind = size / 2};
    return x->count == 0 || run_both(r, &k, k.rows.outer * k.rows.axis, k.rows.inner * 32, lrn_planes_f32, lrn_planes_f64);
}

/* ---- MeanVarianceNormalization ------------------------------------------------------------------------------------ */

static bool read_axes(const struct tn_node *node, uint32_t rank, bool *reduced, int64_t *bad)
{
    size_t n;
    const int64_t *axes = tn_attr_ints(node, "axes", &n);
    for (uint32_t i = 0; i < rank; i++) reduced[i] = false;
    for (size_t i = 0; i < n; i++) {
        *bad = axes[i];
        if (axes[i] < -(int64_t)rank || axes[i] >= (int64_t)rank) return false;
        reduced[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
    }
    return true;
}

static bool infer_mean_variance(struct tn_infer *t)
{
    const struct tn_shape *x;
    bool reduced[TN_RANK];
    int64_t bad = 0;
    tn_infer_same(t);
    if (tn_in_shape(t, 0, &x) && !read_axes(t->node, x->rank, reduced, &bad))
        return tn_infer_refuse(t, "axes of the operand", "axis %lld of rank %u", (long long)bad, x->rank);
    return true;
}

/* Offsets of all index combinations over the dimensions that are `which`. */
static uint64_t list_offsets(const struct tn_tensor *x, const bool *reduced, bool which, uint64_t *out)
{
    uint64_t count = 1, step[TN_RANK], at = 1;
    for (uint32_t i = x->rank; i-- > 0;) {
        step[i] = at;
        at *= (uint64_t)x->dims[i];
        if (reduced[i] == which) count *= (uint64_t)x->dims[i];
    }
    for (uint64_t k = 0; out && k < count; k++) {
        uint64_t rest = k;
        out[k] = 0;
        for (uint32_t i = x->rank; i-- > 0;) {
            if (reduced[i] != which) continue;
            out[k] += rest % (uint64_t)x->dims[i] * step[i];
            rest /= (uint64_t)x->dims[i];
        }
    }
    return count;
}

static bool run_mean_variance(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    bool reduced[TN_RANK], good;
    int64_t bad = 0;
    if (x->count == 0) return true;
    read_axes(r->node, x->rank, reduced, &bad);
    uint64_t members = list_offsets(x, reduced, true, NULL), groups = list_offsets(x, reduced, false, NULL);
    uint64_t *at = tn_run_scratch(r, members + groups, sizeof(*at));
    if (!at) return false;
    list_offsets(x, reduced, true, at);
    list_offsets(x, reduced, false, at + members);
    struct axis_f32 k = {.members = at, .groups = at + members, .member_count = members};
    good = run_both(r, &k, groups, members * 4, mean_variance_f32, mean_variance_f64);
    tn_heap_give(r->heap, at);
    return good;
}

static const struct tn_operator rows[] = {
    {.name = "LpNormalization", .since = 1, .infer = infer_lp, .run = run_lp, .lacks = lacks_lp},
    {.name = "LRN", .since = 1, .infer = infer_lrn, .run = run_lrn},
    {.name = "MeanVarianceNormalization", .since = 9, .infer = infer_mean_variance, .run = run_mean_variance},
};

const struct tn_operators tn_ops_norm_axis = {rows, sizeof(rows) / sizeof(rows[0])};
