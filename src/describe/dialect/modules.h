/* The module list of a sentence-transformers package while it is read. Internal to src/describe. */
#ifndef TN_DESCRIBE_DIALECT_MODULES_H
#define TN_DESCRIBE_DIALECT_MODULES_H

#include "describe/builder.h"

/*
 * Where the chain stands: what the next module finds in its hands. SCORES: the numbers of a head, or a sparse vector,
 * behind which nothing may follow. VOCABULARY: the numbers of a head over the vocabulary, one row for each token.
 * UNKNOWN: behind a module of which nobody knows what it makes; what does not fit there is a consequence and no further
 * fault.
 */
enum tn_chain_state {
    TN_CHAIN_TEXT,
    TN_CHAIN_TOKENS,
    TN_CHAIN_SENTENCE,
    TN_CHAIN_SCORES,
    TN_CHAIN_VOCABULARY,
    TN_CHAIN_UNKNOWN
};

struct tn_chain {
    struct tn_builder *b;
    enum tn_chain_state state;
    uint64_t width; /* of a row; 0: not known, because an earlier module was refused */
    bool masked;    /* a module has said which rows are kept */
    struct tn_length_sources length;
};

/* One entry of modules.json that a reader works on. */
struct tn_module_source {
    struct tn_chain *chain;
    uint32_t index;
    struct tn_str type, path; /* path: folder inside the package */
    struct tn_json entry;     /* in modules.json or tenon_package.json, for places */
    struct tn_json root;      /* config.json of the module, or absent; in tenon_package.json the entry itself */
    struct tn_str config;     /* its path, whether it is there or not */
    char prefix[32];          /* "module.2" */
};

/* "module 2 (sentence_transformers.models.Dense, 2_Dense) ..." as a blocker placed at the entry of modules.json. */
struct tn_finding *tn_module_blocker(const struct tn_module_source *m, enum tn_status code, const char *what);
/* The place is a file of the module and, as its element, the module's index. */
void tn_module_at_file(struct tn_finding *f, const struct tn_module_source *m, struct tn_str file);
/* Appends to the description; out of memory is remembered. */
void tn_module_keep(const struct tn_module_source *m, const struct tn_module *module);
/* The rows that come in must have this width. False after a finding. */
bool tn_module_width(const struct tn_module_source *m, uint64_t stated, const char *field);

/*
 * Weights of a module whose widths are known: model.safetensors of its folder, by name and shape; before the chain's width
 * moves on. False: the matrix has another shape than stated, so that nobody knows how wide its rows are. (module_linear.c)
 */
bool tn_bind_dense(const struct tn_module_source *m, struct tn_module *module);
void tn_bind_layer_norm(const struct tn_module_source *m, struct tn_module *module);

/* Our name for an activation that a class of torch.nn computes with its default arguments, or NULL. (module_linear.c) */
const char *tn_torch_activation(struct tn_str path);

/* Behind the list of a package of several vectors; `index` is the place behind its last module. (multi_vector.c) */
void tn_finish_multi_vector(struct tn_chain *chain, bool older, uint32_t index);

/* ---- one reader per class -------------------------------------------------------------------------------------- */

void tn_read_transformer_module(const struct tn_module_source *m);   /* module_transformer.c */
void tn_read_pooling_module(const struct tn_module_source *m);       /* module_pooling.c */
void tn_read_dense_module(const struct tn_module_source *m);         /* module_linear.c */
void tn_read_layer_norm_module(const struct tn_module_source *m);    /* module_linear.c */
void tn_read_normalize_module(const struct tn_module_source *m);     /* module_linear.c */
void tn_read_dropout_module(const struct tn_module_source *m);       /* module_linear.c */
void tn_read_splade_module(const struct tn_module_source *m);        /* module_pooling.c */
void tn_read_mask_module(const struct tn_module_source *m);          /* multi_vector.c */
void tn_read_token_pooling_module(const struct tn_module_source *m); /* multi_vector.c */

#endif
