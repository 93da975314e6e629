/* Pages of doctor, capabilities, families and tasks. */
#include "memory.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const struct cli_json *root, const char *path)
{
    return cli_json_text(cli_json_path(root, path));
}

/* The list of a document: the document itself, or its member. */
static const struct cli_json *list_of(const struct cli_json *root, const char *name)
{
    return cli_json_first(cli_json_is(root, CLI_JSON_ARRAY) ? root : cli_json_get(root, name));
}

/* ---- doctor: plain members first, then a section per object or list ---- */

static void section(struct cli_view *v, const struct cli_json *m)
{
    cli_view_heading(v, m->key);
    for (const struct cli_json *e = m->first; e; e = e->next) {
        if (e->type == CLI_JSON_OBJECT && m->type == CLI_JSON_ARRAY) {
            if (e != m->first) cli_out_text(v->out, "\n");
            cli_view_members(v, e);
            continue;
        }
        cli_view_member(v, e);
    }
}

static bool is_section(const struct cli_json *m)
{
    return m->type == CLI_JSON_OBJECT || (m->type == CLI_JSON_ARRAY && cli_json_is(m->first, CLI_JSON_OBJECT));
}

void cli_view_doctor(struct cli_view *v, const struct cli_json *root)
{
    cli_view_heading(v, "tenon doctor");
    for (const struct cli_json *m = cli_json_first(root); m; m = m->next) {
        if (is_section(m)) continue;
        cli_view_member(v, m);
    }
    for (const struct cli_json *m = cli_json_first(root); m; m = m->next) {
        if (is_section(m)) section(v, m);
    }
}

/* ---- capabilities: what is offered first ---- */

static void capability_rows(struct cli_view *v, const struct cli_json *root, bool offered)
{
    struct cli_table t;
    cli_view_heading(v, offered ? "offered" : "known, not offered");
    cli_table_begin(&t, "llll");
    cli_table_cell(&t, "capability");
    cli_table_cell(&t, "version");
    cli_table_cell(&t, "category");
    cli_table_cell(&t, offered ? "promise" : "what it would take");
    for (const struct cli_json *c = list_of(root, "capabilities"); c; c = c->next) {
        if (cli_json_true(cli_json_get(c, "offered")) != offered) continue;
        cli_table_cell(&t, text(c, "id"));
        cli_table_cell(&t, offered ? text(c, "version") : "-");
        cli_table_cell(&t, text(c, "category"));
        cli_table_cell(&t, text(c, "means"));
    }
    cli_table_print(&t, v);
}

void cli_view_capabilities(struct cli_view *v, const struct cli_json *root)
{
    capability_rows(v, root, true);
    capability_rows(v, root, false);
}

/* ---- families ---- */

static void fields(struct cli_view *v, const struct cli_json *family)
{
    struct cli_table t;
    cli_table_begin(&t, "llll");
    static const char *const heads[] = {"field", "class", "default", "accepted"};
    for (size_t c = 0; c < 4; c++) cli_table_cell(&t, heads[c]);
    for (const struct cli_json *f = cli_json_first(cli_json_get(family, "fields")); f; f = f->next) {
        char *absent = cli_json_line(cli_json_get(f, "default"));
        const char *accepted = text(f, "accepted");
        bool required = cli_json_true(cli_json_get(f, "required"));
        cli_table_cell(&t, text(f, "pointer"));
        cli_table_cell(&t, text(f, "class"));
        cli_table_cell(&t, required ? "required" : absent);
        if (!*accepted && cli_json_get(f, "low")) {
            cli_table_cellf(&t, "%s to %s", text(f, "low"), text(f, "high"));
        } else {
            cli_table_cell(&t, accepted);
        }
        free(absent);
    }
    cli_table_print(&t, v);
}

void cli_view_families(struct cli_view *v, const struct cli_json *root)
{
    for (const struct cli_json *f = list_of(root, "families"); f; f = f->next) {
        char heading[128];
        char *types = cli_json_line(cli_json_get(f, "model_types")), *names = cli_json_line(cli_json_get(f, "architectures"));
        snprintf(heading, sizeof(heading), "%s %s", text(f, "name"), text(f, "version"));
        cli_view_heading(v, heading);
        cli_view_field(v, "model_type", types);
        cli_view_field(v, "architectures", names);
        cli_view_fieldf(v, "tensors", "%zu rules", cli_json_count(cli_json_get(f, "tensors")));
        fields(v, f);
        free(types);
        free(names);
    }
}

/* ---- tasks ---- */

/* What a member means that is not there; "" where its meaning says it. */
static const char *absent(const struct cli_json *row)
{
    const struct cli_json *value = cli_json_get(row, "absent");
    return cli_json_is(value, CLI_JSON_NULL) ? "" : cli_json_text(value);
}

static void contract(struct cli_view *v, const char *title, const struct cli_json *rows)
{
    struct cli_table t;
    if (!cli_json_is(rows, CLI_JSON_ARRAY)) return;
    bool request = rows->first && cli_json_get(rows->first, "required");
    cli_table_begin(&t, request ? "llll" : "lll");
    cli_table_cell(&t, title);
    cli_table_cell(&t, "type");
    if (request) cli_table_cell(&t, "absent");
    cli_table_cell(&t, "meaning");
    for (const struct cli_json *r = rows->first; r; r = r->next) {
        cli_table_cell(&t, text(r, "name"));
        cli_table_cell(&t, text(r, "type"));
        if (request) cli_table_cell(&t, cli_json_true(cli_json_get(r, "required")) ? "required" : absent(r));
        cli_table_cell(&t, text(r, "meaning"));
    }
    cli_out_text(v->out, "\n");
    cli_table_print(&t, v);
}

void cli_view_tasks(struct cli_view *v, const struct cli_json *root)
{
    for (const struct cli_json *task = list_of(root, "tasks"); task; task = task->next) {
        cli_view_heading(v, text(task, "name"));
        cli_view_field(v, "contract", text(task, "contract"));
        cli_view_fieldf(v, "recipe", "%s %s", text(task, "recipe.name"), text(task, "recipe.version"));
        cli_view_field(v, "what", text(task, "what"));
        contract(v, "request", cli_json_get(task, "request"));
        contract(v, "result", cli_json_get(task, "result"));
    }
}
