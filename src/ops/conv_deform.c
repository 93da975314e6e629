/*
 * DeformConv (Dai et al. 2017, arXiv 1703.06211; with masks Zhu et al. 2018, arXiv 1811.11168): columns are samples at
 * places that an operand moves, then a product of matrices. Also Col2Im, the sum of columns into an image.
 */
#include "ops/conv.h"
#include "ops/gemm.h"
#include "ops/real.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

#define REAL float
#define TN_BODY(name) name##_f32
#include "ops/conv_deform_body.h"
#undef REAL
#undef TN_BODY
#define REAL double
#define TN_BODY(name) name##_f64
#include "ops/conv_deform_body.h"

enum { X, W, OFFSET, B, MASK };

/* ---- DeformConv --------------------------------------------------------------------------------------------------- */

/* Offsets [N, groups * taps * r, out ...], the mask [N, groups * taps, out ...], when all is known. */
static bool check_moved(struct tn_infer *t, uint32_t i, int64_t each, const struct tn_shape *x, const struct tn_shape *w)
{
    const struct tn_shape *s;
    const struct tn_type *y = &t->out[0];
    int64_t count = each;
    if (!tn_in_shape(t, i, &s)) return true;
    bool same = s->rank == x->rank;
    for (uint32_t d = 2; same && d < x->rank; d++) {
        if (!tn_dim_known(w->dims[d])) return true;
        if (w->dims[d] > (1 << 15) || count > (INT64_C(1) << 32)) return tn_infer_refuse(t, "kernels below 2^15", "%lld", (long long)w->dims[d]);
        count *= w->dims[d];
        same = !tn_dim_known(s->dims[d]) || !y->shape.known || !tn_dim_known(y->shape.dims[d]) || s->dims[d] == y->shape.dims[d];
    }
    same = same && (!tn_dim_known(s->dims[1]) || s->dims[1] == count) && (!tn_dim_known(s->dims[0]) || !tn_dim_known(x->dims[0]) || s->dims[0] == x->dims[0]);
    return same || tn_infer_refuse(t, "offsets and masks for each output position and element of the kernel", "operand %u of another shape", i);
}

static bool infer_deform(struct tn_infer *t)
{
    const struct tn_shape *x, *w;
    const struct tn_type *type = tn_in_type(t, X);
    int64_t groups = tn_attr_int(t->node, "offset_group", 1);
    if (!tn_conv_infer(t, X, W, B, type ? type->element : TN_EL_NONE)) return false;
    if (groups < 1 || groups > INT32_MAX) return tn_infer_refuse(t, "an offset_group from 1", "%lld", (long long)groups);
    if (!tn_in_shape(t, X, &x) || !tn_in_shape(t, W, &w)) return true;
    if (tn_dim_known(x->dims[1]) && x->dims[1] % groups != 0)
        return tn_infer_refuse(t, "offset groups that divide the channels", "%lld of %lld", (long long)groups, (long long)x->dims[1]);
    return check_moved(t, OFFSET, groups * ((int64_t)x->rank - 2), x, w) && check_moved(t, MASK, groups, x, w);
}

static void add_bias(const struct tn_conv *c, const void *bias, void *y, bool wide)
{
    for (uint64_t i = 0; bias && i < c->maps * c->out_plane; i++) {
        if (wide) ((double *)y)[i] += ((const double *)bias)[i / c->out_plane];
        else ((float *)y)[i] += ((const float *)bias)[i / c->out_plane];
    }
}

static void products_f64(const struct tn_conv *c, const double *weights, const double *columns, double *y)
{
    memset(y, 0, c->maps * c->out_plane * sizeof(*y));
    for (uint64_t i = 0; i < c->maps * c->depth; i++) {
        uint64_t map = i / c->depth;
        const double *from = columns + (map / c->each_maps * c->depth + i % c->depth) * c->out_plane;
        for (uint64_t p = 0; p < c->out_plane; p++) y[map * c->out_plane + p] += weights[i] * from[p];
    }
}

static bool products_f32(struct tn_run *r, const struct tn_conv *c, const float *weights, const float *columns, float *y)
{
    for (uint64_t g = 0; g < c->groups; g++) {
        struct tn_gemm product = {.m = c->each_maps, .n = c->out_plane, .k = c->depth, .a = weights + g * c->each_maps * c->depth, .a_row = c->depth,
                                  .b = columns + g * c->depth * c->out_plane, .b_k = c->out_plane, .b_n = 1,
                                  .c = y + g * c->each_maps * c->out_plane, .c_row = c->out_plane};
        if (!tn_gemm_team(r, &product)) return false;
    }
    return true;
}

static bool run_deform(struct tn_run *r)
{
    struct tn_conv c;
    struct tn_reals reals;
    uint64_t groups = (uint64_t)tn_attr_int(r->node, "offset_group", 1), count;
    tn_conv_read(r, r->in[X], r->in[W], &c);
    if (r->out[0]->count == 0) return true;
    tn_reals_begin(&reals, r, r->in[X]->element);
    const char *x = tn_reals_in(&reals, X), *weights = tn_reals_in(&reals, W), *offset = tn_reals_in(&reals, OFFSET), *bias = tn_reals_in(&reals, B);
    const char *mask = tn_reals_in(&reals, MASK);
    char *y = tn_reals_out(&reals, 0);
    if (!tn_mul64(c.channels * c.taps, c.out_plane, &count)) return tn_reals_end(&reals) && tn_run_no_memory(r);
    void *columns = tn_reals_scratch(&reals, count);
    size_t each = reals.wide ? sizeof(double) : sizeof(float);
    for (uint64_t i = 0; tn_reals_good(&reals) && columns && i < c.images; i++) {
        const void *image = x + i * c.channels * c.in_plane * each, *moved = offset + i * groups * c.taps * c.w.rank * c.out_plane * each;
        const void *masked = mask ? mask + i * groups * c.taps * c.out_plane * each : NULL;
        void *to = y + i * c.maps * c.out_plane * each;
        struct deform_f32 k = {&c, image, moved, masked, c.channels / groups, columns};
        struct deform_f64 d = {&c, image, moved, masked, c.channels / groups, columns};
        tn_run_items(r, c.channels * c.taps, c.out_plane * 16, reals.wide ? deform_columns_f64 : deform_columns_f32, reals.wide ? (void *)&d : (void *)&k);
        if (reals.wide) products_f64(&c, (const void *)weights, columns, to);
        else if (!products_f32(r, &c, (const void *)weights, columns, to)) break;
        add_bias(&c, bias, to, reals.wide);
    }
    return tn_reals_end(&reals);
}

/* ---- Col2Im ------------------------------------------------------------------------------------------------------- */

/* The window over the image from numbers; NULL, or what should have been. */
static const char *image_window(const struct tn_node *node, const int64_t *image, const int64_t *block, uint32_t rank, struct tn_window *w)
{
    const char *bad = tn_window_read(node, rank, w);
    if (!bad) bad = tn_window_kernel(w, block);
    return bad ? bad : tn_window_fit(w, image);
}

static bool infer_columns(struct tn_infer *t)
{
    const struct tn_shape *x;
    const struct tn_type *type = tn_in_type(t, 0);
    int64_t image[TN_SPATIAL], block[TN_SPATIAL];
    uint32_t rank, same;
    struct tn_window w;
    tn_dim_t out[TN_RANK];
    tn_out_unknown(t, 0, type ? type->element : TN_EL_NONE);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank != 3) return tn_infer_refuse(t, "columns of rank 3", "rank %u", x->rank);
    if (!tn_in_numbers(t, 1, image, TN_SPATIAL, &rank) || !tn_in_numbers(t, 2, block, TN_SPATIAL, &same)) return !t->failed;
    if (rank != same || rank < 1) return tn_infer_refuse(t, "an image and a block of the same rank", "%u and %u", rank, same);
    const char *bad = image_window(t->node, image, block, rank, &w);
    if (bad) return tn_infer_refuse(t, bad, "an image_shape, block_shape or attributes that do not fit");
    int64_t taps = 1, positions = 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (taps > INT32_MAX || positions > INT32_MAX || w.out[i] > INT32_MAX) return tn_infer_refuse(t, "blocks below 2^31", "more");
        taps *= block[i];
        positions *= w.out[i];
        out[i + 2] = image[i];
    }
    if ((tn_dim_known(x->dims[1]) && x->dims[1] % taps != 0) || (tn_dim_known(x->dims[2]) && x->dims[2] != positions))
        return tn_infer_refuse(t, "a column for each block of the image", "%lld blocks, not %lld", (long long)x->dims[2], (long long)positions);
    out[0] = x->dims[0];
    out[1] = tn_dim_div(t->symbols, x->dims[1], taps);
    tn_out_tensor(t, 0, type->element, rank + 2, out);
    return true;
}

/* y[to] += x[from] of one element type. Integers wrap. */
static void add_element(enum tn_element e, void *y, uint64_t to, const void *x, uint64_t from)
{
    if (e == TN_EL_F32) ((float *)y)[to] += ((const float *)x)[from];
    else if (e == TN_EL_F64) ((double *)y)[to] += ((const double *)x)[from];
    else tn_element_set_int(e, y, to, (int64_t)((uint64_t)tn_element_get_int(e, y, to) + (uint64_t)tn_element_get_int(e, x, from)));
}

/* Columns of one plane. */
static void add_columns(const struct tn_window *w, enum tn_element e, const void *x, uint64_t from, void *y, uint64_t to)
{
    uint64_t taps = tn_window_count(w->kernel, w->rank), width = (uint64_t)w->out[w->rank - 1], positions = tn_window_count(w->out, w->rank);
    int64_t stride = w->stride[w->rank - 1];
    for (uint64_t k = 0; k < taps; k++) {
        int64_t tap[TN_SPATIAL], lo, hi, first;
        tn_window_tap(w, k, tap);
        tn_window_span(w, tap, &lo, &hi, &first);
        for (uint64_t row = 0; lo < hi && row < positions / width; row++) {
            uint64_t at;
            if (!tn_window_row(w, tap, row, &at)) continue;
            for (int64_t o = lo; o < hi; o++)
                add_element(e, y, to + at + (uint64_t)(first + (o - lo) * stride), x, from + k * positions + row * width + (uint64_t)o);
        }
    }
}

static bool run_columns(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_tensor *y = r->out[0];
    int64_t image[TN_SPATIAL], block[TN_SPATIAL];
    struct tn_window w;
    struct tn_reals reals;
    uint32_t rank = (uint32_t)r->in[1]->count;
    bool real = tn_elements_have(TN_ELS_FLOAT, x->element);
    for (uint32_t i = 0; i < rank; i++) {
        image[i] = tn_run_int(r, 1, i);
        block[i] = tn_run_int(r, 2, i);
    }
    const char *bad = image_window(r->node, image, block, rank, &w);
    if (bad) return tn_run_refuse(r, bad, "an image_shape that does not fit");
    if (y->count == 0) return true;
    tn_reals_begin(&reals, r, x->element);
    const void *from = real ? tn_reals_in(&reals, 0) : x->data;
    void *to = real ? tn_reals_out(&reals, 0) : y->data;
    enum tn_element e = !real ? x->element : reals.wide ? TN_EL_F64 : TN_EL_F32;
    uint64_t planes = (uint64_t)y->dims[0] * (uint64_t)y->dims[1], plane = y->count / planes, column = x->count / planes;
    if (tn_reals_good(&reals)) {
        memset(to, 0, y->count * tn_element_size(e));
        for (uint64_t i = 0; i < planes; i++) add_columns(&w, e, from, i * column, to, i * plane);
    }
    return tn_reals_end(&reals);
}

static const struct tn_operator rows[] = {
    {.name = "DeformConv", .since = 19, .infer = infer_deform, .run = run_deform},
    {.name = "Col2Im", .since = 18, .types = {{"T", TN_ELS_NUMBER}}, .infer = infer_columns, .run = run_columns},
};

const struct tn_operators tn_ops_conv_deform = {rows, sizeof(rows) / sizeof(rows[0])};
