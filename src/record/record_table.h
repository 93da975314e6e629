/* The evidence record as a document table: what document.c writes and read.c reads. */
#ifndef TN_RECORD_RECORD_TABLE_H
#define TN_RECORD_RECORD_TABLE_H

#include "base/doctype.h"

extern const struct tn_doctype tn_record_document_type;
extern const struct tn_doctype_title tn_record_document_title;

#endif
