/*
 * embed for packages that give sparse vectors, or several vectors per text. What people see is the heaviest terms, or how
 * many vectors a text has; --json has all of them.
 */
#include "embed_other.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {CLI_EMBED_DENSE, "embedding.sparse", "embedding.multi"};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), SHOWN = 6, EXCERPT = 40 };

/* ---- which task --------------------------------------------------------------------------------------------------- */

static bool is_kind(const char *task)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(task, kinds[i]) == 0) return true;
    return false;
}

/* Whether the refusals of an assessment say that the package was made for something else. */
static bool is_of_another_task(const struct cli_json *document)
{
    const struct cli_json *findings = cli_json_get(document, "findings");
    for (const struct cli_json *f = findings ? findings->first : NULL; f; f = f->next) {
        const struct cli_json *code = cli_json_get(f, "code");
        if (cli_json_text_is(code, "unsupported_task") || cli_json_text_is(code, "task_head_mismatch")) return true;
    }
    return false;
}

static tn_status assess(struct cli *cli, const char *task, bool *served, bool *near)
{
    tn_plan_options options;
    tn_decision decision = TN_UNKNOWN;
    tn_document *document = NULL;
    struct cli_json_doc doc;
    size_t length;
    tn_status status = cli_plan_options(cli, task, &options);
    if (status == TN_OK) status = tn_assess(cli->package, &options, &decision, &document, cli->err);
    if (status != TN_OK) return status;
    const char *text = tn_document_text(document, &length);
    bool read = cli_json_parse(&doc, text, length);
    *served = decision == TN_ELIGIBLE || decision == TN_UNQUALIFIED;
    *near = *served || (read && !is_of_another_task(doc.root));
    cli_json_release(&doc);
    tn_document_free(document);
    return TN_OK;
}

tn_status cli_embed_task(struct cli *cli, const char **task)
{
    const char *asked = cli->values.task, *planned;
    const char *best = NULL, *nearest = NULL;
    if (cli->values.truncate && cli->values.truncation) {
        cli_refuse(cli, TN_INVALID_REQUEST, "truncate", "--truncate and --truncation say the same thing twice");
        snprintf(cli->problem.expected, sizeof(cli->problem.expected), "--truncation alone");
        return cli->problem.code;
    }
    if (cli->values.plan) {
        tn_status status = cli_plan_task(cli, &planned);
        if (status == TN_OK) status = cli_check_planned(cli, asked, planned);
        if (status != TN_OK) return status;
        asked = planned;
    }
    if (asked && !is_kind(asked)) {
        cli_refuse(cli, TN_INVALID_REQUEST, "task", "embed does not run this task");
        snprintf(cli->problem.found, sizeof(cli->problem.found), "%.100s", asked);
        snprintf(cli->problem.expected, sizeof(cli->problem.expected), "%s, %s or %s", kinds[0], kinds[1], kinds[2]);
        return cli->problem.code;
    }
    *task = asked;
    for (size_t i = 0; !asked && i < KINDS; i++) {
        bool served, near;
        tn_status status = assess(cli, kinds[i], &served, &near);
        if (status != TN_OK) return status;
        if (served && i == 0) best = kinds[i];
        if (best) break; /* a package of one dense vector gives no other kind */
        if (served) best = kinds[i];
        if (near && !nearest) nearest = kinds[i];
    }
    if (!asked) *task = best ? best : nearest ? nearest : CLI_EMBED_DENSE;
    return TN_OK;
}

static void member(struct cli *cli, const struct cli_json *account, const char *name, const char *path)
{
    cli_out_format(&cli->out, "\"%s\": ", name);
    cli_json_write(&cli->out, cli_json_path(account, path));
    cli_out_text(&cli->out, ",\n");
}

static void put_ids(struct cli_out *o, const uint32_t *ids, size_t n)
{
    cli_out_text(o, "[");
    for (size_t i = 0; i < n; i++) cli_out_format(o, i ? ",%u" : "%u", (unsigned)ids[i]);
    cli_out_text(o, "]");
}

static void put_excerpt(struct cli *cli, const struct cli_text_row *row)
{
    char *text = cli_safe_copy(row->text, row->length < 200 ? row->length : 200);
    cli_out_format(&cli->out, "%.*s%s\n", cli_excerpt(text, EXCERPT), text, strlen(text) > EXCERPT ? " ..." : "");
    free(text);
}

/* ---- sparse -------------------------------------------------------------------------------------------------------- */

static tn_status start_sparse(struct cli *cli, tn_session *session, const struct cli_texts *in, tn_execution **out)
{
    tn_sparse_request request = TN_INIT(tn_sparse_request);
    request.texts = in->texts;
    request.count = in->count;
    request.role = cli->values.role;
    request.truncation = cli_truncation(&cli->values);
    request.side = cli_side(&cli->values);
    request.batch = (unsigned)cli->values.batch;
    request.timeout_ms = cli_remaining_ms(cli);
    return tn_embed_sparse_start(session, &request, out, cli->err);
}

static void header_sparse(struct cli *cli, const struct cli_json *account)
{
    member(cli, account, "dimensions", "result.dimensions");
    member(cli, account, "role", "result.role");
    member(cli, account, "space", "identity.space");
}

static void json_sparse(struct cli *cli, const struct cli_text_row *row)
{
    struct cli_out *o = &cli->out;
    cli_out_text(o, ", \"indices\": ");
    put_ids(o, row->event->indices, row->event->active);
    cli_out_text(o, ", \"values\": ");
    cli_put_numbers(o, row->event->values, row->event->active);
    cli_out_format(o, ", \"active\": %zu", row->event->active);
    cli_put_tokens(o, row->event);
}

static void heading_sparse(struct cli *cli)
{
    cli_out_format(&cli->out, "  %5s  %6s  %s\n", "index", "active", "heaviest terms, as id:value");
}

/* The heaviest terms that were not shown before; SIZE_MAX: none is left. */
static size_t next_heaviest(const tn_event *e, const size_t *shown, size_t count)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < e->active; i++) {
        bool seen = false;
        for (size_t k = 0; k < count; k++) seen |= shown[k] == i;
        if (!seen && (best == SIZE_MAX || e->values[i] > e->values[best])) best = i;
    }
    return best;
}

static void line_sparse(struct cli *cli, const struct cli_text_row *row)
{
    const tn_event *e = row->event;
    size_t shown[SHOWN], count = 0, i;
    cli_out_format(&cli->out, "  %5zu%c %6zu ", row->index, e->truncated ? '+' : ' ', e->active);
    while (count < SHOWN && (i = next_heaviest(e, shown, count)) != SIZE_MAX) {
        cli_out_format(&cli->out, " %u:%.4f", (unsigned)e->indices[i], (double)e->values[i]);
        shown[count++] = i;
    }
    cli_out_text(&cli->out, count ? "\n" : " none\n");
}

static void fields_embedding(struct cli *cli, const struct cli_json *account)
{
    cli_view_field(&cli->view, "dimensions", cli_json_text(cli_json_path(account, "result.dimensions")));
    cli_view_field(&cli->view, "space", cli_json_text(cli_json_path(account, "identity.space")));
}

/* ---- several -------------------------------------------------------------------------------------------------------- */

static tn_status start_multi(struct cli *cli, tn_session *session, const struct cli_texts *in, tn_execution **out)
{
    tn_multi_request request = TN_INIT(tn_multi_request);
    request.texts = in->texts;
    request.count = in->count;
    request.role = cli->values.role;
    request.truncation = cli_truncation(&cli->values);
    request.side = cli_side(&cli->values);
    request.batch = (unsigned)cli->values.batch;
    request.timeout_ms = cli_remaining_ms(cli);
    return tn_embed_multi_start(session, &request, out, cli->err);
}

static void header_multi(struct cli *cli, const struct cli_json *account)
{
    member(cli, account, "dimensions", "result.dimensions");
    member(cli, account, "normalized", "result.normalized");
    member(cli, account, "role", "result.role");
    member(cli, account, "similarity", "result.similarity");
    member(cli, account, "space", "identity.space");
}

static void json_multi(struct cli *cli, const struct cli_text_row *row)
{
    struct cli_out *o = &cli->out;
    const tn_event *e = row->event;
    cli_out_text(o, ", \"vectors\": [");
    for (size_t v = 0; v < e->vectors; v++) {
        if (v) cli_out_text(o, ",");
        cli_put_numbers(o, e->embedding + v * e->dimensions, e->dimensions);
    }
    cli_out_text(o, "], \"token_ids\": ");
    put_ids(o, e->token_ids, e->vectors);
    cli_put_tokens(o, e);
}

static void heading_multi(struct cli *cli)
{
    cli_out_format(&cli->out, "  %5s  %7s  %6s  %s\n", "index", "vectors", "tokens", "text");
}

static void line_multi(struct cli *cli, const struct cli_text_row *row)
{
    const tn_event *e = row->event;
    cli_out_format(&cli->out, "  %5zu%c %7zu  %6zu  ", row->index, e->truncated ? '+' : ' ', e->vectors, e->tokens);
    put_excerpt(cli, row);
}

/* ---- running --------------------------------------------------------------------------------------------------------- */

/* Options of embed that only one dense vector has. */
static tn_status check_options(struct cli *cli, const char *task)
{
    static const char *const names[] = {"npy", "normalize", "dimensions", "atomic"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!cli_given(&cli->values, names[i])) continue;
        cli_refuse(cli, TN_UNSUPPORTED_OPTION, names[i], "--%s is not for %s", names[i], task);
        snprintf(cli->problem.expected, sizeof(cli->problem.expected), "a package of one dense vector per text, and --task %s", kinds[0]);
        return cli->problem.code;
    }
    return TN_OK;
}

int cli_embed_other(struct cli *cli, const char *task)
{
    static const struct cli_text_verb verbs[] = {
        {.task = "embedding.sparse", .doing = "embedding", .start = start_sparse, .header = header_sparse, .json = json_sparse,
         .heading = heading_sparse, .line = line_sparse, .fields = fields_embedding},
        {.task = "embedding.multi", .doing = "embedding", .start = start_multi, .header = header_multi, .json = json_multi,
         .heading = heading_multi, .line = line_multi, .fields = fields_embedding},
    };
    tn_status status = check_options(cli, task);
    if (status != TN_OK) return cli_fail_any(cli, status);
    return cli_run_texts(cli, &verbs[strcmp(task, verbs[0].task) != 0]);
}
