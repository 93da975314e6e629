/*
 * Falling back: which failures another provider may be tried after, and the plan that follows. It is the caller's list that is
 * followed, and only from "this provider cannot": what is wrong with files, weights, trust or memory would be hidden by
 * whoever reads less carefully.
 */
#include "plan/plan.h"

#include <string.h>

bool tn_status_is_inability(enum tn_status status)
{
    switch (status) {
    case TN_UNKNOWN_FAMILY:
    case TN_UNSUPPORTED_CONFIG:
    case TN_MISSING_CAPABILITY:
    case TN_UNSUPPORTED_QUANTIZATION:
    case TN_UNSUPPORTED_TASK:
    case TN_UNSUPPORTED_PROCESSOR:
    case TN_UNSUPPORTED_OPERATOR:
    case TN_UNSUPPORTED_OPTION:
    case TN_SHAPE_OUTSIDE_ENVELOPE:
    case TN_PROVIDER_UNAVAILABLE:
    case TN_VERSION_UNQUALIFIED:
    case TN_PLACEMENT_REFUSED:
    case TN_HINT_CONFLICT:
        return true;
    default:
        return false;
    }
}

const struct tn_finding *tn_survey_row_binding(const struct tn_survey_row *row)
{
    for (size_t i = 0; i < row->findings.count; i++) {
        const struct tn_finding *f = &row->findings.items[i];
        if (f->severity == TN_BLOCKER && !tn_status_is_inability(f->code)) return f;
    }
    return NULL;
}

/* Whether somebody is left whom the plan's caller has listed behind the plan's provider, and who can. */
bool tn_plan_has_next(const struct tn_plan *plan)
{
    const struct tn_survey *s = &plan->survey;
    for (const struct tn_survey_row *row = plan->row + 1; row < s->rows + s->row_count; row++) {
        if (!row->requested || tn_survey_row_binding(row)) return false;
        if (row->decision == TN_ELIGIBLE) return true;
    }
    return false;
}

enum tn_status tn_plan_next(const struct tn_plan *plan, const struct tn_finding *why, struct tn_plan **out, struct tn_error *err)
{
    const struct tn_planner *planner = plan->survey.planner;
    struct tn_plan_made_of made_of = *plan->made_of;
    *out = NULL;
    if (!tn_plan_has_next(plan)) return TN_OK;
    struct tn_plan_failure *failed = tn_calloc(planner->ctx->alloc, made_of.failed_count + 1, sizeof(*failed));
    if (!failed) return tn_error_memory(err, TN_PHASE_PLAN, "falling back to another provider");
    if (made_of.failed_count) memcpy(failed, made_of.failed, made_of.failed_count * sizeof(*failed));
    failed[made_of.failed_count++] = (struct tn_plan_failure){plan->row->entry->name, *why};
    made_of.failed = failed;
    struct tn_keep keep = tn_keep_again(&plan->keep);
    enum tn_status st = tn_plan_make_of(planner, &made_of, keep, out, err);
    if (st) tn_keep_drop(&keep);
    tn_free(planner->ctx->alloc, failed);
    return st;
}
