/*
 * A depthwise convolution and the product of 1 x 1 windows behind it, over images whose channels are neighbours: strips of
 * the first one's results stay in the cache, where the second one reads them. exec/patch_pair.c states it. An operator of the
 * domain "tenon", which no file can name.
 *
 *     LastPair  in X [N, H, W, C], V [C, 1, kh, kw], B of V or absent, W [M, C, 1, 1], B of W or absent
 *
 * Window and group are the first one's; what is folded behind the second is stated as ever (ops/epilogue.h), behind the first
 * by the attributes tenon.first.activation, tenon.first.params and tenon.first.line. Bits are those of the operators one by
 * one.
 *
 * A product of 1 x 1 windows may stand in front: with tenon.wide, the index of its weights E [C, K, 1, 1], behind which its
 * bias stands or is absent, X is [N, H, W, K]; tenon.wide.activation and so on are folded behind it. Threads share rows of
 * the result; the rows of the wide image that a few of them need are made in the cache, and those that the next ones need
 * again are moved to its front. At the border of two shares such rows are made twice.
 */
#include "ops/conv_last.h"

#include "base/checked.h"

#include <string.h>

enum { X, FIRST, FIRST_BIAS, SECOND, SECOND_BIAS };
/* Floats of the wide image that a thread keeps: a fifth of a usual L2 cache. */
enum { WIDE = 48 << 10 };

/* The operand that tenon.wide names; TN_NET_NONE: nothing stands in front. */
static uint32_t wide_of(const struct tn_node *node)
{
    int64_t at = tn_attr_int(node, "tenon.wide", -1);
    return at > SECOND_BIAS && at < node->in_count ? (uint32_t)at : TN_NET_NONE;
}

static bool infer_pair(struct tn_infer *t)
{
    const struct tn_shape *x, *first, *second, *e;
    struct tn_shape wide;
    struct tn_window w;
    uint32_t in_front = wide_of(t->node);
    tn_out_unknown(t, 0, TN_EL_F32);
    if (!tn_in_shape(t, X, &x) || !tn_in_shape(t, FIRST, &first) || !tn_in_shape(t, SECOND, &second)) return true;
    if (in_front != TN_NET_NONE) {
        if (!tn_in_shape(t, in_front, &e)) return true;
        if (x->rank != 4 || e->rank != 4 || e->dims[1] != x->dims[3] || e->dims[2] != 1 || e->dims[3] != 1)
            return tn_infer_refuse(t, "weights of one pixel for the channels of the images", "others");
        wide = *x;
        wide.dims[3] = e->dims[0];
        x = &wide;
    }
    if (!tn_last_infer_window(t, x, first, &w)) return false;
    bool fits = second->rank == 4 && second->dims[1] == first->dims[0] && second->dims[2] == 1 && second->dims[3] == 1 && tn_dim_known(second->dims[0]);
    if (!fits || tn_attr_int(t->node, "group", 1) < 2) return tn_infer_refuse(t, "windows for each channel, then one pixel of them all", "other weights");
    return tn_last_infer(t, &w, x, second->dims[0]);
}

/* ---- weights ------------------------------------------------------------------------------------------------------ */

struct pair {
    struct tn_last_weights *part[3]; /* first, second, what stands in front */
};

/* Their operands. */
static void weights_of(const struct tn_node *node, uint32_t out[3])
{
    out[0] = FIRST;
    out[1] = SECOND;
    out[2] = wide_of(node);
}

static void release_pair(struct tn_alloc *alloc, void *state)
{
    struct pair *p = state;
    if (!p) return;
    for (unsigned i = 0; i < 3; i++) tn_free(alloc, p->part[i]);
    tn_free(alloc, p);
}

static enum tn_status prepare_pair(struct tn_prepare *p, void **state)
{
    struct pair *to = tn_calloc(p->alloc, 1, sizeof(*to));
    if (!to) return TN_INSUFFICIENT_MEMORY;
    enum tn_status st = TN_OK;
    uint32_t at[3];
    weights_of(p->node, at);
    for (unsigned i = 0; !st && i < 3; i++) {
        if (at[i] == TN_NET_NONE) continue;
        st = tn_last_pack(p, p->in[at[i]], i == 0, &to->part[i]);
        p->keep[at[i]] = !to->part[i];
    }
    if (st) release_pair(p->alloc, to);
    else *state = to;
    return st;
}

/* ---- execution ---------------------------------------------------------------------------------------------------- */

struct job {
    const struct tn_window *w;
    const struct tn_kernels *kernels;
    struct tn_depth_args first;
    struct tn_pixels_args second; /* of the whole result */
    struct tn_pixels_args wide;   /* of the whole image in front; rows 0: there is none */
    size_t images, in_pixels, out_pixels, strip;
    size_t block, kept; /* rows of results at a time, of the wide image that they need */
    char *room;
    size_t share_bytes;
};

/* Products of results first .. first + count - 1 of an image whose depthwise windows lie over d->x; `at`: in the whole result. */
static void run_strip(const struct job *j, const struct tn_window *w, struct tn_depth_args d, size_t at, float *room)
{
    d.y = room;
    tn_last_deep(j->kernels, w, d);
    struct tn_pixels_args a = j->second;
    a.x = room;
    a.rows = d.count;
    a.y += at * a.y_stride;
    if (a.residual) a.residual += at * a.residual_stride;
    j->kernels->pixels(&a);
}

/* Rows [begin, end) of the wide image of one image; row `from` stands first in `to`. */
static void make_wide(const struct job *j, size_t image, size_t from, size_t begin, size_t end, float *to)
{
    const size_t width = (size_t)j->w->in[1];
    struct tn_pixels_args a = j->wide;
    if (begin >= end) return;
    a.x += (image * j->in_pixels + begin * width) * a.x_stride;
    a.rows = (end - begin) * width;
    a.y = to + (begin - from) * width * a.y_stride;
    j->kernels->pixels(&a);
}

/* Rows [begin, end) of the results of one image, behind a product in front. */
static void wide_rows(const struct job *j, size_t image, size_t begin, size_t end, float *room)
{
    const struct tn_window *w = j->w;
    const size_t width = (size_t)w->out[1], line = (size_t)w->in[1] * j->first.channels;
    float *kept = room + j->strip * j->first.channels;
    size_t from = 0, until = 0; /* rows that are there */
    for (size_t row = begin, last; row < end; row = last) {
        last = end - row < j->block ? end : row + j->block;
        int64_t top = (int64_t)row * w->stride[0] - w->begin[0], low = ((int64_t)last - 1) * w->stride[0] - w->begin[0] + (w->kernel[0] - 1) * w->dilation[0] + 1;
        size_t lo = top > 0 ? (size_t)top : 0, hi = low < 0 ? 0 : low > w->in[0] ? (size_t)w->in[0] : (size_t)low;
        if (lo > hi) lo = hi;
        if (until > lo && from < lo) memmove(kept, kept + (lo - from) * line, (until - lo) * line * sizeof(float));
        make_wide(j, image, lo, until > lo ? until : lo, hi, kept);
        until = hi > until ? hi : until;
        from = lo;
        /* the rows that are there are an image of their own, which the windows meet as far above as they meet the whole one */
        struct tn_window part = *w;
        part.in[0] = (int64_t)(hi - lo);
        part.begin[0] = (int64_t)lo - top;
        for (size_t at = 0, all = (last - row) * width; at < all; at += j->strip) {
            struct tn_depth_args d = j->first;
            d.x = kept;
            d.first = at;
            d.count = all - at < j->strip ? all - at : j->strip;
            run_strip(j, &part, d, image * j->out_pixels + row * width + at, room);
        }
    }
}

static void wide_member(void *user, unsigned rank, unsigned size)
{
    const struct job *j = user;
    const size_t rows = (size_t)j->w->out[0];
    size_t begin, end;
    tn_share(j->images * rows, rank, size, &begin, &end);
    for (size_t last; begin < end; begin = last) {
        size_t image = begin / rows;
        last = (image + 1) * rows < end ? (image + 1) * rows : end;
        wide_rows(j, image, begin - image * rows, last - image * rows, (float *)(void *)(j->room + rank * j->share_bytes));
    }
}

static void pair_member(void *user, unsigned rank, unsigned size)
{
    const struct job *j = user;
    float *room = (float *)(void *)(j->room + rank * j->share_bytes);
    const size_t channels = j->first.channels;
    size_t begin, end;
    tn_share(j->images * j->out_pixels, rank, size, &begin, &end);
    for (size_t last; begin < end; begin = last) {
        size_t image = begin / j->out_pixels;
        last = end - begin < j->strip ? end : begin + j->strip;
        if (last > (image + 1) * j->out_pixels) last = (image + 1) * j->out_pixels;
        struct tn_depth_args d = j->first;
        d.x += image * j->in_pixels * channels;
        d.first = begin - image * j->out_pixels;
        d.count = last - begin;
        run_strip(j, j->w, d, begin, room);
    }
}

/* How many rows of results at a time, and room for what they need; false when it does not fit. */
static bool keep_wide(struct job *j, size_t *floats)
{
    const struct tn_window *w = j->w;
    size_t line, reach = (size_t)((w->kernel[0] - 1) * w->dilation[0]) + 1, s = (size_t)w->stride[0], more;
    if (!tn_mul((size_t)w->in[1], j->first.channels, &line)) return false;
    j->block = line && WIDE / line > reach ? (WIDE / line - reach) / s + 1 : 1;
    j->kept = (j->block - 1) * s + reach;
    if (j->kept > (size_t)w->in[0]) j->kept = (size_t)w->in[0];
    return tn_mul(j->kept, line, &more) && tn_add(*floats, more, floats);
}

static bool run_job(struct tn_run *r, struct job *j)
{
    size_t channels = j->first.channels, floats;
    unsigned threads = tn_last_threads(r, j->images * j->out_pixels, channels * (j->second.maps + 9));
    j->strip = tn_last_strip(channels, j->second.maps);
    if (j->strip < 24) j->strip = 24;
    if (!tn_mul(j->strip, channels, &floats) || !(j->wide.rows == 0 || keep_wide(j, &floats)) || !tn_mul(floats, sizeof(float), &j->share_bytes))
        return tn_run_no_memory(r);
    j->share_bytes = (j->share_bytes + 63) / 64 * 64;
    j->room = tn_run_scratch(r, j->share_bytes, threads);
    if (!j->room) return false;
    tn_pool_run(threads > 1 ? r->pool : NULL, j->wide.rows ? wide_member : pair_member, j, threads);
    tn_heap_give(r->heap, j->room);
    return true;
}

/* What is folded behind the first one, or in front, in the words of ops/epilogue.h. */
static void read_folded(const struct tn_node *node, bool wide, struct tn_epilogue *out)
{
    struct tn_attr attrs[3];
    uint32_t count = 0;
    static const char *const names[3][3] = {{"tenon.first.activation", "tenon.activation", "tenon.wide.activation"},
                                            {"tenon.first.params", "tenon.params", "tenon.wide.params"},
                                            {"tenon.first.line", "tenon.line", "tenon.wide.line"}};
    for (uint32_t i = 0; i < 3; i++) {
        const struct tn_attr *a = tn_node_attr(node, names[i][wide ? 2 : 0]);
        if (!a) continue;
        attrs[count] = *a;
        attrs[count++].name = tn_str_of(names[i][1]);
    }
    tn_epilogue_read(&(struct tn_node){.attrs = attrs, .attr_count = count}, out);
}

static bool check_bias(struct tn_run *r, uint32_t i, int64_t maps, const float **out)
{
    const struct tn_tensor *t = i < r->in_count ? r->in[i] : NULL;
    *out = t ? t->data : NULL;
    if (!t || (t->element == TN_EL_F32 && t->count == (uint64_t)maps)) return true;
    return tn_run_refuse(r, "a number of float32 for each map", "%llu", (unsigned long long)t->count);
}

/* Weights of all parts: those of the state, or packed now into `now`. */
static bool take_weights(struct tn_run *r, const struct tn_last_weights *out[3], struct tn_last_weights *now[3])
{
    const struct pair *state = r->state;
    uint32_t at[3];
    weights_of(r->node, at);
    for (unsigned i = 0; i < 3; i++) {
        out[i] = state ? state->part[i] : NULL;
        now[i] = NULL;
        if (!out[i] && at[i] != TN_NET_NONE && !r->failed) out[i] = now[i] = tn_last_pack_now(r, r->in[at[i]], i == 0);
    }
    return !r->failed;
}

static bool run_pair(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[X], *v = r->in[FIRST], *w = r->in[SECOND];
    const struct tn_last_weights *weights[3];
    struct tn_last_weights *now[3];
    struct tn_epilogue e, first, wide;
    struct tn_window window;
    const float *first_bias, *bias, *wide_bias = NULL;
    uint32_t in_front = wide_of(r->node);
    size_t maps = (size_t)w->dims[0], channels = (size_t)v->dims[0];
    tn_epilogue_read(r->node, &e);
    read_folded(r->node, false, &first);
    read_folded(r->node, true, &wide);
    if (!tn_epilogue_check(r, &e, maps)) return false;
    if (!check_bias(r, FIRST_BIAS, v->dims[0], &first_bias) || !check_bias(r, SECOND_BIAS, w->dims[0], &bias)) return false;
    if (in_front != TN_NET_NONE && !check_bias(r, in_front + 1, v->dims[0], &wide_bias)) return false;
    if (e.bias != TN_NET_NONE) return tn_run_refuse(r, "one bias behind the product", "two");
    if (r->out[0]->count == 0) return true;
    tn_window_read(r->node, 2, &window);
    tn_window_kernel(&window, v->dims + 2);
    tn_window_fit(&window, x->dims + 1);
    bool good = take_weights(r, weights, now);
    if (good) {
        struct job j = {.w = &window, .kernels = r->kernels, .images = (size_t)x->dims[0], .in_pixels = (size_t)(x->dims[1] * x->dims[2]),
                        .out_pixels = (size_t)(window.out[0] * window.out[1])};
        j.first = (struct tn_depth_args){.x = x->data, .channels = channels, .w = weights[0]->data, .bias = first_bias, .after = &first.after,
                                         .zeros = !weights[0]->finite};
        j.second = (struct tn_pixels_args){.x_stride = channels, .k = channels, .packed = weights[1]->data, .bias = bias, .after = &e.after,
                                           .y = r->out[0]->data, .y_stride = maps, .maps = maps, .parts = 1};
        if (weights[2])
            j.wide = (struct tn_pixels_args){.x = x->data, .x_stride = (size_t)x->dims[3], .k = (size_t)x->dims[3], .rows = j.images * j.in_pixels,
                                             .packed = weights[2]->data, .bias = wide_bias, .after = &wide.after, .y_stride = channels, .maps = channels,
                                             .parts = 1};
        good = tn_last_residual(r, &e, &j.second) && run_job(r, &j);
    }
    for (unsigned i = 0; i < 3; i++) tn_heap_give(r->heap, now[i]);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = "tenon", .name = "LastPair", .since = 1, .infer = infer_pair, .run = run_pair, .prepare = prepare_pair, .release = release_pair,
     .lacks = tn_epilogue_lacks},
};

const struct tn_operators tn_ops_conv_last_pair = {rows, sizeof(rows) / sizeof(rows[0])};
