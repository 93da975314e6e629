/* Pages of qualify and records. */
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const struct cli_json *root, const char *path)
{
    return cli_json_text(cli_json_path(root, path));
}

/* "max_abs 4.1e-07, cases 24": counts as they are, measures to three digits. */
static void measures(struct cli_out *o, const struct cli_json *object)
{
    for (const struct cli_json *m = cli_json_first(object); m; m = m->next) {
        uint64_t count;
        cli_out_format(o, m == object->first ? " (%s " : ", %s ", m->key);
        if (cli_json_u64(m, &count)) {
            cli_out_u64(o, count);
        } else {
            double v = cli_json_double(m, 0);
            bool near_one = v > 0.99 && v < 1; /* a cosine: what is missing is what matters */
            cli_out_format(o, near_one ? "1 - %.3g" : "%.3g", near_one ? 1 - v : v);
        }
    }
    if (cli_json_count(object)) cli_out_text(o, ")");
}

static void check(struct cli_table *t, const struct cli_json *c)
{
    static struct cli_out line; /* used as a buffer: it never fills up, so it never writes */
    const char *detail = text(c, "detail");
    cli_out_init(&line, -1);
    cli_out_format(&line, "%.1000s", text(c, "what"));
    measures(&line, cli_json_get(c, "measured"));
    cli_out_format(&line, "%s%.1000s", *detail ? "; " : "", detail);
    cli_table_cell(t, text(c, "outcome"));
    cli_table_cell(t, text(c, "id"));
    cli_table_cellf(t, "%.*s", (int)line.used, line.buf);
}

void cli_view_record(struct cli_view *v, const struct cli_json *root)
{
    struct cli_table t;
    char heading[128];
    snprintf(heading, sizeof(heading), "record %s", text(root, "id"));
    cli_view_heading(v, heading);
    cli_view_fieldf(v, "level", "%s%s", text(root, "level"),
                    cli_json_true(cli_json_get(root, "passed")) ? "" : ", with failures");
    cli_view_field(v, "made", text(root, "created"));
    cli_view_fieldf(v, "task", "%s, suite %s", text(root, "task"), text(root, "suite"));
    cli_view_fieldf(v, "package", "%s (%s, variant %s)", text(root, "package.name"), text(root, "package.dialect"),
                    text(root, "package.variant"));
    cli_view_field(v, "manifest", text(root, "package.manifest"));
    cli_view_field(v, "weights", text(root, "package.weights"));
    cli_view_field(v, "space", text(root, "package.space"));
    cli_view_fieldf(v, "ran as", "%s %s, family %s, %s, on %s", text(root, "provider.name"),
                    text(root, "provider.version"), text(root, "family"), text(root, "numeric.compute"),
                    text(root, "device.isa_class"));
    if (cli_json_is(cli_json_get(root, "golden"), CLI_JSON_OBJECT))
        cli_view_fieldf(v, "golden", "%s, %s cases", text(root, "golden.file"), text(root, "golden.cases"));
    if (cli_json_is(cli_json_get(root, "reference"), CLI_JSON_OBJECT))
        cli_view_fieldf(v, "reference", "provider %s %s, %s outputs", text(root, "reference.provider"), text(root, "reference.version"),
                        text(root, "reference.outputs"));
    if (cli_json_is(cli_json_get(root, "withdrawal"), CLI_JSON_OBJECT))
        cli_view_fieldf(v, "withdraws", "%s (%s): %s", text(root, "withdrawal.record"), text(root, "withdrawal.level"), text(root, "withdrawal.reason"));
    cli_view_heading(v, "checks");
    cli_table_begin(&t, "lll");
    cli_table_cell(&t, "outcome");
    cli_table_cell(&t, "check");
    cli_table_cell(&t, "what must hold, and what was measured");
    for (const struct cli_json *c = cli_json_first(cli_json_get(root, "checks")); c; c = c->next) check(&t, c);
    cli_table_print(&t, v);
    const struct cli_json *exclusions = cli_json_get(root, "exclusions");
    if (cli_json_count(exclusions)) cli_view_heading(v, "not covered");
    for (const struct cli_json *e = cli_json_first(exclusions); e; e = e->next) {
        char *clean = cli_safe_copy(cli_json_text(e), e->length);
        cli_view_text(v, 2, clean);
        free(clean);
    }
}

void cli_view_records(struct cli_view *v, const struct cli_json *root)
{
    const struct cli_json *list = cli_json_is(root, CLI_JSON_ARRAY) ? root : cli_json_get(root, "records");
    static const char *const columns[] = {"id", "created", "level", "holds_here", "failures", "task", "package", "reason"};
    enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    struct cli_table t;
    if (cli_json_count(list) == 0) {
        cli_out_text(v->out, "no records yet; `tenon qualify` makes them\n");
        return;
    }
    cli_table_begin(&t, "llllrlll");
    for (size_t c = 0; c < COLUMNS; c++) cli_table_cell(&t, columns[c]);
    for (const struct cli_json *r = list->first; r; r = r->next) {
        for (size_t c = 0; c < COLUMNS; c++) {
            char *value = cli_json_line(cli_json_get(r, columns[c]));
            bool id = c == 0; /* eight characters name a record, as in `records show` */
            cli_table_cellf(&t, "%.*s", id ? 8 : (int)strlen(value), value);
            free(value);
        }
    }
    cli_table_print(&t, v);
}
