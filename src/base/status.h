/*
 * Status codes, phases and their texts: one list each, from which the public enum, the names in JSON and the
 * exit codes are made. Codes are stable: new ones are appended, none is ever renumbered.
 */
#ifndef TN_BASE_STATUS_H
#define TN_BASE_STATUS_H

#include "tenon/tenon.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where on the road of a package something happened. */
#define TN_PHASE_LIST(X)                                                                           \
    X(NONE, "none")                                                                                \
    X(RUNTIME, "runtime")                                                                          \
    X(PACKAGE, "package")                                                                          \
    X(DESCRIBE, "describe")                                                                        \
    X(ASSESS, "assess")                                                                            \
    X(PLAN, "plan")                                                                                \
    X(LOAD, "load")                                                                                \
    X(REQUEST, "request")                                                                          \
    X(EXECUTE, "execute")                                                                          \
    X(RELEASE, "release")                                                                          \
    X(RECORD, "record")

enum tn_phase {
#define X(name, text) TN_PHASE_##name,
    TN_PHASE_LIST(X)
#undef X
};

const char *tn_phase_name(enum tn_phase phase);

/* Length-carrying UTF-8 text that is not owned; `s` is not NUL-terminated unless a contract says so. */
struct tn_str {
    const char *s;
    size_t n;
};

#define TN_STR(literal) ((struct tn_str){"" literal "", sizeof(literal) - 1})

bool tn_str_eq(struct tn_str a, struct tn_str b);
/* `b` is NUL-terminated. */
bool tn_str_is(struct tn_str a, const char *b);
struct tn_str tn_str_of(const char *s);
bool tn_str_starts(struct tn_str s, const char *prefix);
bool tn_str_ends(struct tn_str s, const char *suffix);

#endif
