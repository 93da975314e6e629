/* Documents over the public interface: inspect, check, plan, doctor, families, tasks; and the tokenizer handle. */
#include "api_util.h"

#include "base/json.h"

/* Parses a document and frees it; the caller's `doc` is released with tn_json_release. */
static bool parse(tn_document *document, struct tn_json_doc *doc, struct tn_alloc *alloc)
{
    struct tn_limits limits = tn_limits_default();
    size_t length;
    const char *text = tn_document_text(document, &length);
    tn_alloc_init(alloc);
    CHECK_INT(strlen(text), length);
    bool ok = tn_json_parse_copy(doc, alloc, &limits, TN_STR("document"), (struct tn_str){text, length}, NULL) == TN_OK;
    tn_document_free(document);
    return ok;
}

static void expect_members(struct tn_json root, const char *const *pointers)
{
    for (; *pointers; pointers++) {
        if (!tn_json_present(tn_json_find(root, *pointers))) test_fail(__FILE__, __LINE__, "no member %s", *pointers);
    }
}

TEST(about)
{
    static const char *const doctor[] = {"/version", "/system", "/threads", "/cpu/brand", "/kernels/used", "/kernels/bf16",
                                         "/memory/machine_bytes", "/providers/0/name", "/providers/1/why", "/limits/tensors",
                                         "/experiments", "/cache_folder", "/state_folder", NULL};
    static const char *const families[] = {"/families/0/name", "/families/2/name", NULL};
    static const char *const tasks[] = {"/tasks/0/name", "/tasks/0/contract", "/tasks/0/request", "/tasks/0/result",
                                        "/tasks/0/recipe/version", NULL};
    struct api a;
    struct tn_json_doc doc;
    struct tn_alloc alloc;
    tn_document *d;
    REQUIRE(api_begin(&a, 3));
    REQUIRE(tn_doctor(a.runtime, &d, a.err) == TN_OK && parse(d, &doc, &alloc));
    expect_members(tn_json_root(&doc), doctor);
    uint64_t threads = 0;
    CHECK(tn_json_u64(tn_json_find(tn_json_root(&doc), "/threads"), &threads) && threads == 3);
    tn_json_release(&doc);
    REQUIRE(tn_families(a.runtime, &d, a.err) == TN_OK && parse(d, &doc, &alloc));
    expect_members(tn_json_root(&doc), families);
    tn_json_release(&doc);
    REQUIRE(tn_tasks(a.runtime, &d, a.err) == TN_OK && parse(d, &doc, &alloc));
    expect_members(tn_json_root(&doc), tasks);
    tn_json_release(&doc);
    api_end(&a);
}

TEST(inspect_and_verify)
{
    static const char *const members[] = {"/path", "/dialect", "/variants/0/id", "/evidence/0/rule", "/identity/manifest",
                                          "/identity/weights", "/identity/closure", "/components/0/name", "/tensors/count",
                                          "/tensors/bytes", "/tensors/by_dtype", "/files/0/path", "/findings", NULL};
    struct api a;
    struct tn_json_doc doc;
    struct tn_alloc alloc;
    tn_document *d;
    REQUIRE(api_begin(&a, 1));
    tn_package *package = api_open(&a, test_path("golden/packages/bert_options"));
    REQUIRE(package);
    for (int verified = 0; verified < 2; verified++) {
        REQUIRE(tn_package_inspect(package, &d, a.err) == TN_OK && parse(d, &doc, &alloc));
        expect_members(tn_json_root(&doc), members);
        struct tn_str digest = {"", 0};
        struct tn_json closure = tn_json_find(tn_json_root(&doc), "/identity/closure");
        CHECK_INT(tn_json_is(closure, TN_JSON_NULL), !verified);
        if (verified) CHECK(tn_json_str(closure, &digest) && digest.n == 64);
        struct tn_json weights = tn_json_find(tn_json_root(&doc), "/identity/weights");
        if (verified) CHECK(tn_json_str(weights, &digest) && digest.n == 64);
        tn_json_release(&doc);
        if (!verified) CHECK_INT(tn_package_verify(package, NULL, a.err), TN_OK);
    }
    tn_package_free(package);
    api_end(&a);
}

TEST(a_plan_binds_the_bytes_once_they_are_known)
{
    struct api a;
    tn_document *d;
    tn_plan *plan, *again;
    size_t length;
    REQUIRE(api_begin(&a, 1));
    tn_package *package = api_open(&a, test_path("golden/packages/bert_options"));
    plan = package ? api_plan(&a, package) : NULL;
    REQUIRE(plan && tn_plan_json(plan, &d, a.err) == TN_OK);
    CHECK_CONTAINS(tn_document_text(d, NULL), "\"closure\": null");
    CHECK_INT(tn_package_verify(package, NULL, a.err), TN_OK);
    const char *text = tn_document_text(d, &length);
    CHECK_INT(tn_plan_parse(package, text, length, &again, a.err), TN_OK); /* it knew less then */
    tn_document_free(d);
    tn_plan_free(plan);
    REQUIRE(again && tn_plan_json(again, &d, a.err) == TN_OK);
    tn_plan_free(again);
    text = tn_document_text(d, &length);
    CHECK_INT(tn_plan_parse(package, text, length, &again, a.err), TN_OK);
    tn_plan_free(again);
    char *changed = malloc(length + 1);
    REQUIRE(changed);
    memcpy(changed, text, length + 1);
    char *at = strstr(changed, "\"closure\": \"");
    REQUIRE(at);
    at[12] = at[12] == '0' ? '1' : '0';
    CHECK_INT(tn_plan_parse(package, changed, length, &again, a.err), TN_ARTIFACT_STALE);
    CHECK_STR(tn_error_element(a.err), "/package/closure");
    free(changed);
    tn_document_free(d);
    tn_package_free(package);
    api_end(&a);
}

TEST(check_lists_every_provider)
{
    struct api a;
    struct tn_json_doc doc;
    struct tn_alloc alloc;
    tn_document *d;
    tn_decision decision;
    tn_plan_options o = TN_INIT(tn_plan_options);
    o.task = "embedding.dense";
    REQUIRE(api_begin(&a, 1));
    tn_package *package = api_open(&a, test_path("golden/packages/bert_options"));
    REQUIRE(package);
    REQUIRE(tn_assess(package, &o, &decision, &d, a.err) == TN_OK && parse(d, &doc, &alloc));
    CHECK_INT(decision, TN_ELIGIBLE);
    struct tn_json providers = tn_json_get(tn_json_root(&doc), "providers");
    CHECK_INT(tn_json_count(providers), 5);
    struct tn_str word = {"", 0};
    CHECK(tn_json_str(tn_json_find(providers, "/0/decision"), &word) && tn_str_is(word, "eligible"));
    CHECK(tn_json_str(tn_json_find(providers, "/2/decision"), &word) && tn_str_is(word, "unknown"));
    CHECK_INT(tn_json_count(tn_json_find(providers, "/2/findings")), 1);
    tn_json_release(&doc);
    o.provider = "openvino";
    REQUIRE(tn_assess(package, &o, &decision, &d, a.err) == TN_OK);
    CHECK_INT(decision, TN_UNKNOWN);
    tn_document_free(d);
    tn_plan *plan;
    CHECK_INT(tn_plan_new(package, &o, &plan, a.err), TN_PROVIDER_UNAVAILABLE);
    CHECK_CONTAINS(tn_error_message(a.err), "not in this build");
    tn_package_free(package);
    api_end(&a);
}

TEST(a_plan_document_is_a_plan)
{
    static const char *const members[] = {"/schema", "/id", "/package/manifest", "/provider/version", "/build/version",
                                          "/machine/isa_class", "/task", "/contract", "/recipe/version", "/recipe/modules/0",
                                          "/options/threads/origin", "/numeric/stored", "/numeric/kv", "/placement/device",
                                          "/policy/network", "/memory/peak_bytes", "/memory/uncertainty", "/evidence_level",
                                          "/exclusions", "/audit", "/graph", "/family", NULL};
    struct api a;
    struct tn_json_doc doc;
    struct tn_alloc alloc;
    tn_document *d;
    tn_plan *again;
    size_t length;
    REQUIRE(api_begin(&a, 2));
    tn_package *package = api_open(&a, test_path("golden/packages/mpnet_mean_normalize"));
    tn_plan *plan = package ? api_plan(&a, package) : NULL;
    REQUIRE(plan);
    REQUIRE(tn_plan_json(plan, &d, a.err) == TN_OK);
    const char *text = tn_document_text(d, &length);
    CHECK_INT(tn_plan_parse(package, text, length, &again, a.err), TN_OK);
    if (!again) test_fail(__FILE__, __LINE__, "%s at %s", tn_error_message(a.err), tn_error_element(a.err));
    tn_session *session = again ? api_load(&a, again) : NULL;
    CHECK(session != NULL);
    tn_session_free(session);
    tn_plan_free(again);
    CHECK(parse(d, &doc, &alloc));
    expect_members(tn_json_root(&doc), members);
    tn_json_release(&doc);
    /* Another package's plan. */
    tn_package *other = api_open(&a, test_path("golden/packages/bert_options"));
    REQUIRE(other && tn_plan_json(plan, &d, a.err) == TN_OK);
    text = tn_document_text(d, &length);
    CHECK_INT(tn_plan_parse(other, text, length, &again, a.err), TN_ARTIFACT_STALE);
    CHECK_STR(tn_error_element(a.err), "/package/manifest");
    tn_document_free(d);
    tn_package_free(other);
    tn_plan_free(plan);
    tn_package_free(package);
    api_end(&a);
}

TEST(tokenizer)
{
    struct api a;
    tn_tokenizer *t;
    tn_encoding *e;
    tn_encode_request r = TN_INIT(tn_encode_request);
    REQUIRE(api_begin(&a, 1));
    tn_package *package = api_open(&a, test_path("golden/packages/bert_options"));
    REQUIRE(package && tn_tokenizer_open(package, &t, a.err) == TN_OK);
    tn_package_free(package);
    r.text = api_string("the people");
    REQUIRE(tn_tokenizer_encode(t, &r, &e, a.err) == TN_OK);
    tn_tokens tokens = tn_encoding_tokens(e);
    REQUIRE(tokens.count >= 4);
    CHECK_INT(tokens.ids[0], 2);
    CHECK_INT(tokens.ids[tokens.count - 1], 3);
    CHECK_INT(tokens.attention_mask[tokens.count - 1], 1);
    CHECK_INT(tokens.offsets[0][1], 0);
    CHECK_INT(tokens.offsets[1][0], 0);
    CHECK_INT(tokens.offsets[1][1], 3);
    tn_string word = tn_encoding_token(e, 1);
    CHECK(word.length == 3 && memcmp(word.data, "the", 3) == 0);
    CHECK(tn_encoding_token(e, tokens.count).data == NULL);
    size_t all = tokens.count;
    tn_encoding_free(e);
    r.no_special = true;
    REQUIRE(tn_tokenizer_encode(t, &r, &e, a.err) == TN_OK);
    CHECK_INT(tn_encoding_tokens(e).count, all - 2);
    tn_encoding_free(e);
    r.no_special = false;
    r.max_tokens = 3;
    REQUIRE(tn_tokenizer_encode(t, &r, &e, a.err) == TN_OK);
    CHECK_INT(tn_encoding_tokens(e).count, 3);
    CHECK(tn_encoding_tokens(e).truncated);
    tn_encoding_free(e);
    r.max_tokens = 0;
    r.pair = api_string("water");
    REQUIRE(tn_tokenizer_encode(t, &r, &e, a.err) == TN_OK);
    tokens = tn_encoding_tokens(e);
    CHECK_INT(tokens.type_ids[tokens.count - 1], 1);
    tn_encoding_free(e);
    r = (tn_encode_request)TN_INIT(tn_encode_request); /* no text at all is the empty text */
    REQUIRE(tn_tokenizer_encode(t, &r, &e, a.err) == TN_OK);
    CHECK_INT(tn_encoding_tokens(e).count, 2);
    tn_tokenizer_free(t); /* the encoding keeps what it needs */
    CHECK(tn_encoding_token(e, 0).data != NULL);
    tn_encoding_free(e);
    api_end(&a);
}

TEST(tokenizer_refuses_broken_texts)
{
    struct api a;
    tn_tokenizer *t;
    tn_encoding *e;
    tn_encode_request r = TN_INIT(tn_encode_request);
    REQUIRE(api_begin(&a, 1));
    tn_package *package = api_open(&a, test_path("golden/packages/bert_options"));
    REQUIRE(package && tn_tokenizer_open(package, &t, a.err) == TN_OK);
    r.text = (tn_string){"ok \xff", 4};
    CHECK_INT(tn_tokenizer_encode(t, &r, &e, a.err), TN_INVALID_REQUEST);
    CHECK(e == NULL);
    r.text = (tn_string){NULL, 4};
    CHECK_INT(tn_tokenizer_encode(t, &r, &e, a.err), TN_INVALID_REQUEST);
    tn_tokenizer_free(t);
    tn_package_free(package);
    api_end(&a);
}
