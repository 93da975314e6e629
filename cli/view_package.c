/* The page of inspect: from "what is this" down to single facts, problems last, where they are seen. */
#include "memory.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_SHOWN = 40, VALUE = 36 };

static const char *text(const struct cli_json *root, const char *path)
{
    return cli_json_text(cli_json_path(root, path));
}

static void size_cell(struct cli_table *t, const struct cli_json *bytes)
{
    char size[32];
    uint64_t n = 0;
    cli_json_u64(bytes, &n);
    cli_table_cell(t, cli_size_text(size, n));
}

/* ---- what it is ---- */

static void evidence(struct cli_view *v, const struct cli_json *list)
{
    for (const struct cli_json *e = cli_json_first(list); e; e = e->next) {
        const char *file = text(e, "file");
        cli_view_fieldf(v, e == list->first ? "because" : "", "%s%s%s (rule %s)", text(e, "detail"), *file ? ", " : "", file,
                        text(e, "rule"));
    }
}

static void identity(struct cli_view *v, const struct cli_json *object)
{
    if (!object) return;
    cli_view_heading(v, "identity");
    for (const struct cli_json *m = object->first; m; m = m->next) {
        const char *value = cli_json_text(m);
        cli_view_field(v, m->key, *value ? value : "not known (inspect --verify reads every byte)");
    }
}

static void variants(struct cli_view *v, const char *heading, const struct cli_json *list)
{
    struct cli_table t;
    if (cli_json_count(list) == 0) return;
    cli_view_heading(v, heading);
    cli_table_begin(&t, "lrll");
    cli_table_cell(&t, "id");
    cli_table_cell(&t, "size");
    cli_table_cell(&t, "readable");
    cli_table_cell(&t, "what");
    for (const struct cli_json *row = list->first; row; row = row->next) {
        cli_table_cell(&t, text(row, "id"));
        size_cell(&t, cli_json_get(row, "bytes"));
        cli_table_cell(&t, cli_json_true(cli_json_get(row, "executable")) ? "yes" : "no");
        cli_table_cell(&t, text(row, "what"));
    }
    cli_table_print(&t, v);
}

/* ---- what it means ---- */

static void components(struct cli_view *v, const struct cli_json *list)
{
    for (const struct cli_json *c = cli_json_first(list); c; c = c->next) {
        char heading[128];
        snprintf(heading, sizeof(heading), "component %s", text(c, "name"));
        cli_view_heading(v, heading);
        cli_view_field(v, "folder", text(c, "folder"));
        cli_view_field(v, "model_type", text(c, "model_type"));
        cli_view_field(v, "architecture", text(c, "architecture"));
        cli_view_field(v, "read by", text(c, "schema"));
        cli_view_field(v, "variant", text(c, "variant"));
    }
}

static void module(struct cli_view *v, const struct cli_json *m)
{
    char *pooling = cli_json_line(cli_json_get(m, "pooling"));
    const char *in = text(m, "in_features"), *out = text(m, "out_features"), *path = text(m, "path");
    char line[512];
    int n = snprintf(line, sizeof(line), "%s", text(m, "kind"));
    if (*pooling && n < (int)sizeof(line)) n += snprintf(line + n, sizeof(line) - (size_t)n, " %s", pooling);
    if (*in && n < (int)sizeof(line)) n += snprintf(line + n, sizeof(line) - (size_t)n, " %s to %s", in, out);
    if (*text(m, "activation") && n < (int)sizeof(line))
        n += snprintf(line + n, sizeof(line) - (size_t)n, ", activation %s", text(m, "activation"));
    if (*path && n < (int)sizeof(line)) snprintf(line + n, sizeof(line) - (size_t)n, "  in %s", path);
    cli_view_field(v, text(m, "index"), line);
    free(pooling);
}

static void behaviour(struct cli_view *v, const struct cli_json *root)
{
    const struct cli_json *prompts = cli_json_get(root, "prompts");
    if (cli_json_count(cli_json_get(root, "modules"))) cli_view_heading(v, "modules, in order");
    for (const struct cli_json *m = cli_json_first(cli_json_get(root, "modules")); m; m = m->next) module(v, m);
    if (cli_json_count(cli_json_get(root, "components"))) {
        cli_view_heading(v, "use");
        uint64_t most = 0;
        if (cli_json_u64(cli_json_get(root, "max_seq_length"), &most) && most > 0)
            cli_view_fieldf(v, "longest text", "%s tokens", text(root, "max_seq_length"));
        cli_view_field(v, "similarity", text(root, "similarity"));
        for (const struct cli_json *p = cli_json_first(prompts); p; p = p->next)
            cli_view_fieldf(v, p == prompts->first ? "prompts" : "", "%s: \"%s\"", p->key, cli_json_text(p));
        cli_view_field(v, "prompt used", text(root, "default_prompt"));
    }
    if (cli_json_is(cli_json_get(root, "tokenizer"), CLI_JSON_OBJECT)) {
        cli_view_heading(v, "tokenizer");
        cli_view_members(v, cli_json_get(root, "tokenizer"));
    }
}

/* The part of a fact's name before its last dot, as a length: facts of one owner share it. */
static size_t owner_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

static bool same_owner(const struct cli_json *a, const struct cli_json *b)
{
    size_t n = owner_length(text(a, "name"));
    return n == owner_length(text(b, "name")) && memcmp(text(a, "name"), text(b, "name"), n) == 0;
}

static void fact_row(struct cli_table *t, const struct cli_json *f)
{
    const char *name = text(f, "name");
    size_t n = owner_length(name);
    char *value = cli_json_line(cli_json_get(f, "value"));
    cli_table_cell(t, name + n + (n > 0));
    if (!*value) {
        cli_table_cell(t, "none");
    } else {
        cli_table_cellf(t, "%.*s%s", cli_excerpt(value, VALUE), value, strlen(value) > VALUE ? " ..." : "");
    }
    cli_table_cellf(t, "%s%s%s", text(f, "file"), *text(f, "pointer") ? " " : "", text(f, "pointer"));
    free(value);
}

/* One table per owner: "encoder", "module.1", "tokenizer". */
static void facts_of_owner(struct cli_view *v, const struct cli_json *first, size_t *descriptive)
{
    struct cli_table t;
    char heading[128];
    size_t n = owner_length(text(first, "name"));
    snprintf(heading, sizeof(heading), "facts: %.*s", n ? (int)n : 7, n ? text(first, "name") : "package");
    cli_table_begin(&t, "lll");
    cli_table_cell(&t, "fact");
    cli_table_cell(&t, "value");
    cli_table_cell(&t, "from");
    for (const struct cli_json *f = first; f; f = f->next) {
        if (!same_owner(f, first)) continue;
        if (cli_json_true(cli_json_get(f, "descriptive"))) {
            ++*descriptive;
        } else {
            fact_row(&t, f);
        }
    }
    if (t.cells > t.columns) cli_view_heading(v, heading);
    cli_table_print(&t, v);
}

static void facts(struct cli_view *v, const struct cli_json *list)
{
    size_t descriptive = 0;
    for (const struct cli_json *f = cli_json_first(list); f; f = f->next) {
        const struct cli_json *before = list->first;
        while (before != f && !same_owner(before, f)) before = before->next;
        if (before == f) facts_of_owner(v, f, &descriptive);
    }
    if (descriptive)
        cli_view_fieldf(v, "and", "%zu descriptive facts, which change nothing (--json lists them)", descriptive);
}

/* ---- what is in it ---- */

static void tensors(struct cli_view *v, const struct cli_json *object)
{
    if (!object) return;
    cli_view_heading(v, "tensors");
    cli_view_field(v, "count", text(object, "count"));
    cli_view_size(v, "bytes", cli_json_get(object, "bytes"));
    for (const struct cli_json *d = cli_json_first(cli_json_get(object, "by_dtype")); d; d = d->next) {
        char size[32];
        uint64_t bytes = 0;
        cli_json_u64(cli_json_get(d, "bytes"), &bytes);
        cli_view_fieldf(v, d->key, "%s, %s", text(d, "count"), cli_size_text(size, bytes));
    }
}

static void files(struct cli_view *v, const struct cli_json *list)
{
    struct cli_table t;
    size_t shown = 0;
    if (cli_json_count(list) == 0) return;
    cli_view_heading(v, "files");
    cli_table_begin(&t, "rll");
    cli_table_cell(&t, "size");
    cli_table_cell(&t, "role");
    cli_table_cell(&t, "path");
    for (const struct cli_json *f = list->first; f && shown < FILES_SHOWN; f = f->next, shown++) {
        size_cell(&t, cli_json_get(f, "size"));
        cli_table_cell(&t, text(f, "role"));
        cli_table_cell(&t, text(f, "path"));
    }
    cli_table_print(&t, v);
    if (cli_json_count(list) > shown)
        cli_view_fieldf(v, "and", "%zu more (--json lists them)", cli_json_count(list) - shown);
}

/* What the package declares in the standard's form. */
static void contract(struct cli_view *v, const struct cli_json *object)
{
    if (cli_json_count(object) == 0) return;
    cli_view_heading(v, "contract");
    cli_view_field(v, "document", text(object, "document"));
    cli_view_field(v, "identity", text(object, "identity"));
    for (const struct cli_json *c = cli_json_first(cli_json_get(object, "components")); c; c = c->next) {
        const struct cli_json *by = cli_json_get(c, "implementation");
        const char *what = *text(by, "abi") ? text(by, "abi") : text(by, "artifact");
        cli_view_fieldf(v, c == cli_json_get(object, "components")->first ? "components" : "", "%s: %s%s%s", text(c, "name"),
                        text(by, "kind"), *what ? " " : "", what);
    }
    for (const struct cli_json *g = cli_json_first(cli_json_get(object, "state_groups")); g; g = g->next)
        cli_view_fieldf(v, g == cli_json_get(object, "state_groups")->first ? "state" : "", "%s: %s", text(g, "name"), text(g, "kind"));
    for (const struct cli_json *d = cli_json_first(cli_json_get(object, "dependencies")); d; d = d->next)
        cli_view_fieldf(v, d == cli_json_get(object, "dependencies")->first ? "depends on" : "", "%s %s%s", text(d, "kind"),
                        text(d, "name"), cli_json_true(cli_json_get(d, "control_only")) ? ", for control alone" : "");
}

void cli_view_package(struct cli_view *v, const struct cli_json *root)
{
    const char *path = text(root, "path");
    cli_view_heading(v, *path ? path : "package");
    cli_view_fieldf(v, "dialect", "%s %s", *text(root, "dialect") ? text(root, "dialect") : "not recognised",
                    text(root, "dialect_version"));
    evidence(v, cli_json_get(root, "evidence"));
    identity(v, cli_json_get(root, "identity"));
    variants(v, "variants", cli_json_get(root, "variants"));
    variants(v, "weights of single modules", cli_json_get(root, "parts"));
    components(v, cli_json_get(root, "components"));
    behaviour(v, root);
    contract(v, cli_json_get(root, "contract"));
    facts(v, cli_json_get(root, "facts"));
    tensors(v, cli_json_get(root, "tensors"));
    files(v, cli_json_get(root, "files"));
    cli_view_losses(v, cli_json_get(root, "losses"));
    cli_view_findings(v, "findings", cli_json_get(root, "findings"));
    if (cli_json_count(cli_json_get(root, "findings")) == 0) cli_view_field(v, "findings", "none");
}
