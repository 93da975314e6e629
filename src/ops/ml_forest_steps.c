/*
 * Trees that are too deep to be laid out complete: nodes of 16 bytes, level after level, the two children of each side by
 * side. Many rows go down many trees at once, a level at a time, so that one waits for memory while others are compared; who
 * has reached a leaf drops out of the list of those that are under way.
 */
#include "ops/ml_forest.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* Room for the leaves of all trees, too: every child has a place. */
static bool make_room(struct tn_forest *f)
{
    size_t count, bytes;
    if (!tn_mul(f->node_count, 2, &count) || !tn_add(count, f->tree_count, &count) || !tn_mul(count, sizeof(*f->steps), &bytes)) return false;
    f->steps = tn_malloc_aligned(f->alloc, bytes ? bytes : 1, 64);
    f->step_roots = tn_calloc(f->alloc, (size_t)f->tree_count + 1, sizeof(*f->step_roots));
    f->targets = tn_calloc(f->alloc, (size_t)f->tree_count + 1, sizeof(*f->targets));
    return f->steps && f->step_roots && f->targets;
}

/* A leaf's value stands where the split of others does. */
static void step_leaf(struct tn_forest *f, size_t tree, struct tn_tree_step *s, uint32_t leaf)
{
    const struct tn_vote *v = &f->votes[f->leaves[leaf]];
    bool once = f->leaves[leaf + 1] - f->leaves[leaf] == 1, first = f->targets[tree] == UINT32_MAX;
    *s = (struct tn_tree_step){.split = once ? (float)v->weight : 0, .column = TN_STEP_LEAF, .child = leaf};
    if (once && first) f->targets[tree] = v->target;
    if (!once || f->targets[tree] != v->target) f->single = false;
}

bool tn_forest_step(struct tn_forest *f, const uint32_t *column)
{
    uint32_t next = 0;
    if (!make_room(f)) return false;
    f->single = true;
    for (size_t t = 0; t < f->tree_count; t++) {
        uint32_t at = f->step_roots[t] = next;
        f->targets[t] = UINT32_MAX;
        f->steps[next++].child = f->roots[t]; /* what shall stand here */
        for (; at < next; at++) {
            uint32_t child = f->steps[at].child;
            if (child & TN_LEAF) {
                step_leaf(f, t, &f->steps[at], child & ~(uint32_t)TN_LEAF);
                continue;
            }
            const struct tn_branch_node *n = &f->nodes[child];
            f->steps[at] = (struct tn_tree_step){.split = (float)n->split, .column = column[n->feature], .child = next, .missing = n->missing};
            f->steps[next].child = n->yes;
            f->steps[next + 1].child = n->no;
            next += 2;
        }
    }
    return true;
}

/* Item i is row i % rows in tree i / rows. */
struct under_way {
    uint32_t at;
    uint32_t row; /* first element of its columns */
    uint32_t item;
};

static inline __attribute__((always_inline)) uint32_t one_level(const struct tn_tree_step *steps, const float *x, struct under_way *way, uint32_t count,
                                                                uint32_t *ends, bool missing)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct under_way w = way[i];
        const struct tn_tree_step *s = &steps[w.at];
        float v = x[w.row + s->column];
        uint32_t no = !(v <= s->split);
        if (missing) no &= !(v != v && s->missing);
        w.at = s->child + no;
        ends[w.item] = w.at; /* the last one stays */
        way[left] = w;
        left += steps[w.at].column != TN_STEP_LEAF;
    }
    return left;
}

void tn_forest_steps(const struct tn_forest *f, uint32_t first, uint32_t trees, const float *x, size_t stride, uint32_t rows, bool missing, uint32_t *ends)
{
    struct under_way way[TN_STEP_ITEMS];
    uint32_t count = 0;
    for (uint32_t t = 0; t < trees; t++) {
        uint32_t root = f->step_roots[first + t];
        bool inner = f->steps[root].column != TN_STEP_LEAF;
        for (uint32_t k = 0; k < rows; k++) {
            ends[t * rows + k] = root;
            way[count] = (struct under_way){root, k * (uint32_t)stride, t * rows + k};
            count += inner;
        }
    }
    while (count) count = missing ? one_level(f->steps, x, way, count, ends, true) : one_level(f->steps, x, way, count, ends, false);
}
