/* Shared by the files of text classification: contract and assessment, options, recipe. */
#ifndef TN_TASK_CLASSIFY_H
#define TN_TASK_CLASSIFY_H

#include "task/scores.h"
#include "task/text_choices.h"

extern const struct tn_recipe tn_recipe_classify_text;

/* Labels of a multi-label head below this are left out where a request says nothing. */
#define TN_CLASSIFY_THRESHOLD 0.5f

/* What a request gets that says nothing: only the best of one-of-several, whatever passes of any-of-several, else all. */
struct tn_classify_defaults {
    unsigned top_k; /* 0: all */
    bool threshold;
};

struct tn_classify_defaults tn_classify_defaults_of(const struct tn_head *head);

enum tn_status tn_classify_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                   struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err);

#endif
