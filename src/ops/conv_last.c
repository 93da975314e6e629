/*
 * Convolutions over images whose channels are neighbours, [N, H, W, C]: exec/patch_last.c states them where a chain surrounds
 * depthwise windows. An operator of the domain "tenon", which no file can name; attributes, weights and what is folded in
 * (ops/epilogue.h) are Conv's, residuals lie as the result does.
 *
 *     LastConv  in X [N, H, W, C], W [M, C / group, kh, kw], B [M] or absent; group is 1, or C with as many maps
 *
 * A window without dilation is read as it lies: neighbouring results begin at neighbouring pixels, and each row of the
 * window is one piece of the product's row. Only results at the left and right border are laid out. Windows of stride 1 that
 * ops/filter.h takes are filtered.
 *
 *     tenon.factor  integer  index of an operand [N, 1, 1, C] that the channels of X are multiplied by, each rounded, before
 *                            windows of one pixel that stand on every input
 */
#include "ops/conv_last.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- inference ---------------------------------------------------------------------------------------------------- */

bool tn_last_infer(struct tn_infer *t, const struct tn_window *w, const struct tn_shape *x, tn_dim_t maps)
{
    struct tn_shape y = *x;
    const char *bad = NULL;
    y.dims[3] = maps;
    for (uint32_t i = 0; !bad && i < 2; i++) y.dims[i + 1] = tn_window_dim(w, t->symbols, i, x->dims[i + 1], &bad);
    if (bad) return tn_infer_refuse(t, bad, "attributes or a shape that do not fit");
    tn_out_tensor(t, 0, TN_EL_F32, 4, y.dims);
    return true;
}

bool tn_last_infer_window(struct tn_infer *t, const struct tn_shape *x, const struct tn_shape *weights, struct tn_window *w)
{
    int64_t groups = tn_attr_int(t->node, "group", 1);
    bool deep = groups > 1;
    if (x->rank != 4 || weights->rank != 4) return tn_infer_refuse(t, "images and weights of rank 4", "ranks %u and %u", x->rank, weights->rank);
    for (uint32_t i = 0; i < 4; i++) {
        if (!tn_dim_known(weights->dims[i]) || weights->dims[i] < 1) return tn_infer_refuse(t, "weights of known shape, with elements", "another shape");
    }
    if (tn_dim_known(x->dims[3]) && (deep ? groups != x->dims[3] : weights->dims[1] != x->dims[3]))
        return tn_infer_refuse(t, "as many channels as the weights have", "%lld", (long long)x->dims[3]);
    if (deep && (weights->dims[1] != 1 || weights->dims[0] != groups)) return tn_infer_refuse(t, "one window for each channel", "%lld groups", (long long)groups);
    const char *bad = tn_window_read(t->node, 2, w);
    if (!bad) bad = tn_window_kernel(w, weights->dims + 2);
    return !bad || tn_infer_refuse(t, bad, "attributes or a shape that do not fit");
}

static bool infer_conv(struct tn_infer *t)
{
    const struct tn_shape *x, *weights;
    struct tn_window w;
    tn_out_unknown(t, 0, TN_EL_F32);
    if (!tn_in_shape(t, 0, &x) || !tn_in_shape(t, 1, &weights)) return true;
    return tn_last_infer_window(t, x, weights, &w) && tn_last_infer(t, &w, x, weights->dims[0]);
}

/* ---- weights ------------------------------------------------------------------------------------------------------ */

enum { HEAD = 64 };
_Static_assert(sizeof(struct tn_last_weights) <= HEAD, "the head stands in front of the weights");

static bool weight_bytes(const struct tn_kernels *k, const struct tn_tensor *w, bool deep, size_t *bytes)
{
    if (deep) return tn_mul((size_t)w->count, sizeof(float), bytes) && tn_add(*bytes, HEAD, bytes);
    return k->pixels_pack_size((size_t)w->dims[0], (size_t)(w->count / (uint64_t)w->dims[0]), bytes) && tn_add(*bytes, HEAD, bytes);
}

static void turn_weights(const struct tn_tensor *w, bool deep, float *to)
{
    const float *from = w->data;
    size_t maps = (size_t)w->dims[0], channels = (size_t)w->dims[1], taps = (size_t)(w->dims[2] * w->dims[3]);
    for (size_t m = 0; m < maps; m++) {
        for (size_t c = 0; c < channels; c++) {
            for (size_t t = 0; t < taps; t++) to[deep ? t * maps + m : (m * taps + t) * channels + c] = from[(m * channels + c) * taps + t];
        }
    }
}

/* `between` has room for the weights, when there are several taps and channels. */
static void pack_weights(const struct tn_kernels *k, const struct tn_tensor *w, bool deep, float *between, struct tn_last_weights *to)
{
    const float *from = w->data;
    size_t maps = (size_t)w->dims[0];
    *to = (struct tn_last_weights){.deep = deep, .finite = true, .data = (float *)(void *)((char *)to + HEAD)};
    for (uint64_t i = 0; i < w->count; i++) to->finite = to->finite && isfinite(from[i]);
    if (deep) {
        turn_weights(w, true, to->data);
        return;
    }
    if (between) turn_weights(w, false, between);
    k->pixels_pack(between ? between : from, TN_FLOAT_F32, maps, (size_t)w->count / maps, to->data, 0, 1);
}

static bool needs_turning(const struct tn_tensor *w, bool deep)
{
    return !deep && w->dims[2] * w->dims[3] > 1 && w->dims[1] > 1;
}

enum tn_status tn_last_pack(struct tn_prepare *p, const struct tn_tensor *w, bool deep, struct tn_last_weights **out)
{
    size_t bytes;
    if (!w || w->rank != 4 || w->count == 0 || w->element != TN_EL_F32) return TN_OK;
    if (!weight_bytes(p->kernels, w, deep, &bytes)) return TN_INSUFFICIENT_MEMORY;
    struct tn_last_weights *to = tn_malloc_aligned(p->alloc, bytes, 64);
    float *between = needs_turning(w, deep) ? tn_malloc(p->alloc, (size_t)w->count * sizeof(float)) : NULL;
    bool good = to && (between || !needs_turning(w, deep));
    if (good) pack_weights(p->kernels, w, deep, between, to);
    tn_free(p->alloc, between);
    if (!good) {
        tn_free(p->alloc, to);
        return TN_INSUFFICIENT_MEMORY;
    }
    *out = to;
    return TN_OK;
}

struct tn_last_weights *tn_last_pack_now(struct tn_run *r, const struct tn_tensor *w, bool deep)
{
    size_t bytes;
    if (!weight_bytes(r->kernels, w, deep, &bytes)) {
        tn_run_no_memory(r);
        return NULL;
    }
    struct tn_last_weights *to = tn_run_scratch(r, bytes, 1);
    float *between = to && needs_turning(w, deep) ? tn_run_scratch(r, (size_t)w->count, sizeof(float)) : NULL;
    if (to && (between || !needs_turning(w, deep))) pack_weights(r->kernels, w, deep, between, to);
    tn_heap_give(r->heap, between);
    if (!r->failed) return to;
    tn_heap_give(r->heap, to);
    return NULL;
}

static enum tn_status pack_filtered(struct tn_prepare *p, enum tn_filter form, struct tn_last_weights **out)
{
    size_t bytes;
    if (!tn_filter_bytes(p->kernels, form, p->in[1], &bytes) || !tn_add(bytes, HEAD, &bytes)) return TN_INSUFFICIENT_MEMORY;
    struct tn_last_weights *to = tn_malloc_aligned(p->alloc, bytes, 64);
    if (!to) return TN_INSUFFICIENT_MEMORY;
    *to = (struct tn_last_weights){.finite = true, .filtered = true, .form = form, .data = (float *)(void *)((char *)to + HEAD)};
    tn_filter_pack(p, form, p->in[1], to->data);
    *out = to;
    return TN_OK;
}

static enum tn_status prepare_conv(struct tn_prepare *p, void **state)
{
    struct tn_last_weights *to = NULL;
    enum tn_filter form;
    bool filtered = p->in[1] && p->in[1]->rank == 4 && p->in[1]->count && tn_filter_pays(p->node, p->in[1], &form);
    enum tn_status st = filtered ? pack_filtered(p, form, &to) : tn_last_pack(p, p->in[1], tn_attr_int(p->node, "group", 1) > 1, &to);
    p->keep[1] = !to;
    *state = to;
    return st;
}

static void release_conv(struct tn_alloc *alloc, void *state)
{
    tn_free(alloc, state);
}

/* ---- convolution -------------------------------------------------------------------------------------------------- */

struct job {
    const struct tn_window *w;
    const struct tn_kernels *kernels;
    const struct tn_last_weights *weights;
    const float *x, *factor;     /* or NULL */
    struct tn_pixels_args all;   /* of the whole result: bias, after, residual, y */
    size_t images, channels, in_pixels, out_pixels;
    char *room;
    size_t share_bytes;
};

unsigned tn_last_threads(const struct tn_run *r, size_t results, size_t each)
{
    enum { LITTLE = 1 << 15 };
    return r->threads < 2 || results < LITTLE / each + 1 ? 1 : r->threads;
}

/* Rows [begin, begin + count) of the product, which begin at x. */
static struct tn_pixels_args rows_of(const struct job *j, const float *x, size_t begin, size_t count)
{
    struct tn_pixels_args a = j->all;
    a.x = x;
    a.rows = count;
    a.y += begin * a.y_stride;
    if (a.residual) a.residual += begin * a.residual_stride;
    return a;
}

/* Strips of rows times the factors of their image, then their products. */
static void factor_rows(const struct job *j, size_t begin, size_t end, unsigned part, unsigned parts, float *room)
{
    const size_t c = j->channels;
    size_t most = tn_last_strip(c, j->all.maps);
    if (most < 12) most = 12;
    for (size_t at = begin, last; at < end; at = last) {
        size_t image = at / j->out_pixels;
        const float *f = j->factor + image * c;
        last = end - at < most ? end : at + most;
        if (last > (image + 1) * j->out_pixels) last = (image + 1) * j->out_pixels;
        for (size_t row = at; row < last; row++) {
            const float *x = j->x + row * c;
            float *to = room + (row - at) * c;
            for (size_t i = 0; i < c; i++) to[i] = x[i] * f[i];
        }
        struct tn_pixels_args a = rows_of(j, room, at, last - at);
        a.part = part;
        a.parts = parts;
        j->kernels->pixels(&a);
    }
}

/* Windows of one pixel. Shares of rows or of maps: what all threads read should be the smaller of the two operands. */
static void direct_member(void *user, unsigned rank, unsigned size)
{
    const struct job *j = user;
    size_t rows = j->images * j->out_pixels, begin = 0, end = rows;
    bool by_maps = rows < j->all.maps;
    if (!by_maps) tn_share(rows, rank, size, &begin, &end);
    if (begin == end) return;
    if (j->factor) {
        factor_rows(j, begin, end, by_maps ? rank : 0, by_maps ? size : 1, (float *)(void *)(j->room + rank * j->share_bytes));
        return;
    }
    struct tn_pixels_args a = rows_of(j, j->x + begin * j->channels, begin, end - begin);
    a.part = by_maps ? rank : 0;
    a.parts = by_maps ? size : 1;
    j->kernels->pixels(&a);
}

/* The inputs under one result, row by row of the window. */
static void lay_out(const struct job *j, const float *image, int64_t top, int64_t left, float *to)
{
    const struct tn_window *w = j->w;
    const size_t c = j->channels;
    for (int64_t i = 0; i < w->kernel[0]; i++) {
        int64_t row = top + i * w->dilation[0];
        for (int64_t k = 0; k < w->kernel[1]; k++, to += c) {
            int64_t column = left + k * w->dilation[1];
            bool met = row >= 0 && row < w->in[0] && column >= 0 && column < w->in[1];
            const float *from = met ? image + (size_t)(row * w->in[1] + column) * c : NULL;
            for (size_t n = 0; n < c; n++) to[n] = met ? from[n] : 0;
        }
    }
}

/* Results [begin, end) of one row of results, the first of all being `first`. */
static void window_row(const struct job *j, const float *image, int64_t row, int64_t begin, int64_t end, size_t first, float *room)
{
    const struct tn_window *w = j->w;
    const size_t c = j->channels;
    int64_t top = row * w->stride[0] - w->begin[0], s = w->stride[1];
    int64_t lo = (w->begin[1] + s - 1) / s, hi = (w->in[1] + w->begin[1] - w->kernel[1]) / s + 1; /* whose windows lie inside */
    bool inside = top >= 0 && top + (w->kernel[0] - 1) * w->dilation[0] < w->in[0] && w->dilation[1] == 1 && w->in[1] + w->begin[1] >= w->kernel[1];
    for (int64_t at = begin, last; at < end; at = last) {
        if (inside && at >= lo && at < hi) {
            last = end < hi ? end : hi;
            struct tn_pixels_args a = rows_of(j, image + (size_t)(top * w->in[1] + at * s - w->begin[1]) * c, first + (size_t)at, (size_t)(last - at));
            a.x_stride = (size_t)s * c;
            a.segments = (size_t)w->kernel[0];
            a.segment_stride = (size_t)(w->dilation[0] * w->in[1]) * c;
            j->kernels->pixels(&a);
            continue;
        }
        int64_t most = (int64_t)(j->share_bytes / sizeof(float) / j->all.k);
        last = inside && at < lo ? lo : end;
        if (last > end) last = end;
        if (last - at > most) last = at + most;
        for (int64_t p = at; p < last; p++) lay_out(j, image, top, p * s - w->begin[1], room + (size_t)(p - at) * j->all.k);
        struct tn_pixels_args a = rows_of(j, room, first + (size_t)at, (size_t)(last - at));
        a.x_stride = j->all.k;
        j->kernels->pixels(&a);
    }
}

static void window_member(void *user, unsigned rank, unsigned size)
{
    const struct job *j = user;
    const size_t width = (size_t)j->w->out[1];
    size_t begin, end;
    tn_share(j->images * j->out_pixels, rank, size, &begin, &end);
    for (size_t at = begin; at < end;) {
        size_t row = at / width, column = at - row * width, last = end - at < width - column ? column + (end - at) : width;
        size_t image = at / j->out_pixels;
        window_row(j, j->x + image * j->in_pixels * j->channels, (int64_t)(row - image * (j->out_pixels / width)), (int64_t)column, (int64_t)last,
                   row * width, (float *)(void *)(j->room + rank * j->share_bytes));
        at += last - column;
    }
}

void tn_last_deep(const struct tn_kernels *kernels, const struct tn_window *w, struct tn_depth_args a)
{
    a.height = (size_t)w->in[0];
    a.width = (size_t)w->in[1];
    a.top = (ptrdiff_t)w->begin[0];
    a.left = (ptrdiff_t)w->begin[1];
    a.kernel_height = (size_t)w->kernel[0];
    a.kernel_width = (size_t)w->kernel[1];
    a.stride_down = (size_t)w->stride[0];
    a.stride_across = (size_t)w->stride[1];
    a.dilation_down = (size_t)w->dilation[0];
    a.dilation_across = (size_t)w->dilation[1];
    a.out_width = (size_t)w->out[1];
    kernels->depth(&a);
}

/* Its residual is as wide as the result: patches narrow those of products. */
static void deep_member(void *user, unsigned rank, unsigned size)
{
    const struct job *j = user;
    size_t begin, end;
    tn_share(j->images * j->out_pixels, rank, size, &begin, &end);
    for (size_t last; begin < end; begin = last) {
        size_t image = begin / j->out_pixels;
        last = (image + 1) * j->out_pixels < end ? (image + 1) * j->out_pixels : end;
        struct tn_pixels_args a = rows_of(j, j->x + image * j->in_pixels * j->channels, begin, last - begin);
        tn_last_deep(j->kernels, j->w, (struct tn_depth_args){.x = a.x, .channels = j->channels, .w = j->weights->data, .bias = a.bias, .after = a.after,
                                                              .residual = a.residual, .y = a.y, .first = begin - image * j->out_pixels,
                                                              .count = last - begin, .zeros = !j->weights->finite});
    }
}

bool tn_last_residual(struct tn_run *r, const struct tn_epilogue *e, struct tn_pixels_args *a)
{
    const struct tn_attr *narrow = tn_node_attr(r->node, "tenon.narrow");
    const struct tn_tensor *y = r->out[0], *z = e->residual == TN_NET_NONE ? NULL : r->in[e->residual];
    if (narrow) {
        z = narrow->as.i >= 0 && narrow->as.i < r->in_count ? r->in[narrow->as.i] : NULL;
        bool fits = z && z->element == TN_EL_F32 && z->rank == 4 && z->dims[0] == y->dims[0] && z->dims[1] == y->dims[1] && z->dims[2] == y->dims[2] &&
                    z->dims[3] <= y->dims[3];
        if (!fits) return tn_run_refuse(r, "a narrow addend with the result's pixels", "another shape");
    }
    a->residual = z ? z->data : NULL;
    a->residual_stride = a->residual_maps = z ? (size_t)z->dims[3] : 0;
    return true;
}

static bool one_by_one(const struct tn_window *w)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (w->kernel[i] != 1 || w->stride[i] != 1 || w->begin[i] || w->end[i]) return false;
    }
    return true;
}

static bool run_job(struct tn_run *r, struct job *j)
{
    const bool deep = j->weights->deep, direct = !deep && one_by_one(j->w);
    size_t most = j->factor ? tn_last_strip(j->all.k, j->all.maps) : TN_LAST_STRIP / j->all.k / 12 * 12, floats;
    unsigned threads = tn_last_threads(r, j->images * j->out_pixels * (deep ? j->channels : 1), deep ? j->all.k : j->all.k * j->all.maps);
    if (deep && j->all.residual && j->all.residual_maps != j->all.maps) return tn_run_refuse(r, "an addend as wide as the result", "a narrow one");
    if (j->factor && !direct) return tn_run_refuse(r, "windows of one pixel behind a factor", "others");
    if (!deep && (!direct || j->factor)) {
        if (!tn_mul(most < 12 ? 12 : most, j->all.k, &floats) || !tn_mul(floats, sizeof(float), &floats)) return tn_run_no_memory(r);
        j->share_bytes = (floats + 63) / 64 * 64;
        j->room = tn_run_scratch(r, j->share_bytes, threads);
        if (!j->room) return false;
    }
    tn_pool_run(threads > 1 ? r->pool : NULL, deep ? deep_member : direct ? direct_member : window_member, j, threads);
    tn_heap_give(r->heap, j->room);
    return true;
}

static bool run_filtered(struct tn_run *r, const struct job *j)
{
    struct tn_filter_job f = {.images = j->images, .x_pixels = j->in_pixels, .y_pixels = j->out_pixels};
    if (j->factor) return tn_run_refuse(r, "windows of one pixel behind a factor", "others");
    f.a = (struct tn_filter_args){.x = j->x, .channels = j->channels, .packed = j->weights->data, .bias = j->all.bias, .after = j->all.after,
                                  .residual = j->all.residual, .residual_maps = j->all.residual_maps, .y = j->all.y, .maps = j->all.maps};
    tn_filter_place(j->w, j->weights->form, &f.a);
    return tn_filter_run(r, &f);
}

/* Both biases, when there are two, in *sum. */
static const float *biases_of(struct tn_run *r, const struct tn_epilogue *e, size_t maps, float **sum)
{
    const struct tn_tensor *own = r->in_count > 2 ? r->in[2] : NULL, *folded = e->bias == TN_NET_NONE ? NULL : r->in[e->bias];
    *sum = NULL;
    if (!own || !folded) return own ? own->data : folded ? folded->data : NULL;
    *sum = tn_run_scratch(r, maps, sizeof(float));
    for (size_t i = 0; *sum && i < maps; i++) (*sum)[i] = ((const float *)own->data)[i] + ((const float *)folded->data)[i];
    return *sum;
}

static bool factor_of(struct tn_run *r, const float **out)
{
    const struct tn_attr *a = tn_node_attr(r->node, "tenon.factor");
    *out = NULL;
    if (!a) return true;
    const struct tn_tensor *f = a->as.i >= 0 && a->as.i < r->in_count ? r->in[a->as.i] : NULL, *x = r->in[0];
    bool fits = f && f->element == TN_EL_F32 && f->rank == 4 && f->dims[0] == x->dims[0] && f->dims[1] == 1 && f->dims[2] == 1 && f->dims[3] == x->dims[3];
    *out = fits ? f->data : NULL;
    return fits || tn_run_refuse(r, "a factor for each channel of an image", "another shape");
}

static bool run_conv(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0], *w = r->in[1], *own = r->in_count > 2 ? r->in[2] : NULL;
    struct tn_epilogue e;
    struct tn_window window;
    const float *factor;
    float *sum = NULL;
    size_t maps = (size_t)w->dims[0];
    tn_epilogue_read(r->node, &e);
    if (!tn_epilogue_check(r, &e, maps) || !factor_of(r, &factor)) return false;
    if (own && own->count != maps) return tn_run_refuse(r, "one bias for each map", "%llu", (unsigned long long)own->count);
    if (e.bias != TN_NET_NONE && r->in[e.bias]->element != TN_EL_F32) return tn_run_refuse(r, "a bias of float32", "another type");
    if (r->out[0]->count == 0) return true;
    tn_window_read(r->node, 2, &window);
    tn_window_kernel(&window, w->dims + 2);
    tn_window_fit(&window, x->dims + 1);
    struct tn_last_weights *now = r->state ? NULL : tn_last_pack_now(r, w, tn_attr_int(r->node, "group", 1) > 1);
    const float *bias = biases_of(r, &e, maps, &sum);
    struct job j = {.w = &window, .kernels = r->kernels, .weights = r->state ? r->state : now, .x = x->data, .factor = factor, .images = (size_t)x->dims[0],
                    .channels = (size_t)x->dims[3], .in_pixels = (size_t)(x->dims[1] * x->dims[2]), .out_pixels = (size_t)(window.out[0] * window.out[1])};
    bool good = !r->failed;
    if (good) {
        j.all = (struct tn_pixels_args){.x_stride = j.channels, .k = (size_t)(w->dims[1] * w->dims[2] * w->dims[3]), .packed = j.weights->data, .bias = bias,
                                        .after = &e.after, .y = r->out[0]->data, .y_stride = maps, .maps = maps, .parts = 1};
        good = tn_last_residual(r, &e, &j.all) && (j.weights->filtered ? run_filtered(r, &j) : run_job(r, &j));
    }
    tn_heap_give(r->heap, sum);
    tn_heap_give(r->heap, now);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = "tenon", .name = "LastConv", .since = 1, .infer = infer_conv, .run = run_conv, .prepare = prepare_conv, .release = release_conv,
     .lacks = tn_epilogue_lacks},
};

const struct tn_operators tn_ops_conv_last = {rows, sizeof(rows) / sizeof(rows[0])};
