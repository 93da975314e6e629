/*
 * Tables as JSON Schema, draft 2020-12. What is printed accepts what tn_doctype_check accepts: the widths of numbers
 * appear as ranges, rules read null as absence. Members keep the order of the table, definitions are sorted by name.
 */
#include "base/doctype.h"

#include "base/sort.h"

#include <stdio.h>
#include <string.h>

struct defs {
    const struct tn_doctype *types[TN_DOCTYPE_DEFS];
    size_t count;
    bool full;
};

/* ---- what a root reaches ----------------------------------------------------------------------------------------------- */

static void collect(struct defs *d, const struct tn_doctype *type);

static void collect_fields(struct defs *d, const struct tn_docfield *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) collect(d, fields[i].type);
}

static void collect_below(struct defs *d, const struct tn_doctype *type)
{
    if (type->items) collect(d, type->items);
    collect_fields(d, type->fields, type->field_count);
    for (size_t i = 0; i < type->variant_count; i++) {
        collect_fields(d, type->variants[i].fields, type->variants[i].field_count);
    }
    for (size_t i = 0; type->choices && type->choices[i]; i++) collect(d, type->choices[i]);
}

/* Recursion ends at named types that are there already; unnamed ones cannot contain themselves. */
static void collect(struct defs *d, const struct tn_doctype *type)
{
    if (type->name) {
        for (size_t i = 0; i < d->count; i++) {
            if (d->types[i] == type) return;
        }
        if (d->count == TN_DOCTYPE_DEFS) {
            d->full = true;
            return;
        }
        d->types[d->count++] = type;
    }
    collect_below(d, type);
}

static int by_name(const void *a, const void *b, void *context)
{
    const struct tn_doctype *const *x = a, *const *y = b;
    (void)context;
    return strcmp((*x)->name, (*y)->name);
}

/* ---- plain types ------------------------------------------------------------------------------------------------------- */

static void print_body(struct tn_json_writer *w, const struct tn_doctype *type, bool nullable);
static void print_use(struct tn_json_writer *w, const struct tn_doctype *type);

static void print_type(struct tn_json_writer *w, const char *name, bool nullable)
{
    if (!nullable) {
        tn_jw_member_cstr(w, "type", name);
        return;
    }
    tn_jw_key(w, "type");
    tn_jw_begin_array(w);
    tn_jw_cstr(w, name);
    tn_jw_cstr(w, "null");
    tn_jw_end_array(w);
}

static void print_int(struct tn_json_writer *w, const struct tn_doctype *type, bool nullable)
{
    print_type(w, "integer", nullable);
    if (type->format) tn_jw_member_cstr(w, "format", type->format);
    tn_jw_key(w, "minimum");
    tn_jw_i64(w, type->least);
    tn_jw_member_u64(w, "maximum", type->most);
}

static void print_number(struct tn_json_writer *w, const struct tn_doctype *type, bool nullable)
{
    print_type(w, "number", nullable);
    if (type->format) tn_jw_member_cstr(w, "format", type->format);
    if (type->low > -DBL_MAX) tn_jw_member_f64(w, "minimum", type->low);
    if (type->high < DBL_MAX) tn_jw_member_f64(w, "maximum", type->high);
}

static void print_enum(struct tn_json_writer *w, const struct tn_doctype *type, bool nullable)
{
    if (!type->open && !nullable && !type->values[1]) {
        tn_jw_member_cstr(w, "const", type->values[0]);
        return;
    }
    if (type->open) {
        print_type(w, "string", nullable);
        tn_jw_member_u64(w, "minLength", 1);
        tn_jw_key(w, "examples");
    } else {
        tn_jw_key(w, "enum");
    }
    tn_jw_begin_array(w);
    for (const char *const *value = type->values; *value; value++) tn_jw_cstr(w, *value);
    if (nullable && !type->open) tn_jw_null(w);
    tn_jw_end_array(w);
}

static void print_list(struct tn_json_writer *w, const struct tn_doctype *type, bool nullable)
{
    print_type(w, "array", nullable);
    tn_jw_key(w, "items");
    print_use(w, type->items);
    if (type->min_items) tn_jw_member_u64(w, "minItems", type->min_items);
    if (type->unique) tn_jw_member_bool(w, "uniqueItems", true);
}

/* ---- objects ------------------------------------------------------------------------------------------------------------ */

/* A use of a type: a reference when it has a name. The caller has begun the object. */
static void print_use_members(struct tn_json_writer *w, const struct tn_doctype *type, bool nullable)
{
    char ref[128];
    if (!type->name) {
        print_body(w, type, nullable);
        return;
    }
    snprintf(ref, sizeof(ref), "#/$defs/%s", type->name);
    if (!nullable) {
        tn_jw_member_cstr(w, "$ref", ref);
        return;
    }
    tn_jw_key(w, "anyOf");
    tn_jw_begin_array(w);
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "$ref", ref);
    tn_jw_end_object(w);
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "type", "null");
    tn_jw_end_object(w);
    tn_jw_end_array(w);
}

static void print_use(struct tn_json_writer *w, const struct tn_doctype *type)
{
    tn_jw_begin_object(w);
    print_use_members(w, type, false);
    tn_jw_end_object(w);
}

static void print_field(struct tn_json_writer *w, const struct tn_docfield *field)
{
    tn_jw_key(w, field->name);
    tn_jw_begin_object(w);
    if (field->note) tn_jw_member_cstr(w, "description", field->note);
    print_use_members(w, field->type, (field->flags & TN_DOC_NULLABLE) != 0);
    if (field->absent) {
        tn_jw_key(w, "default");
        tn_jw_raw(w, tn_str_of(field->absent));
    }
    if (field->flags & TN_DOC_DEPRECATED) tn_jw_member_bool(w, "deprecated", true);
    tn_jw_end_object(w);
}

static void print_required(struct tn_json_writer *w, const struct tn_docfield *fields, size_t count, const char *tag)
{
    bool any = tag != NULL;
    for (size_t i = 0; i < count; i++) any |= (fields[i].flags & TN_DOC_REQUIRED) != 0;
    if (!any) return;
    tn_jw_key(w, "required");
    tn_jw_begin_array(w);
    if (tag) tn_jw_cstr(w, tag);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].flags & TN_DOC_REQUIRED) tn_jw_cstr(w, fields[i].name);
    }
    tn_jw_end_array(w);
}

static void print_tag(struct tn_json_writer *w, const char *name, const char *value)
{
    tn_jw_key(w, name);
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "const", value);
    tn_jw_end_object(w);
}

/* {"not": {"type": "null"}} */
static void print_stated(struct tn_json_writer *w)
{
    tn_jw_begin_object(w);
    tn_jw_key(w, "not");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "type", "null");
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

/* ---- rules -------------------------------------------------------------------------------------------------------------- */

static void print_condition(struct tn_json_writer *w, const struct tn_docrule *rule)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "description", rule->why);
    tn_jw_key(w, "if");
    tn_jw_begin_object(w);
    tn_jw_key(w, "properties");
    tn_jw_begin_object(w);
    print_tag(w, rule->field, rule->value);
    tn_jw_end_object(w);
    tn_jw_key(w, "required");
    tn_jw_begin_array(w);
    tn_jw_cstr(w, rule->field);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
    tn_jw_key(w, "then");
    tn_jw_begin_object(w);
    tn_jw_key(w, "properties");
    tn_jw_begin_object(w);
    for (const char *const *name = rule->required; *name; name++) {
        tn_jw_key(w, *name);
        print_stated(w);
    }
    tn_jw_end_object(w);
    tn_jw_key(w, "required");
    tn_jw_begin_array(w);
    for (const char *const *name = rule->required; *name; name++) tn_jw_cstr(w, *name);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

/* A schema that holds when the pointer names something that is not null. */
static void print_pointer(struct tn_json_writer *w, const char *pointer)
{
    if (!*pointer) {
        print_stated(w);
        return;
    }
    const char *end = strchr(pointer + 1, '/');
    struct tn_str name = {pointer + 1, end ? (size_t)(end - pointer - 1) : strlen(pointer + 1)};
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "type", "object");
    tn_jw_key(w, "properties");
    tn_jw_begin_object(w);
    tn_jw_key_str(w, name);
    print_pointer(w, end ? end : "");
    tn_jw_end_object(w);
    tn_jw_key(w, "required");
    tn_jw_begin_array(w);
    tn_jw_str(w, name);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}

static void print_conflict(struct tn_json_writer *w, const struct tn_docrule *rule)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "description", rule->why);
    tn_jw_key(w, "not");
    tn_jw_begin_object(w);
    tn_jw_key(w, "allOf");
    tn_jw_begin_array(w);
    print_pointer(w, rule->pointer);
    print_pointer(w, rule->conflict);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

static void print_rules(struct tn_json_writer *w, const struct tn_doctype *type)
{
    if (type->rule_count == 0) return;
    tn_jw_key(w, "allOf");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < type->rule_count; i++) {
        if (type->rules[i].field) {
            print_condition(w, &type->rules[i]);
        } else {
            print_conflict(w, &type->rules[i]);
        }
    }
    tn_jw_end_array(w);
}

/* ---- bodies ------------------------------------------------------------------------------------------------------------- */

/* "propertyNames": {"minLength": 1} */
static void print_names(struct tn_json_writer *w)
{
    tn_jw_key(w, "propertyNames");
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "minLength", 1);
    tn_jw_end_object(w);
}

static void print_object(struct tn_json_writer *w, const struct tn_doctype *type, bool nullable)
{
    print_type(w, "object", nullable);
    tn_jw_key(w, "properties");
    tn_jw_begin_object(w);
    for (size_t i = 0; i < type->field_count; i++) print_field(w, &type->fields[i]);
    tn_jw_end_object(w);
    print_required(w, type->fields, type->field_count, NULL);
    tn_jw_key(w, "additionalProperties");
    if (type->items) {
        print_use(w, type->items);
    } else {
        tn_jw_bool(w, false);
    }
    if (type->min_items) tn_jw_member_u64(w, "minProperties", type->min_items);
    print_rules(w, type);
}

static void print_variant(struct tn_json_writer *w, const struct tn_doctype *type, const struct tn_docvariant *variant)
{
    tn_jw_begin_object(w);
    if (variant->note) tn_jw_member_cstr(w, "description", variant->note);
    print_type(w, "object", false);
    tn_jw_key(w, "properties");
    tn_jw_begin_object(w);
    print_tag(w, type->tag, variant->tag);
    for (size_t i = 0; i < variant->field_count; i++) print_field(w, &variant->fields[i]);
    tn_jw_end_object(w);
    print_required(w, variant->fields, variant->field_count, type->tag);
    tn_jw_member_bool(w, "additionalProperties", false);
    tn_jw_end_object(w);
}

static void print_null_alternative(struct tn_json_writer *w, bool nullable)
{
    if (!nullable) return;
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "type", "null");
    tn_jw_end_object(w);
}

static void print_union(struct tn_json_writer *w, const struct tn_doctype *type, bool nullable)
{
    tn_jw_key(w, "oneOf");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < type->variant_count; i++) print_variant(w, type, &type->variants[i]);
    print_null_alternative(w, nullable);
    tn_jw_end_array(w);
}

static void print_choice(struct tn_json_writer *w, const struct tn_doctype *type, bool nullable)
{
    tn_jw_key(w, "anyOf");
    tn_jw_begin_array(w);
    for (size_t i = 0; type->choices[i]; i++) print_use(w, type->choices[i]);
    print_null_alternative(w, nullable);
    tn_jw_end_array(w);
}

/* Members of a schema object that the caller has begun. */
static void print_body(struct tn_json_writer *w, const struct tn_doctype *type, bool nullable)
{
    switch (type->kind) {
    case TN_DOC_ANY:
        break;
    case TN_DOC_NOTHING:
        print_type(w, "null", false);
        break;
    case TN_DOC_BOOL:
        print_type(w, "boolean", nullable);
        break;
    case TN_DOC_INT:
        print_int(w, type, nullable);
        break;
    case TN_DOC_NUMBER:
        print_number(w, type, nullable);
        break;
    case TN_DOC_STRING:
        print_type(w, "string", nullable);
        if (type->min_length) tn_jw_member_u64(w, "minLength", type->min_length);
        break;
    case TN_DOC_ENUM:
        print_enum(w, type, nullable);
        break;
    case TN_DOC_LIST:
        print_list(w, type, nullable);
        break;
    case TN_DOC_MAP:
        print_type(w, "object", nullable);
        if (type->named) print_names(w);
        tn_jw_key(w, "additionalProperties");
        print_use(w, type->items);
        break;
    case TN_DOC_OBJECT:
        print_object(w, type, nullable);
        break;
    case TN_DOC_UNION:
        print_union(w, type, nullable);
        break;
    case TN_DOC_CHOICE:
        print_choice(w, type, nullable);
        break;
    }
}

static void print_defs(struct tn_json_writer *w, struct defs *d)
{
    tn_sort(d->types, d->count, sizeof(d->types[0]), by_name, NULL);
    tn_jw_key(w, "$defs");
    tn_jw_begin_object(w);
    for (size_t i = 0; i < d->count; i++) {
        tn_jw_key(w, d->types[i]->name);
        tn_jw_begin_object(w);
        if (d->types[i]->note) tn_jw_member_cstr(w, "description", d->types[i]->note);
        print_body(w, d->types[i], false);
        tn_jw_end_object(w);
    }
    tn_jw_end_object(w);
}

void tn_doctype_print_schema(struct tn_json_writer *w, const struct tn_doctype *root, const struct tn_doctype_title *title)
{
    struct defs defs = {.count = 0};
    collect_below(&defs, root);
    if (defs.full) w->out->failed = TN_RESOURCE_LIMIT;
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    tn_jw_member_cstr(w, "$id", title->id);
    tn_jw_member_cstr(w, "title", title->title);
    if (root->note) tn_jw_member_cstr(w, "description", root->note);
    print_body(w, root, false);
    if (defs.count) print_defs(w, &defs);
    tn_jw_end_object(w);
}
