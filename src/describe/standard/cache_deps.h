/*
 * What a cached result or state of a workflow depends on, derived from its dataflow: nobody enumerates it by hand. The
 * list says which facts have to be equal for a cache entry to be reusable; how a key is made of them, salted and scoped
 * is the runtime's.
 *
 * Walked backwards from every emitted value and every write of state, through producers, merges and state cells.
 */
#ifndef TN_DESCRIBE_STANDARD_CACHE_DEPS_H
#define TN_DESCRIBE_STANDARD_CACHE_DEPS_H

#include "describe/standard/standard.h"

enum tn_std_dependency_kind {
    TN_STD_DEPENDS_COMPONENT, /* name of a component; its implementation's identity counts */
    TN_STD_DEPENDS_ADAPTER,   /* name of an adapter artifact that can reach the result */
    TN_STD_DEPENDS_INPUT,     /* a request's or application's value, an artifact, an encoder's result from outside */
    TN_STD_DEPENDS_EXTERNAL,  /* a fact that a component reads beside its inputs, or a cell that an outsider keeps */
    TN_STD_DEPENDS_LANGUAGE,  /* dialect of a constraint language that a component interprets */
    TN_STD_DEPENDS_PROFILE    /* a profile that changes generated output */
};

struct tn_std_dependency {
    enum tn_std_dependency_kind kind;
    struct tn_str name;
    bool control_only; /* decides how often or whether something runs, and enters no value */
};

struct tn_std_dependencies {
    struct tn_arena arena;
    struct tn_std_dependency *items; /* by kind, then by name; no two alike */
    size_t count;
};

/* Names are views into the document. Fails for lack of memory only; then *out is released and zeroed. */
enum tn_status tn_standard_dependencies(const struct tn_standard *doc, struct tn_std_dependencies *out,
                                        struct tn_error *err);
void tn_std_dependencies_release(struct tn_std_dependencies *deps);
const char *tn_std_dependency_kind_name(enum tn_std_dependency_kind kind);

#endif
