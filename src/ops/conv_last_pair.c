/*
 * A depthwise convolution and the product of 1 x 1 windows behind it, over images whose channels are neighbours: strips of
 * the first one's results stay in the cache, where the second one reads them. exec/patch_pair.c states it. An operator of the
 * domain "tenon", which no file can name.
 *
 *     LastPair  in X [N, H, W, C], V [C, 1, kh, kw], B of V or absent, W [M, C, 1, 1], B of W or absent
 *
 * Window and group are the first one's; what is folded behind the second is stated as ever (ops/epilogue.h), behind the first
 * by the attributes tenon.first.activation, tenon.first.params and tenon.first.line. Bits are those of the two operators.
 */
#include "ops/conv_last.h"

#include "base/checked.h"

enum { X, FIRST, FIRST_BIAS, SECOND, SECOND_BIAS };

static bool infer_pair(struct tn_infer *t)
{
    const struct tn_shape *x, *first, *second;
    struct tn_window w;
    tn_out_unknown(t, 0, TN_EL_F32);
    if (!tn_in_shape(t, X, &x) || !tn_in_shape(t, FIRST, &first) || !tn_in_shape(t, SECOND, &second)) return true;
    if (!tn_last_infer_window(t, x, first, &w)) return false;
    bool fits = second->rank == 4 && second->dims[1] == first->dims[0] && second->dims[2] == 1 && second->dims[3] == 1 && tn_dim_known(second->dims[0]);
    if (!fits || tn_attr_int(t->node, "group", 1) < 2) return tn_infer_refuse(t, "windows for each channel, then one pixel of them all", "other weights");
    return tn_last_infer(t, &w, x, second->dims[0]);
}

/* ---- weights ------------------------------------------------------------------------------------------------------ */

struct pair {
    struct tn_last_weights *first, *second;
};

static void release_pair(struct tn_alloc *alloc, void *state)
{
    struct pair *p = state;
    if (!p) return;
    tn_free(alloc, p->first);
    tn_free(alloc, p->second);
    tn_free(alloc, p);
}

static enum tn_status prepare_pair(struct tn_prepare *p, void **state)
{
    struct pair *to = tn_calloc(p->alloc, 1, sizeof(*to));
    if (!to) return TN_INSUFFICIENT_MEMORY;
    enum tn_status st = tn_last_pack(p, p->in[FIRST], true, &to->first);
    if (!st) st = tn_last_pack(p, p->in[SECOND], false, &to->second);
    if (st) {
        release_pair(p->alloc, to);
        return st;
    }
    p->keep[FIRST] = !to->first;
    p->keep[SECOND] = !to->second;
    *state = to;
    return TN_OK;
}

/* ---- execution ---------------------------------------------------------------------------------------------------- */

struct job {
    const struct tn_window *w;
    const struct tn_kernels *kernels;
    struct tn_depth_args first;
    struct tn_pixels_args second; /* of the whole result */
    size_t images, in_pixels, out_pixels, strip;
    char *room;
    size_t share_bytes;
};

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
        d.y = room;
        d.first = begin - image * j->out_pixels;
        d.count = last - begin;
        tn_last_deep(j->kernels, j->w, d);
        struct tn_pixels_args a = j->second;
        a.x = room;
        a.rows = last - begin;
        a.y += begin * a.y_stride;
        if (a.residual) a.residual += begin * a.residual_stride;
        j->kernels->pixels(&a);
    }
}

static bool run_job(struct tn_run *r, struct job *j)
{
    size_t channels = j->first.channels, floats;
    unsigned threads = tn_last_threads(r, j->images * j->out_pixels, channels * (j->second.maps + 9));
    j->strip = TN_LAST_STRIP / channels / 12 * 12;
    if (j->strip < 24) j->strip = 24;
    if (!tn_mul(j->strip, channels, &floats) || !tn_mul(floats, sizeof(float), &j->share_bytes)) return tn_run_no_memory(r);
    j->share_bytes = (j->share_bytes + 63) / 64 * 64;
    j->room = tn_run_scratch(r, j->share_bytes, threads);
    if (!j->room) return false;
    tn_pool_run(threads > 1 ? r->pool : NULL, pair_member, j, threads);
    tn_heap_give(r->heap, j->room);
    return true;
}

/* What is folded behind the first one, in the words of ops/epilogue.h. */
static void read_first(const struct tn_node *node, struct tn_epilogue *out)
{
    struct tn_attr attrs[3];
    uint32_t count = 0;
    static const char *const names[][2] = {{"tenon.first.activation", "tenon.activation"}, {"tenon.first.params", "tenon.params"},
                                           {"tenon.first.line", "tenon.line"}};
    for (uint32_t i = 0; i < 3; i++) {
        const struct tn_attr *a = tn_node_attr(node, names[i][0]);
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

static bool run_pair(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[X], *v = r->in[FIRST], *w = r->in[SECOND];
    const struct pair *state = r->state;
    struct tn_epilogue e, first;
    struct tn_window window;
    const float *first_bias, *bias;
    size_t maps = (size_t)w->dims[0], channels = (size_t)x->dims[3];
    tn_epilogue_read(r->node, &e);
    read_first(r->node, &first);
    if (!tn_epilogue_check(r, &e, maps)) return false;
    if (!check_bias(r, FIRST_BIAS, v->dims[0], &first_bias) || !check_bias(r, SECOND_BIAS, w->dims[0], &bias)) return false;
    if (e.bias != TN_NET_NONE) return tn_run_refuse(r, "one bias behind the product", "two");
    if (r->out[0]->count == 0) return true;
    tn_window_read(r->node, 2, &window);
    tn_window_kernel(&window, v->dims + 2);
    tn_window_fit(&window, x->dims + 1);
    struct tn_last_weights *v_now = state->first ? NULL : tn_last_pack_now(r, v, true), *w_now = state->second ? NULL : tn_last_pack_now(r, w, false);
    const struct tn_last_weights *deep = state->first ? state->first : v_now, *dense = state->second ? state->second : w_now;
    bool good = !r->failed;
    if (good) {
        struct job j = {.w = &window, .kernels = r->kernels, .images = (size_t)x->dims[0], .in_pixels = (size_t)(x->dims[1] * x->dims[2]),
                        .out_pixels = (size_t)(window.out[0] * window.out[1])};
        j.first = (struct tn_depth_args){.x = x->data, .channels = channels, .w = deep->data, .bias = first_bias, .after = &first.after, .zeros = !deep->finite};
        j.second = (struct tn_pixels_args){.x_stride = channels, .k = channels, .packed = dense->data, .bias = bias, .after = &e.after,
                                           .y = r->out[0]->data, .y_stride = maps, .maps = maps, .parts = 1};
        good = tn_last_residual(r, &e, &j.second) && run_job(r, &j);
    }
    tn_heap_give(r->heap, v_now);
    tn_heap_give(r->heap, w_now);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = "tenon", .name = "LastPair", .since = 1, .infer = infer_pair, .run = run_pair, .prepare = prepare_pair, .release = release_pair,
     .lacks = tn_epilogue_lacks},
};

const struct tn_operators tn_ops_conv_last_pair = {rows, sizeof(rows) / sizeof(rows[0])};
