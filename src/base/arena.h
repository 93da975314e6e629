/*
 * Arena: many small immutable values with one lifetime. Pointers stay valid until tn_arena_release. Single-threaded
 * while it grows; read-only use afterwards is free.
 */
#ifndef TN_BASE_ARENA_H
#define TN_BASE_ARENA_H

#include "base/alloc.h"
#include "base/status.h"

struct tn_arena_chunk;

struct tn_arena {
    struct tn_alloc *alloc;
    struct tn_arena_chunk *chunks;
    size_t used, capacity; /* of the newest chunk */
};

void tn_arena_init(struct tn_arena *arena, struct tn_alloc *alloc);
void tn_arena_release(struct tn_arena *arena);

/* Zeroed memory aligned to 16 bytes; NULL when the allocator refuses. */
void *tn_arena_alloc(struct tn_arena *arena, size_t size);
/* Zeroed array; NULL also when the product overflows. */
void *tn_arena_array(struct tn_arena *arena, size_t count, size_t size);
/* NUL-terminated copies. NULL when the allocator refuses. */
char *tn_arena_strndup(struct tn_arena *arena, const char *s, size_t n);
/* View of a NUL-terminated copy; .s is NULL when the allocator refuses. */
struct tn_str tn_arena_str(struct tn_arena *arena, struct tn_str s);

#endif
