/*
 * Sequences: state that one call of a graph hands to the next. Whoever uses a sequence borrows it, one at a time: a call
 * from its start until its work has stopped, or a function below for as long as it runs. State changes when a call has
 * completed, as a whole, and never otherwise.
 *
 * Declared initial values are made when the first call tells the sizes that they leave open.
 */
#ifndef TN_TASK_SEQUENCE_H
#define TN_TASK_SEQUENCE_H

#include "base/ref.h"
#include "describe/describe.h"
#include "tensor/tensor.h"

struct tn_sequence {
    struct tn_ref ref; /* the handle, and each execution that was started with it */
    struct tn_keep session;
    const void *owner; /* the session, to be compared */
    struct tn_alloc *alloc;
    const struct tn_limits *limits;
    const struct tn_graph_facts *graph;
    _Atomic bool borrowed;
    struct tn_heap heap;      /* of whoever has borrowed it */
    struct tn_tensor **now;   /* [state_count] NULL: it has not begun */
    struct tn_tensor **next;  /* [state_count] what the call that runs has made */
    tn_port_value *values;    /* [state_count] views of `now`, for the caller */
};

/* TN_INVALID_REQUEST when the package declares no state. */
enum tn_status tn_sequence_make(const struct tn_graph_facts *graph, struct tn_alloc *alloc, const struct tn_limits *limits,
                                struct tn_sequence **out, struct tn_error *err);
void tn_sequence_unref(struct tn_sequence *q);

/* TN_BUSY while another has it. */
enum tn_status tn_sequence_borrow(struct tn_sequence *q, struct tn_error *err);
void tn_sequence_return(struct tn_sequence *q);

/* All of these are for whoever has borrowed it. */
bool tn_sequence_begun(const struct tn_sequence *q);
/* Takes what the call has made, or drops it. */
void tn_sequence_settle(struct tn_sequence *q, bool good);
/* Back to the beginning. */
void tn_sequence_clear(struct tn_sequence *q);
/* All states at once from named values of the caller's; none is changed after a failure. */
enum tn_status tn_sequence_fill(struct tn_sequence *q, const tn_port_value *values, size_t count, struct tn_error *err);
/* The states of another one of the same session, which is borrowed too. */
enum tn_status tn_sequence_copy(struct tn_sequence *to, const struct tn_sequence *from, struct tn_error *err);
void tn_sequence_view(struct tn_sequence *q);

#endif
