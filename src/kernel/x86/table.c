/*
 * The tables of the x86-64 kernels. Compiled without special flags: it names functions and calls
 * none. The whole folder is left out on other architectures.
 */
#include "kernel/x86/x86.h"

#define BYTES(isa)                                                                                 \
    .bytes_pack_size = tn_##isa##_bytes_pack_size, .bytes_pack = tn_##isa##_bytes_pack,            \
    .bytes = tn_##isa##_bytes, .bytes_window_pack_size = tn_##isa##_bytes_window_pack_size,        \
    .bytes_window_pack = tn_##isa##_bytes_window_pack, .bytes_window = tn_##isa##_bytes_window,    \
    .nibbles_pack_size = tn_##isa##_nibbles_pack_size, .nibbles_pack = tn_##isa##_nibbles_pack,    \
    .nibbles_column = tn_##isa##_nibbles_column, .code_row = tn_##isa##_code_row,                  \
    .nibbles = tn_##isa##_nibbles

#define TABLE(isa, linear_fn)                                                                      \
    .linear_pack_size = tn_##isa##_linear_pack_size,                                               \
    .linear_scratch_size = tn_##isa##_linear_scratch_size,                                         \
    .linear_pack = tn_##isa##_linear_pack, .linear = linear_fn, .linear_pool = linear_fn##_pool,    \
    .attention_scratch_size = tn_##isa##_attention_scratch_size,                                   \
    .attention = tn_##isa##_attention, .rotary = tn_##isa##_rotary, .gate = tn_##isa##_gate,       \
    .layer_norm = tn_##isa##_layer_norm,                                                           \
    .embed = tn_##isa##_embed, .pooling = tn_##isa##_pooling, .normalize = tn_##isa##_normalize,   \
    .softmax = tn_##isa##_softmax, .dots = tn_##isa##_dots,                                        \
    .trees = tn_##isa##_trees, .activate = tn_##isa##_activate, .rows_finite = tn_##isa##_rows_finite,                        \
    .range = tn_##isa##_range, .to_codes = tn_##isa##_to_codes, .from_sums = tn_##isa##_from_sums, \
    .conv3_pack_size = tn_##isa##_conv3_pack_size, .conv3_scratch_size = tn_##isa##_conv3_scratch_size, \
    .conv3_pack = tn_##isa##_conv3_pack, .conv3 = tn_##isa##_conv3,                                \
    .conv1_pack_size = tn_##isa##_conv1_pack_size, .conv1_scratch_size = tn_##isa##_conv1_scratch_size, \
    .conv1_pack = tn_##isa##_conv1_pack, .conv1 = tn_##isa##_conv1,                                \
    .planes_scratch_size = tn_##isa##_planes_scratch_size, .planes = tn_##isa##_planes,            \
    .pixels_pack_size = tn_##isa##_pixels_pack_size, .pixels_pack = tn_##isa##_pixels_pack,        \
    .pixels = tn_##isa##_pixels, .depth = tn_##isa##_depth,                                        \
    .filter_pack_size = tn_##isa##_filter_pack_size, .filter_scratch_size = tn_##isa##_filter_scratch_size, \
    .filter_pack = tn_##isa##_filter_pack, .filter = tn_##isa##_filter,                            \
    .to_f32 = tn_##isa##_to_f32, .from_f32 = tn_##isa##_from_f32

const struct tn_kernels tn_kernels_avx2 = {
    .name = "avx2",
    .isa_class = "x86-64-avx2",
    .bf16 = false,
    TABLE(avx2, tn_avx2_linear),
    BYTES(avx2),
};

const struct tn_kernels tn_kernels_avx512 = {
    .name = "avx512",
    .isa_class = "x86-64-avx512",
    .bf16 = false,
    TABLE(avx512, tn_avx512_linear),
    BYTES(avx512),
};

const struct tn_kernels tn_kernels_avx512vnni = {
    .name = "avx512",
    .isa_class = "x86-64-avx512",
    .bf16 = false,
    TABLE(avx512, tn_avx512_linear),
    BYTES(avx512vnni),
};

const struct tn_kernels tn_kernels_avx512bf16 = {
    .name = "avx512",
    .isa_class = "x86-64-avx512",
    .bf16 = true,
    TABLE(avx512, tn_avx512bf16_linear),
    BYTES(avx512vnni),
};
