/*
 * Trees laid out complete and cut into blocks, as the kernels want them (kernel.h): all of a forest to the depth of its
 * deepest. A leaf above the last level fills all places below it. Deeper trees are laid out by ml_forest_steps.c.
 */
#include "ops/ml_forest.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

static bool is_plain(const struct tn_forest *f)
{
    for (uint32_t i = 0; i < f->node_count; i++) {
        if (f->nodes[i].how != TN_BRANCH_LEQ) return false;
    }
    return !f->wide && f->tree_count > 0;
}

struct level_item {
    uint32_t child;
    uint8_t depth;
};

/* Depth of a tree up to one more than the kernels have; trees are not deeper than their nodes are many. */
static uint32_t depth_of(const struct tn_forest *f, uint32_t root)
{
    struct level_item stack[2 * TN_TREE_DEPTH + 4];
    uint32_t n = 0, most = 0;
    stack[n++] = (struct level_item){root, 0};
    while (n > 0) {
        struct level_item i = stack[--n];
        if (i.depth > most) most = i.depth;
        if (i.child & TN_LEAF) continue;
        if (i.depth == TN_TREE_DEPTH) return TN_TREE_DEPTH + 1;
        stack[n++] = (struct level_item){f->nodes[i.child].no, (uint8_t)(i.depth + 1)};
        stack[n++] = (struct level_item){f->nodes[i.child].yes, (uint8_t)(i.depth + 1)};
    }
    return most;
}

static bool votes_once(const struct tn_forest *f)
{
    for (uint32_t i = 0; i < f->leaf_count; i++) {
        if (f->leaves[i + 1] - f->leaves[i] != 1) return false;
    }
    return true;
}

/*
 * The subtree under `child` into the blocks of a tree: `level` of `depth`, `at` its place within the level, from 0. Levels
 * of the first block are counted from the root, those of the others from their own first node.
 */
static void lay_node(struct tn_forest *f, const uint32_t *column, size_t tree, uint32_t level, uint32_t at, uint32_t child)
{
    uint32_t depth = f->trees.depth, top = depth > 4 ? depth - 4 : 0, inner = level < top ? level : level - top;
    size_t block = tree * tn_tree_blocks(depth) + (level < top || top == 0 ? 0 : 1 + (at >> inner));
    uint32_t node = (1u << inner) + (at & ((1u << inner) - 1));
    size_t place = block * TN_TREE_PLACES + node;
    bool end = (child & TN_LEAF) != 0;
    f->splits[place] = end ? INFINITY : (float)f->nodes[child].split;
    f->columns[place] = end ? 0 : (uint16_t)column[f->nodes[child].feature];
    if (!end && f->nodes[child].missing) f->missing[block] |= (uint16_t)(1u << node);
}

/* Fills the complete tree; leaf[2^depth] are the leaves that rows reach. */
static void lay_tree(struct tn_forest *f, const uint32_t *column, size_t tree, uint32_t *leaf)
{
    uint32_t child_of[1u << (TN_TREE_DEPTH + 1)];
    uint32_t depth = f->trees.depth, inner = 1u << depth;
    child_of[1] = f->roots[tree];
    for (uint32_t level = 0, i = 1; i < inner; i++) {
        uint32_t c = child_of[i];
        bool end = (c & TN_LEAF) != 0;
        if (i >> (level + 1)) level++;
        lay_node(f, column, tree, level, i - (1u << level), c);
        child_of[2 * i] = end ? c : f->nodes[c].yes;
        child_of[2 * i + 1] = end ? c : f->nodes[c].no;
    }
    for (uint32_t i = 0; i < inner; i++) leaf[i] = child_of[inner + i] & ~(uint32_t)TN_LEAF;
}

static bool one_target(const struct tn_forest *f, const uint32_t *leaf, uint32_t n, uint32_t *target)
{
    *target = f->votes[f->leaves[leaf[0]]].target;
    for (uint32_t i = 1; i < n; i++) {
        if (f->votes[f->leaves[leaf[i]]].target != *target) return false;
    }
    return true;
}

/* Features that are asked for get a column each. */
static bool number_columns(struct tn_forest *f, uint32_t **column)
{
    *column = tn_calloc(f->alloc, (size_t)f->features + 1, sizeof(**column));
    f->used = tn_calloc(f->alloc, (size_t)f->features + 1, sizeof(*f->used));
    if (!*column || !f->used) return false;
    for (uint32_t i = 0; i < f->node_count; i++) (*column)[f->nodes[i].feature] = 1;
    for (uint32_t i = 0; i < f->features; i++) {
        if (!(*column)[i]) continue;
        (*column)[i] = f->used_count;
        f->used[f->used_count++] = i;
    }
    return true;
}

/* Aligned and zero. */
static void *room(struct tn_alloc *alloc, size_t count, size_t each)
{
    size_t bytes;
    if (!tn_mul(count, each, &bytes) || !tn_add(bytes, 64, &bytes)) return NULL;
    void *p = tn_malloc_aligned(alloc, bytes, 64);
    if (p) memset(p, 0, bytes);
    return p;
}

static bool lay_trees(struct tn_forest *f, const uint32_t *column, uint32_t depth)
{
    size_t trees = f->tree_count, blocks = trees * tn_tree_blocks(depth), leaves = trees << depth;
    f->splits = room(f->alloc, blocks, TN_TREE_PLACES * sizeof(*f->splits));
    f->columns = room(f->alloc, blocks, TN_TREE_PLACES * sizeof(*f->columns));
    f->missing = room(f->alloc, blocks, sizeof(*f->missing));
    f->values = room(f->alloc, leaves + 32, sizeof(*f->values));
    f->targets = tn_calloc(f->alloc, trees, sizeof(*f->targets));
    f->leaf_of = tn_calloc(f->alloc, trees << TN_TREE_DEPTH, sizeof(*f->leaf_of));
    if (!f->splits || !f->columns || !f->missing || !f->values || !f->targets || !f->leaf_of) return false;
    bool once = votes_once(f);
    f->single = once;
    f->trees = (struct tn_trees){.depth = depth, .split = f->splits, .feature = f->columns, .missing = f->missing, .leaf = f->values, .target = f->targets};
    for (size_t t = 0; t < trees; t++) {
        uint32_t *leaf = f->leaf_of + (t << TN_TREE_DEPTH), n = 1u << depth;
        lay_tree(f, column, t, leaf);
        if (f->single && !one_target(f, leaf, n, &f->targets[t])) f->single = false;
        for (uint32_t i = 0; once && i < n; i++) f->values[(t << depth) + i] = (float)f->votes[f->leaves[leaf[i]]].weight;
    }
    return true;
}

bool tn_forest_lay(struct tn_forest *f)
{
    uint32_t *column = NULL, depth = 1;
    bool good = true;
    if (!is_plain(f) || f->features == 0) return true;
    for (uint32_t t = 0; t < f->tree_count && depth <= TN_TREE_DEPTH; t++) {
        uint32_t d = depth_of(f, f->roots[t]);
        if (d > depth) depth = d;
    }
    good = number_columns(f, &column);
    if (good && depth > TN_TREE_DEPTH) good = tn_forest_step(f, column);
    else if (good && f->used_count <= UINT16_MAX) good = lay_trees(f, column, depth);
    /* one row of up to 128 columns stands in registers, in 2, 4 or 8 of them */
    f->stride = f->used_count <= 32 ? 32 : f->used_count <= 64 ? 64 : (f->used_count + 127) / 128 * 128;
    if (good && f->single) { /* leaves are not asked for by number then */
        tn_free(f->alloc, f->leaf_of);
        f->leaf_of = NULL;
    }
    tn_free(f->alloc, column);
    return good;
}
