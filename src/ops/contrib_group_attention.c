/*
 * GroupQueryAttention and RotaryEmbedding of com.microsoft. The cache of a step is the operand `past` with the new rows
 * behind it; rows that no sequence has reached yet are zero. Caches are of the activations' type: quantised and
 * windowed ones are refused before anything runs.
 */
#include "ops/contrib_attend.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

static const struct tn_tensor *operand(const struct tn_run *r, uint32_t i)
{
    return i < r->in_count ? r->in[i] : NULL;
}

static bool given(const struct tn_node *node, uint32_t i)
{
    return i < node->in_count && node->in[i].value != TN_NET_NONE;
}

/* Positions of rows: stated [batch, rows], from one number on, or behind what is past; each below `most`. */
static int64_t *positions_of(struct tn_run *r, const struct tn_tensor *stated, const int64_t *past, int64_t batch, int64_t rows, int64_t most)
{
    size_t count;
    int64_t *p = tn_mul((size_t)batch, (size_t)rows, &count) ? tn_run_scratch(r, count + 1, sizeof(*p)) : NULL;
    if (!p) {
        tn_run_no_memory(r);
        return NULL;
    }
    bool each = stated && stated->count == count && stated->rank == 2;
    if (stated && !each && stated->count != 1) tn_run_refuse(r, "a position for each row, or the first", "%llu", (unsigned long long)stated->count);
    for (size_t i = 0; i < count && !r->failed; i++) {
        int64_t at = (int64_t)(i % (size_t)rows), batch_at = (int64_t)(i / (size_t)rows);
        if (each) at = tn_element_get_int(stated->element, stated->data, i);
        else if (stated) at += tn_element_get_int(stated->element, stated->data, 0);
        else at += past ? past[batch_at] : 0;
        if (at < 0 || at >= most) tn_run_refuse(r, "positions that the caches of cosines and sines have", "%lld of %lld", (long long)at, (long long)most);
        p[i] = at;
    }
    if (!r->failed) return p;
    tn_heap_give(r->heap, p);
    return NULL;
}

static bool caches_fit(struct tn_run *r, uint32_t ci, uint32_t si, int64_t dim, int64_t *turned, int64_t *most)
{
    const struct tn_tensor *c = operand(r, ci), *s = operand(r, si);
    if (!c || !s || c->rank != 2 || s->rank != 2 || c->dims[0] != s->dims[0] || c->dims[1] != s->dims[1] || c->dims[1] < 1 || 2 * c->dims[1] > dim)
        return tn_run_refuse(r, "cosines and sines [positions, at most half of a head]", "others");
    *turned = 2 * c->dims[1];
    *most = c->dims[0];
    return true;
}

/* ---- RotaryEmbedding ---------------------------------------------------------------------------------------------- */

enum { X, POSITIONS, COSINES, SINES };

static const char *lacks_rotary(const struct tn_node *node)
{
    if (tn_attr_float(node, "scale", 1) != 1) return "scale 1";
    return tn_attr_int(node, "is_packed_batching", 0) ? "batches that are not packed" : NULL;
}

static bool run_rotary(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[X];
    int64_t heads = tn_attr_int(r->node, "num_heads", 0), turned, most, dim, rows;
    if (x->rank != 3 && x->rank != 4) return tn_run_refuse(r, "[batch, rows, width] or [batch, heads, rows, dim]", "rank %u", x->rank);
    const struct tn_tensor *c = r->in[COSINES];
    int64_t by_cache = c->rank == 2 ? 2 * c->dims[1] : 0, last = x->dims[x->rank - 1];
    if (x->rank == 4) heads = x->dims[1], dim = last;
    else if (heads > 0) dim = last / heads;
    else dim = by_cache, heads = dim ? last / dim : 0;
    rows = x->dims[x->rank - 2];
    if (heads < 1 || dim < 1 || (x->rank == 3 && heads * dim != last)) return tn_run_refuse(r, "rows of whole heads", "%lld for %lld heads", (long long)last, (long long)heads);
    if (x->count == 0) return true;
    if (!caches_fit(r, COSINES, SINES, dim, &turned, &most)) return false;
    int64_t *positions = positions_of(r, r->in[POSITIONS], NULL, x->dims[0], rows, most);
    if (!positions) return false;
    struct tn_reals reals;
    tn_reals_begin(&reals, r, TN_EL_F32);
    uint64_t n = (uint64_t)heads, d = (uint64_t)dim, m = (uint64_t)rows;
    struct tn_rotation a = {.batch = (uint64_t)x->dims[0], .heads = n, .rows = m, .dim = d, .turned = (uint64_t)turned, .positions = positions, .scale = 1,
                            .interleaved = tn_attr_int(r->node, "interleaved", 0) != 0};
    a.from = x->rank == 4 ? (struct tn_heads){.batch = n * m * d, .head = m * d, .row = d} : (struct tn_heads){.batch = m * n * d, .head = d, .row = n * d};
    a.to_batch = a.from.batch;
    a.to_head = a.from.head;
    a.to_row = a.from.row;
    a.from.p = tn_reals_in(&reals, X);
    a.cosine = tn_reals_in(&reals, COSINES);
    a.sine = tn_reals_in(&reals, SINES);
    a.to = tn_reals_out(&reals, 0);
    if (tn_reals_good(&reals)) tn_rotate(r, &a);
    bool good = tn_reals_end(&reals);
    tn_heap_give(r->heap, positions);
    return good;
}

/* ---- GroupQueryAttention ------------------------------------------------------------------------------------------ */

enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, LENGTHS, TOTAL, COS, SIN, POSITION_IDS, BIAS, SINK, K_SCALE, V_SCALE, Q_NORM, K_NORM, QUERY_LENGTHS };

static const char *lacks_group(const struct tn_node *node)
{
    struct tn_str k = tn_attr_text(node, "k_quant_type"), v = tn_attr_text(node, "v_quant_type");
    if ((k.n && !tn_str_is(k, "NONE")) || (v.n && !tn_str_is(v, "NONE")) || given(node, K_SCALE) || given(node, V_SCALE)) return "caches that are not quantised";
    if (tn_attr_int(node, "sliding_window_cache", 0)) return "caches of all positions (sliding_window_cache 0)";
    if (tn_attr_int(node, "qk_output", 0) || (node->out_count > 3 && node->out[3] != TN_NET_NONE)) return "no output of weights (qk_output 0)";
    if (given(node, Q_NORM) || given(node, K_NORM)) return "norms of queries and keys apart from the operator";
    return given(node, QUERY_LENGTHS) ? "rows without padding (no query_seqlens)" : NULL;
}

struct group {
    int64_t batch, rows, heads, key_heads, dim, total, cache; /* cache: positions of `present` */
    bool packed, causal;
    int64_t *past, *lengths; /* [batch] */
};

static bool infer_group(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, QUERY);
    const struct tn_shape *q, *past;
    enum tn_element e = t ? t->element : TN_EL_NONE;
    int64_t heads = tn_attr_int(x->node, "num_heads", 0), key_heads = tn_attr_int(x->node, "kv_num_heads", 0), total;
    uint32_t n;
    if (heads < 1 || key_heads < 1 || heads > INT32_MAX || heads % key_heads != 0)
        return tn_infer_refuse(x, "heads that the key heads divide", "%lld and %lld", (long long)heads, (long long)key_heads);
    for (uint32_t i = 0; i < x->out_count; i++) tn_out_unknown(x, i, e);
    if (!tn_in_shape(x, QUERY, &q)) return true;
    if (q->rank != 3) return tn_infer_refuse(x, "queries of rank 3", "rank %u", q->rank);
    bool packed = !tn_in_given(x, KEY);
    tn_dim_t dim = tn_dim_div(x->symbols, q->dims[2], packed ? heads + 2 * key_heads : heads), cache = tn_dim_unknown(x->symbols);
    tn_out_tensor(x, 0, e, 3, (tn_dim_t[]){q->dims[0], q->dims[1], packed ? tn_dim_mul(x->symbols, dim, heads) : q->dims[2]});
    if (tn_in_numbers(x, TOTAL, &total, 1, &n) && n == 1 && total >= 0) {
        if (!tn_in_given(x, PAST_KEY)) cache = total;
        else if (tn_in_shape(x, PAST_KEY, &past) && past->rank == 4 && tn_dim_known(past->dims[2])) cache = past->dims[2] > total ? past->dims[2] : total;
    }
    if (x->failed) return false;
    for (uint32_t k = 1; k < 3; k++) tn_out_tensor(x, k, e, 4, (tn_dim_t[]){q->dims[0], key_heads, cache, dim});
    return true;
}

static bool read_group(struct tn_run *r, struct group *g)
{
    const struct tn_tensor *q = r->in[QUERY], *k = operand(r, KEY), *v = operand(r, VALUE), *past[2] = {operand(r, PAST_KEY), operand(r, PAST_VALUE)};
    *g = (struct group){.batch = q->dims[0], .rows = q->dims[1], .heads = tn_attr_int(r->node, "num_heads", 1), .key_heads = tn_attr_int(r->node, "kv_num_heads", 1),
                        .packed = !k, .causal = tn_attr_int(r->node, "causal", 1) != 0};
    int64_t parts = g->packed ? g->heads + 2 * g->key_heads : g->heads;
    g->dim = q->dims[2] / parts;
    if (g->dim * parts != q->dims[2] || g->dim == 0) return tn_run_refuse(r, "queries of whole heads", "%lld", (long long)q->dims[2]);
    const struct tn_tensor *fresh[2] = {k, v};
    for (unsigned i = 0; i < 2 && !g->packed; i++) {
        const struct tn_tensor *t = fresh[i];
        if (!t || t->rank != 3 || t->dims[0] != g->batch || t->dims[1] != g->rows || t->dims[2] != g->key_heads * g->dim)
            return tn_run_refuse(r, "keys and values [batch, rows, key heads * dim]", "others");
    }
    if (r->in[TOTAL]->count != 1 || r->in[LENGTHS]->count != (uint64_t)g->batch) return tn_run_refuse(r, "a length for each sequence and one total", "others");
    g->total = tn_run_int(r, TOTAL, 0);
    g->cache = g->total;
    for (unsigned i = 0; i < 2; i++) {
        const struct tn_tensor *t = past[i];
        if (!past[0] != !past[1]) return tn_run_refuse(r, "past keys together with past values", "one of them");
        if (!t) continue;
        if (t->rank != 4 || t->dims[0] != g->batch || t->dims[1] != g->key_heads || t->dims[3] != g->dim || t->dims[2] != past[0]->dims[2])
            return tn_run_refuse(r, "caches [batch, key heads, positions, dim]", "another shape");
        if (t->dims[2] > g->cache) g->cache = t->dims[2];
    }
    return (g->total >= g->rows && g->total <= INT32_MAX) || tn_run_refuse(r, "a total of at least the new rows", "%lld for %lld", (long long)g->total, (long long)g->rows);
}

/* Where each sequence stands: a first prompt begins at 0, whatever its padding. */
static bool read_lengths(struct tn_run *r, struct group *g)
{
    int64_t stored = operand(r, PAST_KEY) ? r->in[PAST_KEY]->dims[2] : 0;
    for (int64_t b = 0; b < g->batch; b++) {
        int64_t all = tn_run_int(r, LENGTHS, (uint64_t)b) + 1;
        g->past[b] = g->rows == g->total ? 0 : all - g->rows;
        g->lengths[b] = g->past[b] + g->rows;
        if (all < 1 || all > g->total || g->past[b] < 0 || g->past[b] > stored || g->lengths[b] > g->cache)
            return tn_run_refuse(r, "lengths that the caches hold", "sequence %lld with %lld of %lld", (long long)b, (long long)all, (long long)g->total);
    }
    return true;
}

/* past and then the new rows, [batch, key heads, cache, dim]. */
static void store(const struct group *g, const float *past, int64_t stored, const struct tn_heads *fresh, float *to)
{
    for (int64_t i = 0; i < g->batch * g->key_heads; i++) {
        int64_t b = i / g->key_heads, h = i % g->key_heads;
        float *y = to + i * g->cache * g->dim;
        memset(y, 0, (size_t)(g->cache * g->dim) * sizeof(*y));
        if (past && stored) memcpy(y, past + i * stored * g->dim, (size_t)((g->past[b] < stored ? g->past[b] : stored) * g->dim) * sizeof(*y));
        for (int64_t k = 0; k < g->rows; k++)
            memcpy(y + (g->past[b] + k) * g->dim, fresh->p + (uint64_t)b * fresh->batch + (uint64_t)h * fresh->head + (uint64_t)k * fresh->row, (size_t)g->dim * sizeof(*y));
    }
}

static bool turn(struct tn_reals *reals, const struct group *g, struct tn_heads *h, int64_t heads, int64_t turned, const int64_t *positions)
{
    size_t count = (size_t)(g->batch * g->rows * heads * g->dim);
    float *to = tn_reals_scratch(reals, count);
    if (!to) return false;
    uint64_t width = (uint64_t)(heads * g->dim);
    struct tn_rotation a = {.from = *h, .to = to, .to_batch = (uint64_t)g->rows * width, .to_head = (uint64_t)g->dim, .to_row = width, .batch = (uint64_t)g->batch,
                            .heads = (uint64_t)heads, .rows = (uint64_t)g->rows, .dim = (uint64_t)g->dim, .turned = (uint64_t)turned, .positions = positions, .scale = 1,
                            .interleaved = tn_attr_int(reals->r->node, "rotary_interleaved", 0) != 0};
    a.cosine = tn_reals_in(reals, COS);
    a.sine = tn_reals_in(reals, SIN);
    if (!tn_reals_good(reals)) return false;
    tn_rotate(reals->r, &a);
    *h = (struct tn_heads){.p = to, .batch = a.to_batch, .head = a.to_head, .row = a.to_row};
    return true;
}

static bool rotate_both(struct tn_reals *reals, const struct group *g, struct tn_heads *q, struct tn_heads *k)
{
    int64_t turned, most;
    if (!tn_attr_int(reals->r->node, "do_rotary", 0)) return true;
    if (!caches_fit(reals->r, COS, SIN, g->dim, &turned, &most)) return false;
    int64_t *positions = positions_of(reals->r, operand(reals->r, POSITION_IDS), g->past, g->batch, g->rows, most);
    bool good = positions && turn(reals, g, q, g->heads, turned, positions) && turn(reals, g, k, g->key_heads, turned, positions);
    tn_heap_give(reals->r->heap, positions);
    return good;
}

static void fresh_heads(struct tn_reals *reals, const struct group *g, struct tn_heads h[3])
{
    uint64_t dim = (uint64_t)g->dim, rows = (uint64_t)g->rows, width = dim * (uint64_t)(g->packed ? g->heads + 2 * g->key_heads : g->heads), narrow = dim * (uint64_t)g->key_heads;
    const float *q = tn_reals_in(reals, QUERY), *k = tn_reals_in(reals, KEY), *v = tn_reals_in(reals, VALUE);
    if (!tn_reals_good(reals)) return;
    h[0] = h[1] = h[2] = (struct tn_heads){.p = q, .batch = rows * width, .head = dim, .row = width};
    if (g->packed) {
        h[1].p = q + (uint64_t)g->heads * dim;
        h[2].p = h[1].p + narrow;
        return;
    }
    h[1] = (struct tn_heads){.p = k, .batch = rows * narrow, .head = dim, .row = narrow};
    h[2] = h[1];
    h[2].p = v;
}

static bool bias_of(struct tn_reals *reals, const struct group *g, struct tn_addend *out)
{
    const struct tn_tensor *t = operand(reals->r, BIAS);
    if (!t) return true;
    if (t->rank != 4 || (t->dims[0] != 1 && t->dims[0] != g->batch) || (t->dims[1] != 1 && t->dims[1] != g->heads) || t->dims[2] != g->rows || t->dims[3] < g->total)
        return tn_run_refuse(reals->r, "a bias [batch or 1, heads or 1, rows, total]", "another shape");
    uint64_t plane = (uint64_t)(t->dims[2] * t->dims[3]);
    *out = (struct tn_addend){.p = tn_reals_in(reals, BIAS), .batch = t->dims[0] == 1 ? 0 : plane * (uint64_t)t->dims[1], .head = t->dims[1] == 1 ? 0 : plane, .row = (uint64_t)t->dims[3]};
    return tn_reals_good(reals);
}

/* Where `present` k is to be written, as floats. */
static float *present_of(struct tn_reals *reals, const struct group *g, uint32_t k)
{
    struct tn_run *r = reals->r;
    int64_t dims[4] = {g->batch, g->key_heads, g->cache, g->dim};
    size_t count;
    if (k < r->out_count && r->wanted[k] && !r->out[k] && !tn_run_output(r, k, r->in[QUERY]->element, 4, dims)) return NULL;
    float *p = tn_reals_out(reals, k);
    if (p || !tn_reals_good(reals)) return p;
    bool fits = tn_mul((size_t)(g->batch * g->key_heads), (size_t)g->cache, &count) && tn_mul(count, (size_t)g->dim, &count);
    if (!fits) tn_run_no_memory(r);
    return fits ? tn_reals_scratch(reals, count) : NULL;
}

static bool attend_group(struct tn_reals *reals, const struct group *g)
{
    struct tn_run *r = reals->r;
    struct tn_heads h[3];
    float *present[2] = {present_of(reals, g, 1), present_of(reals, g, 2)};
    const float *past[2] = {tn_reals_in(reals, PAST_KEY), tn_reals_in(reals, PAST_VALUE)};
    double scale = tn_attr_float(r->node, "scale", 0);
    int64_t stored = operand(r, PAST_KEY) ? r->in[PAST_KEY]->dims[2] : 0, window = tn_attr_int(r->node, "local_window_size", -1);
    fresh_heads(reals, g, h);
    if (!tn_reals_good(reals) || !rotate_both(reals, g, &h[0], &h[1])) return false;
    for (unsigned i = 0; i < 2; i++) store(g, past[i], stored, &h[i + 1], present[i]);
    uint64_t dim = (uint64_t)g->dim, cache = (uint64_t)g->cache;
    struct tn_attend a = {.q = h[0], .batch = (uint64_t)g->batch, .heads = (uint64_t)g->heads, .key_heads = (uint64_t)g->key_heads, .rows = (uint64_t)g->rows,
                          .keys = (uint64_t)g->total, .dim = dim, .v_dim = dim, .scale = scale == 0 ? (float)(1 / sqrt((double)dim)) : (float)scale,
                          .cap = (float)tn_attr_float(r->node, "softcap", 0), .causal = g->causal, .window = window > 0 ? window : 0, .past = g->past, .lengths = g->lengths,
                          .smooth = tn_attr_int(r->node, "smooth_softmax", 0) > 0};
    a.k = (struct tn_heads){.p = present[0], .batch = (uint64_t)g->key_heads * cache * dim, .head = cache * dim, .row = dim};
    a.v = a.k;
    a.v.p = present[1];
    a.sink = tn_reals_in(reals, SINK);
    if (operand(r, SINK) && r->in[SINK]->count != (uint64_t)g->heads) return tn_run_refuse(r, "a sink for each head", "%llu", (unsigned long long)r->in[SINK]->count);
    a.out = tn_reals_out(reals, 0);
    return bias_of(reals, g, &a.bias) && tn_reals_good(reals) && tn_attend(r, &a);
}

static bool run_group(struct tn_run *r)
{
    struct group g;
    struct tn_reals reals;
    if (!read_group(r, &g)) return false;
    int64_t *lengths = tn_run_scratch(r, 2 * (size_t)g.batch + 1, sizeof(*lengths));
    if (!lengths) return false;
    g.past = lengths;
    g.lengths = lengths + g.batch;
    bool good = read_lengths(r, &g);
    if (good) {
        tn_reals_begin(&reals, r, TN_EL_F32);
        attend_group(&reals, &g);
        good = tn_reals_end(&reals);
    }
    tn_heap_give(r->heap, lengths);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = "com.microsoft", .name = "RotaryEmbedding", .since = 1, .infer = tn_infer_same, .run = run_rotary, .lacks = lacks_rotary},
    {.domain = "com.microsoft", .name = "GroupQueryAttention", .since = 1, .infer = infer_group, .run = run_group, .lacks = lacks_group},
};

const struct tn_operators tn_ops_contrib_group_attention = {rows, sizeof(rows) / sizeof(rows[0])};
