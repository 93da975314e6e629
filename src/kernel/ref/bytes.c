/* Products of bytes, reference. B is packed as its columns, [n][k], behind their sums; weights as they come. */
#include "base/checked.h"
#include "kernel/ref/ref.h"

#include <string.h>

bool tn_ref_bytes_pack_size(size_t n, size_t k, size_t *bytes)
{
    size_t sums, columns;
    return tn_mul(n, sizeof(int32_t), &sums) && tn_mul(n, k, &columns) && tn_add(sums, columns, &columns) &&
           tn_round_up(columns, 64, bytes);
}

void tn_ref_bytes_pack(const int8_t *b, size_t k_stride, size_t n_stride, size_t n, size_t k, bool turn, void *packed,
                       unsigned rank, unsigned size)
{
    int32_t *sums = packed;
    int8_t *columns = (int8_t *)(sums + n);
    size_t begin, end;
    tn_share(n, rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        int32_t sum = 0;
        for (size_t j = 0; j < k; j++) {
            uint8_t v = (uint8_t)b[j * k_stride + i * n_stride];
            int8_t w = (int8_t)(turn ? v ^ 0x80 : v);
            columns[i * k + j] = w;
            sum += w;
        }
        sums[i] = sum;
    }
}

void tn_ref_bytes(const struct tn_bytes_args *a, unsigned rank, unsigned size)
{
    const int8_t *columns = (const int8_t *)((const int32_t *)a->packed + a->n);
    size_t begin, end;
    tn_share(a->rows, rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        for (size_t n = 0; n < a->n; n++) {
            uint32_t sum = 0;
            for (size_t k = 0; k < a->k; k++) sum += (uint32_t)(a->a[i * a->a_stride + k] * columns[n * a->k + k]);
            a->sums[i * a->sums_stride + n] = (int32_t)sum;
        }
    }
}

bool tn_ref_bytes_window_pack_size(size_t maps, size_t quads, size_t taps, size_t *bytes)
{
    size_t count;
    return tn_mul(maps, quads, &count) && tn_mul(count, taps, &count) && tn_mul(count, 4, &count) && tn_round_up(count, 64, bytes);
}

void tn_ref_bytes_window_pack(const int8_t *w, size_t maps, size_t quads, size_t taps, void *packed)
{
    memcpy(packed, w, maps * quads * 4 * taps);
}

void tn_ref_bytes_window(const struct tn_bytes_window_args *a)
{
    const int8_t *w = a->packed;
    for (size_t m = 0; m < a->maps; m++, w += a->quads * 4 * a->taps) {
        for (size_t p = 0; p < a->count; p++) {
            uint32_t sum = 0;
            for (size_t c = 0; c < a->quads * 4; c++) {
                const uint8_t *x = a->x + (c / 4 * a->plane + p) * 4 + c % 4;
                for (size_t t = 0; t < a->taps; t++) sum += (uint32_t)(x[a->offset[t] * 4] * w[c * a->taps + t]);
            }
            a->sums[m * a->sums_stride + p] = (int32_t)sum;
        }
    }
}
