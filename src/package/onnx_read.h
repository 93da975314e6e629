/*
 * What the parts of the ONNX reader share: walking the fields of a message by the tables of onnx_schema.h, with one
 * sticky failure. Private to src/package.
 *
 *     struct tn_onnx_at m = {TN_ONNX_NODE, range};
 *     while ((field = tn_onnx_next(r, &m, &f))) switch (f.number) ...
 */
#ifndef TN_PACKAGE_ONNX_READ_H
#define TN_PACKAGE_ONNX_READ_H

#include "package/onnx.h"

/* A graph or function body that waits to be walked. */
struct tn_onnx_waiting {
    enum tn_onnx_message kind;
    struct tn_wire_range range;
    uint32_t depth;
    bool in_function;
};

/* Names of what a Gather reads: a table, and what may be an input of the graph. */
struct tn_onnx_gather {
    struct tn_str table, index;
};

struct tn_onnx_reader {
    const struct tn_context *ctx;
    struct tn_onnx_view *view;
    bool light;  /* counts, versions and external data alone */
    bool walked; /* not for the first time: long lists of attributes are passed by */
    struct tn_error *err;
    enum tn_status failed;
    struct tn_wire wire;
    /* capacities of the growing arrays of the view */
    size_t opset_cap, property_cap, input_cap, output_cap, initializer_cap, external_cap, node_cap, operator_cap;
    size_t order_cap, function_cap, waiting_cap;
    uint64_t initializers, nodes, inputs, outputs; /* counted where light keeps nothing */
    struct tn_onnx_waiting *waiting;
    size_t waiting_count;
    struct tn_onnx_gather *gathers; /* of the main graph */
    size_t gather_count, gather_cap;
    char domain[512], type[512]; /* of the node at hand */
    bool other_axis;             /* some whole number among its attributes is not 0: for Gather, the axis */
};

/* A message on the way: what is left of it and which single fields stood already. */
struct tn_onnx_at {
    enum tn_onnx_message kind;
    struct tn_wire_range range;
    uint32_t seen;
};

/* The next field that the tables know, its wire type checked; NULL at the end or after a failure. */
const struct tn_onnx_field *tn_onnx_next(struct tn_onnx_reader *r, struct tn_onnx_at *m, struct tn_wire_field *f);

/* All return false and keep the first failure. */
bool tn_onnx_no_memory(struct tn_onnx_reader *r);
bool tn_onnx_malformed(struct tn_onnx_reader *r, uint64_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool tn_onnx_over_limit(struct tn_onnx_reader *r, uint64_t at, const char *name, uint64_t limit);

/* A string into the view's arena: valid UTF-8, at most the limit name_bytes. "" after a failure. */
struct tn_str tn_onnx_string(struct tn_onnx_reader *r, struct tn_wire_range range);
/* "ai.onnx" for the empty domain; both are constants or the argument. */
struct tn_str tn_onnx_domain(struct tn_str domain);
/* Room for one more item under the limit `tensors`: the (moved) array, or NULL with the failure set. */
void *tn_onnx_room(struct tn_onnx_reader *r, void *items, size_t *cap, size_t count, size_t size, uint64_t at);

/* onnx_port.c: one ValueInfoProto. */
void tn_onnx_read_port(struct tn_onnx_reader *r, struct tn_wire_range range, uint64_t at, struct tn_onnx_port *out);
/* onnx_tensor.c: one TensorProto; its external data goes into the view. `name`: used where the tensor has none. */
void tn_onnx_read_tensor(struct tn_onnx_reader *r, struct tn_wire_range range, struct tn_str name,
                         struct tn_onnx_tensor *out);
/* The distinct locations of all external data. */
void tn_onnx_collect_locations(struct tn_onnx_reader *r);
/*
 * Walks the whole source into r->view. *top: the fields of the model itself were in order, whatever came of the graph.
 * With r->light a source that is no ModelProto is not walked further.
 */
enum tn_status tn_onnx_read_model(struct tn_onnx_reader *r, const struct tn_source *source, bool *top);
/* A zeroed view and reader; NULL without memory. */
struct tn_onnx_reader *tn_onnx_reader_new(const struct tn_context *ctx, struct tn_str file, bool light,
                                          struct tn_error *err);
/* Frees the reader; the view with it unless it was taken (r->view NULL). */
void tn_onnx_reader_free(struct tn_onnx_reader *r);

#endif
