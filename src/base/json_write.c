/* The writer; see the header for its rules. */
#include "base/json_write.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

void tn_jw_init(struct tn_json_writer *w, struct tn_buf *out, bool pretty)
{
    *w = (struct tn_json_writer){.out = out, .pretty = pretty};
}

static void new_line(struct tn_json_writer *w)
{
    if (!w->pretty) return;
    tn_buf_putc(w->out, '\n');
    for (unsigned i = 0; i < w->depth; i++) tn_buf_append(w->out, "  ", 2);
}

/* Called before every value or key: puts the comma and the line break. */
static void separate(struct tn_json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->depth == 0) return;
    if (w->has_items[w->depth - 1]) tn_buf_putc(w->out, ',');
    w->has_items[w->depth - 1] = true;
    new_line(w);
}

static void open_scope(struct tn_json_writer *w, char c)
{
    separate(w);
    tn_buf_putc(w->out, c);
    if (w->depth == TN_JW_DEPTH) {
        w->out->failed = TN_RESOURCE_LIMIT;
        return;
    }
    w->has_items[w->depth++] = false;
}

static void close_scope(struct tn_json_writer *w, char c)
{
    if (w->depth == 0) return;
    bool had_items = w->has_items[--w->depth];
    if (had_items) new_line(w);
    tn_buf_putc(w->out, c);
}

void tn_jw_begin_object(struct tn_json_writer *w)
{
    open_scope(w, '{');
}

void tn_jw_end_object(struct tn_json_writer *w)
{
    close_scope(w, '}');
}

void tn_jw_begin_array(struct tn_json_writer *w)
{
    open_scope(w, '[');
}

void tn_jw_end_array(struct tn_json_writer *w)
{
    close_scope(w, ']');
}

static void put_escape(struct tn_buf *out, unsigned char c)
{
    char code[8];
    switch (c) {
    case '"': tn_buf_append(out, "\\\"", 2); return;
    case '\\': tn_buf_append(out, "\\\\", 2); return;
    case '\n': tn_buf_append(out, "\\n", 2); return;
    case '\r': tn_buf_append(out, "\\r", 2); return;
    case '\t': tn_buf_append(out, "\\t", 2); return;
    default:
        snprintf(code, sizeof(code), "\\u%04x", c);
        tn_buf_append(out, code, 6);
    }
}

static void put_string(struct tn_buf *out, struct tn_str s)
{
    tn_buf_putc(out, '"');
    size_t start = 0;
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.s[i];
        uint32_t code_point;
        size_t length = c < 0x80 ? 1 : tn_utf8_decode(s.s + i, s.n - i, &code_point);
        if (length > 0 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) {
            i += length;
            continue;
        }
        tn_buf_append(out, s.s + start, i - start);
        if (length) {
            put_escape(out, c);
        } else {
            tn_buf_append(out, "\xEF\xBF\xBD", 3);
        }
        start = ++i;
    }
    if (s.n > start) tn_buf_append(out, s.s + start, s.n - start);
    tn_buf_putc(out, '"');
}

void tn_jw_key_str(struct tn_json_writer *w, struct tn_str key)
{
    separate(w);
    put_string(w->out, key);
    tn_buf_append(w->out, ": ", w->pretty ? 2 : 1);
    w->after_key = true;
}

void tn_jw_key(struct tn_json_writer *w, const char *key)
{
    tn_jw_key_str(w, tn_str_of(key));
}

void tn_jw_str(struct tn_json_writer *w, struct tn_str s)
{
    separate(w);
    put_string(w->out, s);
}

void tn_jw_cstr(struct tn_json_writer *w, const char *s)
{
    if (s) {
        tn_jw_str(w, tn_str_of(s));
    } else {
        tn_jw_null(w);
    }
}

void tn_jw_raw(struct tn_json_writer *w, struct tn_str json)
{
    separate(w);
    tn_buf_append(w->out, json.s, json.n);
}

void tn_jw_u64(struct tn_json_writer *w, uint64_t v)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);
    tn_jw_raw(w, (struct tn_str){digits, (size_t)n});
}

void tn_jw_i64(struct tn_json_writer *w, int64_t v)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%lld", (long long)v);
    tn_jw_raw(w, (struct tn_str){digits, (size_t)n});
}

void tn_jw_f32(struct tn_json_writer *w, float v)
{
    char digits[32];
    size_t n = tn_format_f32(digits, v);
    tn_jw_raw(w, (struct tn_str){digits, n});
}

void tn_jw_f64(struct tn_json_writer *w, double v)
{
    char digits[32];
    size_t n = tn_format_f64(digits, v);
    tn_jw_raw(w, (struct tn_str){digits, n});
}

void tn_jw_f32s(struct tn_json_writer *w, const float *x, size_t n)
{
    tn_jw_begin_array(w);
    for (size_t i = 0; i < n; i++) tn_jw_f32(w, x[i]);
    tn_jw_end_array(w);
}

void tn_jw_bool(struct tn_json_writer *w, bool v)
{
    tn_jw_raw(w, v ? TN_STR("true") : TN_STR("false"));
}

void tn_jw_null(struct tn_json_writer *w)
{
    tn_jw_raw(w, TN_STR("null"));
}

void tn_jw_json(struct tn_json_writer *w, struct tn_json v)
{
    bool object = tn_json_is(v, TN_JSON_OBJECT);
    if (!object && !tn_json_is(v, TN_JSON_ARRAY)) {
        tn_jw_raw(w, tn_json_text(v));
        return;
    }
    open_scope(w, object ? '{' : '[');
    if (w->out->failed) return; /* also ends the recursion at the writer's depth */
    for (struct tn_json c = tn_json_first(v); tn_json_present(c); c = tn_json_next(c)) {
        if (object) tn_jw_key_str(w, tn_json_key(c));
        tn_jw_json(w, c);
    }
    close_scope(w, object ? '}' : ']');
}

void tn_jw_member_str(struct tn_json_writer *w, const char *key, struct tn_str s)
{
    tn_jw_key(w, key);
    tn_jw_str(w, s);
}

void tn_jw_member_cstr(struct tn_json_writer *w, const char *key, const char *s)
{
    tn_jw_key(w, key);
    tn_jw_cstr(w, s);
}

void tn_jw_member_u64(struct tn_json_writer *w, const char *key, uint64_t v)
{
    tn_jw_key(w, key);
    tn_jw_u64(w, v);
}

void tn_jw_member_f64(struct tn_json_writer *w, const char *key, double v)
{
    tn_jw_key(w, key);
    tn_jw_f64(w, v);
}

void tn_jw_member_bool(struct tn_json_writer *w, const char *key, bool v)
{
    tn_jw_key(w, key);
    tn_jw_bool(w, v);
}

void tn_jw_member_null(struct tn_json_writer *w, const char *key)
{
    tn_jw_key(w, key);
    tn_jw_null(w);
}
