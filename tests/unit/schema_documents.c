/*
 * The documents that we print, held against the tables that `tenon schema` prints: plans of every golden package, records
 * of good and of failed qualifications, errors, described packages. A member that the code adds or forgets fails here.
 */
#define _GNU_SOURCE
#include "../../cli/app.h"
#include "api_util.h"

#include "api/api.h"
#include "base/error_table.h"
#include "describe/package_document.h"
#include "describe/standard/tables.h"
#include "plan/plan_table.h"
#include "record/record_table.h"

#include <dirent.h>
#include <unistd.h>

static const char *const names[] = {"description", "package", "hints", "plan", "record", "error"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* Checks a text; what it is, is said in a failure. */
static bool holds(const struct tn_doctype *type, const char *what, const char *text)
{
    struct tn_limits limits = tn_limits_default();
    struct tn_findings findings;
    struct tn_json_doc doc = {0};
    struct tn_alloc alloc;
    tn_alloc_init(&alloc);
    tn_findings_init(&findings, &alloc, 100);
    enum tn_status st = tn_json_parse_copy(&doc, &alloc, &limits, tn_str_of(what), tn_str_of(text), NULL);
    if (st) test_fail(__FILE__, __LINE__, "%s is not JSON", what);
    if (!st) st = tn_doctype_check(tn_json_root(&doc), type, TN_PHASE_DESCRIBE, &findings);
    for (size_t i = 0; i < findings.count; i++) {
        const struct tn_finding *f = &findings.items[i];
        test_fail(__FILE__, __LINE__, "%s: %s: %s (found %s)", what, f->element, f->message, f->found);
    }
    tn_findings_release(&findings);
    tn_json_release(&doc);
    return st == TN_OK;
}

static bool document_holds(const struct tn_doctype *type, const char *what, tn_document *document)
{
    bool good = holds(type, what, tn_document_text(document, NULL));
    tn_document_free(document);
    return good;
}

static void error_holds(const char *what, const tn_error *err)
{
    size_t n = tn_error_json(err, NULL, 0);
    char *text = malloc(n + 32), *whole = malloc(n + 64);
    tn_error_json(err, text, n + 1);
    snprintf(whole, n + 64, "{\"error\": %s}", text);
    holds(&tn_error_type, what, text);
    holds(&tn_error_document_type, what, whole);
    free(text);
    free(whole);
}

TEST(schemas_print_alike)
{
    struct api a;
    tn_document *list, *one, *two;
    REQUIRE(api_begin(&a, 1));
    REQUIRE(tn_schemas(a.runtime, &list, a.err) == TN_OK);
    for (size_t i = 0; i < NAMES; i++) {
        char quoted[64], id[64];
        const struct tn_doctype any = {.kind = TN_DOC_OBJECT, .items = &(const struct tn_doctype){.kind = TN_DOC_ANY}};
        REQUIRE(tn_schema(a.runtime, names[i], &one, a.err) == TN_OK);
        REQUIRE(tn_schema(a.runtime, names[i], &two, a.err) == TN_OK);
        CHECK_STR(tn_document_text(one, NULL), tn_document_text(two, NULL));
        snprintf(quoted, sizeof(quoted), "\"name\": \"%s\"", names[i]);
        CHECK_CONTAINS(tn_document_text(list, NULL), quoted);
        snprintf(id, sizeof(id), "\"$id\": \"urn:tenon:schema:%s\"", names[i]);
        CHECK_CONTAINS(tn_document_text(one, NULL), id);
        /* Our reader refuses duplicate keys: two types of one name would not parse. */
        holds(&any, names[i], tn_document_text(one, NULL));
        tn_document_free(one);
        tn_document_free(two);
    }
    tn_document_free(list);
    CHECK_INT(tn_schema(a.runtime, "plans", &one, a.err), TN_INVALID_REQUEST);
    CHECK(one == NULL);
    CHECK_STR(tn_error_element(a.err), "name");
    CHECK_STR(tn_error_expected(a.err), "one of description, package, hints, plan, record, error");
    CHECK_CONTAINS(tn_error_remedy(a.err), "plan");
    error_holds("unknown schema", a.err);
    CHECK_INT(tn_schema(a.runtime, NULL, &one, a.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_schema(NULL, "plan", &one, a.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_schema(a.runtime, "plan", NULL, a.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_schemas(a.runtime, NULL, a.err), TN_INVALID_REQUEST);
    api_end(&a);
}

TEST(schemas_without_memory)
{
    struct api a;
    tn_document *document;
    tn_status st = TN_INSUFFICIENT_MEMORY;
    REQUIRE(api_begin(&a, 1));
    for (uint64_t n = 1; n < 200 && st; n++) {
        tn_alloc_fail(&a.runtime->alloc, n, false);
        st = tn_schema(a.runtime, "description", &document, a.err);
        tn_alloc_fail(&a.runtime->alloc, 0, false);
        if (st) CHECK_INT(st, TN_INSUFFICIENT_MEMORY);
        CHECK((document == NULL) == (st != TN_OK));
    }
    CHECK_INT(st, TN_OK);
    tn_document_free(document);
    api_end(&a);
}

/* One golden package and task: the plan, or the error that says why there is none. */
static bool one_plan(struct api *a, const char *folder, const char *name, const char *task)
{
    char path[512], shown[600];
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    tn_document *document = NULL;
    snprintf(path, sizeof(path), "golden/%s/%s", folder, name);
    snprintf(shown, sizeof(shown), "%s/%s %s", folder, name, task);
    tn_package *package = api_open(a, test_path(path));
    if (!package) return false;
    o.task = task;
    bool planned = tn_plan_new(package, &o, &plan, a->err) == TN_OK;
    if (!planned) error_holds(shown, a->err);
    if (planned && tn_plan_json(plan, &document, a->err) == TN_OK) document_holds(&tn_plan_document_type, shown, document);
    tn_plan_free(plan);
    tn_package_free(package);
    return planned;
}

TEST(plans_of_every_golden_package_and_task)
{
    static const struct {
        const char *folder, *task;
        size_t least;
    } cases[] = {
        {"packages", "embedding.dense", 40}, {"vectors", "embedding.sparse", 10}, {"vectors", "embedding.multi", 15},
        {"heads", "classify.text", 20},      {"heads", "rerank", 12},            {"heads", "tag", 8},
        {"heads", "fill-mask", 15},          {"answers", "question-answer", 12},
    };
    struct api a;
    REQUIRE(api_begin(&a, 1));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[128];
        size_t planned = 0;
        snprintf(path, sizeof(path), "golden/%s", cases[i].folder);
        DIR *dir = opendir(test_path(path));
        REQUIRE(dir != NULL);
        for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
            if (e->d_name[0] == '.' || strstr(e->d_name, ".json")) continue;
            planned += one_plan(&a, cases[i].folder, e->d_name, cases[i].task);
        }
        closedir(dir);
        CHECK(planned >= cases[i].least);
    }
    api_end(&a);
}

TEST(descriptions_of_packages)
{
    static const char *const packages[] = {"bert_mean_normalize", "bert_dense_chain", "bert_prompt_excluded", "bert_bf16"};
    struct api a;
    REQUIRE(api_begin(&a, 1));
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
        for (int provenance = 0; provenance < 2; provenance++) {
            char path[256];
            tn_description_options o = TN_INIT(tn_description_options);
            tn_document *metadata, *content;
            o.format = "json";
            o.provenance = provenance;
            snprintf(path, sizeof(path), "golden/packages/%s", packages[i]);
            tn_package *package = api_open(&a, test_path(path));
            REQUIRE(package);
            REQUIRE(tn_package_describe(package, &o, &metadata, &content, a.err) == TN_OK);
            document_holds(&tn_standard_document_type, packages[i], metadata);
            document_holds(&tn_package_document_type, packages[i], content);
            tn_package_free(package);
        }
    }
    api_end(&a);
}

/* The record as it was returned, and as the store shows it. */
static void record_holds(tn_runtime *runtime, const char *what, tn_document *document, tn_error *err)
{
    char id[128] = "";
    tn_document *shown = NULL;
    const char *at = strstr(tn_document_text(document, NULL), "\"id\": \"");
    REQUIRE(at && sscanf(at, "\"id\": \"%127[^\"]", id) == 1);
    document_holds(&tn_record_document_type, what, document);
    REQUIRE(tn_records_show(runtime, id, &shown, err) == TN_OK);
    document_holds(&tn_record_document_type, what, shown);
}

/* Evidence against a golden of its own, of another package (fails), and of none. */
TEST(records_of_qualifications)
{
    static const char *const goldens[] = {"golden/embed/bert_mean_normalize.json", "golden/embed/bert_cased.json", NULL};
    const char *folder = test_folder();
    for (size_t i = 0; i < 3; i++) {
        tn_runtime_options r = TN_INIT(tn_runtime_options);
        tn_plan_options plan = TN_INIT(tn_plan_options);
        tn_qualify_options options = TN_INIT(tn_qualify_options);
        tn_runtime *runtime;
        tn_package *package;
        tn_document *document = NULL;
        tn_error *err = tn_error_new();
        r.threads = 1;
        r.state_folder = folder;
        REQUIRE(tn_runtime_new(&r, &runtime, err) == TN_OK);
        REQUIRE(tn_package_open(runtime, test_path("golden/packages/bert_mean_normalize"), NULL, &package, err) == TN_OK);
        plan.task = "embedding.dense";
        options.plan = &plan;
        options.golden = goldens[i] ? test_path(goldens[i]) : NULL;
        tn_status st = tn_qualify(package, &options, &document, err);
        if (st) {
            error_holds("refused qualification", err);
        } else {
            record_holds(runtime, goldens[i] ? goldens[i] : "no golden", document, err);
        }
        CHECK(i == 1 || st == TN_OK);
        tn_package_free(package);
        tn_runtime_free(runtime);
        tn_error_free(err);
    }
}

TEST(errors_of_many_kinds)
{
    struct api a;
    tn_package *package;
    tn_plan *plan;
    tn_plan_options o = TN_INIT(tn_plan_options);
    const char *folder = test_folder();
    char path[512];
    REQUIRE(api_begin(&a, 1));
    CHECK(tn_package_open(a.runtime, "/nowhere/at/all", NULL, &package, a.err) != TN_OK);
    error_holds("no package", a.err);
    snprintf(path, sizeof(path), "%s/config.json", folder);
    test_write_file(path, "{\"model_type\": \"bert\", \"bad\": 1, \"worse\": 2}", 44);
    package = api_open(&a, folder);
    REQUIRE(package);
    o.task = "embedding.dense";
    o.numeric = "f8";
    o.placement = "anywhere";
    CHECK(tn_plan_new(package, &o, &plan, a.err) != TN_OK);
    CHECK(tn_error_finding_count(a.err) > 1);
    error_holds("many findings", a.err);
    tn_package_free(package);
    api_end(&a);
}

/* The command writes its own problems without the library. */
TEST(errors_of_the_command)
{
    static struct cli cli;
    cli_begin(&cli);
    cli_refuse(&cli, TN_INVALID_REQUEST, "--batch", "a problem of \"%s\"", "quotes");
    char *text = cli_error_json(&cli, TN_INVALID_REQUEST);
    holds(&tn_error_type, "a problem of the command line", text);
    free(text);
    cli_refuse(&cli, TN_CANCELLED, NULL, "stopped");
    text = cli_error_json(&cli, TN_CANCELLED);
    holds(&tn_error_type, "a problem without an option", text);
    free(text);
    memset(&cli.problem, 0, sizeof(cli.problem));
    text = cli_error_json(&cli, TN_INSUFFICIENT_MEMORY);
    holds(&tn_error_type, "an error without a document", text);
    free(text);
}
