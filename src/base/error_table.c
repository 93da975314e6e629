/* The tables of findings and errors. Constants; the names come from the lists that the writers use. */
#include "base/error_table.h"

#include "base/doctype_rows.h"
#include "base/findings.h"

const struct tn_doctype_title tn_error_document_title = {"urn:tenon:schema:error", "tenon: an error"};

#define NAME(name, text, ...) text,
static const char *const code_names[] = {TN_STATUS_LIST(NAME) NULL};
static const char *const phase_names[] = {TN_PHASE_LIST(NAME) NULL};
#undef NAME

static const struct tn_doctype code_type = {
    .kind = TN_DOC_ENUM,
    .name = "Code",
    .note = "What kind of problem it is. Stable; the list only grows. \"ok\" stands with notes that are no problem.",
    .values = code_names,
};

static const struct tn_doctype phase_type = {
    .kind = TN_DOC_ENUM,
    .name = "Phase",
    .note = "Where on the road of a package it was noticed.",
    .values = phase_names,
};

/* The members that name an element are those of enum tn_element_kind. */
TN_DOC_OBJECT_TYPE(tn_place_type, "Place", "Where the problem is; empty when it is nowhere in particular.",
    TN_DOC_MAY("file", TN_DOC_TEXT, NULL, "Path inside the package."),
    TN_DOC_MAY("pointer", TN_DOC_TEXT, NULL, "JSON pointer inside the file."),
    TN_DOC_MAY("tensor", TN_DOC_TEXT, NULL, "Name of a tensor."),
    TN_DOC_MAY("operator", TN_DOC_TEXT, NULL, "Name of an operator."),
    TN_DOC_MAY("option", TN_DOC_TEXT, NULL, "Option or argument of the request."),
    TN_DOC_MAY("item", TN_DOC_TEXT, NULL, "Item of the request, by name."),
    TN_DOC_MAY("module", TN_DOC_TEXT, NULL, "Module of the package."),
    TN_DOC_MAY("offset", TN_DOC_UINT64, NULL, "Byte inside the file."),
    TN_DOC_MAY("index", TN_DOC_UINT64, NULL, "Item of the request, by position."));

/* Members of every finding, in the order of tn_finding_write_members. */
#define FINDING_MEMBERS                                                                                             \
    TN_DOC_MUST("code", &code_type, "Kind of problem."),                                                           \
        TN_DOC_MUST("phase", &phase_type, "Where on the road."),                                                   \
        TN_DOC_MUST("message", TN_DOC_TEXT, "The problem in one sentence."),                                       \
        TN_DOC_MUST("where", &tn_place_type, "Its place."),                                                        \
        TN_DOC_MUST_NULL("found", TN_DOC_TEXT, "What stands there."),                                              \
        TN_DOC_MUST_NULL("expected", TN_DOC_TEXT, "What could stand there."),                                      \
        TN_DOC_MUST_NULL("remedy", TN_DOC_TEXT, "What to do.")

TN_DOC_OBJECT_TYPE(tn_finding_type, "Finding", "Something that was noticed.",
    TN_DOC_MUST("severity", TN_DOC_ONE_OF("note", "warning", "blocker"), "Only blockers stop anything."),
    FINDING_MEMBERS);

TN_DOC_OBJECT_TYPE(tn_dropped_type, "Dropped", "The end of a list that was longer than what is kept.",
    TN_DOC_MUST("dropped", TN_DOC_UINT64, "Findings that are not in the list."));

TN_DOC_CHOICE_TYPE(tn_findings_entry_type, "FindingsEntry", "A finding; or, last, the number of those left out.",
    &tn_finding_type, &tn_dropped_type);

TN_DOC_OBJECT_TYPE(tn_error_type, "Error", "Why a call failed: the first problem, and everything else that was found.",
    FINDING_MEMBERS,
    TN_DOC_MUST("retryable", TN_DOC_BOOLEAN, "Whether the same call may succeed later."),
    TN_DOC_MAY("plan", TN_DOC_TEXT, NULL, "Fingerprint of the plan that was running."),
    TN_DOC_MUST("findings", TN_DOC_LIST_OF(&tn_finding_type), "All problems, the first one too; blockers before others."),
    TN_DOC_MUST("dropped_findings", TN_DOC_UINT64, "Findings that did not fit."));

TN_DOC_OBJECT_TYPE(tn_error_document_type, "ErrorDocument", "What is printed with --json when a command fails.",
    TN_DOC_MUST("error", &tn_error_type, "The failure."));
