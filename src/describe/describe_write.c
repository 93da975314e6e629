/*
 * The description as JSON for the inspect document, and what of it goes into a fingerprint. Both walk the struct in its
 * own order, so equal descriptions give equal bytes. The fingerprint leaves out origins, files, descriptive facts and
 * findings: moving or renaming a file must not change what was computed.
 */
#include "base/json_write.h"
#include "describe/describe.h"

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

static const char *source_name(enum tn_tokenizer_source source)
{
    switch (source) {
    case TN_TOKENIZER_FILE: return "file";
    case TN_TOKENIZER_CLASS: return "class";
    case TN_TOKENIZER_VOCAB: return "vocab";
    }
    return "unknown";
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static void write_value(struct tn_json_writer *w, const char *name, const struct tn_value *value)
{
    if (!value->present) {
        tn_jw_member_null(w, name);
        return;
    }
    switch (value->type) {
    case TN_TYPE_BOOL: tn_jw_member_bool(w, name, value->b); break;
    case TN_TYPE_UINT: tn_jw_member_u64(w, name, value->u); break;
    case TN_TYPE_NUMBER: tn_jw_member_f64(w, name, value->f); break;
    case TN_TYPE_STRING: tn_jw_member_str(w, name, value->s); break;
    case TN_TYPE_ANY: tn_jw_member_null(w, name); break;
    }
}

/* Understood values once per normalised name: aliases are rows with the same name. */
static bool shown(const struct tn_schema *schema, size_t i)
{
    const struct tn_schema_field *field = &schema->fields[i];
    if (field->kind != TN_FIELD_UNDERSTOOD || field->type == TN_TYPE_ANY) return false;
    for (size_t k = 0; k < i; k++)
        if (tn_str_is(tn_str_of(schema->fields[k].name), field->name)) return false;
    return true;
}

static void write_component(struct tn_json_writer *w, const struct tn_component *c)
{
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "name", c->name);
    tn_jw_member_str(w, "folder", c->folder);
    tn_jw_member_str(w, "model_type", c->model_type);
    tn_jw_member_str(w, "architecture", c->architecture);
    tn_jw_member_cstr(w, "schema", c->schema->id);
    if (c->variant) tn_jw_member_str(w, "variant", c->variant->id);
    else tn_jw_member_null(w, "variant");
    tn_jw_key(w, "config");
    tn_jw_begin_object(w);
    for (size_t i = 0; i < c->schema->field_count; i++)
        if (shown(c->schema, i)) write_value(w, c->schema->fields[i].name, &c->values[i]);
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

static void write_pooling(struct tn_json_writer *w, const struct tn_module *m)
{
    tn_jw_key(w, "pooling");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < m->pooling_count; i++) tn_jw_cstr(w, tn_pooling_name(m->pooling[i]));
    tn_jw_end_array(w);
    tn_jw_member_bool(w, "include_prompt", m->include_prompt);
}

static void write_module(struct tn_json_writer *w, const struct tn_module *m)
{
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "index", m->index);
    tn_jw_member_cstr(w, "kind", tn_module_kind_name(m->kind));
    tn_jw_member_str(w, "path", m->path);
    tn_jw_member_bool(w, "on_tokens", m->on_tokens);
    if (m->in_features) tn_jw_member_u64(w, "in_features", m->in_features);
    if (m->out_features) tn_jw_member_u64(w, "out_features", m->out_features);
    if (m->kind == TN_MODULE_POOLING) write_pooling(w, m);
    if (m->kind == TN_MODULE_DENSE) {
        tn_jw_member_bool(w, "bias", m->bias);
        tn_jw_member_str(w, "activation", m->activation);
        tn_jw_member_bool(w, "residual", m->residual);
    }
    if (m->kind == TN_MODULE_LAYER_NORM) tn_jw_member_f64(w, "eps", m->eps);
    tn_jw_end_object(w);
}

static void write_tokenizer(struct tn_json_writer *w, const struct tn_tokenizer_facts *t)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "source", source_name(t->source));
    tn_jw_member_str(w, "class", t->tokenizer_class);
    tn_jw_member_str(w, "tokenizer_json", t->tokenizer_json);
    tn_jw_member_str(w, "vocab_txt", t->vocab_txt);
    if (t->source != TN_TOKENIZER_FILE) {
        tn_jw_member_bool(w, "do_lower_case", t->do_lower_case);
        tn_jw_member_bool(w, "tokenize_chinese_chars", t->tokenize_chinese_chars);
        if (t->strip_accents_set) tn_jw_member_bool(w, "strip_accents", t->strip_accents);
        else tn_jw_member_null(w, "strip_accents");
    }
    tn_jw_member_bool(w, "lower_case_first", t->lower_case_first);
    tn_jw_member_bool(w, "type_ids", t->type_ids);
    tn_jw_member_str(w, "unk_token", t->unk_token);
    tn_jw_member_str(w, "cls_token", t->cls_token);
    tn_jw_member_str(w, "sep_token", t->sep_token);
    tn_jw_member_str(w, "pad_token", t->pad_token);
    tn_jw_member_str(w, "mask_token", t->mask_token);
    tn_jw_member_str(w, "padding_side", t->padding_side);
    tn_jw_member_str(w, "truncation_side", t->truncation_side);
    if (t->model_max_length_set) tn_jw_member_u64(w, "model_max_length", t->model_max_length);
    else tn_jw_member_null(w, "model_max_length");
    tn_jw_end_object(w);
}

static void write_fact(struct tn_json_writer *w, const struct tn_fact *fact)
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

void tn_description_write(struct tn_json_writer *w, const struct tn_description *d)
{
    tn_jw_member_str(w, "dialect", d->dialect);
    tn_jw_member_str(w, "dialect_version", d->dialect_version);
    tn_jw_key(w, "components");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < d->component_count; i++) write_component(w, &d->components[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "modules");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < d->module_count; i++) write_module(w, &d->modules[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "prompts");
    tn_jw_begin_object(w);
    for (uint32_t i = 0; i < d->prompt_count; i++) {
        tn_jw_key_str(w, d->prompts[i].name);
        tn_jw_str(w, d->prompts[i].text);
    }
    tn_jw_end_object(w);
    tn_jw_member_str(w, "default_prompt", d->default_prompt);
    tn_jw_member_str(w, "similarity", d->similarity);
    tn_jw_member_u64(w, "max_seq_length", d->max_seq_length);
    tn_jw_member_u64(w, "truncate_dim", d->truncate_dim);
    tn_jw_key(w, "tokenizer");
    if (d->tokenizer.present) write_tokenizer(w, &d->tokenizer);
    else tn_jw_null(w);
    tn_jw_key(w, "descriptive");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < d->descriptive_count; i++) tn_jw_str(w, d->descriptive[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "facts");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < d->fact_count; i++) write_fact(w, &d->facts[i]);
    tn_jw_end_array(w);
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
        if (!shown(c->schema, i)) continue;
        tn_sha256_update_str(h, tn_str_of(c->schema->fields[i].name));
        hash_value(h, &c->values[i]);
    }
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
}

static void hash_tokenizer(struct tn_sha256 *h, const struct tn_tokenizer_facts *t)
{
    hash_flag(h, t->present);
    tn_sha256_update_str(h, tn_str_of(source_name(t->source)));
    tn_sha256_update_u64(h, t->pair_template);
    hash_flag(h, t->lower_case_first);
    hash_flag(h, t->type_ids);
    if (t->source != TN_TOKENIZER_FILE) {
        hash_flag(h, t->do_lower_case);
        hash_flag(h, t->tokenize_chinese_chars);
        hash_flag(h, t->strip_accents_set);
        hash_flag(h, t->strip_accents);
        tn_sha256_update_str(h, t->unk_token);
        tn_sha256_update_str(h, t->cls_token);
        tn_sha256_update_str(h, t->sep_token);
        tn_sha256_update_str(h, t->pad_token);
        tn_sha256_update_str(h, t->mask_token);
    }
    tn_sha256_update_str(h, t->padding_side);
    tn_sha256_update_str(h, t->truncation_side);
}

void tn_description_fingerprint(const struct tn_description *d, struct tn_sha256 *h)
{
    tn_sha256_update_str(h, TN_STR("tenon.description/1"));
    tn_sha256_update_str(h, d->dialect);
    tn_sha256_update_str(h, d->dialect_version);
    tn_sha256_update_u64(h, d->component_count);
    for (uint32_t i = 0; i < d->component_count; i++) hash_component(h, &d->components[i]);
    tn_sha256_update_u64(h, d->module_count);
    for (uint32_t i = 0; i < d->module_count; i++) hash_module(h, &d->modules[i]);
    tn_sha256_update_u64(h, d->prompt_count);
    for (uint32_t i = 0; i < d->prompt_count; i++) {
        tn_sha256_update_str(h, d->prompts[i].name);
        tn_sha256_update_str(h, d->prompts[i].text);
    }
    tn_sha256_update_str(h, d->default_prompt);
    tn_sha256_update_str(h, d->similarity);
    tn_sha256_update_u64(h, d->max_seq_length);
    tn_sha256_update_u64(h, d->truncate_dim);
    hash_tokenizer(h, &d->tokenizer);
}
