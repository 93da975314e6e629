/*
 * Inputs and outputs of a graph: a ValueInfoProto with its type. Types nest (a sequence of maps of tensors); the port
 * keeps the outermost kind and the innermost tensor, which is what contracts speak about.
 */
#include "package/onnx_read.h"

#include <stdio.h>
#include <string.h>

const char *tn_onnx_port_kind_name(enum tn_onnx_port_kind kind)
{
    static const char *const names[] = {
#define X(name, text) text,
        TN_ONNX_PORT_KIND_LIST(X)
#undef X
    };
    return names[kind];
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

enum { DIMENSION_VALUE = 1, DIMENSION_SYMBOL = 2 };

static void read_dimension(struct tn_onnx_reader *r, struct tn_wire_range range, struct tn_onnx_dim *out)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_DIMENSION, .range = range};
    struct tn_wire_field f;
    out->symbol = TN_STR("");
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number > DIMENSION_SYMBOL) continue; /* denotation: for people */
        if (m.seen >> DIMENSION_VALUE & m.seen >> DIMENSION_SYMBOL & 1)
            tn_onnx_malformed(r, f.at, "a dimension that is a number and a symbol");
        if (f.number == DIMENSION_VALUE) {
            out->kind = TN_ONNX_DIM_VALUE;
            out->value = (int64_t)f.value;
        } else if (f.bytes.end > f.bytes.at) { /* some exporters write "" for a dimension that they do not know */
            out->kind = TN_ONNX_DIM_SYMBOL;
            out->symbol = tn_onnx_string(r, f.bytes);
        }
    }
}

static void read_shape(struct tn_onnx_reader *r, struct tn_wire_range range, struct tn_onnx_port *port)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_SHAPE, .range = range};
    struct tn_wire_field f;
    uint64_t limit = r->ctx->limits.rank;
    struct tn_onnx_dim dims[64];
    port->rank_known = true;
    while (tn_onnx_next(r, &m, &f)) {
        if (port->rank >= limit || port->rank == sizeof(dims) / sizeof(dims[0])) {
            tn_onnx_over_limit(r, f.at, "rank", limit);
            return;
        }
        dims[port->rank] = (struct tn_onnx_dim){.kind = TN_ONNX_DIM_UNKNOWN};
        read_dimension(r, f.bytes, &dims[port->rank++]);
    }
    if (port->rank == 0 || r->failed) return;
    port->dims = tn_arena_array(&r->view->arena, port->rank, sizeof(*port->dims));
    if (!port->dims) {
        tn_onnx_no_memory(r);
        port->rank = 0;
        return;
    }
    memcpy(port->dims, dims, port->rank * sizeof(*dims));
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static uint32_t element_type(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void read_tensor_type(struct tn_onnx_reader *r, enum tn_onnx_message kind, struct tn_wire_range range,
                             struct tn_onnx_port *port)
{
    struct tn_onnx_at m = {.kind = kind, .range = range};
    struct tn_wire_field f;
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number == 1) port->element = element_type(f.value);
        if (f.number == 2) read_shape(r, f.bytes, port);
    }
}

/* The type that a sequence, optional or map holds; an empty range when it states none. */
static struct tn_wire_range held_type(struct tn_onnx_reader *r, enum tn_onnx_message kind, struct tn_wire_range range,
                                      struct tn_onnx_port *port)
{
    struct tn_onnx_at m = {.kind = kind, .range = range};
    struct tn_wire_range held = {0, 0};
    struct tn_wire_field f;
    while (tn_onnx_next(r, &m, &f)) {
        if (f.type == TN_WIRE_VARINT) {
            port->key = element_type(f.value);
        } else {
            held = f.bytes;
        }
    }
    return held;
}

static enum tn_onnx_port_kind kind_of(enum tn_onnx_message message)
{
    switch (message) {
    case TN_ONNX_TYPE_TENSOR: return TN_ONNX_PORT_TENSOR;
    case TN_ONNX_TYPE_SPARSE: return TN_ONNX_PORT_SPARSE;
    case TN_ONNX_TYPE_SEQUENCE: return TN_ONNX_PORT_SEQUENCE;
    case TN_ONNX_TYPE_MAP: return TN_ONNX_PORT_MAP;
    case TN_ONNX_TYPE_OPTIONAL: return TN_ONNX_PORT_OPTIONAL;
    case TN_ONNX_TYPE_OPAQUE: return TN_ONNX_PORT_OPAQUE;
    default: return TN_ONNX_PORT_UNTYPED;
    }
}

/* The one member of the oneof in a TypeProto; TN_ONNX_MESSAGES: none. */
static enum tn_onnx_message type_member(struct tn_onnx_reader *r, struct tn_wire_range range, struct tn_wire_range *out)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_TYPE, .range = range};
    enum tn_onnx_message found = TN_ONNX_MESSAGES;
    const struct tn_onnx_field *field;
    struct tn_wire_field f;
    while ((field = tn_onnx_next(r, &m, &f))) {
        if (field->kind != TN_ONNX_NESTED) continue;
        if (found != TN_ONNX_MESSAGES) tn_onnx_malformed(r, f.at, "a type of two kinds");
        found = (enum tn_onnx_message)field->sub;
        *out = f.bytes;
    }
    return found;
}

static void read_type(struct tn_onnx_reader *r, struct tn_wire_range range, struct tn_onnx_port *port)
{
    uint64_t limit = r->ctx->limits.json_depth;
    for (uint64_t depth = 0; !r->failed && range.end > range.at; depth++) {
        struct tn_wire_range inner = {0, 0};
        if (depth >= limit) {
            tn_onnx_over_limit(r, range.at, "json_depth", limit);
            return;
        }
        enum tn_onnx_message member = type_member(r, range, &inner);
        if (depth == 0) port->kind = kind_of(member);
        switch (member) {
        case TN_ONNX_TYPE_TENSOR:
        case TN_ONNX_TYPE_SPARSE: read_tensor_type(r, member, inner, port); return;
        case TN_ONNX_TYPE_SEQUENCE:
        case TN_ONNX_TYPE_MAP:
        case TN_ONNX_TYPE_OPTIONAL: range = held_type(r, member, inner, port); break;
        default: return;
        }
    }
}

void tn_onnx_read_port(struct tn_onnx_reader *r, struct tn_wire_range range, uint64_t at, struct tn_onnx_port *out)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_VALUE_INFO, .range = range};
    struct tn_wire_field f;
    *out = (struct tn_onnx_port){.name = TN_STR(""), .at = at};
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number == 1) out->name = tn_onnx_string(r, f.bytes);
        if (f.number == 2) read_type(r, f.bytes, out);
    }
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static size_t dims_text(const struct tn_onnx_port *port, char *out, size_t cap)
{
    size_t n = (size_t)snprintf(out, cap, " [");
    for (uint32_t i = 0; i < port->rank && n < cap; i++) {
        const struct tn_onnx_dim *d = &port->dims[i];
        const char *comma = i ? ", " : "";
        if (d->kind == TN_ONNX_DIM_VALUE) {
            n += (size_t)snprintf(out + n, cap - n, "%s%lld", comma, (long long)d->value);
        } else {
            struct tn_str symbol = d->kind == TN_ONNX_DIM_SYMBOL ? d->symbol : TN_STR("?");
            n += (size_t)snprintf(out + n, cap - n, "%s%.*s", comma, TN_FMT_ARG(symbol));
        }
    }
    if (n < cap) n += (size_t)snprintf(out + n, cap - n, "]");
    return n;
}

const char *tn_onnx_port_text(const struct tn_onnx_port *port, char *out, size_t cap)
{
    bool plain = port->kind == TN_ONNX_PORT_TENSOR, held = port->element != 0 && !plain;
    size_t n = (size_t)snprintf(out, cap, "%s%s%s", plain ? "" : tn_onnx_port_kind_name(port->kind), held ? " of " : "",
                                plain || held ? tn_onnx_element_name(port->element) : "");
    if (n >= cap) return out;
    if (port->rank_known) {
        dims_text(port, out + n, cap - n);
    } else if (plain) {
        snprintf(out + n, cap - n, " of unknown rank");
    }
    return out;
}
