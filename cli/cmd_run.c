/* run: any task with its request as a JSON document; the result is one too. */
#include "ask.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tn_status count_item(void *user, const tn_event *event)
{
    *(uint64_t *)user += event->status != TN_OK;
    return TN_OK;
}

static void view_item(struct cli_view *v, const struct cli_json *item)
{
    cli_out_text(v->out, "\n");
    for (const struct cli_json *m = cli_json_first(item); m; m = m->next) {
        char *text = cli_json_line(m);
        cli_view_field(v, m->key, text);
        free(text);
    }
}

static void view_result(struct cli_view *v, const struct cli_json *root)
{
    cli_view_heading(v, cli_json_text(cli_json_get(root, "task")));
    for (const struct cli_json *m = cli_json_first(root); m; m = m->next) {
        if (m->type == CLI_JSON_OBJECT || m->type == CLI_JSON_ARRAY || strcmp(m->key, "task") == 0) continue;
        cli_view_field(v, m->key, cli_json_text(m));
    }
    for (const struct cli_json *item = cli_json_first(cli_json_get(root, "data")); item; item = item->next) view_item(v, item);
    cli_view_heading(v, "account");
    cli_ask_ran_as(v, cli_json_get(root, "account"));
}

static tn_status execute(struct cli *cli, const char *request, size_t length, uint64_t *failed, tn_document **result)
{
    tn_session *session = NULL;
    tn_execution *x = NULL;
    tn_status status = cli_ask_load(cli, cli->values.task, &session);
    if (status == TN_OK) status = tn_request_start(session, request, length, &x, cli->err);
    if (status == TN_OK) status = cli_ask_follow(cli, x, count_item, failed);
    if (status == TN_OK) status = tn_execution_drain(x, UINT32_MAX, cli->err);
    if (status == TN_OK) status = tn_execution_result(x, result, cli->err);
    tn_execution_free(x);
    tn_session_free(session);
    return status;
}

static tn_status refuse_missing(struct cli *cli, const char *option, const char *expected)
{
    cli_refuse(cli, TN_INVALID_REQUEST, option, "--%s is missing", option);
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "%s", expected);
    return cli->problem.code;
}

int cli_run(struct cli *cli)
{
    char *request = NULL;
    size_t length = 0;
    uint64_t failed = 0;
    tn_document *result = NULL;
    tn_status status = TN_OK;
    if (!cli->values.task && !cli->values.plan) status = refuse_missing(cli, "task", "--task TASK, or --plan FILE; `tenon tasks` lists the tasks");
    if (status == TN_OK && cli->values.input_count > 1)
        status = cli_refuse(cli, TN_INVALID_REQUEST, "input", "--input is given twice");
    if (status == TN_OK && cli->values.input_count == 0) status = refuse_missing(cli, "input", "--input REQUEST.json, - for standard input");
    if (status == TN_OK) status = cli_open_package(cli, true);
    if (status == TN_OK) status = cli_watch_signals(cli);
    if (status == TN_OK) status = cli_read_file(cli, "input", cli->values.inputs[0], &request, &length);
    if (status == TN_OK) status = execute(cli, request, length, &failed, &result);
    free(request);
    if (status != TN_OK) return cli_fail_any(cli, status);
    int code = cli_print_document(cli, result, view_result);
    return code ? code : failed ? CLI_EXIT_SOME_FAILED : 0;
}
