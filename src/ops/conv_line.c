/*
 * Windows along one direction; see the header. Turning an image and its result costs a pass over each, which is little beside
 * products of at least 32 channels and maps.
 */
#include "ops/conv_line.h"

#include "base/checked.h"

struct tn_line {
    enum tn_filter form;
    void *packed;
};

enum { HEAD = 64, BLOCK = 16 };
_Static_assert(sizeof(struct tn_line) <= HEAD, "the head stands in front of the weights");

bool tn_line_pays(const struct tn_node *node, const struct tn_tensor *w)
{
    enum tn_filter form;
    return tn_filter_pays(node, w, &form) && form != TN_FILTER_3X3 && !tn_node_attr(node, "tenon.residual");
}

struct tn_line *tn_line_pack(struct tn_prepare *p, const struct tn_tensor *w)
{
    enum tn_filter form;
    size_t bytes;
    if (!tn_filter_pays(p->node, w, &form) || !tn_filter_bytes(p->kernels, form, w, &bytes) || !tn_add(bytes, HEAD, &bytes)) return NULL;
    struct tn_line *to = tn_malloc_aligned(p->alloc, bytes, 64);
    if (!to) return NULL;
    *to = (struct tn_line){form, (char *)to + HEAD};
    tn_filter_pack(p, form, w, to->packed);
    return to;
}

/* [rows][columns] to [columns][rows]. */
struct turning {
    const float *from;
    float *to;
    size_t rows, columns;
};

/* Items are blocks of rows of the result. */
static void turn_blocks(void *user, uint64_t begin, uint64_t end)
{
    const struct turning *t = user;
    const size_t first = (size_t)begin * BLOCK, last = (size_t)end * BLOCK < t->columns ? (size_t)end * BLOCK : t->columns;
    for (size_t c = first; c < last; c += BLOCK) {
        const size_t until = c + BLOCK < last ? c + BLOCK : last;
        for (size_t r = 0; r < t->rows; r += BLOCK) {
            const size_t rows = r + BLOCK < t->rows ? BLOCK : t->rows - r;
            for (size_t i = c; i < until; i++) {
                for (size_t k = 0; k < rows; k++) t->to[i * t->rows + r + k] = t->from[(r + k) * t->columns + i];
            }
        }
    }
}

static void turn(struct tn_run *r, const float *from, size_t rows, size_t columns, float *to)
{
    struct turning t = {from, to, rows, columns};
    tn_run_items(r, (columns + BLOCK - 1) / BLOCK, BLOCK * rows * 2, turn_blocks, &t);
}

bool tn_line_run(struct tn_run *r, const struct tn_line *w, const struct tn_conv *c, const float *x, const float *bias, const struct tn_after *after, float *y)
{
    size_t in, out;
    if (c->images == 0 || c->out_plane == 0) return true;
    if (!tn_mul(c->in_plane, c->channels, &in) || !tn_mul(c->out_plane, c->maps, &out)) return tn_run_no_memory(r);
    float *turned = tn_run_scratch(r, in ? in : 1, sizeof(*turned)), *results = turned ? tn_run_scratch(r, out, sizeof(*results)) : NULL;
    struct tn_filter_job j = {.images = 1, .x_pixels = c->in_plane, .y_pixels = c->out_plane};
    j.a = (struct tn_filter_args){.x = turned, .channels = c->channels, .packed = w->packed, .bias = bias, .after = after, .y = results, .maps = c->maps};
    tn_filter_place(&c->w, w->form, &j.a);
    bool good = results != NULL;
    for (uint64_t i = 0; good && i < c->images; i++) {
        turn(r, x + i * in, c->channels, c->in_plane, turned);
        good = tn_filter_run(r, &j);
        if (good) turn(r, results, c->out_plane, c->maps, y + i * out);
    }
    tn_heap_give(r->heap, results);
    tn_heap_give(r->heap, turned);
    return good;
}
