/* inspect: what a package is. With --verify it is also the integrity check of a download. */
#include "app.h"
#include "views.h"

#include <string.h>

/* Findings that say that bytes are missing or damaged, not that tenon cannot run them. */
static bool is_damage(const struct cli_json *finding)
{
    static const tn_status codes[] = {TN_ARTIFACT_MISSING, TN_ARTIFACT_STALE, TN_ARTIFACT_MALFORMED, TN_PATH_ESCAPE,
                                      TN_DUPLICATE_TENSOR};
    if (!cli_json_text_is(cli_json_get(finding, "severity"), "blocker")) return false;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (cli_json_text_is(cli_json_get(finding, "code"), tn_status_name(codes[i]))) return true;
    }
    return false;
}

static bool is_damaged(const tn_document *document)
{
    size_t length;
    struct cli_json_doc doc;
    bool damaged = false;
    const char *text = tn_document_text(document, &length);
    cli_json_parse(&doc, text, length);
    for (const struct cli_json *f = cli_json_first(cli_json_get(doc.root, "findings")); f; f = f->next)
        damaged |= is_damage(f);
    cli_json_release(&doc);
    return damaged;
}

int cli_inspect(struct cli *cli)
{
    tn_document *document = NULL;
    tn_status status = cli_open_package(cli, true);
    if (status == TN_OK) status = cli_check_unused(cli);
    if (status == TN_OK && cli->values.verify) {
        status = cli_watch_signals(cli);
        if (status == TN_OK) status = tn_package_verify(cli->package, cli->cancel, cli->err);
    }
    if (status == TN_OK) status = tn_package_inspect(cli->package, &document, cli->err);
    if (status != TN_OK) return cli_fail_any(cli, status);
    bool damaged = cli->values.verify && is_damaged(document);
    int code = cli_print_document(cli, document, cli_view_package);
    return code ? code : damaged ? CLI_EXIT_REFUSED : 0;
}
