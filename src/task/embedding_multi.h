/* Shared by the files of embeddings of several vectors per text: contract and assessment, options, recipe. */
#ifndef TN_TASK_EMBEDDING_MULTI_H
#define TN_TASK_EMBEDDING_MULTI_H

#include "task/scores.h"
#include "task/text_choices.h"

extern const struct tn_recipe tn_recipe_embedding_multi;

/* What texts of a role are cut to, special tokens included, and to what they are filled up; 0: not. */
struct tn_multi_lengths {
    uint64_t most;
    uint32_t fill;
};

struct tn_multi_lengths tn_multi_lengths_of(const struct tn_description *d, enum tn_text_role role);
/* By name; false when it is neither. */
bool tn_multi_role_of(const char *name, enum tn_text_role *out);
/* Whether each vector has length 1: a Normalize ends the chain. */
bool tn_multi_normalizes(const struct tn_description *d);

enum tn_status tn_multi_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err);

#endif
