/*
 * What a package would be by its convention, against what it declares. Both descriptions are written as documents and
 * compared value by value, so that nothing which a description can say is left out of the comparison.
 */
#include "describe/convention.h"

#include "describe/package_document.h"

#include <stdio.h>
#include <string.h>

enum { POINTER_BYTES = 256, DEPTH = 16 };

struct comparison {
    struct tn_builder *b;
    const struct tn_builder *other; /* by the convention */
    bool whole; /* nothing of the convention's files is refused: what they do not say, they do not say */
};

/* ---- where the convention says it -------------------------------------------------------------------------------- */

/* Members of the document, and the names of the convention's facts about them. */
static const struct {
    const char *pointer, *name;
} sources[] = {
    {"/components/0/config/", "encoder."}, {"/components/0/", "encoder."},       {"/head/", "head."},
    {"/tokenizer/", "tokenizer."},         {"/multi_vector/", "multi_vector."},  {"/prompts", "package.prompts"},
    {"/similarity", "package.similarity"}, {"/default_prompt", "package.default_prompt"},
    {"/truncate_dim", "package.truncate_dim"}, {"/max_active_dims", "package.max_active_dims"},
    {"/max_seq_length", "max_seq_length"},
};

/* "module.1.pooling" for "/modules/1/pooling/0"; false: the pointer is of nothing that facts are about. */
static bool fact_name(const struct comparison *c, struct tn_str at, char *out, size_t cap)
{
    char pointer[POINTER_BYTES];
    static const char modules[] = "/modules/";
    const char *first = pointer + sizeof(modules) - 1, *rest = first;
    size_t position = 0;
    snprintf(pointer, sizeof(pointer), "%.*s", TN_FMT_ARG(at));
    bool module = strncmp(pointer, modules, sizeof(modules) - 1) == 0;
    for (; module && *rest >= '0' && *rest <= '9' && position < c->other->d->module_count; rest++) position = position * 10 + (size_t)(*rest - '0');
    if (module && rest > first && position < c->other->d->module_count) {
        if (*rest == '/') rest++;
        snprintf(out, cap, "module.%u.%.*s", (unsigned)c->other->d->modules[position].index, (int)strcspn(rest, "/"), rest);
        return true;
    }
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        size_t n = strlen(sources[i].pointer);
        if (strncmp(pointer, sources[i].pointer, n) != 0) continue;
        bool member = sources[i].pointer[n - 1] == '/';
        snprintf(out, cap, "%s%.*s", sources[i].name, member ? (int)strcspn(pointer + n, "/") : 0, pointer + n);
        return true;
    }
    return false;
}

/* The fact about a member, else one about its neighbours; NULL: none. */
static const struct tn_fact *fact_about(const struct comparison *c, struct tn_str at, bool *exact)
{
    char name[POINTER_BYTES];
    if (!fact_name(c, at, name, sizeof(name))) return NULL;
    for (*exact = true;; *exact = false) {
        for (size_t i = 0; i < c->other->fact_count; i++) {
            const struct tn_fact *fact = &c->other->facts[i];
            if (fact->origin == TN_FROM_FILE && tn_str_starts(fact->name, name)) return fact;
        }
        char *dot = strrchr(name, '.');
        if (!*exact || !dot) return NULL;
        dot[1] = 0;
    }
}

/* FILE#POINTER; the document that lists the modules where no fact is about the member. */
static const char *place_by_convention(const struct comparison *c, struct tn_str at, char *out, size_t cap)
{
    bool exact;
    const struct tn_fact *fact = fact_about(c, at, &exact);
    if (fact && exact) snprintf(out, cap, "%.*s#%.*s", TN_FMT_ARG(fact->file), TN_FMT_ARG(fact->pointer));
    else if (fact) snprintf(out, cap, "%.*s", TN_FMT_ARG(fact->file));
    else snprintf(out, cap, "%s", c->other->d->chain_document.n ? "modules.json" : "config.json");
    return out;
}

/* ---- what differs ------------------------------------------------------------------------------------------------ */

static void report(struct comparison *c, struct tn_json declared, struct tn_json other)
{
    char pointer[POINTER_BYTES], place[2 * POINTER_BYTES];
    struct tn_json at = tn_json_present(declared) ? declared : other;
    struct tn_str text = tn_json_present(declared) ? tn_json_text(declared) : TN_STR("nothing");
    struct tn_str theirs = tn_json_present(other) ? tn_json_text(other) : TN_STR("nothing");
    if (!c->whole && tn_json_type(other) == TN_JSON_NULL) return; /* it may be what was refused */
    struct tn_finding *f = tn_warning(c->b, TN_METADATA_INVALID,
                                      "the declared contract decides against the convention's files");
    struct tn_str where = tn_json_pointer(at, pointer, sizeof(pointer));
    tn_at_pointer(f, TN_STR(TN_PACKAGE_FILE), where);
    tn_found(f, "%.*s in the contract, %.*s by %s", TN_FMT_ARG(text), TN_FMT_ARG(theirs),
             place_by_convention(c, where, place, sizeof(place)));
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
        if (!c->whole && tn_json_count(declared) != tn_json_count(other)) return; /* one may be what was refused */
        for (; tn_json_present(v) || tn_json_present(w); v = tn_json_next(v), w = tn_json_next(w))
            compare(c, v, w, depth + 1);
    } else if (!tn_str_eq(tn_json_text(declared), tn_json_text(other))) {
        report(c, declared, other);
    }
}

/*
 * Where the convention's files are refused, a length may have been cut by a table that nobody could read: then it is an
 * upper bound, as long as the contract's own table is the shorter one.
 */
static bool is_known_length(const struct comparison *c)
{
    const struct tn_description *d = c->b->d;
    uint64_t theirs = c->other->d->max_seq_length;
    bool hard;
    if (d->max_seq_length > theirs) return true;
    return d->component_count > 0 && tn_component_positions(d->components, &hard) >= theirs;
}

/* Whether a member says something: none of those below is stated by its neutral value. */
static bool says_something(struct tn_json v)
{
    uint64_t number;
    struct tn_str text;
    if (tn_json_is(v, TN_JSON_OBJECT) || tn_json_is(v, TN_JSON_ARRAY)) return tn_json_count(v) > 0;
    if (tn_json_u64(v, &number)) return number > 0;
    if (tn_json_str(v, &text)) return text.n > 0;
    return tn_json_type(v) != TN_JSON_NULL;
}

/* Where the convention's files are refused, what could not be read of them is no statement. */
static void compare_members(struct comparison *c, struct tn_json declared, struct tn_json other)
{
    for (struct tn_json v = tn_json_first(declared); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_json w = tn_json_get_str(other, tn_json_key(v));
        bool known = says_something(w);
        if (tn_str_is(tn_json_key(v), "max_seq_length")) known = known && is_known_length(c);
        if (c->whole || known) compare(c, v, w, 1);
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
    struct comparison c = {.b = b, .other = &other};
    if (b->failed != TN_OK || b->d->findings.blockers > 0) return;
    if (tn_builder_init(&other, b->inv, b->options, b->err) != TN_OK) {
        b->failed = other.failed;
    } else if (tn_describe_by_convention(&other) && other.failed == TN_OK) {
        c.whole = other.d->findings.blockers == 0;
        if (!c.whole) note_refused(b, &other);
        if (parsed(b, b->d, &declared) && parsed(b, other.d, &conventional))
            compare_members(&c, tn_json_root(&declared), tn_json_root(&conventional));
    }
    if (b->failed == TN_OK) b->failed = other.failed;
    tn_json_release(&declared);
    tn_json_release(&conventional);
    tn_builder_release(&other);
    tn_description_free(other.d);
}
