/*
 * The recipe of reranking: pairs of the query and each document to scores, and scores to an order. Nothing is delivered
 * before all documents are scored, because the first result is the best of all.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "task/rerank.h"
#include "task/text_recipe.h"

#include <math.h>
#include <string.h>

struct tn_recipe_model {
    struct tn_text_session session;
    struct tn_rerank_rule rule;
};

struct tn_recipe_run {
    struct tn_text_run base;
    struct tn_rerank_rule rule;
    tn_score_choice choice;
    size_t width, top_k;
    float *logits;   /* [count, width] */
    float *scores;   /* [count] */
    uint32_t *order; /* [count] once all are known: documents as they are delivered */
};

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    enum tn_status st = tn_text_prepare(env, sizeof(**out), tn_rerank_options, out, err);
    if (!st) (*out)->rule = tn_rerank_rule_of(env->route->head);
    return st;
}

/* ---- the request ------------------------------------------------------------------------------------------------------- */

static struct tn_text_source source_of(const tn_rerank_request *r, const struct tn_prompt *prompt)
{
    return (struct tn_text_source){.texts = r->documents, .count = r->count, .lead = {r->query.data ? r->query.data : "", r->query.length},
                                   .prompt = prompt ? prompt->text : TN_STR(""), .noun = "document", .option = "documents"};
}

/* What is wrong with the query is wrong with the request: no document could be scored. */
static enum tn_status check_query(const struct tn_recipe_model *m, tn_string query, struct tn_error *err)
{
    struct tn_finding *f;
    if (!query.data && query.length > 0) {
        f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "the query has a length but no data");
        tn_at_option(f, "query");
        return TN_INVALID_REQUEST;
    }
    if (query.length > m->session.text.ctx->limits.text_bytes) return TN_OK; /* refused as a limit when it is measured */
    size_t valid = query.length ? tn_utf8_valid_prefix(query.data, query.length) : 0;
    if (valid == query.length) return TN_OK;
    f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "the query is not valid UTF-8 at byte %zu", valid);
    tn_at_option(f, "query");
    tn_found(f, "an invalid byte at offset %zu", valid);
    tn_expected(f, "UTF-8");
    return TN_INVALID_REQUEST;
}

static enum tn_status check(const struct tn_recipe_model *m, const tn_rerank_request *r, const struct tn_prompt **prompt,
                            struct tn_error *err)
{
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, r->role);
    if ((unsigned)r->scores > TN_SCORES_PROBABILITY) {
        return tn_request_refuse(err, "scores", "scores has no such value", "auto, logit or probability", (unsigned long long)r->scores);
    }
    enum tn_status st = check_query(m, r->query, err);
    return st ? st : tn_text_choices_check(m->session.d, &choices, prompt, err);
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const tn_rerank_request *r = request;
    const struct tn_prompt *prompt;
    enum tn_status st = check(m, r, &prompt, err);
    if (st) return st;
    struct tn_text_source source = source_of(r, prompt);
    struct tn_text_needs needs = {.each = (uint64_t)m->session.width * sizeof(float) + sizeof(float) + sizeof(uint32_t),
                                  .once = sizeof(struct tn_recipe_run), .words = prompt ? prompt->name.n : 0};
    return tn_text_measure(m, &source, needs, bytes, err);
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    tn_free(run->base.alloc, run->logits);
    tn_free(run->base.alloc, run->scores);
    tn_free(run->base.alloc, run->order);
    tn_text_release(run);
}

static bool allocate(struct tn_recipe_run *run, size_t count)
{
    size_t floats;
    if (!tn_mul(count, run->width, &floats)) return false;
    run->logits = tn_calloc(run->base.alloc, floats, sizeof(*run->logits));
    run->scores = tn_calloc(run->base.alloc, count, sizeof(*run->scores));
    run->order = tn_calloc(run->base.alloc, count, sizeof(*run->order));
    return run->logits && run->scores && run->order;
}

static const char *function_of(const struct tn_recipe_run *run)
{
    tn_score_kind kind = tn_rerank_kind(&run->rule, run->choice);
    if (kind == TN_SCORE_LOGIT) return run->rule.outputs == 2 ? "log_odds" : "none";
    if (kind == TN_SCORE_PROBABILITY) return run->rule.outputs == 2 ? "softmax" : "sigmoid";
    return tn_act_name(run->rule.act);
}

static void state_options(struct tn_recipe_run *run, const tn_rerank_request *r)
{
    struct tn_stated *s = &run->base.stated;
    if (r->scores) {
        tn_stated_request_word(s, "scores", tn_score_kind_name(tn_rerank_kind(&run->rule, r->scores)));
        tn_stated_request_word(s, "function", function_of(run));
    }
    if (r->top_k) tn_stated_request_u64(s, "top_k", r->top_k);
}

static const struct tn_text_hooks hooks;

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const tn_rerank_request *r = request;
    const struct tn_prompt *prompt;
    struct tn_recipe_run *run;
    *out = NULL;
    enum tn_status st = check(m, r, &prompt, err);
    if (st) return st;
    struct tn_text_source source = source_of(r, prompt);
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, r->role);
    st = tn_text_begin(m, &source, &choices, &hooks, sizeof(*run), alloc, &run, err);
    if (st) return st;
    run->base.texts.whole = true;
    run->rule = m->rule;
    run->choice = r->scores;
    run->width = m->session.width;
    run->top_k = r->top_k;
    state_options(run, r);
    return tn_text_begun(run, allocate(run, r->count), release, out, err);
}

/* ---- results ------------------------------------------------------------------------------------------------------------ */

static enum tn_status take(struct tn_recipe_run *run, size_t i, float *result, uint32_t rows, size_t width, struct tn_step *step)
{
    (void)rows;
    (void)step;
    memcpy(run->logits + i * width, result, width * sizeof(*result));
    run->scores[i] = tn_rerank_score(&run->rule, run->choice, result);
    return tn_scores_finite(&run->scores[i], 1) ? TN_OK : TN_NUMERICAL_FAILURE;
}

static const struct tn_text_hooks hooks = {.take = take};

/* Failed documents behind all others: they have no score. */
static size_t put_in_order(struct tn_recipe_run *run)
{
    size_t count = run->base.texts.count, failed = (size_t)run->base.texts.counts.failed, good = count - failed;
    for (size_t i = 0; i < count; i++)
        if (run->base.texts.items[i].code) run->scores[i] = -INFINITY;
    size_t best = tn_scores_best(run->scores, count, 0, run->order);
    size_t delivered = run->top_k && run->top_k < good ? run->top_k : good;
    if (best != count || delivered == good) return count;
    memmove(run->order + delivered, run->order + good, failed * sizeof(*run->order));
    return delivered + failed;
}

static enum tn_status advance(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err)
{
    enum tn_status st = tn_text_advance(run, step, err);
    if (!st && step->done) step->ready = put_in_order(run);
    return st;
}

static void event(const struct tn_recipe_run *run, size_t k, tn_event *out, struct tn_error *err)
{
    size_t i = run->order[k];
    if (!tn_text_items_event(&run->base.texts, i, out, err)) return;
    out->score_kind = tn_rerank_kind(&run->rule, run->choice);
    out->score = run->scores[i];
    out->logits = run->logits + i * run->width;
    out->logit_count = run->width;
}

/* ---- documents ----------------------------------------------------------------------------------------------------------- */

static void write_result(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_member_cstr(w, "score_kind", tn_score_kind_name(tn_rerank_kind(&run->rule, run->choice)));
}

static void write_item(const struct tn_recipe_run *run, size_t k, struct tn_json_writer *w)
{
    size_t i = run->order[k];
    tn_jw_key(w, "score");
    tn_jw_f32(w, run->scores[i]);
    write_result(run, w);
    tn_jw_key(w, "logits");
    tn_jw_f32s(w, run->logits + i * run->width, run->width);
    tn_text_write_tokens(w, run, i);
}

const struct tn_recipe tn_recipe_rerank = {
    .name = "rerank",
    .version = "1",
    .prepare = prepare,
    .discard = tn_text_discard,
    .probe = tn_text_probe_pair,
    .measure = measure,
    .start = start,
    .advance = advance,
    .finish = tn_text_finish,
    .release = release,
    .event = event,
    .counts = tn_text_counts,
    .write_result = write_result,
    .write_item = write_item,
    .account = tn_text_account,
};
