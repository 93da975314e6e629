/*
 * Closed documents as tables. A document that we read or print is described once, by constants: which members an object
 * has, which are required, what each may hold. From the same constants come the check of a document (all problems of one
 * pass, each at its JSON pointer) and its JSON Schema (draft 2020-12). The tables say shape; what values mean together is
 * checked elsewhere.
 *
 * Three decisions hold for every table. An object is closed unless its type says otherwise: an unknown member is refused,
 * with the nearest known name. A null where a member may be null is the same as an absent member, also in rules. Numbers
 * must fit the width that they are declared with.
 *
 * Tables are trusted constants of ours; documents are not.
 */
#ifndef TN_BASE_DOCTYPE_H
#define TN_BASE_DOCTYPE_H

#include "base/json.h"
#include "base/json_write.h"

#include <float.h>

enum tn_doc_kind {
    TN_DOC_ANY,    /* any value */
    TN_DOC_NOTHING, /* null, as an alternative */
    TN_DOC_BOOL,
    TN_DOC_INT,    /* integral in value; least..most */
    TN_DOC_NUMBER, /* low..high */
    TN_DOC_STRING, /* min_length */
    TN_DOC_ENUM,   /* a string of `values`; with `open` any other as well (an extension) that is not empty */
    TN_DOC_LIST,   /* of `items`; min_items, unique */
    TN_DOC_MAP,    /* object with any keys and values of `items`; named */
    TN_DOC_OBJECT, /* `fields`, `rules`, min_items members; with `items` also other members, of that type */
    TN_DOC_UNION,  /* object whose member `tag` names one of `variants` */
    TN_DOC_CHOICE  /* first of `choices` that takes the value's JSON type; among objects, the first whose required members
                      are all there */
};

enum tn_docfield_flags {
    TN_DOC_REQUIRED = 1,
    TN_DOC_NULLABLE = 2,
    TN_DOC_DEPRECATED = 4 /* taken, with a note */
};

struct tn_doctype;

struct tn_docfield {
    const char *name;
    const struct tn_doctype *type;
    unsigned flags;
    const char *absent; /* JSON text of what an absent member means; NULL: nothing is assumed */
    const char *note;   /* what it is, one sentence of ours; NULL: the type's note says it */
};

/* A condition across members of one object. Exactly one of the two forms. */
struct tn_docrule {
    const char *field, *value;      /* when member `field` is the string `value` ... */
    const char *const *required;    /* ... these members are required; NULL-terminated */
    const char *pointer, *conflict; /* or: what these two pointers name, below the object, excludes each other */
    const char *why;                /* ends the finding's message */
};

struct tn_docvariant {
    const char *tag;
    const char *note;
    const struct tn_docfield *fields; /* without the tag */
    size_t field_count;
};

struct tn_doctype {
    enum tn_doc_kind kind;
    const char *name; /* its entry in $defs; NULL: written out where it is used */
    const char *note;
    const char *format; /* INT, NUMBER: the width's name, "uint32" */
    int64_t least;
    uint64_t most;
    double low, high;
    size_t min_length;
    const char *const *values; /* NULL-terminated */
    bool open;
    const struct tn_doctype *items;
    size_t min_items;
    bool unique; /* LIST of strings */
    bool named;  /* MAP: a key names something, and a name is not empty */
    const struct tn_docfield *fields; /* at most 64 */
    size_t field_count;
    const struct tn_docrule *rules;
    size_t rule_count;
    const char *tag;
    const struct tn_docvariant *variants;
    size_t variant_count;
    const struct tn_doctype *const *choices; /* NULL-terminated */
};

enum {
    TN_DOCTYPE_DEPTH = 128, /* values checked below one another; deeper ones are TN_RESOURCE_LIMIT */
    TN_DOCTYPE_DEFS = 256   /* named types that one schema may reach */
};

/*
 * Checks a value and everything below it; adds a blocker with code TN_METADATA_INVALID for each problem, in document
 * order. Returns TN_OK, TN_METADATA_INVALID, TN_RESOURCE_LIMIT (too deep: a finding as well) or TN_INSUFFICIENT_MEMORY
 * (findings may be incomplete). `findings` may be NULL when only the verdict matters. An absent value is refused.
 */
enum tn_status tn_doctype_check(struct tn_json value, const struct tn_doctype *type, enum tn_phase phase,
                                struct tn_findings *findings);

/*
 * Where a document is broken, for checks that come after and must not call the consequence of a broken value a fault of
 * its own. Zeroed: nothing is. A value that has the wrong form is broken as a whole: nothing is known of it, nor of what
 * it holds. A member that is missing, or stands under a name that is nearly its own, is unknown by its name.
 */
struct tn_doc_marks {
    struct tn_alloc *alloc;
    struct tn_doc_mark {
        uint32_t node;
        const char *member; /* of the object, by the table's name; NULL: the value itself */
    } *items; /* by node */
    size_t count, cap;
    bool lost; /* no memory: incomplete */
};

/* The same as tn_doctype_check; adds to *marks, whose memory is that of the value's document. */
enum tn_status tn_doctype_check_marked(struct tn_json value, const struct tn_doctype *type, enum tn_phase phase,
                                       struct tn_findings *findings, struct tn_doc_marks *marks);
/* One more, found by somebody else: the value as a whole. */
void tn_doc_marks_whole(struct tn_doc_marks *marks, struct tn_json value);
void tn_doc_marks_release(struct tn_doc_marks *marks);
/* An absent value is never broken; marks may be NULL, which marks nothing. */
/* Whether the value is broken or lies in a broken one. */
bool tn_doc_is_broken(const struct tn_doc_marks *marks, struct tn_json value);
/* The same, or it holds something that is broken or unknown. */
bool tn_doc_is_touched(const struct tn_doc_marks *marks, struct tn_json value);
/* Whether nothing is known of a member, be it there or not: the object is broken, the member unknown, or touched. */
bool tn_doc_hides(const struct tn_doc_marks *marks, struct tn_json object, const char *member);

struct tn_doctype_title {
    const char *id;    /* the schema's $id */
    const char *title;
};

/*
 * One JSON Schema: `root` written out, every named type that it reaches in $defs, sorted by name. Same tables, same
 * bytes. The writer's buffer holds the error, if any; a table that reaches more than TN_DOCTYPE_DEFS named types makes it
 * TN_RESOURCE_LIMIT.
 */
void tn_doctype_print_schema(struct tn_json_writer *w, const struct tn_doctype *root, const struct tn_doctype_title *title);

/* Member of a type by name, or NULL. For tests and for texts that quote a table. */
const struct tn_docfield *tn_doctype_field(const struct tn_doctype *type, struct tn_str name);

#endif
