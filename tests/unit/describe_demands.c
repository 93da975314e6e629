/*
 * Demands on the machine and the generation contract, as the inference-metadata proposal has them: a minimum blocks, a
 * benefit is a note; the package's defaults are authoritative, and a request may set what is exposed, inside its bounds.
 */
#include "describe/generation.h"
#include "describe/hardware.h"
#include "test.h"

#include "base/json_write.h"

#include <stdlib.h>

struct kit {
    struct tn_alloc alloc;
    struct tn_limits limits;
    struct tn_arena arena;
    struct tn_findings findings;
    struct tn_json_doc doc, request;
    struct tn_error *err;
};

static void begin(struct kit *k)
{
    memset(k, 0, sizeof(*k));
    tn_alloc_init(&k->alloc);
    k->limits = tn_limits_default();
    tn_arena_init(&k->arena, &k->alloc);
    tn_findings_init(&k->findings, &k->alloc, 100);
    k->err = calloc(1, sizeof(*k->err));
}

static void end(struct kit *k)
{
    tn_json_release(&k->doc);
    tn_json_release(&k->request);
    tn_findings_release(&k->findings);
    tn_arena_release(&k->arena);
    CHECK_INT(tn_alloc_current(&k->alloc), 0);
    free(k->err);
}

static struct tn_json parsed(struct kit *k, struct tn_json_doc *doc, const char *text)
{
    if (tn_json_parse(doc, &k->alloc, &k->limits, TN_STR("a.yaml"), tn_str_of(text), k->err) != TN_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", text, k->err->primary.message);
    return tn_json_root(doc);
}

/* ---- hardware ---- */

static const char *const types[] = {"float32", "float16", NULL};
#define GIB (UINT64_C(1) << 30)

static void hold(struct kit *k, const char *text, struct tn_hardware_facts facts)
{
    struct tn_hardware h;
    begin(k);
    CHECK_INT(tn_hardware_read(tn_json_get(parsed(k, &k->doc, text), "hardware_requirements"), &k->arena, &h, k->err), TN_OK);
    tn_hardware_check(&h, &facts, TN_PHASE_ASSESS, &k->findings);
}

static const struct tn_hardware_facts small = {8 * GIB, 0, types, 1};

TEST(nothing_demanded)
{
    struct kit k;
    hold(&k, "{}", small);
    CHECK_INT(k.findings.count, 0);
    end(&k);
    hold(&k, "{\"hardware_requirements\": {}}", small);
    CHECK_INT(k.findings.count, 0);
    end(&k);
}

TEST(a_minimum_of_memory)
{
    struct kit k;
    hold(&k, "{\"hardware_requirements\": {\"min_memory_gb\": 8}}", small);
    CHECK_INT(k.findings.count, 0);
    end(&k);
    hold(&k, "{\"hardware_requirements\": {\"min_memory_gb\": 8.5}}", small);
    REQUIRE(k.findings.count == 1);
    CHECK_INT(k.findings.items[0].severity, TN_BLOCKER);
    CHECK_INT(k.findings.items[0].code, TN_RESOURCE_LIMIT);
    CHECK_STR(k.findings.items[0].file, "a.yaml");
    CHECK_STR(k.findings.items[0].element, "/hardware_requirements/min_memory_gb");
    CHECK_CONTAINS(k.findings.items[0].found, "8 GiB in this machine");
    CHECK_CONTAINS(k.findings.items[0].expected, "8.5 GiB");
    end(&k);
    /* The caller's limit is what there is. */
    hold(&k, "{\"hardware_requirements\": {\"min_memory_gb\": 4}}", (struct tn_hardware_facts){8 * GIB, 2 * GIB, types, 1});
    REQUIRE(k.findings.count == 1);
    CHECK_INT(k.findings.items[0].code, TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(k.findings.items[0].found, "2 GiB by the limit");
    end(&k);
    /* A limit above the machine gives it no memory. */
    hold(&k, "{\"hardware_requirements\": {\"min_memory_gb\": 12}}", (struct tn_hardware_facts){8 * GIB, 16 * GIB, types, 1});
    REQUIRE(k.findings.count == 1);
    CHECK_CONTAINS(k.findings.items[0].found, "in this machine");
    end(&k);
    /* Unknown is neither enough nor too little. */
    hold(&k, "{\"hardware_requirements\": {\"min_memory_gb\": 1}}", (struct tn_hardware_facts){0, 0, types, 1});
    REQUIRE(k.findings.count == 1);
    CHECK_INT(k.findings.items[0].severity, TN_NOTE);
    end(&k);
}

TEST(number_types)
{
    struct kit k;
    hold(&k, "{\"hardware_requirements\": {\"required_dtypes\": [\"float32\", \"int4\", \"float8_e5m2\"], "
             "\"beneficial_dtypes\": [\"float16\", \"bfloat16\"]}}", small);
    REQUIRE(k.findings.count == 3);
    CHECK_INT(k.findings.blockers, 2);
    CHECK_INT(k.findings.items[0].code, TN_MISSING_CAPABILITY);
    CHECK_STR(k.findings.items[0].element, "/hardware_requirements/required_dtypes/1");
    CHECK_CONTAINS(k.findings.items[0].expected, "float32, float16");
    CHECK_STR(k.findings.items[1].element, "/hardware_requirements/required_dtypes/2");
    CHECK_INT(k.findings.items[2].severity, TN_NOTE);
    CHECK_STR(k.findings.items[2].element, "/hardware_requirements/beneficial_dtypes/1");
    end(&k);
}

TEST(a_degree_of_parallelism)
{
    struct kit k;
    hold(&k, "{\"hardware_requirements\": {\"min_tp_degree\": 1, \"supports_tensor_parallel\": true}}", small);
    CHECK_INT(k.findings.count, 0);
    end(&k);
    hold(&k, "{\"hardware_requirements\": {\"min_tp_degree\": 2}}", small);
    struct tn_hardware_facts whole = small;
    whole.tp_degree = 0;
    end(&k);
    hold(&k, "{\"hardware_requirements\": {\"min_tp_degree\": 1}}", whole);
    CHECK_INT(k.findings.count, 0);
    end(&k);
    hold(&k, "{\"hardware_requirements\": {\"min_tp_degree\": 2}}", small);
    REQUIRE(k.findings.count == 1); /* the degree binds where tensor parallelism is selected */
    CHECK_INT(k.findings.items[0].severity, TN_NOTE);
    CHECK_STR(k.findings.items[0].element, "/hardware_requirements/min_tp_degree");
    end(&k);
    hold(&k, "{\"hardware_requirements\": {\"min_tp_degree\": 4}}", (struct tn_hardware_facts){8 * GIB, 0, types, 2});
    REQUIRE(k.findings.count == 1);
    CHECK_INT(k.findings.items[0].severity, TN_BLOCKER);
    CHECK_INT(k.findings.items[0].code, TN_MISSING_CAPABILITY);
    CHECK_STR(k.findings.items[0].element, "/hardware_requirements/min_tp_degree");
    CHECK_CONTAINS(k.findings.items[0].expected, "at least 4");
    end(&k);
    hold(&k, "{\"hardware_requirements\": {\"min_tp_degree\": 2}}", (struct tn_hardware_facts){8 * GIB, 0, types, 2});
    CHECK_INT(k.findings.count, 0);
    end(&k);
}

TEST(all_unmet_minimums_are_listed)
{
    struct kit k;
    struct tn_hardware_facts two = small;
    two.tp_degree = 2;
    hold(&k, "{\"hardware_requirements\": {\"min_tp_degree\": 3, \"min_memory_gb\": 900, \"required_dtypes\": [\"int8\"]}}", two);
    CHECK_INT(k.findings.blockers, 3);
    end(&k);
    /* However long the list is, its last member counts. */
    char text[2048] = "{\"hardware_requirements\": {\"required_dtypes\": [";
    for (int i = 0; i < 100; i++) strcat(text, "\"float32\", ");
    strcat(text, "\"int4\"]}}");
    hold(&k, text, small);
    CHECK_INT(k.findings.blockers, 1);
    CHECK_STR(k.findings.items[0].element, "/hardware_requirements/required_dtypes/100");
    end(&k);
}

/* ---- generation ---- */

static const char contract[] =
    "{\"defaults\": {\"do_sample\": true, \"temperature\": 0.6, \"top_p\": null, \"max_length\": 100}, \"overrides\": {"
    "\"temperature\": {\"input\": \"request.temperature\", \"constraint\": {\"minimum\": 0, \"maximum\": 2}}, "
    "\"top_k\": {\"input\": \"request.top_k\"}, \"num_beams\": {\"input\": \"b\", \"constraint\": {\"minimum\": 1, \"maximum\": null}}, "
    "\"seed\": {\"input\": \"request.seed\", \"constraint\": {\"maximum\": 10}}, \"style\": {\"input\": \"s\"}}}";

static const struct tn_generation_default application[] = {{"temperature", "1"}, {"top_p", "0.9"}, {"do_sample", "false"}};

static enum tn_status ask(struct kit *k, const char *request, struct tn_generation_options *out)
{
    struct tn_generation g;
    struct tn_json r = {0};
    begin(k);
    CHECK_INT(tn_generation_read(parsed(k, &k->doc, contract), &k->arena, &k->findings, &g, k->err), TN_OK);
    CHECK_INT(k->findings.count, 0);
    if (request) r = parsed(k, &k->request, request);
    return tn_generation_resolve(&g, application, 3, r, &k->arena, &k->findings, out, k->err);
}

static const struct tn_option *option(const struct tn_generation_options *o, const char *name)
{
    for (size_t i = 0; i < o->count; i++) {
        if (strcmp(o->items[i].name, name) == 0) return &o->items[i];
    }
    return NULL;
}

static void expect(const struct tn_generation_options *o, const char *name, enum tn_choice_origin origin, const char *value,
                   uint32_t layers)
{
    const struct tn_option *found = option(o, name);
    if (!found) {
        test_fail(__FILE__, __LINE__, "no option %s", name);
        return;
    }
    struct tn_statement s = tn_option_effective(found);
    if (s.origin != origin || !tn_str_is(s.value, value) || found->count != layers)
        test_fail(__FILE__, __LINE__, "%s: %.*s by %s in %u layers", name, (int)s.value.n, s.value.s,
                  tn_choice_origin_name(s.origin), found->count);
}

TEST(package_defaults_are_authoritative)
{
    struct kit k;
    struct tn_generation_options o;
    REQUIRE(ask(&k, NULL, &o) == TN_OK);
    CHECK_INT(k.findings.count, 0);
    expect(&o, "do_sample", TN_CHOICE_PACKAGE, "true", 2);  /* over the application's false */
    expect(&o, "temperature", TN_CHOICE_PACKAGE, "0.6", 2);
    expect(&o, "max_length", TN_CHOICE_PACKAGE, "100", 1);
    expect(&o, "top_p", TN_CHOICE_DEFAULT, "0.9", 1);       /* the package is silent: null is nothing */
    expect(&o, "top_k", TN_CHOICE_DEFAULT, "null", 0);      /* exposed, and nobody says anything */
    struct tn_statement s = tn_option_effective(option(&o, "temperature"));
    CHECK(tn_str_is(s.file, "a.yaml"));
    CHECK(tn_str_is(s.pointer, "/defaults/temperature"));
    end(&k);
}

TEST(overrides_inside_their_bounds)
{
    struct kit k;
    struct tn_generation_options o;
    REQUIRE(ask(&k, "{\"temperature\": 2, \"top_k\": 40, \"num_beams\": 1, \"seed\": -7, \"style\": \"dry\"}", &o) == TN_OK);
    CHECK_INT(k.findings.count, 0);
    expect(&o, "temperature", TN_CHOICE_REQUEST, "2", 3);
    expect(&o, "top_k", TN_CHOICE_REQUEST, "40", 1);
    expect(&o, "seed", TN_CHOICE_REQUEST, "-7", 1);
    expect(&o, "style", TN_CHOICE_REQUEST, "\"dry\"", 1);
    expect(&o, "do_sample", TN_CHOICE_PACKAGE, "true", 2);
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, &k.alloc, 1 << 16);
    tn_jw_init(&w, &text, false);
    tn_jw_begin_object(&w);
    tn_option_write(&w, option(&o, "temperature"));
    tn_jw_end_object(&w);
    CHECK_STR(text.data, "{\"temperature\":{\"origin\":\"request\",\"value\":2,\"overrides\":[{\"origin\":\"package\",\"value\":0.6,"
                         "\"file\":\"a.yaml\",\"pointer\":\"/defaults/temperature\"},{\"origin\":\"default\",\"value\":1}]}}");
    tn_buf_release(&text);
    end(&k);
}

TEST(a_null_override_asks_for_nothing)
{
    struct kit k;
    struct tn_generation_options o;
    REQUIRE(ask(&k, "{\"temperature\": null, \"max_length\": null}", &o) == TN_OK);
    CHECK_INT(k.findings.count, 0);
    expect(&o, "temperature", TN_CHOICE_PACKAGE, "0.6", 2);
    end(&k);
}

TEST(overrides_that_are_refused)
{
    static const struct {
        const char *request, *option;
        enum tn_status code;
        const char *words;
    } rows[] = {
        {"{\"max_length\": 5}", "max_length", TN_UNSUPPORTED_OPTION, "temperature, top_k, num_beams, seed, style"},
        {"{\"top_p\": 0.5}", "top_p", TN_UNSUPPORTED_OPTION, "one of"},
        {"{\"temprature\": 0.5}", "temprature", TN_UNSUPPORTED_OPTION, "one of"},
        {"{\"temperature\": 2.0001}", "temperature", TN_UNSUPPORTED_OPTION, "0 to 2"},
        {"{\"temperature\": -1e-9}", "temperature", TN_UNSUPPORTED_OPTION, "#/overrides/temperature"},
        {"{\"num_beams\": 0}", "num_beams", TN_UNSUPPORTED_OPTION, "at least 1"},
        {"{\"seed\": 11}", "seed", TN_UNSUPPORTED_OPTION, "at most 10"},
        {"{\"temperature\": \"hot\"}", "temperature", TN_INVALID_REQUEST, "a number"},
        {"{\"temperature\": 1e999}", "temperature", TN_INVALID_REQUEST, "a number"},
        {"{\"top_k\": 1.5}", "top_k", TN_INVALID_REQUEST, "whole number"},
        {"{\"top_k\": -1}", "top_k", TN_INVALID_REQUEST, "whole number"},
        {"{\"top_k\": true}", "top_k", TN_INVALID_REQUEST, "whole number"},
        {"{\"style\": {}}", "style", TN_INVALID_REQUEST, "single value"},
        {"{\"seed\": \"7\"}", "seed", TN_INVALID_REQUEST, "a number"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct kit k;
        struct tn_generation_options o;
        CHECK_INT(ask(&k, rows[i].request, &o), TN_OK);
        CHECK_INT(k.findings.blockers, 1);
        const struct tn_finding *f = tn_findings_first_blocker(&k.findings);
        if (!f || f->code != rows[i].code || strcmp(f->element, rows[i].option) != 0 || !strstr(f->expected, rows[i].words))
            test_fail(__FILE__, __LINE__, "%s: %s at %s, expected \"%s\"", rows[i].request, f ? tn_status_name(f->code) : "taken",
                      f ? f->element : "", f ? f->expected : "");
        end(&k);
    }
}

TEST(every_refused_override_is_listed)
{
    struct kit k;
    struct tn_generation_options o;
    REQUIRE(ask(&k, "{\"max_length\": 5, \"temperature\": 9, \"top_k\": []}", &o) == TN_OK);
    CHECK_INT(k.findings.blockers, 3);
    end(&k);
}

TEST(a_package_that_exposes_nothing)
{
    struct kit k;
    struct tn_generation g = {0};
    struct tn_generation_options o;
    begin(&k);
    REQUIRE(tn_generation_resolve(&g, NULL, 0, parsed(&k, &k.request, "{\"temperature\": 1}"), &k.arena, &k.findings, &o, k.err) ==
            TN_OK);
    CHECK_INT(o.count, 0);
    CHECK_INT(k.findings.blockers, 1);
    CHECK_CONTAINS(k.findings.items[0].expected, "exposes none");
    end(&k);
}

TEST(bounds_of_the_contract_itself)
{
    struct kit k;
    struct tn_generation g;
    begin(&k);
    REQUIRE(tn_generation_read(parsed(&k, &k.doc, "{\"overrides\": {\"a\": {\"input\": \"x\", \"constraint\": {\"minimum\": 2, "
                                                  "\"maximum\": 1}}}}"), &k.arena, &k.findings, &g, k.err) == TN_OK);
    REQUIRE(k.findings.count == 1);
    CHECK_INT(k.findings.items[0].code, TN_METADATA_INVALID);
    CHECK_INT(k.findings.items[0].severity, TN_BLOCKER);
    CHECK_STR(k.findings.items[0].element, "/overrides/a/constraint");
    end(&k);
    begin(&k);
    REQUIRE(tn_generation_read(parsed(&k, &k.doc, "{\"defaults\": {\"top_p\": 2}, \"overrides\": {\"top_p\": {\"input\": \"x\", "
                                                  "\"constraint\": {\"maximum\": 1}}}}"), &k.arena, &k.findings, &g, k.err) == TN_OK);
    REQUIRE(k.findings.count == 1);
    CHECK_INT(k.findings.items[0].severity, TN_WARNING);
    CHECK_STR(k.findings.items[0].element, "/defaults/top_p");
    end(&k);
}

/* ---- layers of statements ---- */

TEST(statements_layer_by_origin)
{
    struct tn_option o = {.name = "x"};
    CHECK(tn_str_is(tn_option_effective(&o).value, "null"));
    tn_option_state(&o, (struct tn_statement){.origin = TN_CHOICE_DEFAULT, .value = TN_STR("1")});
    tn_option_state(&o, (struct tn_statement){.origin = TN_CHOICE_DEFAULT, .value = TN_STR("2")}); /* replaces its equal */
    tn_option_state(&o, (struct tn_statement){.origin = TN_CHOICE_HINT, .value = {NULL, 0}});      /* says nothing */
    tn_option_state(&o, (struct tn_statement){.origin = TN_CHOICE_REQUEST, .value = TN_STR("3")});
    CHECK_INT(o.count, 2);
    CHECK(tn_str_is(o.stated[0].value, "2"));
    CHECK(tn_str_is(tn_option_effective(&o).value, "3"));
}

TEST(sweep_of_demands)
{
    bool whole = false;
    for (uint64_t n = 1; !whole && n < 500; n++) {
        struct kit k;
        struct tn_generation g;
        struct tn_generation_options o;
        struct tn_hardware h;
        begin(&k);
        parsed(&k, &k.doc, contract);
        parsed(&k, &k.request, "{\"temperature\": 1, \"required_dtypes\": [\"int8\"], \"beneficial_dtypes\": [\"x\"]}");
        uint64_t before = k.alloc.calls;
        tn_alloc_fail(&k.alloc, n, false);
        enum tn_status st = tn_generation_read(tn_json_root(&k.doc), &k.arena, &k.findings, &g, k.err);
        if (!st) st = tn_hardware_read(tn_json_root(&k.request), &k.arena, &h, k.err);
        if (!st) st = tn_generation_resolve(&g, application, 3, tn_json_root(&k.request), &k.arena, &k.findings, &o, k.err);
        whole = k.alloc.calls < k.alloc.fail_at;
        if (!st && !whole) CHECK(k.findings.dropped > 0);
        if (st) CHECK_INT(st, TN_INSUFFICIENT_MEMORY);
        CHECK(k.alloc.calls >= before);
        end(&k);
    }
    CHECK(whole);
}
