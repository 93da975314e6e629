/*
 * Execution hints: what a selector names. Expectations follow from the proposal's schema and prose: `*` and `?` in patterns,
 * ranges that include both ends.
 */
#include "hints_kit.h"

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
