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

/* The same of one node of a typed graph, whose row is set when no schema describes it: types its outputs, or false. */
bool tn_net_infer_node(struct tn_model *model, struct tn_net *net, struct tn_node *node);

/* ---- program ------------------------------------------------------------------------------------------------------ */

struct tn_program;

struct tn_program_options {
    struct tn_pool *pool;
    unsigned threads; /* most that a call may use */
    const struct tn_kernels *kernels; /* NULL: the fastest that this CPU has */
    const struct tn_cancel *cancel; /* of the loading */
    const char *const *without; /* [without_count] patches to leave out, if the model is yet to be rewritten (exec/patch.h) */
    size_t without_count;
    tn_progress_fn progress;
    void *progress_user;
};

/* `model` has passed tn_net_check and tn_net_infer without a blocker, and outlives the program. */
enum tn_status tn_program_new(struct tn_model *model, const struct tn_program_options *options, struct tn_program **out,
                              struct tn_error *err);
void tn_program_free(struct tn_program *program);
/* Bytes of constants and packed weights. */
uint64_t tn_program_bytes(const struct tn_program *program);

/* ---- calls -------------------------------------------------------------------------------------------------------- */

struct tn_exec_context;

enum tn_status tn_exec_context_new(struct tn_program *program, struct tn_exec_context **out, struct tn_error *err);
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

/*
 * Where time goes: from now on the context adds up nanoseconds for each node of the main graph, graphs inside included.
 * [node_count], all 0 as it begins; lives as long as the context. NULL without memory.
 */
const uint64_t *tn_exec_profile(struct tn_exec_context *context);

#endif
