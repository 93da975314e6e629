/*
 * Softmax, LogSoftmax and Hardmax. Before version 13 the axis cuts the shape in two and the rows are everything behind it;
 * from 13 on they run along the axis alone. Half precision is computed in float32.
 */
#include "ops/exp.h"
#include "ops/real.h"

#include <math.h>

#define REAL float
#define TN_BODY(name) name##_f32
#define EXP(x) tn_exp_f32(x)
#include "ops/softmax_body.h"
#undef REAL
#undef TN_BODY
#undef EXP
#define REAL double
#define TN_BODY(name) name##_f64
#define EXP(x) exp(x)
#include "ops/softmax_body.h"

static bool infer_softmax(struct tn_infer *t)
{
    const struct tn_shape *x;
    uint32_t axis;
    tn_infer_same(t);
    if (!tn_in_shape(t, 0, &x)) return true;
    int64_t stated = tn_attr_int(t->node, "axis", -1);
    /* Where the axis only cuts, it may stand behind the last dimension. */
    if (t->node->version < 13 && stated == (int64_t)x->rank) return true;
    return tn_infer_axis(t, stated, x->rank, &axis);
}

static struct tn_rows rows_of(const struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    int64_t axis = tn_attr_int(r->node, "axis", -1);
    struct tn_rows rows = tn_rows_of(x, (uint32_t)(axis < 0 ? axis + x->rank : axis));
    if (r->node->version >= 13) return rows;
    rows.axis *= rows.inner;
    rows.inner = 1;
    return rows;
}

static bool run_rows(struct tn_run *r, tn_items_fn *narrow, tn_items_fn *wide)
{
    struct tn_reals reals;
    if (r->in[0]->count == 0) return true;
    tn_reals_begin(&reals, r, r->in[0]->element);
    const void *x = tn_reals_in(&reals, 0);
    void *y = tn_reals_out(&reals, 0);
    struct tn_rows rows = rows_of(r);
    struct softmax_f32 k = {x, y, rows};
    struct softmax_f64 d = {x, y, rows};
    if (tn_reals_good(&reals))
        tn_run_items(r, rows.outer * rows.inner, rows.axis * 8, reals.wide ? wide : narrow, reals.wide ? (void *)&d : (void *)&k);
    return tn_reals_end(&reals);
}

/* Rows side by side, by the dispatched kernel. */
struct kernel_rows {
    const struct tn_kernels *kernels;
    const struct tn_softmax_args *args;
};

static void softmax_items(void *user, uint64_t begin, uint64_t end)
{
    const struct tn_softmax_args *all = ((const struct kernel_rows *)user)->args;
    struct tn_softmax_args a = *all;
    a.x += begin * a.width;
    a.y += begin * a.width;
    a.rows = (size_t)(end - begin);
    ((const struct kernel_rows *)user)->kernels->softmax(&a, 0, 1);
}

static bool run_softmax(struct tn_run *r)
{
    struct tn_rows rows = rows_of(r);
    if (r->in[0]->element == TN_EL_F32 && rows.inner == 1 && r->in[0]->count) {
        struct tn_softmax_args a = {.x = r->in[0]->data, .x_stride = rows.axis, .y = r->out[0]->data, .y_stride = rows.axis, .width = rows.axis, .scale = 1};
        struct kernel_rows k = {r->kernels, &a};
        tn_run_items(r, rows.outer, rows.axis * 3, softmax_items, &k);
        return true;
    }
    return run_rows(r, softmax_rows_f32, softmax_rows_f64);
}

static bool run_log_softmax(struct tn_run *r)
{
    return run_rows(r, log_softmax_rows_f32, log_softmax_rows_f64);
}

static bool run_hardmax(struct tn_run *r)
{
    return run_rows(r, hardmax_rows_f32, hardmax_rows_f64);
}

static const struct tn_operator rows[] = {
    {.name = "Softmax", .since = 1, .infer = infer_softmax, .run = run_softmax, .in_place = true},
    {.name = "LogSoftmax", .since = 1, .infer = infer_softmax, .run = run_log_softmax, .in_place = true},
    {.name = "Hardmax", .since = 1, .infer = infer_softmax, .run = run_hardmax},
};

const struct tn_operators tn_ops_softmax = {rows, sizeof(rows) / sizeof(rows[0])};
