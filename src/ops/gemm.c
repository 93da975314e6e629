/* Matrix products in float32; see the header. Which loop runs depends on the shape alone, so that bits do not vary. */
#include "ops/gemm.h"

#include "base/checked.h"

#include <string.h>

/* ---- plain loops -------------------------------------------------------------------------------------------------- */

/* Packing pays once some rows share it; a transposed B is packed always but when it is tiny. */
enum { TINY = 1 << 12, FEW_ROWS = 4 };

static bool plain(const struct tn_gemm *g)
{
    if (g->packed) return false;
    if (g->k == 0 || g->n == 0 || g->m == 0) return true;
    return (g->b_n == 1 && g->m < FEW_ROWS) || g->m * g->n < TINY / g->k;
}

/* c[n] (+)= sum over k of a[k] * b[k][n], k ascending. */
static void plain_row(const struct tn_gemm *g, const float *a, float *c)
{
    if (!g->add) memset(c, 0, g->n * sizeof(*c));
    for (size_t k = 0; k < g->k; k++) {
        const float *b = g->b + k * g->b_k, x = a[k];
        if (g->b_n == 1) {
            for (size_t n = 0; n < g->n; n++) c[n] += x * b[n];
        } else {
            for (size_t n = 0; n < g->n; n++) c[n] += x * b[n * g->b_n];
        }
    }
}

static void plain_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct tn_gemm *g = user;
    for (uint64_t i = begin; i < end; i++) plain_row(g, g->a + i * g->a_row, g->c + i * g->c_row);
}

/* ---- packed kernels ----------------------------------------------------------------------------------------------- */

struct job {
    const struct tn_kernels *kernels;
    const struct tn_gemm *g;
    struct tn_linear layer;
    void *room;
};

static void pack_member(void *arg, unsigned rank, unsigned size)
{
    const struct job *j = arg;
    struct tn_linear_part part = {.data = j->g->b, .type = TN_FLOAT_F32, .rows = j->g->n, .row_stride = j->g->b_n, .k_stride = j->g->b_k};
    j->kernels->linear_pack(&j->layer, &part, 1, j->room, rank, size);
}

static void multiply_member(void *arg, unsigned rank, unsigned size)
{
    const struct job *j = arg;
    const struct tn_gemm *g = j->g;
    struct tn_linear_args a = {.layer = g->packed ? g->packed : &j->layer, .x = g->a, .x_stride = g->a_row, .y = g->c,
                               .y_stride = g->c_row, .residual = g->add ? g->c : g->residual,
                               .residual_stride = g->add ? g->c_row : g->residual_row, .rows = g->m, .act = g->act};
    j->kernels->linear(&a, rank, size);
}

bool tn_gemm_scratch(const struct tn_kernels *kernels, const struct tn_gemm *g, size_t *bytes)
{
    *bytes = 0;
    return plain(g) || g->packed || kernels->linear_pack_size(g->n, g->k, TN_COMPUTE_F32, bytes);
}

static void begin_job(struct job *j, const struct tn_kernels *kernels, const struct tn_gemm *g, void *room)
{
    *j = (struct job){kernels, g, {.n = g->n, .k = g->k, .compute = TN_COMPUTE_F32, .packed = room}, room};
}

void tn_gemm_alone(const struct tn_kernels *kernels, const struct tn_gemm *g, void *scratch)
{
    struct job j;
    if (plain(g)) {
        plain_rows((void *)g, 0, g->m);
        return;
    }
    begin_job(&j, kernels, g, scratch);
    if (!g->packed) pack_member(&j, 0, 1);
    multiply_member(&j, 0, 1);
}

bool tn_gemm_team(struct tn_run *r, const struct tn_gemm *g)
{
    size_t bytes;
    struct job j;
    void *room = NULL;
    if (plain(g)) {
        uint64_t cost = (uint64_t)g->n * g->k;
        if (g->n) tn_run_items(r, g->m, cost, plain_rows, (void *)g);
        return true;
    }
    if (!tn_gemm_scratch(r->kernels, g, &bytes)) return tn_run_no_memory(r);
    if (bytes) room = tn_run_scratch(r, bytes, 1);
    if (bytes && !room) return false;
    begin_job(&j, r->kernels, g, room);
    /* Half a million products are some tens of microseconds, what waking a thread costs. */
    bool little = g->m * g->n < ((size_t)1 << 19) / g->k;
    struct tn_pool *pool = little ? NULL : r->pool;
    if (!g->packed) tn_pool_run(pool, pack_member, &j, r->threads);
    tn_pool_run(pool, multiply_member, &j, r->threads);
    tn_heap_give(r->heap, room);
    return true;
}

/* ---- batches ------------------------------------------------------------------------------------------------------ */

struct batch {
    const struct tn_kernels *kernels;
    const struct tn_gemm *g;
    const uint64_t *a_at, *b_at;
    uint64_t count;
    char *room;
    size_t bytes; /* for each share */
};

static struct tn_gemm product(const struct tn_gemm *g, uint64_t i, const uint64_t *a_at, const uint64_t *b_at)
{
    struct tn_gemm one = *g;
    one.a += a_at[i];
    one.b += b_at[i];
    one.c += i * g->m * g->c_row;
    return one;
}

static void batch_member(void *arg, unsigned rank, unsigned size)
{
    const struct batch *b = arg;
    size_t begin, end;
    tn_share((size_t)b->count, rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        struct tn_gemm one = product(b->g, i, b->a_at, b->b_at);
        tn_gemm_alone(b->kernels, &one, b->room ? b->room + rank * b->bytes : NULL);
    }
}

bool tn_gemm_batch(struct tn_run *r, const struct tn_gemm *g, uint64_t batch, const uint64_t *a_at, const uint64_t *b_at)
{
    struct batch b = {r->kernels, g, a_at, b_at, batch, NULL, 0};
    unsigned want = r->threads ? r->threads : 1;
    if (batch < want || batch < 2) {
        bool good = true;
        for (uint64_t i = 0; good && i < batch; i++) {
            struct tn_gemm one = product(g, i, a_at, b_at);
            good = tn_gemm_team(r, &one);
        }
        return good;
    }
    if (!tn_gemm_scratch(r->kernels, g, &b.bytes)) return tn_run_no_memory(r);
    if (b.bytes) b.room = tn_run_scratch(r, b.bytes, want);
    if (b.bytes && !b.room) return false;
    uint64_t work = (uint64_t)g->m * g->n;
    bool little = g->k == 0 || work * batch < ((uint64_t)1 << 19) / g->k;
    tn_pool_run(little ? NULL : r->pool, batch_member, &b, want);
    tn_heap_give(r->heap, b.room);
    return true;
}

/* ---- constants ---------------------------------------------------------------------------------------------------- */

static enum tn_float_type float_type(enum tn_element e)
{
    return e == TN_EL_F16 ? TN_FLOAT_F16 : e == TN_EL_BF16 ? TN_FLOAT_BF16 : TN_FLOAT_F32;
}

struct packing {
    const struct tn_kernels *kernels;
    struct tn_linear_part part;
    const struct tn_linear *layer;
    void *room;
};

static void pack_constant(void *arg, unsigned rank, unsigned size)
{
    const struct packing *k = arg;
    k->kernels->linear_pack(k->layer, &k->part, 1, k->room, rank, size);
}

struct tn_linear *tn_gemm_pack(struct tn_prepare *p, const struct tn_tensor *b, const void *data, size_t k, size_t n, size_t k_stride,
                               size_t n_stride, const void *bias)
{
    size_t bytes, all;
    enum { HEAD = 64 };
    _Static_assert(sizeof(struct tn_linear) <= HEAD, "the layer stands in front of its packed matrix");
    if (!p->kernels->linear_pack_size(n, k, TN_COMPUTE_F32, &bytes) || !tn_add(bytes, HEAD, &all)) return NULL;
    struct tn_linear *layer = tn_malloc_aligned(p->alloc, all, 64);
    if (!layer) return NULL;
    struct packing job = {.kernels = p->kernels, .layer = layer, .room = (char *)layer + HEAD,
                          .part = {.data = data, .type = float_type(b->element), .rows = n, .row_stride = n_stride, .k_stride = k_stride,
                                   .bias = bias, .bias_type = float_type(b->element)}};
    *layer = (struct tn_linear){.n = n, .k = k, .compute = TN_COMPUTE_F32, .packed = job.room};
    tn_pool_run(p->pool, pack_constant, &job, p->threads);
    return layer;
}
