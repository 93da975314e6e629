#define _XOPEN_SOURCE 700
#include "state.h"

#include "beside.h"
#include "memory.h"
#include "npy_tensor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---- */

static bool is_safe(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

static bool is_taken(char *const *taken, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const char *a = taken[i], *b = name;
        while (*a && (*a | 32) == (*b | 32)) a++, b++;
        if (!*a && !*b) return true;
    }
    return false;
}

enum { NAME_BYTES = 200, END_BYTES = 40 };

char *cli_safe_name(tn_string name, const char *end, char *const *taken, size_t count)
{
    char *out = cli_alloc(NAME_BYTES + END_BYTES);
    size_t n = name.length < NAME_BYTES ? name.length : NAME_BYTES;
    for (size_t i = 0; i < n; i++) out[i] = is_safe(name.data[i]) && (i || name.data[i] != '.') ? name.data[i] : '_';
    if (n == 0) out[n++] = '_';
    snprintf(out + n, END_BYTES, "%s", end);
    for (unsigned k = 2; is_taken(taken, count, out); k++) snprintf(out + n, END_BYTES, "_%u%s", k, end);
    return out;
}

tn_status cli_make_folder(struct cli *cli, const char *option, const char *folder)
{
    struct stat st;
    int reason = 0;
    if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode)) reason = ENOTDIR;
    else if (stat(folder, &st) != 0 && mkdir(folder, 0777) != 0) reason = errno;
    if (!reason) return TN_OK;
    cli_refuse(cli, TN_INVALID_REQUEST, option, "the folder %.200s cannot be made", folder);
    snprintf(cli->problem.found, sizeof(cli->problem.found), "%s", strerror(reason));
    return TN_INVALID_REQUEST;
}

/* ---- the folder ---- */

#define NEXT ".next"
#define MARK ".whole"

struct state {
    struct cli *cli;
    const char *folder;
    const tn_port_value *values;
    size_t count;
    char **names;                 /* [count] of files */
    struct cli_npy_tensor *files; /* [count] */
    tn_port_value *read;          /* [count] */
};

static char *path_of(const struct state *s, const char *name, const char *end)
{
    size_t n = strlen(s->folder) + strlen(name) + strlen(end) + 2;
    char *path = cli_alloc(n);
    snprintf(path, n, "%s/%s%s", s->folder, name, end);
    return path;
}

static bool is_there(const struct state *s, const char *name)
{
    char *path = path_of(s, name, "");
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static tn_status cannot(struct state *s, const char *what, const char *name, int reason)
{
    cli_refuse(s->cli, TN_RUNTIME_FAILURE, "state", "cannot %s %.100s in %.150s", what, name, s->folder);
    snprintf(s->cli->problem.found, sizeof(s->cli->problem.found), "%s", strerror(reason));
    return TN_RUNTIME_FAILURE;
}

static tn_status begin(struct state *s, struct cli *cli, const char *folder, tn_sequence *sequence)
{
    *s = (struct state){.cli = cli, .folder = folder};
    tn_status status = tn_sequence_get(sequence, &s->values, &s->count, cli->err);
    if (status != TN_OK) return status;
    s->names = cli_alloc_zero(cli_product(s->count + 1, sizeof(*s->names)));
    s->files = cli_alloc_zero(cli_product(s->count + 1, sizeof(*s->files)));
    s->read = cli_alloc_zero(cli_product(s->count + 1, sizeof(*s->read)));
    for (size_t i = 0; i < s->count; i++) s->names[i] = cli_safe_name(s->values[i].name, ".npy", s->names, i);
    return TN_OK;
}

static void end(struct state *s)
{
    for (size_t i = 0; s->names && i < s->count; i++) {
        free(s->names[i]);
        cli_npy_release(&s->files[i]);
    }
    free(s->names);
    free(s->files);
    free(s->read);
}

/* New files that are whole take their places; the others are leftovers of a run that did not get so far. */
static tn_status take_over(struct state *s)
{
    bool whole = is_there(s, MARK);
    int reason = 0;
    size_t i = 0;
    for (; !reason && i < s->count; i++) {
        char *from = path_of(s, s->names[i], NEXT), *to = path_of(s, s->names[i], "");
        if (whole && rename(from, to) != 0 && errno != ENOENT) reason = errno;
        else if (!whole && unlink(from) != 0 && errno != ENOENT) reason = errno;
        free(from);
        free(to);
    }
    if (reason) return cannot(s, "replace", s->names[i - 1], reason);
    char *mark = path_of(s, MARK, "");
    if (whole && unlink(mark) != 0) reason = errno;
    free(mark);
    return reason ? cannot(s, "remove", MARK, reason) : TN_OK;
}

static tn_status refuse_half(struct state *s, size_t missing)
{
    cli_refuse(s->cli, TN_INVALID_REQUEST, "state", "%.150s holds some states and not others", s->folder);
    snprintf(s->cli->problem.found, sizeof(s->cli->problem.found), "no %.100s", s->names[missing]);
    snprintf(s->cli->problem.expected, sizeof(s->cli->problem.expected), "all %zu files, or none to begin anew", s->count);
    return TN_INVALID_REQUEST;
}

static tn_status read_all(struct state *s, tn_sequence *sequence)
{
    size_t there = 0, missing = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (is_there(s, s->names[i])) there++;
        else missing = i;
    }
    if (there == 0) return TN_OK;
    if (there < s->count) return refuse_half(s, missing);
    tn_status status = TN_OK;
    for (size_t i = 0; status == TN_OK && i < s->count; i++) {
        char *path = path_of(s, s->names[i], "");
        status = cli_npy_read(s->cli, "state", path, &s->files[i]);
        s->read[i] = s->files[i].value;
        s->read[i].name = s->values[i].name;
        free(path);
    }
    return status == TN_OK ? tn_sequence_set(sequence, s->read, s->count, s->cli->err) : status;
}

tn_status cli_state_load(struct cli *cli, const char *folder, tn_sequence *sequence)
{
    struct state s;
    tn_status status = cli_make_folder(cli, "state", folder);
    if (status == TN_OK) status = begin(&s, cli, folder, sequence);
    if (status != TN_OK) return status;
    status = take_over(&s);
    if (status == TN_OK) status = read_all(&s, sequence);
    end(&s);
    return status;
}

tn_status cli_state_save(struct cli *cli, const char *folder, tn_sequence *sequence)
{
    struct state s;
    tn_status status = begin(&s, cli, folder, sequence);
    if (status != TN_OK) return status;
    for (size_t i = 0; status == TN_OK && i < s.count; i++) {
        char *path = path_of(&s, s.names[i], NEXT);
        int reason = cli_npy_holds(&s.values[i]) ? cli_npy_write(path, &s.values[i]) : EINVAL;
        if (reason) status = cannot(&s, "write", s.names[i], reason);
        free(path);
    }
    char *mark = path_of(&s, MARK, "");
    int reason = status == TN_OK ? cli_write_whole(mark, "", 0) : 0;
    if (reason) status = cannot(&s, "write", MARK, reason);
    free(mark);
    if (status == TN_OK) status = take_over(&s);
    else if (!is_there(&s, MARK)) (void)take_over(&s); /* removes what was begun */
    end(&s);
    return status;
}
