/*
 * The items of a request that are texts, or pairs of texts: kept, tokenized when their turn comes, put into batches, and
 * settled. What the tasks over texts share; what a sequence's result means is the task's own (struct tn_text_hooks).
 * Texts are untrusted, their content is never quoted.
 *
 * The surprising decision: texts are never kept as tokens, so that a request of a million texts holds its texts, its
 * results and 24 bytes per item. An atomic request therefore tokenizes twice: once to find what would fail, once to
 * compute.
 */
#ifndef TN_TASK_TEXT_ITEMS_H
#define TN_TASK_TEXT_ITEMS_H

#include "task/task.h"

/* ---- per session ---------------------------------------------------------------------------------------------------- */

struct tn_text_model {
    struct tn_alloc *alloc;
    const struct tn_context *ctx;
    const struct tn_text_tokenizer *tokenizer;
    struct tn_text_options encode; /* the package's length and side */
    bool type_ids;                 /* the network is given them */
    uint64_t max_tokens;
    bool reduced; /* of struct tn_recipe_env */
};

struct tn_text_model tn_text_model_of(const struct tn_recipe_env *env);
/* One letter, or a pair of them, for the probe of a load; brings the scratch to its usual size. */
enum tn_status tn_text_probe(const struct tn_text_model *m, bool pair, struct tn_batch *batch,
                             struct tn_recipe_scratch *scratch, struct tn_error *err);

/* ---- per request ------------------------------------------------------------------------------------------------------ */

/* The texts as the caller holds them. */
struct tn_text_source {
    const tn_string *texts;
    size_t count;
    const tn_string *pairs; /* [count] what follows each text; .data NULL: nothing. NULL: nothing anywhere */
    tn_string lead;         /* stands before each text, which is then the second of a pair; .data NULL: none */
    struct tn_str prompt;   /* in front of whatever comes first */
    const char *noun;       /* "text", "document": what findings call an item */
    const char *option;     /* the request's member that holds them */
    bool windows;           /* they will be tokenized with words and windows, which takes more memory */
};

enum tn_text_state { TN_TEXT_PENDING, TN_TEXT_ASKED, TN_TEXT_FINAL };

struct tn_text_item {
    uint8_t state;
    bool truncated;
    uint16_t code;   /* enum tn_status of a final item */
    uint32_t tokens;
    uint64_t detail; /* tokens before truncation; for invalid text the byte at fault */
};

struct tn_text_hooks;

struct tn_text_items {
    const struct tn_text_model *model; /* NULL once finished */
    const struct tn_text_hooks *hooks;
    struct tn_recipe_run *run; /* what the hooks get */
    struct tn_alloc *alloc;
    const char *noun;
    struct tn_text_options encode;
    uint64_t max_tokens;
    bool reduced;
    bool atomic;
    bool whole;      /* nothing is delivered before everything is known */
    bool truncate;   /* else an item beyond the limit fails */
    bool has_lead;
    bool swapped;    /* the second text of a pair stands first */
    bool windows;    /* what is too long becomes several sequences of one item, and nothing is cut */
    unsigned batch;  /* most sequences per step; 0: by tokens */
    uint32_t fill_to, filler; /* shorter sequences get `filler` behind their tokens until they have so many; 0: none */
    size_t count, begun, ready, checked;
    size_t prompt_bytes, lead_bytes; /* the lead, its prompt included, begins `text` */
    uint64_t *end;   /* [count] end of each item's bytes in `text` */
    uint64_t *split; /* [count] where its second text begins, UINT64_MAX: it has none; NULL: no item has one */
    char *text;
    struct tn_text_item *items;
    struct tn_run_counts counts;
    size_t window; /* of item `begun`: the next one to ask for */
    size_t place;  /* of the sequence that `take` is given, among the run's own of this step */
    struct tn_recipe_scratch own; /* tokens of a long text, whose windows take several steps */
};

/* What a task makes of its sequences. */
struct tn_text_hooks {
    /* The rows of a sequence that its graph pools, or the code with which the item fails. NULL: all of them. */
    enum tn_status (*span)(const struct tn_recipe_run *run, size_t item, const struct tn_text_encoding *e, struct tn_span *span);
    /* Asks about tokens of the sequence that was just added (tn_batch_pick); false: no room. NULL: about the whole. */
    bool (*pick)(const struct tn_recipe_run *run, const struct tn_text_encoding *e, struct tn_batch *batch);
    /* Takes a finished sequence's result: [rows, width]. Returns the item's code; the batch's status was looked at. */
    enum tn_status (*take)(struct tn_recipe_run *run, size_t item, float *result, uint32_t rows, size_t width,
                           struct tn_step *step);
    /* With windows: one is in the batch, its tokens are in e. May fail for lack of memory alone. */
    enum tn_status (*asked)(struct tn_recipe_run *run, size_t item, const struct tn_text_encoding *e);
    /* With windows: all of an item's were taken without failure. Returns the item's code. */
    enum tn_status (*complete)(struct tn_recipe_run *run, size_t item);
    /* The message of a failure that the shared words do not fit; NULL, or false: the shared ones do. */
    bool (*explain)(const struct tn_recipe_run *run, size_t item, enum tn_status code, struct tn_error *err);
};

/* Checks pointers, counts and limits. *bytes: what the items hold, and what the longest needs while it is tokenized. */
enum tn_status tn_text_items_measure(const struct tn_text_model *m, const struct tn_text_source *source, uint64_t *bytes,
                                     struct tn_error *err);
/*
 * Copies the texts. The source was measured. The caller sets hooks, run, atomic, whole, truncate, batch, fill_to and encode
 * afterwards.
 */
enum tn_status tn_text_items_start(struct tn_text_items *t, const struct tn_text_model *m,
                                   const struct tn_text_source *source, struct tn_alloc *alloc, struct tn_error *err);
/* An item that fails before its turn; `detail` is for `explain`. */
void tn_text_items_fail(struct tn_text_items *t, size_t i, enum tn_status code, uint64_t detail);
/* Texts go, items stay. */
void tn_text_items_finish(struct tn_text_items *t);
void tn_text_items_release(struct tn_text_items *t);

/* One call of a recipe's advance. */
enum tn_status tn_text_items_advance(struct tn_text_items *t, struct tn_step *step, struct tn_error *err);
/* Tokens of item i in the scratch, with offsets when `offsets`; for hooks that look at a sequence's tokens again. */
enum tn_status tn_text_items_encode(const struct tn_text_items *t, size_t i, bool offsets, struct tn_recipe_scratch *scratch,
                                    struct tn_error *err);
/* The texts of an item; pair->s NULL: it has one. Not after finish. */
void tn_text_items_text(const struct tn_text_items *t, size_t i, struct tn_str *text, struct tn_str *pair);

/* Index, status, token counts; fills err and returns false when the item has failed. */
bool tn_text_items_event(const struct tn_text_items *t, size_t i, tn_event *out, struct tn_error *err);

/* What to do about numbers that are none. */
const char *tn_text_remedy_of_numbers(bool reduced);

/* "the request passes the limit" and "the option has no such value", for requests as a whole. */
enum tn_status tn_request_refuse_limit(struct tn_error *err, const char *option, const char *name, uint64_t found, uint64_t limit);
enum tn_status tn_request_refuse(struct tn_error *err, const char *option, const char *message, const char *expected,
                                 unsigned long long found);

/* ---- prompts ---------------------------------------------------------------------------------------------------------- */

/* By the request's role: NULL is the package's default, "" is none. NULL in *out: none. Refuses an unknown one. */
enum tn_status tn_request_prompt(const struct tn_description *d, const char *role, const struct tn_prompt **out,
                                 struct tn_error *err);

#endif
