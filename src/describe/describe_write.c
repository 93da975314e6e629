/*
 * The description of the inspect document with its facts, and what of it goes into a fingerprint. The fingerprint leaves
 * out the convention, origins, files, descriptive facts and findings: the same behaviour stated by other documents, or
 * from another folder, must not change what was computed.
 */
#include "describe/package_document.h"

static const char *origin_name(enum tn_origin origin)
{
    switch (origin) {
    case TN_FROM_FILE: return "file";
    case TN_FROM_DEFAULT: return "default";
    case TN_FROM_USER: return "user";
    case TN_FROM_STRUCTURE: return "structure";
    }
    return "unknown";
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

void tn_fact_write(struct tn_json_writer *w, const struct tn_fact *fact)
{
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "name", fact->name);
    tn_jw_key(w, "value");
    tn_jw_raw(w, fact->value);
    tn_jw_member_cstr(w, "origin", origin_name(fact->origin));
    tn_jw_member_str(w, "file", fact->file);
    tn_jw_member_str(w, "pointer", fact->pointer);
    tn_jw_member_str(w, "rule", fact->rule);
    tn_jw_member_bool(w, "descriptive", fact->descriptive);
    tn_jw_end_object(w);
}

void tn_description_write_facts(struct tn_json_writer *w, const struct tn_description *d)
{
    tn_jw_key(w, "facts");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < d->fact_count; i++) tn_fact_write(w, &d->facts[i]);
    tn_jw_end_array(w);
}

static void write_parts(struct tn_json_writer *w, const char *key, struct tn_json parts, const char *const *members)
{
    tn_jw_key(w, key);
    tn_jw_begin_array(w);
    for (struct tn_json v = tn_json_first(parts); tn_json_is(parts, TN_JSON_OBJECT) && tn_json_present(v); v = tn_json_next(v)) {
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "name", tn_json_key(v));
        for (const char *const *m = members; *m; m++) {
            tn_jw_key(w, *m);
            if (tn_json_present(tn_json_get(v, *m))) tn_jw_json(w, tn_json_get(v, *m));
            else tn_jw_null(w);
        }
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_dependencies(struct tn_json_writer *w, const struct tn_description *d)
{
    tn_jw_key(w, "dependencies");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < d->dependency_count; i++) {
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "kind", tn_std_dependency_kind_name(d->dependencies[i].kind));
        tn_jw_member_str(w, "name", d->dependencies[i].name);
        tn_jw_member_bool(w, "control_only", d->dependencies[i].control_only);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

/* What the package states of itself in the standard's form, or what an import made of its convention. */
static void write_contract(struct tn_json_writer *w, const struct tn_description *d)
{
    static const char *const component[] = {"implementation", NULL}, *const group[] = {"kind", "layout", NULL};
    struct tn_json root = tn_json_root(&d->contract);
    tn_jw_key(w, "contract");
    if (!tn_json_present(root)) {
        tn_jw_null(w);
        return;
    }
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "document", root.doc->file);
    if (d->contract_identity.n) tn_jw_member_str(w, "identity", d->contract_identity);
    else tn_jw_member_null(w, "identity");
    write_parts(w, "components", tn_json_find(root, "/pipeline/workflow/components"), component);
    write_parts(w, "state_groups", tn_json_find(root, "/pipeline/workflow/serving/state_service/groups"), group);
    write_dependencies(w, d);
    tn_jw_end_object(w);
}

void tn_description_write(struct tn_json_writer *w, const struct tn_description *d)
{
    tn_jw_member_str(w, "dialect", d->dialect);
    tn_jw_member_str(w, "dialect_version", d->dialect_version);
    tn_description_write_content(w, d);
    write_contract(w, d);
    tn_jw_key(w, "capabilities");
    tn_capability_needs_write(w, d->capabilities, d->capability_count);
    tn_jw_key(w, "hints");
    tn_hint_list_write(w, &d->hints);
    tn_description_write_losses(w, d);
    tn_description_write_facts(w, d);
}

/* ---- fingerprint ------------------------------------------------------------------------------------------------ */

static void hash_flag(struct tn_sha256 *h, bool value)
{
    tn_sha256_update_u64(h, value);
}

static void hash_number(struct tn_sha256 *h, double value)
{
    union {
        double f;
        uint64_t u;
    } bits = {.f = value};
    tn_sha256_update_u64(h, bits.u);
}

static void hash_value(struct tn_sha256 *h, const struct tn_value *value)
{
    hash_flag(h, value->present);
    if (!value->present) return;
    tn_sha256_update_u64(h, value->type);
    hash_flag(h, value->b);
    tn_sha256_update_u64(h, value->u);
    hash_number(h, value->f);
    tn_sha256_update_str(h, value->s);
}

static void hash_component(struct tn_sha256 *h, const struct tn_component *c)
{
    tn_sha256_update_str(h, c->name);
    tn_sha256_update_str(h, tn_str_of(c->schema->id));
    tn_sha256_update_str(h, c->architecture);
    for (size_t i = 0; i < c->schema->field_count; i++) {
        if (!tn_schema_states(c->schema, i)) continue;
        tn_sha256_update_str(h, tn_str_of(c->schema->fields[i].name));
        hash_value(h, &c->values[i]);
    }
}

static void hash_head(struct tn_sha256 *h, const struct tn_head *head)
{
    tn_sha256_update_str(h, TN_STR("head"));
    tn_sha256_update_str(h, tn_str_of(tn_head_kind_name(head->kind)));
    tn_sha256_update_u64(h, head->outputs);
    for (uint64_t i = 0; head->labels && i < head->outputs; i++) tn_sha256_update_str(h, head->labels[i]);
    hash_flag(h, head->labels_stated);
    tn_sha256_update_u64(h, head->problem);
    hash_flag(h, head->cross_encoder);
    if (head->no_answer) hash_flag(h, true);
    tn_sha256_update_str(h, head->activation);
}

static void hash_module(struct tn_sha256 *h, const struct tn_module *m)
{
    tn_sha256_update_str(h, tn_str_of(tn_module_kind_name(m->kind)));
    hash_flag(h, m->on_tokens);
    tn_sha256_update_u64(h, m->in_features);
    tn_sha256_update_u64(h, m->out_features);
    tn_sha256_update_u64(h, m->pooling_count);
    for (uint32_t i = 0; i < m->pooling_count; i++) tn_sha256_update_str(h, tn_str_of(tn_pooling_name(m->pooling[i])));
    hash_flag(h, m->include_prompt);
    hash_flag(h, m->bias);
    tn_sha256_update_str(h, m->activation);
    hash_flag(h, m->residual);
    hash_number(h, m->eps);
    if (m->kind != TN_MODULE_SPLADE) return;
    hash_flag(h, m->sum);
    hash_flag(h, m->twice);
}

static void hash_multi(struct tn_sha256 *h, const struct tn_multi_vector *m)
{
    tn_sha256_update_str(h, TN_STR("multi vector"));
    for (unsigned r = 0; r < TN_TEXT_ROLES; r++) {
        tn_sha256_update_u64(h, m->length[r]);
        hash_flag(h, m->skips[r]);
    }
    tn_sha256_update_u64(h, m->expansion.length);
    if (m->expansion.length) {
        hash_flag(h, m->expansion.fixed);
        hash_flag(h, m->expansion.attended);
        hash_flag(h, m->expansion.kept);
        tn_sha256_update_str(h, m->expansion.token);
    }
    tn_sha256_update_u64(h, m->skip_count);
    for (uint32_t i = 0; i < m->skip_count; i++) tn_sha256_update_str(h, m->skip[i]);
    tn_sha256_update_u64(h, m->marker_count);
    for (uint32_t i = 0; i < m->marker_count; i++) tn_sha256_update_str(h, m->markers[i]);
}

/* The stages of the file stand in the file, whose digest goes in beside; those of a class are made from these members. */
static bool counts(const struct tn_tokenizer_facts *t, const struct tn_tokenizer_member *m)
{
    bool of_class = t->source != TN_TOKENIZER_FILE;
    bool asked_for = m->offset == offsetof(struct tn_tokenizer_facts, unk_token) ||
                     m->offset == offsetof(struct tn_tokenizer_facts, mask_token); /* recipes look at these two */
    switch (m->kind) {
    case TN_TOKENIZER_PATH: return false;
    case TN_TOKENIZER_SIDE: return true;
    case TN_TOKENIZER_STAGE: return of_class;
    case TN_TOKENIZER_TEXT: return asked_for || (of_class && m->offset != offsetof(struct tn_tokenizer_facts, tokenizer_class));
    case TN_TOKENIZER_BOOL: break;
    }
    return true;
}

void tn_tokenizer_fingerprint(const struct tn_tokenizer_facts *t, struct tn_sha256 *h)
{
    hash_flag(h, t->present);
    tn_sha256_update_str(h, tn_str_of(tn_tokenizer_source_name(t->source)));
    if (t->source != TN_TOKENIZER_FILE) tn_sha256_update_u64(h, t->pair_template);
    for (size_t i = 0; i < tn_tokenizer_member_count; i++) {
        const struct tn_tokenizer_member *m = &tn_tokenizer_members[i];
        const void *field = (const char *)t + m->offset;
        if (!counts(t, m)) continue;
        if (m->kind == TN_TOKENIZER_BOOL || m->kind == TN_TOKENIZER_STAGE) hash_flag(h, *(const bool *)field);
        else tn_sha256_update_str(h, *(const struct tn_str *)field);
    }
    if (t->source == TN_TOKENIZER_FILE) return;
    hash_flag(h, t->strip_accents_set);
    hash_flag(h, t->strip_accents);
}

static void hash_ports(struct tn_sha256 *h, const struct tn_onnx_port *ports, uint32_t count)
{
    char text[512];
    tn_sha256_update_u64(h, count);
    for (uint32_t i = 0; i < count; i++) {
        tn_sha256_update_str(h, ports[i].name);
        tn_sha256_update_str(h, tn_str_of(tn_onnx_port_text(&ports[i], text, sizeof(text))));
        hash_flag(h, ports[i].initialised);
    }
}

/* Nothing is said but the name that a written contract gives it, "request.NAME". */
static bool is_plain(const struct tn_graph_input *in, struct tn_str name)
{
    static const char prefix[] = "request.";
    size_t n = sizeof(prefix) - 1;
    if (tn_json_present(in->value) || in->closed || in->has_minimum || in->has_maximum || in->most_tokens) return false;
    if (in->name.n == 0) return true;
    return tn_str_starts(in->name, prefix) && tn_str_eq((struct tn_str){in->name.s + n, in->name.n - n}, name);
}

static void hash_input(struct tn_sha256 *h, uint32_t index, const struct tn_graph_input *in)
{
    tn_sha256_update_u64(h, index);
    tn_sha256_update_str(h, in->name);
    tn_sha256_update_str(h, tn_json_present(in->value) ? tn_json_text(in->value) : TN_STR(""));
    hash_flag(h, in->closed);
    hash_flag(h, in->has_minimum);
    hash_flag(h, in->has_maximum);
    if (in->has_minimum) hash_number(h, in->minimum);
    if (in->has_maximum) hash_number(h, in->maximum);
    tn_sha256_update_u64(h, in->most_tokens);
}

/* Every output of the graph, under its own name. */
static bool publishes_all(const struct tn_graph_facts *g)
{
    if (!g->results || g->result_count != g->view->output_count) return !g->results;
    for (uint32_t i = 0; i < g->result_count; i++)
        if (g->results[i].out != i || !tn_str_eq(g->results[i].name, g->view->outputs[i].name)) return false;
    return true;
}

/*
 * What a caller sees of it; its nodes are in the provider's part. Of a contract, what it adds to the graph: one that was
 * written from the graph adds nothing.
 */
static void hash_graph(struct tn_sha256 *h, const struct tn_graph_facts *g)
{
    tn_sha256_update_str(h, TN_STR("graph"));
    hash_ports(h, g->view->inputs, g->view->input_count);
    hash_ports(h, g->view->outputs, g->view->output_count);
    tn_sha256_update_u64(h, g->state_count);
    for (uint32_t i = 0; i < g->state_count; i++) {
        tn_sha256_update_str(h, g->states[i].input);
        tn_sha256_update_str(h, g->states[i].output);
    }
    for (uint32_t i = 0; g->said_in && i < g->input_count; i++)
        if (!is_plain(&g->said_in[i], g->inputs[i]->name)) hash_input(h, i, &g->said_in[i]);
    if (publishes_all(g)) return;
    tn_sha256_update_u64(h, g->result_count);
    for (uint32_t i = 0; i < g->result_count; i++) {
        tn_sha256_update_u64(h, g->results[i].out);
        tn_sha256_update_str(h, g->results[i].name);
    }
}

void tn_description_fingerprint(const struct tn_description *d, struct tn_sha256 *h)
{
    tn_sha256_update_str(h, TN_STR("tenon.description/3"));
    tn_sha256_update_u64(h, d->component_count);
    for (uint32_t i = 0; i < d->component_count; i++) hash_component(h, &d->components[i]);
    tn_sha256_update_u64(h, d->module_count);
    for (uint32_t i = 0; i < d->module_count; i++) hash_module(h, &d->modules[i]);
    if (d->graph) hash_graph(h, d->graph);
    if (d->head) hash_head(h, d->head);
    if (d->multi) hash_multi(h, d->multi);
    if (d->max_active_dims) tn_sha256_update_u64(h, d->max_active_dims);
    tn_sha256_update_u64(h, d->prompt_count);
    for (uint32_t i = 0; i < d->prompt_count; i++) {
        tn_sha256_update_str(h, d->prompts[i].name);
        tn_sha256_update_str(h, d->prompts[i].text);
    }
    tn_sha256_update_str(h, d->default_prompt);
    tn_sha256_update_str(h, d->similarity);
    tn_sha256_update_u64(h, d->max_seq_length);
    tn_sha256_update_u64(h, d->truncate_dim);
    tn_tokenizer_fingerprint(&d->tokenizer, h);
}
