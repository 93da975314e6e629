/*
 * Components: what an adapter's ABI is pinned to, which ports a contract and the roles name, which effects exist, and
 * that whoever holds state per request says where its rows lie.
 */
#include "describe/roles.h"
#include "describe/standard/check_internal.h"

/* ---- adapter ABIs ----------------------------------------------------------------------------------------------- */

static void check_abi(struct tn_std_check *c, const struct tn_std_component *component)
{
    const struct tn_std_bindings *pins = &c->flow->adapter_abis;
    if (component->implementation != TN_STD_ADAPTER || !tn_json_present(component->abi.at)) return;
    if (tn_std_hides(c, c->flow->at, "manifest") || tn_std_hides(c, component->at, "implementation")) return;
    for (size_t i = 0; i < pins->count; i++) {
        if (!tn_str_eq(pins->items[i].key, component->abi.name)) continue;
        if (tn_str_eq(pins->items[i].value, component->version.name)) return;
        struct tn_finding *f = tn_std_say(c, component->version.at, "the manifest pins another version of this ABI");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(component->version.name));
        tn_expected(f, "\"%.*s\", as manifest.adapter_abis says", TN_FMT_ARG(pins->items[i].value));
        return;
    }
    struct tn_finding *f = tn_std_say(c, component->abi.at, "the manifest does not pin this adapter ABI");
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(component->abi.name));
    tn_expected(f, "a member of manifest.adapter_abis with version \"%.*s\"", TN_FMT_ARG(component->version.name));
}

/* The two preprocessing adapters carry out the document's program: without one there is nothing to carry out. */
static void check_program(struct tn_std_check *c, const struct tn_std_component *component)
{
    bool image = tn_str_is(component->abi.name, "onnx-genai.image-preprocess");
    bool audio = tn_str_is(component->abi.name, "onnx-genai.audio-preprocess");
    const struct tn_std_program *program = image ? &c->doc->image : &c->doc->audio;
    if (component->implementation != TN_STD_ADAPTER || (!image && !audio) || tn_json_present(program->at)) return;
    if (tn_std_hides(c, c->doc->at, "preprocessing")) return;
    struct tn_finding *f = tn_std_say(c, component->abi.at, "the adapter has no program to carry out");
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(component->abi.name));
    tn_expected(f, "preprocessing.%s", image ? "image" : "audio");
}

/* ---- what the standard says of single contracts ------------------------------------------------------------------- */

/* Contracts that act beyond their outputs, with the actions that version 1 has. */
static const struct acting {
    const char *id, *actions[3];
} acting[] = {
    {"onnx-genai.grammar-guidance", {"clone", "lookahead", "commit"}},
    {"onnx-genai.telemetry", {"timestamp", "elapsed"}},
};

static struct tn_finding *refuse_action(struct tn_std_check *c, const struct tn_std_component *component, struct tn_json action)
{
    struct tn_json parameters = component->contract_parameters;
    bool object = tn_json_is(parameters, TN_JSON_OBJECT);
    struct tn_finding *f;
    if (tn_json_present(action)) {
        f = tn_std_say(c, action, "the contract has no such action");
        tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(action)));
        return f;
    }
    return tn_std_say_member(c, object ? parameters : component->contract_at, object ? "action" : "parameters",
                             "nothing says which action of the contract the component is");
}

static void check_action(struct tn_std_check *c, const struct tn_std_component *component, const struct acting *known)
{
    struct tn_str name;
    struct tn_json action = tn_json_get(component->contract_parameters, "action");
    if (!tn_str_is(component->contract_id.name, known->id) || !tn_str_is(component->contract_version.name, "1")) return;
    bool text = tn_json_str(action, &name);
    for (size_t i = 0; text && i < sizeof(known->actions) / sizeof(known->actions[0]) && known->actions[i]; i++)
        if (tn_str_is(name, known->actions[i])) return;
    struct tn_finding *f = refuse_action(c, component, action);
    tn_expected(f, "%s, %s%s%s", known->actions[0], known->actions[1], known->actions[2] ? ", " : "",
                known->actions[2] ? known->actions[2] : "");
}

/* Which ports an action binds is told by no text of the standard, so that is not checked. */
static void check_acting(struct tn_std_check *c, const struct tn_std_component *component)
{
    for (size_t i = 0; i < sizeof(acting) / sizeof(acting[0]); i++) {
        const char *id = acting[i].id;
        if (!tn_str_is(component->contract_id.name, id) && !tn_str_is(component->abi.name, id)) continue;
        check_action(c, component, &acting[i]);
        if (component->effects.count > 0) continue;
        struct tn_finding *f = tn_std_say_member(c, component->at, "effects",
                                                 "the component acts beyond its outputs, and nothing keeps its acts in order");
        tn_found(f, "%s without an effect", id);
        tn_expected(f, "the effect domain that it works in");
    }
}

/* ---- contract and roles ----------------------------------------------------------------------------------------- */

static bool has_some_port(const struct tn_std_check *c, const struct tn_std_component *component, struct tn_str name)
{
    return tn_std_may_have_port(c, component, false, name) || tn_std_may_have_port(c, component, true, name);
}

static void check_contract(struct tn_std_check *c, const struct tn_std_component *component)
{
    for (size_t i = 0; i < component->contract_bindings.count; i++) {
        const struct tn_std_binding *b = &component->contract_bindings.items[i];
        if (has_some_port(c, component, b->value)) continue;
        struct tn_finding *f = tn_std_say(c, b->at, "the contract binds \"%.*s\" to a port that is not declared",
                                          TN_FMT_ARG(b->key));
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(b->value));
        tn_expected(f, "a port of this component");
    }
    if (!component->application_overridable || component->has_contract || tn_std_hides(c, component->at, "contract")) return;
    struct tn_finding *f = tn_std_say_member(c, component->at, "application_overridable",
                                             "nothing says what a component in its place would have to do");
    tn_expected(f, "a contract, which is what a replacement is selected by");
}

/* What a declaration says of a port; one that the tables refused says nothing. */
static bool may_have(const struct tn_std_check *c, const struct tn_std_port *port, bool output, enum tn_role role)
{
    struct tn_std_type type = tn_std_type_of(c->doc, &port->contract);
    struct tn_str name = type.dtype == TN_STD_DTYPE_OTHER ? type.dtype_text : tn_str_of(tn_std_dtype_name(type.dtype));
    uint32_t element = type.known ? tn_onnx_element_named(name) : 0;
    uint32_t rank = type.rank > UINT32_MAX ? UINT32_MAX : (uint32_t)type.rank;
    return tn_role_allows(role, output, element, type.known && type.has_rank, rank);
}

/* A port may be there on both sides under one name; the role is that of the side which can have it. */
static void check_role_type(struct tn_std_check *c, const struct tn_std_component *component, const struct tn_std_binding *b)
{
    enum tn_role role = tn_role_of_standard(b->value);
    const struct tn_std_port *in = tn_standard_port(&component->inputs, b->key);
    const struct tn_std_port *out = tn_standard_port(&component->outputs, b->key);
    char text[TN_STD_TYPE_TEXT];
    if (role == TN_ROLE_NONE || (!in && !out) || tn_std_unknown(c, b->at)) return;
    if ((in && may_have(c, in, false, role)) || (out && may_have(c, out, true, role))) return;
    struct tn_finding *f = tn_std_say(c, b->at, "the port cannot have its role");
    struct tn_std_type type = tn_std_type_of(c->doc, in ? &in->contract : &out->contract);
    tn_found(f, "%s of \"%.*s\", an %s of %s", tn_role_name(role), TN_FMT_ARG(b->key), in ? "input" : "output",
             tn_std_type_text(&type, text));
    tn_expected(f, "a side, a type and a rank that go with the role");
}

/* Whoever drives the component asks for the one port of a role. */
static void check_role_once(struct tn_std_check *c, const struct tn_std_component *component, size_t i)
{
    const struct tn_std_binding *b = &component->roles.items[i];
    bool input = tn_standard_port(&component->inputs, b->key) != NULL;
    bool output = tn_standard_port(&component->outputs, b->key) != NULL;
    for (size_t k = 0; k < i; k++) {
        const struct tn_std_binding *other = &component->roles.items[k];
        if (!tn_str_eq(other->value, b->value)) continue;
        bool same_side = (input && tn_standard_port(&component->inputs, other->key)) ||
                         (output && tn_standard_port(&component->outputs, other->key));
        if (!same_side) continue;
        struct tn_finding *f = tn_std_say(c, b->at, "two ports have one role");
        tn_found(f, "%.*s for \"%.*s\" after \"%.*s\"", TN_FMT_ARG(b->value), TN_FMT_ARG(b->key), TN_FMT_ARG(other->key));
        tn_expected(f, "one port with this role");
        return;
    }
}

static void check_roles(struct tn_std_check *c, const struct tn_std_component *component)
{
    for (size_t i = 0; i < component->roles.count; i++) {
        const struct tn_std_binding *b = &component->roles.items[i];
        if (has_some_port(c, component, b->key)) {
            check_role_type(c, component, b);
            check_role_once(c, component, i);
            continue;
        }
        struct tn_finding *f = tn_std_say(c, b->at, "a role is given to a port that is not declared");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(b->key));
        tn_expected(f, "a port of this component");
    }
}

/*
 * The one decoder of a package is driven by its roles. Contracts without roles resolve nothing: a runtime would fall
 * back to shapes or names. Several graphs are driven through their bindings and need none.
 */
static void check_decoder_role(struct tn_std_check *c)
{
    const struct tn_std_component *only = NULL;
    if (tn_std_hides(c, c->flow->at, "components") || tn_std_hides(c, c->flow->at, "serving")) return;
    for (size_t i = 0; i < c->flow->component_count; i++) {
        const struct tn_std_component *component = &c->flow->components[i];
        if (component->implementation != TN_STD_ONNX || component->has_contract) continue;
        if (only) return;
        only = component;
    }
    if (!only) return;
    bool owns = false;
    for (size_t g = 0; g < c->flow->serving.group_count; g++) {
        const struct tn_std_group *group = &c->flow->serving.groups[g];
        bool attention = group->kind == TN_STD_FULL_ATTENTION || group->kind == TN_STD_SLIDING_ATTENTION ||
                         group->kind == TN_STD_LATENT_ATTENTION;
        for (size_t i = 0; i < group->port_count; i++)
            owns = owns || (attention && !group->ports[i].read_only &&
                            tn_str_eq(group->ports[i].component, only->name));
    }
    for (size_t i = 0; i < only->roles.count; i++)
        if (tn_str_is(only->roles.items[i].value, "token_ids") ||
            tn_str_is(only->roles.items[i].value, "inputs_embeds"))
            return;
    if (!owns) return;
    struct tn_json ports = tn_json_get(only->at, "ports");
    struct tn_finding *f = tn_std_say_member(c, tn_json_is(ports, TN_JSON_OBJECT) ? ports : only->at,
                                             tn_json_is(ports, TN_JSON_OBJECT) ? "roles" : "ports",
                                             "nothing says which port of \"%.*s\" takes the sequence",
                                             TN_FMT_ARG(only->name));
    tn_expected(f, "a role token_ids or inputs_embeds for one port");
}

/* ---- effects and rows ------------------------------------------------------------------------------------------- */

static void check_effects(struct tn_std_check *c, const struct tn_std_component *component)
{
    for (size_t i = 0; i < component->effects.count; i++) {
        const struct tn_std_ref *ref = &component->effects.items[i];
        if (!tn_standard_effect(c->doc, ref->name)) tn_std_say_unknown(c, ref, TN_STD_SPACE_EFFECT);
        for (size_t k = 0; k < i; k++) {
            if (!tn_str_eq(component->effects.items[k].name, ref->name)) continue;
            struct tn_finding *f = tn_std_say(c, ref->at,
                                              "one effect token cannot be threaded through a component twice");
            tn_found(f, "\"%.*s\" again", TN_FMT_ARG(ref->name));
            tn_expected(f, "each domain once");
            break;
        }
    }
}

static bool has_rows(const struct tn_std_contract *contract)
{
    return contract->layout.kind == TN_STD_REQUEST_ALIGNED || contract->layout.kind == TN_STD_REQUEST_EXPANDED;
}

static bool some_rows(const struct tn_std_ports *ports)
{
    for (size_t i = 0; i < ports->count; i++)
        if (has_rows(&ports->items[i].contract)) return true;
    return false;
}

static void check_row_axis(struct tn_std_check *c, const struct tn_std_component *component,
                           const struct tn_std_ports *ports)
{
    for (size_t i = 0; i < ports->count; i++) {
        const struct tn_std_contract *contract = &ports->items[i].contract;
        if (!has_rows(contract) || contract->layout.axis == component->row_axis.value) continue;
        struct tn_finding *f = tn_std_say_member(c, contract->layout.at, "axis",
                                                 "the port's rows lie on another axis than the component's");
        tn_found(f, "axis %llu", (unsigned long long)contract->layout.axis);
        tn_expected(f, "axis %llu, as row_scope says", (unsigned long long)component->row_axis.value);
    }
}

static void check_rows(struct tn_std_check *c, const struct tn_std_component *component)
{
    if (component->has_row_scope) {
        if (!component->row_axis.present) return;
        check_row_axis(c, component, &component->inputs);
        check_row_axis(c, component, &component->outputs);
        return;
    }
    bool holds_state = component->effects.count > 0 || component->cache_affects_state.count > 0;
    if (!holds_state || (!some_rows(&component->inputs) && !some_rows(&component->outputs))) return;
    struct tn_finding *f = tn_std_say_member(c, component->at, "row_scope",
                                             "the component holds state per request, and nothing "
                                             "says which axis its rows lie on");
    tn_expected(f, "a row_scope: without it rows cannot be moved when the batch changes");
}

void tn_std_check_components(struct tn_std_check *c)
{
    for (size_t i = 0; i < c->flow->component_count; i++) {
        const struct tn_std_component *component = &c->flow->components[i];
        check_abi(c, component);
        check_program(c, component);
        check_contract(c, component);
        check_roles(c, component);
        check_acting(c, component);
        check_effects(c, component);
        check_rows(c, component);
    }
    check_decoder_role(c);
}
