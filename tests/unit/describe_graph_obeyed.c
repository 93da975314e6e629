/*
 * What a contract states of its graph: obeyed, compared with the graph, or refused where it stands. Edits by their code and
 * pointer; then every member that the standard's tables know, one at a time, added to each object of a good contract, and
 * every other value of its enumerations and truth values: what is neither refused nor in the list below fails the test.
 */
#include "documents_kit.h"
#include "graph_contract_kit.h"

#include "describe/standard/tables.h"

static void start(void)
{
    size_t size;
    kit_empty();
    char *bytes = test_read_file(test_path("golden/tensor/stateful/model.onnx"), &size);
    REQUIRE(bytes);
    put_bytes(kit_name("model.onnx"), bytes, size);
    free(bytes);
}

static void put_contract(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    REQUIRE(copy);
    gc_quote(strcpy(copy, text));
    kit_put(GC_NAME, copy);
    free(copy);
}

static struct tn_description *describe_edited(const struct kit_fault *f)
{
    char *text = gc_edited(gc_base, f->from, f->to);
    if (!text) test_fail(f->file, f->line, "the contract has no %s", f->from);
    if (!text) return NULL;
    put_contract(text);
    free(text);
    return kit_describe();
}

static void run(const struct kit_fault *faults, size_t count)
{
    start();
    for (size_t i = 0; i < count; i++) {
        struct tn_description *d = describe_edited(&faults[i]);
        if (!d) continue;
        kit_expect(d, faults[i].expected, faults[i].file, faults[i].line);
        kit_close(d);
    }
}
#define RUN(faults) run((faults), sizeof(faults) / sizeof((faults)[0]))

static void run_true(const struct kit_fault *edits, size_t count)
{
    start();
    for (size_t i = 0; i < count; i++) {
        struct tn_description *d = describe_edited(&edits[i]);
        if (!d) continue;
        kit_clean(d, edits[i].file, edits[i].line);
        kit_close(d);
    }
}
#define RUN_TRUE(edits) run_true((edits), sizeof(edits) / sizeof((edits)[0]))

#define INVALID(from, to, pointer, ...) KIT_FAULT(GC_NAME, from, to, TN_BLOCKER, TN_METADATA_INVALID, GC_NAME, pointer, __VA_ARGS__)
#define UNSUPPORTED(from, to, pointer, ...) KIT_FAULT(GC_NAME, from, to, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, GC_NAME, pointer, __VA_ARGS__)
#define GOOD(from, to) KIT_FAULT(GC_NAME, from, to, TN_NOTE)

#define TOP "'schema_version': 'v1'"
#define IN(name) GC_FLOW "/inputs/" name
#define STATE(name) GC_FLOW "/state/" name
#define GROUP(name) GC_FLOW "/serving/state_service/groups/" name
#define BOUND "'session', 'service_group': 'sums'"
#define SUMS "'sums': {'kind': 'recurrent'"
#define OPAQUE_X "'role': {'kind': 'opaque'}, 'source': {'kind': 'application', 'name': 'x'}"
#define ROLE_X(role) "'role': {'kind': 'runtime', 'role': '" role "', 'version': '1.0'}, 'source': {'kind': 'application', 'name': 'x'}"

TEST(a_contract_without_a_fault)
{
    static const struct kit_fault good[] = {GOOD(TOP, TOP)};
    RUN_TRUE(good);
}

TEST(state_is_carried_as_it_is_declared)
{
    static const struct kit_fault faults[] = {
        INVALID("'initializer': 'package.acc'", "'initializer': 'request.x'", STATE("acc/initializer"), "begins with another value", "request.x", "package.acc"),
        UNSUPPORTED("'release_boundary': " BOUND, "'release_boundary': 'invocation', 'service_group': 'sums'", STATE("acc/release_boundary"), "released before"),
        UNSUPPORTED("'release_boundary': " BOUND, "'release_boundary': 'row', 'service_group': 'sums'", STATE("acc/release_boundary"), "released before"),
        UNSUPPORTED("'scope': 'session'", "'session': {'ttl_seconds': 1}, 'scope': 'session'", STATE("acc/session/ttl_seconds"), "does not execute", "1"),
        UNSUPPORTED("'scope': 'session'", "'session': {'optimistic_metadata_version': true}, 'scope': 'session'",
                    STATE("acc/session/optimistic_metadata_version"), "does not execute"),
        UNSUPPORTED("'scope': 'session'", "'session': {'policy': 'copy_on_write'}, 'scope': 'session'", STATE("acc/session/policy"), "second writer", "copy_on_write"),
        UNSUPPORTED("'ports': {'model': {'acc': {'input': 'acc', 'output': 'acc_next'}}}", "'ports': {}", STATE("acc/service_group"), "no pair of the graph's ports"),
        UNSUPPORTED("'release_boundary': " BOUND, "'release_boundary': 'session'", STATE("acc"), "no pair of the graph's ports"),
        UNSUPPORTED("'update': {'kind': 'replace'}, 'ports': {'model': {'acc'", "'sequence_axis': 1, 'ports': {'model': {'acc'", GROUP("sums"), "each call adds"),
        UNSUPPORTED("'recurrence': {'kind': 'invariant'}", "'recurrence': {'kind': 'bounded', 'axis': 0, 'max': 'package.count'}", STATE("acc/recurrence"), "grows"),
        UNSUPPORTED(SUMS, "'sums': {'aliasing': 'required', 'kind': 'recurrent'", GROUP("sums/aliasing"), "one buffer", "required"),
        UNSUPPORTED(SUMS, "'sums': {'checkpoint': {'adapter': 'no.such', 'version': '9'}, 'kind': 'recurrent'", GROUP("sums/checkpoint"), "does not execute", "no.such"),
        INVALID(SUMS, "'sums': {'total_length': 'nosuch', 'kind': 'recurrent'", GROUP("sums/total_length"), "no value and no input", "nosuch"),
        UNSUPPORTED(SUMS, "'sums': {'total_length': 'request.done', 'kind': 'recurrent'", GROUP("sums/total_length"), "reaches no input", "request.done"),
    };
    static const struct kit_fault good[] = {
        GOOD("'scope': 'session'", "'session': {'policy': 'exclusive'}, 'scope': 'session'"),
        GOOD(SUMS, "'sums': {'aliasing': 'permitted', 'total_length': 'count', 'kind': 'recurrent'"),
        GOOD(SUMS, "'sums': {'total_length': 'package.count', 'kind': 'recurrent'"),
        GOOD(", 'acc': 'package.acc'", ""), /* the cell says what the port begins with */
    };
    RUN(faults);
    RUN_TRUE(good);
}

TEST(every_input_has_its_value_and_every_value_its_input)
{
    static const struct kit_fault faults[] = {
        UNSUPPORTED("'request.done': {", "'request.more': {'contract': {'dtype': 'bool', 'rank': 0}, 'role': {'kind': 'opaque'}, 'source': {'kind': 'request'}}, 'request.done': {",
                    IN("request.more"), "does not read"),
        UNSUPPORTED("'source': {'kind': 'application', 'name': 'x'}", "'source': {'kind': 'artifact', 'path': 'model.onnx'}", IN("request.x/source"), "stands in a file"),
        INVALID("'gain': 'package.gain', ", "", GC_FLOW "/steps/0/inputs", "no value", "nothing for gain", "float32"),
        UNSUPPORTED("'default': true", "'default': false", IN("request.active/default"), "take no part", "false", "true"),
        UNSUPPORTED("'default': false", "'default': true", IN("request.done/default"), "have ended", "true", "false"),
    };
    RUN(faults);
}

TEST(types_play_their_roles_and_rows_have_their_axis)
{
    static const struct kit_fault faults[] = {
        INVALID(OPAQUE_X, ROLE_X("prompt_tokens"), IN("request.x/role/role"), "cannot have this role", "prompt_tokens", "whole numbers"),
        INVALID(OPAQUE_X, ROLE_X("prompt_text"), IN("request.x/role/role"), "cannot have this role", "prompt_text", "text"),
        INVALID(OPAQUE_X, ROLE_X("seed"), IN("request.x/role/role"), "cannot have this role", "seed", "whole numbers"),
        UNSUPPORTED(OPAQUE_X, ROLE_X("session_id"), IN("request.x/role/role"), "no request for a graph", "session_id"),
        INVALID("'role': 'tensor'", "'role': 'image'", GC_FLOW "/outputs/result/role", "cannot have this role", "image"),
        INVALID("'role': 'tensor'", "'role': 'tokens'", GC_FLOW "/outputs/result/role", "cannot have this role", "tokens", "whole numbers"),
        UNSUPPORTED("'role': 'tensor'", "'role': 'event'", GC_FLOW "/outputs/result/role", "no request for a graph", "event"),
        UNSUPPORTED("'stage': 'pre_adapter'", "'stage': 'post_adapter'", GC_FLOW "/outputs/result/stage", "no adapter", "post_adapter"),
        INVALID("'axis': 0", "'axis': 1", IN("request.x/contract/batch_layout"), "one size"),
        INVALID("'axis': 0", "'axis': 2", IN("request.x/contract/batch_layout"), NULL),
        UNSUPPORTED("'kind': 'request_aligned', 'axis': 0", "'kind': 'request_expanded', 'axis': 0, 'factor': 2", IN("request.x/contract/batch_layout"), "rows of requests lie"),
        UNSUPPORTED("'dtype': 'float32', 'rank': 2", "'optional': true, 'dtype': 'float32', 'rank': 2", IN("request.x/contract/optional"), "does not execute"),
        INVALID("'model': {'implementation'", "'model': {'row_scope': {'axis': 1, 'stateful': true}, 'implementation'", GC_FLOW "/components/model/row_scope/axis", "another axis", "1"),
    };
    static const struct kit_fault good[] = {
        GOOD("'model': {'implementation'", "'model': {'row_scope': {'axis': 0, 'stateful': true}, 'implementation'"),
        GOOD("'role': 'tensor'", "'role': 'audio'"),
    };
    RUN(faults);
    RUN_TRUE(good);
}

#define GAIN "'dtype': 'float32', 'rank': 0, 'shape': []}, 'role': {'kind': 'opaque'}"
#define TEMPERATURE "'dtype': 'float32', 'rank': 0, 'shape': []}, 'role': {'kind': 'runtime', 'role': 'sampling_temperature', 'version': '1.0'}"

TEST(what_no_port_of_the_graph_shows_is_refused)
{
    static const struct kit_fault faults[] = {
        INVALID(TOP, TOP ", 'quantization': {'default': 'int4'}", "/quantization/default", NULL),
        INVALID(TOP, TOP ", 'quantization': {'default': 'float16'}", "/quantization/default", "contradict each other", "float16", "float32"),
        INVALID(TOP, TOP ", 'quantization': {'overrides': [{'precision': 'int8', 'component': 'model'}]}", "/quantization/overrides/0/precision", NULL),
        UNSUPPORTED(TOP, TOP ", 'model': {'vocab_size': 3}", "/model/vocab_size", "no port of the graph"),
        UNSUPPORTED(TOP, TOP ", 'model': {'max_sequence_length': 3}", "/model/max_sequence_length", "no port of the graph"),
        UNSUPPORTED(TOP, TOP ", 'model': {'attention': {'type': 'multi_head', 'num_attention_heads': 3}}", "/model/attention", "no port of the graph"),
        UNSUPPORTED("'manifest': {", "'manifest': {'adapter_abis': {'com.example': '1'}, ", GC_FLOW "/manifest/adapter_abis", "does not understand"),
        UNSUPPORTED("'mode': 'replace'", "'mode': 'replace', 'axis': 0", GC_FLOW "/steps/1/axis", "does not execute"),
    };
    static const struct kit_fault good[] = {
        GOOD(TOP, TOP ", 'quantization': {'default': 'fp32'}"),
    };
    RUN(faults);
    RUN_TRUE(good);
}

TEST(two_defaults_for_one_field)
{
    char *with = gc_edited(gc_base, GAIN, TEMPERATURE);
    char *text = with ? gc_edited(with, TOP, TOP ", 'generation': {'defaults': {'temperature': 0.5}}") : NULL;
    start();
    REQUIRE(text);
    put_contract(text);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, GC_NAME, IN("package.gain/default"), "another than the package's default", "2.0", "0.5");
    kit_close(d);
    free(text);
    free(with);
}

/* ---- every member ------------------------------------------------------------------------------------------------------ */

/* What may be added or changed without a word; "*" is any segment. */
static const char *const harmless[] = {
    /* says nothing */
    "/generation", "/hardware_requirements", "/model", "/package", "/preprocessing", "/quantization",
    "/pipeline/workflow/components/model/ports", "/pipeline/workflow/state/*/session",
    "/pipeline/workflow/serving/state_service/groups/*/capabilities", "/pipeline/workflow/serving/state_service/groups/*/reuse",
    /* says what is so without it */
    "/schema_version=1.0", "/pipeline/workflow/*/*/contract/dtype=fp32", "/pipeline/workflow/inputs/*/contract/batch_layout",
    "/pipeline/workflow/inputs/*/required", "/pipeline/workflow/inputs/*/required=true", "/pipeline/workflow/state/*/class",
    "/pipeline/workflow/serving/state_service/groups/*/ports/model/*/access",
    "/pipeline/workflow/state/*/session/policy", "/quantization/default",
    /* obeyed, or judged with the machine */
    "/pipeline/workflow/inputs/*/externally_suppliable", "/hardware_requirements/*",
    /* true of the values */
    "/pipeline/workflow/outputs/result/role=audio",
    /* of generation and of texts, which is not what a graph is called for */
    "/generation/defaults", "/generation/defaults/*", "/package/tokenizer", "/package/tokenizer/byte_level",
    /* of servers, caches and clusters: no answer depends on it */
    "/model/runtime_configurable", "/model/runtime_configurable/*", "/model/runtime_configurable/chunked_prefill/chunk_size",
    "/model/sharding", "/model/sharding/tensor_parallel",
    "/pipeline/workflow/serving/state_service/groups/*/capabilities/*", "/pipeline/workflow/serving/state_service/groups/*/reuse/*",
    "/pipeline/workflow/components/model/cache_affects_state", "/pipeline/workflow/effects",
    "/pipeline/workflow/serving/state_service/groups/*/aliasing", "/pipeline/workflow/serving/state_service/groups/*/kind=cross_attention",
    "/pipeline/workflow/serving/state_service/groups/*/kind=encoder", "/pipeline/workflow/serving/state_service/groups/*/ports/model/*/layer",
};

static bool fits(const char *row, const char *what)
{
    while (*row && (*row == *what || *row == '*')) {
        if (*row++ != '*') what++;
        else while (*what && *what != '/' && *what != '=') what++;
    }
    return !*row && !*what;
}

struct tour {
    const char *text; /* of the document */
    size_t tried, taken;
};

static bool is_harmless(const char *what)
{
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        if (fits(harmless[i], what)) return true;
    return false;
}

/* The document with `n` bytes at `at` replaced is refused, or the edit is in the list. */
static void try_edit(struct tour *t, size_t at, size_t n, const char *put, const char *what)
{
    char *text = malloc(strlen(t->text) + strlen(put) + 1);
    REQUIRE(text);
    memcpy(text, t->text, at);
    strcpy(text + at, put);
    strcat(text, t->text + at + n);
    kit_put(GC_NAME, text);
    free(text);
    struct tn_description *d = kit_describe();
    if (!d) return;
    t->tried++;
    bool taken = d->findings.blockers == 0;
    t->taken += taken;
    if (taken && !is_harmless(what)) test_fail(__FILE__, __LINE__, "taken without a word: %s", what);
    kit_close(d);
}

/* The least value of a type. */
static void make(const struct tn_doctype *type, char *out, size_t cap, unsigned depth)
{
    size_t n = strlen(out);
    const struct tn_docfield *fields = type->fields;
    size_t count = type->field_count;
    if (depth > 12 || n + 64 > cap) return;
    switch (type->kind) {
    case TN_DOC_ANY:
    case TN_DOC_NOTHING:
    case TN_DOC_BOOL: strcat(out, "true"); return;
    case TN_DOC_INT: snprintf(out + n, cap - n, "%lld", type->least > 1 ? (long long)type->least : 1LL); return;
    case TN_DOC_NUMBER: strcat(out, "1"); return;
    case TN_DOC_STRING: strcat(out, "\"zz\""); return;
    case TN_DOC_ENUM: snprintf(out + n, cap - n, "\"%s\"", type->values[0]); return;
    case TN_DOC_CHOICE: make(type->choices[0], out, cap, depth + 1); return;
    case TN_DOC_LIST:
    case TN_DOC_MAP:
        strcat(out, type->kind == TN_DOC_LIST ? "[" : "{\"zz\": ");
        make(type->items, out, cap, depth + 1);
        strcat(out, type->kind == TN_DOC_LIST ? "]" : "}");
        return;
    case TN_DOC_UNION:
        snprintf(out + n, cap - n, "{\"%s\": \"%s\"", type->tag, type->variants[0].tag);
        fields = type->variants[0].fields;
        count = type->variants[0].field_count;
        break;
    case TN_DOC_OBJECT: strcat(out, "{"); break;
    }
    for (size_t i = 0; i < count; i++) {
        if (!(fields[i].flags & TN_DOC_REQUIRED)) continue;
        n = strlen(out);
        if (n + 64 > cap) return;
        snprintf(out + n, cap - n, "%s\"%s\": ", out[n - 1] == '{' ? "" : ", ", fields[i].name);
        make(fields[i].type, out, cap, depth + 1);
    }
    strcat(out, "}");
}

enum { TEXT = 4096, GROWN = 3 };

/* An absent member with its least value, then with each member that this value may have. */
static void grow(struct tour *t, size_t at, const char *before, const char *after, const struct tn_doctype *type, const char *what, unsigned depth)
{
    char text[TEXT], object[TEXT] = "", name[400];
    snprintf(text, sizeof(text), "%s", before);
    make(type, text, sizeof(text) - 64, 0);
    strcat(text, after);
    try_edit(t, at, 0, text, what);
    if (type->kind != TN_DOC_OBJECT || depth == GROWN) return;
    make(type, object, sizeof(object) - 64, 0);
    object[strlen(object) - 1] = 0; /* its last brace */
    for (size_t i = 0; i < type->field_count; i++) {
        char longer[TEXT], end[64];
        if (type->fields[i].flags & TN_DOC_REQUIRED) continue;
        int n = snprintf(longer, sizeof(longer), "%s%s%s\"%s\": ", before, object, strcmp(object, "{") ? ", " : "", type->fields[i].name);
        snprintf(end, sizeof(end), "}%s", after);
        snprintf(name, sizeof(name), "%.300s/%s", what, type->fields[i].name);
        if (n < TEXT - 512) grow(t, at, longer, end, type->fields[i].type, name, depth + 1);
    }
}

static void tour(struct tour *t, const struct tn_doctype *type, struct tn_json v, const char *where);

static void tour_members(struct tour *t, const struct tn_docfield *fields, size_t count, struct tn_json v, const char *where)
{
    for (size_t i = 0; i < count; i++) {
        char name[400], value[128];
        struct tn_json member = tn_json_get(v, fields[i].name);
        snprintf(name, sizeof(name), "%.300s/%s", where, fields[i].name);
        if (tn_json_present(member)) {
            tour(t, fields[i].type, member, name);
            continue;
        }
        snprintf(value, sizeof(value), "\"%s\": ", fields[i].name);
        grow(t, (size_t)(tn_json_text(v).s - t->text) + 1, value, tn_json_count(v) ? ", " : "", fields[i].type, name, 0);
    }
}

static void tour_values(struct tour *t, const struct tn_doctype *type, struct tn_json v, const char *where)
{
    struct tn_str text = tn_json_text(v), now = TN_STR("");
    bool flag;
    char put[128], what[512];
    (void)tn_json_str(v, &now);
    if (tn_json_bool(v, &flag)) {
        snprintf(what, sizeof(what), "%.300s=%s", where, flag ? "false" : "true");
        try_edit(t, (size_t)(text.s - t->text), text.n, flag ? "false" : "true", what);
    }
    for (size_t i = 0; type->kind == TN_DOC_ENUM && type->values[i]; i++) {
        if (tn_str_is(now, type->values[i])) continue;
        snprintf(put, sizeof(put), "\"%s\"", type->values[i]);
        snprintf(what, sizeof(what), "%.300s=%s", where, type->values[i]);
        try_edit(t, (size_t)(text.s - t->text), text.n, put, what);
    }
}

static void tour(struct tour *t, const struct tn_doctype *type, struct tn_json v, const char *where)
{
    struct tn_str tag;
    char name[400];
    if (type->kind == TN_DOC_OBJECT) tour_members(t, type->fields, type->field_count, v, where);
    for (size_t i = 0; type->kind == TN_DOC_UNION && tn_json_str(tn_json_get(v, type->tag), &tag) && i < type->variant_count; i++)
        if (tn_str_is(tag, type->variants[i].tag)) tour_members(t, type->variants[i].fields, type->variants[i].field_count, v, where);
    size_t index = 0;
    for (struct tn_json e = tn_json_first(v); (type->kind == TN_DOC_MAP || type->kind == TN_DOC_LIST) && tn_json_present(e); e = tn_json_next(e)) {
        struct tn_str key = tn_json_key(e);
        if (type->kind == TN_DOC_MAP) snprintf(name, sizeof(name), "%.200s/%.*s", where, (int)key.n, key.s);
        else snprintf(name, sizeof(name), "%.200s/%zu", where, index++);
        tour(t, type->items, e, name);
    }
    tour_values(t, type, v, where);
}

TEST(nothing_is_passed_over)
{
    struct tn_json_doc doc;
    struct tn_limits limits = tn_limits_default();
    struct tn_alloc own;
    char *text = malloc(sizeof(gc_base));
    REQUIRE(text);
    gc_quote(memcpy(text, gc_base, sizeof(gc_base)));
    start();
    tn_alloc_init(&own);
    REQUIRE(tn_json_parse(&doc, &own, &limits, TN_STR("base"), tn_str_of(text), NULL) == TN_OK);
    struct tour t = {.text = text};
    tour(&t, &tn_standard_document_type, tn_json_root(&doc), "");
    CHECK(t.tried > 400 && t.taken < t.tried / 4);
    tn_json_release(&doc);
    free(text);
}

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

static bool is_whole(const struct tn_description *d)
{
    bool fed = d->graph && d->graph->said_in && d->graph->result_count == 1 && d->graph->state_count == 2;
    for (uint32_t i = 0; fed && i < d->graph->input_count; i++) fed = d->graph->said_in[i].name.n > 0;
    return fed && d->findings.blockers == 0;
}

/* With a vocabulary, whose ports are asked for. */
static bool is_refused(const struct tn_description *d)
{
    return d->findings.blockers == 1;
}

TEST(every_allocation_can_fail)
{
    start();
    put_contract(gc_base);
    kit_sweep(is_whole);
    char *text = gc_edited(gc_base, TOP, TOP ", 'model': {'vocab_size': 3}");
    REQUIRE(text);
    put_contract(text);
    kit_sweep(is_refused);
    free(text);
}
