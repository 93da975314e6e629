/*
 * GridSample and AffineGrid. A sampling place is found once for all channels: per dimension the input elements it lies
 * between and their weights, whose products are summed. Places are computed in float32, of float64 grids in double.
 */
#include "ops/real.h"

#include <math.h>
#include <string.h>

enum { SPATIAL = TN_RANK - 2, TAPS = 4 };
enum mode { NEAREST, LINEAR, CUBIC, MODES };
enum padding { ZEROS, BORDER, REFLECTION };

/* ---- attributes --------------------------------------------------------------------------------------------------- */

static enum mode mode_of(const struct tn_node *node)
{
    struct tn_str m = tn_attr_text(node, "mode");
    if (m.n == 0 || tn_str_is(m, "linear") || tn_str_is(m, "bilinear")) return LINEAR;
    return tn_str_is(m, "nearest") ? NEAREST : tn_str_is(m, "cubic") || tn_str_is(m, "bicubic") ? CUBIC : MODES;
}

static enum padding padding_of(const struct tn_node *node)
{
    struct tn_str p = tn_attr_text(node, "padding_mode");
    return tn_str_is(p, "border") ? BORDER : tn_str_is(p, "reflection") ? REFLECTION : ZEROS;
}

static const char *lacks_sample(const struct tn_node *node)
{
    struct tn_str p = tn_attr_text(node, "padding_mode");
    if (mode_of(node) == MODES) return "mode";
    return p.n == 0 || tn_str_is(p, "zeros") || padding_of(node) != ZEROS ? NULL : "padding_mode";
}

static bool differ(tn_dim_t a, tn_dim_t b)
{
    return tn_dim_known(a) && tn_dim_known(b) && a != b;
}

static bool infer_sample(struct tn_infer *t)
{
    const struct tn_shape *x, *grid;
    const struct tn_type *type = tn_in_type(t, 0);
    enum tn_element e = type ? type->element : TN_EL_NONE;
    tn_dim_t out[TN_RANK];
    tn_out_unknown(t, 0, e);
    if (!tn_in_shape(t, 0, &x) || !tn_in_shape(t, 1, &grid)) return true;
    if (x->rank < 3 || grid->rank != x->rank) return tn_infer_refuse(t, "a grid of the images' rank", "ranks %u and %u", x->rank, grid->rank);
    if (differ(grid->dims[grid->rank - 1], (tn_dim_t)x->rank - 2) || differ(x->dims[0], grid->dims[0]))
        return tn_infer_refuse(t, "a place for each output element of each image", "another grid");
    out[0] = x->dims[0];
    out[1] = x->dims[1];
    for (uint32_t i = 2; i < x->rank; i++) out[i] = grid->dims[i - 1];
    tn_out_tensor(t, 0, e, x->rank, out);
    return true;
}

/* ---- places ------------------------------------------------------------------------------------------------------- */

struct sampler {
    const struct tn_tensor *x, *grid;
    struct tn_tensor *y;
    enum mode mode;
    enum padding padding;
    bool corners;
    uint32_t rank;
    uint64_t channels, in_plane, out_plane;
    const void *from; /* numbers to interpolate; NULL: elements are copied */
    void *to;
    bool wide;
};

/* What a place is made of, in one dimension. An index below 0 is a zero. */
struct place {
    int count;
    int64_t index[TAPS];
    double weight[TAPS];
};

static double reflect(double x, double low, double high)
{
    double range = high - low;
    if (!(range > 0)) return low;
    double d = x < low ? low - x : x > high ? x - high : 0;
    double r = fmod(d, range);
    bool even = fmod(floor(d / range), 2) == 0;
    if (x < low) return even ? low + r : high - r;
    if (x > high) return even ? high - r : low + r;
    return x;
}

static int64_t index_of(const struct sampler *s, double place, int64_t n)
{
    double low = s->corners ? 0 : -0.5, high = (double)n - 1 - low;
    if (s->padding == REFLECTION) place = trunc(reflect(place, low, high));
    if (s->padding == ZEROS && !(place >= 0 && place <= (double)(n - 1))) return -1;
    return !(place > 0) ? 0 : place > (double)(n - 1) ? n - 1 : (int64_t)place;
}

/* Normalised coordinates to elements, with the roundings of float32. */
static double denormalise(const struct sampler *s, double v, int64_t n)
{
    if (s->wide) return s->corners ? (v + 1) / 2 * (double)(n - 1) : ((v + 1) * (double)n - 1) / 2;
    float f = (float)v;
    return (double)(s->corners ? (f + 1) / 2 * (float)(n - 1) : ((f + 1) * (float)n - 1) / 2);
}

/* Keys' cubic convolution (1981) with a = -0.75. */
static void cubic_weights(double t, double *w)
{
    const double a = -0.75;
    double u = 1 - t;
    w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
    w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    w[2] = ((a + 2) * u - (a + 3)) * u * u + 1;
    w[3] = ((a * (u + 1) - 5 * a) * (u + 1) + 8 * a) * (u + 1) - 4 * a;
}

static void find_place(const struct sampler *s, double v, int64_t n, struct place *p)
{
    double low = s->corners ? 0 : -0.5, high = (double)n - 1 - low, at = denormalise(s, v, n);
    if (s->mode == NEAREST) at = nearbyint(at);
    if (!(at >= low && at <= high)) {
        if (s->padding == BORDER) at = !(at > 0) ? 0 : (double)(n - 1);
        if (s->padding == REFLECTION) at = reflect(at, low, high);
    }
    double base = floor(at), t = at - base;
    p->count = s->mode == NEAREST ? 1 : s->mode == LINEAR ? 2 : 4;
    p->weight[0] = 1;
    if (s->mode == LINEAR) {
        p->weight[0] = 1 - t;
        p->weight[1] = t;
    } else if (s->mode == CUBIC) {
        cubic_weights(t, p->weight);
        base -= 1;
    }
    if (s->mode == NEAREST) base = at;
    for (int k = 0; k < p->count; k++) p->index[k] = index_of(s, base + k, n);
}

/* The elements of a sample and their weights; combinations with a zero are left out. */
struct sample {
    uint32_t count;
    uint64_t at[1 << (2 * 3)];
    double weight[1 << (2 * 3)];
};

static void combine(const struct place *p, uint32_t rank, const int64_t *dims, struct sample *out)
{
    uint32_t all = 1;
    for (uint32_t d = 0; d < rank; d++) all *= (uint32_t)p[d].count;
    out->count = 0;
    for (uint32_t i = 0; i < all; i++) {
        uint64_t at = 0, step = 1;
        double weight = 1;
        uint32_t rest = i;
        bool inside = true;
        for (uint32_t d = rank; d-- > 0;) {
            uint32_t k = rest % (uint32_t)p[d].count;
            rest /= (uint32_t)p[d].count;
            inside = inside && p[d].index[k] >= 0;
            at += (uint64_t)p[d].index[k] * step;
            step *= (uint64_t)dims[d];
            weight *= p[d].weight[k];
        }
        if (!inside) continue;
        out->at[out->count] = at;
        out->weight[out->count++] = weight;
    }
}

/* ---- sampling ----------------------------------------------------------------------------------------------------- */

static void write_sample(const struct sampler *s, const struct sample *m, uint64_t from, uint64_t to)
{
    if (!s->from) {
        size_t each = tn_element_size(s->x->element);
        char *y = (char *)s->y->data + to * each;
        if (m->count) memcpy(y, (const char *)s->x->data + (from + m->at[0]) * each, each);
        else memset(y, 0, each);
        return;
    }
    if (s->wide) {
        double sum = 0;
        for (uint32_t k = 0; k < m->count; k++) sum += m->weight[k] * ((const double *)s->from)[from + m->at[k]];
        ((double *)s->to)[to] = sum;
    } else {
        float sum = 0;
        for (uint32_t k = 0; k < m->count; k++) sum += (float)m->weight[k] * ((const float *)s->from)[from + m->at[k]];
        ((float *)s->to)[to] = sum;
    }
}

/* Items are (image, output position). */
static void sample_items(void *user, uint64_t begin, uint64_t end)
{
    const struct sampler *s = user;
    for (uint64_t i = begin; i < end; i++) {
        struct place places[SPATIAL];
        struct sample m;
        uint64_t image = i / s->out_plane, position = i % s->out_plane;
        for (uint32_t d = 0; d < s->rank; d++) {
            /* Coordinates come innermost first. */
            double v = tn_element_get(s->grid->element, s->grid->data, i * s->rank + (s->rank - 1 - d));
            find_place(s, v, s->x->dims[d + 2], &places[d]);
        }
        combine(places, s->rank, s->x->dims + 2, &m);
        for (uint64_t c = 0; c < s->channels; c++) {
            uint64_t plane = image * s->channels + c;
            write_sample(s, &m, plane * s->in_plane, plane * s->out_plane + position);
        }
    }
}

static bool copy_texts(struct tn_run *r, const struct sampler *s)
{
    for (uint64_t i = 0; i < s->y->count; i++) {
        struct place places[SPATIAL];
        struct sample m;
        uint64_t plane = i / s->out_plane, at = plane / s->channels * s->out_plane + i % s->out_plane;
        for (uint32_t d = 0; d < s->rank; d++)
            find_place(s, tn_element_get(s->grid->element, s->grid->data, at * s->rank + (s->rank - 1 - d)), s->x->dims[d + 2], &places[d]);
        combine(places, s->rank, s->x->dims + 2, &m);
        if (m.count && !tn_tensor_set_text(s->y, i, tn_tensor_texts(s->x)[plane * s->in_plane + m.at[0]])) return tn_run_no_memory(r);
    }
    return true;
}

static bool run_sample(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *y = r->out[0];
    struct tn_reals reals;
    bool number = tn_elements_have(TN_ELS_NUMBER | TN_ELS(BOOL), x->element), real = tn_elements_have(TN_ELS_FLOAT, x->element);
    struct sampler s = {.x = x, .grid = r->in[1], .y = y, .mode = mode_of(r->node), .padding = padding_of(r->node), .rank = x->rank - 2,
                        .corners = tn_attr_int(r->node, "align_corners", 0) != 0, .channels = (uint64_t)x->dims[1], .in_plane = 1, .out_plane = 1};
    if (y->count == 0) return true;
    if (x->count == 0) return tn_run_refuse(r, "images with elements", "empty ones");
    if (!number && s.mode != NEAREST) return tn_run_refuse(r, "numbers to interpolate between", "%s", tn_onnx_element_name(x->element));
    if (s.rank > 3) return tn_run_refuse(r, "images of at most three dimensions", "%u", s.rank);
    for (uint32_t i = 2; i < x->rank; i++) {
        s.in_plane *= (uint64_t)x->dims[i];
        s.out_plane *= (uint64_t)y->dims[i];
    }
    if (x->element == TN_EL_STRING) return copy_texts(r, &s);
    tn_reals_begin(&reals, r, real ? x->element : TN_EL_F64);
    s.wide = r->in[1]->element == TN_EL_F64;
    if (s.mode != NEAREST) {
        s.from = tn_reals_in(&reals, 0);
        s.to = real ? tn_reals_out(&reals, 0) : tn_reals_scratch(&reals, y->count);
        s.wide = reals.wide;
    }
    if (tn_reals_good(&reals)) tn_run_items(r, (uint64_t)x->dims[0] * s.out_plane, 64 + s.channels * 8, sample_items, &s);
    for (uint64_t i = 0; tn_reals_good(&reals) && s.from && !real && i < y->count; i++)
        tn_element_set(y->element, y->data, i, ((const double *)s.to)[i], true);
    return tn_reals_end(&reals);
}

/* ---- AffineGrid --------------------------------------------------------------------------------------------------- */

static bool infer_affine(struct tn_infer *t)
{
    const tn_dim_t *size;
    const struct tn_shape *theta;
    uint32_t count;
    const struct tn_type *type = tn_in_type(t, 0);
    tn_dim_t out[TN_RANK];
    tn_out_unknown(t, 0, type ? type->element : TN_EL_NONE);
    if (!tn_in_content(t, 1, &size, &count)) return !t->running || tn_infer_refuse(t, "sizes from 0", "others");
    if (count != 4 && count != 5) return tn_infer_refuse(t, "a size of 4 or 5 numbers", "%u", count);
    if (tn_in_shape(t, 0, &theta) && (theta->rank != 3 || differ(theta->dims[0], size[0]) || differ(theta->dims[1], count - 2) || differ(theta->dims[2], count - 1)))
        return tn_infer_refuse(t, "an affine matrix [2, 3] or [3, 4] for each image", "rank %u, or another shape", theta->rank);
    out[0] = size[0];
    for (uint32_t i = 2; i < count; i++) out[i - 1] = size[i];
    out[count - 1] = count - 2;
    tn_out_tensor(t, 0, type ? type->element : TN_EL_NONE, count, out);
    return true;
}

struct affine {
    const struct tn_tensor *theta;
    struct tn_tensor *grid;
    uint32_t rank;
    bool corners;
};

static void affine_items(void *user, uint64_t begin, uint64_t end)
{
    const struct affine *a = user;
    uint64_t plane = 1;
    for (uint32_t d = 0; d < a->rank; d++) plane *= (uint64_t)a->grid->dims[d + 1];
    for (uint64_t i = begin; i < end; i++) {
        double at[SPATIAL + 1];
        uint64_t rest = i % plane, image = i / plane;
        at[a->rank] = 1;
        for (uint32_t d = a->rank; d-- > 0;) {
            double n = (double)a->grid->dims[d + 1], k = (double)(rest % (uint64_t)a->grid->dims[d + 1]);
            rest /= (uint64_t)a->grid->dims[d + 1];
            /* innermost first */
            at[a->rank - 1 - d] = a->corners ? (n > 1 ? -1 + 2 * k / (n - 1) : -1) : (2 * k + 1) / n - 1;
        }
        for (uint32_t row = 0; row < a->rank; row++) {
            double sum = 0;
            for (uint32_t k = 0; k <= a->rank; k++)
                sum += tn_element_get(a->theta->element, a->theta->data, (image * a->rank + row) * (a->rank + 1) + k) * at[k];
            tn_element_set(a->grid->element, a->grid->data, i * a->rank + row, sum, false);
        }
    }
}

static bool run_affine(struct tn_run *r)
{
    struct affine a = {r->in[0], r->out[0], r->out[0]->rank - 2, tn_attr_int(r->node, "align_corners", 0) != 0};
    if (a.grid->count) tn_run_items(r, a.grid->count / a.rank, 64, affine_items, &a);
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "GridSample", .since = 16, .infer = infer_sample, .run = run_sample, .lacks = lacks_sample},
    {.name = "AffineGrid", .since = 20, .infer = infer_affine, .run = run_affine},
};

const struct tn_operators tn_ops_grid_sample = {rows, sizeof(rows) / sizeof(rows[0])};
