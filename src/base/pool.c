/*
 * The pool. Each worker has one gate, an atomic state on which the worker waits for work
 * and, at other times, the caller for the end of it:
 *
 *     IDLE --caller claims--> CLAIMED --caller posts--> READY --worker ran--> DONE --caller--> IDLE
 *
 * and STOP from IDLE at the end. Only the party named makes the step, so the job's fields need no
 * lock: they are written while CLAIMED and read while READY.
 */
#include "base/pool.h"

#include "base/checked.h"
#include "base/os_thread.h"

#include <stdatomic.h>

enum { IDLE, CLAIMED, READY, DONE, STOP };

struct worker {
    _Alignas(64) _Atomic unsigned state;
    _Atomic unsigned parked; /* waiters on `changed` */
    unsigned rank, size;
    tn_pool_fn *fn;
    void *arg;
    struct worker *next; /* the claimer's list */
    struct tn_mutex lock;
    struct tn_cond changed;
    struct tn_thread thread;
};

struct tn_pool {
    struct tn_alloc *alloc;
    unsigned workers;
    struct worker *worker[];
};

static bool is_one_of(unsigned state, unsigned a, unsigned b)
{
    return state == a || state == b;
}

/*
 * Parked waiters announce themselves before they look at the state again, posters write the state
 * before they look for waiters. Both in the one total order of seq_cst, so one of the two always
 * sees the other.
 */
static void post(struct worker *w, unsigned state)
{
    atomic_store(&w->state, state);
    if (atomic_load(&w->parked) == 0) return;
    tn_mutex_lock(&w->lock);
    tn_cond_broadcast(&w->changed);
    tn_mutex_unlock(&w->lock);
}

static unsigned park(struct worker *w, unsigned a, unsigned b)
{
    unsigned state;
    tn_mutex_lock(&w->lock);
    atomic_fetch_add(&w->parked, 1);
    while (!is_one_of(state = atomic_load(&w->state), a, b)) tn_cond_wait(&w->changed, &w->lock);
    atomic_fetch_sub(&w->parked, 1);
    tn_mutex_unlock(&w->lock);
    return state;
}

/* Waits until the state is a or b, and says which. */
static unsigned await(struct worker *w, unsigned a, unsigned b)
{
    enum { TURNS_PER_LOOK = 64 };
    uint64_t start = 0;
    for (;;) {
        for (int turn = 0; turn < TURNS_PER_LOOK; turn++) {
            unsigned state = atomic_load_explicit(&w->state, memory_order_acquire);
            if (is_one_of(state, a, b)) return state;
            tn_cpu_relax();
        }
        uint64_t now = tn_thread_clock_ns();
        if (start == 0) start = now;
        if (now - start >= TN_POOL_SPIN_NS) return park(w, a, b);
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    while (await(w, READY, STOP) == READY) {
        w->fn(w->arg, w->rank, w->size);
        post(w, DONE);
    }
    return NULL;
}

static struct worker *worker_new(struct tn_alloc *alloc)
{
    struct worker *w = tn_malloc_aligned(alloc, sizeof(*w), 64);
    if (!w) return NULL;
    *w = (struct worker){.state = IDLE};
    if (!tn_mutex_init(&w->lock)) goto no_lock;
    if (!tn_cond_init(&w->changed)) goto no_cond;
    if (!tn_thread_start(&w->thread, work, w)) goto no_thread;
    return w;
no_thread:
    tn_cond_release(&w->changed);
no_cond:
    tn_mutex_release(&w->lock);
no_lock:
    tn_free(alloc, w);
    return NULL;
}

static void worker_free(struct tn_alloc *alloc, struct worker *w)
{
    post(w, STOP);
    tn_thread_join(&w->thread);
    tn_cond_release(&w->changed);
    tn_mutex_release(&w->lock);
    tn_free(alloc, w);
}

enum tn_status tn_pool_new(struct tn_alloc *alloc, unsigned threads, struct tn_pool **out)
{
    *out = NULL;
    if (threads == 0) threads = tn_cpu_count();
    size_t bytes;
    if (!tn_mul(threads - 1, sizeof(struct worker *), &bytes) ||
        !tn_add(bytes, sizeof(struct tn_pool), &bytes)) {
        return TN_INSUFFICIENT_MEMORY;
    }
    struct tn_pool *pool = tn_malloc(alloc, bytes);
    if (!pool) return TN_INSUFFICIENT_MEMORY;
    pool->alloc = alloc;
    for (pool->workers = 0; pool->workers < threads - 1; pool->workers++) {
        struct worker *w = worker_new(alloc);
        if (!w) {
            tn_pool_free(pool);
            return TN_INSUFFICIENT_MEMORY;
        }
        pool->worker[pool->workers] = w;
    }
    *out = pool;
    return TN_OK;
}

void tn_pool_free(struct tn_pool *pool)
{
    if (!pool) return;
    for (unsigned i = 0; i < pool->workers; i++) worker_free(pool->alloc, pool->worker[i]);
    tn_free(pool->alloc, pool);
}

unsigned tn_pool_size(const struct tn_pool *pool)
{
    return pool->workers + 1;
}

static bool claim(struct worker *w)
{
    unsigned idle = IDLE;
    return atomic_load_explicit(&w->state, memory_order_relaxed) == IDLE &&
           atomic_compare_exchange_strong_explicit(&w->state, &idle, CLAIMED, memory_order_acquire,
                                                   memory_order_relaxed);
}

void tn_pool_run(struct tn_pool *pool, tn_pool_fn *fn, void *arg, unsigned want)
{
    struct worker *team = NULL;
    unsigned size = 1, reach = pool ? pool->workers : 0;
    for (unsigned i = 0; i < reach && size < want; i++) {
        struct worker *w = pool->worker[i];
        if (!claim(w)) continue;
        w->rank = size++;
        w->next = team;
        team = w;
    }
    for (struct worker *w = team; w; w = w->next) {
        w->size = size;
        w->fn = fn;
        w->arg = arg;
        post(w, READY);
    }
    fn(arg, 0, size);
    for (struct worker *w = team, *next; w; w = next) {
        await(w, DONE, DONE);
        next = w->next;
        atomic_store_explicit(&w->state, IDLE, memory_order_release);
    }
}
