/* Pages of check and plan. */
#include "memory.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const struct cli_json *root, const char *path)
{
    return cli_json_text(cli_json_path(root, path));
}

/* The values that an option stands against, as "f32 (default)", where they differ. New string (free). */
static char *instead(const struct cli_json *option)
{
    char line[256];
    size_t used = 0;
    char *mine = cli_json_line(cli_json_get(option, "value"));
    line[0] = 0;
    for (const struct cli_json *o = cli_json_first(cli_json_get(option, "overrides")); o; o = o->next) {
        char *theirs = cli_json_line(cli_json_get(o, "value"));
        if (strcmp(mine, theirs) != 0 && used < sizeof(line)) {
            int n = snprintf(line + used, sizeof(line) - used, "%s%s (%s)", used ? ", " : "", *theirs ? theirs : "none",
                             text(o, "origin"));
            used += n > 0 ? (size_t)n : 0;
        }
        free(theirs);
    }
    free(mine);
    return cli_copy(line, strlen(line));
}

static void options(struct cli_view *v, const char *heading, const struct cli_json *object)
{
    struct cli_table t;
    if (!cli_json_count(object)) return;
    cli_view_heading(v, heading);
    cli_table_begin(&t, "llll");
    cli_table_cell(&t, "option");
    cli_table_cell(&t, "origin");
    cli_table_cell(&t, "value");
    cli_table_cell(&t, "instead of");
    for (const struct cli_json *m = object->first; m; m = m->next) {
        char *value = cli_json_line(cli_json_get(m, "value")), *others = instead(m);
        bool none = !*value || (strcmp(m->key, "memory_limit") == 0 && strcmp(value, "0") == 0);
        const char *by = text(m, "by");
        cli_table_cell(&t, m->key);
        if (*by) cli_table_cellf(&t, "%s of %s", text(m, "origin"), by);
        else cli_table_cell(&t, text(m, "origin"));
        cli_table_cell(&t, none ? "none" : value);
        cli_table_cell(&t, others);
        free(value);
        free(others);
    }
    cli_table_print(&t, v);
}

static void hints(struct cli_view *v, const struct cli_json *outcomes)
{
    struct cli_table t;
    if (!cli_json_count(outcomes)) return;
    cli_view_heading(v, "execution hints");
    cli_table_begin(&t, "lllll");
    static const char *const heads[] = {"hint", "strength", "origin", "outcome", "where and why"};
    for (size_t c = 0; c < 5; c++) cli_table_cell(&t, heads[c]);
    for (const struct cli_json *h = cli_json_first(outcomes); h; h = h->next) {
        const char *why = text(h, "why"), *by = text(h, "by.origin");
        cli_table_cell(&t, text(h, "hint"));
        cli_table_cell(&t, text(h, "strength"));
        cli_table_cell(&t, text(h, "origin"));
        cli_table_cell(&t, text(h, "outcome"));
        cli_table_cellf(&t, "%s#%s%s%s%s%s", text(h, "file"), text(h, "pointer"), *why ? ": " : "", why, *by ? "; against one of " : "",
                        by);
    }
    cli_table_print(&t, v);
}

static void memory(struct cli_view *v, const struct cli_json *m)
{
    if (!m) return;
    cli_view_heading(v, "memory, from headers alone");
    cli_view_size(v, "weights", cli_json_get(m, "weights_bytes"));
    cli_view_size(v, "workspace", cli_json_get(m, "workspace_bytes"));
    cli_view_size(v, "tokenizer", cli_json_get(m, "tokenizer_bytes"));
    cli_view_size(v, "session", cli_json_get(m, "session_bytes"));
    cli_view_size(v, "resident", cli_json_get(m, "resident_bytes"));
    cli_view_size(v, "peak", cli_json_get(m, "peak_bytes"));
    cli_view_size(v, "limit", cli_json_get(m, "limit_bytes"));
    double uncertainty = cli_json_double(cli_json_get(m, "uncertainty"), 0);
    if (uncertainty > 0) cli_view_fieldf(v, "uncertainty", "%.0f %%", uncertainty * 100);
}

/* ---- check ---- */

static void provider(struct cli_view *v, const struct cli_json *row)
{
    char heading[128], size[32];
    uint64_t peak;
    snprintf(heading, sizeof(heading), "provider %s: %s", text(row, "name"), text(row, "decision"));
    cli_view_heading(v, heading);
    cli_view_field(v, "version", text(row, "version"));
    cli_view_field(v, "evidence", text(row, "evidence_level"));
    if (cli_json_u64(cli_json_path(row, "memory.peak_bytes"), &peak))
        cli_view_fieldf(v, "memory", "%s at its peak", cli_size_text(size, peak));
    for (const struct cli_json *f = cli_json_first(cli_json_get(row, "findings")); f; f = f->next) cli_view_finding(v, f);
    hints(v, cli_json_get(row, "hints"));
}

/* Providers that nobody asked for: a line each, with the first reason. */
static void others(struct cli_view *v, const struct cli_json *rows)
{
    struct cli_table t;
    cli_table_begin(&t, "lll");
    cli_table_cell(&t, "not asked for");
    cli_table_cell(&t, "decision");
    cli_table_cell(&t, "why");
    for (const struct cli_json *row = cli_json_first(rows); row; row = row->next) {
        if (cli_json_true(cli_json_get(row, "requested"))) continue;
        cli_table_cell(&t, text(row, "name"));
        cli_table_cell(&t, text(row, "decision"));
        cli_table_cell(&t, cli_json_text(cli_json_get(cli_json_first(cli_json_get(row, "findings")), "message")));
    }
    cli_out_text(v->out, "\n");
    cli_table_print(&t, v);
}

/* The list has what each provider says too; that stands under the provider. */
static void common_findings(struct cli_view *v, const struct cli_json *list)
{
    bool any = false;
    for (const struct cli_json *f = cli_json_first(list); f; f = f->next) {
        if (cli_json_get(f, "provider")) continue;
        if (any) cli_out_text(v->out, "\n");
        else cli_view_heading(v, "for every provider");
        cli_view_finding(v, f);
        any = true;
    }
}

void cli_view_assessment(struct cli_view *v, const struct cli_json *root)
{
    char heading[256];
    const struct cli_json *rows = cli_json_get(root, "providers");
    snprintf(heading, sizeof(heading), "%s: %s", text(root, "task"), text(root, "decision"));
    cli_view_heading(v, heading);
    cli_view_field(v, "contract", text(root, "contract"));
    cli_view_field(v, "dialect", text(root, "package.dialect"));
    cli_view_field(v, "manifest", text(root, "package.manifest"));
    common_findings(v, cli_json_get(root, "findings"));
    for (const struct cli_json *row = cli_json_first(rows); row; row = row->next) {
        if (cli_json_true(cli_json_get(row, "requested"))) provider(v, row);
    }
    others(v, rows);
}

/* ---- plan ---- */

static void chain(struct cli_view *v, const struct cli_json *recipe)
{
    for (const struct cli_json *m = cli_json_first(cli_json_get(recipe, "modules")); m; m = m->next) {
        bool first = m == cli_json_get(recipe, "modules")->first;
        cli_view_fieldf(v, first ? "modules" : "", "%s %s, in the %s", text(m, "index"), text(m, "kind"), text(m, "runs_in"));
    }
    for (const struct cli_json *p = cli_json_first(cli_json_get(recipe, "prompts")); p; p = p->next)
        cli_view_fieldf(v, p == cli_json_get(recipe, "prompts")->first ? "prompts" : "", "%s: \"%s\"", p->key, cli_json_text(p));
    cli_view_field(v, "prompt used", text(recipe, "default_prompt"));
    if (cli_json_get(recipe, "max_tokens"))
        cli_view_fieldf(v, "longest text", "%s tokens, longer ones lose their %s end", text(recipe, "max_tokens"),
                        text(recipe, "truncation_side"));
}

static void ports(struct cli_view *v, const char *name, const struct cli_json *list)
{
    for (const struct cli_json *p = cli_json_first(list); p; p = p->next) {
        const struct cli_json *required = cli_json_get(p, "required");
        cli_view_fieldf(v, p == list->first ? name : "", "%s: %s%s", text(p, "name"), text(p, "type"),
                        required && !cli_json_true(required) ? ", has a default" : "");
    }
}

/* What a family's plan says by family, tensors and batch. */
static void dataflow(struct cli_view *v, const struct cli_json *graph)
{
    enum { SHOWN = 8 };
    char line[512] = "";
    size_t used = 0, shown = 0;
    const struct cli_json *operators = cli_json_get(graph, "operators");
    cli_view_fieldf(v, "graph", "%s, %s nodes", text(graph, "file"), text(graph, "nodes"));
    for (const struct cli_json *o = cli_json_first(operators); o && shown < SHOWN && used < sizeof(line); o = o->next, shown++) {
        int n = snprintf(line + used, sizeof(line) - used, "%s%s %s", used ? ", " : "", text(o, "count"), text(o, "operator"));
        used += n > 0 ? (size_t)n : 0;
    }
    if (cli_json_count(operators) > SHOWN) cli_view_fieldf(v, "operators", "%s and %zu more kinds", line, cli_json_count(operators) - SHOWN);
    else cli_view_field(v, "operators", line);
    used = 0;
    line[0] = 0;
    for (const struct cli_json *p = cli_json_first(cli_json_get(graph, "patches")); p && used < sizeof(line); p = p->next) {
        int n = snprintf(line + used, sizeof(line) - used, "%s%s %s", used ? ", " : "", text(p, "count"), text(p, "patch"));
        used += n > 0 ? (size_t)n : 0;
    }
    cli_view_fieldf(v, "rewritten", "%s%s%s nodes run", line, used ? "; " : "", text(graph, "nodes_run"));
    ports(v, "inputs", cli_json_get(graph, "inputs"));
    ports(v, "outputs", cli_json_get(graph, "outputs"));
}

static void audit(struct cli_view *v, const struct cli_json *object)
{
    char line[512];
    size_t used = 0;
    for (const struct cli_json *m = cli_json_first(object); m; m = m->next) {
        bool list = m->type == CLI_JSON_ARRAY;
        if (strcmp(m->key, "prefix") == 0 || (list && m->count == 0) || used >= sizeof(line)) continue;
        int n = list ? snprintf(line + used, sizeof(line) - used, "%s%zu %s", used ? ", " : "", m->count, m->key)
                     : snprintf(line + used, sizeof(line) - used, "%s%s %s", used ? ", " : "", cli_json_text(m), m->key);
        used += n > 0 ? (size_t)n : 0;
    }
    if (used) cli_view_field(v, "tensors", line);
}

static void exclusions(struct cli_view *v, const struct cli_json *list)
{
    for (const struct cli_json *e = cli_json_first(list); e; e = e->next) {
        char heading[128];
        bool load = cli_json_text_is(cli_json_get(e, "at"), "load");
        snprintf(heading, sizeof(heading), "not provider %s: %s", text(e, "provider"), load ? "could not be loaded" : text(e, "decision"));
        cli_view_findings(v, heading, cli_json_get(e, "findings"));
    }
}

void cli_view_plan(struct cli_view *v, const struct cli_json *root)
{
    const struct cli_json *recipe = cli_json_get(root, "recipe");
    char heading[128];
    snprintf(heading, sizeof(heading), "plan %.16s", text(root, "id"));
    cli_view_heading(v, heading);
    cli_view_fieldf(v, "task", "%s (%s)", text(root, "task"), text(root, "contract"));
    cli_view_fieldf(v, "package", "%s, variant %s", text(root, "package.dialect"), text(root, "package.variant"));
    cli_view_field(v, "manifest", text(root, "package.manifest"));
    cli_view_fieldf(v, "provider", "%s %s of tenon %s on %s", text(root, "provider.name"), text(root, "provider.version"),
                    text(root, "build.version"), text(root, "machine.isa_class"));
    const struct cli_json *graph = cli_json_get(root, "dataflow");
    if (!graph) cli_view_fieldf(v, "family", "%s %s", text(root, "family"), text(root, "family_version"));
    cli_view_fieldf(v, "numeric", "compute %s, accumulate %s, weights stored as %s", text(root, "numeric.compute"),
                    text(root, "numeric.accumulate"), text(root, "numeric.stored"));
    cli_view_fieldf(v, "placement", "%s, %s", text(root, "placement.device"), text(root, "placement.policy"));
    if (cli_json_count(cli_json_path(root, "policy.fallback")) > 1) {
        char *list = cli_json_line(cli_json_path(root, "policy.fallback"));
        cli_view_fieldf(v, "providers", "%s, the next where one cannot at %s", list, text(root, "policy.falls_back_at"));
        free(list);
    }
    audit(v, cli_json_get(root, "audit"));
    cli_view_fieldf(v, "recipe", "%s %s", text(recipe, "name"), text(recipe, "version"));
    chain(v, recipe);
    if (graph) dataflow(v, graph);
    else cli_view_fieldf(v, "batch", "up to %s rows of %s sequences", text(root, "batch.rows"), text(root, "batch.sequences"));
    cli_view_field(v, "evidence", text(root, "evidence_level"));
    cli_view_field(v, "note", text(root, "note"));
    options(v, "options", cli_json_get(root, "options"));
    options(v, "options of a request that says nothing", cli_json_get(root, "task_options"));
    hints(v, cli_json_path(root, "hints.outcomes"));
    memory(v, cli_json_get(root, "memory"));
    cli_view_losses(v, cli_json_path(root, "package.losses"));
    cli_view_findings(v, "findings", cli_json_get(root, "findings"));
    exclusions(v, cli_json_get(root, "exclusions"));
}

/* ---- check without a task ------------------------------------------------------------------------------------------- */

/* One line of evidence each; chains of modules and lists of labels are for --json. */
static void evidence(struct cli_view *v, const struct cli_json *list)
{
    enum { SHOWN = 6 };
    size_t shown = 0;
    for (const struct cli_json *f = cli_json_first(list); f && shown < SHOWN; f = f->next, shown++) {
        char *value = cli_json_line(cli_json_get(f, "value"));
        cli_view_fieldf(v, text(f, "name"), "%.*s  (%s%s%s)", cli_excerpt(value, 80), value, text(f, "file"),
                        *text(f, "pointer") ? " " : "", text(f, "pointer"));
        free(value);
    }
    if (cli_json_count(list) > SHOWN) cli_view_fieldf(v, "and", "%zu more facts (--json lists them)", cli_json_count(list) - SHOWN);
}

void cli_view_task_list(struct cli_view *v, const struct cli_json *root)
{
    for (int pass = 0; pass < 2; pass++) {
        for (const struct cli_json *t = cli_json_first(cli_json_get(root, "tasks")); t; t = t->next) {
            bool served = cli_json_text_is(cli_json_get(t, "decision"), "eligible");
            if (served != (pass == 0)) continue;
            char heading[96];
            snprintf(heading, sizeof(heading), "%s: %s", text(t, "task"), text(t, "decision"));
            cli_view_heading(v, heading);
            if (served) evidence(v, cli_json_get(t, "evidence"));
            for (const struct cli_json *f = cli_json_first(cli_json_get(t, "findings")); f; f = f->next) {
                if (!served && !cli_json_text_is(cli_json_get(f, "severity"), "blocker")) continue;
                cli_view_finding(v, f);
            }
        }
    }
}
