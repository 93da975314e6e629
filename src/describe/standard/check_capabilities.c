/*
 * The capabilities that a workflow's structure uses, and that its manifest declares each of them. One row per
 * capability: adding one is adding a row. Declaring more than is used is legal.
 */
#include "describe/standard/check_internal.h"

/* What the structure shows; the first place of each is kept for the finding. */
struct uses {
    struct tn_json loop, iteration, control, emit, event, valid_length;
    struct tn_json session, bounded, advisory, presence;
    struct tn_json effects, grammar, telemetry, budget;
};

static void note(struct tn_json *place, struct tn_json at)
{
    if (!tn_json_present(*place)) *place = at;
}

static void scan_steps(struct uses *u, const struct tn_std_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        if (s->kind == TN_STD_LOOP || s->kind == TN_STD_BRANCH) note(&u->control, s->at);
        if (s->kind == TN_STD_EMIT) note(&u->emit, s->at);
        if (s->kind == TN_STD_EMIT && s->mode == TN_STD_EMIT_EVENT) note(&u->event, s->at);
        if (tn_json_present(s->valid_length.at)) note(&u->valid_length, s->valid_length.at);
        if (tn_json_present(s->iteration.at)) note(&u->iteration, s->iteration.at);
        scan_steps(u, &s->setup);
        scan_steps(u, &s->body);
        scan_steps(u, &s->cases);
        if (s->otherwise) scan_steps(u, &(struct tn_std_steps){.items = s->otherwise, .count = 1});
    }
}

static bool speaks(const struct tn_std_component *component, const char *id)
{
    return tn_str_is(component->contract_id.name, id) || tn_str_is(component->abi.name, id);
}

static void scan_components(struct uses *u, const struct tn_std_workflow *w)
{
    for (size_t i = 0; i < w->component_count; i++) {
        const struct tn_std_component *component = &w->components[i];
        if (component->effects.count > 0) note(&u->effects, component->effects.at);
        if (speaks(component, "onnx-genai.grammar-guidance")) note(&u->grammar, component->at);
        if (speaks(component, "onnx-genai.telemetry")) note(&u->telemetry, component->at);
        if (speaks(component, "onnx-genai.adaptive-proposal-budget")) note(&u->budget, component->at);
    }
    for (size_t i = 0; i < w->cell_count; i++) {
        const struct tn_std_cell *cell = &w->cells[i];
        if (cell->session_scope) note(&u->session, cell->at);
        if (cell->recurrence == TN_STD_BOUNDED) note(&u->bounded, cell->recurrence_at);
        if (cell->advisory) note(&u->advisory, cell->at);
    }
    for (size_t i = 0; i < w->input_count; i++)
        if (tn_json_present(w->inputs[i].present_as.at)) note(&u->presence, w->inputs[i].present_as.at);
}

void tn_std_check_capabilities(struct tn_std_check *c)
{
    const struct tn_std_workflow *w = c->flow;
    struct uses u = {0};
    scan_steps(&u, &w->steps);
    scan_components(&u, w);
    const struct {
        const char *id;
        struct tn_json use;
    } rows[] = {
        {"workflow_ssa", w->at},
        {"linear_effects", u.effects},
        {"serving_service_contract", w->serving.at},
        {"parameter_adapters", c->doc->adapters.at},
        {"heterogeneous_adapter_batching", c->doc->adapters.selection_at},
        {"session_state_lease", u.session},
        {"bounded_state_recurrence", u.bounded},
        {"advisory_state", u.advisory},
        {"adaptive_proposal_budget", u.budget},
        {"grammar_guidance_adapter", u.grammar},
        {"telemetry_adapter", u.telemetry},
        {"nested_control_flow", u.control},
        {"loop_induction_values", u.iteration},
        {"typed_emit", u.emit},
        {"streaming_emit", u.event},
        {"emit_valid_length", u.valid_length},
        {"input_presence", u.presence},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool declared = !tn_json_present(rows[i].use);
        char pointer[256];
        for (size_t k = 0; k < w->capabilities.count; k++)
            declared = declared || tn_str_is(w->capabilities.items[k].name, rows[i].id);
        if (declared) continue;
        struct tn_str where = tn_json_pointer(rows[i].use, pointer, sizeof(pointer));
        struct tn_finding *f = tn_std_say_member(c, w->manifest_at, "capabilities",
                                                 "the manifest omits the capability \"%s\", which the document uses", rows[i].id);
        tn_found(f, "its use at %.*s", TN_FMT_ARG(where));
        tn_expected(f, "\"%s\" in manifest.capabilities", rows[i].id);
    }
}
