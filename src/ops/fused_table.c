/*
 * A product with a constant matrix of bytes, whose numbers are scale * (byte - zero): exec/patch_table.c states it where a
 * graph widens such a matrix on the way into a MatMul. The bytes are read as they lie, in the memory that a Gather from
 * the same table reads too. An operator of the domain "tenon", which no file can name.
 *
 *     in   A of float32 [.., k]; W of uint8 or int8 [n, k]; scale of float32, one or [n]; zero of W's type, as scale, or absent
 *     out  [.., n]
 */
#include "ops/gemm.h"
#include "ops/op.h"

enum { A, W, SCALE, ZERO };

/* More rows than these are worth widening the matrix for, some of its rows at a time. */
enum { FEW_ROWS = 12, WIDENED = 256 };

static bool infer_table(struct tn_infer *x)
{
    const struct tn_shape *a, *w, *s;
    tn_out_unknown(x, 0, TN_EL_F32);
    if (!tn_in_shape(x, A, &a) || !tn_in_shape(x, W, &w)) return true;
    if (a->rank < 1 || w->rank != 2) return tn_infer_refuse(x, "rows and a matrix", "ranks %u and %u", a->rank, w->rank);
    tn_dim_t k = a->dims[a->rank - 1];
    if (tn_dim_known(k) && tn_dim_known(w->dims[1]) && k != w->dims[1])
        return tn_infer_refuse(x, "rows as wide as the matrix", "%lld beside %lld", (long long)k, (long long)w->dims[1]);
    for (uint32_t i = SCALE; i <= ZERO; i++) {
        if (!tn_in_shape(x, i, &s)) continue;
        bool one = s->rank == 0 || (s->rank == 1 && s->dims[0] == 1), each = s->rank == 1 && s->dims[0] == w->dims[0];
        if (!one && !each) return tn_infer_refuse(x, "one number, or one for each row of the matrix", "rank %u", s->rank);
    }
    struct tn_shape y = *a;
    y.dims[a->rank - 1] = w->dims[0];
    tn_out_tensor(x, 0, TN_EL_F32, y.rank, y.dims);
    return true;
}

struct table {
    const struct tn_kernels *kernels;
    struct tn_dots_args dots;
    size_t share_bytes, widened_bytes;
    char *room;
};

static float zero_of(const struct tn_dots_args *d, size_t n)
{
    return d->zero ? (float)d->zero[d->zeros == 1 ? 0 : n] : 0;
}

/* Rows [begin, end) of the matrix as float32. */
static void widen(const struct tn_dots_args *d, size_t begin, size_t end, float *to)
{
    for (size_t n = begin; n < end; n++, to += d->k) {
        float zero = zero_of(d, n), scale = d->scale[d->scales == 1 ? 0 : n];
        if (d->type == TN_DOTS_U8) {
            const uint8_t *w = (const uint8_t *)d->w + n * d->w_stride;
            for (size_t k = 0; k < d->k; k++) to[k] = ((float)w[k] - zero) * scale;
        } else {
            const int8_t *w = (const int8_t *)d->w + n * d->w_stride;
            for (size_t k = 0; k < d->k; k++) to[k] = ((float)w[k] - zero) * scale;
        }
    }
}

static void table_member(void *arg, unsigned rank, unsigned size)
{
    const struct table *t = arg;
    const struct tn_dots_args *d = &t->dots;
    if (!t->room) {
        t->kernels->dots(d, rank, size);
        return;
    }
    char *room = t->room + rank * t->share_bytes;
    for (size_t part = rank; part * WIDENED < d->n; part += size) {
        size_t begin = part * WIDENED, end = d->n - begin < WIDENED ? d->n : begin + WIDENED;
        float *wide = (float *)(void *)room;
        struct tn_gemm g = {.m = d->rows, .n = end - begin, .k = d->k, .a = d->x, .a_row = d->x_stride, .b = wide, .b_k = 1, .b_n = d->k,
                            .c = d->y + begin, .c_row = d->y_stride};
        widen(d, begin, end, wide);
        tn_gemm_alone(t->kernels, &g, room + t->widened_bytes);
    }
}

/* Room of each thread for widened rows and what they are packed into. */
static bool room_of(struct tn_run *r, struct table *t)
{
    size_t packed;
    t->widened_bytes = (WIDENED * t->dots.k * sizeof(float) + 63) & ~(size_t)63;
    if (!r->kernels->linear_pack_size(WIDENED, t->dots.k, TN_COMPUTE_F32, &packed)) return tn_run_no_memory(r);
    t->share_bytes = t->widened_bytes + packed;
    t->room = tn_run_scratch(r, t->share_bytes, r->threads ? r->threads : 1);
    return t->room != NULL;
}

static bool run_table(struct tn_run *r)
{
    const struct tn_tensor *a = r->in[A], *w = r->in[W], *scale = r->in[SCALE], *zero = r->in_count > ZERO ? r->in[ZERO] : NULL;
    size_t n = (size_t)w->dims[0], k = (size_t)w->dims[1];
    struct table t = {.kernels = r->kernels};
    int32_t *zeros = NULL;
    if (r->out[0]->count == 0) return true;
    t.dots = (struct tn_dots_args){.x = a->data, .x_stride = k, .rows = (size_t)(r->out[0]->count / n), .w = w->data, .w_stride = k, .n = n, .k = k,
                                   .type = w->element == TN_EL_U8 ? TN_DOTS_U8 : TN_DOTS_I8, .scale = scale->data, .scales = scale->count,
                                   .y = r->out[0]->data, .y_stride = n};
    if (zero) {
        zeros = tn_run_scratch(r, zero->count, sizeof(*zeros));
        for (uint64_t i = 0; zeros && i < zero->count; i++) zeros[i] = (int32_t)tn_element_get_int(zero->element, zero->data, i);
        t.dots.zero = zeros;
        t.dots.zeros = zero->count;
    }
    bool good = !r->failed && (t.dots.rows <= FEW_ROWS || room_of(r, &t));
    bool little = t.dots.rows * n < ((size_t)1 << 19) / (k ? k : 1);
    if (good) tn_pool_run(little ? NULL : r->pool, table_member, &t, r->threads ? r->threads : 1);
    tn_heap_give(r->heap, t.room);
    tn_heap_give(r->heap, zeros);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = "tenon", .name = "TableProduct", .since = 1, .infer = infer_table, .run = run_table},
};

const struct tn_operators tn_ops_fused_table = {rows, sizeof(rows) / sizeof(rows[0])};
