/*
 * Classification and reranking over the public interface against transformers' pipeline and CrossEncoder: every package
 * of tests/golden/heads. Logits within 2e-5 max(1, max|x|); labels, orders and token counts exact.
 */
#include "heads_util.h"

#include <dirent.h>

#define LOGIT_TOLERANCE 2e-5
/* A probability moves by at most a quarter of what its logit moves by. */
#define SCORE_TOLERANCE 1e-5

static tn_truncation truncation_of(struct tn_json v)
{
    struct tn_str s;
    if (!tn_json_str(v, &s)) return TN_TRUNCATE_AUTO;
    return tn_str_is(s, "only_first") ? TN_TRUNCATE_ONLY_FIRST : TN_TRUNCATE_ONLY_SECOND;
}

static tn_side side_of(struct tn_json v)
{
    struct tn_str s;
    if (!tn_json_str(v, &s)) return TN_SIDE_AUTO;
    return tn_str_is(s, "left") ? TN_SIDE_LEFT : TN_SIDE_RIGHT;
}

/* ---- classification ------------------------------------------------------------------------------------------------------ */

static void compare_labels(const char *name, size_t i, struct tn_json expected, const tn_event *e)
{
    size_t k = 0;
    if (tn_json_count(expected) != e->label_count) {
        test_fail(__FILE__, __LINE__, "%s case %zu: %zu labels, expected %zu", name, i, e->label_count, tn_json_count(expected));
        return;
    }
    for (struct tn_json v = tn_json_first(expected); v.doc; v = tn_json_next(v), k++) {
        struct tn_str label = {"", 0};
        double score = NAN;
        tn_json_str(tn_json_get(v, "label"), &label);
        tn_json_f64(tn_json_get(v, "score"), &score);
        if (!tn_str_eq(label, (struct tn_str){e->labels[k].name.data, e->labels[k].name.length}) ||
            !(fabs((double)e->labels[k].score - score) <= SCORE_TOLERANCE * fmax(1, fabs(score)))) {
            test_fail(__FILE__, __LINE__, "%s case %zu: label %zu is %.*s with %.9g, expected %.*s with %.9g", name, i, k,
                      (int)e->labels[k].name.length, e->labels[k].name.data, (double)e->labels[k].score, (int)label.n, label.s, score);
        }
    }
}

static void compare_case(const char *name, size_t i, struct tn_json v, const tn_event *e)
{
    uint64_t total = 0;
    if (tn_json_present(tn_json_get(v, "error"))) {
        if (e->status != TN_INPUT_TOO_LONG) test_fail(__FILE__, __LINE__, "%s case %zu: %s", name, i, tn_status_name(e->status));
        return;
    }
    if (e->status) {
        test_fail(__FILE__, __LINE__, "%s case %zu: %s", name, i, tn_status_name(e->status));
        return;
    }
    tn_json_u64(tn_json_get(v, "tokens_untruncated"), &total);
    size_t tokens = tn_json_count(tn_json_get(v, "ids"));
    if (e->tokens != tokens || e->tokens_total != total || e->truncated != (tokens < total)) {
        test_fail(__FILE__, __LINE__, "%s case %zu: %zu of %zu tokens, expected %zu of %zu", name, i, e->tokens, e->tokens_total,
                  tokens, (size_t)total);
    }
    heads_compare_row(name, i, tn_json_get(v, "logits"), e->logits, e->logit_count, LOGIT_TOLERANCE);
}

static tn_classify_request request_of(struct tn_json v, tn_string *text, tn_string *pair)
{
    tn_classify_request r = TN_INIT(tn_classify_request);
    *text = heads_string(tn_json_get(v, "text"));
    *pair = heads_string(tn_json_get(v, "pair"));
    r.texts = text;
    r.pairs = pair;
    r.count = 1;
    r.role = ""; /* the pipeline knows no prompts */
    r.truncation = truncation_of(tn_json_get(v, "truncation"));
    r.side = side_of(tn_json_get(v, "side"));
    return r;
}

static void classify(struct api *a, const char *name, tn_session *session, struct tn_json cases)
{
    size_t i = 0;
    for (struct tn_json v = tn_json_first(cases); v.doc; v = tn_json_next(v), i++) {
        tn_string text, pair;
        tn_event e;
        tn_classify_request r = request_of(v, &text, &pair);
        tn_execution *x;
        r.top_k = 1000;
        x = heads_classify(a, session, &r, &e, 1);
        compare_case(name, i, v, &e);
        if (tn_json_present(tn_json_get(v, "all"))) compare_labels(name, i, tn_json_get(v, "all"), &e);
        tn_execution_free(x);
        if (!tn_json_present(tn_json_get(v, "best"))) continue;
        r.top_k = 1;
        x = heads_classify(a, session, &r, &e, 1);
        compare_labels(name, i, tn_json_get(v, "best"), &e);
        tn_execution_free(x);
    }
}

/* ---- reranking ------------------------------------------------------------------------------------------------------------- */

enum { MOST_DOCUMENTS = 16 };

static size_t read_documents(struct tn_json list, tn_string *out)
{
    size_t n = 0;
    for (struct tn_json v = tn_json_first(list); v.doc && n < MOST_DOCUMENTS; v = tn_json_next(v)) out[n++] = heads_string(v);
    return n;
}

static void compare_rank(const char *name, struct tn_json v, const tn_event *events, size_t count)
{
    struct tn_json order = tn_json_get(v, "order"), scores = tn_json_get(v, "scores"), logits = tn_json_get(v, "logits");
    for (size_t k = 0; k < count; k++) {
        uint64_t expected = events[k].index;
        double score = NAN;
        if (tn_json_present(order)) tn_json_u64(tn_json_at(order, k), &expected);
        if (events[k].index != expected) test_fail(__FILE__, __LINE__, "%s place %zu: document %zu, expected %zu", name, k, events[k].index, (size_t)expected);
        heads_compare_row(name, events[k].index, tn_json_at(logits, events[k].index), events[k].logits, events[k].logit_count, LOGIT_TOLERANCE);
        if (k > 0) CHECK(events[k].score < events[k - 1].score || (events[k].score == events[k - 1].score && events[k].index > events[k - 1].index));
        if (!tn_json_f64(tn_json_at(scores, events[k].index), &score)) continue;
        CHECK_NEAR(events[k].score, score, LOGIT_TOLERANCE * fmax(1, fabs(score)));
    }
}

static void rank(struct api *a, const char *name, tn_session *session, struct tn_json cases)
{
    for (struct tn_json v = tn_json_first(cases); v.doc; v = tn_json_next(v)) {
        tn_string documents[MOST_DOCUMENTS];
        tn_event events[MOST_DOCUMENTS];
        struct tn_str activation = {"", 0};
        tn_rerank_request r = TN_INIT(tn_rerank_request);
        r.query = heads_string(tn_json_get(v, "query"));
        r.documents = documents;
        r.count = read_documents(tn_json_get(v, "documents"), documents);
        tn_execution *x = heads_rerank(a, session, &r, events, MOST_DOCUMENTS);
        compare_rank(name, v, events, r.count);
        tn_json_str(tn_json_get(v, "activation"), &activation);
        tn_score_kind kind = tn_str_is(activation, "Sigmoid") || events[0].logit_count == 2 ? TN_SCORE_PROBABILITY
                             : tn_str_is(activation, "Identity")                            ? TN_SCORE_LOGIT
                                                                                            : TN_SCORE_OTHER;
        CHECK_STR(tn_score_kind_name(events[0].score_kind), tn_score_kind_name(kind));
        tn_execution_free(x);
    }
}

/* Two outputs: the score is one of theirs against the other, as a probability and as log-odds. */
static void rank_two(struct api *a, tn_session *session, struct tn_json v)
{
    tn_string documents[MOST_DOCUMENTS];
    tn_event events[MOST_DOCUMENTS];
    for (int choice = TN_SCORES_LOGIT; choice <= TN_SCORES_PROBABILITY; choice++) {
        tn_rerank_request r = TN_INIT(tn_rerank_request);
        r.query = heads_string(tn_json_get(v, "query"));
        r.documents = documents;
        r.count = read_documents(tn_json_get(v, "documents"), documents);
        r.scores = (tn_score_choice)choice;
        tn_execution *x = heads_rerank(a, session, &r, events, MOST_DOCUMENTS);
        for (size_t k = 0; k < r.count; k++) {
            double odds = (double)events[k].logits[1] - (double)events[k].logits[0];
            CHECK_NEAR(events[k].score, choice == TN_SCORES_LOGIT ? odds : 1 / (1 + exp(-odds)), 1e-6 * fmax(1, fabs(odds)));
        }
        tn_execution_free(x);
    }
}

/* ---- tagging --------------------------------------------------------------------------------------------------------------- */

static void compare_tags(const char *name, size_t i, struct tn_json expected, const tn_event *e)
{
    size_t k = 0;
    if (tn_json_count(expected) != e->tag_count) {
        test_fail(__FILE__, __LINE__, "%s case %zu: %zu tags, expected %zu", name, i, e->tag_count, tn_json_count(expected));
        return;
    }
    for (struct tn_json v = tn_json_first(expected); v.doc; v = tn_json_next(v), k++) {
        const tn_tag *t = &e->tags[k];
        struct tn_str label = {"", 0};
        double score = NAN;
        uint64_t begin = 0, end = 0, token = t->token;
        tn_json_str(tn_json_get(v, "label"), &label);
        tn_json_f64(tn_json_get(v, "score"), &score);
        tn_json_u64(tn_json_get(v, "start"), &begin);
        tn_json_u64(tn_json_get(v, "end"), &end);
        tn_json_u64(tn_json_get(v, "token"), &token);
        if (!tn_str_eq(label, (struct tn_str){t->label.data, t->label.length}) || t->begin_char != begin || t->end_char != end ||
            t->token != token || !(fabs((double)t->score - score) <= SCORE_TOLERANCE)) {
            test_fail(__FILE__, __LINE__, "%s case %zu: tag %zu is %.*s %zu..%zu (token %zu) with %.9g, expected %.*s %zu..%zu (token %zu) with %.9g",
                      name, i, k, (int)t->label.length, t->label.data, t->begin_char, t->end_char, t->token, (double)t->score,
                      (int)label.n, label.s, (size_t)begin, (size_t)end, (size_t)token, score);
        }
    }
}

static void tag_case(struct api *a, const char *name, tn_session *session, size_t i, struct tn_json v)
{
    static const char *const names[] = {"none", "simple", "first", "average", "max"};
    tn_string text = heads_string(tn_json_get(v, "text"));
    struct tn_json rows = tn_json_get(v, "logits");
    for (size_t n = 0; n < 5; n++) {
        tn_tag_request r = TN_INIT(tn_tag_request);
        tn_execution *x = NULL;
        tn_event e = {0};
        r.texts = &text;
        r.count = 1;
        r.aggregation = (tn_aggregation)n;
        r.want_logits = true;
        CHECK_INT(tn_tag_start(session, &r, &x, a->err), TN_OK);
        if (!x) return;
        heads_collect(a, x, &e, 1, TN_OK);
        compare_tags(name, i, tn_json_get(tn_json_get(v, "entities"), names[n]), &e);
        size_t width = tn_json_count(tn_json_first(rows)), row = 0;
        CHECK_INT(e.logit_count, tn_json_count(rows) * width);
        for (struct tn_json l = tn_json_first(rows); l.doc && e.logits; l = tn_json_next(l), row++)
            heads_compare_row(name, i, l, e.logits + row * width, width, LOGIT_TOLERANCE);
        tn_execution_free(x);
    }
}

static unsigned tag_file(struct api *a, const char *file, bool over_graph)
{
    struct heads_golden g;
    size_t i = 0;
    unsigned ran = 0;
    if (!strstr(file, "_tags") || !strstr(file, ".json") || !heads_open(&g, file)) return 0;
    if (!over_graph || texts_over_graph(file, g.path, g.path, sizeof(g.path))) {
        tn_session *session = heads_session(a, g.path, "tag");
        for (struct tn_json v = tn_json_first(tn_json_get(g.root, "cases")); session && v.doc; v = tn_json_next(v)) tag_case(a, file, session, i++, v);
        tn_session_free(session);
        ran = 1;
    }
    heads_close(&g);
    return ran;
}

TEST(every_tagger_equals_the_reference)
{
    struct api a;
    unsigned files = 0;
    REQUIRE(api_begin(&a, 2));
    DIR *dir = opendir(test_path("golden/heads"));
    REQUIRE(dir);
    for (struct dirent *d; (d = readdir(dir));) files += tag_file(&a, d->d_name, false);
    closedir(dir);
    CHECK(files >= 10);
    api_end(&a);
}

/* ---- all packages -------------------------------------------------------------------------------------------------------- */

static bool run_file(struct api *a, const char *file, bool over_graph)
{
    struct heads_golden g;
    struct tn_str head = {"", 0};
    if (!heads_open(&g, file)) return false;
    if (over_graph && !texts_over_graph(file, g.path, g.path, sizeof(g.path))) {
        heads_close(&g);
        return false;
    }
    tn_json_str(tn_json_get(g.root, "head"), &head);
    bool text = tn_str_is(head, "ForSequenceClassification");
    struct tn_json ranks = tn_json_get(g.root, "rank");
    tn_session *session = text ? heads_session(a, g.path, "classify.text") : NULL;
    if (session) classify(a, file, session, tn_json_get(g.root, "cases"));
    tn_session_free(session);
    session = text && ranks.doc && heads_serves(a, g.path, "rerank") ? heads_session(a, g.path, "rerank") : NULL;
    if (session) rank(a, file, session, ranks);
    if (session && tn_json_count(tn_json_get(g.root, "labels")) == 2) rank_two(a, session, tn_json_first(ranks));
    tn_session_free(session);
    heads_close(&g);
    return text;
}

TEST(every_classifier_equals_the_reference)
{
    struct api a;
    unsigned files = 0;
    REQUIRE(api_begin(&a, 2));
    DIR *dir = opendir(test_path("golden/heads"));
    REQUIRE(dir);
    for (struct dirent *d; (d = readdir(dir));) {
        if (strstr(d->d_name, ".json")) files += run_file(&a, d->d_name, false);
    }
    closedir(dir);
    CHECK(files >= 20);
    api_end(&a);
}

/* ---- the same with a graph in the place of weights ------------------------------------------------------------------- */

TEST(heads_over_a_graph_equal_the_reference)
{
    struct api a;
    unsigned texts = 0, tags = 0;
    REQUIRE(api_begin(&a, 2));
    DIR *dir = opendir(test_path("golden/heads"));
    REQUIRE(dir);
    for (struct dirent *d; (d = readdir(dir));) {
        if (strstr(d->d_name, ".json")) texts += run_file(&a, d->d_name, true);
        tags += tag_file(&a, d->d_name, true);
    }
    closedir(dir);
    CHECK_INT(texts, 3);
    CHECK_INT(tags, 2);
    api_end(&a);
}
