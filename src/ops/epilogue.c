/* Reading and applying what patches fold into products; see the header. Operands are hostile as far as shapes go. */
#include "ops/epilogue.h"

#include <math.h>

static const struct {
    const char *text;
    float a, b;
} kinds[TN_FINISHES] = {
#define X(name, text, low, high) [TN_FINISH_##name] = {text, low, high},
    TN_FINISH_LIST(X)
#undef X
};

static bool find_kind(struct tn_str name, struct tn_after *out)
{
    for (unsigned i = 0; i < TN_FINISH_ACT; i++) {
        out->kind = (enum tn_finish)i;
        out->a = kinds[i].a;
        out->b = kinds[i].b;
        if (tn_str_is(name, kinds[i].text)) return true;
    }
    out->kind = TN_FINISH_ACT;
    for (unsigned i = 0; i < TN_ACTS; i++) {
        out->act = (enum tn_act)i;
        if (tn_str_is(name, tn_act_name(out->act))) return true;
    }
    return false;
}

static uint32_t operand_index(const struct tn_node *node, int64_t i)
{
    return i >= 0 && i < (int64_t)node->in_count ? (uint32_t)i : TN_NET_NONE;
}

static uint32_t stated_operand(const struct tn_node *node, const char *name)
{
    const struct tn_attr *a = tn_node_attr(node, name);
    return a && a->type == TN_ATTR_INT ? operand_index(node, a->as.i) : TN_NET_NONE;
}

bool tn_epilogue_read(const struct tn_node *node, struct tn_epilogue *out)
{
    *out = (struct tn_epilogue){.bias = TN_NET_NONE, .residual = TN_NET_NONE, .scale = {TN_NET_NONE, TN_NET_NONE}};
    const struct tn_attr *name = tn_node_attr(node, "tenon.activation"), *params = tn_node_attr(node, "tenon.params");
    const struct tn_attr *scales = tn_node_attr(node, "tenon.scales"), *line = tn_node_attr(node, "tenon.line");
    if (name && !find_kind(name->as.s, &out->after)) return false;
    if (params && params->count > 0) out->after.a = params->as.floats[0];
    if (params && params->count > 1) out->after.b = params->as.floats[1];
    if (line && line->count == 2) {
        out->after.line = true;
        out->after.scale = line->as.floats[0];
        out->after.shift = line->as.floats[1];
    }
    for (size_t i = 0; scales && i < scales->count && i < 2; i++) out->scale[i] = operand_index(node, scales->as.ints[i]);
    out->bias = stated_operand(node, "tenon.bias");
    out->residual = stated_operand(node, "tenon.residual");
    out->any = out->after.kind != TN_FINISH_NONE || out->after.line || out->bias != TN_NET_NONE || out->residual != TN_NET_NONE;
    return true;
}

const char *tn_epilogue_lacks(const struct tn_node *node)
{
    struct tn_epilogue e;
    return tn_epilogue_read(node, &e) ? NULL : "a folded activation of the list in ops/epilogue.h";
}

static bool check_vector(struct tn_run *r, uint32_t i, uint64_t lines, bool one)
{
    if (i == TN_NET_NONE) return true;
    const struct tn_tensor *t = r->in[i];
    if (t && (t->count == lines || (one && t->count == 1))) return true;
    return tn_run_refuse(r, "a folded operand with a number for each map or column", "operand %u with %llu", i, t ? (unsigned long long)t->count : 0ULL);
}

bool tn_epilogue_check(struct tn_run *r, const struct tn_epilogue *e, uint64_t lines)
{
    const struct tn_tensor *y = r->out[0], *z = e->residual == TN_NET_NONE ? NULL : r->in[e->residual];
    bool fits = e->residual == TN_NET_NONE || (z && z->element == y->element && z->rank == y->rank && z->count == y->count);
    for (uint32_t i = 0; fits && z && i < y->rank; i++) fits = z->dims[i] == y->dims[i];
    if (!fits) return tn_run_refuse(r, "a folded addend of the result's type and shape", "another one");
    if (e->any && y->element != TN_EL_F32 && y->element != TN_EL_F16 && y->element != TN_EL_BF16)
        return tn_run_refuse(r, "float32 or half precision where something is folded in", "another type");
    for (unsigned i = 0; i < 2; i++) {
        if (e->scale[i] != TN_NET_NONE && (!r->in[e->scale[i]] || r->in[e->scale[i]]->element != TN_EL_F32))
            return tn_run_refuse(r, "folded scales of float32", "operand %u", e->scale[i]);
    }
    return check_vector(r, e->bias, lines, false) && check_vector(r, e->scale[0], lines, true) && check_vector(r, e->scale[1], lines, true);
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

static void add_row(float *y, size_t n, float bias, const float *column_bias, const float *residual)
{
    if (column_bias) {
        for (size_t i = 0; i < n; i++) y[i] += column_bias[i];
    }
    if (bias != 0) {
        for (size_t i = 0; i < n; i++) y[i] += bias;
    }
    if (residual) {
        for (size_t i = 0; i < n; i++) y[i] += residual[i];
    }
}

/* Comparisons are written so that NaN stays. */
static void activate_row(const struct tn_after *e, float *y, size_t n)
{
    const float a = e->a, b = e->b;
    switch (e->kind) {
    case TN_FINISH_CLIP:
        for (size_t i = 0; i < n; i++) {
            float v = y[i] < a ? a : y[i];
            y[i] = v > b ? b : v;
        }
        break;
    case TN_FINISH_LEAKY_RELU:
        for (size_t i = 0; i < n; i++) y[i] = y[i] < 0 ? a * y[i] : y[i];
        break;
    case TN_FINISH_HARD_SIGMOID:
        for (size_t i = 0; i < n; i++) {
            float v = a * y[i] + b;
            v = v < 0 ? 0 : v;
            y[i] = v > 1 ? 1 : v;
        }
        break;
    case TN_FINISH_HARD_SWISH:
        for (size_t i = 0; i < n; i++) {
            float v = a * y[i] + b;
            v = v < 0 ? 0 : v;
            y[i] *= v > 1 ? 1 : v;
        }
        break;
    default: break;
    }
}

void tn_finish_rows(const struct tn_finish_args *a)
{
    for (size_t i = 0; i < a->rows; i++) {
        float *y = a->y + i * a->y_stride;
        add_row(y, a->width, a->row_bias ? a->row_bias[i] : 0, a->column_bias, a->residual ? a->residual + i * a->residual_stride : NULL);
        activate_row(&a->e->after, y, a->width);
    }
    const struct tn_after *f = &a->e->after;
    if (f->kind == TN_FINISH_ACT) a->kernels->activate(f->act, a->y, a->y_stride, a->rows, a->width, 0, 1);
    for (size_t i = 0; f->line && i < a->rows; i++) {
        float *y = a->y + i * a->y_stride;
        for (size_t k = 0; k < a->width; k++) y[k] = f->scale * y[k] + f->shift;
    }
}
