/*
 * Effective options: a value, who said it and where, and what it was said against. Statements are made from the weakest
 * origin to the strongest; the last one counts and the ones before it stay visible. Policies of a plan, task defaults and
 * generation defaults all follow this road.
 *
 * Values are JSON texts. All strings are views that outlive the option: literals or arena memory.
 */
#ifndef TN_DESCRIBE_EFFECTIVE_H
#define TN_DESCRIBE_EFFECTIVE_H

#include "base/arena.h"

/*
 * Weakest first. A default of the application stands in only where the package is silent; a hint is a wish about how to
 * run; a request is what the caller of this very call says.
 */
#define TN_CHOICE_ORIGIN_LIST(X)                                                                   \
    X(DEFAULT, "default")                                                                          \
    X(PACKAGE, "package")                                                                          \
    X(HINT, "hint")                                                                                \
    X(REQUEST, "request")

enum tn_choice_origin {
#define X(name, text) TN_CHOICE_##name,
    TN_CHOICE_ORIGIN_LIST(X)
#undef X
    TN_CHOICE_ORIGINS
};

const char *tn_choice_origin_name(enum tn_choice_origin origin);

struct tn_statement {
    enum tn_choice_origin origin;
    struct tn_str value;         /* JSON text; .s NULL: nothing is stated */
    struct tn_str file, pointer; /* where; "" when nowhere */
    const char *by;              /* of a hint: the name of its origin; else NULL */
};

enum { TN_OPTION_LAYERS = TN_CHOICE_ORIGINS };

struct tn_option {
    const char *name;
    struct tn_statement stated[TN_OPTION_LAYERS]; /* stated[count - 1] counts */
    uint32_t count;
};

/*
 * Adds a statement of an origin that is not weaker than the last one's; a second statement of one origin replaces the
 * first. Nothing happens when nothing is stated.
 */
void tn_option_state(struct tn_option *o, struct tn_statement statement);
/* What counts; a value "null" of the default when nothing was stated. */
struct tn_statement tn_option_effective(const struct tn_option *o);

/* JSON texts in an arena; .s NULL: out of memory. */
struct tn_str tn_json_text_of_str(struct tn_arena *arena, struct tn_str s);
struct tn_str tn_json_text_of_u64(struct tn_arena *arena, uint64_t v);
struct tn_str tn_json_text_of_bool(bool v);

struct tn_json_writer;
/* Member: the option's name with {origin, value, by?, file?, pointer?, overrides: [{origin, value, ...}]}, strongest first. */
void tn_option_write(struct tn_json_writer *w, const struct tn_option *o);

#endif
