/*
 * Numbers of genai_config.json that must agree with one another: tokens with the vocabulary, lengths with lengths, heads
 * with heads, layers with layers. Each value was checked alone before; a value that failed there is not looked at again.
 */
#include "describe/dialect/genai.h"

#include <string.h>

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void check_token(struct tn_genai *g, struct tn_json v)
{
    uint64_t id;
    if (!g->vocabulary.present || !tn_json_u64(v, &id) || id < g->vocabulary.value) return;
    tn_expected(tn_genai_refuse(g, v, "is outside the vocabulary"), "less than vocab_size %llu",
                (unsigned long long)g->vocabulary.value);
}

static void check_tokens(struct tn_genai *g)
{
    for (struct tn_json v = tn_json_first(g->model); tn_json_present(v); v = tn_json_next(v)) {
        if (!tn_str_ends(tn_json_key(v), "_token_id")) continue;
        if (!tn_json_is(v, TN_JSON_ARRAY)) check_token(g, v);
        else if (tn_json_count(v) <= TN_GENAI_IDS)
            for (struct tn_json e = tn_json_first(v); tn_json_present(e); e = tn_json_next(e)) check_token(g, e);
    }
}

static void check_lengths(struct tn_genai *g)
{
    struct tn_json longest = tn_json_get(g->search, "max_length"), least = tn_json_get(g->search, "min_length");
    uint64_t most = g->context.value, n;
    if (tn_json_u64(longest, &n) && g->context.present && n > g->context.value)
        tn_expected(tn_genai_refuse(g, longest, "is beyond the context"), "at most context_length %llu",
                    (unsigned long long)g->context.value);
    if (tn_json_u64(longest, &n)) most = n;
    if (!tn_json_u64(least, &n) || most == 0 || n <= most) return;
    tn_expected(tn_genai_refuse(g, least, "is beyond the largest length"), "at most %llu", (unsigned long long)most);
}

static void check_heads(struct tn_genai *g)
{
    uint64_t heads = g->heads.value, shared = g->kv_heads.value, width;
    if (g->heads.present && g->kv_heads.present && heads % shared != 0) {
        struct tn_finding *f = tn_genai_refuse(g, g->kv_heads.at, "does not divide the heads");
        tn_expected(f, "a divisor of num_attention_heads %llu", (unsigned long long)heads);
    }
    if (!g->heads.present || !g->head_size.present || !g->hidden.present) return;
    width = heads * g->head_size.value; /* both have 31 bits */
    if (width == g->hidden.value) return;
    /* True of good models as well: projections may be wider or narrower than the residual stream. */
    struct tn_finding *f = tn_note(g->b, TN_METADATA_INVALID, "the heads together are not as wide as the hidden state");
    tn_at_json(f, g->head_size.at);
    tn_found(f, "%llu heads of %llu, hidden_size %llu", (unsigned long long)heads,
             (unsigned long long)g->head_size.value, (unsigned long long)g->hidden.value);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* Layer numbers below the number of layers, none twice. The list was checked to be short. */
static void check_layers(struct tn_genai *g, struct tn_json list)
{
    unsigned char seen[TN_GENAI_LAYERS] = {0};
    if (!tn_json_is(list, TN_JSON_ARRAY) || tn_json_count(list) > TN_GENAI_LAYERS || !g->layers.present) return;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        uint64_t layer;
        if (!tn_json_u64(v, &layer)) continue;
        if (layer >= g->layers.value)
            tn_expected(tn_genai_refuse(g, v, "is no layer"), "less than num_hidden_layers %llu",
                        (unsigned long long)g->layers.value);
        else if (seen[layer]++)
            tn_expected(tn_genai_refuse(g, v, "is in the list twice"), "each layer once");
    }
}

static const struct {
    const char *word;
    bool attention, recurrent, windowed;
} layer_types[] = {
    {"full_attention", true, false, false},
    {"sliding_attention", true, false, true},
    {"conv", false, true, false},
    {"linear_attention", false, true, false},
}, group_kinds[] = {
    {"paged_kv", true, false, false},
    {"fixed_conv", false, true, false},
    {"fixed_recurrent", false, true, false},
};

enum { TYPES = sizeof(layer_types) / sizeof(layer_types[0]), GROUPS = sizeof(group_kinds) / sizeof(group_kinds[0]) };

static void unknown_word(struct tn_genai *g, struct tn_json v, const char *expected)
{
    char pointer[256];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    g->hole = true;
    struct tn_finding *f = tn_blocker(g->b, TN_UNSUPPORTED_CONFIG, "%.*s in %.*s is a kind that nobody here knows",
                                      TN_FMT_ARG(at), TN_FMT_ARG(v.doc->file));
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "%s", expected);
}

static void check_layer_types(struct tn_genai *g)
{
    struct tn_json list = tn_json_find(g->model, "/decoder/layer_types");
    if (!tn_json_is(list, TN_JSON_ARRAY)) return;
    if (g->layers.present && tn_json_count(list) != g->layers.value) {
        struct tn_finding *f = tn_genai_refuse(g, list, "has not one entry per layer");
        tn_found(f, "%zu entries", tn_json_count(list));
        tn_expected(f, "num_hidden_layers %llu", (unsigned long long)g->layers.value);
    }
    if (tn_json_count(list) > TN_GENAI_LAYERS) return;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str word;
        size_t i = 0;
        if (!tn_json_str(v, &word)) continue;
        while (i < TYPES && !tn_str_is(word, layer_types[i].word)) i++;
        if (i == TYPES) unknown_word(g, v, "full_attention, sliding_attention, conv or linear_attention");
    }
}

static void check_state_groups(struct tn_genai *g)
{
    struct tn_json groups = tn_json_find(g->model, "/decoder/state_groups");
    if (!tn_json_is(groups, TN_JSON_ARRAY) || tn_json_count(groups) > TN_GENAI_GRAPHS) return;
    for (struct tn_json e = tn_json_first(groups); tn_json_present(e); e = tn_json_next(e)) {
        struct tn_json kind = tn_json_get(e, "kind");
        struct tn_str word;
        size_t i = 0;
        check_layers(g, tn_json_get(e, "layer_ids"));
        if (!tn_json_str(kind, &word)) continue;
        while (i < GROUPS && !tn_str_is(word, group_kinds[i].word)) i++;
        if (i == GROUPS) unknown_word(g, kind, "paged_kv, fixed_conv or fixed_recurrent");
    }
}

void tn_genai_cross_check(struct tn_genai *g)
{
    check_tokens(g);
    check_lengths(g);
    check_heads(g);
    check_layers(g, tn_json_find(g->model, "/decoder/sliding_window/layers"));
    check_layer_types(g);
    check_state_groups(g);
}

/* ---- one layer --------------------------------------------------------------------------------------------------- */

static bool lists(struct tn_json list, uint32_t layer)
{
    if (tn_json_count(list) > TN_GENAI_LAYERS) return false; /* refused before */
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        uint64_t n;
        if (tn_json_u64(v, &n) && n == layer) return true;
    }
    return false;
}

struct tn_genai_layer tn_genai_layer_of(const struct tn_genai *g, uint32_t layer)
{
    struct tn_genai_layer out = {false, false, false, false};
    struct tn_json decoder = tn_json_get(g->model, "decoder"), window = tn_json_get(decoder, "sliding_window");
    struct tn_json types = tn_json_get(decoder, "layer_types"), groups = tn_json_get(decoder, "state_groups");
    struct tn_str word = TN_STR("");
    if (tn_json_count(groups) > TN_GENAI_GRAPHS) groups = (struct tn_json){NULL, 0};
    if (tn_json_is(types, TN_JSON_ARRAY)) (void)tn_json_str(tn_json_at(types, layer), &word);
    for (size_t i = 0; i < TYPES; i++) {
        if (!tn_str_is(word, layer_types[i].word)) continue;
        out = (struct tn_genai_layer){layer_types[i].attention, layer_types[i].recurrent, layer_types[i].windowed, true};
    }
    for (struct tn_json e = tn_json_first(groups); tn_json_present(e); e = tn_json_next(e)) {
        if (!tn_json_str(tn_json_get(e, "kind"), &word) || !lists(tn_json_get(e, "layer_ids"), layer)) continue;
        for (size_t i = 0; i < GROUPS; i++) {
            if (!tn_str_is(word, group_kinds[i].word)) continue;
            out.attention = out.attention || group_kinds[i].attention;
            out.recurrent = out.recurrent || group_kinds[i].recurrent;
            out.stated = true;
        }
    }
    struct tn_json layers = tn_json_get(window, "layers");
    if (g->window.present) out.windowed = tn_json_count(layers) == 0 || lists(layers, layer);
    return out;
}
