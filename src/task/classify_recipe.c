/*
 * The recipe of text classification: rows of logits to labels. Logits are kept as the head gave them; labels are chosen
 * and ordered when they come in, so that a reader of events finds them finished.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "task/classify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct tn_recipe_model {
    struct tn_text_model text;
    const struct tn_description *d;
    const struct tn_head *head;
    size_t width;
    struct tn_stated stated;
};

struct tn_recipe_run {
    struct tn_text_items texts;
    struct tn_alloc *alloc;
    const struct tn_head *head; /* lives with the description */
    struct tn_scoring scoring;
    size_t width, most;
    bool threshold_set;
    float threshold;
    float *logits;        /* [count, width] */
    tn_label *labels;     /* [count, most] */
    uint32_t *label_count; /* [count] */
    float *scores;        /* [width] of the item at hand */
    uint32_t *order;      /* [width] */
    struct tn_stated stated;
};

/* ---- per session ------------------------------------------------------------------------------------------------------- */

static void discard(struct tn_recipe_model *m)
{
    if (!m) return;
    tn_stated_release(&m->stated);
    tn_free(m->text.alloc, m);
}

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    struct tn_recipe_model *m = tn_calloc(env->ctx->alloc, 1, sizeof(*m));
    *out = NULL;
    if (!m) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the recipe");
    m->text = tn_text_model_of(env);
    m->d = env->d;
    m->head = env->route->head;
    m->width = (size_t)env->output_width;
    enum tn_status st = tn_stated_begin(&m->stated, env, tn_classify_options, err);
    if (st) {
        discard(m);
        return st;
    }
    *out = m;
    return TN_OK;
}

static enum tn_status probe(const struct tn_recipe_model *m, struct tn_batch *batch, struct tn_recipe_scratch *scratch,
                            struct tn_error *err)
{
    return tn_text_probe(&m->text, false, batch, scratch, err);
}

/* ---- the request ------------------------------------------------------------------------------------------------------- */

static struct tn_text_choices choices_of(const tn_classify_request *r)
{
    return (struct tn_text_choices){r->role, r->truncation, r->side, r->atomic, r->batch, r->timeout_ms};
}

static struct tn_text_source source_of(const tn_classify_request *r, const struct tn_prompt *prompt)
{
    return (struct tn_text_source){.texts = r->texts, .count = r->count, .pairs = r->pairs,
                                   .prompt = prompt ? prompt->text : TN_STR(""), .noun = "text", .option = "texts"};
}

/* Labels per item at most: what is asked for, or what the contract gives where nothing is. */
static size_t most_labels(const struct tn_recipe_model *m, const tn_classify_request *r)
{
    unsigned top_k = r->top_k ? r->top_k : r->threshold_set ? 0 : tn_classify_defaults_of(m->head).top_k;
    return top_k && top_k < m->width ? top_k : m->width;
}

static enum tn_status refuse_probability(struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_UNSUPPORTED_OPTION, TN_PHASE_REQUEST,
                                        "a regression predicts a value and no probability");
    tn_at_option(f, "scores");
    tn_found(f, "probability");
    tn_expected(f, "auto or logit");
    return TN_UNSUPPORTED_OPTION;
}

static enum tn_status refuse_threshold(float threshold, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "the threshold is not finite");
    tn_at_option(f, "threshold");
    tn_found(f, isnan(threshold) ? "NaN" : "infinity");
    tn_expected(f, "a finite number");
    return TN_INVALID_REQUEST;
}

static enum tn_status check(const struct tn_recipe_model *m, const tn_classify_request *r, const struct tn_prompt **prompt,
                            struct tn_error *err)
{
    struct tn_text_choices choices = choices_of(r);
    struct tn_scoring scoring = tn_scoring_of_classifier(m->head);
    if ((unsigned)r->scores > TN_SCORES_PROBABILITY) {
        return tn_request_refuse(err, "scores", "scores has no such value", "auto, logit or probability", (unsigned long long)r->scores);
    }
    if (!tn_scoring_choose(&scoring, r->scores, m->head)) return refuse_probability(err);
    if (r->threshold_set && !isfinite(r->threshold)) return refuse_threshold(r->threshold, err);
    return tn_text_choices_check(m->d, &choices, prompt, err);
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const tn_classify_request *r = request;
    const struct tn_prompt *prompt;
    uint64_t all, per_item = (uint64_t)m->width * sizeof(float) + most_labels(m, r) * sizeof(tn_label) + sizeof(uint32_t);
    enum tn_status st = check(m, r, &prompt, err);
    if (st) return st;
    struct tn_text_source source = source_of(r, prompt);
    st = tn_text_items_measure(&m->text, &source, bytes, err);
    if (st) return st;
    uint64_t own = sizeof(struct tn_recipe_run) + tn_stated_bytes(&m->stated, prompt ? prompt->name.n : 0) + (uint64_t)m->width * (sizeof(float) + sizeof(uint32_t));
    if (!tn_mul64(per_item, r->count, &all) || !tn_add64(*bytes, all, bytes) || !tn_add64(*bytes, own, bytes)) {
        return tn_request_refuse_limit(err, "texts", "items", r->count, m->text.ctx->limits.items);
    }
    return TN_OK;
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    tn_text_items_release(&run->texts);
    tn_stated_release(&run->stated);
    tn_free(run->alloc, run->logits);
    tn_free(run->alloc, run->labels);
    tn_free(run->alloc, run->label_count);
    tn_free(run->alloc, run->scores);
    tn_free(run->alloc, run->order);
    tn_free(run->alloc, run);
}

static bool allocate(struct tn_recipe_run *run, size_t count)
{
    size_t floats, labels;
    if (!tn_mul(count, run->width, &floats) || !tn_mul(count, run->most, &labels)) return false;
    run->logits = tn_calloc(run->alloc, floats, sizeof(*run->logits));
    run->labels = tn_calloc(run->alloc, labels, sizeof(*run->labels));
    run->label_count = tn_calloc(run->alloc, count, sizeof(*run->label_count));
    run->scores = tn_calloc(run->alloc, run->width, sizeof(*run->scores));
    run->order = tn_calloc(run->alloc, run->width, sizeof(*run->order));
    return run->logits && run->labels && run->label_count && run->scores && run->order;
}

static struct tn_str text_of_threshold(struct tn_arena *arena, float threshold)
{
    char text[32];
    size_t n = tn_format_f32(text, threshold);
    return tn_arena_str(arena, (struct tn_str){text, n});
}

/* Everything that this request says, over what the package and the contract say. */
static bool state_options(struct tn_recipe_run *run, const tn_classify_request *r)
{
    struct tn_text_choices choices = choices_of(r);
    if (r->scores) {
        tn_stated_request_word(&run->stated, "scores", tn_score_kind_name(run->scoring.kind));
        tn_stated_request_word(&run->stated, "function", tn_score_function_name(run->scoring.function));
    }
    if (r->top_k) tn_stated_request_u64(&run->stated, "top_k", r->top_k);
    if (r->threshold_set)
        tn_stated_request(&run->stated, "threshold", text_of_threshold(&run->stated.arena, r->threshold));
    else if (!run->threshold_set && tn_classify_defaults_of(run->head).threshold)
        tn_stated_request(&run->stated, "threshold", TN_STR("null")); /* what else was asked for takes it away */
    tn_text_choices_state(&choices, &run->stated);
    return !run->stated.no_memory;
}

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const tn_classify_request *r = request;
    const struct tn_prompt *prompt;
    *out = NULL;
    enum tn_status st = check(m, r, &prompt, err);
    if (st) return st;
    struct tn_recipe_run *run = tn_calloc(alloc, 1, sizeof(*run));
    if (!run) return tn_error_memory(err, TN_PHASE_REQUEST, "starting the request");
    struct tn_text_source source = source_of(r, prompt);
    struct tn_text_choices choices = choices_of(r);
    struct tn_classify_defaults defaults = tn_classify_defaults_of(m->head);
    run->alloc = alloc;
    run->head = m->head;
    run->width = m->width;
    run->most = most_labels(m, r);
    run->threshold_set = r->threshold_set || (defaults.threshold && !r->top_k && r->scores != TN_SCORES_LOGIT);
    run->threshold = r->threshold_set ? r->threshold : TN_CLASSIFY_THRESHOLD;
    run->scoring = tn_scoring_of_classifier(m->head);
    (void)tn_scoring_choose(&run->scoring, r->scores, m->head);
    tn_stated_over(&run->stated, &m->stated, alloc);
    st = tn_text_items_start(&run->texts, &m->text, &source, alloc, err);
    if (!st && (!allocate(run, r->count) || !state_options(run, r)))
        st = tn_error_memory(err, TN_PHASE_REQUEST, "keeping the texts and results of the request");
    if (st) {
        release(run);
        return st;
    }
    tn_text_choices_apply(&choices, &run->texts);
    *out = run;
    return TN_OK;
}

static void finish(struct tn_recipe_run *run)
{
    tn_text_items_finish(&run->texts);
}

/* ---- results ------------------------------------------------------------------------------------------------------------ */

static enum tn_status take(struct tn_recipe_run *run, size_t i, float *result, uint32_t rows, size_t width, struct tn_step *step)
{
    tn_label *labels = run->labels + i * run->most;
    uint32_t kept = 0;
    (void)rows;
    (void)step;
    memcpy(run->logits + i * width, result, width * sizeof(*result));
    tn_score_apply(&run->scoring, result, run->scores, width);
    if (!tn_scores_finite(run->scores, width)) return TN_NUMERICAL_FAILURE;
    size_t best = tn_scores_best(run->scores, width, run->most, run->order);
    for (size_t k = 0; k < best; k++) {
        uint32_t id = run->order[k];
        if (run->threshold_set && run->scores[id] < run->threshold) break;
        struct tn_str name = run->head->labels[id];
        labels[kept++] = (tn_label){id, {name.s, name.n}, run->scores[id]};
    }
    run->label_count[i] = kept;
    return TN_OK;
}

static const struct tn_text_hooks hooks = {.take = take};

static enum tn_status advance(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err)
{
    return tn_text_items_advance(&run->texts, run, &hooks, step, err);
}

static void event(const struct tn_recipe_run *run, size_t i, tn_event *out, struct tn_error *err)
{
    if (!tn_text_items_event(&run->texts, run, &hooks, i, out, err)) return;
    out->score_kind = run->scoring.kind;
    out->logits = run->logits + i * run->width;
    out->logit_count = run->width;
    out->labels = run->labels + i * run->most;
    out->label_count = run->label_count[i];
}

static struct tn_run_counts counts(const struct tn_recipe_run *run)
{
    return run->texts.counts;
}

/* ---- documents ----------------------------------------------------------------------------------------------------------- */

/* NULL: a single output of which the package does not say more. */
static const char *problem_of(const struct tn_head *h)
{
    if (h->problem) return tn_problem_name(h->problem);
    return h->outputs > 1 ? tn_problem_name(TN_PROBLEM_SINGLE_LABEL) : NULL;
}

static void write_result(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_member_cstr(w, "problem", problem_of(run->head));
    tn_jw_member_cstr(w, "score_kind", tn_score_kind_name(run->scoring.kind));
}

static void write_item(const struct tn_recipe_run *run, size_t i, struct tn_json_writer *w)
{
    const struct tn_text_item *item = &run->texts.items[i];
    tn_jw_key(w, "labels");
    tn_jw_begin_array(w);
    for (uint32_t k = 0; k < run->label_count[i]; k++) {
        const tn_label *label = &run->labels[i * run->most + k];
        tn_jw_begin_object(w);
        tn_jw_member_u64(w, "id", label->id);
        tn_jw_member_str(w, "label", (struct tn_str){label->name.data, label->name.length});
        tn_jw_key(w, "score");
        tn_jw_f32(w, label->score);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
    tn_jw_member_cstr(w, "score_kind", tn_score_kind_name(run->scoring.kind));
    tn_jw_key(w, "logits");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < run->width; k++) tn_jw_f32(w, run->logits[i * run->width + k]);
    tn_jw_end_array(w);
    tn_text_item_write(w, item);
}

static void account(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_stated_account(&run->stated, run, write_result, w);
}

const struct tn_recipe tn_recipe_classify_text = {
    .name = "classify.text",
    .version = "1",
    .prepare = prepare,
    .discard = discard,
    .probe = probe,
    .measure = measure,
    .start = start,
    .advance = advance,
    .finish = finish,
    .release = release,
    .event = event,
    .counts = counts,
    .write_result = write_result,
    .write_item = write_item,
    .account = account,
};
