/*
 * Calls of a text graph: sequences by length into padded operands, and what comes out back to packed rows. Operands live in
 * a heap that keeps its memory from call to call.
 */
#include "provider/texts/texts.h"

#include "base/checked.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

struct padding {
    struct tn_text_runner *x;
    const struct tn_invocation *call;
    float *rows;
    uint32_t *order; /* sequences that can run, longest first */
    uint32_t count;
    struct tn_error *err;
};

static uint32_t length_of(const struct tn_invocation *call, uint32_t s)
{
    return (uint32_t)(call->offsets[s + 1] - call->offsets[s]);
}

/* ---- room --------------------------------------------------------------------------------------------------------- */

enum tn_status tn_text_runner_init(struct tn_text_runner *x, const struct tn_text_graph *t, tn_graph_run_fn *run, void *user,
                                   struct tn_alloc *alloc, struct tn_error *err)
{
    size_t inputs = (size_t)t->graph->input_count + 1, outputs = (size_t)t->graph->view->output_count + 1;
    *x = (struct tn_text_runner){.texts = t, .run = run, .user = user, .alloc = alloc,
                                 .in = tn_calloc(alloc, inputs, sizeof(*x->in)),
                                 .out = tn_calloc(alloc, outputs, sizeof(*x->out)),
                                 .wanted = tn_calloc(alloc, outputs, sizeof(*x->wanted))};
    tn_heap_init(&x->heap, alloc);
    if (!x->in || !x->out || !x->wanted) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the calls of a graph");
    x->wanted[t->output] = true;
    return TN_OK;
}

void tn_text_runner_release(struct tn_text_runner *x)
{
    if (!x->alloc) return;
    tn_heap_release(&x->heap);
    tn_free(x->alloc, x->in);
    tn_free(x->alloc, x->out);
    tn_free(x->alloc, x->wanted);
    *x = (struct tn_text_runner){.alloc = NULL};
}

/* ---- what can run ------------------------------------------------------------------------------------------------- */

static bool indices_fit(const struct tn_text_graph *t, const struct tn_invocation *call, uint32_t s)
{
    for (int32_t i = call->offsets[s]; i < call->offsets[s + 1]; i++) {
        if (call->ids[i] < 0 || (uint64_t)call->ids[i] >= t->vocab_size) return false;
        if (!call->type_ids || !t->type_count) continue;
        if (call->type_ids[i] < 0 || (uint64_t)call->type_ids[i] >= t->type_count) return false;
    }
    return true;
}

static int by_length(const void *a, const void *b, void *context)
{
    const uint32_t *x = a, *y = b;
    uint32_t n = length_of(context, *x), m = length_of(context, *y);
    if (n != m) return n > m ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static enum tn_status list_sequences(struct padding *p)
{
    const struct tn_text_graph *t = p->x->texts;
    for (uint32_t s = 0; s < p->call->sequences; s++) {
        int64_t n = (int64_t)p->call->offsets[s + 1] - p->call->offsets[s];
        if (n < 1 || (uint64_t)n > t->max_rows) {
            struct tn_finding *f = tn_error_set(p->err, TN_SHAPE_OUTSIDE_ENVELOPE, TN_PHASE_EXECUTE, "a sequence has no admitted length");
            tn_at_item(f, s);
            tn_found(f, "%lld tokens", (long long)n);
            tn_expected(f, "1 to %llu", (unsigned long long)t->max_rows);
            return TN_SHAPE_OUTSIDE_ENVELOPE;
        }
        p->call->status[s] = TN_ITEM_BAD_INDEX;
        if (indices_fit(t, p->call, s)) p->order[p->count++] = s;
    }
    tn_sort(p->order, p->count, sizeof(*p->order), by_length, (void *)(uintptr_t)p->call);
    return TN_OK;
}

/* How many of the sequences from `first` on share a call: of like length, an eighth of padding at most. */
static uint32_t share_call(const struct padding *p, uint32_t first)
{
    const struct tn_text_graph *t = p->x->texts;
    uint64_t longest = length_of(p->call, p->order[first]), each = t->length ? t->length : longest, real = longest;
    uint32_t n = 1;
    while (!t->alone && first + n < p->count && (n + 1) * each <= TN_TEXT_CALL_ROWS) {
        uint64_t next = length_of(p->call, p->order[first + n]);
        bool close = t->graph->texts->mask == TN_NO_PORT ? next == longest : t->length || (real + next) * 8 >= (n + 1) * longest * 7;
        if (!close) break;
        real += next;
        n++;
    }
    return n;
}

/* ---- operands ----------------------------------------------------------------------------------------------------- */

struct cell {
    int64_t id, mask, type, position;
};

/* Column i of sequence s; what lies behind its end is padding. */
static struct cell cell_of(const struct padding *p, uint32_t s, uint32_t i, int64_t *seen)
{
    const struct tn_text_graph *t = p->x->texts;
    uint32_t n = length_of(p->call, s);
    const int32_t at = p->call->offsets[s];
    struct cell c = {.id = (int64_t)t->pad_id, .position = t->from_pad ? (int64_t)t->pad_id : 0};
    if (i >= n) return c;
    c.id = p->call->ids[at + (int32_t)i];
    c.type = p->call->type_ids ? p->call->type_ids[at + (int32_t)i] : 0;
    c.mask = !t->hides || i < (uint32_t)p->call->spans[s].count;
    if (!t->from_pad) c.position = i;
    else if (c.id != (int64_t)t->pad_id) c.position = (int64_t)t->pad_id + ++*seen;
    return c;
}

static void put(struct tn_tensor *t, size_t at, int64_t value)
{
    if (!t) return;
    if (t->element == TN_EL_I64) ((int64_t *)t->data)[at] = value;
    else ((int32_t *)t->data)[at] = (int32_t)value;
}

static struct tn_tensor *operand(struct padding *p, uint32_t port, const int64_t *dims, bool *lost)
{
    if (port == TN_NO_PORT) return NULL;
    struct tn_tensor *t = tn_tensor_new(&p->x->heap, (enum tn_element)p->x->texts->graph->inputs[port]->element, 2, dims);
    p->x->in[port] = t;
    *lost = *lost || !t;
    return t;
}

static bool fill(struct padding *p, const uint32_t *sequences, uint32_t count, uint32_t length)
{
    const struct tn_graph_texts *ports = p->x->texts->graph->texts;
    const int64_t dims[2] = {count, length};
    bool lost = false;
    struct tn_tensor *ids = operand(p, ports->ids, dims, &lost), *mask = operand(p, ports->mask, dims, &lost),
                     *types = operand(p, ports->types, dims, &lost), *positions = operand(p, ports->positions, dims, &lost);
    for (uint32_t k = 0; !lost && k < count; k++) {
        int64_t seen = 0;
        for (uint32_t i = 0; i < length; i++) {
            struct cell c = cell_of(p, sequences[k], i, &seen);
            size_t at = (size_t)k * length + i;
            put(ids, at, c.id);
            put(mask, at, c.mask);
            put(types, at, c.type);
            put(positions, at, c.position);
        }
    }
    return !lost;
}

static void drop_operands(struct padding *p)
{
    struct tn_text_runner *x = p->x;
    for (uint32_t i = 0; i < x->texts->graph->input_count; i++) {
        tn_tensor_drop(x->in[i]);
        x->in[i] = NULL;
    }
    tn_tensor_drop(x->out[x->texts->output]);
    x->out[x->texts->output] = NULL;
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

static bool is_finite(const float *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(row[i])) return false;
    }
    return true;
}

/* Rows of one sequence, [n, width] at `from`, to their places. */
static void deliver(const struct padding *p, uint32_t s, const float *from)
{
    size_t width = (size_t)p->x->texts->width, n = p->x->texts->whole ? 1 : length_of(p->call, s);
    const struct tn_invocation *call = p->call;
    call->status[s] = TN_ITEM_DONE;
    if (!p->rows && call->picks) {
        for (int32_t i = call->pick_offsets[s]; i < call->pick_offsets[s + 1]; i++) {
            const float *row = from + (size_t)call->picks[i] * width;
            if (!is_finite(row, width)) call->status[s] = TN_ITEM_NOT_FINITE;
            memcpy(call->out + (size_t)(i - call->pick_offsets[0]) * width, row, width * sizeof(float));
        }
        return;
    }
    float *to = (p->rows ? p->rows : call->out) + (p->x->texts->whole ? s : (size_t)(call->offsets[s] - call->offsets[0])) * width;
    if (!is_finite(from, n * width)) call->status[s] = TN_ITEM_NOT_FINITE;
    memcpy(to, from, n * width * sizeof(float));
}

static enum tn_status wrong_shape(struct padding *p, const struct tn_tensor *t, uint32_t count, uint32_t length)
{
    const struct tn_text_graph *g = p->x->texts;
    struct tn_finding *f = tn_error_set(p->err, TN_RUNTIME_FAILURE, TN_PHASE_EXECUTE, "the graph gave rows of another shape");
    tn_at_tensor(f, g->graph->file->path, g->graph->view->outputs[g->output].name);
    tn_found(f, "rank %u, %llu numbers", t->rank, (unsigned long long)t->count);
    tn_expected(f, "%u texts of %u tokens, %llu numbers %s", count, length, (unsigned long long)g->width, g->whole ? "each" : "for each token");
    return TN_RUNTIME_FAILURE;
}

static enum tn_status take(struct padding *p, const uint32_t *sequences, uint32_t count, uint32_t length)
{
    const struct tn_text_graph *g = p->x->texts;
    const struct tn_tensor *t = p->x->out[g->output];
    uint64_t rows = g->whole ? 1 : length;
    bool fits = t && t->kind == TN_KIND_TENSOR && t->element == TN_EL_F32 && t->rank == (g->whole ? 2u : 3u) && t->dims[0] == count &&
                (uint64_t)t->dims[t->rank - 1] == g->width && t->count == count * rows * g->width;
    if (!fits) return t ? wrong_shape(p, t, count, length) : tn_error_memory(p->err, TN_PHASE_EXECUTE, "running a graph");
    for (uint32_t k = 0; k < count; k++) deliver(p, sequences[k], (const float *)t->data + k * rows * g->width);
    return TN_OK;
}

/* ---- calls -------------------------------------------------------------------------------------------------------- */

static bool nobody_waits(const struct padding *p, const uint32_t *sequences, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!p->call->cancel || tn_cancel_check(p->call->cancel[sequences[i]]) == TN_OK) return false;
    }
    return true;
}

/* Whoever owns all of them may stop the call; where several do, the call ends first. */
static const struct tn_cancel *owner_of(const struct padding *p, const uint32_t *sequences, uint32_t count)
{
    if (!p->call->cancel) return NULL;
    for (uint32_t i = 1; i < count; i++) {
        if (p->call->cancel[sequences[i]] != p->call->cancel[sequences[0]]) return NULL;
    }
    return p->call->cancel[sequences[0]];
}

static enum tn_status run_call(struct padding *p, const uint32_t *sequences, uint32_t count)
{
    const struct tn_text_graph *t = p->x->texts;
    uint32_t length = t->length ? (uint32_t)t->length : length_of(p->call, sequences[0]);
    struct tn_tensor_call call = {.in = p->x->in, .out = p->x->out, .wanted = p->x->wanted, .cancel = owner_of(p, sequences, count)};
    for (uint32_t i = 0; i < count; i++) p->call->status[sequences[i]] = TN_ITEM_STOPPED;
    if (nobody_waits(p, sequences, count)) return TN_OK;
    enum tn_status st = fill(p, sequences, count, length) ? TN_OK : tn_error_memory(p->err, TN_PHASE_EXECUTE, "running a graph");
    if (!st) st = p->x->run(p->x->user, &call, p->err);
    if (!st) st = take(p, sequences, count, length);
    bool stopped = (st == TN_CANCELLED || st == TN_DEADLINE_EXCEEDED) && tn_cancel_check(call.cancel);
    if (stopped) tn_error_clear(p->err);
    drop_operands(p);
    return stopped ? TN_OK : st;
}

enum tn_status tn_text_runner_invoke(struct tn_text_runner *x, const struct tn_invocation *call, float *rows, struct tn_error *err)
{
    struct padding p = {.x = x, .call = call, .rows = rows, .err = err,
                        .order = tn_malloc(x->alloc, ((size_t)call->sequences + 1) * sizeof(*p.order))};
    if (!p.order) return tn_error_memory(err, TN_PHASE_EXECUTE, "running an invocation");
    enum tn_status st = list_sequences(&p);
    for (uint32_t first = 0, count; !st && first < p.count; first += count) {
        count = share_call(&p, first);
        st = run_call(&p, p.order + first, count);
    }
    tn_free(x->alloc, p.order);
    return st;
}
