/*
 * Linear interpolation of planes. A row of results is a blend of two rows of the input, then of neighbours in it: the order in
 * which resize.c goes over dimensions, so that the bits are the same. Half precision is widened and rounded by row.
 */
#include "ops/resize_planes.h"

#include "base/checked.h"

#include <string.h>

struct axis {
    uint32_t *index; /* [out][2] */
    float *weight;   /* [out][2] */
};

struct planes {
    const struct tn_resize *p;
    const struct tn_kernels *kernels;
    const char *x;
    char *y;
    enum tn_float_type type;
    size_t element, in_height, in_width, out_height, out_width;
    uint64_t count; /* planes */
    struct axis down, across;
    bool doubled; /* columns 2 j + 1 and 2 j + 2 are blends of j and j + 1 with the same four weights throughout */
    char *room;
    size_t share;
};

bool tn_resize_by_planes(const struct tn_resize *p, enum tn_element e)
{
    if (p->rank < 2 || p->mode != TN_RESIZE_LINEAR || p->transform == TN_CROP_AND_RESIZE) return false;
    if (e != TN_EL_F32 && e != TN_EL_F16 && e != TN_EL_BF16) return false;
    for (uint32_t i = 0; i + 2 < p->rank; i++) {
        if (!p->same[i]) return false;
    }
    for (uint32_t i = p->rank - 2; i < p->rank; i++) {
        if (p->same[i] || p->out[i] > 1 << 28 || tn_resize_taps(p, i) != 2) return false;
    }
    return true;
}

/* Rows that are widened: which one stands in which place. */
struct lines {
    float *room[2];
    const char *held[2];
};

/* Both rows of a pair. One that is there already stays where it is, and the other one takes the other place. */
static void widen_pair(const struct planes *s, struct lines *l, const char *const *rows, const float **from)
{
    int at[2] = {-1, -1};
    for (int k = 0; k < 2; k++) {
        for (int place = 0; place < 2; place++)
            if (l->held[place] == rows[k]) at[k] = place;
    }
    for (int k = 0; k < 2; k++) {
        if (at[k] < 0 && at[1 - k] >= 0 && rows[k] == rows[1 - k]) at[k] = at[1 - k];
        if (at[k] < 0) {
            at[k] = at[1 - k] == 0;
            s->kernels->to_f32(s->type, rows[k], l->room[at[k]], s->in_width);
            l->held[at[k]] = rows[k];
        }
        from[k] = l->room[at[k]];
    }
}

static void blend_columns(const struct planes *s, const float *t, float *y)
{
    const uint32_t *index = s->across.index;
    const float *w = s->across.weight;
    size_t done = 0;
    if (s->doubled) {
        const float a = w[2], b = w[3], c = w[4], d = w[5];
        for (size_t j = 0; j + 1 < s->in_width; j++) {
            y[2 * j + 1] = a * t[j] + b * t[j + 1];
            y[2 * j + 2] = c * t[j] + d * t[j + 1];
        }
        y[0] = w[0] * t[index[0]] + w[1] * t[index[1]];
        done = 2 * s->in_width - 1;
    }
    for (size_t o = done; o < s->out_width; o++) y[o] = w[2 * o] * t[index[2 * o]] + w[2 * o + 1] * t[index[2 * o + 1]];
}

static void row_member(void *user, unsigned rank, unsigned size)
{
    const struct planes *s = user;
    float *blend = (float *)(void *)(s->room + rank * s->share), *result = blend + s->in_width;
    struct lines lines = {.room = {result + s->out_width, result + s->out_width + s->in_width}};
    size_t begin, end;
    tn_share((size_t)(s->count * s->out_height), rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        size_t plane = i / s->out_height, o = i % s->out_height;
        const float *w = s->down.weight + 2 * o, *from[2];
        const char *rows[2];
        for (size_t k = 0; k < 2; k++) rows[k] = s->x + (plane * s->in_height + s->down.index[2 * o + k]) * s->in_width * s->element;
        if (s->type != TN_FLOAT_F32) widen_pair(s, &lines, rows, from);
        for (int k = 0; k < 2 && s->type == TN_FLOAT_F32; k++) from[k] = (const float *)(const void *)rows[k];
        for (size_t c = 0; c < s->in_width; c++) blend[c] = w[0] * from[0][c] + w[1] * from[1][c];
        char *y = s->y + i * s->out_width * s->element;
        blend_columns(s, blend, s->type == TN_FLOAT_F32 ? (float *)(void *)y : result);
        if (s->type != TN_FLOAT_F32) s->kernels->from_f32(s->type, result, y, s->out_width);
    }
}

static bool make_axis(struct tn_run *r, const struct tn_resize *p, uint32_t d, struct axis *a)
{
    size_t count;
    if (!tn_mul((size_t)p->out[d], 2, &count)) return tn_run_no_memory(r);
    a->index = tn_run_scratch(r, count, sizeof(*a->index));
    a->weight = a->index ? tn_run_scratch(r, count, sizeof(*a->weight)) : NULL;
    for (int64_t o = 0; a->weight && o < p->out[d]; o++) {
        double weight[2];
        tn_resize_weights(p, d, o, 2, a->index + 2 * o, weight);
        for (int k = 0; k < 2; k++) a->weight[2 * o + k] = (float)weight[k];
    }
    return a->weight != NULL;
}

static bool is_doubled(const struct planes *s)
{
    const struct axis *a = &s->across;
    if (s->in_width < 2 || s->out_width != 2 * s->in_width) return false;
    for (size_t o = 1; o + 1 < s->out_width; o++) {
        const float *w = a->weight + 2 * o, *first = a->weight + 2 * (o % 2 ? 1 : 2);
        if (a->index[2 * o] != (o - 1) / 2 || a->index[2 * o + 1] != (o - 1) / 2 + 1 || w[0] != first[0] || w[1] != first[1]) return false;
    }
    return true;
}

bool tn_resize_planes(struct tn_run *r, const struct tn_resize *p)
{
    const struct tn_tensor *x = r->in[0];
    const uint32_t h = p->rank - 2, w = p->rank - 1;
    struct planes s = {.p = p, .kernels = r->kernels, .x = x->data, .y = r->out[0]->data, .element = tn_element_size(x->element),
                       .type = x->element == TN_EL_F16 ? TN_FLOAT_F16 : x->element == TN_EL_BF16 ? TN_FLOAT_BF16 : TN_FLOAT_F32,
                       .in_height = (size_t)x->dims[h], .in_width = (size_t)x->dims[w], .out_height = (size_t)p->out[h], .out_width = (size_t)p->out[w],
                       .count = x->count / ((uint64_t)x->dims[h] * (uint64_t)x->dims[w])};
    unsigned threads = r->out[0]->count < 1 << 14 || r->threads == 0 ? 1 : r->threads;
    bool good = make_axis(r, p, h, &s.down) && make_axis(r, p, w, &s.across);
    s.share = ((3 * s.in_width + s.out_width) * sizeof(float) + 63) / 64 * 64;
    s.room = good ? tn_run_scratch(r, s.share, threads) : NULL;
    if (s.room) {
        s.doubled = is_doubled(&s);
        tn_pool_run(threads > 1 ? r->pool : NULL, row_member, &s, threads);
    }
    tn_heap_give(r->heap, s.room);
    tn_heap_give(r->heap, s.down.index);
    tn_heap_give(r->heap, s.down.weight);
    tn_heap_give(r->heap, s.across.index);
    tn_heap_give(r->heap, s.across.weight);
    return r->failed == TN_OK;
}
