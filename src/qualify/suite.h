/*
 * Shared by the files of the suite. What differs by task is in kinds.c. Checks return a status only for what must end the whole run
 * (no memory, cancelled); everything else they find is a row of the record.
 */
#ifndef TN_QUALIFY_SUITE_H
#define TN_QUALIFY_SUITE_H

#include "plan/plan.h"
#include "qualify/golden.h"
#include "qualify/qualify.h"

/* Raised whenever a check is added, removed or judged otherwise: evidence of another revision is not the same evidence. */
#define TN_SUITE_EMBEDDING "embedding.dense/2"

enum {
    TN_SUITE_TEXTS = 16,
    /* Tokens of the longest text that is embedded again and again; the length limit itself is tried once. */
    TN_SUITE_LONG = 1030
};

/* What one request answered. */
struct tn_answers {
    struct tn_alloc *alloc;
    size_t count, dimensions;
    float *vectors;     /* [count, dimensions], zeros where an item failed */
    tn_event *events;   /* [count]; .embedding is not valid */
    enum tn_status failure; /* of the request as a whole, or TN_OK */
    char message[320];  /* that failure's, or the first failed item's */
    size_t failed;      /* items */
    size_t disorder;    /* 1 + place of the first answer that does not hold in itself, 0: all hold */
};

struct tn_suite;
typedef enum tn_status tn_suite_check_fn(struct tn_suite *s);

/* What the suite does for one task. */
struct tn_suite_kind {
    const char *task, *revision;
    bool embeds; /* vectors: goldens and directions are looked at */
    /* Starts the task's request for the texts of a request for embeddings, with its batch and truncation. */
    enum tn_status (*start)(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err);
    /* Numbers of an item's answer that are compared: how many, and they. */
    size_t (*width)(const struct tn_suite *s, const tn_event *e);
    void (*row)(const tn_event *e, float *row, size_t width);
    bool (*holds)(const tn_event *e); /* NULL: a check of its own looks */
    tn_suite_check_fn *const *checks; /* NULL-terminated, in the order of the run */
    const char *stand_in;             /* for the empty text, where the task refuses it; NULL: it does not */
};

/* NULL: the task has no suite. */
const struct tn_suite_kind *tn_suite_kind_of(const struct tn_task *task);

struct tn_suite {
    const struct tn_qualify_env *env;
    const struct tn_suite_kind *kind;
    struct tn_alloc *alloc;
    struct tn_record *r;
    struct tn_plan *plan;        /* as asked */
    const struct tn_description *d;
    tn_tokenizer *tokenizer;
    struct tn_error *scratch;    /* for calls whose failure is a result */
    struct tn_error *err;        /* of the whole run */
    tn_session *session;
    tn_string texts[TN_SUITE_TEXTS];
    size_t count;
    char *long_text;
    size_t max_tokens;
    bool normalizes;
    struct tn_answers base;      /* all texts in one request, first session */
    struct tn_golden golden;
};

/* run.c: package, route and facts of the record, from the plan. */
enum tn_status tn_suite_describe(struct tn_suite *s);

/* ---- asking ------------------------------------------------------------------------------------------------------- */

void tn_answers_release(struct tn_answers *a);
/*
 * Runs one request to its end. Fails only without memory or when the run is cancelled (s->err is then filled); a request
 * or an item that is refused is in the answers.
 */
enum tn_status tn_suite_ask(struct tn_suite *s, tn_session *session, const tn_embed_request *request,
                            struct tn_answers *out);
/* A status that must end the run; copied from s->scratch to s->err. */
bool tn_suite_is_fatal(struct tn_suite *s, enum tn_status status);
enum tn_status tn_suite_no_memory(struct tn_suite *s);
/* A request for texts with everything else at its default. */
tn_embed_request tn_suite_request(const tn_string *texts, size_t count);
/* Ids of a text as the model would get them; free with tn_encoding_free. *out NULL: the scratch error says why. */
enum tn_status tn_suite_encode(struct tn_suite *s, tn_string text, size_t max_tokens, tn_encoding **out);
/* Makes a plan and loads it. NULL in *out: the scratch error says why. */
enum tn_status tn_suite_load(struct tn_suite *s, const tn_plan_options *options, tn_session **out);
/* The plan options of the run, with the struct filled. */
tn_plan_options tn_suite_options(const struct tn_suite *s);
struct tn_check *tn_suite_check(struct tn_suite *s, const char *id, enum tn_level level, const char *what,
                                const char *why);

/* ---- comparing ---------------------------------------------------------------------------------------------------- */

struct tn_difference {
    double max_abs, max_rel; /* relative to max(1, largest component of the second row) */
    double min_cosine;       /* over rows; two zero rows have 1 */
    size_t worst_row;        /* of max_rel */
    bool equal;              /* bit for bit */
    bool finite;
};

/* Rows `a` against reference rows `b`, both [rows, width]. */
struct tn_difference tn_compare_rows(const float *a, const float *b, size_t rows, size_t width);

/*
 * Both sides add float32 products in another order. Measured on the 64 packages of tests/golden/embed and on MiniLM: at
 * most 5.3e-7 between tenon and the reference, 4.3e-7 between the reference's own batches and single texts. On MiniLM an
 * epsilon of 1e-6 instead of 1e-12 shows as 3.8e-5 and the tanh form of GELU as 3.6e-4. 2e-6 lies between.
 */
#define TN_SUITE_F32_TOLERANCE 2e-6
#define TN_SUITE_F32_WHY                                                                                    \
    "2e-6 max(1, max|x|) per component: the order of float32 sums was seen to move them by 5e-7, a wrong epsilon by 4e-5"

/* ---- checks, in the order of the run ------------------------------------------------------------------------------ */

enum tn_status tn_check_mask(struct tn_suite *s);      /* and the weights' identity */
enum tn_status tn_check_vectors(struct tn_suite *s);   /* finite, norms, dimensions */
enum tn_status tn_check_company(struct tn_suite *s);   /* alone, order, batch */
enum tn_status tn_check_lengths(struct tn_suite *s);   /* truncation, refusal */
enum tn_status tn_check_prompts(struct tn_suite *s);
enum tn_status tn_check_cancel(struct tn_suite *s);
enum tn_status tn_check_sessions(struct tn_suite *s);  /* threads, loads, unload, memory estimate, precision */
enum tn_status tn_check_stages(struct tn_suite *s);    /* of the golden */
enum tn_status tn_check_golden(struct tn_suite *s);

#endif
