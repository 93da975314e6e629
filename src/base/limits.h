/*
 * Every ceiling of the library with its reason. All are defaults: struct tn_limits is copied into the runtime and
 * each value can be changed there. Reaching one is TN_RESOURCE_LIMIT and never "unsupported model".
 */
#ifndef TN_BASE_LIMITS_H
#define TN_BASE_LIMITS_H

#include <stdint.h>

/* X(field, default, name in JSON and options) */
#define TN_LIMITS_LIST(X)                                                                          \
    /* safetensors' own ceiling for its JSON header */                                             \
    X(header_bytes, UINT64_C(100) << 20)                                                           \
    /* the largest tokenizer.json in the wild is 30 MB; leaves room without inviting abuse */      \
    X(json_bytes, UINT64_C(256) << 20)                                                             \
    /* configuration nests 5 deep; tokenizers' Sequence of Sequence stays below 10 */              \
    X(json_depth, 128)                                                                             \
    /* one node is 32 bytes: bounds the memory of a document to 2 GiB */                         \
    X(json_nodes, UINT64_C(64) << 20)                                                              \
    /* libyaml's memory, up to 4 times the document, is in no account; the largest sample has 36 KB */ \
    X(yaml_bytes, UINT64_C(1) << 20)                                                               \
    /* the longest scalars are chat templates: tens of KB */                                       \
    X(yaml_scalar_bytes, UINT64_C(256) << 10)                                                      \
    /* people write a handful; each has to be kept until the end */                                \
    X(yaml_anchors, 1024)                                                                          \
    /* bytes of JSON that all aliases together may add: as much again as the largest document */   \
    X(yaml_expansion, UINT64_C(1) << 20)                                                           \
    /* libyaml compares each directive with all before it; a document has one or two */            \
    X(yaml_directives, 64)                                                                         \
    /* a hub repository with every variant has hundreds */                                         \
    X(files, 100000)                                                                               \
    /* directories below the package root */                                                       \
    X(directory_depth, 16)                                                                         \
    /* mixture-of-experts checkpoints reach 200,000 */                                             \
    X(tensors, 1000000)                                                                            \
    /* no framework in use stores more */                                                          \
    X(rank, 8)                                                                                     \
    /* far beyond any machine, far below overflow of byte arithmetic */                            \
    X(tensor_bytes, UINT64_C(1) << 48)                                                             \
    /* names are identifiers; longer ones are attacks on logs */                                   \
    X(name_bytes, 4096)                                                                            \
    /* findings kept in one pass; the rest is counted */                                           \
    X(findings, 1000)                                                                              \
    /* vocabulary entries: the largest published has 262,144 */                                    \
    X(vocab_entries, UINT64_C(8) << 20)                                                            \
    /* one text of a request */                                                                    \
    X(text_bytes, UINT64_C(64) << 20)                                                              \
    /* items of one request */                                                                     \
    X(items, UINT64_C(16) << 20)                                                                   \
    /* tokens of one text, before truncation */                                                    \
    X(tokens, UINT64_C(64) << 20)                                                                  \
    /* modules of a pipeline */                                                                    \
    X(modules, 64)                                                                                 \
    /* threads of a pool */                                                                        \
    X(threads, 1024)

struct tn_limits {
#define X(field, value) uint64_t field;
    TN_LIMITS_LIST(X)
#undef X
};

static inline struct tn_limits tn_limits_default(void)
{
    return (struct tn_limits){
#define X(field, value) .field = (value),
        TN_LIMITS_LIST(X)
#undef X
    };
}

#endif
