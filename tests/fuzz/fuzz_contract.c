/*
 * Fuzz target: a package with a contract of its own. The input is two documents, inference_metadata and tenon_package.json,
 * with the line "%%%" between them; an empty first one stands for the written form. They are put beside the weights and
 * the tokenizer of a committed package, described, validated and written again; what holds must be written the same.
 */
#define _GNU_SOURCE
#include "fuzz_folder.h"

#include "describe/serial.h"
#include "describe/validate.h"
#include "family/family.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PACKAGE "tests/golden/packages/bert_mean_normalize"

static struct tn_error err;

static void require(bool condition)
{
    if (!condition) __builtin_trap();
}

static void put(const char *name, const void *bytes, size_t n)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
    FILE *f = fopen(path, "wb");
    require(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static void copy(const char *name)
{
    static char bytes[1 << 20];
    char path[1024];
    snprintf(path, sizeof(path), PACKAGE "/%s", name);
    FILE *f = fopen(path, "rb");
    require(f != NULL);
    size_t n = fread(bytes, 1, sizeof(bytes), f);
    require(n < sizeof(bytes) && fclose(f) == 0);
    put(name, bytes, n);
}

static void drop(const char *name)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
    unlink(path);
}

/* The metadata that `describe` writes for this package. */
static const char written[] =
    "{\"schema_version\":\"v1\",\"pipeline\":{\"workflow\":{\"manifest\":{\"adapter_abis\":{\"tenon.package\":\"1\"},"
    "\"capabilities\":[\"typed_emit\",\"workflow_ssa\"]},\"inputs\":{\"request.text\":{\"contract\":{\"dtype\":\"string\","
    "\"rank\":1,\"shape\":[\"batch\"],\"batch_layout\":{\"kind\":\"request_aligned\",\"axis\":0}},\"required\":true,"
    "\"role\":{\"kind\":\"runtime\",\"role\":\"prompt_text\",\"version\":\"1.0\"},\"source\":{\"kind\":\"request\"}}},"
    "\"outputs\":{\"embedding\":{\"contract\":{\"dtype\":\"float32\",\"rank\":2,\"shape\":[\"batch\",32],"
    "\"batch_layout\":{\"kind\":\"request_aligned\",\"axis\":0}},\"role\":\"tensor\",\"stage\":\"post_adapter\"}},"
    "\"components\":{\"embedder\":{\"implementation\":{\"abi\":\"tenon.package\",\"artifact\":\"tenon_package.json\","
    "\"kind\":\"adapter\",\"version\":\"1\"},\"ports\":{\"inputs\":{\"text\":{\"dtype\":\"string\",\"rank\":1,\"shape\":"
    "[\"batch\"],\"batch_layout\":{\"kind\":\"request_aligned\",\"axis\":0}}},\"outputs\":{\"embedding\":{\"dtype\":"
    "\"float32\",\"rank\":2,\"shape\":[\"batch\",32],\"batch_layout\":{\"kind\":\"request_aligned\",\"axis\":0}}}}}},"
    "\"steps\":[{\"kind\":\"invoke\",\"component\":\"embedder\",\"inputs\":{\"text\":\"request.text\"},\"outputs\":"
    "{\"embedding\":\"text.embedding\"}},{\"kind\":\"emit\",\"mode\":\"replace\",\"output\":\"embedding\",\"value\":"
    "\"text.embedding\"}]}}}";

static void split(const uint8_t *data, size_t size)
{
    const uint8_t *mark = memmem(data, size, "%%%\n", 4);
    size_t first = mark ? (size_t)(mark - data) : 0, rest = mark ? first + 4 : 0;
    bool yaml = first > 0 && data[0] != '{';
    drop("inference_metadata.yaml");
    drop("inference_metadata.json");
    if (first == 0) put("inference_metadata.json", written, sizeof(written) - 1);
    else put(yaml ? "inference_metadata.yaml" : "inference_metadata.json", data, first);
    put("tenon_package.json", data + rest, size - rest);
}

/* Why a package is refused: what its description says, or what is wrong with a file of it. */
static bool refused(const struct tn_description *d)
{
    struct tn_findings files;
    tn_findings_init(&files, d->inv->ctx->alloc, 256);
    tn_inventory_findings(d->inv, d->variant, &files);
    bool found = d->findings.blockers > 0 || files.blockers > 0;
    tn_findings_release(&files);
    return found;
}

static void use(const struct tn_description *d)
{
    struct tn_buf metadata, content;
    struct tn_validation v;
    struct tn_serial_options o = {.yaml = true, .provenance = true};
    struct tn_describe_options families = {0};
    families.schemas = tn_family_schemas(&families.schema_count);
    tn_buf_init(&metadata, d->inv->ctx->alloc, 64 << 20);
    tn_buf_init(&content, d->inv->ctx->alloc, 64 << 20);
    enum tn_status status = tn_description_documents(d, &o, &metadata, &content, &err);
    if (status != TN_OK) { /* broken files are not written down */
        require(status != TN_INSUFFICIENT_MEMORY && refused(d));
        tn_buf_release(&metadata);
        tn_buf_release(&content);
        if (tn_validate_package(d, &v, &err) == TN_OK) tn_validation_release(&v);
        return;
    }
    /* What we write has the shape that we state. */
    require(tn_validate_text(d->inv->ctx, &families, TN_STR("tenon_package.json"), tn_buf_str(&content), &v, &err) == TN_OK);
    require(v.kind == TN_DOCUMENT_PACKAGE);
    if (d->findings.blockers == 0) require(v.findings.blockers == 0);
    tn_validation_release(&v);
    /* A contract that holds is still one when it was written as YAML. */
    require(tn_validate_text(d->inv->ctx, &families, TN_STR("inference_metadata.yaml"), tn_buf_str(&metadata), &v, &err) == TN_OK);
    if (d->findings.blockers == 0) require(v.findings.blockers == 0);
    tn_validation_release(&v);
    tn_buf_release(&metadata);
    tn_buf_release(&content);
    if (tn_validate_package(d, &v, &err) == TN_OK) tn_validation_release(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    struct tn_alloc alloc;
    struct tn_inventory *inv = NULL;
    struct tn_description *d = NULL;
    struct tn_describe_options o = {0};
    if (!ready) {
        copy("model.safetensors");
        copy("tokenizer.json");
        copy("vocab.txt");
        ready = true;
    }
    split(data, size);
    tn_alloc_init(&alloc);
    struct tn_context ctx = {.alloc = &alloc, .limits = tn_limits_default()};
    o.schemas = tn_family_schemas(&o.schema_count);
    enum tn_status status = tn_inventory_open(&ctx, fuzz_folder(), &inv, &err);
    require(status != TN_INSUFFICIENT_MEMORY);
    if (!status) status = tn_describe(inv, &o, &d, &err);
    require(status != TN_INSUFFICIENT_MEMORY);
    if (d) use(d);
    tn_description_free(d);
    tn_inventory_free(inv);
    require(tn_alloc_current(&alloc) == 0);
    return 0;
}
