/*
 * Sorting without memory. The C library's qsort may allocate behind the accounting allocator and may be quadratic on
 * prepared input; this is a heapsort that first looks whether there is anything to do, which for headers written by the
 * usual tools there is not.
 */
#ifndef TN_BASE_SORT_H
#define TN_BASE_SORT_H

#include "base/status.h"

/* Negative, 0 or positive; `context` is handed through. Not stable: make the order total. */
typedef int tn_order_fn(const void *a, const void *b, void *context);

enum { TN_SORT_ITEM = 256 };

/* Sorts count items of `size` bytes (at most TN_SORT_ITEM) in place. */
void tn_sort(void *items, size_t count, size_t size, tn_order_fn *order, void *context);

/* Bytewise order, the shorter first among equal beginnings. */
int tn_str_order(struct tn_str a, struct tn_str b);

#endif
