/*
 * The walk over the steps in the order of execution: every name that a step reads is there when the step runs, its type
 * is what the reader declares, every case of a branch delivers what the branch merges, every loop can begin and end.
 *
 * Where values can be seen. A loop's body and a branch's case close over what they produce; a loop's setup does not,
 * because it always runs. A state cell can be read in a loop that carries it and after that loop; a constant is carried
 * as its own next value. An optional input without a default can be read only where a branch on its presence has shown
 * that it is there.
 */
#include "describe/standard/check_internal.h"

#include <string.h>

/* So many findings beyond the list's end, and the rest of the walk can tell nobody anything. */
enum { ENOUGH = 1000 };

/* ---- what can be seen ------------------------------------------------------------------------------------------- */

static void show(struct tn_std_check *c, struct tn_std_value *v)
{
    v->seen = true;
    if (v->visible) return;
    v->visible = true;
    c->scope[c->scope_top++] = (uint32_t)(v - c->values);
}

static void close_scope(struct tn_std_check *c, size_t mark)
{
    while (c->scope_top > mark) c->values[c->scope[--c->scope_top]].visible = false;
}

/* The value that this very place defines; NULL for a second producer, which has been refused. */
static struct tn_std_value *defined_at(struct tn_std_check *c, struct tn_str name, struct tn_json at)
{
    struct tn_std_value *v = tn_std_value(c, name);
    return v && v->at.node == at.node ? v : NULL;
}

static void say_invisible(struct tn_std_check *c, const struct tn_std_ref *ref, const struct tn_std_value *v)
{
    char pointer[256];
    struct tn_str where = tn_json_pointer(v->at, pointer, sizeof(pointer));
    struct tn_finding *f;
    if (c->steps_open) return; /* what carries or produces it may be what is broken */
    if (v->origin == TN_STD_FROM_CELL && !v->seen) {
        f = tn_std_say(c, ref->at, "the state cell \"%.*s\" is read where no loop carries it", TN_FMT_ARG(ref->name));
        tn_found(f, "the cell is %.*s", TN_FMT_ARG(where));
        tn_expected(f, "a cell that this loop, one around it, or an earlier one carries");
        return;
    }
    if (v->seen) f = tn_std_say(c, ref->at, "the value \"%.*s\" belongs to a loop's body or a branch's case and cannot "
                                            "be read outside it", TN_FMT_ARG(ref->name));
    else f = tn_std_say(c, ref->at, "the value \"%.*s\" is read before it is produced", TN_FMT_ARG(ref->name));
    tn_found(f, "its producer is %.*s", TN_FMT_ARG(where));
    tn_expected(f, "a value that exists when this step runs");
    tn_remedy(f, v->seen ? "carry it in a state cell or merge it with the branch's outputs" : "reorder the steps");
}

/* The value behind a reference, NULL with a finding when it is not there or not yet. */
static struct tn_std_value *reach(struct tn_std_check *c, const struct tn_std_ref *ref)
{
    struct tn_std_value *v = tn_std_want_value(c, ref);
    if (!v || v->visible) return v;
    say_invisible(c, ref, v);
    return NULL;
}

static struct tn_std_ref as_ref(const struct tn_std_binding *b)
{
    return (struct tn_std_ref){b->value, b->at};
}

/* ---- agreement -------------------------------------------------------------------------------------------------- */

static bool agree(struct tn_std_check *c, struct tn_json at, const struct tn_std_type *value,
                  const struct tn_std_type *wanted, struct tn_std_symbols *symbols, uint64_t free_axis,
                      const char *what)
{
    const char *clash = tn_std_type_clash(value, wanted, symbols, free_axis);
    char text[TN_STD_TYPE_TEXT];
    if (!clash) return true;
    struct tn_finding *f = tn_std_say(c, at, "%s does not take this value: %s", what, clash);
    tn_found(f, "%s", tn_std_type_text(value, text));
    tn_expected(f, "%s", tn_std_type_text(wanted, text));
    return false;
}

static void want_bool(struct tn_std_check *c, const struct tn_std_ref *ref, const struct tn_std_type *type,
                      const char *what)
{
    char text[TN_STD_TYPE_TEXT];
    if (!type->known || (type->dtype == TN_STD_BOOL && (!type->has_rank || type->rank <= 1))) return;
    struct tn_finding *f = tn_std_say(c, ref->at, "%s is no truth value", what);
    tn_found(f, "%s", tn_std_type_text(type, text));
    tn_expected(f, "bool of rank 0 or 1");
}

/* ---- invocations ------------------------------------------------------------------------------------------------ */

static void check_presence(struct tn_std_check *c, const struct tn_std_ref *ref, const struct tn_std_value *v,
                           bool optional)
{
    if (v->origin != TN_STD_FROM_INPUT || optional) return;
    const struct tn_std_input *in = &c->flow->inputs[v->index];
    if (in->required || tn_json_present(in->default_at) || c->present[v->index] > 0 || c->predicate_unknown) return;
    struct tn_finding *f = tn_std_say(c, ref->at, "the optional input \"%.*s\" is read where it may be absent",
                                      TN_FMT_ARG(ref->name));
    tn_expected(f, "a branch on its presence around this step, or a default");
}

static void check_input(struct tn_std_check *c, const struct tn_std_component *component,
                        const struct tn_std_binding *b,
                        struct tn_std_symbols *symbols)
{
    struct tn_std_ref ref = as_ref(b);
    const struct tn_std_port *port = component ? tn_standard_port(&component->inputs, b->key) : NULL;
    struct tn_std_value *v = reach(c, &ref);
    if (component && !tn_std_may_have_port(c, component, false, b->key)) {
        struct tn_finding *f = tn_std_say(c, b->at, "the component \"%.*s\" declares no input port \"%.*s\"",
                                          TN_FMT_ARG(component->name), TN_FMT_ARG(b->key));
        tn_expected(f, "a port of components.%.*s.ports.inputs", TN_FMT_ARG(component->name));
        return;
    }
    if (!v) return;
    check_presence(c, &ref, v, port && port->contract.optional);
    if (!port) return;
    struct tn_std_type wanted = tn_std_type_of(c->doc, &port->contract);
    agree(c, b->at, &v->type, &wanted, symbols, TN_STD_NO_AXIS, "the port");
}

/* The output's type with the sizes that this invocation's inputs gave to the component's symbols. */
static struct tn_std_type output_type(struct tn_std_check *c, const struct tn_std_contract *contract,
                                      const struct tn_std_symbols *symbols)
{
    struct tn_std_type type = tn_std_type_of(c->doc, contract);
    if (!type.has_shape || type.rank == 0 || symbols->count == 0) return type;
    struct tn_std_dim *dims = tn_arena_array(&c->arena, type.rank, sizeof(*dims));
    if (!dims) {
        c->memory_gone = true;
        return (struct tn_std_type){0};
    }
    for (uint64_t i = 0; i < type.rank; i++) {
        dims[i] = type.dims[i];
        for (size_t k = 0; k < symbols->count && !dims[i].fixed; k++) {
            if (!tn_str_eq(symbols->name[k], dims[i].symbol)) continue;
            dims[i].fixed = true;
            dims[i].extent = symbols->extent[k];
        }
    }
    type.dims = dims;
    return type;
}

static void define_output(struct tn_std_check *c, const struct tn_std_component *component,
                          const struct tn_std_binding *b, const struct tn_std_symbols *symbols)
{
    struct tn_std_value *v = defined_at(c, b->value, b->at);
    const struct tn_std_port *port = component ? tn_standard_port(&component->outputs, b->key) : NULL;
    if (component && !tn_std_may_have_port(c, component, true, b->key)) {
        struct tn_finding *f = tn_std_say(c, b->at, "the component \"%.*s\" declares no output port \"%.*s\"",
                                          TN_FMT_ARG(component->name), TN_FMT_ARG(b->key));
        tn_expected(f, "a port of components.%.*s.ports.outputs", TN_FMT_ARG(component->name));
    }
    if (!v) return;
    if (port) v->type = output_type(c, &port->contract, symbols);
    show(c, v);
}

static bool binds(const struct tn_std_bindings *list, struct tn_str key)
{
    for (size_t i = 0; i < list->count; i++)
        if (tn_str_eq(list->items[i].key, key)) return true;
    return false;
}

static void check_unbound(struct tn_std_check *c, const struct tn_std_step *s, const struct tn_std_component *component)
{
    for (size_t i = 0; i < component->inputs.count; i++) {
        const struct tn_std_port *port = &component->inputs.items[i];
        if (c->findings && c->findings->dropped > ENOUGH) return;
        if (port->contract.optional || binds(&s->inputs, port->name)) continue;
        struct tn_finding *f = tn_std_say_member(c, s->at, "inputs",
                                                 "no value is bound to the input port \"%.*s\" of \"%.*s\"",
                                                 TN_FMT_ARG(port->name), TN_FMT_ARG(component->name));
        tn_expected(f, "a value for every declared port that is not optional");
    }
}

static void walk_invoke(struct tn_std_check *c, const struct tn_std_step *s)
{
    const struct tn_std_component *component = tn_std_want_component(c, &s->component);
    struct tn_std_symbols symbols = {.count = 0};
    if (component) c->invoked[component - c->flow->components]++;
    for (size_t i = 0; i < s->inputs.count; i++) check_input(c, component, &s->inputs.items[i], &symbols);
    if (component) check_unbound(c, s, component);
    for (size_t i = 0; i < s->outputs.count; i++) define_output(c, component, &s->outputs.items[i], &symbols);
}

/* ---- emits ------------------------------------------------------------------------------------------------------ */

static uint64_t last_axis(const struct tn_std_type *type)
{
    return type->has_rank && type->rank > 0 ? type->rank - 1 : TN_STD_NO_AXIS;
}

static void check_emit_axis(struct tn_std_check *c, const struct tn_std_step *s, const struct tn_std_type *type)
{
    if (!s->axis.present || !type->has_rank || s->axis.value < type->rank) return;
    struct tn_finding *f = tn_std_say(c, s->axis.at, "the output has no axis of this number");
    tn_found(f, "axis %llu of rank %llu", (unsigned long long)s->axis.value, (unsigned long long)type->rank);
    tn_expected(f, "an axis below the output's rank");
}

static void check_valid_length(struct tn_std_check *c, const struct tn_std_ref *ref)
{
    const struct tn_std_value *v = reach(c, ref);
    char text[TN_STD_TYPE_TEXT];
    if (!v || (tn_std_type_is_integer(&v->type) && (!v->type.has_rank || v->type.rank <= 1))) return;
    struct tn_finding *f = tn_std_say(c, ref->at, "valid_length is no list of lengths");
    tn_found(f, "%s", tn_std_type_text(&v->type, text));
    tn_expected(f, "int64 of rank 1, one length per row");
}

static void say_private(struct tn_std_check *c, const struct tn_std_step *s)
{
    struct tn_finding *f = tn_std_say(c, s->value.at,
                                      "\"%.*s\" is state that the runtime owns; it is private and cannot "
                                      "be published", TN_FMT_ARG(s->value.name));
    tn_expected(f, "a state group with a checkpoint adapter, the only portable road for such state");
}

/* What is published has rows exactly where its output says, or whoever splits a batch splits it wrongly. */
static void check_emit_layout(struct tn_std_check *c, const struct tn_std_step *s, const struct tn_std_type *value,
                              const struct tn_std_type *out)
{
    if (!value->layout || !out->layout || value->layout->kind == out->layout->kind) return;
    if (value->layout->kind == TN_STD_SHARED) return; /* one value for all requests serves each of them */
    if (c->row_wise[tn_std_output(c, s->output.name) - c->flow->outputs] && out->layout->kind != TN_STD_REQUEST_ALIGNED)
        return; /* told at the output */
    struct tn_finding *f = tn_std_say(c, s->value.at, "the value and its output say different things about requests");
    tn_found(f, "%s", tn_std_layout_name(value->layout->kind));
    tn_expected(f, "%s", tn_std_layout_name(out->layout->kind));
}

static void walk_emit(struct tn_std_check *c, const struct tn_std_step *s)
{
    const struct tn_std_output *out = tn_std_output(c, s->output.name);
    struct tn_std_value *v = reach(c, &s->value);
    if (!out && tn_json_present(s->output.at)) tn_std_say_unknown(c, &s->output, TN_STD_SPACE_OUTPUT);
    check_valid_length(c, &s->valid_length);
    const struct tn_std_value *when = reach(c, &s->when);
    if (when) want_bool(c, &s->when, &when->type, "the guard of an emit");
    if (v) check_presence(c, &s->value, v, false);
    if (v && v->private_state) say_private(c, s);
    if (!out) return;
    bool ragged = tn_json_present(s->valid_length.at) || tn_json_present(s->when.at);
    struct tn_std_type wanted = tn_std_type_of(c->doc, &out->contract);
    if (ragged) c->row_wise[out - c->flow->outputs] = true;
    check_emit_axis(c, s, &wanted);
    uint64_t free_axis = s->axis.present ? s->axis.value : last_axis(&wanted);
    if (s->mode == TN_STD_EMIT_REPLACE && !tn_json_present(s->valid_length.at)) free_axis = TN_STD_NO_AXIS;
    if (v && agree(c, s->value.at, &v->type, &wanted, NULL, free_axis, "the output"))
        check_emit_layout(c, s, &v->type, &wanted);
}

/* ---- loops ------------------------------------------------------------------------------------------------------ */

static void walk_steps(struct tn_std_check *c, const struct tn_std_steps *steps);
static void walk_step(struct tn_std_check *c, const struct tn_std_step *s);

/* An initializer has to be there when the loop begins. */
static void begin_cell(struct tn_std_check *c, const struct tn_std_cell *cell)
{
    bool *told = &c->told[cell - c->flow->cells];
    const struct tn_std_value *from = tn_std_value(c, cell->initializer.name);
    if (*told || !from || from->visible) return;
    *told = true;
    say_invisible(c, &cell->initializer, from);
}

static uint64_t recurrence_axis(const struct tn_std_cell *cell)
{
    return cell->recurrence == TN_STD_INVARIANT || !cell->axis.present ? TN_STD_NO_AXIS : cell->axis.value;
}

static void begin_carry(struct tn_std_check *c, const struct tn_std_step *loop, size_t i)
{
    const struct tn_std_carry *carry = &loop->carried[i];
    const struct tn_std_cell *cell = tn_std_want_cell(c, &carry->cell);
    const struct tn_std_value *initial = reach(c, &carry->initial);
    if (!cell) return;
    size_t index = (size_t)(cell - c->flow->cells);
    if (c->carrier[index] == loop) {
        struct tn_finding *f = tn_std_say(c, carry->cell.at, "the loop carries this cell twice");
        tn_expected(f, "one next value for each cell");
        return;
    }
    c->carrier[index] = loop;
    struct tn_std_type wanted = tn_std_type_of(c->doc, &cell->contract);
    if (initial) agree(c, carry->initial.at, &initial->type, &wanted, NULL, recurrence_axis(cell), "the cell");
    if (!tn_json_present(carry->initial.at)) begin_cell(c, cell);
    struct tn_std_value *v = defined_at(c, cell->name, cell->at);
    if (v) show(c, v);
}

static void end_carry(struct tn_std_check *c, const struct tn_std_carry *carry)
{
    const struct tn_std_cell *cell = tn_std_cell(c, carry->cell.name);
    const struct tn_std_value *next = reach(c, &carry->next);
    if (!tn_json_present(carry->next.at)) {
        struct tn_finding *f = tn_std_say_member(c, carry->at, "next", "a carried cell has no next value");
        tn_expected(f, "the value that the next iteration starts from");
    }
    if (!cell || !next) return;
    struct tn_std_type wanted = tn_std_type_of(c->doc, &cell->contract);
    agree(c, carry->next.at, &next->type, &wanted, NULL, recurrence_axis(cell), "the cell");
}

static void check_bound(struct tn_std_check *c, const struct tn_std_ref *ref, const char *what)
{
    const struct tn_std_value *v = reach(c, ref);
    char text[TN_STD_TYPE_TEXT];
    if (!v || (tn_std_type_is_integer(&v->type) && tn_std_type_is_scalar(&v->type))) return;
    struct tn_finding *f = tn_std_say(c, ref->at, "%s is no whole number", what);
    tn_found(f, "%s", tn_std_type_text(&v->type, text));
    tn_expected(f, "int64 of rank 0, or of rank 1 with one element");
}

static void check_iteration(struct tn_std_check *c, const struct tn_std_step *s)
{
    struct tn_std_type type = tn_std_type_of(c->doc, &s->iteration_contract);
    char text[TN_STD_TYPE_TEXT];
    if (!type.known || (type.dtype == TN_STD_I64 && (!type.has_rank || type.rank <= 1))) return;
    struct tn_finding *f = tn_std_say(c, s->iteration_contract.at, "an induction value counts iterations");
    tn_found(f, "%s", tn_std_type_text(&type, text));
    tn_expected(f, "int64 of rank 0, or of rank 1 for all rows");
}

static void walk_loop(struct tn_std_check *c, const struct tn_std_step *s)
{
    walk_steps(c, &s->setup);
    for (size_t i = 0; i < s->carried_count; i++) begin_carry(c, s, i);
    const struct tn_std_value *condition = reach(c, &s->continue_when);
    if (condition) want_bool(c, &s->continue_when, &condition->type, "the condition of a loop");
    check_bound(c, &s->max_iterations, "the bound of a loop");
    check_iteration(c, s);
    size_t mark = c->scope_top;
    struct tn_std_value *iteration = defined_at(c, s->iteration.name, s->iteration.at);
    if (iteration && tn_json_present(s->iteration.at)) show(c, iteration);
    walk_steps(c, &s->body);
    for (size_t i = 0; i < s->carried_count; i++) end_carry(c, &s->carried[i]);
    close_scope(c, mark);
}

/* ---- branches --------------------------------------------------------------------------------------------------- */

/* What the cases agree on; where they differ in one extent, nothing is known of it. */
static void merge_type(struct tn_std_check *c, const struct tn_std_ref *ref, const struct tn_std_value *v,
                       struct tn_std_type *merged, bool first)
{
    if (first) {
        *merged = v->type;
        return;
    }
    const char *clash = tn_std_type_clash(&v->type, merged, NULL, TN_STD_NO_AXIS);
    if (clash && v->type.has_shape && merged->has_shape && v->type.rank == merged->rank) {
        bool empty = false;
        for (uint64_t i = 0; i < merged->rank; i++)
            empty = empty || (v->type.dims[i].fixed && v->type.dims[i].extent == 0) ||
                    (merged->dims[i].fixed && merged->dims[i].extent == 0);
        if (empty && v->type.dtype == merged->dtype) clash = NULL; /* an empty alternative */
    }
    if (clash) agree(c, ref->at, &v->type, merged, NULL, TN_STD_NO_AXIS, "what the case before merges");
    if (!v->type.known) merged->known = false;
    merged->has_shape = false;
}

/* Reads the case's contribution to each merged value while its own values can be seen. */
static void merge_case(struct tn_std_check *c, const struct tn_std_step *s, struct tn_str name, bool is_default,
                       bool first)
{
    for (size_t i = 0; i < s->merged_count; i++) {
        const struct tn_std_phi *phi = &s->merged[i];
        struct tn_std_value *merged = defined_at(c, phi->name, phi->at);
        struct tn_std_ref ref = is_default ? phi->otherwise : (struct tn_std_ref){0};
        for (size_t k = 0; k < phi->cases.count && !is_default; k++)
            if (tn_str_eq(phi->cases.items[k].key, name)) ref = as_ref(&phi->cases.items[k]);
        if (!tn_json_present(ref.at)) {
            struct tn_finding *f = is_default
                ? tn_std_say_member(c, phi->at, "default",
                                    "the merged value \"%.*s\" has no value for the default case",
                                    TN_FMT_ARG(phi->name))
                : tn_std_say_member(c, phi->at, "cases",
                                    "the merged value \"%.*s\" has no value for the case \"%.*s\"",
                                    TN_FMT_ARG(phi->name), TN_FMT_ARG(name));
            tn_expected(f, "a value from every case of the branch");
            if (merged) merged->type.known = false;
            continue;
        }
        const struct tn_std_value *v = reach(c, &ref);
        if (!v || !merged) continue;
        if (v->private_state) merged->private_state = true;
        merge_type(c, &ref, v, &merged->type, first);
    }
}

static bool has_case(const struct tn_std_step *s, struct tn_str name)
{
    for (size_t i = 0; i < s->cases.count; i++)
        if (tn_str_eq(s->case_names[i], name)) return true;
    return false;
}

static void check_merged_cases(struct tn_std_check *c, const struct tn_std_step *s)
{
    if (!tn_json_present(s->cases.at) || tn_doc_is_broken(&c->doc->marks, s->cases.at)) return; /* the tables said so */
    for (size_t i = 0; i < s->merged_count; i++) {
        const struct tn_std_phi *phi = &s->merged[i];
        for (size_t k = 0; k < phi->cases.count; k++) {
            if (has_case(s, phi->cases.items[k].key)) continue;
            struct tn_finding *f = tn_std_say(c, phi->cases.items[k].at, "the branch has no case \"%.*s\"",
                                              TN_FMT_ARG(phi->cases.items[k].key));
            tn_expected(f, "the names of the branch's cases");
        }
        if (!tn_json_present(phi->otherwise.at) || s->otherwise) continue;
        struct tn_finding *f = tn_std_say(c, phi->otherwise.at, "the branch has no default case");
        tn_expected(f, "a value per case");
    }
}

/* A truth value selects "true" or "false"; what it may select and merged values need is there. */
static void check_predicate(struct tn_std_check *c, const struct tn_std_step *s, const struct tn_std_value *v)
{
    char text[TN_STD_TYPE_TEXT];
    if (!v || !v->type.known) return;
    bool truth = v->type.dtype == TN_STD_BOOL;
    if ((!truth && !tn_std_type_is_integer(&v->type) && v->type.dtype != TN_STD_STRING) ||
        !tn_std_type_is_scalar(&v->type)) {
        struct tn_finding *f = tn_std_say(c, s->predicate.at, "a branch cannot be decided by this value");
        tn_found(f, "%s", tn_std_type_text(&v->type, text));
        tn_expected(f, "one bool, whole number or string");
        return;
    }
    for (size_t i = 0; truth && i < s->cases.count; i++) {
        if (tn_str_is(s->case_names[i], "true") || tn_str_is(s->case_names[i], "false")) continue;
        struct tn_finding *f = tn_std_say(c, s->cases.items[i].at, "a truth value never selects this case");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(s->case_names[i]));
        tn_expected(f, "\"true\" or \"false\"");
    }
    if (s->merged_count == 0 || s->otherwise) return;
    if (truth && has_case(s, TN_STR("true")) && has_case(s, TN_STR("false"))) return;
    struct tn_finding *f = tn_std_say(c, s->cases.at,
                                      "the branch merges values, and may select a case that is not there");
    tn_expected(f, truth ? "cases \"true\" and \"false\", or a default" : "a default case");
}

static bool says_present(const struct tn_std_value *predicate, struct tn_str name)
{
    return predicate && predicate->origin == TN_STD_FROM_PRESENCE && tn_str_is(name, "true");
}

static void walk_case(struct tn_std_check *c, const struct tn_std_step *branch, const struct tn_std_step *s,
                      struct tn_str name, const struct tn_std_value *predicate, bool first)
{
    size_t mark = c->scope_top;
    bool is_default = s == branch->otherwise, guard = !is_default && says_present(predicate, name);
    if (guard) c->present[predicate->index]++;
    walk_step(c, s);
    merge_case(c, branch, name, is_default, first);
    if (guard) c->present[predicate->index]--;
    close_scope(c, mark);
}

static void walk_branch(struct tn_std_check *c, const struct tn_std_step *s)
{
    const struct tn_std_value *predicate = reach(c, &s->predicate);
    bool unknown = tn_std_hides(c, s->at, "predicate");
    check_predicate(c, s, predicate);
    check_merged_cases(c, s);
    c->predicate_unknown += unknown;
    for (size_t i = 0; i < s->cases.count; i++)
        walk_case(c, s, &s->cases.items[i], s->case_names[i], predicate, i == 0);
    if (s->otherwise) walk_case(c, s, s->otherwise, TN_STR(""), predicate, s->cases.count == 0);
    c->predicate_unknown -= unknown;
    for (size_t i = 0; i < s->merged_count; i++) {
        struct tn_std_value *merged = defined_at(c, s->merged[i].name, s->merged[i].at);
        if (merged) show(c, merged);
    }
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

static void walk_step(struct tn_std_check *c, const struct tn_std_step *s)
{
    if (c->findings && c->findings->dropped > ENOUGH) return;
    switch (s->kind) {
    case TN_STD_SEQUENCE: walk_steps(c, &s->body); break;
    case TN_STD_INVOKE: walk_invoke(c, s); break;
    case TN_STD_LOOP: walk_loop(c, s); break;
    case TN_STD_BRANCH: walk_branch(c, s); break;
    case TN_STD_EMIT: walk_emit(c, s); break;
    case TN_STD_STEP_OTHER: break;
    }
}

static void walk_steps(struct tn_std_check *c, const struct tn_std_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) walk_step(c, &steps->items[i]);
}

void tn_std_check_steps(struct tn_std_check *c)
{
    for (size_t i = 0; i < c->value_count; i++)
        if (c->values[i].origin == TN_STD_FROM_INPUT || c->values[i].origin == TN_STD_FROM_PRESENCE)
            show(c, &c->values[i]);
    walk_steps(c, &c->flow->steps);
    /* Cells that no loop carries keep their initial value, which has to be there at the end at the latest. */
    for (size_t i = 0; i < c->flow->cell_count; i++)
        if (!c->carrier[i]) begin_cell(c, &c->flow->cells[i]);
}
