/*
 * Tokenizer facts: classes, special tokens, sides, lengths; and every contradiction between the files. What the
 * reference does in each case was measured with transformers 5.24 (docs/DIALECTS.md).
 */
#define _GNU_SOURCE
#include "describe_kit.h"

TEST(facts_of_a_plain_bert_tokenizer)
{
    kit_new();
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    const struct tn_tokenizer_facts *t = &d->tokenizer;
    CHECK(t->present && t->type_ids && !t->lower_case_first);
    CHECK_INT(t->source, TN_TOKENIZER_FILE);
    CHECK_INT(t->pair_template, TN_TEMPLATE_ONE_SEPARATOR);
    CHECK_TSTR(t->tokenizer_class, "BertTokenizer");
    CHECK_TSTR(t->tokenizer_json, "tokenizer.json");
    CHECK_TSTR(t->vocab_txt, "");
    CHECK_TSTR(t->tokenizer_config, "tokenizer_config.json");
    CHECK(t->do_lower_case && t->tokenize_chinese_chars && !t->strip_accents_set);
    CHECK_TSTR(t->cls_token, "[CLS]");
    CHECK_TSTR(t->mask_token, "[MASK]");
    CHECK_TSTR(t->padding_side, "right");
    CHECK_TSTR(t->truncation_side, "right");
    CHECK(t->model_max_length_set);
    CHECK_INT(t->model_max_length, 32);
    CHECK_FACT(d, "tokenizer.class", "\"BertTokenizer\"", "tokenizer_config.json");
    CHECK_FACT(d, "tokenizer.cls_token", "\"[CLS]\"", "tokenizer_config.json");
    CHECK_FACT(d, "tokenizer.type_ids", "true", "default of schema BertTokenizer");
    CHECK_FACT(d, "tokenizer.source", "\"file\"", "tokenizer.json");
    CHECK_FACT(d, "tokenizer.padding_side", "\"right\"", "default of schema BertTokenizer");
    kit_close(d);
}

/* ---- the class -------------------------------------------------------------------------------------------------- */

TEST(class_by_file_config_or_architecture)
{
    kit_new();
    kit_edit("tokenizer_config.json", "\"tokenizer_class\": \"BertTokenizer\", ", "");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK_TSTR(d->tokenizer.tokenizer_class, "BertTokenizer");
    CHECK_FACT(d, "tokenizer.class", "\"BertTokenizer\"", "default of schema bert/1");
    kit_close(d);

    kit_edit("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, \"tokenizer_class\": \"PreTrainedTokenizerFast\"");
    d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK_TSTR(d->tokenizer.tokenizer_class, "PreTrainedTokenizerFast");
    CHECK_FACT(d, "tokenizer.class", "\"PreTrainedTokenizerFast\"", "config.json");
    CHECK(!d->tokenizer.type_ids);
    kit_close(d);

    kit_remove("tokenizer_config.json");
    kit_edit("config.json", ", \"tokenizer_class\": \"PreTrainedTokenizerFast\"", "");
    d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK_FACT(d, "tokenizer.cls_token", "\"[CLS]\"", "default of schema BertTokenizer");
    CHECK(!d->tokenizer.model_max_length_set);
    kit_close(d);
}

TEST(fast_is_a_spelling)
{
    static const struct kit_fault edits[] = {
        KIT_FAULT("tokenizer_config.json", "\"BertTokenizer\"", "\"BertTokenizerFast\"", 0),
        KIT_FAULT("tokenizer_config.json", "\"BertTokenizer\"", "\"DistilBertTokenizerFast\"", 0),
        KIT_FAULT("tokenizer_config.json", "\"BertTokenizer\"", "\"PreTrainedTokenizerFast\"", 0),
        KIT_FAULT("tokenizer_config.json", "\"BertTokenizer\"", "\"TokenizersBackend\"", 0),
    };
    KIT_HARMLESS(edits);
}

TEST(type_ids_by_class_and_by_file)
{
    static const struct {
        const char *class, *names;
        bool type_ids;
    } rows[] = {
        {"BertTokenizer", "", true},
        {"DistilBertTokenizer", "", false},
        {"BertTokenizer", ", \"model_input_names\": [\"input_ids\", \"attention_mask\"]", false},
        {"DistilBertTokenizer", ", \"model_input_names\": [\"input_ids\", \"token_type_ids\"]", true},
        {"PreTrainedTokenizerFast", ", \"model_input_names\": [\"input_ids\", \"token_type_ids\", \"attention_mask\"]", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        kit_new();
        char class[64], names[160];
        snprintf(class, sizeof(class), "\"%s\"", rows[i].class);
        snprintf(names, sizeof(names), "\"mask_token\": \"[MASK]\"%s", rows[i].names);
        kit_edit("tokenizer_config.json", "\"BertTokenizer\"", class);
        kit_edit("tokenizer_config.json", "\"mask_token\": \"[MASK]\"", names);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        KIT_CLEAN(d);
        CHECK_INT(d->tokenizer.type_ids, rows[i].type_ids);
        kit_close(d);
    }
}

TEST(refusals)
{
    static const struct kit_fault faults[] = {
#define ADD(text, ...)                                                                             \
    KIT_FAULT("tokenizer_config.json", "\"model_max_length\": 32", "\"model_max_length\": 32, " text, __VA_ARGS__)
        KIT_FAULT("tokenizer_config.json", "\"BertTokenizer\"", "\"AlbertTokenizer\"", TN_BLOCKER,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/tokenizer_class", "not implemented",
                  "AlbertTokenizer", "BertTokenizer", "PreTrainedTokenizerFast"),
        ADD("\"auto_map\": {\"AutoTokenizer\": [\"tokenization.X\", null]}", TN_BLOCKER, TN_CUSTOM_CODE_DENIED,
            "tokenizer_config.json", "/auto_map", "names code", "tokenization.X"),
        ADD("\"never_split\": [\"x\"]", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/never_split", NULL,
            "x", "[]"),
        ADD("\"do_basic_tokenize\": false", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json",
            "/do_basic_tokenize", NULL, "false", "true"),
        ADD("\"split_special_tokens\": true", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json",
            "/split_special_tokens"),
        ADD("\"wordpieces_prefix\": \"@\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json",
            "/wordpieces_prefix"),
        ADD("\"frobnicate\": 1", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/frobnicate",
            "unknown field", "1", NULL, "--descriptive /frobnicate"),
        ADD("\"image_token\": \"<img>\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/image_token",
            "unknown field"),
        ADD("\"padding_side\": \"up\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/padding_side",
            "neither side", "up", "\"right\" | \"left\""),
        ADD("\"truncation_side\": 1", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/truncation_side",
            "neither side", "1"),
        KIT_FAULT("tokenizer.json", "\"padding\": null", "\"padding\": {\"direction\": \"Up\"}", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "tokenizer.json", "/padding/direction", "neither side", "Up"),
        ADD("\"model_input_names\": [\"pixel_values\"]", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json",
            "/model_input_names", "other inputs", "pixel_values", "input_ids"),
        ADD("\"model_input_names\": \"input_ids\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json",
            "/model_input_names"),
        ADD("\"bos_token\": \"<s>\", \"additional_special_tokens\": [\"<new>\"]", TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR,
            "tokenizer.json", "/added_tokens", "additional_special_tokens is no added token", "<new>"),
        ADD("\"additional_special_tokens\": [3]", TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json",
            "/additional_special_tokens/0", "no token"),
#undef ADD
        KIT_FAULT("tokenizer_config.json", "\"do_lower_case\": true", "\"do_lower_case\": \"true\"", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/do_lower_case", "wrong type", "\"true\"",
                  "true or false"),
        KIT_FAULT("tokenizer_config.json", "\"model_max_length\": 32", "\"model_max_length\": 0", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/model_max_length", "is no length", "0", "1e20"),
        KIT_FAULT("tokenizer_config.json", "\"model_max_length\": 32", "\"model_max_length\": -5", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/model_max_length", "is no length"),
        KIT_FAULT("tokenizer_config.json", "\"model_max_length\": 32", "\"model_max_length\": 1.5", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/model_max_length", "is no length"),
        KIT_FAULT("tokenizer_config.json", "\"model_max_length\": 32", "\"model_max_length\": \"512\"", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/model_max_length", "is no length"),
        KIT_FAULT("tokenizer_config.json", "\"cls_token\": \"[CLS]\"", "\"cls_token\": 5", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/cls_token", "wrong type", "5", "a string"),
        KIT_FAULT("tokenizer.json", "\"##b\": 6", "\"##b\": 7", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer.json",
                  "/model/vocab/##b", "go beyond vocab_size", "id 7", "vocab_size 7"),
        KIT_FAULT("tokenizer.json", "\"type\": \"WordPiece\"", "\"type\": \"BPE\"", TN_BLOCKER,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/model/type", "needs a WordPiece model", "BPE",
                  "WordPiece", "PreTrainedTokenizerFast"),
        KIT_FAULT("tokenizer.json", KIT_ADDED("4", "[MASK]"), KIT_ADDED("4", "[MOSK]"), TN_BLOCKER,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/added_tokens", "mask_token is no added token", "[MASK]"),
    };
    KIT_RUN(faults);
}

TEST(a_length_that_is_no_size)
{
    static const char *const values[] = {"1000000000000000019884624838656", "1e30", "1e21"};
    for (size_t i = 0; i < 3; i++) {
        char text[80];
        snprintf(text, sizeof(text), "\"model_max_length\": %s", values[i]);
        kit_new();
        kit_edit("tokenizer_config.json", "\"model_max_length\": 32", text);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        KIT_CLEAN(d);
        CHECK(!d->tokenizer.model_max_length_set);
        CHECK_FACT(d, "tokenizer.model_max_length", values[i], "tokenizer_config.json");
        CHECK(kit_fact(d, "tokenizer.model_max_length")->descriptive);
        kit_close(d);
    }
    kit_new();
    kit_edit("tokenizer_config.json", "\"model_max_length\": 32", "\"max_len\": 24");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(d->tokenizer.model_max_length, 24);
    kit_close(d);
}

TEST(harmless_fields)
{
    static const struct kit_fault edits[] = {
#define ADD(text)                                                                                  \
    KIT_FAULT("tokenizer_config.json", "\"model_max_length\": 32", "\"model_max_length\": 32, " text, 0)
        ADD("\"clean_up_tokenization_spaces\": true, \"chat_template\": \"{{ x }}\", \"backend\": \"tokenizers\""),
        ADD("\"do_basic_tokenize\": true, \"never_split\": null, \"name_or_path\": \"x\", \"max_length\": 128"),
        ADD("\"padding_side\": \"right\", \"truncation_side\": \"left\", \"stride\": 0, \"auto_map\": null"),
        ADD("\"added_tokens_decoder\": {\"0\": " KIT_ADDED("0", "[PAD]") ", \"1\": " KIT_ADDED("1", "[UNK]")
            ", \"2\": " KIT_ADDED("2", "[CLS]") ", \"3\": " KIT_ADDED("3", "[SEP]") ", \"4\": " KIT_ADDED("4", "[MASK]") "}"),
        ADD("\"additional_special_tokens\": [\"[MASK]\", {\"content\": \"[CLS]\"}], \"extra_special_tokens\": {}"),
        ADD("\"bos_token\": null, \"eos_token\": \"[SEP]\""),
#undef ADD
        KIT_FAULT("tokenizer_config.json", "\"cls_token\": \"[CLS]\"",
                  "\"cls_token\": {\"content\": \"[CLS]\", \"lstrip\": false}", 0),
        KIT_FAULT("tokenizer.json", "\"type\": \"WordPiece\", ", "", 0),
        /* the older post-processor of the same template */
        KIT_FAULT("tokenizer.json", "\"decoder\": null", "\"decoder\": {\"type\": \"WordPiece\"}", 0),
    };
    KIT_HARMLESS(edits);
}

/* ---- special_tokens_map.json ------------------------------------------------------------------------------------ */

TEST(special_tokens_map_overrides_the_older_way)
{
    kit_new();
    kit_put("special_tokens_map.json", "{\"cls_token\": \"[MASK]\", \"sep_token\": {\"content\": \"[SEP]\"}}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_TSTR(d->tokenizer.cls_token, "[MASK]");
    KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/cls_token", "cls_token differs",
               "[CLS]", "\"[MASK]\", which is used");
    CHECK_FACT(d, "tokenizer.cls_token", "\"[MASK]\"", "special_tokens_map.json");
    /* the class would now build another template */
    KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/post_processor", "post_processor");
    CHECK_INT(d->tokenizer.source, TN_TOKENIZER_CLASS);
    CHECK_INT(d->findings.blockers, 0);
    kit_close(d);

    /* added_tokens_decoder is the newer way: the map no longer counts */
    kit_edit("tokenizer_config.json", "\"model_max_length\": 32",
             "\"model_max_length\": 32, \"added_tokens_decoder\": {\"0\": " KIT_ADDED("0", "[PAD]") ", \"1\": " KIT_ADDED(
                 "1", "[UNK]") ", \"2\": " KIT_ADDED("2", "[CLS]") ", \"3\": " KIT_ADDED("3", "[SEP]") ", \"4\": "
             KIT_ADDED("4", "[MASK]") "}");
    d = kit_describe();
    REQUIRE(d);
    CHECK_TSTR(d->tokenizer.cls_token, "[CLS]");
    KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_PROCESSOR, "special_tokens_map.json", "/cls_token", "cls_token differs",
               "[MASK]", "\"[CLS]\", which is used");
    CHECK_INT(d->tokenizer.source, TN_TOKENIZER_FILE);
    kit_close(d);
}

TEST(special_tokens_map_is_closed)
{
    kit_new();
    kit_put("special_tokens_map.json", "{\"cls_token\": \"[CLS]\", \"image_token\": \"x\"}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "special_tokens_map.json", "/image_token", "unknown field");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}

/* ---- contradictions between tokenizer.json and the class ---------------------------------------------------------- */

/* Each is a warning that names both keys, and the class decides. */
TEST(stages_that_the_class_rebuilds)
{
    static const struct kit_fault faults[] = {
        KIT_FAULT("tokenizer_config.json", "\"do_lower_case\": true", "\"do_lower_case\": false", TN_WARNING,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/normalizer/lowercase",
                  "do_lower_case in tokenizer_config.json says false, /normalizer/lowercase in tokenizer.json says true",
                  "true", "false"),
        KIT_FAULT("tokenizer.json", "\"handle_chinese_chars\": true", "\"handle_chinese_chars\": false", TN_WARNING,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/normalizer/handle_chinese_chars",
                  "tokenize_chinese_chars in tokenizer_config.json says true", "false"),
        KIT_FAULT("tokenizer.json", "\"strip_accents\": null", "\"strip_accents\": false", TN_WARNING,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/normalizer/strip_accents", "strip_accents", "false",
                  "null"),
        KIT_FAULT("tokenizer_config.json", "\"strip_accents\": null", "\"strip_accents\": false", TN_WARNING,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/normalizer/strip_accents",
                  "strip_accents in tokenizer_config.json says false", "null", "false"),
        KIT_FAULT("tokenizer.json", "\"clean_text\": true", "\"clean_text\": false", TN_WARNING,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/normalizer/clean_text", "normalizer", "false",
                  "clean_text true"),
        KIT_FAULT("tokenizer.json", "\"type\": \"BertNormalizer\"", "\"type\": \"NFC\"", TN_WARNING,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/normalizer", "the normalizer in tokenizer.json is not",
                  "NFC", "BertNormalizer (transformers 5", "PreTrainedTokenizerFast"),
        KIT_FAULT("tokenizer.json", "{\"type\": \"BertPreTokenizer\"}", "null", TN_WARNING, TN_UNSUPPORTED_PROCESSOR,
                  "tokenizer.json", "/pre_tokenizer", "pre_tokenizer", "null", "BertPreTokenizer"),
        KIT_FAULT("tokenizer.json", "\"max_input_chars_per_word\": 100", "\"max_input_chars_per_word\": 50", TN_WARNING,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/model/max_input_chars_per_word", "model", "50", "100"),
        KIT_FAULT("tokenizer.json", "\"continuing_subword_prefix\": \"##\"", "\"continuing_subword_prefix\": \"@@\"",
                  TN_WARNING, TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/model/continuing_subword_prefix", "model",
                  "@@", "##"),
        KIT_FAULT("tokenizer.json", "\"unk_token\": \"[UNK]\"", "\"unk_token\": \"[PAD]\"", TN_WARNING,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/model/unk_token", "unk_token in tokenizer_config.json",
                  "[PAD]"),
        KIT_FAULT("tokenizer.json", "{\"SpecialToken\": {\"id\": \"[SEP]\", \"type_id\": 0}}], \"pair\"",
                  "{\"SpecialToken\": {\"id\": \"[SEP]\", \"type_id\": 1}}], \"pair\"", TN_WARNING,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/post_processor", "post_processor", NULL, "cls A sep"),
        KIT_FAULT("tokenizer.json", "\"ids\": [3]", "\"ids\": [4]", TN_WARNING, TN_UNSUPPORTED_PROCESSOR,
                  "tokenizer.json", "/post_processor", "post_processor"),
        KIT_FAULT("tokenizer.json", "\"type\": \"TemplateProcessing\"", "\"type\": \"ByteLevel\"", TN_WARNING,
                  TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/post_processor", "post_processor"),
    };
    KIT_RUN(faults);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        kit_new();
        kit_edit(faults[i].name, faults[i].from, faults[i].to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        CHECK_INT(d->tokenizer.source, TN_TOKENIZER_CLASS);
        kit_close(d);
        /* The class that loads the file as it stands has nothing to rebuild. */
        kit_edit("tokenizer_config.json", "\"BertTokenizer\"", "\"PreTrainedTokenizerFast\"");
        d = kit_describe();
        REQUIRE(d);
        CHECK_INT(d->tokenizer.source, TN_TOKENIZER_FILE);
        kit_close(d);
    }
}

/* An unset strip_accents follows the case, so these pairs mean the same. */
TEST(accents_that_mean_the_same)
{
    static const char *const pairs[][3] = {
        /* in tokenizer.json, in tokenizer_config.json, case in both */
        {"true", "null", "true"},
        {"null", "true", "true"},
        {"false", "null", "false"},
        {"null", "false", "false"},
    };
    for (size_t i = 0; i < 4; i++) {
        char file[64], config[64], lower[64], upper[64];
        snprintf(file, sizeof(file), "\"strip_accents\": %s", pairs[i][0]);
        snprintf(config, sizeof(config), "\"strip_accents\": %s", pairs[i][1]);
        snprintf(lower, sizeof(lower), "\"lowercase\": %s", pairs[i][2]);
        snprintf(upper, sizeof(upper), "\"do_lower_case\": %s", pairs[i][2]);
        kit_new();
        kit_edit("tokenizer.json", "\"strip_accents\": null", file);
        kit_edit("tokenizer.json", "\"lowercase\": true", lower);
        kit_edit("tokenizer_config.json", "\"strip_accents\": null", config);
        kit_edit("tokenizer_config.json", "\"do_lower_case\": true", upper);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        KIT_CLEAN(d);
        CHECK_INT(d->tokenizer.source, TN_TOKENIZER_FILE);
        kit_close(d);
    }
}

TEST(older_post_processor_of_the_same_template)
{
    static const char *const processors[][2] = {
        {"{\"type\": \"BertProcessing\", \"sep\": [\"[SEP]\", 3], \"cls\": [\"[CLS]\", 2]}", "file"},
        {"{\"type\": \"BertProcessing\", \"sep\": [\"[SEP]\", 4], \"cls\": [\"[CLS]\", 2]}", "class"},
        {"{\"type\": \"RobertaProcessing\", \"sep\": [\"[SEP]\", 3], \"cls\": [\"[CLS]\", 2]}", "class"},
    };
    for (size_t i = 0; i < 3; i++) {
        kit_new();
        char *tokenizer = strdup(KIT_TOKENIZER), out[4096];
        char *from = strstr(tokenizer, "{\"type\": \"TemplateProcessing\""), *to = strstr(tokenizer, ", \"decoder\"");
        *from = 0;
        snprintf(out, sizeof(out), "%s%s%s", tokenizer, processors[i][0], to);
        kit_put("tokenizer.json", out);
        free(tokenizer);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        CHECK_INT(d->findings.blockers, 0);
        CHECK_INT(d->tokenizer.source, i == 0 ? TN_TOKENIZER_FILE : TN_TOKENIZER_CLASS);
        kit_close(d);
    }
}

TEST(added_tokens_of_two_states)
{
    static const struct kit_fault faults[] = {
#define DECODER(text, ...)                                                                         \
    KIT_FAULT("tokenizer_config.json", "\"model_max_length\": 32",                                 \
              "\"model_max_length\": 32, \"added_tokens_decoder\": {" text "}", __VA_ARGS__)
#define FOUR                                                                                       \
    "\"0\": " KIT_ADDED("0", "[PAD]") ", \"1\": " KIT_ADDED("1", "[UNK]") ", \"2\": " KIT_ADDED("2", "[CLS]") ", \"3\": " \
        KIT_ADDED("3", "[SEP]")
        DECODER(FOUR, TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/added_tokens_decoder",
                "tokenizer.json has more"),
        DECODER(FOUR ", \"4\": " KIT_ADDED("4", "[MOSK]"), TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR,
                "tokenizer_config.json", "/added_tokens_decoder/4", "other contents or flags", "[MOSK]"),
        DECODER(FOUR ", \"4\": {\"content\": \"[MASK]\", \"lstrip\": true, \"special\": true}", TN_BLOCKER,
                TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/added_tokens_decoder/4", "contents or flags"),
        DECODER(FOUR ", \"5\": " KIT_ADDED("5", "[MASK]"), TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR,
                "tokenizer_config.json", "/added_tokens_decoder/5", "missing in tokenizer.json"),
        DECODER(FOUR ", \"four\": " KIT_ADDED("4", "[MASK]"), TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR,
                "tokenizer_config.json", "/added_tokens_decoder/four", "missing in tokenizer.json"),
#undef DECODER
#undef FOUR
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        kit_new();
        kit_edit(faults[i].name, faults[i].from, faults[i].to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        kit_expect(d, faults[i].expected, faults[i].file, faults[i].line);
        kit_close(d);
    }
}

/* add_bos_token / add_eos_token against the post-processor: the file decides in the reference. */
TEST(edges_that_the_file_does_not_add)
{
    kit_new();
    kit_edit("tokenizer_config.json", "\"BertTokenizer\"", "\"PreTrainedTokenizerFast\"");
    kit_edit("tokenizer_config.json", "\"model_max_length\": 32", "\"model_max_length\": 32, \"add_eos_token\": true, "
                                                                  "\"add_bos_token\": true");
    kit_edit("tokenizer.json", ", {\"SpecialToken\": {\"id\": \"[SEP]\", \"type_id\": 0}}], \"pair\"", "], \"pair\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/add_eos_token",
               "add_eos_token in tokenizer_config.json is true, but /post_processor in tokenizer.json puts no special "
               "token last",
               "true", "tokenizer.json decides");
    CHECK_INT(d->findings.blockers, 0);
    kit_close(d);

    kit_edit("tokenizer_config.json", "\"add_bos_token\": true", "\"add_bos_token\": false");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/add_bos_token",
               "puts a special token first", "false");
    kit_close(d);

    /* the class adds both, whatever the files say */
    kit_edit("tokenizer_config.json", "\"PreTrainedTokenizerFast\"", "\"BertTokenizer\"");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/add_bos_token", "a special token first");
    kit_close(d);
}

TEST(case_that_the_file_does_not_lower)
{
    static const char *const normalizers[] = {
        "{\"type\": \"NFC\"}",
        "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}, {\"type\": \"Lowercase\"}]}",
        "{\"type\": \"Lowercase\"}",
    };
    for (size_t i = 0; i < 3; i++) {
        kit_new();
        kit_edit("tokenizer_config.json", "\"BertTokenizer\"", "\"PreTrainedTokenizerFast\"");
        kit_edit("tokenizer.json",
                 "{\"type\": \"BertNormalizer\", \"clean_text\": true, \"handle_chinese_chars\": true, "
                 "\"strip_accents\": null, \"lowercase\": true}",
                 normalizers[i]);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        if (i == 0)
            KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/do_lower_case",
                       "do_lower_case in tokenizer_config.json is true, but /normalizer in tokenizer.json keeps the case",
                       "true", "false");
        else KIT_CLEAN(d);
        CHECK_INT(d->tokenizer.source, TN_TOKENIZER_FILE);
        kit_close(d);
    }
}

/* do_lower_case of the module puts a Lowercase stage in front, unless the file has one of its own. */
TEST(lower_case_of_the_module)
{
    kit_new();
    kit_edit("sentence_bert_config.json", "\"do_lower_case\": false", "\"do_lower_case\": true");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK(d->tokenizer.lower_case_first);
    CHECK_INT(d->tokenizer.source, TN_TOKENIZER_FILE);
    kit_close(d);
    kit_edit("tokenizer_config.json", "\"BertTokenizer\"", "\"PreTrainedTokenizerFast\"");
    kit_edit("tokenizer.json", "{\"type\": \"BertNormalizer\"", "{\"type\": \"Lowercase\"");
    d = kit_describe();
    REQUIRE(d);
    CHECK(!d->tokenizer.lower_case_first);
    kit_close(d);
}

/* ---- sides ------------------------------------------------------------------------------------------------------ */

TEST(sides_of_the_file_where_the_configuration_is_silent)
{
    kit_new();
    kit_edit("tokenizer.json", "\"truncation\": null",
             "\"truncation\": {\"direction\": \"Left\", \"max_length\": 9, \"strategy\": \"LongestFirst\", \"stride\": 0}");
    kit_edit("tokenizer.json", "\"padding\": null",
             "\"padding\": {\"strategy\": \"BatchLongest\", \"direction\": \"Left\", \"pad_id\": 0}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK_TSTR(d->tokenizer.truncation_side, "left");
    CHECK_TSTR(d->tokenizer.padding_side, "left");
    /* one spelling, wherever it came from */
    CHECK_FACT(d, "tokenizer.truncation_side", "\"left\"", "tokenizer.json");
    CHECK_FACT(d, "tokenizer.padding_side", "\"left\"", "tokenizer.json");
    CHECK_TSTR(kit_fact(d, "tokenizer.padding_side")->pointer, "/padding/direction");
    KIT_EXPECT(d, TN_NOTE, TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/padding_side", "as if it were alone");
    KIT_EXPECT(d, TN_NOTE, TN_UNSUPPORTED_CONFIG, "tokenizer.json", "/truncation/max_length", "is replaced", "9", "16");
    CHECK_INT(d->max_seq_length, 16);
    kit_close(d);
    kit_edit("tokenizer_config.json", "\"model_max_length\": 32",
             "\"model_max_length\": 32, \"padding_side\": \"right\", \"truncation_side\": \"right\"");
    d = kit_describe();
    REQUIRE(d);
    CHECK_TSTR(d->tokenizer.truncation_side, "right");
    CHECK_TSTR(d->tokenizer.padding_side, "right");
    kit_close(d);
}

TEST(sides_have_one_spelling)
{
    kit_new();
    kit_edit("tokenizer.json", "\"padding\": null", "\"padding\": {\"direction\": \"Right\"}");
    kit_edit("tokenizer_config.json", "\"model_max_length\": 32", "\"model_max_length\": 32, \"truncation_side\": \"Right\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK_FACT(d, "tokenizer.padding_side", "\"right\"", "tokenizer.json");
    CHECK_FACT(d, "tokenizer.truncation_side", "\"right\"", "tokenizer_config.json");
    kit_close(d);
}

/* ---- vocab.txt beside tokenizer.json ------------------------------------------------------------------------------ */

#define KIT_LINES "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n"

TEST(a_second_vocabulary_that_says_the_same)
{
    static const char *const texts[] = {
        KIT_LINES,
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b",                   /* without the last end of line */
        "[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\n[MASK]\r\na \t\r\n##b\r\n", /* ends and blanks of another system */
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        kit_new();
        kit_put("vocab.txt", texts[i]);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        KIT_CLEAN(d);
        CHECK_INT(d->tokenizer.source, TN_TOKENIZER_FILE);
        kit_close(d);
    }
    /* Of a token on two lines the later counts: the same map, although one line has no entry. */
    kit_new();
    kit_edit("config.json", "\"vocab_size\": 7", "\"vocab_size\": 8");
    kit_edit("tokenizer.json", "\"a\": 5, \"##b\": 6", "\"##b\": 6, \"a\": 7");
    kit_put("vocab.txt", KIT_LINES "a\n");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
    /* Tokens that were added behind the last line stand in tokenizer.json alone. */
    kit_new();
    kit_edit("config.json", "\"vocab_size\": 7", "\"vocab_size\": 8");
    kit_edit("tokenizer.json", KIT_ADDED("4", "[MASK]"), KIT_ADDED("4", "[MASK]") ", " KIT_ADDED("7", "<new>"));
    kit_put("vocab.txt", KIT_LINES);
    d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
}

static size_t count_warnings(const struct tn_description *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->findings.count; i++) n += d->findings.items[i].severity == TN_WARNING;
    return n;
}

/* tokenizer.json decides; the difference is told with both files, the number of ids and the first of them. */
TEST(a_second_vocabulary_that_says_something_else)
{
    static const struct {
        const char *text, *found;
    } cases[] = {
        {"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nx\n##b\n", "1 difference(s), the first at id 5: \"x\", and in tokenizer.json \"a\""},
        {"[PAD]\n[UNK]\n[SEP]\n[CLS]\n[MASK]\na\n##b\n", "2 difference(s), the first at id 2: \"[SEP]\", and in tokenizer.json \"[CLS]\""},
        {"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n", "1 difference(s), the first at id 6: nothing, and in tokenizer.json \"##b\""},
        {KIT_LINES "c\nd\n", "2 difference(s), the first at id 7: \"c\", and in tokenizer.json nothing"},
        {KIT_LINES "a\n", "1 difference(s), the first at id 7: \"a\", and in tokenizer.json nothing"},
        {"", "7 difference(s), the first at id 0: nothing, and in tokenizer.json \"[PAD]\""},
        {"\xFF\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n", "1 difference(s), the first at id 0: \"\\xFF\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        kit_new();
        kit_put("vocab.txt", cases[i].text);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_PROCESSOR, "vocab.txt", "",
                   "vocab.txt and /model/vocab of tokenizer.json are not the same vocabulary; the latter is used",
                   cases[i].found, "tokenizer.json", "remove vocab.txt");
        CHECK_INT(count_warnings(d), 1);
        CHECK_INT(d->findings.blockers, 0);
        CHECK_INT(d->tokenizer.source, TN_TOKENIZER_FILE);
        kit_close(d);
    }
}

/* Whatever the class makes of the other stages, the vocabulary is the file's. */
TEST(a_second_vocabulary_beside_a_class_that_rebuilds)
{
    kit_new();
    kit_put("vocab.txt", "x\n");
    kit_edit("tokenizer.json", "\"lowercase\": true", "\"lowercase\": false");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(d->tokenizer.source, TN_TOKENIZER_CLASS);
    KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_PROCESSOR, "vocab.txt", "", "not the same vocabulary");
    CHECK_INT(count_warnings(d), 2);
    kit_close(d);
}

/* ---- vocab.txt alone -------------------------------------------------------------------------------------------- */

TEST(vocabulary_alone)
{
    kit_new();
    kit_remove("tokenizer.json");
    kit_put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b");
    kit_edit("tokenizer_config.json", "\"do_lower_case\": true, \"strip_accents\": null",
             "\"do_lower_case\": false, \"strip_accents\": true");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK_INT(d->tokenizer.source, TN_TOKENIZER_VOCAB);
    CHECK_TSTR(d->tokenizer.vocab_txt, "vocab.txt");
    CHECK_TSTR(d->tokenizer.tokenizer_json, "");
    CHECK(!d->tokenizer.do_lower_case && d->tokenizer.strip_accents_set && d->tokenizer.strip_accents);
    CHECK_FACT(d, "tokenizer.source", "\"vocab\"", "vocab.txt");
    kit_close(d);

    kit_put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\nc\n");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "vocab.txt", "", "go beyond vocab_size", "id 7", "vocab_size 7");
    kit_close(d);

    /* a special token without a line gets the id behind the last one */
    kit_put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\r\n[SEP]\na\n##b\nc\n");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "vocab.txt", "", "go beyond vocab_size", "id 7", "vocab_size 7");
    kit_close(d);
    kit_put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\r\n[SEP]\na\n##b\n");
    d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
}

TEST(tokenizer_without_a_model)
{
    kit_empty();
    kit_put("tokenizer.json", KIT_TOKENIZER);
    kit_put("tokenizer_config.json", KIT_TOKENIZER_CONFIG);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, NULL, NULL, "no weights");
    CHECK_INT(d->findings.blockers, 1);
    CHECK(d->tokenizer.present && !d->tokenizer.refused);
    CHECK_INT(d->tokenizer.source, TN_TOKENIZER_FILE);
    CHECK_TSTR(d->tokenizer.cls_token, "[CLS]");
    kit_close(d);
}

TEST(vocabulary_that_needs_more)
{
    kit_new();
    kit_remove("tokenizer.json");
    kit_put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n");
    kit_put("added_tokens.json", "{\"x\": 7}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "added_tokens.json", "", "added to vocab.txt", NULL,
               "tokenizer.json");
    kit_close(d);
    kit_remove("added_tokens.json");
    kit_edit("tokenizer_config.json", "\"model_max_length\": 32",
             "\"model_max_length\": 32, \"additional_special_tokens\": [\"<x>\"]");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "", "special tokens are added");
    kit_close(d);
    kit_edit("tokenizer_config.json", ", \"additional_special_tokens\": [\"<x>\"]", "");
    kit_edit("tokenizer_config.json", "\"BertTokenizer\"", "\"PreTrainedTokenizerFast\"");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "vocab.txt", "", "loads tokenizer.json");
    kit_close(d);
}

TEST(no_tokenizer)
{
    kit_new();
    kit_remove("tokenizer.json");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK(!d->tokenizer.present);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, "tokenizer.json", "", "no tokenizer", NULL, NULL, "download");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
    kit_put("sentencepiece.bpe.model", "\x0a\x0e\x0a");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "sentencepiece.bpe.model", "", "given only as", NULL,
               "tokenizer.json", "save_pretrained");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}

/* The tokenizer is described even where the family is not known, so that all problems come in one pass. */
TEST(tokenizer_of_an_unknown_family)
{
    kit_new();
    kit_edit("config.json", "\"bert\"", "\"camembert\"");
    kit_edit("tokenizer_config.json", "\"model_max_length\": 32", "\"model_max_length\": 32, \"frobnicate\": 1");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK(d->tokenizer.present && d->tokenizer.refused);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNKNOWN_FAMILY, "config.json", "/model_type");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/frobnicate");
    CHECK_INT(d->findings.blockers, 2);
    kit_close(d);
}
