/*
 * Pages of schema: the list of documents, and one schema as tables, a section per type. It knows the forms of JSON Schema
 * that the library prints and shows anything else as it is.
 */
#include "memory.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const struct cli_json *object, const char *key)
{
    return cli_json_text(cli_json_get(object, key));
}

void cli_view_schemas(struct cli_view *v, const struct cli_json *root)
{
    struct cli_table t;
    cli_table_begin(&t, "ll");
    cli_table_cell(&t, "name");
    cli_table_cell(&t, "document");
    for (const struct cli_json *s = cli_json_first(cli_json_get(root, "schemas")); s; s = s->next) {
        cli_table_cell(&t, text(s, "name"));
        cli_table_cell(&t, text(s, "what"));
    }
    cli_table_print(&t, v);
}

/* ---- a type in few words ---------------------------------------------------------------------------------------------- */

struct words {
    char s[1024];
    size_t n;
};

static void add(struct words *w, const char *s)
{
    size_t n = strlen(s), room = sizeof(w->s) - 1 - w->n;
    if (n > room) n = (size_t)cli_excerpt(s, room);
    memcpy(w->s + w->n, s, n);
    w->n += n;
    w->s[w->n] = 0;
}

static void type_of(struct words *w, const struct cli_json *schema);

static void alternatives(struct words *w, const struct cli_json *list)
{
    for (const struct cli_json *s = cli_json_first(list); s; s = s->next) {
        if (s != list->first) add(w, " or ");
        type_of(w, s);
    }
}

/* "type" may be a list with null in it. */
static const char *plain_type(const struct cli_json *schema)
{
    const struct cli_json *type = cli_json_get(schema, "type");
    return cli_json_text(cli_json_is(type, CLI_JSON_ARRAY) ? type->first : type);
}

static void values(struct words *w, const struct cli_json *list)
{
    for (const struct cli_json *e = cli_json_first(list); e; e = e->next) {
        if (e != list->first) add(w, " | ");
        add(w, cli_json_is(e, CLI_JSON_NULL) ? "null" : cli_json_text(e));
    }
}

static void type_of(struct words *w, const struct cli_json *schema)
{
    const struct cli_json *ref = cli_json_get(schema, "$ref"), *items = cli_json_get(schema, "items");
    const struct cli_json *any = cli_json_get(schema, "anyOf"), *others = cli_json_get(schema, "additionalProperties");
    const struct cli_json *type = cli_json_get(schema, "type");
    if (ref) {
        const char *name = strrchr(cli_json_text(ref), '/');
        add(w, name ? name + 1 : cli_json_text(ref));
    } else if (any) {
        alternatives(w, any);
    } else if (cli_json_get(schema, "const")) {
        add(w, text(schema, "const"));
    } else if (cli_json_get(schema, "enum")) {
        values(w, cli_json_get(schema, "enum"));
    } else if (items) {
        add(w, "list of ");
        type_of(w, items);
    } else if (others && cli_json_is(others, CLI_JSON_OBJECT)) {
        add(w, "map of ");
        type_of(w, others);
    } else {
        const char *format = text(schema, "format"), *plain = plain_type(schema);
        add(w, *format ? format : *plain ? plain : "any");
    }
    if (cli_json_is(type, CLI_JSON_ARRAY)) add(w, " or null");
}

/* ---- types as tables --------------------------------------------------------------------------------------------------- */

static bool requires(const struct cli_json *schema, const char *name)
{
    for (const struct cli_json *r = cli_json_first(cli_json_get(schema, "required")); r; r = r->next) {
        if (cli_json_text_is(r, name)) return true;
    }
    return false;
}

static void members(struct cli_view *v, const struct cli_json *schema)
{
    struct cli_table t;
    cli_table_begin(&t, "llll");
    static const char *const heads[] = {"member", "type", "absent", "meaning"};
    for (size_t c = 0; c < 4; c++) cli_table_cell(&t, heads[c]);
    for (const struct cli_json *p = cli_json_first(cli_json_get(schema, "properties")); p; p = p->next) {
        struct words type = {.n = 0};
        const struct cli_json *absent = cli_json_get(p, "default");
        char *line = absent ? cli_json_line(absent) : NULL;
        type_of(&type, p);
        cli_table_cell(&t, p->key);
        cli_table_cell(&t, type.s);
        cli_table_cell(&t, requires(schema, p->key) ? "required" : line ? line : "");
        cli_table_cell(&t, text(p, "description"));
        free(line);
    }
    cli_table_print(&t, v);
}

static void variant(struct cli_view *v, const struct cli_json *schema)
{
    const struct cli_json *tag = cli_json_first(cli_json_get(schema, "properties"));
    if (!tag) return;
    char title[160];
    snprintf(title, sizeof(title), "%.60s %.90s", tag->key, text(tag, "const"));
    cli_out_text(v->out, "\n");
    cli_view_field(v, title, text(schema, "description"));
    members(v, schema);
}

static void body(struct cli_view *v, const struct cli_json *schema)
{
    const struct cli_json *variants = cli_json_get(schema, "oneOf"), *examples = cli_json_get(schema, "examples");
    if (cli_json_get(schema, "properties")) {
        members(v, schema);
    } else if (variants) {
        for (const struct cli_json *s = cli_json_first(variants); s; s = s->next) variant(v, s);
    } else {
        struct words type = {.n = 0};
        type_of(&type, schema);
        if (examples) add(&type, ": ");
        if (examples) values(&type, examples);
        if (examples) add(&type, ", or an extension");
        cli_view_field(v, "values", type.s);
    }
    for (const struct cli_json *rule = cli_json_first(cli_json_get(schema, "allOf")); rule; rule = rule->next) {
        cli_view_field(v, "rule", text(rule, "description"));
    }
}

void cli_view_schema(struct cli_view *v, const struct cli_json *root)
{
    cli_view_heading(v, text(root, "title"));
    cli_view_text(v, 2, text(root, "description"));
    body(v, root);
    for (const struct cli_json *d = cli_json_first(cli_json_get(root, "$defs")); d; d = d->next) {
        cli_view_heading(v, d->key);
        cli_view_text(v, 2, text(d, "description"));
        body(v, d);
    }
}
