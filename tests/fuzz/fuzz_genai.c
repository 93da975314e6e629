/*
 * Fuzz target: genai_config.json beside good graphs, on TMPDIR. The first byte says whether losses are accepted; the rest
 * is the document. What is described is used: written, fingerprinted, and its contract, when there is one, must pass
 * tables and check of the standard, since nothing else of the library makes contracts. Beside its original the pair that was
 * written says nothing else.
 */
#define _GNU_SOURCE
#include "unit/onnx_ports.h"

#include "base/json_write.h"
#include "describe/serial.h"
#include "describe/standard/tables.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[512];
static struct tn_error err;

static void require(bool condition)
{
    if (!condition) __builtin_trap();
}

static void put(const char *name, const void *p, size_t n)
{
    char path[640];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    require(f && fwrite(p, 1, n, f) == n && fclose(f) == 0);
}

static const char *const files[] = {"model.onnx", "encoder.onnx", "embedding.onnx", "vision.onnx", "genai_config.json",
                                    "inference_metadata.json", "tenon_package.json"};

static void remove_folder(void)
{
    char path[640];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void put_graphs(void)
{
    static const char *const lines[4][14] = {
        {"<input_ids:7:batch,sequence", "<attention_mask:7:batch,total", "<past_key_values.0.key:1:batch,2,past,8",
         "<past_key_values.0.value:1:batch,2,past,8", "<past_key_values.1.key:1:batch,2,past,8",
         "<past_key_values.1.value:1:batch,2,past,8", "<past.0.conv:1:batch,32,3", ">logits:1:batch,sequence,100",
         ">present.0.key:1:batch,2,total,8", ">present.0.value:1:batch,2,total,8", ">present.1.key:1:batch,2,total,8",
         ">present.1.value:1:batch,2,total,8", ">present.0.conv:1:batch,32,3"},
        {"<audio_features:1:batch,80,frames", ">hidden_states:1:batch,frames,32", ">present_key_cross_0:1:batch,2,frames,8",
         ">present_value_cross_0:1:batch,2,frames,8"},
        {"<input_ids:7:batch,sequence", "<image_features:1:patches,32", ">inputs_embeds:1:batch,sequence,32"},
        {"<pixel_values:1:pictures,3,14,14", "<image_sizes:7:pictures,2", ">image_features:1:patches,32"},
    };
    static struct ports_buf model;
    for (size_t i = 0; i < 4; i++) {
        ports_model(&model, lines[i]);
        put(files[i], model.data, model.n);
    }
}

static void make_folder(void)
{
    const char *base = getenv("TMPDIR");
    struct stat st;
    if (!base) base = stat("/dev/shm", &st) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof(folder), "%s/tenon-genai-XXXXXX", base);
    require(mkdtemp(folder) != NULL);
    put_graphs();
    atexit(remove_folder);
}

static bool is_imported(const struct tn_finding *f)
{
    return f->severity == TN_BLOCKER && f->code == TN_METADATA_INVALID && strncmp(f->file, "(contract", 9) == 0;
}

static void drop(const char *name)
{
    char path[640];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    unlink(path);
}

/* Whoever reads the pair beside the document that it came from finds no difference. */
static void compare(struct tn_context *ctx, const struct tn_buf *metadata, const struct tn_buf *package)
{
    struct tn_inventory *inv = NULL;
    struct tn_description *d = NULL;
    struct tn_describe_options options = {.accept_loss = false};
    put("inference_metadata.json", metadata->data, metadata->len);
    put("tenon_package.json", package->data, package->len);
    require(tn_inventory_open(ctx, folder, &inv, &err) == TN_OK && tn_describe(inv, &options, &d, &err) == TN_OK);
    for (size_t i = 0; i < d->findings.count; i++) require(!strstr(d->findings.items[i].message, "decides against"));
    tn_description_free(d);
    tn_inventory_free(inv);
    drop("inference_metadata.json");
    drop("tenon_package.json");
}

static void use(struct tn_context *ctx, const struct tn_description *d, bool accepted)
{
    struct tn_buf metadata, package;
    struct tn_serial_options options = {.yaml = false, .provenance = true};
    struct tn_sha256 h;
    tn_buf_init(&metadata, d->arena.alloc, 64 << 20);
    tn_buf_init(&package, d->arena.alloc, 64 << 20);
    enum tn_status status = tn_description_documents(d, &options, &metadata, &package, &err);
    require(status == TN_OK || (status != TN_INSUFFICIENT_MEMORY && d->findings.blockers > 0)); /* broken files are not written down */
    if (status == TN_OK && tn_json_present(tn_json_root(&d->contract))) compare(ctx, &metadata, &package);
    tn_buf_release(&metadata);
    tn_buf_release(&package);
    tn_sha256_init(&h);
    tn_description_fingerprint(d, &h);
    require(accepted || d->loss_count == 0);
    if (!tn_json_present(tn_json_root(&d->contract))) return;
    require(tn_standard_check_tables(tn_json_root(&d->contract), NULL) == TN_OK);
    /* Names of the document are the only thing in it that is not ours: only they can collide. */
    size_t collisions = 0;
    for (size_t i = 0; i < d->findings.count; i++) collisions += is_imported(&d->findings.items[i]);
    require(collisions == 0 || d->standard.workflow.component_count > 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tn_alloc alloc;
    struct tn_inventory *inv = NULL;
    struct tn_description *d = NULL;
    if (size == 0) return 0;
    if (!folder[0]) make_folder();
    put("genai_config.json", data + 1, size - 1);
    tn_alloc_init(&alloc);
    struct tn_context ctx = {.alloc = &alloc, .limits = tn_limits_default()};
    struct tn_describe_options options = {.accept_loss = data[0] & 1};
    require(tn_inventory_open(&ctx, folder, &inv, &err) == TN_OK);
    enum tn_status status = tn_describe(inv, &options, &d, &err);
    require(status == TN_OK || status == TN_RESOURCE_LIMIT);
    if (d) use(&ctx, d, options.accept_loss);
    tn_description_free(d);
    tn_inventory_free(inv);
    require(tn_alloc_current(&alloc) == 0);
    return 0;
}
