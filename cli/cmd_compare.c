/* compare: two providers, one question. */
#include "app.h"
#include "ports.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct comparison {
    struct cli_ports ports;
    tn_tensor_request tensors;
    char *request;
    tn_plan_options plan;
    tn_compare_options options;
};

static tn_status refuse_missing(struct cli *cli, const char *option, const char *expected)
{
    cli_refuse(cli, TN_INVALID_REQUEST, option, "--%s is missing", option);
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "%s", expected);
    return cli->problem.code;
}

static tn_status check(struct cli *cli)
{
    const struct cli_values *v = &cli->values;
    if (!v->providers) return refuse_missing(cli, "providers", "--providers A,B, e.g. native,onnxruntime; the second one is the reference");
    if (v->input_count == 0) return refuse_missing(cli, "input", "--input NAME=VALUE of a graph, or --task TASK and --input REQUEST.json");
    if (!v->provider) return TN_OK;
    cli_refuse(cli, TN_INVALID_REQUEST, "provider", "--provider cannot be given to compare, which takes two");
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "--providers A,B");
    return cli->problem.code;
}

/* A request of the task's own form, or the tensors of a graph. */
static tn_status read_request(struct cli *cli, struct comparison *c, const char *task)
{
    const struct cli_values *v = &cli->values;
    if (strcmp(task, "tensor") == 0 && (v->input_count > 1 || strchr(v->inputs[0], '='))) {
        tn_status status = cli_ports_read(cli, &c->ports);
        c->tensors = TN_INIT(tn_tensor_request);
        c->tensors.inputs = c->ports.inputs;
        c->tensors.count = c->ports.count;
        c->options.tensors = &c->tensors;
        return status;
    }
    if (v->input_count > 1) return cli_refuse(cli, TN_INVALID_REQUEST, "input", "--input is given twice");
    tn_status status = cli_read_file(cli, "input", v->inputs[0], &c->request, &c->options.request_length);
    c->options.request = c->request;
    return status;
}

static tn_status compare(struct cli *cli, struct comparison *c, int *agree, tn_document **out)
{
    const struct cli_values *v = &cli->values;
    const char *task = v->task ? v->task : "tensor";
    tn_status status = v->plan && !v->task ? cli_plan_task(cli, &task) : TN_OK;
    c->options = TN_INIT(tn_compare_options);
    if (status == TN_OK) status = cli_plan_options(cli, task, &c->plan);
    if (status == TN_OK) status = read_request(cli, c, task);
    if (status != TN_OK) return status;
    c->options.plan = &c->plan;
    c->options.providers = v->providers;
    c->options.absolute = v->absolute;
    c->options.relative = v->relative;
    c->options.layers = v->layers;
    c->options.record = v->record;
    c->options.cancel = cli->cancel;
    c->options.timeout_ms = cli_remaining_ms(cli);
    return tn_compare(cli->package, &c->options, agree, out, cli->err);
}

int cli_compare(struct cli *cli)
{
    struct comparison c = {.request = NULL};
    tn_document *document = NULL;
    int agree = 0;
    tn_status status = check(cli);
    if (status == TN_OK) status = cli_open_package(cli, true);
    if (status == TN_OK) status = cli_watch_signals(cli);
    if (status == TN_OK) status = compare(cli, &c, &agree, &document);
    cli_ports_release(&c.ports);
    free(c.request);
    if (status != TN_OK) return cli_fail_any(cli, status);
    int code = cli_print_document(cli, document, cli_view_comparison);
    return code ? code : agree ? 0 : CLI_EXIT_FAILED;
}
