/* What a Resize node asks for: sizes of the result, and for each output index the input elements it is made of. */
#ifndef TN_OPS_RESIZE_PLAN_H
#define TN_OPS_RESIZE_PLAN_H

#include "ops/op.h"

enum tn_resize_mode { TN_RESIZE_NEAREST, TN_RESIZE_LINEAR, TN_RESIZE_CUBIC };

enum tn_resize_transform {
    TN_HALF_PIXEL,
    TN_HALF_PIXEL_SYMMETRIC,
    TN_PYTORCH_HALF_PIXEL,
    TN_ALIGN_CORNERS,
    TN_ASYMMETRIC,
    TN_CROP_AND_RESIZE
};

enum tn_resize_round { TN_ROUND_PREFER_FLOOR, TN_ROUND_PREFER_CEIL, TN_ROUND_FLOOR, TN_ROUND_CEIL };

struct tn_resize {
    uint32_t rank;
    enum tn_resize_mode mode;
    enum tn_resize_transform transform;
    enum tn_resize_round rounding;
    bool antialias, exclude_outside;
    double cubic, extrapolation;
    int64_t in[TN_RANK], out[TN_RANK];
    double scale[TN_RANK], start[TN_RANK], end[TN_RANK]; /* of the region, as parts of the input */
    bool same[TN_RANK];                                  /* the dimension stays as it is */
};

bool tn_resize_infer(struct tn_infer *x);
const char *tn_resize_lacks(const struct tn_node *node);
/* From the operands of a call; NULL, or what should have been. */
const char *tn_resize_plan(const struct tn_run *r, struct tn_resize *out);

/* Input elements that make one output element of a dimension. */
uint32_t tn_resize_taps(const struct tn_resize *p, uint32_t axis);
/* Their indices and weights, for output index o; false: it lies outside and takes the extrapolation value. */
bool tn_resize_weights(const struct tn_resize *p, uint32_t axis, int64_t o, uint32_t taps, uint32_t *index, double *weight);
/* The nearest neighbour's index; -1: outside. */
int64_t tn_resize_nearest(const struct tn_resize *p, uint32_t axis, int64_t o);

#endif
