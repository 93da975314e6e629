/*
 * MultiHeadAttention and Attention of com.microsoft. Masks are addends (mask_filter_value where a key is not to be seen),
 * what came before is put in front of the new keys and values.
 */
#include "ops/contrib_attend.h"
#include "ops/gemm.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- what both share ---------------------------------------------------------------------------------------------- */

struct sizes {
    int64_t batch, rows, heads, dim, v_dim, fresh, past; /* fresh: keys of this call */
};

static const struct tn_tensor *operand(const struct tn_run *r, uint32_t i)
{
    return i < r->in_count ? r->in[i] : NULL;
}

static bool has_dims(const struct tn_tensor *t, uint32_t rank, const int64_t *dims)
{
    if (t->rank != rank) return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (t->dims[i] != dims[i]) return false;
    }
    return true;
}

static bool bad_shape(struct tn_run *r, uint32_t i, const char *expected)
{
    const struct tn_tensor *t = operand(r, i);
    if (!t) return tn_run_refuse(r, expected, "operand %u is absent", i);
    int64_t d[5] = {0};
    for (uint32_t k = 0; k < t->rank && k < 5; k++) d[k] = t->dims[k];
    return tn_run_refuse(r, expected, "operand %u of rank %u: %lld, %lld, %lld, %lld, %lld", i, t->rank, (long long)d[0], (long long)d[1], (long long)d[2],
                         (long long)d[3], (long long)d[4]);
}

static float scale_of(const struct tn_node *node, int64_t dim)
{
    double scale = tn_attr_float(node, "scale", 0);
    return scale == 0 ? (float)(1 / sqrt((double)dim)) : (float)scale;
}

/* attention_bias: [batch or 1, heads or 1, rows, keys]. */
static bool bias_of(struct tn_reals *reals, uint32_t i, const struct sizes *s, struct tn_addend *out)
{
    const struct tn_tensor *t = operand(reals->r, i);
    uint64_t keys = (uint64_t)(s->past + s->fresh), plane = (uint64_t)s->rows * keys;
    *out = (struct tn_addend){.p = NULL};
    if (!t) return true;
    bool fits = t->rank == 4 && (t->dims[0] == s->batch || t->dims[0] == 1) && (t->dims[1] == s->heads || t->dims[1] == 1) && t->dims[2] == s->rows &&
                t->dims[3] == (int64_t)keys;
    if (!fits) return bad_shape(reals->r, i, "a bias of [batch or 1, heads or 1, rows, keys]");
    *out = (struct tn_addend){.p = tn_reals_in(reals, i), .head = t->dims[1] == 1 ? 0 : plane, .row = keys};
    out->batch = t->dims[0] == 1 ? 0 : plane * (uint64_t)t->dims[1];
    return tn_reals_good(reals);
}

/* Lengths [batch], or ends and then beginnings [2 batch]. */
static void mask_of_ends(const struct tn_tensor *t, uint64_t batch, uint64_t keys, float filter, float *out)
{
    for (uint64_t b = 0; b < batch; b++) {
        int64_t end = tn_element_get_int(t->element, t->data, b), begin = t->count == batch ? 0 : tn_element_get_int(t->element, t->data, batch + b);
        for (uint64_t j = 0; j < keys; j++) out[b * keys + j] = (int64_t)j < begin || (int64_t)j >= end ? filter : 0;
    }
}

static bool mask_of(struct tn_reals *reals, uint32_t i, const struct sizes *s, struct tn_addend *out)
{
    const struct tn_tensor *t = operand(reals->r, i);
    uint64_t batch = (uint64_t)s->batch, rows = (uint64_t)s->rows, keys = (uint64_t)(s->past + s->fresh);
    *out = (struct tn_addend){.p = NULL};
    if (!t) return true;
    bool ends = t->rank == 1 && (t->dims[0] == s->batch || t->dims[0] == 2 * s->batch);
    bool flat = t->rank == 2 && t->dims[0] == s->batch && t->dims[1] == (int64_t)keys;
    bool whole = t->rank == 3 && t->dims[0] == s->batch && t->dims[1] == s->rows && t->dims[2] == (int64_t)keys;
    bool square = t->rank == 4 && t->dims[0] == s->batch && t->dims[1] == 1 && t->dims[2] >= (int64_t)keys && t->dims[3] >= (int64_t)keys;
    if (!ends && !flat && !whole && !square)
        return bad_shape(reals->r, i, "a mask [batch], [2 batch], [batch, keys], [batch, rows, keys] or [batch, 1, most, most]");
    uint64_t lines = batch * (ends || flat ? 1 : rows);
    size_t count;
    float filter = (float)tn_attr_float(reals->r->node, "mask_filter_value", -10000), *mask = NULL;
    if (tn_mul(lines, keys, &count)) mask = tn_reals_scratch(reals, count);
    if (!mask) return tn_run_no_memory(reals->r);
    *out = (struct tn_addend){.p = mask, .batch = lines / (batch ? batch : 1) * keys, .row = ends || flat ? 0 : keys};
    if (ends) mask_of_ends(t, batch, keys, filter, mask);
    for (uint64_t k = 0; !ends && k < lines; k++) {
        uint64_t from = k * keys;
        if (square) from = (k / rows * (uint64_t)t->dims[2] + (uint64_t)s->past + k % rows) * (uint64_t)t->dims[3];
        for (uint64_t j = 0; j < keys; j++) mask[k * keys + j] = tn_element_get_int(t->element, t->data, from + j) > 0 ? 0 : filter;
    }
    return true;
}

/* Heads as [batch, heads, length, dim] behind `past` [batch, heads, past, dim] in `to`, with a bias for each element. */
static void lay(const struct sizes *s, const struct tn_heads *from, const float *past, int64_t dim, const float *bias, float *to)
{
    int64_t keys = s->past + s->fresh;
    for (int64_t i = 0; i < s->batch * s->heads; i++) {
        float *y = to + i * keys * dim;
        int64_t batch = i / s->heads, head = i % s->heads;
        if (s->past) memcpy(y, past + i * s->past * dim, (size_t)(s->past * dim) * sizeof(*y));
        y += s->past * dim;
        for (int64_t k = 0; k < s->fresh; k++, y += dim) {
            const float *x = from->p + (uint64_t)batch * from->batch + (uint64_t)head * from->head + (uint64_t)k * from->row;
            for (int64_t d = 0; d < dim; d++) y[d] = x[d] + (bias ? bias[head * dim + d] : 0);
        }
    }
}

/* Keys or values of all time: where they lie already, or laid out anew in output k or scratch. */
static bool gather(struct tn_reals *reals, const struct sizes *s, struct tn_heads *h, const float *past, int64_t dim, const float *bias, float *to)
{
    uint64_t keys = (uint64_t)(s->past + s->fresh);
    size_t count;
    if (!to && !past && !bias) return true;
    if (!to) {
        if (tn_mul((size_t)s->batch, (size_t)s->heads, &count) && tn_mul(count, keys, &count) && tn_mul(count, (size_t)dim, &count)) to = tn_reals_scratch(reals, count);
        if (!to) return tn_run_no_memory(reals->r);
    }
    lay(s, h, past, dim, bias, to);
    *h = (struct tn_heads){.p = to, .head = keys * (uint64_t)dim, .batch = keys * (uint64_t)dim * (uint64_t)s->heads, .row = (uint64_t)dim};
    return true;
}

static struct tn_attend attend_of(const struct tn_node *node, const struct sizes *s)
{
    return (struct tn_attend){.batch = (uint64_t)s->batch, .heads = (uint64_t)s->heads, .key_heads = (uint64_t)s->heads, .rows = (uint64_t)s->rows,
                              .keys = (uint64_t)(s->past + s->fresh), .dim = (uint64_t)s->dim, .v_dim = (uint64_t)s->v_dim,
                              .scale = scale_of(node, s->dim), .causal = tn_attr_int(node, "unidirectional", 0) != 0};
}

/* [.., heads * dim] rows as heads. */
static struct tn_heads heads_of(const float *p, uint64_t rows, uint64_t width, uint64_t dim)
{
    return (struct tn_heads){.p = p, .batch = rows * width, .head = dim, .row = width};
}

static bool expect_output(struct tn_run *r, uint32_t k, enum tn_element e, uint32_t rank, const int64_t *dims)
{
    if (k >= r->out_count || !r->wanted[k]) return true;
    if (!r->out[k]) return tn_run_output(r, k, e, rank, dims) != NULL;
    return has_dims(r->out[k], rank, dims) || tn_run_refuse(r, "operands that agree with each other", "output %u of another shape", k);
}

/* ---- MultiHeadAttention ------------------------------------------------------------------------------------------- */

enum { QUERY, KEY, VALUE, BIAS, PADDING, ADDEND, PAST_KEY, PAST_VALUE, PAST_LENGTH, BEAMS };

static bool given(const struct tn_node *node, uint32_t i)
{
    return i < node->in_count && node->in[i].value != TN_NET_NONE;
}

static const char *lacks_multi(const struct tn_node *node)
{
    return given(node, PAST_LENGTH) || given(node, BEAMS) ? "states that are not shared buffers (no past_sequence_length, no cache_indirection)" : NULL;
}

static bool infer_multi(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, QUERY);
    const struct tn_shape *q, *k, *v, *past;
    enum tn_element e = t ? t->element : TN_EL_NONE;
    int64_t heads = tn_attr_int(x->node, "num_heads", 0);
    if (heads < 1 || heads > INT32_MAX) return tn_infer_refuse(x, "a number of heads from 1", "%lld", (long long)heads);
    for (uint32_t i = 0; i < x->out_count; i++) tn_out_unknown(x, i, e);
    if (!tn_in_shape(x, QUERY, &q)) return true;
    if (q->rank != 3 && q->rank != 5) return tn_infer_refuse(x, "queries of rank 3 or 5", "rank %u", q->rank);
    bool known_v = tn_in_shape(x, VALUE, &v), known_k = tn_in_shape(x, KEY, &k);
    tn_dim_t width = q->rank == 5 ? tn_dim_mul(x->symbols, q->dims[2], q->dims[4]) : q->dims[2], v_width = width, fresh = q->dims[1];
    if (q->rank == 5) fresh = q->dims[1];
    else if (known_k) fresh = k->rank == 4 ? k->dims[2] : k->rank >= 2 ? k->dims[1] : tn_dim_unknown(x->symbols);
    else if (tn_in_given(x, KEY)) return true;
    if (known_v && v->rank == 3) v_width = v->dims[2];
    else if (known_v && v->rank == 4) v_width = tn_dim_mul(x->symbols, v->dims[1], v->dims[3]);
    else if (tn_in_given(x, VALUE) && !known_v) return true;
    tn_out_tensor(x, 0, e, 3, (tn_dim_t[]){q->dims[0], q->dims[1], v_width});
    if (tn_in_given(x, PAST_KEY) && !tn_in_shape(x, PAST_KEY, &past)) return true;
    if (tn_in_given(x, PAST_KEY) && past->rank != 4) return tn_infer_refuse(x, "past keys [batch, heads, past, dim]", "rank %u", past->rank);
    tn_dim_t keys = tn_in_given(x, PAST_KEY) ? tn_dim_add(x->symbols, past->dims[2], fresh) : fresh;
    tn_out_tensor(x, 1, e, 4, (tn_dim_t[]){q->dims[0], heads, keys, tn_dim_div(x->symbols, width, heads)});
    tn_out_tensor(x, 2, e, 4, (tn_dim_t[]){q->dims[0], heads, keys, tn_dim_div(x->symbols, v_width, heads)});
    tn_out_tensor(x, 3, e, 4, (tn_dim_t[]){q->dims[0], heads, q->dims[1], keys});
    return true;
}

/* The forms that queries, keys and values may have together. */
static bool read_multi(struct tn_run *r, struct sizes *s)
{
    const struct tn_tensor *q = r->in[QUERY], *k = operand(r, KEY), *v = operand(r, VALUE);
    *s = (struct sizes){.batch = q->dims[0], .rows = q->dims[1], .heads = tn_attr_int(r->node, "num_heads", 1)};
    int64_t n = s->heads;
    if (q->rank == 5) {
        s->dim = s->v_dim = q->dims[4];
        s->fresh = s->rows;
        return (!k && !v && has_dims(q, 5, (int64_t[]){s->batch, s->rows, n, 3, s->dim})) || bad_shape(r, QUERY, "[batch, rows, heads, 3, dim] alone");
    }
    if (q->rank != 3 || q->dims[2] % n != 0 || !k) return bad_shape(r, k ? QUERY : KEY, "queries [batch, rows, heads * dim], and keys");
    s->dim = s->v_dim = q->dims[2] / n;
    s->fresh = k->rank == 4 ? k->dims[2] : k->rank > 1 ? k->dims[1] : 0;
    if (k->rank == 5) return (!v && has_dims(k, 5, (int64_t[]){s->batch, s->fresh, n, 2, s->dim})) || bad_shape(r, KEY, "[batch, keys, heads, 2, dim] alone");
    if (k->rank == 4) {
        if (v && v->rank == 4) s->v_dim = v->dims[3];
        if (!has_dims(k, 4, (int64_t[]){s->batch, n, s->fresh, s->dim})) return bad_shape(r, KEY, "keys [batch, heads, keys, dim]");
        return (v && has_dims(v, 4, (int64_t[]){s->batch, n, s->fresh, s->v_dim})) || bad_shape(r, VALUE, "values [batch, heads, keys, dim]");
    }
    if (!has_dims(k, 3, (int64_t[]){s->batch, s->fresh, n * s->dim})) return bad_shape(r, KEY, "keys [batch, keys, heads * dim]");
    if (v && v->rank == 3 && v->dims[2] % n == 0) s->v_dim = v->dims[2] / n;
    return (v && has_dims(v, 3, (int64_t[]){s->batch, s->fresh, n * s->v_dim})) || bad_shape(r, VALUE, "values [batch, keys, heads * dim]");
}

static bool read_past(struct tn_run *r, uint32_t ki, uint32_t vi, struct sizes *s)
{
    const struct tn_tensor *k = operand(r, ki), *v = operand(r, vi);
    if (!k && !v) return true;
    if (!k || !v || k->rank != 4) return bad_shape(r, ki, "past keys [batch, heads, past, dim] together with past values");
    s->past = k->dims[2];
    if (!has_dims(k, 4, (int64_t[]){s->batch, s->heads, s->past, s->dim})) return bad_shape(r, ki, "past keys [batch, heads, past, dim]");
    return has_dims(v, 4, (int64_t[]){s->batch, s->heads, s->past, s->v_dim}) || bad_shape(r, vi, "past values [batch, heads, past, dim]");
}

static void find_heads(struct tn_reals *reals, const struct sizes *s, struct tn_heads *q, struct tn_heads *k, struct tn_heads *v)
{
    struct tn_run *r = reals->r;
    uint64_t dim = (uint64_t)s->dim, n = (uint64_t)s->heads, rows = (uint64_t)s->rows, fresh = (uint64_t)s->fresh, v_dim = (uint64_t)s->v_dim;
    const float *pq = tn_reals_in(reals, QUERY), *pk = tn_reals_in(reals, KEY), *pv = tn_reals_in(reals, VALUE);
    if (!tn_reals_good(reals)) return;
    if (r->in[QUERY]->rank == 5) {
        *q = (struct tn_heads){.p = pq, .batch = rows * n * 3 * dim, .head = 3 * dim, .row = n * 3 * dim};
        *k = *v = *q;
        k->p += dim;
        v->p += 2 * dim;
        return;
    }
    *q = heads_of(pq, rows, n * dim, dim);
    if (r->in[KEY]->rank == 5) {
        *k = (struct tn_heads){.p = pk, .batch = fresh * n * 2 * dim, .head = 2 * dim, .row = n * 2 * dim};
        *v = *k;
        v->p += dim;
    } else if (r->in[KEY]->rank == 4) {
        *k = (struct tn_heads){.p = pk, .batch = n * fresh * dim, .head = fresh * dim, .row = dim};
        *v = (struct tn_heads){.p = pv, .batch = n * fresh * v_dim, .head = fresh * v_dim, .row = v_dim};
    } else {
        *k = heads_of(pk, fresh, n * dim, dim);
        *v = heads_of(pv, fresh, n * v_dim, v_dim);
    }
}

/* Queries with the bias of their projection. */
static bool shift_queries(struct tn_reals *reals, const struct sizes *s, struct tn_heads *q, const float *bias)
{
    struct sizes rows = {.batch = s->batch, .heads = s->heads, .fresh = s->rows};
    return gather(reals, &rows, q, NULL, s->dim, bias, NULL);
}

static bool run_multi(struct tn_run *r)
{
    struct sizes s;
    struct tn_reals reals;
    struct tn_heads q = {.p = NULL}, k = {.p = NULL}, v = {.p = NULL};
    enum tn_element e = r->in[QUERY]->element;
    if (!read_multi(r, &s) || !read_past(r, PAST_KEY, PAST_VALUE, &s)) return false;
    int64_t keys = s.past + s.fresh, width = s.heads * s.dim;
    const struct tn_tensor *bias = operand(r, BIAS);
    if (bias && !has_dims(bias, 1, (int64_t[]){2 * width + s.heads * s.v_dim})) return bad_shape(r, BIAS, "a bias for queries, keys and values");
    if (!expect_output(r, 0, e, 3, (int64_t[]){s.batch, s.rows, s.heads * s.v_dim}) || !expect_output(r, 1, e, 4, (int64_t[]){s.batch, s.heads, keys, s.dim}) ||
        !expect_output(r, 2, e, 4, (int64_t[]){s.batch, s.heads, keys, s.v_dim}) || !expect_output(r, 3, e, 4, (int64_t[]){s.batch, s.heads, s.rows, keys}))
        return false;
    tn_reals_begin(&reals, r, TN_EL_F32);
    struct tn_attend a = attend_of(r->node, &s);
    find_heads(&reals, &s, &q, &k, &v);
    const float *b = tn_reals_in(&reals, BIAS), *past_k = tn_reals_in(&reals, PAST_KEY), *past_v = tn_reals_in(&reals, PAST_VALUE);
    float *present_k = tn_reals_out(&reals, 1), *present_v = tn_reals_out(&reals, 2);
    bool cached = operand(r, KEY) && r->in[KEY]->rank == 4; /* keys that have their bias already */
    if (tn_reals_good(&reals) && shift_queries(&reals, &s, &q, b) && gather(&reals, &s, &k, past_k, s.dim, b && !cached ? b + width : NULL, present_k) &&
        gather(&reals, &s, &v, past_v, s.v_dim, b && !cached ? b + 2 * width : NULL, present_v) && mask_of(&reals, PADDING, &s, &a.mask) &&
        bias_of(&reals, ADDEND, &s, &a.bias)) {
        a.q = q;
        a.k = k;
        a.v = v;
        a.out = tn_reals_out(&reals, 0);
        a.weights = tn_reals_out(&reals, 3);
        if (tn_reals_good(&reals)) tn_attend(r, &a);
    }
    return tn_reals_end(&reals);
}

/* ---- Attention ---------------------------------------------------------------------------------------------------- */

enum { INPUT, WEIGHTS, PROJECTION_BIAS, MASK, PAST, ATTENTION_ADDEND, SHARED_LENGTH };

static const char *lacks_attention(const struct tn_node *node)
{
    if (tn_attr_int(node, "do_rotary", 0)) return "attention without rotary positions (do_rotary 0)";
    return tn_attr_int(node, "past_present_share_buffer", 0) || given(node, SHARED_LENGTH) ? "states that are not shared buffers" : NULL;
}

/* Widths of queries, keys and values in the weights' columns; false: they do not fit. */
static bool widths_of(const struct tn_node *node, int64_t columns, int64_t *q, int64_t *v)
{
    size_t count;
    const int64_t *sizes = tn_attr_ints(node, "qkv_hidden_sizes", &count);
    int64_t heads = tn_attr_int(node, "num_heads", 0);
    if (count == 3) {
        *q = sizes[0];
        *v = sizes[2];
        if (sizes[0] < 1 || sizes[1] != sizes[0] || sizes[2] < 1 || sizes[0] > INT32_MAX || sizes[2] > INT32_MAX) return false;
    } else {
        *q = *v = columns / 3;
    }
    return heads > 0 && *q % heads == 0 && *v % heads == 0 && 2 * *q + *v == columns;
}

static bool infer_attention(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, INPUT);
    const struct tn_shape *in, *w, *past;
    enum tn_element e = t ? t->element : TN_EL_NONE;
    int64_t heads = tn_attr_int(x->node, "num_heads", 0), q, v;
    tn_out_unknown(x, 0, e);
    tn_out_unknown(x, 1, e);
    if (!tn_in_shape(x, INPUT, &in) || !tn_in_shape(x, WEIGHTS, &w)) return true;
    if (in->rank != 3 || w->rank != 2) return tn_infer_refuse(x, "an input of rank 3 and weights of rank 2", "ranks %u and %u", in->rank, w->rank);
    if (tn_dim_known(in->dims[2]) && tn_dim_known(w->dims[0]) && in->dims[2] != w->dims[0])
        return tn_infer_refuse(x, "as many rows of weights as the input is wide", "%lld and %lld", (long long)w->dims[0], (long long)in->dims[2]);
    if (!tn_dim_known(w->dims[1])) return true;
    if (!widths_of(x->node, w->dims[1], &q, &v)) return tn_infer_refuse(x, "columns for queries, keys and values of all heads", "%lld columns, %lld heads", (long long)w->dims[1], (long long)heads);
    tn_out_tensor(x, 0, e, 3, (tn_dim_t[]){in->dims[0], in->dims[1], v});
    if (tn_in_given(x, PAST) && !tn_in_shape(x, PAST, &past)) return true;
    if (tn_in_given(x, PAST) && past->rank != 5) return tn_infer_refuse(x, "a past of rank 5", "rank %u", past->rank);
    tn_dim_t keys = tn_in_given(x, PAST) ? tn_dim_add(x->symbols, past->dims[3], in->dims[1]) : in->dims[1];
    tn_out_tensor(x, 1, e, 5, (tn_dim_t[]){2, in->dims[0], heads, keys, q / heads});
    return true;
}

static bool project(struct tn_reals *reals, const struct sizes *s, uint64_t width, uint64_t columns, float *to)
{
    struct tn_run *r = reals->r;
    struct tn_gemm g = {.m = (size_t)(s->batch * s->rows), .n = columns, .k = width, .a_row = width, .b_k = columns, .b_n = 1, .c = to, .c_row = columns, .packed = r->state};
    const float *bias = tn_reals_in(reals, PROJECTION_BIAS);
    g.a = tn_reals_in(reals, INPUT);
    if (!g.packed) g.b = tn_reals_in(reals, WEIGHTS);
    if (!tn_reals_good(reals) || !tn_gemm_team(r, &g)) return false;
    for (uint64_t i = 0; bias && i < g.m; i++) {
        for (uint64_t n = 0; n < columns; n++) to[i * columns + n] += bias[n];
    }
    return true;
}

static bool run_attention(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[INPUT], *w = r->in[WEIGHTS], *past = operand(r, PAST), *bias = operand(r, PROJECTION_BIAS);
    struct sizes s = {.batch = x->dims[0], .rows = x->dims[1], .fresh = x->dims[1], .heads = tn_attr_int(r->node, "num_heads", 1)};
    int64_t q, v, columns = w->dims[1];
    struct tn_reals reals;
    size_t count;
    if (!widths_of(r->node, columns, &q, &v)) return bad_shape(r, WEIGHTS, "columns for queries, keys and values of all heads");
    s.dim = q / s.heads;
    s.v_dim = v / s.heads;
    if (bias && !has_dims(bias, 1, &columns)) return bad_shape(r, PROJECTION_BIAS, "a bias for each column of the weights");
    s.past = past && past->rank == 5 ? past->dims[3] : 0;
    if (past && (q != v || !has_dims(past, 5, (int64_t[]){2, s.batch, s.heads, s.past, s.dim}))) return bad_shape(r, PAST, "[2, batch, heads, past, dim]");
    if (q != v && r->out_count > 1 && r->wanted[1]) return tn_run_refuse(r, "keys and values of one width, which `present` needs", "%lld and %lld", (long long)q, (long long)v);
    if (!expect_output(r, 1, x->element, 5, (int64_t[]){2, s.batch, s.heads, s.past + s.fresh, s.dim})) return false;
    tn_reals_begin(&reals, r, TN_EL_F32);
    float *all = tn_mul((size_t)(s.batch * s.rows), (size_t)columns, &count) ? tn_reals_scratch(&reals, count) : NULL;
    if (!all) tn_run_no_memory(r);
    struct tn_attend a = attend_of(r->node, &s);
    const float *before = tn_reals_in(&reals, PAST);
    float *present = tn_reals_out(&reals, 1);
    int64_t part = s.batch * s.heads * s.dim;
    a.out = tn_reals_out(&reals, 0);
    if (tn_reals_good(&reals) && project(&reals, &s, (uint64_t)x->dims[2], (uint64_t)columns, all)) {
        a.q = heads_of(all, a.rows, (uint64_t)columns, a.dim);
        a.k = heads_of(all + q, a.rows, (uint64_t)columns, a.dim);
        a.v = heads_of(all + 2 * q, a.rows, (uint64_t)columns, a.v_dim);
        if (gather(&reals, &s, &a.k, before, s.dim, NULL, present) &&
            gather(&reals, &s, &a.v, before ? before + part * s.past : NULL, s.v_dim, NULL, present ? present + part * (s.past + s.fresh) : NULL) &&
            mask_of(&reals, MASK, &s, &a.mask) && bias_of(&reals, ATTENTION_ADDEND, &s, &a.bias))
            tn_attend(r, &a);
    }
    return tn_reals_end(&reals);
}

static enum tn_status prepare_attention(struct tn_prepare *p, void **state)
{
    const struct tn_tensor *w = p->in[WEIGHTS];
    if (!w || w->rank != 2 || w->count == 0) return TN_OK;
    *state = tn_gemm_pack(p, w, w->data, (size_t)w->dims[0], (size_t)w->dims[1], (size_t)w->dims[1], 1, NULL);
    p->keep[WEIGHTS] = false;
    return *state ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

static void release_attention(struct tn_alloc *alloc, void *state)
{
    tn_free(alloc, state);
}

static const struct tn_operator rows[] = {
    {.domain = "com.microsoft", .name = "MultiHeadAttention", .since = 1, .infer = infer_multi, .run = run_multi, .lacks = lacks_multi},
    {.domain = "com.microsoft", .name = "Attention", .since = 1, .infer = infer_attention, .run = run_attention, .prepare = prepare_attention, .release = release_attention, .lacks = lacks_attention},
};

const struct tn_operators tn_ops_contrib_attention = {rows, sizeof(rows) / sizeof(rows[0])};
