/* The table of an evidence record. Constants; the names come from the lists that the writer uses. */
#include "record/record_table.h"

#include "base/doctype_rows.h"
#include "base/error_table.h"
#include "record/record.h"

const struct tn_doctype_title tn_record_document_title = {"urn:tenon:schema:record", "tenon: an evidence record"};

#define NAME(name, text, ...) text,
static const char *const level_names[] = {TN_LEVEL_LIST(NAME) NULL};
static const char *const dependency_names[] = {TN_DEPENDENCY_LIST(NAME) NULL};
#undef NAME

static const struct tn_doctype level_type = {
    .kind = TN_DOC_ENUM,
    .name = "Level",
    .note = "How much is known: recognised, headers fit, it loads, its answers equal a reference, it was measured under "
            "load; or evidence that no longer counts.",
    .values = level_names,
};

static const struct tn_doctype dependency_type = {
    .kind = TN_DOC_ENUM,
    .name = "DependencyKind",
    .note = "What evidence can rest on.",
    .values = dependency_names,
};

TN_DOC_OBJECT_TYPE(tn_record_package_type, "Package", "The package that was examined.",
    TN_DOC_MUST("name", TN_DOC_TEXT, "Name of its folder or file; decides nothing."),
    TN_DOC_MUST("dialect", TN_DOC_TEXT, "Packaging convention."),
    TN_DOC_MUST_NULL("variant", TN_DOC_TEXT, "Which of its alternatives."),
    TN_DOC_MUST("manifest", TN_DOC_TEXT, "Identity by small files and headers."),
    TN_DOC_MUST_NULL("weights", TN_DOC_TEXT, "Identity of the bound tensors."),
    TN_DOC_MUST_NULL("closure", TN_DOC_TEXT, "Identity of all files, once every byte was read."),
    TN_DOC_MUST_NULL("space", TN_DOC_TEXT, "Identity of the embedding space."));

TN_DOC_OBJECT_TYPE(tn_record_provider_type, "Provider", "What executed.",
    TN_DOC_MUST("name", TN_DOC_TEXT, "Name of the provider."),
    TN_DOC_MUST("version", TN_DOC_TEXT, "Its version."),
    TN_DOC_MUST("build", TN_DOC_TEXT, "Version of tenon."));

TN_DOC_OBJECT_TYPE(tn_record_device_type, "Device", "Where it ran.",
    TN_DOC_MUST("kind", TN_DOC_ONE_OF("cpu"), "Kind of device."),
    TN_DOC_MUST("isa_class", TN_DOC_TEXT, "Instruction set that the kernels use."),
    TN_DOC_MUST_NULL("brand", TN_DOC_TEXT, "What the processor calls itself."),
    TN_DOC_MUST("os", TN_DOC_TEXT, "Operating system."));

TN_DOC_OBJECT_TYPE(tn_record_numeric_type, "Numeric", "Numeric policy in its four fields.",
    TN_DOC_MUST("stored", TN_DOC_TEXT, "Type of the stored weights."),
    TN_DOC_MUST("compute", TN_DOC_TEXT, "Type of products."),
    TN_DOC_MUST("accumulate", TN_DOC_TEXT, "Type of sums."),
    TN_DOC_MUST("kv", TN_DOC_TEXT, "Type of the attention cache."));

TN_DOC_OBJECT_TYPE(tn_record_envelope_type, "Envelope", "The range that was tried.",
    TN_DOC_MUST("max_tokens", TN_DOC_UINT64, "Most tokens of an input."),
    TN_DOC_MUST("dimensions", TN_DOC_UINT64, "Width of a result."),
    TN_DOC_MUST("texts", TN_DOC_UINT64, "Texts that were run."),
    TN_DOC_MUST("longest_tokens", TN_DOC_UINT64, "Tokens of the longest of them."),
    TN_DOC_MUST("threads", TN_DOC_UINT64, "Threads."));

TN_DOC_OBJECT_TYPE(tn_record_golden_type, "Golden", "The reference answers.",
    TN_DOC_MUST("file", TN_DOC_TEXT, "Name of the file."),
    TN_DOC_MUST("sha256", TN_DOC_TEXT, "Digest of the file."),
    TN_DOC_MUST("cases", TN_DOC_UINT64, "Cases in it."),
    TN_DOC_MUST_NULL("certificate", TN_DOC_ANYTHING, "What the file says about who made it with what."));

static const struct tn_doctype measure = {
    .kind = TN_DOC_CHOICE,
    .note = "A number; null stands for one that is not finite.",
    .choices = (const struct tn_doctype *const[]){TN_DOC_DOUBLE, TN_DOC_PLAIN(.kind = TN_DOC_NOTHING), NULL},
};

TN_DOC_OBJECT_TYPE(tn_record_check_type, "Check", "One check of the suite.",
    TN_DOC_MUST("id", TN_DOC_TEXT, "Name of the check."),
    TN_DOC_MUST("outcome", TN_DOC_ONE_OF("passed", "failed", "skipped"), "How it ended."),
    TN_DOC_MUST("level", &level_type, "Level that it stands for."),
    TN_DOC_MUST("what", TN_DOC_TEXT, "What was checked."),
    TN_DOC_MUST_NULL("tolerance", TN_DOC_TEXT, "What was allowed, and why."),
    TN_DOC_MUST("measured", TN_DOC_MAP_OF(&measure), "Figures by name."),
    TN_DOC_MUST_NULL("detail", TN_DOC_TEXT, "Why it failed or was skipped."));

TN_DOC_OBJECT_TYPE(tn_record_failure_type, "Failure", "A check that failed.",
    TN_DOC_MUST("id", TN_DOC_TEXT, "Name of the check."),
    TN_DOC_MUST("detail", TN_DOC_TEXT, "Why."));

TN_DOC_OBJECT_TYPE(tn_record_dependency_type, "Dependency", "A value that the evidence rests on.",
    TN_DOC_MUST("kind", &dependency_type, "What it is."),
    TN_DOC_MUST("value", TN_DOC_TEXT, "Its value or digest."),
    TN_DOC_MUST("needed_for", &level_type, "Lowest level that no longer holds when the value changes."));

TN_DOC_OBJECT_TYPE(tn_record_reference_type, "Reference", "A provider that answered the same.",
    TN_DOC_MUST("provider", TN_DOC_TEXT, "Name of the provider."),
    TN_DOC_MUST("version", TN_DOC_TEXT, "Its version."),
    TN_DOC_MUST("outputs", TN_DOC_UINT64, "Answers that were compared."));

TN_DOC_OBJECT_TYPE(tn_record_withdrawal_type, "Withdrawal", "Another record no longer counts.",
    TN_DOC_MUST("record", TN_DOC_TEXT, "Its id."),
    TN_DOC_MUST("level", &level_type, "What it had shown."),
    TN_DOC_MUST("reason", TN_DOC_TEXT, "Why it no longer counts."));

TN_DOC_OBJECT_TYPE(tn_record_stored_type, "Stored", "Whether the record went into the store; only where it has just been made.",
    TN_DOC_MUST("done", TN_DOC_BOOLEAN, "Whether it did."),
    TN_DOC_MUST_NULL("error", &tn_error_type, "Why not."));

TN_DOC_OBJECT_TYPE(tn_record_document_type, "Record", "What one run of a qualification suite found out.",
    TN_DOC_MUST("schema", TN_DOC_ONE_OF(TN_RECORD_SCHEMA), "Version of this document."),
    TN_DOC_MUST("id", TN_DOC_TEXT, "Digest of the record."),
    TN_DOC_MUST("level", &level_type, "What the checks together show."),
    TN_DOC_MUST("passed", TN_DOC_BOOLEAN, "Whether no check failed."),
    TN_DOC_MUST("created", TN_DOC_TEXT, "Time in UTC, ISO 8601."),
    TN_DOC_MUST("created_seconds", TN_DOC_INT64, "The same in seconds since 1970."),
    TN_DOC_MUST("task", TN_DOC_TEXT, "Task."),
    TN_DOC_MUST("contract", TN_DOC_TEXT, "Version of the task's contract."),
    TN_DOC_MUST("recipe", TN_DOC_TEXT, "Recipe and its version."),
    TN_DOC_MUST("suite", TN_DOC_TEXT, "Suite and its version."),
    TN_DOC_MUST("package", &tn_record_package_type, "What was examined."),
    TN_DOC_MUST_NULL("plan", TN_DOC_TEXT, "Fingerprint of the plan."),
    TN_DOC_MUST("provider", &tn_record_provider_type, "What executed."),
    TN_DOC_MUST("family", TN_DOC_TEXT, "Family and its version."),
    TN_DOC_MUST("device", &tn_record_device_type, "Where."),
    TN_DOC_MUST("numeric", &tn_record_numeric_type, "Numeric policy."),
    TN_DOC_MUST("envelope", &tn_record_envelope_type, "Range that was tried."),
    TN_DOC_MUST_NULL("golden", &tn_record_golden_type, "Reference answers, if there were any."),
    TN_DOC_MAY("reference", &tn_record_reference_type, NULL, "The provider whose answers were the reference, if one was."),
    TN_DOC_MUST("checks", TN_DOC_LIST_OF(&tn_record_check_type), "All checks."),
    TN_DOC_MUST("failures", TN_DOC_LIST_OF(&tn_record_failure_type), "Those that failed."),
    TN_DOC_MUST("exclusions", TN_DOC_LIST_OF(TN_DOC_TEXT), "What was not examined, and why."),
    TN_DOC_MUST("dependencies", TN_DOC_LIST_OF(&tn_record_dependency_type), "What the evidence rests on."),
    TN_DOC_MAY("withdrawal", &tn_record_withdrawal_type, NULL, "Of a withdrawal: what no longer counts."),
    TN_DOC_MAY("stored", &tn_record_stored_type, NULL, "What became of it; no part of the record."));
