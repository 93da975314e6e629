/*
 * The raw text of a YAML document before libyaml sees it: every character is one that YAML 1.2 allows and that libyaml
 * reads as YAML 1.2 does. Bytes are hostile. The surprising refusals: U+0085, U+2028 and U+2029 are ordinary characters
 * in YAML 1.2 and line breaks in 1.1, which libyaml implements, so a text with one of them would silently change; and a
 * carriage return alone is a line break by the specification and a character to some readers of 1.2.
 */
#include "base/yaml_parts.h"

#include "base/utf8.h"

#include <string.h>

static struct tn_yaml_flaw flaw(const char *what, const char *expected, size_t offset)
{
    return (struct tn_yaml_flaw){what, expected, offset};
}

/* A reason against a character, or NULL: the printable set of YAML 1.2.2, 5.1, less the breaks of 1.1. */
static const char *against(uint32_t c)
{
    if (c == 0) return "a NUL byte (UTF-16 and UTF-32 are not read)";
    if (c == '\t' || c == '\n' || c == '\r') return NULL;
    if (c < 0x20 || (c >= 0x7F && c < 0xA0 && c != 0x85)) return "a control character";
    if (c == 0x85 || c == 0x2028 || c == 0x2029) return "a line break that only YAML 1.1 knows";
    if (c == 0xFEFF) return "a byte order mark inside the text";
    if (c == 0xFFFE || c == 0xFFFF) return "a code point that is no character";
    return NULL;
}

struct tn_yaml_flaw tn_yaml_check_text(struct tn_str text)
{
    const char *utf8 = "UTF-8 text", *escape = "an escape in double quotes, such as \"\\u2028\"";
    if (text.n >= 2 && (memcmp(text.s, "\xFF\xFE", 2) == 0 || memcmp(text.s, "\xFE\xFF", 2) == 0)) {
        return flaw("UTF-16 or UTF-32", utf8, 0);
    }
    size_t i = text.n >= 3 && memcmp(text.s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (i < text.n) {
        uint32_t c;
        if ((unsigned char)text.s[i] >= 0x20 && (unsigned char)text.s[i] < 0x7F) {
            i++;
            continue;
        }
        size_t length = tn_utf8_decode(text.s + i, text.n - i, &c);
        if (!length) return flaw("invalid UTF-8", utf8, i);
        const char *why = against(c);
        if (why) return flaw(why, c == 0 ? utf8 : escape, i);
        if (c == '\r' && !(i + 1 < text.n && text.s[i + 1] == '\n')) {
            return flaw("a carriage return without a line feed", "line feeds, alone or behind carriage returns", i);
        }
        i += length;
    }
    return flaw(NULL, NULL, 0);
}

size_t tn_yaml_count_directives(struct tn_str text)
{
    size_t count = 0;
    const char *end = text.s + text.n;
    for (const char *p = text.s; p < end && (p = memchr(p, '%', (size_t)(end - p))) != NULL; p++) {
        /* The first line may stand behind a byte order mark. */
        bool behind_mark = p - text.s == 3 && (unsigned char)p[-1] == 0xBF;
        count += behind_mark || p == text.s || p[-1] == '\n' || p[-1] == '\r';
    }
    return count;
}

struct tn_yaml_position tn_yaml_position(struct tn_str text, size_t offset)
{
    struct tn_yaml_position at = {1, 1};
    size_t i = text.n >= 3 && memcmp(text.s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    for (; i < offset && i < text.n; i++) {
        unsigned char c = (unsigned char)text.s[i];
        if (c == '\n') {
            at = (struct tn_yaml_position){at.line + 1, 1};
        } else if (c != '\r' && (c & 0xC0) != 0x80) {
            at.column++;
        }
    }
    return at;
}
