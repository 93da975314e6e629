/*
 * JSON writer over a bounded buffer: keeps commas and nesting, escapes, is deterministic and locale-proof. The sticky
 * error of the buffer is the error of the writer. Strings must be valid UTF-8; other bytes become U+FFFD.
 */
#ifndef TN_BASE_JSON_WRITE_H
#define TN_BASE_JSON_WRITE_H

#include "base/buf.h"
#include "base/json.h"

enum { TN_JW_DEPTH = 64 };

struct tn_json_writer {
    struct tn_buf *out;
    bool pretty; /* two-space indentation */
    unsigned depth;
    bool has_items[TN_JW_DEPTH];
    bool after_key;
};

void tn_jw_init(struct tn_json_writer *w, struct tn_buf *out, bool pretty);

void tn_jw_begin_object(struct tn_json_writer *w);
void tn_jw_end_object(struct tn_json_writer *w);
void tn_jw_begin_array(struct tn_json_writer *w);
void tn_jw_end_array(struct tn_json_writer *w);
void tn_jw_key(struct tn_json_writer *w, const char *key);
void tn_jw_key_str(struct tn_json_writer *w, struct tn_str key);

void tn_jw_str(struct tn_json_writer *w, struct tn_str s);
void tn_jw_cstr(struct tn_json_writer *w, const char *s); /* NULL writes null */
void tn_jw_u64(struct tn_json_writer *w, uint64_t v);
void tn_jw_i64(struct tn_json_writer *w, int64_t v);
void tn_jw_f32(struct tn_json_writer *w, float v);
void tn_jw_f64(struct tn_json_writer *w, double v);
void tn_jw_f32s(struct tn_json_writer *w, const float *x, size_t n); /* an array */
void tn_jw_bool(struct tn_json_writer *w, bool v);
void tn_jw_null(struct tn_json_writer *w);
/* Text that is JSON already, as one value. */
void tn_jw_raw(struct tn_json_writer *w, struct tn_str json);
/* A value of a document with all below it, laid out as the writer lays out; nesting beyond TN_JW_DEPTH fails. */
void tn_jw_json(struct tn_json_writer *w, struct tn_json v);

void tn_jw_member_str(struct tn_json_writer *w, const char *key, struct tn_str s);
void tn_jw_member_cstr(struct tn_json_writer *w, const char *key, const char *s);
void tn_jw_member_u64(struct tn_json_writer *w, const char *key, uint64_t v);
void tn_jw_member_f64(struct tn_json_writer *w, const char *key, double v);
void tn_jw_member_bool(struct tn_json_writer *w, const char *key, bool v);
void tn_jw_member_null(struct tn_json_writer *w, const char *key);

#endif
