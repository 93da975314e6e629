/*
 * The public interface from several threads at once, with the native provider: one session, one tokenizer, one package,
 * and handles that go away while others are in use.
 */
#include "api_util.h"

#include "base/os_thread.h"

enum { THREADS = 4, ROUNDS = 12, TEXTS = 9, WIDTH = 32 };

struct worker {
    tn_runtime *runtime;
    tn_package *package;
    tn_plan *plan;
    tn_session *session;
    tn_tokenizer *tokenizer;
    const tn_string *texts;
    float (*expected)[WIDTH];
    uint64_t seed;
    unsigned wrong;
    tn_execution *last;
    struct tn_thread thread;
};

static void embed_once(struct worker *w, tn_error *err)
{
    tn_embed_request q = api_request(w->texts, TEXTS);
    tn_event events[TEXTS] = {{0}};
    tn_execution *x;
    q.batch = (unsigned)(test_random(&w->seed) % 5);
    if (tn_embed_start(w->session, &q, &x, err) || api_collect(x, events, TEXTS, err)) {
        w->wrong++;
        return;
    }
    for (size_t i = 0; i < TEXTS; i++) {
        w->wrong += events[i].dimensions != WIDTH || memcmp(events[i].embedding, w->expected[i], sizeof(w->expected[i])) != 0;
    }
    tn_execution_free(x);
}

static void tokenize_once(struct worker *w, tn_error *err)
{
    tn_encode_request r = TN_INIT(tn_encode_request);
    tn_encoding *e;
    r.text = w->texts[test_random(&w->seed) % TEXTS];
    w->wrong += tn_tokenizer_encode(w->tokenizer, &r, &e, err) != TN_OK || tn_encoding_tokens(e).count < 2;
    tn_encoding_free(e);
}

static void read_documents(struct worker *w, tn_error *err)
{
    tn_document *d;
    tn_decision decision;
    tn_plan_options o = TN_INIT(tn_plan_options);
    o.task = "embedding.dense";
    w->wrong += tn_package_inspect(w->package, &d, err) != TN_OK;
    tn_document_free(d);
    w->wrong += tn_assess(w->package, &o, &decision, &d, err) != TN_OK || decision != TN_ELIGIBLE;
    tn_document_free(d);
    w->wrong += tn_plan_json(w->plan, &d, err) != TN_OK;
    tn_document_free(d);
    w->wrong += tn_doctor(w->runtime, &d, err) != TN_OK;
    tn_document_free(d);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    tn_error *err = tn_error_new();
    for (int i = 0; i < ROUNDS; i++) {
        switch (test_random(&w->seed) % 4) {
        case 0: tokenize_once(w, err); break;
        case 1: read_documents(w, err); break;
        default: embed_once(w, err); break;
        }
    }
    tn_embed_request q = api_request(w->texts, TEXTS);
    w->wrong += tn_embed_start(w->session, &q, &w->last, err) != TN_OK;
    tn_error_free(err);
    return NULL;
}

static void *read_last(void *arg)
{
    struct worker *w = arg;
    tn_error *err = tn_error_new();
    if (w->last) w->wrong += api_collect(w->last, NULL, 0, err) != TN_OK;
    tn_execution_free(w->last);
    tn_error_free(err);
    return NULL;
}

TEST(threads_share_every_handle)
{
    static const char *const words[TEXTS] = {"", "the people", "of", "one with hello world", "this and that is it",
                                             "from at by", "query", "not in the world", "hello hello hello"};
    static struct worker w[THREADS];
    static float expected[TEXTS][WIDTH];
    struct api a;
    tn_string texts[TEXTS];
    tn_tokenizer *tokenizer;
    REQUIRE(api_begin(&a, 2));
    for (int i = 0; i < TEXTS; i++) texts[i] = api_string(words[i]);
    tn_package *package = api_open(&a, test_path("golden/packages/bert_mean_normalize"));
    tn_plan *plan = package ? api_plan(&a, package) : NULL;
    tn_session *session = plan ? api_load(&a, plan) : NULL;
    REQUIRE(session && tn_tokenizer_open(package, &tokenizer, a.err) == TN_OK);
    for (int i = 0; i < TEXTS; i++) {
        tn_embed_request q = api_request(&texts[i], 1);
        tn_event e = {0};
        tn_execution *x;
        REQUIRE(tn_embed_start(session, &q, &x, a.err) == TN_OK && api_collect(x, &e, 1, a.err) == TN_OK);
        REQUIRE(e.dimensions == WIDTH);
        memcpy(expected[i], e.embedding, sizeof(expected[i]));
        tn_execution_free(x);
    }
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){.runtime = a.runtime, .package = package, .plan = plan, .session = session,
                               .tokenizer = tokenizer, .texts = texts, .expected = expected, .seed = (uint64_t)i + 11};
        REQUIRE(tn_thread_start(&w[i].thread, work, &w[i]));
    }
    for (int i = 0; i < THREADS; i++) tn_thread_join(&w[i].thread);
    for (int i = 0; i < THREADS; i++) REQUIRE(tn_thread_start(&w[i].thread, read_last, &w[i]));
    tn_session_free(session);
    tn_tokenizer_free(tokenizer);
    tn_plan_free(plan);
    tn_package_free(package);
    for (int i = 0; i < THREADS; i++) {
        tn_thread_join(&w[i].thread);
        CHECK_INT(w[i].wrong, 0);
    }
    api_end(&a);
}

static void *request_later(void *arg)
{
    tn_execution *x = arg;
    for (int i = 0; i < 200; i++) tn_thread_yield();
    tn_execution_cancel(x);
    return NULL;
}

TEST(cancelling_from_another_thread_returns_memory)
{
    enum { COUNT = 20000 };
    struct api a;
    static tn_string texts[COUNT];
    tn_memory_info before = TN_INIT(tn_memory_info), after = TN_INIT(tn_memory_info);
    for (int i = 0; i < COUNT; i++) texts[i] = api_string("one with the people of this world and that");
    REQUIRE(api_begin(&a, 2));
    tn_session *session = api_session(&a, test_path("golden/packages/mpnet_mean_normalize"));
    REQUIRE(session);
    tn_runtime_memory(a.runtime, false, &before);
    for (int round = 0; round < 5; round++) {
        struct tn_thread thread;
        tn_embed_request q = api_request(texts, COUNT);
        tn_execution *x;
        REQUIRE(tn_embed_start(session, &q, &x, a.err) == TN_OK);
        REQUIRE(tn_thread_start(&thread, request_later, x));
        tn_status st = api_collect(x, NULL, 0, a.err);
        CHECK(st == TN_CANCELLED || st == TN_OK);
        tn_thread_join(&thread);
        CHECK_INT(tn_execution_drain(x, 10000, a.err), TN_OK);
        tn_execution_free(x);
        tn_runtime_memory(a.runtime, false, &after);
        CHECK_INT(after.current_bytes, before.current_bytes);
    }
    tn_session_free(session);
    api_end(&a);
}
