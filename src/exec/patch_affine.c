/*
 * What multiplies and shifts a product of weights by constants goes into the weights and the bias:
 * s (w x + b) + t = (s w) x + (s b + t). In float32 and float64; roundings differ, values do not.
 */
#include "exec/patch_kit.h"

#include <string.h>

/* A product with constant weights, whose channels lie along one axis of its result and of its weights. */
struct product {
    const struct tn_node *node; /* moves when nodes are put: read it before */
    struct tn_node copy;
    enum tn_element element;
    uint32_t rank;        /* of the result */
    uint32_t axis;        /* of its channels */
    uint32_t weight_rank, weight_axis;
    int64_t channels;
    bool bias;            /* operand 2 is there */
};

static bool has_epilogue(const struct tn_node *n)
{
    for (uint32_t k = 0; k < n->attr_count; k++) {
        if (n->attrs[k].name.n > 6 && memcmp(n->attrs[k].name.s, "tenon.", 6) == 0) return true;
    }
    return false;
}

static bool read_product(struct tn_rewrite *w, const struct tn_node *n, uint32_t k, struct product *p)
{
    struct tn_node *made = tn_rewrite_source(w, n, k, 1);
    if (!made || has_epilogue(made)) return false;
    bool conv = tn_is(made, "Conv"), up = tn_is(made, "ConvTranspose"), gemm = tn_is(made, "Gemm"), matmul = tn_is(made, "MatMul");
    if (!(conv || up || gemm || matmul) || !tn_rewrite_constant(w, made, 1)) return false;
    const struct tn_type *y = &w->net->values[made->out[0]].type, *weights = &tn_rewrite_operand(w, made, 1)->type;
    if ((y->element != TN_EL_F32 && y->element != TN_EL_F64) || weights->element != y->element || !y->shape.known || !weights->shape.known) return false;
    *p = (struct product){.node = made, .copy = *made, .element = y->element, .rank = y->shape.rank, .weight_rank = weights->shape.rank};
    if ((conv || up) && (p->rank < 3 || p->weight_rank != p->rank)) return false;
    if ((matmul || gemm) && (p->weight_rank != 2 || p->rank < 2)) return false;
    if (up && tn_attr_int(made, "group", 1) != 1) return false;
    p->axis = conv || up ? 1 : p->rank - 1;
    p->weight_axis = conv ? 0 : up ? 1 : gemm && tn_attr_int(made, "transB", 0) ? 0 : 1;
    p->channels = weights->shape.dims[p->weight_axis];
    p->bias = made->in_count > 2 && made->in[2].value != TN_NET_NONE;
    if (p->bias && !tn_rewrite_constant(w, made, 2)) return false;
    return tn_dim_known(p->channels) && (!gemm || tn_attr_float(made, "beta", 1) == 1);
}

/* Whether a constant changes from channel to channel at most; *one: it is one number. */
static bool by_channel(struct tn_rewrite *w, const struct tn_node *n, uint32_t k, const struct product *p, bool *one)
{
    if (!tn_rewrite_constant(w, n, k)) return false;
    const struct tn_type *t = &tn_rewrite_operand(w, n, k)->type;
    if (t->kind != TN_KIND_TENSOR || t->element != p->element || !t->shape.known || t->shape.rank > p->rank) return false;
    *one = true;
    for (uint32_t i = 0; i < t->shape.rank; i++) {
        tn_dim_t d = t->shape.dims[i];
        if (d == 1) continue;
        if (i + p->rank - t->shape.rank != p->axis || d != p->channels) return false;
        *one = false;
    }
    return true;
}

static struct tn_ref_value put(struct tn_rewrite *w, uint32_t i, const char *type, struct tn_ref_value a, struct tn_ref_value b)
{
    struct tn_ref_value in[2] = {a, b};
    uint32_t count = b.value == TN_NET_NONE ? 1 : 2;
    if (a.value == TN_NET_NONE) return a;
    return tn_rewrite_put(w, i, &(struct tn_new_node){.type = type, .version = 13, .in = in, .in_count = count});
}

/* The vector along the weights' axis: [channels, 1, 1] or [1, channels]; or along the last: [channels]. */
static struct tn_ref_value lay(struct tn_rewrite *w, uint32_t i, struct tn_ref_value x, int64_t channels, uint32_t rank, uint32_t axis)
{
    int64_t dims[TN_RANK];
    for (uint32_t k = 0; k < rank; k++) dims[k] = k == axis ? channels : 1;
    return put(w, i, "Reshape", x, tn_rewrite_ints(w, dims, rank));
}

static const struct tn_ref_value nothing = {TN_NET_NONE, 0};

/* The product with other weights and bias takes the place of node i. */
static bool finish(struct tn_rewrite *w, uint32_t i, const struct product *p, struct tn_ref_value weights, struct tn_ref_value bias, bool with_bias)
{
    struct tn_ref_value in[3] = {p->copy.in[0], weights, bias};
    if (weights.value == TN_NET_NONE || (with_bias && bias.value == TN_NET_NONE)) return false;
    const char *type = tn_is(&p->copy, "Conv") ? "Conv" : tn_is(&p->copy, "ConvTranspose") ? "ConvTranspose" : tn_is(&p->copy, "Gemm") ? "Gemm" : "MatMul";
    return tn_rewrite_turn(w, i, &(struct tn_new_node){.type = type, .version = p->copy.version, .in = in, .in_count = with_bias ? 3 : 2,
                                                       .attrs = p->copy.attrs, .attr_count = p->copy.attr_count});
}

/* Factor s and addend t, each [channels] or absent. */
static bool fold(struct tn_rewrite *w, uint32_t i, const struct product *p, const char *how, struct tn_ref_value s, struct tn_ref_value t)
{
    struct tn_ref_value weights = p->copy.in[1], bias = p->bias ? p->copy.in[2] : nothing;
    if (s.value != TN_NET_NONE) {
        weights = put(w, i, how, weights, lay(w, i, s, p->channels, p->weight_rank, p->weight_axis));
        if (p->bias) bias = put(w, i, how, bias, s);
    }
    if (t.value != TN_NET_NONE) bias = p->bias ? put(w, i, "Add", bias, t) : t;
    return finish(w, i, p, weights, bias, p->bias || t.value != TN_NET_NONE);
}

static struct tn_ref_value vector_of(struct tn_rewrite *w, uint32_t i, struct tn_ref_value x, const struct product *p, bool one)
{
    if (!one) return lay(w, i, x, p->channels, 1, 0);
    struct tn_ref_value flat = lay(w, i, x, 1, 1, 0);
    return flat.value == TN_NET_NONE ? flat : put(w, i, "Expand", flat, tn_rewrite_ints(w, &p->channels, 1));
}

/* y = scale (x - mean) / sqrt(var + epsilon) + B */
static bool fold_normalisation(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    struct product p;
    if (n->version < 7 || n->in_count != 5 || !read_product(w, n, 0, &p) || p.axis != 1 || tn_is(&p.copy, "MatMul")) return false;
    if (tn_attr_int(n, "training_mode", 0) || !tn_attr_int(n, "spatial", 1)) return false;
    for (uint32_t k = 1; k < 5; k++) {
        const struct tn_net_value *v = tn_rewrite_operand(w, n, k);
        if (!tn_rewrite_constant(w, n, k) || v->type.element != p.element || !v->type.shape.known || v->type.shape.rank != 1) return false;
        if (v->type.shape.dims[0] != p.channels) return false;
    }
    for (uint32_t k = 1; k < n->out_count; k++) {
        if (n->out[k] != TN_NET_NONE) return false;
    }
    struct tn_ref_value scale = n->in[1], b = n->in[2], mean = n->in[3], var = n->in[4];
    struct tn_ref_value eps = tn_rewrite_real(w, p.element, tn_attr_float(n, "epsilon", 1e-5));
    struct tn_ref_value s = put(w, i, "Div", scale, put(w, i, "Sqrt", put(w, i, "Add", var, eps), nothing));
    struct tn_ref_value t = put(w, i, "Sub", b, put(w, i, "Mul", mean, s));
    return s.value != TN_NET_NONE && t.value != TN_NET_NONE && fold(w, i, &p, "Mul", s, t);
}

static bool fold_factor(struct tn_rewrite *w, uint32_t i, const char *how)
{
    const struct tn_node *n = &w->net->nodes[i];
    struct product p;
    bool one;
    for (uint32_t k = 0; k < (strcmp(how, "Mul") == 0 ? 2u : 1u); k++) {
        if (!read_product(w, n, k, &p) || !by_channel(w, n, 1 - k, &p, &one)) continue;
        if (p.bias && tn_is(&p.copy, "Gemm") && tn_rewrite_operand(w, &p.copy, 2)->type.shape.rank != 1) continue;
        struct tn_ref_value s = vector_of(w, i, n->in[1 - k], &p, one);
        return s.value != TN_NET_NONE && fold(w, i, &p, how, s, nothing);
    }
    return false;
}

static bool fold_addend(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    struct product p;
    bool one;
    for (uint32_t k = 0; k < 2; k++) {
        if (!read_product(w, n, k, &p) || tn_is(&p.copy, "MatMul") || !by_channel(w, n, 1 - k, &p, &one)) continue;
        if (p.bias && tn_is(&p.copy, "Gemm") && tn_rewrite_operand(w, &p.copy, 2)->type.shape.rank != 1) continue;
        struct tn_ref_value t = vector_of(w, i, n->in[1 - k], &p, one);
        return t.value != TN_NET_NONE && fold(w, i, &p, "Add", nothing, t);
    }
    return false;
}

bool tn_patch_affine(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    if (!tn_net_patch_on(w->model, "constants")) return false; /* it would be computed in each call */
    if (tn_is(n, "BatchNormalization")) return fold_normalisation(w, i);
    /* In the first versions broadcasting is stated by attributes. */
    if (n->version < 7 || n->in_count != 2) return false;
    if (tn_is(n, "Mul")) return fold_factor(w, i, "Mul");
    if (tn_is(n, "Div")) return fold_factor(w, i, "Div");
    return tn_is(n, "Add") && fold_addend(w, i);
}
