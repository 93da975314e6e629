/*
 * The dataflow graph of a package that carries its own computation: values, nodes with attributes, graphs inside nodes.
 * Read from ONNX by onnx_import.c, judged by check.c, typed by infer.c, rewritten by src/net/patch_*, run by src/exec.
 * Dense: every value has a type, and a shape whose dimensions may be symbols (net/dims.h).
 *
 * Untrusted until tn_net_check has passed. After that: names are resolved, every node names a schema, arities and
 * attribute types are the schema's, graphs are acyclic and in order. Everything lives in the model's arena; a model is
 * immutable once inferred and may be read from any thread.
 */
#ifndef TN_NET_NET_H
#define TN_NET_NET_H

#include "net/dims.h"
#include "package/onnx.h"
#include "tensor/tensor.h"

struct tn_operator;  /* ops/op.h: how a node is computed */
struct tn_patched;
struct tn_op_schema; /* net/schema.h: what the standard says of an operator */

struct tn_shape {
    bool known; /* the rank is known; dimensions may still be symbols */
    uint32_t rank;
    tn_dim_t dims[TN_RANK];
};

struct tn_type {
    enum tn_tensor_kind kind;
    enum tn_element element; /* of a tensor; of a map's keys */
    struct tn_shape shape;
    const struct tn_type *of; /* items of a sequence or optional; values of a map */
};

/* Where the values of a constant are. */
struct tn_constant {
    enum tn_element element;
    uint32_t rank;
    const int64_t *dims;
    size_t bytes;
    void *data;                 /* read already: small ones, and whatever was folded; NULL: still in the file */
    enum tn_onnx_data stored;   /* where, while data is NULL */
    struct tn_wire_range range; /* raw bytes, or the whole message of typed ones */
    uint32_t external;          /* index of model->read's externals */
    /* Of the package's weight files, which whoever runs the graph reads; NULL: of the graph's own file, or made. */
    const struct tn_tensor_info *tensor;
};

/* Attribute types by the format's numbers. */
enum tn_attr_type {
    TN_ATTR_UNDEFINED = 0,
    TN_ATTR_FLOAT = 1,
    TN_ATTR_INT = 2,
    TN_ATTR_STRING = 3,
    TN_ATTR_TENSOR = 4,
    TN_ATTR_GRAPH = 5,
    TN_ATTR_FLOATS = 6,
    TN_ATTR_INTS = 7,
    TN_ATTR_STRINGS = 8,
    TN_ATTR_TENSORS = 9,
    TN_ATTR_GRAPHS = 10,
    TN_ATTR_SPARSE_TENSOR = 11,
    TN_ATTR_SPARSE_TENSORS = 12,
    TN_ATTR_TYPE = 13,
    TN_ATTR_TYPES = 14,
    TN_ATTR_COUNT
};

struct tn_net;

struct tn_attr {
    struct tn_str name;
    enum tn_attr_type type;
    struct tn_str refers; /* inside a function: the attribute of the call whose value this is; "" otherwise */
    size_t count;         /* of lists */
    union {
        float f;
        int64_t i;
        struct tn_str s;
        const float *floats;
        const int64_t *ints;
        const struct tn_str *strings;
        struct tn_constant *tensors; /* one or count */
        struct tn_net **graphs;      /* one or count */
        const struct tn_type *types; /* one or count */
    } as;
};

enum { TN_NET_NONE = UINT32_MAX };

/*
 * A value belongs to the graph that makes it; graphs inside nodes see the values of those around them. A reference
 * counts levels outwards.
 */
struct tn_ref_value {
    uint32_t value; /* index; TN_NET_NONE: the optional operand is absent */
    uint32_t level; /* 0: this graph, 1: the one around it */
};

struct tn_net_value {
    struct tn_str name;
    struct tn_type type;          /* stated by the file, then inferred */
    struct tn_constant *constant; /* an initialiser that no input overrides, or folded */
    uint32_t producer;            /* node, or TN_NET_NONE */
    bool output;
    /* Integers of a small rank 0 or 1 value as far as inference knows them; NULL: nothing is known. */
    const tn_dim_t *content;
    uint32_t content_count;
};

struct tn_node {
    struct tn_str name, domain, type;
    int64_t version; /* of the domain, as imported where the node stands */
    const struct tn_op_schema *schema;
    const struct tn_operator *op;
    struct tn_attr *attrs;
    uint32_t attr_count;
    struct tn_ref_value *in;
    uint32_t *out; /* values of this graph; TN_NET_NONE: not wanted */
    uint32_t in_count, out_count;
    uint64_t at; /* offset in the file */
    uint32_t layer; /* 1 + the layer of a stack that it belongs to; 0: none */
};

struct tn_net {
    struct tn_model *model;
    struct tn_net *around; /* NULL: the main graph */
    struct tn_str name;
    struct tn_net_value *values;
    struct tn_node *nodes;
    uint32_t *inputs, *outputs; /* values, in order */
    struct tn_ref_value *results; /* of a graph inside a node: an output may be a value from around it */
    uint32_t value_count, node_count, input_count, output_count;
    uint32_t value_cap, node_cap;
    uint32_t number; /* among the graphs of the model, outer ones first; set before it is run */
};

struct tn_model {
    const struct tn_context *ctx;
    struct tn_arena arena;
    struct tn_onnx_view *view; /* what the file states of itself; NULL: the graph comes from no file */
    bool view_lent;            /* the view is not the model's own, and outlives it */
    struct tn_onnx_view *read; /* owned: strings and external data of what was read here */
    const struct tn_inventory *inv; /* external data are found through it; NULL: from memory */
    struct tn_source source;      /* the file: must outlive the model */
    struct tn_symbols symbols;
    struct tn_net *main;
    struct tn_patched *patched;   /* exec/patch.h: how it was rewritten; NULL: it is as written */
    enum tn_status failed; /* TN_INSUFFICIENT_MEMORY once memory was gone */
};

/*
 * Reads the graph of a model whose view is open (the model takes it over, also on failure): functions are inlined,
 * quantisation annotations and documentation are left. No weights are read but small constants, which shapes may follow
 * from. Fails with TN_ARTIFACT_MALFORMED at the first byte that is no graph; everything that is merely wrong (unknown
 * names, duplicates, cycles, recursion of functions) goes to `findings` as blockers: then *out is NULL with TN_OK.
 */
enum tn_status tn_model_import(const struct tn_context *ctx, const struct tn_inventory *inv, const struct tn_source *source,
                               struct tn_onnx_view *view, struct tn_findings *findings, struct tn_model **out,
                               struct tn_error *err);
/* The same with a view that stays the caller's and outlives the model. */
enum tn_status tn_model_import_lent(const struct tn_context *ctx, const struct tn_inventory *inv, const struct tn_source *source,
                                    struct tn_onnx_view *view, struct tn_findings *findings, struct tn_model **out,
                                    struct tn_error *err);
/* A model without a file, whose main graph is empty: what families emit. NULL without memory. */
struct tn_model *tn_model_new(const struct tn_context *ctx);
void tn_model_free(struct tn_model *model);
/*
 * A model that is no longer written to (it has been rewritten) as one load sees it: the same nodes and values, which may be
 * lent any number of times at once, with a context, a source (NULL: there is none) and memory of its own. `from` outlives it.
 */
void tn_model_lend(const struct tn_model *from, const struct tn_context *ctx, const struct tn_source *source, struct tn_model *out);
void tn_model_give_back(struct tn_model *lent);
/* The file that it was read from; "": none. */
struct tn_str tn_model_file(const struct tn_model *model);

/*
 * The values of a constant into memory of tn_element_bytes, strings into the model's arena. Checks what the header could
 * not tell: that as many are stored as the shape has. External data are read through the inventory.
 */
enum tn_status tn_constant_read(struct tn_model *model, const struct tn_constant *c, void *out, struct tn_error *err);

/*
 * Opens the file where a constant's values lie as they are in memory, from *offset on. False: they do not, or it cannot be
 * opened: tn_constant_read says why.
 */
bool tn_constant_open(struct tn_model *model, const struct tn_constant *c, struct tn_os_file *file, uint64_t *offset);

/* Of this graph or one around it; NULL where the operand is absent. */
struct tn_net_value *tn_net_at(const struct tn_net *net, struct tn_ref_value ref);
/* NULL: not given. Defaults are the schema's (net/schema.h). */
const struct tn_attr *tn_node_attr(const struct tn_node *node, const char *name);
/* A new value or node at the end. NULL or TN_NET_NONE without memory, which sticks in the model. */
uint32_t tn_net_add_value(struct tn_net *net, struct tn_str name);
struct tn_node *tn_net_add_node(struct tn_net *net);

/* "float32 [batch, 2]", "sequence of ...": returns out. */
const char *tn_type_text(const struct tn_model *model, const struct tn_type *type, char *out, size_t cap);

#endif
