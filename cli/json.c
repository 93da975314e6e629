#include "json.h"

#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Memory in blocks; the first word of each links to the one before. */
struct block {
    struct block *before;
    size_t used, size;
};

struct reader {
    struct cli_json_doc *doc;
    const char *s;
    size_t at, n;
    unsigned depth;
};

static void *take(struct cli_json_doc *doc, size_t n)
{
    struct block *b = doc->blocks;
    n = (n + 15) & ~(size_t)15;
    if (!b || b->size - b->used < n) {
        size_t size = n > 16000 ? n : 16000;
        struct block *fresh = cli_alloc(sizeof(*fresh) + size + 16);
        *fresh = (struct block){.before = b, .size = size};
        doc->blocks = b = fresh;
    }
    size_t head = (sizeof(struct block) + 15) & ~(size_t)15;
    void *p = (char *)b + head + b->used;
    b->used += n;
    return p;
}

void cli_json_release(struct cli_json_doc *doc)
{
    struct block *b = doc->blocks;
    while (b) {
        struct block *before = b->before;
        free(b);
        b = before;
    }
    memset(doc, 0, sizeof(*doc));
}

static bool fail(struct reader *r, const char *what)
{
    if (!r->doc->fault) {
        r->doc->fault = what;
        r->doc->fault_at = r->at;
    }
    return false;
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->n && strchr(" \t\r\n", r->s[r->at]) && r->s[r->at]) r->at++;
}

static int peek(struct reader *r)
{
    skip_blanks(r);
    return r->at < r->n ? (unsigned char)r->s[r->at] : -1;
}

/* ---- strings ---- */

static bool read_hex(struct reader *r, uint32_t *out)
{
    if (r->n - r->at < 4) return fail(r, "a \\u escape needs four hexadecimal digits");
    *out = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        unsigned char c = (unsigned char)r->s[r->at];
        unsigned digit = c - '0';
        if (digit > 9) {
            digit = (unsigned)(c | 0x20) - 'a' + 10;
            if (digit < 10 || digit > 15) return fail(r, "a \\u escape needs four hexadecimal digits");
        }
        *out = *out << 4 | digit;
    }
    return true;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)((0xF00u >> n & 0xFF) | c);
    return n;
}

static bool read_escape(struct reader *r, char *out, size_t *used)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->n) return fail(r, "the string does not end");
    char c = r->s[r->at++];
    const char *simple = c ? strchr(names, c) : NULL;
    if (simple) {
        out[(*used)++] = values[simple - names];
        return true;
    }
    if (c != 'u') return fail(r, "unknown escape");
    uint32_t code, low;
    if (!read_hex(r, &code)) return false;
    if (code >= 0xDC00 && code < 0xE000) return fail(r, "unpaired surrogate");
    if (code >= 0xD800 && code < 0xDC00) {
        if (r->n - r->at < 2 || r->s[r->at] != '\\' || r->s[r->at + 1] != 'u') return fail(r, "unpaired surrogate");
        r->at += 2;
        if (!read_hex(r, &low)) return false;
        if (low < 0xDC00 || low >= 0xE000) return fail(r, "unpaired surrogate");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    *used += put_utf8(out + *used, code);
    return true;
}

/* A decoded string is never longer than its source: \u1234 (6 bytes) becomes at most 3. */
static bool read_string(struct reader *r, const char **text, size_t *length)
{
    size_t end = ++r->at;
    while (end < r->n && r->s[end] != '"') end += r->s[end] == '\\' ? 2 : 1;
    if (end >= r->n) return fail(r, "the string does not end");
    char *out = take(r->doc, end - r->at + 1);
    size_t used = 0;
    while (r->at < end) {
        unsigned char c = (unsigned char)r->s[r->at];
        if (c < 0x20) return fail(r, "control character inside a string");
        uint32_t code;
        size_t bytes = cli_utf8(r->s + r->at, end - r->at, &code);
        if (bytes == 0) return fail(r, "invalid UTF-8");
        if (c == '\\') {
            r->at++;
            if (!read_escape(r, out, &used)) return false;
            continue;
        }
        memcpy(out + used, r->s + r->at, bytes);
        used += bytes;
        r->at += bytes;
    }
    r->at = end + 1;
    out[used] = 0;
    *text = out;
    *length = used;
    return true;
}

/* ---- values ---- */

static size_t digits(struct reader *r)
{
    size_t from = r->at;
    while (r->at < r->n && r->s[r->at] >= '0' && r->s[r->at] <= '9') r->at++;
    return r->at - from;
}

static bool next_is(struct reader *r, const char *any)
{
    return r->at < r->n && r->s[r->at] && strchr(any, r->s[r->at]);
}

static bool read_number(struct reader *r, struct cli_json *node)
{
    size_t from = r->at;
    if (next_is(r, "-")) r->at++;
    size_t whole = r->at;
    if (digits(r) == 0) return fail(r, "not a JSON value");
    if (r->s[whole] == '0' && r->at - whole > 1) return fail(r, "number with a leading zero");
    if (next_is(r, ".")) {
        r->at++;
        if (digits(r) == 0) return fail(r, "no digit after the point");
    }
    if (next_is(r, "eE")) {
        r->at++;
        if (next_is(r, "+-")) r->at++;
        if (digits(r) == 0) return fail(r, "no digit in the exponent");
    }
    node->type = CLI_JSON_NUMBER;
    node->length = r->at - from;
    char *text = take(r->doc, node->length + 1);
    memcpy(text, r->s + from, node->length);
    text[node->length] = 0;
    node->text = text;
    return true;
}

static bool read_word(struct reader *r, struct cli_json *node)
{
    static const char *const words[] = {"null", "false", "true"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (r->n - r->at < length || memcmp(r->s + r->at, words[i], length) != 0) continue;
        node->type = (enum cli_json_type)i;
        node->text = i ? words[i] : "";
        node->length = strlen(node->text);
        r->at += length;
        return true;
    }
    return fail(r, "not a JSON value");
}

static bool read_value(struct reader *r, struct cli_json *node);

static bool read_key(struct reader *r, const struct cli_json *object, struct cli_json *member)
{
    if (peek(r) != '"') return fail(r, "a member's name was expected");
    size_t at = r->at;
    if (!read_string(r, &member->key, &member->key_length)) return false;
    for (const struct cli_json *m = object->first; m; m = m->next) {
        if (m->key_length != member->key_length || memcmp(m->key, member->key, m->key_length) != 0) continue;
        r->at = at;
        return fail(r, "the same name twice in one object");
    }
    if (peek(r) != ':') return fail(r, "':' was expected");
    r->at++;
    return true;
}

static bool read_container(struct reader *r, struct cli_json *node)
{
    bool object = r->s[r->at] == '{';
    int close = object ? '}' : ']';
    struct cli_json **tail = &node->first;
    node->type = object ? CLI_JSON_OBJECT : CLI_JSON_ARRAY;
    if (++r->depth > CLI_JSON_DEPTH) return fail(r, "nested too deeply");
    r->at++;
    if (peek(r) != close) {
        for (;;) {
            struct cli_json *child = memset(take(r->doc, sizeof(*child)), 0, sizeof(*child));
            if (object && !read_key(r, node, child)) return false;
            if (!read_value(r, child)) return false;
            *tail = child;
            tail = &child->next;
            node->count++;
            int c = peek(r);
            if (c == close) break;
            if (c != ',') return fail(r, object ? "',' or '}' was expected" : "',' or ']' was expected");
            r->at++;
        }
    }
    r->at++;
    r->depth--;
    return true;
}

static bool read_value(struct reader *r, struct cli_json *node)
{
    int c = peek(r);
    if (c == '{' || c == '[') return read_container(r, node);
    if (c == '"') {
        node->type = CLI_JSON_STRING;
        return read_string(r, &node->text, &node->length);
    }
    if (c == '-' || (c >= '0' && c <= '9')) return read_number(r, node);
    if (c < 0) return fail(r, "the text ends where a value was expected");
    return read_word(r, node);
}

bool cli_json_parse(struct cli_json_doc *doc, const char *text, size_t n)
{
    memset(doc, 0, sizeof(*doc));
    struct reader r = {.doc = doc, .s = text, .n = n};
    struct cli_json *root = memset(take(doc, sizeof(*root)), 0, sizeof(*root));
    if (!read_value(&r, root)) return false;
    if (peek(&r) >= 0) return fail(&r, "text after the value");
    doc->root = root;
    return true;
}

/* ---- looking up ---- */

static const struct cli_json *member(const struct cli_json *node, const char *key, size_t n)
{
    if (!node || node->type != CLI_JSON_OBJECT) return NULL;
    for (const struct cli_json *m = node->first; m; m = m->next) {
        if (m->key_length == n && memcmp(m->key, key, n) == 0) return m;
    }
    return NULL;
}

const struct cli_json *cli_json_get(const struct cli_json *node, const char *key)
{
    return member(node, key, strlen(key));
}

const struct cli_json *cli_json_path(const struct cli_json *node, const char *path)
{
    while (node && *path) {
        size_t n = strcspn(path, ".");
        node = member(node, path, n);
        path += n + (path[n] == '.');
    }
    return node;
}

const struct cli_json *cli_json_first(const struct cli_json *node)
{
    return node ? node->first : NULL;
}

size_t cli_json_count(const struct cli_json *node)
{
    return node ? node->count : 0;
}

bool cli_json_is(const struct cli_json *node, enum cli_json_type type)
{
    return node && node->type == type;
}

bool cli_json_true(const struct cli_json *node)
{
    return cli_json_is(node, CLI_JSON_TRUE);
}

const char *cli_json_text(const struct cli_json *node)
{
    return node && node->text ? node->text : "";
}

bool cli_json_text_is(const struct cli_json *node, const char *text)
{
    return strcmp(cli_json_text(node), text) == 0;
}

bool cli_json_u64(const struct cli_json *node, uint64_t *out)
{
    if (!cli_json_is(node, CLI_JSON_NUMBER) || strspn(node->text, "0123456789") != node->length) return false;
    errno = 0;
    unsigned long long v = strtoull(node->text, NULL, 10);
    if (errno != 0) return false;
    *out = v;
    return true;
}

double cli_json_double(const struct cli_json *node, double otherwise)
{
    return cli_json_is(node, CLI_JSON_NUMBER) ? strtod(node->text, NULL) : otherwise;
}

void cli_json_write(struct cli_out *o, const struct cli_json *node)
{
    bool object = node->type == CLI_JSON_OBJECT;
    if (node->type == CLI_JSON_STRING) {
        cli_out_json(o, node->text, node->length);
        return;
    }
    if (!object && node->type != CLI_JSON_ARRAY) {
        cli_out_text(o, node->type == CLI_JSON_NULL ? "null" : node->text);
        return;
    }
    cli_out_text(o, object ? "{" : "[");
    for (const struct cli_json *m = node->first; m; m = m->next) {
        if (m != node->first) cli_out_text(o, ", ");
        if (object) {
            cli_out_json(o, m->key, m->key_length);
            cli_out_text(o, ": ");
        }
        cli_json_write(o, m);
    }
    cli_out_text(o, object ? "}" : "]");
}
