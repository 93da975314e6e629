/* The builder's documents in either format: the same values, places in their own file, refusals as findings or failures. */
#define _GNU_SOURCE
#include "describe_kit.h"

#include "describe/builder.h"

static struct tn_builder b;
static struct tn_json_doc doc;

static void start(const char *name, const char *text)
{
    kit_empty();
    kit_put("config.json", "{}");
    kit_put(name, text);
    kit_inventory = open_package(in_folder("%s", kit_root));
    CHECK_INT(tn_builder_init(&b, kit_inventory, &kit_options, err), TN_OK);
}

static void stop(void)
{
    tn_description_free(b.d);
    tn_builder_release(&b);
    close_package(kit_inventory);
}

static bool read_document(const char *name)
{
    return tn_builder_document(&b, tn_str_of(name), TN_JSON_OBJECT, &doc);
}

TEST(either_format)
{
    static const struct {
        const char *name, *text;
        int offset;
    } cases[] = {
        {"a.json", "{\"x\": [1, 2.5]}", 10},
        {"a.yaml", "# é\nx:\n- 1\n- 2.5\n", 14},
        {"a.yml", "{x: [1, 2.5]}", 8},
        {"a.document", "{\"x\": [1, 2.5]}", 10},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double value = 0;
        start(cases[i].name, cases[i].text);
        REQUIRE(read_document(cases[i].name));
        struct tn_json v = tn_json_find(tn_json_root(&doc), "/x/1");
        CHECK(tn_json_f64(v, &value) && value == 2.5);
        CHECK_INT(tn_json_offset(v), cases[i].offset);
        CHECK(tn_str_is(doc.file, cases[i].name));
        tn_json_release(&doc);
        CHECK_INT(b.d->findings.count, 0);
        stop();
    }
}

TEST(what_is_wrong_with_yaml_becomes_a_finding)
{
    start("a.yaml", "x: 1\nx: 2\n");
    CHECK(!read_document("a.yaml"));
    const struct tn_finding *f = find_in(&b.d->findings, TN_ARTIFACT_MALFORMED, "line 2, column 1: duplicate key", "a.yaml");
    CHECK(f && strcmp(f->element, "/x") == 0 && f->severity == TN_BLOCKER && f->phase == TN_PHASE_DESCRIBE);
    CHECK_INT(b.failed, TN_OK);
    stop();
    start("a.yaml", "- 1\n");
    CHECK(!read_document("a.yaml"));
    CHECK(find_in(&b.d->findings, TN_UNSUPPORTED_CONFIG, "a.yaml is not a YAML object", "a.yaml"));
    stop();
    /* JSON is not read as YAML, and YAML not as JSON. */
    start("a.json", "x: 1\n");
    CHECK(!read_document("a.json"));
    CHECK(find_in(&b.d->findings, TN_ARTIFACT_MALFORMED, "not valid JSON", "a.json"));
    stop();
}

TEST(absent_is_no_finding)
{
    start("a.yaml", "x: 1\n");
    CHECK(!read_document("b.yaml") && !read_document("b.json"));
    CHECK_INT(b.d->findings.count, 0);
    CHECK_INT(b.failed, TN_OK);
    stop();
}

/* A fault of the document like any other: the description goes on without it. The file is not read. */
TEST(a_large_document_is_a_limit)
{
    ctx.limits.yaml_bytes = 100;
    start("a.yaml", "x: 1\n");
    stop();
    char text[128];
    memset(text, ' ', sizeof(text));
    text[101] = 0;
    start("a.yaml", text);
    CHECK(!read_document("a.yaml"));
    CHECK_INT(b.failed, TN_OK);
    const struct tn_finding *f = tn_findings_first_blocker(&b.d->findings);
    REQUIRE(f);
    CHECK_INT(f->code, TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(f->message, "yaml_bytes");
    CHECK_STR(f->found, "101");
    CHECK_STR(f->file, "a.yaml");
    stop();
    ctx.limits = tn_limits_default();
}

TEST(failing_allocations)
{
    for (uint64_t n = 1;; n++) {
        start("a.yaml", "x: &a [1, 'b']\ny: *a\n");
        tn_alloc_fail(&alloc, n, false);
        bool read = read_document("a.yaml");
        bool hit = atomic_load(&alloc.calls) >= atomic_load(&alloc.fail_at);
        tn_alloc_fail(&alloc, 0, false);
        CHECK_INT(read, !hit);
        CHECK_INT(b.failed, hit ? TN_INSUFFICIENT_MEMORY : TN_OK);
        if (read) tn_json_release(&doc);
        stop();
        if (!hit) {
            CHECK(n > 5);
            break;
        }
    }
}
