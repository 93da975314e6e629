/*
 * Question answering over the public interface against the pipeline of transformers 4.57.6: every package of
 * tests/golden/answers. Ids, windows, spans and texts exact, logits within 2e-5 max(1, max|x|), scores within 2e-5 of
 * themselves.
 */
#include "heads_util.h"

#include <dirent.h>

#define LOGIT_TOLERANCE 2e-5
#define SCORE_TOLERANCE 2e-5

enum { MOST_FAMILIES = 32 };

static unsigned number(struct tn_json options, const char *name)
{
    uint64_t n = 0;
    (void)tn_json_u64(tn_json_get(options, name), &n);
    return (unsigned)n;
}

/* The request of a case; the strings are the golden's. */
static tn_answer_request request_of(struct tn_json v, tn_string *context)
{
    struct tn_json options = tn_json_get(v, "options");
    tn_answer_request r = TN_INIT(tn_answer_request);
    bool value;
    *context = heads_string(tn_json_get(v, "context"));
    r.question = heads_string(tn_json_get(v, "question"));
    r.contexts = context;
    r.count = 1;
    r.top_k = number(options, "top_k");
    r.max_answer_tokens = number(options, "max_answer_len");
    r.max_tokens = number(options, "max_seq_len");
    r.stride_set = tn_json_present(tn_json_get(options, "doc_stride"));
    r.stride = number(options, "doc_stride");
    if (tn_json_bool(tn_json_get(options, "handle_impossible_answer"), &value)) r.no_answer = value ? TN_YES : TN_NO;
    if (tn_json_bool(tn_json_get(options, "align_to_words"), &value)) r.align_words = value ? TN_YES : TN_NO;
    r.want_logits = true;
    return r;
}

static void compare_windows(const char *name, size_t i, struct tn_json v, const tn_event *e)
{
    struct tn_json windows = tn_json_get(v, "windows"), logits = tn_json_get(v, "logits");
    size_t k = 0, all = 0;
    if (tn_json_count(windows) != e->window_count) {
        test_fail(__FILE__, __LINE__, "%s case %zu: %zu windows, expected %zu", name, i, e->window_count, tn_json_count(windows));
        return;
    }
    for (struct tn_json w = tn_json_first(windows); w.doc; w = tn_json_next(w), k++) {
        uint64_t tokens = 0;
        tn_json_u64(w, &tokens);
        if (e->window_tokens[k] != tokens)
            test_fail(__FILE__, __LINE__, "%s case %zu: window %zu has %zu tokens, expected %zu", name, i, k, e->window_tokens[k], (size_t)tokens);
        all += e->window_tokens[k];
    }
    CHECK_INT(e->tokens, all);
    CHECK_INT(e->logit_count, 2 * all);
    const float *row = e->logits;
    for (struct tn_json w = tn_json_first(logits); w.doc; w = tn_json_next(w))
        for (struct tn_json t = tn_json_first(w); t.doc; t = tn_json_next(t), row += 2) heads_compare_row(name, i, t, row, 2, LOGIT_TOLERANCE);
}

static void compare_answers(const char *name, size_t i, struct tn_json expected, const tn_event *e)
{
    size_t k = 0;
    if (tn_json_count(expected) != e->answer_count) {
        test_fail(__FILE__, __LINE__, "%s case %zu: %zu answers, expected %zu", name, i, e->answer_count, tn_json_count(expected));
        return;
    }
    for (struct tn_json v = tn_json_first(expected); v.doc; v = tn_json_next(v), k++) {
        const tn_answer *a = &e->answers[k];
        struct tn_str text = {"", 0};
        double score = NAN;
        uint64_t begin = 0, end = 0;
        tn_json_str(tn_json_get(v, "answer"), &text);
        tn_json_f64(tn_json_get(v, "score"), &score);
        tn_json_u64(tn_json_get(v, "start"), &begin);
        tn_json_u64(tn_json_get(v, "end"), &end);
        if (!tn_str_eq(text, (struct tn_str){a->text.data, a->text.length}) || a->begin_char != begin || a->end_char != end ||
            a->end - a->begin != text.n || !(fabs((double)a->score - score) <= SCORE_TOLERANCE * score)) {
            test_fail(__FILE__, __LINE__, "%s case %zu: answer %zu is %zu..%zu \"%.*s\" with %.9g, expected %zu..%zu \"%.*s\" with %.9g", name, i,
                      k, a->begin_char, a->end_char, (int)a->text.length, a->text.data, (double)a->score, (size_t)begin, (size_t)end,
                      (int)text.n, text.s, score);
        }
    }
}

static void answer_case(struct api *a, const char *name, tn_session *session, size_t i, struct tn_json v)
{
    tn_string context;
    tn_answer_request r = request_of(v, &context);
    tn_execution *x = NULL;
    tn_event e = {0};
    bool refused = tn_json_present(tn_json_get(v, "error"));
    REQUIRE(tn_answer_start(session, &r, &x, a->err) == TN_OK);
    CHECK_INT(heads_collect(a, x, &e, 1, TN_OK), 1);
    if (e.status != (refused ? TN_INPUT_TOO_LONG : TN_OK)) test_fail(__FILE__, __LINE__, "%s case %zu: %s", name, i, tn_status_name(e.status));
    if (!refused && !e.status) {
        compare_windows(name, i, v, &e);
        compare_answers(name, i, tn_json_get(v, "answers"), &e);
        CHECK_INT(e.score_kind, e.window_count > 1 ? TN_SCORE_OTHER : TN_SCORE_PROBABILITY);
        CHECK(!e.truncated);
        for (size_t k = 0; k < e.answer_count; k++)
            CHECK(e.answers[k].none ? e.answers[k].end == 0 : memcmp(e.answers[k].text.data, context.data + e.answers[k].begin, e.answers[k].text.length) == 0);
    }
    tn_execution_free(x);
}

/* The ids of a window as the package's own tokenizer makes them, where the context fits. */
static void compare_ids(struct api *a, tn_package *package, struct tn_json v)
{
    struct tn_json ids = tn_json_get(v, "ids");
    tn_tokenizer *tokenizer = NULL;
    tn_encoding *encoding = NULL;
    tn_encode_request q = TN_INIT(tn_encode_request);
    if (tn_json_count(ids) != 1) return;
    q.text = heads_string(tn_json_get(v, "question"));
    q.pair = heads_string(tn_json_get(v, "context"));
    REQUIRE(tn_tokenizer_open(package, &tokenizer, a->err) == TN_OK && tn_tokenizer_encode(tokenizer, &q, &encoding, a->err) == TN_OK);
    tn_tokens t = tn_encoding_tokens(encoding);
    size_t k = 0;
    CHECK_INT(t.count, tn_json_count(tn_json_first(ids)));
    for (struct tn_json w = tn_json_first(tn_json_first(ids)); w.doc && k < t.count; w = tn_json_next(w), k++) {
        uint64_t id = UINT64_MAX;
        tn_json_u64(w, &id);
        CHECK_INT(t.ids[k], id);
    }
    tn_encoding_free(encoding);
    tn_tokenizer_free(tokenizer);
}

static bool run_file(struct api *a, const char *file, char families[MOST_FAMILIES][32], size_t *family_count)
{
    struct heads_golden g;
    struct tn_str family = {"", 0};
    char path[128];
    size_t i = 0, k = 0;
    snprintf(path, sizeof(path), "../answers/%s", file);
    if (!heads_open(&g, path)) return false;
    tn_session *session = heads_session(a, g.path, "question-answer");
    tn_package *package = api_open(a, g.path);
    bool question_first = !strstr(file, "context_first");
    for (struct tn_json v = tn_json_first(tn_json_get(g.root, "cases")); session && v.doc; v = tn_json_next(v)) {
        answer_case(a, file, session, i++, v);
        if (question_first) compare_ids(a, package, v);
    }
    tn_json_str(tn_json_get(g.root, "family"), &family);
    while (k < *family_count && !tn_str_is(family, families[k])) k++;
    if (k == *family_count && k < MOST_FAMILIES) snprintf(families[(*family_count)++], 32, "%.*s", (int)family.n, family.s);
    tn_package_free(package);
    tn_session_free(session);
    heads_close(&g);
    return true;
}

TEST(every_package_answers_as_the_pipeline)
{
    struct api a;
    static char families[MOST_FAMILIES][32];
    size_t files = 0, family_count = 0;
    REQUIRE(api_begin(&a, 2));
    DIR *dir = opendir(test_path("golden/answers"));
    REQUIRE(dir);
    for (struct dirent *d; (d = readdir(dir));)
        if (strstr(d->d_name, ".json")) files += run_file(&a, d->d_name, families, &family_count);
    closedir(dir);
    CHECK(files >= 14);
    CHECK_INT(family_count, 8);
    api_end(&a);
}
