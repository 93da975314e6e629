/*
 * MatMulNBits of 4-bit constants with an accuracy_level of 4, which permits products of bytes: its rows are rounded to 8 bits by
 * blocks (ops/fused_nibbles.c). The only patch whose results differ by more than the order of sums; docs/GRAPHS.md says how far.
 */
#include "exec/patch_kit.h"
#include "ops/nbits.h"

static bool given(const struct tn_node *n, uint32_t k)
{
    return k < n->in_count && n->in[k].value != TN_NET_NONE;
}

/* Operand k is a constant of this type and number of elements. */
static bool is_constant(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k, enum tn_element e, uint64_t count)
{
    const struct tn_net_value *v = tn_rewrite_operand(w, n, k);
    uint64_t found = 1;
    if (!v || v->type.kind != TN_KIND_TENSOR || v->type.element != e || !v->type.shape.known || !tn_rewrite_constant(w, n, k)) return false;
    for (uint32_t d = 0; d < v->type.shape.rank; d++) {
        tn_dim_t dim = v->type.shape.dims[d];
        if (!tn_dim_known(dim) || dim < 1 || found > count / (uint64_t)dim) return false;
        found *= (uint64_t)dim;
    }
    return found == count;
}

bool tn_patch_nibbles(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    struct tn_nbits s;
    if (!tn_str_is(n->type, "MatMulNBits") || !tn_str_is(n->domain, "com.microsoft") || tn_attr_int(n, "accuracy_level", 0) != 4) return false;
    if (tn_nbits_read(n, &s) || s.bits != 4 || s.block % TN_NIBBLE_BLOCK || given(n, TN_NBITS_GROUPS)) return false;
    const struct tn_net_value *a = tn_rewrite_operand(w, n, TN_NBITS_A);
    if (!a || a->type.kind != TN_KIND_TENSOR || a->type.element != TN_EL_F32) return false;
    if (!is_constant(w, n, TN_NBITS_B, TN_EL_U8, s.n * s.blocks * s.blob) || !is_constant(w, n, TN_NBITS_SCALES, TN_EL_F32, s.n * s.blocks)) return false;
    bool zeros = given(n, TN_NBITS_ZEROS), bias = given(n, TN_NBITS_BIAS);
    if (zeros && !is_constant(w, n, TN_NBITS_ZEROS, TN_EL_U8, s.n * tn_nbits_zero_bytes(&s))) return false;
    if (bias && !is_constant(w, n, TN_NBITS_BIAS, TN_EL_F32, s.n)) return false;
    struct tn_ref_value in[5] = {n->in[TN_NBITS_A], n->in[TN_NBITS_B], n->in[TN_NBITS_SCALES], {TN_NET_NONE, 0}};
    struct tn_attr attrs[4] = {{.name = TN_STR("N"), .type = TN_ATTR_INT, .as = {.i = (int64_t)s.n}},
                               {.name = TN_STR("K"), .type = TN_ATTR_INT, .as = {.i = (int64_t)s.k}},
                               {.name = TN_STR("block_size"), .type = TN_ATTR_INT, .as = {.i = (int64_t)s.block}},
                               {.name = TN_STR("tenon.bias"), .type = TN_ATTR_INT, .as = {.i = 4}}};
    if (zeros) in[TN_NBITS_ZEROS] = n->in[TN_NBITS_ZEROS];
    if (bias) in[4] = n->in[TN_NBITS_BIAS];
    return tn_rewrite_turn(w, i, &(struct tn_new_node){.domain = "tenon", .type = "NibbleProduct", .version = 1, .in = in, .in_count = bias ? 5 : 4,
                                                       .attrs = attrs, .attr_count = bias ? 4 : 3});
}
