/*
 * Assessment: package, task, options, build and machine related to one another, provider by provider. Collects every
 * blocker of every stage in one pass; decides nothing that a caller has not asked for.
 *
 * A blocker of the package binds all providers: falling back to another provider must never hide a broken artifact.
 */
#include "base/json_write.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

/*
 * Rows that one invocation carries, per thread: providers cut them into equal pieces for their threads, and more pieces
 * balance better, while fewer rows bound the time until a cancel or another request is noticed (some 100 ms).
 */
enum { ROWS_PER_THREAD = 1024, LEAST_ROWS = 2048, MOST_ROWS = 32768, ROWS_PER_SEQUENCE = 4 };

/* Results of one invocation: what 8192 sequences of the widest embeddings take. A row over a vocabulary is far wider. */
enum { RESULT_BYTES = 128 << 20 };

/* ---- common findings --------------------------------------------------------------------------------------------- */

static bool has_code(const struct tn_findings *list, size_t first, enum tn_status code)
{
    for (size_t i = first; i < list->count; i++)
        if (list->items[i].severity == TN_BLOCKER && list->items[i].code == code) return true;
    return false;
}

static enum tn_status assess_common(struct tn_survey *s, const tn_plan_options *options,
                                    const enum tn_choice_origin *origin, struct tn_error *err)
{
    const struct tn_planner *planner = s->planner;
    tn_description_findings(planner->d, &s->findings);
    enum tn_status st = tn_plan_hints_read(&s->hints, planner->d, options, &planner->ctx->limits, &s->arena, &s->findings, err);
    if (st) return st;
    const struct tn_hint *place = tn_hints_device(s->hints.lists, TN_PLAN_HINT_LISTS, &tn_hint_cpu, 1);
    st = tn_policy_make(&s->policy, &s->arena, options, origin, place, &planner->defaults, &s->findings, err);
    if (st) return st;
    size_t before = s->findings.count;
    if (s->policy.task) s->policy.task->assess(planner->d, &s->findings, &s->route);
    /* With another head's weights, what a provider would find about tensors is a consequence. */
    if (has_code(&s->findings, before, TN_TASK_HEAD_MISMATCH)) s->route.component = NULL;
    return TN_OK;
}

/* ---- one provider -------------------------------------------------------------------------------------------------- */

static uint64_t batch_rows(uint64_t threads, uint64_t longest)
{
    uint64_t rows = threads < MOST_ROWS / ROWS_PER_THREAD ? threads * ROWS_PER_THREAD : MOST_ROWS;
    if (rows < LEAST_ROWS) rows = LEAST_ROWS;
    return rows < longest ? longest : rows;
}

static bool is_numeric(const char *name)
{
    return strcmp(name, "f32") == 0 || strcmp(name, "bf16") == 0;
}

static void fill_request(const struct tn_survey *s, struct tn_survey_row *row)
{
    uint64_t longest = s->route.max_tokens ? s->route.max_tokens : 1;
    row->request = (struct tn_component_request){
        .ctx = s->planner->ctx,
        .d = s->planner->d,
        .component = s->route.component,
        .graph = s->route.graph ? s->route.graph : s->route.component ? s->planner->d->graph : NULL,
        .head = s->route.head,
        .picked = s->route.picked,
        .first_module = s->route.first_module,
        .module_end = s->route.module_end,
        .numeric = is_numeric(s->policy.numeric) ? s->policy.numeric : "f32", /* an unknown one is a finding already */
        .without = s->policy.without,
        .threads = s->policy.threads > s->planner->defaults.most_threads ? 1 : (unsigned)s->policy.threads,
        .max_rows = longest,
        .hiding_rows = s->route.hiding_rows,
        .batch_rows = batch_rows(s->policy.threads, longest),
        .device = s->policy.place,
        .split = s->policy.split,
        .code = s->policy.code,
        .code_count = s->policy.code_count,
    };
    row->request.batch_sequences = row->request.batch_rows / ROWS_PER_SEQUENCE;
    if (s->route.graph) row->request.batch_rows = row->request.batch_sequences = 0; /* calls of tensors, no batches of texts */
}

/* Once the width of a result is known: no more sequences, or rows, than leave room for their results. */
static void bound_results(struct tn_survey_row *row)
{
    const struct tn_assessment *a = &row->assessment;
    struct tn_component_request *r = &row->request;
    if (a->decision != TN_ELIGIBLE || a->output_width == 0) return;
    uint64_t most = RESULT_BYTES / sizeof(float) / a->output_width;
    if (most == 0) most = 1;
    if (a->output_by_row && r->batch_rows > most) r->batch_rows = most > r->max_rows ? most : r->max_rows;
    if (r->batch_sequences > most) r->batch_sequences = most;
    if (a->output_picked) r->batch_picks = most < r->batch_rows ? most : r->batch_rows;
}

static struct tn_str text_member(struct tn_json doc, const char *pointer)
{
    struct tn_str s = {"", 0};
    tn_json_str(tn_json_find(doc, pointer), &s);
    return s;
}

/* The class of instruction sets is the provider's to know; it says so in its part of the plan document. */
static enum tn_status read_isa_class(struct tn_survey *s, struct tn_survey_row *row, struct tn_error *err)
{
    struct tn_alloc *alloc = s->planner->ctx->alloc;
    struct tn_buf text;
    struct tn_json_writer w;
    struct tn_json_doc doc = {0};
    tn_buf_init(&text, alloc, s->planner->ctx->limits.json_bytes);
    tn_jw_init(&w, &text, false);
    tn_jw_begin_object(&w);
    row->entry->provider->write(&row->assessment, &w);
    tn_jw_end_object(&w);
    enum tn_status st = tn_buf_status(&text);
    if (st) {
        st = tn_error_memory(err, TN_PHASE_ASSESS, "asking the provider about its kernels");
        goto out;
    }
    st = tn_json_parse(&doc, alloc, &s->planner->ctx->limits, TN_STR("provider"), tn_buf_str(&text), err);
    if (st) goto out;
    struct tn_str isa = text_member(tn_json_root(&doc), "/isa_class");
    row->record_route.isa_class = tn_arena_str(&s->arena, isa);
    if (!row->record_route.isa_class.s) st = tn_error_memory(err, TN_PHASE_ASSESS, "asking the provider about its kernels");
out:
    tn_json_release(&doc);
    tn_buf_release(&text);
    return st;
}

static struct tn_str joined(struct tn_arena *arena, const char *a, const char *b)
{
    size_t n = strlen(a) + strlen(b) + 1;
    char *text = tn_arena_alloc(arena, n + 1);
    if (!text) return (struct tn_str){NULL, 0};
    snprintf(text, n + 1, "%s/%s", a, b);
    return (struct tn_str){text, n};
}

static const char *compute_name(enum tn_compute compute)
{
    return compute == TN_COMPUTE_BF16 ? "bf16" : "f32";
}

static enum tn_status fill_record_route(struct tn_survey *s, struct tn_survey_row *row, struct tn_error *err)
{
    const struct tn_family *family = s->route.component && !row->request.graph ? tn_family_of(s->route.component) : NULL;
    const struct tn_recipe *recipe = s->policy.task->recipe;
    struct tn_record_route *r = &row->record_route;
    r->provider = tn_str_of(row->entry->provider->name);
    r->provider_version = tn_str_of(row->entry->provider->version);
    r->family = family ? joined(&s->arena, family->name, family->version) : TN_STR("");
    r->stored = row->assessment.numeric.stored;
    r->compute = tn_str_of(compute_name(row->assessment.numeric.compute));
    r->accumulate = tn_str_of(row->assessment.numeric.accumulate ? row->assessment.numeric.accumulate : "");
    r->kv = tn_str_of(row->assessment.numeric.kv ? row->assessment.numeric.kv : "");
    r->recipe = joined(&s->arena, recipe->name, recipe->version);
    r->contract = tn_str_of(s->policy.task->contract);
    if (!r->family.s || !r->recipe.s) return tn_error_memory(err, TN_PHASE_ASSESS, "describing the route");
    return read_isa_class(s, row, err);
}

/* What the package demands of the machine, and what anybody wishes of it. */
static enum tn_status assess_wishes(struct tn_survey *s, struct tn_survey_row *row, struct tn_error *err)
{
    const struct tn_provider *provider = row->entry->provider;
    struct tn_hardware_facts facts = {
        .memory_bytes = s->planner->defaults.machine_memory,
        .memory_limit = s->policy.memory_limit,
        .dtypes = provider->dtypes,
        .tp_degree = 1, /* no provider spreads a model */
    };
    tn_hardware_check(&s->planner->d->hardware, &facts, TN_PHASE_ASSESS, &row->findings);
    return tn_plan_hints_judge(s, row, err);
}

/* Evidence from the store; a store that cannot be read is a warning, its evidence then does not count. */
static enum tn_status look_up_evidence(struct tn_survey *s, struct tn_survey_row *row, struct tn_error *err)
{
    const struct tn_planner *planner = s->planner;
    struct tn_record_facts facts;
    row->level = TN_LEVEL_STRUCTURALLY_VALID;
    row->asserted = planner->d->descriptive_count > 0 || planner->d->loss_count > 0;
    if (!planner->records || row->asserted) return TN_OK;
    enum tn_status st = tn_record_facts_of(&facts, &s->arena, planner->d, &row->record_route, err);
    if (st) return st;
    st = tn_record_level_for(planner->records, &facts, &row->standing, err);
    if (st == TN_INSUFFICIENT_MEMORY) return st;
    if (st) {
        tn_findings_add(&row->findings, TN_WARNING, st, TN_PHASE_ASSESS, "the store of records cannot be read: its evidence does not count");
        tn_error_clear(err);
        return TN_OK;
    }
    if (row->standing.found) row->level = row->standing.level;
    return TN_OK;
}

const char *tn_survey_row_level(const struct tn_survey_row *row)
{
    return row->asserted ? "unqualified" : tn_level_name(row->level);
}

/* A package that needs assertions may run when nothing is required; it satisfies no requirement. */
static bool evidence_suffices(const struct tn_survey *s, const struct tn_survey_row *row)
{
    if (row->asserted) return s->policy.require_level == NULL || s->policy.level == TN_LEVEL_RECOGNISED;
    return tn_policy_accepts(&s->policy, row->level);
}

static void judge_evidence(struct tn_survey *s, struct tn_survey_row *row)
{
    if (row->decision != TN_ELIGIBLE || evidence_suffices(s, row)) return;
    row->decision = TN_UNQUALIFIED;
    struct tn_finding *f = tn_findings_add(&row->findings, TN_BLOCKER, TN_VERSION_UNQUALIFIED, TN_PHASE_ASSESS,
                                           row->level == TN_LEVEL_WITHDRAWN ? "the evidence for this route was withdrawn"
                                                                            : "the evidence for this route is below what is required");
    tn_at_option(f, tn_plan_option_name(TN_OPTION_REQUIRE_LEVEL));
    tn_found(f, "%s", tn_survey_row_level(row));
    tn_expected(f, "%s", tn_level_name(s->policy.level));
    tn_remedy(f, row->asserted ? "do without the assertion that unknown fields are descriptive, or require nothing"
                               : "run `tenon qualify` for this package and task, or require less");
}

/* ---- what was asked for is what is had ---- */

static void list_devices(struct tn_finding *f, const struct tn_provider *provider)
{
    char text[256] = "", one[32];
    size_t at = 0;
    for (size_t i = 0; i < provider->device_count && at < sizeof(text); i++) {
        int n = snprintf(text + at, sizeof(text) - at, "%s%s", i ? ", " : "", tn_hint_device_text(&provider->devices[i], one, sizeof(one)));
        if (n > 0) at += (size_t)n;
    }
    tn_expected(f, "%s", provider->device_count ? text : "cpu");
}

/* A device is looked at only when it is asked for and is not the CPU. */
static enum tn_status check_device(const struct tn_survey *s, struct tn_survey_row *row, struct tn_error *err)
{
    const struct tn_provider *provider = row->entry->provider;
    const struct tn_hint_device *device = &row->request.device;
    if (device->type != TN_DEVICE_CPU && provider->probe_device) return provider->probe_device(provider, &row->request, &row->findings, err);
    bool here = provider->device_count ? tn_hint_device_among(device, provider->devices, provider->device_count)
                                       : tn_hint_device_among(device, &tn_hint_cpu, 1);
    if (here) return TN_OK;
    struct tn_finding *f = tn_findings_add(&row->findings, TN_BLOCKER, TN_PLACEMENT_REFUSED, TN_PHASE_ASSESS,
                                           "the provider %s does not run on this device", row->entry->name);
    tn_at_option(f, tn_plan_option_name(TN_OPTION_DEVICE));
    tn_found(f, "%s", s->policy.device);
    list_devices(f, provider);
    return TN_OK;
}

/* A provider that would compute otherwise than it was asked to cannot do what was asked. */
static void check_numeric(struct tn_survey_row *row)
{
    const char *has = compute_name(row->assessment.numeric.compute);
    if (row->assessment.decision != TN_ELIGIBLE || strcmp(has, row->request.numeric) == 0) return;
    struct tn_finding *f = tn_findings_add(&row->findings, TN_BLOCKER, TN_UNSUPPORTED_OPTION, TN_PHASE_ASSESS,
                                           "the provider %s would compute otherwise than is asked", row->entry->name);
    tn_at_option(f, tn_plan_option_name(TN_OPTION_NUMERIC));
    tn_found(f, "%s", has);
    tn_expected(f, "%s", row->request.numeric);
}

static enum tn_status ask_provider(struct tn_survey *s, struct tn_survey_row *row, struct tn_error *err)
{
    enum tn_status st = check_device(s, row, err);
    if (st) return st;
    row->assessed = true; /* to be released, whatever comes out */
    st = row->entry->provider->assess(row->entry->provider, &row->request, &row->assessment, err);
    if (st) return st;
    tn_findings_append(&row->findings, &row->assessment.findings);
    check_numeric(row);
    return TN_OK;
}

static bool is_about_numeric(const struct tn_finding *f)
{
    return f->code == TN_UNSUPPORTED_OPTION && f->element_kind == TN_ELEMENT_OPTION &&
           (strcmp(f->element, "numeric") == 0 || strcmp(f->element, "--numeric") == 0);
}

/* Whether the numeric policy is all that stands in the way. */
static bool lacks_numeric_alone(const struct tn_survey *s, const struct tn_survey_row *row)
{
    size_t blockers = 0;
    for (size_t i = 0; i < row->findings.count; i++) {
        if (row->findings.items[i].severity != TN_BLOCKER) continue;
        if (!is_about_numeric(&row->findings.items[i])) return false;
        blockers++;
    }
    return blockers > 0 && blockers == row->findings.blockers && s->findings.blockers == 0;
}

/* Asks again with the other numeric policy, where the caller lets precision change; says so when that helped. */
static enum tn_status ask_otherwise(struct tn_survey *s, struct tn_survey_row *row, struct tn_error *err)
{
    const char *asked = row->request.numeric, *other = strcmp(asked, "f32") == 0 ? "bf16" : "f32";
    if (!s->policy.precision_changes || !lacks_numeric_alone(s, row)) return TN_OK;
    tn_assessment_release(&row->assessment);
    row->assessed = false;
    tn_findings_release(&row->findings);
    tn_findings_init(&row->findings, s->planner->ctx->alloc, (size_t)s->planner->ctx->limits.findings);
    row->request.numeric = other;
    enum tn_status st = ask_provider(s, row, err);
    if (st) return st;
    row->other_precision = true;
    struct tn_finding *f = tn_findings_add(&row->findings, TN_WARNING, TN_UNSUPPORTED_OPTION, TN_PHASE_ASSESS,
                                           "the provider %s lacks the numeric policy; another one stands in, as is permitted", row->entry->name);
    tn_at_option(f, tn_plan_option_name(TN_OPTION_NUMERIC));
    tn_found(f, "%s", other);
    tn_expected(f, "%s", asked);
    return TN_OK;
}

static enum tn_status assess_row(struct tn_survey *s, struct tn_survey_row *row, struct tn_error *err)
{
    if (!row->entry->provider) {
        struct tn_finding *f = tn_findings_add(&row->findings, TN_BLOCKER, TN_PROVIDER_UNAVAILABLE, TN_PHASE_ASSESS,
                                               "provider \"%s\" is not available: %s", row->entry->name, row->entry->why_absent);
        tn_at_option(f, tn_plan_option_name(TN_OPTION_PROVIDER));
        tn_found(f, "%s", row->entry->name);
        tn_remedy(f, "use the provider native");
        return TN_OK;
    }
    fill_request(s, row);
    if (!s->policy.task || (!s->route.component && !s->route.graph)) {
        row->decision = TN_UNSUPPORTED;
        return TN_OK;
    }
    enum tn_status st = ask_provider(s, row, err);
    if (!st) st = ask_otherwise(s, row, err);
    if (st) return st;
    row->decision = row->assessment.decision;
    bound_results(row);
    st = assess_wishes(s, row, err);
    if (st) return st;
    if (row->findings.blockers > 0 && row->decision == TN_ELIGIBLE) row->decision = TN_UNSUPPORTED;
    if (s->findings.blockers > 0) row->decision = TN_UNSUPPORTED;
    if (row->decision != TN_ELIGIBLE) return TN_OK;
    row->memory = tn_memory_estimate_make(s->planner->d, &s->route, &row->assessment, &row->request);
    st = fill_record_route(s, row, err);
    if (!st) st = look_up_evidence(s, row, err);
    if (!st) judge_evidence(s, row);
    return st;
}

/* ---- all of them -------------------------------------------------------------------------------------------------- */

static const struct tn_provider_entry *entry_of(const struct tn_planner *planner, const char *name)
{
    for (size_t i = 0; i < planner->provider_count; i++) {
        if (strcmp(planner->providers[i].name, name) == 0) return &planner->providers[i];
    }
    return NULL;
}

static void refuse_unknown_provider(struct tn_survey *s, const char *name)
{
    const struct tn_planner *planner = s->planner;
    char known[256] = "";
    size_t at = 0;
    for (size_t i = 0; i < planner->provider_count && at < sizeof(known); i++) {
        const struct tn_provider_entry *e = &planner->providers[i];
        int n = snprintf(known + at, sizeof(known) - at, "%s%s%s", i ? ", " : "", e->name,
                         e->provider ? "" : " (not in this build)");
        if (n > 0) at += (size_t)n;
    }
    struct tn_finding *f = tn_findings_add(&s->findings, TN_BLOCKER, TN_PROVIDER_UNAVAILABLE, TN_PHASE_ASSESS,
                                           "no provider of this name exists");
    tn_at_option(f, tn_plan_option_name(TN_OPTION_PROVIDER));
    tn_found(f, "%s", name);
    tn_expected(f, "one of: %s", known);
}

static struct tn_survey_row *add_row(struct tn_survey *s, const struct tn_provider_entry *entry, bool requested)
{
    struct tn_survey_row *row = &s->rows[s->row_count++];
    row->entry = entry;
    row->requested = requested;
    row->decision = TN_UNKNOWN;
    tn_findings_init(&row->findings, s->planner->ctx->alloc, (size_t)s->planner->ctx->limits.findings);
    return row;
}

static bool has_row(const struct tn_survey *s, const struct tn_provider_entry *entry)
{
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (s->rows[i].entry == entry) return true;
    }
    return false;
}

/* The rank of a decision: smaller is better. */
static unsigned rank_of(enum tn_decision decision)
{
    switch (decision) {
    case TN_ELIGIBLE: return 0;
    case TN_UNQUALIFIED: return 1;
    case TN_UNKNOWN: return 2;
    default: return 3;
    }
}

/* The best of the requested providers, up to the first that found something no other one may stand in for. */
static void decide(struct tn_survey *s)
{
    s->decision = TN_UNSUPPORTED;
    if (s->findings.blockers > 0) return;
    for (uint32_t i = 0; i < s->row_count && s->rows[i].requested; i++) {
        if (rank_of(s->rows[i].decision) < rank_of(s->decision)) s->decision = s->rows[i].decision;
        if (tn_survey_row_binding(&s->rows[i])) return;
    }
}

/* Findings that went missing for lack of memory, not because the list is full: the survey would be incomplete. */
static bool lost_findings(const struct tn_survey *s)
{
    bool lost = s->findings.starved;
    for (uint32_t i = 0; i < s->row_count; i++) lost |= s->rows[i].findings.starved;
    return lost;
}

enum tn_status tn_survey_make(struct tn_survey *s, const struct tn_planner *planner, const tn_plan_options *options,
                              const enum tn_choice_origin *origin, bool everyone, struct tn_error *err)
{
    struct tn_alloc *alloc = planner->ctx->alloc;
    *s = (struct tn_survey){.planner = planner, .decision = TN_UNKNOWN};
    tn_arena_init(&s->arena, alloc);
    tn_findings_init(&s->findings, alloc, (size_t)planner->ctx->limits.findings);
    enum tn_status st = assess_common(s, options, origin, err);
    if (st) goto fail;
    s->rows = tn_arena_array(&s->arena, planner->provider_count, sizeof(*s->rows));
    if (!s->rows) {
        st = tn_error_memory(err, TN_PHASE_ASSESS, "assessing the providers");
        goto fail;
    }
    for (uint32_t i = 0; i < s->policy.provider_count; i++) {
        const struct tn_provider_entry *entry = entry_of(planner, s->policy.providers[i]);
        if (entry) {
            add_row(s, entry, true);
        } else {
            refuse_unknown_provider(s, s->policy.providers[i]);
        }
    }
    for (size_t i = 0; everyone && i < planner->provider_count; i++) {
        if (!has_row(s, &planner->providers[i])) add_row(s, &planner->providers[i], false);
    }
    for (uint32_t i = 0; !st && i < s->row_count; i++) st = assess_row(s, &s->rows[i], err);
    if (!st && lost_findings(s)) st = tn_error_memory(err, TN_PHASE_ASSESS, "collecting findings");
    if (st) goto fail;
    decide(s);
    return TN_OK;
fail:
    tn_survey_release(s);
    return st;
}

void tn_survey_release(struct tn_survey *s)
{
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (s->rows[i].assessed) tn_assessment_release(&s->rows[i].assessment);
        tn_findings_release(&s->rows[i].findings);
    }
    s->row_count = 0;
    tn_findings_release(&s->findings);
    tn_arena_release(&s->arena);
}

/* ---- document ------------------------------------------------------------------------------------------------------ */

static void write_row(struct tn_json_writer *w, const struct tn_survey *s, const struct tn_survey_row *row)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "name", row->entry->name);
    const struct tn_provider *p = row->entry->provider;
    bool present = p && (!p->present || p->present(p, NULL));
    tn_jw_member_cstr(w, "version", present ? p->version : NULL);
    tn_jw_member_bool(w, "present", present);
    tn_jw_member_bool(w, "requested", row->requested);
    tn_jw_member_cstr(w, "decision", tn_decision_name(row->decision));
    tn_jw_key(w, "findings");
    tn_findings_write(w, &row->findings);
    tn_jw_key(w, "hints");
    tn_hint_results_write(w, &row->hints);
    if (row->assessed && row->memory.peak > 0) {
        tn_jw_member_cstr(w, "evidence_level", tn_survey_row_level(row));
        tn_memory_estimate_write(w, &row->memory, s->policy.memory_limit);
    }
    tn_jw_end_object(w);
}

static void write_dropped(struct tn_json_writer *w, const char *provider, size_t dropped)
{
    if (dropped == 0) return;
    tn_jw_begin_object(w);
    if (provider) tn_jw_member_cstr(w, "provider", provider);
    tn_jw_member_u64(w, "dropped", dropped);
    tn_jw_end_object(w);
}

static void write_provided(struct tn_json_writer *w, const struct tn_survey_row *row)
{
    for (size_t i = 0; i < row->findings.count; i++) {
        const struct tn_finding *f = &row->findings.items[i];
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "severity", tn_severity_name(f->severity));
        tn_jw_member_cstr(w, "provider", row->entry->name);
        tn_finding_write_members(w, f);
        tn_jw_end_object(w);
    }
    write_dropped(w, row->entry->name, row->findings.dropped);
}

/* What binds every provider, then what each requested one adds, under its name: whoever reads this list has read all. */
static void write_findings(struct tn_json_writer *w, const struct tn_survey *s)
{
    tn_jw_key(w, "findings");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < s->findings.count; i++) tn_finding_write(w, &s->findings.items[i]);
    write_dropped(w, NULL, s->findings.dropped);
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].requested) write_provided(w, &s->rows[i]);
    tn_jw_end_array(w);
}

void tn_survey_write(struct tn_json_writer *w, const struct tn_survey *s)
{
    char hex[TN_SHA256_HEX];
    const struct tn_description *d = s->planner->d;
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "task", s->policy.task_name);
    tn_jw_member_cstr(w, "contract", s->policy.task ? s->policy.task->contract : NULL);
    tn_jw_member_cstr(w, "decision", tn_decision_name(s->decision));
    tn_jw_key(w, "package");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "dialect", d->dialect);
    tn_jw_member_cstr(w, "manifest", tn_digest_hex(&d->inv->manifest, hex));
    tn_jw_end_object(w);
    tn_policy_write(w, &s->policy);
    write_findings(w, s);
    tn_jw_key(w, "providers");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < s->row_count; i++) write_row(w, s, &s->rows[i]);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}
