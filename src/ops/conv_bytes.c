/*
 * The layout of 8-bit images and the walk over their positions; see the header. Shapes have been checked by inference;
 * sizes made here are checked again. The surprising decision: positions are walked in one line, across the ends of rows;
 * what falls between two rows is computed and dropped, which costs less than short vectors at each row's end.
 *
 * The kernels multiply unsigned with signed bytes: a' = a + 128 of signed images, w' = w - 128 of unsigned weights, zero
 * points alike. With them, over a window of K products,
 *
 *     sum of (a - za) (w - zw) = sum of a' w' - za' (sum of w') - zw' (sum of a') + K za' zw'
 *
 * and the sum of a' is one more map, whose weights are ones.
 */
#include "ops/conv_bytes.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- weights ------------------------------------------------------------------------------------------------------ */

struct tn_byte_weights {
    bool turned;
    size_t group_bytes;
    int32_t *sums; /* [maps] of w' */
    char *packed;  /* by group */
};

static size_t quads_of(uint64_t channels)
{
    return (size_t)(channels / 4 + (channels % 4 != 0));
}

enum { HEAD = 64 };
_Static_assert(sizeof(struct tn_byte_weights) <= HEAD, "the head stands in front of the sums");

bool tn_byte_weights_size(const struct tn_kernels *kernels, uint64_t groups, uint64_t each_maps, uint64_t each_channels, uint64_t taps,
                          size_t *bytes)
{
    size_t one, sums, all;
    return kernels->bytes_window_pack_size((size_t)each_maps + 1, quads_of(each_channels), (size_t)taps, &one) &&
           tn_mul((size_t)groups, (size_t)each_maps * sizeof(int32_t), &sums) && tn_round_up(sums, 64, &sums) &&
           tn_mul(one, (size_t)groups + 1, &all) && tn_add(all, sums, &all) && tn_add(all, HEAD, bytes);
}

void tn_byte_weights_fill(const struct tn_kernels *kernels, const uint8_t *w, bool turned, uint64_t groups, uint64_t each_maps,
                          uint64_t each_channels, uint64_t taps, struct tn_byte_weights *room)
{
    const size_t quads = quads_of(each_channels), row = quads * 4 * (size_t)taps;
    const uint8_t flip = turned ? 0x80 : 0;
    room->turned = turned;
    kernels->bytes_window_pack_size((size_t)each_maps + 1, quads, (size_t)taps, &room->group_bytes);
    room->sums = (int32_t *)((char *)room + HEAD);
    room->packed = (char *)room->sums + (groups * each_maps * sizeof(int32_t) + 63) / 64 * 64;
    int8_t *plain = (int8_t *)room->packed + groups * room->group_bytes;
    for (uint64_t g = 0; g < groups; g++) {
        memset(plain, 0, room->group_bytes);
        for (uint64_t m = 0; m < each_maps; m++) {
            int32_t sum = 0;
            for (uint64_t i = 0; i < each_channels * taps; i++) {
                int8_t v = (int8_t)(*w++ ^ flip);
                plain[m * row + i] = v;
                sum += v;
            }
            room->sums[g * each_maps + m] = sum;
        }
        memset(plain + each_maps * row, 1, each_channels * taps);
        kernels->bytes_window_pack(plain, (size_t)each_maps + 1, quads, (size_t)taps, room->packed + g * room->group_bytes);
    }
}

/* ---- layout ------------------------------------------------------------------------------------------------------- */

struct side {
    uint64_t in, out, kernel, stride, dilation, phase; /* phase: words or rows of one phase */
    int64_t begin;
};

struct walk {
    const struct tn_conv_bytes *j;
    const struct tn_kernels *kernels;
    struct side y, x;
    uint64_t image, group, quads, plane, count; /* words of a quad; positions */
    uint64_t block, blocks;
    size_t *offset; /* [taps] */
    uint8_t *words;
    uint8_t flip, pad;
    int32_t zero; /* za' */
    struct tn_conv_finish finish; /* what is left behind scales and bias; e NULL: nothing */
    char *room;
    size_t share_bytes;
};

static struct side side_of(const struct tn_window *w, uint32_t rank, uint32_t i)
{
    if (i >= rank) return (struct side){1, 1, 1, 1, 1, 1, 0};
    struct side s = {(uint64_t)w->in[i], (uint64_t)w->out[i], (uint64_t)w->kernel[i], (uint64_t)w->stride[i], (uint64_t)w->dilation[i], 0, w->begin[i]};
    uint64_t reach = (s.out - 1) * s.stride + (s.kernel - 1) * s.dilation + 1;
    s.phase = (reach + s.stride - 1) / s.stride;
    return s;
}

bool tn_conv_bytes_can(const struct tn_conv *c)
{
    return c->w.rank <= 2 && c->each_channels > 1 && c->out_plane > 0 && c->depth > 0 && c->depth < ((uint64_t)1 << 31);
}

static bool lay_out(struct tn_run *r, struct walk *k)
{
    const struct tn_conv *c = k->j->c;
    const struct tn_window *w = &c->w;
    k->y = w->rank == 2 ? side_of(w, 2, 0) : side_of(w, 0, 0);
    k->x = side_of(w, w->rank, w->rank - 1);
    k->quads = quads_of(c->each_channels);
    size_t words;
    if (!tn_mul((size_t)k->y.phase, (size_t)k->x.phase, &words) || !tn_mul(words, (size_t)(k->y.stride * k->x.stride), &words)) return tn_run_no_memory(r);
    k->plane = words;
    k->count = (k->y.out - 1) * k->x.phase + k->x.out;
    if (!tn_mul(words, (size_t)k->quads, &words) || !tn_add(words, 2 * TN_BYTES_SLACK, &words)) return tn_run_no_memory(r);
    k->words = tn_run_scratch(r, words, 4);
    k->offset = tn_run_scratch(r, (size_t)c->taps, sizeof(*k->offset));
    if (!k->words || !k->offset) return false;
    memset(k->words + (words - 2 * TN_BYTES_SLACK) * 4, 0, 2 * TN_BYTES_SLACK * 4);
    for (uint64_t t = 0; t < c->taps; t++) {
        uint64_t dy = t / k->x.kernel * k->y.dilation, dx = t % k->x.kernel * k->x.dilation;
        uint64_t phase = dy % k->y.stride * k->x.stride + dx % k->x.stride;
        k->offset[t] = (phase * k->y.phase + dy / k->y.stride) * k->x.phase + dx / k->x.stride;
    }
    return true;
}

/* Words of a row from up to four planes; columns [lo, hi) lie inside the image, `at` is where column lo reads. */
static void fill_words(const uint8_t *const plane[4], unsigned planes, uint64_t at, uint64_t stride, uint64_t lo, uint64_t hi, uint8_t flip, uint8_t *to)
{
    to += lo * 4;
    if (planes == 4 && stride == 1) {
        const uint8_t *a = plane[0] + at, *b = plane[1] + at, *c = plane[2] + at, *d = plane[3] + at;
        for (uint64_t i = 0; i < hi - lo; i++) {
            to[4 * i] = a[i] ^ flip;
            to[4 * i + 1] = b[i] ^ flip;
            to[4 * i + 2] = c[i] ^ flip;
            to[4 * i + 3] = d[i] ^ flip;
        }
        return;
    }
    for (unsigned p = 0; p < planes; p++) {
        const uint8_t *a = plane[p] + at;
        for (uint64_t i = 0; i < hi - lo; i++) to[4 * i + p] = a[i * stride] ^ flip;
    }
}

/* Items are rows of the layout: quad, phase down, phase across, row. */
static void fill_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct walk *k = user;
    const struct tn_conv *c = k->j->c;
    const struct side *sy = &k->y, *sx = &k->x;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t row = i % sy->phase, phase = i / sy->phase % (sy->stride * sx->stride), quad = i / sy->phase / (sy->stride * sx->stride);
        int64_t y = (int64_t)(row * sy->stride + phase / sx->stride) - sy->begin, first = (int64_t)(phase % sx->stride) - sx->begin;
        uint8_t *to = k->words + i * sx->phase * 4;
        memset(to, k->pad, sx->phase * 4);
        if (y < 0 || y >= (int64_t)sy->in) continue;
        int64_t stride = (int64_t)sx->stride, lo = first < 0 ? (-first + stride - 1) / stride : 0;
        int64_t hi = (int64_t)sx->in > first ? ((int64_t)sx->in - first + stride - 1) / stride : 0;
        if (hi > (int64_t)sx->phase) hi = (int64_t)sx->phase;
        if (lo >= hi) continue;
        const uint8_t *plane[4];
        unsigned planes = c->each_channels - quad * 4 < 4 ? (unsigned)(c->each_channels - quad * 4) : 4;
        const uint8_t *base = (const uint8_t *)k->j->x->data + (k->image * c->channels + k->group * c->each_channels + quad * 4) * c->in_plane;
        for (unsigned p = 0; p < planes; p++) plane[p] = base + p * c->in_plane + (uint64_t)y * sx->in;
        fill_words(plane, planes, (uint64_t)(first + lo * stride), sx->stride, (uint64_t)lo, (uint64_t)hi, k->flip, to);
    }
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

static void to_bytes(const struct tn_conv_bytes *j, const int32_t *sums, uint64_t n, uint64_t map, uint8_t *y)
{
    float low = (float)((j->y_signed ? -128 : 0) - j->y_zero), high = low + 255;
    float factor = j->scale[0][0] * j->scale[1][j->scales[1] == 1 ? 0 : map] / j->y_scale;
    uint32_t bias = j->bias ? (uint32_t)j->bias[map] : 0;
    for (uint64_t i = 0; i < n; i++) {
        float v = nearbyintf((float)(int32_t)((uint32_t)sums[i] + bias) * factor);
        v = v > low ? v : low; /* NaN too */
        v = v < high ? v : high;
        y[i] = (uint8_t)((int32_t)v + j->y_zero);
    }
}

/* n sums of a map, from its position `at` on: sums + all - zw * ones. */
static void give(const struct walk *k, int32_t *sums, const int32_t *ones, uint64_t n, uint64_t map, uint64_t at, uint32_t all, uint32_t zw)
{
    const struct tn_conv_bytes *j = k->j;
    uint64_t place = (k->image * j->c->maps + map) * j->c->out_plane + at;
    if (j->to == TN_BYTES_TO_F32) {
        struct tn_sums_args a = {.sums = sums, .y = (float *)j->y + place, .count = n, .add = all, .factor = {0 - zw}, .times = {zw ? ones : NULL},
                                 .scale = j->scale[0][j->scales[0] == 1 ? 0 : map] * j->scale[1][j->scales[1] == 1 ? 0 : map],
                                 .bias = j->finish && j->finish->bias ? j->finish->bias[map] : 0};
        k->kernels->from_sums(&a);
        if (k->finish.e) tn_conv_finish(&k->finish, j->c, k->kernels, j->y, k->image, map, 1, at, n);
        return;
    }
    for (uint64_t i = 0; i < n; i++) sums[i] = (int32_t)((uint32_t)sums[i] + all - zw * (uint32_t)ones[i]);
    if (j->to == TN_BYTES_TO_I32) memcpy((int32_t *)j->y + place, sums, n * sizeof(*sums));
    else to_bytes(j, sums, n, map, (uint8_t *)j->y + place);
}

static void run_block(const struct walk *k, uint64_t item, int32_t *sums)
{
    const struct tn_conv *c = k->j->c;
    uint64_t from = item * k->block, n = k->count - from < k->block ? k->count - from : k->block;
    struct tn_bytes_window_args a = {.x = k->words + from * 4, .plane = k->plane, .quads = k->quads, .taps = c->taps, .offset = k->offset,
                                     .packed = k->j->w->packed + k->group * k->j->w->group_bytes, .maps = c->each_maps + 1, .count = n,
                                     .sums = sums, .sums_stride = k->block};
    k->kernels->bytes_window(&a);
    const struct tn_tensor *z = k->j->w_zero;
    for (uint64_t m = 0; m < c->each_maps; m++) {
        uint64_t map = k->group * c->each_maps + m;
        int32_t zero = z ? (int32_t)tn_element_get_int(z->element, z->data, z->count == 1 ? 0 : map) : 0;
        uint32_t zw = (uint32_t)(zero - (k->j->w->turned ? 128 : 0)), za = (uint32_t)k->zero;
        uint32_t all = (uint32_t)c->depth * za * zw - za * (uint32_t)k->j->w->sums[map];
        int32_t *row = sums + m * k->block, *ones = sums + c->each_maps * k->block;
        for (uint64_t p = from; p < from + n;) {
            uint64_t y = p / k->x.phase, x = p % k->x.phase, end = (y + 1) * k->x.phase < from + n ? (y + 1) * k->x.phase : from + n;
            uint64_t last = y * k->x.phase + k->x.out < end ? y * k->x.phase + k->x.out : end;
            if (p < last) give(k, row + (p - from), ones + (p - from), last - p, map, y * k->x.out + x, all, zw);
            p = end;
        }
    }
}

static void block_member(void *user, unsigned rank, unsigned size)
{
    const struct walk *k = user;
    size_t begin, end;
    tn_share((size_t)k->blocks, rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) run_block(k, i, (int32_t *)(void *)(k->room + rank * k->share_bytes));
}

/* Blocks of whole vectors whose sums stay in the L2 cache; at least some for each thread. */
static void choose_block(struct walk *k)
{
    uint64_t block = ((uint64_t)1 << 16) / (k->j->c->each_maps + 1) / 64 * 64, fair = (k->count / 8 + 63) / 64 * 64;
    if (block > 2048) block = 2048;
    if (block > fair) block = fair;
    k->block = block < 64 ? 64 : block;
    k->blocks = (k->count + k->block - 1) / k->block;
}

bool tn_conv_bytes(struct tn_run *r, const struct tn_conv_bytes *j)
{
    const struct tn_conv *c = j->c;
    bool is_signed = j->x->element == TN_EL_I8;
    struct walk k = {.j = j, .kernels = r->kernels, .flip = is_signed ? 0x80 : 0, .zero = j->x_zero + (is_signed ? 128 : 0)};
    k.pad = (uint8_t)k.zero;
    if (j->finish && (j->finish->residual || j->finish->e->after.kind != TN_FINISH_NONE || j->finish->e->after.line))
        k.finish = (struct tn_conv_finish){.e = j->finish->e, .residual = j->finish->residual};
    if (lay_out(r, &k)) {
        choose_block(&k);
        unsigned want = r->threads < k.blocks ? r->threads : (unsigned)k.blocks;
        k.share_bytes = (size_t)((c->each_maps + 1) * k.block * sizeof(int32_t));
        k.room = tn_run_scratch(r, k.share_bytes, want);
        bool little = k.count * c->each_maps < ((uint64_t)1 << 20) / c->depth;
        for (uint64_t i = 0; k.room && i < c->images * c->groups; i++) {
            k.image = i / c->groups;
            k.group = i % c->groups;
            tn_run_items(r, k.quads * k.y.stride * k.x.stride * k.y.phase, k.x.phase, fill_rows, &k);
            tn_pool_run(little ? NULL : r->pool, block_member, &k, want);
        }
    }
    tn_heap_give(r->heap, k.room);
    tn_heap_give(r->heap, k.offset);
    tn_heap_give(r->heap, k.words);
    return !r->failed;
}
