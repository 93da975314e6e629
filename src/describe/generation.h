/*
 * Generation defaults of a package and what a request may override (the member `generation` of the inference-metadata
 * proposal). The package's defaults are authoritative: a default of the application stands in only where the package is
 * silent. A request may set exactly the fields that the package exposes, inside their bounds; anything else is refused
 * instead of dropped, because a dropped value looks like one that took effect.
 */
#ifndef TN_DESCRIBE_GENERATION_H
#define TN_DESCRIBE_GENERATION_H

#include "base/json.h"
#include "describe/effective.h"

/* X(name, type) of the standard's defaults. */
#define TN_GENERATION_FIELD_LIST(X)                                                                \
    X(diversity_penalty, NUMBER)                                                                   \
    X(do_sample, BOOL)                                                                             \
    X(early_stopping, BOOL)                                                                        \
    X(length_penalty, NUMBER)                                                                      \
    X(max_length, COUNT)                                                                           \
    X(min_length, COUNT)                                                                           \
    X(no_repeat_ngram_size, COUNT)                                                                 \
    X(num_beams, COUNT)                                                                            \
    X(num_return_sequences, COUNT)                                                                 \
    X(repetition_penalty, NUMBER)                                                                  \
    X(temperature, NUMBER)                                                                         \
    X(top_k, COUNT)                                                                                \
    X(top_p, NUMBER)

enum tn_generation_type { TN_GENERATION_BOOL, TN_GENERATION_COUNT, TN_GENERATION_NUMBER, TN_GENERATION_ANY };

struct tn_generation_field {
    struct tn_str name;
    enum tn_generation_type type;   /* ANY: a field of the package's own */
    struct tn_statement stated;     /* the package's default; .value.s NULL: none */
    bool exposed;                   /* a request may set it ... */
    struct tn_str input;            /* ... and this workflow input carries it */
    bool has_minimum, has_maximum;  /* inclusive */
    double minimum, maximum;
    struct tn_str file, pointer;    /* of the override */
};

struct tn_generation {
    struct tn_generation_field *fields; /* defaults first, in the order of the document */
    size_t count, cap;
};

enum { TN_GENERATION_FIELDS_MOST = 1000 };

/*
 * Reads an object whose shape has been checked. Bounds that exclude everything are a blocker, a default outside its own
 * bounds a warning. Fails itself only without memory.
 */
enum tn_status tn_generation_read(struct tn_json contract, struct tn_arena *arena, struct tn_findings *findings,
                                  struct tn_generation *out, struct tn_error *err);

struct tn_generation_default {
    const char *name, *value; /* JSON text */
};

struct tn_generation_options {
    struct tn_option *items; /* in the order of the fields, then of the application's defaults */
    size_t count;
};

/*
 * Effective values. `request` is an object, or absent; a null member asks for nothing. A field that is not exposed or a
 * value out of bounds is TN_UNSUPPORTED_OPTION, one of another type TN_INVALID_REQUEST: blockers of phase request, all of
 * them. Strings live in the arena, or with `g` and `defaults`. Fails itself only without memory.
 */
enum tn_status tn_generation_resolve(const struct tn_generation *g, const struct tn_generation_default *defaults,
                                     size_t default_count, struct tn_json request, struct tn_arena *arena,
                                     struct tn_findings *findings, struct tn_generation_options *out, struct tn_error *err);

#endif
