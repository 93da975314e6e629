/*
 * A verb over texts: input in chunks, one request per chunk, a row of output per text. The driver reads, asks, reports
 * failures in their places and adds up the account; what a row looks like is the verb's own. Results do not depend on
 * their company, so the chunks cannot be seen in them.
 */
#ifndef CLI_TEXTS_H
#define CLI_TEXTS_H

#include "ask.h"

struct cli_text_row {
    size_t index;          /* in the whole input */
    const tn_event *event; /* NULL: the text failed */
    const char *text;
    size_t length;
};

struct cli_text_totals {
    uint64_t texts, failed, truncated, tokens;
};

/* Of one request. */
struct cli_texts {
    const tn_string *texts, *pairs; /* pairs NULL: no text has one */
    size_t count;
};

struct cli_text_verb {
    const char *task;  /* of the library */
    const char *doing; /* for the progress bar: "classifying" */
    tn_status (*start)(struct cli *cli, tn_session *session, const struct cli_texts *in, tn_execution **out);
    bool pairs; /* a text may have a second one */
    /* Members of the JSON document between "task" and "data", each with a comma behind it; NULL: none. */
    void (*header)(struct cli *cli, const struct cli_json *account);
    /* Members of one text's object, each with a comma before it. */
    void (*json)(struct cli *cli, const struct cli_text_row *row);
    /* The same for people: a heading once, and the lines of one text. */
    void (*heading)(struct cli *cli);
    void (*line)(struct cli *cli, const struct cli_text_row *row);
    /* Fields of the account for people, beside those of every verb; NULL: none. */
    void (*fields)(struct cli *cli, const struct cli_json *account);
};

int cli_run_texts(struct cli *cli, const struct cli_text_verb *verb);

/* What --truncation (or --truncate) and --side ask for. */
tn_truncation cli_truncation(const struct cli_values *v);
tn_side cli_side(const struct cli_values *v);

/* The kind of input that --text or --image insists on, against what the tasks of this verb take. */
tn_status cli_check_modality(struct cli *cli);

/* ", \"tokens\": ..., \"truncated\": ..." of an item. */
void cli_put_tokens(struct cli_out *o, const tn_event *event);
/* "[1.5,-2]" */
void cli_put_numbers(struct cli_out *o, const float *x, size_t n);
/* An error of an item as a line for people. */
void cli_put_failure(struct cli_out *o, size_t index, const char *error_json);
/* An error as the object of an item that could not even be read from the input; new string (free). */
char *cli_fault_json(struct cli *cli, const char *fault);
/*
 * The JSON document ends as one, also when the work did not: behind the rows of "data", of which there are `any`. Returns
 * the exit code.
 */
int cli_end_document(struct cli *cli, struct cli_account *account, bool any, bool some_failed, tn_status status);

#endif
