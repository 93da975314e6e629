/* Sequences and optionals: values that hold values. */
#include "ops/move.h"

#include <string.h>

static const struct tn_type *item_type(const struct tn_type *t)
{
    return t && (t->kind == TN_KIND_SEQUENCE || t->kind == TN_KIND_OPTIONAL) ? t->of : NULL;
}

static const struct tn_type *copied(struct tn_infer *x, const struct tn_type *t)
{
    struct tn_type *copy = x->arena ? tn_arena_alloc(x->arena, sizeof(*copy)) : NULL;
    if (!copy) {
        if (x->arena) x->symbols->failed = true;
        return NULL;
    }
    *copy = *t;
    return copy;
}

/* A sequence or optional of values like this one; items of a sequence differ in their dimensions. */
static void out_holding(struct tn_infer *x, enum tn_tensor_kind kind, const struct tn_type *of)
{
    struct tn_type item = of ? *of : (struct tn_type){.kind = TN_KIND_NONE};
    if (x->running) return;
    if (kind == TN_KIND_SEQUENCE) item.shape.known = false;
    tn_out_type(x, 0, &(struct tn_type){.kind = kind, .of = copied(x, &item)});
}

static bool put_group(struct tn_run *r, enum tn_tensor_kind kind, struct tn_tensor *const *items, uint64_t count, enum tn_element e)
{
    struct tn_tensor *t = tn_tensor_group(r->heap, kind, items, count);
    if (!t) return tn_run_no_memory(r);
    t->element = e;
    tn_tensor_drop(r->out[0]);
    r->out[0] = t;
    return true;
}

/* A position in a sequence of n items, negative ones from its end; `end`: one behind the last is a position too. */
static bool position(struct tn_run *r, uint32_t operand, uint64_t n, bool end, uint64_t *out)
{
    int64_t count = (int64_t)n, at = operand < r->in_count && r->in[operand] ? tn_run_int(r, operand, 0) : end ? count : count - 1;
    if (at < -count || at >= count + end) return tn_run_refuse(r, "a position in the sequence", "%lld of %lld", (long long)at, (long long)count);
    *out = (uint64_t)(at < 0 ? at + count : at);
    return true;
}

/* ---- sequences ---------------------------------------------------------------------------------------------------- */

static bool infer_empty(struct tn_infer *x)
{
    struct tn_type item = {.kind = TN_KIND_TENSOR, .element = (enum tn_element)tn_attr_int(x->node, "dtype", TN_EL_F32)};
    if (item.element <= TN_EL_NONE || item.element >= TN_EL_COUNT) return tn_infer_refuse(x, "an element type", "%d", (int)item.element);
    out_holding(x, TN_KIND_SEQUENCE, &item);
    return true;
}

static bool run_empty(struct tn_run *r)
{
    return put_group(r, TN_KIND_SEQUENCE, NULL, 0, (enum tn_element)tn_attr_int(r->node, "dtype", TN_EL_F32));
}

static bool infer_construct(struct tn_infer *x)
{
    out_holding(x, TN_KIND_SEQUENCE, tn_in_type(x, 0));
    return true;
}

static bool run_construct(struct tn_run *r)
{
    return put_group(r, TN_KIND_SEQUENCE, r->in, r->in_count, r->in_count ? r->in[0]->element : TN_EL_NONE);
}

static bool infer_at(struct tn_infer *x)
{
    const struct tn_type *item = item_type(tn_in_type(x, 0));
    if (!x->running && item) tn_out_type(x, 0, item);
    return true;
}

static bool run_at(struct tn_run *r)
{
    uint64_t at = 0;
    if (!position(r, 1, r->in[0]->count, false, &at)) return false;
    tn_run_pass(r, 0, r->in[0]->items[at]);
    return true;
}

static bool infer_length(struct tn_infer *x)
{
    tn_out_tensor(x, 0, TN_EL_I64, 0, NULL);
    return true;
}

static bool run_length(struct tn_run *r)
{
    ((int64_t *)r->out[0]->data)[0] = (int64_t)r->in[0]->count;
    return true;
}

static bool infer_edit(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    if (!x->running && t) tn_out_type(x, 0, t);
    return true;
}

/* The sequence without item `at`, or with `item` in front of it. */
static bool edit(struct tn_run *r, uint64_t at, struct tn_tensor *item)
{
    const struct tn_tensor *s = r->in[0];
    uint64_t count = item ? s->count + 1 : s->count - 1;
    struct tn_tensor **items = tn_run_scratch(r, (size_t)count + 1, sizeof(*items));
    if (!items) return false;
    for (uint64_t i = 0, from = 0; i < count; i++) {
        if (!item && from == at) from++;
        items[i] = item && i == at ? item : s->items[from++];
    }
    bool good = put_group(r, TN_KIND_SEQUENCE, items, count, item ? item->element : s->element);
    tn_heap_give(r->heap, items);
    return good;
}

static bool run_insert(struct tn_run *r)
{
    uint64_t at = 0;
    if (r->in[0]->count && r->in[0]->items[0]->element != r->in[1]->element) return tn_run_refuse(r, "an item of the sequence's type", "%s", tn_onnx_element_name(r->in[1]->element));
    return position(r, 2, r->in[0]->count, true, &at) && edit(r, at, r->in[1]);
}

static bool run_erase(struct tn_run *r)
{
    uint64_t at = 0;
    return position(r, 1, r->in[0]->count, false, &at) && edit(r, at, NULL);
}

/* ---- SplitToSequence and ConcatFromSequence ----------------------------------------------------------------------- */

static bool infer_split(struct tn_infer *x)
{
    const struct tn_shape *s;
    uint32_t axis;
    if (tn_in_shape(x, 0, &s) && !tn_infer_axis(x, tn_attr_int(x->node, "axis", 0), s->rank, &axis)) return false;
    out_holding(x, TN_KIND_SEQUENCE, tn_in_type(x, 0));
    return true;
}

/* Rows [begin, begin + n) of an axis, which is left out where `drop` (n is 1 then). */
static struct tn_tensor *cut(struct tn_run *r, struct tn_tensor *x, uint32_t axis, int64_t begin, int64_t n, bool drop)
{
    int64_t dims[TN_RANK], strides[TN_RANK];
    uint32_t rank = 0;
    size_t size;
    if (!tn_move_size(r, x->element, &size)) return NULL;
    tn_strides(x->dims, x->rank, strides);
    struct tn_move m = {.x = x->data, .rank = x->rank, .x_begin = begin * strides[axis]};
    for (uint32_t i = 0; i < x->rank; i++) {
        m.dims[i] = i == axis ? n : x->dims[i];
        m.x_stride[i] = strides[i];
        if (!(drop && i == axis)) dims[rank++] = m.dims[i];
    }
    struct tn_tensor *y = tn_tensor_new(r->heap, x->element, rank, dims);
    if (!y) {
        tn_run_no_memory(r);
        return NULL;
    }
    m.y = y->data;
    tn_strides(m.dims, m.rank, m.y_stride);
    tn_move(r, m, size);
    if (tn_move_done(r, y)) return y;
    tn_tensor_drop(y);
    return NULL;
}

static bool run_split(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *s = r->in_count > 1 ? r->in[1] : NULL;
    int64_t axis = tn_attr_int(r->node, "axis", 0), at = 0;
    axis = axis < 0 ? axis + x->rank : axis;
    int64_t length = x->dims[axis], each = s && s->rank == 0 ? tn_run_int(r, 1, 0) : 1;
    bool listed = s && s->rank > 0, drop = !s && !tn_attr_int(r->node, "keepdims", 1), good = true;
    if (each < 1) return tn_run_refuse(r, "parts of at least 1", "%lld", (long long)each);
    uint64_t parts = listed ? s->count : (uint64_t)((length + each - 1) / each), made = 0;
    struct tn_tensor **items = tn_run_scratch(r, (size_t)parts + 1, sizeof(*items));
    for (good = items != NULL; good && made < parts; made++) {
        int64_t n = listed ? tn_run_int(r, 1, made) : length - at < each ? length - at : each;
        if (n < 0 || n > length - at) good = tn_run_refuse(r, "parts that add up to the dimension", "%lld of %lld", (long long)n, (long long)(length - at));
        else good = (items[made] = cut(r, x, (uint32_t)axis, at, n, drop)) != NULL;
        at += n;
        if (!good) break;
    }
    if (good && at != length) good = tn_run_refuse(r, "parts that add up to the dimension", "%lld of %lld", (long long)at, (long long)length);
    good = good && put_group(r, TN_KIND_SEQUENCE, items, parts, x->element);
    for (uint64_t i = 0; i < made; i++) tn_tensor_drop(items[i]);
    tn_heap_give(r->heap, items);
    return good;
}

static bool infer_join(struct tn_infer *x)
{
    const struct tn_type *item = item_type(tn_in_type(x, 0));
    if (!x->running && item) tn_out_unknown(x, 0, item->element);
    return true;
}

static bool run_join(struct tn_run *r)
{
    const struct tn_tensor *s = r->in[0];
    bool stacked = tn_attr_int(r->node, "new_axis", 0) != 0;
    int64_t axis = tn_attr_int(r->node, "axis", 0), dims[TN_RANK], strides[TN_RANK], at = 0;
    size_t size;
    if (s->count == 0) return tn_run_refuse(r, "a sequence with items", "none");
    const struct tn_tensor *first = s->items[0];
    uint32_t rank = first->rank + stacked;
    if (rank > TN_RANK || axis < -(int64_t)rank || axis >= (int64_t)rank) return tn_run_refuse(r, "an axis of the result", "%lld of rank %u", (long long)axis, rank);
    axis = axis < 0 ? axis + rank : axis;
    int64_t total = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        const struct tn_tensor *t = s->items[i];
        bool fits = t->kind == TN_KIND_TENSOR && t->rank == first->rank && t->element == first->element;
        for (uint32_t d = 0; fits && d < t->rank; d++) fits = (!stacked && d == axis) || t->dims[d] == first->dims[d];
        if (!fits || __builtin_add_overflow(total, stacked ? 1 : t->dims[axis], &total)) return tn_run_refuse(r, "items that fit together", "another shape at %llu", (unsigned long long)i);
    }
    for (uint32_t d = 0, from = 0; d < rank; d++) dims[d] = d == axis ? (from += !stacked, total) : first->dims[from++];
    struct tn_tensor *y = tn_run_output(r, 0, first->element, rank, dims);
    if (!y || !tn_move_size(r, y->element, &size)) return false;
    tn_strides(dims, rank, strides);
    for (uint64_t i = 0; i < s->count; i++) {
        const struct tn_tensor *t = s->items[i];
        struct tn_move m = {.x = t->data, .y = y->data, .rank = rank, .y_begin = at * strides[axis]};
        for (uint32_t d = 0, from = 0; d < rank; d++) m.dims[d] = stacked && d == axis ? 1 : t->dims[from++];
        memcpy(m.y_stride, strides, sizeof(strides));
        tn_strides(m.dims, rank, m.x_stride);
        tn_move(r, m, size);
        at += m.dims[axis];
    }
    return tn_move_done(r, y);
}

/* ---- SequenceMap -------------------------------------------------------------------------------------------------- */

static bool infer_map(struct tn_infer *x)
{
    const struct tn_net *body = tn_attr_graph(x->node, "body");
    const struct tn_type *in[64] = {0}, *out[64] = {0};
    if (x->running) return true;
    if (body->input_count != x->in_count || body->output_count != x->out_count || x->in_count > 64 || x->out_count > 64) return tn_infer_refuse(x, "a body with a port for each operand", "%u inputs and %u outputs", body->input_count, body->output_count);
    for (uint32_t i = 0; i < x->in_count; i++) {
        const struct tn_type *t = tn_in_type(x, i);
        in[i] = t && t->kind == TN_KIND_SEQUENCE ? t->of : t;
    }
    if (!x->graph(x, body, in, out)) return false;
    for (uint32_t k = 0; k < x->out_count; k++) {
        struct tn_type item = out[k] ? *out[k] : (struct tn_type){.kind = TN_KIND_NONE};
        item.shape.known = false;
        tn_out_type(x, k, &(struct tn_type){.kind = TN_KIND_SEQUENCE, .of = copied(x, &item)});
    }
    return true;
}

static bool run_map(struct tn_run *r)
{
    const struct tn_net *body = tn_attr_graph(r->node, "body");
    uint64_t n = r->in[0]->count, made = 0;
    struct tn_tensor *in[64], **all = tn_run_scratch(r, (size_t)(n + 1) * r->out_count + 1, sizeof(*all)), *out[64];
    bool good = all != NULL;
    for (uint32_t i = 1; good && i < r->in_count; i++) {
        if (r->in[i]->kind == TN_KIND_SEQUENCE && r->in[i]->count != n) good = tn_run_refuse(r, "sequences of one length", "%llu beside %llu", (unsigned long long)r->in[i]->count, (unsigned long long)n);
    }
    for (; good && made < n; made++) {
        for (uint32_t i = 0; i < r->in_count; i++) in[i] = r->in[i]->kind == TN_KIND_SEQUENCE ? r->in[i]->items[made] : r->in[i];
        good = r->graph(r, body, in, r->in_count, out, r->out_count);
        if (!good) break;
        for (uint32_t k = 0; k < r->out_count; k++) all[k * n + made] = out[k];
    }
    for (uint32_t k = 0; good && k < r->out_count; k++) {
        struct tn_tensor *t = tn_tensor_group(r->heap, TN_KIND_SEQUENCE, all + k * n, n);
        if (!t) good = tn_run_no_memory(r);
        else r->out[k] = t;
    }
    for (uint32_t k = 0; all && k < r->out_count; k++) {
        for (uint64_t i = 0; i < made; i++) tn_tensor_drop(all[k * n + i]);
    }
    tn_heap_give(r->heap, all);
    return good;
}

/* ---- optionals ---------------------------------------------------------------------------------------------------- */

static bool infer_optional(struct tn_infer *x)
{
    const struct tn_attr *type = tn_node_attr(x->node, "type");
    const struct tn_type *t = tn_in_type(x, 0);
    if (!t && !type) return tn_infer_refuse(x, "a value, or the attribute type", "neither");
    out_holding(x, TN_KIND_OPTIONAL, t ? t : type->as.types);
    return true;
}

static bool run_optional(struct tn_run *r)
{
    bool given = r->in_count && r->in[0];
    return put_group(r, TN_KIND_OPTIONAL, r->in, given ? 1 : 0, TN_EL_NONE);
}

static bool infer_has(struct tn_infer *x)
{
    tn_out_tensor(x, 0, TN_EL_BOOL, 0, NULL);
    return true;
}

static bool run_has(struct tn_run *r)
{
    const struct tn_tensor *t = r->in_count ? r->in[0] : NULL;
    ((uint8_t *)r->out[0]->data)[0] = t && (t->kind != TN_KIND_OPTIONAL || t->count);
    return true;
}

static bool infer_get(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0), *item = item_type(t);
    if (x->running || !t) return true;
    if (t->kind != TN_KIND_OPTIONAL) tn_out_type(x, 0, t);
    else if (item) tn_out_type(x, 0, item);
    return true;
}

static bool run_get(struct tn_run *r)
{
    struct tn_tensor *t = r->in[0];
    if (t->kind == TN_KIND_OPTIONAL && t->count == 0) return tn_run_refuse(r, "an optional with a value", "none");
    tn_run_pass(r, 0, t->kind == TN_KIND_OPTIONAL ? t->items[0] : t);
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "SequenceEmpty", .since = 11, .infer = infer_empty, .run = run_empty},
    {.name = "SequenceConstruct", .since = 11, .infer = infer_construct, .run = run_construct},
    {.name = "SequenceAt", .since = 11, .infer = infer_at, .run = run_at},
    {.name = "SequenceLength", .since = 11, .infer = infer_length, .run = run_length},
    {.name = "SequenceInsert", .since = 11, .infer = infer_edit, .run = run_insert},
    {.name = "SequenceErase", .since = 11, .infer = infer_edit, .run = run_erase},
    {.name = "SplitToSequence", .since = 11, .infer = infer_split, .run = run_split},
    {.name = "ConcatFromSequence", .since = 11, .infer = infer_join, .run = run_join},
    {.name = "SequenceMap", .since = 17, .infer = infer_map, .run = run_map},
    {.name = "Optional", .since = 15, .infer = infer_optional, .run = run_optional},
    {.name = "OptionalHasElement", .since = 15, .infer = infer_has, .run = run_has},
    {.name = "OptionalGetElement", .since = 15, .infer = infer_get, .run = run_get},
};

const struct tn_operators tn_ops_sequence = {rows, sizeof(rows) / sizeof(rows[0])};
