/* A packaging convention: one file each, one row in the table of describe.c. Internal to src/describe. */
#ifndef TN_DESCRIBE_DIALECT_DIALECT_H
#define TN_DESCRIBE_DIALECT_DIALECT_H

#include "describe/builder.h"

struct tn_dialect {
    const char *name, *version; /* the version changes whenever the same package would be described differently */
    bool (*recognises)(const struct tn_builder *b);
    /* Fills the description; problems become findings. */
    void (*describe)(struct tn_builder *b);
};

extern const struct tn_dialect tn_dialect_genai_config;
extern const struct tn_dialect tn_dialect_inference_metadata;
extern const struct tn_dialect tn_dialect_onnx;
extern const struct tn_dialect tn_dialect_recognised; /* names itself by the container */
extern const struct tn_dialect tn_dialect_sentence_transformers;
extern const struct tn_dialect tn_dialect_transformers;

#endif
