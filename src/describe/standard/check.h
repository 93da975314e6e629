/*
 * The semantic check of a standard document: everything that the parts of a document owe each other beyond their
 * shapes. All findings of one pass, each a blocker with its JSON pointer, what was found, what is expected and why.
 *
 * Run it after the closed tables. It checks the document alone; whether artifacts exist and agree with their graphs is
 * the package check's business.
 */
#ifndef TN_DESCRIBE_STANDARD_CHECK_H
#define TN_DESCRIBE_STANDARD_CHECK_H

#include "describe/standard/standard.h"

/*
 * Adds what is wrong to *findings (their codes: TN_METADATA_INVALID, TN_PATH_ESCAPE). The status is TN_OK whenever the
 * check could be carried out, whatever it found; else TN_INSUFFICIENT_MEMORY.
 */
enum tn_status tn_standard_check(const struct tn_standard *doc, struct tn_findings *findings, struct tn_error *err);

/* check_paths.c: why a text is not the one name of a file inside the package, or NULL; whether it leads out of it. */
const char *tn_standard_path_fault(struct tn_str path, bool *leaves);

#endif
