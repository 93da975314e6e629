/* Assessment and plans over the public interface. */
#include "api/api.h"

#include "base/os.h"

struct tn_planner tn_package_planner(struct tn_package *package)
{
    const struct tn_runtime *runtime = package->runtime;
    uint64_t budget = runtime->alloc.budget;
    struct tn_planner planner = {
        .ctx = &runtime->ctx,
        .d = package->description,
        .defaults = {runtime->threads, budget == UINT64_MAX ? 0 : budget, runtime->ctx.limits.threads,
                     tn_os_memory_total()},
        .records = tn_runtime_records(runtime),
    };
    planner.providers = tn_provider_entries(runtime, &planner.provider_count);
    planner.have_closure = tn_package_closure(package, &planner.closure);
    return planner;
}

static void drop_package(void *package)
{
    tn_package_unref(package);
}

static void take_package(void *package)
{
    tn_package_ref(package);
}

struct tn_keep tn_package_keep(struct tn_package *package)
{
    tn_package_ref(package);
    return (struct tn_keep){drop_package, package, take_package};
}

TN_API tn_status tn_assess(tn_package *package, const tn_plan_options *options, tn_decision *decision,
                           tn_document **out, tn_error *err)
{
    tn_plan_options o;
    struct tn_survey survey;
    struct tn_document_builder b;
    if (out) *out = NULL;
    if (decision) *decision = TN_UNKNOWN;
    if (!package) return tn_null_argument(err, TN_PHASE_ASSESS, "package");
    if (!out) return tn_null_argument(err, TN_PHASE_ASSESS, "out");
    struct tn_planner planner = tn_package_planner(package);
    enum tn_status st = tn_read_options(&o, sizeof(o), options, "tn_plan_options", err);
    if (!st) st = tn_survey_make(&survey, &planner, &o, NULL, true, err);
    if (st) return st;
    tn_document_begin(&b, package->runtime);
    tn_survey_write(&b.w, &survey);
    st = tn_document_finish(&b, TN_OK, out, err);
    if (!st && decision) *decision = survey.decision;
    tn_survey_release(&survey);
    return st;
}

TN_API tn_status tn_package_tasks(tn_package *package, const tn_plan_options *options, int *served, tn_document **out,
                                  tn_error *err)
{
    tn_plan_options o;
    struct tn_document_builder b;
    int count = 0;
    if (out) *out = NULL;
    if (served) *served = 0;
    if (!package) return tn_null_argument(err, TN_PHASE_ASSESS, "package");
    if (!out) return tn_null_argument(err, TN_PHASE_ASSESS, "out");
    enum tn_status st = tn_read_options(&o, sizeof(o), options, "tn_plan_options", err);
    if (st) return st;
    struct tn_planner planner = tn_package_planner(package);
    tn_document_begin(&b, package->runtime);
    st = tn_survey_tasks_write(&b.w, &planner, &o, &count, err);
    st = tn_document_finish(&b, st, out, err);
    if (!st && served) *served = count;
    return st;
}

TN_API tn_status tn_plan_new(tn_package *package, const tn_plan_options *options, tn_plan **out, tn_error *err)
{
    tn_plan_options o;
    if (out) *out = NULL;
    if (!package) return tn_null_argument(err, TN_PHASE_PLAN, "package");
    if (!out) return tn_null_argument(err, TN_PHASE_PLAN, "out");
    enum tn_status st = tn_read_options(&o, sizeof(o), options, "tn_plan_options", err);
    if (st) return st;
    struct tn_planner planner = tn_package_planner(package);
    struct tn_keep keep = tn_package_keep(package);
    st = tn_plan_make(&planner, &o, NULL, keep, out, err);
    if (st) tn_keep_drop(&keep);
    return st;
}

TN_API tn_status tn_plan_parse(tn_package *package, const char *json, size_t length, tn_plan **out, tn_error *err)
{
    if (out) *out = NULL;
    if (!package) return tn_null_argument(err, TN_PHASE_PLAN, "package");
    if (!json) return tn_null_argument(err, TN_PHASE_PLAN, "json");
    if (!out) return tn_null_argument(err, TN_PHASE_PLAN, "out");
    struct tn_planner planner = tn_package_planner(package);
    struct tn_keep keep = tn_package_keep(package);
    enum tn_status st = tn_plan_again(&planner, (struct tn_str){json, length}, keep, out, err);
    if (st) tn_keep_drop(&keep);
    return st;
}

static struct tn_runtime *runtime_of(const struct tn_plan *plan)
{
    const struct tn_package *package = plan->keep.owner;
    return package->runtime;
}

TN_API tn_status tn_plan_json(tn_plan *plan, tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    if (out) *out = NULL;
    if (!plan) return tn_null_argument(err, TN_PHASE_PLAN, "plan");
    if (!out) return tn_null_argument(err, TN_PHASE_PLAN, "out");
    tn_document_begin(&b, runtime_of(plan));
    tn_plan_write(&b.w, plan);
    return tn_document_finish(&b, TN_OK, out, err);
}

TN_API void tn_plan_free(tn_plan *plan)
{
    tn_plan_drop(plan);
}
