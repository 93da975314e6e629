/* Graphs as JSON and in the language of Graphviz; see the header. Names come from files and are escaped. */
#include "net/write.h"

#include <stdio.h>

/* ---- JSON --------------------------------------------------------------------------------------------------------- */

static void write_net(struct tn_json_writer *w, const struct tn_net *net, unsigned depth);

static void write_type(struct tn_json_writer *w, const char *key, const struct tn_model *model, const struct tn_type *type)
{
    char text[512];
    tn_jw_member_cstr(w, key, tn_type_text(model, type, text, sizeof(text)));
}

static void write_constant(struct tn_json_writer *w, const struct tn_model *model, const struct tn_constant *c)
{
    struct tn_type type = {.kind = TN_KIND_TENSOR, .element = c->element, .shape = {.known = true, .rank = c->rank}};
    for (uint32_t i = 0; i < c->rank; i++) type.shape.dims[i] = c->dims[i];
    write_type(w, "type", model, &type);
    tn_jw_member_u64(w, "bytes", c->bytes);
}

static void write_value_name(struct tn_json_writer *w, const struct tn_net *net, struct tn_ref_value ref)
{
    const struct tn_net_value *v = tn_net_at(net, ref);
    if (v) tn_jw_str(w, v->name);
    else tn_jw_null(w);
}

static void write_attr_value(struct tn_json_writer *w, const struct tn_model *model, const struct tn_attr *a, size_t i, unsigned depth)
{
    switch (a->type) {
    case TN_ATTR_FLOAT: tn_jw_f32(w, a->as.f); return;
    case TN_ATTR_INT: tn_jw_i64(w, a->as.i); return;
    case TN_ATTR_STRING: tn_jw_str(w, a->as.s); return;
    case TN_ATTR_FLOATS: tn_jw_f32(w, a->as.floats[i]); return;
    case TN_ATTR_INTS: tn_jw_i64(w, a->as.ints[i]); return;
    case TN_ATTR_STRINGS: tn_jw_str(w, a->as.strings[i]); return;
    case TN_ATTR_TENSOR:
    case TN_ATTR_TENSORS:
    case TN_ATTR_SPARSE_TENSOR:
    case TN_ATTR_SPARSE_TENSORS:
        tn_jw_begin_object(w);
        write_constant(w, model, &a->as.tensors[i]);
        tn_jw_end_object(w);
        return;
    case TN_ATTR_GRAPH:
    case TN_ATTR_GRAPHS: write_net(w, a->as.graphs[i], depth + 1); return;
    case TN_ATTR_TYPE:
    case TN_ATTR_TYPES:
        tn_jw_begin_object(w);
        write_type(w, "type", model, &a->as.types[i]);
        tn_jw_end_object(w);
        return;
    case TN_ATTR_UNDEFINED:
    case TN_ATTR_COUNT: break;
    }
    tn_jw_null(w);
}

static bool is_list(enum tn_attr_type type)
{
    return type == TN_ATTR_FLOATS || type == TN_ATTR_INTS || type == TN_ATTR_STRINGS || type == TN_ATTR_TENSORS ||
           type == TN_ATTR_GRAPHS || type == TN_ATTR_SPARSE_TENSORS || type == TN_ATTR_TYPES;
}

static void write_attributes(struct tn_json_writer *w, const struct tn_net *net, const struct tn_node *n, unsigned depth)
{
    tn_jw_key(w, "attributes");
    tn_jw_begin_object(w);
    for (uint32_t i = 0; i < n->attr_count; i++) {
        const struct tn_attr *a = &n->attrs[i];
        tn_jw_key_str(w, a->name);
        if (is_list(a->type)) tn_jw_begin_array(w);
        for (size_t k = 0; k < (is_list(a->type) ? a->count : 1); k++) write_attr_value(w, net->model, a, k, depth);
        if (is_list(a->type)) tn_jw_end_array(w);
    }
    tn_jw_end_object(w);
}

static void write_node(struct tn_json_writer *w, const struct tn_net *net, const struct tn_node *n, unsigned depth)
{
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "name", n->name);
    tn_jw_member_str(w, "domain", n->domain);
    tn_jw_member_str(w, "operator", n->type);
    tn_jw_key(w, "version");
    tn_jw_i64(w, n->version);
    tn_jw_key(w, "inputs");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < n->in_count; i++) write_value_name(w, net, n->in[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "outputs");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < n->out_count; i++) write_value_name(w, net, (struct tn_ref_value){n->out[i], 0});
    tn_jw_end_array(w);
    write_attributes(w, net, n, depth);
    tn_jw_end_object(w);
}

void tn_net_write_nodes(struct tn_json_writer *w, const struct tn_net *net)
{
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        char text[512];
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "op", n->type);
        tn_jw_member_str(w, "name", n->name);
        if (n->layer) tn_jw_member_u64(w, "layer", n->layer - 1);
        tn_jw_key(w, "inputs");
        tn_jw_begin_array(w);
        for (uint32_t k = 0; k < n->in_count; k++) write_value_name(w, net, n->in[k]);
        tn_jw_end_array(w);
        tn_jw_key(w, "types");
        tn_jw_begin_array(w);
        for (uint32_t k = 0; k < n->out_count; k++) {
            if (n->out[k] != TN_NET_NONE) tn_jw_cstr(w, tn_type_text(net->model, &net->values[n->out[k]].type, text, sizeof(text)));
        }
        tn_jw_end_array(w);
        write_attributes(w, net, n, 0);
        tn_jw_end_object(w);
    }
}

static void write_values(struct tn_json_writer *w, const struct tn_net *net)
{
    tn_jw_key(w, "values");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < net->value_count; i++) {
        const struct tn_net_value *v = &net->values[i];
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "name", v->name);
        if (v->constant) write_constant(w, net->model, v->constant);
        else write_type(w, "type", net->model, &v->type);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

/* Four levels of the writer for each graph inside a graph; deeper ones than fit are named and left out. */
static void write_net(struct tn_json_writer *w, const struct tn_net *net, unsigned depth)
{
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "name", net->name);
    if (w->depth + 6 > TN_JW_DEPTH) {
        tn_jw_member_u64(w, "left_out", net->node_count);
        tn_jw_end_object(w);
        return;
    }
    tn_jw_key(w, "inputs");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < net->input_count; i++) tn_jw_str(w, net->values[net->inputs[i]].name);
    tn_jw_end_array(w);
    tn_jw_key(w, "outputs");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < net->output_count; i++) write_value_name(w, net, net->results[i]);
    tn_jw_end_array(w);
    write_values(w, net);
    tn_jw_key(w, "nodes");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < net->node_count; i++) write_node(w, net, &net->nodes[i], depth);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}

void tn_net_write(struct tn_json_writer *w, const struct tn_model *model, tn_write_patches *patches)
{
    const struct tn_onnx_view *view = model->view;
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "file", view->file);
    tn_jw_key(w, "ir_version");
    tn_jw_i64(w, view->ir_version);
    tn_jw_key(w, "opsets");
    tn_jw_begin_object(w);
    for (uint32_t i = 0; i < view->opset_count; i++) {
        tn_jw_key_str(w, view->opsets[i].domain);
        tn_jw_i64(w, view->opsets[i].version);
    }
    tn_jw_end_object(w);
    tn_jw_member_bool(w, "optimized", patches != NULL);
    if (patches) {
        tn_jw_key(w, "patches");
        patches(model, w);
    }
    tn_jw_key(w, "graph");
    write_net(w, model->main, 0);
    tn_jw_end_object(w);
}

/* ---- Graphviz ----------------------------------------------------------------------------------------------------- */

/* Inside a quoted label. */
static void put_text(struct tn_buf *out, struct tn_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] == '"' || s.s[i] == '\\') tn_buf_putc(out, '\\');
        tn_buf_putc(out, (unsigned char)s.s[i] < 32 ? ' ' : s.s[i]);
    }
}

static void put_type(struct tn_buf *out, const struct tn_model *model, const struct tn_type *type)
{
    char text[512];
    tn_type_text(model, type, text, sizeof(text));
    put_text(out, tn_str_of(text));
}

/* Where an edge begins: a node, an input, or a constant. */
static void put_source(struct tn_buf *out, const struct tn_net *net, uint32_t value)
{
    const struct tn_net_value *v = &net->values[value];
    if (v->producer == TN_NET_NONE) tn_buf_printf(out, "v%u", value);
    else tn_buf_printf(out, "n%u", v->producer);
}

static bool is_input(const struct tn_net *net, uint32_t value)
{
    for (uint32_t i = 0; i < net->input_count; i++)
        if (net->inputs[i] == value) return true;
    return false;
}

static void put_edges(struct tn_buf *out, const struct tn_net *net, uint32_t node)
{
    const struct tn_node *n = &net->nodes[node];
    for (uint32_t k = 0; k < n->in_count; k++) {
        uint32_t value = n->in[k].value;
        if (value == TN_NET_NONE || n->in[k].level) continue;
        const struct tn_net_value *v = &net->values[value];
        if (v->producer == TN_NET_NONE && !is_input(net, value)) continue; /* a constant */
        tn_buf_puts(out, "  ");
        put_source(out, net, value);
        tn_buf_printf(out, " -> n%u [label=\"", node);
        put_text(out, v->name);
        tn_buf_puts(out, "\\n");
        put_type(out, net->model, &v->type);
        tn_buf_puts(out, "\"];\n");
    }
}

static void put_port(struct tn_buf *out, const char *prefix, uint32_t number, struct tn_str name, const struct tn_model *model,
                     const struct tn_type *type)
{
    tn_buf_printf(out, "  %s%u [shape=ellipse, label=\"", prefix, number);
    put_text(out, name);
    tn_buf_puts(out, "\\n");
    if (type) put_type(out, model, type);
    tn_buf_puts(out, "\"];\n");
}

void tn_net_write_dot(struct tn_buf *out, const struct tn_model *model)
{
    const struct tn_net *net = model->main;
    tn_buf_puts(out, "digraph \"");
    put_text(out, model->view->file);
    tn_buf_puts(out, "\" {\n  node [shape=box];\n");
    for (uint32_t i = 0; i < net->input_count; i++) {
        const struct tn_net_value *v = &net->values[net->inputs[i]];
        put_port(out, "v", net->inputs[i], v->name, model, &v->type);
    }
    for (uint32_t i = 0; i < net->node_count; i++) {
        tn_buf_printf(out, "  n%u [label=\"", i);
        put_text(out, net->nodes[i].type);
        if (net->nodes[i].name.n) {
            tn_buf_puts(out, "\\n");
            put_text(out, net->nodes[i].name);
        }
        tn_buf_puts(out, "\"];\n");
    }
    for (uint32_t i = 0; i < net->node_count; i++) put_edges(out, net, i);
    for (uint32_t i = 0; i < net->output_count; i++) {
        const struct tn_net_value *v = tn_net_at(net, net->results[i]);
        put_port(out, "o", i, model->view->outputs[i].name, model, v ? &v->type : NULL);
        if (net->results[i].value == TN_NET_NONE) continue;
        tn_buf_puts(out, "  ");
        put_source(out, net, net->results[i].value);
        tn_buf_printf(out, " -> o%u;\n", i);
    }
    tn_buf_puts(out, "}\n");
}
