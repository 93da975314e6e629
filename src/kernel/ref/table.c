/* The reference table. */
#include "kernel/ref/ref.h"

const struct tn_kernels tn_kernels_ref = {
    .name = "ref",
    .isa_class = "portable",
    .bf16 = true,
    .linear_pack_size = tn_ref_linear_pack_size,
    .linear_scratch_size = tn_ref_linear_scratch_size,
    .linear_pack = tn_ref_linear_pack,
    .linear = tn_ref_linear,
    .linear_pool = tn_ref_linear_pool,
    .attention_scratch_size = tn_ref_attention_scratch_size,
    .attention = tn_ref_attention,
    .rotary = tn_ref_rotary,
    .gate = tn_ref_gate,
    .layer_norm = tn_ref_layer_norm,
    .embed = tn_ref_embed,
    .pooling = tn_ref_pooling,
    .normalize = tn_ref_normalize,
    .activate = tn_ref_activate,
    .rows_finite = tn_ref_rows_finite,
    .to_f32 = tn_ref_to_f32,
    .from_f32 = tn_ref_from_f32,
};
