/*
 * Values of a request, held against the port that they are for: kind, element type, rank, dimensions, and that dimensions
 * of one name are one number over all inputs. Every problem is a finding; what is right is copied, since the request is
 * the caller's. Sizes and pointers are the caller's word and not trusted where they contradict one another.
 */
#include "task/tensor.h"

#include <string.h>

static struct tn_finding *blame(struct tn_findings *findings, const struct tn_onnx_port *port, const char *what)
{
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "input %.*s %s",
                                           TN_FMT_ARG(port->name), what);
    tn_at_element(f, TN_ELEMENT_TENSOR, port->name);
    return f;
}

static void expect_port(struct tn_finding *f, const struct tn_onnx_port *port)
{
    char text[320];
    tn_expected(f, "%s", tn_onnx_port_text(port, text, sizeof(text)));
}

/* ---- against the declaration -------------------------------------------------------------------------------------- */

static bool bind(struct tn_tensor_symbols *s, struct tn_str symbol, int64_t value, struct tn_str by, size_t *where)
{
    for (size_t i = 0; i < s->count; i++) {
        if (!tn_str_eq(s->name[i], symbol)) continue;
        *where = i;
        return s->value[i] == value;
    }
    if (s->count == sizeof(s->value) / sizeof(s->value[0])) return true;
    s->name[s->count] = symbol;
    s->value[s->count] = value;
    s->by[s->count++] = by;
    return true;
}

static void check_dims(const struct tn_onnx_port *port, const struct tn_tensor *t, struct tn_tensor_symbols *symbols,
                       struct tn_findings *findings)
{
    for (uint32_t i = 0; i < t->rank; i++) {
        const struct tn_onnx_dim *d = &port->dims[i];
        size_t at = 0;
        bool named = d->kind == TN_ONNX_DIM_SYMBOL && d->symbol.n > 0;
        bool good = d->kind == TN_ONNX_DIM_VALUE ? d->value == t->dims[i] : !named || bind(symbols, d->symbol, t->dims[i], port->name, &at);
        if (good) continue;
        struct tn_finding *f = blame(findings, port, "has a dimension of another size");
        tn_found(f, "dimension %u is %lld", i, (long long)t->dims[i]);
        if (named) {
            tn_expected(f, "%.*s is %lld, by input %.*s", TN_FMT_ARG(d->symbol), (long long)symbols->value[at],
                        TN_FMT_ARG(symbols->by[at]));
        } else {
            tn_expected(f, "%lld", (long long)d->value);
        }
    }
}

static void found_tensor(struct tn_finding *f, const struct tn_tensor *t)
{
    static const char *const kinds[] = {"nothing", "tensor", "sequence", "optional", "map"};
    if (t->kind != TN_KIND_TENSOR) {
        tn_found(f, "a %s", kinds[t->kind]);
        return;
    }
    struct tn_onnx_dim dims[TN_RANK];
    struct tn_onnx_port as = {.kind = TN_ONNX_PORT_TENSOR, .element = t->element, .rank_known = true, .rank = t->rank, .dims = dims};
    char text[200];
    for (uint32_t i = 0; i < t->rank; i++) dims[i] = (struct tn_onnx_dim){.kind = TN_ONNX_DIM_VALUE, .value = t->dims[i]};
    tn_found(f, "%s", tn_onnx_port_text(&as, text, sizeof(text)));
}

static bool kinds_fit(const struct tn_onnx_port *port, const struct tn_tensor *t)
{
    switch (port->kind) {
    case TN_ONNX_PORT_TENSOR: return t->kind == TN_KIND_TENSOR;
    case TN_ONNX_PORT_SEQUENCE: return t->kind == TN_KIND_SEQUENCE;
    case TN_ONNX_PORT_MAP: return t->kind == TN_KIND_MAP;
    case TN_ONNX_PORT_OPTIONAL: return t->kind == TN_KIND_OPTIONAL;
    case TN_ONNX_PORT_UNTYPED: return true;
    case TN_ONNX_PORT_SPARSE:
    case TN_ONNX_PORT_OPAQUE: break;
    }
    return false;
}

/* False after a finding. */
static bool fits(const struct tn_onnx_port *port, const struct tn_tensor *t, struct tn_tensor_symbols *symbols,
                 struct tn_findings *findings)
{
    size_t before = findings->blockers;
    bool good = kinds_fit(port, t);
    if (good && t->kind == TN_KIND_TENSOR && port->kind == TN_ONNX_PORT_TENSOR) {
        good = (port->element == 0 || port->element == (uint32_t)t->element) && (!port->rank_known || port->rank == t->rank);
    }
    if (!good) {
        struct tn_finding *f = blame(findings, port, "is of another type");
        found_tensor(f, t);
        expect_port(f, port);
        return false;
    }
    if (t->kind == TN_KIND_TENSOR && port->kind == TN_ONNX_PORT_TENSOR && port->rank_known) check_dims(port, t, symbols, findings);
    return findings->blockers == before;
}

/* ---- copies ------------------------------------------------------------------------------------------------------- */

static struct tn_tensor *copy_strings(struct tn_heap *heap, const tn_port_value *v, uint64_t count)
{
    const tn_string *texts = v->data;
    struct tn_tensor *t = tn_tensor_new(heap, TN_EL_STRING, (uint32_t)v->rank, v->dims);
    for (size_t i = 0; t && i < count; i++) {
        struct tn_str text = {texts[i].data ? texts[i].data : "", texts[i].data ? texts[i].length : 0};
        if (tn_tensor_set_text(t, i, text)) continue;
        tn_tensor_drop(t);
        return NULL;
    }
    return t;
}

static struct tn_tensor *copy_plain(struct tn_heap *heap, enum tn_element e, const tn_port_value *v)
{
    struct tn_tensor *t = tn_tensor_new(heap, e, (uint32_t)v->rank, v->dims);
    if (!t) return NULL;
    if (t->bytes) memcpy(t->data, v->data, t->bytes);
    for (size_t i = 0; e == TN_EL_BOOL && i < t->count; i++) ((uint8_t *)t->data)[i] = ((const uint8_t *)t->data)[i] != 0;
    return t;
}

static struct tn_tensor *tensor_of(const struct tn_onnx_port *port, const tn_port_value *v, struct tn_heap *heap,
                                   const struct tn_limits *limits, struct tn_findings *findings, bool *no_memory)
{
    struct tn_finding *f;
    uint64_t count;
    size_t bytes;
    uint32_t e = v->element ? tn_onnx_element_named(tn_str_of(v->element)) : 0;
    if (!e) {
        f = blame(findings, port, "has no element type that is known");
        tn_found(f, "%s", v->element ? v->element : "NULL");
        expect_port(f, port);
        return NULL;
    }
    bool shaped = v->rank <= TN_RANK && (v->rank == 0 || v->dims) && tn_shape_count(v->dims, (uint32_t)v->rank, &count) &&
                  tn_element_bytes((enum tn_element)e, count, &bytes) && bytes <= limits->tensor_bytes;
    if (!shaped) {
        f = blame(findings, port, "has no shape that can be");
        tn_found(f, "rank %zu", v->rank);
        tn_expected(f, "at most %d dimensions from 0 on, of a size that memory can have", TN_RANK);
        return NULL;
    }
    size_t size = e == TN_EL_STRING ? (size_t)count * sizeof(tn_string) : bytes;
    if (v->size != size || (size && !v->data)) {
        f = blame(findings, port, "has another size than its shape");
        tn_found(f, "%zu bytes%s", v->size, size && !v->data ? ", and data is NULL" : "");
        tn_expected(f, "%zu", size);
        return NULL;
    }
    struct tn_tensor *t = e == TN_EL_STRING ? copy_strings(heap, v, count) : copy_plain(heap, (enum tn_element)e, v);
    *no_memory |= !t;
    return t;
}

static struct tn_tensor *json_of(const struct tn_onnx_port *port, const tn_port_value *v, struct tn_heap *heap,
                                 const struct tn_limits *limits, struct tn_findings *findings, bool *no_memory)
{
    struct tn_json_doc doc;
    struct tn_tensor_fault fault;
    char place[128];
    struct tn_error *err = tn_calloc(heap->alloc, 1, sizeof(*err));
    struct tn_str text = {v->data ? v->data : "", v->data ? v->size : 0};
    struct tn_tensor *t = NULL;
    if (!err) {
        *no_memory = true;
        return NULL;
    }
    enum tn_status st = tn_json_parse(&doc, heap->alloc, limits, port->name, text, err);
    if (st == TN_INSUFFICIENT_MEMORY) *no_memory = true;
    if (st && st != TN_INSUFFICIENT_MEMORY) {
        struct tn_finding *f = blame(findings, port, "is no JSON value");
        tn_found(f, "%s", err->primary.message);
        expect_port(f, port);
    }
    tn_free(heap->alloc, err);
    if (st) return NULL;
    t = tn_tensor_of_json(port, tn_json_root(&doc), heap, &fault);
    if (!t && fault.message) {
        struct tn_finding *f = blame(findings, port, "cannot be read");
        (void)tn_json_pointer(fault.at, place, sizeof(place));
        tn_found(f, "%s, at \"%s\"", fault.message, place);
        tn_expected(f, "%s", fault.expected);
    } else if (!t) {
        *no_memory = true;
    }
    tn_json_release(&doc);
    return t;
}

static struct tn_tensor *any_of(const struct tn_onnx_port *port, const tn_port_value *v, struct tn_heap *heap,
                                const struct tn_limits *limits, unsigned depth, struct tn_findings *findings, bool *no_memory);

static struct tn_tensor *group_of(const struct tn_onnx_port *port, const tn_port_value *v, struct tn_heap *heap,
                                  const struct tn_limits *limits, unsigned depth, struct tn_findings *findings, bool *no_memory)
{
    enum tn_tensor_kind kind = v->kind == TN_VALUE_MAP ? TN_KIND_MAP : v->kind == TN_VALUE_SEQUENCE ? TN_KIND_SEQUENCE : TN_KIND_OPTIONAL;
    bool counted = kind == TN_KIND_MAP ? v->item_count == 2 : kind == TN_KIND_SEQUENCE || v->item_count <= 1;
    struct tn_tensor *whole = NULL, **items = NULL;
    size_t made = 0;
    if (!counted || (v->item_count && !v->items) || v->item_count > limits->items || depth > 8) {
        struct tn_finding *f = blame(findings, port, "is a group of a wrong number of items");
        tn_found(f, "%zu", v->item_count);
        tn_expected(f, "keys and values of a map, at most one item of an optional");
        return NULL;
    }
    items = tn_heap_take(heap, (v->item_count + 1) * sizeof(*items));
    *no_memory |= !items;
    while (items && made < v->item_count) {
        items[made] = any_of(port, &v->items[made], heap, limits, depth + 1, findings, no_memory);
        if (!items[made]) break;
        made++;
    }
    if (items && made == v->item_count) {
        bool paired = kind != TN_KIND_MAP || (items[0]->rank == 1 && items[0]->kind == TN_KIND_TENSOR &&
                                              (items[1]->kind == TN_KIND_SEQUENCE || items[1]->rank == 1) && items[0]->count == items[1]->count);
        if (!paired) blame(findings, port, "is a map whose keys and values do not agree");
        if (paired) whole = tn_tensor_group(heap, kind, items, v->item_count);
        *no_memory |= paired && !whole;
        if (whole && made == 0) whole->element = (enum tn_element)port->element;
    }
    for (size_t i = 0; i < made; i++) tn_tensor_drop(items[i]);
    tn_heap_give(heap, items);
    return whole;
}

static struct tn_tensor *any_of(const struct tn_onnx_port *port, const tn_port_value *v, struct tn_heap *heap,
                                const struct tn_limits *limits, unsigned depth, struct tn_findings *findings, bool *no_memory)
{
    switch (v->kind) {
    case TN_VALUE_TENSOR: return tensor_of(port, v, heap, limits, findings, no_memory);
    case TN_VALUE_JSON: return json_of(port, v, heap, limits, findings, no_memory);
    case TN_VALUE_SEQUENCE:
    case TN_VALUE_MAP:
    case TN_VALUE_OPTIONAL: return group_of(port, v, heap, limits, depth, findings, no_memory);
    }
    struct tn_finding *f = blame(findings, port, "is of no kind that exists");
    tn_found(f, "kind %d", (int)v->kind);
    return NULL;
}

struct tn_tensor *tn_tensor_of_request(const struct tn_onnx_port *port, const tn_port_value *v, struct tn_heap *heap,
                                       const struct tn_limits *limits, struct tn_tensor_symbols *symbols,
                                       struct tn_findings *findings, bool *no_memory)
{
    struct tn_tensor *t = any_of(port, v, heap, limits, 0, findings, no_memory);
    if (t && port->kind == TN_ONNX_PORT_OPTIONAL && t->kind != TN_KIND_OPTIONAL) { /* given plainly: it holds that */
        struct tn_tensor *held = tn_tensor_group(heap, TN_KIND_OPTIONAL, &t, 1);
        tn_tensor_drop(t);
        *no_memory |= !held;
        t = held;
    }
    if (!t || fits(port, t, symbols, findings)) return t;
    tn_tensor_drop(t);
    return NULL;
}
