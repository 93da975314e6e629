/*
 * Operators whose results are chosen by values: TopK, NonZero, Compress, Unique, NonMaxSuppression. Where the number of
 * results depends on the values, `run` makes the output.
 */
#include "ops/move.h"

#include "base/sort.h"

#include <math.h>
#include <string.h>

/* ---- order -------------------------------------------------------------------------------------------------------- */

struct ordering {
    const struct tn_tensor *x;
    bool descending;
};

/* NaN is larger than every number, as numpy sorts it; equal values keep the order of their indices. */
static int order_values(const struct tn_tensor *x, int64_t a, int64_t b)
{
    if (x->element == TN_EL_STRING) return tn_str_order(tn_tensor_texts(x)[a], tn_tensor_texts(x)[b]);
    if (tn_elements_have(TN_ELS_INT | TN_ELS(BOOL), x->element)) {
        int64_t p = tn_element_get_int(x->element, x->data, (size_t)a), q = tn_element_get_int(x->element, x->data, (size_t)b);
        if (x->element == TN_EL_U64) return ((uint64_t)p > (uint64_t)q) - ((uint64_t)p < (uint64_t)q);
        return (p > q) - (p < q);
    }
    double p = tn_element_get(x->element, x->data, (size_t)a), q = tn_element_get(x->element, x->data, (size_t)b);
    if (isnan(p) || isnan(q)) return isnan(p) - isnan(q);
    return (p > q) - (p < q);
}

static int by_value(const void *a, const void *b, void *context)
{
    const struct ordering *o = context;
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    int order = order_values(o->x, x, y);
    if (o->descending) order = -order;
    return order ? order : (x > y) - (x < y);
}

/* ---- TopK --------------------------------------------------------------------------------------------------------- */

static bool infer_top_k(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    const struct tn_attr *fixed = tn_node_attr(x->node, "k");
    int64_t k[TN_CONTENT];
    uint32_t n, axis;
    bool known = fixed || tn_in_numbers(x, 1, k, TN_CONTENT, &n);
    if (x->failed || !t) return !x->failed;
    if (fixed) {
        k[0] = fixed->as.i;
        n = 1;
    }
    tn_out_unknown(x, 0, t->element);
    tn_out_unknown(x, 1, TN_EL_I64);
    if (!t->shape.known) return true;
    if (!tn_infer_axis(x, tn_attr_int(x->node, "axis", -1), t->shape.rank, &axis)) return false;
    struct tn_type out = *t;
    out.shape.dims[axis] = tn_dim_unknown(x->symbols);
    if (known && (n != 1 || k[0] < 0 || (tn_dim_known(t->shape.dims[axis]) && k[0] > t->shape.dims[axis]))) return tn_infer_refuse(x, "a k from 0 to the dimension", "%lld of %lld", n ? (long long)k[0] : 0, (long long)t->shape.dims[axis]);
    if (known) out.shape.dims[axis] = k[0];
    tn_out_type(x, 0, &out);
    out.element = TN_EL_I64;
    tn_out_type(x, 1, &out);
    return true;
}

static bool run_top_k(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *values = r->out[0], *places = r->out[1];
    int64_t axis = tn_attr_int(r->node, "axis", -1);
    struct ordering o = {x, tn_attr_int(r->node, "largest", 1) != 0};
    size_t size;
    if (!tn_move_size(r, x->element, &size)) return false;
    axis = axis < 0 ? axis + x->rank : axis;
    int64_t n = x->dims[axis], k = values ? values->dims[axis] : places->dims[axis], inner = 1;
    for (uint32_t d = (uint32_t)axis + 1; d < x->rank; d++) inner *= x->dims[d];
    int64_t *order = tn_run_scratch(r, (size_t)n + 1, sizeof(*order));
    if (!order) return false;
    for (uint64_t lane = 0; n && lane < x->count / (uint64_t)n; lane++) {
        int64_t base = (int64_t)(lane / (uint64_t)inner) * n * inner + (int64_t)(lane % (uint64_t)inner);
        int64_t to = (int64_t)(lane / (uint64_t)inner) * k * inner + (int64_t)(lane % (uint64_t)inner);
        for (int64_t i = 0; i < n; i++) order[i] = base + i * inner;
        tn_sort(order, (size_t)n, sizeof(*order), by_value, &o);
        for (int64_t i = 0; i < k; i++) {
            if (values) memcpy((char *)values->data + (size_t)(to + i * inner) * size, (const char *)x->data + (size_t)order[i] * size, size);
            if (places) ((int64_t *)places->data)[to + i * inner] = (order[i] - base) / inner;
        }
    }
    tn_heap_give(r->heap, order);
    return true;
}

/* ---- NonZero ------------------------------------------------------------------------------------------------------ */

static bool is_zero(const struct tn_tensor *x, uint64_t i)
{
    if (x->element == TN_EL_STRING) return tn_tensor_texts(x)[i].n == 0;
    return tn_element_get(x->element, x->data, i) == 0;
}

static bool infer_non_zero(struct tn_infer *x)
{
    const struct tn_shape *s;
    tn_out_unknown(x, 0, TN_EL_I64);
    if (!tn_in_shape(x, 0, &s)) return true;
    tn_dim_t dims[2] = {s->rank, tn_dim_unknown(x->symbols)};
    tn_out_tensor(x, 0, TN_EL_I64, 2, dims);
    return true;
}

static bool run_non_zero(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0];
    int64_t found = 0, at = 0;
    for (uint64_t i = 0; i < x->count; i++) found += !is_zero(x, i);
    int64_t dims[2] = {x->rank, found};
    struct tn_tensor *y = tn_run_output(r, 0, TN_EL_I64, 2, dims);
    if (!y) return false;
    for (uint64_t i = 0; i < x->count; i++) {
        uint64_t rest = i;
        if (is_zero(x, i)) continue;
        for (uint32_t d = x->rank; d-- > 0;) {
            ((int64_t *)y->data)[(int64_t)d * found + at] = (int64_t)(rest % (uint64_t)x->dims[d]);
            rest /= (uint64_t)x->dims[d];
        }
        at++;
    }
    return true;
}

/* ---- Compress ----------------------------------------------------------------------------------------------------- */

static bool infer_compress(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    const struct tn_attr *axis = tn_node_attr(x->node, "axis");
    uint32_t at;
    if (!t) return true;
    tn_out_unknown(x, 0, t->element);
    if (!t->shape.known) return true;
    struct tn_type out = *t;
    if (axis && !tn_infer_axis(x, axis->as.i, t->shape.rank, &at)) return false;
    if (!axis) out.shape = (struct tn_shape){.known = true, .rank = 1};
    out.shape.dims[axis ? at : 0] = tn_dim_unknown(x->symbols);
    tn_out_type(x, 0, &out);
    return true;
}

static bool run_compress(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *c = r->in[1];
    const struct tn_attr *given = tn_node_attr(r->node, "axis");
    int64_t axis = given ? (given->as.i < 0 ? given->as.i + x->rank : given->as.i) : 0, kept = 0, inner = 1, dims[TN_RANK];
    int64_t n = given ? x->dims[axis] : (int64_t)x->count;
    size_t size;
    if (!tn_move_size(r, x->element, &size)) return false;
    if (c->count > (uint64_t)n) return tn_run_refuse(r, "at most one condition for each element", "%llu for %lld", (unsigned long long)c->count, (long long)n);
    for (uint64_t i = 0; i < c->count; i++) kept += ((const uint8_t *)c->data)[i] != 0;
    for (uint32_t d = (uint32_t)axis + 1; given && d < x->rank; d++) inner *= x->dims[d];
    memcpy(dims, x->dims, sizeof(dims));
    dims[axis] = kept;
    struct tn_tensor *y = tn_run_output(r, 0, x->element, given ? x->rank : 1, dims);
    if (!y) return false;
    char *to = y->data;
    uint64_t outer = x->count && n && inner ? x->count / (uint64_t)(n * inner) : 0;
    for (uint64_t o = 0; o < outer; o++) {
        for (uint64_t i = 0; i < c->count; i++) {
            if (!((const uint8_t *)c->data)[i]) continue;
            memcpy(to, (const char *)x->data + (o * (uint64_t)n + i) * (uint64_t)inner * size, (size_t)inner * size);
            to += (size_t)inner * size;
        }
    }
    return tn_move_done(r, y);
}

/* ---- Unique ------------------------------------------------------------------------------------------------------- */

static bool infer_unique(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    const struct tn_attr *axis = tn_node_attr(x->node, "axis");
    uint32_t at;
    if (!t) return true;
    if (axis && t->shape.known && !tn_infer_axis(x, axis->as.i, t->shape.rank, &at)) return false;
    tn_out_unknown(x, 0, t->element);
    for (uint32_t k = 1; k < 4; k++) tn_out_unknown(x, k, TN_EL_I64);
    return true;
}

/* Slices of an axis (or single elements), compared element by element. */
struct unique {
    const struct tn_tensor *x;
    int64_t n, inner, outer;
};

static int order_slices(const struct unique *u, int64_t a, int64_t b)
{
    for (int64_t o = 0; o < u->outer; o++) {
        for (int64_t i = 0; i < u->inner; i++) {
            int order = order_values(u->x, (o * u->n + a) * u->inner + i, (o * u->n + b) * u->inner + i);
            if (order) return order;
        }
    }
    return 0;
}

static int by_slice(const void *a, const void *b, void *context)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    int order = order_slices(context, x, y);
    return order ? order : (x > y) - (x < y);
}

static int by_first(const void *a, const void *b, void *context)
{
    const int64_t *first = context;
    int64_t x = first[*(const int64_t *)a], y = first[*(const int64_t *)b];
    return (x > y) - (x < y);
}

struct groups {
    int64_t *order, *first, *group, *count, *rank, *sequence; /* first, count: by group in sorted order */
    int64_t groups;
};

static void find_groups(struct unique *u, struct groups *g, bool sorted)
{
    for (int64_t i = 0; i < u->n; i++) g->order[i] = i;
    tn_sort(g->order, (size_t)u->n, sizeof(*g->order), by_slice, u);
    for (int64_t i = 0; i < u->n; i++) {
        if (i == 0 || order_slices(u, g->order[i - 1], g->order[i])) {
            g->first[g->groups] = g->order[i];
            g->count[g->groups++] = 0;
        }
        g->group[g->order[i]] = g->groups - 1;
        g->count[g->groups - 1]++;
    }
    for (int64_t i = 0; i < g->groups; i++) g->sequence[i] = i;
    if (!sorted) tn_sort(g->sequence, (size_t)g->groups, sizeof(*g->sequence), by_first, g->first);
    for (int64_t i = 0; i < g->groups; i++) g->rank[g->sequence[i]] = i;
}

static bool put_unique(struct tn_run *r, const struct unique *u, const struct groups *g, int64_t axis, bool flat)
{
    int64_t dims[TN_RANK];
    size_t size;
    memcpy(dims, u->x->dims, sizeof(dims));
    dims[flat ? 0 : axis] = g->groups;
    if (!tn_move_size(r, u->x->element, &size)) return false;
    struct tn_tensor *y = tn_run_output(r, 0, u->x->element, flat ? 1 : u->x->rank, dims);
    if (!y) return false;
    for (int64_t o = 0; o < u->outer; o++) {
        for (int64_t i = 0; i < g->groups; i++)
            memcpy((char *)y->data + (size_t)((o * g->groups + i) * u->inner) * size,
                   (const char *)u->x->data + (size_t)((o * u->n + g->first[g->sequence[i]]) * u->inner) * size, (size_t)u->inner * size);
    }
    const int64_t *by_group[3] = {g->first, NULL, g->count};
    for (uint32_t k = 1; k < 4 && k < r->out_count; k++) {
        int64_t n = k == 2 ? u->n : g->groups;
        struct tn_tensor *t = r->wanted[k] ? tn_run_output(r, k, TN_EL_I64, 1, &n) : NULL;
        if (r->wanted[k] && !t) return false;
        for (int64_t i = 0; t && i < n; i++) ((int64_t *)t->data)[i] = k == 2 ? g->rank[g->group[i]] : by_group[k - 1][g->sequence[i]];
    }
    return tn_move_done(r, y);
}

static bool run_unique(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    const struct tn_attr *given = tn_node_attr(r->node, "axis");
    int64_t axis = given ? (given->as.i < 0 ? given->as.i + x->rank : given->as.i) : 0;
    struct unique u = {x, given ? x->dims[axis] : (int64_t)x->count, 1, 1};
    for (uint32_t d = 0; given && d < x->rank; d++) {
        if (d < axis) u.outer *= x->dims[d];
        if (d > axis) u.inner *= x->dims[d];
    }
    size_t n = (size_t)u.n + 1;
    int64_t *room = n <= SIZE_MAX / 6 ? tn_run_scratch(r, n * 6, sizeof(*room)) : NULL;
    if (!room) return tn_run_no_memory(r);
    struct groups g = {room, room + n, room + 2 * n, room + 3 * n, room + 4 * n, room + 5 * n, 0};
    find_groups(&u, &g, tn_attr_int(r->node, "sorted", 1) != 0);
    bool good = put_unique(r, &u, &g, axis, !given);
    tn_heap_give(r->heap, room);
    return good;
}

/* ---- NonMaxSuppression -------------------------------------------------------------------------------------------- */

static bool infer_suppression(struct tn_infer *x)
{
    const struct tn_shape *b, *s;
    tn_dim_t dims[2] = {tn_dim_unknown(x->symbols), 3};
    tn_out_tensor(x, 0, TN_EL_I64, 2, dims);
    if (!tn_in_shape(x, 0, &b) || !tn_in_shape(x, 1, &s)) return true;
    if (b->rank != 3 || s->rank != 3) return tn_infer_refuse(x, "boxes [N, count, 4] and scores [N, classes, count]", "ranks %u and %u", b->rank, s->rank);
    if (x->running && (b->dims[2] != 4 || b->dims[0] != s->dims[0] || b->dims[1] != s->dims[2])) return tn_infer_refuse(x, "a score for each class and box", "another shape");
    return true;
}

struct box {
    float x1, y1, x2, y2;
};

static struct box box_of(const float *b, bool centred)
{
    if (centred) return (struct box){b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2};
    return (struct box){fminf(b[1], b[3]), fminf(b[0], b[2]), fmaxf(b[1], b[3]), fmaxf(b[0], b[2])};
}

/* Intersection over union above the threshold. */
static bool overlap(struct box a, struct box b, float threshold)
{
    float w = fminf(a.x2, b.x2) - fmaxf(a.x1, b.x1), h = fminf(a.y2, b.y2) - fmaxf(a.y1, b.y1);
    if (!(w > 0 && h > 0)) return false;
    float both = w * h, area = (a.x2 - a.x1) * (a.y2 - a.y1) + (b.x2 - b.x1) * (b.y2 - b.y1) - both;
    return area > 0 && both / area > threshold;
}

static float number(const struct tn_run *r, uint32_t i, float otherwise)
{
    return i < r->in_count && r->in[i] && r->in[i]->count ? (float)tn_element_get(r->in[i]->element, r->in[i]->data, 0) : otherwise;
}

struct suppression {
    const float *boxes, *scores;
    int64_t count, *order, *kept, *out, found;
    float iou, least;
    int64_t most;
    bool centred;
};

static int by_score(const void *a, const void *b, void *context)
{
    const float *s = context;
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return s[x] != s[y] ? (s[x] < s[y] ? 1 : -1) : (x > y) - (x < y);
}

static void suppress(struct suppression *s, int64_t batch, int64_t class_index)
{
    int64_t candidates = 0, kept = 0;
    for (int64_t i = 0; i < s->count; i++) {
        if (s->scores[i] > s->least) s->order[candidates++] = i;
    }
    tn_sort(s->order, (size_t)candidates, sizeof(*s->order), by_score, (void *)(uintptr_t)s->scores);
    for (int64_t i = 0; i < candidates && kept < s->most; i++) {
        struct box a = box_of(s->boxes + s->order[i] * 4, s->centred);
        bool good = true;
        for (int64_t k = 0; good && k < kept; k++) good = !overlap(a, box_of(s->boxes + s->kept[k] * 4, s->centred), s->iou);
        if (!good) continue;
        s->kept[kept++] = s->order[i];
        int64_t *row = s->out ? s->out + s->found * 3 : NULL;
        if (row) {
            row[0] = batch;
            row[1] = class_index;
            row[2] = s->order[i];
        }
        s->found++;
    }
}

static bool run_suppression(struct tn_run *r)
{
    struct tn_tensor *b = r->in[0], *scores = r->in[1];
    int64_t n = b->dims[0], classes = scores->dims[1], count = b->dims[1];
    struct suppression s = {.count = count, .centred = tn_attr_int(r->node, "center_point_box", 0) != 0, .most = (int64_t)number(r, 2, 0),
                            .iou = number(r, 3, 0), .least = number(r, 4, -INFINITY)};
    if (s.most > count) s.most = count;
    int64_t *room = (uint64_t)count < SIZE_MAX / 4 ? tn_run_scratch(r, (size_t)count * 2 + 1, sizeof(*room)) : NULL;
    if (!room) return tn_run_no_memory(r);
    s.order = room;
    s.kept = room + count;
    /* once to count, once to write */
    for (int pass = 0; pass < 2; pass++) {
        int64_t dims[2] = {s.found, 3};
        struct tn_tensor *y = pass ? tn_run_output(r, 0, TN_EL_I64, 2, dims) : NULL;
        if (pass && !y) break;
        s.out = y ? y->data : NULL;
        s.found = 0;
        for (int64_t i = 0; i < n * classes; i++) {
            s.boxes = (const float *)b->data + i / classes * count * 4;
            s.scores = (const float *)scores->data + i * count;
            suppress(&s, i / classes, i % classes);
        }
    }
    tn_heap_give(r->heap, room);
    return !r->failed;
}

/* ---- BitCast ------------------------------------------------------------------------------------------------------ */

static bool infer_bit_cast(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    enum tn_element to = (enum tn_element)tn_attr_int(x->node, "to", 0);
    if (!t) return true;
    if (to <= TN_EL_NONE || to >= TN_EL_COUNT || tn_onnx_element_bits(to) != tn_onnx_element_bits(t->element) || to == TN_EL_STRING)
        return tn_infer_refuse(x, "an element type of as many bits", "%d from %s", (int)to, tn_onnx_element_name(t->element));
    struct tn_type out = *t;
    out.element = to;
    tn_out_type(x, 0, &out);
    return true;
}

static bool run_bit_cast(struct tn_run *r)
{
    if (r->out[0]->bytes) memcpy(r->out[0]->data, r->in[0]->data, r->out[0]->bytes);
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "TopK", .since = 1, .infer = infer_top_k, .run = run_top_k},
    {.name = "NonZero", .since = 9, .infer = infer_non_zero, .run = run_non_zero},
    {.name = "Compress", .since = 9, .infer = infer_compress, .run = run_compress},
    {.name = "Unique", .since = 11, .infer = infer_unique, .run = run_unique},
    {.name = "NonMaxSuppression", .since = 10, .infer = infer_suppression, .run = run_suppression},
    {.name = "BitCast", .since = 26, .infer = infer_bit_cast, .run = run_bit_cast},
};

const struct tn_operators tn_ops_select = {rows, sizeof(rows) / sizeof(rows[0])};
