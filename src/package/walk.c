/*
 * The walk: which entries are there and where they lead, without opening one. Names, links and kinds are hostile. A
 * FIFO or device is named and left alone; a link is resolved and must end inside the package (or in a snapshot's own
 * blobs). Breadth first over folders, so that depth costs no stack; sorted at the end.
 *
 * From here on a file is pinned by inode, size and times: whoever opens it later gets this one or an error. What is not
 * excluded: somebody who may write to the package swaps a folder for a link in the moment in which it is listed.
 */
#include "package/scan.h"

#include "base/sort.h"

#include <string.h>

struct folder {
    struct tn_str disk;
    uint32_t depth;
};

struct walk {
    struct tn_scan *s;
    struct folder *folders; /* tn_malloc; a queue that only grows */
    size_t count, cap;
    struct folder at;
    uint64_t entries, skipped;
    enum tn_status status;
};

static enum tn_status over_limit(struct walk *w, const char *name, uint64_t limit, struct tn_str place)
{
    struct tn_finding *f =
        tn_error_set(w->s->err, TN_RESOURCE_LIMIT, TN_PHASE_PACKAGE, "the package exceeds the limit %s", name);
    tn_at_file(f, place.n ? place : w->s->inv->shown);
    tn_found(f, "more than %llu", (unsigned long long)limit);
    tn_expected(f, "at most %llu", (unsigned long long)limit);
    tn_remedy(f, "open the folder of one model, or raise the limit %s", name);
    return TN_RESOURCE_LIMIT;
}

/* Name without control characters, bidi marks and broken UTF-8, as it is shown and referred to. */
static struct tn_str clean_path(struct tn_scan *s, struct tn_str disk)
{
    char clean[4 * TN_PATH_BYTES + 8];
    tn_clean_text(clean, sizeof(clean), disk.s, disk.n);
    struct tn_str text = tn_str_of(clean);
    return tn_str_eq(text, disk) ? disk : tn_arena_str(s->arena, text);
}

static enum tn_status add_file(struct walk *w, struct tn_str disk, const struct tn_file_stamp *stamp, bool link, bool skip)
{
    struct tn_scan *s = w->s;
    struct tn_inventory *inv = s->inv;
    struct tn_package_file *files = tn_grow(s->alloc, inv->files, &s->file_cap, inv->file_count, sizeof(*files));
    if (!files) return tn_scan_memory(s);
    inv->files = files;
    struct tn_str path = clean_path(s, disk);
    if (!path.s) return tn_scan_memory(s);
    files[inv->file_count++] = (struct tn_package_file){
        .path = path,
        .disk = disk,
        .size = stamp->size,
        .stamp = *stamp,
        .link = link,
        .format = "",
        .role = skip ? TN_ROLE_OTHER : TN_ROLE_UNKNOWN,
    };
    return TN_OK;
}

/* A finding about an entry that is not listed as a file. */
static struct tn_finding *about(struct walk *w, struct tn_str disk, enum tn_severity severity, enum tn_status code,
                                const char *what)
{
    struct tn_finding *f = tn_scan_finding(w->s, TN_NO_FILE, severity, code, "%s", what);
    tn_at_file(f, disk);
    return f;
}

static bool is_inside(struct tn_str path, struct tn_str folder)
{
    if (folder.n && tn_str_eq(path, folder)) return true;
    if (folder.n == 0 || path.n <= folder.n || memcmp(path.s, folder.s, folder.n) != 0) return false;
    return folder.s[folder.n - 1] == '/' || path.s[folder.n] == '/';
}

static void leaves(struct walk *w, struct tn_str disk)
{
    struct tn_finding *f = about(w, disk, TN_BLOCKER, TN_PATH_ESCAPE, "a link leads out of the package");
    tn_expected(f, "links that end inside the package%s", w->s->blobs.n ? " or in the repository's blobs" : "");
    tn_remedy(f, "put the file itself where the link is");
}

/* Where a link ends decides; s->path holds its resolved place when the system could resolve it. */
static enum tn_status add_link(struct walk *w, struct tn_str disk, const char *absolute)
{
    struct tn_scan *s = w->s;
    struct tn_buf resolved;
    char text[128];
    tn_buf_init(&resolved, s->alloc, TN_PATH_BYTES);
    int error = tn_os_realpath(absolute, &resolved);
    enum tn_status status = tn_buf_status(&resolved) == TN_INSUFFICIENT_MEMORY ? tn_scan_memory(s) : TN_OK;
    struct tn_file_info info = {.kind = TN_FILE_MISSING};
    struct tn_str target = tn_buf_str(&resolved);
    if (status) goto done;
    if (!error) error = tn_os_stat(target.s, false, &info);
    if (error || info.kind == TN_FILE_MISSING) {
        struct tn_finding *f = about(w, disk, tn_name_is_document(disk) ? TN_WARNING : TN_BLOCKER, TN_ARTIFACT_MISSING,
                                     "a link leads nowhere");
        tn_found(f, "%s", error ? tn_os_error_text(error, text, sizeof(text)) : "nothing at its target");
        tn_remedy(f, "fetch the package again; a download may have been interrupted");
    } else if (!is_inside(target, s->inv->root) && !is_inside(target, s->blobs)) {
        leaves(w, disk);
    } else if (info.kind == TN_FILE_REGULAR) {
        status = add_file(w, disk, &info.stamp, true, false);
    } else if (info.kind == TN_FILE_DIRECTORY) {
        about(w, disk, TN_NOTE, TN_OK, "a link to a folder of the package is not followed");
    } else {
        about(w, disk, TN_BLOCKER, TN_ARTIFACT_MALFORMED, "a link leads to something that is not a file");
    }
done:
    tn_buf_release(&resolved);
    return status;
}

static bool is_dropping(struct tn_str name)
{
    static const char *const ends[] = {"~", ".tmp", ".incomplete", ".lock", ".part", ".crdownload", ".swp", ".pyc"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (tn_str_ends(name, ends[i])) return true;
    }
    return name.s[0] == '.';
}

/* Names of the root that decide what a package is: a folder there is no document, and must not pass for its absence. */
static bool is_contract(struct tn_str name)
{
    static const char *const names[] = {"inference_metadata.yaml", "inference_metadata.yml", "inference_metadata.json",
                                        "tenon_package.json", "execution_hints.json"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (tn_str_is(name, names[i])) return true;
    return false;
}

static enum tn_status add_folder(struct walk *w, struct tn_str disk, struct tn_str name)
{
    if (w->at.depth == 0 && is_contract(name)) {
        struct tn_finding *f = about(w, disk, TN_BLOCKER, TN_ARTIFACT_MALFORMED, "a folder stands in the place of a document");
        tn_expected(f, "a file, or nothing of this name");
    }
    if (name.s[0] == '.' || tn_str_is(name, "__pycache__")) {
        w->skipped++;
        return TN_OK;
    }
    uint64_t limit = w->s->ctx->limits.directory_depth;
    if (w->at.depth >= limit) return over_limit(w, "directory_depth", limit, disk);
    struct folder *folders = tn_grow(w->s->alloc, w->folders, &w->cap, w->count, sizeof(*folders));
    if (!folders) return tn_scan_memory(w->s);
    w->folders = folders;
    folders[w->count++] = (struct folder){disk, w->at.depth + 1};
    return TN_OK;
}

static enum tn_status add_entry(struct walk *w, struct tn_str name)
{
    struct tn_scan *s = w->s;
    if (++w->entries > s->ctx->limits.files) return over_limit(w, "files", s->ctx->limits.files, TN_STR(""));
    struct tn_str disk = tn_package_join(s->arena, w->at.disk, name);
    if (!disk.s) return tn_scan_memory(s);
    const char *absolute = tn_scan_path(s, disk);
    struct tn_file_info info;
    char text[128];
    int error = absolute ? tn_os_stat(absolute, s->single.n > 0, &info) : 0;
    if (!absolute || error) {
        struct tn_finding *f = about(w, disk, TN_BLOCKER, TN_ARTIFACT_MISSING, "an entry cannot be looked at");
        tn_found(f, "%s", absolute ? tn_os_error_text(error, text, sizeof(text)) : "its path is too long");
        return TN_OK;
    }
    switch (info.kind) {
    case TN_FILE_REGULAR: return add_file(w, disk, &info.stamp, false, s->single.n == 0 && is_dropping(name));
    case TN_FILE_DIRECTORY: return add_folder(w, disk, name);
    case TN_FILE_LINK: return add_link(w, disk, absolute);
    case TN_FILE_MISSING:
        about(w, disk, TN_BLOCKER, TN_ARTIFACT_STALE, "a file vanished while the package was read");
        break;
    case TN_FILE_OTHER:
        about(w, disk, TN_BLOCKER, TN_ARTIFACT_MALFORMED, "a FIFO, socket or device stands in the package");
        break;
    }
    return TN_OK;
}

static bool visit(void *context, const char *name)
{
    struct walk *w = context;
    w->status = add_entry(w, tn_str_of(name));
    return w->status == TN_OK;
}

static enum tn_status list_folder(struct walk *w)
{
    struct tn_scan *s = w->s;
    char text[128];
    const char *absolute = tn_scan_path(s, w->at.disk);
    if (!absolute) return tn_scan_memory(s);
    /* The visitor reuses the scratch path: the folder's own needs a copy. */
    struct tn_str copy = tn_arena_str(s->arena, tn_str_of(absolute));
    if (!copy.s) return tn_scan_memory(s);
    int error = tn_os_list(copy.s, visit, w);
    if (w->status || !error) return w->status;
    if (w->at.depth == 0) {
        struct tn_finding *f = tn_error_set(s->err, TN_ARTIFACT_MISSING, TN_PHASE_PACKAGE, "cannot list the package");
        tn_at_file(f, s->inv->shown);
        tn_found(f, "%s", tn_os_error_text(error, text, sizeof(text)));
        tn_remedy(f, "check the permissions of the folder");
        return TN_ARTIFACT_MISSING;
    }
    struct tn_finding *f = about(w, w->at.disk, TN_BLOCKER, TN_ARTIFACT_MISSING, "a folder cannot be listed");
    tn_found(f, "%s", tn_os_error_text(error, text, sizeof(text)));
    tn_remedy(f, "check the permissions of the folder");
    return TN_OK;
}

static int by_path(const void *a, const void *b, void *context)
{
    (void)context;
    const struct tn_package_file *x = a, *y = b;
    int order = tn_str_order(x->path, y->path);
    return order ? order : tn_str_order(x->disk, y->disk);
}

/* Cleaned names are noted; two that became the same cannot be told apart by anything that refers to them. */
static void note_cleaned(struct tn_scan *s)
{
    struct tn_inventory *inv = s->inv;
    for (uint32_t i = 0; i < inv->file_count; i++) {
        const struct tn_package_file *file = &inv->files[i];
        if (i > 0 && tn_str_eq(file->path, inv->files[i - 1].path)) {
            tn_scan_finding(s, i, TN_BLOCKER, TN_ARTIFACT_MALFORMED,
                            "two files whose names differ in unprintable bytes alone");
        } else if (!tn_str_eq(file->path, file->disk)) {
            struct tn_finding *f = tn_scan_finding(s, i, TN_WARNING, TN_ARTIFACT_MALFORMED,
                                                   "a file name with bytes that are not printable UTF-8");
            tn_remedy(f, "rename the file");
        }
    }
}

static enum tn_status finish(struct walk *w)
{
    struct tn_scan *s = w->s;
    struct tn_inventory *inv = s->inv;
    if (inv->file_count) tn_sort(inv->files, inv->file_count, sizeof(*inv->files), by_path, NULL);
    s->extra = tn_calloc(s->alloc, inv->file_count + 1, sizeof(*s->extra));
    if (!s->extra) return tn_scan_memory(s);
    for (uint32_t i = 0; i < inv->file_count; i++) s->extra[i].skip = inv->files[i].role == TN_ROLE_OTHER;
    note_cleaned(s);
    if (w->skipped) {
        tn_scan_finding(s, TN_NO_FILE, TN_NOTE, TN_OK, "skipped %llu hidden folder(s)", (unsigned long long)w->skipped);
    }
    return TN_OK;
}

enum tn_status tn_scan_walk(struct tn_scan *s)
{
    struct walk w = {.s = s, .at = {TN_STR(""), 0}};
    enum tn_status status = s->single.n ? add_entry(&w, s->single) : list_folder(&w);
    for (size_t next = 0; !status && next < w.count; next++) {
        w.at = w.folders[next];
        status = list_folder(&w);
    }
    if (!status) status = finish(&w);
    tn_free(s->alloc, w.folders);
    return status;
}
