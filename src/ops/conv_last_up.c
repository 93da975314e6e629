/*
 * Transposed convolutions whose windows do not overlap, over images whose channels are neighbours: each pixel becomes a block
 * of kh x kw, which is a product of its channels. exec/patch_last.c states it. An operator of the domain "tenon", which no
 * file can name; weights, bias and what is folded in (ops/epilogue.h) are ConvTranspose's, without bias and residual.
 *
 *     LastUp  in X [N, H, W, C], W [C, M, kh, kw], B [M] or absent; out [N, H kh, W kw, M]
 *
 * One row of a block and all of its maps are neighbours in the result, so products leave where they belong; where these are
 * too few for a vector, all rows are made together and moved.
 */
#include "ops/conv_last.h"

#include "base/checked.h"

#include <string.h>

enum { FEW = 16 };

static bool infer_up(struct tn_infer *t)
{
    const struct tn_shape *x, *w;
    tn_out_unknown(t, 0, TN_EL_F32);
    if (!tn_in_shape(t, 0, &x) || !tn_in_shape(t, 1, &w)) return true;
    bool fits = x->rank == 4 && w->rank == 4;
    for (uint32_t i = 0; fits && i < 4; i++) fits = tn_dim_known(w->dims[i]) && w->dims[i] > 0 && w->dims[i] <= INT32_MAX;
    if (!fits || (tn_dim_known(x->dims[3]) && x->dims[3] != w->dims[0])) return tn_infer_refuse(t, "images and weights of rank 4 that fit", "others");
    const struct tn_shape *bias;
    if (tn_in_shape(t, 2, &bias) && (bias->rank != 1 || (tn_dim_known(bias->dims[0]) && bias->dims[0] != w->dims[1])))
        return tn_infer_refuse(t, "one bias for each map", "rank %u", bias->rank);
    tn_dim_t y[4] = {x->dims[0], tn_dim_mul(t->symbols, x->dims[1], w->dims[2]), tn_dim_mul(t->symbols, x->dims[2], w->dims[3]), w->dims[1]};
    tn_out_tensor(t, 0, TN_EL_F32, 4, y);
    return true;
}

/* ---- weights ------------------------------------------------------------------------------------------------------ */

/* [parts] of packed weights [rows of a part][kw][maps], behind the bias of a part. */
struct up {
    size_t rows, columns, parts; /* of a block in a part; of a part's product; parts */
    size_t part_bytes;
    float *bias; /* [columns] */
    char *packed;
};

enum { HEAD = 64 };
_Static_assert(sizeof(struct up) <= HEAD, "the head stands in front of the weights");

static bool sizes_of(const struct tn_kernels *k, const struct tn_tensor *w, struct up *u, size_t *bytes)
{
    const size_t kh = (size_t)w->dims[2];
    size_t line, all, bias;
    if (!tn_mul((size_t)w->dims[1], (size_t)w->dims[3], &line) || !tn_mul(line, kh, &all)) return false;
    *u = (struct up){.rows = line < FEW ? kh : 1, .columns = line < FEW ? all : line, .parts = line < FEW ? 1 : kh};
    return k->pixels_pack_size(u->columns, (size_t)w->dims[0], &u->part_bytes) && tn_mul(u->part_bytes, u->parts, &all) &&
           tn_mul(u->columns, sizeof(float), &bias) && tn_round_up(bias, 64, &bias) && tn_add(all, bias, bytes) && tn_add(*bytes, HEAD, bytes);
}

/* `turned` has room for the weights of a part. */
static void pack_up(const struct tn_kernels *k, const struct tn_tensor *w, const float *bias, float *turned, struct up *u)
{
    const float *from = w->data;
    const size_t channels = (size_t)w->dims[0], maps = (size_t)w->dims[1], kh = (size_t)w->dims[2], kw = (size_t)w->dims[3];
    u->bias = (float *)(void *)((char *)u + HEAD);
    u->packed = (char *)u->bias + (u->columns * sizeof(float) + 63) / 64 * 64;
    for (size_t i = 0; i < u->columns; i++) u->bias[i] = bias ? bias[i % maps] : 0;
    for (size_t p = 0; p < u->parts; p++) {
        for (size_t i = 0; i < u->columns; i++) {
            const size_t row = p * u->rows + i / (kw * maps), column = i / maps % kw, map = i % maps;
            for (size_t c = 0; c < channels; c++) turned[i * channels + c] = from[((c * maps + map) * kh + row) * kw + column];
        }
        k->pixels_pack(turned, TN_FLOAT_F32, u->columns, channels, u->packed + p * u->part_bytes, 0, 1);
    }
}

static enum tn_status prepare_up(struct tn_prepare *p, void **state)
{
    const bool biased = p->node->in_count > 2 && p->types[2];
    const struct tn_tensor *w = p->in[1], *bias = biased ? p->in[2] : NULL;
    struct up sizes, *u;
    size_t bytes;
    if (!w || w->rank != 4 || w->element != TN_EL_F32 || w->count == 0 || (biased && (!bias || bias->element != TN_EL_F32))) return TN_OK;
    if (!sizes_of(p->kernels, w, &sizes, &bytes)) return TN_INSUFFICIENT_MEMORY;
    float *turned = tn_malloc(p->alloc, (size_t)w->count * sizeof(float));
    u = turned ? tn_malloc_aligned(p->alloc, bytes, 64) : NULL;
    if (u) {
        *u = sizes;
        pack_up(p->kernels, w, bias ? bias->data : NULL, turned, u);
    }
    tn_free(p->alloc, turned);
    if (!u) return TN_INSUFFICIENT_MEMORY;
    p->keep[1] = p->keep[2] = false;
    *state = u;
    return TN_OK;
}

static void release_up(struct tn_alloc *alloc, void *state)
{
    tn_free(alloc, state);
}

/* The same in a call; NULL with the failure set. */
static struct up *pack_now(struct tn_run *r)
{
    const struct tn_tensor *w = r->in[1], *bias = r->in_count > 2 ? r->in[2] : NULL;
    struct up sizes, *u;
    size_t bytes;
    if (!sizes_of(r->kernels, w, &sizes, &bytes)) {
        tn_run_no_memory(r);
        return NULL;
    }
    float *turned = tn_run_scratch(r, (size_t)w->count, sizeof(*turned));
    u = turned ? tn_run_scratch(r, bytes, 1) : NULL;
    if (u) {
        *u = sizes;
        pack_up(r->kernels, w, bias ? bias->data : NULL, turned, u);
    }
    tn_heap_give(r->heap, turned);
    return u;
}

/* ---- execution ---------------------------------------------------------------------------------------------------- */

struct job {
    const struct tn_kernels *kernels;
    const struct up *u;
    const struct tn_epilogue *e;
    const float *x;
    float *y;
    size_t rows, width, channels; /* rows of all images */
    size_t high, line;            /* rows of a block, floats of one of its rows */
    char *room;
    size_t share_bytes, strip; /* pixels at a time, where rows are made together */
};

static struct tn_pixels_args product_of(const struct job *j, size_t part, const float *x, size_t rows, float *y)
{
    return (struct tn_pixels_args){.x = x, .x_stride = j->channels, .rows = rows, .k = j->channels, .packed = j->u->packed + part * j->u->part_bytes,
                                   .bias = j->u->bias, .after = &j->e->after, .y = y, .y_stride = j->u->columns, .maps = j->u->columns, .parts = 1};
}

/* All rows of the blocks of one row of pixels. */
static void together(const struct job *j, const float *x, float *y, float *room)
{
    for (size_t at = 0, count; at < j->width; at += count) {
        count = j->width - at < j->strip ? j->width - at : j->strip;
        struct tn_pixels_args a = product_of(j, 0, x + at * j->channels, count, room);
        a.after = NULL; /* of long rows rather */
        j->kernels->pixels(&a);
        for (size_t row = 0; row < j->high; row++) {
            float *to = y + (row * j->width + at) * j->line;
            const float *from = room + row * j->line;
            for (size_t p = 0; p < count; p++) {
                for (size_t i = 0; i < j->line; i++) to[p * j->line + i] = from[p * j->u->columns + i];
            }
            struct tn_finish_args f = {.kernels = j->kernels, .e = j->e, .y = to, .rows = 1, .width = count * j->line};
            if (j->e->any) tn_finish_rows(&f);
        }
    }
}

static void up_member(void *user, unsigned rank, unsigned size)
{
    const struct job *j = user;
    size_t begin, end;
    tn_share(j->rows, rank, size, &begin, &end);
    for (size_t row = begin; row < end; row++) {
        const float *x = j->x + row * j->width * j->channels;
        float *y = j->y + row * j->high * j->width * j->line;
        if (j->u->rows > 1 || j->u->parts < j->high) {
            together(j, x, y, (float *)(void *)(j->room + rank * j->share_bytes));
            continue;
        }
        for (size_t part = 0; part < j->high; part++) {
            struct tn_pixels_args a = product_of(j, part, x, j->width, y + part * j->width * j->line);
            j->kernels->pixels(&a);
        }
    }
}

static bool run_up(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0], *w = r->in[1], *bias = r->in_count > 2 ? r->in[2] : NULL;
    struct tn_epilogue e;
    size_t maps = (size_t)w->dims[1], floats;
    tn_epilogue_read(r->node, &e);
    if (!tn_epilogue_check(r, &e, maps)) return false;
    if (e.bias != TN_NET_NONE || e.residual != TN_NET_NONE) return tn_run_refuse(r, "no bias and residual behind the blocks", "one");
    if (bias && (bias->element != TN_EL_F32 || bias->count != maps)) return tn_run_refuse(r, "one bias for each map", "%llu", (unsigned long long)bias->count);
    if (r->out[0]->count == 0) return true;
    struct up *now = r->state ? NULL : pack_now(r);
    struct job j = {.kernels = r->kernels, .u = r->state ? r->state : now, .e = &e, .x = x->data, .y = r->out[0]->data,
                    .rows = (size_t)(x->dims[0] * x->dims[1]), .width = (size_t)x->dims[2], .channels = (size_t)x->dims[3], .high = (size_t)w->dims[2],
                    .line = maps * (size_t)w->dims[3]};
    bool good = j.u != NULL;
    if (good) {
        unsigned threads = tn_last_threads(r, j.rows * j.width, j.channels * j.line * j.high);
        j.strip = TN_LAST_STRIP / j.u->columns / 12 * 12;
        if (j.strip < 12) j.strip = 12;
        good = (tn_mul(j.strip, j.u->columns * sizeof(float), &floats) && tn_round_up(floats, 64, &j.share_bytes)) || tn_run_no_memory(r);
        j.room = good ? tn_run_scratch(r, j.share_bytes, threads) : NULL;
        good = j.room != NULL;
        if (good) tn_pool_run(threads > 1 ? r->pool : NULL, up_member, &j, threads);
        tn_heap_give(r->heap, j.room);
    }
    tn_heap_give(r->heap, now);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = "tenon", .name = "LastUp", .since = 1, .infer = infer_up, .run = run_up, .prepare = prepare_up, .release = release_up,
     .lacks = tn_epilogue_lacks},
};

const struct tn_operators tn_ops_conv_last_up = {rows, sizeof(rows) / sizeof(rows[0])};
