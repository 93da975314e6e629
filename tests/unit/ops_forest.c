/*
 * Ensembles of trees that are deeper than the kernels take, against a walk that is written out here: sums in the order of
 * the trees, so that results have the same bits; rows with NaN; one vote a leaf or several; one row or many; threads.
 */
#include "ops/ml_forest.h"
#include "test.h"

#include <stdlib.h>

enum { MOST = 6000, FEATURES = 7, TREES = 9, DEPTH = 21 };

/* A TreeEnsembleRegressor as its attributes. */
struct forest {
    int64_t ids[MOST], trees[MOST], features[MOST], yes[MOST], no[MOST], missing[MOST];
    int64_t vote_tree[2 * MOST], vote_node[2 * MOST], vote_target[2 * MOST];
    float splits[MOST], weights[2 * MOST];
    struct tn_str modes[MOST];
    size_t nodes, votes;
    size_t root[TREES];
    uint64_t targets;
    uint32_t deepest;
};

static size_t grow(struct forest *f, int64_t tree, size_t first, uint32_t depth, bool several, uint64_t *state)
{
    size_t at = f->nodes++;
    bool leaf = depth == DEPTH || f->nodes - first > MOST / TREES - DEPTH - 3 || (depth > 8 && test_random(state) % 4 == 0);
    f->ids[at] = (int64_t)(at - first);
    f->trees[at] = tree;
    f->features[at] = (int64_t)(test_random(state) % FEATURES);
    f->missing[at] = (int64_t)(test_random(state) % 2);
    f->splits[at] = (float)test_uniform(state, -1, 1);
    f->modes[at] = leaf ? TN_STR("LEAF") : test_random(state) % 3 ? TN_STR("BRANCH_LEQ") : TN_STR("BRANCH_GT");
    f->yes[at] = f->no[at] = 0;
    if (depth > f->deepest) f->deepest = depth;
    for (uint64_t v = 0; leaf && v < (several ? 1 + at % 2 : 1); v++, f->votes++) {
        f->vote_tree[f->votes] = tree;
        f->vote_node[f->votes] = f->ids[at];
        f->vote_target[f->votes] = several ? (int64_t)((at + v) % f->targets) : tree % (int64_t)f->targets;
        f->weights[f->votes] = (float)test_uniform(state, -1, 1);
    }
    if (!leaf) {
        f->yes[at] = (int64_t)(grow(f, tree, first, depth + 1, several, state) - first);
        f->no[at] = (int64_t)(grow(f, tree, first, depth + 1, several, state) - first);
    }
    return at;
}

static void make_forest(struct forest *f, uint64_t targets, bool several, uint64_t *state)
{
    memset(f, 0, sizeof(*f));
    f->targets = targets;
    for (int64_t t = 0; t < TREES; t++) f->root[t] = grow(f, t, f->nodes, 0, several, state);
}

static void walk(const struct forest *f, const float *x, float *y)
{
    for (uint64_t t = 0; t < f->targets; t++) y[t] = 0;
    for (size_t t = 0; t < TREES; t++) {
        size_t at = f->root[t];
        while (!tn_str_is(f->modes[at], "LEAF")) {
            float v = x[f->features[at]];
            bool greater = tn_str_is(f->modes[at], "BRANCH_GT"), yes = greater ? v > f->splits[at] : v <= f->splits[at];
            if (v != v) yes = f->missing[at] != 0;
            at = f->root[t] + (size_t)(yes ? f->yes[at] : f->no[at]);
        }
        for (size_t v = 0; v < f->votes; v++) {
            if (f->vote_tree[v] == (int64_t)t && f->vote_node[v] == f->ids[at]) y[f->vote_target[v]] += f->weights[v];
        }
    }
}

static struct tn_attr ints(const char *name, const int64_t *values, size_t count)
{
    return (struct tn_attr){.name = tn_str_of(name), .type = TN_ATTR_INTS, .count = count, .as.ints = values};
}

static void check_rows(const struct forest *f, const struct tn_forest *made, struct tn_heap *heap, struct tn_pool *pool, const float *x, int64_t rows, unsigned threads)
{
    struct tn_finding why;
    struct tn_cpu cpu;
    tn_cpu_detect(&cpu);
    struct tn_run r = {.heap = heap, .pool = pool, .threads = threads, .kernels = tn_kernels_select(&cpu, NULL), .why = &why};
    struct tn_tensor *in = tn_tensor_new(heap, TN_EL_F32, 2, (int64_t[]){rows, FEATURES});
    float *y = malloc((size_t)rows * f->targets * sizeof(*y)), *expected = malloc(f->targets * sizeof(*expected));
    REQUIRE(in && y && expected);
    memcpy(in->data, x, in->bytes);
    CHECK(tn_forest_run(&r, made, in, TN_FOREST_SUM, f->targets, y, NULL));
    for (int64_t i = 0; i < rows; i++) {
        walk(f, x + i * FEATURES, expected);
        if (memcmp(y + (size_t)i * f->targets, expected, f->targets * sizeof(*y)) == 0) continue;
        test_fail(__FILE__, __LINE__, "row %lld of %lld: %.9g, expected %.9g", (long long)i, (long long)rows, (double)y[(size_t)i * f->targets], (double)expected[0]);
        break;
    }
    tn_tensor_drop(in);
    free(y);
    free(expected);
}

static void check_forest(uint64_t targets, bool several, bool nans)
{
    static struct forest f;
    static float x[300 * FEATURES];
    static const int64_t row_counts[] = {1, 3, 64, 65, 300};
    struct tn_alloc alloc;
    struct tn_heap heap;
    struct tn_pool *pool;
    const char *wrong;
    uint64_t state = targets * 4 + several * 2 + nans + 1;
    tn_alloc_init(&alloc);
    tn_heap_init(&heap, &alloc);
    REQUIRE(tn_pool_new(&alloc, 2, &pool) == TN_OK);
    make_forest(&f, targets, several, &state);
    CHECK(f.deepest > TN_TREE_DEPTH);
    for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++) x[i] = nans && test_random(&state) % 9 == 0 ? NAN : (float)test_uniform(&state, -1, 1);
    struct tn_attr attrs[] = {ints("nodes_nodeids", f.ids, f.nodes), ints("nodes_treeids", f.trees, f.nodes), ints("nodes_featureids", f.features, f.nodes),
                              ints("nodes_truenodeids", f.yes, f.nodes), ints("nodes_falsenodeids", f.no, f.nodes),
                              ints("nodes_missing_value_tracks_true", f.missing, f.nodes),
                              ints("target_treeids", f.vote_tree, f.votes), ints("target_nodeids", f.vote_node, f.votes), ints("target_ids", f.vote_target, f.votes),
                              {.name = TN_STR("nodes_values"), .type = TN_ATTR_FLOATS, .count = f.nodes, .as.floats = f.splits},
                              {.name = TN_STR("target_weights"), .type = TN_ATTR_FLOATS, .count = f.votes, .as.floats = f.weights},
                              {.name = TN_STR("nodes_modes"), .type = TN_ATTR_STRINGS, .count = f.nodes, .as.strings = f.modes}};
    struct tn_node node = {.attrs = attrs, .attr_count = sizeof(attrs) / sizeof(attrs[0])};
    struct tn_forest *made = tn_forest_new(&alloc, &node, "target", TN_EL_F32, targets, &wrong);
    if (!made) test_fail(__FILE__, __LINE__, "expected %s", wrong ? wrong : "memory");
    REQUIRE(made);
    CHECK(made->steps != NULL);
    CHECK_INT(made->single, !several);
    for (size_t k = 0; k < sizeof(row_counts) / sizeof(row_counts[0]); k++) {
        for (unsigned threads = 1; threads <= 2; threads++) check_rows(&f, made, &heap, pool, x, row_counts[k], threads);
    }
    tn_forest_free(made);
    for (unsigned n = 1;; n++) { /* each allocation fails once */
        REQUIRE(n < 100);
        uint64_t before = tn_alloc_current(&alloc);
        tn_alloc_fail(&alloc, n, false);
        made = tn_forest_new(&alloc, &node, "target", TN_EL_F32, targets, &wrong);
        bool hit = alloc.fail_at != 0 && alloc.calls >= alloc.fail_at;
        tn_alloc_fail(&alloc, 0, false);
        CHECK(!hit == (made != NULL));
        CHECK(made || !wrong);
        tn_forest_free(made);
        CHECK_INT(tn_alloc_current(&alloc), before);
        if (!hit) break;
    }
    tn_heap_release(&heap);
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(deep_trees_of_one_vote_a_leaf)
{
    check_forest(1, false, false);
    check_forest(3, false, false);
}

TEST(deep_trees_of_several_votes_a_leaf)
{
    check_forest(1, true, false);
    check_forest(4, true, false);
}

TEST(deep_trees_of_rows_with_nan)
{
    check_forest(1, false, true);
    check_forest(4, true, true);
}
