/*
 * GatherBlockQuantized of com.microsoft: rows of a table of 4-bit or 8-bit numbers, which have a scale and perhaps a zero
 * point for each block along an axis, become floats. Tables of uint8 hold two 4-bit numbers in a byte, the lower bits first,
 * with 8 (128) in the middle where no zero point says otherwise.
 */
#include "ops/op.h"

#include <string.h>

struct table {
    const struct tn_tensor *data, *scales, *zeros;
    int64_t dims[TN_RANK]; /* of the numbers */
    uint64_t block, gather, quantise; /* axes */
    unsigned packed;                  /* numbers in a byte of uint8 */
    double middle;
};

/* Numbers to a byte: those of 4 bits have types of their own, or lie in bytes. */
static unsigned packed_of(const struct tn_node *node, enum tn_element e)
{
    return e == TN_EL_U8 && tn_attr_int(node, "bits", 4) == 4 ? 2 : 1;
}

static bool infer_gather(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 2), *data = tn_in_type(x, 0);
    const struct tn_shape *d, *at, *s;
    int64_t bits = tn_attr_int(x->node, "bits", 4), block = tn_attr_int(x->node, "block_size", 128);
    tn_dim_t dims[2 * TN_RANK];
    uint32_t gather, quantise, n = 0;
    tn_out_unknown(x, 0, t ? t->element : TN_EL_NONE);
    if ((bits != 4 && bits != 8) || block < 16 || block > INT32_MAX || (block & (block - 1)))
        return tn_infer_refuse(x, "4 or 8 bits, and blocks of a power of two from 16", "%lld and %lld", (long long)bits, (long long)block);
    if (!tn_in_shape(x, 0, &d) || !tn_in_shape(x, 1, &at)) return true;
    if (!tn_infer_axis(x, tn_attr_int(x->node, "gather_axis", 0), d->rank, &gather) || !tn_infer_axis(x, tn_attr_int(x->node, "quantize_axis", 1), d->rank, &quantise)) return false;
    unsigned packed = packed_of(x->node, data->element);
    if (gather == quantise || (packed > 1 && quantise + 1 != d->rank)) return tn_infer_refuse(x, "an axis to gather along that is not quantised; bytes packed along the last", "axes %u and %u", gather, quantise);
    if (d->rank + at->rank - 1 > TN_RANK) return tn_infer_refuse(x, "at most 8 dimensions", "%u", d->rank + at->rank - 1);
    if (tn_in_shape(x, 2, &s) && s->rank != d->rank) return tn_infer_refuse(x, "scales of the data's rank", "rank %u", s->rank);
    for (uint32_t i = 0; i < d->rank; i++) {
        if (i == gather) {
            for (uint32_t k = 0; k < at->rank; k++) dims[n++] = at->dims[k];
        } else {
            dims[n++] = i == quantise && packed > 1 ? tn_dim_mul(x->symbols, d->dims[i], 2) : d->dims[i];
        }
    }
    tn_out_tensor(x, 0, t->element, n, dims);
    return true;
}

static bool read_table(struct tn_run *r, struct table *t)
{
    const struct tn_tensor *d = r->in[0], *s = r->in[2], *z = r->in_count > 3 ? r->in[3] : NULL;
    int64_t gather = tn_attr_int(r->node, "gather_axis", 0), quantise = tn_attr_int(r->node, "quantize_axis", 1);
    *t = (struct table){.data = d, .scales = s, .zeros = z, .block = (uint64_t)tn_attr_int(r->node, "block_size", 128), .packed = packed_of(r->node, d->element)};
    t->gather = (uint64_t)(gather < 0 ? gather + d->rank : gather);
    t->quantise = (uint64_t)(quantise < 0 ? quantise + d->rank : quantise);
    if (d->element == TN_EL_U8) t->middle = t->packed > 1 ? 8 : 128;
    memcpy(t->dims, d->dims, sizeof(t->dims));
    t->dims[t->quantise] *= t->packed;
    int64_t blocks = (t->dims[t->quantise] + (int64_t)t->block - 1) / (int64_t)t->block;
    bool fits = s->rank == d->rank;
    for (uint32_t i = 0; fits && i < d->rank; i++) fits = s->dims[i] == (i == t->quantise ? blocks : d->dims[i]);
    if (!fits) return tn_run_refuse(r, "a scale for each block", "scales of another shape");
    fits = !z || (z->rank == d->rank && z->element == d->element);
    for (uint32_t i = 0; z && fits && i < d->rank; i++) fits = z->dims[i] == (i == t->quantise && t->packed > 1 ? (blocks + 1) / 2 : s->dims[i]);
    if (!fits) return tn_run_refuse(r, "a zero point for each block, of the data's type", "others");
    return true;
}

static double number_at(const struct table *t, const struct tn_tensor *from, uint64_t i, uint64_t row)
{
    if (t->packed == 1) return tn_element_get(from->element, from->data, i);
    /* rows of the last dimension begin with a byte */
    uint64_t bytes = (row + 1) / 2, byte = i / row * bytes + i % row / 2;
    return ((const uint8_t *)from->data)[byte] >> (i % row % 2 ? 4 : 0) & 15;
}

static bool run_gather(struct tn_run *r)
{
    const struct tn_tensor *at = r->in[1];
    struct tn_tensor *y = r->out[0];
    struct table t;
    if (y->count == 0) return true;
    if (!read_table(r, &t)) return false;
    uint64_t outer = 1, inner = 1, n = (uint64_t)t.dims[t.gather], behind = 1;
    for (uint32_t i = 0; i < t.data->rank; i++) {
        if (i < t.gather) outer *= (uint64_t)t.dims[i];
        if (i > t.gather) inner *= (uint64_t)t.dims[i];
        if (i > t.quantise) behind *= (uint64_t)t.dims[i];
    }
    uint64_t along = (uint64_t)t.dims[t.quantise], blocks = (uint64_t)t.scales->dims[t.quantise];
    for (uint64_t o = 0; o < outer; o++) {
        for (uint64_t k = 0; k < at->count; k++) {
            int64_t index = tn_run_int(r, 1, k);
            if (index < 0) index += (int64_t)n;
            if (index < 0 || index >= (int64_t)n) return tn_run_refuse(r, "indices of rows that there are", "%lld of %llu", (long long)index, (unsigned long long)n);
            for (uint64_t i = 0; i < inner; i++) {
                uint64_t from = (o * n + (uint64_t)index) * inner + i, place = from / behind % along;
                uint64_t scale = (from / (behind * along) * blocks + place / t.block) * behind + from % behind;
                double zero = t.zeros ? number_at(&t, t.zeros, scale, blocks) : t.middle;
                double v = (number_at(&t, t.data, from, along) - zero) * tn_element_get(t.scales->element, t.scales->data, scale);
                tn_element_set(y->element, y->data, (o * at->count + k) * inner + i, v, false);
            }
        }
    }
    return true;
}

static const struct tn_operator rows[] = {
    {.domain = "com.microsoft", .name = "GatherBlockQuantized", .since = 1, .infer = infer_gather, .run = run_gather},
};

const struct tn_operators tn_ops_contrib_gather_blocks = {rows, sizeof(rows) / sizeof(rows[0])};
