/* Trees on AVX2 (-mavx2 -mfma), eight rows at once by gathers; see kernel.h. Bits are those of the reference. */
#include "kernel/x86/x86.h"

#include <immintrin.h>

/* The leaf of eight rows. */
static inline __m256i descend(const struct tn_tree *t, const float *x)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), one = _mm256_set1_epi32(1);
    __m256 right = _mm256_cmp_ps(_mm256_loadu_ps(x + t->feature[0]), _mm256_set1_ps(t->split[0]), _CMP_NLE_UQ);
    __m256i node = _mm256_sub_epi32(one, _mm256_castps_si256(right)); /* a mask is -1 */
    for (uint32_t d = 1; d < t->depth; d++) {
        __m256 split = _mm256_i32gather_ps(t->split, node, 4);
        __m256i feature = _mm256_i32gather_epi32(t->feature, node, 4);
        right = _mm256_cmp_ps(_mm256_i32gather_ps(x, _mm256_add_epi32(feature, lanes), 4), split, _CMP_NLE_UQ);
        node = _mm256_sub_epi32(_mm256_add_epi32(_mm256_add_epi32(node, node), one), _mm256_castps_si256(right));
    }
    return _mm256_sub_epi32(node, _mm256_set1_epi32((1 << t->depth) - 1));
}

void tn_avx2_trees(const struct tn_trees_args *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct tn_tree *t = &a->trees[i];
        float *sums = a->leaves ? NULL : a->sums + t->target * TN_TREE_ROWS;
        for (unsigned g = 0; g < TN_TREE_ROWS; g += 8) {
            __m256i leaf = descend(t, a->x + g);
            if (sums) {
                _mm256_storeu_ps(sums + g, _mm256_add_ps(_mm256_loadu_ps(sums + g), _mm256_i32gather_ps(t->leaf, leaf, 4)));
                continue;
            }
            int32_t index[8];
            _mm256_storeu_si256((__m256i *)(void *)index, leaf);
            for (unsigned k = 0; k < 8; k++) a->leaves[i * TN_TREE_ROWS + g + k] = (uint8_t)index[k];
        }
    }
}
