/* What program.c and run.c share. Private to src/exec. */
#ifndef TN_EXEC_PROGRAM_H
#define TN_EXEC_PROGRAM_H

#include "exec/exec.h"

/* A constant in memory: one for each value that has one, over all graphs of the model. */
struct tn_held {
    void *data; /* owned unless it lives in the model; NULL: nobody reads it any more */
    bool owned;
    uint32_t readers; /* operands that still want it */
};

struct tn_step {
    const struct tn_node *node;
    void *state;    /* of the operator */
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
    uint64_t bytes;
};

/* The program of a graph of the model. */
struct tn_net_program *tn_program_net(const struct tn_program *program, const struct tn_net *net);

#endif
