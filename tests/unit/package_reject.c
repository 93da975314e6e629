/*
 * Replays tests/reject/json, safetensors and package: files that must be refused, or were once misread. The name
 * carries the verdict, "CODE--what.ext": the code of the failure, of the first blocker, or "ok".
 */
#define _GNU_SOURCE
#include "package_util.h"

#include "fuzz/package_tree.h"

static void verdict(const char *name, enum tn_status status)
{
    const char *code = tn_status_name(status);
    size_t n = strlen(code);
    if (strncmp(name, code, n) != 0 || strncmp(name + n, "--", 2) != 0)
        test_fail(__FILE__, __LINE__, "%s: %s (%s)", name, code, err->primary.message);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

static unsigned each(const char *kind, void (*replay)(const char *name, const char *bytes, size_t n))
{
    char relative[512], folder[4096];
    unsigned count = 0;
    snprintf(relative, sizeof(relative), "reject/%s", kind);
    snprintf(folder, sizeof(folder), "%s", test_path(relative));
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        size_t n;
        char path[8192];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        char *bytes = test_read_file(path, &n);
        if (!bytes) continue;
        replay(entry->d_name, bytes, n);
        free(bytes);
        count++;
    }
    if (dir) closedir(dir);
    return count;
}

static void replay_json(const char *name, const char *bytes, size_t n)
{
    struct tn_json_doc doc;
    tn_error_clear(err);
    enum tn_status status = tn_json_parse(&doc, &alloc, &ctx.limits, TN_STR("d"), (struct tn_str){bytes, n}, err);
    tn_json_release(&doc);
    verdict(name, status);
}

TEST(json)
{
    CHECK(each("json", replay_json) > 0);
}

static void replay_safetensors(const char *name, const char *bytes, size_t n)
{
    struct tn_str holder;
    struct tn_source source = tn_source_of_memory(bytes, n, TN_STR("m"), &holder);
    struct tn_tensor_list list = {.alloc = &alloc};
    struct tn_arena arena;
    struct tn_digest digest;
    tn_arena_init(&arena, &alloc);
    tn_error_clear(err);
    enum tn_status status = tn_safetensors_read(&ctx, &source, 0, &arena, &list, &digest, err);
    tn_free(&alloc, list.items);
    tn_arena_release(&arena);
    verdict(name, status);
}

TEST(safetensors)
{
    CHECK(each("safetensors", replay_safetensors) > 0);
}

static void replay_package(const char *name, const char *bytes, size_t n)
{
    char root[4096];
    snprintf(root, sizeof(root), "%s/tree", test_folder());
    mkdir(root, 0755);
    tree_make(root, (const uint8_t *)bytes, n);
    struct tn_inventory *inv = open_quietly(root);
    enum tn_status status = inv ? tn_error_from_findings(err, &inv->findings) : err->primary.code;
    tn_inventory_free(inv);
    tree_remove(root);
    verdict(name, status);
}

TEST(packages)
{
    CHECK(each("package", replay_package) > 0);
}
