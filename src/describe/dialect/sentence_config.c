/*
 * config_sentence_transformers.json: prompts, default prompt, similarity, truncation of the vector, and which kind of
 * model the package was saved as. Releases 2.0 to 6.2. Inputs are untrusted.
 *
 * The library gives every SentenceTransformer the prompts "query" and "document" with empty text unless the file names
 * them, so both roles can always be asked for. They are here for the same reason, as facts of origin "default".
 */
#include "describe/builder.h"
#include "describe/schema_rows.h"

#define FILE_NAME "config_sentence_transformers.json"
#define RULE "st.config/1"

static const struct tn_schema_field fields[] = {
    {"/model_type", "model_type", TN_FIELD_UNDERSTOOD, TN_TYPE_STRING, "\"SentenceTransformer\"", NULL, 0, 0},
    {"/similarity_fn_name", "similarity_fn_name", TN_FIELD_UNDERSTOOD, TN_TYPE_STRING, "null",
     "\"cosine\" | \"dot\" | \"euclidean\" | \"manhattan\" | \"maxsim\" | \"meanmaxsim\" | \"MaxSim\" | null", 0, 0},
    {"/max_active_dims", "max_active_dims", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "null", "null", 1, 16777216}, /* of a SparseEncoder */
    {"/truncate_dim", "truncate_dim", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "null", "null", 1, 1048576},
    {"/prompts", "prompts", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/default_prompt_name", "default_prompt_name", TN_FIELD_UNDERSTOOD, TN_TYPE_STRING, "null", "null", 0, 0},
    {"/activation_fn", "activation_fn", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0}, /* of a CrossEncoder */
    /* of packages of several vectors per text, as PyLate saved them (multi_vector.c) */
    {"/query_prefix", "query_prefix", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/document_prefix", "document_prefix", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/query_length", "query_length", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/document_length", "document_length", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/query_expansion", "query_expansion", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/do_query_expansion", "do_query_expansion", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/attend_to_expansion_tokens", "attend_to_expansion_tokens", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/attend_to_mask_tokens", "attend_to_mask_tokens", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/skiplist_words", "skiplist_words", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    TN_ROW_DESCRIPTIVE("/keep_in_fp32_modules"), /* layers of a CrossEncoder that autocast leaves alone */
    TN_ROW_DESCRIPTIVE("/__version__"),
    TN_ROW_DESCRIPTIVE("/requirements"), /* of Python packages */
};

static const struct tn_schema schema = {
    .id = "st.config/1",
    .fields = fields,
    .field_count = sizeof(fields) / sizeof(fields[0]),
};

/* ---- prompts ---------------------------------------------------------------------------------------------------- */

static void refuse_prompt(struct tn_builder *b, struct tn_json v, const char *what, const char *expected)
{
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "%s in " FILE_NAME " %s",
                                      tn_json_key(v).n ? "a prompt" : "prompts", what);
    tn_at_json(f, v);
    tn_found(f, "%s", tn_json_type_name(tn_json_type(v)));
    tn_expected(f, "%s", expected);
}

static bool has_prompt(const struct tn_description *d, const char *name)
{
    return tn_description_prompt(d, tn_str_of(name)) != NULL;
}

static void add_default_prompt(struct tn_builder *b, const char *name)
{
    if (has_prompt(b->d, name)) return;
    b->d->prompts[b->d->prompt_count++] = (struct tn_prompt){tn_str_of(name), TN_STR("")};
    tn_fact_of_default(b, schema.id, "\"\"", RULE, "prompt.%s", name);
}

static void read_prompts(struct tn_builder *b, struct tn_json prompts, bool with_defaults)
{
    bool object = tn_json_is(prompts, TN_JSON_OBJECT);
    size_t count = object ? tn_json_count(prompts) : 0;
    if (!object && tn_json_type(prompts) != TN_JSON_NULL) refuse_prompt(b, prompts, "have the wrong type", "an object");
    b->d->prompts = tn_builder_array(b, count + 2, sizeof(*b->d->prompts));
    if (!b->d->prompts) return;
    for (struct tn_json v = tn_json_first(prompts); object && tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str text = TN_STR("");
        /* null stands for "" */
        if (tn_json_type(v) != TN_JSON_NULL && !tn_json_str(v, &text)) {
            refuse_prompt(b, v, "is no text", "a string or null");
            continue;
        }
        struct tn_prompt *prompt = &b->d->prompts[b->d->prompt_count];
        prompt->name = tn_builder_str(b, tn_json_key(v));
        prompt->text = tn_builder_str(b, text);
        if (b->failed != TN_OK) return;
        b->d->prompt_count++;
        tn_fact_of_json(b, v, RULE, false, "prompt.%.*s", TN_FMT_ARG(tn_json_key(v)));
    }
    if (with_defaults) add_default_prompt(b, "query");
    if (with_defaults) add_default_prompt(b, "document");
}

static void list_names(const struct tn_description *d, struct tn_finding *f)
{
    char text[320];
    size_t n = 0;
    for (uint32_t i = 0; i < d->prompt_count && n + 2 < sizeof(text); i++) {
        if (i > 0) text[n++] = ',', text[n++] = ' ';
        for (size_t k = 0; k < d->prompts[i].name.n && n + 3 < sizeof(text); k++) text[n++] = d->prompts[i].name.s[k];
    }
    tn_expected(f, "one of %.*s", (int)n, text);
}

static void check_default(struct tn_builder *b, struct tn_json root, const struct tn_value *name)
{
    struct tn_description *d = b->d;
    d->default_prompt = name->present ? name->s : TN_STR("");
    if (!name->present || tn_description_prompt(d, name->s)) return;
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "default_prompt_name in " FILE_NAME " names no prompt");
    tn_at_json_member(f, root, "default_prompt_name");
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(d->default_prompt));
    list_names(d, f);
}

/* ---- which kind of model --------------------------------------------------------------------------------------- */

static enum tn_sentence_kind kind_of(struct tn_json root, const struct tn_value *type)
{
    bool plain = !type->present || tn_str_is(type->s, "SentenceTransformer");
    if (plain) return tn_has_multi_vector_marks(root) ? TN_SENTENCE_MULTI_OLDER : TN_SENTENCE_DENSE;
    if (tn_str_is(type->s, "CrossEncoder")) return TN_SENTENCE_SCORER;
    if (tn_str_is(type->s, "MultiVectorEncoder")) return TN_SENTENCE_MULTI;
    if (tn_str_is(type->s, "SparseEncoder")) return TN_SENTENCE_SPARSE;
    return tn_str_is(type->s, "ColBERT") ? TN_SENTENCE_MULTI_OLDER : TN_SENTENCE_DENSE;
}

static bool is_multi(enum tn_sentence_kind kind)
{
    return kind == TN_SENTENCE_MULTI || kind == TN_SENTENCE_MULTI_OLDER;
}

static void check_model_type(struct tn_builder *b, struct tn_json root, const struct tn_value *type, enum tn_sentence_kind kind)
{
    if (!type->present || tn_str_is(type->s, "SentenceTransformer") || kind != TN_SENTENCE_DENSE) return;
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "model_type in " FILE_NAME " is not known");
    tn_at_json_member(f, root, "model_type");
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(type->s));
    tn_expected(f, "\"SentenceTransformer\", \"CrossEncoder\", \"SparseEncoder\" or \"MultiVectorEncoder\"");
}

/* Several vectors are compared by their best matches, one of each is not; what does not go together is not the package's. */
static void read_similarity(struct tn_builder *b, struct tn_json root, const struct tn_value *value, enum tn_sentence_kind kind)
{
    struct tn_str name = value->present ? value->s : TN_STR("");
    if (tn_str_is(name, "MaxSim")) name = TN_STR("maxsim");
    bool of_several = tn_str_is(name, "maxsim") || tn_str_is(name, "meanmaxsim");
    if (of_several && !is_multi(kind)) {
        struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "similarity_fn_name in " FILE_NAME " compares several vectors per text");
        tn_at_json_member(f, root, "similarity_fn_name");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(name));
        tn_expected(f, "\"cosine\", \"dot\", \"euclidean\" or \"manhattan\"");
    }
    b->d->similarity = is_multi(kind) && !of_several ? TN_STR("maxsim") : name;
}

/* What is done with vectors says nothing of scores: no reference reads it there, and it would be obeyed by nobody. */
static void refuse_vector_members(struct tn_builder *b, struct tn_json root)
{
    static const char *const members[] = {"truncate_dim", "similarity_fn_name"};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        struct tn_json v = tn_json_get(root, members[i]);
        if (tn_json_type(v) == TN_JSON_NULL) continue;
        struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "%s in " FILE_NAME " belongs to vectors", members[i]);
        tn_at_json(f, v);
        tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
        tn_expected(f, "null in a package of model_type \"CrossEncoder\"");
    }
}

static void describe_kind(struct tn_builder *b, struct tn_json root, enum tn_sentence_kind kind)
{
    struct tn_json active = tn_json_get(root, "max_active_dims");
    if (kind != TN_SENTENCE_SPARSE && b->d->max_active_dims) {
        struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "max_active_dims in " FILE_NAME " belongs to sparse vectors");
        tn_at_json_member(f, root, "max_active_dims");
        tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(active)));
        tn_expected(f, "null, or model_type \"SparseEncoder\"");
    }
    if (kind == TN_SENTENCE_SCORER) refuse_vector_members(b, root);
    if (!is_multi(kind)) {
        tn_refuse_multi_vector_marks(b, root);
        return;
    }
    tn_read_multi_vector_config(b, root);
    struct tn_json saved = tn_json_get(root, "model_type");
    if (tn_json_present(saved)) tn_fact_of_json(b, saved, RULE, false, "multi_vector.saved_as");
    if (b->d->truncate_dim == 0) return;
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "truncate_dim in " FILE_NAME " cuts a vector per text, and there are several");
    tn_at_json_member(f, root, "truncate_dim");
}

/* ---- the document ----------------------------------------------------------------------------------------------- */

enum tn_sentence_kind tn_describe_sentence_config(struct tn_builder *b)
{
    struct tn_json_doc doc = {0};
    struct tn_value values[sizeof(fields) / sizeof(fields[0])] = {0};
    bool there = tn_builder_has(b, TN_STR(FILE_NAME));
    if (!tn_builder_json(b, TN_STR(FILE_NAME), TN_JSON_OBJECT, &doc) && there) return TN_SENTENCE_DENSE;
    struct tn_json root = tn_json_root(&doc);
    struct tn_config_source source = {.root = root, .schema = &schema, .prefix = "package", .rule = RULE};
    tn_config_read(b, &source, values);
    const struct tn_value *type = tn_schema_value(&schema, values, "model_type");
    enum tn_sentence_kind kind = kind_of(root, type);
    read_prompts(b, tn_json_get(root, "prompts"), kind != TN_SENTENCE_SCORER);
    read_similarity(b, root, tn_schema_value(&schema, values, "similarity_fn_name"), kind);
    b->d->max_active_dims = tn_schema_value(&schema, values, "max_active_dims")->u;
    b->d->truncate_dim = tn_schema_value(&schema, values, "truncate_dim")->u;
    if (b->failed == TN_OK) {
        check_model_type(b, root, type, kind);
        describe_kind(b, root, kind);
        check_default(b, root, tn_schema_value(&schema, values, "default_prompt_name"));
    }
    tn_json_release(&doc);
    return kind;
}

/* ---- a scorer of pairs ------------------------------------------------------------------------------------------ */

/* A CrossEncoder whose chain ends without the numbers of a classifier scores nothing. */
static void refuse_headless(struct tn_builder *b, struct tn_json root)
{
    const struct tn_description *d = b->d;
    struct tn_finding *f = tn_blocker(b, TN_TASK_HEAD_MISMATCH, "the package was saved as a scorer of pairs and runs no head that scores");
    tn_at_json_member(f, root, "model_type");
    tn_found(f, "\"CrossEncoder\", %s%.*s", d->component_count ? "class " : "no encoder",
             TN_FMT_ARG(d->component_count ? d->components[0].architecture : TN_STR("")));
    tn_expected(f, "a Transformer module with transformer_task \"sequence-classification\" and a class ForSequenceClassification");
}

/* A chain that ends with a classifier's numbers under the name of a model of vectors: which of the two is wrong nobody can tell. */
static void refuse_scorer_of_vectors(struct tn_builder *b, struct tn_json root)
{
    const struct tn_description *d = b->d;
    struct tn_finding *f = tn_blocker(b, TN_TASK_HEAD_MISMATCH, "the package was saved as a model of vectors and runs a head that scores");
    tn_at_json_member(f, root, "model_type");
    tn_found(f, "%.*s, class %.*s, transformer_task sequence-classification", TN_FMT_ARG(tn_json_text(tn_json_get(root, "model_type"))),
             TN_FMT_ARG(d->component_count ? d->components[0].architecture : TN_STR("")));
    tn_expected(f, "\"CrossEncoder\", or a Transformer module with transformer_task \"feature-extraction\" and a Pooling");
}

void tn_describe_sentence_scorer(struct tn_builder *b, enum tn_sentence_kind kind)
{
    struct tn_json_doc doc = {0};
    struct tn_head *head = b->d->head;
    bool scores = head && head->kind == TN_HEAD_SEQUENCE_CLASSIFICATION;
    if (kind != TN_SENTENCE_SCORER && !scores) return;
    if (b->failed != TN_OK || !tn_builder_json(b, TN_STR(FILE_NAME), TN_JSON_OBJECT, &doc)) return;
    struct tn_json root = tn_json_root(&doc);
    if (kind != TN_SENTENCE_SCORER) {
        if (tn_json_type(tn_json_get(root, "model_type")) != TN_JSON_NULL) refuse_scorer_of_vectors(b, root);
    } else if (scores) {
        tn_fact_of_json(b, tn_json_get(root, "model_type"), RULE, false, "head.cross_encoder");
        tn_describe_scorer(b, head, tn_json_get(root, "activation_fn"));
    } else if (b->d->findings.blockers == 0) {
        refuse_headless(b, root);
    }
    tn_json_release(&doc);
}
