/* Attributes and types of ONNX files; see the header. */
#include "net/onnx_attr.h"

#include <stdio.h>
#include <string.h>

enum {
    ATTR_NAME = 1,
    ATTR_F = 2,
    ATTR_I = 3,
    ATTR_S = 4,
    ATTR_T = 5,
    ATTR_G = 6,
    ATTR_FLOATS = 7,
    ATTR_INTS = 8,
    ATTR_STRINGS = 9,
    ATTR_TENSORS = 10,
    ATTR_GRAPHS = 11,
    ATTR_TP = 14,
    ATTR_TYPE_PROTOS = 15,
    ATTR_TYPE = 20,
    ATTR_REF = 21,
    ATTR_SPARSE = 22,
    ATTR_SPARSES = 23
};

/* ---- lists -------------------------------------------------------------------------------------------------------- */

struct list {
    void *items;
    size_t count, cap, each;
    bool small; /* numbers and texts: a forest has some million, and each stands in the file with a byte at least */
};

/* Room for more: of a run whose length is known, for all of it. */
static bool make_room(struct tn_import *im, struct list *l, uint64_t more, uint64_t at)
{
    const uint64_t limit = l->small ? TN_WIRE_FIELDS : im->model->ctx->limits.tensors;
    if (more <= l->cap - l->count) return true;
    if (l->count >= limit || more > limit - l->count) return tn_onnx_over_limit(im->r, at, l->small ? "fields" : "tensors", limit);
    size_t need = l->count + (size_t)more, cap = l->cap > need / 2 ? l->cap * 2 : need;
    if (cap < 8) cap = 8;
    void *items = tn_arena_array(&im->model->arena, cap, l->each);
    if (!items) return tn_onnx_no_memory(im->r);
    if (l->count) memcpy(items, l->items, l->count * l->each);
    l->items = items;
    l->cap = cap;
    return true;
}

static void *push(struct tn_import *im, struct list *l, uint64_t at)
{
    return make_room(im, l, 1, at) ? (char *)l->items + l->count++ * l->each : NULL;
}

static float float_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof(f));
    return f;
}

static void read_floats(struct tn_import *im, const struct tn_wire_field *f, struct list *l)
{
    float *slot;
    if (f->type == TN_WIRE_FIXED32) {
        slot = push(im, l, f->at);
        if (slot) *slot = float_of(f->value);
        return;
    }
    struct tn_wire_range left = f->bytes;
    if ((left.end - left.at) % 4) tn_onnx_malformed(im->r, f->at, "packed floats of %llu bytes", (unsigned long long)(left.end - left.at));
    for (; left.at < left.end && !im->r->failed; left.at += 4) {
        slot = push(im, l, f->at);
        if (slot && !tn_wire_copy(&im->r->wire, left, slot, 4)) tn_onnx_malformed(im->r, left.at, "in floats: %s", im->r->wire.why);
    }
}

static void read_ints(struct tn_import *im, const struct tn_wire_field *f, struct list *l)
{
    struct tn_wire_range left = f->bytes;
    if (f->type == TN_WIRE_VARINT) {
        int64_t *slot = push(im, l, f->at);
        if (slot) *slot = (int64_t)f->value;
        return;
    }
    while (left.at < left.end && !im->r->failed) {
        uint64_t value;
        if (!tn_wire_varint(&im->r->wire, &left, &value)) {
            tn_onnx_malformed(im->r, im->r->wire.failed_at, "in ints: %s", im->r->wire.why);
            return;
        }
        int64_t *slot = push(im, l, f->at);
        if (slot) *slot = (int64_t)value;
    }
}

/* Attribute strings are bytes: a regular expression, or binary data of an operator of its own; at most 16 MiB. */
static struct tn_str read_bytes(struct tn_import *im, struct tn_wire_range range)
{
    uint64_t n = range.end - range.at, most = UINT64_C(16) << 20;
    if (n > most) tn_onnx_over_limit(im->r, range.at, "name_bytes", most);
    char *text = im->r->failed ? NULL : tn_arena_alloc(&im->model->arena, (size_t)n + 1);
    if (im->r->failed) return TN_STR("");
    if (!text) {
        tn_onnx_no_memory(im->r);
        return TN_STR("");
    }
    if (n && !tn_wire_copy(&im->r->wire, range, text, (size_t)n)) tn_onnx_malformed(im->r, range.at, "in a string: %s", im->r->wire.why);
    return (struct tn_str){text, (size_t)n};
}

/* ---- types -------------------------------------------------------------------------------------------------------- */

static void read_dim(struct tn_import *im, struct tn_wire_range range, tn_dim_t *out)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_DIMENSION, .range = range};
    struct tn_wire_field f;
    bool stated = false;
    while (tn_onnx_next(im->r, &m, &f)) {
        if (f.number == 1) {
            *out = (int64_t)f.value;
            stated = *out >= 0; /* -1 is what some exporters write for "any" */
        } else if (f.number == 2 && f.bytes.end > f.bytes.at) {
            *out = tn_dim_named(&im->model->symbols, tn_onnx_string(im->r, f.bytes));
            stated = true;
        }
    }
    if (!stated) *out = tn_dim_unknown(&im->model->symbols);
}

static void read_shape(struct tn_import *im, struct tn_wire_range range, struct tn_shape *out)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_SHAPE, .range = range};
    struct tn_wire_field f;
    *out = (struct tn_shape){.known = true};
    while (tn_onnx_next(im->r, &m, &f)) {
        if (out->rank == TN_RANK) {
            tn_onnx_over_limit(im->r, f.at, "rank", TN_RANK);
            return;
        }
        read_dim(im, f.bytes, &out->dims[out->rank++]);
    }
}

static bool read_tensor_type(struct tn_import *im, enum tn_onnx_message kind, struct tn_wire_range range, struct tn_type *out)
{
    struct tn_onnx_at m = {.kind = kind, .range = range};
    struct tn_wire_field f;
    out->kind = TN_KIND_TENSOR;
    while (tn_onnx_next(im->r, &m, &f)) {
        if (f.number == 1) out->element = f.value < TN_EL_COUNT ? (enum tn_element)f.value : TN_EL_NONE;
        if (f.number == 2) read_shape(im, f.bytes, &out->shape);
    }
    return out->element != TN_EL_NONE;
}

static bool read_nested(struct tn_import *im, struct tn_wire_range range, unsigned depth, struct tn_type *out);

static bool read_held(struct tn_import *im, enum tn_onnx_message kind, struct tn_wire_range range, unsigned depth, struct tn_type *out)
{
    struct tn_onnx_at m = {.kind = kind, .range = range};
    struct tn_wire_field f;
    struct tn_type *of = tn_arena_alloc(&im->model->arena, sizeof(*of));
    bool good = false;
    if (!of) return tn_onnx_no_memory(im->r);
    out->kind = kind == TN_ONNX_TYPE_SEQUENCE ? TN_KIND_SEQUENCE : kind == TN_ONNX_TYPE_MAP ? TN_KIND_MAP : TN_KIND_OPTIONAL;
    while (tn_onnx_next(im->r, &m, &f)) {
        if (f.type == TN_WIRE_VARINT) out->element = f.value < TN_EL_COUNT ? (enum tn_element)f.value : TN_EL_NONE;
        else good = read_nested(im, f.bytes, depth + 1, of);
    }
    out->of = of;
    return good;
}

static bool read_nested(struct tn_import *im, struct tn_wire_range range, unsigned depth, struct tn_type *out)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_TYPE, .range = range};
    struct tn_wire_field f;
    bool good = false;
    if (depth > 8) return tn_onnx_over_limit(im->r, range.at, "json_depth", 8);
    *out = (struct tn_type){.kind = TN_KIND_NONE};
    while (tn_onnx_next(im->r, &m, &f)) {
        const struct tn_onnx_field *field = tn_onnx_field(TN_ONNX_TYPE, f.number);
        if (field->kind != TN_ONNX_NESTED) continue;
        enum tn_onnx_message kind = (enum tn_onnx_message)field->sub;
        if (kind == TN_ONNX_TYPE_TENSOR || kind == TN_ONNX_TYPE_SPARSE) good = read_tensor_type(im, kind, f.bytes, out);
        else if (kind == TN_ONNX_TYPE_SEQUENCE || kind == TN_ONNX_TYPE_MAP || kind == TN_ONNX_TYPE_OPTIONAL)
            good = read_held(im, kind, f.bytes, depth, out);
    }
    return good;
}

bool tn_onnx_read_type(struct tn_import *im, struct tn_wire_range range, struct tn_type *out)
{
    return read_nested(im, range, 0, out);
}

/* ---- attributes --------------------------------------------------------------------------------------------------- */

enum { RECENT = 4, SHORT = 64 };

struct reading {
    struct list floats, ints, strings, tensors, graphs, types;
    struct tn_attr *out;
    bool stated; /* its type is written */
    struct tn_str recent[RECENT]; /* short strings that came last: lists repeat few of them */
    unsigned next;
};

static void add_string(struct tn_import *im, struct tn_wire_range range, struct reading *a)
{
    char text[SHORT];
    size_t n = (size_t)(range.end - range.at);
    struct tn_str *slot = push(im, &a->strings, range.at);
    if (!slot) return;
    *slot = TN_STR("");
    if (range.end - range.at > SHORT) {
        *slot = read_bytes(im, range);
        return;
    }
    if (!tn_wire_copy(&im->r->wire, range, text, n)) {
        tn_onnx_malformed(im->r, range.at, "in a string: %s", im->r->wire.why);
        return;
    }
    for (unsigned i = 0; i < RECENT; i++) {
        if (!a->recent[i].s || a->recent[i].n != n || memcmp(a->recent[i].s, text, n) != 0) continue;
        *slot = a->recent[i];
        return;
    }
    *slot = a->recent[a->next++ % RECENT] = read_bytes(im, range);
}

static void add_tensor(struct tn_import *im, const struct tn_wire_field *f, bool sparse, struct reading *a)
{
    struct tn_str name;
    struct tn_constant *slot = push(im, &a->tensors, f->at);
    if (!slot) return;
    if (sparse) tn_onnx_read_sparse(im, f->bytes, &name, slot);
    else tn_onnx_read_constant(im, f->bytes, &name, slot);
}

static void read_value(struct tn_import *im, const struct tn_wire_field *f, struct reading *a, tn_inner_graph_fn *inner,
                       void *context)
{
    struct tn_net **net;
    struct tn_type *type;
    switch (f->number) {
    case ATTR_NAME: a->out->name = tn_onnx_string(im->r, f->bytes); break;
    case ATTR_REF: a->out->refers = tn_onnx_string(im->r, f->bytes); break;
    case ATTR_TYPE:
        a->out->type = f->value < TN_ATTR_COUNT ? (enum tn_attr_type)f->value : TN_ATTR_UNDEFINED;
        a->stated = true;
        break;
    case ATTR_F: a->out->as.f = float_of(f->value); break;
    case ATTR_I: a->out->as.i = (int64_t)f->value; break;
    case ATTR_S: a->out->as.s = read_bytes(im, f->bytes); break;
    case ATTR_FLOATS: read_floats(im, f, &a->floats); break;
    case ATTR_INTS: read_ints(im, f, &a->ints); break;
    case ATTR_STRINGS: add_string(im, f->bytes, a); break;
    case ATTR_T:
    case ATTR_TENSORS: add_tensor(im, f, false, a); break;
    case ATTR_SPARSE:
    case ATTR_SPARSES: add_tensor(im, f, true, a); break;
    case ATTR_G:
    case ATTR_GRAPHS:
        net = push(im, &a->graphs, f->at);
        if (net) *net = inner(context, f->bytes);
        break;
    case ATTR_TP:
    case ATTR_TYPE_PROTOS:
        type = push(im, &a->types, f->at);
        if (type) tn_onnx_read_type(im, f->bytes, type);
        break;
    default: break;
    }
}

/* Files of IR version 1 leave the type out: it follows from the one field that is there. */
static enum tn_attr_type type_of(uint32_t seen)
{
    static const struct {
        uint8_t field, type;
    } rows[] = {{ATTR_F, TN_ATTR_FLOAT}, {ATTR_I, TN_ATTR_INT}, {ATTR_S, TN_ATTR_STRING}, {ATTR_T, TN_ATTR_TENSOR},
                {ATTR_G, TN_ATTR_GRAPH}, {ATTR_FLOATS, TN_ATTR_FLOATS}, {ATTR_INTS, TN_ATTR_INTS},
                {ATTR_STRINGS, TN_ATTR_STRINGS}, {ATTR_TENSORS, TN_ATTR_TENSORS}, {ATTR_GRAPHS, TN_ATTR_GRAPHS},
                {ATTR_TP, TN_ATTR_TYPE}, {ATTR_TYPE_PROTOS, TN_ATTR_TYPES}, {ATTR_SPARSE, TN_ATTR_SPARSE_TENSOR},
                {ATTR_SPARSES, TN_ATTR_SPARSE_TENSORS}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (seen >> rows[i].field & 1) return (enum tn_attr_type)rows[i].type;
    }
    return TN_ATTR_UNDEFINED;
}

/* The list that the type names; the other fields are not its value. */
static void settle(struct reading *a)
{
    struct list *l = NULL;
    switch (a->out->type) {
    case TN_ATTR_FLOATS: l = &a->floats; break;
    case TN_ATTR_INTS: l = &a->ints; break;
    case TN_ATTR_STRINGS: l = &a->strings; break;
    case TN_ATTR_TENSOR:
    case TN_ATTR_TENSORS:
    case TN_ATTR_SPARSE_TENSOR:
    case TN_ATTR_SPARSE_TENSORS: l = &a->tensors; break;
    case TN_ATTR_GRAPH:
    case TN_ATTR_GRAPHS: l = &a->graphs; break;
    case TN_ATTR_TYPE:
    case TN_ATTR_TYPES: l = &a->types; break;
    default: return;
    }
    a->out->count = l->count;
    a->out->as.ints = l->items; /* all members of the union that are pointers share their representation */
}

/* The call's value under the name that the body uses; false when the call leaves it out. */
static bool take_from_call(const struct tn_import *im, struct tn_attr *a)
{
    const struct tn_call *call = im->call;
    for (uint32_t i = 0; call && i < call->attr_count; i++) {
        if (!tn_str_eq(call->attrs[i].name, a->refers)) continue;
        struct tn_str name = a->name;
        *a = call->attrs[i];
        a->name = name;
        a->refers = TN_STR("");
        return true;
    }
    return false;
}

enum { MORE = 256 };

static void more_numbers(struct tn_import *im, struct tn_onnx_at *m, const struct tn_wire_field *like, struct list *l)
{
    uint64_t values[MORE];
    bool ints = like->number == ATTR_INTS;
    size_t n;
    while ((n = tn_wire_more(&im->r->wire, &m->range, like, values, MORE)) > 0 && make_room(im, l, n, like->at)) {
        for (size_t i = 0; i < n; i++, l->count++) {
            if (ints) ((int64_t *)l->items)[l->count] = (int64_t)values[i];
            else ((float *)l->items)[l->count] = float_of(values[i]);
        }
    }
}

static void more_strings(struct tn_import *im, struct tn_onnx_at *m, const struct tn_wire_field *like, struct reading *a)
{
    struct tn_wire_range ranges[MORE];
    size_t n;
    while (!im->r->failed && (n = tn_wire_more_bytes(&im->r->wire, &m->range, like, ranges, MORE)) > 0) {
        for (size_t i = 0; i < n && !im->r->failed; i++) add_string(im, ranges[i], a);
    }
}

/* Exporters write the numbers of trees one by one, by the million: how many is known from a first look. */
static void read_more(struct tn_import *im, struct tn_onnx_at *m, const struct tn_wire_field *like, struct reading *a)
{
    bool ints = like->number == ATTR_INTS && like->type == TN_WIRE_VARINT, floats = like->number == ATTR_FLOATS && like->type == TN_WIRE_FIXED32;
    struct list *l = ints ? &a->ints : floats ? &a->floats : like->number == ATTR_STRINGS ? &a->strings : NULL;
    if (!l) return;
    if (l->count == 1 && !make_room(im, l, tn_wire_count(&im->r->wire, m->range, like), like->at)) return;
    if (l == &a->strings) more_strings(im, m, like, a);
    else more_numbers(im, m, like, l);
}

bool tn_onnx_read_attr(struct tn_import *im, struct tn_wire_range range, tn_inner_graph_fn *inner, void *context,
                       struct tn_attr *out)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_ATTRIBUTE, .range = range};
    struct tn_wire_field f;
    struct reading a = {.floats = {.each = sizeof(float), .small = true}, .ints = {.each = sizeof(int64_t), .small = true},
                        .strings = {.each = sizeof(struct tn_str), .small = true}, .tensors = {.each = sizeof(struct tn_constant)},
                        .graphs = {.each = sizeof(struct tn_net *)}, .types = {.each = sizeof(struct tn_type)}, .out = out};
    *out = (struct tn_attr){.name = TN_STR(""), .refers = TN_STR("")};
    out->as.s = TN_STR("");
    while (tn_onnx_next(im->r, &m, &f)) {
        read_value(im, &f, &a, inner, context);
        if (!im->r->failed) read_more(im, &m, &f, &a);
    }
    if (im->r->failed) return false;
    if (out->refers.n) return take_from_call(im, out);
    if (!a.stated || out->type == TN_ATTR_UNDEFINED) out->type = type_of(m.seen);
    if (out->type == TN_ATTR_STRING && !(m.seen >> ATTR_S & 1)) out->as.s = TN_STR("");
    settle(&a);
    if ((out->type == TN_ATTR_TENSOR || out->type == TN_ATTR_GRAPH || out->type == TN_ATTR_TYPE ||
         out->type == TN_ATTR_SPARSE_TENSOR) && out->count != 1)
        return tn_onnx_malformed(im->r, range.at, "attribute %.*s has no value", TN_FMT_ARG(out->name));
    return true;
}

bool tn_onnx_call_defaults(struct tn_import *im, struct tn_call *call)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_FUNCTION, .range = call->function->message};
    struct tn_wire_field f;
    struct list all = {.each = sizeof(struct tn_attr)};
    for (uint32_t i = 0; i < call->attr_count; i++) {
        struct tn_attr *slot = push(im, &all, 0);
        if (slot) *slot = call->attrs[i];
    }
    while (tn_onnx_next(im->r, &m, &f)) {
        struct tn_attr a;
        bool given = false;
        if (f.number != 11 || !tn_onnx_read_attr(im, f.bytes, NULL, NULL, &a)) continue;
        for (uint32_t i = 0; i < call->attr_count; i++) given |= tn_str_eq(call->attrs[i].name, a.name);
        struct tn_attr *slot = given ? NULL : push(im, &all, f.at);
        if (slot) *slot = a;
    }
    call->attrs = all.items;
    call->attr_count = (uint32_t)all.count;
    return !im->r->failed;
}
