/*
 * embed: texts to vectors. Texts go through the library in chunks, so a corpus needs the memory of one chunk and not of
 * all; a result does not depend on its company, so the chunks cannot be seen in the numbers. With --atomic everything
 * is one request, because that is what atomic means.
 *
 * JSON and .npy rows are held until their chunk is done: dimensions, role and space are known from its account.
 * People see each row as it comes.
 */
#include "ask.h"
#include "embed_other.h"
#include "input.h"
#include "item_error.h"
#include "memory.h"
#include "npy.h"
#include "texts.h"
#include "view_embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_ITEMS = 16384 };

struct row {
    tn_event event;
    char *error; /* JSON; NULL: none */
};

struct embed {
    struct cli *cli;
    tn_session *session;
    struct cli_input input;
    struct cli_chunk chunk;
    tn_string *texts;    /* of the items that have one */
    size_t *item_of;     /* text -> item of the chunk */
    struct row *rows;    /* per item */
    size_t row_count, row_cap;
    size_t emitted;      /* rows of this chunk that are out */
    size_t base;         /* index of the chunk's first item */
    struct cli_npy npy;
    struct cli_progress progress;
    struct cli_embed_totals totals;
    struct cli_embed_page page; /* what people see */
    struct cli_account account;
    bool header, data_begun;    /* of the JSON document */
};

/* ---- emitting ---- */

static void write_member(struct cli_out *o, const char *name, const struct cli_json *value)
{
    cli_out_format(o, "\"%s\": ", name);
    if (!value || value->type == CLI_JSON_NULL) {
        cli_out_text(o, "null");
    } else if (value->type == CLI_JSON_STRING) {
        cli_out_json(o, value->text, value->length);
    } else {
        cli_out_text(o, cli_json_text(value));
    }
    cli_out_text(o, ",\n");
}

static void write_header(struct embed *e)
{
    struct cli_out *o = &e->cli->out;
    const struct cli_json *account = cli_account_root(&e->account), *result = cli_json_get(account, "result");
    if (e->header) return;
    e->header = true;
    cli_out_text(o, "{");
    write_member(o, "task", cli_json_get(account, "task"));
    write_member(o, "dimensions", cli_json_get(result, "dimensions"));
    write_member(o, "normalized", cli_json_get(result, "normalized"));
    write_member(o, "role", cli_json_get(result, "role"));
    write_member(o, "space", cli_embed_space(account));
    cli_out_text(o, "\"data\": [");
}

static void write_row(struct embed *e, size_t i)
{
    struct cli_out *o = &e->cli->out;
    const struct cli_item *item = &e->chunk.items[i];
    const struct row *row = &e->rows[i];
    cli_out_text(o, e->data_begun ? ",\n{\"index\": " : "\n{\"index\": ");
    e->data_begun = true;
    cli_out_u64(o, e->base + i);
    if (item->id_length) {
        cli_out_text(o, ", \"id\": ");
        cli_out_bytes(o, e->chunk.bytes + item->id_at, item->id_length);
    }
    if (row->error) {
        cli_out_text(o, ", \"error\": ");
        cli_out_text(o, row->error);
        cli_out_text(o, "}");
        return;
    }
    cli_out_text(o, ", \"embedding\": [");
    for (size_t c = 0; c < row->event.dimensions; c++) {
        if (c) cli_out_text(o, ",");
        cli_out_f32(o, row->event.embedding[c]);
    }
    cli_out_text(o, "], \"tokens\": ");
    cli_out_u64(o, row->event.tokens);
    if (row->event.truncated) {
        cli_out_text(o, ", \"tokens_total\": ");
        cli_out_u64(o, row->event.tokens_total);
    }
    cli_out_text(o, row->event.truncated ? ", \"truncated\": true}" : ", \"truncated\": false}");
}

static tn_status emit(struct embed *e, size_t i)
{
    const struct row *row = &e->rows[i];
    const struct cli_item *item = &e->chunk.items[i];
    cli_embed_count(&e->totals, &row->event, row->error != NULL);
    if (e->cli->values.json) {
        write_row(e, i);
    } else {
        struct cli_embed_line line = {.index = e->base + i, .event = &row->event, .error = row->error,
                                      .id = e->chunk.bytes + item->id_at, .id_length = item->id_length,
                                      .text = e->chunk.bytes + item->at, .text_length = item->length};
        cli_embed_page_line(&e->page, &line);
    }
    if (!e->cli->values.npy) return TN_OK;
    return cli_npy_row(&e->npy, row->error ? NULL : row->event.embedding,
                       row->error ? e->totals.dimensions : row->event.dimensions);
}

/* Emits rows [emitted, end). A standard output that is gone ends the work. */
static tn_status emit_until(struct embed *e, size_t end)
{
    tn_status status = TN_OK;
    while (status == TN_OK && e->emitted < end) status = emit(e, e->emitted++);
    if (status == TN_OK && e->cli->out.failure) status = TN_RUNTIME_FAILURE;
    return status;
}

/* ---- one chunk ---- */

/* Room for the chunk's items; rows of items without a text are final already. */
static size_t prepare(struct embed *e)
{
    size_t count = e->chunk.count, texts = 0;
    if (count > e->row_cap || !e->rows) {
        e->row_cap = count;
        e->rows = cli_realloc(e->rows, cli_product(count, sizeof(*e->rows)));
        e->texts = cli_realloc(e->texts, cli_product(count, sizeof(*e->texts)));
        e->item_of = cli_realloc(e->item_of, cli_product(count, sizeof(*e->item_of)));
    }
    e->emitted = 0;
    e->row_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct cli_item *item = &e->chunk.items[i];
        e->rows[i] = (struct row){.error = item->fault ? cli_fault_json(e->cli, item->fault) : NULL};
        if (item->fault) continue;
        e->item_of[texts] = i;
        e->texts[texts++] = (tn_string){e->chunk.bytes ? e->chunk.bytes + item->at : "", item->length};
    }
    return texts;
}

static void forget_rows(struct embed *e)
{
    for (size_t i = 0; i < e->row_count; i++) free(e->rows[i].error);
    e->base += e->row_count;
    e->row_count = 0;
}

static tn_tristate tristate(const char *text)
{
    if (!text || strcmp(text, "auto") == 0) return TN_AUTO;
    return strcmp(text, "yes") == 0 ? TN_YES : TN_NO;
}

static void fill_request(struct embed *e, size_t texts, tn_embed_request *request)
{
    const struct cli_values *v = &e->cli->values;
    *request = TN_INIT(tn_embed_request);
    request->texts = e->texts;
    request->count = texts;
    request->role = v->role;
    request->normalize = tristate(v->normalize);
    request->truncation = cli_truncation(v);
    request->side = cli_side(v);
    request->dimensions = (unsigned)v->dimensions;
    request->batch = (unsigned)v->batch;
    request->atomic = v->atomic;
    request->timeout_ms = cli_remaining_ms(e->cli);
}

/* Whether rows may be shown before the outcome is known. */
static bool shows_at_once(const struct embed *e)
{
    return !e->cli->values.json && !e->cli->values.npy && !e->cli->values.atomic;
}

struct chunk_of_texts {
    struct embed *embed;
    size_t texts;
};

static tn_status on_item(void *user, const tn_event *event)
{
    struct embed *e = ((struct chunk_of_texts *)user)->embed;
    size_t texts = ((struct chunk_of_texts *)user)->texts;
    if (event->index >= texts) return cli_refuse(e->cli, TN_RUNTIME_FAILURE, "", "an event for a text that was not sent");
    size_t i = e->item_of[event->index];
    e->rows[i].event = *event;
    if (event->status != TN_OK)
        e->rows[i].error = cli_item_error(cli_error_json(e->cli, event->status), event->index, e->base + i);
    bool at_once = shows_at_once(e);
    uint64_t whole = cli_input_is_exhausted(&e->input) ? e->base + e->chunk.count : 0;
    if (!(at_once && e->page.live)) cli_progress_update(&e->progress, e->base + i + 1, whole);
    if (!at_once) return TN_OK;
    tn_status status = emit_until(e, i + 1);
    if (e->page.live) cli_out_flush(&e->cli->out);
    return status;
}

static tn_status run_chunk(struct embed *e)
{
    tn_embed_request request;
    tn_execution *x = NULL;
    size_t texts = prepare(e);
    fill_request(e, texts, &request);
    if (e->cli->values.atomic && texts < e->chunk.count) {
        size_t i = 0;
        while (!e->chunk.items[i].fault) i++;
        return cli_refuse(e->cli, TN_INVALID_REQUEST, "file", "%s", e->chunk.items[i].fault);
    }
    tn_status status = tn_embed_start(e->session, &request, &x, e->cli->err);
    /* Items of a request that fails as a whole are dropped with it. */
    struct chunk_of_texts user = {e, texts};
    if (status == TN_OK) status = cli_ask_follow(e->cli, x, on_item, &user);
    if (status == TN_OK) status = cli_ask_account(e->cli, x, &e->account);
    cli_json_u64(cli_json_path(cli_account_root(&e->account), "result.dimensions"), &e->totals.dimensions);
    cli_progress_end(&e->progress);
    if (status == TN_OK && e->cli->values.json) write_header(e);
    if (status == TN_OK) status = emit_until(e, e->chunk.count);
    tn_execution_free(x);
    return status;
}

/* ---- the whole ---- */

/* Chunk after chunk; a request for nothing is still one request, which says what space it would be in. */
static tn_status run(struct embed *e)
{
    size_t most = e->cli->values.atomic ? SIZE_MAX : CHUNK_ITEMS;
    bool again = true;
    tn_status status = cli_ask_load(e->cli, CLI_EMBED_DENSE, &e->session);
    cli_progress_begin(&e->progress, e->cli, "embedding", false);
    while (status == TN_OK && again) {
        status = cli_input_next(&e->input, &e->chunk, most);
        again = e->chunk.count > 0;
        if (status == TN_OK && (again || e->account.requests == 0)) status = run_chunk(e);
        forget_rows(e);
    }
    cli_progress_end(&e->progress);
    return status;
}

static int finish(struct embed *e, tn_status status)
{
    if (e->npy.columns == 0) e->npy.columns = e->totals.dimensions;
    if (status == TN_OK && e->cli->values.npy) status = cli_npy_finish(&e->npy);
    if (e->cli->out.failure) return CLI_EXIT_FAILED; /* told by cli_end */
    if (e->header) return cli_end_document(e->cli, &e->account, e->data_begun, e->totals.failed > 0, status);
    if (status != TN_OK) return cli_fail_any(e->cli, status);
    cli_embed_page_end(&e->page, &e->totals, cli_account_root(&e->account));
    return e->totals.failed ? CLI_EXIT_SOME_FAILED : 0;
}

static void release(struct embed *e)
{
    cli_npy_close(&e->npy);
    cli_input_close(&e->input);
    cli_chunk_release(&e->chunk);
    cli_embed_page_release(&e->page);
    cli_account_release(&e->account);
    tn_session_free(e->session);
    free(e->rows);
    free(e->texts);
    free(e->item_of);
}

int cli_embed(struct cli *cli)
{
    struct embed e = {.cli = cli, .input = {.fd = -1}};
    const char *npy = cli->values.npy, *task = CLI_EMBED_DENSE;
    tn_status status = cli_input_open(&e.input, cli);
    if (status == TN_OK && npy && strcmp(npy, "-") == 0 && cli->values.json)
        status = cli_refuse(cli, TN_INVALID_REQUEST, "npy", "--npy - and --json both want standard output");
    if (status == TN_OK) status = cli_open_package(cli, true);
    if (status == TN_OK) status = cli_embed_task(cli, &task);
    if (status == TN_OK && strcmp(task, CLI_EMBED_DENSE) != 0) {
        release(&e);
        return cli_embed_other(cli, task);
    }
    if (status == TN_OK) status = cli_watch_signals(cli);
    if (status == TN_OK && npy) status = cli_npy_open(&e.npy, cli, npy);
    cli_embed_page_begin(&e.page, cli);
    if (status == TN_OK) status = run(&e);
    int code = finish(&e, status);
    release(&e);
    return code;
}
