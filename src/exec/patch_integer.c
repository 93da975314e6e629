/*
 * Products of quantised numbers give floats themselves (tenon.scales of ops/epilogue.h), written out as
 *
 *     float(sum of integers) * (scale * scale) + bias
 *
 * or as the product of two operands that are dequantised in front of it. The sums are exact; where they were sums of floats
 * before, only roundings differ.
 */
#include "exec/patch_kit.h"
#include "ops/epilogue.h"

#include <string.h>

static const struct tn_shape *shape_of(const struct tn_rewrite *w, struct tn_ref_value ref)
{
    const struct tn_type *t = &tn_net_at(w->net, ref)->type;
    return t->kind == TN_KIND_TENSOR && t->shape.known ? &t->shape : NULL;
}

static bool is_integer_product(const struct tn_node *n)
{
    return tn_is(n, "ConvInteger") || tn_is(n, "MatMulInteger");
}

/* Which axis of the result has the maps or columns; false: not known. */
static bool lines_of(const struct tn_rewrite *w, const struct tn_node *product, bool conv, uint32_t *axis, uint32_t *rank, tn_dim_t *lines)
{
    const struct tn_shape *y = shape_of(w, (struct tn_ref_value){product->out[0], 0}), *b = shape_of(w, product->in[1]);
    if (!y || !b || y->rank < 2 || (!conv && b->rank < 2)) return false;
    *rank = y->rank;
    *axis = conv ? 1 : y->rank - 1;
    *lines = conv ? b->dims[0] : b->dims[b->rank - 1];
    return tn_dim_known(*lines);
}

/* Whether a factor or addend of the result is one number, or one for each map or column, and widens nothing. */
static bool goes_along(const struct tn_rewrite *w, struct tn_ref_value ref, uint32_t axis, uint32_t rank, tn_dim_t lines, bool *one)
{
    const struct tn_type *t = ref.value == TN_NET_NONE ? NULL : &tn_net_at(w->net, ref)->type;
    if (!t || t->kind != TN_KIND_TENSOR || t->element != TN_EL_F32 || !t->shape.known || t->shape.rank > rank) return false;
    *one = true;
    for (uint32_t d = 0; d < t->shape.rank; d++) {
        if (t->shape.dims[d] == 1) continue;
        if (d + rank - t->shape.rank != axis || t->shape.dims[d] != lines) return false;
        *one = false;
    }
    return true;
}

static bool add_scales(struct tn_rewrite *w, uint32_t p, uint32_t last, const struct tn_ref_value *scales, uint32_t count)
{
    const struct tn_node *n = &w->net->nodes[p];
    uint32_t at = n->schema && n->schema->in_count > n->in_count ? n->schema->in_count : n->in_count;
    int64_t *indices = tn_arena_array(&w->model->arena, 2, sizeof(*indices));
    if (!indices) {
        w->no_memory = true;
        return false;
    }
    for (uint32_t k = 0; k < count; k++) indices[k] = at + k;
    struct tn_attr attr = {.name = TN_STR("tenon.scales"), .type = TN_ATTR_INTS, .count = count, .as = {.ints = indices}};
    return tn_rewrite_extend(w, p, last, scales, count, &attr, 1);
}

/* Mul(Cast(product), scale): the scale is often a product of two. */
static bool fold_scales(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    if (!tn_is(n, "Mul") || n->version < 7 || n->in_count != 2 || w->net->values[n->out[0]].type.element != TN_EL_F32) return false;
    for (uint32_t k = 0; k < 2; k++) {
        const struct tn_node *cast = tn_rewrite_source(w, n, k, 1);
        const struct tn_node *product = tn_is(cast, "Cast") ? tn_rewrite_source(w, cast, 0, 1) : NULL;
        struct tn_ref_value scales[2] = {n->in[1 - k]};
        uint32_t axis, rank, count = 1;
        tn_dim_t lines;
        bool one;
        if (!is_integer_product(product) || tn_node_attr(product, "tenon.scales") || !lines_of(w, product, tn_is(product, "ConvInteger"), &axis, &rank, &lines)) continue;
        if (!goes_along(w, scales[0], axis, rank, lines, &one)) continue;
        const struct tn_node *both = tn_rewrite_source(w, n, 1 - k, 1);
        if (tn_is(both, "Mul") && both->version >= 7 && goes_along(w, both->in[0], axis, rank, lines, &one) &&
            goes_along(w, both->in[1], axis, rank, lines, &one)) {
            scales[0] = both->in[0];
            scales[1] = both->in[1];
            count = 2;
        }
        return add_scales(w, tn_rewrite_number(w, product), i, scales, count);
    }
    return false;
}

/* Add(product of floats, number by map or column) */
static bool fold_addend(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    if (!tn_is(n, "Add") || n->version < 7 || n->in_count != 2) return false;
    for (uint32_t k = 0; k < 2; k++) {
        const struct tn_node *p = tn_rewrite_source(w, n, k, 1);
        uint32_t axis, rank;
        tn_dim_t lines;
        bool one;
        if (!is_integer_product(p) || !tn_node_attr(p, "tenon.scales") || tn_node_attr(p, "tenon.bias") || tn_node_attr(p, "tenon.residual") ||
            tn_node_attr(p, "tenon.activation") || tn_node_attr(p, "tenon.line"))
            continue;
        if (!lines_of(w, p, tn_is(p, "ConvInteger"), &axis, &rank, &lines) || !goes_along(w, n->in[1 - k], axis, rank, lines, &one)) continue;
        if (one && lines != 1) continue; /* a bias has one number for each */
        uint32_t at = p->schema && p->schema->in_count > p->in_count ? p->schema->in_count : p->in_count;
        struct tn_attr attr = {.name = TN_STR("tenon.bias"), .type = TN_ATTR_INT, .as = {.i = at}};
        return tn_rewrite_extend(w, tn_rewrite_number(w, p), i, &n->in[1 - k], 1, &attr, 1);
    }
    return false;
}

/* ---- dequantised operands ----------------------------------------------------------------------------------------- */

/* An operand that is dequantised from 8 bits by one scale, or by one for each index of `axis`. */
struct dequantised {
    struct tn_ref_value codes, scale, zero;
    bool one;
};

static bool read_dequantised(struct tn_rewrite *w, const struct tn_node *n, uint32_t k, int64_t axis, struct dequantised *d)
{
    const struct tn_node *made = tn_rewrite_source(w, n, k, 0);
    if (!tn_is(made, "DequantizeLinear") || made->in_count < 2 || tn_attr_int(made, "block_size", 0)) return false;
    const struct tn_type *x = &tn_rewrite_operand(w, made, 0)->type, *scale = &tn_rewrite_operand(w, made, 1)->type;
    if ((x->element != TN_EL_U8 && x->element != TN_EL_I8) || scale->element != TN_EL_F32 || !x->shape.known || !scale->shape.known) return false;
    *d = (struct dequantised){.codes = made->in[0], .scale = made->in[1], .one = true, .zero = made->in_count > 2 ? made->in[2] : (struct tn_ref_value){TN_NET_NONE, 0}};
    if (scale->shape.rank > 1) return false;
    int64_t stated = tn_attr_int(made, "axis", 1);
    if (scale->shape.rank == 1 && scale->shape.dims[0] != 1) {
        if (axis < 0 || (stated < 0 ? stated + x->shape.rank : stated) != axis) return false;
        d->one = false;
    }
    return true;
}

/* The product of the codes less their zero points, with the scales behind it. Constants of weights alone: zero points of
   rows are not what the operators take. */
static bool from_codes(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    bool conv = tn_is(n, "Conv"), matmul = tn_is(n, "MatMul");
    struct dequantised a, b;
    if ((!conv && !matmul) || n->in_count < 2 || w->net->values[n->out[0]].type.element != TN_EL_F32) return false;
    for (uint32_t k = 0; k < n->attr_count; k++) {
        if (n->attrs[k].name.n > 6 && memcmp(n->attrs[k].name.s, "tenon.", 6) == 0) return false;
    }
    const struct tn_shape *weights = shape_of(w, n->in[1]), *y = shape_of(w, (struct tn_ref_value){n->out[0], 0});
    if (!weights || !y || y->rank < 2 || (matmul && weights->rank != 2)) return false;
    if (!read_dequantised(w, n, 0, -1, &a) || !read_dequantised(w, n, 1, conv ? 0 : 1, &b) || !a.one) return false;
    const struct tn_node *made = tn_rewrite_source(w, n, 1, 0);
    if (!tn_rewrite_constant(w, made, 0)) return false;
    bool bias = conv && n->in_count > 2 && n->in[2].value != TN_NET_NONE;
    struct tn_ref_value in[7] = {a.codes, b.codes, a.zero, b.zero, a.scale, b.scale};
    if (bias) in[6] = n->in[2];
    struct tn_attr *attrs = tn_arena_array(&w->model->arena, (size_t)n->attr_count + 2, sizeof(*attrs));
    int64_t *indices = tn_arena_array(&w->model->arena, 2, sizeof(*indices));
    if (!attrs || !indices) {
        w->no_memory = true;
        return false;
    }
    uint32_t count = n->attr_count;
    if (count) memcpy(attrs, n->attrs, count * sizeof(*attrs));
    indices[0] = 4;
    indices[1] = 5;
    attrs[count++] = (struct tn_attr){.name = TN_STR("tenon.scales"), .type = TN_ATTR_INTS, .count = 2, .as = {.ints = indices}};
    if (bias) attrs[count++] = (struct tn_attr){.name = TN_STR("tenon.bias"), .type = TN_ATTR_INT, .as = {.i = 6}};
    return tn_rewrite_turn(w, i, &(struct tn_new_node){.type = conv ? "ConvInteger" : "MatMulInteger", .version = 10, .in = in,
                                                       .in_count = bias ? 7 : 6, .attrs = attrs, .attr_count = count});
}

bool tn_patch_integer(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    if (n->out_count == 0 || n->out[0] == TN_NET_NONE) return false;
    return fold_scales(w, i) || fold_addend(w, i) || from_codes(w, i);
}
