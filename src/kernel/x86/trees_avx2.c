/* Trees on AVX2 (-mavx2 -mfma), eight rows at once by gathers; see kernel.h. Bits are those of the reference. */
#include "kernel/x86/x86.h"

#include <immintrin.h>

struct lanes {
    const struct tn_trees *t;
    const float *x;
    __m256i row; /* where the rows begin in x */
    bool missing;
};

/* Words of 16 bits at places of an array: the upper half of what is loaded is cut off. */
static inline __m256i words(const uint16_t *from, __m256i at)
{
    return _mm256_and_si256(_mm256_i32gather_epi32((const int *)(const void *)from, at, 2), _mm256_set1_epi32(0xffff));
}

/* Exits of eight rows from their blocks, which are counted from the tree's first. */
static inline __m256i exits(const struct lanes *l, size_t first, __m256i block, unsigned levels)
{
    const __m256i one = _mm256_set1_epi32(1), place = _mm256_slli_epi32(block, 4);
    const float *split = l->t->split + first * TN_TREE_PLACES;
    const uint16_t *feature = l->t->feature + first * TN_TREE_PLACES;
    __m256i node = one, missing = l->missing ? words(l->t->missing + first, block) : _mm256_setzero_si256();
    for (unsigned d = 0; d < levels; d++) {
        __m256i at = _mm256_add_epi32(place, node);
        __m256 limit = _mm256_i32gather_ps(split, at, 4);
        __m256 value = _mm256_i32gather_ps(l->x, _mm256_add_epi32(l->row, words(feature, at)), 4);
        __m256i right = _mm256_castps_si256(_mm256_cmp_ps(value, limit, _CMP_NLE_UQ)); /* a mask is -1 */
        if (l->missing) {
            __m256i known = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_ORD_Q));
            __m256i left = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_and_si256(_mm256_srlv_epi32(missing, node), one));
            right = _mm256_andnot_si256(_mm256_andnot_si256(known, left), right);
        }
        node = _mm256_sub_epi32(_mm256_add_epi32(node, node), right);
    }
    return _mm256_sub_epi32(node, _mm256_set1_epi32(1 << levels));
}

static inline __m256i leaf_of(const struct lanes *l, size_t tree)
{
    uint32_t depth = l->t->depth;
    size_t first = tree * tn_tree_blocks(depth);
    if (depth <= 4) return exits(l, first, _mm256_setzero_si256(), depth);
    __m256i at = exits(l, first, _mm256_setzero_si256(), depth - 4);
    __m256i end = exits(l, first, _mm256_add_epi32(at, _mm256_set1_epi32(1)), 4);
    return _mm256_add_epi32(_mm256_slli_epi32(at, 4), end);
}

void tn_avx2_trees(const struct tn_trees_args *a)
{
    const struct tn_trees *t = a->trees;
    for (unsigned g = 0; g < a->rows; g += 8) {
        struct lanes l = {.t = t, .x = a->x, .missing = a->missing};
        int32_t start[8], index[8];
        for (unsigned k = 0; k < 8; k++) start[k] = (int32_t)((g + k < a->rows ? g + k : a->rows - 1) * a->stride);
        l.row = _mm256_loadu_si256((const __m256i *)(const void *)start);
        for (size_t i = 0; i < a->count; i++) {
            size_t tree = a->first + i;
            __m256i leaf = leaf_of(&l, tree);
            if (!a->leaves) {
                float *sums = a->sums + t->target[tree] * TN_TREE_ROWS + g;
                _mm256_storeu_ps(sums, _mm256_add_ps(_mm256_loadu_ps(sums), _mm256_i32gather_ps(t->leaf + (tree << t->depth), leaf, 4)));
                continue;
            }
            _mm256_storeu_si256((__m256i *)(void *)index, leaf);
            for (unsigned k = 0; k < 8; k++) a->leaves[i * TN_TREE_ROWS + g + k] = (uint8_t)index[k];
        }
    }
}
