/*
 * Convolution of quantised images: ConvInteger and QLinearConv. Numbers less their zero points are integers up to 255, whose
 * products run exactly on the float32 kernels (conv.c adds up few enough of them at a time).
 */
#include "ops/conv.h"

#include <math.h>

/* ---- operands ----------------------------------------------------------------------------------------------------- */

struct widen {
    const struct tn_tensor *t, *zero; /* zero NULL: 0 */
    uint64_t each; /* elements that share a zero point */
    float *out;
};

static void widen_items(void *user, uint64_t begin, uint64_t end)
{
    const struct widen *w = user;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at = !w->zero || w->zero->count == 1 ? 0 : i / w->each;
        int64_t zero = w->zero ? tn_element_get_int(w->zero->element, w->zero->data, at) : 0;
        int32_t v = w->t->element == TN_EL_I8 ? ((const int8_t *)w->t->data)[i] : ((const uint8_t *)w->t->data)[i];
        w->out[i] = (float)(v - (int32_t)zero);
    }
}

/* Operand i less its zero point, one for all or one for each first index. NULL with the failure set. */
static float *widened(struct tn_run *r, uint32_t i, uint32_t zero)
{
    const struct tn_tensor *t = r->in[i], *z = zero < r->in_count ? r->in[zero] : NULL;
    uint64_t first = t->rank ? (uint64_t)t->dims[0] : 1;
    if (z && z->count != 1 && z->count != first) {
        tn_run_refuse(r, "one zero point, or one for each map", "%llu zero points", (unsigned long long)z->count);
        return NULL;
    }
    float *out = tn_run_scratch(r, t->count + 1, sizeof(*out));
    struct widen w = {t, z, first ? t->count / first : 1, out};
    if (out) tn_run_items(r, t->count, 2, widen_items, &w);
    return out;
}

static bool convolve(struct tn_run *r, uint32_t x, uint32_t x_zero, uint32_t w, uint32_t w_zero, struct tn_conv *c, int32_t *sums)
{
    tn_conv_read(r, r->in[x], r->in[w], c);
    float *images = widened(r, x, x_zero), *weights = images ? widened(r, w, w_zero) : NULL;
    bool good = images && weights && tn_conv_f32(r, c, images, weights, NULL, NULL, sums, NULL);
    tn_heap_give(r->heap, weights);
    tn_heap_give(r->heap, images);
    return good;
}

/* A zero point of the image stands for all of it. */
static bool one_zero(struct tn_run *r, uint32_t i)
{
    if (i >= r->in_count || !r->in[i] || r->in[i]->count == 1) return true;
    return tn_run_refuse(r, "one number for the whole tensor", "operand %u with %llu", i, (unsigned long long)r->in[i]->count);
}

/* ---- ConvInteger -------------------------------------------------------------------------------------------------- */

static bool infer_integer(struct tn_infer *x)
{
    return tn_conv_infer(x, 0, 1, UINT32_MAX, TN_EL_I32);
}

static bool run_integer(struct tn_run *r)
{
    struct tn_conv c;
    return r->out[0]->count == 0 || (one_zero(r, 2) && convolve(r, 0, 2, 1, 3, &c, r->out[0]->data));
}

/* ---- QLinearConv -------------------------------------------------------------------------------------------------- */

enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, BIAS };

static bool infer_qlinear(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, Y_ZERO);
    return tn_conv_infer(x, X, W, BIAS, t ? t->element : TN_EL_NONE);
}

struct requantize {
    const struct tn_conv *c;
    const int32_t *sums, *bias;
    const float *w_scale;
    uint64_t w_scales;
    float x_scale, y_scale;
    int32_t zero;
    struct tn_tensor *y;
};

/* Items are planes: y = saturate(round((sum + bias) * (x_scale * w_scale / y_scale)) + zero) */
static void requantize_planes(void *user, uint64_t begin, uint64_t end)
{
    const struct requantize *q = user;
    bool is_signed = q->y->element == TN_EL_I8;
    float low = (float)((is_signed ? -128 : 0) - q->zero), high = low + 255;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t map = i % q->c->maps;
        float factor = q->x_scale * q->w_scale[q->w_scales == 1 ? 0 : map] / q->y_scale;
        uint32_t bias = q->bias ? (uint32_t)q->bias[map] : 0;
        for (uint64_t p = i * q->c->out_plane; p < (i + 1) * q->c->out_plane; p++) {
            float v = nearbyintf((float)(int32_t)((uint32_t)q->sums[p] + bias) * factor);
            v = v > low ? v : low; /* NaN too */
            v = v < high ? v : high;
            ((uint8_t *)q->y->data)[p] = (uint8_t)((int32_t)v + q->zero);
        }
    }
}

static bool check_scales(struct tn_run *r)
{
    uint64_t maps = (uint64_t)r->in[W]->dims[0], n = r->in[W_SCALE]->count;
    if (n != 1 && n != maps) return tn_run_refuse(r, "one scale, or one for each map", "%llu scales", (unsigned long long)n);
    return one_zero(r, X_SCALE) && one_zero(r, X_ZERO) && one_zero(r, Y_SCALE) && one_zero(r, Y_ZERO);
}

static bool run_qlinear(struct tn_run *r)
{
    struct tn_conv c;
    struct tn_tensor *y = r->out[0];
    if (!check_scales(r)) return false;
    if (y->count == 0) return true;
    int32_t *sums = tn_run_scratch(r, y->count, sizeof(*sums));
    bool good = sums && convolve(r, X, X_ZERO, W, W_ZERO, &c, sums);
    if (good) {
        struct requantize q = {.c = &c, .sums = sums, .bias = r->in_count > BIAS && r->in[BIAS] ? r->in[BIAS]->data : NULL,
                               .w_scale = r->in[W_SCALE]->data, .w_scales = r->in[W_SCALE]->count,
                               .x_scale = ((const float *)r->in[X_SCALE]->data)[0], .y_scale = ((const float *)r->in[Y_SCALE]->data)[0],
                               .zero = (int32_t)tn_run_int(r, Y_ZERO, 0), .y = y};
        tn_run_items(r, c.images * c.maps, c.out_plane * 4, requantize_planes, &q);
    }
    tn_heap_give(r->heap, sums);
    return good;
}

static const struct tn_operator rows[] = {
    {.name = "ConvInteger", .since = 10, .infer = infer_integer, .run = run_integer},
    {.name = "QLinearConv", .since = 10, .infer = infer_qlinear, .run = run_qlinear},
};

const struct tn_operators tn_ops_conv_integer = {rows, sizeof(rows) / sizeof(rows[0])};
