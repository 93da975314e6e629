/*
 * A package that is one ONNX graph, in the inference-metadata form: the graph's ports as they stand, each an input of the
 * application or an output, with the roles that its structure or the convention of its exporter settles. The others keep
 * none: nothing is said that is not known.
 *
 * The form asks for a type and a rank of every port; a graph that leaves one open, or has a port that is no tensor, cannot
 * be stated in it.
 */
#include "describe/roles.h"
#include "describe/standard/write.h"

#include <stdio.h>

static bool port_states(const struct tn_onnx_port *p)
{
    if (p->kind != TN_ONNX_PORT_TENSOR || !p->rank_known || !tn_onnx_element_known(p->element)) return false;
    for (uint32_t i = 0; i < p->rank; i++)
        if (p->dims[i].kind == TN_ONNX_DIM_VALUE && p->dims[i].value < 0) return false;
    return true;
}

const struct tn_onnx_port *tn_standard_unstated_port(const struct tn_onnx_view *view)
{
    for (uint32_t i = 0; i < view->input_count; i++)
        if (!port_states(&view->inputs[i])) return &view->inputs[i];
    for (uint32_t i = 0; i < view->output_count; i++)
        if (!port_states(&view->outputs[i])) return &view->outputs[i];
    return NULL;
}

bool tn_standard_graph_states(const struct tn_onnx_view *view)
{
    return view->output_count > 0 && !tn_standard_unstated_port(view);
}

/* A dimension without a name is its own: no two are said to be equal. */
static void write_dimension(struct tn_json_writer *w, const struct tn_onnx_port *p, uint32_t axis)
{
    char name[300];
    const struct tn_onnx_dim *d = &p->dims[axis];
    if (d->kind == TN_ONNX_DIM_VALUE) tn_jw_u64(w, (uint64_t)d->value);
    else if (d->kind == TN_ONNX_DIM_SYMBOL && d->symbol.n > 0) tn_jw_str(w, d->symbol);
    else {
        snprintf(name, sizeof(name), "%.*s.%u", (int)(p->name.n > 256 ? 256 : p->name.n), p->name.s, axis);
        tn_jw_cstr(w, name);
    }
}

static void write_contract(struct tn_json_writer *w, const struct tn_onnx_port *p)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "dtype", tn_onnx_element_name(p->element));
    tn_jw_member_u64(w, "rank", p->rank);
    tn_jw_key(w, "shape");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < p->rank; i++) write_dimension(w, p, i);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}

/* "request.NAME", "graph.NAME" */
static void write_value_key(struct tn_json_writer *w, const char *prefix, struct tn_str name, bool key)
{
    char text[512];
    int n = snprintf(text, sizeof(text), "%s.%.*s", prefix, (int)(name.n > 480 ? 480 : name.n), name.s);
    struct tn_str s = {text, (size_t)n};
    if (key) tn_jw_key_str(w, s);
    else tn_jw_str(w, s);
}

/* Inputs that an initialiser gives need not be fed: the package's default holds. */
static bool is_fed(const struct tn_onnx_port *p)
{
    return !p->initialised;
}

static void write_inputs(struct tn_json_writer *w, const struct tn_onnx_view *view)
{
    tn_jw_key(w, "inputs");
    tn_jw_begin_object(w);
    for (uint32_t i = 0; i < view->input_count; i++) {
        const struct tn_onnx_port *p = &view->inputs[i];
        if (!is_fed(p)) continue;
        write_value_key(w, "request", p->name, true);
        tn_jw_begin_object(w);
        tn_jw_key(w, "contract");
        write_contract(w, p);
        tn_jw_key(w, "role");
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "kind", "opaque");
        tn_jw_end_object(w);
        tn_jw_key(w, "source");
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "kind", "application");
        tn_jw_member_str(w, "name", p->name);
        tn_jw_end_object(w);
        tn_jw_end_object(w);
    }
    tn_jw_end_object(w);
}

static void write_outputs(struct tn_json_writer *w, const struct tn_onnx_view *view)
{
    tn_jw_key(w, "outputs");
    tn_jw_begin_object(w);
    for (uint32_t i = 0; i < view->output_count; i++) {
        tn_jw_key_str(w, view->outputs[i].name);
        tn_jw_begin_object(w);
        tn_jw_key(w, "contract");
        write_contract(w, &view->outputs[i]);
        tn_jw_member_cstr(w, "role", "tensor");
        tn_jw_member_cstr(w, "stage", "pre_adapter");
        tn_jw_end_object(w);
    }
    tn_jw_end_object(w);
}

static void write_port_list(struct tn_json_writer *w, const char *key, const struct tn_onnx_port *ports, uint32_t count)
{
    tn_jw_key(w, key);
    tn_jw_begin_object(w);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_fed(&ports[i])) continue;
        tn_jw_key_str(w, ports[i].name);
        write_contract(w, &ports[i]);
    }
    tn_jw_end_object(w);
}

/* Roles of the standard's vocabulary, each for at most one port. */
static void write_roles(struct tn_json_writer *w, const struct tn_onnx_view *view, const struct tn_role_port *ports)
{
    struct tn_role_question q = {.component = TN_STR("graph"),
                                 .graph = view->file,
                                 .ports = ports,
                                 .port_count = view->input_count + view->output_count,
                                 .names = true};
    bool begun = false;
    for (unsigned role = 0; role < TN_ROLE_NONE; role++) {
        if (tn_role_of_standard(tn_str_of(tn_role_name((enum tn_role)role))) == TN_ROLE_NONE) continue;
        for (int output = 0; output <= 1; output++) {
            if (!tn_role_has_side((enum tn_role)role, output)) continue;
            struct tn_role_binding b = tn_role_settle(&q, (enum tn_role)role, output, false, NULL);
            if (b.source == TN_ROLE_UNSETTLED) continue;
            if (!begun) {
                tn_jw_key(w, "roles");
                tn_jw_begin_object(w);
                begun = true;
            }
            tn_jw_key_str(w, ports[b.port].name);
            tn_jw_cstr(w, tn_role_name((enum tn_role)role));
        }
    }
    if (begun) tn_jw_end_object(w);
}

static void write_component(struct tn_json_writer *w, const struct tn_onnx_view *view, const struct tn_role_port *ports)
{
    tn_jw_key(w, "components");
    tn_jw_begin_object(w);
    tn_jw_key(w, "graph");
    tn_jw_begin_object(w);
    tn_jw_key(w, "implementation");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "artifact", view->file);
    tn_jw_member_cstr(w, "kind", "onnx");
    tn_jw_end_object(w);
    tn_jw_key(w, "ports");
    tn_jw_begin_object(w);
    write_port_list(w, "inputs", view->inputs, view->input_count);
    write_port_list(w, "outputs", view->outputs, view->output_count);
    write_roles(w, view, ports);
    tn_jw_end_object(w);
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

static void write_bindings(struct tn_json_writer *w, const char *key, const char *prefix, const struct tn_onnx_port *ports,
                           uint32_t count)
{
    tn_jw_key(w, key);
    tn_jw_begin_object(w);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_fed(&ports[i])) continue;
        tn_jw_key_str(w, ports[i].name);
        write_value_key(w, prefix, ports[i].name, false);
    }
    tn_jw_end_object(w);
}

static void write_steps(struct tn_json_writer *w, const struct tn_onnx_view *view)
{
    tn_jw_key(w, "steps");
    tn_jw_begin_array(w);
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "kind", "invoke");
    tn_jw_member_cstr(w, "component", "graph");
    write_bindings(w, "inputs", "request", view->inputs, view->input_count);
    write_bindings(w, "outputs", "graph", view->outputs, view->output_count);
    tn_jw_end_object(w);
    for (uint32_t i = 0; i < view->output_count; i++) {
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "kind", "emit");
        tn_jw_member_cstr(w, "mode", "replace");
        tn_jw_member_str(w, "output", view->outputs[i].name);
        tn_jw_key(w, "value");
        write_value_key(w, "graph", view->outputs[i].name, false);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

enum tn_status tn_standard_graph_write(struct tn_json_writer *w, const struct tn_onnx_view *view)
{
    struct tn_role_port *ports = tn_calloc(view->alloc, view->input_count + view->output_count + 1, sizeof(*ports));
    if (!ports) return TN_INSUFFICIENT_MEMORY;
    tn_role_ports(view, NULL, NULL, ports);
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "schema_version", "v1");
    tn_jw_key(w, "pipeline");
    tn_jw_begin_object(w);
    tn_jw_key(w, "workflow");
    tn_jw_begin_object(w);
    tn_jw_key(w, "manifest");
    tn_jw_begin_object(w);
    tn_jw_key(w, "capabilities");
    tn_jw_begin_array(w);
    tn_jw_cstr(w, "typed_emit");
    tn_jw_cstr(w, "workflow_ssa");
    tn_jw_end_array(w);
    tn_jw_end_object(w);
    write_inputs(w, view);
    write_outputs(w, view);
    write_component(w, view, ports);
    write_steps(w, view);
    tn_jw_end_object(w);
    tn_jw_end_object(w);
    tn_jw_end_object(w);
    tn_free(view->alloc, ports);
    return TN_OK;
}
