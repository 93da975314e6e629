/*
 * rerank: documents in the order of their relevance to a query. The first line of output depends on the last document, so
 * all of them are one request.
 */
#include "input.h"
#include "item_error.h"
#include "memory.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXCERPT = 60 };

struct rerank {
    struct cli *cli;
    tn_session *session;
    struct cli_input input;
    struct cli_chunk chunk;
    tn_string *documents;
    size_t *item_of; /* document -> item of the input */
    size_t document_count, place;
    uint64_t failed;
    struct cli_account account;
    struct cli_progress progress;
    bool begun; /* the document on standard output */
};

/* ---- output ------------------------------------------------------------------------------------------------------- */

/* The order of the documents is known, but not yet the account: it comes last. */
static void write_head(struct rerank *r)
{
    if (r->begun) return;
    r->begun = true;
    if (r->cli->values.json) cli_out_text(&r->cli->out, "{\"task\": \"rerank\",\n\"data\": [");
    else cli_out_format(&r->cli->out, "  %5s  %10s  %5s  %6s  %s\n", "place", "score", "index", "tokens", "document");
}

static void write_json(struct rerank *r, size_t i, const tn_event *e, const char *error)
{
    struct cli_out *o = &r->cli->out;
    const struct cli_item *item = &r->chunk.items[i];
    cli_out_text(o, r->place ? ",\n{\"index\": " : "\n{\"index\": ");
    cli_out_u64(o, i);
    if (item->id_length) {
        cli_out_text(o, ", \"id\": ");
        cli_out_bytes(o, r->chunk.bytes + item->id_at, item->id_length);
    }
    if (error) {
        cli_out_format(o, ", \"error\": ");
        cli_out_text(o, error);
    } else {
        cli_out_text(o, ", \"score\": ");
        cli_out_f32(o, e->score);
        cli_out_format(o, ", \"score_kind\": \"%s\", \"logits\": ", tn_score_kind_name(e->score_kind));
        cli_put_numbers(o, e->logits, e->logit_count);
        cli_put_tokens(o, e);
    }
    cli_out_text(o, "}");
}

static void write_line(struct rerank *r, size_t i, const tn_event *e)
{
    struct cli_out *o = &r->cli->out;
    const struct cli_item *item = &r->chunk.items[i];
    char *text = cli_safe_copy(r->chunk.bytes + item->at, item->length < 400 ? item->length : 400);
    cli_out_format(o, "  %5zu  %10.6g  %5zu  %5zu%c  %.*s%s\n", r->place + 1, (double)e->score, i, e->tokens, e->truncated ? '+' : ' ',
                   cli_excerpt(text, EXCERPT), text, strlen(text) > EXCERPT ? " ..." : "");
    free(text);
}

/* Without a place and a score. */
static void write_failure(struct rerank *r, size_t i, const char *error)
{
    cli_out_format(&r->cli->out, "  %5s  %10s", "-", "-");
    cli_put_failure(&r->cli->out, i, error);
}

static void emit(struct rerank *r, size_t i, const tn_event *e, const char *error)
{
    write_head(r);
    r->failed += error != NULL;
    if (r->cli->values.json) write_json(r, i, e, error);
    else if (error) write_failure(r, i, error);
    else write_line(r, i, e);
    r->place++;
}

/* ---- the request -------------------------------------------------------------------------------------------------- */

static void prepare(struct rerank *r)
{
    r->documents = cli_alloc(cli_product(r->chunk.count, sizeof(*r->documents)));
    r->item_of = cli_alloc(cli_product(r->chunk.count, sizeof(*r->item_of)));
    for (size_t i = 0; i < r->chunk.count; i++) {
        const struct cli_item *item = &r->chunk.items[i];
        if (item->fault) continue;
        r->item_of[r->document_count] = i;
        r->documents[r->document_count++] = (tn_string){r->chunk.bytes ? r->chunk.bytes + item->at : "", item->length};
    }
}

static tn_status on_item(void *user, const tn_event *event)
{
    struct rerank *r = user;
    if (event->index >= r->document_count) return cli_refuse(r->cli, TN_RUNTIME_FAILURE, "", "an event for a document that was not sent");
    cli_progress_end(&r->progress);
    size_t i = r->item_of[event->index];
    char *error = event->status ? cli_item_error(cli_error_json(r->cli, event->status), event->index, i) : NULL;
    emit(r, i, error ? NULL : event, error);
    free(error);
    return r->cli->out.failure ? TN_RUNTIME_FAILURE : TN_OK;
}

static tn_score_choice scores_of(const char *text)
{
    if (!text || strcmp(text, "auto") == 0) return TN_SCORES_AUTO;
    return strcmp(text, "logit") == 0 ? TN_SCORES_LOGIT : TN_SCORES_PROBABILITY;
}

/* Records of the input that hold no document stand behind all that do. */
static void emit_faults(struct rerank *r)
{
    for (size_t i = 0; i < r->chunk.count; i++) {
        if (!r->chunk.items[i].fault) continue;
        char *error = cli_fault_json(r->cli, r->chunk.items[i].fault);
        emit(r, i, NULL, error);
        free(error);
    }
}

static tn_status run(struct rerank *r)
{
    const struct cli_values *v = &r->cli->values;
    tn_rerank_request request = TN_INIT(tn_rerank_request);
    tn_execution *x = NULL;
    tn_status status = cli_input_next(&r->input, &r->chunk, SIZE_MAX);
    if (status == TN_OK) status = cli_ask_load(r->cli, "rerank", &r->session);
    if (status != TN_OK) return status;
    prepare(r);
    request.query = (tn_string){v->query, strlen(v->query)};
    request.documents = r->documents;
    request.count = r->document_count;
    request.scores = scores_of(v->scores);
    request.top_k = (unsigned)v->top_k;
    request.truncation = cli_truncation(&r->cli->values);
    request.side = cli_side(&r->cli->values);
    request.timeout_ms = cli_remaining_ms(r->cli);
    status = tn_rerank_start(r->session, &request, &x, r->cli->err);
    cli_progress_begin(&r->progress, r->cli, "ranking", false);
    if (status == TN_OK) status = cli_ask_follow(r->cli, x, on_item, r);
    cli_progress_end(&r->progress);
    if (status == TN_OK) status = cli_ask_account(r->cli, x, &r->account);
    if (status == TN_OK) emit_faults(r);
    if (status == TN_OK) write_head(r);
    tn_execution_free(x);
    return status;
}

/* ---- the end ------------------------------------------------------------------------------------------------------ */

static void show_account(struct rerank *r)
{
    struct cli_view *v = &r->cli->view;
    const struct cli_json *account = cli_account_root(&r->account);
    uint64_t cut = 0; /* also of documents that are not among the best */
    cli_json_u64(cli_json_path(account, "counts.truncated"), &cut);
    if (r->failed) cli_say("%llu of %zu documents failed", (unsigned long long)r->failed, r->chunk.count);
    if (r->cli->values.quiet) return;
    cli_view_heading(v, "account");
    cli_view_fieldf(v, "documents", "%zu, %s tokens", r->chunk.count, cli_json_text(cli_json_path(account, "counts.tokens")));
    if (cut) cli_view_fieldf(v, "cut (+)", "%llu that are longer with the query than the model takes (%s)", (unsigned long long)cut,
                             cli_json_text(cli_json_path(account, "options.truncation.value")));
    cli_view_field(v, "scores", cli_json_text(cli_json_path(account, "result.score_kind")));
    cli_ask_ran_as(v, account);
}

static int finish(struct rerank *r, tn_status status)
{
    if (r->cli->out.failure) return CLI_EXIT_FAILED; /* told by cli_end */
    if (r->cli->values.json && r->begun) return cli_end_document(r->cli, &r->account, r->place > 0, r->failed > 0, status);
    if (status != TN_OK) return cli_fail_any(r->cli, status);
    show_account(r);
    return r->failed ? CLI_EXIT_SOME_FAILED : 0;
}

int cli_rerank(struct cli *cli)
{
    struct rerank r = {.cli = cli, .input = {.fd = -1}};
    tn_status status = TN_OK;
    if (!cli->values.query) {
        status = cli_refuse(cli, TN_INVALID_REQUEST, "query", "there is no query to rank by");
        snprintf(cli->problem.expected, sizeof(cli->problem.expected), "--query TEXT");
    }
    if (status == TN_OK) status = cli_input_open(&r.input, cli);
    if (status == TN_OK) status = cli_open_package(cli, true);
    if (status == TN_OK) status = cli_watch_signals(cli);
    if (status == TN_OK) status = run(&r);
    int code = finish(&r, status);
    cli_input_close(&r.input);
    cli_chunk_release(&r.chunk);
    cli_account_release(&r.account);
    tn_session_free(r.session);
    free(r.documents);
    free(r.item_of);
    return code;
}
