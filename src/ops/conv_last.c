/*
 * Convolutions and pools over images whose channels are neighbours, [N, H, W, C]: exec/patch_last.c states them where a chain
 * of them surrounds depthwise windows. Operators of the domain "tenon", which no file can name; attributes, weights and what
 * is folded in (ops/epilogue.h) are those of the operators that they stand for, residuals lie as the result does.
 *
 *     LastConv     in X [N, H, W, C], W [M, C / group, kh, kw], B [M] or absent; group is 1, or C with as many maps
 *     LastMaxPool  in X
 *     LastAverage  in X; the mean of each channel of an image, [N, 1, 1, C]
 */
#include "ops/conv.h"
#include "ops/epilogue.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- inference ---------------------------------------------------------------------------------------------------- */

static bool window_shape(struct tn_infer *t, struct tn_window *w, const struct tn_shape *x, tn_dim_t maps)
{
    struct tn_shape y = *x;
    const char *bad = NULL;
    y.dims[3] = maps;
    for (uint32_t i = 0; !bad && i < 2; i++) y.dims[i + 1] = tn_window_dim(w, t->symbols, i, x->dims[i + 1], &bad);
    if (bad) return tn_infer_refuse(t, bad, "attributes or a shape that do not fit");
    tn_out_tensor(t, 0, TN_EL_F32, 4, y.dims);
    return true;
}

static bool infer_conv(struct tn_infer *t)
{
    const struct tn_shape *x, *weights;
    struct tn_window w;
    int64_t groups = tn_attr_int(t->node, "group", 1);
    tn_out_unknown(t, 0, TN_EL_F32);
    if (!tn_in_shape(t, 0, &x) || !tn_in_shape(t, 1, &weights)) return true;
    if (x->rank != 4 || weights->rank != 4) return tn_infer_refuse(t, "images and weights of rank 4", "ranks %u and %u", x->rank, weights->rank);
    for (uint32_t i = 0; i < 4; i++) {
        if (!tn_dim_known(weights->dims[i])) return true;
    }
    bool deep = groups > 1;
    if (tn_dim_known(x->dims[3]) && (deep ? groups != x->dims[3] : weights->dims[1] != x->dims[3]))
        return tn_infer_refuse(t, "as many channels as the weights have", "%lld", (long long)x->dims[3]);
    if (deep && (weights->dims[1] != 1 || weights->dims[0] != groups)) return tn_infer_refuse(t, "one window for each channel", "%lld groups", (long long)groups);
    const char *bad = tn_window_read(t->node, 2, &w);
    if (!bad) bad = tn_window_kernel(&w, weights->dims + 2);
    if (bad) return tn_infer_refuse(t, bad, "attributes or a shape that do not fit");
    return window_shape(t, &w, x, weights->dims[0]);
}

static bool infer_max(struct tn_infer *t)
{
    const struct tn_shape *x;
    struct tn_window w;
    tn_out_unknown(t, 0, TN_EL_F32);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank != 4) return tn_infer_refuse(t, "images of rank 4", "rank %u", x->rank);
    const char *bad = tn_window_read(t->node, 2, &w);
    if (!bad && !w.has_kernel) bad = "a kernel_shape";
    if (bad) return tn_infer_refuse(t, bad, "attributes or a shape that do not fit");
    return window_shape(t, &w, x, x->dims[3]);
}

static bool infer_average(struct tn_infer *t)
{
    const struct tn_shape *x;
    tn_out_unknown(t, 0, TN_EL_F32);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank != 4) return tn_infer_refuse(t, "images of rank 4", "rank %u", x->rank);
    tn_out_tensor(t, 0, TN_EL_F32, 4, (tn_dim_t[]){x->dims[0], 1, 1, x->dims[3]});
    return true;
}

/* ---- weights ------------------------------------------------------------------------------------------------------ */

struct last {
    bool deep, finite;
    float *data; /* [taps][channels], or what pixels_pack has made of [maps][taps][channels] */
};

enum { HEAD = 64 };
_Static_assert(sizeof(struct last) <= HEAD, "the head stands in front of the weights");

static bool last_bytes(const struct tn_kernels *k, const struct tn_tensor *w, bool deep, size_t *bytes)
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
static void pack_last(const struct tn_kernels *k, const struct tn_tensor *w, bool deep, float *between, struct last *to)
{
    const float *from = w->data;
    size_t maps = (size_t)w->dims[0];
    *to = (struct last){deep, true, (float *)(void *)((char *)to + HEAD)};
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

static enum tn_status prepare_conv(struct tn_prepare *p, void **state)
{
    const struct tn_tensor *w = p->in[1];
    size_t bytes;
    if (!w || w->rank != 4 || w->count == 0 || w->element != TN_EL_F32) return TN_OK;
    bool deep = tn_attr_int(p->node, "group", 1) > 1;
    if (!last_bytes(p->kernels, w, deep, &bytes)) return TN_INSUFFICIENT_MEMORY;
    struct last *to = tn_malloc_aligned(p->alloc, bytes, 64);
    float *between = needs_turning(w, deep) ? tn_malloc(p->alloc, (size_t)w->count * sizeof(float)) : NULL;
    bool good = to && (between || !needs_turning(w, deep));
    if (good) pack_last(p->kernels, w, deep, between, to);
    tn_free(p->alloc, between);
    if (!good) {
        tn_free(p->alloc, to);
        return TN_INSUFFICIENT_MEMORY;
    }
    p->keep[1] = false;
    *state = to;
    return TN_OK;
}

static void release_conv(struct tn_alloc *alloc, void *state)
{
    tn_free(alloc, state);
}

/* Of weights that come with the call. NULL with the failure set; give it back. */
static struct last *pack_now(struct tn_run *r, bool deep)
{
    const struct tn_tensor *w = r->in[1];
    size_t bytes;
    if (!last_bytes(r->kernels, w, deep, &bytes)) {
        tn_run_no_memory(r);
        return NULL;
    }
    struct last *to = tn_run_scratch(r, bytes, 1);
    float *between = to && needs_turning(w, deep) ? tn_run_scratch(r, (size_t)w->count, sizeof(float)) : NULL;
    if (to && (between || !needs_turning(w, deep))) pack_last(r->kernels, w, deep, between, to);
    tn_heap_give(r->heap, between);
    if (!r->failed) return to;
    tn_heap_give(r->heap, to);
    return NULL;
}

/* ---- convolution -------------------------------------------------------------------------------------------------- */

enum {
    COLUMNS = 12 << 10, /* floats of a strip's columns: some of a small L2 cache */
    LITTLE = 1 << 15,   /* multiply-adds that one thread does sooner than two */
};

struct job {
    const struct tn_kernels *kernels;
    const struct tn_window *w;
    const struct last *weights;
    const struct tn_after *after;
    const float *x, *bias, *residual;
    float *y;
    size_t images, channels, maps, depth;
    size_t in_pixels, out_pixels;
    size_t strip, strips; /* results of one; how many of an image */
    char *room;
    size_t share_bytes;
};

/* Rows of products and maps among `size` members: whichever is read by all of them should be the smaller. */
static void direct_member(void *user, unsigned rank, unsigned size)
{
    const struct job *j = user;
    size_t rows = j->images * j->out_pixels, begin = 0, end = rows;
    bool by_maps = rows < j->maps;
    if (!by_maps) tn_share(rows, rank, size, &begin, &end);
    struct tn_pixels_args a = {.x = j->x + begin * j->depth, .x_stride = j->depth, .rows = end - begin, .k = j->depth, .packed = j->weights->data,
                               .bias = j->bias, .after = j->after, .residual = j->residual ? j->residual + begin * j->maps : NULL,
                               .residual_stride = j->maps, .residual_maps = j->maps, .y = j->y + begin * j->maps, .y_stride = j->maps, .maps = j->maps,
                               .part = by_maps ? rank : 0, .parts = by_maps ? size : 1};
    if (a.rows) j->kernels->pixels(&a);
}

/* One row of a window: `count` floats at `x`, of which `room` are readable; as many as `wide` of them may be written. */
static void copy_few(float *to, const float *x, size_t count, size_t room, size_t wide)
{
    if (count <= 16 && room >= 16 && wide >= 16) {
        memcpy(to, x, 16 * sizeof(*to));
    } else {
        for (size_t i = 0; i < count; i++) to[i] = x[i];
    }
}

/* The inputs under result `pixel` of an image, row by row of the window. `wide` floats behind may be written. */
static void column_of(const struct job *j, const float *image, size_t pixel, float *to, size_t wide)
{
    const struct tn_window *w = j->w;
    const size_t c = j->channels, width = (size_t)w->in[1], kernel = (size_t)w->kernel[1];
    int64_t top = (int64_t)(pixel / (size_t)w->out[1]) * w->stride[0] - w->begin[0];
    int64_t left = (int64_t)(pixel % (size_t)w->out[1]) * w->stride[1] - w->begin[1];
    bool inside = w->dilation[1] == 1 && left >= 0 && left + (int64_t)kernel <= w->in[1];
    for (int64_t i = 0; i < w->kernel[0]; i++, to += kernel * c) {
        int64_t row = top + i * w->dilation[0];
        size_t behind = (size_t)(w->kernel[0] - i) * kernel * c + wide;
        if (row < 0 || row >= w->in[0]) {
            memset(to, 0, kernel * c * sizeof(*to));
        } else if (inside) {
            size_t at = ((size_t)row * width + (size_t)left) * c;
            copy_few(to, image + at, kernel * c, j->in_pixels * c - at, behind);
        } else {
            for (size_t k = 0; k < kernel; k++) {
                int64_t at = left + (int64_t)k * w->dilation[1];
                bool met = at >= 0 && at < w->in[1];
                const float *from = image + ((size_t)row * width + (met ? (size_t)at : 0)) * c;
                for (size_t n = 0; n < c; n++) to[k * c + n] = met ? from[n] : 0;
            }
        }
    }
}

static void strip_member(void *user, unsigned rank, unsigned size)
{
    const struct job *j = user;
    float *room = (float *)(void *)(j->room + rank * j->share_bytes);
    size_t begin, end;
    tn_share(j->images * j->strips, rank, size, &begin, &end);
    for (size_t item = begin; item < end; item++) {
        size_t image = item / j->strips, from, to;
        tn_share(j->out_pixels, (unsigned)(item % j->strips), (unsigned)j->strips, &from, &to);
        const float *x = j->x + image * j->in_pixels * j->channels;
        for (size_t p = from; p < to; p++) column_of(j, x, p, room + (p - from) * j->depth, (to - 1 - p) * j->depth);
        size_t at = (image * j->out_pixels + from) * j->maps;
        struct tn_pixels_args a = {.x = room, .x_stride = j->depth, .rows = to - from, .k = j->depth, .packed = j->weights->data, .bias = j->bias,
                                   .after = j->after, .residual = j->residual ? j->residual + at : NULL, .residual_stride = j->maps,
                                   .residual_maps = j->maps, .y = j->y + at, .y_stride = j->maps, .maps = j->maps, .parts = 1};
        if (a.rows) j->kernels->pixels(&a);
    }
}

static void deep_member(void *user, unsigned rank, unsigned size)
{
    const struct job *j = user;
    const struct tn_window *w = j->w;
    size_t begin, end;
    tn_share(j->images * j->out_pixels, rank, size, &begin, &end);
    while (begin < end) {
        size_t image = begin / j->out_pixels, last = (image + 1) * j->out_pixels < end ? (image + 1) * j->out_pixels : end;
        struct tn_depth_args a = {.x = j->x + image * j->in_pixels * j->channels, .height = (size_t)w->in[0], .width = (size_t)w->in[1],
                                  .channels = j->channels, .top = (ptrdiff_t)w->begin[0], .left = (ptrdiff_t)w->begin[1],
                                  .kernel_height = (size_t)w->kernel[0], .kernel_width = (size_t)w->kernel[1],
                                  .stride_down = (size_t)w->stride[0], .stride_across = (size_t)w->stride[1],
                                  .dilation_down = (size_t)w->dilation[0], .dilation_across = (size_t)w->dilation[1], .w = j->weights->data,
                                  .bias = j->bias, .after = j->after, .residual = j->residual ? j->residual + begin * j->channels : NULL,
                                  .y = j->y + begin * j->channels, .out_width = (size_t)w->out[1], .first = begin - image * j->out_pixels,
                                  .count = last - begin, .zeros = !j->weights->finite};
        j->kernels->depth(&a);
        begin = last;
    }
}

static bool run_strips(struct tn_run *r, struct job *j, unsigned threads)
{
    size_t rows = COLUMNS / j->depth / 12 * 12, floats;
    if (rows < 24) rows = 24;
    j->strips = (j->out_pixels + rows - 1) / rows;
    if (j->images == 1) j->strips = (j->strips + threads - 1) / threads * threads;
    if (j->strips > UINT32_MAX) return tn_run_refuse(r, "fewer results of a convolution", "%zu", j->out_pixels);
    j->strip = j->out_pixels / j->strips + 1;
    if (!tn_mul(j->strip, j->depth, &floats) || !tn_mul(floats, sizeof(float), &j->share_bytes)) return tn_run_no_memory(r);
    j->share_bytes = (j->share_bytes + 127) / 64 * 64;
    j->room = tn_run_scratch(r, j->share_bytes, threads);
    if (!j->room) return false;
    tn_pool_run(threads > 1 ? r->pool : NULL, strip_member, j, threads);
    tn_heap_give(r->heap, j->room);
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
    size_t each = j->weights->deep ? j->depth : j->depth * j->maps;
    unsigned threads = r->threads ? r->threads : 1;
    size_t results = j->images * j->out_pixels * (j->weights->deep ? j->channels : 1);
    if (results < LITTLE / each + 1) threads = 1;
    if (!j->weights->deep && !one_by_one(j->w)) return run_strips(r, j, threads);
    tn_pool_run(threads > 1 ? r->pool : NULL, j->weights->deep ? deep_member : direct_member, j, threads);
    return true;
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

static bool run_conv(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0], *w = r->in[1], *own = r->in_count > 2 ? r->in[2] : NULL;
    struct tn_epilogue e;
    struct tn_window window;
    float *sum = NULL;
    size_t maps = (size_t)w->dims[0];
    tn_epilogue_read(r->node, &e);
    if (!tn_epilogue_check(r, &e, maps)) return false;
    if (own && own->count != maps) return tn_run_refuse(r, "one bias for each map", "%llu", (unsigned long long)own->count);
    if (e.bias != TN_NET_NONE && r->in[e.bias]->element != TN_EL_F32) return tn_run_refuse(r, "a bias of float32", "another type");
    if (r->out[0]->count == 0) return true;
    tn_window_read(r->node, 2, &window);
    tn_window_kernel(&window, w->dims + 2);
    tn_window_fit(&window, x->dims + 1);
    bool deep = tn_attr_int(r->node, "group", 1) > 1;
    size_t each = (size_t)(w->dims[1] * w->dims[2] * w->dims[3]);
    if (each == 0) return tn_run_refuse(r, "weights with elements", "none");
    struct last *now = r->state ? NULL : pack_now(r, deep);
    const float *bias = biases_of(r, &e, maps, &sum);
    struct job j = {.kernels = r->kernels, .w = &window, .weights = r->state ? r->state : now, .after = &e.after, .x = x->data, .bias = bias,
                    .residual = e.residual == TN_NET_NONE ? NULL : r->in[e.residual]->data, .y = r->out[0]->data, .images = (size_t)x->dims[0],
                    .channels = (size_t)x->dims[3], .maps = maps, .depth = each, .in_pixels = (size_t)(x->dims[1] * x->dims[2]),
                    .out_pixels = (size_t)(window.out[0] * window.out[1])};
    bool good = !r->failed && run_job(r, &j);
    tn_heap_give(r->heap, sum);
    tn_heap_give(r->heap, now);
    return good;
}

/* ---- pools -------------------------------------------------------------------------------------------------------- */

struct pool {
    const struct tn_window *w;
    const float *x;
    float *y;
    size_t channels;
};

/* One row of the window over one result: NaN is passed by, as in planes. */
static void larger(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = x[i] > y[i] ? x[i] : y[i];
}

/* Items are results of all images. */
static void max_items(void *user, uint64_t begin, uint64_t end)
{
    const struct pool *p = user;
    const struct tn_window *w = p->w;
    const uint64_t out = (uint64_t)(w->out[0] * w->out[1]), in = (uint64_t)(w->in[0] * w->in[1]);
    for (uint64_t i = begin; i < end; i++) {
        const float *x = p->x + i / out * in * p->channels;
        float *y = p->y + i * p->channels;
        int64_t top = (int64_t)(i % out / (uint64_t)w->out[1]) * w->stride[0] - w->begin[0], left = (int64_t)(i % (uint64_t)w->out[1]) * w->stride[1] - w->begin[1];
        for (size_t c = 0; c < p->channels; c++) y[c] = -INFINITY;
        for (int64_t k = 0; k < w->kernel[0]; k++) {
            int64_t row = top + k * w->dilation[0];
            for (int64_t n = 0; row >= 0 && row < w->in[0] && n < w->kernel[1]; n++) {
                int64_t column = left + n * w->dilation[1];
                if (column >= 0 && column < w->in[1]) larger(y, x + (size_t)(row * w->in[1] + column) * p->channels, p->channels);
            }
        }
    }
}

static bool run_max(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_window w;
    if (r->out[0]->count == 0) return true;
    tn_window_read(r->node, 2, &w);
    tn_window_fit(&w, x->dims + 1);
    struct pool p = {&w, x->data, r->out[0]->data, (size_t)x->dims[3]};
    tn_run_items(r, r->out[0]->count / p.channels, p.channels * tn_window_count(w.kernel, 2), max_items, &p);
    return true;
}

struct average {
    const struct tn_kernels *kernels;
    struct tn_pooling_args a;
};

static void average_member(void *user, unsigned rank, unsigned size)
{
    const struct average *v = user;
    v->kernels->pooling(&v->a, rank, size);
}

/* Means of rows, then of these: sums are short, and threads share rows. */
static bool average_image(struct tn_run *r, const float *x, size_t height, size_t width, size_t channels, float *means, float *y)
{
    struct tn_span *spans = tn_run_scratch(r, height, sizeof(*spans));
    if (!spans) return false;
    for (size_t i = 0; i < height; i++) spans[i] = (struct tn_span){(int32_t)(i * width), (int32_t)width, 0};
    struct average rows = {r->kernels, {.mode = TN_POOLING_MEAN, .x = x, .x_stride = channels, .width = channels, .spans = spans, .sequences = height,
                                        .y = means, .y_stride = channels}};
    bool little = height * width * channels < 1 << 15;
    tn_pool_run(little ? NULL : r->pool, average_member, &rows, little ? 1 : r->threads);
    spans[0].count = (int32_t)height;
    rows.a.x = means;
    rows.a.y = y;
    rows.a.sequences = 1;
    r->kernels->pooling(&rows.a, 0, 1);
    tn_heap_give(r->heap, spans);
    return true;
}

static bool run_average(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    size_t height = (size_t)x->dims[1], width = (size_t)x->dims[2], channels = (size_t)x->dims[3];
    float *y = r->out[0]->data;
    if (r->out[0]->count == 0) return true;
    if (height == 0 || width == 0) {
        for (uint64_t i = 0; i < r->out[0]->count; i++) y[i] = NAN;
        return true;
    }
    if (height > INT32_MAX / width) return tn_run_refuse(r, "images of fewer pixels", "%zu x %zu", height, width);
    float *means = tn_run_scratch(r, height * channels, sizeof(*means));
    bool good = means != NULL;
    for (size_t i = 0; good && i < (size_t)x->dims[0]; i++)
        good = average_image(r, (const float *)x->data + i * height * width * channels, height, width, channels, means, y + i * channels);
    tn_heap_give(r->heap, means);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = "tenon", .name = "LastConv", .since = 1, .infer = infer_conv, .run = run_conv, .prepare = prepare_conv, .release = release_conv,
     .lacks = tn_epilogue_lacks},
    {.domain = "tenon", .name = "LastMaxPool", .since = 1, .infer = infer_max, .run = run_max},
    {.domain = "tenon", .name = "LastAverage", .since = 1, .infer = infer_average, .run = run_average},
};

const struct tn_operators tn_ops_conv_last = {rows, sizeof(rows) / sizeof(rows[0])};
