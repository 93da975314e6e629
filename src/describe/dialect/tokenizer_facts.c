/*
 * What the files beside the weights say about the tokenizer: tokenizer_config.json, special_tokens_map.json and the
 * class they name, resolved as AutoTokenizer of transformers 5.24 does. The pipeline itself is built by src/text.
 * Inputs are untrusted.
 *
 * The surprising decision is the reference's own: every class but the generic ones takes only the vocabulary and the
 * added tokens from tokenizer.json and builds all stages from tokenizer_config.json and its own defaults.
 * docs/DIALECTS.md has the rule in full.
 */
#include "describe/builder.h"
#include "describe/schema_rows.h"

#include <stdio.h>
#include <string.h>

#define RULE "transformers.tokenizer/1"
/* tokenizer_utils_base.LARGE_INTEGER: from here on a length means "none" */
#define LARGE_INTEGER 1e20

static const struct tn_tokenizer_class classes[] = {
#define ONE TN_TEMPLATE_ONE_SEPARATOR
#define TWO TN_TEMPLATE_TWO_SEPARATORS
    {"BertTokenizer", false, TN_STAGES_BERT, ONE, true, "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"},
    {"DistilBertTokenizer", false, TN_STAGES_BERT, ONE, false, "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"},
    {"MPNetTokenizer", false, TN_STAGES_BERT, TWO, false, "[UNK]", "<s>", "</s>", "<pad>", "<mask>"},
    {"RobertaTokenizer", false, TN_STAGES_ROBERTA, TWO, false, "<unk>", "<s>", "</s>", "<pad>", "<mask>"},
    {"XLMRobertaTokenizer", false, TN_STAGES_XLM_ROBERTA, TWO, false, "<unk>", "<s>", "</s>", "<pad>", "<mask>"},
    {"DebertaV2Tokenizer", false, TN_STAGES_DEBERTA_V2, ONE, true, "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"},
    {"PreTrainedTokenizer", true, TN_STAGES_BERT, ONE, false, NULL, NULL, NULL, NULL, NULL},
    {"TokenizersBackend", true, TN_STAGES_BERT, ONE, false, NULL, NULL, NULL, NULL, NULL},
#undef ONE
#undef TWO
};

/* ---- tokenizer_config.json -------------------------------------------------------------------------------------- */

#define ANY(pointer) {(pointer), (pointer) + 1, TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0}

/* Fields that every class of transformers 4.6 to 4.57 and 5.24 writes or reads. */
#define SHARED_ROWS                                                                                \
    ANY("/padding_side"), ANY("/truncation_side"), ANY("/tokenizer_class"), ANY("/auto_map"),      \
        ANY("/model_max_length"), ANY("/max_len"), ANY("/model_input_names"),                      \
        ANY("/added_tokens_decoder"), ANY("/additional_special_tokens"),                           \
        ANY("/extra_special_tokens"), ANY("/add_bos_token"), ANY("/add_eos_token"),                \
        ANY("/bos_token"), ANY("/eos_token"), ANY("/unk_token"), ANY("/sep_token"),                \
        ANY("/pad_token"), ANY("/cls_token"), ANY("/mask_token"),                                  \
        TN_ROW_OFF("/do_basic_tokenize", "true | null"), TN_ROW_OFF("/never_split", "[] | null"),  \
        TN_ROW_OFF("/split_special_tokens", "false | null"),                                       \
        TN_ROW_OFF("/wordpieces_prefix", "\"##\" | null"),                                         \
        TN_ROW_OFF("/pad_token_type_id", "0 | null"), TN_ROW_OFF("/init_inputs", "[] | null"),     \
        TN_ROW_OFF("/fix_mistral_regex", "false | null"),                                          \
        {"/clean_up_tokenization_spaces", "clean_up_tokenization_spaces", TN_FIELD_UNDERSTOOD,     \
         TN_TYPE_BOOL, "false", "null", 0, 0},                                                     \
        TN_ROW_DESCRIPTIVE("/chat_template"),                                                      \
        TN_ROW_DESCRIPTIVE("/response_template"), TN_ROW_DESCRIPTIVE("/response_schema"),          \
        TN_ROW_DESCRIPTIVE("/chat_control_tokens"), TN_ROW_DESCRIPTIVE("/name_or_path"),           \
        TN_ROW_DESCRIPTIVE("/special_tokens_map_file"), TN_ROW_DESCRIPTIVE("/tokenizer_file"),     \
        TN_ROW_DESCRIPTIVE("/full_tokenizer_file"), TN_ROW_DESCRIPTIVE("/processor_class"),        \
        TN_ROW_DESCRIPTIVE("/backend"), TN_ROW_DESCRIPTIVE("/is_local"),                           \
        TN_ROW_DESCRIPTIVE("/local_files_only"), TN_ROW_DESCRIPTIVE("/files_loaded"),              \
        TN_ROW_DESCRIPTIVE("/use_fast"), TN_ROW_DESCRIPTIVE("/trust_remote_code"),                 \
        TN_ROW_DESCRIPTIVE("/verbose"), TN_ROW_DESCRIPTIVE("/legacy"),                             \
        TN_ROW_DESCRIPTIVE("/errors"), TN_ROW_DESCRIPTIVE("/device_map"),                          \
        TN_ROW_DESCRIPTIVE("/revision"), TN_ROW_DESCRIPTIVE("/max_length"),                        \
        TN_ROW_DESCRIPTIVE("/stride"), TN_ROW_DESCRIPTIVE("/truncation_strategy"),                 \
        TN_ROW_DESCRIPTIVE("/truncation"), TN_ROW_DESCRIPTIVE("/padding"),                         \
        TN_ROW_DESCRIPTIVE("/pad_to_multiple_of"), TN_ROW_DESCRIPTIVE("/return_tensors")

static const struct tn_schema_field class_fields[] = {
    TN_ROW_FLAG("/do_lower_case", "do_lower_case", "true"),
    TN_ROW_FLAG("/tokenize_chinese_chars", "tokenize_chinese_chars", "true"),
    {"/strip_accents", "strip_accents", TN_FIELD_UNDERSTOOD, TN_TYPE_BOOL, "null", "null", 0, 0},
    TN_ROW_OFF("/add_prefix_space", "false | null"),
    SHARED_ROWS,
};

static const struct tn_schema_field roberta_fields[] = {
    TN_ROW_FLAG("/add_prefix_space", "add_prefix_space", "false"),
    TN_ROW_FLAG("/trim_offsets", "trim_offsets", "true"),
    TN_ROW_DESCRIPTIVE("/do_lower_case"), /* the class reads none of the case options */
    SHARED_ROWS,
};

static const struct tn_schema_field xlm_roberta_fields[] = {
    TN_ROW_FLAG("/add_prefix_space", "add_prefix_space", "true"),
    TN_ROW_OFF("/sp_model_kwargs", "{} | null"),
    TN_ROW_DESCRIPTIVE("/do_lower_case"),
    SHARED_ROWS,
};

static const struct tn_schema_field deberta_v2_fields[] = {
    TN_ROW_FLAG("/add_prefix_space", "add_prefix_space", "true"),
    TN_ROW_FLAG("/do_lower_case", "do_lower_case", "false"),
    TN_ROW_FLAG("/split_by_punct", "split_by_punct", "false"),
    TN_ROW_SIZE("/unk_id", "unk_id", "1", 0, 8388608),
    TN_ROW_OFF("/sp_model_kwargs", "{} | null"),
    TN_ROW_DESCRIPTIVE("/vocab_type"),
    SHARED_ROWS,
};

/* The class that loads tokenizer.json as it stands reads none of the three; a contradiction is found by comparison. */
static const struct tn_schema_field file_fields[] = {
    TN_ROW_DESCRIPTIVE("/do_lower_case"),
    TN_ROW_DESCRIPTIVE("/tokenize_chinese_chars"),
    TN_ROW_DESCRIPTIVE("/strip_accents"),
    TN_ROW_OFF("/add_prefix_space", "false | null"),
    SHARED_ROWS,
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* By the stages that a class builds. */
static const struct tn_schema class_schemas[] = {
    [TN_STAGES_BERT] = {.id = "tokenizer_config.bert/1", .fields = class_fields, .field_count = COUNT(class_fields)},
    [TN_STAGES_ROBERTA] = {.id = "tokenizer_config.byte_level/1", .fields = roberta_fields,
                           .field_count = COUNT(roberta_fields)},
    [TN_STAGES_XLM_ROBERTA] = {.id = "tokenizer_config.pieces/1", .fields = xlm_roberta_fields,
                               .field_count = COUNT(xlm_roberta_fields)},
    [TN_STAGES_DEBERTA_V2] = {.id = "tokenizer_config.blank_pieces/1", .fields = deberta_v2_fields,
                              .field_count = COUNT(deberta_v2_fields)},
};

static const struct tn_schema file_schema = {
    .id = "tokenizer_config.file/1",
    .fields = file_fields,
    .field_count = sizeof(file_fields) / sizeof(file_fields[0]),
};

enum { MOST_FIELDS = COUNT(deberta_v2_fields) };
_Static_assert(COUNT(class_fields) <= MOST_FIELDS && COUNT(file_fields) <= MOST_FIELDS, "the longest list counts");

static bool option(const struct tn_schema *schema, const struct tn_value *values, const char *name)
{
    const struct tn_value *value = tn_schema_value(schema, values, name);
    return value && value->b;
}

/* Options of the classes whose stages are compared and not built. */
static void keep_options(struct tn_tokenizer_reader *r, const struct tn_schema *schema, const struct tn_value *values)
{
    const struct tn_value *unk = tn_schema_value(schema, values, "unk_id");
    r->options = (struct tn_tokenizer_options){
        .add_prefix_space = option(schema, values, "add_prefix_space"),
        .trim_offsets = option(schema, values, "trim_offsets"),
        .do_lower_case = option(schema, values, "do_lower_case"),
        .split_by_punct = option(schema, values, "split_by_punct"),
        .unk_id = unk ? unk->u : 0,
    };
}

static void read_options(struct tn_tokenizer_reader *r)
{
    struct tn_value values[MOST_FIELDS] = {0};
    struct tn_tokenizer_facts *t = r->facts;
    struct tn_config_source source = {.root = tn_json_root(&r->config),
                                      .schema = r->class->from_file ? &file_schema : &class_schemas[r->class->stages],
                                      .prefix = "tokenizer",
                                      .rule = RULE};
    tn_config_read(r->b, &source, values);
    t->clean_up_spaces = option(source.schema, values, "clean_up_tokenization_spaces");
    if (r->class->from_file) return;
    if (r->class->stages != TN_STAGES_BERT) {
        keep_options(r, source.schema, values);
        return;
    }
    const struct tn_value *strip = tn_schema_value(source.schema, values, "strip_accents");
    t->do_lower_case = tn_schema_value(source.schema, values, "do_lower_case")->b;
    t->tokenize_chinese_chars = tn_schema_value(source.schema, values, "tokenize_chinese_chars")->b;
    t->strip_accents_set = strip->present;
    t->strip_accents = strip->b;
}

/* ---- the class -------------------------------------------------------------------------------------------------- */

static struct tn_str without_fast(struct tn_str name)
{
    if (tn_str_ends(name, "Fast")) name.n -= 4;
    return name;
}

const struct tn_tokenizer_class *tn_tokenizer_class_of(struct tn_str name)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (tn_str_is(without_fast(name), classes[i].name)) return &classes[i];
    return NULL;
}

struct tn_tokenizer_check tn_tokenizer_check_of(struct tn_tokenizer_reader *r)
{
    return (struct tn_tokenizer_check){.b = r->b,
                                       .component = r->hints->component,
                                       .facts = r->facts,
                                       .file = r->file,
                                       .as_it_stands = r->class->from_file};
}

static void refuse_class(struct tn_tokenizer_reader *r, struct tn_str name, struct tn_str file)
{
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_PROCESSOR, "the tokenizer class in %.*s is not implemented",
                                      TN_FMT_ARG(file));
    tn_at_pointer(f, file, TN_STR("/tokenizer_class"));
    tn_found(f, "%.*s", TN_FMT_ARG(name));
    tn_expected(f, TN_TOKENIZER_CLASS_NAMES);
    tn_remedy(f, "save the tokenizer as tokenizer.json with the class PreTrainedTokenizerFast");
}

/* tokenizer_config.json, else config.json, else the architecture's own; "Fast" is a spelling of the same class. */
static bool choose_class(struct tn_tokenizer_reader *r)
{
    struct tn_str config_file = tn_builder_join(r->b, r->hints->folder, "config.json");
    struct tn_json stated = tn_json_get(tn_json_root(&r->config), "tokenizer_class");
    struct tn_str name = r->hints->config_class, file = config_file;
    if (tn_json_str(stated, &name)) file = r->facts->tokenizer_config;
    bool by_default = name.n == 0;
    if (by_default && !r->hints->component) return false; /* an unknown family was reported already */
    /* Where the architecture's own class is the generic one, the library takes it whatever the files name. */
    if (r->hints->component && tn_str_is(tn_str_of(r->hints->component->schema->tokenizer_class), "TokenizersBackend"))
        by_default = true;
    if (by_default) name = tn_str_of(r->hints->component->schema->tokenizer_class);
    r->facts->tokenizer_class = tn_builder_str(r->b, name);
    r->class = tn_tokenizer_class_of(name);
    if (!r->class) {
        refuse_class(r, name, file);
        return false;
    }
    struct tn_str value = tn_json_quoted(r->b, name);
    if (by_default)
        tn_fact_of_default(r->b, r->hints->component->schema->id, value.s, RULE, "tokenizer.class");
    else
        tn_fact_of_text(r->b, TN_FROM_FILE, file, TN_STR("/tokenizer_class"), value, RULE, false, "tokenizer.class");
    return true;
}

static void refuse_code(struct tn_tokenizer_reader *r)
{
    struct tn_json v = tn_json_get(tn_json_root(&r->config), "auto_map");
    if (tn_json_type(v) == TN_JSON_NULL || tn_json_count(v) == 0) return;
    struct tn_finding *f = tn_blocker(r->b, TN_CUSTOM_CODE_DENIED, "auto_map in %.*s names code of the package",
                                      TN_FMT_ARG(r->facts->tokenizer_config));
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_remedy(f, "remove auto_map if the published class tokenizes the same");
}

/* ---- special tokens --------------------------------------------------------------------------------------------- */

/* "[CLS]" or {"content": "[CLS]", ...}. */
static bool token_text(struct tn_json v, struct tn_str *out)
{
    if (tn_json_is(v, TN_JSON_OBJECT)) v = tn_json_get(v, "content");
    return tn_json_str(v, out);
}

static struct tn_json stated_token(struct tn_tokenizer_reader *r, const struct tn_json_doc *doc, const char *key)
{
    struct tn_json v = tn_json_get(tn_json_root(doc), key);
    struct tn_str text;
    if (tn_json_type(v) == TN_JSON_NULL || token_text(v, &text)) return v;
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_CONFIG, "%s in %.*s has the wrong type", key,
                                      TN_FMT_ARG(doc->file));
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "a string, or an object with a content");
    return (struct tn_json){NULL, 0};
}

static void warn_two_tokens(struct tn_tokenizer_reader *r, const char *key, struct tn_json config, struct tn_json map,
                            bool map_wins)
{
    struct tn_finding *f = tn_warning(r->b, TN_UNSUPPORTED_PROCESSOR, "%s differs: %.*s says %.*s, %.*s says %.*s", key,
                                      TN_FMT_ARG(config.doc->file), TN_FMT_ARG(tn_json_text(config)),
                                      TN_FMT_ARG(map.doc->file), TN_FMT_ARG(tn_json_text(map)));
    tn_at_json(f, map_wins ? config : map);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(map_wins ? config : map)));
    tn_expected(f, "%.*s, which is used: special_tokens_map.json counts %s",
                TN_FMT_ARG(tn_json_text(map_wins ? map : config)),
                map_wins ? "where tokenizer_config.json has no added_tokens_decoder"
                         : "only where tokenizer_config.json has no added_tokens_decoder");
}

bool tn_tokenizer_map_counts(const struct tn_tokenizer_reader *r)
{
    return !tn_json_present(tn_json_get(tn_json_root(&r->config), "added_tokens_decoder"));
}

/*
 * One special token: the class's default, over it tokenizer_config.json, and over that special_tokens_map.json when
 * tokenizer_config.json has no added_tokens_decoder (the older way of saving).
 */
static struct tn_str special_token(struct tn_tokenizer_reader *r, const char *key, const char *published)
{
    bool map_wins = tn_tokenizer_map_counts(r);
    struct tn_json config = stated_token(r, &r->config, key), map = stated_token(r, &r->map, key);
    struct tn_json chosen = map_wins && tn_json_type(map) != TN_JSON_NULL ? map : config;
    struct tn_str a, b, text;
    if (token_text(config, &a) && token_text(map, &b) && !tn_str_eq(a, b)) warn_two_tokens(r, key, config, map, map_wins);
    if (token_text(chosen, &text)) {
        tn_fact_of_json(r->b, chosen, RULE, false, "tokenizer.%s", key);
        return tn_builder_str(r->b, text);
    }
    if (tn_json_present(chosen) || !published) return TN_STR("");
    text = tn_str_of(published);
    tn_fact_of_default(r->b, r->class->name, tn_json_quoted(r->b, text).s, RULE, "tokenizer.%s", key);
    return text;
}

static const struct tn_schema_field map_fields[] = {
    ANY("/bos_token"),  ANY("/eos_token"),  ANY("/unk_token"),
    ANY("/sep_token"),  ANY("/pad_token"),  ANY("/cls_token"),
    ANY("/mask_token"), ANY("/additional_special_tokens"), ANY("/extra_special_tokens"),
};

static const struct tn_schema map_schema = {
    .id = "special_tokens_map/1",
    .fields = map_fields,
    .field_count = sizeof(map_fields) / sizeof(map_fields[0]),
};

static void read_special_tokens(struct tn_tokenizer_reader *r)
{
    struct tn_value none[sizeof(map_fields) / sizeof(map_fields[0])] = {0};
    struct tn_config_source map = {
        .root = tn_json_root(&r->map), .schema = &map_schema, .prefix = "special_tokens_map", .rule = RULE};
    tn_config_read(r->b, &map, none);
    struct tn_tokenizer_facts *t = r->facts;
    t->unk_token = special_token(r, "unk_token", r->class->unk);
    t->cls_token = special_token(r, "cls_token", r->class->cls);
    t->sep_token = special_token(r, "sep_token", r->class->sep);
    t->pad_token = special_token(r, "pad_token", r->class->pad);
    t->mask_token = special_token(r, "mask_token", r->class->mask);
}

/* ---- lengths and inputs ----------------------------------------------------------------------------------------- */

static void read_max_length(struct tn_tokenizer_reader *r)
{
    struct tn_json root = tn_json_root(&r->config), v = tn_json_get(root, "model_max_length");
    double number;
    uint64_t size;
    if (!tn_json_present(v)) v = tn_json_get(root, "max_len");
    if (tn_json_type(v) == TN_JSON_NULL) return;
    if (tn_json_u64(v, &size) && size > 0 && (double)size <= LARGE_INTEGER) {
        r->facts->model_max_length_set = true;
        r->facts->model_max_length = size;
        tn_fact_of_json(r->b, v, RULE, false, "tokenizer.model_max_length");
        return;
    }
    if (tn_json_f64(v, &number) && number > LARGE_INTEGER) {
        /* A real value of real files, int(1e30): it means "not set" and is no size. */
        tn_fact_of_json(r->b, v, RULE, true, "tokenizer.model_max_length");
        return;
    }
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_CONFIG, "%.*s in %.*s is no length",
                                      TN_FMT_ARG(tn_json_key(v)), TN_FMT_ARG(r->facts->tokenizer_config));
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "a whole number above 0, or one above 1e20 for \"not set\"");
}

static void read_input_names(struct tn_tokenizer_reader *r)
{
    struct tn_json list = tn_json_get(tn_json_root(&r->config), "model_input_names");
    r->facts->type_ids = r->class->type_ids;
    if (tn_json_type(list) == TN_JSON_NULL) {
        tn_fact_of_default(r->b, r->class->name, r->class->type_ids ? "true" : "false", RULE, "tokenizer.type_ids");
        return;
    }
    bool well_formed = tn_json_is(list, TN_JSON_ARRAY), ids = false;
    struct tn_str name;
    r->facts->type_ids = false;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        if (!tn_json_str(v, &name)) well_formed = false;
        else if (tn_str_is(name, "token_type_ids")) r->facts->type_ids = true;
        else if (tn_str_is(name, "input_ids")) ids = true;
        else if (!tn_str_is(name, "attention_mask")) well_formed = false;
    }
    tn_fact_of_json(r->b, list, RULE, true, "tokenizer.model_input_names");
    tn_fact_of_text(r->b, TN_FROM_FILE, r->facts->tokenizer_config, TN_STR("/model_input_names"),
                    r->facts->type_ids ? TN_STR("true") : TN_STR("false"), RULE, false, "tokenizer.type_ids");
    if (well_formed && ids) return;
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_CONFIG, "model_input_names in %.*s names other inputs",
                                      TN_FMT_ARG(r->facts->tokenizer_config));
    tn_at_json(f, list);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(list)));
    tn_expected(f, "input_ids, and attention_mask, token_type_ids or neither");
}

static void read_truncation(struct tn_tokenizer_reader *r)
{
    struct tn_json v = tn_json_find(r->file, "/truncation/max_length");
    r->facts->truncation_set = tn_json_u64(v, &r->facts->truncation_max_length);
    if (r->facts->truncation_set) tn_fact_of_json(r->b, v, RULE, true, "tokenizer.truncation.max_length");
}

/* Left padding moves absolute positions, so the reference's answer depends on what else is in the batch. */
void tn_tokenizer_note_left_padding(struct tn_builder *b, const struct tn_tokenizer_facts *t, struct tn_str file,
                                    struct tn_str pointer)
{
    if (!tn_str_is(t->padding_side, "left")) return;
    struct tn_finding *f = tn_note(b, TN_UNSUPPORTED_PROCESSOR,
                                   "padding_side is left: every text is computed as if it were alone");
    tn_at_pointer(f, file, pointer);
    tn_found(f, "left");
    tn_expected(f, "right, where no answer depends on the batch");
}

static void refuse_side(struct tn_tokenizer_reader *r, struct tn_json v, const char *key)
{
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_CONFIG, "%s in %.*s is neither side", key,
                                      TN_FMT_ARG(v.doc->file));
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "\"right\" | \"left\"");
}

/*
 * A side that tokenizer_config.json leaves open is the one in tokenizer.json, else right. The two files spell it
 * differently ("left", "Left"): the fact holds one spelling.
 */
static struct tn_str read_side(struct tn_tokenizer_reader *r, const char *key, const char *pointer)
{
    struct tn_json v = tn_json_get(tn_json_root(&r->config), key);
    struct tn_str text = TN_STR("");
    char place[64];
    if (tn_json_type(v) == TN_JSON_NULL) v = tn_json_find(r->file, pointer);
    if (tn_json_type(v) == TN_JSON_NULL) {
        tn_fact_of_default(r->b, r->class->name, "\"right\"", RULE, "tokenizer.%s", key);
        return TN_STR("right");
    }
    (void)tn_json_str(v, &text);
    bool left = tn_str_is(text, "left") || tn_str_is(text, "Left");
    if (!left && !tn_str_is(text, "right") && !tn_str_is(text, "Right")) refuse_side(r, v, key);
    struct tn_str at = tn_json_pointer(v, place, sizeof(place));
    tn_fact_of_text(r->b, TN_FROM_FILE, v.doc->file, at, left ? TN_STR("\"left\"") : TN_STR("\"right\""), RULE, false,
                    "tokenizer.%s", key);
    return left ? TN_STR("left") : TN_STR("right");
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static struct tn_str listed_path(struct tn_builder *b, struct tn_str folder, const char *name)
{
    struct tn_str path = tn_builder_join(b, folder, name);
    return b->failed == TN_OK && tn_builder_has(b, path) ? path : TN_STR("");
}

static void missing_tokenizer(struct tn_tokenizer_reader *r)
{
    static const char *const others[] = {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model", "vocab.json",
                                         "merges.txt",   "tekken.json",             "bpe.codes"};
    struct tn_finding *f;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct tn_str path = listed_path(r->b, r->hints->folder, others[i]);
        if (path.n == 0) continue;
        f = tn_blocker(r->b, TN_UNSUPPORTED_PROCESSOR, "the tokenizer is given only as %.*s", TN_FMT_ARG(path));
        tn_at_file(f, path);
        tn_expected(f, "tokenizer.json, or vocab.txt");
        tn_remedy(f, "load it with transformers and save_pretrained(), which writes tokenizer.json");
        return;
    }
    struct tn_str path = tn_builder_join(r->b, r->hints->folder, "tokenizer.json");
    f = tn_blocker(r->b, TN_ARTIFACT_MISSING, "the package has no tokenizer: neither %.*s nor vocab.txt beside it",
                   TN_FMT_ARG(path));
    tn_at_file(f, path);
    tn_remedy(f, "download the package again");
}

static bool open_documents(struct tn_tokenizer_reader *r)
{
    struct tn_tokenizer_facts *t = r->facts;
    struct tn_str folder = r->hints->folder;
    t->tokenizer_json = listed_path(r->b, folder, "tokenizer.json");
    t->vocab_txt = listed_path(r->b, folder, "vocab.txt");
    t->tokenizer_config = listed_path(r->b, folder, "tokenizer_config.json");
    t->special_tokens_map = listed_path(r->b, folder, "special_tokens_map.json");
    if (t->tokenizer_json.n == 0 && t->vocab_txt.n == 0) {
        if (r->b->failed == TN_OK) missing_tokenizer(r);
        return false;
    }
    t->present = true;
    bool good = true;
    if (t->tokenizer_config.n > 0) good &= tn_builder_json(r->b, t->tokenizer_config, TN_JSON_OBJECT, &r->config);
    if (t->special_tokens_map.n > 0) good &= tn_builder_json(r->b, t->special_tokens_map, TN_JSON_OBJECT, &r->map);
    if (t->tokenizer_json.n > 0) good &= tn_builder_tokenizer(r->b, t->tokenizer_json, &r->file);
    return good && r->b->failed == TN_OK;
}

static void read_tokenizer(struct tn_tokenizer_reader *r)
{
    if (!open_documents(r)) return;
    refuse_code(r);
    if (!choose_class(r)) return;
    r->facts->pair_template = r->class->pair_template;
    read_options(r);
    read_special_tokens(r);
    read_max_length(r);
    read_input_names(r);
    r->facts->padding_side = read_side(r, "padding_side", "/padding/direction");
    r->facts->truncation_side = read_side(r, "truncation_side", "/truncation/direction");
    read_truncation(r);
    tn_tokenizer_note_left_padding(r->b, r->facts, r->facts->tokenizer_config, TN_STR("/padding_side"));
    tn_tokenizer_compare(r);
    struct tn_tokenizer_check check = tn_tokenizer_check_of(r);
    if (!r->class->from_file) tn_tokenizer_check_built(&check);
    tn_tokenizer_count_types(&check);
    /* What the source does not read was compared, and says no more. */
    if (r->facts->source != TN_TOKENIZER_VOCAB) r->facts->vocab_txt = TN_STR("");
}

void tn_describe_tokenizer(struct tn_builder *b, const struct tn_tokenizer_hints *hints)
{
    struct tn_tokenizer_facts *t = &b->d->tokenizer;
    struct tn_tokenizer_reader r = {.b = b, .hints = hints, .facts = t};
    *t = (struct tn_tokenizer_facts){.tokenizer_json = TN_STR(""),
                                     .vocab_txt = TN_STR(""),
                                     .tokenizer_config = TN_STR(""),
                                     .special_tokens_map = TN_STR(""),
                                     .tokenizer_class = TN_STR(""),
                                     .unk_token = TN_STR(""),
                                     .cls_token = TN_STR(""),
                                     .sep_token = TN_STR(""),
                                     .pad_token = TN_STR(""),
                                     .mask_token = TN_STR(""),
                                     .padding_side = TN_STR("right"),
                                     .truncation_side = TN_STR("right")};
    size_t before = b->d->findings.blockers;
    if (hints && b->failed == TN_OK) read_tokenizer(&r);
    /* Without a class the file counts as it stands; but a model's config.json that does not read may name one. */
    bool unknown = t->present && !r.class && tn_builder_has(b, tn_builder_join(b, hints->folder, "config.json"));
    t->refused = unknown || b->d->findings.blockers > before;
    tn_json_release(&r.map);
    tn_json_release(&r.config);
}
