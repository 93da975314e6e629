/* The identities of a graph that came from a file; the same whoever runs it. In net_digest.c. */
#ifndef TN_PROVIDER_NATIVE_IDENTITY_H
#define TN_PROVIDER_NATIVE_IDENTITY_H

#include "net/net.h"
#include "provider.h"

/* A constant as the file has it: an initialiser, or a tensor among the attributes of a node. */
struct tn_native_constant {
    struct tn_str name; /* of the value, or of the attribute */
    uint64_t node;      /* 1 + the node's number; 0: an initialiser */
    const struct tn_constant *constant; /* NULL: the constants of a graph inside the node follow */
};

struct tn_native_constants {
    struct tn_native_constant *items;
    size_t count, cap;
};

/* Nodes, attributes, types and the values of small constants. */
struct tn_digest tn_native_net_structure(const struct tn_model *model);
/* Lists the constants of a graph and of those inside it, in order. False without memory. */
bool tn_native_net_constants(const struct tn_net *net, struct tn_arena *arena, struct tn_native_constants *list);
/*
 * SHA-256 over the constants by graph and name, of 4 MiB chunk digests; remembered under the model's structure and the stamps of
 * the variant's files. `model` is the one that reads.
 */
enum tn_status tn_native_net_weights(struct tn_model *model, const struct tn_digest *structure, const struct tn_native_constants *constants,
                                     const struct tn_variant *variant, unsigned threads, const struct tn_load_env *env, struct tn_digest *out,
                                     struct tn_error *err);

#endif
