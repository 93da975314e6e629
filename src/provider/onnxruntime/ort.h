/*
 * The provider ONNX Runtime: graphs from files, run by a library that is found when it is first asked for. Internal to
 * src/provider/onnxruntime.
 *
 * abi.h       its C interface, as far as we use it
 * library.c   finding it, its version, its environment
 * memory.c    what it allocates, counted in the session that it is for
 * status.c    what it says went wrong, and its log
 * assess.c    whether it takes a graph: from headers and a table by version
 * device.c    its devices: whether one is there, and where nodes went
 * load.c      a session of it, made from the bytes that we have read
 * value.c     our tensors as its values and back
 * run.c       calls
 * watch.c     cancels and deadlines on the way to it
 * provider.c  the row in the table of providers
 *
 * The library is never closed once it has been taken: its threads and its own globals may outlive every session.
 */
#ifndef TN_PROVIDER_ONNXRUNTIME_ORT_H
#define TN_PROVIDER_ONNXRUNTIME_ORT_H

#include "base/os_thread.h"
#include "net/net.h"
#include "provider.h"
#include "provider/onnxruntime/abi.h"
#include "provider/onnxruntime/onnxruntime.h"
#include "provider/texts/texts.h"

/* Minor versions of 1.x: from the first to the last one that answers have been compared with (docs/ONNXRUNTIME.md). */
enum { TN_ORT_OLDEST = 20, TN_ORT_NEWEST = 32 };

enum { TN_ORT_CALLERS = 64, TN_ORT_DEVICES = 16 };

struct tn_ort_memory;

/* A call into the library that is under way: what the thread allocates meanwhile belongs to `memory`. */
struct tn_ort_caller {
    uint64_t thread;
    struct tn_ort_memory *memory;
};

/* What OrtAllocator's functions get: first in its struct. */
struct tn_ort_host {
    struct tn_ort_allocator table;
    struct tn_ort *ort;
};

/* One for each runtime. Everything below the lock is written with it held, and read without once `state` is settled. */
struct tn_ort {
    struct tn_provider provider; /* first: providers are handed to us as pointers to it */
    const struct tn_context *ctx;
    char *path; /* as the caller gave it; NULL: the loader's usual places */
    struct tn_mutex lock;
    enum { TN_ORT_UNTRIED, TN_ORT_PRESENT, TN_ORT_ABSENT } state;
    struct tn_finding absent; /* why */
    struct tn_ort_api api;
    char file[256];           /* what was opened */
    char version[32], build[512];
    unsigned minor;
    char devices[TN_ORT_DEVICES][48]; /* execution providers that this build has */
    unsigned device_count;
    /* with the lock */
    struct tn_ort_env *env; /* while there are sessions */
    unsigned env_users;
    struct tn_ort_memory_info *info;
    struct tn_ort_host host;
    bool counted; /* `host` is the environment's allocator */
    struct tn_mutex callers_lock;
    struct tn_ort_caller callers[TN_ORT_CALLERS];
    unsigned caller_count;
};

/* NULL when there is no library; then *why says it. Any thread; finds it on first use. */
const struct tn_ort_api *tn_ort_library(struct tn_ort *ort, const struct tn_finding **why);
bool tn_ort_has_device(const struct tn_ort *ort, const char *name);
/* The environment, which all sessions share. */
enum tn_status tn_ort_env_take(struct tn_ort *ort, struct tn_ort_env **out, struct tn_error *err);
void tn_ort_env_drop(struct tn_ort *ort);

/* ---- memory --------------------------------------------------------------------------------------------------------- */

/* What one session allocates through us. */
struct tn_ort_memory {
    struct tn_alloc *alloc; /* the lease */
    struct tn_mutex lock;
    struct tn_heap heap;    /* of calls: freed blocks are kept for the next one */
    bool loading;           /* blocks come and go as they are: weights stay, and nothing is kept for later */
    bool refused;           /* it asked for memory and got none */
    uint64_t blocks;        /* out now */
};

bool tn_ort_memory_init(struct tn_ort_memory *m, struct tn_alloc *alloc);
/* All blocks have been given back. */
void tn_ort_memory_release(struct tn_ort_memory *m);
/* Around each call that may allocate. */
void tn_ort_enter(struct tn_ort *ort, struct tn_ort_memory *m);
void tn_ort_leave(struct tn_ort *ort);
void tn_ort_host_init(struct tn_ort *ort);

/* ---- what it says --------------------------------------------------------------------------------------------------- */

/*
 * A status into a code and an error, and releases it. TN_OK for NULL. `quiet`: its words may quote what a request holds, so
 * that they are not shown.
 */
enum tn_status tn_ort_fail(const struct tn_ort_api *api, struct tn_ort_status *status, enum tn_phase phase, bool quiet, struct tn_error *err);
/* Releases a status that nobody wants. */
void tn_ort_ignore(const struct tn_ort_api *api, struct tn_ort_status *status);
/* tn_ort_log_fn; `user` is a context, NULL: silent. */
void tn_ort_log(void *user, int level, const char *category, const char *id, const char *where, const char *text);
/* tn_ort_log_fn that says nothing. */
void tn_ort_log_nothing(void *user, int level, const char *category, const char *id, const char *where, const char *text);

/* ---- assessment ------------------------------------------------------------------------------------------------------ */

struct tn_ort_program {
    struct tn_ort *ort;
    struct tn_digest structure;
    struct tn_str members; /* of the plan document: the text of a JSON object */
    const char *isa_class;
    const char *device; /* execution provider behind --device; NULL: the CPU's alone */
    bool strict;        /* no node may go to another device */
    bool plain;         /* without its optimisations */
    bool texts;         /* a port carries strings: messages may quote them */
    struct tn_texts_plan *through; /* how texts become calls; NULL: it is called with tensors */
    unsigned threads;
};

enum tn_status tn_ort_assess(const struct tn_provider *p, const struct tn_component_request *request, struct tn_assessment *a,
                          struct tn_error *err);

/* ---- devices ---------------------------------------------------------------------------------------------------------- */

/* The execution provider for a device that is not the CPU; NULL: the build has none. */
const char *tn_ort_device_of(const struct tn_ort *ort, const struct tn_hint_device *device);
struct tn_ort_status *tn_ort_add_device(const struct tn_ort_api *api, struct tn_ort_session_options *o, const char *name,
                                        const struct tn_hint_device *device);
enum tn_status tn_ort_probe_device(const struct tn_provider *p, const struct tn_component_request *request, struct tn_findings *findings,
                                   struct tn_error *err);
/* Of a session that has just been made. False without memory. */
bool tn_ort_see_partitions(struct tn_instance *instance, const struct tn_component_request *request);
size_t tn_ort_partitions(const struct tn_instance *instance, const struct tn_partition **out);

/* ---- calls under way -------------------------------------------------------------------------------------------------- */

/* Looks after one call at a time: passes a cancel or a deadline on to the library, which cannot be asked to look itself. */
struct tn_ort_watch {
    const struct tn_ort_api *api;
    struct tn_mutex lock;
    struct tn_cond wake;
    struct tn_thread thread;
    bool have_lock, have_wake, have_thread;
    bool ending, asleep, fired;
    const struct tn_cancel *cancel;      /* of the call; NULL: none is under way */
    struct tn_ort_run_options *run;         /* what to stop, */
    struct tn_ort_session_options *loading; /* or the load that is under way */
};

bool tn_ort_watch_start(struct tn_ort_watch *w, const struct tn_ort_api *api);
void tn_ort_watch_end(struct tn_ort_watch *w);
void tn_ort_watch_begin_call(struct tn_ort_watch *w, const struct tn_cancel *cancel, struct tn_ort_run_options *run,
                          struct tn_ort_session_options *loading);
/* Whether the call was told to stop. */
bool tn_ort_watch_end_call(struct tn_ort_watch *w);

/* ---- a loaded graph --------------------------------------------------------------------------------------------------- */

struct tn_ort_port {
    const char *name;
    const struct tn_onnx_port *port;
    bool fixed;   /* every dimension is stated: a result may be written where we want it, */
    bool settled; /* once a call has shown that it comes out so */
    uint32_t rank;
    int64_t dims[TN_RANK];
};

/* A value inside the graph, for comparisons. */
struct tn_ort_told {
    const char *name;
    struct tn_str node, by;
    bool output; /* of the graph itself */
};

struct tn_instance {
    struct tn_ort *ort;
    const struct tn_ort_api *api;
    const struct tn_ort_program *program;
    const struct tn_context *ctx;
    struct tn_arena arena;
    struct tn_ort_env *env;
    struct tn_ort_session *session;
    struct tn_ort_run_options *run_options;
    struct tn_ort_memory memory;
    bool have_memory;
    struct tn_ort_watch watch;
    struct tn_ort_port *inputs, *outputs;
    uint32_t input_count, output_count;
    /* of a call */
    const char **in_names, **out_names;
    struct tn_ort_value **in_values, **out_values;
    struct tn_tensor **bound; /* by output: where its result is to be written; NULL: wherever the library likes */
    uint32_t *out_ports;
    struct tn_heap heap; /* of results */
    struct tn_texts *through; /* owned; NULL: it is called with tensors */
    struct tn_partition *partitions; /* [TN_ORT_DEVICES] */
    uint32_t partition_count;
    struct tn_digest digest;
    struct tn_ort_told *told; /* [told_count] values inside that a call can tell */
    uint32_t told_count, told_added; /* added: that are no outputs of the graph itself */
};

enum tn_status tn_ort_load(const struct tn_assessment *a, const struct tn_component_request *request, const struct tn_load_env *env,
                        struct tn_instance **out, struct tn_error *err);
void tn_ort_unload(struct tn_instance *instance);
enum tn_status tn_ort_run(struct tn_instance *instance, const struct tn_tensor_call *call, struct tn_error *err);

/* told.c: those of request->told that the graph has; false without memory. */
bool tn_ort_told_choose(struct tn_instance *instance, const struct tn_component_request *request, const struct tn_net *net);
/* The bytes of a model with these as outputs of its graph, in the place of *model; false without memory. */
bool tn_ort_told_append(const struct tn_instance *instance, struct tn_alloc *alloc, char **model, size_t *size);
enum tn_status tn_ort_run_told(struct tn_instance *instance, const struct tn_tensor_call *call, const struct tn_teller *teller,
                               struct tn_error *err);

/* The number of an element type there; 0: it has none. */
int tn_ort_type_of(enum tn_element element);
enum tn_element tn_ort_element_of(int type);
/* A value over the memory of `t`, which stays where it is until the value is released; texts are copied. */
enum tn_status tn_ort_value_of(struct tn_instance *instance, const struct tn_tensor *t, struct tn_ort_value **out, struct tn_error *err);
/* A value of the instance's heap. `optional`: the port is one. */
enum tn_status tn_ort_value_read(struct tn_instance *instance, struct tn_ort_value *value, bool optional, struct tn_tensor **out,
                              struct tn_error *err);

#endif
