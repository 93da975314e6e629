/*
 * Convolution of quantised images: ConvInteger and QLinearConv. Numbers less their zero points are integers up to 255, whose
 * products run exactly on kernels for bytes (conv_bytes.h), or on the float32 kernels where windows are of another kind (conv.c
 * adds up few enough of them at a time).
 */
#include "ops/conv_bytes.h"

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

/* ---- packed weights ----------------------------------------------------------------------------------------------- */

static bool sizes_of(const struct tn_node *node, const struct tn_tensor *w, uint64_t *groups, uint64_t *each_maps, uint64_t *each_channels, uint64_t *taps)
{
    int64_t group = tn_attr_int(node, "group", 1);
    if (w->rank < 3 || w->rank > 4 || w->count == 0 || group < 1 || w->dims[0] % group) return false;
    *groups = (uint64_t)group;
    *each_maps = (uint64_t)w->dims[0] / *groups;
    *each_channels = (uint64_t)w->dims[1];
    *taps = tn_window_count(w->dims + 2, w->rank - 2);
    return true;
}

static enum tn_status prepare_operand(struct tn_prepare *p, uint32_t i, void **state)
{
    const struct tn_tensor *w = i < p->node->in_count ? p->in[i] : NULL;
    uint64_t groups, maps, channels, taps;
    size_t bytes;
    if (!w || !sizes_of(p->node, w, &groups, &maps, &channels, &taps) || channels < 2) return TN_OK;
    if (!tn_byte_weights_size(p->kernels, groups, maps, channels, taps, &bytes)) return TN_INSUFFICIENT_MEMORY;
    *state = tn_malloc_aligned(p->alloc, bytes, 64);
    if (!*state) return TN_INSUFFICIENT_MEMORY;
    tn_byte_weights_fill(p->kernels, w->data, w->element == TN_EL_U8, groups, maps, channels, taps, *state);
    return TN_OK; /* an image may come that needs the weights as they are: they are kept */
}

static enum tn_status prepare_integer(struct tn_prepare *p, void **state)
{
    return prepare_operand(p, 1, state);
}

static enum tn_status prepare_qlinear(struct tn_prepare *p, void **state)
{
    return prepare_operand(p, 3, state);
}

static void release_weights(struct tn_alloc *alloc, void *state)
{
    tn_free(alloc, state);
}

/* By bytes; j->w is set here. */
static bool by_bytes(struct tn_run *r, struct tn_conv_bytes *j, uint32_t w, uint32_t w_zero)
{
    const struct tn_tensor *t = r->in[w];
    const struct tn_conv *c = j->c;
    struct tn_byte_weights *own = NULL;
    size_t bytes;
    j->w_zero = w_zero < r->in_count ? r->in[w_zero] : NULL;
    if (j->w_zero && j->w_zero->count != 1 && j->w_zero->count != c->maps)
        return tn_run_refuse(r, "one zero point, or one for each map", "%llu zero points", (unsigned long long)j->w_zero->count);
    if (!r->state) {
        if (!tn_byte_weights_size(r->kernels, c->groups, c->each_maps, c->each_channels, c->taps, &bytes)) return tn_run_no_memory(r);
        own = tn_run_scratch(r, bytes, 1);
        if (!own) return false;
        tn_byte_weights_fill(r->kernels, t->data, t->element == TN_EL_U8, c->groups, c->each_maps, c->each_channels, c->taps, own);
    }
    j->w = own ? own : r->state;
    bool good = tn_conv_bytes(r, j);
    tn_heap_give(r->heap, own);
    return good;
}

/* ---- ConvInteger -------------------------------------------------------------------------------------------------- */

static bool infer_integer(struct tn_infer *x)
{
    struct tn_epilogue e;
    tn_epilogue_read(x->node, &e);
    return tn_conv_infer(x, 0, 1, UINT32_MAX, e.scale[0] == TN_NET_NONE ? TN_EL_I32 : TN_EL_F32);
}

/* Sums that are there to floats, in place: the same roundings as in conv_bytes.c. */
static void scale_planes(struct tn_run *r, const struct tn_conv_bytes *j)
{
    const struct tn_conv *c = j->c;
    for (uint64_t i = 0; i < c->images * c->maps; i++) {
        uint64_t map = i % c->maps;
        const int32_t *sums = (const int32_t *)j->y + i * c->out_plane;
        float *y = (float *)j->y + i * c->out_plane, scale = j->scale[0][j->scales[0] == 1 ? 0 : map] * j->scale[1][j->scales[1] == 1 ? 0 : map];
        for (uint64_t p = 0; p < c->out_plane; p++) y[p] = (float)sums[p] * scale;
        tn_conv_finish(j->finish, c, r->kernels, j->y, i / c->maps, map, 1, 0, c->out_plane);
    }
}

static const void *data_of(const struct tn_run *r, uint32_t i)
{
    return i == TN_NET_NONE ? NULL : r->in[i]->data;
}

static bool run_integer(struct tn_run *r)
{
    static const float one = 1;
    struct tn_conv c;
    struct tn_epilogue e;
    tn_conv_read(r, r->in[0], r->in[1], &c);
    tn_epilogue_read(r->node, &e);
    if (!tn_epilogue_check(r, &e, c.maps)) return false;
    if (e.bias != TN_NET_NONE && r->in[e.bias]->element != TN_EL_F32) return tn_run_refuse(r, "a folded bias of float32", "another type");
    if (r->out[0]->count == 0) return true;
    if (!one_zero(r, 2)) return false;
    bool floats = e.scale[0] != TN_NET_NONE;
    struct tn_conv_finish finish = {&e, data_of(r, e.bias), data_of(r, e.residual)};
    struct tn_conv_bytes j = {.c = &c, .x = r->in[0], .to = floats ? TN_BYTES_TO_F32 : TN_BYTES_TO_I32, .y = r->out[0]->data, .finish = &finish,
                              .x_zero = r->in_count > 2 && r->in[2] ? (int32_t)tn_run_int(r, 2, 0) : 0};
    for (unsigned i = 0; i < 2; i++) {
        j.scale[i] = e.scale[i] == TN_NET_NONE ? &one : data_of(r, e.scale[i]);
        j.scales[i] = e.scale[i] == TN_NET_NONE ? 1 : r->in[e.scale[i]]->count;
    }
    if (tn_conv_bytes_can(&c)) return by_bytes(r, &j, 1, 3);
    if (!convolve(r, 0, 2, 1, 3, &c, r->out[0]->data)) return false;
    if (floats) scale_planes(r, &j);
    return true;
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
    tn_conv_read(r, r->in[X], r->in[W], &c);
    struct tn_conv_bytes j = {.c = &c, .x = r->in[X], .to = TN_BYTES_TO_8, .y = y->data, .x_zero = (int32_t)tn_run_int(r, X_ZERO, 0),
                              .scale = {r->in[X_SCALE]->data, r->in[W_SCALE]->data}, .scales = {1, r->in[W_SCALE]->count},
                              .bias = r->in_count > BIAS && r->in[BIAS] ? r->in[BIAS]->data : NULL, .y_scale = ((const float *)r->in[Y_SCALE]->data)[0],
                              .y_zero = (int32_t)tn_run_int(r, Y_ZERO, 0), .y_signed = y->element == TN_EL_I8};
    if (tn_conv_bytes_can(&c)) return by_bytes(r, &j, W, W_ZERO);
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
    {.name = "ConvInteger", .since = 10, .infer = infer_integer, .run = run_integer, .prepare = prepare_integer, .release = release_weights, .lacks = tn_epilogue_lacks},
    {.name = "QLinearConv", .since = 10, .infer = infer_qlinear, .run = run_qlinear, .prepare = prepare_qlinear, .release = release_weights},
};

const struct tn_operators tn_ops_conv_integer = {rows, sizeof(rows) / sizeof(rows[0])};
