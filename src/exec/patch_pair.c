/*
 * In front of products of 1 x 1 windows with channels last: depthwise windows become one operator with them
 * (ops/conv_last_pair.c), with a product that widens images in front of these, and a factor for each channel of an image is applied on the way in (ops/conv_last.c). Behind them,
 * residuals that end with channels of zeros are read without.
 */
#include "exec/patch_kit.h"

#include <string.h>

/* Weights that each strip of a pair reads again: half of a small L2 cache. */
enum { PAIR_WEIGHTS = 1 << 16, ATTRS = 32 };

static bool is_last_conv(const struct tn_node *n)
{
    return n && tn_str_is(n->type, "LastConv") && tn_str_is(n->domain, "tenon");
}

static bool is_deep(const struct tn_node *n)
{
    return is_last_conv(n) && tn_attr_int(n, "group", 1) > 1;
}

static bool all_are(const struct tn_node *n, const char *name, int64_t value)
{
    size_t count;
    const int64_t *list = tn_attr_ints(n, name, &count);
    for (size_t i = 0; i < count; i++) {
        if (list[i] != value) return false;
    }
    return true;
}

/* A product of one pixel each that takes no more operands in front; *weights: how many. */
static bool is_product(const struct tn_rewrite *w, const struct tn_node *n, int64_t *weights)
{
    if (!is_last_conv(n) || is_deep(n) || tn_node_attr(n, "tenon.factor") || !all_are(n, "strides", 1) || !all_are(n, "pads", 0)) return false;
    const tn_dim_t *d = tn_rewrite_operand(w, n, 1)->type.shape.dims;
    *weights = d[0] < INT32_MAX && d[1] < INT32_MAX ? d[0] * d[1] : INT64_MAX;
    return d[2] == 1 && d[3] == 1;
}

/* What node `n` states under these names; under `renamed`, when there are such. */
static void take_attrs(const struct tn_node *n, const char *const *names, const char *const *renamed, size_t count, struct tn_attr *to, uint32_t *at)
{
    for (size_t k = 0; k < count; k++) {
        const struct tn_attr *a = tn_node_attr(n, names[k]);
        if (!a) continue;
        to[*at] = *a;
        if (renamed) to[*at].name = tn_str_of(renamed[k]);
        (*at)++;
    }
}

static bool fold_deep(struct tn_rewrite *w, uint32_t i)
{
    static const char *const window[] = {"group", "strides", "pads", "dilations", "kernel_shape", "auto_pad"};
    static const char *const folded[] = {"tenon.activation", "tenon.params", "tenon.line"};
    static const char *const first_folded[] = {"tenon.first.activation", "tenon.first.params", "tenon.first.line"};
    const struct tn_node *n = &w->net->nodes[i], *deep = tn_rewrite_source(w, n, 0, 1);
    const struct tn_ref_value none = {TN_NET_NONE, 0};
    if (!is_deep(deep) || tn_node_attr(deep, "tenon.bias") || tn_node_attr(deep, "tenon.residual") || tn_node_attr(n, "tenon.bias")) return false;
    struct tn_attr attrs[ATTRS];
    uint32_t count = 0;
    take_attrs(deep, window, NULL, 6, attrs, &count);
    take_attrs(deep, folded, first_folded, 3, attrs, &count);
    take_attrs(n, folded, NULL, 3, attrs, &count);
    struct tn_ref_value in[7] = {deep->in[0], deep->in[1], deep->in_count > 2 ? deep->in[2] : none, n->in[1], n->in_count > 2 ? n->in[2] : none};
    uint32_t in_count = 5;
    for (unsigned k = 0; k < 2; k++) {
        struct tn_str name = k ? TN_STR("tenon.narrow") : TN_STR("tenon.residual");
        int64_t residual = tn_attr_int(n, name.s, -1);
        if (residual < 0 || residual >= n->in_count) continue;
        attrs[count++] = (struct tn_attr){.name = name, .type = TN_ATTR_INT, .as = {.i = in_count}};
        in[in_count++] = n->in[residual];
    }
    return tn_rewrite_turn(w, i, &(struct tn_new_node){.domain = "tenon", .type = "LastPair", .version = 1, .in = in, .in_count = in_count, .attrs = attrs,
                                                       .attr_count = count});
}

/* Whether rows of results are many beside those that two shares of them make twice. */
static bool has_many_rows(const struct tn_rewrite *w, const struct tn_node *pair)
{
    enum { LEAST = 16 };
    size_t strides, dilations;
    const int64_t *stride = tn_attr_ints(pair, "strides", &strides), *dilation = tn_attr_ints(pair, "dilations", &dilations);
    tn_dim_t rows = w->net->values[pair->out[0]].type.shape.dims[1], kernel = tn_rewrite_operand(w, pair, 1)->type.shape.dims[2];
    int64_t twice = (kernel - 1) * (dilation ? dilation[0] : 1) + 1 - (stride ? stride[0] : 1);
    return tn_dim_known(rows) && (twice < 1 || rows / LEAST >= twice);
}

/* A product that widens an image in front of a pair. */
static bool fold_wide(struct tn_rewrite *w, uint32_t i)
{
    static const char *const folded[] = {"tenon.activation", "tenon.params", "tenon.line"};
    static const char *const wide_folded[] = {"tenon.wide.activation", "tenon.wide.params", "tenon.wide.line"};
    const struct tn_node n = w->net->nodes[i], *wide = tn_rewrite_source(w, &n, 0, 1);
    struct tn_ref_value in[10];
    struct tn_attr attrs[ATTRS];
    int64_t weights;
    uint32_t count = n.attr_count, at = n.in_count;
    if (!tn_str_is(n.type, "LastPair") || !tn_str_is(n.domain, "tenon") || tn_node_attr(&n, "tenon.wide") || n.in_count > 8 || n.attr_count + 4 > ATTRS) return false;
    if (!is_product(w, wide, &weights) || weights > PAIR_WEIGHTS || !has_many_rows(w, &n)) return false;
    if (tn_node_attr(wide, "tenon.bias") || tn_node_attr(wide, "tenon.residual") || tn_node_attr(wide, "tenon.narrow")) return false;
    const tn_dim_t *d = tn_rewrite_operand(w, wide, 1)->type.shape.dims;
    if (d[0] <= d[1]) return false; /* nothing is saved */
    memcpy(in, n.in, n.in_count * sizeof(*in));
    memcpy(attrs, n.attrs, n.attr_count * sizeof(*attrs));
    take_attrs(wide, folded, wide_folded, 3, attrs, &count);
    attrs[count++] = (struct tn_attr){.name = TN_STR("tenon.wide"), .type = TN_ATTR_INT, .as = {.i = at}};
    in[0] = wide->in[0];
    in[at] = wide->in[1];
    in[at + 1] = wide->in_count > 2 ? wide->in[2] : (struct tn_ref_value){TN_NET_NONE, 0};
    return tn_rewrite_turn(w, i, &(struct tn_new_node){.domain = "tenon", .type = "LastPair", .version = 1, .in = in, .in_count = at + 2, .attrs = attrs,
                                                       .attr_count = count});
}

/* Which operand of a Mul has one pixel for each image of the other one, which is as large as the result; TN_NET_NONE: neither. */
static uint32_t factor_of(const struct tn_rewrite *w, const struct tn_node *n)
{
    const struct tn_shape *y = &w->net->values[n->out[0]].type.shape;
    for (uint32_t k = 0; k < 2; k++) {
        const struct tn_type *f = &tn_rewrite_operand(w, n, k)->type, *x = &tn_rewrite_operand(w, n, 1 - k)->type;
        bool fits = f->element == TN_EL_F32 && f->shape.known && x->shape.known && y->known && f->shape.rank == 4 && x->shape.rank == 4 && y->rank == 4;
        for (uint32_t d = 0; fits && d < 4; d++) fits = x->shape.dims[d] == y->dims[d] && f->shape.dims[d] == (d == 1 || d == 2 ? 1 : y->dims[d]);
        if (fits) return k;
    }
    return TN_NET_NONE;
}

static bool fold_factor(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node n = w->net->nodes[i], *mul = tn_rewrite_source(w, &n, 0, 1);
    struct tn_ref_value in[8];
    struct tn_attr attrs[ATTRS];
    if (!tn_is(mul, "Mul") || mul->version < 7 || mul->in_count != 2 || n.in_count + 1u > 8 || n.attr_count + 1u > ATTRS) return false;
    uint32_t k = factor_of(w, mul), count = n.in_count < 3 ? 3 : n.in_count;
    if (k == TN_NET_NONE) return false;
    for (uint32_t j = 0; j < count; j++) in[j] = j < n.in_count ? n.in[j] : (struct tn_ref_value){TN_NET_NONE, 0};
    in[0] = mul->in[1 - k];
    in[count] = mul->in[k];
    memcpy(attrs, n.attrs, n.attr_count * sizeof(*attrs));
    attrs[n.attr_count] = (struct tn_attr){.name = TN_STR("tenon.factor"), .type = TN_ATTR_INT, .as = {.i = count}};
    return tn_rewrite_turn(w, i, &(struct tn_new_node){.domain = "tenon", .type = "LastConv", .version = 1, .in = in, .in_count = count + 1, .attrs = attrs,
                                                       .attr_count = n.attr_count + 1});
}

/* Zeros that a graph makes of a constant shape, maybe turned. */
static bool is_zeros(struct tn_rewrite *w, const struct tn_node *n, uint32_t k)
{
    const struct tn_node *made = tn_rewrite_source(w, n, k, 0);
    if (tn_is(made, "Transpose") || tn_is(made, "Reshape")) made = tn_rewrite_source(w, made, 0, 0);
    const struct tn_attr *value = tn_is(made, "ConstantOfShape") ? tn_node_attr(made, "value") : NULL;
    if (!tn_is(made, "ConstantOfShape") || !value) return made && tn_is(made, "ConstantOfShape");
    const struct tn_constant *c = value->as.tensors;
    return value->type == TN_ATTR_TENSOR && c->data && c->element == TN_EL_F32 && tn_element_get(c->element, c->data, 0) == 0;
}

/* A residual that is widened by channels of zeros is read as narrow as it was. */
static bool fold_zeros(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node n = w->net->nodes[i];
    struct tn_ref_value in[8];
    struct tn_attr attrs[ATTRS];
    int64_t at = tn_attr_int(&n, "tenon.residual", -1);
    bool pair = tn_str_is(n.type, "LastPair") && tn_str_is(n.domain, "tenon");
    if ((!pair && (!is_last_conv(&n) || is_deep(&n))) || at < 0 || at >= n.in_count || n.in_count > 8 || n.attr_count > ATTRS) return false;
    const struct tn_node *join = tn_rewrite_source(w, &n, (uint32_t)at, 1);
    if (!tn_is(join, "Concat") || join->in_count != 2 || tn_attr_int(join, "axis", 0) != 3 || !is_zeros(w, join, 1)) return false;
    if (tn_rewrite_operand(w, join, 0)->type.element != TN_EL_F32) return false;
    memcpy(in, n.in, n.in_count * sizeof(*in));
    memcpy(attrs, n.attrs, n.attr_count * sizeof(*attrs));
    in[at] = join->in[0];
    for (uint32_t k = 0; k < n.attr_count; k++) {
        if (tn_str_is(attrs[k].name, "tenon.residual")) attrs[k].name = TN_STR("tenon.narrow");
    }
    return tn_rewrite_turn(w, i, &(struct tn_new_node){.domain = "tenon", .type = pair ? "LastPair" : "LastConv", .version = 1, .in = in,
                                                       .in_count = n.in_count, .attrs = attrs, .attr_count = n.attr_count});
}

bool tn_patch_pair(struct tn_rewrite *w, uint32_t i)
{
    int64_t weights;
    if (fold_zeros(w, i) || fold_wide(w, i)) return true;
    if (!is_product(w, &w->net->nodes[i], &weights)) return false;
    return (weights <= PAIR_WEIGHTS && fold_deep(w, i)) || fold_factor(w, i);
}
