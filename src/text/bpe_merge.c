/*
 * Applying merges to the symbols of a word: always the pair of the lowest rank, the leftmost of equals.
 *
 * The library keeps candidates in a heap and checks on arrival only that the pair still becomes the same token. When
 * every symbol's text is a part of the word that is the pair of the candidate itself. With a continuing prefix, which is
 * cut from the right part, it need not be; then only the heap, with the library's very check, gives the library's answer.
 * `plain` models may use either: short words look for the lowest rank by scanning.
 *
 * The order of candidates is that of their keys, so how they are kept is free. Up to TN_BPE_HEAPED symbols it is a binary
 * heap. Longer words use a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, 1990): a candidate moves at most once for each bit
 * of its key, through arrays from front to back, so the time is linear in the word. It needs keys that never go below the
 * last one taken; joining two symbols can make such a pair, in vocabularies where a token comes about in several ways,
 * and that one goes to the binary heap, which is always emptied first.
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

/* ---- the queue ---------------------------------------------------------------------------------------------------- */

/* SOON: a bucket of so few candidates is used up before its symbols have left the cache again. */
enum { TN_BPE_HEAPED = 4096, SOON = 64 };

static bool append(struct tn_alloc *alloc, struct tn_bpe_merges *list, struct tn_bpe_merge item)
{
    if (!tn_text_grow(alloc, &list->at, &list->cap, list->count + 1, sizeof(*list->at))) return false;
    list->at[list->count++] = item;
    return true;
}

static bool heap_push(struct tn_alloc *alloc, struct tn_bpe_merges *heap, struct tn_bpe_merge item)
{
    size_t at = heap->count;
    if (!append(alloc, heap, item)) return false;
    while (at > 0 && heap->at[(at - 1) / 2].key > item.key) {
        heap->at[at] = heap->at[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->at[at] = item;
    return true;
}

static struct tn_bpe_merge heap_pop(struct tn_bpe_merges *heap)
{
    struct tn_bpe_merge top = heap->at[0], item = heap->at[--heap->count];
    size_t at = 0, n = heap->count;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= n) break;
        if (child + 1 < n && heap->at[child + 1].key < heap->at[child].key) child++;
        if (heap->at[child].key >= item.key) break;
        heap->at[at] = heap->at[child];
        at = child;
    }
    if (n) heap->at[at] = item;
    return top;
}

/* Ranks are below 2^30, so keys differ in the lower 62 bits only. */
static bool bucket_push(struct tn_text_scratch *s, struct tn_bpe_merge item)
{
    struct tn_bpe_work *w = &s->bpe;
    uint64_t differ = item.key ^ w->floor;
    unsigned bucket = differ ? 64 - (unsigned)__builtin_clzll(differ) : 0;
    w->filled |= UINT64_C(1) << bucket;
    return append(s->alloc, &w->buckets[bucket], item);
}

/* Takes the lowest bucket apart: its lowest key is the new floor, and from there every other key falls lower. */
static bool spread(struct tn_text_scratch *s)
{
    struct tn_bpe_work *w = &s->bpe;
    struct tn_bpe_merges *from = &w->buckets[__builtin_ctzll(w->filled)];
    w->floor = from->at[0].key;
    for (size_t i = 1; i < from->count; i++) {
        if (from->at[i].key < w->floor) w->floor = from->at[i].key;
    }
    w->filled &= w->filled - 1;
    for (size_t i = 0; i < from->count; i++) {
        if (from->count <= SOON) __builtin_prefetch(&w->symbols[(uint32_t)from->at[i].key]);
        if (!bucket_push(s, from->at[i])) return false;
    }
    from->count = 0;
    return true;
}

static void queue_start(struct tn_bpe_work *w)
{
    w->heap.count = 0;
    for (size_t i = 0; i < TN_BPE_BUCKETS; i++) w->buckets[i].count = 0;
    w->filled = 0;
    w->floor = w->count > TN_BPE_HEAPED ? 0 : UINT64_MAX;
}

static bool queue_push(struct tn_text_scratch *s, struct tn_bpe_merge item)
{
    return item.key < s->bpe.floor ? heap_push(s->alloc, &s->bpe.heap, item) : bucket_push(s, item);
}

static bool queue_empty(const struct tn_bpe_work *w)
{
    return w->heap.count == 0 && w->filled == 0;
}

static bool queue_pop(struct tn_text_scratch *s, struct tn_bpe_merge *out)
{
    struct tn_bpe_work *w = &s->bpe;
    if (w->heap.count) {
        *out = heap_pop(&w->heap);
        return true;
    }
    if (!(w->filled & 1) && !spread(s)) return false;
    *out = w->buckets[0].at[--w->buckets[0].count];
    if (w->buckets[0].count == 0) w->filled &= ~UINT64_C(1);
    return true;
}

/* ---- long words --------------------------------------------------------------------------------------------------- */

static bool consider(const struct tn_bpe *m, struct tn_text_scratch *s, uint32_t left, uint32_t right)
{
    const struct tn_bpe_symbol *symbols = s->bpe.symbols;
    if (left == UINT32_MAX || right == UINT32_MAX) return true;
    const struct tn_bpe_pair *pair = tn_bpe_find(m, symbols[left].id, symbols[right].id);
    return !pair || queue_push(s, (struct tn_bpe_merge){(uint64_t)pair->rank << 32 | left, pair->id});
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
    struct tn_bpe_merge top;
    queue_start(w);
    for (uint32_t i = 0; i + 1 < w->count; i++) {
        if (!consider(m, s, i, i + 1)) return TN_INSUFFICIENT_MEMORY;
    }
    while (!queue_empty(w)) {
        if (!queue_pop(s, &top)) return TN_INSUFFICIENT_MEMORY;
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
