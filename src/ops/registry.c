/* The groups of operators. Adding a group is adding a file and two lines here. */
#include "ops/op.h"

extern const struct tn_operators tn_ops_arrange;
extern const struct tn_operators tn_ops_attention;
extern const struct tn_operators tn_ops_attention_flex;
extern const struct tn_operators tn_ops_attention_linear;
extern const struct tn_operators tn_ops_cast;
extern const struct tn_operators tn_ops_center;
extern const struct tn_operators tn_ops_constant;
extern const struct tn_operators tn_ops_contrib_attention;
extern const struct tn_operators tn_ops_contrib_fused;
extern const struct tn_operators tn_ops_contrib_gather_blocks;
extern const struct tn_operators tn_ops_contrib_gelu;
extern const struct tn_operators tn_ops_contrib_group_attention;
extern const struct tn_operators tn_ops_contrib_matmul_nbits;
extern const struct tn_operators tn_ops_contrib_norm;
extern const struct tn_operators tn_ops_contrib_qlinear;
extern const struct tn_operators tn_ops_contrib_qmatmul;
extern const struct tn_operators tn_ops_contrib_widened;
extern const struct tn_operators tn_ops_control;
extern const struct tn_operators tn_ops_conv;
extern const struct tn_operators tn_ops_conv_deform;
extern const struct tn_operators tn_ops_conv_integer;
extern const struct tn_operators tn_ops_conv_last;
extern const struct tn_operators tn_ops_conv_last_pair;
extern const struct tn_operators tn_ops_conv_last_up;
extern const struct tn_operators tn_ops_conv_transpose;
extern const struct tn_operators tn_ops_dropout;
extern const struct tn_operators tn_ops_einsum;
extern const struct tn_operators tn_ops_gate;
extern const struct tn_operators tn_ops_elementwise_binary;
extern const struct tn_operators tn_ops_elementwise_select;
extern const struct tn_operators tn_ops_elementwise_unary;
extern const struct tn_operators tn_ops_fused_attend;
extern const struct tn_operators tn_ops_fused_nibbles;
extern const struct tn_operators tn_ops_fused_table;
extern const struct tn_operators tn_ops_gather;
extern const struct tn_operators tn_ops_grid_sample;
extern const struct tn_operators tn_ops_loss;
extern const struct tn_operators tn_ops_matmul;
extern const struct tn_operators tn_ops_matmul_integer;
extern const struct tn_operators tn_ops_ml_encode;
extern const struct tn_operators tn_ops_ml_features;
extern const struct tn_operators tn_ops_ml_linear;
extern const struct tn_operators tn_ops_ml_map;
extern const struct tn_operators tn_ops_ml_tree;
extern const struct tn_operators tn_ops_move;
extern const struct tn_operators tn_ops_norm;
extern const struct tn_operators tn_ops_norm_axis;
extern const struct tn_operators tn_ops_pool;
extern const struct tn_operators tn_ops_pool_last;
extern const struct tn_operators tn_ops_quantize;
extern const struct tn_operators tn_ops_random;
extern const struct tn_operators tn_ops_recurrent;
extern const struct tn_operators tn_ops_reduce;
extern const struct tn_operators tn_ops_resize;
extern const struct tn_operators tn_ops_roi;
extern const struct tn_operators tn_ops_rows_attention;
extern const struct tn_operators tn_ops_rows_linear;
extern const struct tn_operators tn_ops_rows_simple;
extern const struct tn_operators tn_ops_select;
extern const struct tn_operators tn_ops_sequence;
extern const struct tn_operators tn_ops_shape;
extern const struct tn_operators tn_ops_signal;
extern const struct tn_operators tn_ops_softmax;
extern const struct tn_operators tn_ops_square;
extern const struct tn_operators tn_ops_text;

const struct tn_operators *const tn_operator_groups[] = {
    &tn_ops_arrange,
    &tn_ops_attention,
    &tn_ops_attention_flex,
    &tn_ops_attention_linear,
    &tn_ops_cast,
    &tn_ops_center,
    &tn_ops_constant,
    &tn_ops_contrib_attention,
    &tn_ops_contrib_fused,
    &tn_ops_contrib_gather_blocks,
    &tn_ops_contrib_gelu,
    &tn_ops_contrib_group_attention,
    &tn_ops_contrib_matmul_nbits,
    &tn_ops_contrib_norm,
    &tn_ops_contrib_qlinear,
    &tn_ops_contrib_qmatmul,
    &tn_ops_contrib_widened,
    &tn_ops_control,
    &tn_ops_conv,
    &tn_ops_conv_deform,
    &tn_ops_conv_integer,
    &tn_ops_conv_last,
    &tn_ops_conv_last_pair,
    &tn_ops_conv_last_up,
    &tn_ops_conv_transpose,
    &tn_ops_dropout,
    &tn_ops_einsum,
    &tn_ops_gate,
    &tn_ops_elementwise_binary,
    &tn_ops_elementwise_select,
    &tn_ops_elementwise_unary,
    &tn_ops_fused_attend,
    &tn_ops_fused_nibbles,
    &tn_ops_fused_table,
    &tn_ops_gather,
    &tn_ops_grid_sample,
    &tn_ops_loss,
    &tn_ops_matmul,
    &tn_ops_matmul_integer,
    &tn_ops_ml_encode,
    &tn_ops_ml_features,
    &tn_ops_ml_linear,
    &tn_ops_ml_map,
    &tn_ops_ml_tree,
    &tn_ops_move,
    &tn_ops_norm,
    &tn_ops_norm_axis,
    &tn_ops_pool,
    &tn_ops_pool_last,
    &tn_ops_quantize,
    &tn_ops_random,
    &tn_ops_recurrent,
    &tn_ops_reduce,
    &tn_ops_resize,
    &tn_ops_roi,
    &tn_ops_rows_attention,
    &tn_ops_rows_linear,
    &tn_ops_rows_simple,
    &tn_ops_select,
    &tn_ops_sequence,
    &tn_ops_shape,
    &tn_ops_signal,
    &tn_ops_softmax,
    &tn_ops_square,
    &tn_ops_text,
};
const size_t tn_operator_group_count = sizeof(tn_operator_groups) / sizeof(tn_operator_groups[0]);
