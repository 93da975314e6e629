/*
 * What every verb shares: the runtime and package handles, options turned into the library's structs, errors in both
 * forms, signals and the clock. A verb is a function `int cli_VERB(struct cli *)` that returns the exit code; whatever
 * it opened through here is released by cli_end.
 */
#ifndef CLI_APP_H
#define CLI_APP_H

#include "json.h"
#include "options.h"
#include "out.h"
#include "view.h"

#include <tenon/tenon.h>

enum { CLI_SAID = 64 }; /* warnings that are remembered in order not to be said again */

enum { CLI_EXIT_FAILED = 1, CLI_EXIT_USAGE = 2, CLI_EXIT_REFUSED = 3, CLI_EXIT_SOME_FAILED = 6 };

struct cli {
    struct cli_values values;
    struct cli_out out;   /* standard output */
    struct cli_view view; /* of it */
    uint64_t begun_ns;
    tn_error *err;
    tn_runtime *runtime;
    tn_cancel_token *cancel;
    tn_package *package;
    struct cli_problem problem; /* a failure of our own */
    char *hints_text;           /* of --hints */
    tn_document *plan_text;     /* of --plan once it was accepted, with its choices */
    struct cli_json_doc plan_doc;
    tn_plan *plan_read; /* of --plan, read before it is asked for */
    _Atomic uint64_t said[CLI_SAID]; /* digests of warnings; the library may log from any thread */
};

void cli_begin(struct cli *cli);
/* Releases everything and flushes; returns the exit code, which becomes 1 when output could not be written. */
int cli_end(struct cli *cli, int code);

/* ---- errors: each prints the error in the form that was asked for, and returns the exit code ---- */

/* What the last failing library call left in cli->err. */
int cli_fail(struct cli *cli, tn_status status);
/* What cli->problem holds. */
int cli_fail_problem(struct cli *cli);
/* Fills cli->problem; the message is printf-like. Returns its status. */
tn_status cli_refuse(struct cli *cli, tn_status code, const char *option, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Either: cli->problem when it is filled, else cli->err. */
int cli_fail_any(struct cli *cli, tn_status status);
/* The error as a JSON object (free); of cli->problem when it is filled, else of cli->err. */
char *cli_error_json(struct cli *cli, tn_status status);
/* The human form of an error object. */
void cli_show_error(const char *json);
/* One line on standard error. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- steps: TN_OK, or a status for cli_fail_any ---- */

/* The runtime. `limited`: --memory-limit bounds everything, not only the plan. */
tn_status cli_open_runtime(struct cli *cli, bool limited);
/* The runtime and the package that the first operand names. */
tn_status cli_open_package(struct cli *cli, bool limited);
/* The options of a plan, from the command line, or from the plan that --plan names. Valid as long as cli. */
tn_status cli_plan_options(struct cli *cli, const char *task, tn_plan_options *out);
/* Whether a task that was asked for, NULL: none was, is that of the plan. */
tn_status cli_check_planned(struct cli *cli, const char *task, const char *planned);
/* The plan: the one of --plan, which must be for the task, or a new one. `task` NULL: that of --plan. */
tn_status cli_make_plan(struct cli *cli, const char *task, tn_plan **out);
/* Reads --plan and names the task that it is for; the next cli_make_plan gives that plan. Valid while `cli` is. */
tn_status cli_plan_task(struct cli *cli, const char **task);
/* For verbs that neither make nor run a plan: --plan must still fit the package, and hints must be hints. */
tn_status cli_check_unused(struct cli *cli);
/* Whether --hint, if given, is a JSON object; else cli->problem says so. */
bool cli_hint_is_usable(struct cli *cli);
/* Whole file, or standard input for "-", into *text (free), NUL-terminated. */
tn_status cli_read_file(struct cli *cli, const char *option, const char *path, char **text, size_t *length);
/* The same for a document that is to be judged: one over the library's limit comes cut behind it, to be refused there. */
tn_status cli_read_document(struct cli *cli, const char *option, const char *path, char **text, size_t *length);

/* Prints a document as it is with --json, else through a view; frees it. Returns 0 or the exit code of a failure. */
typedef void (*cli_view_fn)(struct cli_view *v, const struct cli_json *root);
int cli_print_document(struct cli *cli, tn_document *document, cli_view_fn view);

/* ---- signals and time ---- */

/* From now on the first SIGINT, SIGTERM, SIGHUP and the end of --timeout ask the work to stop; a second one kills. */
tn_status cli_watch_signals(struct cli *cli);
/* Before the cancel token is freed. */
void cli_forget_signals(void);
/* The signal that was seen, SIGALRM for the end of --timeout, 0: none. */
int cli_signal(void);
/* Status of an interrupted wait: fills cli->problem. */
tn_status cli_stopped(struct cli *cli);
uint64_t cli_now_ns(void);
/* What is left of --timeout, at least 1; 0: there is no limit. */
uint32_t cli_remaining_ms(const struct cli *cli);

/* ---- progress: a bar on standard error when a terminal watches something that takes longer than half a second ---- */

struct cli_progress {
    bool on, bytes, shown;
    const char *what;
    uint64_t begun_ns, drawn_ns;
};
void cli_progress_begin(struct cli_progress *p, const struct cli *cli, const char *what, bool bytes);
/* total 0: not known. */
void cli_progress_update(struct cli_progress *p, uint64_t done, uint64_t total);
void cli_progress_end(struct cli_progress *p);

/* ---- verbs ---- */

int cli_inspect(struct cli *cli);
int cli_describe(struct cli *cli);
int cli_validate(struct cli *cli);
int cli_check(struct cli *cli);
int cli_plan(struct cli *cli);
int cli_embed(struct cli *cli);
int cli_rerank(struct cli *cli);
int cli_classify(struct cli *cli);
int cli_tag(struct cli *cli);
int cli_fill(struct cli *cli);
int cli_answer(struct cli *cli);
int cli_tensor(struct cli *cli);
int cli_graph(struct cli *cli);
int cli_run(struct cli *cli);
int cli_tokenize(struct cli *cli);
int cli_compare(struct cli *cli);
int cli_qualify(struct cli *cli);
int cli_records(struct cli *cli);
int cli_doctor(struct cli *cli);
int cli_families(struct cli *cli);
int cli_tasks(struct cli *cli);
int cli_schema(struct cli *cli);
int cli_help(struct cli *cli);
/* shell: "bash", "zsh" or "fish" */
void cli_completion(struct cli_out *o, const char *shell);

#endif
