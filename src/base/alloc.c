/*
 * The counting allocator. Each block is preceded by a header with its size and the distance to the host's block, so
 * that callers free by pointer alone and the account is exact.
 */
#include "base/alloc.h"

#include "base/checked.h"
#include "base/os.h"

#include <stdlib.h>
#include <string.h>

struct block_header {
    uint64_t size;   /* as requested */
    uint64_t offset; /* from the host's block to the caller's pointer */
};

enum { HEADER = sizeof(struct block_header), BASE_ALIGN = 16, HUGE_THRESHOLD = 1 << 20 };
_Static_assert(HEADER == 16, "the header keeps 16-byte alignment");

void tn_alloc_init(struct tn_alloc *a)
{
    memset(a, 0, sizeof(*a));
    atomic_init(&a->current, 0);
    atomic_init(&a->peak, 0);
    atomic_init(&a->refused, 0);
    atomic_init(&a->blocks, 0);
    atomic_init(&a->calls, 0);
    atomic_init(&a->budget, UINT64_MAX);
    atomic_init(&a->fail_at, 0);
    atomic_init(&a->fail_after, false);
}

static bool fault_hits(struct tn_alloc *a)
{
    uint64_t call = atomic_fetch_add_explicit(&a->calls, 1, memory_order_relaxed) + 1;
    uint64_t at = atomic_load_explicit(&a->fail_at, memory_order_relaxed);
    if (at == 0 || call < at) return false;
    return call == at || atomic_load_explicit(&a->fail_after, memory_order_relaxed);
}

/* Takes `size` bytes from the budget; the reservation is what makes two racing callers safe. */
static bool reserve(struct tn_alloc *a, uint64_t size)
{
    uint64_t now = atomic_load_explicit(&a->current, memory_order_relaxed);
    uint64_t budget = atomic_load_explicit(&a->budget, memory_order_relaxed);
    uint64_t next;
    do {
        if (!tn_add64(now, size, &next)) return false;
        if (next > budget) {
            atomic_store_explicit(&a->refused, next, memory_order_relaxed);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&a->current, &now, next, memory_order_relaxed,
                                                    memory_order_relaxed));
    uint64_t peak = atomic_load_explicit(&a->peak, memory_order_relaxed);
    while (peak < next && !atomic_compare_exchange_weak_explicit(
                              &a->peak, &peak, next, memory_order_relaxed, memory_order_relaxed)) {
    }
    return true;
}

static void unreserve(struct tn_alloc *a, uint64_t size)
{
    atomic_fetch_sub_explicit(&a->current, size, memory_order_relaxed);
}

static void *host_allocate(struct tn_alloc *a, size_t size)
{
    return a->allocate ? a->allocate(a->context, size) : malloc(size);
}

static void host_release(struct tn_alloc *a, void *p)
{
    if (a->release) {
        a->release(a->context, p);
    } else {
        free(p);
    }
}

static struct block_header *header_of(void *p)
{
    return (struct block_header *)((char *)p - HEADER);
}

void *tn_malloc_aligned(struct tn_alloc *a, size_t size, size_t align)
{
    if (align < BASE_ALIGN) align = BASE_ALIGN;
    if (fault_hits(a)) return NULL;
    size_t total;
    if (!tn_add(size, HEADER + align, &total)) return NULL;
    if (!reserve(a, size)) return NULL;
    char *host = host_allocate(a, total);
    if (!host) {
        unreserve(a, size);
        return NULL;
    }
    uintptr_t at = ((uintptr_t)host + HEADER + align - 1) & ~(uintptr_t)(align - 1);
    char *p = host + (at - (uintptr_t)host);
    *header_of(p) = (struct block_header){.size = size, .offset = (uint64_t)(p - host)};
    atomic_fetch_add_explicit(&a->blocks, 1, memory_order_relaxed);
    if (align > BASE_ALIGN && size >= HUGE_THRESHOLD) tn_os_advise_huge(p, size);
    return p;
}

void *tn_malloc(struct tn_alloc *a, size_t size)
{
    return tn_malloc_aligned(a, size, BASE_ALIGN);
}

void *tn_calloc(struct tn_alloc *a, size_t count, size_t size)
{
    size_t total;
    if (!tn_mul(count, size, &total)) return NULL;
    void *p = tn_malloc(a, total);
    if (p) memset(p, 0, total);
    return p;
}

void *tn_realloc(struct tn_alloc *a, void *p, size_t size)
{
    if (!p) return tn_malloc(a, size);
    void *q = tn_malloc(a, size);
    if (!q) return NULL;
    uint64_t old = header_of(p)->size;
    memcpy(q, p, old < size ? (size_t)old : size);
    tn_free(a, p);
    return q;
}

void tn_free(struct tn_alloc *a, void *p)
{
    if (!p) return;
    struct block_header header = *header_of(p);
    unreserve(a, header.size);
    atomic_fetch_sub_explicit(&a->blocks, 1, memory_order_relaxed);
    host_release(a, (char *)p - header.offset);
}

uint64_t tn_alloc_current(const struct tn_alloc *a)
{
    return atomic_load_explicit(&a->current, memory_order_relaxed);
}

uint64_t tn_alloc_peak(const struct tn_alloc *a)
{
    return atomic_load_explicit(&a->peak, memory_order_relaxed);
}

uint64_t tn_alloc_refused(const struct tn_alloc *a)
{
    return atomic_load_explicit(&a->refused, memory_order_relaxed);
}

void tn_alloc_reset_peak(struct tn_alloc *a)
{
    atomic_store_explicit(&a->peak, tn_alloc_current(a), memory_order_relaxed);
}

void tn_alloc_fail(struct tn_alloc *a, uint64_t n, bool after)
{
    uint64_t calls = atomic_load_explicit(&a->calls, memory_order_relaxed);
    atomic_store_explicit(&a->fail_after, after, memory_order_relaxed);
    atomic_store_explicit(&a->fail_at, n ? calls + n : 0, memory_order_relaxed);
}

void *tn_grow(struct tn_alloc *alloc, void *items, size_t *cap, size_t count, size_t size)
{
    if (items && count < *cap) return items;
    size_t next = *cap ? *cap : 8, bytes;
    while (next <= count) {
        if (next > SIZE_MAX / 2) return NULL;
        next *= 2;
    }
    if (!tn_mul(next, size, &bytes)) return NULL;
    void *moved = tn_realloc(alloc, items, bytes);
    if (moved) *cap = next;
    return moved;
}

char *tn_strndup(struct tn_alloc *a, const char *s, size_t n)
{
    size_t total;
    if (!tn_add(n, 1, &total)) return NULL;
    char *p = tn_malloc(a, total);
    if (!p) return NULL;
    if (n) memcpy(p, s, n);
    p[n] = 0;
    return p;
}
