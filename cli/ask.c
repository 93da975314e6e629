#include "ask.h"

#include <string.h>

enum { POLL_MS = 50 };

static void on_load(void *user, uint64_t done, uint64_t total)
{
    cli_progress_update(user, done, total);
}

tn_status cli_ask_load(struct cli *cli, const char *task, tn_session **session)
{
    tn_load_options options = TN_INIT(tn_load_options);
    struct cli_progress progress;
    tn_plan *plan = NULL;
    tn_status status = cli_make_plan(cli, task, &plan);
    if (status != TN_OK) return status;
    cli_progress_begin(&progress, cli, "loading", true);
    options.cancel = cli->cancel;
    options.timeout_ms = cli_remaining_ms(cli);
    options.progress = on_load;
    options.progress_user = &progress;
    status = tn_session_load(plan, &options, session, cli->err);
    cli_progress_end(&progress);
    tn_plan_free(plan);
    return status;
}

tn_status cli_ask_follow(struct cli *cli, tn_execution *x, cli_item_fn on_item, void *user)
{
    bool told = false;
    for (;;) {
        tn_event event;
        memset(&event, 0, sizeof(event));
        tn_status status = tn_execution_next(x, POLL_MS, &event, cli->err);
        if (status != TN_OK) return status;
        if (event.kind == TN_EVENT_TERMINAL) return event.status;
        if (event.kind == TN_EVENT_ITEM) status = on_item(user, &event);
        if (status != TN_OK) return status;
        if (cli_signal() != 0 && !told) tn_execution_cancel(x);
        told = cli_signal() != 0;
    }
}

tn_status cli_ask_account(struct cli *cli, tn_execution *x, struct cli_account *account)
{
    tn_document *document = NULL;
    tn_status status = tn_execution_drain(x, UINT32_MAX, cli->err);
    if (status == TN_OK) status = tn_execution_account(x, &document, cli->err);
    if (status != TN_OK) return status;
    const char *fault = cli_account_add(account, document);
    return fault ? cli_refuse(cli, TN_RUNTIME_FAILURE, "", "the account cannot be read: %s", fault) : TN_OK;
}

void cli_ask_ran_as(struct cli_view *v, const struct cli_json *account)
{
    cli_view_fieldf(v, "ran as", "%s %s on %s, family %s %s, %s arithmetic, weights stored as %s",
                    cli_json_text(cli_json_path(account, "provider.name")),
                    cli_json_text(cli_json_path(account, "provider.version")),
                    cli_json_text(cli_json_path(account, "provider.isa_class")),
                    cli_json_text(cli_json_path(account, "family.name")),
                    cli_json_text(cli_json_path(account, "family.version")),
                    cli_json_text(cli_json_path(account, "numeric.compute")),
                    cli_json_text(cli_json_path(account, "numeric.stored")));
    cli_view_field(v, "evidence", cli_json_text(cli_json_get(account, "evidence_level")));
}
