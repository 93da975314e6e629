#define _XOPEN_SOURCE 700
#include "beside.h"

#include "memory.h"
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_open_beside(const char *path, char **temporary)
{
    size_t n = strlen(path) + 32;
    *temporary = cli_alloc(n);
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        snprintf(*temporary, n, "%s.%ld.%u.part", path, (long)getpid(), attempt);
        int fd = open(*temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

int cli_close_beside(int fd, char *temporary, const char *path, int failure)
{
    if (close(fd) != 0 && !failure) failure = errno;
    if (!failure && rename(temporary, path) != 0) failure = errno;
    if (failure) unlink(temporary);
    free(temporary);
    return failure;
}

int cli_write_whole(const char *path, const char *text, size_t n)
{
    char *temporary;
    int fd = cli_open_beside(path, &temporary), failure = fd < 0 ? errno : 0;
    struct cli_out *out = cli_alloc(sizeof(*out));
    if (!failure) {
        cli_out_init(out, fd);
        cli_out_bytes(out, text, n);
        cli_out_flush(out);
        failure = cli_close_beside(fd, temporary, path, out->failure);
    } else {
        free(temporary);
    }
    free(out);
    return failure;
}
