/*
 * Errors in both forms. The library's error and the program's own problems become the same JSON object; the human form is
 * made from that object, so the two cannot say different things.
 */
#include "app.h"

#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_say(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    char *clean = cli_safe_copy(text, strlen(text));
    fprintf(stderr, "tenon: %s\n", clean);
    free(clean);
}

tn_status cli_refuse(struct cli *cli, tn_status code, const char *option, const char *format, ...)
{
    va_list args;
    memset(&cli->problem, 0, sizeof(cli->problem));
    cli->problem.code = code;
    cli->problem.option = option;
    va_start(args, format);
    vsnprintf(cli->problem.message, sizeof(cli->problem.message), format, args);
    va_end(args);
    return code;
}

/* ---- the JSON object ---- */

struct text {
    char *s;
    size_t n, cap;
};

static void put(struct text *t, const char *s)
{
    size_t n = strlen(s);
    while (t->cap - t->n < n + 1) {
        t->cap = t->cap ? cli_product(t->cap, 2) : 512;
        t->s = cli_realloc(t->s, t->cap);
    }
    memcpy(t->s + t->n, s, n + 1);
    t->n += n;
}

/* Problems quote what was typed, which may be any bytes: cleaned first, so that only quotes need an escape. */
static void put_member(struct text *t, const char *name, const char *value)
{
    put(t, ", \"");
    put(t, name);
    put(t, "\": ");
    if (!*value) {
        put(t, "null");
        return;
    }
    char *clean = cli_safe_copy(value, strlen(value)), one[2] = {0};
    put(t, "\"");
    for (const char *c = clean; *c; c++) {
        if (*c == '"' || *c == '\\') put(t, "\\");
        one[0] = *c;
        put(t, one);
    }
    put(t, "\"");
    free(clean);
}

static char *problem_json(const struct cli_problem *p)
{
    struct text t = {0};
    bool retryable = p->code == TN_DEADLINE_EXCEEDED || p->code == TN_CANCELLED;
    put(&t, "{\"code\": \"");
    put(&t, tn_status_name(p->code));
    put(&t, "\", \"phase\": \"request\"");
    put_member(&t, "message", p->message);
    put(&t, ", \"where\": {");
    if (p->option && *p->option) {
        struct text where = {0};
        put_member(&where, "option", p->option);
        put(&t, where.s + 2);
        free(where.s);
    }
    put(&t, "}");
    put_member(&t, "found", p->found);
    put_member(&t, "expected", p->expected);
    put_member(&t, "remedy", p->remedy);
    put(&t, retryable ? ", \"retryable\": true" : ", \"retryable\": false");
    put(&t, ", \"findings\": [], \"dropped_findings\": 0}");
    return t.s;
}

/* The library has no memory left to write its error as a document: what its getters say must do. */
static char *getters_json(const tn_error *err, tn_status status)
{
    struct cli_problem p = {.code = status, .option = err ? tn_error_element(err) : ""};
    snprintf(p.message, sizeof(p.message), "%s", err ? tn_error_message(err) : tn_status_name(status));
    snprintf(p.found, sizeof(p.found), "%s", err ? tn_error_found(err) : "");
    snprintf(p.expected, sizeof(p.expected), "%s", err ? tn_error_expected(err) : "");
    snprintf(p.remedy, sizeof(p.remedy), "%s", err ? tn_error_remedy(err) : "");
    return problem_json(&p);
}

char *cli_error_json(struct cli *cli, tn_status status)
{
    if (cli->problem.code != TN_OK) return problem_json(&cli->problem);
    size_t n = cli->err && tn_error_code(cli->err) != TN_OK ? tn_error_json(cli->err, NULL, 0) : 0;
    if (n == 0) return getters_json(cli->err, status);
    char *text = cli_alloc(n + 1);
    tn_error_json(cli->err, text, n + 1);
    return text;
}

/* ---- the human form ---- */

static void show_where(struct cli_view *v, const struct cli_json *where)
{
    struct text t = {0};
    put(&t, "");
    for (const struct cli_json *m = cli_json_first(where); m; m = m->next) {
        if (m != where->first) put(&t, ", ");
        put(&t, m->key);
        put(&t, " ");
        put(&t, cli_json_text(m));
    }
    cli_view_field(v, "where", t.s);
    free(t.s);
}

static void show_members(struct cli_view *v, const struct cli_json *error)
{
    show_where(v, cli_json_get(error, "where"));
    cli_view_field(v, "found", cli_json_text(cli_json_get(error, "found")));
    cli_view_field(v, "expected", cli_json_text(cli_json_get(error, "expected")));
    cli_view_field(v, "remedy", cli_json_text(cli_json_get(error, "remedy")));
}

/* The primary error is also the first of its findings. */
static bool is_primary(const struct cli_json *error, const struct cli_json *finding)
{
    return cli_json_text_is(cli_json_get(finding, "code"), cli_json_text(cli_json_get(error, "code"))) &&
           cli_json_text_is(cli_json_get(finding, "message"), cli_json_text(cli_json_get(error, "message")));
}

static void show_headline(struct cli_view *v, const char *before, const struct cli_json *error)
{
    struct text t = {0};
    const struct cli_json *code = cli_json_get(error, "code");
    put(&t, before);
    if (!cli_json_text_is(code, "ok")) put(&t, cli_json_text(code)); /* a plain note has no code */
    if (!cli_json_text_is(code, "ok")) put(&t, ": ");
    put(&t, cli_json_text(cli_json_get(error, "message")));
    char *clean = cli_safe_copy(t.s, t.n);
    cli_view_text(v, 0, clean);
    free(clean);
    free(t.s);
}

void cli_show_error(const char *json)
{
    static struct cli_out out; /* too large for a stack that a test may limit */
    struct cli_view view;
    struct cli_json_doc doc;
    cli_out_init(&out, STDERR_FILENO);
    cli_view_init(&view, &out);
    if (!cli_json_parse(&doc, json, strlen(json))) {
        cli_out_format(&out, "tenon: %s\n", json);
    } else {
        show_headline(&view, "tenon: ", doc.root);
        show_members(&view, doc.root);
        bool skipped = false;
        for (const struct cli_json *f = cli_json_first(cli_json_get(doc.root, "findings")); f; f = f->next) {
            if (!skipped && is_primary(doc.root, f)) {
                skipped = true;
                continue;
            }
            struct text t = {0};
            put(&t, "and ");
            put(&t, cli_json_text(cli_json_get(f, "severity")));
            put(&t, cli_json_text_is(cli_json_get(f, "code"), "ok") ? ": " : " ");
            show_headline(&view, t.s, f);
            show_members(&view, f);
            free(t.s);
        }
        uint64_t dropped = 0;
        if (cli_json_u64(cli_json_get(doc.root, "dropped_findings"), &dropped) && dropped > 0)
            cli_out_format(&out, "and %llu more\n", (unsigned long long)dropped);
    }
    cli_out_flush(&out);
    cli_json_release(&doc);
}

/* ---- reporting ---- */

static int report(struct cli *cli, tn_status status)
{
    char *json = cli_error_json(cli, status);
    if (cli->values.json) {
        cli_out_text(&cli->out, "{\"error\": ");
        cli_out_text(&cli->out, json);
        cli_out_text(&cli->out, "}\n");
    } else {
        cli_out_flush(&cli->out);
        cli_show_error(json);
    }
    free(json);
    return tn_status_exit_code(status);
}

/* A load or a batch that was told to stop says "cancelled"; why it was told is known here. */
static void name_the_cause(struct cli *cli, tn_status status)
{
    if (status == TN_CANCELLED && cli_signal() != 0 && cli->problem.code == TN_OK) cli_stopped(cli);
}

int cli_fail_any(struct cli *cli, tn_status status)
{
    name_the_cause(cli, status);
    return report(cli, cli->problem.code != TN_OK ? cli->problem.code : status);
}

int cli_fail(struct cli *cli, tn_status status)
{
    memset(&cli->problem, 0, sizeof(cli->problem));
    return cli_fail_any(cli, status);
}

int cli_fail_problem(struct cli *cli)
{
    return report(cli, cli->problem.code);
}
