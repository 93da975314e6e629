/*
 * The reference kernels: plain C, one operator per file, the oracle of every fast variant and the
 * only table on CPUs without one. They favour accuracy and legibility; transcendental functions go
 * through double and are rounded once.
 */
#ifndef TN_KERNEL_REF_REF_H
#define TN_KERNEL_REF_REF_H

#include "kernel/kernel.h"

extern const struct tn_kernels tn_kernels_ref;

bool tn_ref_linear_pack_size(size_t n, size_t k, enum tn_compute compute, size_t *bytes);
bool tn_ref_linear_scratch_size(size_t n, size_t k, enum tn_compute compute, size_t *bytes);
void tn_ref_linear_pack(const struct tn_linear *layer, const struct tn_linear_part *parts,
                        size_t part_count, void *packed, unsigned rank, unsigned size);
void tn_ref_linear_pool(const struct tn_linear_pool_args *a, unsigned rank, unsigned size);
void tn_ref_linear(const struct tn_linear_args *a, unsigned rank, unsigned size);

bool tn_ref_attention_scratch_size(size_t max_length, size_t head_dim, bool relative, size_t *bytes);
void tn_ref_attention(const struct tn_attention_args *a, unsigned rank, unsigned size);

void tn_ref_rotary(const struct tn_rotary_args *a, unsigned rank, unsigned size);
void tn_ref_gate(const struct tn_gate_args *a, unsigned rank, unsigned size);

void tn_ref_layer_norm(const struct tn_layer_norm_args *a, unsigned rank, unsigned size);
/* One row: y = norm(v). y may be v. */
void tn_ref_layer_norm_row(const float *v, float *y, size_t width, const float *gamma,
                           const float *beta, float eps);
void tn_ref_embed(const struct tn_embed_args *a, unsigned rank, unsigned size);
void tn_ref_pooling(const struct tn_pooling_args *a, unsigned rank, unsigned size);

void tn_ref_normalize(const float *x, size_t x_stride, float *y, size_t y_stride, size_t rows,
                      size_t width, unsigned rank, unsigned size);
float tn_ref_act(enum tn_act act, float x);
void tn_ref_trees(const struct tn_trees_args *a);
void tn_ref_softmax(const struct tn_softmax_args *a, unsigned rank, unsigned size);
void tn_ref_dots(const struct tn_dots_args *a, unsigned rank, unsigned size);
void tn_ref_activate(enum tn_act act, float *x, size_t stride, size_t rows, size_t width,
                     unsigned rank, unsigned size);
void tn_ref_rows_finite(const float *x, size_t stride, size_t rows, size_t width, uint8_t *finite,
                        unsigned rank, unsigned size);
bool tn_ref_bytes_pack_size(size_t n, size_t k, size_t *bytes);
void tn_ref_bytes_pack(const int8_t *b, size_t k_stride, size_t n_stride, size_t n, size_t k, bool turn, void *packed,
                       unsigned rank, unsigned size);
void tn_ref_bytes(const struct tn_bytes_args *a, unsigned rank, unsigned size);
bool tn_ref_bytes_window_pack_size(size_t maps, size_t quads, size_t taps, size_t *bytes);
void tn_ref_bytes_window_pack(const int8_t *w, size_t maps, size_t quads, size_t taps, void *packed);
void tn_ref_bytes_window(const struct tn_bytes_window_args *a);
bool tn_ref_nibbles_pack_size(const struct tn_nibbles *layer, size_t *bytes);
void tn_ref_nibbles_pack(const struct tn_nibbles *layer, const struct tn_nibbles_source *from, void *packed, unsigned rank, unsigned size);
void tn_ref_nibbles_column(const struct tn_nibbles *layer, size_t i, float *to);
bool tn_ref_code_row(const float *x, size_t k, int8_t *codes, struct tn_row_block *blocks);
void tn_ref_nibbles(const struct tn_nibbles_args *a, unsigned rank, unsigned size);
void tn_ref_range(const float *x, size_t count, float *low, float *high);
void tn_ref_to_codes(const struct tn_codes_args *a);
void tn_ref_from_sums(const struct tn_sums_args *a);
bool tn_ref_conv3_pack_size(size_t maps, size_t channels, size_t *bytes);
bool tn_ref_conv3_scratch_size(size_t maps, size_t channels, size_t *bytes);
void tn_ref_conv3_pack(const void *w, enum tn_float_type type, size_t maps, size_t channels, void *packed, unsigned rank, unsigned size);
void tn_ref_conv3(const struct tn_conv3_args *a);
bool tn_ref_conv1_pack_size(size_t maps, size_t k, size_t *bytes);
bool tn_ref_conv1_scratch_size(size_t k, size_t *bytes);
void tn_ref_conv1_pack(const void *w, enum tn_float_type type, size_t maps, size_t k, void *packed, unsigned rank, unsigned size);
void tn_ref_conv1(const struct tn_conv1_args *a);
bool tn_ref_planes_scratch_size(const struct tn_planes_args *a, size_t *bytes);
void tn_ref_planes(const struct tn_planes_args *a);
bool tn_ref_pixels_pack_size(size_t maps, size_t k, size_t *bytes);
void tn_ref_pixels_pack(const void *w, enum tn_float_type type, size_t maps, size_t k, void *packed, unsigned rank, unsigned size);
void tn_ref_pixels(const struct tn_pixels_args *a);
void tn_ref_depth(const struct tn_depth_args *a);
bool tn_ref_filter_pack_size(enum tn_filter form, size_t maps, size_t channels, size_t *bytes);
bool tn_ref_filter_scratch_size(enum tn_filter form, size_t maps, size_t channels, size_t count, size_t *bytes);
void tn_ref_filter_pack(enum tn_filter form, const float *w, size_t maps, size_t channels, void *packed, unsigned rank, unsigned size);
void tn_ref_filter(const struct tn_filter_args *a);
void tn_ref_to_f32(enum tn_float_type type, const void *src, float *dst, size_t count);
void tn_ref_from_f32(enum tn_float_type type, const float *src, void *dst, size_t count);

#endif
