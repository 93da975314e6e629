/*
 * Convolution. Constant weights of float32 and half precision go to the kernels of conv_three.h, conv_line.h and conv_dense.h.
 * Weights of a call: the input under the kernel is laid out as columns, tile by tile, and multiplied on the packed kernels;
 * depthwise kernels go by rows. float64 goes by rows always.
 */
#include "ops/conv.h"

#include "ops/conv_dense.h"
#include "ops/conv_line.h"
#include "ops/conv_three.h"
#include "ops/epilogue.h"
#include "ops/gemm.h"
#include "ops/real.h"

#include <string.h>

#define REAL float
#define TN_BODY(name) name##_f32
#include "ops/conv_body.h"
#undef REAL
#undef TN_BODY
#define REAL double
#define TN_BODY(name) name##_f64
#include "ops/conv_body.h"
#undef REAL
#undef TN_BODY

/* ---- inference ---------------------------------------------------------------------------------------------------- */

static bool differ(tn_dim_t a, tn_dim_t b)
{
    return tn_dim_known(a) && tn_dim_known(b) && a != b;
}

static bool check_channels(struct tn_infer *t, const struct tn_shape *x, const struct tn_shape *w, const struct tn_shape *bias)
{
    int64_t groups = tn_attr_int(t->node, "group", 1);
    if (groups < 1 || groups > INT32_MAX) return tn_infer_refuse(t, "a number of groups from 1", "%lld", (long long)groups);
    if (tn_dim_known(x->dims[1]) && tn_dim_known(w->dims[1]) &&
        (x->dims[1] % groups != 0 || x->dims[1] / groups != w->dims[1]))
        return tn_infer_refuse(t, "as many channels as the weights and groups make", "%lld channels, weights for %lld, %lld groups",
                               (long long)x->dims[1], (long long)w->dims[1], (long long)groups);
    if (tn_dim_known(w->dims[0]) && w->dims[0] % groups != 0)
        return tn_infer_refuse(t, "a number of maps that the groups divide", "%lld maps, %lld groups", (long long)w->dims[0], (long long)groups);
    if (bias && (bias->rank != 1 || differ(bias->dims[0], w->dims[0])))
        return tn_infer_refuse(t, "one bias for each map", "rank %u, dimension %lld", bias->rank, bias->rank ? (long long)bias->dims[0] : 0LL);
    return true;
}

/* The kernel from the weights' shape, when it is known; *known: whether the window has one now. */
static const char *kernel_of(struct tn_window *w, const struct tn_shape *weights, bool *known)
{
    int64_t kernel[TN_SPATIAL];
    *known = w->has_kernel;
    for (uint32_t i = 0; i < w->rank; i++) {
        if (!tn_dim_known(weights->dims[i + 2])) return NULL;
        kernel[i] = weights->dims[i + 2];
    }
    *known = true;
    return tn_window_kernel(w, kernel);
}

bool tn_conv_infer(struct tn_infer *t, uint32_t xi, uint32_t wi, uint32_t bi, enum tn_element e)
{
    const struct tn_shape *x, *weights, *bias;
    struct tn_window w;
    tn_dim_t out[TN_RANK];
    bool known = false;
    tn_out_unknown(t, 0, e);
    if (!tn_in_shape(t, xi, &x) || !tn_in_shape(t, wi, &weights)) return true;
    if (x->rank < 3 || x->rank != weights->rank)
        return tn_infer_refuse(t, "images and weights of one rank, at least 3", "ranks %u and %u", x->rank, weights->rank);
    bool with_bias = tn_in_shape(t, bi, &bias);
    if (!check_channels(t, x, weights, with_bias ? bias : NULL)) return false;
    const char *bad = tn_window_read(t->node, x->rank - 2, &w);
    if (!bad) bad = kernel_of(&w, weights, &known);
    out[0] = x->dims[0];
    out[1] = weights->dims[0];
    for (uint32_t i = 0; !bad && i < w.rank; i++)
        out[i + 2] = known ? tn_window_dim(&w, t->symbols, i, x->dims[i + 2], &bad) : tn_dim_unknown(t->symbols);
    if (bad) return tn_infer_refuse(t, bad, "attributes or a shape that do not fit");
    tn_out_tensor(t, 0, e, x->rank, out);
    return true;
}

static bool infer_conv(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    return tn_conv_infer(x, 0, 1, 2, t ? t->element : TN_EL_NONE);
}

void tn_conv_read(const struct tn_run *r, const struct tn_tensor *x, const struct tn_tensor *w, struct tn_conv *c)
{
    tn_window_read(r->node, x->rank - 2, &c->w);
    tn_window_kernel(&c->w, w->dims + 2);
    tn_window_fit(&c->w, x->dims + 2);
    c->images = (uint64_t)x->dims[0];
    c->channels = (uint64_t)x->dims[1];
    c->maps = (uint64_t)w->dims[0];
    c->groups = (uint64_t)tn_attr_int(r->node, "group", 1);
    c->each_channels = (uint64_t)w->dims[1];
    c->each_maps = c->maps / c->groups;
    c->taps = tn_window_count(c->w.kernel, c->w.rank);
    c->depth = c->taps * c->each_channels;
    c->in_plane = tn_window_count(c->w.in, c->w.rank);
    c->out_plane = tn_window_count(c->w.out, c->w.rank);
}

/* ---- columns ------------------------------------------------------------------------------------------------------ */

/* Positions [from, to) of one output row, out of an input row that begins at x. */
static void column_part(const float *x, int64_t stride, int64_t first, int64_t lo, int64_t hi, int64_t from, int64_t to, float *out)
{
    int64_t begin = lo > from ? lo : from, end = hi < to ? hi : to;
    if (begin >= end) {
        memset(out, 0, (size_t)(to - from) * sizeof(*out));
        return;
    }
    for (int64_t o = from; o < begin; o++) out[o - from] = 0;
    const float *source = x + first + (begin - lo) * stride;
    float *target = out + (begin - from);
    if (stride == 1) {
        memcpy(target, source, (size_t)(end - begin) * sizeof(*out));
    } else if (stride == 2) {
        for (int64_t o = 0; o < end - begin; o++) target[o] = source[2 * o];
    } else {
        for (int64_t o = 0; o < end - begin; o++) target[o] = source[o * stride];
    }
    for (int64_t o = end; o < to; o++) out[o - from] = 0;
}

void tn_conv_columns(const struct tn_conv *c, const float *x, uint64_t from, uint64_t to, float *columns)
{
    const struct tn_window *w = &c->w;
    uint64_t width = (uint64_t)w->out[w->rank - 1];
    for (uint64_t d = 0; d < c->depth; d++) {
        int64_t tap[TN_SPATIAL], lo, hi, first;
        float *out = columns + d * (to - from);
        tn_window_tap(w, d % c->taps, tap);
        tn_window_span(w, tap, &lo, &hi, &first);
        for (uint64_t p = from; p < to;) {
            uint64_t row = p / width, at, end = (row + 1) * width < to ? (row + 1) * width : to;
            int64_t a = (int64_t)(p - row * width), b = (int64_t)(end - row * width);
            if (tn_window_row(w, tap, row, &at))
                column_part(x + d / c->taps * c->in_plane + at, w->stride[w->rank - 1], first, lo, hi, a, b, out + (p - from));
            else memset(out + (p - from), 0, (size_t)(b - a) * sizeof(*out));
            p = end;
        }
    }
}

void tn_conv_finish(const struct tn_conv_finish *f, const struct tn_conv *c, const struct tn_kernels *kernels, float *y,
                    uint64_t image, uint64_t map, uint64_t maps, uint64_t from, uint64_t count)
{
    uint64_t at = (image * c->maps + map) * c->out_plane + from;
    if (!f || !f->e->any) return;
    struct tn_finish_args a = {.kernels = kernels, .e = f->e, .y = y + at, .y_stride = c->out_plane, .rows = maps, .width = count,
                               .row_bias = f->bias ? f->bias + map : NULL, .residual = f->residual ? f->residual + at : NULL,
                               .residual_stride = c->out_plane};
    tn_finish_rows(&a);
}

/* ---- tiles -------------------------------------------------------------------------------------------------------- */

/* Sums of products of 8-bit integers stay exact in float32 up to this many: 256 * 255 * 255 < 2^24. */
enum { EXACT = 256 };
/* Floats of a tile's columns: half of a small L2 cache. */
enum { COLUMNS = 1 << 15 };

struct tiles {
    const struct tn_conv *c;
    const struct tn_kernels *kernels;
    const float *x, *weights, *bias;
    float *y;
    int32_t *sums;
    const struct tn_conv_finish *finish;
    bool direct; /* the input is its own columns */
    uint64_t tile, tiles; /* positions of one; how many for a group */
    size_t pack_bytes, share_bytes;
    char *room;
};

/* out[map][position] += products, exactly. */
static void add_sums(const float *products, uint64_t maps, uint64_t count, int32_t *sums, uint64_t stride, bool begin)
{
    for (uint64_t m = 0; m < maps; m++) {
        int32_t *to = sums + m * stride;
        const float *from = products + m * count;
        for (uint64_t p = 0; p < count; p++) to[p] = (int32_t)((uint32_t)(begin ? 0 : to[p]) + (uint32_t)(int32_t)from[p]);
    }
}

static void multiply_exact(const struct tiles *t, struct tn_gemm *g, float *products, int32_t *sums, void *room)
{
    size_t depth = g->k;
    g->c = products;
    g->c_row = g->n;
    for (size_t k = 0; k < depth; k += EXACT) {
        struct tn_gemm part = *g;
        part.a += k;
        part.b += k * g->b_k;
        part.k = depth - k < EXACT ? depth - k : EXACT;
        tn_gemm_alone(t->kernels, &part, room);
        add_sums(products, g->m, g->n, sums, t->c->out_plane, k == 0);
    }
}

static void multiply_tile(const struct tiles *t, uint64_t item, char *room)
{
    const struct tn_conv *c = t->c;
    uint64_t plane = item / t->tiles, image = plane / c->groups, group = plane % c->groups;
    uint64_t from = item % t->tiles * t->tile, to = from + t->tile < c->out_plane ? from + t->tile : c->out_plane;
    uint64_t first_map = image * c->maps + group * c->each_maps;
    const float *x = t->x + (image * c->channels + group * c->each_channels) * c->in_plane;
    float *columns = (float *)(room + t->pack_bytes), *products = columns + (t->direct ? 0 : c->depth * t->tile);
    struct tn_gemm g = {.m = c->each_maps, .n = to - from, .k = c->depth, .a = t->weights + group * c->each_maps * c->depth,
                        .a_row = c->depth, .b_k = t->direct ? c->in_plane : to - from, .b_n = 1, .c_row = c->out_plane};
    if (!t->direct) tn_conv_columns(c, x, from, to, columns);
    g.b = t->direct ? x + from : columns;
    if (t->sums) {
        multiply_exact(t, &g, products, t->sums + first_map * c->out_plane + from, room);
        return;
    }
    g.c = t->y + first_map * c->out_plane + from;
    tn_gemm_alone(t->kernels, &g, room);
    for (uint64_t m = 0; t->bias && m < c->each_maps; m++) {
        float bias = t->bias[group * c->each_maps + m], *y = g.c + m * c->out_plane;
        for (uint64_t p = 0; p < to - from; p++) y[p] += bias;
    }
    tn_conv_finish(t->finish, c, t->kernels, t->y, image, group * c->each_maps, c->each_maps, from, to - from);
}

static void tile_member(void *arg, unsigned rank, unsigned size)
{
    const struct tiles *t = arg;
    size_t begin, end;
    tn_share((size_t)(t->c->images * t->c->groups * t->tiles), rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) multiply_tile(t, i, t->room + rank * t->share_bytes);
}

/* Tiles of whole vectors that leave their columns in the cache; some for each thread, whose number must not matter. */
static void choose_tile(struct tiles *t)
{
    const struct tn_conv *c = t->c;
    uint64_t tile = COLUMNS / c->depth / 64 * 64;
    if (tile < 64) tile = 64;
    if (t->direct && tile < 256) tile = 256;
    uint64_t fair = (c->out_plane * c->images * c->groups / 8 + 63) / 64 * 64;
    if (tile > fair && fair >= 64) tile = fair;
    if (tile > c->out_plane) tile = c->out_plane;
    t->tile = tile;
    t->tiles = (c->out_plane + tile - 1) / tile;
}

static bool run_tiles(struct tn_run *r, struct tiles *t)
{
    const struct tn_conv *c = t->c;
    t->direct = tn_conv_direct(&c->w);
    choose_tile(t);
    struct tn_gemm g = {.m = c->each_maps, .n = t->tile, .k = t->sums && c->depth > EXACT ? EXACT : c->depth, .b_n = 1};
    size_t bytes, columns = t->direct ? 0 : (size_t)(c->depth * t->tile), products = t->sums ? (size_t)(c->each_maps * t->tile) : 0;
    if (!r->kernels->linear_pack_size(g.n, g.k, TN_COMPUTE_F32, &bytes)) return tn_run_no_memory(r);
    t->pack_bytes = bytes;
    t->share_bytes = (bytes + (columns + products) * sizeof(float) + 63) / 64 * 64;
    uint64_t items = c->images * c->groups * t->tiles, work = c->out_plane * c->images * c->maps;
    unsigned want = r->threads < items ? r->threads : (unsigned)items;
    t->room = tn_run_scratch(r, t->share_bytes, want ? want : 1);
    if (!t->room) return false;
    bool little = work < ((uint64_t)1 << 18) / c->depth;
    tn_pool_run(little ? NULL : r->pool, tile_member, t, want);
    tn_heap_give(r->heap, t->room);
    return true;
}

struct planes {
    struct conv_f32 conv;
    const struct tn_conv_finish *finish;
    const struct tn_kernels *kernels;
};

static void finished_planes(void *user, uint64_t begin, uint64_t end)
{
    struct planes *p = user;
    const struct tn_conv *c = p->conv.c;
    for (uint64_t i = begin; i < end; i++) {
        conv_planes_f32(&p->conv, i, i + 1);
        tn_conv_finish(p->finish, c, p->kernels, p->conv.y, i / c->maps, i % c->maps, 1, 0, c->out_plane);
    }
}

bool tn_conv_f32(struct tn_run *r, const struct tn_conv *c, const float *x, const float *weights, const float *bias, float *y, int32_t *sums,
                 const struct tn_conv_finish *finish)
{
    if (c->images == 0 || c->maps == 0 || c->out_plane == 0) return true;
    if (c->depth == 0) {
        for (uint64_t i = 0; sums && i < c->images * c->maps * c->out_plane; i++) sums[i] = 0;
        for (uint64_t i = 0; !sums && i < c->images * c->maps * c->out_plane; i++) y[i] = bias ? bias[i / c->out_plane % c->maps] : 0;
        for (uint64_t i = 0; !sums && i < c->images; i++) tn_conv_finish(finish, c, r->kernels, y, i, 0, c->maps, 0, c->out_plane);
        return true;
    }
    if (c->each_channels == 1 && c->groups > 1 && !sums) {
        struct planes k = {{c, x, weights, bias, y}, finish, r->kernels};
        tn_run_items(r, c->images * c->maps, c->out_plane * c->depth, finished_planes, &k);
        return true;
    }
    struct tiles t = {.c = c, .kernels = r->kernels, .x = x, .weights = weights, .bias = bias, .y = y, .sums = sums, .finish = finish};
    return run_tiles(r, &t);
}

/* ---- Conv --------------------------------------------------------------------------------------------------------- */

/* Of constant weights: the road they take. */
struct conv_state {
    float *planes; /* as they are, widened */
    struct tn_three *three;
    struct tn_line *line;
    struct tn_dense *dense;
};

static enum tn_float_type float_type(enum tn_element e)
{
    return e == TN_EL_F16 ? TN_FLOAT_F16 : e == TN_EL_BF16 ? TN_FLOAT_BF16 : TN_FLOAT_F32;
}

static bool is_half(enum tn_element e)
{
    return e == TN_EL_F16 || e == TN_EL_BF16;
}

/* The bias of the operator and a folded one together; NULL: neither, or no memory. */
static const float *both_biases(struct tn_run *r, struct tn_reals *reals, const struct tn_epilogue *e, uint64_t maps)
{
    const float *own = tn_reals_in(reals, 2), *folded = tn_reals_in(reals, e->bias);
    if (!own || !folded) return own ? own : folded;
    float *sum = tn_reals_scratch(reals, (size_t)maps);
    for (uint64_t i = 0; sum && i < maps; i++) sum[i] = own[i] + folded[i];
    return tn_reals_good(reals) && r->failed == TN_OK ? sum : NULL;
}

/* With packed weights: half precision as it stands, but for columns. */
static bool run_packed(struct tn_run *r, struct tn_reals *reals, const struct tn_conv *c, const struct tn_epilogue *e, const struct conv_state *s)
{
    enum tn_float_type type = float_type(r->in[0]->element);
    const float *bias = both_biases(r, reals, e, c->maps);
    const void *residual = e->residual != TN_NET_NONE ? r->in[e->residual]->data : NULL;
    struct tn_three_args three = {c, r->in[0]->data, type, bias, residual, &e->after, r->out[0]->data};
    struct tn_dense_args a = {c, r->in[0]->data, type, bias, &e->after, type, residual, r->out[0]->data};
    if (s->dense && type != TN_FLOAT_F32 && !tn_conv_direct(&c->w)) {
        a.x = tn_reals_in(reals, 0);
        a.x_type = TN_FLOAT_F32;
    }
    if (!tn_reals_good(reals)) return false;
    if (s->line) return tn_line_run(r, s->line, c, r->in[0]->data, bias, &e->after, r->out[0]->data);
    return s->three ? tn_three_run(r, s->three, &three) : s->dense ? tn_dense_run(r, s->dense, &a) : tn_planes_run(r, s->planes, &a);
}

static bool run_conv(struct tn_run *r)
{
    struct tn_conv c;
    struct tn_reals reals;
    struct tn_epilogue e;
    tn_conv_read(r, r->in[0], r->in[1], &c);
    tn_epilogue_read(r->node, &e);
    if (!tn_epilogue_check(r, &e, c.maps)) return false;
    tn_reals_begin(&reals, r, r->in[0]->element);
    if (r->state) {
        if (((const struct conv_state *)r->state)->dense) tn_window_trim(&c.w);
        run_packed(r, &reals, &c, &e, r->state);
        return tn_reals_end(&reals);
    }
    const void *x = tn_reals_in(&reals, 0), *bias = tn_reals_in(&reals, 2), *weights = tn_reals_in(&reals, 1);
    struct tn_conv_finish finish = {&e, tn_reals_in(&reals, e.bias), tn_reals_in(&reals, e.residual)};
    void *y = tn_reals_out(&reals, 0);
    if (tn_reals_good(&reals) && reals.wide) {
        struct conv_f64 k = {&c, x, weights, bias, y};
        tn_run_items(r, c.images * c.maps, c.out_plane * c.depth, conv_planes_f64, &k);
    } else if (tn_reals_good(&reals)) {
        tn_conv_f32(r, &c, x, weights, bias, y, NULL, &finish);
    }
    return tn_reals_end(&reals);
}

static void release_conv(struct tn_alloc *alloc, void *state)
{
    struct conv_state *s = state;
    tn_free(alloc, s->planes);
    tn_free(alloc, s->three);
    tn_free(alloc, s->line);
    tn_free(alloc, s->dense);
    tn_free(alloc, s);
}

static float *widen(struct tn_prepare *p, const struct tn_tensor *w)
{
    size_t bytes;
    if (!tn_element_bytes(TN_EL_F32, w->count, &bytes)) return NULL;
    float *to = tn_malloc_aligned(p->alloc, bytes ? bytes : 1, 64);
    if (to) p->kernels->to_f32(float_type(w->element), w->data, to, w->count);
    return to;
}

/* Windows of 3 x 3 and along lines are transformed, short sums go by planes, all others are products. */
static enum tn_status prepare_conv(struct tn_prepare *p, void **state)
{
    const struct tn_tensor *w = p->in[1];
    struct tn_window window;
    int64_t groups = tn_attr_int(p->node, "group", 1);
    if (!w || w->rank < 3 || w->count == 0 || (w->element != TN_EL_F32 && !is_half(w->element))) return TN_OK;
    if (groups < 1 || w->dims[0] % groups || tn_window_read(p->node, w->rank - 2, &window) || tn_window_kernel(&window, w->dims + 2)) return TN_OK;
    struct conv_state *s = tn_calloc(p->alloc, 1, sizeof(*s));
    if (!s) return TN_INSUFFICIENT_MEMORY;
    if (tn_three_pays(p->node, w)) s->three = tn_three_pack(p, w);
    else if (tn_line_pays(p->node, w)) s->line = tn_line_pack(p, w);
    else if (tn_planes_pay(&window, (uint64_t)(w->dims[0] / groups))) s->planes = widen(p, w);
    else s->dense = tn_dense_pack(p, w, (size_t)groups);
    if (!s->three && !s->line && !s->planes && !s->dense) {
        release_conv(p->alloc, s);
        return TN_INSUFFICIENT_MEMORY;
    }
    p->keep[1] = false;
    *state = s;
    return TN_OK;
}

static const struct tn_operator rows[] = {
    {.name = "Conv", .since = 1, .infer = infer_conv, .run = run_conv, .prepare = prepare_conv, .release = release_conv, .lacks = tn_epilogue_lacks},
};

const struct tn_operators tn_ops_conv = {rows, sizeof(rows) / sizeof(rows[0])};
