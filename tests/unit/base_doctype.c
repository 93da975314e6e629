/* The table language: each construct takes what it should, refuses the rest at its pointer, and prints as its schema. */
#include "test.h"

#include "base/doctype_rows.h"
#include "base/findings.h"

#include <stdlib.h>
#include <time.h>

TN_DOC_ENUM_TYPE(test_colour, "Colour", "A colour.", "red", "green");
TN_DOC_OPEN_ENUM_TYPE(test_dtype, "Dtype", NULL, "float32", "int8");
TN_DOC_OBJECT_TYPE(test_point, "Point", "A point.", TN_DOC_MUST("x", TN_DOC_INT32, "Right."),
                   TN_DOC_MUST("y", TN_DOC_INT32, "Down."), TN_DOC_MAY("name", TN_DOC_NAME, NULL, "Its name."));
TN_DOC_OBJECT_TYPE(test_edge, "Edge", "A line.", TN_DOC_MUST("from", &test_point, "Start."),
                   TN_DOC_MUST("to", &test_point, "End."));
TN_DOC_CHOICE_TYPE(test_shape, "Shape", "A size, a name, a line or a point.", TN_DOC_INTEGER_TYPE("int64", 0, INT64_MAX),
                   TN_DOC_NAME, &test_edge, &test_point);
TN_DOC_CHOICE_TYPE(test_scalar, "Scalar", NULL, TN_DOC_BOOLEAN, TN_DOC_INT64, TN_DOC_DOUBLE, TN_DOC_TEXT);
extern const struct tn_doctype test_step;
TN_DOC_UNION_TYPE(test_step, "Step", "A step.", TN_DOC_BARE_VARIANT("stop", "Nothing more."),
                  TN_DOC_VARIANT("call", "A call.", TN_DOC_MUST("target", TN_DOC_NAME, "What is called.")),
                  TN_DOC_VARIANT("sequence", "Several.", TN_DOC_MUST("steps", TN_DOC_LIST_OF(&test_step), "Which.")));

static const struct tn_docfield all_fields[] = {
    TN_DOC_MUST("id", TN_DOC_NAME, "Its name."),
    TN_DOC_MAY("flag", TN_DOC_BOOLEAN, "false", "A flag."),
    TN_DOC_NULL("maybe", TN_DOC_UINT32, "A count."),
    TN_DOC_MUST_NULL("stated", TN_DOC_TEXT, "Stated, though it may be null."),
    TN_DOC_MAY("size", TN_DOC_SIZE, NULL, "At least one."),
    TN_DOC_MAY("small", TN_DOC_UINT16, NULL, "Sixteen bits."),
    TN_DOC_MAY("wide", TN_DOC_UINT64, NULL, "Sixty-four bits."),
    TN_DOC_MAY("signed", TN_DOC_INT64, NULL, "Either sign."),
    TN_DOC_MAY("ratio", TN_DOC_FLOAT_POSITIVE, NULL, "A ratio."),
    TN_DOC_MAY("value", TN_DOC_DOUBLE, NULL, "Any number."),
    TN_DOC_MAY("colour", &test_colour, "\"red\"", "Colour."),
    TN_DOC_NULL("dtype", &test_dtype, "Type."),
    TN_DOC_MAY("names", TN_DOC_SOME_OF(TN_DOC_NAME), NULL, "One or more names."),
    TN_DOC_MAY("set", TN_DOC_SET_OF_NAMES, NULL, "Different texts."),
    TN_DOC_MAY("points", TN_DOC_MAP_OF(&test_point), NULL, "Points by name."),
    TN_DOC_MAY("named", TN_DOC_NAMED(TN_DOC_BOOLEAN), NULL, "Flags by name."),
    TN_DOC_MAY("shape", &test_shape, NULL, "Shape."),
    TN_DOC_MAY("scalar", &test_scalar, NULL, "Scalar."),
    TN_DOC_MAY("step", &test_step, NULL, "Step."),
    TN_DOC_MAY("any", TN_DOC_ANYTHING, NULL, "Anything."),
    TN_DOC_MAY("nothing", TN_DOC_PLAIN(.kind = TN_DOC_NOTHING), NULL, "Null."),
    TN_DOC_OLD("old", TN_DOC_TEXT, "Use id."),
    TN_DOC_MAY("holder", TN_DOC_PLAIN(.kind = TN_DOC_OBJECT, .items = TN_DOC_UINT, .min_items = 1), NULL, "Counts."),
};
static const struct tn_docrule all_rules[] = {
    {.field = "colour", .value = "green", .required = TN_DOC_VALUES("size", "maybe"), .why = "green things have a size"},
    {.pointer = "/any", .conflict = "/holder/x", .why = "there is one of them"},
};
static const struct tn_doctype all = {
    .kind = TN_DOC_OBJECT,
    .name = "All",
    .fields = all_fields,
    .field_count = TN_DOC_COUNT(all_fields),
    .rules = all_rules,
    .rule_count = TN_DOC_COUNT(all_rules),
};

static struct tn_alloc alloc;
static struct tn_findings findings;

/* Checks a document written with ' for "; what it lacks of the required members is put in front. */
static enum tn_status check_as(const struct tn_doctype *type, const char *quoted)
{
    const struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc = {0};
    size_t n = strlen(quoted);
    char *text = malloc(n + 1);
    for (size_t i = 0; i <= n; i++) text[i] = quoted[i] == '\'' ? '"' : quoted[i];
    if (!alloc.calls) tn_alloc_init(&alloc);
    tn_findings_release(&findings);
    tn_findings_init(&findings, &alloc, 100);
    enum tn_status st = tn_json_parse(&doc, &alloc, &limits, TN_STR("d.json"), (struct tn_str){text, n}, NULL);
    if (st) test_fail(__FILE__, __LINE__, "the test's own document does not parse: %s", quoted);
    if (!st) st = tn_doctype_check(tn_json_root(&doc), type, TN_PHASE_DESCRIBE, &findings);
    tn_json_release(&doc);
    free(text);
    return st;
}

static void takes(const char *members)
{
    char text[1024];
    snprintf(text, sizeof(text), "{'id': 'a', 'stated': null%s%s}", *members ? ", " : "", members);
    if (check_as(&all, text) != TN_OK)
        test_fail(__FILE__, __LINE__, "%s: refused: %s", members, findings.count ? findings.items[0].message : "?");
}

/* Exactly these places, each with a blank after it. */
static void refuses(const char *members, const char *places)
{
    char text[1024], found[1024] = "";
    size_t n = 0;
    snprintf(text, sizeof(text), "{'id': 'a', 'stated': null, %s}", members);
    enum tn_status st = check_as(&all, text);
    for (size_t i = 0; i < findings.count; i++) {
        const struct tn_finding *f = &findings.items[i];
        if (f->severity == TN_BLOCKER) n += (size_t)snprintf(found + n, sizeof(found) - n, "%s ", f->element);
        CHECK(f->severity != TN_BLOCKER || (f->found[0] && f->expected[0]));
        CHECK_STR(f->file, "d.json");
    }
    if (strcmp(found, places) != 0) test_fail(__FILE__, __LINE__, "%s: at \"%s\", expected \"%s\"", members, found, places);
    CHECK_INT(st, TN_METADATA_INVALID);
}

static const struct tn_finding *first(void)
{
    static const struct tn_finding none;
    return findings.count ? &findings.items[0] : &none;
}

TEST(plain_values)
{
    takes("");
    takes("'flag': true, 'maybe': null, 'size': 1, 'value': 1.5e10, 'any': [1, {'x': null}], 'nothing': null");
    takes("'size': 3.0");
    refuses("'flag': 1", "/flag ");
    refuses("'flag': null", "/flag ");
    refuses("'size': 0", "/size ");
    refuses("'size': 1.5", "/size ");
    refuses("'size': '1'", "/size ");
    refuses("'size': -1", "/size ");
    refuses("'nothing': 0", "/nothing ");
    takes("'maybe': 4294967295, 'small': 65535, 'wide': 18446744073709551615, 'signed': -9223372036854775808");
    refuses("'maybe': 4294967296", "/maybe ");
    refuses("'small': 65536", "/small ");
    refuses("'wide': 18446744073709551616", "/wide ");
    refuses("'wide': 1e300", "/wide ");
    refuses("'signed': 9223372036854775808", "/signed ");
    takes("'ratio': 3e38, 'value': 1e308");
    refuses("'ratio': 4e38", "/ratio ");
    refuses("'ratio': -0.5", "/ratio ");
    refuses("'value': 1e999", "/value ");
    refuses("'value': null", "/value ");
    takes("'names': ['a'], 'set': [], 'dtype': 'float8_e8m0'");
    refuses("'names': ['']", "/names/0 ");
    refuses("'names': []", "/names ");
    refuses("'names': 'a'", "/names ");
    refuses("'dtype': 8", "/dtype ");
    refuses("'dtype': ''", "/dtype ");
    refuses("'set': ['a', 'b', 'a']", "/set/2 ");
    refuses("'set': ['a', 1]", "/set/1 ");
}

TEST(objects_maps_and_holders)
{
    takes("'points': {}");
    takes("'points': {'a/b': {'x': 1, 'y': -2}}");
    refuses("'points': {'a/b': {'x': 1, 'y': 2147483648}}", "/points/a~1b/y ");
    takes("'points': {'': {'x': 1, 'y': 2}}, 'named': {'a': true}");
    refuses("'named': {'a': true, '': true}", "/named/ ");
    refuses("'named': {'': 1}", "/named/ /named/ ");
    refuses("'points': []", "/points ");
    refuses("'points': {'p': {'x': 1}}", "/points/p/y ");
    refuses("'points': {'p': {'x': null, 'y': 1}}", "/points/p/x ");
    refuses("'points': {'p': {'x': 1, 'y': 1, 'z': 1}}", "/points/p/z ");
    takes("'holder': {'a': 1, 'b': 2}");
    refuses("'holder': {'a': -1}", "/holder/a ");
    refuses("'holder': {}", "/holder ");
    CHECK_INT(check_as(&all, "[]"), TN_METADATA_INVALID);
    CHECK_INT(check_as(&all, "{'stated': 'x'}"), TN_METADATA_INVALID);
    CHECK_STR(first()->element, "/id");
    CHECK_STR(first()->found, "nothing");
    CHECK_INT(check_as(&all, "{'id': 'x'}"), TN_METADATA_INVALID);
    CHECK_STR(first()->element, "/stated");
    CHECK_INT(tn_doctype_check((struct tn_json){0}, &all, TN_PHASE_DESCRIBE, NULL), TN_METADATA_INVALID);
}

TEST(choices)
{
    takes("'shape': 0");
    takes("'shape': 'square'");
    takes("'shape': {'x': 1, 'y': 2}");
    takes("'shape': {'from': {'x': 1, 'y': 2}, 'to': {'x': 1, 'y': 2}}");
    refuses("'shape': -1", "/shape ");
    refuses("'shape': ''", "/shape ");
    refuses("'shape': 1.5", "/shape ");
    refuses("'shape': true", "/shape ");
    /* Chosen by its required members; with none of them it is the last of the objects. */
    refuses("'shape': {'from': {'x': 1, 'y': 2}, 'to': {'x': 1}}", "/shape/to/y ");
    refuses("'shape': {'x': 1}", "/shape/y ");
    takes("'scalar': true");
    takes("'scalar': -5");
    takes("'scalar': 9223372036854775808");
    takes("'scalar': 0.5");
    takes("'scalar': ''");
    refuses("'scalar': []", "/scalar ");
    refuses("'scalar': null", "/scalar ");
}

TEST(tagged_objects)
{
    takes("'step': {'kind': 'stop'}");
    takes("'step': {'kind': 'sequence', 'steps': [{'kind': 'call', 'target': 'f'}, {'steps': [], 'kind': 'sequence'}]}");
    refuses("'step': {}", "/step/kind ");
    refuses("'step': {'kind': null}", "/step/kind ");
    refuses("'step': {'kind': 5}", "/step/kind ");
    refuses("'step': {'kind': 'cal', 'colour': 1}", "/step/kind ");
    CHECK_STR(first()->remedy, "did you mean \"call\"?");
    CHECK_STR(first()->expected, "one of \"stop\", \"call\", \"sequence\"");
    refuses("'step': {'kind': 'stop', 'target': 'f'}", "/step/target ");
    CHECK_CONTAINS(first()->message, "Step of kind \"stop\"");
    refuses("'step': {'kind': 'call'}", "/step/target ");
    refuses("'step': {'kind': 'sequence', 'steps': [{'kind': 'stop'}, {'kind': 'call', 'target': ''}]}", "/step/steps/1/target ");
    refuses("'step': 'stop'", "/step ");
}

TEST(rules)
{
    takes("'colour': 'green', 'size': 1, 'maybe': 0");
    takes("'colour': 'red'");
    refuses("'colour': 'green', 'maybe': null", "/size /maybe ");
    CHECK_CONTAINS(first()->message, "green things have a size");
    CHECK_STR(findings.items[1].found, "null");
    takes("'any': null, 'holder': {'x': 1}");
    takes("'any': 1, 'holder': {'y': 1}");
    refuses("'any': 1, 'holder': {'x': 1}", "/holder/x ");
    CHECK_CONTAINS(first()->message, "there is one of them");
}

TEST(names_that_are_near)
{
    refuses("'colur': 'red'", "/colur ");
    CHECK_STR(first()->remedy, "did you mean \"colour\"?");
    CHECK_CONTAINS(first()->message, "\"colur\" is not a member of All");
    CHECK_CONTAINS(first()->expected, "id, flag, maybe");
    refuses("'something_else': 1", "/something_else ");
    CHECK_CONTAINS(first()->remedy, "remove it");
    refuses("'colour': 'rde'", "/colour ");
    CHECK_STR(first()->remedy, "did you mean \"red\"?");
    CHECK_STR(first()->expected, "one of \"red\", \"green\"");
    refuses("'size': []", "/size ");
    CHECK_STR(first()->remedy, "\"size\": At least one.");
    CHECK_STR(first()->expected, "a whole number, 1 or more");
    CHECK_STR(first()->found, "a list of 0");
}

TEST(deprecated_members_are_noted)
{
    takes("'old': 'x'");
    CHECK_INT(findings.count, 1);
    CHECK_INT(findings.items[0].severity, TN_NOTE);
    CHECK_STR(findings.items[0].element, "/old");
    takes("'old': null");
    CHECK_INT(findings.count, 0);
}

TEST(depth_is_bounded)
{
    const struct tn_limits limits = {.json_bytes = 1 << 20, .json_depth = 1000, .json_nodes = 1 << 20, .name_bytes = 4096};
    static char text[16384];
    size_t n = 0;
    for (int i = 0; i < 200; i++) n += (size_t)snprintf(text + n, sizeof(text) - n, "{\"kind\":\"sequence\",\"steps\":[");
    n += (size_t)snprintf(text + n, sizeof(text) - n, "{\"kind\":\"stop\"}");
    for (int i = 0; i < 200; i++) n += (size_t)snprintf(text + n, sizeof(text) - n, "]}");
    struct tn_json_doc doc = {0};
    tn_alloc_init(&alloc);
    tn_findings_init(&findings, &alloc, 10);
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("d.json"), (struct tn_str){text, n}, NULL) == TN_OK);
    CHECK_INT(tn_doctype_check(tn_json_root(&doc), &test_step, TN_PHASE_DESCRIBE, &findings), TN_RESOURCE_LIMIT);
    CHECK_INT(findings.count, 1);
    CHECK_INT(first()->code, TN_RESOURCE_LIMIT);
    tn_findings_release(&findings);
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(full_lists_of_findings_are_counted)
{
    struct tn_findings two;
    const struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc = {0};
    const char *text = "{\"a\":1,\"b\":1,\"c\":1,\"d\":1}";
    tn_alloc_init(&alloc);
    tn_findings_init(&two, &alloc, 2);
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("d.json"), tn_str_of(text), NULL) == TN_OK);
    CHECK_INT(tn_doctype_check(tn_json_root(&doc), &test_point, TN_PHASE_DESCRIBE, &two), TN_METADATA_INVALID);
    CHECK_INT(two.count, 2);
    CHECK_INT(two.blockers, 6);
    CHECK_INT(two.dropped, 4);
    tn_findings_release(&two);
    tn_json_release(&doc);
}

/* ---- the printed schema ------------------------------------------------------------------------------------------------ */

static char *print(const struct tn_doctype *type, bool pretty)
{
    const struct tn_doctype_title title = {"urn:test", "Test"};
    struct tn_buf out;
    struct tn_json_writer w;
    size_t length;
    tn_alloc_init(&alloc);
    tn_buf_init(&out, &alloc, 1 << 20);
    tn_jw_init(&w, &out, pretty);
    tn_doctype_print_schema(&w, type, &title);
    CHECK_INT(tn_buf_status(&out), TN_OK);
    return tn_buf_take(&out, &length);
}

static struct tn_json in(const struct tn_json_doc *doc, const char *pointer)
{
    return tn_json_find(tn_json_root(doc), pointer);
}

static void says(const struct tn_json_doc *doc, const char *pointer, const char *expected)
{
    struct tn_str text = tn_json_text(in(doc, pointer));
    if (!tn_str_is(text, expected))
        test_fail(__FILE__, __LINE__, "%s: \"%.*s\", expected %s", pointer, (int)text.n, text.s ? text.s : "", expected);
}

TEST(schema_of_every_construct)
{
    const struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc = {0};
    char *text = print(&all, false), *again = print(&all, false);
    CHECK_STR(text, again);
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("s.json"), tn_str_of(text), NULL) == TN_OK);
    says(&doc, "/$schema", "\"https://json-schema.org/draft/2020-12/schema\"");
    says(&doc, "/$id", "\"urn:test\"");
    says(&doc, "/type", "\"object\"");
    says(&doc, "/additionalProperties", "false");
    says(&doc, "/required", "[\"id\",\"stated\"]");
    says(&doc, "/properties/id", "{\"description\":\"Its name.\",\"type\":\"string\",\"minLength\":1}");
    says(&doc, "/properties/flag", "{\"description\":\"A flag.\",\"type\":\"boolean\",\"default\":false}");
    says(&doc, "/properties/maybe",
         "{\"description\":\"A count.\",\"type\":[\"integer\",\"null\"],\"format\":\"uint32\",\"minimum\":0,\"maximum\":4294967295}");
    says(&doc, "/properties/ratio/maximum", "3.4028234663852886e+38");
    says(&doc, "/properties/value", "{\"description\":\"Any number.\",\"type\":\"number\",\"format\":\"double\"}");
    says(&doc, "/properties/colour",
         "{\"description\":\"Colour.\",\"$ref\":\"#/$defs/Colour\",\"default\":\"red\"}");
    says(&doc, "/properties/dtype/anyOf", "[{\"$ref\":\"#/$defs/Dtype\"},{\"type\":\"null\"}]");
    says(&doc, "/properties/names",
         "{\"description\":\"One or more names.\",\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1},\"minItems\":1}");
    says(&doc, "/properties/set/uniqueItems", "true");
    says(&doc, "/properties/points/additionalProperties", "{\"$ref\":\"#/$defs/Point\"}");
    says(&doc, "/properties/named/propertyNames", "{\"minLength\":1}");
    says(&doc, "/properties/points/propertyNames", "");
    says(&doc, "/properties/old/deprecated", "true");
    says(&doc, "/properties/any", "{\"description\":\"Anything.\"}");
    says(&doc, "/properties/holder/minProperties", "1");
    says(&doc, "/allOf/0/if", "{\"properties\":{\"colour\":{\"const\":\"green\"}},\"required\":[\"colour\"]}");
    says(&doc, "/allOf/0/then/required", "[\"size\",\"maybe\"]");
    says(&doc, "/$defs/Colour", "{\"description\":\"A colour.\",\"enum\":[\"red\",\"green\"]}");
    says(&doc, "/$defs/Dtype", "{\"type\":\"string\",\"minLength\":1,\"examples\":[\"float32\",\"int8\"]}");
    says(&doc, "/$defs/Step/oneOf/0",
         "{\"description\":\"Nothing more.\",\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"stop\"}},"
         "\"required\":[\"kind\"],\"additionalProperties\":false}");
    says(&doc, "/$defs/Shape/anyOf/3", "{\"$ref\":\"#/$defs/Point\"}");
    /* Sorted by name, each once. */
    static const char *const names[] = {"Colour", "Dtype", "Edge", "Point", "Scalar", "Shape", "Step"};
    size_t i = 0;
    for (struct tn_json v = tn_json_first(in(&doc, "/$defs")); tn_json_present(v); v = tn_json_next(v), i++) {
        CHECK(i < TN_DOC_COUNT(names) && tn_str_is(tn_json_key(v), names[i]));
    }
    CHECK_INT(i, TN_DOC_COUNT(names));
    tn_json_release(&doc);
    tn_free(&alloc, text);
    tn_free(&alloc, again);
}

/* A place far down a list is found without walking there, for each of them again. */
TEST(places_in_a_long_list)
{
    enum { COUNT = 100000 };
    static const char begin[] = "{\"id\":\"a\",\"stated\":null,\"names\":[";
    struct tn_alloc memory;
    struct tn_json_doc doc = {0};
    struct tn_findings list;
    struct tn_limits limits = tn_limits_default();
    char *text = malloc(sizeof(begin) + 2 * COUNT + 8), pointer[64];
    tn_alloc_init(&memory);
    tn_findings_init(&list, &memory, COUNT);
    memcpy(text, begin, sizeof(begin));
    char *at = text + sizeof(begin) - 1;
    for (size_t i = 0; i < COUNT; i++) at += sprintf(at, i ? ",7" : "7");
    strcpy(at, "]}");
    REQUIRE(tn_json_parse_copy(&doc, &memory, &limits, TN_STR("long.json"), tn_str_of(text), NULL) == TN_OK);
    clock_t before = clock();
    CHECK_INT(tn_doctype_check(tn_json_root(&doc), &all, TN_PHASE_DESCRIBE, &list), TN_METADATA_INVALID);
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    printf("    %zu findings in %.3f s\n", list.count, seconds);
    CHECK_INT(list.count, COUNT);
    CHECK(seconds < 5); /* by walking it would be minutes */
    snprintf(pointer, sizeof(pointer), "/names/%d", COUNT - 1);
    CHECK_STR(list.items[COUNT - 1].element, pointer);
    tn_findings_release(&list);
    tn_json_release(&doc);
    free(text);
}

TEST(fields_by_name)
{
    CHECK(tn_doctype_field(&all, TN_STR("size")) == &all_fields[4]);
    CHECK(tn_doctype_field(&all, TN_STR("siz")) == NULL);
}
