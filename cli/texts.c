#include "texts.h"

#include "input.h"
#include "item_error.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_ITEMS = 16384 };

struct row {
    tn_event event;
    char *error; /* JSON; NULL: none */
};

struct texts {
    struct cli *cli;
    const struct cli_text_verb *verb;
    tn_session *session;
    struct cli_input input;
    struct cli_chunk chunk;
    tn_string *texts;  /* of the items that have one */
    tn_string *pairs;  /* beside them; .data NULL: none */
    bool has_pairs;
    size_t *item_of;   /* text -> item of the chunk */
    struct row *rows;  /* per item */
    size_t row_count, row_cap, text_count;
    size_t base;       /* index of the chunk's first item */
    struct cli_progress progress;
    struct cli_text_totals totals;
    struct cli_account account;
    bool header, data_begun, heading;
};

/* ---- values ------------------------------------------------------------------------------------------------------- */

void cli_put_tokens(struct cli_out *o, const tn_event *event)
{
    cli_out_text(o, ", \"tokens\": ");
    cli_out_u64(o, event->tokens);
    if (event->truncated) {
        cli_out_text(o, ", \"tokens_total\": ");
        cli_out_u64(o, event->tokens_total);
    }
    cli_out_text(o, event->truncated ? ", \"truncated\": true" : ", \"truncated\": false");
}

void cli_put_numbers(struct cli_out *o, const float *x, size_t n)
{
    cli_out_text(o, "[");
    for (size_t i = 0; i < n; i++) {
        if (i) cli_out_text(o, ",");
        cli_out_f32(o, x[i]);
    }
    cli_out_text(o, "]");
}

tn_truncation cli_truncation(const struct cli_values *v)
{
    static const char *const names[] = {"auto", "longest_first", "only_first", "only_second", "no"};
    const char *asked = v->truncation ? v->truncation : v->truncate ? v->truncate : "auto";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(asked, names[i]) == 0) return (tn_truncation)i;
    return TN_TRUNCATE_AUTO;
}

tn_side cli_side(const struct cli_values *v)
{
    if (!v->side || strcmp(v->side, "auto") == 0) return TN_SIDE_AUTO;
    return strcmp(v->side, "left") == 0 ? TN_SIDE_LEFT : TN_SIDE_RIGHT;
}

void cli_put_failure(struct cli_out *o, size_t index, const char *error_json)
{
    struct cli_json_doc doc;
    cli_json_parse(&doc, error_json, strlen(error_json));
    const char *message = cli_json_text(cli_json_get(doc.root, "message"));
    cli_out_format(o, "  %5zu  failed: %s: ", index, cli_json_text(cli_json_get(doc.root, "code")));
    cli_out_safe(o, message, strlen(message));
    cli_out_text(o, "\n");
    cli_json_release(&doc);
}

char *cli_fault_json(struct cli *cli, const char *fault)
{
    cli_refuse(cli, TN_INVALID_REQUEST, "file", "%s", fault);
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "a JSON string or {\"id\", \"text\"}");
    char *json = cli_error_json(cli, TN_INVALID_REQUEST);
    memset(&cli->problem, 0, sizeof(cli->problem));
    return json;
}

tn_status cli_check_modality(struct cli *cli)
{
    if (!cli->values.image) return TN_OK;
    if (cli->values.text)
        return cli_refuse(cli, TN_INVALID_REQUEST, "image", "--text and --image say two things about the same input");
    cli_refuse(cli, TN_UNSUPPORTED_OPTION, "image", "no task of %s takes pictures", cli_verbs[cli->values.verb].name);
    snprintf(cli->problem.found, sizeof(cli->problem.found), "--image");
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "texts, which is what the plan's task takes");
    return cli->problem.code;
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

static void write_header(struct texts *t)
{
    struct cli_out *o = &t->cli->out;
    const struct cli_json *account = cli_account_root(&t->account);
    if (t->header) return;
    t->header = true;
    cli_out_text(o, "{\"task\": ");
    cli_json_write(o, cli_json_get(account, "task"));
    cli_out_text(o, ",\n");
    if (t->verb->header) t->verb->header(t->cli, account);
    cli_out_text(o, "\"data\": [");
}

static void write_json(struct texts *t, size_t i, const struct cli_text_row *row)
{
    struct cli_out *o = &t->cli->out;
    const struct cli_item *item = &t->chunk.items[i];
    cli_out_text(o, t->data_begun ? ",\n{\"index\": " : "\n{\"index\": ");
    t->data_begun = true;
    cli_out_u64(o, row->index);
    if (item->id_length) {
        cli_out_text(o, ", \"id\": ");
        cli_out_bytes(o, t->chunk.bytes + item->id_at, item->id_length);
    }
    if (row->event) {
        t->verb->json(t->cli, row);
    } else {
        cli_out_text(o, ", \"error\": ");
        cli_out_text(o, t->rows[i].error);
    }
    cli_out_text(o, "}");
}

static void emit(struct texts *t, size_t i)
{
    const struct row *r = &t->rows[i];
    const struct cli_item *item = &t->chunk.items[i];
    struct cli_text_row row = {t->base + i, r->error ? NULL : &r->event, t->chunk.bytes + item->at, item->length};
    t->totals.texts++;
    t->totals.failed += r->error != NULL;
    t->totals.truncated += !r->error && r->event.truncated;
    t->totals.tokens += r->error ? 0 : r->event.tokens;
    if (t->cli->values.json) {
        write_json(t, i, &row);
        return;
    }
    if (!t->heading && t->verb->heading) t->verb->heading(t->cli);
    t->heading = true;
    if (r->error) cli_put_failure(&t->cli->out, row.index, r->error);
    else t->verb->line(t->cli, &row);
}

/* ---- one chunk ---------------------------------------------------------------------------------------------------- */

/* Room for the chunk's items; rows of items without a text are final already. */
static void prepare(struct texts *t)
{
    size_t count = t->chunk.count;
    if (count > t->row_cap || !t->rows) {
        t->row_cap = count;
        t->rows = cli_realloc(t->rows, cli_product(count, sizeof(*t->rows)));
        t->texts = cli_realloc(t->texts, cli_product(count, sizeof(*t->texts)));
        t->pairs = cli_realloc(t->pairs, cli_product(count, sizeof(*t->pairs)));
        t->item_of = cli_realloc(t->item_of, cli_product(count, sizeof(*t->item_of)));
    }
    t->row_count = count;
    t->text_count = 0;
    t->has_pairs = false;
    for (size_t i = 0; i < count; i++) {
        const struct cli_item *item = &t->chunk.items[i];
        t->rows[i] = (struct row){.error = item->fault ? cli_fault_json(t->cli, item->fault) : NULL};
        if (item->fault) continue;
        t->item_of[t->text_count] = i;
        t->pairs[t->text_count] = item->has_pair ? (tn_string){t->chunk.bytes + item->pair_at, item->pair_length} : (tn_string){NULL, 0};
        t->has_pairs |= item->has_pair;
        t->texts[t->text_count++] = (tn_string){t->chunk.bytes ? t->chunk.bytes + item->at : "", item->length};
    }
}

static void forget_rows(struct texts *t)
{
    for (size_t i = 0; i < t->row_count; i++) free(t->rows[i].error);
    t->base += t->row_count;
    t->row_count = 0;
}

static tn_status on_item(void *user, const tn_event *event)
{
    struct texts *t = user;
    if (event->index >= t->text_count) return cli_refuse(t->cli, TN_RUNTIME_FAILURE, "", "an event for a text that was not sent");
    size_t i = t->item_of[event->index];
    t->rows[i].event = *event;
    if (event->status != TN_OK)
        t->rows[i].error = cli_item_error(cli_error_json(t->cli, event->status), event->index, t->base + i);
    cli_progress_update(&t->progress, t->base + i + 1, cli_input_is_exhausted(&t->input) ? t->base + t->chunk.count : 0);
    return TN_OK;
}

static tn_status run_chunk(struct texts *t)
{
    tn_execution *x = NULL;
    prepare(t);
    struct cli_texts in = {t->texts, t->has_pairs ? t->pairs : NULL, t->text_count};
    tn_status status = t->verb->start(t->cli, t->session, &in, &x);
    if (status == TN_OK) status = cli_ask_follow(t->cli, x, on_item, t);
    if (status == TN_OK) status = cli_ask_account(t->cli, x, &t->account);
    cli_progress_end(&t->progress);
    if (status == TN_OK && t->cli->values.json) write_header(t);
    for (size_t i = 0; status == TN_OK && i < t->chunk.count; i++) emit(t, i);
    if (status == TN_OK && t->cli->out.failure) status = TN_RUNTIME_FAILURE;
    tn_execution_free(x);
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------- */

/* Chunk after chunk; a request for nothing is still one request, with an account. */
static tn_status run(struct texts *t)
{
    bool again = true;
    tn_status status = cli_ask_load(t->cli, t->verb->task, &t->session);
    cli_progress_begin(&t->progress, t->cli, t->verb->doing, false);
    while (status == TN_OK && again) {
        status = cli_input_next(&t->input, &t->chunk, CHUNK_ITEMS);
        again = t->chunk.count > 0;
        if (status == TN_OK && (again || t->account.requests == 0)) status = run_chunk(t);
        forget_rows(t);
    }
    cli_progress_end(&t->progress);
    return status;
}

int cli_end_document(struct cli *cli, struct cli_account *account, bool any, bool some_failed, tn_status status)
{
    struct cli_out *o = &cli->out;
    cli_out_text(o, any ? "\n]" : "]");
    if (status != TN_OK) {
        if (status == TN_CANCELLED && cli_signal() != 0) status = cli_stopped(cli);
        char *error = cli_error_json(cli, status);
        cli_out_text(o, ",\n\"error\": ");
        cli_out_text(o, error);
        free(error);
        account->outcome = status;
    }
    if (account->requests) {
        cli_out_text(o, ",\n\"account\": ");
        cli_account_write(account, o);
    }
    cli_out_text(o, "}\n");
    return status != TN_OK ? tn_status_exit_code(status) : some_failed ? CLI_EXIT_SOME_FAILED : 0;
}

static void show_account(struct texts *t)
{
    struct cli_view *v = &t->cli->view;
    const struct cli_json *account = cli_account_root(&t->account);
    char extra[64] = "";
    if (t->totals.failed)
        cli_say("%llu of %llu texts failed", (unsigned long long)t->totals.failed, (unsigned long long)t->totals.texts);
    if (t->cli->values.quiet) return;
    cli_view_heading(v, "account");
    if (t->totals.truncated) snprintf(extra, sizeof(extra), ", %llu cut (+)", (unsigned long long)t->totals.truncated);
    cli_view_fieldf(v, "texts", "%llu, %llu tokens%s", (unsigned long long)t->totals.texts,
                    (unsigned long long)t->totals.tokens, extra);
    if (t->verb->fields) t->verb->fields(t->cli, account);
    cli_ask_ran_as(v, account);
}

static int finish(struct texts *t, tn_status status)
{
    if (t->cli->out.failure) return CLI_EXIT_FAILED; /* told by cli_end */
    if (t->header) return cli_end_document(t->cli, &t->account, t->data_begun, t->totals.failed > 0, status);
    if (status != TN_OK) return cli_fail_any(t->cli, status);
    show_account(t);
    return t->totals.failed ? CLI_EXIT_SOME_FAILED : 0;
}

static void release(struct texts *t)
{
    forget_rows(t);
    cli_input_close(&t->input);
    cli_chunk_release(&t->chunk);
    cli_account_release(&t->account);
    tn_session_free(t->session);
    free(t->rows);
    free(t->texts);
    free(t->pairs);
    free(t->item_of);
}

int cli_run_texts(struct cli *cli, const struct cli_text_verb *verb)
{
    struct texts t = {.cli = cli, .verb = verb, .input = {.fd = -1}};
    tn_status status = cli_check_modality(cli);
    if (status == TN_OK) status = cli_input_open(&t.input, cli);
    t.input.pairs = verb->pairs;
    if (status == TN_OK && !cli->package) status = cli_open_package(cli, true);
    if (status == TN_OK) status = cli_watch_signals(cli);
    if (status == TN_OK) status = run(&t);
    int code = finish(&t, status);
    release(&t);
    return code;
}
