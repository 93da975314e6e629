/*
 * Qualification suites: what must hold for a task, tried on one package along one plan. A suite is a user of the
 * public functions (package, plan, session, execution, tokenizer) and sees what users see; only what they do not show
 * (one token's hidden state) is taken from the provider.
 *
 * Golden files are untrusted; the package has been opened already.
 */
#ifndef TN_QUALIFY_QUALIFY_H
#define TN_QUALIFY_QUALIFY_H

#include "base/pool.h"
#include "record/record.h"

/* What the composition root hands down. All pointers stay the caller's. */
struct tn_qualify_env {
    const struct tn_context *ctx;
    tn_runtime *runtime;
    tn_package *package;
    const tn_plan_options *plan;  /* NULL: defaults */
    tn_cancel_token *cancel;      /* NULL: none; */
    const struct tn_cancel *stop; /* the same request, to be polled */
    const char *golden;           /* path, or NULL */
    struct tn_pool *pool;
    unsigned threads;             /* of the pool */
};

/*
 * Runs the suite of the plan's task and fills *out (init'ed; the caller releases it, also after a failure) with checks,
 * measures and facts. A check that fails is a row and no failure of the call. The call fails when the package cannot be
 * planned or loaded at all (with that error), when the golden cannot be read (TN_ARTIFACT_MISSING, TN_METADATA_INVALID,
 * or what the JSON reader says) or was made from other bytes than this package's (TN_ARTIFACT_STALE, with both digests),
 * when cancelled, or without memory. Memory is measured on the runtime's account: nothing else should use the runtime.
 */
enum tn_status tn_qualify_run(const struct tn_qualify_env *env, struct tn_record *out, struct tn_error *err);

#endif
