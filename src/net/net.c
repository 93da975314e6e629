/* Models and graphs as such, wherever they come from; see the header. */
#include "net/net.h"

#include <string.h>

struct tn_model *tn_model_new(const struct tn_context *ctx)
{
    struct tn_model *model = tn_calloc(ctx->alloc, 1, sizeof(*model));
    if (!model) return NULL;
    model->ctx = ctx;
    tn_arena_init(&model->arena, ctx->alloc);
    tn_symbols_init(&model->symbols, &model->arena);
    model->main = tn_arena_alloc(&model->arena, sizeof(*model->main));
    if (!model->main) {
        tn_model_free(model);
        return NULL;
    }
    *model->main = (struct tn_net){.model = model, .name = TN_STR("")};
    return model;
}

void tn_model_free(struct tn_model *model)
{
    if (!model) return;
    if (!model->view_lent) tn_onnx_view_free(model->view);
    tn_onnx_view_free(model->read);
    tn_arena_release(&model->arena);
    tn_free(model->ctx->alloc, model);
}

void tn_model_lend(const struct tn_model *from, const struct tn_context *ctx, const struct tn_source *source, struct tn_model *out)
{
    *out = *from;
    out->ctx = ctx;
    out->source = source ? *source : (struct tn_source){.size = 0};
    tn_arena_init(&out->arena, ctx->alloc);
    out->symbols.arena = NULL; /* nothing is added any more */
}

void tn_model_give_back(struct tn_model *lent)
{
    tn_arena_release(&lent->arena);
    *lent = (struct tn_model){.ctx = NULL};
}

struct tn_str tn_model_file(const struct tn_model *model)
{
    return model->view ? model->view->file : TN_STR("");
}

uint32_t tn_net_add_value(struct tn_net *net, struct tn_str name)
{
    if (net->value_count == net->value_cap) {
        uint32_t cap = net->value_cap ? net->value_cap * 2 : 16;
        struct tn_net_value *values = cap ? tn_arena_array(&net->model->arena, cap, sizeof(*values)) : NULL;
        if (!values) {
            net->model->failed = TN_INSUFFICIENT_MEMORY;
            return TN_NET_NONE;
        }
        if (net->value_count) memcpy(values, net->values, net->value_count * sizeof(*values));
        net->values = values;
        net->value_cap = cap;
    }
    net->values[net->value_count] = (struct tn_net_value){.name = name, .producer = TN_NET_NONE};
    return net->value_count++;
}

struct tn_node *tn_net_add_node(struct tn_net *net)
{
    if (net->node_count == net->node_cap) {
        uint32_t cap = net->node_cap ? net->node_cap * 2 : 16;
        struct tn_node *nodes = cap ? tn_arena_array(&net->model->arena, cap, sizeof(*nodes)) : NULL;
        if (!nodes) {
            net->model->failed = TN_INSUFFICIENT_MEMORY;
            return NULL;
        }
        if (net->node_count) memcpy(nodes, net->nodes, net->node_count * sizeof(*nodes));
        net->nodes = nodes;
        net->node_cap = cap;
    }
    return &net->nodes[net->node_count++];
}

struct tn_net_value *tn_net_at(const struct tn_net *net, struct tn_ref_value ref)
{
    if (ref.value == TN_NET_NONE) return NULL;
    for (uint32_t i = 0; i < ref.level; i++) net = net->around;
    return &net->values[ref.value];
}

const struct tn_attr *tn_node_attr(const struct tn_node *node, const char *name)
{
    for (uint32_t i = 0; i < node->attr_count; i++) {
        if (tn_str_is(node->attrs[i].name, name)) return &node->attrs[i];
    }
    return NULL;
}
