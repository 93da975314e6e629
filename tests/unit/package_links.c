/* Links, odd entries, permissions, names; and the layout of the Hugging Face cache. */
#define _GNU_SOURCE
#include "package_util.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

static void link_to(const char *target, const char *name)
{
    const char *path = in_folder("%s", name);
    make_parents(path);
    if (symlink(target, path) != 0) test_fail(__FILE__, __LINE__, "symlink %s: %s", name, strerror(errno));
}

TEST(links_inside_the_package_are_files)
{
    put_tensor("weights/data.safetensors", "a");
    link_to("weights/data.safetensors", "model.safetensors");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    const struct tn_package_file *file = tn_inventory_file(inv, TN_STR("model.safetensors"));
    REQUIRE(file);
    CHECK_INT(file->role, TN_ROLE_SAFETENSORS);
    CHECK(variant_of(inv, "safetensors") != NULL);
    close_package(inv);
}

/* ---- one file under several names --------------------------------------------------------------------------------- */

/* One variant of this id and these files; every other name is noted, and nothing else is. */
static void check_names(const char *path, const char *id, uint32_t files, uint32_t notes, int line)
{
    const struct tn_variant *chosen;
    struct tn_inventory *inv = open_package(path);
    if (!inv) return;
    if (inv->variant_count != 1 || inv->findings.count != notes || inv->findings.blockers > 0) {
        test_fail(__FILE__, line, "%u variants, %zu findings", inv->variant_count, inv->findings.count);
        print_findings(&inv->findings);
    }
    CHECK_INT(tn_inventory_variant(inv, NULL, &chosen, err), TN_OK);
    const struct tn_variant *v = variant_of(inv, id);
    if (!v) test_fail(__FILE__, line, "no variant %s", id);
    else CHECK_INT(v->file_count, files);
    for (size_t i = 0; i < inv->findings.count; i++) {
        const struct tn_finding *f = &inv->findings.items[i];
        CHECK_INT(f->severity, TN_NOTE);
        CHECK_CONTAINS(f->message, "another name of a file");
        CHECK_CONTAINS(f->found, "the same file as ");
    }
    close_package(inv);
}
#define CHECK_NAMES(path, id, files, notes) check_names((path), (id), (files), (notes), __LINE__)

TEST(a_second_name_is_no_second_variant)
{
    put_text("config.json", "{\"model_type\":\"x\"}");
    put_tensor("model.safetensors", "a");
    link_to("model.safetensors", "a-copy.safetensors");
    link_to("../model.safetensors", "weights/data.safetensors");
    REQUIRE(link(in_folder("model.safetensors"), in_folder("hard.safetensors")) == 0);
    CHECK_NAMES(test_folder(), "safetensors", 1, 3);
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_STR(inv->findings.items[0].found, "the same file as model.safetensors");
    CHECK_INT(inv->tensor_count, 1);
    CHECK_INT(inv->file_count, 5); /* all of them are listed */
    close_package(inv);
    /* the same bytes in a file of its own are another one */
    REQUIRE(unlink(in_folder("hard.safetensors")) == 0);
    put_tensor("hard.safetensors", "a");
    inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->variant_count, 2);
    close_package(inv);
}

/* The name beside the configuration counts, wherever the file itself lies. */
TEST(the_usual_name_counts)
{
    put_text("config.json", "{\"model_type\":\"x\"}");
    put_tensor("data/x.safetensors", "a");
    link_to("data/x.safetensors", "model.safetensors");
    CHECK_NAMES(test_folder(), "safetensors", 1, 1);
    REQUIRE(unlink(in_folder("config.json")) == 0);
    CHECK_NAMES(test_folder(), "safetensors", 1, 1);
    REQUIRE(rename(in_folder("model.safetensors"), in_folder("any.safetensors")) == 0);
    CHECK_NAMES(test_folder(), "safetensors", 1, 1);
}

TEST(two_names_of_one_blob)
{
    put_text("hub/models--o--n/blobs/4567", "{\"model_type\":\"x\"}");
    put_tensor("hub/models--o--n/blobs/0123", "a");
    link_to("../../blobs/4567", "hub/models--o--n/snapshots/r/config.json");
    link_to("../../blobs/0123", "hub/models--o--n/snapshots/r/model.safetensors");
    link_to("../../blobs/0123", "hub/models--o--n/snapshots/r/alias.safetensors");
    CHECK_NAMES(in_folder("hub/models--o--n"), "safetensors", 1, 1);
    /* two configurations over the same bytes are two models */
    link_to("../../../blobs/4567", "hub/models--o--n/snapshots/r/sub/config.json");
    link_to("../../../blobs/0123", "hub/models--o--n/snapshots/r/sub/model.safetensors");
    struct tn_inventory *inv = open_package(in_folder("hub/models--o--n"));
    REQUIRE(inv);
    CHECK_INT(inv->variant_count, 2);
    CHECK(variant_of(inv, "safetensors") && variant_of(inv, "sub/safetensors"));
    close_package(inv);
}

TEST(names_of_shards)
{
    put_text("config.json", "{\"model_type\":\"x\"}");
    put_tensor("blobs/1.safetensors", "a");
    put_tensor("blobs/2.safetensors", "b");
    link_to("blobs/1.safetensors", "model-00001-of-00002.safetensors");
    link_to("blobs/2.safetensors", "model-00002-of-00002.safetensors");
    CHECK_NAMES(test_folder(), "safetensors", 2, 2);
    put_text("model.safetensors.index.json", "{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\","
                                             "\"b\":\"model-00002-of-00002.safetensors\"}}");
    CHECK_NAMES(test_folder(), "safetensors", 2, 2);
    /* one shard a link, the other not: still one series */
    REQUIRE(unlink(in_folder("model.safetensors.index.json")) == 0 && unlink(in_folder("model-00002-of-00002.safetensors")) == 0);
    REQUIRE(rename(in_folder("blobs/2.safetensors"), in_folder("model-00002-of-00002.safetensors")) == 0);
    CHECK_NAMES(test_folder(), "safetensors", 2, 1);
    /* a series of which one shard is another file is another series */
    put_tensor("copy-00002-of-00002.safetensors", "b");
    link_to("model-00001-of-00002.safetensors", "copy-00001-of-00002.safetensors");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->variant_count, 2);
    CHECK_INT(inv->findings.blockers, 0);
    close_package(inv);
}

TEST(names_of_other_containers)
{
    put_bytes("model.gguf", "GGUF\003\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
    link_to("model.gguf", "latest.gguf");
    CHECK_NAMES(test_folder(), "model.gguf", 1, 1);
}

/* Weights of a module are its own, also where its folder holds a link. */
TEST(names_across_modules)
{
    put_text("config.json", "{\"model_type\":\"x\"}");
    put_text("modules.json", "[{\"type\":\"a\",\"path\":\"\"},{\"type\":\"b\",\"path\":\"2_Dense\"}]");
    put_text("2_Dense/config.json", "{}");
    put_tensor("model.safetensors", "a");
    link_to("../model.safetensors", "2_Dense/model.safetensors");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->variant_count, 1);
    CHECK_INT(inv->part_count, 1);
    close_package(inv);
}

TEST(links_that_leave_are_refused)
{
    static const char *const targets[] = {"/etc/passwd", "../outside.json", "sub/../../outside.json", "/"};
    put_text("outside.json", "{}");
    put_tensor("pkg/model.safetensors", "a");
    put_text("pkg/sub/x.json", "{}");
    for (size_t i = 0; i < 4; i++) {
        link_to(targets[i], "pkg/evil.json");
        struct tn_inventory *inv = open_package(in_folder("pkg"));
        REQUIRE(inv);
        const struct tn_finding *f = EXPECT(inv, TN_PATH_ESCAPE, "leads out of the package", "evil.json");
        CHECK_INT(f->severity, TN_BLOCKER);
        CHECK(!tn_inventory_file(inv, TN_STR("evil.json")));
        close_package(inv);
        unlink(in_folder("pkg/evil.json"));
    }
}

TEST(a_sibling_with_the_same_beginning_is_outside)
{
    put_text("pkg-other/x.json", "{}");
    link_to("../pkg-other/x.json", "pkg/x.json");
    struct tn_inventory *inv = open_package(in_folder("pkg"));
    REQUIRE(inv);
    EXPECT(inv, TN_PATH_ESCAPE, "leads out of the package", "x.json");
    close_package(inv);
}

TEST(links_to_nothing_and_to_themselves)
{
    link_to("absent", "a.json");
    link_to("b.json", "b.json");
    link_to("absent", "README.md");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    EXPECT(inv, TN_ARTIFACT_MISSING, "leads nowhere", "README.md");
    CHECK_INT(inv->findings.count, 3);
    CHECK_INT(inv->findings.blockers, 2);
    CHECK_INT(inv->file_count, 0);
    close_package(inv);
}

TEST(links_to_folders_are_not_followed)
{
    put_text("sub/x.json", "{}");
    link_to("sub", "again");
    link_to(".", "loop");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->file_count, 1);
    CHECK_INT(inv->findings.blockers, 0);
    EXPECT(inv, TN_OK, "not followed", "again");
    close_package(inv);
}

TEST(fifo_socket_and_device_do_not_block)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(mkfifo(in_folder("model.safetensors"), 0600) == 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", in_folder("socket"));
    REQUIRE(s >= 0 && bind(s, (struct sockaddr *)&address, sizeof(address)) == 0);
    REQUIRE(mkfifo(in_folder("inner"), 0600) == 0);
    link_to("inner", "config.json");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->file_count, 0);
    CHECK_INT(inv->findings.blockers, 4);
    EXPECT(inv, TN_ARTIFACT_MALFORMED, "link leads to something that is not a file", "config.json");
    close_package(inv);
    close(s);
}

TEST(names_that_are_not_text)
{
    put_text("caf\xE9.json", "{}");
    put_text("a\033[31m.json", "{}");
    put_text("\xE2\x80\xAE.json", "{}");
    put_text("good-\xC3\xA9.json", "{}");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->file_count, 4);
    CHECK_INT(inv->findings.count, 3);
    CHECK(tn_inventory_file(inv, TN_STR("good-\xC3\xA9.json")) != NULL);
    const struct tn_package_file *latin = tn_inventory_file(inv, TN_STR("caf\\xE9.json"));
    REQUIRE(latin);
    CHECK(latin->have_digest);
    struct tn_str text;
    CHECK_INT(tn_inventory_read(inv, latin->path, &text, err), TN_OK);
    tn_free(&alloc, (void *)(uintptr_t)text.s);
    EXPECT(inv, TN_ARTIFACT_MALFORMED, "not printable UTF-8", "a\\x1B[31m.json");
    close_package(inv);
}

TEST(names_that_collide_when_cleaned)
{
    put_text("a\xFF.json", "{}");
    put_text("a\\xFF.json", "{}");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_INT(inv->findings.blockers, 1);
    EXPECT(inv, TN_ARTIFACT_MALFORMED, "unprintable bytes alone", "a\\xFF.json");
    close_package(inv);
}

TEST(files_that_may_not_be_read)
{
    put_text("config.json", "{}");
    put_text("README.md", "hello");
    put_text("closed/x.json", "{}");
    REQUIRE(chmod(in_folder("config.json"), 0) == 0);
    REQUIRE(chmod(in_folder("README.md"), 0) == 0);
    REQUIRE(chmod(in_folder("closed"), 0) == 0);
    REQUIRE(chmod(test_folder(), 0755) == 0);
    bool root = geteuid() == 0;
    if (root && seteuid(65534) != 0) test_skip("cannot give up root");
    struct tn_inventory *inv = open_package(test_folder());
    if (root && seteuid(0) != 0) test_fail(__FILE__, __LINE__, "cannot become root again");
    chmod(in_folder("closed"), 0755);
    REQUIRE(inv);
    CHECK_CONTAINS(EXPECT(inv, TN_ARTIFACT_MISSING, "folder cannot be listed", "closed")->found, "ermission denied");
    EXPECT(inv, TN_ARTIFACT_MISSING, "file cannot be read", "README.md");
    CHECK_INT(inv->findings.count, 3);
    CHECK_INT(inv->findings.blockers, 2); /* a readme that cannot be read changes no answer */
    close_package(inv);
}

/* ---- Hugging Face cache ------------------------------------------------------------------------------------------ */

#define REPOSITORY "hub/models--org--name"

/* A snapshot as the hub's client lays it out: files are links into blobs. */
static void put_snapshot(const char *revision)
{
    char name[512];
    put_tensor(REPOSITORY "/blobs/0123abcd", "a");
    put_text(REPOSITORY "/blobs/4567", "{\"model_type\":\"x\"}");
    snprintf(name, sizeof(name), REPOSITORY "/snapshots/%s/model.safetensors", revision);
    link_to("../../blobs/0123abcd", name);
    snprintf(name, sizeof(name), REPOSITORY "/snapshots/%s/config.json", revision);
    link_to("../../blobs/4567", name);
}

static void check_snapshot(const char *path)
{
    struct tn_inventory *inv = open_package(path);
    if (!inv) return;
    EXPECT_CLEAN(inv);
    CHECK_INT(inv->file_count, 2);
    CHECK(variant_of(inv, "safetensors") != NULL);
    CHECK(has_evidence(inv, "transformers", "transformers.config_json"));
    close_package(inv);
}

TEST(cache_snapshot_by_ref)
{
    put_snapshot("aaaa");
    put_snapshot("bbbb");
    put_text(REPOSITORY "/refs/main", "bbbb\n");
    REQUIRE(truncate(in_folder(REPOSITORY "/snapshots/aaaa/config.json"), 0) == 0);
    put_text(REPOSITORY "/blobs/4567", "{\"model_type\":\"x\"}");
    check_snapshot(in_folder(REPOSITORY));
    check_snapshot(in_folder(REPOSITORY "/snapshots/aaaa"));
    check_snapshot(in_folder(REPOSITORY "/snapshots/bbbb/"));
    struct tn_inventory *inv = open_package(in_folder(REPOSITORY));
    CHECK(inv && tn_str_ends(inv->root, "/snapshots/bbbb"));
    close_package(inv);
}

TEST(folder_inside_a_snapshot)
{
    put_tensor(REPOSITORY "/blobs/0123abcd", "a");
    link_to("../../../blobs/0123abcd", REPOSITORY "/snapshots/aaaa/unet/model.safetensors");
    struct tn_inventory *inv = open_package(in_folder(REPOSITORY "/snapshots/aaaa/unet"));
    REQUIRE(inv);
    EXPECT_CLEAN(inv);
    CHECK(variant_of(inv, "safetensors") != NULL);
    close_package(inv);
}

TEST(cache_with_one_snapshot_needs_no_ref)
{
    put_snapshot("aaaa");
    check_snapshot(in_folder(REPOSITORY));
}

TEST(cache_with_several_snapshots_and_no_ref_is_ambiguous)
{
    put_snapshot("aaaa");
    put_snapshot("bbbb");
    CHECK(!open_quietly(in_folder(REPOSITORY)));
    CHECK_INT(err->primary.code, TN_AMBIGUOUS_PACKAGE);
    CHECK_CONTAINS(err->primary.found, "2 snapshots");
    CHECK_CONTAINS(err->primary.found, "aaaa");
    CHECK_CONTAINS(err->primary.found, "bbbb");
    CHECK_CONTAINS(err->primary.remedy, "snapshots/REVISION");
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(cache_whose_ref_is_gone_or_hostile)
{
    static const char *const refs[] = {"../../..", "/etc", ".", "a/b", "aaaa/../aaaa", ""};
    put_snapshot("aaaa");
    put_text(REPOSITORY "/refs/main", "cccc");
    CHECK(!open_quietly(in_folder(REPOSITORY)));
    CHECK_INT(err->primary.code, TN_ARTIFACT_MISSING);
    CHECK_CONTAINS(err->primary.message, "cccc");
    CHECK_CONTAINS(err->primary.found, "aaaa");
    for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++) {
        put_text(REPOSITORY "/refs/main", refs[i]);
        check_snapshot(in_folder(REPOSITORY)); /* no usable ref: the only snapshot is taken */
    }
}

TEST(cache_without_snapshots)
{
    put_text(REPOSITORY "/blobs/x", "x");
    make_parents(in_folder(REPOSITORY "/snapshots/x"));
    CHECK(!open_quietly(in_folder(REPOSITORY)));
    CHECK_INT(err->primary.code, TN_ARTIFACT_MISSING);
    CHECK_CONTAINS(err->primary.message, "no snapshot");
}

TEST(cache_links_may_not_leave_the_repository)
{
    put_snapshot("aaaa");
    put_text("hub/models--org--other/blobs/9999", "{}");
    link_to("../../../models--org--other/blobs/9999", REPOSITORY "/snapshots/aaaa/tokenizer_config.json");
    link_to("../../refs/main", REPOSITORY "/snapshots/aaaa/x.json");
    put_text(REPOSITORY "/refs/main", "aaaa");
    struct tn_inventory *inv = open_package(in_folder(REPOSITORY));
    REQUIRE(inv);
    CHECK_INT(inv->findings.count, 2);
    const struct tn_finding *f = EXPECT(inv, TN_PATH_ESCAPE, "leads out of the package", NULL);
    CHECK_CONTAINS(f->expected, "blobs");
    close_package(inv);
}

TEST(a_whole_cache_is_not_a_package)
{
    put_snapshot("aaaa");
    CHECK(!open_quietly(in_folder("hub")));
    CHECK_INT(err->primary.code, TN_AMBIGUOUS_PACKAGE);
    CHECK_CONTAINS(err->primary.found, "models--org--name");
}

TEST(a_plain_copy_of_a_snapshot_has_the_same_manifest)
{
    put_snapshot("aaaa");
    put_tensor("copy/model.safetensors", "a");
    put_text("copy/config.json", "{\"model_type\":\"x\"}");
    struct tn_inventory *a = open_package(in_folder(REPOSITORY)), *b = open_package(in_folder("copy"));
    REQUIRE(a && b);
    CHECK(tn_digest_eq(&a->manifest, &b->manifest));
    struct tn_digest x, y;
    CHECK_INT(tn_inventory_closure(a, NULL, &x, err), TN_OK);
    CHECK_INT(tn_inventory_closure(b, NULL, &y, err), TN_OK);
    CHECK(tn_digest_eq(&x, &y));
    tn_inventory_free(a);
    close_package(b);
}
