/*
 * What the check once let through where no declaration stood in its way: roles held against a bare graph, patterns that no
 * name can match, one mistake that was told twice, and ranges whose end was not named.
 */
#define _GNU_SOURCE
#include "describe_kit.h"

#include "describe/hints.h"
#include "describe/standard/tables.h"

#define ROLES "/pipeline/workflow/components/model/ports/roles"

/* ---- roles of a graph whose component declares no ports ------------------------------------------------------------ */

static void copy(const char *name)
{
    char path[256];
    size_t size;
    snprintf(path, sizeof(path), "golden/tensor/stateful/%s", name);
    char *p = test_read_file(test_path(path), &size);
    if (!p) return;
    put_bytes(kit_name(name), p, size);
    free(p);
}

/* The description of the package with these roles, as lines below `roles`. */
static struct tn_description *with_roles(const char *roles)
{
    char ports[512];
    kit_empty();
    copy("inference_metadata.yaml");
    copy("model.onnx");
    snprintf(ports, sizeof(ports), "          artifact: model.onnx\n        ports:\n          roles:\n%s", roles);
    kit_edit("inference_metadata.yaml", "          artifact: model.onnx\n", ports);
    return kit_describe();
}

static size_t at_roles(const struct tn_description *d)
{
    size_t count = 0;
    for (size_t i = 0; i < d->findings.count; i++)
        count += strncmp(d->findings.items[i].element, ROLES "/", strlen(ROLES "/")) == 0;
    return count;
}

TEST(a_role_is_held_against_the_graph_where_no_port_is_declared)
{
    static const struct {
        const char *roles, *place, *found;
        size_t told;
    } rows[] = {
        {"            x: inputs_embeds\n", NULL, NULL, 0},
        {"            x: logits\n", ROLES "/x", "logits of \"x\", an input of graph model.onnx", 1},
        {"            y: token_ids\n", ROLES "/y", "token_ids of \"y\", an output of graph model.onnx", 1},
        {"            x: token_ids\n", ROLES "/x", "float32", 1},
        {"            x: logits\n            y: token_ids\n", ROLES "/y", "token_ids", 2},
        {"            x: token_ids\n            count: token_ids\n", ROLES "/x", "float32", 2},
        {"            x: token_ids\n            count: token_ids\n", ROLES "/count", "after \"x\"", 2},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tn_description *d = with_roles(rows[i].roles);
        REQUIRE(d);
        if (at_roles(d) != rows[i].told) {
            test_fail(__FILE__, __LINE__, "row %zu: %zu findings", i, at_roles(d));
            print_findings(&d->findings);
        }
        if (rows[i].place)
            KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, "inference_metadata.yaml", rows[i].place, "role", rows[i].found, "");
        kit_close(d);
    }
}

/* ---- the tables ------------------------------------------------------------------------------------------------------- */

/* An empty identifier is refused where it stands, and not a second time as one that nobody knows. */
TEST(an_empty_capability_is_told_once)
{
    const struct tn_capability_need needs[] = {
        {TN_STR(""), TN_STR("a.yaml"), TN_STR("/required_capabilities/0"), NULL},
        {TN_STR("com.example.dream"), TN_STR("a.yaml"), TN_STR("/required_capabilities/1"), NULL},
    };
    struct tn_alloc own;
    struct tn_findings found;
    tn_alloc_init(&own);
    tn_findings_init(&found, &own, 10);
    tn_capabilities_check(needs, 2, TN_PHASE_DESCRIBE, &found);
    CHECK_INT(found.count, 1);
    CHECK_STR(found.items[0].element, "/required_capabilities/1");
    tn_findings_release(&found);
    CHECK_INT(tn_alloc_current(&own), 0);
}

static void expect_range(const char *document, const char *expected)
{
    const struct tn_limits limits = tn_limits_default();
    struct tn_alloc own;
    struct tn_json_doc doc = {0};
    struct tn_findings found;
    tn_alloc_init(&own);
    tn_findings_init(&found, &own, 10);
    REQUIRE(tn_json_parse_copy(&doc, &own, &limits, TN_STR("a.json"), tn_str_of(document), NULL) == TN_OK);
    CHECK_INT(tn_standard_check_tables(tn_json_root(&doc), &found), TN_METADATA_INVALID);
    CHECK_INT(found.count, 1);
    CHECK_STR(found.items[0].element, "/model/vocab_size");
    CHECK_STR(found.items[0].expected, expected);
    tn_findings_release(&found);
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&own), 0);
}

TEST(a_number_beyond_the_range_is_told_its_end)
{
    expect_range("{\"model\": {\"vocab_size\": 18446744073709551616}}", "a whole number from 1 to 18446744073709551615");
    expect_range("{\"model\": {\"vocab_size\": 1e30}}", "a whole number from 1 to 18446744073709551615");
    expect_range("{\"model\": {\"vocab_size\": -1}}", "a whole number, 1 or more");
}

/* ---- hints ------------------------------------------------------------------------------------------------------------ */

TEST(a_pattern_with_a_nul_is_refused)
{
    static const char text[] = "{\"placement\": [{\"selector\": {\"pattern\": \"a\\u0000*\"}, \"device\": {\"type\": \"cpu\"}}]}";
    const struct tn_limits limits = tn_limits_default();
    struct tn_alloc own;
    struct tn_json_doc doc = {0};
    struct tn_findings found;
    tn_alloc_init(&own);
    tn_findings_init(&found, &own, 10);
    REQUIRE(tn_json_parse_copy(&doc, &own, &limits, TN_STR("hints.json"), tn_str_of(text), NULL) == TN_OK);
    CHECK_INT(tn_hints_check(tn_json_root(&doc), &found), TN_METADATA_INVALID);
    CHECK_INT(found.count, 1);
    CHECK_STR(found.items[0].element, "/placement/0/selector/pattern");
    tn_findings_release(&found);
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&own), 0);
}
