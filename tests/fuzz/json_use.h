/* What the fuzz targets do with a document that was accepted: read every value in each type, name it by pointer, find it. */
#ifndef TN_FUZZ_JSON_USE_H
#define TN_FUZZ_JSON_USE_H

#include "base/json.h"
#include "base/json_write.h"

#include <string.h>

static inline void require(bool condition)
{
    if (!condition) __builtin_trap();
}

static inline void write_value(struct tn_json_writer *w, struct tn_json v);

static inline void write_children(struct tn_json_writer *w, struct tn_json v)
{
    bool object = tn_json_is(v, TN_JSON_OBJECT);
    size_t count = 0;
    for (struct tn_json child = tn_json_first(v); tn_json_present(child); child = tn_json_next(child), count++) {
        if (object) tn_jw_key_str(w, tn_json_key(child));
        write_value(w, child);
    }
    require(count == tn_json_count(v));
}

/* Writes the value, on the way reading it. Depth below TN_JW_DEPTH. */
static inline void write_value(struct tn_json_writer *w, struct tn_json v)
{
    bool flag;
    struct tn_str text;
    double number;
    int64_t i;
    uint64_t u;
    switch (tn_json_type(v)) {
    case TN_JSON_NULL: tn_jw_null(w); break;
    case TN_JSON_BOOL:
        require(tn_json_bool(v, &flag));
        tn_jw_bool(w, flag);
        break;
    case TN_JSON_NUMBER:
        if (tn_json_i64(v, &i) && i >= 0) require(tn_json_u64(v, &u) && u == (uint64_t)i);
        if (tn_json_f64(v, &number)) require(number - number == 0);
        tn_jw_raw(w, tn_json_text(v));
        break;
    case TN_JSON_STRING:
        require(tn_json_str(v, &text));
        tn_jw_str(w, text);
        break;
    case TN_JSON_ARRAY:
        tn_jw_begin_array(w);
        write_children(w, v);
        tn_jw_end_array(w);
        break;
    case TN_JSON_OBJECT:
        tn_jw_begin_object(w);
        write_children(w, v);
        tn_jw_end_object(w);
        break;
    }
}

/* A pointer that was not cut leads back to the value. */
static inline void check_pointers(struct tn_json root, struct tn_json v, unsigned depth)
{
    char pointer[200];
    struct tn_str text = tn_json_pointer(v, pointer, sizeof(pointer));
    if (text.n + 10 < sizeof(pointer) && !memchr(pointer, 0, text.n)) {
        struct tn_json again = tn_json_find(root, pointer);
        require(again.doc == v.doc && again.node == v.node);
    }
    unsigned visited = 0;
    if (depth > 8) return;
    for (struct tn_json child = tn_json_first(v); tn_json_present(child) && visited++ < 16;
         child = tn_json_next(child)) {
        check_pointers(root, child, depth + 1);
    }
}

#endif
