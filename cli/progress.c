/* The progress bar: standard error, terminals only, after half a second, ten times a second, removed at the end. */
#define _XOPEN_SOURCE 700
#include "app.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 30 };

void cli_progress_begin(struct cli_progress *p, const struct cli *cli, const char *what, bool bytes)
{
    *p = (struct cli_progress){.on = !cli->values.quiet && isatty(STDERR_FILENO), .bytes = bytes, .what = what};
    p->begun_ns = p->drawn_ns = cli_now_ns();
}

void cli_progress_update(struct cli_progress *p, uint64_t done, uint64_t total)
{
    char line[160], bar[BAR + 1], size[32], whole[32];
    uint64_t now = p->on ? cli_now_ns() : 0;
    if (!p->on || now - p->begun_ns < 500000000u || (p->shown && now - p->drawn_ns < 100000000u)) return;
    size_t filled = total ? (size_t)((double)(done < total ? done : total) / (double)total * BAR) : 0;
    memset(bar, '-', BAR);
    memset(bar, '#', filled);
    bar[BAR] = 0;
    if (p->bytes) {
        snprintf(line, sizeof(line), "%s of %s", cli_size_text(size, done), cli_size_text(whole, total));
    } else if (total) {
        snprintf(line, sizeof(line), "%llu of %llu", (unsigned long long)done, (unsigned long long)total);
    } else {
        snprintf(line, sizeof(line), "%llu", (unsigned long long)done);
    }
    if (total) {
        fprintf(stderr, "\r\033[K%s [%s] %s", p->what, bar, line);
    } else {
        fprintf(stderr, "\r\033[K%s %s", p->what, line);
    }
    fflush(stderr);
    p->drawn_ns = now;
    p->shown = true;
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    p->shown = false;
}
