/*
 * A hostile host: an allocator for tn_runtime_options that counts what it gave, fills it with rubbish, notices writes
 * beyond its ends and double frees, and fails when it is told to. Only the public header is used.
 */
#ifndef TN_TESTS_FAULT_HOST_H
#define TN_TESTS_FAULT_HOST_H

#include "tenon/tenon.h"
#include "test.h"

#include <stdatomic.h>
#include <stdlib.h>

struct host {
    _Atomic uint64_t calls, fail_at, blocks, bytes, faults;
    _Atomic bool fail_after; /* with fail_at: all later calls as well */
};

enum { HOST_GUARD = 32 };
#define HOST_ALIVE UINT64_C(0x616C697665626C6B)
#define HOST_DEAD UINT64_C(0x6465616462617365)

struct host_header {
    uint64_t mark, size, padding[2]; /* 32 bytes: the block behind it stays aligned to 16 */
};

static inline void *host_allocate(void *user, size_t size)
{
    struct host *h = user;
    uint64_t call = atomic_fetch_add(&h->calls, 1) + 1, at = h->fail_at;
    if (at && (call == at || (call > at && h->fail_after))) {
        atomic_fetch_add(&h->faults, 1);
        return NULL;
    }
    struct host_header *head = malloc(sizeof(*head) + size + HOST_GUARD);
    if (!head) return NULL;
    *head = (struct host_header){.mark = HOST_ALIVE, .size = size};
    unsigned char *p = (unsigned char *)(head + 1);
    memset(p, 0xA5, size + HOST_GUARD);
    atomic_fetch_add(&h->blocks, 1);
    atomic_fetch_add(&h->bytes, size);
    return p;
}

static inline void host_release(void *user, void *p)
{
    struct host *h = user;
    struct host_header *head = (struct host_header *)p - 1;
    const unsigned char *guard = (unsigned char *)p + head->size;
    if (head->mark != HOST_ALIVE) {
        test_fail(__FILE__, __LINE__, "released twice, or never allocated");
        return;
    }
    for (int i = 0; i < HOST_GUARD; i++) {
        if (guard[i] != 0xA5) test_fail(__FILE__, __LINE__, "written beyond a block of %zu bytes", (size_t)head->size);
    }
    atomic_fetch_sub(&h->blocks, 1);
    atomic_fetch_sub(&h->bytes, head->size);
    head->mark = HOST_DEAD;
    memset(p, 0xDD, head->size);
    free(head);
}

/* The n-th call from now fails (1: the next one); with `after` all later ones too. */
static inline void host_arm(struct host *h, uint64_t n, bool after)
{
    h->fail_after = after;
    h->faults = 0;
    h->fail_at = h->calls + n;
}

/* Whether it has failed since it was armed. */
static inline bool host_disarm(struct host *h)
{
    h->fail_at = 0;
    return h->faults > 0;
}

static inline tn_status host_runtime(struct host *h, unsigned threads, const char *state, const char *cache,
                                     tn_runtime **out, tn_error *err)
{
    tn_runtime_options o = TN_INIT(tn_runtime_options);
    o.allocate = host_allocate;
    o.release = host_release;
    o.allocator_user = h;
    o.threads = threads;
    o.state_folder = state;
    o.cache_folder = cache;
    return tn_runtime_new(&o, out, err);
}

/* Step between the calls that fail: TN_FAULT_STRIDE, or what keeps an ordinary run short. */
static inline uint64_t host_stride(uint64_t otherwise)
{
    const char *text = getenv("TN_FAULT_STRIDE");
    uint64_t n = text ? strtoull(text, NULL, 10) : 0;
    return n ? n : otherwise;
}

#endif
