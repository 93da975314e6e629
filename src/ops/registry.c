/* The groups of operators. Adding a group is adding a file and two lines here. */
#include "ops/op.h"

extern const struct tn_operators tn_ops_elementwise;

const struct tn_operators *const tn_operator_groups[] = {
    &tn_ops_elementwise,
};
const size_t tn_operator_group_count = sizeof(tn_operator_groups) / sizeof(tn_operator_groups[0]);
