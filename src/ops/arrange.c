/*
 * Pad, Tile, DepthToSpace, SpaceToDepth, ReverseSequence, Trilu, OneHot: results whose shape follows from shapes and small
 * operands, filled with elements of an operand or with a given value.
 */
#include "ops/move.h"

#include <string.h>

/* ---- Pad ---------------------------------------------------------------------------------------------------------- */

/* paddings, pads or an operand, by version; the axes they are for (version 18). False: not known yet, or refused. */
static bool pads_of(struct tn_infer *x, uint32_t rank, int64_t *before, int64_t *after)
{
    int64_t pads[TN_CONTENT], axes[TN_CONTENT];
    uint32_t n = 0, m = 0, axis;
    size_t count;
    const int64_t *fixed = tn_attr_ints(x->node, "pads", &count);
    if (!fixed) fixed = tn_attr_ints(x->node, "paddings", &count);
    if (fixed) {
        if (count > TN_CONTENT) return tn_infer_refuse(x, "two pads for each dimension", "%zu", count);
        memcpy(pads, fixed, count * sizeof(*pads));
        n = (uint32_t)count;
    } else if (!tn_in_numbers(x, 1, pads, TN_CONTENT, &n)) {
        return false;
    }
    bool some = tn_in_given(x, 3);
    if (some && !tn_in_numbers(x, 3, axes, TN_CONTENT, &m)) return false;
    if (n != 2 * (some ? m : rank)) return tn_infer_refuse(x, "two pads for each dimension", "%u for %u", n, some ? m : rank);
    for (uint32_t i = 0; i < rank; i++) before[i] = after[i] = 0;
    for (uint32_t i = 0; i < n / 2; i++) {
        if (!tn_infer_axis(x, some ? axes[i] : (int64_t)i, rank, &axis)) return false;
        before[axis] = pads[i];
        after[axis] = pads[n / 2 + i];
    }
    return true;
}

static bool infer_pad(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    int64_t before[TN_RANK], after[TN_RANK];
    if (!t) return true;
    tn_out_unknown(x, 0, t->element);
    if (!t->shape.known) return true;
    struct tn_type out = *t;
    bool known = pads_of(x, t->shape.rank, before, after);
    if (x->failed) return false;
    for (uint32_t i = 0; i < t->shape.rank; i++) {
        int64_t sum;
        if (!known) {
            out.shape.dims[i] = tn_dim_unknown(x->symbols);
            continue;
        }
        if (__builtin_add_overflow(before[i], after[i], &sum)) return tn_infer_refuse(x, "pads that can be", "pads of %lld and %lld", (long long)before[i], (long long)after[i]);
        tn_dim_t d = t->shape.dims[i];
        if (tn_dim_known(d) && (__builtin_add_overflow(d, sum, &sum) || sum < 0)) return tn_infer_refuse(x, "pads that leave something", "%lld and %lld at %lld", (long long)before[i], (long long)after[i], (long long)d);
        if (tn_dim_known(d)) out.shape.dims[i] = sum;
        else if (sum) out.shape.dims[i] = sum > 0 ? tn_dim_add(x->symbols, d, sum) : tn_dim_sub(x->symbols, d, -sum);
    }
    tn_out_type(x, 0, &out);
    return true;
}

enum pad_mode { CONSTANT, REFLECT, EDGE, WRAP };

/* Where position p of the padded dimension comes from in [0, n); -1: from the value. */
static int64_t source_of(enum pad_mode mode, int64_t p, int64_t n)
{
    if (p >= 0 && p < n) return p;
    if (mode == CONSTANT || n == 0) return -1;
    if (mode == EDGE) return p < 0 ? 0 : n - 1;
    if (mode == WRAP) return (p % n + n) % n;
    if (n == 1) return 0;
    int64_t period = 2 * (n - 1), q = (p % period + period) % period;
    return q < n ? q : period - q;
}

struct padding {
    const struct tn_tensor *x;
    struct tn_tensor *y;
    enum pad_mode mode;
    int64_t before[TN_RANK], strides[TN_RANK];
    const void *value;
    size_t size;
};

/* Items are rows of the result's last dimension. */
static void pad_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct padding *p = user;
    const struct tn_tensor *x = p->x, *y = p->y;
    uint32_t last = y->rank - 1;
    int64_t width = y->dims[last];
    for (uint64_t row = begin; row < end; row++) {
        char *to = (char *)y->data + row * (uint64_t)width * p->size;
        int64_t from = 0;
        uint64_t rest = row;
        bool inside = true;
        for (uint32_t d = last; d-- > 0;) {
            int64_t at = source_of(p->mode, (int64_t)(rest % (uint64_t)y->dims[d]) - p->before[d], x->dims[d]);
            rest /= (uint64_t)y->dims[d];
            inside = inside && at >= 0;
            from += at * p->strides[d];
        }
        for (int64_t i = 0; i < width; i++) {
            int64_t at = inside ? source_of(p->mode, i - p->before[last], x->dims[last]) : -1;
            memcpy(to + (size_t)i * p->size, at < 0 ? p->value : (const char *)x->data + (size_t)(from + at) * p->size, p->size);
        }
    }
}

static bool pad_mode_of(struct tn_run *r, enum pad_mode *out)
{
    struct tn_str mode = tn_attr_text(r->node, "mode");
    if (mode.n == 0 || tn_str_is(mode, "constant")) *out = CONSTANT;
    else if (tn_str_is(mode, "reflect")) *out = REFLECT;
    else if (tn_str_is(mode, "edge")) *out = EDGE;
    else if (tn_str_is(mode, "wrap")) *out = WRAP;
    else return tn_run_refuse(r, "constant, reflect, edge or wrap", "%.*s", (int)(mode.n > 64 ? 64 : mode.n), mode.s);
    return true;
}

/* An infer over the operands of a run, for what both compute alike. */
struct again {
    struct tn_infer x;
    const struct tn_tensor *data[8];
    struct tn_type types[8];
    const struct tn_type *type_of[8];
};

static void begin_again(struct again *a, const struct tn_run *r)
{
    memset(a, 0, sizeof(*a));
    for (uint32_t i = 0; i < r->in_count && i < 8; i++) {
        a->data[i] = r->in[i];
        a->type_of[i] = r->in[i] ? &a->types[i] : NULL;
    }
    a->x = (struct tn_infer){.node = r->node, .in_count = r->in_count < 8 ? r->in_count : 8, .types = a->type_of, .data = a->data,
                             .running = true, .why = r->why};
}

static bool run_pad(struct tn_run *r)
{
    struct padding p = {.x = r->in[0], .y = r->out[0]};
    struct again a;
    int64_t after[TN_RANK];
    union {
        uint64_t words[2];
        unsigned char bytes[16];
    } value = {{0, 0}};
    begin_again(&a, r);
    if (!tn_move_size(r, p.x->element, &p.size) || !pad_mode_of(r, &p.mode) || !pads_of(&a.x, p.x->rank, p.before, after)) return false;
    const struct tn_attr *fixed = tn_node_attr(r->node, "value");
    if (fixed) tn_element_set(p.x->element, value.bytes, 0, fixed->as.f, false);
    p.value = r->in_count > 2 && r->in[2] && r->in[2]->count ? r->in[2]->data : value.bytes;
    tn_strides(p.x->dims, p.x->rank, p.strides);
    if (p.y->rank == 0) memcpy(p.y->data, p.x->data, p.size);
    else if (p.y->count) tn_run_items(r, p.y->count / (uint64_t)p.y->dims[p.y->rank - 1], (uint64_t)p.y->dims[p.y->rank - 1] * 4, pad_rows, &p);
    return tn_move_done(r, p.y);
}

/* ---- Tile --------------------------------------------------------------------------------------------------------- */

/* Version 1 tiles one axis `tiles` times; both are operands. */
static bool repeats_of(struct tn_infer *x, uint32_t rank, int64_t *out)
{
    int64_t axis[TN_CONTENT], times[TN_CONTENT];
    uint32_t n, m, found;
    if (x->node->version >= 6) {
        if (!tn_in_numbers(x, 1, out, TN_RANK, &n)) return false;
        return n == rank || tn_infer_refuse(x, "a count for each dimension", "%u for %u", n, rank);
    }
    if (!tn_in_numbers(x, 1, times, TN_CONTENT, &n) || !tn_in_numbers(x, 2, axis, TN_CONTENT, &m)) return false;
    if (n != 1 || m != 1) return tn_infer_refuse(x, "one count and one axis", "%u and %u", n, m);
    if (!tn_infer_axis(x, axis[0], rank, &found)) return false;
    for (uint32_t i = 0; i < rank; i++) out[i] = i == found ? times[0] : 1;
    return true;
}

static bool infer_tile(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    int64_t times[TN_RANK];
    if (!t) return true;
    tn_out_unknown(x, 0, t->element);
    if (!t->shape.known) return true;
    struct tn_type out = *t;
    bool known = repeats_of(x, t->shape.rank, times);
    if (x->failed) return false;
    for (uint32_t i = 0; i < t->shape.rank; i++) {
        if (known && times[i] < 0) return tn_infer_refuse(x, "counts that are not negative", "%lld", (long long)times[i]);
        out.shape.dims[i] = known ? tn_dim_mul(x->symbols, t->shape.dims[i], times[i]) : tn_dim_unknown(x->symbols);
        if (x->running && !tn_dim_known(out.shape.dims[i])) return tn_infer_refuse(x, "a size that can be", "%lld times %lld", (long long)times[i], (long long)t->shape.dims[i]);
    }
    tn_out_type(x, 0, &out);
    return true;
}

static bool run_tile(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *y = r->out[0];
    int64_t from[TN_RANK], to[TN_RANK];
    size_t size;
    if (!tn_move_size(r, x->element, &size)) return false;
    tn_strides(x->dims, x->rank, from);
    tn_strides(y->dims, y->rank, to);
    /* one copy for each position of the operand inside the result */
    uint64_t copies = x->count ? y->count / x->count : 0;
    for (uint64_t c = 0; c < copies; c++) {
        struct tn_move m = {.x = x->data, .y = y->data, .rank = x->rank};
        uint64_t rest = c;
        for (uint32_t d = x->rank; d-- > 0;) {
            uint64_t times = (uint64_t)(y->dims[d] / x->dims[d]);
            m.y_begin += (int64_t)(rest % times) * x->dims[d] * to[d];
            rest /= times;
            m.dims[d] = x->dims[d];
            m.x_stride[d] = from[d];
            m.y_stride[d] = to[d];
        }
        tn_move(r, m, size);
    }
    return tn_move_done(r, y);
}

/* ---- DepthToSpace and SpaceToDepth -------------------------------------------------------------------------------- */

static bool infer_blocks(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    int64_t b = tn_attr_int(x->node, "blocksize", 1);
    bool to_space = tn_str_is(x->node->type, "DepthToSpace");
    if (!t) return true;
    tn_out_unknown(x, 0, t->element);
    if (b < 1 || b > 1 << 15) return tn_infer_refuse(x, "a blocksize of 1 or more", "%lld", (long long)b);
    if (!t->shape.known) return true;
    if (t->shape.rank != 4) return tn_infer_refuse(x, "an operand [N, C, H, W]", "rank %u", t->shape.rank);
    struct tn_type out = *t;
    const tn_dim_t *d = t->shape.dims;
    for (uint32_t i = 1; i < 4; i++) {
        bool grows = (i > 1) == to_space;
        int64_t by = i > 1 ? b : b * b;
        if (!grows && tn_dim_known(d[i]) && d[i] % by) return tn_infer_refuse(x, "dimensions that the blocks divide", "%lld by %lld", (long long)d[i], (long long)by);
        out.shape.dims[i] = grows ? tn_dim_mul(x->symbols, d[i], by) : tn_dim_div(x->symbols, d[i], by);
    }
    tn_out_type(x, 0, &out);
    return true;
}

static bool run_blocks(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *y = r->out[0];
    bool to_space = tn_str_is(r->node->type, "DepthToSpace"), crd = tn_str_is(tn_attr_text(r->node, "mode"), "CRD");
    int64_t b = tn_attr_int(r->node, "blocksize", 1);
    const struct tn_tensor *deep = to_space ? x : y, *wide = to_space ? y : x;
    int64_t c = wide->dims[1], h = deep->dims[2], w = deep->dims[3], plane = h * w;
    /* n, c, i, j, h, w: block row i and column j of channel c; DCR has the blocks in front of the channels */
    int64_t deep_stride[6] = {deep->dims[1] * plane, crd ? b * b * plane : plane, crd ? b * plane : b * c * plane, crd ? plane : c * plane, w, 1};
    int64_t wide_stride[6] = {c * plane * b * b, plane * b * b, w * b, 1, w * b * b, b};
    struct tn_move m = {.x = x->data, .y = y->data, .rank = 6, .dims = {x->dims[0], c, b, b, h, w}};
    size_t size;
    if (!tn_move_size(r, x->element, &size)) return false;
    memcpy(m.x_stride, to_space ? deep_stride : wide_stride, sizeof(deep_stride));
    memcpy(m.y_stride, to_space ? wide_stride : deep_stride, sizeof(deep_stride));
    tn_move(r, m, size);
    return tn_move_done(r, y);
}

/* ---- ReverseSequence ---------------------------------------------------------------------------------------------- */

static bool infer_reverse(struct tn_infer *x)
{
    const struct tn_shape *s;
    int64_t batch = tn_attr_int(x->node, "batch_axis", 1), time = tn_attr_int(x->node, "time_axis", 0);
    if (tn_in_shape(x, 0, &s) && (s->rank < 2 || batch + time != 1 || batch < 0 || time < 0)) return tn_infer_refuse(x, "batch and time as axes 0 and 1", "%lld and %lld of rank %u", (long long)batch, (long long)time, s->rank);
    const struct tn_shape *n;
    if (x->running && tn_in_shape(x, 1, &n) && (n->rank != 1 || n->dims[0] != s->dims[batch])) return tn_infer_refuse(x, "a length for each of the batch", "another number");
    return tn_infer_same(x);
}

static bool run_reverse(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *y = r->out[0];
    int64_t batch = tn_attr_int(r->node, "batch_axis", 1), time = tn_attr_int(r->node, "time_axis", 0), strides[TN_RANK];
    size_t size, bytes;
    if (!tn_move_size(r, x->element, &size)) return false;
    tn_strides(x->dims, x->rank, strides);
    bytes = (size_t)strides[1] * size;
    for (int64_t b = 0; b < x->dims[batch]; b++) {
        int64_t n = tn_run_int(r, 1, (uint64_t)b);
        if (n < 0 || n > x->dims[time]) return tn_run_refuse(r, "lengths inside the sequences", "%lld of %lld", (long long)n, (long long)x->dims[time]);
        for (int64_t t = 0; t < x->dims[time]; t++) {
            int64_t from = t < n ? n - 1 - t : t;
            memcpy((char *)y->data + (size_t)(b * strides[batch] + t * strides[time]) * size,
                   (const char *)x->data + (size_t)(b * strides[batch] + from * strides[time]) * size, bytes);
        }
    }
    return tn_move_done(r, y);
}

/* ---- Trilu -------------------------------------------------------------------------------------------------------- */

static bool infer_trilu(struct tn_infer *x)
{
    const struct tn_shape *s;
    if (tn_in_shape(x, 0, &s) && s->rank < 2) return tn_infer_refuse(x, "matrices", "rank %u", s->rank);
    return tn_infer_same(x);
}

static bool run_trilu(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *y = r->out[0];
    int64_t k = r->in_count > 1 && r->in[1] ? tn_run_int(r, 1, 0) : 0;
    bool upper = tn_attr_int(r->node, "upper", 1) != 0;
    int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1];
    size_t size;
    if (!tn_move_size(r, x->element, &size)) return false;
    for (uint64_t row = 0; columns && row < x->count / (uint64_t)columns; row++) {
        int64_t i = (int64_t)(row % (uint64_t)rows);
        /* columns from i + k on belong to the upper part, up to it to the lower */
        int64_t border = k > columns ? columns : k < -rows ? -rows : k;
        int64_t first = upper ? i + border : 0, last = upper ? columns : i + border + 1;
        first = first < 0 ? 0 : first > columns ? columns : first;
        last = last < 0 ? 0 : last > columns ? columns : last;
        char *to = (char *)y->data + row * (uint64_t)columns * size;
        const char *from = (const char *)x->data + row * (uint64_t)columns * size;
        memset(to, 0, (size_t)columns * size);
        if (last > first) memcpy(to + (size_t)first * size, from + (size_t)first * size, (size_t)(last - first) * size);
    }
    return true;
}

/* ---- OneHot ------------------------------------------------------------------------------------------------------- */

static bool infer_one_hot(struct tn_infer *x)
{
    const struct tn_type *i = tn_in_type(x, 0), *v = tn_in_type(x, 2);
    const struct tn_tensor *depth = tn_in_data(x, 1);
    uint32_t axis;
    if (!i || !v) return true;
    tn_out_unknown(x, 0, v->element);
    if (!i->shape.known) return true;
    if (i->shape.rank + 1 > TN_RANK) return tn_infer_refuse(x, "at most 8 dimensions", "%u", i->shape.rank + 1);
    if (!tn_infer_axis(x, tn_attr_int(x->node, "axis", -1), i->shape.rank + 1, &axis)) return false;
    struct tn_type out = {.kind = TN_KIND_TENSOR, .element = v->element, .shape = {.known = true, .rank = i->shape.rank + 1}};
    for (uint32_t k = 0, from = 0; k < out.shape.rank; k++) out.shape.dims[k] = k == axis ? tn_dim_unknown(x->symbols) : i->shape.dims[from++];
    if (depth) {
        if (depth->count != 1 || depth->rank > 1 || tn_element_get_int(depth->element, depth->data, 0) < 0) return tn_infer_refuse(x, "one depth that is not negative", "another");
        out.shape.dims[axis] = tn_element_get_int(depth->element, depth->data, 0);
    }
    tn_out_type(x, 0, &out);
    return true;
}

static bool run_one_hot(struct tn_run *r)
{
    struct tn_tensor *i = r->in[0], *v = r->in[2], *y = r->out[0];
    int64_t axis = tn_attr_int(r->node, "axis", -1);
    size_t size;
    if (!tn_move_size(r, v->element, &size)) return false;
    if (v->count != 2) return tn_run_refuse(r, "two values, off and on", "%llu", (unsigned long long)v->count);
    axis = axis < 0 ? axis + y->rank : axis;
    int64_t depth = y->dims[axis];
    uint64_t inner = 1;
    for (uint32_t k = (uint32_t)axis + 1; k < y->rank; k++) inner *= (uint64_t)y->dims[k];
    for (uint64_t k = 0; k < y->count; k++) memcpy((char *)y->data + k * size, v->data, size);
    for (uint64_t k = 0; k < i->count; k++) {
        int64_t at = tn_element_get_int(i->element, i->data, k);
        at = at < 0 ? at + depth : at;
        if (at < 0 || at >= depth) continue; /* nothing is on */
        uint64_t to = (k / inner * (uint64_t)depth + (uint64_t)at) * inner + k % inner;
        memcpy((char *)y->data + to * size, (const char *)v->data + size, size);
    }
    return tn_move_done(r, y);
}

static const struct tn_operator rows[] = {
    {.name = "Pad", .since = 1, .infer = infer_pad, .run = run_pad},
    {.name = "Pad", .domain = "com.microsoft", .since = 1, .infer = infer_pad, .run = run_pad},
    {.name = "Tile", .since = 1, .infer = infer_tile, .run = run_tile},
    {.name = "DepthToSpace", .since = 1, .infer = infer_blocks, .run = run_blocks},
    {.name = "SpaceToDepth", .since = 1, .infer = infer_blocks, .run = run_blocks},
    {.name = "ReverseSequence", .since = 10, .infer = infer_reverse, .run = run_reverse},
    {.name = "Trilu", .since = 14, .infer = infer_trilu, .run = run_trilu},
    {.name = "Trilu", .domain = "com.microsoft", .since = 1, .infer = infer_trilu, .run = run_trilu},
    {.name = "OneHot", .since = 9, .infer = infer_one_hot, .run = run_one_hot},
};

const struct tn_operators tn_ops_arrange = {rows, sizeof(rows) / sizeof(rows[0])};
