/*
 * ONNX models with nothing but ports, out of lines of text: "<input_ids:7:batch,sequence" is an input of element type 7,
 * ">logits:1:batch,sequence,100" an output. Extents are numbers, symbols, or ? for one that is not stated. For tests and
 * fuzz targets that need graphs of many shapes.
 */
#ifndef TN_ONNX_PORTS_H
#define TN_ONNX_PORTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ports_buf {
    unsigned char data[1 << 16];
    size_t n;
};

static inline void ports_byte(struct ports_buf *b, unsigned v)
{
    if (b->n < sizeof(b->data)) b->data[b->n++] = (unsigned char)v;
}

static inline void ports_number(struct ports_buf *b, uint64_t v)
{
    for (; v >= 128; v >>= 7) ports_byte(b, (unsigned)(v & 127) | 128);
    ports_byte(b, (unsigned)v);
}

static inline void ports_varint(struct ports_buf *b, unsigned field, uint64_t v)
{
    ports_number(b, field << 3);
    ports_number(b, v);
}

static inline void ports_bytes(struct ports_buf *b, unsigned field, const void *p, size_t n)
{
    ports_number(b, field << 3 | 2);
    ports_number(b, n);
    for (size_t i = 0; i < n; i++) ports_byte(b, ((const unsigned char *)p)[i]);
}

static inline void ports_dim(struct ports_buf *shape, const char *text, size_t n)
{
    struct ports_buf *dim = calloc(1, sizeof(*dim));
    if (text[0] >= '0' && text[0] <= '9') ports_varint(dim, 1, strtoull(text, NULL, 10));
    else if (text[0] != '?') ports_bytes(dim, 2, text, n);
    ports_bytes(shape, 1, dim->data, dim->n);
    free(dim);
}

static inline void ports_port(struct ports_buf *graph, const char *line)
{
    struct ports_buf *value = calloc(4, sizeof(*value)), *type = value + 1, *tensor = value + 2, *shape = value + 3;
    const char *name = line + 1, *colon = strchr(name, ':');
    ports_bytes(value, 1, name, (size_t)(colon - name));
    ports_varint(tensor, 1, strtoull(colon + 1, NULL, 10));
    const char *at = strchr(colon + 1, ':');
    while (at && *++at) {
        size_t n = strcspn(at, ",");
        ports_dim(shape, at, n);
        at += n;
        if (!*at) break;
    }
    ports_bytes(tensor, 2, shape->data, shape->n);
    ports_bytes(type, 1, tensor->data, tensor->n);
    ports_bytes(value, 2, type->data, type->n);
    ports_bytes(graph, line[0] == '<' ? 11 : 12, value->data, value->n);
    free(value);
}

/* Lines end with NULL. The model's bytes are in out. */
static inline void ports_model(struct ports_buf *out, const char *const *lines)
{
    struct ports_buf *graph = calloc(2, sizeof(*graph)), *opset = graph + 1;
    ports_bytes(graph, 2, "main", 4);
    for (; *lines; lines++) ports_port(graph, *lines);
    ports_varint(opset, 2, 17);
    memset(out, 0, sizeof(*out));
    ports_varint(out, 1, 8);
    ports_bytes(out, 7, graph->data, graph->n);
    ports_bytes(out, 8, opset->data, opset->n);
    free(graph);
}

#endif
