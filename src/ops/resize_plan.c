/*
 * Resize: attributes, sizes and weights. Formulas are the standard's (ONNX, "Resize"); the cubic kernel is Keys' (1981,
 * doi 10.1109/TASSP.1981.1163711, equation 4). Coordinates are computed in double.
 */
#include "ops/resize_plan.h"

#include <math.h>
#include <string.h>

/* ---- attributes --------------------------------------------------------------------------------------------------- */

/* The place of a text in a list; -1: not there; `otherwise` when the node says nothing. */
static int choice(const struct tn_node *node, const char *name, const char *const *texts, int otherwise)
{
    struct tn_str text = tn_attr_text(node, name);
    if (text.n == 0) return otherwise;
    for (int i = 0; texts[i]; i++) {
        if (tn_str_is(text, texts[i])) return i;
    }
    return -1;
}

static const char *const modes[] = {"nearest", "linear", "cubic", "bilinear", NULL};
static const char *const transforms[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                                         "tf_crop_and_resize", NULL};
static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};

/* Upsample, and Resize of version 10, are asymmetric and round down. */
static bool is_old(const struct tn_node *node)
{
    return node->version < 11 || tn_str_is(node->type, "Upsample");
}

const char *tn_resize_lacks(const struct tn_node *node)
{
    if (choice(node, "mode", modes, 0) < 0) return "mode";
    if (choice(node, "coordinate_transformation_mode", transforms, 0) < 0) return "coordinate_transformation_mode";
    if (choice(node, "nearest_mode", roundings, 0) < 0) return "nearest_mode";
    if (choice(node, "keep_aspect_ratio_policy", policies, 0) < 0) return "keep_aspect_ratio_policy";
    return NULL;
}

static void read_modes(const struct tn_node *node, struct tn_resize *p)
{
    int mode = choice(node, "mode", modes, 0);
    bool old = is_old(node);
    p->mode = mode == 3 ? TN_RESIZE_LINEAR : (enum tn_resize_mode)mode;
    p->transform = (enum tn_resize_transform)choice(node, "coordinate_transformation_mode", transforms, old ? TN_ASYMMETRIC : TN_HALF_PIXEL);
    p->rounding = (enum tn_resize_round)choice(node, "nearest_mode", roundings, old ? TN_ROUND_FLOOR : TN_ROUND_PREFER_FLOOR);
    p->antialias = tn_attr_int(node, "antialias", 0) != 0 && p->mode != TN_RESIZE_NEAREST;
    p->exclude_outside = tn_attr_int(node, "exclude_outside", 0) != 0;
    p->cubic = tn_attr_float(node, "cubic_coeff_a", -0.75);
    p->extrapolation = tn_attr_float(node, "extrapolation_value", 0);
}

/* ---- sizes -------------------------------------------------------------------------------------------------------- */

/* The operands by their places, which moved with the versions. */
struct places {
    uint32_t roi, scales, sizes; /* UINT32_MAX: none */
};

static struct places places_of(const struct tn_node *node)
{
    if (tn_str_is(node->type, "Upsample") && node->version < 9) return (struct places){UINT32_MAX, UINT32_MAX, UINT32_MAX};
    if (is_old(node)) return (struct places){UINT32_MAX, 1, UINT32_MAX};
    return (struct places){1, 2, 3};
}

/* Which dimensions scales, sizes and regions speak of. */
struct axes {
    uint32_t count, axis[TN_RANK];
};

static const char *read_axes(const struct tn_node *node, uint32_t rank, struct axes *a)
{
    size_t n;
    const int64_t *axes = tn_attr_ints(node, "axes", &n);
    bool seen[TN_RANK] = {false};
    a->count = axes ? (uint32_t)n : rank;
    if (axes && n > rank) return "no more axes than dimensions";
    for (uint32_t i = 0; i < a->count; i++) {
        int64_t axis = axes ? axes[i] : (int64_t)i;
        if (axis < -(int64_t)rank || axis >= (int64_t)rank) return "axes of the operand";
        a->axis[i] = (uint32_t)(axis < 0 ? axis + rank : axis);
        if (seen[a->axis[i]]) return "each axis once";
        seen[a->axis[i]] = true;
    }
    return NULL;
}

/* floor(in * scale) */
static bool scaled(int64_t in, double scale, int64_t *out)
{
    double v = floor((double)in * scale);
    if (!(scale > 0) || !(v < 0x1p48)) return false;
    *out = (int64_t)v;
    return true;
}

/* Scales of the attributes of old Upsample. NULL: there are none. */
static const float *attribute_scales(const struct tn_node *node, float *four, size_t *count)
{
    const float *scales = tn_attr_floats(node, "scales", count);
    if (scales || !tn_node_attr(node, "height_scale")) return scales;
    four[0] = four[1] = 1;
    four[2] = (float)tn_attr_float(node, "height_scale", 1);
    four[3] = (float)tn_attr_float(node, "width_scale", 1);
    *count = 4;
    return four;
}

/* One scale or size for each axis. */
static const char *by_scales(struct tn_resize *p, const struct axes *a, const float *scales, uint64_t count)
{
    if (count != a->count) return "a scale for each axis";
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t d = a->axis[i];
        p->scale[d] = (double)scales[i];
        if (!scaled(p->in[d], p->scale[d], &p->out[d])) return "scales above 0 that make sizes below 2^48";
    }
    return NULL;
}

static const char *by_sizes(struct tn_resize *p, const struct axes *a, const int64_t *sizes, uint64_t count, int policy)
{
    double one = policy == 1 ? INFINITY : 0;
    if (count != a->count) return "a size for each axis";
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t d = a->axis[i];
        if (sizes[i] < 0 || sizes[i] > (INT64_C(1) << 48)) return "sizes below 2^48";
        p->out[d] = sizes[i];
        p->scale[d] = p->in[d] ? (double)sizes[i] / (double)p->in[d] : 1;
        if (policy == 1 && p->scale[d] < one) one = p->scale[d];
        if (policy == 2 && p->scale[d] > one) one = p->scale[d];
    }
    for (uint32_t i = 0; policy > 0 && i < a->count; i++) {
        uint32_t d = a->axis[i];
        double v = floor(one * (double)p->in[d] + 0.5);
        if (!(v >= 0 && v < 0x1p48)) return "sizes below 2^48";
        p->scale[d] = one;
        p->out[d] = (int64_t)v;
    }
    return NULL;
}

/* Output sizes from what is known; *enough false: not yet. */
static const char *fit(const struct tn_node *node, const struct tn_tensor *scales, const struct tn_tensor *sizes, struct tn_resize *p, bool *enough)
{
    struct axes a;
    float four[4];
    size_t count;
    int64_t numbers[TN_RANK];
    const char *bad = read_axes(node, p->rank, &a);
    *enough = true;
    for (uint32_t i = 0; i < p->rank; i++) {
        p->out[i] = p->in[i];
        p->scale[i] = 1;
    }
    if (bad) return bad;
    const float *stated = attribute_scales(node, four, &count);
    if (stated) return by_scales(p, &a, stated, count);
    if (scales && scales->count) return by_scales(p, &a, scales->data, scales->count);
    if (!sizes || !sizes->count) {
        *enough = false;
        return NULL;
    }
    for (uint64_t i = 0; i < sizes->count && i < TN_RANK; i++) numbers[i] = tn_element_get_int(sizes->element, sizes->data, i);
    return by_sizes(p, &a, numbers, sizes->count, choice(node, "keep_aspect_ratio_policy", policies, 0));
}

/* Sizes that are symbols, when they are taken as they are. */
static void symbolic_sizes(struct tn_infer *x, const struct tn_shape *s, uint32_t at, enum tn_element e)
{
    const tn_dim_t *sizes;
    uint32_t count;
    struct axes a;
    struct tn_shape out = *s;
    if (at == UINT32_MAX || choice(x->node, "keep_aspect_ratio_policy", policies, 0) != 0 || !tn_in_content(x, at, &sizes, &count)) return;
    if (read_axes(x->node, s->rank, &a) || count != a.count) return;
    for (uint32_t i = 0; i < count; i++) out.dims[a.axis[i]] = sizes[i];
    tn_out_tensor(x, 0, e, out.rank, out.dims);
}

bool tn_resize_infer(struct tn_infer *x)
{
    const struct tn_shape *s;
    const struct tn_type *t = tn_in_type(x, 0);
    enum tn_element e = t ? t->element : TN_EL_NONE;
    struct places at = places_of(x->node);
    struct tn_resize p = {.rank = 0};
    tn_dim_t out[TN_RANK];
    bool enough, known = true;
    tn_out_unknown(x, 0, e);
    if (!tn_in_shape(x, 0, &s)) return true;
    p.rank = s->rank;
    for (uint32_t i = 0; i < s->rank; i++) {
        known = known && tn_dim_known(s->dims[i]);
        p.in[i] = tn_dim_known(s->dims[i]) ? s->dims[i] : 1;
    }
    const struct tn_tensor *scales = at.scales < x->in_count ? tn_in_data(x, at.scales) : NULL;
    const struct tn_tensor *sizes = at.sizes < x->in_count ? tn_in_data(x, at.sizes) : NULL;
    if (scales && scales->element != TN_EL_F32) return tn_infer_refuse(x, "scales of float32", "another type");
    if ((scales && scales->rank > 1) || (sizes && sizes->rank > 1)) return tn_infer_refuse(x, "lists of scales and sizes", "rank %u", scales ? scales->rank : sizes->rank);
    const char *bad = fit(x->node, scales, sizes, &p, &enough);
    if (bad) return tn_infer_refuse(x, bad, "scales, sizes or axes that do not fit");
    bool by_scale = enough && !(sizes && sizes->count);
    if (!enough && x->running) return tn_infer_refuse(x, "scales or sizes", "neither");
    if (!enough || (!known && !by_scale)) {
        symbolic_sizes(x, s, at.sizes, e);
        return true;
    }
    for (uint32_t i = 0; i < s->rank; i++) {
        out[i] = p.out[i];
        if (tn_dim_known(s->dims[i])) continue;
        bool whole = p.scale[i] == floor(p.scale[i]) && p.scale[i] < 0x1p31;
        out[i] = whole ? tn_dim_mul(x->symbols, s->dims[i], (int64_t)p.scale[i]) : tn_dim_unknown(x->symbols);
    }
    tn_out_tensor(x, 0, e, s->rank, out);
    return true;
}

static const char *read_region(const struct tn_run *r, uint32_t at, struct tn_resize *p)
{
    const struct tn_tensor *roi = at < r->in_count ? r->in[at] : NULL;
    struct axes a;
    read_axes(r->node, p->rank, &a);
    for (uint32_t i = 0; i < p->rank; i++) p->end[i] = 1;
    if (p->transform != TN_CROP_AND_RESIZE) return NULL;
    if (!roi || roi->count != 2 * (uint64_t)a.count) return "a region with a start and an end for each axis";
    for (uint32_t i = 0; i < a.count; i++) {
        p->start[a.axis[i]] = tn_element_get(roi->element, roi->data, i);
        p->end[a.axis[i]] = tn_element_get(roi->element, roi->data, a.count + i);
    }
    return NULL;
}

const char *tn_resize_plan(const struct tn_run *r, struct tn_resize *p)
{
    const struct tn_tensor *x = r->in[0];
    struct places at = places_of(r->node);
    bool enough;
    *p = (struct tn_resize){.rank = x->rank};
    for (uint32_t i = 0; i < x->rank; i++) p->in[i] = x->dims[i];
    read_modes(r->node, p);
    const char *bad = fit(r->node, at.scales < r->in_count ? r->in[at.scales] : NULL, at.sizes < r->in_count ? r->in[at.sizes] : NULL, p, &enough);
    if (!bad && !enough) bad = "scales or sizes";
    if (!bad) bad = read_region(r, at.roi, p);
    for (uint32_t i = 0; i < p->rank; i++) {
        bool whole = p->start[i] == 0 && p->end[i] == 1;
        p->same[i] = p->in[i] == p->out[i] && fabs(p->scale[i] - 1) < 1e-9 && whole;
    }
    return bad;
}

/* ---- coordinates -------------------------------------------------------------------------------------------------- */

/* Where output index o lies in the input; false: outside of it, where that matters. */
static bool original(const struct tn_resize *p, uint32_t d, int64_t o, double *at)
{
    double x = (double)o, in = (double)p->in[d], scale = p->scale[d], width = scale * in, out = (double)p->out[d];
    *at = x / scale;
    switch (p->transform) {
    case TN_HALF_PIXEL:
        *at = (x + 0.5) / scale - 0.5;
        break;
    case TN_HALF_PIXEL_SYMMETRIC:
        *at = in / 2 * (1 - out / width) + (x + 0.5) / scale - 0.5;
        break;
    case TN_PYTORCH_HALF_PIXEL:
        *at = p->out[d] > 1 ? (x + 0.5) / scale - 0.5 : 0;
        break;
    case TN_ALIGN_CORNERS:
        *at = width == 1 || p->out[d] < 2 ? 0 : x * (in - 1) / (width - 1);
        break;
    case TN_ASYMMETRIC:
        break;
    case TN_CROP_AND_RESIZE:
        *at = width == 1 || p->out[d] < 2 ? 0.5 * (p->start[d] + p->end[d]) * (in - 1)
                                          : p->start[d] * (in - 1) + x * (p->end[d] - p->start[d]) * (in - 1) / (width - 1);
        return *at >= 0 && *at <= in - 1;
    }
    return true;
}

static int64_t clamp(double at, int64_t in)
{
    if (!(at > 0)) return 0;
    return at >= (double)(in - 1) ? in - 1 : (int64_t)at;
}

int64_t tn_resize_nearest(const struct tn_resize *p, uint32_t d, int64_t o)
{
    double at;
    if (!original(p, d, o, &at)) return -1;
    /* Scales are float32: 2.3 is not known well enough to tell 4.5000001 from the middle that was meant. */
    at = (double)(float)at;
    switch (p->rounding) {
    case TN_ROUND_PREFER_FLOOR:
        at = ceil(at - 0.5);
        break;
    case TN_ROUND_PREFER_CEIL:
        at = floor(at + 0.5);
        break;
    case TN_ROUND_FLOOR:
        at = floor(at);
        break;
    case TN_ROUND_CEIL:
        at = ceil(at);
        break;
    }
    return clamp(at, p->in[d]);
}

/* ---- weights ------------------------------------------------------------------------------------------------------ */

/* How much the kernel is stretched. */
static double stretch(const struct tn_resize *p, uint32_t d)
{
    return p->antialias && p->scale[d] < 1 ? p->scale[d] : 1;
}

/* The first tap, counted from the element at or before the place. */
static int64_t first_tap(const struct tn_resize *p, uint32_t d)
{
    double radius = p->mode == TN_RESIZE_CUBIC ? 2 : 1;
    return (int64_t)floor(-radius / stretch(p, d)) + 1;
}

uint32_t tn_resize_taps(const struct tn_resize *p, uint32_t d)
{
    return (uint32_t)(2 - 2 * first_tap(p, d));
}

static double kernel(const struct tn_resize *p, double x)
{
    double a = p->cubic;
    x = fabs(x);
    if (p->mode == TN_RESIZE_LINEAR) return x < 1 ? 1 - x : 0;
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

bool tn_resize_weights(const struct tn_resize *p, uint32_t d, int64_t o, uint32_t taps, uint32_t *index, double *weight)
{
    double at, sum = 0, width = stretch(p, d);
    bool inside = original(p, d, o, &at);
    double base = ceil(at) - 1; /* an integer place has its left neighbour as base, and all of its own weight */
    int64_t first = first_tap(p, d);
    for (uint32_t k = 0; k < taps; k++) {
        double place = base + (double)(first + (int64_t)k);
        index[k] = (uint32_t)clamp(place, p->in[d]);
        weight[k] = kernel(p, (place - at) * width);
        if (p->exclude_outside && (place < 0 || place > (double)(p->in[d] - 1))) weight[k] = 0;
        sum += weight[k];
    }
    bool normalise = (p->antialias || p->exclude_outside) && sum != 0;
    for (uint32_t k = 0; normalise && k < taps; k++) weight[k] /= sum;
    return inside;
}
