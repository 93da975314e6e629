/* Shared by the files of the dense embedding task: assessment and recipe. */
#ifndef TN_TASK_EMBEDDING_H
#define TN_TASK_EMBEDDING_H

#include "task/scores.h"
#include "task/task.h"

extern const struct tn_recipe tn_recipe_embedding_dense;

/* The Pooling of the chain, or NULL. */
const struct tn_module *tn_embedding_pooling(const struct tn_description *d);
/* Whether the chain ends with a Normalize of the pooled vector. */
bool tn_embedding_normalizes(const struct tn_description *d);

/*
 * What happens to a vector after the provider, fixed per request. In this order: `normalize_first` over the full width,
 * the first `dimensions` components, `normalize_last` over those.
 */
struct tn_embedding_finish {
    bool normalize_first, normalize_last;
    bool normalized; /* of the result */
    uint32_t dimensions;
};

struct tn_embedding_finish tn_embedding_finish_of(bool package_normalizes, uint64_t package_dimensions, uint64_t width,
                                                  tn_tristate normalize, unsigned dimensions);
/* x / max(|x|, 1e-12): a zero vector stays zero. Sums in double, in order. */
void tn_embedding_normalize(float *x, size_t n);

/* Defaults of a request, by package and contract. */
enum tn_status tn_embedding_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                    struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err);

extern const struct tn_doctype tn_embed_request_type;
enum tn_status tn_embedding_read(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err);

#endif
