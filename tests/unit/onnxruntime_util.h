/* Tests with the real library: TENON_ONNXRUNTIME, else what `make deps-onnxruntime` has brought; without it they are skipped. */
#ifndef TN_TEST_ONNXRUNTIME_UTIL_H
#define TN_TEST_ONNXRUNTIME_UTIL_H

#include "tensor_cases.h"

static inline const char *ort_path(void)
{
    static char path[1024];
    const char *named = getenv("TENON_ONNXRUNTIME"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    size_t n;
    if (named && *named) snprintf(path, sizeof(path), "%s", named);
    else if (cache && *cache) snprintf(path, sizeof(path), "%s/tenon/onnxruntime/1.32.0/libonnxruntime.so.1.32.0", cache);
    else snprintf(path, sizeof(path), "%s/.cache/tenon/onnxruntime/1.32.0/libonnxruntime.so.1.32.0", home ? home : "");
    char *there = test_read_file(path, &n);
    free(there);
    return there ? path : NULL;
}

static inline void ort_begin(struct api *a, unsigned threads)
{
    const char *path = ort_path();
    if (!path) test_skip("no library of ONNX Runtime here: make deps-onnxruntime");
    REQUIRE(api_begin_with(a, threads, path));
}

static inline tn_session *ort_session(struct api *a, const char *name)
{
    tn_session *session = tensor_session_of(a, name, "onnxruntime");
    if (!session) test_fail(__FILE__, __LINE__, "%s: %s: %s [%s]", name, tn_status_name(tn_error_code(a->err)), tn_error_message(a->err), tn_error_found(a->err));
    return session;
}

#endif
