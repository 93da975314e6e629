/*
 * The native provider: graphs of families and of files on our own kernels. Internal to src/provider/native.
 *
 * program.c   what assessment finds out of a family's package: binding, graph, sizes (from headers alone)
 * reader.c    weights as they come in: read, looked at, hashed
 * digest.c    the weights identity and its cache
 * pairs.c     tied tensors that are there twice, compared before they are loaded
 * piece.c     one piece of sequences through the graph, by one thread or all
 * invoke.c    an invocation cut into pieces
 * hints.c     what execution hints find here
 * net.c       packages that are a graph: what assessment finds out about it
 * net_load.c  the same graph loaded, and its calls
 * net_digest.c the identities of a graph's structure and of its weights
 * tail.c      what follows rows that somebody else made: the package's modules
 */
#ifndef TN_PROVIDER_NATIVE_H
#define TN_PROVIDER_NATIVE_H

#include "exec/exec.h"
#include "provider.h"
#include "provider/native/identity.h"
#include "provider/native/tail.h"
#include "provider/texts/texts.h"

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
/* A row for each sequence may be as wide as a vocabulary, too: a piece has no more sequences than make this. */
enum { TN_POOLED_BYTES = 4 << 20 };

/* What a package that is a graph comes to, from headers alone. */
struct tn_native_net {
    struct tn_model *model; /* owned; typed and rewritten: never written to again, so that any number of sessions may run it */
    uint64_t nodes, constant_bytes;
    uint64_t values_bytes; /* most of values at once, of shapes that are known */
    bool open;             /* others follow from requests */
    struct tn_digest structure;
    struct tn_native_constants constants; /* before the graph was rewritten */
    struct tn_str members; /* of the plan document: the text of a JSON object */
    const char **without;  /* [without_count] patches to leave out */
    size_t without_count;
};

struct tn_native_program {
    const struct tn_native_net *net; /* NULL: a family's program, or a tail */
    struct tn_texts_plan *texts;       /* how texts go through `net`; NULL: they do not */
    const struct tn_kernels *kernels;
    const struct tn_family *family;
    struct tn_binding binding;
    struct tn_graph graph; /* typed and rewritten: never written to again, so that any number of sessions may run it */
    struct tn_bound bounds[2]; /* of the rows and sequences of a piece */
    struct tn_bound pick_bound;
    enum tn_compute compute;
    uint64_t max_rows;      /* longest sequence */
    uint64_t piece_rows;    /* most rows of one piece */
    uint64_t usual_rows;    /* rows that a piece has where there is a choice */
    uint64_t piece_sequences; /* most sequences of one piece */
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

/* What the assessment's arena does not hold. */
void tn_native_forget(struct tn_assessment *a);

extern const struct tn_hint_device tn_native_devices[1];
extern const char *const tn_native_dtypes[];
extern const struct tn_hint_answer tn_native_hint_answers[TN_HINT_KINDS];
/* Operators by name, then weights by the tensor's name and by role. */
enum tn_status tn_native_nodes(const struct tn_assessment *a, struct tn_arena *arena, struct tn_hint_node **out,
                               size_t *count, struct tn_error *err);

/* Refuses tied tensors with different contents. */
enum tn_status tn_native_check_pairs(const struct tn_native_program *program, const struct tn_inventory *inv,
                                     const struct tn_load_env *env, struct tn_error *err);

/*
 * The weights identity: SHA-256 over role, dtype, shape and chunk digests of every bound tensor in the order of roles.
 * Independent of names and sharding.
 */
enum { TN_DIGEST_CHUNK = 4 << 20 };

struct tn_weights_digest {
    const struct tn_graph *graph;
    const struct tn_inventory *inv;
    struct tn_digest *chunks;   /* of all weights, one after another */
    uint64_t *first_chunk;      /* by graph weight, plus the end */
    bool cached;                /* `value` was found in the cache: chunks need not be computed */
    struct tn_digest value;
    struct tn_alloc *alloc;
};

/* Looks into the cache folder; otherwise prepares room for the chunks. */
enum tn_status tn_weights_digest_begin(struct tn_weights_digest *d, const struct tn_graph *g,
                                       const struct tn_inventory *inv, const struct tn_context *ctx,
                                       struct tn_error *err);
/* Hashes stored bytes [first, first + n) of a weight; `first` is a multiple of the chunk size. Any thread. */
void tn_weights_digest_add(struct tn_weights_digest *d, uint32_t weight, uint64_t first, const void *p, size_t n);
/* Puts the chunks together and remembers the result in the cache folder, if there is one. */
enum tn_status tn_weights_digest_end(struct tn_weights_digest *d, const struct tn_context *ctx, struct tn_error *err);
void tn_weights_digest_release(struct tn_weights_digest *d);

/* Numbers of one weight that are NaN or infinite; found by whichever threads have read it. */
struct tn_weight_flaw {
    _Atomic uint64_t count, first; /* index of the first element */
    _Atomic bool seen;             /* somebody has read the weight: others read it without a word */
};

/* Weights while they are loaded. */
struct tn_weights {
    const struct tn_graph *graph;
    const struct tn_inventory *inv;
    const struct tn_context *ctx;
    struct tn_pool *pool;
    unsigned threads;
    const struct tn_cancel *cancel;
    struct tn_weights_digest digest;
    struct tn_os_file *files;      /* by file of the inventory; fd -1: not needed */
    struct tn_weight_flaw *flaws;  /* by weight */
};

/* Release it in any case. */
enum tn_status tn_weights_begin(struct tn_weights *w, const struct tn_graph *graph, const struct tn_inventory *inv, const struct tn_load_env *env,
                                unsigned threads, struct tn_error *err);
/* tn_constant_fn of programs; `user` is the weights. */
enum tn_status tn_weights_read(void *user, const struct tn_constant *c, void *out, struct tn_error *err);
/* Once everything has been read: files that have changed meanwhile, numbers that are not finite, the identity. */
enum tn_status tn_weights_end(struct tn_weights *w, struct tn_digest *out, struct tn_error *err);
void tn_weights_release(struct tn_weights *w);

/* The operands of one piece, and where its results go. One for each thread. */
struct tn_workspace {
    int32_t *ids, *types, *positions; /* [piece_rows] */
    int32_t *offsets;   /* [piece_rows + 1] */
    struct tn_span *spans;
    uint32_t *sequences; /* index in the invocation, by sequence of the piece */
    int32_t *picks;      /* [piece_rows] rows of the piece that are picked */
    uint32_t *pick_of, *pick_to; /* [piece_rows] the pick's sequence and its place in the results, both of the invocation */
    uint8_t *finite;
    float *picked;       /* [TN_PICK_ROWS] rows; NULL: nothing is picked */
    float *given;        /* [piece_rows, given_width] */
    uint32_t pick_count;
    uint32_t count;     /* sequences of the piece */
    uint32_t rows;
    void *block;        /* owned: everything above */
    struct tn_exec_context *contexts[TN_GRAPH_PARTS]; /* owned */
};

/* A loaded graph. */
struct tn_native_graph {
    struct tn_os_file file;
    bool open;
    struct tn_model model; /* lent by the plan */
    struct tn_program *program;
    struct tn_exec_context *context; /* calls are serialised by whoever owns the instance */
    struct tn_digest digest;
};

struct tn_instance {
    const struct tn_assessment *assessment;
    struct tn_native_graph *graph; /* owned; NULL: a family's program */
    struct tn_texts *texts;        /* owned; how texts go through `graph`; NULL: they do not */
    const struct tn_native_program *program;
    struct tn_alloc *alloc;
    struct tn_pool *pool;
    struct tn_model models[TN_GRAPH_PARTS];   /* lent by the plan; without a context: there is none */
    struct tn_program *parts[TN_GRAPH_PARTS]; /* owned; NULL: there is none */
    struct tn_digest digest;                  /* of the weights */
    struct tn_workspace *workspaces; /* one per thread; the first one's contexts serve all threads together, too */
    unsigned threads;
};

/* Bytes of one workspace without its contexts; false on overflow. */
bool tn_workspace_bytes(const struct tn_native_program *program, size_t *bytes);
/* Of threads together, where they are several. */
enum tn_status tn_workspace_new(const struct tn_instance *instance, unsigned threads, struct tn_workspace *out, struct tn_error *err);
void tn_workspace_release(struct tn_workspace *w, struct tn_alloc *alloc);

/* Runs the piece that lies in the workspace by so many threads and delivers its results into the invocation. */
enum tn_status tn_piece_run(struct tn_instance *instance, struct tn_workspace *w, const struct tn_invocation *call, unsigned threads);

/* ---- graphs ------------------------------------------------------------------------------------------------------- */

enum tn_status tn_native_net_assess(struct tn_native_program *program, struct tn_assessment *a,
                                    const struct tn_component_request *r, struct tn_error *err);
enum tn_status tn_native_net_load(struct tn_instance *instance, const struct tn_component_request *r,
                                  const struct tn_load_env *env, struct tn_error *err);
enum tn_status tn_native_net_run(struct tn_instance *instance, const struct tn_tensor_call *call, struct tn_error *err);
/* The same, telling the values of its nodes as they are made. */
enum tn_status tn_native_net_run_told(struct tn_instance *instance, const struct tn_tensor_call *call, const struct tn_teller *teller,
                                      struct tn_error *err);
void tn_native_net_release(struct tn_instance *instance);
/* Under a key that names everything the value follows from. */
bool tn_digest_recall(const struct tn_context *ctx, const struct tn_digest *key, struct tn_digest *value);
void tn_digest_remember(const struct tn_context *ctx, const struct tn_digest *key, const struct tn_digest *value);


/* ---- for rows that somebody else made (tail.h) -------------------------------------------------------------------- */

/* What a program comes to, once its graph is finished (program.c): sizes into a->estimate, output_* too. */
enum tn_status tn_native_program_finish(struct tn_native_program *program, struct tn_assessment *a, struct tn_error *err);
enum tn_status tn_native_program_load(struct tn_instance *instance, const struct tn_component_request *r, const struct tn_load_env *env,
                                      struct tn_error *err);
void tn_native_graph_fingerprint(const struct tn_graph *g, struct tn_sha256 *h);

/* A component whose weights are a graph: the graph (net.c), and texts through it. */
enum tn_status tn_native_texts_assess(struct tn_native_program *program, struct tn_assessment *a, const struct tn_component_request *r,
                                      struct tn_error *err);

#endif
