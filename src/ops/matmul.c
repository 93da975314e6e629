/*
 * MatMul and Gemm. float32 and half precision run on the packed kernels, constant second operands are packed when the
 * session is made; float64 and integers (which wrap) on plain loops.
 */
#include "ops/epilogue.h"
#include "ops/gemm.h"
#include "ops/matmul.h"
#include "ops/real.h"

/* ---- shapes of numpy.matmul --------------------------------------------------------------------------------------- */

bool tn_matmul_infer(struct tn_infer *x, uint32_t ai, uint32_t bi, enum tn_element e)
{
    const struct tn_shape *a, *b;
    struct tn_shape batch;
    bool known_a = tn_in_shape(x, ai, &a), known_b = tn_in_shape(x, bi, &b);
    tn_out_unknown(x, 0, e);
    if (!known_a || !known_b) return true;
    if (a->rank == 0 || b->rank == 0) return tn_infer_refuse(x, "matrices or vectors", "ranks %u and %u", a->rank, b->rank);
    tn_dim_t ka = a->dims[a->rank - 1], kb = b->dims[b->rank > 1 ? b->rank - 2 : 0];
    if (tn_dim_known(ka) && tn_dim_known(kb) && ka != kb)
        return tn_infer_refuse(x, "as many columns as the second matrix has rows", "%lld beside %lld", (long long)ka, (long long)kb);
    struct tn_shape left = {.known = true, .rank = a->rank > 2 ? a->rank - 2 : 0}, right = {.known = true, .rank = b->rank > 2 ? b->rank - 2 : 0};
    for (uint32_t i = 0; i < left.rank; i++) left.dims[i] = a->dims[i];
    for (uint32_t i = 0; i < right.rank; i++) right.dims[i] = b->dims[i];
    if (!tn_infer_broadcast(x, &left, &right, &batch)) return false;
    if (a->rank > 1) batch.dims[batch.rank++] = a->dims[a->rank - 2];
    if (b->rank > 1) batch.dims[batch.rank++] = b->dims[b->rank - 1];
    tn_out_tensor(x, 0, e, batch.rank, batch.dims);
    return true;
}

void tn_matmul_shape(const struct tn_tensor *a, const struct tn_tensor *b, struct tn_matmul *out)
{
    *out = (struct tn_matmul){.m = a->rank > 1 ? (size_t)a->dims[a->rank - 2] : 1, .k = (size_t)a->dims[a->rank - 1],
                              .n = b->rank > 1 ? (size_t)b->dims[b->rank - 1] : 1, .batch = 1};
    uint32_t ra = a->rank > 2 ? a->rank - 2 : 0, rb = b->rank > 2 ? b->rank - 2 : 0;
    out->rank = ra > rb ? ra : rb;
    uint64_t sa = 1, sb = 1;
    for (uint32_t i = 0; i < out->rank; i++) {
        uint32_t at = out->rank - 1 - i;
        int64_t da = i < ra ? a->dims[ra - 1 - i] : 1, db = i < rb ? b->dims[rb - 1 - i] : 1;
        out->dims[at] = (uint64_t)(da == 1 ? db : da);
        out->a_step[at] = da == 1 ? 0 : sa;
        out->b_step[at] = db == 1 ? 0 : sb;
        sa *= (uint64_t)da;
        sb *= (uint64_t)db;
        out->batch *= out->dims[at];
    }
    out->one_b = sb == 1;
    out->a_whole = sa == out->batch;
}

void tn_matmul_at(const struct tn_matmul *s, uint64_t i, uint64_t *a, uint64_t *b)
{
    *a = *b = 0;
    for (uint32_t d = s->rank; d-- > 0;) {
        uint64_t at = i % s->dims[d];
        i /= s->dims[d];
        *a += at * s->a_step[d];
        *b += at * s->b_step[d];
    }
}

/* ---- float32 ------------------------------------------------------------------------------------------------------ */

static bool batched(struct tn_run *r, const struct tn_matmul *s, const struct tn_gemm *g)
{
    uint64_t *at = tn_run_scratch(r, s->batch * 2, sizeof(*at));
    if (!at) return false;
    for (uint64_t i = 0; i < s->batch; i++) {
        tn_matmul_at(s, i, &at[i], &at[s->batch + i]);
        at[i] *= (uint64_t)s->m * s->k;
        at[s->batch + i] *= (uint64_t)s->k * s->n;
    }
    bool good = tn_gemm_batch(r, g, s->batch, at, at + s->batch);
    tn_heap_give(r->heap, at);
    return good;
}

static void finish_items(void *user, uint64_t begin, uint64_t end)
{
    struct tn_finish_args a = *(const struct tn_finish_args *)user;
    a.y += begin * a.y_stride;
    if (a.residual) a.residual += begin * a.residual_stride;
    a.rows = (size_t)(end - begin);
    tn_finish_rows(&a);
}

/* What a patch has folded into a product whose rows are in y, [rows, n]. */
static void finish_folded(struct tn_run *r, struct tn_reals *reals, const struct tn_epilogue *e, float *y, size_t n)
{
    if (!e->any || r->out[0]->count == 0) return;
    struct tn_finish_args a = {.kernels = r->kernels, .e = e, .y = y, .y_stride = n, .width = n, .column_bias = tn_reals_in(reals, e->bias),
                               .residual = tn_reals_in(reals, e->residual), .residual_stride = n};
    if (tn_reals_good(reals)) tn_run_items(r, r->out[0]->count / n, n * (e->after.kind == TN_FINISH_ACT ? 16 : 2), finish_items, &a);
}

/* What `prepare` has packed: a constant matrix, and the bias that a patch has folded in. */
struct packed {
    struct tn_linear *layer;
    bool bias;
};

/*
 * Lets the packed product do what is folded in, as far as it can: a bias that is packed, and an activation or a residual.
 * What is left stays in e.
 */
static void fold_in(struct tn_reals *reals, const struct packed *p, struct tn_epilogue *e, struct tn_gemm *g)
{
    if (!p) return;
    if (p->bias) {
        e->bias = TN_NET_NONE;
        e->any = e->after.kind != TN_FINISH_NONE || e->after.line || e->residual != TN_NET_NONE;
    }
    if (e->bias != TN_NET_NONE) return;
    if (e->after.kind == TN_FINISH_ACT && !e->after.line && e->residual == TN_NET_NONE) {
        g->act = e->after.act;
        e->after.kind = TN_FINISH_NONE;
        e->any = false;
    } else if (e->residual != TN_NET_NONE) {
        g->residual = tn_reals_in(reals, e->residual);
        g->residual_row = g->c_row;
        e->residual = TN_NET_NONE;
        e->any = e->after.kind != TN_FINISH_NONE || e->after.line;
    }
}

static bool matmul_f32(struct tn_run *r, const struct tn_matmul *s)
{
    const struct packed *state = r->state;
    struct tn_reals reals;
    struct tn_epilogue e;
    tn_epilogue_read(r->node, &e);
    if (!tn_epilogue_check(r, &e, s->n)) return false;
    tn_reals_begin(&reals, r, TN_EL_F32);
    struct tn_gemm g = {.m = s->m, .n = s->n, .k = s->k, .a_row = s->k, .b_k = s->n, .b_n = 1, .c_row = s->n, .packed = state ? state->layer : NULL};
    g.a = tn_reals_in(&reals, 0);
    if (!g.packed) g.b = tn_reals_in(&reals, 1);
    g.c = tn_reals_out(&reals, 0);
    fold_in(&reals, state, &e, &g);
    if (!tn_reals_good(&reals) || r->out[0]->count == 0) return tn_reals_end(&reals);
    if (s->one_b && s->a_whole) { /* all rows share one matrix */
        g.m *= s->batch;
        tn_gemm_team(r, &g);
    } else {
        batched(r, s, &g);
    }
    if (tn_reals_good(&reals)) finish_folded(r, &reals, &e, g.c, s->n);
    return tn_reals_end(&reals);
}

/* ---- other types -------------------------------------------------------------------------------------------------- */

struct plain {
    const struct tn_matmul *s;
    const void *a, *b;
    void *c;
};

/* Rows of C; the sum over k ascends. */
#define PLAIN_ROWS(name, type)                                                                        \
    static void name(void *user, uint64_t begin, uint64_t end)                                       \
    {                                                                                                 \
        const struct plain *p = user;                                                                 \
        const struct tn_matmul *s = p->s;                                                             \
        for (uint64_t i = begin; i < end; i++) {                                                      \
            uint64_t at, bt;                                                                          \
            tn_matmul_at(s, i / s->m, &at, &bt);                                                      \
            const type *a = (const type *)p->a + (at * s->m + i % s->m) * s->k;                       \
            const type *b = (const type *)p->b + bt * s->k * s->n;                                    \
            type *c = (type *)p->c + i * s->n;                                                        \
            for (size_t n = 0; n < s->n; n++) c[n] = 0;                                               \
            for (size_t k = 0; k < s->k; k++) {                                                       \
                for (size_t n = 0; n < s->n; n++) c[n] += a[k] * b[k * s->n + n];                     \
            }                                                                                         \
        }                                                                                             \
    }

PLAIN_ROWS(rows_f64, double)
PLAIN_ROWS(rows_u32, uint32_t)
PLAIN_ROWS(rows_u64, uint64_t)

static bool plain_product(struct tn_run *r, const struct tn_matmul *s, const void *a, const void *b, void *c, enum tn_element e)
{
    struct plain p = {s, a, b, c};
    tn_items_fn *fn = e == TN_EL_F64 ? rows_f64 : e == TN_EL_I64 || e == TN_EL_U64 ? rows_u64 : rows_u32;
    if (s->n) tn_run_items(r, s->batch * s->m, (uint64_t)s->n * s->k, fn, &p);
    return true;
}

static bool is_float32(enum tn_element e)
{
    return e == TN_EL_F32 || e == TN_EL_F16 || e == TN_EL_BF16;
}

static bool run_matmul(struct tn_run *r)
{
    struct tn_matmul s;
    enum tn_element e = r->in[0]->element;
    tn_matmul_shape(r->in[0], r->in[1], &s);
    if (r->out[0]->count == 0) return true;
    if (is_float32(e)) return matmul_f32(r, &s);
    struct tn_epilogue folded;
    tn_epilogue_read(r->node, &folded);
    if (!tn_epilogue_check(r, &folded, s.n)) return false;
    return plain_product(r, &s, r->in[0]->data, r->in[1]->data, r->out[0]->data, e);
}

static bool infer_matmul(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    return tn_matmul_infer(x, 0, 1, t ? t->element : TN_EL_NONE);
}

/* The bias that is folded into a product with columns n, where it can be packed with the matrix; NULL otherwise. */
static const struct tn_tensor *folded_bias(const struct tn_prepare *p, const struct tn_tensor *b, size_t n, uint32_t *at)
{
    struct tn_epilogue e;
    tn_epilogue_read(p->node, &e);
    *at = e.bias;
    const struct tn_tensor *t = e.bias == TN_NET_NONE ? NULL : p->in[e.bias];
    return t && t->element == b->element && t->count == n ? t : NULL;
}

void *tn_matmul_pack(struct tn_prepare *p, const struct tn_tensor *b, bool turned, const struct tn_tensor *bias)
{
    const size_t k = (size_t)b->dims[turned], n = (size_t)b->dims[!turned];
    struct packed *s = tn_calloc(p->alloc, 1, sizeof(*s));
    if (!s) return NULL;
    s->bias = bias != NULL;
    s->layer = tn_gemm_pack(p, b, b->data, k, n, turned ? 1 : n, turned ? k : 1, bias ? bias->data : NULL);
    if (s->layer) return s;
    tn_free(p->alloc, s);
    return NULL;
}

void tn_matmul_release(struct tn_alloc *alloc, void *state)
{
    struct packed *s = state;
    tn_free(alloc, s->layer);
    tn_free(alloc, s);
}

static enum tn_status prepare_matmul(struct tn_prepare *p, void **state)
{
    const struct tn_tensor *b = p->in[1];
    uint32_t at;
    if (!b || !is_float32(b->element) || b->rank != 2 || b->count == 0) return TN_OK;
    const struct tn_tensor *bias = folded_bias(p, b, (size_t)b->dims[1], &at);
    *state = tn_matmul_pack(p, b, false, bias);
    if (!*state) return TN_INSUFFICIENT_MEMORY;
    p->keep[1] = false;
    if (bias && at < sizeof(p->keep) / sizeof(p->keep[0])) p->keep[at] = false;
    return TN_OK;
}

/* ---- Gemm --------------------------------------------------------------------------------------------------------- */

static bool infer_gemm(struct tn_infer *x)
{
    const struct tn_shape *a, *b, *c;
    const struct tn_type *t = tn_in_type(x, 0);
    bool known = tn_in_shape(x, 0, &a), known_b = tn_in_shape(x, 1, &b);
    enum tn_element e = t ? t->element : TN_EL_NONE;
    struct tn_shape y = {.known = true, .rank = 2}, fits;
    tn_out_unknown(x, 0, e);
    if (!known || !known_b) return true;
    if (a->rank != 2 || b->rank != 2) return tn_infer_refuse(x, "two matrices", "ranks %u and %u", a->rank, b->rank);
    bool ta = tn_attr_int(x->node, "transA", 0) != 0, tb = tn_attr_int(x->node, "transB", 0) != 0;
    tn_dim_t ka = a->dims[!ta], kb = b->dims[tb];
    if (tn_dim_known(ka) && tn_dim_known(kb) && ka != kb)
        return tn_infer_refuse(x, "inner dimensions that are equal", "%lld beside %lld", (long long)ka, (long long)kb);
    y.dims[0] = a->dims[ta];
    y.dims[1] = b->dims[!tb];
    if (tn_in_shape(x, 2, &c)) {
        if (!tn_infer_broadcast(x, &y, c, &fits)) return false;
        for (uint32_t i = 0; i < fits.rank; i++) {
            if (fits.rank == 2 && !(tn_dim_known(y.dims[i]) && tn_dim_known(fits.dims[i]) && fits.dims[i] != y.dims[i])) continue;
            return tn_infer_refuse(x, "an addend that broadcasts to the product", "rank %u, or a dimension beyond it", c->rank);
        }
    }
    tn_out_tensor(x, 0, e, 2, y.dims);
    return true;
}

/* Where C's element for (row, column) is. */
struct addend {
    uint64_t row, column;
};

static struct addend addend_of(const struct tn_tensor *c)
{
    struct addend d = {0, 0};
    if (c->rank > 0 && c->dims[c->rank - 1] != 1) d.column = 1;
    if (c->rank > 1 && c->dims[c->rank - 2] != 1) d.row = (uint64_t)c->dims[c->rank - 1];
    return d;
}

/* A matrix read through its transposition, contiguous. */
#define TRANSPOSE(name, type)                                                                         \
    static void name(const void *from, void *to, size_t rows, size_t columns)                        \
    {                                                                                                 \
        for (size_t i = 0; i < columns; i++) {                                                        \
            for (size_t k = 0; k < rows; k++) ((type *)to)[i * rows + k] = ((const type *)from)[k * columns + i]; \
        }                                                                                             \
    }

TRANSPOSE(transpose4, uint32_t)
TRANSPOSE(transpose8, uint64_t)

struct finish {
    const void *c;
    void *y;
    struct addend at;
    size_t n;
    double alpha, beta;
    enum tn_element element;
};

/* y = alpha y + beta c, by row. */
static void finish_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct finish *f = user;
    float alpha = (float)f->alpha, beta = (float)f->beta;
    for (uint64_t i = begin; i < end; i++) {
        const float *c = f->c ? (const float *)f->c + i * f->at.row : NULL;
        float *y = (float *)f->y + i * f->n;
        if (alpha != 1) {
            for (size_t k = 0; k < f->n; k++) y[k] *= alpha;
        }
        for (size_t k = 0; c && k < f->n; k++) y[k] += beta * c[k * f->at.column];
    }
}

static void finish_other(void *user, uint64_t begin, uint64_t end)
{
    const struct finish *f = user;
    for (uint64_t i = begin; i < end; i++) {
        for (size_t k = 0; k < f->n; k++) {
            uint64_t at = i * f->n + k, from = i * f->at.row + k * f->at.column;
            if (f->element == TN_EL_F64) {
                double *y = f->y;
                y[at] = f->alpha * y[at] + (f->c ? f->beta * ((const double *)f->c)[from] : 0);
            } else if (f->alpha == 1 && f->beta == 1) {
                if (f->c) tn_element_set_int(f->element, f->y, at, (int64_t)((uint64_t)tn_element_get_int(f->element, f->y, at) + (uint64_t)tn_element_get_int(f->element, f->c, from)));
            } else {
                double v = f->alpha * tn_element_get(f->element, f->y, at) + (f->c ? f->beta * tn_element_get(f->element, f->c, from) : 0);
                tn_element_set(f->element, f->y, at, v, true);
            }
        }
    }
}

static bool gemm_f32(struct tn_run *r, struct tn_gemm *g, struct finish *f)
{
    const struct packed *state = r->state; /* its bias is C, alpha and beta are 1 */
    const struct tn_tensor *a = r->in[0], *c = r->in_count > 2 ? r->in[2] : NULL;
    struct tn_reals reals;
    struct tn_epilogue e;
    tn_epilogue_read(r->node, &e);
    if (!tn_epilogue_check(r, &e, g->n)) return false;
    tn_reals_begin(&reals, r, TN_EL_F32);
    g->packed = state ? state->layer : NULL;
    g->a = tn_reals_in(&reals, 0);
    if (!g->packed) g->b = tn_reals_in(&reals, 1);
    bool in_it = state && state->bias;
    f->c = c && !in_it ? tn_reals_in(&reals, 2) : NULL;
    f->y = g->c = tn_reals_out(&reals, 0);
    if (tn_attr_int(r->node, "transA", 0)) {
        float *t = tn_reals_scratch(&reals, a->count);
        if (t && g->a) transpose4(g->a, t, g->k, g->m);
        g->a = t;
    }
    bool whole = in_it || (!f->c && f->alpha == 1); /* nothing comes between the product and what is folded in */
    if (state && whole && e.bias == TN_NET_NONE) fold_in(&reals, &(struct packed){state->layer, false}, &e, g);
    if (tn_reals_good(&reals)) tn_gemm_team(r, g);
    if (tn_reals_good(&reals) && (f->c || (!in_it && f->alpha != 1))) tn_run_items(r, g->m, 2 * g->n, finish_rows, f);
    if (tn_reals_good(&reals)) finish_folded(r, &reals, &e, g->c, g->n);
    return tn_reals_end(&reals);
}

static bool gemm_other(struct tn_run *r, const struct tn_gemm *g, struct finish *f, bool ta, bool tb)
{
    enum tn_element e = r->in[0]->element;
    size_t each = tn_element_size(e);
    const void *a = r->in[0]->data, *b = r->in[1]->data;
    void *ca = ta ? tn_run_scratch(r, r->in[0]->count + 1, each) : NULL, *cb = tb ? tn_run_scratch(r, r->in[1]->count + 1, each) : NULL;
    if (!r->failed) {
        if (ta) (each == 8 ? transpose8 : transpose4)(a, ca, g->k, g->m);
        if (tb) (each == 8 ? transpose8 : transpose4)(b, cb, g->n, g->k);
        struct tn_matmul s = {.m = g->m, .n = g->n, .k = g->k, .batch = 1};
        plain_product(r, &s, ta ? ca : a, tb ? cb : b, r->out[0]->data, e);
        f->c = r->in_count > 2 && r->in[2] ? r->in[2]->data : NULL;
        f->y = r->out[0]->data;
        tn_run_items(r, g->m, 2 * g->n, finish_other, f);
    }
    tn_heap_give(r->heap, ca);
    tn_heap_give(r->heap, cb);
    return !r->failed;
}

static bool run_gemm(struct tn_run *r)
{
    const struct tn_tensor *a = r->in[0], *b = r->in[1], *c = r->in_count > 2 ? r->in[2] : NULL;
    bool ta = tn_attr_int(r->node, "transA", 0) != 0, tb = tn_attr_int(r->node, "transB", 0) != 0;
    struct tn_gemm g = {.m = (size_t)a->dims[ta], .k = (size_t)a->dims[!ta], .n = (size_t)b->dims[!tb]};
    g.a_row = g.k;
    g.b_k = tb ? 1 : g.n;
    g.b_n = tb ? g.k : 1;
    g.c_row = g.n;
    struct finish f = {.n = g.n, .element = a->element, .alpha = tn_attr_float(r->node, "alpha", 1), .beta = tn_attr_float(r->node, "beta", 1)};
    if (c) f.at = addend_of(c);
    if (r->out[0]->count == 0) return true;
    return is_float32(a->element) ? gemm_f32(r, &g, &f) : gemm_other(r, &g, &f, ta, tb);
}

static enum tn_status prepare_gemm(struct tn_prepare *p, void **state)
{
    const struct tn_tensor *b = p->in[1], *c = p->node->in_count > 2 ? p->in[2] : NULL;
    bool tb = tn_attr_int(p->node, "transB", 0) != 0;
    if (!b || !is_float32(b->element) || b->rank != 2 || b->count == 0) return TN_OK;
    size_t n = (size_t)b->dims[!tb];
    bool bias = c && c->rank >= 1 && c->count == n && (size_t)c->dims[c->rank - 1] == n && tn_attr_float(p->node, "alpha", 1) == 1 &&
                tn_attr_float(p->node, "beta", 1) == 1;
    *state = tn_matmul_pack(p, b, tb, bias ? c : NULL);
    if (!*state) return TN_INSUFFICIENT_MEMORY;
    p->keep[1] = false;
    if (bias) p->keep[2] = false;
    return TN_OK;
}

static const struct tn_operator rows[] = {
    {.name = "MatMul", .since = 1, .infer = infer_matmul, .run = run_matmul, .prepare = prepare_matmul, .release = tn_matmul_release, .lacks = tn_epilogue_lacks},
    {.name = "Gemm", .since = 1, .infer = infer_gemm, .run = run_gemm, .prepare = prepare_gemm, .release = tn_matmul_release, .lacks = tn_epilogue_lacks},
};

const struct tn_operators tn_ops_matmul = {rows, sizeof(rows) / sizeof(rows[0])};
