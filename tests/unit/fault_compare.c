/* Comparing providers, and explaining and withdrawing records, with a host that runs out of memory: right or refused, and nothing stays. */
#include "fault_host.h"

#include <string.h>

struct bench {
    struct host host;
    tn_error *err;
    tn_runtime *runtime;
    tn_package *package;
    char state[512];
};

static bool bench_open(struct bench *b, const char *path)
{
    memset(b, 0, sizeof(*b));
    snprintf(b->state, sizeof(b->state), "%s/compare", test_folder());
    b->err = tn_error_new();
    tn_status status = host_runtime(&b->host, 1, b->state, NULL, &b->runtime, b->err);
    if (!status) status = tn_package_open(b->runtime, test_path(path), NULL, &b->package, b->err);
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

static tn_status compare(struct bench *b, int layers)
{
    static const char request[] = "{\"inputs\": {\"a\": [[1, 2]], \"b\": [[3, 4]]}}";
    tn_plan_options plan = TN_INIT(tn_plan_options);
    tn_compare_options o = TN_INIT(tn_compare_options);
    tn_document *document = NULL;
    int agree = 7;
    plan.task = "tensor";
    o.plan = &plan;
    o.providers = "native,native:without=all";
    o.request = request;
    o.request_length = sizeof(request) - 1;
    o.layers = layers;
    tn_status status = tn_compare(b->package, &o, &agree, &document, b->err);
    if (!status) {
        CHECK_INT(agree, 1);
        CHECK_CONTAINS(tn_document_text(document, NULL), "\"same_bits\": true");
    } else {
        CHECK(document == NULL);
        CHECK_INT(agree, 0);
    }
    tn_document_free(document);
    return status;
}

TEST(comparing)
{
    struct bench b;
    unsigned failed = 0;
    REQUIRE(bench_open(&b, "golden/tensor/add.onnx"));
    CHECK_INT(compare(&b, 1), TN_OK);
    CHECK_INT(compare(&b, 1), TN_OK);
    uint64_t calls = b.host.calls, blocks = b.host.blocks;
    CHECK_INT(compare(&b, 1), TN_OK);
    uint64_t all = b.host.calls - calls;
    CHECK_INT(b.host.blocks, blocks);
    for (uint64_t at = 1; at <= all; at++) {
        b.host.fail_at = b.host.calls + at;
        tn_status status = compare(&b, 1);
        if (status && status != TN_INSUFFICIENT_MEMORY) test_fail(__FILE__, __LINE__, "allocation %u: %s", (unsigned)at, tn_error_message(b.err));
        failed += status != TN_OK;
        if (b.host.blocks != blocks) test_fail(__FILE__, __LINE__, "allocation %u: blocks stay", (unsigned)at);
        if (b.host.blocks != blocks) break;
    }
    b.host.fail_at = 0;
    CHECK(failed > all / 2);
    CHECK_INT(compare(&b, 0), TN_OK);
    bench_close(&b);
}

TEST(arguments_of_a_comparison)
{
    struct bench b;
    tn_compare_options o = TN_INIT(tn_compare_options);
    tn_document *document = NULL;
    REQUIRE(bench_open(&b, "golden/tensor/add.onnx"));
    CHECK_INT(tn_compare(NULL, &o, NULL, &document, b.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_compare(b.package, NULL, NULL, &document, b.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_compare(b.package, &o, NULL, NULL, b.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_compare(b.package, &o, NULL, &document, b.err), TN_INVALID_REQUEST);
    CHECK_STR(tn_error_element(b.err), "request");
    o.request = "{}";
    o.request_length = 2;
    o.relative = -1;
    CHECK_INT(tn_compare(b.package, &o, NULL, &document, b.err), TN_INVALID_REQUEST);
    CHECK_STR(tn_error_element(b.err), "relative");
    o.relative = 0;
    static const char *const wrong[] = {NULL, "", "native", "native,", ",native", "native,native", "native,native:", "native:x=1,native", "native:threads=0,native",
                                        "native:without,native", "native,native:without=all,native"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        o.providers = wrong[i];
        tn_status status = tn_compare(b.package, &o, NULL, &document, b.err);
        if (status == TN_OK || document) test_fail(__FILE__, __LINE__, "%s was accepted", wrong[i]);
    }
    CHECK_INT(tn_records_why(NULL, "abcd", NULL, &document, b.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_records_why(b.runtime, NULL, NULL, &document, b.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_records_why(b.runtime, "abcd", NULL, NULL, b.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_records_why(b.runtime, "abcd", NULL, &document, b.err), TN_ARTIFACT_MISSING);
    CHECK_INT(tn_records_withdraw(NULL, "abcd", "why", &document, b.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_records_withdraw(b.runtime, "abcd", "why", &document, b.err), TN_ARTIFACT_MISSING);
    CHECK(document == NULL);
    bench_close(&b);
}
