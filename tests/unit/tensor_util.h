/* Sessions of the task tensor over tests/golden/tensor. */
#ifndef TN_TEST_TENSOR_UTIL_H
#define TN_TEST_TENSOR_UTIL_H

#include "api_util.h"

static inline tn_package *tensor_open(struct api *a, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "golden/tensor/%s", name);
    return api_open(a, test_path(path));
}

/* NULL with a->err filled. */
static inline tn_session *tensor_session_of(struct api *a, const char *name, const char *provider)
{
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_package *package = tensor_open(a, name);
    tn_plan *plan = NULL;
    tn_session *session = NULL;
    o.task = "tensor";
    o.provider = provider;
    if (package && tn_plan_new(package, &o, &plan, a->err) == TN_OK) (void)tn_session_load(plan, NULL, &session, a->err);
    tn_plan_free(plan);
    tn_package_free(package);
    return session;
}

static inline tn_session *tensor_session(struct api *a, const char *name)
{
    return tensor_session_of(a, name, NULL);
}

static inline tn_port_value tensor_f32(const char *name, size_t rank, const int64_t *dims, const float *data)
{
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) count *= (size_t)dims[i];
    return (tn_port_value){.name = api_string(name), .kind = TN_VALUE_TENSOR, .element = "float32", .rank = rank, .dims = dims,
                           .data = data, .size = count * sizeof(float)};
}

static inline tn_port_value tensor_json(const char *name, const char *text)
{
    return (tn_port_value){.name = api_string(name), .kind = TN_VALUE_JSON, .data = text, .size = strlen(text)};
}

static inline tn_tensor_request tensor_request(const tn_port_value *inputs, size_t count)
{
    tn_tensor_request r = TN_INIT(tn_tensor_request);
    r.inputs = inputs;
    r.count = count;
    return r;
}

#endif
