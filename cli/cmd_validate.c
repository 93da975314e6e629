/* validate: a metadata document alone, or the contract of a package. */
#define _XOPEN_SOURCE 700
#include "app.h"
#include "views.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* A regular file that is named like a document; everything else is opened as a package. */
static bool is_document(const char *path)
{
    struct stat st;
    bool named = ends(path, ".yaml") || ends(path, ".yml") || ends(path, ".json");
    return strcmp(path, "-") == 0 || (named && (stat(path, &st) != 0 || S_ISREG(st.st_mode)));
}

static void view_verdict(struct cli_view *v, const struct cli_json *root)
{
    const char *identity = cli_json_text(cli_json_get(root, "identity"));
    cli_view_field(v, "path", cli_json_text(cli_json_get(root, "path")));
    cli_view_field(v, "kind", cli_json_text(cli_json_get(root, "kind")));
    cli_view_field(v, "valid", cli_json_true(cli_json_get(root, "valid")) ? "yes" : "no");
    if (*identity) cli_view_field(v, "identity", identity);
    cli_view_findings(v, "findings", cli_json_get(root, "findings"));
}

int cli_validate(struct cli *cli)
{
    const char *path = cli->values.operands[0];
    tn_document *document = NULL;
    char *text = NULL;
    size_t length = 0;
    int valid = 0;
    bool alone = is_document(path);
    tn_status status = alone ? cli_open_runtime(cli, true) : cli_open_package(cli, true);
    if (status == TN_OK) status = cli_check_unused(cli);
    if (status == TN_OK && alone) status = cli_read_document(cli, "FILE", path, &text, &length);
    if (status == TN_OK && alone)
        status = tn_document_validate(cli->runtime, path, text, length, &valid, &document, cli->err);
    if (status == TN_OK && !alone) status = tn_package_validate(cli->package, &valid, &document, cli->err);
    free(text);
    if (status != TN_OK) return cli_fail_any(cli, status);
    int code = cli_print_document(cli, document, view_verdict);
    return code ? code : valid ? 0 : CLI_EXIT_REFUSED;
}
