/*
 * help: everything that explains the command line, made from the tables of options.c: overview, one verb, the same as
 * JSON, and the manual page.
 */
#include "app.h"

#include <stdio.h>
#include <string.h>

static const struct {
    int code;
    const char *what;
} exits[] = {{0, "done"},
             {1, "failed: something went wrong while running, or output could not be written"},
             {2, "usage, or a request that cannot be met"},
             {3, "refused: the package, its compatibility or its integrity"},
             {4, "resources or deadline"},
             {5, "policy"},
             {6, "some items failed, the others are there"},
             {130, "interrupted"}};

enum { EXITS = sizeof(exits) / sizeof(exits[0]) };

/* ---- for people ---- */

static void usage_line(struct cli_view *v, int verb)
{
    cli_out_format(v->out, "usage: tenon %s%s%s [OPTION...]\n", cli_verbs[verb].name,
                   cli_verbs[verb].operands[0] ? " " : "", cli_verbs[verb].operands);
}

static void option_table(struct cli_view *v, int verb, bool common)
{
    struct cli_table t;
    cli_table_begin(&t, "ll");
    cli_table_cell(&t, "option");
    cli_table_cell(&t, "what it does");
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *o = &cli_options[i];
        if (cli_option_is_common(o) != common || (verb != CLI_VERB_COUNT && !cli_option_takes(o, verb))) continue;
        cli_table_cellf(&t, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
        cli_table_cell(&t, o->help);
    }
    cli_table_print(&t, v);
}

/* Paragraphs are separated by an empty line. */
static void paragraphs(struct cli_view *v, const char *text)
{
    while (*text) {
        char one[1024];
        const char *end = strstr(text, "\n\n");
        size_t n = end ? (size_t)(end - text) : strlen(text);
        snprintf(one, sizeof(one), "%.*s", (int)n, text);
        cli_out_text(v->out, "\n");
        cli_view_text(v, 0, one);
        text += n + (end ? 2 : 0);
    }
}

static void lines(struct cli_view *v, const char *text, const char *before)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        cli_out_format(v->out, "%s%.*s\n", before, (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void help_verb(struct cli_view *v, int verb)
{
    const struct cli_verb *described = &cli_verbs[verb];
    usage_line(v, verb);
    cli_out_format(v->out, "\n%s: %s.\n", described->name, described->summary);
    paragraphs(v, described->description);
    bool own = false;
    for (size_t i = 0; i < cli_option_count; i++) own |= !cli_option_is_common(&cli_options[i]) && cli_option_takes(&cli_options[i], verb);
    if (own) cli_view_heading(v, "options");
    option_table(v, verb, false);
    cli_view_heading(v, "options of every verb");
    option_table(v, verb, true);
    cli_view_heading(v, "examples");
    lines(v, described->examples, "  ");
}

static void help_overview(struct cli_view *v)
{
    struct cli_table t;
    cli_out_text(v->out, "usage: tenon VERB [OPERAND...] [OPTION...]\n\n");
    cli_view_text(v, 0,
                  "tenon runs model packages in the conventions they come in. It finds out from evidence what a package is, "
                  "says what can run and why the rest cannot, plans, runs, and accounts for what ran.");
    cli_view_heading(v, "verbs");
    cli_table_begin(&t, "ll");
    cli_table_cell(&t, "verb");
    cli_table_cell(&t, "what it does");
    for (int i = 0; i < CLI_VERB_COUNT; i++) {
        cli_table_cellf(&t, "%s%s%s", cli_verbs[i].name, cli_verbs[i].operands[0] ? " " : "", cli_verbs[i].operands);
        cli_table_cell(&t, cli_verbs[i].summary);
    }
    cli_table_print(&t, v);
    cli_view_heading(v, "options of every verb");
    option_table(v, CLI_VERB_COUNT, true);
    cli_view_heading(v, "exit codes");
    cli_table_begin(&t, "rl");
    cli_table_cell(&t, "code");
    cli_table_cell(&t, "meaning");
    for (size_t i = 0; i < EXITS; i++) {
        cli_table_cellf(&t, "%d", exits[i].code);
        cli_table_cell(&t, exits[i].what);
    }
    cli_table_print(&t, v);
    cli_out_text(v->out, "\nPKG is a directory, a file, or a snapshot in a local Hugging Face cache; `--` ends options.\n"
                         "`tenon help VERB` explains one verb.\n");
}

/* ---- for programs ---- */

static void json_text(struct cli_out *o, const char *name, const char *text, const char *after)
{
    cli_out_format(o, "\"%s\": ", name);
    cli_out_json(o, text, strlen(text));
    cli_out_text(o, after);
}

static void json_option(struct cli_out *o, const struct cli_option *option)
{
    cli_out_text(o, "{");
    json_text(o, "name", option->name, ", \"value\": ");
    if (option->value) {
        cli_out_json(o, option->value, strlen(option->value));
    } else {
        cli_out_text(o, "null");
    }
    cli_out_format(o, ", \"repeatable\": %s, ", option->kind == CLI_LIST ? "true" : "false");
    json_text(o, "help", option->help, "}");
}

static void json_options(struct cli_out *o, int verb, bool common)
{
    bool first = true;
    cli_out_text(o, "\"options\": [");
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_options[i];
        if (cli_option_is_common(option) != common || (!common && !cli_option_takes(option, verb))) continue;
        cli_out_text(o, first ? "\n  " : ",\n  ");
        first = false;
        json_option(o, option);
    }
    cli_out_text(o, "]");
}

static void help_json(struct cli_out *o, int only)
{
    bool first = true;
    cli_out_text(o, "{");
    json_text(o, "version", tn_version(), ",\n\"verbs\": [");
    for (int i = 0; i < CLI_VERB_COUNT; i++) {
        const struct cli_verb *d = &cli_verbs[i];
        if (only != CLI_VERB_COUNT && only != i) continue;
        cli_out_text(o, first ? "\n {" : ",\n {");
        first = false;
        json_text(o, "name", d->name, ", ");
        json_text(o, "operands", d->operands, ", ");
        json_text(o, "summary", d->summary, ", ");
        json_text(o, "description", d->description, ", ");
        json_options(o, i, false);
        cli_out_text(o, "}");
    }
    cli_out_text(o, "],\n");
    json_options(o, CLI_VERB_COUNT, true);
    cli_out_text(o, ",\n\"exit_codes\": [");
    for (size_t i = 0; i < EXITS; i++) {
        cli_out_format(o, "%s\n  {\"code\": %d, ", i ? "," : "", exits[i].code);
        json_text(o, "meaning", exits[i].what, "}");
    }
    cli_out_text(o, "]}\n");
}

/* ---- the manual page ---- */

/* troff: a backslash and a dash are escaped, a line must not begin with a dot or an apostrophe. */
static void troff(struct cli_out *o, const char *text, size_t n)
{
    bool begins = true;
    for (size_t i = 0; i < n; i++) {
        if (begins && (text[i] == '.' || text[i] == '\'')) cli_out_text(o, "\\&");
        begins = text[i] == '\n';
        if (text[i] == '\\') {
            cli_out_text(o, "\\e");
        } else if (text[i] == '-') {
            cli_out_text(o, "\\-");
        } else if (text[i] == '~') {
            cli_out_text(o, "\\(ti");
        } else if (text[i] == '`') {
            cli_out_text(o, "\"");
        } else {
            cli_out_bytes(o, &text[i], 1);
        }
    }
}

static void troff_text(struct cli_out *o, const char *text)
{
    troff(o, text, strlen(text));
}

static void troff_option(struct cli_out *o, const struct cli_option *option)
{
    cli_out_text(o, ".TP\n\\fB\\-\\-");
    troff_text(o, option->name);
    cli_out_text(o, "\\fR");
    if (option->value) {
        cli_out_text(o, " \\fI");
        troff_text(o, option->value);
        cli_out_text(o, "\\fR");
    }
    cli_out_text(o, "\n");
    troff_text(o, option->help);
    cli_out_text(o, "\n");
}

static void troff_verb(struct cli_out *o, int verb)
{
    const struct cli_verb *d = &cli_verbs[verb];
    cli_out_format(o, ".SS \"tenon %s%s%s\"\n", d->name, d->operands[0] ? " " : "", d->operands);
    for (const char *at = d->description; *at;) {
        const char *end = strstr(at, "\n\n");
        size_t n = end ? (size_t)(end - at) : strlen(at);
        cli_out_text(o, ".PP\n");
        troff(o, at, n);
        cli_out_text(o, "\n");
        at += n + (end ? 2 : 0);
    }
    for (size_t i = 0; i < cli_option_count; i++) {
        if (!cli_option_is_common(&cli_options[i]) && cli_option_takes(&cli_options[i], verb)) troff_option(o, &cli_options[i]);
    }
    cli_out_text(o, ".PP\n.nf\n");
    troff_text(o, d->examples);
    cli_out_text(o, "\n.fi\n");
}

static void man_page(struct cli_out *o)
{
    cli_out_format(o, ".TH TENON 1 \"\" \"tenon %s\" \"User Commands\"\n", tn_version());
    cli_out_text(o, ".SH NAME\ntenon \\- an inference runtime for model packages\n"
                    ".SH SYNOPSIS\n.B tenon\n.I VERB\n[\\fIOPERAND\\fR...] [\\fIOPTION\\fR...]\n.SH DESCRIPTION\n"
                    "Finds out from evidence what a model package is, says which providers can run a task on it and why the\n"
                    "others cannot, makes a plan that can be read, runs it, and accounts for what ran. Options and operands\n"
                    "may come in any order;\n.B \\-\\-\nends options.\n.SH VERBS\n");
    for (int i = 0; i < CLI_VERB_COUNT; i++) troff_verb(o, i);
    cli_out_text(o, ".SH OPTIONS OF EVERY VERB\n");
    for (size_t i = 0; i < cli_option_count; i++) {
        if (cli_option_is_common(&cli_options[i])) troff_option(o, &cli_options[i]);
    }
    cli_out_text(o, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < EXITS; i++) {
        cli_out_format(o, ".TP\n.B %d\n", exits[i].code);
        troff_text(o, exits[i].what);
        cli_out_text(o, "\n");
    }
    cli_out_text(o, ".SH ENVIRONMENT\n.TP\n.B XDG_CACHE_HOME, XDG_STATE_HOME, HOME\n"
                    "Where the folders for derived files and for records are, unless\n.B \\-\\-cache\\-dir\nand\n"
                    ".B \\-\\-state\\-dir\nsay so. Without any of them there are no such folders.\n"
                    ".TP\n.B TENON_ONNXRUNTIME\nPath of the shared library of ONNX Runtime, for the provider\n.BR onnxruntime ;\n"
                    "without it the system's loader looks.\n"
                    ".TP\n.B NO_COLOR\nNo colour, when it is not empty.\n"
                    ".TP\n.B TMPDIR\nWhere\n.B \\-\\-npy \\-\ncollects its rows.\n");
}

/* ---- the verb ---- */

static int unknown_topic(struct cli *cli, const char *topic)
{
    const char *names[CLI_VERB_COUNT];
    for (int i = 0; i < CLI_VERB_COUNT; i++) names[i] = cli_verbs[i].name;
    const char *near = cli_nearest(topic, names, CLI_VERB_COUNT);
    cli_refuse(cli, TN_INVALID_REQUEST, topic, "there is no verb %.80s", topic);
    if (near) snprintf(cli->problem.expected, sizeof(cli->problem.expected), "perhaps %s", near);
    return cli_fail_problem(cli);
}

int cli_help(struct cli *cli)
{
    const struct cli_values *values = &cli->values;
    int verb = values->verb;
    if (values->man) {
        man_page(&cli->out);
        return 0;
    }
    if (values->completion) {
        cli_completion(&cli->out, values->completion);
        return 0;
    }
    if (verb == CLI_HELP && !values->help) {
        verb = values->operand_count ? (int)cli_verb_of(values->operands[0]) : CLI_VERB_COUNT;
        if (values->operand_count && verb == CLI_VERB_COUNT) return unknown_topic(cli, values->operands[0]);
    }
    if (values->json) {
        help_json(&cli->out, verb);
    } else if (verb == CLI_VERB_COUNT) {
        help_overview(&cli->view);
    } else {
        help_verb(&cli->view, verb);
    }
    return 0;
}
