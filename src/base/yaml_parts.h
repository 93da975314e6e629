/* What the YAML reader (yaml.c) asks of its helpers: check of the raw text, core schema, anchors. Private to src/base/yaml*. */
#ifndef TN_BASE_YAML_PARTS_H
#define TN_BASE_YAML_PARTS_H

#include "base/arena.h"
#include "base/buf.h"

/* ---- yaml_text.c ------------------------------------------------------------------------------------------------ */

/* The first thing in the raw text that may not be there; `what` is NULL when there is none. */
struct tn_yaml_flaw {
    const char *what, *expected;
    size_t offset;
};
struct tn_yaml_flaw tn_yaml_check_text(struct tn_str text);
/* Lines that begin with '%', wherever they stand: at least as many as there are directives. */
size_t tn_yaml_count_directives(struct tn_str text);
/* Line and column of a byte, counted from 1, columns in characters, as libyaml counts them. */
struct tn_yaml_position {
    size_t line, column;
};
struct tn_yaml_position tn_yaml_position(struct tn_str text, size_t offset);

/* ---- yaml_scalar.c ---------------------------------------------------------------------------------------------- */

enum tn_yaml_class {
    TN_YAML_NULL,
    TN_YAML_TRUE,
    TN_YAML_FALSE,
    TN_YAML_DECIMAL,
    TN_YAML_OCTAL,
    TN_YAML_HEX,
    TN_YAML_FLOAT,
    TN_YAML_NOT_FINITE,
    TN_YAML_STRING
};

/* What a plain scalar without a tag is. */
enum tn_yaml_class tn_yaml_classify(struct tn_str s);
/*
 * What the text is under the core tag of that name ("int"). False when the two do not agree. *as_float: it is a decimal
 * integer that the tag makes a float.
 */
bool tn_yaml_apply_tag(const char *name, enum tn_yaml_class *class, bool *as_float);
/* Appends JSON of the same value; false when an octal or hexadecimal integer has more than 64 bits. Not for strings. */
bool tn_yaml_put_value(struct tn_buf *out, enum tn_yaml_class class, struct tn_str s);
/* Appends a decimal integer as a float: 3 as 3.0. */
void tn_yaml_put_decimal_as_float(struct tn_buf *out, struct tn_str s);
/* Whether JSON spells this null, boolean or integer in the same way, so that as a key it has one reading. */
bool tn_yaml_is_plain_key(enum tn_yaml_class class, struct tn_str s);

/* ---- yaml_anchors.c --------------------------------------------------------------------------------------------- */

/* What a name stands for: a range of the JSON text and of the places. */
struct tn_yaml_anchor {
    struct tn_str name;
    uint32_t from, to; /* to 0: not complete yet */
    uint32_t first_place, last_place;
    uint32_t height;     /* levels of containers in it, 0 for a scalar */
    size_t scalar_bytes; /* of a string */
};

struct tn_yaml_anchors {
    struct tn_alloc *alloc;
    struct tn_arena names;
    struct tn_yaml_anchor *items; /* in the order of their definition */
    size_t count, cap;
    uint32_t *sorted; /* the latest item of each name, by name */
    size_t sorted_count, sorted_cap;
};

void tn_yaml_anchors_init(struct tn_yaml_anchors *a, struct tn_alloc *alloc);
void tn_yaml_anchors_release(struct tn_yaml_anchors *a);
/* Appends; a name that is there already means the new one from now on. False without memory. */
bool tn_yaml_anchors_add(struct tn_yaml_anchors *a, struct tn_str name, const struct tn_yaml_anchor *anchor);
/* The latest of that name, or NULL; valid until the next add. */
const struct tn_yaml_anchor *tn_yaml_anchors_find(const struct tn_yaml_anchors *a, struct tn_str name);

/* Makes room for `count` items of `size` bytes by doubling; *cap counts items. False without memory. */
bool tn_yaml_make_room(struct tn_alloc *alloc, void **items, size_t *cap, size_t count, size_t size);

#endif
