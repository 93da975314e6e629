/*
 * Reference counts for handles that several owners share. The last tn_ref_drop returns true, exactly once, and whoever
 * gets it destroys the object; everything that other owners wrote before their drop is visible to it.
 */
#ifndef TN_BASE_REF_H
#define TN_BASE_REF_H

#include <stdatomic.h>
#include <stdbool.h>

struct tn_ref {
    _Atomic unsigned long count;
};

static inline void tn_ref_init(struct tn_ref *ref)
{
    atomic_init(&ref->count, 1);
}

static inline void tn_ref_take(struct tn_ref *ref)
{
    atomic_fetch_add_explicit(&ref->count, 1, memory_order_relaxed);
}

static inline bool tn_ref_drop(struct tn_ref *ref)
{
    return atomic_fetch_sub_explicit(&ref->count, 1, memory_order_acq_rel) == 1;
}

/* An owner that a lower layer keeps alive without knowing what it is. */
struct tn_keep {
    void (*drop)(void *owner); /* NULL: nothing is kept */
    void *owner;
    void (*take)(void *owner); /* one more reference, that drop gives back */
};

/* The same owner kept once more. */
static inline struct tn_keep tn_keep_again(const struct tn_keep *keep)
{
    if (keep->take) keep->take(keep->owner);
    return *keep;
}

static inline void tn_keep_drop(struct tn_keep *keep)
{
    if (keep->drop) keep->drop(keep->owner);
    keep->drop = 0;
}

#endif
