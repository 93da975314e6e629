/* Opening packages that hold: the committed tiny packages, variants, parts, look-ups. */
#define _GNU_SOURCE
#include "package_util.h"

TEST(one_file)
{
    struct tn_inventory *inv = open_package(test_path("golden/packages/bert_mean_normalize"));
    const struct tn_variant *v;
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
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
    EXPECT_CLEAN(inv);
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

TEST(every_committed_package_opens_clean)
{
    static const char *const packages[] = {
        "bert_bf16",      "bert_f16",           "bert_dense_tanh",   "bert_layernorm",   "bert_vocab_txt_cased",
        "distilbert_cls", "bert_pool_all_list", "bert_truncate_dim", "bert_position_ids"};
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
        char path[256];
        snprintf(path, sizeof(path), "golden/packages/%s", packages[i]);
        struct tn_inventory *inv = open_package(test_path(path));
        if (!inv) continue;
        EXPECT_CLEAN(inv);
        CHECK_INT(inv->variant_count, 1);
        CHECK(inv->tensor_count > 0);
        close_package(inv);
    }
}

TEST(single_files)
{
    struct tn_inventory *inv;
    put_tensor("model.safetensors", "a");
    put_text("config.json", "{\"model_type\":\"x\"}");
    inv = open_package(in_folder("model.safetensors"));
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK_INT(inv->file_count, 1);
    CHECK_INT(inv->variant_count, 1);
    CHECK(variant_of(inv, "safetensors") != NULL);
    CHECK_INT(inv->evidence_count, 0); /* the folder of the file is not guessed at */
    close_package(inv);
    inv = open_package(in_folder("config.json"));
    REQUIRE(inv);
    CHECK_INT(inv->file_count, 1);
    CHECK_INT(inv->variant_count, 0);
    CHECK(has_evidence(inv, "transformers", "transformers.config_json"));
    const struct tn_variant *v;
    CHECK_INT(tn_inventory_variant(inv, NULL, &v, err), TN_ARTIFACT_MISSING);
    CHECK(v == NULL);
    close_package(inv);
}

TEST(single_file_by_a_relative_path)
{
    put_tensor("model.safetensors", "a");
    REQUIRE(chdir(test_folder()) == 0);
    struct tn_inventory *inv = open_package("model.safetensors");
    REQUIRE(inv);
    CHECK_INT(inv->tensor_count, 1);
    close_package(inv);
}

TEST(a_shard_alone_says_that_others_are_missing)
{
    put_tensor("model-00002-of-00003.safetensors", "a");
    struct tn_inventory *inv = open_package(in_folder("model-00002-of-00003.safetensors"));
    REQUIRE(inv);
    const struct tn_finding *f =
        EXPECT(inv, TN_ARTIFACT_MISSING, "shards are missing", "model-00002-of-00003.safetensors");
    CHECK_CONTAINS(f->found, "1 of 3");
    CHECK_CONTAINS(f->found, "number 1");
    CHECK_CONTAINS(f->remedy, "open the folder");
    close_package(inv);
}

TEST(nothing_to_open)
{
    CHECK(!open_quietly(in_folder("absent")));
    CHECK_INT(err->primary.code, TN_ARTIFACT_MISSING);
    CHECK(!open_quietly(""));
    CHECK_INT(err->primary.code, TN_ARTIFACT_MISSING);
    CHECK(!open_quietly(NULL));
    CHECK_INT(err->primary.code, TN_ARTIFACT_MISSING);
    REQUIRE(mkfifo(in_folder("fifo"), 0600) == 0);
    CHECK(!open_quietly(in_folder("fifo")));
    CHECK_INT(err->primary.code, TN_ARTIFACT_MISSING);
    CHECK_CONTAINS(err->primary.found, "not a regular file");
    CHECK(!open_quietly("/dev/null"));
    CHECK_INT(err->primary.code, TN_ARTIFACT_MISSING);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(an_empty_folder)
{
    const struct tn_variant *v;
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->file_count, 0);
    CHECK_INT(tn_inventory_variant(inv, NULL, &v, err), TN_ARTIFACT_MISSING);
    CHECK_CONTAINS(err->primary.message, "no weights");
    close_package(inv);
}

TEST(hidden_things_are_not_looked_at)
{
    put_tensor("model.safetensors", "a");
    put_text(".git/config", "x");
    put_text("__pycache__/m.pyc", "x");
    put_text("._model.safetensors", "resource fork");
    put_text("model.safetensors~", "old");
    put_text("x.incomplete", "half");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 1);
    CHECK_CONTAINS(inv->findings.items[0].message, "skipped 2 hidden folder");
    CHECK_INT(inv->findings.items[0].severity, TN_NOTE);
    CHECK_INT(inv->file_count, 4);
    CHECK_INT(tn_inventory_file(inv, TN_STR("._model.safetensors"))->role, TN_ROLE_OTHER);
    CHECK_INT(tn_inventory_file(inv, TN_STR("x.incomplete"))->role, TN_ROLE_OTHER);
    close_package(inv);
}

TEST(references_stay_inside)
{
    static const struct {
        const char *folder, *name, *path; /* NULL: refused */
        size_t n;
    } cases[] = {
        {"", "a.bin", "a.bin", 5},     {"x", "a.bin", "x/a.bin", 5},
        {"x", "./y//a", "x/y/a", 6},   {"x", "", "x", 0},
        {"x", "y/", "x/y", 2},         {"", "..", NULL, 2},
        {"x", "../a", NULL, 4},        {"x", "a/../../x", NULL, 9},
        {"x", "a/../b", NULL, 6},      {"", "/etc/passwd", NULL, 11},
        {"", "a\\b", NULL, 3},         {"", "a\0b", NULL, 3},
        {"", "..a/b..", "..a/b..", 7}, {"", "...", "...", 3},
    };
    struct tn_arena arena;
    tn_arena_init(&arena, &alloc);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tn_str out;
        enum tn_status status = tn_package_reference(&arena, tn_str_of(cases[i].folder),
                                                     (struct tn_str){cases[i].name, cases[i].n}, &out, err);
        CHECK_INT(status, cases[i].path ? TN_OK : TN_PATH_ESCAPE);
        if (status == TN_OK && cases[i].path) CHECK_STR(out.s, cases[i].path);
    }
    tn_arena_release(&arena);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(inspect_document)
{
    struct tn_inventory *inv = open_package(test_path("golden/packages/bert_sharded"));
    struct tn_buf text;
    struct tn_json_writer w;
    struct tn_json_doc doc;
    REQUIRE(inv);
    tn_buf_init(&text, &alloc, 1 << 20);
    tn_jw_init(&w, &text, false);
    tn_jw_begin_object(&w);
    tn_inventory_write(&w, inv);
    tn_jw_end_object(&w);
    REQUIRE(tn_buf_status(&text) == TN_OK);
    REQUIRE(tn_json_parse(&doc, &alloc, &ctx.limits, TN_STR("out"), tn_buf_str(&text), err) == TN_OK);
    struct tn_json root = tn_json_root(&doc);
    uint64_t count = 0, bytes = 0, f32 = 0;
    CHECK(tn_json_u64(tn_json_find(root, "/tensors/count"), &count) && count == inv->tensor_count);
    CHECK(tn_json_u64(tn_json_find(root, "/tensors/bytes"), &bytes) && bytes > 0);
    CHECK(tn_json_u64(tn_json_find(root, "/tensors/by_dtype/f32/bytes"), &f32) && f32 == bytes);
    struct tn_str id;
    CHECK(tn_json_str(tn_json_find(root, "/variants/0/id"), &id) && tn_str_is(id, "safetensors"));
    CHECK_INT(tn_json_count(tn_json_find(root, "/variants/0/files")), 4);
    CHECK_INT(tn_json_count(tn_json_get(root, "files")), inv->file_count);
    CHECK(tn_json_is(tn_json_get(root, "findings"), TN_JSON_ARRAY));
    CHECK(tn_json_count(tn_json_get(root, "evidence")) >= 2);
    tn_json_release(&doc);
    tn_buf_release(&text);
    close_package(inv);
}
