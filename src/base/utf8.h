/* UTF-8 without tables: decoding with full validation (no overlongs, no surrogates, at most U+10FFFF). */
#ifndef TN_BASE_UTF8_H
#define TN_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at s (1..4) and its code point; 0 when n is 0 or the bytes are not valid. */
static inline size_t tn_utf8_decode(const char *s, size_t n, uint32_t *c)
{
    const unsigned char *p = (const unsigned char *)s;
    if (n == 0) return 0;
    if (p[0] < 0x80) {
        *c = p[0];
        return 1;
    }
    if (p[0] < 0xC2 || p[0] > 0xF4) return 0;
    size_t length = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (n < length) return 0;
    uint32_t value = p[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        value = value << 6 | (p[i] & 0x3Fu);
    }
    if (length == 3 && (value < 0x800 || (value >= 0xD800 && value < 0xE000))) return 0;
    if (length == 4 && (value < 0x10000 || value > 0x10FFFF)) return 0;
    *c = value;
    return length;
}

/* Writes 1..4 bytes for a valid scalar value and returns how many. */
static inline size_t tn_utf8_encode(uint32_t c, char *out)
{
    unsigned char *p = (unsigned char *)out;
    if (c < 0x80) {
        p[0] = (unsigned char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        p[i] = (unsigned char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    p[0] = (unsigned char)((0xF00u >> length) | c);
    return length;
}

/* Offset of the first invalid byte, or n when all of s is valid. */
size_t tn_utf8_valid_prefix(const char *s, size_t n);

/* Code points of valid text. */
size_t tn_utf8_count(const char *s, size_t n);
/* Counts code points up to byte offsets, from the last one asked for: offsets that are near one another cost little. */
struct tn_utf8_ruler {
    const char *text;
    size_t byte, chars;
};
size_t tn_utf8_chars_at(struct tn_utf8_ruler *r, size_t byte);

#endif
