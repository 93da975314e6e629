/*
 * Operands of any float type for operators that compute in float or, for float64, in double: half precision is widened
 * once, computed in float32 and rounded once. `*_body.h` files are such computations, written once for both.
 */
#ifndef TN_OPS_REAL_H
#define TN_OPS_REAL_H

#include "ops/op.h"

/* The operands and results of one call, as the type that computes. A failure sticks: pointers are then NULL. */
struct tn_reals {
    struct tn_run *r;
    bool wide; /* double */
    void *owned[20];
    void *out[4]; /* buffers of results that must be rounded at the end */
    unsigned count;
};

/* `like` decides: float64 computes in double. */
void tn_reals_begin(struct tn_reals *s, struct tn_run *r, enum tn_element like);
/* Operand i in the type that computes; NULL when it is absent or memory has failed. Any real element type. */
const void *tn_reals_in(struct tn_reals *s, uint32_t i);
const void *tn_reals_of(struct tn_reals *s, const struct tn_tensor *t);
/* Where to write output k; NULL when it is not wanted. */
void *tn_reals_out(struct tn_reals *s, uint32_t k);
/* Room for `count` numbers of the type that computes. */
void *tn_reals_scratch(struct tn_reals *s, size_t count);
/* Rounds the results and gives everything back; whether all went well. */
bool tn_reals_end(struct tn_reals *s);

/* Whether inference could state the shapes of all wanted outputs; a refusal otherwise. */
static inline bool tn_run_shaped(struct tn_run *r)
{
    for (uint32_t k = 0; k < r->out_count; k++) {
        if (r->wanted[k] && !r->out[k]) return tn_run_refuse(r, "operands whose result has a shape", "sizes that are negative or too large");
    }
    return true;
}

/* Whether the call goes on: no failure so far. */
static inline bool tn_reals_good(const struct tn_reals *s)
{
    return s->r->failed == TN_OK;
}

/* Elements before, along and behind an axis of a shape. */
struct tn_rows {
    uint64_t outer, axis, inner;
};

struct tn_rows tn_rows_of(const struct tn_tensor *t, uint32_t axis);

#endif
