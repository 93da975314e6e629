/*
 * Qualification and records with a host that runs out of memory. A record that was made is right whatever happened to
 * its storage: a run that could only not be stored returns it and says so.
 */
#include "fault_host.h"

#include <time.h>

enum { MOST = 2000000 };

static double now_seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct bench {
    struct host host;
    tn_error *err;
    tn_runtime *runtime;
    tn_package *package;
    char state[512];
};

static bool bench_open(struct bench *b)
{
    memset(b, 0, sizeof(*b));
    snprintf(b->state, sizeof(b->state), "%s/state", test_folder());
    b->err = tn_error_new();
    tn_status status = host_runtime(&b->host, 2, b->state, NULL, &b->runtime, b->err);
    if (!status) {
        status = tn_package_open(b->runtime, test_path("golden/packages/bert_mean_normalize"), NULL, &b->package, b->err);
    }
    if (status) test_fail(__FILE__, __LINE__, "%s", tn_error_message(b->err));
    return status == TN_OK;
}

static void bench_close(struct bench *b)
{
    tn_package_free(b->package);
    tn_runtime_free(b->runtime);
    tn_error_free(b->err);
    CHECK_INT(b->host.blocks, 0);
}

/* The document when there is one; it must say "passed". */
static tn_status qualify(struct bench *b, bool *stored)
{
    tn_plan_options plan = TN_INIT(tn_plan_options);
    tn_qualify_options q = TN_INIT(tn_qualify_options);
    tn_document *document = NULL;
    plan.task = "embedding.dense";
    q.plan = &plan;
    q.golden = test_path("golden/embed/bert_mean_normalize.json");
    tn_status status = tn_qualify(b->package, &q, &document, b->err);
    *stored = false;
    if (!status) {
        const char *text = tn_document_text(document, NULL);
        CHECK_CONTAINS(text, "\"level\": \"reference_qualified\"");
        CHECK_CONTAINS(text, "\"passed\": true");
        *stored = strstr(text, "\"done\": true") != NULL;
    } else {
        CHECK(document == NULL);
    }
    tn_document_free(document);
    return status;
}

/* Faults spread over the run so that the test ends in time; the remainder walks, so that no multiple is special. */
TEST(qualifying)
{
    struct bench b;
    bool stored;
    REQUIRE(bench_open(&b));
    CHECK_INT(qualify(&b, &stored), TN_OK);
    CHECK(stored);
    uint64_t before = b.host.calls, blocks = b.host.blocks, bytes = b.host.bytes;
    double start = now_seconds();
    CHECK_INT(qualify(&b, &stored), TN_OK);
    double each = now_seconds() - start, budget = getenv("TN_FAULT_STRIDE") ? 150 : 6;
    uint64_t calls = b.host.calls - before, step = 1 + (uint64_t)((double)calls * each / budget);
    for (uint64_t n = 1, round = 0; n <= calls; n += step, round++) {
        host_arm(&b.host, n + round % step, round % 2);
        tn_status status = qualify(&b, &stored);
        bool hit = host_disarm(&b.host);
        bool answered = status == TN_OK && !stored;
        if (hit && status != TN_INSUFFICIENT_MEMORY && !answered) {
            test_fail(__FILE__, __LINE__, "call %llu: %s: %s", (unsigned long long)n, tn_status_name(status),
                      status ? tn_error_message(b.err) : "stored");
        }
        if (b.host.blocks != blocks || b.host.bytes != bytes) {
            test_fail(__FILE__, __LINE__, "call %llu: %lld bytes stayed", (unsigned long long)n,
                      (long long)(b.host.bytes - bytes));
            break;
        }
    }
    CHECK_INT(qualify(&b, &stored), TN_OK);
    CHECK(stored);
    bench_close(&b);
}

static tn_status read_records(struct bench *b)
{
    tn_document *list = NULL, *shown = NULL, *all = NULL;
    tn_status status = tn_records_list(b->runtime, &list, b->err);
    if (!status) {
        char id[33] = "";
        const char *at = strstr(tn_document_text(list, NULL), "\"id\": \"");
        if (at) memcpy(id, at + 7, 32);
        status = tn_records_show(b->runtime, id, &shown, b->err);
    }
    if (!status) status = tn_records_export(b->runtime, &all, b->err);
    tn_document_free(list);
    tn_document_free(shown);
    tn_document_free(all);
    return status;
}

TEST(reading_records)
{
    struct bench b;
    bool stored;
    REQUIRE(bench_open(&b));
    CHECK_INT(qualify(&b, &stored), TN_OK);
    uint64_t blocks = b.host.blocks, n = 1;
    for (; n < MOST; n++) {
        host_arm(&b.host, n, n % 2);
        tn_status status = read_records(&b);
        bool hit = host_disarm(&b.host);
        CHECK_INT(b.host.blocks, blocks);
        CHECK_INT(status, hit ? TN_INSUFFICIENT_MEMORY : TN_OK);
        if (!hit) break;
    }
    CHECK(n > 10);
    bench_close(&b);
}
