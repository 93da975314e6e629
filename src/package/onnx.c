/*
 * ONNX, recognised: whether the bytes are a ModelProto, and what stands on its surface: versions, counts, and the files
 * that hold its external data. Field numbers are those of onnx.proto. Does not judge operators or versions, which the
 * graph reader does; a file whose surface holds may still be unusable.
 */
#include "package/onnx.h"

#include "package/wire.h"

#include <stdio.h>
#include <string.h>

/* ModelProto, GraphProto, TensorProto, OperatorSetIdProto, StringStringEntryProto */
enum { MODEL_IR_VERSION = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8 };
enum { GRAPH_NODE = 1, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { TENSOR_EXTERNAL = 13 };
enum { OPSET_DOMAIN = 1, OPSET_VERSION = 2 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };

struct reader {
    struct tn_wire wire;
    struct tn_arena *arena;
    struct tn_onnx_surface *out;
    struct tn_str locations[TN_ONNX_LOCATIONS]; /* while they are collected */
    bool no_memory;
};

/* Wire type that a field of ModelProto has; -1: no such field. */
static int model_type(uint32_t number)
{
    static const signed char types[] = {
        [1] = TN_WIRE_VARINT, [2] = TN_WIRE_BYTES,  [3] = TN_WIRE_BYTES,  [4] = TN_WIRE_BYTES,
        [5] = TN_WIRE_VARINT, [6] = TN_WIRE_BYTES,  [7] = TN_WIRE_BYTES,  [8] = TN_WIRE_BYTES,
        [14] = TN_WIRE_BYTES, [20] = TN_WIRE_BYTES, [25] = TN_WIRE_BYTES, [26] = TN_WIRE_BYTES,
    };
    bool known = (number >= 1 && number <= 8) || number == 14 || number == 20 || number == 25 || number == 26;
    return known ? types[number] : -1;
}

/* "ai.onnx 17", appended to the list of operator sets. */
static void read_opset(struct reader *r, struct tn_wire_range range)
{
    char domain[64] = "", *out = r->out->opsets;
    uint64_t version = 0;
    struct tn_wire_field f;
    while (tn_wire_next(&r->wire, &range, &f)) {
        if (f.number == OPSET_DOMAIN && f.type == TN_WIRE_BYTES)
            tn_wire_text(&r->wire, f.bytes, domain, sizeof(domain));
        if (f.number == OPSET_VERSION && f.type == TN_WIRE_VARINT) version = f.value;
    }
    size_t n = strlen(out), cap = sizeof(r->out->opsets);
    snprintf(out + n, cap - n, "%s%s %llu", n ? ", " : "", *domain ? domain : "ai.onnx", (unsigned long long)version);
}

static void add_location(struct reader *r, const char *name, size_t n)
{
    struct tn_onnx_surface *out = r->out;
    struct tn_str text = {name, n};
    for (uint32_t i = out->location_count; i-- > 0;) {
        if (tn_str_eq(r->locations[i], text)) return;
    }
    if (out->location_count == TN_ONNX_LOCATIONS) {
        out->more_locations = true;
        return;
    }
    struct tn_str copy = tn_arena_str(r->arena, text);
    r->no_memory = r->no_memory || !copy.s;
    if (copy.s) r->locations[out->location_count++] = copy;
}

/* The list in its final size; the texts are in the arena already. */
static void keep_locations(struct reader *r)
{
    struct tn_onnx_surface *out = r->out;
    if (out->location_count == 0) return;
    out->locations = tn_arena_array(r->arena, out->location_count, sizeof(*out->locations));
    r->no_memory = r->no_memory || !out->locations;
    if (out->locations) memcpy(out->locations, r->locations, out->location_count * sizeof(*out->locations));
}

static void read_external(struct reader *r, struct tn_wire_range range)
{
    char key[16] = "", value[1024] = "";
    size_t n = 0;
    struct tn_wire_field f;
    while (tn_wire_next(&r->wire, &range, &f)) {
        if (f.type != TN_WIRE_BYTES) continue;
        if (f.number == ENTRY_KEY) tn_wire_text(&r->wire, f.bytes, key, sizeof(key));
        if (f.number == ENTRY_VALUE) n = tn_wire_text(&r->wire, f.bytes, value, sizeof(value));
    }
    if (strcmp(key, "location") == 0) add_location(r, value, n);
}

static void read_initializer(struct reader *r, struct tn_wire_range range)
{
    struct tn_wire_field f;
    while (tn_wire_next(&r->wire, &range, &f)) {
        if (f.number == TENSOR_EXTERNAL && f.type == TN_WIRE_BYTES) read_external(r, f.bytes);
    }
}

static void read_graph(struct reader *r, struct tn_wire_range range)
{
    struct tn_wire_field f;
    while (tn_wire_next(&r->wire, &range, &f)) {
        if (f.type != TN_WIRE_BYTES) continue;
        r->out->nodes += f.number == GRAPH_NODE;
        r->out->inputs += f.number == GRAPH_INPUT;
        r->out->outputs += f.number == GRAPH_OUTPUT;
        r->out->initializers += f.number == GRAPH_INITIALIZER;
        if (f.number == GRAPH_INITIALIZER) read_initializer(r, f.bytes);
    }
}

/* The fields of the model itself; false when they are not those of one. */
static bool read_model(struct reader *r, uint64_t size)
{
    struct tn_wire_range all = {0, size}, graph = {0, 0};
    struct tn_wire_field f;
    while (tn_wire_next(&r->wire, &all, &f)) {
        if (model_type(f.number) != (int)f.type) return false;
        if (f.number == MODEL_IR_VERSION) r->out->ir_version = f.value;
        if (f.number == MODEL_GRAPH) graph = f.bytes;
        if (f.number == MODEL_OPSET) read_opset(r, f.bytes);
        if (f.number == MODEL_PRODUCER) tn_wire_text(&r->wire, f.bytes, r->out->producer, sizeof(r->out->producer));
    }
    if (r->wire.failed || graph.end == 0 || r->out->ir_version == 0) return false;
    read_graph(r, graph);
    r->out->whole = !r->wire.failed;
    return true;
}

enum tn_status tn_onnx_surface(const struct tn_source *source, struct tn_alloc *alloc, struct tn_arena *arena,
                               struct tn_onnx_surface *out, bool *is_onnx)
{
    *out = (struct tn_onnx_surface){0};
    struct reader *r = tn_malloc(alloc, sizeof(*r));
    if (!r) return TN_INSUFFICIENT_MEMORY;
    r->arena = arena;
    r->out = out;
    r->no_memory = false;
    tn_wire_init(&r->wire, source);
    *is_onnx = read_model(r, source->size);
    keep_locations(r);
    enum tn_status status = r->no_memory ? TN_INSUFFICIENT_MEMORY : TN_OK;
    tn_free(alloc, r);
    return status;
}
