/*
 * The recipe of text classification: rows of logits to labels. Logits are kept as the head gave them; labels are chosen
 * and ordered when they come in, so that a reader of events finds them finished.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "task/classify.h"
#include "task/needs.h"
#include "task/text_recipe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct tn_recipe_model {
    struct tn_text_session session;
};

struct tn_recipe_run {
    struct tn_text_run base;
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
};

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    return tn_text_prepare(env, sizeof(**out), tn_classify_options, out, err);
}

/* ---- the request ------------------------------------------------------------------------------------------------------- */

static struct tn_text_source source_of(const tn_classify_request *r, const struct tn_prompt *prompt)
{
    return (struct tn_text_source){.texts = r->texts, .count = r->count, .pairs = r->pairs,
                                   .prompt = prompt ? prompt->text : TN_STR(""), .noun = "text", .option = "texts"};
}

/* Labels per item at most: what is asked for, or what the contract gives where nothing is. */
static size_t most_labels(const struct tn_recipe_model *m, const tn_classify_request *r)
{
    unsigned top_k = r->top_k ? r->top_k : r->threshold_set ? 0 : tn_classify_defaults_of(m->session.head).top_k;
    return top_k && top_k < m->session.width ? top_k : m->session.width;
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

/* Texts alone are read by a package whose network has no row for the type of a second text. */
static enum tn_status check_pairs(const struct tn_recipe_model *m, const tn_classify_request *r, struct tn_error *err)
{
    size_t i = 0;
    while (r->pairs && i < r->count && !r->pairs[i].data) i++;
    if (!r->pairs || i == r->count || tn_types_fit(m->session.d, true)) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_UNSUPPORTED_OPTION, TN_PHASE_REQUEST,
                                        "the tokenizer gives second texts a token type that the network has no row for");
    tn_at_option(f, "pairs");
    tn_at_item(f, i);
    tn_expected(f, "texts alone");
    return TN_UNSUPPORTED_OPTION;
}

static enum tn_status check(const struct tn_recipe_model *m, const tn_classify_request *r, const struct tn_prompt **prompt,
                            struct tn_error *err)
{
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, r->role);
    struct tn_scoring scoring = tn_scoring_of_classifier(m->session.head);
    if ((unsigned)r->scores > TN_SCORES_PROBABILITY) {
        return tn_request_refuse(err, "scores", "scores has no such value", "auto, logit or probability", (unsigned long long)r->scores);
    }
    if (!tn_scoring_choose(&scoring, r->scores, m->session.head)) return refuse_probability(err);
    if (r->threshold_set && !isfinite(r->threshold)) return refuse_threshold(r->threshold, err);
    enum tn_status st = check_pairs(m, r, err);
    return st ? st : tn_text_choices_check(m->session.d, &choices, prompt, err);
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const tn_classify_request *r = request;
    const struct tn_prompt *prompt;
    enum tn_status st = check(m, r, &prompt, err);
    if (st) return st;
    struct tn_text_source source = source_of(r, prompt);
    uint64_t row = (uint64_t)m->session.width * sizeof(float);
    struct tn_text_needs needs = {.each = row + most_labels(m, r) * sizeof(tn_label) + sizeof(uint32_t),
                                  .once = sizeof(struct tn_recipe_run) + row + (uint64_t)m->session.width * sizeof(uint32_t),
                                  .words = prompt ? prompt->name.n : 0};
    return tn_text_measure(m, &source, needs, bytes, err);
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    tn_free(run->base.alloc, run->logits);
    tn_free(run->base.alloc, run->labels);
    tn_free(run->base.alloc, run->label_count);
    tn_free(run->base.alloc, run->scores);
    tn_free(run->base.alloc, run->order);
    tn_text_release(run);
}

static bool allocate(struct tn_recipe_run *run, size_t count)
{
    struct tn_alloc *alloc = run->base.alloc;
    size_t floats, labels;
    if (!tn_mul(count, run->width, &floats) || !tn_mul(count, run->most, &labels)) return false;
    run->logits = tn_calloc(alloc, floats, sizeof(*run->logits));
    run->labels = tn_calloc(alloc, labels, sizeof(*run->labels));
    run->label_count = tn_calloc(alloc, count, sizeof(*run->label_count));
    run->scores = tn_calloc(alloc, run->width, sizeof(*run->scores));
    run->order = tn_calloc(alloc, run->width, sizeof(*run->order));
    return run->logits && run->labels && run->label_count && run->scores && run->order;
}

static struct tn_str text_of_threshold(struct tn_arena *arena, float threshold)
{
    char text[32];
    size_t n = tn_format_f32(text, threshold);
    return tn_arena_str(arena, (struct tn_str){text, n});
}

static void state_options(struct tn_recipe_run *run, const tn_classify_request *r)
{
    struct tn_stated *s = &run->base.stated;
    if (r->scores) {
        tn_stated_request_word(s, "scores", tn_score_kind_name(run->scoring.kind));
        tn_stated_request_word(s, "function", tn_score_function_name(run->scoring.function));
    }
    if (r->top_k) tn_stated_request_u64(s, "top_k", r->top_k);
    if (r->threshold_set)
        tn_stated_request(s, "threshold", text_of_threshold(&s->arena, r->threshold));
    else if (!run->threshold_set && tn_classify_defaults_of(run->head).threshold)
        tn_stated_request(s, "threshold", TN_STR("null")); /* what else was asked for takes it away */
}

static const struct tn_text_hooks hooks;

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const tn_classify_request *r = request;
    const struct tn_prompt *prompt;
    struct tn_recipe_run *run;
    *out = NULL;
    enum tn_status st = check(m, r, &prompt, err);
    if (st) return st;
    struct tn_text_source source = source_of(r, prompt);
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, r->role);
    st = tn_text_begin(m, &source, &choices, &hooks, sizeof(*run), alloc, &run, err);
    if (st) return st;
    run->head = m->session.head;
    run->width = m->session.width;
    run->most = most_labels(m, r);
    bool usual = tn_classify_defaults_of(run->head).threshold && !r->top_k && r->scores != TN_SCORES_LOGIT;
    run->threshold_set = r->threshold_set || usual;
    run->threshold = r->threshold_set ? r->threshold : TN_CLASSIFY_THRESHOLD;
    run->scoring = tn_scoring_of_classifier(run->head);
    (void)tn_scoring_choose(&run->scoring, r->scores, run->head);
    state_options(run, r);
    return tn_text_begun(run, allocate(run, r->count), release, out, err);
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

static void event(const struct tn_recipe_run *run, size_t i, tn_event *out, struct tn_error *err)
{
    if (!tn_text_items_event(&run->base.texts, i, out, err)) return;
    out->score_kind = run->scoring.kind;
    out->logits = run->logits + i * run->width;
    out->logit_count = run->width;
    out->labels = run->labels + i * run->most;
    out->label_count = run->label_count[i];
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
    tn_jw_f32s(w, run->logits + i * run->width, run->width);
    tn_text_write_tokens(w, run, i);
}

const struct tn_recipe tn_recipe_classify_text = {
    .name = "classify.text",
    .version = "1",
    .prepare = prepare,
    .discard = tn_text_discard,
    .probe = tn_text_probe_one,
    .measure = measure,
    .start = start,
    .advance = tn_text_advance,
    .finish = tn_text_finish,
    .release = release,
    .event = event,
    .counts = tn_text_counts,
    .write_result = write_result,
    .write_item = write_item,
    .account = tn_text_account,
};
