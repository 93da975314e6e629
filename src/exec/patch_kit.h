/*
 * What patches are written with: one graph of a model while it is rewritten. A patch is tried at each node, looks upwards
 * from it through producers, and turns that node into another one that computes the same value: so all that the new node
 * reads stands in front of it. What nobody reads any more is dropped behind the patch. Private to src/exec.
 */
#ifndef TN_EXEC_PATCH_KIT_H
#define TN_EXEC_PATCH_KIT_H

#include "exec/patch.h"

struct tn_rewrite {
    struct tn_model *model;
    struct tn_net *net;
    /* By value of the graph: readers in it, graphs inside nodes and results included */
    uint32_t *readers;
    uint32_t *alias; /* by value: read this one instead; itself: nothing */
    bool *input;     /* by value: an operand of the graph, whatever its default */
    uint32_t *front; /* by node: the node in front of which it was put; itself: where it stands */
    size_t value_room, node_room;
    bool aliased;
    bool reordered; /* a node may stand in front of what it reads */
    bool no_memory;
    struct tn_last *last; /* of tn_patch_last: what it has decided of the graph; NULL: nothing yet */
};

/* A node that a patch writes: attributes are copied into the model. */
struct tn_new_node {
    const char *domain, *type; /* domain NULL: the standard's own */
    int64_t version;
    const struct tn_ref_value *in;
    uint32_t in_count;
    const struct tn_attr *attrs;
    uint32_t attr_count;
    /* For tn_rewrite_turn: output 1 is the last output of node `second_of`, which loses it. What reads it may stand in front. */
    bool second;
    uint32_t second_of;
};

/* The node that makes operand k of n here, when its value may be replaced by work of the reader: read `times` times by
   this graph's nodes and otherwise nowhere, and no output. NULL otherwise. times 0: any number of readers, output or not. */
struct tn_node *tn_rewrite_source(struct tn_rewrite *w, const struct tn_node *n, uint32_t k, uint32_t times);
/* Its number. */
uint32_t tn_rewrite_number(const struct tn_rewrite *w, const struct tn_node *n);
/* Whether the node is this operator of the standard. */
bool tn_is(const struct tn_node *n, const char *type);
/* The value behind operand k, of whatever graph; NULL: absent. */
const struct tn_net_value *tn_rewrite_operand(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k);
/* Whether operand k is the same in every call: an initialiser, or made of those alone. */
bool tn_rewrite_constant(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k);
/* Its one value, when it is a constant of one element that has been read. */
bool tn_rewrite_number_of(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k, double *out);
/* Its integers, when it is a constant list that has been read. */
bool tn_rewrite_numbers_of(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k, int64_t *out, uint32_t cap, uint32_t *count);

/* Turns node i into another that makes the same output 0 (others must not be wanted). False without memory or a row. */
bool tn_rewrite_turn(struct tn_rewrite *w, uint32_t i, const struct tn_new_node *node);
/* Gives node i more operands and attributes behind its own; its output becomes that of node `last`, which goes. Between
   the two nothing may read it. */
bool tn_rewrite_extend(struct tn_rewrite *w, uint32_t i, uint32_t last, const struct tn_ref_value *in, uint32_t in_count,
                       const struct tn_attr *attrs, uint32_t attr_count);
/* A new node in front of node i, and its output. TN_NET_NONE value without memory or when the types do not fit. */
struct tn_ref_value tn_rewrite_put(struct tn_rewrite *w, uint32_t i, const struct tn_new_node *node);
/* A constant of the patch's own: float32, or int64 of rank 1. */
struct tn_ref_value tn_rewrite_real(struct tn_rewrite *w, enum tn_element e, double value);
struct tn_ref_value tn_rewrite_ints(struct tn_rewrite *w, const int64_t *values, uint32_t count);
/* From now on operand 0 of node i is read in place of its output 0. False where that cannot be. */
bool tn_rewrite_pass(struct tn_rewrite *w, uint32_t i);

/* A row: tried at each node; true: something was rewritten. */
typedef bool tn_patch_fn(struct tn_rewrite *w, uint32_t i);

bool tn_patch_unused(struct tn_rewrite *w, uint32_t i);
bool tn_patch_identity(struct tn_rewrite *w, uint32_t i);
bool tn_patch_pairs(struct tn_rewrite *w, uint32_t i);
bool tn_patch_affine(struct tn_rewrite *w, uint32_t i);
bool tn_patch_last(struct tn_rewrite *w, uint32_t i);
void tn_last_free(struct tn_rewrite *w);
bool tn_patch_pair(struct tn_rewrite *w, uint32_t i);
bool tn_patch_written(struct tn_rewrite *w, uint32_t i);
bool tn_patch_gelu(struct tn_rewrite *w, uint32_t i);
bool tn_patch_norm(struct tn_rewrite *w, uint32_t i);
bool tn_patch_attend(struct tn_rewrite *w, uint32_t i);
bool tn_patch_table(struct tn_rewrite *w, uint32_t i);
bool tn_patch_nibbles(struct tn_rewrite *w, uint32_t i);
bool tn_patch_integer(struct tn_rewrite *w, uint32_t i);
bool tn_patch_activation(struct tn_rewrite *w, uint32_t i);

#endif
