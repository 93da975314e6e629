/* Shared by the files of tagging: contract, spans, recipe. */
#ifndef TN_TASK_TAG_H
#define TN_TASK_TAG_H

#include "task/scores.h"
#include "task/text_choices.h"

extern const struct tn_recipe tn_recipe_tag;

enum tn_status tn_tag_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                              struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err);
/* "none", "simple" ...; NULL for what does not exist. */
const char *tn_aggregation_name(tn_aggregation aggregation);

/* ---- tag_spans.c: tokens to spans -------------------------------------------------------------------------------------- */

/* One token of the text: no special token. */
struct tn_tag_token {
    size_t begin, end, begin_char, end_char;
    size_t place;      /* in the sequence */
    bool subword;      /* belongs to the word before it */
    const float *probabilities; /* [labels] */
};

struct tn_tag_rule {
    const struct tn_head *head;
    tn_aggregation aggregation;
    bool keep_outside;
};

/* Spans in the order of the text; `out` has room for `count`, `mean` for a number per label. Returns how many. */
size_t tn_tag_spans(const struct tn_tag_rule *rule, const struct tn_tag_token *tokens, size_t count, float *mean, tn_tag *out);

#endif
