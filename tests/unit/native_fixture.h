/* A package opened, described, assessed and loaded by the native provider alone: no plan, no session. */
#ifndef TN_TEST_NATIVE_FIXTURE_H
#define TN_TEST_NATIVE_FIXTURE_H

#include "test.h"

#include "family/family.h"
#include "provider.h"

#include <stdlib.h>

struct fixture {
    struct tn_alloc alloc;
    struct tn_context ctx;
    struct tn_error *err;
    struct tn_inventory *inv;
    struct tn_description *d;
    struct tn_component_request request;
    struct tn_assessment assessment;
    struct tn_instance *instance;
    struct tn_pool *pool;
};

static inline bool fixture_assess(struct fixture *x, const char *path, const char *numeric, unsigned threads)
{
    size_t schema_count;
    const struct tn_schema *const *schemas = tn_family_schemas(&schema_count);
    struct tn_describe_options options = {.schemas = schemas, .schema_count = schema_count};
    memset(x, 0, sizeof(*x));
    tn_alloc_init(&x->alloc);
    x->ctx = (struct tn_context){.alloc = &x->alloc, .limits = tn_limits_default()};
    x->err = calloc(1, sizeof(*x->err));
    if (tn_inventory_open(&x->ctx, path, &x->inv, x->err)) return false;
    if (tn_describe(x->inv, &options, &x->d, x->err)) return false;
    if (tn_error_from_findings(x->err, &x->d->findings)) return false;
    x->request = (struct tn_component_request){
        .ctx = &x->ctx,
        .d = x->d,
        .component = &x->d->components[0],
        .first_module = 1,
        .module_end = x->d->module_count,
        .numeric = numeric,
        .threads = threads,
        .max_rows = x->d->max_seq_length,
        .batch_rows = 4096,
        .batch_sequences = 512,
    };
    if (tn_native_provider.assess(&tn_native_provider, &x->request, &x->assessment, x->err)) return false;
    if (tn_error_from_findings(x->err, &x->assessment.findings)) return false;
    return true;
}

static inline bool fixture_open(struct fixture *x, const char *path, const char *numeric, unsigned threads)
{
    if (!fixture_assess(x, path, numeric, threads)) return false;
    if (tn_pool_new(&x->alloc, threads, &x->pool)) return false;
    struct tn_load_env env = {.ctx = &x->ctx, .pool = x->pool};
    return tn_native_provider.load(&x->assessment, &x->request, &env, &x->instance, x->err) == TN_OK;
}

static inline void fixture_close(struct fixture *x)
{
    if (x->instance) tn_native_provider.release(x->instance);
    tn_pool_free(x->pool);
    tn_assessment_release(&x->assessment);
    tn_description_free(x->d);
    tn_inventory_free(x->inv);
    CHECK_INT(tn_alloc_current(&x->alloc), 0);
    CHECK_INT(atomic_load(&x->alloc.blocks), 0);
    free(x->err);
}

#endif
