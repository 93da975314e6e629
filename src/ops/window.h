/*
 * Windows that slide over the spatial dimensions of [N, C, D1 .. Dr]: what convolutions and pools share. Numbers come from
 * files: all are checked, and bounded so that sums and products below fit.
 */
#ifndef TN_OPS_WINDOW_H
#define TN_OPS_WINDOW_H

#include "ops/op.h"

enum { TN_SPATIAL = TN_RANK - 2 };

enum tn_auto_pad { TN_PAD_NOTSET, TN_PAD_UPPER, TN_PAD_LOWER, TN_PAD_VALID };

struct tn_window {
    uint32_t rank;
    enum tn_auto_pad automatic;
    bool ceil;
    bool has_kernel; /* known already */
    int64_t kernel[TN_SPATIAL], stride[TN_SPATIAL], dilation[TN_SPATIAL];
    int64_t begin[TN_SPATIAL], end[TN_SPATIAL]; /* padding */
    int64_t in[TN_SPATIAL], out[TN_SPATIAL];    /* after tn_window_fit */
};

/*
 * Strides, dilations, padding and, when stated, the kernel's shape from a node's attributes. NULL, or what they should
 * have been.
 */
const char *tn_window_read(const struct tn_node *node, uint32_t rank, struct tn_window *w);
/* The kernel's shape where it follows from weights; it may not contradict the attribute. */
const char *tn_window_kernel(struct tn_window *w, const int64_t *kernel);
/* Output sizes and automatic padding for an input; NULL, or what should have been. */
const char *tn_window_fit(struct tn_window *w, const int64_t *in);
/* After the fit: last dimensions of one element under a window of one go, so that rows are the dimension before. */
void tn_window_trim(struct tn_window *w);
/* The output's dimension i for an input that may be a symbol; a kernel is known. Sets *why like tn_window_fit. */
tn_dim_t tn_window_dim(const struct tn_window *w, struct tn_symbols *symbols, uint32_t i, tn_dim_t in, const char **why);

/* Elements that the kernel reaches over. */
static inline int64_t tn_window_extent(const struct tn_window *w, uint32_t i)
{
    return (w->kernel[i] - 1) * w->dilation[i] + 1;
}

/* Products over all spatial dimensions; of shapes that a tensor has or that have been checked. */
static inline uint64_t tn_window_count(const int64_t *dims, uint32_t rank)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < rank; i++) n *= (uint64_t)dims[i];
    return n;
}

/* The index of an element of the kernel as coordinates. */
void tn_window_tap(const struct tn_window *w, uint64_t index, int64_t *tap);
/*
 * A row is all output positions that differ in the last dimension alone. Where the input row begins that tap meets from
 * output row `row`; false: in the padding.
 */
bool tn_window_row(const struct tn_window *w, const int64_t *tap, uint64_t row, uint64_t *at);
/* Output positions [*lo, *hi) of a row whose tap lies inside the input; the first meets *at, then every stride-th. */
void tn_window_span(const struct tn_window *w, const int64_t *tap, int64_t *lo, int64_t *hi, int64_t *at);
/* How many elements of the kernel position o of dimension i lays on the input, or with_pad on the padded input. */
int64_t tn_window_met(const struct tn_window *w, uint32_t i, int64_t o, bool with_pad);

#endif
