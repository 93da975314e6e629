/*
 * MatMulNBits whose rows are rounded to 8 bits: exec/patch_nibbles.c states it where a file permits that. Rows are coded by
 * blocks of 32 when they come, weights stay 4 bits wide in memory (kernel/kernel.h, products of 4-bit blocks). Rows that hold
 * NaN or an infinity have no codes: they are multiplied as they are. An operator of the domain "tenon", which no file can name.
 *
 *     in   A of float32 [.., K]; B, scales and zero points of MatMulNBits, constant; then what is folded in (ops/epilogue.h)
 *     out  [.., N]
 */
#include "ops/epilogue.h"
#include "ops/nbits.h"

#include "base/checked.h"

enum { A = TN_NBITS_A, B = TN_NBITS_B, SCALES = TN_NBITS_SCALES, ZEROS = TN_NBITS_ZEROS };

/* Rows whose codes, sums and results stay in the L2 cache together; fewer are shared out by columns. */
enum { ROW_BLOCK = 64, FEW_ROWS = 24 };

struct product {
    const struct tn_kernels *kernels;
    const struct tn_nibbles *layer;
    const struct tn_epilogue *e;
    const float *x, *bias, *residual;
    float *y;
    size_t rows, blocks;
    int8_t *codes;                /* [rows][blocks * 32] */
    struct tn_row_block *scaling; /* [rows][blocks] */
    bool *odd;                    /* [rows] not finite */
    float *column;                /* [threads][k], where a row is odd */
};

static void code_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct product *p = user;
    for (uint64_t i = begin; i < end; i++)
        p->odd[i] = !p->kernels->code_row(p->x + i * p->layer->k, p->layer->k, p->codes + i * p->blocks * TN_NIBBLE_BLOCK, p->scaling + i * p->blocks);
}

static struct tn_nibbles_args args_of(const struct product *p, uint64_t begin, uint64_t rows)
{
    return (struct tn_nibbles_args){.layer = p->layer, .codes = p->codes + begin * p->blocks * TN_NIBBLE_BLOCK, .blocks = p->scaling + begin * p->blocks,
                                    .rows = rows, .bias = p->bias, .y = p->y + begin * p->layer->n, .y_stride = p->layer->n};
}

static void finish_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct product *p = user;
    const size_t n = p->layer->n;
    struct tn_finish_args a = {.kernels = p->kernels, .e = p->e, .y = p->y + begin * n, .y_stride = n, .rows = end - begin, .width = n,
                               .residual = p->residual ? p->residual + begin * n : NULL, .residual_stride = n};
    tn_finish_rows(&a);
}

struct row_blocks {
    struct product *p;
    unsigned blocks;
};

/* Items are blocks of rows, finished while they are near. */
static void multiply_blocks(void *user, uint64_t begin, uint64_t end)
{
    const struct row_blocks *b = user;
    for (uint64_t i = begin; i < end; i++) {
        size_t row, last;
        tn_share(b->p->rows, (unsigned)i, b->blocks, &row, &last);
        struct tn_nibbles_args a = args_of(b->p, row, last - row);
        code_rows(b->p, row, last);
        b->p->kernels->nibbles(&a, 0, 1);
        finish_rows(b->p, row, last);
    }
}

static void multiply_columns(void *user, unsigned rank, unsigned size)
{
    const struct product *p = user;
    struct tn_nibbles_args a = args_of(p, 0, p->rows);
    p->kernels->nibbles(&a, rank, size);
}

/* The columns of rows that have no codes. */
static void multiply_odd(void *user, unsigned rank, unsigned size)
{
    const struct product *p = user;
    const size_t k = p->layer->k;
    float *column = p->column + rank * k;
    size_t begin, end;
    tn_share(p->layer->n, rank, size, &begin, &end);
    for (size_t n = begin; n < end; n++) {
        p->kernels->nibbles_column(p->layer, n, column);
        for (size_t i = 0; i < p->rows; i++) {
            const float *x = p->x + i * k;
            float sum = 0;
            if (!p->odd[i]) continue;
            for (size_t j = 0; j < k; j++) sum += x[j] * column[j];
            p->y[i * p->layer->n + n] = sum + (p->bias ? p->bias[n] : 0);
        }
    }
}

/* After the others: sums of their codes are overwritten. */
static void odd_rows(struct tn_run *r, struct product *p)
{
    unsigned threads = r->threads ? r->threads : 1;
    bool any = false;
    for (size_t i = 0; i < p->rows && !any; i++) any = p->odd[i];
    if (!any || !(p->column = tn_run_scratch(r, p->layer->k, sizeof(float) * threads))) return;
    tn_pool_run(r->pool, multiply_odd, p, threads);
    for (size_t i = 0; i < p->rows; i++) {
        if (p->odd[i]) finish_rows(p, i, i + 1);
    }
    tn_heap_give(r->heap, p->column);
}

static void multiply(struct tn_run *r, struct product *p)
{
    const uint64_t cost = (uint64_t)p->layer->n * p->layer->k / 16;
    if (p->rows > FEW_ROWS && p->rows <= UINT32_MAX) { /* as many blocks for each thread */
        const size_t threads = r->threads ? r->threads : 1, blocks = ((p->rows + ROW_BLOCK - 1) / ROW_BLOCK + threads - 1) / threads * threads;
        struct row_blocks b = {p, (unsigned)blocks};
        tn_run_items(r, blocks, cost * (p->rows / blocks + 1), multiply_blocks, &b);
    } else {
        code_rows(p, 0, p->rows);
        tn_pool_run(p->rows * cost < (1 << 15) ? NULL : r->pool, multiply_columns, p, r->threads ? r->threads : 1);
        tn_run_items(r, p->rows, (uint64_t)p->layer->n * 4, finish_rows, p);
    }
    odd_rows(r, p);
}

static bool make_room(struct tn_run *r, struct product *p)
{
    p->codes = tn_run_scratch(r, p->rows, p->blocks * TN_NIBBLE_BLOCK);
    p->scaling = tn_run_scratch(r, p->rows, p->blocks * sizeof(*p->scaling));
    p->odd = tn_run_scratch(r, p->rows, sizeof(*p->odd));
    return !r->failed;
}

static const void *data_of(const struct tn_run *r, uint32_t i)
{
    return i == TN_NET_NONE ? NULL : r->in[i]->data;
}

static bool run_nibbles(struct tn_run *r)
{
    struct tn_epilogue e;
    const struct tn_nibbles *layer = r->state;
    tn_epilogue_read(r->node, &e);
    if (!layer) return tn_run_refuse(r, "constant weights", "others");
    if (!tn_epilogue_check(r, &e, layer->n)) return false;
    if (e.bias != TN_NET_NONE && r->in[e.bias]->element != TN_EL_F32) return tn_run_refuse(r, "a folded bias of float32", "another type");
    struct product p = {.kernels = r->kernels, .layer = layer, .e = &e, .x = r->in[A]->data, .bias = data_of(r, e.bias), .residual = data_of(r, e.residual),
                        .y = r->out[0]->data, .rows = (size_t)(r->out[0]->count / layer->n), .blocks = tn_nibble_blocks(layer->k)};
    if (p.rows == 0) return true;
    if (make_room(r, &p)) multiply(r, &p);
    tn_heap_give(r->heap, p.odd);
    tn_heap_give(r->heap, p.scaling);
    tn_heap_give(r->heap, p.codes);
    return !r->failed;
}

/* ---- constants ---------------------------------------------------------------------------------------------------- */

struct packing {
    const struct tn_kernels *kernels;
    const struct tn_nibbles *layer;
    struct tn_nibbles_source from;
    void *to;
};

static void pack_member(void *user, unsigned rank, unsigned size)
{
    const struct packing *j = user;
    j->kernels->nibbles_pack(j->layer, &j->from, j->to, rank, size);
}

static enum tn_status prepare(struct tn_prepare *p, void **out)
{
    enum { HEAD = 64 };
    _Static_assert(sizeof(struct tn_nibbles) <= HEAD, "the layer stands in front of its packed matrix");
    const struct tn_tensor *b = p->in[B], *scales = p->in[SCALES], *zeros = p->node->in_count > ZEROS ? p->in[ZEROS] : NULL;
    struct tn_nbits s;
    size_t bytes, all;
    p->wrong = tn_nbits_read(p->node, &s);
    bool whole = !p->wrong && b && scales && b->count == s.n * s.blocks * s.blob && scales->count == s.n * s.blocks &&
                 (!zeros || zeros->count == s.n * tn_nbits_zero_bytes(&s));
    if (!whole) return TN_ARTIFACT_MALFORMED;
    struct tn_nibbles layer = {.n = (size_t)s.n, .k = (size_t)s.k, .group = (size_t)s.block, .zeros = zeros != NULL};
    if (!p->kernels->nibbles_pack_size(&layer, &bytes) || !tn_add(bytes, HEAD, &all)) return TN_INSUFFICIENT_MEMORY;
    struct tn_nibbles *to = tn_malloc_aligned(p->alloc, all, 64);
    if (!to) return TN_INSUFFICIENT_MEMORY;
    layer.packed = (char *)to + HEAD;
    *to = layer;
    struct packing job = {p->kernels, to, {.codes = b->data, .scales = scales->data, .zeros = zeros ? zeros->data : NULL}, (char *)to + HEAD};
    tn_pool_run(p->pool, pack_member, &job, p->threads);
    for (uint32_t i = B; i <= ZEROS; i++) p->keep[i] = false;
    *out = to;
    return TN_OK;
}

static void release(struct tn_alloc *alloc, void *state)
{
    tn_free(alloc, state);
}

static const struct tn_operator rows[] = {
    {.domain = "tenon", .name = "NibbleProduct", .since = 1, .infer = tn_nbits_infer, .run = run_nibbles, .prepare = prepare, .release = release,
     .lacks = tn_epilogue_lacks},
};

const struct tn_operators tn_ops_fused_nibbles = {rows, sizeof(rows) / sizeof(rows[0])};
