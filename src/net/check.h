/* Judges an imported model by the standard's schemas: operators, arities, attributes. */
#ifndef TN_NET_CHECK_H
#define TN_NET_CHECK_H

#include "net/schema.h"

/*
 * All problems in one pass, as blockers: attributes that an operator does not have, of another type, or required and
 * missing; operand counts; deprecated operators. Sets node->schema. An operator without a schema is no fault here: whether
 * it can be computed is asked later.
 */
void tn_net_check(struct tn_model *model, struct tn_findings *findings);
/* "attribute axis", "FLOATS": the format's word for an attribute type. */
const char *tn_attr_type_name(enum tn_attr_type type);

#endif
