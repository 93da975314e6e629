/*
 * Every tensor contract of the document, looked at by itself: a shape has the rank it claims, axes lie inside it, packed
 * values name who owns their items. And the row-wise outputs: whatever is published row by row has a row per request.
 */
#include "describe/standard/check_internal.h"

static void say_axis(struct tn_std_check *c, const struct tn_std_contract *contract)
{
    struct tn_finding *f = tn_std_say_member(c, contract->layout.at, "axis", "the tensor has no axis of this number");
    tn_found(f, "axis %llu of rank %llu", (unsigned long long)contract->layout.axis,
             (unsigned long long)contract->rank.value);
    tn_expected(f, "an axis below the rank");
}

/* The owner and offsets of packed items are whole numbers of rank 1: a sibling port, or a value. */
static void check_packing(struct tn_std_check *c, const struct tn_std_ref *ref, const struct tn_std_ports *siblings,
                          const char *what)
{
    const struct tn_std_port *port = siblings ? tn_standard_port(siblings, ref->name) : NULL;
    struct tn_std_value *v = tn_std_value(c, ref->name);
    char text[TN_STD_TYPE_TEXT];
    struct tn_std_type type;
    if (!tn_json_present(ref->at)) return;
    if (port) type = tn_std_type_of(c->doc, &port->contract);
    else if (v) {
        v->read = true;
        type = v->type;
    } else {
        tn_std_say_unknown(c, ref, siblings ? TN_STD_SPACE_PORT_OR_VALUE : TN_STD_SPACE_VALUE);
        return;
    }
    if (tn_std_type_is_integer(&type) && (!type.known || !type.has_rank || type.rank == 1)) return;
    struct tn_finding *f = tn_std_say(c, ref->at, "the %s of packed items is a list of whole numbers", what);
    tn_found(f, "%s", tn_std_type_text(&type, text));
    tn_expected(f, "int64 of rank 1");
}

static void check_contract(struct tn_std_check *c, const struct tn_std_contract *contract,
                           const struct tn_std_ports *siblings)
{
    const struct tn_std_layout *l = &contract->layout;
    bool has_axis = l->kind == TN_STD_REQUEST_ALIGNED || l->kind == TN_STD_REQUEST_EXPANDED ||
        l->kind == TN_STD_TOKEN_PACKED;
    struct tn_finding *f;
    if (contract->has_shape && contract->rank.present && contract->dim_count != contract->rank.value) {
        f = tn_std_say_member(c, contract->at, "shape", "the shape does not have the rank that stands beside it");
        tn_found(f, "%zu extents", contract->dim_count);
        tn_expected(f, "%llu", (unsigned long long)contract->rank.value);
        return;
    }
    if (has_axis && contract->rank.present && l->axis >= contract->rank.value) say_axis(c, contract);
    if (l->kind == TN_STD_REQUEST_EXPANDED && l->factor.present && l->factor.value == 0) {
        f = tn_std_say(c, l->factor.at, "a request owns at least one row");
        tn_found(f, "0");
        tn_expected(f, "1 or more");
    }
    if (l->kind != TN_STD_TOKEN_PACKED || !tn_std_has_workflow(c)) return;
    check_packing(c, &l->offsets, siblings, "offsets");
    check_packing(c, &l->owner, siblings, "owner");
}

void tn_std_check_layout(struct tn_std_check *c, const struct tn_std_contract *contract)
{
    check_contract(c, contract, NULL);
}

static void check_ports(struct tn_std_check *c, const struct tn_std_ports *ports)
{
    for (size_t i = 0; i < ports->count; i++) check_contract(c, &ports->items[i].contract, ports);
}

static void check_iterations(struct tn_std_check *c, const struct tn_std_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        if (tn_json_present(s->iteration_contract.at)) check_contract(c, &s->iteration_contract, NULL);
        check_iterations(c, &s->setup);
        check_iterations(c, &s->body);
        check_iterations(c, &s->cases);
        if (s->otherwise) check_iterations(c, &(struct tn_std_steps){.items = s->otherwise, .count = 1});
    }
}

static void check_row_wise(struct tn_std_check *c, const struct tn_std_output *out)
{
    const struct tn_std_layout *l = &out->contract.layout;
    if (l->kind == TN_STD_REQUEST_ALIGNED || tn_std_unknown(c, out->at)) return;
    struct tn_finding *f = tn_std_say_member(c, out->contract.at, "batch_layout",
                                             "the output \"%.*s\" is published row by row, and "
                                             "nothing says which axis the rows lie on", TN_FMT_ARG(out->name));
    tn_expected(f, "batch_layout request_aligned, because some emit of it has valid_length or when");
}

void tn_std_check_layouts(struct tn_std_check *c)
{
    const struct tn_std_workflow *w = c->flow;
    for (size_t i = 0; i < w->input_count; i++) check_contract(c, &w->inputs[i].contract, NULL);
    for (size_t i = 0; i < w->output_count; i++) {
        check_contract(c, &w->outputs[i].contract, NULL);
        if (c->row_wise[i]) check_row_wise(c, &w->outputs[i]);
    }
    for (size_t i = 0; i < w->component_count; i++) {
        check_ports(c, &w->components[i].inputs);
        check_ports(c, &w->components[i].outputs);
    }
    for (size_t i = 0; i < w->cell_count; i++) check_contract(c, &w->cells[i].contract, NULL);
    check_iterations(c, &w->steps);
}
