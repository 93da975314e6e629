/*
 * RoiAlign and MaxRoiPool: pools over regions of images. Regions come from requests: batch indices are checked, and so is
 * the number of samples that a region asks for.
 */
#include "ops/real.h"

#include <math.h>

static bool differ(tn_dim_t a, tn_dim_t b)
{
    return tn_dim_known(a) && tn_dim_known(b) && a != b;
}

/* ---- RoiAlign ----------------------------------------------------------------------------------------------------- */

static bool infer_align(struct tn_infer *t)
{
    const struct tn_shape *x, *rois, *batch;
    const struct tn_type *type = tn_in_type(t, 0);
    enum tn_element e = type ? type->element : TN_EL_NONE;
    int64_t height = tn_attr_int(t->node, "output_height", 1), width = tn_attr_int(t->node, "output_width", 1);
    tn_out_unknown(t, 0, e);
    if (height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX || tn_attr_int(t->node, "sampling_ratio", 0) < 0)
        return tn_infer_refuse(t, "output sizes from 1 and a sampling_ratio from 0", "%lld x %lld", (long long)height, (long long)width);
    if (!tn_in_shape(t, 0, &x) || !tn_in_shape(t, 1, &rois)) return true;
    if (x->rank != 4 || rois->rank != 2 || differ(rois->dims[1], 4))
        return tn_infer_refuse(t, "images of rank 4 and regions of 4 numbers", "ranks %u and %u", x->rank, rois->rank);
    if (tn_in_shape(t, 2, &batch) && (batch->rank != 1 || differ(batch->dims[0], rois->dims[0])))
        return tn_infer_refuse(t, "an image's index for each region", "rank %u", batch->rank);
    tn_out_tensor(t, 0, e, 4, (tn_dim_t[]){rois->dims[0], x->dims[1], height, width});
    return true;
}

static const char *lacks_align(const struct tn_node *node)
{
    struct tn_str mode = tn_attr_text(node, "mode"), t = tn_attr_text(node, "coordinate_transformation_mode");
    if (!tn_str_is(mode, "avg") && !tn_str_is(mode, "max")) return "mode";
    return t.n == 0 || tn_str_is(t, "half_pixel") || tn_str_is(t, "output_half_pixel") ? NULL : "coordinate_transformation_mode";
}

struct align {
    const struct tn_tensor *x, *y;
    const struct tn_tensor *rois, *batch;
    const double *from;
    double *to;
    double scale;
    int64_t ratio;
    bool half, max;
};

struct region {
    double top, left, bin_height, bin_width;
    int64_t rows, columns; /* samples of a bin */
};

static void read_region(const struct align *a, uint64_t n, struct region *g)
{
    double shift = a->half ? 0.5 : 0, edge[4];
    for (unsigned i = 0; i < 4; i++) edge[i] = tn_element_get(a->rois->element, a->rois->data, n * 4 + i) * a->scale - shift;
    double width = edge[2] - edge[0], height = edge[3] - edge[1];
    if (!a->half) {
        width = width > 1 ? width : 1;
        height = height > 1 ? height : 1;
    }
    g->top = edge[1];
    g->left = edge[0];
    g->bin_height = height / (double)a->y->dims[2];
    g->bin_width = width / (double)a->y->dims[3];
    double rows = a->ratio > 0 ? (double)a->ratio : ceil(g->bin_height), columns = a->ratio > 0 ? (double)a->ratio : ceil(g->bin_width);
    /* beyond any image, and not a number */
    g->rows = !(rows <= 65536) ? -1 : rows > 0 ? (int64_t)rows : 0;
    g->columns = !(columns <= 65536) ? -1 : columns > 0 ? (int64_t)columns : 0;
}

/* Four neighbours and their weights; false: outside the image. */
static bool neighbours(double y, double x, int64_t height, int64_t width, int64_t *at, double *weight)
{
    if (!(y >= -1 && y <= (double)height && x >= -1 && x <= (double)width)) return false;
    y = y > 0 ? y : 0;
    x = x > 0 ? x : 0;
    int64_t top = (int64_t)y, left = (int64_t)x, bottom = top + 1, right = left + 1;
    if (top >= height - 1) {
        top = bottom = height - 1;
        y = (double)top;
    }
    if (left >= width - 1) {
        left = right = width - 1;
        x = (double)left;
    }
    double dy = y - (double)top, dx = x - (double)left;
    at[0] = top * width + left;
    at[1] = top * width + right;
    at[2] = bottom * width + left;
    at[3] = bottom * width + right;
    weight[0] = (1 - dy) * (1 - dx);
    weight[1] = (1 - dy) * dx;
    weight[2] = dy * (1 - dx);
    weight[3] = dy * dx;
    return true;
}

static double bin(const struct align *a, const struct region *g, const double *plane, int64_t row, int64_t column)
{
    int64_t at[4], height = a->x->dims[2], width = a->x->dims[3];
    double weight[4], sum = 0, most = 0;
    bool first = true;
    for (int64_t i = 0; i < g->rows; i++) {
        double y = g->top + (double)row * g->bin_height + ((double)i + 0.5) * g->bin_height / (double)g->rows;
        for (int64_t k = 0; k < g->columns; k++) {
            double x = g->left + (double)column * g->bin_width + ((double)k + 0.5) * g->bin_width / (double)g->columns;
            bool inside = neighbours(y, x, height, width, at, weight);
            for (unsigned n = 0; n < 4; n++) {
                double v = inside ? weight[n] * plane[at[n]] : 0;
                sum += v;
                /* the greatest of the weighted neighbours, as the standard's max has it */
                most = first || v > most ? v : most;
                first = false;
            }
        }
    }
    int64_t count = g->rows * g->columns;
    return a->max ? most : sum / (double)(count > 0 ? count : 1);
}

/* Items are (region, channel). */
static void align_items(void *user, uint64_t begin, uint64_t end)
{
    const struct align *a = user;
    uint64_t channels = (uint64_t)a->x->dims[1], plane = (uint64_t)a->x->dims[2] * (uint64_t)a->x->dims[3];
    int64_t height = a->y->dims[2], width = a->y->dims[3];
    for (uint64_t i = begin; i < end; i++) {
        struct region g;
        uint64_t n = i / channels, image = (uint64_t)tn_element_get_int(a->batch->element, a->batch->data, n);
        read_region(a, n, &g);
        const double *from = a->from + (image * channels + i % channels) * plane;
        for (int64_t row = 0; row < height; row++) {
            for (int64_t column = 0; column < width; column++)
                a->to[(i * (uint64_t)height + (uint64_t)row) * (uint64_t)width + (uint64_t)column] = bin(a, &g, from, row, column);
        }
    }
}

static bool check_regions(struct tn_run *r, const struct align *a)
{
    for (uint64_t n = 0; n < a->batch->count; n++) {
        struct region g;
        int64_t image = tn_run_int(r, 2, n);
        if (image < 0 || image >= a->x->dims[0]) return tn_run_refuse(r, "indices of images", "%lld of %lld", (long long)image, (long long)a->x->dims[0]);
        read_region(a, n, &g);
        if (g.rows < 0 || g.columns < 0) return tn_run_refuse(r, "regions of finite size", "region %llu", (unsigned long long)n);
    }
    return true;
}

static bool run_align(struct tn_run *r)
{
    struct tn_reals reals;
    struct tn_str t = tn_attr_text(r->node, "coordinate_transformation_mode");
    struct align a = {.x = r->in[0], .y = r->out[0], .rois = r->in[1], .batch = r->in[2], .scale = tn_attr_float(r->node, "spatial_scale", 1),
                      .ratio = tn_attr_int(r->node, "sampling_ratio", 0), .half = r->node->version >= 16 && !tn_str_is(t, "output_half_pixel"),
                      .max = tn_str_is(tn_attr_text(r->node, "mode"), "max")};
    if (a.y->count == 0) return true;
    if (a.x->count == 0) return tn_run_refuse(r, "images with elements", "empty ones");
    if (!check_regions(r, &a)) return false;
    tn_reals_begin(&reals, r, TN_EL_F64);
    a.from = tn_reals_in(&reals, 0);
    a.to = tn_reals_out(&reals, 0);
    uint64_t cost = (uint64_t)a.y->dims[2] * (uint64_t)a.y->dims[3] * 64;
    if (tn_reals_good(&reals)) tn_run_items(r, (uint64_t)a.y->dims[0] * (uint64_t)a.y->dims[1], cost, align_items, &a);
    return tn_reals_end(&reals);
}

/* ---- MaxRoiPool --------------------------------------------------------------------------------------------------- */

static bool infer_pool(struct tn_infer *t)
{
    const struct tn_shape *x, *rois;
    const struct tn_type *type = tn_in_type(t, 0);
    size_t n;
    const int64_t *shape = tn_attr_ints(t->node, "pooled_shape", &n);
    tn_out_unknown(t, 0, type ? type->element : TN_EL_NONE);
    if (n != 2 || shape[0] < 1 || shape[1] < 1) return tn_infer_refuse(t, "a pooled_shape of two numbers from 1", "%zu numbers", n);
    if (!tn_in_shape(t, 0, &x) || !tn_in_shape(t, 1, &rois)) return true;
    if (x->rank != 4 || rois->rank != 2 || differ(rois->dims[1], 5))
        return tn_infer_refuse(t, "images of rank 4 and regions of 5 numbers", "ranks %u and %u", x->rank, rois->rank);
    tn_out_tensor(t, 0, type->element, 4, (tn_dim_t[]){rois->dims[0], x->dims[1], shape[0], shape[1]});
    return true;
}

/* Part `i` of `count` of a region that begins at `start`, cut to the image: [*from, *to). */
static void part(double start, double size, int64_t i, int64_t count, int64_t limit, int64_t *from, int64_t *to)
{
    double each = size / (double)count, low = floor((double)i * each) + start, high = ceil((double)(i + 1) * each) + start;
    *from = !(low > 0) ? 0 : low > (double)limit ? limit : (int64_t)low;
    *to = !(high > 0) ? 0 : high > (double)limit ? limit : (int64_t)high;
}

/* Girshick et al. 2015 (arXiv 1504.08083, section 2.1): corners are rounded, parts without elements are 0. */
static double region_max(const struct tn_run *r, const double *plane, uint64_t n, int64_t row, int64_t column)
{
    const struct tn_tensor *x = r->in[0], *rois = r->in[1], *y = r->out[0];
    double scale = tn_attr_float(r->node, "spatial_scale", 1), edge[4], most = -INFINITY;
    int64_t top, bottom, left, right;
    for (unsigned i = 0; i < 4; i++) edge[i] = round(tn_element_get(rois->element, rois->data, n * 5 + 1 + i) * scale);
    double width = edge[2] - edge[0] + 1, height = edge[3] - edge[1] + 1;
    part(edge[1], height > 1 ? height : 1, row, y->dims[2], x->dims[2], &top, &bottom);
    part(edge[0], width > 1 ? width : 1, column, y->dims[3], x->dims[3], &left, &right);
    for (int64_t i = top; i < bottom; i++) {
        for (int64_t k = left; k < right; k++) most = plane[i * x->dims[3] + k] > most ? plane[i * x->dims[3] + k] : most;
    }
    return bottom <= top || right <= left ? 0 : most;
}

static bool run_pool(struct tn_run *r)
{
    struct tn_reals reals;
    const struct tn_tensor *x = r->in[0], *rois = r->in[1], *y = r->out[0];
    if (y->count == 0) return true;
    uint64_t plane = (uint64_t)x->dims[2] * (uint64_t)x->dims[3], channels = (uint64_t)x->dims[1], at = 0;
    tn_reals_begin(&reals, r, TN_EL_F64);
    const double *from = tn_reals_in(&reals, 0);
    double *to = tn_reals_out(&reals, 0);
    for (uint64_t n = 0; tn_reals_good(&reals) && n < (uint64_t)rois->dims[0]; n++) {
        double image = tn_element_get(rois->element, rois->data, n * 5);
        if (!(image >= 0 && image < (double)x->dims[0])) {
            tn_run_refuse(r, "indices of images", "region %llu of another", (unsigned long long)n);
            break;
        }
        for (uint64_t c = 0; c < channels; c++) {
            for (int64_t i = 0; i < y->dims[2] * y->dims[3]; i++)
                to[at++] = region_max(r, from + ((uint64_t)image * channels + c) * plane, n, i / y->dims[3], i % y->dims[3]);
        }
    }
    return tn_reals_end(&reals);
}

static const struct tn_operator rows[] = {
    {.name = "RoiAlign", .since = 10, .infer = infer_align, .run = run_align, .lacks = lacks_align},
    {.name = "MaxRoiPool", .since = 1, .infer = infer_pool, .run = run_pool},
};

const struct tn_operators tn_ops_roi = {rows, sizeof(rows) / sizeof(rows[0])};
