/*
 * What tenon_package.json states against the package's files and against itself, from the documents alone: each fault by
 * its code, its pointer, what was found and what was expected. describe_values.c changes every value; here is what one of
 * them must say.
 */
#define _GNU_SOURCE
#include "documents_kit.h"

TEST(the_documents_alone_are_good)
{
    REQUIRE(documents_alone());
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
}

static const struct kit_fault faults[] = {
    KIT_FAULT(DOCUMENT, "\"num_attention_heads\": 2", "\"num_attention_heads\": 7", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/components/0/config/hidden_size", "no multiple", "num_attention_heads 7", "a multiple of 7"),
    KIT_FAULT(DOCUMENT, "\"pad_token_id\": 0", "\"pad_token_id\": 7", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/components/0/config/pad_token_id", "outside the vocabulary", "7", "vocab_size 7"),
    KIT_FAULT(DOCUMENT, "\"pad_token_id\": 0", "\"pad_token_id\": 4", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/tokenizer/pad_token", "pad_token_id", "[PAD]", "id 4"),
    KIT_FAULT(DOCUMENT, "\"model_type\": \"bert\"", "\"model_type\": \"bart\"", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/components/0/model_type", "is no model type", "bart", "bert", "nearest name is \"bert\""),
    KIT_FAULT(DOCUMENT, "\"architecture\": \"BertModel\"", "\"architecture\": \"MPNetModel\"", TN_BLOCKER, TN_METADATA_INVALID,
              DOCUMENT, "/components/0/architecture", "belongs to another family", "MPNetModel", "BertModel", "mpnet/1"),
    KIT_FAULT(DOCUMENT, "\"name\": \"encoder\"", "\"name\": \"../encoder\"", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/components/0/name", "no component", "../encoder", "encoder"),
    KIT_FAULT(DOCUMENT, "\"folder\": \"\"", "\"folder\": \"elsewhere\"", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/components/0/folder", "is not the folder of the weights", "elsewhere", "\"\""),
    KIT_FAULT(DOCUMENT, "\"folder\": \"\"", "\"folder\": \"a/../..\"", TN_BLOCKER, TN_PATH_ESCAPE, DOCUMENT,
              "/components/0/folder",
              "leaves the package", "a/../.."),
    KIT_FAULT(DOCUMENT, "\"index\": 2", "\"index\": 1", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/modules/2/index",
              "does not follow", "1", "more than 1"),
    KIT_FAULT(DOCUMENT, "\"path\": \"2_Dense\"", "\"path\": \"nowhere\"", TN_BLOCKER, TN_ARTIFACT_MISSING, DOCUMENT,
              "/modules/2/path", "folder without weights", "nowhere"),
    KIT_FAULT(DOCUMENT, "\"on_tokens\": true", "\"on_tokens\": false", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/modules/0/on_tokens", "does not stand", "false", "true"),
    KIT_FAULT(DOCUMENT, "\"default_prompt\": \"\"", "\"default_prompt\": \"nobody\"", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/default_prompt", "names a prompt", "nobody"),
    KIT_FAULT(DOCUMENT, "\"passage\": \"\"", "\"pass\\u0000age\": \"\"", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, NULL,
              "nobody can ask for"),
    KIT_FAULT(DOCUMENT, "\"descriptive\": []", "\"descriptive\": [\"/hidden_size\"]", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/descriptive/0", "asserts a field that is known", "/hidden_size"),
    KIT_FAULT(DOCUMENT, "\"descriptive\": []", "\"descriptive\": [\"x\", \"config.json#/vocab_size\"]", TN_BLOCKER,
              TN_METADATA_INVALID, DOCUMENT, "/descriptive/1", "asserts a field that is known", "vocab_size"),
    KIT_FAULT(DOCUMENT, "\"truncate_dim\": 0", "\"truncate_dim\": 5", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/truncate_dim",
              "more than there is to cut", "5", "at most 4"),
    /* the tokenizer: its stages are those of the file */
    KIT_FAULT(DOCUMENT, "\"do_lower_case\": null", "\"do_lower_case\": false", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/tokenizer/do_lower_case", "option of a class", "false", "null", "source to class"),
    KIT_FAULT(DOCUMENT, "\"pair_template\": null", "\"pair_template\": \"two_separators\"", TN_BLOCKER, TN_METADATA_INVALID,
              DOCUMENT, "/tokenizer/pair_template", "option of a class", "two_separators", "null"),
    KIT_FAULT(DOCUMENT, "\"cls_token\": \"[CLS]\"", "\"cls_token\": \"[MASK]\"", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/tokenizer/cls_token", "puts before a text", "[MASK]", "[CLS]"),
    KIT_FAULT(DOCUMENT, "\"mask_token\": \"[MASK]\"", "\"mask_token\": \"<mask>\"", TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT,
              "/tokenizer/mask_token", "no added token", "<mask>", "/added_tokens of tokenizer.json"),
    KIT_FAULT(DOCUMENT, "\"class\": \"BertTokenizer\"", "\"class\": \"BirdTokenizer\"", TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR,
              DOCUMENT, "/tokenizer/class", "no class of this build", "BirdTokenizer", "BertTokenizer"),
    KIT_FAULT(DOCUMENT, "\"tokenizer_json\": \"tokenizer.json\"", "\"tokenizer_json\": \"" DOCUMENT "\"", TN_BLOCKER,
              TN_METADATA_INVALID, DOCUMENT, "/tokenizer/tokenizer_json", "without a vocabulary", DOCUMENT, "/model/vocab"),
    KIT_FAULT("tokenizer.json", "\"##b\": 6", "\"##b\": 7", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "tokenizer.json",
              "/model/vocab/##b", "beyond vocab_size of " DOCUMENT, "id 7", "vocab_size 7"),
};

/* Several of them say more than one thing; each must say its own. */
TEST(what_contradicts_is_refused_at_its_place)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        REQUIRE(documents_alone());
        kit_edit(faults[i].name, faults[i].from, faults[i].to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        kit_expect(d, faults[i].expected, faults[i].file, faults[i].line);
        kit_close(d);
    }
}

/* ---- stages of a class ------------------------------------------------------------------------------------------------ */

static bool to_class(const char *source)
{
    char text[64];
    if (!documents_alone()) return false;
    snprintf(text, sizeof(text), "\"source\": \"%s\"", source);
    kit_edit(DOCUMENT, "\"source\": \"file\"", text);
    kit_edit(DOCUMENT, "\"pair_template\": null", "\"pair_template\": \"one_separator\"");
    kit_edit(DOCUMENT, "\"do_lower_case\": null", "\"do_lower_case\": true");
    kit_edit(DOCUMENT, "\"tokenize_chinese_chars\": null", "\"tokenize_chinese_chars\": true");
    return true;
}

static bool to_lines(const char *lines)
{
    if (!to_class("vocab")) return false;
    kit_edit(DOCUMENT, "\"tokenizer_json\": \"tokenizer.json\"", "\"tokenizer_json\": \"\"");
    kit_edit(DOCUMENT, "\"vocab_txt\": \"\"", "\"vocab_txt\": \"vocab.txt\"");
    kit_put("vocab.txt", lines);
    return true;
}

#define LINES "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n"

static void expect_one(struct kit_expected e, int line)
{
    struct tn_description *d = kit_describe();
    if (!d) return;
    kit_expect(d, e, __FILE__, line);
    CHECK_INT(d->findings.blockers, 1);
    CHECK(d->tokenizer.refused);
    kit_close(d);
}
#define EXPECT_ONE(...) expect_one((struct kit_expected){__VA_ARGS__}, __LINE__)

TEST(a_line_more_than_the_table_has_rows)
{
    REQUIRE(to_lines(LINES));
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
    REQUIRE(to_lines(LINES "b\n"));
    EXPECT_ONE(TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "vocab.txt", "", "beyond vocab_size of " DOCUMENT, "id 7", "vocab_size 7");
    /* A token without a line would be given the next id, behind the last row. */
    REQUIRE(to_lines(LINES));
    kit_edit(DOCUMENT, "\"mask_token\": \"[MASK]\"", "\"mask_token\": \"<mask>\"");
    EXPECT_ONE(TN_BLOCKER, TN_UNSUPPORTED_CONFIG, DOCUMENT, "/tokenizer/mask_token", "beyond vocab_size", "id 7",
               "vocab_size 7");
}

TEST(what_the_stages_of_a_class_are_built_with)
{
    REQUIRE(to_class("class"));
    kit_edit(DOCUMENT, "\"cls_token\": \"[CLS]\"", "\"cls_token\": \"<s>\"");
    EXPECT_ONE(TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/tokenizer/cls_token", "no added token", "<s>");
    REQUIRE(to_class("class"));
    kit_edit(DOCUMENT, "\"sep_token\": \"[SEP]\"", "\"sep_token\": \"\"");
    EXPECT_ONE(TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/tokenizer/sep_token", "built with sep_token", "nothing");
    REQUIRE(to_class("class"));
    kit_edit(DOCUMENT, "\"do_lower_case\": true", "\"do_lower_case\": null");
    EXPECT_ONE(TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/tokenizer/do_lower_case", "has no value", "null");
    REQUIRE(to_class("class"));
    kit_edit(DOCUMENT, "\"pair_template\": \"one_separator\"", "\"pair_template\": \"two_separators\"");
    EXPECT_ONE(TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/tokenizer/pair_template", "template of the class", "two_separators",
               "one_separator");
    REQUIRE(to_class("class"));
    kit_edit(DOCUMENT, "\"class\": \"BertTokenizer\"", "\"class\": \"PreTrainedTokenizerFast\"");
    EXPECT_ONE(TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/tokenizer/class", "no stages that are built");
    REQUIRE(to_class("class"));
    kit_edit(DOCUMENT, "\"vocab_txt\": \"\"", "\"vocab_txt\": \"vocab.txt\"");
    kit_put("vocab.txt", LINES);
    EXPECT_ONE(TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/tokenizer/vocab_txt", "does not read", "vocab.txt", "\"\"");
    REQUIRE(to_class("class"));
    kit_edit("tokenizer.json", "\"type\": \"WordPiece\"", "\"type\": \"BPE\"");
    EXPECT_ONE(TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/model/type", "needs a WordPiece model", "BPE",
               "WordPiece", "source to file");
}

/* The convention's road has the same checks, with its own places. */
TEST(a_class_without_its_tokens_is_refused_before_any_load)
{
    kit_new();
    kit_edit("tokenizer_config.json", "\"cls_token\": \"[CLS]\"", "\"cls_token\": null");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/cls_token", "built with cls_token",
               "nothing");
    CHECK(d->tokenizer.refused);
    kit_close(d);
}

/* ---- profiles of the other document ------------------------------------------------------------------------------------- */

TEST(profiles_and_roles_of_another_version)
{
    static const struct {
        const char *from, *to, *pointer;
        enum tn_status code;
    } rows[] = {
        {"batch_invariance: row_independent", "batch_invariance: padding_sensitive", "/profiles/embedding/batch_invariance",
         TN_UNSUPPORTED_CONFIG},
        {"kind: embedding", "kind: com.example.embedding", "/profiles/embedding/kind", TN_MISSING_CAPABILITY},
        {"role: prompt_text\n          version: \"1.0\"", "role: prompt_text\n          version: \"2.0\"",
         "/pipeline/workflow/inputs/request.text/role/version", TN_MISSING_CAPABILITY},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        REQUIRE(documents_alone());
        kit_edit("inference_metadata.yaml", rows[i].from, rows[i].to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        KIT_EXPECT(d, TN_BLOCKER, rows[i].code, "inference_metadata.yaml", rows[i].pointer);
        kit_close(d);
    }
    /* One that may be skipped is skipped. */
    REQUIRE(documents_alone());
    kit_edit("inference_metadata.yaml", "kind: embedding", "kind: com.example.embedding\n    requirement: ignorable");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_NOTE, TN_MISSING_CAPABILITY, "inference_metadata.yaml", "/profiles/embedding/kind");
    CHECK_INT(d->findings.blockers, 0);
    kit_close(d);
}
