/* Findings and errors as document tables: what findings.c and error.c write. Other documents carry findings too. */
#ifndef TN_BASE_ERROR_TABLE_H
#define TN_BASE_ERROR_TABLE_H

#include "base/doctype.h"

/* What a program prints instead of its result: {"error": {...}}. */
extern const struct tn_doctype tn_error_document_type;
extern const struct tn_doctype_title tn_error_document_title;
/* The object that is the value of "error", which tn_error_json gives alone. */
extern const struct tn_doctype tn_error_type;
/* An element of a list that tn_findings_write wrote: a finding, or the number of those that did not fit. */
extern const struct tn_doctype tn_findings_entry_type;

#endif
