/* What the attributes of MatMulNBits say, for the operator and for the patch that rounds its rows. */
#ifndef TN_OPS_NBITS_H
#define TN_OPS_NBITS_H

#include "ops/op.h"

enum { TN_NBITS_A, TN_NBITS_B, TN_NBITS_SCALES, TN_NBITS_ZEROS, TN_NBITS_GROUPS, TN_NBITS_BIAS };

struct tn_nbits {
    uint64_t n, k, block, blocks, blob; /* blob: bytes of a block */
    unsigned bits;
};

/* NULL, or what the attributes should be. */
const char *tn_nbits_read(const struct tn_node *node, struct tn_nbits *s);
/* Bytes of the packed zero points of a column. */
uint64_t tn_nbits_zero_bytes(const struct tn_nbits *s);
/* The output's type from A's, for nodes with these attributes. */
bool tn_nbits_infer(struct tn_infer *x);

#endif
