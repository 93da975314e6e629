/*
 * Execution hints on their way into a plan: those of the request join those of the package, and all are judged by what the
 * provider of a row has. The request's texts are untrusted and are kept as they are, so that a printed plan can be made
 * again from its own document.
 */
#include "base/json_write.h"
#include "plan/plan.h"

#include <string.h>

static enum tn_status keep(struct tn_str *out, const char *text, const char *otherwise, struct tn_arena *arena,
                           struct tn_error *err)
{
    *out = (struct tn_str){NULL, 0};
    if (!text) text = otherwise;
    if (!text) return TN_OK;
    *out = tn_arena_str(arena, (struct tn_str){text, strlen(text)});
    return out->s ? TN_OK : tn_error_memory(err, TN_PHASE_ASSESS, "keeping the hints");
}

enum tn_status tn_plan_hints_read(struct tn_plan_hints *h, const struct tn_description *d, const tn_plan_options *options,
                                  const struct tn_limits *limits, struct tn_arena *arena, struct tn_findings *findings,
                                  struct tn_error *err)
{
    *h = (struct tn_plan_hints){0};
    h->lists[0] = &h->asked;
    h->lists[1] = &d->hints;
    enum tn_status st = keep(&h->caller, options->hints, NULL, arena, err);
    if (!st) st = keep(&h->user, options->user_hints, NULL, arena, err);
    if (!st && h->user.s) st = keep(&h->user_name, options->user_hints_name, "execution_hints.json", arena, err);
    if (!st && h->caller.s) {
        st = tn_hints_parse(h->caller, TN_STR("hints"), TN_HINT_FROM_CALLER, limits, arena, findings, &h->asked, err);
    }
    if (!st && h->user.s) {
        st = tn_hints_parse(h->user, h->user_name, TN_HINT_FROM_USER, limits, arena, findings, &h->asked, err);
    }
    return st;
}

enum tn_status tn_plan_hints_judge(struct tn_survey *s, struct tn_survey_row *row, struct tn_error *err)
{
    const struct tn_provider *provider = row->entry->provider;
    struct tn_hint_world world = {
        .devices = provider->device_count ? provider->devices : &tn_hint_cpu,
        .device_count = provider->device_count ? provider->device_count : 1,
        .answers = provider->hint_answers,
    };
    struct tn_hint_node *nodes = NULL;
    if (s->hints.asked.count + s->planner->d->hints.count == 0) return TN_OK;
    if (row->assessment.decision == TN_ELIGIBLE && provider->nodes) {
        enum tn_status st = provider->nodes(&row->assessment, &s->arena, &nodes, &world.node_count, err);
        if (st) return st;
        tn_hint_layers_apply(&s->planner->d->hint_layers, nodes, world.node_count);
        world.nodes = nodes;
    }
    return tn_hints_resolve(s->hints.lists, TN_PLAN_HINT_LISTS, &world, TN_PHASE_ASSESS, &s->arena, &row->findings,
                            &row->hints, err);
}

static void write_text(struct tn_json_writer *w, const char *key, struct tn_str text)
{
    tn_jw_key(w, key);
    if (text.s) {
        tn_jw_str(w, text);
    } else {
        tn_jw_null(w);
    }
}

void tn_plan_hints_write(struct tn_json_writer *w, const struct tn_plan_hints *h, const struct tn_hint_results *results)
{
    tn_jw_key(w, "hints");
    tn_jw_begin_object(w);
    write_text(w, "caller", h->caller);
    write_text(w, "user", h->user);
    write_text(w, "user_name", h->user_name);
    tn_jw_key(w, "outcomes");
    tn_hint_results_write(w, results);
    tn_jw_end_object(w);
}
