/*
 * Filtered windows; see the header. Transformed weights take four times the room of 3 x 3 ones and 2.6 times that of 5 x 1:
 * beyond a bound they are left to other roads.
 */
#include "ops/filter.h"

#include "base/checked.h"

#include <math.h>

enum {
    LEAST = 8,               /* channels and maps under 3 x 3: below, spreading and gathering cost more than products */
    LEAST_LINE = 32,         /* the same under lines, which save half as much */
    MOST_PRODUCTS = 1 << 18, /* channels times maps: 47 MB of weights under 3 x 3 */
    BLOCK = 112 << 10,       /* floats that a block of tiles has in the cache: half of an L2 cache */
    MOST_TILES = 96,
};

static bool all_finite(const struct tn_tensor *w)
{
    const float *data = w->data;
    bool finite = true;
    for (uint64_t i = 0; i < w->count; i++) finite = finite && isfinite(data[i]);
    return finite;
}

static bool form_of(const struct tn_tensor *w, enum tn_filter *form)
{
    int64_t high = w->rank == 4 ? w->dims[2] : 1, wide = w->rank < 3 ? 1 : w->dims[w->rank - 1];
    if (w->rank != 3 && w->rank != 4) return false;
    if (high != 1 && wide != 1) {
        *form = TN_FILTER_3X3;
        return high == 3 && wide == 3;
    }
    int64_t taps = high * wide;
    *form = taps == 3 ? TN_FILTER_1X3 : TN_FILTER_1X5;
    return taps == 3 || taps == 5;
}

bool tn_filter_pays(const struct tn_node *node, const struct tn_tensor *w, enum tn_filter *form)
{
    struct tn_window window;
    if (!w || w->element != TN_EL_F32 || !form_of(w, form) || tn_attr_int(node, "group", 1) != 1 || tn_window_read(node, w->rank - 2, &window)) return false;
    for (uint32_t i = 0; i < window.rank; i++) {
        if (window.stride[i] != 1 || window.dilation[i] != 1) return false;
    }
    int64_t least = *form == TN_FILTER_3X3 ? LEAST : LEAST_LINE, maps = w->dims[0], channels = w->dims[1];
    return maps >= least && channels >= least && maps <= MOST_PRODUCTS && channels <= MOST_PRODUCTS / maps && all_finite(w);
}

bool tn_filter_bytes(const struct tn_kernels *k, enum tn_filter form, const struct tn_tensor *w, size_t *bytes)
{
    return k->filter_pack_size(form, (size_t)w->dims[0], (size_t)w->dims[1], bytes);
}

struct packing {
    const struct tn_kernels *kernels;
    enum tn_filter form;
    const struct tn_tensor *w;
    void *to;
};

static void pack_member(void *user, unsigned rank, unsigned size)
{
    const struct packing *p = user;
    p->kernels->filter_pack(p->form, p->w->data, (size_t)p->w->dims[0], (size_t)p->w->dims[1], p->to, rank, size);
}

void tn_filter_pack(struct tn_prepare *p, enum tn_filter form, const struct tn_tensor *w, void *packed)
{
    struct packing job = {p->kernels, form, w, packed};
    tn_pool_run(p->pool, pack_member, &job, p->threads);
}

void tn_filter_place(const struct tn_window *w, enum tn_filter form, struct tn_filter_args *a)
{
    const bool flat = w->rank == 1, turned = !flat && form != TN_FILTER_3X3 && w->kernel[0] > 1;
    const uint32_t across = flat || turned ? 0 : 1, down = 1 - across;
    a->form = form;
    a->width = (size_t)w->in[across];
    a->out_width = (size_t)w->out[across];
    a->left = (ptrdiff_t)w->begin[across];
    a->height = flat ? 1 : (size_t)w->in[down];
    a->out_height = flat ? 1 : (size_t)w->out[down];
    a->top = flat ? 0 : (ptrdiff_t)w->begin[down];
    a->x_down = turned ? 1 : a->width;
    a->y_down = turned ? 1 : a->out_width;
    a->x_across = turned ? a->height : 1;
    a->y_across = turned ? a->out_height : 1;
}

/* ---- blocks of tiles ---------------------------------------------------------------------------------------------- */

struct blocks {
    const struct tn_kernels *kernels;
    const struct tn_filter_job *j;
    size_t tiles, block, blocks; /* of an image */
    char *room;
    size_t share_bytes;
};

static void block_member(void *user, unsigned rank, unsigned size)
{
    const struct blocks *b = user;
    size_t begin, end;
    tn_share(b->j->images * b->blocks, rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        size_t image = i / b->blocks, first, last;
        struct tn_filter_args a = b->j->a;
        tn_share(b->tiles, (unsigned)(i % b->blocks), (unsigned)b->blocks, &first, &last);
        a.x += image * b->j->x_pixels * a.channels;
        a.y += image * b->j->y_pixels * a.maps;
        if (a.residual) a.residual += image * b->j->y_pixels * a.residual_maps;
        a.first = first;
        a.count = last - first;
        a.scratch = b->room + rank * b->share_bytes;
        if (a.count) b->kernels->filter(&a);
    }
}

bool tn_filter_run(struct tn_run *r, const struct tn_filter_job *j)
{
    const struct tn_filter_args *a = &j->a;
    const size_t points = a->form == TN_FILTER_3X3 ? 36 : a->form == TN_FILTER_1X3 ? 6 : 8;
    struct blocks b = {.kernels = r->kernels, .j = j,
                       .tiles = (a->form == TN_FILTER_3X3 ? (a->out_height + 3) / 4 : a->out_height) * ((a->out_width + 3) / 4)};
    if (j->images == 0 || b.tiles == 0) return true;
    unsigned threads = r->threads ? r->threads : 1;
    if (j->images * b.tiles * points < ((size_t)1 << 16) / (a->channels * a->maps) + 1) threads = 1;
    size_t most = BLOCK / points / (a->channels + a->maps) / 12 * 12;
    most = most < 12 ? 12 : most > MOST_TILES ? MOST_TILES : most;
    b.blocks = (b.tiles + most - 1) / most;
    if (j->images * b.blocks < 4 * (size_t)threads) b.blocks = (b.blocks + threads - 1) / threads * threads; /* as many for each */
    if (b.blocks > b.tiles) b.blocks = b.tiles;
    if (b.blocks > UINT32_MAX) return tn_run_no_memory(r);
    b.block = (b.tiles + b.blocks - 1) / b.blocks;
    if (!r->kernels->filter_scratch_size(a->form, a->maps, a->channels, b.block, &b.share_bytes)) return tn_run_no_memory(r);
    b.share_bytes += 64;
    b.room = tn_run_scratch(r, b.share_bytes, threads);
    if (!b.room) return false;
    tn_pool_run(threads > 1 ? r->pool : NULL, block_member, &b, threads);
    tn_heap_give(r->heap, b.room);
    return true;
}
