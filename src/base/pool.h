/*
 * The thread pool. A pool owns n - 1 worker threads; whoever calls tn_pool_run is rank 0, so a pool
 * of 1 owns no thread at all. Shared by all sessions of a runtime.
 *
 * The surprising decision: a run never waits for workers. It takes those that are idle at that
 * moment, at most as many as wanted, and goes ahead with them, with none if need be. So concurrent
 * callers and calls from inside a run cannot deadlock, and since results never depend on the team's
 * size, only time can differ.
 *
 * Waiting is bounded spinning, then parking on a condition variable: a worker that was busy within
 * the last TN_POOL_SPIN_NS picks work up in about 0.1 us, a parked one in tens of us.
 */
#ifndef TN_BASE_POOL_H
#define TN_BASE_POOL_H

#include "base/alloc.h"
#include "base/status.h"

/* How long an idle worker spins before it parks: twice what waking it up costs, so that waiting is
 * never more than three times as dear as the best choice would have been. */
#define TN_POOL_SPIN_NS 100000

struct tn_pool;

/* Called once per member with its rank; `size` is the same for all of them. */
typedef void tn_pool_fn(void *arg, unsigned rank, unsigned size);

/*
 * A pool of `threads` members including the caller (0: one per CPU of the affinity mask). Memory
 * from `alloc`, which must outlive it. TN_INSUFFICIENT_MEMORY when memory or a thread cannot be
 * had; *out is NULL then and nothing is left: no thread, no byte.
 */
enum tn_status tn_pool_new(struct tn_alloc *alloc, unsigned threads, struct tn_pool **out);
/* Ends and joins the workers. No run may be in progress. NULL is fine. */
void tn_pool_free(struct tn_pool *pool);

/* Members including a caller. */
unsigned tn_pool_size(const struct tn_pool *pool);

/*
 * Runs fn(arg, rank, size) on `size` members, 1 <= size <= min(want, tn_pool_size), and returns
 * when all have returned; everything they wrote is then visible to the caller. want 0 counts as 1.
 * pool NULL: runs alone. Any number of threads may call at once, also from inside a run.
 */
void tn_pool_run(struct tn_pool *pool, tn_pool_fn *fn, void *arg, unsigned want);

#endif
