/*
 * A declared workflow whose only component is an ONNX graph: it is called with tensors, once for each request. What the
 * workflow adds to the graph is kept beside it: the names by which it calls the ports, values for inputs that nobody gives,
 * which outputs are published, and the state that outlives a call.
 *
 * Only such a workflow is taken: one invocation whose outputs are published as they come (requirements_contract.c refuses the
 * others). The document has been judged before; the file is untrusted.
 */
#include "describe/dialect/graph_contract.h"

#include "describe/dialect/dialect.h"

#define RULE TN_GRAPH_CONTRACT_RULE

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
static bool open_graph(struct tn_graph_reading *c)
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

void tn_graph_check_type(struct tn_graph_reading *c, const struct tn_std_ports *declared, const struct tn_std_contract *contract,
                         const struct tn_onnx_port *port)
{
    char text[320];
    if (tn_standard_port(declared,
                         port->name) || !tn_json_present(contract->at) || tn_doc_is_touched(&c->b->d->standard.marks,
                                                                                            contract->at)) return;
    if (same_type(contract, port)) return;
    struct tn_finding *f = tn_blocker(c->b, TN_METADATA_INVALID,
                                      "the graph has another type than the contract declares for its port %.*s", TN_FMT_ARG(port->name));
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
static const struct tn_std_binding *published(const struct tn_graph_reading *c, const struct tn_std_step *s)
{
    for (size_t i = 0; i < c->invoke->outputs.count; i++)
        if (tn_str_eq(c->invoke->outputs.items[i].value, s->value.name)) return &c->invoke->outputs.items[i];
    return NULL;
}

uint32_t tn_graph_output_named(const struct tn_graph_facts *g, struct tn_str name)
{
    for (uint32_t i = 0; i < g->view->output_count; i++)
        if (tn_str_eq(g->view->outputs[i].name, name)) return i;
    return TN_NO_PORT;
}

uint32_t tn_graph_input_named(const struct tn_graph_facts *g, struct tn_str name)
{
    for (uint32_t i = 0; i < g->input_count; i++)
        if (tn_str_eq(g->inputs[i]->name, name)) return i;
    return TN_NO_PORT;
}

static size_t count_emits(const struct tn_std_steps *steps)
{
    size_t count = 0;
    for (size_t i = 0; i < steps->count; i++)
        count += steps->items[i].kind == TN_STD_SEQUENCE ? count_emits(&steps->items[i].body) : steps->items[i].kind == TN_STD_EMIT;
    return count;
}

static void publish(struct tn_graph_reading *c, uint32_t port, const struct tn_std_output *out)
{
    struct tn_graph_facts *g = c->graph;
    tn_graph_check_type(c, &c->component->outputs, &out->contract, &g->view->outputs[port]);
    g->results[g->result_count++] = (struct tn_graph_result){.name = out->name, .out = port, .contract = &out->contract};
}

/* More invocations, loops, outputs in parts: these are refused where the structure of all contracts is looked at. */
static void read_emits(struct tn_graph_reading *c, const struct tn_std_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        if (s->kind == TN_STD_SEQUENCE) read_emits(c, &s->body);
        if (s->kind != TN_STD_EMIT) continue;
        const struct tn_std_binding *b = published(c, s);
        uint32_t port = b ? tn_graph_output_named(c->graph, b->key) : TN_NO_PORT;
        if (port != TN_NO_PORT) {
            const struct tn_std_output *out = tn_standard_output(c->doc, s->output.name);
            if (out) publish(c, port, out);
        } else if (!b) {
            struct tn_finding *f = tn_blocker(c->b, TN_UNSUPPORTED_CONFIG,
                                              "what the workflow publishes is no result of its graph");
            tn_at_json(f, s->value.at);
            tn_expected(f, "an output of the component");
        }
    }
}

/* ---- ports ------------------------------------------------------------------------------------------------------- */

static void state_value(struct tn_graph_reading *c, struct tn_json v, const char *name, struct tn_str of)
{
    if (tn_json_present(v)) tn_fact_of_json(c->b, v, RULE, false, "%s.%.*s", name, TN_FMT_ARG(of));
}

void tn_graph_feed(struct tn_graph_reading *c, uint32_t input, const struct tn_std_input *in)
{
    struct tn_graph_facts *g = c->graph;
    struct tn_graph_input *said = &g->said_in[input];
    if (in->source == TN_STD_ARTIFACT)
        tn_expected(tn_contract_refuse(c->b, in->source_at, TN_UNSUPPORTED_CONFIG, "the value of an input stands in a file"),
                    "a value of the request, or a literal");
    tn_graph_check_type(c, &c->component->inputs, &in->contract, g->inputs[input]);
    said->contract = &in->contract;
    said->value = in->default_at;
    said->name = in->name;
    said->closed = in->source == TN_STD_LITERAL && !in->externally_suppliable;
    tn_graph_generation(c, input, in);
    state_value(c, said->value, "graph.default", g->inputs[input]->name);
}

static void read_input(struct tn_graph_reading *c, const struct tn_std_binding *b)
{
    uint32_t i = tn_graph_input_named(c->graph, b->key);
    const struct tn_std_input *in = tn_standard_input(c->doc, b->value);
    if (i != TN_NO_PORT && in) tn_graph_feed(c, i, in); /* else told with the contract */
}

static void read_ports(struct tn_graph_reading *c)
{
    struct tn_graph_facts *g = c->graph;
    g->said_in = tn_builder_array(c->b, g->input_count + 1, sizeof(*g->said_in));
    g->results = tn_builder_array(c->b, count_emits(&c->flow->steps) + 1, sizeof(*g->results));
    if (!g->said_in || !g->results) return;
    for (uint32_t i = 0; i < g->input_count; i++) g->said_in[i].name = TN_STR("");
    for (size_t i = 0; i < c->invoke->inputs.count; i++) read_input(c, &c->invoke->inputs.items[i]);
    read_emits(c, &c->flow->steps);
}

/* An input without which the graph computes nothing is fed by the invocation or begun by a cell. */
static void check_fed(struct tn_graph_reading *c)
{
    const struct tn_graph_facts *g = c->graph;
    if (tn_doc_is_touched(&c->b->d->standard.marks, c->invoke->at)) return;
    for (uint32_t i = 0; i < g->input_count; i++) {
        char text[320];
        const struct tn_onnx_port *port = g->inputs[i];
        bool declared = tn_standard_port(&c->component->inputs, port->name) != NULL; /* told with the contract */
        if (g->said_in[i].name.n > 0 || port->initialised || port->kind == TN_ONNX_PORT_OPTIONAL || declared) continue;
        struct tn_finding *f = tn_blocker(c->b, TN_METADATA_INVALID, "the invocation gives an input of the graph no value");
        if (tn_json_present(c->invoke->inputs.at)) tn_at_json(f, c->invoke->inputs.at);
        else tn_at_json(f, c->invoke->at);
        tn_found(f, "nothing for %.*s", TN_FMT_ARG(port->name));
        tn_expected(f, "a value for %.*s: %s", TN_FMT_ARG(port->name), tn_onnx_port_text(port, text, sizeof(text)));
    }
}

static void state_roles(struct tn_graph_reading *c)
{
    for (size_t i = 0; i < c->component->roles.count; i++) {
        const struct tn_std_binding *b = &c->component->roles.items[i];
        tn_fact_of_json(c->b, b->at, RULE, true, "graph.role.%.*s", TN_FMT_ARG(b->key));
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

void tn_describe_graph_contract(struct tn_builder *b, struct tn_json component)
{
    const struct tn_standard *doc = &b->d->standard;
    struct tn_graph_reading c = {.b = b, .doc = doc, .flow = &doc->workflow,
                                 .component = tn_standard_component(doc, tn_json_key(component))};
    /* One whose implementation is broken is nobody's. */
    if (!c.component || c.component->implementation != TN_STD_ONNX) return;
    c.invoke = invocation(&c.flow->steps);
    if (!open_graph(&c) || !c.invoke) return;
    read_ports(&c);
    if (b->failed != TN_OK) return;
    state_roles(&c);
    tn_graph_states(&c);
    if (b->failed != TN_OK) return;
    check_fed(&c);
    tn_graph_values(&c);
    tn_graph_held(&c);
}
