/* The groups of operators. Adding a group is adding a file and two lines here. */
#include "ops/op.h"

extern const struct tn_operators tn_ops_cast;
extern const struct tn_operators tn_ops_constant;
extern const struct tn_operators tn_ops_elementwise_binary;
extern const struct tn_operators tn_ops_elementwise_select;
extern const struct tn_operators tn_ops_elementwise_unary;
extern const struct tn_operators tn_ops_move;
extern const struct tn_operators tn_ops_shape;

const struct tn_operators *const tn_operator_groups[] = {
    &tn_ops_cast,
    &tn_ops_constant,
    &tn_ops_elementwise_binary,
    &tn_ops_elementwise_select,
    &tn_ops_elementwise_unary,
    &tn_ops_move,
    &tn_ops_shape,
};
const size_t tn_operator_group_count = sizeof(tn_operator_groups) / sizeof(tn_operator_groups[0]);
