/*
 * What holds of every name and every element type of a standard document, wherever it stands: the documents of
 * golden/standard are edited at each such place in turn, so that a place that a table forgets is found by itself.
 */
#define _GNU_SOURCE
#include "test.h"

#include "describe/standard/tables.h"
#include "standard_util.h"

static const char *const documents[] = {
    "samples/05-wav2vec2-ctc", "samples/10-lora-adapter-selection", "samples/18-static-cache-indexed-scatter",
    "samples/20-qwen3_5-hybrid-speculative-decoding", "packages/adapter", "packages/masked", "packages/speculative",
};
enum { DOCUMENTS = sizeof(documents) / sizeof(documents[0]) };

/* Said to people, or a piece of text that may be empty. */
static const char *const texts[] = {"producer", "revision", "source", "word_delimiter", "reason", NULL};
static const char *const text_lists[] = {"/ignored_tokens/", "/tokens/", "/parameters/", "/default", NULL};

static bool is_text(struct tn_json v, const char *pointer)
{
    for (size_t i = 0; texts[i]; i++)
        if (tn_str_is(tn_json_key(v), texts[i]) && !strstr(pointer, "/preprocessing/")) return true;
    for (size_t i = 0; text_lists[i]; i++)
        if (strstr(pointer, text_lists[i]) && !strstr(pointer, "/steps/")) return true;
    return false;
}

struct walk {
    struct tn_alloc *alloc;
    struct tn_json root;
    void (*visit)(struct walk *w, struct tn_json v, const char *pointer);
    size_t count;
};

static void walk(struct walk *w, struct tn_json v)
{
    char pointer[512];
    tn_json_pointer(v, pointer, sizeof(pointer));
    w->visit(w, v, pointer);
    for (struct tn_json e = tn_json_first(v); tn_json_present(e); e = tn_json_next(e)) walk(w, e);
}

static void walk_all(void (*visit)(struct walk *w, struct tn_json v, const char *pointer), size_t least)
{
    struct tn_alloc alloc;
    struct walk w = {.alloc = &alloc, .visit = visit};
    tn_alloc_init(&alloc);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        struct tn_json_doc doc = {0};
        REQUIRE(standard_open(&doc, &alloc, documents[i]));
        w.root = tn_json_root(&doc);
        walk(&w, w.root);
        tn_json_release(&doc);
    }
    if (w.count < least) test_fail(__FILE__, __LINE__, "%zu places, expected %zu or more", w.count, least);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* The edited document is refused at the place and nowhere else. */
static void refused(struct walk *w, const struct standard_change *change, const char *place, const char *remedy)
{
    struct tn_json_doc doc = {0};
    struct tn_findings findings;
    size_t blockers = 0;
    REQUIRE(standard_edit(&doc, w->alloc, w->root, change));
    tn_findings_init(&findings, w->alloc, 100);
    CHECK_INT(tn_standard_check_tables(tn_json_root(&doc), &findings), TN_METADATA_INVALID);
    for (size_t i = 0; i < findings.count; i++) {
        const struct tn_finding *f = &findings.items[i];
        if (f->severity != TN_BLOCKER) continue;
        blockers++;
        CHECK_STR(f->element, place);
        CHECK(f->found[0] && f->expected[0]);
        if (remedy) CHECK_CONTAINS(f->remedy, remedy);
    }
    if (blockers != 1) test_fail(__FILE__, __LINE__, "%s = %s: %zu findings", change->pointer, change->value, blockers);
    tn_findings_release(&findings);
    tn_json_release(&doc);
    w->count++;
}

static void empty_it(struct walk *w, struct tn_json v, const char *pointer)
{
    if (!tn_json_is(v, TN_JSON_STRING) || is_text(v, pointer)) return;
    const struct standard_change change = {pointer, STANDARD_REPLACE, "\"\""};
    refused(w, &change, pointer, NULL);
}

TEST(no_name_is_empty)
{
    walk_all(empty_it, 1000);
}

/* Objects whose keys are names of the author. */
static bool is_named(struct tn_json v)
{
    static const char *const maps[] = {"components", "effects", "inputs", "outputs", "state", "adapter_abis", "bindings",
                                       "roles", "groups", "artifacts", "profiles", "special_tokens", "parameters", "overrides",
                                       "port_bindings", "kv_length_ports", "write_indices_ports", "ports"};
    if (!tn_json_is(v, TN_JSON_OBJECT) || tn_json_count(v) == 0) return false;
    /* The ports of a component are lists by side, those of a state group are names of components. */
    if (tn_str_is(tn_json_key(v), "ports") && (tn_json_present(tn_json_get(v, "inputs")) ||
                                               tn_json_present(tn_json_get(v, "outputs")))) return false;
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
        if (tn_str_is(tn_json_key(v), maps[i])) return true;
    return false;
}

/* A copy of the first entry under no name. */
static void name_nothing(struct walk *w, struct tn_json v, const char *pointer)
{
    char place[600];
    struct tn_buf text;
    struct tn_json_writer writer;
    if (!is_named(v)) return;
    tn_buf_init(&text, w->alloc, 1 << 20);
    tn_jw_init(&writer, &text, false);
    standard_write_edited(&writer, tn_json_first(v), &(struct standard_change){"nowhere", STANDARD_REPLACE, ""});
    snprintf(place, sizeof(place), "%s/", pointer);
    char *value = strndup(tn_buf_str(&text).s, tn_buf_str(&text).n);
    refused(w, &(struct standard_change){place, STANDARD_ADD, value}, place, NULL);
    free(value);
    tn_buf_release(&text);
}

TEST(nothing_stands_under_an_empty_name)
{
    walk_all(name_nothing, 100);
}

static void misspell(struct walk *w, struct tn_json v, const char *pointer)
{
    if (!tn_str_is(tn_json_key(v), "dtype") && !tn_str_is(tn_json_key(v), "activation_dtype")) return;
    const struct standard_change change = {pointer, STANDARD_REPLACE, "\"flaot32\""};
    refused(w, &change, pointer, "float32");
}

TEST(every_element_type_is_known)
{
    walk_all(misspell, 190);
}

static void takes(const char *members, enum tn_status expected, const char *place, const char *remedy)
{
    const struct tn_limits limits = tn_limits_default();
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    struct tn_findings findings;
    tn_alloc_init(&alloc);
    tn_findings_init(&findings, &alloc, 10);
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("d.json"), tn_str_of(members), NULL) == TN_OK);
    CHECK_INT(tn_standard_check_tables(tn_json_root(&doc), &findings), expected);
    CHECK_INT(findings.count, *place ? 1 : 0);
    if (findings.count == 1) {
        CHECK_STR(findings.items[0].element, place);
        CHECK_CONTAINS(findings.items[0].remedy, remedy);
        CHECK_INT(findings.items[0].severity, expected ? TN_BLOCKER : TN_NOTE);
    }
    tn_findings_release(&findings);
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(demands_name_known_element_types)
{
    takes("{\"hardware_requirements\":{\"required_dtypes\":[\"bfloat16\",\"fp8_e4m3\",\"float64\",\"uint2\"]}}", TN_OK, "", "");
    takes("{\"hardware_requirements\":{\"required_dtypes\":[\"fp16\",\"bflaot16\"]}}", TN_METADATA_INVALID,
          "/hardware_requirements/required_dtypes/1", "\"bfloat16\"");
    takes("{\"hardware_requirements\":{\"beneficial_dtypes\":[\"int9\"]}}", TN_METADATA_INVALID,
          "/hardware_requirements/beneficial_dtypes/0", "\"int");
}

/* Vocabularies that the author may extend stay open; what was probably misspelt is said all the same. */
TEST(extensions_are_taken_and_misspellings_noted)
{
    takes("{\"quantization\":{\"default\":\"nf4_double_quant\"}}", TN_OK, "", "");
    takes("{\"quantization\":{\"default\":\"flaot16\"}}", TN_OK, "/quantization/default", "\"float16\"");
    takes("{\"quantization\":{\"default\":\"\"}}", TN_METADATA_INVALID, "/quantization/default", "");
}
