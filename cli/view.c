#define _XOPEN_SOURCE 700
#include "view.h"

#include "memory.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { WIDTH_OTHERWISE = 100, WIDTH_LEAST = 40 };

void cli_view_init(struct cli_view *v, struct cli_out *out)
{
    struct winsize size;
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool tty = isatty(out->fd);
    v->out = out;
    v->width = WIDTH_OTHERWISE;
    if (tty && ioctl(out->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        v->width = size.ws_col < WIDTH_LEAST ? WIDTH_LEAST : size.ws_col;
    v->color = tty && !(no_color && *no_color) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
    v->wide = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

size_t cli_view_columns(const struct cli_view *v, const char *s, size_t n)
{
    size_t columns = 0;
    for (size_t at = 0; at < n;) {
        uint32_t code;
        size_t length = cli_utf8(s + at, n - at, &code);
        int width = v->wide && length > 0 ? wcwidth((wchar_t)code) : 1;
        columns += width < 0 ? 1 : (size_t)width;
        at += length ? length : 1;
    }
    return columns;
}

static char *format_text(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = cli_alloc(n < 0 ? 1 : (size_t)n + 1);
    text[0] = 0;
    if (n > 0) vsnprintf(text, (size_t)n + 1, format, args);
    return text;
}

/* How many bytes of s stand on a line of `room` columns: up to a blank, else up to a mark inside a name, else what fits. */
static size_t fit(const struct cli_view *v, const char *s, size_t room)
{
    size_t at = 0, blank = 0, mark = 0, columns = 0;
    while (s[at] && s[at] != '\n') {
        uint32_t code;
        size_t length = cli_utf8(s + at, strlen(s + at) < 4 ? strlen(s + at) : 4, &code);
        if (length == 0) length = 1;
        columns += cli_view_columns(v, s + at, length);
        if (columns > room && at > 0) return blank ? blank : mark ? mark : at;
        if (s[at] == ' ' && at > 0) blank = at;
        if (s[at] == '/' && at > 0) mark = at;
        if (s[at] == '_') mark = at + 1;
        at += length;
    }
    return at;
}

/* Prints text whose first line starts at the present column; further lines are indented. Ends the line. */
static void wrapped(struct cli_view *v, size_t indent, const char *s)
{
    size_t room = v->width > indent + 20 ? v->width - indent : 20;
    for (;;) {
        size_t n = fit(v, s, room);
        cli_out_bytes(v->out, s, n);
        cli_out_text(v->out, "\n");
        s += n;
        while (*s == ' ') s++;
        if (*s == '\n') s++;
        if (!*s) return;
        cli_out_repeat(v->out, ' ', indent);
    }
}

void cli_view_heading(struct cli_view *v, const char *text)
{
    if (v->out->begun) cli_out_text(v->out, "\n");
    char *clean = cli_safe_copy(text, strlen(text));
    cli_out_format(v->out, v->color ? "\033[1m%s\033[0m\n" : "%s\n", clean);
    free(clean);
}

void cli_view_text(struct cli_view *v, size_t indent, const char *text)
{
    cli_out_repeat(v->out, ' ', indent);
    wrapped(v, indent, text);
}

void cli_view_field(struct cli_view *v, const char *label, const char *text)
{
    if (!*text) return;
    char *clean = cli_safe_copy(text, strlen(text));
    char *name = cli_safe_copy(label, strlen(label));
    size_t columns = cli_view_columns(v, name, strlen(name));
    cli_out_format(v->out, "  %s", name);
    cli_out_repeat(v->out, ' ', columns < CLI_LABEL ? CLI_LABEL - columns : 1);
    if (columns >= CLI_LABEL) {
        cli_out_text(v->out, "\n");
        cli_out_repeat(v->out, ' ', CLI_LABEL + 2);
    }
    wrapped(v, CLI_LABEL + 2, clean);
    free(clean);
    free(name);
}

void cli_view_fieldf(struct cli_view *v, const char *label, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    cli_view_field(v, label, text);
    free(text);
}

/* ---- tables ---- */

void cli_table_begin(struct cli_table *t, const char *align)
{
    *t = (struct cli_table){.align = align, .columns = strlen(align)};
}

void cli_table_cell(struct cli_table *t, const char *text)
{
    cli_grow(&t->cell, sizeof(*t->cell), t->cells, &t->cap);
    t->cell[t->cells++] = cli_safe_copy(text, strlen(text));
}

void cli_table_cellf(struct cli_table *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    cli_table_cell(t, text);
    free(text);
}

static void print_row(const struct cli_table *t, struct cli_view *v, const size_t *widths, size_t row)
{
    size_t at = 2;
    bool heading = row == 0 && v->color;
    if (heading) cli_out_text(v->out, "\033[2m");
    cli_out_text(v->out, "  ");
    for (size_t c = 0; c < t->columns; c++) {
        const char *text = t->cell[row * t->columns + c];
        size_t pad = widths[c] - cli_view_columns(v, text, strlen(text));
        if (t->align[c] == 'r') cli_out_repeat(v->out, ' ', pad);
        if (c + 1 == t->columns) {
            wrapped(v, t->align[c] == 'r' ? at + pad : at, text);
            break;
        }
        cli_out_text(v->out, text);
        if (t->align[c] == 'l') cli_out_repeat(v->out, ' ', pad);
        cli_out_text(v->out, "  ");
        at += widths[c] + 2;
    }
    if (heading) cli_out_text(v->out, "\033[0m");
}

void cli_table_print(struct cli_table *t, struct cli_view *v)
{
    size_t widths[CLI_TABLE_COLUMNS] = {0}, rows = t->cells / t->columns;
    for (size_t i = 0; i < rows * t->columns; i++) {
        size_t columns = cli_view_columns(v, t->cell[i], strlen(t->cell[i]));
        if (columns > widths[i % t->columns]) widths[i % t->columns] = columns;
    }
    for (size_t row = 0; rows > 1 && row < rows; row++) print_row(t, v, widths, row);
    for (size_t i = 0; i < t->cells; i++) free(t->cell[i]);
    free(t->cell);
    *t = (struct cli_table){0};
}

/* ---- values ---- */

int cli_excerpt(const char *text, size_t most)
{
    size_t n = strnlen(text, most);
    while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) n--;
    return (int)n;
}

const char *cli_size_text(char *buf, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB"};
    double v = (double)bytes / 1000;
    size_t i = 0;
    if (bytes < 1000) {
        snprintf(buf, 32, "%u bytes", (unsigned)bytes);
        return buf;
    }
    while (v >= 999.95 && i < 4) {
        v /= 1000;
        i++;
    }
    snprintf(buf, 32, v < 99.95 ? "%.1f %s" : "%.0f %s", v, units[i]);
    return buf;
}

struct text {
    char *s;
    size_t n, cap;
};

static void add(struct text *t, const char *s, size_t n)
{
    while (t->cap - t->n < n + 1) {
        t->cap = t->cap ? cli_product(t->cap, 2) : 64;
        t->s = cli_realloc(t->s, t->cap);
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = 0;
}

static void add_value(struct text *t, const struct cli_json *node)
{
    bool object = node->type == CLI_JSON_OBJECT;
    if (!object && node->type != CLI_JSON_ARRAY) {
        bool quote = node->type == CLI_JSON_STRING;
        if (quote) add(t, "\"", 1);
        if (node->type == CLI_JSON_NULL) add(t, "null", 4);
        add(t, cli_json_text(node), node->length);
        if (quote) add(t, "\"", 1);
        return;
    }
    add(t, object ? "{" : "[", 1);
    for (const struct cli_json *m = node->first; m; m = m->next) {
        if (m != node->first) add(t, ", ", 2);
        if (object) {
            add(t, m->key, m->key_length);
            add(t, ": ", 2);
        }
        add_value(t, m);
    }
    add(t, object ? "}" : "]", 1);
}

static bool is_plain_list(const struct cli_json *node)
{
    if (!cli_json_is(node, CLI_JSON_ARRAY)) return false;
    for (const struct cli_json *m = node->first; m; m = m->next) {
        if (m->type == CLI_JSON_ARRAY || m->type == CLI_JSON_OBJECT) return false;
    }
    return true;
}

char *cli_json_line(const struct cli_json *node)
{
    struct text t = {0};
    add(&t, "", 0);
    if (cli_json_is(node, CLI_JSON_STRING)) {
        add(&t, node->text, node->length);
    } else if (is_plain_list(node)) {
        for (const struct cli_json *m = node->first; m; m = m->next) {
            if (m != node->first) add(&t, ", ", 2);
            add(&t, cli_json_text(m), m->length);
        }
        if (!node->first) add(&t, "none", 4);
    } else if (node && node->type != CLI_JSON_NULL) {
        add_value(&t, node);
    }
    return t.s;
}
