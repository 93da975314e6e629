/* POSIX implementation of base/os.h. The one place besides os_thread.c that knows file descriptors and errno. */
#define _GNU_SOURCE
#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

bool tn_file_stamp_eq(const struct tn_file_stamp *a, const struct tn_file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns;
}

static int64_t nanoseconds(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct tn_file_stamp stamp_of(const struct stat *st)
{
    return (struct tn_file_stamp){
        .device = (uint64_t)st->st_dev,
        .inode = (uint64_t)st->st_ino,
        .size = st->st_size < 0 ? 0 : (uint64_t)st->st_size,
        .mtime_ns = nanoseconds(st->st_mtim),
        .ctime_ns = nanoseconds(st->st_ctim),
    };
}

int tn_os_stat(const char *path, bool follow, struct tn_file_info *out)
{
    struct stat st;
    *out = (struct tn_file_info){.kind = TN_FILE_MISSING};
    if ((follow ? stat(path, &st) : lstat(path, &st)) != 0) return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    out->kind = S_ISREG(st.st_mode)   ? TN_FILE_REGULAR
                : S_ISDIR(st.st_mode) ? TN_FILE_DIRECTORY
                : S_ISLNK(st.st_mode) ? TN_FILE_LINK
                                      : TN_FILE_OTHER;
    out->stamp = stamp_of(&st);
    return 0;
}

int tn_os_realpath(const char *path, struct tn_buf *out)
{
    char *resolved = realpath(path, NULL);
    if (!resolved) return errno;
    tn_buf_puts(out, resolved);
    free(resolved);
    return tn_buf_status(out) ? ENOMEM : 0;
}

int tn_os_open(const char *path, struct tn_os_file *out)
{
    out->fd = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return errno;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        int error = errno;
        close(fd);
        return error;
    }
    if (!S_ISREG(st.st_mode)) {
        close(fd);
        return TN_OS_NOT_REGULAR;
    }
    out->fd = fd;
    out->stamp = stamp_of(&st);
    return 0;
}

void tn_os_close(struct tn_os_file *file)
{
    if (file->fd >= 0) close(file->fd);
    file->fd = -1;
}

int tn_os_read(const struct tn_os_file *file, uint64_t offset, void *dst, size_t n)
{
    char *p = dst;
    while (n > 0) {
        if (offset > INT64_MAX) return TN_OS_SHORT;
        ssize_t got = pread(file->fd, p, n, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) return TN_OS_SHORT;
        p += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return 0;
}

int tn_os_stamp(const struct tn_os_file *file, struct tn_file_stamp *out)
{
    struct stat st;
    if (fstat(file->fd, &st) != 0) return errno;
    *out = stamp_of(&st);
    return 0;
}

int tn_os_map(const struct tn_os_file *file, uint64_t size, const void **out)
{
    if (size == 0 || size > SIZE_MAX) return EINVAL;
    void *p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file->fd, 0);
    if (p == MAP_FAILED) return errno;
    *out = p;
    return 0;
}

void tn_os_unmap(const void *p, uint64_t size)
{
    if (p) munmap((void *)(uintptr_t)p, (size_t)size);
}

/* The page range that lies wholly inside [p, p+n), or that covers it when `outward`. */
static void advise(const void *p, size_t n, int advice, bool outward)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)p, to = from + n;
    from = outward ? from & ~(page - 1) : (from + page - 1) & ~(page - 1);
    to = outward ? (to + page - 1) & ~(page - 1) : to & ~(page - 1);
    if (to > from) madvise((void *)from, to - from, advice);
}

void tn_os_will_need(const void *p, size_t n)
{
    advise(p, n, MADV_WILLNEED, true);
}

void tn_os_advise_huge(void *p, size_t n)
{
    advise(p, n, MADV_HUGEPAGE, false);
}

void tn_os_advise_small(void *p, size_t n)
{
    advise(p, n, MADV_NOHUGEPAGE, false);
}

int tn_os_list(const char *path, bool (*visit)(void *context, const char *name), void *context)
{
    DIR *dir = opendir(path);
    if (!dir) return errno;
    int error = 0;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (!entry) {
            error = errno;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (!visit(context, entry->d_name)) break;
    }
    closedir(dir);
    return error;
}

int tn_os_make_folders(const char *path)
{
    char part[4096];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof(part)) return ENAMETOOLONG;
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0700) != 0 && errno != EEXIST) {
            int error = errno;
            struct stat st;
            if (stat(part, &st) != 0 || !S_ISDIR(st.st_mode)) return error;
        }
    }
    return 0;
}

int tn_os_create(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return errno == EEXIST ? 0 : errno;
    return close(fd) == 0 ? 0 : errno;
}

static int write_all(int fd, const void *p, size_t n)
{
    const char *s = p;
    while (n > 0) {
        ssize_t put = write(fd, s, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return errno;
        s += put;
        n -= (size_t)put;
    }
    return 0;
}

int tn_os_write_atomic(const char *path, const void *p, size_t n)
{
    char temporary[4096];
    int length = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof(temporary)) return ENAMETOOLONG;
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) return errno;
    int error = write_all(fd, p, n);
    if (close(fd) != 0 && !error) error = errno;
    if (!error && rename(temporary, path) != 0) error = errno;
    if (error) unlink(temporary);
    return error;
}

int tn_os_remove(const char *path)
{
    return unlink(path) == 0 ? 0 : errno;
}

uint64_t tn_os_monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)nanoseconds(t);
}

int64_t tn_os_wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec;
}

unsigned tn_os_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        int n = CPU_COUNT(&set);
        if (n > 0) return (unsigned)n;
    }
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

/* A row "Name:  N kB" of /proc/meminfo in bytes. */
static uint64_t meminfo(const char *name)
{
    FILE *file = fopen("/proc/meminfo", "re");
    if (!file) return 0;
    char line[256];
    unsigned long long kib = 0;
    size_t n = strlen(name);
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, name, n) == 0 && line[n] == ':') {
            kib = strtoull(line + n + 1, NULL, 10);
            break;
        }
    }
    fclose(file);
    return (uint64_t)kib * 1024;
}

uint64_t tn_os_memory_total(void)
{
    return meminfo("MemTotal");
}

uint64_t tn_os_memory_available(void)
{
    return meminfo("MemAvailable");
}

void tn_os_describe(char *out, size_t cap)
{
    struct utsname name;
    if (uname(&name) != 0) {
        snprintf(out, cap, "unknown");
        return;
    }
    snprintf(out, cap, "%s %s %s", name.sysname, name.release, name.machine);
}

const char *tn_os_error_text(int error, char *buf, size_t cap)
{
    if (error == TN_OS_NOT_REGULAR) {
        snprintf(buf, cap, "not a regular file");
    } else if (error == TN_OS_SHORT) {
        snprintf(buf, cap, "the file ends too early");
    } else {
        snprintf(buf, cap, "%s", strerrordesc_np(error) ? strerrordesc_np(error) : "unknown error");
    }
    return buf;
}
