/*
 * Normalisations that scale by channels or by rows: batch, instance, group, layer and RMS. Half precision is computed in
 * float32, whatever stash_type says: never less exactly than it asks.
 */
#include "ops/real.h"

#include <math.h>
#include <string.h>

#define REAL float
#define TN_BODY(name) name##_f32
#include "ops/norm_body.h"
#undef REAL
#undef TN_BODY
#define REAL double
#define TN_BODY(name) name##_f64
#include "ops/norm_body.h"

/* ---- inference ---------------------------------------------------------------------------------------------------- */

static bool differ(tn_dim_t a, tn_dim_t b)
{
    return tn_dim_known(a) && tn_dim_known(b) && a != b;
}

/* Operand i is a vector of `count`; an unknown shape passes, execution looks again. */
static bool is_vector(struct tn_infer *t, uint32_t i, tn_dim_t count)
{
    const struct tn_shape *s;
    if (!tn_in_shape(t, i, &s)) return true;
    if (s->rank == 1 && !differ(s->dims[0], count)) return true;
    return tn_infer_refuse(t, "one number for each channel", "operand %u of rank %u", i, s->rank);
}

/* ---- BatchNormalization ------------------------------------------------------------------------------------------- */

struct batch_mode {
    bool training, spatial;
};

/* Versions from 14 say it, 7 to 13 train when statistics are wanted, the first ones unless is_test. */
static struct batch_mode batch_mode(const struct tn_node *node)
{
    struct batch_mode m = {.spatial = tn_attr_int(node, "spatial", 1) != 0};
    if (node->version >= 14) m.training = tn_attr_int(node, "training_mode", 0) != 0;
    else if (node->version < 7) m.training = tn_attr_int(node, "is_test", 0) == 0;
    for (uint32_t i = 1; node->version >= 7 && node->version < 14 && i < node->out_count; i++) m.training |= node->out[i] != TN_NET_NONE;
    return m;
}

static bool infer_batch(struct tn_infer *t)
{
    const struct tn_shape *x;
    const struct tn_type *type = tn_in_type(t, 3);
    struct batch_mode mode = batch_mode(t->node);
    tn_infer_same(t);
    for (uint32_t i = 1; i < t->out_count; i++) tn_out_unknown(t, i, type ? type->element : TN_EL_NONE);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank == 0) return tn_infer_refuse(t, "images", "a scalar");
    tn_dim_t channels = x->rank > 1 ? x->dims[1] : 1;
    if (mode.spatial) {
        for (uint32_t i = 1; i < 5; i++) {
            if (!is_vector(t, i, channels)) return false;
            if (mode.training) tn_out_tensor(t, i, type ? type->element : TN_EL_NONE, 1, &channels);
        }
        return true;
    }
    for (uint32_t i = 1; i < 5; i++) {
        const struct tn_shape *s;
        if (!tn_in_shape(t, i, &s)) continue;
        bool same = s->rank + 1 == x->rank;
        for (uint32_t d = 0; same && d < s->rank; d++) same = !differ(s->dims[d], x->dims[d + 1]);
        if (!same) return tn_infer_refuse(t, "one number for each element of an image", "operand %u of rank %u", i, s->rank);
        if (mode.training) tn_out_tensor(t, i, type ? type->element : TN_EL_NONE, s->rank, s->dims);
    }
    return true;
}

struct batch {
    struct tn_reals reals;
    uint64_t images, channels, inner;
    double epsilon, momentum;
    const void *x, *scale, *shift, *mean, *variance;
    void *y;
};

/* New running statistics, and those of this batch. */
static void write_statistics(struct tn_run *r, struct batch *b, const void *mean, const void *variance)
{
    enum tn_element e = b->reals.wide ? TN_EL_F64 : TN_EL_F32;
    for (uint32_t k = 1; k < r->out_count && k < 5; k++) {
        struct tn_tensor *out = r->wanted[k] ? r->out[k] : NULL;
        const void *now = k % 2 ? mean : variance, *before = k % 2 ? b->mean : b->variance;
        for (uint64_t c = 0; out && c < b->channels; c++) {
            double is = tn_element_get(e, now, c), was = tn_element_get(e, before, c);
            tn_element_set(out->element, out->data, c, k < 3 ? was * b->momentum + is * (1 - b->momentum) : is, false);
        }
    }
}

static void batch_f32(struct tn_run *r, struct batch *b, bool training)
{
    float *own = training ? tn_reals_scratch(&b->reals, 2 * b->channels) : NULL;
    struct planes_f32 k = {.x = b->x, .scale = b->scale, .shift = b->shift, .y = b->y, .channels = b->channels, .inner = b->inner,
                           .epsilon = b->epsilon, .mean = b->mean, .variance = b->variance};
    if (training && !own) return;
    if (training) {
        struct statistics_f32 s = {b->x, own, own + b->channels, b->images, b->channels, b->inner};
        tn_run_items(r, b->channels, b->images * b->inner, channel_statistics_f32, &s);
        k.mean = s.mean;
        k.variance = s.variance;
        write_statistics(r, b, k.mean, k.variance);
    }
    tn_run_items(r, b->images * b->channels, b->inner, batch_planes_f32, &k);
}

static void batch_f64(struct tn_run *r, struct batch *b, bool training)
{
    double *own = training ? tn_reals_scratch(&b->reals, 2 * b->channels) : NULL;
    struct planes_f64 k = {.x = b->x, .scale = b->scale, .shift = b->shift, .y = b->y, .channels = b->channels, .inner = b->inner,
                           .epsilon = b->epsilon, .mean = b->mean, .variance = b->variance};
    if (training && !own) return;
    if (training) {
        struct statistics_f64 s = {b->x, own, own + b->channels, b->images, b->channels, b->inner};
        tn_run_items(r, b->channels, b->images * b->inner, channel_statistics_f64, &s);
        k.mean = s.mean;
        k.variance = s.variance;
        write_statistics(r, b, k.mean, k.variance);
    }
    tn_run_items(r, b->images * b->channels, b->inner, batch_planes_f64, &k);
}

static bool run_batch(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct batch_mode mode = batch_mode(r->node);
    struct batch b = {.epsilon = tn_attr_float(r->node, "epsilon", 1e-5), .momentum = tn_attr_float(r->node, "momentum", 0.9)};
    if (x->count == 0) return !mode.training || tn_run_refuse(r, "images to take statistics from", "none");
    b.images = (uint64_t)x->dims[0];
    b.channels = r->in[1]->count;
    b.inner = x->count / (b.images * b.channels);
    tn_reals_begin(&b.reals, r, x->element);
    b.x = tn_reals_in(&b.reals, 0);
    b.scale = tn_reals_in(&b.reals, 1);
    b.shift = tn_reals_in(&b.reals, 2);
    b.mean = tn_reals_in(&b.reals, 3);
    b.variance = tn_reals_in(&b.reals, 4);
    b.y = tn_reals_out(&b.reals, 0);
    if (tn_reals_good(&b.reals)) (b.reals.wide ? batch_f64 : batch_f32)(r, &b, mode.training);
    return tn_reals_end(&b.reals);
}

/* ---- InstanceNormalization, GroupNormalization -------------------------------------------------------------------- */

static bool infer_group(struct tn_infer *t)
{
    const struct tn_shape *x;
    int64_t groups = tn_attr_int(t->node, "num_groups", 0);
    bool instance = tn_str_is(t->node->type, "InstanceNormalization");
    tn_infer_same(t);
    if (!instance && groups < 1) return tn_infer_refuse(t, "num_groups from 1", "%lld", (long long)groups);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank < 2) return tn_infer_refuse(t, "images of rank 2 at least", "rank %u", x->rank);
    if (!instance && tn_dim_known(x->dims[1]) && x->dims[1] % groups != 0)
        return tn_infer_refuse(t, "num_groups that divide the channels", "%lld groups of %lld channels", (long long)groups, (long long)x->dims[1]);
    tn_dim_t scales = !instance && t->node->version < 21 ? groups : x->dims[1];
    return is_vector(t, 1, scales) && is_vector(t, 2, scales);
}

static bool run_group(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_reals reals;
    if (x->count == 0) return true;
    uint64_t channels = (uint64_t)x->dims[1], groups = (uint64_t)tn_attr_int(r->node, "num_groups", x->dims[1]);
    uint64_t inner = x->count / ((uint64_t)x->dims[0] * channels), each = channels / groups;
    double epsilon = tn_attr_float(r->node, "epsilon", 1e-5);
    tn_reals_begin(&reals, r, x->element);
    const void *from = tn_reals_in(&reals, 0), *scale = tn_reals_in(&reals, 1), *shift = tn_reals_in(&reals, 2);
    void *to = tn_reals_out(&reals, 0);
    uint64_t share = channels / r->in[1]->count;
    struct planes_f32 k = {.x = from, .scale = scale, .shift = shift, .y = to, .channels = channels, .each = each, .inner = inner,
                           .scale_each = share, .epsilon = epsilon};
    struct planes_f64 d = {.x = from, .scale = scale, .shift = shift, .y = to, .channels = channels, .each = each, .inner = inner,
                           .scale_each = share, .epsilon = epsilon};
    uint64_t items = (uint64_t)x->dims[0] * groups;
    if (tn_reals_good(&reals) && reals.wide) tn_run_items(r, items, each * inner * 4, group_planes_f64, &d);
    else if (tn_reals_good(&reals)) tn_run_items(r, items, each * inner * 4, group_planes_f32, &k);
    return tn_reals_end(&reals);
}

/* ---- LayerNormalization, RMSNormalization ------------------------------------------------------------------------- */

static bool is_layer(const struct tn_node *node)
{
    return !tn_str_is(node->type, "RMSNormalization");
}

static bool infer_layer(struct tn_infer *t)
{
    const struct tn_shape *x, *s;
    const struct tn_type *type = tn_in_type(t, is_layer(t->node) ? 0 : 1);
    enum tn_element stash = (enum tn_element)tn_attr_int(t->node, "stash_type", 1), e = type ? type->element : TN_EL_NONE;
    struct tn_shape fits;
    uint32_t axis;
    tn_out_unknown(t, 0, e);
    if (stash != TN_EL_F32 && stash != TN_EL_BF16 && stash != TN_EL_F16 && stash != TN_EL_F64)
        return tn_infer_refuse(t, "a stash_type that is a float type", "%d", (int)stash);
    tn_out_unknown(t, 1, stash);
    tn_out_unknown(t, 2, stash);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (!tn_infer_axis(t, tn_attr_int(t->node, "axis", -1), x->rank, &axis)) return false;
    for (uint32_t i = 1; i < t->in_count; i++) {
        if (!tn_in_shape(t, i, &s)) continue;
        if (!tn_infer_broadcast(t, x, s, &fits)) return false;
        bool same = fits.rank == x->rank;
        for (uint32_t d = 0; same && d < x->rank; d++) same = !differ(fits.dims[d], x->dims[d]);
        if (!same) return tn_infer_refuse(t, "scale and bias that broadcast to the operand", "operand %u beyond it", i);
    }
    struct tn_shape rows = *x;
    for (uint32_t d = axis; d < x->rank; d++) rows.dims[d] = 1;
    tn_out_tensor(t, 0, e, x->rank, x->dims);
    tn_out_tensor(t, 1, stash, rows.rank, rows.dims);
    tn_out_tensor(t, 2, stash, rows.rank, rows.dims);
    return true;
}

/*
 * A scale as rows of `width`: itself when it is one row or all of them, otherwise spread over the operand's shape. *step:
 * elements between rows.
 */
static const void *spread(struct tn_reals *s, uint32_t i, const struct tn_tensor *x, uint64_t width, uint64_t *step)
{
    const struct tn_tensor *t = i < s->r->in_count ? s->r->in[i] : NULL;
    const void *from = tn_reals_in(s, i);
    if (!t || !from) return NULL;
    bool tail = t->rank <= x->rank;
    uint64_t count = 1;
    for (uint32_t d = 0; tail && d < t->rank && count < width; d++) {
        count *= (uint64_t)t->dims[t->rank - 1 - d];
        tail = t->dims[t->rank - 1 - d] == x->dims[x->rank - 1 - d];
    }
    *step = t->count == x->count && width != x->count ? width : 0;
    if (tail && (t->count == width || t->count == x->count)) return from;
    void *all = tn_reals_scratch(s, x->count);
    size_t each = s->wide ? sizeof(double) : sizeof(float);
    *step = width;
    for (uint64_t k = 0; all && k < x->count; k++) {
        uint64_t flat = k, at = 0, stride = 1;
        for (uint32_t d = 0; d < t->rank; d++) {
            uint64_t place = flat % (uint64_t)x->dims[x->rank - 1 - d], n = (uint64_t)t->dims[t->rank - 1 - d];
            flat /= (uint64_t)x->dims[x->rank - 1 - d];
            at += (n == 1 ? 0 : place) * stride;
            stride *= n;
        }
        memcpy((char *)all + k * each, (const char *)from + at * each, each);
    }
    return all;
}

struct layer_member {
    const struct tn_kernels *kernels;
    struct tn_layer_norm_args args;
};

static void layer_member(void *arg, unsigned rank, unsigned size)
{
    const struct layer_member *m = arg;
    m->kernels->layer_norm(&m->args, rank, size);
}

/* The dispatched kernel, where it does what is asked. */
static void layer_kernel(struct tn_run *r, const struct rows_f32 *k, uint64_t rows)
{
    struct layer_member m = {r->kernels, {.x = k->x, .x_stride = k->width, .y = k->y, .y_stride = k->width, .rows = rows, .width = k->width,
                                          .gamma = k->scale, .beta = k->shift, .eps = (float)k->epsilon}};
    tn_pool_run(rows * k->width < 16384 ? NULL : r->pool, layer_member, &m, r->threads);
}

static bool run_layer(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_reals reals;
    int64_t axis = tn_attr_int(r->node, "axis", -1);
    uint64_t width = 1, scale_step = 0, shift_step = 0;
    if (axis < 0) axis += x->rank;
    for (uint32_t i = (uint32_t)axis; i < x->rank; i++) width *= (uint64_t)x->dims[i];
    if (x->count == 0) return r->out_count < 2 || width != 0 || tn_run_refuse(r, "rows with elements", "empty rows");
    tn_reals_begin(&reals, r, x->element);
    const void *from = tn_reals_in(&reals, 0), *scale = spread(&reals, 1, x, width, &scale_step);
    const void *shift = is_layer(r->node) ? spread(&reals, 2, x, width, &shift_step) : NULL;
    void *to = tn_reals_out(&reals, 0), *mean = tn_reals_out(&reals, 1), *inverse = tn_reals_out(&reals, 2);
    double epsilon = tn_attr_float(r->node, "epsilon", 1e-5);
    struct rows_f32 k = {.x = from, .scale = scale, .shift = shift, .y = to, .mean = mean, .inverse = inverse, .width = width,
                         .scale_step = scale_step, .shift_step = shift_step, .epsilon = epsilon, .centred = is_layer(r->node)};
    struct rows_f64 d = {.x = from, .scale = scale, .shift = shift, .y = to, .mean = mean, .inverse = inverse, .width = width,
                         .scale_step = scale_step, .shift_step = shift_step, .epsilon = epsilon, .centred = is_layer(r->node)};
    uint64_t rows = x->count / width;
    bool simple = k.centred && !mean && !inverse && scale_step == 0 && shift_step == 0;
    if (tn_reals_good(&reals) && reals.wide) tn_run_items(r, rows, width * 4, norm_rows_f64, &d);
    else if (tn_reals_good(&reals) && simple) layer_kernel(r, &k, rows);
    else if (tn_reals_good(&reals)) tn_run_items(r, rows, width * 4, norm_rows_f32, &k);
    return tn_reals_end(&reals);
}

static const struct tn_operator rows[] = {
    {.name = "BatchNormalization", .since = 1, .infer = infer_batch, .run = run_batch},
    {.name = "InstanceNormalization", .since = 1, .infer = infer_group, .run = run_group},
    {.name = "GroupNormalization", .since = 18, .infer = infer_group, .run = run_group},
    {.name = "LayerNormalization", .since = 17, .infer = infer_layer, .run = run_layer},
    {.name = "RMSNormalization", .since = 23, .infer = infer_layer, .run = run_layer},
};

const struct tn_operators tn_ops_norm = {rows, sizeof(rows) / sizeof(rows[0])};
