/*
 * Signals and the clock. A handler only sets a flag and asks the cancel token, which the library allows; everything
 * else polls. The one global of the program is here, because a handler has no other way to reach anything.
 */
#define _XOPEN_SOURCE 700
#include "app.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t seen;
static tn_cancel_token *volatile asked;

static void on_signal(int number)
{
    struct sigaction plain;
    memset(&plain, 0, sizeof(plain));
    plain.sa_handler = SIG_DFL;
    if (seen == 0) seen = number;
    if (asked) tn_cancel_token_request(asked);
    if (number != SIGALRM) sigaction(number, &plain, NULL); /* the next one kills */
}

tn_status cli_watch_signals(struct cli *cli)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    tn_status status = tn_cancel_token_new(cli->runtime, &cli->cancel, cli->err);
    if (status != TN_OK) return status;
    asked = cli->cancel;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction action, before;
        memset(&action, 0, sizeof(action));
        action.sa_handler = on_signal;
        action.sa_flags = SA_RESTART;
        /* What the parent ignores (nohup, background jobs) stays ignored. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN && numbers[i] != SIGALRM)
            continue;
        sigaction(numbers[i], &action, NULL);
    }
    uint64_t ms = cli_remaining_ms(cli);
    if (ms > 0) {
        struct itimerval timer = {.it_value = {.tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000 * 1000)}};
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    return TN_OK;
}

void cli_forget_signals(void)
{
    asked = NULL;
}

int cli_signal(void)
{
    return seen;
}

tn_status cli_stopped(struct cli *cli)
{
    if (seen == SIGALRM) {
        return cli_refuse(cli, TN_DEADLINE_EXCEEDED, "timeout", "not finished after %llu ms",
                          (unsigned long long)cli->values.timeout_ms);
    }
    return cli_refuse(cli, TN_CANCELLED, "", "interrupted");
}

uint64_t cli_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint32_t cli_remaining_ms(const struct cli *cli)
{
    uint64_t passed = (cli_now_ns() - cli->begun_ns) / 1000000;
    if (cli->values.timeout_ms == 0) return 0;
    return passed < cli->values.timeout_ms ? (uint32_t)(cli->values.timeout_ms - passed) : 1;
}
