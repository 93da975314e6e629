/*
 * All tasks against one package: which it serves, by which evidence, and for each other one every reason why not. Each is
 * a survey of its own; the package is read once, so the price is the binding of tensors by name.
 */
#include "base/json_write.h"
#include "plan/plan.h"

#include <string.h>

/* Whether a name begins with a pattern, in which '#' stands for digits. */
static bool begins(struct tn_str name, const char *pattern)
{
    size_t i = 0;
    for (; *pattern; pattern++) {
        bool digits = *pattern == '#';
        if (i >= name.n || (digits ? name.s[i] < '0' || name.s[i] > '9' : name.s[i] != *pattern)) return false;
        for (i++; digits && i < name.n && name.s[i] >= '0' && name.s[i] <= '9';) i++;
    }
    return true;
}

/* What is off or not stated speaks for nothing. */
static bool says_nothing(struct tn_str value)
{
    return tn_str_is(value, "false") || tn_str_is(value, "null") || tn_str_is(value, "\"\"");
}

static void write_fact(struct tn_json_writer *w, const struct tn_fact *f)
{
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "name", f->name);
    tn_jw_key(w, "value");
    tn_jw_raw(w, f->value);
    tn_jw_member_str(w, "file", f->file);
    tn_jw_member_str(w, "pointer", f->pointer);
    tn_jw_member_str(w, "rule", f->rule);
    tn_jw_end_object(w);
}

/* The most telling first, as the task lists them. */
static void write_evidence(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task *task)
{
    tn_jw_key(w, "evidence");
    tn_jw_begin_array(w);
    for (const char *const *pattern = task->evidence; pattern && *pattern; pattern++) {
        for (uint32_t i = 0; i < d->fact_count; i++) {
            const struct tn_fact *f = &d->facts[i];
            if (begins(f->name, *pattern) && !f->descriptive && !says_nothing(f->value)) write_fact(w, f);
        }
    }
    tn_jw_end_array(w);
}

static void write_findings(struct tn_json_writer *w, const struct tn_survey *s)
{
    struct tn_findings all;
    tn_findings_init(&all, s->planner->ctx->alloc, (size_t)s->planner->ctx->limits.findings);
    tn_findings_append(&all, &s->findings);
    for (uint32_t i = 0; i < s->row_count; i++) tn_findings_append(&all, &s->rows[i].findings);
    tn_jw_key(w, "findings");
    tn_findings_write(w, &all);
    if (all.starved) w->out->failed = TN_INSUFFICIENT_MEMORY;
    tn_findings_release(&all);
}

static enum tn_status write_task(struct tn_json_writer *w, const struct tn_planner *planner, const tn_plan_options *options,
                                 const struct tn_task *task, int *served, struct tn_error *err)
{
    struct tn_survey s;
    tn_plan_options o = *options;
    o.task = task->name;
    enum tn_status st = tn_survey_make(&s, planner, &o, NULL, false, err);
    if (st) return st;
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "task", task->name);
    tn_jw_member_cstr(w, "contract", task->contract);
    tn_jw_member_cstr(w, "decision", tn_decision_name(s.decision));
    write_evidence(w, planner->d, task);
    write_findings(w, &s);
    tn_jw_end_object(w);
    *served += s.decision == TN_ELIGIBLE;
    tn_survey_release(&s);
    return TN_OK;
}

enum tn_status tn_survey_tasks_write(struct tn_json_writer *w, const struct tn_planner *planner, const tn_plan_options *options,
                                     int *served, struct tn_error *err)
{
    char hex[TN_SHA256_HEX];
    enum tn_status st = TN_OK;
    *served = 0;
    tn_jw_begin_object(w);
    tn_jw_key(w, "package");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "dialect", planner->d->dialect);
    tn_jw_member_cstr(w, "manifest", tn_digest_hex(&planner->d->inv->manifest, hex));
    tn_jw_end_object(w);
    tn_jw_key(w, "tasks");
    tn_jw_begin_array(w);
    for (size_t i = 0; !st && tn_task_at(i); i++) st = write_task(w, planner, options, tn_task_at(i), served, err);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
    return st;
}
