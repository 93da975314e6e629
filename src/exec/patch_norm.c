/*
 * Layer normalisation that is written out (Ba et al. 2016, arXiv 1607.06450): the mean is taken off, the rest divided by
 * its root mean square, scaled by a vector and moved by another. The scale makes the operator, the addend joins it.
 */
#include "exec/patch_kit.h"

#include <string.h>

static bool same_value(struct tn_ref_value a, struct tn_ref_value b)
{
    return a.value == b.value && a.level == b.level && a.value != TN_NET_NONE;
}

static const struct tn_type *real_type(const struct tn_rewrite *w, struct tn_ref_value ref)
{
    const struct tn_net_value *v = tn_net_at(w->net, ref);
    bool real = v && v->type.kind == TN_KIND_TENSOR && (v->type.element == TN_EL_F32 || v->type.element == TN_EL_F64);
    return real && v->type.shape.known ? &v->type : NULL;
}

/* n is the mean along the last dimension, which stays with one element. */
static bool is_mean(const struct tn_rewrite *w, const struct tn_node *n)
{
    int64_t axis = 0;
    uint32_t count = 0;
    size_t stated;
    if (!tn_is(n, "ReduceMean") || tn_attr_int(n, "keepdims", 1) == 0) return false;
    const struct tn_type *x = real_type(w, n->in[0]);
    const int64_t *axes = tn_attr_ints(n, "axes", &stated);
    if (axes) {
        if (stated != 1) return false;
        axis = axes[0];
    } else if (!tn_rewrite_numbers_of(w, n, 1, &axis, 1, &count) || count != 1) {
        return false;
    }
    return x && x->shape.rank > 0 && (axis == -1 || axis == (int64_t)x->shape.rank - 1);
}

/* n is x - mean(x). */
static bool is_centred(struct tn_rewrite *w, const struct tn_node *n, struct tn_ref_value *x)
{
    if (!tn_is(n, "Sub") || n->version < 7) return false;
    const struct tn_node *mean = tn_rewrite_source(w, n, 1, 0);
    if (!is_mean(w, mean) || !same_value(mean->in[0], n->in[0])) return false;
    *x = n->in[0];
    return true;
}

/* n is the square of what stands in n's operand 0. */
static bool is_square(const struct tn_rewrite *w, const struct tn_node *n)
{
    double two;
    if (tn_is(n, "Mul") && n->version >= 7) return same_value(n->in[0], n->in[1]);
    return tn_is(n, "Pow") && n->version >= 7 && tn_rewrite_number_of(w, n, 1, &two) && two == 2;
}

/* n is sqrt(mean(d^2) + epsilon); *d: the node that makes d. */
static bool is_deviation(struct tn_rewrite *w, const struct tn_node *n, struct tn_node **d, double *epsilon)
{
    if (!tn_is(n, "Sqrt")) return false;
    const struct tn_node *sum = tn_rewrite_source(w, n, 0, 0);
    if (!tn_is(sum, "Add") || sum->version < 7) return false;
    for (uint32_t k = 0; k < 2; k++) {
        const struct tn_node *mean = tn_rewrite_source(w, sum, k, 0);
        if (!is_mean(w, mean) || !tn_rewrite_number_of(w, sum, 1 - k, epsilon)) continue;
        const struct tn_node *square = tn_rewrite_source(w, mean, 0, 0);
        if (!is_square(w, square)) continue;
        *d = tn_rewrite_source(w, square, 0, 0);
        return *d != NULL;
    }
    return false;
}

/* n is (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), or times the reciprocal. */
static bool is_normal(struct tn_rewrite *w, const struct tn_node *n, struct tn_ref_value *x, double *epsilon)
{
    struct tn_ref_value again;
    struct tn_node *d;
    bool product = tn_is(n, "Mul");
    if ((!product && !tn_is(n, "Div")) || n->version < 7) return false;
    for (uint32_t k = 0; k < (product ? 2u : 1u); k++) {
        const struct tn_node *root = tn_rewrite_source(w, n, 1 - k, 0);
        if (product && (!tn_is(root, "Reciprocal"))) continue;
        if (product) root = tn_rewrite_source(w, root, 0, 0);
        if (!is_centred(w, tn_rewrite_source(w, n, k, 0), x) || !is_deviation(w, root, &d, epsilon)) continue;
        /* Some exporters write the difference twice. */
        if (is_centred(w, d, &again) && same_value(*x, again)) return true;
    }
    return false;
}

/* Operand k of n is a constant number for each element of x's rows. */
static bool by_element(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k, const struct tn_type *x)
{
    const struct tn_type *t = real_type(w, n->in[k]);
    if (!t || !tn_rewrite_constant(w, n, k) || t->element != x->element) return false;
    if (t->shape.rank == 0 || t->shape.rank > x->shape.rank) return false;
    tn_dim_t width = x->shape.dims[x->shape.rank - 1];
    if (!tn_dim_known(width) || t->shape.dims[t->shape.rank - 1] != width) return false;
    for (uint32_t d = 0; d + 1 < t->shape.rank; d++) {
        if (t->shape.dims[d] != 1) return false;
    }
    return true;
}

static bool scaled(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    double epsilon;
    if (!tn_is(n, "Mul") || n->version < 7) return false;
    for (uint32_t k = 0; k < 2; k++) {
        struct tn_ref_value x;
        if (!is_normal(w, tn_rewrite_source(w, n, k, 0), &x, &epsilon)) continue;
        const struct tn_type *type = real_type(w, x);
        if (!type || !by_element(w, n, 1 - k, type)) continue;
        struct tn_ref_value in[2] = {x, n->in[1 - k]};
        struct tn_attr attrs[3] = {{.name = TN_STR("axis"), .type = TN_ATTR_INT, .as = {.i = -1}},
                                   {.name = TN_STR("epsilon"), .type = TN_ATTR_FLOAT, .as = {.f = (float)epsilon}},
                                   {.name = TN_STR("stash_type"), .type = TN_ATTR_INT, .as = {.i = type->element}}};
        return tn_rewrite_turn(w, i, &(struct tn_new_node){.type = "LayerNormalization", .version = 17, .in = in, .in_count = 2,
                                                           .attrs = attrs, .attr_count = 3});
    }
    return false;
}

static bool moved(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    if (!tn_is(n, "Add") || n->version < 7) return false;
    for (uint32_t k = 0; k < 2; k++) {
        const struct tn_node *norm = tn_rewrite_source(w, n, k, 1);
        if (!tn_is(norm, "LayerNormalization") || norm->in_count != 2) continue;
        const struct tn_type *x = real_type(w, norm->in[0]);
        if (!x || !by_element(w, n, 1 - k, x)) continue;
        struct tn_ref_value in[3] = {norm->in[0], norm->in[1], n->in[1 - k]};
        return tn_rewrite_turn(w, i, &(struct tn_new_node){.type = "LayerNormalization", .version = 17, .in = in, .in_count = 3,
                                                           .attrs = norm->attrs, .attr_count = norm->attr_count});
    }
    return false;
}

bool tn_patch_norm(struct tn_rewrite *w, uint32_t i)
{
    return scaled(w, i) || moved(w, i);
}
