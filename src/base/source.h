/*
 * Block source: where bytes of a container come from. Injectable, so that tests can cut, corrupt and fail reads.
 * The reader never learns a path.
 */
#ifndef TN_BASE_SOURCE_H
#define TN_BASE_SOURCE_H

#include "base/error.h"
#include "base/os.h"

struct tn_source {
    uint64_t size;
    /* Reads exactly n bytes at offset, which the caller has checked against size. 0 or an os error number. */
    int (*read)(void *context, uint64_t offset, void *dst, size_t n);
    void *context;
    struct tn_str name; /* path inside the package, for error places */
};

struct tn_source tn_source_of_memory(const void *p, size_t n, struct tn_str name, struct tn_str *holder);
struct tn_source tn_source_of_file(struct tn_os_file *file, struct tn_str name);
enum tn_status tn_source_read(const struct tn_source *source, uint64_t offset, void *dst, size_t n,
                              enum tn_phase phase, struct tn_error *err);
/* The whole source as bytes plus a NUL; refused above `max`. Free with tn_free. */
enum tn_status tn_source_read_all(const struct tn_source *source, struct tn_alloc *alloc, uint64_t max,
                                  const char *limit_name, struct tn_str *out, struct tn_error *err);

/*
 * The byte cursor: little-endian reads over a window of a source with one sticky error. After the first failure all
 * reads return 0 and tn_cursor_status tells where and why.
 */
struct tn_cursor {
    const struct tn_source *source;
    uint64_t at, end;
    enum tn_status failed;
    struct tn_error *err;
};

void tn_cursor_init(struct tn_cursor *c, const struct tn_source *source, uint64_t begin, uint64_t end,
                    struct tn_error *err);
uint8_t tn_cursor_u8(struct tn_cursor *c);
uint16_t tn_cursor_u16(struct tn_cursor *c);
uint32_t tn_cursor_u32(struct tn_cursor *c);
uint64_t tn_cursor_u64(struct tn_cursor *c);
void tn_cursor_bytes(struct tn_cursor *c, void *dst, size_t n);
void tn_cursor_skip(struct tn_cursor *c, uint64_t n);
uint64_t tn_cursor_left(const struct tn_cursor *c);

#endif
