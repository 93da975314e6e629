/*
 * Manifest and closure. Both leave out what cannot change an answer: descriptive documents and ignored files. Neither
 * knows a time, a link or where the package lies.
 */
#include "package/scan.h"

#include <string.h>

enum { BLOCK = 1 << 20 };

static bool counts(const struct tn_package_file *file)
{
    return file->role != TN_ROLE_DOCUMENT && file->role != TN_ROLE_OTHER;
}

enum tn_status tn_scan_manifest(struct tn_scan *s)
{
    struct tn_inventory *inv = s->inv;
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR("tenon.manifest/1"));
    for (uint32_t i = 0; i < inv->file_count; i++) {
        const struct tn_package_file *file = &inv->files[i];
        if (!counts(file)) continue;
        tn_sha256_update_str(&h, file->path);
        tn_sha256_update_str(&h, tn_str_of(tn_file_role_name(file->role)));
        tn_sha256_update_u64(&h, file->size);
        /* A file that could not be read counts with its size alone, marked as such. */
        tn_sha256_update_u64(&h, file->have_digest ? 1 : file->have_header ? 2 : 0);
        if (file->have_digest || file->have_header) {
            tn_sha256_update(&h, file->have_digest ? file->digest.bytes : file->header.bytes, TN_SHA256_BYTES);
        }
    }
    inv->manifest = tn_sha256_finish(&h);
    return TN_OK;
}

/* ---- closure ----------------------------------------------------------------------------------------------------- */

struct closure {
    const struct tn_inventory *inv;
    const struct tn_cancel *cancel;
    struct tn_error *err;
    char *block;
    struct tn_sha256 h;
};

static enum tn_status changed(struct closure *c, const struct tn_package_file *file)
{
    struct tn_finding *f =
        tn_error_set(c->err, TN_ARTIFACT_STALE, TN_PHASE_PACKAGE, "a file changed while it was being read");
    tn_at_file(f, file->path);
    tn_remedy(f, "open the package again when nothing writes to it");
    return TN_ARTIFACT_STALE;
}

static enum tn_status add_blocks(struct closure *c, const struct tn_package_file *file, struct tn_os_file *open)
{
    for (uint64_t at = 0; at < file->size;) {
        size_t n = file->size - at < BLOCK ? (size_t)(file->size - at) : BLOCK;
        enum tn_status status = tn_cancel_fail(c->cancel, TN_PHASE_PACKAGE, c->err);
        if (status) return status;
        if (tn_os_read(open, at, c->block, n) != 0) return changed(c, file);
        tn_sha256_update(&c->h, c->block, n);
        at += n;
    }
    struct tn_file_stamp now;
    return tn_os_stamp(open, &now) == 0 && tn_file_stamp_eq(&now, &file->stamp) ? TN_OK : changed(c, file);
}

static enum tn_status add_file(struct closure *c, const struct tn_package_file *file)
{
    struct tn_os_file open;
    enum tn_status status = tn_inventory_open_file(c->inv, file, &open, c->err);
    if (status) return status;
    tn_sha256_update_str(&c->h, file->path);
    tn_sha256_update_u64(&c->h, file->size);
    status = add_blocks(c, file, &open);
    tn_os_close(&open);
    return status;
}

enum tn_status tn_inventory_closure(const struct tn_inventory *inv, const struct tn_cancel *cancel,
                                    struct tn_digest *out, struct tn_error *err)
{
    struct closure c = {.inv = inv, .cancel = cancel, .err = err};
    memset(out, 0, sizeof(*out));
    c.block = tn_malloc(inv->ctx->alloc, BLOCK);
    if (!c.block) return tn_error_memory(err, TN_PHASE_PACKAGE, "verifying a package");
    tn_sha256_init(&c.h);
    tn_sha256_update_str(&c.h, TN_STR("tenon.closure/1"));
    enum tn_status status = tn_cancel_fail(cancel, TN_PHASE_PACKAGE, err);
    for (uint32_t i = 0; !status && i < inv->file_count; i++) {
        if (counts(&inv->files[i])) status = add_file(&c, &inv->files[i]);
    }
    if (!status) *out = tn_sha256_finish(&c.h);
    tn_free(inv->ctx->alloc, c.block);
    return status;
}
