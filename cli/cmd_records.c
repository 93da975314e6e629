/* qualify and records: making evidence and looking at it. */
#include "app.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the record that is about to be printed lists a failure. */
static bool has_passed(const tn_document *document)
{
    size_t length;
    struct cli_json_doc doc;
    const char *text = tn_document_text(document, &length);
    bool passed = cli_json_parse(&doc, text, length) && cli_json_true(cli_json_get(doc.root, "passed"));
    cli_json_release(&doc);
    return passed;
}

int cli_qualify(struct cli *cli)
{
    tn_plan_options options;
    tn_qualify_options suite = TN_INIT(tn_qualify_options);
    tn_document *document = NULL;
    tn_status status = cli_open_for_task(cli, true, &options);
    if (status == TN_OK) status = cli_watch_signals(cli);
    suite.plan = &options;
    suite.golden = cli->values.golden;
    suite.cancel = cli->cancel;
    if (status == TN_OK) status = tn_qualify(cli->package, &suite, &document, cli->err);
    if (status != TN_OK) return cli_fail_any(cli, status);
    bool passed = has_passed(document);
    int code = cli_print_document(cli, document, cli_view_record);
    return code ? code : passed ? 0 : CLI_EXIT_FAILED;
}

static int usage(struct cli *cli, const char *word)
{
    cli_refuse(cli, TN_INVALID_REQUEST, word, "records does not know this operand, or one is missing");
    snprintf(cli->problem.found, sizeof(cli->problem.found), "%.100s", word);
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "list, show ID or export");
    return cli_fail_problem(cli);
}

int cli_records(struct cli *cli)
{
    const struct cli_values *v = &cli->values;
    const char *what = v->operand_count ? v->operands[0] : "list";
    bool show = strcmp(what, "show") == 0, list = strcmp(what, "list") == 0, export = strcmp(what, "export") == 0;
    tn_document *document = NULL;
    if ((!show && !list && !export) || v->operand_count != (show ? 2u : v->operand_count ? 1u : 0u))
        return usage(cli, v->operand_count > 1 && !show ? v->operands[1] : what);
    tn_status status = cli_open_runtime(cli, false);
    if (status == TN_OK && show) status = tn_records_show(cli->runtime, v->operands[1], &document, cli->err);
    if (status == TN_OK && list) status = tn_records_list(cli->runtime, &document, cli->err);
    if (status == TN_OK && export) status = tn_records_export(cli->runtime, &document, cli->err);
    if (status != TN_OK) return cli_fail_any(cli, status);
    if (export) cli->values.json = true; /* there is no other form of it */
    return cli_print_document(cli, document, show ? cli_view_record : cli_view_records);
}
