/*
 * Matrix products for operators, on the packed kernels of kernel/kernel.h: C = A B in float32. The second matrix is
 * packed for the call unless that was done when the session was made; little work runs on plain loops.
 */
#ifndef TN_OPS_GEMM_H
#define TN_OPS_GEMM_H

#include "ops/op.h"

struct tn_gemm {
    size_t m, n, k;
    const float *a; /* [m, k], rows a_row apart */
    size_t a_row;
    const float *b; /* element (k, n) is b[k * b_k + n * b_n] */
    size_t b_k, b_n;
    float *c; /* [m, n], rows c_row apart; overlaps neither */
    size_t c_row;
    bool add;                       /* C += A B */
    const struct tn_linear *packed; /* B and what is added to each row of C; `b` is not read then */
    /* With `packed` and without `add`: C = act(A B) + residual, rows residual_row apart; NULL: none. */
    enum tn_act act;
    const float *residual;
    size_t residual_row;
};

/* Bytes of scratch that tn_gemm_alone needs, a multiple of 64, may be 0; false: too large. */
bool tn_gemm_scratch(const struct tn_kernels *kernels, const struct tn_gemm *g, size_t *bytes);
/* By the calling thread alone: from inside tn_run_items. `scratch` is aligned to 64. */
void tn_gemm_alone(const struct tn_kernels *kernels, const struct tn_gemm *g, void *scratch);
/* By all threads of the call; false with the failure set. */
bool tn_gemm_team(struct tn_run *r, const struct tn_gemm *g);
/*
 * `batch` products of one shape: the i-th has a + a_at[i], b + b_at[i], c + i * m * c_row. `packed` is NULL. By all
 * threads; false with the failure set.
 */
bool tn_gemm_batch(struct tn_run *r, const struct tn_gemm *g, uint64_t batch, const uint64_t *a_at, const uint64_t *b_at);

/*
 * Packs B[k, n] of a constant operand of float32, float16 or bfloat16 (element (k, n) at k * k_stride + n * n_stride) with
 * an optional bias [n] of the same type. NULL without memory or when the size overflows; free with tn_free.
 */
struct tn_linear *tn_gemm_pack(struct tn_prepare *p, const struct tn_tensor *b, const void *data, size_t k, size_t n, size_t k_stride,
                               size_t n_stride, const void *bias);

#endif
