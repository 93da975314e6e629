/*
 * What a package would be by its convention, against what it declares. Both descriptions are written as documents and
 * compared value by value, so that nothing which a description can say is left out of the comparison.
 */
#include "describe/convention.h"

#include "describe/package_document.h"

enum { POINTER_BYTES = 256, DEPTH = 16 };

struct comparison {
    struct tn_builder *b;
};

static void report(struct comparison *c, struct tn_json declared, struct tn_json other)
{
    char pointer[POINTER_BYTES];
    struct tn_json at = tn_json_present(declared) ? declared : other;
    struct tn_str text = tn_json_present(declared) ? tn_json_text(declared) : TN_STR("nothing");
    struct tn_str theirs = tn_json_present(other) ? tn_json_text(other) : TN_STR("nothing");
    struct tn_finding *f = tn_warning(c->b, TN_METADATA_INVALID,
                                      "the declared contract decides against the convention's files");
    tn_at_pointer(f, TN_STR(TN_PACKAGE_FILE), tn_json_pointer(at, pointer, sizeof(pointer)));
    tn_found(f, "%.*s in the contract, %.*s by the convention", TN_FMT_ARG(text), TN_FMT_ARG(theirs));
    tn_remedy(f, "remove the documents of the convention, or describe the package again from them");
}

/* Children of equal kinds are compared; order of members does not matter, that of elements does. */
static void compare(struct comparison *c, struct tn_json declared, struct tn_json other, unsigned depth)
{
    enum tn_json_type type = tn_json_type(declared);
    if (!tn_json_present(declared) || !tn_json_present(other) || type != tn_json_type(other) || depth == DEPTH) {
        report(c, declared, other);
    } else if (type == TN_JSON_OBJECT) {
        for (struct tn_json v = tn_json_first(declared); tn_json_present(v); v = tn_json_next(v))
            compare(c, v, tn_json_get_str(other, tn_json_key(v)), depth + 1);
        for (struct tn_json v = tn_json_first(other); tn_json_present(v); v = tn_json_next(v))
            if (!tn_json_present(tn_json_get_str(declared, tn_json_key(v)))) report(c, (struct tn_json){NULL, 0}, v);
    } else if (type == TN_JSON_ARRAY) {
        struct tn_json v = tn_json_first(declared), w = tn_json_first(other);
        for (; tn_json_present(v) || tn_json_present(w); v = tn_json_next(v), w = tn_json_next(w))
            compare(c, v, w, depth + 1);
    } else if (!tn_str_eq(tn_json_text(declared), tn_json_text(other))) {
        report(c, declared, other);
    }
}

/* Where the convention's files are refused, what could not be read of them is no statement. */
static void compare_members(struct comparison *c, struct tn_json declared, struct tn_json other, bool whole)
{
    for (struct tn_json v = tn_json_first(declared); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_json w = tn_json_get_str(other, tn_json_key(v));
        bool container = tn_json_is(w, TN_JSON_OBJECT) || tn_json_is(w, TN_JSON_ARRAY);
        bool unread = tn_json_type(w) == TN_JSON_NULL || (container && tn_json_count(w) == 0);
        if (whole || (container && !unread)) compare(c, v, w, 1);
    }
}

/* The content of a description as a document. */
static bool parsed(struct tn_builder *b, const struct tn_description *d, struct tn_json_doc *doc)
{
    tn_error_clear(b->scratch);
    enum tn_status status = tn_package_content(d, (size_t)b->inv->ctx->limits.json_bytes, doc, b->scratch);
    if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(b);
    else if (status) tn_builder_report(b, status);
    return status == TN_OK;
}

static void note_refused(struct tn_builder *b, const struct tn_builder *by_convention)
{
    const struct tn_finding *first = tn_findings_first_blocker(&by_convention->d->findings);
    struct tn_finding *f = tn_note(b, first ? first->code : TN_METADATA_INVALID,
                                   "by the convention's own files alone the package would be refused");
    if (!first) return;
    tn_at_file(f, tn_str_of(first->file));
    tn_found(f, "%s", first->message);
}

void tn_compare_with_convention(struct tn_builder *b)
{
    struct tn_builder other;
    struct tn_json_doc declared = {0}, conventional = {0};
    struct comparison c = {.b = b};
    if (b->failed != TN_OK || b->d->findings.blockers > 0) return;
    if (tn_builder_init(&other, b->inv, b->options, b->err) != TN_OK) {
        b->failed = other.failed;
    } else if (tn_describe_by_convention(&other) && other.failed == TN_OK) {
        bool whole = other.d->findings.blockers == 0;
        if (!whole) note_refused(b, &other);
        if (parsed(b, b->d, &declared) && parsed(b, other.d, &conventional))
            compare_members(&c, tn_json_root(&declared), tn_json_root(&conventional), whole);
    }
    if (b->failed == TN_OK) b->failed = other.failed;
    tn_json_release(&declared);
    tn_json_release(&conventional);
    tn_builder_release(&other);
    tn_description_free(other.d);
}
