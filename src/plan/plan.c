/* Making, keeping and printing a plan: one eligible row of a survey, immutable from then on. */
#include "plan/plan.h"

#include "base/json_write.h"

#include <string.h>

/* ---- making -------------------------------------------------------------------------------------------------------- */

/* The first requested provider that found what no other one may stand in for; NULL: none did. */
static const struct tn_survey_row *binding_row(const struct tn_survey *s)
{
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (s->rows[i].requested && tn_survey_row_binding(&s->rows[i])) return &s->rows[i];
    }
    return NULL;
}

/*
 * Every blocker, the package's first: an error object with all findings of the requested providers. What ended the search
 * among them comes before what was found on the way.
 */
static enum tn_status refuse(const struct tn_survey *s, struct tn_error *err)
{
    struct tn_findings all;
    const struct tn_survey_row *end = binding_row(s);
    tn_findings_init(&all, s->planner->ctx->alloc, (size_t)s->planner->ctx->limits.findings);
    tn_findings_append(&all, &s->findings);
    if (end) {
        const struct tn_finding *why = tn_survey_row_binding(end);
        struct tn_finding *f = tn_findings_add(&all, TN_BLOCKER, why->code, why->phase, "%s", why->message);
        if (f) *f = *why;
    }
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (s->rows[i].requested) tn_findings_append(&all, &s->rows[i].findings);
    }
    bool denied = end && end + 1 < s->rows + s->row_count && end[1].requested;
    if (denied && s->planner->ctx->counters) s->planner->ctx->counters->fallbacks_denied++;
    enum tn_status st = tn_error_from_findings(err, &all);
    if (st == TN_OK) {
        st = TN_UNSUPPORTED_TASK;
        tn_error_set(err, st, TN_PHASE_PLAN, "no provider that was asked for can run the task");
    }
    tn_findings_release(&all);
    return st;
}

static struct tn_survey_row *first_eligible(struct tn_survey *s, uint32_t *skipped)
{
    *skipped = 0;
    if (s->findings.blockers > 0) return NULL;
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (s->rows[i].requested && s->rows[i].decision == TN_ELIGIBLE) return &s->rows[i];
        if (!s->rows[i].requested || tn_survey_row_binding(&s->rows[i])) return NULL;
        ++*skipped;
    }
    return NULL;
}

static enum tn_status keep_provider_members(struct tn_plan *plan, struct tn_error *err)
{
    const struct tn_context *ctx = plan->survey.planner->ctx;
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, ctx->alloc, (size_t)ctx->limits.json_bytes);
    tn_jw_init(&w, &text, false);
    tn_jw_begin_object(&w);
    plan->row->entry->provider->write(&plan->row->assessment, &w);
    tn_jw_end_object(&w);
    if (!tn_buf_status(&text)) plan->provider_members = tn_arena_str(&plan->survey.arena, tn_buf_str(&text));
    tn_buf_release(&text);
    return plan->provider_members.s ? TN_OK : tn_error_memory(err, TN_PHASE_PLAN, "keeping the provider's part of the plan");
}

/*
 * The planner is copied into the survey's arena: the caller's own may be on its stack, while the plan lives on. What it
 * points to outlives the plan.
 */
static enum tn_status own_planner(struct tn_plan *plan, struct tn_error *err)
{
    struct tn_planner *copy = tn_arena_alloc(&plan->survey.arena, sizeof(*copy));
    if (!copy) return tn_error_memory(err, TN_PHASE_PLAN, "making the plan");
    *copy = *plan->survey.planner;
    plan->survey.planner = copy;
    return TN_OK;
}

static enum tn_status state_task_options(struct tn_plan *plan, struct tn_error *err)
{
    const struct tn_survey *s = &plan->survey;
    if (!s->policy.task->options) return TN_OK;
    return s->policy.task->options(s->planner->d, &s->route, plan->row->assessment.output_width, &plan->survey.arena,
                                   plan->task_options, &plan->task_option_count, err);
}

/* What could not be loaded stands like what could not be planned. */
static void count_failures(struct tn_survey *s, const struct tn_plan_made_of *made_of)
{
    for (uint32_t k = 0; k < made_of->failed_count; k++) {
        for (uint32_t i = 0; i < s->row_count; i++) {
            struct tn_survey_row *row = &s->rows[i];
            if (!row->requested || strcmp(row->entry->name, made_of->failed[k].provider) != 0) continue;
            const struct tn_finding *why = &made_of->failed[k].why;
            struct tn_finding *f = tn_findings_add(&row->findings, TN_BLOCKER, why->code, why->phase, "%s", why->message);
            if (f) *f = *why;
            row->failed_load = true;
            row->decision = TN_UNSUPPORTED;
        }
    }
}

static const char *kept_text(struct tn_plan *plan, const char *text, bool *good)
{
    char *copy = text ? tn_arena_strndup(&plan->survey.arena, text, strlen(text)) : NULL;
    *good &= !text || copy;
    return copy;
}

/* Everything that planning read, so that a plan for the next provider can be made of the same. */
static enum tn_status keep_made_of(struct tn_plan *plan, const struct tn_plan_made_of *from, struct tn_error *err)
{
    struct tn_plan_made_of *to = tn_arena_alloc(&plan->survey.arena, sizeof(*to));
    struct tn_plan_failure *failed = tn_arena_array(&plan->survey.arena, from->failed_count + 1, sizeof(*failed));
    bool good = to && failed;
    if (!good) return tn_error_memory(err, TN_PHASE_PLAN, "making the plan");
    *to = *from;
    to->failed = failed;
    for (uint32_t i = 0; i < from->failed_count; i++) {
        failed[i] = from->failed[i];
        failed[i].provider = kept_text(plan, from->failed[i].provider, &good);
    }
    const char **texts[] = {&to->options.task,     &to->options.provider,   &to->options.device,    &to->options.placement,
                            &to->options.numeric,  &to->options.hints,      &to->options.user_hints, &to->options.user_hints_name,
                            &to->options.without,  &to->options.fallback,   &to->options.precision, &to->options.allow_code,
                            &to->options.require_level};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) *texts[i] = kept_text(plan, *texts[i], &good);
    plan->made_of = to;
    return good ? TN_OK : tn_error_memory(err, TN_PHASE_PLAN, "making the plan");
}

static void count_plan(const struct tn_plan *plan)
{
    const struct tn_context *ctx = plan->survey.planner->ctx;
    if (plan->skipped > 0) tn_log(ctx, TN_LOG_WARNING, "plan %.16s falls back to provider %s", plan->id, plan->row->entry->name);
    if (!ctx->counters) return;
    ctx->counters->plans++;
    ctx->counters->fallbacks_at_plan += plan->skipped - plan->made_of->failed_count;
    if (plan->row->other_precision) ctx->counters->precision_changes++;
}

enum tn_status tn_plan_make(const struct tn_planner *planner, const tn_plan_options *options,
                            const enum tn_choice_origin *origin, struct tn_keep keep, struct tn_plan **out,
                            struct tn_error *err)
{
    struct tn_plan_made_of made_of = {.options = *options, .have_origin = origin != NULL};
    if (origin) memcpy(made_of.origin, origin, sizeof(made_of.origin));
    return tn_plan_make_of(planner, &made_of, keep, out, err);
}

enum tn_status tn_plan_make_of(const struct tn_planner *planner, const struct tn_plan_made_of *made_of, struct tn_keep keep,
                               struct tn_plan **out, struct tn_error *err)
{
    *out = NULL;
    struct tn_plan *plan = tn_calloc(planner->ctx->alloc, 1, sizeof(*plan));
    if (!plan) return tn_error_memory(err, TN_PHASE_PLAN, "making the plan");
    const enum tn_choice_origin *origin = made_of->have_origin ? made_of->origin : NULL;
    enum tn_status st = tn_survey_make(&plan->survey, planner, &made_of->options, origin, false, err);
    if (st) goto no_survey;
    count_failures(&plan->survey, made_of);
    plan->row = first_eligible(&plan->survey, &plan->skipped);
    st = plan->row ? own_planner(plan, err) : refuse(&plan->survey, err);
    if (!st) st = keep_made_of(plan, made_of, err);
    if (!st) st = keep_provider_members(plan, err);
    if (!st) st = state_task_options(plan, err);
    if (st) goto fail;
    plan->task = plan->survey.policy.task;
    plan->fingerprint = tn_plan_fingerprint(&plan->survey, plan->row);
    tn_digest_hex(&plan->fingerprint, plan->id);
    tn_ref_init(&plan->ref);
    plan->keep = keep;
    count_plan(plan);
    *out = plan;
    return TN_OK;
fail:
    tn_survey_release(&plan->survey);
no_survey:
    tn_free(planner->ctx->alloc, plan);
    return st;
}

void tn_plan_drop(struct tn_plan *plan)
{
    if (!plan || !tn_ref_drop(&plan->ref)) return;
    struct tn_alloc *alloc = plan->survey.planner->ctx->alloc;
    struct tn_keep keep = plan->keep;
    tn_survey_release(&plan->survey);
    tn_free(alloc, plan);
    tn_keep_drop(&keep);
}

const struct tn_finding *tn_plan_next_warning(const struct tn_plan *plan, size_t *at)
{
    const struct tn_findings *common = &plan->survey.findings, *own = &plan->row->findings;
    while (*at < common->count + own->count) {
        size_t i = (*at)++;
        const struct tn_finding *f = i < common->count ? &common->items[i] : &own->items[i - common->count];
        if (f->severity == TN_WARNING) return f;
    }
    return NULL;
}

/* ---- the document --------------------------------------------------------------------------------------------------- */

static void write_str_or_null(struct tn_json_writer *w, const char *key, struct tn_str s)
{
    tn_jw_key(w, key);
    if (s.n) {
        tn_jw_str(w, s);
    } else {
        tn_jw_null(w);
    }
}

static void write_package(struct tn_json_writer *w, const struct tn_planner *planner)
{
    const struct tn_description *d = planner->d;
    char hex[TN_SHA256_HEX];
    tn_jw_key(w, "package");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "manifest", tn_digest_hex(&d->inv->manifest, hex));
    tn_jw_member_cstr(w, "closure", planner->have_closure ? tn_digest_hex(&planner->closure, hex) : NULL);
    tn_jw_member_str(w, "dialect", d->dialect);
    write_str_or_null(w, "variant", d->variant ? d->variant->id : (struct tn_str){NULL, 0});
    tn_jw_key(w, "descriptive");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < d->descriptive_count; i++) tn_jw_str(w, d->descriptive[i]);
    tn_jw_end_array(w);
    if (d->loss_count > 0) tn_description_write_losses(w, d);
    tn_jw_end_object(w);
}

static void write_versions(struct tn_json_writer *w, const struct tn_plan *plan)
{
    const struct tn_survey_row *row = plan->row;
    tn_jw_key(w, "provider");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "name", row->entry->provider->name);
    tn_jw_member_cstr(w, "version", row->entry->provider->version);
    tn_jw_member_cstr(w, "scope", row->entry->provider->scope);
    tn_jw_end_object(w);
    tn_jw_key(w, "build");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "version", tn_version());
    tn_jw_end_object(w);
    tn_jw_key(w, "machine");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "isa_class", row->record_route.isa_class);
    tn_jw_end_object(w);
    tn_jw_member_cstr(w, "task", plan->task->name);
    tn_jw_member_cstr(w, "contract", plan->task->contract);
    tn_jw_key(w, "recipe");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "name", plan->task->recipe->name);
    tn_jw_member_cstr(w, "version", plan->task->recipe->version);
    plan->task->write_route(w, plan->survey.planner->d, &plan->survey.route);
    tn_jw_end_object(w);
}

static void write_policies(struct tn_json_writer *w, const struct tn_plan *plan)
{
    const struct tn_survey_row *row = plan->row;
    const struct tn_policy *p = &plan->survey.policy;
    char hex[TN_SHA256_HEX];
    tn_policy_write(w, p);
    tn_jw_key(w, "numeric");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "stored", row->record_route.stored);
    tn_jw_member_str(w, "compute", row->record_route.compute);
    tn_jw_member_str(w, "accumulate", row->record_route.accumulate);
    tn_jw_member_str(w, "kv", row->record_route.kv);
    tn_jw_end_object(w);
    tn_jw_key(w, "placement");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "device", p->device);
    tn_jw_member_cstr(w, "policy", p->placement);
    tn_jw_end_object(w);
    tn_jw_key(w, "policy");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "trust", p->code_count ? "code with the listed digests may run" : "no code of the package runs");
    tn_jw_key(w, "code");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < p->code_count; i++) tn_jw_cstr(w, tn_digest_hex(&p->code[i], hex));
    tn_jw_end_array(w);
    tn_jw_member_cstr(w, "network", "none");
    tn_jw_key(w, "fallback");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < p->provider_count; i++) tn_jw_cstr(w, p->providers[i]);
    tn_jw_end_array(w);
    tn_jw_member_cstr(w, "falls_back_at", p->falls_at_load ? "load" : "plan");
    tn_jw_member_bool(w, "precision_may_change", p->precision_changes);
    tn_jw_end_object(w);
    tn_jw_key(w, "batch");
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "rows", row->request.batch_rows);
    tn_jw_member_u64(w, "sequences", row->request.batch_sequences);
    if (row->request.batch_picks) tn_jw_member_u64(w, "picks", row->request.batch_picks);
    tn_jw_end_object(w);
}

/* What a request of the task means where it says nothing. */
static void write_task_options(struct tn_json_writer *w, const struct tn_plan *plan)
{
    tn_jw_key(w, "task_options");
    tn_jw_begin_object(w);
    for (uint32_t i = 0; i < plan->task_option_count; i++) tn_option_write(w, &plan->task_options[i]);
    tn_jw_end_object(w);
}

/* Providers that were preferred and could not, each with its reasons. */
static void write_exclusions(struct tn_json_writer *w, const struct tn_plan *plan)
{
    const struct tn_survey *s = &plan->survey;
    tn_jw_key(w, "exclusions");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < s->row_count; i++) {
        const struct tn_survey_row *row = &s->rows[i];
        if (row == plan->row) break;
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "provider", row->entry->name);
        tn_jw_member_cstr(w, "decision", tn_decision_name(row->decision));
        tn_jw_member_cstr(w, "at", row->failed_load ? "load" : "plan");
        tn_jw_key(w, "findings");
        tn_findings_write(w, &row->findings);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

void tn_plan_write_skipped(struct tn_json_writer *w, const struct tn_plan *plan)
{
    tn_jw_key(w, "skipped");
    tn_jw_begin_array(w);
    for (const struct tn_survey_row *row = plan->survey.rows; row != plan->row; row++) {
        const struct tn_finding *why = tn_findings_first_blocker(&row->findings);
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "provider", row->entry->name);
        tn_jw_member_cstr(w, "at", row->failed_load ? "load" : "plan");
        tn_jw_member_cstr(w, "code", why ? tn_status_name(why->code) : NULL);
        tn_jw_member_cstr(w, "message", why ? why->message : NULL);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

/* What was noticed and blocks nothing: of the package, then of the provider and of the hints. */
static void write_findings(struct tn_json_writer *w, const struct tn_plan *plan)
{
    const struct tn_findings *lists[] = {&plan->survey.findings, &plan->row->findings};
    size_t dropped = lists[0]->dropped + lists[1]->dropped;
    tn_jw_key(w, "findings");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        for (size_t k = 0; k < lists[i]->count; k++) tn_finding_write(w, &lists[i]->items[k]);
    }
    if (dropped > 0) {
        tn_jw_begin_object(w);
        tn_jw_member_u64(w, "dropped", dropped);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

/* The members of a JSON object text, into the caller's object: the text without its braces. */
static void write_members(struct tn_json_writer *w, struct tn_alloc *alloc, const struct tn_limits *limits, struct tn_str text)
{
    struct tn_json_doc doc = {0};
    if (tn_json_parse(&doc, alloc, limits, TN_STR("plan"), text, NULL) != TN_OK) {
        w->out->failed = TN_INSUFFICIENT_MEMORY;
        return;
    }
    for (struct tn_json v = tn_json_first(tn_json_root(&doc)); tn_json_present(v); v = tn_json_next(v)) {
        tn_jw_key_str(w, tn_json_key(v));
        tn_jw_raw(w, tn_json_text(v));
    }
    tn_json_release(&doc);
}

static const char *note_of(const struct tn_survey_row *row)
{
    if (row->asserted) return "fields of the package's documents were declared descriptive, or given up, by the caller or by whoever described it";
    if (row->level > TN_LEVEL_STRUCTURALLY_VALID) return NULL;
    return "no recorded evidence that answers equal a reference; see `tenon qualify`";
}

void tn_plan_write(struct tn_json_writer *w, const struct tn_plan *plan)
{
    const struct tn_survey *s = &plan->survey;
    const struct tn_context *ctx = s->planner->ctx;
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "schema", TN_PLAN_SCHEMA);
    tn_jw_member_cstr(w, "id", plan->id);
    write_package(w, s->planner);
    write_versions(w, plan);
    write_policies(w, plan);
    write_task_options(w, plan);
    tn_plan_hints_write(w, &s->hints, &plan->row->hints);
    tn_memory_estimate_write(w, &plan->row->memory, s->policy.memory_limit);
    tn_jw_member_cstr(w, "evidence_level", tn_survey_row_level(plan->row));
    write_str_or_null(w, "record", tn_str_of(plan->row->standing.found ? plan->row->standing.id : ""));
    tn_jw_member_cstr(w, "note", note_of(plan->row));
    write_exclusions(w, plan);
    write_findings(w, plan);
    write_members(w, ctx->alloc, &ctx->limits, plan->provider_members);
    tn_jw_end_object(w);
}
