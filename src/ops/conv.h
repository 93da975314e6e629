/* What the files of convolutions share: sizes of a call and the float32 road over packed products. */
#ifndef TN_OPS_CONV_H
#define TN_OPS_CONV_H

#include "ops/window.h"

struct tn_conv {
    struct tn_window w;
    uint64_t images, channels, maps, groups;
    uint64_t each_channels, each_maps; /* of one group */
    uint64_t taps, depth;              /* elements of the kernel; products in one sum */
    uint64_t in_plane, out_plane;      /* spatial elements */
};

/* What is folded in (ops/epilogue.h), its operands widened; vectors by map. */
struct tn_epilogue;
struct tn_conv_finish {
    const struct tn_epilogue *e;
    const float *bias, *residual; /* or NULL */
};

/* On positions [from, from + count) of `maps` planes from `map` on. f NULL: nothing. */
void tn_conv_finish(const struct tn_conv_finish *f, const struct tn_conv *c, const struct tn_kernels *kernels, float *y,
                    uint64_t image, uint64_t map, uint64_t maps, uint64_t from, uint64_t count);

/* Types Y of `x` and `w` (operand indices) with element e; checks the bias, when it is given, too. */
bool tn_conv_infer(struct tn_infer *t, uint32_t x, uint32_t w, uint32_t bias, enum tn_element e);
/* The same of actual operands, which inference has accepted. */
void tn_conv_read(const struct tn_run *r, const struct tn_tensor *x, const struct tn_tensor *w, struct tn_conv *c);
/*
 * y[images, maps, ...] = x * weights + bias in float32. With `sums` the products are of small integers, up to 255 each,
 * and exact: they go to sums[images, maps, ...] as 32-bit numbers, and y is not written. `finish` may be NULL. False with the failure set.
 */
bool tn_conv_f32(struct tn_run *r, const struct tn_conv *c, const float *x, const float *weights, const float *bias, float *y,
                 int32_t *sums, const struct tn_conv_finish *finish);
/* The input elements that output positions [from, to) meet, [depth][to - from], of one group of one image. */
void tn_conv_columns(const struct tn_conv *c, const float *x, uint64_t from, uint64_t to, float *columns);

#endif
