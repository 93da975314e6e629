/*
 * Applying merges to the symbols of a word: always the pair of the lowest rank, the leftmost of equals.
 *
 * The library keeps candidates in a heap and checks on arrival only that the pair still becomes the same token. When
 * every symbol's text is a part of the word that is the pair of the candidate itself. With a continuing prefix, which is
 * cut from the right part, it need not be; then only the heap, with the library's very check, gives the library's answer.
 * `plain` models may use either: short words look for the lowest rank by scanning, long ones use the heap, so that a word
 * of n symbols takes n log n steps at most.
 */
#include "text/internal.h"

#include <string.h>

/* ---- short words -------------------------------------------------------------------------------------------------- */

size_t tn_bpe_merge_short(const struct tn_bpe *m, uint32_t *ids, uint32_t *ends, size_t n)
{
    uint32_t ranks[TN_BPE_SHORT], results[TN_BPE_SHORT];
    for (size_t i = 0; i + 1 < n; i++) {
        const struct tn_bpe_pair *pair = tn_bpe_find(m, ids[i], ids[i + 1]);
        ranks[i] = pair ? pair->rank : TN_BPE_NO_RANK;
        results[i] = pair ? pair->id : 0;
    }
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++) {
            if (ranks[i] < ranks[best]) best = i;
        }
        if (ranks[best] == TN_BPE_NO_RANK) break;
        ids[best] = results[best];
        size_t after = n - best - 2; /* symbols behind the pair */
        memmove(ends + best, ends + best + 1, (after + 1) * sizeof(*ends));
        memmove(ids + best + 1, ids + best + 2, after * sizeof(*ids));
        if (after) {
            memmove(ranks + best, ranks + best + 1, after * sizeof(*ranks));
            memmove(results + best, results + best + 1, after * sizeof(*results));
        }
        n--;
        for (size_t i = best > 0 ? best - 1 : 0; i <= best && i + 1 < n; i++) {
            const struct tn_bpe_pair *pair = tn_bpe_find(m, ids[i], ids[i + 1]);
            ranks[i] = pair ? pair->rank : TN_BPE_NO_RANK;
            results[i] = pair ? pair->id : 0;
        }
    }
    return n;
}

/* ---- the heap ----------------------------------------------------------------------------------------------------- */

static void sift_down(struct tn_bpe_merge *heap, size_t n, size_t at)
{
    struct tn_bpe_merge item = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= n) break;
        if (child + 1 < n && heap[child + 1].key < heap[child].key) child++;
        if (heap[child].key >= item.key) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

static bool heap_push(struct tn_text_scratch *s, struct tn_bpe_merge item)
{
    struct tn_bpe_work *w = &s->bpe;
    if (!tn_text_grow(s->alloc, &w->heap, &w->heap_cap, w->heap_count + 1, sizeof(*w->heap))) return false;
    size_t at = w->heap_count++;
    while (at > 0 && w->heap[(at - 1) / 2].key > item.key) {
        w->heap[at] = w->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    w->heap[at] = item;
    return true;
}

static struct tn_bpe_merge heap_pop(struct tn_bpe_work *w)
{
    struct tn_bpe_merge top = w->heap[0];
    w->heap[0] = w->heap[--w->heap_count];
    if (w->heap_count) sift_down(w->heap, w->heap_count, 0);
    return top;
}

static bool consider(const struct tn_bpe *m, struct tn_text_scratch *s, uint32_t left, uint32_t right)
{
    const struct tn_bpe_symbol *symbols = s->bpe.symbols;
    if (left == UINT32_MAX || right == UINT32_MAX) return true;
    const struct tn_bpe_pair *pair = tn_bpe_find(m, symbols[left].id, symbols[right].id);
    return !pair || heap_push(s, (struct tn_bpe_merge){(uint64_t)pair->rank << 32 | left, pair->id});
}

/* Takes the symbol after `left` into it. */
static void join(struct tn_bpe_symbol *symbols, uint32_t left, uint32_t id)
{
    struct tn_bpe_symbol *a = &symbols[left], *b = &symbols[a->next];
    a->id = id;
    a->length += b->length;
    a->next = b->next;
    b->length = 0;
    if (b->next != UINT32_MAX) symbols[b->next].prev = left;
}

enum tn_status tn_bpe_merge_all(const struct tn_bpe *m, struct tn_text_scratch *s)
{
    struct tn_bpe_work *w = &s->bpe;
    w->heap_count = 0;
    for (uint32_t i = 0; i + 1 < w->count; i++) {
        const struct tn_bpe_pair *pair = tn_bpe_find(m, w->symbols[i].id, w->symbols[i + 1].id);
        if (!pair) continue;
        if (!tn_text_grow(s->alloc, &w->heap, &w->heap_cap, w->heap_count + 1, sizeof(*w->heap))) return TN_INSUFFICIENT_MEMORY;
        w->heap[w->heap_count++] = (struct tn_bpe_merge){(uint64_t)pair->rank << 32 | i, pair->id};
    }
    for (size_t i = w->heap_count / 2; i-- > 0;) sift_down(w->heap, w->heap_count, i);
    while (w->heap_count) {
        struct tn_bpe_merge top = heap_pop(w);
        uint32_t left = (uint32_t)top.key, right = w->symbols[left].next;
        w->steps++;
        if (w->symbols[left].length == 0 || right == UINT32_MAX) continue;
        const struct tn_bpe_pair *pair = tn_bpe_find(m, w->symbols[left].id, w->symbols[right].id);
        if (!pair || pair->id != top.id) continue; /* one of the two has changed */
        join(w->symbols, left, top.id);
        if (!consider(m, s, w->symbols[left].prev, left) || !consider(m, s, left, w->symbols[left].next)) {
            return TN_INSUFFICIENT_MEMORY;
        }
    }
    return TN_OK;
}
