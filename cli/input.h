/*
 * Texts for a request: operands of the command line, or a file or standard input in chunks, so that a corpus never has
 * to be in memory as a whole. A line that is no valid --jsonl record is one failed item in its place, not the end.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "app.h"

struct cli_item {
    size_t at, length;       /* of its text in the chunk */
    size_t id_at, id_length; /* of its id as JSON text; length 0: none */
    size_t pair_at, pair_length; /* of the text that follows it */
    bool has_pair;
    char *fault;             /* why there is no text; NULL: there is one */
};

struct cli_chunk {
    char *bytes;
    size_t used, cap;
    struct cli_item *items;
    size_t count, items_cap;
};

struct cli_input {
    struct cli *cli;
    int fd;
    bool own_fd, jsonl, ended, first;
    bool pairs;                       /* a record may have a second text; set by the verb behind open. Else it fails */
    size_t next_operand, line;
    char *buf;                        /* what was read and not yet taken: buf[at, end) */
    size_t at, end, cap;
};

/* Checks that there are texts to read, and opens the file. TN_OK or a filled cli->problem. */
tn_status cli_input_open(struct cli_input *in, struct cli *cli);
/*
 * Fills the chunk with the next texts, at most max_items. A chunk without items is the end. Stops with a filled
 * cli->problem when the file cannot be read, or a signal asked to stop.
 */
tn_status cli_input_next(struct cli_input *in, struct cli_chunk *chunk, size_t max_items);
/* Whether the last chunk was the last: then the number of texts is known. */
bool cli_input_is_exhausted(const struct cli_input *in);
void cli_input_close(struct cli_input *in);
void cli_chunk_release(struct cli_chunk *chunk);

#endif
