/*
 * safetensors, bytes to facts: the 8-byte length, the JSON header, one tensor per member. The verdict over the facts
 * (sizes, tiling) is in safetensors_check.c. Everything is hostile; nothing is allocated in proportion to a claimed
 * number before the file was seen to be that long. Format: the README of the safetensors project.
 */
#include "package/scan.h"

#include "base/checked.h"

#include <string.h>

struct reader {
    const struct tn_context *ctx;
    const struct tn_source *source;
    struct tn_arena *arena;
    struct tn_tensor_list *list;
    struct tn_findings *findings;
    struct tn_error *problem;
    uint32_t file;
    size_t first; /* of our tensors in the list */
    char *header; /* header_bytes and a NUL */
    uint64_t header_bytes;
    size_t unknown_types, unknown_at; /* how many, and the index of their finding */
    struct tn_str unknown_spelling;   /* of the first; inside the header's text */
    struct tn_str written_for;
};

static struct tn_finding *blocker(struct reader *r, enum tn_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static struct tn_finding *blocker(struct reader *r, enum tn_status code, const char *format, ...)
{
    struct tn_finding *f = tn_findings_add(r->findings, TN_BLOCKER, code, TN_PHASE_PACKAGE, "%s", "");
    va_list args;
    va_start(args, format);
    tn_finding_begin(f, TN_BLOCKER, code, TN_PHASE_PACKAGE, format, args);
    va_end(args);
    tn_at_file(f, r->source->name);
    return f;
}

static const char fetch_again[] = "fetch the file again; a download may have been interrupted";

/* ---- the frame: length, size, what else it may be ---------------------------------------------------------------- */

/* The value that a pointer file of git-lfs gives for `key`, up to the end of the line. */
static struct tn_str pointer_value(struct tn_str text, const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i + n < text.n; i++) {
        if (memcmp(text.s + i, key, n) != 0) continue;
        size_t end = i + n;
        while (end < text.n && text.s[end] >= ' ') end++;
        return (struct tn_str){text.s + i + n, end - i - n};
    }
    return TN_STR("unknown");
}

bool tn_head_is_lfs(struct tn_str head)
{
    return tn_str_starts(head, "version https://git-lfs.github.com/spec/");
}

bool tn_head_is_html(struct tn_str head)
{
    size_t i = 0;
    while (i < head.n && (head.s[i] == ' ' || head.s[i] == '\n' || head.s[i] == '\r' || head.s[i] == '\t')) i++;
    struct tn_str rest = {head.s + i, head.n - i < 64 ? head.n - i : 64};
    return rest.n > 5 && rest.s[0] == '<' &&
           (tn_contains_fold(rest, "<!doctype html") || tn_contains_fold(rest, "<html"));
}

bool tn_describe_stand_in(struct tn_finding *f, struct tn_str head)
{
    if (tn_head_is_lfs(head)) {
        tn_found(f, "a pointer file of git-lfs; the real file has %.*s bytes",
                 TN_FMT_ARG(pointer_value(head, "size ")));
        tn_remedy(f, "run git lfs pull in the repository, or download the file itself");
        return true;
    }
    if (tn_head_is_html(head)) {
        tn_found(f, "a web page; a download was answered with an error or login page");
        tn_remedy(f, "download the file again from its raw address, signed in if need be");
        return true;
    }
    return false;
}

/* The first bytes are not a length that a header could have. */
static void not_safetensors(struct reader *r, uint64_t length)
{
    char bytes[512];
    size_t n = r->source->size < sizeof(bytes) ? (size_t)r->source->size : sizeof(bytes);
    struct tn_str head = {bytes, n && r->source->read(r->source->context, 0, bytes, n) == 0 ? n : 0};
    if (tn_head_is_lfs(head) || tn_head_is_html(head)) {
        tn_describe_stand_in(blocker(r, TN_ARTIFACT_MISSING, TN_STAND_IN), head);
        return;
    }
    struct tn_finding *f = blocker(r, TN_ARTIFACT_MALFORMED, "the file is not in the safetensors format");
    tn_expected(f, "an 8-byte length and a JSON header");
    if (n < 8) {
        tn_found(f, "%zu bytes", n);
    } else {
        tn_found(f, "a header length of %llu in a file of %llu bytes", (unsigned long long)length,
                 (unsigned long long)r->source->size);
    }
    tn_remedy(f, "%s", fetch_again);
}

static void cut_header(struct reader *r, uint64_t length)
{
    struct tn_finding *f = blocker(r, TN_ARTIFACT_MALFORMED, "the file is cut inside its header");
    uint64_t end = length + 8;
    tn_at_offset(f, r->source->name, r->source->size);
    tn_found(f, "file size %llu, %llu bytes missing", (unsigned long long)r->source->size,
             (unsigned long long)(end - r->source->size));
    tn_expected(f, "a header that ends at %llu", (unsigned long long)end);
    tn_remedy(f, "%s", fetch_again);
}

static void header_too_long(struct reader *r, uint64_t length)
{
    uint64_t limit = r->ctx->limits.header_bytes;
    struct tn_finding *f = blocker(r, TN_RESOURCE_LIMIT, "a safetensors header exceeds the limit header_bytes");
    tn_found(f, "%llu bytes", (unsigned long long)length);
    tn_expected(f, "at most %llu bytes", (unsigned long long)limit);
    tn_remedy(f, "raise the limit header_bytes if the file is trusted");
}

/* A read that fails is the file's problem, except where memory is. */
static void cannot_read(struct reader *r, enum tn_status status)
{
    struct tn_finding *f = blocker(r, status, "cannot read the header");
    if (r->problem && f) {
        *f = r->problem->primary;
        f->severity = TN_BLOCKER;
    }
}

static enum tn_status read_frame(struct reader *r, struct tn_digest *digest)
{
    unsigned char prefix[9] = {0};
    uint64_t size = r->source->size, length = 0;
    size_t have = size < sizeof(prefix) ? (size_t)size : sizeof(prefix);
    enum tn_status status = tn_source_read(r->source, 0, prefix, have, TN_PHASE_PACKAGE, r->problem);
    if (status) {
        cannot_read(r, status);
        return TN_OK;
    }
    for (size_t i = 8; i-- > 0;) length = length << 8 | prefix[i];
    bool framed = have == sizeof(prefix) && prefix[8] == '{' && length >= 2 && length < UINT64_C(1) << 48;
    if (!framed) {
        not_safetensors(r, length);
    } else if (length > r->ctx->limits.header_bytes) {
        header_too_long(r, length);
    } else if (!tn_range_inside(8, length, size)) {
        cut_header(r, length);
    } else {
        r->header = tn_malloc(r->ctx->alloc, (size_t)length + 1);
        if (!r->header) return TN_INSUFFICIENT_MEMORY;
        status = tn_source_read(r->source, 8, r->header, (size_t)length, TN_PHASE_PACKAGE, r->problem);
        if (status) {
            cannot_read(r, status);
            return TN_OK;
        }
        r->header[length] = 0;
        r->header_bytes = length;
        struct tn_sha256 hash;
        tn_sha256_init(&hash);
        tn_sha256_update(&hash, prefix, 8);
        tn_sha256_update(&hash, r->header, (size_t)length);
        *digest = tn_sha256_finish(&hash);
    }
    return TN_OK;
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

/* Place of a member: the tensor, and the byte of the file. */
static void at_member(struct reader *r, struct tn_finding *f, struct tn_json v)
{
    tn_at_tensor(f, r->source->name, tn_json_key(v));
    tn_at_offset(f, r->source->name, tn_json_offset(v) + 8);
}

static bool read_shape(struct reader *r, struct tn_json member, struct tn_json shape, struct tn_tensor_info *t)
{
    uint64_t limit = r->ctx->limits.rank < TN_MAX_RANK ? r->ctx->limits.rank : TN_MAX_RANK;
    if (!tn_json_is(shape, TN_JSON_ARRAY)) {
        at_member(r, blocker(r, TN_ARTIFACT_MALFORMED, "a tensor has no shape"), member);
        return false;
    }
    if (tn_json_count(shape) > limit) {
        struct tn_finding *f = blocker(r, TN_RESOURCE_LIMIT, "a tensor exceeds the limit rank");
        at_member(r, f, member);
        tn_found(f, "%zu dimensions", tn_json_count(shape));
        tn_expected(f, "at most %llu", (unsigned long long)limit);
        return false;
    }
    for (struct tn_json v = tn_json_first(shape); tn_json_present(v); v = tn_json_next(v)) {
        if (!tn_json_is_integer(v) || !tn_json_u64(v, &t->shape[t->rank])) {
            struct tn_finding *f = blocker(r, TN_ARTIFACT_MALFORMED, "a dimension is not a whole number");
            at_member(r, f, member);
            tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
            return false;
        }
        t->rank++;
    }
    return true;
}

static bool read_range(struct reader *r, struct tn_json member, struct tn_json offsets, struct tn_tensor_info *t)
{
    uint64_t begin, end;
    struct tn_json first = tn_json_at(offsets, 0), second = tn_json_at(offsets, 1);
    if (tn_json_count(offsets) == 2 && tn_json_is(offsets, TN_JSON_ARRAY) && tn_json_is_integer(first) &&
        tn_json_is_integer(second) && tn_json_u64(first, &begin) && tn_json_u64(second, &end) && begin <= end) {
        t->offset = begin;
        t->bytes = end - begin;
        return true;
    }
    struct tn_finding *f = blocker(r, TN_ARTIFACT_MALFORMED, "data_offsets of a tensor are not a range");
    at_member(r, f, member);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(offsets)));
    tn_expected(f, "[begin, end] with begin <= end");
    return false;
}

/* One finding per spelling would flood; the first tensor and the count say enough. */
static void unknown_type(struct reader *r, struct tn_json member, struct tn_str spelling)
{
    if (r->unknown_types++) return;
    r->unknown_at = r->findings->count;
    r->unknown_spelling = spelling;
    struct tn_finding *f = blocker(r, TN_UNSUPPORTED_QUANTIZATION, "a tensor has an element type that is not known");
    at_member(r, f, member);
    tn_expected(f, "an element type that safetensors defines, such as F32, BF16 or I8");
    tn_remedy(f, "convert the weights to a known type, or update tenon");
}

/* Once all tensors were seen. */
static void count_unknown_types(struct reader *r)
{
    if (r->unknown_types == 0 || r->unknown_at >= r->findings->count) return;
    tn_found(&r->findings->items[r->unknown_at], "\"%.*s\"; %zu tensor(s) of unknown type, this is the first",
             TN_FMT_ARG(r->unknown_spelling), r->unknown_types);
}

static bool only_known_members(struct reader *r, struct tn_json member)
{
    for (struct tn_json v = tn_json_first(member); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str key = tn_json_key(v);
        if (tn_str_is(key, "dtype") || tn_str_is(key, "shape") || tn_str_is(key, "data_offsets")) continue;
        struct tn_finding *f =
            blocker(r, TN_ARTIFACT_MALFORMED, "a tensor carries a field that the format does not define");
        at_member(r, f, member);
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(key));
        tn_expected(f, "dtype, shape and data_offsets");
        return false;
    }
    return true;
}

static enum tn_status append(struct reader *r, const struct tn_tensor_info *t)
{
    struct tn_tensor_list *list = r->list;
    struct tn_tensor_info *items = tn_grow(list->alloc, list->items, &list->cap, list->count, sizeof(*items));
    if (!items) return TN_INSUFFICIENT_MEMORY;
    list->items = items;
    items[list->count] = *t;
    struct tn_str name = tn_arena_str(r->arena, t->name);
    if (!name.s) return TN_INSUFFICIENT_MEMORY;
    items[list->count++].name = name;
    return TN_OK;
}

static enum tn_status read_tensor(struct reader *r, struct tn_json member)
{
    struct tn_tensor_info t = {.name = tn_json_key(member), .file = r->file};
    struct tn_str spelling;
    if (t.name.n > r->ctx->limits.name_bytes) {
        struct tn_finding *f = blocker(r, TN_RESOURCE_LIMIT, "a tensor name exceeds the limit name_bytes");
        at_member(r, f, member);
        tn_found(f, "%zu bytes", t.name.n);
        return TN_OK;
    }
    if (!tn_json_is(member, TN_JSON_OBJECT) || !tn_json_str(tn_json_get(member, "dtype"), &spelling)) {
        at_member(r, blocker(r, TN_ARTIFACT_MALFORMED, "a tensor has no element type"), member);
        return TN_OK;
    }
    if (!only_known_members(r, member) || !read_shape(r, member, tn_json_get(member, "shape"), &t) ||
        !read_range(r, member, tn_json_get(member, "data_offsets"), &t)) {
        return TN_OK;
    }
    t.dtype = tn_dtype_of_safetensors(spelling);
    if (t.dtype == TN_DTYPE_UNKNOWN) unknown_type(r, member, spelling);
    return append(r, &t);
}

static enum tn_status read_metadata(struct reader *r, struct tn_json metadata)
{
    struct tn_json bad = tn_json_is(metadata, TN_JSON_OBJECT) ? tn_json_first(metadata) : metadata;
    while (tn_json_present(bad) && tn_json_is(bad, TN_JSON_STRING)) bad = tn_json_next(bad);
    if (!tn_json_present(bad)) {
        struct tn_str format;
        if (!tn_json_str(tn_json_get(metadata, "format"), &format)) return TN_OK;
        r->written_for = tn_arena_str(r->arena, format);
        return r->written_for.s ? TN_OK : TN_INSUFFICIENT_MEMORY;
    }
    struct tn_finding *f = blocker(r, TN_ARTIFACT_MALFORMED, "__metadata__ is not a map of strings");
    char pointer[256];
    tn_at_pointer(f, r->source->name, tn_json_pointer(bad, pointer, sizeof(pointer)));
    tn_found(f, "%s", tn_json_type_name(tn_json_type(bad)));
    tn_expected(f, "strings alone");
    return TN_OK;
}

/* Only spaces may fill the header up after its object. */
static void check_padding(struct reader *r, struct tn_json root)
{
    size_t end = tn_json_text(root).n;
    while (end < r->header_bytes && r->header[end] == ' ') end++;
    if (end == r->header_bytes) return;
    struct tn_finding *f = blocker(r, TN_ARTIFACT_MALFORMED, "the header is padded with something other than spaces");
    tn_at_offset(f, r->source->name, end + 8);
    tn_found(f, "byte 0x%02X", (unsigned)(unsigned char)r->header[end]);
}

static enum tn_status over_tensors(struct reader *r)
{
    uint64_t limit = r->ctx->limits.tensors;
    struct tn_finding *f =
        tn_error_set(r->problem, TN_RESOURCE_LIMIT, TN_PHASE_PACKAGE, "the package exceeds the limit tensors");
    tn_at_file(f, r->source->name);
    tn_expected(f, "at most %llu", (unsigned long long)limit);
    tn_remedy(f, "raise the limit tensors if the package is trusted");
    return TN_RESOURCE_LIMIT;
}

static enum tn_status read_members(struct reader *r, struct tn_json root)
{
    if (tn_json_count(root) > r->ctx->limits.tensors - r->list->count) return over_tensors(r);
    enum tn_status status = TN_OK;
    for (struct tn_json v = tn_json_first(root); !status && tn_json_present(v); v = tn_json_next(v)) {
        bool metadata = tn_str_is(tn_json_key(v), "__metadata__");
        status = metadata ? read_metadata(r, v) : read_tensor(r, v);
    }
    return status;
}

/* The tensors of this file against each other and against its size; `order` is scratch. */
static enum tn_status verdict(struct reader *r)
{
    size_t count = r->list->count - r->first;
    uint32_t *order = tn_malloc(r->ctx->alloc, count * sizeof(*order) + 1);
    struct tn_tensor_info *items = count ? r->list->items + r->first : NULL;
    if (!order) return TN_INSUFFICIENT_MEMORY;
    tn_safetensors_check(r->findings, r->source, &r->ctx->limits, items, count, order, r->header_bytes + 8);
    tn_free(r->ctx->alloc, order);
    return TN_OK;
}

static enum tn_status read_header(struct reader *r)
{
    struct tn_json_doc doc;
    struct tn_str text = {r->header, (size_t)r->header_bytes};
    struct tn_limits limits = r->ctx->limits;
    limits.json_bytes = limits.header_bytes;
    enum tn_status status = tn_json_parse(&doc, r->ctx->alloc, &limits, r->source->name, text, r->problem);
    if (status == TN_INSUFFICIENT_MEMORY) return status;
    if (status) {
        cannot_read(r, status);
        struct tn_findings *all = r->findings;
        if (r->problem && all->count && all->items[all->count - 1].offset >= 0) all->items[all->count - 1].offset += 8;
        return TN_OK;
    }
    size_t before = r->findings->blockers;
    struct tn_json root = tn_json_root(&doc);
    check_padding(r, root);
    status = read_members(r, root);
    count_unknown_types(r);
    /* Where a member could not be read, holes are a consequence and no news. */
    if (!status && r->findings->blockers == before + (r->unknown_types ? 1 : 0)) status = verdict(r);
    tn_json_release(&doc);
    return status;
}

enum tn_status tn_safetensors_scan(const struct tn_context *ctx, const struct tn_source *source, uint32_t file,
                                   struct tn_arena *arena, struct tn_tensor_list *list, struct tn_digest *header_digest,
                                   struct tn_findings *findings, struct tn_error *problem, bool *good,
                                   struct tn_str *written_for)
{
    struct reader r = {
        .ctx = ctx,
        .source = source,
        .arena = arena,
        .list = list,
        .findings = findings,
        .problem = problem,
        .file = file,
        .first = list->count,
        .written_for = TN_STR(""),
    };
    size_t before = findings->blockers;
    memset(header_digest, 0, sizeof(*header_digest));
    enum tn_status status = read_frame(&r, header_digest);
    if (!status && r.header) status = read_header(&r);
    tn_free(ctx->alloc, r.header);
    if (status == TN_INSUFFICIENT_MEMORY) tn_error_memory(problem, TN_PHASE_PACKAGE, "reading a safetensors header");
    *good = !status && findings->blockers == before + (r.unknown_types ? 1 : 0);
    if (!*good) list->count = r.first;
    *written_for = r.written_for;
    return status;
}

enum tn_status tn_safetensors_read(const struct tn_context *ctx, const struct tn_source *source, uint32_t file,
                                   struct tn_arena *arena, struct tn_tensor_list *list, struct tn_digest *header_digest,
                                   struct tn_error *err)
{
    struct tn_findings findings;
    size_t before = list->count;
    bool good;
    struct tn_str written_for;
    tn_findings_init(&findings, ctx->alloc, (size_t)ctx->limits.findings);
    enum tn_status status =
        tn_safetensors_scan(ctx, source, file, arena, list, header_digest, &findings, err, &good, &written_for);
    if (!status) status = tn_error_from_findings(err, &findings);
    if (status) list->count = before;
    tn_findings_release(&findings);
    return status;
}
