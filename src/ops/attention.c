/*
 * Attention, with caches inside (past and present) or outside (nonpad_kv_seqlen), grouped heads, masks, windows. Half
 * precision is computed in float32 from the products to the result, whatever softmax_precision says.
 */
#include "ops/attention.h"

#include <math.h>
#include <string.h>

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, VALID };

static bool differ(tn_dim_t a, tn_dim_t b)
{
    return tn_dim_known(a) && tn_dim_known(b) && a != b;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------- */

/* Dimensions of a head tensor, [batch, heads, rows, size], from rank 4, or rank 3 with a number of heads. */
static bool read_heads(struct tn_infer *t, uint32_t i, const char *attribute, tn_dim_t *out)
{
    const struct tn_shape *s;
    tn_in_shape(t, i, &s);
    if (s->rank == 4) {
        memcpy(out, s->dims, 4 * sizeof(*out));
        return true;
    }
    int64_t heads = tn_attr_int(t->node, attribute, 0);
    if (s->rank != 3 || heads < 1 || heads > INT32_MAX)
        return tn_infer_refuse(t, "rank 4, or rank 3 with the number of heads", "operand %u of rank %u, %lld heads", i, s->rank, (long long)heads);
    if (tn_dim_known(s->dims[2]) && s->dims[2] % heads != 0)
        return tn_infer_refuse(t, "a width that the heads divide", "%lld with %lld heads", (long long)s->dims[2], (long long)heads);
    out[0] = s->dims[0];
    out[1] = heads;
    out[2] = s->dims[1];
    out[3] = tn_dim_div(t->symbols, s->dims[2], heads);
    return true;
}

static bool check_heads(struct tn_infer *t, const tn_dim_t *q, const tn_dim_t *k, const tn_dim_t *v)
{
    if (differ(q[0], k[0]) || differ(q[0], v[0]) || differ(k[1], v[1]) || differ(k[2], v[2]) || differ(q[3], k[3]))
        return tn_infer_refuse(t, "queries, keys and values that agree", "other batches, heads, rows or sizes");
    if (tn_dim_known(q[1]) && tn_dim_known(k[1]) && (k[1] == 0 || q[1] % k[1] != 0))
        return tn_infer_refuse(t, "key heads that divide the query heads", "%lld of %lld", (long long)k[1], (long long)q[1]);
    return true;
}

/* The cache's rows before the new ones; a number below 0 is a symbol. */
static bool check_past(struct tn_infer *t, const tn_dim_t *k, const tn_dim_t *v, tn_dim_t *past)
{
    const struct tn_shape *pk, *pv;
    *past = 0;
    if (!tn_in_given(t, PAST_KEY) && !tn_in_given(t, PAST_VALUE)) return true;
    if (!tn_in_given(t, PAST_KEY) || !tn_in_given(t, PAST_VALUE) || tn_in_given(t, VALID))
        return tn_infer_refuse(t, "past_key and past_value together, without nonpad_kv_seqlen", "another choice of them");
    *past = tn_dim_unknown(t->symbols);
    if (!tn_in_shape(t, PAST_KEY, &pk) || !tn_in_shape(t, PAST_VALUE, &pv)) return true;
    bool fits = pk->rank == 4 && pv->rank == 4 && !differ(pk->dims[0], k[0]) && !differ(pv->dims[0], v[0]) && !differ(pk->dims[1], k[1]) &&
                !differ(pv->dims[1], v[1]) && !differ(pk->dims[2], pv->dims[2]) && !differ(pk->dims[3], k[3]) && !differ(pv->dims[3], v[3]);
    *past = pk->rank == 4 ? pk->dims[2] : 0;
    return fits || tn_infer_refuse(t, "caches [batch, heads, rows, size] of the keys and values", "other shapes");
}

static bool check_mask(struct tn_infer *t, const tn_dim_t *q, tn_dim_t total)
{
    const struct tn_shape *m, *valid;
    if (tn_in_shape(t, VALID, &valid) && (valid->rank != 1 || differ(valid->dims[0], q[0])))
        return tn_infer_refuse(t, "a number of keys for each batch", "rank %u, or another count", valid->rank);
    if (!tn_in_shape(t, MASK, &m)) return true;
    if (m->rank < 1 || m->rank > 4) return tn_infer_refuse(t, "a mask of rank 1 to 4", "rank %u", m->rank);
    tn_dim_t keys = m->dims[m->rank - 1];
    bool fits = !(tn_dim_known(keys) && tn_dim_known(total) && keys > total);
    for (uint32_t i = 1; fits && i < m->rank; i++) {
        tn_dim_t d = m->dims[m->rank - 1 - i], want = i == 1 ? q[2] : i == 2 ? q[1] : q[0];
        fits = d == 1 || !differ(d, want);
    }
    return fits || tn_infer_refuse(t, "a mask that broadcasts to [batch, heads, queries, keys]", "another shape");
}

static bool infer_attention(struct tn_infer *t)
{
    const struct tn_shape *s;
    const struct tn_type *tq = tn_in_type(t, Q), *tv = tn_in_type(t, V);
    enum tn_element e = tq ? tq->element : TN_EL_NONE, ev = tv ? tv->element : TN_EL_NONE;
    tn_dim_t q[4], k[4], v[4], past;
    tn_out_unknown(t, 0, e);
    tn_out_unknown(t, 1, e);
    tn_out_unknown(t, 2, ev);
    tn_out_unknown(t, 3, e);
    int64_t left = tn_attr_int(t->node, "left_window_size", -1), right = tn_attr_int(t->node, "right_window_size", -1);
    if (left < -1 || right < -1 || left > INT32_MAX || right > INT32_MAX)
        return tn_infer_refuse(t, "window sizes from -1", "%lld and %lld", (long long)left, (long long)right);
    if (!tn_in_shape(t, Q, &s) || !tn_in_shape(t, K, &s) || !tn_in_shape(t, V, &s)) return true;
    if (!read_heads(t, Q, "q_num_heads", q) || !read_heads(t, K, "kv_num_heads", k) || !read_heads(t, V, "kv_num_heads", v)) return false;
    if (!check_heads(t, q, k, v) || !check_past(t, k, v, &past)) return false;
    tn_dim_t total = tn_dim_add(t->symbols, past, k[2]);
    if (!check_mask(t, q, total)) return false;
    tn_in_shape(t, Q, &s);
    if (s->rank == 4) tn_out_tensor(t, 0, e, 4, (tn_dim_t[]){q[0], q[1], q[2], v[3]});
    else tn_out_tensor(t, 0, e, 3, (tn_dim_t[]){q[0], q[2], tn_dim_mul(t->symbols, q[1], v[3])});
    tn_out_tensor(t, 1, e, 4, (tn_dim_t[]){k[0], k[1], total, k[3]});
    tn_out_tensor(t, 2, ev, 4, (tn_dim_t[]){v[0], v[1], total, v[3]});
    tn_out_tensor(t, 3, e, 4, (tn_dim_t[]){q[0], q[1], q[2], total});
    return true;
}

/* ---- operands ----------------------------------------------------------------------------------------------------- */

/* Sizes of a head tensor and where its rows are. */
static struct tn_heads heads_of(const struct tn_tensor *t, int64_t heads, uint64_t *count, uint64_t *rows, uint64_t *size)
{
    if (t->rank == 4) {
        *count = (uint64_t)t->dims[1];
        *rows = (uint64_t)t->dims[2];
        *size = (uint64_t)t->dims[3];
        return (struct tn_heads){*count * *rows * *size, *rows * *size, *size};
    }
    *count = (uint64_t)heads;
    *rows = (uint64_t)t->dims[1];
    *size = (uint64_t)(t->dims[2] / heads);
    return (struct tn_heads){*rows * (uint64_t)t->dims[2], *size, (uint64_t)t->dims[2]};
}

/* One side of the cache: the past's rows, then the new ones, as [batch, heads, rows, size]. */
static void join(const struct tn_attention *a, size_t each, const void *past, uint64_t past_rows, const void *now, struct tn_heads at, uint64_t size,
                 void *to)
{
    uint64_t rows = a->kv_rows - past_rows, bytes = size * each;
    for (uint64_t i = 0; i < a->batch * a->kv_heads; i++) {
        char *out = (char *)to + i * a->kv_rows * bytes;
        const char *from = (const char *)now + (i / a->kv_heads * at.batch + i % a->kv_heads * at.head) * each;
        if (past_rows) memcpy(out, (const char *)past + i * past_rows * bytes, past_rows * bytes);
        for (uint64_t row = 0; row < rows; row++) memcpy(out + (past_rows + row) * bytes, from + row * at.row * each, bytes);
    }
}

/* Keys (or values) as the computation reads them; output k takes the cache when it is wanted. */
static const void *cached(struct tn_reals *s, const struct tn_attention *a, uint32_t i, uint32_t past, uint32_t out, uint64_t size, struct tn_heads *at)
{
    struct tn_run *r = s->r;
    const struct tn_tensor *before = past < r->in_count ? r->in[past] : NULL;
    bool wanted = out < r->out_count && r->wanted[out];
    const void *now = tn_reals_in(s, i), *then = tn_reals_in(s, past);
    if (!before && !wanted) return now;
    void *to = wanted ? tn_reals_out(s, out) : tn_reals_scratch(s, a->batch * a->kv_heads * a->kv_rows * size);
    if (!to || !now) return NULL;
    join(a, s->wide ? sizeof(double) : sizeof(float), then, before ? (uint64_t)before->dims[2] : 0, now, *at, size, to);
    *at = (struct tn_heads){a->kv_heads * a->kv_rows * size, a->kv_rows * size, size};
    return to;
}

static void read_mask(struct tn_reals *s, struct tn_attention *a)
{
    const struct tn_tensor *m = s->r->in_count > MASK ? s->r->in[MASK] : NULL;
    if (!m) return;
    if (m->element == TN_EL_BOOL) a->allow = m->data;
    else a->add = tn_reals_of(s, m);
    uint64_t step = a->mask_keys = (uint64_t)m->dims[m->rank - 1];
    for (uint32_t i = 1; i < m->rank; i++) {
        uint64_t n = (uint64_t)m->dims[m->rank - 1 - i];
        a->mask_step[3 - i] = n == 1 ? 0 : step;
        step *= n;
    }
}

static bool read_valid(struct tn_run *r, struct tn_attention *a)
{
    const struct tn_tensor *v = r->in_count > VALID ? r->in[VALID] : NULL;
    if (!v) return true;
    a->valid = v->data;
    a->from_valid = true;
    for (uint64_t i = 0; i < v->count; i++) {
        if (a->valid[i] < 0 || a->valid[i] > (int64_t)a->kv_rows)
            return tn_run_refuse(r, "as many keys as there are, at most", "%lld of %llu", (long long)a->valid[i], (unsigned long long)a->kv_rows);
    }
    return true;
}

static void read_sizes(const struct tn_run *r, struct tn_attention *a)
{
    int64_t q_heads = tn_attr_int(r->node, "q_num_heads", 0), kv_heads = tn_attr_int(r->node, "kv_num_heads", 0);
    const struct tn_tensor *past = r->in_count > PAST_KEY ? r->in[PAST_KEY] : NULL;
    uint64_t rows, heads;
    *a = (struct tn_attention){.batch = (uint64_t)r->in[Q]->dims[0]};
    a->q_at = heads_of(r->in[Q], q_heads, &a->q_heads, &a->q_rows, &a->size);
    a->k_at = heads_of(r->in[K], kv_heads, &a->kv_heads, &a->kv_rows, &a->size);
    a->v_at = heads_of(r->in[V], kv_heads, &heads, &rows, &a->v_size);
    a->before = past ? past->dims[2] : 0;
    a->kv_rows += (uint64_t)a->before;
    a->y_at = r->in[Q]->rank == 4 ? (struct tn_heads){a->q_heads * a->q_rows * a->v_size, a->q_rows * a->v_size, a->v_size}
                                  : (struct tn_heads){a->q_heads * a->q_rows * a->v_size, a->v_size, a->q_heads * a->v_size};
    a->scale = tn_node_attr(r->node, "scale") ? tn_attr_float(r->node, "scale", 1) : 1 / sqrt((double)a->size);
    a->softcap = tn_attr_float(r->node, "softcap", 0);
    a->causal = tn_attr_int(r->node, "is_causal", 0) != 0;
    a->left = tn_attr_int(r->node, "left_window_size", -1);
    a->right = tn_attr_int(r->node, "right_window_size", -1);
    a->stage = (int)tn_attr_int(r->node, "qk_matmul_output_mode", 0);
}

static bool run_attention(struct tn_run *r)
{
    struct tn_attention a;
    struct tn_reals reals;
    if (!tn_run_shaped(r)) return false;
    read_sizes(r, &a);
    if (!read_valid(r, &a)) return false;
    tn_reals_begin(&reals, r, r->in[Q]->element);
    a.q = tn_reals_in(&reals, Q);
    a.k = cached(&reals, &a, K, PAST_KEY, 1, a.size, &a.k_at);
    a.v = cached(&reals, &a, V, PAST_VALUE, 2, a.v_size, &a.v_at);
    read_mask(&reals, &a);
    a.y = tn_reals_out(&reals, 0);
    a.scores = tn_reals_out(&reals, 3);
    if (tn_reals_good(&reals)) tn_attention_run(r, &a, reals.wide);
    return tn_reals_end(&reals);
}

static const char *lacks_attention(const struct tn_node *node)
{
    int64_t stage = tn_attr_int(node, "qk_matmul_output_mode", 0);
    return stage < 0 || stage > 3 ? "qk_matmul_output_mode" : NULL;
}

/* ---- RotaryEmbedding ---------------------------------------------------------------------------------------------- */

static bool infer_rotary(struct tn_infer *t)
{
    const struct tn_shape *x, *c;
    int64_t heads = tn_attr_int(t->node, "num_heads", 0), part = tn_attr_int(t->node, "rotary_embedding_dim", 0);
    tn_infer_same(t);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank != 3 && x->rank != 4) return tn_infer_refuse(t, "rank 3 or 4", "rank %u", x->rank);
    tn_dim_t size = x->dims[x->rank - 1];
    if (x->rank == 3) {
        if (heads < 1 || (tn_dim_known(size) && size % heads != 0)) return tn_infer_refuse(t, "num_heads that divide the width", "%lld", (long long)heads);
        size = tn_dim_div(t->symbols, size, heads);
    }
    if (part < 0 || part % 2 || (tn_dim_known(size) && (part > size || (part == 0 && size % 2))))
        return tn_infer_refuse(t, "an even part of each head", "%lld of %lld", (long long)part, (long long)size);
    for (uint32_t i = 1; i < 3; i++) {
        if (!tn_in_shape(t, i, &c)) continue;
        tn_dim_t half = part ? part / 2 : tn_dim_known(size) ? size / 2 : -1;
        if (c->rank != (tn_in_given(t, 3) ? 2u : 3u) || (half >= 0 && differ(c->dims[c->rank - 1], half)))
            return tn_infer_refuse(t, "caches of half the rotated part; by position, or by batch and row", "rank %u, or another width", c->rank);
        tn_dim_t rows = x->dims[x->rank == 4 ? 2 : 1];
        if (c->rank == 3 && (differ(c->dims[0], x->dims[0]) || differ(c->dims[1], rows)))
            return tn_infer_refuse(t, "a cache for each row", "another shape");
    }
    if (tn_in_shape(t, 3, &c) && (c->rank != 2 || differ(c->dims[0], x->dims[0]) || differ(c->dims[1], x->dims[x->rank == 4 ? 2 : 1])))
        return tn_infer_refuse(t, "a position for each row", "rank %u, or another shape", c->rank);
    return true;
}

struct rotary {
    const float *x, *cosine, *sine;
    float *y;
    const int64_t *positions;
    struct tn_heads at;
    uint64_t heads, rows, size, half;
    bool interleaved;
};

/* Items are rows of heads. */
static void rotary_items(void *user, uint64_t begin, uint64_t end)
{
    const struct rotary *k = user;
    uint64_t step = k->interleaved ? 2 : 1, apart = k->interleaved ? 1 : k->half;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t row = i % k->rows, head = i / k->rows % k->heads, batch = i / k->rows / k->heads, token = batch * k->rows + row;
        uint64_t at = batch * k->at.batch + head * k->at.head + row * k->at.row, angle = (k->positions ? (uint64_t)k->positions[token] : token) * k->half;
        for (uint64_t d = 0; d < k->half; d++) {
            float a = k->x[at + d * step], b = k->x[at + d * step + apart], c = k->cosine[angle + d], s = k->sine[angle + d];
            k->y[at + d * step] = c * a - s * b;
            k->y[at + d * step + apart] = s * a + c * b;
        }
        for (uint64_t d = 2 * k->half; d < k->size; d++) k->y[at + d] = k->x[at + d];
    }
}

static bool run_rotary(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0], *positions = r->in_count > 3 ? r->in[3] : NULL;
    struct tn_reals reals;
    struct rotary k = {.interleaved = tn_attr_int(r->node, "interleaved", 0) != 0, .positions = positions ? positions->data : NULL};
    uint64_t part = (uint64_t)tn_attr_int(r->node, "rotary_embedding_dim", 0);
    if (x->count == 0) return true;
    k.at = heads_of(x, tn_attr_int(r->node, "num_heads", 1), &k.heads, &k.rows, &k.size);
    k.half = (part ? part : k.size) / 2;
    for (uint64_t i = 0; positions && i < positions->count; i++) {
        int64_t least = r->in[1]->dims[0] < r->in[2]->dims[0] ? r->in[1]->dims[0] : r->in[2]->dims[0];
        if (k.positions[i] < 0 || k.positions[i] >= least)
            return tn_run_refuse(r, "positions in the caches", "%lld of %lld", (long long)k.positions[i], (long long)least);
    }
    tn_reals_begin(&reals, r, TN_EL_F32);
    k.x = tn_reals_in(&reals, 0);
    k.cosine = tn_reals_in(&reals, 1);
    k.sine = tn_reals_in(&reals, 2);
    k.y = tn_reals_out(&reals, 0);
    if (tn_reals_good(&reals)) tn_run_items(r, (uint64_t)x->dims[0] * k.heads * k.rows, k.size * 2, rotary_items, &k);
    return tn_reals_end(&reals);
}

static const struct tn_operator rows[] = {
    {.name = "Attention", .since = 23, .infer = infer_attention, .run = run_attention, .lacks = lacks_attention},
    {.name = "RotaryEmbedding", .since = 23, .infer = infer_rotary, .run = run_rotary},
};

const struct tn_operators tn_ops_attention = {rows, sizeof(rows) / sizeof(rows[0])};
