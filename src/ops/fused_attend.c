/*
 * Attention that a patch has found written out: softmax(scale Q K^T + mask) V over operands that lie in memory as a
 * projection left them. An operator of the domain "tenon", which no file can name: exec/patch_attend.c states it, and its
 * operands are of float32.
 *
 *     in   Q, K, V of rank 3 or 4 alike; a mask that broadcasts to the scores, or absent
 *     out  the result; what the softmax gave, if wanted
 *     q, k, v   perm: dimension d of [.., rows, size] is dimension perm[d] of the operand; the last stays the last
 *     out       1: the result is [batch, rows, heads, size]
 *     merged    1: the second output is [batch * heads, rows, keys]
 */
#include "ops/contrib_attend.h"

enum { Q, K, V, MASK };

struct operand {
    tn_dim_t dims[TN_RANK]; /* in the order of attention */
    uint64_t steps[TN_RANK];
};

static const int64_t *perm_of(const struct tn_node *node, uint32_t k)
{
    size_t count;
    return tn_attr_ints(node, (const char *[]){"q", "k", "v"}[k], &count);
}

static bool read_shape(struct tn_infer *x, uint32_t k, struct operand *out, uint32_t *rank)
{
    const struct tn_shape *s;
    const int64_t *perm = perm_of(x->node, k);
    if (!tn_in_shape(x, k, &s)) return false;
    *rank = s->rank;
    for (uint32_t d = 0; d < s->rank; d++) out->dims[d] = s->dims[perm[d]];
    return true;
}

static bool differ(tn_dim_t a, tn_dim_t b)
{
    return tn_dim_known(a) && tn_dim_known(b) && a != b;
}

static bool infer_attend(struct tn_infer *x)
{
    struct operand q, k, v;
    uint32_t rank, other;
    tn_out_unknown(x, 0, TN_EL_F32);
    tn_out_unknown(x, 1, TN_EL_F32);
    if (!read_shape(x, Q, &q, &rank) || !read_shape(x, K, &k, &other) || !read_shape(x, V, &v, &other)) return true;
    bool fits = !differ(q.dims[rank - 1], k.dims[rank - 1]) && !differ(k.dims[rank - 2], v.dims[rank - 2]);
    for (uint32_t d = 0; fits && d + 2 < rank; d++) fits = !differ(q.dims[d], k.dims[d]) && !differ(q.dims[d], v.dims[d]);
    if (!fits) return tn_infer_refuse(x, "queries, keys and values that agree", "other dimensions");
    struct operand y = q, p = q;
    y.dims[rank - 1] = v.dims[rank - 1];
    p.dims[rank - 1] = k.dims[rank - 2];
    if (tn_attr_int(x->node, "out", 0)) {
        y.dims[1] = q.dims[2];
        y.dims[2] = q.dims[1];
    }
    tn_out_tensor(x, 0, TN_EL_F32, rank, y.dims);
    if (tn_attr_int(x->node, "merged", 0)) {
        tn_dim_t both = tn_dim_mul(x->symbols, p.dims[0], p.dims[1]);
        tn_out_tensor(x, 1, TN_EL_F32, 3, (tn_dim_t[]){both, p.dims[2], p.dims[3]});
    } else {
        tn_out_tensor(x, 1, TN_EL_F32, rank, p.dims);
    }
    return true;
}

/* ---- execution ---------------------------------------------------------------------------------------------------- */

static void read_operand(const struct tn_run *r, uint32_t k, struct operand *o)
{
    const struct tn_tensor *t = r->in[k];
    const int64_t *perm = perm_of(r->node, k);
    uint64_t steps[TN_RANK], step = 1;
    for (uint32_t d = t->rank; d-- > 0;) {
        steps[d] = step;
        step *= (uint64_t)t->dims[d];
    }
    for (uint32_t d = 0; d < t->rank; d++) {
        o->dims[d] = t->dims[perm[d]];
        o->steps[d] = steps[perm[d]];
    }
}

/* Of rank 3 each matrix is a batch of one head. */
static struct tn_heads heads_of(const struct tn_tensor *t, const struct operand *o)
{
    struct tn_heads h = {.p = t->data, .batch = o->steps[0], .row = o->steps[t->rank - 2]};
    if (t->rank == 4) h.head = o->steps[1];
    return h;
}

/* A mask with one number for all keys is spread; NULL without memory. */
static const float *whole_rows(struct tn_run *r, const struct tn_tensor *m, uint64_t keys, float **owned)
{
    if ((uint64_t)m->dims[m->rank - 1] == keys) return m->data;
    float *to = *owned = tn_run_scratch(r, (size_t)(m->count ? m->count : 1), (size_t)keys * sizeof(float));
    for (uint64_t i = 0; to && i < m->count * keys; i++) to[i] = ((const float *)m->data)[i / keys];
    return to;
}

static bool read_mask(struct tn_run *r, const struct operand *q, struct tn_attend *a, float **owned)
{
    const struct tn_tensor *m = r->in_count > MASK ? r->in[MASK] : NULL;
    uint32_t rank = r->in[Q]->rank;
    if (!m || m->count == 0) return true;
    if (m->rank == 0 || m->rank > rank) return tn_run_refuse(r, "a mask that broadcasts to the scores", "rank %u", m->rank);
    uint64_t keys = a->keys, step = keys, steps[4] = {0};
    bool fits = m->dims[m->rank - 1] == 1 || (uint64_t)m->dims[m->rank - 1] == keys;
    for (uint32_t i = 1; fits && i < m->rank; i++) {
        int64_t is = m->dims[m->rank - 1 - i], want = q->dims[rank - 1 - i];
        fits = is == 1 || is == want;
        steps[rank - 1 - i] = is == 1 ? 0 : step;
        step *= (uint64_t)is;
    }
    if (!fits) return tn_run_refuse(r, "a mask that broadcasts to the scores", "other dimensions");
    a->mask = (struct tn_addend){.p = whole_rows(r, m, keys, owned), .batch = steps[0], .head = rank == 4 ? steps[1] : 0, .row = steps[rank - 2]};
    return a->mask.p != NULL;
}

static bool run_attend(struct tn_run *r)
{
    struct operand q, k, v;
    uint32_t rank = r->in[Q]->rank;
    float *owned = NULL;
    read_operand(r, Q, &q);
    read_operand(r, K, &k);
    read_operand(r, V, &v);
    struct tn_attend a = {.q = heads_of(r->in[Q], &q), .k = heads_of(r->in[K], &k), .v = heads_of(r->in[V], &v), .out = r->out[0]->data,
                          .batch = (uint64_t)q.dims[0], .heads = rank == 4 ? (uint64_t)q.dims[1] : 1, .rows = (uint64_t)q.dims[rank - 2],
                          .keys = (uint64_t)k.dims[rank - 2], .dim = (uint64_t)q.dims[rank - 1], .v_dim = (uint64_t)v.dims[rank - 1],
                          .scale = (float)tn_attr_float(r->node, "scale", 1), .strict = true};
    a.key_heads = a.heads;
    if (!tn_attr_int(r->node, "out", 0))
        a.out_at = (struct tn_heads){.batch = a.heads * a.rows * a.v_dim, .head = a.rows * a.v_dim, .row = a.v_dim};
    if (r->out_count > 1 && r->wanted[1]) a.weights = r->out[1]->data;
    bool good = r->out[0]->count == 0 && !a.weights;
    if (!good && read_mask(r, &q, &a, &owned)) good = tn_attend(r, &a);
    tn_heap_give(r->heap, owned);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = "tenon", .name = "Attend", .since = 1, .infer = infer_attend, .run = run_attend},
};

const struct tn_operators tn_ops_fused_attend = {rows, sizeof(rows) / sizeof(rows[0])};
