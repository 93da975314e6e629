/*
 * What the parts of the graph importer share: attributes, types and constants of one ONNX file. Private to src/net.
 * Everything fails through the reader's sticky failure.
 */
#ifndef TN_NET_ONNX_ATTR_H
#define TN_NET_ONNX_ATTR_H

#include "net/net.h"
#include "package/onnx_read.h"

/* A function of the model whose body is being read. */
struct tn_call {
    const struct tn_call *outer;
    const struct tn_onnx_function *function;
    struct tn_attr *attrs; /* as given by the call, then the function's defaults */
    uint32_t attr_count;
};

struct tn_import {
    struct tn_onnx_reader *r; /* its view becomes the model's `read` */
    struct tn_model *model;
    struct tn_findings *findings;
    const struct tn_onnx_opset *opsets; /* in force: the model's, or a function's */
    uint32_t opset_count;
    const struct tn_call *call; /* whose body is read; NULL: none */
    bool reading_defaults;
    bool wrong; /* there are findings that block */
};

typedef struct tn_net *tn_inner_graph_fn(void *context, struct tn_wire_range graph);

/* False: a failure, or an attribute of a function that the call leaves out. `inner` reads a graph. */
bool tn_onnx_read_attr(struct tn_import *im, struct tn_wire_range range, tn_inner_graph_fn *inner, void *context,
                       struct tn_attr *out);
/* Adds the defaults of a function's attributes that the call does not give. */
bool tn_onnx_call_defaults(struct tn_import *im, struct tn_call *call);
/* False: a type that has no values here (opaque), or one that states nothing. */
bool tn_onnx_read_type(struct tn_import *im, struct tn_wire_range range, struct tn_type *out);
/* TensorProto; values of at most TN_CONSTANT_NOW bytes that stand in the file are read at once. */
enum { TN_CONSTANT_NOW = 4096 };
bool tn_onnx_read_constant(struct tn_import *im, struct tn_wire_range range, struct tn_str *name, struct tn_constant *out);
/* SparseTensorProto, made dense. */
bool tn_onnx_read_sparse(struct tn_import *im, struct tn_wire_range range, struct tn_str *name, struct tn_constant *out);

/* onnx_order.c: the nodes of a graph, each after those that it reads. *out is tn_free's, also after a failure. */
bool tn_onnx_node_order(struct tn_import *im, struct tn_wire_range graph, struct tn_wire_range **out, size_t *count);

#endif
