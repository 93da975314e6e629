/*
 * What a package would be by its convention, against what it declares. Both descriptions are written as documents and
 * compared value by value, so that nothing which a description can say is left out of the comparison. One rule for all that
 * the convention's files say or get wrong: a warning each, at its place, and never a refusal.
 *
 * Where a file of the convention does not hold, only what was read from a file is a statement: a default that stands in for
 * what could not be read contradicts nothing.
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

/* ---- files beside a contract ------------------------------------------------------------------------------------- */

struct named {
    struct tn_str path;
    bool found;
};

static bool visit(void *user, const struct tn_std_artifact *a)
{
    struct named *n = user;
    struct tn_str path = a->path;
    while (tn_str_starts(path, "./")) path.s += 2, path.n -= 2;
    n->found |= tn_str_eq(path, n->path);
    return !n->found;
}

bool tn_is_beside_contract(const struct tn_description *d, struct tn_str path)
{
    const struct tn_package_file *file = tn_inventory_file(d->inv, path);
    struct tn_json content = tn_json_root(&d->content);
    struct named n = {.path = path};
    if (!tn_str_is(d->dialect, "inference_metadata") || !file) return false;
    if (file->role != TN_ROLE_CONFIG && file->role != TN_ROLE_TOKENIZER) return false;
    if (tn_str_eq(path, d->tokenizer.tokenizer_json) || tn_str_eq(path, d->tokenizer.vocab_txt)) return false;
    if (tn_json_present(content) && tn_str_eq(path, content.doc->file)) return false;
    if (tn_json_present(d->standard.at)) tn_standard_artifacts(&d->standard, visit, &n);
    return !n.found;
}

/* ---- where the convention says it -------------------------------------------------------------------------------- */

/* Members of the document, and the names of the convention's facts about them. */
static const struct {
    const char *pointer, *name;
} sources[] = {
    {"/components/0/config/", "encoder."}, {"/components/0/", "encoder."},       {"/head/", "head."},
    {"/tokenizer/", "tokenizer."},         {"/multi_vector/", "multi_vector."},  {"/prompts/", "prompt."},
    {"/prompts", "package.prompts"},
    {"/similarity", "package.similarity"}, {"/default_prompt", "package.default_prompt"},
    {"/truncate_dim", "package.truncate_dim"}, {"/max_active_dims", "package.max_active_dims"},
    {"/max_seq_length", "max_seq_length"}, {"/max_seq_length", "model.context_length"},
};

static bool fact_of_module(const struct comparison *c, const char *pointer, char *out, size_t cap)
{
    static const char modules[] = "/modules/";
    const char *first = pointer + sizeof(modules) - 1, *rest = first;
    size_t position = 0;
    if (strncmp(pointer, modules, sizeof(modules) - 1) != 0) return false;
    for (; *rest >= '0' && *rest <= '9' && position < c->other->d->module_count; rest++)
        position = position * 10 + (size_t)(*rest - '0');
    if (rest == first || position >= c->other->d->module_count) return false;
    if (*rest == '/') rest++;
    snprintf(out, cap, "module.%u.%.*s", (unsigned)c->other->d->modules[position].index, (int)strcspn(rest, "/"), rest);
    return true;
}

/* The next name of a pointer, as it was before it was escaped. */
static void put_name(const char *pointer, char *out, size_t cap)
{
    size_t n = 0;
    for (; *pointer && *pointer != '/' && n + 1 < cap; pointer++) {
        bool escaped = *pointer == '~' && (pointer[1] == '0' || pointer[1] == '1');
        out[n++] = !escaped ? *pointer : *++pointer == '0' ? '~' : '/';
    }
    out[n] = 0;
}

/* The name of the facts about a member by row i of the sources; false: the row is of another member. */
static bool fact_of_row(size_t i, const char *pointer, char *out, size_t cap)
{
    size_t n = strlen(sources[i].pointer);
    if (strncmp(pointer, sources[i].pointer, n) != 0) return false;
    int begun = snprintf(out, cap, "%s", sources[i].name);
    if (sources[i].pointer[n - 1] == '/') put_name(pointer + n, out + begun, cap - (size_t)begun);
    return true;
}

static const struct tn_fact *first_fact(const struct comparison *c, const char *name, bool whole)
{
    for (size_t i = 0; i < c->other->fact_count; i++) {
        const struct tn_fact *fact = &c->other->facts[i];
        if (fact->origin == TN_FROM_FILE && (whole ? tn_str_is(fact->name, name) : tn_str_starts(fact->name, name))) return fact;
    }
    return NULL;
}

/* Names that packages choose are whole: one may begin with another. */
static bool is_chosen(const char *name)
{
    return strncmp(name, "prompt.", 7) == 0;
}

/* What a file says: a fact of the member's name, else one that begins with it ("pooling" has "pooling_mode"), else a neighbour. */
static const struct tn_fact *fact_named(const struct comparison *c, char *name, bool *exact)
{
    const struct tn_fact *fact = first_fact(c, name, true);
    *exact = true;
    if (!fact && !is_chosen(name)) fact = first_fact(c, name, false);
    size_t owner = strcspn(name, ".");
    char *dot = is_chosen(name) ? name + owner : strrchr(name, '.');
    if (fact || !dot) return fact;
    dot[1] = 0;
    *exact = false;
    return first_fact(c, name, false);
}

/* "/modules/1/pooling/0" has "module.1.pooling". NULL: no file says anything of the member or beside it. */
static const struct tn_fact *fact_about(const struct comparison *c, struct tn_str at, bool *exact)
{
    char pointer[POINTER_BYTES], name[POINTER_BYTES];
    const struct tn_fact *fact = NULL;
    *exact = false;
    snprintf(pointer, sizeof(pointer), "%.*s", TN_FMT_ARG(at));
    if (fact_of_module(c, pointer, name, sizeof(name))) return fact_named(c, name, exact);
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && !fact; i++)
        if (fact_of_row(i, pointer, name, sizeof(name))) fact = fact_named(c, name, exact);
    return fact;
}

static const char *root_of(const struct comparison *c)
{
    if (tn_str_is(c->other->d->dialect, "genai_config")) return "genai_config.json";
    return c->other->d->chain_document.n ? "modules.json" : "config.json";
}

/* FILE#POINTER; the document that lists the modules where no fact is about the member. */
static const char *place_by_convention(const struct comparison *c, struct tn_str at, char *out, size_t cap)
{
    bool exact;
    const struct tn_fact *fact = fact_about(c, at, &exact);
    if (fact && exact) snprintf(out, cap, "%.*s#%.*s", TN_FMT_ARG(fact->file), TN_FMT_ARG(fact->pointer));
    else if (fact) snprintf(out, cap, "%.*s", TN_FMT_ARG(fact->file));
    else snprintf(out, cap, "%s", root_of(c));
    return out;
}

/* ---- what differs ------------------------------------------------------------------------------------------------ */

/* Whether a file of the convention says this of the member. */
static bool is_said(const struct comparison *c, struct tn_str where)
{
    bool exact;
    return c->whole || (fact_about(c, where, &exact) && exact);
}

static void report(struct comparison *c, struct tn_json declared, struct tn_json other)
{
    char pointer[POINTER_BYTES], place[2 * POINTER_BYTES];
    struct tn_json at = tn_json_present(declared) ? declared : other;
    struct tn_str text = tn_json_present(declared) ? tn_json_text(declared) : TN_STR("nothing");
    struct tn_str theirs = tn_json_present(other) ? tn_json_text(other) : TN_STR("nothing");
    struct tn_str where = tn_json_pointer(at, pointer, sizeof(pointer));
    if (!is_said(c, where)) return;
    struct tn_finding *f = tn_warning(c->b, TN_METADATA_INVALID,
                                      "the declared contract decides against the convention's files");
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

static void compare_members(struct comparison *c, struct tn_json declared, struct tn_json other)
{
    for (struct tn_json v = tn_json_first(declared); tn_json_present(v); v = tn_json_next(v)) {
        bool length = tn_str_is(tn_json_key(v), "max_seq_length");
        if (c->whole || !length || is_known_length(c)) compare(c, v, tn_json_get_str(other, tn_json_key(v)), 1);
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

/* ---- what the convention's files get wrong ----------------------------------------------------------------------- */

/* Of a document, and not merely what no provider of this build runs. */
static bool is_document(const struct tn_builder *b, const struct tn_finding *f)
{
    if (f->code == TN_PROVIDER_UNAVAILABLE) return false;
    const struct tn_package_file *file = tn_inventory_file(b->inv, tn_str_of(f->file));
    return file && (file->role == TN_ROLE_CONFIG || file->role == TN_ROLE_TOKENIZER);
}

static void warn_refused(struct tn_builder *b, const struct tn_finding *from)
{
    struct tn_finding *f = tn_warning(b, from->code, "by the convention's own files alone the package would be refused: %s",
                                      from->message);
    if (!f) return;
    char message[sizeof(f->message)];
    memcpy(message, f->message, sizeof(message));
    *f = *from;
    memcpy(f->message, message, sizeof(message));
    f->severity = TN_WARNING;
    tn_remedy(f, "the contract decides: remove the documents of the convention, or correct them");
}

/* What is no document's fault is told once, as it would keep the package from running by the convention. */
static void note_refused(struct tn_builder *b, const struct tn_finding *from)
{
    struct tn_finding *f = tn_note(b, from->code, "by the convention's own files alone the package would be refused");
    tn_at_file(f, tn_str_of(from->file));
    tn_found(f, "%s", from->message);
}

static void tell_refused(struct tn_builder *b, const struct tn_findings *list)
{
    const struct tn_finding *other = NULL;
    bool told = false;
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_finding *f = &list->items[i];
        if (f->severity != TN_BLOCKER) continue;
        if (is_document(b, f)) warn_refused(b, f), told = true;
        else if (!other) other = f;
    }
    if (other && !told) note_refused(b, other);
}

/*
 * Whether what the package declares is in doubt itself; then a difference would say nothing. What this build merely does
 * not run is known all the same.
 */
static bool is_in_doubt(const struct tn_builder *b)
{
    bool empty = tn_json_count(tn_json_get(tn_json_root(&b->d->content), "components")) == 0 && b->d->component_count == 0;
    if (b->d->findings.blockers == 0) return false;
    for (size_t i = 0; i < b->d->findings.count; i++) {
        const struct tn_finding *f = &b->d->findings.items[i];
        bool known = f->code == TN_PROVIDER_UNAVAILABLE || f->code == TN_MISSING_CAPABILITY || f->code == TN_UNSUPPORTED_CONFIG;
        if (f->severity == TN_BLOCKER && !known) return true;
    }
    return !empty;
}

/* A document that does not even parse is among the inventory's findings, and says nothing at all. */
static bool is_unread(const struct tn_description *d)
{
    for (uint32_t i = 0; i < d->inv->file_count; i++)
        if (d->inv->files[i].malformed && tn_is_beside_contract(d, d->inv->files[i].path)) return true;
    return false;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void compare_with(struct tn_builder *b, const struct tn_builder *other)
{
    struct tn_json_doc declared = {0}, conventional = {0};
    struct comparison c = {.b = b, .other = other};
    c.whole = other->d->findings.blockers == 0 && !is_unread(b->d);
    tell_refused(b, &other->d->findings);
    bool stated = tn_json_present(tn_json_root(&b->d->content));
    if (stated && parsed(b, b->d, &declared) && parsed(b, other->d, &conventional))
        compare_members(&c, tn_json_root(&declared), tn_json_root(&conventional));
    tn_json_release(&declared);
    tn_json_release(&conventional);
    tn_compare_contracts(b, other);
}

void tn_compare_with_convention(struct tn_builder *b)
{
    struct tn_builder other;
    struct tn_describe_options options = *b->options;
    if (b->failed != TN_OK || is_in_doubt(b)) return;
    options.accept_loss = true; /* what the contract lost is its own affair, and is compared below */
    if (tn_builder_init(&other, b->inv, &options, b->err) != TN_OK) b->failed = other.failed;
    other.tokenizer = b->tokenizer;
    other.over_graph = b->over_graph && b->d->variant && b->d->variant->graph;
    if (other.failed == TN_OK && tn_describe_by_convention(&other) && other.failed == TN_OK) compare_with(b, &other);
    if (b->failed == TN_OK) b->failed = other.failed;
    if (other.d && other.d->findings.starved) tn_builder_no_memory(b); /* what was not told would look like agreement */
    tn_builder_release(&other);
    tn_description_free(other.d);
}
