/*
 * Convolutions with constant weights on the kernels of kernel.h: sums over many channels as products ("conv1") over the
 * input itself or over columns of a strip of it, sums over few taps plane by plane ("planes").
 */
#ifndef TN_OPS_CONV_DENSE_H
#define TN_OPS_CONV_DENSE_H

#include "ops/conv.h"

struct tn_dense; /* packed weights */

/* Packs; free with tn_free. NULL without memory. Rows of w: maps, of float32 or half precision. */
struct tn_dense *tn_dense_pack(struct tn_prepare *p, const struct tn_tensor *w, size_t groups);

struct tn_dense_args {
    const struct tn_conv *c;
    const void *x;
    enum tn_float_type x_type;
    const float *bias; /* or NULL */
    const struct tn_after *after;
    enum tn_float_type type; /* of y, residual */
    const void *residual;    /* or NULL */
    void *y;
};

/* Whether the window is one element wide and stands on every input: the input is its own columns. */
bool tn_conv_direct(const struct tn_window *w);
/* False with the failure set. x is float32 unless the window is direct. */
bool tn_dense_run(struct tn_run *r, const struct tn_dense *w, const struct tn_dense_args *a);

/* Whether sums are short enough for planes: for windows of one or two dimensions. */
bool tn_planes_pay(const struct tn_window *w, uint64_t each_maps);
/* Weights [maps][channels of a group][taps] as floats. x is of a->type. */
bool tn_planes_run(struct tn_run *r, const float *weights, const struct tn_dense_args *a);

#endif
