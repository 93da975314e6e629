/*
 * Families: architectures implemented natively. A family is one file that reads like the architecture: its schema
 * (describe/schema.h), its tensor list, and a builder that emits the graph. registry.c lists them. No other file tests
 * a family's name, and no family ever sees a repository's name.
 */
#ifndef TN_FAMILY_FAMILY_H
#define TN_FAMILY_FAMILY_H

#include "describe/describe.h"
#include "graph/graph.h"

enum {
    TN_TENSOR_PER_LAYER = 1,
    TN_TENSOR_OPTIONAL = 2,
    TN_TENSOR_BARE = 4, /* of a head: its name stands without the prefix of the encoder's names */
    /*
     * One tensor with another while tie_word_embeddings is on: a matrix with that of the family's `tied` role, which
     * stands in for it; a vector with its alias. Off: a matrix of its own that must be there; the alias is left unread.
     */
    TN_TENSOR_TIED = 8
};
/* A dimension that the head's description has instead of the configuration: as many as there are outputs. */
#define TN_DIM_OUTPUTS "head.outputs"
/* In the flags of a tensor that belongs to the architecture only under conditions[n]. */
#define TN_TENSOR_WHEN(n) ((unsigned)((n) + 1) << 8)

/* One tensor of the architecture. '%' in role and names stands for the layer's index. */
struct tn_tensor_rule {
    const char *role;    /* "layer.%.attention.query.weight" */
    const char *name;    /* "encoder.layer.%.attention.self.query.weight" */
    const char *alias;   /* the same tensor under an older name, or NULL */
    const char *dims[2]; /* normalised names of configuration values, or names that `size` knows; NULL second: a vector */
    unsigned flags;
};

/* When a tensor is part of the architecture. Where it is not, a tensor of that name is unexpected. */
struct tn_tensor_condition {
    const char *text; /* for people: "attention_bias" */
    bool (*holds)(const struct tn_component *c, uint64_t layer);
};

/* A tensor that may be there and is not read. '%' matches digits, a final '*' matches any rest. */
struct tn_unused_rule {
    const char *pattern;
    const char *why;
    bool trained_head; /* what it leaves out answers a question of its own: told wherever it happens */
};

struct tn_binding;

/*
 * What a family puts behind its last hidden state, by kind of head (describe/head.h). Its tensors are bound and audited
 * with those of the encoder; a head's tensors that a task does not read are unexpected unless a rule accepts them.
 */
struct tn_family_head {
    enum tn_head_kind kind;
    const struct tn_tensor_rule *tensors;
    size_t tensor_count;
    const struct tn_unused_rule *unused; /* beside the family's own, where this head is run */
    size_t unused_count;
    const char *own[3]; /* patterns of names that no rule of `unused` excuses where this head is run */
    /*
     * x: the last hidden state [T, hidden]. Returns [S, outputs] or [T, outputs]. A whole text's row is that of the
     * token that the invocation's span begins with. A head over the vocabulary takes any rows and gives one of
     * vocab_size for each. Failures stick to the graph.
     */
    uint32_t (*build)(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b, uint32_t x);
};

struct tn_family {
    const char *name;
    const char *version; /* changes whenever the same package would compute differently */
    const struct tn_schema *schema;
    const char *layer_count;          /* name of the value that counts layers */
    const char *const *prefixes;      /* accepted in front of every name, NULL-terminated; "" is always tried first */
    const struct tn_tensor_rule *tensors;
    size_t tensor_count;
    /* A role whose tensor may be saved as a head's matrix alone, by its whole name, while tie_word_embeddings is on. */
    struct {
        const char *role, *name;
    } tied;
    const struct tn_unused_rule *unused;
    size_t unused_count;
    const struct tn_tensor_condition *conditions; /* that TN_TENSOR_WHEN counts; NULL: there are none */
    uint64_t (*size)(const struct tn_component *c, const char *name); /* dims that are computed; NULL: there are none */
    /* Emits the component; returns the value of the last hidden state. Failures stick to the graph. */
    uint32_t (*build)(struct tn_graph *g, const struct tn_component *c, const struct tn_binding *b);
    const struct tn_family_head *heads; /* those that it implements */
    size_t head_count;
};

/* NULL past the end. */
const struct tn_family *tn_family_at(size_t index);
/* The family whose schema a component was described with, or NULL. */
const struct tn_family *tn_family_of(const struct tn_component *c);
/* How a family computes a head, or NULL when it does not. */
const struct tn_family_head *tn_family_head_of(const struct tn_family *family, enum tn_head_kind kind);
/* The registered schemas, for tn_describe_options; *count is set. */
const struct tn_schema *const *tn_family_schemas(size_t *count);
/*
 * Appends the modules [first, end) of the chain to x: pooling, dense, layer norm, normalise. Returns the last value.
 * Tensors of modules were shape-checked by the dialect.
 */
uint32_t tn_modules_build(struct tn_graph *g, const struct tn_description *d, uint32_t first, uint32_t end, uint32_t x);

/* The activation that a configuration's spelling means (transformers' ACT2FN); false when we do not compute it. */
bool tn_activation_of(struct tn_str spelling, enum tn_act *out);
/*
 * Everything in the package that says what its weights were trained to answer, on one line: the class, a head's labels,
 * the module list, the convention's own word, tensors of heads. Always NUL-terminated; cut at cap it ends in "...".
 */
enum { TN_HEAD_EVIDENCE_BYTES = 448 };
void tn_head_evidence(const struct tn_description *d, char *out, size_t cap);
/* Whether the package names the class that its weights were saved from; else it is the family's default. */
bool tn_class_is_stated(const struct tn_description *d);
/* The fact of a name that begins nothing else, or NULL. */
const struct tn_fact *tn_fact_named(const struct tn_description *d, const char *name);

/* Envelopes of all families: schema rows, tensors, accepted-unused rules. */
void tn_families_write(struct tn_json_writer *w);

/* ---- binding ------------------------------------------------------------------------------------------------------ */

#define TN_AUDIT_LIST(X)                                                                           \
    X(LOADED, "loaded")                                                                            \
    X(ALIASED, "aliased")                                                                          \
    X(TIED, "tied")                                                                                \
    X(OPTIONAL_ABSENT, "optional_absent")                                                          \
    X(ACCEPTED_UNUSED, "accepted_unused")                                                          \
    X(UNEXPECTED, "unexpected")                                                                    \
    X(MISSING, "missing")                                                                          \
    X(MISMATCHED, "mismatched")

enum tn_audit_kind {
#define X(name, text) TN_AUDIT_##name,
    TN_AUDIT_LIST(X)
#undef X
    TN_AUDIT_KINDS
};

struct tn_audit_row {
    enum tn_audit_kind kind;
    struct tn_str role;   /* "" for tensors that no rule binds */
    struct tn_str tensor; /* name in the package, or the name that was looked for */
    const char *rule;     /* why aliased or accepted-unused; NULL otherwise */
};

/* Every tensor of a component bound to its role, and the audit of all others. Lives in the caller's arena. */
struct tn_binding {
    struct tn_arena *arena; /* not owned */
    const struct tn_family *family;
    const struct tn_family_head *family_head; /* NULL: no head is run */
    uint64_t layers;
    const struct tn_tensor_info **bound; /* [tensor_count of both][layers or 1] */
    struct tn_audit_row *audit;
    uint32_t audit_count;
    const char *prefix;
    /* Pairs that tie_word_embeddings makes one and that are both there: only the first is read, whoever loads compares. */
    struct tn_tied_pair {
        const struct tn_tensor_info *read, *other;
    } pairs[2];
    uint32_t pair_count;
};

/*
 * Binds by rules alone; nothing is tried until it fits. Missing, mis-shaped and unexpected tensors become blockers, all
 * of them. `head` is what the task runs behind the encoder, of a kind that the family has; NULL: nothing. Fails itself
 * only without memory.
 */
enum tn_status tn_bind(const struct tn_description *d, const struct tn_component *c, const struct tn_family *family,
                       const struct tn_head *head, struct tn_arena *arena, struct tn_findings *findings,
                       struct tn_binding *out, struct tn_error *err);

/* The weight of a role inside a graph, declared on first use. '%' in role is `layer`. TN_NO_WEIGHT when optional-absent. */
uint32_t tn_bound_weight(struct tn_graph *g, const struct tn_binding *b, const char *role, uint64_t layer);

void tn_audit_write(struct tn_json_writer *w, const struct tn_binding *b);
const char *tn_audit_kind_name(enum tn_audit_kind kind);

#endif
