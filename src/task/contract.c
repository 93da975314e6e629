/*
 * Contracts as documents. What a request may contain is written from the table that checks requests, so that the two cannot
 * disagree; what a result means is each task's own text.
 */
#include "task/contract.h"

#include <stdarg.h>
#include <stdio.h>

struct words {
    char s[512];
    size_t n;
};

static void add(struct words *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct words *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->s + t->n, sizeof(t->s) - t->n, format, args);
    va_end(args);
    if (n > 0) t->n += (size_t)n < sizeof(t->s) - t->n ? (size_t)n : sizeof(t->s) - 1 - t->n;
}

static void type_words(struct words *t, const struct tn_doctype *type);

static void add_values(struct words *t, const char *const *values)
{
    for (size_t i = 0; values[i]; i++) add(t, "%s%s", i ? " | " : "", values[i]);
}

static void add_choices(struct words *t, const struct tn_doctype *const *choices)
{
    for (size_t i = 0; choices[i]; i++) {
        if (i) add(t, " | ");
        type_words(t, choices[i]);
    }
}

/* Members that may be absent with a question mark; their types only where they are not plain texts. */
static void add_object(struct words *t, const struct tn_doctype *type)
{
    add(t, "{");
    for (size_t i = 0; i < type->field_count; i++)
        add(t, "%s%s%s", i ? ", " : "", type->fields[i].name, type->fields[i].flags & TN_DOC_REQUIRED ? "" : "?");
    add(t, "}");
}

static void type_words(struct words *t, const struct tn_doctype *type)
{
    switch (type->kind) {
    case TN_DOC_STRING: add(t, "text"); break;
    case TN_DOC_BOOL: add(t, "true | false"); break;
    case TN_DOC_INT: add(t, "%lld..%llu", (long long)type->least, (unsigned long long)type->most); break;
    case TN_DOC_NUMBER: add(t, "number"); break;
    case TN_DOC_ENUM: add_values(t, type->values); break;
    case TN_DOC_OBJECT: add_object(t, type); break;
    case TN_DOC_CHOICE: add_choices(t, type->choices); break;
    case TN_DOC_LIST:
        add(t, "[");
        type_words(t, type->items);
        add(t, ", ...]");
        break;
    case TN_DOC_MAP:
        add(t, "{name: ");
        type_words(t, type->items);
        add(t, ", ...}");
        break;
    case TN_DOC_NOTHING: add(t, "null"); break;
    case TN_DOC_ANY:
    case TN_DOC_UNION: add(t, "value"); break;
    }
}

static void write_member(struct tn_json_writer *w, const struct tn_docfield *field)
{
    struct words type = {.n = 0};
    type_words(&type, field->type);
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "name", field->name);
    tn_jw_member_cstr(w, "type", type.s);
    tn_jw_member_bool(w, "required", (field->flags & TN_DOC_REQUIRED) != 0);
    tn_jw_key(w, "absent");
    tn_jw_raw(w, field->absent ? tn_str_of(field->absent) : TN_STR("null"));
    tn_jw_member_cstr(w, "meaning", field->note ? field->note : field->type->note);
    tn_jw_end_object(w);
}

void tn_contract_request(struct tn_json_writer *w, const struct tn_doctype *request)
{
    tn_jw_key(w, "request");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < request->field_count; i++) write_member(w, &request->fields[i]);
    tn_jw_end_array(w);
}

void tn_contract_field(struct tn_json_writer *w, const char *name, const char *type, const char *meaning)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "name", name);
    tn_jw_member_cstr(w, "type", type);
    tn_jw_member_cstr(w, "meaning", meaning);
    tn_jw_end_object(w);
}

void tn_contract_invariants(struct tn_json_writer *w, const char *items)
{
    tn_jw_key(w, "invariants");
    tn_jw_begin_object(w);
    tn_jw_member_bool(w, "batch_invariant", true);
    tn_jw_member_cstr(w, "items", items);
    tn_jw_end_object(w);
}
