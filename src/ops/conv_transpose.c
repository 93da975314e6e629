/*
 * ConvTranspose. float32 and half precision: one product of the transposed weights with the input, whose rows are then
 * added to where the kernel reaches; short sums and float64 go by rows. The window slides over the result.
 */
#include "ops/conv.h"
#include "ops/epilogue.h"
#include "ops/gemm.h"
#include "ops/real.h"

#include "base/checked.h"

#define REAL float
#define TN_BODY(name) name##_f32
#include "ops/conv_transpose_body.h"
#undef REAL
#undef TN_BODY
#define REAL double
#define TN_BODY(name) name##_f64
#include "ops/conv_transpose_body.h"
#undef REAL
#undef TN_BODY

/* ---- shapes ------------------------------------------------------------------------------------------------------- */

static const char *read_extra(const struct tn_node *node, uint32_t rank, int64_t *adjust, int64_t *shape, bool *has_shape)
{
    size_t n, m;
    const int64_t *given = tn_attr_ints(node, "output_padding", &n), *stated = tn_attr_ints(node, "output_shape", &m);
    *has_shape = stated != NULL;
    if (given && n != rank) return "as many numbers in output_padding as there are spatial dimensions";
    if (stated && m != rank && m != rank + 2) return "as many numbers in output_shape as there are spatial dimensions";
    for (uint32_t i = 0; i < rank; i++) {
        adjust[i] = given ? given[i] : 0;
        if (adjust[i] < 0 || adjust[i] > INT32_MAX) return "output_padding from 0";
        /* Before version 11 the whole shape was given too. */
        if (stated) shape[i] = stated[i + m - rank];
        if (stated && (shape[i] < 0 || shape[i] > INT64_MAX / 4)) return "an output_shape of sizes";
    }
    return NULL;
}

/*
 * The result's shape (which becomes w->in) of an input, and the padding. UPPER splits an odd padding with more at the end;
 * so does an output_shape without auto_pad from version 11 on the other way.
 */
static const char *result_of(const struct tn_node *node, struct tn_window *w, const int64_t *in)
{
    int64_t adjust[TN_SPATIAL], shape[TN_SPATIAL];
    bool stated;
    const char *bad = read_extra(node, w->rank, adjust, shape, &stated);
    for (uint32_t i = 0; !bad && i < w->rank; i++) {
        if (in[i] < 0 || in[i] > (INT64_C(1) << 31)) return "spatial dimensions below 2^31";
        int64_t full = w->stride[i] * (in[i] - 1) + adjust[i] + tn_window_extent(w, i);
        bool same = w->automatic == TN_PAD_UPPER || w->automatic == TN_PAD_LOWER;
        w->out[i] = in[i];
        if (stated || same) {
            w->in[i] = stated ? shape[i] : in[i] * w->stride[i];
            int64_t total = full - w->in[i];
            /* What the kernel does not reach stays the bias. */
            if (total < 0) total = 0;
            w->begin[i] = w->automatic == TN_PAD_UPPER ? total / 2 : total - total / 2;
            w->end[i] = total - w->begin[i];
        } else {
            w->in[i] = full - w->begin[i] - w->end[i];
        }
        if (w->in[i] < 0) return "padding that leaves something of the result";
    }
    return bad;
}

static bool check_channels(struct tn_infer *t, const struct tn_shape *x, const struct tn_shape *w, const struct tn_shape *bias, tn_dim_t *maps)
{
    int64_t groups = tn_attr_int(t->node, "group", 1);
    if (groups < 1 || groups > INT32_MAX) return tn_infer_refuse(t, "a number of groups from 1", "%lld", (long long)groups);
    if (tn_dim_known(x->dims[1]) && tn_dim_known(w->dims[0]) && (x->dims[1] != w->dims[0] || x->dims[1] % groups != 0))
        return tn_infer_refuse(t, "as many channels as the weights have, that the groups divide", "%lld channels, weights for %lld, %lld groups",
                               (long long)x->dims[1], (long long)w->dims[0], (long long)groups);
    *maps = tn_dim_mul(t->symbols, w->dims[1], groups);
    if (bias && (bias->rank != 1 || (tn_dim_known(bias->dims[0]) && tn_dim_known(*maps) && bias->dims[0] != *maps)))
        return tn_infer_refuse(t, "one bias for each map", "rank %u, dimension %lld", bias->rank, bias->rank ? (long long)bias->dims[0] : 0LL);
    return true;
}

static bool infer_transpose(struct tn_infer *t)
{
    const struct tn_shape *x, *weights, *bias;
    const struct tn_type *type = tn_in_type(t, 0);
    enum tn_element e = type ? type->element : TN_EL_NONE;
    struct tn_window w;
    tn_dim_t out[TN_RANK];
    tn_out_unknown(t, 0, e);
    if (!tn_in_shape(t, 0, &x) || !tn_in_shape(t, 1, &weights)) return true;
    if (x->rank < 3 || x->rank != weights->rank)
        return tn_infer_refuse(t, "images and weights of one rank, at least 3", "ranks %u and %u", x->rank, weights->rank);
    out[0] = x->dims[0];
    bool with_bias = tn_in_shape(t, 2, &bias), known = true;
    if (!check_channels(t, x, weights, with_bias ? bias : NULL, &out[1])) return false;
    const char *bad = tn_window_read(t->node, x->rank - 2, &w);
    for (uint32_t i = 2; i < x->rank; i++) known = known && tn_dim_known(x->dims[i]) && tn_dim_known(weights->dims[i]);
    if (!bad && known) bad = tn_window_kernel(&w, weights->dims + 2);
    if (!bad && known) bad = result_of(t->node, &w, x->dims + 2);
    if (bad) return tn_infer_refuse(t, bad, "attributes or a shape that do not fit");
    for (uint32_t i = 0; i < w.rank; i++) out[i + 2] = known ? w.in[i] : tn_dim_unknown(t->symbols);
    tn_out_tensor(t, 0, e, x->rank, out);
    return true;
}

static void read_sizes(const struct tn_run *r, struct tn_conv *c)
{
    const struct tn_tensor *x = r->in[0], *w = r->in[1];
    tn_window_read(r->node, x->rank - 2, &c->w);
    tn_window_kernel(&c->w, w->dims + 2);
    result_of(r->node, &c->w, x->dims + 2);
    c->images = (uint64_t)x->dims[0];
    c->channels = (uint64_t)x->dims[1];
    c->groups = (uint64_t)tn_attr_int(r->node, "group", 1);
    c->each_maps = (uint64_t)w->dims[1];
    c->maps = c->each_maps * c->groups;
    c->each_channels = c->channels / c->groups;
    c->taps = tn_window_count(c->w.kernel, c->w.rank);
    c->depth = c->taps * c->each_maps; /* rows of the product */
    c->in_plane = tn_window_count(c->w.in, c->w.rank);
    c->out_plane = tn_window_count(c->w.out, c->w.rank);
}

/* ---- products ----------------------------------------------------------------------------------------------------- */

struct scatter {
    const struct tn_conv *c;
    const float *columns, *bias; /* [maps, taps, input plane] of one image */
    float *y; /* of all */
    uint64_t image;
    const struct tn_kernels *kernels;
    const struct tn_conv_finish *finish;
};

/* One plane of the result, which a transposed convolution calls its input's. */
static void finish_plane(const struct tn_conv_finish *f, const struct tn_conv *c, const struct tn_kernels *kernels, float *y, uint64_t image, uint64_t map)
{
    struct tn_conv turned = *c;
    turned.out_plane = c->in_plane;
    tn_conv_finish(f, &turned, kernels, y, image, map, 1, 0, c->in_plane);
}

/* Items are the planes of one image's result. */
static void scatter_planes(void *user, uint64_t begin, uint64_t end)
{
    const struct scatter *s = user;
    const struct tn_conv *c = s->c;
    const struct tn_window *w = &c->w;
    uint64_t width = (uint64_t)w->out[w->rank - 1], rows = c->out_plane / width;
    int64_t stride = w->stride[w->rank - 1];
    for (uint64_t map = begin; map < end; map++) {
        float *y = s->y + (s->image * c->maps + map) * c->in_plane, bias = s->bias ? s->bias[map] : 0;
        for (uint64_t p = 0; p < c->in_plane; p++) y[p] = bias;
        for (uint64_t k = 0; k < c->taps; k++) {
            const float *from = s->columns + (map * c->taps + k) * c->out_plane;
            int64_t tap[TN_SPATIAL], lo, hi, first;
            tn_window_tap(w, k, tap);
            tn_window_span(w, tap, &lo, &hi, &first);
            for (uint64_t row = 0; lo < hi && row < rows; row++) {
                uint64_t at;
                if (!tn_window_row(w, tap, row, &at)) continue;
                for (int64_t o = lo; o < hi; o++) y[at + (uint64_t)(first + (o - lo) * stride)] += from[row * width + (uint64_t)o];
            }
        }
        finish_plane(s->finish, c, s->kernels, s->y, s->image, map);
    }
}

/* [channels of a group, depth] to [depth, channels of a group], group by group. */
static void turn_weights(const struct tn_conv *c, const float *from, float *to)
{
    for (uint64_t g = 0; g < c->groups; g++) {
        const float *w = from + g * c->each_channels * c->depth;
        float *t = to + g * c->each_channels * c->depth;
        for (uint64_t i = 0; i < c->each_channels; i++) {
            for (uint64_t d = 0; d < c->depth; d++) t[d * c->each_channels + i] = w[i * c->depth + d];
        }
    }
}

static bool by_products(struct tn_run *r, struct tn_reals *reals, const struct tn_conv *c, const float *x, const float *weights,
                        const float *bias, float *y, const struct tn_conv_finish *finish)
{
    float *turned = tn_reals_scratch(reals, r->in[1]->count);
    /* maps * taps * positions */
    uint64_t count;
    if (!tn_mul64(c->maps * c->taps, c->out_plane, &count)) return tn_run_no_memory(r);
    float *columns = turned ? tn_reals_scratch(reals, count) : NULL;
    if (!columns) return false;
    turn_weights(c, weights, turned);
    bool good = true;
    for (uint64_t image = 0; good && image < c->images; image++) {
        for (uint64_t g = 0; good && g < c->groups; g++) {
            struct tn_gemm product = {.m = c->depth, .n = c->out_plane, .k = c->each_channels,
                                      .a = turned + g * c->each_channels * c->depth, .a_row = c->each_channels,
                                      .b = x + (image * c->channels + g * c->each_channels) * c->out_plane, .b_k = c->out_plane, .b_n = 1,
                                      .c = columns + g * c->depth * c->out_plane, .c_row = c->out_plane};
            good = tn_gemm_team(r, &product);
        }
        struct scatter s = {c, columns, bias, y, image, r->kernels, finish};
        if (good) tn_run_items(r, c->maps, c->taps * c->out_plane, scatter_planes, &s);
    }
    return good;
}

static bool run_transpose(struct tn_run *r)
{
    struct tn_conv c;
    struct tn_reals reals;
    struct tn_epilogue e;
    if (!tn_run_shaped(r)) return false;
    read_sizes(r, &c);
    tn_epilogue_read(r->node, &e);
    if (!tn_epilogue_check(r, &e, c.maps)) return false;
    if (r->out[0]->count == 0) return true;
    tn_reals_begin(&reals, r, r->in[0]->element);
    const void *x = tn_reals_in(&reals, 0), *weights = tn_reals_in(&reals, 1), *bias = tn_reals_in(&reals, 2);
    struct tn_conv_finish finish = {&e, tn_reals_in(&reals, e.bias), tn_reals_in(&reals, e.residual)};
    void *y = tn_reals_out(&reals, 0);
    uint64_t cost = c.out_plane * c.each_channels * c.taps;
    if (tn_reals_good(&reals) && reals.wide) {
        struct transpose_f64 k = {&c, x, weights, bias, y};
        tn_run_items(r, c.images * c.maps, cost, transpose_planes_f64, &k);
    } else if (tn_reals_good(&reals) && (c.each_channels < 4 || c.out_plane == 0)) {
        struct transpose_f32 k = {&c, x, weights, bias, y};
        tn_run_items(r, c.images * c.maps, cost, transpose_planes_f32, &k);
        for (uint64_t i = 0; i < c.images * c.maps; i++) finish_plane(&finish, &c, r->kernels, y, i / c.maps, i % c.maps);
    } else if (tn_reals_good(&reals)) {
        by_products(r, &reals, &c, x, weights, bias, y, &finish);
    }
    return tn_reals_end(&reals);
}

static const struct tn_operator rows[] = {
    {.name = "ConvTranspose", .since = 1, .infer = infer_transpose, .run = run_transpose, .lacks = tn_epilogue_lacks},
};

const struct tn_operators tn_ops_conv_transpose = {rows, sizeof(rows) / sizeof(rows[0])};
