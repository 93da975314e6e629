/* Names of one scope to what they stand for. Grows in an arena; names must outlive it. */
#ifndef TN_NET_NAMES_H
#define TN_NET_NAMES_H

#include "base/arena.h"

struct tn_name {
    struct tn_str name;
    uint32_t value, level;
    bool used;
};

struct tn_names {
    struct tn_arena *arena;
    struct tn_name *slots;
    size_t count, cap; /* cap: a power of two, or 0 */
};

/* The entry of a name; NULL when there is none. */
struct tn_name *tn_names_find(const struct tn_names *names, struct tn_str name);
/* Adds a name or finds it; *added tells which. NULL without memory. */
struct tn_name *tn_names_add(struct tn_names *names, struct tn_str name, bool *added);

#endif
