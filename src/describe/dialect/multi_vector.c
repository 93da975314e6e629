/*
 * Packages of several vectors per text, in the three forms that exist: what sentence-transformers saves as a
 * MultiVectorEncoder, what PyLate saved (its fields stand in config_sentence_transformers.json and its list ends before
 * the mask and the normalisation that its code applies), and Stanford's checkpoints (artifact.metadata beside the weights,
 * the projection among them). The rules are those of MultiVectorEncoder in sentence-transformers 6.2, which reads all
 * three. Inputs are untrusted.
 *
 * The surprising decision: marks of PyLate are enough. Its first releases wrote no model_type.
 */
#include "describe/dialect/modules.h"
#include "describe/schema_rows.h"

#include <stdio.h>
#include <string.h>

#define RULE_MASK "st.multi_vector_mask/1"
#define RULE_PYLATE "pylate.config/1"
#define RULE_EXPANSION "st.query_expansion/1"
#define RULE_STANFORD "colbert.metadata/1"

enum { CLASSIC_LENGTH = 32, MOST_LENGTH = 16777216 };

const char *tn_text_role_name(enum tn_text_role role)
{
    static const char *const names[TN_TEXT_ROLES] = {"query", "document"};
    return (unsigned)role < TN_TEXT_ROLES ? names[role] : "unknown";
}

/* ---- values --------------------------------------------------------------------------------------------------------- */

static struct tn_finding *refuse(struct tn_builder *b, struct tn_json v, const char *expected)
{
    char pointer[256];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "%.*s in %.*s has a value that is not understood",
                                      TN_FMT_ARG(at), TN_FMT_ARG(v.doc->file));
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "%s", expected);
    return f;
}

static bool stated(struct tn_json v)
{
    return tn_json_present(v) && !tn_json_is(v, TN_JSON_NULL);
}

static bool read_length(struct tn_builder *b, struct tn_json v, uint64_t *out)
{
    if (!stated(v)) return false;
    if (tn_json_u64(v, out) && *out >= 1 && *out <= MOST_LENGTH) return true;
    *out = 0;
    refuse(b, v, "a number of tokens, or null");
    return false;
}

static bool read_flag(struct tn_builder *b, struct tn_json v, bool *out)
{
    if (!stated(v)) return false;
    if (tn_json_bool(v, out)) return true;
    refuse(b, v, "true, false or null");
    return false;
}

static void read_words(struct tn_builder *b, struct tn_json list, struct tn_multi_vector *m)
{
    if (!tn_json_is(list, TN_JSON_ARRAY)) {
        refuse(b, list, "a list of tokens");
        return;
    }
    m->skip_count = 0;
    m->skip = tn_builder_array(b, tn_json_count(list), sizeof(*m->skip));
    for (struct tn_json v = tn_json_first(list); m->skip && tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str word;
        if (tn_json_str(v, &word) && word.n) m->skip[m->skip_count++] = tn_builder_str(b, word);
        else refuse(b, v, "a token");
    }
}

/* Python's string.punctuation, which PyLate and Stanford's code leave out of documents unless told otherwise. */
static void skip_punctuation(struct tn_builder *b, struct tn_multi_vector *m, const char *schema, const char *rule)
{
    static const char marks[] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    m->skip = tn_builder_array(b, sizeof(marks) - 1, sizeof(*m->skip));
    if (!m->skip) return;
    m->skip_count = sizeof(marks) - 1;
    for (uint32_t i = 0; i < m->skip_count; i++) m->skip[i] = (struct tn_str){marks + i, 1};
    tn_fact_of_default(b, schema, "\"the marks of punctuation in ASCII\"", rule, "multi_vector.skip");
}

struct tn_multi_vector *tn_describe_multi_vector(struct tn_builder *b)
{
    if (!b->d->multi) b->d->multi = tn_builder_array(b, 1, sizeof(*b->d->multi));
    return b->d->multi;
}

/* ---- query expansion ------------------------------------------------------------------------------------------------ */

static const struct tn_schema_field expansion_fields[] = {
    TN_ROW_CHOICE("/strategy", "strategy", NULL, "\"fixed\" | \"min\""),
    TN_ROW_FLAG("/attend", "attend", "false"),
    {"/token", "token", TN_FIELD_UNDERSTOOD, TN_TYPE_STRING, "null", "null", 0, 0},
    TN_ROW_SIZE("/length", "length", NULL, 1, MOST_LENGTH),
};

static const struct tn_schema expansion_schema = {
    .id = "st.query_expansion/1",
    .fields = expansion_fields,
    .field_count = sizeof(expansion_fields) / sizeof(expansion_fields[0]),
};

/* The object that sentence-transformers writes; null turns it off. */
static void read_expansion(struct tn_builder *b, struct tn_json v, struct tn_expansion *out)
{
    struct tn_value values[sizeof(expansion_fields) / sizeof(expansion_fields[0])] = {0};
    *out = (struct tn_expansion){.token = TN_STR("")};
    if (!stated(v)) return;
    if (!tn_json_is(v, TN_JSON_OBJECT)) {
        refuse(b, v, "{\"strategy\", \"attend\", \"token\", \"length\"} or null");
        return;
    }
    struct tn_config_source source = {
        .root = v, .schema = &expansion_schema, .prefix = "multi_vector.expansion", .rule = RULE_EXPANSION};
    tn_config_read(b, &source, values);
    const struct tn_value *strategy = tn_schema_value(&expansion_schema, values, "strategy");
    const struct tn_value *token = tn_schema_value(&expansion_schema, values, "token");
    out->fixed = strategy->present && tn_str_is(strategy->s, "fixed");
    out->attended = tn_schema_value(&expansion_schema, values, "attend")->b;
    out->length = tn_schema_value(&expansion_schema, values, "length")->u;
    if (token->present) out->token = token->s;
}

/* ---- the Transformer module ------------------------------------------------------------------------------------------ */

void tn_read_transformer_roles(struct tn_builder *b, struct tn_json root)
{
    static const char *const names[] = {"query_length", "document_length", "query_expansion"};
    struct tn_multi_vector *m = b->d->multi;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct tn_json v = tn_json_get(root, names[i]);
        if (!tn_json_present(v)) continue;
        if (!m) {
            if (stated(v)) tn_expected(refuse(b, v, "null"), "null: the package was saved for one vector per text");
        } else if (i == 2) {
            read_expansion(b, v, &m->expansion);
        } else if (read_length(b, v, &m->length[i])) {
            tn_fact_of_json(b, v, "st.transformer/1", false, "multi_vector.%s", names[i]);
        }
    }
}

/* ---- the mask module ------------------------------------------------------------------------------------------------- */

static const struct tn_schema_field mask_fields[] = {
    {"/skiplist_words", "skiplist_words", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    {"/skiplist_tasks", "skiplist_tasks", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    TN_ROW_OFF("/keep_only_token_ids", "[] | null"), /* tokens of pictures */
};

static const struct tn_schema mask_schema = {
    .id = "st.multi_vector_mask/1",
    .fields = mask_fields,
    .field_count = sizeof(mask_fields) / sizeof(mask_fields[0]),
};

static void read_roles(struct tn_builder *b, struct tn_json v, struct tn_multi_vector *m)
{
    struct tn_str role;
    m->skips[TN_OF_QUERY] = m->skips[TN_OF_DOCUMENT] = false;
    bool one = tn_json_is(v, TN_JSON_STRING);
    if (!one && !tn_json_is(v, TN_JSON_ARRAY)) {
        refuse(b, v, "a list of roles");
        return;
    }
    for (struct tn_json at = one ? v : tn_json_first(v); tn_json_present(at); at = one ? (struct tn_json){NULL, 0} : tn_json_next(at)) {
        for (unsigned r = 0; r < TN_TEXT_ROLES; r++)
            if (tn_json_str(at, &role) && tn_str_is(role, tn_text_role_name((enum tn_text_role)r))) m->skips[r] = true;
    }
}

void tn_read_mask_module(const struct tn_module_source *s)
{
    struct tn_builder *b = s->chain->b;
    struct tn_multi_vector *m = b->d->multi;
    struct tn_value values[sizeof(mask_fields) / sizeof(mask_fields[0])] = {0};
    if (!m) {
        tn_expected(tn_module_blocker(s, TN_UNSUPPORTED_CONFIG, "stands in a package of one vector per text"),
                    "model_type \"MultiVectorEncoder\" in config_sentence_transformers.json");
        return;
    }
    struct tn_config_source source = {.root = s->root, .schema = &mask_schema, .prefix = s->prefix, .rule = RULE_MASK};
    tn_config_read(b, &source, values);
    struct tn_json words = tn_json_get(s->root, "skiplist_words"), roles = tn_json_get(s->root, "skiplist_tasks");
    m->skip_count = 0;
    m->skips[TN_OF_QUERY] = false;
    m->skips[TN_OF_DOCUMENT] = true;
    if (stated(words)) {
        read_words(b, words, m);
        tn_fact_of_json(b, words, RULE_MASK, false, "multi_vector.skip");
    }
    if (stated(roles)) read_roles(b, roles, m);
    m->expansion.kept = true;
    s->chain->masked = true;
}

void tn_read_token_pooling_module(const struct tn_module_source *s)
{
    struct tn_finding *f = tn_module_blocker(s, TN_UNSUPPORTED_CONFIG, "joins the vectors of neighbouring tokens, which this build does not");
    tn_found(f, "%.*s", TN_FMT_ARG(s->type));
    tn_expected(f, "a vector for each token");
}

/* ---- PyLate ---------------------------------------------------------------------------------------------------------- */

/* Fields that no other convention has; one of them tells. */
static const char *const marks[] = {"query_prefix", "document_prefix", "query_length", "document_length", "query_expansion",
                                    "do_query_expansion", "attend_to_expansion_tokens", "attend_to_mask_tokens",
                                    "skiplist_words"};

static struct tn_json first_mark(struct tn_json root)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        struct tn_json v = tn_json_get(root, marks[i]);
        if (tn_json_present(v)) return v;
    }
    return (struct tn_json){NULL, 0};
}

void tn_refuse_multi_vector_marks(struct tn_builder *b, struct tn_json root)
{
    struct tn_json v = first_mark(root);
    if (!tn_json_present(v)) return;
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "%.*s belongs to packages of several vectors per text",
                                      TN_FMT_ARG(tn_json_key(v)));
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "model_type \"ColBERT\" or \"MultiVectorEncoder\", or no such field");
}

bool tn_has_multi_vector_marks(struct tn_json root)
{
    return tn_json_present(first_mark(root));
}

/* The old spelling of the expansion: on unless turned off, as long as queries are cut. */
static void read_old_expansion(struct tn_builder *b, struct tn_json root, struct tn_multi_vector *m)
{
    bool on = true, attended = false;
    struct tn_json attend = tn_json_get(root, "attend_to_expansion_tokens");
    (void)read_flag(b, tn_json_get(root, "do_query_expansion"), &on);
    m->expansion = (struct tn_expansion){.token = TN_STR("")};
    if (!on) return;
    if (!tn_json_present(attend)) attend = tn_json_get(root, "attend_to_mask_tokens");
    if (read_flag(b, attend, &attended)) tn_fact_of_json(b, attend, RULE_PYLATE, false, "multi_vector.expansion.attend");
    m->expansion.length = m->length[TN_OF_QUERY] ? m->length[TN_OF_QUERY] : CLASSIC_LENGTH;
    if (!m->length[TN_OF_QUERY]) tn_fact_of_default(b, "pylate.config/1", "32", RULE_PYLATE, "multi_vector.expansion.length");
    m->length[TN_OF_QUERY] = 0;
    m->expansion.fixed = true;
    m->expansion.attended = attended;
}

/* PREFIX, and behind it the prompt that the same file may have. */
static void put_in_front(struct tn_builder *b, const char *role, struct tn_str prefix)
{
    struct tn_description *d = b->d;
    for (uint32_t i = 0; i < d->prompt_count; i++) {
        struct tn_str rest = d->prompts[i].text;
        if (!tn_str_is(d->prompts[i].name, role)) continue;
        if (rest.n >= prefix.n && memcmp(rest.s, prefix.s, prefix.n) == 0) return; /* it is there already */
        char *text = tn_builder_array(b, prefix.n + rest.n + 1, 1);
        if (!text) return;
        memcpy(text, prefix.s, prefix.n);
        memcpy(text + prefix.n, rest.s, rest.n);
        d->prompts[i].text = (struct tn_str){text, prefix.n + rest.n};
    }
}

static void read_prefixes(struct tn_builder *b, struct tn_json root, struct tn_multi_vector *m)
{
    static const char *const keys[TN_TEXT_ROLES] = {"query_prefix", "document_prefix"};
    m->markers = tn_builder_array(b, TN_TEXT_ROLES, sizeof(*m->markers));
    for (unsigned r = 0; m->markers && r < TN_TEXT_ROLES; r++) {
        struct tn_json v = tn_json_get(root, keys[r]);
        struct tn_str prefix = TN_STR("");
        if (!tn_json_present(v)) continue;
        if (stated(v) && !tn_json_str(v, &prefix)) {
            refuse(b, v, "a string or null");
            continue;
        }
        tn_fact_of_json(b, v, RULE_PYLATE, false, "multi_vector.%s", keys[r]);
        if (prefix.n == 0) continue;
        prefix = tn_builder_str(b, prefix);
        put_in_front(b, tn_text_role_name((enum tn_text_role)r), prefix);
        m->markers[m->marker_count++] = prefix;
    }
}

/* What a file of PyLate says beside the list of modules; what that list says itself comes later and stands above. */
void tn_read_multi_vector_config(struct tn_builder *b, struct tn_json root)
{
    struct tn_multi_vector *m = tn_describe_multi_vector(b);
    if (!m || !tn_has_multi_vector_marks(root)) return;
    for (unsigned r = 0; r < TN_TEXT_ROLES; r++) {
        struct tn_json v = tn_json_get(root, r == TN_OF_QUERY ? "query_length" : "document_length");
        if (read_length(b, v, &m->length[r])) tn_fact_of_json(b, v, RULE_PYLATE, false, "multi_vector.%.*s", TN_FMT_ARG(tn_json_key(v)));
    }
    if (tn_json_present(tn_json_get(root, "query_expansion"))) read_expansion(b, tn_json_get(root, "query_expansion"), &m->expansion);
    else read_old_expansion(b, root, m);
    read_prefixes(b, root, m);
    struct tn_json words = tn_json_get(root, "skiplist_words");
    if (!stated(words)) return;
    read_words(b, words, m);
    m->skips[TN_OF_DOCUMENT] = true;
    tn_fact_of_json(b, words, RULE_PYLATE, false, "multi_vector.skip");
}

/* ---- behind the list ------------------------------------------------------------------------------------------------- */

/* What the code of older forms applies and their lists leave out. */
static void append_normalize(struct tn_chain *chain, uint32_t index)
{
    struct tn_description *d = chain->b->d;
    if (chain->b->failed != TN_OK || !d->modules) return;
    d->modules[d->module_count++] = (struct tn_module){
        .kind = TN_MODULE_NORMALIZE, .index = index, .on_tokens = true, .path = TN_STR(""), .activation = TN_STR(""),
        .in_features = chain->width, .out_features = chain->width};
    tn_fact_of_default(chain->b, "pylate.config/1", "\"normalize\"", RULE_PYLATE, "module.%u.kind", index);
}

/* The token that fills queries up: the mask, unless one is named. */
static void find_expansion_token(struct tn_builder *b, struct tn_multi_vector *m)
{
    if (m->expansion.length == 0 || m->expansion.token.n || b->failed != TN_OK) return;
    m->expansion.token = b->d->tokenizer.mask_token;
    if (m->expansion.token.n || !b->d->tokenizer.present) return;
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "queries are filled up with the mask token, and the tokenizer has none");
    tn_expected(f, "a mask_token, or query_expansion with a token");
}

static void check_lengths(struct tn_builder *b, const struct tn_multi_vector *m)
{
    bool hard = false;
    uint64_t positions = b->d->component_count ? tn_component_positions(b->d->components, &hard) : 0;
    uint64_t longest = m->expansion.length;
    for (unsigned r = 0; r < TN_TEXT_ROLES; r++)
        if (m->length[r] > longest) longest = m->length[r];
    if (m->expansion.length && m->length[TN_OF_QUERY] && m->length[TN_OF_QUERY] < m->expansion.length) {
        struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "queries are cut below the length to which they are filled up");
        tn_found(f, "query_length %llu, expansion %llu", (unsigned long long)m->length[TN_OF_QUERY],
                 (unsigned long long)m->expansion.length);
    }
    if (!hard || positions == 0 || longest <= positions) return;
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "texts may be longer than the position table");
    tn_found(f, "%llu tokens", (unsigned long long)longest);
    tn_expected(f, "at most %llu", (unsigned long long)positions);
}

void tn_finish_multi_vector(struct tn_chain *chain, bool older, uint32_t index)
{
    struct tn_builder *b = chain->b;
    struct tn_multi_vector *m = b->d->multi;
    if (!m || b->failed != TN_OK) return;
    if (older && !chain->masked) {
        m->expansion.kept = true;
        if (!m->skips[TN_OF_DOCUMENT]) skip_punctuation(b, m, "pylate.config/1", RULE_PYLATE);
        m->skips[TN_OF_DOCUMENT] = true;
        append_normalize(chain, index);
    }
    if (m->expansion.attended) m->expansion.kept = true;
    find_expansion_token(b, m);
    check_lengths(b, m);
    if (chain->state != TN_CHAIN_SENTENCE) return;
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "the package was saved for several vectors per text and pools them into one");
    tn_at_file(f, b->d->chain_document);
    tn_expected(f, "a list of modules without a Pooling");
}

/* ---- Stanford -------------------------------------------------------------------------------------------------------- */

#define METADATA "artifact.metadata"

/* Settings of training, of indexes and of searching that no vector depends on are not looked at: the file holds dozens. */
static void read_metadata(struct tn_builder *b, struct tn_json root, struct tn_multi_vector *m)
{
    static const char *const keys[TN_TEXT_ROLES] = {"query_token_id", "doc_token_id"};
    static const struct tn_str classic[TN_TEXT_ROLES] = {{"[unused0]", 9}, {"[unused1]", 9}};
    bool punctuation = true;
    m->expansion = (struct tn_expansion){.length = CLASSIC_LENGTH, .fixed = true, .kept = true, .token = TN_STR("")};
    (void)read_length(b, tn_json_get(root, "doc_maxlen"), &m->length[TN_OF_DOCUMENT]);
    (void)read_length(b, tn_json_get(root, "query_maxlen"), &m->expansion.length);
    if (m->expansion.length == 0) m->expansion.length = CLASSIC_LENGTH;
    (void)read_flag(b, tn_json_get(root, "attend_to_mask_tokens"), &m->expansion.attended);
    (void)read_flag(b, tn_json_get(root, "mask_punctuation"), &punctuation);
    if (punctuation) skip_punctuation(b, m, RULE_STANFORD, RULE_STANFORD);
    m->skips[TN_OF_DOCUMENT] = punctuation;
    m->markers = tn_builder_array(b, TN_TEXT_ROLES, sizeof(*m->markers));
    b->d->prompts = tn_builder_array(b, TN_TEXT_ROLES, sizeof(*b->d->prompts));
    for (unsigned r = 0; m->markers && b->d->prompts && r < TN_TEXT_ROLES; r++) {
        struct tn_json v = tn_json_get(root, keys[r]);
        struct tn_str word = classic[r];
        if (stated(v) && (!tn_json_str(v, &word) || word.n == 0)) refuse(b, v, "a token of the vocabulary");
        char *text = tn_builder_array(b, word.n + 2, 1);
        if (!text) return;
        memcpy(text, word.s, word.n);
        text[word.n] = ' ';
        m->markers[m->marker_count++] = (struct tn_str){text, word.n + 1};
        b->d->prompts[b->d->prompt_count++] =
            (struct tn_prompt){tn_str_of(tn_text_role_name((enum tn_text_role)r)), {text, word.n + 1}};
        if (stated(v)) tn_fact_of_json(b, v, RULE_STANFORD, false, "multi_vector.%s", keys[r]);
    }
    static const char *const lengths[] = {"query_maxlen", "doc_maxlen", "attend_to_mask_tokens", "mask_punctuation"};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct tn_json v = tn_json_get(root, lengths[i]);
        if (stated(v)) tn_fact_of_json(b, v, RULE_STANFORD, false, "multi_vector.%s", lengths[i]);
    }
}

/* The projection stands among the weights of the encoder. */
static const struct tn_tensor_info *projection(struct tn_builder *b, const struct tn_component *c)
{
    const struct tn_variant *v = c->variant;
    const struct tn_tensor_info *t = v ? tn_variant_tensor(b->inv, v, TN_STR("linear.weight")) : NULL;
    uint64_t hidden = tn_component_value(c, "hidden_size")->u;
    if (!v || !v->executable || v->graph) return NULL; /* said already */
    bool fits = t && t->rank == 2 && t->shape[1] == hidden && t->shape[0] > 0;
    if (fits && (t->dtype == TN_DTYPE_F32 || t->dtype == TN_DTYPE_F16 || t->dtype == TN_DTYPE_BF16)) return t;
    struct tn_finding *f = tn_blocker(b, t ? TN_TENSOR_MISMATCH : TN_MISSING_TENSOR,
                                      t ? "the projection of the token rows has another shape or type" : "the projection of the token rows is missing");
    tn_at_tensor(f, v->file_count ? b->inv->files[v->files[0]].path : TN_STR(""), TN_STR("linear.weight"));
    tn_expected(f, "a tensor linear.weight [dimension, %llu] of f32, f16 or bf16", (unsigned long long)hidden);
    return NULL;
}

void tn_describe_stanford(struct tn_builder *b, const struct tn_component *c)
{
    struct tn_json_doc doc = {0};
    struct tn_multi_vector *m = tn_describe_multi_vector(b);
    struct tn_str path = tn_builder_join(b, c->folder, METADATA);
    if (!m) return;
    if (!tn_builder_has(b, path)) {
        tn_at_file(tn_warning(b, TN_ARTIFACT_MISSING, "no artifact.metadata: the values of Stanford's code stand in"), path);
    } else if (!tn_builder_json(b, path, TN_JSON_OBJECT, &doc)) {
        return;
    }
    b->d->chain_document = path;
    b->d->similarity = TN_STR("maxsim");
    read_metadata(b, tn_json_root(&doc), m);
    tn_json_release(&doc);
    const struct tn_tensor_info *weight = projection(b, c);
    struct tn_chain chain = {.b = b, .state = TN_CHAIN_TOKENS, .width = weight ? weight->shape[0] : 0};
    b->d->modules = tn_builder_array(b, 3, sizeof(*b->d->modules));
    if (!b->d->modules || b->failed != TN_OK) return;
    uint64_t hidden = tn_component_value(c, "hidden_size")->u;
    struct tn_module transformer = {.kind = TN_MODULE_TRANSFORMER, .on_tokens = true, .out_features = hidden},
                     dense = {.kind = TN_MODULE_DENSE, .index = 1, .on_tokens = true, .in_features = hidden,
                              .out_features = chain.width, .activation = TN_STR("identity"), .weight = weight};
    transformer.path = dense.path = c->folder;
    transformer.activation = TN_STR("");
    b->d->modules[b->d->module_count++] = transformer;
    b->d->modules[b->d->module_count++] = dense;
    append_normalize(&chain, 2);
    find_expansion_token(b, m);
    check_lengths(b, m);
}
