/*
 * The suite by task: how its texts become a request, which numbers of an answer are compared, and which checks apply. The
 * checks know neither; they ask for texts and compare rows of numbers.
 *
 * What a task answers with something else than a vector per text is compared by its logits: labels and spans follow from
 * them. Rows per token are added up by column: equal sums of equal order are what equal rows give.
 */
#include "qualify/suite.h"

#include "session/session.h"

#include <math.h>
#include <string.h>

/* What documents are ranked by, and a ranking held against. */
static const char query[] = "Seven different words stand in this line";

/* What is asked of contexts: short, because it is never cut. */
static const char question[] = "what?";

/* ---- requests --------------------------------------------------------------------------------------------------------- */

static enum tn_status start_embedding(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    return tn_embed_start(session, request, out, err);
}

static enum tn_status start_classify(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    tn_classify_request r = TN_INIT(tn_classify_request);
    r.texts = request->texts;
    r.count = request->count;
    r.batch = request->batch;
    r.truncation = request->truncation;
    return tn_classify_start(session, &r, out, err);
}

static enum tn_status start_rerank(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    tn_rerank_request r = TN_INIT(tn_rerank_request);
    r.query = (tn_string){query, sizeof(query) - 1};
    r.documents = request->texts;
    r.count = request->count;
    r.batch = request->batch;
    r.truncation = request->truncation;
    return tn_rerank_start(session, &r, out, err);
}

static enum tn_status start_tag(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    tn_tag_request r = TN_INIT(tn_tag_request);
    r.texts = request->texts;
    r.count = request->count;
    r.batch = request->batch;
    r.truncation = request->truncation;
    r.want_logits = true;
    r.aggregation = TN_AGGREGATE_SIMPLE;
    return tn_tag_start(session, &r, out, err);
}

/* Each text with a mask, at the end that is never cut. */
static bool add_masks(const struct tn_tokenizer_facts *t, const tn_string *texts, size_t count, tn_string *out, struct tn_buf *whole)
{
    bool behind = tn_str_is(t->truncation_side, "left");
    for (size_t i = 0; i < count; i++) {
        size_t begin = whole->len;
        if (!behind) tn_buf_printf(whole, "%.*s ", TN_FMT_ARG(t->mask_token));
        tn_buf_append(whole, texts[i].data, texts[i].length);
        if (behind) tn_buf_printf(whole, " %.*s", TN_FMT_ARG(t->mask_token));
        out[i].length = whole->len - begin;
    }
    if (tn_buf_status(whole)) return false;
    const char *at = whole->data;
    for (size_t i = 0; i < count; at += out[i].length, i++) out[i].data = at;
    return true;
}

static enum tn_status start_fill(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    const struct tn_planner *planner = session->plan->survey.planner;
    struct tn_alloc *alloc = planner->ctx->alloc;
    tn_fill_request r = TN_INIT(tn_fill_request);
    struct tn_buf whole;
    tn_buf_init(&whole, alloc, SIZE_MAX);
    tn_string *texts = tn_calloc(alloc, request->count, sizeof(*texts));
    enum tn_status st = texts && add_masks(&planner->d->tokenizer, request->texts, request->count, texts, &whole)
                            ? TN_OK
                            : tn_error_memory(err, TN_PHASE_REQUEST, "putting masks into the texts of the suite");
    r.texts = texts;
    r.count = request->count;
    r.batch = request->batch;
    r.truncation = request->truncation;
    if (!st) st = tn_fill_start(session, &r, out, err); /* copies the texts */
    tn_buf_release(&whole);
    tn_free(alloc, texts);
    return st;
}

/* A context that is too long becomes windows and never fails, whatever is asked. */
static enum tn_status start_answer(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    tn_answer_request r = TN_INIT(tn_answer_request);
    r.question = (tn_string){question, sizeof(question) - 1};
    r.contexts = request->texts;
    r.count = request->count;
    r.batch = request->batch;
    r.top_k = 3;
    r.want_logits = true;
    return tn_answer_start(session, &r, out, err);
}

static enum tn_status start_sparse(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    tn_sparse_request r = TN_INIT(tn_sparse_request);
    r.texts = request->texts;
    r.count = request->count;
    r.batch = request->batch;
    r.truncation = request->truncation;
    return tn_embed_sparse_start(session, &r, out, err);
}

static enum tn_status start_multi(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    tn_multi_request r = TN_INIT(tn_multi_request);
    r.texts = request->texts;
    r.count = request->count;
    r.role = "document";
    r.batch = request->batch;
    r.truncation = request->truncation;
    return tn_embed_multi_start(session, &r, out, err);
}

/* ---- answers ---------------------------------------------------------------------------------------------------------- */

static size_t width_of_embedding(const struct tn_suite *s, const tn_event *e)
{
    (void)s;
    return e->dimensions;
}

static void row_of_embedding(const tn_event *e, float *row, size_t width)
{
    for (size_t i = 0; i < width; i++) row[i] = e->embedding[i];
}

static size_t width_of_head(const struct tn_suite *s, const tn_event *e)
{
    (void)e;
    return (size_t)s->plan->row->assessment.output_width;
}

static void row_of_logits(const tn_event *e, float *row, size_t width)
{
    for (size_t i = 0; i < width; i++) row[i] = 0;
    for (size_t i = 0; i < e->logit_count; i++) row[i % width] += e->logits[i];
}

/* The best scores of the first mask: a whole row over the vocabulary says no more of the path that made it. */
static size_t width_of_fill(const struct tn_suite *s, const tn_event *e)
{
    (void)s;
    return e->mask_count ? e->masks[0].fill_count : 0;
}

static void row_of_fill(const tn_event *e, float *row, size_t width)
{
    for (size_t i = 0; i < width; i++) row[i] = e->masks[0].fills[i].score;
}

static void row_of_terms(const tn_event *e, float *row, size_t width)
{
    for (size_t i = 0; i < width; i++) row[i] = 0;
    for (size_t i = 0; i < e->active; i++) row[e->indices[i]] = e->values[i];
}

static void row_of_vectors(const tn_event *e, float *row, size_t width)
{
    for (size_t i = 0; i < width; i++) row[i] = 0;
    for (size_t i = 0; i < e->vectors * width; i++) row[i % width] += e->embedding[i];
}

/* ---- what holds for scores -------------------------------------------------------------------------------------------- */

static bool is_probability(float x)
{
    return x >= 0 && x <= 1;
}

/* Labels by their scores, and scores that are what they are called. */
static bool labels_hold(const tn_event *e)
{
    for (size_t i = 0; i < e->label_count; i++) {
        if (!isfinite(e->labels[i].score) || (i > 0 && e->labels[i].score > e->labels[i - 1].score)) return false;
        if (e->score_kind == TN_SCORE_PROBABILITY && !is_probability(e->labels[i].score)) return false;
    }
    return true;
}

static bool score_holds(const tn_event *e)
{
    return isfinite(e->score) && (e->score_kind != TN_SCORE_PROBABILITY || is_probability(e->score));
}

static bool tags_hold(const tn_event *e)
{
    for (size_t i = 0; i < e->tag_count; i++) {
        const tn_tag *t = &e->tags[i];
        if (!is_probability(t->score) || t->end < t->begin || t->end_char < t->begin_char || t->token + t->token_count > e->tokens) return false;
    }
    return true;
}

static bool fills_hold(const tn_event *e)
{
    if (e->mask_count == 0) return false;
    for (size_t m = 0; m < e->mask_count; m++) {
        const tn_mask *mask = &e->masks[m];
        if (mask->position >= e->tokens || mask->end <= mask->begin || mask->end_char <= mask->begin_char) return false;
        for (size_t k = 0; k < mask->fill_count; k++) {
            if (!is_probability(mask->fills[k].score) || (k > 0 && mask->fills[k].score > mask->fills[k - 1].score)) return false;
        }
    }
    return true;
}

static bool answers_hold(const tn_event *e)
{
    size_t tokens = 0;
    for (size_t k = 0; k < e->window_count; k++) tokens += e->window_tokens[k];
    for (size_t i = 0; i < e->answer_count; i++) {
        const tn_answer *a = &e->answers[i];
        bool bounded = e->score_kind == TN_SCORE_PROBABILITY ? a->score <= 1.0001f : e->score_kind == TN_SCORE_OTHER;
        if (!isfinite(a->score) || a->score < 0 || !bounded || a->end < a->begin || a->end_char < a->begin_char) return false;
        if (i > 0 && a->score > e->answers[i - 1].score) return false;
    }
    return tokens == e->tokens;
}

/* Ascending terms inside the vocabulary, each with a weight. */
static bool terms_hold(const tn_event *e)
{
    for (size_t i = 0; i < e->active; i++) {
        if (!isfinite(e->values[i]) || !(e->values[i] > 0) || e->indices[i] >= e->dimensions) return false;
        if (i > 0 && e->indices[i] <= e->indices[i - 1]) return false;
    }
    return true;
}

static bool vectors_hold(const tn_event *e)
{
    for (size_t i = 0; i < e->vectors * e->dimensions; i++)
        if (!isfinite(e->embedding[i])) return false;
    return e->vectors <= e->tokens;
}

/* The answers themselves were looked at as they came; here is the verdict. */
static enum tn_status check_scores(struct tn_suite *s)
{
    struct tn_check *c = tn_suite_check(s, "scores.hold", TN_LEVEL_LOADS,
                                        "every text is answered; scores are finite, in order, and what their kind says", NULL);
    if (!c) return tn_suite_no_memory(s);
    tn_check_measure(c, "texts", (double)s->base.count);
    if (s->base.failure) tn_check_fail(c, "the request failed: %s", s->base.message);
    else if (s->base.failed) tn_check_fail(c, "%zu texts failed: %s", s->base.failed, s->base.message);
    else if (s->base.disorder) tn_check_fail(c, "answer %zu does not hold", s->base.disorder - 1);
    return TN_OK;
}

/* ---- the table -------------------------------------------------------------------------------------------------------- */

static tn_suite_check_fn *const embedding_checks[] = {
    tn_check_vectors, tn_check_company, tn_check_lengths, tn_check_prompts, tn_check_cancel, tn_check_stages, tn_check_golden,
    tn_check_sessions, /* the last: it ends the first session */
    NULL,
};
static tn_suite_check_fn *const head_checks[] = {check_scores, tn_check_company, tn_check_cancel, tn_check_sessions, NULL};

static const struct tn_suite_kind kinds[] = {
    {"embedding.dense", TN_SUITE_EMBEDDING, true, start_embedding, width_of_embedding, row_of_embedding, NULL, embedding_checks, NULL},
    {"embedding.multi", "embedding.multi/1", false, start_multi, width_of_embedding, row_of_vectors, vectors_hold, head_checks, NULL},
    {"embedding.sparse", "embedding.sparse/1", false, start_sparse, width_of_embedding, row_of_terms, terms_hold, head_checks, NULL},
    {"classify.text", "classify.text/1", false, start_classify, width_of_head, row_of_logits, labels_hold, head_checks, NULL},
    {"question-answer", "question-answer/1", false, start_answer, width_of_head, row_of_logits, answers_hold, head_checks, "?"},
    {"rerank", "rerank/1", false, start_rerank, width_of_head, row_of_logits, score_holds, head_checks, NULL},
    {"fill-mask", "fill-mask/1", false, start_fill, width_of_fill, row_of_fill, fills_hold, head_checks, NULL},
    {"tag", "tag/1", false, start_tag, width_of_head, row_of_logits, tags_hold, head_checks, NULL},
};

const struct tn_suite_kind *tn_suite_kind_of(const struct tn_task *task)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (tn_str_is(tn_str_of(task->name), kinds[i].task)) return &kinds[i];
    return NULL;
}
