/*
 * Activations, biases and residuals behind products go into the product's node (ops/epilogue.h), and activations that are
 * written out become the operator that they are.
 */
#include "exec/patch_kit.h"
#include "ops/epilogue.h"

#include <math.h>
#include <string.h>

/* ---- written out -------------------------------------------------------------------------------------------------- */

static bool near(double a, double b)
{
    double d = a - b, scale = b < 0 ? -b : b;
    return (d < 0 ? -d : d) <= 1e-4 * scale;
}

/* Operand k of n is a constant of this value. */
static bool number_is(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k, double value)
{
    double found;
    return tn_rewrite_number_of(w, n, k, &found) && (value == 0 ? found == 0 : near(found, value));
}

/* n multiplies or adds a constant: which operand is the other one; TN_NET_NONE otherwise. */
static uint32_t beside(const struct tn_rewrite *w, const struct tn_node *n, const char *type, double value)
{
    if (!tn_is(n, type) || n->version < 7 || n->in_count != 2) return TN_NET_NONE;
    if (number_is(w, n, 1, value)) return 0;
    return number_is(w, n, 0, value) ? 1 : TN_NET_NONE;
}

static bool same_value(struct tn_ref_value a, struct tn_ref_value b)
{
    return a.value == b.value && a.level == b.level && a.value != TN_NET_NONE;
}

static bool clip_bounds(const struct tn_rewrite *w, const struct tn_node *n, double *low, double *high)
{
    *low = -INFINITY;
    *high = INFINITY;
    if (!tn_is(n, "Clip")) return false;
    if (n->version < 11) {
        *low = tn_attr_float(n, "min", -INFINITY);
        *high = tn_attr_float(n, "max", INFINITY);
        return true;
    }
    bool good = true;
    if (n->in_count > 1 && n->in[1].value != TN_NET_NONE) good = tn_rewrite_number_of(w, n, 1, low);
    if (n->in_count > 2 && n->in[2].value != TN_NET_NONE) good = good && tn_rewrite_number_of(w, n, 2, high);
    return good && *low <= *high;
}

/* clip(x + 3, 0, 6) */
static bool is_gate(struct tn_rewrite *w, const struct tn_node *n, struct tn_ref_value *x)
{
    double low, high;
    if (!n || !clip_bounds(w, n, &low, &high) || low != 0 || high != 6) return false;
    const struct tn_node *sum = tn_rewrite_source(w, n, 0, 1);
    uint32_t k = sum ? beside(w, sum, "Add", 3) : TN_NET_NONE;
    if (k == TN_NET_NONE) return false;
    *x = sum->in[k];
    return true;
}

/* clip(x + 3, 0, 6) / 6, or the operator with these numbers */
static bool is_hard_sigmoid(struct tn_rewrite *w, const struct tn_node *n, struct tn_ref_value *x)
{
    if (tn_is(n, "HardSigmoid")) {
        *x = n->in[0];
        return near(tn_attr_float(n, "alpha", 0.2), 1.0 / 6) && near(tn_attr_float(n, "beta", 0.5), 0.5);
    }
    uint32_t k = n ? beside(w, n, "Mul", 1.0 / 6) : TN_NET_NONE;
    if (tn_is(n, "Div") && n->version >= 7 && number_is(w, n, 1, 6)) k = 0;
    return k != TN_NET_NONE && is_gate(w, tn_rewrite_source(w, n, k, 1), x);
}

static bool same_shape(const struct tn_rewrite *w, struct tn_ref_value a, uint32_t b)
{
    const struct tn_shape *x = &tn_net_at(w->net, a)->type.shape, *y = &w->net->values[b].type.shape;
    bool same = x->known && y->known && x->rank == y->rank;
    for (uint32_t d = 0; same && d < x->rank; d++) same = x->dims[d] == y->dims[d];
    return same;
}

static bool turn_unary(struct tn_rewrite *w, uint32_t i, const char *type, int64_t version, struct tn_ref_value x)
{
    const struct tn_net_value *from = tn_net_at(w->net, x), *to = &w->net->values[w->net->nodes[i].out[0]];
    if (from->type.kind != TN_KIND_TENSOR || from->type.element != to->type.element) return false;
    if (!tn_elements_have(TN_ELS_FLOAT, from->type.element)) return false;
    return tn_rewrite_turn(w, i, &(struct tn_new_node){.type = type, .version = version, .in = &x, .in_count = 1});
}

/* x * g(x), with g by its node */
static bool gated(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    if (!tn_is(n, "Mul") || n->version < 7) return false;
    for (uint32_t k = 0; k < 2; k++) {
        const struct tn_node *g = tn_rewrite_source(w, n, 1 - k, 1);
        struct tn_ref_value x;
        if (!g) continue;
        if (tn_is(g, "Sigmoid") && same_value(g->in[0], n->in[k])) return turn_unary(w, i, "Swish", 24, n->in[k]);
        if (is_hard_sigmoid(w, g, &x) && same_value(x, n->in[k])) return turn_unary(w, i, "HardSwish", 14, x);
    }
    return false;
}

/* x * clip(x + 3, 0, 6), then / 6 */
static bool gated_late(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i], *m;
    uint32_t k = beside(w, n, "Mul", 1.0 / 6);
    if (tn_is(n, "Div") && n->version >= 7 && number_is(w, n, 1, 6)) k = 0;
    m = k == TN_NET_NONE ? NULL : tn_rewrite_source(w, n, k, 1);
    if (!tn_is(m, "Mul")) return false;
    for (k = 0; k < 2; k++) {
        struct tn_ref_value x;
        if (is_gate(w, tn_rewrite_source(w, m, 1 - k, 1), &x) && same_value(x, m->in[k])) return turn_unary(w, i, "HardSwish", 14, x);
    }
    return false;
}

/* a x + b with two numbers: one pass, the same roundings. Numbers with dimensions could widen the result. */
static bool line(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    double a = 0, b = 0;
    if (!tn_is(n, "Add") || n->version < 7 || n->in_count != 2 || w->net->values[n->out[0]].type.element != TN_EL_F32) return false;
    for (uint32_t k = 0; k < 2; k++) {
        const struct tn_node *m = tn_rewrite_source(w, n, k, 1);
        if (!tn_is(m, "Mul") || m->version < 7 || !tn_rewrite_number_of(w, n, 1 - k, &b)) continue;
        for (uint32_t j = 0; j < 2; j++) {
            if (!tn_rewrite_number_of(w, m, 1 - j, &a) || !same_shape(w, m->in[j], n->out[0])) continue;
            struct tn_attr attrs[2] = {{.name = TN_STR("alpha"), .type = TN_ATTR_FLOAT, .as = {.f = (float)a}},
                                       {.name = TN_STR("beta"), .type = TN_ATTR_FLOAT, .as = {.f = (float)b}}};
            struct tn_ref_value x = m->in[j];
            return tn_rewrite_turn(w, i, &(struct tn_new_node){.type = "Affine", .version = 1, .in = &x, .in_count = 1, .attrs = attrs, .attr_count = 2});
        }
    }
    return false;
}

bool tn_patch_written(struct tn_rewrite *w, uint32_t i)
{
    return line(w, i) || gated(w, i) || gated_late(w, i);
}

/* ---- into products ------------------------------------------------------------------------------------------------ */

static const struct tn_attr *folded(const struct tn_node *n, const char *name)
{
    return tn_node_attr(n, name);
}

static bool is_nibbles(const struct tn_node *n)
{
    return tn_str_is(n->type, "NibbleProduct") && tn_str_is(n->domain, "tenon");
}

/* A product that can take more work: its number, or TN_NET_NONE. */
static uint32_t product_behind(struct tn_rewrite *w, const struct tn_node *n, uint32_t k)
{
    const struct tn_node *p = tn_rewrite_source(w, n, k, 1);
    if (!p || p->op->lacks != tn_epilogue_lacks || folded(p, "tenon.activation") || folded(p, "tenon.line")) return TN_NET_NONE;
    if (!tn_is(p, "Conv") && !tn_is(p, "ConvTranspose") && !tn_is(p, "Gemm") && !tn_is(p, "MatMul") && !tn_is(p, "ConvInteger") &&
        !tn_is(p, "MatMulInteger") && !is_nibbles(p))
        return TN_NET_NONE;
    enum tn_element e = w->net->values[p->out[0]].type.element;
    return e == TN_EL_F32 || e == TN_EL_F16 || e == TN_EL_BF16 ? tn_rewrite_number(w, p) : TN_NET_NONE;
}

struct activation {
    const char *text;
    float params[2];
    bool with_params;
};

/* What node n applies to its operand 0, in the words of ops/epilogue.h. */
static bool activation_of(const struct tn_rewrite *w, const struct tn_node *n, struct activation *a)
{
    static const struct {
        const char *type, *text;
    } plain[] = {{"Relu", "relu"}, {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}, {"Mish", "mish"}, {"HardSwish", "hard_swish"}};
    double low, high;
    *a = (struct activation){.text = NULL};
    for (size_t k = 0; k < sizeof(plain) / sizeof(plain[0]); k++) {
        if (tn_is(n, plain[k].type)) a->text = plain[k].text;
    }
    if (tn_is(n, "Swish") && tn_attr_float(n, "alpha", 1) == 1) a->text = "silu";
    if (tn_is(n, "Gelu")) a->text = tn_str_is(tn_attr_text(n, "approximate"), "tanh") ? "gelu_tanh" : "gelu";
    if (clip_bounds(w, n, &low, &high)) *a = (struct activation){"clip", {(float)low, (float)high}, true};
    if (tn_is(n, "LeakyRelu")) *a = (struct activation){"leaky_relu", {(float)tn_attr_float(n, "alpha", 0.01), 0}, true};
    if (tn_is(n, "HardSigmoid"))
        *a = (struct activation){"hard_sigmoid", {(float)tn_attr_float(n, "alpha", 0.2), (float)tn_attr_float(n, "beta", 0.5)}, true};
    return a->text != NULL;
}

static bool fold_activation(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    struct activation a;
    if (n->in_count == 0 || !activation_of(w, n, &a)) return false;
    uint32_t p = product_behind(w, n, 0);
    if (p == TN_NET_NONE) return false;
    float *params = tn_arena_array(&w->model->arena, 2, sizeof(*params));
    if (!params) return false;
    memcpy(params, a.params, sizeof(a.params));
    struct tn_attr attrs[2] = {{.name = TN_STR("tenon.activation"), .type = TN_ATTR_STRING, .as = {.s = tn_str_of(a.text)}},
                               {.name = TN_STR("tenon.params"), .type = TN_ATTR_FLOATS, .count = 2, .as = {.floats = params}}};
    return tn_rewrite_extend(w, p, i, NULL, 0, attrs, a.with_params ? 2 : 1);
}

/* alpha x + beta behind a convolution and its activation. */
static bool fold_line(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i], *p = tn_is(n, "Affine") ? tn_rewrite_source(w, n, 0, 1) : NULL;
    if (!p || p->op->lacks != tn_epilogue_lacks || folded(p, "tenon.line") || (!tn_is(p, "Conv") && !tn_is(p, "ConvTranspose"))) return false;
    if (w->net->values[p->out[0]].type.element != TN_EL_F32) return false;
    float *line = tn_arena_array(&w->model->arena, 2, sizeof(*line));
    if (!line) return false;
    line[0] = (float)tn_attr_float(n, "alpha", 1);
    line[1] = (float)tn_attr_float(n, "beta", 0);
    struct tn_attr attr = {.name = TN_STR("tenon.line"), .type = TN_ATTR_FLOATS, .count = 2, .as = {.floats = line}};
    return tn_rewrite_extend(w, tn_rewrite_number(w, p), i, NULL, 0, &attr, 1);
}

static bool fold_operand(struct tn_rewrite *w, uint32_t p, uint32_t i, const char *name, struct tn_ref_value operand)
{
    const struct tn_node *n = &w->net->nodes[p];
    uint32_t at = n->schema && n->schema->in_count > n->in_count ? n->schema->in_count : n->in_count;
    struct tn_attr attr = {.name = tn_str_of(name), .type = TN_ATTR_INT, .as = {.i = at}};
    return tn_rewrite_extend(w, p, i, &operand, 1, &attr, 1);
}

/* A constant vector along the columns of a product. */
static bool fold_bias(struct tn_rewrite *w, uint32_t p, uint32_t i, uint32_t k)
{
    const struct tn_node *n = &w->net->nodes[i], *product = &w->net->nodes[p];
    const struct tn_shape *y = &w->net->values[n->out[0]].type.shape;
    bool matmul = tn_is(product, "MatMul"); /* the other kind states its columns */
    if ((!matmul && !is_nibbles(product)) || folded(product, "tenon.bias") || folded(product, "tenon.residual")) return false;
    if (!tn_rewrite_constant(w, n, k) || !tn_net_patch_on(w->model, "constants")) return false;
    const struct tn_type *t = &tn_rewrite_operand(w, n, k)->type;
    const struct tn_type *b = &tn_rewrite_operand(w, product, 1)->type;
    if (t->element != w->net->values[n->out[0]].type.element) return false;
    if (!t->shape.known || t->shape.rank == 0 || !y->known || t->shape.rank > y->rank) return false;
    if (matmul && (!b->shape.known || b->shape.rank < 2)) return false;
    if (tn_rewrite_operand(w, product, 0)->type.shape.rank < 2) return false;
    int64_t columns = t->shape.dims[t->shape.rank - 1];
    if (!tn_dim_known(columns) || columns != (matmul ? b->shape.dims[b->shape.rank - 1] : tn_attr_int(product, "N", 0))) return false;
    for (uint32_t d = 0; d + 1 < t->shape.rank; d++) {
        if (t->shape.dims[d] != 1) return false;
    }
    struct tn_ref_value bias = n->in[k];
    if (t->shape.rank > 1) {
        struct tn_ref_value in[2] = {bias, tn_rewrite_ints(w, &columns, 1)};
        bias = tn_rewrite_put(w, i, &(struct tn_new_node){.type = "Reshape", .version = 13, .in = in, .in_count = 2});
    }
    return bias.value != TN_NET_NONE && fold_operand(w, p, i, "tenon.bias", bias);
}

static bool fold_residual(struct tn_rewrite *w, uint32_t p, uint32_t i, uint32_t k)
{
    const struct tn_node *n = &w->net->nodes[i], *product = &w->net->nodes[p];
    const struct tn_type *y = &w->net->values[product->out[0]].type, *t = &tn_rewrite_operand(w, n, k)->type;
    if (folded(product, "tenon.residual") || t->kind != TN_KIND_TENSOR || t->element != y->element) return false;
    if (!t->shape.known || !y->shape.known || t->shape.rank != y->shape.rank || same_value(n->in[0], n->in[1])) return false;
    for (uint32_t d = 0; d < t->shape.rank; d++) {
        if (t->shape.dims[d] != y->shape.dims[d]) return false;
    }
    return fold_operand(w, p, i, "tenon.residual", n->in[k]);
}

static bool fold_sum(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    if (!tn_is(n, "Add") || n->version < 7 || n->in_count != 2) return false;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t p = product_behind(w, n, k);
        if (p != TN_NET_NONE && fold_bias(w, p, i, 1 - k)) return true;
    }
    for (uint32_t k = 2; k-- > 0;) { /* the later one of two products is usually the second operand */
        uint32_t p = product_behind(w, n, k);
        if (p != TN_NET_NONE && fold_residual(w, p, i, 1 - k)) return true;
    }
    return false;
}

bool tn_patch_activation(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    if (n->out_count == 0 || n->out[0] == TN_NET_NONE) return false;
    return fold_activation(w, i) || fold_line(w, i) || fold_sum(w, i);
}
