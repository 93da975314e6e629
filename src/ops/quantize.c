/*
 * QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear: one scale for all, one for each slice of an axis, or one for
 * each block along it. Rounding is to nearest even, saturating.
 */
#include "ops/typed.h"

#include <math.h>
#include <string.h>

/* ---- which scale -------------------------------------------------------------------------------------------------- */

struct scales {
    uint64_t inner, dim, blocks, block; /* element i has scale (i / inner % dim / block) of its slice, see scale_of */
    bool one, blocked;
    uint64_t outer_step; /* scales of one outer index, when blocked */
};

static uint64_t scale_of(const struct scales *s, uint64_t i)
{
    if (s->one) return 0;
    uint64_t along = i / s->inner % s->dim;
    if (!s->blocked) return along;
    return i / (s->inner * s->dim) * s->outer_step + along / s->block * s->inner + i % s->inner;
}

static bool scales_of(struct tn_run *r, const struct tn_tensor *x, const struct tn_tensor *scale, struct scales *s)
{
    int64_t axis = tn_attr_int(r->node, "axis", 1), block = tn_attr_int(r->node, "block_size", 0);
    *s = (struct scales){.inner = 1, .one = scale->count == 1 && scale->rank <= 1 && block == 0};
    if (s->one) return true;
    if (x->rank == 1 && axis == 1) axis = 0; /* the default for what has one dimension alone */
    if (axis < -(int64_t)x->rank || axis >= (int64_t)x->rank) return tn_run_refuse(r, "an axis of the operand", "%lld of rank %u", (long long)axis, x->rank);
    axis = axis < 0 ? axis + x->rank : axis;
    for (uint32_t d = (uint32_t)axis + 1; d < x->rank; d++) s->inner *= (uint64_t)x->dims[d];
    s->dim = (uint64_t)x->dims[axis];
    if (scale->rank == 1 && block == 0) {
        return scale->count == s->dim || tn_run_refuse(r, "a scale for each slice of the axis", "%llu for %llu", (unsigned long long)scale->count, (unsigned long long)s->dim);
    }
    bool fits = scale->rank == x->rank && scale->dims[axis] > 0;
    for (uint32_t d = 0; fits && d < x->rank; d++) fits = d == axis || scale->dims[d] == x->dims[d];
    if (!fits) return tn_run_refuse(r, "scales of the operand's shape but for the axis", "another shape");
    s->blocks = (uint64_t)scale->dims[axis];
    s->block = block > 0 ? (uint64_t)block : (s->dim + s->blocks - 1) / s->blocks;
    s->blocked = true;
    s->outer_step = s->blocks * s->inner;
    if (s->block == 0 || (s->dim + s->block - 1) / s->block != s->blocks) return tn_run_refuse(r, "a block for each part of the axis", "%llu blocks of %llu for %llu", (unsigned long long)s->blocks, (unsigned long long)s->block, (unsigned long long)s->dim);
    return true;
}

/* Elements that follow each other with one scale, when there are many: 0 otherwise. */
static uint64_t run_of(const struct scales *s, uint64_t count)
{
    enum { WORTH = 16 };
    uint64_t run = s->one ? count : s->blocked ? 0 : s->inner;
    return run >= WORTH ? run : 0;
}

/* ---- QuantizeLinear ----------------------------------------------------------------------------------------------- */

static enum tn_element output_element(const struct tn_node *n, const struct tn_type *zero)
{
    int64_t stated = tn_attr_int(n, "output_dtype", 0);
    if (zero) return zero->element;
    return stated > 0 && stated < TN_EL_COUNT ? (enum tn_element)stated : TN_EL_U8;
}

static bool infer_quantize(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    if (!t) return true;
    struct tn_type out = *t;
    out.element = output_element(x->node, tn_in_type(x, 2));
    tn_out_type(x, 0, &out);
    return true;
}

struct quantization {
    const struct tn_tensor *x, *scale, *zero;
    struct tn_tensor *y;
    struct scales s;
    int64_t low, high;
    bool whole, saturate, narrow; /* narrow: quotients are rounded as the scale's type has them */
    const struct tn_kernels *kernels;
    uint64_t run; /* between floats and bytes: elements of one scale; 0: one by one */
};

static bool is_byte(enum tn_element e)
{
    return e == TN_EL_U8 || e == TN_EL_I8;
}

/* fn for the parts of [begin, end) that have one scale each, the k-th. */
typedef void run_fn(const struct quantization *q, uint64_t begin, uint64_t end, uint64_t k);

static void each_run(const struct quantization *q, uint64_t begin, uint64_t end, run_fn *fn)
{
    while (begin < end) {
        uint64_t last = begin - begin % q->run + q->run;
        if (last > end) last = end;
        fn(q, begin, last, scale_of(&q->s, begin));
        begin = last;
    }
}

static int zero_of(const struct quantization *q, uint64_t k)
{
    return q->zero ? (int)tn_element_get_int(q->zero->element, q->zero->data, k) : 0;
}

static void range_of(enum tn_element e, int64_t *low, int64_t *high)
{
    unsigned bits = tn_onnx_element_bits(e);
    bool is_signed = tn_elements_have(TN_ELS_SIGNED | TN_ELS(I4) | TN_ELS(I2), e);
    *high = (INT64_C(1) << (bits - is_signed)) - 1;
    *low = is_signed ? -*high - 1 : 0;
}

static double quotient(const struct quantization *q, double x, double scale)
{
    if (q->x->element == TN_EL_F32 || !q->narrow) return (double)((float)x / (float)scale);
    uint16_t half;
    tn_element_set(q->x->element, &half, 0, (double)((float)x / (float)scale), false);
    return tn_element_get(q->x->element, &half, 0);
}

static void quantize_items(void *user, uint64_t begin, uint64_t end)
{
    const struct quantization *q = user;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t k = scale_of(&q->s, i);
        double v = quotient(q, tn_element_get(q->x->element, q->x->data, i), tn_element_get(q->scale->element, q->scale->data, k));
        if (!q->whole) {
            double zero = q->zero ? tn_element_get(q->zero->element, q->zero->data, k) : 0;
            tn_element_set(q->y->element, q->y->data, i, v + zero, q->saturate);
            continue;
        }
        int64_t zero = q->zero ? tn_element_get_int(q->zero->element, q->zero->data, k) : 0;
        double sum = rint(v) + (double)zero;
        int64_t value = isnan(sum) ? 0 : sum < (double)q->low ? q->low : sum > (double)q->high ? q->high : (int64_t)sum;
        tn_element_set_int(q->y->element, q->y->data, i, value);
    }
}

static void quantize_run(const struct quantization *q, uint64_t begin, uint64_t end, uint64_t k)
{
    struct tn_codes_args a = {.x = (const float *)q->x->data + begin, .y = (uint8_t *)q->y->data + begin, .count = end - begin,
                              .scale = ((const float *)q->scale->data)[k], .zero = (float)zero_of(q, k), .low = (float)q->low, .high = (float)q->high};
    q->kernels->to_codes(&a);
}

static void quantize_runs(void *user, uint64_t begin, uint64_t end)
{
    each_run(user, begin, end, quantize_run);
}

static bool run_quantize(struct tn_run *r)
{
    struct quantization q = {.x = r->in[0], .scale = r->in[1], .zero = r->in_count > 2 ? r->in[2] : NULL, .y = r->out[0], .kernels = r->kernels};
    if (!scales_of(r, q.x, q.scale, &q.s)) return false;
    if (q.zero && q.zero->count != q.scale->count) return tn_run_refuse(r, "a zero point for each scale", "%llu for %llu", (unsigned long long)q.zero->count, (unsigned long long)q.scale->count);
    q.whole = tn_elements_have(TN_ELS_INT | TN_ELS(U4) | TN_ELS(I4) | TN_ELS(U2) | TN_ELS(I2), q.y->element);
    q.saturate = tn_attr_int(r->node, "saturate", 1) != 0;
    q.narrow = q.x->element == TN_EL_F16 || q.x->element == TN_EL_BF16;
    if (q.whole) range_of(q.y->element, &q.low, &q.high);
    if (q.x->element == TN_EL_F32 && q.scale->element == TN_EL_F32 && is_byte(q.y->element)) q.run = run_of(&q.s, q.x->count);
    if (q.run) {
        tn_run_items(r, q.x->count, 1, quantize_runs, &q);
    } else if (tn_elements_have(TN_ELS_PACKED, q.y->element)) {
        memset(q.y->data, 0, q.y->bytes);
        quantize_items(&q, 0, q.x->count); /* neighbours share bytes */
    } else {
        tn_run_items(r, q.x->count, 8, quantize_items, &q);
    }
    return true;
}

/* ---- DequantizeLinear --------------------------------------------------------------------------------------------- */

static bool infer_dequantize(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0), *scale = tn_in_type(x, 1);
    int64_t stated = tn_attr_int(x->node, "output_dtype", 0);
    if (!t || !scale) return true;
    struct tn_type out = *t;
    out.element = stated > 0 && stated < TN_EL_COUNT ? (enum tn_element)stated : scale->element;
    tn_out_type(x, 0, &out);
    return true;
}

static void dequantize_items(void *user, uint64_t begin, uint64_t end)
{
    const struct quantization *q = user;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t k = scale_of(&q->s, i);
        double scale = tn_element_get(q->scale->element, q->scale->data, k);
        if (q->whole) {
            int64_t zero = q->zero ? tn_element_get_int(q->zero->element, q->zero->data, k) : 0;
            int64_t diff = tn_element_get_int(q->x->element, q->x->data, i) - zero;
            tn_element_set(q->y->element, q->y->data, i, (double)((float)diff * (float)scale), false);
        } else {
            double zero = q->zero ? tn_element_get(q->zero->element, q->zero->data, k) : 0;
            double value = (tn_element_get(q->x->element, q->x->data, i) - zero) * scale;
            tn_element_set(q->y->element, q->y->data, i, value, false);
        }
    }
}

static void dequantize_run(const struct quantization *q, uint64_t begin, uint64_t end, uint64_t k)
{
    const float scale = ((const float *)q->scale->data)[k];
    const int zero = zero_of(q, k);
    float *y = (float *)q->y->data + begin;
    if (q->x->element == TN_EL_U8) {
        const uint8_t *x = (const uint8_t *)q->x->data + begin;
        for (uint64_t i = 0; i < end - begin; i++) y[i] = (float)(x[i] - zero) * scale;
    } else {
        const int8_t *x = (const int8_t *)q->x->data + begin;
        for (uint64_t i = 0; i < end - begin; i++) y[i] = (float)(x[i] - zero) * scale;
    }
}

static void dequantize_runs(void *user, uint64_t begin, uint64_t end)
{
    each_run(user, begin, end, dequantize_run);
}

static bool run_dequantize(struct tn_run *r)
{
    struct quantization q = {.x = r->in[0], .scale = r->in[1], .zero = r->in_count > 2 ? r->in[2] : NULL, .y = r->out[0]};
    if (!scales_of(r, q.x, q.scale, &q.s)) return false;
    if (q.zero && q.zero->count != q.scale->count) return tn_run_refuse(r, "a zero point for each scale", "%llu for %llu", (unsigned long long)q.zero->count, (unsigned long long)q.scale->count);
    q.whole = tn_elements_have(TN_ELS_INT | TN_ELS(U4) | TN_ELS(I4) | TN_ELS(U2) | TN_ELS(I2), q.x->element);
    if (is_byte(q.x->element) && q.scale->element == TN_EL_F32 && q.y->element == TN_EL_F32) q.run = run_of(&q.s, q.x->count);
    tn_run_items(r, q.x->count, q.run ? 1 : 6, q.run ? dequantize_runs : dequantize_items, &q);
    return true;
}

/* ---- DynamicQuantizeLinear ---------------------------------------------------------------------------------------- */

static bool infer_dynamic(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    if (!t) return true;
    struct tn_type out = *t;
    out.element = TN_EL_U8;
    tn_out_type(x, 0, &out);
    tn_out_tensor(x, 1, TN_EL_F32, 0, NULL);
    tn_out_tensor(x, 2, TN_EL_U8, 0, NULL);
    return true;
}

enum { RANGE_BLOCK = 1 << 14 };

/* One range of numbers by block; coded by one scale. */
struct dynamic {
    const struct tn_kernels *kernels;
    const float *x;
    uint64_t count;
    float (*ranges)[2];
    uint8_t *y;
    float scale, zero;
};

static uint64_t block_of(const struct dynamic *d, uint64_t i)
{
    uint64_t left = d->count - i * RANGE_BLOCK;
    return left < RANGE_BLOCK ? left : RANGE_BLOCK;
}

static void range_blocks(void *user, uint64_t begin, uint64_t end)
{
    const struct dynamic *d = user;
    for (uint64_t i = begin; i < end; i++) {
        d->ranges[i][0] = d->ranges[i][1] = 0;
        d->kernels->range(d->x + i * RANGE_BLOCK, block_of(d, i), &d->ranges[i][0], &d->ranges[i][1]);
    }
}

static void code_blocks(void *user, uint64_t begin, uint64_t end)
{
    const struct dynamic *d = user;
    for (uint64_t i = begin; i < end; i++) {
        struct tn_codes_args a = {d->x + i * RANGE_BLOCK, d->y + i * RANGE_BLOCK, block_of(d, i), d->scale, d->zero, 0, 255};
        if (d->scale == 0) memset(a.y, (int)d->zero, a.count);
        else d->kernels->to_codes(&a);
    }
}

/* The range with 0 in it onto 0 .. 255 (ONNX, "DynamicQuantizeLinear"). */
static bool run_dynamic(struct tn_run *r)
{
    struct dynamic d = {.kernels = r->kernels, .x = r->in[0]->data, .count = r->in[0]->count, .y = r->out[0]->data};
    uint64_t blocks = d.count / RANGE_BLOCK + (d.count % RANGE_BLOCK != 0);
    float low = 0, high = 0;
    d.ranges = tn_run_scratch(r, blocks + 1, sizeof(*d.ranges));
    if (!d.ranges) return false;
    tn_run_items(r, blocks, RANGE_BLOCK / 4, range_blocks, &d);
    for (uint64_t i = 0; i < blocks; i++) {
        low = d.ranges[i][0] < low ? d.ranges[i][0] : low;
        high = d.ranges[i][1] > high ? d.ranges[i][1] : high;
    }
    d.scale = (high - low) / 255;
    float start = d.scale == 0 ? 0 : -low / d.scale;
    d.zero = rintf(start < 0 ? 0 : start > 255 ? 255 : start);
    if (isnan(d.zero)) d.zero = 0; /* the range is not finite */
    tn_run_items(r, blocks, RANGE_BLOCK / 4, code_blocks, &d);
    tn_heap_give(r->heap, d.ranges);
    if (r->out_count > 1 && r->out[1]) ((float *)r->out[1]->data)[0] = d.scale;
    if (r->out_count > 2 && r->out[2]) ((uint8_t *)r->out[2]->data)[0] = (uint8_t)d.zero;
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "QuantizeLinear", .since = 10, .infer = infer_quantize, .run = run_quantize},
    {.name = "QuantizeLinear", .domain = "com.microsoft", .since = 1, .infer = infer_quantize, .run = run_quantize},
    {.name = "DequantizeLinear", .since = 10, .infer = infer_dequantize, .run = run_dequantize},
    {.name = "DequantizeLinear", .domain = "com.microsoft", .since = 1, .infer = infer_dequantize, .run = run_dequantize},
    {.name = "DynamicQuantizeLinear", .since = 11, .infer = infer_dynamic, .run = run_dynamic},
};

const struct tn_operators tn_ops_quantize = {rows, sizeof(rows) / sizeof(rows[0])};
