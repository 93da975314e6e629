/*
 * The tables of the inference-metadata standard and of execution hints: the samples hold, every edit of mutations.txt is
 * refused at exactly its place, what the schema leaves open is closed, and checking is cheap.
 */
#define _GNU_SOURCE
#include "test.h"

#include "describe/standard/tables.h"
#include "describe/standard/tables_types.h"
#include "standard_util.h"

#include <time.h>

static const char *const documents[] = {
    "samples/01-gemma4-text-decoder", "samples/04-whisper-encoder-decoder", "samples/05-wav2vec2-ctc",
    "samples/07-stable-diffusion-text-to-image", "samples/10-lora-adapter-selection", "samples/12-esm2-protein-encoder",
    "samples/15-windowed-attention", "samples/16-linear-attention-recurrent", "samples/18-static-cache-indexed-scatter",
    "packages/adapter", "packages/codec", "packages/decoder", "packages/diffusion", "packages/masked", "packages/static_cache",
};

typedef enum tn_status check_fn(struct tn_json root, struct tn_findings *findings);

/* The places of all blockers, with a blank after each. */
static enum tn_status places(struct tn_json root, check_fn *check, char *out, size_t cap, struct tn_finding *first)
{
    struct tn_findings findings;
    tn_findings_init(&findings, root.doc->alloc, 100);
    enum tn_status st = check(root, &findings);
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < findings.count; i++) {
        const struct tn_finding *f = &findings.items[i];
        if (f->severity != TN_BLOCKER) continue;
        if (first && n == 0) *first = *f;
        n += (size_t)snprintf(out + n, cap - n, "%s ", f->element);
        CHECK_INT(f->code, TN_METADATA_INVALID);
        CHECK(f->found[0] && f->expected[0] && f->message[0]);
    }
    CHECK_INT(st == TN_OK, n == 0);
    tn_findings_release(&findings);
    return st;
}

static struct tn_json_doc parse(struct tn_alloc *alloc, const char *quoted)
{
    const struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc = {0};
    char text[4096];
    size_t n = strlen(quoted);
    for (size_t i = 0; i <= n && i < sizeof(text); i++) text[i] = quoted[i] == '\'' ? '"' : quoted[i];
    enum tn_status st = tn_json_parse_copy(&doc, alloc, &limits, TN_STR("d.json"), (struct tn_str){text, n}, NULL);
    if (st) test_fail(__FILE__, __LINE__, "the test's own document does not parse: %s", quoted);
    return doc;
}

static void refused_at(check_fn *check, const char *quoted, const char *expected)
{
    struct tn_alloc alloc;
    char found[2048];
    tn_alloc_init(&alloc);
    struct tn_json_doc doc = parse(&alloc, quoted);
    places(tn_json_root(&doc), check, found, sizeof(found), NULL);
    if (strcmp(found, expected) != 0)
        test_fail(__FILE__, __LINE__, "%s: refused at \"%s\", expected \"%s\"", quoted, found, expected);
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

static void description(const char *quoted, const char *expected)
{
    refused_at(tn_standard_check_tables, quoted, expected);
}

static void hints(const char *quoted, const char *expected)
{
    refused_at(tn_execution_hints_check_tables, quoted, expected);
}

TEST(samples_hold)
{
    struct tn_alloc alloc;
    char found[2048];
    tn_alloc_init(&alloc);
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        struct tn_json_doc doc;
        REQUIRE(standard_open(&doc, &alloc, documents[i]));
        CHECK_INT(places(tn_json_root(&doc), tn_standard_check_tables, found, sizeof(found), NULL), TN_OK);
        if (found[0]) test_fail(__FILE__, __LINE__, "%s: %s", documents[i], found);
        tn_json_release(&doc);
    }
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* One line of mutations.txt: "DOCUMENT POINTER EDIT [VALUE]". */
static void one_mutation(struct tn_alloc *alloc, char *line)
{
    struct tn_json_doc doc, edited;
    char expected[600], found[2048];
    char *name = strtok(line, " "), *pointer = strtok(NULL, " "), *edit = strtok(NULL, " "), *value = strtok(NULL, "\n");
    REQUIRE(name && pointer && edit);
    const struct standard_change change = {pointer, (enum standard_edit)edit[0], value};
    REQUIRE(standard_open(&doc, alloc, name));
    bool done = standard_edit(&edited, alloc, tn_json_root(&doc), &change);
    tn_json_release(&doc);
    if (!done) {
        test_fail(__FILE__, __LINE__, "%s %s %s: nothing to edit", name, pointer, edit);
        return;
    }
    places(tn_json_root(&edited), tn_standard_check_tables, found, sizeof(found), NULL);
    tn_json_release(&edited);
    snprintf(expected, sizeof(expected), "%s ", pointer);
    if (strcmp(found, expected) != 0) {
        test_fail(__FILE__, __LINE__, "%s %s %s %s: refused at \"%s\"", name, pointer, edit, value ? value : "", found);
    }
}

TEST(mutations_are_refused_at_their_place)
{
    struct tn_alloc alloc;
    size_t size, count = 0;
    char *text = test_read_file(test_path("golden/standard/mutations.txt"), &size), *next = NULL;
    REQUIRE(text);
    tn_alloc_init(&alloc);
    for (char *line = text; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (*line == '#') continue;
        one_mutation(&alloc, line);
        count++;
    }
    CHECK(count >= 130);
    CHECK_INT(tn_alloc_current(&alloc), 0);
    free(text);
}

TEST(open_objects_are_closed)
{
    description("{'model': {'colour': 1}}", "/model/colour ");
    description("{'model': {'attention': {'type': 'gqa', 'colour': 1}}}", "/model/attention/colour ");
    description("{'preprocessing': {'video': {}}}", "/preprocessing/video ");
    description("{'quantization': {'defaults': 'int8'}}", "/quantization/defaults ");
    description("{'hardware_requirements': {'min_memory_mb': 1}}", "/hardware_requirements/min_memory_mb ");
    description("{'generation': {'defaults': {'typical_p': 0.9}}}", "/generation/defaults/typical_p ");
    hints("{'placement': [{'selector': {'name': 'x'}, 'device': {'type': 'cpu'}}]}", "/placement/0/selector/name ");
    hints("{'placement': [{'selector': {'pattern': 'x'}, 'device': {'type': 'cpu', 'kind': 'x'}}]}", "/placement/0/device/kind ");
    hints("{'memory': [{'action': 'pin', 'selector': {'layer_range': {'start': 0, 'end': 1, 'step': 2}}}]}",
          "/memory/0/selector/layer_range/step ");
}

TEST(null_is_absence)
{
    description("{'schema_version': null, 'model': null, 'pipeline': null, 'package': {'tokenizer': null}}", "");
    description("{'profiles': null}", "/profiles ");
    description("{'required_capabilities': null}", "/required_capabilities ");
    description("{'package': {'tokenizer': {'algorithm': null, 'vocab_size': 1}}}", "/package/tokenizer/algorithm ");
}

TEST(old_ports_beside_a_workflow)
{
#define WORKFLOW "'pipeline': {'workflow': {'components': {}, 'manifest': {}, 'steps': []}}"
    description("{" WORKFLOW ", 'model': {'io': {}}}", "/model/io ");
    description("{" WORKFLOW ", 'model': {'io': {'token_input': 'ids'}}}", "/model/io ");
    description("{" WORKFLOW ", 'model': {'io': null}}", "");
    description("{" WORKFLOW ", 'model': {}}", "");
    description("{" WORKFLOW ", 'model': null}", "");
    description("{'pipeline': null, 'model': {'io': {'token_input': 'ids'}}}", "");
    description("{'model': {'io': {'token_input': 'ids'}}}", "");
}

TEST(versions)
{
    struct tn_alloc alloc;
    struct tn_finding first = {0};
    char found[256];
    description("{}", "");
    description("{'schema_version': 'v1'}", "");
    description("{'schema_version': '1.0'}", "");
    description("{'schema_version': 'v2', 'colour': 1, 'model': 5}", "/schema_version ");
    description("{'schema_version': ''}", "/schema_version ");
    description("{'schema_version': 1.0}", "/schema_version ");
    description("{'schema_version': 1.0, 'colour': 1}", "/schema_version /colour ");
    description("{'colour': 1, 'schema_version': 1}", "/colour /schema_version ");
    description("{'schema_version': 2, 'colour': 1}", "/schema_version ");
    tn_alloc_init(&alloc);
    struct tn_json_doc doc = parse(&alloc, "{'schema_version': 'v2'}");
    places(tn_json_root(&doc), tn_standard_check_tables, found, sizeof(found), &first);
    CHECK_CONTAINS(first.message, "\"v2\"");
    CHECK_CONTAINS(first.message, "\"v1\"");
    tn_json_release(&doc);
}

TEST(grouped_experts_need_their_groups)
{
#define ROUTER(method, more)                                                                                        \
    "{'model': {'mixture_of_experts': {'activation': 'silu', 'expert_intermediate_size': 1, 'experts_per_token': 1,"  \
    "'representation': 'moe', 'routed_expert_count': 8, 'shared_expert_count': 0, 'shared_expert_intermediate_size': 0," \
    "'router': {'normalize_weights': true, 'scaling_factor': 1.0, 'score_function': 'softmax',"                      \
    "'selection_method': '" method "'" more "}}}}"
    description(ROUTER("top_k", ""), "");
    description(ROUTER("grouped_top_k", ", 'group_count': 2, 'groups_per_token': 1, 'group_score': 'maximum'"), "");
    description(ROUTER("grouped_top_k", ", 'group_count': 2, 'group_score': null"),
                "/model/mixture_of_experts/router/groups_per_token /model/mixture_of_experts/router/group_score ");
}

TEST(lists_that_are_sets)
{
    struct tn_alloc alloc;
    char text[8192], found[2048];
    const struct tn_limits limits = tn_limits_default();
    description("{'speculative': {'max_proposal_width': 1, 'proposer': 'a', 'target': 'b', 'vocabulary': {'kind': 'identical'},"
                "'shared_weights': ['x', 'y', 'x', 'y', 'x']}}",
                "/speculative/shared_weights/2 /speculative/shared_weights/4 /speculative/shared_weights/3 ");
    /* More elements than are compared pairwise. */
    size_t n = (size_t)snprintf(text, sizeof(text),
                                "{\"speculative\":{\"max_proposal_width\":1,\"proposer\":\"a\",\"target\":\"b\","
                                "\"vocabulary\":{\"kind\":\"identical\"},\"shared_weights\":[");
    for (int i = 0; i < 300; i++) n += (size_t)snprintf(text + n, sizeof(text) - n, "\"w%d\",", i * 7919 % 300);
    n += (size_t)snprintf(text + n, sizeof(text) - n, "\"w150\"]}}");
    tn_alloc_init(&alloc);
    struct tn_json_doc doc;
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("d.json"), (struct tn_str){text, n}, NULL) == TN_OK);
    places(tn_json_root(&doc), tn_standard_check_tables, found, sizeof(found), NULL);
    CHECK_STR(found, "/speculative/shared_weights/300 ");
    tn_alloc_fail(&alloc, 1, true);
    CHECK_INT(tn_standard_check_tables(tn_json_root(&doc), NULL), TN_INSUFFICIENT_MEMORY);
    tn_alloc_fail(&alloc, 0, false);
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(all_problems_in_one_pass)
{
    description("{'model': {'attention': {'head_dim': 0, 'sliding_window': 1.5}, 'vocab_size': 0}, 'packages': {},"
                "'adapters': 5, 'profiles': {'a': {'kind': '', 'version': '1', 'outputs': {'x': 1}}}}",
                "/model/attention/head_dim /model/attention/sliding_window /model/attention/type /model/vocab_size /packages "
                "/adapters /profiles/a/kind /profiles/a/outputs/x ");
}

TEST(hints_hold_and_are_refused)
{
    hints("{}", "");
    hints("{'placement': [{'selector': {'pattern': 'layers.*'}, 'device': {'type': 'gpu', 'index': 0}, 'strength': 'force'}],"
          "'memory': [{'action': 'arena_size', 'device': {'type': 'cpu'}, 'bytes': 1024, 'reason': 'small machine'}],"
          "'scheduling': [{'action': 'chunk_size', 'chunk_size': 4}]}",
          "");
    hints("{'placement': [{'device': {'type': 'tpu'}, 'strength': 'must'}]}",
          "/placement/0/device/type /placement/0/strength /placement/0/selector ");
    hints("{'placement': [{'selector': {}, 'device': {'type': 'cpu'}}]}", "/placement/0/selector ");
    hints("{'scheduling': [{'action': 'chunk_size', 'chunk_size': 0}]}", "/scheduling/0/chunk_size ");
    hints("{'memory': [{'action': 'pin', 'bytes': -1}]}", "/memory/0/bytes ");
    hints("{'placements': []}", "/placements ");
    hints("[]", " ");
}

/* A document of the size that the project promises to check fast: 25 components with their steps and values. */
static size_t large_document(char *out, size_t cap)
{
#define CONTRACT "{\"dtype\":\"float32\",\"rank\":3,\"shape\":[\"batch\",\"sequence\",768],\"batch_layout\":{\"kind\":\"request_aligned\",\"axis\":0}}"
    size_t n = (size_t)snprintf(out, cap, "{\"schema_version\":\"v1\",\"pipeline\":{\"workflow\":{\"manifest\":{},\"components\":{");
    for (int i = 0; i < 25; i++) {
        n += (size_t)snprintf(out + n, cap - n, "%s\"component_%d\":{\"implementation\":{\"kind\":\"onnx\",\"artifact\":\"part_%d/model.onnx\"},"
                              "\"ports\":{\"inputs\":{", i ? "," : "", i, i);
        for (int p = 0; p < 8; p++) n += (size_t)snprintf(out + n, cap - n, "%s\"in_%d\":" CONTRACT, p ? "," : "", p);
        n += (size_t)snprintf(out + n, cap - n, "},\"outputs\":{");
        for (int p = 0; p < 8; p++) n += (size_t)snprintf(out + n, cap - n, "%s\"out_%d\":" CONTRACT, p ? "," : "", p);
        n += (size_t)snprintf(out + n, cap - n, "}}}");
    }
    n += (size_t)snprintf(out + n, cap - n, "},\"steps\":[");
    for (int i = 0; i < 25; i++) {
        n += (size_t)snprintf(out + n, cap - n, "%s{\"kind\":\"invoke\",\"component\":\"component_%d\",\"inputs\":{\"in_0\":\"a\"},"
                              "\"outputs\":{\"out_0\":\"v%d\"}}", i ? "," : "", i, i);
    }
    return n + (size_t)snprintf(out + n, cap - n, "]}}}");
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

TEST(large_document_is_checked_fast)
{
    static char text[1 << 18];
    const struct tn_limits limits = tn_limits_default();
    struct tn_alloc alloc;
    struct tn_json_doc doc;
    size_t n = large_document(text, sizeof(text));
    tn_alloc_init(&alloc);
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("d.json"), (struct tn_str){text, n}, NULL) == TN_OK);
    double best = 1;
    for (int i = 0; i < 20; i++) {
        double start = seconds();
        CHECK_INT(tn_standard_check_tables(tn_json_root(&doc), NULL), TN_OK);
        double took = seconds() - start;
        if (took < best) best = took;
    }
    /* About 0.1 ms without a sanitizer; the ceiling leaves room for one and for a busy machine. */
    CHECK(best < 5e-3);
    tn_json_release(&doc);
}
