/*
 * Checking a standard document against the tables. Owns the one rule about versions, which comes first: tables of one
 * version say nothing about a document of another.
 */
#include "describe/standard/tables.h"

#include <stdio.h>
#include <string.h>

/* YAML makes a number of an unquoted 1.0; the standard's type of a version is a text. */
static void explain_number(struct tn_finding *f, struct tn_json version)
{
    if (f) snprintf(f->message, sizeof(f->message), "\"schema_version\" is a number, and versions are texts");
    tn_found(f, "the number %.*s", TN_FMT_ARG(tn_json_text(version)));
    tn_expected(f, "one of \"v1\", \"1.0\"");
    tn_remedy(f, "write v1, or put the version in quotes: YAML reads an unquoted 1.0 as a number");
}

static void refuse_version(struct tn_json version, struct tn_findings *findings)
{
    struct tn_str s = TN_STR("");
    char shown[64];
    bool text = tn_json_str(version, &s);
    tn_clean_text(shown, sizeof(shown), s.s, s.n); /* which no printf would show behind a NUL */
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_METADATA_INVALID, TN_PHASE_DESCRIBE,
                                           "the document has version \"%s\", and version \"v1\" is what this build reads",
                                           shown);
    tn_at_json(f, version);
    if (!text) {
        explain_number(f, version);
        return;
    }
    tn_found(f, "\"%s\"", shown);
    tn_expected(f, "\"v1\" or \"1.0\", which are one version, or no schema_version");
    tn_remedy(f, "use a build that reads this version, or a document of version v1");
}

/* Whether the tables apply; a wrong type is left to them, and a number says which version is meant. */
static bool is_ours(struct tn_json version)
{
    struct tn_str s;
    double number = 1;
    if (tn_json_is(version, TN_JSON_NUMBER)) return tn_json_f64(version, &number) && number == 1;
    return !tn_json_str(version, &s) || tn_str_is(s, "v1") || tn_str_is(s, "1.0");
}

enum tn_status tn_standard_check_marked(struct tn_json root, struct tn_findings *findings, struct tn_doc_marks *marks)
{
    struct tn_json version = tn_json_get(root, "schema_version");
    size_t before = findings ? findings->count : 0;
    if (!is_ours(version)) {
        refuse_version(version, findings);
        if (marks) tn_doc_marks_whole(marks, root);
        return marks && marks->lost ? TN_INSUFFICIENT_MEMORY : TN_METADATA_INVALID;
    }
    enum tn_status status = tn_doctype_check_marked(root, &tn_standard_document_type, TN_PHASE_DESCRIBE, findings, marks);
    for (size_t i = before; findings && i < findings->count && tn_json_is(version, TN_JSON_NUMBER); i++)
        if (strcmp(findings->items[i].element, "/schema_version") == 0) explain_number(&findings->items[i], version);
    return status;
}

enum tn_status tn_standard_check_tables(struct tn_json root, struct tn_findings *findings)
{
    return tn_standard_check_marked(root, findings, NULL);
}

enum tn_status tn_execution_hints_check_tables(struct tn_json root, struct tn_findings *findings)
{
    return tn_doctype_check(root, &tn_execution_hints_type, TN_PHASE_DESCRIBE, findings);
}
