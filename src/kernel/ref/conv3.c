/* 3 x 3 windows, reference: the sum over channels and taps in order, from its definition. Weights are widened. */
#include "base/checked.h"
#include "kernel/float16.h"
#include "kernel/ref/after.h"

bool tn_ref_conv3_pack_size(size_t maps, size_t channels, size_t *bytes)
{
    size_t count;
    return tn_mul(maps, channels, &count) && tn_mul(count, 9 * sizeof(float), &count) && tn_round_up(count, 64, bytes);
}

bool tn_ref_conv3_scratch_size(size_t maps, size_t channels, size_t *bytes)
{
    (void)maps, (void)channels;
    *bytes = 0;
    return true;
}

void tn_ref_conv3_pack(const void *w, enum tn_float_type type, size_t maps, size_t channels, void *packed, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(maps * channels * 9, rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) ((float *)packed)[i] = tn_load_element(type, w, i);
}

static float window_sum(const struct tn_conv3_args *a, size_t map, size_t row, size_t column)
{
    const float *w = (const float *)a->packed + map * a->channels * 9;
    float sum = 0;
    for (size_t c = 0; c < a->channels; c++) {
        for (size_t tap = 0; tap < 9; tap++) {
            ptrdiff_t y = (ptrdiff_t)(row + tap / 3) - a->top, x = (ptrdiff_t)(column + tap % 3) - a->left;
            if (y < 0 || x < 0 || y >= (ptrdiff_t)a->height || x >= (ptrdiff_t)a->width) continue;
            sum += w[c * 9 + tap] * tn_load_element(a->type, a->x, (c * a->height + (size_t)y) * a->width + (size_t)x);
        }
    }
    return sum;
}

void tn_ref_conv3(const struct tn_conv3_args *a)
{
    size_t across = (a->out_width + 3) / 4;
    for (size_t map = 0; map < a->maps; map++) {
        for (size_t i = 0; i < a->count * 16; i++) {
            size_t tile = a->first + i / 16, row = tile / across * 4 + i % 16 / 4, column = tile % across * 4 + i % 4;
            if (row >= a->out_height || column >= a->out_width) continue;
            size_t at = (map * a->out_height + row) * a->out_width + column;
            float v = window_sum(a, map, row, column) + (a->bias ? a->bias[map] : 0);
            if (a->residual) v += tn_load_element(a->type, a->residual, at);
            v = tn_ref_after(a->after, v);
            tn_ref_from_f32(a->type, &v, (char *)a->y + at * tn_float_type_size(a->type), 1);
        }
    }
}
