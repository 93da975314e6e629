/*
 * Rows through ensembles of trees. Complete trees go by blocks of 64 rows through the kernels, some blocks at a time so that
 * a part of the trees stays in the cache; deeper ones by the same blocks, step by step. What compares otherwise goes node by
 * node, a row after the other. Sums run in the order of the trees whichever way is taken.
 */
#include "ops/ml_forest.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

enum { BLOCKS = 16 };

struct walk {
    const struct tn_forest *f;
    const struct tn_kernels *kernels;
    const struct tn_tensor *x;
    uint64_t rows, width, targets;
    enum tn_forest_sum sum;
    void *out;
    uint8_t *voted;
    char *room; /* scratch of all threads */
    size_t share_bytes;
    uint64_t blocks, chunk; /* blocks of one piece of work; trees that are run over them together */
};

/* Rows of integers are compared as float32. */
static double value_at(const struct walk *w, uint64_t row, uint32_t feature)
{
    uint64_t i = row * w->width + feature;
    if (w->x->element == TN_EL_F32) return (double)((const float *)w->x->data)[i];
    if (w->x->element == TN_EL_F64) return ((const double *)w->x->data)[i];
    return (double)(float)tn_element_get(w->x->element, w->x->data, i);
}

/* ---- votes -------------------------------------------------------------------------------------------------------- */

static void vote(const struct walk *w, uint64_t row, const struct tn_vote *v)
{
    uint64_t at = row * w->targets + v->target;
    bool first = !w->voted[at];
    w->voted[at] = 1;
    if (w->f->wide) {
        double *y = (double *)w->out + at;
        if (w->sum <= TN_FOREST_AVERAGE) *y += v->weight;
        else if (first || (w->sum == TN_FOREST_MIN ? v->weight < *y : v->weight > *y)) *y = v->weight;
        return;
    }
    float *y = (float *)w->out + at, weight = (float)v->weight;
    if (w->sum <= TN_FOREST_AVERAGE) *y += weight;
    else if (first || (w->sum == TN_FOREST_MIN ? weight < *y : weight > *y)) *y = weight;
}

static void vote_leaf(const struct walk *w, uint64_t row, uint32_t leaf)
{
    for (uint32_t i = w->f->leaves[leaf]; i < w->f->leaves[leaf + 1]; i++) vote(w, row, &w->f->votes[i]);
}

/* ---- node by node ------------------------------------------------------------------------------------------------- */

static bool goes_on(const struct tn_forest *f, const struct tn_branch_node *n, double x)
{
    if (x != x) return n->missing;
    if (n->how == TN_BRANCH_LEQ) return x <= n->split;
    if (n->how == TN_BRANCH_EQ) return x == n->split;
    for (uint32_t i = 0; i < n->member_count; i++) {
        if (f->members[n->members + i] == x) return true;
    }
    return false;
}

static void walk_row(const struct walk *w, uint64_t row)
{
    const struct tn_forest *f = w->f;
    for (uint32_t t = 0; t < f->tree_count; t++) {
        uint32_t at = f->roots[t];
        while (!(at & TN_LEAF)) {
            const struct tn_branch_node *n = &f->nodes[at];
            at = goes_on(f, n, value_at(w, row, n->feature)) ? n->yes : n->no;
        }
        vote_leaf(w, row, at & ~(uint32_t)TN_LEAF);
    }
}

static void walk_rows(void *user, uint64_t begin, uint64_t end)
{
    for (uint64_t row = begin; row < end; row++) walk_row(user, row);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------- */

struct block {
    float *x, *sums;
    uint8_t *leaves;
    bool missing; /* there is a NaN */
};

/* The columns that trees ask for, row after row. */
static void fill_rows(const struct walk *w, uint64_t first, uint64_t rows, struct block *b)
{
    const struct tn_forest *f = w->f;
    uint32_t bad = 0;
    for (uint64_t k = 0; k < rows; k++) {
        float *to = b->x + k * f->stride;
        if (w->x->element == TN_EL_F32) {
            const float *from = (const float *)w->x->data + (first + k) * w->width;
            for (uint32_t i = 0; i < f->used_count; i++) to[i] = from[f->used[i]];
        } else {
            for (uint32_t i = 0; i < f->used_count; i++) to[i] = (float)value_at(w, first + k, f->used[i]);
        }
        for (uint32_t i = 0; i < f->used_count; i++) bad += to[i] != to[i];
        for (uint32_t i = f->used_count; i < f->stride; i++) to[i] = 0;
    }
    b->missing = bad != 0;
}

static void vote_block(const struct walk *w, const struct block *b, uint64_t first, uint64_t rows, uint32_t tree, uint32_t count)
{
    for (uint32_t t = 0; t < count; t++) {
        const uint32_t *leaf = w->f->leaf_of + ((size_t)(tree + t) << TN_TREE_DEPTH);
        for (uint64_t k = 0; k < rows; k++) vote_leaf(w, first + k, leaf[b->leaves[t * TN_TREE_ROWS + k]]);
    }
}

/* As many trees at once as keep rows enough under way. */
static void step_block(const struct walk *w, const struct block *b, uint64_t first, uint32_t rows, uint32_t tree, uint32_t count)
{
    const struct tn_forest *f = w->f;
    uint32_t ends[TN_STEP_ITEMS], most = TN_STEP_ITEMS / rows;
    for (uint32_t n; count > 0; tree += n, count -= n) {
        n = count < most ? count : most;
        tn_forest_steps(f, tree, n, b->x, f->stride, rows, b->missing, ends);
        for (uint32_t t = 0; t < n; t++) {
            float *sums = b->sums + (size_t)f->targets[tree + t] * TN_TREE_ROWS;
            for (uint32_t k = 0; k < rows; k++) {
                const struct tn_tree_step *s = &f->steps[ends[t * rows + k]];
                if (f->single) sums[k] += s->split;
                else vote_leaf(w, first + k, s->child);
            }
        }
    }
}

static void finish_block(const struct walk *w, const struct block *b, uint64_t first, uint64_t rows)
{
    for (uint64_t k = 0; k < rows; k++) {
        for (uint64_t t = 0; t < w->targets; t++) ((float *)w->out)[(first + k) * w->targets + t] = b->sums[t * TN_TREE_ROWS + k];
    }
}

static uint64_t rows_of_block(uint64_t left, uint64_t i)
{
    return left - i * TN_TREE_ROWS < TN_TREE_ROWS ? left - i * TN_TREE_ROWS : TN_TREE_ROWS;
}

static void run_piece(const struct walk *w, uint64_t piece, char *room)
{
    const struct tn_forest *f = w->f;
    uint64_t first = piece * w->blocks * TN_TREE_ROWS, left = w->rows - first;
    uint64_t count = (left + TN_TREE_ROWS - 1) / TN_TREE_ROWS < w->blocks ? (left + TN_TREE_ROWS - 1) / TN_TREE_ROWS : w->blocks;
    struct block b[BLOCKS];
    size_t columns = (size_t)f->stride * TN_TREE_ROWS, sums = f->single ? (size_t)w->targets * TN_TREE_ROWS : 0;
    for (uint64_t i = 0; i < count; i++) {
        b[i].x = (float *)room + i * (columns + sums);
        b[i].sums = b[i].x + columns;
        b[i].leaves = (uint8_t *)((float *)room + w->blocks * (columns + sums));
        memset(b[i].sums, 0, sums * sizeof(float));
        fill_rows(w, first + i * TN_TREE_ROWS, rows_of_block(left, i), &b[i]);
    }
    for (uint32_t t = 0; t < f->tree_count; t += (uint32_t)w->chunk) {
        uint32_t n = f->tree_count - t < w->chunk ? f->tree_count - t : (uint32_t)w->chunk;
        for (uint64_t i = 0; i < count; i++) {
            uint64_t rows = rows_of_block(left, i);
            if (f->steps) {
                step_block(w, &b[i], first + i * TN_TREE_ROWS, (uint32_t)rows, t, n);
                continue;
            }
            struct tn_trees_args a = {.trees = &f->trees, .first = t, .count = n, .x = b[i].x, .stride = f->stride, .rows = (unsigned)rows,
                                      .missing = b[i].missing, .sums = b[i].sums, .leaves = f->single ? NULL : b[i].leaves};
            w->kernels->trees(&a);
            if (!f->single) vote_block(w, &b[i], first + i * TN_TREE_ROWS, rows, t, n);
        }
    }
    for (uint64_t i = 0; f->single && i < count; i++) finish_block(w, &b[i], first + i * TN_TREE_ROWS, rows_of_block(left, i));
}

static uint64_t pieces_of(const struct walk *w)
{
    uint64_t blocks = (w->rows + TN_TREE_ROWS - 1) / TN_TREE_ROWS;
    return (blocks + w->blocks - 1) / w->blocks;
}

static void block_member(void *arg, unsigned rank, unsigned size)
{
    const struct walk *w = arg;
    size_t begin, end;
    tn_share((size_t)pieces_of(w), rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) run_piece(w, i, w->room + rank * w->share_bytes);
}

/* Rows of all blocks, and the tables of a chunk of trees, each take a part of the second-level cache. */
static bool run_blocks(struct tn_run *r, struct walk *w)
{
    const struct tn_forest *f = w->f;
    enum { ROWS = 1 << 18, TABLES = 1 << 18 };
    size_t each = ((size_t)f->stride + (f->single ? (size_t)w->targets : 0)) * TN_TREE_ROWS * sizeof(float), bytes;
    size_t tree = f->steps ? (2 * (size_t)f->node_count / f->tree_count + 1) * sizeof(*f->steps)
                           : (size_t)tn_tree_blocks(f->trees.depth) * TN_TREE_PLACES * 6 + (sizeof(float) << f->trees.depth);
    uint64_t all = (w->rows + TN_TREE_ROWS - 1) / TN_TREE_ROWS;
    w->blocks = ROWS / (each + 1);
    w->blocks = w->blocks < 1 ? 1 : w->blocks > BLOCKS ? BLOCKS : w->blocks;
    if (w->blocks > all) w->blocks = all;
    w->chunk = TABLES / tree + (TABLES < tree);
    if (w->blocks == 1 || w->chunk > f->tree_count) w->chunk = f->tree_count;
    if (!tn_mul(each, w->blocks, &bytes) || !tn_add(bytes, (f->single || f->steps ? 0 : w->chunk * TN_TREE_ROWS) + 64, &bytes)) return tn_run_no_memory(r);
    w->share_bytes = bytes - bytes % 64;
    uint64_t pieces = pieces_of(w);
    unsigned want = r->threads < pieces ? r->threads : (unsigned)pieces;
    w->room = tn_run_scratch(r, w->share_bytes, want);
    if (!w->room) return false;
    if (want == 1) block_member(w, 0, 1);
    else tn_pool_run(r->pool, block_member, w, want);
    tn_heap_give(r->heap, w->room);
    return true;
}

/* ---- whole -------------------------------------------------------------------------------------------------------- */

/* Every row has a vote for the targets of all trees. */
static void mark_voted(const struct walk *w)
{
    for (uint64_t row = 0; row < w->rows; row++) {
        for (uint32_t t = 0; row == 0 && t < w->f->tree_count; t++) w->voted[w->f->targets[t]] = 1;
        if (row) memcpy(w->voted + row * w->targets, w->voted, w->targets);
    }
}

bool tn_forest_run(struct tn_run *r, const struct tn_forest *f, const struct tn_tensor *x, enum tn_forest_sum sum, uint64_t targets, void *out, uint8_t *voted)
{
    struct walk w = {.f = f, .kernels = r->kernels, .x = x, .targets = targets, .sum = sum, .out = out, .voted = voted,
                     .rows = x->rank > 1 ? (uint64_t)x->dims[0] : 1, .width = x->rank ? (uint64_t)x->dims[x->rank - 1] : 1};
    uint64_t all = w.rows * targets;
    bool complete = (f->trees.depth || f->steps) && sum <= TN_FOREST_AVERAGE, owned = !voted, good = true;
    if (w.width < f->features) return tn_run_refuse(r, "rows with all features that the trees ask for", "%llu of %u", (unsigned long long)w.width, f->features);
    if (all == 0) return true;
    if (owned) w.voted = tn_run_scratch(r, all, 1);
    if (!w.voted) return false;
    memset(w.voted, 0, all);
    memset(out, 0, all * (f->wide ? sizeof(double) : sizeof(float)));
    if (complete) good = run_blocks(r, &w);
    else tn_run_items(r, w.rows, (uint64_t)f->tree_count * 40, walk_rows, &w);
    if (good && complete && f->single) mark_voted(&w);
    for (uint64_t i = 0; good && sum == TN_FOREST_AVERAGE && i < all; i++) {
        if (f->wide) ((double *)out)[i] /= (double)f->tree_count;
        else ((float *)out)[i] /= (float)f->tree_count;
    }
    if (owned) tn_heap_give(r->heap, w.voted);
    return good;
}
