/*
 * What a caller can get wrong: NULL everywhere, option structs of other versions, handles freed in any order; and what
 * the runtime counts.
 */
#include "api_util.h"

#include "api/api.h"

#define NULLS(call) CHECK_INT((call), TN_INVALID_REQUEST)

TEST(null_is_refused_everywhere)
{
    struct api a;
    tn_package *package;
    tn_plan *plan;
    tn_session *session;
    tn_execution *x;
    tn_document *d;
    tn_tokenizer *tokenizer;
    tn_encoding *encoding;
    tn_cancel_token *token;
    tn_event event;
    tn_string text = api_string("a");
    tn_embed_request q = api_request(&text, 1);
    tn_encode_request e = TN_INIT(tn_encode_request);
    tn_plan_options o = TN_INIT(tn_plan_options);
    o.task = "embedding.dense";
    REQUIRE(api_begin(&a, 1));
    NULLS(tn_runtime_new(NULL, NULL, a.err));
    NULLS(tn_doctor(NULL, &d, a.err));
    NULLS(tn_doctor(a.runtime, NULL, a.err));
    NULLS(tn_families(NULL, &d, a.err));
    NULLS(tn_families(a.runtime, NULL, a.err));
    NULLS(tn_tasks(NULL, &d, a.err));
    NULLS(tn_tasks(a.runtime, NULL, NULL));
    NULLS(tn_cancel_token_new(NULL, &token, a.err));
    NULLS(tn_cancel_token_new(a.runtime, NULL, a.err));
    NULLS(tn_package_open(NULL, "x", NULL, &package, a.err));
    NULLS(tn_package_open(a.runtime, NULL, NULL, &package, a.err));
    NULLS(tn_package_open(a.runtime, "x", NULL, NULL, a.err));
    package = api_open(&a, test_path("golden/packages/bert_options"));
    REQUIRE(package);
    NULLS(tn_package_inspect(NULL, &d, a.err));
    NULLS(tn_package_inspect(package, NULL, a.err));
    NULLS(tn_package_verify(NULL, NULL, a.err));
    NULLS(tn_assess(NULL, &o, NULL, &d, a.err));
    NULLS(tn_assess(package, &o, NULL, NULL, a.err));
    NULLS(tn_plan_new(NULL, &o, &plan, a.err));
    NULLS(tn_plan_new(package, &o, NULL, a.err));
    NULLS(tn_plan_new(package, NULL, &plan, a.err)); /* no task */
    CHECK(plan == NULL);
    NULLS(tn_plan_parse(NULL, "{}", 2, &plan, a.err));
    NULLS(tn_plan_parse(package, NULL, 2, &plan, a.err));
    NULLS(tn_plan_parse(package, "{}", 2, NULL, a.err));
    NULLS(tn_plan_json(NULL, &d, a.err));
    plan = api_plan(&a, package);
    REQUIRE(plan);
    NULLS(tn_plan_json(plan, NULL, a.err));
    NULLS(tn_session_load(NULL, NULL, &session, a.err));
    NULLS(tn_session_load(plan, NULL, NULL, a.err));
    session = api_load(&a, plan);
    REQUIRE(session);
    NULLS(tn_embed_start(NULL, &q, &x, a.err));
    NULLS(tn_embed_start(session, NULL, &x, a.err));
    NULLS(tn_embed_start(session, &q, NULL, a.err));
    REQUIRE(tn_embed_start(session, &q, &x, NULL) == TN_OK);
    NULLS(tn_execution_next(NULL, 0, &event, a.err));
    NULLS(tn_execution_next(x, 0, NULL, a.err));
    NULLS(tn_execution_drain(NULL, 0, a.err));
    NULLS(tn_execution_account(NULL, &d, a.err));
    NULLS(tn_execution_account(x, NULL, a.err));
    NULLS(tn_tokenizer_open(NULL, &tokenizer, a.err));
    NULLS(tn_tokenizer_open(package, NULL, a.err));
    REQUIRE(tn_tokenizer_open(package, &tokenizer, NULL) == TN_OK);
    NULLS(tn_tokenizer_encode(NULL, &e, &encoding, a.err));
    NULLS(tn_tokenizer_encode(tokenizer, NULL, &encoding, a.err));
    NULLS(tn_tokenizer_encode(tokenizer, &e, NULL, a.err));
    CHECK_INT(tn_encoding_tokens(NULL).count, 0);
    CHECK(tn_encoding_token(NULL, 0).data == NULL);
    CHECK_STR(tn_document_text(NULL, NULL), "");
    tn_runtime_memory(NULL, true, NULL);
    tn_execution_cancel(NULL);
    tn_cancel_token_request(NULL);
    tn_tokenizer_free(tokenizer);
    tn_execution_free(x);
    tn_session_free(session);
    tn_plan_free(plan);
    tn_package_free(package);
    tn_execution_free(NULL);
    tn_session_free(NULL);
    tn_plan_free(NULL);
    tn_package_free(NULL);
    tn_document_free(NULL);
    tn_encoding_free(NULL);
    tn_tokenizer_free(NULL);
    tn_cancel_token_free(NULL);
    tn_runtime_free(NULL);
    tn_error_free(NULL);
    api_end(&a);
}

TEST(an_error_that_is_null)
{
    CHECK_INT(tn_error_code(NULL), TN_OK);
    CHECK_STR(tn_error_message(NULL), "");
    CHECK_STR(tn_error_phase(NULL), "");
    CHECK_STR(tn_error_file(NULL), "");
    CHECK_STR(tn_error_element(NULL), "");
    CHECK_STR(tn_error_found(NULL), "");
    CHECK_STR(tn_error_expected(NULL), "");
    CHECK_STR(tn_error_remedy(NULL), "");
    CHECK(!tn_error_retryable(NULL));
    CHECK_INT(tn_error_item(NULL), -1);
    CHECK_INT(tn_error_finding_count(NULL), 0);
    CHECK_INT(tn_error_finding_code(NULL, 3), TN_OK);
    CHECK_STR(tn_error_finding_message(NULL, 3), "");
    CHECK_INT(tn_error_json(NULL, NULL, 0), 0);
    tn_error *err = tn_error_new();
    REQUIRE(err);
    CHECK_INT(tn_error_item(err), -1);
    CHECK_STR(tn_error_phase(err), "");
    tn_error_free(err);
}

TEST(an_error_as_json)
{
    struct api a;
    tn_package *package;
    char small[8], large[4096];
    REQUIRE(api_begin(&a, 1));
    CHECK(tn_package_open(a.runtime, "no/such/place", NULL, &package, a.err) != TN_OK);
    CHECK(package == NULL);
    size_t n = tn_error_json(a.err, NULL, 0);
    CHECK(n > 0 && n < sizeof(large));
    CHECK_INT(tn_error_json(a.err, small, sizeof(small)), n);
    CHECK_INT(tn_error_json(a.err, large, sizeof(large)), n);
    CHECK_INT(strlen(large), n);
    CHECK_CONTAINS(large, "\"code\":\"artifact_missing\"");
    CHECK_CONTAINS(large, "\"phase\":\"package\"");
    CHECK_INT(tn_error_json(a.err, large, n), n); /* one byte short */
    CHECK_INT(tn_error_json(a.err, large, n + 1), n);
    api_end(&a);
}

/* ---- option structs of other versions ---- */

TEST(struct_sizes)
{
    struct api a;
    tn_plan *plan;
    struct {
        tn_plan_options o;
        uint64_t later[2];
    } newer = {.o = TN_INIT(tn_plan_options)};
    REQUIRE(api_begin(&a, 1));
    tn_package *package = api_open(&a, test_path("golden/packages/bert_options"));
    REQUIRE(package);
    newer.o.task = "embedding.dense";
    newer.o.struct_size = sizeof(newer);
    CHECK_INT(tn_plan_new(package, &newer.o, &plan, a.err), TN_OK);
    tn_plan_free(plan);
    newer.later[1] = 1; /* an option that we do not know */
    CHECK_INT(tn_plan_new(package, &newer.o, &plan, a.err), TN_UNSUPPORTED_OPTION);
    newer.o.struct_size = offsetof(tn_plan_options, provider); /* a caller who knows no more than the task */
    newer.o.provider = "nobody";
    CHECK_INT(tn_plan_new(package, &newer.o, &plan, a.err), TN_OK);
    tn_plan_free(plan);
    newer.o.struct_size = 0;
    CHECK_INT(tn_plan_new(package, &newer.o, &plan, a.err), TN_INVALID_REQUEST);
    CHECK_STR(tn_error_element(a.err), "struct_size");
    newer.o.struct_size = (size_t)-1;
    CHECK_INT(tn_plan_new(package, &newer.o, &plan, a.err), TN_INVALID_REQUEST);
    tn_package_free(package);
    struct {
        tn_memory_info info;
        uint64_t guard;
    } m = {.guard = 77};
    m.info.struct_size = offsetof(tn_memory_info, peak_bytes);
    m.info.peak_bytes = 55;
    tn_runtime_memory(a.runtime, false, &m.info);
    CHECK(m.info.current_bytes > 0);
    CHECK_INT(m.info.peak_bytes, 55);
    m.info.struct_size = sizeof(m);
    tn_runtime_memory(a.runtime, false, &m.info);
    CHECK(m.info.peak_bytes >= m.info.current_bytes);
    CHECK_INT(m.guard, 77);
    api_end(&a);
}

TEST(runtime_options)
{
    tn_runtime *runtime;
    tn_error *err = tn_error_new();
    tn_runtime_options o = TN_INIT(tn_runtime_options);
    o.allocate = api_allocate;
    CHECK_INT(tn_runtime_new(&o, &runtime, err), TN_INVALID_REQUEST);
    CHECK_STR(tn_error_element(err), "release");
    o = TN_INIT(tn_runtime_options);
    o.threads = 5000;
    CHECK_INT(tn_runtime_new(&o, &runtime, err), TN_RESOURCE_LIMIT);
    o = TN_INIT(tn_runtime_options);
    o.memory_limit = 10;
    CHECK_INT(tn_runtime_new(&o, &runtime, err), TN_INSUFFICIENT_MEMORY);
    CHECK(runtime == NULL);
    CHECK_INT(tn_runtime_new(NULL, &runtime, err), TN_OK);
    tn_runtime_free(runtime);
    tn_limit limits[2] = {{"items", 2}, {"text_bytes", 5}};
    o = TN_INIT(tn_runtime_options);
    o.limits = limits;
    o.limit_count = 2;
    CHECK_INT(tn_runtime_new(&o, &runtime, err), TN_OK);
    tn_runtime_free(runtime);
    limits[1].name = "tex_bytes";
    CHECK_INT(tn_runtime_new(&o, &runtime, err), TN_INVALID_REQUEST);
    CHECK_STR(tn_error_found(err), "tex_bytes");
    limits[1].name = NULL;
    CHECK_INT(tn_runtime_new(&o, &runtime, err), TN_INVALID_REQUEST);
    o.limits = NULL;
    CHECK_INT(tn_runtime_new(&o, &runtime, err), TN_INVALID_REQUEST);
    tn_error_free(err);
}

TEST(limits_of_the_runtime_bind_requests)
{
    struct api a = {.err = tn_error_new()};
    tn_limit limits[2] = {{"items", 2}, {"text_bytes", 5}};
    tn_runtime_options o = TN_INIT(tn_runtime_options);
    tn_string texts[3] = {api_string("a"), api_string("a long text"), api_string("b")};
    tn_embed_request q = api_request(texts, 3);
    tn_execution *x;
    tn_event e;
    o.limits = limits;
    o.limit_count = 2;
    REQUIRE(tn_runtime_new(&o, &a.runtime, a.err) == TN_OK);
    tn_session *session = api_session(&a, test_path("golden/packages/bert_options"));
    REQUIRE(session);
    CHECK_INT(tn_embed_start(session, &q, &x, a.err), TN_RESOURCE_LIMIT);
    CHECK_STR(tn_error_expected(a.err), "at most 2");
    q.count = 2;
    REQUIRE(tn_embed_start(session, &q, &x, a.err) == TN_OK);
    REQUIRE(tn_execution_next(x, UINT32_MAX, &e, a.err) == TN_OK);
    CHECK_INT(e.status, TN_OK);
    REQUIRE(tn_execution_next(x, UINT32_MAX, &e, a.err) == TN_OK);
    CHECK_INT(e.status, TN_RESOURCE_LIMIT);
    tn_execution_free(x);
    tn_session_free(session);
    tn_runtime_free(a.runtime);
    tn_error_free(a.err);
}

/* ---- the order of freeing ---- */

struct handles {
    tn_runtime *runtime;
    tn_package *package;
    tn_plan *plan;
    tn_session *session;
    tn_execution *x;
    tn_document *document;
    tn_tokenizer *tokenizer;
    tn_encoding *encoding;
    tn_cancel_token *token;
};

static void free_one(struct handles *h, int which)
{
    switch (which) {
    case 0: tn_runtime_free(h->runtime); break;
    case 1: tn_package_free(h->package); break;
    case 2: tn_plan_free(h->plan); break;
    case 3: tn_session_free(h->session); break;
    case 4: tn_execution_free(h->x); break;
    case 5: tn_document_free(h->document); break;
    case 6: tn_tokenizer_free(h->tokenizer); break;
    case 7: tn_encoding_free(h->encoding); break;
    default: tn_cancel_token_free(h->token); break;
    }
}

enum { HANDLES = 9, ORDERS = 60 };

TEST(handles_may_be_freed_in_any_order)
{
    uint64_t seed = 3;
    for (int round = 0; round < ORDERS; round++) {
        struct api a;
        struct handles h;
        int order[HANDLES] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
        tn_string text = api_string("the people");
        tn_embed_request q = api_request(&text, 1);
        tn_encode_request e = TN_INIT(tn_encode_request);
        e.text = text;
        REQUIRE(api_begin(&a, 1 + round % 2));
        h.runtime = a.runtime;
        h.package = api_open(&a, test_path("golden/packages/bert_options"));
        REQUIRE(h.package);
        h.plan = api_plan(&a, h.package);
        h.session = api_load(&a, h.plan);
        REQUIRE(h.session);
        REQUIRE(tn_embed_start(h.session, &q, &h.x, a.err) == TN_OK);
        REQUIRE(tn_plan_json(h.plan, &h.document, a.err) == TN_OK);
        REQUIRE(tn_tokenizer_open(h.package, &h.tokenizer, a.err) == TN_OK);
        REQUIRE(tn_tokenizer_encode(h.tokenizer, &e, &h.encoding, a.err) == TN_OK);
        REQUIRE(tn_cancel_token_new(h.runtime, &h.token, a.err) == TN_OK);
        if (round % 3 == 0) CHECK_INT(api_collect(h.x, NULL, 0, a.err), TN_OK);
        for (int i = HANDLES - 1; i > 0; i--) {
            int k = (int)(test_random(&seed) % (uint64_t)(i + 1)), swap = order[i];
            order[i] = order[k];
            order[k] = swap;
        }
        for (int i = 0; i < HANDLES; i++) free_one(&h, order[i]);
        CHECK_INT(a.host.blocks, 0);
        CHECK_INT(a.host.bytes, 0);
        tn_error_free(a.err);
    }
}

/* ---- memory ---- */

TEST(fifty_times_load_run_unload)
{
    struct api a;
    tn_memory_info before = TN_INIT(tn_memory_info), after = TN_INIT(tn_memory_info);
    tn_string text = api_string("the people");
    tn_embed_request q = api_request(&text, 1);
    REQUIRE(api_begin(&a, 2));
    tn_package *package = api_open(&a, test_path("golden/packages/bert_mean_normalize"));
    tn_plan *plan = package ? api_plan(&a, package) : NULL;
    REQUIRE(plan);
    for (int i = 0; i < 51; i++) {
        tn_execution *x;
        tn_session *session = api_load(&a, plan);
        REQUIRE(session);
        REQUIRE(tn_embed_start(session, &q, &x, a.err) == TN_OK);
        CHECK_INT(api_collect(x, NULL, 0, a.err), TN_OK);
        if (i % 2) tn_session_free(session);
        tn_execution_free(x);
        if (i % 2 == 0) tn_session_free(session);
        tn_runtime_memory(a.runtime, false, i == 0 ? &before : &after); /* the pool came with the first */
        if (i == 0) continue;
        CHECK_INT(after.current_bytes, before.current_bytes);
        CHECK_INT(after.blocks, before.blocks);
    }
    tn_plan_free(plan);
    tn_package_free(package);
    api_end(&a);
}

TEST(the_estimate_is_near_the_peak)
{
    static const char *const packages[] = {"bert_odd_width", "mpnet_mean_normalize", "distilbert_cls", "bert_dense_chain",
                                           "roberta_mean_normalize", "modernbert_mean_normalize", "deberta_v2_mean_normalize"};
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
        struct api a;
        char path[256];
        tn_memory_info before = TN_INIT(tn_memory_info), after = TN_INIT(tn_memory_info);
        REQUIRE(api_begin(&a, 2));
        snprintf(path, sizeof(path), "golden/packages/%s", packages[i]);
        tn_package *package = api_open(&a, test_path(path));
        tn_plan *plan = package ? api_plan(&a, package) : NULL;
        REQUIRE(plan);
        tn_session *warm = api_load(&a, plan);
        tn_session_free(warm);
        tn_runtime_memory(a.runtime, true, &before);
        tn_session *session = api_load(&a, plan);
        REQUIRE(session);
        tn_runtime_memory(a.runtime, false, &after);
        double peak = (double)(after.peak_bytes - before.current_bytes), planned = (double)plan->row->memory.peak;
        if (!(fabs(peak - planned) <= 0.05 * planned)) {
            test_fail(__FILE__, __LINE__, "%s: planned %.0f bytes, the peak was %.0f", packages[i], planned, peak);
        }
        tn_session_free(session);
        tn_plan_free(plan);
        tn_package_free(package);
        api_end(&a);
    }
}

/* ---- cancel tokens ---- */

TEST(a_token_that_was_requested_stops_loading_and_verifying)
{
    struct api a;
    tn_cancel_token *token;
    tn_session *session;
    tn_load_options o = TN_INIT(tn_load_options);
    REQUIRE(api_begin(&a, 1));
    tn_package *package = api_open(&a, test_path("golden/packages/bert_options"));
    tn_plan *plan = package ? api_plan(&a, package) : NULL;
    REQUIRE(plan);
    REQUIRE(tn_cancel_token_new(a.runtime, &token, a.err) == TN_OK);
    o.cancel = token;
    REQUIRE(tn_session_load(plan, &o, &session, a.err) == TN_OK);
    tn_session_free(session);
    CHECK_INT(tn_package_verify(package, token, a.err), TN_OK);
    tn_cancel_token_request(token);
    CHECK_INT(tn_session_load(plan, &o, &session, a.err), TN_CANCELLED);
    CHECK(session == NULL);
    CHECK_INT(tn_package_verify(package, token, a.err), TN_CANCELLED);
    tn_cancel_token_free(token);
    tn_plan_free(plan);
    tn_package_free(package);
    api_end(&a);
}

static void count_progress(void *user, uint64_t done, uint64_t total)
{
    uint64_t *last = user;
    CHECK(done <= total);
    CHECK(done >= *last);
    *last = done;
}

TEST(progress_of_a_load)
{
    struct api a;
    tn_session *session;
    uint64_t last = 0;
    tn_load_options o = TN_INIT(tn_load_options);
    REQUIRE(api_begin(&a, 1));
    tn_package *package = api_open(&a, test_path("golden/packages/bert_options"));
    tn_plan *plan = package ? api_plan(&a, package) : NULL;
    REQUIRE(plan);
    o.progress = count_progress;
    o.progress_user = &last;
    REQUIRE(tn_session_load(plan, &o, &session, a.err) == TN_OK);
    CHECK(last > 0);
    tn_session_free(session);
    tn_plan_free(plan);
    tn_package_free(package);
    api_end(&a);
}
