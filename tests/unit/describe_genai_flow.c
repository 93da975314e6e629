/*
 * A contract beside the genai_config that it came from, after one of the two was edited: components, ports, shapes, state
 * groups and steps are compared by graphs and their ports, whatever either side calls them. Each difference is a warning at
 * its place in the contract, with the value of either side; what only one side states is none.
 */
#include "genai_kit.h"

#include "describe/validate.h"

#define CONTRACT "inference_metadata.yaml"
#define FLOW "/pipeline/workflow"
#define PORTS FLOW "/components/decoder/ports"
#define GROUPS FLOW "/serving/state_service/groups"
#define DIFFERS "the declared contract decides against the convention's files"

static size_t differences(const struct tn_description *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->findings.count; i++)
        n += d->findings.items[i].severity == TN_WARNING && strcmp(d->findings.items[i].message, DIFFERS) == 0;
    return n;
}

struct edit {
    const char *file, *from, *to;
};

struct row {
    const char *package;
    struct edit edits[3];
    size_t count; /* of warnings */
    const char *pointer, *found;
    int line;
};

#define SAYS(declared, imported) declared " in the contract, " imported " by the import of genai_config"

static void run_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct row *r = &rows[i];
        REQUIRE(genai_described(r->package));
        for (size_t k = 0; k < 3 && r->edits[k].file; k++) kit_edit(r->edits[k].file, r->edits[k].from, r->edits[k].to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        if (r->count)
            kit_expect(d, (struct kit_expected){TN_WARNING, TN_METADATA_INVALID, CONTRACT, r->pointer, DIFFERS, r->found, NULL,
                                               "describe the package again"}, __FILE__, r->line);
        if (differences(d) != r->count) {
            test_fail(__FILE__, r->line, "%zu differences, expected %zu", differences(d), r->count);
            print_findings(&d->findings);
        }
        kit_close(d);
    }
}
#define RUN_ROWS(rows) run_rows((rows), sizeof(rows) / sizeof((rows)[0]))

TEST(documents_say_what_their_original_says)
{
    static const struct row rows[] = {
        {"plain", .line = __LINE__},    {"shared_buffer", .line = __LINE__}, {"windows", .line = __LINE__},
        {"combined", .line = __LINE__}, {"hybrid", .line = __LINE__},        {"speech_to_text", .line = __LINE__},
        {"pictures", .line = __LINE__}, {"stages", .line = __LINE__},        {"as_built", .line = __LINE__},
    };
    RUN_ROWS(rows);
}

#define KEYS(n, m) "past_key_values." n ".key:\n                  input: past_key_values." n ".key\n                  output: present." m ".key\n"
#define CELL(n, half) "past_key_values." n "." half ":\n                  input: past_key_values." n "." half "\n                  output: present." n "." half "\n                  role: " half "\n                  layer: "

TEST(state_is_compared_by_its_ports)
{
    static const struct row rows[] = {
        {"windows", {{DOCUMENT, "                    0,\n                    2\n", "                    0,\n                    1\n"}}, 2,
         GROUPS "/sliding_attention/ports/decoder/past_key_values.2.key", SAYS("\"sliding_attention\"", "\"full_attention\""), __LINE__},
        {"plain", {{CONTRACT, "kind: full_attention", "kind: sliding_attention"}}, 1,
         GROUPS "/full_attention/ports/decoder/past_key_values.0.key", SAYS("\"sliding_attention\"", "\"full_attention\""), __LINE__},
        {"plain", {{DOCUMENT, "\"past_present_share_buffer\": false", "\"past_present_share_buffer\": true"}}, 1,
         GROUPS "/full_attention", SAYS("nothing", "\"permitted\""), __LINE__},
        {"shared_buffer", {{CONTRACT, "aliasing: permitted", "aliasing: forbidden"}}, 1,
         GROUPS "/full_attention/aliasing", SAYS("\"forbidden\"", "\"permitted\""), __LINE__},
        {"plain", {{CONTRACT, KEYS("0", "0"), KEYS("0", "9")}, {CONTRACT, KEYS("1", "1"), KEYS("1", "0")}, {CONTRACT, KEYS("0", "9"), KEYS("0", "1")}},
         2, GROUPS "/full_attention/ports/decoder/past_key_values.0.key/output", SAYS("\"present.1.key\"", "\"present.0.key\""), __LINE__},
        {"plain", {{CONTRACT, CELL("0", "key") "0", CELL("0", "key") "7"}, {CONTRACT, CELL("0", "value") "0", CELL("0", "value") "7"}}, 2,
         GROUPS "/full_attention/ports/decoder/past_key_values.0.value/layer", SAYS("7", "0"), __LINE__},
        {"plain", {{CONTRACT, "sequence_axis: 2\n            update:\n              kind: append", "update:\n              kind: replace"}}, 1,
         GROUPS "/full_attention/update/kind", SAYS("\"replace\"", "\"append\""), __LINE__},
    };
    RUN_ROWS(rows);
}

#define MASK(shape, layout) "            attention_mask:\n              dtype: int64\n              rank: 2\n              shape:\n              - batch\n" \
    "              - " shape "\n              batch_layout:\n                kind: " layout "\n"
#define ALIGNED "request_aligned\n                axis: 0"

TEST(ports_are_compared)
{
    static const struct row rows[] = {
        {"plain", {{CONTRACT, MASK("total", ALIGNED), MASK("16", ALIGNED)}}, 1, PORTS "/inputs/attention_mask/shape/1",
         SAYS("16", "\"total\""), __LINE__},
        {"plain", {{CONTRACT, MASK("total", ALIGNED), MASK("total", "shared")}}, 1, PORTS "/inputs/attention_mask/batch_layout/kind",
         SAYS("\"shared\"", "\"request_aligned\""), __LINE__},
        /* a symbol is a name like any other, and a port that the contract leaves out says nothing */
        {"plain", {{CONTRACT, MASK("total", ALIGNED), MASK("everything", ALIGNED)}}, 0, NULL, NULL, __LINE__},
        {"plain", {{CONTRACT, MASK("total", ALIGNED), ""}}, 0, NULL, NULL, __LINE__},
    };
    RUN_ROWS(rows);
}

TEST(steps_are_compared_by_where_their_inputs_come_from)
{
    static const struct row rows[] = {
        {"speech_to_text", {{CONTRACT, "past_key_cross_0: encoder.present_key_cross_0", "past_key_cross_0: encoder.present_key_cross_1"}}, 1,
         FLOW "/steps/1/inputs/past_key_cross_0",
         SAYS("present_key_cross_1 of encoder.onnx", "present_key_cross_0 of encoder.onnx"), __LINE__},
        /* the same value under another name */
        {"pictures", {{CONTRACT, "inputs_embeds: embedding.inputs_embeds", "inputs_embeds: rows"},
                      {CONTRACT, "inputs_embeds: embedding.inputs_embeds", "inputs_embeds: rows"}}, 0, NULL, NULL, __LINE__},
    };
    RUN_ROWS(rows);
}

/* ---- what is too large --------------------------------------------------------------------------------------------- */

/* The pair beside its original, with so many more components in the contract. */
static bool with_components(int count)
{
    size_t n = 0, cap = (size_t)count * 96 + 64;
    char *text = malloc(cap);
    if (!text || !genai_described("plain")) return false;
    n += (size_t)snprintf(text, cap, "    components:\n");
    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(text + n, cap - n, "      c%d:\n        implementation: {kind: onnx, artifact: model.onnx}\n", i);
    kit_edit(CONTRACT, "    components:\n", text);
    free(text);
    return true;
}

TEST(a_workflow_that_nobody_reads_is_not_compared)
{
    REQUIRE(with_components(8300));
    ctx.limits.findings = 20000;
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_NOTE, TN_RESOURCE_LIMIT, CONTRACT, FLOW, "too large to compare");
    kit_close(d);
    REQUIRE(with_components(10));
    d = kit_describe();
    REQUIRE(d);
    for (size_t i = 0; i < d->findings.count; i++) CHECK(d->findings.items[i].code != TN_RESOURCE_LIMIT);
    kit_close(d);
    ctx.limits = tn_limits_default();
}

/* More findings than are listed, few of them about documents: the rest is counted, and no memory was short. */
TEST(a_verdict_on_more_findings_than_are_listed)
{
    struct tn_validation v;
    REQUIRE(with_components(40));
    ctx.limits.findings = 20;
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK(d->findings.dropped > 0);
    CHECK_INT(tn_validate_package(d, &v, err), TN_OK);
    CHECK(v.findings.dropped > 0 && v.findings.count < 20);
    tn_validation_release(&v);
    kit_close(d);
    ctx.limits = tn_limits_default();
}

static bool is_compared(const struct tn_description *d)
{
    return differences(d) == 2;
}

TEST(every_allocation_of_a_comparison_can_fail)
{
    REQUIRE(genai_described("windows"));
    kit_edit(DOCUMENT, "                    0,\n                    2\n", "                    0,\n                    1\n");
    kit_sweep(is_compared);
}
