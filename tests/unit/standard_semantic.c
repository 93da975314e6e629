/*
 * The semantic check of the standard: samples, packages and what else stands in golden/standard hold; every edit of
 * semantic.txt is refused at exactly its place and nowhere else; failing allocations; documents of the wrong types.
 */
#define _GNU_SOURCE
#include "test.h"

#include "describe/standard/check.h"
#include "describe/standard/tables.h"
#include "standard_util.h"

static const char *const documents[] = {
    "samples/01-gemma4-text-decoder", "samples/04-whisper-encoder-decoder", "samples/05-wav2vec2-ctc",
    "samples/07-stable-diffusion-text-to-image", "samples/10-lora-adapter-selection", "samples/12-esm2-protein-encoder",
    "samples/15-windowed-attention", "samples/16-linear-attention-recurrent", "samples/18-static-cache-indexed-scatter",
    "samples/20-qwen3_5-hybrid-speculative-decoding", "samples/21-shared-prefix-pixel-flow",
    "samples/22-qwen3-chained-speculative-decoding", "samples/24-gemma4-e2b-assistant-speculative",
    "packages/adapter", "packages/codec", "packages/decoder", "packages/diffusion", "packages/masked",
    "packages/speculative", "packages/static_cache",
};
enum { DOCUMENTS = sizeof(documents) / sizeof(documents[0]) };

static struct tn_error err;

/* The places of all findings, a blank after each; path escapes in <>. */
static void places(const struct tn_json_doc *doc, char *out, size_t cap)
{
    struct tn_standard standard;
    struct tn_findings findings;
    size_t n = 0;
    out[0] = 0;
    tn_error_clear(&err);
    if (tn_standard_read(&standard, doc->alloc, tn_json_root(doc), &err)) {
        snprintf(out, cap, "unread: %s", err.primary.message);
        return;
    }
    tn_findings_init(&findings, doc->alloc, 100);
    CHECK_INT(tn_standard_check(&standard, &findings, &err), TN_OK);
    for (size_t i = 0; i < findings.count; i++) {
        const struct tn_finding *f = &findings.items[i];
        bool escape = f->code == TN_PATH_ESCAPE;
        n += (size_t)snprintf(out + n, n < cap ? cap - n : 0, escape ? "<%s> " : "%s ", f->element);
        CHECK(escape || f->code == TN_METADATA_INVALID);
        CHECK_INT(f->severity, TN_BLOCKER);
        CHECK(f->message[0] && f->expected[0]);
        CHECK_INT(f->element_kind, TN_ELEMENT_POINTER);
    }
    tn_findings_release(&findings);
    tn_standard_release(&standard);
}

TEST(documents_hold)
{
    for (size_t i = 0; i < DOCUMENTS; i++) {
        struct tn_alloc alloc;
        struct tn_json_doc doc = {0};
        char found[4096];
        tn_alloc_init(&alloc);
        REQUIRE(standard_open(&doc, &alloc, documents[i]));
        places(&doc, found, sizeof(found));
        if (found[0]) test_fail(__FILE__, __LINE__, "%s is refused at %s", documents[i], found);
        tn_json_release(&doc);
        CHECK_INT(tn_alloc_current(&alloc), 0);
    }
}

/* ---- edits ------------------------------------------------------------------------------------------------------ */

/* Cuts "POINTER OP VALUE" in place. */
static struct standard_change change_of(char *edit)
{
    struct standard_change change = {.pointer = edit};
    char *blank = strchr(edit, ' ');
    if (!blank) return change;
    *blank = 0;
    change.edit = (enum standard_edit)blank[1];
    change.value = blank[2] ? blank + 3 : "";
    return change;
}

/* Carries out "EDIT && EDIT ..." on the named document; cuts `edits` in place. */
static bool edit_all(struct tn_json_doc *doc, struct tn_alloc *alloc, const char *name, char *edits)
{
    if (!standard_open(doc, alloc, name)) return false;
    for (char *edit = edits, *next; edit; edit = next) {
        struct tn_json_doc edited = {0};
        next = strstr(edit, " && ");
        if (next) {
            *next = 0;
            next += 4;
        }
        struct standard_change change = change_of(edit);
        bool done = standard_edit(&edited, alloc, tn_json_root(doc), &change);
        tn_json_release(doc);
        *doc = edited;
        if (!done) return false;
    }
    return true;
}

/* One line of semantic.txt: "DOCUMENT EDITS -> PLACE". */
static void one_edit(const char *line, unsigned number)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    struct tn_findings shape;
    char copy[4096], found[4096], expected[512];
    snprintf(copy, sizeof(copy), "%s", line);
    char *edits = strchr(copy, ' '), *arrow = strstr(copy, " -> ");
    if (!edits || !arrow) {
        test_fail(__FILE__, __LINE__, "semantic.txt line %u is no edit", number);
        return;
    }
    *edits++ = *arrow = 0;
    snprintf(expected, sizeof(expected), "%s ", arrow + 4);
    tn_alloc_init(&alloc);
    if (!edit_all(&doc, &alloc, copy, edits)) {
        test_fail(__FILE__, __LINE__, "semantic.txt line %u changes nothing", number);
        return;
    }
    places(&doc, found, sizeof(found));
    if (strcmp(found, expected) != 0)
        test_fail(__FILE__, __LINE__, "semantic.txt line %u: refused at \"%s\", expected \"%s\"", number, found,
                  expected);
    /* Otherwise the tables refuse it already and the edit says nothing about the check; the one ABI is told by both. */
    tn_findings_init(&shape, &alloc, 4);
    if (tn_standard_check_tables(tn_json_root(&doc), &shape) != TN_OK && strcmp(arrow + 4, "/model/io") != 0)
        test_fail(__FILE__, __LINE__, "semantic.txt line %u: the tables refuse %s: %s", number,
                  shape.count ? shape.items[0].element : "", shape.count ? shape.items[0].message : "");
    tn_findings_release(&shape);
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(edits_are_refused_at_their_place)
{
    size_t size;
    unsigned number = 0, edits = 0;
    char *text = test_read_file(test_path("golden/standard/semantic.txt"), &size);
    REQUIRE(text);
    for (char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end) *end = 0;
        number++;
        if (*line == '#' || !*line) continue;
        one_edit(line, number);
        edits++;
    }
    CHECK(edits >= 230);
    free(text);
}

/* Numbers and words at the border of a rule: nothing is refused. */
TEST(what_just_holds_is_taken)
{
#define EXPERTS "/model + {\"mixture_of_experts\": {\"representation\": \"moe\", \"routed_expert_count\": 8, "                        \
                "\"shared_expert_count\": 0, \"experts_per_token\": 8, \"expert_intermediate_size\": 4, "                          \
                "\"shared_expert_intermediate_size\": 0, \"activation\": \"silu\", \"router\": {\"score_function\": \"softmax\", " \
                "\"selection_method\": "
#define ROUTER "\"normalize_weights\": true, \"scaling_factor\": 1.0}}"
#define SIZED " && /model + {\"vocab_size\": 8}"
    static const char *const holds[][2] = {
        {"samples/12-esm2-protein-encoder", EXPERTS "\"top_k\", " ROUTER "}"},
        {"samples/12-esm2-protein-encoder", EXPERTS "\"grouped_top_k\", \"group_count\": 4, \"groups_per_token\": 4, "
                                            "\"group_score\": \"max\", " ROUTER "}"},
        {"samples/12-esm2-protein-encoder", EXPERTS "\"top_k\", " ROUTER ", \"sharding\": {\"expert_parallel\": "
                                            "{\"expert_count\": 8}}}"},
        {"samples/20-qwen3_5-hybrid-speculative-decoding",
         "/speculative/vocabulary = {\"kind\": \"subset\", \"proposer_vocab_size\": 8}" SIZED},
        /* A size is a subset's: of the other kinds the tables refuse it, and it is measured against nothing. */
        {"samples/20-qwen3_5-hybrid-speculative-decoding",
         "/speculative/vocabulary = {\"kind\": \"identical\", \"proposer_vocab_size\": 9}" SIZED},
        {"samples/20-qwen3_5-hybrid-speculative-decoding",
         "/speculative/vocabulary = {\"kind\": \"mapped\", \"artifact\": \"ids.i64\", \"proposer_vocab_size\": 9}" SIZED},
    };
    for (size_t i = 0; i < sizeof(holds) / sizeof(holds[0]); i++) {
        struct tn_alloc alloc;
        struct tn_json_doc doc = {0};
        char found[4096], edits[1024];
        snprintf(edits, sizeof(edits), "%s", holds[i][1]);
        tn_alloc_init(&alloc);
        REQUIRE(edit_all(&doc, &alloc, holds[i][0], edits));
        places(&doc, found, sizeof(found));
        if (found[0]) test_fail(__FILE__, __LINE__, "%s with %s is refused at %s", holds[i][0], holds[i][1], found);
        tn_json_release(&doc);
        CHECK_INT(tn_alloc_current(&alloc), 0);
    }
#undef EXPERTS
#undef ROUTER
#undef SIZED
}

/* What cannot be read at a place is told by what it is: of the two edits the place is one, the remedy is not. */
TEST(what_is_not_there_yet_is_told_by_its_kind)
{
    static const char *const edits[][3] = {
        {"samples/07-stable-diffusion-text-to-image", "/pipeline/workflow/steps/0/carried = []", "is read where no loop carries it"},
        {"samples/07-stable-diffusion-text-to-image", "/pipeline/workflow/steps/1/inputs/latent = \"body.latent\"",
         "belongs to a loop's body or a branch's case"},
        /* A cell of a loop within a loop: it was carried there, and the loop around it has ended. */
        {"samples/07-stable-diffusion-text-to-image",
         "/pipeline/workflow/steps/0 = {\"kind\": \"loop\", \"continue_when\": \"package.continue\", \"max_iterations\": "
         "\"request.max_iterations\", \"carried\": [], \"steps\": [{\"kind\": \"loop\", \"continue_when\": "
         "\"package.continue\", \"max_iterations\": \"request.max_iterations\", \"carried\": [{\"cell\": \"latent\", "
         "\"next\": \"request.latent\"}], \"steps\": [], \"setup\": []}], \"setup\": []} && "
         "/pipeline/workflow/steps/1/inputs/latent = \"latent\" && /pipeline/workflow/manifest/capabilities = "
         "[\"workflow_ssa\", \"linear_effects\", \"typed_emit\", \"nested_control_flow\"]",
         "belongs to a loop's body or a branch's case"},
        {"samples/04-whisper-encoder-decoder", "/pipeline/workflow/steps/0/inputs/input_features = \"decoder.logits\"",
         "is read before it is produced"},
    };
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        struct tn_alloc alloc;
        struct tn_json_doc doc = {0};
        struct tn_standard standard;
        struct tn_findings findings;
        char copy[1024];
        snprintf(copy, sizeof(copy), "%s", edits[i][1]);
        tn_alloc_init(&alloc);
        REQUIRE(edit_all(&doc, &alloc, edits[i][0], copy));
        tn_error_clear(&err);
        CHECK_INT(tn_standard_read(&standard, &alloc, tn_json_root(&doc), &err), TN_OK);
        tn_findings_init(&findings, &alloc, 4);
        CHECK_INT(tn_standard_check(&standard, &findings, &err), TN_OK);
        REQUIRE(findings.count == 1);
        CHECK_CONTAINS(findings.items[0].message, edits[i][2]);
        tn_findings_release(&findings);
        tn_standard_release(&standard);
        tn_json_release(&doc);
        CHECK_INT(tn_alloc_current(&alloc), 0);
    }
}

/* All of several mistakes are told in one pass. */
TEST(all_findings_in_one_pass)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    char found[4096];
    char edits[] = "/pipeline/workflow/steps/2/value = \"nothing\" && /pipeline/workflow/manifest/capabilities = [] && "
                   "/pipeline/workflow/components/encoder/implementation/artifact = \"../x\"";
    tn_alloc_init(&alloc);
    REQUIRE(edit_all(&doc, &alloc, "samples/04-whisper-encoder-decoder", edits));
    places(&doc, found, sizeof(found));
    CHECK_STR(found, "/pipeline/workflow/steps/2/value /pipeline/workflow/manifest/capabilities "
                     "/pipeline/workflow/manifest/capabilities "
                     "</pipeline/workflow/components/encoder/implementation/artifact> ");
    tn_json_release(&doc);
}

/* ---- what is wrong or missing everywhere ------------------------------------------------------------------------ */

static size_t list_pointers(struct tn_json v, char (*out)[256], size_t max)
{
    size_t n = 0;
    struct tn_json stack[64];
    size_t depth = 0;
    for (stack[depth++] = v; depth > 0 && n < max;) {
        struct tn_json at = stack[--depth];
        if (tn_json_present(tn_json_next(at)) && at.node != v.node) stack[depth++] = tn_json_next(at);
        tn_json_pointer(at, out[n++], 256);
        if (tn_json_present(tn_json_first(at)) && depth < 63) stack[depth++] = tn_json_first(at);
    }
    return n;
}

/* Every value of a document replaced by each type, and removed: the check ends, whatever it says. */
TEST(any_type_anywhere)
{
    static const char *const values[] = {"null", "true", "-1", "1e300", "\"\"", "\"nothing\"", "[]", "[[0], {}]",
                                         "{}", "{\"\": {\"\": 1}}"};
    static const char *const names[] = {"samples/05-wav2vec2-ctc", "samples/10-lora-adapter-selection",
                                        "packages/static_cache"};
    static char pointers[2000][256];
    struct tn_alloc alloc;
    tn_alloc_init(&alloc);
    for (size_t d = 0; d < 3; d++) {
        struct tn_json_doc doc = {0};
        REQUIRE(standard_open(&doc, &alloc, names[d]));
        size_t count = list_pointers(tn_json_root(&doc), pointers, 2000);
        CHECK(count > 100);
        uint64_t seed = d;
        for (size_t i = 1; i < count; i++) {
            size_t v = (size_t)(test_random(&seed) % 11);
            struct standard_change change = {pointers[i], v < 10 ? STANDARD_REPLACE : STANDARD_REMOVE, v < 10
                                             ? values[v] : ""};
            struct tn_json_doc edited = {0};
            char found[65536];
            REQUIRE(standard_edit(&edited, &alloc, tn_json_root(&doc), &change));
            places(&edited, found, sizeof(found));
            tn_json_release(&edited);
        }
        tn_json_release(&doc);
    }
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(no_document_at_all)
{
    struct tn_alloc alloc;
    tn_alloc_init(&alloc);
    struct tn_standard standard;
    struct tn_findings findings;
    REQUIRE(tn_standard_read(&standard, &alloc, (struct tn_json){0}, &err) == TN_OK);
    tn_findings_init(&findings, &alloc, 10);
    CHECK_INT(tn_standard_check(&standard, &findings, &err), TN_OK);
    CHECK_INT(findings.count, 0);
    tn_findings_release(&findings);
    tn_standard_release(&standard);
    tn_standard_release(&standard);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(steps_nest_to_a_bound)
{
    const struct tn_limits limits = tn_limits_default();
    for (int levels = TN_STD_STEP_DEPTH - 1; levels <= TN_STD_STEP_DEPTH; levels++) {
        struct tn_alloc alloc;
        struct tn_json_doc doc = {0};
        struct tn_standard standard;
        char text[8192];
        size_t n = (size_t)snprintf(text, sizeof(text), "{\"pipeline\":{\"workflow\":{\"steps\":[");
        for (int i = 0; i < levels; i++) n += (size_t)snprintf(text + n, sizeof(text) - n,
                                                               "{\"kind\":\"sequence\",\"steps\":[");
        n += (size_t)snprintf(text + n, sizeof(text) - n, "{\"kind\":\"invoke\",\"component\":\"x\"}");
        for (int i = 0; i < levels; i++) n += (size_t)snprintf(text + n, sizeof(text) - n, "]}");
        n += (size_t)snprintf(text + n, sizeof(text) - n, "]}}}");
        tn_alloc_init(&alloc);
        REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("d.json"), (struct tn_str){text, n}, &err) == TN_OK);
        tn_error_clear(&err);
        bool fits = levels < TN_STD_STEP_DEPTH;
        CHECK_INT(tn_standard_read(&standard, &alloc, tn_json_root(&doc), &err), fits ? TN_OK : TN_RESOURCE_LIMIT);
        if (!fits) CHECK_CONTAINS(err.primary.element, "/steps/0/steps/0");
        tn_standard_release(&standard);
        tn_json_release(&doc);
        CHECK_INT(tn_alloc_current(&alloc), 0);
    }
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* Reads and checks with the n-th allocation failing; false when n was beyond the last. */
static bool with_fault(const struct tn_json_doc *doc, struct tn_alloc *alloc, uint64_t n, bool after, size_t expected)
{
    struct tn_standard standard;
    struct tn_findings findings;
    tn_error_clear(&err);
    tn_findings_init(&findings, alloc, 100);
    tn_alloc_fail(alloc, n, after);
    enum tn_status status = tn_standard_read(&standard, alloc, tn_json_root(doc), &err);
    if (!status) status = tn_standard_check(&standard, &findings, &err);
    bool hit = atomic_load(&alloc->calls) >= atomic_load(&alloc->fail_at);
    tn_alloc_fail(alloc, 0, false);
    if (!hit) CHECK_INT(status, TN_OK);
    /* A finding that did not fit is counted, never lost: a refused document is refused without memory too. */
    if (status) {
        CHECK_INT(status, TN_INSUFFICIENT_MEMORY);
        CHECK_INT(err.primary.code, TN_INSUFFICIENT_MEMORY);
    } else {
        CHECK_INT(findings.count + findings.dropped, expected);
        CHECK_INT(findings.blockers, expected);
    }
    tn_findings_release(&findings);
    tn_standard_release(&standard);
    return hit;
}

static void sweep_document(const char *name, const char *edits, size_t expected)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    char copy[512];
    snprintf(copy, sizeof(copy), "%s", edits);
    tn_alloc_init(&alloc);
    REQUIRE(*edits ? edit_all(&doc, &alloc, name, copy) : standard_open(&doc, &alloc, name));
    uint64_t held = tn_alloc_current(&alloc), n = 1;
    while (with_fault(&doc, &alloc, n, false, expected)) {
        with_fault(&doc, &alloc, n, true, expected);
        CHECK_INT(tn_alloc_current(&alloc), held);
        n++;
    }
    CHECK(n > 3);
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(sweep_of_failing_allocations)
{
    sweep_document("packages/speculative", "", 0);
    sweep_document("samples/21-shared-prefix-pixel-flow", "", 0);
    sweep_document("samples/10-lora-adapter-selection",
                   "/adapters/artifacts/green/index = 0 && /pipeline/workflow/steps/1/value = \"nothing\"", 2);
}

/* ---- the typed form --------------------------------------------------------------------------------------------- */

static void at(struct tn_json v, const char *expected)
{
    char pointer[256];
    tn_json_pointer(v, pointer, sizeof(pointer));
    CHECK_STR(pointer, expected);
}

static bool is(struct tn_str s, const char *text)
{
    return tn_str_is(s, text);
}

TEST(everything_is_read)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    struct tn_standard s;
    tn_alloc_init(&alloc);
    REQUIRE(standard_open(&doc, &alloc, "packages/speculative"));
    REQUIRE(tn_standard_read(&s, &alloc, tn_json_root(&doc), &err) == TN_OK);
    const struct tn_std_component *c = tn_standard_component(&s, TN_STR("grammar_commit"));
    REQUIRE(c && c->has_contract && c->has_row_scope && c->stateful);
    CHECK_INT(c->implementation, TN_STD_ADAPTER);
    CHECK_INT(c->equivalence, TN_STD_BITWISE);
    CHECK_INT(c->inputs.count, 4);
    CHECK_INT(c->outputs.count, 5);
    CHECK(is(c->abi.name, "onnx-genai.grammar-guidance") && is(c->version.name, "1"));
    at(c->row_axis.at, "/pipeline/workflow/components/grammar_commit/row_scope/axis");
    const struct tn_std_port *p = tn_standard_port(&c->inputs, TN_STR("tokens"));
    REQUIRE(p && p->contract.dim_count == 2);
    CHECK_INT(p->contract.dtype, TN_STD_I64);
    CHECK(!p->contract.dims[1].fixed && is(p->contract.dims[1].symbol, "proposal"));
    CHECK_INT(p->contract.layout.kind, TN_STD_REQUEST_ALIGNED);
    const struct tn_std_cell *cell = tn_standard_cell(&s, TN_STR("cache_1"));
    REQUIRE(cell);
    CHECK_INT(cell->recurrence, TN_STD_BOUNDED);
    CHECK_INT(cell->axis.value, 2);
    CHECK_INT(cell->management, TN_STD_RUNTIME);
    CHECK_INT(cell->boundary, TN_STD_END_OF_INVOCATION);
    CHECK(cell->contract.dims[1].fixed && cell->contract.dims[1].extent == 4);
    CHECK(tn_standard_cell(&s, TN_STR("proposal_k"))->advisory);
    const struct tn_std_group *g = tn_standard_group(&s, TN_STR("verifier_cache"));
    REQUIRE(g && g->port_count == 2);
    CHECK_INT(g->kind, TN_STD_FULL_ATTENTION);
    CHECK_INT(g->aliasing, TN_STD_ALIASING_PERMITTED);
    CHECK_INT(g->rollback_positions.value, 32);
    CHECK(g->snapshot && g->fork && g->prefix_reusable && !g->evictable_prefix && !g->has_update);
    CHECK_INT(g->ports[1].half, TN_STD_VALUE);
    CHECK(is(g->ports[1].component, "verifier") && is(g->ports[1].label, "cache_1") &&
          is(g->ports[1].output.name, "present.0.value"));
    const struct tn_std_effect *e = tn_standard_effect(&s, TN_STR("grammar"));
    REQUIRE(e);
    CHECK_INT(e->safety, TN_STD_REWINDABLE);
    CHECK_INT(e->max_depth.value, 8);
    CHECK_INT(e->retry, TN_STD_IDEMPOTENT);
    REQUIRE(s.workflow.steps.count == 1 && s.workflow.steps.items[0].body.count == 14);
    const struct tn_std_step *loop = &s.workflow.steps.items[0];
    CHECK_INT(loop->kind, TN_STD_LOOP);
    CHECK_INT(loop->carried_count, 11);
    CHECK(is(loop->carried[10].cell.name, "cache_1") && is(loop->carried[10].next.name, "verifier.present.0.value"));
    CHECK_INT(loop->body.items[13].mode, TN_STD_EMIT_APPEND);
    CHECK(is(loop->body.items[13].valid_length.name, "grammar.forced_length"));
    CHECK_INT(s.speculative.max_proposal_width.value, 8);
    CHECK_INT(s.speculative.rollback_state.count, 3);
    CHECK_INT(s.tokenizer.special_count, 2);
    CHECK_INT(s.generation.override_count, 2);
    CHECK_INT(s.language_count, 1);
    CHECK(is(s.languages[0].component.name, "grammar_commit"));
    tn_standard_release(&s);
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

static bool collect(void *user, const struct tn_std_artifact *a)
{
    char pointer[256], line[512];
    char *out = user;
    tn_json_pointer(a->at, pointer, sizeof(pointer));
    snprintf(line, sizeof(line), "%d %.*s %s\n", (int)a->use, (int)a->path.n, a->path.s, pointer);
    strncpy(out + strlen(out), line, 2000);
    return strlen(out) < 4000;
}

TEST(fields_that_name_files)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    struct tn_standard s;
    char found[8192] = "";
    tn_alloc_init(&alloc);
    REQUIRE(standard_open(&doc, &alloc, "samples/10-lora-adapter-selection"));
    REQUIRE(tn_standard_read(&s, &alloc, tn_json_root(&doc), &err) == TN_OK);
    tn_standard_artifacts(&s, collect, found);
    CHECK_STR(found, "0 model.onnx.textproto /pipeline/workflow/components/decoder/implementation/artifact\n"
                     "2 adapters/blue/adapter.json /adapters/artifacts/blue/weights/0/location\n"
                     "2 adapters/green/adapter.json /adapters/artifacts/green/weights/0/location\n"
                     "2 adapters/peft/adapter.json /adapters/artifacts/peft/weights/0/location\n"
                     "2 adapters/peft/adapter_model.safetensors /adapters/artifacts/peft/weights/1/location\n"
                     "3 adapters/peft/adapter_config.json /adapters/artifacts/peft/weights/1/config_location\n"
                     "2 adapters/red/adapter.json /adapters/artifacts/red/weights/0/location\n"
                     "4 tokenizer.json /package/tokenizer/artifacts/0/location\n");
    tn_standard_release(&s);
    tn_json_release(&doc);
}
