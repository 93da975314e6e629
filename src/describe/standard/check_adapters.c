/*
 * Parameter adapters: the manifest of what may be adapted, the artifacts that bind to it, and the inputs through which
 * a request selects. Selection never names rows or slots; its tensors have a row per request and move with it.
 */
#include "describe/standard/check_internal.h"
#include "package/onnx_schema.h"

#include <string.h>

/* ---- the manifest ----------------------------------------------------------------------------------------------- */

static const struct tn_std_target *find_target(const struct tn_std_adapters *a, struct tn_str id)
{
    for (size_t i = 0; i < a->target_count; i++)
        if (tn_str_eq(a->targets[i].id.name, id)) return &a->targets[i];
    return NULL;
}

static void want_positive(struct tn_std_check *c, const struct tn_std_count *count, const char *what)
{
    if (!count->present || count->value > 0) return;
    struct tn_finding *f = tn_std_say(c, count->at, "%s cannot be 0", what);
    tn_expected(f, "1 or more");
}

static void want_float(struct tn_std_check *c, struct tn_json owner, const char *member, const char *what)
{
    static const char *const beginnings[] = {"float", "bfloat"};
    struct tn_str text;
    if (!tn_json_str(tn_json_get(owner, member), &text)) return;
    const char *name = tn_onnx_element_name(tn_onnx_element_named(text));
    for (size_t i = 0; i < 2; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return;
    struct tn_finding *f = tn_std_say_member(c, owner, member, "%s are no floating-point numbers", what);
    tn_found(f, "%s", name);
    tn_expected(f, "a floating-point type");
}

static void want_scale(struct tn_std_check *c, const struct tn_std_real *alpha)
{
    if (!alpha->present || alpha->value > 0) return;
    struct tn_finding *f = tn_std_say(c, alpha->at, "alpha scales an adapter and cannot be 0 or less");
    tn_found(f, "%s", TN_F64(alpha->value));
    tn_expected(f, "more than 0");
}

static void check_slice(struct tn_std_check *c, const struct tn_std_target *t)
{
    uint64_t all = t->output_features.value, offset = t->slice_offset.value, width = t->slice_width.value;
    if (!tn_json_present(t->slice_at) || !t->output_features.present) return;
    want_positive(c, &t->slice_width, "the width of a slice");
    if (offset <= all && width <= all - offset) return;
    struct tn_finding *f = tn_std_say(c, t->slice_at, "the slice lies outside the projection's output");
    tn_found(f, "offset %llu and width %llu of %llu", (unsigned long long)offset, (unsigned long long)width,
             (unsigned long long)all);
    tn_expected(f, "offset + width within output_features");
}

/* A factor that the graph takes itself: through a port that is there, of the target's type. */
static void check_factor(struct tn_std_check *c, const struct tn_std_component *component, const struct tn_std_target *t,
                         const struct tn_std_ref *ref)
{
    if (!tn_json_present(ref->at)) return;
    if (!tn_std_may_have_port(c, component, false, ref->name)) {
        struct tn_finding *f = tn_std_say(c, ref->at, "the adapter is fed through an input that \"%.*s\" does not declare",
                                          TN_FMT_ARG(component->name));
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(ref->name));
        tn_expected(f, "an input port of \"%.*s\"", TN_FMT_ARG(component->name));
        return;
    }
    const struct tn_std_port *port = tn_standard_port(&component->inputs, ref->name);
    struct tn_str activations;
    if (!port || !tn_json_str(tn_json_get(t->at, "activation_dtype"), &activations)) return;
    if (tn_std_unknown(c, port->contract.at)) return;
    if (tn_onnx_element_named(port->contract.dtype_text) == tn_onnx_element_named(activations)) return;
    struct tn_finding *f = tn_std_say(c, ref->at, "the port that takes the adapter has another element type than its target");
    tn_found(f, "%.*s", TN_FMT_ARG(port->contract.dtype_text));
    tn_expected(f, "%.*s, the target's activation_dtype", TN_FMT_ARG(activations));
}

/* Each factor goes through an input of its own: `before` counts the inputs of this target that are compared. */
static void check_alone(struct tn_std_check *c, const struct tn_std_adapters *a, const struct tn_std_target *t, size_t before)
{
    const struct tn_std_ref *own[] = {&t->graph_a, &t->graph_b, &t->graph_scale};
    const struct tn_std_ref *ref = own[before];
    bool taken = false;
    if (!tn_json_present(ref->at)) return;
    for (size_t i = 0; i < before; i++) taken = taken || tn_str_eq(own[i]->name, ref->name);
    for (const struct tn_std_target *other = a->targets; other < t && !taken; other++) {
        const struct tn_std_ref *refs[] = {&other->graph_a, &other->graph_b, &other->graph_scale};
        for (size_t i = 0; i < 3; i++)
            taken = taken || (tn_str_eq(other->component.name, t->component.name) && tn_json_present(refs[i]->at) &&
                              tn_str_eq(refs[i]->name, ref->name));
    }
    if (!taken) return;
    struct tn_finding *f = tn_std_say(c, ref->at, "two factors go through one input of the graph");
    tn_found(f, "\"%.*s\" again", TN_FMT_ARG(ref->name));
    tn_expected(f, "an input of its own for each factor of \"%.*s\"", TN_FMT_ARG(t->component.name));
}

/* What is adapted is a projection of a graph, so its component is one. */
static void check_place(struct tn_std_check *c, const struct tn_std_adapters *a, const struct tn_std_target *t)
{
    static const char *const kinds[] = {[TN_STD_IMPLEMENTATION_OTHER] = "unknown", [TN_STD_ONNX] = "onnx",
                                        [TN_STD_ADAPTER] = "adapter", [TN_STD_BINDING] = "binding"};
    const struct tn_std_component *component = tn_std_component(c, t->component.name);
    const struct tn_std_ref *refs[] = {&t->graph_a, &t->graph_b, &t->graph_scale};
    for (size_t i = 0; i < 3; i++) check_alone(c, a, t, i);
    if (!component || !tn_json_present(t->component.at) || tn_std_hides(c, component->at, "implementation")) return;
    if (component->implementation != TN_STD_ONNX) {
        struct tn_finding *f = tn_std_say(c, t->component.at, "the target lies in a component that has no graph");
        tn_found(f, "\"%.*s\", an implementation of kind %s", TN_FMT_ARG(component->name), kinds[component->implementation]);
        tn_expected(f, "a component of kind onnx, which has the initializer \"%.*s\"", TN_FMT_ARG(t->initializer.name));
        return;
    }
    for (size_t i = 0; i < 3; i++) check_factor(c, component, t, refs[i]);
}

static void check_target(struct tn_std_check *c, const struct tn_std_adapters *a, const struct tn_std_target *t)
{
    if (tn_json_present(t->id.at) && find_target(a, t->id.name) != t) {
        struct tn_finding *f = tn_std_say(c, t->id.at, "two targets have this id");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(t->id.name));
        tn_expected(f, "an id of its own for each target");
    }
    /* A package without a workflow has one graph, called "model". */
    if (tn_json_present(c->flow->at)) tn_std_want_component(c, &t->component);
    else if (tn_json_present(t->component.at) && !tn_str_is(t->component.name, "model"))
        tn_std_say_unknown(c, &t->component, TN_STD_SPACE_COMPONENT);
    want_positive(c, &t->input_features, "a projection's width");
    want_positive(c, &t->output_features, "a projection's width");
    want_positive(c, &t->rank, "a rank");
    want_scale(c, &t->alpha);
    want_float(c, t->at, "activation_dtype", "activations");
    check_place(c, a, t);
    check_slice(c, t);
}

/* ---- artifacts -------------------------------------------------------------------------------------------------- */

static void check_binding(struct tn_std_check *c, const struct tn_std_adapters *a,
                          const struct tn_std_adapter *artifact, size_t i)
{
    const struct tn_std_adapter_binding *b = &artifact->bindings[i];
    const struct tn_std_target *target = find_target(a, b->target.name);
    struct tn_finding *f;
    if (!tn_json_present(b->target.at)) return;
    if (!target) {
        tn_std_say_unknown(c, &b->target, TN_STD_SPACE_TARGET);
        return;
    }
    for (size_t k = 0; k < i; k++) {
        if (!tn_str_eq(artifact->bindings[k].target.name, b->target.name)) continue;
        f = tn_std_say(c, b->target.at, "the artifact binds this target twice");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(b->target.name));
        tn_expected(f, "one pair of factors for each target");
        break;
    }
    want_positive(c, &b->rank, "a rank");
    uint64_t rank = b->rank.present ? b->rank.value : artifact->rank.value;
    const struct tn_std_real *alpha = b->alpha.present ? &b->alpha : &artifact->alpha;
    want_scale(c, &b->alpha);
    if (target->alpha.present && alpha->value > 0 &&
        (alpha->value < target->alpha.value || alpha->value > target->alpha.value)) {
        f = tn_std_say(c, alpha->at, "alpha is not what the target \"%.*s\" demands", TN_FMT_ARG(target->id.name));
        tn_found(f, "%s", TN_F64(alpha->value));
        tn_expected(f, "%s", TN_F64(target->alpha.value));
    }
    if (!target->rank.present || target->rank.value == 0 || rank == 0 || rank == target->rank.value) return;
    f = tn_std_say(c, b->rank.present ? b->rank.at : artifact->rank.at,
                   "the rank is not the one that the target \"%.*s\" demands",
                   TN_FMT_ARG(target->id.name));
    tn_found(f, "%llu", (unsigned long long)rank);
    tn_expected(f, "%llu", (unsigned long long)target->rank.value);
}

/* Identity and version say which adapter it is; weights of two that share both could be taken for one another. */
static void check_identity(struct tn_std_check *c, const struct tn_std_adapters *a, size_t i)
{
    const struct tn_std_adapter *artifact = &a->artifacts[i];
    if (!tn_json_present(artifact->identity.at)) return;
    for (size_t k = 0; k < i; k++) {
        if (!tn_str_eq(a->artifacts[k].identity.name, artifact->identity.name)) continue;
        if (!tn_str_eq(a->artifacts[k].version.name, artifact->version.name)) continue;
        struct tn_finding *f = tn_std_say(c, artifact->identity.at, "two adapters have one identity and one version");
        tn_found(f, "\"%.*s\", as \"%.*s\" has", TN_FMT_ARG(artifact->identity.name), TN_FMT_ARG(a->artifacts[k].name));
        tn_expected(f, "an identity of its own, or another version");
        return;
    }
}

static void check_artifact(struct tn_std_check *c, const struct tn_std_adapters *a, size_t i)
{
    const struct tn_std_adapter *artifact = &a->artifacts[i];
    struct tn_finding *f;
    for (size_t k = 0; k < i && artifact->index.present; k++) {
        if (!a->artifacts[k].index.present || a->artifacts[k].index.value != artifact->index.value) continue;
        f = tn_std_say(c, artifact->index.at, "two adapters have this index, by which a request selects");
        tn_found(f, "%llu", (unsigned long long)artifact->index.value);
        tn_expected(f, "an index of its own for each adapter");
        break;
    }
    check_identity(c, a, i);
    want_positive(c, &artifact->rank, "a rank");
    want_scale(c, &artifact->alpha);
    want_float(c, artifact->at, "dtype", "an adapter's factors");
    if (artifact->binding_count == 0) {
        f = tn_std_say_member(c, artifact->at, "bindings", "the adapter changes nothing");
        tn_expected(f, "at least one target");
    }
    for (size_t k = 0; k < artifact->binding_count; k++) check_binding(c, a, artifact, k);
    for (size_t k = 0; k < artifact->weight_count; k++) {
        const struct tn_std_adapter_weight *w = &artifact->weights[k];
        if (!tn_str_is(w->format.name, "hf_peft") || tn_json_present(w->config_location.at)) continue;
        f = tn_std_say_member(c, w->at, "config_location",
                              "weights in the PEFT form are read with their adapter_config.json");
        tn_expected(f, "its location");
    }
    if (artifact->weight_count > 0) return;
    f = tn_std_say_member(c, artifact->at, "weights", "the adapter names no weights");
    tn_expected(f, "at least one source");
}

/* ---- selection -------------------------------------------------------------------------------------------------- */

static void check_selection(struct tn_std_check *c, const struct tn_std_adapters *a, const struct tn_std_ref *ref,
                            enum tn_std_dtype dtype, uint64_t rank, const char *role)
{
    const struct tn_std_input *in = tn_standard_input(c->doc, ref->name);
    char text[TN_STD_TYPE_TEXT];
    struct tn_finding *f;
    if (!tn_json_present(ref->at) || !tn_json_present(c->flow->at)) return;
    if (!in) {
        tn_std_say_unknown(c, ref, TN_STD_SPACE_INPUT);
        return;
    }
    struct tn_std_value *v = tn_std_value(c, ref->name);
    if (v) v->read = true;
    struct tn_std_type type = tn_std_type_of(c->doc, &in->contract);
    if (!type.known) return;
    if (type.dtype != dtype || (type.has_rank && type.rank != rank)) {
        f = tn_std_say(c, ref->at, "the input cannot carry %s", role);
        tn_found(f, "%s", tn_std_type_text(&type, text));
        tn_expected(f, "%s of rank %llu", tn_std_dtype_name(dtype), (unsigned long long)rank);
        return;
    }
    if (in->contract.layout.kind != TN_STD_REQUEST_ALIGNED || in->contract.layout.axis != 0) {
        f = tn_std_say(c, ref->at, "the input has no row per request on axis 0, so a selection could reach another row");
        tn_expected(f, "batch_layout request_aligned, axis 0");
    }
    if (in->runtime_role && tn_json_present(in->role.at) && !tn_str_is(in->role.name, role)) {
        f = tn_std_say(c, ref->at, "the input has another role");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(in->role.name));
        tn_expected(f, "\"%s\"", role);
    }
    if (rank != 2 || !type.has_shape || !type.dims[1].fixed || !a->max_adapters.present || a->max_adapters.value == 0) return;
    if (type.dims[1].extent >= 0 && (uint64_t)type.dims[1].extent == a->max_adapters.value) return;
    f = tn_std_say(c, ref->at, "the input's second extent is not the number of adapters per row");
    tn_found(f, "%lld", (long long)type.dims[1].extent);
    tn_expected(f, "%llu, as max_adapters says", (unsigned long long)a->max_adapters.value);
}

/* ---- overlays --------------------------------------------------------------------------------------------------- */

/* A component that applies a parameter names one of the manifest's targets by component and parameter. */
static void check_overlay(struct tn_std_check *c, const struct tn_std_adapters *a,
                          const struct tn_std_component *component)
{
    struct tn_json p = component->contract_parameters;
    struct tn_str owner, parameter;
    if (!tn_str_is(component->contract_id.name, "onnx-genai.parameter-overlay") ||
        !tn_json_is(p, TN_JSON_OBJECT)) return;
    if (!tn_json_str(tn_json_get(p, "component"), &owner) || !tn_json_str(tn_json_get(p, "parameter"),
                                                                          &parameter)) return;
    bool known_owner = false;
    for (size_t i = 0; i < a->target_count; i++) {
        const struct tn_std_target *t = &a->targets[i];
        if (!tn_str_eq(t->component.name, owner)) continue;
        known_owner = true;
        if (tn_str_eq(t->initializer.name, parameter) || tn_str_eq(t->id.name, parameter)) return;
    }
    if (c->open[TN_STD_SPACE_TARGET]) return;
    struct tn_finding *f = tn_std_say_member(c, p, known_owner ? "parameter" : "component",
                                             "no adapter target is this parameter");
    tn_found(f, "\"%.*s\" of \"%.*s\"", TN_FMT_ARG(parameter), TN_FMT_ARG(owner));
    tn_expected(f, "component and initializer of a target in adapters.target_manifest");
}

void tn_std_check_adapters(struct tn_std_check *c)
{
    const struct tn_std_adapters *a = &c->doc->adapters;
    for (size_t i = 0; i < c->flow->component_count; i++) {
        const struct tn_std_target *first = a->target_count > 0 ? a->targets : NULL;
        bool dangling = first && tn_json_present(first->component.at) && !tn_std_component(c, first->component.name);
        if (!dangling) check_overlay(c, a, &c->flow->components[i]); /* else the target is what is wrong */
    }
    if (!tn_json_present(a->at)) return;
    for (size_t i = 0; i < a->target_count; i++) check_target(c, a, &a->targets[i]);
    for (size_t i = 0; i < a->artifact_count; i++) check_artifact(c, a, i);
    want_positive(c, &a->max_adapters, "the number of adapters per row");
    check_selection(c, a, &a->segments, TN_STD_I64, 2, "adapter_segments");
    check_selection(c, a, &a->counts, TN_STD_I64, 1, "adapter_counts");
    check_selection(c, a, &a->scales, TN_STD_F32, 2, "adapter_scales");
    check_selection(c, a, &a->active, TN_STD_BOOL, 1, "adapter_active");
}
