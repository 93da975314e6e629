/* Opening packages that hold: the committed tiny packages, variants, parts, look-ups, identities. */
#include "test.h"

#include "package/package.h"

#include <stdlib.h>

static struct tn_alloc alloc;
static struct tn_context ctx;
static struct tn_error *err;

static struct tn_inventory *open_package(const char *path)
{
    struct tn_inventory *inv = NULL;
    tn_alloc_init(&alloc);
    ctx = (struct tn_context){.alloc = &alloc, .limits = tn_limits_default()};
    if (!err) err = malloc(sizeof(*err));
    tn_error_clear(err);
    enum tn_status status = tn_inventory_open(&ctx, path, &inv, err);
    if (status) test_fail(__FILE__, __LINE__, "%s: %s (%s)", path, err->primary.message, err->primary.found);
    return inv;
}

static void close_package(struct tn_inventory *inv)
{
    tn_inventory_free(inv);
    CHECK_INT(tn_alloc_current(&alloc), 0);
    CHECK_INT(alloc.blocks, 0);
}

static bool has_evidence(const struct tn_inventory *inv, const char *dialect, const char *rule)
{
    for (uint32_t i = 0; i < inv->evidence_count; i++) {
        if (tn_str_is(inv->evidence[i].dialect, dialect) && tn_str_is(inv->evidence[i].rule, rule)) return true;
    }
    return false;
}

TEST(one_file)
{
    struct tn_inventory *inv = open_package(test_path("golden/packages/bert_mean_normalize"));
    const struct tn_variant *v;
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 0);
    REQUIRE(tn_inventory_variant(inv, NULL, &v, err) == TN_OK);
    CHECK(tn_str_is(v->id, "safetensors"));
    CHECK(tn_str_is(v->container, "safetensors"));
    CHECK(tn_str_is(v->folder, ""));
    CHECK(v->executable);
    CHECK_INT(v->file_count, 1);
    CHECK(has_evidence(inv, "transformers", "transformers.config_json"));
    CHECK(has_evidence(inv, "sentence_transformers", "st.modules_json"));
    const struct tn_tensor_info *t = tn_variant_tensor(inv, v, TN_STR("embeddings.word_embeddings.weight"));
    REQUIRE(t);
    CHECK_INT(t->rank, 2);
    CHECK_INT(t->dtype, TN_DTYPE_F32);
    CHECK_INT(t->bytes, t->shape[0] * t->shape[1] * 4);
    CHECK(!tn_variant_tensor(inv, v, TN_STR("embeddings.word_embeddings.weigh")));
    for (uint32_t i = 0; i < v->tensor_count; i++) {
        const struct tn_tensor_info *each = &inv->tensors[v->first_tensor + i];
        CHECK(tn_variant_tensor(inv, v, each->name) == each);
    }
    close_package(inv);
}

TEST(shards_with_index)
{
    struct tn_inventory *inv = open_package(test_path("golden/packages/bert_sharded"));
    const struct tn_variant *v;
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 0);
    REQUIRE(tn_inventory_variant(inv, NULL, &v, err) == TN_OK);
    CHECK(tn_str_is(v->id, "safetensors"));
    CHECK_INT(v->file_count, 4);
    REQUIRE(v->index_file != TN_NO_FILE);
    CHECK(tn_str_is(inv->files[v->index_file].path, "model.safetensors.index.json"));
    close_package(inv);
}

TEST(modules_are_parts_and_no_choice)
{
    struct tn_inventory *inv = open_package(test_path("golden/packages/bert_dense_chain"));
    const struct tn_variant *v;
    REQUIRE(inv);
    CHECK_INT(inv->variant_count, 1);
    REQUIRE(tn_inventory_variant(inv, NULL, &v, err) == TN_OK);
    CHECK(tn_str_is(v->id, "safetensors"));
    const struct tn_variant *dense = tn_inventory_part(inv, TN_STR("2_Dense"));
    REQUIRE(dense);
    CHECK(tn_variant_tensor(inv, dense, TN_STR("linear.weight")) != NULL);
    CHECK(!tn_inventory_part(inv, TN_STR("1_Pooling")));
    CHECK(!tn_inventory_part(inv, TN_STR("")));
    close_package(inv);
}

TEST(first_module_in_a_folder_is_the_choice)
{
    struct tn_inventory *inv = open_package(test_path("golden/packages/bert_subfolder"));
    const struct tn_variant *v;
    REQUIRE(inv);
    CHECK_INT(inv->part_count, 0);
    REQUIRE(tn_inventory_variant(inv, NULL, &v, err) == TN_OK);
    CHECK(tn_str_is(v->id, "0_Transformer/safetensors"));
    CHECK(tn_str_is(v->folder, "0_Transformer"));
    close_package(inv);
}
