/*
 * Packages of the inference-metadata standard against their files: the six published ones pass with every port compared;
 * an edit of a document, a graph or a weight file is refused at its pointer, with the element of the other side.
 */
#define _GNU_SOURCE
#include "standard_util.h" /* first: its parameters are named as the globals of the next */

#include "package_util.h"

#include "describe/standard/artifacts.h"
#include "describe/standard/check.h"

#include <ftw.h>

/* ---- a package in the test's folder ------------------------------------------------------------------------------ */

static char copy_from[4096];

static int copy_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)at;
    size_t n;
    if (kind != FTW_F) return 0;
    char *p = test_read_file(path, &n);
    if (p) put_bytes(path + strlen(copy_from) + 1, p, n);
    free(p);
    return 0;
}

/* Copies one of the published packages and opens its document with one change (NULL: none). */
struct package {
    struct tn_json_doc original, doc;
    struct tn_standard standard;
    struct tn_inventory *inv;
    struct tn_findings findings;
};

static void copy_package(const char *name)
{
    char relative[256];
    snprintf(relative, sizeof(relative), "golden/standard/packages/%s", name);
    snprintf(copy_from, sizeof(copy_from), "%s", test_path(relative));
    nftw(copy_from, copy_entry, 16, FTW_PHYS);
}

/* Replaces the only occurrence of a text in a file of the package. */
static void edit_file(const char *name, const char *from, const char *to)
{
    size_t n;
    char *p = test_read_file(in_folder("%s", name), &n);
    char *at = p ? strstr(p, from) : NULL;
    if (!at) {
        test_fail(__FILE__, __LINE__, "%s does not hold \"%s\"", name, from);
        return;
    }
    char *made = malloc(n + strlen(to) + 1);
    sprintf(made, "%.*s%s%s", (int)(at - p), p, to, at + strlen(from));
    put_text(name, made);
    free(made);
    free(p);
}

static bool open_document(struct package *p, const char *name, const struct standard_change *change)
{
    char full[64];
    memset(p, 0, sizeof(*p));
    snprintf(full, sizeof(full), "packages/%s", name);
    if (!standard_open(&p->original, &alloc, full)) return false;
    struct tn_buf out;
    struct tn_json_writer w;
    tn_buf_init(&out, &alloc, 16 << 20);
    tn_jw_init(&w, &out, false);
    static const struct standard_change none = {"/-", STANDARD_REPLACE, "0"};
    standard_write_edited(&w, tn_json_root(&p->original), change ? change : &none);
    enum tn_status status = tn_json_parse_copy(&p->doc, &alloc, &ctx.limits, TN_STR("inference_metadata.yaml"),
                                               tn_buf_str(&out), err);
    tn_buf_release(&out);
    if (!status) status = tn_standard_read(&p->standard, &alloc, tn_json_root(&p->doc), err);
    if (status) test_fail(__FILE__, __LINE__, "%s: %s", name, err->primary.message);
    return status == TN_OK;
}

static void check_package(struct package *p)
{
    tn_findings_init(&p->findings, &alloc, 1000);
    p->inv = open_package(test_folder());
    if (p->inv) CHECK_INT(tn_standard_check_artifacts(&p->standard, p->inv, &p->findings, err), TN_OK);
}

static void close_all(struct package *p)
{
    tn_findings_release(&p->findings);
    tn_standard_release(&p->standard);
    tn_json_release(&p->doc);
    tn_json_release(&p->original);
    tn_inventory_free(p->inv);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* `count` findings, of which one has this code, pointer and words. */
static void expect(struct package *p, size_t count, enum tn_status code, const char *pointer, const char *found,
                   const char *expected, int line)
{
    bool there = count == 0;
    for (size_t i = 0; i < p->findings.count; i++) {
        const struct tn_finding *f = &p->findings.items[i];
        there = there || (f->code == code && strcmp(f->element, pointer) == 0 && strstr(f->found, found) &&
                          strstr(f->expected, expected) && f->file[0]);
    }
    if (there && p->findings.count == count) return;
    test_fail(__FILE__, line, "%s%zu findings, %s at %s", there ? "" : "not there: ", p->findings.count,
              tn_status_name(code), pointer);
    print_findings(&p->findings);
}

/* A copy of `name` whose document has one value replaced, added or removed. */
static void document_case(const char *name, struct standard_change change, size_t count, enum tn_status code,
                          const char *pointer, const char *found, const char *expected, int line)
{
    struct package p;
    copy_package(name);
    if (open_document(&p, name, &change)) {
        check_package(&p);
        expect(&p, count, code, pointer, found, expected, line);
    }
    close_all(&p);
}
#define REPLACED(name, at, value, count, code, pointer, found, expected)                                               \
    document_case((name), (struct standard_change){(at), STANDARD_REPLACE, (value)}, (count), (code), (pointer),       \
                  (found), (expected), __LINE__)
#define ADDED(name, at, value, count, code, pointer, found, expected)                                                  \
    document_case((name), (struct standard_change){(at), STANDARD_ADD, (value)}, (count), (code), (pointer), (found),  \
                  (expected), __LINE__)
#define REMOVED(name, at, count, code, pointer, found, expected)                                                       \
    document_case((name), (struct standard_change){(at), STANDARD_REMOVE, NULL}, (count), (code), (pointer), (found),  \
                  (expected), __LINE__)

/* A copy of `name` with a file edited. */
static void file_case(const char *name, const char *file, const char *from, const char *to, size_t count,
                      enum tn_status code, const char *pointer, const char *found, const char *expected, int line)
{
    struct package p;
    copy_package(name);
    edit_file(file, from, to);
    if (open_document(&p, name, NULL)) {
        check_package(&p);
        expect(&p, count, code, pointer, found, expected, line);
    }
    close_all(&p);
}
#define EDITED(name, file, from, to, count, code, pointer, found, expected)                                            \
    file_case((name), (file), (from), (to), (count), (code), (pointer), (found), (expected), __LINE__)

/* ---- what is right ----------------------------------------------------------------------------------------------- */

static void clean(const char *name)
{
    struct package p;
    copy_package(name);
    if (open_document(&p, name, NULL)) {
        check_package(&p);
        CHECK_INT(tn_standard_check(&p.standard, &p.findings, err), TN_OK);
        CHECK_INT(p.findings.count, 0);
        if (p.findings.count) print_findings(&p.findings);
    }
    close_all(&p);
}

TEST(adapter)
{
    clean("adapter");
}

TEST(codec)
{
    clean("codec");
}

TEST(decoder)
{
    clean("decoder");
}

TEST(diffusion)
{
    clean("diffusion");
}

TEST(masked)
{
    clean("masked");
}

TEST(static_cache)
{
    clean("static_cache");
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

#define MODEL "/pipeline/workflow/components/model"
#define MODEL_FILE MODEL "/implementation/artifact"

TEST(missing_file)
{
    REPLACED("decoder", MODEL_FILE, "\"gone.onnx\"", 1, TN_ARTIFACT_MISSING, MODEL_FILE, "no file gone.onnx", "inside");
    REPLACED("decoder", MODEL_FILE, "\"policies\"", 1, TN_ARTIFACT_MISSING, MODEL_FILE, "a folder policies", "inside");
    REPLACED("decoder", MODEL_FILE, "\"\"", 1, TN_ARTIFACT_MISSING, MODEL_FILE, "a folder", "inside");
}

TEST(names_that_leave)
{
    static const char *const names[] = {"\"../model.onnx\"", "\"/etc/passwd\"", "\"policies/../../x\"", "\"a\\\\b\"",
                                        "\"model.onnx\\u0000.textproto\""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        REPLACED("decoder", MODEL_FILE, names[i], 1, TN_PATH_ESCAPE, MODEL_FILE, "\"", "without");
        REPLACED("adapter", "/adapters/artifacts/blue/weights/0/location", names[i], 1, TN_PATH_ESCAPE,
                 "/adapters/artifacts/blue/weights/0/location", "\"", "without");
        REPLACED("adapter", "/adapters/artifacts/peft/weights/1/config_location", names[i], 1, TN_PATH_ESCAPE,
                 "/adapters/artifacts/peft/weights/1/config_location", "\"", "without");
    }
    ADDED("decoder", "/package/tokenizer/artifacts", "[{\"location\": \"/x\"}, {\"location\": \"gone.json\"}]", 2,
          TN_PATH_ESCAPE, "/package/tokenizer/artifacts/0/location", "/x", "without");
    ADDED("decoder", "/package/tokenizer/artifacts", "[{\"location\": \"/x\"}, {\"location\": \"gone.json\"}]", 2,
          TN_ARTIFACT_MISSING, "/package/tokenizer/artifacts/1/location", "gone.json", "inside");
}

/* Said once, although the document's own check sees it too. */
TEST(a_name_that_leaves_is_one_finding)
{
    struct package p;
    struct standard_change change = {MODEL_FILE, STANDARD_REPLACE, "\"../x\""};
    copy_package("decoder");
    REQUIRE(open_document(&p, "decoder", &change));
    tn_findings_init(&p.findings, &alloc, 1000);
    CHECK_INT(tn_standard_check(&p.standard, &p.findings, err), TN_OK);
    size_t before = p.findings.count;
    CHECK_INT(before, 1);
    p.inv = open_package(test_folder());
    REQUIRE(p.inv);
    CHECK_INT(tn_standard_check_artifacts(&p.standard, p.inv, &p.findings, err), TN_OK);
    CHECK_INT(p.findings.count, before);
    close_all(&p);
}

/* What stands in a file's place: a link that leaves, one to nothing, a FIFO. */
TEST(not_a_regular_file)
{
    struct package p;
    copy_package("decoder");
    REQUIRE(unlink(in_folder("model.onnx.textproto")) == 0);
    REQUIRE(symlink("/etc/passwd", in_folder("model.onnx.textproto")) == 0);
    REQUIRE(open_document(&p, "decoder", NULL));
    check_package(&p);
    expect(&p, 1, TN_PATH_ESCAPE, MODEL_FILE, "a link leads out", "regular", __LINE__);
    close_all(&p);
    REQUIRE(unlink(in_folder("model.onnx.textproto")) == 0);
    REQUIRE(symlink("nowhere", in_folder("model.onnx.textproto")) == 0);
    REQUIRE(open_document(&p, "decoder", NULL));
    check_package(&p);
    expect(&p, 1, TN_ARTIFACT_MISSING, MODEL_FILE, "leads nowhere", "regular", __LINE__);
    close_all(&p);
    REQUIRE(unlink(in_folder("model.onnx.textproto")) == 0);
    REQUIRE(mkfifo(in_folder("model.onnx.textproto"), 0600) == 0);
    REQUIRE(open_document(&p, "decoder", NULL));
    check_package(&p);
    expect(&p, 1, TN_ARTIFACT_MALFORMED, MODEL_FILE, "FIFO", "regular", __LINE__);
    close_all(&p);
    REQUIRE(unlink(in_folder("model.onnx.textproto")) == 0);
    REQUIRE(symlink("policies/token_to_slot.onnx.textproto", in_folder("model.onnx.textproto")) == 0);
    REQUIRE(open_document(&p, "decoder", NULL)); /* a link that stays inside is the file: another graph */
    check_package(&p);
    CHECK(p.findings.count > 4);
    CHECK(!find_in(&p.findings, TN_PATH_ESCAPE, "", NULL) && !find_in(&p.findings, TN_ARTIFACT_MISSING, "", NULL));
    close_all(&p);
}

TEST(not_a_graph)
{
    REPLACED("decoder", MODEL_FILE, "\"inference_metadata.yaml\"", 1, TN_ARTIFACT_MALFORMED, MODEL_FILE,
             "inference_metadata.yaml: metadata", "an ONNX model");
    EDITED("decoder", "model.onnx.textproto", "graph {", "grph {", 1, TN_ARTIFACT_MALFORMED, MODEL_FILE,
           "has no field \"grph\"", "text form");
    EDITED("decoder", "model.onnx.textproto", "version: 24", "version: 29", 1, TN_VERSION_UNQUALIFIED,
           "/opset_import/0", "version 29", "1 to 28");
}

/* ---- ports ------------------------------------------------------------------------------------------------------- */

#define IDS MODEL "/ports/inputs/input_ids"
#define LOGITS MODEL "/ports/outputs/logits"
#define GRAPH_IDS "name: \"input_ids\"\n    type {\n      tensor_type {\n        elem_type: 7"

TEST(ports_of_the_document)
{
    REPLACED("decoder", IDS "/dtype", "\"int32\"", 1, TN_METADATA_INVALID, IDS,
             "input input_ids of graph model.onnx.textproto is int64 [", "int32 [batch, sequence], as component model");
    REPLACED("decoder", LOGITS "/dtype", "\"float8_e3m4\"", 1, TN_METADATA_INVALID, LOGITS, "is float32",
             "float8_e3m4");
    REPLACED("decoder", IDS "/rank", "3", 1, TN_METADATA_INVALID, IDS, "int64 [", "rank 3");
    REPLACED("decoder", IDS "/rank", "1", 1, TN_METADATA_INVALID, IDS, "int64 [", "rank 1");
    REPLACED("decoder", LOGITS "/shape/2", "127", 1, TN_METADATA_INVALID, LOGITS, "128]", "127]");
    REMOVED("decoder", IDS, 1, TN_METADATA_INVALID, MODEL "/ports/inputs", "input input_ids of graph",
            "a port \"input_ids\"");
    ADDED("decoder", MODEL "/ports/inputs/extra", "{\"dtype\": \"int64\", \"rank\": 1}", 1, TN_METADATA_INVALID,
          MODEL "/ports/inputs/extra", "\"extra\"", "input_ids");
    ADDED("decoder", MODEL "/ports/outputs/input_ids", "{\"dtype\": \"int64\", \"rank\": 2}", 1, TN_METADATA_INVALID,
          MODEL "/ports/outputs/input_ids", "\"input_ids\", which is an input", "logits");
    /* what is not said is not compared */
    REMOVED("decoder", IDS "/shape", 0, TN_OK, "", "", "");
}

/* The same faults on the other side. */
TEST(ports_of_the_graph)
{
    EDITED("decoder", "model.onnx.textproto", GRAPH_IDS,
           "name: \"input_ids\"\n    type {\n      tensor_type {\n        elem_type: 6", 1, TN_METADATA_INVALID, IDS,
           "is int32 [", "int64 [batch, sequence]");
    EDITED("decoder", "model.onnx.textproto", GRAPH_IDS,
           "name: \"input_ids\"\n type { sequence_type { elem_type { tensor_type { elem_type: 7 } } } }\n type_ { {", 1,
           TN_ARTIFACT_MALFORMED, MODEL_FILE, "no field \"type_\"", "");
    EDITED("decoder", "model.onnx.textproto", "dim_value: 128", "dim_value: 64", 1, TN_METADATA_INVALID, LOGITS,
           "64]", "128]");
    /* a graph's input that is an initialiser too need not be declared */
    EDITED("decoder", "model.onnx.textproto", "graph {", "graph { input { name: \"extra\" } ", 1, TN_METADATA_INVALID,
           MODEL "/ports/inputs", "input extra of graph", "a port \"extra\"");
    EDITED("decoder", "model.onnx.textproto", "graph {",
           "graph { input { name: \"extra\" } initializer { name: \"extra\" data_type: 1 dims: 0 raw_data: \"\" } ", 0,
           TN_OK, "", "", "");
    EDITED("decoder", "model.onnx.textproto", "graph {",
           "graph { input { name: \"extra\" type { optional_type { elem_type { tensor_type { elem_type: 1 } } } } } ",
           0, TN_OK, "", "", "");
}

static const char tied[] =
    "ir_version: 9 opset_import { version: 17 } graph {"
    " input { name: \"a\" type { tensor_type { elem_type: 1 shape { dim { dim_param: \"N\" } dim { dim_value: 4 } } } "
    "} }"
    " input { name: \"b\" type { tensor_type { elem_type: 1 shape { dim { dim_param: \"N\" } dim { dim_param: \"M\" } "
    "} } } }"
    " output { name: \"c\" type { tensor_type { elem_type: 1 shape { dim { dim_param: \"M\" } dim {} } } } } }";

/* One component of three ports of rank 2; the shapes as JSON. */
static void symbols_case(const char *a, const char *b, const char *c, size_t count, const char *pointer,
                         const char *found, int line)
{
    struct package p;
    char text[2048];
    put_text("m.onnx.textproto", tied);
    memset(&p, 0, sizeof(p));
    snprintf(text, sizeof(text),
             "{\"pipeline\":{\"workflow\":{\"components\":{\"m\":{\"implementation\":{\"kind\":\"onnx\",\"artifact\":"
             "\"m.onnx.textproto\"},\"ports\":{\"inputs\":{\"a\":{\"dtype\":\"float32\",\"rank\":2,\"shape\":%s},"
             "\"b\":{\"dtype\":\"float32\",\"rank\":2,\"shape\":%s}},\"outputs\":{\"c\":{\"dtype\":\"fp32\",\"rank\":2,"
             "\"shape\":%s}}}}}}}}",
             a, b, c);
    REQUIRE(tn_json_parse_copy(&p.doc, &alloc, &ctx.limits, TN_STR("d.json"), tn_str_of(text), err) == TN_OK);
    REQUIRE(tn_standard_read(&p.standard, &alloc, tn_json_root(&p.doc), err) == TN_OK);
    check_package(&p);
    if (count) {
        expect(&p, count, TN_METADATA_INVALID, pointer, found, "", line);
    } else {
        CHECK_INT(p.findings.count, 0);
        if (p.findings.count) print_findings(&p.findings);
    }
    close_all(&p);
}
#define SYMBOLS(a, b, c, count, pointer, found) symbols_case((a), (b), (c), (count), (pointer), (found), __LINE__)
#define TIED "/pipeline/workflow/components/m/ports/"

TEST(symbols_unify)
{
    SYMBOLS("[\"n\", 4]", "[\"n\", \"m\"]", "[\"m\", \"k\"]", 0, "", "");
    SYMBOLS("[3, 4]", "[3, 5]", "[5, 6]", 0, "", "");
    SYMBOLS("[3, 4]", "[2, \"m\"]", "[\"m\", 6]", 1, TIED "inputs/b", "axis 0 of b is 2, and \"N\" is 3 by a");
    SYMBOLS("[\"n\", \"w\"]", "[\"n\", \"w\"]", "[5, 6]", 1, TIED "outputs/c", "axis 0 of c is 5");
    SYMBOLS("[\"n\", 3]", "[\"n\", \"m\"]", "[\"m\", 6]", 1, TIED "inputs/a", "float32 [N, 4]");
    SYMBOLS("[\"w\", \"w\"]", "[7, \"m\"]", "[\"m\", 6]", 1, TIED "inputs/b", "axis 0 of b is 7");
}

/* ---- names in roles, contracts and state ------------------------------------------------------------------------- */

TEST(names_of_ports)
{
    /* The declared side is whole: the document's own check refuses these names. Without declarations the graph speaks. */
    REPLACED("decoder", MODEL "/ports", "{\"roles\": {\"ids\": \"token_ids\", \"logits\": \"logits\"}}", 1,
             TN_METADATA_INVALID, MODEL "/ports/roles/ids", "\"ids\"", "input_ids");
    REPLACED("decoder", MODEL "/ports", "{}", 0, TN_OK, "", "", "");
    EDITED("static_cache", "model.onnx.textproto",
           "name: \"write_indices\"\n    type {\n      tensor_type {\n        elem_type: 7",
           "name: \"write_indices\"\n    type {\n      tensor_type {\n        elem_type: 1", 2, TN_METADATA_INVALID,
           "/pipeline/workflow/serving/state_service/groups/decoder_cache/update/write_indices_ports/model",
           "write_indices of graph model.onnx.textproto is float32", "int64 or int32");
}

TEST(invocations_of_undeclared_ports)
{
    struct package p;
    struct standard_change change = {MODEL "/ports", STANDARD_REPLACE, "{}"};
    copy_package("decoder");
    edit_file("model.onnx.textproto", "graph {",
              "graph { input { name: \"extra\" type { tensor_type { elem_type: 1 } } } ");
    REQUIRE(open_document(&p, "decoder", &change));
    check_package(&p);
    /* both invocations, in the set-up and in the loop */
    expect(&p, 2, TN_METADATA_INVALID, "/pipeline/workflow/steps/0/setup/1",
           "nothing for input extra of graph model.onnx.textproto, float32", "a value", __LINE__);
    expect(&p, 2, TN_METADATA_INVALID, "/pipeline/workflow/steps/0/steps/10", "nothing for input extra", "a value",
           __LINE__);
    close_all(&p);
    change = (struct standard_change){MODEL "/ports", STANDARD_REPLACE, "{}"};
    copy_package("decoder");
    edit_file("inference_metadata.yaml", "schema_version", "schema_version"); /* as it was */
    edit_file("model.onnx.textproto", "name: \"position_ids\"", "name: \"positions\"");
    REQUIRE(open_document(&p, "decoder", &change));
    check_package(&p);
    CHECK(find_in(&p.findings, TN_METADATA_INVALID, "an invocation feeds an input that the graph does not have", NULL));
    CHECK(find_in(&p.findings, TN_METADATA_INVALID, "an invocation leaves an input empty", NULL));
    close_all(&p);
}

/* ---- adapters ---------------------------------------------------------------------------------------------------- */

#define TARGET "/adapters/target_manifest/targets/0"
#define PEFT "/adapters/artifacts/peft"

TEST(targets)
{
    REPLACED("adapter", TARGET "/initializer", "\"w\"", 1, TN_METADATA_INVALID, TARGET "/initializer", "\"w\"",
             "one of the initializers of graph model.onnx.textproto");
    REPLACED("adapter", TARGET "/node_name", "\"n\"", 1, TN_METADATA_INVALID, TARGET "/node_name", "\"n\"",
             "one of the nodes of graph");
    REPLACED("adapter", TARGET "/output_name", "\"y\"", 1, TN_METADATA_INVALID, TARGET "/output_name",
             "makes \"projection.output\"", "\"y\"");
    EDITED("adapter", "model.onnx.textproto", "graph {", "graph { input { name: \"lora.projection.a\" } ", 2,
           TN_METADATA_INVALID, TARGET "/graph_inputs/b", "lora.projection.b", "one of the inputs of graph");
    EDITED("adapter", "model.onnx.textproto", "graph {", "graph { node { name: \"projection\" op_type: \"Neg\" } ", 1,
           TN_METADATA_INVALID, TARGET "/node_name", "\"projection\" in graph", "one node");
}

TEST(target_shapes)
{
    struct package p;
    struct standard_change change = {TARGET "/output_features", STANDARD_REPLACE, "3"};
    copy_package("adapter");
    REQUIRE(open_document(&p, "adapter", &change));
    check_package(&p);
    expect(&p, 6, TN_TENSOR_MISMATCH, TARGET "/initializer", "[2, 2]", "2 input and 3 output features", __LINE__);
    expect(&p, 6, TN_TENSOR_MISMATCH, PEFT "/bindings/0", "base_model.projection.lora_B.weight of "
           "adapters/peft/adapter_model.safetensors is [2, 1]", "[3, 1]", __LINE__);
    expect(&p, 6, TN_TENSOR_MISMATCH, "/adapters/artifacts/red/bindings/0",
           "b of projection in adapters/red/adapter.json: 2 numbers", "3 times 1", __LINE__);
    close_all(&p);
}

TEST(weights)
{
    REPLACED("adapter", PEFT "/bindings/0/weight_key", "\"other\"", 6, TN_MISSING_TENSOR, PEFT "/bindings/0/weight_key",
             "0 tensors \"...other.lora_A.weight\"", "one");
    REPLACED("adapter", PEFT "/bindings/0/weight_key", "\"jection\"", 6, TN_MISSING_TENSOR,
             PEFT "/bindings/0/weight_key", "0 tensors \"...jection.lora_B.weight\"", "one");
    REPLACED("adapter", PEFT "/bindings/0/weight_key", "\"other\"", 6, TN_UNEXPECTED_TENSOR, PEFT "/weights/1/location",
             "2 in adapters/peft/adapter_model.safetensors, the first is base_model.projection.lora_A.weight",
             "a binding");
    REPLACED("adapter", PEFT "/rank", "2", 5, TN_TENSOR_MISMATCH, PEFT "/bindings/0", "lora_A.weight of", "[2, 2]");
    REPLACED("adapter", PEFT "/rank", "2", 5, TN_METADATA_INVALID, PEFT "/weights/1/config_location",
             "/r of adapters/peft/adapter_config.json is 1", "2");
    REPLACED("adapter", PEFT "/alpha", "8", 1, TN_METADATA_INVALID, PEFT "/weights/1/config_location", "/lora_alpha of",
             "8");
    REPLACED("adapter", PEFT "/dtype", "\"float16\"", 2, TN_TENSOR_MISMATCH, PEFT "/bindings/0", "is f32", "float16");
    REPLACED("adapter", "/adapters/artifacts/red/bindings/0/weight_key", "\"k\"", 2, TN_MISSING_TENSOR,
             "/adapters/artifacts/red/bindings/0/weight_key", "no \"k\" below /targets", "a and b");
    REPLACED("adapter", "/adapters/artifacts/red/weights/0/location", "\"adapters/peft/adapter_config.json\"", 1,
             TN_ARTIFACT_MALFORMED, "/adapters/artifacts/red/weights/0/location", "no object /targets", "targets");
    REPLACED("adapter", PEFT "/weights/1/location", "\"adapters/red/adapter.json\"", 1, TN_ARTIFACT_MALFORMED,
             PEFT "/weights/1/location", "adapters/red/adapter.json: config", "safetensors");
    EDITED("adapter", "adapters/red/adapter.json", "[1,2]", "[1,2,3]", 1, TN_TENSOR_MISMATCH,
           "/adapters/artifacts/red/bindings/0", "b of projection", "2 times 1");
    EDITED("adapter", "adapters/red/adapter.json", "[1,2]", "[1,true]", 1, TN_TENSOR_MISMATCH,
           "/adapters/artifacts/red/bindings/0", "not all numbers", "2 times 1");
}

TEST(peft_configuration)
{
    static const struct {
        const char *add, *pointer, *expected;
    } cases[] = {
        {"\"use_dora\":true", "/use_dora of", "false"},
        {"\"use_rslora\":true", "/use_rslora of", "alpha_over_rank"},
        {"\"peft_type\":\"IA3\"", "/peft_type of", "LORA"},
        {"\"bias\":\"all\"", "/bias of", "none"},
        {"\"modules_to_save\":[\"lm_head\"]", "/modules_to_save of", "no modules_to_save"},
        {"\"rank_pattern\":{\"projection\":4}", "/rank_pattern/projection of", "1"},
        {"\"alpha_pattern\":{\"projection\":4}", "/alpha_pattern/projection of", "1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), "{%s,", cases[i].add);
        EDITED("adapter", "adapters/peft/adapter_config.json", "{", text, 1, TN_METADATA_INVALID,
               PEFT "/weights/1/config_location", cases[i].pointer, cases[i].expected);
    }
    EDITED("adapter", "adapters/peft/adapter_config.json", "{",
           "{\"peft_type\":\"LORA\",\"use_dora\":false,\"bias\":\"none\",", 0, TN_OK, "", "", "");
    static const char *const ranks[] = {"-1", "0", "1.5", "\"1\"", "1e40", "true"};
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        char text[32], found[64];
        snprintf(text, sizeof(text), "\"r\":%s", ranks[i]);
        snprintf(found, sizeof(found), "/r of adapters/peft/adapter_config.json is %s", ranks[i]);
        EDITED("adapter", "adapters/peft/adapter_config.json", "\"r\":1", text, 1, TN_METADATA_INVALID,
               PEFT "/weights/1/config_location", found, "1");
    }
    EDITED("adapter", "adapters/peft/adapter_config.json", "[\"projection\"]", "[\"q_proj\"]", 1, TN_METADATA_INVALID,
           PEFT "/weights/1/config_location", "/target_modules of", "projection");
    EDITED("adapter", "adapters/peft/adapter_config.json", "{", "[", 1, TN_ARTIFACT_MALFORMED,
           PEFT "/weights/1/config_location", "adapter_config.json", "JSON");
}

/* ---- many faults, one pass; lost memory -------------------------------------------------------------------------- */

TEST(all_at_once)
{
    struct package p;
    struct standard_change change = {MODEL "/ports/inputs/attention_mask/dtype", STANDARD_REPLACE, "\"bool\""};
    copy_package("decoder");
    REQUIRE(unlink(in_folder("policies/token_to_slot.onnx.textproto")) == 0);
    edit_file("policies/termination.onnx.textproto", "name: \"tokens\"", "name: \"token\"");
    edit_file("policies/token_sampler.onnx.textproto", "graph {", "graph");
    REQUIRE(open_document(&p, "decoder", &change));
    check_package(&p);
    expect(&p, 5, TN_METADATA_INVALID, MODEL "/ports/inputs/attention_mask", "int64", "bool", __LINE__);
    expect(&p, 5, TN_ARTIFACT_MISSING, "/pipeline/workflow/components/token_to_slot/implementation/artifact", "no file",
           "", __LINE__);
    expect(&p, 5, TN_ARTIFACT_MALFORMED, "/pipeline/workflow/components/token_sampler/implementation/artifact", "line",
           "", __LINE__);
    expect(&p, 5, TN_METADATA_INVALID, "/pipeline/workflow/components/termination/ports/inputs/tokens", "\"tokens\"",
           "token, ", __LINE__);
    close_all(&p);
}

TEST(sweep)
{
    struct package p;
    copy_package("adapter");
    REQUIRE(open_document(&p, "adapter", NULL));
    p.inv = open_package(test_folder());
    REQUIRE(p.inv);
    bool hit = true;
    for (uint64_t n = 1; hit; n++) {
        for (int after = 0; after < 2; after++) {
            struct tn_findings list;
            tn_findings_init(&list, &alloc, 100);
            uint64_t before = tn_alloc_current(&alloc);
            tn_error_clear(err);
            tn_alloc_fail(&alloc, n, after != 0);
            enum tn_status status = tn_standard_check_artifacts(&p.standard, p.inv, &list, err);
            hit = atomic_load(&alloc.calls) >= atomic_load(&alloc.fail_at);
            tn_alloc_fail(&alloc, 0, false);
            CHECK_INT(status, hit ? TN_INSUFFICIENT_MEMORY : TN_OK);
            CHECK_INT(tn_alloc_current(&alloc), before);
            tn_findings_release(&list);
        }
    }
    close_all(&p);
}
