/* Shared by the files of mask filling: contract, recipe. */
#ifndef TN_TASK_FILL_H
#define TN_TASK_FILL_H

#include "task/scores.h"
#include "task/text_choices.h"

extern const struct tn_recipe tn_recipe_fill;

/* Predictions for each mask where a request says nothing, as in the reference's pipeline. */
enum { TN_FILL_TOP_K = 5 };

enum tn_status tn_fill_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                               struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err);

#endif
