/*
 * Trees on AVX-512 (-mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma), sixteen rows at once. Near the root the columns of
 * all nodes of a level are loaded whole and the one that a row needs is picked by the decisions so far; below, splits and
 * features come out of registers by permutation and the row's element by a gather. Which way a row goes does not depend on
 * its neighbours: bits are those of the reference.
 */
#include "kernel/x86/x86.h"

#include <immintrin.h>

/* Decisions of the first levels, and the number of the node within its level. */
struct path {
    __mmask16 k[TN_TREE_DEPTH];
    __m512i at;
};

static inline __m512i step(const struct path *p, unsigned level)
{
    __m512i at = _mm512_add_epi32(p->at, p->at);
    return _mm512_mask_add_epi32(at, p->k[level], at, _mm512_set1_epi32(1));
}

/* Element at[lane] of 2^bits floats; the bits above the fifth are the decisions k[bits - 6 ..] that led there. */
static inline __attribute__((always_inline)) __m512 pick(const float *table, const struct path *p, unsigned bits)
{
    if (bits <= 4) return _mm512_permutexvar_ps(p->at, _mm512_loadu_ps(table));
    __m512 part[8];
    unsigned n = 1u << (bits - 5);
#pragma GCC unroll 8
    for (unsigned i = 0; i < n; i++) part[i] = _mm512_permutex2var_ps(_mm512_loadu_ps(table + 32 * i), p->at, _mm512_loadu_ps(table + 32 * i + 16));
#pragma GCC unroll 8
    for (unsigned level = bits - 5; level-- > 0;) {
#pragma GCC unroll 8
        for (unsigned i = 0; i < 1u << level; i++) part[i] = _mm512_mask_blend_ps(p->k[level], part[2 * i], part[2 * i + 1]);
    }
    return part[0];
}

/* Columns of a whole level, of which each row keeps the one of its node. */
static inline __attribute__((always_inline)) __m512 column(const struct tn_tree *t, const float *x, const struct path *p, unsigned level)
{
    __m512 part[8];
    const unsigned nodes = 1u << level;
    const int32_t *feature = t->feature + (nodes - 1);
#pragma GCC unroll 8
    for (unsigned i = 0; i < nodes; i++) part[i] = _mm512_loadu_ps(x + feature[i]);
#pragma GCC unroll 8
    for (unsigned l = level; l-- > 0;) {
#pragma GCC unroll 8
        for (unsigned i = 0; i < 1u << l; i++) part[i] = _mm512_mask_blend_ps(p->k[l], part[2 * i], part[2 * i + 1]);
    }
    return part[0];
}

enum { WHOLE = 4 }; /* levels that are loaded whole */

static inline __attribute__((always_inline)) __m512i descend(const struct tn_tree *t, const float *x, unsigned depth, struct path *p)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    p->at = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (unsigned level = 0; level < depth; level++) {
        const float *split = t->split + ((1u << level) - 1);
        __m512 value, limit = level == 0 ? _mm512_set1_ps(split[0]) : pick(split, p, level);
        if (level < WHOLE) {
            value = column(t, x, p, level);
        } else {
            __m512i feature = _mm512_castps_si512(pick((const float *)(t->feature + ((1u << level) - 1)), p, level));
            value = _mm512_i32gather_ps(_mm512_add_epi32(feature, lanes), x, 4);
        }
        p->k[level] = _mm512_cmp_ps_mask(value, limit, _CMP_NLE_UQ);
        p->at = step(p, level);
    }
    return p->at;
}

#define DEPTH(d)                                                                                                      \
    static void run_##d(const struct tn_tree *t, const float *x, float *sums, uint8_t *leaves)                       \
    {                                                                                                                 \
        for (unsigned g = 0; g < TN_TREE_ROWS; g += 16) {                                                             \
            struct path p;                                                                                            \
            __m512i at = descend(t, x + g, d, &p);                                                                    \
            if (leaves) _mm_storeu_si128((__m128i *)(void *)(leaves + g), _mm512_cvtepi32_epi8(at));                  \
            else _mm512_storeu_ps(sums + g, _mm512_add_ps(_mm512_loadu_ps(sums + g), pick(t->leaf, &p, d)));          \
        }                                                                                                             \
    }
DEPTH(1)
DEPTH(2)
DEPTH(3)
DEPTH(4)
DEPTH(5)
DEPTH(6)
DEPTH(7)
DEPTH(8)

void tn_avx512_trees(const struct tn_trees_args *a)
{
    static void (*const run[TN_TREE_DEPTH + 1])(const struct tn_tree *, const float *, float *, uint8_t *) = {
        NULL, run_1, run_2, run_3, run_4, run_5, run_6, run_7, run_8};
    for (size_t i = 0; i < a->count; i++) {
        const struct tn_tree *t = &a->trees[i];
        run[t->depth](t, a->x, a->leaves ? NULL : a->sums + t->target * TN_TREE_ROWS, a->leaves ? a->leaves + i * TN_TREE_ROWS : NULL);
    }
}
