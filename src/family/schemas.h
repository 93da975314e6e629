/* The configuration schemas of the native families: constant tables, one file each. registry.c lists the families. */
#ifndef TN_FAMILY_SCHEMAS_H
#define TN_FAMILY_SCHEMAS_H

#include "describe/schema.h"

extern const struct tn_schema tn_schema_bert;
extern const struct tn_schema tn_schema_distilbert;
extern const struct tn_schema tn_schema_mpnet;
extern const struct tn_schema tn_schema_roberta;
extern const struct tn_schema tn_schema_xlm_roberta;
extern const struct tn_schema tn_schema_electra;
extern const struct tn_schema tn_schema_modernbert;
extern const struct tn_schema tn_schema_deberta_v2;

#endif
