/*
 * Capabilities: what a package may require of its reader, and what this runtime promises. One table; adding a capability
 * is adding a row, taking one over is giving its row a version. Identifiers are data: nothing else compares them.
 *
 * A package states requirements in its documents; others follow from its structure. Whatever is missing blocks the
 * description, so that check, plan and load all refuse before any weight is touched, naming everything that is missing.
 */
#ifndef TN_DESCRIBE_CAPABILITIES_H
#define TN_DESCRIBE_CAPABILITIES_H

#include "base/findings.h"

#define TN_CAPABILITY_CATEGORY_LIST(X)                                                             \
    X(PACKAGE, "package")                                                                          \
    X(IMPLEMENTATION, "implementation")                                                            \
    X(SYNTAX, "syntax")                                                                            \
    X(STATE, "state")                                                                              \
    X(MEDIA, "media")                                                                              \
    X(ADAPTERS, "adapters")                                                                        \
    X(SPECULATIVE, "speculative")

enum tn_capability_category {
#define X(name, text) TN_CAPABILITY_##name,
    TN_CAPABILITY_CATEGORY_LIST(X)
#undef X
    TN_CAPABILITY_CATEGORIES
};

struct tn_capability {
    const char *id;
    unsigned version; /* of our promise; 0: known, not offered */
    enum tn_capability_category category;
    const char *means; /* the promise; of one that is not offered: what it would take */
};

/* NULL past the end. */
const struct tn_capability *tn_capability_at(size_t index);
/* NULL: nobody told us about it. */
const struct tn_capability *tn_capability_find(struct tn_str id);
const char *tn_capability_category_name(enum tn_capability_category category);

/* One reason why a capability is required. */
struct tn_capability_need {
    struct tn_str id;
    struct tn_str file, pointer; /* of the statement, or of the structure */
    const char *derived;         /* NULL: stated; else the structure that it follows from, e.g. "a loop" */
};

/*
 * One blocker TN_MISSING_CAPABILITY for each identifier that is not offered, however often it is required; `found` says
 * by whom. Quadratic in count, which TN_CAPABILITY_NEEDS bounds. `needs` may be NULL when count is 0.
 */
void tn_capabilities_check(const struct tn_capability_need *needs, size_t count, enum tn_phase phase,
                           struct tn_findings *findings);

enum { TN_CAPABILITY_NEEDS = 1000 };

struct tn_json_writer;
/* An array: the whole table, offered ones with their version. */
void tn_capabilities_write(struct tn_json_writer *w);
/* An array: requirements with who makes them. */
void tn_capability_needs_write(struct tn_json_writer *w, const struct tn_capability_need *needs, size_t count);

#endif
