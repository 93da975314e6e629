/*
 * The native provider: families' graphs on our own kernels. Internal to src/provider/native.
 *
 * program.c   what assessment finds out: binding, graph, memory plan, sizes (from headers alone)
 * weights.c   the loaded weights: read, packed, hashed in one parallel pass
 * derived.c   what follows from weights and configuration alone, computed once at load
 * digest.c    the weights identity and its cache
 * workspace.c activations and scratch, allocated once per instance
 * execute.c   one piece of sequences through all operators, by one thread or a team
 * invoke.c    an invocation cut into pieces
 * pairs.c     tied tensors that are there twice, compared before they are loaded
 * hints.c     what execution hints find here
 * net.c       packages that are a graph: what assessment finds out about it
 * net_load.c  the same graph loaded, and its calls
 * net_digest.c the identities of a graph's structure and of its weights
 */
#ifndef TN_PROVIDER_NATIVE_H
#define TN_PROVIDER_NATIVE_H

#include "exec/exec.h"
#include "provider.h"

/*
 * Rows of one piece in data-parallel work: enough that weights read from the shared cache are paid for; more, up to twice
 * as many, where the widest pair of activations then still stays in a private 1 MiB cache.
 */
enum { TN_PIECE_ROWS = 128, TN_PIECE_ROWS_MOST = 256, TN_PIECE_BYTES = 1 << 20 };
/*
 * Picked rows that go through a head at once: it may be as wide as a vocabulary, and a text may pick any number of its
 * rows, so that a piece runs what follows a pick as often as it takes.
 */
enum { TN_PICK_ROWS = 32 };

/* One packed layer per LINEAR operator. */
struct tn_native_layer {
    uint32_t op;
    uint64_t n, k;
    size_t packed_bytes, scratch_bytes;
    size_t staging_bytes; /* its parts and biases as stored */
    bool fixed;           /* makes a fixed value: its packed form is given back once the value is there */
};

/* What a package that is a graph comes to, from headers alone. The graph itself is read again by each load. */
struct tn_native_net {
    uint64_t nodes, constant_bytes;
    uint64_t values_bytes; /* most of values at once, of shapes that are known */
    bool open;             /* others follow from requests */
    struct tn_digest structure;
    struct tn_str members; /* of the plan document: the text of a JSON object */
    const char **without;  /* [without_count] patches to leave out */
    size_t without_count;
};

struct tn_native_program {
    const struct tn_native_net *net; /* NULL: a family's program; else nothing below `threads` is set but `kernels` */
    const struct tn_kernels *kernels;
    const struct tn_family *family;
    struct tn_binding binding;
    struct tn_graph graph;
    struct tn_memory_plan plan;
    enum tn_compute compute;
    struct tn_native_layer *layers;
    uint32_t layer_count;
    uint32_t *layer_of; /* by operator */
    uint32_t *rope_of;  /* by operator: which table of angles it reads */
    uint32_t *ropes;    /* by table: the first operator that reads it */
    uint32_t rope_count;
    uint32_t *relative_of; /* by operator: which table of rows by distance it reads */
    uint32_t *relatives;   /* by table: the first operator that reads it */
    uint32_t relative_count;
    uint64_t max_rows;      /* longest sequence */
    uint64_t piece_rows;    /* most rows of one piece */
    uint64_t usual_rows;    /* rows that a piece has where there is a choice */
    size_t scratch_bytes;   /* of one thread, over all operators */
    size_t staging_bytes;   /* of one thread, while loading */
    unsigned threads;
};

/* Binding has admitted f32, f16 and bf16 alone. */
static inline enum tn_float_type tn_native_float_type(enum tn_dtype dtype)
{
    return dtype == TN_DTYPE_F16 ? TN_FLOAT_F16 : dtype == TN_DTYPE_BF16 ? TN_FLOAT_BF16 : TN_FLOAT_F32;
}

/* Fills `a` (decision, findings, estimate ...) and its state. Pure. */
enum tn_status tn_native_assess(const struct tn_provider *p, const struct tn_component_request *request,
                                struct tn_assessment *a, struct tn_error *err);

/* Bytes of a stored weight of the given use after loading. False on overflow. */
bool tn_native_weight_bytes(const struct tn_native_program *program, uint32_t weight, size_t *bytes);

/* Adds the bytes of everything that derived.c makes to *bytes; false on overflow. Fills the program's tables. */
bool tn_native_size_derived(struct tn_native_program *program, uint64_t *bytes);

/* Distances between rows of one sequence: 2 max_rows - 1, the length of relative biases per head. */
static inline uint64_t tn_native_bias_length(const struct tn_native_program *program)
{
    return 2 * program->max_rows - 1;
}

extern const struct tn_hint_device tn_native_devices[1];
extern const char *const tn_native_dtypes[];
extern const struct tn_hint_answer tn_native_hint_answers[TN_HINT_KINDS];
/* Operators by name, then weights by the tensor's name and by role. */
enum tn_status tn_native_nodes(const struct tn_assessment *a, struct tn_arena *arena, struct tn_hint_node **out,
                               size_t *count, struct tn_error *err);

/* Refuses tied tensors with different contents. */
enum tn_status tn_native_check_pairs(const struct tn_native_program *program, const struct tn_inventory *inv,
                                     const struct tn_load_env *env, struct tn_error *err);

struct tn_weights {
    struct tn_alloc *alloc;
    struct tn_linear *layers; /* by layer */
    void **packed;            /* by layer, owned */
    void **data;              /* by graph weight: float32 vector or stored table, owned; NULL for parts of layers */
    float **bias;             /* by graph weight that is a relative bias: [heads][2 max_rows - 1], owned */
    float **angles;           /* by table of the program: cosines [max_rows][half], then sines; owned */
    int32_t **rows_by_distance; /* by table of the program: [2 max_rows - 1]; owned */
    float **fixed;             /* by graph value: [rows][width] of fixed values; those of a table operator are in `data` */
    bool *fixed_owned;         /* by graph value */
    uint32_t layer_count, weight_count, angle_count, distance_count, value_count;
    struct tn_digest digest;
};

enum tn_status tn_weights_load(const struct tn_native_program *program, const struct tn_inventory *inv,
                               const struct tn_load_env *env, struct tn_weights *out, struct tn_error *err);
void tn_weights_release(struct tn_weights *w);
/* The derived part of loaded weights. */
enum tn_status tn_derived_make(const struct tn_native_program *program, struct tn_weights *w, struct tn_error *err);
void tn_derived_release(struct tn_weights *w);

/*
 * The weights identity: SHA-256 over role, dtype, shape and chunk digests of every bound tensor in the order of roles.
 * Independent of names and sharding.
 */
enum { TN_DIGEST_CHUNK = 4 << 20 };

struct tn_weights_digest {
    const struct tn_native_program *program;
    const struct tn_inventory *inv;
    struct tn_digest *chunks;   /* of all weights, one after another */
    uint64_t *first_chunk;      /* by graph weight, plus the end */
    bool cached;                /* `value` was found in the cache: chunks need not be computed */
    struct tn_digest value;
    struct tn_alloc *alloc;
};

/* Looks into the cache folder; otherwise prepares room for the chunks. */
enum tn_status tn_weights_digest_begin(struct tn_weights_digest *d, const struct tn_native_program *program,
                                       const struct tn_inventory *inv, const struct tn_context *ctx,
                                       struct tn_error *err);
/* Hashes stored bytes [first, first + n) of a weight; `first` is a multiple of the chunk size. Any thread. */
void tn_weights_digest_add(struct tn_weights_digest *d, uint32_t weight, uint64_t first, const void *p, size_t n);
/* Puts the chunks together and remembers the result in the cache folder, if there is one. */
enum tn_status tn_weights_digest_end(struct tn_weights_digest *d, const struct tn_context *ctx, struct tn_error *err);
void tn_weights_digest_release(struct tn_weights_digest *d);

struct tn_workspace {
    float **slots;      /* by slot of the memory plan */
    int32_t *ids, *types, *positions; /* [piece_rows] */
    int32_t *offsets;   /* [piece_rows + 1] */
    struct tn_span *spans;
    uint32_t *sequences; /* index in the invocation, by sequence of the piece */
    int32_t *picks;      /* [piece_rows] rows of the piece that are picked */
    uint32_t *pick_of, *pick_to; /* [piece_rows] the pick's sequence and its place in the results, both of the invocation */
    uint8_t *finite;
    uint32_t pick_count;
    uint32_t count;     /* sequences of the piece */
    uint32_t rows;
    void *block;        /* owned: everything above */
};

/* A loaded graph. */
struct tn_native_graph {
    struct tn_os_file file;
    bool open;
    struct tn_model *model;
    struct tn_program *program;
    struct tn_exec_context *context; /* calls are serialised by whoever owns the instance */
    struct tn_digest digest;
};

struct tn_instance {
    const struct tn_assessment *assessment;
    struct tn_native_graph *graph; /* owned; NULL: a family's program */
    const struct tn_native_program *program;
    struct tn_alloc *alloc;
    struct tn_pool *pool;
    struct tn_weights weights;
    struct tn_workspace *workspaces; /* one per thread */
    unsigned threads;
    char *scratch;        /* threads * scratch_bytes, 64-byte aligned */
    struct tn_barrier barrier;
};

/* Bytes of one workspace; false on overflow. */
bool tn_workspace_bytes(const struct tn_native_program *program, size_t *bytes);
enum tn_status tn_workspace_new(const struct tn_native_program *program, struct tn_alloc *alloc,
                                struct tn_workspace *out);
void tn_workspace_release(struct tn_workspace *w, struct tn_alloc *alloc);

/* How a piece is run: by a team that shares the workspace, or by one thread (size 1). */
struct tn_team {
    unsigned rank, size;
    struct tn_barrier *barrier;
    _Atomic bool *stop; /* [2] */
};

/* Runs the piece that lies in the workspace and delivers its results into the invocation. */
/* Computes the fixed values of loaded weights, by all threads; then gives back what only they have needed. */
enum tn_status tn_execute_fixed(struct tn_instance *instance, const struct tn_cancel *cancel, struct tn_error *err);
void tn_execute_piece(struct tn_instance *instance, struct tn_workspace *w, const struct tn_invocation *call,
                      const struct tn_team *team);

/* ---- graphs ------------------------------------------------------------------------------------------------------- */

/* A graph that was read, judged and typed. *model NULL with TN_OK: there are blockers. `file` is open while the model is. */
enum tn_status tn_native_net_open(const struct tn_context *ctx, const struct tn_inventory *inv, const struct tn_graph_facts *g,
                                  struct tn_findings *findings, struct tn_os_file *file, bool *open, struct tn_model **model,
                                  struct tn_error *err);
enum tn_status tn_native_net_assess(struct tn_native_program *program, struct tn_assessment *a,
                                    const struct tn_component_request *r, struct tn_error *err);
enum tn_status tn_native_net_load(struct tn_instance *instance, const struct tn_component_request *r,
                                  const struct tn_load_env *env, struct tn_error *err);
enum tn_status tn_native_net_run(struct tn_instance *instance, const struct tn_tensor_call *call, struct tn_error *err);
void tn_native_net_release(struct tn_instance *instance);
/* Nodes, attributes, types and the values of small constants. */
struct tn_digest tn_native_net_structure(const struct tn_model *model);
/* SHA-256 over the constants by graph and name; remembered under the stamps of the variant's files. */
enum tn_status tn_native_net_weights(struct tn_model *model, const struct tn_variant *variant, const struct tn_context *ctx,
                                     const struct tn_cancel *cancel, struct tn_digest *out, struct tn_error *err);
/* Under a key that names everything the value follows from. */
bool tn_digest_recall(const struct tn_context *ctx, const struct tn_digest *key, struct tn_digest *value);
void tn_digest_remember(const struct tn_context *ctx, const struct tn_digest *key, const struct tn_digest *value);

enum tn_status tn_native_invoke(struct tn_instance *instance, const struct tn_invocation *call, struct tn_error *err);

#endif
