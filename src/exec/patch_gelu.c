/*
 * GELU that is written out (Hendrycks and Gimpel 2016, arXiv 1606.08415), x / 2 (1 + erf(x / sqrt 2)), and its form by tanh.
 * Exporters multiply in every order and put the numbers anywhere, so products are looked at as numbers and factors.
 */
#include "exec/patch_kit.h"

#include <string.h>

enum { FACTORS = 8 };

struct product {
    double number; /* the factors that are numbers */
    struct tn_ref_value factor[FACTORS];
    uint32_t count;
    bool good;
};

static bool near(double a, double b)
{
    double d = a - b;
    return (d < 0 ? -d : d) <= 1e-4 * (b < 0 ? -b : b);
}

static bool same_value(struct tn_ref_value a, struct tn_ref_value b)
{
    return a.value == b.value && a.level == b.level && a.value != TN_NET_NONE;
}

static void take_factor(struct product *p, struct tn_ref_value ref, unsigned times)
{
    p->good = p->good && p->count + times <= FACTORS;
    for (unsigned i = 0; p->good && i < times; i++) p->factor[p->count++] = ref;
}

static void take_product(struct tn_rewrite *w, const struct tn_node *n, struct product *p, unsigned depth);

/* Operand k of n: a number, a product that only n reads, or a factor. */
static void take_operand(struct tn_rewrite *w, const struct tn_node *n, uint32_t k, struct product *p, unsigned depth)
{
    double number, power;
    if (tn_rewrite_number_of(w, n, k, &number)) {
        p->number *= number;
        return;
    }
    const struct tn_node *made = tn_rewrite_source(w, n, k, 1);
    bool new_rules = made && made->version >= 7 && depth < FACTORS;
    if (new_rules && (tn_is(made, "Mul") || (tn_is(made, "Div") && tn_rewrite_number_of(w, made, 1, &number) && number != 0))) {
        take_product(w, made, p, depth + 1);
    } else if (new_rules && tn_is(made, "Pow") && tn_rewrite_number_of(w, made, 1, &power) && (power == 2 || power == 3)) {
        take_factor(p, made->in[0], (unsigned)power);
    } else {
        take_factor(p, n->in[k], 1);
    }
}

/* n is a product, or a quotient by a number. */
static void take_product(struct tn_rewrite *w, const struct tn_node *n, struct product *p, unsigned depth)
{
    double number = 1;
    take_operand(w, n, 0, p, depth);
    if (!tn_is(n, "Div")) take_operand(w, n, 1, p, depth);
    else if (tn_rewrite_number_of(w, n, 1, &number) && number != 0) p->number /= number;
    else p->good = false;
}

static struct product operand_product(struct tn_rewrite *w, const struct tn_node *n, uint32_t k)
{
    struct product p = {.number = 1, .good = true};
    take_operand(w, n, k, &p, 0);
    return p;
}

/* n adds the number one: to what; TN_NET_NONE otherwise. */
static uint32_t beside_one(const struct tn_rewrite *w, const struct tn_node *n)
{
    double one;
    if (!tn_is(n, "Add") || n->version < 7) return TN_NET_NONE;
    for (uint32_t k = 0; k < 2; k++) {
        if (tn_rewrite_number_of(w, n, 1 - k, &one) && one == 1) return k;
    }
    return TN_NET_NONE;
}

static bool powers_of(const struct product *p, struct tn_ref_value x, uint32_t count, double number)
{
    bool good = p->good && p->count == count && near(p->number, number);
    for (uint32_t i = 0; good && i < count; i++) good = same_value(p->factor[i], x);
    return good;
}

static const double cubic = 0.044715, slope = 0.79788456080286536; /* sqrt(2 / pi) */

/* slope (x + cubic x^3), or slope x (1 + cubic x^2) */
static bool is_tanh_argument(struct tn_rewrite *w, const struct tn_node *tanh, struct tn_ref_value x)
{
    struct product p = operand_product(w, tanh, 0), q;
    if (!p.good || p.count == 0 || p.count > 2 || !near(p.number, slope)) return false;
    for (uint32_t i = 0; i < p.count; i++) {
        if (p.count == 2 && !same_value(p.factor[1 - i], x)) continue;
        if (p.factor[i].level || w->net->values[p.factor[i].value].producer == TN_NET_NONE) continue;
        const struct tn_node *sum = &w->net->nodes[w->net->values[p.factor[i].value].producer];
        uint32_t k = beside_one(w, sum);
        if (p.count == 2 && k != TN_NET_NONE) {
            q = operand_product(w, sum, k);
            if (powers_of(&q, x, 2, cubic)) return true;
        }
        for (k = 0; p.count == 1 && tn_is(sum, "Add") && sum->version >= 7 && k < 2; k++) {
            q = operand_product(w, sum, k);
            if (same_value(sum->in[1 - k], x) && powers_of(&q, x, 3, cubic)) return true;
        }
    }
    return false;
}

/* The factor is 1 + erf(x / sqrt 2) or 1 + tanh(...): *tanh tells which. */
static bool is_bell(struct tn_rewrite *w, struct tn_ref_value ref, struct tn_ref_value x, bool *by_tanh)
{
    if (ref.level || w->net->values[ref.value].producer == TN_NET_NONE || w->alias[ref.value] != ref.value) return false;
    const struct tn_node *sum = &w->net->nodes[w->net->values[ref.value].producer];
    uint32_t k = beside_one(w, sum);
    const struct tn_node *f = k == TN_NET_NONE ? NULL : tn_rewrite_source(w, sum, k, 0);
    *by_tanh = tn_is(f, "Tanh");
    if (*by_tanh) return is_tanh_argument(w, f, x);
    if (!tn_is(f, "Erf")) return false;
    struct product p = operand_product(w, f, 0);
    return powers_of(&p, x, 1, 0.70710678118654752);
}

static bool same_shape(const struct tn_rewrite *w, struct tn_ref_value a, uint32_t b)
{
    const struct tn_type *x = &tn_net_at(w->net, a)->type, *y = &w->net->values[b].type;
    bool same = x->kind == TN_KIND_TENSOR && x->element == y->element && x->shape.known && y->shape.known && x->shape.rank == y->shape.rank;
    for (uint32_t d = 0; same && d < x->shape.rank; d++) same = x->shape.dims[d] == y->shape.dims[d];
    return same;
}

bool tn_patch_gelu(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    struct product p = {.number = 1, .good = true};
    bool by_tanh;
    if ((!tn_is(n, "Mul") && !tn_is(n, "Div")) || n->version < 7 || n->in_count != 2) return false;
    take_product(w, n, &p, 0);
    if (!p.good || p.count != 2 || !near(p.number, 0.5)) return false;
    for (uint32_t k = 0; k < 2; k++) {
        struct tn_ref_value x = p.factor[k];
        if (x.value == TN_NET_NONE || !is_bell(w, p.factor[1 - k], x, &by_tanh) || !same_shape(w, x, n->out[0])) continue;
        if (!tn_elements_have(TN_ELS_FLOAT, tn_net_at(w->net, x)->type.element)) continue;
        struct tn_attr attr = {.name = TN_STR("approximate"), .type = TN_ATTR_STRING, .as = {.s = by_tanh ? TN_STR("tanh") : TN_STR("none")}};
        return tn_rewrite_turn(w, i, &(struct tn_new_node){.type = "Gelu", .version = 20, .in = &x, .in_count = 1, .attrs = &attr, .attr_count = 1});
    }
    return false;
}
