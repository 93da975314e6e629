/*
 * Operators over packed rows, domain "tenon", version 1: what families emit. Activations are float32 [T, width], a row for
 * each token of the packed sequences, or [S, width], one for each sequence; only attention, pooling and positions know
 * where sequences begin. Weights are constants as stored (float32, float16, bfloat16); they are packed or widened when the
 * session is made.
 *
 * Trusted beyond their shapes: ids, positions and offsets are checked by whoever made the call (provider/native), never
 * here, because a check in each operator would read them once per layer. No file can hold these operators: a graph from a
 * file has standard domains alone (net/check.h).
 *
 *   Embed            ids [T], types [T], positions [T], gamma, beta, table ... [rows, width]: the sum of a row of each
 *                    table, then layer norm where gamma or beta is there. index: for each table 0 ids, 1 positions, 2 types
 *   Linear           x, residual, then weight [n, k] and bias [n] of each part, stacked along n. activation, compute
 *   LinearPool       x, spans [S, 3], then parts as above: kernel.h, tn_linear_pool_args. sum, twice
 *   Rotary           x, positions [T], cosine and sine [P, head_dim / 2]: turns the first `heads` heads of each row
 *   RotaryAngles     frequency [head_dim / 2]; out: cosine, sine [positions, head_dim / 2]. head_dim, positions
 *   DistanceBias     table [buckets, heads]; out [heads, 2 length - 1]. length, buckets, max_distance (T5's buckets)
 *   DistanceRows     out: int32 [2 length - 1], rows of a table by distance (DeBERTa's). length, span, buckets, max_distance
 *   Attention        x [T, 3 heads head_dim], offsets [S + 1], spans, bias, position_key, position_query, rows by distance:
 *                    kernel.h, tn_attention_args. heads, head_dim, scale, window, span, length: the longest sequence
 *   Gate             x [T, 2 width]: activation(first half) times second half
 *   Norm             x, residual, gamma, beta: layer norm of x + residual. eps
 *   Pool             x, spans; modes: texts of describe/pooling.h, side by side
 *   Unit             x: each row divided by its length
 */
#ifndef TN_OPS_ROWS_H
#define TN_OPS_ROWS_H

#include "ops/op.h"

/* Operands of Attention. */
enum { TN_ATTENTION_QKV, TN_ATTENTION_OFFSETS, TN_ATTENTION_SPANS, TN_ATTENTION_BIAS, TN_ATTENTION_KEY, TN_ATTENTION_QUERY, TN_ATTENTION_ROWS };

static inline enum tn_float_type tn_rows_type(enum tn_element e)
{
    return e == TN_EL_F16 ? TN_FLOAT_F16 : e == TN_EL_BF16 ? TN_FLOAT_BF16 : TN_FLOAT_F32;
}

static inline bool tn_rows_stored(enum tn_element e)
{
    return e == TN_EL_F32 || e == TN_EL_F16 || e == TN_EL_BF16;
}

/* Operand i is a matrix of float32 with known columns; *rows and *width get its dimensions. False with the reason. */
bool tn_rows_in(struct tn_infer *x, uint32_t i, tn_dim_t *rows, int64_t *width);
/* Operand i, where it is given, is a stored vector of this length. */
bool tn_rows_vector(struct tn_infer *x, uint32_t i, int64_t length, const char *what);
/* Output 0 is float32 [rows, width]. */
bool tn_rows_out(struct tn_infer *x, tn_dim_t rows, int64_t width);
bool tn_rows_activation(const struct tn_node *node, enum tn_act *out);

/* Vectors that `prepare` widened: of operands first .. first + count - 1, NULL where there is none. */
struct tn_rows_vectors {
    float *of[4];
};
enum tn_status tn_rows_widen(struct tn_prepare *p, uint32_t first, uint32_t count, void **state);
bool tn_rows_kept(const struct tn_net *net, const struct tn_node *node, uint32_t first, uint32_t count, struct tn_kept *out);
void tn_rows_release_vectors(struct tn_alloc *alloc, void *state);
/* Vector k of the state; NULL: there is none. */
const float *tn_rows_vector_of(const struct tn_run *r, uint32_t k);

#endif
