#include "item_error.h"

#include "json.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

static void write_where(struct cli_out *o, const struct cli_json *where, size_t index)
{
    for (const struct cli_json *m = cli_json_first(where); m; m = m->next) {
        cli_out_format(o, "%s\"%s\": ", m == where->first ? "{" : ", ", m->key);
        if (strcmp(m->key, "index") == 0) cli_out_u64(o, index);
        else cli_json_write(o, m);
    }
    cli_out_text(o, "}");
}

static void write_members(struct cli_out *o, const struct cli_json *error, size_t index)
{
    for (const struct cli_json *m = cli_json_first(error); m; m = m->next) {
        cli_out_format(o, "%s\"%s\": ", m == error->first ? "{" : ", ", m->key);
        if (strcmp(m->key, "where") == 0 && cli_json_get(m, "index")) write_where(o, m, index);
        else cli_json_write(o, m);
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
        write_members(&out, doc.root, index);
        if (out.failure == 0) {
            free(json);
            json = cli_copy(out.buf, out.used);
        }
    }
    cli_json_release(&doc);
    return json;
}
