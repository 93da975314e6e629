#include "item_error.h"

#include "json.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_message(struct cli_out *o, const struct cli_json *m, size_t sent, size_t index)
{
    char was[32], is[32];
    size_t n = (size_t)snprintf(was, sizeof(was), "text %zu ", sent);
    if (strncmp(cli_json_text(m), was, n) != 0) {
        cli_json_write(o, m);
        return;
    }
    size_t length = (size_t)snprintf(is, sizeof(is), "text %zu ", index);
    char *message = cli_alloc(length + m->length - n + 1);
    memcpy(message, is, length);
    memcpy(message + length, m->text + n, m->length - n);
    cli_out_json(o, message, length + m->length - n);
    free(message);
}

static void write_members(struct cli_out *o, const struct cli_json *error, size_t sent, size_t index)
{
    for (const struct cli_json *m = cli_json_first(error); m; m = m->next) {
        cli_out_format(o, "%s\"%s\": ", m == error->first ? "{" : ", ", m->key);
        if (strcmp(m->key, "message") == 0) {
            write_message(o, m, sent, index);
        } else if (strcmp(m->key, "where") == 0 && cli_json_get(m, "index")) {
            cli_out_format(o, "{\"index\": %zu}", index);
        } else {
            cli_json_write(o, m);
        }
    }
    cli_out_text(o, "}");
}

char *cli_item_error(char *json, size_t sent, size_t index)
{
    static struct cli_out out; /* used as a buffer; an error that does not fit stays as it was */
    struct cli_json_doc doc;
    if (sent == index) return json;
    cli_out_init(&out, -1);
    if (cli_json_parse(&doc, json, strlen(json)) && doc.root->first) {
        write_members(&out, doc.root, sent, index);
        if (out.failure == 0) {
            free(json);
            json = cli_copy(out.buf, out.used);
        }
    }
    cli_json_release(&doc);
    return json;
}
