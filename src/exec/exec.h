/*
 * The executor of dataflow graphs: from an inferred model to a program that can be called. Assessment is before weights
 * (infer.c); making a program reads them, packs constants and folds what follows from them; a call runs the nodes in
 * order with values from a heap that keeps its blocks.
 *
 * A program is shared by many calls and immutable; each call needs a context of its own, which one thread uses at a time.
 */
#ifndef TN_EXEC_EXEC_H
#define TN_EXEC_EXEC_H

#include "ops/op.h"

/* ---- before weights ----------------------------------------------------------------------------------------------- */

/*
 * Types of all values, and every node against the operators' rows: all gaps in one pass, each as a blocker
 * TN_UNSUPPORTED_OPERATOR with node, domain, operator, version, types found and types available; operands that do not fit
 * are TN_ARTIFACT_MALFORMED. Sets node->op. `model` has passed tn_net_check. Fails only without memory.
 */
enum tn_status tn_net_infer(struct tn_model *model, struct tn_findings *findings, struct tn_error *err);

/*
 * The same of one node of a typed graph, whose row is set when no schema describes it: types its outputs. TN_TENSOR_MISMATCH:
 * operands or attributes do not fit; TN_INSUFFICIENT_MEMORY: nobody knows.
 */
enum tn_status tn_net_infer_node(struct tn_model *model, struct tn_net *net, struct tn_node *node);

/* ---- program ------------------------------------------------------------------------------------------------------ */

struct tn_program;

/* The most that a symbol of the main graph will be in any call. */
struct tn_bound {
    tn_dim_t symbol;
    uint64_t most;
};

/* Reads a constant of the package's weight files as it is stored, `c->bytes` of it. Several threads at once. */
typedef enum tn_status tn_constant_fn(void *user, const struct tn_constant *c, void *out, struct tn_error *err);

struct tn_program_options {
    struct tn_pool *pool;
    unsigned threads; /* most that a call may use */
    const struct tn_kernels *kernels; /* NULL: the fastest that this CPU has */
    const struct tn_cancel *cancel; /* of the loading */
    const char *const *without; /* [without_count] patches to leave out, if the model is yet to be rewritten (exec/patch.h) */
    size_t without_count;
    tn_progress_fn progress;
    void *progress_user;
    tn_constant_fn *read; /* for constants with a `tensor` */
    void *read_user;
    /*
     * [bound_count] With bounds, values of the main graph lie where a plan puts them, in one block of each context, as far as
     * their operators make memory of their own and their sizes are bounded. Results then last until the context's next call.
     */
    const struct tn_bound *bounds;
    size_t bound_count;
};

/* `model` has passed tn_net_check and tn_net_infer without a blocker, and outlives the program. */
enum tn_status tn_program_new(struct tn_model *model, const struct tn_program_options *options, struct tn_program **out,
                              struct tn_error *err);
void tn_program_free(struct tn_program *program);
/* Bytes of constants and packed weights. */
uint64_t tn_program_bytes(const struct tn_program *program);

/* What a program will take, before weights are read: of a rewritten model whose operators tell (tn_operator.kept). */
struct tn_program_size {
    uint64_t constants; /* as stored or packed, tables included */
    uint64_t loading;   /* most that one node needs beside them while it is made */
    uint64_t values;    /* of one context: planned values */
    uint64_t scratch;   /* of one context, for each thread of its calls */
    uint64_t fixed;     /* of one context beside them */
};
/* TN_RESOURCE_LIMIT when a size overflows. Leaves the error to the caller. */
enum tn_status tn_program_measure(struct tn_model *model, const struct tn_kernels *kernels, const struct tn_bound *bounds, size_t bound_count,
                                  struct tn_program_size *out);

/* ---- calls -------------------------------------------------------------------------------------------------------- */

struct tn_exec_context;

/* `threads`: most that its calls will use; 0: as many as the program's. */
enum tn_status tn_exec_context_new(struct tn_program *program, unsigned threads, struct tn_exec_context **out, struct tn_error *err);
void tn_exec_context_free(struct tn_exec_context *context);
/* Where operands of a call are made, and where its results live. */
struct tn_heap *tn_exec_heap(struct tn_exec_context *context);

/*
 * Runs the main graph. `in` has a value for each input of the graph, NULL where an initialiser gives the default. out[k]
 * gains a reference for each k with wanted[k] (NULL: all); release before the context. Operands are checked against the
 * declared types: element, rank, and dimensions that are numbers or share a symbol (TN_INVALID_REQUEST, all at once).
 */
enum tn_status tn_exec_run(struct tn_exec_context *context, struct tn_tensor *const *in, struct tn_tensor **out,
                           const bool *wanted, const struct tn_cancel *cancel, struct tn_error *err);

/* Threads of the calls from now on, at most those that it was made for. */
void tn_exec_threads(struct tn_exec_context *context, unsigned threads);

/* Called after each node of the main graph with its outputs; false ends the call with TN_CANCELLED. NULL: no longer. */
typedef bool tn_watch_fn(void *user, const struct tn_node *node, struct tn_tensor *const *out);
void tn_exec_watch(struct tn_exec_context *context, tn_watch_fn *fn, void *user);

/*
 * Where time goes: from now on the context adds up nanoseconds for each node of the main graph, graphs inside included.
 * [node_count], all 0 as it begins; lives as long as the context. NULL without memory.
 */
const uint64_t *tn_exec_profile(struct tn_exec_context *context);

#endif
