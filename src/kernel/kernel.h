/*
 * The compute kernels: contracts and dispatch. Owns no memory and no threads; knows nothing of
 * files, graphs or models. Inputs are trusted: shapes, indices and sizes have been checked by
 * whoever built the call; the functions that turn shapes into byte counts are the exception and
 * report overflow.
 *
 * Work model. Activations are packed rows: row-major float32 [T, width], `stride` floats from row
 * to row. Sequence s owns rows offsets[s] .. offsets[s + 1] - 1. Every operator is called by each
 * member of a team with its own `rank` (0 .. size - 1) and does its share; the caller puts a
 * barrier between two operators that depend on each other. Calls with size 1 need no barrier.
 * Kernels never allocate, block, print or fail.
 *
 * The surprising decision: speed may never touch bits. For one kernel table, every output element
 * is computed by one fixed sequence of roundings that depends only on its own inputs (for attention
 * also on its sequence's length): never on T, on neighbouring rows, on rank and size, on alignment
 * or on where a tile ends. Different tables ("isa_class") may differ in the last bits.
 *
 * Pointers to activations need the alignment of float. Distinct buffers may not overlap unless a
 * contract says so.
 */
#ifndef TN_KERNEL_KERNEL_H
#define TN_KERNEL_KERNEL_H

#include "describe/activation.h"
#include "describe/pooling.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- CPU ---- */

/* What the CPU has *and* the operating system saves on a context switch; all false elsewhere than
 * on x86-64. */
struct tn_cpu {
    bool avx2;   /* AVX2, FMA and F16C together: what the "avx2" table is compiled for */
    bool avx512; /* AVX-512 F, BW, VL and DQ, and everything of `avx2` */
    bool avx512_bf16;
    bool avx512_vnni;
    char brand[49]; /* NUL-terminated; empty when unknown. For display only. */
};

void tn_cpu_detect(struct tn_cpu *cpu);

/* ---- Element types ---- */

/* How a tensor is stored: little-endian, at any byte address (mapped files do not align). */
enum tn_float_type { TN_FLOAT_F32, TN_FLOAT_F16, TN_FLOAT_BF16, TN_FLOAT_TYPES };

size_t tn_float_type_size(enum tn_float_type type);
const char *tn_float_type_name(enum tn_float_type type); /* "f32", "f16", "bf16" */

/*
 * How a linear layer computes.
 * F32:  stored weights are widened exactly to float32; products and sums in float32.
 * BF16: weights are rounded once, at packing, to bfloat16 (nearest even); each input row is rounded
 *       to bfloat16; products are exact; sums in float32, within a pair of k 2i + 1 before 2i.
 *       Subnormals may count as zero.
 */
enum tn_compute { TN_COMPUTE_F32, TN_COMPUTE_BF16 };

/* ---- Linear: y = act(x W^T + b) + residual ---- */

/* A block of rows of W, in the order in which blocks are stacked along n. Element (row, k) is at
 * data + (row * row_stride + k * k_stride) * size of type; torch's [n, k] has row_stride = k,
 * k_stride = 1. */
struct tn_linear_part {
    const void *data;
    enum tn_float_type type;
    size_t rows;
    size_t row_stride, k_stride;
    const void *bias; /* `rows` contiguous elements, or NULL: zero */
    enum tn_float_type bias_type;
};

/* A packed layer. n, k >= 1. `packed` is 64-byte aligned and stays the caller's. */
struct tn_linear {
    size_t n, k;
    enum tn_compute compute;
    const void *packed;
};

struct tn_linear_args {
    const struct tn_linear *layer;
    const float *x; /* [rows, k] */
    size_t x_stride;
    float *y; /* [rows, n]; not x */
    size_t y_stride;
    const float *residual; /* [rows, n] or NULL; may be y itself with the same stride */
    size_t residual_stride;
    size_t rows;
    enum tn_act act;
    void *scratch; /* `size` regions of scratch_bytes, rank r uses the r-th; 64-byte aligned */
    size_t scratch_bytes; /* at least linear_scratch_size, a multiple of 64 */
};

/* ---- Attention ---- */

/*
 * For every sequence, head h and query row i: softmax over keys j of (q_i . k_j * scale + bias)
 * applied to v_j, all rows of the same sequence seeing each other. Head h is columns h * head_dim
 * .. of q, k, v and out.
 *
 * bias, when given, depends on the distance alone: the addend of (h, i, j) is
 * bias[h * bias_stride + bias_center + (j - i)], valid for |j - i| < the longest length.
 *
 * With a window only keys with |j - i| < window are seen.
 *
 * Disentangled terms (He et al. 2021, arXiv 2006.03654, section 3.1): with r = relative_row[relative_center + (j - i)]
 * the product q_i . k_j gains q_i . position_key[r] and k_j . position_query[r]; the head's columns of a table's row
 * are those of q. Either table may be NULL. Not together with a window.
 *
 * With `seen` only the first seen[s].count rows of sequence s are keys: at least 1, and with a window so many that every
 * row sees one. The rows behind them attend and are attended by nobody. Not together with disentangled terms.
 */
struct tn_span;
struct tn_attention_args {
    const float *q, *k, *v; /* may point into one [T, 3 heads head_dim] buffer */
    size_t q_stride, k_stride, v_stride;
    float *out; /* overlaps none of the inputs */
    size_t out_stride;
    const int32_t *offsets; /* [sequences + 1], ascending; empty sequences are allowed */
    size_t sequences;
    size_t heads, head_dim;
    float scale;
    const float *bias;
    size_t bias_stride, bias_center;
    size_t window; /* 0: all keys */
    const struct tn_span *seen; /* [sequences], or NULL: all keys; only `count` is read */
    const float *position_key, *position_query;
    size_t position_stride;
    const int32_t *relative_row; /* read only with one of the tables; |j - i| < the longest length */
    size_t relative_center;
    void *scratch; /* `size` regions, as for linear */
    size_t scratch_bytes; /* at least attention_scratch_size for the longest length; 64-multiple */
};

/*
 * Rotary positions (Su et al. 2021, arXiv 2104.09864, section 3.4.2), in place, for the first `heads` heads of each row
 * (those of q and k side by side). Dimension d pairs with d + half, half = head_dim / 2: with c = cosine[p * half + d],
 * s = sine[p * half + d] and p = positions[t],
 *
 *     (a, b)  ->  (a c - b s, b c + a s)
 */
struct tn_rotary_args {
    float *x;
    size_t stride;
    size_t rows, heads, head_dim; /* head_dim is even */
    const int32_t *positions;     /* [rows], each checked by the caller */
    const float *cosine, *sine;   /* [positions, half] */
};

/* y = act(x[0 .. width - 1]) * x[width .. 2 width - 1] by row: the gate of a gated linear unit. */
struct tn_gate_args {
    const float *x; /* [rows, 2 width] */
    size_t x_stride;
    float *y; /* [rows, width]; overlaps x nowhere */
    size_t y_stride;
    size_t rows, width;
    enum tn_act act;
};

/* ---- Norms, embedding, pooling ---- */

/* y = (v - mean(v)) / sqrt(var(v) + eps) * gamma + beta with v = x + residual; the variance is the
 * biased one, divided by width. */
struct tn_layer_norm_args {
    const float *x;
    size_t x_stride;
    const float *residual; /* or NULL */
    size_t residual_stride;
    float *y; /* may be x or residual with the same stride */
    size_t y_stride;
    size_t rows, width;
    const float *gamma; /* [width], or NULL: ones */
    const float *beta;  /* [width], or NULL: zeros */
    float eps;
};

enum { TN_EMBED_TABLES = 4 };

/* One addend of the embedding: table[index[t]]. Rows of `width` contiguous elements, any address. */
struct tn_embed_table {
    const void *data;
    enum tn_float_type type;
    const int32_t *index; /* [rows], each checked by the caller; NULL: table row 0 for every t */
};

/* y[t] = sum of the tables in order ((a + b) + c), then layer norm when `norm`. */
struct tn_embed_args {
    struct tn_embed_table table[TN_EMBED_TABLES];
    size_t tables; /* 1 .. TN_EMBED_TABLES */
    float *y;
    size_t y_stride;
    size_t rows, width;
    bool norm;
    const float *gamma, *beta; /* as in tn_layer_norm_args */
    float eps;
};

/* Rows first .. first + count - 1 take part; `position` is the 0-based position of `first` in its
 * sequence (greater than 0 where a prompt is left out) and matters to WEIGHTED_MEAN alone. count 0
 * gives zeros in every mode. */
struct tn_span {
    int32_t first, count, position;
};

struct tn_pooling_args {
    enum tn_pooling mode;
    const float *x;
    size_t x_stride, width;
    const struct tn_span *spans; /* [sequences] */
    size_t sequences;
    float *y; /* [sequences, width] */
    size_t y_stride;
};

/*
 * A linear layer whose rows are pooled as they come, so that no memory holds a row of the layer per token (SPLADE;
 * Formal et al. 2021, arXiv 2107.05720 and 2109.10086). With z = x W^T + b and f(z) = log(1 + max(z, 0)), taken `twice`
 * f(f(z)): y[to[s]] is the largest f of the span's rows, or their sum in the order of the rows. An empty span gives zeros.
 */
struct tn_linear_pool_args {
    const struct tn_linear *layer;
    const float *x; /* [rows, k] */
    size_t x_stride, rows;
    const struct tn_span *spans; /* [sequences], ascending, no two overlap */
    const uint32_t *to;          /* [sequences] the row of y that each goes to */
    size_t sequences;
    float *y; /* [, n] */
    size_t y_stride;
    bool sum, twice;
    void *scratch; /* as for linear */
    size_t scratch_bytes;
};

/* ---- Trees ---- */

/*
 * Binary decision trees, all complete to one depth. A tree is cut into blocks of 16 places: the first block has the levels
 * above the last four (there is none when depth is at most 4), and each of its exits leads to a block with the other four.
 * In a block node 1 is the first; node i has the children 2i, where a row goes with x[feature] <= split, and 2i + 1; place 0
 * is not used. NaN goes to 2i where the node's bit of `missing` is set.
 */
enum { TN_TREE_DEPTH = 8, TN_TREE_ROWS = 64, TN_TREE_PLACES = 16, TN_TREE_WIDTH = 32 };

struct tn_trees {
    uint32_t depth;          /* 1 .. TN_TREE_DEPTH */
    const float *split;      /* [tree][block][16], aligned to 64 */
    const uint16_t *feature; /* [tree][block][16], aligned to 32; one more is readable behind the last */
    const uint16_t *missing; /* [tree][block], bit i of node i; one more is readable */
    const float *leaf;       /* [tree][2^depth]; 32 more are readable */
    const uint32_t *target;  /* [tree] */
};

/* Blocks of a tree. */
static inline uint32_t tn_tree_blocks(uint32_t depth)
{
    return depth > 4 ? 1 + (1u << (depth - 4)) : 1;
}

/* Rows through trees first .. first + count - 1: sums[target][row] += leaf, tree after tree. */
struct tn_trees_args {
    const struct tn_trees *trees;
    size_t first, count;
    const float *x;  /* [rows][stride], all of it readable; aligned to 64 */
    size_t stride;   /* a multiple of TN_TREE_WIDTH */
    unsigned rows;   /* 1 .. TN_TREE_ROWS */
    bool missing;    /* there may be NaN */
    float *sums;     /* [targets][TN_TREE_ROWS]; those behind the rows may be written */
    uint8_t *leaves; /* [count][TN_TREE_ROWS]: the leaf that each row reached; then sums are not written. Or NULL */
};

/* ---- Softmax, dot products ---- */

/*
 * y = softmax(x scale + first + second) by row. A row that holds minus infinity alone is NaN, or zeros when `quiet`; one
 * with NaN or plus infinity in it is NaN.
 */
struct tn_softmax_args {
    const float *x;
    size_t x_stride, rows, width;
    float scale;
    const float *first, *second; /* [rows, width] with strides that may be 0, or NULL */
    size_t first_stride, second_stride;
    float *y; /* may be x with the same stride; apart from the addends */
    size_t y_stride;
    bool quiet;
};

/*
 * y[m][n] = scale[n] * sum over k of x[m][k] (w[n][k] - zero[n]): a few rows against many, which lie in memory as they
 * came. zero, with bytes alone, and scale hold one number or [n]; NULL: 0 and 1.
 */
enum tn_dots_type { TN_DOTS_F32, TN_DOTS_U8, TN_DOTS_I8 };

struct tn_dots_args {
    const float *x; /* [rows, k] */
    size_t x_stride, rows;
    const void *w; /* [n, k], w_stride elements from row to row */
    enum tn_dots_type type;
    size_t w_stride, n, k;
    const int32_t *zero;
    const float *scale;
    size_t zeros, scales;
    float *y; /* [rows, n] */
    size_t y_stride;
};

/* ---- Products of bytes ---- */

/*
 * Exact sums of products of unsigned and signed bytes, in 32 bits that wrap: the same bits in every table. The caller
 * brings operands of the other kind to this one by turning their highest bit over, and puts zero points right with sums
 * of rows and columns.
 *
 * sums[m][n] = sum over k of a[m][k] b[k][n]. Rows of `a` are readable up to the next multiple of 4 of k; what stands
 * there does not matter. `packed` is B as bytes_pack has written it; it begins with the sums of B's columns, int32 [n].
 */
struct tn_bytes_args {
    const uint8_t *a;
    size_t a_stride;
    const void *packed;
    size_t rows, n, k;
    int32_t *sums; /* [rows, n] */
    size_t sums_stride;
};

/*
 * The same under a window that slides over an image: words of four channels, [quads][plane], position by position.
 * sums[map][p] = sum over quads and taps of x[quad][first + p + offset[tap]] times the weights; all positions
 * p = 0 .. count - 1 and as many words behind them as a vector has lie inside the image's memory (BYTES_SLACK words).
 */
enum { TN_BYTES_SLACK = 32 };

struct tn_bytes_window_args {
    const uint8_t *x; /* of position 0: first is added already */
    size_t plane;     /* words from quad to quad */
    size_t quads, taps;
    const size_t *offset; /* [taps] words */
    const void *packed;   /* weights, from bytes_window_pack */
    size_t maps;
    size_t count;
    int32_t *sums; /* [maps, count] */
    size_t sums_stride;
};

/* ---- Products of 4-bit blocks ---- */

/*
 * Rows that are coded by blocks of 32 times a matrix of 4-bit codes, which has a scale (and a zero point, without them 8) for
 * each column and group of k:
 *
 *     y[m][n] = bias[n] + sum over blocks of (scale of x[m] in the block * scale of the group) * s
 *     s = sum over the block's k of x[m][k] (w[n][k] - zero)
 *
 * s is an integer and exact; the product of the scales is rounded; blocks are added from zero by fused multiply-adds in
 * order, then the bias: the same bits in every table.
 */
enum { TN_NIBBLE_BLOCK = 32 };

/* A packed matrix. n, k >= 1; group: steps of k with one scale, a multiple of 32. `packed` is 64-byte aligned. */
struct tn_nibbles {
    size_t n, k, group;
    bool zeros; /* zero points were given */
    const void *packed;
};

/* What it is packed from: codes [n][groups][group / 2] of two each, the earlier one in the low half, whatever k is. */
struct tn_nibbles_source {
    const uint8_t *codes;
    const float *scales;  /* [n][groups] */
    const uint8_t *zeros; /* [n][(groups + 1) / 2], two in a byte as the codes; or NULL */
};

/* Of 32 elements of a row: x is about scale * code. */
struct tn_row_block {
    float scale;   /* the largest magnitude / 127 */
    int32_t least; /* -8 * the sum of the codes */
};

struct tn_nibbles_args {
    const struct tn_nibbles *layer;
    const int8_t *codes; /* [rows][blocks * 32], from code_row */
    const struct tn_row_block *blocks; /* [rows][blocks] */
    size_t rows;
    const float *bias; /* [n], or NULL */
    float *y; /* [rows, n] */
    size_t y_stride;
};

static inline size_t tn_nibble_blocks(size_t k)
{
    return k / TN_NIBBLE_BLOCK + (k % TN_NIBBLE_BLOCK != 0);
}

/* ---- Codes ---- */

/* y = the lowest byte of the whole number min(max(round(x / scale) + zero, low), high), to even where it is halfway; of NaN
 * the code is 0. zero, low and high are whole numbers of [-256, 511]. */
struct tn_codes_args {
    const float *x;
    uint8_t *y;
    size_t count;
    float scale, zero, low, high;
};

/* v = sums + add + times[0] * factor[0] + times[1] * factor[1] in 32 bits that wrap; then y = float(v) * scale + bias, each
 * rounded once. A bias of 0 is not added. */
struct tn_sums_args {
    const int32_t *sums;
    float *y; /* may be the sums' memory */
    size_t count;
    uint32_t add, factor[2];
    const int32_t *times[2]; /* [count], or NULL */
    float scale, bias;
    const float *scales, *biases; /* [count] instead, or NULL */
};

/* ---- What follows a sum ---- */

enum tn_finish {
    TN_FINISH_NONE,
    TN_FINISH_CLIP,         /* into [a, b] */
    TN_FINISH_LEAKY_RELU,   /* x < 0 ? a x : x */
    TN_FINISH_HARD_SIGMOID, /* min(max(a x + b, 0), 1) */
    TN_FINISH_HARD_SWISH,   /* x min(max(a x + b, 0), 1) */
    TN_FINISH_ACT,          /* `act` */
    TN_FINISHES
};

/* f, then, with `line`, scale f + shift; each product and sum is rounded. NaN goes through. */
struct tn_after {
    enum tn_finish kind;
    enum tn_act act;
    float a, b;
    bool line;
    float scale, shift;
};

/* ---- 3 x 3 windows ---- */

/*
 * Convolution of one image with 3 x 3 windows of stride 1, y = after(x * w + bias + residual), by Winograd's minimal
 * filtering F(4 x 4, 3 x 3) where that pays (Lavin and Gray 2016, arXiv 1509.09308): tiles of 4 x 4 results, row by row,
 * ceil(out_height / 4) * ceil(out_width / 4) of them. A call makes tiles first .. first + count - 1. A result depends on
 * its own tile's inputs alone.
 */
enum { TN_CONV3_BLOCK = 32 };

struct tn_conv3_args {
    const void *x; /* [channels][height][width] */
    enum tn_float_type type; /* of x, y and residual */
    size_t channels, height, width;
    ptrdiff_t top, left; /* result (0, 0) meets x(-top, -left) first */
    const void *packed;  /* from conv3_pack */
    const float *bias;   /* [maps], or NULL */
    const void *residual; /* as y, or NULL; not y */
    const struct tn_after *after; /* or NULL: nothing */
    void *y; /* [maps][out_height][out_width] */
    size_t maps, out_height, out_width;
    size_t first, count; /* first: a multiple of TN_CONV3_BLOCK */
    void *scratch; /* of the calling thread, conv3_scratch_size, 64-byte aligned */
};

/* ---- 1 x 1 windows ---- */

/*
 * y[map][p] = after(sum over k of w[map][k] x[k][p] + bias[map] + residual[map][p]): a product whose right side are lines of
 * an image, or of columns that somebody has laid out. Sums are those of linear: chunks of 192 steps, each from zero by
 * fused multiply-adds in order, added in order.
 */
struct tn_conv1_args {
    const void *x; /* [k] lines, x_stride elements apart */
    enum tn_float_type x_type;
    size_t x_stride, k;
    const void *packed; /* [maps][k], from conv1_pack */
    const float *bias;  /* [maps], or NULL */
    const struct tn_after *after; /* or NULL: nothing */
    enum tn_float_type type;      /* of y and residual */
    const void *residual; /* [maps] lines, or NULL; not y */
    size_t residual_stride;
    void *y; /* [maps] lines */
    size_t y_stride;
    size_t maps, count; /* elements of a line */
    unsigned part, parts; /* of the maps, this share */
    void *scratch; /* conv1_scratch_size, 64-byte aligned */
};

/* ---- Planes ---- */

/*
 * One plane of results from few planes of inputs by small windows: depthwise convolutions, and those with one map.
 *
 *     y[row][column] = after(sum over channels and taps of w[channel][tap] x[channel][...] + bias + residual)
 *
 * Outside the input stand zeros. Taps of a channel are a chain of fused multiply-adds from zero, in order; channels are added
 * in order. Strides are 1 or 2 across, from 1 down; windows are not dilated, and at most TN_PLANES_WINDOW wide and high.
 */
enum { TN_PLANES_WINDOW = 16 };

struct tn_planes_args {
    const void *x; /* [channels][height][width] */
    enum tn_float_type type; /* of x, y and residual */
    size_t channels, height, width;
    ptrdiff_t top, left; /* result (0, 0) meets x(-top, -left) first */
    size_t kernel_height, kernel_width, stride_down, stride_across;
    const float *w; /* [channels][kernel_height][kernel_width] */
    float bias;
    const struct tn_after *after; /* or NULL */
    const void *residual; /* of the first row, as y, or NULL; not y */
    void *y; /* of the first row */
    size_t out_width;
    size_t first, count; /* rows of results */
    void *scratch; /* planes_scratch_size, 64-byte aligned */
};

/* ---- Channels last ---- */

/*
 * Products of rows, which are the pixels of an image whose channels are neighbours:
 *
 *     y[row][map] = after(sum over k of x[row][k] w[map][k] + bias[map] + residual[row][map])
 *
 * Sums are those of linear: chunks of 192 steps, each from zero by fused multiply-adds in order, added in order. A row may
 * stand in several places, which are the rows of a window: element k is then x[row * x_stride + k / part * part_stride +
 * k % part] with part = k / segments.
 */
struct tn_pixels_args {
    const float *x;
    size_t x_stride, rows, k; /* k >= 1 */
    size_t segments;          /* 0 counts as 1; divides k */
    size_t segment_stride;
    const void *packed;       /* [maps][k], from pixels_pack */
    const float *bias;        /* [maps], or NULL */
    const struct tn_after *after; /* or NULL: nothing */
    const float *residual;    /* [rows][residual_maps], or NULL; not y. Maps behind residual_maps get none */
    size_t residual_stride, residual_maps;
    float *y;
    size_t y_stride, maps;
    unsigned part, parts; /* of the maps, this share */
};

/*
 * Depthwise windows over such an image: results first .. first + count - 1, counted row by row.
 *
 *     y[row][column][c] = after(sum over taps of w[tap][c] x[...][c] + bias[c] + residual[...][c])
 *
 * Taps in order are a chain of fused multiply-adds from zero. Those outside the image are left out; with `zeros` a zero
 * stands there, which matters to weights that are not finite.
 */
struct tn_depth_args {
    const float *x; /* [height][width][channels] */
    size_t height, width, channels;
    ptrdiff_t top, left; /* result (0, 0) meets x(-top, -left) first */
    size_t kernel_height, kernel_width, stride_down, stride_across, dilation_down, dilation_across;
    const float *w;    /* [taps][channels] */
    const float *bias; /* [channels], or NULL */
    const struct tn_after *after; /* or NULL */
    const float *residual;        /* of the first result, as y, or NULL; not y */
    float *y;                     /* of the first result, [count][channels] */
    size_t out_width;
    size_t first, count;
    bool zeros;
};

/* ---- Filtered windows ---- */

/*
 * Windows of stride 1 over such an image by Winograd's minimal filtering (Lavin and Gray 2016, arXiv 1509.09308): tiles of
 * 4 x 4 results under 3 x 3 taps, of four neighbours under 1 x 3 and 1 x 5, row by row. A call makes tiles first .. first +
 * count - 1, all of them from one scratch. A result depends on its own tile's inputs alone; one that is not finite is summed
 * from the definition, with zeros outside, so weights have to be finite.
 *
 *     y[row][column][map] = after(sum over taps and channels of w[map][channel][tap] x[...][channel] + bias + residual)
 *
 * Pixels of x and y stand where they say: a line may lie down an image.
 */
enum tn_filter { TN_FILTER_3X3, TN_FILTER_1X3, TN_FILTER_1X5, TN_FILTERS };

struct tn_filter_args {
    enum tn_filter form;
    const float *x; /* [channels] by pixel */
    size_t channels, height, width;
    size_t x_down, x_across; /* pixels from one to the next */
    ptrdiff_t top, left;     /* result (0, 0) meets x(-top, -left) first */
    const void *packed;      /* from filter_pack */
    const float *bias;       /* [maps], or NULL */
    const struct tn_after *after; /* or NULL: nothing */
    const float *residual;   /* [residual_maps] by pixel, as y, or NULL; not y. Maps behind residual_maps get none */
    size_t residual_maps;
    float *y; /* [maps] by pixel */
    size_t maps, out_height, out_width;
    size_t y_down, y_across;
    size_t first, count;
    void *scratch; /* of the calling thread, filter_scratch_size, 64-byte aligned */
};

/* ---- The table ---- */

struct tn_kernels {
    const char *name;      /* "ref", "avx2", "avx512" */
    const char *isa_class; /* for fingerprints: "portable", "x86-64-avx2", "x86-64-avx512" */
    bool bf16;             /* whether TN_COMPUTE_BF16 may be asked for */

    /* Bytes of a packed layer (multiple of 64), and of the scratch of one rank (multiple of 64, may
     * be 0). False when the size does not fit size_t. */
    bool (*linear_pack_size)(size_t n, size_t k, enum tn_compute compute, size_t *bytes);
    bool (*linear_scratch_size)(size_t n, size_t k, enum tn_compute compute, size_t *bytes);
    /* Packs the stacked parts (their rows sum to layer->n) into `packed`; ranks write disjoint
     * regions and together every byte. `layer->packed` is not read. */
    void (*linear_pack)(const struct tn_linear *layer, const struct tn_linear_part *parts,
                        size_t part_count, void *packed, unsigned rank, unsigned size);
    void (*linear)(const struct tn_linear_args *a, unsigned rank, unsigned size);
    void (*linear_pool)(const struct tn_linear_pool_args *a, unsigned rank, unsigned size);

    /* `relative`: with disentangled terms. */
    bool (*attention_scratch_size)(size_t max_length, size_t head_dim, bool relative, size_t *bytes);
    void (*attention)(const struct tn_attention_args *a, unsigned rank, unsigned size);

    void (*rotary)(const struct tn_rotary_args *a, unsigned rank, unsigned size);
    void (*gate)(const struct tn_gate_args *a, unsigned rank, unsigned size);
    void (*layer_norm)(const struct tn_layer_norm_args *a, unsigned rank, unsigned size);
    void (*embed)(const struct tn_embed_args *a, unsigned rank, unsigned size);
    void (*pooling)(const struct tn_pooling_args *a, unsigned rank, unsigned size);

    /* y = x / max(|x|_2, 1e-12) by row; a zero row stays zero. y may be x with the same stride. */
    void (*normalize)(const float *x, size_t x_stride, float *y, size_t y_stride, size_t rows,
                      size_t width, unsigned rank, unsigned size);
    void (*trees)(const struct tn_trees_args *a);
    void (*softmax)(const struct tn_softmax_args *a, unsigned rank, unsigned size);
    void (*dots)(const struct tn_dots_args *a, unsigned rank, unsigned size);

    /* In place. */
    void (*activate)(enum tn_act act, float *x, size_t stride, size_t rows, size_t width,
                     unsigned rank, unsigned size);
    /* finite[row] = 1 when no element of the row is NaN or infinite, else 0. */
    void (*rows_finite)(const float *x, size_t stride, size_t rows, size_t width, uint8_t *finite,
                        unsigned rank, unsigned size);

    /* False when the size does not fit. `turn`: b is unsigned and its highest bits are turned over. Element (k, n) of B is
     * b[k * k_stride + n * n_stride]. Ranks write disjoint columns. */
    bool (*bytes_pack_size)(size_t n, size_t k, size_t *bytes);
    void (*bytes_pack)(const int8_t *b, size_t k_stride, size_t n_stride, size_t n, size_t k, bool turn, void *packed,
                       unsigned rank, unsigned size);
    void (*bytes)(const struct tn_bytes_args *a, unsigned rank, unsigned size);
    /* Weights [maps][quads * 4][taps]. */
    bool (*bytes_window_pack_size)(size_t maps, size_t quads, size_t taps, size_t *bytes);
    void (*bytes_window_pack)(const int8_t *w, size_t maps, size_t quads, size_t taps, void *packed);
    void (*bytes_window)(const struct tn_bytes_window_args *a);

    /* False when the size does not fit. Ranks write disjoint columns. */
    bool (*nibbles_pack_size)(const struct tn_nibbles *layer, size_t *bytes);
    void (*nibbles_pack)(const struct tn_nibbles *layer, const struct tn_nibbles_source *from, void *packed, unsigned rank, unsigned size);
    /* Column i as the numbers that it stands for, [k]. */
    void (*nibbles_column)(const struct tn_nibbles *layer, size_t i, float *to);
    /* Codes of a row, to even where it is halfway; blocks whose largest magnitude is below 2^-100 are zeros. codes has room
     * for whole blocks. False: the row holds NaN or an infinity, and what was written means nothing. */
    bool (*code_row)(const float *x, size_t k, int8_t *codes, struct tn_row_block *blocks);
    /* Ranks share columns. */
    void (*nibbles)(const struct tn_nibbles_args *a, unsigned rank, unsigned size);

    /* Widens [*low, *high] until the numbers of x lie in it; NaN lies in everything. */
    void (*range)(const float *x, size_t count, float *low, float *high);
    void (*to_codes)(const struct tn_codes_args *a);
    void (*from_sums)(const struct tn_sums_args *a);

    /* Weights [maps][channels][9]. False when the size does not fit. */
    bool (*conv3_pack_size)(size_t maps, size_t channels, size_t *bytes);
    bool (*conv3_scratch_size)(size_t maps, size_t channels, size_t *bytes);
    void (*conv3_pack)(const void *w, enum tn_float_type type, size_t maps, size_t channels, void *packed, unsigned rank, unsigned size);
    void (*conv3)(const struct tn_conv3_args *a);

    /* Weights [maps][k]. False when the size does not fit. Ranks write disjoint maps. */
    bool (*conv1_pack_size)(size_t maps, size_t k, size_t *bytes);
    bool (*conv1_scratch_size)(size_t k, size_t *bytes);
    void (*conv1_pack)(const void *w, enum tn_float_type type, size_t maps, size_t k, void *packed, unsigned rank, unsigned size);
    void (*conv1)(const struct tn_conv1_args *a);

    /* Reads of `a` the window, strides and out_width. */
    bool (*planes_scratch_size)(const struct tn_planes_args *a, size_t *bytes);
    void (*planes)(const struct tn_planes_args *a);

    /* Weights [maps][k]. False when the size does not fit. Ranks write disjoint maps. */
    bool (*pixels_pack_size)(size_t maps, size_t k, size_t *bytes);
    void (*pixels_pack)(const void *w, enum tn_float_type type, size_t maps, size_t k, void *packed, unsigned rank, unsigned size);
    void (*pixels)(const struct tn_pixels_args *a);
    void (*depth)(const struct tn_depth_args *a);

    /* Weights [maps][channels][taps]. False when the size does not fit. Ranks write disjoint maps. `count`: tiles of a call. */
    bool (*filter_pack_size)(enum tn_filter form, size_t maps, size_t channels, size_t *bytes);
    bool (*filter_scratch_size)(enum tn_filter form, size_t maps, size_t channels, size_t count, size_t *bytes);
    void (*filter_pack)(enum tn_filter form, const float *w, size_t maps, size_t channels, void *packed, unsigned rank, unsigned size);
    void (*filter)(const struct tn_filter_args *a);

    /* Widening is exact. Narrowing rounds to nearest even, overflows to infinity, keeps NaN a NaN.
     * The stored side may have any address. */
    void (*to_f32)(enum tn_float_type type, const void *src, float *dst, size_t count);
    void (*from_f32)(enum tn_float_type type, const float *src, void *dst, size_t count);
};

/*
 * The table for `name`, or the fastest one when `name` is NULL. NULL when the name is unknown, was
 * not compiled in or the CPU lacks it. The result is constant and lives for ever. cpu may be NULL:
 * only "ref" is then available.
 */
const struct tn_kernels *tn_kernels_select(const struct tn_cpu *cpu, const char *name);

/* Names that tn_kernels_select may know, slowest first; NULL past the end. */
const char *tn_kernels_name(size_t i);

/* The share of `count` items that falls to `rank`: [*begin, *end). Shares differ by at most one. */
static inline void tn_share(size_t count, unsigned rank, unsigned size, size_t *begin, size_t *end)
{
    size_t each = count / size, rest = count % size;
    *begin = each * rank + (rank < rest ? rank : rest);
    *end = *begin + each + (rank < rest ? 1 : 0);
}

#endif
