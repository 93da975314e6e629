/* Pages of compare and of `records why`. */
#include "memory.h"
#include "views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const struct cli_json *root, const char *path)
{
    return cli_json_text(cli_json_path(root, path));
}

static double number(const struct cli_json *root, const char *path)
{
    return cli_json_double(cli_json_path(root, path), (double)NAN);
}

/* ---- compare ---- */

static void side(struct cli_view *v, const char *label, const struct cli_json *s)
{
    cli_view_fieldf(v, label, "%s: %s %s on %s, computes %s, weights stored as %s; answered in %.1f ms", text(s, "as"), text(s, "name"),
                    text(s, "version"), *text(s, "isa_class") ? text(s, "isa_class") : text(s, "device"), text(s, "compute"),
                    text(s, "stored"), number(s, "answered_ms"));
}

/* A cosine near one by what is missing: that is what matters. */
static void cosine(struct cli_table *t, double c)
{
    if (c > 0.99 && c < 1) cli_table_cellf(t, "1 - %.2g", 1 - c);
    else cli_table_cellf(t, "%.6g", c);
}

static void output(struct cli_table *t, const struct cli_json *o)
{
    char *shape = cli_json_line(cli_json_get(o, "shape"));
    bool agrees = cli_json_true(cli_json_get(o, "agrees"));
    cli_table_cell(t, agrees ? "agrees" : "differs");
    cli_table_cell(t, text(o, "name"));
    cli_table_cellf(t, "%s [%s]", text(o, "element"), shape);
    cli_table_cellf(t, "%.3g", number(o, "max_abs"));
    cli_table_cellf(t, "%.3g", number(o, "max_rel"));
    cosine(t, number(o, "cosine"));
    if (cli_json_is(cli_json_get(o, "argmax"), CLI_JSON_OBJECT)) cli_table_cellf(t, "%s of %s", text(o, "argmax.same"), text(o, "argmax.rows"));
    else cli_table_cell(t, "");
    cli_table_cellf(t, "%s, %s", text(o, "non_finite.first"), text(o, "non_finite.second"));
    if (agrees) cli_table_cell(t, "none");
    else if (strcmp(text(o, "beyond"), "0") == 0) cli_table_cell(t, text(o, "why"));
    else cli_table_cellf(t, "%s of %s", text(o, "beyond"), text(o, "compared"));
    free(shape);
}

/* What was allowed; of what differs, the number that is furthest off. */
static void verdict(struct cli_view *v, const struct cli_json *o, bool first)
{
    if (first) cli_view_fieldf(v, "allowed", "%.3g + %.3g of each number: %s", number(o, "tolerance.absolute"), number(o, "tolerance.relative"), text(o, "tolerance.why"));
    if (!cli_json_is(cli_json_get(o, "worst"), CLI_JSON_OBJECT)) return;
    cli_view_fieldf(v, text(o, "name"), "number %s: %.9g against %.9g", text(o, "worst.at"), number(o, "worst.first"), number(o, "worst.second"));
}

static void maker(struct cli_view *v, const struct cli_json *m)
{
    const char *patch = text(m, "patch");
    cli_view_fieldf(v, "", "%s: %s%s%s%s", text(m, "provider"), text(m, "operator"), *patch ? ", made by the rewriting \"" : "", patch,
                    *patch ? "\"" : "");
}

static void value(struct cli_view *v, const char *label, const struct cli_json *k)
{
    if (!cli_json_is(k, CLI_JSON_OBJECT)) return;
    cli_view_fieldf(v, label, "value %s of node %s, the %sth in order", text(k, "value"), *text(k, "node") ? text(k, "node") : "(without a name)",
                    text(k, "order"));
    maker(v, cli_json_get(k, "first"));
    maker(v, cli_json_get(k, "second"));
    cli_view_fieldf(v, "", "largest difference %.3g, relative %.3g; %s of %s numbers beyond %.3g + %.3g", number(k, "max_abs"), number(k, "max_rel"),
                    text(k, "beyond"), text(k, "compared"), number(k, "tolerance.absolute"), number(k, "tolerance.relative"));
}

static void layers(struct cli_view *v, const struct cli_json *l)
{
    if (!cli_json_is(l, CLI_JSON_OBJECT)) return;
    cli_view_heading(v, "inside the graph");
    cli_view_field(v, "unseen", text(l, "unseen"));
    if (*text(l, "unseen")) return;
    cli_view_fieldf(v, "compared", "%s of %s values that the first provider makes; the others were rewritten away by the second one",
                    text(l, "compared"), text(l, "values"));
    if (strcmp(text(l, "too_large"), "0") != 0) cli_view_fieldf(v, "too large", "%s values", text(l, "too_large"));
    if (cli_json_is(cli_json_get(l, "first_difference"), CLI_JSON_OBJECT)) value(v, "first that differs", cli_json_get(l, "first_difference"));
    else cli_view_field(v, "first that differs", "none");
    value(v, "furthest apart", cli_json_get(l, "furthest"));
}

void cli_view_comparison(struct cli_view *v, const struct cli_json *root)
{
    struct cli_table t;
    static const char *const heads[] = {"", "output", "type", "max abs", "max rel", "cosine", "same argmax", "not finite", "beyond"};
    const struct cli_json *first = cli_json_first(cli_json_get(root, "providers")), *record = cli_json_get(root, "record");
    cli_view_heading(v, cli_json_true(cli_json_get(root, "agree")) ? "the answers agree" : "the answers differ");
    cli_view_field(v, "task", text(root, "task"));
    cli_view_field(v, "why", text(root, "why"));
    side(v, "first", first);
    side(v, "reference", first ? first->next : NULL);
    cli_view_heading(v, "outputs");
    cli_table_begin(&t, "lllrrrrrl");
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) cli_table_cell(&t, heads[i]);
    for (const struct cli_json *o = cli_json_first(cli_json_get(root, "outputs")); o; o = o->next) output(&t, o);
    cli_table_print(&t, v);
    for (const struct cli_json *o = cli_json_first(cli_json_get(root, "outputs")); o; o = o->next)
        verdict(v, o, o == cli_json_first(cli_json_get(root, "outputs")));
    layers(v, cli_json_get(root, "layers"));
    if (!cli_json_is(record, CLI_JSON_OBJECT)) return;
    cli_view_heading(v, "record");
    cli_view_fieldf(v, "id", "%s, %s%s%s", text(record, "id"), text(record, "level"),
                    cli_json_true(cli_json_get(record, "stored")) ? "" : "; not stored: ", text(record, "error.message"));
}

/* ---- records why ---- */

/* Of a digest what tells it from others. */
static void fact(struct cli_table *t, const char *value)
{
    size_t n = strlen(value);
    bool digest = n == 64 && strspn(value, "0123456789abcdef") == n;
    cli_table_cellf(t, "%.*s%s", digest ? 12 : 160, value, digest ? ".." : "");
}

static void dependencies(struct cli_view *v, const struct cli_json *list)
{
    struct cli_table t;
    cli_table_begin(&t, "llll");
    cli_table_cell(&t, "rests on");
    cli_table_cell(&t, "state");
    cli_table_cell(&t, "then");
    cli_table_cell(&t, "now");
    for (const struct cli_json *d = cli_json_first(list); d; d = d->next) {
        cli_table_cell(&t, text(d, "kind"));
        cli_table_cell(&t, text(d, "state"));
        fact(&t, text(d, "then"));
        fact(&t, text(d, "now"));
    }
    cli_table_print(&t, v);
}

static void evidence(struct cli_view *v, const struct cli_json *list)
{
    struct cli_table t;
    cli_table_begin(&t, "llll");
    cli_table_cell(&t, "evidence");
    cli_table_cell(&t, "");
    cli_table_cell(&t, "because of");
    cli_table_cell(&t, "checks");
    for (const struct cli_json *e = cli_json_first(list); e; e = e->next) {
        char *fell = cli_json_line(cli_json_get(e, "fell")), *checks = cli_json_line(cli_json_get(e, "checks"));
        cli_table_cell(&t, text(e, "evidence"));
        cli_table_cell(&t, cli_json_true(cli_json_get(e, "holds")) ? "holds" : "fell");
        cli_table_cell(&t, fell);
        cli_table_cell(&t, checks);
        free(fell);
        free(checks);
    }
    cli_table_print(&t, v);
}

void cli_view_why(struct cli_view *v, const struct cli_json *root)
{
    char heading[128];
    snprintf(heading, sizeof(heading), "record %s", text(root, "id"));
    cli_view_heading(v, heading);
    cli_view_fieldf(v, "level", "%s; %s holds", text(root, "level"), text(root, "holds"));
    cli_view_fieldf(v, "about", "%s of %s", text(root, "task"), text(root, "package"));
    cli_view_field(v, "held against", cli_json_true(cli_json_get(root, "held_against_package")) ? "this build, this machine and the package" : "this build and this machine");
    cli_view_field(v, "no plan any more", text(root, "no_plan.message"));
    cli_view_field(v, "withdrawn", text(root, "withdrawn.reason"));
    if (*text(root, "withdraws")) cli_view_fieldf(v, "withdraws", "%s: %s", text(root, "withdraws"), text(root, "reason"));
    cli_view_field(v, "replaced by", text(root, "replaced_by"));
    cli_out_text(v->out, "\n");
    dependencies(v, cli_json_get(root, "dependencies"));
    cli_out_text(v->out, "\n");
    evidence(v, cli_json_get(root, "evidence"));
}
