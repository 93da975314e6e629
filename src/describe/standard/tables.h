/*
 * The inference-metadata standard as tables (base/doctype.h): every object with its members and their exact constraints.
 * Shape only; what the standard demands beyond shape is checked by its neighbours in this folder.
 *
 * Where the published schema leaves an object open, these tables close it: its own text says that every core structure
 * denies unknown members, and a member that nobody reads is a behaviour that nobody runs. And null is absence everywhere,
 * because the standard's semantic identity drops null members: two documents of one identity get one verdict.
 */
#ifndef TN_DESCRIBE_STANDARD_TABLES_H
#define TN_DESCRIBE_STANDARD_TABLES_H

#include "base/doctype.h"

/* inference_metadata.yaml | .json */
extern const struct tn_doctype tn_standard_document_type;
extern const struct tn_doctype_title tn_standard_document_title;
/* execution_hints.json */
extern const struct tn_doctype tn_execution_hints_type;
extern const struct tn_doctype_title tn_execution_hints_title;

/*
 * Checks a document's shape: findings with code TN_METADATA_INVALID in phase TN_PHASE_DESCRIBE, all of one pass; the
 * returned status is tn_doctype_check's. `v1`, `1.0` and no schema_version are read alike. Any other is refused alone,
 * naming both, because tables of one version say nothing about a document of another.
 */
enum tn_status tn_standard_check_tables(struct tn_json root, struct tn_findings *findings);
/* The same, and marks what is refused; of another version that is the whole document. */
enum tn_status tn_standard_check_marked(struct tn_json root, struct tn_findings *findings, struct tn_doc_marks *marks);
enum tn_status tn_execution_hints_check_tables(struct tn_json root, struct tn_findings *findings);

#endif
