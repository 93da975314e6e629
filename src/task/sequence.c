/*
 * Sequences: memory and life of the states that a graph's calls hand on. Which values go where is the recipe's to say
 * (tensor_recipe.c). Values that callers give are untrusted.
 */
#include "task/sequence.h"

#include "task/tensor.h"

enum tn_status tn_sequence_make(const struct tn_graph_facts *graph, struct tn_alloc *alloc, const struct tn_limits *limits,
                                struct tn_sequence **out, struct tn_error *err)
{
    *out = NULL;
    if (!graph || graph->state_count == 0) {
        struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST,
                                            "the package declares no state that outlives a call");
        tn_remedy(f, "declare it in inference_metadata.yaml (a state group with a cell of session scope), or give what came out of "
                     "one call to the next");
        return TN_INVALID_REQUEST;
    }
    size_t count = graph->state_count;
    struct tn_sequence *q = tn_calloc(alloc, 1, sizeof(*q));
    if (q) {
        *q = (struct tn_sequence){.alloc = alloc, .limits = limits, .graph = graph, .now = tn_calloc(alloc, count, sizeof(*q->now)),
                                  .next = tn_calloc(alloc, count, sizeof(*q->next)), .values = tn_calloc(alloc, count, sizeof(*q->values))};
        tn_ref_init(&q->ref);
        tn_heap_init(&q->heap, alloc);
        if (q->now && q->next && q->values) {
            *out = q;
            return TN_OK;
        }
        tn_sequence_unref(q);
    }
    return tn_error_memory(err, TN_PHASE_REQUEST, "beginning a sequence");
}

void tn_sequence_unref(struct tn_sequence *q)
{
    if (!q || !tn_ref_drop(&q->ref)) return;
    struct tn_keep session = q->session;
    if (q->now && q->next) tn_sequence_clear(q);
    tn_heap_release(&q->heap);
    tn_free(q->alloc, q->now);
    tn_free(q->alloc, q->next);
    tn_free(q->alloc, q->values);
    tn_free(q->alloc, q);
    tn_keep_drop(&session); /* the allocator may go with it */
}

enum tn_status tn_sequence_borrow(struct tn_sequence *q, struct tn_error *err)
{
    if (!atomic_exchange_explicit(&q->borrowed, true, memory_order_acquire)) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_BUSY, TN_PHASE_REQUEST, "the sequence is in use by another call");
    tn_expected(f, "one call at a time");
    tn_remedy(f, "wait until that call has ended, or fork the sequence before");
    if (err) err->retryable = true;
    return TN_BUSY;
}

void tn_sequence_return(struct tn_sequence *q)
{
    atomic_store_explicit(&q->borrowed, false, memory_order_release);
}

bool tn_sequence_begun(const struct tn_sequence *q)
{
    return q->now[0] != NULL;
}

void tn_sequence_settle(struct tn_sequence *q, bool good)
{
    for (uint32_t i = 0; i < q->graph->state_count; i++) {
        if (good && q->next[i]) {
            tn_tensor_drop(q->now[i]);
            q->now[i] = q->next[i];
        } else {
            tn_tensor_drop(q->next[i]);
        }
        q->next[i] = NULL;
    }
}

void tn_sequence_clear(struct tn_sequence *q)
{
    tn_sequence_settle(q, false);
    for (uint32_t i = 0; i < q->graph->state_count; i++) {
        tn_tensor_drop(q->now[i]);
        q->now[i] = NULL;
    }
    tn_heap_trim(&q->heap);
}

static uint32_t state_named(const struct tn_graph_facts *g, tn_string name)
{
    struct tn_str s = {name.data ? name.data : "", name.data ? name.length : 0};
    uint32_t i = 0;
    while (i < g->state_count && !tn_str_eq(g->states[i].name, s)) i++;
    return i;
}

static void blame(struct tn_findings *findings, struct tn_str name, const char *what)
{
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "%s", what);
    tn_at_element(f, TN_ELEMENT_TENSOR, name);
    tn_found(f, "%.*s", TN_FMT_ARG(name));
}

static enum tn_status no_memory(struct tn_error *err)
{
    return tn_error_memory(err, TN_PHASE_REQUEST, "keeping the state of a sequence");
}

enum tn_status tn_sequence_fill(struct tn_sequence *q, const tn_port_value *values, size_t count, struct tn_error *err)
{
    const struct tn_graph_facts *g = q->graph;
    struct tn_tensor_symbols symbols = {.count = 0};
    struct tn_findings findings;
    bool lost = false;
    tn_findings_init(&findings, q->alloc, (size_t)q->limits->findings);
    for (size_t i = 0; i < count; i++) {
        uint32_t k = state_named(g, values[i].name);
        if (k == g->state_count) blame(&findings, (struct tn_str){values[i].name.data, values[i].name.data ? values[i].name.length : 0}, "there is no state of this name");
        else if (q->next[k]) blame(&findings, g->states[k].name, "a state is given twice");
        else q->next[k] = tn_tensor_of_request(g->inputs[g->states[k].in], &values[i], &q->heap, q->limits, &symbols, &findings, &lost);
    }
    for (uint32_t k = 0; k < g->state_count && !findings.blockers; k++)
        if (!q->next[k] && !lost) blame(&findings, g->states[k].name, "a state is missing: all are given or none");
    enum tn_status st = lost ? no_memory(err) : tn_error_from_findings(err, &findings);
    tn_findings_release(&findings);
    tn_sequence_settle(q, st == TN_OK);
    return st;
}

enum tn_status tn_sequence_copy(struct tn_sequence *to, const struct tn_sequence *from, struct tn_error *err)
{
    bool good = true;
    for (uint32_t i = 0; good && tn_sequence_begun(from) && i < from->graph->state_count; i++) {
        to->next[i] = tn_tensor_copy(&to->heap, from->now[i]);
        good = to->next[i] != NULL;
    }
    tn_sequence_settle(to, good);
    return good ? TN_OK : no_memory(err);
}

void tn_sequence_view(struct tn_sequence *q)
{
    for (uint32_t i = 0; i < q->graph->state_count; i++) {
        struct tn_str name = q->graph->states[i].name;
        const struct tn_tensor *t = q->now[i];
        q->values[i] = (tn_port_value){.name = {name.s, name.n}, .kind = TN_VALUE_TENSOR};
        if (!t) continue;
        q->values[i].element = tn_onnx_element_name(t->element);
        q->values[i].rank = t->rank;
        q->values[i].dims = t->dims;
        q->values[i].data = t->data;
        q->values[i].size = t->bytes;
    }
}
