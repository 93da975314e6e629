/*
 * POSIX threads behind os_thread.h. Return codes of lock and unlock are not examined: with default
 * attributes and balanced use POSIX leaves them no way to fail.
 */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT */
#include "base/os_thread.h"

#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

bool tn_thread_start(struct tn_thread *thread, void *(*run)(void *arg), void *arg)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = pthread_create(&thread->id, NULL, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

void tn_thread_join(struct tn_thread *thread)
{
    pthread_join(thread->id, NULL);
}

bool tn_mutex_init(struct tn_mutex *mutex)
{
    return pthread_mutex_init(&mutex->m, NULL) == 0;
}

void tn_mutex_release(struct tn_mutex *mutex)
{
    pthread_mutex_destroy(&mutex->m);
}

void tn_mutex_lock(struct tn_mutex *mutex)
{
    pthread_mutex_lock(&mutex->m);
}

void tn_mutex_unlock(struct tn_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->m);
}

bool tn_cond_init(struct tn_cond *cond)
{
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0) return false;
    bool ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
              pthread_cond_init(&cond->c, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return ok;
}

void tn_cond_release(struct tn_cond *cond)
{
    pthread_cond_destroy(&cond->c);
}

void tn_cond_wait(struct tn_cond *cond, struct tn_mutex *mutex)
{
    pthread_cond_wait(&cond->c, &mutex->m);
}

bool tn_cond_wait_ns(struct tn_cond *cond, struct tn_mutex *mutex, uint64_t timeout_ns)
{
    uint64_t now = tn_thread_clock_ns();
    uint64_t until = timeout_ns > UINT64_MAX / 2 - now ? UINT64_MAX / 2 : now + timeout_ns;
    struct timespec at = {.tv_sec = (time_t)(until / 1000000000u),
                          .tv_nsec = (long)(until % 1000000000u)};
    return pthread_cond_timedwait(&cond->c, &mutex->m, &at) == 0;
}

void tn_cond_signal(struct tn_cond *cond)
{
    pthread_cond_signal(&cond->c);
}

void tn_cond_broadcast(struct tn_cond *cond)
{
    pthread_cond_broadcast(&cond->c);
}

uint64_t tn_thread_self(void)
{
    return (uint64_t)(uintptr_t)pthread_self();
}

void tn_thread_yield(void)
{
    sched_yield();
}

uint64_t tn_thread_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

unsigned tn_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) {
        return (unsigned)CPU_COUNT(&set);
    }
    /* more CPUs than cpu_set_t holds */
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}
