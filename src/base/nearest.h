/* Edit distance, for "did you mean". Inputs are untrusted; the work is bounded. */
#ifndef TN_BASE_NEAREST_H
#define TN_BASE_NEAREST_H

#include "base/status.h"

/* Levenshtein distance; texts are cut at 63 bytes. */
size_t tn_edit_distance(struct tn_str a, struct tn_str b);

/* The best of the names offered so far. Starts as zeros. */
struct tn_nearest {
    const char *name; /* NULL: none is near */
    size_t distance;
};

/* Near is: at most two edits, or a third of the name's letters when it is long; the first of equals stays. */
void tn_nearest_offer(struct tn_nearest *best, struct tn_str wanted, const char *name);

#endif
