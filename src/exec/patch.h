/*
 * The optimiser: rewritings of an inferred graph that keep what it computes. Each is a named patch (patch.c lists them in
 * their order) that can be left out by name; with all left out a graph runs as it is written. One of them, nibbles, uses what a
 * file permits and rounds; the others differ by the order of sums at most.
 *
 * Patches see types and small constants, never weights: what they make of weights they state as nodes over constants, and
 * such nodes are computed once when a program is made (fold.c; the name "constants" leaves that out).
 */
#ifndef TN_EXEC_PATCH_H
#define TN_EXEC_PATCH_H

#include "base/json_write.h"
#include "exec/exec.h"

struct tn_patch {
    const char *name, *what;
};

/* All names that may be left out, in order. */
const struct tn_patch *tn_patches(size_t *count);

/*
 * Rewrites the model once: a second call does nothing, and tn_program_new calls it for a model that has not been
 * rewritten. `model` has passed tn_net_infer without a blocker. `without` holds names of patches to leave out; an unknown
 * one is TN_INVALID_REQUEST. "all" leaves out every patch. What was done is kept in the model.
 */
enum tn_status tn_net_patch(struct tn_model *model, const char *const *without, size_t without_count, struct tn_error *err);
/* Whether a patch may be applied to what follows from the model. */
bool tn_net_patch_on(const struct tn_model *model, const char *name);
/* [{"patch": NAME, "what": TEXT, "count": N, "nodes": [NAME ...]}], of patches that found something to do. */
void tn_net_patches_write(const struct tn_model *model, struct tn_json_writer *w);
/* The name of the last patch that was made at this node, as far as names are kept; NULL: none was. */
const char *tn_net_patch_at(const struct tn_model *model, struct tn_str node);
/* {NAME: N ...} of the same. */
void tn_net_patch_counts(const struct tn_model *model, struct tn_json_writer *w);

#endif
