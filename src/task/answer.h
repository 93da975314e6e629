/*
 * Shared by the files of question answering: contract, spans of a window, the pool of answers, recipe.
 *
 * The rules are those of QuestionAnsweringPipeline in transformers 4.57.6, the last release that has it, with a fast
 * tokenizer. Where it differs from them, answer.c says so.
 */
#ifndef TN_TASK_ANSWER_H
#define TN_TASK_ANSWER_H

#include "task/scores.h"
#include "task/text_choices.h"

extern const struct tn_recipe tn_recipe_answer;

/*
 * WINDOW_TOKENS, ANSWER_TOKENS, OVERLAP: the pipeline's max_seq_len, max_answer_len and doc_stride where nothing is asked.
 */
enum { TN_ANSWER_WINDOW_TOKENS = 384, TN_ANSWER_TOKENS = 15, TN_ANSWER_OVERLAP = 128 };

/* What a request comes to. */
struct tn_answer_rule {
    size_t top_k;
    size_t most_tokens; /* of an answer */
    size_t max_tokens;  /* of a window */
    size_t stride;
    bool no_answer, align_words;
};

struct tn_answer_rule tn_answer_rule_of(const tn_answer_request *r, uint64_t max_tokens, bool no_answer);
enum tn_status tn_answer_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                 struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err);

/* ---- answer_spans.c: the numbers of one window to spans ---------------------------------------------------------------- */

/* One token of the context: its bytes, and the piece of the pre-tokenized text that it is of. */
struct tn_answer_token {
    uint32_t begin, end, word;
};

struct tn_answer_window {
    const float (*logits)[2];             /* [tokens]: that an answer begins, that it ends here */
    size_t first, count;                  /* the context's tokens in the sequence */
    const struct tn_answer_token *tokens; /* [count] */
    bool has_null;                        /* the sequence begins with the token that stands for "no answer" */
};

/* Of tokens[first .. last]. */
struct tn_answer_span {
    float score;
    uint32_t first, last;
};

/* No window has more spans. */
size_t tn_answer_most_spans(const struct tn_answer_rule *rule);
/* Candidates that a window gives: more than are wanted, because aligned to words some become the same. */
size_t tn_answer_candidates(const struct tn_answer_rule *rule);
/*
 * The best spans, best first, equal scores in the order of the text; out has room for tn_answer_candidates. `work`: [2 *
 * (count + 1)]. *null: the score of "no answer", 0 where the window has no token for it. Returns how many.
 */
size_t tn_answer_spans(const struct tn_answer_rule *rule, const struct tn_answer_window *w, float *work,
                       struct tn_answer_span *out, float *null);
/* Bytes of the context that a span stands for: its tokens, or the words that they are of. */
void tn_answer_bytes(const struct tn_answer_rule *rule, const struct tn_answer_window *w, const struct tn_answer_span *span,
                     uint32_t *begin, uint32_t *end);

/* ---- answer_pool.c: the answers of all windows of a context ------------------------------------------------------------- */

struct tn_answer_entry {
    double score;
    uint32_t begin, end;
    uint32_t order; /* in which it came; UINT32_MAX: "no answer" */
    uint32_t hash;
};

/* Answers of one text, each text once whatever its case: the scores of equal ones are added up. */
struct tn_answer_pool {
    struct tn_alloc *alloc;
    struct tn_answer_entry *entries;
    size_t count, cap;
    uint32_t *slots; /* open addressing: index + 1, 0 free */
    size_t slot_count;
};

void tn_answer_pool_init(struct tn_answer_pool *pool, struct tn_alloc *alloc);
void tn_answer_pool_release(struct tn_answer_pool *pool);
void tn_answer_pool_clear(struct tn_answer_pool *pool);
/* False without memory. The text lies in `context`, which is the same until the pool is cleared. */
bool tn_answer_pool_add(struct tn_answer_pool *pool, struct tn_str context, uint32_t begin, uint32_t end, double score);
/* "No answer" behind all others. */
bool tn_answer_pool_add_none(struct tn_answer_pool *pool, double score);
/* Best first, equal scores as they came; the pool can only be cleared afterwards. */
void tn_answer_pool_sort(struct tn_answer_pool *pool);

/* Whether two texts are the same in lower case, as Unicode's full mapping and Python's str.lower have it. */
bool tn_answer_same_text(struct tn_str a, struct tn_str b);

#endif
