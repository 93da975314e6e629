/*
 * Serving values and state groups: the ports that a group binds, its update discipline and what that demands, the bounds
 * within which it may be moved. Nothing here selects storage; every rule is about the graph's ABI.
 */
#include "describe/standard/check_internal.h"

/* Pairs of one group are compared with one another; 4096 are the halves of 2048 layers. */
enum { PAIRS = 4096 };

/* ---- serving ---------------------------------------------------------------------------------------------------- */

static void check_serving_value(struct tn_std_check *c, const struct tn_std_ref *ref, bool truth, const char *what)
{
    const struct tn_std_value *v = tn_std_want_value(c, ref);
    char text[TN_STD_TYPE_TEXT];
    if (!v || !v->type.known) return;
    bool fits = truth ? v->type.dtype == TN_STD_BOOL : tn_std_type_is_integer(&v->type);
    struct tn_finding *f;
    if (fits && (!v->type.has_rank || v->type.rank == 1)) {
        const struct tn_std_layout *l = v->type.layout;
        if (!l || l->kind == TN_STD_REQUEST_ALIGNED) return;
        f = tn_std_say(c, ref->at, "%s has to move with its row when the batch changes", what);
        tn_found(f, "batch_layout %s", tn_std_layout_name(l->kind));
        tn_expected(f, "batch_layout request_aligned");
        return;
    }
    f = tn_std_say(c, ref->at, "%s is told per row", what);
    tn_found(f, "%s", tn_std_type_text(&v->type, text));
    tn_expected(f, truth ? "bool of rank 1" : "int64 of rank 1");
}

/* ---- ports ------------------------------------------------------------------------------------------------------ */

static bool is_attention(enum tn_std_state_kind kind)
{
    return kind == TN_STD_FULL_ATTENTION || kind == TN_STD_SLIDING_ATTENTION || kind == TN_STD_LATENT_ATTENTION;
}

static bool check_port_name(struct tn_std_check *c, const struct tn_std_component *component, bool output,
                            const struct tn_std_ref *port)
{
    if (!tn_json_present(port->at) || tn_std_may_have_port(c, component, output, port->name)) return true;
    struct tn_finding *f = tn_std_say(c, port->at, "the component \"%.*s\" declares no %s port of this name",
                                      TN_FMT_ARG(component->name), output ? "output" : "input");
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(port->name));
    tn_expected(f, "a port of components.%.*s.ports", TN_FMT_ARG(component->name));
    return false;
}

/* Whether a port of a pair is not of the type of the cell that the pair carries; where that is not known, it is. */
static bool is_other(const struct tn_std_check *c, const struct tn_std_state_port *p, const struct tn_std_type *port)
{
    const struct tn_std_cell *cell = tn_std_cell(c, p->label);
    struct tn_std_type type = cell ? tn_std_type_of(c->doc, &cell->contract) : (struct tn_std_type){0};
    type.has_shape = false;
    return tn_std_type_clash(port, &type, NULL, TN_STD_NO_AXIS) != NULL;
}

/* What comes in as the past goes out as the present: one element type, one rank. */
static void check_pair(struct tn_std_check *c, const struct tn_std_component *component,
                       const struct tn_std_state_port *p)
{
    const struct tn_std_port *in = tn_standard_port(&component->inputs, p->input.name);
    const struct tn_std_port *out = tn_standard_port(&component->outputs, p->output.name);
    char text[TN_STD_TYPE_TEXT];
    if (!in || !out || p->read_only) return;
    struct tn_std_type past = tn_std_type_of(c->doc, &in->contract), present = tn_std_type_of(c->doc, &out->contract);
    past.has_shape = false; /* the sequence axis may change */
    const char *clash = tn_std_type_clash(&present, &past, NULL, TN_STD_NO_AXIS);
    if (!clash) return;
    bool input = is_other(c, p, &past) && !is_other(c, p, &present);
    struct tn_finding *f = tn_std_say(c, input ? p->input.at : p->output.at,
                                      "the present of a state port cannot become its past: %s", clash);
    tn_found(f, "%s", tn_std_type_text(input ? &past : &present, text));
    tn_expected(f, "%s", tn_std_type_text(input ? &present : &past, text));
}

static bool same_component(const struct tn_std_state_port *a, const struct tn_std_state_port *b)
{
    return tn_str_eq(a->component, b->component);
}

/* Two pairs of one half need layers, and different ones: labels order nothing. */
static bool check_layers(struct tn_std_check *c, const struct tn_std_group *group, size_t i)
{
    const struct tn_std_state_port *p = &group->ports[i];
    if (p->half == TN_STD_NO_HALF) return true;
    for (size_t k = 0; k < i; k++) {
        const struct tn_std_state_port *q = &group->ports[k];
        if (!same_component(p, q) || p->half != q->half) continue;
        if (p->layer.present && q->layer.present && p->layer.value != q->layer.value) continue;
        if (!q->layer.present && p->layer.present) continue; /* told at the one without */
        struct tn_finding *f = p->layer.present
            ? tn_std_say(c, p->layer.at, "two state ports of one component share role and layer")
            : tn_std_say_member(c, p->at, "layer",
                                "several state ports have this role, and their labels order nothing");
        tn_expected(f, "a layer of its own for each pair of one role");
        return false;
    }
    for (size_t k = i + 1; k < group->port_count && !p->layer.present; k++) {
        const struct tn_std_state_port *q = &group->ports[k];
        if (!same_component(p, q) || p->half != q->half || !q->layer.present) continue;
        struct tn_finding *f = tn_std_say_member(c, p->at, "layer",
                                                 "several state ports have this role, and their labels "
                                                 "order nothing");
        tn_expected(f, "a layer of its own for each pair of one role");
        return false;
    }
    return true;
}

static bool has_half(const struct tn_std_group *group, const struct tn_std_state_port *p, enum tn_std_half half)
{
    for (size_t k = 0; k < group->port_count; k++) {
        const struct tn_std_state_port *q = &group->ports[k];
        if (!same_component(p, q) || q->half != half) continue;
        /* The only pair of its half needs no layer; where several lack one, that has been told. */
        if (!p->layer.present || !q->layer.present || p->layer.value == q->layer.value) return true;
    }
    return false;
}

/* Keys without the values of their layer cannot be attended to. Told once for each component of a group. */
static void check_halves(struct tn_std_check *c, const struct tn_std_group *group, size_t i)
{
    const struct tn_std_state_port *p = &group->ports[i];
    if (!is_attention(group->kind) || (i > 0 && same_component(p, &group->ports[i - 1]))) return;
    size_t keys = 0, values = 0;
    for (size_t k = i; k < group->port_count && same_component(p, &group->ports[k]); k++) {
        keys += group->ports[k].half == TN_STD_KEY;
        values += group->ports[k].half == TN_STD_VALUE;
    }
    for (size_t k = i; k < group->port_count && same_component(p, &group->ports[k]); k++) {
        const struct tn_std_state_port *q = &group->ports[k];
        if (q->half != TN_STD_KEY && q->half != TN_STD_VALUE) continue;
        bool paired = has_half(group, q, q->half == TN_STD_KEY ? TN_STD_VALUE : TN_STD_KEY);
        if (paired && keys == values) continue;
        struct tn_finding *f = tn_std_say(c, p->component_at,
                                          "keys and values of \"%.*s\" do not belong together layer by layer",
                                          TN_FMT_ARG(p->component));
        if (keys != values) tn_found(f, "%zu key and %zu value ports", keys, values);
        else if (q->layer.present) tn_found(f, "layer %llu has one half", (unsigned long long)q->layer.value);
        else tn_found(f, "one half without a layer");
        tn_expected(f, "a key and a value port for each layer");
        return;
    }
}

static void check_shared_input(struct tn_std_check *c, const struct tn_std_group *group, size_t i)
{
    const struct tn_std_state_port *p = &group->ports[i];
    for (size_t k = 0; k < i; k++) {
        if (!same_component(p, &group->ports[k]) || !tn_str_eq(p->input.name, group->ports[k].input.name)) continue;
        struct tn_finding *f = tn_std_say(c, p->input.at, "two pairs of one group bind this input port");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(p->input.name));
        tn_expected(f, "one pair for each port");
        return;
    }
}

/* A label is the producer's, but one that is a cell's name means that cell. */
static void check_label(struct tn_std_check *c, const struct tn_std_group *group, const struct tn_std_state_port *p)
{
    const struct tn_std_cell *cell = tn_std_cell(c, p->label);
    if (!cell || tn_str_eq(cell->group.name, group->name)) return;
    if (tn_json_present(cell->group.at) && !tn_std_group(c, cell->group.name)) return; /* told at the cell */
    struct tn_finding *f = tn_std_say_member(c, cell->at, "service_group",
                                             "ports of the group \"%.*s\" carry this cell", TN_FMT_ARG(group->name));
    if (tn_json_present(cell->group.at)) tn_found(f, "\"%.*s\"", TN_FMT_ARG(cell->group.name));
    else tn_found(f, "no group");
    tn_expected(f, "\"%.*s\"", TN_FMT_ARG(group->name));
}

static void check_state_port(struct tn_std_check *c, const struct tn_std_group *group, size_t i)
{
    const struct tn_std_state_port *p = &group->ports[i];
    const struct tn_std_component *component = tn_std_component(c, p->component);
    struct tn_finding *f;
    if (!component) {
        if (i > 0 && same_component(p, &group->ports[i - 1])) return; /* told already */
        if (c->open[TN_STD_SPACE_COMPONENT]) return;
        f = tn_std_say(c, p->component_at, "the group binds ports of a component that is not there");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(p->component));
        tn_expected(f, "the name of a declared component");
        return;
    }
    if (!p->read_only && !tn_json_present(p->output.at) && !tn_std_hides(c, p->at, "access")) {
        f = tn_std_say_member(c, p->at, "output", "a pair that advances its state names the port of the next value");
        tn_expected(f, "an output port, or access read_only");
    }
    if (p->half != TN_STD_NO_HALF && p->half != TN_STD_COMBINED && group->kind == TN_STD_RECURRENT) {
        f = tn_std_say(c, p->half_at, "recurrent state has no keys and values");
        tn_expected(f, "no role");
    }
    bool known = check_port_name(c, component, false, &p->input);
    known = check_port_name(c, component, true, &p->output) && known;
    if (known) check_pair(c, component, p);
    check_shared_input(c, group, i);
    check_label(c, group, p);
}

/* Every pair, and what pairs owe each other. */
static void check_state_ports(struct tn_std_check *c, const struct tn_std_group *group)
{
    bool ordered = true;
    if (group->port_count > PAIRS) {
        struct tn_finding *f = tn_std_say(c, group->ports_at, "the group binds more state ports than any model has");
        if (f) f->code = TN_RESOURCE_LIMIT;
        tn_found(f, "%zu", group->port_count);
        tn_expected(f, "at most %d", PAIRS);
        return;
    }
    for (size_t i = 0; i < group->port_count; i++) {
        check_state_port(c, group, i);
        ordered = check_layers(c, group, i) && ordered;
    }
    for (size_t i = 0; ordered && i < group->port_count; i++) check_halves(c, group, i);
    if (group->port_count == 0) return;
    for (size_t i = 0; i < c->flow->cell_count; i++)
        if (tn_str_eq(c->flow->cells[i].group.name, group->name)) return;
    for (size_t i = 0; i < group->port_count; i++)
        if (tn_std_cell(c, group->ports[i].label)) return; /* told at the cell */
    if (c->open[TN_STD_SPACE_CELL]) return;
    for (size_t i = 0; i < c->flow->cell_count; i++)
        if (tn_std_hides(c, c->flow->cells[i].at, "service_group")) return;
    struct tn_finding *f = tn_std_say(c, group->ports_at, "the group binds ports, and no state cell belongs to it");
    tn_expected(f, "a cell with service_group \"%.*s\"", TN_FMT_ARG(group->name));
}

/* ---- update discipline ------------------------------------------------------------------------------------------ */

/* The axis of the sequence in a layout of one letter an axis, "bnsh"; false where it is no such word. */
static bool layout_axis(struct tn_str layout, uint64_t rank, uint64_t *axis)
{
    unsigned found = 0;
    if (layout.n != rank || layout.n < 2 || layout.s[0] != 'b') return false;
    for (size_t i = 0; i < layout.n; i++) {
        if (layout.s[i] < 'a' || layout.s[i] > 'z') return false;
        if (layout.s[i] != 's') continue;
        *axis = i;
        found++;
    }
    return found == 1;
}

/*
 * Which cell of a group its sequence axis cannot belong to, and why: it lies outside them all, or where one has its rows,
 * or the layout says another. Told once, at the axis.
 */
const char *tn_std_axis_clash(const struct tn_std_check *c, const struct tn_std_group *group,
                              const struct tn_std_cell **where)
{
    const struct tn_std_cell *outside = NULL, *rows = NULL, *other = NULL;
    uint64_t axis = group->sequence_axis.value, named = 0;
    bool inside = false;
    *where = NULL;
    if (!group->sequence_axis.present || group->update == TN_STD_REPLACE || tn_std_unknown(c, group->at)) return NULL;
    for (size_t i = 0; i < c->flow->cell_count; i++) {
        const struct tn_std_cell *cell = &c->flow->cells[i];
        const struct tn_std_layout *l = &cell->contract.layout;
        if (!tn_str_eq(cell->group.name, group->name) || !cell->contract.rank.present) continue;
        if (tn_std_unknown(c, cell->contract.at)) return NULL;
        if (axis < cell->contract.rank.value) inside = true;
        else if (!outside) outside = cell;
        bool has_rows = l->kind == TN_STD_REQUEST_ALIGNED || l->kind == TN_STD_REQUEST_EXPANDED;
        if (has_rows && l->axis == axis && !rows) rows = cell;
        if (!other && layout_axis(group->layout, cell->contract.rank.value, &named) && named != axis) other = cell;
    }
    *where = outside && !inside ? outside : rows ? rows : other;
    if (outside && !inside) return "no cell of the group has this axis";
    if (rows) return "the rows of the group's state lie on this axis, and not its sequence";
    return other ? "the layout has its sequence on another axis" : NULL;
}

static void check_sequence_axis(struct tn_std_check *c, const struct tn_std_group *group)
{
    const struct tn_std_cell *cell;
    const char *clash = tn_std_axis_clash(c, group, &cell);
    struct tn_finding *f;
    if (clash) {
        f = tn_std_say(c, group->sequence_axis.at, "%s", clash);
        tn_found(f, "axis %llu, rank %llu of \"%.*s\", layout \"%.*s\"", (unsigned long long)group->sequence_axis.value,
                 (unsigned long long)cell->contract.rank.value, TN_FMT_ARG(cell->name), TN_FMT_ARG(group->layout));
        tn_expected(f, "the axis along which positions of the sequence follow one another");
        return;
    }
    if (tn_std_hides(c, group->at, "update") || tn_std_hides(c, group->at, "kind")) return;
    if (group->update == TN_STD_REPLACE) {
        if (!group->sequence_axis.present) return;
        f = tn_std_say(c, group->sequence_axis.at, "state of fixed size that each step replaces has no sequence axis");
        tn_expected(f, "no sequence_axis");
    } else if (!group->sequence_axis.present && (group->has_update || is_attention(group->kind) ||
                                                 group->kind == TN_STD_RECURRENT)) {
        f = tn_std_say_member(c, group->at, "sequence_axis",
                              "state that grows or is scattered into needs its sequence axis");
        tn_expected(f, group->kind == TN_STD_RECURRENT ? "a sequence_axis, or update replace" : "a sequence_axis");
    }
}

/* A cell of one whole number per row. */
static void check_row_counter(struct tn_std_check *c, const struct tn_std_ref *ref, const char *what)
{
    const struct tn_std_cell *cell = tn_std_want_cell(c, ref);
    char text[TN_STD_TYPE_TEXT];
    if (!cell) return;
    struct tn_std_type type = tn_std_type_of(c->doc, &cell->contract);
    if (cell->advisory) {
        struct tn_finding *f = tn_std_say(c, ref->at, "%s decides what the state means; it cannot be advisory", what);
        tn_expected(f, "a cell of class semantic");
    }
    if (!type.known || (tn_std_type_is_integer(&type) && (!type.has_rank || type.rank == 1))) return;
    struct tn_finding *f = tn_std_say(c, ref->at, "%s is one whole number per row", what);
    tn_found(f, "%s", tn_std_type_text(&type, text));
    tn_expected(f, "int64 of rank 1");
}

static const struct tn_std_binding *binding_of(const struct tn_std_bindings *list, struct tn_str key)
{
    for (size_t i = 0; i < list->count; i++)
        if (tn_str_eq(list->items[i].key, key)) return &list->items[i];
    return NULL;
}

/* component to port: both are there, and the port takes whole numbers of rank 1. */
static void check_control_ports(struct tn_std_check *c, const struct tn_std_bindings *list, const char *what)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_std_binding *b = &list->items[i];
        const struct tn_std_component *component = tn_std_component(c, b->key);
        struct tn_std_ref port = {b->value, b->at};
        char text[TN_STD_TYPE_TEXT];
        struct tn_finding *f;
        if (!component) {
            if (c->open[TN_STD_SPACE_COMPONENT]) continue;
            f = tn_std_say(c, b->at, "there is no component \"%.*s\"", TN_FMT_ARG(b->key));
            tn_expected(f, "a declared component");
            continue;
        }
        if (!check_port_name(c, component, false, &port)) continue;
        const struct tn_std_port *declared = tn_standard_port(&component->inputs, b->value);
        if (!declared) continue;
        struct tn_std_type type = tn_std_type_of(c->doc, &declared->contract);
        if (tn_std_type_is_integer(&type) && (!type.has_rank || type.rank == 1)) continue;
        f = tn_std_say(c, b->at, "%s go through a port of whole numbers, one per row", what);
        tn_found(f, "%s", tn_std_type_text(&type, text));
        tn_expected(f, "int64 of rank 1");
    }
}

/* Every component that writes tells where; and destinations and lengths do not share a port. */
static void check_writers(struct tn_std_check *c, const struct tn_std_group *group)
{
    for (size_t i = 0; i < group->port_count; i++) {
        const struct tn_std_state_port *p = &group->ports[i];
        bool earlier = false;
        for (size_t k = 0; k < i; k++) earlier = earlier ||
            (same_component(p, &group->ports[k]) && !group->ports[k].read_only);
        if (p->read_only || earlier || !tn_std_component(c, p->component)) continue;
        const struct tn_std_binding *write = binding_of(&group->write_indices_ports, p->component);
        const struct tn_std_binding *length = binding_of(&group->kv_length_ports, p->component);
        struct tn_finding *f;
        if (!write) {
            f = tn_std_say_member(c, group->update_at, "write_indices_ports",
                                  "nobody can check where \"%.*s\" writes", TN_FMT_ARG(p->component));
            tn_expected(f, "the input port of this component that takes the destinations");
        } else if (length && tn_str_eq(write->value, length->value)) {
            f = tn_std_say(c, length->at, "destinations and valid lengths are two inputs");
            tn_found(f, "both \"%.*s\"", TN_FMT_ARG(length->value));
            tn_expected(f, "a port of its own");
        }
    }
}

/* A literal capacity and a buffer of fixed extent are one number. */
static void check_capacity(struct tn_std_check *c, const struct tn_std_group *group)
{
    const struct tn_std_value *v = tn_std_want_value(c, &group->capacity);
    const struct tn_std_cell *clash;
    char text[TN_STD_TYPE_TEXT];
    int64_t capacity;
    struct tn_finding *f;
    if (!v) return;
    if (!tn_std_type_is_integer(&v->type) || !tn_std_type_is_scalar(&v->type)) {
        f = tn_std_say(c, group->capacity.at, "a capacity is one whole number");
        tn_found(f, "%s", tn_std_type_text(&v->type, text));
        tn_expected(f, "int64 of rank 0, or of rank 1 with one element");
        return;
    }
    if (!tn_std_literal(c, v, &capacity) || capacity < 1) return;
    if (group->rollback_positions.present && group->rollback_positions.value > (uint64_t)capacity) {
        f = tn_std_say(c, group->rollback_positions.at, "more positions can be taken back than the buffer holds");
        tn_found(f, "%llu", (unsigned long long)group->rollback_positions.value);
        tn_expected(f, "at most %lld, the capacity", (long long)capacity);
    }
    if (!group->sequence_axis.present || tn_std_axis_clash(c, group, &clash)) return;
    for (size_t i = 0; i < c->flow->cell_count; i++) {
        const struct tn_std_cell *cell = &c->flow->cells[i];
        uint64_t axis = group->sequence_axis.value;
        if (!tn_str_eq(cell->group.name, group->name) || axis >= cell->contract.dim_count) continue;
        const struct tn_std_dim *d = &cell->contract.dims[axis];
        if (!d->fixed || d->extent == capacity) continue;
        f = tn_std_say(c, d->at, "the buffer's extent is not the group's capacity");
        tn_found(f, "%lld", (long long)d->extent);
        tn_expected(f, "%lld, as the capacity says", (long long)capacity);
    }
}

static void check_scatter(struct tn_std_check *c, const struct tn_std_group *group)
{
    if (group->kind == TN_STD_RECURRENT) {
        struct tn_finding *f = tn_std_say(c, group->update_at, "recurrent state has a fixed size and no positions to write to");
        tn_found(f, "indexed_scatter");
        tn_expected(f, "update replace, or the kind of state that has positions");
        return;
    }
    if (group->port_count == 0 && !tn_std_hides(c, group->at, "ports")) {
        struct tn_finding *f = tn_std_say_member(c, group->at, "ports", "destinations are told, and no port is written through");
        tn_found(f, "no port");
        tn_expected(f, "the pairs of ports whose buffers the graph scatters into");
        return;
    }
    check_row_counter(c, &group->write_indices, "the write cursor");
    check_capacity(c, group);
    check_control_ports(c, &group->write_indices_ports, "destinations");
    check_control_ports(c, &group->kv_length_ports, "valid lengths");
    check_writers(c, group);
    if (tn_json_present(group->logical_lengths.at)) return;
    struct tn_finding *f = tn_std_say_member(c, group->at, "logical_lengths",
                                             "the valid part of a buffer of fixed capacity "
                                             "cannot be seen from its shape");
    tn_expected(f, "the state cell of each row's valid length");
}

/* ---- the group -------------------------------------------------------------------------------------------------- */

/* A value, or an input port of a component that the group binds. */
static void check_total_length(struct tn_std_check *c, const struct tn_std_group *group)
{
    const struct tn_std_ref *ref = &group->total_length;
    struct tn_std_value *v = tn_std_value(c, ref->name);
    if (v) v->read = true;
    if (!tn_json_present(ref->at) || v) return;
    for (size_t i = 0; i < group->port_count; i++) {
        const struct tn_std_component *component = tn_std_component(c, group->ports[i].component);
        if (component && tn_std_may_have_port(c, component, false, ref->name)) return;
    }
    tn_std_say_unknown(c, ref, TN_STD_SPACE_VALUE_OR_PORT);
}

static void check_cascade(struct tn_std_check *c, const struct tn_std_group *group)
{
    for (size_t i = 0; i < group->cascade.count; i++) {
        const struct tn_std_ref *ref = &group->cascade.items[i];
        const struct tn_std_group *other = tn_std_want_group(c, ref);
        if (other != group) continue;
        struct tn_finding *f = tn_std_say(c, ref->at, "a group cannot drag itself along");
        tn_expected(f, "the names of other groups");
    }
}

void tn_std_check_groups(struct tn_std_check *c)
{
    const struct tn_std_serving *s = &c->flow->serving;
    check_serving_value(c, &s->active, true, "whether a row is active");
    check_serving_value(c, &s->done, true, "whether a row is done");
    check_serving_value(c, &s->accepted_len, false, "how many tokens were accepted");
    for (size_t g = 0; g < s->group_count; g++) {
        const struct tn_std_group *group = &s->groups[g];
        check_state_ports(c, group);
        check_sequence_axis(c, group);
        check_row_counter(c, &group->logical_lengths, "the logical length");
        if (group->update == TN_STD_INDEXED_SCATTER) check_scatter(c, group);
        check_total_length(c, group);
        check_cascade(c, group);
    }
}
