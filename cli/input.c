#define _XOPEN_SOURCE 700
#include "input.h"

#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The library's own limit for one text; a longer line means that the file is not a list of texts. */
enum { LINE_BYTES = 64 << 20, CHUNK_BYTES = 64 << 20, READ_BYTES = 1 << 18, POLL_MS = 100 };

static tn_status cannot_read(struct cli_input *in, int reason)
{
    cli_refuse(in->cli, TN_INVALID_REQUEST, "file", "cannot read %.200s", in->cli->values.file);
    snprintf(in->cli->problem.found, sizeof(in->cli->problem.found), "%s", strerror(reason));
    return TN_INVALID_REQUEST;
}

static tn_status refuse(struct cli *cli, const char *option, const char *message, const char *expected)
{
    cli_refuse(cli, TN_INVALID_REQUEST, option, "%s", message);
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "%s", expected);
    return TN_INVALID_REQUEST;
}

tn_status cli_input_open(struct cli_input *in, struct cli *cli)
{
    struct stat st;
    const char *file = cli->values.file;
    *in = (struct cli_input){.cli = cli, .fd = -1, .jsonl = cli->values.jsonl, .next_operand = 1, .first = true};
    if (file && cli->values.operand_count > 1)
        return refuse(cli, "file", "texts are given twice", "texts as operands, or --file, not both");
    if (in->jsonl && !file) return refuse(cli, "jsonl", "--jsonl describes --file, which is not given", "--file PATH or --file -");
    if (!file && cli->values.operand_count < 2 && cli->values.verb == CLI_RERANK)
        return refuse(cli, "", "there is no document", "DOC..., --file PATH or --file -");
    if (!file && cli->values.operand_count < 2) return refuse(cli, "", "there is no text", "TEXT..., --file PATH or --file -");
    if (!file) return TN_OK;
    in->own_fd = strcmp(file, "-") != 0;
    in->fd = in->own_fd ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (in->fd < 0 || fstat(in->fd, &st) != 0) return cannot_read(in, errno);
    if (S_ISDIR(st.st_mode)) return cannot_read(in, EISDIR);
    return TN_OK;
}

bool cli_input_is_exhausted(const struct cli_input *in)
{
    if (in->fd < 0) return in->next_operand == in->cli->values.operand_count;
    return in->ended && in->at == in->end;
}

void cli_input_close(struct cli_input *in)
{
    if (in->own_fd && in->fd >= 0) close(in->fd);
    free(in->buf);
    in->buf = NULL;
    in->fd = -1;
}

/* ---- bytes to lines ---- */

/* Appends what the file has next; sets `ended`. Waits in short steps, so that a signal is seen at a silent pipe. */
static tn_status read_more(struct cli_input *in)
{
    struct pollfd ready = {.fd = in->fd, .events = POLLIN};
    if (in->at > 0) {
        memmove(in->buf, in->buf + in->at, in->end - in->at);
        in->end -= in->at;
        in->at = 0;
    }
    if (in->end > LINE_BYTES) {
        return cli_refuse(in->cli, TN_RESOURCE_LIMIT, "file", "line %zu of %.200s is longer than 64 MiB", in->line + 1,
                          in->cli->values.file);
    }
    if (in->cap - in->end < READ_BYTES) {
        in->cap = in->cap ? cli_product(in->cap, 2) : 2 * READ_BYTES;
        in->buf = cli_realloc(in->buf, in->cap);
    }
    for (;;) {
        if (cli_signal() != 0) return cli_stopped(in->cli);
        int n = poll(&ready, 1, POLL_MS);
        if (n < 0 && errno != EINTR) return cannot_read(in, errno);
        if (n > 0) break;
    }
    ssize_t got = read(in->fd, in->buf + in->end, READ_BYTES);
    if (got < 0 && errno != EINTR && errno != EAGAIN) return cannot_read(in, errno);
    if (got == 0) in->ended = true;
    if (got > 0) in->end += (size_t)got;
    return TN_OK;
}

/* The next line without its end: a view of buf. *line NULL: there is none. */
static tn_status next_line(struct cli_input *in, const char **line, size_t *length)
{
    size_t searched = in->at;
    *line = NULL;
    for (;;) {
        char *end = searched < in->end ? memchr(in->buf + searched, '\n', in->end - searched) : NULL;
        if (end || (in->ended && in->at < in->end)) {
            size_t n = (end ? (size_t)(end - in->buf) : in->end) - in->at;
            *line = in->buf + in->at;
            *length = n > 0 && end && (*line)[n - 1] == '\r' ? n - 1 : n;
            in->at += n + (end != NULL);
            break;
        }
        if (in->ended) return TN_OK;
        searched = in->end - in->at;
        tn_status status = read_more(in);
        if (status != TN_OK) return status;
    }
    if (in->first && *length >= 3 && memcmp(*line, "\xEF\xBB\xBF", 3) == 0) {
        *line += 3;
        *length -= 3;
    }
    in->first = false;
    in->line++;
    return TN_OK;
}

/* ---- lines to items ---- */

static size_t keep(struct cli_chunk *chunk, const char *s, size_t n)
{
    size_t at = chunk->used;
    while (chunk->cap - chunk->used < n) {
        chunk->cap = chunk->cap ? cli_product(chunk->cap, 2) : 1 << 16;
        chunk->bytes = cli_realloc(chunk->bytes, chunk->cap);
    }
    if (n > 0) memcpy(chunk->bytes + at, s, n);
    chunk->used += n;
    return at;
}

static struct cli_item *add_item(struct cli_chunk *chunk)
{
    cli_grow(&chunk->items, sizeof(*chunk->items), chunk->count, &chunk->items_cap);
    struct cli_item *item = &chunk->items[chunk->count++];
    memset(item, 0, sizeof(*item));
    return item;
}

static void add_text(struct cli_chunk *chunk, struct cli_item *item, const char *s, size_t n)
{
    item->length = n;
    item->at = keep(chunk, s, n);
}

static char *fault(const struct cli_input *in, size_t at, const char *what)
{
    char text[256];
    int n = snprintf(text, sizeof(text), "line %zu, byte %zu: %s", in->line, at + 1, what);
    return cli_copy(text, (size_t)n);
}

/* The id is kept as JSON text, which is how it goes out again. */
static const char *keep_id(struct cli_chunk *chunk, struct cli_item *item, const struct cli_json *id)
{
    static struct cli_out json; /* used as a buffer: it never fills up, so it never writes */
    if (!id || id->type == CLI_JSON_NULL) return NULL;
    if (id->type != CLI_JSON_STRING && id->type != CLI_JSON_NUMBER) return "\"id\" is neither a string nor a number";
    if (id->length > CLI_OUT_BYTES / 8) return "\"id\" is too long";
    cli_out_init(&json, -1);
    if (id->type == CLI_JSON_STRING) {
        cli_out_json(&json, id->text, id->length);
    } else {
        cli_out_bytes(&json, id->text, id->length);
    }
    item->id_length = json.used;
    item->id_at = keep(chunk, json.buf, json.used);
    return NULL;
}

/* A second text is taken, or the record fails: dropped, it would be answered for as if it had not been there. */
static const char *keep_pair(const struct cli_input *in, struct cli_chunk *chunk, struct cli_item *item, const struct cli_json *pair)
{
    if (!pair || pair->type == CLI_JSON_NULL) return NULL;
    if (!in->pairs) return "\"pair\" is there, and this verb takes one text a line";
    if (pair->type != CLI_JSON_STRING) return "\"pair\" is no string";
    item->has_pair = true;
    item->pair_length = pair->length;
    item->pair_at = keep(chunk, pair->text, pair->length);
    return NULL;
}

static void add_record(struct cli_input *in, struct cli_chunk *chunk, const char *line, size_t length)
{
    struct cli_json_doc doc;
    struct cli_item *item = add_item(chunk);
    if (!cli_json_parse(&doc, line, length)) {
        item->fault = fault(in, doc.fault_at, doc.fault);
        cli_json_release(&doc);
        return;
    }
    bool object = doc.root->type == CLI_JSON_OBJECT;
    const struct cli_json *text = object ? cli_json_get(doc.root, "text") : doc.root;
    const char *wrong = keep_id(chunk, item, cli_json_get(doc.root, "id"));
    if (!wrong) wrong = keep_pair(in, chunk, item, cli_json_get(doc.root, "pair"));
    if (cli_json_is(text, CLI_JSON_STRING)) {
        add_text(chunk, item, text->text, text->length);
    } else {
        wrong = object ? "no string member \"text\"" : "neither a string nor an object";
    }
    if (wrong) item->fault = fault(in, 0, wrong);
    cli_json_release(&doc);
}

static bool is_blank(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] != ' ' && s[i] != '\t' && s[i] != '\r') return false;
    }
    return true;
}

static void clear(struct cli_chunk *chunk)
{
    for (size_t i = 0; i < chunk->count; i++) free(chunk->items[i].fault);
    chunk->count = chunk->used = 0;
}

tn_status cli_input_next(struct cli_input *in, struct cli_chunk *chunk, size_t max_items)
{
    clear(chunk);
    while (chunk->count < max_items && (chunk->used < CHUNK_BYTES || max_items == SIZE_MAX)) {
        const char *line = NULL;
        size_t length = 0;
        if (in->fd < 0) {
            if (in->next_operand == in->cli->values.operand_count) break;
            line = in->cli->values.operands[in->next_operand++];
            add_text(chunk, add_item(chunk), line, strlen(line));
            continue;
        }
        tn_status status = next_line(in, &line, &length);
        if (status != TN_OK) return status;
        if (!line) break;
        if (!in->jsonl) {
            add_text(chunk, add_item(chunk), line, length);
        } else if (!is_blank(line, length)) {
            add_record(in, chunk, line, length);
        }
    }
    return TN_OK;
}

void cli_chunk_release(struct cli_chunk *chunk)
{
    clear(chunk);
    free(chunk->bytes);
    free(chunk->items);
    *chunk = (struct cli_chunk){0};
}
