/* tokenize: one encoding per text. Nothing is held between texts, so a file of any length works. */
#include "app.h"
#include "input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_ITEMS = 1024 };

struct tokenize {
    struct cli *cli;
    tn_tokenizer *tokenizer;
    struct cli_input input;
    struct cli_chunk chunk;
    size_t base, failed;
    bool begun; /* the JSON document */
};

/* ---- JSON ---- */

static void write_numbers(struct cli_out *o, const char *name, const uint32_t *v, size_t n)
{
    cli_out_format(o, "\"%s\": [", name);
    for (size_t i = 0; i < n; i++) {
        if (i) cli_out_text(o, ",");
        cli_out_u64(o, v[i]);
    }
    cli_out_text(o, "], ");
}

static void write_encoding(struct cli_out *o, const tn_encoding *encoding, bool limited)
{
    tn_tokens t = tn_encoding_tokens(encoding);
    write_numbers(o, "ids", t.ids, t.count);
    write_numbers(o, "type_ids", t.type_ids, t.count);
    write_numbers(o, "attention_mask", t.attention_mask, t.count);
    cli_out_text(o, "\"offsets\": [");
    for (size_t i = 0; i < t.count; i++) {
        cli_out_text(o, i ? ",[" : "[");
        cli_out_u64(o, t.offsets[i][0]);
        cli_out_text(o, ",");
        cli_out_u64(o, t.offsets[i][1]);
        cli_out_text(o, "]");
    }
    cli_out_text(o, "], \"tokens\": [");
    for (size_t i = 0; i < t.count; i++) {
        tn_string token = tn_encoding_token(encoding, i);
        if (i) cli_out_text(o, ",");
        cli_out_json(o, token.data, token.length);
    }
    cli_out_text(o, "]");
    if (limited) cli_out_text(o, t.truncated ? ", \"truncated\": true" : ", \"truncated\": false");
}

static void write_item(struct tokenize *t, size_t i, const tn_encoding *encoding, const char *error)
{
    struct cli_out *o = &t->cli->out;
    const struct cli_item *item = &t->chunk.items[i];
    cli_out_text(o, t->begun ? ",\n{" : "{\"data\": [\n{");
    t->begun = true;
    cli_out_text(o, "\"index\": ");
    cli_out_u64(o, t->base + i);
    cli_out_text(o, ", ");
    if (item->id_length) {
        cli_out_text(o, "\"id\": ");
        cli_out_bytes(o, t->chunk.bytes + item->id_at, item->id_length);
        cli_out_text(o, ", ");
    }
    if (error) {
        cli_out_text(o, "\"error\": ");
        cli_out_text(o, error);
    } else {
        write_encoding(o, encoding, t->cli->values.max_tokens > 0);
    }
    cli_out_text(o, "}");
}

/* ---- for people ---- */

static void show_encoding(struct tokenize *t, size_t i, const tn_encoding *encoding)
{
    struct cli_view *v = &t->cli->view;
    tn_tokens tokens = tn_encoding_tokens(encoding);
    struct cli_table table;
    char title[96];
    snprintf(title, sizeof(title), "text %zu: %zu tokens%s", t->base + i, tokens.count, tokens.truncated ? ", cut" : "");
    cli_view_heading(v, title);
    cli_table_begin(&table, "rrrll");
    static const char *const names[] = {"position", "id", "type", "bytes", "token"};
    for (size_t c = 0; c < 5; c++) cli_table_cell(&table, names[c]);
    for (size_t k = 0; k < tokens.count; k++) {
        tn_string token = tn_encoding_token(encoding, k);
        cli_table_cellf(&table, "%zu", k);
        cli_table_cellf(&table, "%u", (unsigned)tokens.ids[k]);
        cli_table_cellf(&table, "%u", (unsigned)tokens.type_ids[k]);
        cli_table_cellf(&table, "%u..%u", (unsigned)tokens.offsets[k][0], (unsigned)tokens.offsets[k][1]);
        cli_table_cellf(&table, "%.*s", (int)(token.length < 4096 ? token.length : 4096), token.data ? token.data : "");
    }
    cli_table_print(&table, v);
}

static void show_failure(struct tokenize *t, size_t i, const char *error)
{
    char title[64];
    snprintf(title, sizeof(title), "text %zu: failed", t->base + i);
    cli_view_heading(&t->cli->view, title);
    cli_out_flush(&t->cli->out);
    cli_show_error(error);
}

/* ---- the work ---- */

static tn_status encode(struct tokenize *t, size_t i, tn_encoding **encoding)
{
    const struct cli_values *v = &t->cli->values;
    const struct cli_item *item = &t->chunk.items[i];
    tn_encode_request request = TN_INIT(tn_encode_request);
    *encoding = NULL;
    if (item->fault) return cli_refuse(t->cli, TN_INVALID_REQUEST, "file", "%s", item->fault);
    request.text = (tn_string){t->chunk.bytes ? t->chunk.bytes + item->at : "", item->length};
    if (item->has_pair && v->pair) return cli_refuse(t->cli, TN_INVALID_REQUEST, "pair", "a second text is given twice");
    if (item->has_pair) request.pair = (tn_string){t->chunk.bytes + item->pair_at, item->pair_length};
    if (v->pair) request.pair = (tn_string){v->pair, strlen(v->pair)};
    request.no_special = v->no_special;
    request.max_tokens = v->max_tokens;
    return tn_tokenizer_encode(t->tokenizer, &request, encoding, t->cli->err);
}

static void one(struct tokenize *t, size_t i)
{
    tn_encoding *encoding;
    tn_status status = encode(t, i, &encoding);
    char *error = status != TN_OK ? cli_error_json(t->cli, status) : NULL;
    memset(&t->cli->problem, 0, sizeof(t->cli->problem));
    t->failed += error != NULL;
    if (t->cli->values.json) {
        write_item(t, i, encoding, error);
    } else if (error) {
        show_failure(t, i, error);
    } else {
        show_encoding(t, i, encoding);
    }
    free(error);
    tn_encoding_free(encoding);
}

static tn_status run(struct tokenize *t)
{
    for (;;) {
        tn_status status = cli_input_next(&t->input, &t->chunk, CHUNK_ITEMS);
        if (status != TN_OK || t->chunk.count == 0) return status;
        for (size_t i = 0; i < t->chunk.count; i++) {
            if (cli_signal() != 0) return cli_stopped(t->cli);
            if (t->cli->out.failure) return TN_RUNTIME_FAILURE;
            one(t, i);
        }
        t->base += t->chunk.count;
    }
}

/* Also when the work stopped in the middle, what was begun ends as one document. */
static int finish(struct tokenize *t, tn_status status)
{
    int code = t->failed ? CLI_EXIT_SOME_FAILED : 0;
    if (t->cli->out.failure) return CLI_EXIT_FAILED;
    if (status != TN_OK && !(t->cli->values.json && t->begun)) return cli_fail_any(t->cli, status);
    if (!t->cli->values.json) return code;
    cli_out_text(&t->cli->out, t->begun ? "\n]" : "{\"data\": []");
    if (status != TN_OK) {
        char *error = cli_error_json(t->cli, status);
        cli_out_text(&t->cli->out, ",\n\"error\": ");
        cli_out_text(&t->cli->out, error);
        free(error);
        code = tn_status_exit_code(status);
    }
    cli_out_text(&t->cli->out, "}\n");
    return code;
}

int cli_tokenize(struct cli *cli)
{
    struct tokenize t = {.cli = cli, .input = {.fd = -1}};
    tn_status status = cli_input_open(&t.input, cli);
    t.input.pairs = true;
    if (status == TN_OK) status = cli_open_package(cli, true);
    if (status == TN_OK) status = cli_watch_signals(cli);
    if (status == TN_OK) status = cli_check_unused(cli);
    if (status == TN_OK) status = tn_tokenizer_open(cli->package, &t.tokenizer, cli->err);
    if (status == TN_OK) status = run(&t);
    int code = finish(&t, status);
    cli_input_close(&t.input);
    cli_chunk_release(&t.chunk);
    tn_tokenizer_free(t.tokenizer);
    return code;
}
