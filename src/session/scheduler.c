/*
 * The scheduler: which executions share the next invocation, the invocation itself, and what becomes of its results. The
 * only caller of the provider. Knows neither texts nor models: recipes turn requests into sequences, providers turn
 * sequences into vectors.
 *
 * One step: choose a team (with the lock), let each member put sequences into the batch, invoke, give results back
 * (without it), publish (with it). Fairness is round robin: each step starts one execution further, and a member may fill
 * its share of the rows that are left, so that a short request behind a long one waits for one step and no more.
 */
#include "session/session.h"

#include "base/os.h"

_Static_assert((int)TN_ITEM_DONE == (int)TN_SEQUENCE_DONE && (int)TN_ITEM_STOPPED == (int)TN_SEQUENCE_STOPPED &&
                   (int)TN_ITEM_NOT_FINITE == (int)TN_SEQUENCE_NOT_FINITE,
               "the provider's and the recipe's words for a sequence's state are the same numbers");

/* ---- with the lock ------------------------------------------------------------------------------------------------ */

/* Executions that were cancelled or whose time is over: decided now, finished when they are not busy. */
static void stop_ended(struct tn_session *s)
{
    struct tn_execution *x = s->ring;
    for (uint32_t left = s->running; left > 0; left--) {
        struct tn_execution *next = x->next;
        enum tn_status st = x->decided ? TN_OK : tn_cancel_check(&x->cancel);
        if (st) tn_execution_decide(x, st, NULL);
        if (x->decided && !x->busy) tn_execution_finish(x);
        x = next;
    }
}

static bool choose_team(struct tn_session *s)
{
    struct tn_execution *x = s->ring, *first = NULL;
    s->team_size = 0;
    for (uint32_t left = s->running; left > 0 && s->team_size < TN_TEAM; left--, x = x->next) {
        if (!tn_execution_wants_work(x)) continue;
        if (!first) first = x;
        x->busy = true;
        s->team[s->team_size++] = (struct tn_member){
            .execution = x,
            .ready = x->ready,
            .more = true,
            .item_end = x->pulled + s->queue_items,
        };
    }
    if (first) s->ring = first->next;
    return s->team_size > 0;
}

static void publish(struct tn_session *s)
{
    for (uint32_t i = 0; i < s->team_size; i++) {
        struct tn_member *m = &s->team[i];
        struct tn_execution *x = m->execution;
        x->busy = false;
        x->prepare_ns += m->prepare_ns;
        x->invoke_ns += m->invoke_ns;
        x->steps++;
        x->counts = x->recipe->counts(x->run);
        if (!m->failed && !x->decided) { /* after the decision nothing more is delivered */
            x->ready = m->ready;
            x->more = m->more;
        }
        if (m->failed) tn_execution_decide(x, m->failed, NULL);
        if (m->done) tn_execution_decide(x, TN_OK, NULL);
        if (x->decided) tn_execution_finish(x);
        if (x->waiters > 0) tn_cond_broadcast(&x->changed);
    }
    s->team_size = 0;
}

void tn_scheduler_wake(struct tn_session *s)
{
    if (!s->driving) tn_cond_signal(&s->wake);
}

void tn_scheduler_leave(struct tn_session *s)
{
    bool unload = s->handle_gone && s->running == 0 && !s->driving && !s->unloaded;
    if (unload) s->unloaded = true;
    if (unload || s->running > 0) tn_scheduler_wake(s);
    tn_mutex_unlock(&s->lock);
    if (unload) tn_session_unload(s);
}

/* ---- without it: the driver's own ------------------------------------------------------------------------------- */

/* A member's own failure: kept in its execution, which nobody else looks at while it is busy. */
static void fail_member(struct tn_session *s, struct tn_member *m, enum tn_status st)
{
    m->failed = st;
    m->execution->failure = s->error->primary;
    tn_error_clear(s->error);
}

/* Takes the sequences of a member back that are the last ones of the batch. */
static void take_back(struct tn_batch *batch, struct tn_member *m)
{
    tn_batch_cut(batch, m->end = m->first);
}

/*
 * Rows of a step: as many as take about STEP_NS, going by the steps before, so that a cancel, a deadline or another
 * request waits about that long, whatever the size of the model. Never so few that the kernels starve.
 */
enum { STEP_NS = 250000000, LEAST_STEP_ROWS = 512 };

static uint32_t step_rows(const struct tn_session *s)
{
    uint32_t most = s->batch.max_rows;
    double rows = s->row_ns > 0 ? STEP_NS / s->row_ns : most;
    if (rows < LEAST_STEP_ROWS) rows = LEAST_STEP_ROWS;
    return rows < most ? (uint32_t)rows : most;
}

static void learn_row_time(struct tn_session *s, uint64_t spent_ns)
{
    if (s->batch.rows < LEAST_STEP_ROWS / 4) return; /* a short text says more about overheads */
    double now = (double)spent_ns / s->batch.rows;
    s->row_ns = s->row_ns > 0 ? 0.75 * s->row_ns + 0.25 * now : now;
}

/* The share of the rows that are left for one of so many members. */
static uint32_t share_of(const struct tn_session *s, uint32_t members_left)
{
    uint32_t all = step_rows(s), left = all > s->batch.rows ? all - s->batch.rows : 0;
    return (left + members_left - 1) / members_left;
}

static void fill_member(struct tn_session *s, struct tn_member *m, uint32_t members_left)
{
    struct tn_execution *x = m->execution;
    struct tn_step step = {
        .run_id = x->id,
        .wanted = &s->batch,
        .row_quota = share_of(s, members_left),
        .item_end = m->item_end,
        .scratch = &s->scratch,
    };
    m->first = m->end = s->batch.sequences;
    if (tn_cancel_check(&x->cancel)) return;
    uint64_t start = tn_os_monotonic_ns();
    if (x->first_ns == 0) x->first_ns = start;
    enum tn_status st = x->recipe->advance(x->run, &step, s->error);
    m->prepare_ns = tn_os_monotonic_ns() - start;
    m->end = s->batch.sequences;
    m->ready = step.ready;
    m->more = step.more;
    m->done = step.done;
    m->call = st ? NULL : step.call;
    if (!st) return;
    take_back(&s->batch, m);
    fail_member(s, m, st);
}

/* The call that a member asked for; a failure is its own. */
static void call_graph(struct tn_session *s, struct tn_member *m)
{
    struct tn_tensor_call call = {.in = m->call->in, .out = m->call->out, .wanted = m->call->wanted, .cancel = &m->execution->cancel};
    if (m->failed || tn_cancel_check(&m->execution->cancel)) return;
    uint64_t start = tn_os_monotonic_ns();
    bool told = s->teller && s->provider->run_told;
    enum tn_status st = told ? s->provider->run_told(s->instance, &call, s->teller, s->error) : s->provider->run(s->instance, &call, s->error);
    m->invoke_ns = tn_os_monotonic_ns() - start;
    m->answered = st == TN_OK;
    /* What stopped because its owner asked for that is decided by whoever asked. */
    if (st && !((st == TN_CANCELLED || st == TN_DEADLINE_EXCEEDED) && tn_cancel_check(&m->execution->cancel))) fail_member(s, m, st);
    tn_error_clear(s->error);
}

static enum tn_status invoke(struct tn_session *s, uint32_t first, uint32_t end)
{
    struct tn_batch *b = &s->batch;
    uint32_t base = (uint32_t)b->offsets[first], result = first;
    if (b->max_picks) result = (uint32_t)b->pick_offsets[first];
    else if (b->by_row) result = base;
    /* Offsets and spans count from the first row of the invocation. */
    for (uint32_t i = first; base > 0 && i <= end; i++) b->offsets[i] -= (int32_t)base;
    for (uint32_t i = first; base > 0 && i < end; i++) b->spans[i].first -= (int32_t)base;
    struct tn_invocation call = {
        .ids = b->ids + base,
        .type_ids = b->type_ids + base,
        .offsets = b->offsets + first,
        .spans = b->spans + first,
        .picks = b->max_picks ? b->picks : NULL,
        .pick_offsets = b->max_picks ? b->pick_offsets + first : NULL,
        .sequences = end - first,
        .cancel = s->cancels + first,
        .out = b->out + (size_t)result * b->width,
        .status = b->status + first,
    };
    enum tn_status st = s->provider->invoke(s->instance, &call, s->error);
    for (uint32_t i = first; base > 0 && i <= end; i++) b->offsets[i] += (int32_t)base;
    for (uint32_t i = first; base > 0 && i < end; i++) b->spans[i].first += (int32_t)base;
    if (st != TN_CANCELLED && st != TN_DEADLINE_EXCEEDED) return st;
    for (uint32_t i = first; i < end; i++) b->status[i] = TN_SEQUENCE_STOPPED;
    return TN_OK;
}

/* A provider may stop a sequence only when its owner asked for that. */
static bool stopped_unasked(struct tn_session *s, const struct tn_member *m)
{
    for (uint32_t i = m->first; i < m->end; i++) {
        if (s->batch.status[i] == TN_SEQUENCE_STOPPED) return tn_cancel_check(&m->execution->cancel) == TN_OK;
    }
    return false;
}

static void give_results(struct tn_session *s, struct tn_member *m)
{
    struct tn_execution *x = m->execution;
    struct tn_step step = {
        .run_id = x->id, .results = &s->batch, .first = m->first, .end = m->end, .scratch = &s->scratch,
    };
    if (m->answered) step.results = NULL, step.answered = m->call;
    if (m->failed || (m->first == m->end && !m->answered)) return;
    enum tn_status st = TN_RUNTIME_FAILURE;
    if (stopped_unasked(s, m)) {
        tn_error_set(s->error, st, TN_PHASE_EXECUTE, "the provider stopped the work without being asked to");
    } else {
        st = x->recipe->advance(x->run, &step, s->error);
    }
    if (st) {
        fail_member(s, m, st);
        return;
    }
    m->ready = step.ready;
    m->more = step.more;
    m->done = step.done;
}

/*
 * One invocation for the whole team. When it fails for several, each is tried alone: what one request brings about must
 * not end the others.
 */
static void invoke_team(struct tn_session *s)
{
    struct tn_batch *b = &s->batch;
    for (uint32_t i = 0; i < s->team_size; i++) {
        for (uint32_t q = s->team[i].first; q < s->team[i].end; q++) s->cancels[q] = &s->team[i].execution->cancel;
    }
    uint64_t start = tn_os_monotonic_ns();
    enum tn_status st = invoke(s, 0, b->sequences);
    for (uint32_t i = 0; st && i < s->team_size; i++) {
        struct tn_member *m = &s->team[i];
        if (m->failed || m->first == m->end) continue;
        enum tn_status own = m->end - m->first == b->sequences ? st : invoke(s, m->first, m->end);
        if (own) fail_member(s, m, own);
    }
    uint64_t spent = tn_os_monotonic_ns() - start;
    learn_row_time(s, spent);
    for (uint32_t i = 0; i < s->team_size; i++) {
        if (s->team[i].first < s->team[i].end) s->team[i].invoke_ns = spent;
    }
}

/* Working memory that one long text has blown up does not stay. */
static void shrink_scratch(struct tn_session *s)
{
    if (!s->scratch.oversize) return;
    tn_text_encoding_release(&s->scratch.encoding);
    tn_text_encoding_init(&s->scratch.encoding, &s->lease);
    s->scratch.owner = 0;
    s->scratch.oversize = false;
}

static void work(struct tn_session *s)
{
    tn_batch_clear(&s->batch);
    tn_error_clear(s->error);
    for (uint32_t i = 0; i < s->team_size; i++) fill_member(s, &s->team[i], s->team_size - i);
    if (s->batch.sequences > 0) invoke_team(s);
    for (uint32_t i = 0; i < s->team_size; i++)
        if (s->team[i].call) call_graph(s, &s->team[i]);
    for (uint32_t i = 0; i < s->team_size; i++) give_results(s, &s->team[i]);
    shrink_scratch(s);
}

/* ---- driving --------------------------------------------------------------------------------------------------------- */

void tn_scheduler_drive(struct tn_session *s, const struct tn_execution *own, bool drain, uint64_t until_ns)
{
    s->driving = true;
    for (;;) {
        stop_ended(s);
        if (own && (drain ? own->finished : tn_execution_has_news(own))) break;
        if (!choose_team(s)) break;
        tn_mutex_unlock(&s->lock);
        work(s);
        tn_mutex_lock(&s->lock);
        s->invocations++;
        publish(s);
        if (until_ns && tn_os_monotonic_ns() >= until_ns) break;
    }
    s->driving = false;
}

static bool any_wants_work(const struct tn_session *s)
{
    const struct tn_execution *x = s->ring;
    for (uint32_t left = s->running; left > 0; left--, x = x->next) {
        if (tn_execution_wants_work(x) || x->decided) return true;
    }
    return false;
}

/* Until the earliest deadline of an execution that waits for its reader; UINT64_MAX: there is none. */
static uint64_t until_deadline(const struct tn_session *s)
{
    uint64_t earliest = UINT64_MAX, now = tn_os_monotonic_ns();
    const struct tn_execution *x = s->ring;
    for (uint32_t left = s->running; left > 0; left--, x = x->next) {
        uint64_t at = x->cancel.deadline_ns;
        if (at && at < earliest) earliest = at;
    }
    return earliest == UINT64_MAX ? UINT64_MAX : earliest > now ? earliest - now : 0;
}

void *tn_scheduler_thread(void *session)
{
    struct tn_session *s = session;
    bool ended = false;
    while (!ended) {
        tn_mutex_lock(&s->lock);
        uint64_t wait = s->driving ? UINT64_MAX : until_deadline(s);
        if (!s->driving && (wait == 0 || any_wants_work(s))) {
            tn_scheduler_drive(s, NULL, false, 0);
        } else if (!s->unloaded && wait == UINT64_MAX) {
            tn_cond_wait(&s->wake, &s->lock);
        } else if (!s->unloaded) {
            tn_cond_wait_ns(&s->wake, &s->lock, wait);
        }
        ended = s->unloaded;
        tn_scheduler_leave(s);
    }
    return NULL;
}
