/*
 * Convolutions of 8-bit images by 8-bit weights, with exact sums: the road of ConvInteger and QLinearConv over one or two
 * spatial dimensions. The image is laid out in words of four channels with its padding, split by the strides, so that a
 * tap of the window meets neighbouring words for neighbouring positions and nothing is gathered.
 */
#ifndef TN_OPS_CONV_BYTES_H
#define TN_OPS_CONV_BYTES_H

#include "ops/conv.h"
#include "ops/epilogue.h"

struct tn_byte_weights; /* packed */

/* Bytes of packed weights [maps, channels of a group, taps]; false: too large. */
bool tn_byte_weights_size(const struct tn_kernels *kernels, uint64_t groups, uint64_t each_maps, uint64_t each_channels, uint64_t taps,
                          size_t *bytes);
/* Packs into `room`, which is aligned to 64. `turned`: w is unsigned. */
void tn_byte_weights_fill(const struct tn_kernels *kernels, const uint8_t *w, bool turned, uint64_t groups, uint64_t each_maps,
                          uint64_t each_channels, uint64_t taps, struct tn_byte_weights *room);

/* What becomes of a sum. */
enum tn_byte_result { TN_BYTES_TO_I32, TN_BYTES_TO_F32, TN_BYTES_TO_8 };

struct tn_conv_bytes {
    const struct tn_conv *c;
    const struct tn_tensor *x;
    int32_t x_zero;
    const struct tn_byte_weights *w;
    const struct tn_tensor *w_zero; /* one, or one for each map; NULL: 0 */
    enum tn_byte_result to;
    void *y;
    /* F32: sum * (scale[0] * scale[1]), then the epilogue. 8: round((sum + bias) * factor) + zero, saturated. */
    const float *scale[2];
    uint64_t scales[2];
    const struct tn_conv_finish *finish;
    const int32_t *bias;
    float y_scale;
    int32_t y_zero;
    bool y_signed;
};

/* Whether the window is one that this road has. */
bool tn_conv_bytes_can(const struct tn_conv *c);
/* False with the failure set. */
bool tn_conv_bytes(struct tn_run *r, const struct tn_conv_bytes *j);

#endif
