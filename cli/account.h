/*
 * The account of a command that sent its work as several requests: what ran is the same for all of them and is taken
 * from the first; what was counted and measured is added up.
 */
#ifndef CLI_ACCOUNT_H
#define CLI_ACCOUNT_H

#include "json.h"

#include <tenon/tenon.h>

enum { CLI_ACCOUNT_SUMS = 32 };

struct cli_account {
    tn_document *text; /* of the first request */
    struct cli_json_doc doc;
    unsigned requests;
    tn_status outcome; /* of the whole, where the work did not end well; else that of the first request stands */
    struct {
        const char *group, *name; /* views of the first account */
        double value;
    } sums[CLI_ACCOUNT_SUMS];
    size_t sum_count;
};

/* Takes the document. NULL, or why it cannot be read. */
const char *cli_account_add(struct cli_account *account, tn_document *document);
/* Of the first request; NULL before. */
const struct cli_json *cli_account_root(const struct cli_account *account);
void cli_account_write(const struct cli_account *account, struct cli_out *o);
void cli_account_release(struct cli_account *account);

#endif
