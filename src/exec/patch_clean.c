/* Patches that take nodes away: what returns its operand, and neighbours that undo each other. */
#include "exec/patch_kit.h"

#include <string.h>

static const struct tn_type *tensor_type(const struct tn_rewrite *w, struct tn_ref_value ref)
{
    const struct tn_net_value *v = tn_net_at(w->net, ref);
    return v && v->type.kind == TN_KIND_TENSOR && v->type.element != TN_EL_NONE ? &v->type : NULL;
}

/* Symbols are interned: equal ones are equal numbers. */
static bool same_type(const struct tn_type *a, const struct tn_type *b)
{
    if (!a || !b || a->element != b->element || !a->shape.known || !b->shape.known || a->shape.rank != b->shape.rank) return false;
    for (uint32_t i = 0; i < a->shape.rank; i++) {
        if (a->shape.dims[i] != b->shape.dims[i]) return false;
    }
    return true;
}

static bool only_output(const struct tn_node *n)
{
    for (uint32_t k = 1; k < n->out_count; k++) {
        if (n->out[k] != TN_NET_NONE) return false;
    }
    return n->out_count > 0 && n->out[0] != TN_NET_NONE && n->in_count > 0 && n->in[0].value != TN_NET_NONE;
}

static bool drops_nothing(const struct tn_rewrite *w, const struct tn_node *n)
{
    double training = 0;
    if (n->version < 7) return false;
    return n->in_count < 3 || n->in[2].value == TN_NET_NONE || (tn_rewrite_number_of(w, n, 2, &training) && training == 0);
}

static bool keeps_order(const struct tn_node *n, uint32_t rank)
{
    size_t count;
    const int64_t *perm = tn_attr_ints(n, "perm", &count);
    if (!perm) return rank <= 1;
    for (size_t i = 0; i < count; i++) {
        if (perm[i] != (int64_t)i) return false;
    }
    return true;
}

/* A slice that keeps each dimension is the whole, unless it goes backwards. */
static bool goes_forward(const struct tn_rewrite *w, const struct tn_node *n)
{
    int64_t steps[TN_RANK];
    uint32_t count;
    if (n->in_count < 5 || n->in[4].value == TN_NET_NONE) return true;
    if (!tn_rewrite_numbers_of(w, n, 4, steps, TN_RANK, &count)) return false;
    for (uint32_t k = 0; k < count; k++) {
        if (steps[k] != 1) return false;
    }
    return true;
}

bool tn_patch_identity(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    double one;
    if (!only_output(n)) return false;
    const struct tn_type *x = tensor_type(w, n->in[0]), *y = tensor_type(w, (struct tn_ref_value){n->out[0], 0});
    bool same = same_type(x, y), passes = false;
    if (tn_is(n, "Identity")) passes = x && y;
    else if (tn_is(n, "Dropout")) passes = drops_nothing(w, n);
    else if (tn_is(n, "Cast") || tn_is(n, "CastLike")) passes = x && y && x->element == y->element;
    else if (tn_is(n, "Reshape") || tn_is(n, "Expand") || tn_is(n, "Flatten") || tn_is(n, "Squeeze") || tn_is(n, "Unsqueeze")) passes = same;
    else if (tn_is(n, "Transpose")) passes = same && keeps_order(n, x->shape.rank);
    else if (tn_is(n, "Slice")) passes = same && goes_forward(w, n);
    else if (tn_is(n, "Concat")) passes = n->in_count == 1;
    else if (tn_is(n, "Mul") || tn_is(n, "Div")) passes = same && tn_rewrite_number_of(w, n, 1, &one) && one == 1;
    return passes && tn_rewrite_pass(w, i);
}

/* ---- pairs -------------------------------------------------------------------------------------------------------- */

static bool turn_transpose(struct tn_rewrite *w, uint32_t i, const struct tn_node *first)
{
    struct tn_node *n = &w->net->nodes[i];
    size_t count, inner;
    const int64_t *outer_perm = tn_attr_ints(n, "perm", &count), *inner_perm = tn_attr_ints(first, "perm", &inner);
    if (!outer_perm || !inner_perm || count != inner || count > TN_RANK) return false;
    int64_t *perm = tn_arena_array(&w->model->arena, count + 1, sizeof(*perm));
    if (!perm) return false;
    for (size_t k = 0; k < count; k++) perm[k] = inner_perm[outer_perm[k] < 0 || outer_perm[k] >= (int64_t)count ? 0 : outer_perm[k]];
    struct tn_attr attr = {.name = TN_STR("perm"), .type = TN_ATTR_INTS, .count = count, .as = {.ints = perm}};
    return tn_rewrite_turn(w, i, &(struct tn_new_node){.type = "Transpose", .version = n->version, .in = first->in, .in_count = 1, .attrs = &attr, .attr_count = 1});
}

/* The last shape holds whatever came before, unless it copies dimensions of what it is given. */
static bool turn_reshape(struct tn_rewrite *w, uint32_t i, const struct tn_node *first)
{
    const struct tn_node *n = &w->net->nodes[i];
    int64_t shape[TN_RANK];
    uint32_t count;
    if (n->version < 5 || !tn_rewrite_numbers_of(w, n, 1, shape, TN_RANK, &count)) return false;
    for (uint32_t k = 0; k < count; k++) {
        if (shape[k] == 0) return false;
    }
    struct tn_ref_value in[2] = {first->in[0], n->in[1]};
    return tn_rewrite_turn(w, i, &(struct tn_new_node){.type = "Reshape", .version = n->version, .in = in, .in_count = 2, .attrs = n->attrs, .attr_count = n->attr_count});
}

/* To a type that holds every value of the first, and back. */
static bool undoes_cast(const struct tn_rewrite *w, const struct tn_node *n, const struct tn_node *first)
{
    const struct tn_type *x = tensor_type(w, first->in[0]), *middle = tensor_type(w, n->in[0]), *y = tensor_type(w, (struct tn_ref_value){n->out[0], 0});
    if (!x || !middle || !y || x->element != y->element) return false;
    switch (x->element) {
    case TN_EL_F16:
    case TN_EL_BF16: return middle->element == TN_EL_F32 || middle->element == TN_EL_F64;
    case TN_EL_F32: return middle->element == TN_EL_F64;
    case TN_EL_I32: return middle->element == TN_EL_I64 || middle->element == TN_EL_F64;
    case TN_EL_I8:
    case TN_EL_I16: return middle->element == TN_EL_I32 || middle->element == TN_EL_I64 || middle->element == TN_EL_F32;
    case TN_EL_U8: return middle->element == TN_EL_I32 || middle->element == TN_EL_I64 || middle->element == TN_EL_F32;
    case TN_EL_BOOL: return middle->element == TN_EL_F32 || tn_elements_have(TN_ELS_INT, middle->element);
    default: return false;
    }
}

bool tn_patch_pairs(struct tn_rewrite *w, uint32_t i)
{
    struct tn_node *n = &w->net->nodes[i];
    if (!only_output(n)) return false;
    struct tn_node *first = tn_rewrite_source(w, n, 0, 0);
    if (!first || !only_output(first) || first->in[0].level) return false;
    if (w->alias[first->in[0].value] != first->in[0].value) return false;
    if (tn_is(n, "Transpose") && tn_is(first, "Transpose")) return turn_transpose(w, i, first);
    if (tn_is(n, "Reshape") && (tn_is(first, "Reshape") || tn_is(first, "Flatten") || tn_is(first, "Squeeze") || tn_is(first, "Unsqueeze")))
        return turn_reshape(w, i, first);
    if (tn_is(n, "Cast") && tn_is(first, "Cast") && undoes_cast(w, n, first)) {
        return tn_rewrite_turn(w, i, &(struct tn_new_node){.type = "Identity", .version = 13, .in = first->in, .in_count = 1});
    }
    return false;
}
