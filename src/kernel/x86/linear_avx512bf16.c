/*
 * Linear layer in bfloat16 (the flags of _avx512 and -mavx512bf16): VDPBF16PS takes a pair of k per
 * step. Packed panels are those of linear_body.h with units of two bfloat16.
 */
#include "kernel/x86/vec_avx512.h"

#include "kernel/x86/vec_math.h"
#include "kernel/x86/linear_run.h"
#include "kernel/x86/linear_pool_run.h"
#include "kernel/x86/x86.h"

#define TILE_STEP(sum, x, w) _mm512_dpbf16_ps(sum, (__m512bh)(x), (__m512bh)(w))
#include "kernel/x86/tile.h"

/* Rounds rows to bfloat16; an odd k is completed by a zero. */
static void round_rows(const float *x, size_t x_stride, size_t rows, size_t k, float *units,
                       size_t unit_stride)
{
    for (size_t row = 0; row < rows; row++, x += x_stride, units += unit_stride) {
        char *to = (char *)units;
        size_t i = 0;
        for (; i + 2 * VEC <= k; i += 2 * VEC, to += 64) {
            __m512bh pair = _mm512_cvtne2ps_pbh(v_load(x + i + VEC), v_load(x + i));
            _mm512_storeu_si512(to, (__m512i)pair);
        }
        if (i == k) continue;
        vec low = v_load_tail(x + i, v_tail(k - i));
        vec high = k - i > VEC ? v_load_tail(x + i + VEC, v_tail(k - i - VEC)) : v_zero();
        __m512i pair = (__m512i)_mm512_cvtne2ps_pbh(high, low);
        __mmask16 written = v_tail((k - i) / 2 + (k - i) % 2);
        _mm512_mask_storeu_epi32(to, written, pair);
    }
}

void tn_avx512bf16_linear(const struct tn_linear_args *a, unsigned rank, unsigned size)
{
    if (a->layer->compute == TN_COMPUTE_F32) {
        tn_avx512_linear(a, rank, size);
    } else {
        linear_run(a, rank, size, tiles, round_rows);
    }
}

void tn_avx512bf16_linear_pool(const struct tn_linear_pool_args *a, unsigned rank, unsigned size)
{
    if (a->layer->compute == TN_COMPUTE_F32) {
        tn_avx512_linear_pool(a, rank, size);
    } else {
        linear_pool_run(a, rank, size, tiles, round_rows);
    }
}
