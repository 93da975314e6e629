/* Validation of whole texts, eight ASCII bytes at a time. */
#include "base/utf8.h"

#include <string.h>

size_t tn_utf8_valid_prefix(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n) {
        if (n - i >= 8) {
            uint64_t block;
            memcpy(&block, s + i, 8);
            if ((block & UINT64_C(0x8080808080808080)) == 0) {
                i += 8;
                continue;
            }
        }
        uint32_t c;
        size_t length = tn_utf8_decode(s + i, n - i, &c);
        if (length == 0) return i;
        i += length;
    }
    return n;
}

size_t tn_utf8_count(const char *s, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += ((unsigned char)s[i] & 0xC0) != 0x80;
    return count;
}

size_t tn_utf8_chars_at(struct tn_utf8_ruler *r, size_t byte)
{
    if (byte < r->byte) r->chars -= tn_utf8_count(r->text + byte, r->byte - byte);
    else r->chars += tn_utf8_count(r->text + r->byte, byte - r->byte);
    r->byte = byte;
    return r->chars;
}
