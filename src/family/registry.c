/* The table of families, and the document that prints their envelopes. */
#include "family/families.h"
#include "family/schemas.h"

#include "base/json_write.h"

static const struct tn_family *const families[] = {
#define X(name) &tn_family_##name,
    TN_FAMILY_LIST(X)
#undef X
};

static const struct tn_schema *const schemas[] = {
#define X(name) &tn_schema_##name,
    TN_FAMILY_LIST(X)
#undef X
};

enum { FAMILY_COUNT = sizeof(families) / sizeof(families[0]) };

const struct tn_family *tn_family_at(size_t index)
{
    return index < FAMILY_COUNT ? families[index] : NULL;
}

const struct tn_schema *const *tn_family_schemas(size_t *count)
{
    *count = FAMILY_COUNT;
    return schemas;
}

const struct tn_family *tn_family_of(const struct tn_component *c)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        if (families[i]->schema == c->schema) return families[i];
    }
    return NULL;
}

const struct tn_family_head *tn_family_head_of(const struct tn_family *family, enum tn_head_kind kind)
{
    for (size_t i = 0; i < family->head_count; i++) {
        if (family->heads[i].kind == kind) return &family->heads[i];
    }
    return NULL;
}

static void write_list(struct tn_json_writer *w, const char *key, const char *const *items)
{
    tn_jw_key(w, key);
    tn_jw_begin_array(w);
    for (; *items; items++) tn_jw_cstr(w, *items);
    tn_jw_end_array(w);
}

static const char *class_name(enum tn_field_class kind)
{
    return kind == TN_FIELD_UNDERSTOOD ? "understood" : kind == TN_FIELD_DESCRIPTIVE ? "descriptive" : "semantic";
}

static void write_field(struct tn_json_writer *w, const struct tn_schema_field *field)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "pointer", field->pointer);
    tn_jw_member_cstr(w, "name", field->name);
    tn_jw_member_cstr(w, "class", class_name(field->kind));
    tn_jw_key(w, "default");
    if (field->absent) {
        tn_jw_raw(w, tn_str_of(field->absent));
    } else {
        tn_jw_null(w);
    }
    tn_jw_member_bool(w, "required", field->kind == TN_FIELD_UNDERSTOOD && !field->absent);
    tn_jw_member_cstr(w, "accepted", field->accepted);
    if (field->low != 0 || field->high != 0) {
        tn_jw_member_f64(w, "low", field->low);
        tn_jw_member_f64(w, "high", field->high);
    }
    tn_jw_end_object(w);
}

static void write_tensor(struct tn_json_writer *w, const struct tn_family *family, const struct tn_tensor_rule *rule)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "role", rule->role);
    tn_jw_member_cstr(w, "name", rule->name);
    if (rule->alias) tn_jw_member_cstr(w, "alias", rule->alias);
    tn_jw_key(w, "shape");
    tn_jw_begin_array(w);
    for (unsigned i = 0; i < 2 && rule->dims[i]; i++) tn_jw_cstr(w, rule->dims[i]);
    tn_jw_end_array(w);
    tn_jw_member_bool(w, "optional", (rule->flags & TN_TENSOR_OPTIONAL) != 0);
    if (rule->flags >> 8) tn_jw_member_cstr(w, "when", family->conditions[(rule->flags >> 8) - 1].text);
    tn_jw_end_object(w);
}

static void write_head(struct tn_json_writer *w, const struct tn_family *family, const struct tn_family_head *head)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "kind", tn_head_kind_name(head->kind));
    tn_jw_key(w, "tensors");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < head->tensor_count; i++) write_tensor(w, family, &head->tensors[i]);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}

static void write_family(struct tn_json_writer *w, const struct tn_family *family)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "name", family->name);
    tn_jw_member_cstr(w, "version", family->version);
    tn_jw_member_cstr(w, "schema", family->schema->id);
    write_list(w, "model_types", family->schema->model_types);
    write_list(w, "architectures", family->schema->architectures);
    tn_jw_key(w, "fields");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < family->schema->field_count; i++) write_field(w, &family->schema->fields[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "tensors");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < family->tensor_count; i++) write_tensor(w, family, &family->tensors[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "heads");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < family->head_count; i++) write_head(w, family, &family->heads[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "accepted_unused");
    tn_jw_begin_object(w);
    for (size_t i = 0; i < family->unused_count; i++) {
        tn_jw_member_cstr(w, family->unused[i].pattern, family->unused[i].why);
    }
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

void tn_families_write(struct tn_json_writer *w)
{
    tn_jw_begin_array(w);
    for (size_t i = 0; i < FAMILY_COUNT; i++) write_family(w, families[i]);
    tn_jw_end_array(w);
}
