/*
 * Reading and writing at indices: Gather and Scatter in all their forms. An index may be negative and counts from the end;
 * one outside is refused, never clamped.
 */
#include "ops/move.h"

#include <string.h>

/* ---- indices ------------------------------------------------------------------------------------------------------ */

/* Index k of a tensor of indices, into [0, dim). */
static bool index_at(struct tn_run *r, const struct tn_tensor *indices, uint64_t k, int64_t dim, int64_t *out)
{
    int64_t i = indices->element == TN_EL_I64 ? ((const int64_t *)indices->data)[k] : tn_element_get_int(indices->element, indices->data, k);
    if (i < -dim || i >= dim) return tn_run_refuse(r, "indices inside the dimension", "index %lld of a dimension of %lld", (long long)i, (long long)dim);
    *out = i < 0 ? i + dim : i;
    return true;
}

static uint64_t product(const int64_t *dims, uint32_t from, uint32_t to)
{
    uint64_t n = 1;
    for (uint32_t i = from; i < to; i++) n *= (uint64_t)dims[i];
    return n;
}

static uint32_t axis_of(const struct tn_node *n, int64_t otherwise, uint32_t rank)
{
    int64_t axis = tn_attr_int(n, "axis", otherwise);
    return (uint32_t)(axis < 0 ? axis + rank : axis);
}

/* ---- Gather ------------------------------------------------------------------------------------------------------- */

static bool infer_gather(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0), *i = tn_in_type(x, 1);
    uint32_t axis;
    if (!t || !i) return true;
    tn_out_unknown(x, 0, t->element);
    if (!t->shape.known || !i->shape.known) return true;
    if (!tn_infer_axis(x, tn_attr_int(x->node, "axis", 0), t->shape.rank, &axis)) return false;
    if (t->shape.rank + i->shape.rank - 1 > TN_RANK) return tn_infer_refuse(x, "at most 8 dimensions", "%u", t->shape.rank + i->shape.rank - 1);
    struct tn_shape out = {.known = true};
    for (uint32_t k = 0; k < axis; k++) out.dims[out.rank++] = t->shape.dims[k];
    for (uint32_t k = 0; k < i->shape.rank; k++) out.dims[out.rank++] = i->shape.dims[k];
    for (uint32_t k = axis + 1; k < t->shape.rank; k++) out.dims[out.rank++] = t->shape.dims[k];
    tn_out_type(x, 0, &(struct tn_type){.kind = TN_KIND_TENSOR, .element = t->element, .shape = out});
    const tn_dim_t *content;
    int64_t at[TN_CONTENT];
    uint32_t n, m;
    tn_dim_t chosen[TN_CONTENT];
    if (x->running || t->shape.rank != 1 || i->shape.rank > 1 || !tn_in_content(x, 0, &content, &n) || !tn_in_numbers(x, 1, at, TN_CONTENT, &m)) return !x->failed;
    for (uint32_t k = 0; k < m; k++) {
        int64_t from = at[k] < 0 ? at[k] + n : at[k];
        if (from < 0 || from >= n) return tn_infer_refuse(x, "indices inside the dimension", "index %lld of %u", (long long)at[k], n);
        chosen[k] = content[from];
    }
    tn_out_content(x, 0, chosen, m);
    return true;
}

struct gathering {
    const char *x;
    char *y;
    const int64_t *index;
    uint64_t indices, dim, bytes; /* of one slice */
};

static void gather_items(void *user, uint64_t begin, uint64_t end)
{
    const struct gathering *g = user;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t from = i / g->indices * g->dim + (uint64_t)g->index[i % g->indices];
        memcpy(g->y + i * g->bytes, g->x + from * g->bytes, g->bytes);
    }
}

static bool run_gather(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *i = r->in[1], *y = r->out[0];
    uint32_t axis = axis_of(r->node, 0, x->rank);
    size_t size;
    if (!tn_move_size(r, x->element, &size)) return false;
    int64_t *index = tn_run_scratch(r, i->count + 1, sizeof(*index));
    bool good = index != NULL;
    for (uint64_t k = 0; good && k < i->count; k++) good = index_at(r, i, k, x->dims[axis], &index[k]);
    if (good && axis == 0) good = tn_run_need_rows(r, 0, index, (size_t)i->count);
    struct gathering g = {x->data, y->data, index, i->count, (uint64_t)x->dims[axis], product(x->dims, axis + 1, x->rank) * size};
    if (good && g.bytes) tn_run_items(r, product(x->dims, 0, axis) * i->count, g.bytes / 8 + 1, gather_items, &g);
    tn_heap_give(r->heap, index);
    return good && tn_move_done(r, y);
}

static bool gathers_rows(const struct tn_node *n)
{
    return tn_attr_int(n, "axis", 0) == 0;
}

/* ---- GatherElements and GatherND ---------------------------------------------------------------------------------- */

static bool infer_gather_elements(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0), *i = tn_in_type(x, 1);
    uint32_t axis;
    if (!t || !i) return true;
    struct tn_type out = *i;
    out.element = t->element;
    tn_out_type(x, 0, &out);
    if (!t->shape.known || !i->shape.known) return true;
    if (t->shape.rank != i->shape.rank) return tn_infer_refuse(x, "indices of the data's rank", "rank %u beside %u", i->shape.rank, t->shape.rank);
    if (!tn_infer_axis(x, tn_attr_int(x->node, "axis", 0), t->shape.rank, &axis)) return false;
    for (uint32_t k = 0; k < t->shape.rank; k++) {
        tn_dim_t a = i->shape.dims[k], b = t->shape.dims[k];
        if (k != axis && tn_dim_known(a) && tn_dim_known(b) && a > b) return tn_infer_refuse(x, "indices no larger than the data", "%lld beside %lld", (long long)a, (long long)b);
    }
    return true;
}

/* Where element k of `shape` stands in a tensor of the same rank, its coordinate on `axis` replaced. */
static uint64_t place(const int64_t *shape, const int64_t *strides, uint32_t rank, uint64_t k, uint32_t axis, int64_t at)
{
    uint64_t place = 0;
    for (uint32_t d = rank; d-- > 0;) {
        int64_t c = (int64_t)(k % (uint64_t)shape[d]);
        k /= (uint64_t)shape[d];
        place += (uint64_t)((d == axis ? at : c) * strides[d]);
    }
    return place;
}

static bool run_gather_elements(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *i = r->in[1], *y = r->out[0];
    uint32_t axis = axis_of(r->node, 0, x->rank);
    int64_t strides[TN_RANK], at = 0;
    size_t size;
    if (!tn_move_size(r, x->element, &size)) return false;
    tn_strides(x->dims, x->rank, strides);
    for (uint64_t k = 0; k < i->count; k++) {
        if (!index_at(r, i, k, x->dims[axis], &at)) return false;
        memcpy((char *)y->data + k * size, (const char *)x->data + place(i->dims, strides, x->rank, k, axis, at) * size, size);
    }
    return tn_move_done(r, y);
}

static bool infer_gather_nd(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0), *i = tn_in_type(x, 1);
    int64_t batch = tn_attr_int(x->node, "batch_dims", 0);
    if (!t || !i) return true;
    tn_out_unknown(x, 0, t->element);
    if (!t->shape.known || !i->shape.known) return true;
    if (i->shape.rank == 0 || batch < 0 || batch >= i->shape.rank || batch >= t->shape.rank) return tn_infer_refuse(x, "batch_dims below both ranks", "%lld of %u and %u", (long long)batch, t->shape.rank, i->shape.rank);
    tn_dim_t width = i->shape.dims[i->shape.rank - 1];
    if (!tn_dim_known(width)) return true;
    if (width < 0 || width > (int64_t)t->shape.rank - batch) return tn_infer_refuse(x, "an index for at most the dimensions behind the batch", "%lld of %u", (long long)width, t->shape.rank);
    struct tn_shape out = {.known = true};
    if (i->shape.rank - 1 + t->shape.rank - (uint32_t)(batch + width) > TN_RANK) return tn_infer_refuse(x, "at most 8 dimensions", "more");
    for (uint32_t k = 0; k + 1 < i->shape.rank; k++) out.dims[out.rank++] = i->shape.dims[k];
    for (uint32_t k = (uint32_t)(batch + width); k < t->shape.rank; k++) out.dims[out.rank++] = t->shape.dims[k];
    for (uint32_t k = 0; k < (uint32_t)batch; k++) {
        tn_dim_t a = i->shape.dims[k], b = t->shape.dims[k];
        if (tn_dim_known(a) && tn_dim_known(b) && a != b) return tn_infer_refuse(x, "equal batch dimensions", "%lld beside %lld", (long long)a, (long long)b);
    }
    tn_out_type(x, 0, &(struct tn_type){.kind = TN_KIND_TENSOR, .element = t->element, .shape = out});
    return true;
}

/* Slices of `x` that rows of indices name: how many, how long, and where row k begins. */
struct slices {
    const struct tn_tensor *x, *i;
    uint32_t batch, width;
    uint64_t rows, elements, per_batch; /* per_batch: rows that share the batch coordinates */
    int64_t strides[TN_RANK];
};

static struct slices slices_of(const struct tn_tensor *x, const struct tn_tensor *i, uint32_t batch)
{
    struct slices s = {.x = x, .i = i, .batch = batch, .width = (uint32_t)i->dims[i->rank - 1]};
    s.rows = product(i->dims, 0, i->rank - 1);
    s.per_batch = product(i->dims, batch, i->rank - 1);
    s.elements = product(x->dims, batch + s.width, x->rank);
    tn_strides(x->dims, x->rank, s.strides);
    return s;
}

static bool slice_begin(struct tn_run *r, const struct slices *s, uint64_t row, uint64_t *out)
{
    uint64_t at = s->batch ? row / s->per_batch * product(s->x->dims, s->batch, s->x->rank) : 0;
    for (uint32_t k = 0; k < s->width; k++) {
        int64_t i = 0;
        if (!index_at(r, s->i, row * s->width + k, s->x->dims[s->batch + k], &i)) return false;
        at += (uint64_t)(i * s->strides[s->batch + k]);
    }
    *out = at;
    return true;
}

static bool run_gather_nd(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0];
    struct slices s = slices_of(r->in[0], r->in[1], (uint32_t)tn_attr_int(r->node, "batch_dims", 0));
    size_t size;
    uint64_t at;
    if (!tn_move_size(r, y->element, &size)) return false;
    for (uint64_t k = 0; k < s.rows && s.elements; k++) {
        if (!slice_begin(r, &s, k, &at)) return false;
        memcpy((char *)y->data + k * s.elements * size, (const char *)s.x->data + at * size, s.elements * size);
    }
    return tn_move_done(r, y);
}

/* ---- Scatter ------------------------------------------------------------------------------------------------------ */

enum joining { REPLACE, ADD, MUL, MAX, MIN };

static bool joining_of(struct tn_run *r, enum joining *out)
{
    struct tn_str s = tn_attr_text(r->node, "reduction");
    if (s.n == 0 || tn_str_is(s, "none")) *out = REPLACE;
    else if (tn_str_is(s, "add")) *out = ADD;
    else if (tn_str_is(s, "mul")) *out = MUL;
    else if (tn_str_is(s, "max")) *out = MAX;
    else if (tn_str_is(s, "min")) *out = MIN;
    else return tn_run_refuse(r, "none, add, mul, max or min", "%.*s", (int)(s.n > 64 ? 64 : s.n), s.s);
    return true;
}

static void join(enum tn_element e, void *y, uint64_t at, const void *from, uint64_t k, enum joining how)
{
    if (how == REPLACE) {
        size_t size = tn_element_size(e);
        memcpy((char *)y + at * size, (const char *)from + k * size, size);
    } else if (tn_elements_have(TN_ELS_INT | TN_ELS(BOOL), e)) {
        uint64_t a = (uint64_t)tn_element_get_int(e, y, at), b = (uint64_t)tn_element_get_int(e, from, k);
        bool more = e == TN_EL_U64 ? b > a : (int64_t)b > (int64_t)a;
        tn_element_set_int(e, y, at, (int64_t)(how == ADD ? a + b : how == MUL ? a * b : how == MAX ? (more ? b : a) : more ? a : b));
    } else {
        double a = tn_element_get(e, y, at), b = tn_element_get(e, from, k);
        tn_element_set(e, y, at, how == ADD ? a + b : how == MUL ? a * b : how == MAX ? (b > a ? b : a) : b < a ? b : a, false);
    }
}

static bool copy_data(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *y = r->out[0];
    if (x != y && x->bytes) memcpy(y->data, x->data, x->bytes);
    return true;
}

static bool infer_scatter_elements(struct tn_infer *x)
{
    const struct tn_shape *data, *indices, *updates;
    uint32_t axis;
    if (tn_in_shape(x, 0, &data) && tn_in_shape(x, 1, &indices) && tn_in_shape(x, 2, &updates)) {
        if (data->rank != indices->rank || data->rank != updates->rank) return tn_infer_refuse(x, "operands of one rank", "%u, %u, %u", data->rank, indices->rank, updates->rank);
        if (!tn_infer_axis(x, tn_attr_int(x->node, "axis", 0), data->rank, &axis)) return false;
        for (uint32_t k = 0; k < data->rank; k++) {
            tn_dim_t a = indices->dims[k], b = updates->dims[k], d = data->dims[k];
            if (tn_dim_known(a) && tn_dim_known(b) && a != b) return tn_infer_refuse(x, "an update for each index", "%lld beside %lld", (long long)b, (long long)a);
            if (k != axis && tn_dim_known(a) && tn_dim_known(d) && a > d) return tn_infer_refuse(x, "indices no larger than the data", "%lld beside %lld", (long long)a, (long long)d);
        }
    }
    return tn_infer_same(x);
}

static bool run_scatter_elements(struct tn_run *r)
{
    struct tn_tensor *i = r->in[1], *y = r->out[0];
    uint32_t axis = axis_of(r->node, 0, y->rank);
    enum joining how;
    int64_t strides[TN_RANK], at = 0;
    size_t size;
    if (!joining_of(r, &how) || !tn_move_size(r, y->element, &size) || !copy_data(r)) return false;
    tn_strides(y->dims, y->rank, strides);
    for (uint64_t k = 0; k < i->count; k++) {
        if (!index_at(r, i, k, y->dims[axis], &at)) return false;
        join(y->element, y->data, place(i->dims, strides, y->rank, k, axis, at), r->in[2]->data, k, how);
    }
    return tn_move_done(r, y);
}

static bool infer_scatter_nd(struct tn_infer *x)
{
    const struct tn_shape *data, *indices, *updates;
    if (tn_in_shape(x, 0, &data) && tn_in_shape(x, 1, &indices) && tn_in_shape(x, 2, &updates)) {
        tn_dim_t width = indices->rank ? indices->dims[indices->rank - 1] : 0;
        if (indices->rank == 0 || (tn_dim_known(width) && width > (int64_t)data->rank)) return tn_infer_refuse(x, "rows of indices for at most all dimensions", "rank %u", indices->rank);
        if (x->running && updates->rank != indices->rank - 1 + data->rank - (uint32_t)width) return tn_infer_refuse(x, "updates of one slice for each index", "rank %u", updates->rank);
        for (uint32_t k = 0; x->running && k < updates->rank; k++) {
            tn_dim_t want = k + 1 < indices->rank ? indices->dims[k] : data->dims[(uint32_t)width + k - (indices->rank - 1)];
            if (updates->dims[k] != want) return tn_infer_refuse(x, "updates of one slice for each index", "dimension %u is %lld, not %lld", k, (long long)updates->dims[k], (long long)want);
        }
    }
    return tn_infer_same(x);
}

static bool run_scatter_nd(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0];
    struct slices s = slices_of(y, r->in[1], 0);
    enum joining how;
    size_t size;
    uint64_t at;
    if (!joining_of(r, &how) || !tn_move_size(r, y->element, &size) || !copy_data(r)) return false;
    for (uint64_t k = 0; k < s.rows; k++) {
        if (!slice_begin(r, &s, k, &at)) return false;
        for (uint64_t e = 0; e < s.elements; e++) join(y->element, y->data, at + e, r->in[2]->data, k * s.elements + e, how);
    }
    return tn_move_done(r, y);
}

/* ---- TensorScatter: rows written into a cache at each batch entry's own position ------------------------------------ */

static bool infer_tensor_scatter(struct tn_infer *x)
{
    const struct tn_shape *cache, *update;
    uint32_t axis;
    if (tn_in_shape(x, 0, &cache) && tn_in_shape(x, 1, &update)) {
        if (cache->rank != update->rank || cache->rank < 2) return tn_infer_refuse(x, "a cache and an update of one rank", "%u beside %u", cache->rank, update->rank);
        if (!tn_infer_axis(x, tn_attr_int(x->node, "axis", -2), cache->rank, &axis)) return false;
        if (axis == 0) return tn_infer_refuse(x, "an axis behind the batch", "0");
        for (uint32_t k = 0; k < cache->rank; k++) {
            tn_dim_t a = cache->dims[k], b = update->dims[k];
            if (tn_dim_known(a) && tn_dim_known(b) && (k == axis ? b > a : a != b)) return tn_infer_refuse(x, "an update that fits into the cache", "%lld of %lld", (long long)b, (long long)a);
        }
    }
    return tn_infer_same(x);
}

static bool run_tensor_scatter(struct tn_run *r)
{
    struct tn_tensor *u = r->in[1], *at = r->in_count > 2 ? r->in[2] : NULL, *y = r->out[0];
    uint32_t axis = axis_of(r->node, -2, y->rank);
    bool circular = tn_str_is(tn_attr_text(r->node, "mode"), "circular");
    uint64_t outer = product(y->dims, 1, axis), inner = product(y->dims, axis + 1, y->rank);
    int64_t length = y->dims[axis], rows = u->dims[axis];
    size_t size;
    if (!tn_move_size(r, y->element, &size) || !copy_data(r)) return false;
    for (int64_t b = 0; b < y->dims[0]; b++) {
        int64_t begin = at && (uint64_t)b < at->count ? tn_run_int(r, 2, (uint64_t)b) : 0;
        if (begin < 0 || (circular ? begin >= length && length : begin + rows > length)) return tn_run_refuse(r, "a position at which the update fits", "%lld", (long long)begin);
        for (uint64_t o = 0; o < outer; o++) {
            for (int64_t k = 0; k < rows; k++) {
                uint64_t block = (uint64_t)b * outer + o, to = block * (uint64_t)length + (uint64_t)((begin + k) % length);
                memcpy((char *)y->data + to * inner * size, (const char *)u->data + (block * (uint64_t)rows + (uint64_t)k) * inner * size, inner * size);
            }
        }
    }
    return tn_move_done(r, y);
}

static const struct tn_operator rows[] = {
    {.name = "Gather", .since = 1, .infer = infer_gather, .run = run_gather, .by_rows = gathers_rows},
    {.name = "GatherElements", .since = 11, .infer = infer_gather_elements, .run = run_gather_elements},
    {.name = "GatherND", .since = 11, .infer = infer_gather_nd, .run = run_gather_nd},
    {.name = "GatherND", .domain = "com.microsoft", .since = 1, .infer = infer_gather_nd, .run = run_gather_nd},
    {.name = "Scatter", .since = 9, .infer = infer_scatter_elements, .run = run_scatter_elements, .in_place = true},
    {.name = "ScatterElements", .since = 11, .infer = infer_scatter_elements, .run = run_scatter_elements, .in_place = true},
    {.name = "ScatterND", .since = 11, .infer = infer_scatter_nd, .run = run_scatter_nd, .in_place = true},
    {.name = "TensorScatter", .since = 24, .infer = infer_tensor_scatter, .run = run_tensor_scatter, .in_place = true},
};

const struct tn_operators tn_ops_gather = {rows, sizeof(rows) / sizeof(rows[0])};
