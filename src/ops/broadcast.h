/*
 * Walking operands that broadcast against each other (ONNX, "Multidirectional broadcasting"): dimensions are merged as far
 * as all operands allow, the innermost one is a row whose elements lie side by side or are one and the same.
 */
#ifndef TN_OPS_BROADCAST_H
#define TN_OPS_BROADCAST_H

#include "ops/op.h"

enum { TN_BROADCAST = 4 }; /* operands of one walk */

struct tn_broadcast {
    uint32_t operands, rank; /* rank of the outer dimensions */
    int64_t dims[TN_RANK];
    int64_t stride[TN_BROADCAST][TN_RANK]; /* in elements, by outer dimension; 0 where the operand repeats */
    uint64_t rows, row;                    /* how many rows, and elements of one */
    bool moves[TN_BROADCAST];              /* the operand has an element for each of a row, not one for all */
};

/* `shapes` have been found to broadcast to the output's. */
void tn_broadcast_init(struct tn_broadcast *b, const struct tn_tensor *out, struct tn_tensor *const *in, uint32_t count);
/* Where row `index` of each operand begins, in elements. */
void tn_broadcast_row(const struct tn_broadcast *b, uint64_t index, uint64_t *begin);

/*
 * Calls fn(user, operands' offsets, offset in the output, n) for pieces of rows that cover the output, on several
 * threads. Offsets are in elements.
 */
typedef void tn_row_fn(void *user, const struct tn_broadcast *b, const uint64_t *in, uint64_t out, uint64_t n);
void tn_run_rows(struct tn_run *r, const struct tn_broadcast *b, uint64_t cost, tn_row_fn *fn, void *user);

#endif
