/* Helpers for tests of the tasks over heads: goldens of tests/golden/heads, sessions of a task, requests to their end. */
#ifndef TN_TEST_HEADS_UTIL_H
#define TN_TEST_HEADS_UTIL_H

#include "texts_kit.h"

#include "api_util.h"

#include "base/json.h"

struct heads_golden {
    struct tn_alloc alloc;
    struct tn_json_doc doc;
    struct tn_json root;
    char *text;
    char path[1280]; /* of the package */
};

/* golden/heads/FILE and the package that it names. */
static inline bool heads_open(struct heads_golden *g, const char *file)
{
    struct tn_limits limits = tn_limits_default();
    struct tn_str package;
    size_t size;
    char path[288];
    memset(g, 0, sizeof(*g));
    snprintf(path, sizeof(path), "golden/heads/%s", file);
    g->text = test_read_file(test_path(path), &size);
    tn_alloc_init(&g->alloc);
    if (!g->text || tn_json_parse(&g->doc, &g->alloc, &limits, TN_STR("golden"), (struct tn_str){g->text, size}, NULL) ||
        !tn_json_str(tn_json_get(tn_json_root(&g->doc), "package"), &package)) {
        test_fail(__FILE__, __LINE__, "%s cannot be read", file);
        free(g->text);
        return false;
    }
    g->root = tn_json_root(&g->doc);
    snprintf(path, sizeof(path), "golden/%.*s", (int)package.n, package.s);
    snprintf(g->path, sizeof(g->path), "%s", test_path(path));
    return true;
}

static inline void heads_close(struct heads_golden *g)
{
    tn_json_release(&g->doc);
    free(g->text);
}

/* A view of a string of the golden; data NULL when it is not there. */
static inline tn_string heads_string(struct tn_json v)
{
    struct tn_str s = {NULL, 0};
    return tn_json_str(v, &s) ? (tn_string){s.s, s.n} : (tn_string){NULL, 0};
}

static inline tn_plan *heads_plan(struct api *a, const char *path, const char *task, tn_status *status)
{
    tn_package *package = api_open(a, path);
    tn_plan *plan = NULL;
    tn_plan_options o = TN_INIT(tn_plan_options);
    o.task = task;
    *status = package ? tn_plan_new(package, &o, &plan, a->err) : TN_ARTIFACT_MISSING;
    tn_package_free(package);
    return plan;
}

static inline bool heads_serves(struct api *a, const char *path, const char *task)
{
    tn_status st;
    tn_plan_free(heads_plan(a, path, task, &st));
    return st == TN_OK;
}

static inline tn_session *heads_session(struct api *a, const char *path, const char *task)
{
    tn_status st;
    tn_plan *plan = heads_plan(a, path, task, &st);
    if (st) test_fail(__FILE__, __LINE__, "%s for %s: %s: %s", path, task, tn_status_name(st), tn_error_message(a->err));
    tn_session *session = plan ? api_load(a, plan) : NULL;
    tn_plan_free(plan);
    return session;
}

/* Pulls everything in the order of delivery; the outcome must be `expected`. Returns how many items came. */
static inline size_t heads_collect(struct api *a, tn_execution *x, tn_event *events, size_t most, tn_status expected)
{
    size_t n = 0;
    for (;;) {
        tn_event e;
        tn_status st = tn_execution_next(x, UINT32_MAX, &e, a->err);
        if (st || e.kind == TN_EVENT_TERMINAL) {
            if (!st) st = e.status;
            if (st != expected) test_fail(__FILE__, __LINE__, "outcome %s: %s", tn_status_name(st), tn_error_message(a->err));
            return n;
        }
        if (e.kind == TN_EVENT_ITEM && n < most) events[n++] = e;
    }
}

static inline tn_execution *heads_classify(struct api *a, tn_session *session, const tn_classify_request *r, tn_event *events, size_t most)
{
    tn_execution *x = NULL;
    memset(events, 0, most * sizeof(*events));
    tn_status st = tn_classify_start(session, r, &x, a->err);
    if (st) test_fail(__FILE__, __LINE__, "classify: %s: %s", tn_status_name(st), tn_error_message(a->err));
    if (x) CHECK_INT(heads_collect(a, x, events, most, TN_OK), r->count < most ? r->count : most);
    return x;
}

static inline tn_execution *heads_rerank(struct api *a, tn_session *session, const tn_rerank_request *r, tn_event *events, size_t most)
{
    tn_execution *x = NULL;
    memset(events, 0, most * sizeof(*events));
    tn_status st = tn_rerank_start(session, r, &x, a->err);
    if (st) test_fail(__FILE__, __LINE__, "rerank: %s: %s", tn_status_name(st), tn_error_message(a->err));
    if (x) heads_collect(a, x, events, most, TN_OK);
    return x;
}

static inline void heads_compare_row(const char *name, size_t i, struct tn_json expected, const float *row, size_t width, double tolerance)
{
    double scale = 1, worst = 0;
    size_t k = 0;
    if (tn_json_count(expected) != width) {
        test_fail(__FILE__, __LINE__, "%s case %zu: %zu numbers, expected %zu", name, i, width, tn_json_count(expected));
        return;
    }
    for (struct tn_json v = tn_json_first(expected); v.doc; v = tn_json_next(v), k++) {
        double x = NAN;
        tn_json_f64(v, &x);
        scale = fmax(scale, fabs(x));
        if (!(fabs(x - (double)row[k]) <= worst)) worst = fabs(x - (double)row[k]);
    }
    if (!(worst <= tolerance * scale)) test_fail(__FILE__, __LINE__, "%s case %zu: differs by %g", name, i, worst / scale);
}

#endif
