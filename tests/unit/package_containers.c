/* Recognition by contents, variants and their ids, and which findings stand in the way of which variant. */
#define _GNU_SOURCE
#include "package_util.h"

/* ---- bytes of containers, written by hand from their formats ----------------------------------------------------- */

struct bytes {
    unsigned char data[4096];
    size_t n;
};

static void put(struct bytes *b, const void *p, size_t n)
{
    memcpy(b->data + b->n, p, n);
    b->n += n;
}

static void little(struct bytes *b, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++) b->data[b->n++] = (unsigned char)(value >> (8 * i));
}

static void varint(struct bytes *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) b->data[b->n++] = (unsigned char)(value | 0x80);
    b->data[b->n++] = (unsigned char)value;
}

static void number(struct bytes *b, unsigned field, uint64_t value)
{
    varint(b, field << 3);
    varint(b, value);
}

static void message(struct bytes *b, unsigned field, const void *p, size_t n)
{
    varint(b, field << 3 | 2);
    varint(b, n);
    put(b, p, n);
}

static void text(struct bytes *b, unsigned field, const char *s)
{
    message(b, field, s, strlen(s));
}

/* ModelProto with one node and, for each name, an initializer whose data is external. */
static struct bytes onnx_model(const char *const *locations)
{
    struct bytes model = {.n = 0}, graph = {.n = 0}, node = {.n = 0}, opset = {.n = 0};
    text(&node, 4, "Relu");
    message(&graph, 1, node.data, node.n);
    for (; locations && *locations; locations++) {
        struct bytes tensor = {.n = 0}, entry = {.n = 0}, offset = {.n = 0};
        text(&entry, 1, "location");
        text(&entry, 2, *locations);
        text(&offset, 1, "offset");
        text(&offset, 2, "0");
        number(&tensor, 1, 4);
        number(&tensor, 2, 1);
        message(&tensor, 13, entry.data, entry.n);
        message(&tensor, 13, offset.data, offset.n);
        number(&tensor, 14, 1);
        message(&graph, 5, tensor.data, tensor.n);
    }
    text(&graph, 11, "");
    text(&graph, 12, "");
    number(&opset, 2, 17);
    number(&model, 1, 9);
    text(&model, 2, "hand");
    message(&model, 7, graph.data, graph.n);
    message(&model, 8, opset.data, opset.n);
    return model;
}

static void put_onnx(const char *name, const char *const *locations)
{
    struct bytes model = onnx_model(locations);
    put_bytes(name, model.data, model.n);
}

static void put_gguf(const char *name)
{
    struct bytes b = {.n = 0};
    put(&b, "GGUF", 4);
    little(&b, 3, 4);
    little(&b, 7, 8);
    little(&b, 2, 8);
    little(&b, 20, 8);
    put(&b, "general.architecture", 20);
    little(&b, 8, 4);
    little(&b, 5, 8);
    put(&b, "llama", 5);
    put_bytes(name, b.data, b.n);
}

/* A local zip header with the name of the first entry. */
static void put_zip(const char *name, const char *entry)
{
    struct bytes b = {.n = 0};
    put(&b, "PK\003\004", 4);
    b.n = 26;
    little(&b, strlen(entry), 2);
    little(&b, 0, 2);
    put(&b, entry, strlen(entry));
    put_bytes(name, b.data, b.n + 8);
}

static const struct tn_variant *only(const struct tn_inventory *inv, const char *id, const char *container,
                                     const char *what, int line)
{
    const struct tn_variant *v = variant_of(inv, id);
    if (inv->variant_count != 1 || !v || !tn_str_is(v->container, container) || v->executable != tn_str_is(v->container, "onnx") ||
        !strstr(v->what.s, what)) {
        test_fail(__FILE__, line, "%u variants, first %s \"%s\"", inv->variant_count,
                  inv->variant_count ? inv->variants[0].id.s : "-", inv->variant_count ? inv->variants[0].what.s : "-");
    }
    return v;
}
#define ONLY(inv, id, container, what) only(inv, id, container, what, __LINE__)

/* ---- recognised, not executable, not broken ---------------------------------------------------------------------- */

TEST(gguf)
{
    put_gguf("m.Q4_K_M.gguf");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    ONLY(inv, "m.Q4_K_M.gguf", "gguf", "GGUF 3, 7 tensors, 2 entries, llama");
    CHECK(has_evidence(inv, "gguf", "gguf.magic"));
    close_package(inv);
}

TEST(gguf_by_contents_not_by_name)
{
    put_gguf("weights.dat");
    put_text("fake.gguf", "nothing of the kind, but long enough");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    ONLY(inv, "weights.dat", "gguf", "llama");
    const struct tn_finding *f = EXPECT(inv, TN_ARTIFACT_MALFORMED, "not what the file's name says", "fake.gguf");
    CHECK_INT(f->severity, TN_WARNING);
    close_package(inv);
}

TEST(split_gguf_is_one_variant)
{
    put_gguf("m-00001-of-00002.gguf");
    put_gguf("m-00002-of-00002.gguf");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(ONLY(inv, "m-00001-of-00002.gguf", "gguf", "2 files")->file_count, 2);
    close_package(inv);
}

TEST(cut_and_foreign_gguf)
{
    put_bytes("cut.gguf", "GGUF\003\0\0\0\001", 9);
    put_bytes("big.gguf", "GGUF\0\0\0\003\0\0\0\0\0\0\0\001", 16);
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT(inv, TN_ARTIFACT_MALFORMED, "cannot read 8 bytes", "cut.gguf");
    const struct tn_variant *big = variant_of(inv, "big.gguf");
    REQUIRE(big);
    CHECK_CONTAINS(big->what.s, "big-endian");
    close_package(inv);
}

TEST(onnx_with_external_data)
{
    static const char *const data[] = {"model.onnx_data", "model.onnx_data", "more/second.bin", NULL};
    put_onnx("onnx/model.onnx", data);
    put_text("onnx/model.onnx_data", "0123456789abcdef");
    put_text("onnx/more/second.bin", "0123456789abcdef");
    put_text("config.json", "{\"model_type\":\"x\"}");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    const struct tn_variant *v = ONLY(inv, "onnx/model.onnx", "onnx", "IR 9, ai.onnx 17, 1 nodes");
    REQUIRE(v);
    CHECK_INT(v->file_count, 3);
    CHECK(tn_str_is(v->folder, "")); /* the nearest config.json stands in the root */
    CHECK(tn_str_is(v->place, "onnx"));
    CHECK_INT(tn_inventory_file(inv, TN_STR("onnx/model.onnx_data"))->role, TN_ROLE_ONNX_DATA);
    CHECK(has_evidence(inv, "onnx", "onnx.model_proto"));
    close_package(inv);
}

TEST(onnx_external_data_missing_or_outside)
{
    static const char *const data[] = {"gone.bin", "../../etc/passwd", "/dev/zero", NULL};
    put_onnx("m.onnx", data);
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 3);
    CHECK_CONTAINS(EXPECT(inv, TN_ARTIFACT_MISSING, "external data", "m.onnx")->found, "gone.bin");
    EXPECT(inv, TN_PATH_ESCAPE, "refused", "m.onnx");
    close_package(inv);
}

/* No prefix of a model is one: a cut file is noticed, and nothing is read beyond an end. */
TEST(cut_onnx)
{
    static const char *const data[] = {"x.bin", NULL};
    struct bytes model = onnx_model(data);
    for (size_t n = 0; n < model.n; n++) {
        put_bytes("m.onnx", model.data, n);
        struct tn_inventory *inv = open_package(in_folder("m.onnx"));
        REQUIRE(inv);
        bool before_opset = n + 4 == model.n; /* the graph is whole, only the operator set is missing */
        if (inv->variant_count != before_opset)
            test_fail(__FILE__, __LINE__, "%zu of %zu bytes: %u variants", n, model.n, inv->variant_count);
        if (!before_opset) EXPECT(inv, TN_ARTIFACT_MALFORMED, "not what the file's name says", "m.onnx");
        close_package(inv);
    }
}

TEST(graph_with_a_broken_inside)
{
    struct bytes model = {.n = 0};
    number(&model, 1, 9);
    text(&model, 7, "\x0a\x7f");
    put_bytes("m.onnx", model.data, model.n);
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT(inv, TN_ARTIFACT_MALFORMED, "cannot be walked", "m.onnx");
    close_package(inv);
}

TEST(openvino)
{
    put_text("openvino/openvino_model.xml", "<?xml version=\"1.0\"?>\n<net name=\"Model0\" version=\"11\">\n</net>\n");
    put_text("openvino/openvino_model.bin", "0123456789");
    put_text("other.xml", "<?xml version=\"1.0\"?><other/>");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK_INT(ONLY(inv, "openvino/openvino_model.xml", "openvino_ir", "2 files")->file_count, 2);
    CHECK_INT(tn_inventory_file(inv, TN_STR("openvino/openvino_model.bin"))->role, TN_ROLE_OPENVINO);
    close_package(inv);
}

TEST(pickles_are_named)
{
    put_zip("pytorch_model.bin", "archive/data.pkl");
    put_bytes("old.pt", "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9", 9);
    put_zip("sub/model.ckpt", "model/data.pkl");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK_INT(inv->variant_count, 2);
    const struct tn_variant *root = variant_of(inv, "pytorch_pickle"), *sub = variant_of(inv, "sub/pytorch_pickle");
    REQUIRE(root && sub);
    CHECK_INT(root->file_count, 2);
    CHECK_INT(sub->file_count, 1);
    CHECK(!root->executable);
    CHECK(has_evidence(inv, "pytorch_pickle", "pickle.first_bytes"));
    close_package(inv);
}

TEST(containers_that_are_named_only)
{
    static const struct {
        const char *file, *container;
        const char *bytes;
        size_t n;
    } cases[] = {
        {"tf_model.h5", "hdf5", "\x89HDF\r\n\x1a\n1234", 12},
        {"a.npy", "npy", "\x93NUMPY\x01\0", 8},
        {"m.tflite", "tflite", "\x1c\0\0\0TFL3\0\0\0\0", 12},
        {"trees.txt", "lightgbm_text", "tree\nversion=v4\n", 16},
        {"x.json", "xgboost_json", "{\"learner\":{\"a\":1}}", 19},
        {"saved_model.pb", "tf_saved_model", "\x08\x01\x12\x02\x0a\0", 6},
        {"flax_model.msgpack", "flax_msgpack", "\x81\xa1x\x01", 4},
        {"old.bin", "ggml_legacy", "tjgg\x03\0\0\0", 8},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put_bytes(cases[i].file, cases[i].bytes, cases[i].n);
        struct tn_inventory *inv = open_package(in_folder("%s", cases[i].file));
        if (!inv) continue;
        EXPECT_CLEAN(inv);
        ONLY(inv, cases[i].file, cases[i].container, "1 file");
        close_package(inv);
    }
    put_zip("w.npz", "arr_0.npy");
    struct tn_inventory *inv = open_package(in_folder("w.npz"));
    REQUIRE(inv);
    ONLY(inv, "w.npz", "npz", "1 file");
    close_package(inv);
}

TEST(diffusers)
{
    put_text("model_index.json", "{\"_class_name\":\"StableDiffusionPipeline\",\"unet\":[\"diffusers\",\"UNet\"],"
                                 "\"vae\":[\"diffusers\",\"VAE\"],\"_x\":[\"a\",\"b\"],\"flag\":true}");
    put_tensor("unet/diffusion_pytorch_model.safetensors", "w");
    put_tensor("unet/diffusion_pytorch_model.fp16.safetensors", "w");
    put_tensor("vae/diffusion_pytorch_model.safetensors", "w");
    put_tensor("vae/diffusion_pytorch_model.fp16.safetensors", "w");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK_INT(inv->variant_count, 2);
    const struct tn_variant *plain = variant_of(inv, "diffusers"), *half = variant_of(inv, "diffusers.fp16");
    REQUIRE(plain && half);
    CHECK_INT(plain->file_count, 2);
    CHECK_CONTAINS(plain->what.s, "2 components, 2 tensors");
    CHECK(!plain->executable);
    CHECK(has_evidence(inv, "diffusers", "diffusers.model_index"));
    const struct tn_variant *v;
    CHECK_INT(tn_inventory_variant(inv, NULL, &v, err), TN_AMBIGUOUS_PACKAGE);
    close_package(inv);
}

TEST(adapter_names_its_base)
{
    put_text("adapter_config.json", "{\"peft_type\":\"LORA\",\"base_model_name_or_path\":\"org/base\"}");
    put_tensor("adapter_model.safetensors", "lora_A");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    ONLY(inv, "safetensors", "peft_adapter", "LORA adapter of base org/base");
    close_package(inv);
}

TEST(metadata_and_genai_and_tokenizer_and_mlx)
{
    put_text("inference_metadata.yaml", "version: v1\n");
    put_text("genai_config.json", "{\"model\":{\"type\":\"llama\"},\"search\":{}}");
    put_text("tokenizer.json", "{\"version\":\"1.0\"}");
    put_safetensors("model.safetensors", "{\"__metadata__\":{\"format\":\"mlx\"}}", 0);
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK(has_evidence(inv, "inference_metadata", "metadata.document"));
    CHECK(has_evidence(inv, "genai_config", "genai.config_json"));
    CHECK(has_evidence(inv, "tokenizers", "tokenizers.tokenizer_json"));
    CHECK(has_evidence(inv, "mlx", "safetensors.metadata_format"));
    close_package(inv);
}

TEST(documents_are_told_by_content)
{
    put_text("config.json", "{\"model_type\":7,\"architectures\":{}}");
    put_text("modules.json", "{\"type\":\"x\"}");
    put_text("model_index.json", "[1]");
    put_text("adapter_config.json", "{}");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK_INT(inv->evidence_count, 0);
    close_package(inv);
}

TEST(documents_that_cannot_be_read_block)
{
    put_text("modules.json", "[{]");
    put_text("config.json", "{\"a\":1,\"a\":2}");
    put_text("trainer_state.json", "{\"loss\":NaN}"); /* nobody's contract: none of our business */
    put_text("pytorch_model.bin.index.json", "{\"weight_map\":");
    put_tensor("model.safetensors", "a");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 2);
    EXPECT(inv, TN_ARTIFACT_MALFORMED, "not valid JSON", "modules.json");
    CHECK_STR(EXPECT(inv, TN_ARTIFACT_MALFORMED, "duplicate key", "config.json")->element, "/a");
    CHECK(tn_inventory_file(inv, TN_STR("modules.json"))->malformed);
    CHECK(!tn_inventory_file(inv, TN_STR("trainer_state.json"))->malformed);
    close_package(inv);
}

TEST(modules_that_leave_the_package)
{
    put_text("modules.json", "[{\"type\":\"T\",\"path\":\"\"},{\"type\":\"P\",\"path\":\"../1_Pooling\"}]");
    put_tensor("model.safetensors", "a");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_STR(EXPECT(inv, TN_PATH_ESCAPE, "refused", "modules.json")->element, "/1/path");
    close_package(inv);
}

/* ---- choice ------------------------------------------------------------------------------------------------------ */

/* What a popular repository looks like: one set of weights beside graphs, which yield, and containers that are only recognised. */
TEST(the_only_executable_variant_is_taken)
{
    put_text("config.json", "{\"model_type\":\"x\"}");
    put_tensor("model.safetensors", "a");
    put_zip("pytorch_model.bin", "archive/data.pkl");
    put_bytes("tf_model.h5", "\x89HDF\r\n\x1a\n1234", 12);
    put_onnx("onnx/model.onnx", NULL);
    put_onnx("onnx/model_O4.onnx", NULL);
    put_text("openvino/openvino_model.xml", "<net name=\"m\" version=\"11\">");
    const struct tn_variant *v;
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK_INT(inv->variant_count, 6);
    CHECK_INT(tn_inventory_variant(inv, NULL, &v, err), TN_OK);
    CHECK(v && tn_str_is(v->id, "safetensors"));
    CHECK_INT(tn_inventory_variant(inv, "onnx/model_O4.onnx", &v, err), TN_OK);
    CHECK(v && v->executable && v->graph);
    CHECK_INT(tn_inventory_variant(inv, "onnx", &v, err), TN_INVALID_REQUEST);
    CHECK(!v);
    CHECK_CONTAINS(err->primary.expected, "safetensors, onnx/model.onnx, onnx/model_O4.onnx");
    close_package(inv);
}

TEST(several_sets_in_one_folder_are_ambiguous)
{
    const struct tn_variant *v;
    put_text("config.json", "{\"model_type\":\"x\"}");
    put_tensor("model.safetensors", "a");
    put_tensor("model.fp16.safetensors", "a");
    put_tensor("consolidated.safetensors", "b");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK_INT(tn_inventory_variant(inv, NULL, &v, err), TN_AMBIGUOUS_PACKAGE);
    CHECK(!v);
    CHECK_STR(err->primary.element, "variant");
    CHECK_CONTAINS(err->primary.expected, "consolidated.safetensors, model.fp16.safetensors, safetensors");
    CHECK_CONTAINS(err->primary.remedy, "--variant");
    CHECK_INT(err->count, 3);
    CHECK_CONTAINS(err->findings[0].message, "variant consolidated.safetensors: 1 file");
    CHECK_INT(tn_inventory_variant(inv, "safetensors", &v, err), TN_OK);
    CHECK(v && tn_variant_tensor(inv, v, TN_STR("a")) && !tn_variant_tensor(inv, v, TN_STR("b")));
    CHECK_INT(tn_inventory_variant(inv, "consolidated.safetensors", &v, err), TN_OK);
    CHECK(v && tn_variant_tensor(inv, v, TN_STR("b")));
    close_package(inv);
}

TEST(findings_of_one_variant)
{
    put_text("config.json", "{\"model_type\":\"x\"}");
    put_tensor("model.safetensors", "a");
    put_tensor("model.fp16.safetensors", "a");
    REQUIRE(truncate(in_folder("model.fp16.safetensors"), 70) == 0);
    put_bytes("cut.gguf", "GGUF\003\0\0\0\001", 9);
    REQUIRE(symlink("/etc/passwd", in_folder("x.json")) == 0);
    struct tn_inventory *inv = open_package(test_folder());
    struct tn_findings found;
    REQUIRE(inv);
    CHECK_INT(inv->findings.blockers, 3);
    static const struct {
        const char *id;
        size_t blockers;
    } cases[] = {{"safetensors", 1}, {"model.fp16.safetensors", 2}, {"cut.gguf", 2}, {NULL, 3}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tn_findings_init(&found, &alloc, 100);
        tn_inventory_findings(inv, cases[i].id ? variant_of(inv, cases[i].id) : NULL, &found);
        CHECK_INT(found.blockers, cases[i].blockers);
        CHECK_INT(found.count, cases[i].blockers);
        tn_findings_release(&found);
    }
    close_package(inv);
}

TEST(a_broken_part_concerns_every_variant)
{
    struct tn_findings found;
    put_text(
        "modules.json",
        "[{\"type\":\"T\",\"path\":\"\"},{\"type\":\"D\",\"path\":\"2_Dense\"},{\"type\":\"E\",\"path\":\"3_Dense\"}]");
    put_tensor("model.safetensors", "a");
    put_tensor("2_Dense/model.safetensors", "linear.weight");
    REQUIRE(truncate(in_folder("2_Dense/model.safetensors"), 70) == 0);
    put_zip("3_Dense/pytorch_model.bin", "archive/data.pkl");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->variant_count, 1);
    CHECK_INT(inv->part_count, 2);
    const struct tn_variant *pickle = tn_inventory_part(inv, TN_STR("3_Dense"));
    CHECK(pickle && !pickle->executable);
    tn_findings_init(&found, &alloc, 100);
    tn_inventory_findings(inv, &inv->variants[0], &found);
    CHECK_INT(found.blockers, 1);
    tn_findings_release(&found);
    close_package(inv);
}

TEST(stand_ins_for_other_files)
{
    put_text("tokenizer.json", "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 466247\n");
    put_text("config.json", "<!doctype html><html>not found</html>");
    put_text("README.md", "version https://git-lfs.github.com/spec/v1\nsize 4\n");
    put_text("page.html", "<!doctype html><html>fine</html>");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->findings.blockers, 2);
    CHECK_INT(inv->findings.count, 3);
    CHECK_CONTAINS(EXPECT(inv, TN_ARTIFACT_MISSING, "only something in its place", "tokenizer.json")->found,
                   "466247 bytes");
    CHECK_CONTAINS(EXPECT(inv, TN_ARTIFACT_MISSING, "only something in its place", "config.json")->found, "web page");
    close_package(inv);
}

TEST(an_id_that_a_file_name_repeats)
{
    put_tensor("model.safetensors", "a");
    put_gguf("safetensors");
    struct tn_inventory *inv = open_package(test_folder());
    const struct tn_variant *v;
    REQUIRE(inv);
    CHECK_INT(inv->variant_count, 2);
    CHECK(!tn_str_eq(inv->variants[0].id, inv->variants[1].id));
    CHECK_INT(tn_inventory_variant(inv, NULL, &v, err), TN_OK);
    CHECK(v && tn_str_is(v->container, "safetensors"));
    close_package(inv);
}

/* What grows with the square of hostile counts would take minutes here. */
TEST(many_variants_of_every_kind)
{
    enum { MANY = 3000 };
    put_text("model_index.json", "{\"_class_name\":\"P\",\"unet\":[\"a\",\"b\"]}");
    for (int i = 0; i < MANY; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%d.gguf", i);
        put_bytes(name, "GGUF\003\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
        snprintf(name, sizeof(name), "m%d.safetensors", i);
        put_safetensors(name, "{}", 0);
        snprintf(name, sizeof(name), "unet/m.%d.safetensors", i);
        put_safetensors(name, "{}", 0);
    }
    uint64_t begin = tn_os_monotonic_ns();
    struct tn_inventory *inv = open_package(test_folder());
    CHECK((tn_os_monotonic_ns() - begin) / 1000000 < 30000);
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK_INT(inv->variant_count, 3 * MANY);
    close_package(inv);
}

TEST(more_modules_than_the_limit)
{
    ctx.limits.modules = 2;
    put_text("modules.json", "[{\"type\":\"a\",\"path\":\"\"},{\"type\":\"b\",\"path\":\"1\"},"
                             "{\"type\":\"c\",\"path\":\"2\"}]");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_CONTAINS(EXPECT(inv, TN_RESOURCE_LIMIT, "limit modules", "modules.json")->found, "3 entries");
    close_package(inv);
}
