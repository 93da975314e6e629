/*
 * What requests over texts may choose beside their texts: the prompt, what is cut and from where, how items go together.
 * One set of rules and words for all tasks that have these members.
 */
#ifndef TN_TASK_TEXT_CHOICES_H
#define TN_TASK_TEXT_CHOICES_H

#include "task/contract.h"
#include "task/options.h"
#include "task/text_items.h"

struct tn_text_choices {
    const char *role;
    tn_truncation truncation;
    tn_side side;
    bool atomic;
    unsigned batch;
    uint32_t timeout_ms;
};

/* Of a request that has members of these names; `role` is its own, or "" of a task that puts nothing in front. */
#define TN_TEXT_CHOICES(r, role) \
    ((struct tn_text_choices){role, (r)->truncation, (r)->side, (r)->atomic, (r)->batch, (r)->timeout_ms})

/* Refuses values that do not exist and unknown roles; *prompt is what goes in front, NULL: nothing. */
enum tn_status tn_text_choices_check(const struct tn_description *d, const struct tn_text_choices *c,
                                     const struct tn_prompt **prompt, struct tn_error *err);
/* Into items that were started. */
void tn_text_choices_apply(const struct tn_text_choices *c, struct tn_text_items *t);

/* The options role, truncation, side, max_tokens, atomic, batch and timeout_ms, where a request says nothing. */
void tn_text_choices_defaults(struct tn_option_maker *m, const struct tn_task_route *route);
/* The same without role, for a task that puts nothing in front. */
void tn_text_cuts_defaults(struct tn_option_maker *m, const struct tn_task_route *route);
/* ... and what this request says. */
void tn_text_choices_state(const struct tn_text_choices *c, struct tn_stated *s);

/* "longest_first" ... and "right", "left"; NULL for TN_TRUNCATE_AUTO, TN_SIDE_AUTO and what does not exist. */
const char *tn_truncation_name(tn_truncation truncation);
const char *tn_side_name(tn_side side);

/* Member of a plan's recipe object: each module of the chain and where it runs. */
void tn_text_modules_write(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route);
/* Members of a plan's recipe object: prompts, default_prompt, max_tokens, truncation_side. */
void tn_text_route_write(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route);

#endif
