/*
 * What a workflow says of our own component: which input it is given, what it gives, what it keeps. And the closed list of
 * the contract's members that somebody compares or obeys when our component runs: any other one is refused where it
 * stands, so that nothing that is stated is passed over. The contract is untrusted; its shape was checked.
 *
 * The surprising decision: the list is of what is understood, not of what is refused. A member that the standard gains is
 * refused until somebody here reads it.
 */
#include "describe/dialect/contract.h"
#include "describe/package_document.h"

/* ---- the closed list --------------------------------------------------------------------------------------------- */

/*
 * Members with all below them, "*" for any name or place in a list. Some are refused elsewhere, with more to say: state,
 * programs, speculation, adapters, serving. What a server may switch and where a model may be cut changes no answer.
 */
static const char *const understood[] = {
    "schema_version",
    "required_capabilities",
    "hardware_requirements",
    "generation",
    "profiles",
    "preprocessing",
    "speculative",
    "adapters",
    "quantization",
    "model/max_sequence_length",
    "model/vocab_size",
    "model/io",
    "model/runtime_configurable",
    "model/sharding",
    "model/attention/type",
    "model/attention/fallback_behavior",
    "model/attention/num_attention_heads",
    "model/attention/num_kv_heads",
    "model/attention/head_dim",
    "model/attention/sliding_window",
    "model/attention/sink_tokens",
    "package/tokenizer",
    "pipeline/workflow/manifest",
    "pipeline/workflow/effects",
    "pipeline/workflow/state",
    "pipeline/workflow/serving",
    "pipeline/workflow/steps",
    "pipeline/workflow/inputs/*/contract",
    "pipeline/workflow/inputs/*/required",
    "pipeline/workflow/inputs/*/role",
    "pipeline/workflow/inputs/*/source",
    "pipeline/workflow/inputs/*/present_as",
    "pipeline/workflow/outputs/*/contract",
    "pipeline/workflow/outputs/*/role",
    "pipeline/workflow/outputs/*/stage",
    "pipeline/workflow/components/*/implementation",
    "pipeline/workflow/components/*/ports",
    "pipeline/workflow/components/*/effects",
    "pipeline/workflow/components/*/row_scope",
    "pipeline/workflow/components/*/application_overridable",
};

enum { ROWS = sizeof(understood) / sizeof(understood[0]) };

/* ---- what it is given -------------------------------------------------------------------------------------------- */

/* Whether some step gives the value to a component. Steps run in a straight line here: others were refused. */
static bool is_read(const struct tn_std_steps *steps, struct tn_str value)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        for (size_t k = 0; s->kind == TN_STD_INVOKE && k < s->inputs.count; k++)
            if (tn_str_eq(s->inputs.items[k].value, value)) return true;
        if (is_read(&s->body, value)) return true;
    }
    return false;
}

/* The member that says it, or the object where nothing does. */
static struct tn_json member_of(struct tn_json object, const char *key)
{
    struct tn_json v = tn_json_get(object, key);
    return tn_json_present(v) ? v : object;
}

static void check_there(struct tn_builder *b, const struct tn_std_contract *contract)
{
    if (!contract->optional) return;
    tn_expected(tn_contract_unsupported(b, member_of(contract->at, "optional"), "the component takes its text and gives its numbers in every call"),
                "false");
}

static void check_input(struct tn_builder *b, const struct tn_std_input *input)
{
    const struct tn_standard *doc = &b->d->standard;
    if (!tn_doc_hides(&doc->marks, doc->workflow.at, "steps") && !is_read(&doc->workflow.steps, input->name)) {
        tn_expected(tn_contract_unsupported(b, input->at, "the workflow has an input that the component does not read"),
                    "the text alone");
        return;
    }
    if (!tn_doc_hides(&doc->marks, input->at, "source") && input->source != TN_STD_REQUEST)
        tn_expected(tn_contract_unsupported(b, member_of(input->at, "source"), "the component's text comes from elsewhere than the request"),
                    "kind request");
    if (!tn_doc_hides(&doc->marks, input->at, "role") && (!input->runtime_role || !tn_str_is(input->role.name, "prompt_text")))
        tn_expected(tn_contract_unsupported(b, member_of(input->at, "role"), "the component's input has another role than the text of a request"),
                    "kind runtime, role prompt_text");
    if (!input->required)
        tn_expected(tn_contract_unsupported(b, member_of(input->at, "required"), "without its text the component computes nothing"),
                    "true");
    check_there(b, &input->contract);
}

/* ---- what it gives and keeps ------------------------------------------------------------------------------------- */

static void check_output(struct tn_builder *b, const struct tn_std_output *output)
{
    check_there(b, &output->contract);
    if (output->role.n == 0 || tn_str_is(output->role, "tensor")) return;
    tn_expected(tn_contract_contradiction(b, member_of(output->at, "role")), "tensor: numbers come out");
}

static void check_fed(struct tn_builder *b, const struct tn_std_component *c)
{
    struct tn_json ports = tn_json_get(c->at, "ports");
    if (c->inputs.count > 0 || tn_doc_hides(&b->d->standard.marks, c->at, "ports")) return;
    if (tn_json_present(ports) && tn_doc_hides(&b->d->standard.marks, ports, "inputs")) return;
    struct tn_finding *f = tn_blocker(b, TN_METADATA_INVALID, "the component takes texts, and the contract gives it none");
    tn_at_json_member(f, tn_json_is(ports, TN_JSON_OBJECT) ? ports : c->at, tn_json_is(ports, TN_JSON_OBJECT) ? "inputs" : "ports");
    tn_found(f, "no input");
    tn_expected(f, "one port of dtype string, a text for each row");
}

/* Our component has one port on either side, and each is there in every call. */
static void check_side(struct tn_builder *b, const struct tn_std_ports *ports, const char *what)
{
    for (size_t i = 0; i < ports->count; i++) {
        check_there(b, &ports->items[i].contract);
        if (i > 0) tn_expected(tn_contract_contradiction(b, ports->items[i].contract.at), "one port, %s", what);
    }
}

/* What the numbers are in the standard's vocabulary; NULL: it has no word for them. */
static const char *role_of(const struct tn_description *d)
{
    for (uint32_t i = 0; i < d->module_count; i++)
        if (d->modules[i].kind == TN_MODULE_POOLING || d->modules[i].kind == TN_MODULE_SPLADE) return NULL;
    return d->head && d->head->outputs ? "logits" : "hidden_states";
}

/* Roles on the side or the type that cannot have them were refused with the contract. */
static void check_roles(struct tn_builder *b, const struct tn_std_component *c)
{
    const char *role = role_of(b->d);
    if (tn_contract_refused_below(b, "/modules") || tn_contract_refused_below(b, "/head")) return;
    for (size_t i = 0; i < c->roles.count; i++) {
        const struct tn_std_binding *at = &c->roles.items[i];
        if (!tn_standard_port(&c->outputs, at->key) || (role && tn_str_is(at->value, role))) continue;
        if (b->d->head && !b->d->head->outputs && tn_str_is(at->value, "logits")) continue; /* over the vocabulary */
        tn_expected(tn_contract_contradiction(b, at->at), "%s", role ? role : "no role: the vectors of texts have none");
    }
}

/* Then the axis of the rows was compared with the ports' own. */
static bool has_layout(const struct tn_std_ports *ports)
{
    for (size_t i = 0; i < ports->count; i++)
        if (tn_json_present(ports->items[i].contract.layout.at)) return true;
    return false;
}

static void check_rows(struct tn_builder *b, const struct tn_std_component *c)
{
    if (c->stateful)
        tn_expected(tn_contract_contradiction(b, member_of(c->row_scope_at, "stateful")), "false: nothing stays from call to call");
    if (c->row_axis.present && c->row_axis.value != 0 && !has_layout(&c->inputs) && !has_layout(&c->outputs))
        tn_expected(tn_contract_contradiction(b, c->row_axis.at), "0, the axis of the texts");
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

void tn_contract_flow(struct tn_builder *b, struct tn_json component)
{
    const struct tn_standard *doc = &b->d->standard;
    const struct tn_std_component *c = tn_standard_component(doc, tn_json_key(component));
    if (!c || b->d->component_count == 0) return;
    for (size_t i = 0; i < doc->workflow.input_count; i++) check_input(b, &doc->workflow.inputs[i]);
    for (size_t i = 0; i < doc->workflow.output_count; i++) check_output(b, &doc->workflow.outputs[i]);
    check_fed(b, c);
    check_side(b, &c->inputs, "the texts");
    check_side(b, &c->outputs, "what is made of them");
    check_roles(b, c);
    check_rows(b, c);
    tn_contract_close(b, doc->at, understood, ROWS, "the contract states what this build does not understand of its own component");
}
