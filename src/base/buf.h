/*
 * Growing byte buffer that knows its maximum at birth. The error is sticky: append freely, then ask tn_buf_status once.
 * The contents are always followed by a NUL that is not counted in `len` (when data is not NULL).
 */
#ifndef TN_BASE_BUF_H
#define TN_BASE_BUF_H

#include "base/alloc.h"
#include "base/status.h"

#include <stdarg.h>

struct tn_buf {
    struct tn_alloc *alloc;
    char *data;
    size_t len, cap, max;
    enum tn_status failed; /* TN_OK, TN_INSUFFICIENT_MEMORY or TN_RESOURCE_LIMIT */
};

void tn_buf_init(struct tn_buf *b, struct tn_alloc *alloc, size_t max);
void tn_buf_release(struct tn_buf *b);
/* Empties it and clears the sticky error; keeps the memory. */
void tn_buf_clear(struct tn_buf *b);
/* The memory leaves the buffer (free with tn_free); NULL after an error. An empty buffer yields an empty string. */
char *tn_buf_take(struct tn_buf *b, size_t *len);

void tn_buf_append(struct tn_buf *b, const void *p, size_t n);
void tn_buf_puts(struct tn_buf *b, const char *s);
void tn_buf_putc(struct tn_buf *b, char c);
void tn_buf_printf(struct tn_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes room for n more bytes and returns where they start, or NULL; the caller then adds to len. */
void *tn_buf_reserve(struct tn_buf *b, size_t n);
enum tn_status tn_buf_status(const struct tn_buf *b);
struct tn_str tn_buf_str(const struct tn_buf *b);

/*
 * Shortest-enough decimal of a float (9 digits) or double (17), independent of the locale's decimal point.
 * `out` holds at least 32 bytes; returns the length. Non-finite values yield "null".
 */
size_t tn_format_f32(char *out, float value);
size_t tn_format_f64(char *out, double value);
/* The same for one argument of a printf-like call; lives to the end of the enclosing block. Never %g, %f or %e: they follow
 * the locale of whoever uses the library. */
#define TN_F64(value) tn_f64_text((value), (char[32]){0})
static inline const char *tn_f64_text(double value, char *out)
{
    (void)tn_format_f64(out, value);
    return out;
}

#endif
