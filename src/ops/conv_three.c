/*
 * 3 x 3 windows on their own kernels: which convolutions take this road, packed weights, and blocks of tiles shared out to
 * threads. Transformed weights take four times the room of float32 ones: beyond a bound they are left to the other road.
 */
#include "ops/conv_three.h"

#include "base/checked.h"

#include <string.h>

struct tn_three {
    size_t group_bytes;
    char *packed; /* by group */
};

enum {
    LEAST = 8,               /* channels and maps of a group: below, spreading and gathering cost more than products */
    MOST_PRODUCTS = 1 << 19, /* channels times maps: 75 MB of weights */
    HEAD = 64,
};
_Static_assert(sizeof(struct tn_three) <= HEAD, "the head stands in front of the weights");

static enum tn_float_type float_type(enum tn_element e)
{
    return e == TN_EL_F16 ? TN_FLOAT_F16 : e == TN_EL_BF16 ? TN_FLOAT_BF16 : TN_FLOAT_F32;
}

/* Weights that are infinite or NaN have to meet the inputs that they meet, and no others. */
static bool all_finite(const struct tn_tensor *w)
{
    const uint16_t *halves = w->data, exponent = w->element == TN_EL_F16 ? 0x7c00u : 0x7f80u;
    const uint32_t *words = w->data;
    bool odd = false;
    if (w->element == TN_EL_F32) {
        for (uint64_t i = 0; i < w->count; i++) odd |= (words[i] & 0x7f800000u) == 0x7f800000u;
    } else {
        for (uint64_t i = 0; i < w->count; i++) odd |= (halves[i] & exponent) == exponent;
    }
    return !odd;
}

bool tn_three_pays(const struct tn_node *node, const struct tn_tensor *w)
{
    struct tn_window window;
    int64_t groups = tn_attr_int(node, "group", 1);
    if (w->rank != 4 || w->dims[2] != 3 || w->dims[3] != 3 || groups < 1 || w->dims[0] % groups) return false;
    if (w->element != TN_EL_F32 && w->element != TN_EL_F16 && w->element != TN_EL_BF16) return false;
    if (tn_window_read(node, 2, &window)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (window.stride[i] != 1 || window.dilation[i] != 1) return false;
    }
    int64_t maps = w->dims[0] / groups, channels = w->dims[1];
    return maps >= LEAST && channels >= LEAST && maps <= MOST_PRODUCTS && channels <= MOST_PRODUCTS / maps && all_finite(w);
}

struct packing {
    const struct tn_kernels *kernels;
    const struct tn_tensor *w;
    size_t maps, channels;
    const struct tn_three *to;
    size_t group;
};

static void pack_member(void *user, unsigned rank, unsigned size)
{
    const struct packing *p = user;
    const char *w = (const char *)p->w->data + p->group * p->maps * p->channels * 9 * tn_element_size(p->w->element);
    p->kernels->conv3_pack(w, float_type(p->w->element), p->maps, p->channels, p->to->packed + p->group * p->to->group_bytes, rank, size);
}

struct tn_three *tn_three_pack(struct tn_prepare *p, const struct tn_tensor *w)
{
    size_t groups = (size_t)tn_attr_int(p->node, "group", 1), one, all;
    struct packing job = {.kernels = p->kernels, .w = w, .maps = (size_t)w->dims[0] / groups, .channels = (size_t)w->dims[1]};
    if (!p->kernels->conv3_pack_size(job.maps, job.channels, &one) || !tn_mul(one, groups, &all) || !tn_add(all, HEAD, &all)) return NULL;
    struct tn_three *to = tn_malloc_aligned(p->alloc, all, 64);
    if (!to) return NULL;
    *to = (struct tn_three){one, (char *)to + HEAD};
    job.to = to;
    for (job.group = 0; job.group < groups; job.group++) tn_pool_run(p->pool, pack_member, &job, p->threads);
    return to;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------- */

struct blocks {
    const struct tn_kernels *kernels;
    const struct tn_three *w;
    const struct tn_three_args *a;
    uint64_t tiles, blocks; /* of one image and group */
    char *room;
    size_t share_bytes;
};

static void run_item(const struct blocks *b, uint64_t item, void *scratch)
{
    const struct tn_conv *c = b->a->c;
    const size_t size = tn_float_type_size(b->a->type);
    uint64_t plane = item / b->blocks, image = plane / c->groups, group = plane % c->groups, first = item % b->blocks * TN_CONV3_BLOCK;
    uint64_t map = group * c->each_maps, at = (image * c->maps + map) * c->out_plane * size;
    struct tn_conv3_args k = {
        .x = (const char *)b->a->x + (image * c->channels + group * c->each_channels) * c->in_plane * size, .type = b->a->type,
        .channels = c->each_channels, .height = (size_t)c->w.in[0], .width = (size_t)c->w.in[1], .top = (ptrdiff_t)c->w.begin[0],
        .left = (ptrdiff_t)c->w.begin[1], .packed = b->w->packed + group * b->w->group_bytes, .bias = b->a->bias ? b->a->bias + map : NULL,
        .residual = b->a->residual ? (const char *)b->a->residual + at : NULL, .after = b->a->after, .y = (char *)b->a->y + at, .maps = c->each_maps,
        .out_height = (size_t)c->w.out[0], .out_width = (size_t)c->w.out[1], .first = first,
        .count = b->tiles - first < TN_CONV3_BLOCK ? b->tiles - first : TN_CONV3_BLOCK, .scratch = scratch};
    b->kernels->conv3(&k);
}

static void block_member(void *user, unsigned rank, unsigned size)
{
    const struct blocks *b = user;
    size_t begin, end;
    tn_share((size_t)(b->a->c->images * b->a->c->groups * b->blocks), rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) run_item(b, i, b->room + rank * b->share_bytes);
}

bool tn_three_run(struct tn_run *r, const struct tn_three *w, const struct tn_three_args *a)
{
    const struct tn_conv *c = a->c;
    if (c->images == 0 || c->out_plane == 0) return true;
    struct blocks b = {.kernels = r->kernels, .w = w, .a = a, .tiles = (uint64_t)((c->w.out[0] + 3) / 4) * (uint64_t)((c->w.out[1] + 3) / 4)};
    b.blocks = (b.tiles + TN_CONV3_BLOCK - 1) / TN_CONV3_BLOCK;
    uint64_t items = c->images * c->groups * b.blocks;
    unsigned want = r->threads < items ? r->threads : (unsigned)items;
    if (!r->kernels->conv3_scratch_size(c->each_maps, c->each_channels, &b.share_bytes)) return tn_run_no_memory(r);
    b.share_bytes = (b.share_bytes + 63) / 64 * 64 + 64;
    b.room = tn_run_scratch(r, b.share_bytes, want);
    if (!b.room) return false;
    bool little = c->images * c->maps * c->out_plane < ((uint64_t)1 << 20) / c->depth;
    tn_pool_run(little ? NULL : r->pool, block_member, &b, want);
    tn_heap_give(r->heap, b.room);
    return true;
}
