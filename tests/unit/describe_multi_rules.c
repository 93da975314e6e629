/*
 * What tenon_package.json states of vectors, labels and tokens, against the rest of it: one package has one verdict in the
 * convention's form and in ours. Each rule by one edit of documents that hold.
 */
#include "documents_kit.h"

#define SENTENCE "config_sentence_transformers.json"
#define BERT "sentence_bert_config.json"
#define SEVERAL                                                                                                          \
    "{\"query_length\": 0, \"document_length\": 0, \"expansion\": null, \"skip\": [], \"skips_in_queries\": false, "     \
    "\"skips_in_documents\": false, \"markers\": []}"
#define INVALID(from, to, pointer, ...) KIT_FAULT(DOCUMENT, from, to, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, pointer, __VA_ARGS__)

/* The kit's encoder with a vector for each token; queries are filled up to eight. */
static void multi_new(void)
{
    kit_new();
    kit_put("modules.json", "[" KIT_MODULE("0", "", "Transformer") "]");
    kit_edit(SENTENCE, "\"similarity_fn_name\": \"cosine\"", "\"similarity_fn_name\": null, \"model_type\": \"MultiVectorEncoder\"");
    kit_put(BERT, "{\"max_seq_length\": 16, \"do_lower_case\": false, \"query_length\": 8, \"query_expansion\": "
                  "{\"strategy\": \"min\", \"length\": 8, \"attend\": false, \"token\": null}}");
}

static bool multi_alone(void)
{
    multi_new();
    if (!documents_beside(false)) return false;
    kit_remove("config.json");
    kit_remove("tokenizer_config.json");
    kit_remove("modules.json");
    kit_remove(BERT);
    kit_remove(SENTENCE);
    return true;
}

static void run(bool (*make)(void), const struct kit_fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        REQUIRE(make());
        kit_edit(faults[i].name, faults[i].from, faults[i].to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        kit_expect(d, faults[i].expected, faults[i].file, faults[i].line);
        kit_close(d);
    }
}
#define RUN(make, faults) run((make), (faults), sizeof(faults) / sizeof((faults)[0]))

TEST(queries_are_not_cut_below_what_they_are_filled_up_to)
{
    static const struct kit_fault faults[] = {
        INVALID("\"query_length\": 8", "\"query_length\": 7", "/multi_vector/query_length", "cuts queries below", "7", "at least 8"),
    };
    static const char *const good[] = {"\"query_length\": 0", "\"query_length\": 9"};
    RUN(multi_alone, faults);
    for (size_t i = 0; i < 2; i++) {
        REQUIRE(multi_alone());
        kit_edit(DOCUMENT, "\"query_length\": 8", good[i]);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        KIT_CLEAN(d);
        kit_close(d);
    }
    /* as by the convention */
    multi_new();
    kit_edit(BERT, "\"query_length\": 8", "\"query_length\": 7");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, NULL, NULL, "cut below the length");
    kit_close(d);
}

TEST(several_vectors_are_the_rows_of_tokens)
{
    static const struct kit_fault faults[] = {
        INVALID("\"multi_vector\": null", "\"multi_vector\": " SEVERAL, "/multi_vector", "makes one row of all", NULL, "without a pooling"),
    };
    RUN(documents_alone, faults);
}

static bool head_alone(void)
{
    kit_bare();
    kit_edit("config.json", "\"BertModel\"", "\"BertForTokenClassification\"");
    kit_edit("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, \"id2label\": {\"0\": \"a\", \"1\": \"b\"}, \"label2id\": {\"a\": 0, \"b\": 1}");
    if (!documents_beside(false)) return false;
    kit_remove("config.json");
    kit_remove("tokenizer_config.json");
    return true;
}

TEST(a_head_gives_no_vectors_and_reads_its_numbers_in_one_way)
{
    static const struct kit_fault faults[] = {
        INVALID("\"multi_vector\": null", "\"multi_vector\": " SEVERAL, "/multi_vector", "beside a head"),
        INVALID("\"problem\": \"\"", "\"problem\": \"regression\"", "/head/problem", "does not go with the kind", "regression"),
        KIT_FAULT(DOCUMENT, "\"b\"", "\"a\"", TN_WARNING, TN_METADATA_INVALID, DOCUMENT, "/head/labels/1", "one name to several outputs",
                  "\"a\" for 0 and 1"),
    };
    RUN(head_alone, faults);
}

TEST(the_similarity_is_one_of_as_many_vectors_as_there_are)
{
    static const struct kit_fault of_several[] = {
        INVALID("\"similarity\": \"maxsim\"", "\"similarity\": \"cosine\"", "/similarity", "does not compare several", "cosine", "maxsim or meanmaxsim"),
        INVALID("\"similarity\": \"maxsim\"", "\"similarity\": \"\"", "/similarity", "does not compare several"),
    };
    static const struct kit_fault of_one[] = {
        INVALID("\"similarity\": \"cosine\"", "\"similarity\": \"maxsim\"", "/similarity", "compares several", "maxsim", "cosine"),
        INVALID("\"similarity\": \"cosine\"", "\"similarity\": \"meanmaxsim\"", "/similarity", "compares several"),
    };
    RUN(multi_alone, of_several);
    RUN(documents_alone, of_one);
}

TEST(the_unknown_token_is_that_of_the_model)
{
    static const struct kit_fault faults[] = {
        INVALID("\"unk_token\": \"[UNK]\"", "\"unk_token\": \"[SEP]\"", "/tokenizer/unk_token", "gives for unknown text", "[SEP]", "\"[UNK]\", by /model"),
    };
    RUN(documents_alone, faults);
    /* the file that the stages come from decides for a convention too, and the contradiction is told */
    kit_bare();
    kit_edit("tokenizer_config.json", "\"BertTokenizer\"", "\"PreTrainedTokenizerFast\"");
    kit_edit("tokenizer_config.json", "\"unk_token\": \"[UNK]\"", "\"unk_token\": \"[MASK]\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_PROCESSOR, "tokenizer_config.json", "/unk_token", "gives for unknown text", "[MASK]", "[UNK]");
    CHECK_TSTR(d->tokenizer.unk_token, "");
    kit_close(d);
}

TEST(an_unknown_value_has_a_remedy_that_works)
{
    REQUIRE(documents_alone());
    kit_edit(DOCUMENT, "\"hidden_size\": 8", "\"hidden_size\": 8, \"foo\": 1");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, DOCUMENT, "/components/0/config/foo", "unknown field", "1", NULL, "remove it");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}
