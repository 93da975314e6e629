/*
 * Validation of metadata documents: one alone, or the one of a package together with its files. Everything that is wrong
 * becomes a finding; nothing is executed and no weights are read. Documents are untrusted.
 */
#ifndef TN_DESCRIBE_VALIDATE_H
#define TN_DESCRIBE_VALIDATE_H

#include "describe/describe.h"

/* What a document is, by its name and contents. */
enum tn_document_kind { TN_DOCUMENT_METADATA, TN_DOCUMENT_PACKAGE, TN_DOCUMENT_HINTS };
const char *tn_document_kind_name(enum tn_document_kind kind);

struct tn_validation {
    enum tn_document_kind kind;
    struct tn_findings findings; /* blockers: not valid */
    bool have_identity;          /* inference metadata that holds: its semantic identity */
    struct tn_digest identity;
};

void tn_validation_release(struct tn_validation *v);

/*
 * A text alone, in the form that its name's end tells, else in the one that it holds as; `name` stands in the findings'
 * places. Of the options the families' schemas count: tenon_package.json is held against them. Fails only without memory:
 * a text that does not parse, or is over a limit, is a finding.
 */
enum tn_status tn_validate_text(const struct tn_context *ctx, const struct tn_describe_options *options, struct tn_str name,
                                struct tn_str text, struct tn_validation *out, struct tn_error *err);
/*
 * The contract of a described package, with its artifacts. A package without one is TN_METADATA_INVALID: there is nothing
 * to validate.
 */
enum tn_status tn_validate_package(const struct tn_description *d, struct tn_validation *out, struct tn_error *err);

#endif
