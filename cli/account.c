#include "account.h"

#include <string.h>

/* Members whose numbers are totals of one request. */
static const char *const groups[] = {"counts", "timings_ms"};
enum { GROUPS = sizeof(groups) / sizeof(groups[0]) };

static void begin_sums(struct cli_account *a)
{
    for (size_t g = 0; g < GROUPS; g++) {
        const struct cli_json *m = cli_json_first(cli_json_get(a->doc.root, groups[g]));
        for (; m && a->sum_count < CLI_ACCOUNT_SUMS; m = m->next) {
            a->sums[a->sum_count].group = groups[g];
            a->sums[a->sum_count++].name = m->key;
        }
    }
}

static void add_sums(struct cli_account *a, const struct cli_json *root)
{
    for (size_t i = 0; i < a->sum_count; i++)
        a->sums[i].value += cli_json_double(cli_json_get(cli_json_get(root, a->sums[i].group), a->sums[i].name), 0);
}

const char *cli_account_add(struct cli_account *a, tn_document *document)
{
    size_t length;
    struct cli_json_doc doc;
    const char *text = tn_document_text(document, &length);
    const char *fault = cli_json_parse(&doc, text, length) ? NULL : doc.fault;
    if (a->requests == 0 && !fault) {
        a->doc = doc;
        a->text = document;
        begin_sums(a);
    }
    if (!fault) add_sums(a, doc.root);
    if (a->requests > 0 || fault) {
        cli_json_release(&doc);
        tn_document_free(document);
    }
    a->requests += !fault;
    return fault;
}

const struct cli_json *cli_account_root(const struct cli_account *a)
{
    return a->doc.root;
}

static void write_sums(const struct cli_account *a, const struct cli_json *member, struct cli_out *o)
{
    bool first = true;
    cli_out_text(o, "{");
    for (size_t i = 0; i < a->sum_count; i++) {
        if (strcmp(a->sums[i].group, member->key) != 0) continue;
        cli_out_format(o, strcmp(member->key, "counts") == 0 ? "%s\"%s\": %.0f" : "%s\"%s\": %.6f", first ? "" : ", ",
                       a->sums[i].name, a->sums[i].value);
        first = false;
    }
    cli_out_text(o, "}");
}

static bool is_group(const char *key)
{
    for (size_t g = 0; g < GROUPS; g++) {
        if (strcmp(groups[g], key) == 0) return true;
    }
    return false;
}

void cli_account_write(const struct cli_account *a, struct cli_out *o)
{
    cli_out_format(o, "{\"requests\": %u", a->requests);
    for (const struct cli_json *m = cli_json_first(a->doc.root); m; m = m->next) {
        cli_out_text(o, ",\n  ");
        cli_out_json(o, m->key, m->key_length);
        cli_out_text(o, ": ");
        if (is_group(m->key)) {
            write_sums(a, m, o);
        } else if (a->outcome && strcmp(m->key, "outcome") == 0) {
            cli_out_format(o, "\"%s\"", tn_status_name(a->outcome));
        } else {
            cli_json_write(o, m);
        }
    }
    cli_out_text(o, "}");
}

void cli_account_release(struct cli_account *a)
{
    cli_json_release(&a->doc);
    tn_document_free(a->text);
    *a = (struct cli_account){0};
}
