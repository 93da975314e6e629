/*
 * The pair of documents as one thing: half of it is refused by name, whatever else the package holds; and names in it
 * that no family has are refused with the nearest one.
 */
#define _GNU_SOURCE
#include "documents_kit.h"

/* Blockers of the description, all of which must be the one that is meant. */
static void expect_only(struct kit_expected e, int line)
{
    struct tn_description *d = kit_describe();
    if (!d) return;
    kit_expect(d, e, __FILE__, line);
    if (d->findings.blockers != 1) {
        test_fail(__FILE__, line, "%zu blockers, expected one", d->findings.blockers);
        print_findings(&d->findings);
    }
    kit_close(d);
}
#define EXPECT_ONLY(...) expect_only((struct kit_expected){__VA_ARGS__}, __LINE__)

TEST(our_document_without_a_contract)
{
    /* beside the convention's files, which must not be followed in its place */
    kit_new();
    REQUIRE(documents_beside(false));
    kit_remove(CONTRACT);
    EXPECT_ONLY(TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "", "half of a pair", "none of inference_metadata.yaml",
                "both documents, or neither", "put the contract");
    /* alone with weights and tokenizer */
    REQUIRE(documents_alone());
    kit_remove(CONTRACT);
    EXPECT_ONLY(TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "", "half of a pair", "none of inference_metadata.yaml",
                "both documents, or neither", "or remove " DOCUMENT);
    /* with a fault of its own, which is told in the same pass */
    kit_edit(DOCUMENT, "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"sine\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "", "half of a pair");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, DOCUMENT, "/components/0/config/hidden_act");
    CHECK_INT(d->findings.blockers, 2);
    kit_close(d);
}

TEST(a_contract_without_our_document)
{
    static const char place[] = "/pipeline/workflow/components/embedder/implementation/artifact";
    kit_new();
    REQUIRE(documents_beside(false));
    kit_remove(DOCUMENT);
    EXPECT_ONLY(TN_BLOCKER, TN_ARTIFACT_MISSING, CONTRACT, place, "half of a pair", "no file " DOCUMENT,
                "both documents, or neither", "put the " DOCUMENT);
    REQUIRE(documents_alone());
    kit_remove(DOCUMENT);
    EXPECT_ONLY(TN_BLOCKER, TN_ARTIFACT_MISSING, CONTRACT, place, "half of a pair", "no file " DOCUMENT,
                "both documents, or neither", "or remove the contract");
}

/* A component's names, each wrong in each way. */
TEST(names_of_the_component_have_a_remedy)
{
    static const struct {
        const char *from, *to, *pointer;
        enum tn_status code;
        const char *message, *expected, *remedy;
    } rows[] = {
        {"\"model_type\": \"bert\"", "\"model_type\": \"\"", "/components/0/model_type", TN_METADATA_INVALID,
         "is no model type", "one of bert, by the schema bert/1", "describe the package again"},
        {"\"model_type\": \"bert\"", "\"model_type\": \"BERT\"", "/components/0/model_type", TN_METADATA_INVALID,
         "is no model type", "one of bert", "describe the package again"},
        {"\"model_type\": \"bert\"", "\"model_type\": \"brt\"", "/components/0/model_type", TN_METADATA_INVALID,
         "is no model type", "one of bert", "nearest name is \"bert\""},
        {"\"model_type\": \"bert\"", "\"model_type\": \"mpnet\"", "/components/0/model_type", TN_METADATA_INVALID,
         "belongs to another family", "one of bert, by the schema bert/1", "of the family mpnet/1"},
        {"\"architecture\": \"BertModel\"", "\"architecture\": \"BertModl\"", "/components/0/architecture",
         TN_METADATA_INVALID, "is no class", "BertModel", "nearest name is \"BertModel\""},
        {"\"architecture\": \"BertModel\"", "\"architecture\": \"DistilBertModel\"", "/components/0/architecture",
         TN_METADATA_INVALID, "belongs to another family", "BertModel", "of the family distilbert/1"},
        {"\"schema\": \"bert/1\"", "\"schema\": \"brt/1\"", "/components/0/schema", TN_UNKNOWN_FAMILY,
         "no family of this build", "bert/1", "nearest name is \"bert/1\""},
        {"\"schema\": \"bert/1\"", "\"schema\": \"something/1\"", "/components/0/schema", TN_UNKNOWN_FAMILY,
         "no family of this build", "distilbert/1", "describe the package again"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        REQUIRE(documents_alone());
        kit_edit(DOCUMENT, rows[i].from, rows[i].to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        KIT_EXPECT(d, TN_BLOCKER, rows[i].code, DOCUMENT, rows[i].pointer, rows[i].message, NULL, rows[i].expected,
                   rows[i].remedy);
        kit_close(d);
    }
}
