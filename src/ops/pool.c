/*
 * Pools: maxima with their places, averages and Lp norms under a sliding window or over whole planes. Half precision is
 * computed in float32. Padding is never a maximum.
 */
#include "ops/real.h"
#include "ops/window.h"

#include <math.h>

#define AVERAGE
#define LOWEST (-INFINITY)
#define REAL float
#define TN_BODY(name) name##_f32
#include "ops/pool_body.h"
#undef REAL
#undef TN_BODY
#define REAL double
#define TN_BODY(name) name##_f64
#include "ops/pool_body.h"
#undef REAL
#undef TN_BODY
#undef LOWEST
#undef AVERAGE
#define LOWEST INT8_MIN
#define REAL int8_t
#define TN_BODY(name) name##_i8
#include "ops/pool_body.h"
#undef REAL
#undef TN_BODY
#undef LOWEST
#define LOWEST 0
#define REAL uint8_t
#define TN_BODY(name) name##_u8
#include "ops/pool_body.h"

/* ---- inference ---------------------------------------------------------------------------------------------------- */

static bool infer_pool(struct tn_infer *t)
{
    const struct tn_shape *x;
    const struct tn_type *type = tn_in_type(t, 0);
    enum tn_element e = type ? type->element : TN_EL_NONE;
    struct tn_window w;
    tn_dim_t out[TN_RANK];
    tn_out_unknown(t, 0, e);
    tn_out_unknown(t, 1, TN_EL_I64);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank < 3) return tn_infer_refuse(t, "images of rank 3 at least", "rank %u", x->rank);
    const char *bad = tn_window_read(t->node, x->rank - 2, &w);
    if (!bad && !w.has_kernel) bad = "a kernel_shape";
    out[0] = x->dims[0];
    out[1] = x->dims[1];
    for (uint32_t i = 0; !bad && i < w.rank; i++) out[i + 2] = tn_window_dim(&w, t->symbols, i, x->dims[i + 2], &bad);
    if (bad) return tn_infer_refuse(t, bad, "attributes or a shape that do not fit");
    tn_out_tensor(t, 0, e, x->rank, out);
    tn_out_tensor(t, 1, TN_EL_I64, x->rank, out);
    return true;
}

static bool infer_global(struct tn_infer *t)
{
    const struct tn_shape *x;
    const struct tn_type *type = tn_in_type(t, 0);
    tn_dim_t out[TN_RANK];
    tn_out_unknown(t, 0, type ? type->element : TN_EL_NONE);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank < 2) return tn_infer_refuse(t, "images of rank 2 at least", "rank %u", x->rank);
    for (uint32_t i = 0; i < x->rank; i++) out[i] = i < 2 ? x->dims[i] : 1;
    tn_out_tensor(t, 0, type->element, x->rank, out);
    return true;
}

/* ---- windows ------------------------------------------------------------------------------------------------------ */

struct sizes {
    struct tn_window w;
    uint64_t planes, in_plane, out_plane, taps;
};

static void read_sizes(const struct tn_run *r, struct sizes *s)
{
    const struct tn_tensor *x = r->in[0];
    tn_window_read(r->node, x->rank - 2, &s->w);
    tn_window_fit(&s->w, x->dims + 2);
    s->planes = (uint64_t)x->dims[0] * (uint64_t)x->dims[1];
    s->in_plane = tn_window_count(s->w.in, s->w.rank);
    s->out_plane = tn_window_count(s->w.out, s->w.rank);
    s->taps = tn_window_count(s->w.kernel, s->w.rank);
}

/* From places in planes to the standard's: in the whole tensor, and column by column when storage_order asks. */
static void place_indices(const struct tn_run *r, const struct sizes *s, int64_t *index)
{
    bool columns = tn_attr_int(r->node, "storage_order", 0) != 0;
    for (uint64_t i = 0; i < s->planes * s->out_plane; i++) {
        uint64_t at = index[i] < 0 ? 0 : (uint64_t)index[i], plane = i / s->out_plane;
        if (columns) {
            uint64_t turned = 0, step = s->in_plane;
            for (uint32_t d = s->w.rank; d-- > 0;) {
                uint64_t n = (uint64_t)s->w.in[d];
                step /= n;
                turned += at % n * step;
                at /= n;
            }
            at = turned;
        }
        index[i] = (int64_t)(plane * s->in_plane + at);
    }
}

/* Fills in a body's struct; the element type decides which. */
#define RUN_PLANES(suffix, fn, norm)                                                                  \
    do {                                                                                              \
        struct pool_##suffix k = {&s.w, x, y, index, s.in_plane, s.out_plane, s.taps, with_pad, norm}; \
        tn_run_items(r, s.planes, s.out_plane * s.taps, fn, &k);                                      \
    } while (0)

/* Maxima of images of float32 and half precision, row by row: rows are widened and rounded while they are in the cache. */
struct rows {
    const struct sizes *s;
    const struct tn_kernels *kernels;
    const char *x;
    char *y;
    enum tn_float_type type;
    size_t element;
    char *room; /* a row of results, a row of the input, by thread */
    size_t share;
};

static void max_row_of(const struct rows *k, const char *x, int64_t o, float *y, float *wide)
{
    const struct tn_window *w = &k->s->w;
    for (int64_t i = 0; i < w->out[1]; i++) y[i] = -INFINITY;
    for (int64_t i = 0; i < w->kernel[0]; i++) {
        int64_t row = o * w->stride[0] - w->begin[0] + i * w->dilation[0];
        if (row < 0 || row >= w->in[0]) continue;
        const char *from = x + (size_t)row * (size_t)w->in[1] * k->element;
        if (k->type != TN_FLOAT_F32) k->kernels->to_f32(k->type, from, wide, (size_t)w->in[1]);
        for (int64_t j = 0; j < w->kernel[1]; j++) {
            int64_t tap[TN_SPATIAL] = {i, j}, lo, hi, first;
            tn_window_span(w, tap, &lo, &hi, &first);
            if (lo < hi) max_row_f32((k->type == TN_FLOAT_F32 ? (const float *)(const void *)from : wide) + first, w->stride[1], hi - lo, y + lo, NULL, 0);
        }
    }
}

static void max_member(void *user, unsigned rank, unsigned size)
{
    const struct rows *k = user;
    const struct tn_window *w = &k->s->w;
    float *row = (float *)(void *)(k->room + rank * k->share), *wide = row + w->out[1];
    size_t begin, end, height = (size_t)w->out[0], width = (size_t)w->out[1];
    tn_share((size_t)k->s->planes * height, rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        char *y = k->y + i * width * k->element;
        float *to = k->type == TN_FLOAT_F32 ? (float *)(void *)y : row;
        max_row_of(k, k->x + i / height * k->s->in_plane * k->element, (int64_t)(i % height), to, wide);
        if (k->type != TN_FLOAT_F32) k->kernels->from_f32(k->type, row, y, width);
    }
}

static bool max_rows(struct tn_run *r, const struct sizes *s)
{
    enum tn_element e = r->in[0]->element;
    struct rows k = {s, r->kernels, r->in[0]->data, r->out[0]->data, e == TN_EL_F16 ? TN_FLOAT_F16 : e == TN_EL_BF16 ? TN_FLOAT_BF16 : TN_FLOAT_F32,
                     tn_element_size(e), NULL, 0};
    unsigned threads = r->threads == 0 || r->out[0]->count * s->taps < 1 << 15 ? 1 : r->threads;
    k.share = (((size_t)s->w.out[1] + (size_t)s->w.in[1]) * sizeof(float) + 63) / 64 * 64;
    k.room = tn_run_scratch(r, k.share, threads);
    if (!k.room) return false;
    tn_pool_run(threads > 1 ? r->pool : NULL, max_member, &k, threads);
    tn_heap_give(r->heap, k.room);
    return true;
}

static bool run_max(struct tn_run *r)
{
    struct sizes s;
    struct tn_reals reals;
    enum tn_element e = r->in[0]->element;
    int64_t *index = r->out_count > 1 && r->wanted[1] ? r->out[1]->data : NULL;
    bool with_pad = false, real = e != TN_EL_I8 && e != TN_EL_U8;
    read_sizes(r, &s);
    if (r->out[0]->count == 0) return true;
    if (s.w.rank == 2 && !index && (e == TN_EL_F32 || e == TN_EL_F16 || e == TN_EL_BF16)) return max_rows(r, &s);
    tn_reals_begin(&reals, r, e);
    const void *x = real ? tn_reals_in(&reals, 0) : r->in[0]->data;
    void *y = real ? tn_reals_out(&reals, 0) : r->out[0]->data;
    if (!tn_reals_good(&reals)) return tn_reals_end(&reals);
    if (e == TN_EL_I8) RUN_PLANES(i8, max_planes_i8, 0);
    else if (e == TN_EL_U8) RUN_PLANES(u8, max_planes_u8, 0);
    else if (reals.wide) RUN_PLANES(f64, max_planes_f64, 0);
    else RUN_PLANES(f32, max_planes_f32, 0);
    if (index) place_indices(r, &s, index);
    return tn_reals_end(&reals);
}

static bool run_sum(struct tn_run *r, double norm)
{
    struct sizes s;
    struct tn_reals reals;
    int64_t *index = NULL;
    bool with_pad = tn_attr_int(r->node, "count_include_pad", 0) != 0;
    read_sizes(r, &s);
    if (r->out[0]->count == 0) return true;
    tn_reals_begin(&reals, r, r->in[0]->element);
    const void *x = tn_reals_in(&reals, 0);
    void *y = tn_reals_out(&reals, 0);
    if (tn_reals_good(&reals) && reals.wide) RUN_PLANES(f64, sum_planes_f64, norm);
    else if (tn_reals_good(&reals)) RUN_PLANES(f32, sum_planes_f32, norm);
    return tn_reals_end(&reals);
}

static bool run_average(struct tn_run *r)
{
    return run_sum(r, 0);
}

/* p is a float in version 1 and an integer afterwards; below 1 it is no norm. */
static double norm_of(const struct tn_node *node)
{
    return node->version < 2 ? tn_attr_float(node, "p", 2) : (double)tn_attr_int(node, "p", 2);
}

static const char *lacks_norm(const struct tn_node *node)
{
    return norm_of(node) >= 1 ? NULL : "p below 1";
}

static bool run_lp(struct tn_run *r)
{
    return run_sum(r, norm_of(r->node));
}

/* ---- whole planes ------------------------------------------------------------------------------------------------- */

static bool run_whole(struct tn_run *r, tn_items_fn *narrow, tn_items_fn *wide, double norm)
{
    struct tn_reals reals;
    struct tn_tensor *x = r->in[0];
    uint64_t planes = r->out[0]->count;
    if (planes == 0) return true;
    tn_reals_begin(&reals, r, x->element);
    const void *from = tn_reals_in(&reals, 0);
    void *to = tn_reals_out(&reals, 0);
    struct pool_f32 k = {.x = from, .y = to, .in_plane = x->count / planes, .p = norm};
    struct pool_f64 d = {.x = from, .y = to, .in_plane = x->count / planes, .p = norm};
    if (tn_reals_good(&reals)) tn_run_items(r, planes, k.in_plane, reals.wide ? wide : narrow, reals.wide ? (void *)&d : (void *)&k);
    return tn_reals_end(&reals);
}

static bool run_global_average(struct tn_run *r)
{
    return run_whole(r, global_sum_f32, global_sum_f64, 0);
}

static bool run_global_lp(struct tn_run *r)
{
    return run_whole(r, global_sum_f32, global_sum_f64, norm_of(r->node));
}

static bool run_global_max(struct tn_run *r)
{
    return run_whole(r, global_max_f32, global_max_f64, 0);
}

/* ---- MaxUnpool ---------------------------------------------------------------------------------------------------- */

/* The shape that the pool had: (in - 1) * stride + kernel - padding. */
static const char *unpooled(const struct tn_node *node, const int64_t *in, struct tn_window *w)
{
    const char *bad = tn_window_read(node, w->rank, w);
    if (!bad && !w->has_kernel) bad = "a kernel_shape";
    for (uint32_t i = 0; !bad && i < w->rank; i++) {
        if (in[i] > (INT64_C(1) << 31)) return "spatial dimensions below 2^31";
        w->in[i] = in[i];
        w->out[i] = (in[i] - 1) * w->stride[i] + w->kernel[i] - w->begin[i] - w->end[i];
        if (w->out[i] < 0) return "padding that leaves something of the result";
    }
    return bad;
}

static bool infer_unpool(struct tn_infer *t)
{
    const struct tn_shape *x, *index;
    const struct tn_type *type = tn_in_type(t, 0);
    enum tn_element e = type ? type->element : TN_EL_NONE;
    const tn_dim_t *stated;
    uint32_t count;
    tn_out_unknown(t, 0, e);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank < 3) return tn_infer_refuse(t, "images of rank 3 at least", "rank %u", x->rank);
    if (tn_in_shape(t, 1, &index)) {
        bool same = index->rank == x->rank;
        for (uint32_t i = 0; same && i < x->rank; i++)
            same = !tn_dim_known(x->dims[i]) || !tn_dim_known(index->dims[i]) || x->dims[i] == index->dims[i];
        if (!same) return tn_infer_refuse(t, "an index for each element", "another shape");
    }
    if (tn_in_given(t, 2)) {
        if (!tn_in_content(t, 2, &stated, &count)) return true;
        if (count != x->rank) return tn_infer_refuse(t, "an output_shape of all dimensions", "%u numbers", count);
        tn_out_tensor(t, 0, e, count, stated);
        return true;
    }
    tn_dim_t out[TN_RANK] = {x->dims[0], x->dims[1]};
    struct tn_window w = {.rank = x->rank - 2};
    for (uint32_t i = 2; i < x->rank; i++) {
        if (!tn_dim_known(x->dims[i])) return true;
    }
    const char *bad = unpooled(t->node, x->dims + 2, &w);
    if (bad) return tn_infer_refuse(t, bad, "attributes or a shape that do not fit");
    for (uint32_t i = 0; i < w.rank; i++) out[i + 2] = w.out[i];
    tn_out_tensor(t, 0, e, x->rank, out);
    return true;
}

/* Indices count in the shape that the pool had, whatever shape the result is given. */
static bool run_unpool(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_tensor *y = r->out[0];
    struct tn_window w = {.rank = x->rank - 2};
    int64_t dims[TN_RANK] = {x->dims[0], x->dims[1]};
    uint64_t count;
    if (!tn_run_shaped(r)) return false;
    const char *bad = unpooled(r->node, x->dims + 2, &w);
    if (bad) return tn_run_refuse(r, bad, "attributes or a shape that do not fit");
    for (uint32_t i = 0; i < w.rank; i++) dims[i + 2] = w.out[i];
    if (!tn_shape_count(dims, x->rank, &count)) return tn_run_refuse(r, "a smaller result", "a shape too large");
    size_t each = tn_element_size(y->element);
    for (size_t i = 0; i < y->bytes; i++) ((char *)y->data)[i] = 0;
    for (uint64_t i = 0; i < x->count; i++) {
        int64_t from = ((const int64_t *)r->in[1]->data)[i];
        uint64_t at = (uint64_t)from, to = 0, step = 1;
        if (from < 0 || at >= count) return tn_run_refuse(r, "indices into the unpooled tensor", "%lld", (long long)from);
        bool inside = true;
        for (uint32_t d = x->rank; d-- > 0;) {
            uint64_t place = at % (uint64_t)dims[d];
            at /= (uint64_t)dims[d];
            inside = inside && place < (uint64_t)y->dims[d];
            to += place * step;
            step *= (uint64_t)y->dims[d];
        }
        if (!inside) return tn_run_refuse(r, "an output_shape that holds all maxima", "an index beyond it");
        for (size_t b = 0; b < each; b++) ((char *)y->data)[to * each + b] = ((const char *)x->data)[i * each + b];
    }
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "MaxPool", .since = 1, .infer = infer_pool, .run = run_max},
    {.name = "AveragePool", .since = 1, .infer = infer_pool, .run = run_average},
    {.name = "LpPool", .since = 1, .infer = infer_pool, .run = run_lp, .lacks = lacks_norm},
    {.name = "GlobalMaxPool", .since = 1, .infer = infer_global, .run = run_global_max},
    {.name = "GlobalAveragePool", .since = 1, .infer = infer_global, .run = run_global_average},
    {.name = "GlobalLpPool", .since = 1, .infer = infer_global, .run = run_global_lp, .lacks = lacks_norm},
    {.name = "MaxUnpool", .since = 9, .infer = infer_unpool, .run = run_unpool},
};

const struct tn_operators tn_ops_pool = {rows, sizeof(rows) / sizeof(rows[0])};
