/*
 * Tasks whose recipes keep work between steps, each by 16 executions at once on one session: windows of long contexts, masks
 * that are asked about, terms and vectors that are kept. Every execution equals one alone; the session goes away while some
 * are still read.
 */
#include "heads_util.h"

#include "base/os_thread.h"

enum { EXECUTIONS = 16, ITEMS = 8, ROUNDS = 2 };

struct task {
    const char *package, *name, *member, *more; /* `more`: of the request, each with a comma before it */
};

static const struct task tasks[] = {
    {"answers/bert", "question-answer", "contexts", ", \"question\": \"who?\", \"top_k\": 4, \"no_answer\": true, \"max_tokens\": 24, \"stride\": 5, \"want_logits\": true"},
    {"heads/bert_masks", "fill-mask", "texts", ", \"top_k\": 3, \"want_logits\": true"},
    {"vectors/sparse_bert", "embedding.sparse", "texts", ""},
    {"vectors/multi_bert", "embedding.multi", "texts", ", \"role\": \"query\""},
    {"vectors/multi_bert_plain", "embedding.multi", "texts", ", \"role\": \"document\""},
};

#define LONG "the people [MASK] of the world make water and words for all of them in time as they were there "

static const char *const items[ITEMS] = {"a [MASK]", "water and words [MASK] for all of them", "there were 42 [MASK] people; and more [MASK] water",
                                         LONG, "zq \xC3\xA9t\xC3\xA9 [MASK]", LONG LONG LONG, "[MASK][MASK]", LONG LONG LONG LONG LONG LONG};

/* ---- results as one number per item --------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001B3u;
    return h;
}

static uint64_t mix_answers(uint64_t h, const tn_event *e)
{
    for (size_t i = 0; i < e->answer_count; i++) {
        const tn_answer *a = &e->answers[i];
        size_t places[] = {a->begin, a->end, a->begin_char, a->end_char, a->none};
        h = mix(h, places, sizeof(places));
        h = mix(h, &a->score, sizeof(a->score));
        h = mix(h, a->text.data, a->text.length);
    }
    return mix(h, e->window_tokens, e->window_count * sizeof(*e->window_tokens));
}

static uint64_t mix_masks(uint64_t h, const tn_event *e)
{
    for (size_t i = 0; i < e->mask_count; i++) {
        h = mix(h, &e->masks[i].position, sizeof(e->masks[i].position));
        for (size_t k = 0; k < e->masks[i].fill_count; k++) {
            const tn_fill *f = &e->masks[i].fills[k];
            h = mix(h, &f->id, sizeof(f->id));
            h = mix(h, &f->score, sizeof(f->score));
            h = mix(h, f->sequence.data, f->sequence.length);
        }
    }
    return h;
}

static uint64_t digest(const tn_event *e)
{
    size_t facts[] = {(size_t)e->status, e->tokens, e->logit_count, e->mask_count, e->vectors, e->active, e->answer_count, e->window_count};
    uint64_t h = mix(0xCBF29CE484222325u, facts, sizeof(facts));
    h = mix(h, e->logits, e->logit_count * sizeof(*e->logits));
    h = mix(h, e->embedding, e->vectors * e->dimensions * sizeof(*e->embedding));
    h = mix(h, e->token_ids, e->vectors * sizeof(*e->token_ids));
    h = mix(h, e->indices, e->active * sizeof(*e->indices));
    h = mix(h, e->values, e->active * sizeof(*e->values));
    return mix_masks(mix_answers(h, e), e);
}

/* ---- requests ------------------------------------------------------------------------------------------------------------- */

/* Items [first, first + count) in `batch` at a time; 0: as the task chooses. */
static tn_execution *start(tn_session *session, const struct task *t, size_t first, size_t count, unsigned batch, tn_error *err)
{
    char json[4096];
    tn_execution *x = NULL;
    size_t n = (size_t)snprintf(json, sizeof(json), "{\"%s\": [", t->member);
    for (size_t i = 0; i < count; i++) n += (size_t)snprintf(json + n, sizeof(json) - n, "%s\"%s\"", i ? ", " : "", items[first + i]);
    n += (size_t)snprintf(json + n, sizeof(json) - n, "]%s", t->more);
    if (batch) n += (size_t)snprintf(json + n, sizeof(json) - n, ", \"batch\": %u", batch);
    n += (size_t)snprintf(json + n, sizeof(json) - n, "}");
    return tn_request_start(session, json, n, &x, err) ? NULL : x;
}

struct worker {
    tn_session *session;
    const struct task *task;
    const uint64_t *expected; /* [ITEMS] */
    tn_execution *last;
    unsigned number, wrong;
    struct tn_thread thread;
};

static unsigned differing(tn_execution *x, const uint64_t *expected, size_t count, tn_error *err)
{
    tn_event events[ITEMS] = {{0}};
    unsigned wrong = 0;
    if (!x || api_collect(x, events, count, err)) return 1;
    for (size_t i = 0; i < count; i++) wrong += digest(&events[i]) != expected[i];
    return wrong;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    tn_error *err = tn_error_new();
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t first = (w->number + round) % 3 == 2 ? w->number % ITEMS : 0, count = first ? 1 : ITEMS;
        tn_execution *x = start(w->session, w->task, first, count, (w->number + round) % 5, err);
        w->wrong += differing(x, w->expected + first, count, err);
        tn_execution_free(x);
    }
    w->last = start(w->session, w->task, 0, ITEMS, w->number % 4, err);
    tn_error_free(err);
    return NULL;
}

static void *read_last(void *arg)
{
    struct worker *w = arg;
    tn_document *d = NULL;
    tn_error *err = tn_error_new();
    w->wrong += differing(w->last, w->expected, ITEMS, err);
    w->wrong += tn_execution_drain(w->last, UINT32_MAX, err) != TN_OK || tn_execution_result(w->last, &d, err) != TN_OK;
    tn_document_free(d);
    tn_execution_free(w->last);
    tn_error_free(err);
    return NULL;
}

static bool alone(struct api *a, tn_session *session, const struct task *t, uint64_t expected[ITEMS])
{
    for (size_t i = 0; i < ITEMS; i++) {
        tn_event e = {0};
        tn_execution *x = start(session, t, i, 1, 0, a->err);
        if (!x || api_collect(x, &e, 1, a->err) || e.status || e.tokens == 0) {
            test_fail(__FILE__, __LINE__, "%s item %zu: %s", t->name, i, tn_error_message(a->err));
            tn_execution_free(x);
            return false;
        }
        expected[i] = digest(&e);
        tn_execution_free(x);
    }
    return expected[0] != expected[1];
}

static void run_task(const struct task *t)
{
    static struct worker w[EXECUTIONS];
    uint64_t expected[ITEMS];
    char path[120];
    struct api a;
    REQUIRE(api_begin(&a, 2));
    snprintf(path, sizeof(path), "golden/%s", t->package);
    tn_session *session = heads_session(&a, test_path(path), t->name);
    REQUIRE(session && alone(&a, session, t, expected));
    for (unsigned i = 0; i < EXECUTIONS; i++) {
        w[i] = (struct worker){.session = session, .task = t, .expected = expected, .number = i};
        REQUIRE(tn_thread_start(&w[i].thread, work, &w[i]));
    }
    for (int i = 0; i < EXECUTIONS; i++) tn_thread_join(&w[i].thread);
    for (int i = 0; i < EXECUTIONS; i++) REQUIRE(tn_thread_start(&w[i].thread, read_last, &w[i]));
    tn_session_free(session);
    for (int i = 0; i < EXECUTIONS; i++) {
        tn_thread_join(&w[i].thread);
        if (w[i].wrong) test_fail(__FILE__, __LINE__, "%s: execution %d: %u differ", t->name, i, w[i].wrong);
    }
    api_end(&a);
}

TEST(answers_of_many_executions)
{
    run_task(&tasks[0]);
}

TEST(masks_of_many_executions)
{
    run_task(&tasks[1]);
}

TEST(sparse_vectors_of_many_executions)
{
    run_task(&tasks[2]);
}

TEST(several_vectors_of_many_executions)
{
    run_task(&tasks[3]);
    run_task(&tasks[4]);
}
