/*
 * Executions: admission, the reader's side, and the end. Items are pulled in request order; the outcome comes last and
 * once. Outcome and drain are two moments: a cancel decides the outcome at once, the drain comes when the provider has
 * really let go.
 */
#include "session/session.h"

#include "base/checked.h"
#include "base/os.h"

#include <string.h>

/* ---- admission ------------------------------------------------------------------------------------------------------ */

static uint64_t room(const struct tn_alloc *a)
{
    uint64_t budget = a->budget, current = tn_alloc_current(a);
    return current < budget ? budget - current : 0;
}

static enum tn_status refuse_memory(const struct tn_session *s, uint64_t need, uint64_t available, struct tn_error *err)
{
    bool later = need <= available + s->held_bytes && s->held_bytes > 0;
    enum tn_status st = later ? TN_BUSY : TN_INSUFFICIENT_MEMORY;
    struct tn_finding *f = tn_error_set(err, st, TN_PHASE_REQUEST,
                                        later ? "the memory of the session is taken by earlier requests"
                                              : "the request needs more memory than the session may take");
    uint64_t limit = s->lease.budget < s->host->budget ? s->lease.budget : s->host->budget;
    tn_found(f, "needs %llu bytes, %llu are available of a limit of %llu; earlier requests hold %llu",
             (unsigned long long)need, (unsigned long long)available, (unsigned long long)limit,
             (unsigned long long)s->held_bytes);
    tn_remedy(f, later ? "free earlier executions and try again" : "split the request or raise the memory limit");
    if (err) err->retryable = later;
    return st;
}

static enum tn_status refuse_crowd(const struct tn_session *s, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_BUSY, TN_PHASE_REQUEST, "too many executions are in progress");
    tn_found(f, "%u", s->running);
    tn_expected(f, "at most %d", TN_EXECUTIONS);
    tn_remedy(f, "read or cancel earlier executions and try again");
    return TN_BUSY;
}

/* Takes `need` bytes of the session's account before anything is allocated. */
static enum tn_status admit(struct tn_session *s, uint64_t need, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    tn_mutex_lock(&s->lock);
    uint64_t lease = room(&s->lease), host = room(s->host), available = lease < host ? lease : host;
    if (s->running >= TN_EXECUTIONS) {
        st = refuse_crowd(s, err);
    } else if (need > available) {
        st = refuse_memory(s, need, available, err);
    } else {
        s->held_bytes += need;
    }
    tn_mutex_unlock(&s->lock);
    return st;
}

static void readmit(struct tn_session *s, uint64_t bytes)
{
    tn_mutex_lock(&s->lock);
    s->held_bytes -= bytes;
    tn_mutex_unlock(&s->lock);
}

static void join_ring(struct tn_session *s, struct tn_execution *x)
{
    if (s->ring) {
        x->next = s->ring;
        x->prev = s->ring->prev;
        x->prev->next = x->next->prev = x;
    } else {
        s->ring = x->next = x->prev = x;
    }
    s->running++;
    x->id = ++s->started;
}

static void leave_ring(struct tn_session *s, struct tn_execution *x)
{
    x->next->prev = x->prev;
    x->prev->next = x->next;
    if (s->ring == x) s->ring = x->next == x ? NULL : x->next;
    x->next = x->prev = NULL;
    s->running--;
}

enum tn_status tn_execution_begin(struct tn_session *s, const void *request, uint32_t timeout_ms,
                                  struct tn_execution **out, struct tn_error *err)
{
    const struct tn_recipe *recipe = s->plan->task->recipe;
    uint64_t need;
    *out = NULL;
    enum tn_status st = recipe->measure(s->model, request, &need, err);
    if (!st && !tn_add64(need, sizeof(struct tn_execution), &need)) st = tn_error_memory(err, TN_PHASE_REQUEST, "admitting the request");
    if (!st) st = admit(s, need, err);
    if (st) return st;
    struct tn_execution *x = tn_calloc(&s->lease, 1, sizeof(*x));
    if (!x || !tn_cond_init(&x->changed)) {
        st = tn_error_memory(err, TN_PHASE_REQUEST, "starting the request");
        goto fail;
    }
    st = recipe->start(s->model, request, &s->lease, &x->run, err);
    if (st) {
        tn_cond_release(&x->changed);
        goto fail;
    }
    tn_arena_init(&x->arena, &s->lease);
    x->session = s;
    x->plan = s->plan;
    x->recipe = recipe;
    x->bytes = need;
    x->more = true;
    x->start_ns = tn_os_monotonic_ns();
    if (timeout_ms) x->cancel.deadline_ns = x->start_ns + (uint64_t)timeout_ms * 1000000u;
    tn_ref_take(&s->ref);
    tn_mutex_lock(&s->lock);
    join_ring(s, x);
    tn_scheduler_wake(s);
    tn_mutex_unlock(&s->lock);
    *out = x;
    return TN_OK;
fail:
    tn_free(&s->lease, x);
    readmit(s, need);
    return st;
}

/* ---- states, with the lock -------------------------------------------------------------------------------------------- */

bool tn_execution_has_news(const struct tn_execution *x)
{
    return x->pulled < x->ready || x->decided;
}

bool tn_execution_wants_work(const struct tn_execution *x)
{
    return !x->decided && !x->busy && x->more && x->ready - x->pulled < x->session->queue_items;
}

void tn_execution_decide(struct tn_execution *x, enum tn_status st, const struct tn_error *err)
{
    if (x->decided) return;
    x->decided = true;
    x->outcome = st;
    if (st && err) x->failure = err->primary;
    if (x->waiters > 0) tn_cond_broadcast(&x->changed);
}

void tn_execution_finish(struct tn_execution *x)
{
    if (x->finished) return;
    if (x->recipe->settle) x->recipe->settle(x->run, x->outcome == TN_OK);
    x->recipe->finish(x->run);
    x->finished = true;
    x->end_ns = tn_os_monotonic_ns();
    leave_ring(x->session, x);
    if (x->waiters > 0) tn_cond_broadcast(&x->changed);
}

/* ---- the reader's side ------------------------------------------------------------------------------------------------ */

static uint64_t end_of(uint32_t timeout_ms, uint64_t now)
{
    return timeout_ms == UINT32_MAX ? UINT64_MAX : now + (uint64_t)timeout_ms * 1000000u;
}

/* Waits for a change of x, at most until `until`; the deadline of x counts as a change. */
static void wait_for_change(struct tn_execution *x, uint64_t until)
{
    struct tn_session *s = x->session;
    uint64_t now = tn_os_monotonic_ns(), deadline = x->cancel.deadline_ns;
    if (deadline && !x->decided && deadline < until) until = deadline;
    x->waiters++;
    if (until == UINT64_MAX) {
        tn_cond_wait(&x->changed, &s->lock);
    } else if (until > now) {
        tn_cond_wait_ns(&x->changed, &s->lock, until - now);
    }
    x->waiters--;
}

/* The driver's role for this caller, when it is free and the wait is long enough to be worth it. */
static bool work_myself(struct tn_execution *x, bool drain, uint32_t timeout_ms, uint64_t until)
{
    struct tn_session *s = x->session;
    if (s->driving || timeout_ms < TN_DRIVE_TIMEOUT_MS || !tn_execution_wants_work(x)) return false;
    tn_scheduler_drive(s, x, drain, until == UINT64_MAX ? 0 : until);
    return true;
}

static void check_time(struct tn_execution *x)
{
    enum tn_status st = x->decided ? TN_OK : tn_cancel_check(&x->cancel);
    if (st) tn_execution_decide(x, st, NULL);
    if (x->decided && !x->busy) tn_execution_finish(x);
}

static void describe_outcome(const struct tn_execution *x, struct tn_error *err)
{
    struct tn_finding *f;
    switch (x->outcome) {
    case TN_OK:
        return;
    case TN_CANCELLED:
        tn_error_set(err, TN_CANCELLED, TN_PHASE_EXECUTE, "the execution was cancelled on request");
        break;
    case TN_DEADLINE_EXCEEDED:
        f = tn_error_set(err, TN_DEADLINE_EXCEEDED, TN_PHASE_EXECUTE, "the deadline of the execution has passed");
        tn_remedy(f, "allow more time or send less work at once");
        break;
    default:
        f = tn_error_set(err, x->outcome, TN_PHASE_EXECUTE, "the execution failed");
        if (f && x->failure.code) *f = x->failure;
    }
    if (err) memcpy(err->plan_id, x->plan->id, sizeof(x->plan->id));
}

static void tell_outcome(struct tn_execution *x, tn_event *event, struct tn_error *err)
{
    *event = (tn_event){.kind = TN_EVENT_TERMINAL, .status = x->outcome, .failed_items = (size_t)x->counts.failed};
    x->told = true;
    if (x->outcome && x->failure.code && x->failure.item >= 0) event->index = (size_t)x->failure.item;
    describe_outcome(x, err);
}

/* Makes room in the queue; a producer that paused for lack of it starts again when half of it is free. */
static size_t pull_item(struct tn_execution *x)
{
    bool paused = !x->busy && !tn_execution_wants_work(x);
    size_t item = x->pulled++;
    if (paused && x->more && !x->decided && x->ready - x->pulled <= x->session->queue_items / 2) tn_scheduler_wake(x->session);
    return item;
}

enum tn_status tn_execution_pull(struct tn_execution *x, uint32_t timeout_ms, tn_event *event, struct tn_error *err)
{
    struct tn_session *s = x->session;
    uint64_t until = end_of(timeout_ms, timeout_ms == UINT32_MAX ? 0 : tn_os_monotonic_ns());
    enum tn_status st = TN_OK;
    size_t item = SIZE_MAX;
    *event = (tn_event){.kind = TN_EVENT_NONE};
    tn_mutex_lock(&s->lock);
    for (;;) {
        check_time(x);
        if (x->told) {
            tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "the execution has ended: its terminal event was pulled");
            st = TN_INVALID_REQUEST;
            break;
        }
        if (x->pulled < x->ready) {
            item = pull_item(x);
            break;
        }
        if (x->decided) {
            tell_outcome(x, event, err);
            break;
        }
        if (timeout_ms == 0 || (timeout_ms != UINT32_MAX && tn_os_monotonic_ns() >= until)) break;
        if (!work_myself(x, false, timeout_ms, until)) wait_for_change(x, until);
    }
    tn_scheduler_leave(s);
    if (item != SIZE_MAX) x->recipe->event(x->run, item, event, err);
    return st;
}

void tn_execution_stop(struct tn_execution *x)
{
    struct tn_session *s = x->session;
    atomic_store_explicit(&x->cancel.requested, true, memory_order_release);
    tn_mutex_lock(&s->lock);
    check_time(x);
    tn_scheduler_leave(s);
}

enum tn_status tn_execution_wait(struct tn_execution *x, uint32_t timeout_ms, struct tn_error *err)
{
    struct tn_session *s = x->session;
    uint64_t until = end_of(timeout_ms, timeout_ms == UINT32_MAX ? 0 : tn_os_monotonic_ns());
    tn_mutex_lock(&s->lock);
    for (;;) {
        check_time(x);
        if (x->finished) break;
        if (timeout_ms == 0 || (timeout_ms != UINT32_MAX && tn_os_monotonic_ns() >= until)) break;
        if (!work_myself(x, true, timeout_ms, until)) wait_for_change(x, until);
    }
    bool finished = x->finished;
    tn_scheduler_leave(s);
    if (finished) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_DRAIN_FAILED, TN_PHASE_EXECUTE, "the work has not stopped within the time");
    tn_remedy(f, "wait longer; pull the waiting events, or cancel, when the queue is full");
    return TN_DRAIN_FAILED;
}

void tn_execution_end(struct tn_execution *x)
{
    struct tn_session *s = x->session;
    struct tn_alloc *lease = &s->lease;
    tn_execution_stop(x);
    tn_execution_wait(x, UINT32_MAX, NULL);
    x->recipe->release(x->run);
    tn_arena_release(&x->arena);
    tn_cond_release(&x->changed);
    uint64_t bytes = x->bytes;
    tn_free(lease, x);
    readmit(s, bytes);
    tn_session_drop(s);
}
