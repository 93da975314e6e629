/*
 * Values of a graph's contract, by themselves: that a type can play its role, that rows lie along an axis which can have them,
 * and that an input of the workflow goes somewhere. What this build does not execute for a graph is refused at its pointer.
 */
#include "describe/dialect/graph_contract.h"

static void refuse(struct tn_graph_reading *c, struct tn_json at, enum tn_status code, const char *what, const char *expected)
{
    tn_expected(tn_contract_refuse(c->b, at, code, what), "%s", expected);
}

static struct tn_json member_of(struct tn_json object, const char *key)
{
    struct tn_json v = tn_json_get(object, key);
    return tn_json_present(v) ? v : object;
}

/* ---- contracts --------------------------------------------------------------------------------------------------- */

/* The last one holds where the graph can do without the value. */
static const char *const contract_rows[] = {"batch_layout", "dtype", "rank", "shape", "optional"};

static bool is_one_size(const struct tn_std_contract *contract, const struct tn_onnx_port *port, uint64_t axis)
{
    if (contract->has_shape && axis < contract->dim_count && contract->dims[axis].fixed) return contract->dims[axis].extent != 1;
    bool known = port && port->rank_known && axis < port->rank && port->dims[axis].kind == TN_ONNX_DIM_VALUE;
    return known && port->dims[axis].value != 1;
}

static void check_layout(struct tn_graph_reading *c, const struct tn_std_contract *contract, const struct tn_onnx_port *port)
{
    const struct tn_std_layout *l = &contract->layout;
    if (!tn_json_present(l->at)) return;
    if (l->kind == TN_STD_REQUEST_EXPANDED || l->kind == TN_STD_TOKEN_PACKED) {
        refuse(c, l->at, TN_UNSUPPORTED_CONFIG, "rows of requests lie in a way that this build does not give a graph",
               "request_aligned, or shared");
    } else if (l->kind == TN_STD_REQUEST_ALIGNED && contract->rank.present && l->axis >= contract->rank.value) {
        refuse(c, l->at, TN_METADATA_INVALID, "the value has no axis of this number", "an axis below its rank");
    } else if (l->kind == TN_STD_REQUEST_ALIGNED && is_one_size(contract, port, l->axis)) {
        refuse(c, l->at, TN_METADATA_INVALID, "the axis of the rows has one size, and requests bring any number",
               "an axis of open size, or of size 1");
    }
}

/* `port`: of the graph, that the value goes into or comes from; NULL: none. */
static void check_contract(struct tn_graph_reading *c, const struct tn_std_contract *contract, const struct tn_onnx_port *port)
{
    bool may_miss = port && (port->kind == TN_ONNX_PORT_OPTIONAL || port->initialised);
    if (!tn_json_present(contract->at) || tn_doc_is_touched(&c->b->d->standard.marks, contract->at)) return;
    unsigned rows = sizeof(contract_rows) / sizeof(contract_rows[0]);
    tn_contract_close(c->b, contract->at, contract_rows, may_miss ? rows : rows - 1,
                      "the contract states of a value what this build does not execute for a graph");
    check_layout(c, contract, port);
}

static void check_ports(struct tn_graph_reading *c)
{
    const struct tn_std_component *k = c->component;
    const struct tn_onnx_view *view = c->graph->view;
    for (size_t i = 0; i < k->inputs.count; i++) check_contract(c, &k->inputs.items[i].contract,
                                                                tn_onnx_input(view, k->inputs.items[i].name));
    for (size_t i = 0; i < k->outputs.count; i++) check_contract(c, &k->outputs.items[i].contract,
                                                                 tn_onnx_output(view, k->outputs.items[i].name));
    for (size_t i = 0; i < c->flow->cell_count; i++) check_contract(c, &c->flow->cells[i].contract, NULL);
}

/* ---- roles ------------------------------------------------------------------------------------------------------- */

enum matter { ANYTHING, TEXT, WHOLE, REAL, NOBODY };

static const struct {
    const char *role;
    enum matter matter;
} runtime_roles[] = {
    {"prompt_text", TEXT},
    {"negative_prompt_text", TEXT},
    {"prompt_tokens", WHOLE},
    {"negative_prompt_tokens", WHOLE},
    {"media", ANYTHING},
    {"max_iterations", WHOLE},
    {"max_output_tokens", WHOLE},
    {"seed", WHOLE},
    {"width", WHOLE},
    {"height", WHOLE},
    {"sampling_top_k", WHOLE},
    {"guidance_scale", REAL},
    {"denoising_strength", REAL},
    {"sampling_temperature", REAL},
    {"sampling_top_p", REAL},
    {"sampling_min_p", REAL},
    /* what a session, a grammar or an adapter is, is nothing that a tensor says */
    {"constraint", NOBODY},
    {"session_id", NOBODY},
    {"adapter_segments", NOBODY},
    {"adapter_counts", NOBODY},
    {"adapter_scales", NOBODY},
    {"adapter_active", NOBODY},
    {"row_selection", NOBODY},
};

static const struct {
    const char *role;
    enum matter matter;
    uint64_t least, most; /* axes */
} output_roles[] = {
    {"tensor", ANYTHING, 0, UINT64_MAX},
    {"tokens", WHOLE, 0, UINT64_MAX},
    {"text", TEXT, 0, UINT64_MAX},
    {"image", ANYTHING, 3, 4},
    {"video", ANYTHING, 4, 5},
    {"audio", ANYTHING, 1, 3},
    {"event", NOBODY, 0, 0},
};

static enum matter matter_of(const struct tn_std_contract *contract)
{
    switch (contract->dtype) {
    case TN_STD_STRING: return TEXT;
    case TN_STD_I64:
    case TN_STD_I32:
    case TN_STD_I8:
    case TN_STD_U8: return WHOLE;
    case TN_STD_BOOL: return ANYTHING;
    case TN_STD_DTYPE_OTHER: break;
    default: return REAL;
    }
    struct tn_str text = contract->dtype_text;
    return tn_str_starts(text, "int") || tn_str_starts(text, "uint") ? WHOLE : tn_str_is(text,
                                                                                         "double") || tn_str_starts(text,
                                                                                                                    "float") ? REAL : ANYTHING;
}

static const char *name_of(enum matter m)
{
    static const char *const names[] = {"a tensor", "text", "whole numbers", "floating-point numbers", "another role"};
    return names[m];
}

static void check_role(struct tn_graph_reading *c, struct tn_json at, const struct tn_std_contract *contract, enum matter wanted)
{
    if (wanted == ANYTHING || !tn_json_present(contract->at)) return;
    if (wanted == NOBODY) refuse(c, at, TN_UNSUPPORTED_CONFIG, "no request for a graph brings a value of this role",
                                 name_of(wanted));
    else if (matter_of(contract) != wanted) refuse(c, at, TN_METADATA_INVALID, "a value of this type cannot have this role",
                                                   name_of(wanted));
}

/* A role that the standard gains is nobody's until it stands in the table. */
static void check_runtime_role(struct tn_graph_reading *c, const struct tn_std_input *in)
{
    enum matter wanted = NOBODY;
    if (!in->runtime_role) return;
    for (size_t i = 0; i < sizeof(runtime_roles) / sizeof(runtime_roles[0]); i++)
        if (tn_str_is(in->role.name, runtime_roles[i].role)) wanted = runtime_roles[i].matter;
    check_role(c, in->role.at, &in->contract, wanted);
}

static void check_output_role(struct tn_graph_reading *c, const struct tn_std_output *out)
{
    const struct tn_std_contract *contract = &out->contract;
    struct tn_json at = member_of(out->at, "role");
    for (size_t i = 0; i < sizeof(output_roles) / sizeof(output_roles[0]); i++) {
        if (!tn_str_is(out->role, output_roles[i].role)) continue;
        uint64_t rank = contract->rank.present ? contract->rank.value : output_roles[i].least;
        bool fits = rank >= output_roles[i].least && rank <= output_roles[i].most;
        bool pixels = output_roles[i].least > 0;
        check_role(c, at, contract, output_roles[i].matter);
        if (!fits || (pixels && (matter_of(contract) == TEXT || contract->dtype == TN_STD_BOOL)))
            refuse(c, at, TN_METADATA_INVALID, "a value of this type cannot have this role",
                   "a tensor, or the rank of what the role says");
        return;
    }
}

/* ---- inputs and outputs ------------------------------------------------------------------------------------------ */

static const char *const input_rows[] = {"contract", "default", "externally_suppliable", "required", "role", "source"};
static const char *const output_rows[] = {"contract", "role", "stage"};

/* Whether the value goes into the graph, or is one that serving asks for: see below. */
static bool is_read(const struct tn_graph_reading *c, struct tn_str name)
{
    const struct tn_std_serving *s = &c->flow->serving;
    bool read = tn_str_eq(s->active.name, name) || tn_str_eq(s->done.name, name) || tn_str_eq(s->accepted_len.name, name);
    for (uint32_t i = 0; !read && i < c->graph->input_count; i++) read = tn_str_eq(c->graph->said_in[i].name, name);
    for (size_t i = 0; !read && i < c->flow->cell_count; i++) {
        const struct tn_std_cell *cell = &c->flow->cells[i];
        read = tn_str_eq(cell->increment.name, name) || tn_str_eq(cell->max.name, name);
        /* of one invocation: what a cell begins with is of no account where no port of the graph carries it */
        read = read || (!cell->session_scope && tn_str_eq(cell->initializer.name, name));
    }
    for (size_t i = 0; !read && i < s->group_count; i++)
        read = tn_str_eq(s->groups[i].capacity.name, name) || tn_str_eq(s->groups[i].total_length.name, name);
    return read;
}

static const struct tn_onnx_port *port_fed(const struct tn_graph_reading *c, struct tn_str name)
{
    for (uint32_t i = 0; i < c->graph->input_count; i++)
        if (tn_str_eq(c->graph->said_in[i].name, name)) return c->graph->inputs[i];
    return NULL;
}

static const struct tn_onnx_port *port_published(const struct tn_graph_reading *c, struct tn_str name)
{
    for (uint32_t i = 0; i < c->graph->result_count; i++)
        if (tn_str_eq(c->graph->results[i].name, name)) return &c->graph->view->outputs[c->graph->results[i].out];
    return NULL;
}

static void check_input(struct tn_graph_reading *c, const struct tn_std_input *in)
{
    tn_contract_close(c->b, in->at, input_rows, sizeof(input_rows) / sizeof(input_rows[0]),
                      "the contract states of an input what this build does not execute for a graph");
    check_contract(c, &in->contract, port_fed(c, in->name));
    check_runtime_role(c, in);
    bool open = tn_doc_is_touched(&c->b->d->standard.marks, c->invoke->at);
    if (!open && !is_read(c, in->name))
        refuse(c, in->at, TN_UNSUPPORTED_CONFIG, "the workflow has an input that its graph does not read",
               "what goes into the graph alone");
}

static void check_output(struct tn_graph_reading *c, const struct tn_std_output *out)
{
    tn_contract_close(c->b, out->at, output_rows, sizeof(output_rows) / sizeof(output_rows[0]),
                      "the contract states of an output what this build does not execute for a graph");
    check_contract(c, &out->contract, port_published(c, out->name));
    check_output_role(c, out);
    if (!tn_str_is(out->stage, "post_adapter")) return;
    refuse(c, member_of(out->at, "stage"), TN_UNSUPPORTED_CONFIG, "no adapter finishes what comes out of a graph", "pre_adapter");
}

/* ---- serving ----------------------------------------------------------------------------------------------------- */

/* Every row of a request takes part and none has ended: a value that says otherwise for all would not be obeyed. */
static void check_flag(struct tn_graph_reading *c, const struct tn_std_ref *ref, bool wanted, const char *what)
{
    const struct tn_std_input *in = tn_standard_input(c->doc, ref->name);
    bool list = in && tn_json_is(in->default_at, TN_JSON_ARRAY), flag;
    struct tn_json v = in ? in->default_at : (struct tn_json){NULL, 0};
    for (struct tn_json e = list ? tn_json_first(v) : v; tn_json_present(e); e = list ? tn_json_next(e) : (struct tn_json){NULL, 0}) {
        if (!tn_json_bool(e, &flag) || flag == wanted) continue;
        refuse(c, in->default_at, TN_UNSUPPORTED_CONFIG, what, wanted ? "true" : "false");
        return;
    }
}

static void check_served(struct tn_graph_reading *c)
{
    const struct tn_std_serving *s = &c->flow->serving;
    check_flag(c, &s->active, true, "rows would take no part, and this build runs every row of a request");
    check_flag(c, &s->done, false, "rows would have ended, and this build runs every row of a request");
}

void tn_graph_values(struct tn_graph_reading *c)
{
    for (size_t i = 0; i < c->flow->input_count; i++) check_input(c, &c->flow->inputs[i]);
    for (size_t i = 0; i < c->flow->output_count; i++) check_output(c, &c->flow->outputs[i]);
    check_ports(c);
    check_served(c);
}
