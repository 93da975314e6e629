/*
 * The JSON Schemas of our documents, by name. One row per document; the tables belong to the layers that write or read
 * the documents.
 */
#include "api/api.h"

#include "base/error_table.h"
#include "base/nearest.h"
#include "describe/package_document.h"
#include "describe/standard/tables.h"
#include "plan/plan_table.h"
#include "record/record_table.h"

#include <stdio.h>
#include <string.h>

static const struct tn_doctype_title package_title = {"urn:tenon:schema:package", "tenon_package.json"};

struct schema {
    const char *name;
    const char *what;
    const struct tn_doctype *type;
    const struct tn_doctype_title *title;
};

static const struct schema schemas[] = {
    {"description", "inference_metadata.yaml or .json: the ONNX inference-metadata standard as tenon reads it",
     &tn_standard_document_type, &tn_standard_document_title},
    {"package", "tenon_package.json: what that standard cannot say", &tn_package_document_type, &package_title},
    {"hints", "execution_hints.json: a user's wishes about placement, memory and scheduling", &tn_execution_hints_type,
     &tn_execution_hints_title},
    {"plan", "what tn_plan_json and `tenon plan --json` print", &tn_plan_document_type, &tn_plan_document_title},
    {"record", "an evidence record, as `tenon records show ID --json` prints it", &tn_record_document_type,
     &tn_record_document_title},
    {"error", "what --json prints when a command fails", &tn_error_document_type, &tn_error_document_title},
};

enum { SCHEMAS = sizeof(schemas) / sizeof(schemas[0]) };

TN_API tn_status tn_schemas(tn_runtime *runtime, tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    if (out) *out = NULL;
    if (!runtime) return tn_null_argument(err, TN_PHASE_RUNTIME, "runtime");
    if (!out) return tn_null_argument(err, TN_PHASE_RUNTIME, "out");
    tn_document_begin(&b, runtime);
    tn_jw_begin_object(&b.w);
    tn_jw_key(&b.w, "schemas");
    tn_jw_begin_array(&b.w);
    for (size_t i = 0; i < SCHEMAS; i++) {
        tn_jw_begin_object(&b.w);
        tn_jw_member_cstr(&b.w, "name", schemas[i].name);
        tn_jw_member_cstr(&b.w, "id", schemas[i].title->id);
        tn_jw_member_cstr(&b.w, "what", schemas[i].what);
        tn_jw_end_object(&b.w);
    }
    tn_jw_end_array(&b.w);
    tn_jw_end_object(&b.w);
    return tn_document_finish(&b, TN_OK, out, err);
}

static tn_status unknown_name(const char *name, tn_error *err)
{
    struct tn_nearest near = {0};
    char names[96];
    size_t n = 0;
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "no document has this name");
    for (size_t i = 0; i < SCHEMAS; i++) {
        int added = snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "", schemas[i].name);
        if (added > 0 && n + (size_t)added < sizeof(names)) n += (size_t)added;
        tn_nearest_offer(&near, tn_str_of(name), schemas[i].name);
    }
    tn_at_option(f, "name");
    tn_found(f, "%s", name);
    tn_expected(f, "one of %s", names);
    if (near.name) tn_remedy(f, "did you mean %s?", near.name);
    return TN_INVALID_REQUEST;
}

TN_API tn_status tn_schema(tn_runtime *runtime, const char *name, tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    if (out) *out = NULL;
    if (!runtime) return tn_null_argument(err, TN_PHASE_RUNTIME, "runtime");
    if (!name) return tn_null_argument(err, TN_PHASE_RUNTIME, "name");
    if (!out) return tn_null_argument(err, TN_PHASE_RUNTIME, "out");
    size_t i = 0;
    while (i < SCHEMAS && strcmp(schemas[i].name, name) != 0) i++;
    if (i == SCHEMAS) return unknown_name(name, err);
    tn_document_begin(&b, runtime);
    tn_doctype_print_schema(&b.w, schemas[i].type, schemas[i].title);
    return tn_document_finish(&b, TN_OK, out, err);
}
