/*
 * tenon, the command. It uses the public header alone and keeps three promises to its caller: results go to standard
 * output and everything else to standard error; the exit code says what happened; a result that could not be written is
 * a failure.
 */
#define _XOPEN_SOURCE 700
#include "app.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <unistd.h>

static int (*const verbs[CLI_VERB_COUNT])(struct cli *) = {
    [CLI_INSPECT] = cli_inspect, [CLI_DESCRIBE] = cli_describe, [CLI_VALIDATE] = cli_validate,
    [CLI_CHECK] = cli_check,       [CLI_PLAN] = cli_plan,       [CLI_EMBED] = cli_embed,
    [CLI_RERANK] = cli_rerank,     [CLI_CLASSIFY] = cli_classify, [CLI_TAG] = cli_tag,
    [CLI_FILL] = cli_fill,         [CLI_ANSWER] = cli_answer,   [CLI_RUN] = cli_run,
    [CLI_TENSOR] = cli_tensor,     [CLI_GRAPH] = cli_graph,
    [CLI_TOKENIZE] = cli_tokenize, [CLI_COMPARE] = cli_compare, [CLI_QUALIFY] = cli_qualify, [CLI_RECORDS] = cli_records, [CLI_DOCTOR] = cli_doctor,
    [CLI_FAMILIES] = cli_families, [CLI_TASKS] = cli_tasks,     [CLI_SCHEMA] = cli_schema, [CLI_HELP] = cli_help,
};

/*
 * A closed standard stream would be given to the next file that is opened, and output would go into it. Read-only
 * stand-ins let writing fail visibly instead.
 */
static void guard_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
    }
}

static int show_version(struct cli *cli)
{
    cli_out_format(&cli->out, cli->values.json ? "{\"version\": \"%s\"}\n" : "tenon %s\n", tn_version());
    return 0;
}

int main(int argc, char **argv)
{
    static struct cli cli; /* holds an output buffer: too large for a small stack */
    guard_standard_streams();
    signal(SIGPIPE, SIG_DFL); /* a reader that has seen enough ends us quietly, whatever the parent ignores */
    setlocale(LC_CTYPE, "");  /* for character widths; numbers stay as they are in "C" */
    cli_begin(&cli);
    int code;
    if (!cli_parse(argc > 0 ? argc - 1 : 0, (const char *const *)argv + 1, &cli.values, &cli.problem)) {
        code = cli_fail_problem(&cli);
    } else if (cli.values.version) {
        code = show_version(&cli);
    } else if (cli.values.help || cli.values.verb == CLI_HELP) {
        code = cli_help(&cli);
    } else if (!cli_hint_is_usable(&cli)) {
        code = cli_fail_problem(&cli);
    } else {
        code = verbs[cli.values.verb](&cli);
    }
    return cli_end(&cli, code);
}
