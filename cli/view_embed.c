#include "view_embed.h"

#include "ask.h"

#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPONENT = 11, LINE_HEAD = 28, EXCERPT = 44, TOLD_MOST = 20 };

void cli_embed_page_begin(struct cli_embed_page *p, struct cli *cli)
{
    const char *npy = cli->values.npy;
    *p = (struct cli_embed_page){.cli = cli};
    p->live = isatty(STDOUT_FILENO);
    p->silent = npy != NULL;
    p->shown = cli->view.width > LINE_HEAD + COMPONENT ? (cli->view.width - LINE_HEAD) / COMPONENT : 1;
    if (p->shown > 6) p->shown = 6;
}

void cli_embed_count(struct cli_embed_totals *totals, const tn_event *event, bool failed)
{
    totals->texts++;
    totals->failed += failed;
    totals->truncated += !failed && event->truncated;
    totals->tokens += failed ? 0 : event->tokens;
    if (!failed) totals->dimensions = event->dimensions;
}

/* ---- lines ---- */

/* The first texts are kept until there are more of them than a table of similarities can show. */
static void keep(struct cli_embed_page *p, const struct cli_embed_line *line)
{
    size_t n = line->event->dimensions;
    if (p->kept_count == CLI_SIMILAR_MOST) p->too_many = true;
    if (p->too_many) return;
    float *vector = cli_alloc(cli_product(n, sizeof(float)));
    memcpy(vector, line->event->embedding, n * sizeof(float));
    p->kept[p->kept_count].vector = vector;
    p->kept[p->kept_count].dimensions = n;
    p->kept[p->kept_count++].text = cli_safe_copy(line->text, line->text_length < 400 ? line->text_length : 400);
}

static double norm(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static void put_id(struct cli_out *o, const struct cli_embed_line *line)
{
    if (line->id_length) cli_out_text(o, "  id ");
    cli_out_safe(o, line->id, line->id_length);
    cli_out_text(o, "\n");
}

static void failed_line(struct cli_embed_page *p, const struct cli_embed_line *line)
{
    struct cli_json_doc doc;
    cli_json_parse(&doc, line->error, strlen(line->error));
    if (p->silent && p->told++ < TOLD_MOST) {
        cli_say("text %zu failed: %s: %s", line->index, cli_json_text(cli_json_get(doc.root, "code")),
                cli_json_text(cli_json_get(doc.root, "message")));
    } else if (!p->silent) {
        const char *message = cli_json_text(cli_json_get(doc.root, "message"));
        cli_out_format(&p->cli->out, "  %5zu  failed: %s: ", line->index, cli_json_text(cli_json_get(doc.root, "code")));
        cli_out_safe(&p->cli->out, message, strlen(message));
        put_id(&p->cli->out, line);
    }
    cli_json_release(&doc);
}

void cli_embed_page_line(struct cli_embed_page *p, const struct cli_embed_line *line)
{
    struct cli_out *o = &p->cli->out;
    if (!p->silent && !p->heading) cli_out_format(o, "  %5s  %6s  %9s  %s\n", "index", "tokens", "norm", "first components");
    p->heading = true;
    if (line->error) {
        failed_line(p, line);
        return;
    }
    if (p->silent) return;
    keep(p, line);
    cli_out_format(o, "  %5zu  %5zu%c  %9.6f", line->index, line->event->tokens, line->event->truncated ? '+' : ' ',
                   norm(line->event->embedding, line->event->dimensions));
    for (size_t i = 0; i < p->shown && i < line->event->dimensions; i++)
        cli_out_format(o, " %10.6f", (double)line->event->embedding[i]);
    put_id(o, line);
}

/* ---- similarities ---- */

static double cosine(const float *a, const float *b, size_t n)
{
    double dot = 0, scale = norm(a, n) * norm(b, n);
    for (size_t i = 0; i < n; i++) dot += (double)a[i] * (double)b[i];
    return scale > 0 ? dot / scale : 0;
}

static void similarities(struct cli_embed_page *p)
{
    struct cli_view *v = &p->cli->view;
    struct cli_table t;
    char align[CLI_SIMILAR_MOST + 2] = "";
    if (p->kept_count < 2 || p->too_many || p->cli->values.quiet || v->width < 24 + 7 * p->kept_count) return;
    memset(align, 'r', p->kept_count);
    align[p->kept_count] = 'l';
    cli_view_heading(v, "cosine similarity");
    cli_table_begin(&t, align);
    for (size_t j = 0; j < p->kept_count; j++) cli_table_cellf(&t, "%zu", j);
    cli_table_cell(&t, "text");
    for (size_t i = 0; i < p->kept_count; i++) {
        for (size_t j = 0; j < p->kept_count; j++)
            cli_table_cellf(&t, "%.3f", cosine(p->kept[i].vector, p->kept[j].vector, p->kept[i].dimensions));
        cli_table_cellf(&t, "%zu  %.*s%s", i, cli_excerpt(p->kept[i].text, EXCERPT), p->kept[i].text,
                        strlen(p->kept[i].text) > EXCERPT ? " ..." : "");
    }
    cli_table_print(&t, v);
}

/* ---- the end ---- */

const struct cli_json *cli_embed_space(const struct cli_json *account)
{
    return cli_json_path(account, "identity.space");
}

static void account_lines(struct cli_view *v, const struct cli_json *account)
{
    const char *role = cli_json_text(cli_json_path(account, "result.role"));
    cli_view_field(v, "role", role);
    cli_ask_ran_as(v, account);
    cli_view_field(v, "space", cli_json_text(cli_embed_space(account)));
}

void cli_embed_page_end(struct cli_embed_page *p, const struct cli_embed_totals *totals, const struct cli_json *account)
{
    struct cli_view *v = &p->cli->view;
    char extra[64] = "";
    if (totals->failed)
        cli_say("%llu of %llu texts failed", (unsigned long long)totals->failed, (unsigned long long)totals->texts);
    if (p->cli->values.quiet || (p->cli->values.npy && strcmp(p->cli->values.npy, "-") == 0)) return;
    similarities(p);
    cli_view_heading(v, "account");
    if (totals->truncated) snprintf(extra, sizeof(extra), ", %llu cut (+)", (unsigned long long)totals->truncated);
    cli_view_fieldf(v, "texts", "%llu, %llu tokens%s", (unsigned long long)totals->texts,
                    (unsigned long long)totals->tokens, extra);
    cli_view_fieldf(v, "vectors", "%llu dimensions, %s", (unsigned long long)totals->dimensions,
                    cli_json_true(cli_json_path(account, "result.normalized")) ? "normalised" : "not normalised");
    if (p->cli->values.npy)
        cli_view_fieldf(v, "written", "%s, float32 [%llu, %llu]", p->cli->values.npy, (unsigned long long)totals->texts,
                        (unsigned long long)totals->dimensions);
    account_lines(v, account);
}

void cli_embed_page_release(struct cli_embed_page *p)
{
    for (size_t i = 0; i < p->kept_count; i++) {
        free(p->kept[i].vector);
        free(p->kept[i].text);
    }
    p->kept_count = 0;
}
