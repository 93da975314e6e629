/* Shard index against shard headers: the five ways to disagree, each with tensor, index and file. */
#define _GNU_SOURCE
#include "package_util.h"

#define INDEX "model.safetensors.index.json"
#define SHARD1 "model-00001-of-00002.safetensors"
#define SHARD2 "model-00002-of-00002.safetensors"

static struct tn_inventory *open_with_index(const char *index)
{
    put_text("config.json", "{\"model_type\":\"x\"}");
    put_text(INDEX, index);
    return open_package(test_folder());
}

static void two_shards(void)
{
    put_tensor(SHARD1, "a");
    put_tensor(SHARD2, "b");
}

TEST(agreement)
{
    two_shards();
    struct tn_inventory *inv = open_with_index("{\"metadata\":{\"total_size\":32},\"weight_map\":{\"a\":\"" SHARD1
                                               "\",\"b\":\"" SHARD2 "\"}}");
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    const struct tn_variant *v = variant_of(inv, "safetensors");
    REQUIRE(v);
    CHECK_INT(v->file_count, 2);
    CHECK_INT(v->tensor_count, 2);
    CHECK(tn_variant_tensor(inv, v, TN_STR("b")) != NULL);
    CHECK_INT(inv->variant_count, 1);
    close_package(inv);
}

TEST(names_another_shard)
{
    two_shards();
    struct tn_inventory *inv = open_with_index("{\"weight_map\":{\"a\":\"" SHARD2 "\",\"b\":\"" SHARD2 "\"}}");
    REQUIRE(inv);
    const struct tn_finding *f = EXPECT(inv, TN_TENSOR_MISMATCH, "names another shard", INDEX);
    CHECK_STR(f->element, "/weight_map/a");
    CHECK_CONTAINS(f->found, "\"a\" is in " SHARD1);
    CHECK_CONTAINS(f->expected, "\"a\" in " SHARD2);
    close_package(inv);
}

TEST(tensor_in_no_shard)
{
    two_shards();
    struct tn_inventory *inv =
        open_with_index("{\"weight_map\":{\"a\":\"" SHARD1 "\",\"b\":\"" SHARD2 "\",\"ghost\":\"" SHARD2 "\"}}");
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 1);
    const struct tn_finding *f = EXPECT(inv, TN_MISSING_TENSOR, "in no shard", INDEX);
    CHECK_STR(f->element, "/weight_map/ghost");
    CHECK_CONTAINS(f->found, "ghost");
    CHECK_CONTAINS(f->expected, SHARD2);
    close_package(inv);
}

TEST(shard_missing)
{
    put_tensor(SHARD1, "a");
    struct tn_inventory *inv = open_with_index("{\"weight_map\":{\"a\":\"" SHARD1 "\",\"b\":\"" SHARD2
                                               "\",\"c\":\"" SHARD2 "\",\"d\":\"other.safetensors\"}}");
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 2);
    const struct tn_finding *f = EXPECT(inv, TN_ARTIFACT_MISSING, "shard that the index names is missing", INDEX);
    CHECK_CONTAINS(f->found, SHARD2);
    CHECK_CONTAINS(f->found, "2 tensor(s), \"b\" first");
    const struct tn_variant *v = variant_of(inv, "safetensors");
    CHECK(v && v->file_count == 1);
    close_package(inv);
}

TEST(all_shards_missing)
{
    struct tn_inventory *inv = open_with_index("{\"weight_map\":{\"a\":\"" SHARD1 "\"}}");
    REQUIRE(inv);
    EXPECT(inv, TN_ARTIFACT_MISSING, "shard that the index names is missing", INDEX);
    const struct tn_variant *v = variant_of(inv, "safetensors");
    CHECK(v && v->file_count == 0 && v->index_file != TN_NO_FILE);
    close_package(inv);
}

TEST(tensor_not_in_the_index)
{
    two_shards();
    put_safetensors(SHARD2,
                    "{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"extra\":{\"dtype\":\"U8\","
                    "\"shape\":[1],\"data_offsets\":[1,2]}}",
                    2);
    struct tn_inventory *inv = open_with_index("{\"weight_map\":{\"a\":\"" SHARD1 "\",\"b\":\"" SHARD2 "\"}}");
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 1);
    const struct tn_finding *f = EXPECT(inv, TN_UNEXPECTED_TENSOR, "not in the index", SHARD2);
    CHECK_STR(f->element, "extra");
    CHECK_CONTAINS(f->found, INDEX);
    close_package(inv);
}

TEST(shard_that_the_index_forgot)
{
    put_tensor("model-00001-of-00003.safetensors", "a");
    put_tensor("model-00002-of-00003.safetensors", "b");
    put_tensor("model-00003-of-00003.safetensors", "c");
    struct tn_inventory *inv = open_with_index("{\"weight_map\":{\"b\":\"model-00002-of-00003.safetensors\"}}");
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 2);
    EXPECT(inv, TN_UNEXPECTED_TENSOR, "shard that the index does not name", "model-00001-of-00003.safetensors");
    CHECK_INT(inv->variant_count, 1);
    CHECK_INT(inv->tensor_count, 3);
    close_package(inv);
}

TEST(same_tensor_in_two_shards)
{
    put_tensor(SHARD1, "a");
    put_tensor(SHARD2, "a");
    struct tn_inventory *inv = open_with_index("{\"weight_map\":{\"a\":\"" SHARD1 "\"}}");
    REQUIRE(inv);
    const struct tn_finding *f = EXPECT(inv, TN_DUPLICATE_TENSOR, "same tensor is in two shards", SHARD2);
    CHECK_STR(f->element, "a");
    CHECK_CONTAINS(f->found, SHARD1);
    CHECK_CONTAINS(f->found, SHARD2);
    close_package(inv);
}

TEST(total_size_is_a_warning)
{
    two_shards();
    struct tn_inventory *inv = open_with_index("{\"metadata\":{\"total_size\":33},\"weight_map\":{\"a\":\"" SHARD1
                                               "\",\"b\":\"" SHARD2 "\"}}");
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 1);
    CHECK_INT(inv->findings.blockers, 0);
    const struct tn_finding *f = EXPECT(inv, TN_ARTIFACT_MALFORMED, "another total size", INDEX);
    CHECK_INT(f->severity, TN_WARNING);
    CHECK_STR(f->element, "/metadata/total_size");
    close_package(inv);
}

TEST(index_names_leave_the_package)
{
    static const char *const names[] = {"../x.safetensors", "/etc/x.safetensors", "a/../../x", "a\\\\b",
                                        "x\\u0000y.safetensors"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char index[512];
        put_tensor(SHARD1, "a");
        snprintf(index, sizeof(index), "{\"weight_map\":{\"a\":\"" SHARD1 "\",\"b\":\"%s\"}}", names[i]);
        struct tn_inventory *inv = open_with_index(index);
        REQUIRE(inv);
        const struct tn_finding *f = EXPECT(inv, TN_PATH_ESCAPE, "file name in the package is refused", INDEX);
        CHECK_STR(f->element, "/weight_map/b");
        close_package(inv);
    }
}

TEST(index_of_odd_shapes)
{
    put_tensor(SHARD1, "a");
    put_text("notes.bin", "not a shard");
    struct tn_inventory *inv = open_with_index("{\"weight_map\":{\"a\":\"" SHARD1 "\",\"n\":7,\"o\":\"notes.bin\"}}");
    REQUIRE(inv);
    CHECK_STR(EXPECT(inv, TN_ARTIFACT_MALFORMED, "not a file name", INDEX)->element, "/weight_map/n");
    CHECK_CONTAINS(EXPECT(inv, TN_ARTIFACT_MALFORMED, "not safetensors", INDEX)->found, "notes.bin");
    close_package(inv);
    inv = open_with_index("{\"weight_map\":{\"a\":\"" SHARD1 "\"},\"weight_map\":{}}");
    REQUIRE(inv);
    EXPECT(inv, TN_ARTIFACT_MALFORMED, "duplicate key", INDEX);
    close_package(inv);
}

/* A file that is called a shard index and maps nothing is a broken one, whatever else stands in it. */
TEST(index_without_a_map)
{
    static const struct {
        const char *index, *found;
    } cases[] = {
        {"{}", "no weight_map"},
        {"{\"metadata\":{\"total_size\":32}}", "no weight_map"},
        {"[]", "no weight_map"},
        {"{\"weight_map\":{}}", "an empty object"},
        {"{\"weight_map\":null}", "null"},
        {"{\"weight_map\":[\"" SHARD1 "\"]}", "array"},
        {"{\"weight_map\":\"" SHARD1 "\"}", "string"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        two_shards();
        struct tn_inventory *inv = open_with_index(cases[i].index);
        REQUIRE(inv);
        CHECK_INT(inv->findings.count, 1);
        const struct tn_finding *f = EXPECT(inv, TN_ARTIFACT_MALFORMED, "maps no tensor to a file", INDEX);
        CHECK_INT(f->severity, TN_BLOCKER);
        CHECK_STR(f->element, "/weight_map");
        CHECK_STR(f->found, cases[i].found);
        CHECK_CONTAINS(f->expected, "from tensor names to file names");
        CHECK_CONTAINS(f->remedy, "fetch the index again");
        /* and it stands in the way of every use of the shards */
        struct tn_findings use;
        tn_findings_init(&use, &alloc, 10);
        CHECK_INT(inv->variant_count, 1);
        tn_inventory_findings(inv, &inv->variants[0], &use);
        CHECK_INT(use.blockers, 1);
        tn_findings_release(&use);
        close_package(inv);
    }
    /* Another index (of pickles) or a document that merely ends in .json is none of ours. */
    put_tensor("model.safetensors", "a");
    REQUIRE(unlink(in_folder(INDEX)) == 0 && unlink(in_folder(SHARD1)) == 0 && unlink(in_folder(SHARD2)) == 0);
    put_text("pytorch_model.bin.index.json", "{}");
    put_text("labels.json", "{\"weight_map\":3}");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    close_package(inv);
}

/* Three faults, three findings: a cut shard, a tensor that moved, a tensor that is nowhere. */
TEST(all_faults_in_one_pass)
{
    put_tensor("model-00001-of-00003.safetensors", "a");
    put_tensor("model-00002-of-00003.safetensors", "b");
    put_tensor("model-00003-of-00003.safetensors", "c");
    REQUIRE(truncate(in_folder("model-00003-of-00003.safetensors"), 70) == 0);
    struct tn_inventory *inv = open_with_index(
        "{\"weight_map\":{\"a\":\"model-00002-of-00003.safetensors\",\"b\":\"model-00002-of-00003.safetensors\","
        "\"c\":\"model-00003-of-00003.safetensors\",\"d\":\"model-00001-of-00003.safetensors\"}}");
    REQUIRE(inv);
    CHECK_INT(inv->findings.blockers, 3);
    EXPECT(inv, TN_ARTIFACT_MALFORMED, "ends before its last tensor", "model-00003-of-00003.safetensors");
    EXPECT(inv, TN_TENSOR_MISMATCH, "names another shard", INDEX);
    EXPECT(inv, TN_MISSING_TENSOR, "in no shard", INDEX);
    CHECK_INT(tn_error_from_findings(err, &inv->findings), TN_ARTIFACT_MALFORMED);
    CHECK_INT(err->count, 3);
    close_package(inv);
}

TEST(numbered_shards_without_an_index)
{
    two_shards();
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK_INT(inv->variant_count, 1);
    CHECK_INT(inv->variants[0].file_count, 2);
    close_package(inv);
    put_tensor(SHARD2, "a");
    inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT(inv, TN_DUPLICATE_TENSOR, "same tensor", SHARD2);
    close_package(inv);
    REQUIRE(unlink(in_folder(SHARD1)) == 0);
    inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_CONTAINS(EXPECT(inv, TN_ARTIFACT_MISSING, "shards are missing", SHARD2)->found, "number 1");
    close_package(inv);
}

TEST(a_single_file_beside_its_shards)
{
    two_shards();
    put_tensor("model.safetensors", "a");
    struct tn_inventory *inv =
        open_with_index("{\"weight_map\":{\"a\":\"" SHARD1 "\",\"b\":\"" SHARD2 "\"}}");
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    const struct tn_variant *shards = variant_of(inv, "safetensors"), *single = variant_of(inv, "model.safetensors");
    CHECK(shards && shards->file_count == 2);
    CHECK(single && single->file_count == 1);
    close_package(inv);
}

TEST(index_in_a_folder_names_relative_to_itself)
{
    put_tensor("sub/part.safetensors", "a");
    put_text("sub/" INDEX, "{\"weight_map\":{\"a\":\"part.safetensors\"}}");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK(variant_of(inv, "sub/safetensors") != NULL);
    close_package(inv);
}

TEST(a_large_index_takes_no_quadratic_time)
{
    enum { TENSORS = 20000 };
    char *header = malloc(TENSORS * 96), *index = malloc(TENSORS * 96);
    size_t h = 0, x = 0;
    header[h++] = '{';
    x += (size_t)sprintf(index, "{\"weight_map\":{");
    for (int i = 0; i < TENSORS; i++) {
        h += (size_t)sprintf(header + h, "%s\"t.%d\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
                             i ? "," : "", i, i, i + 1);
        x += (size_t)sprintf(index + x, "%s\"t.%d\":\"gone-%d.safetensors\"", i ? "," : "", i, i % 2000);
    }
    strcpy(header + h, "}");
    strcpy(index + x, "}}");
    put_safetensors("model.safetensors", header, TENSORS);
    put_text(INDEX, index);
    uint64_t begin = tn_os_monotonic_ns();
    struct tn_inventory *inv = open_package(test_folder());
    CHECK((tn_os_monotonic_ns() - begin) / 1000000 < 20000);
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, ctx.limits.findings);
    CHECK_INT(inv->findings.blockers, 2000);
    close_package(inv);
    free(header);
    free(index);
}
