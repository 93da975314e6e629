/*
 * Everything that the library asks of the operating system, apart from threads (os_thread.h). Implemented by
 * os_posix.c alone; no other file may include a POSIX header.
 *
 * Failures are negative errno-like numbers turned into text by tn_os_error_text.
 */
#ifndef TN_BASE_OS_H
#define TN_BASE_OS_H

#include "base/buf.h"
#include "base/status.h"

/* Identity and state of a file as the system knows it; equal stamps mean "has not been touched". */
struct tn_file_stamp {
    uint64_t device, inode, size;
    int64_t mtime_ns, ctime_ns;
};

enum tn_file_kind { TN_FILE_MISSING, TN_FILE_REGULAR, TN_FILE_DIRECTORY, TN_FILE_LINK, TN_FILE_OTHER };

struct tn_file_info {
    enum tn_file_kind kind;
    struct tn_file_stamp stamp;
};

bool tn_file_stamp_eq(const struct tn_file_stamp *a, const struct tn_file_stamp *b);

/* `follow`: whether a link is resolved. Returns 0, or an error number; a missing file is kind MISSING with 0. */
int tn_os_stat(const char *path, bool follow, struct tn_file_info *out);
/* Absolute path without links into out (NUL-terminated). */
int tn_os_realpath(const char *path, struct tn_buf *out);

/* An open regular file. Opening never blocks on a FIFO or device: those are refused as TN_OS_NOT_REGULAR. */
struct tn_os_file {
    int fd;
    struct tn_file_stamp stamp; /* at open */
};
enum { TN_OS_NOT_REGULAR = 100000, TN_OS_SHORT = 100001 };

int tn_os_open(const char *path, struct tn_os_file *out);
void tn_os_close(struct tn_os_file *file);
/* Reads exactly n bytes at offset; TN_OS_SHORT when the file ends before. */
int tn_os_read(const struct tn_os_file *file, uint64_t offset, void *dst, size_t n);
/* The stamp now, to compare with the one at open. */
int tn_os_stamp(const struct tn_os_file *file, struct tn_file_stamp *out);

/*
 * Read-only private map of [0, size). A file that shrinks under a map raises a signal on access: whoever keeps using a
 * map after loading reads through tn_os_read into memory of its own instead, or re-checks the stamp first and accepts
 * only files that it holds open and that did not change.
 */
int tn_os_map(const struct tn_os_file *file, uint64_t size, const void **out);
void tn_os_unmap(const void *p, uint64_t size);
/* Advice that [p, p+n) is needed soon. */
void tn_os_will_need(const void *p, size_t n);
void tn_os_advise_huge(void *p, size_t n);
/* Advice that little of [p, p+n) will be touched: pages should come one by one. */
void tn_os_advise_small(void *p, size_t n);

/* Calls visit for each entry except "." and ".."; stops when it returns false. Order is the system's. */
int tn_os_list(const char *path, bool (*visit)(void *context, const char *name), void *context);

/* Creates the folder and its parents, private to the user (0700). */
int tn_os_make_folders(const char *path);
/* Makes an empty private file (0600); an existing one is left as it is. */
int tn_os_create(const char *path);
/* Writes a private file so that readers see the old or the new contents, never a part. */
int tn_os_write_atomic(const char *path, const void *p, size_t n);
int tn_os_remove(const char *path);

uint64_t tn_os_monotonic_ns(void);
/* Seconds since 1970 UTC. */
int64_t tn_os_wall_seconds(void);
/* Processors that this process may use. */
unsigned tn_os_processors(void);
/* Physical memory in bytes, and what is available now; 0 when unknown. */
uint64_t tn_os_memory_total(void);
uint64_t tn_os_memory_available(void);
/* Kernel name and release, machine, e.g. "Linux 6.1 x86_64". */
void tn_os_describe(char *out, size_t cap);

/*
 * A shared library by path, or by name in the loader's places. Its own start-up code runs. NULL, and the loader's reason in
 * `why`. Symbols of it are not seen by others.
 */
void *tn_os_library_open(const char *path, char *why, size_t cap);
/* NULL: it has none of this name. */
void *tn_os_library_symbol(void *library, const char *name, char *why, size_t cap);
void tn_os_library_close(void *library);

/* Short English text of an error number, NUL-terminated in buf. */
const char *tn_os_error_text(int error, char *buf, size_t cap);

#endif
