/*
 * The orchestrator of an inventory, its look-ups and what stages share. Owns the order of the stages and the cleaning
 * up; knows no container and no convention. The surprising decision: a stage fails only for memory, a limit of the
 * whole package or an unusable root; a broken file is a finding, so that one pass reports all of them.
 */
#include "package/scan.h"

#include "base/checked.h"
#include "base/sort.h"

#include <stdio.h>
#include <string.h>

/* ---- helpers of the stages --------------------------------------------------------------------------------------- */

enum tn_status tn_scan_memory(struct tn_scan *s)
{
    return tn_error_memory(s->err, TN_PHASE_PACKAGE, "taking the inventory of a package");
}

bool tn_scan_tie(struct tn_scan *s, size_t first, uint32_t file)
{
    struct tn_inventory *inv = s->inv;
    if (inv->findings.count <= first) return true;
    size_t last = inv->findings.count - 1;
    uint32_t *files = tn_grow(s->alloc, inv->finding_files, &s->finding_cap, last, sizeof(*files));
    if (!files) return false;
    inv->finding_files = files;
    for (size_t i = first; i <= last; i++) files[i] = file;
    return true;
}

struct tn_finding *tn_scan_finding(struct tn_scan *s, uint32_t file, enum tn_severity severity, enum tn_status code,
                                   const char *format, ...)
{
    struct tn_findings *list = &s->inv->findings;
    struct tn_finding *f = tn_findings_add(list, severity, code, TN_PHASE_PACKAGE, "%s", "");
    if (!f) return NULL;
    va_list args;
    va_start(args, format);
    tn_finding_begin(f, severity, code, TN_PHASE_PACKAGE, format, args);
    va_end(args);
    if (file != TN_NO_FILE) tn_at_file(f, s->inv->files[file].path);
    if (tn_scan_tie(s, list->count - 1, file)) return f;
    list->count--; /* lost to memory: check_findings sees it */
    list->dropped++;
    list->starved = true;
    return NULL;
}

enum tn_status tn_scan_take(struct tn_scan *s, uint32_t file, enum tn_severity severity, enum tn_status status)
{
    if (status == TN_INSUFFICIENT_MEMORY) return tn_scan_memory(s);
    struct tn_finding *f = tn_scan_finding(s, file, severity, status, "%s", "");
    if (f) {
        *f = s->problem->primary;
        f->severity = severity;
    }
    return TN_OK;
}

static size_t format_clean(char *out, size_t cap, const char *format, va_list args)
{
    char text[1024];
    int n = vsnprintf(text, sizeof(text), format, args);
    tn_clean_text(out, cap, text, n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
    return strlen(out);
}

struct tn_str tn_scan_text(struct tn_scan *s, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    size_t n = format_clean(text, sizeof(text), format, args);
    va_end(args);
    return tn_arena_str(s->arena, (struct tn_str){text, n});
}

enum tn_status tn_scan_evidence(struct tn_scan *s, const char *dialect, const char *rule, uint32_t file,
                                const char *format, ...)
{
    struct tn_inventory *inv = s->inv;
    char text[512];
    va_list args;
    va_start(args, format);
    size_t n = format_clean(text, sizeof(text), format, args);
    va_end(args);
    struct tn_evidence *items = tn_grow(s->alloc, inv->evidence, &s->evidence_cap, inv->evidence_count, sizeof(*items));
    if (!items) return tn_scan_memory(s);
    inv->evidence = items;
    struct tn_str detail = tn_arena_str(s->arena, (struct tn_str){text, n});
    if (!detail.s) return tn_scan_memory(s);
    items[inv->evidence_count++] = (struct tn_evidence){
        .dialect = tn_str_of(dialect),
        .rule = tn_str_of(rule),
        .file = file == TN_NO_FILE ? TN_STR("") : inv->files[file].path,
        .detail = detail,
    };
    return TN_OK;
}

/* root + "/" + disk into a buffer; false: too long, or no memory where the buffer has not been reserved. */
static bool absolute_path(struct tn_buf *out, struct tn_str root, struct tn_str disk)
{
    tn_buf_clear(out);
    tn_buf_append(out, root.s, root.n);
    if (root.n == 0 || root.s[root.n - 1] != '/') tn_buf_putc(out, '/');
    tn_buf_append(out, disk.s, disk.n);
    return tn_buf_status(out) == TN_OK;
}

const char *tn_scan_path(struct tn_scan *s, struct tn_str disk)
{
    return absolute_path(&s->path, s->inv->root, disk) ? s->path.data : NULL;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

struct tn_str tn_package_join(struct tn_arena *arena, struct tn_str folder, struct tn_str name)
{
    if (folder.n == 0) return tn_arena_str(arena, name);
    bool slash = folder.s[folder.n - 1] == '/';
    size_t total;
    if (!tn_add(folder.n, name.n, &total) || total > SIZE_MAX - 2) return (struct tn_str){0};
    char *path = tn_arena_alloc(arena, total + 2);
    if (!path) return (struct tn_str){0};
    memcpy(path, folder.s, folder.n);
    size_t at = folder.n;
    if (!slash) path[at++] = '/';
    if (name.n) memcpy(path + at, name.s, name.n);
    return (struct tn_str){path, at + name.n};
}

struct tn_str tn_package_folder(struct tn_str path)
{
    size_t n = path.n;
    while (n > 0 && path.s[n - 1] != '/') n--;
    return (struct tn_str){path.s, n > 0 ? n - 1 : 0};
}

struct tn_str tn_base_name(struct tn_str path)
{
    struct tn_str folder = tn_package_folder(path);
    size_t from = folder.n || (path.n && path.s[0] == '/') ? folder.n + 1 : 0;
    return (struct tn_str){path.s + from, path.n - from};
}

static enum tn_status refuse_reference(struct tn_str name, const char *why, struct tn_error *err)
{
    struct tn_finding *f =
        tn_error_set(err, TN_PATH_ESCAPE, TN_PHASE_PACKAGE, "a file name in the package is refused: %s", why);
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(name));
    tn_expected(f, "a name relative to the document's folder, without \"..\"");
    tn_remedy(f, "correct the document, or fetch the package from its source again");
    return TN_PATH_ESCAPE;
}

enum tn_status tn_package_reference(struct tn_arena *arena, struct tn_str folder, struct tn_str name,
                                    struct tn_str *out, struct tn_error *err)
{
    *out = (struct tn_str){0};
    if (name.n && memchr(name.s, 0, name.n)) return refuse_reference(name, "it holds a NUL byte", err);
    if (name.n && memchr(name.s, '\\', name.n)) return refuse_reference(name, "it holds a backslash", err);
    if (name.n && name.s[0] == '/') return refuse_reference(name, "it is absolute", err);
    struct tn_str joined = tn_package_join(arena, folder, name);
    if (!joined.s) return tn_error_memory(err, TN_PHASE_PACKAGE, "resolving a file name");
    char *path = (char *)(uintptr_t)joined.s; /* fresh arena memory: ours to rewrite */
    size_t to = 0;
    for (size_t from = 0; from < joined.n;) {
        size_t end = from;
        while (end < joined.n && path[end] != '/') end++;
        struct tn_str part = {path + from, end - from};
        if (tn_str_is(part, "..")) return refuse_reference(name, "it steps out with \"..\"", err);
        if (part.n && !tn_str_is(part, ".")) {
            if (to) path[to++] = '/';
            memmove(path + to, part.s, part.n);
            to += part.n;
        }
        from = end + 1;
    }
    path[to] = 0;
    *out = (struct tn_str){path, to};
    return TN_OK;
}

/* ---- look-ups ---------------------------------------------------------------------------------------------------- */

uint32_t tn_inventory_index(const struct tn_inventory *inv, struct tn_str path)
{
    uint32_t low = 0, high = inv->file_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = tn_str_order(inv->files[middle].path, path);
        if (order == 0) return middle;
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return TN_NO_FILE;
}

const struct tn_package_file *tn_inventory_file(const struct tn_inventory *inv, struct tn_str path)
{
    uint32_t index = tn_inventory_index(inv, path);
    return index == TN_NO_FILE ? NULL : &inv->files[index];
}

const struct tn_tensor_info *tn_variant_tensor(const struct tn_inventory *inv, const struct tn_variant *variant,
                                               struct tn_str name)
{
    const struct tn_tensor_info *items = variant->tensor_count ? inv->tensors + variant->first_tensor : NULL;
    uint32_t low = 0, high = variant->tensor_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = tn_str_order(items[middle].name, name);
        if (order == 0) return &items[middle];
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* ---- reading listed files ---------------------------------------------------------------------------------------- */

static enum tn_status stale(const struct tn_package_file *file, const struct tn_file_stamp *now, struct tn_error *err)
{
    struct tn_finding *f =
        tn_error_set(err, TN_ARTIFACT_STALE, TN_PHASE_PACKAGE, "a file has changed since the package was opened");
    tn_at_file(f, file->path);
    tn_found(f, "%llu bytes, %s", (unsigned long long)now->size,
             now->inode != file->stamp.inode || now->device != file->stamp.device ? "another file"
                                                                                  : "modified in place");
    tn_expected(f, "%llu bytes, untouched", (unsigned long long)file->size);
    tn_remedy(f, "open the package again when nothing writes to it");
    return TN_ARTIFACT_STALE;
}

enum tn_status tn_inventory_open_file(const struct tn_inventory *inv, const struct tn_package_file *file,
                                      struct tn_os_file *out, struct tn_error *err)
{
    struct tn_buf path;
    char text[128];
    enum tn_status status = TN_OK;
    out->fd = -1;
    tn_buf_init(&path, inv->ctx->alloc, 2 * TN_PATH_BYTES);
    if (!absolute_path(&path, inv->root, file->disk)) {
        status = tn_error_memory(err, TN_PHASE_PACKAGE, "opening a file");
        goto done;
    }
    int error = tn_os_open(path.data, out);
    if (error) {
        status = TN_ARTIFACT_MISSING;
        struct tn_finding *f = tn_error_set(err, status, TN_PHASE_PACKAGE, "cannot open a file of the package");
        tn_at_file(f, file->path);
        tn_found(f, "%s", tn_os_error_text(error, text, sizeof(text)));
        tn_remedy(f, "check the file and its permissions");
        goto done;
    }
    if (!tn_file_stamp_eq(&out->stamp, &file->stamp)) {
        status = stale(file, &out->stamp, err);
        tn_os_close(out);
    }
done:
    tn_buf_release(&path);
    return status;
}

enum tn_status tn_inventory_read(const struct tn_inventory *inv, struct tn_str path, struct tn_str *out,
                                 struct tn_error *err)
{
    *out = (struct tn_str){0};
    const struct tn_package_file *listed = tn_inventory_file(inv, path);
    if (!listed) {
        struct tn_finding *f =
            tn_error_set(err, TN_ARTIFACT_MISSING, TN_PHASE_PACKAGE, "a file is missing from the package");
        tn_at_file(f, path);
        tn_remedy(f, "fetch the whole package");
        return TN_ARTIFACT_MISSING;
    }
    struct tn_os_file file;
    enum tn_status status = tn_inventory_open_file(inv, listed, &file, err);
    if (status) return status;
    struct tn_source source = tn_source_of_file(&file, listed->path);
    status = tn_source_read_all(&source, inv->ctx->alloc, inv->ctx->limits.json_bytes, "json_bytes", out, err);
    tn_os_close(&file);
    return status;
}

enum tn_status tn_inventory_json(const struct tn_inventory *inv, struct tn_str path, struct tn_json_doc *out,
                                 struct tn_error *err)
{
    struct tn_str text;
    *out = (struct tn_json_doc){0};
    enum tn_status status = tn_inventory_read(inv, path, &text, err);
    return status ? status : tn_json_parse_take(out, inv->ctx->alloc, &inv->ctx->limits, path, text, err);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

void tn_inventory_free(struct tn_inventory *inv)
{
    if (!inv) return;
    struct tn_alloc *alloc = inv->ctx->alloc;
    tn_free(alloc, inv->files);
    tn_free(alloc, inv->tensors);
    tn_free(alloc, inv->variants);
    tn_free(alloc, inv->parts);
    tn_free(alloc, inv->evidence);
    tn_free(alloc, inv->finding_files);
    tn_findings_release(&inv->findings);
    tn_arena_release(&inv->arena);
    tn_free(alloc, inv);
}

static void release_scan(struct tn_scan *s)
{
    tn_free(s->alloc, s->problem);
    tn_free(s->alloc, s->head);
    tn_free(s->alloc, s->extra);
    tn_free(s->alloc, s->raw.items);
    tn_free(s->alloc, s->sets);
    tn_buf_release(&s->path);
}

/* A finding that was lost to memory, and not because the list is full: the call must not look clean. */
static enum tn_status check_findings(struct tn_scan *s)
{
    return s->inv->findings.starved ? tn_scan_memory(s) : TN_OK;
}

static enum tn_status run_stages(struct tn_scan *s, const char *path)
{
    static enum tn_status (*const stages[])(struct tn_scan *) = {
        tn_scan_walk, tn_scan_sniff, tn_scan_recognise, tn_scan_names, tn_scan_sets, tn_scan_variants, tn_scan_manifest,
    };
    s->problem = tn_malloc(s->alloc, sizeof(*s->problem));
    s->head = tn_malloc(s->alloc, TN_SNIFF_BYTES);
    /* All of it now: from here on a path that cannot be made is too long, and never a matter of memory. */
    if (!s->problem || !s->head || !tn_buf_reserve(&s->path, TN_PATH_BYTES)) return tn_scan_memory(s);
    tn_error_clear(s->problem);
    enum tn_status status = tn_scan_root(s, path);
    for (size_t i = 0; !status && i < sizeof(stages) / sizeof(stages[0]); i++) status = stages[i](s);
    return status ? status : check_findings(s);
}

enum tn_status tn_inventory_open(const struct tn_context *ctx, const char *path, struct tn_inventory **out,
                                 struct tn_error *err)
{
    *out = NULL;
    struct tn_inventory *inv = tn_calloc(ctx->alloc, 1, sizeof(*inv));
    if (!inv) return tn_error_memory(err, TN_PHASE_PACKAGE, "opening a package");
    inv->ctx = ctx;
    tn_arena_init(&inv->arena, ctx->alloc);
    tn_findings_init(&inv->findings, ctx->alloc, (size_t)ctx->limits.findings);
    struct tn_scan s = {
        .ctx = ctx,
        .alloc = ctx->alloc,
        .arena = &inv->arena,
        .inv = inv,
        .err = err,
        .blobs = TN_STR(""),
        .single = TN_STR(""),
        .raw = {.alloc = ctx->alloc},
    };
    tn_buf_init(&s.path, ctx->alloc, TN_PATH_BYTES);
    enum tn_status status = run_stages(&s, path);
    release_scan(&s);
    if (status) {
        tn_inventory_free(inv);
        return status;
    }
    *out = inv;
    return TN_OK;
}
