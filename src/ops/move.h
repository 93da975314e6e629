/* Moving elements as bytes from one strided place to another. */
#ifndef TN_OPS_MOVE_H
#define TN_OPS_MOVE_H

#include "ops/op.h"

/* dims elements of each dimension, walked by the strides on both sides (in elements; the source's may be negative). */
struct tn_move {
    const void *x;
    void *y;
    uint32_t rank;
    int64_t dims[TN_RANK], x_stride[TN_RANK], y_stride[TN_RANK];
    int64_t x_begin, y_begin;
};

void tn_move(struct tn_run *r, struct tn_move move, size_t element_size);
/* Bytes of an element that can be moved; a refusal for types below a byte. */
bool tn_move_size(struct tn_run *r, enum tn_element e, size_t *out);
/* Texts that were moved are copied into the result. */
bool tn_move_done(struct tn_run *r, struct tn_tensor *y);
/* Strides of a contiguous tensor, in elements. */
void tn_strides(const int64_t *dims, uint32_t rank, int64_t *out);

#endif
