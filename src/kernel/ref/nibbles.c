/* Products of 4-bit blocks, reference. Packed: [n][groups] scales, then the same of zero points, then codes as bytes [n][k]. */
#include "base/checked.h"
#include "kernel/ref/ref.h"

#include <math.h>
#include <string.h>

static size_t groups_of(const struct tn_nibbles *l)
{
    return (l->k + l->group - 1) / l->group;
}

bool tn_ref_nibbles_pack_size(const struct tn_nibbles *l, size_t *bytes)
{
    size_t each, codes;
    return l->k <= SIZE_MAX - l->group && tn_mul(l->n, groups_of(l), &each) && tn_mul(each, sizeof(float) + 1, &each) && tn_mul(l->n, l->k, &codes) &&
           tn_add(each, codes, &codes) && tn_round_up(codes, 64, bytes);
}

void tn_ref_nibbles_pack(const struct tn_nibbles *l, const struct tn_nibbles_source *from, void *packed, unsigned rank, unsigned size)
{
    const size_t groups = groups_of(l), half = (groups + 1) / 2;
    float *scales = packed;
    uint8_t *zeros = (uint8_t *)(scales + l->n * groups), *codes = zeros + l->n * groups;
    size_t begin, end;
    tn_share(l->n, rank, size, &begin, &end);
    for (size_t n = begin; n < end; n++) {
        const uint8_t *row = from->codes + n * groups * (l->group / 2);
        for (size_t g = 0; g < groups; g++) {
            scales[n * groups + g] = from->scales[n * groups + g];
            zeros[n * groups + g] = from->zeros ? from->zeros[n * half + g / 2] >> g % 2 * 4 & 15 : 8;
        }
        for (size_t k = 0; k < l->k; k++) codes[n * l->k + k] = row[k / 2] >> k % 2 * 4 & 15;
    }
}

void tn_ref_nibbles_column(const struct tn_nibbles *l, size_t n, float *to)
{
    const size_t groups = groups_of(l);
    const float *scales = (const float *)l->packed + n * groups;
    const uint8_t *zeros = (const uint8_t *)((const float *)l->packed + l->n * groups), *codes = zeros + l->n * groups;
    for (size_t k = 0; k < l->k; k++) to[k] = (float)(codes[n * l->k + k] - zeros[n * groups + k / l->group]) * scales[k / l->group];
}

static bool code_block(const float *x, size_t count, int8_t *codes, struct tn_row_block *block)
{
    float most = 0;
    int32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) return false;
        most = fmaxf(most, fabsf(x[i]));
    }
    float inverse = most < 0x1p-100f ? 0 : 127 / most;
    memset(codes, 0, TN_NIBBLE_BLOCK);
    for (size_t i = 0; i < count; i++) sum += codes[i] = (int8_t)rintf(x[i] * inverse);
    *block = (struct tn_row_block){most < 0x1p-100f ? 0 : most / 127, -8 * sum};
    return true;
}

bool tn_ref_code_row(const float *x, size_t k, int8_t *codes, struct tn_row_block *blocks)
{
    bool finite = true;
    for (size_t i = 0; i < k; i += TN_NIBBLE_BLOCK, codes += TN_NIBBLE_BLOCK, blocks++)
        finite = code_block(x + i, k - i < TN_NIBBLE_BLOCK ? k - i : TN_NIBBLE_BLOCK, codes, blocks) && finite;
    return finite;
}

void tn_ref_nibbles(const struct tn_nibbles_args *a, unsigned rank, unsigned size)
{
    const struct tn_nibbles *l = a->layer;
    const size_t groups = groups_of(l), blocks = tn_nibble_blocks(l->k);
    const float *scales = l->packed;
    const uint8_t *zeros = (const uint8_t *)(scales + l->n * groups), *codes = zeros + l->n * groups;
    size_t begin, end;
    tn_share(l->n, rank, size, &begin, &end);
    for (size_t m = 0; m < a->rows; m++) {
        const int8_t *x = a->codes + m * blocks * TN_NIBBLE_BLOCK;
        for (size_t n = begin; n < end; n++) {
            float y = 0;
            for (size_t b = 0; b < blocks; b++) {
                size_t first = b * TN_NIBBLE_BLOCK, last = l->k - first < TN_NIBBLE_BLOCK ? l->k : first + TN_NIBBLE_BLOCK, g = first / l->group;
                int32_t sum = 0;
                for (size_t k = first; k < last; k++) sum += x[k] * (codes[n * l->k + k] - zeros[n * groups + g]);
                y = fmaf(a->blocks[m * blocks + b].scale * scales[n * groups + g], (float)sum, y);
            }
            a->y[m * a->y_stride + n] = y + (a->bias ? a->bias[n] : 0);
        }
    }
}
