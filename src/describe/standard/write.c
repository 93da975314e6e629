/*
 * A description in the inference-metadata form: one workflow of one component whose behaviour stands in
 * tenon_package.json beside it. For packages that carry such a document already, that document is the description and is
 * printed instead (the caller's choice). Knows no convention.
 *
 * The component is an adapter of our own ABI, so a reader that lacks it refuses: what stands in the other document
 * changes answers.
 */
#include "describe/package_document.h"
#include "describe/standard/write.h"

#define TEXT_INPUT "request.text"
#define TEXT_PORT "text"

/* What the component gives: one row for each text, or one for each token. */
struct result {
    const char *port, *value, *output, *component;
    const char *role; /* of the port in the standard's vocabulary; NULL: none */
    unsigned rank;
    uint64_t width; /* 0: not known */
    bool pooled, embedding;
};

/* A package of which nothing is known but that it is one: the component has no ports. */
static bool is_closed(const struct result *r)
{
    return r->port == NULL;
}

static struct result result_of(const struct tn_description *d)
{
    if (d->component_count == 0) return (struct result){0};
    for (uint32_t i = 0; i < d->module_count; i++) {
        if (d->modules[i].kind != TN_MODULE_POOLING && d->modules[i].kind != TN_MODULE_SPLADE) continue;
        uint64_t width = d->modules[d->module_count - 1].out_features;
        if (d->truncate_dim && d->truncate_dim < width) width = d->truncate_dim;
        return (struct result){"embedding", "text.embedding", "embedding", "embedder", NULL, 2, width, true, true};
    }
    if (d->head && d->head->outputs) {
        bool whole = d->head->kind == TN_HEAD_SEQUENCE_CLASSIFICATION;
        return (struct result){"logits", "text.logits", "logits", "classifier", "logits", whole ? 2 : 3,
                               d->head->outputs, whole, false};
    }
    struct result tokens = {"hidden_states", "text.hidden_states", "hidden_states", "encoder", "hidden_states", 3, 0,
                            false, false};
    const struct tn_value *width = tn_schema_value(d->components[0].schema, d->components[0].values, "hidden_size");
    if (width && width->present) tokens.width = width->u;
    if (d->multi && d->module_count > 0) tokens.width = d->modules[d->module_count - 1].out_features;
    return tokens;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static void write_layout(struct tn_json_writer *w)
{
    tn_jw_key(w, "batch_layout");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "kind", "request_aligned");
    tn_jw_member_u64(w, "axis", 0);
    tn_jw_end_object(w);
}

static void write_text_contract(struct tn_json_writer *w, const char *key)
{
    tn_jw_key(w, key);
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "dtype", "string");
    tn_jw_member_u64(w, "rank", 1);
    tn_jw_key(w, "shape");
    tn_jw_begin_array(w);
    tn_jw_cstr(w, "batch");
    tn_jw_end_array(w);
    write_layout(w);
    tn_jw_end_object(w);
}

static void write_result_contract(struct tn_json_writer *w, const char *key, const struct result *r)
{
    tn_jw_key(w, key);
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "dtype", "float32");
    tn_jw_member_u64(w, "rank", r->rank);
    tn_jw_key(w, "shape");
    tn_jw_begin_array(w);
    tn_jw_cstr(w, "batch");
    if (!r->pooled) tn_jw_cstr(w, "tokens");
    if (r->width) tn_jw_u64(w, r->width);
    else tn_jw_cstr(w, "width");
    tn_jw_end_array(w);
    write_layout(w);
    tn_jw_end_object(w);
}

/* ---- the workflow ------------------------------------------------------------------------------------------------ */

static void write_manifest(struct tn_json_writer *w, bool closed)
{
    tn_jw_key(w, "manifest");
    tn_jw_begin_object(w);
    tn_jw_key(w, "adapter_abis");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, TN_PACKAGE_ABI, TN_PACKAGE_ABI_VERSION);
    tn_jw_end_object(w);
    tn_jw_key(w, "capabilities");
    tn_jw_begin_array(w);
    if (!closed) tn_jw_cstr(w, "typed_emit");
    tn_jw_cstr(w, "workflow_ssa");
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}

static void write_text_input(struct tn_json_writer *w)
{
    tn_jw_key(w, TEXT_INPUT);
    tn_jw_begin_object(w);
    write_text_contract(w, "contract");
    tn_jw_member_bool(w, "required", true);
    tn_jw_key(w, "role");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "kind", "runtime");
    tn_jw_member_cstr(w, "role", "prompt_text");
    tn_jw_member_cstr(w, "version", "1.0");
    tn_jw_end_object(w);
    tn_jw_key(w, "source");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "kind", "request");
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

static void write_ports(struct tn_json_writer *w, const struct result *r)
{
    tn_jw_key(w, "ports");
    tn_jw_begin_object(w);
    tn_jw_key(w, "inputs");
    tn_jw_begin_object(w);
    write_text_contract(w, TEXT_PORT);
    tn_jw_end_object(w);
    tn_jw_key(w, "outputs");
    tn_jw_begin_object(w);
    write_result_contract(w, r->port, r);
    tn_jw_end_object(w);
    if (r->role) {
        tn_jw_key(w, "roles");
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, r->port, r->role);
        tn_jw_end_object(w);
    }
    tn_jw_end_object(w);
}

static void write_component(struct tn_json_writer *w, const char *name, const struct result *r)
{
    tn_jw_key(w, name);
    tn_jw_begin_object(w);
    tn_jw_key(w, "implementation");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "abi", TN_PACKAGE_ABI);
    tn_jw_member_cstr(w, "artifact", TN_PACKAGE_FILE);
    tn_jw_member_cstr(w, "kind", "adapter");
    tn_jw_member_cstr(w, "version", TN_PACKAGE_ABI_VERSION);
    tn_jw_end_object(w);
    if (!is_closed(r)) write_ports(w, r);
    tn_jw_end_object(w);
}

static void write_output(struct tn_json_writer *w, const struct result *r)
{
    tn_jw_key(w, r->output);
    tn_jw_begin_object(w);
    write_result_contract(w, "contract", r);
    tn_jw_member_cstr(w, "role", "tensor");
    tn_jw_member_cstr(w, "stage", "post_adapter");
    tn_jw_end_object(w);
}

static void write_invoke(struct tn_json_writer *w, const char *component, const struct result *r)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "kind", "invoke");
    tn_jw_member_cstr(w, "component", component);
    if (!is_closed(r)) {
        tn_jw_key(w, "inputs");
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, TEXT_PORT, TEXT_INPUT);
        tn_jw_end_object(w);
        tn_jw_key(w, "outputs");
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, r->port, r->value);
        tn_jw_end_object(w);
    }
    tn_jw_end_object(w);
}

static void write_emit(struct tn_json_writer *w, const struct result *r)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "kind", "emit");
    tn_jw_member_cstr(w, "mode", "replace");
    tn_jw_member_cstr(w, "output", r->output);
    tn_jw_member_cstr(w, "value", r->value);
    tn_jw_end_object(w);
}

static void write_workflow(struct tn_json_writer *w, const struct result *r)
{
    bool closed = is_closed(r);
    const char *component = closed ? "package" : r->component;
    tn_jw_key(w, "pipeline");
    tn_jw_begin_object(w);
    tn_jw_key(w, "workflow");
    tn_jw_begin_object(w);
    write_manifest(w, closed);
    tn_jw_key(w, "inputs");
    tn_jw_begin_object(w);
    if (!closed) write_text_input(w);
    tn_jw_end_object(w);
    tn_jw_key(w, "outputs");
    tn_jw_begin_object(w);
    if (!closed) write_output(w, r);
    tn_jw_end_object(w);
    tn_jw_key(w, "components");
    tn_jw_begin_object(w);
    write_component(w, component, r);
    tn_jw_end_object(w);
    tn_jw_key(w, "steps");
    tn_jw_begin_array(w);
    write_invoke(w, component, r);
    if (!closed) write_emit(w, r);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static void write_model(struct tn_json_writer *w, const struct tn_description *d)
{
    const struct tn_value *rows = NULL;
    if (d->component_count > 0) rows = tn_schema_value(d->components[0].schema, d->components[0].values, "vocab_size");
    bool have_rows = rows && rows->present && rows->u > 0;
    if (d->max_seq_length == 0 && !have_rows) return;
    tn_jw_key(w, "model");
    tn_jw_begin_object(w);
    if (d->max_seq_length) tn_jw_member_u64(w, "max_sequence_length", d->max_seq_length);
    if (have_rows) tn_jw_member_u64(w, "vocab_size", rows->u);
    tn_jw_end_object(w);
}

static void write_profile(struct tn_json_writer *w, const struct result *r)
{
    if (!r->embedding) return;
    tn_jw_key(w, "profiles");
    tn_jw_begin_object(w);
    tn_jw_key(w, "embedding");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "batch_invariance", "row_independent");
    tn_jw_member_cstr(w, "kind", "embedding");
    tn_jw_key(w, "outputs");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "embedding", r->output);
    tn_jw_end_object(w);
    tn_jw_member_cstr(w, "version", "1");
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

void tn_standard_document_write(struct tn_json_writer *w, const struct tn_description *d)
{
    struct result r = result_of(d);
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "schema_version", "v1");
    write_model(w, d);
    write_workflow(w, &r);
    write_profile(w, &r);
    tn_jw_end_object(w);
}
