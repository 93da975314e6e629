/* Limits of a package, and the terabyte that costs milliseconds. */
#define _GNU_SOURCE
#include "package_util.h"

TEST(too_many_files)
{
    for (int i = 0; i < 20; i++) {
        char name[32];
        snprintf(name, sizeof(name), "f%d.txt", i);
        put_text(name, "x");
    }
    ctx.limits.files = 19;
    CHECK(!open_quietly(test_folder()));
    CHECK_INT(err->primary.code, TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(err->primary.message, "limit files");
    CHECK_INT(tn_alloc_current(&alloc), 0);
    ctx.limits.files = 20;
    close_package(open_package(test_folder()));
}

TEST(too_deep)
{
    put_text("1/2/3/4/x.json", "{}");
    ctx.limits.directory_depth = 3;
    CHECK(!open_quietly(test_folder()));
    CHECK_INT(err->primary.code, TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(err->primary.message, "limit directory_depth");
    CHECK_STR(err->primary.file, "1/2/3/4");
    CHECK_INT(tn_alloc_current(&alloc), 0);
    ctx.limits.directory_depth = 4;
    close_package(open_package(test_folder()));
}

TEST(too_many_tensors_over_files)
{
    put_tensor("a.safetensors", "a");
    put_tensor("b.safetensors", "b");
    ctx.limits.tensors = 1;
    CHECK(!open_quietly(test_folder()));
    CHECK_INT(err->primary.code, TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(err->primary.message, "limit tensors");
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* One shard in many sets must not multiply memory beyond the limit. */
TEST(too_many_tensors_over_sets)
{
    put_tensor("shard.safetensors", "a");
    for (int i = 0; i < 5; i++) {
        char name[64];
        snprintf(name, sizeof(name), "m%d.safetensors.index.json", i);
        put_text(name, "{\"weight_map\":{\"a\":\"shard.safetensors\"}}");
    }
    ctx.limits.tensors = 4;
    CHECK(!open_quietly(test_folder()));
    CHECK_INT(err->primary.code, TN_RESOURCE_LIMIT);
    ctx.limits.tensors = 5;
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->variant_count, 5);
    close_package(inv);
}

TEST(a_document_over_its_limit_is_a_finding)
{
    put_text("config.json", "{\"model_type\":\"0123456789\"}");
    ctx.limits.json_bytes = 10;
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT(inv, TN_RESOURCE_LIMIT, "json_bytes", "config.json");
    close_package(inv);
}

TEST(findings_are_bounded)
{
    for (int i = 0; i < 10; i++) {
        char name[32];
        snprintf(name, sizeof(name), "f%d", i);
        REQUIRE(mkfifo(in_folder("%s", name), 0600) == 0);
    }
    ctx.limits.findings = 4;
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 4);
    CHECK_INT(inv->findings.dropped, 6);
    CHECK_INT(inv->findings.blockers, 10);
    struct tn_findings found;
    tn_findings_init(&found, &alloc, 100);
    tn_inventory_findings(inv, NULL, &found);
    CHECK_INT(found.blockers, 10);
    CHECK_INT(found.dropped, 6);
    tn_findings_release(&found);
    close_package(inv);
}

enum { SHARDS = 200, TENSORS = 60 };

/* One of 200 shards of about 5 GB: TENSORS tensors of bf16, stored as holes. */
static void put_big_shard(int shard, char *header, char *index, size_t *index_length)
{
    char name[64];
    size_t n = 0;
    uint64_t at = 0;
    const uint64_t rows = 8192, columns = 5120, bytes = rows * columns * 2;
    header[n++] = '{';
    snprintf(name, sizeof(name), "model-%05d-of-%05d.safetensors", shard + 1, SHARDS);
    for (int i = 0; i < TENSORS; i++, at += bytes) {
        n += (size_t)sprintf(
            header + n,
            "%s\"model.layers.%d.mlp.experts.%d.down_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[%llu,%llu],"
            "\"data_offsets\":[%llu,%llu]}",
            i ? "," : "", shard, i, (unsigned long long)rows, (unsigned long long)columns, (unsigned long long)at,
            (unsigned long long)(at + bytes));
        *index_length +=
            (size_t)sprintf(index + *index_length, "%s\"model.layers.%d.mlp.experts.%d.down_proj.weight\":\"%s\"",
                            shard + i ? "," : "", shard, i, name);
    }
    strcpy(header + n, "}");
    put_safetensors(name, header, at);
}

TEST(a_terabyte_of_shards)
{
    char *header = malloc(TENSORS * 256), *index = malloc((size_t)SHARDS * TENSORS * 192);
    size_t n = (size_t)sprintf(index, "{\"weight_map\":{");
    for (int i = 0; i < SHARDS; i++) put_big_shard(i, header, index, &n);
    strcpy(index + n, "}}");
    put_text("model.safetensors.index.json", index);
    put_text("config.json", "{\"model_type\":\"x\"}");
    free(header);
    free(index);
    uint64_t best = UINT64_MAX;
    tn_alloc_reset_peak(&alloc);
    for (int run = 0; run < 5; run++) {
        uint64_t begin = tn_os_monotonic_ns();
        struct tn_inventory *inv = open_package(test_folder());
        uint64_t time = tn_os_monotonic_ns() - begin;
        if (time < best) best = time;
        REQUIRE(inv);
        EXPECT_CLEAN(inv);
        const struct tn_variant *v = variant_of(inv, "safetensors");
        REQUIRE(v);
        CHECK_INT(v->file_count, SHARDS);
        CHECK_INT(v->tensor_count, SHARDS * TENSORS);
        CHECK(v->bytes > UINT64_C(1000000000000));
        CHECK_CONTAINS(v->what.s, "200 files, 1.0 TB, bf16");
        close_package(inv);
    }
    printf("    %d shards, %d tensors: %.1f ms, peak %.1f MB\n", SHARDS, SHARDS * TENSORS, (double)best / 1e6,
           (double)tn_alloc_peak(&alloc) / 1e6);
    CHECK(tn_alloc_peak(&alloc) < 100000000);
}
