/*
 * Pages for people: headings, labelled lines and tables that fit the terminal. All text that is handed in is made safe
 * for a terminal first. No colour unless a terminal shows it, and none with NO_COLOR.
 */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "json.h"
#include "out.h"

enum { CLI_TABLE_COLUMNS = 12, CLI_LABEL = 18 };

struct cli_view {
    struct cli_out *out;
    size_t width; /* columns of a line; long text is wrapped, never cut */
    bool color;
    bool wide; /* the locale is UTF-8, so character widths are known */
};

void cli_view_init(struct cli_view *v, struct cli_out *out);
/* Columns that safe text takes on the terminal. */
size_t cli_view_columns(const struct cli_view *v, const char *s, size_t n);

/* An empty line before, unless it is the page's first, and the text in bold. */
void cli_view_heading(struct cli_view *v, const char *text);
/* "  label        text", wrapped under itself. An empty text prints nothing. */
void cli_view_field(struct cli_view *v, const char *label, const char *text);
void cli_view_fieldf(struct cli_view *v, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Text wrapped with an indentation, blank-separated words kept whole where they fit. */
void cli_view_text(struct cli_view *v, size_t indent, const char *text);

/* A table whose last column wraps. Alignment: one letter per column, 'l' or 'r'. */
struct cli_table {
    size_t columns, cells, cap;
    const char *align;
    char **cell;
};
void cli_table_begin(struct cli_table *t, const char *align);
/* Cells run from left to right, row by row; the first row is the heading. */
void cli_table_cell(struct cli_table *t, const char *text);
void cli_table_cellf(struct cli_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints with an indentation of two and releases the table. Nothing when there is no row below the heading. */
void cli_table_print(struct cli_table *t, struct cli_view *v);

/* How many bytes of text an excerpt of at most `most` bytes has: never half a character. For "%.*s". */
int cli_excerpt(const char *text, size_t most);
/* "90.9 MB"; buf[32] */
const char *cli_size_text(char *buf, uint64_t bytes);
/* A JSON value on one line: strings without quotes, lists joined by commas, objects as JSON. New string (free). */
char *cli_json_line(const struct cli_json *node);

#endif
