/*
 * onnx: a package that is one graph and carries its own computation. Recognised where the weights to use are an ONNX file;
 * beside safetensors that is only so when the caller names the graph. The description holds the graph's ports as facts of
 * its structure; whether its operators can be computed is a provider's to find out. A graph says nothing of what its
 * numbers mean, so nothing but the task `tensor` follows from it. The file is untrusted.
 */
#include "describe/dialect/dialect.h"

#include <stdio.h>

#define RULE "onnx.structure/1"

enum { PROPERTY_SHOWN = 512 };

static void state(struct tn_builder *b, struct tn_str pointer, struct tn_str value, bool descriptive, const char *name,
                  struct tn_str of)
{
    struct tn_str file = b->d->graph->file->path;
    if (of.n) tn_fact_of_text(b, TN_FROM_STRUCTURE, file, pointer, value, RULE, descriptive, "%s.%.*s", name, TN_FMT_ARG(of));
    else tn_fact_of_text(b, TN_FROM_STRUCTURE, file, pointer, value, RULE, descriptive, "%s", name);
}

static void state_number(struct tn_builder *b, const char *pointer, int64_t value, const char *name, struct tn_str of)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%lld", (long long)value);
    state(b, tn_str_of(pointer), (struct tn_str){text, (size_t)n}, false, name, of);
}

static void state_text(struct tn_builder *b, const char *pointer, struct tn_str value, const char *name)
{
    if (value.n) state(b, tn_str_of(pointer), tn_json_quoted(b, value), true, name, TN_STR(""));
}

static void state_ports(struct tn_builder *b, const char *name, const char *element, const struct tn_onnx_port *ports,
                        uint32_t count)
{
    char text[512], pointer[64];
    for (uint32_t i = 0; i < count && b->failed == TN_OK; i++) {
        snprintf(pointer, sizeof(pointer), "/graph/%s/%u", element, i);
        struct tn_str type = tn_str_of(tn_onnx_port_text(&ports[i], text, sizeof(text)));
        state(b, tn_str_of(pointer), tn_json_quoted(b, type), false, name, ports[i].name);
    }
}

/* What the exporter wrote beside the graph: licence, author, hints for a runtime. Long values stay in the file. */
static void state_properties(struct tn_builder *b, const struct tn_onnx_view *view)
{
    char text[64];
    for (uint32_t i = 0; i < view->property_count && b->failed == TN_OK; i++) {
        const struct tn_onnx_property *p = &view->properties[i];
        struct tn_str value = p->value;
        bool cut = p->cut || value.n > PROPERTY_SHOWN;
        if (cut) value = (struct tn_str){text, (size_t)snprintf(text, sizeof(text), "(%llu bytes)", (unsigned long long)p->bytes)};
        state(b, TN_STR("/metadata_props"), tn_json_quoted(b, value), true, "graph.property", p->key);
    }
}

static void state_facts(struct tn_builder *b, const struct tn_onnx_view *view)
{
    state(b, TN_STR(""), tn_json_quoted(b, view->file), true, "graph.file", TN_STR(""));
    if (view->has_ir_version) state_number(b, "/ir_version", view->ir_version, "graph.ir_version", TN_STR(""));
    for (uint32_t i = 0; i < view->opset_count; i++)
        state_number(b, "/opset_import", view->opsets[i].version, "graph.opset", view->opsets[i].domain);
    state_text(b, "/producer_name", view->producer_name, "graph.producer");
    state_text(b, "/producer_version", view->producer_version, "graph.producer_version");
    state_text(b, "/domain", view->domain, "graph.domain");
    if (view->model_version) state_number(b, "/model_version", view->model_version, "graph.model_version", TN_STR(""));
    state_properties(b, view);
    state_ports(b, "graph.input", "input", view->inputs, view->input_count);
    state_ports(b, "graph.output", "output", view->outputs, view->output_count);
}

/* Before IR version 4 constants had to stand among the inputs, too. */
static void list_inputs(struct tn_builder *b, struct tn_graph_facts *g)
{
    const struct tn_onnx_view *view = g->view;
    g->inputs = tn_builder_array(b, view->input_count, sizeof(*g->inputs));
    for (uint32_t i = 0; g->inputs && i < view->input_count; i++) {
        if (view->ir_version < 4 && view->inputs[i].initialised) continue;
        g->inputs[g->input_count++] = &view->inputs[i];
    }
}

struct tn_graph_facts *tn_describe_graph(struct tn_builder *b, const struct tn_package_file *file, bool check)
{
    struct tn_onnx_view *view;
    tn_error_clear(b->scratch);
    enum tn_status status = tn_inventory_onnx(b->inv, file, &view, b->scratch);
    if (status) {
        tn_builder_report(b, status);
        return NULL;
    }
    struct tn_graph_facts *g = tn_builder_array(b, 1, sizeof(*g));
    if (!g) {
        tn_onnx_view_free(view);
        return NULL;
    }
    g->file = file;
    g->view = view;
    b->d->graph = g;
    if (check) tn_onnx_check(view, b->inv, &b->d->findings);
    list_inputs(b, g);
    state_facts(b, view);
    return b->failed == TN_OK ? g : NULL;
}

static void describe(struct tn_builder *b)
{
    const struct tn_variant *variant = NULL;
    tn_error_clear(b->scratch);
    enum tn_status status = tn_inventory_variant(b->inv, b->options->variant, &variant, b->scratch);
    if (status) {
        tn_builder_report(b, status);
        return;
    }
    b->d->variant = variant;
    if (variant->file_count) (void)tn_describe_graph(b, &b->inv->files[variant->files[0]], true);
}

static bool recognises(const struct tn_builder *b)
{
    const struct tn_variant *variant = tn_describe_candidate(b);
    return variant && tn_str_is(variant->container, "onnx");
}

const struct tn_dialect tn_dialect_onnx = {"onnx", "1", recognises, describe, true};
