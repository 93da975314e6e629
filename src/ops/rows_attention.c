/* Attention among the rows of each sequence, and what it reads of positions; operands and attributes in ops/rows.h. */
#include "ops/rows.h"

#include "base/checked.h"
#include "ops/rope.h"

#include <math.h>
#include <string.h>

/* Most positions that a table may be made for. */
enum { POSITIONS = 1 << 24 };

/* ---- tables that follow from constants ---------------------------------------------------------------------------- */

static bool infer_angles(struct tn_infer *x)
{
    const struct tn_shape *s;
    int64_t positions = tn_attr_int(x->node, "positions", 0), head = tn_attr_int(x->node, "head_dim", 0);
    if (head < 2 || head % 2) return tn_infer_refuse(x, "a head whose dimensions make pairs", "%lld dimensions", (long long)head);
    if (!tn_in_shape(x, 0, &s) || s->rank != 1 || tn_in_type(x, 0)->element != TN_EL_F32 || positions < 1 || positions > POSITIONS)
        return tn_infer_refuse(x, "frequencies [head_dim / 2] and a number of positions", "%lld positions", (long long)positions);
    tn_dim_t dims[2] = {positions, s->dims[0]};
    for (uint32_t k = 0; k < 2; k++) tn_out_tensor(x, k, TN_EL_F32, 2, dims);
    return true;
}

static bool run_angles(struct tn_run *r)
{
    tn_rope_angles(r->in[0]->data, r->in[0]->count, (uint64_t)tn_attr_int(r->node, "positions", 0), r->out[0]->data, r->out[1]->data);
    return true;
}

/* 2 length - 1 distances, the one between a row and itself in the middle. */
static bool infer_length(struct tn_infer *x, int64_t *columns)
{
    int64_t length = tn_attr_int(x->node, "length", 0);
    *columns = 2 * length - 1;
    return (length > 0 && length <= POSITIONS) || tn_infer_refuse(x, "a longest sequence", "%lld", (long long)length);
}

static bool infer_bias(struct tn_infer *x)
{
    const struct tn_shape *s;
    tn_dim_t dims[2];
    if (!infer_length(x, &dims[1])) return false;
    int64_t buckets = tn_attr_int(x->node, "buckets", 0);
    if (!tn_in_shape(x, 0, &s) || s->rank != 2 || !tn_rows_stored(tn_in_type(x, 0)->element) || s->dims[0] != buckets || buckets < 2)
        return tn_infer_refuse(x, "a table [buckets, heads]", "another type beside %lld buckets", (long long)buckets);
    dims[0] = s->dims[1];
    tn_out_tensor(x, 0, TN_EL_F32, 2, dims);
    return true;
}

/*
 * T5's buckets of a distance j - i (Raffel et al. 2019, arXiv 1910.10683, section 2.1): half for each direction, the first
 * half of those exact, the others on a logarithmic scale that ends at max_distance. In float32 as published.
 */
static uint64_t bias_bucket(int64_t distance, uint64_t buckets, uint64_t max_distance)
{
    uint64_t half = buckets / 2, exact = half / 2, far = (uint64_t)(distance < 0 ? -distance : distance), base = distance > 0 ? half : 0;
    if (far < exact) return base + far;
    float ratio = logf((float)far / (float)exact) / (float)log((double)max_distance / (double)exact);
    uint64_t bucket = exact + (uint64_t)(ratio * (float)(half - exact));
    return base + (bucket < half ? bucket : half - 1);
}

static bool run_bias(struct tn_run *r)
{
    const struct tn_tensor *table = r->in[0];
    uint64_t heads = (uint64_t)table->dims[1], length = (uint64_t)r->out[0]->dims[1], buckets = (uint64_t)table->dims[0];
    uint64_t max_distance = (uint64_t)tn_attr_int(r->node, "max_distance", 0);
    int64_t center = (int64_t)length / 2;
    float *y = r->out[0]->data;
    for (uint64_t at = 0; at < length; at++) {
        uint64_t bucket = bias_bucket((int64_t)at - center, buckets, max_distance);
        for (uint64_t h = 0; h < heads; h++) y[h * length + at] = (float)tn_element_get(table->element, table->data, bucket * heads + h);
    }
    return true;
}

static bool infer_distance(struct tn_infer *x)
{
    tn_dim_t columns;
    if (!infer_length(x, &columns)) return false;
    if (tn_attr_int(x->node, "span", 0) < 1) return tn_infer_refuse(x, "a span of at least one row", "none");
    tn_out_tensor(x, 0, TN_EL_I32, 1, &columns);
    return true;
}

/*
 * DeBERTa's bucket of a distance (He et al. 2020, arXiv 2006.03654; version 2's logarithmic buckets as published with its
 * code): exact up to the middle, then ceil of a logarithm that reaches the last bucket at max_distance. In float32 as
 * there.
 */
static int64_t distance_bucket(int64_t distance, uint64_t buckets, uint64_t max_distance)
{
    int64_t middle = (int64_t)(buckets / 2), far = distance < 0 ? -distance : distance;
    if (buckets == 0 || far <= middle) return distance;
    float scale = (float)log((double)(float)((double)(max_distance - 1) / (double)middle));
    float ratio = (float)log((double)((float)far / (float)middle)) / scale * (float)(middle - 1);
    int64_t bucket = (int64_t)ceilf(ratio) + middle;
    return distance < 0 ? -bucket : bucket;
}

static bool run_distance(struct tn_run *r)
{
    int64_t span = tn_attr_int(r->node, "span", 0), length = r->out[0]->dims[0], center = length / 2;
    uint64_t buckets = (uint64_t)tn_attr_int(r->node, "buckets", 0), max_distance = (uint64_t)tn_attr_int(r->node, "max_distance", 0);
    int32_t *y = r->out[0]->data;
    for (int64_t at = 0; at < length; at++) {
        int64_t row = distance_bucket(center - at, buckets, max_distance) + span;
        y[at] = (int32_t)(row < 0 ? 0 : row > 2 * span - 1 ? 2 * span - 1 : row);
    }
    return true;
}

/* ---- Rotary ------------------------------------------------------------------------------------------------------- */

static bool infer_rotary(struct tn_infer *x)
{
    const struct tn_shape *cosine, *sine;
    tn_dim_t rows;
    int64_t width, heads = tn_attr_int(x->node, "heads", 0);
    if (!tn_rows_in(x, 0, &rows, &width)) return false;
    if (!tn_in_shape(x, 2, &cosine) || !tn_in_shape(x, 3, &sine) || cosine->rank != 2 || sine->rank != 2 || cosine->dims[1] != sine->dims[1])
        return tn_infer_refuse(x, "cosines and sines [positions, head_dim / 2]", "other tables");
    if (heads < 1 || cosine->dims[1] < 1 || heads > width / (2 * cosine->dims[1]))
        return tn_infer_refuse(x, "rows that hold the heads", "%lld heads in %lld columns", (long long)heads, (long long)width);
    return tn_rows_out(x, rows, width);
}

struct job {
    const struct tn_kernels *kernels;
    struct tn_rotary_args rotary;
    struct tn_attention_args attention;
    const float *from; /* rotary: where x is, when it is needed again */
};

static void rotary_member(void *arg, unsigned rank, unsigned size)
{
    const struct job *j = arg;
    const struct tn_rotary_args *a = &j->rotary;
    size_t begin, end;
    tn_share(a->rows, rank, size, &begin, &end); /* by rows as the kernel shares them */
    if (j->from != a->x) memcpy(a->x + begin * a->stride, j->from + begin * a->stride, (end - begin) * a->stride * sizeof(float));
    j->kernels->rotary(a, rank, size);
}

static bool run_rotary(struct tn_run *r)
{
    struct job j = {.kernels = r->kernels, .from = r->in[0]->data,
                    .rotary = {.x = r->out[0]->data, .stride = (size_t)r->out[0]->dims[1], .rows = (size_t)r->out[0]->dims[0],
                               .heads = (size_t)tn_attr_int(r->node, "heads", 0), .head_dim = 2 * (size_t)r->in[2]->dims[1],
                               .positions = r->in[1]->data, .cosine = r->in[2]->data, .sine = r->in[3]->data}};
    tn_run_team(r, r->out[0]->count * 4, rotary_member, &j);
    return true;
}

/* ---- Attention ---------------------------------------------------------------------------------------------------- */

/* Operand i, where it is given, is a table of rows by distance, as wide as keys are. */
static bool check_terms(struct tn_infer *x, uint32_t i, int64_t width)
{
    const struct tn_shape *s;
    int64_t span = tn_attr_int(x->node, "span", 0);
    if (!tn_in_given(x, i)) return true;
    if (!tn_in_shape(x, i, &s)) return false;
    if (tn_attr_int(x->node, "window", 0)) return tn_infer_refuse(x, "relative terms alone", "a window beside them");
    if (!tn_in_given(x, TN_ATTENTION_ROWS) || s->rank != 2 || s->dims[1] != width)
        return tn_infer_refuse(x, "a row for each distance and the columns of all heads", "a table of another shape");
    return s->dims[0] == 2 * span || tn_infer_refuse(x, "two rows for each distance of the span", "%lld rows, a span of %lld",
                                                     (long long)s->dims[0], (long long)span);
}

static bool check_bias(struct tn_infer *x, int64_t heads)
{
    const struct tn_shape *s;
    if (!tn_in_given(x, TN_ATTENTION_BIAS)) return true;
    if (!tn_in_shape(x, TN_ATTENTION_BIAS, &s)) return false;
    if (s->rank == 2 && s->dims[0] == heads) return true;
    return tn_infer_refuse(x, "a bias for each of the heads", "another shape beside %lld heads", (long long)heads);
}

static bool infer_attention(struct tn_infer *x)
{
    const struct tn_shape *offsets;
    tn_dim_t rows;
    int64_t width, heads = tn_attr_int(x->node, "heads", 0), head_dim = tn_attr_int(x->node, "head_dim", 0);
    if (!tn_rows_in(x, TN_ATTENTION_QKV, &rows, &width)) return false;
    if (heads < 1 || head_dim < 1 || width % 3 || heads > width / 3 / head_dim || heads * head_dim != width / 3)
        return tn_infer_refuse(x, "q, k and v side by side", "%lld columns for %lld heads of %lld", (long long)width, (long long)heads,
                               (long long)head_dim);
    if (!tn_in_shape(x, TN_ATTENTION_OFFSETS, &offsets) || offsets->rank != 1)
        return tn_infer_refuse(x, "offsets [S + 1]", "operand 1 of another shape");
    return check_bias(x, heads) && check_terms(x, TN_ATTENTION_KEY, width / 3) && check_terms(x, TN_ATTENTION_QUERY, width / 3) &&
           tn_rows_out(x, rows, width / 3);
}

static bool kept(const struct tn_net *net, const struct tn_node *node, const struct tn_kernels *kernels, struct tn_kept *out)
{
    bool relative = tn_net_at(net, node->in[TN_ATTENTION_KEY]) || tn_net_at(net, node->in[TN_ATTENTION_QUERY]);
    return kernels->attention_scratch_size((size_t)tn_attr_int(node, "length", 1), (size_t)tn_attr_int(node, "head_dim", 1), relative, &out->scratch);
}

static void attention_member(void *arg, unsigned rank, unsigned size)
{
    const struct job *j = arg;
    j->kernels->attention(&j->attention, rank, size);
}

static const struct tn_tensor *given(const struct tn_run *r, uint32_t i)
{
    return i < r->in_count ? r->in[i] : NULL;
}

/* What positions add to the products, where operands for it are given. */
static void add_positions(const struct tn_run *r, struct tn_attention_args *a)
{
    const struct tn_tensor *bias = given(r, TN_ATTENTION_BIAS), *distance = given(r, TN_ATTENTION_ROWS);
    const struct tn_tensor *key = given(r, TN_ATTENTION_KEY), *query = given(r, TN_ATTENTION_QUERY);
    if (bias) {
        a->bias = bias->data;
        a->bias_stride = (size_t)bias->dims[1];
        a->bias_center = (size_t)bias->dims[1] / 2;
    }
    if (!distance) return;
    a->position_key = key ? key->data : NULL;
    a->position_query = query ? query->data : NULL;
    a->position_stride = a->out_stride;
    a->relative_row = distance->data;
    a->relative_center = (size_t)distance->dims[0] / 2;
}

static bool run_attention(struct tn_run *r)
{
    const float *qkv = r->in[TN_ATTENTION_QKV]->data;
    const struct tn_tensor *spans = given(r, TN_ATTENTION_SPANS);
    size_t hidden = (size_t)r->out[0]->dims[1];
    struct job j = {.kernels = r->kernels};
    struct tn_attention_args *a = &j.attention;
    *a = (struct tn_attention_args){
        .q = qkv,
        .k = qkv + hidden,
        .v = qkv + 2 * hidden,
        .q_stride = 3 * hidden,
        .k_stride = 3 * hidden,
        .v_stride = 3 * hidden,
        .out = r->out[0]->data,
        .out_stride = hidden,
        .offsets = r->in[TN_ATTENTION_OFFSETS]->data,
        .sequences = (size_t)r->in[TN_ATTENTION_OFFSETS]->dims[0] - 1,
        .heads = (size_t)tn_attr_int(r->node, "heads", 0),
        .head_dim = (size_t)tn_attr_int(r->node, "head_dim", 0),
        .scale = (float)tn_attr_float(r->node, "scale", 1),
        .window = (size_t)tn_attr_int(r->node, "window", 0),
        .seen = spans ? spans->data : NULL,
        .scratch = r->scratch,
        .scratch_bytes = r->scratch_bytes,
    };
    add_positions(r, a);
    tn_run_team(r, r->in[TN_ATTENTION_QKV]->count * 8, attention_member, &j);
    return true;
}

static const struct tn_operator rows[] = {
    {.domain = "tenon", .name = "RotaryAngles", .since = 1, .infer = infer_angles, .run = run_angles, .table = true, .fresh = true},
    {.domain = "tenon", .name = "DistanceBias", .since = 1, .infer = infer_bias, .run = run_bias, .table = true, .fresh = true},
    {.domain = "tenon", .name = "DistanceRows", .since = 1, .infer = infer_distance, .run = run_distance, .table = true, .fresh = true},
    {.domain = "tenon", .name = "Rotary", .since = 1, .infer = infer_rotary, .run = run_rotary, .in_place = true, .fresh = true},
    {.domain = "tenon", .name = "Attention", .since = 1, .infer = infer_attention, .run = run_attention, .kept = kept, .fresh = true},
};

const struct tn_operators tn_ops_rows_attention = {rows, sizeof(rows) / sizeof(rows[0])};
