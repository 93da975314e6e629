/*
 * State that a contract declares of a graph. A pair of ports in a state group carries a cell: what outlives a call is handed on
 * as it came out, and everything else that a contract may say of such state is refused where it stands. State of one
 * invocation is what the request gives and the result holds: tensors like any other.
 *
 * A pair's cell is the group's of its label, else the one that begins with what the input port is given, else the group's only
 * one.
 */
#include "describe/dialect/graph_contract.h"

static const struct tn_std_cell *cell_of(const struct tn_graph_reading *c, const struct tn_std_group *group,
                                         const struct tn_std_state_port *pair)
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

static void refuse(struct tn_graph_reading *c, struct tn_json at, const char *what, const char *expected)
{
    tn_expected(tn_contract_refuse(c->b, at, TN_UNSUPPORTED_CONFIG, what), "%s", expected);
}

static struct tn_json member_of(struct tn_json object, const char *key)
{
    struct tn_json v = tn_json_get(object, key);
    return tn_json_present(v) ? v : object;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/*
 * The cell begins with the value that its port is given; of a port that the invocation leaves out, the cell alone says it. One
 * cell of an invocation may stand for several pairs, each of which begins with its own.
 */
static void begin(struct tn_graph_reading *c, const struct tn_std_cell *cell, const struct tn_std_state_port *pair, uint32_t in)
{
    struct tn_graph_input *said = &c->graph->said_in[in];
    const struct tn_std_input *init = tn_standard_input(c->doc, cell->initializer.name);
    if (!init) {
        refuse(c, cell->initializer.at, "state begins with a value that no input of the workflow is", "an input of the workflow");
    } else if (said->name.n == 0) {
        tn_graph_feed(c, in, init);
    } else if (!tn_str_eq(said->name, init->name) && (cell->session_scope || tn_str_eq(cell->name, pair->label))) {
        tn_expected(tn_contract_refuse(c->b, cell->initializer.at, TN_METADATA_INVALID,
                                       "the state begins with another value than the invocation gives its port"),
                    "%.*s, which goes into %.*s", TN_FMT_ARG(said->name), TN_FMT_ARG(c->graph->inputs[in]->name));
    }
}

/* What is handed from call to call as it is. */
static void check_pair(struct tn_graph_reading *c, const struct tn_std_group *group, const struct tn_std_state_port *pair,
                       const struct tn_std_cell *cell, uint32_t in)
{
    const struct tn_onnx_port *port = c->graph->inputs[in];
    if (cell->recurrence != TN_STD_INVARIANT)
        refuse(c, cell->recurrence_at, "state that outlives a call: it grows with each call", "invariant");
    if (!pair->read_only && group->update == TN_STD_INDEXED_SCATTER)
        refuse(c, member_of(group->at, "update"),
               "state that outlives a call: it is written at places that a scheduler chooses", "replace");
    else if (!pair->read_only && group->update != TN_STD_REPLACE)
        refuse(c, member_of(group->at, "update"), "state that outlives a call: each call adds to it", "replace");
    if (port->kind != TN_ONNX_PORT_TENSOR || tn_onnx_element_bits(port->element) == 0)
        refuse(c, pair->input.at, "state that outlives a call: its port is no tensor of numbers", "a tensor of a stated type");
}

static void read_pair(struct tn_graph_reading *c, const struct tn_std_group *group, const struct tn_std_state_port *pair,
                      const struct tn_std_cell *cell)
{
    struct tn_graph_facts *g = c->graph;
    uint32_t in = tn_graph_input_named(g, pair->input.name);
    uint32_t out = pair->read_only ? TN_NO_PORT : tn_graph_output_named(g, pair->output.name);
    if (in == TN_NO_PORT || (!pair->read_only && out == TN_NO_PORT)) return; /* told with the contract */
    begin(c, cell, pair, in);
    tn_graph_check_type(c, &c->component->inputs, &cell->contract, g->inputs[in]);
    if (!cell->session_scope) return;
    check_pair(c, group, pair, cell, in);
    for (uint32_t i = 0; i < g->state_count; i++) {
        if (g->states[i].in != in && (out == TN_NO_PORT || g->states[i].out != out)) continue;
        refuse(c, pair->at, "state that outlives a call: a port is of two pairs", "each port in one pair");
        return;
    }
    g->states[g->state_count++] = (struct tn_graph_state){
        .name = pair->label, .input = pair->input.name, .output = pair->read_only ? TN_STR("") : pair->output.name, .in = in, .out = out};
    tn_fact_of_json(c->b, pair->at, TN_GRAPH_CONTRACT_RULE, false, "graph.state.%.*s", TN_FMT_ARG(pair->label));
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static const char *const cell_rows[] = {
    "class", /* advisory state is a capability of its own */
    "contract", "initializer", "management", "recurrence", "release_boundary", "scope", "service_group", "session/policy",
};

static void check_cell(struct tn_graph_reading *c, const struct tn_std_cell *cell, bool carried)
{
    struct tn_json policy = tn_json_get(cell->session, "policy");
    struct tn_str word;
    tn_contract_close(c->b, cell->at, cell_rows, sizeof(cell_rows) / sizeof(cell_rows[0]),
                      "the contract states of state what this build does not execute");
    if (cell->management == TN_STD_EXTERNAL)
        refuse(c, member_of(cell->at, "management"), "state lies with a service outside", "runtime");
    if (!cell->session_scope) return;
    if (cell->management == TN_STD_WORKFLOW)
        refuse(c, member_of(cell->at, "management"), "state that outlives a call: nobody keeps it", "runtime");
    if (cell->boundary == TN_STD_END_OF_INVOCATION || cell->boundary == TN_STD_END_OF_ROW)
        refuse(c, cell->boundary_at, "state that outlives a call: it is released before its session ends",
               "session, or scope invocation");
    if (tn_json_str(policy, &word) && !tn_str_is(word, "exclusive"))
        refuse(c, policy, "state that outlives a call: a second writer gets no copy of it", "exclusive");
    if (!carried)
        refuse(c, tn_json_present(cell->group.at) ? cell->group.at : cell->at,
               "state that outlives a call: no pair of the graph's ports carries it",
               "a state group that binds an input and an output of the graph to the cell");
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static const char *const group_rows[] = {
    "aliasing", "kind", "layout", "logical_lengths", "ports", "sequence_axis", "total_length", "update",
    /* what may be done to the state, which changes no answer */
    "capabilities", "reuse",
};

/* A port of the graph, or the value that goes into one. */
static bool reaches_graph(const struct tn_graph_reading *c, struct tn_str name)
{
    bool found = tn_graph_input_named(c->graph, name) != TN_NO_PORT;
    for (size_t i = 0; !found && i < c->invoke->inputs.count; i++) found = tn_str_eq(c->invoke->inputs.items[i].value, name);
    return found;
}

static void check_group(struct tn_graph_reading *c, const struct tn_std_group *group)
{
    tn_contract_close(c->b, group->at, group_rows, sizeof(group_rows) / sizeof(group_rows[0]),
                      "the contract states of a state group what this build does not execute");
    if (group->aliasing == TN_STD_ALIASING_REQUIRED)
        refuse(c, member_of(group->at, "aliasing"), "the graph wants its state's input and output in one buffer",
               "permitted, or forbidden");
    if (!tn_json_present(group->total_length.at) || reaches_graph(c, group->total_length.name)) return;
    if (!tn_standard_input(c->doc, group->total_length.name))
        tn_expected(tn_contract_refuse(c->b, group->total_length.at, TN_METADATA_INVALID,
                                       "the total length of the state is no value and no input of the graph"),
                    "an input of the graph, or a value that goes into one");
    else
        refuse(c, group->total_length.at, "the total length of the state reaches no input of the graph",
               "an input of the graph, or a value that goes into one");
}

void tn_graph_states(struct tn_graph_reading *c)
{
    const struct tn_std_serving *serving = &c->flow->serving;
    size_t most = 0;
    for (size_t i = 0; i < serving->group_count; i++) most += serving->groups[i].port_count;
    c->graph->states = tn_builder_array(c->b, most + 1, sizeof(*c->graph->states));
    bool *carried = tn_builder_array(c->b, c->flow->cell_count + 1, sizeof(*carried));
    if (!c->graph->states || !carried) return;
    for (size_t i = 0; i < serving->group_count; i++) {
        const struct tn_std_group *group = &serving->groups[i];
        check_group(c, group);
        for (size_t k = 0; k < group->port_count; k++) {
            bool own = tn_str_eq(group->ports[k].component, c->component->name);
            const struct tn_std_cell *cell = own ? cell_of(c, group, &group->ports[k]) : NULL;
            if (!cell) continue;
            carried[cell - c->flow->cells] = true;
            read_pair(c, group, &group->ports[k], cell);
        }
    }
    for (size_t i = 0; i < c->flow->cell_count; i++) check_cell(c, &c->flow->cells[i], carried[i]);
}
