/* Filtered windows, reference: the sum over channels and taps in order, from its definition. */
#include "base/checked.h"
#include "kernel/filter_forms.h"
#include "kernel/ref/after.h"

bool tn_ref_filter_pack_size(enum tn_filter form, size_t maps, size_t channels, size_t *bytes)
{
    const struct filter_form *f = &filter_forms[form];
    size_t count;
    return tn_mul(maps, channels, &count) && tn_mul(count, (size_t)(f->taps_down * f->taps_across) * sizeof(float), &count) && tn_round_up(count, 64, bytes);
}

bool tn_ref_filter_scratch_size(enum tn_filter form, size_t maps, size_t channels, size_t count, size_t *bytes)
{
    (void)form, (void)maps, (void)channels, (void)count;
    *bytes = 0;
    return true;
}

void tn_ref_filter_pack(enum tn_filter form, const float *w, size_t maps, size_t channels, void *packed, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(maps * channels * (size_t)(filter_forms[form].taps_down * filter_forms[form].taps_across), rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) ((float *)packed)[i] = w[i];
}

static float window_sum(const struct tn_filter_args *a, const struct filter_form *f, size_t map, size_t row, size_t column)
{
    const size_t across = (size_t)f->taps_across, taps = (size_t)f->taps_down * across;
    const float *w = (const float *)a->packed + map * a->channels * taps;
    float sum = 0;
    for (size_t c = 0; c < a->channels; c++) {
        for (size_t t = 0; t < taps; t++) {
            ptrdiff_t y = (ptrdiff_t)(row + t / across) - a->top, x = (ptrdiff_t)(column + t % across) - a->left;
            if (y < 0 || x < 0 || y >= (ptrdiff_t)a->height || x >= (ptrdiff_t)a->width) continue;
            sum += w[c * taps + t] * a->x[((size_t)y * a->x_down + (size_t)x * a->x_across) * a->channels + c];
        }
    }
    return sum;
}

void tn_ref_filter(const struct tn_filter_args *a)
{
    const struct filter_form *f = &filter_forms[a->form];
    const size_t rows = (size_t)f->rows, columns = (size_t)f->columns, across = (a->out_width + columns - 1) / columns;
    for (size_t i = 0; i < a->count * rows * columns; i++) {
        size_t tile = a->first + i / (rows * columns), at = i % (rows * columns);
        size_t row = tile / across * rows + at / columns, column = tile % across * columns + at % columns;
        if (row >= a->out_height || column >= a->out_width) continue;
        size_t pixel = row * a->y_down + column * a->y_across;
        for (size_t map = 0; map < a->maps; map++) {
            float v = window_sum(a, f, map, row, column) + (a->bias ? a->bias[map] : 0);
            if (a->residual && map < a->residual_maps) v += a->residual[pixel * a->residual_maps + map];
            a->y[pixel * a->maps + map] = tn_ref_after(a->after, v);
        }
    }
}
