/* The bounded buffer and locale-proof number formatting. */
#include "base/buf.h"

#include "base/checked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tn_buf_init(struct tn_buf *b, struct tn_alloc *alloc, size_t max)
{
    *b = (struct tn_buf){.alloc = alloc, .max = max};
}

void tn_buf_release(struct tn_buf *b)
{
    if (b->alloc) tn_free(b->alloc, b->data);
    b->data = NULL;
    b->len = b->cap = 0;
}

void tn_buf_clear(struct tn_buf *b)
{
    b->len = 0;
    b->failed = TN_OK;
    if (b->data) b->data[0] = 0;
}

void *tn_buf_reserve(struct tn_buf *b, size_t n)
{
    if (b->failed) return NULL;
    size_t need;
    if (!tn_add(b->len, n, &need) || need > b->max || need == SIZE_MAX) {
        b->failed = TN_RESOURCE_LIMIT;
        return NULL;
    }
    if (need + 1 > b->cap) {
        size_t cap = b->cap ? b->cap : 256;
        while (cap < need + 1) cap = cap > SIZE_MAX / 2 ? need + 1 : cap * 2;
        char *data = tn_realloc(b->alloc, b->data, cap);
        if (!data) {
            b->failed = TN_INSUFFICIENT_MEMORY;
            return NULL;
        }
        b->data = data;
        b->cap = cap;
    }
    return b->data + b->len;
}

void tn_buf_append(struct tn_buf *b, const void *p, size_t n)
{
    char *at = tn_buf_reserve(b, n);
    if (!at) return;
    if (n) memcpy(at, p, n);
    b->len += n;
    b->data[b->len] = 0;
}

void tn_buf_puts(struct tn_buf *b, const char *s)
{
    tn_buf_append(b, s, strlen(s));
}

void tn_buf_putc(struct tn_buf *b, char c)
{
    tn_buf_append(b, &c, 1);
}

void tn_buf_printf(struct tn_buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *at = n >= 0 ? tn_buf_reserve(b, (size_t)n) : NULL;
    if (at) {
        vsnprintf(at, (size_t)n + 1, format, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

char *tn_buf_take(struct tn_buf *b, size_t *len)
{
    if (b->failed || !tn_buf_reserve(b, 0)) return NULL;
    char *data = b->data;
    data[b->len] = 0;
    if (len) *len = b->len;
    b->data = NULL;
    b->len = b->cap = 0;
    return data;
}

enum tn_status tn_buf_status(const struct tn_buf *b)
{
    return b->failed;
}

struct tn_str tn_buf_str(const struct tn_buf *b)
{
    return (struct tn_str){b->data ? b->data : "", b->len};
}

/* Replaces whatever the locale printed between the digits by a full stop. */
static size_t fix_decimal_point(char *s)
{
    char *from = s, *to = s;
    while (*from) {
        if (strchr("0123456789+-eE", *from)) {
            *to++ = *from++;
            continue;
        }
        *to++ = '.';
        while (*from && !strchr("0123456789+-eE", *from)) from++;
    }
    *to = 0;
    return (size_t)(to - s);
}

static size_t format_digits(char *out, double value, int digits)
{
    if (!isfinite(value)) {
        memcpy(out, "null", sizeof("null"));
        return 4;
    }
    snprintf(out, 32, "%.*g", digits, value);
    return fix_decimal_point(out);
}

size_t tn_format_f32(char *out, float value)
{
    return format_digits(out, (double)value, 9);
}

size_t tn_format_f64(char *out, double value)
{
    if (isfinite(value)) {
        snprintf(out, 32, "%.15g", value);
        if (strtod(out, NULL) == value) return fix_decimal_point(out);
    }
    return format_digits(out, value, 17);
}
