#define _POSIX_C_SOURCE 200809L
#include "out.h"

#include "memory.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_out_init(struct cli_out *o, int fd)
{
    o->fd = fd;
    o->failure = 0;
    o->begun = false;
    o->used = 0;
}

static void write_all(struct cli_out *o, const char *s, size_t n)
{
    while (n > 0 && o->failure == 0) {
        ssize_t put = write(o->fd, s, n);
        if (put < 0) {
            if (errno != EINTR) o->failure = errno;
            continue;
        }
        s += put;
        n -= (size_t)put;
    }
}

void cli_out_flush(struct cli_out *o)
{
    write_all(o, o->buf, o->used);
    o->used = 0;
}

void cli_out_bytes(struct cli_out *o, const char *s, size_t n)
{
    if (n > 0) o->begun = true;
    if (n > sizeof(o->buf) - o->used) cli_out_flush(o);
    if (n >= sizeof(o->buf)) {
        write_all(o, s, n);
        return;
    }
    if (n > 0) memcpy(o->buf + o->used, s, n);
    o->used += n;
}

void cli_out_text(struct cli_out *o, const char *s)
{
    cli_out_bytes(o, s, strlen(s));
}

void cli_out_repeat(struct cli_out *o, char c, size_t n)
{
    while (n-- > 0) cli_out_bytes(o, &c, 1);
}

void cli_out_format(struct cli_out *o, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    char small[512];
    int n = vsnprintf(small, sizeof(small), format, args);
    if (n >= 0 && (size_t)n < sizeof(small)) {
        cli_out_bytes(o, small, (size_t)n);
    } else if (n > 0) {
        char *large = cli_alloc((size_t)n + 1);
        vsnprintf(large, (size_t)n + 1, format, again);
        cli_out_bytes(o, large, (size_t)n);
        free(large);
    }
    va_end(again);
    va_end(args);
}

/* ---- numbers ---- */

void cli_out_u64(struct cli_out *o, uint64_t v)
{
    char digits[24];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    cli_out_bytes(o, digits + at, sizeof(digits) - at);
}

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/*
 * Fewest digits for 1e-12 <= |v| < 1e9. A float has 24 bits and a double 53, so scaling by an exact power of ten is
 * right to 2^-52 relative. A candidate is taken only when it lies clearly within half of the gap to the neighbours, so that
 * no correctly rounding reader can see another float.
 */
static size_t shortest(char *buf, float v)
{
    double x = fabs((double)v);
    int exponent = (int)floor(log10(x)); /* may be one off at powers of ten: only costs a try */
    double gap = x - (double)nextafterf((float)x, 0.0f);
    for (int digits = 1; digits <= 9; digits++) {
        int shift = digits - 1 - exponent; /* decimals after the point when positive */
        double scaled = shift >= 0 ? x * powers[shift] : x / powers[-shift];
        double whole = nearbyint(scaled);
        double back = shift >= 0 ? whole / powers[shift] : whole * powers[-shift];
        if (fabs(back - x) > 0.49999 * gap && digits < 9) continue;
        if (shift > 0 && whole >= powers[digits]) { /* 9.9999... became 10 */
            whole /= 10;
            shift--;
        }
        if (shift <= 0) return (size_t)snprintf(buf, 32, "%s%.0f.0", v < 0 ? "-" : "", back);
        char number[24];
        int n = snprintf(number, sizeof(number), "%.0f", whole);
        size_t at = 0;
        if (v < 0) buf[at++] = '-';
        if (n <= shift && shift - n > 4) { /* 0.00000123 reads better as 1.23e-06 */
            buf[at++] = number[0];
            if (n > 1) buf[at++] = '.';
            memcpy(buf + at, number + 1, (size_t)n - 1);
            at += (size_t)n - 1;
            return at + (size_t)snprintf(buf + at, 32 - at, "e-%02d", shift - n + 1);
        }
        if (n <= shift) {
            memcpy(buf + at, "0.0000", 2 + (size_t)(shift - n));
            at += 2 + (size_t)(shift - n);
            memcpy(buf + at, number, (size_t)n);
        } else {
            memcpy(buf + at, number, (size_t)(n - shift));
            at += (size_t)(n - shift);
            buf[at++] = '.';
            memcpy(buf + at, number + n - shift, (size_t)shift);
            at -= (size_t)(n - shift);
        }
        at += (size_t)n;
        buf[at] = 0;
        return at;
    }
    return 0;
}

size_t cli_format_f32(char *buf, float v)
{
    if (!isfinite(v)) return (size_t)snprintf(buf, 32, "null");
    if (v == 0) return (size_t)snprintf(buf, 32, signbit(v) ? "-0.0" : "0.0");
    double x = fabs((double)v);
    if (x >= 1e-12 && x < 1e9) return shortest(buf, v);
    return (size_t)snprintf(buf, 32, "%.9g", (double)v);
}

void cli_out_f32(struct cli_out *o, float v)
{
    char buf[32];
    cli_out_bytes(o, buf, cli_format_f32(buf, v));
}

/* ---- text ---- */

size_t cli_utf8(const char *s, size_t n, uint32_t *code)
{
    const unsigned char *p = (const unsigned char *)s;
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    *code = 0xFFFD;
    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    size_t length = p[0] >= 0xF0 && p[0] < 0xF8 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC0 || p[0] >= 0xF8 || length > n) return 0;
    uint32_t c = p[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3Fu);
    }
    if (c < least[length] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return 0;
    *code = c;
    return length;
}

void cli_out_json(struct cli_out *o, const char *s, size_t n)
{
    size_t from = 0, at = 0;
    cli_out_text(o, "\"");
    while (at < n) {
        unsigned char c = (unsigned char)s[at];
        uint32_t code = c;
        size_t length = c < 0x80 ? 1 : cli_utf8(s + at, n - at, &code);
        if (length > 0 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) {
            at += length;
            continue;
        }
        cli_out_bytes(o, s + from, at - from);
        if (length == 0) {
            cli_out_text(o, "\xEF\xBF\xBD");
        } else if (c == '"' || c == '\\') {
            cli_out_format(o, "\\%c", c);
        } else if (c == '\n' || c == '\t' || c == '\r') {
            cli_out_text(o, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
        } else {
            cli_out_format(o, "\\u%04x", c);
        }
        from = ++at;
    }
    cli_out_bytes(o, s + from, at - from);
    cli_out_text(o, "\"");
}

/* Characters that could move the cursor, change the terminal or reorder the line. */
static bool is_unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

char *cli_safe_copy(const char *s, size_t n)
{
    char *out = cli_alloc(cli_product(n, 10) + 1); /* the longest form, \u{10ffff}, stands for 4 bytes */
    size_t used = 0;
    for (size_t at = 0; at < n;) {
        uint32_t code;
        size_t length = cli_utf8(s + at, n - at, &code);
        if (length == 0 || (is_unsafe(code) && code < 0x80)) {
            used += (size_t)sprintf(out + used, "\\x%02x", (unsigned)(unsigned char)s[at]);
            at++;
        } else if (is_unsafe(code)) {
            used += (size_t)sprintf(out + used, "\\u{%x}", (unsigned)code);
            at += length;
        } else {
            memcpy(out + used, s + at, length);
            used += length;
            at += length;
        }
    }
    out[used] = 0;
    return out;
}

void cli_out_safe(struct cli_out *o, const char *s, size_t n)
{
    char *clean = cli_safe_copy(s, n);
    cli_out_text(o, clean);
    free(clean);
}
