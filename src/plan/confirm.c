/*
 * Evidence once the weights are known. A plan is made from headers, so its evidence may be about other bytes under the same
 * headers; a load has read them all, and what it found is looked up again before anything is published.
 */
#include "plan/plan.h"

static enum tn_status refuse(const struct tn_plan *plan, enum tn_level level, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_VERSION_UNQUALIFIED, TN_PHASE_LOAD,
                                        "the evidence of the plan is about other weights than those that were read");
    tn_at_option(f, tn_plan_option_name(TN_OPTION_REQUIRE_LEVEL));
    tn_found(f, "%s for these weights, %s by their headers", tn_level_name(level), tn_level_name(plan->row->level));
    tn_expected(f, "%s", tn_level_name(plan->survey.policy.level));
    tn_remedy(f, "run `tenon qualify` for the package as it is now, or require less");
    return TN_VERSION_UNQUALIFIED;
}

enum tn_status tn_plan_confirm(const struct tn_plan *plan, const struct tn_digest *weights, enum tn_level *level,
                               struct tn_error *err)
{
    const struct tn_planner *planner = plan->survey.planner;
    const struct tn_survey_row *row = plan->row;
    struct tn_record_standing standing = {0};
    struct tn_record_facts facts;
    struct tn_arena arena;
    char hex[TN_SHA256_HEX];
    *level = row->level;
    if (!planner->records || !row->standing.found || row->asserted) return TN_OK;
    tn_arena_init(&arena, planner->ctx->alloc);
    enum tn_status st = tn_record_facts_of(&facts, &arena, planner->d, &row->record_route, err);
    if (!st) {
        facts.value[TN_DEPENDS_ON_WEIGHTS] = tn_str_of(tn_digest_hex(weights, hex));
        st = tn_record_level_for(planner->records, &facts, &standing, err);
    }
    tn_arena_release(&arena);
    if (st == TN_INSUFFICIENT_MEMORY) return st;
    /* As in the plan: evidence that cannot be read does not count. */
    if (st) tn_error_clear(err);
    *level = standing.found ? standing.level : TN_LEVEL_STRUCTURALLY_VALID;
    bool required = plan->survey.policy.require_level != NULL;
    return required && !tn_policy_accepts(&plan->survey.policy, *level) ? refuse(plan, *level, err) : TN_OK;
}
