/* Model types that this build has no family for: recognised by name so that a refusal can say what is missing. */
#ifndef TN_DESCRIBE_DIALECT_KNOWN_ARCHITECTURES_H
#define TN_DESCRIBE_DIALECT_KNOWN_ARCHITECTURES_H

#include "base/status.h"

struct tn_known_architecture {
    const char *model_type;
    const char *missing; /* what a family would have to bring, beside its schema, tensor list and graph builder */
};

extern const struct tn_known_architecture tn_known_architectures[];
extern const size_t tn_known_architecture_count;

#endif
