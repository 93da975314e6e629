/* The pool: everybody runs once, callers never block each other, failure leaves nothing. */
#include "test.h"

#include "base/os_thread.h"
#include "base/pool.h"

enum { MEMBERS = 4 };

struct count {
    _Atomic unsigned runs, ranks, size;
};

static void count_members(void *arg, unsigned rank, unsigned size)
{
    struct count *c = arg;
    atomic_fetch_add(&c->runs, 1);
    atomic_fetch_or(&c->ranks, 1u << rank);
    atomic_store(&c->size, size);
}

/* Whether one run had `size` members with the ranks 0 .. size - 1. */
static bool counted(const struct count *c, unsigned size)
{
    return c->runs == size && c->ranks == (1u << size) - 1 && c->size == size;
}

TEST(runs_every_rank_once)
{
    struct tn_alloc alloc;
    struct tn_pool *pool;
    tn_alloc_init(&alloc);
    REQUIRE(tn_pool_new(&alloc, MEMBERS, &pool) == TN_OK);
    CHECK_INT(tn_pool_size(pool), MEMBERS);
    for (unsigned want = 0; want <= MEMBERS + 2; want++) {
        for (int again = 0; again < 200; again++) {
            struct count c = {0};
            tn_pool_run(pool, count_members, &c, want);
            CHECK(counted(&c, want == 0 ? 1 : want > MEMBERS ? MEMBERS : want));
        }
    }
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
    CHECK_INT(alloc.blocks, 0);
}

TEST(no_pool_and_pool_of_one_run_alone)
{
    struct tn_alloc alloc;
    struct tn_pool *pool;
    struct count a = {0}, b = {0};
    tn_alloc_init(&alloc);
    tn_pool_run(NULL, count_members, &a, 5);
    CHECK(counted(&a, 1));
    REQUIRE(tn_pool_new(&alloc, 1, &pool) == TN_OK);
    tn_pool_run(pool, count_members, &b, 5);
    CHECK(counted(&b, 1));
    tn_pool_free(pool);
    tn_pool_free(NULL);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(zero_means_one_per_cpu)
{
    struct tn_alloc alloc;
    struct tn_pool *pool;
    tn_alloc_init(&alloc);
    REQUIRE(tn_pool_new(&alloc, 0, &pool) == TN_OK);
    CHECK_INT(tn_pool_size(pool), tn_cpu_count());
    tn_pool_free(pool);
}

/* Long enough for the workers to park between two runs. */
TEST(parked_workers_wake_up)
{
    struct tn_alloc alloc;
    struct tn_pool *pool;
    tn_alloc_init(&alloc);
    REQUIRE(tn_pool_new(&alloc, MEMBERS, &pool) == TN_OK);
    for (int again = 0; again < 20; again++) {
        uint64_t until = tn_thread_clock_ns() + 3 * TN_POOL_SPIN_NS;
        while (tn_thread_clock_ns() < until) tn_thread_yield();
        struct count c = {0};
        tn_pool_run(pool, count_members, &c, MEMBERS);
        CHECK(counted(&c, MEMBERS));
    }
    tn_pool_free(pool);
}

/* Plain memory written by the members of a run is read by their neighbours in the next one. */
struct relay {
    unsigned value[MEMBERS], round;
    _Atomic unsigned wrong;
};

static void write_round(void *arg, unsigned rank, unsigned size)
{
    struct relay *r = arg;
    for (unsigned i = rank; i < MEMBERS; i += size) r->value[i] = r->round * 10 + i;
}

static void read_round(void *arg, unsigned rank, unsigned size)
{
    struct relay *r = arg;
    for (unsigned i = rank; i < MEMBERS; i += size) {
        unsigned next = (i + 1) % MEMBERS;
        if (r->value[next] != r->round * 10 + next) atomic_fetch_add(&r->wrong, 1);
    }
}

TEST(runs_order_memory)
{
    struct tn_alloc alloc;
    struct tn_pool *pool;
    tn_alloc_init(&alloc);
    REQUIRE(tn_pool_new(&alloc, MEMBERS, &pool) == TN_OK);
    struct relay r = {.wrong = 0};
    for (r.round = 0; r.round < 300; r.round++) {
        tn_pool_run(pool, write_round, &r, MEMBERS);
        tn_pool_run(pool, read_round, &r, MEMBERS);
    }
    CHECK_INT(r.wrong, 0);
    tn_pool_free(pool);
}

static void run_inside(void *arg, unsigned rank, unsigned size)
{
    struct tn_pool *pool = arg;
    struct count c = {0};
    (void)rank, (void)size;
    tn_pool_run(pool, count_members, &c, MEMBERS);
    if (!counted(&c, c.size)) test_fail(__FILE__, __LINE__, "a run inside a run lost a member");
}

TEST(a_run_inside_a_run_does_not_wait)
{
    struct tn_alloc alloc;
    struct tn_pool *pool;
    tn_alloc_init(&alloc);
    REQUIRE(tn_pool_new(&alloc, MEMBERS, &pool) == TN_OK);
    for (int again = 0; again < 100; again++) tn_pool_run(pool, run_inside, pool, MEMBERS);
    tn_pool_free(pool);
}

struct caller {
    struct tn_pool *pool;
    struct tn_thread thread;
    unsigned bad;
};

static void *call_often(void *arg)
{
    struct caller *me = arg;
    for (unsigned again = 0; again < 300; again++) {
        struct count c = {0};
        tn_pool_run(me->pool, count_members, &c, 1 + again % MEMBERS);
        if (!counted(&c, c.size) || c.size > 1 + again % MEMBERS) me->bad++;
    }
    return NULL;
}

TEST(callers_from_many_threads)
{
    struct tn_alloc alloc;
    struct tn_pool *pool;
    struct caller callers[5];
    tn_alloc_init(&alloc);
    REQUIRE(tn_pool_new(&alloc, MEMBERS, &pool) == TN_OK);
    for (int i = 0; i < 5; i++) {
        callers[i] = (struct caller){.pool = pool};
        REQUIRE(tn_thread_start(&callers[i].thread, call_often, &callers[i]));
    }
    for (int i = 0; i < 5; i++) {
        tn_thread_join(&callers[i].thread);
        CHECK_INT(callers[i].bad, 0);
    }
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* The k-th worker cannot be had: those before it are running threads, and must be gone too. */
TEST(failure_at_every_allocation_leaves_nothing)
{
    struct tn_alloc alloc;
    struct tn_pool *pool;
    unsigned failures = 0;
    tn_alloc_init(&alloc);
    for (uint64_t n = 1;; n++) {
        tn_alloc_fail(&alloc, n, false);
        enum tn_status status = tn_pool_new(&alloc, MEMBERS, &pool);
        if (status == TN_OK) break;
        CHECK_INT(status, TN_INSUFFICIENT_MEMORY);
        CHECK(pool == NULL);
        CHECK_INT(tn_alloc_current(&alloc), 0);
        failures++;
    }
    CHECK_INT(failures, MEMBERS); /* the pool and its three workers */
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(timed_wait_ends)
{
    struct tn_mutex mutex;
    struct tn_cond cond;
    REQUIRE(tn_mutex_init(&mutex) && tn_cond_init(&cond));
    tn_mutex_lock(&mutex);
    uint64_t start = tn_thread_clock_ns();
    while (tn_cond_wait_ns(&cond, &mutex, 2000000)) {
    }
    CHECK(tn_thread_clock_ns() - start >= 2000000);
    tn_mutex_unlock(&mutex);
    tn_cond_release(&cond);
    tn_mutex_release(&mutex);
}
