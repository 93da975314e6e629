/* doctor, families, tasks: what this build and this machine have. No package is involved. */
#include "app.h"
#include "views.h"

typedef tn_status (*ask_fn)(tn_runtime *runtime, tn_document **out, tn_error *err);

static int ask(struct cli *cli, ask_fn function, cli_view_fn view)
{
    tn_document *document = NULL;
    tn_status status = cli_open_runtime(cli, true);
    if (status == TN_OK) status = function(cli->runtime, &document, cli->err);
    return status == TN_OK ? cli_print_document(cli, document, view) : cli_fail_any(cli, status);
}

int cli_doctor(struct cli *cli)
{
    if (cli->values.capabilities) return ask(cli, tn_capabilities, cli_view_capabilities);
    return ask(cli, tn_doctor, cli_view_doctor);
}

int cli_families(struct cli *cli)
{
    return ask(cli, tn_families, cli_view_families);
}

int cli_tasks(struct cli *cli)
{
    return ask(cli, tn_tasks, cli_view_tasks);
}
