/* Manifest, closure, files that change between inventory and use, mappings. */
#define _GNU_SOURCE
#include "package_util.h"

#include <fcntl.h>
#include <time.h>

static void put_package(const char *folder)
{
    char name[256];
    static const struct {
        const char *path, *text;
    } files[] = {{"config.json", "{\"model_type\":\"x\"}"},
                 {"tokenizer.json", "{\"version\":\"1.0\"}"},
                 {"vocab.txt", "a\nb\n"},
                 {"README.md", "hello"},
                 {"model.py", "x = 1"}};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(name, sizeof(name), "%s/%s", folder, files[i].path);
        put_text(name, files[i].text);
    }
    snprintf(name, sizeof(name), "%s/model.safetensors", folder);
    put_tensor(name, "a");
}

static struct tn_digest manifest_of(const char *folder)
{
    struct tn_digest digest = {{0}};
    struct tn_inventory *inv = open_package(in_folder("%s", folder));
    if (inv) digest = inv->manifest;
    close_package(inv);
    return digest;
}

static struct tn_digest closure_of(const char *folder)
{
    struct tn_digest digest = {{0}};
    struct tn_inventory *inv = open_package(in_folder("%s", folder));
    if (inv) CHECK_INT(tn_inventory_closure(inv, NULL, &digest, err), TN_OK);
    close_package(inv);
    return digest;
}

static void write_byte(const char *name, off_t at, char c)
{
    int fd = open(in_folder("%s", name), O_WRONLY);
    if (fd < 0 || pwrite(fd, &c, 1, at) != 1) test_fail(__FILE__, __LINE__, "write %s", name);
    close(fd);
}

static bool same(struct tn_digest a, struct tn_digest b)
{
    return tn_digest_eq(&a, &b);
}

TEST(identities_do_not_know_place_or_time)
{
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    put_package("one");
    put_package("deep/er/two");
    REQUIRE(utimensat(AT_FDCWD, in_folder("one/model.safetensors"), old, 0) == 0);
    CHECK(same(manifest_of("one"), manifest_of("deep/er/two")));
    CHECK(same(closure_of("one"), closure_of("deep/er/two")));
    CHECK(!same(closure_of("one"), manifest_of("one")));
}

TEST(identities_know_what_changes_answers)
{
    static const struct {
        const char *path, *text;
        bool manifest, closure;
    } edits[] = {
        {"p/config.json", "{\"model_type\":\"y\"}", true, true},
        {"p/vocab.txt", "a\nc\n", true, true},
        {"p/model.py", "x = 2", true, true},
        {"p/extra.json", "{}", true, true},
        {"p/README.md", "other", false, false},
        {"p/LICENSE", "free", false, false},
        {"p/.gitattributes", "x", false, false},
        {"p/a.tmp", "x", false, false},
    };
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        put_package("p");
        struct tn_digest m = manifest_of("p"), c = closure_of("p");
        put_text(edits[i].path, edits[i].text);
        CHECK(same(m, manifest_of("p")) != edits[i].manifest);
        CHECK(same(c, closure_of("p")) != edits[i].closure);
        unlink(in_folder("%s", edits[i].path));
    }
}

TEST(weights_are_in_the_manifest_by_header_and_in_the_closure_by_contents)
{
    put_package("p");
    struct tn_digest m = manifest_of("p"), c = closure_of("p");
    struct stat st;
    REQUIRE(stat(in_folder("p/model.safetensors"), &st) == 0);
    write_byte("p/model.safetensors", st.st_size - 1, 1);
    CHECK(same(m, manifest_of("p")));
    CHECK(!same(c, closure_of("p")));
    put_tensor("p/model.safetensors", "b");
    CHECK(!same(m, manifest_of("p")));
}

TEST(renaming_a_file_changes_both)
{
    put_package("p");
    struct tn_digest m = manifest_of("p"), c = closure_of("p");
    REQUIRE(rename(in_folder("p/vocab.txt"), in_folder("p/vocab2.txt")) == 0);
    CHECK(!same(m, manifest_of("p")));
    CHECK(!same(c, closure_of("p")));
}

TEST(closure_stops_when_asked)
{
    struct tn_cancel cancel = {.requested = true};
    struct tn_digest digest;
    put_package("p");
    struct tn_inventory *inv = open_package(in_folder("p"));
    REQUIRE(inv);
    CHECK_INT(tn_inventory_closure(inv, &cancel, &digest, err), TN_CANCELLED);
    cancel.requested = false;
    cancel.deadline_ns = 1;
    CHECK_INT(tn_inventory_closure(inv, &cancel, &digest, err), TN_DEADLINE_EXCEEDED);
    cancel.deadline_ns = 0;
    CHECK_INT(tn_inventory_closure(inv, &cancel, &digest, err), TN_OK);
    close_package(inv);
}

TEST(closure_of_changed_files_is_stale)
{
    struct tn_digest digest;
    put_package("p");
    struct tn_inventory *inv = open_package(in_folder("p"));
    REQUIRE(inv);
    put_text("p/config.json", "{\"model_type\":\"other\"}");
    CHECK_INT(tn_inventory_closure(inv, NULL, &digest, err), TN_ARTIFACT_STALE);
    CHECK_STR(err->primary.file, "config.json");
    REQUIRE(unlink(in_folder("p/config.json")) == 0);
    CHECK_INT(tn_inventory_closure(inv, NULL, &digest, err), TN_ARTIFACT_MISSING);
    close_package(inv);
}

TEST(reading_changed_documents_is_stale)
{
    struct tn_str text;
    struct tn_json_doc doc;
    put_package("p");
    struct tn_inventory *inv = open_package(in_folder("p"));
    REQUIRE(inv);
    CHECK_INT(tn_inventory_json(inv, TN_STR("config.json"), &doc, err), TN_OK);
    CHECK(tn_json_present(tn_json_get(tn_json_root(&doc), "model_type")));
    tn_json_release(&doc);
    CHECK_INT(tn_inventory_read(inv, TN_STR("absent.json"), &text, err), TN_ARTIFACT_MISSING);
    CHECK_STR(err->primary.file, "absent.json");
    put_text("p/config.json", "{\"model_type\":\"other\"}");
    CHECK_INT(tn_inventory_json(inv, TN_STR("config.json"), &doc, err), TN_ARTIFACT_STALE);
    CHECK_CONTAINS(err->primary.found, "22 bytes");
    CHECK_CONTAINS(err->primary.expected, "18 bytes");
    close_package(inv);
}

TEST(a_file_swapped_for_a_link_is_stale)
{
    struct tn_str text;
    put_package("p");
    put_text("secret", "{\"model_type\":\"s\"}");
    struct tn_inventory *inv = open_package(in_folder("p"));
    REQUIRE(inv);
    REQUIRE(unlink(in_folder("p/config.json")) == 0);
    REQUIRE(symlink("../secret", in_folder("p/config.json")) == 0);
    CHECK_INT(tn_inventory_read(inv, TN_STR("config.json"), &text, err), TN_ARTIFACT_STALE);
    CHECK_CONTAINS(err->primary.found, "another file");
    REQUIRE(unlink(in_folder("p/config.json")) == 0);
    REQUIRE(mkfifo(in_folder("p/config.json"), 0600) == 0);
    CHECK_INT(tn_inventory_read(inv, TN_STR("config.json"), &text, err), TN_ARTIFACT_MISSING);
    close_package(inv);
}

static uint32_t index_of(const struct tn_inventory *inv, const char *path)
{
    return (uint32_t)(tn_inventory_file(inv, tn_str_of(path)) - inv->files);
}

TEST(mapping_reads_and_checks)
{
    struct tn_mapping m;
    char bytes[16];
    put_package("p");
    struct tn_inventory *inv = open_package(in_folder("p"));
    REQUIRE(inv);
    uint32_t file = index_of(inv, "model.safetensors");
    const struct tn_tensor_info *t = &inv->tensors[0];
    write_byte("p/vocab.txt", 0, 'x');
    CHECK_INT(tn_inventory_map(inv, index_of(inv, "vocab.txt"), &m, err), TN_ARTIFACT_STALE);
    REQUIRE(tn_inventory_map(inv, file, &m, err) == TN_OK);
    CHECK_INT(m.size, inv->files[file].size);
    CHECK_INT(tn_mapping_check(inv, file, &m, err), TN_OK);
    CHECK_INT(tn_mapping_read(inv, file, &m, t->offset, bytes, sizeof(bytes), err), TN_OK);
    CHECK(memcmp(bytes, m.base + t->offset, sizeof(bytes)) == 0);
    CHECK_INT(tn_mapping_read(inv, file, &m, m.size - 15, bytes, 16, err), TN_ARTIFACT_STALE);
    CHECK_INT(tn_mapping_read(inv, file, &m, UINT64_MAX - 3, bytes, 16, err), TN_ARTIFACT_STALE);
    REQUIRE(truncate(in_folder("p/model.safetensors"), (off_t)t->offset + 4) == 0);
    CHECK_INT(tn_mapping_read(inv, file, &m, t->offset, bytes, sizeof(bytes), err), TN_ARTIFACT_STALE);
    CHECK_STR(err->primary.file, "model.safetensors");
    CHECK_INT(tn_mapping_check(inv, file, &m, err), TN_ARTIFACT_STALE);
    CHECK_CONTAINS(err->primary.found, "shrunk");
    tn_mapping_close(&m);
    CHECK_INT(tn_inventory_map(inv, file, &m, err), TN_ARTIFACT_STALE);
    close_package(inv);
}

TEST(mapping_notices_an_edit_in_place)
{
    struct tn_mapping m;
    put_package("p");
    struct tn_inventory *inv = open_package(in_folder("p"));
    REQUIRE(inv);
    uint32_t file = index_of(inv, "model.safetensors");
    REQUIRE(tn_inventory_map(inv, file, &m, err) == TN_OK);
    struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL);
    write_byte("p/model.safetensors", (off_t)m.size - 1, 9);
    CHECK_INT(tn_mapping_check(inv, file, &m, err), TN_ARTIFACT_STALE);
    CHECK_CONTAINS(err->primary.found, "modified");
    tn_mapping_close(&m);
    close_package(inv);
}

TEST(an_empty_file_can_be_mapped)
{
    struct tn_mapping m;
    put_text("p/empty.json", "");
    struct tn_inventory *inv = open_package(in_folder("p"));
    REQUIRE(inv);
    REQUIRE(tn_inventory_map(inv, 0, &m, err) == TN_OK);
    CHECK(m.base == NULL && m.size == 0);
    tn_mapping_close(&m);
    close_package(inv);
}
