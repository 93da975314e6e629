/*
 * What verbs that run a task share: the session of a task, an execution pulled to its end, its account. A failure is in
 * cli->problem or cli->err, as everywhere.
 */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "account.h"
#include "app.h"

/* Plan and session for a task, with a bar while the weights come in. */
tn_status cli_ask_load(struct cli *cli, const char *task, tn_session **session);

/* An item of the request. Another status than TN_OK ends the pulling with it. */
typedef tn_status (*cli_item_fn)(void *user, const tn_event *event);
/* Pulls all events; a signal cancels. Returns the outcome. */
tn_status cli_ask_follow(struct cli *cli, tn_execution *x, cli_item_fn on_item, void *user);
/* Waits for the end of the work and adds its account. */
tn_status cli_ask_account(struct cli *cli, tn_execution *x, struct cli_account *account);

/* "role", "ran as", "evidence" of an account, for people. */
void cli_ask_ran_as(struct cli_view *v, const struct cli_json *account);

#endif
