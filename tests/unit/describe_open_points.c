/*
 * What a build does not execute is no open point of a package: described and validated again, imports hold. What is open
 * keeps the place that it was found at, and entries of documents from before, without a place, are read as ever.
 */
#include "genai_kit.h"

#include "describe/serial.h"
#include "describe/validate.h"

#define CONTRACT "inference_metadata.yaml"
#define CONTENT "tenon_package.json"

/* Puts the documents of the package as it stands beside it; the text of the content is copied to *text (free). */
static bool put_documents(char **text)
{
    struct tn_serial_options serial = {.yaml = true, .provenance = true};
    struct tn_buf metadata, content;
    struct tn_description *d = kit_describe();
    if (!d) return false;
    tn_buf_init(&metadata, &alloc, 1 << 22);
    tn_buf_init(&content, &alloc, 1 << 22);
    tn_error_clear(err);
    bool ok = tn_description_documents(d, &serial, &metadata, &content, err) == TN_OK;
    if (ok) {
        kit_put(CONTRACT, metadata.data);
        kit_put(CONTENT, content.data);
        *text = strdup(content.data);
    }
    tn_buf_release(&metadata);
    tn_buf_release(&content);
    kit_close(d);
    return ok;
}

static void expect_valid(const char *package)
{
    struct tn_validation v;
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    tn_error_clear(err);
    if (tn_validate_package(d, &v, err) != TN_OK) {
        test_fail(__FILE__, __LINE__, "%s: %s", package, err->primary.message);
    } else {
        if (v.findings.blockers) test_fail(__FILE__, __LINE__, "%s is not valid", package), print_findings(&v.findings);
        tn_validation_release(&v);
    }
    kit_close(d);
}

static void round_trip(const char *package, bool original)
{
    char *first = NULL, *again = NULL;
    if (!put_documents(&first)) {
        test_fail(__FILE__, __LINE__, "%s: %s", package, err->primary.message);
        return;
    }
    CHECK_CONTAINS(first, "\"undetermined\": []");
    if (!original) kit_remove(DOCUMENT);
    kit_options.accept_loss = false;
    expect_valid(package);
    if (put_documents(&again)) CHECK_STR(again, first);
    else test_fail(__FILE__, __LINE__, "%s: %s", package, err->primary.message);
    free(first);
    free(again);
}

TEST(a_package_of_the_standard_stays_valid)
{
    static const char *const names[] = {"decoder", "masked"};
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        kit_empty();
        snprintf(path, sizeof(path), "golden/standard/packages/%s", names[i]);
        copy_folder(test_path(path), "");
        expect_valid(names[i]);
        round_trip(names[i], true);
    }
}

TEST(an_import_is_valid)
{
    static const char *const names[] = {"plain", "combined", "shared_buffer", "windows", "hybrid", "defaults",
                                        "speech_to_text", "pictures", "stages", "as_built"};
    for (size_t i = 0; i < 2 * sizeof(names) / sizeof(names[0]); i++) {
        genai_new(names[i / 2]);
        kit_options.accept_loss = true;
        round_trip(names[i / 2], i % 2 == 0);
    }
}

/* A convention's own document: file and pointer of the field, and again from the written document. */
TEST(an_open_point_keeps_its_place)
{
    char *first = NULL, *again = NULL;
    kit_new();
    kit_edit("config.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"swoosh\"");
    REQUIRE(put_documents(&first));
    CHECK_CONTAINS(first, "\"file\": \"config.json\"");
    CHECK_CONTAINS(first, "\"pointer\": \"/hidden_act\"");
    REQUIRE(put_documents(&again));
    CHECK_STR(again, first);
    free(first);
    free(again);
}

TEST(an_entry_without_a_place_is_read)
{
    char *first = NULL;
    genai_new("plain");
    REQUIRE(put_documents(&first));
    free(first);
    kit_edit(CONTENT, "\"undetermined\": []",
             "\"undetermined\": [{\"code\": \"provider_unavailable\", \"reason\": \"nobody runs it\", \"file\": \"x\"}]");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_PROVIDER_UNAVAILABLE, CONTENT, "/undetermined/0", "left undetermined: nobody runs it");
    kit_close(d);
}
