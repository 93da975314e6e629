/* What people see of embeddings: a line per text, similarities of a few, and what ran. */
#ifndef CLI_VIEW_EMBED_H
#define CLI_VIEW_EMBED_H

#include "app.h"

enum { CLI_SIMILAR_MOST = 10 };

struct cli_embed_totals {
    uint64_t texts, failed, truncated, tokens, dimensions;
};

struct cli_embed_line {
    size_t index;
    const tn_event *event;
    const char *error; /* JSON; NULL: none */
    const char *id, *text;
    size_t id_length, text_length;
};

struct cli_embed_page {
    struct cli *cli;
    bool live;     /* a terminal: lines appear as they come */
    bool silent;   /* the numbers go to a file or to standard output as .npy */
    bool heading;
    size_t shown;  /* components per line */
    struct {       /* the first texts, for the table of similarities */
        float *vector;
        size_t dimensions;
        char *text;
    } kept[CLI_SIMILAR_MOST];
    size_t kept_count;
    bool too_many;
    unsigned told; /* failures on standard error; further ones are only counted */
};

void cli_embed_page_begin(struct cli_embed_page *p, struct cli *cli);
void cli_embed_page_line(struct cli_embed_page *p, const struct cli_embed_line *line);
void cli_embed_page_end(struct cli_embed_page *p, const struct cli_embed_totals *totals, const struct cli_json *account);
void cli_embed_page_release(struct cli_embed_page *p);

void cli_embed_count(struct cli_embed_totals *totals, const tn_event *event, bool failed);
/* The space id in an account, or NULL. */
const struct cli_json *cli_embed_space(const struct cli_json *account);

#endif
