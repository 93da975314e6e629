/* A contract whose only component is a graph, while it is read. Internal to the dialect inference_metadata. */
#ifndef TN_DESCRIBE_DIALECT_GRAPH_CONTRACT_H
#define TN_DESCRIBE_DIALECT_GRAPH_CONTRACT_H

#include "describe/dialect/contract.h"

#define TN_GRAPH_CONTRACT_RULE "inference_metadata.graph/1"

struct tn_graph_reading {
    struct tn_builder *b;
    const struct tn_standard *doc;
    const struct tn_std_workflow *flow;
    const struct tn_std_component *component;
    const struct tn_std_step *invoke;
    struct tn_graph_facts *graph;
};

/* Among what a caller may feed; among the outputs of the view. TN_NO_PORT: none has the name. */
uint32_t tn_graph_input_named(const struct tn_graph_facts *g, struct tn_str name);
uint32_t tn_graph_output_named(const struct tn_graph_facts *g, struct tn_str name);

/* graph_contract.c: the value of a workflow's input goes into an input of the graph. */
void tn_graph_feed(struct tn_graph_reading *c, uint32_t input, const struct tn_std_input *in);
/* A value against a port that the component does not declare: what it declares was compared already. */
void tn_graph_check_type(struct tn_graph_reading *c, const struct tn_std_ports *declared, const struct tn_std_contract *contract,
                         const struct tn_onnx_port *port);
/* graph_generation.c: what the generation contract says of an input that is fed. */
void tn_graph_generation(struct tn_graph_reading *c, uint32_t input, const struct tn_std_input *in);
/* graph_state.c: cells and groups. */
void tn_graph_states(struct tn_graph_reading *c);
/* graph_held.c: what is compared with the graph or refused, and the closed list of all that is understood. */
void tn_graph_held(struct tn_graph_reading *c);
/* graph_values.c: contracts, roles and layouts of values, and inputs that nobody reads. */
void tn_graph_values(struct tn_graph_reading *c);

#endif
