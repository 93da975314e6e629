/*
 * Execution hints: the document, properties of model files, selectors, and what becomes of each hint. Expectations follow
 * from the proposal's schema and prose: `*` and `?` in patterns, ranges that include both ends, forced hints that conflict
 * as an error that names both.
 */
#include "describe/hints.h"
#include "test.h"

#include "base/json_write.h"

#include <stdlib.h>

/* ---- a small world ---- */

#define NODE(name, alias, type, layer) {TN_STR(name), TN_STR(alias), TN_STR(type), (layer)}

static const struct tn_hint_node nodes[] = {
    NODE("embeddings", "", "embed", TN_HINT_NO_LAYER),
    NODE("layer 0 attention", "", "attention", 0),
    NODE("layer 0 output", "", "linear", 0),
    NODE("layer 1 attention", "", "attention", 1),
    NODE("layer 1 output", "", "linear", 1),
    NODE("encoder.layer.0.attention.self.query.weight", "layer.0.attention.query.weight", "", 0),
    NODE("encoder.layer.1.attention.self.query.weight", "layer.1.attention.query.weight", "", 1),
};
enum { NODES = sizeof(nodes) / sizeof(nodes[0]) };

static const struct tn_hint_device both[] = {{TN_DEVICE_CPU, true, 0}, {TN_DEVICE_GPU, true, 0}, {TN_DEVICE_GPU, true, 1}};
static const struct tn_hint_answer answers[TN_HINT_KINDS] = {
    [TN_HINT_PIN] = {true, "it stays"},
    [TN_HINT_CUDA_GRAPH_REGION] = {false, "no such thing"},
};

struct court {
    struct tn_alloc alloc;
    struct tn_limits limits;
    struct tn_arena arena;
    struct tn_findings findings;
    struct tn_hint_list lists[TN_HINT_ORIGINS];
    struct tn_hint_world world;
    struct tn_hint_results results;
    struct tn_error *err;
};

static void begin(struct court *c)
{
    memset(c, 0, sizeof(*c));
    tn_alloc_init(&c->alloc);
    c->limits = tn_limits_default();
    tn_arena_init(&c->arena, &c->alloc);
    tn_findings_init(&c->findings, &c->alloc, 1000);
    c->world = (struct tn_hint_world){nodes, NODES, both, 1, answers};
    c->err = calloc(1, sizeof(*c->err));
}

static void end(struct court *c)
{
    tn_findings_release(&c->findings);
    tn_arena_release(&c->arena);
    CHECK_INT(tn_alloc_current(&c->alloc), 0);
    free(c->err);
}

static enum tn_status give(struct court *c, enum tn_hint_origin origin, const char *text)
{
    static const char *const files[TN_HINT_ORIGINS] = {"hints", "my_hints.json", "tenon_package.json", "model.onnx"};
    return tn_hints_parse(tn_str_of(text), tn_str_of(files[origin]), origin, &c->limits, &c->arena, &c->findings,
                          &c->lists[origin], c->err);
}

static enum tn_status judge(struct court *c)
{
    const struct tn_hint_list *lists[TN_HINT_ORIGINS];
    for (int i = 0; i < TN_HINT_ORIGINS; i++) lists[i] = &c->lists[TN_HINT_ORIGINS - 1 - i]; /* any order will do */
    return tn_hints_resolve(lists, TN_HINT_ORIGINS, &c->world, TN_PHASE_ASSESS, &c->arena, &c->findings, &c->results, c->err);
}

static enum tn_hint_outcome outcome(const struct court *c, size_t i)
{
    return i < c->results.count ? c->results.items[i].outcome : TN_HINT_OUTCOMES;
}

static const struct tn_finding *with_code(const struct court *c, enum tn_severity severity, enum tn_status code)
{
    for (size_t i = 0; i < c->findings.count; i++) {
        if (c->findings.items[i].severity == severity && c->findings.items[i].code == code) return &c->findings.items[i];
    }
    return NULL;
}

#define PLACE(selector, device, strength)                                                          \
    "{\"selector\": " selector ", \"device\": " device ", \"strength\": \"" strength "\"}"
#define ON(type) "{\"type\": \"" type "\"}"
#define ALL "{\"pattern\": \"*\"}"
#define PLACEMENT(list) "{\"placement\": [" list "]}"

/* ---- patterns ---- */

TEST(patterns)
{
    static const struct {
        const char *pattern, *name;
        bool match;
    } rows[] = {
        {"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "anything.at/all", true}, {"a", "a", true}, {"a", "A", false},
        {"a", "ab", false}, {"?", "a", true}, {"?", "", false}, {"?", "ab", false}, {"a*", "a", true}, {"a*c", "abbbc", true},
        {"a*c", "abbbd", false}, {"layers.*.attention.*", "layers.3.attention.q_proj", true},
        {"layers.*.attention.*", "layers.3.mlp.gate", false}, {"*a*b*c*", "xxaxxbxxcxx", true}, {"*a*b*c*", "cba", false},
        {"**", "x", true}, {"a**b", "ab", true}, {"*b", "abab", true}, {"?*?", "a", false}, {"?*?", "ab", true},
        {"[ab]", "a", false}, {"[ab]", "[ab]", true}, {"\\*", "\\x", true}, /* no classes, no escapes */
        {"caf?", "caf\xC3\xA9", true}, {"caf??", "caf\xC3\xA9", false}, {"?", "\xFF", true},
        {"*\xA9", "caf\xC3\xA9", false}, /* half a character is none */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (tn_hint_glob(tn_str_of(rows[i].pattern), tn_str_of(rows[i].name)) != rows[i].match)
            test_fail(__FILE__, __LINE__, "\"%s\" on \"%s\"", rows[i].pattern, rows[i].name);
    }
}

/* Against the plain recursive definition, on short texts over three letters. */
static bool plainly(const char *p, const char *s)
{
    if (!*p) return !*s;
    if (*p == '*') return plainly(p + 1, s) || (*s && plainly(p, s + 1));
    return *s && (*p == '?' || *p == *s) && plainly(p + 1, s + 1);
}

TEST(patterns_equal_their_definition)
{
    uint64_t seed = 11;
    for (int i = 0; i < 200000; i++) {
        char p[9] = "", s[9] = "";
        size_t n = test_random(&seed) % 8, m = test_random(&seed) % 8;
        for (size_t k = 0; k < n; k++) p[k] = "ab*?*"[test_random(&seed) % 5];
        for (size_t k = 0; k < m; k++) s[k] = "ab"[test_random(&seed) % 2];
        if (tn_hint_glob(tn_str_of(p), tn_str_of(s)) != plainly(p, s)) {
            test_fail(__FILE__, __LINE__, "\"%s\" on \"%s\"", p, s);
            return;
        }
    }
}

TEST(a_pattern_cannot_take_long)
{
    char pattern[TN_HINT_PATTERN_BYTES], *name = malloc(100000);
    for (size_t i = 0; i < sizeof(pattern); i++) pattern[i] = i % 2 ? 'a' : '*';
    pattern[sizeof(pattern) - 1] = 'b';
    memset(name, 'a', 100000);
    for (int i = 0; i < 20; i++) {
        CHECK(!tn_hint_glob((struct tn_str){pattern, sizeof(pattern)}, (struct tn_str){name, 100000}));
    }
    free(name);
}

/* ---- selectors ---- */

static uint64_t selected_by(const char *selector)
{
    struct court c;
    char text[512];
    uint64_t count = UINT64_MAX;
    begin(&c);
    snprintf(text, sizeof(text), PLACEMENT("{\"selector\": %s, \"device\": {\"type\": \"any\"}}"), selector);
    CHECK_INT(give(&c, TN_HINT_FROM_CALLER, text), TN_OK);
    CHECK_INT(judge(&c), TN_OK);
    if (c.results.count == 1) count = c.results.items[0].selected;
    end(&c);
    return count;
}

TEST(selectors)
{
    CHECK_INT(selected_by(ALL), NODES);
    CHECK_INT(selected_by("{\"names\": [\"embeddings\"]}"), 1);
    CHECK_INT(selected_by("{\"names\": [\"embeddings\", \"layer 1 output\", \"nothing\"]}"), 2);
    CHECK_INT(selected_by("{\"pattern\": \"layer ? attention\"}"), 2);
    CHECK_INT(selected_by("{\"pattern\": \"encoder.layer.*\"}"), 2);
    CHECK_INT(selected_by("{\"pattern\": \"layer.*.query.weight\"}"), 2); /* by role */
    CHECK_INT(selected_by("{\"op_types\": [\"attention\"]}"), 2);
    CHECK_INT(selected_by("{\"op_types\": [\"attention\", \"embed\"]}"), 3);
    CHECK_INT(selected_by("{\"op_types\": [\"Attention\"]}"), 0); /* types are names */
    CHECK_INT(selected_by("{\"layer_range\": {\"start\": 0, \"end\": 0}}"), 3);
    CHECK_INT(selected_by("{\"layer_range\": {\"start\": 0, \"end\": 1}}"), 6); /* both ends; the embeddings have none */
    CHECK_INT(selected_by("{\"layer_range\": {\"start\": 1, \"end\": 18446744073709551615}}"), 3);
    /* Everything that is stated must hold. */
    CHECK_INT(selected_by("{\"op_types\": [\"linear\"], \"layer_range\": {\"start\": 1, \"end\": 1}}"), 1);
    CHECK_INT(selected_by("{\"pattern\": \"layer 0*\", \"op_types\": [\"embed\"]}"), 0);
}

TEST(layers_from_properties_and_from_names)
{
    struct tn_hint_node_layer stated[] = {{TN_STR("a"), 7}, {TN_STR("model.layers.2.x"), 9}};
    struct tn_hint_layers layers = {stated, 2, 2, TN_STR("layers.{}.")};
    struct tn_hint_node n[] = {
        NODE("a", "", "", TN_HINT_NO_LAYER), NODE("model.layers.2.x", "", "", TN_HINT_NO_LAYER),
        NODE("model.layers.31.y", "", "", TN_HINT_NO_LAYER), NODE("model.layers.31", "", "", TN_HINT_NO_LAYER),
        NODE("layers..x", "", "", TN_HINT_NO_LAYER), NODE("layers.99999999999999999999.x", "", "", TN_HINT_NO_LAYER),
        NODE("model.layers.5.z", "", "", 1),
    };
    static const int64_t expected[] = {7, 9, 31, -1, -1, -1, 1};
    tn_hint_layers_apply(&layers, n, sizeof(n) / sizeof(n[0]));
    for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) CHECK_INT(n[i].layer, expected[i]);
    layers.pattern = TN_STR("{}");
    struct tn_hint_node bare[] = {NODE("x12", "", "", TN_HINT_NO_LAYER), NODE("none", "", "", TN_HINT_NO_LAYER)};
    tn_hint_layers_apply(&layers, bare, 2);
    CHECK_INT(bare[0].layer, 12);
    CHECK_INT(bare[1].layer, -1);
    /* Digits that are no layer as a whole are none in part. */
    struct tn_hint_node long_one[] = {NODE("x99999999999", "", "", TN_HINT_NO_LAYER)};
    tn_hint_layers_apply(&layers, long_one, 1);
    CHECK_INT(long_one[0].layer, -1);
}

/* ---- the document ---- */

static void expect_refused(const char *text, enum tn_status code, const char *pointer)
{
    struct court c;
    begin(&c);
    CHECK_INT(give(&c, TN_HINT_FROM_USER, text), TN_OK);
    CHECK_INT(c.lists[TN_HINT_FROM_USER].count, 0);
    const struct tn_finding *f = tn_findings_first_blocker(&c.findings);
    if (!f || f->code != code || strcmp(f->element, pointer) != 0 || strcmp(f->file, "my_hints.json") != 0) {
        test_fail(__FILE__, __LINE__, "%s: %s at \"%s\" of %s", text, f ? tn_status_name(f->code) : "taken", f ? f->element : "",
                  f ? f->file : "");
    }
    end(&c);
}

TEST(documents_that_are_refused)
{
    expect_refused("{\"speed\": 1}", TN_METADATA_INVALID, "/speed");
    expect_refused("{\"placement\": {}}", TN_METADATA_INVALID, "/placement");
    expect_refused("{\"placement\": [{\"selector\": {\"pattern\": \"*\"}}]}", TN_METADATA_INVALID, "/placement/0/device");
    expect_refused("{\"placement\": [{\"device\": {\"type\": \"cpu\"}}]}", TN_METADATA_INVALID, "/placement/0/selector");
    expect_refused(PLACEMENT(PLACE("{}", ON("cpu"), "prefer")), TN_METADATA_INVALID, "/placement/0/selector");
    expect_refused(PLACEMENT(PLACE(ALL, ON("cpu"), "insist")), TN_METADATA_INVALID, "/placement/0/strength");
    expect_refused(PLACEMENT(PLACE(ALL, ON("tpu"), "force")), TN_METADATA_INVALID, "/placement/0/device/type");
    expect_refused(PLACEMENT(PLACE(ALL, "{\"type\": \"gpu\", \"index\": -1}", "force")), TN_METADATA_INVALID,
                   "/placement/0/device/index");
    expect_refused(PLACEMENT(PLACE("{\"layer_range\": {\"start\": 1}}", ON("cpu"), "prefer")), TN_METADATA_INVALID,
                   "/placement/0/selector/layer_range/end");
    expect_refused("{\"memory\": [{\"action\": \"burn\"}]}", TN_METADATA_INVALID, "/memory/0/action");
    expect_refused("{\"memory\": [{\"selector\": {\"pattern\": \"*\"}}]}", TN_METADATA_INVALID, "/memory/0/action");
    expect_refused("{\"scheduling\": [{\"action\": \"pin\"}]}", TN_METADATA_INVALID, "/scheduling/0/action");
    expect_refused("{\"scheduling\": [{\"action\": \"chunk_size\", \"chunk_size\": 0}]}", TN_METADATA_INVALID,
                   "/scheduling/0/chunk_size");
    /* What the shape allows and means nothing. */
    expect_refused("{\"scheduling\": [{\"action\": \"chunk_size\"}]}", TN_METADATA_INVALID, "/scheduling/0/chunk_size");
    expect_refused("{\"memory\": [{\"action\": \"arena_size\", \"bytes\": 1}]}", TN_METADATA_INVALID, "/memory/0/device");
    expect_refused("{\"memory\": [{\"action\": \"arena_size\", \"device\": {\"type\": \"cpu\"}}]}", TN_METADATA_INVALID,
                   "/memory/0/bytes");
    /* What can select nothing in any graph. */
    expect_refused(PLACEMENT(PLACE("{\"names\": []}", ON("cpu"), "prefer")), TN_METADATA_INVALID, "/placement/0/selector/names");
    expect_refused("{\"memory\": [{\"action\": \"pin\", \"selector\": {\"op_types\": []}}]}", TN_METADATA_INVALID,
                   "/memory/0/selector/op_types");
    expect_refused("{\"scheduling\": [{\"action\": \"overlap\", \"selector\": {\"layer_range\": {\"start\": 5, \"end\": 2}}}]}",
                   TN_METADATA_INVALID, "/scheduling/0/selector/layer_range");
    expect_refused(PLACEMENT(PLACE("{\"pattern\": \"\"}", ON("cpu"), "prefer")), TN_METADATA_INVALID,
                   "/placement/0/selector/pattern");
    expect_refused(PLACEMENT(PLACE("{\"pattern\": \"[a\"}", ON("cpu"), "prefer")), TN_METADATA_INVALID,
                   "/placement/0/selector/pattern");
    expect_refused(PLACEMENT(PLACE("{\"pattern\": \"layers.0]*\"}", ON("cpu"), "prefer")), TN_METADATA_INVALID,
                   "/placement/0/selector/pattern");
    expect_refused("[]", TN_METADATA_INVALID, "");
    expect_refused("{\"placement\": [}", TN_ARTIFACT_MALFORMED, "");
    expect_refused("{\"memory\": [], \"memory\": []}", TN_ARTIFACT_MALFORMED, "/memory");
    expect_refused(PLACEMENT(PLACE("{\"pattern\": null}", ON("cpu"), "prefer")), TN_METADATA_INVALID,
                   "/placement/0/selector/pattern");
}

/* A text of the caller's is an argument; a file is an artifact. */
TEST(a_text_that_is_no_document_is_told_by_its_origin)
{
    for (int origin = 0; origin < TN_HINT_ORIGINS; origin++) {
        struct court c;
        begin(&c);
        CHECK_INT(give(&c, (enum tn_hint_origin)origin, "fast"), TN_OK);
        REQUIRE(c.findings.count == 1);
        CHECK_INT(c.findings.items[0].code, origin == TN_HINT_FROM_CALLER ? TN_INVALID_REQUEST : TN_ARTIFACT_MALFORMED);
        end(&c);
    }
}

/* One bad hint spoils its document and no other one's. */
TEST(a_document_counts_whole_or_not_at_all)
{
    struct court c;
    begin(&c);
    CHECK_INT(give(&c, TN_HINT_FROM_METADATA, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer"))), TN_OK);
    CHECK_INT(give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer") ", " PLACE("{}", ON("cpu"), "prefer"))),
              TN_OK);
    CHECK_INT(c.findings.blockers, 1);
    CHECK_INT(c.lists[TN_HINT_FROM_METADATA].count, 1);
    CHECK_INT(c.lists[TN_HINT_FROM_USER].count, 0);
    end(&c);
}

TEST(everything_of_the_form_is_read)
{
    struct court c;
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER,
                 "{\"placement\": [{\"selector\": {\"names\": [\"a\", \"b\"]}, \"device\": {\"type\": \"npu\", \"index\": 3}, "
                 "\"strength\": \"force\", \"reason\": \"why not\"}, {\"selector\": {\"pattern\": \"x*\"}, \"device\": "
                 "{\"type\": \"any\"}}], \"memory\": [{\"action\": \"arena_size\", \"device\": {\"type\": \"cpu\"}, \"bytes\": "
                 "4096}, {\"action\": \"pin\", \"selector\": {\"pattern\": \"*\"}}, {\"action\": \"low_priority\"}, {\"action\": "
                 "\"allow_alias\"}, {\"action\": \"prefetch\"}], \"scheduling\": [{\"action\": \"overlap\"}, {\"action\": "
                 "\"cuda_graph_region\"}, {\"action\": \"no_cuda_graph\"}, {\"action\": \"chunk_size\", \"chunk_size\": 4}]}") ==
            TN_OK);
    CHECK_INT(c.findings.count, 0);
    static const enum tn_hint_kind kinds[] = {TN_HINT_PLACE, TN_HINT_PLACE, TN_HINT_ARENA_SIZE, TN_HINT_PIN, TN_HINT_LOW_PRIORITY,
                                              TN_HINT_ALLOW_ALIAS, TN_HINT_PREFETCH, TN_HINT_OVERLAP,
                                              TN_HINT_CUDA_GRAPH_REGION, TN_HINT_NO_CUDA_GRAPH, TN_HINT_CHUNK_SIZE};
    const struct tn_hint_list *list = &c.lists[TN_HINT_FROM_CALLER];
    REQUIRE(list->count == sizeof(kinds) / sizeof(kinds[0]));
    for (size_t i = 0; i < list->count; i++) CHECK_INT(list->items[i].kind, kinds[i]);
    const struct tn_hint *h = &list->items[0];
    CHECK(h->force && h->has_device && h->device.has_index);
    CHECK_INT(h->device.type, TN_DEVICE_NPU);
    CHECK_INT(h->device.index, 3);
    CHECK_INT(h->selector.name_count, 2);
    CHECK(tn_str_is(h->reason, "why not"));
    CHECK(tn_str_is(h->pointer, "/placement/0"));
    CHECK(!list->items[1].force && !list->items[1].device.has_index);
    CHECK_INT(list->items[2].number, 4096);
    CHECK_INT(list->items[10].number, 4);
    CHECK(tn_hint_selects_all(&list->items[3].selector) && tn_hint_selects_all(&list->items[4].selector));
    end(&c);
}

TEST(what_stands_beside_an_action_without_meaning_is_noted)
{
    struct court c;
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, "{\"memory\": [{\"action\": \"pin\", \"bytes\": 7}]}") == TN_OK);
    CHECK_INT(c.lists[TN_HINT_FROM_CALLER].count, 1);
    const struct tn_finding *f = with_code(&c, TN_NOTE, TN_METADATA_INVALID);
    REQUIRE(f);
    CHECK_STR(f->element, "/memory/0/bytes");
    end(&c);
    begin(&c); /* a number of pieces means something for both */
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, "{\"scheduling\": [{\"action\": \"overlap\", \"chunk_size\": 2}, {\"action\": "
                                          "\"chunk_size\", \"chunk_size\": 2}, {\"action\": \"no_cuda_graph\", "
                                          "\"chunk_size\": 2}]}") == TN_OK);
    REQUIRE(c.findings.count == 1);
    CHECK_STR(c.findings.items[0].element, "/scheduling/2/chunk_size");
    end(&c);
}

TEST(documents_are_bounded)
{
    struct court c;
    size_t n = 0, cap = 4 << 20;
    char *text = malloc(cap);
    n += (size_t)snprintf(text + n, cap - n, "{\"memory\": [");
    for (int i = 0; i < 15 * TN_HINTS_MOST; i++) n += (size_t)snprintf(text + n, cap - n, "%s{\"action\": \"pin\"}", i ? "," : "");
    snprintf(text + n, cap - n, "]}");
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, text) == TN_OK);
    const struct tn_finding *f = tn_findings_first_blocker(&c.findings);
    REQUIRE(f);
    CHECK_INT(f->code, TN_RESOURCE_LIMIT);
    CHECK_STR(f->element, "/memory/1000");
    CHECK_STR(f->found, "15000 hints");
    CHECK_INT(c.findings.count, 1);
    CHECK_INT(c.findings.blockers, 1);
    end(&c);
    n = (size_t)snprintf(text, cap, "{\"memory\": [{\"action\": \"pin\", \"selector\": {\"names\": [");
    for (int i = 0; i < TN_HINT_NAMES_MOST + 1; i++) n += (size_t)snprintf(text + n, cap - n, "%s\"a\"", i ? "," : "");
    snprintf(text + n, cap - n, "]}}]}");
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, text) == TN_OK);
    f = tn_findings_first_blocker(&c.findings);
    REQUIRE(f);
    CHECK_INT(f->code, TN_RESOURCE_LIMIT);
    CHECK_STR(f->element, "/memory/0/selector/names");
    end(&c);
    n = (size_t)snprintf(text, cap, "{\"memory\": [{\"action\": \"pin\", \"selector\": {\"names\": [");
    for (int i = 0; i < TN_HINT_NAMES_MOST; i++) n += (size_t)snprintf(text + n, cap - n, "%s\"a\"", i ? "," : "");
    snprintf(text + n, cap - n, "]}}]}");
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, text) == TN_OK);
    CHECK_INT(c.findings.count, 0);
    end(&c);
    n = (size_t)snprintf(text, cap, "{\"memory\": [{\"action\": \"pin\", \"selector\": {\"pattern\": \"");
    memset(text + n, '*', TN_HINT_PATTERN_BYTES + 1);
    snprintf(text + n + TN_HINT_PATTERN_BYTES + 1, 100, "\"}}]}");
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, text) == TN_OK);
    f = tn_findings_first_blocker(&c.findings);
    REQUIRE(f);
    CHECK_INT(f->code, TN_RESOURCE_LIMIT);
    CHECK_STR(f->element, "/memory/0/selector/pattern");
    end(&c);
    n = (size_t)snprintf(text, cap, "{\"memory\": [{\"action\": \"pin\", \"selector\": {\"pattern\": \"");
    memset(text + n, '*', TN_HINT_PATTERN_BYTES);
    snprintf(text + n + TN_HINT_PATTERN_BYTES, 100, "\"}}]}");
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, text) == TN_OK);
    CHECK_INT(c.findings.count, 0);
    CHECK_INT(c.lists[TN_HINT_FROM_CALLER].count, 1);
    end(&c);
    free(text);
}

/* ---- precedence ---- */

TEST(the_stronger_origin_counts)
{
    for (int weak = 1; weak < TN_HINT_ORIGINS; weak++) {
        for (int strong = 0; strong < weak; strong++) {
            struct court c;
            begin(&c);
            c.world.device_count = 3;
            give(&c, (enum tn_hint_origin)weak, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer")));
            give(&c, (enum tn_hint_origin)strong, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer")));
            REQUIRE(judge(&c) == TN_OK);
            REQUIRE(c.results.count == 2);
            CHECK_INT(c.results.items[0].hint->origin, strong); /* strongest first */
            CHECK_INT(outcome(&c, 0), TN_HINT_IS_SATISFIED);
            CHECK_INT(outcome(&c, 1), TN_HINT_IS_OVERRIDDEN);
            CHECK(c.results.items[1].by == c.results.items[0].hint);
            CHECK_INT(c.results.items[1].lost, NODES);
            CHECK_INT(c.findings.blockers, 0);
            const struct tn_finding *f = with_code(&c, TN_NOTE, TN_HINT_CONFLICT);
            REQUIRE(f);
            CHECK_CONTAINS(f->found, tn_hint_origin_for_people((enum tn_hint_origin)weak));
            CHECK_CONTAINS(f->expected, tn_hint_origin_for_people((enum tn_hint_origin)strong));
            end(&c);
        }
    }
}

TEST(a_force_stands_above_preferences_of_any_origin)
{
    struct court c;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer")));
    give(&c, TN_HINT_FROM_MODEL, PLACEMENT(PLACE(ALL, ON("cpu"), "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_OVERRIDDEN);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_SATISFIED);
    CHECK_INT(c.findings.blockers, 0);
    end(&c);
}

TEST(within_a_document_the_later_hint_counts_where_it_selects)
{
    struct court c;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer") ", " PLACE("{\"op_types\": [\"embed\"]}", ON("cpu"),
                                                                                  "prefer")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_SATISFIED);
    CHECK_INT(c.results.items[0].lost, 1);
    CHECK_INT(c.results.items[0].selected, NODES);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_SATISFIED);
    const struct tn_finding *f = with_code(&c, TN_NOTE, TN_HINT_CONFLICT);
    REQUIRE(f);
    CHECK_CONTAINS(f->message, "1 of the 7");
    CHECK_STR(f->element, "/placement/0");
    end(&c);
}

TEST(statements_that_agree_do_not_override)
{
    struct court c;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, "{\"type\": \"gpu\", \"index\": 1}", "force")));
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("gpu"), "force")));
    give(&c, TN_HINT_FROM_METADATA, PLACEMENT(PLACE(ALL, ON("any"), "force")));
    REQUIRE(judge(&c) == TN_OK);
    for (size_t i = 0; i < 3; i++) CHECK_INT(outcome(&c, i), TN_HINT_IS_SATISFIED);
    CHECK_INT(c.findings.count, 0);
    end(&c);
}

TEST(forces_that_conflict_name_both)
{
    for (int a = 0; a < TN_HINT_ORIGINS; a++) {
        for (int b = a; b < TN_HINT_ORIGINS; b++) {
            struct court c;
            begin(&c);
            c.world.device_count = 3;
            if (a == b) {
                give(&c, (enum tn_hint_origin)a, PLACEMENT(PLACE(ALL, ON("gpu"), "force") ", "
                                                           PLACE("{\"op_types\": [\"attention\"]}", ON("cpu"), "force")));
            } else {
                give(&c, (enum tn_hint_origin)b, PLACEMENT(PLACE(ALL, ON("gpu"), "force")));
                give(&c, (enum tn_hint_origin)a, PLACEMENT(PLACE("{\"op_types\": [\"attention\"]}", ON("cpu"), "force")));
            }
            REQUIRE(judge(&c) == TN_OK);
            CHECK_INT(c.findings.blockers, 1);
            CHECK_INT(outcome(&c, 0), TN_HINT_IS_CONFLICT);
            CHECK_INT(outcome(&c, 1), TN_HINT_IS_CONFLICT);
            const struct tn_finding *f = with_code(&c, TN_BLOCKER, TN_HINT_CONFLICT);
            REQUIRE(f);
            CHECK_CONTAINS(f->message, "layer 0 attention");
            CHECK_CONTAINS(f->message, "2 node(s)");
            CHECK_STR(f->element, a == b ? "/placement/1" : "/placement/0");
            CHECK_CONTAINS(f->found, "cpu by");
            CHECK_CONTAINS(f->found, tn_hint_origin_for_people((enum tn_hint_origin)a));
            CHECK_CONTAINS(f->expected, "gpu by");
            CHECK_CONTAINS(f->expected, tn_hint_origin_for_people((enum tn_hint_origin)b));
            CHECK_CONTAINS(f->expected, "#/placement/0");
            end(&c);
        }
    }
}

/* Dropping the other side of the conflict would not help: that is told in the same pass. */
TEST(a_conflicting_force_that_cannot_be_had_is_told_too)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("gpu"), "force")));
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("cpu"), "force")));
    c.world.device_count = 1;
    REQUIRE(judge(&c) == TN_OK);
    CHECK(with_code(&c, TN_BLOCKER, TN_HINT_CONFLICT));
    const struct tn_finding *f = with_code(&c, TN_BLOCKER, TN_PLACEMENT_REFUSED);
    REQUIRE(f);
    CHECK_CONTAINS(f->found, "gpu by");
    CHECK_CONTAINS(f->expected, "cpu");
    CHECK_INT(c.findings.blockers, 2);
    end(&c);
}

TEST(each_pair_of_a_threefold_conflict_is_told)
{
    struct court c;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_METADATA, PLACEMENT(PLACE("{\"layer_range\": {\"start\": 0, \"end\": 0}}", ON("gpu"), "force")));
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE("{\"layer_range\": {\"start\": 1, \"end\": 1}}", ON("gpu"), "force")));
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("cpu"), "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(c.findings.blockers, 2);
    for (size_t i = 0; i < 3; i++) CHECK_INT(outcome(&c, i), TN_HINT_IS_CONFLICT);
    end(&c);
}

TEST(forces_on_different_nodes_do_not_conflict)
{
    struct court c;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE("{\"op_types\": [\"attention\"]}", ON("cpu"), "force")));
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE("{\"op_types\": [\"linear\"]}", ON("gpu"), "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(c.findings.count, 0);
    end(&c);
}

/* ---- what can be had ---- */

TEST(a_forced_device_that_is_not_here_is_refused)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_METADATA, PLACEMENT(PLACE(ALL, "{\"type\": \"gpu\", \"index\": 1}", "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_REFUSED);
    const struct tn_finding *f = with_code(&c, TN_BLOCKER, TN_PLACEMENT_REFUSED);
    REQUIRE(f);
    CHECK_STR(f->file, "tenon_package.json");
    CHECK_STR(f->element, "/placement/0");
    CHECK_CONTAINS(f->found, "gpu:1 by the package");
    CHECK_CONTAINS(f->expected, "cpu:0");
    end(&c);
}

TEST(a_preferred_device_that_is_not_here_is_noted_and_stands_against_nobody)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer")));
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_UNMET);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_SATISFIED);
    CHECK_INT(c.findings.blockers, 0);
    REQUIRE(with_code(&c, TN_NOTE, TN_PLACEMENT_REFUSED));
    end(&c);
}

TEST(an_index_that_is_not_here_is_no_device)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, "{\"type\": \"cpu\", \"index\": 1}", "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_REFUSED);
    end(&c);
    begin(&c);
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, "{\"type\": \"cpu\", \"index\": 0}", "force")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_SATISFIED);
    end(&c);
}

/* A typing mistake of the user's is a warning; a package's hint for another exporter's names is a note. */
/* Each of many hints has its outcome; what is said of them stays short, and as grave. */
static void many(const char *one, enum tn_hint_outcome fate, enum tn_severity severity, enum tn_status code, const char *rest)
{
    enum { MANY = 500 };
    struct court c;
    size_t n = 0, cap = 1 << 18;
    char *text = malloc(cap);
    n += (size_t)snprintf(text + n, cap - n, "{\"placement\": [");
    for (int i = 0; i < MANY; i++) n += (size_t)snprintf(text + n, cap - n, "%s%s", i ? ", " : "", one);
    snprintf(text + n, cap - n, "]}");
    begin(&c);
    CHECK_INT(give(&c, TN_HINT_FROM_USER, text), TN_OK);
    CHECK_INT(judge(&c), TN_OK);
    CHECK_INT(c.results.count, MANY);
    for (size_t i = 0; i < c.results.count; i++) CHECK_INT(outcome(&c, i), fate);
    CHECK_INT(c.findings.count, 21);
    CHECK_INT(c.findings.blockers, severity == TN_BLOCKER ? 21 : 0);
    for (size_t i = 0; i < c.findings.count; i++) {
        CHECK_INT(c.findings.items[i].severity, severity);
        CHECK_INT(c.findings.items[i].code, code);
    }
    REQUIRE(c.findings.count == 21);
    CHECK_CONTAINS(c.findings.items[0].element, "/placement/0");
    CHECK_STR(c.findings.items[20].message, rest);
    CHECK_CONTAINS(c.findings.items[20].found, "480 more");
    end(&c);
    free(text);
}

TEST(hints_of_one_fate_are_summed_up)
{
    many(PLACE("{\"names\": [\"nobody\"]}", ON("cpu"), "prefer"), TN_HINT_IS_EMPTY, TN_WARNING, TN_INVALID_REQUEST,
         "more hints select nothing");
    many(PLACE(ALL, ON("gpu"), "force"), TN_HINT_IS_REFUSED, TN_BLOCKER, TN_PLACEMENT_REFUSED,
         "more forced placements cannot be had");
    many(PLACE(ALL, ON("gpu"), "prefer"), TN_HINT_IS_UNMET, TN_NOTE, TN_PLACEMENT_REFUSED,
         "more preferred placements are not followed");
}

/* Each forced device stands against the one before it: 79 pairs. */
TEST(conflicts_beyond_those_that_are_told_are_counted)
{
    struct court c;
    size_t n = 0, cap = 1 << 16, told = 0;
    char *text = malloc(cap);
    n += (size_t)snprintf(text + n, cap - n, "{\"placement\": [");
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, cap - n, "%s" PLACE(ALL, "{\"type\": \"gpu\", \"index\": %d}", "force"), i ? ", " : "", i);
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, cap - n, ", " PLACE("{\"names\": [\"embeddings\"]}", "{\"type\": \"gpu\", \"index\": %d}",
                                                         "force"), 100 + i);
    snprintf(text + n, cap - n, "]}");
    begin(&c);
    CHECK_INT(give(&c, TN_HINT_FROM_USER, text), TN_OK);
    CHECK_INT(judge(&c), TN_OK);
    for (size_t i = 0; i < c.results.count; i++) CHECK_INT(outcome(&c, i), TN_HINT_IS_CONFLICT);
    for (size_t i = 0; i < c.findings.count; i++) told += c.findings.items[i].code == TN_HINT_CONFLICT;
    CHECK_INT(told, 65);
    /* none of the devices is here, which is told as often as such things are told one by one, and then counted */
    size_t unavailable = 0;
    for (size_t i = 0; i < c.findings.count; i++) unavailable += c.findings.items[i].code == TN_PLACEMENT_REFUSED;
    CHECK_INT(unavailable, 21);
    CHECK_INT(c.findings.blockers, 65 + 21);
    CHECK_STR(c.findings.items[c.findings.count - 1].message, "more pairs of forced placements exclude each other");
    end(&c);
    free(text);
}

TEST(a_hint_that_selects_nothing_is_told)
{
    for (int origin = 0; origin < TN_HINT_ORIGINS; origin++) {
        struct court c;
        bool ours = origin == TN_HINT_FROM_CALLER || origin == TN_HINT_FROM_USER;
        begin(&c);
        give(&c, (enum tn_hint_origin)origin, PLACEMENT(PLACE("{\"pattern\": \"kv_cache*\"}", ON("gpu"), "force")));
        REQUIRE(judge(&c) == TN_OK);
        CHECK_INT(outcome(&c, 0), TN_HINT_IS_EMPTY);
        CHECK_INT(c.findings.blockers, 0);
        CHECK(with_code(&c, ours ? TN_WARNING : TN_NOTE, ours ? TN_INVALID_REQUEST : TN_METADATA_INVALID));
        end(&c);
    }
}

TEST(hints_without_use_are_told_with_the_reason)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_CALLER, "{\"memory\": [{\"action\": \"pin\"}, {\"action\": \"low_priority\", \"selector\": {\"names\": "
                                  "[\"embeddings\", \"nope\"]}}], \"scheduling\": [{\"action\": \"cuda_graph_region\"}, {\"action\": "
                                  "\"overlap\"}]}");
    REQUIRE(judge(&c) == TN_OK);
    CHECK(with_code(&c, TN_WARNING, TN_INVALID_REQUEST)); /* of two names one is nowhere */
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_SATISFIED);
    CHECK_STR(c.results.items[0].why, "it stays");
    CHECK_INT(c.results.items[0].lost, 1); /* low_priority stands against it there */
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_NO_USE);
    CHECK_INT(outcome(&c, 2), TN_HINT_IS_NO_USE);
    CHECK_STR(c.results.items[2].why, "no such thing");
    CHECK_INT(outcome(&c, 3), TN_HINT_IS_NO_USE);
    CHECK_INT(c.findings.blockers, 0);
    size_t notes = 0;
    for (size_t i = 0; i < c.findings.count; i++) notes += c.findings.items[i].code == TN_UNSUPPORTED_OPTION;
    CHECK_INT(notes, 3);
    end(&c);
}

TEST(arenas_are_compared_by_device)
{
    struct court c;
    begin(&c);
    give(&c, TN_HINT_FROM_USER, "{\"memory\": [{\"action\": \"arena_size\", \"device\": {\"type\": \"cpu\"}, \"bytes\": 5}]}");
    give(&c, TN_HINT_FROM_CALLER, "{\"memory\": [{\"action\": \"arena_size\", \"device\": {\"type\": \"cpu\"}, \"bytes\": 6}, "
                                  "{\"action\": \"arena_size\", \"device\": {\"type\": \"gpu\"}, \"bytes\": 7}]}");
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_NO_USE);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_NO_USE);
    CHECK_STR(c.results.items[1].why, "no such device can be used here");
    CHECK_INT(outcome(&c, 2), TN_HINT_IS_OVERRIDDEN);
    CHECK(c.results.items[2].by == c.results.items[0].hint);
    end(&c);
}

TEST(without_a_graph_only_what_cannot_be_is_judged)
{
    struct court c;
    begin(&c);
    c.world.nodes = NULL;
    c.world.node_count = 0;
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("gpu"), "force") ", " PLACE(ALL, ON("cpu"), "prefer")));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_REFUSED);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_UNJUDGED);
    CHECK_INT(c.findings.blockers, 1);
    end(&c);
}

TEST(the_device_of_everything_needs_no_graph)
{
    struct court c;
    begin(&c);
    const struct tn_hint_list *lists[TN_HINT_ORIGINS];
    for (int i = 0; i < TN_HINT_ORIGINS; i++) lists[i] = &c.lists[i];
    CHECK(tn_hints_device(lists, TN_HINT_ORIGINS, both, 1) == NULL);
    give(&c, TN_HINT_FROM_METADATA, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer")));
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE("{\"pattern\": \"layer*\"}", ON("cpu"), "force") ", " PLACE(ALL, ON("cpu"), "prefer")));
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer")));
    const struct tn_hint *h = tn_hints_device(lists, TN_HINT_ORIGINS, both, 1);
    REQUIRE(h);
    CHECK_INT(h->origin, TN_HINT_FROM_USER); /* the caller's cannot be had, and is a preference */
    CHECK(tn_str_is(h->pointer, "/placement/1"));
    h = tn_hints_device(lists, TN_HINT_ORIGINS, both, 3);
    REQUIRE(h);
    CHECK_INT(h->origin, TN_HINT_FROM_CALLER);
    end(&c);
    begin(&c); /* within one document the later one */
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer") ", " PLACE(ALL, ON("any"), "prefer")));
    h = tn_hints_device(lists, TN_HINT_ORIGINS, both, 1);
    REQUIRE(h);
    CHECK(tn_str_is(h->pointer, "/placement/1"));
    end(&c);
}

TEST(devices_as_texts)
{
    static const char *const none[] = {"", "tpu", "gpu:", "gpu:x", "gpu:-1", "gpu: 1", "GPU", "gpu:1234567890123456789",
                                       "gpu:99999999999999999999999999999999"};
    struct tn_hint_device d = {0};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) CHECK(!tn_hint_device_parse(tn_str_of(none[i]), &d));
    REQUIRE(tn_hint_device_parse(TN_STR("gpu:123456789012345678"), &d));
    CHECK(d.type == TN_DEVICE_GPU && d.has_index);
    CHECK_INT(d.index, 123456789012345678);
    REQUIRE(tn_hint_device_parse(TN_STR("any"), &d));
    CHECK(d.type == TN_DEVICE_ANY && !d.has_index);
}

/* Numbers that differ contradict each other, whichever is larger; so do kernels of two names. */
TEST(different_numbers_and_kernels_override)
{
    for (int i = 0; i < 2; i++) {
        struct court c;
        begin(&c);
        give(&c, TN_HINT_FROM_USER, i ? "{\"scheduling\": [{\"action\": \"chunk_size\", \"chunk_size\": 8}, "
                                        "{\"action\": \"chunk_size\", \"chunk_size\": 4}]}"
                                      : "{\"scheduling\": [{\"action\": \"chunk_size\", \"chunk_size\": 4}, "
                                        "{\"action\": \"chunk_size\", \"chunk_size\": 8}]}");
        REQUIRE(judge(&c) == TN_OK);
        CHECK_INT(outcome(&c, 0), TN_HINT_IS_OVERRIDDEN);
        CHECK_INT(outcome(&c, 1), TN_HINT_IS_NO_USE);
        end(&c);
    }
    static const struct tn_hint kernels[] = {
        {.kind = TN_HINT_KERNEL, .origin = TN_HINT_FROM_MODEL, .text = TN_STR("flash"), .file = TN_STR("m"), .pointer = TN_STR("a")},
        {.kind = TN_HINT_KERNEL, .origin = TN_HINT_FROM_MODEL, .text = TN_STR("plain"), .file = TN_STR("m"), .pointer = TN_STR("b")},
        {.kind = TN_HINT_KERNEL, .origin = TN_HINT_FROM_MODEL, .text = TN_STR("plain"), .file = TN_STR("m"), .pointer = TN_STR("c")},
    };
    struct court c;
    begin(&c);
    for (size_t i = 0; i < 3; i++) REQUIRE(tn_hint_list_add(&c.lists[TN_HINT_FROM_MODEL], &c.arena, &kernels[i]));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(outcome(&c, 0), TN_HINT_IS_OVERRIDDEN);
    CHECK_INT(outcome(&c, 1), TN_HINT_IS_NO_USE); /* the third says the same */
    CHECK_INT(outcome(&c, 2), TN_HINT_IS_NO_USE);
    end(&c);
}

/* ---- properties of a model file ---- */

#define PROPERTY(key, value, node) {TN_STR(key), TN_STR(value), TN_STR(node)}
#define OF_MODEL(key, value) {TN_STR(key), TN_STR(value), {NULL, 0}}

static void take(struct court *c, const struct tn_hint_property *p, size_t count, struct tn_hint_layers *layers)
{
    memset(layers, 0, sizeof(*layers));
    CHECK_INT(tn_hints_of_properties(p, count, TN_STR("model.onnx"), &c->arena, &c->findings, &c->lists[TN_HINT_FROM_MODEL],
                                     layers, c->err), TN_OK);
}

TEST(properties_become_hints)
{
    static const struct tn_hint_property p[] = {
        OF_MODEL("author", "nobody"), OF_MODEL("onnx_runtime.version", "1"), OF_MODEL("onnx_runtime.model.num_layers", "2"),
        OF_MODEL("onnx_runtime.model.layer_pattern", "layer {} "), OF_MODEL("onnx_runtime.model.architecture", "llama"),
        OF_MODEL("onnx_runtime.memory.arena_cpu_mb", "8192"), OF_MODEL("onnx_runtime.memory.prefetch", "a.weight, embeddings ,"),
        PROPERTY("onnx_runtime.layer", "1", "layer 1 output"), PROPERTY("onnx_runtime.group", "g", "layer 1 output"),
        PROPERTY("onnx_runtime.device", "gpu:0", "layer 1 output"), PROPERTY("onnx_runtime.device.strength", "force", "layer 1 output"),
        PROPERTY("onnx_runtime.kernel", "flash_attention", "layer 0 attention"),
        PROPERTY("onnx_runtime.scheduling.cuda_graph", "true", "layer 0 attention"),
        PROPERTY("onnx_runtime.scheduling.cuda_graph", "false", "embeddings"),
        PROPERTY("onnx_runtime.memory.pin", "false", "embeddings"), PROPERTY("onnx_runtime.memory.priority", "low", "embeddings"),
        PROPERTY("onnx_runtime.memory.priority", "normal", "layer 0 output"), PROPERTY("onnx_runtime.device", "cpu", "embeddings"),
        PROPERTY("onnx_runtime.device.strength", "prefer", "embeddings"), PROPERTY("onnx_runtime.offloadable", "true", "embeddings"),
    };
    struct court c;
    struct tn_hint_layers layers;
    begin(&c);
    take(&c, p, sizeof(p) / sizeof(p[0]), &layers);
    CHECK_INT(c.findings.count, 0);
    static const enum tn_hint_kind kinds[] = {TN_HINT_ARENA_SIZE, TN_HINT_PREFETCH, TN_HINT_GROUP, TN_HINT_PLACE, TN_HINT_KERNEL,
                                              TN_HINT_CUDA_GRAPH_REGION, TN_HINT_NO_CUDA_GRAPH, TN_HINT_LOW_PRIORITY,
                                              TN_HINT_PLACE, TN_HINT_OFFLOADABLE};
    const struct tn_hint_list *list = &c.lists[TN_HINT_FROM_MODEL];
    REQUIRE(list->count == sizeof(kinds) / sizeof(kinds[0]));
    for (size_t i = 0; i < list->count; i++) {
        CHECK_INT(list->items[i].kind, kinds[i]);
        CHECK_INT(list->items[i].origin, TN_HINT_FROM_MODEL);
        CHECK(tn_str_is(list->items[i].file, "model.onnx"));
    }
    CHECK(list->items[0].number == UINT64_C(8192) << 20);
    CHECK_INT(list->items[1].selector.name_count, 2);
    CHECK(tn_str_is(list->items[1].selector.names[1], "embeddings"));
    CHECK(list->items[3].force && list->items[3].device.type == TN_DEVICE_GPU && list->items[3].device.has_index);
    CHECK(!list->items[8].force);
    CHECK(tn_str_is(list->items[4].text, "flash_attention"));
    CHECK_INT(layers.count, 1);
    CHECK(tn_str_is(layers.pattern, "layer {} "));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(c.findings.blockers, 1); /* the forced gpu */
    CHECK(with_code(&c, TN_BLOCKER, TN_PLACEMENT_REFUSED));
    end(&c);
}

TEST(properties_that_cannot_be_read_are_warnings)
{
    static const struct tn_hint_property p[] = {
        PROPERTY("onnx_runtime.devcie", "gpu", "n"), PROPERTY("onnx_runtime.device", "tpu", "n"),
        PROPERTY("onnx_runtime.layer", "4294967296", "n"), /* more than any layer */
        PROPERTY("onnx_runtime.layer", "-1", "n"), PROPERTY("onnx_runtime.layer", "1e3", "n"),
        PROPERTY("onnx_runtime.memory.pin", "yes", "n"), PROPERTY("onnx_runtime.memory.priority", "urgent", "n"),
        PROPERTY("onnx_runtime.device.strength", "insist", "n"), OF_MODEL("onnx_runtime.memory.arena_gpu_mb", "lots"),
        OF_MODEL("onnx_runtime.memory.arena_gpu_mb", "99999999999999999999"), OF_MODEL("onnx_runtime.model.layer_pattern", "x"),
        OF_MODEL("onnx_runtime.layer", "1") /* of a node only */,
    };
    struct court c;
    struct tn_hint_layers layers;
    begin(&c);
    take(&c, p, sizeof(p) / sizeof(p[0]), &layers);
    CHECK_INT(c.findings.count, sizeof(p) / sizeof(p[0]));
    CHECK_INT(c.findings.blockers, 0);
    CHECK_INT(c.lists[TN_HINT_FROM_MODEL].count, 0);
    for (size_t i = 0; i < c.findings.count; i++) {
        CHECK_INT(c.findings.items[i].severity, TN_WARNING);
        CHECK_STR(c.findings.items[i].file, "model.onnx");
    }
    CHECK_CONTAINS(c.findings.items[0].expected, "onnx_runtime.device");
    CHECK_CONTAINS(c.findings.items[0].element, "n: onnx_runtime.devcie");
    end(&c);
}

TEST(a_property_lists_no_more_names_than_a_document)
{
    enum { MANY = TN_HINT_NAMES_MOST + 1 };
    struct court c;
    struct tn_hint_layers layers;
    char *text = malloc(2 * MANY);
    for (size_t i = 0; i < MANY; i++) memcpy(text + 2 * i, "a,", 2);
    text[2 * MANY - 1] = 0; /* MANY names, with a comma less */
    begin(&c);
    struct tn_hint_property p = {.key = TN_STR("onnx_runtime.memory.prefetch"), .value = {text, 2 * MANY - 1}};
    take(&c, &p, 1, &layers);
    CHECK_INT(c.lists[TN_HINT_FROM_MODEL].count, 0);
    REQUIRE(c.findings.count == 1);
    CHECK_INT(c.findings.items[0].severity, TN_WARNING);
    end(&c);
    free(text);
}

TEST(a_forced_device_that_cannot_be_read_blocks)
{
    static const struct tn_hint_property p[] = {
        PROPERTY("onnx_runtime.device.strength", "force", "n"), PROPERTY("onnx_runtime.device", "tpu", "n"),
    };
    struct court c;
    struct tn_hint_layers layers;
    begin(&c);
    take(&c, p, 2, &layers);
    CHECK_INT(c.findings.blockers, 1);
    end(&c);
}

TEST(properties_of_another_version_are_left_out)
{
    static const struct tn_hint_property p[] = {
        PROPERTY("onnx_runtime.device", "gpu", "n"), PROPERTY("onnx_runtime.device.strength", "force", "n"),
        OF_MODEL("onnx_runtime.version", "2"),
    };
    struct court c;
    struct tn_hint_layers layers;
    begin(&c);
    take(&c, p, 3, &layers);
    CHECK_INT(c.lists[TN_HINT_FROM_MODEL].count, 0);
    CHECK_INT(c.findings.count, 1);
    CHECK_CONTAINS(c.findings.items[0].message, "another version");
    end(&c);
}

/* ---- documents and memory ---- */

TEST(results_as_a_document)
{
    struct court c;
    struct tn_buf text;
    struct tn_json_writer w;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer")));
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer")));
    REQUIRE(judge(&c) == TN_OK);
    tn_buf_init(&text, &c.alloc, 1 << 20);
    tn_jw_init(&w, &text, false);
    tn_hint_results_write(&w, &c.results);
    CHECK_STR(text.data,
              "[{\"hint\":\"placement\",\"origin\":\"caller\",\"strength\":\"prefer\",\"file\":\"hints\",\"pointer\":"
              "\"/placement/0\",\"outcome\":\"satisfied\",\"selected\":7,\"lost\":0,\"by\":null,\"why\":null},"
              "{\"hint\":\"placement\",\"origin\":\"user_file\",\"strength\":\"prefer\",\"file\":\"my_hints.json\",\"pointer\":"
              "\"/placement/0\",\"outcome\":\"overridden\",\"selected\":7,\"lost\":7,\"by\":{\"hint\":\"placement\",\"origin\":"
              "\"caller\",\"strength\":\"prefer\",\"file\":\"hints\",\"pointer\":\"/placement/0\"},\"why\":null}]");
    tn_buf_release(&text);
    tn_buf_init(&text, &c.alloc, 1 << 20);
    tn_jw_init(&w, &text, false);
    tn_hint_list_write(&w, &c.lists[TN_HINT_FROM_USER]);
    CHECK_CONTAINS(text.data, "\"selector\":{\"pattern\":\"*\"},\"device\":\"gpu\"");
    tn_buf_release(&text);
    end(&c);
}

/* The n-th allocation fails, for every n: the right code or the whole result, and nothing stays. */
TEST(sweep_of_reading_and_resolving)
{
    static const struct tn_hint_property p[] = {
        PROPERTY("onnx_runtime.layer", "1", "layer 1 output"), PROPERTY("onnx_runtime.device", "cpu", "embeddings"),
        OF_MODEL("onnx_runtime.memory.prefetch", "a,b"), OF_MODEL("onnx_runtime.model.layer_pattern", "layer {}"),
    };
    bool whole = false;
    for (uint64_t n = 1; !whole && n < 2000; n++) {
        struct court c;
        struct tn_hint_layers layers = {0};
        begin(&c);
        tn_alloc_fail(&c.alloc, n, false);
        enum tn_status st = give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE("{\"names\": [\"embeddings\"]}", ON("gpu"), "prefer")));
        if (!st) st = tn_hints_of_properties(p, 4, TN_STR("model.onnx"), &c.arena, &c.findings, &c.lists[TN_HINT_FROM_MODEL], &layers, c.err);
        if (!st) st = judge(&c);
        whole = c.alloc.calls < c.alloc.fail_at;
        if (st) CHECK_INT(st, TN_INSUFFICIENT_MEMORY);
        if (st) CHECK_INT(c.err->primary.code, TN_INSUFFICIENT_MEMORY);
        if (whole) CHECK_INT(c.results.count, 3);
        /* A finding that found no room is counted: whoever owns the list fails then. */
        if (!st && !whole) CHECK(c.findings.dropped > 0 || c.results.count == 3);
        end(&c);
    }
    CHECK(whole);
}
