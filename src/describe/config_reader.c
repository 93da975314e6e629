/*
 * Reads a configuration document by tables: every member is matched by a row or refused, every understood field is
 * checked for type, range and accepted values, every absent one takes its published default. The tables are ours and
 * trusted; the document is not. All problems of a document are reported in one pass.
 *
 * The one surprising decision: an assertion ("--descriptive /x") reaches unknown fields only. A field that a table
 * knows is known to matter, or known not to, and the caller cannot say otherwise.
 */
#include "describe/builder.h"

#include <string.h>

enum { POINTER_BYTES = 256, NESTING = 8 };

/* ---- accepted values -------------------------------------------------------------------------------------------- */

/* One accepted value of a table against a value of a document. */
static bool same_value(struct tn_str text, struct tn_json v)
{
    enum tn_json_type type = tn_json_type(v);
    struct tn_str s;
    double a, b;
    if (tn_str_is(text, "null")) return type == TN_JSON_NULL;
    if (tn_str_is(text, "{}")) return type == TN_JSON_OBJECT && tn_json_count(v) == 0;
    if (tn_str_is(text, "[]")) return type == TN_JSON_ARRAY && tn_json_count(v) == 0;
    if (type == TN_JSON_BOOL) return tn_str_eq(text, tn_json_text(v));
    if (text.n >= 2 && text.s[0] == '"')
        return tn_json_str(v, &s) && tn_str_eq((struct tn_str){text.s + 1, text.n - 2}, s);
    return tn_json_f64(v, &a) && tn_parse_f64(text, &b) && a == b;
}

/* Walks "a | b | c"; false at the end. */
static bool next_alternative(const char **rest, struct tn_str *out)
{
    if (!*rest) return false;
    const char *end = strstr(*rest, " | ");
    out->s = *rest;
    out->n = end ? (size_t)(end - *rest) : strlen(*rest);
    *rest = end ? end + 3 : NULL;
    return true;
}

static bool accepts(const char *accepted, struct tn_json v)
{
    struct tn_str one;
    while (next_alternative(&accepted, &one))
        if (same_value(one, v)) return true;
    return false;
}

/* A list has been brought into the one form that a table holds. */
static bool accepts_words(const char *accepted, struct tn_str words)
{
    struct tn_str one;
    while (next_alternative(&accepted, &one))
        if (one.n >= 2 && tn_str_eq((struct tn_str){one.s + 1, one.n - 2}, words)) return true;
    return false;
}

static bool accepts_null(const struct tn_schema_field *row)
{
    const char *rest = row->accepted;
    struct tn_str one;
    while (next_alternative(&rest, &one))
        if (tn_str_is(one, "null")) return true;
    return false;
}

/* "null" alone lets any value of the type through, and null. */
static bool limits_values(const struct tn_schema_field *row)
{
    return row->accepted && strcmp(row->accepted, "null") != 0;
}

/* ---- one value -------------------------------------------------------------------------------------------------- */

static const char *type_text(enum tn_field_type type)
{
    switch (type) {
    case TN_TYPE_BOOL: return "true or false";
    case TN_TYPE_UINT: return "a whole number, not negative";
    case TN_TYPE_NUMBER: return "a number";
    case TN_TYPE_STRING: return "a string";
    case TN_TYPE_WORDS: return "a string, or a list of strings";
    case TN_TYPE_ANY: break;
    }
    return "any value";
}

/* Appends the words of "a | b" to out, joined by "|". */
static bool add_words(struct tn_buf *out, struct tn_str s)
{
    for (size_t begin = 0, end; begin <= s.n; begin = end + 1) {
        for (end = begin; end < s.n && s.s[end] != '|'; end++) {}
        size_t from = begin, to = end;
        while (from < to && s.s[from] == ' ') from++;
        while (to > from && s.s[to - 1] == ' ') to--;
        if (from == to) continue;
        if (out->len > 0) tn_buf_putc(out, '|');
        tn_buf_append(out, s.s + from, to - from);
    }
    return true;
}

static bool words(struct tn_builder *b, struct tn_json v, struct tn_str *out)
{
    struct tn_buf text;
    struct tn_str s;
    bool good = true;
    tn_buf_init(&text, b->alloc, (size_t)b->inv->ctx->limits.json_bytes);
    if (tn_json_is(v, TN_JSON_ARRAY)) {
        for (struct tn_json e = tn_json_first(v); good && tn_json_present(e); e = tn_json_next(e))
            good = tn_json_str(e, &s) && add_words(&text, s);
    } else {
        good = tn_json_str(v, &s) && add_words(&text, s);
    }
    if (tn_buf_status(&text) == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(b);
    *out = tn_builder_str(b, (struct tn_str){text.len ? text.data : "", text.len});
    tn_buf_release(&text);
    return good;
}

static bool typed(struct tn_builder *b, enum tn_field_type type, struct tn_json v, struct tn_value *out)
{
    *out = (struct tn_value){.type = type, .present = true};
    switch (type) {
    case TN_TYPE_BOOL: return tn_json_bool(v, &out->b);
    case TN_TYPE_UINT: return tn_json_u64(v, &out->u);
    case TN_TYPE_NUMBER: return tn_json_f64(v, &out->f);
    case TN_TYPE_STRING:
        if (!tn_json_str(v, &out->s)) return false;
        out->s = tn_builder_str(b, out->s);
        return true;
    case TN_TYPE_WORDS: return words(b, v, &out->s);
    case TN_TYPE_ANY: return true;
    }
    return false;
}

/* A default of a table; the tables are held against this by a test. */
static struct tn_value literal(enum tn_field_type type, const char *text)
{
    struct tn_value value = {.type = type, .present = strcmp(text, "null") != 0};
    struct tn_str s = tn_str_of(text);
    double number;
    if (!value.present) return value;
    switch (type) {
    case TN_TYPE_BOOL: value.b = tn_str_is(s, "true"); break;
    case TN_TYPE_UINT:
        if (tn_parse_f64(s, &number)) value.u = (uint64_t)number;
        break;
    case TN_TYPE_NUMBER: (void)tn_parse_f64(s, &value.f); break;
    case TN_TYPE_STRING:
    case TN_TYPE_WORDS: value.s = (struct tn_str){s.s + 1, s.n - 2}; break;
    case TN_TYPE_ANY: break;
    }
    return value;
}

static bool in_range(const struct tn_schema_field *row, const struct tn_value *value)
{
    if (row->low == 0 && row->high == 0) return true;
    if (row->type == TN_TYPE_UINT) return (double)value->u >= row->low && (double)value->u <= row->high;
    return value->f >= row->low && value->f <= row->high;
}

static struct tn_finding *refuse(struct tn_builder *b, struct tn_json v, const char *what)
{
    char pointer[POINTER_BYTES];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "%.*s in %.*s %s", TN_FMT_ARG(at),
                                      TN_FMT_ARG(v.doc->file), what);
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    return f;
}

bool tn_config_check(struct tn_builder *b, const struct tn_schema_field *row, struct tn_json v, struct tn_value *out)
{
    if (tn_json_type(v) == TN_JSON_NULL && accepts_null(row)) {
        *out = (struct tn_value){.type = row->type};
        return true;
    }
    if (!typed(b, row->type, v, out)) {
        tn_expected(refuse(b, v, "has the wrong type"), "%s", limits_values(row) ? row->accepted : type_text(row->type));
        return false;
    }
    if (!in_range(row, out)) {
        tn_expected(refuse(b, v, "is out of range"), "%.0f to %.0f", row->low, row->high);
        return false;
    }
    if (limits_values(row) &&
        !(row->type == TN_TYPE_WORDS ? accepts_words(row->accepted, out->s) : accepts(row->accepted, v))) {
        tn_expected(refuse(b, v, "has a value that this build does not implement"), "%s", row->accepted);
        return false;
    }
    return true;
}

/* ---- assertions ------------------------------------------------------------------------------------------------- */

/* "/x" names the field in whatever document has it, "config.json#/x" in one. */
static bool names_field(struct tn_str assertion, struct tn_str file, struct tn_str pointer)
{
    if (tn_str_eq(assertion, pointer)) return true;
    return assertion.n == file.n + 1 + pointer.n && memcmp(assertion.s, file.s, file.n) == 0 &&
           assertion.s[file.n] == '#' && memcmp(assertion.s + file.n + 1, pointer.s, pointer.n) == 0;
}

bool tn_asserted(struct tn_builder *b, struct tn_str file, struct tn_str pointer, bool allowed)
{
    bool asserted = false;
    for (size_t i = 0; i < b->options->descriptive_count; i++) {
        if (!names_field(tn_str_of(b->options->descriptive[i]), file, pointer)) continue;
        asserted = true;
        if (allowed) b->assertions[i] = TN_ASSERTION_USED;
        else if (b->assertions[i] == TN_ASSERTION_UNUSED) b->assertions[i] = TN_ASSERTION_REFUSED;
    }
    return asserted && allowed;
}

void tn_assertions_check(struct tn_builder *b)
{
    for (size_t i = 0; i < b->options->descriptive_count; i++) {
        const char *pointer = b->options->descriptive[i];
        struct tn_finding *f = NULL;
        if (b->assertions[i] == TN_ASSERTION_REFUSED) {
            f = tn_blocker(b, TN_UNSUPPORTED_OPTION, "the field %s is known and cannot be asserted descriptive", pointer);
            tn_remedy(f, "leave the option out; change the field in the package if its value is wrong");
        } else if (b->assertions[i] == TN_ASSERTION_UNUSED) {
            f = tn_blocker(b, TN_UNSUPPORTED_OPTION, "no unknown field %s in any document of the package", pointer);
            tn_remedy(f, "leave the option out, or name a field as the refusal printed it");
        }
        tn_at_option(f, "descriptive");
        tn_found(f, "%s", pointer);
    }
}

struct tn_finding *tn_unknown_field(struct tn_builder *b, struct tn_json value, struct tn_str pointer, const char *nearest)
{
    struct tn_str file = value.doc->file;
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "unknown field %.*s in %.*s", TN_FMT_ARG(pointer),
                                      TN_FMT_ARG(file));
    tn_at_json(f, value);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(value)));
    if (nearest) tn_expected(f, "a known field; the nearest is %s", nearest);
    tn_remedy(f, "if it never changes an answer: --descriptive %.*s", TN_FMT_ARG(pointer));
    return f;
}

/* ---- the document ----------------------------------------------------------------------------------------------- */

static const struct tn_schema_field *row_at(const struct tn_config_source *source, size_t i)
{
    size_t own = source->schema->field_count;
    return i < own ? &source->schema->fields[i] : &source->common[i - own];
}

static size_t row_count(const struct tn_config_source *source)
{
    return source->schema->field_count + (source->common ? source->common_count : 0);
}

static const struct tn_schema_field *find_row(const struct tn_config_source *source, struct tn_str pointer)
{
    for (size_t i = 0; i < row_count(source); i++)
        if (tn_str_is(pointer, row_at(source, i)->pointer)) return row_at(source, i);
    return NULL;
}

bool tn_config_knows(const struct tn_schema *schema, struct tn_str pointer)
{
    struct tn_config_source source = {
        .schema = schema, .common = tn_transformers_common_fields, .common_count = tn_transformers_common_field_count};
    return find_row(&source, pointer) != NULL;
}

/* Whether some row lies below: then the object is a container and not a field. */
static bool has_rows_below(const struct tn_config_source *source, struct tn_str pointer)
{
    for (size_t i = 0; i < row_count(source); i++) {
        const char *p = row_at(source, i)->pointer;
        if (strlen(p) > pointer.n && memcmp(p, pointer.s, pointer.n) == 0 && p[pointer.n] == '/') return true;
    }
    return false;
}

static const char *nearest_field(const struct tn_config_source *source, struct tn_str pointer)
{
    const char *nearest = NULL;
    size_t best = 3;
    for (size_t i = 0; i < row_count(source); i++) {
        size_t distance = tn_edit_distance(pointer, tn_str_of(row_at(source, i)->pointer));
        if (distance < best) {
            best = distance;
            nearest = row_at(source, i)->pointer;
        }
    }
    return nearest;
}

static void unknown_member(struct tn_builder *b, const struct tn_config_source *source, struct tn_json v,
                           struct tn_str pointer)
{
    char whole[POINTER_BYTES];
    struct tn_str absolute = tn_json_pointer(v, whole, sizeof(whole));
    if (!tn_asserted(b, v.doc->file, absolute, true)) {
        tn_unknown_field(b, v, absolute, nearest_field(source, pointer));
        return;
    }
    tn_fact_of_text(b, TN_FROM_USER, v.doc->file, absolute, tn_json_text(v), source->rule, true, "%s.%.*s",
                    source->prefix, TN_FMT_ARG(tn_json_key(v)));
}

/* Descriptive and semantic members; the understood ones are read by row, not by member. */
static void known_member(struct tn_builder *b, const struct tn_config_source *source,
                         const struct tn_schema_field *row, struct tn_json v)
{
    char pointer[POINTER_BYTES];
    (void)tn_asserted(b, v.doc->file, tn_json_pointer(v, pointer, sizeof(pointer)), false);
    if (row->kind == TN_FIELD_UNDERSTOOD) return;
    if (row->kind == TN_FIELD_SEMANTIC && !accepts(row->accepted, v)) {
        tn_expected(refuse(b, v, "would change answers in a way that is not implemented"), "%s", row->accepted);
        return;
    }
    tn_fact_of_json(b, v, source->rule, true, "%s.%s", source->prefix, row->name);
}

/* `skip` is the length of the root's own pointer: rows are relative to the root, which may be an array's element. */
static void read_members(struct tn_builder *b, const struct tn_config_source *source, struct tn_json object, size_t skip,
                         unsigned depth)
{
    char pointer[POINTER_BYTES];
    for (struct tn_json v = tn_json_first(object); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
        at.s += skip;
        at.n -= skip;
        const struct tn_schema_field *row = find_row(source, at);
        /* Rows below come first: an object that a common row refuses as a whole may be what a family reads in parts. */
        if (tn_json_is(v, TN_JSON_OBJECT) && depth < NESTING && has_rows_below(source, at))
            read_members(b, source, v, skip, depth + 1);
        else if (row) known_member(b, source, row, v);
        else unknown_member(b, source, v, at);
    }
}

/* ---- understood fields ------------------------------------------------------------------------------------------ */

static void missing_field(struct tn_builder *b, const struct tn_config_source *source, const struct tn_schema_field *row)
{
    struct tn_str file = source->root.doc ? source->root.doc->file : TN_STR("");
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "%s is missing in %.*s", row->pointer, TN_FMT_ARG(file));
    if (source->root.doc) tn_at_json_member(f, source->root, row->pointer + 1);
    tn_found(f, "nothing");
    tn_expected(f, "%s", row->accepted ? row->accepted : type_text(row->type));
}

static void contradiction(struct tn_builder *b, struct tn_json first, struct tn_json second)
{
    struct tn_finding *f =
        tn_blocker(b, TN_UNSUPPORTED_CONFIG, "%.*s and %.*s in %.*s are one field and hold different values",
                   TN_FMT_ARG(tn_json_key(first)), TN_FMT_ARG(tn_json_key(second)), TN_FMT_ARG(first.doc->file));
    tn_at_json(f, second);
    tn_found(f, "%.*s and %.*s", TN_FMT_ARG(tn_json_text(first)), TN_FMT_ARG(tn_json_text(second)));
    tn_expected(f, "one value");
}

static bool same_typed(const struct tn_value *a, const struct tn_value *b)
{
    return a->present == b->present && a->b == b->b && a->u == b->u && a->f == b->f && tn_str_eq(a->s, b->s);
}

/* Resolves the group of rows that share rows[first].name into one value. */
static void resolve(struct tn_builder *b, const struct tn_config_source *source, size_t first, struct tn_value *values)
{
    const struct tn_schema_field *rows = source->schema->fields;
    struct tn_json chosen = {NULL, 0};
    struct tn_value value = {.type = rows[first].type}, other;
    bool stated = false;
    for (size_t i = first; i < source->schema->field_count; i++) {
        if (strcmp(rows[i].name, rows[first].name) != 0) continue;
        struct tn_json v = tn_json_find(source->root, rows[i].pointer);
        if (!tn_json_present(v)) continue;
        stated = true;
        if (!tn_config_check(b, &rows[i], v, &other)) continue;
        if (!tn_json_present(chosen)) {
            chosen = v;
            value = other;
        } else if (!same_typed(&value, &other)) {
            contradiction(b, chosen, v);
        }
    }
    if (tn_json_present(chosen)) {
        tn_fact_of_json(b, chosen, source->rule, false, "%s.%s", source->prefix, rows[first].name);
    } else if (!stated && rows[first].absent) {
        value = literal(rows[first].type, rows[first].absent);
        tn_fact_of_default(b, source->schema->id, rows[first].absent, source->rule, "%s.%s", source->prefix,
                           rows[first].name);
    } else if (!stated) {
        missing_field(b, source, &rows[first]);
    }
    for (size_t i = first; i < source->schema->field_count; i++)
        if (strcmp(rows[i].name, rows[first].name) == 0) values[i] = value;
}

bool tn_schema_states(const struct tn_schema *schema, size_t i)
{
    if (schema->fields[i].kind != TN_FIELD_UNDERSTOOD || schema->fields[i].type == TN_TYPE_ANY) return false;
    for (size_t k = 0; k < i; k++)
        if (strcmp(schema->fields[k].name, schema->fields[i].name) == 0) return false;
    return true;
}

void tn_config_read(struct tn_builder *b, const struct tn_config_source *source, struct tn_value *values)
{
    if (b->failed != TN_OK) return;
    for (size_t i = 0; i < source->schema->field_count; i++)
        if (tn_schema_states(source->schema, i)) resolve(b, source, i, values);
    char pointer[POINTER_BYTES];
    read_members(b, source, source->root, tn_json_pointer(source->root, pointer, sizeof(pointer)).n, 0);
}

const struct tn_value *tn_schema_value(const struct tn_schema *schema, const struct tn_value *values, const char *name)
{
    for (size_t i = 0; i < schema->field_count; i++)
        if (strcmp(schema->fields[i].name, name) == 0) return &values[i];
    return NULL;
}
