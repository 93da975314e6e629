/*
 * The description's content as JSON: members of the inspect document and of tenon_package.json alike, so that what a
 * person sees is what the document would state. Walks the struct in its own order: equal descriptions give equal bytes.
 */
#include "describe/package_document.h"

#define TOKENIZER_OFFSET(field) offsetof(struct tn_tokenizer_facts, field)

const struct tn_tokenizer_member tn_tokenizer_members[] = {
    {"class", TN_TOKENIZER_TEXT, TOKENIZER_OFFSET(tokenizer_class)},
    {"tokenizer_json", TN_TOKENIZER_PATH, TOKENIZER_OFFSET(tokenizer_json)},
    {"vocab_txt", TN_TOKENIZER_PATH, TOKENIZER_OFFSET(vocab_txt)},
    {"do_lower_case", TN_TOKENIZER_STAGE, TOKENIZER_OFFSET(do_lower_case)},
    {"tokenize_chinese_chars", TN_TOKENIZER_STAGE, TOKENIZER_OFFSET(tokenize_chinese_chars)},
    {"lower_case_first", TN_TOKENIZER_BOOL, TOKENIZER_OFFSET(lower_case_first)},
    {"type_ids", TN_TOKENIZER_BOOL, TOKENIZER_OFFSET(type_ids)},
    {"clean_up_spaces", TN_TOKENIZER_BOOL, TOKENIZER_OFFSET(clean_up_spaces)},
    {"unk_token", TN_TOKENIZER_TEXT, TOKENIZER_OFFSET(unk_token)},
    {"cls_token", TN_TOKENIZER_TEXT, TOKENIZER_OFFSET(cls_token)},
    {"sep_token", TN_TOKENIZER_TEXT, TOKENIZER_OFFSET(sep_token)},
    {"pad_token", TN_TOKENIZER_TEXT, TOKENIZER_OFFSET(pad_token)},
    {"mask_token", TN_TOKENIZER_TEXT, TOKENIZER_OFFSET(mask_token)},
    {"padding_side", TN_TOKENIZER_SIDE, TOKENIZER_OFFSET(padding_side)},
    {"truncation_side", TN_TOKENIZER_SIDE, TOKENIZER_OFFSET(truncation_side)},
};

const size_t tn_tokenizer_member_count = sizeof(tn_tokenizer_members) / sizeof(tn_tokenizer_members[0]);

const char *tn_tokenizer_source_name(enum tn_tokenizer_source source)
{
    switch (source) {
    case TN_TOKENIZER_FILE: return "file";
    case TN_TOKENIZER_CLASS: return "class";
    case TN_TOKENIZER_VOCAB: return "vocab";
    }
    return "unknown";
}

const char *tn_tokenizer_template_name(enum tn_tokenizer_template template)
{
    switch (template) {
    case TN_TEMPLATE_ONE_SEPARATOR: return "one_separator";
    case TN_TEMPLATE_TWO_SEPARATORS: return "two_separators";
    }
    return "unknown";
}

/* ---- components -------------------------------------------------------------------------------------------------- */

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
    case TN_TYPE_STRING:
    case TN_TYPE_WORDS: tn_jw_member_str(w, name, value->s); break;
    case TN_TYPE_ANY: tn_jw_member_null(w, name); break;
    }
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
        if (tn_schema_states(c->schema, i)) write_value(w, c->schema->fields[i].name, &c->values[i]);
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

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
    tn_jw_member_str(w, "path", tn_module_has_weights(m->kind) ? m->path : TN_STR(""));
    tn_jw_member_bool(w, "on_tokens", m->on_tokens);
    if (m->in_features) tn_jw_member_u64(w, "in_features", m->in_features);
    if (m->out_features) tn_jw_member_u64(w, "out_features", m->out_features);
    if (m->kind == TN_MODULE_POOLING) write_pooling(w, m);
    if (m->kind == TN_MODULE_DENSE) {
        tn_jw_member_bool(w, "bias", m->bias);
        tn_jw_member_str(w, "activation", m->activation);
        tn_jw_member_bool(w, "residual", m->residual);
    }
    if (m->kind == TN_MODULE_SPLADE) {
        tn_jw_member_cstr(w, "strategy", m->sum ? "sum" : "max");
        tn_jw_member_bool(w, "log_twice", m->twice);
    }
    if (m->kind == TN_MODULE_LAYER_NORM) tn_jw_member_f64(w, "eps", m->eps);
    tn_jw_end_object(w);
}

/* ---- head -------------------------------------------------------------------------------------------------------- */

static void write_head(struct tn_json_writer *w, const struct tn_head *h)
{
    tn_jw_key(w, "head");
    if (!h) {
        tn_jw_null(w);
        return;
    }
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "kind", tn_head_kind_name(h->kind));
    tn_jw_key(w, "labels");
    if (h->labels) {
        tn_jw_begin_array(w);
        for (uint64_t i = 0; i < h->outputs; i++) tn_jw_str(w, h->labels[i]);
        tn_jw_end_array(w);
    } else {
        tn_jw_null(w);
    }
    tn_jw_member_bool(w, "labels_stated", h->labels_stated);
    tn_jw_member_cstr(w, "problem", tn_problem_name(h->problem));
    tn_jw_member_bool(w, "cross_encoder", h->cross_encoder);
    if (h->no_answer) tn_jw_member_bool(w, "no_answer", true);
    if (h->activation.n) tn_jw_member_str(w, "activation", h->activation);
    else tn_jw_member_null(w, "activation");
    tn_jw_end_object(w);
}

/* ---- several vectors per text -------------------------------------------------------------------------------------- */

static void write_texts(struct tn_json_writer *w, const char *name, const struct tn_str *texts, uint32_t count)
{
    tn_jw_key(w, name);
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < count; i++) tn_jw_str(w, texts[i]);
    tn_jw_end_array(w);
}

static void write_multi_vector(struct tn_json_writer *w, const struct tn_multi_vector *m)
{
    tn_jw_key(w, "multi_vector");
    if (!m) {
        tn_jw_null(w);
        return;
    }
    const struct tn_expansion *x = &m->expansion;
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "query_length", m->length[TN_OF_QUERY]);
    tn_jw_member_u64(w, "document_length", m->length[TN_OF_DOCUMENT]);
    tn_jw_key(w, "expansion");
    if (x->length) {
        tn_jw_begin_object(w);
        tn_jw_member_u64(w, "length", x->length);
        tn_jw_member_bool(w, "fixed", x->fixed);
        tn_jw_member_bool(w, "attended", x->attended);
        tn_jw_member_bool(w, "kept", x->kept);
        tn_jw_member_str(w, "token", x->token);
        tn_jw_end_object(w);
    } else {
        tn_jw_null(w);
    }
    write_texts(w, "skip", m->skip, m->skip_count);
    tn_jw_member_bool(w, "skips_in_queries", m->skips[TN_OF_QUERY]);
    tn_jw_member_bool(w, "skips_in_documents", m->skips[TN_OF_DOCUMENT]);
    write_texts(w, "markers", m->markers, m->marker_count);
    tn_jw_end_object(w);
}

/* ---- tokenizer --------------------------------------------------------------------------------------------------- */

static void write_tokenizer(struct tn_json_writer *w, const struct tn_tokenizer_facts *t)
{
    bool of_class = t->source != TN_TOKENIZER_FILE;
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "source", tn_tokenizer_source_name(t->source));
    tn_jw_member_cstr(w, "pair_template", of_class ? tn_tokenizer_template_name(t->pair_template) : NULL);
    for (size_t i = 0; i < tn_tokenizer_member_count; i++) {
        const struct tn_tokenizer_member *m = &tn_tokenizer_members[i];
        const void *field = (const char *)t + m->offset;
        if (m->kind == TN_TOKENIZER_STAGE && !of_class) tn_jw_member_null(w, m->name);
        else if (m->kind == TN_TOKENIZER_BOOL || m->kind == TN_TOKENIZER_STAGE)
            tn_jw_member_bool(w, m->name, *(const bool *)field);
        else tn_jw_member_str(w, m->name, *(const struct tn_str *)field);
    }
    if (of_class && t->strip_accents_set) tn_jw_member_bool(w, "strip_accents", t->strip_accents);
    else tn_jw_member_null(w, "strip_accents");
    if (t->model_max_length_set) tn_jw_member_u64(w, "model_max_length", t->model_max_length);
    else tn_jw_member_null(w, "model_max_length");
    tn_jw_end_object(w);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

void tn_description_write_content(struct tn_json_writer *w, const struct tn_description *d)
{
    tn_jw_key(w, "components");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < d->component_count; i++) write_component(w, &d->components[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "modules");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < d->module_count; i++) write_module(w, &d->modules[i]);
    tn_jw_end_array(w);
    write_head(w, d->head);
    write_multi_vector(w, d->multi);
    if (d->max_active_dims) tn_jw_member_u64(w, "max_active_dims", d->max_active_dims);
    else tn_jw_member_null(w, "max_active_dims");
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
}

/* What the document itself states; what follows from its content needs no statement. */
static void write_needs(struct tn_json_writer *w, const struct tn_description *d)
{
    bool begun = false;
    for (uint32_t i = 0; i < d->capability_count; i++) {
        const struct tn_capability_need *need = &d->capabilities[i];
        if (need->derived || !tn_str_is(need->file, TN_PACKAGE_FILE)) continue;
        if (!begun) {
            tn_jw_key(w, "required_capabilities");
            tn_jw_begin_array(w);
            begun = true;
        }
        tn_jw_str(w, need->id);
    }
    if (begun) tn_jw_end_array(w);
}

void tn_package_document_write(struct tn_json_writer *w, const struct tn_description *d, bool provenance)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "schema", TN_PACKAGE_SCHEMA);
    tn_description_write_content(w, d);
    tn_package_write_undetermined(w, d);
    if (d->loss_count > 0) tn_description_write_losses(w, d);
    write_needs(w, d);
    if (tn_hints_are_from(&d->hints, TN_HINT_FROM_METADATA)) {
        tn_jw_key(w, "execution_hints");
        tn_hints_write(w, &d->hints, TN_HINT_FROM_METADATA);
    }
    if (provenance) tn_package_write_provenance(w, d);
    tn_jw_end_object(w);
}
