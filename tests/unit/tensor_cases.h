/* The cases of tests/golden/tensor/expected.json, whose values are ONNX Runtime's, through any provider. */
#ifndef TN_TEST_TENSOR_CASES_H
#define TN_TEST_TENSOR_CASES_H

#include "tensor_util.h"

#include "base/json.h"

static inline bool same_number(struct tn_json a, struct tn_json b)
{
    double x = 0, y = 0;
    if (!tn_json_f64(a, &x) || !tn_json_f64(b, &y)) return false;
    return fabs(x - y) <= 1e-6 * (fabs(y) > 1 ? fabs(y) : 1);
}

static inline bool same_value(struct tn_json a, struct tn_json b)
{
    struct tn_str s, t;
    if (tn_json_type(a) != tn_json_type(b)) return false;
    if (tn_json_is(a, TN_JSON_NUMBER)) return same_number(a, b);
    if (tn_json_is(a, TN_JSON_STRING)) return tn_json_str(a, &s) && tn_json_str(b, &t) && tn_str_eq(s, t);
    if (tn_json_is(a, TN_JSON_BOOL)) return tn_str_eq(tn_json_text(a), tn_json_text(b));
    if (tn_json_count(a) != tn_json_count(b)) return false;
    struct tn_json y = tn_json_first(b);
    for (struct tn_json x = tn_json_first(a); tn_json_present(x); x = tn_json_next(x), y = tn_json_next(y)) {
        struct tn_json other = tn_json_is(a, TN_JSON_OBJECT) ? tn_json_get_str(b, tn_json_key(x)) : y;
        if (!same_value(x, other)) return false;
    }
    return true;
}

static inline void check_case(struct api *a, struct tn_alloc *alloc, tn_session *session, struct tn_json one, const char *name)
{
    char request[4096];
    struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc;
    tn_execution *x = NULL;
    tn_document *result = NULL;
    size_t length;
    struct tn_str inputs = tn_json_text(tn_json_get(one, "inputs"));
    int n = snprintf(request, sizeof(request), "{\"inputs\": %.*s}", (int)inputs.n, inputs.s);
    REQUIRE(n > 0 && (size_t)n < sizeof(request));
    tn_status st = tn_request_start(session, request, (size_t)n, &x, a->err);
    if (!st) st = api_collect(x, NULL, 0, a->err);
    if (!st) st = tn_execution_drain(x, UINT32_MAX, a->err);
    if (!st) st = tn_execution_result(x, &result, a->err);
    if (st) {
        test_fail(__FILE__, __LINE__, "%s: %s: %s", name, tn_status_name(st), tn_error_message(a->err));
    } else {
        const char *text = tn_document_text(result, &length);
        REQUIRE(tn_json_parse(&doc, alloc, &limits, TN_STR("result"), (struct tn_str){text, length}, NULL) == TN_OK);
        struct tn_json found = tn_json_find(tn_json_root(&doc), "/data/0/outputs");
        if (!same_value(found, tn_json_get(one, "outputs"))) {
            struct tn_str s = tn_json_text(found);
            test_fail(__FILE__, __LINE__, "%s: %.*s", name, (int)s.n, s.s);
        }
        tn_json_release(&doc);
    }
    tn_document_free(result);
    tn_execution_free(x);
}

/* Through `provider`, NULL: the usual one; `a` has been begun. */
static inline void check_cases(struct api *a, const char *provider)
{
    struct tn_alloc alloc;
    struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc;
    size_t n, cases = 0;
    char *text = test_read_file(test_path("golden/tensor/expected.json"), &n);
    tn_alloc_init(&alloc);
    REQUIRE(text && tn_json_parse(&doc, &alloc, &limits, TN_STR("expected"), (struct tn_str){text, n}, NULL) == TN_OK);
    for (struct tn_json m = tn_json_first(tn_json_get(tn_json_root(&doc), "cases")); tn_json_present(m); m = tn_json_next(m)) {
        char name[64];
        struct tn_str key = tn_json_key(m);
        snprintf(name, sizeof(name), "%.*s%s", (int)key.n, key.s, tn_str_is(key, "external") ? "" : ".onnx");
        tn_session *session = tensor_session_of(a, name, provider);
        if (!session) test_fail(__FILE__, __LINE__, "%s: %s", name, tn_error_message(a->err));
        for (struct tn_json one = tn_json_first(m); session && tn_json_present(one); one = tn_json_next(one), cases++)
            check_case(a, &alloc, session, one, name);
        tn_session_free(session);
    }
    CHECK(cases >= 8);
    tn_json_release(&doc);
    free(text);
}

#endif
