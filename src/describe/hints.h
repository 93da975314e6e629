/*
 * Execution hints: wishes about where and how to run, never about what comes out. The form is execution_hints.json of the
 * inference-metadata proposal; properties `onnx_runtime.*` of an ONNX file say some of the same and become the same.
 *
 * Rules. A `force` stands above every `prefer`; among equals the stronger origin wins, and within one document the later
 * hint. A preferred device that is not there stands against nobody. Two forced placements that exclude each other on one node are an error that names both. A hint never overrides
 * correctness, capability or policy: a forced placement that cannot be had is refused, a preferred one is not followed.
 * Nothing is dropped in silence: every hint has an outcome.
 *
 * Documents and properties are untrusted. Lists live in the arena that they were read into.
 */
#ifndef TN_DESCRIBE_HINTS_H
#define TN_DESCRIBE_HINTS_H

#include "base/json.h"

/* ---- what a hint says --------------------------------------------------------------------------------------------- */

/* Strongest first. X(enum name, text, for people) */
#define TN_HINT_ORIGIN_LIST(X)                                                                     \
    X(CALLER, "caller", "the caller")                                                              \
    X(USER, "user_file", "the user's file of hints")                                               \
    X(METADATA, "metadata", "the package")                                                         \
    X(MODEL, "model_properties", "the model file's properties")

enum tn_hint_origin {
#define X(name, text, people) TN_HINT_FROM_##name,
    TN_HINT_ORIGIN_LIST(X)
#undef X
    TN_HINT_ORIGINS
};

/* Hints contradict each other only within a topic. */
enum tn_hint_topic {
    TN_HINT_ON_PLACE,
    TN_HINT_ON_GROUP,
    TN_HINT_ON_RESIDENCE,
    TN_HINT_ON_PREFETCH,
    TN_HINT_ON_ALIAS,
    TN_HINT_ON_ARENA,
    TN_HINT_ON_OVERLAP,
    TN_HINT_ON_CAPTURE,
    TN_HINT_ON_CHUNKS,
    TN_HINT_ON_OFFLOAD,
    TN_HINT_ON_KERNEL,
    TN_HINT_TOPICS
};

/* X(enum name, text, topic) */
#define TN_HINT_KIND_LIST(X)                                                                       \
    X(PLACE, "placement", PLACE)                                                                   \
    X(PIN, "pin", RESIDENCE)                                                                       \
    X(LOW_PRIORITY, "low_priority", RESIDENCE)                                                     \
    X(ALLOW_ALIAS, "allow_alias", ALIAS)                                                           \
    X(ARENA_SIZE, "arena_size", ARENA)                                                             \
    X(PREFETCH, "prefetch", PREFETCH)                                                              \
    X(OVERLAP, "overlap", OVERLAP)                                                                 \
    X(CUDA_GRAPH_REGION, "cuda_graph_region", CAPTURE)                                             \
    X(NO_CUDA_GRAPH, "no_cuda_graph", CAPTURE)                                                     \
    X(CHUNK_SIZE, "chunk_size", CHUNKS)                                                            \
    /* only as properties of a model file */                                                       \
    X(GROUP, "group", GROUP)                                                                       \
    X(OFFLOADABLE, "offloadable", OFFLOAD)                                                         \
    X(KERNEL, "kernel", KERNEL)

enum tn_hint_kind {
#define X(name, text, topic) TN_HINT_##name,
    TN_HINT_KIND_LIST(X)
#undef X
    TN_HINT_KINDS
};

#define TN_DEVICE_TYPE_LIST(X)                                                                     \
    X(CPU, "cpu")                                                                                  \
    X(GPU, "gpu")                                                                                  \
    X(NPU, "npu")                                                                                  \
    X(ANY, "any")

enum tn_device_type {
#define X(name, text) TN_DEVICE_##name,
    TN_DEVICE_TYPE_LIST(X)
#undef X
    TN_DEVICE_TYPES
};

struct tn_hint_device {
    enum tn_device_type type;
    bool has_index; /* false: any of the type */
    uint64_t index;
};

/* All that is stated must hold; nothing stated: everything. */
struct tn_hint_selector {
    struct tn_str *names; /* one of them */
    size_t name_count;
    bool has_names;
    struct tn_str pattern; /* .s NULL: not stated. `*` is any text, `?` any character, the whole name must match */
    struct tn_str *op_types;
    size_t op_type_count;
    bool has_op_types;
    bool has_layers;
    uint64_t first_layer, last_layer; /* both inside the range */
};

struct tn_hint {
    enum tn_hint_kind kind;
    enum tn_hint_origin origin;
    bool force;
    struct tn_hint_selector selector;
    bool has_device;
    struct tn_hint_device device; /* placement, arena_size */
    bool has_number;
    uint64_t number;     /* bytes of arena_size, chunks of chunk_size and overlap */
    struct tn_str text;  /* name of the group or kernel */
    struct tn_str reason;
    struct tn_str file, pointer; /* where it stands */
};

struct tn_hint_list {
    struct tn_hint *items;
    size_t count, cap;
};

enum {
    TN_HINTS_MOST = 1000,        /* hints of one document; people write them */
    TN_HINT_PROPERTIES_MOST = 20000, /* hints of one model file; exporters write several per node */
    TN_HINT_NAMES_MOST = 20000,  /* names and operator types in one document */
    TN_HINT_PATTERN_BYTES = 256  /* matching takes pattern x name steps */
};

const char *tn_hint_origin_name(enum tn_hint_origin origin);
const char *tn_hint_origin_for_people(enum tn_hint_origin origin);
const char *tn_hint_kind_name(enum tn_hint_kind kind);
enum tn_hint_topic tn_hint_topic_of(enum tn_hint_kind kind);
/* "gpu:1", "cpu"; into a buffer of at least 32 bytes. */
const char *tn_hint_device_text(const struct tn_hint_device *device, char *buf, size_t cap);
/* A copy of the hint; NULL: out of memory. */
struct tn_hint *tn_hint_list_add(struct tn_hint_list *list, struct tn_arena *arena, const struct tn_hint *hint);
/* "any", "cpu", "gpu", "npu", with ":INDEX" behind it. */
bool tn_hint_device_parse(struct tn_str text, struct tn_hint_device *out);

/* ---- reading ------------------------------------------------------------------------------------------------------ */

/*
 * Every problem of a document of hints: its shape (tables of the standard), selectors that can select nothing, actions
 * without what they are about, too much of it. The value is the hints' own object, wherever it stands. TN_METADATA_INVALID
 * when there are blockers; otherwise fails only without memory.
 */
enum tn_status tn_hints_check(struct tn_json hints, struct tn_findings *findings);
/* Of these only what the tables do not say: for a document whose own table holds the hints already. Any shape will do. */
void tn_hints_check_meaning(struct tn_json hints, struct tn_findings *findings);

/* Appends the hints of a document that passes the check; of another one nothing. Fails itself only without memory. */
enum tn_status tn_hints_read(struct tn_json hints, enum tn_hint_origin origin, struct tn_arena *arena,
                             struct tn_findings *findings, struct tn_hint_list *list, struct tn_error *err);
/* The same from text, which is not kept; `name` stands for the file in findings. */
enum tn_status tn_hints_parse(struct tn_str text, struct tn_str name, enum tn_hint_origin origin,
                              const struct tn_limits *limits, struct tn_arena *arena, struct tn_findings *findings,
                              struct tn_hint_list *list, struct tn_error *err);

/* A property of an ONNX file. Keys that are not of the name space are skipped. */
struct tn_hint_property {
    struct tn_str key, value;
    struct tn_str node; /* name of the node that carries it; .s NULL: the model or the graph */
};

struct tn_hint_node_layer {
    struct tn_str node;
    uint64_t layer;
};

/* What properties say beside hints: to which layer a node belongs. */
struct tn_hint_layers {
    struct tn_hint_node_layer *nodes; /* sorted by name */
    size_t count, cap;
    struct tn_str pattern; /* "model.layers.{}"; .s NULL: none */
};

/*
 * Appends what `onnx_runtime.*` properties wish. Unknown keys and values that cannot be read are warnings, because the
 * convention says so; but a forced device that cannot be read is a blocker. Strings are copied. Fails only without memory.
 */
enum tn_status tn_hints_of_properties(const struct tn_hint_property *properties, size_t count, struct tn_str file,
                                      struct tn_arena *arena, struct tn_findings *findings, struct tn_hint_list *list,
                                      struct tn_hint_layers *layers, struct tn_error *err);

/* ---- selecting ---------------------------------------------------------------------------------------------------- */

enum { TN_HINT_NO_LAYER = -1 };

/* What can be selected: an operator of the graph or a tensor of its weights. */
struct tn_hint_node {
    struct tn_str name;
    struct tn_str alias;   /* another name of the same, e.g. its role; or "" */
    struct tn_str op_type; /* "" for tensors */
    int64_t layer;         /* TN_HINT_NO_LAYER: none */
};

bool tn_hint_glob(struct tn_str pattern, struct tn_str name);
bool tn_hint_selects(const struct tn_hint_selector *selector, const struct tn_hint_node *node);
/* Whether it selects everything, whatever the graph holds. */
bool tn_hint_selects_all(const struct tn_hint_selector *selector);
/* Gives nodes without a layer the one that properties state, failing that the one that the pattern finds in their name. */
void tn_hint_layers_apply(const struct tn_hint_layers *layers, struct tn_hint_node *nodes, size_t count);

/* ---- resolving ---------------------------------------------------------------------------------------------------- */

#define TN_HINT_OUTCOME_LIST(X)                                                                    \
    X(SATISFIED, "satisfied")        /* so it is, where the hint counts */                         \
    X(NO_USE, "no_use")              /* nothing here has that */                                   \
    X(UNMET, "unmet")                /* a preference that is not followed */                       \
    X(OVERRIDDEN, "overridden")      /* a stronger hint stands against it everywhere */            \
    X(EMPTY, "selects_nothing")                                                                    \
    X(UNJUDGED, "unjudged")          /* there is no graph to look at */                            \
    X(REFUSED, "refused")            /* forced, and cannot be had */                               \
    X(CONFLICT, "conflict")          /* forced against another forced one */

enum tn_hint_outcome {
#define X(name, text) TN_HINT_IS_##name,
    TN_HINT_OUTCOME_LIST(X)
#undef X
    TN_HINT_OUTCOMES
};

const char *tn_hint_outcome_name(enum tn_hint_outcome outcome);

/* What a provider does anyway about a kind of hint. Zeroed: it has no such thing. */
struct tn_hint_answer {
    bool satisfied;
    const char *why;
};

struct tn_hint_world {
    const struct tn_hint_node *nodes; /* NULL: not known */
    size_t node_count;
    const struct tn_hint_device *devices; /* that this plan may use, each with its index */
    size_t device_count;
    const struct tn_hint_answer *answers; /* [TN_HINT_KINDS], or NULL */
};

struct tn_hint_result {
    const struct tn_hint *hint;
    enum tn_hint_outcome outcome;
    uint64_t selected, lost;    /* nodes that it selects; of these, where another hint counts */
    const struct tn_hint *by;   /* the hint that it lost to, or is in conflict with */
    const char *why;            /* NULL: nothing to add */
};

struct tn_hint_results {
    struct tn_hint_result *items; /* strongest origin first, in the order of their documents */
    size_t count;
};

/*
 * Judges the hints of several lists (any order) against what there is. Conflicts and forced placements that cannot be had
 * are blockers; everything else that is not as the hint wishes is a note or, for hints of caller and user that select
 * nothing, a warning. Results live in the arena. Fails itself only without memory.
 */
enum tn_status tn_hints_resolve(const struct tn_hint_list *const *lists, size_t list_count,
                                const struct tn_hint_world *world, enum tn_phase phase, struct tn_arena *arena,
                                struct tn_findings *findings, struct tn_hint_results *out, struct tn_error *err);
/* The placement that counts among those that select everything; NULL: none. Needs no graph. */
const struct tn_hint *tn_hints_device(const struct tn_hint_list *const *lists, size_t list_count,
                                      const struct tn_hint_device *devices, size_t device_count);
extern const struct tn_hint_device tn_hint_cpu; /* "cpu:0" */
bool tn_hint_device_among(const struct tn_hint_device *device, const struct tn_hint_device *devices, size_t count);

struct tn_json_writer;
/* An array of {hint, origin, strength, file, pointer, outcome, selected, lost, by, why}. */
void tn_hint_results_write(struct tn_json_writer *w, const struct tn_hint_results *results);
/* The hints of one origin in the form of execution_hints.json, as one object; and whether there are any. */
void tn_hints_write(struct tn_json_writer *w, const struct tn_hint_list *list, enum tn_hint_origin origin);
bool tn_hints_are_from(const struct tn_hint_list *list, enum tn_hint_origin origin);
/* An array of what hints say: for descriptions. */
void tn_hint_list_write(struct tn_json_writer *w, const struct tn_hint_list *list);

#endif
