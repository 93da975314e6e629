/* check and plan: the same question asked as "can it?" and as "exactly how?". */
#include "app.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

/* The task of the command line, or of the plan that --plan names. */
static tn_status find_task(struct cli *cli, const char **task)
{
    const struct cli_values *v = &cli->values;
    *task = v->task;
    if (v->task || v->plan) return TN_OK;
    cli_refuse(cli, TN_INVALID_REQUEST, "task", "%s needs to know for which task", cli_verbs[v->verb].name);
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "--task TASK, e.g. --task embedding.dense");
    snprintf(cli->problem.remedy, sizeof(cli->problem.remedy), "`tenon tasks` lists the tasks");
    return cli->problem.code;
}

tn_status cli_open_for_task(struct cli *cli, bool limited, tn_plan_options *options)
{
    const char *task;
    tn_status status = find_task(cli, &task);
    if (status == TN_OK) status = cli_open_package(cli, limited);
    if (status == TN_OK) status = cli_plan_options(cli, task, options);
    return status == TN_OK ? cli_check_planned(cli, task, options->task) : status;
}

/* Every task that there is. */
static int check_all(struct cli *cli)
{
    tn_plan_options options;
    tn_document *document = NULL;
    int served = 0;
    tn_status status = cli_open_package(cli, false);
    if (status == TN_OK) status = cli_plan_options(cli, NULL, &options);
    if (status == TN_OK) status = tn_package_tasks(cli->package, &options, &served, &document, cli->err);
    if (status != TN_OK) return cli_fail_any(cli, status);
    int code = cli_print_document(cli, document, cli_view_task_list);
    return code ? code : served ? 0 : CLI_EXIT_REFUSED;
}

int cli_check(struct cli *cli)
{
    tn_plan_options options;
    if (!cli->values.task && !cli->values.plan) return check_all(cli);
    tn_document *document = NULL;
    tn_decision decision = TN_UNKNOWN;
    tn_status status = cli_open_for_task(cli, false, &options);
    if (status == TN_OK) status = tn_assess(cli->package, &options, &decision, &document, cli->err);
    if (status != TN_OK) return cli_fail_any(cli, status);
    int code = cli_print_document(cli, document, cli_view_assessment);
    return code ? code : decision == TN_ELIGIBLE ? 0 : CLI_EXIT_REFUSED;
}

static void say_warning(const struct cli_json *finding)
{
    static const struct {
        const char *path, *lead;
    } parts[] = {{"where.file", ""}, {"where.pointer", " "}, {"found", "; found "}, {"expected", "; expected "}};
    char place[900] = "";
    size_t n = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const char *part = cli_json_text(cli_json_path(finding, parts[i].path));
        if (!*part || n >= sizeof(place)) continue;
        int added = snprintf(place + n, sizeof(place) - n, "%s%s", n || i < 2 ? parts[i].lead : parts[i].lead + 2, part);
        n += added > 0 ? (size_t)added : 0;
    }
    cli_say("warning: %s%s%s%s", cli_json_text(cli_json_get(finding, "message")), n ? " (" : "", place, n ? ")" : "");
}

/* A plan that goes into a file is not read at once: what speaks against it is said as a load would say it. */
static void say_warnings(const struct cli *cli, const tn_document *plan)
{
    size_t length;
    struct cli_json_doc doc;
    if (cli->values.quiet) return;
    const char *text = tn_document_text(plan, &length);
    cli_json_parse(&doc, text, length);
    for (const struct cli_json *f = cli_json_first(cli_json_get(doc.root, "findings")); f; f = f->next)
        if (cli_json_text_is(cli_json_get(f, "severity"), "warning")) say_warning(f);
    cli_json_release(&doc);
}

int cli_plan(struct cli *cli)
{
    tn_plan_options options;
    tn_plan *plan = NULL;
    tn_document *document = NULL;
    tn_status status = cli_open_for_task(cli, false, &options);
    if (status == TN_OK) status = cli_make_plan(cli, options.task, &plan);
    if (status == TN_OK) status = tn_plan_json(plan, &document, cli->err);
    if (status == TN_OK) say_warnings(cli, document);
    int code = status == TN_OK ? cli_print_document(cli, document, cli_view_plan) : cli_fail_any(cli, status);
    tn_plan_free(plan);
    return code;
}
