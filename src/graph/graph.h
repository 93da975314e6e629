/*
 * The graph: tenon's typed intermediate program. Families and recipes emit it, providers read it. Values are float32 rows
 * [T, width] (one per token of the packed sequences), [S, width] (one per sequence) or [P, width] (one per token that the
 * invocation picks); T, S and P stay symbolic, and what follows a pick works row by row. A fixed value has a number of rows that is known here: it follows from the weights alone, the same in every call. The
 * sequence borders (offsets), token ids and pooled spans are operands of the invocation, not values.
 *
 * A graph refers to weights by index; each weight is bound to a tensor of the package before the graph is built, so no
 * name is looked up later. Building fails only without memory; that is sticky and tn_graph_finish reports it.
 */
#ifndef TN_GRAPH_GRAPH_H
#define TN_GRAPH_GRAPH_H

#include "describe/activation.h"
#include "describe/pooling.h"
#include "graph/rope.h"
#include "package/package.h"

enum tn_dim { TN_DIM_ROWS, TN_DIM_SEQUENCES, TN_DIM_PICKS, TN_DIM_FIXED };

enum { TN_NO_VALUE = UINT32_MAX, TN_NO_WEIGHT = UINT32_MAX, TN_LINEAR_PARTS = 3, TN_GRAPH_TABLES = 4 };
enum { TN_NO_LAYER = -1 };

struct tn_graph_value {
    enum tn_dim dim;
    uint64_t width;
    uint64_t rows; /* of a fixed value */
};

/* How a weight is kept in memory. One tensor used in two ways is two weights. */
enum tn_weight_use {
    TN_USE_LINEAR, /* part of a packed layer */
    TN_USE_VECTOR, /* widened to float32 */
    TN_USE_TABLE   /* rows that are gathered, as stored */
};

struct tn_graph_weight {
    struct tn_str role; /* "encoder.layer.3.attention.query.weight": part of the weights identity */
    enum tn_weight_use use;
    const struct tn_tensor_info *tensor;
};

/* Which index picks the row of an embedding table. */
enum tn_index_kind { TN_INDEX_TOKEN, TN_INDEX_POSITION, TN_INDEX_TYPE };

/* How positions follow from ids: 0, 1, 2 ... or, as in RoBERTa and MPNet, pad + 1 .. over the ids that are not pad. */
enum tn_position_rule { TN_POSITION_ARANGE, TN_POSITION_FROM_PAD };

#define TN_OP_LIST(X)                                                                              \
    X(EMBED, "embed")                                                                              \
    X(TABLE, "table")                                                                              \
    X(LINEAR, "linear")                                                                            \
    X(LINEAR_POOL, "linear_pool")                                                                  \
    X(ROTARY, "rotary")                                                                            \
    X(ATTENTION, "attention")                                                                      \
    X(GATE, "gate")                                                                                \
    X(LAYER_NORM, "layer_norm")                                                                    \
    X(POOL, "pool")                                                                                \
    X(PICK, "pick")                                                                                \
    X(NORMALIZE, "normalize")

enum tn_op_kind {
#define X(name, text) TN_OP_##name,
    TN_OP_LIST(X)
#undef X
    TN_OP_KINDS
};

struct tn_op_embed { /* sum of tables, then layer norm */
    uint32_t table[TN_GRAPH_TABLES];
    enum tn_index_kind index[TN_GRAPH_TABLES];
    uint32_t tables;
    uint32_t gamma, beta; /* TN_NO_WEIGHT: no norm */
    double eps;
};

struct tn_op_table { /* the rows of a stored matrix as a fixed value */
    uint32_t weight;
};

struct tn_op_linear { /* act(x [W1; W2; W3]^T + b) + residual */
    uint32_t weight[TN_LINEAR_PARTS]; /* each [out, in] */
    uint32_t bias[TN_LINEAR_PARTS];   /* [out] or TN_NO_WEIGHT */
    uint32_t parts;
    enum tn_act act;
};

/* A linear layer, its rows pooled to one per sequence as sparse vectors are (struct tn_linear_pool_args in kernel.h). */
struct tn_op_linear_pool {
    struct tn_op_linear linear; /* first: as.linear is this one */
    bool sum, twice;
};

struct tn_op_rotary { /* turns the first `heads` heads of each row by its position; works in place */
    uint64_t heads, head_dim;
    struct tn_rope rope;
};

struct tn_op_gate { /* act(first half of the row) * second half */
    enum tn_act act;
};

/*
 * The disentangled terms of DeBERTa: products of queries (of_queries) and of keys (of_keys) with fixed values of 2 span
 * rows, one row for each distance i - j; with buckets, distances beyond buckets / 2 share rows on a logarithmic scale
 * that ends at max_distance.
 */
struct tn_relative_terms {
    bool of_queries, of_keys;
    uint32_t position_key, position_query; /* values; read where the flag is set */
    uint64_t span, buckets, max_distance;  /* buckets 0: a row for each distance */
};

struct tn_op_attention { /* bidirectional, over q | k | v side by side in one value */
    uint64_t heads, head_dim;
    double scale;
    uint32_t bias;            /* [buckets, heads] relative bias (T5's buckets), or TN_NO_WEIGHT */
    uint64_t bias_buckets, bias_max_distance;
    uint64_t window; /* rows at a distance below it see each other; 0: all do */
    bool keys_of_span; /* only the rows of the sequence's span, which begins it, are seen */
    struct tn_relative_terms relative;
};

struct tn_op_layer_norm { /* of x + residual */
    uint32_t gamma, beta;
    double eps;
};

struct tn_op_pool { /* modes side by side */
    enum tn_pooling mode[TN_POOLINGS];
    uint32_t modes;
};

struct tn_op {
    enum tn_op_kind kind;
    struct tn_str name; /* "layer 3 attention": for people, taps and errors */
    int64_t layer;      /* that it belongs to; TN_NO_LAYER: none */
    uint32_t in[2];     /* x, residual; TN_NO_VALUE where there is none */
    uint32_t out;
    union {
        struct tn_op_embed embed;
        struct tn_op_table table;
        struct tn_op_linear linear;
        struct tn_op_linear_pool linear_pool;
        struct tn_op_rotary rotary;
        struct tn_op_attention attention;
        struct tn_op_gate gate;
        struct tn_op_layer_norm layer_norm;
        struct tn_op_pool pool;
    } as;
};

struct tn_graph {
    struct tn_arena *arena; /* where everything lives; not owned */
    struct tn_graph_value *values;
    struct tn_graph_weight *weights;
    struct tn_op *ops;
    uint32_t value_count, value_cap, weight_count, weight_cap, op_count, op_cap;
    int64_t layer; /* of operators that are added now; builders set it */
    enum tn_position_rule position_rule;
    uint64_t pad_id;
    uint64_t vocab_size, type_count, position_count; /* rows of the tables: ids are checked against them */
    uint32_t output;
    enum tn_status failed;
};

void tn_graph_init(struct tn_graph *g, struct tn_arena *arena);

/* All builders return the index of the new value or weight, or TN_NO_* after a failure (which sticks). */
uint32_t tn_graph_weight(struct tn_graph *g, struct tn_str role, enum tn_weight_use use,
                         const struct tn_tensor_info *tensor);
uint32_t tn_graph_embed(struct tn_graph *g, const char *name, const struct tn_op_embed *embed);
uint32_t tn_graph_table(struct tn_graph *g, const char *name, uint32_t weight);
uint32_t tn_graph_linear(struct tn_graph *g, const char *name, uint32_t x, uint32_t residual,
                         const struct tn_op_linear *linear);
uint32_t tn_graph_rotary(struct tn_graph *g, const char *name, uint32_t x, const struct tn_op_rotary *rotary);
uint32_t tn_graph_gate(struct tn_graph *g, const char *name, uint32_t x, enum tn_act act);
uint32_t tn_graph_attention(struct tn_graph *g, const char *name, uint32_t qkv, const struct tn_op_attention *attention);
uint32_t tn_graph_layer_norm(struct tn_graph *g, const char *name, uint32_t x, uint32_t residual,
                             const struct tn_op_layer_norm *norm);
/*
 * Pools the rows of x as sparse vectors are. The linear layer that makes x, which must be the last operator, becomes the
 * one that pools: its rows are nowhere. TN_NO_VALUE where another operator makes x. The result is the graph's output: it
 * goes where the invocation's results are, and has no memory of its own.
 */
uint32_t tn_graph_linear_pool(struct tn_graph *g, const char *name, uint32_t x, bool sum, bool twice);
uint32_t tn_graph_pool(struct tn_graph *g, const char *name, uint32_t x, const struct tn_op_pool *pool);
/* The rows that the invocation picks: [T, width] to [P, width]. */
uint32_t tn_graph_pick(struct tn_graph *g, const char *name, uint32_t x);
uint32_t tn_graph_normalize(struct tn_graph *g, const char *name, uint32_t x);
/* "layer 3 attention" into the graph's arena. */
const char *tn_graph_name(struct tn_graph *g, const char *format, unsigned long long layer)
    __attribute__((format(printf, 2, 0)));

/*
 * Names the output and infers and checks every shape: operand widths against weights, ranks, dimensions. A mismatch is
 * TN_TENSOR_MISMATCH naming operator and operands.
 */
enum tn_status tn_graph_finish(struct tn_graph *g, uint32_t output, struct tn_error *err);

const char *tn_op_kind_name(enum tn_op_kind kind);
/* Whether it computes a linear layer: as.linear is then its own. */
static inline bool tn_op_is_linear(enum tn_op_kind kind)
{
    return kind == TN_OP_LINEAR || kind == TN_OP_LINEAR_POOL;
}

/*
 * Memory plan: each value lives in a slot, a slot is reused once its value is dead. A slot of `dim` needs
 * rows * width floats. Element-wise chains may share one slot (norm and normalise work in place).
 */
struct tn_memory_slot {
    enum tn_dim dim;
    uint64_t width;
};

struct tn_memory_plan {
    struct tn_memory_slot *slots;
    uint32_t slot_count;
    uint32_t *slot_of; /* by value; TN_NO_VALUE for fixed ones, which live elsewhere and for ever, and for pooled layers */
};

enum tn_status tn_memory_plan_make(const struct tn_graph *g, struct tn_arena *arena, struct tn_memory_plan *out,
                                   struct tn_error *err);

/* Operators, shapes, slots as JSON (an array value). */
void tn_graph_write(struct tn_json_writer *w, const struct tn_graph *g, const struct tn_memory_plan *plan);
/* Feeds operators, attributes and weight roles into a fingerprint. */
void tn_graph_fingerprint(const struct tn_graph *g, struct tn_sha256 *h);

#endif
