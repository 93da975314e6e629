/*
 * Filling masks over the public interface against transformers' pipeline: every package of tests/golden/heads with a head over
 * the vocabulary. Logits within 2e-5 max(1, max|x|); tokens, texts, sequences and places exact. What is refused, and what
 * tied tensors may and may not be.
 */
#define _GNU_SOURCE
#include "api/api.h"
#include "heads_util.h"

#include <dirent.h>

#define LOGIT_TOLERANCE 2e-5
#define SCORE_TOLERANCE 1e-5
enum { MOST_TARGETS = 8 };

static tn_execution *fill(struct api *a, tn_session *session, const tn_fill_request *r, tn_event *events, size_t most)
{
    tn_execution *x = NULL;
    CHECK_INT(tn_fill_start(session, r, &x, a->err), TN_OK);
    if (x) heads_collect(a, x, events, most, TN_OK);
    return x;
}

/* ---- against the pipeline ------------------------------------------------------------------------------------------------ */

static bool same_text(struct tn_json v, tn_string found)
{
    struct tn_str s = {"", 0};
    return tn_json_str(v, &s) && tn_str_eq(s, (struct tn_str){found.data, found.length});
}

/* Predictions whose scores are equal within the tolerance may change places: the ids then are those of the group. */
static void compare_fill(const char *name, size_t i, size_t m, size_t k, struct tn_json v, const tn_fill *f)
{
    uint64_t id = UINT64_MAX;
    double score = NAN;
    tn_json_u64(tn_json_get(v, "token"), &id);
    tn_json_f64(tn_json_get(v, "score"), &score);
    if (f->id == id && fabs((double)f->score - score) <= SCORE_TOLERANCE && same_text(tn_json_get(v, "token_str"), f->token) &&
        same_text(tn_json_get(v, "sequence"), f->sequence)) {
        return;
    }
    struct tn_str token = {"", 0}, sequence = {"", 0};
    tn_json_str(tn_json_get(v, "token_str"), &token);
    tn_json_str(tn_json_get(v, "sequence"), &sequence);
    test_fail(__FILE__, __LINE__, "%s case %zu: mask %zu, place %zu is %zu \"%.*s\" in \"%.*s\" with %.9g, expected %zu \"%.*s\" in \"%.*s\" with %.9g",
              name, i, m, k, f->id, (int)f->token.length, f->token.data, (int)f->sequence.length, f->sequence.data, (double)f->score,
              (size_t)id, (int)token.n, token.s, (int)sequence.n, sequence.s, score);
}

static void compare_fills(const char *name, size_t i, struct tn_json masks, const tn_event *e)
{
    size_t m = 0;
    CHECK_INT(e->mask_count, tn_json_count(masks));
    for (struct tn_json v = tn_json_first(masks); v.doc && m < e->mask_count; v = tn_json_next(v), m++) {
        size_t k = 0;
        CHECK_INT(e->masks[m].fill_count, tn_json_count(v));
        for (struct tn_json f = tn_json_first(v); f.doc && k < e->masks[m].fill_count; f = tn_json_next(f), k++)
            compare_fill(name, i, m, k, f, &e->masks[m].fills[k]);
    }
}

/* The place of a mask is where its token stands in the text. */
static void compare_places(const char *name, size_t i, struct tn_json v, struct tn_str token, tn_string text, const tn_event *e)
{
    struct tn_json positions = tn_json_get(v, "positions");
    for (size_t m = 0; m < e->mask_count; m++) {
        const tn_mask *mask = &e->masks[m];
        uint64_t position = UINT64_MAX;
        tn_json_u64(tn_json_at(positions, m), &position);
        CHECK_INT(mask->position, position);
        bool inside = mask->end <= text.length && mask->end - mask->begin >= token.n;
        if (!inside || memcmp(text.data + mask->end - token.n, token.s, token.n) != 0)
            test_fail(__FILE__, __LINE__, "%s case %zu: mask %zu at bytes %zu..%zu", name, i, m, mask->begin, mask->end);
    }
}

static void with_targets(struct api *a, const char *name, tn_session *session, size_t i, struct tn_json list, tn_fill_request r)
{
    for (struct tn_json v = tn_json_first(list); v.doc; v = tn_json_next(v)) {
        tn_string targets[MOST_TARGETS];
        tn_event e = {0};
        size_t n = 0;
        for (struct tn_json t = tn_json_first(tn_json_get(v, "tokens")); t.doc && n < MOST_TARGETS; t = tn_json_next(t)) targets[n++] = heads_string(t);
        r.targets = targets;
        r.target_count = n;
        tn_execution *x = fill(a, session, &r, &e, 1);
        compare_fills(name, i, tn_json_get(v, "fills"), &e);
        tn_execution_free(x);
    }
}

static void one_case(struct api *a, const char *name, tn_session *session, size_t i, struct tn_json v, struct tn_str token)
{
    tn_fill_request r = TN_INIT(tn_fill_request);
    tn_string text = heads_string(tn_json_get(v, "text"));
    struct tn_json rows = tn_json_get(v, "logits");
    tn_event e = {0};
    r.texts = &text;
    r.count = 1;
    r.want_logits = true;
    tn_execution *x = fill(a, session, &r, &e, 1);
    if (tn_json_present(tn_json_get(v, "error"))) {
        CHECK_INT(e.status, TN_INVALID_REQUEST);
        CHECK_CONTAINS(tn_error_message(a->err), "holds no mask");
        tn_execution_free(x);
        return;
    }
    CHECK_INT(e.status, TN_OK);
    CHECK_INT(e.score_kind, TN_SCORE_PROBABILITY);
    CHECK_INT(e.tokens, tn_json_count(tn_json_get(v, "ids")));
    compare_fills(name, i, tn_json_get(v, "fills"), &e);
    compare_places(name, i, v, token, text, &e);
    size_t width = tn_json_count(tn_json_first(rows)), row = 0;
    CHECK_INT(e.logit_count, tn_json_count(rows) * width);
    for (struct tn_json l = tn_json_first(rows); l.doc && e.logits && row * width < e.logit_count; l = tn_json_next(l), row++)
        heads_compare_row(name, i, l, e.logits + row * width, width, LOGIT_TOLERANCE);
    tn_execution_free(x);
    r.top_k = 1;
    r.want_logits = false;
    x = fill(a, session, &r, &e, 1);
    compare_fills(name, i, tn_json_get(v, "best"), &e);
    CHECK(e.logits == NULL);
    tn_execution_free(x);
    r.top_k = 0;
    with_targets(a, name, session, i, tn_json_get(v, "targets"), r);
}

static unsigned fill_file(struct api *a, const char *file, bool over_graph)
{
    struct heads_golden g;
    struct tn_str token = {"", 0};
    size_t i = 0;
    if (!strstr(file, ".json") || !heads_open(&g, file)) return 0;
    tn_session *session = NULL;
    bool fills = tn_json_str(tn_json_get(g.root, "mask_token"), &token);
    if (fills && (!over_graph || texts_over_graph(file, g.path, g.path, sizeof(g.path)))) session = heads_session(a, g.path, "fill-mask");
    for (struct tn_json v = tn_json_first(tn_json_get(g.root, "cases")); session && v.doc; v = tn_json_next(v)) one_case(a, file, session, i++, v, token);
    unsigned ran = session != NULL;
    tn_session_free(session);
    heads_close(&g);
    return ran;
}

static unsigned fill_files(bool over_graph)
{
    struct api a;
    unsigned files = 0;
    if (!api_begin(&a, 2)) return 0;
    DIR *dir = opendir(test_path("golden/heads"));
    for (struct dirent *d; dir && (d = readdir(dir));) files += fill_file(&a, d->d_name, over_graph);
    if (dir) closedir(dir);
    api_end(&a);
    return files;
}

TEST(every_filler_equals_the_reference)
{
    CHECK(fill_files(false) >= 18);
}

TEST(fillers_over_a_graph_equal_the_reference)
{
    CHECK_INT(fill_files(true), 2);
}

/* ---- in company ---------------------------------------------------------------------------------------------------------- */

static const char *filler(void)
{
    return test_path("golden/heads/bert_masks");
}

static bool same_fills(const tn_event *a, const tn_event *b)
{
    if (a->mask_count != b->mask_count) return false;
    for (size_t m = 0; m < a->mask_count; m++) {
        if (a->masks[m].fill_count != b->masks[m].fill_count || a->masks[m].begin_char != b->masks[m].begin_char) return false;
        for (size_t k = 0; k < a->masks[m].fill_count; k++) {
            const tn_fill *x = &a->masks[m].fills[k], *y = &b->masks[m].fills[k];
            if (x->id != y->id || x->score != y->score || x->sequence.length != y->sequence.length) return false;
        }
    }
    return true;
}

/* Texts with no mask, one, and more than go through a head at once: alone and together, the same bits. */
TEST(company_changes_nothing)
{
    enum { TEXTS = 60 };
    static char text[TEXTS][256];
    static tn_event all[TEXTS];
    tn_string texts[TEXTS];
    struct api a;
    REQUIRE(api_begin(&a, 2));
    tn_session *session = heads_session(&a, filler(), "fill-mask");
    REQUIRE(session);
    for (size_t i = 0; i < TEXTS; i++) {
        size_t n = 0;
        for (size_t k = 0; k < i % 8; k++) n += (size_t)sprintf(text[i] + n, "%s [MASK] ", k % 2 ? "water" : "");
        n += (size_t)sprintf(text[i] + n, "words%zu", i);
        texts[i] = (tn_string){text[i], n};
    }
    tn_fill_request r = TN_INIT(tn_fill_request);
    r.texts = texts;
    r.count = TEXTS;
    tn_execution *x = fill(&a, session, &r, all, TEXTS);
    for (size_t i = 0; i < TEXTS; i++) {
        tn_event one = {0};
        tn_fill_request alone = r;
        alone.texts = &texts[i];
        alone.count = 1;
        CHECK_INT(all[i].status, i % 8 ? TN_OK : TN_INVALID_REQUEST);
        tn_execution *y = fill(&a, session, &alone, &one, 1);
        CHECK_INT(one.mask_count, i % 8);
        CHECK(same_fills(&one, &all[i]));
        tn_execution_free(y);
    }
    tn_execution_free(x);
    r.atomic = true;
    REQUIRE(tn_fill_start(session, &r, &x, a.err) == TN_OK);
    CHECK_INT(heads_collect(&a, x, all, TEXTS, TN_INVALID_REQUEST), 0);
    CHECK_INT(tn_error_item(a.err), 0);
    tn_execution_free(x);
    tn_session_free(session);
    api_end(&a);
}

/* ---- requests -------------------------------------------------------------------------------------------------------------- */

static void refused(struct api *a, tn_session *session, const tn_fill_request *r, const char *option)
{
    tn_execution *x = NULL;
    CHECK_INT(tn_fill_start(session, r, &x, a->err), TN_INVALID_REQUEST);
    CHECK_STR(tn_error_element(a->err), option);
    CHECK(x == NULL);
}

TEST(wrong_requests)
{
    struct api a;
    tn_event e = {0};
    REQUIRE(api_begin(&a, 1));
    tn_session *session = heads_session(&a, filler(), "fill-mask");
    REQUIRE(session);
    tn_string text = api_string("the [MASK] there"), targets[2] = {api_string("#"), api_string("no such token")};
    tn_fill_request good = TN_INIT(tn_fill_request), r;
    good.texts = &text;
    good.count = 1;
    r = good;
    r.scores = (tn_score_choice)7;
    refused(&a, session, &r, "scores");
    r = good;
    r.targets = targets;
    refused(&a, session, &r, "targets"); /* a list of none */
    r.target_count = 2;
    refused(&a, session, &r, "targets");
    CHECK_INT(tn_error_item(a.err), 1);
    r.targets = NULL;
    refused(&a, session, &r, "targets");
    r = good;
    r.side = (tn_side)9;
    refused(&a, session, &r, "side");
    r = good;
    r.scores = TN_SCORES_LOGIT;
    r.want_logits = true;
    tn_execution *x = fill(&a, session, &r, &e, 1);
    CHECK_INT(e.score_kind, TN_SCORE_LOGIT);
    for (size_t k = 0; k < e.masks[0].fill_count; k++) CHECK(e.masks[0].fills[k].score == e.logits[e.masks[0].fills[k].id]);
    tn_execution_free(x);
    tn_session_free(session);
    api_end(&a);
}

/* ---- other heads, tied tensors ---------------------------------------------------------------------------------------------- */

static void task_refused(struct api *a, const char *package, const char *task, const char *message, const char *evidence)
{
    tn_status st;
    tn_plan *plan = heads_plan(a, test_path(package), task, &st);
    if (plan || st != TN_TASK_HEAD_MISMATCH || !strstr(tn_error_message(a->err), message) || !strstr(tn_error_found(a->err), evidence))
        test_fail(__FILE__, __LINE__, "%s for %s: %s: %s; found %s", package, task, tn_status_name(st), tn_error_message(a->err), tn_error_found(a->err));
    tn_plan_free(plan);
}

TEST(heads_and_tasks)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    task_refused(&a, "golden/heads/bert_single", "fill-mask", "no head for masked tokens", "class BertForSequenceClassification");
    task_refused(&a, "golden/packages/bert_pool_mean", "fill-mask", "an encoder without a head", "class BertModel");
    task_refused(&a, "golden/heads/bert_masks", "classify.text", "a predictor of masked tokens", "class BertForMaskedLM");
    task_refused(&a, "golden/heads/bert_masks", "tag", "a predictor of masked tokens", "class BertForMaskedLM");
    api_end(&a);
}

/* A copy of a package whose configuration is edited by sed. */
static const char *edited(const char *package, const char *script)
{
    static char folder[512];
    char command[3072], source[480];
    snprintf(source, sizeof(source), "%s/golden/heads/%s", test_path(""), package);
    snprintf(folder, sizeof(folder), "%s/package", test_folder());
    snprintf(command, sizeof(command), "rm -rf '%s' && cp -R '%s' '%s' && sed -i '%s' '%s/config.json'", folder, source, folder, script, folder);
    if (system(command) != 0) test_skip("cp and sed do not work here");
    return folder;
}

static void plan_refused(struct api *a, const char *path, tn_status code, const char *tensor, const char *found)
{
    tn_status st;
    tn_plan *plan = heads_plan(a, path, "fill-mask", &st);
    const char *element = tn_error_element(a->err), *text = tn_error_found(a->err);
    if (plan || st != code || !element || strcmp(element, tensor) != 0 || (found && (!text || !strstr(text, found))))
        test_fail(__FILE__, __LINE__, "%s at %s: %s; found %s", tn_status_name(st), element ? element : "-", tn_error_message(a->err), text ? text : "-");
    tn_plan_free(plan);
}

/* tie_word_embeddings against what is there: nothing is made up, and nothing that is there is passed over. */
TEST(tied_decoders)
{
    struct api a;
    tn_session *session = NULL;
    tn_status st;
    REQUIRE(api_begin(&a, 1));
    /* false and absent */
    plan_refused(&a, edited("bert_masks", "s/\"tie_word_embeddings\": true/\"tie_word_embeddings\": false/"), TN_MISSING_TENSOR,
                 "cls.predictions.decoder.weight", "tie_word_embeddings is false");
    plan_refused(&a, edited("distilbert_masks", "s/\"tie_word_embeddings\": true/\"tie_word_embeddings\": false/"), TN_MISSING_TENSOR,
                 "vocab_projector.weight", "tie_word_embeddings is false");
    /* true and different: headers cannot tell, loading does */
    tn_plan *plan = heads_plan(&a, edited("bert_masks_untied", "s/\"tie_word_embeddings\": false/\"tie_word_embeddings\": true/"), "fill-mask", &st);
    REQUIRE(plan);
    CHECK_INT(tn_session_load(plan, NULL, &session, a.err), TN_DUPLICATE_TENSOR);
    CHECK(session == NULL);
    CHECK_STR(tn_error_phase(a.err), "load");
    CHECK_CONTAINS(tn_error_found(a.err), "cls.predictions.decoder");
    tn_plan_free(plan);
    /* a bias that the configuration does not have; the other of two heads */
    plan_refused(&a, edited("modernbert_masks", "s/\"decoder_bias\": true/\"decoder_bias\": false/"), TN_UNEXPECTED_TENSOR, "decoder.bias", NULL);
    plan_refused(&a, edited("deberta-v2_masks", "s/\"legacy\": true/\"legacy\": false/"), TN_TASK_HEAD_MISMATCH, "lm_predictions.lm_head.dense.weight", NULL);
    api_end(&a);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------------- */

TEST(allocations_fail_one_by_one)
{
    static const char request[] = "{\"texts\": [{\"id\": 1, \"text\": \"water [MASK] and [MASK]\"}, \"none\", \"[MASK]\"], \"top_k\": 3, "
                                  "\"targets\": [\"#\", \"na\", \".\"], \"want_logits\": true}";
    struct api a;
    REQUIRE(api_begin(&a, 1));
    tn_session *session = heads_session(&a, filler(), "fill-mask");
    REQUIRE(session);
    uint64_t before = tn_alloc_current(&a.runtime->alloc);
    bool hit = true;
    for (unsigned n = 1; hit && n < 20000; n++) {
        tn_execution *x = NULL;
        tn_document *result = NULL;
        tn_event e = {.kind = TN_EVENT_NONE};
        tn_alloc_fail(&a.runtime->alloc, n, n % 2);
        tn_status st = tn_request_start(session, request, strlen(request), &x, a.err);
        while (!st && e.kind != TN_EVENT_TERMINAL) st = tn_execution_next(x, UINT32_MAX, &e, a.err);
        if (!st) st = e.status;
        if (!st) st = tn_execution_drain(x, UINT32_MAX, a.err);
        if (!st) st = tn_execution_result(x, &result, a.err);
        hit = a.runtime->alloc.fail_at != 0 && a.runtime->alloc.calls >= a.runtime->alloc.fail_at;
        tn_alloc_fail(&a.runtime->alloc, 0, false);
        if (st != (hit ? TN_INSUFFICIENT_MEMORY : TN_OK)) test_fail(__FILE__, __LINE__, "allocation %u: %s: %s", n, tn_status_name(st), tn_error_message(a.err));
        tn_document_free(result);
        tn_execution_free(x);
        if (tn_alloc_current(&a.runtime->alloc) > before + 65536) test_fail(__FILE__, __LINE__, "allocation %u: memory stays", n);
    }
    CHECK(!hit);
    tn_session_free(session);
    api_end(&a);
}
