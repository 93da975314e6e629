/*
 * A described package that is described again: the same two documents, byte for byte, beside the files of its convention
 * and without them, with the origins of its values and without. For every package that the goldens have, those among them
 * of which much is left open; and graphs, which run from their documents like every other package.
 */
#define _GNU_SOURCE
#include "documents_tree.h"

static const char *const families[] = {"golden/packages", "golden/heads", "golden/vectors", "golden/answers",
                                       "golden/genai/packages"};

/* ---- documents ------------------------------------------------------------------------------------------------------- */

struct pair {
    char *metadata, *content;
};

static struct pair describe(struct api *a, const char *path, const char *format, bool provenance)
{
    struct pair out = {NULL, NULL};
    tn_package *package = api_open(a, path);
    tn_document *metadata = NULL, *content = NULL;
    tn_description_options o = TN_INIT(tn_description_options);
    o.format = format;
    o.provenance = provenance;
    if (package && tn_package_describe(package, &o, &metadata, &content, a->err) == TN_OK) {
        out.metadata = strdup(tn_document_text(metadata, NULL));
        out.content = strdup(tn_document_text(content, NULL));
    }
    tn_document_free(metadata);
    tn_document_free(content);
    tn_package_free(package);
    return out;
}

static void release(struct pair *p)
{
    free(p->metadata);
    free(p->content);
}

static void put_pair(const char *folder, const struct pair *p, const char *format)
{
    char name[64];
    snprintf(name, sizeof(name), "inference_metadata.%s", format);
    put(folder, name, p->metadata);
    put(folder, "tenon_package.json", p->content);
}

/* The first line in which two texts differ, for a person. */
static void show_difference(const char *what, const char *a, const char *b)
{
    size_t line = 0, i = 0;
    while (a[i] && a[i] == b[i]) {
        i++;
        if (a[i - 1] == '\n') line = i;
    }
    if (!a[i] && !b[i]) return;
    test_fail(__FILE__, __LINE__, "%s: \"%.*s\", and again \"%.*s\"", what, (int)strcspn(a + line, "\n"), a + line,
              (int)strcspn(b + line, "\n"), b + line);
}

static void check_again(struct api *a, const char *folder, const struct pair *first, const char *format, bool provenance)
{
    struct pair again = describe(a, folder, format, provenance);
    if (!again.content) {
        test_fail(__FILE__, __LINE__, "%s: %s", folder, tn_error_message(a->err));
        return;
    }
    show_difference(folder, first->metadata, again.metadata);
    show_difference(folder, first->content, again.content);
    release(&again);
}

/* ---- every package --------------------------------------------------------------------------------------------------- */

/* `configuration`: whether the convention's own files stay. False: the package has no description. */
static bool fixed_point(struct api *a, const char *path, const char *name, const char *format, bool configuration,
                        bool provenance)
{
    char folder[PATH];
    struct pair first = describe(a, path, format, provenance);
    if (!first.content) return false;
    snprintf(folder, sizeof(folder), "%s/%s %d", test_folder(), name, configuration);
    copy_tree(path, folder, configuration);
    put_pair(folder, &first, format);
    check_again(a, folder, &first, format, provenance);
    release(&first);
    return true;
}

TEST(a_described_package_described_again)
{
    struct api a;
    unsigned described = 0;
    REQUIRE(api_begin(&a, 1));
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        char folder[PATH];
        snprintf(folder, sizeof(folder), "%s", test_path(families[i]));
        DIR *dir = opendir(folder);
        struct dirent *entry;
        REQUIRE(dir);
        while ((entry = readdir(dir))) {
            char path[PATH + 256];
            struct stat st;
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            if (entry->d_name[0] == '.' || stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) continue;
            const char *format = described % 2 ? "json" : "yaml";
            described += fixed_point(&a, path, entry->d_name, format, true, described % 4 < 2);
            described += fixed_point(&a, path, entry->d_name, format, false, described % 4 >= 2);
        }
        closedir(dir);
    }
    CHECK(described >= 400);
    api_end(&a);
}

/* ---- origins --------------------------------------------------------------------------------------------------------- */

#define PACKAGE "golden/packages/bert_mean_normalize"

static bool contains(const char *text, const char *a, const char *b)
{
    const char *at = text ? strstr(text, a) : NULL;
    return at && strstr(at, b) && strstr(at, b) - at < 200;
}

TEST(origins_are_handed_on_as_long_as_they_hold)
{
    struct api a;
    char folder[PATH];
    REQUIRE(api_begin(&a, 1));
    snprintf(folder, sizeof(folder), "%s/origins", test_folder());
    copy_tree(test_path(PACKAGE), folder, false);
    describe_into(&a, test_path(PACKAGE), folder, "json", true);
    struct pair again = describe(&a, folder, "json", true);
    CHECK_CONTAINS(again.content, "\"dialect\": \"sentence_transformers\"");
    CHECK(contains(again.content, "\"name\": \"encoder.hidden_act\"", "\"file\": \"config.json\""));
    release(&again);
    /* What somebody edited came from the document; what stands beside it did not. */
    edit(folder, "tenon_package.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"relu\"");
    again = describe(&a, folder, "json", true);
    CHECK(contains(again.content, "\"name\": \"encoder.hidden_act\"", "\"file\": \"tenon_package.json\""));
    CHECK(contains(again.content, "\"name\": \"encoder.hidden_size\"", "\"file\": \"config.json\""));
    release(&again);
    /* Without the option they are not written, and a document without them has none to hand on. */
    again = describe(&a, folder, "json", false);
    CHECK(again.content && !strstr(again.content, "provenance"));
    put_pair(folder, &again, "json");
    release(&again);
    again = describe(&a, folder, "json", true);
    CHECK(contains(again.content, "\"name\": \"encoder.hidden_size\"", "\"file\": \"tenon_package.json\""));
    release(&again);
    api_end(&a);
}

/* What is found out by the documents and left open in neither of them stays a refusal. */
TEST(what_a_document_gets_wrong_is_left_open)
{
    struct api a;
    char folder[PATH];
    REQUIRE(api_begin(&a, 1));
    snprintf(folder, sizeof(folder), "%s/unknown", test_folder());
    copy_tree(test_path(PACKAGE), folder, false);
    describe_into(&a, test_path(PACKAGE), folder, "json", false);
    edit(folder, "tenon_package.json", "\"schema\": \"bert/1\"", "\"schema\": \"bert/9\"");
    struct pair first = describe(&a, folder, "json", false);
    REQUIRE(first.content);
    CHECK_CONTAINS(first.content, "\"code\": \"unknown_family\"");
    put_pair(folder, &first, "json");
    check_again(&a, folder, &first, "json", false);
    release(&first);
    api_end(&a);
}

/* ---- graphs ---------------------------------------------------------------------------------------------------------- */

static tn_status plan_id(struct api *a, const char *path, char *id, size_t cap)
{
    tn_package *package = api_open(a, path);
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    tn_document *document = NULL;
    o.task = "tensor";
    id[0] = 0;
    if (!package) return TN_ARTIFACT_MISSING;
    tn_status status = tn_plan_new(package, &o, &plan, a->err);
    if (!status && tn_plan_json(plan, &document, a->err) == TN_OK) {
        const char *at = strstr(tn_document_text(document, NULL), "\"id\": \"");
        if (at) snprintf(id, cap, "%.64s", at + 7);
    }
    tn_document_free(document);
    tn_plan_free(plan);
    tn_package_free(package);
    return status;
}

static void graph_folder(char *folder, const char *name, const char *graph)
{
    char target[PATH + 32], source[PATH];
    snprintf(source, sizeof(source), "%s", test_path(graph));
    snprintf(folder, PATH, "%s/%s", test_folder(), name);
    mkdir(folder, 0700);
    snprintf(target, sizeof(target), "%s/model.onnx", folder);
    copy_file(source, target);
}

TEST(a_graph_runs_from_its_documents)
{
    struct api a;
    char folder[PATH], own[80], declared[80];
    REQUIRE(api_begin(&a, 1));
    graph_folder(folder, "graph", "golden/tensor/add.onnx");
    CHECK_INT(plan_id(&a, folder, own, sizeof(own)), TN_OK);
    struct pair first = describe(&a, folder, "json", false);
    REQUIRE(first.content);
    put_pair(folder, &first, "json");
    check_again(&a, folder, &first, "json", false);
    CHECK_INT(plan_id(&a, folder, declared, sizeof(declared)), TN_OK);
    CHECK_STR(declared, own);
    CHECK_INT(strlen(own), 64);
    release(&first);
    api_end(&a);
}
