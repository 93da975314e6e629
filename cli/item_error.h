/*
 * Errors of single texts. The library counts texts within one request; a command that sends several requests, or leaves
 * out lines that are no texts, has to say which text of its input it means.
 */
#ifndef CLI_ITEM_ERROR_H
#define CLI_ITEM_ERROR_H

#include <stddef.h>

/*
 * Takes an error object about text `sent` of a request and returns one about text `index` of the input (free).
 */
char *cli_item_error(char *json, size_t sent, size_t index);

#endif
