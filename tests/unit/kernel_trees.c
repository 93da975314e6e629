/*
 * Trees in every table against a walk over the definition: all depths, all widths of rows, few rows and a whole block, NaN
 * with both ways; bits are equal, and what stands behind the rows' sums and leaves is not touched.
 */
#include "kernel_util.h"

#include <math.h>

enum { TREES = 300, MOST_FEATURES = 300, TARGETS = 3, SUMS = TARGETS * TN_TREE_ROWS };

/* A forest in the plain form: node i of a tree has the children 2i and 2i + 1, from 1. */
struct plain {
    uint32_t depth, features;
    float *split;
    uint16_t *feature;
    bool *missing;
};

struct laid {
    struct tn_trees trees;
    float *split, *leaf;
    uint16_t *feature, *missing;
    uint32_t target[TREES];
};

static size_t place_of(uint32_t depth, size_t tree, uint32_t node, size_t *block, uint32_t *inner)
{
    uint32_t level = 0, top = depth > 4 ? depth - 4 : 0;
    while (node >> (level + 1)) level++;
    uint32_t own = level < top ? level : level - top;
    *block = tree * tn_tree_blocks(depth);
    if (top && level >= top) *block += 1 + (node >> own) - (1u << top);
    *inner = (1u << own) | (node & ((1u << own) - 1));
    return *block * TN_TREE_PLACES + *inner;
}

static void *zeroed(size_t bytes)
{
    size_t whole = (bytes + 64 + 63) / 64 * 64;
    void *p = aligned_alloc(64, whole);
    memset(p, 0, whole);
    return p;
}

static void make(struct plain *p, struct laid *l, uint64_t *seed, uint32_t depth, uint32_t features)
{
    size_t nodes = (size_t)1 << depth, blocks = TREES * (size_t)tn_tree_blocks(depth);
    *p = (struct plain){.depth = depth, .features = features, .split = zeroed(TREES * nodes * 4), .feature = zeroed(TREES * nodes * 2), .missing = zeroed(TREES * nodes)};
    *l = (struct laid){.split = zeroed(blocks * 64), .feature = zeroed(blocks * 32), .missing = zeroed(blocks * 2), .leaf = zeroed((TREES * nodes + 32) * 4)};
    for (size_t t = 0; t < TREES; t++) {
        l->target[t] = (uint32_t)(test_random(seed) % TARGETS);
        for (uint32_t i = 0; i < nodes; i++) l->leaf[t * nodes + i] = (float)test_uniform(seed, -1, 1);
        for (uint32_t i = 1; i < nodes; i++) {
            size_t block, at = t * nodes + i;
            uint32_t inner;
            p->split[at] = (float)(int)(test_random(seed) % 9) / 4 - 1;
            p->feature[at] = (uint16_t)(test_random(seed) % features);
            p->missing[at] = test_random(seed) % 2;
            size_t place = place_of(depth, t, i, &block, &inner);
            l->split[place] = p->split[at];
            l->feature[place] = p->feature[at];
            l->missing[block] |= (uint16_t)(p->missing[at] << inner);
        }
    }
    l->trees = (struct tn_trees){.depth = depth, .split = l->split, .feature = l->feature, .missing = l->missing, .leaf = l->leaf, .target = l->target};
}

static void drop(struct plain *p, struct laid *l)
{
    void *const all[] = {p->split, p->feature, p->missing, l->split, l->feature, l->missing, l->leaf};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) free(all[i]);
}

static uint32_t leaf_of(const struct plain *p, size_t tree, const float *x)
{
    uint32_t node = 1, nodes = 1u << p->depth;
    while (node < nodes) {
        size_t at = tree * nodes + node;
        float v = x[p->feature[at]];
        bool left = isnan(v) ? p->missing[at] : v <= p->split[at];
        node = 2 * node + (left ? 0 : 1);
    }
    return node - nodes;
}

static void check(const struct tn_kernels *k, const struct plain *p, const struct laid *l, const float *x, size_t stride, unsigned rows, bool missing, size_t first)
{
    size_t count = TREES - first;
    struct guarded sums = guarded_new(SUMS, 0);
    static float expected[SUMS];
    static uint8_t leaves[TREES * TN_TREE_ROWS];
    for (unsigned i = 0; i < SUMS; i++) expected[i] = sums.p[i] = (float)i / 64;
    struct tn_trees_args a = {.trees = &l->trees, .first = first, .count = count, .x = x, .stride = stride, .rows = rows, .missing = missing, .sums = sums.p};
    k->trees(&a);
    a.leaves = leaves;
    k->trees(&a);
    unsigned bad = 0;
    for (size_t t = first; t < TREES; t++) {
        for (unsigned r = 0; r < rows; r++) {
            uint32_t leaf = leaf_of(p, t, x + r * stride);
            expected[l->target[t] * TN_TREE_ROWS + r] += l->leaf[(t << p->depth) + leaf];
            bad += leaves[(t - first) * TN_TREE_ROWS + r] != leaf;
        }
    }
    CHECK_INT(bad, 0);
    for (unsigned i = 0; i < TARGETS; i++) CHECK(memcmp(expected + i * TN_TREE_ROWS, sums.p + i * TN_TREE_ROWS, rows * sizeof(float)) == 0);
    guarded_free(&sums, "sums");
}

static void run(uint32_t depth, uint32_t features, bool missing)
{
    static const unsigned rows[] = {1, 2, 3, 7, 16, 17, 31, 33, 64};
    struct plain p;
    struct laid l;
    uint64_t seed = depth * 1000 + features;
    size_t stride = features <= 32 ? 32 : features <= 64 ? 64 : (features + 127) / 128 * 128;
    float *x = zeroed(TN_TREE_ROWS * stride * sizeof(float));
    make(&p, &l, &seed, depth, features);
    for (size_t i = 0; i < TN_TREE_ROWS * stride; i++) {
        x[i] = (float)(int)(test_random(&seed) % 17) / 8 - 1;
        if (missing && test_random(&seed) % 5 == 0) x[i] = NAN;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        EACH_TABLE(k) check(k, &p, &l, x, stride, rows[i], missing, i % 2 ? 0 : 290 - 3 * i);
    }
    free(x);
    drop(&p, &l);
}

TEST(kernel_trees_every_depth)
{
    for (uint32_t depth = 1; depth <= TN_TREE_DEPTH; depth++) {
        run(depth, 28, false);
        run(depth, 5, true);
    }
}

TEST(kernel_trees_every_width)
{
    static const uint32_t features[] = {1, 32, 33, 64, 65, 128, 129, MOST_FEATURES};
    for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
        run(6, features[i], false);
        run(7, features[i], true);
    }
}
