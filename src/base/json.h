/*
 * The one reader for untrusted JSON. Strict RFC 8259: valid UTF-8, no trailing text, no lone surrogates, duplicate keys
 * refused, bounded in bytes, depth and nodes. Not recursive. A document is immutable once parsed and may be read from
 * any thread.
 *
 * Values are small handles into one array of nodes in document order; a handle is valid while the document lives.
 * Strings are views: into the text when they hold no escape, else into the document's own memory. So the text must
 * outlive the document; tn_json_parse_copy keeps a copy of its own.
 */
#ifndef TN_BASE_JSON_H
#define TN_BASE_JSON_H

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"

enum tn_json_type {
    TN_JSON_NULL,
    TN_JSON_BOOL,
    TN_JSON_NUMBER,
    TN_JSON_STRING,
    TN_JSON_ARRAY,
    TN_JSON_OBJECT
};

struct tn_json_node;

struct tn_json_doc {
    struct tn_arena arena; /* unescaped strings */
    struct tn_alloc *alloc;
    struct tn_json_node *nodes;
    uint32_t count, cap;
    struct tn_str text;
    char *owned;        /* the text, when the document was given it */
    uint32_t *places;   /* per node its byte in the file, when that is not JSON (base/yaml.h); else NULL */
    struct tn_str file; /* path inside the package, for error places; a copy */
};

/* A value; .doc is NULL for "absent", which every accessor accepts. */
struct tn_json {
    const struct tn_json_doc *doc;
    uint32_t node;
};

/* On failure *doc is released and zeroed. `file` names the document in errors. */
enum tn_status tn_json_parse(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits,
                             struct tn_str file, struct tn_str text, struct tn_error *err);
enum tn_status tn_json_parse_copy(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits,
                                  struct tn_str file, struct tn_str text, struct tn_error *err);
/* The text is memory of `alloc` (tn_malloc) and leaves the caller, on failure too. */
enum tn_status tn_json_parse_take(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits,
                                  struct tn_str file, struct tn_str text, struct tn_error *err);
/* Zeroed documents may be released. */
void tn_json_release(struct tn_json_doc *doc);

struct tn_json tn_json_root(const struct tn_json_doc *doc);
bool tn_json_present(struct tn_json v);
enum tn_json_type tn_json_type(struct tn_json v); /* absent: TN_JSON_NULL */
const char *tn_json_type_name(enum tn_json_type type);
bool tn_json_is(struct tn_json v, enum tn_json_type type); /* false when absent */

/* Members of an object or elements of an array; 0 for anything else. */
size_t tn_json_count(struct tn_json v);
/* Member by name (linear), or absent. */
struct tn_json tn_json_get(struct tn_json object, const char *key);
struct tn_json tn_json_get_str(struct tn_json object, struct tn_str key);
/* Element by index (linear: iterate with first/next instead), or absent. */
struct tn_json tn_json_at(struct tn_json array, size_t index);
/* Value at an RFC 6901 pointer below v, or absent. */
struct tn_json tn_json_find(struct tn_json v, const char *pointer);

/* Iteration: first child (absent when empty) and next sibling (absent at the end). Object children are the values. */
struct tn_json tn_json_first(struct tn_json v);
struct tn_json tn_json_next(struct tn_json v);
/* The container that holds the value; absent for the root. */
struct tn_json tn_json_parent(struct tn_json v);
/* Values in v, itself included, are those of its document whose number is v.node or more and less than this. */
uint32_t tn_json_end(struct tn_json v);
/* Key of a value that is an object's member; empty otherwise. */
struct tn_str tn_json_key(struct tn_json v);

/* Typed reads: false (and *out untouched) when absent, of another type, or out of range. */
bool tn_json_bool(struct tn_json v, bool *out);
bool tn_json_str(struct tn_json v, struct tn_str *out);
bool tn_json_f64(struct tn_json v, double *out); /* any number; false when it overflows double */
bool tn_json_i64(struct tn_json v, int64_t *out); /* integral in value: 3, 3.0 and 3e0 alike, exactly representable */
bool tn_json_u64(struct tn_json v, uint64_t *out);
/* Whether the number was written without fraction and exponent. */
bool tn_json_is_integer(struct tn_json v);
/* The value's own bytes in the text (numbers, literals, strings with quotes, whole containers). Of YAML: the same as JSON. */
struct tn_str tn_json_text(struct tn_json v);

/* Byte offset of the value in the file that was read. */
uint64_t tn_json_offset(struct tn_json v);
/* RFC 6901 pointer of the value, always NUL-terminated, cut at cap. Returns a view of buf. */
struct tn_str tn_json_pointer(struct tn_json v, char *buf, size_t cap);
/* Sets f's place to file + pointer of v. */
void tn_at_json(struct tn_finding *f, struct tn_json v);
/* Sets f's place to file + pointer of a member `key` of `object`, present or not. */
void tn_at_json_member(struct tn_finding *f, struct tn_json object, const char *key);

/* Locale-proof text to double; the text is a JSON number of at most 400 bytes. Used by the reader and by options. */
bool tn_parse_f64(struct tn_str text, double *out);

#endif
