/*
 * Reductions over axes, and ArgMax, ArgMin, CumSum, CumProd. Sums of float32 are added up in double, so that an element's
 * result does not depend on how work is shared and is as good as the rounding of the exact one.
 *
 * Axes are an attribute in older versions and an operand since 18 (ReduceSum: 13).
 */
#include "ops/move.h"
#include "ops/typed.h"

#include <math.h>
#include <string.h>

enum kind { SUM, MEAN, PROD, MAX, MIN, L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE };

static bool axes_known(struct tn_infer *x, int64_t *out, uint32_t *count)
{
    size_t n;
    const int64_t *axes = tn_attr_ints(x->node, "axes", &n);
    *count = 0;
    if (!axes) return !tn_in_given(x, 1) || tn_in_numbers(x, 1, out, TN_CONTENT, count);
    if (n > TN_CONTENT) return tn_infer_refuse(x, "at most 8 axes", "%zu", n);
    memcpy(out, axes, n * sizeof(*out));
    *count = (uint32_t)n;
    return true;
}

/* Which dimensions are reduced; false: not known, or a refusal. */
static bool reduced_dims(struct tn_infer *x, uint32_t rank, bool *gone)
{
    int64_t axes[TN_CONTENT];
    uint32_t count, axis;
    bool none_means_none = tn_attr_int(x->node, "noop_with_empty_axes", 0) != 0;
    if (!axes_known(x, axes, &count)) return false;
    for (uint32_t i = 0; i < rank; i++) gone[i] = count == 0 && !none_means_none;
    for (uint32_t i = 0; i < count; i++) {
        if (!tn_infer_axis(x, axes[i], rank, &axis)) return false;
        gone[axis] = true;
    }
    return true;
}

static bool infer_reduce(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    bool keep = tn_attr_int(x->node, "keepdims", 1) != 0, gone[TN_RANK];
    const tn_dim_t *content;
    uint32_t n;
    if (!t) return true;
    tn_out_unknown(x, 0, t->element);
    if (!t->shape.known) return true;
    if (!reduced_dims(x, t->shape.rank, gone)) return !x->failed;
    struct tn_shape out = {.known = true};
    for (uint32_t i = 0; i < t->shape.rank; i++) {
        if (!gone[i]) out.dims[out.rank++] = t->shape.dims[i];
        else if (keep) out.dims[out.rank++] = 1;
    }
    tn_out_type(x, 0, &(struct tn_type){.kind = TN_KIND_TENSOR, .element = t->element, .shape = out});
    /* the product of a shape is how exporters count elements */
    if (!x->running && tn_str_is(x->node->type, "ReduceProd") && t->shape.rank == 1 && gone[0] && tn_in_content(x, 0, &content, &n)) {
        tn_dim_t product = 1;
        for (uint32_t i = 0; i < n; i++) product = tn_dim_mul(x->symbols, product, content[i]);
        tn_out_content(x, 0, &product, 1);
    }
    return true;
}

/* ---- walking ------------------------------------------------------------------------------------------------------ */

/* Kept and reduced dimensions apart, each with its strides, neighbours merged. */
struct reduction {
    enum kind kind;
    const struct tn_tensor *x;
    struct tn_tensor *y;
    uint32_t kept, folded;
    int64_t kept_dims[TN_RANK], kept_stride[TN_RANK], fold_dims[TN_RANK], fold_stride[TN_RANK];
    uint64_t folds; /* elements of one result */
};

static void add_dim(int64_t *dims, int64_t *stride, uint32_t *n, int64_t dim, int64_t step)
{
    if (dim == 1) return;
    if (*n && stride[*n - 1] == dim * step) {
        dims[*n - 1] *= dim;
        stride[*n - 1] = step;
        return;
    }
    dims[*n] = dim;
    stride[(*n)++] = step;
}

static int64_t offset_of(uint64_t index, const int64_t *dims, const int64_t *stride, uint32_t n)
{
    int64_t at = 0;
    for (uint32_t i = n; i-- > 0;) {
        at += (int64_t)(index % (uint64_t)dims[i]) * stride[i];
        index /= (uint64_t)dims[i];
    }
    return at;
}

static double begin_of(const struct reduction *d)
{
    switch (d->kind) {
    case PROD: return 1;
    case MAX: return -INFINITY;
    case MIN: return INFINITY;
    default: return 0;
    }
}

static double step_of(enum kind kind, double sum, double v)
{
    switch (kind) {
    case PROD: return sum * v;
    case MAX: return v > sum || isnan(v) ? v : sum;
    case MIN: return v < sum || isnan(v) ? v : sum;
    case L1: return sum + fabs(v);
    case L2:
    case SUM_SQUARE: return sum + v * v;
    default: return sum + v;
    }
}

static double end_of(const struct reduction *d, double sum)
{
    switch (d->kind) {
    case MEAN: return sum / (double)d->folds;
    case L2: return sqrt(sum);
    case LOG_SUM: return log(sum);
    default: return sum;
    }
}

/* One run of elements at a fixed distance, of float32: what nearly all time goes into. */
static double run_f32(enum kind kind, double sum, const float *x, int64_t n, int64_t stride)
{
    if (kind == SUM || kind == MEAN) {
        for (int64_t i = 0; i < n; i++) sum += x[i * stride];
    } else if (kind == L2 || kind == SUM_SQUARE) {
        for (int64_t i = 0; i < n; i++) sum += (double)x[i * stride] * x[i * stride];
    } else {
        for (int64_t i = 0; i < n; i++) sum = step_of(kind, sum, x[i * stride]);
    }
    return sum;
}

static double fold_reals(const struct reduction *d, int64_t base)
{
    double sum = begin_of(d), top = -INFINITY;
    enum tn_element e = d->x->element;
    int64_t inner = d->folded ? d->fold_dims[d->folded - 1] : 1, stride = d->folded ? d->fold_stride[d->folded - 1] : 1;
    uint64_t outer = d->folded ? d->folds / (uint64_t)(inner ? inner : 1) : 1;
    if (d->folds == 0) return d->kind == LOG_SUM_EXP ? -INFINITY : end_of(d, sum);
    for (int pass = d->kind == LOG_SUM_EXP ? 0 : 1; pass < 2; pass++) {
        for (uint64_t o = 0; o < outer; o++) {
            int64_t at = base + (d->folded ? offset_of(o, d->fold_dims, d->fold_stride, d->folded - 1) : 0);
            if (e == TN_EL_F32 && d->kind != LOG_SUM_EXP) {
                sum = run_f32(d->kind, sum, (const float *)d->x->data + at, inner, stride);
                continue;
            }
            for (int64_t i = 0; i < inner; i++) {
                double v = tn_element_get(e, d->x->data, (size_t)(at + i * stride));
                if (pass == 0) top = v > top ? v : top;
                else if (d->kind == LOG_SUM_EXP) sum += exp(v - (isfinite(top) ? top : 0));
                else sum = step_of(d->kind, sum, v);
            }
        }
    }
    return d->kind == LOG_SUM_EXP ? log(sum) + (isfinite(top) ? top : 0) : end_of(d, sum);
}

/* Integers of 64 bits do not fit into a double; they wrap. */
static int64_t fold_ints(const struct reduction *d, int64_t base)
{
    enum tn_element e = d->x->element;
    bool top = e == TN_EL_U64;
    uint64_t sum = d->kind == PROD ? 1 : 0;
    for (uint64_t k = 0; k < d->folds; k++) {
        int64_t v = tn_element_get_int(e, d->x->data, (size_t)(base + offset_of(k, d->fold_dims, d->fold_stride, d->folded)));
        bool more = top ? (uint64_t)v > sum : v > (int64_t)sum, less = top ? (uint64_t)v < sum : v < (int64_t)sum;
        switch (d->kind) {
        case PROD: sum *= (uint64_t)v; break;
        case MAX: sum = k == 0 || more ? (uint64_t)v : sum; break;
        case MIN: sum = k == 0 || less ? (uint64_t)v : sum; break;
        case L1: sum += v < 0 && !top ? 0 - (uint64_t)v : (uint64_t)v; break;
        case SUM_SQUARE: sum += (uint64_t)v * (uint64_t)v; break;
        default: sum += (uint64_t)v; break;
        }
    }
    if (d->kind == MEAN && d->folds) return (int64_t)sum / (int64_t)d->folds;
    return (int64_t)sum;
}

static void reduce_items(void *user, uint64_t begin, uint64_t end)
{
    const struct reduction *d = user;
    bool real = d->kind == L2 || d->kind == LOG_SUM || d->kind == LOG_SUM_EXP;
    bool whole = tn_elements_have(TN_ELS_INT | TN_ELS(BOOL), d->x->element) && !real;
    for (uint64_t i = begin; i < end; i++) {
        int64_t base = offset_of(i, d->kept_dims, d->kept_stride, d->kept);
        if (whole) tn_element_set_int(d->y->element, d->y->data, i, fold_ints(d, base));
        else tn_element_set(d->y->element, d->y->data, i, fold_reals(d, base), false);
    }
}

/* An empty Max or Min of integers is the least or largest of the type. */
static bool empty_extreme(const struct reduction *d)
{
    if (d->folds || (d->kind != MAX && d->kind != MIN) || !tn_elements_have(TN_ELS_INT | TN_ELS(BOOL), d->y->element)) return false;
    unsigned bits = (unsigned)tn_element_size(d->y->element) * 8;
    bool is_signed = tn_elements_have(TN_ELS_SIGNED, d->y->element);
    uint64_t top = is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (d->y->element == TN_EL_BOOL) top = 1;
    uint64_t low = is_signed ? ~top : 0;
    for (uint64_t i = 0; i < d->y->count; i++) tn_element_set_int(d->y->element, d->y->data, i, (int64_t)(d->kind == MAX ? low : top));
    return true;
}

static bool reduce(struct tn_run *r, enum kind kind)
{
    struct tn_tensor *x = r->in[0];
    struct reduction d = {.kind = kind, .x = x, .y = r->out[0], .folds = 1};
    const struct tn_tensor *data[2] = {x, r->in_count > 1 ? r->in[1] : NULL};
    struct tn_type types[2];
    const struct tn_type *type_of[2] = {&types[0], data[1] ? &types[1] : NULL};
    struct tn_infer again = {.node = r->node, .in_count = r->in_count, .types = type_of, .data = data, .running = true, .why = r->why};
    bool gone[TN_RANK];
    int64_t strides[TN_RANK];
    if (!reduced_dims(&again, x->rank, gone)) return false;
    tn_strides(x->dims, x->rank, strides);
    for (uint32_t i = 0; i < x->rank; i++) {
        if (gone[i]) d.folds *= (uint64_t)x->dims[i];
        if (gone[i]) add_dim(d.fold_dims, d.fold_stride, &d.folded, x->dims[i], strides[i]);
        else add_dim(d.kept_dims, d.kept_stride, &d.kept, x->dims[i], strides[i]);
    }
    if (!empty_extreme(&d)) tn_run_items(r, d.y->count, d.folds * 2, reduce_items, &d);
    return true;
}

static bool run_sum(struct tn_run *r) { return reduce(r, SUM); }
static bool run_mean(struct tn_run *r) { return reduce(r, MEAN); }
static bool run_prod(struct tn_run *r) { return reduce(r, PROD); }
static bool run_max(struct tn_run *r) { return reduce(r, MAX); }
static bool run_min(struct tn_run *r) { return reduce(r, MIN); }
static bool run_l1(struct tn_run *r) { return reduce(r, L1); }
static bool run_l2(struct tn_run *r) { return reduce(r, L2); }
static bool run_log_sum(struct tn_run *r) { return reduce(r, LOG_SUM); }
static bool run_log_sum_exp(struct tn_run *r) { return reduce(r, LOG_SUM_EXP); }
static bool run_sum_square(struct tn_run *r) { return reduce(r, SUM_SQUARE); }

/* ---- ArgMax and ArgMin -------------------------------------------------------------------------------------------- */

static bool infer_arg(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    uint32_t axis;
    tn_out_unknown(x, 0, TN_EL_I64);
    if (!t || !t->shape.known) return true;
    if (!tn_infer_axis(x, tn_attr_int(x->node, "axis", 0), t->shape.rank, &axis)) return false;
    if (t->shape.dims[axis] == 0) return tn_infer_refuse(x, "a dimension with elements", "0");
    struct tn_type out = {.kind = TN_KIND_TENSOR, .element = TN_EL_I64, .shape = {.known = true}};
    for (uint32_t i = 0; i < t->shape.rank; i++) {
        if (i != axis) out.shape.dims[out.shape.rank++] = t->shape.dims[i];
        else if (tn_attr_int(x->node, "keepdims", 1)) out.shape.dims[out.shape.rank++] = 1;
    }
    tn_out_type(x, 0, &out);
    return true;
}

struct along {
    const struct tn_tensor *x;
    struct tn_tensor *y;
    int64_t n, inner; /* length and stride of the axis */
    bool least, last, exclusive, reverse, product;
};

static struct along along_axis(const struct tn_run *r, int64_t axis)
{
    struct along a = {.x = r->in[0], .y = r->out[0], .inner = 1};
    axis = axis < 0 ? axis + a.x->rank : axis;
    a.n = a.x->dims[axis];
    for (uint32_t i = (uint32_t)axis + 1; i < a.x->rank; i++) a.inner *= a.x->dims[i];
    return a;
}

static bool before(enum tn_element e, const void *data, int64_t a, int64_t b, bool least)
{
    if (tn_elements_have(TN_ELS_INT, e)) {
        int64_t x = tn_element_get_int(e, data, (size_t)a), y = tn_element_get_int(e, data, (size_t)b);
        if (e == TN_EL_U64) return least ? (uint64_t)x < (uint64_t)y : (uint64_t)x > (uint64_t)y;
        return least ? x < y : x > y;
    }
    double x = tn_element_get(e, data, (size_t)a), y = tn_element_get(e, data, (size_t)b);
    if (isnan(y)) return false; /* the first NaN is what numpy finds */
    return isnan(x) || (least ? x < y : x > y);
}

static void arg_items(void *user, uint64_t begin, uint64_t end)
{
    const struct along *a = user;
    for (uint64_t i = begin; i < end; i++) {
        int64_t base = (int64_t)(i / (uint64_t)a->inner) * a->n * a->inner + (int64_t)(i % (uint64_t)a->inner), best = 0;
        for (int64_t k = 1; k < a->n; k++) {
            bool better = before(a->x->element, a->x->data, base + k * a->inner, base + best * a->inner, a->least);
            bool equal = !better && a->last && !before(a->x->element, a->x->data, base + best * a->inner, base + k * a->inner, a->least);
            if (better || equal) best = k;
        }
        ((int64_t *)a->y->data)[i] = best;
    }
}

static bool arg(struct tn_run *r, bool least)
{
    struct along a = along_axis(r, tn_attr_int(r->node, "axis", 0));
    a.least = least;
    a.last = tn_attr_int(r->node, "select_last_index", 0) != 0;
    tn_run_items(r, a.y->count, (uint64_t)a.n * 4, arg_items, &a);
    return true;
}

static bool run_arg_max(struct tn_run *r) { return arg(r, false); }
static bool run_arg_min(struct tn_run *r) { return arg(r, true); }

/* ---- CumSum and CumProd ------------------------------------------------------------------------------------------- */

static bool infer_cumulative(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    int64_t axis[TN_CONTENT];
    uint32_t n, found;
    if (t && t->shape.known && tn_in_numbers(x, 1, axis, TN_CONTENT, &n)) {
        if (n != 1) return tn_infer_refuse(x, "one axis", "%u", n);
        if (!tn_infer_axis(x, axis[0], t->shape.rank, &found)) return false;
    }
    return !x->failed && tn_infer_same(x);
}

static void cumulate(void *user, uint64_t begin, uint64_t end)
{
    const struct along *a = user;
    enum tn_element e = a->x->element;
    bool whole = tn_elements_have(TN_ELS_INT, e);
    for (uint64_t i = begin; i < end; i++) {
        int64_t base = (int64_t)(i / (uint64_t)a->inner) * a->n * a->inner + (int64_t)(i % (uint64_t)a->inner);
        double sum = a->product;
        uint64_t total = a->product;
        for (int64_t k = 0; k < a->n; k++) {
            size_t at = (size_t)(base + (a->reverse ? a->n - 1 - k : k) * a->inner);
            uint64_t v = (uint64_t)(whole ? tn_element_get_int(e, a->x->data, at) : 0);
            double f = whole ? 0 : tn_element_get(e, a->x->data, at);
            if (a->exclusive && whole) tn_element_set_int(e, a->y->data, at, (int64_t)total);
            if (a->exclusive && !whole) tn_element_set(e, a->y->data, at, sum, false);
            total = a->product ? total * v : total + v;
            sum = a->product ? sum * f : sum + f;
            if (a->exclusive) continue;
            if (whole) tn_element_set_int(e, a->y->data, at, (int64_t)total);
            else tn_element_set(e, a->y->data, at, sum, false);
        }
    }
}

static bool run_cumulative(struct tn_run *r, bool product)
{
    int64_t axis = tn_run_int(r, 1, 0);
    struct along a = along_axis(r, axis);
    a.exclusive = tn_attr_int(r->node, "exclusive", 0) != 0;
    a.reverse = tn_attr_int(r->node, "reverse", 0) != 0;
    a.product = product;
    if (a.n) tn_run_items(r, a.x->count / (uint64_t)a.n, (uint64_t)a.n * 4, cumulate, &a);
    return true;
}

static bool run_cum_sum(struct tn_run *r) { return run_cumulative(r, false); }
static bool run_cum_prod(struct tn_run *r) { return run_cumulative(r, true); }

#define REDUCE(n, f) {.name = n, .since = 1, .infer = infer_reduce, .run = f}

static const struct tn_operator rows[] = {
    REDUCE("ReduceSum", run_sum),
    REDUCE("ReduceMean", run_mean),
    REDUCE("ReduceProd", run_prod),
    REDUCE("ReduceMax", run_max),
    REDUCE("ReduceMin", run_min),
    REDUCE("ReduceL1", run_l1),
    REDUCE("ReduceL2", run_l2),
    REDUCE("ReduceLogSum", run_log_sum),
    REDUCE("ReduceLogSumExp", run_log_sum_exp),
    REDUCE("ReduceSumSquare", run_sum_square),
    {.name = "ArgMax", .since = 1, .infer = infer_arg, .run = run_arg_max},
    {.name = "ArgMin", .since = 1, .infer = infer_arg, .run = run_arg_min},
    {.name = "CumSum", .since = 11, .infer = infer_cumulative, .run = run_cum_sum},
    {.name = "CumProd", .since = 26, .infer = infer_cumulative, .run = run_cum_prod},
};

const struct tn_operators tn_ops_reduce = {rows, sizeof(rows) / sizeof(rows[0])};
