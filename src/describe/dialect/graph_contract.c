/*
 * A declared workflow whose only component is an ONNX graph: it is called with tensors, once for each request. What the
 * workflow adds to the graph is kept beside it: the names by which it calls the ports, values for inputs that nobody gives,
 * which outputs are published, and the state that outlives a call.
 *
 * Only such a workflow is taken: one invocation whose outputs are published as they come (requirements_contract.c refuses the
 * others). The document has been judged before; the file is untrusted.
 */
#include "describe/dialect/dialect.h"

#define RULE "inference_metadata.graph/1"

struct contract {
    struct tn_builder *b;
    const struct tn_std_workflow *flow;
    const struct tn_std_component *component;
    const struct tn_std_step *invoke;
    struct tn_graph_facts *graph;
};

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static const struct tn_variant *variant_of(const struct tn_inventory *inv, uint32_t file)
{
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        const struct tn_variant *v = &inv->variants[i];
        if (v->graph && tn_str_is(v->container, "onnx") && v->file_count && v->files[0] == file) return v;
    }
    return NULL;
}

static void refuse_other_variant(struct tn_builder *b, const struct tn_variant *named)
{
    struct tn_finding *f = tn_blocker(b, TN_AMBIGUOUS_PACKAGE, "the package's contract names another variant");
    tn_at_element(f, TN_ELEMENT_OPTION, TN_STR("variant"));
    tn_found(f, "%s", b->options->variant);
    tn_expected(f, "%.*s, or none", TN_FMT_ARG(named->id));
}

/* That the file stands inside the package, and is there, was checked with the contract. */
static bool open_graph(struct contract *c)
{
    struct tn_builder *b = c->b;
    struct tn_str path;
    tn_error_clear(b->scratch);
    enum tn_status status = tn_package_reference(&b->d->arena, TN_STR(""), c->component->artifact.name, &path, b->scratch);
    if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(b);
    const struct tn_package_file *file = status ? NULL : tn_inventory_file(b->inv, path);
    if (!file) return false;
    const struct tn_variant *variant = variant_of(b->inv, (uint32_t)(file - b->inv->files));
    if (!variant || !variant->executable) {
        struct tn_finding *f = tn_blocker(b, TN_PROVIDER_UNAVAILABLE, "no provider of this build executes the component's file");
        tn_at_json(f, c->component->artifact.at);
        tn_found(f, "%.*s", TN_FMT_ARG(path));
        tn_expected(f, "an ONNX graph in its binary form");
        return false;
    }
    if (b->options->variant && !tn_str_is(variant->id, b->options->variant)) {
        refuse_other_variant(b, variant);
        return false;
    }
    b->d->variant = variant;
    c->graph = tn_describe_graph(b, file, false);
    return c->graph != NULL;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static bool same_type(const struct tn_std_contract *contract, const struct tn_onnx_port *port)
{
    struct tn_str name = contract->dtype == TN_STD_DTYPE_OTHER ? contract->dtype_text : tn_str_of(tn_std_dtype_name(contract->dtype));
    bool same = port->element == 0 || tn_onnx_element_named(name) == port->element;
    if (!same || !port->rank_known) return same;
    if (contract->rank.present && contract->rank.value != port->rank) return false;
    for (uint32_t i = 0; contract->has_shape && i < port->rank && i < contract->dim_count; i++) {
        const struct tn_onnx_dim *g = &port->dims[i];
        if (contract->dims[i].fixed && g->kind == TN_ONNX_DIM_VALUE && contract->dims[i].extent != g->value) return false;
    }
    return true;
}

/* A value against the graph's port, where the component does not declare the port: what it declares was compared already. */
static void check_type(struct contract *c, const struct tn_std_ports *declared, const struct tn_std_contract *contract, const struct tn_onnx_port *port)
{
    char text[320];
    if (tn_standard_port(declared, port->name) || !tn_json_present(contract->at) || tn_doc_is_touched(&c->b->d->standard.marks, contract->at)) return;
    if (same_type(contract, port)) return;
    struct tn_finding *f = tn_blocker(c->b, TN_METADATA_INVALID, "the graph has another type than the contract declares for its port %.*s", TN_FMT_ARG(port->name));
    tn_at_json(f, contract->at);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(contract->at)));
    tn_expected(f, "%s", tn_onnx_port_text(port, text, sizeof(text)));
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static const struct tn_std_step *invocation(const struct tn_std_steps *steps)
{
    const struct tn_std_step *found = NULL;
    for (size_t i = 0; !found && i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        found = s->kind == TN_STD_INVOKE ? s : s->kind == TN_STD_SEQUENCE ? invocation(&s->body) : NULL;
    }
    return found;
}

/* The graph's output that an emit publishes, or NULL. */
static const struct tn_std_binding *published(const struct contract *c, const struct tn_std_step *s)
{
    for (size_t i = 0; i < c->invoke->outputs.count; i++)
        if (tn_str_eq(c->invoke->outputs.items[i].value, s->value.name)) return &c->invoke->outputs.items[i];
    return NULL;
}

static uint32_t output_of(const struct tn_graph_facts *g, struct tn_str name)
{
    for (uint32_t i = 0; i < g->view->output_count; i++)
        if (tn_str_eq(g->view->outputs[i].name, name)) return i;
    return TN_NO_PORT;
}

/* More invocations, loops, outputs in parts: these are refused where the structure of all contracts is looked at. */
static void read_emits(struct contract *c, const struct tn_std_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        if (s->kind == TN_STD_SEQUENCE) read_emits(c, &s->body);
        if (s->kind != TN_STD_EMIT) continue;
        const struct tn_std_binding *b = published(c, s);
        uint32_t port = b ? output_of(c->graph, b->key) : TN_NO_PORT;
        if (port != TN_NO_PORT) {
            const struct tn_std_output *out = tn_standard_output(&c->b->d->standard, s->output.name);
            if (out) check_type(c, &c->component->outputs, &out->contract, &c->graph->view->outputs[port]);
            c->graph->said_out[port].published = true;
            if (output_of(c->graph, s->output.name) == TN_NO_PORT) c->graph->said_out[port].alias = s->output.name;
        } else if (!b) {
            struct tn_finding *f = tn_blocker(c->b, TN_UNSUPPORTED_CONFIG, "what the workflow publishes is no result of its graph");
            tn_at_json(f, s->value.at);
            tn_expected(f, "an output of the component");
        }
    }
}

/* ---- ports ------------------------------------------------------------------------------------------------------- */

static uint32_t input_of(const struct tn_graph_facts *g, struct tn_str name)
{
    for (uint32_t i = 0; i < g->input_count; i++)
        if (tn_str_eq(g->inputs[i]->name, name)) return i;
    return TN_NO_PORT;
}

static void state_value(struct contract *c, struct tn_json v, const char *name, struct tn_str of)
{
    if (tn_json_present(v)) tn_fact_of_json(c->b, v, RULE, false, "%s.%.*s", name, TN_FMT_ARG(of));
}

static void read_input(struct contract *c, const struct tn_std_binding *b)
{
    struct tn_graph_facts *g = c->graph;
    uint32_t i = input_of(g, b->key);
    const struct tn_std_input *in = tn_standard_input(&c->b->d->standard, b->value);
    if (i == TN_NO_PORT || !in) return; /* told with the contract */
    struct tn_graph_input *said = &g->said_in[i];
    if (in->source == TN_STD_ARTIFACT) {
        struct tn_finding *f = tn_blocker(c->b, TN_UNSUPPORTED_CONFIG, "the value of an input stands in a file");
        tn_at_json(f, in->source_at);
        tn_expected(f, "a value of the request, or a literal");
    }
    check_type(c, &c->component->inputs, &in->contract, g->inputs[i]);
    said->contract = &in->contract;
    said->value = in->default_at;
    said->alias = input_of(g, b->value) == TN_NO_PORT ? b->value : TN_STR("");
    state_value(c, in->default_at, "graph.default", b->key);
}

static void read_ports(struct contract *c)
{
    struct tn_graph_facts *g = c->graph;
    g->said_in = tn_builder_array(c->b, g->input_count + 1, sizeof(*g->said_in));
    g->said_out = tn_builder_array(c->b, g->view->output_count + 1, sizeof(*g->said_out));
    if (!g->said_in || !g->said_out) return;
    for (uint32_t i = 0; i < g->input_count; i++) g->said_in[i].alias = TN_STR("");
    for (uint32_t i = 0; i < g->view->output_count; i++) g->said_out[i].alias = TN_STR("");
    for (size_t i = 0; i < c->invoke->inputs.count; i++) read_input(c, &c->invoke->inputs.items[i]);
    read_emits(c, &c->flow->steps);
}

static void state_roles(struct contract *c)
{
    for (size_t i = 0; i < c->component->roles.count; i++) {
        const struct tn_std_binding *b = &c->component->roles.items[i];
        tn_fact_of_json(c->b, b->at, RULE, true, "graph.role.%.*s", TN_FMT_ARG(b->key));
    }
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

/*
 * The cell of a pair of ports: the group's cell of its label, else the one that begins with what the input port is given,
 * else the group's only one.
 */
static const struct tn_std_cell *cell_of(const struct contract *c, const struct tn_std_group *group, const struct tn_std_state_port *pair)
{
    const struct tn_std_cell *only = NULL, *begins = NULL;
    size_t count = 0;
    for (size_t i = 0; i < c->flow->cell_count; i++) {
        const struct tn_std_cell *cell = &c->flow->cells[i];
        if (!tn_str_eq(cell->group.name, group->name)) continue;
        if (tn_str_eq(cell->name, pair->label)) return cell;
        only = cell;
        count++;
        for (size_t k = 0; k < c->invoke->inputs.count; k++) {
            const struct tn_std_binding *b = &c->invoke->inputs.items[k];
            if (tn_str_eq(b->key, pair->input.name) && tn_str_eq(b->value, cell->initializer.name)) begins = cell;
        }
    }
    return begins ? begins : count == 1 ? only : NULL;
}

static void refuse_cell(struct contract *c, struct tn_json at, const char *what, const char *expected)
{
    struct tn_finding *f = tn_blocker(c->b, TN_UNSUPPORTED_CONFIG, "state that outlives a call: %s", what);
    tn_at_json(f, at);
    tn_expected(f, "%s", expected);
}

static void read_pair(struct contract *c, const struct tn_std_group *group, const struct tn_std_state_port *pair)
{
    struct tn_graph_facts *g = c->graph;
    const struct tn_std_cell *cell = cell_of(c, group, pair);
    uint32_t in = input_of(g, pair->input.name), out = pair->read_only ? TN_NO_PORT : output_of(g, pair->output.name);
    bool there = in != TN_NO_PORT && (pair->read_only || out != TN_NO_PORT);
    /* State of one invocation is what the request gives and the result holds: tensors like any other. */
    if (!cell || !cell->session_scope || !there) return;
    if (cell->recurrence != TN_STD_INVARIANT) refuse_cell(c, cell->recurrence_at, "it grows with each call", "invariant");
    if (group->has_update && group->update == TN_STD_INDEXED_SCATTER)
        refuse_cell(c, group->update_at, "it is written at places that a scheduler chooses", "replace");
    if (g->inputs[in]->kind != TN_ONNX_PORT_TENSOR || tn_onnx_element_bits(g->inputs[in]->element) == 0)
        refuse_cell(c, pair->input.at, "its port is no tensor of numbers", "a tensor of a stated type");
    for (uint32_t i = 0; i < g->state_count; i++) {
        if (g->states[i].in != in && (out == TN_NO_PORT || g->states[i].out != out)) continue;
        refuse_cell(c, pair->at, "a port is of two pairs", "each port in one pair");
        return;
    }
    g->states[g->state_count++] = (struct tn_graph_state){
        .name = pair->label, .input = pair->input.name, .output = pair->read_only ? TN_STR("") : pair->output.name, .in = in, .out = out};
    tn_fact_of_json(c->b, pair->at, RULE, false, "graph.state.%.*s", TN_FMT_ARG(pair->label));
}

static void read_states(struct contract *c)
{
    const struct tn_std_serving *serving = &c->flow->serving;
    size_t most = 0;
    for (size_t i = 0; i < serving->group_count; i++) most += serving->groups[i].port_count;
    c->graph->states = tn_builder_array(c->b, most + 1, sizeof(*c->graph->states));
    for (size_t i = 0; c->graph->states && i < serving->group_count; i++) {
        const struct tn_std_group *group = &serving->groups[i];
        for (size_t k = 0; k < group->port_count; k++)
            if (tn_str_eq(group->ports[k].component, c->component->name)) read_pair(c, group, &group->ports[k]);
    }
}

void tn_describe_graph_contract(struct tn_builder *b, struct tn_json component)
{
    const struct tn_standard *doc = &b->d->standard;
    struct contract c = {.b = b, .flow = &doc->workflow, .component = tn_standard_component(doc, tn_json_key(component))};
    /* One whose implementation is broken is nobody's. */
    if (!c.component || c.component->implementation != TN_STD_ONNX) return;
    c.invoke = invocation(&c.flow->steps);
    if (!open_graph(&c) || !c.invoke) return;
    read_ports(&c);
    if (b->failed != TN_OK) return;
    state_roles(&c);
    read_states(&c);
}
