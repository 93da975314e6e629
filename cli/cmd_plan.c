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
    if (status != TN_OK || !task || strcmp(options->task, task) == 0) return status;
    cli_refuse(cli, TN_INVALID_REQUEST, "task", "--task and --plan name different tasks");
    snprintf(cli->problem.found, sizeof(cli->problem.found), "%s and %s", task, options->task);
    return cli->problem.code;
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

int cli_plan(struct cli *cli)
{
    tn_plan_options options;
    tn_plan *plan = NULL;
    tn_document *document = NULL;
    tn_status status = cli_open_for_task(cli, false, &options);
    if (status == TN_OK) status = cli_make_plan(cli, options.task, &plan);
    if (status == TN_OK) status = tn_plan_json(plan, &document, cli->err);
    int code = status == TN_OK ? cli_print_document(cli, document, cli_view_plan) : cli_fail_any(cli, status);
    tn_plan_free(plan);
    return code;
}
