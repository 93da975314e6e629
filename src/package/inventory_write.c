/* The inventory's share of the inspect document: deterministic, every list in the order of the inventory. */
#include "package/package.h"

static void member_digest(struct tn_json_writer *w, const char *key, bool have, const struct tn_digest *digest)
{
    char hex[TN_SHA256_HEX];
    if (have) tn_jw_member_cstr(w, key, tn_digest_hex(digest, hex));
}

/* count, bytes and by_dtype of a range of tensors, as members of an object begun by the caller. */
static void write_types(struct tn_json_writer *w, const struct tn_tensor_info *items, uint32_t count)
{
    uint64_t counts[TN_DTYPE_COUNT] = {0}, sizes[TN_DTYPE_COUNT] = {0}, bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        counts[items[i].dtype]++;
        sizes[items[i].dtype] += items[i].bytes;
        bytes += items[i].bytes;
    }
    tn_jw_member_u64(w, "count", count);
    tn_jw_member_u64(w, "bytes", bytes);
    tn_jw_key(w, "by_dtype");
    tn_jw_begin_object(w);
    for (unsigned d = 0; d < TN_DTYPE_COUNT; d++) {
        if (counts[d] == 0) continue;
        tn_jw_key(w, tn_dtype_name((enum tn_dtype)d));
        tn_jw_begin_object(w);
        tn_jw_member_u64(w, "count", counts[d]);
        tn_jw_member_u64(w, "bytes", sizes[d]);
        tn_jw_end_object(w);
    }
    tn_jw_end_object(w);
}

static void write_variant(struct tn_json_writer *w, const struct tn_inventory *inv, const struct tn_variant *v)
{
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "id", v->id);
    tn_jw_member_str(w, "container", v->container);
    tn_jw_member_str(w, "folder", v->folder);
    tn_jw_member_str(w, "what", v->what);
    tn_jw_member_bool(w, "executable", v->executable);
    tn_jw_member_u64(w, "bytes", v->bytes);
    tn_jw_key(w, "files");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < v->file_count; i++) tn_jw_str(w, inv->files[v->files[i]].path);
    tn_jw_end_array(w);
    if (v->index_file != TN_NO_FILE) tn_jw_member_str(w, "index", inv->files[v->index_file].path);
    if (v->tensor_count) {
        tn_jw_key(w, "tensors");
        tn_jw_begin_object(w);
        write_types(w, inv->tensors + v->first_tensor, v->tensor_count);
        tn_jw_end_object(w);
    }
    tn_jw_end_object(w);
}

static void write_variants(struct tn_json_writer *w, const struct tn_inventory *inv, const char *key,
                           const struct tn_variant *items, uint32_t count)
{
    tn_jw_key(w, key);
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < count; i++) write_variant(w, inv, &items[i]);
    tn_jw_end_array(w);
}

static void write_evidence(struct tn_json_writer *w, const struct tn_evidence *e)
{
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "dialect", e->dialect);
    tn_jw_member_str(w, "rule", e->rule);
    if (e->file.n) tn_jw_member_str(w, "file", e->file);
    tn_jw_member_str(w, "detail", e->detail);
    tn_jw_end_object(w);
}

static void write_file(struct tn_json_writer *w, const struct tn_package_file *file)
{
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "path", file->path);
    tn_jw_member_cstr(w, "role", tn_file_role_name(file->role));
    if (file->format[0]) tn_jw_member_cstr(w, "format", file->format);
    tn_jw_member_u64(w, "size", file->size);
    if (file->malformed) tn_jw_member_bool(w, "malformed", true);
    member_digest(w, "sha256", file->have_digest, &file->digest);
    member_digest(w, "header_sha256", file->have_header, &file->header);
    tn_jw_end_object(w);
}

void tn_inventory_write(struct tn_json_writer *w, const struct tn_inventory *inv)
{
    tn_inventory_write_with(w, inv, &inv->findings);
}

void tn_inventory_write_with(struct tn_json_writer *w, const struct tn_inventory *inv,
                             const struct tn_findings *findings)
{
    write_variants(w, inv, "variants", inv->variants, inv->variant_count);
    if (inv->part_count) write_variants(w, inv, "parts", inv->parts, inv->part_count);
    tn_jw_key(w, "evidence");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < inv->evidence_count; i++) write_evidence(w, &inv->evidence[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "tensors");
    tn_jw_begin_object(w);
    write_types(w, inv->tensors, inv->tensor_count);
    tn_jw_end_object(w);
    tn_jw_key(w, "files");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < inv->file_count; i++) write_file(w, &inv->files[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "findings");
    tn_findings_write(w, findings);
}
