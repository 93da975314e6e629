/* What the files of convolutions over [N, H, W, C] share: packed weights, and the shares of threads. */
#ifndef TN_OPS_CONV_LAST_H
#define TN_OPS_CONV_LAST_H

#include "ops/epilogue.h"
#include "ops/filter.h"
#include "ops/window.h"

/*
 * Weights of one convolution: [taps][channels] of depthwise windows, or what pixels_pack has made of [maps][taps][channels],
 * or filter_pack.
 */
struct tn_last_weights {
    bool deep, finite, filtered;
    enum tn_filter form;
    float *data;
};

/* Packs constant weights [M, C / group, kh, kw]; *out stays NULL for what can only be packed in a call. Free with tn_free. */
enum tn_status tn_last_pack(struct tn_prepare *p, const struct tn_tensor *w, bool deep, struct tn_last_weights **out);
/* The same in a call. NULL with the failure set; give it back. */
struct tn_last_weights *tn_last_pack_now(struct tn_run *r, const struct tn_tensor *w, bool deep);

/*
 * The residual of a call: what tenon.residual names, or tenon.narrow, an operand of fewer channels than the result, which the
 * first maps are given. Fills in a->residual and its two sizes; false with the failure set.
 */
bool tn_last_residual(struct tn_run *r, const struct tn_epilogue *e, struct tn_pixels_args *a);

/* Results first .. first + count - 1 of an image under depthwise windows. */
void tn_last_deep(const struct tn_kernels *kernels, const struct tn_window *w, struct tn_depth_args a);

/*
 * Rows of each thread that stand between two operators: in the first cache beside weights, but where the weights of the
 * product are many, which each strip of rows reads all, in the second one.
 */
enum { TN_LAST_STRIP = 6 << 10, TN_LAST_LONG_STRIP = 24 << 10 };

static inline size_t tn_last_strip(size_t channels, size_t maps)
{
    size_t floats = maps < TN_LAST_STRIP / channels ? TN_LAST_STRIP : maps > TN_LAST_LONG_STRIP / channels ? TN_LAST_LONG_STRIP : channels * maps;
    return floats / channels / 12 * 12;
}
/* Whether the work is for all threads: multiply-adds of the whole call. */
unsigned tn_last_threads(const struct tn_run *r, size_t results, size_t each);

/* Types output 0 of `maps` channels under a window over operand 0. */
bool tn_last_infer(struct tn_infer *t, const struct tn_window *w, const struct tn_shape *x, tn_dim_t maps);
/* The window of a node with weights of this shape, which fit x; false with the reason. group > 1: depthwise. */
bool tn_last_infer_window(struct tn_infer *t, const struct tn_shape *x, const struct tn_shape *weights, struct tn_window *w);

#endif
