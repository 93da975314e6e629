/* Trees, one row after the other; see kernel.h. Rows do not wait for each other, so that loads overlap. */
#include "kernel/ref/ref.h"

static unsigned exit_of(const struct tn_trees *t, size_t block, unsigned levels, const float *x)
{
    const float *split = t->split + block * TN_TREE_PLACES;
    const uint16_t *feature = t->feature + block * TN_TREE_PLACES;
    unsigned node = 1;
    for (unsigned l = 0; l < levels; l++) {
        float v = x[feature[node]];
        bool left = v <= split[node] || (v != v && (t->missing[block] >> node & 1));
        node = 2 * node + !left;
    }
    return node - (1u << levels);
}

static unsigned leaf_of(const struct tn_trees *t, size_t tree, const float *x)
{
    size_t block = tree * tn_tree_blocks(t->depth);
    if (t->depth <= 4) return exit_of(t, block, t->depth, x);
    unsigned at = exit_of(t, block, t->depth - 4, x);
    return 16 * at + exit_of(t, block + 1 + at, 4, x);
}

void tn_ref_trees(const struct tn_trees_args *a)
{
    const struct tn_trees *t = a->trees;
    for (size_t i = 0; i < a->count; i++) {
        size_t tree = a->first + i;
        for (unsigned row = 0; row < a->rows; row++) {
            unsigned leaf = leaf_of(t, tree, a->x + row * a->stride);
            if (a->leaves) a->leaves[i * TN_TREE_ROWS + row] = (uint8_t)leaf;
            else a->sums[t->target[tree] * TN_TREE_ROWS + row] += t->leaf[(tree << t->depth) + leaf];
        }
    }
}
