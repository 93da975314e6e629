/*
 * Checking a document against its table. Owns the rules that every table shares; knows no document. The value is
 * untrusted: recursion is bounded, lists are checked for repetition in n log n.
 *
 * The surprise: a member whose type is wrong is not looked into, and a tagged object whose tag is unknown is not either.
 * What stands below a misunderstood value would only be noise.
 */
#include "base/doctype.h"

#include "base/doctype_text.h"
#include "base/sort.h"

#include <stdarg.h>
#include <stdio.h>

struct check {
    struct tn_findings *findings;
    enum tn_phase phase;
    enum tn_status st;
    struct tn_doc_marks *marks; /* NULL: nobody asks */
};

/* Where a value stands: the member that holds it (of its list or map too), for the note. */
struct spot {
    const struct tn_docfield *field;
    unsigned depth;
};

static void check_value(struct check *c, struct tn_json v, const struct tn_doctype *type, struct spot at);

static void mark(struct check *c, struct tn_json v, const char *member)
{
    if (c->marks) tn_doc_mark(c->marks, v, member);
}

__attribute__((format(printf, 2, 3))) static struct tn_finding *problem(struct check *c, const char *format, ...)
{
    char message[320];
    va_list args;
    if (!c->st) c->st = TN_METADATA_INVALID;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return tn_findings_add(c->findings, TN_BLOCKER, TN_METADATA_INVALID, c->phase, "%s", message);
}

static struct tn_finding *wrong(struct check *c, struct tn_json v, const struct tn_doctype *type, struct spot at,
                                const char *what)
{
    mark(c, v, NULL);
    struct tn_finding *f = problem(c, "%s %s", tn_doc_label_of(v).s, what);
    if (!f) return NULL;
    tn_at_json(f, v);
    tn_doc_found(f, v);
    tn_doc_expected(f, type);
    tn_doc_advise(f, NULL, at.field);
    return f;
}

/* ---- plain values ---------------------------------------------------------------------------------------------------- */

static bool int_fits(struct tn_json v, const struct tn_doctype *type)
{
    int64_t i;
    uint64_t u;
    if (tn_json_i64(v, &i)) return i >= type->least && (i < 0 || (uint64_t)i <= type->most);
    return tn_json_u64(v, &u) && u <= type->most;
}

/* Whether JSON Schema would call it an integer. */
static bool is_integral(struct tn_json v)
{
    double d;
    return tn_json_is_integer(v) || (tn_json_f64(v, &d) && (d >= 9007199254740992.0 || d <= -9007199254740992.0 ||
                                                            d == (double)(int64_t)d));
}

static void check_int(struct check *c, struct tn_json v, const struct tn_doctype *type, struct spot at)
{
    if (!tn_json_is(v, TN_JSON_NUMBER)) {
        wrong(c, v, type, at, "is not a number");
    } else if (!is_integral(v)) {
        wrong(c, v, type, at, "is not a whole number");
    } else if (!int_fits(v, type)) {
        struct tn_finding *f = wrong(c, v, type, at, "is out of range");
        double value = 0;
        if (!tn_json_f64(v, &value) || value > 0) /* too large: then the bound that it passes is told */
            tn_expected(f, "a whole number from %lld to %llu", (long long)type->least, (unsigned long long)type->most);
    }
}

static void check_number(struct check *c, struct tn_json v, const struct tn_doctype *type, struct spot at)
{
    double d;
    if (!tn_json_is(v, TN_JSON_NUMBER)) {
        wrong(c, v, type, at, "is not a number");
    } else if (!tn_json_f64(v, &d) || d < type->low || d > type->high) {
        wrong(c, v, type, at, "is out of range");
    }
}

static void check_string(struct check *c, struct tn_json v, const struct tn_doctype *type, struct spot at)
{
    struct tn_str s;
    if (!tn_json_str(v, &s)) {
        wrong(c, v, type, at, "is not a string");
    } else if (s.n < type->min_length) {
        wrong(c, v, type, at, "is empty");
    }
}

static bool lists(const char *const *values, struct tn_str s)
{
    while (*values && !tn_str_is(s, *values)) values++;
    return *values != NULL;
}

/* An extension is legal; one that is spelled nearly as a known value may have been meant as that. */
static void doubtful_extension(struct check *c, struct tn_json v, const struct tn_doctype *type, const struct tn_nearest *near)
{
    struct tn_finding *f = tn_findings_add(c->findings, TN_NOTE, TN_METADATA_INVALID, c->phase,
                                           "%s has a value without a meaning here, nearly one of %s", tn_doc_label_of(v).s,
                                           tn_doc_name_of(type));
    if (!f) return;
    tn_at_json(f, v);
    tn_doc_found(f, v);
    tn_doc_advise(f, near, NULL);
}

static void check_enum(struct check *c, struct tn_json v, const struct tn_doctype *type, struct spot at)
{
    struct tn_str s;
    struct tn_nearest near = {0};
    if (!tn_json_str(v, &s)) {
        wrong(c, v, type, at, "is not a string");
        return;
    }
    if (lists(type->values, s)) return;
    for (const char *const *value = type->values; *value; value++) tn_nearest_offer(&near, s, *value);
    if (type->open) {
        if (s.n == 0) wrong(c, v, type, at, "is empty");
        else if (near.name) doubtful_extension(c, v, type, &near);
        return;
    }
    mark(c, v, NULL);
    struct tn_finding *f = problem(c, "%s has a value that %s does not know", tn_doc_label_of(v).s, tn_doc_name_of(type));
    if (!f) return;
    tn_at_json(f, v);
    tn_doc_found(f, v);
    tn_doc_expected(f, type);
    tn_doc_advise(f, &near, at.field);
}

/* ---- lists and maps --------------------------------------------------------------------------------------------------- */

enum { FEW = 32 };

static void repeated(struct check *c, struct tn_json v)
{
    mark(c, v, NULL);
    struct tn_finding *f = problem(c, "the element repeats an earlier one of the list");
    tn_at_json(f, v);
    if (f) tn_doc_found(f, v);
    tn_expected(f, "every element once");
}

struct element {
    struct tn_str s;
    uint32_t node;
};

static int element_order(const void *a, const void *b, void *context)
{
    const struct element *x = a, *y = b;
    (void)context;
    int order = tn_str_order(x->s, y->s);
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

static void find_repeated(struct check *c, struct tn_json list, struct element *elements)
{
    size_t n = 0;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        if (tn_json_str(v, &elements[n].s)) elements[n++].node = v.node;
    }
    tn_sort(elements, n, sizeof(*elements), element_order, NULL);
    for (size_t i = 1; i < n; i++) {
        if (tn_str_eq(elements[i - 1].s, elements[i].s)) repeated(c, (struct tn_json){list.doc, elements[i].node});
    }
}

static void check_unique(struct check *c, struct tn_json list)
{
    struct element few[FEW];
    size_t count = tn_json_count(list);
    if (count <= FEW) {
        find_repeated(c, list, few);
        return;
    }
    struct element *many = tn_calloc(list.doc->alloc, count, sizeof(*many));
    if (!many) {
        c->st = TN_INSUFFICIENT_MEMORY;
        return;
    }
    find_repeated(c, list, many);
    tn_free(list.doc->alloc, many);
}

static void check_list(struct check *c, struct tn_json v, const struct tn_doctype *type, struct spot at)
{
    if (!tn_json_is(v, TN_JSON_ARRAY)) {
        wrong(c, v, type, at, "is not a list");
        return;
    }
    if (tn_json_count(v) < type->min_items) {
        mark(c, v, NULL);
        struct tn_finding *f = problem(c, "%s has too few elements", tn_doc_label_of(v).s);
        tn_at_json(f, v);
        tn_found(f, "%zu", tn_json_count(v));
        tn_expected(f, "%zu or more", type->min_items);
        tn_doc_advise(f, NULL, at.field);
    }
    for (struct tn_json e = tn_json_first(v); tn_json_present(e); e = tn_json_next(e)) check_value(c, e, type->items, at);
    if (type->unique) check_unique(c, v);
}

/* What stands under no name cannot be meant by anybody. */
static void nameless(struct check *c, struct tn_json v)
{
    mark(c, v, NULL);
    struct tn_finding *f = problem(c, "something stands under an empty name");
    tn_at_json(f, v);
    tn_found(f, "the name \"\"");
    tn_expected(f, "a name that is not empty");
}

static void check_map(struct check *c, struct tn_json v, const struct tn_doctype *type, struct spot at)
{
    if (!tn_json_is(v, TN_JSON_OBJECT)) {
        wrong(c, v, type, at, "is not an object");
        return;
    }
    for (struct tn_json e = tn_json_first(v); tn_json_present(e); e = tn_json_next(e)) {
        if (type->named && tn_json_key(e).n == 0) nameless(c, e);
        check_value(c, e, type->items, at);
    }
}

/* ---- objects ---------------------------------------------------------------------------------------------------------- */

/* The members that one object may have: of an object type, or of one variant of a tagged one. */
struct members {
    const struct tn_doctype *type;
    const struct tn_docvariant *variant; /* NULL for an object type */
    const struct tn_docfield *fields;
    size_t count;
};

static size_t member_index(const struct members *m, struct tn_str key)
{
    size_t i = 0;
    while (i < m->count && !tn_str_is(key, m->fields[i].name)) i++;
    return i;
}

static void add_owner(struct tn_doc_text *t, const struct members *m)
{
    tn_doc_text_add(t, "%s", tn_doc_name_of(m->type));
    if (m->variant) tn_doc_text_add(t, " of %s \"%s\"", m->type->tag, m->variant->tag);
}

static void unknown_member(struct check *c, struct tn_json object, struct tn_json v, const struct members *m)
{
    struct tn_nearest near = {0};
    struct tn_doc_text owner = {0}, names = {0};
    add_owner(&owner, m);
    struct tn_finding *f = problem(c, "%s is not a member of %s", tn_doc_label_of(v).s, owner.s);
    if (m->variant) tn_doc_text_add(&names, "%s", m->type->tag);
    for (size_t i = 0; i < m->count; i++) {
        tn_doc_text_add(&names, "%s%s", names.n ? ", " : "", m->fields[i].name);
        tn_nearest_offer(&near, tn_json_key(v), m->fields[i].name);
    }
    /* What it may have meant is unknown; else nothing hangs on what nobody reads. */
    if (near.name && !tn_json_present(tn_json_get(object, near.name))) mark(c, object, near.name);
    if (!f) return;
    tn_at_json(f, v);
    tn_doc_found(f, v);
    tn_expected(f, names.n ? "one of %s" : "no members%s", names.s);
    if (near.name) {
        tn_doc_advise(f, &near, NULL);
    } else {
        tn_remedy(f, "remove it: what a reader does not know would be ignored, and the answer would change unseen");
    }
}

static void missing_member(struct check *c, struct tn_json object, const struct members *m, const struct tn_docfield *field,
                           const char *why)
{
    struct tn_doc_text owner = {0};
    mark(c, object, tn_json_count(object) > 0 ? field->name : NULL); /* an empty object says nothing at all */
    add_owner(&owner, m);
    struct tn_finding *f = problem(c, "%s lacks \"%s\"%s%s", owner.s, field->name, why ? ": " : "", why ? why : "");
    if (!f) return;
    tn_at_json_member(f, object, field->name);
    tn_found(f, "%s", tn_json_present(tn_json_get(object, field->name)) ? "null" : "nothing");
    tn_doc_expected(f, field->type);
    tn_doc_advise(f, NULL, field);
}

static void deprecated(struct check *c, struct tn_json v, const struct tn_docfield *field)
{
    struct tn_finding *f =
        tn_findings_add(c->findings, TN_NOTE, TN_METADATA_INVALID, c->phase, "\"%s\" is deprecated", field->name);
    tn_at_json(f, v);
    tn_doc_advise(f, NULL, field);
}

static void check_member(struct check *c, struct tn_json v, const struct tn_docfield *field, struct spot at)
{
    at.field = field;
    if (tn_json_is(v, TN_JSON_NULL) && field->flags & TN_DOC_NULLABLE) return;
    if (field->flags & TN_DOC_DEPRECATED) deprecated(c, v, field);
    check_value(c, v, field->type, at);
}

static void check_members(struct check *c, struct tn_json object, const struct members *m, struct spot at)
{
    uint64_t seen = 0;
    for (struct tn_json v = tn_json_first(object); tn_json_present(v); v = tn_json_next(v)) {
        size_t i = member_index(m, tn_json_key(v));
        if (i < m->count) {
            seen |= UINT64_C(1) << i;
            check_member(c, v, &m->fields[i], at);
        } else if (m->variant && tn_str_is(tn_json_key(v), m->type->tag)) {
            continue;
        } else if (!m->variant && m->type->items) {
            check_value(c, v, m->type->items, at);
        } else {
            unknown_member(c, object, v, m);
        }
    }
    for (size_t i = 0; i < m->count; i++) {
        if (m->fields[i].flags & TN_DOC_REQUIRED && !(seen >> i & 1)) missing_member(c, object, m, &m->fields[i], NULL);
    }
}

/* ---- rules ------------------------------------------------------------------------------------------------------------- */

static bool states(struct tn_json v)
{
    return tn_json_present(v) && !tn_json_is(v, TN_JSON_NULL);
}

static void check_condition(struct check *c, struct tn_json object, const struct members *m, const struct tn_docrule *rule)
{
    struct tn_str s;
    if (!tn_json_str(tn_json_get(object, rule->field), &s) || !tn_str_is(s, rule->value)) return;
    for (const char *const *name = rule->required; *name; name++) {
        size_t i = member_index(m, tn_str_of(*name));
        if (i < m->count && !states(tn_json_get(object, *name))) missing_member(c, object, m, &m->fields[i], rule->why);
    }
}

static void check_conflict(struct check *c, struct tn_json object, const struct tn_docrule *rule)
{
    struct tn_json second = tn_json_find(object, rule->conflict);
    if (!states(tn_json_find(object, rule->pointer)) || !states(second)) return;
    mark(c, second, NULL);
    struct tn_finding *f = problem(c, "%s stands beside %s: %s", rule->conflict, rule->pointer, rule->why);
    if (!f) return;
    tn_at_json(f, second);
    tn_doc_found(f, second);
    tn_expected(f, "nothing here while %s is there", rule->pointer);
}

static void check_object(struct check *c, struct tn_json v, const struct tn_doctype *type, struct spot at)
{
    const struct members m = {type, NULL, type->fields, type->field_count};
    if (!tn_json_is(v, TN_JSON_OBJECT)) {
        wrong(c, v, type, at, "is not an object");
        return;
    }
    if (tn_json_count(v) < type->min_items) wrong(c, v, type, at, "has too few members");
    check_members(c, v, &m, at);
    for (size_t i = 0; i < type->rule_count; i++) {
        const struct tn_docrule *rule = &type->rules[i];
        if (rule->field) {
            check_condition(c, v, &m, rule);
        } else {
            check_conflict(c, v, rule);
        }
    }
}

/* ---- tagged objects and choices ---------------------------------------------------------------------------------------- */

static void unknown_tag(struct check *c, struct tn_json object, struct tn_json tag, const struct tn_doctype *type)
{
    struct tn_nearest near = {0};
    struct tn_str s = {"", 0};
    struct tn_doc_text tags = {0};
    mark(c, object, NULL);
    struct tn_finding *f = tn_json_present(tag)
                               ? problem(c, "%s does not know this \"%s\"", tn_doc_name_of(type), type->tag)
                               : problem(c, "%s lacks \"%s\"", tn_doc_name_of(type), type->tag);
    if (!f) return;
    tn_at_json_member(f, object, type->tag);
    if (tn_json_present(tag)) {
        tn_doc_found(f, tag);
    } else {
        tn_found(f, "nothing");
    }
    tn_json_str(tag, &s);
    tn_doc_text_add(&tags, "one of ");
    for (size_t i = 0; i < type->variant_count; i++) {
        tn_doc_text_add(&tags, "%s\"%s\"", i ? ", " : "", type->variants[i].tag);
        tn_nearest_offer(&near, s, type->variants[i].tag);
    }
    tn_expected(f, "%s", tags.s);
    tn_doc_advise(f, &near, NULL);
}

static void check_union(struct check *c, struct tn_json v, const struct tn_doctype *type, struct spot at)
{
    struct tn_str s;
    if (!tn_json_is(v, TN_JSON_OBJECT)) {
        wrong(c, v, type, at, "is not an object");
        return;
    }
    struct tn_json tag = tn_json_get(v, type->tag);
    for (size_t i = 0; tn_json_str(tag, &s) && i < type->variant_count; i++) {
        const struct tn_docvariant *variant = &type->variants[i];
        if (!tn_str_is(s, variant->tag)) continue;
        const struct members m = {type, variant, variant->fields, variant->field_count};
        check_members(c, v, &m, at);
        return;
    }
    unknown_tag(c, v, tag, type);
}

/* Whether a value has the JSON type that a type takes; what it holds is checked afterwards. */
static bool takes(const struct tn_doctype *type, struct tn_json v)
{
    switch (type->kind) {
    case TN_DOC_ANY:
        return true;
    case TN_DOC_NOTHING:
        return tn_json_is(v, TN_JSON_NULL);
    case TN_DOC_BOOL:
        return tn_json_is(v, TN_JSON_BOOL);
    case TN_DOC_INT:
        return tn_json_is(v, TN_JSON_NUMBER) && is_integral(v);
    case TN_DOC_NUMBER:
        return tn_json_is(v, TN_JSON_NUMBER);
    case TN_DOC_STRING:
    case TN_DOC_ENUM:
        return tn_json_is(v, TN_JSON_STRING);
    case TN_DOC_LIST:
        return tn_json_is(v, TN_JSON_ARRAY);
    case TN_DOC_MAP:
    case TN_DOC_OBJECT:
    case TN_DOC_UNION:
        return tn_json_is(v, TN_JSON_OBJECT);
    case TN_DOC_CHOICE:
        for (size_t i = 0; type->choices[i]; i++) {
            if (takes(type->choices[i], v)) return true;
        }
        return false;
    }
    return false;
}

static bool has_required(const struct tn_doctype *type, struct tn_json v)
{
    if (type->kind == TN_DOC_UNION) return tn_json_present(tn_json_get(v, type->tag));
    for (size_t i = 0; type->kind == TN_DOC_OBJECT && i < type->field_count; i++) {
        bool required = type->fields[i].flags & TN_DOC_REQUIRED;
        if (required && !tn_json_present(tn_json_get(v, type->fields[i].name))) return false;
    }
    return true;
}

/*
 * The alternative that a value is meant to be: the last one that takes its JSON type, unless an earlier one also has its
 * required members (objects) or holds it (whole numbers beside plain ones).
 */
static const struct tn_doctype *chosen(const struct tn_doctype *type, struct tn_json v)
{
    const struct tn_doctype *best = NULL;
    for (size_t i = 0; type->choices[i]; i++) {
        const struct tn_doctype *choice = type->choices[i];
        if (!takes(choice, v)) continue;
        best = choice;
        if (tn_json_is(v, TN_JSON_OBJECT) ? has_required(choice, v) : choice->kind != TN_DOC_INT || int_fits(v, choice)) break;
    }
    return best;
}

static void too_deep(struct check *c, struct tn_json v)
{
    struct tn_finding *f = tn_findings_add(c->findings, TN_BLOCKER, TN_RESOURCE_LIMIT, c->phase, "the document nests too deep");
    c->st = TN_RESOURCE_LIMIT;
    mark(c, v, NULL);
    tn_at_json(f, v);
    tn_expected(f, "at most %d levels", TN_DOCTYPE_DEPTH);
}

static void check_value(struct check *c, struct tn_json v, const struct tn_doctype *type, struct spot at)
{
    if (++at.depth > TN_DOCTYPE_DEPTH) {
        too_deep(c, v);
        return;
    }
    switch (type->kind) {
    case TN_DOC_ANY:
        break;
    case TN_DOC_NOTHING:
        if (!tn_json_is(v, TN_JSON_NULL)) wrong(c, v, type, at, "is not null");
        break;
    case TN_DOC_BOOL:
        if (!tn_json_is(v, TN_JSON_BOOL)) wrong(c, v, type, at, "is not true or false");
        break;
    case TN_DOC_INT:
        check_int(c, v, type, at);
        break;
    case TN_DOC_NUMBER:
        check_number(c, v, type, at);
        break;
    case TN_DOC_STRING:
        check_string(c, v, type, at);
        break;
    case TN_DOC_ENUM:
        check_enum(c, v, type, at);
        break;
    case TN_DOC_LIST:
        check_list(c, v, type, at);
        break;
    case TN_DOC_MAP:
        check_map(c, v, type, at);
        break;
    case TN_DOC_OBJECT:
        check_object(c, v, type, at);
        break;
    case TN_DOC_UNION:
        check_union(c, v, type, at);
        break;
    case TN_DOC_CHOICE: {
        const struct tn_doctype *choice = chosen(type, v);
        if (choice) {
            check_value(c, v, choice, at);
        } else {
            wrong(c, v, type, at, "has the wrong type");
        }
        break;
    }
    }
}

enum tn_status tn_doctype_check_marked(struct tn_json value, const struct tn_doctype *type, enum tn_phase phase,
                                       struct tn_findings *findings, struct tn_doc_marks *marks)
{
    struct check c = {findings, phase, TN_OK, marks};
    if (tn_json_present(value)) {
        check_value(&c, value, type, (struct spot){0});
    } else {
        problem(&c, "the document is empty");
    }
    if (marks && !tn_doc_marks_sort(marks)) c.st = TN_INSUFFICIENT_MEMORY;
    return c.st;
}

enum tn_status tn_doctype_check(struct tn_json value, const struct tn_doctype *type, enum tn_phase phase,
                                struct tn_findings *findings)
{
    return tn_doctype_check_marked(value, type, phase, findings, NULL);
}

const struct tn_docfield *tn_doctype_field(const struct tn_doctype *type, struct tn_str name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (tn_str_is(name, type->fields[i].name)) return &type->fields[i];
    }
    return NULL;
}
