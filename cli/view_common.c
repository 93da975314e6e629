/* Parts of pages that several documents share. */
#include "views.h"

#include <stdlib.h>
#include <string.h>

static void add_place(struct cli_view *v, const struct cli_json *where)
{
    for (const struct cli_json *m = cli_json_first(where); m; m = m->next) cli_view_field(v, m->key, cli_json_text(m));
}

void cli_view_finding(struct cli_view *v, const struct cli_json *f)
{
    const struct cli_json *dropped = cli_json_get(f, "dropped");
    if (dropped) {
        cli_view_fieldf(v, "more", "%s further findings", cli_json_text(dropped));
        return;
    }
    bool plain = cli_json_text_is(cli_json_get(f, "code"), "ok"); /* a note without a code of an error */
    cli_view_fieldf(v, cli_json_text(cli_json_get(f, "severity")), "%s%s%s",
                    plain ? "" : cli_json_text(cli_json_get(f, "code")), plain ? "" : ": ",
                    cli_json_text(cli_json_get(f, "message")));
    add_place(v, cli_json_get(f, "where"));
    cli_view_field(v, "found", cli_json_text(cli_json_get(f, "found")));
    cli_view_field(v, "expected", cli_json_text(cli_json_get(f, "expected")));
    cli_view_field(v, "remedy", cli_json_text(cli_json_get(f, "remedy")));
}

void cli_view_findings(struct cli_view *v, const char *heading, const struct cli_json *findings)
{
    if (cli_json_count(findings) == 0) return;
    cli_view_heading(v, heading);
    for (const struct cli_json *f = findings->first; f; f = f->next) {
        if (f != findings->first) cli_out_text(v->out, "\n");
        cli_view_finding(v, f);
    }
}

void cli_view_losses(struct cli_view *v, const struct cli_json *losses)
{
    if (cli_json_count(losses) == 0) return;
    cli_view_heading(v, "losses, which somebody accepted");
    for (const struct cli_json *l = losses->first; l; l = l->next)
        cli_view_fieldf(v, cli_json_text(cli_json_get(l, "class")), "%s %s: %s", cli_json_text(cli_json_get(l, "file")),
                        cli_json_text(cli_json_get(l, "pointer")), cli_json_text(cli_json_get(l, "reason")));
}

void cli_view_member(struct cli_view *v, const struct cli_json *m)
{
    const char *key = m->key ? m->key : "";
    size_t n = strlen(key);
    uint64_t bytes;
    if (n > 6 && strcmp(key + n - 6, "_bytes") == 0 && cli_json_u64(m, &bytes)) {
        cli_view_size(v, key, m);
        return;
    }
    char *text = cli_json_line(m);
    cli_view_field(v, key, text);
    free(text);
}

void cli_view_members(struct cli_view *v, const struct cli_json *object)
{
    for (const struct cli_json *m = cli_json_first(object); m; m = m->next) cli_view_member(v, m);
}

void cli_view_size(struct cli_view *v, const char *label, const struct cli_json *bytes)
{
    uint64_t n;
    char text[32];
    if (!cli_json_u64(bytes, &n)) return;
    cli_size_text(text, n);
    if (n < 1000) {
        cli_view_field(v, label, text);
    } else {
        cli_view_fieldf(v, label, "%s (%s bytes)", text, cli_json_text(bytes));
    }
}
