/* Trees, one row after the other; see kernel.h. Rows do not wait for each other, so that loads overlap. */
#include "kernel/ref/ref.h"

static unsigned leaf_of(const struct tn_tree *t, const float *x)
{
    unsigned node = 0;
    for (uint32_t d = 0; d < t->depth; d++) node = 2 * node + 1 + !(x[t->feature[node]] <= t->split[node]);
    return node - ((1u << t->depth) - 1);
}

void tn_ref_trees(const struct tn_trees_args *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct tn_tree *t = &a->trees[i];
        for (unsigned row = 0; row < TN_TREE_ROWS; row++) {
            unsigned leaf = leaf_of(t, a->x + row);
            if (a->leaves) a->leaves[i * TN_TREE_ROWS + row] = (uint8_t)leaf;
            else a->sums[t->target * TN_TREE_ROWS + row] += t->leaf[leaf];
        }
    }
}
