/*
 * Building graphs in code: what families and recipes emit is a dataflow graph as any other (net/net.h), of operators over
 * packed rows (ops/rows.h). Values are float32 rows [T, width] (one per token of the packed sequences), [S, width] (one per
 * sequence) or [P, width] (one per token that the invocation picks); what follows a pick is a graph of its own, which runs as
 * often as it takes. What follows from weights alone is computed when a program is made.
 *
 * A graph refers to weights by index; each weight is bound to a tensor of the package before the graph is built, so no
 * name is looked up later. Building fails only without memory; that is sticky and tn_graph_finish reports it.
 */
#ifndef TN_GRAPH_GRAPH_H
#define TN_GRAPH_GRAPH_H

#include "describe/activation.h"
#include "describe/pooling.h"
#include "exec/exec.h"
#include "ops/rope.h"

enum { TN_NO_VALUE = UINT32_MAX, TN_NO_WEIGHT = UINT32_MAX, TN_LINEAR_PARTS = 3, TN_GRAPH_TABLES = 4 };
enum { TN_NO_LAYER = -1 };

/* What there is a row for. */
enum tn_dim { TN_DIM_ROWS, TN_DIM_SEQUENCES, TN_DIM_PICKS };

/*
 * The operands of the first graph, in this order: int32, spans [S, 3] as struct tn_span; behind them the rows [T, width] that
 * it begins with, where it does (tn_graph_given). The second one has one, its rows.
 */
enum tn_token_input { TN_IN_IDS, TN_IN_TYPES, TN_IN_POSITIONS, TN_IN_OFFSETS, TN_IN_SPANS, TN_GRAPH_INPUTS, TN_IN_GIVEN = TN_GRAPH_INPUTS };

/* The graph of tokens and sequences, and the one behind a pick. */
enum { TN_GRAPH_TOKENS, TN_GRAPH_PICKS, TN_GRAPH_PARTS };

struct tn_graph_weight {
    struct tn_str role; /* "encoder.layer.3.attention.query.weight": part of the weights identity */
    const struct tn_tensor_info *tensor;
    uint32_t value[TN_GRAPH_PARTS]; /* its constant; TN_NET_NONE: not read there */
};

/* Which index picks the row of an embedding table. */
enum tn_index_kind { TN_INDEX_TOKEN, TN_INDEX_POSITION, TN_INDEX_TYPE };

/* How positions follow from ids: 0, 1, 2 ... or, as in RoBERTa and MPNet, pad + 1 .. over the ids that are not pad. */
enum tn_position_rule { TN_POSITION_ARANGE, TN_POSITION_FROM_PAD };

struct tn_op_embed { /* sum of tables, then layer norm */
    uint32_t table[TN_GRAPH_TABLES];
    enum tn_index_kind index[TN_GRAPH_TABLES];
    uint32_t tables;
    uint32_t gamma, beta; /* TN_NO_WEIGHT: no norm */
    double eps;
};

struct tn_op_linear { /* act(x [W1; W2; W3]^T + b) + residual */
    uint32_t weight[TN_LINEAR_PARTS]; /* each [out, in] */
    uint32_t bias[TN_LINEAR_PARTS];   /* [out] or TN_NO_WEIGHT */
    uint32_t parts;
    enum tn_act act;
};

struct tn_op_rotary { /* turns the first `heads` heads of each row by its position */
    uint64_t heads, head_dim;
    struct tn_rope rope;
};

/*
 * The disentangled terms of DeBERTa: products of queries (of_queries) and of keys (of_keys) with tables of 2 span rows, one
 * row for each distance i - j; with buckets, distances beyond buckets / 2 share rows on a logarithmic scale that ends at
 * max_distance.
 */
struct tn_relative_terms {
    bool of_queries, of_keys;
    uint32_t position_key, position_query; /* values; read where the flag is set */
    uint64_t span, buckets, max_distance;  /* buckets 0: a row for each distance */
};

struct tn_op_attention { /* bidirectional, over q | k | v side by side in one value */
    uint64_t heads, head_dim;
    double scale;
    uint32_t bias; /* [buckets, heads] relative bias (T5's buckets), or TN_NO_WEIGHT */
    uint64_t bias_buckets, bias_max_distance;
    uint64_t window; /* rows at a distance below it see each other; 0: all do */
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

/* A value of a part. */
struct tn_graph_value {
    uint32_t part, value;
};

/* A table of rotary angles that operators share: two values of the first part. */
struct tn_graph_angles {
    struct tn_rope rope;
    uint64_t head_dim;
    uint32_t cosine, sine;
};

struct tn_graph {
    const struct tn_context *ctx;
    struct tn_arena *arena; /* of the lists below; not owned */
    struct tn_model *part[TN_GRAPH_PARTS]; /* owned (tn_graph_release); NULL: there is none */
    struct tn_graph_value *values;
    struct tn_graph_weight *weights;
    struct tn_graph_angles *angles;
    uint32_t value_count, value_cap, weight_count, weight_cap, angle_count, angle_cap;
    tn_dim_t rows, sequences, picks; /* symbols; the last one of the second part */
    uint64_t given_width; /* of the rows that it begins with; 0: it begins with ids */
    uint64_t max_rows; /* the longest sequence: tables of positions are made for it */
    enum tn_compute compute; /* of linear layers */
    int64_t layer; /* of operators that are added now; builders set it */
    enum tn_position_rule position_rule;
    uint64_t pad_id;
    uint64_t vocab_size, type_count; /* rows of the tables: ids are checked against them; 0: no such table */
    struct tn_graph_value output;
    enum tn_dim output_dim;
    uint64_t output_width;
    enum tn_status failed;
};

/* False without memory: the graph has failed. */
bool tn_graph_init(struct tn_graph *g, const struct tn_context *ctx, struct tn_arena *arena, uint64_t max_rows, enum tn_compute compute);
void tn_graph_release(struct tn_graph *g);

/* All builders return the index of the new value or weight, or TN_NO_* after a failure (which sticks). */
uint32_t tn_graph_weight(struct tn_graph *g, struct tn_str role, const struct tn_tensor_info *tensor);
uint32_t tn_graph_embed(struct tn_graph *g, const char *name, const struct tn_op_embed *embed);
/* Rows that somebody else made of the ids: what the graph begins with instead of tables. Once, and first of all. */
uint32_t tn_graph_given(struct tn_graph *g, uint64_t width);
/* A weight as a value. */
uint32_t tn_graph_table(struct tn_graph *g, const char *name, uint32_t weight);
uint32_t tn_graph_linear(struct tn_graph *g, const char *name, uint32_t x, uint32_t residual,
                         const struct tn_op_linear *linear);
uint32_t tn_graph_rotary(struct tn_graph *g, const char *name, uint32_t x, const struct tn_op_rotary *rotary);
/* act(first half of the row) * second half. */
uint32_t tn_graph_gate(struct tn_graph *g, const char *name, uint32_t x, enum tn_act act);
uint32_t tn_graph_attention(struct tn_graph *g, const char *name, uint32_t qkv, const struct tn_op_attention *attention);
uint32_t tn_graph_layer_norm(struct tn_graph *g, const char *name, uint32_t x, uint32_t residual,
                             const struct tn_op_layer_norm *norm);
/*
 * Pools the rows of x as sparse vectors are (struct tn_linear_pool_args in kernel.h). The linear layer that makes x, which
 * must be the last operator, becomes the one that pools: its rows are nowhere. TN_NO_VALUE where another operator makes x.
 */
uint32_t tn_graph_linear_pool(struct tn_graph *g, const char *name, uint32_t x, bool sum, bool twice);
uint32_t tn_graph_pool(struct tn_graph *g, const char *name, uint32_t x, const struct tn_op_pool *pool);
/* The rows that the invocation picks: [T, width] to [P, width]. From here on operators belong to the second part. */
uint32_t tn_graph_pick(struct tn_graph *g, uint32_t x);
uint32_t tn_graph_normalize(struct tn_graph *g, const char *name, uint32_t x);
/* "layer 3 attention" into the graph's arena. */
const char *tn_graph_name(struct tn_graph *g, const char *format, unsigned long long layer)
    __attribute__((format(printf, 2, 0)));

/* From now on attention sees only the rows of a sequence's span, which begins it. Every attention that there is. */
void tn_graph_hide_rows(struct tn_graph *g);

/*
 * Names the output, types every value and checks every operand: widths against weights, ranks, dimensions. A mismatch is
 * TN_TENSOR_MISMATCH naming operator and operands.
 */
enum tn_status tn_graph_finish(struct tn_graph *g, uint32_t output, struct tn_error *err);

#endif
