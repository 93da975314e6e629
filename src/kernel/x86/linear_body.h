/* Sizes, packing and the float32 linear layer, for one instruction set. See linear_run.h. */
#include "kernel/float16.h"
#include "kernel/x86/vec_math.h"
#include "kernel/x86/linear_run.h"
#include "kernel/x86/linear_pool_run.h"
#include "kernel/x86/x86.h"

#define TILE_STEP(sum, x, w) v_fma(x, w, sum)
#include "kernel/x86/tile.h"

bool TN_ISA(linear_pack_size)(size_t n, size_t k, enum tn_compute compute, size_t *bytes)
{
    size_t columns, units, padded;
    if (!tn_round_up(n, 16, &padded) || !padded_columns(n, &columns)) return false;
    if (!tn_mul(columns, units_of(k, compute), &units) || !tn_add(units, padded, &units)) return false;
    return tn_mul(units, sizeof(float), &units) && tn_round_up(units, 64, bytes);
}

bool TN_ISA(linear_scratch_size)(size_t n, size_t k, enum tn_compute compute, size_t *bytes)
{
    (void)n;
    size_t units = units_of(k, compute);
    *bytes = 0;
    if (compute == TN_COMPUTE_F32) return true;
    return tn_mul(rows_per_block(units), units, &units) && tn_mul(units, sizeof(float), &units) &&
           tn_round_up(units, 64, bytes);
}

/* The stored row of one column of the packed layer; data is NULL for a padding column. */
struct source {
    const struct tn_linear_part *part;
    size_t row;
};

static struct source find_source(const struct tn_linear_part *parts, size_t count, size_t column)
{
    for (size_t i = 0; i < count; i++) {
        if (column < parts[i].rows) return (struct source){&parts[i], column};
        column -= parts[i].rows;
    }
    return (struct source){NULL, 0};
}

/* Elements k .. k + VEC - 1 of a source, zero past `limit`. */
static vec load_elements(struct source s, size_t k, size_t limit)
{
    if (!s.part || k >= limit) return v_zero();
    const struct tn_linear_part *part = s.part;
    size_t at = s.row * part->row_stride + k * part->k_stride;
    if (part->k_stride == 1 && limit - k >= VEC) {
        const char *p = (const char *)part->data + at * tn_float_type_size(part->type);
        if (part->type == TN_FLOAT_F16) return v_load_f16(p);
        if (part->type == TN_FLOAT_BF16) return v_load_bf16(p);
        return v_load((const float *)(const void *)p);
    }
    float element[VEC] = {0};
    for (size_t i = 0; i < VEC && k + i < limit; i++) {
        element[i] = tn_load_element(part->type, part->data, at + i * part->k_stride);
    }
    return v_load(element);
}

/* Units u .. u + VEC - 1: floats, or pairs rounded to bfloat16. */
static vec load_units(struct source s, size_t u, const struct tn_linear *layer)
{
    if (layer->compute == TN_COMPUTE_F32) return load_elements(s, u, layer->k);
    float pairs[VEC];
    v_store_bf16(pairs, load_elements(s, 2 * u, layer->k));
    v_store_bf16(pairs + VEC / 2, load_elements(s, 2 * u + VEC, layer->k));
    return v_load(pairs);
}

/* VEC columns of a panel: blocks of VEC units are transposed in registers. */
static void pack_columns(const struct tn_linear *layer, const struct source *source, float *to,
                         size_t to_stride)
{
    size_t units = units_of(layer->k, layer->compute);
    for (size_t u = 0; u < units; u += VEC) {
        vec r[VEC];
        for (int i = 0; i < VEC; i++) r[i] = load_units(source[i], u, layer);
        v_transpose(r);
        for (size_t i = 0; i < VEC && u + i < units; i++) v_store(to + (u + i) * to_stride, r[i]);
    }
}

/* VEC columns that lie side by side in memory (a matrix stored [k, n]) are copied as they are. */
static bool pack_straight(const struct tn_linear *layer, const struct source *source, float *to,
                          size_t to_stride)
{
    const struct tn_linear_part *part = source[0].part;
    if (layer->compute != TN_COMPUTE_F32 || !part || part->type != TN_FLOAT_F32) return false;
    if (part->row_stride != 1 || source[VEC - 1].part != part) return false;
    const char *from = (const char *)part->data + source[0].row * sizeof(float);
    for (size_t k = 0; k < layer->k; k++)
        v_store(to + k * to_stride, v_load((const float *)(const void *)(from + k * part->k_stride * sizeof(float))));
    return true;
}

void TN_ISA(linear_pack)(const struct tn_linear *layer, const struct tn_linear_part *parts,
                         size_t part_count, void *packed, unsigned rank, unsigned size)
{
    const size_t n = layer->n, units = units_of(layer->k, layer->compute);
    float *bias = packed, *weights = bias + bias_units(n);
    size_t begin, end, columns, bytes;
    tn_share(panel_count(n), rank, size, &begin, &end);
    for (size_t p = begin; p < end; p++) {
        int vectors = panel_vectors(n, p);
        for (int v = 0; v < vectors; v++) {
            size_t column = p * PANEL + (size_t)v * VEC;
            struct source source[VEC];
            for (size_t i = 0; i < VEC; i++) {
                struct source s = find_source(parts, part_count, column + i);
                source[i] = s;
                bias[column + i] = s.part && s.part->bias
                                       ? tn_load_element(s.part->bias_type, s.part->bias, s.row)
                                       : 0.0f;
            }
            float *to = weights + p * PANEL * units + v * VEC;
            size_t to_stride = (size_t)vectors * VEC;
            if (!pack_straight(layer, source, to, to_stride)) pack_columns(layer, source, to, to_stride);
        }
    }
    /* the last rank also clears what rounding up has left between and behind */
    if (rank != size - 1 || !padded_columns(n, &columns)) return;
    for (size_t i = columns; i < bias_units(n); i++) bias[i] = 0.0f;
    if (!TN_ISA(linear_pack_size)(n, layer->k, layer->compute, &bytes)) return;
    char *used = (char *)(weights + columns * units);
    memset(used, 0, (size_t)((char *)packed + bytes - used));
}

void TN_ISA(linear)(const struct tn_linear_args *a, unsigned rank, unsigned size)
{
    linear_run(a, rank, size, tiles, NULL);
}

void TN_ISA(linear_pool)(const struct tn_linear_pool_args *a, unsigned rank, unsigned size)
{
    linear_pool_run(a, rank, size, tiles, NULL);
}
