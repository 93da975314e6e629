#define _XOPEN_SOURCE 700
#include "npy.h"

#include "beside.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The header is padded to 128 bytes, so that its length does not depend on the numbers in it. */
enum { HEADER_BYTES = 128 };

static tn_status fail(struct cli_npy *npy, int reason)
{
    cli_refuse(npy->cli, TN_RUNTIME_FAILURE, "npy", "cannot write %.200s", npy->path);
    snprintf(npy->cli->problem.found, sizeof(npy->cli->problem.found), "%s", strerror(reason));
    return TN_RUNTIME_FAILURE;
}

/* Standard output, pipes and devices cannot be renamed onto, nor their header be written last. */
static int open_unnamed(void)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    int n = snprintf(name, sizeof(name), "%s/tenon-XXXXXX", folder && *folder ? folder : "/tmp");
    if (n < 0 || (size_t)n >= sizeof(name)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkstemp(name);
    if (fd >= 0) unlink(name);
    return fd;
}

/* Little-endian float32, whatever the machine is. */
static void put_header(char *header, size_t rows, size_t columns)
{
    memset(header, ' ', HEADER_BYTES);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(HEADER_BYTES - 10);
    header[9] = 0;
    char text[HEADER_BYTES];
    int n = snprintf(text, sizeof(text), "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", rows, columns);
    memcpy(header + 10, text, (size_t)n);
    header[HEADER_BYTES - 1] = '\n';
}

tn_status cli_npy_open(struct cli_npy *npy, struct cli *cli, const char *path)
{
    struct stat st;
    char header[HEADER_BYTES];
    *npy = (struct cli_npy){.cli = cli, .path = path};
    bool plain = strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
    int fd = plain ? cli_open_beside(path, &npy->temporary) : open_unnamed();
    if (fd < 0) {
        free(npy->temporary);
        npy->temporary = NULL;
        return fail(npy, errno);
    }
    npy->out = cli_alloc(sizeof(*npy->out));
    cli_out_init(npy->out, fd);
    put_header(header, 0, 0);
    cli_out_bytes(npy->out, header, sizeof(header));
    return TN_OK;
}

static void put_float(struct cli_out *out, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    char bytes[4] = {(char)(bits & 0xFF), (char)(bits >> 8 & 0xFF), (char)(bits >> 16 & 0xFF), (char)(bits >> 24)};
    cli_out_bytes(out, bytes, sizeof(bytes));
}

tn_status cli_npy_row(struct cli_npy *npy, const float *row, size_t columns)
{
    npy->columns = columns;
    npy->rows++;
    for (size_t i = 0; i < columns; i++) put_float(npy->out, row ? row[i] : NAN);
    return npy->out->failure ? fail(npy, npy->out->failure) : TN_OK;
}

/* Copies the unnamed file to where it was asked for. */
static tn_status copy_out(struct cli_npy *npy)
{
    char block[1 << 14];
    bool standard = strcmp(npy->path, "-") == 0;
    int fd = standard ? -1 : open(npy->path, O_WRONLY | O_CLOEXEC), reason = 0;
    struct cli_out *target = standard ? &npy->cli->out : cli_alloc(sizeof(*target));
    if (!standard) cli_out_init(target, fd);
    if (!standard && fd < 0) reason = errno;
    for (off_t at = 0; reason == 0 && target->failure == 0;) {
        ssize_t n = pread(npy->out->fd, block, sizeof(block), at);
        if (n < 0) reason = errno;
        if (n <= 0) break;
        cli_out_bytes(target, block, (size_t)n);
        at += n;
    }
    if (standard) return reason ? fail(npy, reason) : TN_OK; /* a failed standard output is told at the end */
    cli_out_flush(target);
    if (reason == 0) reason = target->failure;
    if (fd >= 0 && close(fd) != 0 && reason == 0) reason = errno;
    free(target);
    return reason ? fail(npy, reason) : TN_OK;
}

tn_status cli_npy_finish(struct cli_npy *npy)
{
    char header[HEADER_BYTES];
    cli_out_flush(npy->out);
    if (npy->out->failure) return fail(npy, npy->out->failure);
    put_header(header, npy->rows, npy->columns);
    if (pwrite(npy->out->fd, header, sizeof(header), 0) != (ssize_t)sizeof(header)) return fail(npy, errno);
    if (!npy->temporary) return copy_out(npy);
    int fd = npy->out->fd;
    npy->out->fd = -1;
    if (close(fd) != 0) return fail(npy, errno);
    if (rename(npy->temporary, npy->path) != 0) return fail(npy, errno);
    free(npy->temporary);
    npy->temporary = NULL;
    return TN_OK;
}

void cli_npy_close(struct cli_npy *npy)
{
    if (npy->out && npy->out->fd >= 0) close(npy->out->fd);
    if (npy->temporary) unlink(npy->temporary);
    free(npy->temporary);
    free(npy->out);
    *npy = (struct cli_npy){0};
}
