/* What program.c and run.c share. Private to src/exec. */
#ifndef TN_EXEC_PROGRAM_H
#define TN_EXEC_PROGRAM_H

#include "base/os_thread.h"
#include "exec/exec.h"

/* A value that may be a constant: one for each value, over all graphs of the model (constants.c). */
struct tn_held {
    const struct tn_constant *from; /* in the file; NULL: computed */
    void *data; /* owned unless it lives in the model; NULL: not read yet, or nobody needs it any more */
    bool there; /* the value is the same in every call, or the default of an input */
    bool owned;
    bool input; /* an input of its graph: a call may give another one */
    bool coming; /* a thread is reading it */
    enum tn_element element;
    uint32_t rank;
    const int64_t *dims;
    size_t bytes;
    uint32_t readers; /* operands of nodes, and results, that still want it */
    uint32_t by_rows; /* of the readers, those that read some rows (ops/op.h) */
    struct tn_pages *pages; /* its memory, where it stays in the file until then */
};

struct tn_step {
    const struct tn_node *node;
    void *state;    /* of the operator */
    bool scratch;   /* it takes some */
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

/*
 * Where values of a graph lie in the block of a context (place.c): [value_count] offsets, TN_NOWHERE for those that the heap
 * holds; over[node]: output 0 takes the place of operand 0.
 */
#define TN_NOWHERE SIZE_MAX
struct tn_places {
    size_t *at, *room; /* NULL: nothing is planned */
    bool *over;
    size_t bytes;
};

/* `folded` [node_count]: those whose outputs are constants. TN_RESOURCE_LIMIT on overflow. */
enum tn_status tn_places_make(const struct tn_net *net, const bool *folded, const struct tn_bound *bounds, size_t bound_count, struct tn_arena *arena,
                    struct tn_places *out);

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
    struct tn_mutex mutex; /* of everything below and of what is held, while the program is made */
    struct tn_cond ready;  /* a constant has been read, or cannot be */
    bool locks;            /* both are there */
    uint64_t bytes;
    tn_progress_fn progress;
    void *progress_user;
    tn_constant_fn *read_tensor;
    void *read_user;
    struct tn_places places; /* of the main graph */
    size_t scratch;          /* most that a node takes for each thread, as far as rows tell; a multiple of 64 */
    uint64_t read, all; /* bytes of constants */
};

/*
 * Calls fn for 0 .. count - 1 by all threads while a program is made, each thread with a heap of its own. The first
 * failure ends it and is what *err says.
 */
typedef enum tn_status tn_making_fn(struct tn_program *program, size_t i, struct tn_heap *heap, struct tn_error *err);
enum tn_status tn_program_each(struct tn_program *program, size_t count, tn_making_fn *fn, const struct tn_cancel *cancel,
                               struct tn_error *err);

/* Packs a node's constant operands. `last`: those that `run` does not read are given back now. */
enum tn_status tn_program_prepare(struct tn_program *program, const struct tn_net *net, struct tn_step *step, struct tn_heap *heap, bool last,
                                  struct tn_error *err);
void tn_program_unprepare(struct tn_program *program, struct tn_step *step);

/* What the node's row tells of itself; of others that every operand stays. False on overflow. */
bool tn_node_kept(const struct tn_net *net, const struct tn_node *node, const struct tn_kernels *kernels, struct tn_kept *out);

/* What a context takes beside planned values and scratch (run.c): `folded` by node, `constant` by value. */
uint64_t tn_context_bytes(const struct tn_net *net, const bool *folded, const bool *constant);
/* What a program takes beside weights (program.c). */
uint64_t tn_program_own_bytes(const struct tn_net *net);

/* The program of a graph of the model. */
struct tn_net_program *tn_program_net(const struct tn_program *program, const struct tn_net *net);

/* ---- constants (constants.c) -------------------------------------------------------------------------------------- */

/* Lists the constants of all graphs and counts who reads each value; nothing is read. */
void tn_constants_list(struct tn_program *program);
/* Reads a constant that is not there yet; several threads may ask. A failure of one is that of all. */
enum tn_status tn_constant_need(struct tn_program *program, struct tn_held *h, struct tn_error *err);
/* One reader less: memory that nobody needs any more is given back. */
void tn_constant_done(struct tn_program *program, struct tn_held *h);
/* Takes over what a node has computed from constants. */
bool tn_constant_hold(struct tn_program *program, struct tn_held *h, const struct tn_tensor *t);
/* Reads what is still wanted. */
enum tn_status tn_constants_rest(struct tn_program *program, const struct tn_cancel *cancel, struct tn_error *err);
void tn_constants_free(struct tn_program *program);

/* Whether a value is the same in every call, and where it is held; NULL: not. */
struct tn_held *tn_program_held(const struct tn_program *program, const struct tn_net *net, struct tn_ref_value ref);
/* Computes the nodes that follow from constants alone (run.c). */
enum tn_status tn_program_fold(struct tn_program *program, const struct tn_cancel *cancel, struct tn_error *err);

#endif
