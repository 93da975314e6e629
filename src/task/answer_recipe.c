/*
 * The recipe of question answering: windows over question and context to rows of two logits per token, and those to parts
 * of the context. Windows of one context come one after the other, those of one step together: what is needed of their
 * tokens is kept from the step's filling to its results and no longer.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "task/answer.h"
#include "task/text_recipe.h"

#include <math.h>
#include <string.h>

/* STEP_BYTES: for what is kept of a step's windows. WORD_BYTES: an answer's text as admission counts it. */
enum { STEP_BYTES = 512 << 10, WORD_BYTES = 128, WIDTH = 2 };

/* In an item's detail: why a context was refused before its turn. */
#define EMPTY_CONTEXT UINT64_MAX
#define EMPTY_QUESTION (UINT64_MAX - 1)

struct tn_recipe_model {
    struct tn_text_session session;
    bool context_first;       /* the question stands behind the context */
    bool has_null;            /* sequences begin with the token that stands for "no answer" */
    uint32_t null_id;
};

struct found {
    tn_answer *answers;    /* [count], owned */
    char *text;            /* of all of them, owned */
    size_t count;
    size_t *windows;       /* [window_count] tokens of each, owned */
    float *logits;         /* [tokens of all windows, 2] when wanted, owned */
    size_t window_count, window_cap, logit_count, logit_cap;
};

/* A window that was asked for. */
struct flight {
    size_t tokens;         /* of the whole sequence */
    size_t first, count;   /* the context's part of it */
    size_t at;             /* of that part's first token in run->tokens */
    bool has_null;
};

struct tn_recipe_run {
    struct tn_text_run base;
    struct tn_answer_rule rule;
    bool want_logits;
    struct found *found; /* [count of texts] */
    struct flight *flights;
    struct tn_answer_token *tokens;
    size_t flight_count, flight_cap, token_count, token_cap;
    float *work;                  /* of tn_answer_spans */
    struct tn_answer_span *spans; /* [candidates] */
    size_t work_cap;
    struct tn_answer_pool pool;   /* of the context whose windows come in */
    double null;                  /* its least score of "no answer" */
};

/* ---- per session ------------------------------------------------------------------------------------------------------- */

static enum tn_status refuse_null(struct tn_error *err, enum tn_status code, enum tn_phase phase)
{
    struct tn_finding *f = tn_error_set(err, code, phase, "sequences of this package do not begin with a token that could say that there is no answer");
    tn_at_option(f, "no_answer");
    tn_expected(f, "a cls_token that the tokenizer puts in front of every pair");
    return code;
}

static enum tn_status learn(struct tn_recipe_model *m, const struct tn_recipe_env *env, struct tn_error *err)
{
    const struct tn_tokenizer_facts *t = &env->d->tokenizer;
    m->context_first = tn_str_is(t->padding_side, "left");
    m->has_null = t->cls_token.n && tn_text_token_id(env->tokenizer, t->cls_token, &m->null_id) &&
                  tn_text_tokenizer_facts(env->tokenizer).adds_bos_like_first;
    if (env->output_width != WIDTH) {
        tn_error_set(err, TN_RUNTIME_FAILURE, TN_PHASE_LOAD, "the head does not give two numbers per token");
        return TN_RUNTIME_FAILURE;
    }
    return m->session.head->no_answer && !m->has_null ? refuse_null(err, TN_UNSUPPORTED_PROCESSOR, TN_PHASE_LOAD) : TN_OK;
}

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    enum tn_status st = tn_text_prepare(env, sizeof(**out), tn_answer_options, out, err);
    if (!st) st = learn(*out, env, err);
    if (st) {
        tn_text_discard(*out);
        *out = NULL;
    }
    return st;
}

/* ---- the request ------------------------------------------------------------------------------------------------------- */

static struct tn_answer_rule rule_of(const struct tn_recipe_model *m, const tn_answer_request *r)
{
    return tn_answer_rule_of(r, m->session.text.max_tokens, m->session.head->no_answer);
}

static enum tn_status check_text(const char *option, tn_string text, size_t item, struct tn_error *err)
{
    if (text.data || text.length == 0) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "a text has a length but no data");
    tn_at_option(f, option);
    if (item != SIZE_MAX) tn_at_item(f, item);
    return TN_INVALID_REQUEST;
}

static bool has_own_question(const tn_answer_request *r, size_t i)
{
    return r->questions && r->questions[i].data;
}

/* What is wrong with the common question is wrong with the request. */
static enum tn_status check_question(const struct tn_recipe_model *m, const tn_answer_request *r, struct tn_error *err)
{
    struct tn_finding *f;
    tn_string q = r->question;
    bool needed = r->count == 0 && !r->questions;
    for (size_t i = 0; i < r->count; i++) needed = needed || !has_own_question(r, i);
    enum tn_status st = check_text("question", q, SIZE_MAX, err);
    if (st) return st;
    if (needed && q.length == 0) {
        f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "there is no question");
        tn_at_option(f, "question");
        tn_expected(f, "a text that is not empty, or one for each context");
        return TN_INVALID_REQUEST;
    }
    if (q.length > m->session.text.ctx->limits.text_bytes)
        return tn_request_refuse_limit(err, "question", "text_bytes", q.length, m->session.text.ctx->limits.text_bytes);
    size_t valid = q.length ? tn_utf8_valid_prefix(q.data, q.length) : 0;
    if (valid == q.length) return TN_OK;
    f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "the question is not valid UTF-8 at byte %zu", valid);
    tn_at_option(f, "question");
    tn_found(f, "an invalid byte at offset %zu", valid);
    tn_expected(f, "UTF-8");
    return TN_INVALID_REQUEST;
}

static enum tn_status check_numbers(const struct tn_recipe_model *m, const tn_answer_request *r, struct tn_error *err)
{
    struct tn_answer_rule rule = rule_of(m, r);
    if ((unsigned)r->no_answer > TN_NO) return tn_request_refuse(err, "no_answer", "no_answer has no such value", "auto, yes or no", (unsigned)r->no_answer);
    if ((unsigned)r->align_words > TN_NO)
        return tn_request_refuse(err, "align_words", "align_words has no such value", "auto, yes or no", (unsigned)r->align_words);
    if (rule.max_tokens > m->session.text.max_tokens) {
        struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "a window is longer than the model takes");
        tn_at_option(f, "max_tokens");
        tn_found(f, "%zu", rule.max_tokens);
        tn_expected(f, "at most %llu", (unsigned long long)m->session.text.max_tokens);
        return TN_INVALID_REQUEST;
    }
    if (rule.stride >= rule.max_tokens)
        return tn_request_refuse(err, "stride", "windows share more than they hold", "fewer tokens than max_tokens", rule.stride);
    if (r->no_answer == TN_YES && !m->has_null) return refuse_null(err, TN_UNSUPPORTED_OPTION, TN_PHASE_REQUEST);
    return TN_OK;
}

static enum tn_status check(const struct tn_recipe_model *m, const tn_answer_request *r, struct tn_error *err)
{
    if (r->count > 0 && !r->contexts) return tn_request_refuse(err, "contexts", "contexts is NULL", "an array of texts", 0);
    if (r->count > m->session.text.ctx->limits.items)
        return tn_request_refuse_limit(err, "contexts", "items", r->count, m->session.text.ctx->limits.items);
    enum tn_status st = TN_OK;
    for (size_t i = 0; !st && i < r->count; i++) {
        st = check_text("contexts", r->contexts[i], i, err);
        if (!st && r->questions) st = check_text("questions", r->questions[i], i, err);
    }
    if (!st) st = check_question(m, r, err);
    return st ? st : check_numbers(m, r, err);
}

/* The contexts behind one question. With questions of their own the pairs are put together first. */
static struct tn_text_source source_of(const tn_answer_request *r)
{
    return (struct tn_text_source){.texts = r->contexts, .count = r->count, .lead = {r->question.data ? r->question.data : "", r->question.length},
                                   .prompt = TN_STR(""), .noun = "context", .option = "contexts", .windows = true};
}

/* What one context's results take, from its bytes: tokens are never more, and windows share at most stride of them. */
static bool measure_item(const struct tn_answer_rule *rule, bool logits, uint64_t bytes, uint64_t *out)
{
    uint64_t step = (rule->max_tokens - rule->stride + 3) / 4, windows = 1 + bytes / step, one, text = bytes < WORD_BYTES ? bytes : WORD_BYTES;
    uint64_t per_window = sizeof(size_t) + (logits ? (uint64_t)rule->max_tokens * WIDTH * sizeof(float) : 0);
    uint64_t answers;
    if (!tn_mul64(windows, tn_answer_most_spans(rule), &answers) || !tn_add64(answers, 1, &answers)) return false;
    if (answers > rule->top_k) answers = rule->top_k;
    return tn_mul64(windows, per_window, &one) && tn_mul64(answers, sizeof(tn_answer) + text, &answers) &&
           tn_add64(one, answers, &one) && tn_add64(one, sizeof(struct found), out);
}

/* Beside its results: the answers of all windows of the longest context, and what a window takes while it is looked at. */
static bool measure_work(const struct tn_answer_rule *rule, uint64_t longest, uint64_t *out)
{
    uint64_t step = (rule->max_tokens - rule->stride + 3) / 4, windows = 1 + longest / step, candidates = tn_answer_candidates(rule), all;
    uint64_t fixed = sizeof(struct tn_recipe_run) + STEP_BYTES + candidates * sizeof(struct tn_answer_span) +
                     2 * (rule->max_tokens + 1) * sizeof(float);
    return tn_mul64(windows, candidates * 2 * (sizeof(struct tn_answer_entry) + 2 * sizeof(uint32_t)), &all) && tn_add64(all, fixed, out);
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const tn_answer_request *r = request;
    enum tn_status st = check(m, r, err);
    if (st) return st;
    struct tn_text_source source = source_of(r);
    struct tn_answer_rule rule = rule_of(m, r);
    struct tn_text_needs needs = {.once = 0};
    uint64_t longest = 0, one;
    bool fits = true;
    for (size_t i = 0; fits && i < r->count; i++) {
        uint64_t own = has_own_question(r, i) ? r->questions[i].length + sizeof(uint64_t) : 0, length = r->contexts[i].length;
        if (length > longest) longest = length;
        fits = measure_item(&rule, r->want_logits, length, &one) && tn_add64(needs.once, one, &needs.once) && tn_add64(needs.once, own, &needs.once);
        if (fits && r->questions) fits = tn_add64(needs.once, r->question.length + sizeof(tn_string), &needs.once);
    }
    fits = fits && measure_work(&rule, longest, &one) && tn_add64(needs.once, one, &needs.once);
    if (!fits) needs.once = UINT64_MAX;
    return tn_text_measure(m, &source, needs, bytes, err);
}

static void forget_work(struct tn_recipe_run *run)
{
    struct tn_alloc *alloc = run->base.alloc;
    tn_free(alloc, run->flights);
    tn_free(alloc, run->tokens);
    tn_free(alloc, run->work);
    tn_free(alloc, run->spans);
    tn_answer_pool_release(&run->pool);
    run->flights = NULL;
    run->tokens = NULL;
    run->work = NULL;
    run->spans = NULL;
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    for (size_t i = 0; run->found && i < run->base.texts.count; i++) {
        tn_free(run->base.alloc, run->found[i].answers);
        tn_free(run->base.alloc, run->found[i].text);
        tn_free(run->base.alloc, run->found[i].windows);
        tn_free(run->base.alloc, run->found[i].logits);
    }
    forget_work(run);
    tn_free(run->base.alloc, run->found);
    tn_text_release(run);
}

static void state_options(struct tn_recipe_run *run, const tn_answer_request *r)
{
    struct tn_stated *s = &run->base.stated;
    const struct tn_answer_rule *rule = &run->rule;
    if (r->top_k) tn_stated_request_u64(s, "top_k", rule->top_k);
    if (r->max_answer_tokens) tn_stated_request_u64(s, "max_answer_tokens", rule->most_tokens);
    if (r->max_tokens) tn_stated_request_u64(s, "max_tokens", rule->max_tokens);
    if (r->stride_set || r->max_tokens) tn_stated_request_u64(s, "stride", rule->stride);
    if (r->no_answer != TN_AUTO) tn_stated_request(s, "no_answer", tn_json_text_of_bool(rule->no_answer));
    if (r->align_words != TN_AUTO) tn_stated_request(s, "align_words", tn_json_text_of_bool(rule->align_words));
}

static void refuse_empty(struct tn_recipe_run *run, const tn_answer_request *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->contexts[i].length == 0) tn_text_items_fail(&run->base.texts, i, TN_INVALID_REQUEST, EMPTY_CONTEXT);
        else if (has_own_question(r, i) && r->questions[i].length == 0) tn_text_items_fail(&run->base.texts, i, TN_INVALID_REQUEST, EMPTY_QUESTION);
    }
}

/* Windows over the contexts instead of cuts. */
static void set_windows(struct tn_recipe_run *run, const struct tn_recipe_model *m)
{
    struct tn_text_items *t = &run->base.texts;
    t->windows = true;
    t->swapped = m->context_first;
    t->max_tokens = run->rule.max_tokens;
    t->encode.max_tokens = run->rule.max_tokens;
    t->encode.stride = run->rule.stride;
    t->encode.strategy = t->swapped ? TN_TEXT_ONLY_FIRST : TN_TEXT_ONLY_SECOND;
}

static const struct tn_text_hooks hooks;

/* The base of a run: one question before all contexts, or questions in the places of texts and contexts in those of pairs. */
static enum tn_status begin(const struct tn_recipe_model *m, const tn_answer_request *r, struct tn_alloc *alloc, struct tn_recipe_run **run,
                            struct tn_error *err)
{
    struct tn_text_choices choices = {.role = "", .atomic = r->atomic, .batch = r->batch, .timeout_ms = r->timeout_ms};
    struct tn_text_source source = source_of(r);
    tn_string *questions = NULL;
    if (r->questions) {
        questions = tn_calloc(alloc, r->count, sizeof(*questions));
        if (!questions) return tn_error_memory(err, TN_PHASE_REQUEST, "starting the request");
        for (size_t i = 0; i < r->count; i++) questions[i] = has_own_question(r, i) ? r->questions[i] : r->question;
        source.texts = questions;
        source.pairs = r->contexts;
        source.lead = (tn_string){NULL, 0};
    }
    enum tn_status st = tn_text_begin(m, &source, &choices, &hooks, sizeof(**run), alloc, run, err);
    tn_free(alloc, questions);
    return st;
}

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const tn_answer_request *r = request;
    struct tn_recipe_run *run;
    *out = NULL;
    enum tn_status st = check(m, r, err);
    if (!st) st = begin(m, r, alloc, &run, err);
    if (st) return st;
    run->rule = rule_of(m, r);
    run->want_logits = r->want_logits;
    tn_answer_pool_init(&run->pool, alloc);
    set_windows(run, m);
    refuse_empty(run, r);
    run->found = tn_calloc(alloc, r->count, sizeof(*run->found));
    run->spans = tn_calloc(alloc, tn_answer_candidates(&run->rule), sizeof(*run->spans));
    state_options(run, r);
    return tn_text_begun(run, run->found && run->spans, release, out, err);
}

static void finish(struct tn_recipe_run *run)
{
    tn_text_finish(run);
    forget_work(run);
}

/* ---- windows --------------------------------------------------------------------------------------------------------------- */

/* Room for `need` items; the capacity doubles. */
static bool reserve(struct tn_recipe_run *run, void *array, size_t *cap, size_t need, size_t size)
{
    void **at = array;
    size_t target = *cap + *cap / 2, bytes;
    if (need <= *cap && *at) return true;
    if (target < need) target = need;
    if (!tn_mul(target, size, &bytes)) return false;
    void *p = tn_realloc(run->base.alloc, *at, bytes);
    if (!p) return false;
    *at = p;
    *cap = target;
    return true;
}

static enum tn_status asked(struct tn_recipe_run *run, size_t item, const struct tn_text_encoding *e)
{
    const struct tn_recipe_model *m = run->base.model;
    struct tn_text_part part = e->parts[m->context_first ? 0 : 1];
    (void)item;
    if (!reserve(run, &run->flights, &run->flight_cap, run->flight_count + 1, sizeof(*run->flights)) ||
        !reserve(run, &run->tokens, &run->token_cap, run->token_count + part.count + 1, sizeof(*run->tokens)))
        return TN_INSUFFICIENT_MEMORY;
    bool null = m->has_null && e->count > 0 && e->ids[0] == m->null_id && e->words[0] == TN_TEXT_NO_WORD;
    run->flights[run->flight_count++] = (struct flight){e->count, part.first, part.count, run->token_count, null};
    for (size_t i = part.first; i < part.first + part.count; i++)
        run->tokens[run->token_count++] = (struct tn_answer_token){e->offsets[i][0], e->offsets[i][1], e->words[i]};
    return TN_OK;
}

static struct tn_str context_of(const struct tn_recipe_run *run, size_t i)
{
    struct tn_str question, context;
    tn_text_items_text(&run->base.texts, i, &question, &context);
    return context;
}

static bool keep_window(struct tn_recipe_run *run, struct found *f, const float *result, size_t rows)
{
    if (!reserve(run, &f->windows, &f->window_cap, f->window_count + 1, sizeof(*f->windows))) return false;
    f->windows[f->window_count++] = rows;
    if (!run->want_logits) return true;
    if (!reserve(run, &f->logits, &f->logit_cap, f->logit_count + rows * WIDTH, sizeof(*f->logits))) return false;
    memcpy(f->logits + f->logit_count, result, rows * WIDTH * sizeof(*result));
    f->logit_count += rows * WIDTH;
    return true;
}

static enum tn_status take(struct tn_recipe_run *run, size_t i, float *result, uint32_t rows, size_t width, struct tn_step *step)
{
    const struct flight *flight = &run->flights[run->base.texts.place];
    struct found *f = &run->found[i];
    struct tn_str context = context_of(run, i);
    float null;
    (void)step;
    if (run->base.texts.place >= run->flight_count || flight->tokens != rows || width != WIDTH) return TN_RUNTIME_FAILURE;
    if (f->window_count == 0) {
        tn_answer_pool_clear(&run->pool);
        run->null = INFINITY;
    }
    if (!keep_window(run, f, result, rows) || !reserve(run, &run->work, &run->work_cap, 2 * (flight->count + 1), sizeof(*run->work)))
        return TN_INSUFFICIENT_MEMORY;
    struct tn_answer_window w = {(const float (*)[2])(const void *)result, flight->first, flight->count, run->tokens + flight->at, flight->has_null};
    size_t n = tn_answer_spans(&run->rule, &w, run->work, run->spans, &null);
    if (!tn_scores_finite(&null, 1)) return TN_NUMERICAL_FAILURE;
    for (size_t k = 0; k < n; k++) {
        uint32_t begin, end;
        tn_answer_bytes(&run->rule, &w, &run->spans[k], &begin, &end);
        if (!tn_answer_pool_add(&run->pool, context, begin, end, (double)run->spans[k].score)) return TN_INSUFFICIENT_MEMORY;
    }
    if ((double)null < run->null) run->null = (double)null;
    return TN_OK;
}

/* ---- answers -------------------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b, void *answers)
{
    size_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const tn_answer *list = answers;
    if (list[x].begin != list[y].begin) return list[x].begin < list[y].begin ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Characters in the order of the text, so that a long one is walked through once. */
static bool count_chars(struct tn_recipe_run *run, struct found *f, struct tn_str context)
{
    struct tn_utf8_ruler ruler = {.text = context.s};
    uint32_t *order = tn_malloc(run->base.alloc, (f->count + 1) * sizeof(*order));
    if (!order) return false;
    for (size_t i = 0; i < f->count; i++) order[i] = (uint32_t)i;
    tn_sort(order, f->count, sizeof(*order), by_place, f->answers);
    for (size_t i = 0; i < f->count; i++) {
        tn_answer *a = &f->answers[order[i]];
        a->begin_char = tn_utf8_chars_at(&ruler, a->begin);
        a->end_char = tn_utf8_chars_at(&ruler, a->end);
    }
    tn_free(run->base.alloc, order);
    return true;
}

static bool keep_answers(struct tn_recipe_run *run, struct found *f, struct tn_str context)
{
    const struct tn_answer_entry *e = run->pool.entries;
    size_t bytes = 0, at = 0;
    f->count = run->pool.count < run->rule.top_k ? run->pool.count : run->rule.top_k;
    for (size_t i = 0; i < f->count; i++) bytes += e[i].end - e[i].begin;
    f->answers = tn_calloc(run->base.alloc, f->count + 1, sizeof(*f->answers));
    f->text = tn_malloc(run->base.alloc, bytes + 1);
    if (!f->answers || !f->text) return false;
    for (size_t i = 0; i < f->count; i++) {
        size_t n = e[i].end - e[i].begin;
        if (n) memcpy(f->text + at, context.s + e[i].begin, n);
        f->answers[i] = (tn_answer){.score = (float)e[i].score, .none = e[i].order == UINT32_MAX, .text = {f->text + at, n},
                                    .begin = e[i].begin, .end = e[i].end};
        at += n;
    }
    return count_chars(run, f, context);
}

static enum tn_status complete(struct tn_recipe_run *run, size_t i)
{
    struct found *f = &run->found[i];
    if (run->rule.no_answer && !tn_answer_pool_add_none(&run->pool, run->null)) return TN_INSUFFICIENT_MEMORY;
    tn_answer_pool_sort(&run->pool);
    bool kept = keep_answers(run, f, context_of(run, i));
    tn_answer_pool_clear(&run->pool);
    return kept ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

static bool explain(const struct tn_recipe_run *run, size_t i, enum tn_status code, struct tn_error *err)
{
    uint64_t detail = run->base.texts.items[i].detail;
    struct tn_finding *f = NULL;
    if (code == TN_INVALID_REQUEST && (detail == EMPTY_CONTEXT || detail == EMPTY_QUESTION)) {
        bool context = detail == EMPTY_CONTEXT;
        f = tn_error_set(err, code, TN_PHASE_REQUEST, context ? "the context is empty" : "the question of the context is empty");
        tn_expected(f, "a text");
    } else if (code == TN_INPUT_TOO_LONG) {
        f = tn_error_set(err, code, TN_PHASE_REQUEST, "the question leaves no room in a window for the context to move on");
        tn_found(f, "windows of %zu tokens, of which %zu are those of the window before", run->rule.max_tokens, run->rule.stride);
        tn_expected(f, "a question that is shorter than what is left; a question is never cut");
        tn_remedy(f, "shorten the question, or ask for longer windows (max_tokens) or a smaller stride");
    }
    if (f) tn_at_item(f, i);
    return f != NULL;
}

static const struct tn_text_hooks hooks = {.asked = asked, .take = take, .complete = complete, .explain = explain};

static enum tn_status advance(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err)
{
    if (step->wanted) run->flight_count = run->token_count = 0;
    return tn_text_advance(run, step, err);
}

static tn_score_kind kind_of(const struct found *f)
{
    return f->window_count > 1 ? TN_SCORE_OTHER : TN_SCORE_PROBABILITY;
}

static void event(const struct tn_recipe_run *run, size_t i, tn_event *out, struct tn_error *err)
{
    const struct found *f = &run->found[i];
    if (!tn_text_items_event(&run->base.texts, i, out, err)) return;
    out->score_kind = kind_of(f);
    out->answers = f->answers;
    out->answer_count = f->count;
    out->window_tokens = f->windows;
    out->window_count = f->window_count;
    out->logits = f->logits;
    out->logit_count = f->logit_count;
}

/* ---- documents ----------------------------------------------------------------------------------------------------------- */

static void write_result(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_member_bool(w, "no_answer", run->rule.no_answer);
    tn_jw_member_bool(w, "align_words", run->rule.align_words);
}

static void write_answer(const tn_answer *a, struct tn_json_writer *w)
{
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "answer", (struct tn_str){a->text.data, a->text.length});
    tn_jw_key(w, "score");
    tn_jw_f32(w, a->score);
    tn_text_write_part(w, a->begin_char, a->end_char, a->begin, a->end);
    if (a->none) tn_jw_member_bool(w, "none", true);
    tn_jw_end_object(w);
}

static void write_logits(const struct found *f, struct tn_json_writer *w)
{
    const float *row = f->logits;
    tn_jw_key(w, "logits");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < f->window_count; k++) {
        tn_jw_begin_array(w);
        for (size_t t = 0; t < f->windows[k]; t++, row += WIDTH) tn_jw_f32s(w, row, WIDTH);
        tn_jw_end_array(w);
    }
    tn_jw_end_array(w);
}

static void write_item(const struct tn_recipe_run *run, size_t i, struct tn_json_writer *w)
{
    const struct found *f = &run->found[i];
    tn_jw_key(w, "answers");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < f->count; k++) write_answer(&f->answers[k], w);
    tn_jw_end_array(w);
    tn_jw_member_cstr(w, "score_kind", tn_score_kind_name(kind_of(f)));
    tn_jw_key(w, "windows");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < f->window_count; k++) tn_jw_u64(w, f->windows[k]);
    tn_jw_end_array(w);
    if (f->logits) write_logits(f, w);
    tn_text_write_tokens(w, run, i);
}

const struct tn_recipe tn_recipe_answer = {
    .name = "question-answer",
    .version = "1",
    .prepare = prepare,
    .discard = tn_text_discard,
    .probe = tn_text_probe_pair,
    .measure = measure,
    .start = start,
    .advance = advance,
    .finish = finish,
    .release = release,
    .event = event,
    .counts = tn_text_counts,
    .write_result = write_result,
    .write_item = write_item,
    .account = tn_text_account,
};
