/*
 * One window's numbers to spans, as select_starts_ends and decode_spans of the pipeline have it: softmax over the
 * beginnings and over the ends apart, of the context's tokens and of the first one where that stands for "no answer"; a
 * span's score is the product. Knows no text and no tokenizer.
 *
 * The surprising decision: the pipeline also lists spans that it has given the score 0 where a window has fewer spans
 * than are asked for, in no particular order. Here there are none: a span ends where it begins or later.
 */
#include "task/answer.h"

#include "base/sort.h"

#include <math.h>

size_t tn_answer_most_spans(const struct tn_answer_rule *rule)
{
    return rule->max_tokens * (rule->most_tokens < rule->max_tokens ? rule->most_tokens : rule->max_tokens);
}

size_t tn_answer_candidates(const struct tn_answer_rule *rule)
{
    size_t wanted = rule->align_words ? 2 * rule->top_k + 10 : rule->top_k, all = tn_answer_most_spans(rule);
    return wanted < all ? wanted : all;
}

/* p[0]: of "no answer", p[1 + i]: of token i. `which` 0: beginnings, 1: ends. */
static void softmax(const struct tn_answer_window *w, int which, float *p)
{
    size_t from = w->has_null ? 0 : 1;
    float most = -INFINITY;
    double sum = 0;
    p[0] = w->logits[0][which];
    for (size_t i = 0; i < w->count; i++) p[1 + i] = w->logits[w->first + i][which];
    for (size_t i = from; i <= w->count; i++) most = p[i] > most ? p[i] : most;
    for (size_t i = from; i <= w->count; i++) {
        p[i] = expf(p[i] - most);
        sum += (double)p[i];
    }
    for (size_t i = from; i <= w->count; i++) p[i] = (float)((double)p[i] / sum);
    if (!w->has_null) p[0] = 0;
}

/* Whether a comes before b. */
static bool precedes(const struct tn_answer_span *a, const struct tn_answer_span *b)
{
    if (a->score != b->score) return a->score > b->score;
    if (a->first != b->first) return a->first < b->first;
    return a->last < b->last;
}

static int by_precedence(const void *a, const void *b, void *context)
{
    (void)context;
    return precedes(a, b) ? -1 : precedes(b, a);
}

/* A heap whose first is the one that goes when a better one comes. */
static void sink(struct tn_answer_span *heap, size_t n, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && precedes(&heap[child], &heap[child + 1])) child++;
        if (!precedes(&heap[i], &heap[child])) return;
        struct tn_answer_span held = heap[i];
        heap[i] = heap[child];
        heap[child] = held;
    }
}

static void rise(struct tn_answer_span *heap, size_t i)
{
    for (size_t parent; i > 0 && precedes(&heap[parent = (i - 1) / 2], &heap[i]); i = parent) {
        struct tn_answer_span held = heap[i];
        heap[i] = heap[parent];
        heap[parent] = held;
    }
}

static size_t keep(struct tn_answer_span *heap, size_t n, size_t most, struct tn_answer_span span)
{
    if (n < most) {
        heap[n] = span;
        rise(heap, n);
        return n + 1;
    }
    if (precedes(&span, &heap[0])) {
        heap[0] = span;
        sink(heap, n, 0);
    }
    return n;
}

size_t tn_answer_spans(const struct tn_answer_rule *rule, const struct tn_answer_window *w, float *work,
                       struct tn_answer_span *out, float *null)
{
    float *begins = work, *ends = work + w->count + 1;
    size_t n = 0, most = tn_answer_candidates(rule);
    *null = 0;
    if (!w->has_null && w->count == 0) return 0;
    softmax(w, 0, begins);
    softmax(w, 1, ends);
    *null = begins[0] * ends[0];
    for (size_t i = 0; i < w->count; i++) {
        size_t stop = w->count - i < rule->most_tokens ? w->count : i + rule->most_tokens;
        for (size_t k = i; k < stop; k++) {
            struct tn_answer_span span = {begins[1 + i] * ends[1 + k], (uint32_t)i, (uint32_t)k};
            if (span.score > 0) n = keep(out, n, most, span);
        }
    }
    tn_sort(out, n, sizeof(*out), by_precedence, NULL);
    return n;
}

void tn_answer_bytes(const struct tn_answer_rule *rule, const struct tn_answer_window *w, const struct tn_answer_span *span,
                     uint32_t *begin, uint32_t *end)
{
    size_t first = span->first, last = span->last;
    const struct tn_answer_token *t = w->tokens;
    while (rule->align_words && first > 0 && t[first - 1].word == t[first].word) first--;
    while (rule->align_words && last + 1 < w->count && t[last + 1].word == t[last].word) last++;
    *begin = t[first].begin;
    *end = t[last].end > *begin ? t[last].end : *begin;
}
