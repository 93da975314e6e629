/* What program.c and run.c share. Private to src/exec. */
#ifndef TN_EXEC_PROGRAM_H
#define TN_EXEC_PROGRAM_H

#include "exec/exec.h"

/* A constant in memory: one for each value that has one, over all graphs of the model. */
struct tn_held {
    void *data; /* owned unless it lives in the model; NULL: nobody reads it any more */
    bool there; /* the value is the same in every call, or the default of an input */
    bool owned;
    bool input; /* an input of its graph: a call may give another one */
    enum tn_element element;
    uint32_t rank;
    const int64_t *dims;
    size_t bytes;
    uint32_t readers; /* operands that still want it */
};

struct tn_step {
    const struct tn_node *node;
    void *state;    /* of the operator */
    bool folded;    /* its outputs are held: it has been computed */
    uint32_t *dies; /* values of this graph that nobody needs after the node */
    uint32_t die_count;
};

struct tn_net_program {
    const struct tn_net *net;
    struct tn_step *steps;
    struct tn_held *held; /* by value */
    uint32_t *unused;     /* inputs that nobody reads */
    uint32_t unused_count;
};

struct tn_program {
    struct tn_model *model;
    struct tn_alloc *alloc;
    struct tn_arena arena;
    struct tn_pool *pool;
    unsigned threads;
    const struct tn_kernels *kernels;
    struct tn_net_program *nets; /* [0] is the main graph */
    size_t net_count, net_cap;
    uint32_t most_operands;
    uint64_t fold_budget; /* bytes that may still be made of constants */
    uint64_t bytes;
};

/* The program of a graph of the model. */
struct tn_net_program *tn_program_net(const struct tn_program *program, const struct tn_net *net);

/* Whether a value is the same in every call, and where it is held; NULL: not. */
struct tn_held *tn_program_held(const struct tn_program *program, const struct tn_net *net, struct tn_ref_value ref);
/* Computes the nodes that follow from constants alone (run.c). */
enum tn_status tn_program_fold(struct tn_program *program, const struct tn_cancel *cancel, struct tn_error *err);

#endif
