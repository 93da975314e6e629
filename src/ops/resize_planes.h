/* Linear interpolation of the last two dimensions, two neighbours each, row by row: what images are resized with. */
#ifndef TN_OPS_RESIZE_PLANES_H
#define TN_OPS_RESIZE_PLANES_H

#include "ops/resize_plan.h"

/* Whether a plan is of this kind, for float32 and half precision. */
bool tn_resize_by_planes(const struct tn_resize *p, enum tn_element e);
/* False with the failure set. Operand 0 to output 0, both of one type. */
bool tn_resize_planes(struct tn_run *r, const struct tn_resize *p);

#endif
