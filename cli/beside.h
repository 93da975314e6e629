/* Files that appear whole or not at all: written under a name beside the target and renamed onto it. */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

#include <stddef.h>

/*
 * Opens a new file beside `path`, so that the rename stays inside one file system; its name goes to *temporary (free).
 * -1 with errno when that fails.
 */
int cli_open_beside(const char *path, char **temporary);
/* Ends it: renamed onto `path`, or removed when `failure` or the end fails; frees the name. 0 or an errno. */
int cli_close_beside(int fd, char *temporary, const char *path, int failure);
/* The whole text under that name; 0 or an errno. */
int cli_write_whole(const char *path, const char *text, size_t n);

#endif
