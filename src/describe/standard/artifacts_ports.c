/*
 * One component's declared ports against its graph. Declarations may be left out: a side without declared ports claims
 * nothing, a side with some claims to be whole. What a port means is not looked at here.
 *
 * Symbols: within one component a symbol of the document and a symbol of the graph that meet in a dimension are one, and
 * all that became one have one extent. Two numbers for it are a contradiction.
 */
#include "describe/standard/artifacts_internal.h"

#include "describe/roles.h"
#include "describe/standard/check_internal.h"

#include <stdio.h>
#include <string.h>

enum { SYMBOLS = 1024, PORT_TEXT = 160 };

/* A symbol of the document or of the graph, in a forest of those that are one. */
struct symbol {
    struct tn_str name;
    bool of_graph, has_extent;
    uint32_t parent;
    int64_t extent;      /* of the root */
    struct tn_str where; /* the port that gave it */
};

struct ports {
    struct tn_std_package_check *c;
    const struct tn_std_component *component;
    const struct tn_onnx_view *view;
    struct symbol *symbols;
    uint32_t symbol_count;
    bool too_many;
};

/* ---- symbols ----------------------------------------------------------------------------------------------------- */

static uint32_t symbol_of(struct ports *p, struct tn_str name, bool of_graph)
{
    for (uint32_t i = 0; i < p->symbol_count; i++) {
        if (p->symbols[i].of_graph == of_graph && tn_str_eq(p->symbols[i].name, name)) return i;
    }
    if (p->symbol_count == SYMBOLS) {
        p->too_many = true;
        return 0;
    }
    p->symbols[p->symbol_count] = (struct symbol){.name = name, .of_graph = of_graph, .parent = p->symbol_count};
    return p->symbol_count++;
}

static uint32_t root_of(struct ports *p, uint32_t i)
{
    for (; p->symbols[i].parent != i; i = p->symbols[i].parent)
        p->symbols[i].parent = p->symbols[p->symbols[i].parent].parent;
    return i;
}

/* The extent now has two values: at the port that came second. */
static void contradiction(struct ports *p, const struct tn_std_port *port, uint32_t axis, const struct symbol *s,
                          int64_t extent)
{
    struct tn_finding *f = tn_std_refuse(p->c, TN_METADATA_INVALID, port->contract.at,
                                         "a dimension has two extents in one component");
    tn_found(f, "axis %u of %.*s is %lld, and \"%.*s\" is %lld by %.*s; graph %.*s", axis, TN_FMT_ARG(port->name),
             (long long)extent, TN_FMT_ARG(s->name), (long long)s->extent, TN_FMT_ARG(s->where),
             TN_FMT_ARG(p->view->file));
    tn_expected(f, "one extent for each symbol");
}

static void set_extent(struct ports *p, const struct tn_std_port *port, uint32_t axis, uint32_t symbol, int64_t extent)
{
    struct symbol *s = &p->symbols[root_of(p, symbol)];
    if (s->has_extent && s->extent != extent) {
        contradiction(p, port, axis, s, extent);
    } else if (!s->has_extent) {
        s->has_extent = true;
        s->extent = extent;
        s->where = port->name;
    }
}

static void unite(struct ports *p, const struct tn_std_port *port, uint32_t axis, uint32_t a, uint32_t b)
{
    uint32_t x = root_of(p, a), y = root_of(p, b);
    if (x == y) return;
    struct symbol *s = &p->symbols[x], *other = &p->symbols[y];
    if (s->has_extent && other->has_extent && s->extent != other->extent) {
        contradiction(p, port, axis, other, s->extent);
        return;
    }
    if (!s->has_extent && other->has_extent) {
        s->has_extent = true;
        s->extent = other->extent;
        s->where = other->where;
    }
    other->parent = x;
}

/* ---- one port ---------------------------------------------------------------------------------------------------- */

static const char *side(bool input)
{
    return input ? "input" : "output";
}

static struct tn_finding *mismatch(struct ports *p, const struct tn_std_port *port, const struct tn_onnx_port *graph,
                                   bool input, const char *what)
{
    char text[PORT_TEXT], contract[TN_STD_TYPE_TEXT];
    struct tn_std_type type = tn_std_type_of(p->c->doc, &port->contract);
    struct tn_finding *f =
        tn_std_refuse(p->c, TN_METADATA_INVALID, port->contract.at, "%s of a port is not the graph's", what);
    tn_found(f, "%s %.*s of graph %.*s is %s", side(input), TN_FMT_ARG(graph->name), TN_FMT_ARG(p->view->file),
             tn_onnx_port_text(graph, text, sizeof(text)));
    tn_expected(f, "%s, as component %.*s declares", tn_std_type_text(&type, contract),
                TN_FMT_ARG(p->component->name));
    return f;
}

static bool same_type(const struct tn_std_contract *contract, const struct tn_onnx_port *graph)
{
    const char *name = tn_onnx_element_name(graph->element);
    if (graph->element == 0) return true;
    if (contract->dtype != TN_STD_DTYPE_OTHER) return strcmp(tn_std_dtype_name(contract->dtype), name) == 0;
    uint32_t number = tn_onnx_element_named(contract->dtype_text);
    return number ? number == graph->element : tn_str_is(contract->dtype_text, name);
}

/* A value of one tensor; an optional tensor serves an optional port. */
static bool is_tensor(const struct tn_std_contract *contract, const struct tn_onnx_port *graph)
{
    return graph->kind == TN_ONNX_PORT_TENSOR || graph->kind == TN_ONNX_PORT_UNTYPED ||
           (graph->kind == TN_ONNX_PORT_OPTIONAL && contract->optional);
}

/* Whether the numbers agree; symbols of either side are taken in. */
static bool same_extents(struct ports *p, const struct tn_std_port *port, const struct tn_onnx_port *graph)
{
    const struct tn_std_contract *contract = &port->contract;
    if (!contract->has_shape || contract->dim_count != graph->rank) return true;
    for (uint32_t i = 0; i < graph->rank; i++) {
        const struct tn_onnx_dim *g = &graph->dims[i];
        const struct tn_std_dim *d = &contract->dims[i];
        bool number = g->kind == TN_ONNX_DIM_VALUE && g->value >= 0;
        if (d->fixed && number && d->extent != g->value) return false;
        if (!d->fixed && number) set_extent(p, port, i, symbol_of(p, d->symbol, false), g->value);
        if (g->kind != TN_ONNX_DIM_SYMBOL) continue;
        uint32_t symbol = symbol_of(p, g->symbol, true);
        if (d->fixed) {
            set_extent(p, port, i, symbol, d->extent);
        } else {
            unite(p, port, i, symbol_of(p, d->symbol, false), symbol);
        }
    }
    return true;
}

static void compare(struct ports *p, const struct tn_std_port *port, const struct tn_onnx_port *graph, bool input)
{
    const struct tn_std_contract *contract = &port->contract;
    if (!is_tensor(contract, graph)) {
        mismatch(p, port, graph, input, "the kind");
    } else if (!same_type(contract, graph)) {
        mismatch(p, port, graph, input, "the element type");
    } else if (contract->rank.present && graph->rank_known && contract->rank.value != graph->rank) {
        struct tn_finding *f = mismatch(p, port, graph, input, "the rank");
        tn_expected(f, "rank %llu, as component %.*s declares", (unsigned long long)contract->rank.value,
                    TN_FMT_ARG(p->component->name));
    } else if (graph->rank_known && !same_extents(p, port, graph)) {
        mismatch(p, port, graph, input, "an extent");
    }
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const struct tn_onnx_port *graph_port(const struct tn_onnx_view *view, struct tn_str name, bool input)
{
    return input ? tn_onnx_input(view, name) : tn_onnx_output(view, name);
}

/* "a, b, c ..." */
static const char *list_names(const struct tn_onnx_view *view, bool input, char *out, size_t cap)
{
    const struct tn_onnx_port *ports = input ? view->inputs : view->outputs;
    uint32_t count = input ? view->input_count : view->output_count;
    size_t n = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < count && n + 8 < cap; i++) {
        int more = snprintf(out + n, cap - n, "%s%.*s", i ? ", " : "", TN_FMT_ARG(ports[i].name));
        n += more > 0 ? (size_t)more : 0;
    }
    return count ? out : "none";
}

static void no_such_port(struct ports *p, struct tn_json at, struct tn_str name, bool input, const char *who)
{
    char names[200];
    struct tn_finding *f = tn_std_refuse(p->c, TN_METADATA_INVALID, at, "%s that the graph does not have", who);
    bool other = graph_port(p->view, name, !input) != NULL;
    tn_found(f, "\"%.*s\"%s%s", TN_FMT_ARG(name), other ? ", which is an " : "", other ? side(!input) : "");
    tn_expected(f, "an %s of graph %.*s: %s", side(input), TN_FMT_ARG(p->view->file),
                list_names(p->view, input, names, sizeof(names)));
}

static void check_declared(struct ports *p, const struct tn_std_ports *ports, bool input)
{
    for (size_t i = 0; i < ports->count; i++) {
        const struct tn_std_port *port = &ports->items[i];
        const struct tn_onnx_port *graph = graph_port(p->view, port->name, input);
        if (graph) {
            compare(p, port, graph, input);
        } else {
            no_such_port(p, port->contract.at, port->name, input, input ? "a declared input" : "a declared output");
        }
    }
}

/* A name that a role, contract or state group gives. What is declared has been compared already. */
static void check_named(struct ports *p, struct tn_json at, struct tn_str name, bool input, const char *who)
{
    const struct tn_std_ports *ports = input ? &p->component->inputs : &p->component->outputs;
    if (name.n == 0 || tn_standard_port(ports, name) || graph_port(p->view, name, input)) return;
    if (ports->count) return; /* the side is whole by its own word: the document's check has refused the name */
    no_such_port(p, at, name, input, who);
}

/* Roles and contracts do not say which side they mean. */
static void check_either(struct ports *p, struct tn_json at, struct tn_str name, const char *who)
{
    const struct tn_std_component *component = p->component;
    if (tn_onnx_input(p->view, name) || tn_onnx_output(p->view, name)) return;
    if (tn_standard_port(&component->inputs, name) || tn_standard_port(&component->outputs, name)) return;
    if (component->inputs.count && component->outputs.count) return;
    no_such_port(p, at, name, true, who);
}

/* ---- roles of ports that nobody declares ------------------------------------------------------------------------- */

static bool may_have(const struct tn_onnx_port *port, bool output, enum tn_role role)
{
    bool tensor = port->kind == TN_ONNX_PORT_TENSOR;
    return tn_role_allows(role, output, tensor ? port->element : 0, tensor && port->rank_known, port->rank);
}

/* The document's check has held a declared port against its role; of others the graph says what they are. */
static void check_role_type(struct ports *p, const struct tn_std_binding *b)
{
    const struct tn_onnx_port *in = tn_onnx_input(p->view, b->key), *out = tn_onnx_output(p->view, b->key);
    enum tn_role role = tn_role_of_standard(b->value);
    char text[PORT_TEXT];
    if (role == TN_ROLE_NONE || (!in && !out)) return;
    if ((in && may_have(in, false, role)) || (out && may_have(out, true, role))) return;
    struct tn_finding *f = tn_std_refuse(p->c, TN_METADATA_INVALID, b->at, "the port cannot have its role");
    tn_found(f, "%s of \"%.*s\", an %s of graph %.*s, %s", tn_role_name(role), TN_FMT_ARG(b->key), side(in != NULL),
             TN_FMT_ARG(p->view->file), tn_onnx_port_text(in ? in : out, text, sizeof(text)));
    tn_expected(f, "a side, a type and a rank that go with the role");
}

static bool is_declared(const struct tn_std_component *component, struct tn_str name)
{
    return tn_standard_port(&component->inputs, name) || tn_standard_port(&component->outputs, name);
}

static void check_role_once(struct ports *p, size_t i)
{
    const struct tn_std_bindings *roles = &p->component->roles;
    const struct tn_std_binding *b = &roles->items[i];
    bool input = tn_onnx_input(p->view, b->key) != NULL, output = tn_onnx_output(p->view, b->key) != NULL;
    if (!tn_std_spend(p->c, i)) return;
    for (size_t k = 0; k < i; k++) {
        const struct tn_std_binding *other = &roles->items[k];
        if (!tn_str_eq(other->value, b->value)) continue;
        if (!(input && tn_onnx_input(p->view, other->key)) && !(output && tn_onnx_output(p->view, other->key))) continue;
        struct tn_finding *f = tn_std_refuse(p->c, TN_METADATA_INVALID, b->at, "two ports have one role");
        tn_found(f, "%.*s for \"%.*s\" after \"%.*s\"", TN_FMT_ARG(b->value), TN_FMT_ARG(b->key), TN_FMT_ARG(other->key));
        tn_expected(f, "one port with this role");
        return;
    }
}

static void check_roles(struct ports *p)
{
    for (size_t i = 0; i < p->component->roles.count; i++) {
        const struct tn_std_binding *b = &p->component->roles.items[i];
        check_either(p, b->at, b->key, "a role of a port");
        if (is_declared(p->component, b->key)) continue;
        check_role_type(p, b);
        check_role_once(p, i);
    }
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

static void check_pair(struct ports *p, const struct tn_std_state_port *pair)
{
    check_named(p, pair->input.at, pair->input.name, true, "a state port");
    check_named(p, pair->output.at, pair->output.name, false, "a state port");
    const struct tn_onnx_port *in = tn_onnx_input(p->view, pair->input.name);
    const struct tn_onnx_port *out = tn_onnx_output(p->view, pair->output.name);
    if (!in || !out || pair->read_only || !in->element || !out->element) return;
    bool ranks = in->rank_known && out->rank_known && in->rank != out->rank;
    if (in->element == out->element && !ranks) return;
    char a[PORT_TEXT], b[PORT_TEXT];
    struct tn_finding *f = tn_std_refuse(p->c, TN_METADATA_INVALID, pair->at,
                                         "a state's output cannot become its input");
    tn_found(f, "graph %.*s: %.*s is %s, %.*s is %s", TN_FMT_ARG(p->view->file), TN_FMT_ARG(in->name),
             tn_onnx_port_text(in, a, sizeof(a)), TN_FMT_ARG(out->name), tn_onnx_port_text(out, b, sizeof(b)));
    tn_expected(f, "one element type and one rank");
}

static void check_control(struct ports *p, const struct tn_std_bindings *map, const char *who)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct tn_std_binding *b = &map->items[i];
        if (!tn_str_eq(b->key, p->component->name)) continue;
        check_named(p, b->at, b->value, true, who);
        const struct tn_onnx_port *port = tn_onnx_input(p->view, b->value);
        if (!port || !port->element || port->element == 6 || port->element == 7) continue; /* int32, int64 */
        char text[PORT_TEXT];
        struct tn_finding *f = tn_std_refuse(p->c, TN_METADATA_INVALID, b->at, "%s that holds no positions", who);
        tn_found(f, "input %.*s of graph %.*s is %s", TN_FMT_ARG(b->value), TN_FMT_ARG(p->view->file),
                 tn_onnx_port_text(port, text, sizeof(text)));
        tn_expected(f, "int64 or int32");
    }
}

static uint64_t group_size(const struct tn_std_group *group)
{
    return 1 + group->port_count + group->write_indices_ports.count + group->kv_length_ports.count;
}

static void check_state(struct ports *p)
{
    const struct tn_std_serving *serving = &p->c->doc->workflow.serving;
    for (size_t g = 0; g < serving->group_count; g++) {
        const struct tn_std_group *group = &serving->groups[g];
        if (!tn_std_spend(p->c, group_size(group))) return;
        for (size_t i = 0; i < group->port_count; i++) {
            if (tn_str_eq(group->ports[i].component, p->component->name)) check_pair(p, &group->ports[i]);
        }
        check_control(p, &group->write_indices_ports, "a port of write indices");
        check_control(p, &group->kv_length_ports, "a port of lengths");
    }
}

/* ---- what the graph asks for ------------------------------------------------------------------------------------- */

static bool must_be_fed(const struct tn_onnx_port *port)
{
    return !port->initialised && port->kind != TN_ONNX_PORT_OPTIONAL;
}

static bool holds_value(const struct tn_std_bindings *map, struct tn_str component, struct tn_str port)
{
    for (size_t i = 0; i < map->count; i++) {
        if (tn_str_eq(map->items[i].key, component) && tn_str_eq(map->items[i].value, port)) return true;
    }
    return false;
}

/* A state group or an adapter's target names the input: it is fed without being declared. */
static bool is_fed_elsewhere(const struct ports *p, struct tn_str name)
{
    const struct tn_standard *doc = p->c->doc;
    struct tn_str component = p->component->name;
    for (size_t g = 0; g < doc->workflow.serving.group_count; g++) {
        const struct tn_std_group *group = &doc->workflow.serving.groups[g];
        if (!tn_std_spend(p->c, group_size(group))) return true;
        for (size_t i = 0; i < group->port_count; i++) {
            if (tn_str_eq(group->ports[i].component, component) && tn_str_eq(group->ports[i].input.name, name))
                return true;
        }
        if (holds_value(&group->write_indices_ports, component, name)) return true;
        if (holds_value(&group->kv_length_ports, component, name)) return true;
        if (tn_str_eq(group->total_length.name, name)) return true;
    }
    if (!tn_std_spend(p->c, doc->adapters.target_count)) return true;
    for (size_t i = 0; i < doc->adapters.target_count; i++) {
        const struct tn_std_target *t = &doc->adapters.targets[i];
        if (!tn_str_eq(t->component.name, component)) continue;
        if (tn_str_eq(t->graph_a.name, name) || tn_str_eq(t->graph_b.name, name) ||
            tn_str_eq(t->graph_scale.name, name))
            return true;
    }
    return false;
}

static void check_undeclared(struct ports *p)
{
    for (uint32_t i = 0; i < p->view->input_count; i++) {
        const struct tn_onnx_port *port = &p->view->inputs[i];
        char text[PORT_TEXT];
        if (!must_be_fed(port) || tn_standard_port(&p->component->inputs, port->name)) continue;
        if (is_fed_elsewhere(p, port->name)) continue;
        struct tn_finding *f = tn_std_refuse(p->c, TN_METADATA_INVALID, p->component->inputs.at,
                                             "the graph has an input that the component does not declare");
        tn_found(f, "input %.*s of graph %.*s is %s", TN_FMT_ARG(port->name), TN_FMT_ARG(p->view->file),
                 tn_onnx_port_text(port, text, sizeof(text)));
        tn_expected(f, "a port \"%.*s\"", TN_FMT_ARG(port->name));
    }
}

static bool binds(const struct tn_std_bindings *map, struct tn_str port)
{
    for (size_t i = 0; i < map->count; i++) {
        if (tn_str_eq(map->items[i].key, port)) return true;
    }
    return false;
}

/* Without declarations an invocation is held against the graph itself. */
static void check_invocation(struct ports *p, const struct tn_std_step *s)
{
    const struct tn_std_component *component = p->component;
    for (size_t i = 0; component->inputs.count == 0 && i < s->inputs.count; i++)
        check_named(p, s->inputs.items[i].at, s->inputs.items[i].key, true, "an invocation feeds an input");
    for (size_t i = 0; component->outputs.count == 0 && i < s->outputs.count; i++)
        check_named(p, s->outputs.items[i].at, s->outputs.items[i].key, false, "an invocation takes an output");
    for (uint32_t i = 0; component->inputs.count == 0 && i < p->view->input_count; i++) {
        const struct tn_onnx_port *port = &p->view->inputs[i];
        char text[PORT_TEXT];
        if (!tn_std_spend(p->c, s->inputs.count)) return;
        if (!must_be_fed(port) || binds(&s->inputs, port->name) || is_fed_elsewhere(p, port->name)) continue;
        struct tn_finding *f = tn_std_refuse(p->c, TN_METADATA_INVALID, s->at, "an invocation leaves an input empty");
        tn_found(f, "nothing for input %.*s of graph %.*s, %s", TN_FMT_ARG(port->name), TN_FMT_ARG(p->view->file),
                 tn_onnx_port_text(port, text, sizeof(text)));
        tn_expected(f, "a value for \"%.*s\"", TN_FMT_ARG(port->name));
    }
}

/* Depth is bounded by TN_STD_STEP_DEPTH, which the reader of the document holds. */
static void check_steps(struct ports *p, const struct tn_std_steps *steps);

static void check_step(struct ports *p, const struct tn_std_step *s)
{
    if (s->kind == TN_STD_INVOKE && tn_str_eq(s->component.name, p->component->name)) check_invocation(p, s);
    check_steps(p, &s->setup);
    check_steps(p, &s->body);
    check_steps(p, &s->cases);
    if (s->otherwise) check_step(p, s->otherwise);
}

static void check_steps(struct ports *p, const struct tn_std_steps *steps)
{
    if (!tn_std_spend(p->c, steps->count)) return;
    for (size_t i = 0; i < steps->count; i++) check_step(p, &steps->items[i]);
}

/* ---- the component ----------------------------------------------------------------------------------------------- */

void tn_std_check_graph_ports(struct tn_std_package_check *c, const struct tn_std_component *component,
                              const struct tn_std_graph *graph)
{
    struct ports p = {.c = c, .component = component, .view = graph->view};
    p.symbols = tn_malloc(c->inv->ctx->alloc, SYMBOLS * sizeof(*p.symbols));
    if (!p.symbols) {
        tn_std_lost_memory(c);
        return;
    }
    check_declared(&p, &component->inputs, true);
    check_declared(&p, &component->outputs, false);
    if (p.too_many) {
        struct tn_finding *f = tn_std_refuse(c, TN_RESOURCE_LIMIT, component->at, "a component of too many symbols");
        tn_expected(f, "at most %d symbols in the ports of a component", SYMBOLS);
    }
    check_roles(&p);
    for (size_t i = 0; i < component->contract_bindings.count; i++) {
        const struct tn_std_binding *b = &component->contract_bindings.items[i];
        check_either(&p, b->at, b->value, "a contract names a port");
    }
    check_state(&p);
    if (component->inputs.count) check_undeclared(&p);
    if (!component->inputs.count || !component->outputs.count) check_steps(&p, &c->doc->workflow.steps);
    tn_free(c->inv->ctx->alloc, p.symbols);
}
