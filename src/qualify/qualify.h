/*
 * Qualification suites: what must hold for a task, tried on one package along one plan. A suite is a user of the
 * public functions (package, plan, session, execution, tokenizer) and sees what users see; only what they do not show
 * (one token's hidden state) is taken from the provider.
 *
 * Golden files are untrusted; the package has been opened already.
 */
#ifndef TN_QUALIFY_QUALIFY_H
#define TN_QUALIFY_QUALIFY_H

#include "provider.h"
#include "record/record.h"

/* What the composition root hands down. All pointers stay the caller's. */
struct tn_qualify_env {
    const struct tn_context *ctx;
    tn_runtime *runtime;
    tn_package *package;
    const struct tn_description *description;
    tn_plan_options plan;           /* task set; numeric and threads as asked */
    tn_cancel_token *cancel;        /* NULL: none; the same as `stop` */
    const struct tn_cancel *stop;
    const char *golden;             /* path, or NULL */
    struct tn_pool *pool;
    const struct tn_provider *provider; /* the one that the plan chose */
    struct tn_record_route route;   /* of that plan */
};

/*
 * Runs the suite of env->plan.task and fills *out (init'ed; the caller releases it) with checks, measures and facts.
 * A check that fails is a row and no failure of the call. The call fails when the package cannot be planned or loaded at
 * all (that error), when the golden cannot be read (TN_ARTIFACT_MISSING, TN_ARTIFACT_MALFORMED, TN_METADATA_INVALID) or
 * was made from other bytes than this package's (TN_ARTIFACT_STALE, with both digests), when cancelled, or without memory.
 */
enum tn_status tn_qualify_run(const struct tn_qualify_env *env, struct tn_record *out, struct tn_error *err);

#endif
