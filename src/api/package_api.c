/* Packages as handles: inventory and description together, immutable, and what verification adds to them. */
#include "api/api.h"

#include "session/session.h"

void tn_package_ref(struct tn_package *package)
{
    tn_ref_take(&package->ref);
}

static void destroy(struct tn_package *p)
{
    struct tn_runtime *runtime = p->runtime;
    tn_description_free(p->description);
    tn_inventory_free(p->inventory);
    tn_mutex_release(&p->lock);
    tn_free(&runtime->alloc, p);
    tn_runtime_unref(runtime);
}

void tn_package_unref(struct tn_package *package)
{
    if (tn_ref_drop(&package->ref)) destroy(package);
}

static enum tn_status describe(struct tn_package *p, const tn_package_options *o, struct tn_error *err)
{
    struct tn_describe_options d = {
        .variant = o->variant,
        .descriptive = o->descriptive,
        .descriptive_count = o->descriptive_count,
        .accept_loss = o->accept_loss != 0,
    };
    d.schemas = tn_family_schemas(&d.schema_count);
    d.judge = tn_tokenizer_judge;
    return tn_describe(p->inventory, &d, &p->description, err);
}

static enum tn_status check_options(const tn_package_options *o, struct tn_error *err)
{
    if (o->descriptive_count > 0 && !o->descriptive) return tn_null_argument(err, TN_PHASE_PACKAGE, "descriptive");
    for (size_t i = 0; i < o->descriptive_count; i++) {
        if (!o->descriptive[i]) return tn_null_argument(err, TN_PHASE_PACKAGE, "descriptive");
    }
    return TN_OK;
}

TN_API tn_status tn_package_open(tn_runtime *runtime, const char *path, const tn_package_options *options,
                                 tn_package **out, tn_error *err)
{
    tn_package_options o;
    if (out) *out = NULL;
    if (!runtime) return tn_null_argument(err, TN_PHASE_PACKAGE, "runtime");
    if (!path) return tn_null_argument(err, TN_PHASE_PACKAGE, "path");
    if (!out) return tn_null_argument(err, TN_PHASE_PACKAGE, "out");
    enum tn_status st = tn_read_options(&o, sizeof(o), options, "tn_package_options", err);
    if (!st) st = check_options(&o, err);
    if (st) return st;
    struct tn_package *p = tn_calloc(&runtime->alloc, 1, sizeof(*p));
    if (!p || !tn_mutex_init(&p->lock)) {
        tn_free(&runtime->alloc, p);
        return tn_short_of_memory(&runtime->alloc, tn_error_memory(err, TN_PHASE_PACKAGE, "opening the package"), err);
    }
    tn_ref_init(&p->ref);
    tn_runtime_ref(runtime);
    p->runtime = runtime;
    st = tn_inventory_open(&runtime->ctx, path, &p->inventory, err);
    if (!st) st = describe(p, &o, err);
    if (st) {
        st = tn_short_of_memory(&runtime->alloc, st, err);
        destroy(p);
        return st;
    }
    *out = p;
    return TN_OK;
}

TN_API void tn_package_free(tn_package *package)
{
    if (package) tn_package_unref(package);
}

bool tn_package_closure(struct tn_package *package, struct tn_digest *out)
{
    tn_mutex_lock(&package->lock);
    bool known = package->have_closure;
    *out = package->closure;
    tn_mutex_unlock(&package->lock);
    return known;
}

void tn_package_learn_weights(struct tn_package *package, const struct tn_digest *weights)
{
    tn_mutex_lock(&package->lock);
    package->weights = *weights;
    package->have_weights = true;
    tn_mutex_unlock(&package->lock);
}

/* ---- inspect ------------------------------------------------------------------------------------------------------- */

static void write_digest(struct tn_json_writer *w, const char *key, bool have, const struct tn_digest *digest)
{
    char hex[TN_SHA256_HEX];
    tn_jw_member_cstr(w, key, have ? tn_digest_hex(digest, hex) : NULL);
}

static void write_identity(struct tn_json_writer *w, struct tn_package *p)
{
    tn_mutex_lock(&p->lock);
    tn_jw_key(w, "identity");
    tn_jw_begin_object(w);
    write_digest(w, "manifest", true, &p->inventory->manifest);
    write_digest(w, "weights", p->have_weights, &p->weights);
    write_digest(w, "closure", p->have_closure, &p->closure);
    tn_jw_end_object(w);
    tn_mutex_unlock(&p->lock);
}

TN_API tn_status tn_package_inspect(tn_package *package, tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    struct tn_findings all;
    if (out) *out = NULL;
    if (!package) return tn_null_argument(err, TN_PHASE_PACKAGE, "package");
    if (!out) return tn_null_argument(err, TN_PHASE_PACKAGE, "out");
    struct tn_context *ctx = &package->runtime->ctx;
    tn_findings_init(&all, ctx->alloc, (size_t)ctx->limits.findings);
    tn_description_all_findings(package->description, &all);
    tn_document_begin(&b, package->runtime);
    tn_jw_begin_object(&b.w);
    tn_jw_member_str(&b.w, "path", package->inventory->shown);
    write_identity(&b.w, package);
    tn_description_write(&b.w, package->description);
    tn_inventory_write_with(&b.w, package->inventory, &all);
    tn_jw_end_object(&b.w);
    tn_findings_release(&all);
    return tn_document_finish(&b, TN_OK, out, err);
}

/* ---- verify -------------------------------------------------------------------------------------------------------- */

/*
 * The identity of the weights is a by-product of packing them, so they are loaded once and released. A package that no
 * task of this build can run has no such identity; that is no failure of the verification.
 */
static enum tn_status identify_weights(struct tn_package *p, const struct tn_cancel *cancel, struct tn_error *err)
{
    struct tn_planner planner = tn_package_planner(p);
    struct tn_plan *plan = NULL;
    struct tn_pool *pool;
    struct tn_instance *instance;
    for (size_t i = 0; tn_task_at(i) && !plan; i++) {
        tn_plan_options options = {.struct_size = sizeof(options), .task = tn_task_at(i)->name};
        enum tn_status st = tn_plan_make(&planner, &options, NULL, (struct tn_keep){0}, &plan, err);
        if (st == TN_INSUFFICIENT_MEMORY) return st;
        tn_error_clear(err);
    }
    if (!plan) return TN_OK;
    enum tn_status st = tn_runtime_pool(p->runtime, &pool, err);
    if (st) goto out;
    struct tn_load_env env = {.ctx = &p->runtime->ctx, .pool = pool, .cancel = cancel};
    const struct tn_provider *provider = plan->row->entry->provider;
    st = provider->load(&plan->row->assessment, &plan->row->request, &env, &instance, err);
    if (st) goto out;
    struct tn_digest weights = provider->weights(instance);
    provider->release(instance);
    tn_package_learn_weights(p, &weights);
out:
    tn_plan_drop(plan);
    return st;
}

TN_API tn_status tn_package_verify(tn_package *package, tn_cancel_token *cancel, tn_error *err)
{
    struct tn_cancel own;
    struct tn_digest closure;
    if (!package) return tn_null_argument(err, TN_PHASE_PACKAGE, "package");
    const struct tn_cancel *stop = tn_cancel_begin(&own, cancel, 0);
    enum tn_status st = tn_inventory_closure(package->inventory, stop, &closure, err);
    if (!st) {
        tn_mutex_lock(&package->lock);
        package->closure = closure;
        package->have_closure = true;
        tn_mutex_unlock(&package->lock);
        st = identify_weights(package, stop, err);
    }
    tn_cancel_end(cancel);
    return st;
}
