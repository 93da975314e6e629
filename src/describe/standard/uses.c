/* What of a document needs a capability. The document has been read and nothing here judges it. */
#include "describe/standard/uses.h"

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

size_t tn_standard_uses(const struct tn_standard *doc, struct tn_standard_use *out)
{
    const struct tn_std_workflow *w = &doc->workflow;
    struct uses u = {0};
    scan_steps(&u, &w->steps);
    scan_components(&u, w);
    const struct tn_standard_use rows[TN_STANDARD_USES] = {
        {"workflow_ssa", "the workflow", w->at},
        {"linear_effects", "a component with effects", u.effects},
        {"serving_service_contract", "the serving contract", w->serving.at},
        {"parameter_adapters", "the list of adapters", doc->adapters.at},
        {"heterogeneous_adapter_batching", "the selection of adapters by row", doc->adapters.selection_at},
        {"session_state_lease", "a state cell of session scope", u.session},
        {"bounded_state_recurrence", "a state cell that grows", u.bounded},
        {"advisory_state", "an advisory state cell", u.advisory},
        {"adaptive_proposal_budget", "a component that sets the budget of proposals", u.budget},
        {"grammar_guidance_adapter", "a component that guides by a grammar", u.grammar},
        {"telemetry_adapter", "a component that takes times", u.telemetry},
        {"nested_control_flow", "a loop or branch", u.control},
        {"loop_induction_values", "a loop that shows its iteration", u.iteration},
        {"typed_emit", "an emit", u.emit},
        {"streaming_emit", "an emit of events", u.event},
        {"emit_valid_length", "an emit of a valid length", u.valid_length},
        {"input_presence", "an input whose presence is a value", u.presence},
    };
    size_t count = 0;
    for (size_t i = 0; i < TN_STANDARD_USES; i++) {
        if (tn_json_present(rows[i].place)) out[count++] = rows[i];
    }
    return count;
}
