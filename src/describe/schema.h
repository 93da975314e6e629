/*
 * Configuration schemas: one constant table per family (and per module kind). Each row says what a field means to us.
 * The tables live in src/family and are handed to the dialects as data by src/api.
 */
#ifndef TN_DESCRIBE_SCHEMA_H
#define TN_DESCRIBE_SCHEMA_H

#include "base/status.h"

enum tn_field_class {
    TN_FIELD_UNDERSTOOD,  /* read and used under its normalised name */
    TN_FIELD_DESCRIPTIVE, /* kept, never changes an answer */
    TN_FIELD_SEMANTIC     /* would change answers: refused unless it holds the value that means "off" */
};

enum tn_field_type {
    TN_TYPE_BOOL,
    TN_TYPE_UINT,   /* integral number >= 0 */
    TN_TYPE_NUMBER,
    TN_TYPE_STRING,
    TN_TYPE_WORDS,  /* a string, or a list of strings; the value is the words joined by "|", without spaces around them */
    TN_TYPE_ANY     /* the type does not matter; in an understood row: recognised here, read by code of its own */
};

/* Value of a fact. */
struct tn_value {
    enum tn_field_type type;
    bool present; /* false: JSON null, or absent without default */
    bool b;
    uint64_t u;
    double f;
    struct tn_str s;
};

struct tn_schema_field {
    const char *pointer; /* RFC 6901, "/hidden_size" */
    const char *name;    /* normalised name, unique in the schema; several pointers may share one (aliases: "dim") */
    enum tn_field_class kind;
    enum tn_field_type type;
    /*
     * JSON text of the class's published default, taken when the field is absent; NULL: the field is required when
     * understood. For TN_FIELD_SEMANTIC rows: the accepted values are those that mean "off".
     */
    const char *absent;
    /*
     * JSON texts of the accepted values separated by " | ", or NULL: any value of the type. "null" may be one; alone it
     * means: any value of the type, or null.
     */
    const char *accepted;
    /* For numbers: inclusive range; both 0: unbounded. */
    double low, high;
};

struct tn_builder;
struct tn_component;

struct tn_schema {
    const char *id;      /* "NAME/1": named in facts of origin "default of schema NAME/1" */
    const char *const *model_types;   /* values of /model_type, NULL-terminated */
    const char *const *architectures; /* class names of /architectures that this schema covers, NULL-terminated */
    const struct tn_schema_field *fields;
    size_t field_count;
    uint64_t reserved_positions; /* rows of the position table that belong to no position, e.g. padding index + 1 */
    const char *reserved_by;     /* name of the value p of which p + 1 rows are reserved as well; NULL: none */
    /*
     * Name of a flag that says whether there is a position table at all, "" for never: then max_position_embeddings is
     * what training saw, and a package may state more. NULL: always.
     */
    const char *position_table;
    /* Reports what no single row can say: fields that depend on one another; or NULL. */
    void (*check)(struct tn_builder *b, const struct tn_component *c);
    const char *tokenizer_class; /* the class that AutoTokenizer takes when no file names one; NULL: no tokenizer */
};

/* Whether row i is what a description states: an understood value, once for all rows that share its name. */
bool tn_schema_states(const struct tn_schema *schema, size_t i);

/* Fields that every transformers configuration may carry and that never change a forward pass, e.g. _name_or_path. */
extern const struct tn_schema_field tn_transformers_common_fields[];
extern const size_t tn_transformers_common_field_count;

#endif
