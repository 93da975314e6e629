/*
 * The suite by task: how its texts become a request, which numbers of an answer are compared, and which checks apply. The
 * checks know neither; they ask for texts and compare rows of numbers.
 *
 * What a task answers with something else than a vector per text is compared by its logits: labels and spans follow from
 * them. Rows per token are added up by column: equal sums of equal order are what equal rows give.
 */
#include "qualify/suite.h"

#include <math.h>

/* What documents are ranked by, and a ranking held against. */
static const char query[] = "Seven different words stand in this line";

/* ---- requests --------------------------------------------------------------------------------------------------------- */

static enum tn_status start_embedding(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    return tn_embed_start(session, request, out, err);
}

static tn_truncation truncation_of(const tn_embed_request *request)
{
    return request->truncate == TN_NO ? TN_TRUNCATE_NO : TN_TRUNCATE_AUTO;
}

static enum tn_status start_classify(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    tn_classify_request r = TN_INIT(tn_classify_request);
    r.texts = request->texts;
    r.count = request->count;
    r.batch = request->batch;
    r.truncation = truncation_of(request);
    return tn_classify_start(session, &r, out, err);
}

static enum tn_status start_rerank(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    tn_rerank_request r = TN_INIT(tn_rerank_request);
    r.query = (tn_string){query, sizeof(query) - 1};
    r.documents = request->texts;
    r.count = request->count;
    r.batch = request->batch;
    r.truncation = truncation_of(request);
    return tn_rerank_start(session, &r, out, err);
}

static enum tn_status start_tag(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    tn_tag_request r = TN_INIT(tn_tag_request);
    r.texts = request->texts;
    r.count = request->count;
    r.batch = request->batch;
    r.truncation = truncation_of(request);
    r.want_logits = true;
    r.aggregation = TN_AGGREGATE_SIMPLE;
    return tn_tag_start(session, &r, out, err);
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
    {"embedding.dense", TN_SUITE_EMBEDDING, true, start_embedding, width_of_embedding, row_of_embedding, NULL, embedding_checks},
    {"classify.text", "classify.text/1", false, start_classify, width_of_head, row_of_logits, labels_hold, head_checks},
    {"rerank", "rerank/1", false, start_rerank, width_of_head, row_of_logits, score_holds, head_checks},
    {"tag", "tag/1", false, start_tag, width_of_head, row_of_logits, tags_hold, head_checks},
};

const struct tn_suite_kind *tn_suite_kind_of(const struct tn_task *task)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (tn_str_is(tn_str_of(task->name), kinds[i].task)) return &kinds[i];
    return NULL;
}
