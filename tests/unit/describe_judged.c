/*
 * A description against its tokenizer as it is built: what would make a load or every request fail is found when the
 * package is described, all of it in one pass, whichever form states it.
 */
#include "documents_kit.h"

#include "session/session.h"

#define SENTENCE "config_sentence_transformers.json"
#define BERT "sentence_bert_config.json"
#define MASK "1_MultiVectorMask/config.json"

static struct tn_description *judged(void)
{
    kit_options.judge = tn_tokenizer_judge;
    return kit_describe();
}

static void multi_new(void)
{
    kit_new();
    kit_put("modules.json", "[" KIT_MODULE("0", "", "Transformer") ", " KIT_MODULE("1", "1_MultiVectorMask", "MultiVectorMask") "]");
    kit_put(MASK, "{\"skiplist_words\": [\"a\"], \"skiplist_tasks\": [\"document\"]}");
    kit_edit(SENTENCE, "\"similarity_fn_name\": \"cosine\"", "\"similarity_fn_name\": null, \"model_type\": \"MultiVectorEncoder\"");
    kit_put(BERT, "{\"max_seq_length\": 16, \"do_lower_case\": false, \"query_length\": 8, \"document_length\": 9, \"query_expansion\": "
                  "{\"strategy\": \"fixed\", \"length\": 8, \"attend\": false, \"token\": \"[MASK]\"}}");
}

static void expect(struct kit_expected e, const char *file, int line)
{
    struct tn_description *d = judged();
    if (!d) return;
    kit_expect(d, e, file, line);
    kit_close(d);
}
#define JUDGED(...) expect((struct kit_expected){__VA_ARGS__}, __FILE__, __LINE__)

TEST(a_good_package_is_judged_good)
{
    kit_new();
    struct tn_description *d = judged();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK(!d->tokenizer.refused);
    kit_close(d);
    multi_new();
    d = judged();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
    /* vocab.txt alone */
    kit_bare();
    kit_remove("tokenizer.json");
    kit_put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n");
    d = judged();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
}

/* In the frame, in a stage and in the model: three faults, three findings, and no tokenizer that could be asked for. */
TEST(every_unknown_member_of_a_tokenizer_is_told)
{
    static const char *const places[] = {"/zz1", "/normalizer/zz2", "/model/zz3", "/post_processor/zz4"};
    REQUIRE(documents_alone());
    kit_edit("tokenizer.json", "\"decoder\": null", "\"decoder\": null, \"zz1\": 1");
    kit_edit("tokenizer.json", "\"clean_text\": true", "\"clean_text\": true, \"zz2\": 2");
    kit_edit("tokenizer.json", "\"max_input_chars_per_word\"", "\"zz3\": 3, \"max_input_chars_per_word\"");
    kit_edit("tokenizer.json", "\"special_tokens\": {\"[CLS]\"", "\"zz4\": 4, \"special_tokens\": {\"[CLS]\"");
    struct tn_description *d = judged();
    REQUIRE(d);
    for (size_t i = 0; i < 4; i++)
        KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", places[i], "unknown member", NULL, "only: ");
    CHECK_INT(d->findings.blockers, 4);
    CHECK(d->tokenizer.refused);
    kit_close(d);
}

/* A stage that does not hold hides no fault of another one. */
TEST(faults_of_several_stages_are_told_together)
{
    REQUIRE(documents_alone());
    kit_edit("tokenizer.json", "\"BertPreTokenizer\"", "\"Nobody\"");
    kit_edit("tokenizer.json", "\"decoder\": null", "\"decoder\": {\"type\": \"Nobody\"}");
    kit_edit("tokenizer.json", "\"version\": \"1.0\"", "\"version\": \"9.0\"");
    struct tn_description *d = judged();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/version");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/pre_tokenizer/type", "not supported");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_PROCESSOR, "tokenizer.json", "/decoder/type", "not supported");
    CHECK_INT(d->findings.blockers, 3);
    kit_close(d);
}

TEST(no_length_is_too_short_for_the_special_tokens)
{
    multi_new();
    kit_edit(BERT, "\"document_length\": 9", "\"document_length\": 1");
    JUDGED(TN_BLOCKER, TN_UNSUPPORTED_CONFIG, BERT, "/document_length", "no text fits", "1", "at least 2");
    multi_new();
    REQUIRE(documents_beside(false));
    kit_edit(DOCUMENT, "\"document_length\": 9", "\"document_length\": 1");
    JUDGED(TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/multi_vector/document_length", "no text fits", "1", "at least 2");
    REQUIRE(documents_alone());
    kit_edit(DOCUMENT, "\"max_seq_length\": 16", "\"max_seq_length\": 1");
    JUDGED(TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/max_seq_length", "no text fits", "1", "at least 2");
    REQUIRE(documents_alone());
    kit_edit(DOCUMENT, "\"max_seq_length\": 16", "\"max_seq_length\": 2"); /* every text is cut to nothing, as in the library */
    struct tn_description *d = judged();
    REQUIRE(d);
    for (size_t i = 0; i < d->findings.count; i++) CHECK(!strstr(d->findings.items[i].message, "no text fits"));
    kit_close(d);
}

TEST(words_are_those_of_the_vocabulary)
{
    multi_new();
    kit_edit(BERT, "\"[MASK]\"", "\"[MASKX]\"");
    JUDGED(TN_BLOCKER, TN_UNSUPPORTED_CONFIG, BERT, "/query_expansion/token", "not in the vocabulary", "[MASKX]", "a token of the vocabulary");
    multi_new();
    REQUIRE(documents_beside(false));
    kit_edit(DOCUMENT, "\"token\": \"[MASK]\"", "\"token\": \"[MASKX]\"");
    JUDGED(TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/multi_vector/expansion/token", "not in the vocabulary", "[MASKX]");
    multi_new();
    kit_edit(MASK, "[\"a\"]", "[\"a\", \"zz\", \"yy\"]");
    JUDGED(TN_WARNING, TN_UNSUPPORTED_CONFIG, MASK, "/skiplist_words", "are to be skipped", "2 of 3, the first is \"zz\"");
}

/* Memory may end anywhere: then nothing is described, and nothing stays. */
TEST(no_memory_while_a_tokenizer_is_judged)
{
    struct tn_description *d = NULL;
    multi_new();
    REQUIRE(documents_beside(false));
    struct tn_inventory *inv = open_package(in_folder("%s", kit_root));
    REQUIRE(inv);
    kit_options.judge = tn_tokenizer_judge;
    uint64_t before = tn_alloc_current(&alloc), blocks = alloc.blocks;
    for (uint64_t n = 1; n < 100000; n += 3) {
        tn_error_clear(err);
        tn_alloc_fail(&alloc, n, n % 2 == 0);
        enum tn_status status = tn_describe(inv, &kit_options, &d, err);
        bool reached = alloc.calls >= alloc.fail_at;
        alloc.fail_at = 0;
        if (!reached) CHECK_INT(status, TN_OK);
        else if (status != TN_INSUFFICIENT_MEMORY || d) test_fail(__FILE__, __LINE__, "allocation %llu: %s", (unsigned long long)n, tn_status_name(status));
        tn_description_free(d);
        d = NULL;
        CHECK_INT(tn_alloc_current(&alloc), before);
        CHECK_INT(alloc.blocks, blocks);
        if (!reached) break;
    }
    close_package(inv);
}
