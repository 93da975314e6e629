/* The plan as a document table: what plan.c and the layers below it write. */
#ifndef TN_PLAN_PLAN_TABLE_H
#define TN_PLAN_PLAN_TABLE_H

#include "base/doctype.h"

extern const struct tn_doctype tn_plan_document_type;
extern const struct tn_doctype_title tn_plan_document_title;

#endif
