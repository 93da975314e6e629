/*
 * Threads, locks and waiting on POSIX, behind names of our own: the only place that includes
 * <pthread.h>. Nothing here allocates through tn_alloc. Inputs are trusted. Creating is the one
 * thing that can fail.
 */
#ifndef TN_BASE_OS_THREAD_H
#define TN_BASE_OS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct tn_thread {
    pthread_t id;
};

struct tn_mutex {
    pthread_mutex_t m;
};

/* Timed waits use the monotonic clock. */
struct tn_cond {
    pthread_cond_t c;
};

/* Starts run(arg), whose result is ignored, with every signal blocked, so that the host's handlers
 * stay on the host's threads. False when the system refuses; nothing is then left behind. */
bool tn_thread_start(struct tn_thread *thread, void *(*run)(void *arg), void *arg);
/* Waits for the end of the thread; exactly once per started thread. */
void tn_thread_join(struct tn_thread *thread);

bool tn_mutex_init(struct tn_mutex *mutex);
void tn_mutex_release(struct tn_mutex *mutex);
void tn_mutex_lock(struct tn_mutex *mutex);
void tn_mutex_unlock(struct tn_mutex *mutex);

bool tn_cond_init(struct tn_cond *cond);
void tn_cond_release(struct tn_cond *cond);
void tn_cond_wait(struct tn_cond *cond, struct tn_mutex *mutex);
/* False when `timeout_ns` passed first. Spurious wake-ups return true: test the condition again. */
bool tn_cond_wait_ns(struct tn_cond *cond, struct tn_mutex *mutex, uint64_t timeout_ns);
void tn_cond_signal(struct tn_cond *cond);
void tn_cond_broadcast(struct tn_cond *cond);

/* A number that no other thread alive has. */
uint64_t tn_thread_self(void);
/* Lets another thread run on this CPU. */
void tn_thread_yield(void);
/* Nanoseconds of the monotonic clock. */
uint64_t tn_thread_clock_ns(void);
/* CPUs this process may run on (its affinity mask), at least 1. */
unsigned tn_cpu_count(void);

/* One turn of a spin loop: tells the core that it is waiting. */
static inline void tn_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
