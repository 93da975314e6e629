/*
 * jsonok FILE [PATH]: whether FILE ("-": standard input) is exactly one JSON value and one line break, and what stands at
 * PATH. For the command line's tests, which need an opinion on JSON that is neither the library's nor the program's own.
 *
 * PATH walks members and indices: "data.0.embedding", "variants.#" is a count, "error.findings.*.code" the values at all
 * elements, one a line. A string is printed decoded, everything else as written; a missing place exits with 3.
 * Exit: 0 valid, 1 not JSON, 2 usage, 3 not there.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char *text, *at, *end;

static void bad(const char *what)
{
    fprintf(stderr, "jsonok: byte %ld: %s\n", (long)(at - text), what);
    exit(1);
}

static void blanks(void)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
}

static bool take(int c)
{
    if (at == end || *at != c) return false;
    at++;
    return true;
}

static unsigned hex4(void)
{
    unsigned v = 0;
    for (int i = 0; i < 4; i++, at++) {
        if (at == end) bad("cut escape");
        unsigned char c = *at;
        if (c >= '0' && c <= '9') v = v * 16 + (c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f') v = v * 16 + ((c | 32) - 'a' + 10u);
        else bad("bad escape");
    }
    return v;
}

static void put(bool print, unsigned c)
{
    if (!print) return;
    if (c < 0x80) putchar((int)c);
    else if (c < 0x800) printf("%c%c", 0xC0 | c >> 6, 0x80 | (c & 63));
    else if (c < 0x10000) printf("%c%c%c", 0xE0 | c >> 12, 0x80 | (c >> 6 & 63), 0x80 | (c & 63));
    else printf("%c%c%c%c", 0xF0 | c >> 18, 0x80 | (c >> 12 & 63), 0x80 | (c >> 6 & 63), 0x80 | (c & 63));
}

static void utf8_tail(unsigned char lead, bool print)
{
    int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4) bad("not UTF-8");
    if (print) putchar(lead);
    while (more-- > 0) {
        if (at == end || (*at & 0xC0) != 0x80) bad("not UTF-8");
        if (print) putchar(*at);
        at++;
    }
}

static void string(bool print)
{
    if (!take('"')) bad("no string");
    while (!take('"')) {
        if (at == end) bad("string without end");
        unsigned char c = *at++;
        if (c < 0x20) bad("control character in a string");
        if (c >= 0x80) {
            utf8_tail(c, print);
            continue;
        }
        if (c != '\\') {
            if (print) putchar(c);
            continue;
        }
        if (at == end) bad("cut escape");
        c = *at++;
        const char *from = "\"\\/bfnrt", *to = "\"\\/\b\f\n\r\t", *found = c ? strchr(from, c) : NULL;
        if (found) {
            put(print, (unsigned char)to[found - from]);
        } else if (c == 'u') {
            unsigned code = hex4();
            if (code >= 0xD800 && code < 0xDC00) {
                if (!take('\\') || !take('u')) bad("half a surrogate pair");
                unsigned low = hex4();
                if (low < 0xDC00 || low > 0xDFFF) bad("half a surrogate pair");
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            } else if (code >= 0xDC00 && code < 0xE000) {
                bad("half a surrogate pair");
            }
            put(print, code);
        } else {
            bad("unknown escape");
        }
    }
}

static void digits(void)
{
    if (at == end || *at < '0' || *at > '9') bad("digit missing");
    while (at < end && *at >= '0' && *at <= '9') at++;
}

static void number(void)
{
    take('-');
    if (!take('0')) digits();
    if (take('.')) digits();
    if (take('e') || take('E')) {
        if (!take('+')) take('-');
        digits();
    }
}

/* Compares the string at `at` with a name, and passes it. */
static bool key_is(const char *name, size_t n)
{
    const unsigned char *from = at + 1;
    string(false);
    return (size_t)(at - 1 - from) == n && memcmp(from, name, n) == 0;
}

static int seen; /* places that the path led to */

static void value(const char *path, int depth);

static size_t step(const char *path)
{
    return strcspn(path, ".");
}

static const char *rest(const char *path)
{
    size_t n = step(path);
    return path[n] ? path + n + 1 : path + n;
}

static void container(const char *path, int depth, bool object)
{
    size_t count = 0, n = path ? step(path) : 0;
    bool all = path && n == 1 && *path == '*', counting = path && strcmp(path, "#") == 0;
    at++;
    blanks();
    if (!take(object ? '}' : ']')) {
        do {
            char index[24];
            bool here = all;
            blanks();
            if (object) {
                here |= key_is(path ? path : "", n) && path && n > 0;
                blanks();
                if (!take(':')) bad("no colon");
            } else {
                snprintf(index, sizeof(index), "%zu", count);
                here |= path && n == strlen(index) && memcmp(path, index, n) == 0;
            }
            value(here ? rest(path) : NULL, depth + 1);
            count++;
            blanks();
        } while (take(','));
        if (!take(object ? '}' : ']')) bad("container without end");
    }
    if (counting) {
        printf("%zu\n", count);
        seen++;
    }
}

/* path NULL: not on the way; "": this is the place. */
static void value(const char *path, int depth)
{
    bool print = path && !*path;
    if (depth > 200) bad("too deep");
    blanks();
    if (at == end) bad("value missing");
    const unsigned char *from = at;
    if (*at == '"') {
        string(print);
        if (print) putchar('\n');
        seen += print;
        return;
    }
    if (*at == '{' || *at == '[') {
        container(print ? NULL : path, depth, *at == '{');
    } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
        number();
    } else {
        static const char *const words[] = {"true", "false", "null"};
        int i = 0;
        while (i < 3 && ((size_t)(end - at) < strlen(words[i]) || memcmp(at, words[i], strlen(words[i])) != 0)) i++;
        if (i == 3) bad("no value");
        at += strlen(words[i]);
    }
    if (!print) return;
    printf("%.*s\n", (int)(at - from), (const char *)from);
    seen++;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: jsonok FILE|- [PATH]\n");
        return 2;
    }
    FILE *file = strcmp(argv[1], "-") == 0 ? stdin : fopen(argv[1], "rb");
    if (!file) {
        perror(argv[1]);
        return 2;
    }
    size_t size = 0, cap = 1 << 16;
    unsigned char *data = malloc(cap);
    for (size_t n; data && (n = fread(data + size, 1, cap - size, file)) > 0;) {
        size += n;
        if (size == cap) data = realloc(data, cap *= 2);
    }
    if (!data) return 2;
    fclose(file);
    text = at = data;
    end = data + size;
    value(argc == 3 ? argv[2] : NULL, 0);
    if (!take('\n')) bad("no line break after the value");
    if (at != end) bad("text after the value");
    free(data);
    return argc == 3 && !seen ? 3 : 0;
}
