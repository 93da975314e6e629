/*
 * What the description tests share: a small good package of sentence-transformers files, written by hand; edits of its
 * files; and checks of findings by severity, code, place and words. Each call of kit_new starts another folder.
 */
#ifndef TN_DESCRIBE_KIT_H
#define TN_DESCRIBE_KIT_H

#include "package_util.h"

#include "describe/describe.h"
#include "family/schemas.h"

/* Expectations and faults name their fields from the left; what is left out is NULL and not looked at. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct tn_schema *const kit_schemas[] = {&tn_schema_bert, &tn_schema_distilbert, &tn_schema_mpnet};

#define KIT_CONFIG                                                                                 \
    "{\"architectures\": [\"BertModel\"], \"model_type\": \"bert\", \"hidden_size\": 8, "          \
    "\"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"intermediate_size\": 16, "            \
    "\"max_position_embeddings\": 32, \"vocab_size\": 7, \"hidden_act\": \"gelu\", "               \
    "\"layer_norm_eps\": 1e-12, \"pad_token_id\": 0, \"transformers_version\": \"4.30.0\"}"

#define KIT_ADDED(id, text)                                                                        \
    "{\"id\": " id ", \"content\": \"" text "\", \"single_word\": false, \"lstrip\": false, "      \
    "\"rstrip\": false, \"normalized\": false, \"special\": true}"

#define KIT_TOKENIZER                                                                              \
    "{\"version\": \"1.0\", \"truncation\": null, \"padding\": null, \"added_tokens\": ["          \
    KIT_ADDED("0", "[PAD]") ", " KIT_ADDED("1", "[UNK]") ", " KIT_ADDED("2", "[CLS]") ", "         \
    KIT_ADDED("3", "[SEP]") ", " KIT_ADDED("4", "[MASK]") "], "                                    \
    "\"normalizer\": {\"type\": \"BertNormalizer\", \"clean_text\": true, "                        \
    "\"handle_chinese_chars\": true, \"strip_accents\": null, \"lowercase\": true}, "              \
    "\"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, "                                        \
    "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": ["                         \
    "{\"SpecialToken\": {\"id\": \"[CLS]\", \"type_id\": 0}}, "                                    \
    "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, "                                            \
    "{\"SpecialToken\": {\"id\": \"[SEP]\", \"type_id\": 0}}], \"pair\": ["                        \
    "{\"SpecialToken\": {\"id\": \"[CLS]\", \"type_id\": 0}}, "                                    \
    "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, "                                            \
    "{\"SpecialToken\": {\"id\": \"[SEP]\", \"type_id\": 0}}, "                                    \
    "{\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}, "                                            \
    "{\"SpecialToken\": {\"id\": \"[SEP]\", \"type_id\": 1}}], "                                   \
    "\"special_tokens\": {\"[CLS]\": {\"id\": \"[CLS]\", \"ids\": [2], \"tokens\": [\"[CLS]\"]}, " \
    "\"[SEP]\": {\"id\": \"[SEP]\", \"ids\": [3], \"tokens\": [\"[SEP]\"]}}}, "                    \
    "\"decoder\": null, \"model\": {\"type\": \"WordPiece\", \"unk_token\": \"[UNK]\", "           \
    "\"continuing_subword_prefix\": \"##\", \"max_input_chars_per_word\": 100, "                   \
    "\"vocab\": {\"[PAD]\": 0, \"[UNK]\": 1, \"[CLS]\": 2, \"[SEP]\": 3, \"[MASK]\": 4, "          \
    "\"a\": 5, \"##b\": 6}}}"

#define KIT_TOKENIZER_CONFIG                                                                       \
    "{\"tokenizer_class\": \"BertTokenizer\", \"do_lower_case\": true, \"strip_accents\": null, "  \
    "\"tokenize_chinese_chars\": true, \"model_max_length\": 32, \"unk_token\": \"[UNK]\", "       \
    "\"sep_token\": \"[SEP]\", \"pad_token\": \"[PAD]\", \"cls_token\": \"[CLS]\", "               \
    "\"mask_token\": \"[MASK]\"}"

#define KIT_MODULE(idx, path, class)                                                               \
    "{\"idx\": " idx ", \"name\": \"" idx "\", \"path\": \"" path "\", \"type\": "                 \
    "\"sentence_transformers.models." class "\"}"

#define KIT_MODULES                                                                                \
    "[" KIT_MODULE("0", "", "Transformer") ", " KIT_MODULE("1", "1_Pooling", "Pooling") ", "       \
    KIT_MODULE("2", "2_Dense", "Dense") ", " KIT_MODULE("3", "3_Normalize", "Normalize") "]"

#define KIT_POOLING                                                                                \
    "{\"word_embedding_dimension\": 8, \"pooling_mode_cls_token\": false, "                        \
    "\"pooling_mode_mean_tokens\": true, \"pooling_mode_max_tokens\": false, "                     \
    "\"pooling_mode_mean_sqrt_len_tokens\": false}"

#define KIT_DENSE                                                                                  \
    "{\"in_features\": 8, \"out_features\": 4, \"bias\": true, "                                   \
    "\"activation_function\": \"torch.nn.modules.activation.Tanh\"}"

#define KIT_DENSE_TENSORS                                                                          \
    "{\"linear.bias\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},"                  \
    "\"linear.weight\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[16,144]}}"

#define KIT_SENTENCE_CONFIG                                                                        \
    "{\"__version__\": {\"sentence_transformers\": \"5.0.0\"}, \"prompts\": {\"query\": \"Q: \", " \
    "\"passage\": \"\"}, \"default_prompt_name\": null, \"similarity_fn_name\": \"cosine\"}"

static char kit_root[64]; /* folder below the test's, "p1" */
static struct tn_inventory *kit_inventory;
static struct tn_describe_options kit_options;

static inline const char *kit_name(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", kit_root, name);
    return path;
}

static inline void kit_put(const char *name, const char *text)
{
    put_text(kit_name(name), text);
}

static inline void kit_remove(const char *name)
{
    CHECK_INT(remove(in_folder("%s", kit_name(name))), 0);
}

/* Another empty folder. */
static inline void kit_empty(void)
{
    static unsigned count;
    snprintf(kit_root, sizeof(kit_root), "p%u", count++);
    kit_options = (struct tn_describe_options){.schemas = kit_schemas, .schema_count = 3};
}

/* bert with one layer, mean pooling, Dense 8 to 4, Normalize. */
static inline void kit_new(void)
{
    kit_empty();
    kit_put("config.json", KIT_CONFIG);
    kit_put("tokenizer.json", KIT_TOKENIZER);
    kit_put("tokenizer_config.json", KIT_TOKENIZER_CONFIG);
    kit_put("modules.json", KIT_MODULES);
    kit_put("sentence_bert_config.json", "{\"max_seq_length\": 16, \"do_lower_case\": false}");
    kit_put("config_sentence_transformers.json", KIT_SENTENCE_CONFIG);
    kit_put("1_Pooling/config.json", KIT_POOLING);
    kit_put("2_Dense/config.json", KIT_DENSE);
    put_safetensors(kit_name("2_Dense/model.safetensors"), KIT_DENSE_TENSORS, 144);
    put_tensor(kit_name("model.safetensors"), "embeddings.word_embeddings.weight");
}

/* Without modules: config, tokenizer, weights. */
static inline void kit_bare(void)
{
    kit_empty();
    kit_put("config.json", KIT_CONFIG);
    kit_put("tokenizer.json", KIT_TOKENIZER);
    kit_put("tokenizer_config.json", KIT_TOKENIZER_CONFIG);
    put_tensor(kit_name("model.safetensors"), "embeddings.word_embeddings.weight");
}

/* Replaces the first occurrence, which must be there. */
static inline void kit_edit(const char *name, const char *from, const char *to)
{
    size_t size;
    char *text = test_read_file(in_folder("%s", kit_name(name)), &size);
    char *at = text ? strstr(text, from) : NULL;
    if (!at) {
        test_fail(__FILE__, __LINE__, "%s has no \"%s\"", name, from);
        return;
    }
    char *out = malloc(size + strlen(to) + 1);
    size_t before = (size_t)(at - text);
    memcpy(out, text, before);
    memcpy(out + before, to, strlen(to));
    strcpy(out + before + strlen(to), at + strlen(from));
    kit_put(name, out);
    free(out);
    free(text);
}

static inline struct tn_description *kit_describe_at(const char *path)
{
    struct tn_description *d = NULL;
    kit_inventory = open_package(path);
    if (!kit_inventory) return NULL;
    tn_error_clear(err);
    if (tn_describe(kit_inventory, &kit_options, &d, err) != TN_OK)
        test_fail(__FILE__, __LINE__, "tn_describe: %s", err->primary.message);
    return d;
}

static inline struct tn_description *kit_describe(void)
{
    return kit_describe_at(in_folder("%s", kit_root));
}

static inline void kit_close(struct tn_description *d)
{
    tn_description_free(d);
    close_package(kit_inventory);
    kit_inventory = NULL;
}

static inline const struct tn_fact *kit_fact(const struct tn_description *d, const char *name)
{
    for (uint32_t i = 0; i < d->fact_count; i++)
        if (tn_str_is(d->facts[i].name, name)) return &d->facts[i];
    return NULL;
}

#define CHECK_TSTR(found, expected)                                                                \
    do {                                                                                           \
        struct tn_str s_ = (found);                                                                \
        if (!tn_str_is(s_, (expected)))                                                            \
            test_fail(__FILE__, __LINE__, "%s: found \"%.*s\", expected \"%s\"", #found, TN_FMT_ARG(s_), (expected)); \
    } while (0)

#define CHECK_FACT(d, name, text, where)                                                           \
    do {                                                                                           \
        const struct tn_fact *fact_ = kit_fact((d), (name));                                       \
        if (!fact_) test_fail(__FILE__, __LINE__, "no fact %s", (name));                           \
        else {                                                                                     \
            CHECK_TSTR(fact_->value, (text));                                                      \
            CHECK_TSTR(fact_->file, (where));                                                      \
        }                                                                                          \
    } while (0)

/* A finding of this severity and code at this place whose texts contain the parts; NULL parts are not looked at. */
struct kit_expected {
    enum tn_severity severity;
    enum tn_status code;
    const char *file, *element, *message, *found, *expected, *remedy;
};

static inline bool kit_contains(const char *text, const char *part)
{
    return !part || strstr(text, part) != NULL;
}

static inline bool kit_matches(const struct tn_finding *f, const struct kit_expected *e)
{
    return f->severity == e->severity && f->code == e->code && (!e->file || strcmp(f->file, e->file) == 0) &&
           (!e->element || strcmp(f->element, e->element) == 0) && kit_contains(f->message, e->message) &&
           kit_contains(f->found, e->found) && kit_contains(f->expected, e->expected) &&
           kit_contains(f->remedy, e->remedy);
}

static inline void kit_expect(const struct tn_description *d, struct kit_expected e, const char *file, int line)
{
    for (size_t i = 0; i < d->findings.count; i++)
        if (kit_matches(&d->findings.items[i], &e)) return;
    test_fail(file, line, "no %s %s at %s %s with \"%s\", \"%s\", \"%s\", \"%s\" among:", tn_severity_name(e.severity),
              tn_status_name(e.code), e.file ? e.file : "-", e.element ? e.element : "-", e.message ? e.message : "",
              e.found ? e.found : "", e.expected ? e.expected : "", e.remedy ? e.remedy : "");
    print_findings(&d->findings);
}
#define KIT_EXPECT(d, ...) kit_expect((d), (struct kit_expected){__VA_ARGS__}, __FILE__, __LINE__)

static inline void kit_clean(const struct tn_description *d, const char *file, int line)
{
    size_t worse = 0;
    for (size_t i = 0; i < d->findings.count; i++) worse += d->findings.items[i].severity != TN_NOTE;
    if (worse == 0 && d->findings.blockers == 0) return;
    test_fail(file, line, "findings where none was expected");
    print_findings(&d->findings);
}
#define KIT_CLEAN(d) kit_clean((d), __FILE__, __LINE__)

/* One edit of the good package and the one blocker (or warning) that it leads to. */
struct kit_fault {
    const char *name; /* file */
    const char *from, *to;
    struct kit_expected expected;
    const char *file;
    int line;
};
#define KIT_FAULT(name, from, to, ...) {(name), (from), (to), {__VA_ARGS__}, __FILE__, __LINE__}

/* No other blocker than the expected one. */
static inline void kit_run_faults(const struct kit_fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct kit_fault *f = &faults[i];
        kit_new();
        kit_edit(f->name, f->from, f->to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        kit_expect(d, f->expected, f->file, f->line);
        size_t wanted = f->expected.severity == TN_BLOCKER;
        if (d->findings.blockers != wanted) {
            test_fail(f->file, f->line, "%zu blockers, expected %zu", d->findings.blockers, wanted);
            print_findings(&d->findings);
        }
        kit_close(d);
    }
}
#define KIT_RUN(faults) kit_run_faults((faults), sizeof(faults) / sizeof((faults)[0]))

/* Edits after which the package is as good as before. */
static inline void kit_run_harmless(const struct kit_fault *edits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        kit_new();
        kit_edit(edits[i].name, edits[i].from, edits[i].to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        kit_clean(d, edits[i].file, edits[i].line);
        kit_close(d);
    }
}
#define KIT_HARMLESS(edits) kit_run_harmless((edits), sizeof(edits) / sizeof((edits)[0]))

/*
 * Describes the package as it stands while each allocation fails once, or from there on: it is described whole, or not at
 * all, and nothing stays. `whole` judges what came out.
 */
static inline void kit_sweep(bool (*whole)(const struct tn_description *d))
{
    struct tn_inventory *inv = open_package(in_folder("%s", kit_root));
    REQUIRE(inv);
    uint64_t before = tn_alloc_current(&alloc);
    for (uint64_t n = 1;; n++) {
        struct tn_description *d = NULL;
        tn_error_clear(err);
        tn_alloc_fail(&alloc, n, n % 2 == 0);
        enum tn_status status = tn_describe(inv, &kit_options, &d, err);
        bool reached = alloc.calls >= alloc.fail_at;
        alloc.fail_at = 0;
        alloc.fail_after = false;
        if (status == TN_OK && d->findings.dropped == 0 && !whole(d))
            test_fail(__FILE__, __LINE__, "allocation %llu: something went missing", (unsigned long long)n);
        if (status != TN_OK && (status != TN_INSUFFICIENT_MEMORY || d != NULL))
            test_fail(__FILE__, __LINE__, "allocation %llu: %s", (unsigned long long)n, tn_status_name(status));
        tn_description_free(d);
        if (tn_alloc_current(&alloc) != before) {
            test_fail(__FILE__, __LINE__, "allocation %llu: something stays", (unsigned long long)n);
            break;
        }
        if (!reached) break;
    }
    close_package(inv);
}

#endif
