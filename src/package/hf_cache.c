/*
 * From the caller's path to a root: a folder, a single file, a repository folder of the Hugging Face cache or one of
 * its snapshots. Knows the cache's layout (refs/, snapshots/, blobs/) and nothing of models. The layout decides, not
 * the name "models--…". A ref is untrusted text: it must be one plain path component.
 */
#include "package/scan.h"

#include <string.h>

enum { REF_BYTES = 256, LISTED_SNAPSHOTS = 16 };

static enum tn_status cannot_open(struct tn_scan *s, int error)
{
    char text[128];
    struct tn_finding *f = tn_error_set(s->err, TN_ARTIFACT_MISSING, TN_PHASE_PACKAGE, "cannot open the package");
    tn_at_file(f, s->inv->shown);
    tn_found(f, "%s", error ? tn_os_error_text(error, text, sizeof(text)) : "nothing at this path");
    tn_expected(f, "a folder, a model file or a snapshot of the Hugging Face cache");
    tn_remedy(f, "check the path and its permissions");
    return TN_ARTIFACT_MISSING;
}

/* Absolute path without links into the arena. `path` may be the scratch path. */
static enum tn_status real_path(struct tn_scan *s, const char *path, struct tn_str *out)
{
    struct tn_buf resolved;
    tn_buf_init(&resolved, s->alloc, TN_PATH_BYTES);
    int error = tn_os_realpath(path, &resolved);
    bool no_memory = tn_buf_status(&resolved) == TN_INSUFFICIENT_MEMORY;
    if (!error) *out = tn_arena_str(s->arena, tn_buf_str(&resolved));
    tn_buf_release(&resolved);
    if (no_memory || (!error && !out->s)) return tn_scan_memory(s);
    return error ? cannot_open(s, error) : TN_OK;
}

static enum tn_file_kind kind_of(const char *path)
{
    struct tn_file_info info;
    return tn_os_stat(path, true, &info) == 0 ? info.kind : TN_FILE_MISSING;
}

static enum tn_file_kind kind_below(struct tn_scan *s, struct tn_str folder, const char *name)
{
    tn_buf_clear(&s->path);
    tn_buf_append(&s->path, folder.s, folder.n);
    tn_buf_putc(&s->path, '/');
    tn_buf_puts(&s->path, name);
    return tn_buf_status(&s->path) ? TN_FILE_MISSING : kind_of(s->path.data);
}

/* A snapshot is REPOSITORY/snapshots/REV, whose links may lead to REPOSITORY/blobs; also from a folder inside it. */
static enum tn_status note_blobs(struct tn_scan *s)
{
    for (struct tn_str at = tn_package_folder(s->inv->root); at.n; at = tn_package_folder(at)) {
        if (!tn_str_is(tn_base_name(at), "snapshots")) continue;
        if (kind_below(s, tn_package_folder(at), "blobs") != TN_FILE_DIRECTORY) continue;
        struct tn_str resolved;
        enum tn_status status = real_path(s, s->path.data, &resolved);
        if (!status) s->blobs = resolved;
        return status;
    }
    return TN_OK;
}

/* The commit in refs/main; *out empty when there is no usable one. */
static void read_ref(struct tn_scan *s, struct tn_str repository, char *out)
{
    struct tn_os_file file;
    *out = 0;
    if (kind_below(s, repository, "refs/main") != TN_FILE_REGULAR || tn_os_open(s->path.data, &file) != 0) return;
    size_t n = file.stamp.size < REF_BYTES ? (size_t)file.stamp.size : 0;
    if (tn_os_read(&file, 0, out, n) != 0) n = 0;
    tn_os_close(&file);
    while (n > 0 && (out[n - 1] == '\n' || out[n - 1] == '\r' || out[n - 1] == ' ')) n--;
    out[n] = 0;
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (strspn(out, plain) != n || out[0] == '.') *out = 0;
}

struct snapshots {
    struct tn_scan *s;
    struct tn_str folder;
    struct tn_str names[LISTED_SNAPSHOTS];
    size_t count;
    bool no_memory;
};

static bool visit_snapshot(void *context, const char *name)
{
    struct snapshots *all = context;
    if (name[0] == '.' || kind_below(all->s, all->folder, name) != TN_FILE_DIRECTORY) return true;
    if (all->count < LISTED_SNAPSHOTS) {
        all->names[all->count] = tn_arena_str(all->s->arena, tn_str_of(name));
        all->no_memory = !all->names[all->count].s;
    }
    all->count++;
    return !all->no_memory;
}

static enum tn_status list_snapshots(struct tn_scan *s, struct tn_str repository, struct snapshots *all)
{
    *all = (struct snapshots){.s = s, .folder = tn_package_join(s->arena, repository, TN_STR("snapshots"))};
    if (!all->folder.s) return tn_scan_memory(s);
    int error = tn_os_list(all->folder.s, visit_snapshot, all);
    if (all->no_memory) return tn_scan_memory(s);
    return error ? cannot_open(s, error) : TN_OK;
}

static void name_snapshots(struct tn_finding *f, const struct snapshots *all)
{
    char text[384];
    size_t n = 0;
    for (size_t i = 0; i < all->count && i < LISTED_SNAPSHOTS; i++) {
        struct tn_str name = all->names[i];
        if (n + name.n + 8 > sizeof(text)) break;
        if (i) memcpy(text + n, ", ", 2), n += 2;
        memcpy(text + n, name.s, name.n);
        n += name.n;
    }
    tn_found(f, "%zu snapshots: %.*s", all->count, (int)n, text);
}

static enum tn_status no_snapshot(struct tn_scan *s, const struct snapshots *all, const char *ref)
{
    enum tn_status code = all->count && !*ref ? TN_AMBIGUOUS_PACKAGE : TN_ARTIFACT_MISSING;
    struct tn_finding *f;
    if (code == TN_AMBIGUOUS_PACKAGE) {
        f = tn_error_set(s->err, code, TN_PHASE_PACKAGE,
                         "the cache holds several snapshots of this repository and refs/main names none");
        tn_expected(f, "one snapshot, or refs/main with the name of one");
    } else {
        f = tn_error_set(s->err, code, TN_PHASE_PACKAGE,
                         all->count ? "refs/main names the snapshot %s, which is not in the cache"
                                    : "the cache holds no snapshot of this repository%s",
                         ref);
        tn_expected(f, "a folder below snapshots");
    }
    tn_at_file(f, s->inv->shown);
    name_snapshots(f, all);
    tn_remedy(f, all->count ? "open snapshots/REVISION of the one that is meant" : "download the model again");
    return code;
}

/* The root becomes the snapshot of refs/main, or the only one. */
static enum tn_status choose_snapshot(struct tn_scan *s)
{
    struct tn_str repository = s->inv->root;
    char ref[REF_BYTES + 1];
    struct snapshots all;
    read_ref(s, repository, ref);
    enum tn_status status = list_snapshots(s, repository, &all);
    if (status) return status;
    struct tn_str chosen = {0};
    if (*ref && kind_below(s, all.folder, ref) == TN_FILE_DIRECTORY) {
        chosen = tn_str_of(ref);
    } else if (!*ref && all.count == 1) {
        chosen = all.names[0];
    } else {
        return no_snapshot(s, &all, ref);
    }
    struct tn_str path = tn_package_join(s->arena, all.folder, chosen);
    if (!path.s) return tn_scan_memory(s);
    status = real_path(s, path.s, &s->inv->root);
    if (status) return status;
    if (!tn_str_eq(tn_package_folder(s->inv->root), all.folder)) {
        struct tn_finding *f =
            tn_error_set(s->err, TN_PATH_ESCAPE, TN_PHASE_PACKAGE, "the snapshot is a link that leaves the cache");
        tn_at_file(f, s->inv->shown);
        tn_remedy(f, "open the folder that is meant by its own path");
        return TN_PATH_ESCAPE;
    }
    return TN_OK;
}

static bool visit_hub(void *context, const char *name)
{
    struct snapshots *all = context;
    struct tn_str text = tn_str_of(name);
    if (!tn_str_starts(text, "models--") || kind_below(all->s, all->folder, name) != TN_FILE_DIRECTORY) return true;
    return visit_snapshot(context, name);
}

/* The cache as a whole holds many repositories: opening it as one package would mix them. */
static enum tn_status refuse_hub(struct tn_scan *s)
{
    struct snapshots all = {.s = s, .folder = s->inv->root};
    int error = tn_os_list(s->inv->root.s, visit_hub, &all);
    if (all.no_memory) return tn_scan_memory(s);
    if (error) return cannot_open(s, error);
    if (all.count == 0) return TN_OK;
    struct tn_finding *f = tn_error_set(s->err, TN_AMBIGUOUS_PACKAGE, TN_PHASE_PACKAGE,
                                        "this is a cache of %zu repositories, not a package", all.count);
    tn_at_file(f, s->inv->shown);
    name_snapshots(f, &all);
    tn_expected(f, "one repository folder");
    tn_remedy(f, "open one of the folders that are listed");
    return TN_AMBIGUOUS_PACKAGE;
}

static enum tn_status folder_root(struct tn_scan *s, const char *path)
{
    enum tn_status status = real_path(s, path, &s->inv->root);
    if (status) return status;
    bool repository = kind_below(s, s->inv->root, "snapshots") == TN_FILE_DIRECTORY &&
                      (kind_below(s, s->inv->root, "blobs") == TN_FILE_DIRECTORY ||
                       kind_below(s, s->inv->root, "refs") == TN_FILE_DIRECTORY);
    status = repository ? choose_snapshot(s) : refuse_hub(s);
    return status ? status : note_blobs(s);
}

/* The folder of the file as root with this one entry. A link that the caller names is the caller's own decision. */
static enum tn_status file_root(struct tn_scan *s, const char *path)
{
    struct tn_str whole = tn_str_of(path), folder = tn_package_folder(whole);
    s->single = tn_arena_str(s->arena, tn_base_name(whole));
    struct tn_str copy = tn_arena_str(s->arena, folder);
    if (!s->single.s || !copy.s) return tn_scan_memory(s);
    const char *place = copy.n ? copy.s : path[0] == '/' ? "/" : ".";
    return real_path(s, place, &s->inv->root);
}

enum tn_status tn_scan_root(struct tn_scan *s, const char *path)
{
    struct tn_file_info info;
    s->inv->shown = tn_arena_str(s->arena, tn_str_of(path ? path : ""));
    if (!s->inv->shown.s) return tn_scan_memory(s);
    int error = path && *path ? tn_os_stat(path, true, &info) : 0;
    if (error || !path || !*path) return cannot_open(s, error);
    switch (info.kind) {
    case TN_FILE_DIRECTORY: return folder_root(s, path);
    case TN_FILE_REGULAR: return file_root(s, path);
    case TN_FILE_OTHER: return cannot_open(s, TN_OS_NOT_REGULAR);
    case TN_FILE_MISSING:
    case TN_FILE_LINK: break;
    }
    return cannot_open(s, 0);
}
