/*
 * Helpers for tests over the public interface: a host allocator that counts, the road from a path to a session, and a
 * request that is run to its end.
 */
#ifndef TN_TEST_API_UTIL_H
#define TN_TEST_API_UTIL_H

#include "tenon/tenon.h"
#include "test.h"

#include <stdatomic.h>
#include <stdlib.h>

struct api_host {
    _Atomic long blocks, bytes;
};

static inline void *api_allocate(void *user, size_t size)
{
    struct api_host *host = user;
    size_t *p = malloc(size + 16);
    if (!p) return NULL;
    p[0] = size;
    atomic_fetch_add(&host->blocks, 1);
    atomic_fetch_add(&host->bytes, (long)size);
    return (char *)p + 16;
}

static inline void api_release(void *user, void *p)
{
    struct api_host *host = user;
    size_t *block = (size_t *)(void *)((char *)p - 16);
    atomic_fetch_sub(&host->blocks, 1);
    atomic_fetch_sub(&host->bytes, (long)block[0]);
    free(block);
}

struct api {
    struct api_host host;
    tn_runtime *runtime;
    tn_error *err;
};

/* `library`: of ONNX Runtime; NULL: the loader's places. */
static inline bool api_begin_with(struct api *a, unsigned threads, const char *library)
{
    a->host.blocks = a->host.bytes = 0;
    tn_runtime_options o = TN_INIT(tn_runtime_options);
    o.allocate = api_allocate;
    o.release = api_release;
    o.allocator_user = &a->host;
    o.threads = threads;
    o.onnxruntime_library = library;
    a->err = tn_error_new();
    return a->err && tn_runtime_new(&o, &a->runtime, a->err) == TN_OK;
}

static inline bool api_begin(struct api *a, unsigned threads)
{
    return api_begin_with(a, threads, NULL);
}

/* Everything is freed; nothing of the host's memory is held any more. */
static inline void api_end(struct api *a)
{
    tn_runtime_free(a->runtime);
    CHECK_INT(a->host.blocks, 0);
    CHECK_INT(a->host.bytes, 0);
    tn_error_free(a->err);
}

static inline tn_package *api_open(struct api *a, const char *path)
{
    tn_package *package = NULL;
    tn_status st = tn_package_open(a->runtime, path, NULL, &package, a->err);
    if (st) test_fail(__FILE__, __LINE__, "open %s: %s: %s", path, tn_status_name(st), tn_error_message(a->err));
    return package;
}

static inline tn_plan *api_plan_of(struct api *a, tn_package *package, const char *provider)
{
    tn_plan *plan = NULL;
    tn_plan_options o = TN_INIT(tn_plan_options);
    o.task = "embedding.dense";
    o.provider = provider;
    tn_status st = tn_plan_new(package, &o, &plan, a->err);
    if (st) test_fail(__FILE__, __LINE__, "plan: %s: %s", tn_status_name(st), tn_error_message(a->err));
    return plan;
}

static inline tn_plan *api_plan(struct api *a, tn_package *package)
{
    return api_plan_of(a, package, NULL);
}

static inline tn_session *api_load(struct api *a, tn_plan *plan)
{
    tn_session *session = NULL;
    tn_status st = tn_session_load(plan, NULL, &session, a->err);
    if (st) test_fail(__FILE__, __LINE__, "load: %s: %s", tn_status_name(st), tn_error_message(a->err));
    return session;
}

/* Package, plan and session in one; the first two are freed, the session keeps what it needs. */
static inline tn_session *api_session_of(struct api *a, const char *path, const char *provider)
{
    tn_package *package = api_open(a, path);
    tn_plan *plan = package ? api_plan_of(a, package, provider) : NULL;
    tn_session *session = plan ? api_load(a, plan) : NULL;
    tn_plan_free(plan);
    tn_package_free(package);
    return session;
}

static inline tn_session *api_session(struct api *a, const char *path)
{
    return api_session_of(a, path, NULL);
}

static inline tn_string api_string(const char *s)
{
    return (tn_string){s, strlen(s)};
}

static inline tn_embed_request api_request(const tn_string *texts, size_t count)
{
    tn_embed_request r = TN_INIT(tn_embed_request);
    r.texts = texts;
    r.count = count;
    return r;
}

/* Pulls everything; items in order. Returns the outcome; events[i] of item i when `events` is not NULL. */
static inline tn_status api_collect(tn_execution *x, tn_event *events, size_t count, tn_error *err)
{
    size_t next = 0;
    for (;;) {
        tn_event e;
        tn_status st = tn_execution_next(x, UINT32_MAX, &e, err);
        if (st) return st;
        if (e.kind == TN_EVENT_TERMINAL) return e.status;
        if (e.kind != TN_EVENT_ITEM) continue;
        CHECK_INT(e.index, next);
        next++;
        if (events && e.index < count) events[e.index] = e;
    }
}

#endif
