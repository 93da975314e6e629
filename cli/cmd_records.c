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

/* ---- records ---- */

enum { WORD_LIST, WORD_SHOW, WORD_WHY, WORD_WITHDRAW, WORD_EXPORT, WORDS };

static const struct {
    const char *word;
    size_t least, most; /* operands, itself included */
} words[WORDS] = {{"list", 1, 1}, {"show", 2, 2}, {"why", 2, 3}, {"withdraw", 2, 2}, {"export", 1, 1}};

static int usage(struct cli *cli, const char *word)
{
    cli_refuse(cli, TN_INVALID_REQUEST, word, "records does not know this operand, or one is missing");
    snprintf(cli->problem.found, sizeof(cli->problem.found), "%.100s", word);
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "list, show ID, why ID [PKG], withdraw ID or export");
    return cli_fail_problem(cli);
}

/* The package is read whole, so that its weights are known by their bytes and not only by their headers. */
static tn_status why(struct cli *cli, tn_document **out)
{
    const struct cli_values *v = &cli->values;
    tn_package_options options = TN_INIT(tn_package_options);
    tn_status status = TN_OK;
    options.variant = v->variant;
    options.descriptive = v->descriptive;
    options.descriptive_count = v->descriptive_count;
    options.accept_loss = v->accept_loss;
    if (v->operand_count == 3) status = tn_package_open(cli->runtime, v->operands[2], &options, &cli->package, cli->err);
    if (status == TN_OK && cli->package) status = cli_watch_signals(cli);
    if (status == TN_OK && cli->package) status = tn_package_verify(cli->package, cli->cancel, cli->err);
    return status == TN_OK ? tn_records_why(cli->runtime, v->operands[1], cli->package, out, cli->err) : status;
}

static tn_status withdraw(struct cli *cli, tn_document **out)
{
    if (cli->values.reason) return tn_records_withdraw(cli->runtime, cli->values.operands[1], cli->values.reason, out, cli->err);
    cli_refuse(cli, TN_INVALID_REQUEST, "reason", "--reason is missing");
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "--reason TEXT: why the record no longer counts");
    return cli->problem.code;
}

int cli_records(struct cli *cli)
{
    static const cli_view_fn views[WORDS] = {cli_view_records, cli_view_record, cli_view_why, cli_view_record, cli_view_records};
    const struct cli_values *v = &cli->values;
    const char *what = v->operand_count ? v->operands[0] : "list";
    size_t word = 0, count = v->operand_count ? v->operand_count : 1;
    tn_document *document = NULL;
    while (word < WORDS && strcmp(words[word].word, what) != 0) word++;
    if (word == WORDS || count < words[word].least || count > words[word].most)
        return usage(cli, word < WORDS && count > words[word].most ? v->operands[words[word].most] : what);
    tn_status status = cli_open_runtime(cli, false);
    if (status != TN_OK) return cli_fail_any(cli, status);
    switch (word) {
    case WORD_LIST: status = tn_records_list(cli->runtime, &document, cli->err); break;
    case WORD_SHOW: status = tn_records_show(cli->runtime, v->operands[1], &document, cli->err); break;
    case WORD_WHY: status = why(cli, &document); break;
    case WORD_WITHDRAW: status = withdraw(cli, &document); break;
    default: status = tn_records_export(cli->runtime, &document, cli->err); break;
    }
    if (status != TN_OK) return cli_fail_any(cli, status);
    if (word == WORD_EXPORT) cli->values.json = true; /* there is no other form of it */
    return cli_print_document(cli, document, views[word]);
}
