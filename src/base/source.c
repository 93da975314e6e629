/* Sources over memory and files, and the cursor. Offsets are untrusted; every range is checked in subtraction form. */
#include "base/source.h"

#include "base/checked.h"

#include <string.h>

static int memory_read(void *context, uint64_t offset, void *dst, size_t n)
{
    const struct tn_str *bytes = context;
    if (!tn_range_inside(offset, n, bytes->n)) return TN_OS_SHORT;
    if (n) memcpy(dst, bytes->s + offset, n);
    return 0;
}

struct tn_source tn_source_of_memory(const void *p, size_t n, struct tn_str name, struct tn_str *holder)
{
    *holder = (struct tn_str){p, n};
    return (struct tn_source){.size = n, .read = memory_read, .context = holder, .name = name};
}

static int file_read(void *context, uint64_t offset, void *dst, size_t n)
{
    return tn_os_read(context, offset, dst, n);
}

struct tn_source tn_source_of_file(struct tn_os_file *file, struct tn_str name)
{
    return (struct tn_source){.size = file->stamp.size, .read = file_read, .context = file, .name = name};
}

static enum tn_status read_failed(const struct tn_source *source, uint64_t offset, size_t n, int error,
                                  enum tn_phase phase, struct tn_error *err)
{
    char text[128];
    struct tn_finding *f = tn_error_set(err, TN_ARTIFACT_MALFORMED, phase, "cannot read %zu bytes", n);
    tn_at_offset(f, source->name, offset);
    tn_found(f, "%s (file size %llu)", tn_os_error_text(error, text, sizeof(text)), (unsigned long long)source->size);
    tn_expected(f, "%zu bytes from %llu on", n, (unsigned long long)offset);
    tn_remedy(f, "fetch the file again; it may be cut or still being written");
    return TN_ARTIFACT_MALFORMED;
}

enum tn_status tn_source_read(const struct tn_source *source, uint64_t offset, void *dst, size_t n,
                              enum tn_phase phase, struct tn_error *err)
{
    int error = tn_range_inside(offset, n, source->size) ? source->read(source->context, offset, dst, n)
                                                         : TN_OS_SHORT;
    return error ? read_failed(source, offset, n, error, phase, err) : TN_OK;
}

enum tn_status tn_source_read_all(const struct tn_source *source, struct tn_alloc *alloc, uint64_t max,
                                  const char *limit_name, struct tn_str *out, struct tn_error *err)
{
    *out = (struct tn_str){0};
    if (source->size > max || source->size >= SIZE_MAX) {
        struct tn_finding *f =
            tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_PACKAGE, "file exceeds the limit %s", limit_name);
        tn_at_file(f, source->name);
        tn_found(f, "%llu bytes", (unsigned long long)source->size);
        tn_expected(f, "at most %llu bytes", (unsigned long long)max);
        tn_remedy(f, "raise the limit %s if the file is trusted", limit_name);
        return TN_RESOURCE_LIMIT;
    }
    size_t n = (size_t)source->size;
    char *bytes = tn_malloc(alloc, n + 1);
    if (!bytes) return tn_error_memory(err, TN_PHASE_PACKAGE, "reading a file");
    enum tn_status status = tn_source_read(source, 0, bytes, n, TN_PHASE_PACKAGE, err);
    if (status) {
        tn_free(alloc, bytes);
        return status;
    }
    bytes[n] = 0;
    *out = (struct tn_str){bytes, n};
    return TN_OK;
}

void tn_cursor_init(struct tn_cursor *c, const struct tn_source *source, uint64_t begin, uint64_t end,
                    struct tn_error *err)
{
    *c = (struct tn_cursor){.source = source, .at = begin, .end = end < source->size ? end : source->size, .err = err};
    if (begin > c->end) c->at = c->end;
}

void tn_cursor_bytes(struct tn_cursor *c, void *dst, size_t n)
{
    memset(dst, 0, n);
    if (c->failed) return;
    if (n > c->end - c->at) {
        c->failed = read_failed(c->source, c->at, n, TN_OS_SHORT, TN_PHASE_PACKAGE, c->err);
        return;
    }
    c->failed = tn_source_read(c->source, c->at, dst, n, TN_PHASE_PACKAGE, c->err);
    if (c->failed) {
        memset(dst, 0, n); /* a read that failed half way */
    } else {
        c->at += n;
    }
}

static uint64_t little_endian(struct tn_cursor *c, size_t n)
{
    unsigned char bytes[8];
    tn_cursor_bytes(c, bytes, n);
    uint64_t value = 0;
    for (size_t i = n; i-- > 0;) value = value << 8 | bytes[i];
    return value;
}

uint8_t tn_cursor_u8(struct tn_cursor *c)
{
    return (uint8_t)little_endian(c, 1);
}

uint16_t tn_cursor_u16(struct tn_cursor *c)
{
    return (uint16_t)little_endian(c, 2);
}

uint32_t tn_cursor_u32(struct tn_cursor *c)
{
    return (uint32_t)little_endian(c, 4);
}

uint64_t tn_cursor_u64(struct tn_cursor *c)
{
    return little_endian(c, 8);
}

void tn_cursor_skip(struct tn_cursor *c, uint64_t n)
{
    if (c->failed) return;
    if (n > c->end - c->at) {
        size_t wanted = n > SIZE_MAX ? SIZE_MAX : (size_t)n;
        c->failed = read_failed(c->source, c->at, wanted, TN_OS_SHORT, TN_PHASE_PACKAGE, c->err);
        return;
    }
    c->at += n;
}

uint64_t tn_cursor_left(const struct tn_cursor *c)
{
    return c->failed ? 0 : c->end - c->at;
}
