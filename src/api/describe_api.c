/* Descriptions as documents. What the documents say is for src/describe; here they become handles. */
#include "api/api.h"

#include "describe/serial.h"
#include "describe/standard/identity.h"
#include "describe/validate.h"

#include <string.h>

static enum tn_status read_format(const char *format, bool *yaml, struct tn_error *err)
{
    *yaml = !format || strcmp(format, "yaml") == 0;
    if (*yaml || strcmp(format, "json") == 0) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_DESCRIBE, "the option \"format\" has an unknown value");
    tn_at_option(f, "format");
    tn_found(f, "%s", format);
    tn_expected(f, "yaml or json");
    return TN_INVALID_REQUEST;
}

TN_API tn_status tn_package_describe(tn_package *package, const tn_description_options *options, tn_document **metadata,
                                     tn_document **content, tn_error *err)
{
    tn_description_options o;
    struct tn_serial_options serial = {0};
    struct tn_document_builder m, c;
    if (metadata) *metadata = NULL;
    if (content) *content = NULL;
    if (!package) return tn_null_argument(err, TN_PHASE_DESCRIBE, "package");
    if (!metadata) return tn_null_argument(err, TN_PHASE_DESCRIBE, "metadata");
    if (!content) return tn_null_argument(err, TN_PHASE_DESCRIBE, "content");
    enum tn_status st = tn_read_options(&o, sizeof(o), options, "tn_description_options", err);
    if (!st) st = read_format(o.format, &serial.yaml, err);
    if (st) return st;
    serial.provenance = o.provenance != 0;
    tn_document_begin(&m, package->runtime);
    tn_document_begin(&c, package->runtime);
    st = tn_description_documents(package->description, &serial, &m.buf, &c.buf, err);
    st = tn_document_finish(&m, st, metadata, err);
    st = tn_document_finish(&c, st, content, err);
    if (st) {
        tn_document_free(*metadata);
        *metadata = NULL;
    }
    return st;
}

/* ---- validation --------------------------------------------------------------------------------------------------- */

static enum tn_status write_verdict(struct tn_runtime *runtime, const char *path, const struct tn_validation *v,
                                    tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    char identity[TN_STANDARD_IDENTITY_TEXT];
    tn_document_begin(&b, runtime);
    tn_jw_begin_object(&b.w);
    tn_jw_member_cstr(&b.w, "path", path);
    tn_jw_member_cstr(&b.w, "kind", tn_document_kind_name(v->kind));
    tn_jw_member_bool(&b.w, "valid", v->findings.blockers == 0);
    tn_jw_member_cstr(&b.w, "identity", v->have_identity ? tn_standard_identity_text(&v->identity, identity) : NULL);
    tn_jw_key(&b.w, "findings");
    tn_findings_write(&b.w, &v->findings);
    tn_jw_end_object(&b.w);
    return tn_document_finish(&b, TN_OK, out, err);
}

TN_API tn_status tn_document_validate(tn_runtime *runtime, const char *name, const char *text, size_t length, int *valid,
                                      tn_document **out, tn_error *err)
{
    struct tn_validation v;
    if (out) *out = NULL;
    if (!runtime) return tn_null_argument(err, TN_PHASE_DESCRIBE, "runtime");
    if (!name) return tn_null_argument(err, TN_PHASE_DESCRIBE, "name");
    if (!text) return tn_null_argument(err, TN_PHASE_DESCRIBE, "text");
    if (!valid) return tn_null_argument(err, TN_PHASE_DESCRIBE, "valid");
    if (!out) return tn_null_argument(err, TN_PHASE_DESCRIBE, "out");
    struct tn_describe_options options = {0};
    options.schemas = tn_family_schemas(&options.schema_count);
    enum tn_status st = tn_validate_text(&runtime->ctx, &options, tn_str_of(name), (struct tn_str){text, length}, &v, err);
    if (st) return tn_short_of_memory(&runtime->alloc, st, err);
    *valid = v.findings.blockers == 0;
    st = write_verdict(runtime, name, &v, out, err);
    tn_validation_release(&v);
    return st;
}

/*
 * The tensors of the encoder by name and shape, as a load would bind them: they are files of the package like others. Only
 * of documents that hold, whose values say which tensors there are to be.
 */
static enum tn_status check_tensors(const struct tn_description *d, struct tn_validation *v, struct tn_error *err)
{
    const struct tn_component *c = d->component_count ? d->components : NULL;
    const struct tn_family *family = c ? tn_family_of(c) : NULL;
    struct tn_binding binding;
    struct tn_arena arena;
    if (!family || !c->variant || !c->variant->executable || c->variant->graph) return TN_OK;
    if (v->findings.blockers > 0 || d->findings.blockers > 0) return TN_OK;
    const struct tn_head *head = d->head && tn_family_head_of(family, d->head->kind) ? d->head : NULL;
    tn_arena_init(&arena, d->arena.alloc);
    enum tn_status st = tn_bind(d, c, family, head, &arena, &v->findings, &binding, err);
    tn_arena_release(&arena);
    if (!st && v->findings.starved) st = tn_error_memory(err, TN_PHASE_DESCRIBE, "validating a package");
    if (v->findings.blockers > 0) v->have_identity = false;
    return st;
}

TN_API tn_status tn_package_validate(tn_package *package, int *valid, tn_document **out, tn_error *err)
{
    struct tn_validation v;
    if (out) *out = NULL;
    if (!package) return tn_null_argument(err, TN_PHASE_DESCRIBE, "package");
    if (!valid) return tn_null_argument(err, TN_PHASE_DESCRIBE, "valid");
    if (!out) return tn_null_argument(err, TN_PHASE_DESCRIBE, "out");
    enum tn_status st = tn_validate_package(package->description, &v, err);
    if (!st) st = check_tensors(package->description, &v, err);
    if (st) tn_validation_release(&v);
    if (st) return tn_short_of_memory(&package->runtime->alloc, st, err);
    *valid = v.findings.blockers == 0;
    st = write_verdict(package->runtime, package->inventory->shown.s, &v, out, err);
    tn_validation_release(&v);
    return st;
}
