/*
 * Pools over images whose channels are neighbours, [N, H, W, C], which exec/patch_last.c states. Operators of the domain
 * "tenon", which no file can name; attributes are those of the operators that they stand for.
 *
 *     LastMaxPool, LastAveragePool  in X
 *     LastAverage  in X; the mean of each channel of an image, [N, 1, 1, C]
 */
#include "ops/conv_last.h"

#include <math.h>

/* ---- inference ---------------------------------------------------------------------------------------------------- */

enum { TAPS = 64 }; /* of a window, at most */

static bool infer_pool(struct tn_infer *t)
{
    const struct tn_shape *x;
    struct tn_window w;
    tn_out_unknown(t, 0, TN_EL_F32);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank != 4) return tn_infer_refuse(t, "images of rank 4", "rank %u", x->rank);
    const char *bad = tn_window_read(t->node, 2, &w);
    if (!bad && (!w.has_kernel || w.kernel[0] > TAPS || w.kernel[0] * w.kernel[1] > TAPS)) bad = "a kernel_shape of at most 64 pixels";
    if (bad) return tn_infer_refuse(t, bad, "attributes or a shape that do not fit");
    return tn_last_infer(t, &w, x, x->dims[3]);
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

/* ---- execution ----------------------------------------------------------------------------------------------------- */

struct pool {
    const struct tn_window *w;
    const float *x;
    float *y;
    size_t channels;
    bool with_pad; /* padding counts in a mean */
};

/* Pixels under one result, from left to right: NaN is passed by, as in planes. */
static void largest(float *y, const float *const *x, size_t taps, size_t channels)
{
    for (size_t c = 0; c < channels; c++) y[c] = -INFINITY;
    for (; taps >= 4; taps -= 4, x += 4) {
        const float *p = x[0], *q = x[1], *s = x[2], *t = x[3];
        for (size_t c = 0; c < channels; c++) {
            float v = p[c] > y[c] ? p[c] : y[c];
            v = q[c] > v ? q[c] : v;
            v = s[c] > v ? s[c] : v;
            y[c] = t[c] > v ? t[c] : v;
        }
    }
    for (; taps; taps--, x++) {
        const float *p = x[0];
        for (size_t c = 0; c < channels; c++) y[c] = p[c] > y[c] ? p[c] : y[c];
    }
}

/* The pixels under result `o` of row i of the results of all images; how many. */
static size_t taps_under(const struct pool *p, uint64_t i, int64_t o, const float **taps)
{
    const struct tn_window *w = p->w;
    const float *x = p->x + i / (uint64_t)w->out[0] * (uint64_t)(w->in[0] * w->in[1]) * p->channels;
    int64_t top = (int64_t)(i % (uint64_t)w->out[0]) * w->stride[0] - w->begin[0], left = o * w->stride[1] - w->begin[1];
    size_t met = 0;
    for (int64_t k = 0; k < w->kernel[0] * w->kernel[1]; k++) {
        int64_t row = top + k / w->kernel[1] * w->dilation[0], column = left + k % w->kernel[1] * w->dilation[1];
        if (row >= 0 && row < w->in[0] && column >= 0 && column < w->in[1]) taps[met++] = x + (size_t)(row * w->in[1] + column) * p->channels;
    }
    return met;
}

/* Items are rows of results of all images. */
static void max_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct pool *p = user;
    const float *taps[TAPS];
    for (uint64_t i = begin; i < end; i++) {
        for (int64_t o = 0; o < p->w->out[1]; o++) {
            size_t met = taps_under(p, i, o, taps);
            largest(p->y + (i * (uint64_t)p->w->out[1] + (uint64_t)o) * p->channels, taps, met, p->channels);
        }
    }
}

/* The sum from left to right, over `count`. */
static void mean_of(float *y, const float *const *x, size_t taps, float count, size_t channels)
{
    for (size_t c = 0; c < channels; c++) y[c] = 0;
    for (size_t t = 0; t < taps; t++) {
        const float *p = x[t];
        for (size_t c = 0; c < channels; c++) y[c] += p[c];
    }
    for (size_t c = 0; c < channels; c++) y[c] /= count;
}

static void mean_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct pool *p = user;
    const struct tn_window *w = p->w;
    const float *taps[TAPS];
    for (uint64_t i = begin; i < end; i++) {
        const int64_t down = tn_window_met(w, 0, (int64_t)(i % (uint64_t)w->out[0]), p->with_pad);
        for (int64_t o = 0; o < w->out[1]; o++) {
            size_t met = taps_under(p, i, o, taps);
            mean_of(p->y + (i * (uint64_t)w->out[1] + (uint64_t)o) * p->channels, taps, met, (float)(down * tn_window_met(w, 1, o, p->with_pad)), p->channels);
        }
    }
}

static bool run_windows(struct tn_run *r, tn_items_fn *rows)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_window w;
    if (r->out[0]->count == 0) return true;
    tn_window_read(r->node, 2, &w);
    tn_window_fit(&w, x->dims + 1);
    struct pool p = {&w, x->data, r->out[0]->data, (size_t)x->dims[3], tn_attr_int(r->node, "count_include_pad", 0) != 0};
    tn_run_items(r, (uint64_t)(x->dims[0] * w.out[0]), (uint64_t)w.out[1] * p.channels * tn_window_count(w.kernel, 2), rows, &p);
    return true;
}

static bool run_max(struct tn_run *r)
{
    return run_windows(r, max_rows);
}

static bool run_mean(struct tn_run *r)
{
    return run_windows(r, mean_rows);
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
    {.domain = "tenon", .name = "LastMaxPool", .since = 1, .infer = infer_pool, .run = run_max},
    {.domain = "tenon", .name = "LastAveragePool", .since = 1, .infer = infer_pool, .run = run_mean},
    {.domain = "tenon", .name = "LastAverage", .since = 1, .infer = infer_average, .run = run_average},
};

const struct tn_operators tn_ops_pool_last = {rows, sizeof(rows) / sizeof(rows[0])};
