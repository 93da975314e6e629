/*
 * Trees on AVX-512 (-mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma). All nodes of a block are decided at once: a
 * permutation picks their features out of the row, which stands in registers, and one comparison gives fifteen bits. The
 * walk along the bits is done for 32 rows or trees together. Which way a row goes does not depend on its neighbours, and
 * sums run tree after tree: bits are those of the reference.
 */
#include "kernel/x86/x86.h"

#include <immintrin.h>

enum { ITEMS = 256 }; /* rows times trees that are under way together */

struct group {
    const struct tn_trees_args *a;
    size_t first;             /* tree */
    unsigned trees, row, rows; /* from row `row`; item = tree * step + row */
    unsigned step;
    _Alignas(64) uint16_t bits[ITEMS + 32], at[ITEMS];
};

/* A row, or the part of it that fits registers. */
struct row {
    __m512 part[8];
    const float *x;
};

/* Elements idx[lane] of a row of 16 * parts floats; 0 parts: out of memory. */
static inline __attribute__((always_inline)) __m512 pick(const struct row *r, __m512i idx, unsigned parts)
{
    if (parts == 0) return _mm512_i32gather_ps(idx, r->x, 4);
    __m512 v = _mm512_permutex2var_ps(r->part[0], idx, r->part[1]);
    if (parts == 2) return v;
    __mmask16 odd = _mm512_test_epi32_mask(idx, _mm512_set1_epi32(32));
    v = _mm512_mask_blend_ps(odd, v, _mm512_permutex2var_ps(r->part[2], idx, r->part[3]));
    if (parts == 4) return v;
    __m512 w = _mm512_permutex2var_ps(r->part[4], idx, r->part[5]);
    w = _mm512_mask_blend_ps(odd, w, _mm512_permutex2var_ps(r->part[6], idx, r->part[7]));
    return _mm512_mask_blend_ps(_mm512_test_epi32_mask(idx, _mm512_set1_epi32(64)), v, w);
}

static inline __attribute__((always_inline)) void load_row(const struct group *g, unsigned k, unsigned parts, struct row *r)
{
    r->x = g->a->x + (g->row + k) * g->a->stride;
#pragma GCC unroll 8
    for (unsigned i = 0; i < parts; i++) r->part[i] = _mm512_load_ps(r->x + 16 * i);
}

/* Bit i: the row goes to the second child of node i. */
static inline __attribute__((always_inline)) uint16_t decide(const struct row *r, __m512i feature, __m512 split, const uint16_t *miss, unsigned parts, bool missing)
{
    __m512 v = pick(r, feature, parts);
    __mmask16 right = _mm512_cmp_ps_mask(v, split, _CMP_NLE_UQ);
    if (missing) right = (__mmask16)(right & ~(_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q) & *miss));
    return (uint16_t)right;
}

static inline __attribute__((always_inline)) __m512i features(const uint16_t *p)
{
    return _mm512_cvtepu16_epi32(_mm256_load_si256((const __m256i *)(const void *)p));
}

/* From bits to the node below the last level, for all items. */
static inline void walk(struct group *g, unsigned levels, unsigned items)
{
    const __m512i one = _mm512_set1_epi16(1);
    for (unsigned i = 0; i < items; i += 32) {
        __m512i bits = _mm512_load_si512(g->bits + i), node = one;
        for (unsigned l = 0; l < levels; l++) node = _mm512_add_epi16(_mm512_add_epi16(node, node), _mm512_and_si512(_mm512_srlv_epi16(bits, node), one));
        _mm512_store_si512(g->bits + i, node);
    }
}

enum { BLOCK = TN_TREE_PLACES * sizeof(uint16_t) }; /* bytes of a block's features; half of those of its splits */

/* In first blocks rows follow each other: the block stays in registers. */
static inline __attribute__((always_inline)) void first_blocks(struct group *g, unsigned parts, bool missing)
{
    const struct tn_trees *t = g->a->trees;
    const size_t per_tree = tn_tree_blocks(t->depth);
    size_t block = g->first * per_tree;
    for (unsigned i = 0; i < g->trees; i++, block += per_tree) {
        const __m512i feature = features(t->feature + block * TN_TREE_PLACES);
        const __m512 split = _mm512_load_ps(t->split + block * TN_TREE_PLACES);
        uint16_t *bits = g->bits + i * g->step;
        for (unsigned k = 0; k < g->rows; k++) {
            struct row r;
            load_row(g, k, parts, &r);
            bits[k] = decide(&r, feature, split, t->missing + block, parts, missing);
        }
    }
}

/* Below them, and where there is one row, it is the row that stays. `at` counts bytes of features. */
static inline __attribute__((always_inline)) void row_blocks(struct group *g, bool under, unsigned parts, bool missing)
{
    const struct tn_trees *t = g->a->trees;
    const size_t per_tree = tn_tree_blocks(t->depth), first = g->first * per_tree;
    const char *feature = (const char *)(t->feature + first * TN_TREE_PLACES), *split = (const char *)(t->split + first * TN_TREE_PLACES);
    for (unsigned k = 0; k < g->rows; k++) {
        struct row r;
        load_row(g, k, parts, &r);
        size_t tree = 0;
#pragma GCC unroll 4
        for (unsigned i = 0, item = k; i < g->trees; i++, item += g->step, tree += per_tree * BLOCK) {
            size_t at = tree + (under ? g->at[item] : 0);
            g->bits[item] = decide(&r, features((const uint16_t *)(const void *)(feature + at)), _mm512_load_ps((const float *)(const void *)(split + 2 * at)),
                                   t->missing + first + at / BLOCK, parts, missing);
        }
    }
}

static inline __attribute__((always_inline)) void leaves_of(struct group *g, unsigned items, unsigned parts, bool missing)
{
    const unsigned depth = g->a->trees->depth, top = depth > 4 ? depth - 4 : 0;
    if (g->step == 1) row_blocks(g, false, parts, missing);
    else first_blocks(g, parts, missing);
    walk(g, top ? top : depth, items);
    if (top) {
        const __m512i back = _mm512_set1_epi16((short)((1 << top) - 1));
        for (unsigned i = 0; i < items; i += 32) _mm512_store_si512(g->at + i, _mm512_slli_epi16(_mm512_sub_epi16(_mm512_load_si512(g->bits + i), back), 5));
        row_blocks(g, true, parts, missing);
        walk(g, 4, items);
    }
    /* blocks below count from 1, and so does `at` */
    const __m512i back = _mm512_set1_epi16((short)(top ? 16 + 16 : 1 << depth));
    for (unsigned i = 0; i < items; i += 32) {
        __m512i up = top ? _mm512_srli_epi16(_mm512_load_si512(g->at + i), 1) : _mm512_setzero_si512();
        _mm512_store_si512(g->bits + i, _mm512_sub_epi16(_mm512_add_epi16(up, _mm512_load_si512(g->bits + i)), back));
    }
}

/*
 * Adds the leaves of a tree. 16 * parts leaves stand in registers. Lanes behind the rows hold leaves of other trees: numbers
 * that this tree has too, and sums that nobody reads.
 */
static inline __attribute__((always_inline)) void add_tree(const struct group *g, unsigned i, unsigned parts)
{
    const struct tn_trees *t = g->a->trees;
    struct row leaf = {.x = t->leaf + ((g->first + i) << t->depth)};
#pragma GCC unroll 8
    for (unsigned k = 0; k < parts; k++) leaf.part[k] = _mm512_loadu_ps(leaf.x + 16 * k);
    float *sums = g->a->sums + t->target[g->first + i] * TN_TREE_ROWS + g->row;
    for (unsigned k = 0; k < g->rows; k += 16) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(g->bits + i * g->step + k));
        __m512 v = pick(&leaf, _mm512_cvtepu16_epi32(at), parts);
        _mm512_storeu_ps(sums + k, _mm512_add_ps(_mm512_loadu_ps(sums + k), v));
    }
}

static void add_rows(const struct group *g)
{
    const uint32_t depth = g->a->trees->depth;
    for (unsigned i = 0; i < g->trees; i++) {
        if (depth <= 5) add_tree(g, i, 2);
        else if (depth == 6) add_tree(g, i, 4);
        else if (depth == 7) add_tree(g, i, 8);
        else add_tree(g, i, 0);
    }
}

/* The sum stays in a register as long as trees vote for one target. */
static void add_one(const struct group *g)
{
    const struct tn_trees *t = g->a->trees;
    const float *leaf = t->leaf + (g->first << t->depth);
    const uint32_t *target = t->target + g->first;
    for (unsigned i = 0; i < g->trees;) {
        const uint32_t now = target[i];
        float *place = g->a->sums + now * TN_TREE_ROWS + g->row, sum = *place;
        for (; i < g->trees && target[i] == now; i++, leaf += (size_t)1 << t->depth) sum += leaf[g->bits[i]];
        *place = sum;
    }
}

static void finish(const struct group *g)
{
    uint8_t *leaves = g->a->leaves;
    if (!leaves) {
        if (g->step > 1) add_rows(g);
        else add_one(g);
        return;
    }
    leaves += (g->first - g->a->first) * TN_TREE_ROWS + g->row;
    for (unsigned i = 0; i < g->trees; i++) {
        for (unsigned k = 0; k < g->rows; k++) leaves[i * TN_TREE_ROWS + k] = (uint8_t)g->bits[i * g->step + k];
    }
}

static inline __attribute__((always_inline)) void run(const struct tn_trees_args *a, unsigned parts, bool missing)
{
    struct group g = {.a = a, .bits = {0}};
    for (g.step = 1; g.step < a->rows && g.step < 32; g.step *= 2) continue;
    for (g.row = 0; g.row < a->rows; g.row += g.step) {
        g.rows = a->rows - g.row < g.step ? a->rows - g.row : g.step;
        for (size_t i = 0; i < a->count; i += g.trees) {
            g.first = a->first + i;
            g.trees = a->count - i < ITEMS / g.step ? (unsigned)(a->count - i) : ITEMS / g.step;
            leaves_of(&g, (g.trees * g.step + 31) & ~31u, parts, missing);
            finish(&g);
        }
    }
}

#define WIDTH(parts)                                                                                                  \
    static void run_##parts(const struct tn_trees_args *a)                                                           \
    {                                                                                                                 \
        if (a->missing) run(a, parts, true);                                                                          \
        else run(a, parts, false);                                                                                    \
    }
WIDTH(0)
WIDTH(2)
WIDTH(4)
WIDTH(8)

void tn_avx512_trees(const struct tn_trees_args *a)
{
    if (a->stride <= 32) run_2(a);
    else if (a->stride <= 64) run_4(a);
    else if (a->stride == 128) run_8(a);
    else run_0(a);
}
