/*
 * The part of ONNX Runtime's C interface that we call, in our own words. Its table of functions only ever grows at the end,
 * so the place of a function is a fact; `since` is the minor version that brought it. Nothing of theirs is needed to build.
 *
 * Functions that give a status give NULL where all went well; a status is released by whoever asked. What a function makes
 * is released by the `release` of its kind.
 */
#ifndef TN_PROVIDER_ONNXRUNTIME_ABI_H
#define TN_PROVIDER_ONNXRUNTIME_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tn_ort_env;
struct tn_ort_status;
struct tn_ort_memory_info;
struct tn_ort_session;
struct tn_ort_value;
struct tn_ort_run_options;
struct tn_ort_tensor_info;
struct tn_ort_session_options;
struct tn_ort_cuda_options;
struct tn_ort_subgraph;
struct tn_ort_node;

enum tn_ort_code {
    TN_ORT_OK,
    TN_ORT_FAIL,
    TN_ORT_INVALID_ARGUMENT,
    TN_ORT_NO_FILE,
    TN_ORT_NO_MODEL,
    TN_ORT_ENGINE_ERROR,
    TN_ORT_RUNTIME_EXCEPTION,
    TN_ORT_INVALID_PROTOBUF,
    TN_ORT_MODEL_LOADED,
    TN_ORT_NOT_IMPLEMENTED,
    TN_ORT_INVALID_GRAPH,
    TN_ORT_EP_FAIL,
    TN_ORT_LOAD_CANCELED,
    TN_ORT_NEEDS_COMPILATION,
    TN_ORT_NOT_FOUND,
    TN_ORT_DEVICE_RESET,
    TN_ORT_CODES
};

enum tn_ort_kind { TN_ORT_UNKNOWN, TN_ORT_TENSOR, TN_ORT_SEQUENCE, TN_ORT_MAP, TN_ORT_OPAQUE, TN_ORT_SPARSE, TN_ORT_OPTIONAL };
enum tn_ort_log_level { TN_ORT_LOG_VERBOSE, TN_ORT_LOG_INFO, TN_ORT_LOG_WARNING, TN_ORT_LOG_ERROR, TN_ORT_LOG_FATAL };
enum tn_ort_optimization { TN_ORT_OPTIMIZE_NONE = 0, TN_ORT_OPTIMIZE_ALL = 99 };
enum tn_ort_execution { TN_ORT_SEQUENTIAL, TN_ORT_PARALLEL };
enum { TN_ORT_DEVICE_ALLOCATOR = 0, TN_ORT_MEMORY_DEFAULT = 0 };

typedef void (*tn_ort_log_fn)(void *user, int level, const char *category, const char *id, const char *where, const char *text);

/* What we hand over for memory; a version below 18 says that it ends here. */
struct tn_ort_allocator {
    uint32_t version;
    void *(*alloc)(struct tn_ort_allocator *self, size_t size);
    void (*free)(struct tn_ort_allocator *self, void *p);
    const struct tn_ort_memory_info *(*info)(const struct tn_ort_allocator *self);
};
enum { TN_ORT_ALLOCATOR_VERSION = 17 };

/* What the library's one symbol, OrtGetApiBase, gives. */
struct tn_ort_base {
    const void *const *(*table)(uint32_t version); /* NULL: it does not have this version */
    const char *(*version)(void);
};

/* X(since, place in the table, name, type, parameters) */
#define TN_ORT_FUNCTION_LIST(X)                                                                                            \
    X(1, 1, code_of, int, (const struct tn_ort_status *status))                                                            \
    X(1, 2, text_of, const char *, (const struct tn_ort_status *status))                                                   \
    X(1, 4, env_new, struct tn_ort_status *,                                                                               \
      (tn_ort_log_fn log, void *user, int level, const char *id, struct tn_ort_env **out))                                    \
    X(1, 6, telemetry_off, struct tn_ort_status *, (const struct tn_ort_env *env))                                            \
    X(1, 8, session_new, struct tn_ort_status *,                                                                           \
      (const struct tn_ort_env *env, const void *model, size_t size, const struct tn_ort_session_options *options,            \
       struct tn_ort_session **out))                                                                                       \
    X(1, 9, run, struct tn_ort_status *,                                                                                   \
      (struct tn_ort_session *session, const struct tn_ort_run_options *options, const char *const *in_names,                 \
       const struct tn_ort_value *const *in, size_t in_count, const char *const *out_names, size_t out_count,              \
       struct tn_ort_value **out))                                                                                         \
    X(1, 10, options_new, struct tn_ort_status *, (struct tn_ort_session_options **out))                                      \
    X(1, 13, options_execution, struct tn_ort_status *, (struct tn_ort_session_options *options, int mode))                   \
    X(1, 16, options_pattern_on, struct tn_ort_status *, (struct tn_ort_session_options *options))                            \
    X(1, 17, options_pattern_off, struct tn_ort_status *, (struct tn_ort_session_options *options))                           \
    X(1, 19, options_arena_off, struct tn_ort_status *, (struct tn_ort_session_options *options))                             \
    X(1, 22, options_log_level, struct tn_ort_status *, (struct tn_ort_session_options *options, int level))                  \
    X(1, 23, options_optimization, struct tn_ort_status *, (struct tn_ort_session_options *options, int level))               \
    X(1, 24, options_intra, struct tn_ort_status *, (struct tn_ort_session_options *options, int threads))                    \
    X(1, 25, options_inter, struct tn_ort_status *, (struct tn_ort_session_options *options, int threads))                    \
    X(1, 29, options_custom, struct tn_ort_status *,                                                                       \
      (struct tn_ort_session_options *options, const char *path, void **library))                                          \
    X(1, 30, input_count, struct tn_ort_status *, (const struct tn_ort_session *session, size_t *out))                        \
    X(1, 31, output_count, struct tn_ort_status *, (const struct tn_ort_session *session, size_t *out))                       \
    X(1, 39, run_options_new, struct tn_ort_status *, (struct tn_ort_run_options **out))                                      \
    X(1, 46, terminate, struct tn_ort_status *, (struct tn_ort_run_options *options))                                         \
    X(1, 47, terminate_not, struct tn_ort_status *, (struct tn_ort_run_options *options))                                     \
    X(1, 48, tensor_new, struct tn_ort_status *,                                                                           \
      (struct tn_ort_allocator *allocator, const int64_t *dims, size_t rank, int type, struct tn_ort_value **out))            \
    X(1, 49, tensor_over, struct tn_ort_status *,                                                                          \
      (const struct tn_ort_memory_info *info, void *data, size_t size, const int64_t *dims, size_t rank, int type,         \
       struct tn_ort_value **out))                                                                                         \
    X(1, 51, tensor_data, struct tn_ort_status *, (struct tn_ort_value *value, void **out))                                   \
    X(1, 53, text_bytes, struct tn_ort_status *, (const struct tn_ort_value *value, size_t *out))                             \
    X(1, 54, texts_read, struct tn_ort_status *,                                                                           \
      (const struct tn_ort_value *value, void *bytes, size_t size, size_t *offsets, size_t count))                         \
    X(1, 60, info_type, struct tn_ort_status *, (const struct tn_ort_tensor_info *info, int *out))                            \
    X(1, 61, info_rank, struct tn_ort_status *, (const struct tn_ort_tensor_info *info, size_t *out))                         \
    X(1, 62, info_dims, struct tn_ort_status *, (const struct tn_ort_tensor_info *info, int64_t *dims, size_t rank))          \
    X(1, 65, tensor_info, struct tn_ort_status *, (const struct tn_ort_value *value, struct tn_ort_tensor_info **out))           \
    X(1, 67, kind_of, struct tn_ort_status *, (const struct tn_ort_value *value, int *out))                                   \
    X(1, 69, memory_info_cpu, struct tn_ort_status *, (int allocator, int memory, struct tn_ort_memory_info **out))           \
    X(1, 78, allocator_default, struct tn_ort_status *, (struct tn_ort_allocator **out))                                      \
    X(1, 80, item, struct tn_ort_status *,                                                                                 \
      (const struct tn_ort_value *value, int index, struct tn_ort_allocator *allocator, struct tn_ort_value **out))              \
    X(1, 81, item_count, struct tn_ort_status *, (const struct tn_ort_value *value, size_t *out))                             \
    X(1, 82, group_new, struct tn_ort_status *,                                                                            \
      (const struct tn_ort_value *const *items, size_t count, int kind, struct tn_ort_value **out))                           \
    X(1, 92, env_release, void, (struct tn_ort_env *env))                                                                  \
    X(1, 93, status_release, void, (struct tn_ort_status *status))                                                         \
    X(1, 94, memory_info_release, void, (struct tn_ort_memory_info *info))                                                 \
    X(1, 95, session_release, void, (struct tn_ort_session *session))                                                      \
    X(1, 96, value_release, void, (struct tn_ort_value *value))                                                            \
    X(1, 97, run_options_release, void, (struct tn_ort_run_options *options))                                              \
    X(1, 99, tensor_info_release, void, (struct tn_ort_tensor_info *info))                                                 \
    X(1, 100, options_release, void, (struct tn_ort_session_options *options))                                             \
    X(4, 125, devices, struct tn_ort_status *, (char ***out, int *count))                                                  \
    X(4, 126, devices_release, struct tn_ort_status *, (char **list, int count))                                           \
    X(5, 130, options_entry, struct tn_ort_status *,                                                                       \
      (struct tn_ort_session_options *options, const char *key, const char *value))                                        \
    X(9, 176, allocator_register, struct tn_ort_status *, (struct tn_ort_env *env, struct tn_ort_allocator *allocator))          \
    X(9, 177, allocator_forget, struct tn_ort_status *, (struct tn_ort_env *env, const struct tn_ort_memory_info *info))         \
    X(10, 192, has_value, struct tn_ort_status *, (const struct tn_ort_value *value, int *out))                               \
    X(11, 204, options_cuda, struct tn_ort_status *,                                                                       \
      (struct tn_ort_session_options *options, const struct tn_ort_cuda_options *cuda))                                       \
    X(11, 205, cuda_options_new, struct tn_ort_status *, (struct tn_ort_cuda_options **out))                                  \
    X(11, 206, cuda_options_set, struct tn_ort_status *,                                                                   \
      (struct tn_ort_cuda_options *options, const char *const *keys, const char *const *values, size_t count))             \
    X(11, 208, cuda_options_release, void, (struct tn_ort_cuda_options *options))                                          \
    X(12, 216, options_device, struct tn_ort_status *,                                                                     \
      (struct tn_ort_session_options *options, const char *name, const char *const *keys, const char *const *values,       \
       size_t count))                                                                                                   \
    X(15, 252, text_room, struct tn_ort_status *, (struct tn_ort_value *value, size_t index, size_t size, char **out))        \
    X(15, 254, build, const char *, (void))                                                                             \
    X(17, 266, options_log, struct tn_ort_status *, (struct tn_ort_session_options *options, tn_ort_log_fn log, void *user))     \
    X(18, 279, options_files, struct tn_ort_status *,                                                                      \
      (struct tn_ort_session_options *options, const char *const *names, char *const *bytes, const size_t *sizes,          \
       size_t count))                                                                                                   \
    X(22, 293, options_cancel, struct tn_ort_status *, (struct tn_ort_session_options *options, bool cancel))                 \
    X(24, 407, assignment, struct tn_ort_status *,                                                                         \
      (const struct tn_ort_session *session, const struct tn_ort_subgraph *const **out, size_t *count))                       \
    X(24, 408, subgraph_device, struct tn_ort_status *, (const struct tn_ort_subgraph *subgraph, const char **out))           \
    X(24, 409, subgraph_nodes, struct tn_ort_status *,                                                                     \
      (const struct tn_ort_subgraph *subgraph, const struct tn_ort_node *const **out, size_t *count))                         \
    X(24, 410, node_name, struct tn_ort_status *, (const struct tn_ort_node *node, const char **out))                         \
    X(24, 412, node_operator, struct tn_ort_status *, (const struct tn_ort_node *node, const char **out))

/* The functions of the negotiated version; those that it does not have are NULL. */
struct tn_ort_api {
#define X(since, place, name, type, parameters) type(*name) parameters;
    TN_ORT_FUNCTION_LIST(X)
#undef X
};

#endif
