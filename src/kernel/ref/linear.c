/*
 * Linear layer, reference. Weights are packed into panels of PANEL columns, [k][PANEL] each, so that
 * a compiler can keep a row of sums in registers; every sum adds its k products in order, by chunks.
 * The packed block starts with the bias, one float per (padded) column.
 */
#include "base/checked.h"
#include "kernel/float16.h"
#include "kernel/ref/ref.h"

#include <math.h>

enum { PANEL = 8 };

static size_t panel_count(size_t n)
{
    return n / PANEL + (n % PANEL != 0);
}

/* Elements of k in a panel: bfloat16 works in pairs. */
static size_t padded_k(size_t k, enum tn_compute compute)
{
    return compute == TN_COMPUTE_BF16 ? k + k % 2 : k;
}

static size_t element_size(enum tn_compute compute)
{
    return compute == TN_COMPUTE_BF16 ? sizeof(uint16_t) : sizeof(float);
}

bool tn_ref_linear_pack_size(size_t n, size_t k, enum tn_compute compute, size_t *bytes)
{
    size_t columns, weights, bias, total;
    if (!tn_round_up(n, PANEL, &columns) || k == SIZE_MAX) return false;
    if (!tn_mul(columns, padded_k(k, compute), &weights)) return false;
    if (!tn_mul(weights, element_size(compute), &weights)) return false;
    if (!tn_mul(columns, sizeof(float), &bias) || !tn_add(weights, bias, &total)) return false;
    return tn_round_up(total, 64, bytes);
}

bool tn_ref_linear_scratch_size(size_t n, size_t k, enum tn_compute compute, size_t *bytes)
{
    (void)n, (void)k, (void)compute;
    *bytes = 0;
    return true;
}

/* The part that holds column `column`, and the column's row in it; NULL past the last. */
static const struct tn_linear_part *find_part(const struct tn_linear_part *parts, size_t count,
                                              size_t column, size_t *row)
{
    for (size_t i = 0; i < count; i++) {
        if (column < parts[i].rows) {
            *row = column;
            return &parts[i];
        }
        column -= parts[i].rows;
    }
    return NULL;
}

static void pack_column(const struct tn_linear *layer, const struct tn_linear_part *part,
                        size_t row, float *bias, char *to)
{
    *bias = part && part->bias ? tn_load_element(part->bias_type, part->bias, row) : 0.0f;
    size_t steps = padded_k(layer->k, layer->compute), size = element_size(layer->compute);
    for (size_t k = 0; k < steps; k++, to += PANEL * size) {
        float w = 0.0f;
        if (part && k < layer->k) {
            w = tn_load_element(part->type, part->data, row * part->row_stride + k * part->k_stride);
        }
        uint16_t half = tn_f32_to_bf16(w);
        memcpy(to, layer->compute == TN_COMPUTE_BF16 ? (void *)&half : (void *)&w, size);
    }
}

void tn_ref_linear_pack(const struct tn_linear *layer, const struct tn_linear_part *parts,
                        size_t part_count, void *packed, unsigned rank, unsigned size)
{
    size_t panels = panel_count(layer->n), begin, end, bytes, row = 0;
    size_t step = element_size(layer->compute);
    size_t panel_bytes = padded_k(layer->k, layer->compute) * PANEL * step;
    float *bias = packed;
    char *weights = (char *)packed + panels * PANEL * sizeof(float);
    tn_share(panels, rank, size, &begin, &end);
    for (size_t column = begin * PANEL; column < end * PANEL; column++) {
        const struct tn_linear_part *part = find_part(parts, part_count, column, &row);
        pack_column(layer, part, row, &bias[column],
                    weights + column / PANEL * panel_bytes + column % PANEL * step);
    }
    if (rank == size - 1 && tn_ref_linear_pack_size(layer->n, layer->k, layer->compute, &bytes)) {
        char *used = weights + panels * panel_bytes;
        memset(used, 0, (size_t)((char *)packed + bytes - used));
    }
}

/* Steps of one partial sum: shorter chains of additions round less (see x86/tile.h). Even, for pairs. */
enum { CHUNK = 192 };

static void add_partial(float *sum, float *partial)
{
    for (int j = 0; j < PANEL; j++) {
        sum[j] += partial[j];
        partial[j] = 0.0f;
    }
}

static void sums_f32(const struct tn_linear *layer, const float *x, const char *panel, float *sum)
{
    const float *w = (const float *)(const void *)panel;
    float partial[PANEL] = {0};
    for (size_t k = 0; k < layer->k; k++, w += PANEL) {
        if (k % CHUNK == 0) add_partial(sum, partial);
        for (int j = 0; j < PANEL; j++) partial[j] += x[k] * w[j];
    }
    add_partial(sum, partial);
}

static void sums_bf16(const struct tn_linear *layer, const float *x, const char *panel, float *sum)
{
    const uint16_t *w = (const uint16_t *)(const void *)panel;
    float partial[PANEL] = {0};
    for (size_t k = 0; k < layer->k; k += 2, w += 2 * PANEL) {
        if (k % (2 * CHUNK) == 0) add_partial(sum, partial);
        float even = tn_bf16_to_f32(tn_f32_to_bf16(x[k]));
        float odd = k + 1 < layer->k ? tn_bf16_to_f32(tn_f32_to_bf16(x[k + 1])) : 0.0f;
        for (int j = 0; j < PANEL; j++) {
            partial[j] += odd * tn_bf16_to_f32(w[PANEL + j]);
            partial[j] += even * tn_bf16_to_f32(w[j]);
        }
    }
    add_partial(sum, partial);
}

void tn_ref_linear(const struct tn_linear_args *a, unsigned rank, unsigned size)
{
    const struct tn_linear *layer = a->layer;
    size_t panels = panel_count(layer->n), begin, end;
    size_t panel_bytes =
        padded_k(layer->k, layer->compute) * PANEL * element_size(layer->compute);
    const float *bias = layer->packed;
    const char *weights = (const char *)layer->packed + panels * PANEL * sizeof(float);
    tn_share(panels, rank, size, &begin, &end);
    for (size_t p = begin; p < end; p++) {
        for (size_t t = 0; t < a->rows; t++) {
            float sum[PANEL] = {0};
            const float *x = a->x + t * a->x_stride;
            if (layer->compute == TN_COMPUTE_BF16) {
                sums_bf16(layer, x, weights + p * panel_bytes, sum);
            } else {
                sums_f32(layer, x, weights + p * panel_bytes, sum);
            }
            for (size_t j = 0; j < PANEL && p * PANEL + j < layer->n; j++) {
                size_t n = p * PANEL + j;
                float y = tn_ref_act(a->act, sum[j] + bias[n]);
                if (a->residual) y += a->residual[t * a->residual_stride + n];
                a->y[t * a->y_stride + n] = y;
            }
        }
    }
}

static float pool_value(float z, bool twice)
{
    double y = z != z ? (double)z : log1p(z > 0.0f ? (double)z : 0.0);
    return (float)(twice ? log1p(y) : y);
}

/* Takes row t of panel p into the row of the result. */
static void pool_row(const struct tn_linear_pool_args *a, const float *x, size_t p, bool first, float *y)
{
    const struct tn_linear *layer = a->layer;
    size_t panels = panel_count(layer->n);
    const float *bias = layer->packed;
    const char *weights = (const char *)layer->packed + panels * PANEL * sizeof(float) +
                          p * padded_k(layer->k, layer->compute) * PANEL * element_size(layer->compute);
    float sum[PANEL] = {0};
    if (layer->compute == TN_COMPUTE_BF16) sums_bf16(layer, x, weights, sum);
    else sums_f32(layer, x, weights, sum);
    for (size_t j = 0; j < PANEL && p * PANEL + j < layer->n; j++) {
        float v = pool_value(sum[j] + bias[p * PANEL + j], a->twice), *to = &y[p * PANEL + j];
        if (first) *to = v;
        else if (a->sum) *to += v;
        else if (v > *to || v != v) *to = *to != *to ? *to : v;
    }
}

void tn_ref_linear_pool(const struct tn_linear_pool_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(panel_count(a->layer->n), rank, size, &begin, &end);
    for (size_t s = 0; s < a->sequences; s++) {
        float *y = a->y + (size_t)a->to[s] * a->y_stride;
        for (size_t p = begin; p < end; p++) {
            for (size_t n = p * PANEL; a->spans[s].count == 0 && n < (p + 1) * PANEL && n < a->layer->n; n++) y[n] = 0.0f;
            for (int32_t r = 0; r < a->spans[s].count; r++)
                pool_row(a, a->x + (size_t)(a->spans[s].first + r) * a->x_stride, p, r == 0, y);
        }
    }
}
