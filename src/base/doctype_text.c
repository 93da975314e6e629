/*
 * What a finding about a document says: what stands there, what could, what to do. Values are untrusted and quoted only in
 * part; findings clean what they are given.
 */
#include "base/doctype_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tn_doc_text_add(struct tn_doc_text *t, const char *format, ...)
{
    va_list args;
    if (t->n + 1 >= sizeof(t->s)) return;
    va_start(args, format);
    int n = vsnprintf(t->s + t->n, sizeof(t->s) - t->n, format, args);
    va_end(args);
    if (n < 0) return;
    t->n += (size_t)n;
    if (t->n >= sizeof(t->s)) t->n = sizeof(t->s) - 1;
}

static void add_int_range(struct tn_doc_text *t, const struct tn_doctype *type)
{
    tn_doc_text_add(t, "a whole number");
    if (type->most == UINT64_MAX) {
        if (type->least != INT64_MIN) tn_doc_text_add(t, ", %lld or more", (long long)type->least);
    } else {
        tn_doc_text_add(t, " from %lld to %llu", (long long)type->least, (unsigned long long)type->most);
    }
}

static void add_number_range(struct tn_doc_text *t, const struct tn_doctype *type)
{
    tn_doc_text_add(t, "a number");
    if (type->low > -(double)FLT_MAX) tn_doc_text_add(t, ", %s or more", TN_F64(type->low));
    if (type->format && strcmp(type->format, "float") == 0) tn_doc_text_add(t, " that a 32-bit float holds");
}

static void add_values(struct tn_doc_text *t, const char *const *values)
{
    tn_doc_text_add(t, "one of ");
    for (size_t i = 0; values[i]; i++) tn_doc_text_add(t, "%s\"%s\"", i ? ", " : "", values[i]);
}

static void add_type(struct tn_doc_text *t, const struct tn_doctype *type)
{
    switch (type->kind) {
    case TN_DOC_ANY:
        tn_doc_text_add(t, "any value");
        break;
    case TN_DOC_NOTHING:
        tn_doc_text_add(t, "null");
        break;
    case TN_DOC_BOOL:
        tn_doc_text_add(t, "true or false");
        break;
    case TN_DOC_INT:
        add_int_range(t, type);
        break;
    case TN_DOC_NUMBER:
        add_number_range(t, type);
        break;
    case TN_DOC_STRING:
        tn_doc_text_add(t, type->min_length ? "a string that is not empty" : "a string");
        break;
    case TN_DOC_ENUM:
        if (type->open) tn_doc_text_add(t, "a string, such as ");
        add_values(t, type->values);
        break;
    case TN_DOC_LIST:
        if (type->items->kind == TN_DOC_STRING) {
            tn_doc_text_add(t, type->items->min_length ? "a list of strings that are not empty" : "a list of strings");
            break;
        }
        tn_doc_text_add(t, "a list of ");
        add_type(t, type->items);
        break;
    case TN_DOC_MAP:
        tn_doc_text_add(t, "an object by names, each ");
        add_type(t, type->items);
        break;
    case TN_DOC_OBJECT:
        tn_doc_text_add(t, "an object");
        if (type->name) tn_doc_text_add(t, " (%s)", type->name);
        break;
    case TN_DOC_UNION:
        tn_doc_text_add(t, "an object with a \"%s\"", type->tag);
        if (type->name) tn_doc_text_add(t, " (%s)", type->name);
        break;
    case TN_DOC_CHOICE:
        for (size_t i = 0; type->choices[i]; i++) {
            if (i) tn_doc_text_add(t, ", or ");
            add_type(t, type->choices[i]);
        }
        break;
    }
}

void tn_doc_expected(struct tn_finding *f, const struct tn_doctype *type)
{
    struct tn_doc_text t = {0};
    add_type(&t, type);
    tn_expected(f, "%s", t.s);
}

void tn_doc_found(struct tn_finding *f, struct tn_json v)
{
    struct tn_str s;
    bool b;
    switch (tn_json_type(v)) {
    case TN_JSON_NULL:
        tn_found(f, "null");
        break;
    case TN_JSON_BOOL:
        tn_found(f, "%s", tn_json_bool(v, &b) && b ? "true" : "false");
        break;
    case TN_JSON_NUMBER:
        s = tn_json_text(v);
        tn_found(f, "the number %.*s", (int)(s.n < 60 ? s.n : 60), s.s);
        break;
    case TN_JSON_STRING:
        tn_json_str(v, &s);
        tn_found(f, "the string \"%.*s\"%s", (int)(s.n < 100 ? s.n : 100), s.s, s.n > 100 ? ", cut here" : "");
        break;
    case TN_JSON_ARRAY:
        tn_found(f, "a list of %zu", tn_json_count(v));
        break;
    case TN_JSON_OBJECT:
        tn_found(f, "an object of %zu members", tn_json_count(v));
        break;
    }
}

struct tn_doc_label tn_doc_label_of(struct tn_json v)
{
    struct tn_doc_label l;
    struct tn_str key = tn_json_key(v);
    if (key.n) {
        snprintf(l.s, sizeof(l.s), "\"%.*s\"", (int)(key.n < 80 ? key.n : 80), key.s);
    } else {
        snprintf(l.s, sizeof(l.s), "%s", v.doc && v.node == 0 ? "the document" : "the element");
    }
    return l;
}

const char *tn_doc_name_of(const struct tn_doctype *type)
{
    return type->name ? type->name : "this object";
}

void tn_doc_advise(struct tn_finding *f, const struct tn_nearest *near, const struct tn_docfield *field)
{
    if (near && near->name) {
        tn_remedy(f, "did you mean \"%s\"?", near->name);
    } else if (field && field->note) {
        tn_remedy(f, "\"%s\": %s", field->name, field->note);
    }
}
