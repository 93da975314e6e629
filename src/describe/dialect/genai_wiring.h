/*
 * How the graphs of a genai_config package are connected: which value goes into which port, which ports carry state, and
 * in which group. Internal to the import; made once every port is known to exist.
 */
#ifndef TN_DESCRIBE_DIALECT_GENAI_WIRING_H
#define TN_DESCRIBE_DIALECT_GENAI_WIRING_H

#include "describe/dialect/genai.h"

/* A value of the workflow: an input of it, or what one graph's output gives. */
struct tn_genai_value {
    struct tn_str name;
    const struct tn_genai_graph *graph;
    const struct tn_genai_binding *port; /* the input that it feeds, or the output that gives it */
    bool input;                          /* of the workflow */
};

struct tn_genai_group {
    const char *name, *kind, *layout;
    bool has_sequence, shared_buffer, read_only;
    uint32_t sequence_axis;
};

struct tn_genai_cell {
    struct tn_str name, initial; /* the cell and the value that it begins with */
    const struct tn_genai_graph *graph;
    const struct tn_genai_binding *in, *out; /* out NULL: read only */
    const struct tn_genai_group *group;
};

enum { TN_GENAI_GROUPS = 16 };

struct tn_genai_wiring {
    struct tn_genai_value *values;
    size_t value_count, value_cap;
    size_t *sources; /* index of values: one per binding, in the order of graphs and bindings */
    size_t source_count;
    size_t first[TN_GENAI_GRAPHS]; /* index of sources: first of each graph */
    struct tn_genai_cell *states;
    size_t state_count, state_cap;
    struct tn_genai_group groups[TN_GENAI_GROUPS];
    size_t group_count;
    bool has_state;
    const struct tn_genai_graph *last; /* gives the logits */
    const struct tn_genai_binding *logits;
};

/* False after a finding or a failure. Release in either case. */
bool tn_genai_wire(struct tn_genai *g, struct tn_genai_wiring *out);
void tn_genai_wiring_release(struct tn_genai *g, struct tn_genai_wiring *wiring);
/* The value at a port. */
struct tn_str tn_genai_value_of(const struct tn_genai_wiring *wiring, const struct tn_genai *g,
                                const struct tn_genai_graph *graph, const struct tn_genai_binding *port);

#endif
