/* The view as JSON: what "inspect" shows of a graph. */
#include "package/onnx.h"

static void write_dims(struct tn_json_writer *w, const struct tn_onnx_port *port)
{
    tn_jw_key(w, "shape");
    if (!port->rank_known) {
        tn_jw_null(w);
        return;
    }
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < port->rank; i++) {
        const struct tn_onnx_dim *d = &port->dims[i];
        switch (d->kind) {
        case TN_ONNX_DIM_VALUE: tn_jw_i64(w, d->value); break;
        case TN_ONNX_DIM_SYMBOL: tn_jw_str(w, d->symbol); break;
        case TN_ONNX_DIM_UNKNOWN: tn_jw_null(w); break;
        }
    }
    tn_jw_end_array(w);
}

static void write_ports(struct tn_json_writer *w, const char *key, const struct tn_onnx_port *ports, uint32_t count)
{
    tn_jw_key(w, key);
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < count; i++) {
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "name", ports[i].name);
        tn_jw_member_cstr(w, "kind", tn_onnx_port_kind_name(ports[i].kind));
        tn_jw_member_cstr(w, "type", tn_onnx_element_name(ports[i].element));
        if (ports[i].key) tn_jw_member_cstr(w, "key", tn_onnx_element_name(ports[i].key));
        write_dims(w, &ports[i]);
        if (ports[i].initialised) tn_jw_member_bool(w, "initialised", true);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_opsets(struct tn_json_writer *w, const struct tn_onnx_opset *opsets, uint32_t count)
{
    tn_jw_key(w, "opsets");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < count; i++) {
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "domain", opsets[i].domain);
        tn_jw_key(w, "version");
        tn_jw_i64(w, opsets[i].version);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_properties(struct tn_json_writer *w, const struct tn_onnx_view *v)
{
    tn_jw_key(w, "properties");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < v->property_count; i++) {
        const struct tn_onnx_property *p = &v->properties[i];
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "key", p->key);
        if (p->cut) {
            tn_jw_member_null(w, "value");
        } else {
            tn_jw_member_str(w, "value", p->value);
        }
        tn_jw_member_u64(w, "bytes", p->bytes);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_initializers(struct tn_json_writer *w, const struct tn_onnx_view *v)
{
    static const char *const places[] = {"none", "raw", "typed", "external"};
    tn_jw_key(w, "initializers");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < v->initializer_count; i++) {
        const struct tn_onnx_tensor *t = &v->initializers[i];
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "name", t->name);
        tn_jw_member_cstr(w, "type", tn_onnx_element_name(t->element));
        tn_jw_key(w, "shape");
        tn_jw_begin_array(w);
        for (uint32_t d = 0; d < t->rank; d++) tn_jw_i64(w, t->dims[d]);
        tn_jw_end_array(w);
        tn_jw_member_cstr(w, "data", places[t->data]);
        if (t->sparse) tn_jw_member_bool(w, "sparse", true);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_number(struct tn_json_writer *w, const char *key, bool have, bool bad, uint64_t value)
{
    if (!have) return;
    if (bad) {
        tn_jw_member_null(w, key);
    } else {
        tn_jw_member_u64(w, key, value);
    }
}

static void write_externals(struct tn_json_writer *w, const struct tn_onnx_view *v)
{
    tn_jw_key(w, "external");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < v->external_count; i++) {
        const struct tn_onnx_external *x = &v->externals[i];
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "tensor", x->tensor);
        tn_jw_member_str(w, "location", x->location);
        write_number(w, "offset", x->have_offset, x->bad_offset, x->offset_bytes);
        write_number(w, "length", x->have_length, x->bad_length, x->length_bytes);
        if (x->sized) tn_jw_member_u64(w, "bytes", x->bytes);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_operators(struct tn_json_writer *w, const struct tn_onnx_view *v)
{
    tn_jw_key(w, "operators");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < v->operator_count; i++) {
        const struct tn_onnx_operator *op = &v->operators[v->operator_order[i]];
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "domain", op->domain);
        tn_jw_member_str(w, "type", op->type);
        tn_jw_member_u64(w, "count", op->count);
        if (op->in_functions) tn_jw_member_u64(w, "in_functions", op->in_functions);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_functions(struct tn_json_writer *w, const struct tn_onnx_view *v)
{
    tn_jw_key(w, "functions");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < v->function_count; i++) {
        const struct tn_onnx_function *f = &v->functions[i];
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "domain", f->domain);
        tn_jw_member_str(w, "name", f->name);
        if (f->overload.n) tn_jw_member_str(w, "overload", f->overload);
        tn_jw_member_u64(w, "nodes", f->nodes);
        write_opsets(w, f->opsets, f->opset_count);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

void tn_onnx_view_write(struct tn_json_writer *w, const struct tn_onnx_view *v)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "form", v->text_form ? "text" : "binary");
    tn_jw_key(w, "ir_version");
    tn_jw_i64(w, v->ir_version);
    tn_jw_member_str(w, "producer_name", v->producer_name);
    tn_jw_member_str(w, "producer_version", v->producer_version);
    tn_jw_member_str(w, "domain", v->domain);
    tn_jw_key(w, "model_version");
    tn_jw_i64(w, v->model_version);
    write_opsets(w, v->opsets, v->opset_count);
    write_properties(w, v);
    tn_jw_member_str(w, "graph", v->graph_name);
    write_ports(w, "inputs", v->inputs, v->input_count);
    write_ports(w, "outputs", v->outputs, v->output_count);
    write_initializers(w, v);
    write_externals(w, v);
    tn_jw_member_u64(w, "nodes", v->node_count);
    tn_jw_member_u64(w, "nested_nodes", v->nested_nodes);
    write_operators(w, v);
    write_functions(w, v);
    tn_jw_member_u64(w, "training", v->training_count);
    tn_jw_end_object(w);
}
