/*
 * Ensembles of decision trees in one form, whatever operator they came from: nodes that compare with <= (others are turned
 * into it, but for equality and membership), leaves with votes. Trees that are not deep are also laid out complete, for
 * the kernels.
 */
#ifndef TN_OPS_ML_FOREST_H
#define TN_OPS_ML_FOREST_H

#include "ops/op.h"

enum tn_branch { TN_BRANCH_LEQ, TN_BRANCH_EQ, TN_BRANCH_MEMBER };
enum { TN_LEAF = 1u << 31 };

struct tn_branch_node {
    double split;
    uint32_t feature;
    uint8_t how;      /* enum tn_branch */
    bool missing;     /* NaN goes to `yes` */
    uint32_t yes, no; /* a node; with TN_LEAF: a leaf */
    uint32_t members, member_count; /* of MEMBER */
};

struct tn_vote {
    uint32_t target;
    double weight;
};

/* A node of a deep tree, or a leaf. */
struct tn_tree_step {
    float split;     /* of a leaf: what it votes with, if it votes once */
    uint32_t column; /* TN_STEP_LEAF: a leaf */
    uint32_t child;  /* the place of the child to which x <= split leads; the other is behind it. Of a leaf: its number */
    uint32_t missing; /* NaN goes there, too */
};
/* TN_STEP_ITEMS: rows times trees that are under way together. */
enum { TN_STEP_LEAF = UINT32_MAX, TN_STEP_ITEMS = 256 };

struct tn_forest {
    struct tn_alloc *alloc;
    struct tn_branch_node *nodes;
    uint32_t *roots; /* a node or, with TN_LEAF, a leaf */
    uint32_t *leaves; /* [leaf_count + 1] first vote of each */
    struct tn_vote *votes;
    double *members;
    uint32_t node_count, tree_count, leaf_count, vote_count, member_count;
    uint32_t features; /* that rows must have */
    bool wide; /* computes in double */
    /* Complete trees for float rows, for the kernels; depth 0: there are none. */
    struct tn_trees trees;
    float *splits, *values;
    uint16_t *columns, *missing;
    uint32_t *targets;
    uint32_t *used; /* [used_count] features that have a column */
    uint32_t used_count, stride; /* columns, and what a row of them takes */
    bool single; /* every tree votes for one target with one vote a leaf: kernels may add */
    uint32_t *leaf_of; /* [tree][256] leaves of the complete trees, unless `single` */
    /* Deeper trees for float rows; NULL: there are none. They use `targets`, `used`, `stride` and `single` in the same way. */
    struct tn_tree_step *steps;
    uint32_t *step_roots; /* [tree_count] */
};

/*
 * From TreeEnsembleClassifier and -Regressor (`votes`: "class" or "target") or from TreeEnsemble (votes NULL), for rows of
 * an element type. NULL with *wrong set to what was expected, or NULL for lack of memory.
 */
struct tn_forest *tn_forest_new(struct tn_alloc *alloc, const struct tn_node *node, const char *votes, enum tn_element row, uint64_t targets,
                                const char **wrong);
void tn_forest_free(struct tn_forest *f);
/* Lays the trees out complete when they are not deep; false: no memory. */
bool tn_forest_lay(struct tn_forest *f);

/* Lays deeper trees out by steps; `column` by feature. False: no memory. */
bool tn_forest_step(struct tn_forest *f, const uint32_t *column);
/* Rows x[rows][stride] down trees [first, first + trees): ends[tree * rows + row] is the place of a leaf. At most TN_STEP_ITEMS. */
void tn_forest_steps(const struct tn_forest *f, uint32_t first, uint32_t trees, const float *x, size_t stride, uint32_t rows, bool missing, uint32_t *ends);

/* How votes for a target become one number. */
enum tn_forest_sum { TN_FOREST_SUM, TN_FOREST_AVERAGE, TN_FOREST_MIN, TN_FOREST_MAX };

/*
 * Rows [N, features] through all trees. out[N][targets] is float, or double when the forest is wide; `voted`, when it is
 * given, tells which targets had a vote. False with the failure set.
 */
bool tn_forest_run(struct tn_run *r, const struct tn_forest *f, const struct tn_tensor *x, enum tn_forest_sum sum, uint64_t targets, void *out, uint8_t *voted);

#endif
