/* The text form; see the header. One pass, an explicit stack of open messages, positions turned into lines on error. */
#include "package/onnx_text.h"

#include "base/json.h"
#include "base/utf8.h"
#include "package/wire.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A message whose end has not come; its length is written back over five bytes that were left for it. */
struct frame {
    enum tn_onnx_message message;
    const struct tn_onnx_field *field; /* NULL for the model */
    size_t length_at;
    char close;
    bool in_list;
};
enum { LENGTH_BYTES = 5, MOST_DEPTH = 1 << 20 };

struct parser {
    const struct tn_context *ctx;
    struct tn_str file;
    const char *start, *at, *end;
    struct tn_buf *out;
    struct tn_error *err;
    enum tn_status failed;
    struct frame *frames;
    uint64_t depth, depth_limit; /* frames in use, and how many there are */
};

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static bool malformed(struct parser *p, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool malformed(struct parser *p, const char *at, const char *format, ...)
{
    unsigned long long line = 1, column = 1;
    if (p->failed) return false;
    for (const char *c = p->start; c < at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    char found[200];
    va_list args;
    va_start(args, format);
    vsnprintf(found, sizeof(found), format, args);
    va_end(args);
    p->failed = TN_ARTIFACT_MALFORMED;
    struct tn_finding *f =
        tn_error_set(p->err, TN_ARTIFACT_MALFORMED, TN_PHASE_PACKAGE, "the text form of a model cannot be read");
    tn_at_offset(f, p->file, (uint64_t)(at - p->start));
    tn_found(f, "line %llu, column %llu: %s", line, column, found);
    tn_expected(f, "a ModelProto in protobuf's text form");
    return false;
}

static bool over_limit(struct parser *p, const char *name, uint64_t limit)
{
    if (p->failed) return false;
    p->failed = TN_RESOURCE_LIMIT;
    struct tn_finding *f =
        tn_error_set(p->err, TN_RESOURCE_LIMIT, TN_PHASE_PACKAGE, "the model exceeds the limit %s", name);
    tn_at_offset(f, p->file, (uint64_t)(p->at - p->start));
    tn_found(f, "more than %llu", (unsigned long long)limit);
    tn_expected(f, "at most %llu", (unsigned long long)limit);
    return false;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static void put_varint(struct parser *p, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) tn_buf_putc(p->out, (char)(unsigned char)(value | 0x80));
    tn_buf_putc(p->out, (char)(unsigned char)value);
}

static void put_key(struct parser *p, const struct tn_onnx_field *field, unsigned type)
{
    put_varint(p, (uint64_t)field->number << 3 | type);
}

static void put_fixed(struct parser *p, uint64_t bits, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) tn_buf_putc(p->out, (char)(unsigned char)(bits >> (8 * i)));
}

static void write_length(struct parser *p, size_t at, uint64_t length)
{
    if (tn_buf_status(p->out)) return; /* there may be no bytes to write to */
    for (unsigned i = 0; i < LENGTH_BYTES; i++) {
        unsigned more = i + 1 < LENGTH_BYTES ? 0x80 : 0;
        p->out->data[at + i] = (char)(unsigned char)((length >> (7 * i) & 0x7F) | more);
    }
}

static size_t leave_length(struct parser *p)
{
    size_t at = p->out->len;
    put_fixed(p, 0, LENGTH_BYTES);
    return at;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void skip_space(struct parser *p)
{
    for (; p->at < p->end; p->at++) {
        if (*p->at == '#') {
            while (p->at < p->end && *p->at != '\n') p->at++;
            if (p->at == p->end) return;
        } else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\n' && *p->at != '\r' && *p->at != '\f' &&
                   *p->at != '\v') {
            return;
        }
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static bool peek(struct parser *p, char c)
{
    skip_space(p);
    return p->at < p->end && *p->at == c;
}

static bool accept(struct parser *p, char c)
{
    if (!peek(p, c)) return false;
    p->at++;
    return true;
}

/* Letters, digits and what numbers are written with. */
static struct tn_str word(struct parser *p)
{
    skip_space(p);
    const char *from = p->at;
    while (p->at < p->end && (is_word(*p->at) || *p->at == '.' || *p->at == '+' || *p->at == '-')) p->at++;
    return (struct tn_str){from, (size_t)(p->at - from)};
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static int digit_value(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

/* Decimal, 0x hexadecimal or 0 octal digits. */
static bool unsigned_number(struct tn_str s, uint64_t *out)
{
    int base = 10;
    uint64_t value = 0;
    if (s.n > 1 && s.s[0] == '0') {
        bool hex = s.s[1] == 'x' || s.s[1] == 'X';
        base = hex ? 16 : 8;
        s.s += hex ? 2 : 1;
        s.n -= hex ? 2 : 1;
    }
    for (size_t i = 0; i < s.n; i++) {
        int digit = digit_value(s.s[i]);
        if (digit >= base || value > (UINT64_MAX - (uint64_t)digit) / (uint64_t)base) return false;
        value = value * (uint64_t)base + (uint64_t)digit;
    }
    *out = value;
    return s.n > 0;
}

static bool integer(struct parser *p, const struct tn_onnx_field *field)
{
    const char *at = p->at;
    bool negative = accept(p, '-');
    struct tn_str text = word(p);
    uint64_t value = 0, limit = (UINT64_C(1) << 63) - !negative;
    bool named = field->kind == TN_ONNX_ENUM && !negative &&
                 tn_onnx_enumerator((enum tn_onnx_enum)field->sub, text, &value);
    if (!named && (!unsigned_number(text, &value) || (negative && field->kind == TN_ONNX_UINT) ||
                   (value > limit && field->kind != TN_ONNX_UINT)))
        return malformed(p, at, "%s takes no value \"%.*s\"", field->name, text.n > 40 ? 40 : (int)text.n, text.s);
    put_key(p, field, TN_WIRE_VARINT);
    put_varint(p, negative ? ~value + 1 : value);
    return true;
}

/* Copies digits; how many there were. */
static size_t copy_digits(struct tn_str s, size_t *at, char *out, size_t *n)
{
    size_t from = *at;
    for (; *at < s.n && is_digit(s.s[*at]); ++*at) out[(*n)++] = s.s[*at];
    return *at - from;
}

/* Digits, a point, an exponent, a suffix "f"; handed on as JSON writes it, with digits on both sides of the point. */
static bool decimal(struct tn_str s, double *out)
{
    char text[128];
    size_t n = 0, at = 0;
    if (s.n && (s.s[s.n - 1] == 'f' || s.s[s.n - 1] == 'F')) s.n--;
    if (s.n > sizeof(text) - 8) return false;
    while (at + 1 < s.n && s.s[at] == '0' && is_digit(s.s[at + 1])) at++; /* JSON has no leading zeros */
    size_t whole = copy_digits(s, &at, text, &n), part = 0;
    if (whole == 0) text[n++] = '0';
    if (at < s.n && s.s[at] == '.') {
        text[n++] = s.s[at++];
        part = copy_digits(s, &at, text, &n);
        if (part == 0) text[n++] = '0';
    }
    if (whole + part == 0) return false;
    if (at < s.n && (s.s[at] == 'e' || s.s[at] == 'E')) {
        text[n++] = s.s[at++];
        if (at < s.n && (s.s[at] == '+' || s.s[at] == '-')) text[n++] = s.s[at++];
        if (copy_digits(s, &at, text, &n) == 0) return false;
    }
    return at == s.n && tn_parse_f64((struct tn_str){text, n}, out);
}

static bool real(struct parser *p, const struct tn_onnx_field *field)
{
    const char *at = p->at;
    bool negative = accept(p, '-');
    struct tn_str text = word(p);
    double value = 0;
    if (tn_str_is(text, "inf") || tn_str_is(text, "infinity")) {
        value = (double)INFINITY;
    } else if (tn_str_is(text, "nan")) {
        value = (double)NAN;
    } else if (!decimal(text, &value)) {
        return malformed(p, at, "%s takes no value \"%.*s\"", field->name, text.n > 40 ? 40 : (int)text.n, text.s);
    }
    if (negative) value = -value;
    uint64_t bits = 0;
    if (field->kind == TN_ONNX_DOUBLE) {
        memcpy(&bits, &value, sizeof(value));
        put_key(p, field, TN_WIRE_FIXED64);
        put_fixed(p, bits, 8);
    } else {
        float narrow = (float)value;
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow, sizeof(narrow));
        put_key(p, field, TN_WIRE_FIXED32);
        put_fixed(p, narrow_bits, 4);
    }
    return true;
}

/* ---- strings ----------------------------------------------------------------------------------------------------- */

/* Up to `most` digits of the base behind p->at. */
static uint32_t digits(struct parser *p, int base, unsigned most, unsigned *count)
{
    uint32_t value = 0;
    for (*count = 0; *count < most && p->at < p->end && digit_value(*p->at) < base; ++*count, p->at++)
        value = value * (uint32_t)base + (uint32_t)digit_value(*p->at);
    return value;
}

static bool code_point(struct parser *p, const char *at, unsigned width)
{
    char text[4];
    unsigned count;
    uint32_t c = digits(p, 16, width, &count);
    if (count != width || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return malformed(p, at, "an escape that is no character");
    tn_buf_append(p->out, text, tn_utf8_encode(c, text));
    return true;
}

/* Behind the backslash. */
static bool escape(struct parser *p)
{
    static const char from[] = "abfnrtv\\\"'?", to[] = "\a\b\f\n\r\t\v\\\"'?";
    const char *at = p->at - 1;
    unsigned count;
    if (p->at == p->end) return malformed(p, at, "a string is not closed");
    char c = *p->at++;
    const char *plain = c ? strchr(from, c) : NULL;
    if (plain) {
        tn_buf_putc(p->out, to[plain - from]);
        return true;
    }
    if (c == 'u' || c == 'U') return code_point(p, at, c == 'u' ? 4 : 8);
    bool hex = c == 'x' || c == 'X';
    if (!hex) p->at--;
    uint32_t value = digits(p, hex ? 16 : 8, hex ? 2 : 3, &count);
    if (count == 0 || value > 255) return malformed(p, at, "an escape that does not exist");
    tn_buf_putc(p->out, (char)(unsigned char)value);
    return true;
}

/* One or more quoted pieces, joined. */
static bool string(struct parser *p, const struct tn_onnx_field *field)
{
    skip_space(p);
    if (p->at == p->end || (*p->at != '"' && *p->at != '\''))
        return malformed(p, p->at, "%s takes a string", field->name);
    put_key(p, field, TN_WIRE_BYTES);
    size_t at = leave_length(p), from = p->out->len;
    do {
        const char *open = p->at++;
        while (p->at < p->end && *p->at != *open) {
            if (*p->at == '\n') return malformed(p, open, "a string is not closed");
            if (*p->at != '\\') {
                tn_buf_putc(p->out, *p->at++);
                continue;
            }
            p->at++;
            if (!escape(p)) return false;
        }
        if (p->at == p->end) return malformed(p, open, "a string is not closed");
        p->at++;
    } while (peek(p, '"') || peek(p, '\''));
    write_length(p, at, p->out->len - from);
    return true;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static bool open_message(struct parser *p, const struct tn_onnx_field *field, bool in_list)
{
    char close = peek(p, '<') ? '>' : '}';
    if (!accept(p, '{') && !accept(p, '<')) return malformed(p, p->at, "%s takes a message in braces", field->name);
    if (p->depth == p->depth_limit) return over_limit(p, "json_depth", p->depth_limit - 1);
    put_key(p, field, TN_WIRE_BYTES);
    p->frames[p->depth++] = (struct frame){
        .message = (enum tn_onnx_message)field->sub,
        .field = field,
        .length_at = leave_length(p),
        .close = close,
        .in_list = in_list,
    };
    return true;
}

/* The next element of a list of messages, or its end. */
static bool next_element(struct parser *p, const struct tn_onnx_field *field)
{
    if (accept(p, ']')) return true;
    if (!accept(p, ',')) return malformed(p, p->at, "a list goes on with a comma or ends");
    return open_message(p, field, true);
}

static bool close_message(struct parser *p)
{
    struct frame *frame = &p->frames[--p->depth];
    write_length(p, frame->length_at, p->out->len - frame->length_at - LENGTH_BYTES);
    return !frame->in_list || next_element(p, frame->field);
}

static bool scalar(struct parser *p, const struct tn_onnx_field *field)
{
    switch ((enum tn_onnx_field_kind)field->kind) {
    case TN_ONNX_INT:
    case TN_ONNX_UINT:
    case TN_ONNX_ENUM: return integer(p, field);
    case TN_ONNX_FLOAT:
    case TN_ONNX_DOUBLE: return real(p, field);
    case TN_ONNX_STRING:
    case TN_ONNX_BYTES:
    case TN_ONNX_NESTED: break;
    }
    return string(p, field);
}

static bool list(struct parser *p, const struct tn_onnx_field *field)
{
    if (!field->repeated) return malformed(p, p->at, "%s takes one value and no list", field->name);
    if (accept(p, ']')) return true;
    if (field->kind == TN_ONNX_NESTED) return open_message(p, field, true);
    do {
        if (!scalar(p, field)) return false;
    } while (accept(p, ','));
    return accept(p, ']') || malformed(p, p->at, "a list goes on with a comma or ends");
}

static bool field_of(struct parser *p, enum tn_onnx_message message)
{
    skip_space(p);
    struct tn_str name = {p->at, 0};
    while (p->at < p->end && is_word(*p->at)) p->at++;
    name.n = (size_t)(p->at - name.s);
    if (name.n == 0) return malformed(p, name.s, "the name of a field is missing");
    const struct tn_onnx_field *field = tn_onnx_field_named(message, name);
    if (!field)
        return malformed(p, name.s, "%s has no field \"%.*s\"", tn_onnx_message_name(message),
                         name.n > 60 ? 60 : (int)name.n, name.s);
    bool colon = accept(p, ':');
    if (colon && accept(p, '[')) return list(p, field);
    if (field->kind == TN_ONNX_NESTED) return open_message(p, field, false);
    return colon ? scalar(p, field) : malformed(p, p->at, "a colon is missing behind %s", field->name);
}

static bool step(struct parser *p)
{
    struct frame *frame = &p->frames[p->depth - 1];
    bool fine = frame->close && accept(p, frame->close) ? close_message(p) : field_of(p, frame->message);
    if (fine && !accept(p, ',')) accept(p, ';');
    return fine;
}

enum tn_status tn_onnx_text_to_bytes(const struct tn_context *ctx, struct tn_str file, struct tn_str text,
                                     struct tn_buf *out, struct tn_error *err)
{
    struct parser p = {
        .ctx = ctx,
        .file = file,
        .start = text.s,
        .at = text.s,
        .end = text.s + text.n,
        .out = out,
        .err = err,
        .depth = 1,
        .depth_limit = 1 + (ctx->limits.json_depth < MOST_DEPTH ? ctx->limits.json_depth : MOST_DEPTH),
    };
    p.frames = tn_calloc(ctx->alloc, (size_t)p.depth_limit, sizeof(*p.frames));
    if (!p.frames) return tn_error_memory(err, TN_PHASE_PACKAGE, "reading the text form of a model");
    p.frames[0].message = TN_ONNX_MODEL;
    for (skip_space(&p); !p.failed && p.at < p.end; skip_space(&p)) {
        if (!step(&p) || tn_buf_status(out)) break;
    }
    if (!p.failed && !tn_buf_status(out) && p.depth > 1) malformed(&p, p.end, "a message is not closed");
    tn_free(ctx->alloc, p.frames);
    if (tn_buf_status(out) == TN_INSUFFICIENT_MEMORY)
        return tn_error_memory(err, TN_PHASE_PACKAGE, "reading the text form of a model");
    if (tn_buf_status(out)) over_limit(&p, "bytes of a model in text form", out->max);
    return p.failed;
}
