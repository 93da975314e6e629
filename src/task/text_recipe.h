/*
 * What recipes over texts begin and end with: per session a tokenizer and options, per request texts and what it says over
 * those options. A recipe puts struct tn_text_session first into its model and struct tn_text_run first into its run; the
 * functions here are given either and see no more of it. Several of them are hooks of a recipe as they stand.
 */
#ifndef TN_TASK_TEXT_RECIPE_H
#define TN_TASK_TEXT_RECIPE_H

#include "task/text_choices.h"

/* ---- per session ---------------------------------------------------------------------------------------------------- */

struct tn_text_session {
    struct tn_text_model text;
    const struct tn_description *d;
    const struct tn_head *head; /* that the route runs, or NULL */
    size_t width;               /* of a row that the provider gives */
    struct tn_stated stated;
};

/* A model of `size` bytes, zeros behind its session. NULL in *out after a failure. */
enum tn_status tn_text_prepare(const struct tn_recipe_env *env, size_t size, tn_options_of *options, struct tn_recipe_model **out,
                               struct tn_error *err);
void tn_text_discard(struct tn_recipe_model *m);
/* Of tasks that read one text at a time, and of those that read two. */
enum tn_status tn_text_probe_one(const struct tn_recipe_model *m, struct tn_batch *batch, struct tn_recipe_scratch *scratch,
                                 struct tn_error *err);
enum tn_status tn_text_probe_pair(const struct tn_recipe_model *m, struct tn_batch *batch, struct tn_recipe_scratch *scratch,
                                  struct tn_error *err);

/* ---- per request ------------------------------------------------------------------------------------------------------ */

struct tn_text_run {
    struct tn_text_items texts;
    const struct tn_recipe_model *model; /* NULL once finished */
    struct tn_alloc *alloc;
    struct tn_stated stated;
};

/* What a request holds beside its texts. */
struct tn_text_needs {
    uint64_t each;  /* per text */
    uint64_t once;  /* the run and what it needs for one text; UINT64_MAX: more than can be counted */
    uint64_t words; /* bytes of the request's own texts among its options */
};

enum tn_status tn_text_measure(const struct tn_recipe_model *m, const struct tn_text_source *source, struct tn_text_needs needs,
                               uint64_t *bytes, struct tn_error *err);
/* A run of `size` bytes, zeros behind its base, with the request's texts and choices. NULL in *out after a failure. */
enum tn_status tn_text_begin(const struct tn_recipe_model *m, const struct tn_text_source *source, const struct tn_text_choices *choices,
                             const struct tn_text_hooks *hooks, size_t size, struct tn_alloc *alloc, struct tn_recipe_run **out,
                             struct tn_error *err);
/* Whether the run has all that it needs: else it is released, by the recipe's own function. */
enum tn_status tn_text_begun(struct tn_recipe_run *run, bool kept, void (*release)(struct tn_recipe_run *run),
                             struct tn_recipe_run **out, struct tn_error *err);
enum tn_status tn_text_advance(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err);
void tn_text_finish(struct tn_recipe_run *run);
/* After the recipe has released what is its own; NULL is fine. */
void tn_text_release(struct tn_recipe_run *run);
struct tn_run_counts tn_text_counts(const struct tn_recipe_run *run);
void tn_text_account(const struct tn_recipe *recipe, const struct tn_recipe_run *run, struct tn_json_writer *w);

/* ---- documents ----------------------------------------------------------------------------------------------------------- */

/* Members start, end and bytes: a part of a text, in code points and in UTF-8, both half-open. */
void tn_text_write_part(struct tn_json_writer *w, size_t begin_char, size_t end_char, size_t begin, size_t end);
/* Member tokens, tokens_total (where they differ) and truncated of an item's object. */
void tn_text_write_tokens(struct tn_json_writer *w, const struct tn_recipe_run *run, size_t item);

#endif
