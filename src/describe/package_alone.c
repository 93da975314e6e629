/*
 * tenon_package.json without its package: the reader of the document runs over an inventory that holds nothing, and says
 * nothing of files. So one rule stands in one place, whether the package is there or not. The document is untrusted.
 *
 * A document that names no component holds alone: it may be that of a graph, and only a contract could tell.
 */
#include "describe/package_document.h"

static bool is_readable(struct tn_json root, enum tn_status shape)
{
    struct tn_str schema;
    bool other = tn_json_str(tn_json_get(root, "schema"), &schema) && !tn_str_is(schema, TN_PACKAGE_SCHEMA);
    return shape != TN_RESOURCE_LIMIT && !other && tn_json_is(root, TN_JSON_OBJECT);
}

enum tn_status tn_package_document_judge(const struct tn_context *ctx, const struct tn_describe_options *options, struct tn_json root,
                                         struct tn_findings *findings, struct tn_error *err)
{
    const struct tn_inventory nothing = {.ctx = ctx};
    const struct tn_describe_options given = {.schemas = options->schemas, .schema_count = options->schema_count};
    struct tn_doc_marks marks = {0};
    struct tn_builder b;
    if (tn_builder_init(&b, &nothing, &given, err) == TN_OK) {
        b.alone = true;
        b.marks = &marks;
        tn_describe_tokenizer(&b, NULL);
        b.d->dialect = b.d->dialect_version = b.d->chain_document = b.d->contract_identity = TN_STR("");
        enum tn_status shape = tn_package_document_check(root, &b.d->findings, &marks);
        if (shape == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(&b);
        if (b.failed == TN_OK && is_readable(root, shape)) tn_package_document_read(&b, root);
        tn_findings_append(findings, &b.d->findings);
    }
    tn_doc_marks_release(&marks);
    tn_builder_release(&b);
    tn_description_free(b.d);
    return b.failed;
}
