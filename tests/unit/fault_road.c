/*
 * The whole road with a host that runs out of memory: for every n the n-th allocation fails, alone or with all that
 * follow. The call that meets it says insufficient_memory and gives everything back, and the same call works when it is
 * made again.
 */
#include "fault_host.h"

enum { MOST = 400000 };

struct road {
    struct host host;
    tn_error *err;
    tn_runtime *runtime;
    tn_package *package;
    tn_plan *plan;
    tn_session *session;
    tn_tokenizer *tokenizer;
    tn_cancel_token *token;
    const char *path;
};

/* ---- what is tried: each leaves nothing behind ------------------------------------------------------------------- */

typedef tn_status (*stage_fn)(struct road *r);

static tn_status stage_runtime(struct road *r)
{
    tn_runtime *runtime = NULL;
    tn_status status = host_runtime(&r->host, 2, "/state", "/cache", &runtime, r->err);
    tn_runtime_free(runtime);
    return status;
}

static tn_status stage_about(struct road *r)
{
    tn_document *doctor = NULL, *families = NULL, *tasks = NULL;
    tn_status status = tn_doctor(r->runtime, &doctor, r->err);
    if (!status) status = tn_families(r->runtime, &families, r->err);
    if (!status) status = tn_tasks(r->runtime, &tasks, r->err);
    tn_document_free(doctor);
    tn_document_free(families);
    tn_document_free(tasks);
    return status;
}

static tn_status stage_open(struct road *r)
{
    tn_package *package = NULL;
    tn_document *document = NULL;
    tn_status status = tn_package_open(r->runtime, r->path, NULL, &package, r->err);
    if (!status) status = tn_package_inspect(package, &document, r->err);
    tn_document_free(document);
    tn_package_free(package);
    return status;
}

static tn_status stage_verify(struct road *r)
{
    tn_package *package = NULL;
    tn_status status = tn_package_open(r->runtime, r->path, NULL, &package, r->err);
    if (!status) status = tn_package_verify(package, NULL, r->err);
    tn_package_free(package);
    return status;
}

static tn_plan_options plan_options(void)
{
    tn_plan_options o = TN_INIT(tn_plan_options);
    o.task = "embedding.dense";
    return o;
}

static tn_status stage_assess(struct road *r)
{
    tn_document *document = NULL;
    tn_decision decision = TN_UNKNOWN;
    tn_plan_options o = plan_options();
    tn_status status = tn_assess(r->package, &o, &decision, &document, r->err);
    tn_document_free(document);
    /* What could not be looked at is never supported, and what was looked at is not called unsupported. */
    if (!status) CHECK_INT(decision, TN_ELIGIBLE);
    return status;
}

static tn_status stage_plan(struct road *r)
{
    tn_plan *plan = NULL, *again = NULL;
    tn_document *document = NULL;
    tn_plan_options o = plan_options();
    size_t length = 0;
    tn_status status = tn_plan_new(r->package, &o, &plan, r->err);
    if (!status) status = tn_plan_json(plan, &document, r->err);
    if (!status) {
        const char *text = tn_document_text(document, &length);
        status = tn_plan_parse(r->package, text, length, &again, r->err);
    }
    tn_document_free(document);
    tn_plan_free(plan);
    tn_plan_free(again);
    return status;
}

static tn_status stage_load(struct road *r)
{
    tn_session *session = NULL;
    tn_status status = tn_session_load(r->plan, NULL, &session, r->err);
    tn_session_free(session);
    return status;
}

/* Reads to the end; the first failure of an item or of the whole. */
static tn_status read_all(struct road *r, tn_execution *x, size_t *items)
{
    tn_status first = TN_OK;
    for (;;) {
        tn_event event;
        tn_status status = tn_execution_next(x, UINT32_MAX, &event, r->err);
        if (status) return status;
        if (event.status && !first) first = event.status;
        if (event.kind == TN_EVENT_TERMINAL) return first;
        if (event.kind == TN_EVENT_ITEM) ++*items;
    }
}

static tn_embed_request request_of(const tn_string *texts, size_t count)
{
    tn_embed_request q = TN_INIT(tn_embed_request);
    q.texts = texts;
    q.count = count;
    return q;
}

static const tn_string texts[] = {{"", 0}, {"the people were there.", 22}, {"a", 1}, {"caf\xC3\xA9 zq unknownish words", 24}};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static tn_status stage_embed(struct road *r)
{
    tn_execution *x = NULL;
    tn_document *account = NULL;
    size_t items = 0;
    tn_embed_request q = request_of(texts, TEXTS);
    q.role = "query";
    tn_status status = tn_embed_start(r->session, &q, &x, r->err);
    if (!status) status = read_all(r, x, &items);
    if (!status) CHECK_INT(items, TEXTS);
    if (!status) status = tn_execution_drain(x, UINT32_MAX, r->err);
    if (!status) status = tn_execution_account(x, &account, r->err);
    tn_document_free(account);
    tn_execution_free(x);
    return status;
}

static tn_status stage_embed_atomic(struct road *r)
{
    tn_execution *x = NULL;
    size_t items = 0;
    tn_embed_request q = request_of(texts, TEXTS);
    q.atomic = true;
    q.batch = 2;
    q.normalize = TN_YES;
    q.dimensions = 3;
    tn_status status = tn_embed_start(r->session, &q, &x, r->err);
    if (!status) status = read_all(r, x, &items);
    tn_execution_free(x);
    return status;
}

static tn_status stage_cancel(struct road *r)
{
    tn_execution *x = NULL;
    tn_cancel_token *token = NULL;
    size_t items = 0;
    tn_embed_request q = request_of(texts, TEXTS);
    tn_status status = tn_cancel_token_new(r->runtime, &token, r->err);
    tn_cancel_token_request(token);
    tn_cancel_token_free(token);
    if (!status) status = tn_embed_start(r->session, &q, &x, r->err);
    tn_execution_cancel(x);
    if (!status) status = read_all(r, x, &items);
    tn_execution_free(x);
    /* Both ways to end are right here; which one comes first is a matter of time. */
    return status == TN_CANCELLED ? TN_OK : status;
}

static tn_status stage_tokenize(struct road *r)
{
    tn_tokenizer *tokenizer = NULL;
    tn_encoding *encoding = NULL;
    tn_encode_request q = TN_INIT(tn_encode_request);
    q.text = texts[3];
    q.pair = texts[1];
    q.max_tokens = 9;
    tn_status status = tn_tokenizer_open(r->package, &tokenizer, r->err);
    if (!status) status = tn_tokenizer_encode(tokenizer, &q, &encoding, r->err);
    if (!status) CHECK(tn_encoding_tokens(encoding).count == 9 && tn_encoding_token(encoding, 0).data);
    tn_encoding_free(encoding);
    tn_tokenizer_free(tokenizer);
    return status;
}

/* ---- the sweep ----------------------------------------------------------------------------------------------------- */

static bool road_open(struct road *r, const char *package)
{
    memset(r, 0, sizeof(*r));
    r->err = tn_error_new();
    r->path = test_path(package);
    tn_plan_options o = plan_options();
    tn_status status = host_runtime(&r->host, 2, NULL, NULL, &r->runtime, r->err);
    if (!status) status = tn_package_open(r->runtime, r->path, NULL, &r->package, r->err);
    if (!status) status = tn_plan_new(r->package, &o, &r->plan, r->err);
    if (!status) status = tn_session_load(r->plan, NULL, &r->session, r->err);
    if (status) test_fail(__FILE__, __LINE__, "%s: %s", package, tn_error_message(r->err));
    return status == TN_OK;
}

static void road_close(struct road *r)
{
    tn_session_free(r->session);
    tn_plan_free(r->plan);
    tn_package_free(r->package);
    tn_runtime_free(r->runtime);
    tn_error_free(r->err);
    CHECK_INT(r->host.blocks, 0);
    CHECK_INT(r->host.bytes, 0);
}

/* One fault; false when the stage ended without meeting it. */
static bool one_fault(struct road *r, const char *name, stage_fn stage, uint64_t n, bool after)
{
    uint64_t blocks = r->host.blocks, bytes = r->host.bytes;
    host_arm(&r->host, n, after);
    tn_status status = stage(r);
    bool hit = host_disarm(&r->host);
    if (hit && status != TN_INSUFFICIENT_MEMORY) {
        test_fail(__FILE__, __LINE__, "%s, call %llu%s: ended with %s", name, (unsigned long long)n, after ? "+" : "",
                  tn_status_name(status));
    }
    if (hit && status && tn_error_code(r->err) != status) {
        test_fail(__FILE__, __LINE__, "%s, call %llu: the error says %s", name, (unsigned long long)n,
                  tn_status_name(tn_error_code(r->err)));
    }
    if (!hit && status) test_fail(__FILE__, __LINE__, "%s: %s", name, tn_error_message(r->err));
    if (r->host.blocks != blocks || r->host.bytes != bytes) {
        test_fail(__FILE__, __LINE__, "%s, call %llu%s: %lld blocks and %lld bytes stayed", name, (unsigned long long)n,
                  after ? "+" : "", (long long)(r->host.blocks - blocks), (long long)(r->host.bytes - bytes));
        exit(1); /* the account is off from here on */
    }
    return hit;
}

static void sweep(const char *package, const char *name, stage_fn stage, uint64_t step)
{
    struct road r;
    uint64_t n = 1;
    if (!road_open(&r, package)) return;
    CHECK_INT(stage(&r), TN_OK); /* what is made once and kept is there from now on */
    while (n < MOST && one_fault(&r, name, stage, n, false)) {
        one_fault(&r, name, stage, n, true);
        CHECK_INT(stage(&r), TN_OK);
        n += step;
    }
    CHECK(n > 1 && n < MOST);
    road_close(&r);
}

static const char prompts[] = "golden/packages/bert_prompt_excluded";
static const char chain[] = "golden/packages/bert_dense_chain";
static const char shards[] = "golden/packages/bert_sharded";
static const char vocab[] = "golden/packages/bert_vocab_txt_uncased";
static const char angles[] = "golden/packages/modernbert_old_names";   /* tables that are made at load */
static const char terms[] = "golden/packages/deberta_v2_own_projections"; /* values that are computed at load */

TEST(runtime)
{
    sweep(prompts, "runtime", stage_runtime, 1);
}

TEST(documents_about_the_build)
{
    sweep(prompts, "about", stage_about, host_stride(1));
}

TEST(opening_and_inspecting)
{
    sweep(prompts, "open", stage_open, host_stride(3));
    sweep(chain, "open", stage_open, host_stride(7));
    sweep(shards, "open", stage_open, host_stride(7));
}

TEST(verifying)
{
    sweep(shards, "verify", stage_verify, host_stride(7));
}

TEST(assessing)
{
    sweep(prompts, "assess", stage_assess, host_stride(1));
    sweep(chain, "assess", stage_assess, host_stride(3));
    sweep(angles, "assess", stage_assess, host_stride(5));
    sweep(terms, "assess", stage_assess, host_stride(5));
}

TEST(planning)
{
    sweep(prompts, "plan", stage_plan, host_stride(3));
    sweep(chain, "plan", stage_plan, host_stride(7));
}

TEST(loading)
{
    sweep(prompts, "load", stage_load, host_stride(2));
    sweep(chain, "load", stage_load, host_stride(5));
    sweep(shards, "load", stage_load, host_stride(5));
    sweep(angles, "load", stage_load, host_stride(3));
    sweep(terms, "load", stage_load, host_stride(3));
}

TEST(embedding)
{
    sweep(prompts, "embed", stage_embed, 1);
    sweep(prompts, "embed atomically", stage_embed_atomic, 1);
    sweep(prompts, "cancel", stage_cancel, 1);
}

TEST(tokenizing)
{
    sweep(prompts, "tokenize", stage_tokenize, host_stride(3));
    sweep(vocab, "tokenize", stage_tokenize, host_stride(3));
}

/* ---- cold: nothing was warmed up, so that what is made once fails as well ------------------------------------------ */

static tn_status whole_road(struct road *r)
{
    tn_plan_options o = plan_options();
    tn_status status = host_runtime(&r->host, 2, NULL, NULL, &r->runtime, r->err);
    if (!status) status = tn_package_open(r->runtime, r->path, NULL, &r->package, r->err);
    if (!status) status = tn_plan_new(r->package, &o, &r->plan, r->err);
    if (!status) status = tn_session_load(r->plan, NULL, &r->session, r->err);
    if (!status) status = stage_embed(r);
    tn_runtime_free(r->runtime); /* the handles keep it */
    tn_package_free(r->package);
    tn_plan_free(r->plan);
    tn_session_free(r->session);
    r->runtime = NULL;
    r->package = NULL;
    r->plan = NULL;
    r->session = NULL;
    return status;
}

TEST(the_cold_road)
{
    struct road r = {.path = test_path(prompts)};
    uint64_t n = 1, step = host_stride(11);
    r.err = tn_error_new();
    while (n < MOST && one_fault(&r, "whole road", whole_road, n, n % 2)) n += step;
    CHECK(n > 100 && n < MOST);
    CHECK_INT(r.host.blocks, 0);
    tn_error_free(r.err);
}

/* A budget instead of a fault: whatever the limit, it works within it or says insufficient_memory. */
TEST(every_memory_limit)
{
    struct host host = {0};
    tn_error *err = tn_error_new();
    const char *path = test_path(prompts);
    unsigned worked = 0, refused = 0;
    for (uint64_t limit = 4096; limit < (UINT64_C(64) << 20); limit += limit / 6) {
        struct road r = {.err = err, .path = path};
        tn_runtime_options o = TN_INIT(tn_runtime_options);
        tn_plan_options p = plan_options();
        o.allocate = host_allocate;
        o.release = host_release;
        o.allocator_user = &host;
        o.memory_limit = limit;
        o.threads = 2;
        tn_status status = tn_runtime_new(&o, &r.runtime, err);
        if (!status) status = tn_package_open(r.runtime, path, NULL, &r.package, err);
        if (!status) status = tn_plan_new(r.package, &p, &r.plan, err);
        if (!status) status = tn_session_load(r.plan, NULL, &r.session, err);
        if (!status) status = stage_embed(&r);
        tn_memory_info info = TN_INIT(tn_memory_info);
        tn_runtime_memory(r.runtime, false, &info);
        CHECK(info.peak_bytes <= limit);
        if (status && status != TN_INSUFFICIENT_MEMORY && status != TN_BUSY) {
            test_fail(__FILE__, __LINE__, "limit %llu: %s: %s", (unsigned long long)limit, tn_status_name(status),
                      tn_error_message(err));
        }
        worked += status == TN_OK;
        refused += status != TN_OK;
        tn_session_free(r.session);
        tn_plan_free(r.plan);
        tn_package_free(r.package);
        tn_runtime_free(r.runtime);
        CHECK_INT(host.blocks, 0);
    }
    CHECK(worked > 5 && refused > 5);
    tn_error_free(err);
}
