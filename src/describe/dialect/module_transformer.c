/*
 * The Transformer module: its own small configuration, then config.json by the family's schema, and the tokenizer.
 * Field lists of sentence-transformers 2.2 (max_seq_length, do_lower_case) to 6.2. Inputs are untrusted.
 */
#include "describe/dialect/modules.h"
#include "describe/schema_rows.h"

#include <string.h>

#define RULE "st.transformer/1"

static const struct tn_schema_field fields[] = {
    /* two special tokens and at least one of the text */
    {"/max_seq_length", "max_seq_length", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "null", "null", 3, 16777216},
    TN_ROW_FLAG("/do_lower_case", "do_lower_case", "false"),
    TN_ROW_CHOICE("/transformer_task", "transformer_task", "\"feature-extraction\"",
                  "\"feature-extraction\" | \"sequence-classification\" | \"fill-mask\""),
    TN_ROW_CHOICE("/module_output_name", "module_output_name", "\"token_embeddings\"",
                  "\"token_embeddings\" | \"scores\""),
    {"/modality_config", "modality_config", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    /* Arguments for the model, tokenizer and configuration classes: each could change anything. */
    TN_ROW_OFF("/model_args", "{} | null"),
    TN_ROW_OFF("/model_kwargs", "{} | null"),
    TN_ROW_OFF("/tokenizer_args", "{} | null"),
    TN_ROW_OFF("/processor_kwargs", "{} | null"),
    TN_ROW_OFF("/config_args", "{} | null"),
    TN_ROW_OFF("/config_kwargs", "{} | null"),
    TN_ROW_OFF("/processing_kwargs", "{} | null"),
    TN_ROW_OFF("/tokenizer_name_or_path", "null"),
    /* of a package of several vectors per text (multi_vector.c) */
    {"/query_length", "query_length", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/document_length", "document_length", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/query_expansion", "query_expansion", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    TN_ROW_DESCRIPTIVE("/unpad_inputs"), /* the same numbers without padding */
    TN_ROW_DESCRIPTIVE("/backend"),
};

static const struct tn_schema schema = {
    .id = "st.transformer/1",
    .fields = fields,
    .field_count = sizeof(fields) / sizeof(fields[0]),
};

/* The names under which releases before 0.4 saved it, in the order in which the library looks. */
static const char *const names[] = {
    "sentence_bert_config.json",       "sentence_roberta_config.json", "sentence_distilbert_config.json",
    "sentence_camembert_config.json",  "sentence_albert_config.json",  "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
};

/* What the module may be asked for: which class it loads, what it calls the result, and what it takes of the class. */
struct use {
    const char *task, *output, *member;
    bool headed;
    enum tn_head_kind heads[2]; /* that the weights may have been saved with */
    const char *class;          /* of the head, for people */
    enum tn_chain_state state;  /* behind it */
};

static const struct use uses[] = {
    {"feature-extraction", "token_embeddings", "last_hidden_state", false, {TN_HEAD_KINDS, TN_HEAD_KINDS}, "", TN_CHAIN_TOKENS},
    {"sequence-classification", "scores", "logits", true, {TN_HEAD_SEQUENCE_CLASSIFICATION, TN_HEAD_KINDS},
     "ForSequenceClassification", TN_CHAIN_SCORES},
    {"fill-mask", "token_embeddings", "logits", true, {TN_HEAD_MASKED_LM, TN_HEAD_PRETRAINING}, "ForMaskedLM", TN_CHAIN_VOCABULARY},
};

/* The older class for sparse vectors asks for the head over the vocabulary where its file says nothing. */
static bool is_of_vocabulary(struct tn_str type)
{
    static const char name[] = "MLMTransformer";
    return type.n >= sizeof(name) - 1 && memcmp(type.s + type.n - (sizeof(name) - 1), name, sizeof(name) - 1) == 0;
}

static const struct use *use_of(const struct tn_module_source *m, struct tn_json root, const struct tn_value *task)
{
    if (!tn_json_present(tn_json_get(root, "transformer_task")) && is_of_vocabulary(m->type)) return &uses[2];
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
        if (task->present && tn_str_is(task->s, uses[i].task)) return &uses[i];
    return &uses[0]; /* a finding says what stands there instead */
}

/* Accepts what a text model writes: {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}. */
static void check_modality(const struct tn_module_source *m, const struct use *use, struct tn_json root)
{
    struct tn_json v = tn_json_get(root, "modality_config"), text = tn_json_get(v, "text");
    struct tn_str method, output;
    if (tn_json_type(v) == TN_JSON_NULL) return;
    if (tn_json_count(v) == 1 && tn_json_count(text) == 2 && tn_json_str(tn_json_get(text, "method"), &method) &&
        tn_json_str(tn_json_get(text, "method_output_name"), &output) && tn_str_is(method, "forward") &&
        tn_str_is(output, use->member)) {
        tn_fact_of_json(m->chain->b, v, RULE, true, "%s.modality_config", m->prefix);
        return;
    }
    struct tn_finding *f = tn_module_blocker(m, TN_UNSUPPORTED_CONFIG, "takes or gives something else than text and rows");
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "{\"text\": {\"method\": \"forward\", \"method_output_name\": \"%s\"}}", use->member);
}

/* The name that goes with another use; where none is stated the library takes the use's own. */
static bool is_of_another(const struct use *use, struct tn_str name)
{
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
        if (tn_str_is(name, uses[i].output) && !tn_str_is(name, use->output)) return true;
    return false;
}

static void check_output(const struct tn_module_source *m, const struct use *use, struct tn_json root)
{
    struct tn_str name;
    if (!tn_json_str(tn_json_get(root, "module_output_name"), &name) || !is_of_another(use, name)) return;
    struct tn_finding *f = tn_module_blocker(m, TN_UNSUPPORTED_CONFIG, "gives its task's result the name of another task's");
    tn_at_json_member(f, root, "module_output_name");
    tn_found(f, "%.*s for the task %s", TN_FMT_ARG(name), use->task);
    tn_expected(f, "%s", use->output);
}

/* The head that the module asks for is the one that the weights were saved with; else the library would make up a new one. */
static bool check_head(const struct tn_module_source *m, const struct use *use, const struct tn_component *c)
{
    const struct tn_head *head = m->chain->b->d->head;
    if (!use->headed || !c || m->chain->b->failed != TN_OK) return true;
    if (c->architecture.n == 0 && m->chain->b->d->findings.blockers) return false; /* the class was refused: a consequence */
    if (head && (head->kind == use->heads[0] || head->kind == use->heads[1])) return true;
    struct tn_finding *f = tn_module_blocker(m, TN_TASK_HEAD_MISMATCH, "asks for a head that the weights were not saved with");
    tn_found(f, "transformer_task %s, class %.*s", use->task, TN_FMT_ARG(c->architecture));
    tn_expected(f, "a class whose name ends in %s", use->class);
    tn_remedy(f, "the weights or the module's configuration belong to another model");
    return false;
}

/* The first file that holds something; an empty object counts as absent, as the library has it. */
static bool open_own_config(const struct tn_module_source *m, struct tn_json_doc *doc)
{
    struct tn_builder *b = m->chain->b;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!tn_builder_json(b, tn_builder_join(b, m->path, names[i]), TN_JSON_OBJECT, doc)) continue;
        if (tn_json_count(tn_json_root(doc)) > 0) return true;
        tn_json_release(doc);
    }
    return false;
}

static bool read_own_config(const struct tn_module_source *m, const struct use **use)
{
    struct tn_json_doc doc = {0};
    struct tn_value values[sizeof(fields) / sizeof(fields[0])] = {0};
    bool there = open_own_config(m, &doc);
    struct tn_config_source source = {.root = tn_json_root(&doc), .schema = &schema, .prefix = m->prefix, .rule = RULE};
    tn_config_read(m->chain->b, &source, values);
    *use = use_of(m, source.root, tn_schema_value(&schema, values, "transformer_task"));
    if (there) check_modality(m, *use, source.root);
    if (there) check_output(m, *use, source.root);
    if (there) tn_read_transformer_roles(m->chain->b, source.root);
    const struct tn_value *length = tn_schema_value(&schema, values, "max_seq_length");
    if (length->present && length->u > 0) {
        m->chain->length.module_set = true;
        m->chain->length.module = length->u;
        m->chain->length.module_file = tn_builder_str(m->chain->b, doc.file);
    }
    bool lower = tn_schema_value(&schema, values, "do_lower_case")->b;
    tn_json_release(&doc);
    return lower;
}

void tn_read_transformer_module(const struct tn_module_source *m)
{
    struct tn_chain *chain = m->chain;
    struct tn_builder *b = chain->b;
    bool behind_unknown = chain->state == TN_CHAIN_UNKNOWN && b->d->module_count == 0;
    if (!behind_unknown && (chain->state != TN_CHAIN_TEXT || m->index != 0)) {
        tn_module_blocker(m, TN_UNSUPPORTED_CONFIG, "is not the first and only encoder of the chain");
        return;
    }
    const struct use *use;
    bool lower = read_own_config(m, &use);
    chain->state = use->state;
    b->d->variant = tn_describe_variant(b, m->path, true);
    struct tn_tokenizer_hints hints = {.folder = m->path, .module_lower_case = lower};
    hints.component = tn_describe_encoder(b, m->path, b->d->variant, use->headed, &hints.config_class);
    if (!check_head(m, use, hints.component)) chain->state = TN_CHAIN_UNKNOWN; /* what follows would be a consequence */
    tn_describe_tokenizer(b, &hints);
    chain->length.component = hints.component;
    bool vocabulary = chain->state == TN_CHAIN_VOCABULARY, unknown = chain->state == TN_CHAIN_UNKNOWN;
    if (hints.component && !unknown) chain->width = tn_component_value(hints.component, vocabulary ? "vocab_size" : "hidden_size")->u;
    tn_module_keep(m, &(struct tn_module){.kind = TN_MODULE_TRANSFORMER, .on_tokens = true, .out_features = chain->width});
}
