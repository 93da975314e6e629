/* Allocation-failure sweep over opening and using packages: right code, nothing left, the same answer afterwards. */
#define _GNU_SOURCE
#include "package_util.h"

/* Each n-th allocation fails alone and with all after it, unless TN_FAULT_STRIDE thins the sweep out. */
static uint64_t stride(void)
{
    const char *text = getenv("TN_FAULT_STRIDE");
    long value = text ? atol(text) : 1;
    return value > 0 ? (uint64_t)value : 1;
}

/* Opens with the n-th allocation failing, alone or with all later ones. False when n was beyond the last. */
static bool open_with_fault(const char *path, uint64_t n, bool after, const struct tn_digest *manifest, size_t findings)
{
    struct tn_inventory *inv = NULL;
    tn_error_clear(err);
    tn_alloc_fail(&alloc, n, after);
    enum tn_status status = tn_inventory_open(&ctx, path, &inv, err);
    bool hit = atomic_load(&alloc.calls) >= atomic_load(&alloc.fail_at);
    tn_alloc_fail(&alloc, 0, false);
    if (hit) {
        CHECK_INT(status, TN_INSUFFICIENT_MEMORY);
        CHECK_INT(err->primary.code, TN_INSUFFICIENT_MEMORY);
        CHECK(err->retryable);
        CHECK(!inv);
    } else {
        CHECK_INT(status, TN_OK);
        CHECK(inv && tn_digest_eq(&inv->manifest, manifest) && inv->findings.count == findings &&
              !inv->findings.dropped);
    }
    close_package(inv);
    return hit;
}

static void sweep_open(const char *path)
{
    struct tn_inventory *whole = open_package(path);
    if (!whole) return;
    struct tn_digest manifest = whole->manifest;
    size_t findings = whole->findings.count;
    close_package(whole);
    uint64_t n = 1;
    while (open_with_fault(path, n, false, &manifest, findings)) {
        open_with_fault(path, n, true, &manifest, findings);
        n += stride();
    }
    CHECK(n > 5);
}

TEST(sweep_a_plain_package)
{
    sweep_open(test_path("golden/packages/bert_mean_normalize"));
}

TEST(sweep_shards_and_parts)
{
    sweep_open(test_path("golden/packages/bert_sharded"));
    sweep_open(test_path("golden/packages/bert_dense_tanh"));
}

/* Every kind of finding and container at once. */
TEST(sweep_a_package_of_faults)
{
    put_text("config.json", "{\"model_type\":");
    put_text(
        "modules.json",
        "[{\"type\":\"T\",\"path\":\"\"},{\"type\":\"D\",\"path\":\"../x\"},{\"type\":\"D\",\"path\":\"2_Dense\"}]");
    put_text("model_index.json", "{\"_class_name\":\"P\",\"unet\":[\"a\",\"b\"]}");
    put_text("adapter_config.json", "{\"peft_type\":\"LORA\"}");
    put_tensor("unet/m.safetensors", "a");
    put_tensor("2_Dense/model.safetensors", "a");
    put_tensor("adapter_model.safetensors", "a");
    put_text("cut.safetensors", "short");
    put_tensor("model-00001-of-00002.safetensors", "a");
    put_tensor("model-00002-of-00002.safetensors", "a");
    put_text("model.safetensors.index.json",
             "{\"weight_map\":{\"b\":\"model-00001-of-00002.safetensors\",\"c\":\"gone\",\"d\":\"/x\"}}");
    put_bytes("m.gguf", "GGUF\003\0\0\0\001\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
    put_bytes("m.onnx", "\x08\x09\x3a\x02\x0a\x00", 6);
    put_text("m.xml", "<net version=\"11\">");
    put_text("m.bin", "x");
    put_text("caf\xE9.json", "{}");
    put_text(".hidden/x", "x");
    REQUIRE(symlink("config.json", in_folder("alias.json")) == 0);
    REQUIRE(symlink("/etc/passwd", in_folder("out.json")) == 0);
    REQUIRE(mkfifo(in_folder("fifo"), 0600) == 0);
    sweep_open(test_folder());
}

TEST(sweep_a_cache_snapshot)
{
    put_tensor("repo/blobs/1", "a");
    put_text("repo/refs/main", "aa");
    make_parents(in_folder("repo/snapshots/aa/x"));
    REQUIRE(symlink("../../blobs/1", in_folder("repo/snapshots/aa/model.safetensors")) == 0);
    sweep_open(in_folder("repo"));
    sweep_open(in_folder("repo/blobs/1"));
}

TEST(sweep_using_an_inventory)
{
    struct tn_inventory *inv = open_package(test_path("golden/packages/bert_mean_normalize"));
    REQUIRE(inv);
    uint64_t held = tn_alloc_current(&alloc);
    for (uint64_t n = 1; n < 100; n++) {
        struct tn_json_doc doc;
        struct tn_digest digest;
        struct tn_mapping m;
        tn_alloc_fail(&alloc, n, false);
        enum tn_status json = tn_inventory_json(inv, TN_STR("config.json"), &doc, err);
        if (json == TN_OK) tn_json_release(&doc);
        CHECK(json == TN_OK || json == TN_INSUFFICIENT_MEMORY);
        tn_alloc_fail(&alloc, n, false);
        enum tn_status closure = tn_inventory_closure(inv, NULL, &digest, err);
        CHECK(closure == TN_OK || closure == TN_INSUFFICIENT_MEMORY);
        tn_alloc_fail(&alloc, n, false);
        enum tn_status map = tn_inventory_map(inv, 0, &m, err);
        if (map == TN_OK) tn_mapping_close(&m);
        CHECK(map == TN_OK || map == TN_INSUFFICIENT_MEMORY);
        tn_alloc_fail(&alloc, 0, false);
        CHECK_INT(tn_alloc_current(&alloc), held);
    }
    close_package(inv);
}
