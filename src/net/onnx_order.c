/*
 * The nodes of a graph in an order in which each comes after those that it reads. The format asks for that order, but
 * published converters append nodes at the end; what every reader sorts is sorted here, too. A cycle has no order: its
 * nodes stay where they are, and reading them finds values that nothing before them makes.
 *
 * Names are compared by a seeded hash: two names that meet by accident only make an order that is checked again later.
 */
#include "net/onnx_attr.h"

#include "base/sort.h"

#include <string.h>

enum { GRAPH_NODE = 1, NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_ATTRIBUTE = 5, ATTRIBUTE_GRAPH = 6, ATTRIBUTE_GRAPHS = 11 };

struct edge {
    uint64_t name;
    uint32_t node;
};

struct edges {
    struct edge *items;
    size_t count, cap;
};

struct ordering {
    struct tn_import *im;
    struct tn_wire_range *nodes;
    size_t count, cap;
    struct edges made, read;
};

static uint64_t hash_of(struct ordering *o, struct tn_wire_range range)
{
    char text[4096];
    size_t n = tn_wire_text(&o->im->r->wire, range, text, sizeof(text));
    uint64_t h = (uint64_t)(uintptr_t)o * UINT64_C(0x9e3779b97f4a7c15) ^ n;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

static bool add_edge(struct ordering *o, struct edges *e, struct tn_wire_range name, uint32_t node)
{
    if (name.end == name.at) return true;
    struct edge *moved = tn_grow(o->im->model->ctx->alloc, e->items, &e->cap, e->count, sizeof(*moved));
    if (!moved) return tn_onnx_no_memory(o->im->r);
    e->items = moved;
    e->items[e->count++] = (struct edge){hash_of(o, name), node};
    return true;
}

static void scan_node(struct ordering *o, struct tn_wire_range range, uint32_t node, unsigned depth);

/* What graphs inside a node read is read by the node. */
static void scan_graph(struct ordering *o, struct tn_wire_range range, uint32_t node, unsigned depth)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_GRAPH, .range = range};
    struct tn_wire_field f;
    if (depth > o->im->model->ctx->limits.json_depth) return; /* reading it will say so */
    while (tn_onnx_next(o->im->r, &m, &f)) {
        if (f.number == GRAPH_NODE) scan_node(o, f.bytes, node, depth);
        if (f.number == 12) { /* an output may be a value from around the graph */
            struct tn_wire_range name = f.bytes;
            struct tn_onnx_at info = {.kind = TN_ONNX_VALUE_INFO, .range = name};
            struct tn_wire_field g;
            while (tn_onnx_next(o->im->r, &info, &g)) {
                if (g.number == 1) add_edge(o, &o->read, g.bytes, node);
            }
        }
    }
}

static void scan_node(struct ordering *o, struct tn_wire_range range, uint32_t node, unsigned depth)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_NODE, .range = range};
    struct tn_wire_field f, g;
    while (tn_onnx_next(o->im->r, &m, &f)) {
        if (f.number == NODE_INPUT) add_edge(o, &o->read, f.bytes, node);
        if (f.number == NODE_OUTPUT && depth == 0) add_edge(o, &o->made, f.bytes, node);
        if (f.number != NODE_ATTRIBUTE || !o->im->model->view->inner_graphs) continue;
        struct tn_onnx_at a = {.kind = TN_ONNX_ATTRIBUTE, .range = f.bytes};
        const struct tn_onnx_field *field;
        while ((field = tn_onnx_next(o->im->r, &a, &g))) {
            if (g.number == ATTRIBUTE_GRAPH || g.number == ATTRIBUTE_GRAPHS) scan_graph(o, g.bytes, node, depth + 1);
            else if (field->repeated && field->kind != TN_ONNX_NESTED) tn_wire_skip(&o->im->r->wire, &a.range, &g);
        }
    }
}

static int by_name(const void *a, const void *b, void *context)
{
    const struct edge *x = a, *y = b;
    (void)context;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* The first node that makes a name; UINT32_MAX: none of this graph. */
static uint32_t maker_of(const struct edges *made, uint64_t name)
{
    size_t low = 0, high = made->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (made->items[middle].name < name) low = middle + 1;
        else high = middle;
    }
    return low < made->count && made->items[low].name == name ? made->items[low].node : UINT32_MAX;
}

/* Reads become edges maker -> reader, sorted by maker; *sorted: every maker stands before its readers already. */
static void to_makers(struct ordering *o, bool *sorted)
{
    size_t kept = 0;
    *sorted = true;
    for (size_t i = 0; i < o->read.count; i++) {
        uint32_t maker = maker_of(&o->made, o->read.items[i].name), reader = o->read.items[i].node;
        if (maker == UINT32_MAX || maker == reader) continue;
        if (maker > reader) *sorted = false;
        o->read.items[kept++] = (struct edge){maker, reader};
    }
    o->read.count = kept;
}

/* The least index first among the nodes that are ready: a binary heap. */
static void sift(uint32_t *heap, size_t n, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= n) return;
        if (child + 1 < n && heap[child + 1] < heap[child]) child++;
        if (heap[at] <= heap[child]) return;
        uint32_t t = heap[at];
        heap[at] = heap[child];
        heap[child] = t;
        at = child;
    }
}

static void push(uint32_t *heap, size_t *n, uint32_t node)
{
    size_t at = (*n)++;
    heap[at] = node;
    while (at && heap[(at - 1) / 2] > heap[at]) {
        uint32_t t = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = t;
        at = (at - 1) / 2;
    }
}

/* Kahn's algorithm over edges sorted by maker. What is left in a cycle follows in the file's order. */
static bool sort_nodes(struct ordering *o)
{
    struct tn_alloc *alloc = o->im->model->ctx->alloc;
    uint32_t *waits = tn_calloc(alloc, o->count + 1, sizeof(*waits)), *heap = tn_calloc(alloc, o->count + 1, sizeof(*heap));
    struct tn_wire_range *sorted = tn_calloc(alloc, o->count + 1, sizeof(*sorted));
    size_t ready = 0, done = 0, n = 0;
    if (waits && heap && sorted) {
        tn_sort(o->read.items, o->read.count, sizeof(*o->read.items), by_name, NULL);
        for (size_t i = 0; i < o->read.count; i++) waits[o->read.items[i].node]++;
        for (uint32_t i = 0; i < o->count; i++) {
            if (!waits[i]) push(heap, &ready, i);
        }
        while (ready) {
            uint32_t node = heap[0];
            heap[0] = heap[--ready];
            sift(heap, ready, 0);
            sorted[done++] = o->nodes[node];
            waits[node] = UINT32_MAX;
            size_t low = 0, high = o->read.count;
            while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (o->read.items[middle].name < node) low = middle + 1;
                else high = middle;
            }
            for (; low < o->read.count && o->read.items[low].name == node; low++) {
                if (--waits[o->read.items[low].node] == 0) push(heap, &ready, o->read.items[low].node);
            }
        }
        for (n = 0; n < o->count; n++) {
            if (waits[n] != UINT32_MAX) sorted[done++] = o->nodes[n];
        }
        memcpy(o->nodes, sorted, o->count * sizeof(*sorted));
    } else {
        tn_onnx_no_memory(o->im->r);
    }
    tn_free(alloc, waits);
    tn_free(alloc, heap);
    tn_free(alloc, sorted);
    return !o->im->r->failed;
}

bool tn_onnx_node_order(struct tn_import *im, struct tn_wire_range graph, struct tn_wire_range **out, size_t *count)
{
    struct ordering o = {.im = im};
    struct tn_alloc *alloc = im->model->ctx->alloc;
    struct tn_onnx_at m = {.kind = TN_ONNX_GRAPH, .range = graph};
    struct tn_wire_field f;
    bool sorted = true;
    while (tn_onnx_next(im->r, &m, &f)) {
        if (f.number != GRAPH_NODE) continue;
        struct tn_wire_range *moved = tn_onnx_room(im->r, o.nodes, &o.cap, o.count, sizeof(*moved), f.at);
        if (!moved) break;
        o.nodes = moved;
        o.nodes[o.count++] = f.bytes;
    }
    for (size_t i = 0; i < o.count && !im->r->failed; i++) scan_node(&o, o.nodes[i], (uint32_t)i, 0);
    if (!im->r->failed) {
        tn_sort(o.made.items, o.made.count, sizeof(*o.made.items), by_name, NULL);
        to_makers(&o, &sorted);
    }
    if (!im->r->failed && !sorted) sort_nodes(&o);
    tn_free(alloc, o.made.items);
    tn_free(alloc, o.read.items);
    *out = o.nodes;
    *count = o.count;
    return !im->r->failed;
}
