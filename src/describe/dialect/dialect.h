/* A packaging convention: one file each, one row in the table of describe.c. Internal to src/describe. */
#ifndef TN_DESCRIBE_DIALECT_DIALECT_H
#define TN_DESCRIBE_DIALECT_DIALECT_H

#include "describe/builder.h"

struct tn_dialect {
    const char *name, *version; /* the version changes whenever the same package would be described differently */
    bool (*recognises)(const struct tn_builder *b);
    /* Fills the description; problems become findings. */
    void (*describe)(struct tn_builder *b);
    bool bare; /* goes by the weights alone: no document says anything that a contract could contradict */
};

extern const struct tn_dialect tn_dialect_genai_config;
extern const struct tn_dialect tn_dialect_inference_metadata;
extern const struct tn_dialect tn_dialect_onnx;
extern const struct tn_dialect tn_dialect_recognised; /* names itself by the container */
extern const struct tn_dialect tn_dialect_sentence_transformers;
extern const struct tn_dialect tn_dialect_transformers;

/*
 * onnx.c: the facts of a graph into the description, whose variant is set. NULL after a failure. With `check` its versions,
 * names and external data are judged, too.
 */
struct tn_graph_facts *tn_describe_graph(struct tn_builder *b, const struct tn_package_file *file, bool check);
/* graph_texts.c: a convention's component over the graph that is its weights: the graph's facts, and its ports by role. */
void tn_describe_graph_texts(struct tn_builder *b);
/* graph_contract.c: a declared workflow whose only component is a graph that it calls once. */
void tn_describe_graph_contract(struct tn_builder *b, struct tn_json component);

#endif
