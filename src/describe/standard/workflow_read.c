/*
 * Reads a standard document into struct tn_standard: the root, the workflow's manifest, values, components and effects.
 * State and serving, steps, and the facts beside the workflow have readers of their own. Inputs are untrusted.
 */
#include "describe/standard/read.h"

#include <string.h>

/* ---- values ----------------------------------------------------------------------------------------------------- */

static const struct tn_std_word sources[] = {
    {"request", TN_STD_REQUEST},
    {"application", TN_STD_APPLICATION},
    {"literal", TN_STD_LITERAL},
    {"artifact", TN_STD_ARTIFACT},
    {NULL, 0},
};

static void read_input(struct tn_std_reader *r, struct tn_json v, struct tn_std_input *out)
{
    struct tn_json role = tn_std_get(v, "role"), source = tn_std_get(v, "source");
    out->name = tn_json_key(v);
    out->at = v;
    tn_std_contract_at(r, tn_json_get(v, "contract"), &out->contract);
    out->runtime_role = tn_str_is(tn_std_str_of(role, "kind"), "runtime");
    out->role = tn_std_ref_of(role, "role");
    out->role_version = tn_std_str_of(role, "version");
    out->source = (enum tn_std_source)tn_std_word_of(source, "kind", sources);
    out->source_path = tn_std_ref_of(source, "path");
    out->source_name = tn_std_str_of(source, "name");
    out->source_at = source;
    out->required = tn_std_bool_of(v, "required", true);
    out->externally_suppliable = tn_std_bool_of(v, "externally_suppliable", false);
    out->default_at = tn_std_get(v, "default");
    out->present_as = tn_std_ref_of(v, "present_as");
}

static void read_output(struct tn_std_reader *r, struct tn_json v, struct tn_std_output *out)
{
    out->name = tn_json_key(v);
    out->at = v;
    tn_std_contract_at(r, tn_json_get(v, "contract"), &out->contract);
    out->role = tn_std_str_of(v, "role");
    out->stage = tn_std_str_of(v, "stage");
    out->value_range = tn_std_ref_of(v, "value_range");
    out->media = tn_std_get(v, "media");
}

/* ---- components ------------------------------------------------------------------------------------------------- */

static const struct tn_std_word implementations[] = {
    {"onnx", TN_STD_ONNX},
    {"adapter", TN_STD_ADAPTER},
    {"binding", TN_STD_BINDING},
    {NULL, 0},
};

static const struct tn_std_word equivalences[] = {
    {"semantic", TN_STD_SEMANTIC},
    {"distribution_preserving", TN_STD_DISTRIBUTION_PRESERVING},
    {"bitwise", TN_STD_BITWISE},
    {NULL, 0},
};

static void read_ports(struct tn_std_reader *r, struct tn_json v, struct tn_std_ports *out)
{
    if (!tn_json_is(v, TN_JSON_OBJECT)) return;
    out->at = v;
    out->items = tn_std_array(r, tn_json_count(v), sizeof(*out->items), &out->count);
    size_t i = 0;
    for (struct tn_json p = tn_json_first(v); i < out->count; p = tn_json_next(p), i++) {
        out->items[i].name = tn_json_key(p);
        tn_std_contract_at(r, p, &out->items[i].contract);
    }
}

static void read_contract(struct tn_std_reader *r, struct tn_json v, struct tn_std_component *out)
{
    if (!tn_json_is(v, TN_JSON_OBJECT)) return;
    out->has_contract = true;
    out->contract_at = v;
    out->contract_id = tn_std_ref_of(v, "id");
    out->contract_version = tn_std_ref_of(v, "version");
    out->contract_bindings = tn_std_bindings_of(r, v, "bindings");
    out->contract_parameters = tn_std_get(v, "parameters");
    out->equivalence = (enum tn_std_equivalence)tn_std_word_of(v, "equivalence", equivalences);
}

static void read_component(struct tn_std_reader *r, struct tn_json v, struct tn_std_component *out)
{
    struct tn_json implementation = tn_std_get(v, "implementation"), ports = tn_std_get(v, "ports");
    struct tn_json row_scope = tn_std_get(v, "row_scope");
    out->name = tn_json_key(v);
    out->at = v;
    out->implementation = (enum tn_std_implementation)tn_std_word_of(implementation, "kind", implementations);
    out->artifact = tn_std_ref_of(implementation, "artifact");
    out->abi = tn_std_ref_of(implementation, "abi");
    out->version = tn_std_ref_of(implementation, "version");
    out->implementation_at = implementation;
    read_ports(r, tn_json_get(ports, "inputs"), &out->inputs);
    read_ports(r, tn_json_get(ports, "outputs"), &out->outputs);
    out->roles = tn_std_bindings_of(r, ports, "roles");
    read_contract(r, tn_json_get(v, "contract"), out);
    out->effects = tn_std_refs_of(r, v, "effects");
    out->cache_affects_state = tn_std_refs_of(r, v, "cache_affects_state");
    out->has_row_scope = tn_json_is(row_scope, TN_JSON_OBJECT);
    out->row_scope_at = row_scope;
    out->row_axis = tn_std_count_of(row_scope, "axis");
    out->stateful = tn_std_bool_of(row_scope, "stateful", false);
    out->application_overridable = tn_std_bool_of(v, "application_overridable", false);
}

static const struct tn_std_word retries[] = {
    {"pure", TN_STD_PURE},
    {"idempotent", TN_STD_IDEMPOTENT},
    {"transactional", TN_STD_TRANSACTIONAL},
    {"non_retryable", TN_STD_NON_RETRYABLE},
    {NULL, 0},
};

static const struct tn_std_word safeties[] = {
    {"none", TN_STD_UNSAFE},
    {"clonable", TN_STD_CLONABLE},
    {"rewindable", TN_STD_REWINDABLE},
    {NULL, 0},
};

static void read_effect(struct tn_json v, struct tn_std_effect *out)
{
    out->name = tn_json_key(v);
    out->at = v;
    out->retry = (enum tn_std_retry)tn_std_word_of(v, "retry", retries);
    out->safety_at = tn_std_get(v, "speculation_safety");
    out->safety = (enum tn_std_safety)tn_std_word_of(out->safety_at, "kind", safeties);
    out->max_depth = tn_std_count_of(out->safety_at, "max_depth");
}

/* ---- the workflow ----------------------------------------------------------------------------------------------- */

#define READ_MAP(r, object, key, items, count, read_one)                                           \
    do {                                                                                           \
        struct tn_json map_ = tn_json_get(object, key);                                            \
        if (!tn_json_is(map_, TN_JSON_OBJECT)) break;                                              \
        (items) = tn_std_array(r, tn_json_count(map_), sizeof(*(items)), &(count));                \
        size_t i_ = 0;                                                                             \
        for (struct tn_json v_ = tn_json_first(map_); i_ < (count); v_ = tn_json_next(v_), i_++)   \
            read_one;                                                                              \
    } while (0)

void tn_std_read_workflow(struct tn_std_reader *r, struct tn_json v, struct tn_std_workflow *out)
{
    if (!tn_json_is(v, TN_JSON_OBJECT)) return;
    out->at = v;
    out->manifest_at = tn_std_get(v, "manifest");
    out->capabilities = tn_std_refs_of(r, out->manifest_at, "capabilities");
    out->adapter_abis = tn_std_bindings_of(r, out->manifest_at, "adapter_abis");
    READ_MAP(r, v, "inputs", out->inputs, out->input_count, read_input(r, v_, &out->inputs[i_]));
    READ_MAP(r, v, "outputs", out->outputs, out->output_count, read_output(r, v_, &out->outputs[i_]));
    READ_MAP(r, v, "components", out->components, out->component_count, read_component(r, v_, &out->components[i_]));
    READ_MAP(r, v, "effects", out->effects, out->effect_count, read_effect(v_, &out->effects[i_]));
    tn_std_read_state(r, v, out);
    tn_std_read_steps(r, tn_json_get(v, "steps"), 0, &out->steps);
}

/* ---- the document ----------------------------------------------------------------------------------------------- */

enum tn_status tn_standard_read(struct tn_standard *doc, struct tn_alloc *alloc, struct tn_json root,
                                struct tn_error *err)
{
    memset(doc, 0, sizeof(*doc));
    tn_arena_init(&doc->arena, alloc);
    struct tn_std_reader r = {.arena = &doc->arena};
    doc->at = root;
    doc->version = tn_std_str_of(root, "schema_version");
    doc->required_capabilities = tn_std_refs_of(&r, root, "required_capabilities");
    doc->pipeline = tn_std_get(root, "pipeline");
    tn_std_read_workflow(&r, tn_json_get(doc->pipeline, "workflow"), &doc->workflow);
    tn_std_read_adapters(&r, tn_json_get(root, "adapters"), &doc->adapters);
    tn_std_read_speculative(&r, tn_json_get(root, "speculative"), &doc->speculative);
    tn_std_read_facts(&r, root, doc);
    if (!r.memory_gone && !r.too_deep) return TN_OK;
    enum tn_status status = TN_RESOURCE_LIMIT;
    if (r.memory_gone) status = tn_error_memory(err, TN_PHASE_DESCRIBE, "reading the metadata document");
    else {
        struct tn_finding *f = tn_error_set(err, status, TN_PHASE_DESCRIBE, "the workflow's steps nest too deep");
        tn_at_json(f, r.deep_at);
        tn_expected(f, "at most %d levels", TN_STD_STEP_DEPTH);
    }
    tn_standard_release(doc);
    return status;
}

void tn_standard_release(struct tn_standard *doc)
{
    if (doc->arena.alloc) tn_arena_release(&doc->arena);
    tn_doc_marks_release(&doc->marks);
    memset(doc, 0, sizeof(*doc));
}

/* ---- by name ---------------------------------------------------------------------------------------------------- */

#define FIND(items, count, member, wanted)                                                   \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < (count); i_++)                                                    \
            if (tn_str_eq((items)[i_].member, wanted)) return &(items)[i_];                        \
        return NULL;                                                                               \
    } while (0)

const struct tn_std_component *tn_standard_component(const struct tn_standard *doc, struct tn_str name)
{
    FIND(doc->workflow.components, doc->workflow.component_count, name, name);
}

const struct tn_std_input *tn_standard_input(const struct tn_standard *doc, struct tn_str name)
{
    FIND(doc->workflow.inputs, doc->workflow.input_count, name, name);
}

const struct tn_std_output *tn_standard_output(const struct tn_standard *doc, struct tn_str name)
{
    FIND(doc->workflow.outputs, doc->workflow.output_count, name, name);
}

const struct tn_std_cell *tn_standard_cell(const struct tn_standard *doc, struct tn_str name)
{
    FIND(doc->workflow.cells, doc->workflow.cell_count, name, name);
}

const struct tn_std_group *tn_standard_group(const struct tn_standard *doc, struct tn_str name)
{
    FIND(doc->workflow.serving.groups, doc->workflow.serving.group_count, name, name);
}

const struct tn_std_effect *tn_standard_effect(const struct tn_standard *doc, struct tn_str name)
{
    FIND(doc->workflow.effects, doc->workflow.effect_count, name, name);
}

const struct tn_std_port *tn_standard_port(const struct tn_std_ports *ports, struct tn_str name)
{
    FIND(ports->items, ports->count, name, name);
}
