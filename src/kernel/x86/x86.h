/*
 * The x86-64 tables. Files named *_avx2.c, *_avx512.c and *_avx512bf16.c are compiled with the flags
 * of that instruction set and may only be called after tn_cpu_detect has found it:
 *
 *     _avx2        -mavx2 -mfma -mf16c
 *     _avx512      -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma
 *     _avx512vnni  those of _avx512 and -mavx512vnni
 *     _avx512bf16  those of _avx512 and -mavx512bf16
 */
#ifndef TN_KERNEL_X86_X86_H
#define TN_KERNEL_X86_X86_H

#include "kernel/kernel.h"

#if defined(__x86_64__)

extern const struct tn_kernels tn_kernels_avx2;
extern const struct tn_kernels tn_kernels_avx512;
extern const struct tn_kernels tn_kernels_avx512vnni;
extern const struct tn_kernels tn_kernels_avx512bf16;

#define TN_X86_DECLARE_BYTES(isa)                                                                  \
    bool tn_##isa##_bytes_pack_size(size_t n, size_t k, size_t *bytes);                            \
    void tn_##isa##_bytes_pack(const int8_t *b, size_t k_stride, size_t n_stride, size_t n, size_t k, bool turn, void *packed, \
                               unsigned rank, unsigned size);                                      \
    void tn_##isa##_bytes(const struct tn_bytes_args *a, unsigned rank, unsigned size);            \
    bool tn_##isa##_bytes_window_pack_size(size_t maps, size_t quads, size_t taps, size_t *bytes); \
    void tn_##isa##_bytes_window_pack(const int8_t *w, size_t maps, size_t quads, size_t taps, void *packed); \
    void tn_##isa##_bytes_window(const struct tn_bytes_window_args *a);                            \
    bool tn_##isa##_nibbles_pack_size(const struct tn_nibbles *layer, size_t *bytes);              \
    void tn_##isa##_nibbles_pack(const struct tn_nibbles *layer, const struct tn_nibbles_source *from, void *packed, \
                                 unsigned rank, unsigned size);                                    \
    void tn_##isa##_nibbles_column(const struct tn_nibbles *layer, size_t i, float *to);           \
    bool tn_##isa##_code_row(const float *x, size_t k, int8_t *codes, struct tn_row_block *blocks); \
    void tn_##isa##_nibbles(const struct tn_nibbles_args *a, unsigned rank, unsigned size);

TN_X86_DECLARE_BYTES(avx2)
TN_X86_DECLARE_BYTES(avx512)
TN_X86_DECLARE_BYTES(avx512vnni)

#define TN_X86_DECLARE(isa)                                                                        \
    bool tn_##isa##_linear_pack_size(size_t n, size_t k, enum tn_compute compute, size_t *bytes);  \
    bool tn_##isa##_linear_scratch_size(size_t n, size_t k, enum tn_compute compute,               \
                                        size_t *bytes);                                            \
    void tn_##isa##_linear_pack(const struct tn_linear *layer, const struct tn_linear_part *parts, \
                                size_t part_count, void *packed, unsigned rank, unsigned size);    \
    void tn_##isa##_linear(const struct tn_linear_args *a, unsigned rank, unsigned size);          \
    void tn_##isa##_linear_pool(const struct tn_linear_pool_args *a, unsigned rank, unsigned size); \
    bool tn_##isa##_attention_scratch_size(size_t max_length, size_t head_dim, bool relative,      \
                                           size_t *bytes);                                         \
    void tn_##isa##_attention(const struct tn_attention_args *a, unsigned rank, unsigned size);    \
    void tn_##isa##_rotary(const struct tn_rotary_args *a, unsigned rank, unsigned size);          \
    void tn_##isa##_gate(const struct tn_gate_args *a, unsigned rank, unsigned size);              \
    void tn_##isa##_layer_norm(const struct tn_layer_norm_args *a, unsigned rank, unsigned size);  \
    void tn_##isa##_embed(const struct tn_embed_args *a, unsigned rank, unsigned size);            \
    void tn_##isa##_pooling(const struct tn_pooling_args *a, unsigned rank, unsigned size);        \
    void tn_##isa##_normalize(const float *x, size_t x_stride, float *y, size_t y_stride,          \
                              size_t rows, size_t width, unsigned rank, unsigned size);            \
    void tn_##isa##_trees(const struct tn_trees_args *a);                                          \
    void tn_##isa##_softmax(const struct tn_softmax_args *a, unsigned rank, unsigned size);         \
    void tn_##isa##_dots(const struct tn_dots_args *a, unsigned rank, unsigned size);               \
    void tn_##isa##_activate(enum tn_act act, float *x, size_t stride, size_t rows, size_t width,  \
                             unsigned rank, unsigned size);                                        \
    void tn_##isa##_rows_finite(const float *x, size_t stride, size_t rows, size_t width,          \
                                uint8_t *finite, unsigned rank, unsigned size);                    \
    void tn_##isa##_range(const float *x, size_t count, float *low, float *high);                  \
    void tn_##isa##_to_codes(const struct tn_codes_args *a);                                       \
    void tn_##isa##_from_sums(const struct tn_sums_args *a);                                       \
    bool tn_##isa##_conv3_pack_size(size_t maps, size_t channels, size_t *bytes);                  \
    bool tn_##isa##_conv3_scratch_size(size_t maps, size_t channels, size_t *bytes);               \
    void tn_##isa##_conv3_pack(const void *w, enum tn_float_type type, size_t maps, size_t channels, void *packed, \
                               unsigned rank, unsigned size);                                      \
    void tn_##isa##_conv3(const struct tn_conv3_args *a);                                          \
    bool tn_##isa##_conv1_pack_size(size_t maps, size_t k, size_t *bytes);                         \
    bool tn_##isa##_conv1_scratch_size(size_t k, size_t *bytes);                                   \
    void tn_##isa##_conv1_pack(const void *w, enum tn_float_type type, size_t maps, size_t k, void *packed, unsigned rank, \
                               unsigned size);                                                     \
    void tn_##isa##_conv1(const struct tn_conv1_args *a);                                          \
    bool tn_##isa##_planes_scratch_size(const struct tn_planes_args *a, size_t *bytes);            \
    void tn_##isa##_planes(const struct tn_planes_args *a);                                        \
    bool tn_##isa##_pixels_pack_size(size_t maps, size_t k, size_t *bytes);                        \
    void tn_##isa##_pixels_pack(const void *w, enum tn_float_type type, size_t maps, size_t k, void *packed, unsigned rank, \
                                unsigned size);                                                    \
    void tn_##isa##_pixels(const struct tn_pixels_args *a);                                        \
    void tn_##isa##_depth(const struct tn_depth_args *a);                                          \
    bool tn_##isa##_filter_pack_size(enum tn_filter form, size_t maps, size_t channels, size_t *bytes); \
    bool tn_##isa##_filter_scratch_size(enum tn_filter form, size_t maps, size_t channels, size_t count, size_t *bytes); \
    void tn_##isa##_filter_pack(enum tn_filter form, const float *w, size_t maps, size_t channels, void *packed, unsigned rank, \
                                unsigned size);                                                    \
    void tn_##isa##_filter(const struct tn_filter_args *a);                                        \
    void tn_##isa##_to_f32(enum tn_float_type type, const void *src, float *dst, size_t count);    \
    void tn_##isa##_from_f32(enum tn_float_type type, const float *src, void *dst, size_t count);

TN_X86_DECLARE(avx2)
TN_X86_DECLARE(avx512)

/* Both computes; the float32 side is tn_avx512_linear. */
void tn_avx512bf16_linear(const struct tn_linear_args *a, unsigned rank, unsigned size);
void tn_avx512bf16_linear_pool(const struct tn_linear_pool_args *a, unsigned rank, unsigned size);

#endif
#endif
