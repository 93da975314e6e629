/* Helpers for tests over documents of the inference-metadata standard: reading goldens, editing one value. */
#ifndef TN_TEST_STANDARD_UTIL_H
#define TN_TEST_STANDARD_UTIL_H

#include "base/json_write.h"
#include "base/yaml.h"
#include "test.h"

#include <stdlib.h>

/* A document of tests/golden/standard: "samples/NAME" or "packages/NAME". */
static inline bool standard_open(struct tn_json_doc *doc, struct tn_alloc *alloc, const char *name)
{
    const struct tn_limits limits = tn_limits_default();
    char path[8192];
    size_t size;
    const char *tail = strncmp(name, "packages/", 9) == 0 ? "/inference_metadata.yaml" : ".yaml";
    snprintf(path, sizeof(path), "golden/standard/%s%s", name, tail);
    char *text = test_read_file(test_path(path), &size);
    if (!text) return false;
    struct tn_error *err = calloc(1, sizeof(*err));
    enum tn_status st =
        tn_yaml_parse(doc, alloc, &limits, TN_STR("inference_metadata.yaml"), (struct tn_str){text, size}, err);
    if (st) test_fail(__FILE__, __LINE__, "%s: %s", name, err->primary.message);
    free(text);
    free(err);
    return st == TN_OK;
}

enum standard_edit { STANDARD_REPLACE = '=', STANDARD_ADD = '+', STANDARD_REMOVE = '-' };

struct standard_change {
    const char *pointer;
    enum standard_edit edit;
    const char *value; /* JSON text */
};

static inline bool standard_is_there(const struct standard_change *change, struct tn_json v)
{
    char pointer[512];
    tn_json_pointer(v, pointer, sizeof(pointer));
    return strcmp(pointer, change->pointer) == 0;
}

/* Whether the added member belongs into this object, and its name. */
static inline bool standard_adds_to(const struct standard_change *change, struct tn_json object, const char **name)
{
    char pointer[512];
    struct tn_str at = tn_json_pointer(object, pointer, sizeof(pointer));
    const char *last = strrchr(change->pointer, '/');
    *name = last + 1;
    return change->edit == STANDARD_ADD && (size_t)(last - change->pointer) == at.n && memcmp(at.s, change->pointer, at.n) == 0;
}

static inline void standard_write_edited(struct tn_json_writer *w, struct tn_json v, const struct standard_change *change)
{
    struct tn_str s;
    bool b, object = tn_json_is(v, TN_JSON_OBJECT);
    const char *name;
    if (change->edit == STANDARD_REPLACE && standard_is_there(change, v)) {
        tn_jw_raw(w, tn_str_of(change->value));
    } else if (tn_json_str(v, &s)) {
        tn_jw_str(w, s);
    } else if (tn_json_bool(v, &b)) {
        tn_jw_bool(w, b);
    } else if (tn_json_is(v, TN_JSON_NULL)) {
        tn_jw_null(w);
    } else if (!object && !tn_json_is(v, TN_JSON_ARRAY)) {
        tn_jw_raw(w, tn_json_text(v));
    } else {
        object ? tn_jw_begin_object(w) : tn_jw_begin_array(w);
        for (struct tn_json e = tn_json_first(v); tn_json_present(e); e = tn_json_next(e)) {
            if (change->edit == STANDARD_REMOVE && standard_is_there(change, e)) continue;
            if (object) tn_jw_key_str(w, tn_json_key(e));
            standard_write_edited(w, e, change);
        }
        if (object && standard_adds_to(change, v, &name)) {
            tn_jw_key(w, name);
            tn_jw_raw(w, tn_str_of(change->value));
        }
        object ? tn_jw_end_object(w) : tn_jw_end_array(w);
    }
}

/* The document with one change, as a document of its own. The change must have hit something. */
static inline bool standard_edit(struct tn_json_doc *out, struct tn_alloc *alloc, struct tn_json root,
                                 const struct standard_change *change)
{
    const struct tn_limits limits = tn_limits_default();
    bool there = tn_json_present(tn_json_find(root, change->pointer));
    if (there == (change->edit == STANDARD_ADD)) return false;
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, alloc, 16 << 20);
    tn_jw_init(&w, &text, false);
    standard_write_edited(&w, root, change);
    enum tn_status st = tn_buf_status(&text);
    if (!st) st = tn_json_parse_copy(out, alloc, &limits, TN_STR("edited.json"), tn_buf_str(&text), NULL);
    tn_buf_release(&text);
    return st == TN_OK;
}

#endif
