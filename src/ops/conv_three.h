/* 3 x 3 windows of stride 1 with constant weights on the kernels of kernel.h ("conv3"), in float32 or half precision. */
#ifndef TN_OPS_CONV_THREE_H
#define TN_OPS_CONV_THREE_H

#include "ops/conv.h"
#include "ops/epilogue.h"

struct tn_three; /* packed weights */

/* Whether the kernel pays for a node with these weights. */
bool tn_three_pays(const struct tn_node *node, const struct tn_tensor *w);
/* Packs; free with tn_free. NULL without memory. */
struct tn_three *tn_three_pack(struct tn_prepare *p, const struct tn_tensor *w);

struct tn_three_args {
    const struct tn_conv *c;
    const void *x;
    enum tn_float_type type; /* of x, y, residual */
    const float *bias;       /* or NULL */
    const void *residual;    /* or NULL */
    const struct tn_after *after;
    void *y;
};

/* False with the failure set. */
bool tn_three_run(struct tn_run *r, const struct tn_three *w, const struct tn_three_args *a);

#endif
