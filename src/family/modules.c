/*
 * The module chain of sentence-transformers as graph operators. The order is the package's; what cannot be expressed was
 * refused by the dialect. Activations arrive under the kernels' own names.
 */
#include "family/family.h"

#include <string.h>

static bool own_activation(struct tn_str name, enum tn_act *out)
{
    for (int act = 0; act < TN_ACTS; act++) {
        if (!tn_str_is(name, tn_act_name((enum tn_act)act))) continue;
        *out = (enum tn_act)act;
        return true;
    }
    return false;
}

/*
 * Roles go by a module's place among those that do something, because the weights' identity does; names of operators by
 * its place in the package's list, which is what other people count.
 */
static uint32_t module_weight(struct tn_graph *g, const struct tn_description *d, const struct tn_module *m, const char *format,
                              const struct tn_tensor_info *tensor)
{
    unsigned long long place = (unsigned long long)(m - d->modules);
    return tensor ? tn_graph_weight(g, tn_str_of(tn_graph_name(g, format, place)), tensor) : TN_NO_WEIGHT;
}

static uint32_t build_pooling(struct tn_graph *g, const struct tn_module *m, uint32_t x)
{
    struct tn_op_pool pool = {.modes = m->pooling_count};
    memcpy(pool.mode, m->pooling, sizeof(pool.mode));
    return tn_graph_pool(g, tn_graph_name(g, "module %llu pooling", m->index), x, &pool);
}

/* x R^T: the residual of a dense module whose widths differ. */
static uint32_t build_projection(struct tn_graph *g, const struct tn_description *d, const struct tn_module *m, uint32_t x)
{
    struct tn_op_linear linear = {
        .weight = {module_weight(g, d, m, "module.%llu.residual", m->residual_weight)},
        .bias = {TN_NO_WEIGHT},
        .parts = 1,
        .act = TN_ACT_IDENTITY,
    };
    return tn_graph_linear(g, tn_graph_name(g, "module %llu residual", m->index), x, TN_NO_VALUE, &linear);
}

static uint32_t build_dense(struct tn_graph *g, const struct tn_description *d, const struct tn_module *m, uint32_t x)
{
    struct tn_op_linear linear = {
        .weight = {module_weight(g, d, m, "module.%llu.weight", m->weight)},
        .bias = {module_weight(g, d, m, "module.%llu.bias", m->bias_tensor)},
        .parts = 1,
    };
    if (!own_activation(m->activation, &linear.act)) return TN_NO_VALUE;
    uint32_t residual = !m->residual ? TN_NO_VALUE : m->residual_weight ? build_projection(g, d, m, x) : x;
    return tn_graph_linear(g, tn_graph_name(g, "module %llu dense", m->index), x, residual, &linear);
}

static uint32_t build_norm(struct tn_graph *g, const struct tn_description *d, const struct tn_module *m, uint32_t x)
{
    struct tn_op_layer_norm norm = {
        module_weight(g, d, m, "module.%llu.weight", m->weight),
        module_weight(g, d, m, "module.%llu.bias", m->bias_tensor),
        m->eps,
    };
    return tn_graph_layer_norm(g, tn_graph_name(g, "module %llu layer norm", m->index), x, TN_NO_VALUE, &norm);
}

uint32_t tn_modules_build(struct tn_graph *g, const struct tn_description *d, uint32_t first, uint32_t end, uint32_t x)
{
    for (uint32_t i = first; i < end && i < d->module_count; i++) {
        const struct tn_module *m = &d->modules[i];
        switch (m->kind) {
        case TN_MODULE_TRANSFORMER: return TN_NO_VALUE; /* only the first module may be one */
        case TN_MODULE_POOLING: x = build_pooling(g, m, x); break;
        case TN_MODULE_DENSE: x = build_dense(g, d, m, x); break;
        case TN_MODULE_LAYER_NORM: x = build_norm(g, d, m, x); break;
        case TN_MODULE_SPLADE: x = tn_graph_linear_pool(g, tn_graph_name(g, "module %llu pooled vocabulary", m->index), x, m->sum, m->twice); break;
        case TN_MODULE_NORMALIZE: x = tn_graph_normalize(g, tn_graph_name(g, "module %llu normalize", m->index), x); break;
        }
    }
    return x;
}
