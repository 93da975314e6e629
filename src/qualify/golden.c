/*
 * Reading golden files, and whether one belongs to a package. The file is untrusted: its numbers are compared and never
 * used as sizes. A golden without a statement of the package that it was made from is refused: numbers that agree by
 * luck, or differ because the weights do, would both mislead.
 */
#include "qualify/golden.h"

#include "base/source.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 1 << 20 };

static enum tn_status invalid(struct tn_json object, const char *key, const char *expected, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_METADATA_INVALID, TN_PHASE_RECORD, "not a golden file of embeddings");
    struct tn_json v = tn_json_get(object, key);
    tn_at_json_member(f, object, key);
    tn_found(f, "%s", tn_json_present(v) ? tn_json_type_name(tn_json_type(v)) : "nothing");
    tn_expected(f, "%s", expected);
    tn_remedy(f, "make it with the scripts of tools/golden");
    return TN_METADATA_INVALID;
}

static enum tn_status read_file(const struct tn_context *ctx, const char *path, struct tn_str *out,
                                struct tn_error *err)
{
    struct tn_os_file file;
    char text[128];
    int error = tn_os_open(path, &file);
    *out = (struct tn_str){0};
    if (error) {
        struct tn_finding *f =
            tn_error_set(err, TN_ARTIFACT_MISSING, TN_PHASE_RECORD, "the golden file cannot be opened");
        tn_at_file(f, tn_str_of(path));
        tn_found(f, "%s", tn_os_error_text(error, text, sizeof(text)));
        tn_remedy(f, "check the path");
        return TN_ARTIFACT_MISSING;
    }
    struct tn_source source = tn_source_of_file(&file, tn_str_of(path));
    enum tn_status status =
        tn_source_read_all(&source, ctx->alloc, ctx->limits.json_bytes, "json_bytes", out, err);
    tn_os_close(&file);
    return status;
}

/* Their form; the numbers are looked at when they are compared. */
static enum tn_status read_stages(struct tn_golden *g, struct tn_json root, struct tn_error *err)
{
    static const char *const lists[] = {"ids", "embeddings", "layers", "modules"};
    struct tn_json stages = tn_json_get(root, "stages");
    if (!tn_json_present(stages)) return TN_OK;
    if (!tn_json_is(stages, TN_JSON_OBJECT)) return invalid(root, "stages", "an object: one text, stage by stage", err);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (!tn_json_is(tn_json_get(stages, lists[i]), TN_JSON_ARRAY)) return invalid(stages, lists[i], "an array", err);
    }
    g->stages = stages;
    return TN_OK;
}

enum tn_status tn_golden_open(struct tn_golden *g, const struct tn_context *ctx, const char *path, struct tn_error *err)
{
    struct tn_str text;
    *g = (struct tn_golden){0};
    enum tn_status status = read_file(ctx, path, &text, err);
    if (status) return status;
    g->digest = tn_sha256_of(text.s, text.n);
    status = tn_json_parse_copy(&g->doc, ctx->alloc, &ctx->limits, tn_str_of(path), text, err);
    tn_free(ctx->alloc, (void *)(uintptr_t)text.s);
    if (status) return status;
    struct tn_json root = tn_json_root(&g->doc), certificate = tn_json_get(root, "certificate");
    g->cases = tn_json_get(root, "cases");
    g->count = tn_json_count(g->cases);
    g->present = true;
    if (!tn_json_is(certificate, TN_JSON_OBJECT)) return invalid(root, "certificate", "an object: who made it", err);
    g->certificate = tn_json_text(certificate);
    if (!tn_json_is(g->cases, TN_JSON_ARRAY) || g->count == 0) {
        return invalid(root, "cases", "an array with at least one case", err);
    }
    return read_stages(g, root, err);
}

void tn_golden_release(struct tn_golden *g)
{
    tn_json_release(&g->doc);
    *g = (struct tn_golden){0};
}

/* ---- identity ----------------------------------------------------------------------------------------------------- */

/* Feeds the contents of a package file. */
static enum tn_status feed_file(struct tn_sha256 *h, const struct tn_inventory *inv, const struct tn_package_file *file,
                                char *block, const struct tn_cancel *cancel, struct tn_error *err)
{
    struct tn_os_file open_file;
    enum tn_status status = tn_inventory_open_file(inv, file, &open_file, err);
    if (status) return status;
    struct tn_source source = tn_source_of_file(&open_file, file->path);
    for (uint64_t at = 0; !status && at < source.size;) {
        size_t n = source.size - at < BLOCK ? (size_t)(source.size - at) : BLOCK;
        status = tn_source_read(&source, at, block, n, TN_PHASE_RECORD, err);
        if (!status) tn_sha256_update(h, block, n);
        if (!status) status = tn_cancel_fail(cancel, TN_PHASE_RECORD, err);
        at += n;
    }
    tn_os_close(&open_file);
    return status;
}

static enum tn_status other_package(const struct tn_golden *g, struct tn_str file, struct tn_str expected,
                                    const char *found, struct tn_error *err)
{
    struct tn_finding *f =
        tn_error_set(err, TN_ARTIFACT_STALE, TN_PHASE_RECORD, "the golden was made from another package");
    tn_at_file(f, file);
    tn_found(f, "%s", found);
    tn_expected(f, "%.*s, as %.*s says", TN_FMT_ARG(expected), TN_FMT_ARG(g->doc.file));
    tn_remedy(f, "use the golden of this package, or the package of this golden");
    return TN_ARTIFACT_STALE;
}

static enum tn_status named_file(const struct tn_golden *g, const struct tn_inventory *inv, struct tn_json row,
                                 char *block, const struct tn_cancel *cancel, struct tn_error *err)
{
    struct tn_str expected, path = tn_json_key(row);
    struct tn_sha256 h;
    char hex[TN_SHA256_HEX];
    struct tn_json files = tn_json_get(tn_json_root(&g->doc), "package_files");
    if (!tn_json_str(row, &expected)) return invalid(files, "", "a SHA-256 in hexadecimal beside each path", err);
    const struct tn_package_file *file = tn_inventory_file(inv, path);
    if (!file) return other_package(g, path, expected, "no such file in the package", err);
    tn_sha256_init(&h);
    enum tn_status status = feed_file(&h, inv, file, block, cancel, err);
    if (status) return status;
    struct tn_digest digest = tn_sha256_finish(&h);
    tn_digest_hex(&digest, hex);
    return tn_str_is(expected, hex) ? TN_OK : other_package(g, path, expected, hex, err);
}

/* By the parts of the path: '/' comes before every other byte. */
static int by_parts(struct tn_str a, struct tn_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a.s[i], y = (unsigned char)b.s[i];
        if (x == y) continue;
        if (x == '/' || y == '/') return x == '/' ? -1 : 1;
        return x < y ? -1 : 1;
    }
    return a.n < b.n ? -1 : a.n > b.n;
}

/* The file that follows `after` in the order of parts; NULL: none. Packages with such goldens are tiny. */
static const struct tn_package_file *next_file(const struct tn_inventory *inv, const struct tn_package_file *after)
{
    const struct tn_package_file *best = NULL;
    for (uint32_t i = 0; i < inv->file_count; i++) {
        const struct tn_package_file *file = &inv->files[i];
        if (after && by_parts(file->path, after->path) <= 0) continue;
        if (!best || by_parts(file->path, best->path) < 0) best = file;
    }
    return best;
}

enum { FOLDER_FILES = 1000 };

static enum tn_status whole_folder(const struct tn_golden *g, const struct tn_inventory *inv, char *block,
                                   const struct tn_cancel *cancel, struct tn_error *err)
{
    struct tn_str expected;
    struct tn_sha256 h;
    char text[TN_SHA256_HEX];
    struct tn_json certificate = tn_json_get(tn_json_root(&g->doc), "certificate");
    if (!tn_json_str(tn_json_get(certificate, "input_sha256"), &expected)) {
        return invalid(certificate, "input_sha256", "a SHA-256 of the package, or package_files", err);
    }
    if (inv->file_count > FOLDER_FILES) {
        return invalid(tn_json_root(&g->doc), "package_files", "digests by file for a package of so many files", err);
    }
    tn_sha256_init(&h);
    const struct tn_package_file *file = NULL;
    while ((file = next_file(inv, file))) {
        snprintf(text, sizeof(text), "%llu", (unsigned long long)file->size);
        tn_sha256_update(&h, file->path.s, file->path.n);
        tn_sha256_update(&h, "", 1);
        tn_sha256_update(&h, text, strlen(text) + 1);
        enum tn_status status = feed_file(&h, inv, file, block, cancel, err);
        if (status) return status;
    }
    struct tn_digest digest = tn_sha256_finish(&h);
    tn_digest_hex(&digest, text);
    return tn_str_is(expected, text) ? TN_OK : other_package(g, inv->shown, expected, text, err);
}

enum tn_status tn_golden_belongs(const struct tn_golden *g, const struct tn_inventory *inv,
                                 const struct tn_cancel *cancel, struct tn_error *err)
{
    struct tn_alloc *alloc = inv->ctx->alloc;
    struct tn_json files = tn_json_get(tn_json_root(&g->doc), "package_files");
    char *block = tn_malloc(alloc, BLOCK);
    if (!block) return tn_error_memory(err, TN_PHASE_RECORD, "reading the package for its golden");
    enum tn_status status = TN_OK;
    if (!tn_json_present(files)) {
        status = whole_folder(g, inv, block, cancel, err);
    } else if (!tn_json_is(files, TN_JSON_OBJECT) || tn_json_count(files) == 0) {
        status = invalid(tn_json_root(&g->doc), "package_files", "an object with digests by path", err);
    } else {
        for (struct tn_json row = tn_json_first(files); !status && tn_json_present(row); row = tn_json_next(row)) {
            status = named_file(g, inv, row, block, cancel, err);
        }
    }
    tn_free(alloc, block);
    return status;
}

/* ---- cases -------------------------------------------------------------------------------------------------------- */

static bool is_null(struct tn_json v)
{
    return !tn_json_present(v) || tn_json_type(v) == TN_JSON_NULL;
}

enum tn_status tn_golden_read_case(struct tn_json v, struct tn_golden_case *out, struct tn_error *err)
{
    *out = (struct tn_golden_case){0};
    struct tn_json prompt = tn_json_get(v, "prompt_name"), normalize = tn_json_get(v, "normalize_embeddings");
    struct tn_json truncate = tn_json_get(v, "truncate_dim"), total = tn_json_get(v, "tokens_untruncated");
    out->ids = tn_json_get(v, "ids");
    out->type_ids = tn_json_get(v, "type_ids");
    out->embedding = tn_json_get(v, "embedding");
    if (!tn_json_str(tn_json_get(v, "text"), &out->text)) return invalid(v, "text", "a string", err);
    if (!tn_json_is(out->ids, TN_JSON_ARRAY)) return invalid(v, "ids", "an array of token ids", err);
    if (!is_null(out->type_ids) && !tn_json_is(out->type_ids, TN_JSON_ARRAY)) {
        return invalid(v, "type_ids", "an array or null", err);
    }
    if (!tn_json_is(out->embedding, TN_JSON_ARRAY)) return invalid(v, "embedding", "an array of numbers", err);
    if (!is_null(prompt)) {
        out->prompt_named = tn_json_str(prompt, &out->prompt_name);
        if (!out->prompt_named) return invalid(v, "prompt_name", "a string or null", err);
    }
    if (!is_null(normalize) && !tn_json_bool(normalize, &out->normalize)) {
        return invalid(v, "normalize_embeddings", "true or false", err);
    }
    if (!is_null(truncate) && (!tn_json_u64(truncate, &out->truncate_dim) || out->truncate_dim == 0)) {
        return invalid(v, "truncate_dim", "a positive integer", err);
    }
    if (!is_null(total) && !tn_json_u64(total, &out->tokens_total)) {
        return invalid(v, "tokens_untruncated", "a count", err);
    }
    return TN_OK;
}
