/*
 * The allocator of a runtime: counts every byte, can refuse by budget, can be told to fail. All memory of the library
 * comes from here; alloc.c is the only file that calls the host's functions.
 *
 * Threads: all functions may be called from any thread at once. A pointer may be freed on any thread.
 * NULL: tn_free(a, NULL) does nothing. A request of 0 bytes returns a valid pointer.
 */
#ifndef TN_BASE_ALLOC_H
#define TN_BASE_ALLOC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tn_alloc {
    /* Host functions; NULL in all three means the C library's. `reallocate` is never asked for alignment. */
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *p);
    void *context;

    _Atomic uint64_t current; /* bytes held now, as requested by callers */
    _Atomic uint64_t peak;    /* the largest `current` since init or the last tn_alloc_reset_peak */
    _Atomic uint64_t refused; /* what `current` would have become when the budget last refused; 0: never */
    _Atomic uint64_t blocks;  /* blocks held now */
    _Atomic uint64_t calls;   /* allocations ever asked for, the refused ones too */
    _Atomic uint64_t budget;  /* an allocation that would pass this is refused; UINT64_MAX: none */
    _Atomic uint64_t fail_at; /* the call with this number (counted from 1 by `calls`) is refused; 0: none */
    _Atomic bool fail_after;  /* with fail_at: refuse every later call as well */
};

void tn_alloc_init(struct tn_alloc *a);

/* Uninitialised memory aligned to 16 bytes, or NULL. */
void *tn_malloc(struct tn_alloc *a, size_t size);
/* Zeroed memory for count items; NULL also when the product overflows. */
void *tn_calloc(struct tn_alloc *a, size_t count, size_t size);
/* Uninitialised memory aligned to `align` (a power of two, 16..4096). 1 MiB and more ask for huge pages. */
void *tn_malloc_aligned(struct tn_alloc *a, size_t size, size_t align);
/* Keeps the contents up to the smaller size; on failure the old block stays valid. Only for tn_malloc / tn_calloc. */
void *tn_realloc(struct tn_alloc *a, void *p, size_t size);
void tn_free(struct tn_alloc *a, void *p);

uint64_t tn_alloc_current(const struct tn_alloc *a);
uint64_t tn_alloc_peak(const struct tn_alloc *a);
uint64_t tn_alloc_refused(const struct tn_alloc *a);
/* Sets the peak to the bytes held now. */
void tn_alloc_reset_peak(struct tn_alloc *a);
/* Arms the fault: the n-th allocation from now fails (n = 1: the next), and with `after` all later ones too. */
void tn_alloc_fail(struct tn_alloc *a, uint64_t n, bool after);

/* Room for one more in a growing array of tn_malloc memory: the (moved) array, or NULL and the old one stays. */
void *tn_grow(struct tn_alloc *alloc, void *items, size_t *cap, size_t count, size_t size);

/* NUL-terminated copy of n bytes. */
char *tn_strndup(struct tn_alloc *a, const char *s, size_t n);

#endif
