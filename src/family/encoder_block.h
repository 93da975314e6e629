/*
 * The post-norm encoder layer of Devlin et al. 2018 (BERT), shared by families whose published code computes the same:
 *
 *     a = softmax(q k^T / sqrt(head_dim) + bias) v
 *     h = layer_norm(x + a W_o + b_o)
 *     y = layer_norm(h + act(h W_1 + b_1) W_2 + b_2)
 */
#ifndef TN_FAMILY_ENCODER_BLOCK_H
#define TN_FAMILY_ENCODER_BLOCK_H

#include "family/family.h"

/* Disentangled attention (DeBERTa). The fixed value has 2 span rows of hidden_size. */
struct tn_encoder_relative {
    uint32_t positions; /* value: the embeddings of distances */
    bool of_queries, of_keys;
    bool shared; /* projected with the layer's own query and key matrices */
    uint64_t span, buckets, max_distance;
};

struct tn_encoder_shape {
    uint64_t layers, heads, hidden_size;
    enum tn_act act;
    double eps;
    uint32_t relative_bias; /* TN_NO_WEIGHT: none */
    uint64_t bias_buckets, bias_max_distance;
    const struct tn_encoder_relative *relative; /* NULL: none */
    uint64_t score_parts; /* the scores' divisor is sqrt(head_dim * score_parts); 0 counts as 1 */
};

/* The roles that a family's tensor list must have for these blocks; dims are normalised configuration names. */
uint32_t tn_encoder_blocks(struct tn_graph *g, const struct tn_binding *b, const struct tn_encoder_shape *shape,
                           uint32_t x);

#endif
