/* Shared by the files of sparse embeddings: contract and assessment, options, recipe. */
#ifndef TN_TASK_EMBEDDING_SPARSE_H
#define TN_TASK_EMBEDDING_SPARSE_H

#include "task/scores.h"
#include "task/text_choices.h"

extern const struct tn_recipe tn_recipe_embedding_sparse;

/* The pooling of a head over the vocabulary that ends the chain, or NULL. */
const struct tn_module *tn_sparse_pooling(const struct tn_description *d);

/*
 * The terms of a row that are not zero, or of them the `most` largest (0: all; equal values: the lower term). Fills
 * indices, ascending, and values; returns how many. Both have room for as many as there are, or for `most`.
 */
size_t tn_sparse_terms(const float *row, size_t width, size_t most, uint32_t *indices, float *values);
/* How many that will be. */
size_t tn_sparse_count(const float *row, size_t width, size_t most);

enum tn_status tn_sparse_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                 struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err);

#endif
