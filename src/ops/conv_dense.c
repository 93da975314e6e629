/* Products and planes; see the header. Which strip or band a result belongs to does not show in its bits. */
#include "ops/conv_dense.h"

#include "base/checked.h"

struct tn_dense {
    size_t group_bytes;
    char *packed; /* by group */
};

enum {
    HEAD = 64,
    COLUMNS = 1 << 15,  /* floats of a strip's columns: half of a small L2 cache */
    STRIP = 512,        /* positions of a strip without columns */
    FEW_MAPS = 3,       /* so many maps share a line that was copied for nothing but them */
};
_Static_assert(sizeof(struct tn_dense) <= HEAD, "the head stands in front of the weights");

static enum tn_float_type float_type(enum tn_element e)
{
    return e == TN_EL_F16 ? TN_FLOAT_F16 : e == TN_EL_BF16 ? TN_FLOAT_BF16 : TN_FLOAT_F32;
}

/* ---- weights ------------------------------------------------------------------------------------------------------ */

struct packing {
    const struct tn_kernels *kernels;
    const struct tn_tensor *w;
    size_t maps, k, group;
    const struct tn_dense *to;
};

static void pack_member(void *user, unsigned rank, unsigned size)
{
    const struct packing *p = user;
    const char *w = (const char *)p->w->data + p->group * p->maps * p->k * tn_element_size(p->w->element);
    p->kernels->conv1_pack(w, float_type(p->w->element), p->maps, p->k, p->to->packed + p->group * p->to->group_bytes, rank, size);
}

struct tn_dense *tn_dense_pack(struct tn_prepare *p, const struct tn_tensor *w, size_t groups)
{
    size_t one, all, maps = (size_t)w->dims[0];
    struct packing job = {.kernels = p->kernels, .w = w, .maps = maps / groups, .k = maps ? (size_t)w->count / maps : 0};
    if (!p->kernels->conv1_pack_size(job.maps, job.k, &one) || !tn_mul(one, groups, &all) || !tn_add(all, HEAD, &all)) return NULL;
    struct tn_dense *to = tn_malloc_aligned(p->alloc, all, 64);
    if (!to) return NULL;
    *to = (struct tn_dense){one, (char *)to + HEAD};
    job.to = to;
    for (job.group = 0; job.group < groups; job.group++) tn_pool_run(p->pool, pack_member, &job, p->threads);
    return to;
}

/* ---- strips of products ------------------------------------------------------------------------------------------- */

struct strips {
    const struct tn_kernels *kernels;
    const struct tn_dense *w;
    const struct tn_dense_args *a;
    bool direct;
    uint64_t strip, strips; /* positions of one; how many in a plane */
    unsigned parts;         /* of the maps, each an item */
    char *room;
    size_t columns_bytes, share_bytes;
};

bool tn_conv_direct(const struct tn_window *w)
{
    for (uint32_t i = 0; i < w->rank; i++) {
        if (w->kernel[i] != 1 || w->stride[i] != 1 || w->begin[i] || w->end[i]) return false;
    }
    return true;
}

static void run_strip(const struct strips *s, uint64_t item, char *room)
{
    const struct tn_dense_args *a = s->a;
    const struct tn_conv *c = a->c;
    const size_t size = tn_float_type_size(a->type);
    unsigned part = (unsigned)(item % s->parts);
    uint64_t plane = item / s->parts / s->strips, image = plane / c->groups, group = plane % c->groups;
    uint64_t from = item / s->parts % s->strips * s->strip, to = from + s->strip < c->out_plane ? from + s->strip : c->out_plane;
    uint64_t first = group * c->each_maps, at = (image * c->maps + first) * c->out_plane + from;
    const char *x = (const char *)a->x + (image * c->channels + group * c->each_channels) * c->in_plane * tn_float_type_size(a->x_type);
    struct tn_conv1_args k = {.x = x + from * tn_float_type_size(a->x_type), .x_type = a->x_type, .x_stride = c->in_plane, .k = c->depth,
                              .packed = s->w->packed + group * s->w->group_bytes, .bias = a->bias ? a->bias + first : NULL, .after = a->after,
                              .type = a->type, .residual = a->residual ? (const char *)a->residual + at * size : NULL,
                              .residual_stride = c->out_plane, .y = (char *)a->y + at * size, .y_stride = c->out_plane, .maps = c->each_maps,
                              .count = to - from, .part = part, .parts = s->parts, .scratch = room + s->columns_bytes};
    if (!s->direct) {
        tn_conv_columns(c, a->x_type == TN_FLOAT_F32 ? (const float *)(const void *)x : NULL, from, to, (float *)(void *)room);
        k.x = room;
        k.x_type = TN_FLOAT_F32;
        k.x_stride = to - from;
    }
    s->kernels->conv1(&k);
}

static void strip_member(void *user, unsigned rank, unsigned size)
{
    const struct strips *s = user;
    size_t begin, end;
    tn_share((size_t)(s->a->c->images * s->a->c->groups * s->strips * s->parts), rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) run_strip(s, i, s->room + rank * s->share_bytes);
}

/* Roughly: a tile of the kernels is a dozen maps by one or two vectors of 16 positions. */
static uint64_t vectors_of(uint64_t positions)
{
    return (positions + 15) / 16;
}

/* Columns of a strip stay in the cache; every thread gets as many strips as the others, or a part of the maps of each. */
static void choose_strip(struct strips *s, unsigned threads)
{
    const struct tn_conv *c = s->a->c;
    uint64_t most = s->direct ? STRIP : COLUMNS / (c->depth ? c->depth : 1) / 32 * 32, planes = c->images * c->groups;
    if (most < 64) most = 64;
    uint64_t whole = (c->out_plane + most - 1) / most, strips = whole, unit = c->out_plane > 64 * (uint64_t)threads * 16 ? 32 : 16;
    if (planes < threads) strips = (strips * planes + threads - 1) / threads * threads / planes;
    s->strip = (c->out_plane + strips * unit - 1) / (strips * unit) * unit;
    s->strips = (c->out_plane + s->strip - 1) / s->strip;
    s->parts = 1;
    if (threads == 1 || planes * whole >= 4 * (uint64_t)threads) return;
    uint64_t groups = (c->each_maps + 11) / 12, shares = (planes * s->strips + threads - 1) / threads;
    if (planes * whole * vectors_of(c->out_plane / whole) * ((groups + threads - 1) / threads) >= shares * vectors_of(s->strip) * groups) return;
    s->parts = threads;
    s->strip = (c->out_plane + whole * 16 - 1) / (whole * 16) * 16;
    s->strips = (c->out_plane + s->strip - 1) / s->strip;
}

bool tn_dense_run(struct tn_run *r, const struct tn_dense *w, const struct tn_dense_args *a)
{
    const struct tn_conv *c = a->c;
    if (c->images == 0 || c->maps == 0 || c->out_plane == 0) return true;
    struct strips s = {.kernels = r->kernels, .w = w, .a = a, .direct = tn_conv_direct(&c->w)};
    size_t bytes, columns = 0;
    unsigned threads = r->threads ? r->threads : 1;
    if (c->images * c->groups * c->maps * c->out_plane < ((uint64_t)1 << 17) / (c->depth + 1)) threads = 1;
    choose_strip(&s, threads);
    if (!s.direct && (!tn_mul((size_t)s.strip, c->depth, &columns) || !tn_mul(columns, sizeof(float), &columns))) return tn_run_no_memory(r);
    if (!r->kernels->conv1_scratch_size(c->depth, &bytes)) return tn_run_no_memory(r);
    s.columns_bytes = (columns + 63) / 64 * 64;
    s.share_bytes = s.columns_bytes + (bytes + 63) / 64 * 64 + 64;
    s.room = tn_run_scratch(r, s.share_bytes, threads);
    if (!s.room) return false;
    tn_pool_run(threads > 1 ? r->pool : NULL, strip_member, &s, threads);
    tn_heap_give(r->heap, s.room);
    return true;
}

/* ---- planes ------------------------------------------------------------------------------------------------------- */

struct planes {
    const struct tn_kernels *kernels;
    const float *weights;
    const struct tn_dense_args *a;
    struct tn_planes_args k; /* what all have in common */
    uint64_t rows, band, bands; /* rows of results in a plane, of a band; how many bands */
    char *room;
    size_t share_bytes;
};

bool tn_planes_pay(const struct tn_window *w, uint64_t each_maps)
{
    if (w->rank < 1 || w->rank > 2 || each_maps > FEW_MAPS || tn_window_count(w->kernel, w->rank) < 2) return false;
    for (uint32_t i = 0; i < w->rank; i++) {
        if (w->kernel[i] > TN_PLANES_WINDOW || w->dilation[i] != 1 || w->stride[i] > TN_PLANES_WINDOW) return false;
    }
    return w->stride[w->rank - 1] <= 2;
}

static void run_plane(const struct planes *s, uint64_t item, char *room)
{
    const struct tn_dense_args *a = s->a;
    const struct tn_conv *c = a->c;
    const size_t size = tn_float_type_size(a->type);
    uint64_t plane = item / s->bands, image = plane / c->maps, map = plane % c->maps, group = map / c->each_maps;
    uint64_t first = item % s->bands * s->band, at = plane * c->out_plane + first * s->k.out_width;
    struct tn_planes_args k = s->k;
    k.x = (const char *)a->x + (image * c->channels + group * c->each_channels) * c->in_plane * size;
    k.w = s->weights + map * c->depth;
    k.bias = a->bias ? a->bias[map] : 0;
    k.residual = a->residual ? (const char *)a->residual + at * size : NULL;
    k.y = (char *)a->y + at * size;
    k.first = first;
    k.count = s->rows - first < s->band ? s->rows - first : s->band;
    k.scratch = room;
    s->kernels->planes(&k);
}

static void plane_member(void *user, unsigned rank, unsigned size)
{
    const struct planes *s = user;
    size_t begin, end;
    tn_share((size_t)(s->a->c->images * s->a->c->maps * s->bands), rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) run_plane(s, i, s->room + rank * s->share_bytes);
}

bool tn_planes_run(struct tn_run *r, const float *weights, const struct tn_dense_args *a)
{
    const struct tn_conv *c = a->c;
    const struct tn_window *w = &c->w;
    if (c->images == 0 || c->maps == 0 || c->out_plane == 0) return true;
    uint32_t last = w->rank - 1;
    bool flat = w->rank == 1;
    struct planes s = {.kernels = r->kernels, .weights = weights, .a = a, .rows = flat ? 1 : (uint64_t)w->out[0],
                       .k = {.type = a->type, .channels = c->each_channels, .height = flat ? 1 : (size_t)w->in[0], .width = (size_t)w->in[last],
                             .top = flat ? 0 : (ptrdiff_t)w->begin[0], .left = (ptrdiff_t)w->begin[last], .kernel_height = flat ? 1 : (size_t)w->kernel[0],
                             .kernel_width = (size_t)w->kernel[last], .stride_down = flat ? 1 : (size_t)w->stride[0],
                             .stride_across = (size_t)w->stride[last], .after = a->after, .out_width = (size_t)w->out[last]}};
    unsigned threads = r->threads ? r->threads : 1;
    uint64_t planes = c->images * c->maps;
    if (planes * c->out_plane < ((uint64_t)1 << 16) / (c->depth + 1)) threads = 1;
    /* few planes are cut into bands; with many, the last ones are small against the whole */
    s.bands = planes >= 16 * (uint64_t)threads || threads == 1 ? 1 : 8 * (uint64_t)threads;
    s.band = (s.rows + s.bands * 4 - 1) / (s.bands * 4) * 4;
    s.bands = (s.rows + s.band - 1) / s.band;
    if (!r->kernels->planes_scratch_size(&s.k, &s.share_bytes)) return tn_run_no_memory(r);
    s.share_bytes = (s.share_bytes + 127) / 64 * 64;
    s.room = tn_run_scratch(r, s.share_bytes, threads);
    if (!s.room) return false;
    tn_pool_run(threads > 1 ? r->pool : NULL, plane_member, &s, threads);
    tn_heap_give(r->heap, s.room);
    return true;
}
