/* Parts of the task `tensor` that share no state: values of a request, and values as JSON. */
#ifndef TN_TASK_TENSOR_H
#define TN_TASK_TENSOR_H

#include "task/task.h"

/* Symbols of declared dimensions, and the number that the first input to have one gave it. */
struct tn_tensor_symbols {
    struct tn_str name[64];
    int64_t value[64];
    struct tn_str by[64]; /* which input */
    size_t count;
    /* Of a contract: rows of the requests, one number wherever they lie along an axis. */
    bool has_rows;
    int64_t rows;
    struct tn_str rows_by;
};

/*
 * A value of a request in memory of `heap`; NULL after a finding about what it is, without memory with *no_memory. Held
 * against the port: kind, element type, rank and dimensions.
 */
struct tn_tensor *tn_tensor_of_request(const struct tn_onnx_port *port, const tn_port_value *v, struct tn_heap *heap,
                                       const struct tn_limits *limits, struct tn_tensor_symbols *symbols,
                                       struct tn_findings *findings, bool *no_memory);

/*
 * tensor_default.c: an operand against what the contract declares of its port, a value that a caller gave against the bounds
 * that it states, and the declared default of an input. NULL after a finding or without memory. contract may be NULL.
 */
void tn_tensor_declared(const struct tn_onnx_port *port, const struct tn_std_contract *contract, const struct tn_tensor *t,
                        struct tn_tensor_symbols *declared, struct tn_findings *findings);
void tn_tensor_bounded(const struct tn_graph_input *said, const struct tn_tensor *t, struct tn_findings *findings);
/* A result against what the contract declares of it. */
enum tn_status tn_tensor_published(const struct tn_graph_result *result, const struct tn_tensor *t, struct tn_tensor_symbols *declared,
                                   struct tn_error *err);
struct tn_tensor *tn_tensor_of_default(const struct tn_onnx_port *port, const struct tn_graph_input *said, struct tn_heap *heap,
                                       const struct tn_limits *limits, const struct tn_tensor_symbols *graph,
                                       const struct tn_tensor_symbols *declared, struct tn_findings *findings, bool *no_memory);

/*
 * tensor_json.c: JSON to a value by a declared type. Lists nested to the rank, or {"dtype", "shape", "data"}; of sequences
 * {"sequence": [...]} or a list; of maps {"keys": [...], "values": [...]}; null for an optional that holds nothing.
 * NULL: *fault says why, or without memory *fault is NULL.
 */
struct tn_tensor_fault {
    const char *message, *expected;
    struct tn_json at; /* absent: the value as a whole */
};
struct tn_tensor *tn_tensor_of_json(const struct tn_onnx_port *port, struct tn_json v, struct tn_heap *heap,
                                    struct tn_tensor_fault *fault);
void tn_tensor_write(struct tn_json_writer *w, const struct tn_tensor *t);

extern const struct tn_recipe tn_recipe_tensor;

#endif
