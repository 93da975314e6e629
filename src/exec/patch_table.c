/*
 * A product with a large constant matrix of bytes that is widened in front of it: the product reads the bytes
 * (ops/fused_table.c), instead of a copy that is four times as large, or of one that each call makes.
 */
#include "exec/patch_kit.h"

/* Smaller ones fit a cache when they are widened and packed at load. */
enum { LARGE = 1 << 20 };

static const struct tn_type *type_of(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k)
{
    const struct tn_net_value *v = tn_rewrite_operand(w, n, k);
    return v && v->type.kind == TN_KIND_TENSOR && v->type.shape.known ? &v->type : NULL;
}

static bool turns(const struct tn_node *n)
{
    size_t count;
    const int64_t *perm = tn_is(n, "Transpose") ? tn_attr_ints(n, "perm", &count) : NULL;
    return tn_is(n, "Transpose") && (!perm || (count == 2 && perm[0] == 1 && perm[1] == 0));
}

/* Operand k of n: one number, or one for each slice of `axis` where `each`. */
static bool is_vector(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k, tn_dim_t slices, bool each)
{
    const struct tn_type *t = type_of(w, n, k);
    if (!t || !tn_rewrite_constant(w, n, k)) return false;
    if (t->shape.rank == 0 || (t->shape.rank == 1 && t->shape.dims[0] == 1)) return true;
    return each && t->shape.rank == 1 && t->shape.dims[0] == slices;
}

bool tn_patch_table(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    if (!tn_is(n, "MatMul") || n->in_count != 2 || n->attr_count) return false;
    const struct tn_type *a = type_of(w, n, 0);
    const struct tn_node *outer = tn_rewrite_source(w, n, 1, 0), *widening = outer;
    bool behind = turns(outer);
    if (behind) widening = tn_rewrite_source(w, outer, 0, 0);
    if (!a || a->element != TN_EL_F32 || a->shape.rank < 2 || !tn_is(widening, "DequantizeLinear") || tn_attr_int(widening, "block_size", 0)) return false;
    const struct tn_node *inner = behind ? NULL : tn_rewrite_source(w, widening, 0, 0), *owner = widening;
    bool before = turns(inner);
    if (before) owner = inner;
    else if (!behind) return false; /* [k, n] as it is written */
    const struct tn_type *table = type_of(w, owner, 0), *scale = type_of(w, widening, 1);
    if (!table || table->shape.rank != 2 || (table->element != TN_EL_U8 && table->element != TN_EL_I8) || !tn_rewrite_constant(w, owner, 0)) return false;
    tn_dim_t rows = table->shape.dims[0], width = table->shape.dims[1], axis = tn_attr_int(widening, "axis", 1);
    if (!tn_dim_known(rows) || !tn_dim_known(width) || width < 1 || rows < LARGE / width) return false;
    if (axis < 0) axis += 2;
    bool each = axis == (before ? 1 : 0);
    bool zero = widening->in_count > 2 && widening->in[2].value != TN_NET_NONE;
    if (!scale || scale->element != TN_EL_F32 || !is_vector(w, widening, 1, rows, each) || (zero && !is_vector(w, widening, 2, rows, each))) return false;
    if (w->net->values[n->out[0]].type.element != TN_EL_F32) return false;
    struct tn_ref_value in[4] = {n->in[0], owner->in[0], widening->in[1], zero ? widening->in[2] : (struct tn_ref_value){TN_NET_NONE, 0}};
    return tn_rewrite_turn(w, i, &(struct tn_new_node){.domain = "tenon", .type = "TableProduct", .version = 1, .in = in, .in_count = zero ? 4 : 3});
}
