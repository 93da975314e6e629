/* Chunked bump allocation; chunks double up to 1 MiB, larger requests get a chunk of their own size. */
#include "base/arena.h"

#include "base/checked.h"

#include <string.h>

struct tn_arena_chunk {
    struct tn_arena_chunk *next;
    size_t capacity;
};

enum { CHUNK_HEADER = 16, FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };
_Static_assert(sizeof(struct tn_arena_chunk) <= CHUNK_HEADER, "chunk header fits its slot");

void tn_arena_init(struct tn_arena *arena, struct tn_alloc *alloc)
{
    *arena = (struct tn_arena){.alloc = alloc};
}

void tn_arena_release(struct tn_arena *arena)
{
    struct tn_arena_chunk *chunk = arena->chunks;
    while (chunk) {
        struct tn_arena_chunk *next = chunk->next;
        tn_free(arena->alloc, chunk);
        chunk = next;
    }
    arena->chunks = NULL;
    arena->used = arena->capacity = 0;
}

static bool grow(struct tn_arena *arena, size_t size)
{
    size_t capacity = arena->capacity ? arena->capacity * 2 : FIRST_CHUNK;
    if (capacity > LARGEST_CHUNK) capacity = LARGEST_CHUNK;
    if (capacity < size) capacity = size;
    size_t total;
    if (!tn_add(capacity, CHUNK_HEADER, &total)) return false;
    /* A chunk of its own is written at once: it may come in huge pages. */
    struct tn_arena_chunk *chunk = capacity == size ? tn_malloc_aligned(arena->alloc, total, 64) : tn_malloc(arena->alloc, total);
    if (!chunk) return false;
    chunk->next = arena->chunks;
    chunk->capacity = capacity;
    arena->chunks = chunk;
    arena->used = 0;
    arena->capacity = capacity;
    return true;
}

void *tn_arena_alloc(struct tn_arena *arena, size_t size)
{
    size_t rounded;
    if (!tn_round_up(size ? size : 1, 16, &rounded)) return NULL;
    if (rounded > arena->capacity - arena->used && !grow(arena, rounded)) return NULL;
    char *p = (char *)arena->chunks + CHUNK_HEADER + arena->used;
    arena->used += rounded;
    memset(p, 0, rounded);
    return p;
}

void *tn_arena_array(struct tn_arena *arena, size_t count, size_t size)
{
    size_t total;
    return tn_mul(count, size, &total) ? tn_arena_alloc(arena, total) : NULL;
}

char *tn_arena_strndup(struct tn_arena *arena, const char *s, size_t n)
{
    size_t total;
    if (!tn_add(n, 1, &total)) return NULL;
    char *p = tn_arena_alloc(arena, total);
    if (p && n) memcpy(p, s, n);
    return p;
}

struct tn_str tn_arena_str(struct tn_arena *arena, struct tn_str s)
{
    const char *copy = tn_arena_strndup(arena, s.s, s.n);
    return (struct tn_str){copy, copy ? s.n : 0};
}
