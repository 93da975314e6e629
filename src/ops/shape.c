/*
 * Operators that give the same elements other dimensions: Reshape, Flatten, Squeeze, Unsqueeze, Identity. Their results are
 * views of the operand's memory.
 */
#include "ops/op.h"

#include <string.h>

/* ---- Reshape ------------------------------------------------------------------------------------------------------ */

/* The dimension that -1 stands for: what is left of the elements. Equal factors on both sides cancel, symbols too. */
static tn_dim_t rest_of(struct tn_infer *x, const struct tn_shape *from, const tn_dim_t *to, uint32_t n, uint32_t hole)
{
    tn_dim_t left = 1, right = 1;
    bool used[TN_RANK] = {false};
    for (uint32_t i = 0; i < n; i++) {
        bool found = i == hole;
        for (uint32_t k = 0; !found && k < from->rank; k++) {
            if (used[k] || from->dims[k] != to[i] || to[i] == 0) continue;
            used[k] = found = true;
        }
        if (!found) right = tn_dim_mul(x->symbols, right, to[i]);
    }
    for (uint32_t k = 0; k < from->rank; k++) {
        if (!used[k]) left = tn_dim_mul(x->symbols, left, from->dims[k]);
    }
    if (right == 1) return left;
    return tn_dim_div(x->symbols, left, right);
}

static bool product(const tn_dim_t *dims, uint32_t n, uint64_t *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!tn_dim_known(dims[i])) return false;
    }
    return tn_shape_count(dims, n, out);
}

/* `want` holds numbers with 0 and -1 in their meanings; where `symbolic`, symbols and TN_DIM_REST for -1. */
static bool reshape_to(struct tn_infer *x, const int64_t *want, uint32_t n, bool symbolic)
{
    const struct tn_type *t = tn_in_type(x, 0);
    struct tn_shape out = {.known = true, .rank = n};
    uint32_t hole = UINT32_MAX;
    bool zero_is_zero = tn_attr_int(x->node, "allowzero", 0) != 0;
    if (n > TN_RANK) return tn_infer_refuse(x, "at most 8 dimensions", "%u", n);
    for (uint32_t i = 0; i < n; i++) {
        out.dims[i] = want[i];
        if (want[i] == 0 && !zero_is_zero) {
            if (t->shape.known && i >= t->shape.rank) return tn_infer_refuse(x, "0 only for a dimension that the operand has", "0 at %u of rank %u", i, t->shape.rank);
            out.dims[i] = t->shape.known ? t->shape.dims[i] : tn_dim_unknown(x->symbols);
        } else if (symbolic ? want[i] == TN_DIM_REST : want[i] < 0) {
            if ((want[i] != -1 && !symbolic) || hole != UINT32_MAX) return tn_infer_refuse(x, "dimensions, and -1 at most once", "%lld", (long long)want[i]);
            hole = i;
        }
    }
    uint64_t have, asked;
    bool known = t->shape.known && product(t->shape.dims, t->shape.rank, &have);
    if (hole != UINT32_MAX) {
        out.dims[hole] = 1;
        if (known && product(out.dims, n, &asked)) {
            if (asked == 0 ? have != 0 : have % asked) return tn_infer_refuse(x, "a shape that divides the elements", "%llu elements into parts of %llu", (unsigned long long)have, (unsigned long long)asked);
            out.dims[hole] = asked ? (int64_t)(have / asked) : 0;
        } else {
            out.dims[hole] = t->shape.known ? rest_of(x, &t->shape, out.dims, n, hole) : tn_dim_unknown(x->symbols);
        }
    } else if (known && product(out.dims, n, &asked) && asked != have) {
        return tn_infer_refuse(x, "as many elements as before", "%llu instead of %llu", (unsigned long long)asked, (unsigned long long)have);
    }
    tn_out_type(x, 0, &(struct tn_type){.kind = TN_KIND_TENSOR, .element = t->element, .shape = out});
    return true;
}

/* What is known of a small operand's integers is known of the result's too. */
static void pass_content(struct tn_infer *x)
{
    const tn_dim_t *content;
    uint32_t n;
    if (tn_in_sizes(x, 0, &content, &n)) tn_out_content(x, 0, content, n);
}

static bool infer_reshape(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    int64_t numbers[TN_CONTENT];
    const tn_dim_t *content;
    uint32_t n;
    size_t count;
    const int64_t *fixed = tn_attr_ints(x->node, "shape", &count);
    if (!t) return true;
    pass_content(x);
    if (fixed) return reshape_to(x, fixed, (uint32_t)(count > TN_CONTENT ? TN_CONTENT : count), false);
    if (tn_in_numbers(x, 1, numbers, TN_CONTENT, &n)) return reshape_to(x, numbers, n, false);
    if (x->failed) return false;
    if (tn_in_sizes(x, 1, &content, &n)) return reshape_to(x, content, n, true);
    const struct tn_shape *s;
    struct tn_type out = {.kind = TN_KIND_TENSOR, .element = t->element};
    if (tn_in_shape(x, 1, &s) && s->rank == 1 && s->dims[0] >= 0 && s->dims[0] <= TN_RANK) {
        out.shape = (struct tn_shape){.known = true, .rank = (uint32_t)s->dims[0]};
        for (uint32_t i = 0; i < out.shape.rank; i++) out.shape.dims[i] = tn_dim_unknown(x->symbols);
    }
    tn_out_type(x, 0, &out);
    return true;
}

/* The output was made by inference's shape; a view replaces it. */
static bool run_view(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0];
    struct tn_tensor *view = tn_tensor_view(r->in[0], y->rank, y->dims);
    if (!view) return tn_run_no_memory(r);
    tn_tensor_drop(y);
    r->out[0] = view;
    return true;
}

/* ---- Flatten ------------------------------------------------------------------------------------------------------ */

static bool infer_flatten(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    int64_t axis = tn_attr_int(x->node, "axis", 1);
    if (!t) return true;
    struct tn_type out = {.kind = TN_KIND_TENSOR, .element = t->element, .shape = {.known = true, .rank = 2, .dims = {1, 1}}};
    if (!t->shape.known) {
        out.shape.dims[0] = tn_dim_unknown(x->symbols);
        out.shape.dims[1] = tn_dim_unknown(x->symbols);
    } else {
        int64_t rank = t->shape.rank;
        if (axis < -rank || axis > rank) return tn_infer_refuse(x, "an axis of the operand", "axis %lld of rank %lld", (long long)axis, (long long)rank);
        axis = axis < 0 ? axis + rank : axis;
        for (int64_t i = 0; i < rank; i++) out.shape.dims[i >= axis] = tn_dim_mul(x->symbols, out.shape.dims[i >= axis], t->shape.dims[i]);
    }
    tn_out_type(x, 0, &out);
    return true;
}

/* ---- Squeeze and Unsqueeze ---------------------------------------------------------------------------------------- */

/* Axes are an attribute before version 13 and an operand afterwards. */
static bool axes_of(struct tn_infer *x, int64_t *out, uint32_t *count, bool *given)
{
    size_t n;
    const int64_t *axes = tn_attr_ints(x->node, "axes", &n);
    *given = true;
    if (axes) {
        if (n > TN_CONTENT) return tn_infer_refuse(x, "at most 8 axes", "%zu", n);
        memcpy(out, axes, n * sizeof(*out));
        *count = (uint32_t)n;
        return true;
    }
    *given = tn_in_given(x, 1);
    *count = 0;
    return !*given || tn_in_numbers(x, 1, out, TN_CONTENT, count);
}

static bool infer_squeeze(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    int64_t axes[TN_CONTENT];
    uint32_t count;
    bool given, gone[TN_RANK] = {false};
    if (!t) return true;
    pass_content(x);
    bool known = axes_of(x, axes, &count, &given);
    if (x->failed) return false;
    struct tn_type out = {.kind = TN_KIND_TENSOR, .element = t->element, .shape = {.known = true}};
    if (!known || !t->shape.known) out.shape.known = false;
    for (uint32_t i = 0; out.shape.known && given && i < count; i++) {
        uint32_t axis;
        if (!tn_infer_axis(x, axes[i], t->shape.rank, &axis)) return false;
        if (tn_dim_known(t->shape.dims[axis]) && t->shape.dims[axis] != 1) return tn_infer_refuse(x, "a dimension of 1", "dimension %u is %lld", axis, (long long)t->shape.dims[axis]);
        gone[axis] = true;
    }
    for (uint32_t i = 0; out.shape.known && i < t->shape.rank; i++) {
        if (!given && !tn_dim_known(t->shape.dims[i])) out.shape.known = false; /* it may be 1 */
        if (given ? gone[i] : t->shape.dims[i] == 1) continue;
        out.shape.dims[out.shape.rank++] = t->shape.dims[i];
    }
    tn_out_type(x, 0, &out);
    return true;
}

static bool infer_unsqueeze(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    int64_t axes[TN_CONTENT];
    uint32_t count;
    bool given, added[TN_RANK] = {false};
    if (!t) return true;
    pass_content(x);
    bool known = axes_of(x, axes, &count, &given);
    if (x->failed) return false;
    if (!known || !t->shape.known) {
        tn_out_unknown(x, 0, t->element);
        return true;
    }
    uint32_t rank = t->shape.rank + count, from = 0;
    if (rank > TN_RANK) return tn_infer_refuse(x, "at most 8 dimensions", "%u", rank);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        if (!tn_infer_axis(x, axes[i], rank, &axis)) return false;
        if (added[axis]) return tn_infer_refuse(x, "every axis once", "axis %u twice", axis);
        added[axis] = true;
    }
    tn_dim_t dims[TN_RANK];
    for (uint32_t i = 0; i < rank; i++) dims[i] = added[i] ? 1 : t->shape.dims[from++];
    tn_out_tensor(x, 0, t->element, rank, dims);
    return true;
}

/* ---- Identity ----------------------------------------------------------------------------------------------------- */

static bool infer_identity(struct tn_infer *x)
{
    pass_content(x);
    return tn_infer_same(x);
}

static bool run_identity(struct tn_run *r)
{
    tn_run_pass(r, 0, r->in[0]);
    return true;
}

#define VIEW(n, s, i) {.name = n, .since = s, .infer = i, .run = run_view}

static const struct tn_operator rows[] = {
    VIEW("Reshape", 1, infer_reshape),
    VIEW("Flatten", 1, infer_flatten),
    VIEW("Squeeze", 1, infer_squeeze),
    VIEW("Unsqueeze", 1, infer_unsqueeze),
    {.name = "Identity", .since = 1, .infer = infer_identity, .run = run_identity},
};

const struct tn_operators tn_ops_shape = {rows, sizeof(rows) / sizeof(rows[0])};
