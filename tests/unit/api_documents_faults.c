/*
 * One fault, one finding: a size that contradicts the weights is told once, with how many tensors say otherwise; the place of
 * a module in its list changes nothing; and a fault of the convention's files hides no contradiction, which names both places.
 */
#define _GNU_SOURCE
#include "documents_tree.h"

#define PACKAGE "golden/packages/bert_mean_normalize"

static char *checked(struct api *a, const char *folder)
{
    tn_package *package = api_open(a, folder);
    tn_document *document = NULL;
    char *copy = NULL;
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_decision decision;
    o.task = "embedding.dense";
    if (package && tn_assess(package, &o, &decision, &document, a->err) == TN_OK) copy = strdup(tn_document_text(document, NULL));
    tn_document_free(document);
    tn_package_free(package);
    return copy;
}

static unsigned times(const char *text, const char *part)
{
    unsigned n = 0;
    for (const char *at = text ? strstr(text, part) : NULL; at; at = strstr(at + 1, part)) n++;
    return n;
}

TEST(a_wrong_size_is_one_finding)
{
    static const struct {
        const char *from, *to, *message;
    } rows[] = {
        {"\"intermediate_size\": 64", "\"intermediate_size\": 65", "6 tensors whose shape does not fit intermediate_size"},
        {"\"hidden_size\": 32", "\"hidden_size\": 64", "shape does not fit hidden_size"},
    };
    struct api a;
    REQUIRE(api_begin(&a, 1));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char folder[PATH];
        snprintf(folder, sizeof(folder), "%s/size %zu", test_folder(), i);
        copy_tree(test_path(PACKAGE), folder, true);
        edit(folder, "config.json", rows[i].from, rows[i].to);
        char *text = checked(&a, folder);
        CHECK_CONTAINS(text, rows[i].message);
        CHECK_INT(times(text, "\"code\": \"tensor_mismatch\""), 2); /* in the list of all, and under its provider */
        free(text);
    }
    api_end(&a);
}

static char *inspected(struct api *a, const char *folder)
{
    tn_package *package = api_open(a, folder);
    tn_document *document = NULL;
    char *copy = NULL;
    if (package && tn_package_inspect(package, &document, a->err) == TN_OK) copy = strdup(tn_document_text(document, NULL));
    tn_document_free(document);
    tn_package_free(package);
    return copy;
}

TEST(a_fault_of_the_convention_hides_no_length)
{
    struct api a;
    char folder[PATH];
    REQUIRE(api_begin(&a, 1));
    snprintf(folder, sizeof(folder), "%s/length", test_folder());
    copy_tree(test_path(PACKAGE), folder, true);
    put(folder, "sentence_bert_config.json", "{\"max_seq_length\": 16, \"do_lower_case\": false}");
    describe_into(&a, folder, folder, "json", false);
    put(folder, "sentence_bert_config.json", "{\"max_seq_length\": 9, \"do_lower_case\": false}");
    static const char found[] = "16 in the contract, 9 by sentence_bert_config.json#/max_seq_length";
    char *text = inspected(&a, folder);
    CHECK_CONTAINS(text, found);
    free(text);
    edit(folder, "config.json", "{", "{\"colour\": 1,");
    text = inspected(&a, folder);
    CHECK_CONTAINS(text, found);
    free(text);
    put(folder, "config.json", "{\"cut\": ");
    text = inspected(&a, folder);
    CHECK_CONTAINS(text, found);
    free(text);
    api_end(&a);
}

/* The verdict of a package holds the tensors of its encoder by name and shape, and the head's among them. */
TEST(a_package_without_its_tensors_is_not_valid)
{
    static const struct {
        const char *from, *to, *part;
    } rows[] = {
        {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 7", "\"missing_tensor\""},
        {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1", "\"unexpected_tensor\""},
        {"\"intermediate_size\": 64", "\"intermediate_size\": 65", "\"tensor_mismatch\""},
        {"\"intermediate_size\": 64", "\"intermediate_size\": 64", NULL},
    };
    struct api a;
    REQUIRE(api_begin(&a, 1));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char folder[PATH];
        tn_document *verdict = NULL;
        int valid = 0;
        snprintf(folder, sizeof(folder), "%s/tensors %zu", test_folder(), i);
        copy_tree(test_path(PACKAGE), folder, false);
        describe_into(&a, test_path(PACKAGE), folder, "json", false);
        edit(folder, "tenon_package.json", rows[i].from, rows[i].to);
        tn_package *package = api_open(&a, folder);
        REQUIRE(package);
        CHECK_INT(tn_package_validate(package, &valid, &verdict, a.err), TN_OK);
        const char *text = tn_document_text(verdict, NULL);
        CHECK_INT(valid, rows[i].part == NULL);
        if (rows[i].part) {
            CHECK_CONTAINS(text, rows[i].part);
            CHECK_CONTAINS(text, "\"identity\": null");
        }
        tn_document_free(verdict);
        tn_package_free(package);
    }
    api_end(&a);
}
