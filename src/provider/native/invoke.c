/*
 * An invocation cut into pieces. Much work: pieces of about usual_rows rows with equal cost, which the threads pull one
 * after another, each running a piece alone, without a single barrier. Little work (one short text, or what would leave
 * threads idle): pieces one after another, each by the whole team.
 *
 * No row is padding in either way, and since kernels promise the same bits for any company and any team, the choice is
 * about time alone.
 */
#include "provider/native/native.h"

#include <string.h>

/*
 * A team loses up to this much at its barriers and by uneven shares; what threads alone would lose by waiting for the
 * last piece may be as much.
 */
#define WORTH_BEING_ALONE 0.88

struct piece {
    double cost;
    uint32_t rows, count, first, last; /* places in `order`, chained by next_in_piece */
};

struct job {
    struct tn_instance *instance;
    const struct tn_invocation *call;
    uint32_t *order;   /* sequences that can run, longest first */
    uint32_t count;
    uint32_t *next_in_piece; /* chains the sequences of a piece */
    struct piece *pieces;
    uint32_t piece_count;
    _Atomic uint32_t next;
    _Atomic int failed; /* enum tn_status of the first failure */
    bool teams;
};

static uint32_t length_of(const struct tn_invocation *call, uint32_t s)
{
    return (uint32_t)(call->offsets[s + 1] - call->offsets[s]);
}

/* ---- filling a workspace ----------------------------------------------------------------------------------------- */

static void fill_positions(const struct tn_graph *g, const int32_t *ids, int32_t *positions, uint32_t n)
{
    if (g->position_rule == TN_POSITION_ARANGE) {
        for (uint32_t i = 0; i < n; i++) positions[i] = (int32_t)i;
        return;
    }
    int32_t pad = (int32_t)g->pad_id, seen = 0;
    for (uint32_t i = 0; i < n; i++) positions[i] = ids[i] == pad ? pad : pad + ++seen;
}

/* The rows of sequence s that are picked; its own begin at `at` in the piece. */
static void append_picks(struct tn_workspace *w, const struct tn_invocation *call, uint32_t s, uint32_t at)
{
    for (int32_t i = call->pick_offsets[s]; i < call->pick_offsets[s + 1]; i++) {
        w->picks[w->pick_count] = (int32_t)at + call->picks[i];
        w->pick_of[w->pick_count] = s;
        w->pick_to[w->pick_count++] = (uint32_t)(i - call->pick_offsets[0]);
    }
}

static void append_sequence(const struct tn_native_program *program, struct tn_workspace *w,
                            const struct tn_invocation *call, uint32_t s)
{
    uint32_t n = length_of(call, s), at = w->rows;
    const int32_t *ids = call->ids + call->offsets[s];
    memcpy(w->ids + at, ids, n * sizeof(*ids));
    if (call->type_ids) {
        memcpy(w->types + at, call->type_ids + call->offsets[s], n * sizeof(*ids));
    } else {
        memset(w->types + at, 0, n * sizeof(*ids));
    }
    fill_positions(&program->graph, ids, w->positions + at, n);
    size_t width = (size_t)program->graph.given_width;
    if (width) memcpy(w->given + at * width, call->given + (size_t)(call->offsets[s] - call->offsets[0]) * width, n * width * sizeof(float));
    if (call->picks) append_picks(w, call, s, at);
    w->spans[w->count] = call->spans[s];
    w->spans[w->count].first += (int32_t)at - call->offsets[s];
    w->sequences[w->count++] = s;
    w->rows = at + n;
    w->offsets[w->count] = (int32_t)w->rows;
}

static void fill_piece(const struct job *job, uint32_t piece, struct tn_workspace *w)
{
    w->count = w->rows = w->pick_count = 0;
    w->offsets[0] = 0;
    for (uint32_t i = job->pieces[piece].first; i != UINT32_MAX; i = job->next_in_piece[i]) {
        append_sequence(job->instance->program, w, job->call, job->order[i]);
    }
}

/* ---- running ------------------------------------------------------------------------------------------------------- */

static void run_piece(struct job *job, uint32_t piece, struct tn_workspace *w, unsigned threads)
{
    int none = TN_OK;
    fill_piece(job, piece, w);
    enum tn_status st = tn_piece_run(job->instance, w, job->call, threads);
    if (st) atomic_compare_exchange_strong(&job->failed, &none, (int)st);
}

static void run_alone(void *arg, unsigned rank, unsigned size)
{
    struct job *job = arg;
    (void)size;
    for (;;) {
        uint32_t piece = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (piece >= job->piece_count || job->failed) return;
        run_piece(job, piece, &job->instance->workspaces[rank], 1);
    }
}

static void run_together(struct job *job)
{
    for (uint32_t piece = 0; piece < job->piece_count && !job->failed; piece++) {
        run_piece(job, piece, &job->instance->workspaces[0], job->instance->threads);
    }
}

/* ---- cutting ------------------------------------------------------------------------------------------------------- */

/* Cost of a sequence in units of one row through the linear layers; attention grows with the square. */
static double cost_of(uint32_t n)
{
    return (double)n * (1.0 + (double)n / 2500.0);
}

/* Sorts `order` by length, longest first: a counting sort, stable and linear. */
static void sort_by_length(struct job *job, uint32_t *scratch, uint64_t max_rows, uint32_t *starts)
{
    const struct tn_invocation *call = job->call;
    memset(starts, 0, ((size_t)max_rows + 2) * sizeof(*starts));
    for (uint32_t i = 0; i < job->count; i++) starts[max_rows - length_of(call, job->order[i]) + 1]++;
    for (uint64_t i = 1; i <= max_rows; i++) starts[i] += starts[i - 1];
    memcpy(scratch, job->order, job->count * sizeof(*scratch));
    for (uint32_t i = 0; i < job->count; i++) job->order[starts[max_rows - length_of(call, scratch[i])]++] = scratch[i];
}

/*
 * Longest first, each into the cheapest piece that has room (Graham 1969). Returns false when some sequence fits
 * nowhere: then the caller asks for more pieces.
 */
static bool pack(struct job *job, const struct tn_native_program *program)
{
    for (uint32_t p = 0; p < job->piece_count; p++) job->pieces[p] = (struct piece){.first = UINT32_MAX, .last = UINT32_MAX};
    for (uint32_t i = 0; i < job->count; i++) {
        uint32_t n = length_of(job->call, job->order[i]);
        struct piece *best = NULL;
        for (uint32_t p = 0; p < job->piece_count; p++) {
            struct piece *piece = &job->pieces[p];
            if (piece->rows + n <= program->piece_rows && piece->count < program->piece_sequences && (!best || piece->cost < best->cost)) best = piece;
        }
        if (!best) return false;
        job->next_in_piece[i] = UINT32_MAX;
        if (best->last == UINT32_MAX) {
            best->first = i;
        } else {
            job->next_in_piece[best->last] = i;
        }
        best->last = i;
        best->rows += n;
        best->count++;
        best->cost += cost_of(n);
    }
    return true;
}

/* Dearest first, so that the last pieces to be pulled are the ones that even things out. */
static void sort_pieces(struct job *job)
{
    for (uint32_t i = 1; i < job->piece_count; i++) {
        struct piece moving = job->pieces[i];
        uint32_t at = i;
        for (; at > 0 && job->pieces[at - 1].cost < moving.cost; at--) job->pieces[at] = job->pieces[at - 1];
        job->pieces[at] = moving;
    }
}

/* Whether threads that pull these pieces in order are busy for most of the time until the last has finished. */
static bool keeps_busy(const struct job *job, double *finish, unsigned threads)
{
    double total = 0, end = 0;
    for (unsigned t = 0; t < threads; t++) finish[t] = 0;
    for (uint32_t p = 0; p < job->piece_count; p++) {
        unsigned next = 0;
        for (unsigned t = 1; t < threads; t++) next = finish[t] < finish[next] ? t : next;
        finish[next] += job->pieces[p].cost;
        total += job->pieces[p].cost;
        if (finish[next] > end) end = finish[next];
    }
    return total >= WORTH_BEING_ALONE * end * threads;
}

static void cut(struct job *job, double *finish, uint64_t rows)
{
    const struct tn_native_program *program = job->instance->program;
    unsigned threads = job->instance->threads;
    uint64_t target = (rows + program->usual_rows - 1) / program->usual_rows;
    /* as many pieces for each thread as for any other */
    job->piece_count = (uint32_t)((target + threads - 1) / threads * threads);
    if (job->piece_count > job->count) job->piece_count = job->count;
    while (!pack(job, program)) job->piece_count++;
    sort_pieces(job);
    job->teams = threads > 1 && !keeps_busy(job, finish, threads);
    if (!job->teams) return;
    job->piece_count = (uint32_t)((rows + program->piece_rows - 1) / program->piece_rows);
    while (!pack(job, program)) job->piece_count++;
}

/* ---- checking ------------------------------------------------------------------------------------------------------ */

static bool indices_fit(const struct tn_graph *g, const struct tn_invocation *call, uint32_t s)
{
    for (int32_t i = call->offsets[s]; i < call->offsets[s + 1]; i++) {
        if (!g->given_width && (call->ids[i] < 0 || (uint64_t)call->ids[i] >= g->vocab_size)) return false;
        if (g->type_count && call->type_ids && (call->type_ids[i] < 0 || (uint64_t)call->type_ids[i] >= g->type_count)) return false;
    }
    return true;
}

/* Rising and inside its sequence: then a piece never picks more rows than it has. */
static bool picks_fit(const struct tn_invocation *call, uint32_t s, int64_t n)
{
    int64_t last = -1;
    for (int32_t i = call->pick_offsets[s]; i < call->pick_offsets[s + 1]; i++) {
        if (call->picks[i] <= last || call->picks[i] >= n) return false;
        last = call->picks[i];
    }
    return true;
}

/* Lists what can run; the others get their status. TN_SHAPE_OUTSIDE_ENVELOPE when the caller broke the contract. */
static enum tn_status list_sequences(struct job *job, uint64_t *rows, struct tn_error *err)
{
    const struct tn_native_program *program = job->instance->program;
    *rows = 0;
    for (uint32_t s = 0; s < job->call->sequences; s++) {
        int64_t n = (int64_t)job->call->offsets[s + 1] - job->call->offsets[s];
        if (n < 1 || (uint64_t)n > program->max_rows) {
            struct tn_finding *f = tn_error_set(err, TN_SHAPE_OUTSIDE_ENVELOPE, TN_PHASE_EXECUTE, "a sequence has no admitted length");
            tn_at_item(f, s);
            tn_found(f, "%lld tokens", (long long)n);
            tn_expected(f, "1 to %llu", (unsigned long long)program->max_rows);
            return TN_SHAPE_OUTSIDE_ENVELOPE;
        }
        if (job->call->picks && !picks_fit(job->call, s, n)) {
            struct tn_finding *f = tn_error_set(err, TN_SHAPE_OUTSIDE_ENVELOPE, TN_PHASE_EXECUTE, "a picked row is outside its sequence");
            tn_at_item(f, s);
            tn_expected(f, "rising rows below %lld", (long long)n);
            return TN_SHAPE_OUTSIDE_ENVELOPE;
        }
        job->call->status[s] = TN_ITEM_BAD_INDEX;
        if (!indices_fit(&program->graph, job->call, s)) continue;
        job->order[job->count++] = s;
        *rows += (uint64_t)n;
    }
    return TN_OK;
}

enum tn_status tn_native_invoke(struct tn_instance *instance, const struct tn_invocation *call, struct tn_error *err)
{
    struct job job = {.instance = instance, .call = call};
    size_t n = call->sequences;
    uint64_t max_rows = instance->program->max_rows, rows = 0;
    if (n == 0) return TN_OK;
    if (instance->texts) return tn_texts_invoke(instance->texts, call, err);
    /* one block: pieces, finish times, order, scratch, chain, counting sort */
    size_t words = 3 * n + (size_t)max_rows + 2;
    size_t doubles = n * sizeof(struct piece) + instance->threads * sizeof(double);
    char *block = tn_malloc(instance->alloc, doubles + words * sizeof(uint32_t));
    if (!block) return tn_error_memory(err, TN_PHASE_EXECUTE, "running an invocation");
    job.pieces = (struct piece *)(void *)block;
    double *finish = (double *)(void *)(job.pieces + n);
    job.order = (uint32_t *)(void *)(finish + instance->threads);
    uint32_t *scratch = job.order + n;
    job.next_in_piece = scratch + n;
    enum tn_status status = list_sequences(&job, &rows, err);
    if (!status && job.count) {
        sort_by_length(&job, scratch, max_rows, job.next_in_piece + n);
        cut(&job, finish, rows);
        bool alone = call->tap || instance->threads == 1;
        if (job.teams && !alone) run_together(&job);
        else tn_pool_run(instance->pool, run_alone, &job, alone ? 1 : instance->threads);
        if (job.failed) status = tn_error_memory(err, TN_PHASE_EXECUTE, "running an invocation"); /* nothing else can fail */
    }
    tn_free(instance->alloc, block);
    return status;
}
