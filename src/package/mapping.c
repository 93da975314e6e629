/*
 * Weight files held open for loading. Policy and remaining risk are in package.h: reading copies and reports a shrunken
 * file as an error, views are for files that nobody writes.
 */
#include "package/package.h"

#include "base/checked.h"

static enum tn_status stale(const struct tn_package_file *file, const char *found, struct tn_error *err)
{
    struct tn_finding *f =
        tn_error_set(err, TN_ARTIFACT_STALE, TN_PHASE_LOAD, "a weight file has changed since the package was opened");
    tn_at_file(f, file->path);
    tn_found(f, "%s", found);
    tn_expected(f, "%llu bytes, untouched", (unsigned long long)file->size);
    tn_remedy(f, "open the package again when nothing writes to it");
    return TN_ARTIFACT_STALE;
}

enum tn_status tn_inventory_map(const struct tn_inventory *inv, uint32_t file, struct tn_mapping *out,
                                struct tn_error *err)
{
    const struct tn_package_file *listed = &inv->files[file];
    *out = (struct tn_mapping){.file.fd = -1};
    enum tn_status status = tn_inventory_open_file(inv, listed, &out->file, err);
    if (status) return status;
    out->size = listed->size;
    if (out->size == 0) return TN_OK;
    const void *base;
    int error = tn_os_map(&out->file, out->size, &base);
    if (!error) {
        out->base = base;
        return TN_OK;
    }
    char text[128];
    struct tn_finding *f = tn_error_set(err, TN_INSUFFICIENT_MEMORY, TN_PHASE_LOAD, "cannot map a weight file");
    tn_at_file(f, listed->path);
    tn_found(f, "%s", tn_os_error_text(error, text, sizeof(text)));
    tn_mapping_close(out);
    return TN_INSUFFICIENT_MEMORY;
}

void tn_mapping_close(struct tn_mapping *m)
{
    if (!m) return;
    tn_os_unmap(m->base, m->size);
    tn_os_close(&m->file);
    m->base = NULL;
    m->size = 0;
}

enum tn_status tn_mapping_check(const struct tn_inventory *inv, uint32_t file, const struct tn_mapping *m,
                                struct tn_error *err)
{
    const struct tn_package_file *listed = &inv->files[file];
    struct tn_file_stamp now;
    if (tn_os_stamp(&m->file, &now) != 0) return stale(listed, "the file can no longer be examined", err);
    if (now.size < listed->size) return stale(listed, "the file has shrunk", err);
    if (!tn_file_stamp_eq(&now, &listed->stamp)) return stale(listed, "the file was modified", err);
    return TN_OK;
}

enum tn_status tn_mapping_read(const struct tn_inventory *inv, uint32_t file, const struct tn_mapping *m,
                               uint64_t offset, void *dst, size_t n, struct tn_error *err)
{
    const struct tn_package_file *listed = &inv->files[file];
    if (!tn_range_inside(offset, n, m->size)) return stale(listed, "a read beyond the end of the file", err);
    int error = tn_os_read(&m->file, offset, dst, n);
    if (!error) return TN_OK;
    char text[128];
    return stale(listed, tn_os_error_text(error, text, sizeof(text)), err);
}
