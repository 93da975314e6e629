/*
 * Operators: how a node's types follow from its operands', and how it is computed. One row per operator and range of
 * versions; a file of rows per group of operators (registry.c lists the groups). Adding an operator is adding a row.
 *
 * The standard's own conditions (arity, attribute types, admitted element types) are checked from net/schema.h before any
 * function here is called. What an operator checks itself is what schemas cannot say: ranks, axes, dimensions that must
 * agree, values in range. Shapes come from packages and requests: hostile.
 *
 * Inference and execution share one function, `infer`. Over a graph it sees types whose dimensions may be symbols; before
 * each execution it sees the operands themselves, and then every dimension it states must be a number, unless the size
 * follows from data (NonZero, Compress ...): it then leaves the dimension unknown and `run` makes the output.
 *
 * What inference may read of values: those of operands of rank 0 or 1 with at most TN_CONTENT (64) numbers, whichever way
 * they are reached (tn_in_content, tn_in_sizes, tn_in_numbers, tn_in_data), and nothing else but types and attributes. The
 * executor remembers what a node's inference said for as long as the operands' types and these short lists stay as they were
 * (exec/run.c); a row that looked further would be told an old answer. A size that depends on more is left to `run`.
 *
 * Bits: an output element is computed by one fixed sequence of roundings, whatever the number of threads.
 */
#ifndef TN_OPS_OP_H
#define TN_OPS_OP_H

#include "base/pool.h"
#include "kernel/kernel.h"
#include "net/schema.h"

/* ---- inference ---------------------------------------------------------------------------------------------------- */

enum { TN_CONTENT = 64, TN_INFER_SCRATCH = 8 };

struct tn_infer {
    const struct tn_net *net; /* where the node stands */
    const struct tn_node *node;
    struct tn_symbols *symbols;
    struct tn_arena *arena; /* for what is stated; lives as long as the symbols; NULL before an execution */
    tn_dim_t (*scratch)[TN_CONTENT]; /* [TN_INFER_SCRATCH] before an execution: contents of operands, used in turn */
    uint32_t scratch_used;
    const struct tn_type *const *types; /* [in_count] of the operands; NULL: absent */
    const struct tn_tensor *const *data; /* [in_count] operands whose values are known now; entries may be NULL */
    const struct tn_net_value *const *values; /* [in_count] their values in the graph; NULL during execution */
    uint32_t in_count, out_count;
    struct tn_type *out; /* [out_count], to be filled; kind TN_KIND_NONE as it begins */
    const tn_dim_t **content; /* [out_count] small integers, where they follow */
    uint32_t *content_count;
    bool running; /* before an execution */
    /* Types the graphs inside the node from the types of their inputs; NULL entries of `in` are unknown. */
    bool (*graph)(struct tn_infer *x, const struct tn_net *inner, const struct tn_type *const *in,
                  const struct tn_type **out);
    struct tn_finding *why; /* of a failure; may be NULL */
    bool failed;
};

/* False, with the reason: what was found, and what the operator asks for. printf-like. */
bool tn_infer_refuse(struct tn_infer *x, const char *expected, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Operand i: NULL when it is absent. */
const struct tn_type *tn_in_type(const struct tn_infer *x, uint32_t i);
bool tn_in_given(const struct tn_infer *x, uint32_t i);
/* Its shape; false while the rank is not known (then leave the output's shape unknown and return true). */
bool tn_in_shape(const struct tn_infer *x, uint32_t i, const struct tn_shape **out);
/* Operand i as integers, each known or a symbol; false: not known. At most TN_CONTENT of them, of rank 0 or 1. */
bool tn_in_content(struct tn_infer *x, uint32_t i, const tn_dim_t **out, uint32_t *count);
/*
 * The same over a graph, where a constant -1 may stand among them as TN_DIM_REST: what a Reshape leaves open. A list that
 * holds one is stated by tn_out_content, too, and seen by this function alone.
 */
#define TN_DIM_REST INT64_MIN
bool tn_in_sizes(struct tn_infer *x, uint32_t i, const tn_dim_t **out, uint32_t *count);
/*
 * Operand i as plain numbers, negative ones included (axes, pads, a shape with -1); false: not all known. `out` has room
 * for cap; more, or another rank than 0 or 1, is a refusal.
 */
bool tn_in_numbers(struct tn_infer *x, uint32_t i, int64_t *out, uint32_t cap, uint32_t *count);
/* The values of operand i when they are known now (constants; everything before an execution); NULL otherwise. */
const struct tn_tensor *tn_in_data(const struct tn_infer *x, uint32_t i);

/* States output k as a tensor; rank may be 0. Does nothing for an output that is not wanted. */
void tn_out_tensor(struct tn_infer *x, uint32_t k, enum tn_element element, uint32_t rank, const tn_dim_t *dims);
/* A tensor of unknown rank. */
void tn_out_unknown(struct tn_infer *x, uint32_t k, enum tn_element element);
void tn_out_type(struct tn_infer *x, uint32_t k, const struct tn_type *type);
/* States the integers in output k, whose type is stated too; copies them. */
void tn_out_content(struct tn_infer *x, uint32_t k, const tn_dim_t *content, uint32_t count);
/* Output 0 has operand 0's type and shape. */
bool tn_infer_same(struct tn_infer *x);
/* The broadcast of two shapes (ONNX, "Multidirectional broadcasting"); false with a refusal when they do not fit. */
bool tn_infer_broadcast(struct tn_infer *x, const struct tn_shape *a, const struct tn_shape *b, struct tn_shape *out);
/* Outputs 0 takes the broadcast of the first `count` operands, element `e`. */
bool tn_infer_elementwise(struct tn_infer *x, uint32_t count, enum tn_element e);
/* axis in [-rank, rank) to [0, rank); a refusal otherwise. */
bool tn_infer_axis(struct tn_infer *x, int64_t axis, uint32_t rank, uint32_t *out);

/* ---- attributes, with the schema's defaults ----------------------------------------------------------------------- */

int64_t tn_attr_int(const struct tn_node *node, const char *name, int64_t otherwise);
double tn_attr_float(const struct tn_node *node, const char *name, double otherwise);
/* "" when there is neither a value nor a default. */
struct tn_str tn_attr_text(const struct tn_node *node, const char *name);
/* NULL and 0 when not given and without default. */
const int64_t *tn_attr_ints(const struct tn_node *node, const char *name, size_t *count);
const float *tn_attr_floats(const struct tn_node *node, const char *name, size_t *count);
const struct tn_str *tn_attr_texts(const struct tn_node *node, const char *name, size_t *count);
struct tn_net *tn_attr_graph(const struct tn_node *node, const char *name);

/* ---- execution ---------------------------------------------------------------------------------------------------- */

struct tn_run {
    const struct tn_node *node;
    const void *state; /* what `prepare` made of constant operands; NULL: nothing */
    struct tn_tensor *const *in; /* [in_count], NULL: absent */
    uint32_t in_count, out_count;
    /*
     * [out_count]. Where inference stated a whole shape the output is there, uninitialised; otherwise NULL and `run` makes
     * it. An output that is not wanted has `wanted` false; it may be NULL.
     */
    struct tn_tensor **out;
    const bool *wanted;
    /* [threads] regions of scratch_bytes, each at least what the row's `kept` tells and a multiple of 64; NULL: it tells nothing */
    void *scratch;
    size_t scratch_bytes;
    struct tn_heap *heap; /* for outputs and other scratch; of the calling thread alone */
    struct tn_pool *pool;
    unsigned threads;
    const struct tn_kernels *kernels; /* the same as at `prepare` */
    const struct tn_cancel *cancel;
    /*
     * Runs a graph inside the node: `in` and `out` in the order of its ports, `out` gains references. Values from around
     * it are found by the executor. False with the failure set.
     */
    bool (*graph)(struct tn_run *r, const struct tn_net *inner, struct tn_tensor *const *in, uint32_t in_count,
                  struct tn_tensor **out, uint32_t out_count);
    void *executor;
    enum tn_status failed; /* TN_OK, or what went wrong; sticky */
    struct tn_finding *why;
};

/* False: the operator refuses these values (TN_INVALID_REQUEST), with the reason. printf-like. */
bool tn_run_refuse(struct tn_run *r, const char *expected, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool tn_run_no_memory(struct tn_run *r);
/* Makes output k; NULL with the failure set. */
struct tn_tensor *tn_run_output(struct tn_run *r, uint32_t k, enum tn_element element, uint32_t rank, const int64_t *dims);
/* Output k is this value, which gains a reference: an operand passed through, a view. */
void tn_run_pass(struct tn_run *r, uint32_t k, struct tn_tensor *t);
/* Scratch of this call, aligned to 64; NULL with the failure set. Give it back with tn_heap_give. */
void *tn_run_scratch(struct tn_run *r, size_t count, size_t each);

/* Rows index[0 .. count - 1] of operand i, along its first dimension, can be read now (`by_rows`); false with the failure set. */
bool tn_run_need_rows(struct tn_run *r, uint32_t i, const int64_t *index, size_t count);

/*
 * Work on [begin, end) of `count` independent items by several threads: `fn` is called for disjoint shares that cover all.
 * `cost` is roughly how many simple operations one item takes; little work stays on one thread. What an item computes must
 * not depend on its share.
 */
typedef void tn_items_fn(void *user, uint64_t begin, uint64_t end);
void tn_run_items(struct tn_run *r, uint64_t count, uint64_t cost, tn_items_fn *fn, void *user);

/* A kernel of a team: every member is called with its rank and does its share. Little work stays on one thread. */
void tn_run_team(struct tn_run *r, uint64_t work, tn_pool_fn *fn, void *user);

/* Operand i as integers (int32 or int64, any rank), the k-th; for axes and shapes. */
static inline int64_t tn_run_int(const struct tn_run *r, uint32_t i, uint64_t k)
{
    return tn_element_get_int(r->in[i]->element, r->in[i]->data, k);
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

/* What is known when a session is made: packs constant operands. */
struct tn_prepare {
    const struct tn_node *node;
    const struct tn_tensor *const *in; /* constants; NULL: not constant, or absent */
    const struct tn_type *const *types;
    struct tn_alloc *alloc;
    struct tn_pool *pool;
    unsigned threads;
    const struct tn_kernels *kernels;
    const char *wrong; /* set when TN_ARTIFACT_MALFORMED is returned: what the attributes or constants should be */
    bool keep[16]; /* set false for an operand that `run` no longer reads: its memory is given back. Begins true */
};

/* What a node holds once it is prepared, told from types alone: sizes are those that `prepare` and `run` will ask for. */
struct tn_kept {
    size_t state;   /* bytes */
    size_t scratch; /* bytes for each thread that runs it */
    bool keep[16];  /* as in tn_prepare */
};

struct tn_operator {
    const char *domain; /* NULL: the standard's own, "ai.onnx" */
    const char *name;
    int16_t since, last;  /* versions of the domain that this row computes; last 0: all that are known */
    /* What `run` can compute, by the schema's type names: {"T", TN_ELS_FLOAT}. A name that is not listed: all. */
    struct {
        const char *name;
        tn_elements elements;
    } types[4];
    bool (*infer)(struct tn_infer *x);
    bool (*run)(struct tn_run *r);
    /* Optional. NULL state without a failure: nothing to keep. */
    enum tn_status (*prepare)(struct tn_prepare *p, void **state);
    void (*release)(struct tn_alloc *alloc, void *state);
    /* Optional: attribute values that the row does not have; NULL when the node can be run, else what is missing. */
    const char *(*lacks)(const struct tn_node *node);
    /*
     * Optional: the node reads no more of operand 0 than rows along its first dimension, after tn_run_need_rows. A large constant
     * that only such nodes read stays in its file until a call needs a row of it.
     */
    bool (*by_rows)(const struct tn_node *node);
    /* Output 0 may be written over operand 0 when nobody else needs it and their sizes agree. */
    bool in_place;
    /* Same operands, same results: may be folded. Random operators are not. */
    bool not_pure;
    /* Optional: memory before weights are read. False when a size overflows. */
    bool (*kept)(const struct tn_net *net, const struct tn_node *node, const struct tn_kernels *kernels, struct tn_kept *out);
    /* Makes a table of what never changes: computed when the program is made, whatever its size, also of no operands. */
    bool table;
    /* What it makes is memory of its own: never an operand, or a view of one. Then a plan may say where it lies. */
    bool fresh;
};

struct tn_operators {
    const struct tn_operator *rows;
    size_t count;
};

extern const struct tn_operators *const tn_operator_groups[];
extern const size_t tn_operator_group_count;

/* The row for an operator of a version; NULL: we cannot compute it. *types: the row with other versions, or NULL. */
const struct tn_operator *tn_operator_find(struct tn_str domain, struct tn_str name, int64_t version);
/* Element types that the row computes for a type name of the schema. */
tn_elements tn_operator_elements(const struct tn_operator *op, const char *type_name);

#endif
