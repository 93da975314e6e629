/*
 * ONNX files as facts: what the stages before execution need, read without touching a weight. The view of a file of
 * gigabytes costs a few small reads; raw_data stays a range of the source. Facts only: onnx_check.c judges them, and
 * whether an operator can run is for the graph's reader, which starts from the ranges kept here. Input is hostile.
 *
 * Two serial forms fill the same view: the protobuf bytes, and protobuf's text form ("*.onnx.textproto"), which is for
 * inspection and validation alone: a graph in text form is never executable.
 */
#ifndef TN_PACKAGE_ONNX_H
#define TN_PACKAGE_ONNX_H

#include "package/onnx_schema.h"
#include "package/package.h"
#include "package/wire.h"

/* ---- the surface: what the inventory needs while it walks -------------------------------------------------------- */

/* One file of external data, as written and unchecked, with what the tensors that name it claim. */
struct tn_onnx_location {
    struct tn_str name;
    struct tn_str first; /* name of the first tensor that stands there */
    uint64_t tensors, bytes;
};

struct tn_onnx_surface {
    uint64_t ir_version;
    char producer[64];
    char opsets[256]; /* "ai.onnx 17, com.microsoft 1" */
    uint64_t nodes, inputs, outputs, initializers;
    bool whole; /* the graph could be walked to its end */
    struct tn_onnx_location *locations; /* distinct names, sorted; in the arena */
    uint32_t location_count;
};

/*
 * *is_onnx: every field is one of ModelProto's, to the last byte of the source, with a version and a graph. Reads
 * the source in small blocks. TN_INSUFFICIENT_MEMORY is the only failure; unreadable bytes are not ONNX.
 */
enum tn_status tn_onnx_surface(const struct tn_context *ctx, const struct tn_source *source, struct tn_arena *arena,
                               struct tn_onnx_surface *out, bool *is_onnx);

/* ---- the view ---------------------------------------------------------------------------------------------------- */

enum tn_onnx_dim_kind { TN_ONNX_DIM_UNKNOWN, TN_ONNX_DIM_VALUE, TN_ONNX_DIM_SYMBOL };

struct tn_onnx_dim {
    enum tn_onnx_dim_kind kind;
    int64_t value; /* as stated: may be negative */
    struct tn_str symbol;
};

#define TN_ONNX_PORT_KIND_LIST(X)                                                                  \
    X(UNTYPED, "untyped")                                                                          \
    X(TENSOR, "tensor")                                                                            \
    X(SPARSE, "sparse_tensor")                                                                     \
    X(SEQUENCE, "sequence")                                                                        \
    X(MAP, "map")                                                                                  \
    X(OPTIONAL, "optional")                                                                        \
    X(OPAQUE, "opaque")

enum tn_onnx_port_kind {
#define X(name, text) TN_ONNX_PORT_##name,
    TN_ONNX_PORT_KIND_LIST(X)
#undef X
};

struct tn_onnx_port {
    struct tn_str name;
    enum tn_onnx_port_kind kind; /* the outermost: a sequence of maps is a sequence */
    uint32_t element;            /* number of the innermost tensor's (or map's value) type; 0: not stated */
    uint32_t key;                /* a map's key type (the innermost map's) */
    bool rank_known;             /* of the innermost tensor */
    uint32_t rank;
    struct tn_onnx_dim *dims;
    bool initialised; /* an initialiser of the same name gives the default: a caller need not feed it */
    /* Rows of the table (an initialiser of rank 2) that an input indexes by Gather; 0: none, or tables that differ. */
    uint64_t table_rows;
    uint64_t at;      /* offset of the declaration */
};

/* Where the values of a tensor are. */
enum tn_onnx_data { TN_ONNX_DATA_NONE, TN_ONNX_DATA_RAW, TN_ONNX_DATA_TYPED, TN_ONNX_DATA_EXTERNAL };

struct tn_onnx_tensor {
    struct tn_str name;
    uint32_t element, rank;
    bool sparse; /* of a SparseTensorProto: `element` and data are those of its values */
    enum tn_onnx_data data;
    const int64_t *dims; /* as stated: may be negative */
    struct tn_wire_range message; /* of its TensorProto in the source */
    struct tn_wire_range raw;     /* TN_ONNX_DATA_RAW; never read here */
    uint32_t external;            /* index, or UINT32_MAX */
};

/* A reference to bytes outside the file. Numbers are kept as text too, since what is no number must be shown. */
struct tn_onnx_external {
    struct tn_str tensor, location, offset, length;
    bool have_offset, have_length, bad_offset, bad_length; /* bad: not a decimal number below 2^63 */
    uint64_t offset_bytes, length_bytes;
    uint32_t file; /* index of locations */
    bool sized; /* the shape and type give a size */
    uint64_t bytes;
    bool unmarked; /* external_data stands there although data_location does not say EXTERNAL */
    bool inside;   /* values are stored in the file as well */
    uint64_t at;
};

struct tn_onnx_opset {
    struct tn_str domain; /* "ai.onnx" where the file says "" */
    int64_t version;
};

struct tn_onnx_property {
    struct tn_str key, value;
    uint64_t bytes; /* of the value in the file */
    bool cut;       /* longer than TN_ONNX_PROPERTY_BYTES: `value` is empty */
};
enum { TN_ONNX_PROPERTY_BYTES = 64 << 10 };

struct tn_onnx_node {
    struct tn_str name, output; /* the first output, which for most is the only one */
    uint32_t op; /* index of operators */
    struct tn_wire_range message;
};

/* Counts over the main graph and all graphs inside its nodes; `in_functions` over the bodies of local functions. */
struct tn_onnx_operator {
    struct tn_str domain, type; /* "ai.onnx" where the file says "" */
    uint64_t count, in_functions;
};

struct tn_onnx_function {
    struct tn_str domain, name, overload;
    struct tn_onnx_opset *opsets;
    uint32_t opset_count;
    uint64_t nodes;
    struct tn_wire_range message;
};

/* A field that the tables of onnx_schema.c do not have: written by something newer, or no ONNX at all. */
struct tn_onnx_unknown {
    enum tn_onnx_message message;
    uint32_t number;
    uint64_t at;
};
enum { TN_ONNX_UNKNOWN = 16 };

/* Immutable; all strings live in its arena. Read it from any thread. */
struct tn_onnx_view {
    struct tn_alloc *alloc;
    struct tn_arena arena;
    struct tn_str file; /* path inside the package, for places */
    bool text_form;     /* never executable; ranges are those of a transcript that is gone, and empty */
    bool has_ir_version, has_graph;
    int64_t ir_version, model_version;
    struct tn_str producer_name, producer_version, domain, graph_name;
    struct tn_onnx_opset *opsets; /* in the order of the file, twice when written twice */
    uint32_t opset_count;
    struct tn_onnx_property *properties;
    uint32_t property_count;
    struct tn_onnx_port *inputs, *outputs; /* in the order of the file */
    uint32_t input_count, output_count;
    uint32_t *input_order, *output_order; /* indices, sorted by name */
    struct tn_onnx_tensor *initializers; /* of the main graph, in the order of the file */
    uint32_t initializer_count;
    uint32_t *initializer_order;         /* indices, sorted by name */
    struct tn_onnx_external *externals;  /* of all tensors of the file, also those inside nodes and functions */
    uint32_t external_count;
    struct tn_onnx_location *locations; /* the distinct locations of externals, sorted */
    uint32_t location_count;
    struct tn_onnx_node *nodes; /* of the main graph, in order */
    uint32_t node_count;
    uint64_t nested_nodes; /* of graphs inside nodes */
    bool inner_graphs;     /* whether an attribute holds one, in functions too */
    struct tn_onnx_operator *operators; /* in the order of their first use */
    uint32_t *operator_order;           /* indices, sorted by domain, then type */
    uint32_t operator_count;
    struct tn_onnx_function *functions;
    uint32_t function_count;
    uint32_t training_count; /* training_info entries, which inference does not read */
    struct tn_onnx_unknown unknown[TN_ONNX_UNKNOWN];
    uint32_t unknown_count;
    bool more_unknown;
};

/*
 * Reads a ModelProto. Fails with TN_ARTIFACT_MALFORMED (place: the byte offset) when the bytes cannot be walked, a field
 * has another wire type than the format gives it, or a single field stands twice; with TN_RESOURCE_LIMIT at `tensors`
 * (initialisers, nodes, ports, functions, properties, external references: each), `rank`, `name_bytes`, `json_depth` (graphs inside
 * graphs, types inside types) or the wire's own bound of fields. What is merely wrong is kept for tn_onnx_check.
 */
enum tn_status tn_onnx_view_open(const struct tn_context *ctx, const struct tn_source *source,
                                 struct tn_onnx_view **out, struct tn_error *err);
/*
 * The same of a source that has been walked whole before and has not changed since, for whoever reads its nodes next
 * (net/net.h): what stands in an attribute behind the beginning of a long list of numbers or strings is not looked at.
 */
enum tn_status tn_onnx_view_open_again(const struct tn_context *ctx, const struct tn_source *source, struct tn_onnx_view **out,
                                       struct tn_error *err);
/* The text form; `file` names it in errors, which quote line and column. The text is not needed afterwards. */
enum tn_status tn_onnx_view_open_text(const struct tn_context *ctx, struct tn_str file, struct tn_str text,
                                      struct tn_onnx_view **out, struct tn_error *err);
/*
 * A listed file of a package in either form, by its role; opened now, closed before the return. Any other role is
 * TN_ARTIFACT_MALFORMED: the file is not a graph.
 */
enum tn_status tn_inventory_onnx(const struct tn_inventory *inv, const struct tn_package_file *file,
                                 struct tn_onnx_view **out, struct tn_error *err);
void tn_onnx_view_free(struct tn_onnx_view *view);

const char *tn_onnx_port_kind_name(enum tn_onnx_port_kind kind);
const struct tn_onnx_port *tn_onnx_input(const struct tn_onnx_view *view, struct tn_str name);
const struct tn_onnx_port *tn_onnx_output(const struct tn_onnx_view *view, struct tn_str name);
const struct tn_onnx_tensor *tn_onnx_initializer(const struct tn_onnx_view *view, struct tn_str name);
/* The first node of the main graph with this name, or NULL. Linear. */
const struct tn_onnx_node *tn_onnx_node(const struct tn_onnx_view *view, struct tn_str name);
/* Version of a domain, 0 when it is not imported. */
int64_t tn_onnx_opset(const struct tn_onnx_view *view, struct tn_str domain);
/* "float32 [batch, 2, ?]", "sequence of float32", as people write it. Returns out. */
const char *tn_onnx_port_text(const struct tn_onnx_port *port, char *out, size_t cap);
/* Elements times bits, rounded up to bytes; false when a dimension is negative, the type has no size, or it overflows. */
bool tn_onnx_tensor_bytes(uint32_t element, const int64_t *dims, uint32_t rank, uint64_t *out);

/* One object with everything above, deterministic. */
void tn_onnx_view_write(struct tn_json_writer *w, const struct tn_onnx_view *view);

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

/*
 * All problems of one view in one pass: versions (0, missing, twice: artifact_malformed; newer than known:
 * version_unqualified; with found, range and domain), nodes of a domain that is not imported, names that occur twice,
 * unknown fields, initialisers whose stored size is not that of their shape, external data (names that leave the
 * package: path_escape; files that are not there: artifact_missing, once per file with tensors and bytes; ranges that
 * are no numbers or leave the file). External names are relative to the folder of view->file. `inv` NULL: the model
 * came from memory, and external data is an error of its own.
 */
void tn_onnx_check(const struct tn_onnx_view *view, const struct tn_inventory *inv, struct tn_findings *findings);
/* "no file x.data; 3 tensors, 96 bytes, the first is w": what a finding about a missing location has found. */
void tn_onnx_location_missing(struct tn_finding *f, const struct tn_onnx_location *location, struct tn_str path);

#endif
