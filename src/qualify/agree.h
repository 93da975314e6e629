/*
 * How far two values of one output are apart: in more than one number, because each hides what another shows. Sums in double.
 * Knows element types and nothing of models.
 */
#ifndef TN_QUALIFY_AGREE_H
#define TN_QUALIFY_AGREE_H

#include "base/json_write.h"
#include "tensor/tensor.h"

/* A dense value; strings as struct tn_str. */
struct tn_operand {
    enum tn_element type;
    uint32_t rank;
    int64_t dims[TN_RANK];
    uint64_t count;
    const void *data;
};

/* |a - b| <= absolute + relative * |b| for every number; both 0: equal. */
struct tn_tolerance {
    double absolute, relative;
    const char *why;
};

struct tn_agreement {
    bool agrees;
    const char *why;    /* not: the first reason; NULL otherwise */
    uint64_t count;     /* numbers that were compared */
    uint64_t beyond;    /* of these, outside the tolerance */
    uint64_t at;        /* the one that is furthest outside, by its place in row-major order */
    double a, b;        /* it, on both sides */
    double max_abs;
    double max_rel;     /* of numbers whose |b| is above the absolute tolerance */
    double cosine;      /* of all finite numbers as one vector */
    bool has_rows;      /* floats with a last dimension of two or more */
    uint64_t rows, same_argmax;
    uint64_t non_finite_a, non_finite_b, non_finite_apart; /* apart: another kind, or on one side alone */
    bool same_bits;
};

/* What is expected of a type: exact but for floats. `reduced`: one side computes in bfloat16. */
struct tn_tolerance tn_tolerance_of(enum tn_element type, bool reduced);
void tn_agree(const struct tn_operand *a, const struct tn_operand *b, const struct tn_tolerance *t, struct tn_agreement *out);
/* Members of the caller's object. */
void tn_agreement_write(struct tn_json_writer *w, const struct tn_agreement *g, const struct tn_tolerance *t);

#endif
