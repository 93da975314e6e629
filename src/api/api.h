/*
 * The composition root: handles behind the public functions, and what lower layers need of one another. Only src/api
 * knows which providers, families and stores exist. Arguments come from callers and are checked here: NULL, struct sizes
 * and enumerations are TN_INVALID_REQUEST and never a crash.
 *
 * Every handle holds a reference on what it depends on (execution, session, plan, package, runtime), so that the order
 * of freeing does not matter.
 */
#ifndef TN_API_API_H
#define TN_API_API_H

#include "base/json_write.h"
#include "base/os_thread.h"
#include "base/pool.h"
#include "base/ref.h"
#include "plan/plan.h"

enum { TN_PROVIDERS = 5 };

struct tn_runtime {
    struct tn_ref ref;
    struct tn_alloc alloc; /* of everything, this struct included */
    struct tn_context ctx;
    struct tn_mutex lock;
    struct tn_pool *pool;  /* guarded by the lock; made by the first load */
    unsigned threads;      /* of the pool, >= 1 */
    char *cache_folder, *state_folder; /* NULL: none */
    struct tn_record_store records;    /* .folder NULL: none */
    struct tn_counters counters;
    struct tn_ort *ort;                /* owned */
    struct tn_provider_entry providers[TN_PROVIDERS];
};

struct tn_package {
    struct tn_ref ref;
    struct tn_runtime *runtime;
    struct tn_inventory *inventory;
    struct tn_description *description;
    struct tn_mutex lock; /* guards what verification found out */
    bool have_closure, have_weights;
    struct tn_digest closure, weights;
};

struct tn_document {
    struct tn_runtime *runtime;
    char *text;
    size_t length;
};

struct tn_cancel_token {
    struct tn_ref ref; /* the caller's, and each call that polls it */
    struct tn_runtime *runtime;
    struct tn_cancel cancel;
};

/* ---- runtime.c ------------------------------------------------------------------------------------------------------ */

void tn_runtime_ref(struct tn_runtime *runtime);
void tn_runtime_unref(struct tn_runtime *runtime);
/* The shared pool, made on first use. */
enum tn_status tn_runtime_pool(struct tn_runtime *runtime, struct tn_pool **out, struct tn_error *err);
/*
 * Hands on what a call ended with. Where the runtime's memory limit was what stopped it, the error gets the two numbers
 * that a caller needs: the limit, and what would have been held at that point.
 */
enum tn_status tn_short_of_memory(const struct tn_alloc *alloc, enum tn_status st, struct tn_error *err);
/* The store of records, or NULL when the runtime has no state folder. */
const struct tn_record_store *tn_runtime_records(const struct tn_runtime *runtime);

/* ---- providers.c ---------------------------------------------------------------------------------------------------- */

/* Makes the providers of a runtime. False without memory. */
bool tn_providers_init(struct tn_runtime *runtime, const char *onnxruntime_library);
void tn_providers_release(struct tn_runtime *runtime);
/* Every provider that has a name, those of this build first. */
const struct tn_provider_entry *tn_provider_entries(const struct tn_runtime *runtime, size_t *count);

/* ---- package_api.c --------------------------------------------------------------------------------------------------- */

void tn_package_ref(struct tn_package *package);
void tn_package_unref(struct tn_package *package);
/* The identity of all files, when a verification has found it. */
bool tn_package_closure(struct tn_package *package, struct tn_digest *out);
/* What a load or a verification found out about the weights, for later inspections. */
void tn_package_learn_weights(struct tn_package *package, const struct tn_digest *weights);

/* ---- plan_api.c ------------------------------------------------------------------------------------------------------- */

/* What planning for this package needs. Views; valid while the package is. */
struct tn_planner tn_package_planner(struct tn_package *package);
/* What keeps the package alive for a plan: takes a reference. */
struct tn_keep tn_package_keep(struct tn_package *package);

/* ---- arguments.c ------------------------------------------------------------------------------------------------------ */

/*
 * Copies a caller's option struct of `from_size` bytes into ours of `size` bytes: older callers' structs are shorter and
 * leave zeros, newer ones' may be longer if what we do not know is zero. NULL options leave zeros. `name` is for errors.
 */
enum tn_status tn_read_options(void *to, size_t size, const void *options, const char *name, struct tn_error *err);
/* TN_INVALID_REQUEST naming the argument. */
enum tn_status tn_null_argument(struct tn_error *err, enum tn_phase phase, const char *name);

/* ---- document.c ------------------------------------------------------------------------------------------------------- */

/* A document in the making: write to &b.w, then tn_document_finish. */
struct tn_document_builder {
    struct tn_runtime *runtime;
    struct tn_buf buf;
    struct tn_json_writer w;
};

void tn_document_begin(struct tn_document_builder *b, struct tn_runtime *runtime);
/* `st`, when it is a failure, is returned and the document dropped; else *out is the document or the error is filled. */
enum tn_status tn_document_finish(struct tn_document_builder *b, enum tn_status st, struct tn_document **out,
                                  struct tn_error *err);

/* A document whose text exists already. */
enum tn_status tn_document_of(struct tn_runtime *runtime, struct tn_str text, struct tn_document **out, struct tn_error *err);

/* ---- cancel.c ----------------------------------------------------------------------------------------------------------- */

/* What a call polls: the token's request and a time limit of its own; either may be absent. `own` is the caller's. */
const struct tn_cancel *tn_cancel_begin(struct tn_cancel *own, struct tn_cancel_token *token, uint32_t timeout_ms);
void tn_cancel_end(struct tn_cancel_token *token);

#endif
