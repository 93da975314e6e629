/*
 * Evidence and the bytes that it is about: a record was made with certain weights. Other weights under the same headers
 * are planned with that record's level, and lose it as soon as they have been read.
 */
#include "api_util.h"
#include "fault_package.h"

static tn_status load(struct api *a, tn_package *package, const char *level, char *found, size_t cap)
{
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    tn_session *session = NULL;
    tn_execution *x = NULL;
    tn_document *account = NULL;
    tn_string text = api_string("a");
    tn_embed_request request = api_request(&text, 1);
    o.task = "embedding.dense";
    o.require_level = level;
    found[0] = 0;
    tn_status st = tn_plan_new(package, &o, &plan, a->err);
    if (!st) st = tn_session_load(plan, NULL, &session, a->err);
    if (!st) st = tn_embed_start(session, &request, &x, a->err);
    if (!st) st = api_collect(x, NULL, 0, a->err);
    if (!st) st = tn_execution_drain(x, UINT32_MAX, a->err);
    if (!st) st = tn_execution_account(x, &account, a->err);
    const char *at = account ? strstr(tn_document_text(account, NULL), "\"evidence_level\": \"") : NULL;
    if (at) snprintf(found, cap, "%.*s", (int)strcspn(at + 19, "\""), at + 19);
    tn_document_free(account);
    tn_execution_free(x);
    tn_session_free(session);
    tn_plan_free(plan);
    return st;
}

TEST(evidence_ends_with_the_weights_it_is_about)
{
    struct api a = {0};
    struct package_edit same = {"same", NULL, NULL, NULL}, other = {"other", NULL, NULL, NULL};
    char folder[512], changed[512], path[1024], state[512], level[64];
    tn_runtime_options o = TN_INIT(tn_runtime_options);
    tn_plan_options p = TN_INIT(tn_plan_options);
    tn_qualify_options q = TN_INIT(tn_qualify_options);
    tn_document *record = NULL;
    size_t size = 0;
    snprintf(state, sizeof(state), "%s/state", test_folder());
    o.threads = 1;
    o.state_folder = state;
    a.err = tn_error_new();
    REQUIRE(tn_runtime_new(&o, &a.runtime, a.err) == TN_OK);
    package_copy(folder, sizeof(folder), &same);
    package_copy(changed, sizeof(changed), &other);
    snprintf(path, sizeof(path), "%s/model.safetensors", changed);
    char *bytes = test_read_file(path, &size);
    REQUIRE(bytes && size > 4096);
    /* A middle byte of the first number behind the header: still finite, and the header is the same. */
    uint64_t header = 0;
    for (int i = 7; i >= 0; i--) header = header << 8 | (unsigned char)bytes[i];
    REQUIRE(header + 16 < size);
    bytes[8 + header + 2] ^= 0x10;
    test_write_file(path, bytes, size);
    free(bytes);

    tn_package *package = api_open(&a, folder), *twin = api_open(&a, changed);
    REQUIRE(package && twin);
    p.task = "embedding.dense";
    q.plan = &p;
    q.golden = test_path("golden/embed/bert_mean_normalize.json");
    CHECK_INT(tn_qualify(package, &q, &record, a.err), TN_OK);
    tn_document_free(record);

    CHECK_INT(load(&a, package, "reference_qualified", level, sizeof(level)), TN_OK);
    CHECK_STR(level, "reference_qualified");
    CHECK_INT(load(&a, twin, NULL, level, sizeof(level)), TN_OK);
    CHECK_STR(level, "structurally_valid");
    CHECK_INT(load(&a, twin, "reference_qualified", level, sizeof(level)), TN_VERSION_UNQUALIFIED);
    CHECK_CONTAINS(tn_error_message(a.err), "other weights");
    /* And the original is as good as it was. */
    CHECK_INT(load(&a, package, "reference_qualified", level, sizeof(level)), TN_OK);
    tn_package_free(package);
    tn_package_free(twin);
    tn_runtime_free(a.runtime);
    tn_error_free(a.err);
}
