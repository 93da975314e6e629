/*
 * What a patch may fold into Conv, ConvTranspose, Gemm, MatMul, ConvInteger and MatMulInteger: work on each result while it
 * is still near the processor. Stated by attributes of the node whose names no file can carry (the check of a graph
 * refuses attributes that a schema does not know) and by operands behind those of the schema:
 *
 *     y = line(activation(f(product) + bias + residual))
 *
 *     tenon.activation  text     one of the list below; absent: none
 *     tenon.params      floats   its a and b; absent: the defaults below
 *     tenon.line        floats   line(x) = the first * x + the second, rounded twice; absent: none
 *     tenon.bias        integer  index of an operand: float32 or the output's type, a vector of one number for each map
 *                                (convolutions; shape [maps] or [maps, 1, 1 ...]) or column (products; shape [n])
 *     tenon.residual    integer  index of an operand of the output's type and shape
 *     tenon.scales      integers of ConvInteger and MatMulInteger alone: indices of one or two operands of float32. f(sum) is
 *                                then sum * (the first * the second) and the output float32; each has one number, or one
 *                                for each map or column. The activation, bias and residual above need it.
 *
 * Without tenon.scales f(x) = x. Gemm's own C and Conv's own B stay what they are and come before. Only with results of
 * float32, float16 and bfloat16: a node of another type with these attributes is refused. A residual is never written.
 * NaN goes through every activation.
 */
#ifndef TN_OPS_EPILOGUE_H
#define TN_OPS_EPILOGUE_H

#include "ops/op.h"

/* X(name of enum tn_finish, text, default a, default b) */
#define TN_FINISH_LIST(X)                                                                              \
    X(NONE, "", 0, 0)                                                                                 \
    X(CLIP, "clip", -INFINITY, INFINITY)       /* into [a, b] */                                       \
    X(LEAKY_RELU, "leaky_relu", 0.01f, 0)      /* x < 0 ? a x : x */                                   \
    X(HARD_SIGMOID, "hard_sigmoid", 0.2f, 0.5f) /* min(max(a x + b, 0), 1) */                          \
    X(HARD_SWISH, "hard_swish", 1.0f / 6, 0.5f) /* x min(max(a x + b, 0), 1) */                        \
    X(ACT, NULL, 0, 0) /* any other of describe/activation.h by its text: "relu", "gelu", "silu" ... */

struct tn_epilogue {
    struct tn_after after;
    uint32_t bias, residual, scale[2]; /* operands; TN_NET_NONE: there is none */
    bool any; /* whether there is anything to do but the scales */
};

/* What a node states. False: an activation that is not in the list. */
bool tn_epilogue_read(const struct tn_node *node, struct tn_epilogue *out);
/* For a row's `lacks`. */
const char *tn_epilogue_lacks(const struct tn_node *node);
/* Operands against the output and its `lines` maps or columns; false with the failure set. */
bool tn_epilogue_check(struct tn_run *r, const struct tn_epilogue *e, uint64_t lines);

/* Rows of results that are finished in place. */
struct tn_finish_args {
    const struct tn_kernels *kernels;
    const struct tn_epilogue *e;
    float *y; /* [rows, width] */
    size_t y_stride, rows, width;
    const float *row_bias;    /* [rows], or NULL */
    const float *column_bias; /* [width], or NULL */
    const float *residual;    /* [rows, width], or NULL */
    size_t residual_stride;
};

/* By the calling thread alone; an element's result depends on its own numbers. */
void tn_finish_rows(const struct tn_finish_args *a);

#endif
