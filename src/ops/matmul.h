/* Shapes of matrix products over batches that broadcast, as numpy.matmul has them. */
#ifndef TN_OPS_MATMUL_H
#define TN_OPS_MATMUL_H

#include "ops/op.h"

struct tn_matmul {
    size_t m, n, k;
    uint64_t batch; /* matrices of the result */
    uint32_t rank;  /* of the batch */
    uint64_t dims[TN_RANK], a_step[TN_RANK], b_step[TN_RANK]; /* in matrices */
    bool one_b;   /* the second operand is one matrix */
    bool a_whole; /* the first has one for each of the result */
};

/* States output 0 of operands ai and bi. */
bool tn_matmul_infer(struct tn_infer *x, uint32_t ai, uint32_t bi, enum tn_element e);
void tn_matmul_shape(const struct tn_tensor *a, const struct tn_tensor *b, struct tn_matmul *out);
/* Which matrices make the i-th of the result. */
void tn_matmul_at(const struct tn_matmul *s, uint64_t i, uint64_t *a, uint64_t *b);

/*
 * What MatMul's `run` takes as its state: a constant matrix of float32 or half precision [k, n], with `turned` [n, k], and a
 * bias [n] of its type or NULL. NULL without memory. Freed by tn_matmul_release.
 */
void *tn_matmul_pack(struct tn_prepare *p, const struct tn_tensor *b, bool turned, const struct tn_tensor *bias);
void tn_matmul_release(struct tn_alloc *alloc, void *state);

#endif
