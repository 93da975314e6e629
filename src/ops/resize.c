/*
 * Resize and Upsample. Dimensions are resized one after the other, since all interpolations are products over dimensions;
 * nearest neighbours are copied, whatever their type. Integers are computed in double, rounded and saturated.
 */
#include "ops/real.h"
#include "ops/resize_planes.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

#define REAL float
#define TN_BODY(name) name##_f32
#include "ops/resize_body.h"
#undef REAL
#undef TN_BODY
#define REAL double
#define TN_BODY(name) name##_f64
#include "ops/resize_body.h"

/* ---- weighted sums ------------------------------------------------------------------------------------------------ */

/* Weights of a dimension in scratch. */
struct taps {
    uint32_t count;
    uint32_t *index;
    void *weight;
    uint8_t *outside;
};

static void free_taps(struct tn_run *r, struct taps *t)
{
    tn_heap_give(r->heap, t->index);
    tn_heap_give(r->heap, t->weight);
    tn_heap_give(r->heap, t->outside);
}

static bool make_taps(struct tn_run *r, const struct tn_resize *p, uint32_t axis, bool wide, struct taps *t)
{
    uint64_t count;
    *t = (struct taps){.count = tn_resize_taps(p, axis)};
    if (!tn_mul64((uint64_t)p->out[axis], t->count, &count)) return tn_run_no_memory(r);
    t->index = tn_run_scratch(r, count, sizeof(*t->index));
    t->weight = tn_run_scratch(r, count, wide ? sizeof(double) : sizeof(float));
    t->outside = tn_run_scratch(r, (size_t)p->out[axis], 1);
    double *one = tn_run_scratch(r, t->count, sizeof(*one));
    for (int64_t o = 0; !r->failed && o < p->out[axis]; o++) {
        t->outside[o] = !tn_resize_weights(p, axis, o, t->count, t->index + (uint64_t)o * t->count, one);
        for (uint32_t k = 0; k < t->count; k++) {
            uint64_t at = (uint64_t)o * t->count + k;
            if (wide) ((double *)t->weight)[at] = one[k];
            else ((float *)t->weight)[at] = (float)one[k];
        }
    }
    tn_heap_give(r->heap, one);
    return !r->failed;
}

static bool resize_axis(struct tn_run *r, const struct tn_resize *p, uint32_t axis, const int64_t *dims, bool wide, const void *x, void *y)
{
    struct taps t;
    uint64_t outer = 1, inner = 1;
    for (uint32_t i = 0; i < axis; i++) outer *= (uint64_t)dims[i];
    for (uint32_t i = axis + 1; i < p->rank; i++) inner *= (uint64_t)dims[i];
    bool good = make_taps(r, p, axis, wide, &t);
    uint64_t out = (uint64_t)p->out[axis], in = (uint64_t)dims[axis];
    if (good && wide) {
        struct resize_f64 k = {x, y, in, out, inner, t.count, t.index, t.weight, t.outside, p->extrapolation};
        tn_run_items(r, outer * out, inner * t.count, resize_rows_f64, &k);
    } else if (good) {
        struct resize_f32 k = {x, y, in, out, inner, t.count, t.index, t.weight, t.outside, (float)p->extrapolation};
        tn_run_items(r, outer * out, inner * t.count, resize_rows_f32, &k);
    }
    free_taps(r, &t);
    return good;
}

/* Bool and integers: to the nearest, saturated. */
static void round_out(struct tn_tensor *y, const double *from)
{
    static const struct {
        double low, high;
    } range[TN_EL_COUNT] = {[TN_EL_U8] = {0, UINT8_MAX}, [TN_EL_I8] = {INT8_MIN, INT8_MAX}, [TN_EL_U16] = {0, UINT16_MAX},
                            [TN_EL_I16] = {INT16_MIN, INT16_MAX}, [TN_EL_I32] = {INT32_MIN, INT32_MAX}, [TN_EL_U32] = {0, UINT32_MAX},
                            [TN_EL_I64] = {-0x1p63, 0x1.fffffffffffffp62}, [TN_EL_U64] = {0, 0x1.fffffffffffffp63}, [TN_EL_BOOL] = {0, 1}};
    for (uint64_t i = 0; i < y->count; i++) {
        double v = nearbyint(from[i]);
        v = v > range[y->element].low ? v : range[y->element].low;
        tn_element_set(y->element, y->data, i, v < range[y->element].high ? v : range[y->element].high, true);
    }
}

static bool interpolate(struct tn_run *r, const struct tn_resize *p)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_tensor *y = r->out[0];
    struct tn_reals reals;
    bool real = tn_elements_have(TN_ELS_FLOAT, y->element);
    int64_t dims[TN_RANK];
    uint32_t left = 0;
    memcpy(dims, x->dims, sizeof(dims));
    for (uint32_t i = 0; i < p->rank; i++) left += !p->same[i];
    tn_reals_begin(&reals, r, real ? y->element : TN_EL_F64);
    const void *from = tn_reals_in(&reals, 0);
    void *last = real ? tn_reals_out(&reals, 0) : tn_reals_scratch(&reals, y->count);
    for (uint32_t i = 0; tn_reals_good(&reals) && i < p->rank; i++) {
        uint64_t count;
        if (p->same[i]) continue;
        int64_t before = dims[i];
        dims[i] = p->out[i];
        if (!tn_shape_count(dims, p->rank, &count)) {
            tn_run_no_memory(r);
            break;
        }
        void *to = --left == 0 ? last : tn_reals_scratch(&reals, count);
        int64_t now[TN_RANK];
        memcpy(now, dims, sizeof(now));
        now[i] = before;
        if (to) resize_axis(r, p, i, now, reals.wide, from, to);
        from = to;
    }
    if (tn_reals_good(&reals) && !real) round_out(y, from);
    return tn_reals_end(&reals);
}

/* ---- nearest neighbours ------------------------------------------------------------------------------------------- */

struct copy {
    const struct tn_resize *p;
    const struct tn_tensor *x;
    struct tn_tensor *y;
    const uint64_t *from;    /* by dimension, then output index: offset in the input; UINT64_MAX: extrapolated */
    uint64_t start[TN_RANK]; /* of each dimension in `from` */
    uint32_t rank;           /* dimensions in front of a block that is copied whole */
    uint64_t block;          /* elements of it */
    size_t each;
    uint64_t repeat; /* of rows: every element so many times; 0: by their offsets */
};

/* Where a block begins; false: extrapolated. */
static bool source_of(const struct copy *c, uint64_t item, uint64_t *at)
{
    *at = 0;
    for (uint32_t d = c->rank; d-- > 0;) {
        uint64_t from = c->from[c->start[d] + item % (uint64_t)c->p->out[d]];
        item /= (uint64_t)c->p->out[d];
        if (from == UINT64_MAX) return false;
        *at += from;
    }
    return true;
}

static void copy_blocks(void *user, uint64_t begin, uint64_t end)
{
    const struct copy *c = user;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at;
        char *to = (char *)c->y->data + i * c->block * c->each;
        if (source_of(c, i, &at)) {
            const char *from = (const char *)c->x->data + at * c->each;
            if (c->each == 4 && c->block == 1) memcpy(to, from, 4);
            else memcpy(to, from, c->block * c->each);
        } else {
            memset(to, 0, c->block * c->each);
            bool number = tn_elements_have(TN_ELS_NUMBER | TN_ELS(BOOL), c->y->element);
            for (uint64_t k = 0; number && k < c->block; k++) tn_element_set(c->y->element, to, k, c->p->extrapolation, true);
        }
    }
}

/* Each element `times` times. */
#define REPEAT(bits)                                                                                   \
    static void repeat_##bits(const uint##bits##_t *x, uint64_t count, uint64_t times, uint##bits##_t *y) \
    {                                                                                                  \
        if (times == 2) {                                                                              \
            for (uint64_t i = 0; i < count; i++) y[2 * i] = y[2 * i + 1] = x[i];                       \
        } else if (times == 4) {                                                                       \
            for (uint64_t i = 0; i < count; i++) y[4 * i] = y[4 * i + 1] = y[4 * i + 2] = y[4 * i + 3] = x[i]; \
        } else {                                                                                       \
            for (uint64_t i = 0; i < count; i++) {                                                     \
                for (uint64_t k = 0; k < times; k++) y[i * times + k] = x[i];                          \
            }                                                                                          \
        }                                                                                              \
    }                                                                                                  \
    static void pick_##bits(const uint##bits##_t *x, const uint64_t *from, uint64_t count, uint##bits##_t *y) \
    {                                                                                                  \
        for (uint64_t i = 0; i < count; i++) y[i] = x[from[i]];                                        \
    }
REPEAT(8)
REPEAT(16)
REPEAT(32)
REPEAT(64)
#undef REPEAT

static void copy_row(const struct copy *c, const void *x, void *y)
{
    const uint64_t out = (uint64_t)c->p->out[c->rank], *from = c->from + c->start[c->rank];
#define ROW(bytes, bits)                                                                               \
    case bytes:                                                                                        \
        if (c->repeat) repeat_##bits(x, out / c->repeat, c->repeat, y);                                \
        else pick_##bits(x, from, out, y);                                                             \
        break;
    switch (c->each) {
        ROW(1, 8)
        ROW(2, 16)
        ROW(4, 32)
        ROW(8, 64)
    default: break;
    }
#undef ROW
}

/* Items are rows of the last dimension; `rank` then counts those in front of it. A row that repeats its neighbour is copied. */
static void copy_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct copy *c = user;
    uint64_t before = UINT64_MAX, bytes = (uint64_t)c->p->out[c->rank] * c->each;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at;
        char *to = (char *)c->y->data + i * bytes;
        source_of(c, i, &at);
        if (at == before) memcpy(to, to - bytes, bytes);
        else copy_row(c, (const char *)c->x->data + at * c->each, to);
        before = at;
    }
}

/* Whether rows can be copied one by one; sets `repeat`. */
static bool by_rows(struct copy *c, uint64_t total)
{
    bool size = c->each == 1 || c->each == 2 || c->each == 4 || c->each == 8;
    if (c->rank == 0 || c->block != 1 || !size || c->x->element == TN_EL_STRING) return false;
    for (uint64_t i = 0; i < total; i++) {
        if (c->from[i] == UINT64_MAX) return false;
    }
    uint32_t last = --c->rank;
    const uint64_t *from = c->from + c->start[last];
    uint64_t out = (uint64_t)c->p->out[last], in = (uint64_t)c->x->dims[last];
    c->repeat = out % in == 0 ? out / in : 0;
    for (uint64_t o = 0; c->repeat && o < out; o++) {
        if (from[o] != o / c->repeat) c->repeat = 0;
    }
    return true;
}

static bool copy_texts(struct tn_run *r, const struct copy *c)
{
    for (uint64_t i = 0; i < c->y->count; i++) {
        uint64_t at, block = i / c->block;
        if (!source_of(c, block, &at)) continue;
        if (!tn_tensor_set_text(c->y, i, tn_tensor_texts(c->x)[at + i % c->block])) return tn_run_no_memory(r);
    }
    return true;
}

static bool nearest(struct tn_run *r, const struct tn_resize *p)
{
    const struct tn_tensor *x = r->in[0];
    struct copy c = {.p = p, .x = x, .y = r->out[0], .rank = p->rank, .block = 1, .each = tn_element_size(x->element)};
    uint64_t total = 0, step = 1;
    while (c.rank > 0 && p->same[c.rank - 1]) c.block *= (uint64_t)x->dims[--c.rank];
    for (uint32_t d = 0; d < c.rank; d++) {
        c.start[d] = total;
        total += (uint64_t)p->out[d];
    }
    uint64_t *from = tn_run_scratch(r, total + 1, sizeof(*from));
    if (!from) return false;
    step = c.block;
    for (uint32_t d = c.rank; d-- > 0;) {
        for (int64_t o = 0; o < p->out[d]; o++) {
            int64_t at = p->same[d] ? o : tn_resize_nearest(p, d, o);
            from[c.start[d] + (uint64_t)o] = at < 0 ? UINT64_MAX : (uint64_t)at * step;
        }
        step *= (uint64_t)x->dims[d];
    }
    c.from = from;
    bool good = true;
    if (x->element == TN_EL_STRING) good = copy_texts(r, &c);
    else if (by_rows(&c, total)) tn_run_items(r, c.y->count / (uint64_t)p->out[c.rank], (uint64_t)p->out[c.rank], copy_rows, &c);
    else tn_run_items(r, c.y->count / c.block, 4 + c.block, copy_blocks, &c);
    tn_heap_give(r->heap, from);
    return good;
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

static bool run_resize(struct tn_run *r)
{
    struct tn_resize p;
    const struct tn_tensor *x = r->in[0];
    const char *bad = tn_resize_plan(r, &p);
    bool all = true;
    if (bad) return tn_run_refuse(r, bad, "scales, sizes or a region that do not fit");
    if (r->out[0]->count == 0) return true;
    if (x->count == 0) return tn_run_refuse(r, "an operand with elements", "an empty one");
    for (uint32_t i = 0; i < p.rank; i++) {
        if (r->out[0]->dims[i] != p.out[i]) return tn_run_refuse(r, "the shape that was inferred", "another");
        if (x->dims[i] > 1 << 28) return tn_run_refuse(r, "dimensions below 2^28", "%lld", (long long)x->dims[i]);
        all = all && p.same[i];
    }
    if (p.mode == TN_RESIZE_NEAREST || all) return nearest(r, &p);
    if (!tn_elements_have(TN_ELS_NUMBER | TN_ELS(BOOL), x->element))
        return tn_run_refuse(r, "numbers to interpolate between", "%s", tn_onnx_element_name(x->element));
    return tn_resize_by_planes(&p, x->element) ? tn_resize_planes(r, &p) : interpolate(r, &p);
}

static const struct tn_operator rows[] = {
    {.name = "Resize", .since = 10, .infer = tn_resize_infer, .run = run_resize, .lacks = tn_resize_lacks},
    {.name = "Upsample", .since = 1, .infer = tn_resize_infer, .run = run_resize, .lacks = tn_resize_lacks},
};

const struct tn_operators tn_ops_resize = {rows, sizeof(rows) / sizeof(rows[0])};
