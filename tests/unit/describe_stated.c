/*
 * What a package's own documents state about its runtime: capabilities, demands, generation, hints; read back from what
 * `tenon describe` writes, and refused where nothing here does it.
 */
#define _GNU_SOURCE
#include "describe_kit.h"

#include "base/json_write.h"
#include "describe/serial.h"
#include "describe/validate.h"

/* Writes the two documents of the package in the kit's folder into a new package beside the same weights. */
static bool to_documents(const char *hints)
{
    struct tn_buf metadata, content;
    struct tn_serial_options serial = {.yaml = true};
    kit_new();
    if (hints) kit_put("execution_hints.json", hints);
    struct tn_description *d = kit_describe();
    if (!d) return false;
    tn_buf_init(&metadata, d->inv->ctx->alloc, 1 << 22);
    tn_buf_init(&content, d->inv->ctx->alloc, 1 << 22);
    bool ok = tn_description_documents(d, &serial, &metadata, &content, NULL) == TN_OK;
    if (ok) {
        kit_put("inference_metadata.yaml", metadata.data);
        kit_put("tenon_package.json", content.data);
    }
    tn_buf_release(&metadata);
    tn_buf_release(&content);
    kit_close(d);
    if (hints) kit_remove("execution_hints.json");
    return ok;
}

static const struct tn_finding *blocker(const struct tn_description *d, enum tn_status code, const char *pointer)
{
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct tn_finding *f = &d->findings.items[i];
        if (f->severity == TN_BLOCKER && f->code == code && strcmp(f->element, pointer) == 0) return f;
    }
    return NULL;
}

TEST(our_own_documents_require_what_is_offered)
{
    REQUIRE(to_documents(NULL));
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK(tn_str_is(d->dialect, "inference_metadata"));
    for (size_t i = 0; i < d->findings.count; i++) CHECK(d->findings.items[i].code != TN_MISSING_CAPABILITY);
    bool stated = false, derived = false;
    for (uint32_t i = 0; i < d->capability_count; i++) {
        if (!tn_str_is(d->capabilities[i].id, "workflow_ssa")) continue;
        stated |= d->capabilities[i].derived == NULL;
        derived |= d->capabilities[i].derived != NULL;
    }
    CHECK(stated && derived); /* the manifest says so, and so does the structure */
    kit_close(d);
}

TEST(all_missing_capabilities_of_both_documents_are_listed)
{
    REQUIRE(to_documents(NULL));
    kit_edit("inference_metadata.yaml", "schema_version: v1\n",
             "schema_version: v1\nrequired_capabilities: [kv_cache, multi_head_attention, com.example.x]\n");
    kit_edit("inference_metadata.yaml", "- workflow_ssa\n", "- workflow_ssa\n      - prefix_cache\n");
    kit_edit("tenon_package.json", "\"undetermined\"", "\"required_capabilities\": [\"position_program\"], \"undetermined\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    size_t missing = 0;
    for (size_t i = 0; i < d->findings.count; i++) missing += d->findings.items[i].code == TN_MISSING_CAPABILITY;
    CHECK_INT(missing, 4);
    CHECK(blocker(d, TN_MISSING_CAPABILITY, "/required_capabilities/0"));
    CHECK(blocker(d, TN_MISSING_CAPABILITY, "/required_capabilities/2"));
    CHECK(blocker(d, TN_MISSING_CAPABILITY, "/pipeline/workflow/manifest/capabilities/2"));
    /* `validate` lists the same ones; what is lacking here is no fault of the documents */
    struct tn_validation v;
    struct tn_error error = {0};
    REQUIRE(tn_validate_package(d, &v, &error) == TN_OK);
    size_t listed = 0;
    for (size_t i = 0; i < v.findings.count; i++)
        listed += v.findings.items[i].code == TN_MISSING_CAPABILITY && v.findings.items[i].severity == TN_WARNING;
    CHECK_INT(listed, 4);
    CHECK_INT(v.findings.blockers, 0);
    CHECK(v.have_identity);
    tn_validation_release(&v);
    kit_close(d);
}

TEST(demands_and_generation_reach_the_description)
{
    REQUIRE(to_documents(NULL));
    kit_edit("inference_metadata.yaml", "schema_version: v1\n",
             "schema_version: v1\nhardware_requirements: {min_memory_gb: 1.5, required_dtypes: [float32], min_tp_degree: 1}\n"
             "generation: {defaults: {temperature: 0.5}}\n");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_NEAR(d->hardware.memory_gib, 1.5, 0);
    CHECK(d->hardware.has_degree);
    REQUIRE(d->hardware.required_count == 1);
    CHECK(tn_str_is(d->hardware.required[0], "float32"));
    CHECK(tn_str_is(d->hardware.pointer, "/hardware_requirements"));
    REQUIRE(d->generation.count == 1);
    CHECK(tn_str_is(d->generation.fields[0].stated.value, "0.5"));
    kit_close(d);
}

#define HINTS                                                                                                         \
    "{\"placement\": [{\"selector\": {\"names\": [\"a\"], \"layer_range\": {\"start\": 1, \"end\": 2}}, \"device\": "         \
    "{\"type\": \"gpu\", \"index\": 1}, \"strength\": \"prefer\", \"reason\": \"r\"}], \"memory\": [{\"action\": "           \
    "\"arena_size\", \"device\": {\"type\": \"cpu\"}, \"bytes\": 4096}], \"scheduling\": [{\"action\": \"chunk_size\", "      \
    "\"selector\": {\"op_types\": [\"linear\"], \"pattern\": \"x*\"}, \"chunk_size\": 3}]}"

TEST(hints_beside_a_package_are_kept_in_its_documents)
{
    REQUIRE(to_documents(HINTS));
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(tn_findings_first_blocker(&d->findings) == NULL, 1);
    REQUIRE(d->hints.count == 3);
    CHECK(tn_str_is(d->hints.items[0].file, "tenon_package.json"));
    CHECK(tn_str_is(d->hints.items[0].pointer, "/execution_hints/placement/0"));
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, d->inv->ctx->alloc, 1 << 16);
    tn_jw_init(&w, &text, false);
    tn_hints_write(&w, &d->hints, TN_HINT_FROM_METADATA);
    CHECK_STR(text.data,
              "{\"placement\":[{\"selector\":{\"names\":[\"a\"],\"layer_range\":{\"start\":1,\"end\":2}},\"device\":{\"type\":\"gpu\","
              "\"index\":1},\"strength\":\"prefer\",\"reason\":\"r\"}],\"memory\":[{\"action\":\"arena_size\",\"device\":{\"type\":"
              "\"cpu\"},\"bytes\":4096}],\"scheduling\":[{\"action\":\"chunk_size\",\"selector\":{\"pattern\":\"x*\",\"op_types\":["
              "\"linear\"]},\"chunk_size\":3}]}");
    tn_buf_release(&text);
    kit_close(d);
}

TEST(structures_that_nothing_here_executes)
{
    static const struct {
        const char *from, *to, *pointer;
        enum tn_status code;
    } rows[] = {
        {"    - kind: emit\n", "    - kind: invoke\n      component: embedder\n      inputs: {text: request.text}\n      outputs: "
                               "{embedding: again}\n    - kind: emit\n",
         "/pipeline/workflow/steps/1", TN_UNSUPPORTED_CONFIG},
        {"      mode: replace\n", "      mode: event\n", "/pipeline/workflow/manifest", TN_METADATA_INVALID},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        REQUIRE(to_documents(NULL));
        kit_edit("inference_metadata.yaml", rows[i].from, rows[i].to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        bool found = false;
        for (size_t k = 0; k < d->findings.count; k++) {
            const struct tn_finding *f = &d->findings.items[k];
            found |= f->severity == TN_BLOCKER && f->code == rows[i].code && strncmp(f->element, rows[i].pointer, strlen(rows[i].pointer)) == 0;
        }
        if (!found) KIT_CLEAN(d); /* prints what was found instead */
        CHECK(found);
        kit_close(d);
    }
}

/* ---- properties of a model file ---- */

/* Protobuf: a field of length type, by its number (ONNX's onnx.proto: metadata_props 14, StringStringEntry 1 and 2). */
static size_t put_field(unsigned char *out, unsigned number, const void *p, size_t n)
{
    out[0] = (unsigned char)(number << 3 | 2);
    out[1] = (unsigned char)n; /* short ones only */
    memcpy(out + 2, p, n);
    return n + 2;
}

static size_t put_property(unsigned char *out, const char *key, const char *value)
{
    unsigned char entry[128];
    size_t n = put_field(entry, 1, key, strlen(key));
    n += put_field(entry + n, 2, value, strlen(value));
    return put_field(out, 14, entry, n);
}

TEST(properties_of_an_onnx_file_are_hints_of_the_weakest_origin)
{
    unsigned char model[1024], graph[64], opset[8] = {0x10, 17}; /* OperatorSetId.version = 17 */
    size_t n = 0, g = put_field(graph, 2, "main", 4);            /* GraphProto.name */
    model[n++] = 0x08;                                           /* ModelProto.ir_version = 8 */
    model[n++] = 8;
    n += put_field(model + n, 7, graph, g);
    n += put_field(model + n, 8, opset, 2);
    n += put_property(model + n, "onnx_runtime.memory.arena_cpu_mb", "64");
    n += put_property(model + n, "onnx_runtime.model.layer_pattern", "layers.{}.");
    n += put_property(model + n, "onnx_runtime.memroy.prefetch", "a");
    n += put_property(model + n, "author", "nobody");
    kit_empty();
    kit_put("config.json", KIT_CONFIG);
    test_write_file(in_folder("%s", kit_name("model.onnx")), model, n);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    REQUIRE(d->hints.count == 1);
    CHECK_INT(d->hints.items[0].origin, TN_HINT_FROM_MODEL);
    CHECK_INT(d->hints.items[0].kind, TN_HINT_ARENA_SIZE);
    CHECK(d->hints.items[0].number == UINT64_C(64) << 20);
    CHECK(tn_str_is(d->hints.items[0].file, "model.onnx"));
    CHECK(tn_str_is(d->hint_layers.pattern, "layers.{}."));
    bool told = false;
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct tn_finding *f = &d->findings.items[i];
        told |= f->severity == TN_WARNING && strcmp(f->element, "onnx_runtime.memroy.prefetch") == 0 &&
                strstr(f->expected, "onnx_runtime.memory.prefetch") != NULL;
    }
    CHECK(told);
    kit_close(d);
}

/* ---- what validating a package takes over from its description --------------------------------------------------------- */

static const struct tn_finding *among(const struct tn_findings *list, enum tn_status code, const char *file)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].code == code && strcmp(list->items[i].file, file) == 0) return &list->items[i];
    }
    return NULL;
}

/* Faults of documents and of the files they name, whatever the file; and everything against our own document. */
TEST(a_verdict_holds_faults_of_documents_and_nothing_else)
{
    static const struct {
        enum tn_status code;
        bool anywhere;
    } rows[] = {
        {TN_METADATA_INVALID, true},      {TN_ARTIFACT_MALFORMED, true},   {TN_ARTIFACT_MISSING, true},
        {TN_AMBIGUOUS_PACKAGE, true},     {TN_RESOURCE_LIMIT, true},       {TN_PATH_ESCAPE, true},
        {TN_UNSUPPORTED_CONFIG, false},   {TN_MISSING_CAPABILITY, true},   {TN_UNSUPPORTED_TASK, false},
        {TN_UNSUPPORTED_OPERATOR, false},
    };
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    struct tn_validation v;
    struct tn_error error = {0};
    REQUIRE(to_documents(NULL));
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    REQUIRE(tn_validate_package(d, &v, &error) == TN_OK);
    CHECK_INT(v.findings.blockers, 0);
    CHECK(v.have_identity);
    tn_validation_release(&v);
    for (size_t i = 0; i < ROWS; i++) {
        const char *const files[] = {"somewhere.json", "tenon_package.json"};
        for (size_t k = 0; k < 2; k++) {
            struct tn_finding *f = tn_findings_add(&d->findings, TN_BLOCKER, rows[i].code, TN_PHASE_PACKAGE, "row %zu", i);
            REQUIRE(f);
            tn_at_file(f, tn_str_of(files[k]));
        }
    }
    REQUIRE(tn_validate_package(d, &v, &error) == TN_OK);
    for (size_t i = 0; i < ROWS; i++) {
        const struct tn_finding *f = among(&v.findings, rows[i].code, "somewhere.json");
        if ((f != NULL) != rows[i].anywhere) test_fail(__FILE__, __LINE__, "%s", tn_status_name(rows[i].code));
        if (f) CHECK_INT(f->severity, f->code == TN_MISSING_CAPABILITY ? TN_WARNING : TN_BLOCKER);
        if (!among(&v.findings, rows[i].code, "tenon_package.json"))
            test_fail(__FILE__, __LINE__, "%s of our own document", tn_status_name(rows[i].code));
    }
    CHECK(!v.have_identity); /* what does not hold says the same as nothing */
    tn_validation_release(&v);
    kit_close(d);
}

/* ---- documents over a limit ------------------------------------------------------------------------------------------- */

static void expect_limit(const struct tn_validation *v, const char *limit)
{
    CHECK_INT(v->findings.blockers, 1);
    const struct tn_finding *f = tn_findings_first_blocker(&v->findings);
    REQUIRE(f);
    CHECK_INT(f->code, TN_RESOURCE_LIMIT);
    CHECK_STR(f->file, "inference_metadata.yaml");
    CHECK_CONTAINS(f->message, limit);
    CHECK(!v->have_identity);
}

/* Whoever hands a document in gets a verdict on it, in a package and alone. */
TEST(a_document_over_a_limit_is_not_valid)
{
    static const struct {
        const char *limit, *text;
    } rows[] = {
        {"yaml_bytes", NULL},
        {"yaml_scalar_bytes", "schema_version: v1\nmodel: {vocab_size: 0000000000000000000000000000000000000001}\n"},
        {"yaml_expansion", "schema_version: v1\na: &a [1, 2, 3, 4, 5, 6]\nb: [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tn_validation v;
        size_t size;
        REQUIRE(to_documents(NULL));
        if (rows[i].text) kit_put("inference_metadata.yaml", rows[i].text);
        char *text = test_read_file(in_folder("%s", kit_name("inference_metadata.yaml")), &size);
        REQUIRE(text);
        if (i == 0) ctx.limits.yaml_bytes = 100;
        if (i == 1) ctx.limits.yaml_scalar_bytes = 30;
        if (i == 2) ctx.limits.yaml_expansion = 60;
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        CHECK_TSTR(d->dialect, "inference_metadata");
        KIT_EXPECT(d, TN_BLOCKER, TN_RESOURCE_LIMIT, "inference_metadata.yaml", NULL, rows[i].limit);
        REQUIRE(tn_validate_package(d, &v, err) == TN_OK);
        CHECK_INT(v.kind, TN_DOCUMENT_METADATA);
        expect_limit(&v, rows[i].limit);
        tn_validation_release(&v);
        kit_close(d);
        REQUIRE(tn_validate_text(&ctx, &kit_options, TN_STR("inference_metadata.yaml"), (struct tn_str){text, size}, &v, err) == TN_OK);
        expect_limit(&v, rows[i].limit);
        tn_validation_release(&v);
        ctx.limits = tn_limits_default();
        free(text);
    }
}

/* ---- what modules are ------------------------------------------------------------------------------------------------- */

/* From the documents alone they are evidence, as they are by the convention. */
TEST(modules_of_the_documents_are_facts)
{
    static const struct {
        const char *name, *value, *pointer;
    } rows[] = {
        {"module.0.kind", "\"transformer\"", "/modules/0/kind"},
        {"module.1.kind", "\"pooling\"", "/modules/1/kind"},
        {"module.1.pooling", NULL, "/modules/1/pooling"},
        {"module.2.kind", "\"dense\"", "/modules/2/kind"},
        {"module.2.in_features", "8", "/modules/2/in_features"},
        {"module.2.out_features", "4", "/modules/2/out_features"},
        {"module.2.activation", "\"tanh\"", "/modules/2/activation"},
        {"module.3.kind", "\"normalize\"", "/modules/3/kind"},
    };
    REQUIRE(to_documents(NULL));
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tn_fact *f = kit_fact(d, rows[i].name);
        if (!f) {
            test_fail(__FILE__, __LINE__, "no fact %s", rows[i].name);
            continue;
        }
        if (rows[i].value) CHECK_TSTR(f->value, rows[i].value);
        CHECK_TSTR(f->file, "tenon_package.json");
        CHECK_TSTR(f->pointer, rows[i].pointer);
        CHECK(!f->descriptive && f->origin == TN_FROM_FILE);
    }
    REQUIRE(kit_fact(d, "module.1.pooling"));
    char text[64];
    snprintf(text, sizeof(text), "%.*s", TN_FMT_ARG(kit_fact(d, "module.1.pooling")->value));
    CHECK_CONTAINS(text, "\"mean\"");
    kit_close(d);
}
